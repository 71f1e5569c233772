"""The cells of salman2022: accuracy by split, ranks by training part, Stuart's Q by fold."""

from __future__ import annotations

from typing import Any

import numpy as np
from _cells import Cell
from _salman_data import (
    FILTERS,
    GENERATED,
    MORE,
    MULTICLASS,
    SETS,
    WIDE,
    alone,
    bootstraps,
    by_recursion,
    rank_all,
    read,
    scored,
)
from scipy.stats import spearmanr
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit
from sklearn.naive_bayes import CategoricalNB, GaussianNB

import mainstay as ms
from mainstay.aggregation.order_statistics import stuart_log_q

EVERY = (*SETS, *MORE)
TENTHS = range(1, 11)
LISTS = (10, 20, 30, 40, 50, 100, 1000)
TURN = 5  # parts
STUDIED = ("information_gain", "mrmr")  # the filters of the stability study


GROUPS = {"small": SETS[:5], "ten classes": (MULTICLASS,), "wide": WIDE, "generated": GENERATED}
GROUP_OF = {name: group for group, names in GROUPS.items() for name in names}


def sizes(quick: bool) -> dict[str, Any]:
    """Repetitions of every part; bootstraps and parts by filter and group of data sets."""
    if quick:
        few = dict.fromkeys(GROUPS, (20, 3))
        return {
            "splits": 2, "table": 30, "greedy": dict.fromkeys(GROUPS, 3), "folds": 6,
            "information_gain": few, "mrmr": dict.fromkeys(GROUPS, (3, 3)), "halves": 4,
            "half_b": 10, "stuart_folds": 3,
        }  # fmt: skip
    counts = (1000, 1000, 1000, 100)
    return {
        "splits": 10, "table": 1000, "greedy": dict(zip(GROUPS, counts, strict=True)), "folds": 100,
        "information_gain": {
            "small": (1000, 100), "ten classes": (1000, 100), "wide": (1000, 100),
            "generated": (1000, 20),
        },
        "mrmr": {
            "small": (1000, 100), "ten classes": (1000, 20), "wide": (1000, 20),
            "generated": (100, 10),
        },
        "halves": 30, "half_b": 200, "stuart_folds": 100,
    }  # fmt: skip


# ---------------------------------------------------------------------- accuracy


def accuracy_cells(size: dict[str, Any]) -> list[Cell]:
    """List data set and split."""
    return [(name, str(split)) for split in range(size["splits"]) for name in EVERY]


