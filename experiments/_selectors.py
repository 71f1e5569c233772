"""Random forests of nogueira2015 as feature selectors: one subsample in, uses of features out."""

from __future__ import annotations

from typing import Any

import numpy as np
from _bare_trees import bare_trees
from _multiway_trees import multiway_forest
from scipy.stats import rankdata

N_TREES = 100


def binned(X: np.ndarray, bins: int, kind: str) -> np.ndarray:
    """Codes 0, 1, … of bins of equal frequency or of equal width, column by column."""
    if kind == "frequency":
        return np.ceil(bins * rankdata(X, axis=0) / len(X)).astype(np.int64) - 1
    low, high = X.min(axis=0), X.max(axis=0)
    width = np.where(high > low, high - low, 1.0)
    return np.minimum((bins * (X - low) / width).astype(np.int64), bins - 1)


def trees_using(X: np.ndarray, y: np.ndarray, seed: int, variant: dict[str, Any]) -> np.ndarray:
    """Grow a forest of 100 trees on a subsample of 90%; how many of them use each feature.

    `variant` are arguments of the forest; `bins` turns features into so many, of the `kind`
    "frequency" or "width" (equal in it), `multiway` splits nodes into all bins at once, and a
    `fewer` is taken from the number of candidates.
    """
    rows = np.random.default_rng(seed).permutation(len(y))[: round(0.9 * len(y))]
    X, y, p = X[rows], y[rows], X.shape[1]
    options = {"criterion": "entropy", "max_features": int(p**0.5)} | variant
    options["max_features"] -= options.pop("fewer", 0)
    bins, kind = options.pop("bins", None), options.pop("kind", "frequency")
    multiway = options.pop("multiway", False)
    if bins:
        X = binned(X, bins, kind)
    if multiway:
        codes = np.ascontiguousarray(X.T)
        classes = np.unique(y, return_inverse=True)[1]
        n_classes = int(classes.max()) + 1
        mtry = options["max_features"]
        trees = multiway_forest(codes, classes, bins, n_classes, mtry, N_TREES, seed)
        return np.asarray(trees.sum(axis=0))
    uses = np.zeros(p, dtype=int)
    X = np.ascontiguousarray(X, dtype=np.float32)
    for tree in bare_trees(X, y, N_TREES, seed, **options):
        uses[np.unique(tree.feature[tree.feature >= 0])] += 1
    return uses
