"""How unsure an agreement of studies is over data sets, and how it grows with the rows.

The spread over pairs of halves of *one* data set says nothing of other data sets. Estimates from
disjoint parts of the rows do: with θ̂(D₁) and θ̂(D₂) from pairs inside the two halves of a split,
(θ̂(D₁) − θ̂(D₂))²/2 is an unbiased estimate of the variance of an estimate from n/2 rows (Nadeau
and Bengio 2003). What is wanted is the variance of an estimate from all n rows, whose agreement is
another. In simulated populations (`experiments/results/replicability.md`) the variance depends on
the rows through the agreement θ alone, as V(θ) = v + c θ(1 − θ)². How large v and c are depends on
how much of a selection is due to the rows rather than to luck of the ranker's own, and runs of
different pairs tell: they share half of their rows, and agree more for it than partners do, by a
share h of what is left: 0.14 for the F-test on noise, 0.09 for information gain with ten bins that
are the same for all halves, 0 for a ranker that draws by lot. v is about 8 h² times the variance
between pairs of studies that find nothing; c is 10 to 20 h²/k (h from 0.08 to 0.17) for k selected
features that are independent, and up to four times that where features come in correlated blocks.
Both have a log-normal prior around such values, which the variances inside halves and quarters
correct (χ², 14 and 16 degrees of freedom).

The interval is of Wilson's kind: all θ with |θ̂ − θ| ≤ t·√(V(θ) + e²), e² the variance from the
finite number of pairs. It is not symmetric, and covers where θ̂ is near 0. Since more rows do not
make studies agree less, what the smaller studies inside halves and quarters agree on at least,
halves agree on too: where agreement is high at all sizes, that is the sharper lower end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit, stdtrit

_AT_ZERO, _AT_ZERO_SPREAD = 12.0, 0.6  # prior of v, over h² and the variance at nothing
_SLOPE, _SLOPE_SPREAD = 30.0, 1.2  # prior of c k, over h²; both spreads are of logarithms
_SHARING_RANGE = (0.02, 0.17)  # h is not known better; above, it grows with θ and V does not
_LEAST_FOR_SLOPE = 0.08  # of many features with few rows h is small, and grows with the signal
_USUAL_SHARING = 0.15
_OF_PRIOR = np.linspace(-2.5, 2.5, 21)  # where the priors are looked at, in their spreads
_FREEDOM_INSIDE = (14, 16)  # of the variances inside halves and inside quarters
_FREEDOM = 20  # of the t quantile, since v and c are estimated
_GRID = 2001
_USUAL_STEP, _LARGEST_STEP = 0.3, 1.2  # growth of the logit when the rows double
_FASTEST_STEP, _FASTER_NEAR_ZERO = 1.5, 1.0  # seen: 2.5 from 0.006, 1.9 from 0.07, 1.5 from 0.3
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
    def of_pairs(self) -> float:
        """Variance between the pairs inside one part."""
        return float(self.values.var(axis=2, ddof=1).mean())

    @property
    def of_parts(self) -> float:
        """Variance between the parts of a split: over data sets, and that of finitely many pairs"""
        return float(self.values.mean(axis=2).var(axis=1, ddof=1).mean())


@dataclass(frozen=True)
class Spread:
    """Variance of an agreement over data sets, V(θ) + e² = v + c θ(1 − θ)² + e².

    Attributes
    ----------
    at_zero, slope : float
        v and c.
    error : float
        e², the part that comes from the finite number of pairs.

    Examples
    --------
    >>> spread = Spread(at_zero=0.001, slope=0.05, error=0.0001)
    >>> round(spread.standard_error(0.0), 3), round(spread.standard_error(0.4), 3)
    (0.033, 0.091)
    >>> [round(end, 2) for end in spread.interval(0.02, 0.95, lowest=-1.0)]
    [-0.05, 0.2]
    """

    at_zero: float
    slope: float
    error: float

    @classmethod
    def of(
        cls,
        pairs: np.ndarray,
        parts: Sequence[PartScores],
        n_selected: int,
        of_chance: float,
        sharing: float,
    ) -> Spread:
        """Estimate it from the agreements of all pairs.

        `of_chance`: variance between pairs of random selections, where it is known; without any
        spread between the pairs it stands for it. `sharing`: h, see `gain_from_sharing`; NaN where
        it cannot be known.
        """
        h = _USUAL_SHARING if math.isnan(sharing) else float(np.clip(sharing, *_SHARING_RANGE))
        lowest = min(parts, key=lambda part: part.mean)
        at_zero = _AT_ZERO * h**2 * max(lowest.of_pairs, of_chance, 1e-12)
        v = at_zero * np.exp(_AT_ZERO_SPREAD * _OF_PRIOR)[:, None]
        slope = _SLOPE * max(h, _LEAST_FOR_SLOPE) ** 2 / n_selected
        c = slope * np.exp(_SLOPE_SPREAD * _OF_PRIOR)[None, :]
        log_weight = -0.5 * (_OF_PRIOR[:, None] ** 2 + _OF_PRIOR[None, :] ** 2)
        for part, freedom in zip(parts, _FREEDOM_INSIDE, strict=False):
            expected = v + c * _shape(part.mean) + part.of_pairs / part.values.shape[2]
            log_weight = log_weight - freedom / 2 * (np.log(expected) + part.of_parts / expected)
        weight = np.exp(log_weight - log_weight.max())
        weight /= weight.sum()
        error = float(np.var(pairs, ddof=1)) / len(pairs)
        return cls(float((weight * v).sum()), float((weight * c).sum()), error)

    def inside(self, part: PartScores) -> Spread:
        """Of the mean over the disjoint parts of a split, each a data set of its own."""
        n_parts = part.values.shape[1]
        error = part.of_pairs / part.values.size
        return Spread(self.at_zero / n_parts, self.slope / n_parts, error)

    def variance(self, agreement: np.ndarray | float) -> np.ndarray:
        """Of an estimate where studies really agree so far."""
        return np.asarray(self.at_zero + self.slope * _shape(agreement) + self.error)

    def standard_error(self, agreement: float) -> float:
        """Its root."""
        return math.sqrt(float(self.variance(agreement)))

    def interval(self, value: float, confidence: float, lowest: float) -> tuple[float, float]:
        """All agreements that the value is compatible with; between the measure's bounds."""
        quantile = float(stdtrit(_FREEDOM, (1 + confidence) / 2))
        grid = np.linspace(max(lowest, -1.0), 1.0, _GRID)
        inside = grid[np.abs(value - grid) <= quantile * np.sqrt(self.variance(grid))]
        if len(inside) == 0:
            return value, value
        return float(min(inside[0], value)), float(max(inside[-1], value))


