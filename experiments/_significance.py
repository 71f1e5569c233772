"""Tests that the papers use and scipy lacks: repeated measures and all pairs, adjusted."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
from scipy import stats
from scipy.optimize import brentq


def repeated_measures_anova(values: pd.DataFrame, corrected: bool = True) -> tuple[float, float]:
    """F-test that all columns have the same mean, with one row per subject; F and p.

    F = MS(columns)/MS(residual) with k − 1 and (k − 1)(n − 1) degrees of freedom, both multiplied
    by Greenhouse and Geisser's ε, since differences of columns need not have equal variances. If it
    is not corrected, ε is 1.
    """
    x = values.to_numpy(dtype=float)
    n, k = x.shape
    rows, columns = x.mean(axis=1, keepdims=True), x.mean(axis=0, keepdims=True)
    between = n * ((columns - x.mean()) ** 2).sum() / (k - 1)
    residual = ((x - rows - columns + x.mean()) ** 2).sum() / ((k - 1) * (n - 1))
    centring = np.eye(k) - 1 / k
    covariance = centring @ np.cov(x, rowvar=False) @ centring
    spread = (covariance**2).sum()
    if residual == 0 or spread == 0:
        return (np.inf, 0.0) if between > 0 else (0.0, 1.0)
    epsilon = np.trace(covariance) ** 2 / ((k - 1) * spread) if corrected else 1.0
    f = between / residual
    p = stats.f.sf(f, epsilon * (k - 1), epsilon * (k - 1) * (n - 1))
    return float(f), float(p)


def bonferroni_pairs(values: pd.DataFrame) -> pd.Series:
    """Paired t-tests of all pairs of columns: p-values times the number of pairs, at most 1."""
    pairs = list(combinations(values.columns, 2))
    found = {}
    for one, other in pairs:
        same = np.allclose(values[one], values[other], rtol=0, atol=1e-12)
        p = 1.0 if same else float(stats.ttest_rel(values[one], values[other]).pvalue)
        found[one, other] = min(1.0, p * len(pairs))
    return pd.Series(found)


def detectable_difference(error: float, n: int, level: float, power: float = 0.8) -> float:
    """Mean difference that a paired t-test over n rows finds with this power, given its error.

    The test is two-sided; only what it finds on the right side counts.
    """
    limit = stats.t.isf(level / 2, n - 1)

    def missing(size: float) -> float:
        return float(stats.nct.sf(limit, n - 1, size) - power)

    return error * float(brentq(missing, 0, limit + 10))


def written_pairs(p_values: pd.Series, level: float = 0.05) -> str:
    """Write which pairs differ, or that none does."""
    small = p_values[p_values < level]
    if small.empty:
        return f"none of {len(p_values)} pairs (smallest {p_values.min():.2g})"
    return ", ".join(f"{one} and {other} {p:.2g}" for (one, other), p in small.items())
