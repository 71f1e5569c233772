"""A table split into features, target and groups; what cannot be used is refused by name."""

from __future__ import annotations

import re
import shlex
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from mainstay._files import first_line, read_annotated
from mainstay._files.annotated import Annotations
from mainstay._validation import InputError, check_choice, counted, some
from mainstay.io.odd_text import (
    dates_message,
    refuse_odd_target,
    refuse_odd_text,
    with_plain_booleans,
)

_FEW_ROWS = 10  # in so few, text that never repeats or consecutive numbers may be a coincidence
_OTHER_CONTENT = {"M": "dates", "m": "durations", "c": "complex numbers"}
# fmt: off
_ID_WORDS = frozenset((
    "barcode", "guid", "id", "identifier", "idx", "index", "key", "no", "nr", "num", "number",
    "pid", "rowid", "uid", "uuid",
))
_ID_NAMES = frozenset((
    "case", "donor", "individual", "participant", "patient", "patientid", "person", "record",
    "row", "sample", "sampleid", "subject", "subjectid",
))
# fmt: on


@dataclass(frozen=True)
class LabelledTable:
    """A table split into features, target, groups and strata."""

    X: pd.DataFrame
    y: np.ndarray
    groups: np.ndarray | None
    strata: np.ndarray | None = None


def read_data(
    path: str | Path,
    *,
    target: str,
    groups: str | None = None,
    strata: str | None = None,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    missing: Sequence[str] = (),
    decimal: str | None = None,
) -> LabelledTable:
    """Read a table and split it; say clearly what cannot be used as it is.

    Columns that look like identifiers are refused by name, unless `keep` says that they are
    features: text with a different entry in nearly every row, and whole numbers that are all
    different and are named like an identifier (see `is_id_name`) or are consecutive, in any order.
    So are dates, and columns of numbers with a few words among them, such as "n.d." or "<0.1".

    Parameters
    ----------
    path : str or Path
        A file that `mainstay.io.read_table` can read.
    target : str
        The column to be predicted. Of .h5ad files a column of `obs`, of .npz and .mat files an
        array beside `X`, or else a feature; nothing else of `obs` or of those arrays is used.
    groups : str, optional
        The column that tells which rows belong together, from the same places.
    strata : str, optional
        The column that tells among which rows targets may be permuted, from the same places.
    drop : sequence of str
        Columns that are not features.
    keep : sequence of str
        Columns that are features as they are, although they look like identifiers, dates or numbers
        with words among them; text is taken as categories.
    missing, decimal
        What else stands for a missing value, and the decimal mark; see `mainstay.io.read_table`.

    Returns
    -------
    LabelledTable
    """
    table, annotations = read_annotated(path, missing=missing, decimal=decimal)
    if table.shape[1] == 1 and not annotations:
        raise InputError(
            f"{path} has a single column, {table.columns[0]!r}; a target and features need two or "
            "more. Values may be separated by commas, semicolons, tabs or '|'."
        )
    y = _label(path, target, table, annotations)
    _check_target(target, y)
    group_of, stratum_of = (
        None if name is None else _complete_label(what, path, name, table, annotations)
        for what, name in (("groups", groups), ("strata", strata))
    )
    for name in drop:
        check_choice(f"column of {path}", name, [*table.columns, *annotations])
    left_out = {target, *filter(None, (groups, strata)), *drop}
    X = table.drop(columns=[name for name in table.columns if name in left_out])
    if X.shape[1] == 0:
        raise InputError(f"{path} has no column besides {some(sorted(left_out))}.")
    for name in keep:
        check_choice("feature to keep", name, X.columns)
    X = with_plain_booleans(X)
    _refuse_unusable(X)
    refuse_odd_text(X, keep)
    refuse_identifiers(_identifiers(X), keep)
    return LabelledTable(X, y.to_numpy(), group_of, stratum_of)


def is_id_name(name: str) -> bool:
    """Tell whether a column is named like an identifier.

    It is if its last word is barcode, guid, id, identifier, idx, index, key, no, nr, num, number,
    pid, rowid, uid or uuid; if its first word is id; if it has no name; or if the whole name is
    what rows often stand for (case, donor, patient, record, row, sample, subject, …). A word ends
    at anything but a letter or digit, and where a capital follows a small letter.

    Examples
    --------
    >>> [is_id_name(name) for name in ("ID", "patient_id", "sampleNo", "Row number", "id.patient")]
    [True, True, True, True, True]
    >>> [is_id_name(name) for name in ("ID1", "number_of_reads", "valid", "age", "width")]
    [False, False, False, False, False]
    """
    separated = re.sub(r"([a-z])([A-Z])", r"\1 \2", name)
    words = re.findall(r"[^\W_]+", separated.lower())
    if not words or re.fullmatch(r"Unnamed: \d+", name):  # what pandas calls a column without name
        return True
    return words[-1] in _ID_WORDS or words[0] == "id" or " ".join(words) in _ID_NAMES