def accuracies(cell: Cell, size: dict[str, Any], seed: int) -> dict[str, Any]:
    """Rank on two thirds of the rows; naive Bayes, five-fold, on the other third."""
    name, split = cell[0], int(cell[1])
    X, y = read(name)
    p, rng = X.shape[1], np.random.default_rng([seed, EVERY.index(name), split, 1])
    splitter = StratifiedShuffleSplit(1, test_size=1 / 3, random_state=1000 * seed + split)
    train, test = next(splitter.split(X, y))
    ranks = rank_all(X[train], y[train], list(FILTERS)[:3], size["table"], rng)
    ranks |= rank_all(X[train], y[train], ["mrmr"], size["greedy"][GROUP_OF[name]], rng)
    orders = {(f, r): np.argsort(v) for f, rules in ranks.items() for r, v in rules.items()}
    right = {key: np.zeros(10) for key in orders}
    X, y = X[test], y[test]
    last = [-(-t * p // 10) - 1 for t in TENTHS]
    for fit, check in StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y):
        few = int(X.max()) + 1 if name == "splice" else None
        model = CategoricalNB(min_categories=few) if few else GaussianNB()
        model.fit(X[fit], y[fit])
        prior = model.class_log_prior_ if few else np.log(model.class_prior_)
        logs = log_likelihoods(model, X[check])
        for key, order in orders.items():
            total = prior[:, None, None] + np.cumsum(logs[:, :, order], axis=2)[:, :, last]
            right[key] += (total.argmax(axis=0) == y[check][:, None]).sum(axis=0) / len(y)
    return {"accuracy": [[*key, *hits.tolist()] for key, hits in right.items()]}


def log_likelihoods(model: Any, X: np.ndarray) -> np.ndarray:
    """What every feature adds to the log-likelihood of a fitted naive Bayes: classes × n × p."""
    if isinstance(model, CategoricalNB):
        columns = zip(model.feature_log_prob_, X.astype(int).T, strict=True)
        return np.stack([logs[:, codes] for logs, codes in columns], axis=2)
    mean, var = model.theta_[:, None], model.var_[:, None]
    return -0.5 * (np.log(2 * np.pi * var) + (X - mean) ** 2 / var)


# ---------------------------------------------------------------------- stability


def stability_cells(filter_: str, kind: str, size: dict[str, Any]) -> list[Cell]:
    """List data set, filter, kind of part, its number; group by group, part after part."""
    if kind == "half":
        return [(name, filter_, kind, str(i)) for name in SETS for i in range(size["halves"])]
    return [
        (name, filter_, kind, str(i))
        for group, names in GROUPS.items()
        for i in range(size[filter_][group][1])
        for name in names
    ]


def all_stability_cells(size: dict[str, Any]) -> list[Cell]:
    """List the parts of all filters and kinds in turns, so that a stopped run has some of each."""
    kinds = [(filter_, "fold") for filter_ in STUDIED] + [(STUDIED[0], "half")]
    by_kind = [stability_cells(filter_, kind, size) for filter_, kind in kinds]
    most = max(int(cell[-1]) for cells in by_kind for cell in cells)
    return [
        cell
        for start in range(0, most + 1, TURN)
        for cells in by_kind
        for cell in cells
        if start <= int(cell[-1]) < start + TURN
    ]


def part_ranks(cell: Cell, size: dict[str, Any], seed: int) -> dict[str, Any]:
    """Ranks by every rule on one training part of the folds, or on one half of the rows."""
    name, filter_, kind, number = cell
    X, y = read(name)
    half, i = kind == "half", int(number)
    if half:
        parts: Any = ShuffleSplit(size["halves"], train_size=0.5, random_state=seed).split(X)
    else:
        parts = KFold(size["folds"], shuffle=True, random_state=seed).split(X)
    rows = list(parts)[i][0]
    count = size["half_b"] if half else size[filter_][GROUP_OF[name]][0]
    rng = np.random.default_rng([seed, EVERY.index(name), i, 2 + half])
    ranks = rank_all(X[rows], y[rows], [filter_], count, rng)[filter_]
    return {"ranks": {rule: found.tolist() for rule, found in ranks.items()}}


# ---------------------------------------------------------------------- Stuart's recursion


def stuart_cells(size: dict[str, Any]) -> list[Cell]:
    """List filter and fold of ionosphere."""
    return [(filter_, str(i)) for filter_ in STUDIED for i in range(size["stuart_folds"])]


def stuart_fold(cell: Cell, size: dict[str, Any], seed: int) -> dict[str, Any]:
    """Both ways of computing Stuart's Q in one training part, for every number of bootstraps."""
    filter_, i = cell[0], int(cell[1])
    X, y = read("ionosphere")
    parts = KFold(size["stuart_folds"], shuffle=True, random_state=seed).split(X)
    rows = list(parts)[i][0]
    weights = bootstraps(len(rows), max(LISTS), np.random.default_rng([seed, i, 4]))
    scores = scored(X[rows], y[rows], weights, [filter_])[filter_]
    return {"lists": [_both_ways(scores[:m]) for m in LISTS]}


def _both_ways(scores: np.ndarray) -> dict[str, Any]:
    runs = ms.Runs.from_scores(scores)
    log_q, _ = stuart_log_q(runs.ranks / runs.n_features)
    recursion, q = by_recursion(scores)
    with np.errstate(all="ignore"):
        error = np.abs(q * np.exp(-log_q) - 1)
    exact, first = ms.aggregate(runs, "stuart").ranks, alone(scores[0])
    return {
        "error": float(np.nanmax(np.where(np.isnan(q), np.nan, error), initial=0)),
        "outside": float(np.mean(~((q >= 0) & (q <= 1)))),
        "nan": float(np.mean(np.isnan(q))),
        "recursion": recursion.tolist(),
        "exact": exact.tolist(),
        "mean": ms.aggregate(runs, "mean").ranks.tolist(),
        "first": first.tolist(),
        "same": bool((recursion == first).all()),
        "between": float(spearmanr(recursion, exact).statistic),
    }
