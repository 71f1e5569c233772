"""The real ensembles of onda2021: mean ranks of the first m weak selectors of every fold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from _onda_forests import TREES, Bank, Data, cached, predicted, top

import mainstay as ms

SIZES = (1, 5, 10, 15, 20, 30, 40, 50)


def mean_ranks(scores: np.ndarray, sizes: list[int]) -> np.ndarray:
    """Aggregate the first m rows of scores for every m of `sizes`: minus the mean rank.

    The same as `ms.aggregate(first_m, "rank_mean").scores`, from one ranking of every row.
    """
    ranks = ms.Runs.from_scores(scores).ranks
    return -np.cumsum(ranks, axis=0)[np.array(sizes) - 1] / np.array(sizes)[:, None]


def check_mean_ranks(bank: Bank) -> None:
    """Stop if `mean_ranks` is not what the library's aggregation gives."""
    scores = bank.importances[0, :, 0]
    m = len(scores)
    library = ms.aggregate(ms.Runs.from_scores(scores), "rank_mean").scores
    np.testing.assert_allclose(mean_ranks(scores, [m])[0], library, rtol=1e-12)


def ensembles(data: Data, bank: Bank, name: str, options: Any) -> dict[str, Any]:
    """Return, cached, what ensembles of the first m weak selectors select.

    `selected`: numbers of trees × ensemble sizes × folds × k features.
    """
    weak = bank.importances.shape[1]
    sizes = [m for m in SIZES if m <= weak]

    def make() -> dict[str, np.ndarray]:
        check_mean_ranks(bank)
        shape = (len(TREES), len(sizes), len(bank.importances), data.n_target)
        selected = np.empty(shape, dtype=np.uint16)
        for t in range(len(TREES)):
            scores = np.array([mean_ranks(fold[:, t], sizes) for fold in bank.importances])
            for s in range(len(sizes)):
                support = top(scores[:, s], data.n_target, seed=options.seed)
                selected[t, s] = np.nonzero(support)[1].reshape(len(support), -1)
        return {"selected": selected, "sizes": np.array(sizes)}

    return cached(options.cache, f"ensembles_{name}", make)


def runs_of(selected: np.ndarray, data: Data) -> ms.Runs:
    """Make runs of folds × k feature numbers."""
    return ms.Runs.from_sets(selected.tolist(), features=data.n_features)


def jaccard(selected: np.ndarray, data: Data) -> float:
    """Mean Jaccard index of all pairs of folds."""
    return ms.stability(runs_of(selected, data), "jaccard").value


def curve(data: Data, found: dict[str, Any]) -> pd.DataFrame:
    """Stability against the size of the ensemble: one column per number of trees (Fig. 10)."""
    values = {
        trees: [jaccard(selected, data) for selected in by_size]
        for trees, by_size in zip(TREES, found["selected"], strict=True)
    }
    return pd.DataFrame(values, index=pd.Index(found["sizes"], name="m_ensemble"))


def accuracy(data: Data, bank: Bank, found: dict[str, Any], name: str, options: Any) -> Any:
    """Share of left-out samples that a forest on half 2 classifies well (Figs. 1 and 6)."""

    def make() -> dict[str, np.ndarray]:
        hits = np.zeros(found["selected"].shape[:3], dtype=bool)
        for fold, (left_out, half) in enumerate(zip(bank.left_out, bank.half, strict=True)):
            X, y = data.X[half == 2], data.y[half == 2]
            for t, s in np.ndindex(hits.shape[:2]):
                chosen = found["selected"][t, s, fold]
                x = np.ascontiguousarray(data.X[left_out : left_out + 1, chosen])
                guess = predicted(np.ascontiguousarray(X[:, chosen]), y, x, options.seed + fold)
                hits[t, s, fold] = guess == data.y[left_out]
        return {"hits": hits}

    hits = cached(options.cache, f"accuracy_{name}", make)["hits"]
    return pd.DataFrame(
        hits.mean(axis=2).T, index=pd.Index(found["sizes"], name="m_ensemble"), columns=list(TREES)
    )
