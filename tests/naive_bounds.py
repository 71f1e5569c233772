"""Naive twins of the bounds from complementary pairs: fractions, scans and loops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction


# --- three bounds ---------------------------------------------------------------------------------
def meinshausen_buehlmann(p: int, q: Fraction, n_pairs: int, count: int) -> Fraction | None:
    tau = Fraction(count, 2 * n_pairs)
    return q**2 / ((2 * tau - 1) * p) if tau > Fraction(1, 2) else None


def unimodal(p: int, q: Fraction, n_pairs: int, count: int) -> Fraction | None:
    tau, theta, one_run = Fraction(count, 2 * n_pairs), q / p, Fraction(1, 2 * n_pairs)
    if tau <= Fraction(1, 2) or theta**2 > Fraction(1, 3):
        return None
    if tau <= Fraction(3, 4):
        if tau < Fraction(1, 2) + min(theta**2, one_run + Fraction(3, 4) * theta**2):
            return None
        return q**2 / (p * 2 * (2 * tau - 1 - one_run))
    return q**2 / (p * (1 + 2 * one_run) / (4 * (1 - tau + one_run)))


def r_concave(p: int, q: float, n_pairs: int, count: int, n_between: int = 12) -> float:
    theta = q / p
    both = largest_tail(theta**2, count - n_pairs, n_pairs, -0.5, n_between)
    return p * min(1.0, both, largest_tail(theta, count, 2 * n_pairs, -0.25, n_between))


def largest_tail(eta: float, t: int, n: int, r: float, n_between: int = 12) -> float:
    """D(η, t, N, r): the largest tail over all k and a scan of a between a_{k+1} and a_k."""
    mean, s = eta * n, 1 / r
    if t <= 0 or t <= math.ceil(2 * mean - 1e-9):
        return 1.0
    if mean == 0:
        return 0.0
    best = 0.0
    for k in range(t - 1, n):
        low, high = offset(mean, k + 1, s), offset(mean, k, s)
        for step in range(n_between + 1):
            a = low * (high / low) ** (step / n_between)
            below = sum((1 + i / a) ** s for i in range(t))
            whole = sum((k + 1 - i) * (1 + i / a) ** s for i in range(k + 1))
            best = max(best, 1 - (k + 1 - mean) * below / whole)
    return best


def offset(mean: float, k: int, s: float) -> float:
    """The a for which weights (a + i)^s on 0..k have the mean, by bisection; at most 10^9."""
    low, high = 1e-9, 1e9
    for _ in range(100):
        a = math.sqrt(low * high)
        weights = [(1 + i / a) ** s for i in range(k + 1)]
        at = sum(i * weight for i, weight in enumerate(weights)) / sum(weights)
        low, high = (a, high) if at < mean else (low, a)
    return math.sqrt(low * high)


# --- integrated paths -----------------------------------------------------------------------------
def h(share: float, power: int) -> float:
    return (2 * share - 1) ** power if share > 0.5 else 0.0


def expected(q: float, p: int, n_pairs: int, power: int) -> float:
    """Expected h_m of features selected as often as lots would be, times p."""
    b = n_pairs
    return {
        1: q**2 / p,
        2: q**2 / (p * b) + (b - 1) * q**4 / (b * p**3),
        3: q**2 / (p * b**2)
        + 3 * (b - 1) * q**4 / (p**3 * b**2)
        + (b - 1) * (b - 2) * q**6 / (p**5 * b**2),
    }[power]


def ipss(
    selected: Sequence[Sequence[set[int]]],
    weights: Sequence[float],
    p: int,
    power: int,
    cutoff: float,
) -> tuple[list[float], float, int]:
    """Expected false features of every feature, from the set of every run at every point."""
    n_runs = len(selected[0])
    integral, scores, n_points = 0.0, [0.0] * p, 0
    for runs, weight in zip(selected, weights, strict=True):
        q = sum(len(run) for run in runs) / n_runs
        more = weight * expected(q, p, n_runs // 2, power)
        if integral + more > cutoff:
            break
        integral += more
        n_points += 1
        for j in range(p):
            share = sum(j in run for run in runs) / n_runs
            scores[j] += weight * h(share, power)
    efp = [min(p, integral / score) if score > 0 else float(p) for score in scores]
    return efp, integral, n_points


def q_values(efp: Sequence[float]) -> list[float]:
    ratios = {t: t / sum(other <= t for other in efp) for t in efp}
    return [min(ratio for t, ratio in ratios.items() if t >= mine) for mine in efp]
