"""The real ensembles of onda2021: mean ranks of the first m weak selectors of every fold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from _cells import Cell
from _onda_forests import TREES, Data, as_steps, deal, predicted, read, top
from _onda_trees import Columns

import mainstay as ms
from mainstay.measures.intervals import jackknife_variance
from mainstay.resampling import make_resamples

SIZES = (1, 5, 10, 15, 20, 30, 40, 50)


def mean_ranks(scores: np.ndarray, sizes: list[int]) -> np.ndarray:
    """Aggregate the first m rows of scores for every m of `sizes`: minus the mean rank.

    The same as `ms.aggregate(first_m, "rank_mean").scores`, from one ranking of every row.
    """
    ranks = ms.Runs.from_scores(scores).ranks
    return -np.cumsum(ranks, axis=0)[np.array(sizes) - 1] / np.array(sizes)[:, None]


def ensemble_fold(cell: Cell, weak: int, seed: int) -> dict[str, Any]:
    """Select by ensembles in one fold: cell = data, mtry, kind, the sample left out.

    `selected`: numbers of trees × ensemble sizes × k features; `hits`: whether a forest on half 2
    classifies the sample well by these features. Weak selectors see bootstraps of half 1 or, with
    kind "half", differ by their seed only.
    """
    name, mtry, kind, left_out = cell[0], cell[1], cell[2], int(cell[3])
    data = read(name)
    rng = np.random.default_rng([seed, data.n_features, left_out])
    first, second = deal(data.y, left_out, rng)
    y, sizes = data.y[first], [m for m in SIZES if m <= weak]
    scores = []
    for rows in make_resamples("bootstrap", weak, len(y), classes=y, rng=rng):
        seen = first[rows] if kind == "bootstrap" else first
        columns = Columns(data.X[seen], data.y[seen])
        scores.append(columns.importances(TREES, data.mtry(mtry), int(rng.integers(2**31))))
    by_trees = np.array(scores).transpose(1, 0, 2)
    selected = np.array(
        [top(mean_ranks(part, sizes), data.n_target, seed=seed + left_out) for part in by_trees]
    )
    found: dict[str, Any] = {"selected": as_steps(selected)}
    if kind == "bootstrap" and mtry == "sqrt":
        found["hits"] = [[_hit(data, second, left_out, s, seed) for s in t] for t in selected]
    return found


def _hit(data: Data, rows: np.ndarray, left_out: int, chosen: np.ndarray, seed: int) -> int:
    """Whether a forest that sees these rows and features is right on the sample left out."""
    x = np.ascontiguousarray(data.X[left_out : left_out + 1, chosen])
    X = np.ascontiguousarray(data.X[np.ix_(rows, chosen)])
    return int(predicted(X, data.y[rows], x, seed + left_out) == data.y[left_out])


def runs_of(selected: np.ndarray, data: Data) -> ms.Runs:
    """Make runs of folds × k feature numbers."""
    return ms.Runs.from_sets(selected.tolist(), features=data.n_features)


def jaccard(selected: np.ndarray, data: Data) -> float:
    """Mean Jaccard index of all pairs of folds."""
    return ms.stability(runs_of(selected, data), "jaccard").value


def estimates_of(data: Data, found: dict[str, Any]) -> pd.DataFrame:
    """Stability by size of the ensemble (rows) and number of trees (columns): estimates (Fig. 10).

    Their standard errors are a jackknife over folds.
    """
    made = {
        trees: [ms.stability(runs_of(selected, data), "jaccard") for selected in by_size]
        for trees, by_size in zip(TREES, found["selected"], strict=True)
    }
    return pd.DataFrame(made, index=pd.Index(found["sizes"], name="m_ensemble"))


def contrast(estimates: Any, weights: Any) -> tuple[float, float]:
    """Σ w_i θ_i of stabilities from the same folds, and its error.

    The jackknife leaves out the same fold in all of them, so that what they owe to it cancels out.
    """
    value = sum(w * e.value for w, e in zip(weights, estimates, strict=True))
    left_out = sum(w * e.leave_one_out for w, e in zip(weights, estimates, strict=True))
    return float(value), jackknife_variance(left_out) ** 0.5


def accuracy(found: dict[str, Any]) -> pd.DataFrame:
    """Share of left-out samples that a forest on half 2 classifies well (Figs. 1 and 6)."""
    sizes = pd.Index(found["sizes"], name="m_ensemble")
    return pd.DataFrame(found["hits"].mean(axis=0).T, index=sizes, columns=list(TREES))
