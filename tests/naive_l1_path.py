"""Naive twin of the L1 path: proximal gradient steps until nothing moves, one penalty at a time.

No working sets, no warm starts but the last coefficients, no second derivatives. Written from the
definition; nothing of the library is imported.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np


def standardised(X: np.ndarray) -> np.ndarray:
    """Columns with mean 0 and variance 1; constant ones are 0."""
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 1e-9, spread, np.inf)


def residual(Z: np.ndarray, y: np.ndarray, b0: float, b: np.ndarray, loss: str) -> np.ndarray:
    fit = b0 + Z @ b
    return y - (1 / (1 + np.exp(-fit)) if loss == "logistic" else fit)


def optimum(
    Z: np.ndarray, y: np.ndarray, penalty: float, loss: str, b0: float, b: np.ndarray
) -> tuple[float, np.ndarray]:
    """Minimise mean loss + penalty · Σ|b|, starting from (b0, b)."""
    curvature = np.linalg.eigvalsh(Z.T @ Z / len(y)).max() + 1
    step = (4 if loss == "logistic" else 1) / curvature
    for _ in range(200_000):
        r = residual(Z, y, b0, b, loss)
        forward = b + step * Z.T @ r / len(y)
        new = np.sign(forward) * np.maximum(np.abs(forward) - step * penalty, 0)
        moved = max(np.abs(new - b).max(), step * abs(r.mean()))
        b0, b = b0 + step * r.mean(), new
        if moved < 1e-11:
            return b0, b
    raise AssertionError("the naive path did not converge")


def entries(X: np.ndarray, y: np.ndarray, shares: np.ndarray, loss: str) -> np.ndarray:
    """Share of the largest penalty at which every column enters; 0 for those that do not."""
    Z = standardised(X)
    mean = y.mean()
    b0, b = float(np.log(mean / (1 - mean)) if loss == "logistic" else mean), np.zeros(X.shape[1])
    size = np.abs(Z.T @ (y - mean)) / len(y)
    largest = size.max()
    out = np.where(size >= largest * (1 - 1e-5), 1.0, 0.0)
    for before, share in pairwise(shares):
        b0, b = optimum(Z, y, share * largest, loss, b0, b)
        now = np.abs(Z.T @ residual(Z, y, b0, b, loss)) / len(y)
        new = (out == 0) & (now >= share * largest * (1 - 1e-5))
        out[new] = np.clip((size[new] / largest + before) / 2, share, before)
        size = now
    return out
