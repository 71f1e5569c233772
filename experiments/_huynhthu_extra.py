"""What huynhthu2021 adds to the paper's tables: the problems as printed, digits, the real data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from _cells import Cell
from _common import table
from _huynhthu_cells import REGRESSION, RealData, equal_rows, permuted
from _huynhthu_methods import Effort, Task, measure
from _huynhthu_tables import label, spread, with_error
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedShuffleSplit

from mainstay.datasets import load_pmlb
from mainstay.datasets.simulated import _neighbours

N_ROWS, N_TEST, N_IRRELEVANT = 300, 500, 300
PRINTED = ("Checkerboard", "Friedman", "Hypercube")
THREE = "Hypercube, 3 restarts"  # and ten folds, as in the main tables
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
    features are neighbours. Friedman: mean 0 and Σ_ij = s^(2|i−j|) with s = 0.5/3. Hypercube: two
    corners of a cube per class, Σ = I around each; no label is flipped, since none is said to be.
    """
    rng = np.random.default_rng([seed, PRINTED.index(name)])
    n = N_ROWS + N_TEST
    if name == "Checkerboard":
        X = _neighbours(n, 4 + N_IRRELEVANT, 0.9, rng)
        y = 2 * X[:, 0] * X[:, 1] + 2 * X[:, 2] * X[:, 3] + rng.normal(size=n)
        return X, y, np.arange(4)
    if name == "Hypercube":
        corners = rng.choice(32, 4, replace=False)[:, None] >> np.arange(5) & 1
        cluster = rng.permutation(n) % 4
        relevant = 2.0 * corners[cluster] - 1 + rng.normal(size=(n, 5))
        noise = rng.normal(size=(n, N_IRRELEVANT))
        return np.hstack([relevant, noise]), cluster % 2, np.arange(5)
    X = _neighbours(n, 5 + N_IRRELEVANT, (0.5 / 3) ** 2, rng)
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    y += 10 * X[:, 3] + 5 * X[:, 4] + 0.1 * rng.normal(size=n)
    return X, y, np.arange(5)


def printed_cells(quick: bool) -> list[Cell]:
    """List problem, number of the data set, method."""
    methods = PRINTED_METHODS[:4:3] if quick else PRINTED_METHODS
    n_sets = 1 if quick else N_SETS
    main = [(name, str(i), m) for i in range(n_sets) for name in PRINTED for m in methods]
    more = [(THREE, str(i), m) for m in PRINTED_METHODS[2:] for i in range(n_sets)]
    return main if quick else [*main, *more]


def printed(cell: Cell, seed: int, effort: Effort) -> dict[str, Any]:
    """Run one method on one data set of a problem as printed."""
    called, number, method = cell
    name = called.partition(",")[0]
    X, y, relevant = printed_problem(name, 1000 * seed + int(number))
    task = Task(
        X[:N_ROWS], y[:N_ROWS], X[N_ROWS:], y[N_ROWS:], relevant, name not in REGRESSION,
        int(number),
    )  # fmt: skip
    if called != THREE:
        effort = replace(effort, cv="oob", restarts=1)
    return measure(method, task, effort)


def all_sets(cells: pd.DataFrame) -> pd.DataFrame:
    """Drop methods with 3 restarts that lack a data set: RF beside them has all."""
    whole = cells.groupby(["data", "method"])["error"].transform("count") == N_SETS
    return cells[(cells["data"] != THREE) | whole]


def printed_counts(cells: pd.DataFrame) -> str:
    """How often PRSB is better than RF and GBDT on the problems as printed, of the bases run."""
    rows = []
    for problem in (*PRINTED, THREE):
        row = [problem]
        for value, sign in (("error", 1), ("aupr", -1)):
            means = sign * spread(cells, value)["mean"]
            keys = [(problem, m) for m in PRINTED_METHODS[2:] if (problem, m) in means.index]
            for other in PRINTED_METHODS[:2]:
                against = (problem.partition(",")[0], other)
                known = bool(keys) and against in means.index
                below = sum(bool(means[key] < means[against]) for key in keys) if known else 0
                row.append(f"{below} of {len(keys)}" if known else "–")
        rows.append(row)
    names = [f"{value} than {label(m)}" for value in ("lower error", "higher AUPR")
             for m in PRINTED_METHODS[:2]]  # fmt: skip
    return table(["", *names], rows)


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


def digit_differences(cells: pd.DataFrame) -> tuple[str, str]:
    """Errors of PRSB-kNN minus those of the others, split by split: mean ± standard error.

    Also returned, in words: the differences without noise columns.
    """
    rows, words = [], []
    for name, (n_rows, noise) in DIGITS.items():
        mine = cells[cells["data"] == name]
        wide = mine.pivot(index="repetition", columns="method", values="error")
        wide = wide.reindex(columns=DIGITS_METHODS)
        differences = {
            m: with_error((wide["prsb-knn"] - wide[m]).dropna()) for m in DIGITS_METHODS[:-1]
        }
        rows.append([name, *differences.values()])
        if not noise:
            words.append(
                f"with {n_rows} rows {differences['single-svm']} against an SVM and "
                f"{differences['rf']} against a tuned forest"
            )
    header = ["PRSB-kNN minus", *map(label, DIGITS_METHODS[:-1])]
    return table(header, rows), "; ".join(words)


def real_sets(
    names: list[str], sizes: dict[str, tuple[int, int]], folder: Path, seed: int
) -> tuple[str, dict[str, float]]:
    """Table S4: rows and columns, here and in the paper, and rows that occur more than once.

    Also returned: the share of test rows that are equal to a training row, over the folds.
    """
    rows, shares = [], {}
    for name in names:
        data = load_pmlb(name, folder=folder)
        X, n = data.X.to_numpy(dtype=float), len(data.y)
        number = equal_rows(np.column_stack([X, data.y]))
        features = equal_rows(X)
        targets = pd.Series(number).groupby(features).nunique()
        used = RealData.load(name, seed, folder)
        own = equal_rows(np.column_stack([used.X[:, used.relevant], used.y]))
        seen = [np.isin(own[test], own[train]).mean() for train, test in used.folds()]
        shares[name] = float(np.mean(seen))
        shown = f"{sizes[name][0]}, {sizes[name][1]}"
        repeated = int((np.bincount(number)[number] > 1).sum())
        several = int((targets.to_numpy()[features] > 1).sum())
        rows.append(
            [name, n, X.shape[1], shown, len(used.y), repeated, several, f"{shares[name]:.0%}"]
        )
    header = ["", "rows", "features", "paper: rows, features", "rows used"]
    header += ["rows equal to another, y included", "features equal, y not"]
    return table([*header, "test rows with an equal row in training"], rows), shares
