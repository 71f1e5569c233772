"""Tables and runs from files and back."""

from __future__ import annotations

import csv
import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from mainstay._validation import InputError, check_choice, check_count, some
from mainstay.runs import Kind, Runs

_HEADER = "# mainstay runs: "
_PAIRS = {"run", "feature"}
_ROW_NAMES = {"run", "Unnamed: 0", ""}

ReadKind = Literal["auto"] | Kind


def read_table(path: str | Path) -> pd.DataFrame:
    """Read a table of samples × columns.

    Parameters
    ----------
    path : str or Path
        .csv, .tsv, .parquet or .feather; .npz or .mat with an array `X` (samples × features) and
        perhaps others of the same length, which become columns (`y`), and `feature_names`; .h5ad,
        where the columns of `obs` follow the features (extra "h5ad").
    """
    path = _existing(path)
    try:
        table: pd.DataFrame = _READERS[path.suffix](path)
    except (InputError, ImportError):
        raise
    except Exception as error:  # every reader raises kinds of its own
        raise InputError(
            f"{path} could not be read as {path.suffix[1:]}: {_first_line(error)}"
        ) from error
    if len(table) == 0:
        raise InputError(f"{path} holds no rows.")
    return table


@dataclass(frozen=True)
class Data:
    """A table split into features, target and groups."""

    X: pd.DataFrame
    y: np.ndarray
    groups: np.ndarray | None


def read_data(
    path: str | Path, *, target: str, groups: str | None = None, drop: Sequence[str] = ()
) -> Data:
    """Read a table and split it; say clearly what cannot be used as it is.

    Text columns with a different entry in (nearly) every row are identifiers, not features: they
    are refused by name.
    """
    table = read_table(path).rename(columns=str)
    columns = list(table.columns)
    for name in (target, *([groups] if groups else []), *drop):
        check_choice(f"column of {path}", name, columns)
    y = table[target]
    if y.isna().any():
        raise InputError(f"the target {target!r} is missing in {int(y.isna().sum())} rows.")
    if y.nunique() < 2:
        raise InputError(f"the target {target!r} is constant ({y.iloc[0]} in all rows).")
    if y.dtype.kind not in "buif" and y.nunique() > max(5, len(y) / 2):
        raise InputError(
            f"the target {target!r} is text with {y.nunique()} different entries in {len(y)} rows; "
            "it looks like an identifier."
        )
    left_out = [target, *([groups] if groups else []), *drop]
    X = table.drop(columns=left_out)
    for name in X.columns:
        column = X[name]
        if column.dtype.kind == "f" and np.isinf(column).any():
            raise InputError(f"column {name!r} holds infinite values; replace them.")
        if column.dtype.kind not in "buif" and column.nunique() > 0.9 * len(column) > 9:
            raise InputError(
                f"column {name!r} is text with {column.nunique()} different entries in "
                f"{len(column)} rows: an identifier, not a feature? Leave it out (--drop)."
            )
    if X.shape[1] == 0:
        raise InputError(f"{path} has no column besides {some(left_out)}.")
    return Data(X, y.to_numpy(), None if groups is None else table[groups].to_numpy())


def _read_text(path: Path) -> pd.DataFrame:
    separator = "\t" if path.suffix == ".tsv" else ","
    with path.open(encoding="utf-8-sig", newline="") as file:
        header = next(csv.reader(file, delimiter=separator), [])
    if len(set(header)) < len(header):
        twice = [name for name in dict.fromkeys(header) if header.count(name) > 1]
        raise InputError(f"{path} names columns more than once: {some(twice)}.")
    # in pairs, a feature may be called NA
    as_text: Any = {"dtype": str, "keep_default_na": False, "na_values": [""]}
    options = as_text if set(header) == _PAIRS else {}
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


def read_runs(
    path: str | Path,
    *,
    kind: ReadKind = "auto",
    n_features: int | None = None,
    features: Sequence[str] | None = None,
) -> Runs:
    """Read runs from a file.

    Parameters
    ----------
    path : str or Path
        A .csv, .tsv or .parquet file: written by `Runs.save`; or with one row per run and one
        column per feature; or with the columns `run` and `feature`, one row per selected feature.
        A column named `run` (or unnamed) is taken as the runs' names.
    kind : {"auto", "support", "ranks", "scores"}
        What the values are. "auto": selections if all are 0 or 1, ranks if every row is a ranking,
        scores otherwise.
    n_features : int, optional
        For run, feature pairs: how many features there were to choose from. Without it only those
        that were ever selected are counted, which makes chance agreement look larger than it is.
    features : sequence of str, optional
        For run, feature pairs: the names of all features there were to choose from.

    Returns
    -------
    Runs
    """
    path = _existing(path)
    check_choice("kind", kind, ("auto", *get_args(Kind)))
    saved_as = {".parquet": _read_saved_parquet, ".csv": _read_saved_csv}.get(path.suffix)
    saved = None if saved_as is None else saved_as(path)
    if saved is not None:
        return saved
    return runs_from_table(read_table(path), kind=kind, n_features=n_features, features=features)


