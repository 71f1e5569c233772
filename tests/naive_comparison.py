"""Slow, obvious twins of what `mainstay.comparison` computes."""

from __future__ import annotations

import math
from itertools import permutations

from scipy.stats import t as student


def dominates(a: list[float], b: list[float]) -> bool:
    no_worse = all(x >= y for x, y in zip(a, b, strict=True))
    return no_worse and any(x > y for x, y in zip(a, b, strict=True))


def pareto_front(points: list[list[float]]) -> list[bool]:
    """Compare every point with every other."""
    known = [not any(math.isnan(x) for x in point) for point in points]
    return [
        known[i]
        and not any(known[j] and dominates(points[j], points[i]) for j in range(len(points)))
        for i in range(len(points))
    ]


def corrected_t(differences: list[float], test_per_train: float) -> tuple[float, float]:
    """Statistic and two-sided p-value of Nadeau and Bengio (2003)."""
    n = len(differences)
    mean = sum(differences) / n
    variance = sum((d - mean) ** 2 for d in differences) / (n - 1)
    statistic = mean / math.sqrt((1 / n + test_per_train) * variance)
    return statistic, 2 * student.sf(abs(statistic), n - 1)


def holm(p_values: list[float]) -> list[float]:
    """The largest of what each smaller (or equal) p-value is times those not yet rejected."""
    n = len(p_values)
    order = sorted(range(n), key=lambda i: p_values[i])
    steps = [min(1.0, p_values[i] * (n - place)) for place, i in enumerate(order)]
    return [max(steps[: order.index(i) + 1]) for i in range(n)]


def choose(
    values: list[tuple[float, ...]], errors: list[tuple[float, ...]], tolerance: float
) -> set[int]:
    """All candidates that the rule allows: criteria in the order of the columns."""
    left = set(range(len(values)))
    for c in range(len(values[0])):
        best = min((i for i in sorted(left)), key=lambda i: (-values[i][c], i))
        left = {i for i in left if values[i][c] >= values[best][c] - tolerance * errors[best][c]}
    order = (len(values[0]) - 1, *range(len(values[0]) - 1))
    best_key = max(tuple(values[i][c] for c in order) for i in left)
    return {i for i in left if tuple(values[i][c] for c in order) == best_key}


ORDERS = list(permutations(("score", "stability", "size")))
