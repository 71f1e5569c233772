"""Runs on disk: how they are written, and the layouts in which they come from elsewhere.

These are functions of plain parts (what the runs hold, values, feature names), so that the class
`Runs` can use them.
"""

from __future__ import annotations

import csv
import json
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from mainstay._validation import InputError, check_choice, check_count, some
from mainstay._writing import replacing
from mainstay.runs.ranks import checked_ranks

if TYPE_CHECKING:
    import pandas as pd

    from mainstay._files import Source

_HEADER = "# mainstay runs: "
_ABOUT = re.compile(r"(?P<kind>.*?)(, (?P<n>\d+) runs?)?(, (?P<rows_seen>[a-z ]+))?")
_ROW_NAMES = {"run", "Unnamed: 0", ""}
_KINDS = ("support", "ranks", "scores")

# what is known of the rows that the runs saw
RowsSeen = Literal["", "resampled", "in pairs"]
# "sets" or what the runs hold; values; features; rows seen
RunsParts = tuple[str, Any, Sequence[str] | None, RowsSeen]


def write(
    path: str | Path, kind: str, values: Any, features: Sequence[str], rows_seen: RowsSeen = ""
) -> None:
    """Write runs to .csv (one row per run) or .parquet (compact).

    The first line of a .csv says how many runs follow, so that `read` notices when some are gone.
    """
    import pandas as pd

    from mainstay._files import write_text

    path = Path(path)
    check_choice("file ending", path.suffix, (".csv", ".parquet"))
    if path.suffix == ".csv":
        dense = values.toarray() if kind == "support" else values
        number = f"{len(dense)} run{'s' * (len(dense) != 1)}"
        about = ", ".join(filter(None, (kind, number, rows_seen)))
        with replacing(path) as part, part.open("w", encoding="utf-8", newline="") as file:
            file.write(f"{_HEADER}{about}\n")
            write_text(pd.DataFrame(dense, columns=list(features)), file)
        return
    import pyarrow.parquet as pq

    table = to_arrow(kind, values, features, rows_seen)
    with replacing(path) as part:
        pq.write_table(table, part)


def to_arrow(kind: str, values: Any, features: Sequence[str], rows_seen: RowsSeen = "") -> Any:
    """Make a pyarrow table that `from_arrow` turns back unchanged."""
    import pyarrow as pa

    if kind == "support":  # selected features only: runs × 100,000 columns would be hopeless
        chosen = values.tocoo()
        columns = {"run": chosen.row.astype(np.int32), "feature": chosen.col.astype(np.int32)}
    else:
        columns = {str(run): row for run, row in enumerate(values)}
    about: dict[str, Any] = {"kind": kind, "n_runs": values.shape[0], "features": list(features)}
    if rows_seen:
        about["paired" if rows_seen == "in pairs" else rows_seen] = True
    return pa.table(columns).replace_schema_metadata({"mainstay": json.dumps(about)})


def from_arrow(table: Any) -> RunsParts:
    """Read a pyarrow table written by `to_arrow`."""
    import scipy.sparse as sp

    about = json.loads(table.schema.metadata[b"mainstay"])
    kind, features = check_choice("kind of runs", about["kind"], _KINDS), about["features"]
    rows_seen: RowsSeen = "resampled" if about.get("resampled") else ""
    if about.get("paired"):
        rows_seen = "in pairs"
    if kind != "support":
        return kind, np.stack([column.to_numpy() for column in table.columns]), features, rows_seen
    place = (table["run"].to_numpy(), table["feature"].to_numpy())
    ones = np.ones(len(place[0]), dtype=np.int32)
    support = sp.csr_array((ones, place), shape=(about["n_runs"], len(features)))
    return kind, support, features, rows_seen


def read(
    path: str | Path,
    *,
    kind: str = "auto",
    n_features: int | None = None,
    features: Sequence[str] | None = None,
) -> RunsParts:
    """Read runs from a file, written by `write` or in one of the layouts of `Runs.load`."""
    from mainstay._files import existing, read_table

    source = existing(path)
    check_choice("kind", kind, ("auto", *_KINDS))
    read_saved = {".parquet": _read_saved_parquet, ".csv": _read_saved_csv}.get(source.ending)
    saved = None if read_saved is None else read_saved(source)
    return saved or from_table(read_table(source), kind, n_features, features)


def from_table(
    table: pd.DataFrame,
    kind: str = "auto",
    n_features: int | None = None,
    features: Sequence[str] | None = None,
) -> RunsParts:
    """Read one row per run and one column per feature, or pairs of run and feature."""
    from mainstay._files import PAIRS

    if {str(column) for column in table.columns} == PAIRS:
        check_choice("kind for run, feature pairs", kind, ("auto", "support"))
        return _from_pairs(table, n_features, features)
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
    return kind, table, None, ""


def _from_pairs(
    table: pd.DataFrame, n_features: int | None, features: Sequence[str] | None
) -> RunsParts:
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
            stacklevel=5,
        )
    selected = table["feature"].astype(str).groupby(table["run"], sort=False)
    return "sets", [list(group) for _, group in selected], names, ""


def _guess_kind(values: np.ndarray) -> str:
    if np.isin(values, (0, 1)).all():
        return "support"
    if not np.isfinite(values).all():
        return "scores"
    try:
        checked_ranks(values, [str(column) for column in range(values.shape[1])])
    except InputError:
        return "scores"
    return "ranks"


def _read_saved_csv(source: Source) -> RunsParts | None:
    from mainstay._files.layout import long_fields

    with source.open_text(errors="replace") as file, long_fields():
        first = file.readline().rstrip("\r\n")
        if not first.startswith(_HEADER):
            return None
        about = _ABOUT.fullmatch(first.removeprefix(_HEADER))
        if about is None:
            raise InputError(f"{source} is damaged: its first line is {first!r}.")
        kind = check_choice("kind of runs", about["kind"], _KINDS)
        rows_seen: Any = check_choice(
            "what is known of the rows", about["rows_seen"] or "", get_args(RowsSeen)
        )
        try:
            names, *rows = (row for row in csv.reader(file) if row)
            values = [[float(cell) for cell in row] for row in rows]
        except ValueError as error:
            raise InputError(f"{source} is damaged: {error}.") from error
    if about["n"] is not None:
        _check_complete(source, len(values), int(about["n"]))
    return kind, values, names, rows_seen


def _check_complete(source: Source, n_found: int, n_written: int) -> None:
    """Refuse a file whose end is gone; what is written ends with the end of a line."""
    if n_found != n_written:
        raise InputError(
            f"{source} is damaged: its first line says that it holds {n_written} runs, but there "
            f"are {n_found}. If you have changed it yourself, change that number, too."
        )
    with source.open() as file:
        file.seek(-1, 2)
        if file.read(1) not in b"\r\n":
            raise InputError(
                f"{source} is damaged: it ends in the middle of its last line. If nothing is "
                "missing there, end that line with a line break."
            )


def _read_saved_parquet(source: Source) -> RunsParts | None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from mainstay._files import first_line

    try:
        metadata = pq.read_schema(source.path).metadata or {}
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"{source} is not a parquet file: {first_line(error)}") from error
    return from_arrow(pq.read_table(source.path)) if b"mainstay" in metadata else None
