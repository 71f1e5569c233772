"""The trees of scikit-learn without the checks around them, most of the time of small ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.tree._criterion import Entropy, Gini
from sklearn.tree._splitter import BestSplitter
from sklearn.tree._tree import DepthFirstTreeBuilder, Tree

CRITERIA = {"gini": Gini, "entropy": Entropy}


def bare_trees(
    X: np.ndarray,
    y: np.ndarray,
    count: int,
    seed: int,
    *,
    criterion: str = "gini",
    max_features: int | None = None,
    min_samples_leaf: int = 1,
    max_depth: int | None = None,
    bootstrap: bool = True,
) -> Iterator[Tree]:
    """Grow the trees of RandomForestClassifier(count, random_state=seed, …), bit for bit.

    X is a contiguous float32 array; max_features is ⌊√p⌋ by default.
    """
    n, p = X.shape
    classes, codes = np.unique(y, return_inverse=True)
    target, kinds = codes.astype(float)[:, None], np.array([len(classes)], dtype=np.intp)
    rng = np.random.RandomState(0)
    mtry = max(1, max_features or int(p**0.5))
    splitter = BestSplitter(CRITERIA[criterion](1, kinds), mtry, min_samples_leaf, 0.0, rng, None)
    depth = max_depth or np.iinfo(np.int32).max
    builder = DepthFirstTreeBuilder(splitter, 2, min_samples_leaf, 0.0, depth, 0.0)
    for tree_seed in np.random.RandomState(seed).randint(np.iinfo(np.int32).max, size=count):
        times = np.ones(n)
        if bootstrap:
            rng.seed(tree_seed)
            times = np.bincount(rng.randint(0, n, n, dtype=np.int32), minlength=n).astype(float)
        rng.seed(tree_seed)
        tree = Tree(p, kinds, 1)
        builder.build(tree, X, target, times, None)
        yield tree
