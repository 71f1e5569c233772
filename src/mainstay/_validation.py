"""Checks of what users hand in, and the errors that say what to do about it."""

from __future__ import annotations

import difflib
import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

_TINY_WEIGHT = 1e-100  # its square is still a number

RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None


class InputError(ValueError):
    """Something handed to mainstay cannot be used; the message says what, where and what to do."""


def check_choice(what: str, value: object, valid: Iterable[str]) -> str:
    """Return `value` if it is one of `valid`; if not, list the valid names and the nearest."""
    names = list(valid)
    if isinstance(value, str) and value in names:
        return value
    close = difflib.get_close_matches(str(value), names, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    listed = ", ".join(names[:50])
    if len(names) > 50:
        listed = f"{', '.join(names[:5])}, …, {names[-1]} ({len(names)} in all)"
    raise InputError(f"unknown {what} {value!r}.{hint} Valid: {listed}.")


def check_random_state(random_state: RandomState) -> np.random.Generator:
    """Turn a seed, a Generator, a RandomState (which is drawn from) or None into a Generator."""
    if random_state is None or isinstance(random_state, np.random.Generator):
        return random_state or np.random.default_rng()
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    if isinstance(random_state, int | np.integer) and random_state >= 0:
        return np.random.default_rng(int(random_state))
    raise InputError(
        "random_state must be None, an integer of at least 0, a numpy Generator or a RandomState, "
        f"got {random_state!r}."
    )


def check_fraction(what: str, value: object, *, closed: bool = True) -> float:
    """Return `value` as a float if it lies in [0, 1] (or in (0, 1) if not `closed`)."""
    interval = "[0, 1]" if closed else "(0, 1)"
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise InputError(f"{what} must be a number in {interval}, got {value!r}.") from None
    if not (0 <= number <= 1) or (not closed and number in (0.0, 1.0)):
        raise InputError(f"{what} must be a number in {interval}, got {value!r}.")
    return number


def check_count(what: str, value: object, low: int, high: int | None = None) -> int:
    """Return `value` as an int if it is a whole number between `low` and `high`."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        number = int(value)
        if number >= low and (high is None or number <= high):
            return number
    limit = f"at least {low}" if high is None else f"from {low} to {high}"
    raise InputError(f"{what} must be a whole number {limit}, got {value!r}.")


def check_options(name: str, options: Iterable[str], valid: Sequence[str]) -> None:
    """Refuse options that the measure or rule `name` does not have."""
    for option in options:
        if option not in valid:
            takes = ", ".join(valid) or "none"
            raise InputError(f"{name!r} has no option {option!r}; its options: {takes}.")


def some(names: Sequence[object], most: int = 5) -> str:
    """List the first few of `names`, and how many more there are."""
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def counted(n: int, thing: str) -> str:
    """Say how many: 1 row, 2 rows.

    Examples
    --------
    >>> counted(1, "row"), counted(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{n:,} {thing}{'s' * (n != 1)}"


def run_label(run: int) -> str:
    """Name a run in a message."""
    return f"run {run} (counting from 0)"


def split_table(data: Any) -> tuple[Any, list[str] | None]:
    """Split numpy, scipy.sparse, pandas or polars input into values and column names."""
    if hasattr(data, "columns") and hasattr(data, "to_numpy"):
        return data.to_numpy(), [str(name) for name in data.columns]
    return data, None


def check_matrix(what: str, data: Any, columns: Sequence[str] | None = None) -> np.ndarray:
    """Return rows of numbers as a 2-d array; name the first ragged row or the wrong dtype."""
    if hasattr(data, "toarray"):
        data = data.toarray()
    if not isinstance(data, np.ndarray):
        if isinstance(data, str) or not isinstance(data, Iterable):
            raise InputError(f"{what}: expected runs × features, got {data!r}.")
        rows = list(data)
        lengths = [len(row) if hasattr(row, "__len__") else -1 for row in rows]
        for run, length in enumerate(lengths):
            if length == -1:
                raise InputError(f"{what}: {run_label(run)} is {rows[run]!r}, not a row of values.")
            if length != lengths[0]:
                raise InputError(
                    f"{what}: {run_label(run)} has {length} values, but run 0 has {lengths[0]}; "
                    "every run needs one value per feature."
                )
        data = np.array(rows)
        if data.dtype.kind not in "buif":
            data = np.array(rows, dtype=object)
    if data.ndim != 2:
        raise InputError(
            f"{what}: expected runs × features (2 dimensions), got shape {data.shape}."
        )
    if data.dtype.kind not in "buifOUST":
        raise InputError(f"{what}: dtype {data.dtype} is not numeric.")
    if data.dtype.kind not in "buif":
        for run, row in enumerate(data.tolist()):
            for column, value in enumerate(row):
                if value is not None and not isinstance(value, int | float | np.number | np.bool_):
                    where = f"feature {columns[column]!r}" if columns else f"column {column}"
                    raise InputError(
                        f"{what}: {run_label(run)}, {where} holds {value!r}, not a number."
                    )
    return np.array(data, dtype=float)


def feature_names(
    features: Any, columns: list[str] | None, n_features: int | None
) -> tuple[str, ...]:
    """Settle the feature names from what the caller gave, the table's columns, or a bare count."""
    if features is None:
        features = columns if columns is not None else n_features
    if isinstance(features, int | np.integer):
        default = default_names(check_count("features", features, 1))
        if len(default) == n_features:
            return default
        features = default
    names = tuple(map(str, features))
    if n_features is not None and len(names) != n_features:
        raise InputError(
            f"{len(names)} feature names were given for {n_features} columns; they must match."
        )
    if len(names) == 0:
        raise InputError("there are no features.")
    if len(set(names)) < len(names):
        seen: set[str] = set()
        twice = [name for name in names if name in seen or seen.add(name)]  # type: ignore[func-returns-value]
        raise InputError(f"feature names must be unique; given more than once: {some(twice)}.")
    return names


@lru_cache(maxsize=2)
def default_names(n: int) -> tuple[str, ...]:
    """x0, x1, …"""
    return tuple(f"x{i}" for i in range(n))


def natural_order(names: Sequence[str]) -> np.ndarray:
    """Sort names as people do (x2 before x10): an order that no shuffling of columns changes."""
    return _natural_order(tuple(names)).copy()


@lru_cache(maxsize=2)  # every run of a model asks for it, with the same names
def _natural_order(names: tuple[str, ...]) -> np.ndarray:
    if names == default_names(len(names)):
        return np.arange(len(names))
    keys = [[_natural_key(part) for part in re.split(r"(\d+)", name)] for name in names]
    return np.array(sorted(range(len(names)), key=lambda i: (keys[i], names[i])), dtype=np.intp)


def _natural_key(part: str) -> tuple[int, int, str]:
    """Numbers come before words, by length and then by digit: Python converts only 4,300 digits."""
    if not part.isdecimal():
        return 1, 0, part
    digits = "".join(str(unicodedata.decimal(digit)) for digit in part).lstrip("0")
    return 0, len(digits), digits


def column_names(X: Any) -> tuple[str, ...]:
    """Names of the columns of a table as text (those of several levels joined by "_"), or x0, …"""
    columns = getattr(X, "columns", None)
    if columns is None:
        return feature_names(None, None, X.shape[1])
    names = ["_".join(map(str, n)) if isinstance(n, tuple) else str(n) for n in columns]
    return feature_names(None, names, X.shape[1])


def row_labels(what: str, labels: Any, n: int) -> np.ndarray:
    """Return groups or strata of n rows as an array; none of them may be missing."""
    values = np.asarray(labels)
    if values.shape != (n,):
        raise InputError(f"{what} must have one entry per row ({n}), got shape {values.shape}.")
    if values.dtype.kind in "fmMO":
        import pandas as pd

        missing = np.flatnonzero(pd.isna(values))
        if missing.size:
            raise InputError(
                f"{what} must say of every row where it belongs; missing in "
                f"{counted(missing.size, 'row')}, such as row {missing[0]} (counting from 0)."
            )
    return values


def numbered(labels: np.ndarray) -> np.ndarray:
    """Number labels from 0 in their sorted order."""
    return np.unique(labels, return_inverse=True)[1].ravel()


def share_or_number(what: str, wanted: Any, p: int) -> int:
    """Number of features from a number, or from a share of all (rounded up, at least one)."""
    if not isinstance(wanted, float | np.floating):
        return check_count(what, wanted, 1, p)
    if not 0 <= wanted <= 1:
        raise InputError(
            f"{what} must be a whole number of features from 1 to {p}, or a share of all from 0.0 "
            f"to 1.0, got {wanted!r}."
        )
    return max(1, math.ceil(wanted * p - 1e-9))


def distinct(names: Iterable[str]) -> list[str]:
    """The names, told apart by primes where one comes again.

    Examples
    --------
    >>> distinct(["mrmr", "Lasso", "Lasso"])
    ['mrmr', 'Lasso', "Lasso'"]
    """
    found: list[str] = []
    for name in names:
        while name in found:
            name += "'"
        found.append(name)
    return found


def check_weights(sample_weight: Any, n: int) -> np.ndarray | None:
    """Return weights of n rows as an array; they are finite, not negative and not all zero."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=float)
    if weights.shape != (n,):
        raise InputError(f"sample_weight must have one entry per row ({n}), got {weights.shape}.")
    if not (np.isfinite(weights) & (weights >= 0)).all() or not weights.any():
        raise InputError("sample weights must be finite, at least zero, and not all zero.")
    return moderate_weights(weights)


def moderate_weights(weights: np.ndarray) -> np.ndarray:
    """Weights whose products are numbers, in rows of one weight for each sample.

    A row whose largest weight is tiny or huge is divided by it; what vanishes beside it becomes 0.

    Examples
    --------
    >>> moderate_weights(np.array([1e-300, 5e-301])), moderate_weights(np.array([3.0, 1e-300]))
    (array([1. , 0.5]), array([3., 0.]))
    """
    if weights.dtype.kind != "f" or weights.size == 0:
        return weights
    largest = weights.max(axis=-1, keepdims=True)
    extreme = (largest < _TINY_WEIGHT) | (largest > 1 / _TINY_WEIGHT)
    if extreme.any():
        unit = np.where(extreme, largest, 1.0)
        weights, largest = weights / unit, largest / unit
    vanishing = (weights > 0) & (weights < _TINY_WEIGHT * largest)
    return np.where(vanishing, 0.0, weights) if vanishing.any() else weights
