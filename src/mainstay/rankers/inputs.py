"""Reading tables and targets: numpy, pandas, polars, scipy.sparse → columns of a known kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mainstay._validation import (
    InputError,
    check_choice,
    feature_names,
    moderate_weights,
    natural_order,
)

TARGETS = ("auto", "class", "continuous")
TARGET_OF_TASK = {"classification": "class", "regression": "continuous"}
_MOST_CLASSES, _FEWEST_ROWS_OF_CLASS = 20, 10  # beyond both, whole numbers are not classes
HUGE = 1e150  # sums of squares of such numbers are still finite
_SMALL = 10**7  # values; of larger tables columns are read one by one, which takes little memory
_KINDS = {"f": "float", "i": "integer", "u": "integer", "b": "boolean"}  # of numpy's dtypes


@dataclass(frozen=True)
class Column:
    """One column: numbers (float64, NaN = missing) or category codes (-1 = missing)."""

    kind: str  # "float", "integer", "boolean" or "category"
    values: np.ndarray


@dataclass(frozen=True)
class SomeRows:
    """Rows of a table of floats without gaps: looked up where they are needed, not copied.

    Attributes
    ----------
    table : numpy.ndarray
        Floats in the order of rows, none missing, infinite or huge.
    rows : numpy.ndarray
        Which rows.
    columns : tuple of str
        Names of the columns.
    """

    table: np.ndarray
    rows: np.ndarray
    columns: tuple[str, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return len(self.rows), self.table.shape[1]

    @property
    def dtype(self) -> Any:
        """Type of the numbers."""
        return self.table.dtype

    def __getitem__(self, which: Any) -> np.ndarray:
        """Copy some of the rows; or `[rows, columns]`."""
        rows, columns = which if isinstance(which, tuple) else (which, slice(None))
        return np.asarray(self.table[self.rows[rows], columns])

    def of_these(self, which: np.ndarray) -> SomeRows:
        """Only some of these rows."""
        return SomeRows(self.table, self.rows[which], self.columns)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.table[self.rows], dtype=dtype)

    def less(
        self, centres: np.ndarray, rows: slice, columns: slice, out: np.ndarray | None
    ) -> np.ndarray:
        """Some rows and neighbouring columns, less a number for every column."""
        from mainstay._kernels.moments import centred_rows

        which = self.rows[rows]
        out = np.empty((len(which), len(centres))) if out is None else out
        centred_rows(self.table, which, columns.start or 0, centres, out)
        return out


class Table:
    """The columns of X, one at a time, whatever X is.

    Parameters
    ----------
    X : array, scipy.sparse matrix, pandas or polars DataFrame, SomeRows
        n rows × p features.
    """

    some_rows: SomeRows | None = None

    def __init__(self, X: Any) -> None:
        columns: list[str] | None = None
        # not bound to self: a cycle would keep X until the garbage collector comes
        read: Callable[[int, str], Column]
        if isinstance(X, SomeRows):
            self.some_rows, self.names, shape = X, X.columns, X.shape
            read = lambda j, name: _column(X[:, j], name)  # noqa: E731
        elif hasattr(X, "get_columns") and hasattr(X, "schema"):
            columns, shape = list(X.columns), X.shape
            read = lambda j, name: _polars_column(X.to_series(j), name)  # noqa: E731
        elif hasattr(X, "iloc") and hasattr(X, "columns"):
            columns, shape = [str(name) for name in X.columns], X.shape
            read = _pandas_reader(X)
        elif hasattr(X, "tocsc"):
            by_column, shape = X.tocsc(), X.shape
            read = lambda j, name: _column(by_column[:, [j]].toarray().ravel(), name)  # noqa: E731
        else:
            array = _array(X)
            shape = array.shape
            read = lambda j, name: _column(array[:, j], name)  # noqa: E731
        self.n_rows, self.n_features = int(shape[0]), int(shape[1])
        if columns is not None:
            self.names = feature_names(None, columns, self.n_features)
        self._read, self._X = read, X
        if self.n_rows < 2:
            raise InputError(f"X has {self.n_rows} row(s); at least 2 are needed.")

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns; x0, x1, … where they have none, made only when asked for."""
        return feature_names(None, None, self.n_features)

    @cached_property
    def floats(self) -> np.ndarray | None:
        """All columns, n × p, where they are floats and none is infinite or huge; None elsewhere.

        They are kept in single precision if they come so.
        """
        values = _at_once(self._X, "f")
        return None if values is None or is_huge(values) else values

    def rows_of_floats(self) -> tuple[np.ndarray, np.ndarray] | None:
        """An array of floats and which of its rows are this table; None where some are missing."""
        if self.some_rows is not None:
            return self.some_rows.table, self.some_rows.rows
        if self.floats is None or has_gaps(self.floats):
            return None
        return self.floats, np.arange(self.n_rows)

    def column(self, j: int) -> Column:
        """Return column j; infinite values, and those too large to be squared, are refused."""
        column = self._read(j, self.names[j])
        if column.kind == "float" and np.isinf(column.values).any():
            row = int(np.flatnonzero(np.isinf(column.values))[0])
            raise InputError(
                f"feature {self.names[j]!r} is {column.values[row]} in row {row}; replace infinite "
                "values by numbers, or by NaN if they mean 'missing'."
            )
        if column.kind == "float" and is_huge(column.values):
            raise InputError(
                f"feature {self.names[j]!r} holds values beyond {HUGE:.0e}, too large to compute "
                "with; rescale it, or take logarithms."
            )
        return column

    def matrix(self, missing: str, what: str) -> np.ndarray:
        """Return all columns as an n × p array of numbers, not copied if need not be; refuse text.

        It may share memory with X, so it is only to be read.
        """
        if self.floats is not None and (missing != "error" or not has_gaps(self.floats)):
            return self.floats
        whole = _at_once(
            self._X, "".join(_KINDS)
        )  # one by one, columns of a table take 50 times as long
        if whole is not None and not is_huge(whole) and not has_gaps(whole):
            return np.ascontiguousarray(whole.T, dtype=float).T
        values = np.empty((self.n_features, self.n_rows))
        for j, name in enumerate(self.names):
            column = self.column(j)
            if column.kind == "category":
                raise InputError(
                    f"{what} needs numbers, but feature {name!r} holds categories; "
                    "encode them, or use a filter for categories such as 'information_gain'."
                )
            values[j] = column.values
            if missing == "error":
                refuse_missing(column, name)
        return values.T

    def numbers(self, missing: str, what: str) -> np.ndarray:
        """Return all columns as a p × n array of float64; refuse text."""
        return np.ascontiguousarray(self.matrix(missing, what).T, dtype=float)

    def centred_by_name(self, what: str) -> tuple[np.ndarray, np.ndarray]:
        """Numbers less their medians, p × n in the order of the names, and the way back.

        For what a feature's place can decide, such as which of two copies enters a path first.
        Without their medians almost constant columns lose no digits.
        """
        order = natural_order(self.names)
        values = self.numbers("error", what)[order]
        values -= np.median(values, axis=1, keepdims=True)
        return values, np.argsort(order)


