"""Section 2.2 of bommert2020: what follows from the definitions, by computation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from _bommert_artificial import NAMES, SMA, SUBSETS, THRESHOLD, all_pairs, stability
from _common import log, table, verdict

import mainstay as ms

MATRICES, SETS = 200, 20  # random similarity matrices, and random sets scored with each
N_FEATURES = (5, 21)  # of such a matrix: from the first to below the second
SMALL_AND_LARGE = ((1, 1), (1, 2), (1, 5), (1, 10), (2, 10))  # sizes of two sets, of 12 features
ZERO = 1e-9  # what counts as equal


def random_similarity(rng: np.random.Generator, p: int) -> np.ndarray:
    """Draw a symmetric matrix in which a random share of the pairs is similar, some of them fully.

    Fully: the similarity is 1. That share differs from matrix to matrix.
    """
    draws = rng.random((p, p))
    similar, full = rng.random((2, p, p)) < rng.random((2, 1, 1)) ** [[[2]], [[1]]]
    matrix = np.where(similar, np.where(full, 1.0, THRESHOLD + 0.1 * draws), 0.8 * draws)
    matrix = np.triu(matrix, 1)
    return np.asarray(matrix + matrix.T + np.eye(p))


def adjustments(support: np.ndarray, similarity: ms.FeatureSimilarity) -> dict[str, np.ndarray]:
    """Adj(V_i, V_j) of every SMA: the scores that are not corrected, less the shared features."""
    runs, shared = ms.Runs.from_support(support), support.astype(int) @ support.T
    return {
        name: stability(runs, measure, similarity, correction="none").pairwise - shared
        for measure, name in NAMES.items()
        if name in SMA
    }


def compared(seed: int) -> pd.DataFrame:
    """Adjustments of random pairs of random sets, one row per pair of different runs.

    Beside them: the smaller size, how many features are shared, and whether a similarity from the
    threshold to below 1 links the two differences of the sets.
    """
    rng, parts = np.random.default_rng(seed), []
    for _ in range(MATRICES):
        p = int(rng.integers(*N_FEATURES))
        matrix = random_similarity(rng, p)
        support = rng.random((SETS, p)) < rng.random((SETS, 1))
        support = support[support.any(axis=1)]
        first, second = np.triu_indices(len(support), 1)
        found = adjustments(support, ms.FeatureSimilarity.from_matrix(matrix, THRESHOLD))
        one, other = support[first], support[second]
        between = ((matrix >= THRESHOLD) & (matrix < 1)).astype(int)
        links = np.einsum("ij,jk,ik->i", one & ~other, between, other & ~one)
        part = {name: values[first, second] for name, values in found.items()}
        part |= {"smaller set": np.minimum(one.sum(axis=1), other.sum(axis=1))}
        part |= {"shared": (one & other).sum(axis=1), "linked": links > 0}
        parts.append(pd.DataFrame(part))
    return pd.concat(parts, ignore_index=True)


def ordered(pairs: pd.DataFrame, small: str, large: str) -> tuple[str, int, int, int]:
    """Count the pairs in which one adjustment is below, equal to and above the other."""
    apart = pairs[small] - pairs[large]
    below, above = int((apart < -ZERO).sum()), int((apart > ZERO).sum())
    return f"{small} and {large}", below, len(pairs) - below - above, above


def without_similar() -> float:
    """Largest difference of an SMA from SMU over all pairs of subsets, no two features similar."""
    nothing = ms.FeatureSimilarity.from_matrix(np.eye(7), THRESHOLD)
    smu = all_pairs("unadjusted")
    differences = [
        np.abs(all_pairs(measure, similarity=nothing) - smu)
        for measure, name in NAMES.items()
        if name in SMA
    ]
    return float(np.nanmax(differences))


def unequal_pair(small: int, large: int, p: int = 12) -> dict[str, float]:
    """Score disjoint sets: every feature of the larger one is similar to one of the smaller one."""
    matrix = np.eye(p)
    for i in range(large):
        matrix[i % small, small + i] = matrix[small + i, i % small] = 1.0
    runs = ms.Runs.from_sets([range(small), range(small, small + large)], features=p)
    similarity = ms.FeatureSimilarity.from_matrix(matrix, THRESHOLD)
    return {
        name: float(stability(runs, measure, similarity, correction="exact").value)
        for measure, name in NAMES.items()
        if measure in ("yu", "sma_count", "sma_mbm")
    }


def means_by_size() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Exact means over random sets of the seven features of Fig. 1, by measure.

    Two sets of k features each (columns k), and the smallest and largest mean over all pairs of
    sizes from 1 to 6.
    """
    sizes, mean = SUBSETS.sum(axis=1), {}
    for measure, name in NAMES.items():
        scores = all_pairs(measure)
        mean[name] = {
            (a, b): scores[np.ix_(sizes == a, sizes == b)].mean()
            for a in range(1, 7)
            for b in range(1, 7)
        }
    every = pd.DataFrame(mean)
    return every.loc[[(k, k) for k in range(1, 7)]].T, every.agg(["min", "max"]).T


