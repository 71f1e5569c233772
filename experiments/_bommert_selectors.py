"""The feature selectors of bommert2020, as in the code of its authors, and what they select.

The paper leaves them out "due to space constraints"; its authors published them at
github.com/bommert/adjusted-stability-measures (real_experiments.R, datasets.R; the helper
resampling.R is in their repository phd-thesis): half of the rows, stratified ten-fold
cross-validation, and on the training part of every fold a filter that keeps a uniformly random
share of the features, or none, and then a model with random parameters. What is rewritten here from
reading them: ranger, glmnet, mboost, kernlab and praznik are R packages.
"""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import Any

import numpy as np
from _common import l1_logistic, load
from _onda_trees import Columns
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.preprocessing import scale

import mainstay as ms
from mainstay.rankers import JMI, InformationGain

FILTERS = ("JMI", "MIM", "forest impurity", "none")
MODELS = ("SVM", "lasso", "random forest", "boosting", "k nearest neighbours", "ridge")
# Forests of the authors' code have up to 5,000 trees, its boosting has up to 2¹⁵ steps: the cost.
TREES, MOST_STEPS = (100, 200, 500, 1000), 2**12
FILTER_TREES = 500  # ranger's default
DATA = {  # name: (file, is it in the paper?)
    "tecator": ("correlated/tecator", True),
    "lsvt": ("correlated/lsvt", True),
    "prostate": ("microarray/prostate_ge", False),
}


@lru_cache
def half_of(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Half of the rows without constant columns, and the training rows of its ten folds."""
    X, y = load(DATA[name][0])
    rows, _ = next(StratifiedShuffleSplit(1, train_size=0.5, random_state=seed).split(X, y))
    X, y = X[rows], np.unique(y[rows], return_inverse=True)[1]
    X = X[:, X.max(axis=0) > X.min(axis=0)]
    folds = StratifiedKFold(10, shuffle=True, random_state=seed).split(X, y)
    return X, y, [train for train, _ in folds]


@lru_cache
def similarity_of(name: str, seed: int, threshold: float) -> ms.FeatureSimilarity:
    """Which features of the half are similar."""
    return ms.FeatureSimilarity.from_data(half_of(name, seed)[0], threshold=threshold)


@lru_cache
def filtered(name: str, seed: int, fold: int, how: str) -> np.ndarray:
    """Features of one fold, the best first, by one of the filters."""
    X, y, folds = half_of(name, seed)
    X, y = X[folds[fold]], y[folds[fold]]
    if how == "JMI":
        return np.asarray(JMI(n_features_to_select=X.shape[1]).fit(X, y).order_)
    if how == "MIM":
        return np.argsort(-InformationGain().fit(X, y).scores_, kind="stable")
    scores = Columns(X, y).importances([FILTER_TREES], int(X.shape[1] ** 0.5), seed + fold)[0]
    return np.argsort(-scores, kind="stable")


def draw(model: str, how: str, n: int, p: int, rng: np.random.Generator) -> dict[str, Any]:
    """Draw the share that the filter keeps, and the parameters of the model."""
    kept = p if how == "none" else round(p * rng.random())
    drawn: dict[str, Any] = {"kept": kept}
    if model == "lasso":
        drawn["penalty"] = 2 ** rng.uniform(-15, 15)
    if model == "boosting":
        drawn["steps"] = min(round(2 ** rng.uniform(0, 15)), MOST_STEPS)
    if model == "random forest":
        drawn["trees"] = int(rng.choice(TREES))
        drawn["min_rows"] = max(round((0.2 * n) ** rng.random()), 1) + 1
        drawn["mtry"] = int(rng.integers(1, max(kept, 1) + 1))
    return drawn


def select(
    name: str, model: str, how: str, replication: int, seed: int
) -> tuple[np.ndarray, dict[str, Any]]:
    """Select in all ten folds by one random setting: 10 × p, and the setting."""
    X, y, folds = half_of(name, seed)
    at = MODELS.index(model) * len(FILTERS) + FILTERS.index(how)
    rng = np.random.default_rng([seed, len(X), at, replication])
    drawn = draw(model, how, len(y), X.shape[1], rng)
    support = np.zeros((len(folds), X.shape[1]), dtype=bool)
    for fold, rows in enumerate(folds):
        if how == "none":
            kept = np.arange(X.shape[1])
        else:
            kept = filtered(name, seed, fold, how)[: drawn["kept"]]
        if len(kept):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # constant columns; paths that end early
                used = used_by(model, scale(X[np.ix_(rows, kept)]), y[rows], drawn, seed + fold)
            support[fold, kept[used]] = True
    return support, drawn


def used_by(model: str, X: np.ndarray, y: np.ndarray, drawn: dict[str, Any], seed: int) -> Any:
    """Which features a model uses; SVM, nearest neighbours and ridge use all."""
    if model == "lasso":
        return lasso(X, y, drawn["penalty"], seed)
    if model == "boosting":
        return boosting(X, y, drawn["steps"])
    if model == "random forest":
        columns, rows = Columns(X, y), drawn["min_rows"]
        return columns.importances([drawn["trees"]], drawn["mtry"], seed, min_rows=rows)[0] > 0
    return np.ones(X.shape[1], dtype=bool)


def lasso(X: np.ndarray, y: np.ndarray, penalty: float, seed: int) -> np.ndarray:
    """Features of an L1 logistic regression; below the end of glmnet's path, those at its end."""
    n, p = X.shape
    largest = np.abs(X.T @ (y - y.mean())).max() / n
    penalty = max(penalty, largest * (0.01 if n < p else 1e-4))
    if penalty >= largest:
        return np.zeros(p, dtype=bool)
    model = l1_logistic(C=1 / (n * penalty), intercept_scaling=10, random_state=seed)
    return np.asarray(model.fit(X, y).coef_[0] != 0)


def boosting(X: np.ndarray, y: np.ndarray, steps: int) -> np.ndarray:
    """Features of componentwise boosting of the binomial likelihood, step 0.1 (mboost)."""
    sign = np.where(y == y.max(), 1.0, -1.0)
    share = (sign > 0).mean()
    fit = np.full(len(y), 0.5 * np.log(share / (1 - share)))
    used = np.zeros(X.shape[1], dtype=bool)
    squares = (X**2).sum(axis=0)
    squares[squares == 0] = np.inf
    for _ in range(steps):
        slope = 2 * sign / (1 + np.exp(2 * sign * fit)) / np.log(2)
        products = slope @ X
        best = int(np.argmax(products**2 / squares))
        fit += 0.1 * products[best] / squares[best] * X[:, best]
        used[best] = True
    return used
