"""Confidence intervals from few runs: the spread that was seen, and what was not seen yet.

Three parts, checked by simulation in `experiments/intervals.py`:

1. Student's t with n − 1 degrees of freedom and an error over runs. The jackknife variance J counts
   twice that part P of the variance which pairs explain, but no single run. Where P comes from many
   sources, as where all agreement is by chance, J − P is right. Where it comes from one, such as
   two selections that come up equally often, J is nearly 0 whenever these happen to be balanced,
   and even J + P is none too much. With w from 0 (many sources) to 1 (one), see `pair_variance`,
   the variance is J + (2w − 1)P, at least P.
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

_MOST_RUNS = 1000
_BLOCK_SIZE = 2**18  # pairs of runs that are worked on at once
_SHARES = np.linspace(0.0, 1.0, 101)


def jackknife_variance(leave_one_out: np.ndarray | None) -> float:
    """Delete-one jackknife variance, (n−1)/n Σ(θ_i − mean θ)²."""
    if leave_one_out is None or len(leave_one_out) < 2 or np.isnan(leave_one_out).any():
        return math.nan
    n = len(leave_one_out)
    centred = leave_one_out - leave_one_out.mean()
    return float((n - 1) / n * (centred @ centred))


def pair_variance(agreement: np.ndarray) -> tuple[float, float]:
    """Variance of a mean over pairs that comes from the pairs alone, and whether from one source.

    The variance is P = 2/(m(m − 1)) · mean g², g_ij being what is left of the m × m agreements
    (without the diagonal) when the effects of run i and run j are taken out (Hoeffding's
    second-order term). With the eigenvalues λ of g, Σλ⁴/(Σλ²)² is 1/m if m patterns have equal
    weight, and (1 − 1/m)² + 1/(m²(m − 1)) if one explains all but the diagonal; w² runs from 0 to 1
    between these. Above 1,000 runs, where its cost would show, w is 1: on the safe side.
    """
    m = len(agreement)
    sums = sums_with_others(agreement) / 2
    of_run, level = sums / (m - 2), sums.sum() / ((m - 1) * (m - 2))

    def left(rows: np.ndarray) -> np.ndarray:
        residual = np.asarray((agreement[rows] + agreement[:, rows].T) / 2)
        residual -= of_run[rows, None] + of_run - level
        residual[np.arange(len(rows)), rows] = 0.0
        return residual

    if m <= _MOST_RUNS:
        g = left(np.arange(m))
        squares, product = float(np.vdot(g, g)), g @ g
        fourths = float(np.vdot(product, product)) / squares**2 if squares > 0 else 1.0
        most = (1 - 1 / m) ** 2 + 1 / (m * m * (m - 1))
        share = math.sqrt(min(max((fourths - 1 / m) / (most - 1 / m), 0.0), 1.0))
    else:  # some runs at a time: nothing else as large as `agreement`
        squares, share, step = 0.0, 1.0, max(1, _BLOCK_SIZE // m)
        for at in range(0, m, step):
            g = left(np.arange(at, min(at + step, m)))
            squares += float(np.vdot(g, g))
    return 2 * squares / (m * (m - 1)) ** 2, share


def variance_over_runs(jackknife: float, agreement: np.ndarray) -> float:
    """Variance of a mean over pairs of runs: the jackknife's, less what that counts twice.

    Examples
    --------
    Two selections, three times each: the jackknife sees nothing.

    >>> same = np.kron(np.eye(2), np.ones((3, 3)))
    >>> round(variance_over_runs(0.0, same), 4)
    0.016
    """
    of_pairs, share = pair_variance(agreement)
    return max(jackknife + (2 * share - 1) * of_pairs, of_pairs)


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
