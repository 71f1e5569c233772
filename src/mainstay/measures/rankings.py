"""Stability of rankings and scores.

With `k`, everything below place k counts as tied: ranks beyond k become k + 1 (`canberra`: Jurman
et al. 2008) or their average (`spearman`, `kendall`, `kendall_w`), and overlaps stop at depth k.
"""

from __future__ import annotations

import math
import warnings

import numpy as np

from mainstay._validation import check_count, check_fraction
from mainstay.measures.chance import Chance, correct_for_chance, ratio
from mainstay.measures.entry import Measure
from mainstay.measures.inference import Scores
from mainstay.runs import Runs, average_ranks, break_ties

MOST_PAIRWISE_STEPS = 2e9  # beyond, Kendall's τ is averaged without looking at pairs of runs


def truncated_ranks(runs: Runs, k: int | None) -> np.ndarray:
    """Average ranks, those beyond place k tied."""
    ranks = runs.ranks
    if k is None or check_count("k", k, 1, runs.n_features) == runs.n_features:
        return ranks
    return average_ranks(np.minimum(ranks, k + 1.0))


def strict_ranks(runs: Runs, random_state: int) -> np.ndarray:
    """Ranks without ties: ties are broken as in `Runs.top`."""
    ranks = runs.ranks
    whole = np.sort(ranks, axis=1) == np.arange(1.0, runs.n_features + 1)
    tied = np.flatnonzero(~whole.all(axis=1))
    if tied.size:
        warnings.warn(
            f"{tied.size} of {runs.n_runs} rankings have ties; they were broken at random "
            f"(random_state={random_state}).",
            stacklevel=6,
        )
        ranks = ranks.copy()
        ranks[tied] = break_ties(ranks[tied], runs.features, random_state)
    return ranks


def _correlations(values: np.ndarray) -> np.ndarray:
    """m × m Pearson correlations of the rows; NaN for a constant row."""
    centred = values - values.mean(axis=1, keepdims=True)
    length = np.sqrt(np.einsum("ij,ij->i", centred, centred))[:, None]
    negligible = length <= 1e-13 * np.abs(values).max(axis=1, keepdims=True)
    unit = np.where(negligible, np.nan, centred / np.where(negligible, 1.0, length))
    return np.asarray(np.clip(unit @ unit.T, -1.0, 1.0))


def pearson(runs: Runs, chance: Chance) -> Scores:
    """Pearson correlation of the scores."""
    return Scores(pairwise=_correlations(runs.scores), unlike=-1.0, correction="by definition")


def spearman(runs: Runs, chance: Chance, *, k: int | None = None) -> Scores:
    """Pearson correlation of the (average) ranks."""
    return Scores(
        pairwise=_correlations(truncated_ranks(runs, k)), unlike=-1.0, correction="by definition"
    )


def kendall(runs: Runs, chance: Chance, *, k: int | None = None) -> Scores:
    """Kendall's τ-b: (concordant − discordant) / √((n₀ − n_i)(n₀ − n_j)), n_i pairs tied in run i.

    Pair by pair with Knight's algorithm, or, for many runs, averaged over all pairs at once: with
    s_i(f, g) = sign(r_if − r_ig)/√(n₀ − n_i), Σ_{i≠j} τ_ij = Σ_{f<g} (Σ_i s_i)² − m. The interval
    is then built on the jackknife alone, which for so many runs is enough.
    """
    from mainstay._kernels import concordance

    ranks = truncated_ranks(runs, k)
    m, p = ranks.shape
    order = np.argsort(ranks, axis=1, kind="stable")
    ordered = np.take_along_axis(ranks, order, axis=1)
    untied = np.array([_untied_pairs(row) for row in ordered])
    if m * m / 2 * p * max(1.0, math.log2(p)) <= MOST_PAIRWISE_STEPS or (untied == 0).any():
        net = concordance.pairwise_concordance(ranks, order)
        tau = ratio(net, np.sqrt(np.outer(untied, untied)))
        return Scores(pairwise=tau, unlike=-1.0, correction="by definition")
    if (untied == untied[0]).all() and m < 2**14:
        whole = (2 * ranks).astype(np.int16 if p < 2**14 else np.int32)
        total, row_sums = concordance.whole_concordance_totals(whole)
        total, row_sums = total / untied[0], row_sums / untied[0]
    else:
        total, row_sums = concordance.scaled_concordance_totals(ranks, 1 / np.sqrt(untied))
    of_others = row_sums - 1  # Σ_{j≠i} τ_ij
    pairs = total - m
    without = (pairs - 2 * of_others) / ((m - 1) * (m - 2))
    return Scores(
        joint=float(pairs / (m * (m - 1))), leave_one_out=without, correction="by definition"
    )


def _untied_pairs(ordered: np.ndarray) -> float:
    """Pairs of features with different ranks, of one sorted row."""
    lengths = np.diff(np.flatnonzero(np.concatenate(([True], np.diff(ordered) != 0, [True]))))
    p = len(ordered)
    return float(p * (p - 1) / 2 - (lengths * (lengths - 1) / 2).sum())


