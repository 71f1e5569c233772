"""HSIC lasso, written to be obviously right: whole matrices, and one coefficient at a time."""

from __future__ import annotations

import math

import numpy as np


def kernel_vectors(
    X: list[list[float]], y: list[float], *, classes: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Centred kernel matrices of the features and of the target, as unit vectors of n² entries."""
    n = len(y)
    H = np.eye(n) - np.ones((n, n)) / n

    def unit(K: np.ndarray) -> np.ndarray:
        centred = H @ K @ H
        return np.asarray((centred / np.linalg.norm(centred)).ravel())

    def gaussian(x: np.ndarray) -> np.ndarray:
        z = (x - x.mean()) / x.std()
        return np.array([[math.exp(-((a - b) ** 2) / 2) for b in z] for a in z])

    features = np.array([unit(gaussian(column)) for column in np.array(X).T])
    if not classes:
        return features, unit(gaussian(np.array(y)))
    same = [[1 / y.count(a) if a == b else 0.0 for b in y] for a in y]
    return features, unit(np.array(same))


def non_negative_lasso(F: np.ndarray, target: np.ndarray, penalty: float) -> np.ndarray:
    """Minimise ½‖target − Σ a_j F_j‖² + penalty·Σ a_j over a ≥ 0, one coefficient after another."""
    a = np.zeros(len(F))
    for _ in range(100_000):
        before = a.copy()
        for j in range(len(F)):
            rest = target - a @ F + a[j] * F[j]
            a[j] = max(0.0, (F[j] @ rest - penalty) / (F[j] @ F[j]))
        if np.abs(a - before).max() < 1e-13:
            return a
    raise ArithmeticError("coordinate descent did not converge")
