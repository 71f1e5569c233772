"""Naive twins of the subspace formulas: products, loops and sums over all subsets, as printed.

Huynh-Thu and Geurts (2021), "Optimizing model-agnostic random subspace ensembles"; equation numbers
are theirs. Nothing of the library is imported. A subset is a sequence of 0 and 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product

import numpy as np

Vector = Sequence[float] | np.ndarray
Loss = Callable[[float, float], float]
CLIP = 1e-6


def clipped(alpha: float) -> float:
    return min(max(float(alpha), CLIP), 1 - CLIP)


def probability(z: Vector, alpha: Vector) -> float:
    """Equation 1, with α kept from 0 and 1."""
    return math.prod(
        clipped(a) if used else 1 - clipped(a) for used, a in zip(z, alpha, strict=True)
    )


def weight(z: Vector, beta: Vector, alphas: Sequence[Vector], sizes: Sequence[int]) -> float:
    """The weight of equation 18: p(z|β) over the mixture of the references."""
    total = sum(sizes)
    mixture = sum(
        size / total * probability(z, alpha) for size, alpha in zip(sizes, alphas, strict=True)
    )
    return probability(z, beta) / mixture


def averages(
    predictions: np.ndarray, weights: Sequence[float], *, self_normalized: bool
) -> list[float]:
    """Equation 18 for every row; a model that was trained on a row (NaN) does not count there."""
    out = []
    for i in range(predictions.shape[1]):
        models = [t for t in range(len(weights)) if not math.isnan(predictions[t, i])]
        total = sum(weights[t] for t in models) if self_normalized else len(models)
        out.append(sum(weights[t] * predictions[t, i] for t in models) / total)
    return out


def objective(
    Z: np.ndarray,
    predictions: np.ndarray,
    target: Vector,
    loss: Loss,
    beta: Vector,
    alphas: Sequence[Vector],
    sizes: Sequence[int],
    *,
    self_normalized: bool = False,
    row_weight: Vector | None = None,
) -> float:
    """Equation 3, with the expectation estimated by equation 18."""
    weights = [weight(z, beta, alphas, sizes) for z in Z]
    found = averages(predictions, weights, self_normalized=self_normalized)
    rows = [1.0] * len(found) if row_weight is None else row_weight
    losses = [r * loss(y, e) for r, y, e in zip(rows, target, found, strict=True)]
    return math.fsum(losses) / math.fsum(rows)


def paper_gradient(
    Z: np.ndarray,
    predictions: np.ndarray,
    target: Vector,
    slope: Loss,
    beta: Vector,
    alphas: Sequence[Vector],
    sizes: Sequence[int],
) -> list[float]:
    """Algorithm 3: a loop over features, rows and models, without feature j in the products."""
    n = predictions.shape[1]
    weights = [weight(z, beta, alphas, sizes) for z in Z]
    slopes = [
        slope(y, e)
        for y, e in zip(target, averages(predictions, weights, self_normalized=False), strict=True)
    ]
    out = []
    for j in range(Z.shape[1]):
        groups = [[t for t in range(len(Z)) if Z[t, j] == used] for used in (0, 1)]
        if not groups[0] or not groups[1]:
            out.append(0.0)
            continue
        rest = [
            weight(
                np.delete(z, j),
                np.delete(beta, j),
                [np.delete(alpha, j) for alpha in alphas],
                sizes,
            )
            for z in Z
        ]
        without, with_it = (
            [sum(rest[t] * predictions[t, i] for t in group) / len(group) for i in range(n)]
            for group in groups
        )
        out.append(math.fsum(s * (b - a) for s, a, b in zip(slopes, without, with_it, strict=True)))
    return [value / n for value in out]


# --- all subsets --------------------------------------------------------------------------------


def all_subsets(n_features: int) -> np.ndarray:
    """All 2^M subsets."""
    return np.array(list(product([False, True], repeat=n_features)))


def exact_objective(predictions: np.ndarray, target: Vector, loss: Loss, alpha: Vector) -> float:
    """Equations 2 and 3: one model per subset, in the order of `all_subsets`."""
    subsets = all_subsets(len(alpha))
    chances = [probability(z, alpha) for z in subsets]
    found = [math.fsum(p * f for p, f in zip(chances, column, strict=True))
             for column in predictions.T]  # fmt: skip
    return math.fsum(loss(y, e) for y, e in zip(target, found, strict=True)) / len(found)


def exact_gradient(
    predictions: np.ndarray, target: Vector, slope: Loss, alpha: Vector
) -> list[float]:
    """Equations 5, 7 and 10: sums over all subsets with and without each feature."""
    subsets = all_subsets(len(alpha))
    chances = [probability(z, alpha) for z in subsets]
    found = [math.fsum(p * f for p, f in zip(chances, column, strict=True))
             for column in predictions.T]  # fmt: skip
    slopes = [slope(y, e) for y, e in zip(target, found, strict=True)]
    out = []
    for j in range(len(alpha)):
        rest = [probability(np.delete(z, j), np.delete(alpha, j)) for z in subsets]
        signs = [1 if z[j] else -1 for z in subsets]
        change = [
            math.fsum(s * p * f for s, p, f in zip(signs, rest, column, strict=True))
            for column in predictions.T
        ]
        out.append(math.fsum(s * c for s, c in zip(slopes, change, strict=True)) / len(slopes))
    return out


def finite_differences(
    function: Callable[[np.ndarray], float], at: Vector, step: float = 1e-6
) -> list[float]:
    """Central differences, one coordinate after the other."""
    out = []
    for j in range(len(at)):
        up, down = np.array(at, dtype=float), np.array(at, dtype=float)
        up[j] += step
        down[j] -= step
        out.append((function(up) - function(down)) / (2 * step))
    return out
