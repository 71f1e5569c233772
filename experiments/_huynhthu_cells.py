"""The cells of huynhthu2021's tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from _cells import Cell
from _huynhthu_methods import BASES, Effort, Task, measure
from _huynhthu_tuned import tuned
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

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

LOWEST_OF_20 = "prsb20-knn"  # the paper's rule for restarts
APPENDIX_B = {  # the paper's candidates for K and the depth, and its folds
    "folds": 10,
    "search_models": 100,
    "shares": (100, 50, 20, 10, 5, 3, 2, 1),
    "depths": tuple(range(1, 11)),
}
WITH_APPENDIX_B = ("rf", "gbdt", "rsb-knn", "rsb-tree", "rsb-svm")

SIMULATED = Effort(10, 3, 1000, 3, 100, (50, 10, 3, 1), (1, 3, 5))
SIMULATED_QUICK = Effort("oob", 2, 60, 2, 10, (10, 1), (1,))
REAL = Effort("oob", 1, 1000, 2, 30, (3, 1), (1, 3))
REAL_QUICK = Effort("oob", 1, 20, 2, 10, (10,), (1,))
QUICK_METHODS = ("rf", "gbdt", "gbdt2", "-knn")  # trees and SVM take longer
QUICK_SETS = ("pm10", "bupa", "haberman")
N_SETS, N_FOLDS, N_NOISE = 10, 10, 500
N_RESTARTS_REAL = 3
TESTED = ("rf", "gbdt", *(f"prsb-{base}" for base in BASES))
WITH_COPIES = ("spectf", "spambase", "phoneme", "bupa")  # the same features, the same target
FEW_VALUES = ("haberman", "ERA")  # the same features occur with several targets, too
WITH_EQUAL_ROWS = (*WITH_COPIES, *FEW_VALUES)
RSB_TOGETHER = WITH_COPIES[:1]  # the only set where many test rows are copies: RSB, too
FROM_RESTARTS = (
    "haberman", "spectf", "bupa", "rmftsa_ladata", "pm10", "diabetes", "breast_cancer_wisconsin",
    "ERA", "GeographicalOriginalofMusic",
)  # fmt: skip
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
    of_20 = [(problem, str(i), LOWEST_OF_20) for i in range(N_SETS) for problem in PROBLEMS]
    paper_grids = [
        (problem, str(i), f"b-{method}")
        for i in range(N_SETS)
        for method in WITH_APPENDIX_B
        for problem in PROBLEMS
    ]
    every = [*main, *more, *depth_2, *([] if quick else of_20 + paper_grids)]
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
    return _measured(method, task, effort)


def _measured(method: str, task: Task, effort: Effort) -> dict[str, Any]:
    """Run a method, tuned as in appendix B if its name says so."""
    if not method.startswith("b-"):
        return measure(method, task, effort)
    return tuned(method.removeprefix("b-"), task, replace(effort, **APPENDIX_B))


# ---------------------------------------------------------------------- real data


def real_cells(names: Sequence[str], quick: bool) -> list[Cell]:
    """List data set, fold, method; fold after fold, so that what is there covers all data sets."""
    return [
        (name, str(fold), method)
        for fold in range(1 if quick else N_FOLDS)
        for name in names
        for method in METHODS
    ]


def together_cells(quick: bool) -> list[Cell]:
    """List data set, fold, method for folds that keep equal rows together, the cheapest first."""
    if quick:
        return [("haberman", "0", "prsb-knn")]
    return [
        (name, str(fold), method)
        for name in WITH_EQUAL_ROWS
        for fold in range(N_FOLDS)
        for method in (
            *TESTED,
            *(f"single-{base}" for base in BASES),
            *(f"rsb-{base}" for base in BASES if name in RSB_TOGETHER),
        )
    ]


def restart_cells(quick: bool) -> list[Cell]:
    """List data set, fold, method for PRSB from several restarts, the cheapest sets first."""
    if quick:
        return []
    return [
        (name, str(fold), f"prsb-{base}")
        for base in ("knn", "tree", "svm")
        for name in FROM_RESTARTS
        for fold in range(N_FOLDS)
    ]


def tuned_cells(quick: bool) -> list[Cell]:
    """List data set, fold, method for appendix B on real data with all rows, the cheapest first."""
    if quick:
        return []
    methods = sorted(WITH_APPENDIX_B, key=lambda method: method == "gbdt")
    return [
        (name, str(fold), f"b-{method}")
        for method in methods
        for name in FROM_RESTARTS
        for fold in range(N_FOLDS)
    ]


@dataclass(frozen=True, eq=False)
class RealData:
    """A real data set as it is used: at most so many rows, and permuted features beside its own.

    `group` numbers the rows so that those with the same features have the same number. (Not with
    the same target as well: to hold out all rows with one target, and learn from those that have
    the same features and another, is to teach what is wrong.)
    """

    X: np.ndarray
    y: np.ndarray
    relevant: np.ndarray
    classification: bool
    group: np.ndarray
    seed: int

    @classmethod
    def load(cls, name: str, seed: int, folder: Path, every_row: bool = False) -> RealData:
        """Read the set, draw rows from it if there are too many, and add the features."""
        loaded = datasets.load_pmlb(name, folder=folder)
        rng = np.random.default_rng([seed, len(name), loaded.X.shape[1]])
        rows = rng.permutation(len(loaded.y))
        if len(rows) > MANY_ROWS and not every_row:
            rows = rows[:FEWER_ROWS]
        rows.sort()
        X, y = loaded.X.to_numpy(dtype=float)[rows], loaded.y[rows]
        both = np.hstack([X, permuted(X, rng)])
        kind = loaded.task == "classification"
        return cls(both, y, np.arange(X.shape[1]), kind, equal_rows(X), seed)

    def folds(self, together: bool = False) -> list[tuple[np.ndarray, np.ndarray]]:
        """Training and test rows of every fold; with `together`, equal rows are in the same."""
        if together:
            kind = StratifiedGroupKFold if self.classification else GroupKFold
        else:
            kind = StratifiedKFold if self.classification else KFold
        folds = kind(N_FOLDS, shuffle=True, random_state=self.seed)
        return list(folds.split(self.X, self.y, self.group if together else None))

    def task(self, fold: int, together: bool = False) -> Task:
        """What a method learns from in a fold, and is tested on."""
        X, y = self.X, self.y
        train, test = self.folds(together)[fold]
        return Task(X[train], y[train], X[test], y[test], self.relevant, self.classification, fold)


def real(
    cell: Cell, seed: int, effort: Effort, folder: Path, together: bool = False
) -> dict[str, Any]:
    """Run one method on one fold of a real data set with permuted features beside its own."""
    name, fold, method = cell
    task = RealData.load(name, seed, folder).task(int(fold), together)
    return _measured(method, task, effort)


def equal_rows(rows: np.ndarray) -> np.ndarray:
    """Number rows so that equal ones have the same number."""
    return np.asarray(np.unique(rows, axis=0, return_inverse=True)[1]).ravel()


def permuted(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Irrelevant features: columns of X, again and again, each with its values shuffled."""
    columns = np.resize(np.arange(X.shape[1]), N_NOISE)
    return np.column_stack([rng.permutation(X[:, j]) for j in columns])
