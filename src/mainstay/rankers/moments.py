"""Filters from weighted means, variances and correlations: F-statistic, Pearson, Spearman."""

from __future__ import annotations

from typing import Any

import numpy as np

from mainstay._validation import InputError, check_choice
from mainstay.rankers.base import BlockScorer, NamedRanker, WeightedRanker
from mainstay.rankers.inputs import Table, Target, almost_constant, read_target

METHODS = ("pearson", "spearman")
MISSING = ("omit", "error")
_SMALLEST_SHARE = 1e-12  # of unexplained variance, so that a perfect feature has a finite score
_CONSTANT = 1e-12  # a variance below this share of the mean square is rounding


class Moments:
    """Weighted sums of p features over resamples; values that are missing have weight 0.

    Features are centred at their median first, which loses no digits where a feature is constant
    but for a few rows.
    """

    def __init__(self, values: np.ndarray) -> None:
        missing = np.isnan(values)
        self.present = None
        if not missing.any():
            self.values = np.ascontiguousarray(values - np.median(values, axis=1, keepdims=True))
        else:
            self.present = (~missing).astype(float)
            filled = np.where(missing.all(axis=1, keepdims=True), 0.0, values)
            centred = values - np.nanmedian(filled, axis=1, keepdims=True)
            self.values = np.ascontiguousarray(np.where(missing, 0.0, centred))
        self.squares = self.values**2

    def totals(self, weights: np.ndarray, rows: Any = slice(None)) -> np.ndarray:
        """Sum of the weights of the rows that are present: p × b, or 1 × b if all are."""
        ones = np.ones((1, weights.shape[0])) if self.present is None else self.present
        return weighted(ones[:, rows], weights[rows])


def weighted(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Sums of p × n values under n × b weights; the same bits however resamples are batched."""
    from mainstay._kernels.contingency import weighted_sums

    out = np.empty((len(values), weights.shape[1]))
    weighted_sums(np.ascontiguousarray(values), np.ascontiguousarray(weights), out)
    return out


def anova_f(data: Moments, classes: np.ndarray, n_classes: int, weights: np.ndarray) -> np.ndarray:
    """F-statistic of one-way ANOVA, p × b, for n × b weights; 0 where it is not defined."""
    total, total_n = np.zeros((1, 1)), np.zeros((1, 1))
    explained, square, present = np.zeros((1, 1)), np.zeros((1, 1)), np.zeros((1, 1))
    for label in range(n_classes):
        rows = classes == label
        n = data.totals(weights, rows)
        sums = weighted(data.values[:, rows], weights[rows])
        explained = explained + _divide(sums**2, n)
        square = square + weighted(data.squares[:, rows], weights[rows])
        total, total_n, present = total + sums, total_n + n, present + (n > 0)
    mean_part = _divide(total**2, total_n)
    spread = square - mean_part
    between = np.clip(explained - mean_part, 0, spread)
    within = np.maximum(spread - between, _SMALLEST_SHARE * spread)
    defined = (spread > _CONSTANT * square) & (present > 1) & (total_n > present)
    return np.where(
        defined, _divide(between * (total_n - present), within * np.maximum(present - 1, 1)), 0.0
    )


def pearson(data: Moments, y: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Absolute Pearson correlation with y and total weight, p × b; 0 if one of them is constant."""
    y = y - np.median(y)
    n = data.totals(weights)
    present = np.ones((1, len(y))) if data.present is None else data.present
    x_sum, x_square = weighted(data.values, weights), weighted(data.squares, weights)
    y_sum, y_square = weighted(present * y, weights), weighted(present * y**2, weights)
    product = weighted(data.values * y, weights)
    x_spread = x_square - _divide(x_sum**2, n)
    y_spread = y_square - _divide(y_sum**2, n)
    defined = (x_spread > _CONSTANT * x_square) & (y_spread > _CONSTANT * y_square)
    scale = np.sqrt(np.maximum(x_spread, 0)) * np.sqrt(np.maximum(y_spread, 0))
    r = np.where(defined, _divide(product - _divide(x_sum * y_sum, n), scale), 0.0)
    return np.minimum(np.abs(r), 1.0), n


def regression_f(data: Moments, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """F-statistic of the simple regression of y on every feature, p × b."""
    r, n = pearson(data, y, weights)
    return np.asarray(r**2 / np.maximum(1 - r**2, _SMALLEST_SHARE) * np.maximum(n - 2, 0))


def f_scores(data: Moments, target: Target, weights: np.ndarray) -> np.ndarray:
    """F-statistics for classes or for numbers, p × b."""
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

    def read() -> Moments:
        values = table.numbers(missing, what)
        if near_zero_variance:
            for j in range(table.n_features):
                if almost_constant(table.column(j)):
                    values[j] = 0.0
        return Moments(values)

    made: Moments = table.once(("moments", missing, near_zero_variance), read)
    return made


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

    def __init__(
        self, *, missing: str = "omit", near_zero_variance: bool = False, target: str = "auto"
    ) -> None:
        self.missing = missing
        self.near_zero_variance = near_zero_variance
        self.target = target

    def _prepare(self, table: Table, y: Any) -> tuple[BlockScorer, dict[str, Any]]:
        check_choice("missing", self.missing, MISSING)
        target = read_target(y, table.n_rows, self.target)
        data = read_numbers(table, self.missing, "FStatistic", self.near_zero_variance)
        return lambda weights: f_scores(data, target, weights.T.astype(float)).T, {}


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

    def _prepare(self, table: Table, y: Any) -> tuple[BlockScorer, dict[str, Any]]:
        check_choice("missing", self.missing, MISSING)
        check_choice("method", self.method, METHODS)
        numbers = _as_numbers(y, table.n_rows)
        data = read_numbers(table, self.missing, "Correlation", self.near_zero_variance)
        if self.method == "pearson":
            return lambda weights: pearson(data, numbers, weights.T.astype(float))[0].T, {}
        return lambda weights: _spearman(data, numbers, weights), {}


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
    out = np.zeros((len(data.values), lanes))
    y_ranks = _centred_ranks(y, w)
    for f, x in enumerate(data.values):
        rows = None if data.present is None else data.present[f] > 0
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
    "f_statistic": NamedRanker(FStatistic, "moments"),
    "correlation": NamedRanker(Correlation, "moments"),
}
