"""Scores of all selections at once, from how often every feature was selected.

A score comes as an array: its value, followed by its values without each run in turn. NaN means
undefined. The `expected_…` are the means over random selections of the same sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln, xlogy

from mainstay._validation import InputError
from mainstay.measures import pairs
from mainstay.measures.chance import Chance, correct_for_chance, ratio, times_selected, union_size
from mainstay.measures.entry import Measure
from mainstay.measures.inference import Scores, nothing_shared
from mainstay.runs import Runs


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


def scores_of_all(measure: Measure, runs: Runs, chance: Chance, options: dict[str, Any]) -> Scores:
    """Score all runs at once, and without each in turn."""
    assert measure.joint_score is not None
    counts = Counts.of(runs)
    values = measure.joint_score(counts, **options)
    correction = "by definition" if measure.corrected else "none"
    if measure.expected is not None and not measure.corrected and chance.asked_for:
        expected = _expected_without_each(measure.expected, counts, options)
        maximum = 1.0 if measure.maximum is None else measure.maximum(counts.p, **options)
        values, correction = correct_for_chance(values, expected, maximum), "exact"
    return Scores(
        joint=float(values[0]),
        leave_one_out=values[1:] if counts.m > 2 else None,
        variance=None if measure.variance is None else measure.variance(counts),
        agreement=_relative_overlaps(runs),
        unlike=_unlike(measure, runs),
        correction=correction,
    )


def _unlike(measure: Measure, runs: Runs) -> float:
    """Score of selections without a feature in common, where it is below 0 by definition."""
    if not measure.corrected or measure.equal_size_score is None:
        return 0.0
    return nothing_shared(pairs.least_overlap_scores(measure.equal_size_score, runs))


def _relative_overlaps(runs: Runs) -> np.ndarray:
    """m × m overlaps: 0 is what chance gives selections of average size, 1 is identical."""
    size, p = runs.sizes.mean(), runs.n_features
    return np.asarray((pairs.overlaps(runs) - size**2 / p) / (size * (1 - size / p) or 1.0))


def _expected_without_each(
    expected: Callable[..., float], counts: Counts, options: dict[str, Any]
) -> np.ndarray:
    """Expected score, followed by the expected scores without each run in turn."""
    values = np.empty(counts.m + 1)
    values[0] = expected(counts.sizes, counts.p, **options)
    for size in np.unique(counts.sizes):
        same = np.flatnonzero(counts.sizes == size)
        values[same + 1] = expected(np.delete(counts.sizes, same[0]), counts.p, **options)
    return values


# ---------------------------------------------------------------------- scores


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
    k = int(c.sizes[0])
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


# ---------------------------------------------------------------------- expectations


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


def expected_krizek(sizes: np.ndarray, p: int) -> float:
    """How often each of the C(p, k) sets comes up is binomial."""
    m, k = len(sizes), int(sizes[0])
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


ENTRIES = (
    Measure("nogueira", "set", (-1, 1), "Nogueira, Sechidis and Brown 2018", joint_score=nogueira,
            variance=nogueira_variance, equal_size_score=pairs.kuncheva, corrected=True),
    Measure("davis", "set", (0, 1), "Davis et al. 2006", joint_score=davis,
            expected=expected_davis, maximum=davis_maximum, options=("penalty",)),
    Measure("novovicova", "set", (0, 1), "Novovičová et al. 2009", joint_score=novovicova,
            expected=expected_novovicova),
    Measure("somol", "set", (0, 1), "Somol and Novovičová 2010", joint_score=somol,
            expected=expected_somol),
    Measure("weighted_consistency", "set", (0, 1), "Somol and Novovičová 2008",
            joint_score=weighted_consistency, expected=expected_weighted_consistency,
            equal_size_score=pairs.dice),
    Measure("krizek", "set", (0, 1), "Křížek et al. 2007", joint_score=krizek,
            expected=expected_krizek, equal_sizes=True),
)  # fmt: skip
