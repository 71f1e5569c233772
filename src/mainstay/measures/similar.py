"""Stability of sets when similar features may stand in for each other."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from mainstay._validation import InputError, check_choice, natural_order
from mainstay.measures.chance import (
    Chance,
    Expectation,
    Graph,
    correct_for_chance,
    expected_adjustment,
    expected_one_sided,
    expected_overlap_score,
    ratio,
)
from mainstay.measures.entry import Measure
from mainstay.measures.inference import Scores, nothing_shared
from mainstay.measures.joint import Counts
from mainstay.measures.pairs import least_overlap_scores, overlaps, wald
from mainstay.runs import Runs
from mainstay.similarity import FeatureSimilarity


class SimilarPairs:
    """The pairs of runs, their sizes and overlaps, and the graph of features that can be swapped.

    Attributes
    ----------
    members, graph : numpy.ndarray, Graph
        Columns of the features that have a similar one, and their similarities. They come in the
        natural order of their names, so that seeded draws and ties do not depend on column order.
    sizes, which : numpy.ndarray
        The distinct sizes of the selections, and which of them every run has.
    overlap : numpy.ndarray
        m × m sizes of the intersections.
    """

    def __init__(self, runs: Runs, similarity: FeatureSimilarity) -> None:
        self.runs = runs
        self.similarity = similarity
        similar = np.flatnonzero(similarity.degrees)
        self.members = similar[natural_order([runs.features[i] for i in similar])]
        self.graph = Graph.from_sparse(similarity.graph[self.members][:, self.members])
        self.sizes, self.which = np.unique(runs.sizes, return_inverse=True)
        self.overlap = overlaps(runs)

    @property
    def p(self) -> int:
        """Number of features."""
        return self.runs.n_features

    @property
    def expected_overlap(self) -> np.ndarray:
        """E[r] for every pair of distinct sizes."""
        return np.outer(self.sizes, self.sizes) / self.p

    def adjustments(self, kind: int) -> np.ndarray:
        """m × m adjustments as seen from the row's run."""
        from mainstay._kernels.adjustments import pair_adjustments

        selected = self.members[self.runs.counts[self.members] > 0]
        graph = self.similarity.graph[selected][:, selected]
        linked = np.flatnonzero(np.diff(graph.indptr))  # to others that some run selects
        support = self.runs.sparse_support[:, selected[linked]]
        return np.asarray(
            pair_adjustments(
                kind,
                support.indptr.astype(np.int64),
                support.indices.astype(np.int64),
                *Graph.from_sparse(graph[linked][:, linked]).arrays,
            )
        )

    def spread(self, by_size: np.ndarray) -> np.ndarray:
        """Turn values per pair of distinct sizes into values per pair of runs."""
        if len(self.sizes) == 1:
            return np.broadcast_to(by_size, self.overlap.shape)
        return by_size[self.which[:, None], self.which[None, :]]

    def corrected(
        self, score: np.ndarray, expected: np.ndarray, bound: np.ndarray, **known: Any
    ) -> Scores:
        """Correct the m × m scores with what belongs to the two sizes."""
        one_size = len(self.sizes) == 1
        chance = (expected, bound) if one_size else (self.spread(expected), self.spread(bound))
        unlike = nothing_shared(correct_for_chance(np.zeros_like(score), *chance))
        return Scores(pairwise=correct_for_chance(score, *chance), unlike=unlike, **known)