@dataclass(frozen=True)
class Target:
    """What is to be predicted: class codes, or numbers."""

    codes: np.ndarray | None
    values: np.ndarray | None
    n_classes: int = 0


def infer_task(y: Any) -> tuple[str, str]:
    """Tell from y whether classes or numbers are to be predicted, and why.

    Text, categories and booleans are classes. Numbers are classes too, unless some have a
    fractional part, or there are more than 20 distinct ones with fewer than 10 rows each on
    average.

    Returns
    -------
    tuple of str
        "classification" or "regression", and the reason as a clause.

    Examples
    --------
    >>> infer_task([1, 2, 3, 1])
    ('classification', 'y holds 3 distinct whole numbers')
    >>> infer_task([0.5, 1.5])
    ('regression', 'y holds numbers with a fractional part')
    """
    return _inferred_task(_checked_target(y))


def read_target(y: Any, n_rows: int, target: str) -> Target:
    """Read y as classes or as numbers; target="auto" leaves that to `infer_task`."""
    column = check_target(y, n_rows, target)
    if target == "auto":
        target = TARGET_OF_TASK[_inferred_task(column)[0]]
    if target == "continuous":
        return Target(None, np.asarray(column.values, dtype=float))
    distinct, codes = np.unique(column.values, return_inverse=True)
    return Target(codes.astype(np.int32), None, len(distinct))


def check_target(y: Any, n_rows: int, target: str) -> Column:
    """Read y, and refuse what nothing can be learned from, or not as `target` asks."""
    check_choice("target", target, TARGETS)
    column = _checked_target(y, n_rows)
    if target == "continuous" and column.kind == "category":
        raise InputError("target='continuous' needs numbers, but y holds categories.")
    return column


def _inferred_task(column: Column) -> tuple[str, str]:
    if column.kind in ("category", "boolean"):
        return task_of(column.kind, column.values, len(column.values))
    return task_of(column.kind, np.unique(column.values), len(column.values))


