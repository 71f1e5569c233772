"""Confidence intervals from few runs: the spread that was seen, and what was not seen yet.

Three parts, checked by simulation in `experiments/intervals.py`:

1. Student's t with n − 1 degrees of freedom and the jackknife error over runs. To its variance that
   of the pairs is added which no single run explains; without it, two selections that come up
   equally often look certain whenever they happen to be balanced.
2. Below: m runs cannot exclude a selection of probability ε that none of them happened to make, as
   long as (1 − ε)^m ≥ 1 − confidence. With probability (1 − ε)² two runs then agree as observed,
   and otherwise they score as low as runs without anything in common: 0, or below 0 for measures
   that are corrected for chance (for rankings: as if reversed), in proportion to the agreement that
   was seen; or what the run that agrees least with the others scores, if that is lower. The doubt
   is shared between 1 and 2 as in a likelihood ratio: with a share u of it spent on 2, the t
   quantile shrinks by √(1 − u), and ε satisfies (1 − ε)^m = (1 − confidence)^u. The lower limit is
   the smallest over all u. For m identical runs it is (1 − confidence)^(2/m) if others score 0.
3. Above, likewise: m(m − 1)/2 pairs cannot exclude that some share of all pairs agrees fully.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import stdtrit

LEAST_RUNS = 5  # with fewer, no interval reached its nominal coverage in simulation

_BLOCK_SIZE = 2**18  # pairs of runs that are worked on at once
_SHARES = np.linspace(0.0, 1.0, 101)


def jackknife_variance(leave_one_out: np.ndarray | None) -> float:
    """Delete-one jackknife variance, (n−1)/n Σ(θ_i − mean θ)²."""
    if leave_one_out is None or len(leave_one_out) < 2 or np.isnan(leave_one_out).any():
        return math.nan
    n = len(leave_one_out)
    centred = leave_one_out - leave_one_out.mean()
    return float((n - 1) / n * (centred @ centred))


def pair_variance(agreement: np.ndarray) -> float:
    """Variance of a mean over pairs that comes from the pairs alone, not from single runs.

    2/(m(m − 1)) · mean g², g_ij being what is left of the m × m agreements (without the diagonal)
    when the effects of run i and run j are taken out (Hoeffding's second-order term).
    """
    m = len(agreement)
    sums = sums_with_others(agreement) / 2
    of_run, level = sums / (m - 2), sums.sum() / ((m - 1) * (m - 2))
    squares, step = 0.0, max(1, _BLOCK_SIZE // m)
    for at in range(0, m, step):  # some runs at a time: nothing else as large as `agreement`
        rows = np.arange(at, min(at + step, m))
        left = (agreement[rows] + agreement[:, rows].T) / 2
        left -= of_run[rows, None] + of_run - level
        left[np.arange(len(rows)), rows] = 0.0
        squares += float(np.vdot(left, left))
    return 2 * squares / (m * (m - 1)) ** 2


def sums_with_others(agreement: np.ndarray) -> np.ndarray:
    """Sum over the others of what each run scores with them, first and second in a pair."""
    sums = np.zeros(len(agreement))
    step = max(1, _BLOCK_SIZE // len(agreement))
    for at in range(0, len(agreement), step):
        rows = agreement[at : at + step].copy()
        rows[np.arange(len(rows)), np.arange(at, at + len(rows))] = 0.0
        sums += rows.sum(axis=0)
        sums[at : at + step] += rows.sum(axis=1)
    return sums


def least_agreement(agreement: np.ndarray) -> float:
    """Mean agreement with the others of the run that agrees least, at most 0."""
    return min(0.0, float(sums_with_others(agreement).min()) / (2 * (len(agreement) - 1)))


def t_quantile(degrees: float, confidence: float) -> float:
    """Half-width of a two-sided interval in standard errors."""
    return float(stdtrit(degrees, (1 + confidence) / 2))


def confidence_interval(
    value: float,
    error: float,
    *,
    n: int,
    n_runs: int,
    confidence: float,
    bounds: tuple[float, float],
    unlike: float = 0.0,
) -> tuple[float, float]:
    """Interval of a stability that allows for what the runs did not show.

    Parameters
    ----------
    value, error : float
        The estimate and its standard error over runs.
    n : int
        How many independent parts the error comes from: runs, or disjoint pairs of runs.
    n_runs : int
        The number of runs, m.
    confidence : float
        Its level.
    bounds : (float, float)
        The range of the measure; infinite where there is no limit.
    unlike : float
        Agreement of a selection that was not seen with those that were, at most 0.

    Examples
    --------
    Ten identical runs, and ten that differ:

    >>> low, high = confidence_interval(1.0, 0.0, n=10, n_runs=10, confidence=0.95, bounds=(-1, 1))
    >>> round(low, 3), high
    (0.549, 1.0)
    >>> low, high = confidence_interval(0.5, 0.1, n=10, n_runs=10, confidence=0.95, bounds=(-1, 1))
    >>> round(low, 3), round(high, 3)
    (0.247, 0.726)
    """
    if math.isnan(error):
        return math.nan, math.nan
    reach = t_quantile(n - 1.0, confidence) * error
    doubt = 1 - confidence
    seen = doubt ** (2 * _SHARES / n_runs)
    lowest = float((seen * (value - reach * np.sqrt(1 - _SHARES)) + (1 - seen) * unlike).min())
    lower, upper = min(value - reach, max(lowest, 0.0)), value + reach
    if math.isfinite(bounds[1]):
        apart = doubt ** (2 / (n_runs * (n_runs - 1)))
        upper = max(upper, apart * value + (1 - apart) * bounds[1])
    return max(lower, bounds[0]), min(upper, bounds[1])
