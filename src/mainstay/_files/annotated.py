"""Files that keep features (`X`) apart from annotations of the rows: .npz, .mat and .h5ad."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mainstay._validation import InputError, some

Annotations = dict[str, Callable[[], np.ndarray]]  # how to read each of them


def read_npz(path: Path) -> tuple[pd.DataFrame, Annotations]:
    """Read `X`, named by `feature_names`; other arrays are annotations."""
    with np.load(path, allow_pickle=False) as archive:
        return _read_arrays(path, list(archive.files), partial(_npz_array, path))


def _npz_array(path: Path, name: str) -> np.ndarray:
    with np.load(path, allow_pickle=False) as archive:
        return np.asarray(archive[name])


def read_mat(path: Path) -> tuple[pd.DataFrame, Annotations]:
    """Read `X`, named by `feature_names`; other arrays are annotations."""
    from scipy.io import loadmat

    contents = loadmat(path)
    names = [name for name in contents if not name.startswith("__")]
    return _read_arrays(path, names, lambda name: _dense(contents[name]))


def _dense(values: Any) -> np.ndarray:
    """Make a plain array of a sparse matrix or of a cell array, whose cells are arrays."""
    array = np.asarray(values.toarray() if hasattr(values, "toarray") else values)
    if array.dtype.kind != "O":
        return array
    return np.array([cell.item() if np.size(cell) == 1 else cell for cell in array.ravel()])


def _read_arrays(
    path: Path, names: list[str], read: Callable[[str], np.ndarray]
) -> tuple[pd.DataFrame, Annotations]:
    data = read("X") if "X" in names else None
    if data is None or data.ndim != 2:
        others = [name for name in names if name != "X"]
        raise InputError(
            f"{path} needs a two-dimensional array 'X' (samples × features); it has "
            f"{some(others) if others else 'no other arrays'}."
        )
    if "feature_names" in names:
        columns = [str(name).strip() for name in read("feature_names").ravel()]
    else:
        columns = [f"x{i}" for i in range(data.shape[1])]
    if len(columns) != data.shape[1]:
        raise InputError(
            f"{path} has {len(columns)} feature_names for the {data.shape[1]} columns of 'X'."
        )
    others = [name for name in names if name not in ("X", "feature_names")]
    return pd.DataFrame(data, columns=columns), {name: partial(read, name) for name in others}


def read_h5ad(path: Path) -> tuple[pd.DataFrame, Annotations]:
    """Read `X`, named by the index of `var`; columns of `obs` are annotations."""
    try:
        import h5py
    except ImportError as error:
        raise InputError("reading .h5ad needs h5py: pip install 'mainstay[h5ad]'.") from error
    with h5py.File(path, "r") as file:
        if "X" not in file:
            raise InputError(f"{path} has no X; it has {some(list(file))}.")
        var, obs = file["var"], file["obs"]
        names = _h5ad_column(var[var.attrs.get("_index", "_index")])
        table = pd.DataFrame(_h5ad_matrix(file["X"]), columns=[str(name) for name in names])
        others = {str(obs.attrs.get("_index", "_index")), "__categories"}
        annotations: Annotations = {
            name: partial(_h5ad_annotation, path, name) for name in obs if name not in others
        }
    return table, annotations


def _h5ad_matrix(stored: Any) -> np.ndarray:
    if not hasattr(stored, "keys"):
        return np.asarray(stored[()])
    import scipy.sparse as sp

    parts = tuple(stored[part][()] for part in ("data", "indices", "indptr"))
    by_row = "csr" in str(stored.attrs.get("encoding-type", "csr_matrix"))
    make = sp.csr_array if by_row else sp.csc_array
    return np.asarray(make(parts, shape=tuple(stored.attrs["shape"])).toarray())


def _h5ad_annotation(path: Path, name: str) -> np.ndarray:
    import h5py

    with h5py.File(path, "r") as file:
        return _h5ad_column(file["obs"][name])


def _h5ad_column(stored: Any) -> np.ndarray:
    """One column of `obs` or `var`: plain, with a mask, or categories and codes (−1: missing)."""
    if hasattr(stored, "keys"):
        if "codes" in stored:
            return _labels(stored["codes"][()], _h5ad_column(stored["categories"]))
        if "mask" not in stored:
            encoding = stored.attrs.get("encoding-type", "unknown")
            raise InputError(f"column {stored.name!r} has the encoding {encoding!r}, not known.")
        values, missing = _as_text(stored["values"][()]), stored["mask"][()].astype(bool)
        return np.asarray(pd.Series(values).mask(missing)) if missing.any() else values
    if "categories" in stored.attrs:  # files of anndata before 0.8
        return _labels(stored[()], _h5ad_column(stored.file[stored.attrs["categories"]]))
    return _as_text(stored[()])


def _labels(codes: Any, categories: Any) -> np.ndarray:
    return np.asarray(pd.Categorical.from_codes(codes, categories))


def _as_text(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind in "OS":
        return np.array([v.decode() if isinstance(v, bytes) else v for v in values], dtype=object)
    return values
