"""The cells of huynhthu2021's tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from _cells import Cell
from _huynhthu_methods import BASES, Effort, Task, measure
from sklearn.model_selection import KFold, StratifiedKFold

from mainstay import datasets

PROBLEMS = {
    "Checkerboard": datasets.make_checkerboard,
    "Friedman": datasets.make_friedman_correlated,
    "Hypercube": datasets.make_hypercube,
    "Linear": datasets.make_linear,
}
REGRESSION = ("Checkerboard", "Friedman")
WITH_BASES = ("single", "rsb", "eda", "prsb")
METHODS = ("rf", "gbdt", *(f"{kind}-{base}" for kind in WITH_BASES for base in BASES))
DEPTH_2 = ("Friedman",)  # where boosting is run with depth 2 among its candidates, too
REFERENCES = tuple(f"{kind}-{base}" for base in BASES for kind in ("prsb1", "prsb10"))

SIMULATED = Effort(10, 3, 1000, 3, 100, (50, 10, 3, 1), (1, 3, 5))
SIMULATED_QUICK = Effort("oob", 2, 60, 2, 10, (10, 1), (1, 3))
REAL = Effort("oob", 1, 1000, 2, 30, (3, 1), (1, 3))
REAL_QUICK = Effort("oob", 1, 20, 2, 10, (10,), (1,))
QUICK_METHODS = ("rf", "gbdt", "gbdt2", "-knn")  # trees and SVM take longer
QUICK_SETS = ("ERA", "pm10", "bupa", "haberman")
N_SETS, N_FOLDS, N_NOISE = 10, 10, 500
MANY_ROWS, FEWER_ROWS = 2000, 1000  # real data with more rows than the first: as many as the second

# ---------------------------------------------------------------------- simulated problems


def simulated_cells(quick: bool) -> list[Cell]:
    """List problem, number of the data set, method; the most important first."""
    n_sets = 2 if quick else N_SETS
    main = [
        (problem, str(i), method)
        for kinds in (("prsb",), ("single", "rf", "gbdt", "eda"), ("rsb",))
        for i in range(n_sets)
        for problem in PROBLEMS
        for method in METHODS
        if method.partition("-")[0] in kinds
    ]
    more = [
        (problem, str(i), method)
        for i in range(1 if quick else N_SETS)
        for method in REFERENCES
        for problem in PROBLEMS
    ]
    depth_2 = [(problem, str(i), "gbdt2") for problem in DEPTH_2 for i in range(n_sets)]
    every = [*main, *more, *depth_2]
    return [cell for cell in every if not quick or cell[2].endswith(QUICK_METHODS)]


def simulated(cell: Cell, seed: int, effort: Effort) -> dict[str, Any]:
    """Run one method on one simulated data set."""
    problem, number, method = cell
    data = PROBLEMS[problem](random_state=1000 * seed + int(number))
    task = Task(
        data.X, data.y, data.X_test, data.y_test, data.relevant, problem not in REGRESSION,
        seed=int(number),
    )  # fmt: skip
    if method in REFERENCES:  # Q = 1 needs many more models
        effort = replace(effort, cv="oob", restarts=1)
    return measure(method, task, effort)


# ---------------------------------------------------------------------- real data


def real_cells(names: Sequence[str], quick: bool) -> list[Cell]:
    """List data set, fold, method; fold after fold, so that what is there covers all data sets."""
    return [
        (name, str(fold), method)
        for fold in range(1 if quick else N_FOLDS)
        for name in names
        for method in METHODS
    ]


def real(cell: Cell, seed: int, effort: Effort, folder: Path) -> dict[str, Any]:
    """Run one method on one fold of a real data set with permuted features beside its own."""
    name, fold, method = cell
    loaded = datasets.load_pmlb(name, folder=folder)
    rng = np.random.default_rng([seed, len(name), loaded.X.shape[1]])
    rows = rng.permutation(len(loaded.y))
    if len(rows) > MANY_ROWS:
        rows = rows[:FEWER_ROWS]
    rows.sort()
    X, y = loaded.X.to_numpy(dtype=float)[rows], loaded.y[rows]
    classification = loaded.task == "classification"
    X = np.hstack([X, permuted(X, rng)])
    kind = StratifiedKFold if classification else KFold
    folds: Iterator[Any] = kind(N_FOLDS, shuffle=True, random_state=seed).split(X, y)
    train, test = list(folds)[int(fold)]
    relevant = np.arange(loaded.X.shape[1])
    return measure(
        method,
        Task(X[train], y[train], X[test], y[test], relevant, classification, int(fold)),
        effort,
    )


def permuted(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Irrelevant features: columns of X, again and again, each with its values shuffled."""
    columns = np.resize(np.arange(X.shape[1]), N_NOISE)
    return np.column_stack([rng.permutation(X[:, j]) for j in columns])
