"""Aggregation of scores: m × p scores in, one score per feature out, larger = better.

Sums are exactly rounded (`math.fsum`), so that the order of the runs cannot change a digit.
"""

from __future__ import annotations

import math

import numpy as np

from mainstay._validation import InputError
from mainstay.aggregation.entry import Aggregation

_BLOCK_SIZE = 2**18  # of values that are summed at once


def mean(scores: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Arithmetic mean Σ w·a / Σ w over the runs.

    NaN means "no value" here and in `median`: it leaves a run out for that feature.

    Examples
    --------
    >>> import numpy as np
    >>> from mainstay.aggregation.scores import mean
    >>> mean(np.array([[0.2, 0.8], [0.4, 0.0]]))
    array([0.3, 0.4])
    """
    present = ~np.isnan(scores)
    if weights is None and present.all():
        return column_sums(scores) / len(scores)
    share = np.ones(len(scores)) if weights is None else weights
    sums = column_sums(np.where(present, scores, 0.0), weights)
    return np.asarray(sums / column_sums(present.astype(float), share))


def median(scores: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Median over the runs; with weights, the middle of the values that halve the weight.

    Examples
    --------
    >>> import numpy as np
    >>> from mainstay.aggregation.scores import median
    >>> a = np.array([[1.0], [2.0], [9.0]])
    >>> median(a), median(a, weights=np.array([1.0, 1.0, 2.0]))
    (array([2.]), array([5.5]))
    """
    if weights is None:
        return np.asarray(np.nanmedian(scores, axis=0))
    result = np.empty(scores.shape[1])
    for j, column in enumerate(scores.T):
        present = ~np.isnan(column) & (weights > 0)
        values, share = column[present], weights[present]
        order = np.lexsort((share, values))
        values, reached = values[order], np.cumsum(share[order])
        half, slack = reached[-1] / 2, 1e-12 * reached[-1]
        low, high = np.searchsorted(reached, (half - slack, half + slack))
        result[j] = (values[low] + values[high]) / 2
    return result


def geometric_mean(
    scores: np.ndarray, weights: np.ndarray | None = None, *, epsilon: float = 0.0
) -> np.ndarray:
    """Geometric mean exp(Σ w·log(a + ε) / Σ w); one score of 0 makes the feature 0 if ε = 0.

    Examples
    --------
    >>> import numpy as np
    >>> from mainstay.aggregation.scores import geometric_mean
    >>> geometric_mean(np.array([[1.0, 0.0], [4.0, 9.0]]))
    array([2., 0.])
    """
    if not (isinstance(epsilon, int | float) and 0 <= epsilon < math.inf):
        raise InputError(f"epsilon must be a number from 0 up, got {epsilon!r}.")
    shifted = scores + epsilon
    counted = np.ones(len(scores), dtype=bool) if weights is None else weights > 0
    zero = (shifted[counted] == 0).any(axis=0)
    logs = mean(np.log(np.where(shifted == 0, 1.0, shifted)), weights)
    return np.where(zero, 0.0, np.exp(logs))


def l2_norm(scores: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Euclidean norm √Σ w·a², not divided by the number of runs, of scores from 0 up.

    Examples
    --------
    >>> import numpy as np
    >>> from mainstay.aggregation.scores import l2_norm
    >>> l2_norm(np.array([[3.0, 1.0], [4.0, 0.0]]))
    array([5., 1.])
    """
    largest = np.abs(scores).max(axis=0)
    scale = np.where(largest > 0, largest, 1.0)  # no overflow
    return np.asarray(scale * np.sqrt(column_sums((scores / scale) ** 2, weights)))


def smallest(scores: np.ndarray) -> np.ndarray:
    """Smallest score over the runs."""
    return np.asarray(scores.min(axis=0))


def largest(scores: np.ndarray) -> np.ndarray:
    """Largest score over the runs."""
    return np.asarray(scores.max(axis=0))


def column_sums(values: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Σ w·a per column, the same whatever the order of the rows."""
    out = np.empty(values.shape[1])
    step = max(1, _BLOCK_SIZE // max(len(values), 1))
    for at in range(0, len(out), step):
        block = values[:, at : at + step]
        if weights is not None:
            block = block * weights[:, None]
        if np.array_equal(2 * block, np.floor(2 * block)):  # ranks and counts: any order is exact
            out[at : at + step] = block.sum(axis=0)
        else:
            out[at : at + step] = [math.fsum(column) for column in block.T.tolist()]
    return out


_SALMAN, _SEIJO = "Salman et al. 2022", "Seijo-Pardo et al. 2017"

ENTRIES = (
    Aggregation("mean", "scores", mean, _SALMAN, mean_of=np.asarray, on_ranks="rank_mean"),
    Aggregation("geometric_mean", "scores", geometric_mean, _SALMAN, options=("epsilon",),
                lowest=0.0),
    Aggregation("l2_norm", "scores", l2_norm, _SALMAN, mean_of=np.square, lowest=0.0),
    Aggregation("median", "scores", median, "Lin 2010", on_ranks="rank_median"),
    Aggregation("min", "scores", smallest, _SEIJO, weights="no"),
    Aggregation("max", "scores", largest, _SEIJO, weights="no"),
)  # fmt: skip