def _complete_label(
    what: str, path: str | Path, name: str, table: pd.DataFrame, annotations: Annotations
) -> np.ndarray:
    """Groups or strata by name of their column; none of them may be missing."""
    labels = _label(path, name, table, annotations)
    if labels.isna().any():
        n_missing = counted(int(labels.isna().sum()), "row")
        raise InputError(f"the {what} {name!r} are missing in {n_missing}; fill them in.")
    return labels.to_numpy()


def _label(path: str | Path, name: str, table: pd.DataFrame, annotations: Annotations) -> pd.Series:
    """Find the column that a user asked for by name, among the annotations or the features."""
    check_choice(f"column of {path}", name, [*table.columns, *annotations])
    if name not in annotations:
        return table[name]
    if name in table.columns:
        raise InputError(
            f"{name!r} is both a feature and an annotation of the rows of {path} (a column of obs "
            "or an array beside X): it is unclear which is meant. Rename one of them."
        )
    try:
        values = np.ravel(annotations[name]())
    except InputError:
        raise
    except Exception as error:  # of whatever reads the file
        raise InputError(f"{name!r} of {path} could not be read: {first_line(error)}") from error
    if len(values) != len(table):
        raise InputError(f"{name!r} of {path} has {len(values)} entries for {len(table)} rows.")
    return pd.Series(values)


def _check_target(target: str, y: pd.Series) -> None:
    if y.isna().any():
        n_missing = counted(int(y.isna().sum()), "row")
        raise InputError(
            f"the target {target!r} is missing in {n_missing}. Take these rows out of the file; a "
            "class that is called NA, None or null is read as missing, so name it otherwise."
        )
    if y.nunique() < 2:
        raise InputError(f"the target {target!r} is constant ({y.iloc[0]} in all rows).")
    refuse_odd_target(target, y)
    if y.dtype.kind not in "buif" and y.nunique() > max(5, len(y) / 2):
        raise InputError(
            f"the target {target!r} is text with {y.nunique()} different entries in {len(y)} rows; "
            "it looks like an identifier."
        )


def _refuse_unusable(X: pd.DataFrame) -> None:
    for name, dtype in X.dtypes.items():
        content = _OTHER_CONTENT.get(dtype.kind)
        if content == "dates":
            raise InputError(dates_message(str(name), str(X[name].dropna().iloc[0])))
        if dtype.kind == "O" and not all(isinstance(value, Hashable) for value in X[name]):
            content = "lists"
        if content:
            raise InputError(
                f"column {name!r} holds neither numbers nor text but {content}; convert it, or "
                f"leave it out (--drop {shlex.quote(str(name))})."
            )
    numbers = X.loc[:, [dtype.kind == "f" for dtype in X.dtypes]]
    infinite = np.isinf(numbers.to_numpy(dtype=float, na_value=np.nan)).any(axis=0)
    if infinite.any():
        name = numbers.columns[infinite][0]
        raise InputError(f"column {name!r} holds infinite values; replace them.")


def refuse_identifiers(found: Iterable[tuple[str, str]], keep: Sequence[str]) -> None:
    """Refuse columns that look like identifiers, given with the reasons, unless they are kept."""
    reasons = {name: reason for name, reason in found if name not in keep}
    if not reasons:
        return
    name, *others = reasons
    quoted = shlex.quote(name)
    also = f" (So do {some(others)}.)" if others else ""
    raise InputError(
        f"column {name!r} looks like an identifier, not a feature: {reasons[name]}. Leave it out "
        f"(--drop {quoted}), or say that it is a feature (--keep {quoted}).{also}"
    )


def _identifiers(X: pd.DataFrame) -> Iterator[tuple[str, str]]:
    """Columns that look like identifiers, and why."""
    n_rows = len(X)
    consecutive = _consecutive_columns(X)
    for column, dtype in X.dtypes.items():
        name = str(column)
        if name in consecutive:
            yield name, f"it holds {n_rows} consecutive whole numbers"
        elif dtype.kind in "uif":
            if is_id_name(name) and _holds_different_whole_numbers(X[name]):
                yield name, "it is named like one, and holds a different whole number in every row"
        elif dtype.kind != "b" and n_rows > _FEW_ROWS:
            n_different = X[name].nunique()
            if n_different > 0.9 * n_rows:
                yield name, f"it is text with {n_different} different entries in {n_rows} rows"


def _consecutive_columns(X: pd.DataFrame) -> set[str]:
    """Columns that hold, in any order, as many consecutive whole numbers as there are rows.

    Where most columns do, the values are ranks.
    """
    if len(X) <= _FEW_ROWS:
        return set()
    numbers = X.select_dtypes("number")
    highest, lowest = (
        limit.to_numpy(dtype=float, na_value=np.nan) for limit in (numbers.max(), numbers.min())
    )
    candidates = numbers.columns[highest - lowest == len(X) - 1]
    names = {str(name) for name in candidates if _holds_different_whole_numbers(X[name])}
    return set() if len(names) > max(2, X.shape[1] / 2) else names


def _holds_different_whole_numbers(column: pd.Series) -> bool:
    values = column.dropna().to_numpy(dtype=float)
    return len(values) > 1 and len(np.unique(values)) == len(values) and not (values % 1).any()
