"""Aggregation of ranks, places and selections, and how each is read off a ranking with ties.

`ranks` is m × p, 1 = best, NaN = no opinion. Results are scores, larger = better: for the rules
of ranks minus the aggregated rank.
"""

from __future__ import annotations

import numpy as np

from mainstay._validation import check_fraction
from mainstay.aggregation import scores
from mainstay.aggregation.entry import Aggregation


def rank_mean(ranks: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Minus the mean rank, −Σ w·rank / Σ w (Borda's count by another name).

    Examples
    --------
    >>> import numpy as np
    >>> from mainstay.aggregation.ranks import rank_mean
    >>> rank_mean(np.array([[1.0, 2.0], [1.0, np.nan]]))
    array([-1., -2.])
    """
    return -scores.mean(ranks, weights)


def rank_median(ranks: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Minus the median rank.

    Examples
    --------
    >>> import numpy as np
    >>> from mainstay.aggregation.ranks import rank_median
    >>> rank_median(np.array([[1.0, 2.0], [1.0, 2.0], [2.0, 1.0]]))
    array([-1., -2.])
    """
    return -scores.median(ranks, weights)


def rank_min(ranks: np.ndarray) -> np.ndarray:
    """Minus the best rank in any run.

    Examples
    --------
    >>> import numpy as np
    >>> from mainstay.aggregation.ranks import rank_min
    >>> rank_min(np.array([[1.0, 2.0, 3.0], [3.0, 1.0, 2.0]]))
    array([-1., -1., -2.])
    """
    return -np.asarray(np.nanmin(ranks, axis=0))


def rank_geometric_mean(ranks: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Minus the geometric mean of the ranks, −exp(Σ w·log rank / Σ w).

    Examples
    --------
    >>> import numpy as np
    >>> from mainstay.aggregation.ranks import rank_geometric_mean
    >>> rank_geometric_mean(np.array([[1.0, 2.0], [4.0, 2.0]]))
    array([-2., -2.])
    """
    return np.asarray(-np.exp(scores.mean(np.log(ranks), weights)))


def borda(credit: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Borda's count: the sum of credits, k for the first place down to 1 for place k, else 0.

    Examples
    --------
    >>> import numpy as np
    >>> from mainstay.aggregation.ranks import borda, top_credit
    >>> borda(top_credit(np.array([[1.0, 2.0, 3.0], [2.0, 1.0, 3.0]]), 2))
    array([3., 3., 0.])
    """
    return scores.column_sums(credit, weights)


def frequency(selected: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Share of the runs (of their weight) that select the feature.

    Examples
    --------
    >>> import numpy as np
    >>> from mainstay.aggregation.ranks import frequency
    >>> frequency(np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]]))
    array([1. , 0.5, 0.5])
    """
    return scores.mean(selected, weights)


def vote(
    selected: np.ndarray, weights: np.ndarray | None = None, *, threshold: float = 0.5
) -> np.ndarray:
    """Share of the runs that select the feature where it reaches `threshold`, otherwise 0.

    Examples
    --------
    >>> import numpy as np
    >>> from mainstay.aggregation.ranks import vote
    >>> vote(np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]]), threshold=0.6)
    array([1., 0., 0.])
    """
    needed = check_fraction("threshold", threshold)
    share = frequency(selected, weights)
    return np.where(share >= needed - 1e-12, share, 0.0)


# ---------------------------------------------------------------------- reading rankings with ties


def by_place(ranks: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Give every feature the value of its place; tied ones share the mean of their places' values.

    That mean is what random tie-breaking gives on average.

    Examples
    --------
    >>> import numpy as np
    >>> from mainstay.aggregation.ranks import by_place
    >>> by_place(np.array([[1.0, 2.5, 2.5]]), np.array([1.0, 1.0, 0.0]))
    array([[1. , 0.5, 0.5]])
    """
    p = ranks.shape[1]
    totals = np.concatenate(([0.0], np.cumsum(values)))
    result = np.empty(ranks.shape)
    for row, run in enumerate(ranks):
        ordered = np.sort(run)
        if np.array_equal(ordered, np.arange(1, p + 1)):
            result[row] = values[run.astype(np.intp) - 1]
            continue
        first = np.searchsorted(ordered, run, side="left")
        after = np.searchsorted(ordered, run, side="right")
        result[row] = (totals[after] - totals[first]) / (after - first)
    return result


def last_ranks(ranks: np.ndarray) -> np.ndarray:
    """Give tied features the last of the ranks that they share instead of the mean.

    Examples
    --------
    >>> import numpy as np
    >>> from mainstay.aggregation.ranks import last_ranks
    >>> last_ranks(np.array([[1.0, 3.0, 3.0, 3.0]]))
    array([[1., 4., 4., 4.]])
    """
    last = np.empty(ranks.shape)
    for row, run in enumerate(ranks):
        halves = (2 * run).astype(np.intp)  # mean ranks are whole or half numbers
        last[row] = np.cumsum(np.bincount(halves))[halves]
    return last


def top_credit(ranks: np.ndarray, k: int) -> np.ndarray:
    """Borda's credit: k for place 1, ..., 1 for place k, 0 beyond."""
    return by_place(ranks, np.maximum(k - np.arange(ranks.shape[1]), 0).astype(float))


def in_top(ranks: np.ndarray, k: int) -> np.ndarray:
    """Membership of the k best: 1 or 0, and a share for features that tie across the cut."""
    return by_place(ranks, (np.arange(ranks.shape[1]) < k).astype(float))


def top_ranks(ranks: np.ndarray, k: int, missing: str) -> np.ndarray:
    """Ranks of the k best; the others are last (rank p) or, with `missing="drop"`, NaN.

    Dropping turns each list into a ranking of its members: their ranks are stretched to end at p.
    Features that tie across the cut are then dropped too; otherwise they share the mean of their
    places.
    """
    p = ranks.shape[1]
    places = np.arange(1.0, p + 1)
    if missing == "last":
        return by_place(ranks, np.where(places <= k, places, p))
    inside = in_top(ranks, k) == 1
    length = inside.sum(axis=1, keepdims=True)
    return np.where(inside, ranks * p / np.maximum(length, 1), np.nan)


ENTRIES = (
    Aggregation("rank_mean", "ranks", rank_mean, "Borda 1781; Saeys et al. 2008",
                mean_of=np.negative),
    Aggregation("rank_median", "ranks", rank_median, "Lin 2010"),
    Aggregation("rank_min", "ranks", rank_min, "Seijo-Pardo et al. 2017", weights="no"),
    Aggregation("rank_geometric_mean", "ranks", rank_geometric_mean, "Lin 2010",
                mean_of=lambda ranks: -np.log(ranks)),
    Aggregation("borda", "places", borda, "Borda 1781", mean_of=np.asarray),
    Aggregation("frequency", "selections", frequency, "Meinshausen and Bühlmann 2010",
                mean_of=np.asarray),
    Aggregation("vote", "selections", vote, "Meinshausen and Bühlmann 2010",
                options=("threshold",)),
)  # fmt: skip
