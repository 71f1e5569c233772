"""Formulas for the simulated selector: how many useful features are selected, and what follows.

The u useful features are exchangeable, and so are the n − u others. So all that counts of a
selection of k features is B, how many of them are useful: given B and B′, the overlap of two
selections is the sum of two independent hypergeometric variables. The expectations below are exact
in the distribution of B, and that distribution is exact for a single run.

For an ensemble of m runs B comes from the m-fold convolution of the ranks of one useful and of one
other feature (`useful_in_ensemble`): the k smallest of u and n − u *independent* rank sums, plus a
correction for the dependence of the sums, whose covariances are known exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import fft
from scipy.linalg import solve_banded
from scipy.special import betainc, gammaln, xlog1py, xlogy

from mainstay.measures import MEASURES
from mainstay.measures.chance import hypergeometric

# all but "jaccard" are linear in the overlap of two sets of k features
OVERLAP_SCORES: dict[str, Callable[..., np.ndarray]] = {
    name: score
    for name, measure in MEASURES.items()
    if (score := measure.pair_score or measure.equal_size_score) is not None
}
JACCARD_TERMS = 40  # the rest of the series is below 2⁻⁴⁰
TAIL = np.array(
    [1e-9, 1e-6, 1e-4, 1e-2, 0.1, 0.3, 1.0, 3.0]
)  # features of a kind below, or above, a value
MOST_POINTS = 2**15  # of a rank sum's distribution; beyond this ranks are put into bins


def log_binomial(n: Any, j: Any) -> Any:
    """Log of C(n, j), −∞ for j outside 0 … n."""
    return gammaln(n + 1.0) - gammaln(j + 1.0) - gammaln(n - j + 1.0)


# ---------------------------------------------------------------------- one run


def members_selected(n: int, k: int, p: Any) -> np.ndarray:
    """P(A of the k members of S_m are among the k best), A = 0 … k: one row per p.

    A ~ Binomial(k, p), since neither S_m nor the others run out within k picks, unless there are
    fewer than k others: then at least 2k − n members must be picked.
    """
    chance, a = np.atleast_1d(np.asarray(p, dtype=float))[:, None], np.arange(k + 1.0)
    pmf = np.exp(log_binomial(k, a) + xlogy(a, chance) + xlog1py(k - a, -chance))
    if 2 * k > n:
        pmf[:, 2 * k - n] += pmf[:, : 2 * k - n].sum(axis=1)
        pmf[:, : 2 * k - n] = 0.0
    return np.asarray(pmf / pmf.sum(axis=1, keepdims=True))


def share_of_members(n: int, k: int, p: Any) -> Any:
    """E[A]/k, which is p itself unless 2k > n."""
    return p if 2 * k <= n else members_selected(n, k, p) @ np.arange(k + 1.0) / k


def selection_chances(n: int, k: int, u: Any, share: Any) -> tuple[Any, Any]:
    """π₁ and π₀: how likely a run is to select a given useful and a given other feature.

    π₁ − k/n = (k/u)(E[A]/k − k/n)(n − u)/(n − k): theorem 1 of the paper, extended from the first
    pick to the whole selection.
    """
    useful = k / n + k / u * (share - k / n) * (n - u) / (n - k)
    with np.errstate(divide="ignore", invalid="ignore"):
        other = np.where(np.asarray(u) < n, (k - u * useful) / (n - np.asarray(u)), 0.0)
    return useful, other


def useful_given_members(n: int, k: int, u: int) -> np.ndarray:
    """P(B = b | A = a): the other k − a come at random from the n − k features outside S_m."""
    a, b = np.arange(k + 1)[:, None], np.arange(k + 1)[None, :]
    possible = (b >= a) & (a >= 2 * k - n)
    ways = log_binomial(u - k, np.arange(k + 1))[np.maximum(b - a, 0)] + log_binomial(n - u, k - b)
    ways = np.where(possible, ways, -np.inf)
    weight = np.exp(ways - ways.max(axis=1, keepdims=True, initial=-1e300))
    return np.asarray(weight / np.maximum(weight.sum(axis=1, keepdims=True), 1e-300))


def useful_in_run(n: int, k: int, u: int, p: Any) -> np.ndarray:
    """P(B = b) for one run, b = 0 … k: one row per p."""
    return np.asarray(members_selected(n, k, p) @ useful_given_members(n, k, u))


# ---------------------------------------------------------------------- from B to stability


@lru_cache(maxsize=8)
def _falling_products(k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(b)_r (k−b)_s / (k)_r (k)_s for 1 ≤ r + s ≤ T: one row per b, with the r and s of columns."""
    terms = min(k, JACCARD_TERMS)
    i = np.arange(terms)
    steps = np.maximum(np.arange(k + 1)[:, None] - i, 0) / (k - i)
    falling = np.concatenate((np.ones((k + 1, 1)), np.cumprod(steps, axis=1)), axis=1)
    r, s = np.indices((terms + 1, terms + 1)).reshape(2, -1)
    r, s = r[(r + s >= 1) & (r + s <= terms)], s[(r + s >= 1) & (r + s <= terms)]
    return falling[:, r] * falling[::-1][:, s], r, s


