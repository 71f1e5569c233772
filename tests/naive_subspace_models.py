"""Naive twins of the compiled base models: literal loops over explicitly repeated rows.

A bootstrap sample is a list of row numbers in which rows repeat, in ascending order. Everything is
computed model by model, fold by fold, held-out row by held-out row; nothing of the library is
imported. Support vector machines are scikit-learn's own, fitted to the repeated rows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

Draws = Sequence[tuple[np.ndarray, np.ndarray]]  # counts and held-out rows of every fold
Predict = Callable[[list[int], list[int], list[int]], Sequence[float]]  # bag, held, features
MASK = 2**64 - 1


# --- random numbers -----------------------------------------------------------------------------
def splitmix(seed: int) -> Callable[[], int]:
    """64 random bits at a time (Steele, Lea, Flood 2014), from a scrambled seed."""

    def mixed(z: int) -> int:
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    state = mixed((seed + 0x9E3779B97F4A7C15) & MASK)

    def following() -> int:
        nonlocal state
        state = (state + 0x9E3779B97F4A7C15) & MASK
        return mixed(state)

    return following


def draws(seed: int, n: int, n_folds: int) -> list[tuple[list[int], list[int]]]:
    """Bootstrap sample and held-out rows of every fold; n_folds = 0: out of bag."""
    following = splitmix(seed)

    def below(k: int) -> int:
        return ((following() >> 32) * k) >> 32

    rows = list(range(n))
    if n_folds == 0:
        bag = [rows[below(n)] for _ in rows]
        return [(sorted(bag), [i for i in rows if i not in bag])]
    for i in range(n - 1, 0, -1):
        j = below(i + 1)
        rows[i], rows[j] = rows[j], rows[i]
    out, start = [], 0
    for f in range(n_folds):
        stop = start + n // n_folds + (1 if f < n % n_folds else 0)
        others = rows[:start] + rows[stop:]
        out.append((sorted(others[below(len(others))] for _ in others), rows[start:stop]))
        start = stop
    return out


# --- one model after another --------------------------------------------------------------------
def held_out(
    predict: Predict, y: np.ndarray, n_classes: int, Z: np.ndarray, drawn: Sequence[Draws]
) -> np.ndarray:
    """Models × rows: what `predict` says of held-out rows; constants where it cannot learn."""
    out = np.full((len(Z), len(y)), np.nan)
    for t, used in enumerate(Z):
        features = [int(j) for j in np.flatnonzero(used)]
        for counts, held in drawn[t]:
            bag = [i for i, times in enumerate(counts) for _ in range(times)]
            found = Counter(y[i] for i in bag)
            if not features or (n_classes > 0 and len(found) == 1):
                out[t, held] = constant([y[i] for i in bag], n_classes)
            elif len(held):
                out[t, held] = predict(bag, [int(i) for i in held], features)
    return out


def constant(values: Sequence[float], n_classes: int) -> float:
    """Mean, or the most frequent class (the lowest of several)."""
    if n_classes == 0:
        return math.fsum(values) / len(values)
    counts = Counter(values)
    return min(counts, key=lambda c: (-counts[c], c))


def own_share(values: Sequence[float], own: float) -> float:
    """Share of the values that equal a row's own class."""
    return sum(v == own for v in values) / len(values)


# --- nearest neighbours -------------------------------------------------------------------------
def knn(X: np.ndarray, y: np.ndarray, n_classes: int, k: int, soft: bool = False) -> Predict:
    """Vote or mean of the k nearest; of equally near rows the first."""

    def predict(bag: list[int], held: list[int], features: list[int]) -> list[float]:
        out = []
        for i in held:
            near = sorted(bag, key=lambda b: (sum((X[i, j] - X[b, j]) ** 2 for j in features), b))
            values = [y[b] for b in near[:k]]
            out.append(own_share(values, y[i]) if soft else constant(values, n_classes))
        return out

    return predict


# --- decision trees -----------------------------------------------------------------------------
def purity(values: list[int], n_classes: int) -> Fraction:
    """n − n × Gini, or n × mean²: children with a larger sum of it are better."""
    if n_classes == 0:
        return Fraction(sum(values) ** 2, len(values))
    return Fraction(sum(c * c for c in Counter(values).values()), len(values))


def tree(
    X: np.ndarray,
    y: np.ndarray,
    n_classes: int,
    max_depth: float = math.inf,
    min_samples_split: int = 2,
    min_samples_leaf: int = 1,
    soft: bool = False,
) -> Predict:
    """CART on float32 features, for a target of whole numbers, whose gains are exact fractions.

    Of equally good splits the first feature's is taken, with the lowest threshold.
    """
    x, same = X.astype(np.float32), np.float32(1e-7)
    target = [int(value) for value in y]

    def splits(bag: list[int], features: list[int]) -> list[tuple[Fraction, int, float]]:
        found = []
        for j in features:
            ordered = sorted(bag, key=lambda i: (x[i, j], i))
            for p in range(1, len(ordered)):
                low, high = x[ordered[p - 1], j], x[ordered[p], j]
                if high <= low + same or min(p, len(ordered) - p) < min_samples_leaf:
                    continue
                left, right = [target[i] for i in ordered[:p]], [target[i] for i in ordered[p:]]
                pure = purity(left, n_classes) + purity(right, n_classes)
                found.append((pure, j, float(low) / 2 + float(high) / 2))
        return found

    def grow(bag: list[int], features: list[int], depth: int) -> tuple[Any, ...]:
        small = len(bag) < max(min_samples_split, 2 * min_samples_leaf)
        pure = len({target[i] for i in bag}) == 1
        found = [] if depth >= max_depth or small or pure else splits(bag, features)
        if not found:
            return ([target[i] for i in bag],)
        _, j, threshold = max(found, key=lambda split: split[0])  # the first of several
        left = grow([i for i in bag if x[i, j] <= threshold], features, depth + 1)
        return (
            j,
            threshold,
            left,
            grow([i for i in bag if x[i, j] > threshold], features, depth + 1),
        )

    def predict(bag: list[int], held: list[int], features: list[int]) -> list[float]:
        root, out = grow(bag, features, 0), []
        for i in held:
            node = root
            while len(node) > 1:
                node = node[2] if x[i, node[0]] <= node[1] else node[3]
            out.append(own_share(node[0], target[i]) if soft else constant(node[0], n_classes))
        return out

    return predict


# --- scikit-learn itself ------------------------------------------------------------------------
def fitted(estimator: Any, X: np.ndarray, y: np.ndarray, method: str = "predict") -> Predict:
    """Any scikit-learn estimator, fitted to the repeated rows."""
    from sklearn.base import clone

    def predict(bag: list[int], held: list[int], features: list[int]) -> Sequence[float]:
        model = clone(estimator).fit(X[bag][:, features], y[bag])
        return np.asarray(getattr(model, method)(X[held][:, features]), dtype=float)

    return predict
