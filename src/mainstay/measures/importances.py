"""Stability of importances: how much importance two runs share, similar features included."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from mainstay._validation import InputError, some
from mainstay.measures.chance import Chance
from mainstay.measures.entry import Measure
from mainstay.measures.inference import Scores
from mainstay.runs import Runs
from mainstay.similarity import FeatureSimilarity


def shared_importance(
    runs: Runs,
    chance: Chance,
    *,
    similarity: FeatureSimilarity | None = None,
    k: int | None = None,
) -> Scores:
    """Largest Σ x_fg c_fg with Σ_g x_fg ≤ I_if and Σ_f x_fg ≤ I_jg, x ≥ 0.

    I are the importances of run i and run j, each run's divided by their sum; c is the similarity
    of two features, 1 for a feature and itself, 0 below the threshold. Without similar features it
    is Σ_f min(I_if, I_jf). Selected features without scores are equally important.
    """
    if chance.asked_for:
        raise InputError(
            "'shared_importance' has no correction for chance; use correction='auto' or 'none'."
        )
    shares = _shares(runs, k, chance.seed)
    if similarity is None:
        score = _smaller_of_both(shares)
    else:
        linked = similarity.degrees > 0
        score = _smaller_of_both(shares[:, ~linked])
        members = np.flatnonzero(linked)
        links = similarity.graph[members][:, members] + sp.eye_array(len(members))
        score += _transported(sp.csr_array(shares[:, members]), sp.csr_array(links))
    empty = ~shares.any(axis=1)
    score[np.outer(empty, empty)] = np.nan
    return Scores(pairwise=np.minimum(score, 1.0))


def _shares(runs: Runs, k: int | None, seed: int) -> np.ndarray:
    """m × p importances that add up to 1 in every run; 0 for what a run did not select."""
    if runs.kind == "support":
        if k is not None:
            raise InputError("k cuts scores, but these runs hold selections; leave k out.")
        importances = runs.support.astype(float)
    else:
        importances = runs.scores
        if k is not None:
            importances = np.where(runs.top(k, random_state=seed).support, importances, 0.0)
        if (importances < 0).any():
            of_run, feature = np.argwhere(importances < 0)[0]
            raise InputError(
                "'shared_importance' needs importances of at least 0, but run "
                f"{of_run} has {importances[of_run, feature]:g} for "
                f"{some([runs.features[feature]])}. Give importances such as absolute "
                "coefficients, or selections (runs.top(20)), which count as equally important."
            )
    total = importances.sum(axis=1, keepdims=True)
    return np.asarray(importances / np.where(total > 0, total, 1.0))


def _smaller_of_both(shares: np.ndarray) -> np.ndarray:
    """m × m sums over the features of min(I_if, I_jf)."""
    from scipy.spatial.distance import pdist, squareform

    used = np.ascontiguousarray(shares[:, shares.any(axis=0)])
    total = used.sum(axis=1)
    gap = squareform(pdist(used, "cityblock")) if used.size else 0.0
    return np.asarray((total[:, None] + total - gap) / 2)


def _transported(shares: Any, links: Any) -> np.ndarray:
    """m × m optimal values of the transport problem among features that have similar ones.

    One linear program for a run and all later ones: their problems are separate blocks of it.
    """
    m = shares.shape[0]
    value = np.zeros((m, m))
    for i in range(m):
        mine = shares[[i]]
        problems = [_Transport(mine, shares[[j]], links) for j in range(i + 1, m)]
        value[i, i + 1 :] = value[i + 1 :, i] = _solved(problems)
    return value


class _Transport:
    """One run's importances, the other's, and the links between the features that they hold."""

    def __init__(self, mine: Any, theirs: Any, links: Any) -> None:
        block = sp.coo_array(links[mine.indices][:, theirs.indices])
        self.sources, self.targets = block.coords
        self.worth = block.data
        self.limits = np.concatenate([mine.data, theirs.data])
        self.n_sources = mine.nnz


def _solved(problems: list[_Transport]) -> np.ndarray:
    """Optimal value of every problem."""
    from scipy.optimize import linprog

    n_edges = [len(problem.worth) for problem in problems]
    if not sum(n_edges):
        return np.zeros(len(problems))
    starts = np.cumsum([0, *(len(problem.limits) for problem in problems)])
    at = np.repeat(starts[:-1], n_edges)
    sources = np.concatenate([problem.sources for problem in problems]) + at
    targets = np.concatenate([p.targets + p.n_sources for p in problems]) + at
    worth = np.concatenate([problem.worth for problem in problems])
    edges = np.arange(len(worth))
    uses = sp.csr_array(
        (np.ones(2 * len(edges)), (np.concatenate([sources, targets]), np.tile(edges, 2))),
        shape=(starts[-1], len(edges)),
    )
    limits = np.concatenate([problem.limits for problem in problems])
    found = linprog(-worth, A_ub=uses, b_ub=limits, method="highs")
    if found.status != 0:
        raise RuntimeError(f"the linear program of 'shared_importance' failed: {found.message}")
    which = np.repeat(np.arange(len(problems)), n_edges)
    return np.bincount(which, weights=worth * found.x, minlength=len(problems))


ENTRIES = (
    Measure("shared_importance", "importances", (0, 1), "Hamer and Dupont 2021",
            run_scores=shared_importance, options=("k",)),
)  # fmt: skip
