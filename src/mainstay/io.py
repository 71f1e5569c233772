"""Tables and runs from files and back."""

from __future__ import annotations

import csv
import json
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from mainstay._validation import InputError, check_choice, check_count, some
from mainstay.runs import Kind, Runs

TABLE_SUFFIXES = (".csv", ".tsv", ".parquet")
_HEADER = "# mainstay runs: "
_PAIRS = {"run", "feature"}
_ROW_NAMES = {"run", "Unnamed: 0", ""}

ReadKind = Literal["auto"] | Kind


def read_table(path: str | Path) -> pd.DataFrame:
    """Read a .csv, .tsv or .parquet table."""
    path = _existing(path)
    try:
        if path.suffix == ".parquet":
            table, header = pd.read_parquet(path), []
        else:
            separator = "\t" if path.suffix == ".tsv" else ","
            with path.open(encoding="utf-8-sig", newline="") as file:
                header = next(csv.reader(file, delimiter=separator), [])
            # in pairs, a feature may be called NA
            as_text: Any = {"dtype": str, "keep_default_na": False, "na_values": [""]}
            options = as_text if set(header) == _PAIRS else {}
            table = pd.read_csv(path, sep=separator, **options)
    except Exception as error:  # pandas and pyarrow raise many kinds
        raise InputError(
            f"{path} could not be read as {path.suffix[1:]}: {_first_line(error)}"
        ) from error
    if len(set(header)) < len(header):
        twice = [name for name in dict.fromkeys(header) if header.count(name) > 1]
        raise InputError(f"{path} names columns more than once: {some(twice)}.")
    if len(table) == 0:
        raise InputError(f"{path} holds no rows.")
    return table


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
    saved = _read_saved_parquet(path) if path.suffix == ".parquet" else _read_saved_csv(path)
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
    import pyarrow as pa
    import pyarrow.parquet as pq

    if runs.kind == "support":  # selected features only: runs × 100,000 columns would be hopeless
        chosen = runs.sparse_support.tocoo()
        columns = {"run": chosen.row.astype(np.int32), "feature": chosen.col.astype(np.int32)}
    else:
        values = runs.scores if runs.kind == "scores" else runs.ranks
        columns = {str(run): row for run, row in enumerate(values)}
    about = {"kind": runs.kind, "n_runs": runs.n_runs, "features": runs.features}
    table = pa.table(columns).replace_schema_metadata({"mainstay": json.dumps(about)})
    pq.write_table(table, path)


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
    import scipy.sparse as sp

    try:
        metadata = pq.read_schema(path).metadata or {}
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"{path} is not a parquet file: {_first_line(error)}") from error
    if b"mainstay" not in metadata:
        return None
    about = json.loads(metadata[b"mainstay"])
    table = pq.read_table(path)
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
    check_choice("file ending", path.suffix, TABLE_SUFFIXES)
    return path


def _first_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