def _shape(agreement: np.ndarray | float) -> np.ndarray:
    inside = np.clip(agreement, 0, 1)
    return np.asarray(inside * (1 - inside) ** 2)


def logit_growth(value: float, at_half: float) -> float:
    """How much the logit of the agreement grew when the rows doubled."""
    now, before = logit(np.clip([value, at_half], *_LOGIT_RANGE))
    return float(now - before)


def extrapolate(value: float, at_half: float, spread: Spread) -> float:
    """Agreement of studies with twice the rows of those that agree to `value`, never less.

    The logit grows by its last growth (from `at_half`, the agreement with half the rows), or by
    the usual 0.3 (1 − θ) where the agreement with half the rows cannot be told from chance. Of the
    growth b that this gives, the share b⁴/(b⁴ + (4v)²) is kept, v the variance of the value: a
    growth that the data cannot tell from nothing would add more error than it removes.
    """
    trust = _share(max(at_half, 0.0) ** 2, _CAUTION * float(spread.variance(0.0)))
    usual = _USUAL_STEP * (1 - min(max(value, 0.0), 1.0))
    step = trust * last_step(value, at_half) + (1 - trust) * usual
    if value <= 0:
        return 0.0
    start = float(np.clip(value, *_LOGIT_RANGE))
    growth = max(float(expit(logit(start) + step)) - start, 0.0)
    doubt = _CAUTION * float(spread.variance(value))
    return min(value + _share(growth**4, doubt**2) * growth, 1.0)


def _share(signal: float, noise: float) -> float:
    return signal / (signal + noise) if signal > 0 else 0.0


def last_step(value: float, at_half: float) -> float:
    """The growth of the logit, not downwards and not as if it went on so fast for ever."""
    return min(max(logit_growth(value, at_half), 0.0), _LARGEST_STEP)


def grown(bounds: tuple[float, float], growth: float = 0.0) -> tuple[float, float]:
    """An interval for twice the rows: from no growth to a fast one, or to the last if faster."""
    low, high = bounds
    step = max(_FASTEST_STEP + _FASTER_NEAR_ZERO * (1 - max(high, 0.0)), growth)
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