def zucknick(pairs: SimilarPairs, chance: Chance) -> Scores:
    """(r + C(V_i, V_j) + C(V_j, V_i)) / |V_i ∪ V_j| with thresholded similarities.

    Given r, all pairs of different features are equally likely to be compared, so that
    E = Σ_r P(r)·[r + s̄·(a(b−r)/b + b(a−r)/a)]/(a+b−r), s̄ the mean thresholded similarity.
    """
    support, graph = pairs.runs.sparse_support.astype(float), pairs.similarity.graph
    near = support @ graph
    all_links = (near @ support.T).toarray()
    shared_links = (near.multiply(support) @ support.T).toarray()  # y in both sets does not count
    a = pairs.runs.sizes.astype(float)
    one_sided = np.nan_to_num(ratio(all_links - shared_links, np.broadcast_to(a, all_links.shape)))
    score = ratio(pairs.overlap + one_sided + one_sided.T, a[:, None] + a - pairs.overlap)
    if not chance.asked_for:
        return Scores(pairwise=score)
    per_pair = graph.sum() / (pairs.p * max(1, pairs.p - 1))

    def mean_given_overlap(r: Any, a: Any, b: Any, p: int) -> np.ndarray:
        links = np.nan_to_num(ratio(a * (b - r), b)) + np.nan_to_num(ratio(b * (a - r), a))
        return ratio(r + per_pair * links, a + b - r)

    expected = expected_overlap_score(mean_given_overlap, pairs.sizes, pairs.p)
    ones = np.ones_like(expected)
    return pairs.corrected(score, expected, ones, correction="exact")


def yu(pairs: SimilarPairs, chance: Chance) -> Scores:
    """r + (A(V_i, V_j) + A(V_j, V_i))/2, of at most (k_i + k_j)/2."""
    from mainstay._kernels.adjustments import COUNT

    count = pairs.adjustments(COUNT)
    score = pairs.overlap + (count + count.T) / 2
    bound = (pairs.sizes[:, None] + pairs.sizes) / 2
    score[pairs.spread(bound) == 0] = np.nan
    if chance.correction == "none":
        return Scores(pairwise=score)
    one_sided = expected_one_sided(pairs.graph, pairs.sizes, pairs.p, mean=False)
    expected = pairs.expected_overlap + (one_sided + one_sided.T) / 2
    return pairs.corrected(score, expected, bound, correction="exact")


def npogr(pairs: SimilarPairs, chance: Chance) -> Scores:
    """r + A(V_i, V_j), of at most k_i; not symmetric."""
    from mainstay._kernels.adjustments import COUNT

    score = pairs.overlap + pairs.adjustments(COUNT)
    if chance.correction == "none":
        return Scores(pairwise=score)
    one_sided = expected_one_sided(pairs.graph, pairs.sizes, pairs.p, mean=False)
    bound = np.broadcast_to(pairs.sizes[:, None], one_sided.shape).astype(float)
    expected = pairs.expected_overlap + one_sided
    return pairs.corrected(score, expected, bound, correction="exact")


_BOUNDS = ("geometric", "arithmetic")


def sma(adjustment: str, pairs: SimilarPairs, chance: Chance, bound: str = "geometric") -> Scores:
    """r + adjustment, of at most √(k_i k_j); `adjustment` names a kernel's constant.

    With bound="arithmetic" the largest score is taken to be (k_i + k_j)/2, as for `yu`: looser
    where two selections differ in size, so that their corrected score is nearer to 0.
    """
    from mainstay._kernels import adjustments

    check_choice("bound", bound, _BOUNDS)
    kind = getattr(adjustments, adjustment)
    one_sided = pairs.adjustments(kind)
    score = pairs.overlap + np.minimum(one_sided, one_sided.T)
    if chance.correction == "none":
        return Scores(pairwise=score)
    largest = np.sqrt(np.outer(pairs.sizes, pairs.sizes))
    if bound == "arithmetic":
        largest = (pairs.sizes[:, None] + pairs.sizes) / 2
    sensitivity = _sensitivity(pairs, score, largest, pairs.expected_overlap)
    added = expected_adjustment(kind, pairs.graph, pairs.sizes, pairs.p, chance, sensitivity)
    return pairs.corrected(
        score,
        pairs.expected_overlap + added.mean,
        largest,
        correction="estimate" if added.n_draws else "exact",
        chance_standard_error=added.value_error,
        n_draws=added.n_draws,
    )


