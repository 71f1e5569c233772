"""How unsure an agreement of studies is over data sets, and how it grows with the rows.

The spread over pairs of halves of *one* data set says nothing of other data sets. Estimates from
disjoint parts of the rows do: with θ̂(D₁) and θ̂(D₂) from pairs inside the two halves of a split,
(θ̂(D₁) − θ̂(D₂))²/2 is an unbiased estimate of the variance of an estimate from n/2 rows (Nadeau
and Bengio 2003), of which the part that comes from the finite number of pairs is taken out. The
variance depends on the agreement itself: in `experiments/results/replicability.md` it is nearly
proportional to a + h(θ), with h(θ) = √θ (1 − θ) and a = 0.06, whatever the number of rows. That
carries it from the agreement of quarters to that of halves, and it makes the interval that of
Wilson's kind: all θ with |θ̂ − θ| ≤ t·√(g c (a + h(θ)) + e²), e² the variance from the finite number
of pairs. It is not symmetric, and covers where θ̂ is near 0. Where the agreement grows so fast that
quarters agree on little and halves on much, quarters tell little of how halves vary: g is the
growth of logit θ from quarters to halves, at least 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit, stdtrit

_AT_ZERO = 0.06  # a: variance without agreement, relative to h
_FREEDOM = 12  # degrees of freedom of the t quantile, chosen by the experiment
_LEAST_SHARE = 0.25  # of a variance that is left when the part of the pairs is taken out
_GRID = 2001
_USUAL_STEP, _LARGEST_STEP = 0.3, 1.2  # growth of the logit when the rows double
_FASTEST_STEP = 1.5
_LOGIT_RANGE = (0.005, 0.98)  # of agreements whose logit is taken
_MOST_TIMES = 100  # the rows there are; further, no plan means anything
_CAUTION = 4.0  # variances that an agreement, or its growth, must exceed before it counts


@dataclass(frozen=True)
class PartScores:
    """Agreements of pairs inside parts of the rows: splits × parts × pairs."""

    values: np.ndarray

    @property
    def mean(self) -> float:
        """Mean agreement."""
        return float(self.values.mean())

    @property
    def variance(self) -> float:
        """Variance over data sets of the size of a part, without that of finitely many pairs."""
        between = float(self.values.mean(axis=2).var(axis=1, ddof=1).mean())
        inside = float(self.values.var(axis=2, ddof=1).mean()) / self.values.shape[2]
        return float(max(between - inside, _LEAST_SHARE * between))

    @property
    def scale(self) -> float:
        """The variance relative to what the mean agreement lets one expect: c."""
        return self.variance / (_AT_ZERO + float(_shape(self.mean)))


def _shape(agreement: np.ndarray | float) -> np.ndarray:
    inside = np.clip(agreement, 0, 1)
    return np.asarray(np.sqrt(inside) * (1 - inside))


def combined_scale(levels: list[PartScores]) -> float:
    """c from halves and, with half the weight, from quarters."""
    weights = [1 / 2**level for level in range(len(levels))]
    return float(np.average([level.scale for level in levels], weights=weights))


def logit_growth(value: float, at_half: float) -> float:
    """How much the logit of the agreement grew when the rows doubled."""
    now, before = logit(np.clip([value, at_half], *_LOGIT_RANGE))
    return float(now - before)


def scale_with_growth(scale: float, value: float, at_half: float) -> float:
    """g c: the scale, larger where the agreement just began to grow."""
    return scale * max(1.0, logit_growth(value, at_half))


def interval(
    value: float, scale: float, error: float, confidence: float, lowest: float
) -> tuple[float, float]:
    """All agreements that the value is compatible with; between the measure's bounds."""
    quantile = float(stdtrit(_FREEDOM, (1 + confidence) / 2))
    grid = np.linspace(max(lowest, -1.0), 1.0, _GRID)
    reach = quantile * np.sqrt(scale * (_AT_ZERO + _shape(grid)) + error**2)
    inside = grid[np.abs(value - grid) <= reach]
    if len(inside) == 0:
        return value, value
    return float(min(inside[0], value)), float(max(inside[-1], value))


def standard_error(value: float, scale: float, error: float) -> float:
    """Standard deviation over data sets at an agreement."""
    return math.sqrt(scale * (_AT_ZERO + float(_shape(value))) + error**2)


def extrapolate(value: float, at_half: float, scale: float, error: float) -> float:
    """Agreement of studies with twice the rows of those that agree to `value`, never less.

    The logit grows by its last growth (from `at_half`, the agreement with half the rows), or by
    the usual 0.3 (1 − θ) where the agreement with half the rows cannot be told from chance. Of the
    growth b that this gives, the share b⁴/(b⁴ + (4v)²) is kept, v the variance of the value: a
    growth that the data cannot tell from nothing would add more error than it removes.
    """
    trust = _share(max(at_half, 0.0) ** 2, _CAUTION * (scale * _AT_ZERO + error**2))
    usual = _USUAL_STEP * (1 - min(max(value, 0.0), 1.0))
    step = trust * last_step(value, at_half) + (1 - trust) * usual
    if value <= 0:
        return 0.0
    start = float(np.clip(value, *_LOGIT_RANGE))
    growth = max(float(expit(logit(start) + step)) - start, 0.0)
    doubt = _CAUTION * standard_error(value, scale, error) ** 2
    return min(value + _share(growth**4, doubt**2) * growth, 1.0)


def _share(signal: float, noise: float) -> float:
    return signal / (signal + noise) if signal > 0 else 0.0


def last_step(value: float, at_half: float) -> float:
    """The growth of the logit, not downwards and not as if it went on so fast for ever."""
    return min(max(logit_growth(value, at_half), 0.0), _LARGEST_STEP)


def grown(bounds: tuple[float, float], growth: float = 0.0) -> tuple[float, float]:
    """An interval for twice the rows: from no growth to a fast one, or to the last if faster."""
    low, high = bounds
    step = max(_FASTEST_STEP, growth)
    return low, max(high, float(expit(logit(np.clip(high, 0.005, 0.999)) + step)))


def rows_needed(
    bounds: tuple[float, float], value: float, at_half: float, n_rows: int, target: float
) -> tuple[float, float]:
    """Fewest and most rows for a wanted agreement, by the growth of the logit per doubling.

    The fewest if the agreement is at the upper end of its interval and grows fastest; the most if
    it is at the lower end and grows half as fast as it did last. Infinity where the lower end is no
    agreement, and beyond 100 times the rows.
    """

    def needed(agreement: float, step: float) -> float:
        if agreement >= target:
            return float(n_rows)
        if agreement <= 0 or step <= 0:
            return math.inf
        start, goal = (float(logit(np.clip(x, 0.005, 0.995))) for x in (agreement, target))
        doublings = (goal - start) / step
        return n_rows * 2**doublings if doublings <= math.log2(_MOST_TIMES) else math.inf

    return needed(bounds[1], _FASTEST_STEP), needed(bounds[0], last_step(value, at_half) / 2)