def expected_score(measure: str, useful: np.ndarray, n: int, k: int, u: int) -> np.ndarray:
    """E of the measure for two independent selections with B distributed as in each row.

    Linear measures need E[X] = E[B]²/u + (k − E[B])²/(n − u) only. The Jaccard index X/(2k − X) is
    Σ_t (X)_t/(2k−1)_t with falling factorials, all terms positive, and hypergeometric variables
    have E[(X)_t] = Σ_{r+s=t} C(t, r)·E[(B)_r (k−B)_s]² / ((u)_r (n−u)_s), since B and B′ are
    independent.
    """
    if measure != "jaccard":
        mean = useful @ np.arange(k + 1.0)
        overlap = mean**2 / u + ((k - mean) ** 2 / (n - u) if u < n else 0.0)
        at_0, at_1 = OVERLAP_SCORES[measure](np.array([0.0, 1.0]), float(k), float(k), n)
        bounds = MEASURES[measure].bounds  # rounding may leave them by a digit
        return np.asarray(np.clip(at_0 + (at_1 - at_0) * overlap, *bounds))
    products, r, s = _falling_products(k)

    def log_falling(x: int, t: np.ndarray) -> Any:
        return gammaln(x + 1.0) - gammaln(x - t + 1.0)

    weight = log_binomial(r + s, r) + 2 * log_falling(k, r) + 2 * log_falling(k, s)
    weight -= log_falling(u, r) + log_falling(2 * k - 1, r + s)
    some = s <= n - u  # k − B is never above n − u
    weight[some] -= log_falling(n - u, s[some])
    return np.asarray((useful @ products[:, some]) ** 2 @ np.exp(weight[some]))


# ---------------------------------------------------------------------- one run, as seen by a rule


@dataclass(frozen=True, eq=False)
class Weak:
    """What one run adds to the total by which an ensemble ranks features, smallest first.

    `useful` and `other` are the distributions over 0, 1, 2, … for one feature; `spread` is the
    variance, between runs, of the mean over all useful features.
    """

    useful: np.ndarray
    other: np.ndarray
    spread: float


def weak_selections(n: int, k: int, u: int, p: float) -> Weak:
    """Describe a run that adds 0 where it selects a feature, and 1 elsewhere."""
    useful = useful_in_run(n, k, u, p)[0]
    b = np.arange(k + 1.0)
    mean = useful @ b
    other = (k - mean) / (n - u) if u < n else 0.0
    spread = float(useful @ (b - mean) ** 2) / u**2
    return Weak(np.array([mean / u, 1 - mean / u]), np.array([other, 1 - other]), spread)


def weak_ranks(n: int, k: int, u: int, p: float) -> Weak:
    """Describe a run that adds its ranks, counted from 0.

    Place r belongs to S_m with probability p while neither S_m (k members) nor the rest (n − k) has
    run out, which is a matter of N ~ Binomial(r, p): N ≥ k and N ≤ r − (n − k), respectively.
    """
    r = np.arange(float(n))
    members_left = np.where(r < k, 1.0, betainc(np.maximum(r - k + 1, 1), k, 1 - p))
    rest_out = np.where(r < n - k, 0.0, betainc(n - k, np.maximum(r - (n - k) + 1, 1), 1 - p))
    in_members = p * (members_left - rest_out) + rest_out
    in_members *= k / in_members.sum()
    other = (1 - in_members) / (n - k)
    useful = in_members / u + (1 - k / u) * other
    total, variance = _sum_of_member_ranks(n, k, p)
    everything = n * (n - 1) / 2
    rest_squares = (r**2).sum() - in_members @ r**2
    within = rest_squares / (n - k) - (variance + (everything - total) ** 2) / (n - k) ** 2
    sampled = (u - k) * (n - u) / (n - k - 1) * within if n - k > 1 else 0.0
    return Weak(useful, other, (variance * ((n - u) / (n - k)) ** 2 + sampled) / u**2)


