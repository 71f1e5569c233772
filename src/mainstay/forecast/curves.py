"""Stability by ensemble size, measured on observed runs and extrapolated beyond them.

Flat runs (each on a fresh resample of the data) form one pool, from which ensembles of any size
are drawn. Other runs come in training halves: ensembles are built inside a half, up to the number
of runs in it; beyond that the curve is extrapolated. Nested: the two halves of a pair, which share
no row, are compared. Overlapping: all halves are compared with each other.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from mainstay._validation import InputError
from mainstay.forecast.virtual import Ensembles
from mainstay.measures.intervals import jackknife_variance
from mainstay.reliability.agreement import error_over_data_sets

_PARTS = 10  # of the pool, left out in turn
_FEWEST = 10  # disjoint ensembles that the pool must hold for them to be compared directly
_LEAST_INSIDE = 0.02  # agreement inside halves that counts: less would be extrapolated without end
_TRUST = 0.1  # error of the growth inside halves, as a logarithm
_CAUTION = 4.0  # variances that an agreement must exceed before it is extrapolated
_LOWEST = 0.005  # agreement beyond chance below which nothing is extrapolated


@dataclass(frozen=True)
class Point:
    """Forecast for one ensemble size."""

    ensemble_size: float
    stability: float
    standard_error: float
    lower: float
    upper: float
    observed: bool


@dataclass(frozen=True, eq=False)
class FlatCurve:
    """Ensembles drawn from one pool of runs.

    Small ensembles (at least 10 disjoint ones fit into the pool) are compared without overlap,
    which is unbiased. Larger ones are drawn with replacement: each then differs from the pool's
    mean as a real ensemble differs from the mean of all possible runs. The standard error leaves
    out a tenth of the runs in turn (jackknife), with the same draws for the rest.
    """

    ensembles: Ensembles
    n_ensembles: int
    confidence: float
    seed: int

    def point(self, m: float, *, interval: bool = True) -> Point:
        """Forecast the stability of ensembles of m runs."""
        size = _finite(m)
        rng = np.random.default_rng([self.seed, size])
        pool = self.ensembles.canonical
        draws = rng.integers(len(pool), size=(self.n_ensembles, size))
        disjoint = len(pool) // size >= _FEWEST
        if disjoint:
            value, noise = self._disjoint(pool, size, rng)
        if interval or not disjoint:
            drawn = self.ensembles.agreement(pool[draws], rng)
            if not disjoint:
                value, noise = drawn.value, drawn.standard_error
        if not interval:
            return Point(m, value, math.nan, math.nan, math.nan, disjoint)
        shares = rng.permuted(np.arange(len(pool)) % _PARTS)
        without = []
        for part in range(_PARTS):
            kept = np.flatnonzero(shares != part)
            replacements = kept[rng.integers(len(kept), size=draws.shape)]
            replaced = np.where(shares[draws] == part, replacements, draws)
            without.append(self.ensembles.agreement(pool[replaced], rng).value)
        error = math.sqrt(jackknife_variance(np.array(without)) + noise**2)
        lowest = self.ensembles.lowest
        return _point(m, value, error, _PARTS - 1, self.confidence, disjoint, lowest)

    def _disjoint(
        self, pool: np.ndarray, size: int, rng: np.random.Generator
    ) -> tuple[float, float]:
        """Mean agreement of disjoint ensembles over several ways to cut up the pool."""
        n = len(pool) // size
        ways = 1 if size == 1 else max(3, -(-self.n_ensembles // n))
        values = []
        for _ in range(ways):
            draws = rng.permutation(pool)[: n * size].reshape(n, size)
            values.append(self.ensembles.agreement(draws, rng).value)
        noise = 0.0 if ways == 1 else float(np.std(values, ddof=1)) / math.sqrt(ways)
        return float(np.mean(values)), noise

    def plateau(self) -> float:
        """Limit for large ensembles: on the same data, they all select the same features."""
        return 1.0


@dataclass(frozen=True, eq=False)
class HalvesCurve(ABC):
    """Ensembles built inside training halves: what the two ways to compare halves share.

    Up to the number b of runs in a half, m of them are drawn without replacement in every half.
    """

    ensembles: Ensembles
    members: tuple[np.ndarray, ...]
    repeats: int
    confidence: float
    seed: int
    _memory: dict[Any, Any]

    @property
    def largest(self) -> int:
        """Number of runs in the half with the fewest: the largest ensemble observed."""
        return min(len(half) for half in self.members)

    def point(self, m: float, *, interval: bool = True) -> Point:
        """Forecast the stability of ensembles of m runs."""
        b = self.largest
        values = self._observed(int(m)) if m <= b else self._extrapolated(m)
        value, without = float(values[0]), values[1:]
        if not interval:
            return Point(m, value, math.nan, math.nan, math.nan, m <= b)
        lowest = self.ensembles.lowest
        error = self._error(value, without)
        return _point(m, value, error, len(without) - 1, self.confidence, m <= b, lowest)

    def plateau(self) -> float:
        """Limit of the stability as ensembles grow."""
        return self.point(math.inf, interval=False).stability

    def _draw(self, m: int, rng: np.random.Generator) -> np.ndarray:
        """Draw m runs in every half."""
        return np.stack([rng.permutation(half)[:m] for half in self.members])

    def _observed(self, m: int) -> np.ndarray:
        """Stability at m ≤ b, then the same with parts left out in turn."""
        if m not in self._memory:
            rng = np.random.default_rng([self.seed, m])
            repeats = 3 if m == self.largest else self.repeats
            draws = (self._draw(m, rng) for _ in range(repeats))
            compared = [self._compare(self.ensembles.scores(draw), rng) for draw in draws]
            self._memory[m] = np.mean(compared, axis=0)
        return np.asarray(self._memory[m])

    @abstractmethod
    def _compare(self, scores: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Stability of one ensemble per half, then the same with parts left out in turn."""

    @abstractmethod
    def _extrapolated(self, m: float) -> np.ndarray:
        """Stability at m > b, then the same with parts left out in turn."""

    def _reciprocal(self, m: float) -> np.ndarray:
        """Φ(m) from the straight line of 1/Φ in 1/m through b."""
        b = self.largest
        sizes = np.array(sorted({max(1, round(share * b)) for share in (0.3, 0.5, 0.7, 1.0)}))
        phi = np.stack([self.ensembles.to_reliability(self._observed(int(s))) for s in sizes])
        phi = np.maximum(phi, _LOWEST)
        x = (1 / sizes)[:, None]
        weights = phi**4  # the variance of 1/Φ is that of Φ over Φ⁴
        total = weights.sum(axis=0)
        off_x = x - (weights * x).sum(axis=0) / total
        off_y = 1 / phi - (weights / phi).sum(axis=0) / total
        slope = (weights * off_x * off_y).sum(axis=0) / (weights * off_x**2).sum(axis=0)
        return np.asarray(1 / np.maximum(1 / phi[-1] + np.maximum(slope, 0) * (1 / m - 1 / b), 1))

    def _error(self, value: float, without: np.ndarray) -> float:
        """Standard error of a value, from those with parts left out in turn."""
        return math.sqrt(jackknife_variance(without))


