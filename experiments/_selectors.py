"""Feature selectors of the experiments: one subsample in, selections out."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_selection import f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import scale
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

SHARES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 0.95)  # of the features


def top(scores: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """Select the k largest, ties at random."""
    chosen = np.zeros(len(scores), dtype=bool)
    chosen[np.lexsort((rng.random(len(scores)), -scores))[:k]] = True
    return chosen


def used(trees: Any, p: int) -> np.ndarray:
    """Select the features that some tree splits on."""
    splits = np.concatenate([tree.tree_.feature for tree in trees])
    return np.bincount(splits[splits >= 0], minlength=p) > 0


def select(X: np.ndarray, y: np.ndarray, seed: int) -> dict[str, np.ndarray]:
    """Run all selectors with all their settings on one subsample of 90% of the rows."""
    warnings.simplefilter("ignore")  # a subsample of prostate has constant columns
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(y))[: round(0.9 * len(y))]
    X, y, p = scale(X[rows]), y[rows], X.shape[1]
    sizes = {share: max(1, round(share * p)) for share in SHARES}
    filters = {
        "F-test": np.nan_to_num(f_classif(X, y)[0]),
        "random forest": RandomForestClassifier(200, random_state=seed)
        .fit(X, y)
        .feature_importances_,
    }
    found = {
        f"{name}, {share:.0%}": top(scores, k, rng)
        for name, scores in filters.items()
        for share, k in sizes.items()
    }
    left = np.arange(p)
    for share, k in reversed(sizes.items()):  # recursive elimination, from each size to the next
        weights = np.full(p, -1.0)
        weights[left] = np.abs(SVC(kernel="linear", C=0.1).fit(X[:, left], y).coef_[0])
        found[f"SVM-RFE, {share:.0%}"] = top(weights, k, rng)
        left = np.flatnonzero(found[f"SVM-RFE, {share:.0%}"])
    for C in np.geomspace(0.02, 2, 8).round(3):
        lasso = LogisticRegression(C=C, l1_ratio=1, solver="liblinear", random_state=seed)
        found[f"L1 logistic regression, C={C}"] = lasso.fit(X, y).coef_[0] != 0
    for depth in (1, 3, 6):
        tree = DecisionTreeClassifier(max_depth=depth, random_state=seed).fit(X, y)
        found[f"tree of depth {depth}"] = used([tree], p)
    boosting = GradientBoostingClassifier(
        n_estimators=16, max_depth=2, max_features="sqrt", random_state=seed
    ).fit(X, y)
    for rounds in (1, 4, 16):
        found[f"boosting, {rounds} rounds"] = used(boosting.estimators_[:rounds, 0], p)
    return found


def trees_using(X: np.ndarray, y: np.ndarray, seed: int, variant: dict[str, Any]) -> np.ndarray:
    """Grow a forest on a subsample of 90%; the share of its trees that use each feature.

    `variant` are arguments of the forest; `bins` turns features into so many of equal frequency.
    """
    rows = np.random.default_rng(seed).permutation(len(y))[: round(0.9 * len(y))]
    X, y, p = X[rows], y[rows], X.shape[1]
    options = {"criterion": "entropy", "max_features": "sqrt", "random_state": seed} | variant
    if bins := options.pop("bins", None):
        X = np.ceil(bins * rankdata(X, axis=0) / len(X))
    forest = RandomForestClassifier(100, **options).fit(X, y)
    return np.mean([used([tree], p) for tree in forest.estimators_], axis=0)
