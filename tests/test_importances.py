"""Shared importance (Hamer and Dupont 2021): a transport problem, its twin and its properties."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mainstay as ms
import naive
from conftest import make, random_similarity

P = 5
runs_of_importances = st.lists(
    st.lists(st.integers(0, 4), min_size=P, max_size=P).filter(any), min_size=2, max_size=4
)
seeds = st.integers(0, 2**32 - 1)


def similar(matrix: np.ndarray) -> ms.FeatureSimilarity:
    return ms.FeatureSimilarity.from_matrix(matrix, 0.9)


def value(importances: Any, matrix: np.ndarray | None = None) -> float:
    runs = ms.Runs.from_scores(np.asarray(importances, dtype=float))
    similarity = None if matrix is None else similar(matrix)
    return float(ms.stability(runs, "shared_importance", similarity=similarity))


# ---------------------------------------------------------------------- values


@settings(deadline=None)
@given(runs_of_importances, seeds, st.booleans())
def test_it_is_the_best_assignment_of_grains_of_importance(
    importances: list[list[int]], seed: int, with_similarity: bool
) -> None:
    matrix = random_similarity(np.random.default_rng(seed), P) if with_similarity else None
    pairs = itertools.combinations(importances, 2)
    expected = np.mean([naive.shared_importance(a, b, matrix) for a, b in pairs])
    assert value(importances, matrix) == pytest.approx(expected, abs=1e-9)


def test_small_transport_problems_are_solved_as_by_trying_everything() -> None:
    """Six grains a run, every assignment of grains to grains tried."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        matrix = random_similarity(rng, 4, share=0.6)
        a, b = (np.bincount(rng.integers(0, 4, 6), minlength=4) for _ in range(2))
        grains_a, grains_b = (np.repeat(np.arange(4), x) for x in (a, b))
        worth = np.where(matrix >= 0.9, matrix, 0.0)
        best = max(
            sum(worth[f, g] for f, g in zip(grains_a, order, strict=True)) / 6
            for order in set(itertools.permutations(grains_b.tolist()))
        )
        assert value([a, b], matrix) == pytest.approx(best, abs=1e-9)


def test_a_feature_may_be_better_used_for_another_than_for_itself() -> None:
    """Both runs hold feature 1; yet 0 to 1 and 1 to 2 share 1.9, and 1 to 1 only 1."""
    matrix = np.eye(3)
    matrix[0, 1] = matrix[1, 0] = matrix[1, 2] = matrix[2, 1] = 0.95
    assert value([[1, 1, 0], [0, 1, 1]], matrix) == pytest.approx(0.95)
    assert value([[1, 1, 0], [0, 1, 1]]) == pytest.approx(0.5)


def test_selected_features_without_scores_are_equally_important() -> None:
    sets = [{0, 1, 2}, {1, 2, 3, 4}, {0, 4}]
    matrix = random_similarity(np.random.default_rng(3), P)
    importances = [[int(f in chosen) for f in range(P)] for chosen in sets]
    ours = ms.stability(make(sets, P), "shared_importance", similarity=similar(matrix))
    assert float(ours) == pytest.approx(value(importances, matrix), abs=1e-12)


def test_with_k_the_best_k_features_of_every_run_count() -> None:
    scores = np.array([[5.0, 3.0, 2.0, 1.0], [4.0, 1.0, 3.0, 2.0]])
    cut = np.array([[5.0, 3.0, 0.0, 0.0], [4.0, 0.0, 3.0, 0.0]])
    ours = float(ms.stability(ms.Runs.from_scores(scores), "shared_importance@2"))
    assert ours == pytest.approx(value(cut))
    assert ours == pytest.approx(4 / 7)


def test_a_run_that_selects_nothing_shares_nothing() -> None:
    pairwise = ms.stability(
        make([set(), {0, 1}, set()], 3), "shared_importance", undefined="nan"
    ).pairwise
    assert pairwise is not None
    assert pairwise[0, 1] == pairwise[1, 2] == 0
    assert math.isnan(pairwise[0, 2])
    with pytest.warns(UserWarning, match="undefined"):
        ms.stability(make([set(), set()], 3), "shared_importance")


# ---------------------------------------------------------------------- properties


@settings(deadline=None)
@given(runs_of_importances, seeds)
def test_properties_of_shared_importance(importances: list[list[int]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = random_similarity(rng, P)
    runs = np.array(importances, dtype=float)
    found = value(runs, matrix)
    assert -1e-12 <= found <= 1
    assert value(runs) <= found + 1e-9  # similar features can only add
    columns, rows = rng.permutation(P), rng.permutation(len(runs))
    renamed = value(runs[rows][:, columns], matrix[np.ix_(columns, columns)])
    assert renamed == pytest.approx(found, abs=1e-9)
    scaled = runs * rng.uniform(0.1, 10, (len(runs), 1))
    assert value(scaled, matrix) == pytest.approx(found, abs=1e-9)
    assert value(np.vstack([runs[:1]] * 3), matrix) == pytest.approx(1)


@settings(deadline=None)
@given(runs_of_importances, seeds)
def test_more_similar_features_never_share_less(importances: list[list[int]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    less = random_similarity(rng, P)
    more = np.maximum(less, np.round(random_similarity(rng, P), 2))
    assert value(importances, more) >= value(importances, less) - 1e-9


def test_disjoint_runs_without_similar_features_share_nothing() -> None:
    assert value([[1, 2, 0, 0], [0, 0, 3, 1]]) == 0
    assert value([[1, 2, 0, 0], [0, 0, 3, 1]], np.eye(4)) == 0


# ---------------------------------------------------------------------- what cannot be compared


def test_what_has_no_importances_is_refused() -> None:
    with pytest.raises(ms.InputError, match=r"at least 0, but run 1 has -2 for 'x0'.*absolute"):
        value([[1, 2], [-2, 1]])
    ranks = ms.Runs.from_ranks(np.array([[1, 2], [2, 1]]))
    with pytest.raises(ms.InputError, match=r"hold ranks; runs.top\(20\)"):
        ms.stability(ranks, "shared_importance")
    with pytest.raises(ms.InputError, match="needs rankings or scores"):
        ms.stability(make([{0}, {1}], 2), "shared_importance@1")
    with pytest.raises(ms.InputError, match="leave k out"):
        ms.stability(make([{0}, {1}], 2), "shared_importance", k=1)
    with pytest.raises(ms.InputError, match="no correction for chance"):
        ms.stability(make([{0}, {1}], 2), "shared_importance", correction="exact")


def test_studies_are_compared_by_the_importance_of_what_they_select() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 8))
    signal = rng.normal(size=60)
    X[:, :2] = signal[:, None] + 0.1 * rng.normal(size=(60, 2))  # twins
    y = (signal + 0.3 * rng.normal(size=60) > 0).astype(int)
    options: dict[str, Any] = {
        "n_features_to_select": 1, "n_pairs": 20, "n_splits": 5, "random_state": 0,
    }  # fmt: skip
    with_twins = ms.replicability("f_statistic", X, y, measure="shared_importance", **options)
    plain = ms.replicability("f_statistic", X, y, measure="jaccard", **options)
    assert float(with_twins) > 0.95
    assert float(plain) < float(with_twins) - 0.1
    assert "their 1 features" in with_twins.statement
    with pytest.raises(ms.InputError, match="importances, but ensembles end in rankings"):
        ms.replicability("f_statistic", X, y, measure="shared_importance", ensemble_size=5)
    with pytest.raises(ms.InputError, match="use measure='shared_importance'"):
        ms.replicability("f_statistic", X, y, measure="shared_importance@3", **options)
