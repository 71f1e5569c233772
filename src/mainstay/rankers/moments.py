"""Filters from weighted means, variances and correlations: F-statistic, Pearson, Spearman."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mainstay._validation import InputError, check_choice
from mainstay._workspace import recycled, workspace
from mainstay.rankers.base import BlockScorer, ForTarget, NamedRanker, WeightedRanker
from mainstay.rankers.inputs import (
    SomeRows,
    Table,
    Target,
    almost_constant,
    has_gaps,
    read_target,
)

METHODS = ("pearson", "spearman")
MISSING = ("omit", "error")
_SMALLEST_SHARE = 1e-12  # of unexplained variance, so that a perfect feature has a finite score
_CONSTANT = 1e-12  # a variance below this share of the mean square is rounding
_MOST_ROWS = 256  # that are centred at once: a block is then wide, and loops over it are long
_FEW_LANES, _FEW_ROWS = 4, 64
_BLOCK_SIZE = 2**16  # of centred values: they stay in the cache
_COLUMNS = 32  # a block has a multiple of so many, as processors handle several at once
_MOST_ROWS_FOR_MEDIAN = 1000
_COLUMNS_OF_NINE = 1024  # whose typical values are found together


class Moments:
    """Numbers whose weighted sums over resamples are wanted: n × p, kept as they are given.

    Blocks of them are turned into float64 when they are needed, so that a table of float32 is never
    copied as a whole, nor are some rows of a table. Features are centred at a typical value first,
    which loses no digits where a feature is constant but for a few rows; missing values have
    weight 0.

    Parameters
    ----------
    values : array or SomeRows, n × p
        The numbers, NaN where they are missing.
    constant : array of bool, p, optional
        Features that count as constant, whatever their values.
    """

    def __init__(self, values: np.ndarray | SomeRows, constant: np.ndarray | None = None) -> None:
        self.n_rows, self.n_features = values.shape
        self._values, self._constant = values, constant
        self.has_gaps = not isinstance(values, SomeRows) and has_gaps(values)
        self._centres = _medians(values) if self.has_gaps else _ninthers(values)

    def block(
        self, rows: slice, features: Any, out: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Centred values of some rows and features, 0 where missing; and which are present."""
        centres = self._centres[features]
        if isinstance(self._values, SomeRows):
            out = self._values.less(centres, rows, features, out)
        else:
            out = np.subtract(self._values[rows, features], centres, out=out, order="C")
        present = None
        if self.has_gaps:
            gaps = np.isnan(out)
            out[gaps] = 0.0
            present = (~gaps).astype(float)
        if self._constant is not None:
            out[:, self._constant[features]] = 0.0
        return out, present

    def rows_at_once(self, n_lanes: int) -> int:
        """How many rows are centred together: few, read from end to end, where lanes are few."""
        return (
            _MOST_ROWS if n_lanes > _FEW_LANES else max(_FEW_ROWS, _BLOCK_SIZE // self.n_features)
        )

    def feature_blocks(self, lanes: Weighting) -> Iterator[slice]:
        """Slices of the features that are summed together."""
        room = _BLOCK_SIZE // min(self.n_rows, lanes.rows_at_once)
        step = max(room // _COLUMNS, 1) * _COLUMNS
        return (slice(at, at + step) for at in range(0, self.n_features, step))

    def sums(self, features: slice, lanes: Weighting) -> Sums:
        """Sums over every lane and group of rows for some of the features.

        They are in memory that the next call takes again.
        """
        width = len(range(self.n_features)[features])
        total, square = lanes.room(width, "total"), lanes.room(width, "square")
        product = lanes.room(0 if lanes.y is None else width, "product")
        count, y_total, y_square = lanes.totals[:, :, None], lanes.y_totals, lanes.y_squares
        if self.has_gaps:
            count, y_total, y_square = (lanes.room(width) for _ in range(3))
        for number, rows in enumerate(lanes.chunks):
            out = workspace("centred values", rows.stop - rows.start, width)
            values, present = self.block(rows, features, out)
            lanes.add(number, values, total, square, product)
            if present is not None:
                lanes.add(number, present, count)
                if lanes.y is not None:
                    lanes.add(number, present * lanes.y[rows, None], y_total, y_square)
        return Sums(total, square, count, product, y_total, y_square)


@dataclass(frozen=True)
class Sums:
    """Weighted sums, lanes × groups × features: Σ w·x, Σ w·x², Σ w, Σ w·x·y, Σ w·y and Σ w·y².

    Those without x have one feature where no value is missing; those with y are empty without it.
    """

    total: np.ndarray
    square: np.ndarray
    count: np.ndarray
    product: np.ndarray
    y_total: np.ndarray
    y_square: np.ndarray


class Weighting:
    """Row weights of many resamples, b × n, chunk by chunk; ordered by group, or with a target y.

    `totals` holds Σ w, lanes × groups; `y_totals` and `y_squares` hold Σ w·y and Σ w·y², lanes ×
    groups × 1.
    """

    def __init__(
        self,
        weights: np.ndarray,
        groups: np.ndarray | None = None,
        n_groups: int = 1,
        *,
        y: np.ndarray | None = None,
        rows_at_once: int = _MOST_ROWS,
    ) -> None:
        n = weights.shape[1]
        self.rows_at_once = rows_at_once
        chunk = np.arange(n) // rows_at_once
        key = chunk * n_groups if groups is None else chunk * n_groups + groups
        order = np.argsort(key, kind="stable")
        self.chunks = [slice(at, min(at + rows_at_once, n)) for at in range(0, n, rows_at_once)]
        self._starts = np.searchsorted(key[order], np.arange(len(self.chunks) * n_groups + 1))
        self._rows = order % rows_at_once
        whole = weights.dtype.kind in "ui" and weights.max() < 2**16
        self._weights = weights[:, order].astype(np.uint16 if whole else float, order="C")
        self._n_groups = n_groups
        self.y = y
        ones = np.ones((min(n, rows_at_once), 1))
        totals, self.y_totals, self.y_squares = (self.room(1) for _ in range(3))
        for number, rows in enumerate(self.chunks):
            self.add(number, ones, totals)
            if y is not None:
                of_rows = np.ascontiguousarray(y[rows, None])
                self.add(number, of_rows, self.y_totals, self.y_squares)
        self.totals = totals[:, :, 0]

    def room(self, width: int, name: str = "") -> np.ndarray:
        """Zeros, lanes × groups × `width` features; in a workspace if it has a name."""
        shape = len(self._weights), self._n_groups, width
        if not name:
            return np.zeros(shape)
        zeros = workspace(f"sums, {name}", *shape)
        zeros[...] = 0.0
        return zeros

    def add(
        self,
        number: int,
        values: np.ndarray,
        total: np.ndarray,
        square: np.ndarray | None = None,
        product: np.ndarray | None = None,
    ) -> None:
        """Add the weighted rows of a chunk, their squares and products with y to their sums."""
        from mainstay._kernels.moments import row_moments, row_moments_with_target

        part = self.chunks[number]
        weights = self._weights[:, part]
        square = self.room(0) if square is None else square
        if self.y is None or product is None:
            starts = self._starts[number * self._n_groups :][: self._n_groups + 1] - part.start
            row_moments(values, self._rows[part], starts, weights, total, square)
        else:
            sums = (each[:, 0] for each in (total, square, product))
            row_moments_with_target(values, self.y[part], weights, *sums)


def _ninthers(values: np.ndarray | SomeRows) -> np.ndarray:
    """A typical value of every column: the median of three medians of three rows (Tukey's)."""
    n, p = values.shape
    rows = np.linspace(0, n - 1, 9).astype(np.intp)
    out = np.empty(p)
    for at in range(0, p, _COLUMNS_OF_NINE):
        columns = slice(at, at + _COLUMNS_OF_NINE)
        nine = values[rows, columns].astype(float, copy=False)
        out[columns] = _middle(*_middle(*nine.reshape(3, 3, -1)))
    return out


def _middle(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Median of three, element by element."""
    return np.asarray(np.maximum(np.minimum(a, b), np.minimum(np.maximum(a, b), c)))


def _medians(values: Any) -> np.ndarray:
    """Medians of the columns, of evenly spaced rows where there are many; 0 without any value."""
    n, p = values.shape
    few = values[:: -(-n // _MOST_ROWS_FOR_MEDIAN)]
    out = np.empty(p)
    step = max(1, _BLOCK_SIZE // len(few))
    for at in range(0, p, step):
        columns = np.sort(few[:, at : at + step], axis=0)  # NaN last
        last = len(few) - 1 - np.isnan(columns).sum(axis=0)
        every = np.arange(columns.shape[1])
        low = columns[np.maximum(last, 0) // 2, every].astype(float)
        high = columns[(np.maximum(last, 0) + 1) // 2, every].astype(float)
        out[at : at + step] = low + high
    out /= 2
    for j in np.flatnonzero(np.isnan(out)):
        present = values[~np.isnan(values[:, j]), j]
        out[j] = np.median(present) if len(present) else 0.0
    return out


def anova_f(data: Moments, classes: np.ndarray, n_classes: int, weights: np.ndarray) -> np.ndarray:
    """F-statistic of one-way ANOVA, b × p, for b × n weights; 0 where it is not defined."""
    from mainstay._kernels.moments import class_f

    lanes = Weighting(weights, classes, n_classes, rows_at_once=data.rows_at_once(len(weights)))
    out = recycled(len(weights), data.n_features)
    for features in data.feature_blocks(lanes):
        sums = data.sums(features, lanes)
        class_f(sums.total, sums.square, sums.count, _CONSTANT, _SMALLEST_SHARE, out[:, features])
    return out


def pearson(data: Moments, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Absolute Pearson correlation with y, b × p; 0 if one of them is constant."""
    out = recycled(len(weights), data.n_features)
    for _ in _pearson_blocks(data, y, weights, out):
        pass
    return out


def regression_f(data: Moments, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """F-statistic of the simple regression of y on every feature, b × p."""
    from mainstay._kernels.moments import correlations_to_f

    out = recycled(len(weights), data.n_features)
    for r, n in _pearson_blocks(data, y, weights, out):
        correlations_to_f(r, n, _SMALLEST_SHARE)
    return out


def _pearson_blocks(
    data: Moments, y: np.ndarray, weights: np.ndarray, out: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Fill `out` block by block of features; give each block, and the total weights in it."""
    from mainstay._kernels.moments import correlations

    y = y - np.median(y)
    lanes = Weighting(weights, y=y, rows_at_once=data.rows_at_once(len(weights)))
    for features in data.feature_blocks(lanes):
        sums = data.sums(features, lanes)
        block, count = out[:, features], sums.count[:, 0]
        correlations(
            sums.total[:, 0], sums.square[:, 0], count, sums.product[:, 0], sums.y_total[:, 0],
            sums.y_square[:, 0], _CONSTANT, block,
        )  # fmt: skip
        yield block, count


def f_scores(data: Moments, target: Target, weights: np.ndarray) -> np.ndarray:
    """F-statistics for classes or for numbers, b × p."""
    if target.codes is not None:
        return anova_f(data, target.codes, target.n_classes, weights)
    assert target.values is not None
    return regression_f(data, target.values, weights)


def _divide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    out = np.zeros(np.broadcast_shapes(a.shape, b.shape))
    np.divide(a, b, out=out, where=b > 0)
    return out


def read_numbers(table: Table, missing: str, what: str, near_zero_variance: bool) -> Moments:
    """Read all features as numbers; those that hardly vary as constants, if asked."""
    values = table.some_rows or table.matrix(missing, what)
    constant = None
    if near_zero_variance:
        every = range(table.n_features)
        constant = np.array([almost_constant(table.column(j)) for j in every])
    return Moments(values, constant)


class FStatistic(WeightedRanker):
    """F-statistic: one-way ANOVA for classes, simple regression for a continuous target.

    F = (between-class variance)/(within-class variance), or r²/(1 − r²)·(n − 2). Row weights count
    as copies of rows. A constant feature scores 0; a share of unexplained variance below 1e-12
    counts as 1e-12, so that scores stay finite.

    Parameters
    ----------
    missing : {"omit", "error"}
        Rows in which a feature is missing are left out of its score, or are an error.
    near_zero_variance : bool
        Whether columns that hardly vary count as constant (score 0); see `Binning`.
    target : {"auto", "class", "continuous"}
        Whether y holds classes or numbers.

    References
    ----------
    Fisher, R. A. (1925). Statistical Methods for Research Workers. Oliver and Boyd.

    Examples
    --------
    >>> from mainstay.rankers import FStatistic
    >>> FStatistic().fit([[1.0, 5], [2.0, 5], [3.0, 5], [4.0, 5]], [0, 0, 1, 1]).scores_
    array([8., 0.])
    """

    scores_features_alone = True
    _block = 128

    def __init__(
        self, *, missing: str = "omit", near_zero_variance: bool = False, target: str = "auto"
    ) -> None:
        self.missing = missing
        self.near_zero_variance = near_zero_variance
        self.target = target

    def _prepare_features(self, table: Table) -> ForTarget:
        check_choice("missing", self.missing, MISSING)
        data = read_numbers(table, self.missing, "FStatistic", self.near_zero_variance)

        def for_target(y: Any) -> tuple[BlockScorer, dict[str, Any]]:
            target = read_target(y, table.n_rows, self.target)
            return lambda weights: f_scores(data, target, weights), {}

        return for_target


class Correlation(WeightedRanker):
    """Absolute correlation with the target: numbers, or two classes.

    Pearson's, or Spearman's, which is Pearson's of the ranks within each resample (average ranks
    for ties). A constant feature scores 0.

    Parameters
    ----------
    method : {"pearson", "spearman"}
        Which correlation.
    missing : {"omit", "error"}
        Rows in which a feature is missing are left out of its score, or are an error.
    near_zero_variance : bool
        Whether columns that hardly vary count as constant (score 0); see `Binning`.

    References
    ----------
    Hall, M. A. (1999). Correlation-based Feature Selection for Machine Learning. PhD thesis,
    University of Waikato.

    Examples
    --------
    >>> from mainstay.rankers import Correlation
    >>> X = [[1.0, 1], [2.0, -1], [4.0, 0], [8.0, 0]]
    >>> Correlation(method="spearman").fit(X, [1, 3, 5, 9]).scores_.round(3)
    array([1.   , 0.316])
    """

    scores_features_alone = True

    def __init__(
        self, *, method: str = "pearson", missing: str = "omit", near_zero_variance: bool = False
    ) -> None:
        self.method = method
        self.missing = missing
        self.near_zero_variance = near_zero_variance

    def _prepare_features(self, table: Table) -> ForTarget:
        check_choice("missing", self.missing, MISSING)
        check_choice("method", self.method, METHODS)
        data = read_numbers(table, self.missing, "Correlation", self.near_zero_variance)

        def for_target(y: Any) -> tuple[BlockScorer, dict[str, Any]]:
            numbers = _as_numbers(y, table.n_rows)
            if self.method == "pearson":
                return lambda weights: pearson(data, numbers, weights), {}
            return lambda weights: _spearman(data, numbers, weights), {}

        return for_target


def _as_numbers(y: Any, n_rows: int) -> np.ndarray:
    """Read y as numbers; two classes are 0 and 1."""
    classes = read_target(y, n_rows, "class")
    if classes.n_classes == 2 and classes.codes is not None:
        return classes.codes.astype(float)
    try:
        values = read_target(y, n_rows, "continuous").values
    except InputError:
        raise InputError(
            f"correlation needs a target of numbers or of two classes, but y has "
            f"{classes.n_classes} classes; use 'f_statistic' or 'information_gain'."
        ) from None
    assert values is not None
    return values


def _spearman(data: Moments, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Absolute Spearman correlation of every feature with y in every resample, b × p."""
    lanes = len(weights)
    w = np.ascontiguousarray((weights if lanes > 1 else np.repeat(weights, 2, axis=0)).T, float)
    out = np.zeros((data.n_features, lanes))
    y_ranks = _centred_ranks(y, w)
    for f in range(data.n_features):
        values, present = data.block(slice(None), slice(f, f + 1))
        x, rows = values[:, 0], None if present is None else present[:, 0] > 0
        whole = rows is None or bool(rows.all())
        of_x, of_y, part = (x, y, w) if whole else (x[rows], y[rows], w[rows])
        a = _centred_ranks(of_x, part)
        b = y_ranks if whole else _centred_ranks(of_y, part)
        spread = (part * a * a).sum(axis=0) * (part * b * b).sum(axis=0)
        r = np.abs(_divide((part * a * b).sum(axis=0), np.sqrt(spread)))
        out[f] = np.minimum(r, 1.0)[:lanes]
    return out.T


def _centred_ranks(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Average ranks minus their mean, n × b: ranks among rows repeated `weights` times."""
    if len(x) == 0:
        return np.zeros_like(weights)
    order = np.argsort(x, kind="stable")
    new = np.concatenate([[True], np.diff(x[order]) > 0])
    group = np.add.reduceat(weights[order], np.flatnonzero(new), axis=0)
    middle = np.cumsum(group, axis=0) - group / 2 - group.sum(axis=0) / 2
    ranks = np.empty_like(weights)
    ranks[order] = middle[np.cumsum(new) - 1]
    return ranks


NAMED = {
    "f_statistic": NamedRanker(FStatistic, "moments", reference="Fisher 1925"),
    "correlation": NamedRanker(Correlation, "moments", reference="Hall 1999"),
}