def _sensitivity(
    pairs: SimilarPairs, score: np.ndarray, bound: np.ndarray, known: np.ndarray
) -> Any:
    """d(stability)/dE for every unordered pair of sizes, as a function of E − `known`."""
    m, n = pairs.runs.n_runs, len(pairs.sizes)
    numbers, totals = np.zeros(n * n, dtype=np.int64), np.zeros(n * n)
    for i in range(m - 1):
        mine, others = pairs.which[i], pairs.which[i + 1 :]
        cell = np.minimum(mine, others) * n + np.maximum(mine, others)
        numbers += np.bincount(cell, minlength=n * n)
        totals += np.bincount(cell, weights=score[i, i + 1 :], minlength=n * n)
    number, total = numbers.reshape(n, n), totals.reshape(n, n)

    def sensitivity(expected: np.ndarray) -> np.ndarray:
        room = bound - known - expected
        room = np.where(room <= 1e-10 * np.maximum(bound, 1), np.inf, room)
        pull = -(number * bound - total) / room**2 / (m * (m - 1) / 2)
        return np.where((number > 0) & np.isfinite(room), np.minimum(pull, -1e-300), 0.0)

    return sensitivity


def matching(pairs: SimilarPairs, chance: Chance) -> Scores:
    """Weight of the maximum-weight matching of V_i with V_j / max(k_i, k_j)."""
    links = MatchingLinks(pairs)
    support = pairs.runs.sparse_support
    rows = np.split(support.indices, support.indptr[1:-1])
    score = np.full((len(rows), len(rows)), np.nan)
    for i, mine in enumerate(rows):
        for j in range(i + 1, len(rows)):
            score[i, j] = score[j, i] = links.score(mine, rows[j])
    if not chance.asked_for:
        return Scores(pairwise=score)
    if chance.correction == "exact":
        raise InputError(
            "'matching' has no exact expectation here; use correction='estimate' or 'none'."
        )
    random = _simulated_matching(pairs, links, score, chance)
    return pairs.corrected(
        score,
        random.mean,
        np.ones_like(random.mean),
        correction="estimate",
        chance_standard_error=random.value_error,
        n_draws=random.n_draws,
    )


class MatchingLinks:
    """Similarities of the features that have a similar one, identical features 1."""

    def __init__(self, pairs: SimilarPairs) -> None:
        self.place = np.full(pairs.p, -1)
        self.place[pairs.members] = np.arange(len(pairs.members))
        self.links = pairs.graph.to_sparse() + sp.eye_array(pairs.graph.n, format="csr")

    def score(self, mine: np.ndarray, theirs: np.ndarray) -> float:
        """Weight of the maximum-weight matching of two sets / size of the larger one."""
        from scipy.optimize import linear_sum_assignment

        largest = max(len(mine), len(theirs))
        if largest == 0:
            return np.nan
        linked, others = self.place[mine] >= 0, self.place[theirs] >= 0
        weight = len(np.intersect1d(mine[~linked], theirs[~others], assume_unique=True))
        if linked.any() and others.any():
            block = self.links[self.place[mine[linked]]][:, self.place[theirs[others]]].toarray()
            weight += block[linear_sum_assignment(block, maximize=True)].sum()
        return float(weight / largest)


def _simulated_matching(
    pairs: SimilarPairs, links: MatchingLinks, score: np.ndarray, chance: Chance
) -> Expectation:
    """Plain Monte Carlo from shared permutations, in rounds, until the tolerance is met."""
    n = len(pairs.sizes)
    nothing = np.zeros((n, n))
    sensitivity = _sensitivity(pairs, np.nan_to_num(score), np.ones((n, n)), nothing)
    first, second = np.nonzero(sensitivity(nothing))
    draws: list[list[float]] = []
    while True:
        for _ in range(20):
            one, two = chance.rng.permutation(pairs.p), chance.rng.permutation(pairs.p)
            draws.append(
                [
                    links.score(one[: pairs.sizes[u]], two[: pairs.sizes[v]])
                    for u, v in zip(first, second, strict=True)
                ]
            )
        drawn = np.nan_to_num(np.array(draws))
        expected = nothing.copy()
        expected[first, second] = expected[second, first] = drawn.mean(axis=0)
        by_draw = drawn @ sensitivity(expected)[first, second]
        error = float(by_draw.std(ddof=1) / np.sqrt(len(draws)))
        if error <= chance.tolerance or len(draws) >= chance.max_draws:
            return Expectation(expected, value_error=error, n_draws=len(draws))