@dataclass(frozen=True, eq=False)
class NestedCurve(HalvesCurve):
    """Ensembles in the two halves of a pair, which share no row, compared with each other.

    The mean over B pairs is unbiased for ensembles of two independent studies of half the size.
    Beyond the number b of runs in a half the curve is extrapolated on a scale where chance is 0
    (see `Ensembles.to_reliability`): 1/Φ(m) = a + c/m, as for the reliability of a mean of m noisy
    measurements. How far Φ grows from b to m is seen in two ways:

    - from the line through Φ at m = 0.3 b, 0.5 b, 0.7 b and b. Right on average, but noise where
      the halves hardly agree.
    - from ensembles of b/2 other runs of the *same* half. They would agree fully if they were large
      enough (a = 1), so that c can be told even where different halves have nothing in common;
      for strong signals it is too large.

    The logarithms of the two are averaged, the first with the weight τ²/(τ² + v), where v is its
    jackknife variance over pairs and τ = 0.1 about how far the second is off. An agreement that
    cannot be told from chance (z = Φ(b)/standard error over pairs) is not extrapolated: only the
    share z²/(z² + 4) of the growth counts.

    The standard error is over data sets, see `mainstay.reliability.agreement`.
    """

    def _compare(self, scores: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        agreements = self.ensembles.agreements_in_pairs(scores, rng)
        n = len(agreements)
        return np.append(agreements.mean(), (agreements.sum() - agreements) / (n - 1))

    def _extrapolated(self, m: float) -> np.ndarray:
        observed = self.ensembles.to_reliability(self._observed(self.largest))
        growth = self._growth(m, observed)
        beyond = np.where(observed > 0, np.minimum(growth * observed, 1), observed)
        return self.ensembles.from_reliability(beyond)

    def _growth(self, m: float, observed: np.ndarray) -> float:
        """Φ(m)/Φ(b), from the agreement between halves as far as that can be trusted."""
        noise = self._noise_of_a_run()
        inside = math.log((1 + noise / self.largest) / (1 + noise / m))
        between = np.log(self._reciprocal(m) / np.maximum(observed, _LOWEST))
        weight = _TRUST**2 / (_TRUST**2 + jackknife_variance(between[1:]))
        growth = math.exp(weight * between[0] + (1 - weight) * inside)
        square, variance = float(observed[0]) ** 2, jackknife_variance(observed[1:])
        return 1 + (growth - 1) * (square / (square + _CAUTION * variance) if square else 0.0)

    def _noise_of_a_run(self) -> float:
        """Variance of a run inside a half, relative to that of what its runs have in common: c."""
        if "noise" not in self._memory:
            size = self.largest // 2
            rng = np.random.default_rng([self.seed, size, 1])
            values = []
            for _ in range(self.repeats):
                draws = self._draw(2 * size, rng).reshape(-1, size)  # two ensembles of each half
                scores = self.ensembles.scores(draws)
                values.append(self.ensembles.agreements_in_pairs(scores, rng).mean())
            agreement = float(self.ensembles.to_reliability(np.mean(values)))
            self._memory["noise"] = size * (1 / min(max(agreement, _LEAST_INSIDE), 1) - 1)
        return float(self._memory["noise"])

    def _error(self, value: float, without: np.ndarray) -> float:
        spread = math.sqrt(jackknife_variance(without) * len(without))
        return error_over_data_sets(value, spread, len(without), self.ensembles.chance)


@dataclass(frozen=True, eq=False)
class OverlappingCurve(HalvesCurve):
    """Ensembles in halves drawn independently of each other, all compared, as in Onda et al.

    Two such halves share half of their rows, and ensembles agree on the noise in these, so that
    this is not the agreement of two studies. Beyond the number b of runs in a half there are two
    ways, of which the mean is taken (on a scale where chance is 0, see `Ensembles.to_reliability`):

    - 1/Φ(m) = a + c/m, as for the reliability of a mean of m noisy measurements. The line goes
      through m = b; its slope comes from m = 0.3 b, 0.5 b, 0.7 b and b. Any aggregation.
    - The means of the halves, moved towards their common mean until they spread as means of m runs
      would: by √((V_B + V_W/m) / (V_B + V_W/b)) per feature, with the variances between and within
      halves. For aggregations that average.

    The first is right on average but noisy, the second is steady but a little optimistic. Standard
    errors leave out one half in turn: they refer to other halves of the same rows.
    """

    def _compare(self, scores: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        estimate = self.ensembles.agreement_of(scores, rng)
        assert estimate.leave_one_out is not None
        return np.append(estimate.value, estimate.leave_one_out)

    def _extrapolated(self, m: float) -> np.ndarray:
        b = self.largest
        observed = self.ensembles.to_reliability(self._observed(b))
        beyond = self._reciprocal(m)
        if self.ensembles.averages:
            beyond = (beyond + self.ensembles.to_reliability(self._shrunk(m))) / 2
        usable = observed > _LOWEST
        value = self.ensembles.from_reliability(np.maximum(beyond, observed))
        return np.where(usable, value, self._observed(b))

    def _shrunk(self, m: float) -> np.ndarray:
        """Stability of the halves' means, moved towards their mean as far as m runs would."""
        key = ("shrunk", m)
        if key not in self._memory:
            rng = np.random.default_rng([self.seed, _finite(m), 1])
            b = self.largest
            drawn = np.stack([half[:b] for half in self.members])
            runs = self.ensembles.averaged[drawn]
            means = runs.mean(axis=1)
            within = runs.var(axis=1, ddof=1).mean(axis=0)
            between = np.maximum(means.var(axis=0, ddof=1) - within / b, 0)
            spread = between + within / b
            ratio = np.divide(between + within / m, spread, out=np.ones_like(spread),
                              where=spread > 0)  # fmt: skip
            centre = means.mean(axis=0)
            self._memory[key] = self._compare(centre + np.sqrt(ratio) * (means - centre), rng)
        return np.asarray(self._memory[key])


def make_curve(
    ensembles: Ensembles,
    halves: np.ndarray | None,
    n_ensembles: int,
    confidence: float,
    seed: int,
    *,
    paired: bool = False,
) -> FlatCurve | HalvesCurve:
    """Choose the curve for flat runs, or for runs labelled with their half.

    With `paired`, halves 0 and 1, 2 and 3, … share no row.
    """
    if halves is None:
        return FlatCurve(ensembles, n_ensembles, confidence, seed)
    order = ensembles.canonical
    place = np.argsort(order)
    groups = [order[halves[order] == half] for half in np.unique(halves)]
    _check_halves(groups, paired)
    together = 2 if paired else 1
    units = [
        sorted(groups[i : i + together], key=lambda members: int(place[members[0]]))
        for i in range(0, len(groups), together)
    ]
    units.sort(key=lambda unit: int(place[unit[0][0]]))
    repeats = max(3, n_ensembles // len(groups) * 2)
    kind = NestedCurve if paired else OverlappingCurve
    members = tuple(half for unit in units for half in unit)
    return kind(ensembles, members, repeats, confidence, seed, {})


def _check_halves(groups: list[np.ndarray], paired: bool) -> None:
    fewest = min(len(members) for members in groups)
    about = f"got {len(groups)} halves, the smallest with {fewest} run(s)."
    if paired and (len(groups) < 6 or len(groups) % 2 or fewest < 2):
        raise InputError(
            "the nested protocol compares the two halves of a pair, and needs at least 3 pairs of "
            f"halves with at least 2 runs in each half; {about}"
        )
    if len(groups) < 3 or fewest < 2:
        raise InputError(
            f"the overlapping protocol needs at least 3 halves with at least 2 runs each; {about}"
        )


def _finite(m: float) -> int:
    return 100_000 if math.isinf(m) else int(m)


def _point(
    m: float,
    value: float,
    error: float,
    freedom: int,
    confidence: float,
    observed: bool,
    lowest: float,
) -> Point:
    reach = float(stats.t.ppf((1 + confidence) / 2, freedom)) * error
    lower = min(max(value - reach, lowest), value)
    return Point(m, value, error, lower, min(value + reach, 1.0), observed)
