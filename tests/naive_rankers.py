"""Naive twins of the rankers: plain loops over repeated rows, written from the formulas alone.

Data are lists of columns; a resample is a list of row weights. Nothing of the library is imported.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from itertools import pairwise

Values = Sequence[Hashable]
Weights = Sequence[float]
FLOOR = 0.001


# --- tables -------------------------------------------------------------------------------------
def counts(weights: Weights, *columns: Values) -> dict[tuple[Hashable, ...], float]:
    """Total weight of every combination of values that occurs."""
    table: dict[tuple[Hashable, ...], float] = defaultdict(float)
    for row, weight in zip(zip(*columns, strict=True), weights, strict=True):
        if weight > 0:
            table[row] += weight
    return dict(table)


def sum_c_log_c(weights: Weights, *columns: Values) -> float:
    """Sum of c·log(c) over the joint table of some columns."""
    return math.fsum(c * math.log(c) for c in counts(weights, *columns).values())


def entropy(weights: Weights, *columns: Values) -> float:
    """Joint entropy of some columns, in nats."""
    total = math.fsum(weights)
    return -math.fsum(c / total * math.log(c / total) for c in counts(weights, *columns).values())


def information(weights: Weights, x: Values, y: Values) -> float:
    return max(entropy(weights, x) + entropy(weights, y) - entropy(weights, x, y), 0.0)


def chi_square(weights: Weights, x: Values, y: Values) -> float:
    """Pearson's statistic over rows and columns that are not empty."""
    total = math.fsum(weights)
    rows, columns, cells = counts(weights, x), counts(weights, y), counts(weights, x, y)
    if len(rows) < 2 or len(columns) < 2:
        return 0.0
    parts = []
    for (r,), row in rows.items():
        for (c,), column in columns.items():
            expected = row * column / total
            parts.append((cells.get((r, c), 0.0) - expected) ** 2 / expected)
    return math.fsum(parts)


def table_score(name: str, weights: Weights, x: Values, y: Values) -> float:
    """Score of a filter that reads the bins × classes table."""
    n_rows, n_columns = len(counts(weights, x)), len(counts(weights, y))
    if n_rows < 2 or n_columns < 2:
        return 0.0
    gain = information(weights, x, y)
    if name == "information_gain":
        return gain
    if name == "symmetric_uncertainty":
        return 2 * gain / (entropy(weights, x) + entropy(weights, y))
    if name == "gain_ratio":
        return gain / entropy(weights, x)
    chi2 = chi_square(weights, x, y)
    if name == "chi_square":
        return chi2
    if name == "cramers_v":
        return math.sqrt(chi2 / (math.fsum(weights) * (min(n_rows, n_columns) - 1)))
    raise ValueError(name)


# --- greedy selection ---------------------------------------------------------------------------
def term(name: str, weights: Weights, x: Values, w: Values, y: Values) -> float:
    """What one chosen feature w adds to the criterion of a candidate x."""
    if name in ("MID", "MIQ"):
        return information(weights, x, w)
    joint = entropy(weights, x, w) + entropy(weights, y) - entropy(weights, x, w, y)
    if name in ("jmi", "jmim"):
        return joint
    if name in ("disr", "njmim"):
        whole = entropy(weights, x, w, y)
        return joint / whole if whole > 0 else 0.0  # a resample of one row
    conditional = entropy(weights, x, w) + entropy(weights, w, y)
    return max(conditional - entropy(weights, w) - entropy(weights, x, w, y), 0.0)


def criterion(name: str, relevance: float, terms: list[float]) -> float:
    """The criterion of a candidate, from its relevance and its terms with the chosen features."""
    if not terms:
        return relevance
    if name in ("MID", "FCD"):
        return relevance - math.fsum(terms) / len(terms)
    if name in ("MIQ", "FCQ"):
        return relevance / (math.fsum(max(t, FLOOR) for t in terms) / len(terms))
    if name in ("jmi", "disr"):
        return math.fsum(terms)
    return min([relevance, *terms]) if name == "cmim" else min(terms)


def greedy_path_is_optimal(
    name: str, order: Sequence[int], columns: list[Values], y: Values, weights: Weights
) -> list[float]:
    """Follow an order of selection; fail if some step was not the best; return the criteria.

    Ties (up to rounding) may be broken either way; constant features come last.
    """
    constant = [len(counts(weights, x)) < 2 for x in columns]
    relevance = [0.0 if c else information(weights, x, y)
                 for x, c in zip(columns, constant, strict=True)]  # fmt: skip
    terms: list[list[float]] = [[] for _ in columns]
    left = set(range(len(columns)))
    reached = []
    for chosen in order:
        value = {j: criterion(name, relevance[j], terms[j]) for j in left}
        open_to_choice = [j for j in left if not constant[j]] or list(left)
        assert chosen in open_to_choice, "a constant feature came too early"
        assert value[chosen] >= max(value[j] for j in open_to_choice) - 1e-9
        reached.append(value[chosen])
        left.remove(chosen)
        for j in left:
            terms[j].append(term(name, weights, columns[j], columns[chosen], y))
    return reached


