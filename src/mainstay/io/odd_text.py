"""Text that is meant as something else: numbers with words among them, dates, booleans."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Sequence

import pandas as pd

from mainstay._files.numbers import NUMBER, text_columns
from mainstay._validation import InputError, counted

_NUMBER = re.compile(rf"\s*{NUMBER}\s*")
_WITH_UNIT = re.compile(rf"\s*{NUMBER}\s*(?P<unit>%|°|[^\W\d_]{{1,5}}(?:/[^\W\d_]{{1,5}})?)\s*")
_TIME = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s*[AaPp][Mm]|Z|[+-]\d{2}:?\d{2})?"
_DAY = r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2}))"
_DATE = re.compile(rf"\s*(?:{_DAY}(?:[T ]\s*{_TIME})?|{_TIME})\s*")
_N_TRIED = 50  # values of a column that are looked at before all are
_N_NAMED = 4  # words that a message lists


def with_plain_booleans(X: pd.DataFrame) -> pd.DataFrame:
    """Make 1, 0 and missing of columns of True, False and gaps, which are no type of their own."""
    gappy = {
        name: X[name].map({True: 1.0, False: 0.0}).astype(float)
        for name in text_columns(X)
        if X[name].notna().any()
        and X[name].dropna().map(lambda value: isinstance(value, bool)).all()
    }
    return X.assign(**gappy) if gappy else X


def refuse_odd_text(X: pd.DataFrame, keep: Sequence[str]) -> None:
    """Refuse columns of text that are meant as numbers or dates, unless they are kept as text."""
    for name in text_columns(X):
        message = None if name in keep else _odd_text_message(name, X[name])
        if message:
            raise InputError(message)


def refuse_odd_target(name: str, y: pd.Series) -> None:
    """Refuse a target of dates, or of numbers with words among them."""
    if y.dtype.kind == "M" or (y.dtype.kind == "O" and _all_match(_DATE, _words(y))):
        raise InputError(
            f"the target {name!r} holds dates such as {str(y.iloc[0])!r}; make numbers (days since "
            "a start) or classes of them."
        )
    words = _words(y) if y.dtype.kind == "O" else []
    others = Counter(value for value in words if not _NUMBER.fullmatch(value))
    if others and len({*words} - {*others}) > 2 and others.total() < len(words) / 2:
        raise InputError(
            f"the target {name!r} holds numbers, except {_listed(others)}. Replace these, or leave "
            "out their rows."
        )


def dates_message(name: str, example: str) -> str:
    """Say what can be done with a column of dates."""
    quoted = shlex.quote(name)
    return (
        f"column {name!r} holds dates or times such as {example!r}, which cannot be ranked as they "
        "are. Make numbers of them (days since a start, the month, the hour), or leave the column "
        f"out (--drop {quoted})."
    )


def _odd_text_message(name: str, column: pd.Series) -> str | None:
    tried = _words(column.head(_N_TRIED))
    if not any(value[:1].isdigit() or _NUMBER.match(value) for value in tried):
        return None
    values, quoted = _words(column), shlex.quote(name)
    if _all_match(_DATE, values):
        dates = dates_message(name, values[0]).removesuffix(".")
        return f"{dates}, or say that each is a category (--keep {quoted})."
    exits = (
        f"leave the column out (--drop {quoted}), or say that it holds categories (--keep {quoted})"
    )
    others = Counter(value for value in values if not _NUMBER.fullmatch(value))
    if not others:
        return (
            f"column {name!r} holds numbers written as text, such as {values[0]!r}. Save them as "
            f"numbers, with a decimal point and without separators of thousands; {exits}."
        )
    units = {match["unit"] for value in values if (match := _WITH_UNIT.fullmatch(value))}
    if len(units) == 1 and _all_match(_WITH_UNIT, values):
        return (
            f"column {name!r} holds numbers with {units.pop()!r} behind them, such as "
            f"{values[0]!r}. Remove it there; or {exits}."
        )
    if others.total() >= len(values) / 2:
        return None
    options = " ".join(f"--missing {shlex.quote(_as_option(word))}" for word in _few(others))
    return (
        f"column {name!r} holds numbers, except {_listed(others)}. Replace these by numbers, treat "
        f"them as missing ({options}), {exits}."
    )


def _as_option(word: str) -> str:
    return word[0] if re.match(rf"[<>]\s*{NUMBER}", word) else word


def _few(others: Counter[str]) -> list[str]:
    """The commonest words; of those like <0.1 the first one only."""
    seen = {_as_option(word): word for word, _ in reversed(others.most_common())}
    return list(reversed(list(seen.values())))[:_N_NAMED]


def _listed(others: Counter[str]) -> str:
    named = _few(others)
    listed = ", ".join(f"{word!r} (in {counted(others[word], 'row')})" for word in named)
    n_more = len(others) - len(named)
    return f"{listed} and {n_more} more" if n_more else listed


def _words(column: pd.Series) -> list[str]:
    return [value.strip() for value in column.dropna() if isinstance(value, str)]


def _all_match(pattern: re.Pattern[str], values: list[str]) -> bool:
    return bool(values) and all(pattern.fullmatch(value) for value in values)
