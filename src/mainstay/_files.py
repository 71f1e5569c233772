"""Tables from files and to files, whatever the format."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mainstay._validation import InputError, check_choice, some

PAIRS = {"run", "feature"}  # columns of selections listed one by one


def read_table(path: str | Path) -> pd.DataFrame:
    """Read a table of samples × columns.

    Parameters
    ----------
    path : str or Path
        .csv, .tsv, .parquet or .feather; .npz or .mat with an array `X` (samples × features) and
        perhaps others of the same length, which become columns (`y`), and `feature_names`; .h5ad,
        where the columns of `obs` follow the features (extra "h5ad").
    """
    path = existing(path)
    try:
        table: pd.DataFrame = _READERS[path.suffix](path)
    except (InputError, ImportError):
        raise
    except Exception as error:  # every reader raises kinds of its own
        raise InputError(
            f"{path} could not be read as {path.suffix[1:]}: {first_line(error)}"
        ) from error
    if len(table) == 0:
        raise InputError(f"{path} holds no rows.")
    return table


def _read_text(path: Path) -> pd.DataFrame:
    separator = "\t" if path.suffix == ".tsv" else ","
    with path.open(encoding="utf-8-sig", newline="") as file:
        header = next(csv.reader(file, delimiter=separator), [])
    if len(set(header)) < len(header):
        twice = [name for name in dict.fromkeys(header) if header.count(name) > 1]
        raise InputError(f"{path} names columns more than once: {some(twice)}.")
    # in pairs, a feature may be called NA
    as_text: Any = {"dtype": str, "keep_default_na": False, "na_values": [""]}
    options = as_text if set(header) == PAIRS else {}
    table: pd.DataFrame = pd.read_csv(path, sep=separator, **options)
    return table


def _read_npz(path: Path) -> pd.DataFrame:
    with np.load(path, allow_pickle=False) as archive:
        return _table_of_arrays(path, {name: archive[name] for name in archive.files})


def _read_mat(path: Path) -> pd.DataFrame:
    from scipy.io import loadmat

    arrays = {name: value for name, value in loadmat(path).items() if not name.startswith("__")}
    dense = {
        name: value.toarray() if hasattr(value, "toarray") else value
        for name, value in arrays.items()
    }
    return _table_of_arrays(path, {n: v for n, v in dense.items() if isinstance(v, np.ndarray)})


def _table_of_arrays(path: Path, arrays: dict[str, np.ndarray]) -> pd.DataFrame:
    """Make columns of `X`, named by `feature_names`, and of every other array of its length."""
    data = arrays.pop("X", None)
    if data is None or data.ndim != 2:
        raise InputError(
            f"{path} needs a two-dimensional array 'X' (samples × features); it has "
            f"{some(list(arrays)) if arrays else 'no arrays'}."
        )
    names = arrays.pop("feature_names", None)
    columns = [f"x{i}" for i in range(data.shape[1])] if names is None else names.astype(str)
    table = pd.DataFrame(data, columns=list(columns))
    more = {name: value.ravel() for name, value in arrays.items() if value.size == len(data) > 1}
    return pd.concat([table, pd.DataFrame(more)], axis=1)


def _read_h5ad(path: Path) -> pd.DataFrame:
    try:
        import h5py
    except ImportError as error:
        raise InputError("reading .h5ad needs h5py: pip install 'mainstay[h5ad]'.") from error
    import scipy.sparse as sp

    with h5py.File(path, "r") as file:
        stored = file["X"]
        if isinstance(stored, h5py.Dataset):
            data = stored[()]
        else:
            parts = tuple(stored[part][()] for part in ("data", "indices", "indptr"))
            by_row = "csr" in str(stored.attrs.get("encoding-type", "csr_matrix"))
            make = sp.csr_array if by_row else sp.csc_array
            data = make(parts, shape=tuple(stored.attrs["shape"])).toarray()
        names = _h5ad_column(file["var"], file["var"].attrs.get("_index", "_index"))
        table = pd.DataFrame(data, columns=[str(name) for name in names])
        skip = {str(file["obs"].attrs.get("_index", "_index")), "__categories"}
        more = {name: _h5ad_column(file["obs"], name) for name in file["obs"] if name not in skip}
    return pd.concat([table, pd.DataFrame(more)], axis=1)


def _h5ad_column(group: Any, name: str) -> np.ndarray:
    """One column of an annotation table: plain, or categories and codes."""
    stored = group[name]
    if hasattr(stored, "keys"):
        categories = _as_text(stored["categories"][()])
        return np.asarray(categories[stored["codes"][()]])
    return _as_text(stored[()])


def _as_text(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind in "OS":
        return np.array([v.decode() if isinstance(v, bytes) else v for v in values], dtype=object)
    return values


_READERS: dict[str, Callable[[Path], pd.DataFrame]] = {
    ".csv": _read_text,
    ".tsv": _read_text,
    ".parquet": pd.read_parquet,
    ".feather": pd.read_feather,
    ".npz": _read_npz,
    ".mat": _read_mat,
    ".h5ad": _read_h5ad,
}


def existing(path: str | Path) -> Path:
    path = Path(path)
    if not path.is_file():
        raise InputError(f"there is no file {str(path)!r}.")
    check_choice("file ending", path.suffix, _READERS)
    return path


def first_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