def definitions(seed: int) -> dict[str, Any]:
    """Check what section 2.2 says of the measures."""
    log("section 2.2")
    pairs = compared(seed)
    orders = [
        ordered(pairs, "SMA-Greedy", "SMA-MBM"),
        ordered(pairs, "SMA-MBM", "SMA-Count"),
        ordered(pairs, "SMA-Mean", "SMA-Count"),
    ]
    linked = ordered(pairs[pairs["linked"]], "SMA-Mean", "SMA-Count")
    free = ordered(pairs[~pairs["linked"]], "SMA-Mean", "SMA-Count")
    over = pairs[SMA].max(axis=1) + pairs["shared"] - pairs["smaller set"]
    apart = without_similar()
    scores = {sizes: unequal_pair(*sizes) for sizes in SMALL_AND_LARGE}
    smy = [found["SMY"] for found in scores.values()]
    means, limits = means_by_size()
    corrected = limits.drop("SMZ").abs().max().max()
    return {
        "n_matrices": MATRICES,
        "most_features": N_FEATURES[1] - 1,
        "n_random_pairs": len(pairs),
        "orders_table": table(["Adj of", "first smaller", "equal", "first larger"], orders),
        "greedy_verdict": verdict(orders[0][3] == 0 < orders[0][1]),
        "matching_verdict": verdict(orders[1][3] == 0 < orders[1][1]),
        "mean_verdict": verdict(linked[2:] == (0, 0) and free[1::2] == (0, 0)),
        "n_linked": len(pairs) - int((~pairs["linked"]).sum()),
        "linked_smaller": linked[1],
        "free_equal": free[2],
        "n_free": int((~pairs["linked"]).sum()),
        "most_over": max(over.max(), 0.0),
        "n_reached": int((over > -ZERO).sum()),
        "bound_verdict": verdict(bool(over.max() < ZERO)),
        "apart_from_smu": apart,
        "same_as_smu_verdict": verdict(apart < ZERO),
        "unequal_table": table(
            ["sizes", *scores[1, 1]],
            [
                (f"{a} and {b}", *(f"{x:.3f}" for x in found.values()))
                for (a, b), found in scores.items()
            ],
        ),
        "largest_smy_verdict": verdict(max(abs(x - 1) for x in smy) < ZERO),
        "sizes_means_table": table(
            [
                "mean over two random sets of k features",
                *(f"k = {k}" for k, _ in means),
                "all sizes",
            ],
            [
                (
                    name,
                    *(f"{x:z.3f}" for x in row),
                    "{min:z.3f} to {max:z.3f}".format(**limits.loc[name]),
                )
                for name, row in means.iterrows()
            ],
        ),
        "smz_low": limits.loc["SMZ", "min"],
        "smz_high": limits.loc["SMZ", "max"],
        "corrected_most": corrected,
        "chance_verdict": verdict(corrected < ZERO < 0.1 < np.ptp(limits.loc["SMZ"])),
    }
