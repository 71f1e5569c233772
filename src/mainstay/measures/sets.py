"""Stability of sets: scores of two sets from their overlap, and scores of all sets at once.

Pair scores are functions of r = |V_i ∩ V_j|, a = |V_i|, b = |V_j| and p, on arrays. Joint scores
look at how often every feature was selected. Both come with what random sets score, so that any of
them can be corrected for chance. NaN means undefined (0/0).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln, xlogy

from mainstay._validation import InputError
from mainstay.measures.chance import times_selected, union_size
from mainstay.runs import Runs

PairScore = Callable[..., np.ndarray]


def overlaps(runs: Runs) -> np.ndarray:
    """m × m sizes of the intersections of the runs' selections."""
    support, counts = runs.sparse_support, runs.counts.astype(float)
    m, p = support.shape
    if (counts**2).sum() < m * m * p / 32:
        return np.asarray((support @ support.T).toarray(), dtype=float)
    total = np.zeros((m, m), dtype=np.float32)  # whole numbers below 2²⁴: exact
    width = max(1, 2**24 // m)
    columns = support.tocsc()
    for start in range(0, p, width):
        block = columns[:, start : start + width].toarray().astype(np.float32)
        total += block @ block.T
    return total.astype(float)


def ratio(numerator: Any, denominator: Any) -> np.ndarray:
    """Divide, with NaN where the denominator is 0."""
    denominator = np.asarray(denominator, dtype=float)
    defined = denominator != 0
    return np.where(defined, numerator / np.where(defined, denominator, 1.0), np.nan)


def correct_for_chance(score: Any, expected: Any, bound: Any) -> np.ndarray:
    """(score − E) / (bound − E), undefined where bound and E agree to rounding."""
    room = np.asarray(bound - expected, dtype=float)
    return ratio(score - expected, np.where(room <= 1e-10 * np.maximum(bound, 1), 0.0, room))


# ---------------------------------------------------------------------- two sets


def jaccard(r: Any, a: Any, b: Any, p: int) -> np.ndarray:
    """r / |V_i ∪ V_j|"""
    return ratio(r, a + b - r)


def dice(r: Any, a: Any, b: Any, p: int) -> np.ndarray:
    """2r / (a + b)"""
    return ratio(2 * r, a + b + 0 * r)


def ochiai(r: Any, a: Any, b: Any, p: int) -> np.ndarray:
    """r / √(ab)"""
    return ratio(r, np.sqrt(a * b) + 0 * r)


def hamming(r: Any, a: Any, b: Any, p: int) -> np.ndarray:
    """Share of the p features on which both agree"""
    return np.asarray((p - a - b + 2 * r) / p)


def kuncheva(r: Any, a: Any, b: Any, p: int) -> np.ndarray:
    """(r − k²/p) / (k − k²/p)"""
    return wald(r, a, b, p)


def lustgarten(r: Any, a: Any, b: Any, p: int) -> np.ndarray:
    """(r − ab/p) / (min(a, b) − max(0, a + b − p))"""
    return ratio(r - a * b / p, np.minimum(a, b) - np.maximum(0, a + b - p) + 0 * r)


def wald(r: Any, a: Any, b: Any, p: int) -> np.ndarray:
    """(r − ab/p) / (min(a, b) − ab/p)"""
    return ratio(r - a * b / p, np.minimum(a, b) - a * b / p + 0 * r)


def npog(r: Any, a: Any, b: Any, p: int) -> np.ndarray:
    """(r − ab/p) / (a − ab/p), a being the first set's size"""
    return ratio(r - a * b / p, a - a * b / p + 0 * r)


def sim_n(r: Any, a: Any, b: Any, p: int) -> np.ndarray:
    """(r − ab/p) / max(ab/p − max(0, a + b − p), min(a, b) − ab/p); 0 for an empty or full set"""
    e = a * b / p
    span = np.maximum(e - np.maximum(0, a + b - p), np.minimum(a, b) - e)
    return np.asarray(np.nan_to_num(ratio(r - e, span + 0 * r), nan=0.0))


def unadjusted(r: Any, a: Any, b: Any, p: int) -> np.ndarray:
    """(r − ab/p) / (√(ab) − ab/p)"""
    return ratio(r - a * b / p, np.sqrt(a * b) - a * b / p + 0 * r)


def phi(r: Any, a: Any, b: Any, p: int) -> np.ndarray:
    """Pearson correlation of the two indicator vectors"""
    return ratio(p * r - a * b, np.sqrt(a * (p - a) * b * (p - b) + 0.0 * r))


def kappa(r: Any, a: Any, b: Any, p: int) -> np.ndarray:
    """Cohen's kappa of the two indicator vectors, 2(r − ab/p) / (a + b − 2ab/p)"""
    e = a * b / p
    return ratio(2 * (r - e), a + b - 2 * e + 0 * r)


PAIR_SCORES: dict[str, PairScore] = {
    f.__name__: f
    for f in (
        jaccard, dice, ochiai, hamming, kuncheva, lustgarten, wald, npog, sim_n, unadjusted, phi,
        kappa,
    )
}  # fmt: skip


def equal_sizes(name: str, sizes: np.ndarray) -> int:
    """Return the one size of all runs, or say which measures take unequal sizes."""
    if (sizes != sizes[0]).any():
        other = int(np.flatnonzero(sizes != sizes[0])[0])
        raise InputError(
            f"{name!r} needs selections of equal size, but run 0 has {sizes[0]} features and run "
            f"{other} has {sizes[other]}. Use 'sim_n' or 'nogueira', which take any sizes."
        )
    return int(sizes[0])


# ---------------------------------------------------------------------- all sets at once


@dataclass(frozen=True)
class Counts:
    """How often features were selected by m runs, and what changes when one run is left out."""

    m: int
    p: int
    sizes: np.ndarray
    h: np.ndarray
    support: Any

    @classmethod
    def of(cls, runs: Runs) -> Counts:
        """Count the selections of the runs."""
        return cls(runs.n_runs, runs.n_features, runs.sizes, runs.counts, runs.sparse_support)

    def sums(self, g: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Σ_f g(h_f), then the same with each run left out in turn; g(0) must be 0."""
        now, before = g(self.h), g(np.maximum(self.h - 1, 0))
        total = now.sum()
        return np.concatenate(([total], total - self.support @ (now - before)))

    @property
    def totals(self) -> np.ndarray:
        """Σ_i k_i, then the same with each run left out in turn."""
        q = self.sizes.sum()
        return np.concatenate(([q], q - self.sizes)).astype(float)

    @property
    def runs_left(self) -> np.ndarray:
        """The numbers of runs that belong to `sums` and `totals`."""
        return np.concatenate(([self.m], np.full(self.m, self.m - 1))).astype(float)


JointScore = Callable[..., np.ndarray]
"""Counts and options to the score, followed by the score without each run in turn."""


def davis(c: Counts, *, penalty: float = 0.0) -> np.ndarray:
    """max(0, (Σ_f h_f/m) / |∪V| − penalty/p · median(k))"""
    _check_penalty(penalty)
    union = c.sums(lambda h: (h > 0).astype(float))
    medians = [np.median(c.sizes)] + [np.median(np.delete(c.sizes, i)) for i in range(c.m)]
    share = ratio(c.totals / np.maximum(c.runs_left, 1), union)
    return np.maximum(share - penalty / c.p * np.array(medians), 0.0)


def novovicova(c: Counts) -> np.ndarray:
    """Σ_f h_f log h_f / (q log m)"""
    return ratio(c.sums(lambda h: xlogy(h, h)), c.totals * np.log(c.runs_left))


def weighted_consistency(c: Counts) -> np.ndarray:
    """C = Σ_f (h_f/q)(h_f − 1)/(m − 1)"""
    return ratio(c.sums(lambda h: h * (h - 1.0)), c.totals * (c.runs_left - 1))


def somol(c: Counts) -> np.ndarray:
    """(C − c_min) / (c_max − c_min)"""
    m, p, q = c.runs_left, c.p, c.totals
    low, high = _consistency_limits(m, p, q)
    return ratio(p * c.sums(lambda h: h * (h - 1.0)) - low, high - low)


def nogueira(c: Counts) -> np.ndarray:
    """1 − mean_f(m/(m−1) · h/m · (1 − h/m)) / (q/(mp) · (1 − q/(mp)))"""
    m, p, q = c.runs_left, c.p, c.totals
    agreeing = c.sums(lambda h: h * (h - 1.0))
    disagreement = ratio(
        q * (m - 1) - agreeing, m * (m - 1) * p
    )  # Σ h(m − h) = q(m − 1) − Σ h(h − 1)
    return 1 - ratio(disagreement, q / (m * p) * (1 - q / (m * p)))


def krizek(c: Counts) -> np.ndarray:
    """1 − entropy of the distribution over distinct sets / log min(m, C(p, k))"""
    k = equal_sizes("krizek", c.sizes)
    rows = [
        c.support.indices[c.support.indptr[i] : c.support.indptr[i + 1]].tobytes()
        for i in range(c.m)
    ]
    times: dict[bytes, int] = {}
    for row in rows:
        times[row] = times.get(row, 0) + 1
    repeats = np.array(list(times.values()), dtype=float)
    total = xlogy(repeats, repeats).sum()
    own = np.array([times[row] for row in rows], dtype=float)
    sums = np.concatenate(([total], total - xlogy(own, own) + xlogy(own - 1, own - 1)))
    m = c.runs_left
    entropy = np.log(m) - sums / m
    return 1 - ratio(entropy, _largest_entropy(m, c.p, k))


def _check_penalty(penalty: float) -> None:
    if not (isinstance(penalty, int | float | np.number) and 0 <= penalty < np.inf):
        raise InputError(f"penalty must be a number of at least 0, got {penalty!r}.")


def _consistency_limits(m: Any, p: int, q: Any) -> tuple[Any, Any]:
    """Smallest and largest Σ_f h(h − 1) that m sets with q selections can have, times p."""
    d, rest = q % p, q % m
    return q * q - p * (q - d) - d * d, p * (rest * rest + q * (m - 1) - rest * m)


def _log_subsets(p: int, k: int) -> float:
    return float(gammaln(p + 1) - gammaln(k + 1) - gammaln(p - k + 1)) if 0 < k < p else 0.0


def _largest_entropy(m: Any, p: int, k: int) -> np.ndarray:
    return np.asarray(np.minimum(np.log(m), _log_subsets(p, k)))


# ---------------------------------------------------------------------- what random sets score


def expected_davis(sizes: np.ndarray, p: int, *, penalty: float = 0.0) -> float:
    """Through the exact distribution of |∪V|."""
    chance = union_size(sizes, p)
    u = np.arange(p + 1.0)
    values = np.maximum(ratio(sizes.mean(), u) - penalty / p * np.median(sizes), 0.0)
    return float((chance[chance > 0] * values[chance > 0]).sum())


def expected_novovicova(sizes: np.ndarray, p: int) -> float:
    """h_f is a sum of independent Bernoulli variables of means k_i/p (Poisson binomial)."""
    m, h = len(sizes), np.arange(len(sizes) + 1.0)
    mean = p * (times_selected(sizes, p) @ xlogy(h, h))
    return float(ratio(mean, sizes.sum() * np.log(m)))


def _expected_agreements(sizes: np.ndarray, p: int) -> float:
    """E Σ_f h(h − 1) = Σ_{i≠j} k_i k_j / p"""
    return float((sizes.sum() ** 2 - (sizes**2).sum()) / p)


def expected_weighted_consistency(sizes: np.ndarray, p: int) -> float:
    """Linear in E Σ_f h(h − 1)."""
    return float(ratio(_expected_agreements(sizes, p), sizes.sum() * (len(sizes) - 1)))


def expected_somol(sizes: np.ndarray, p: int) -> float:
    """Linear in E Σ_f h(h − 1)."""
    low, high = _consistency_limits(float(len(sizes)), p, float(sizes.sum()))
    return float(ratio(p * _expected_agreements(sizes, p) - low, high - low))


def expected_nogueira(sizes: np.ndarray, p: int) -> float:
    """0 for equal sizes; slightly negative when the (fixed) sizes vary."""
    m, q = len(sizes), float(sizes.sum())
    disagreement = (q * (m - 1) - _expected_agreements(sizes, p)) / (m * (m - 1) * p)
    return float(1 - ratio(disagreement, q / (m * p) * (1 - q / (m * p))))


def expected_krizek(sizes: np.ndarray, p: int) -> float:
    """How often each of the C(p, k) sets comes up is binomial."""
    m, k = len(sizes), equal_sizes("krizek", sizes)
    log_n = _log_subsets(p, k)
    if log_n == 0:
        return math.nan
    c = np.arange(1.0, m + 1)
    log_other = np.log1p(-np.exp(-log_n))
    log_chance = gammaln(m + 1) - gammaln(c + 1) - gammaln(m - c + 1) + (m - c) * log_other
    repeats = np.exp(log_chance + (1 - c) * log_n)  # expected number of sets that come up c times
    entropy = np.log(m) - (repeats @ xlogy(c, c)) / m
    return float(1 - entropy / _largest_entropy(m, p, k))


def davis_maximum(p: int, *, penalty: float = 0.0) -> float:
    """Score of identical sets of one feature."""
    return max(0.0, 1 - penalty / p)


@dataclass(frozen=True)
class JointMeasure:
    """A score of all sets at once, its expectation for random sets, and its largest value."""

    score: JointScore
    expected: Callable[..., float]
    maximum: Callable[..., float] = lambda p, **_: 1.0


JOINT_SCORES: dict[str, JointMeasure] = {
    "davis": JointMeasure(davis, expected_davis, davis_maximum),
    "novovicova": JointMeasure(novovicova, expected_novovicova),
    "weighted_consistency": JointMeasure(weighted_consistency, expected_weighted_consistency),
    "somol": JointMeasure(somol, expected_somol),
    "krizek": JointMeasure(krizek, expected_krizek),
    "nogueira": JointMeasure(nogueira, expected_nogueira),
}


def nogueira_variance(c: Counts) -> float:
    """Variance of the `nogueira` estimate (Nogueira, Sechidis and Brown 2018, theorem 7)."""
    m, p = c.m, c.p
    frequency, mean_size = c.h / m, c.sizes.mean()
    random = mean_size / p * (1 - mean_size / p)
    if random == 0:
        return math.nan
    value = float(nogueira(c)[0])
    k = c.sizes
    overlap = (c.support @ frequency) / p
    size_part = 2 * mean_size * k / p**2 - k / p - mean_size / p + 1
    influence = (overlap - k * mean_size / p**2 + value / 2 * size_part) / random
    return float(4 / m**2 * ((influence - influence.mean()) ** 2).sum())
