"""Scores of two selections, averaged over all pairs of runs.

They are functions of r = |V_i ∩ V_j|, a = |V_i|, b = |V_j| and p, on arrays; NaN means undefined.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from mainstay.measures.chance import Chance, correct_for_chance, expected_overlap_score, ratio
from mainstay.measures.entry import Measure, PairScore
from mainstay.measures.inference import Scores, nothing_shared
from mainstay.runs import Runs

_BLOCK_SIZE = 2**18  # pairs of runs that are scored at once
_SPARSE_COST = 128  # of a step in a sparse product, in steps of BLAS


def scores_of_pairs(measure: Measure, runs: Runs, chance: Chance) -> Scores:
    """Score every pair of runs."""
    score = measure.pair_score
    assert score is not None
    a, p = runs.sizes.astype(float), runs.n_features
    pairwise = overlaps(runs)
    for rows in _blocks(len(pairwise)):
        pairwise[rows] = score(pairwise[rows], a[rows, None], a[None, :], p)
    if not (measure.corrected or chance.asked_for):
        return Scores(pairwise=pairwise)
    lowest = least_overlap_scores(score, runs)
    if measure.corrected:
        unlike = nothing_shared(lowest)
        return Scores(pairwise=pairwise, unlike=unlike, correction="by definition")
    sizes, which = np.unique(runs.sizes, return_inverse=True)
    expected = expected_overlap_score(score, sizes, p)[which[:, None], which[None, :]]
    return Scores(
        pairwise=correct_for_chance(pairwise, expected, 1.0),
        unlike=nothing_shared(correct_for_chance(lowest, expected, 1.0)),
        correction="exact",
    )


def _blocks(m: int) -> Iterator[slice]:
    """Rows of an m × m array, some at a time: what is computed from them stays in the cache."""
    step = max(1, _BLOCK_SIZE // m)
    return (slice(at, at + step) for at in range(0, m, step))


def least_overlap_scores(score: PairScore, runs: Runs) -> np.ndarray:
    """m × m scores of selections of the runs' sizes that share as little as they can."""
    a, p = runs.sizes.astype(float), runs.n_features
    return score(np.maximum(0.0, a[:, None] + a - p), a[:, None], a[None, :], p)


def overlaps(runs: Runs) -> np.ndarray:
    """m × m sizes of the intersections of the runs' selections."""
    used = np.flatnonzero(runs.counts)
    support, counts = runs.sparse_support[:, used], runs.counts[used].astype(float)
    m, p = support.shape
    if (counts**2).sum() < m * m * p / _SPARSE_COST:
        return np.asarray((support @ support.T).toarray(), dtype=float)
    total = np.zeros((m, m))
    width = max(1, 2**24 // m)
    columns = support.tocsc()
    for start in range(0, p, width):
        block = columns[:, start : start + width].toarray().astype(np.float32)
        for rows in _blocks(m):  # sums are whole numbers below 2²⁴: exact
            total[rows] += block[rows] @ block.T
    return total


def jaccard(r: Any, a: Any, b: Any, p: int) -> np.ndarray:
    """r / |V_i ∪ V_j|"""
    return ratio(r, a + b - r)


def dice(r: Any, a: Any, b: Any, p: int) -> np.ndarray:
    """2r / (a + b)"""
    return ratio(2 * r, a + b)


def ochiai(r: Any, a: Any, b: Any, p: int) -> np.ndarray:
    """r / √(ab)"""
    return ratio(r, np.sqrt(a * b))


def hamming(r: Any, a: Any, b: Any, p: int) -> np.ndarray:
    """Share of the p features on which both agree"""
    return np.asarray((p - a - b + 2 * r) / p)


def kuncheva(r: Any, a: Any, b: Any, p: int) -> np.ndarray:
    """(r − k²/p) / (k − k²/p)"""
    return wald(r, a, b, p)


def lustgarten(r: Any, a: Any, b: Any, p: int) -> np.ndarray:
    """(r − ab/p) / (min(a, b) − max(0, a + b − p))"""
    return ratio(r - a * b / p, np.minimum(a, b) - np.maximum(0, a + b - p))


def wald(r: Any, a: Any, b: Any, p: int) -> np.ndarray:
    """(r − ab/p) / (min(a, b) − ab/p)"""
    return ratio(r - a * b / p, np.minimum(a, b) - a * b / p)


def npog(r: Any, a: Any, b: Any, p: int) -> np.ndarray:
    """(r − ab/p) / (a − ab/p), a being the first set's size"""
    return ratio(r - a * b / p, a - a * b / p)


def sim_n(r: Any, a: Any, b: Any, p: int) -> np.ndarray:
    """(r − ab/p) / max(ab/p − max(0, a + b − p), min(a, b) − ab/p); 0 for an empty or full set"""
    e = a * b / p
    span = np.maximum(e - np.maximum(0, a + b - p), np.minimum(a, b) - e)
    return np.asarray(np.nan_to_num(ratio(r - e, span), nan=0.0))


def unadjusted(r: Any, a: Any, b: Any, p: int) -> np.ndarray:
    """(r − ab/p) / (√(ab) − ab/p)"""
    return ratio(r - a * b / p, np.sqrt(a * b) - a * b / p)


def phi(r: Any, a: Any, b: Any, p: int) -> np.ndarray:
    """Pearson correlation of the two indicator vectors"""
    return ratio(p * r - a * b, np.sqrt(a * (p - a) * b * (p - b)))


def kappa(r: Any, a: Any, b: Any, p: int) -> np.ndarray:
    """Cohen's kappa of the two indicator vectors, 2(r − ab/p) / (a + b − 2ab/p)"""
    e = a * b / p
    return ratio(2 * (r - e), a + b - 2 * e)


ENTRIES = (
    Measure("jaccard", "set", (0, 1), "Jaccard 1901; Kalousis et al. 2007", jaccard),
    Measure("dice", "set", (0, 1), "Dice 1945", dice),
    Measure("ochiai", "set", (0, 1), "Ochiai 1957; Zucknick et al. 2008", ochiai),
    Measure("hamming", "set", (0, 1), "Dunne et al. 2002", hamming),
    Measure("kuncheva", "set", (-1, 1), "Kuncheva 2007", kuncheva, corrected=True,
            equal_sizes=True),
    Measure("lustgarten", "set", (-1, 1), "Lustgarten et al. 2009", lustgarten, corrected=True,
            limits=False),
    Measure("wald", "set", (-math.inf, 1), "Wald et al. 2013", wald, corrected=True, limits=False),
    Measure("npog", "set", (-math.inf, 1), "Zhang et al. 2009", npog, corrected=True, limits=False,
            symmetry=False, options=("pairing",)),
    Measure("sim_n", "set", (-1, 1), "Nogueira and Brown 2015", sim_n, corrected=True),
    Measure("unadjusted", "set", (-1, 1), "Bommert and Rahnenführer 2020", unadjusted,
            corrected=True),
    Measure("phi", "set", (-1, 1), "Nogueira and Brown 2016", phi, corrected=True),
    Measure("kappa", "set", (-1, 1), "Carletta 1996", kappa, corrected=True),
)  # fmt: skip
