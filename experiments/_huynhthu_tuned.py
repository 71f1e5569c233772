"""RF, GBDT and RSB tuned as in appendix B of huynhthu2021: ten candidates, ten folds, compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from _huynhthu_methods import N_MODELS, Effort, Task
from _huynhthu_trees import boosting, forest, neighbours, sorted_table
from sklearn.model_selection import KFold, StratifiedKFold

STEP, N_NEIGHBOURS = 0.1, 5  # scikit-learn's defaults

# What a method does: rows to learn from, rows to predict, candidate, importances → predictions
Fit = Callable[[np.ndarray, np.ndarray, int, np.ndarray], np.ndarray]


class Problem:
    """Rows of a task, those to be tested behind those to learn from, as the kernels want them."""

    def __init__(self, task: Task, method: str) -> None:
        self.task, self.method = task, method
        self.n, self.p = task.X.shape
        y = np.concatenate([task.y, task.y_test])
        if task.classification:
            classes, y = np.unique(y, return_inverse=True)
            if len(classes) != 2:
                raise ValueError(f"the compiled methods are for two classes, got {len(classes)}.")
        self.cut = 0.0 if method == "gbdt" else 0.5  # log odds, or the share of class 1
        self.y = np.asarray(y, dtype=float)
        self.centre = 0.0 if task.classification else float(self.y[: self.n].mean())

    def fit(self, rows: np.ndarray) -> Fit:
        """Sort some of the rows; the others take no part."""
        task, method = self.task, self.method
        X, y = np.vstack([task.X, task.X_test])[rows], self.y[rows] - self.centre
        if method == "rsb-knn":  # standardised by the rows to learn from
            mean, sd = task.X.mean(axis=0), task.X.std(axis=0)
            columns = np.ascontiguousarray(((X - mean) / np.where(sd > 0, sd, 1)).T)
            return lambda train, test, size, _: neighbours(
                columns, y, train, test, size, N_NEIGHBOURS, N_MODELS, task.seed
            )
        table = sorted_table(X)
        if method == "gbdt":
            return lambda train, test, depth, importances: boosting(
                table, y, task.classification, train, test, depth, N_MODELS, STEP, task.seed,
                importances,
            )  # fmt: skip
        within = method == "rsb-tree"
        return lambda train, test, size, importances: forest(
            table, y, train, test, size, within, N_MODELS, task.seed, importances
        )

    def error(self, predicted: np.ndarray, rows: np.ndarray) -> float:
        """Misclassification rate, or mean square error."""
        if self.task.classification:
            return float(np.mean((predicted > self.cut) != self.y[rows]))
        return float(np.mean((predicted + self.centre - self.y[rows]) ** 2))

    def folds(self, count: int) -> Iterable[tuple[np.ndarray, np.ndarray]]:
        """Split the rows to learn from, as scikit-learn's search and `RandomSubspace…CV` do."""
        by_class = self.task.classification and self.method.startswith("rsb")
        kind = StratifiedKFold if by_class else KFold
        split = kind(count, shuffle=True, random_state=self.task.seed)
        return split.split(self.task.X, self.y[: self.n])


def tuned(method: str, task: Task, effort: Effort) -> dict[str, Any]:
    """Choose K or the depth by cross-validation, learn from all rows, and test."""
    problem = Problem(task, method)
    candidates: Sequence[int] = effort.depths if method == "gbdt" else effort.sizes(task.X.shape[1])
    learned, importances = np.arange(problem.n), np.zeros(problem.p)
    errors = np.zeros(len(candidates))
    fit = problem.fit(learned)
    for train, test in problem.folds(effort.folds):
        for i, candidate in enumerate(candidates):
            errors[i] += problem.error(fit(train, test, candidate, importances), test)
    chosen = candidates[int(np.argmin(errors))]  # of equal ones the first, as in scikit-learn
    importances[:] = 0
    tested = np.arange(problem.n, len(problem.y))
    predicted = problem.fit(np.arange(len(problem.y)))(learned, tested, chosen, importances)
    found = {"error": problem.error(predicted, tested), "size": float(chosen)}
    found["errors"] = (errors / effort.folds).tolist()
    if method in ("rf", "gbdt"):
        found["aupr"] = task.aupr(importances)
    return found
