"""What to show and in which order: selections, best features, twins, clusters."""

from __future__ import annotations

from typing import Any

import numpy as np

from mainstay._validation import InputError, check_count, natural_order
from mainstay.plotting._axes import letter
from mainstay.runs import Runs
from mainstay.similarity import FeatureSimilarity

MOST_RUNS = 2000  # that are clustered: all their pairs are in memory at once
MOST_BLOCKS = 100  # most rows or columns of a heat map that can be told apart


def selections_of(runs: Runs, n_features_to_select: int | None) -> Runs:
    """What every run selects: its selection, or its best features if it holds a ranking."""
    if runs.kind == "support":
        if n_features_to_select is not None:
            raise InputError(
                "these runs hold selections already; n_features_to_select= is for runs that hold "
                "ranks or scores."
            )
        return runs
    if n_features_to_select is None:
        raise InputError(
            f"these runs hold {runs.kind}; n_features_to_select= must say how many of its best "
            "features a run selects, such as 20."
        )
    return runs.top(n_features_to_select)


def fitted(selector: Any) -> Any:
    """Return the selector if it has seen data, or say what is missing."""
    if not hasattr(selector, "selections_"):
        raise InputError(
            f"expected a fitted mainstay.EnsembleSelector, got {type(selector).__name__} without "
            "selections_; call fit(X, y) first, or use from_runs."
        )
    return selector


def number_shown(n_shown: int, n_features: int) -> int:
    """How many features fit: those asked for, or all if there are fewer."""
    return min(check_count("n_shown", n_shown, 1), n_features)


def best_first(values: np.ndarray, features: tuple[str, ...]) -> np.ndarray:
    """Column indices by decreasing value, ties by name."""
    by_name = natural_order(features)
    return by_name[np.argsort(-values[by_name], kind="stable")]


def twin_letters(similarity: FeatureSimilarity, chosen: Runs) -> np.ndarray:
    """The letter of every feature's group of twins, "" without twins: the same in all pictures.

    A letter stands for a connected component of the similarity graph. The group of the feature that
    is selected most is A.
    """
    labels, degrees = similarity.group_labels(), similarity.degrees
    letters = np.full(similarity.n_features, "", dtype=object)
    seen: dict[int, str] = {}
    for feature in best_first(chosen.counts, chosen.features):
        if degrees[feature]:
            letters[feature] = seen.setdefault(int(labels[feature]), letter(len(seen)))
    return letters


def cluster_order(distance: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Put similar rows side by side: leaves of average-linkage clustering, heavy branches first."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    first = np.argsort(-weight, kind="stable")
    if len(weight) < 3:
        return np.asarray(first)
    weight, distance = weight[first], distance[np.ix_(first, first)].copy()
    np.fill_diagonal(distance, 0.0)
    branches = [[i] for i in range(len(weight))]
    totals = weight.tolist()
    for left, right in linkage(squareform(distance, checks=False), "average")[:, :2].astype(int):
        one, two = branches[left], branches[right]
        if (-totals[right] / len(two), two) < (-totals[left] / len(one), one):
            one, two = two, one
        branches.append(one + two)
        totals.append(totals[left] + totals[right])
    return np.asarray(first[branches[-1]])


def jaccard_distance(rows: Any) -> np.ndarray:
    """1 − Jaccard index of every two rows of a sparse 0/1 matrix; empty rows are alike."""
    overlap = np.asarray((rows @ rows.T).toarray(), dtype=float)
    size = np.diagonal(overlap)
    union = size[:, None] + size[None, :] - overlap
    return np.asarray(1 - np.where(union > 0, overlap, 1) / np.where(union > 0, union, 1))


def neighbour_blocks(n: int) -> list[np.ndarray]:
    """Positions 0 to n − 1, neighbours together, in at most MOST_BLOCKS blocks."""
    return np.array_split(np.arange(n), min(n, MOST_BLOCKS))
