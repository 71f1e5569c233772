"""What a result was made with and from: versions, settings as plain values, hashes of data."""

from __future__ import annotations

import hashlib
import inspect
import math
import platform
import re
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import numpy as np
import scipy.sparse as sp

WITHOUT_EFFECT = ("n_jobs", "progress", "checkpoint")  # any value gives the same result
NUMBERS_DEPEND_ON = ("mainstay", "numpy", "scipy", "scikit-learn", "numba")
_LIBRARIES = ("mainstay", "numpy", "scipy", "scikit-learn", "pandas", "numba", "pyarrow")
_HASHED_VALUES = 2**20  # at once


def versions() -> dict[str, str]:
    """Versions of Python, the system and the libraries that numbers may depend on."""
    found = {name: version(name) for name in _LIBRARIES}
    system = f"{platform.system()} {platform.machine()}".strip()
    return {**found, "python": platform.python_version(), "system": system}


# ---------------------------------------------------------------------- settings


def plain(value: Any) -> Any:
    """Describe a parameter in what JSON knows; an object by its class and changed parameters."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.random.Generator):
        return {"object": "a numpy Generator, whose state is not known any more"}
    kind = value if inspect.isclass(value) or inspect.isroutine(value) else type(value)
    name = f"{kind.__module__}.{kind.__qualname__}"
    if kind is value:
        return {"object": name}
    if hasattr(value, "get_params"):
        return {"class": name, "parameters": _changed(value, value.get_params(deep=False))}
    return {"object": re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))}


def _changed(value: Any, parameters: Mapping[str, Any]) -> dict[str, Any]:
    signature = inspect.signature(type(value).__init__).parameters
    changed = {}
    for name, given in parameters.items():
        default = getattr(signature.get(name), "default", inspect.Parameter.empty)
        if name not in WITHOUT_EFFECT and plain(given) != plain(default):
            changed[name] = plain(given)
    return changed


# ---------------------------------------------------------------------- the data, without the data


def data_summary(X: Any, y: Any, sample_weight: Any, groups: Any) -> dict[str, Any]:
    """Shape and content hashes, by which data can be recognised but not restored."""
    summary = {
        "n_samples": int(X.shape[0]),
        "n_features": int(X.shape[1]),
        "sha256_X": content_hash(X),
        "sha256_y": content_hash(y),
    }
    optional = {"sha256_sample_weight": sample_weight, "sha256_groups": groups}
    return summary | {k: content_hash(v) for k, v in optional.items() if v is not None}


def content_hash(values: Any) -> str:
    """SHA-256 of the values, whether they come as an array, a pandas or a polars table.

    Numbers count as 64-bit floats (so 1 is 1.0, and a missing value is NaN), anything else as text.
    """
    digest = hashlib.sha256(repr(tuple(values.shape)).encode())
    if sp.issparse(values):
        matrix = sp.csr_array(values, copy=True)
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        for part in (matrix.indptr, matrix.indices, matrix.data):
            digest.update(np.ascontiguousarray(part, dtype="<f8").tobytes())
        return digest.hexdigest()
    numeric = _as_numbers(values)
    if numeric is not None:
        step = max(1, _HASHED_VALUES // max(1, math.prod(numeric.shape[1:])))
        for start in range(0, len(numeric), step):
            block = np.array(numeric[start : start + step], dtype="<f8", order="C") + 0.0
            block[np.isnan(block)] = np.nan
            digest.update(block.tobytes())
        return digest.hexdigest()
    columns: Any = np.reshape(values, (len(values), -1)).T
    if hasattr(values, "columns"):
        columns = [values[name] for name in values.columns]
    for column in columns:
        cells = (repr(str(cell)) for cell in np.asarray(column, dtype=object))
        digest.update("\n".join(cells).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _as_numbers(values: Any) -> np.ndarray | None:
    array = values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)
    if array.dtype.kind in "buif":
        return np.asarray(array)
    return None
