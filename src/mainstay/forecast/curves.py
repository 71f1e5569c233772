"""Stability by ensemble size, measured on observed runs and extrapolated beyond them.

Flat runs (each on a fresh resample of the data) form one pool, from which ensembles of any size
are drawn. Nested runs come in training halves: ensembles are built inside a half and compared
between halves, up to the number of runs in a half; beyond it the curve is extrapolated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from mainstay._validation import InputError
from mainstay.forecast.virtual import Ensembles

_PARTS = 10  # of the pool, left out in turn
_FEWEST = 10  # disjoint ensembles that the pool must hold for them to be compared directly
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
        error = math.hypot(_jackknife_error(np.array(without)), noise)
        return _point(m, value, error, _PARTS - 1, self.confidence, disjoint)

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
class NestedCurve:
    """Ensembles built inside training halves, compared between halves.

    Up to the number b of runs in a half, m of them are drawn without replacement in every half and
    the ensembles compared. Beyond b there are two ways, of which the mean is taken (on a scale
    where chance is 0, see `Ensembles.to_reliability`):

    - 1/Φ(m) = a + c/m, as for the reliability of a mean of m noisy measurements. The line goes
      through m = b; its slope comes from m = 0.3 b, 0.5 b, 0.7 b and b. Any aggregation.
    - The means of the halves, moved towards their common mean until they spread as means of m runs
      would: by √((V_B + V_W/m) / (V_B + V_W/b)) per feature, with the variances between and within
      halves. For aggregations that average.

    The first is right on average but noisy, the second is steady but a little optimistic. Standard
    errors leave out one half in turn.
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
        error = _jackknife_error(without)
        return _point(m, value, error, len(self.members) - 1, self.confidence, m <= b)

    def plateau(self) -> float:
        """Limit of the stability as ensembles grow."""
        return self.point(math.inf, interval=False).stability

    def _observed(self, m: int) -> np.ndarray:
        """Stability at m ≤ b: of all halves, then without each half in turn."""
        if m not in self._memory:
            rng = np.random.default_rng([self.seed, m])
            total = np.zeros(len(self.members) + 1)
            repeats = 3 if m == self.largest else self.repeats
            for _ in range(repeats):
                draws = np.stack([rng.permutation(half)[:m] for half in self.members])
                estimate = self.ensembles.agreement(draws, rng)
                assert estimate.leave_one_out is not None
                total += np.concatenate(([estimate.value], estimate.leave_one_out))
            self._memory[m] = total / repeats
        return np.asarray(self._memory[m])

    def _extrapolated(self, m: float) -> np.ndarray:
        """Stability at m > b: of all halves, then without each half in turn."""
        b = self.largest
        observed = self.ensembles.to_reliability(self._observed(b))
        beyond = self._reciprocal(m)
        if self.ensembles.averages:
            beyond = (beyond + self.ensembles.to_reliability(self._shrunk(m))) / 2
        usable = observed > _LOWEST
        value = self.ensembles.from_reliability(np.maximum(beyond, observed))
        return np.where(usable, value, self._observed(b))

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
            estimate = self.ensembles.agreement_of(centre + np.sqrt(ratio) * (means - centre), rng)
            assert estimate.leave_one_out is not None
            self._memory[key] = np.concatenate(([estimate.value], estimate.leave_one_out))
        return np.asarray(self._memory[key])


def make_curve(
    ensembles: Ensembles,
    halves: np.ndarray | None,
    n_ensembles: int,
    confidence: float,
    seed: int,
) -> FlatCurve | NestedCurve:
    """Choose the curve for flat runs, or for runs labelled with their half."""
    if halves is None:
        return FlatCurve(ensembles, n_ensembles, confidence, seed)
    order = ensembles.canonical
    groups = [order[halves[order] == half] for half in np.unique(halves)]
    groups.sort(key=lambda members: int(np.flatnonzero(order == members[0])[0]))
    fewest = min(len(members) for members in groups)
    if len(groups) < 3 or fewest < 2:
        raise InputError(
            f"the nested protocol needs at least 3 halves with at least 2 runs each; got "
            f"{len(groups)} halves, the smallest with {fewest} run(s)."
        )
    repeats = max(3, n_ensembles // len(groups) * 2)
    return NestedCurve(ensembles, tuple(groups), repeats, confidence, seed, {})


def _finite(m: float) -> int:
    return 100_000 if math.isinf(m) else int(m)


def _jackknife_error(without: np.ndarray) -> float:
    n = len(without)
    return math.sqrt((n - 1) / n * float(((without - without.mean()) ** 2).sum()))


def _point(
    m: float, value: float, error: float, freedom: int, confidence: float, observed: bool
) -> Point:
    reach = float(stats.t.ppf((1 + confidence) / 2, freedom)) * error
    return Point(m, value, error, value - reach, min(value + reach, 1.0), observed)
