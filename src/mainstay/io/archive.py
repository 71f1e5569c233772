"""Reopening saved results: what `mainstay._saving` wrote, checked before anything is made of it."""

from __future__ import annotations

import io
import json
import math
import os
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mainstay._saving import FORMAT, MANIFEST, Parts, untagged
from mainstay._validation import InputError, some
from mainstay.aggregation import Ranking
from mainstay.comparison import Comparison
from mainstay.comparison.cross_validation import SelectionScores
from mainstay.ensemble import SelectionResult
from mainstay.forecast import Forecast
from mainstay.measures.inference import StabilityEstimate
from mainstay.networks import NetworkStability
from mainstay.reliability import FeatureEvidence, GroupEvidence, Replicability
from mainstay.runs import Runs
from mainstay.similarity import FeatureSimilarity

KINDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        SelectionResult,
        StabilityEstimate,
        Ranking,
        FeatureSimilarity,
        Comparison,
        SelectionScores,
        NetworkStability,
        Forecast,
        Replicability,
        FeatureEvidence,
        GroupEvidence,
    )
}

_SMALL = 10**8  # bytes that need no second look
_MOST_EXPANSION = 100  # of a file that was compressed since; ours are not
_OF_DAMAGED_PARTS = (
    KeyError, TypeError, ValueError, AttributeError, OSError, EOFError, MemoryError, OverflowError,
    RecursionError, SyntaxError, tokenize.TokenError,
)  # fmt: skip


def load_result(path: str | Path) -> Any:
    """Reopen a result that was saved with `.save("result.zip")`.

    Parameters
    ----------
    path : str or Path
        The .zip file. It holds JSON, parquet and npy files only: opening it runs no code.

    Returns
    -------
    SelectionResult, Forecast, Comparison, Replicability, FeatureEvidence, …
        What was saved.

    Examples
    --------
    >>> import tempfile, mainstay as ms
    >>> runs = ms.Runs.from_sets([["a", "b"], ["a", "c"], ["a", "b"]], features=list("abcdef"))
    >>> result = ms.SelectionResult.from_runs(runs)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result.save(f"{folder}/result.zip")
    ...     ms.load_result(f"{folder}/result.zip").selected
    ('a', 'b')
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"there is no file {str(path)!r}.")
    try:
        with zipfile.ZipFile(path) as file:
            manifest = _read_manifest(path, file)
            _check_members(path, file, manifest["members"])
            content = {name: file.read(name) for name in manifest["members"]}
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise InputError(f"{path} is not a zip file, or a damaged one: {error}") from error
    try:
        content |= {copy: content[name] for copy, name in manifest["copies"].items()}
        return _assemble("", content, manifest["kinds"])
    except _OF_DAMAGED_PARTS as error:
        raise InputError(f"{path} is damaged: {type(error).__name__}: {error}") from error


def _check_members(path: Path, file: zipfile.ZipFile, members: list[str]) -> None:
    """Refuse members that are missing, not listed, or expand to far more than the file holds."""
    missing = [name for name in members if name not in file.namelist()]
    if missing:
        raise InputError(f"{path} is damaged: {', '.join(missing)} is missing in it.")
    others = sorted(set(file.namelist()) - {MANIFEST, *members})
    if others:
        raise InputError(
            f"{path} was changed since mainstay wrote it: {some(others)} in it is not part of the "
            "result. Take it out, or save the result again."
        )
    expanded = sum(file.getinfo(name).file_size for name in members)
    if expanded > _MOST_EXPANSION * path.stat().st_size + _SMALL:
        raise InputError(
            f"{path} is damaged, or made to fill the memory: its {path.stat().st_size} bytes would "
            f"expand to {expanded / 1e9:.1f} GB."
        )


def _read_manifest(path: Path, file: zipfile.ZipFile) -> dict[str, Any]:
    if MANIFEST not in file.namelist():
        raise InputError(
            f"{path} is a zip file, but not a result saved by mainstay: it has no {MANIFEST}."
        )
    if file.getinfo(MANIFEST).file_size > _SMALL:
        raise InputError(f"{path} is damaged: {MANIFEST} is far too large.")
    try:
        manifest: dict[str, Any] = json.loads(file.read(MANIFEST))
        written, made_by = int(manifest["format"]), str(manifest["written_by"])
        kinds, copies = dict(manifest["kinds"]), dict(manifest["copies"])
        members = list(manifest["members"])
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{path} is damaged: {MANIFEST} cannot be read ({error}).") from error
    if written > FORMAT:
        raise InputError(
            f"{path} was written by {made_by} in format {written}; this version reads formats up "
            f"to {FORMAT}. Update mainstay to open it."
        )
    unknown = sorted(set(kinds.values()) - set(KINDS))
    if unknown or "" not in kinds:
        raise InputError(f"{path} is damaged: it holds {unknown or 'nothing'}, which is unknown.")
    return {"kinds": kinds, "members": members, "copies": copies}


def _assemble(place: str, content: dict[str, bytes], kinds: Mapping[str, str]) -> Any:
    parts: Parts = {}
    for name, data in content.items():
        inside = name.removeprefix(place)
        if name == MANIFEST or not name.startswith(place) or "/" in inside:
            continue
        key, _, ending = inside.rpartition(".")
        if ending == "npy":
            parts[key] = _read_npy(data)
        elif ending == "parquet":
            parts[key] = _read_parquet(data)
        else:
            value = json.loads(data, object_hook=untagged)
            parts.update(value if key == "values" else {key: value})
    for inner in kinds:
        if inner.startswith(place) and inner != place and inner.count("/") == place.count("/") + 1:
            parts[inner.removeprefix(place).rstrip("/")] = _assemble(inner, content, kinds)
    kind = KINDS[kinds[place]]
    return kind._from_parts(parts) if hasattr(kind, "_from_parts") else kind(**parts)


def _read_npy(data: bytes) -> np.ndarray:
    """Read an array; first see that it is as large as its header says."""
    buffer = io.BytesIO(data)
    version = np.lib.format.read_magic(buffer)
    read_header = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    if version in read_header:
        shape, _, dtype = read_header[version](buffer)
        if not dtype.hasobject and math.prod(shape) * dtype.itemsize != len(data) - buffer.tell():
            raise ValueError(f"an array of shape {shape} does not fit what is stored of it")
    return np.asarray(np.load(io.BytesIO(data), allow_pickle=False))


def _memory() -> float:
    """Bytes of memory of this machine, if it says."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return math.inf


def _read_parquet(data: bytes) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq
    import scipy.sparse as sp

    about = pq.read_metadata(pa.BufferReader(data))
    n_bytes = 8 * about.num_rows * about.num_columns
    if n_bytes > _memory():  # however small the file: equal values take no room there
        raise ValueError(f"a table would take {n_bytes / 1e9:.1f} GB, more than there is memory")
    table = pq.read_table(pa.BufferReader(data))
    metadata = table.schema.metadata or {}
    if b"mainstay" in metadata:
        return Runs.from_arrow(table)
    if b"sparse" not in metadata:
        return table.to_pandas()
    row, column, value = (table[name].to_numpy() for name in ("row", "column", "value"))
    return sp.csr_array((value, (row, column)), shape=json.loads(metadata[b"sparse"]))