def kendall_w(runs: Runs, chance: Chance, *, k: int | None = None) -> Scores:
    """Kendall's coefficient of concordance, 12 Σ_f (R_f − R̄)² / (m²(p³ − p) − m Σ T_i).

    Random rankings score 1/m on average; corrected for that, W is the mean Spearman correlation.
    """
    ranks = truncated_ranks(runs, k)
    m, p = ranks.shape
    centred = ranks - (p + 1) / 2
    sums = centred.sum(axis=0)
    own = np.einsum("ij,ij->i", centred, centred)
    squares = sums @ sums
    numerator = np.concatenate(([squares], squares - 2 * (centred @ sums) + own))
    # 12 Σ_f centred² = p³ − p − T_i: the tie correction needs no counting of ties
    spread = np.concatenate(([own.sum()], own.sum() - own))
    runs_left = np.concatenate(([m], np.full(m, m - 1.0)))
    values = ratio(numerator, runs_left * spread)
    if chance.asked_for:
        values = correct_for_chance(values, 1 / runs_left, 1.0)
    return Scores(
        joint=float(values[0]),
        leave_one_out=values[1:] if m > 2 else None,
        agreement=ratio(centred @ centred.T, own.mean()),
        correction="exact" if chance.asked_for else "none",
    )


def canberra(runs: Runs, chance: Chance, *, k: int | None = None) -> Scores:
    """1 − mean over features of |a − b|/(a + b), ranks beyond k taken as k + 1.

    Corrected for chance this is 1 − distance / expected distance of random rankings, the
    normalisation of Jurman et al. 2008.
    """
    from scipy.spatial.distance import pdist, squareform

    p = runs.n_features
    k = p if k is None else check_count("k", k, 1, p)
    distance = squareform(pdist(np.minimum(runs.ranks, k + 1.0), "canberra")) / p
    upper = distance[np.triu_indices(runs.n_runs, 1)]
    similarity = 1 - distance
    if chance.asked_for:
        similarity = correct_for_chance(similarity, 1 - expected_canberra_distance(p, k), 1.0)
    return Scores(
        pairwise=similarity,
        correction="exact" if chance.asked_for else "none",
        details={"canberra_distance": float(upper.mean())},
    )


def expected_canberra_distance(p: int, k: int) -> float:
    """Mean over all pairs of places (s, t) of |a − b|/(a + b), a = min(s, k + 1), b likewise."""
    k = min(k, p)
    total = 0.0
    below = p - k  # places beyond k, all counted as k + 1
    places = np.arange(1.0, k + 1)
    for a in places:
        total += (np.abs(a - places) / (a + places)).sum() + 2 * below * (k + 1 - a) / (k + 1 + a)
    return total / p**2


def _weighted_overlap(runs: Runs, chance: Chance, weight: np.ndarray) -> Scores:
    """Σ_f min(w(a_f), w(b_f)): overlap at depth d, summed over depths with any weights.

    A feature is in both top-d lists when its worse rank is at most d, so that a sum over depths of
    v_d·|top_d ∩ top_d| is a sum over features of w(worse rank), w(r) = Σ_{d≥r} v_d.
    """
    from scipy.spatial.distance import pdist, squareform

    own = weight[strict_ranks(runs, chance.seed).astype(np.intp) - 1]
    reaching = np.flatnonzero(own.any(axis=0))
    gap = squareform(pdist(np.ascontiguousarray(own[:, reaching]), "cityblock"))
    total = own.sum(axis=1)
    score = (total[:, None] + total[None, :] - gap) / 2
    if chance.asked_for:
        p = runs.n_features
        expected = (weight * (2 * np.arange(1, p + 1) - 1)).sum() / p
        score = correct_for_chance(score, expected, weight.sum())
    return Scores(pairwise=score, correction="exact" if chance.asked_for else "none")


def rbo(runs: Runs, chance: Chance, *, persistence: float = 0.9, k: int | None = None) -> Scores:
    """Extrapolated rank-biased overlap, (X_k/k)·ρᵏ + (1 − ρ)/ρ · Σ_{d≤k} (X_d/d)·ρᵈ."""
    persistence = check_fraction("persistence", persistence, closed=False)
    p = runs.n_features
    depth = p if k is None else check_count("k", k, 1, p)
    d = np.arange(1.0, depth + 1)
    at_depth = (1 - persistence) / persistence * persistence**d / d
    at_depth[-1] += persistence**depth / depth
    return _weighted_overlap(runs, chance, _tail_sums(at_depth, p))


def average_overlap(runs: Runs, chance: Chance, *, k: int | None = None) -> Scores:
    """Mean over the depths d = 1 … k of |top_d ∩ top_d|/d."""
    p = runs.n_features
    depth = p if k is None else check_count("k", k, 1, p)
    at_depth = 1 / np.arange(1.0, depth + 1) / depth
    return _weighted_overlap(runs, chance, _tail_sums(at_depth, p))


def _tail_sums(at_depth: np.ndarray, p: int) -> np.ndarray:
    return np.concatenate((np.cumsum(at_depth[::-1])[::-1], np.zeros(p - len(at_depth))))


ENTRIES = (
    Measure("spearman", "ranking", (-1, 1), "Kalousis et al. 2007", run_scores=spearman,
            corrected=True, options=("k",)),
    Measure("kendall", "ranking", (-1, 1), "Kendall 1945", run_scores=kendall, corrected=True,
            options=("k",)),
    Measure("kendall_w", "ranking", (0, 1), "Kendall and Smith 1939", run_scores=kendall_w,
            options=("k",)),
    Measure("canberra", "ranking", (0, 1), "Jurman et al. 2008", run_scores=canberra,
            monotonicity=False, options=("k",)),
    Measure("rbo", "ranking", (0, 1), "Webber et al. 2010", run_scores=rbo,
            options=("k", "persistence")),
    Measure("average_overlap", "ranking", (0, 1), "Fagin et al. 2003", run_scores=average_overlap,
            options=("k",)),
    Measure("pearson", "scores", (-1, 1), "Kalousis et al. 2007", run_scores=pearson,
            corrected=True),
)  # fmt: skip