def runs_from_table(
    table: pd.DataFrame,
    *,
    kind: ReadKind = "auto",
    n_features: int | None = None,
    features: Sequence[str] | None = None,
) -> Runs:
    """Make runs from a table; see `read_runs` for the layouts."""
    if {str(column) for column in table.columns} == _PAIRS:
        check_choice("kind for run, feature pairs", kind, ("auto", "support"))
        return _runs_from_pairs(table, n_features, features)
    if n_features is not None:
        raise InputError(
            "n_features is for tables of run, feature pairs; columns are features here."
        )
    table = table.drop(columns=[name for name in table.columns if str(name) in _ROW_NAMES])
    text = [str(name) for name in table.columns if table[name].dtype.kind not in "buif"]
    if text:
        raise InputError(
            f"column(s) {some(text)} are not numeric. Expected one row per run and one numeric "
            "column per feature, or the two columns 'run' and 'feature'."
        )
    if kind == "auto":
        kind = _guess_kind(table.to_numpy(dtype=float))
    return _maker(kind)(table)


def write_runs(runs: Runs, path: str | Path) -> None:
    """Write runs to .csv (one row per run) or .parquet (compact)."""
    path = Path(path)
    check_choice("file ending", path.suffix, (".csv", ".parquet"))
    if path.suffix == ".csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            file.write(f"{_HEADER}{runs.kind}\n")
            runs.to_frame().to_csv(file, index=False)
        return
    import pyarrow.parquet as pq

    pq.write_table(runs_to_arrow(runs), path)


def runs_to_arrow(runs: Runs) -> Any:
    """Make a pyarrow table of runs that `runs_from_arrow` turns back unchanged."""
    import pyarrow as pa

    if runs.kind == "support":  # selected features only: runs × 100,000 columns would be hopeless
        chosen = runs.sparse_support.tocoo()
        columns = {"run": chosen.row.astype(np.int32), "feature": chosen.col.astype(np.int32)}
    else:
        values = runs.scores if runs.kind == "scores" else runs.ranks
        columns = {str(run): row for run, row in enumerate(values)}
    about = {"kind": runs.kind, "n_runs": runs.n_runs, "features": runs.features}
    return pa.table(columns).replace_schema_metadata({"mainstay": json.dumps(about)})


def _runs_from_pairs(
    table: pd.DataFrame, n_features: int | None, features: Sequence[str] | None
) -> Runs:
    if table.isna().to_numpy().any():
        row = int(np.flatnonzero(table.isna().any(axis=1))[0])
        raise InputError(f"row {row + 1} of the run, feature pairs has an empty cell.")
    names = list(dict.fromkeys(table["feature"].astype(str)))
    if features is not None:
        names = [str(name) for name in features]
        if n_features not in (None, len(names)):
            raise InputError(
                f"n_features={n_features} contradicts the {len(names)} features given."
            )
    elif n_features is not None:
        check_count("n_features", n_features, len(names))
        names += [f"never selected {i}" for i in range(n_features - len(names))]
    else:
        warnings.warn(
            f"run, feature pairs name selected features only: the {len(names)} features seen are "
            "taken for all there were. Give the number of features for a fair correction for "
            "chance. (Runs that selected nothing cannot be listed as pairs.)",
            stacklevel=4,
        )
    selected = table["feature"].astype(str).groupby(table["run"], sort=False)
    return Runs.from_sets([list(group) for _, group in selected], features=names)


def _maker(kind: str) -> Callable[..., Runs]:
    makers: dict[str, Callable[..., Runs]] = {
        "support": Runs.from_support,
        "ranks": Runs.from_ranks,
        "scores": Runs.from_scores,
    }
    return makers[kind]


def _guess_kind(values: np.ndarray) -> Kind:
    if np.isin(values, (0, 1)).all():
        return "support"
    if np.isfinite(values).all() and values.shape[0] > 1:
        try:
            Runs.from_ranks(values)
        except InputError:
            return "scores"
        return "ranks"
    return "scores"


def _read_saved_csv(path: Path) -> Runs | None:
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        first = file.readline().rstrip("\r\n")
        if not first.startswith(_HEADER):
            return None
        kind = check_choice("kind of runs", first.removeprefix(_HEADER), get_args(Kind))
        try:
            names, *rows = (row for row in csv.reader(file) if row)
            values = [[float(cell) for cell in row] for row in rows]
        except ValueError as error:
            raise InputError(f"{path} is damaged: {_first_line(error)}.") from error
    return _maker(kind)(values, features=names)


def _read_saved_parquet(path: Path) -> Runs | None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_schema(path).metadata or {}
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"{path} is not a parquet file: {_first_line(error)}") from error
    return runs_from_arrow(pq.read_table(path)) if b"mainstay" in metadata else None


def runs_from_arrow(table: Any) -> Runs:
    """Make runs of a pyarrow table written by `runs_to_arrow`."""
    import scipy.sparse as sp

    about = json.loads(table.schema.metadata[b"mainstay"])
    if about["kind"] != "support":
        values = np.stack([column.to_numpy() for column in table.columns])
        return _maker(about["kind"])(values, features=about["features"])
    place = (table["run"].to_numpy(), table["feature"].to_numpy())
    shape = (about["n_runs"], len(about["features"]))
    support = sp.csr_array((np.ones(len(place[0]), dtype=np.int32), place), shape=shape)
    return Runs.from_support(support, features=about["features"])


def _existing(path: str | Path) -> Path:
    path = Path(path)
    if not path.is_file():
        raise InputError(f"there is no file {str(path)!r}.")
    check_choice("file ending", path.suffix, _READERS)
    return path


def _first_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
