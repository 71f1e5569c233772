"""Naive twins of the null by permutation: loops over permutations, features and thresholds.

Written from the formulas alone; nothing of `mainstay.reliability` is imported. `observed` is a list
of p statistics, `null` a list of m such lists.
"""

from __future__ import annotations

import math
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
    least = _least_sd(sds)
    own = share_beyond_luck(targets)
    out = []
    for i, row in enumerate(targets):
        logs = [math.log(max(sd, least)) for sd in sds[i]]
        common = sum(logs) / len(logs)
        out.append(
            [
                (value - means[i][j]) / math.exp(own * logs[j] + (1 - own) * common)
                for j, value in enumerate(row)
            ]
        )
    return out


def share_beyond_luck(targets: Rows) -> float:
    """Share of the variance of log standard deviations that sampling error does not explain."""
    columns = [[row[j] for row in targets] for j in range(len(targets[0]))]
    sds = [float(np.std(column)) for column in columns]
    varying = [(column, sd) for column, sd in zip(columns, sds, strict=True) if sd > 0]
    if len(varying) < 2:
        return 1.0
    least = _least_sd(sds)
    spread = float(np.var([math.log(max(sd, least)) for sd in sds], ddof=1))
    if spread == 0:
        return 0.0
    errors = []
    for column, sd in varying:
        centre = sum(column) / len(column)
        kurtosis = sum((value - centre) ** 4 for value in column) / len(column) / sd**4
        errors.append((kurtosis - 1) / (4 * len(column)))
    return max(0.0, 1 - sum(errors) / len(errors) / spread)


def _least_sd(sds: Any) -> float:
    typical = float(np.median(sds))
    return 0.1 * typical if typical > 0 else 1.0


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