# --- moments ------------------------------------------------------------------------------------
def repeated(values: Sequence[float], weights: Sequence[int]) -> list[float]:
    return [v for v, w in zip(values, weights, strict=True) for _ in range(w)]


def average_ranks(values: Sequence[float]) -> list[float]:
    """1 = smallest; ties share the mean of their places."""
    return [1 + sum(o < v for o in values) + (sum(o == v for o in values) - 1) / 2 for v in values]


def correlation(a: Sequence[float], b: Sequence[float]) -> float:
    """Absolute Pearson correlation; 0 if one side is constant."""
    if len(set(a)) < 2 or len(set(b)) < 2:
        return 0.0
    mean_a, mean_b = math.fsum(a) / len(a), math.fsum(b) / len(b)
    up = math.fsum((x - mean_a) * (y - mean_b) for x, y in zip(a, b, strict=True))
    down = math.fsum((x - mean_a) ** 2 for x in a) * math.fsum((y - mean_b) ** 2 for y in b)
    return abs(up) / math.sqrt(down)


def anova_f(x: Sequence[float], y: Sequence[Hashable]) -> float:
    """F-statistic of one-way ANOVA; 0 where it is not defined."""
    groups = [[v for v, c in zip(x, y, strict=True) if c == label] for label in set(y)]
    if len(set(x)) < 2 or len(groups) < 2 or len(x) <= len(groups):
        return 0.0
    mean = math.fsum(x) / len(x)
    means = [math.fsum(g) / len(g) for g in groups]
    between = math.fsum(len(g) * (m - mean) ** 2 for g, m in zip(groups, means, strict=True))
    within = math.fsum((v - m) ** 2 for g, m in zip(groups, means, strict=True) for v in g)
    within = max(within, 1e-12 * (between + within))
    return (between / (len(groups) - 1)) / (within / (len(x) - len(groups)))


def weighted_sums(
    values: Sequence[Sequence[float]], weights: Sequence[Sequence[float]]
) -> list[list[float]]:
    """p × n values times n × b weights."""
    lanes = range(len(weights[0]))
    return [[math.fsum(v * weights[i][b] for i, v in enumerate(row)) for b in lanes]
            for row in values]  # fmt: skip


# --- bins ---------------------------------------------------------------------------------------
def width_codes(x: Sequence[float], bins: int) -> list[int]:
    low, high = min(x), max(x)
    if low == high:
        return [0] * len(x)
    return [min(math.floor((v - low) / (high - low) * bins), bins - 1) for v in x]


def mdl_cuts(x: Sequence[float], y: Sequence[Hashable]) -> list[float]:
    """Fayyad and Irani's cuts, by recursion over lists."""
    values = sorted(set(x))
    ones = [1.0] * len(x)
    k, h = len(set(y)), entropy(ones, y) / math.log(2)
    best = None
    for low, high in pairwise(values):
        left = [c for v, c in zip(x, y, strict=True) if v <= low]
        right = [c for v, c in zip(x, y, strict=True) if v > low]
        h_left = entropy([1.0] * len(left), left) / math.log(2)
        h_right = entropy([1.0] * len(right), right) / math.log(2)
        gain = h - (len(left) * h_left + len(right) * h_right) / len(x)
        if best is None or gain > best[0] + 1e-12:
            cost = k * h - len(set(left)) * h_left - len(set(right)) * h_right
            best = gain, (math.log2(len(x) - 1) + math.log2(3**k - 2) - cost) / len(x), low, high
    if best is None or best[0] <= best[1]:
        return []
    low_part = [(v, c) for v, c in zip(x, y, strict=True) if v <= best[2]]
    high_part = [(v, c) for v, c in zip(x, y, strict=True) if v >= best[3]]
    return [
        *mdl_cuts(*zip(*low_part, strict=True)),
        (best[2] + best[3]) / 2,
        *mdl_cuts(*zip(*high_part, strict=True)),
    ]


def cell_sums(cells, weights, n_cells):
    """Weight of every table cell, features × cells × resamples; weights: rows × resamples."""
    out = [[[0] * len(weights[0]) for _ in range(n_cells)] for _ in cells]
    for feature, of_rows in enumerate(cells):
        for row, cell in enumerate(of_rows):
            for resample, weight in enumerate(weights[row]):
                out[feature][cell][resample] += weight
    return out
