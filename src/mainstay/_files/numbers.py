"""Numbers written as text: decimal commas, and words that stand for missing values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pandas as pd

from mainstay._validation import InputError, check_choice, counted, some

NUMBER = r"[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)?"
_WITH_COMMA = re.compile(r"\s*[+-]?\d*,\d+(?:[eE][+-]?\d+)?\s*")
_WITHOUT_COMMA = re.compile(r"\s*[+-]?\d+(?:[eE][+-]?\d+)?\s*")
_THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2}(?:,\d{3})+\s*")
_LIMIT = re.compile(rf"\s*[<>≤≥]=?\s*{NUMBER}\s*")
_N_TRIED = 20  # values of a column that are looked at before all are


def text_columns(table: pd.DataFrame) -> list[str]:
    """Names of the columns that hold text (or a mixture), not numbers, booleans or dates."""
    return [
        str(name)
        for name, dtype in table.dtypes.items()
        if dtype.kind == "O" and not isinstance(dtype, pd.CategoricalDtype)
    ]


def decimal_mark(file: str, table: pd.DataFrame, wanted: str | None) -> str:
    """Tell the decimal mark from a table that was read as if it were a point.

    Columns of text in which every value is a number with a comma, or a whole number, say that it is
    the comma; unless all of these commas could separate thousands, which only the user can know.
    """
    if wanted is not None:
        return check_choice("decimal mark", wanted, (".", ","))
    columns = [name for name in text_columns(table) if _has_decimal_commas(table[name])]
    if not columns:
        return "."
    with_comma = [value for name in columns for value in _texts(table[name]) if "," in value]
    if all(_THOUSANDS.fullmatch(value) for value in with_comma):
        points = [name for name in table.columns if _has_fractions(table[name])]
        if points:
            raise InputError(
                f"{file} has commas in the numbers of column {columns[0]!r} (such as "
                f"{with_comma[0]!r}) and decimal points in {points[0]!r}; remove commas that "
                "separate thousands, and write decimal marks as points."
            )
        raise InputError(
            f"the commas in column {columns[0]!r} of {file} (such as {with_comma[0]!r}) may be "
            "decimal marks or separate thousands. If they are decimal marks, say so (--decimal ,); "
            "if not, remove them."
        )
    return ","


def _has_decimal_commas(column: pd.Series) -> bool:
    tried = _texts(column.head(_N_TRIED))
    if tried and not any(_WITH_COMMA.fullmatch(v) or _WITHOUT_COMMA.fullmatch(v) for v in tried):
        return False
    values = _texts(column)
    with_comma = [value for value in values if _WITH_COMMA.fullmatch(value)]
    # a few other words, such as n.d., do not make it another mark
    n_numbers = len(with_comma) + sum(bool(_WITHOUT_COMMA.fullmatch(value)) for value in values)
    return bool(with_comma) and n_numbers > len(values) / 2


def _has_fractions(column: pd.Series) -> bool:
    return column.dtype.kind == "f" and bool((column.dropna() % 1 != 0).any())


def _texts(column: pd.Series) -> list[str]:
    return [value for value in column.dropna() if isinstance(value, str)]


def refuse_both_marks(file: str, with_points: pd.DataFrame, with_commas: pd.DataFrame) -> None:
    """Refuse a file whose numbers have decimal points in one column and commas in another."""
    points = [name for name in text_columns(with_commas) if with_points[name].dtype.kind == "f"]
    if points:
        commas = [
            name
            for name in text_columns(with_points)
            if name not in points and with_commas[name].dtype.kind == "f"
        ]
        raise InputError(
            f"{file} has numbers with a decimal point in column {points[0]!r} and numbers with a "
            f"comma in {commas[0] if commas else 'others'!r}; write all of them with a point."
        )


def mark_missing(
    table: pd.DataFrame, words: Sequence[str], decimal: str = "."
) -> tuple[pd.DataFrame, Counter[str]]:
    """Treat words as missing; columns that hold only numbers without them become numbers.

    Parameters
    ----------
    table : pandas.DataFrame
        Any table.
    words : sequence of str
        Such as "n.d.", "-999" or "<0.1"; "<" or ">" stands for all values that begin with it.
    decimal : {".", ","}
        The decimal mark of the numbers that are text so far.

    Returns
    -------
    table : pandas.DataFrame
        A table with missing values instead.
    counts : Counter
        How often each word was found.
    """
    counts: Counter[str] = Counter(dict.fromkeys(words, 0))
    changed: dict[str, Any] = {}
    exact = {word.strip() for word in words}
    numbers = {word: float(word) for word in exact if re.fullmatch(NUMBER.replace(",", ""), word)}
    for name in table.columns:
        column = table[name]
        if column.dtype.kind in "uif":
            for word, number in numbers.items():
                hit = (column == number).fillna(False)
                if hit.any():
                    counts[word] += int(hit.sum())
                    column = changed[name] = column.mask(hit)
        elif column.dtype.kind == "O":
            text = column.astype(str).str.strip()
            stands_for = text.where(text.isin(exact))
            for sign in exact & {"<", ">"}:
                stands_for = stands_for.mask(
                    text.str.match(_LIMIT) & text.str.startswith(sign), sign
                )
            stands_for = stands_for.where(column.notna())
            if stands_for.notna().any():
                counts.update(stands_for.dropna())
                changed[name] = as_numbers(column.mask(stands_for.notna()), decimal)
    return table.assign(**changed) if changed else table, counts


def as_numbers(column: pd.Series, decimal: str = ".") -> pd.Series:
    """Numbers if all that is there is a number; else the column as it is."""
    text = column.str.replace(",", ".", regex=False) if decimal == "," else column
    try:
        return pd.to_numeric(text)
    except (ValueError, TypeError):
        return column


def describe_missing(counts: Counter[str]) -> str:
    """Say how many values were treated as missing, and which words were found nowhere."""
    found = [f"{word!r} ({counted(n, 'value')})" for word, n in counts.items() if n]
    absent = [word for word, n in counts.items() if not n]
    parts = [f"treated as missing: {', '.join(found)}"] if found else []
    return "; ".join([*parts, f"found nowhere: {some(absent)}"] if absent else parts)
