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
    with open_h5ad(path) as file:
        names, labels = h5ad_names(path, file)
        table = pd.DataFrame(_h5ad_matrix(file["X"]), columns=list(names))
    annotations: Annotations = {name: partial(_h5ad_annotation, path, name) for name in labels}
    return table, annotations


def open_h5ad(path: Path) -> Any:
    """Open an .h5ad file to read."""
    try:
        import h5py
    except ImportError as error:
        raise InputError("reading .h5ad needs h5py: pip install 'mainstay[h5ad]'.") from error
    return h5py.File(path, "r")


def h5ad_names(path: Path, file: Any) -> tuple[tuple[str, ...], list[str]]:
    """Names of the features, from the index of `var`, and of the columns of `obs`."""
    if "X" not in file:
        raise InputError(f"{path} has no X; it has {some(list(file))}.")
    var, obs = file["var"], file["obs"]
    names = h5ad_column(var[var.attrs.get("_index", "_index")])
    others = {str(obs.attrs.get("_index", "_index")), "__categories"}
    return tuple(str(name) for name in names), [name for name in obs if name not in others]


def h5ad_rows(stored: Any, start: int, stop: int) -> np.ndarray:
    """Some rows of `X`, which is dense or sparse by rows."""
    if not hasattr(stored, "keys"):
        return np.asarray(stored[start:stop])
    import scipy.sparse as sp

    ends = stored["indptr"][start : stop + 1]
    part = slice(int(ends[0]), int(ends[-1]))
    shape = stop - start, int(stored.attrs["shape"][1])
    rows = sp.csr_array((stored["data"][part], stored["indices"][part], ends - ends[0]), shape)
    return np.asarray(rows.toarray())


def _h5ad_matrix(stored: Any) -> np.ndarray:
    if h5ad_is_by_row(stored):
        return h5ad_rows(stored, 0, h5ad_shape(stored)[0])
    import scipy.sparse as sp

    parts = tuple(stored[part][()] for part in ("data", "indices", "indptr"))
    return np.asarray(sp.csc_array(parts, shape=h5ad_shape(stored)).toarray())


def h5ad_shape(stored: Any) -> tuple[int, int]:
    """Numbers of rows and columns of `X`."""
    n, p = stored.attrs["shape"] if hasattr(stored, "keys") else stored.shape
    return int(n), int(p)


def h5ad_is_by_row(stored: Any) -> bool:
    """Whether rows of `X` can be read by themselves."""
    if not hasattr(stored, "keys"):
        return True
    return "csr" in str(stored.attrs.get("encoding-type", "csr_matrix"))


def _h5ad_annotation(path: Path, name: str) -> np.ndarray:
    with open_h5ad(path) as file:
        return h5ad_column(file["obs"][name])


def h5ad_column(stored: Any) -> np.ndarray:
    """One column of `obs` or `var`: plain, with a mask, or categories and codes (−1: missing)."""
    if hasattr(stored, "keys"):
        if "codes" in stored:
            return _labels(stored["codes"][()], h5ad_column(stored["categories"]))
        if "mask" not in stored:
            encoding = stored.attrs.get("encoding-type", "unknown")
            raise InputError(f"column {stored.name!r} has the encoding {encoding!r}, not known.")
        values, missing = _as_text(stored["values"][()]), stored["mask"][()].astype(bool)
        return np.asarray(pd.Series(values).mask(missing)) if missing.any() else values
    if "categories" in stored.attrs:  # files of anndata before 0.8
        return _labels(stored[()], h5ad_column(stored.file[stored.attrs["categories"]]))
    return _as_text(stored[()])


def _labels(codes: Any, categories: Any) -> np.ndarray:
    return np.asarray(pd.Categorical.from_codes(codes, categories))


def _as_text(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind in "OS":
        return np.array([v.decode() if isinstance(v, bytes) else v for v in values], dtype=object)
    return values
