"""What huynhthu2021 adds to the paper's tables: the problems as printed, digits, the real data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from _cells import Cell
from _common import table
from _huynhthu_cells import RealData, equal_rows, permuted
from _huynhthu_methods import Effort, Task, measure
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedShuffleSplit

from mainstay.datasets import load_pmlb
from mainstay.datasets.simulated import _neighbours

N_ROWS, N_TEST, N_IRRELEVANT = 300, 500, 300
PRINTED = ("Checkerboard", "Friedman")
PRINTED_METHODS = ("rf", "gbdt", "prsb-tree", "prsb-knn", "prsb-svm")
DIGITS_METHODS = ("single-knn", "single-svm", "rf", "prsb-knn")
N_SETS, N_SPLITS = 5, 5
DIGITS = {  # training rows and permuted columns
    "120 rows": (120, 0),
    "120 rows + 500 columns": (120, 500),
    "600 rows": (600, 0),
    "600 rows + 500 columns": (600, 500),
}


def printed_problem(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X, y and the relevant columns of a problem as appendix C of the paper prints it.

    Checkerboard: x ~ N(0, Σ), Σ_ij = 0.9^|i−j|, y = 2x₁x₂ + 2x₃x₄ + N(0, 1), so that the relevant
    features are neighbours. Friedman: mean 0 and Σ_ij = s^(2|i−j|) with s = 0.5/3.
    """
    rng = np.random.default_rng([seed, PRINTED.index(name)])
    n = N_ROWS + N_TEST
    if name == "Checkerboard":
        X = _neighbours(n, 4 + N_IRRELEVANT, 0.9, rng)
        y = 2 * X[:, 0] * X[:, 1] + 2 * X[:, 2] * X[:, 3] + rng.normal(size=n)
        return X, y, np.arange(4)
    X = _neighbours(n, 5 + N_IRRELEVANT, (0.5 / 3) ** 2, rng)
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    y += 10 * X[:, 3] + 5 * X[:, 4] + 0.1 * rng.normal(size=n)
    return X, y, np.arange(5)


def printed_cells(quick: bool) -> list[Cell]:
    """List problem, number of the data set, method."""
    methods = PRINTED_METHODS[:4:3] if quick else PRINTED_METHODS
    n_sets = 1 if quick else N_SETS
    return [(name, str(i), m) for i in range(n_sets) for name in PRINTED for m in methods]


def printed(cell: Cell, seed: int, effort: Effort) -> dict[str, Any]:
    """Run one method on one data set of a problem as printed."""
    name, number, method = cell
    X, y, relevant = printed_problem(name, 1000 * seed + int(number))
    task = Task(X[:N_ROWS], y[:N_ROWS], X[N_ROWS:], y[N_ROWS:], relevant, False, int(number))
    return measure(method, task, replace(effort, cv="oob", restarts=1))


def digits_cells(quick: bool) -> list[Cell]:
    """List problem, split, method."""
    n_splits = 1 if quick else N_SPLITS
    problems = list(DIGITS)[:2] if quick else DIGITS
    return [(name, str(i), m) for i in range(n_splits) for name in problems for m in DIGITS_METHODS]


def digits(cell: Cell, seed: int, effort: Effort) -> dict[str, Any]:
    """Run one method on scikit-learn's ten digits, with or without permuted columns."""
    name, number, method = cell
    n_rows, noise = DIGITS[name]
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng([seed, int(number)])
    relevant = np.arange(X.shape[1])
    if noise:
        X = np.hstack([X, permuted(X, rng)])
    split = StratifiedShuffleSplit(1, train_size=n_rows, random_state=1000 * seed + int(number))
    train, test = next(split.split(X, y))
    task = Task(X[train], y[train], X[test], y[test], relevant, True, int(number))
    return measure(method, task, replace(effort, cv="oob", restarts=1))


def real_sets(names: list[str], sizes: dict[str, tuple[int, int]], folder: Path, seed: int) -> str:
    """Table S4: rows and columns, here and in the paper, and rows that occur more than once.

    Also the share of test rows that are equal to a training row, over the folds.
    """
    rows = []
    for name in names:
        data = load_pmlb(name, folder=folder)
        n, m = data.X.shape
        number = equal_rows(data.X.to_numpy(dtype=float), data.y)
        counts = np.bincount(number)
        repeated = int(counts[counts > 1].sum())
        used = RealData.load(name, seed, folder)
        seen = [np.isin(used.group[test], used.group[train]).mean() for train, test in used.folds()]
        shown = f"{sizes[name][0]}, {sizes[name][1]}"
        rows.append([name, n, m, shown, len(used.y), repeated, f"{np.mean(seen):.0%}"])
    header = ["", "rows", "features", "paper: rows, features", "rows used"]
    return table([*header, "rows equal to another, y included", "test rows seen in training"], rows)