def task_of(kind: str, distinct: np.ndarray, n_rows: int) -> tuple[str, str]:
    """Tell from the distinct values of a target what is to be predicted; see `infer_task`."""
    if kind in ("category", "boolean"):
        held = "text or categories" if kind == "category" else "booleans"
        return "classification", f"y holds {held}"
    if np.any(distinct != np.floor(distinct)):
        return "regression", "y holds numbers with a fractional part"
    reason = f"y holds {len(distinct)} distinct whole numbers"
    rows_each = n_rows / len(distinct)
    if len(distinct) > _MOST_CLASSES and rows_each < _FEWEST_ROWS_OF_CLASS:
        return "regression", f"{reason}, in {rows_each:.1f} rows each on average"
    return "classification", reason


def _checked_target(y: Any, n_rows: int | None = None) -> Column:
    """Read y; refuse targets that are missing, constant or not finite."""
    if y is None:
        raise InputError("y is missing: features are scored by what they tell about a target.")
    if len(getattr(y, "shape", ())) == 2 and y.shape[1] == 1:
        if hasattr(y, "get_columns"):
            y = y.to_series(0)
        else:
            y = y.iloc[:, 0] if hasattr(y, "iloc") else np.asarray(y).ravel()
    column = _target_column(y)
    if n_rows is not None and len(column.values) != n_rows:
        raise InputError(f"y has {len(column.values)} values, but X has {n_rows} rows.")
    missing = missing_rows(column)
    if missing.any():
        row = int(np.flatnonzero(missing)[0])
        raise InputError(
            f"y is missing in {int(missing.sum())} row(s), the first is row {row}; drop those rows."
        )
    if column.kind == "float" and np.isinf(column.values).any():
        raise InputError("y holds infinite values; a target must be finite.")
    if np.all(column.values == column.values[:1]):
        raise InputError("y is constant: there is nothing to predict.")
    return column


def numeric_columns(X: Any) -> np.ndarray:
    """Positions of the columns that hold numbers, not text or categories."""
    dtypes = X.dtypes if hasattr(X, "dtypes") else [X.dtype]
    if {getattr(dtype, "kind", "O") for dtype in dtypes} <= set("biuf"):
        return np.arange(X.shape[1])
    table = Table(X)
    is_number = [table.column(j).kind != "category" for j in range(table.n_features)]
    return np.flatnonzero(is_number)


def is_huge(values: np.ndarray) -> bool:
    """Tell whether some value is infinite, or its square would be."""
    if values.dtype.kind != "f" or values.size == 0:
        return False
    highest, lowest = (float(f.reduce(values, axis=None)) for f in (np.fmax, np.fmin))
    return highest > HUGE or lowest < -HUGE


def missing_rows(column: Column) -> np.ndarray:
    """Tell which rows of a column are missing."""
    if column.kind == "category":
        return np.asarray(column.values < 0)
    return np.asarray(np.isnan(column.values))


def has_gaps(values: np.ndarray) -> bool:
    """Tell whether an array of floats holds NaN."""
    return _has(np.isnan, values)


def _has(test: Callable[[np.ndarray], np.ndarray], values: np.ndarray) -> bool:
    """Tell whether a test (isnan, isinf) holds for some of the values; takes little memory."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum(dtype=float)):
            return False
    step = max(1, 2**20 // max(1, values.shape[1]))
    return any(test(values[at : at + step]).any() for at in range(0, len(values), step))


def refuse_missing(column: Column, name: str) -> None:
    """Raise an error that names the column and the first row with a missing value."""
    missing = np.flatnonzero(missing_rows(column))
    if missing.size:
        raise InputError(
            f"feature {name!r} has {missing.size} missing value(s), the first in row {missing[0]}; "
            "fill them in, or choose a ranker, or a value of missing=, that accepts them."
        )


def almost_constant(column: Column) -> bool:
    """Tell whether a column has near-zero variance, by the rule of R's caret.

    The most frequent value is more than 19 times as frequent as the next, and fewer than 10% of
    the values are distinct.
    """
    _, counts = np.unique(column.values, return_counts=True)
    if len(counts) < 2:
        return True
    second, first = np.partition(counts, -2)[-2:]
    return bool(first > 19 * second and len(counts) < 0.1 * len(column.values))


# ---------------------------------------------------------------------- one column


def _at_once(X: Any, kinds: str) -> np.ndarray | None:
    """The values of a table whose columns all are numbers of some of numpy's kinds; else None."""
    dtypes = X.dtypes if hasattr(X, "iloc") else [getattr(X, "dtype", None)]
    if hasattr(X, "tocsc") or not all(getattr(dtype, "kind", "-") in kinds for dtype in dtypes):
        return None
    try:
        values = np.asarray(X)
        if values.dtype != np.float32:
            values = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        return None
    return values if values.ndim == 2 else None


def _array(X: Any) -> np.ndarray:
    try:
        array = np.asarray(X)
    except ValueError:
        raise InputError("X is ragged: every row needs one value per feature.") from None
    if array.ndim != 2:
        raise InputError(f"X must be rows × features (2 dimensions), got shape {array.shape}.")
    return array


