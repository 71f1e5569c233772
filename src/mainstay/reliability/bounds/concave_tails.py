"""Largest tails of r-concave distributions on 0..N, for the bound of Shah and Samworth."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

_MOST_STEPS = 200


@lru_cache(maxsize=64)
def largest_tails(mean_share: float, n: int, r: float) -> np.ndarray:
    """D(η, t, N, r) for t = 0..N: the largest P(X ≥ t) of an r-concave X on 0..N with mean ηN.

    With s = 1/r, a distribution of largest tail has probabilities proportional to (a + i)^s for
    i ≤ k and possibly less at k + 1, where a and k are such that the mean is ηN. Only the end
    points are looked at, where all of 0..k have (a_k + i)^s: between two of them the tail as a
    function of a was monotone, or fell and then rose, wherever it was scanned (not proved;
    the tests scan it too). For t up to 2ηN the distributions that decrease need not be the extreme
    ones, and the trivial bound 1 stands.

    Parameters
    ----------
    mean_share : float
        η, the mean as a share of N.
    n : int
        N, the largest value.
    r : float
        Degree of concavity, below 0.

    Returns
    -------
    numpy.ndarray
        N + 1 probabilities, read-only.

    Examples
    --------
    >>> largest_tails(0.0025, 50, -0.5)[[0, 25, 50]].round(6)
    array([1.00e+00, 6.48e-04, 1.20e-05])
    """
    tails = np.ones(n + 1)
    mean = mean_share * n
    if mean == 0:
        tails[1:] = 0.0
    first = math.ceil(2 * mean - 1e-9) + 1
    if mean > 0 and first <= n:
        last = np.arange(first, n + 1)[:, None]
        value = np.arange(n + 1)
        log_a = _log_offsets(mean, last, value, 1 / r)
        mass = _masses(log_a, last, value, 1 / r)
        from_the_end = np.cumsum(mass[:, ::-1], axis=1)[:, ::-1]
        tails[first:] = (from_the_end / from_the_end[:, :1]).max(axis=0)[first:]
    tails.flags.writeable = False
    return tails


def _masses(log_a: np.ndarray, last: np.ndarray, value: np.ndarray, s: float) -> np.ndarray:
    """(1 + i/a)^s for i up to `last`, else 0: one row for every a."""
    return np.where(value <= last, (1 + value * np.exp(-log_a)) ** s, 0.0)


def _log_offsets(mean: float, last: np.ndarray, value: np.ndarray, s: float) -> np.ndarray:
    """Log of the a for which (a + i)^s, i = 0..last, has the mean asked for; last > 2 · mean.

    Newton's method on the logarithm of the mean, which is concave in log a: from the left it never
    oversteps the root.
    """
    log_a = np.full(last.shape, -30.0)
    for _ in range(_MOST_STEPS):
        mass = _masses(log_a, last, value, s)
        mass /= mass.sum(axis=1, keepdims=True)
        towards_end = value / (np.exp(log_a) + value)
        now = mass @ value
        slope = -s * ((mass * towards_end) @ value - now * (mass * towards_end).sum(axis=1))
        step = (math.log(mean) - np.log(now)) * now / slope
        log_a = log_a + step[:, None]
        if np.abs(step).max() < 1e-13:
            break
    return log_a