def _sum_of_member_ranks(n: int, k: int, p: float) -> tuple[float, float]:
    """Mean and variance of the sum of the ranks (from 0) of the members of S_m.

    Follows D_j, how many others precede member j: D_j = min(D_{j−1} + Geometric, n − k). Column 0
    holds P(D_j = d), column 1 E[D_1 + … + D_j; D_j = d].
    """
    most = n - k
    offset = k * (k - 1) / 2
    if p == 0:
        return k * most + offset, 0.0
    if k * (1 - p) + 12 * np.sqrt(k * (1 - p)) + 40 < most * p:  # the others never run out
        return k * (k + 1) / (2 * p) - k, (1 - p) / p**2 * k * (k + 1) * (2 * k + 1) / 6
    d = np.arange(most + 1.0)
    band = np.stack((np.ones(most), np.full(most, p - 1)))
    state = np.zeros((most + 1, 2))
    state[0, 0] = 1.0
    second = 0.0
    for _ in range(k):
        moved = np.empty_like(state)
        moved[:most] = solve_banded((1, 0), band, p * state[:most], check_finite=False)
        moved[most] = np.maximum(state.sum(axis=0) - moved[:most].sum(axis=0), 0.0)
        second += float(d @ (2 * moved[:, 1] + d * moved[:, 0]))
        moved[:, 1] += d * moved[:, 0]
        state = moved
    first = state[:, 1].sum()
    return float(first + offset), float(max(second - first**2, 0.0))


# ---------------------------------------------------------------------- an ensemble


