"""Stability of selections whose features carry importances: scores, 0 = not selected.

Hamer and Dupont (2021, JMLR 22) proposed to weight the features of a selection by their importance
in the model, so that disagreement about features that hardly matter counts little. The text of
their definition was not at hand when this was written: the formula below is derived here from that
idea, by putting importances into the ratio of variances of Nogueira, Sechidis and Brown (2018). It
need not give the numbers of their φ_iw.
"""

from __future__ import annotations

import numpy as np

from mainstay._validation import InputError, check_count, some
from mainstay.measures.chance import Chance, ratio
from mainstay.measures.entry import Measure
from mainstay.measures.inference import Scores
from mainstay.runs import Runs


def importance_weighted(runs: Runs, chance: Chance, *, k: int | None = None) -> Scores:
    """1 − mean_f s²(w_·f) / (mean w² − (mean w)²), w_if the importance of feature f in run i.

    The scores of a run are its importances, at least 0; 0 means not selected. They are scaled so
    that those of the selected features are 1 on average, Σ_f w_if = number of features that run i
    selects. s² is the sample variance over runs, the denominator the variance of all m·p values.
    With equal importances w is 0 or 1 and the measure is `nogueira`. If every run's importances are
    dealt to features at random, both variances agree on average: it is 0. With `k`, only the k most
    important features of every run count.
    """
    weights = _scaled_importances(runs if k is None else _best(runs, k, chance.seed))
    m, p = weights.shape
    sums, own = weights.sum(axis=0), np.einsum("ij,ij->i", weights, weights)
    sizes = weights.sum(axis=1)
    runs_left = np.concatenate(([m], np.full(m, m - 1.0)))
    squares = np.concatenate(([own.sum()], own.sum() - own))  # Σ_if w²
    of_sums = sums @ sums - 2 * (weights @ sums) + own  # Σ_f (Σ_i w)² without each run in turn
    of_sums = np.concatenate(([sums @ sums], of_sums))
    mean = np.concatenate(([sizes.sum()], sizes.sum() - sizes)) / (runs_left * p)
    between_runs = ratio(squares - of_sums / runs_left, (runs_left - 1) * p)
    overall = squares / (runs_left * p) - mean**2
    negligible = overall <= 1e-12 * squares / (runs_left * p)
    values = 1 - ratio(between_runs, np.where(negligible, 0.0, overall))
    products = weights @ weights.T - p * mean[0] ** 2
    return Scores(
        joint=float(values[0]),
        leave_one_out=values[1:] if m > 2 else None,
        agreement=products / (p * overall[0]) if overall[0] > 0 else None,
        correction="by definition",
    )


def _best(runs: Runs, k: int, seed: int) -> Runs:
    """The scores of the k best features of every run, 0 for the others."""
    check_count("k", k, 1, runs.n_features)
    best = runs.top(k, random_state=seed).support
    return Runs.from_scores(np.where(best, runs.scores, 0.0), features=runs.features)


def _scaled_importances(runs: Runs) -> np.ndarray:
    scores = runs.scores
    negative = np.flatnonzero((scores < 0).any(axis=0))
    if negative.size:
        names = [runs.features[int(j)] for j in negative]
        raise InputError(
            "importances are at least 0, and 0 means not selected, but some scores are negative: "
            f"{some(names)}. Give absolute values, such as those of a model's coefficients."
        )
    total = scores.sum(axis=1, keepdims=True)
    size = (scores > 0).sum(axis=1, keepdims=True)
    return np.asarray(scores * size / np.where(total > 0, total, 1.0))


ENTRIES = (
    Measure("importance_weighted", "scores", (-1, 1),
            "derived here from Nogueira et al. 2018, after an idea of Hamer and Dupont 2021",
            run_scores=importance_weighted, corrected=True, options=("k",)),
)  # fmt: skip
