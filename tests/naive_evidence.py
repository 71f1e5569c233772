"""Naive twins of the null by permutation: loops over permutations, features and thresholds.

Written from the formulas alone; nothing of `mainstay.reliability` is imported. `observed` is a list
of p statistics, `null` a list of m such lists.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations
from typing import Any

import numpy as np

Values = Sequence[float]
Rows = Sequence[Sequence[float]]


def exact_p_values(observed: Values, null: Rows) -> list[float]:
    """Each feature against itself."""
    out = []
    for j, value in enumerate(observed):
        reached = sum(1 for row in null if row[j] >= value)
        out.append((1 + reached) / (1 + len(null)))
    return out


def family_wise_p_values(observed: Values, null: Rows) -> list[float]:
    """Each feature against the strongest of every permuted target."""
    out = []
    for value in observed:
        reached = sum(1 for row in null if max(row) >= value)
        out.append((1 + reached) / (1 + len(null)))
    return out


def expected_false(observed: Values, null: Rows) -> list[float]:
    """Features of all targets, the real one included, that reach each one, a target."""
    out = []
    for value in observed:
        reached = sum(1 for row in [observed, *null] for other in row if other >= value)
        out.append(reached / (1 + len(null)))
    return out


def q_values(observed: Values, null: Rows) -> list[float]:
    """Smallest estimated share of false features over all lists that hold the feature."""
    out = []
    for value in observed:
        rates = [1.0]
        for threshold in observed:
            if threshold <= value:
                named = sum(1 for other in observed if other >= threshold)
                reached = sum(1 for row in null for other in row if other >= threshold)
                rates.append((reached + 1) / len(null) / named)
        out.append(min(rates))
    return out


def list_p_value(observed: Values, null: Rows, standardise: bool = False) -> float:
    """Rank of the real target's smallest rate among those of all targets."""
    targets = [list(observed), *[list(row) for row in null]]
    if standardise:
        targets = standardised_by_others(targets)
    pooled = [value for row in targets for value in row]
    smallest = []
    for row in targets:
        rates = []
        for threshold in row:
            named = sum(1 for other in row if other >= threshold)
            rates.append(sum(1 for value in pooled if value >= threshold) / named)
        smallest.append(min(rates))
    return sum(1 for rate in smallest if rate <= smallest[0]) / len(targets)


def standardised_by_others(targets: Rows) -> list[list[float]]:
    """Every target's statistics in standard deviations of the other targets' ones."""
    means = [[0.0] * len(targets[0]) for _ in targets]
    sds = [[0.0] * len(targets[0]) for _ in targets]
    for i in range(len(targets)):
        for j in range(len(targets[0])):
            others = [row[j] for k, row in enumerate(targets) if k != i]
            means[i][j] = float(np.mean(others))
            sds[i][j] = float(np.std(others, ddof=1))
    typical = float(np.median(sds))
    least = 0.1 * typical if typical > 0 else 1.0
    return [
        [(value - means[i][j]) / max(sds[i][j], least) for j, value in enumerate(row)]
        for i, row in enumerate(targets)
    ]


def strongest_of_groups(values: Values, labels: Sequence[int]) -> list[float]:
    """Largest statistic among the members of every group."""
    return [
        max(value for value, label in zip(values, labels, strict=True) if label == group)
        for group in sorted(set(labels))
    ]


def different_targets(y: Sequence[Any], blocks: Sequence[Any]) -> set[tuple[Any, ...]]:
    """All targets that come of moving labels within blocks, by trying every order of the rows."""
    found = set()
    for order in permutations(range(len(y))):
        if all(blocks[i] == blocks[j] for i, j in enumerate(order)):
            found.add(tuple(y[j] for j in order))
    return found


def permutation_test(
    scores_of: Callable[[np.ndarray], np.ndarray],
    y: np.ndarray,
    n_permutations: int,
    rng: np.random.Generator,
) -> tuple[list[float], list[float]]:
    """The whole thing: exact and family-wise p-values of what `scores_of(target)` gives."""
    observed = scores_of(y).tolist()
    null = [scores_of(rng.permutation(y)).tolist() for _ in range(n_permutations)]
    return exact_p_values(observed, null), family_wise_p_values(observed, null)
