"""RF, GBDT and RSB tuned as in appendix B of huynhthu2021: ten candidates, ten folds, compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
from _huynhthu_methods import N_MODELS, Effort, Task
from _huynhthu_svm import machines
from _huynhthu_trees import boosting, forest, neighbours, sorted_table
from sklearn.model_selection import KFold, StratifiedKFold

STEP, N_NEIGHBOURS = 0.1, 5  # scikit-learn's defaults

# What a method does: rows to learn from, rows to predict, candidate, importances → predictions
Fit = Callable[[np.ndarray, np.ndarray, int, np.ndarray], np.ndarray]
# Errors by candidate; then: candidate, importances → predictions of the rows to be tested
Searched = tuple[list[float], Callable[[int, np.ndarray], np.ndarray]]


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
        if method == "rsb-knn":
            columns = self.standardised(X)
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

    def machines(self, rows: int, fold_of: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
        """Predict folds of the first rows with ensembles of machines, by size."""
        X = np.vstack([self.task.X, self.task.X_test])[:rows]
        y, task = self.y[:rows] - self.centre, self.task
        return machines(
            self.standardised(X), y, task.classification, self.n, fold_of, np.array(sizes),
            N_MODELS, task.seed,
        )  # fmt: skip

    def standardised(self, X: np.ndarray) -> np.ndarray:
        """Return columns × rows, standardised by the rows to learn from."""
        mean, sd = self.task.X.mean(axis=0), self.task.X.std(axis=0)
        return np.ascontiguousarray(((X - mean) / np.where(sd > 0, sd, 1)).T)

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
    search = _search_machines if method == "rsb-svm" else _search
    errors, predict = search(problem, candidates, effort.folds)
    best = int(np.argmin(errors))  # of equal ones the first, as in scikit-learn
    importances = np.zeros(problem.p)
    tested = np.arange(problem.n, len(problem.y))
    found = {
        "error": problem.error(predict(candidates[best], importances), tested),
        "size": float(candidates[best]),
        "errors": errors,
    }
    if method in ("rf", "gbdt"):
        found["aupr"] = task.aupr(importances)
    return found


def _search(problem: Problem, candidates: Sequence[int], folds: int) -> Searched:
    errors, importances = np.zeros(len(candidates)), np.zeros(problem.p)
    learned, tested = np.arange(problem.n), np.arange(problem.n, len(problem.y))
    fit = problem.fit(learned)
    for train, test in problem.folds(folds):
        for i, candidate in enumerate(candidates):
            errors[i] += problem.error(fit(train, test, candidate, importances), test)
    whole = problem.fit(np.arange(len(problem.y)))
    return (errors / folds).tolist(), partial(whole, learned, tested)


def _search_machines(problem: Problem, candidates: Sequence[int], folds: int) -> Searched:
    parts = [test for _, test in problem.folds(folds)]
    fold_of = np.empty(problem.n, dtype=np.int64)
    for f, test in enumerate(parts):
        fold_of[test] = f
    predicted = problem.machines(problem.n, fold_of, candidates)
    errors = [
        float(np.mean([problem.error(line[test], test) for test in parts])) for line in predicted
    ]
    tested = np.repeat([-1, 0], [problem.n, len(problem.y) - problem.n])
    return errors, lambda size, _: problem.machines(len(tested), tested, [size])[0, problem.n :]