def sechidis(pairs: SimilarPairs, chance: Chance) -> Scores:
    """1 − tr(CΣ̂)/tr(CΣ⁰), with every run left out in turn from the same sums."""
    similarity, counts = pairs.similarity, Counts.of(pairs.runs)
    threshold = similarity.threshold
    diagonal = np.where(similarity.diagonal >= threshold, similarity.diagonal, 0.0)
    support, h, k = counts.support.astype(float), counts.h.astype(float), counts.sizes.astype(float)

    def product(x: Any) -> Any:
        return similarity.graph @ x + diagonal * x

    near_h = product(h)
    near = support @ similarity.graph + support.multiply(diagonal)
    agreement = np.asarray((near @ support.T).toarray())
    own = agreement.diagonal()
    with_h = support @ near_h
    together = np.concatenate(([own.sum()], own.sum() - own))  # Σ_i v_i C v_i
    squared = np.concatenate(([h @ near_h], h @ near_h - 2 * with_h + own))  # h C h
    m, p = counts.runs_left, counts.p
    mean_k = counts.totals / m
    mean_k2 = np.concatenate(([(k * k).sum()], (k * k).sum() - k * k)) / m
    observed = ratio(together / m - squared / m**2, (m - 1) / m)
    off_diagonal = (mean_k2 - mean_k) / (p * p - p) - mean_k**2 / p**2 if p > 1 else 0 * mean_k
    parts = np.stack(
        (diagonal.sum() * mean_k / p * (1 - mean_k / p), similarity.graph.sum() * off_diagonal)
    )
    random = parts.sum(axis=0)
    random[np.abs(random) <= 1e-12 * np.abs(parts).sum(axis=0)] = 0.0
    values = 1 - ratio(observed, random)
    return Scores(
        joint=float(values[0]),
        leave_one_out=values[1:] if counts.m > 2 else None,
        agreement=agreement / (random[0] or 1.0),
        unlike=nothing_shared(least_overlap_scores(wald, pairs.runs)),
        correction="by definition",
    )


_BOMMERT = "Bommert and Rahnenführer 2020"
_BELOW_1 = (-math.inf, 1.0)

ENTRIES = (
    Measure("zucknick", "similarity", (0, 1), "Zucknick et al. 2008", run_scores=zucknick),
    Measure("yu", "similarity", _BELOW_1, f"Yu et al. 2012; {_BOMMERT}", run_scores=yu,
            corrected=True, limits=False),
    Measure("sma_count", "similarity", _BELOW_1, _BOMMERT, run_scores=partial(sma, "COUNT"),
            corrected=True, limits=False, options=("bound",)),
    Measure("sma_mean", "similarity", _BELOW_1, _BOMMERT, run_scores=partial(sma, "MEAN"),
            corrected=True, limits=False, options=("bound",)),
    Measure("sma_greedy", "similarity", _BELOW_1, _BOMMERT, run_scores=partial(sma, "GREEDY"),
            corrected=True, limits=False, options=("bound",)),
    Measure("sma_mbm", "similarity", _BELOW_1, _BOMMERT, run_scores=partial(sma, "MATCHING"),
            corrected=True, limits=False, options=("bound",)),
    Measure("npogr", "similarity", _BELOW_1, "Zhang et al. 2009", run_scores=npogr,
            corrected=True, limits=False, symmetry=False, options=("pairing",)),
    Measure("matching", "similarity", (0, 1), "Yu, Ding and Loscalzo 2008", run_scores=matching),
    Measure("sechidis", "similarity", _BELOW_1, "Sechidis et al. 2020", run_scores=sechidis,
            corrected=True, limits=False),
)  # fmt: skip