def _column(values: np.ndarray, name: str) -> Column:
    kind = values.dtype.kind
    if kind == "f":
        return Column("float", values.astype(float))
    if kind in "biu":
        return Column("boolean" if kind == "b" else "integer", values.astype(float))
    if kind in "OUST":
        return _object_column(values.astype(object))
    raise InputError(f"{name!r} has dtype {values.dtype}; turn it into numbers or categories.")


def _pandas_reader(X: Any) -> Callable[[int, str], Column]:
    """Read columns of a pandas table; from one array where it is small and holds numbers only."""
    values = _at_once(X, "".join(_KINDS)) if X.size <= _SMALL else None
    if values is None:
        return lambda j, name: _pandas_column(X.iloc[:, j], name)
    kinds = [_KINDS[dtype.kind] for dtype in X.dtypes]
    return lambda j, name: Column(kinds[j], values[:, j].astype(float))


def _pandas_column(series: Any, name: str) -> Column:
    import pandas as pd

    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return Column("category", series.cat.codes.to_numpy().astype(np.int64))
    kinds = {"boolean": "is_bool_dtype", "integer": "is_integer_dtype", "float": "is_float_dtype"}
    for kind, is_kind in kinds.items():
        if getattr(pd.api.types, is_kind)(dtype):
            return Column(kind, series.to_numpy(dtype=float, na_value=np.nan))
    if pd.api.types.is_string_dtype(dtype) or pd.api.types.is_object_dtype(dtype):
        return _object_column(series.to_numpy(dtype=object))
    raise InputError(f"{name!r} has dtype {dtype}; turn it into numbers or categories.")


def _polars_column(series: Any, name: str) -> Column:
    dtype = series.dtype
    if dtype.is_float() or dtype.is_decimal():
        return Column("float", series.cast(float).to_numpy().astype(float))
    if dtype.is_integer() or str(dtype) == "Boolean":
        kind = "integer" if dtype.is_integer() else "boolean"
        return Column(kind, series.cast(float).to_numpy().astype(float))
    if dtype.is_temporal() or dtype.is_nested():
        raise InputError(f"{name!r} has dtype {dtype}; turn it into numbers or categories.")
    return _object_column(np.array(series.to_list(), dtype=object))


def _object_column(values: np.ndarray) -> Column:
    import pandas as pd

    missing = np.asarray(pd.isna(values), dtype=bool)
    types = {type(value) for value in values[~missing]}
    if types and all(issubclass(t, bool | np.bool_) for t in types):
        kind = "boolean"
    elif all(issubclass(t, bool | np.bool_ | int | np.integer) for t in types):
        kind = "integer"
    elif all(issubclass(t, bool | np.bool_ | int | float | np.number) for t in types):
        kind = "float"
    else:
        codes, _ = pd.factorize(pd.Series(values, dtype=object), use_na_sentinel=True)
        return Column("category", np.asarray(codes, dtype=np.int64))
    numbers = np.full(len(values), np.nan)
    numbers[~missing] = values[~missing].astype(float)
    return Column(kind, numbers)


def _target_column(y: Any) -> Column:
    if hasattr(y, "iloc"):
        return _pandas_column(y, "y")
    if hasattr(y, "to_list") and hasattr(y, "cast"):
        return _polars_column(y, "y")
    array = np.asarray(y)
    if array.ndim != 1:
        raise InputError(f"y must hold one value per row (1 dimension), got shape {array.shape}.")
    return _column(array, "y")


def check_weight_rows(
    weights: Any, n_rows: int, first: int = 0, what: str = "weights"
) -> np.ndarray:
    """Check B × n row weights: finite, not negative, not all 0. Integers stay integers."""
    array = np.asarray(weights)
    if array.ndim != 2 or array.shape[1] != n_rows:
        raise InputError(
            f"{what} must be resamples × rows, (B, {n_rows}) here, got shape {array.shape}."
        )
    if array.dtype.kind not in "buif":
        raise InputError(f"{what} must be numbers, got dtype {array.dtype}.")
    if array.dtype.kind == "b":
        array = array.astype(np.uint8)
    low = array.min(axis=1)
    bad = np.flatnonzero(~(low >= 0) | ~np.isfinite(array.sum(axis=1, dtype=float)))
    if bad.size:
        raise InputError(f"{what}: resample {first + bad[0]} has negative or non-finite weights.")
    empty = np.flatnonzero(array.sum(axis=1, dtype=float) == 0)
    if empty.size:
        raise InputError(f"{what}: resample {first + empty[0]} has no rows (all weights are 0).")
    return moderate_weights(array)