def useful_in_ensemble(weak: Weak, n: int, k: int, u: int, m: int) -> np.ndarray:
    """P(B = b) for the k features with the smallest sums over m runs, ties broken at random.

    Sums of different features are taken as independent first. Their true covariances differ: a
    ranking has a fixed total, and S_m a fixed size, so that the mean sums of the useful and of the
    other features vary together, and less or more than those of independent ones. The difference,
    a 2 × 2 matrix, is split into directions λ·vvᵀ. Along each, the distributions of both kinds are
    tilted by ±√|λ|·v, and sign(λ) times (what two equally likely tilts give, less what
    independent features with the mean of the tilted distributions give) is added.
    """
    if u == n:
        return np.asarray(np.arange(k + 1) == k, dtype=float)
    width = max(1, min(m * len(weak.useful) // MOST_POINTS, len(weak.useful) // 50))
    kinds = [_Sum(_binned(pmf, width), m) for pmf in (weak.useful, weak.other)]
    counts = np.array([u, n - u], dtype=float)
    variances = np.array([kind.variance for kind in kinds])
    reached = np.cumsum(counts @ np.stack([kind.pmf for kind in kinds]))
    last = int(np.searchsorted(reached, k + _reach(k))) + 1
    useful = _smallest([kind.pmf[:last] for kind in kinds], n, k, u)

    balance = np.array([1.0, -u / (n - u)])  # the total is fixed
    excess = weak.spread / width**2 * np.outer(balance, balance) - np.diag(variances / counts)
    fixed = variances < 1e-9
    scale = np.where(fixed, 0.0, 1 / np.sqrt(np.where(fixed, 1.0, variances)))
    values, directions = np.linalg.eigh(excess * np.outer(scale, scale))
    for value, direction in zip(values, directions.T, strict=True):
        tilts = np.sqrt(abs(value) / m) * direction * scale
        up, down = (
            [kind.tilted(sign * tilt, last) for kind, tilt in zip(kinds, tilts, strict=True)]
            for sign in (1, -1)
        )
        mixed = [(a + b) / 2 for a, b in zip(up, down, strict=True)]
        together = (_smallest(up, n, k, u) + _smallest(down, n, k, u)) / 2
        useful = useful + np.sign(value) * (together - _smallest(mixed, n, k, u))
    useful = np.maximum(useful, 0.0)
    return np.asarray(useful / useful.sum())


class _Sum:
    """What m runs add up to for one feature of a kind."""

    def __init__(self, single: np.ndarray, m: int) -> None:
        x = np.arange(len(single), dtype=float)
        self.single, self.m = single, m
        self.mean = float(single @ x)  # of one run
        self.variance = float(single @ (x - self.mean) ** 2)
        length = m * (len(single) - 1) + 1
        size = fft.next_fast_len(length, real=True)
        pmf = fft.irfft(fft.rfft(single, size) ** m, size)[:length]
        pmf[pmf < 8 * np.finfo(float).eps] = 0.0  # noise, which tilting would amplify
        self.pmf = pmf / pmf.sum()

    def tilted(self, tilt: float, last: int) -> np.ndarray:
        """pmf(x)·exp(tilt·x) of the first values, scaled to be a distribution over all."""

        def weights(length: int, centre: float) -> np.ndarray:
            return np.asarray(np.exp(np.clip(tilt * (np.arange(length) - centre), -50, 50)))

        norm = self.single @ weights(len(self.single), self.mean)
        first = self.pmf[:last]
        return np.asarray(first * weights(len(first), self.m * self.mean) / norm**self.m)


def _reach(k: int) -> float:
    """How far the number of features below the cut can be from k."""
    return float(8 * np.sqrt(k) + 10)


def _binned(pmf: np.ndarray, width: int) -> np.ndarray:
    """Put 0, 1, 2, … into bins of a width, each point shared by the two nearest: same mean."""
    if width == 1:
        return pmf
    place = np.arange(len(pmf)) / width
    low = place.astype(np.intp)
    length = int(low[-1]) + 2
    upper = np.bincount(low + 1, weights=pmf * (place - low), minlength=length)
    return np.asarray(np.bincount(low, weights=pmf * (1 - place + low), minlength=length) + upper)


def _smallest(sums: list[np.ndarray], n: int, k: int, u: int) -> np.ndarray:
    """P(b of the k smallest of n independent values are useful).

    With F₁, F₀ the shares below a value, C(u, b) F₁^b (1−F₁)^(u−b) · C(n−u, k−b) F₀^(k−b) … is the
    chance that b useful and k − b others are below it, and (b·dF₁/F₁ + (k−b)·dF₀/F₀) that the
    largest of them is at it. A tie is broken at random: within one value F₁ and F₀ rise linearly.
    """
    below = [np.concatenate(([0.0], np.cumsum(pmf))) for pmf in sums]
    expected = u * below[0] + (n - u) * below[1]
    low, high = max(0.0, k - _reach(k)), min(float(n), k + _reach(k))
    grid = np.linspace(low, high, 129)
    # where one kind begins or ends, the other hardly rises: no cell may straddle that
    for share, size in zip(below, (u, n - u), strict=True):
        few = np.searchsorted(share, np.concatenate((TAIL / size, 1 - TAIL / size)))
        grid = np.append(grid, expected[np.minimum(few, len(expected) - 1)])
    if len(expected) < 200:
        grid = np.append(grid, expected)
    grid = np.unique(np.clip(grid, low, high))
    b = np.arange(k + 1.0)
    total = np.zeros(k + 1)
    constant = log_binomial(u, b) + log_binomial(n - u, k - b)
    ends = [np.interp(grid, expected, share) for share in below]
    rises = [np.diff(end)[:, None] for end in ends]
    for place in (0.5 - 12**-0.5, 0.5 + 12**-0.5):  # Gauss, two points
        f1, f0 = (
            np.clip(end[:-1] + place * np.diff(end), 1e-300, 1 - 1e-16)[:, None] for end in ends
        )
        log_chance = (
            constant + b * np.log(f1) + (u - b) * np.log1p(-f1)
            + (k - b) * np.log(f0) + (n - u - k + b) * np.log1p(-f0)
        )  # fmt: skip
        at_last = b * rises[0] / f1 + (k - b) * rises[1] / f0
        total += (np.exp(np.minimum(log_chance, 0.0)) * at_last).sum(axis=0) / 2
    return np.asarray(total / total.sum())


def useful_in_the_limit(weak: Weak, n: int, k: int, u: int) -> np.ndarray:
    """P(B = b) in the limit: the kind of features with the smaller mean is selected first."""
    x = np.arange(len(weak.useful))
    lead = weak.other @ x - weak.useful @ x
    if u < n and abs(lead) <= 1e-9 * len(x):
        return np.asarray(hypergeometric(n, k, np.array([u]))[0])
    b = k if lead > 0 or u == n else max(0, k - (n - u))
    return np.asarray(np.arange(k + 1) == b, dtype=float)
