"""Naive twins of the aggregations: plain loops and exact fractions, nothing of the library."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, permutations
from typing import TypeVar

Number = TypeVar("Number", float, Fraction)


def binomial_tail(k: int, m: int, x: Fraction) -> Fraction:
    """P(at least k of m uniforms are below x)."""
    return sum((math.comb(m, i) * x**i * (1 - x) ** (m - i) for i in range(k, m + 1)), Fraction(0))


def rho(r: Sequence[Fraction]) -> Fraction:
    """RRA: the smallest of P(U_(k) <= r_(k))."""
    m = len(r)
    return min(
        (binomial_tail(k, m, x) for k, x in enumerate(sorted(r), start=1)), default=Fraction(1)
    )


def stuart_recursion(r: Sequence[Number]) -> Number:
    """Q by the classical alternating recursion: right with fractions, not with floats."""
    ordered, m, one = sorted(r), len(r), type(r[0])(1)
    v = [one]
    for k in range(1, m + 1):
        x = ordered[m - k]
        terms = [(-1) ** (i - 1) * v[k - i] * x**i / math.factorial(i) for i in range(1, k + 1)]
        v.append(sum(terms, type(r[0])(0)))
    return v[m] * math.factorial(m)


def stuart_by_counting(r: Sequence[Fraction]) -> Fraction:
    """Q by counting how many uniforms fall below each rank: at least k below the k-th."""
    ordered, m = sorted(r), len(r)
    states, before = {0: Fraction(1)}, Fraction(0)  # P(n below, all well so far)
    for k, x in enumerate(ordered, start=1):
        share = (x - before) / (1 - before) if before < 1 else Fraction(0)
        after: dict[int, Fraction] = {}
        for n, probability in states.items():
            for s in range(m - n + 1):
                moved = math.comb(m - n, s) * share**s * (1 - share) ** (m - n - s)
                after[n + s] = after.get(n + s, Fraction(0)) + probability * moved
        states = {n: value for n, value in after.items() if n >= k}
        before = x
    return sum(states.values(), Fraction(0))


def rra_p_value(quantiles: Sequence[float]) -> Fraction:
    """P(U_(k) <= x_k for some k), x_k the rho-quantile of U_(k)."""
    return 1 - stuart_recursion([1 - Fraction(x) for x in quantiles])


def log_of(x: Fraction) -> float:
    """Natural log of a fraction that may be too small for a float."""
    shift = x.numerator.bit_length() - x.denominator.bit_length()
    return math.log(float(x / Fraction(2) ** shift)) + shift * math.log(2)


def cut_rho(r: Sequence[float], cutoff: Sequence[float]) -> float:
    """RRA with cut-offs: at least k of the events with probabilities min(x_k, s_i)."""
    best = 1.0
    for k, x in enumerate(sorted(value for value in r if value < 1), start=1):
        happened = [1.0]
        for s in cutoff:
            q = min(x, s)
            happened = [
                a * (1 - q) + b * q for a, b in zip([*happened, 0], [0, *happened], strict=True)
            ]
        best = min(best, sum(happened[k:]))
    return best


def mean_over_tie_breaks(ranks: Sequence[float], values: Sequence[float]) -> list[float]:
    """Mean value of each feature's place over all strict orders that agree with the ranks."""
    p = len(ranks)
    sums, orders = [0.0] * p, 0
    for order in permutations(range(p)):
        if all(ranks[a] <= ranks[b] for a, b in pairwise(order)):
            orders += 1
            for place, feature in enumerate(order):
                sums[feature] += values[place]
    return [total / orders for total in sums]


def weighted_median(values: Sequence[float], weights: Sequence[int]) -> float:
    """The median after every value is repeated as often as its weight says."""
    repeated = sorted(v for v, w in zip(values, weights, strict=True) for _ in range(w))
    n = len(repeated)
    return (repeated[(n - 1) // 2] + repeated[n // 2]) / 2
