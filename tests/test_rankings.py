"""Measures of rankings and scores against their naive twins and closed forms."""

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
from mainstay._kernels import concordance
from mainstay.measures import rankings


def strict(rng: np.random.Generator, m: int, p: int) -> np.ndarray:
    return np.argsort(rng.random((m, p)), axis=1) + 1


@st.composite
def scored_runs(draw: Any) -> np.ndarray:
    """Two to four rows of scores with many ties."""
    m, p = draw(st.integers(2, 4)), draw(st.integers(2, 9))
    row = st.lists(st.integers(0, 5), min_size=p, max_size=p)
    return np.array([draw(row) for _ in range(m)], dtype=float)


@pytest.mark.parametrize("name", ["spearman", "kendall"])
@given(scored_runs())
@settings(max_examples=60, deadline=None)
def test_rank_correlations_with_ties(name: str, scores: np.ndarray) -> None:
    ours = ms.stability(ms.Runs.from_scores(scores), name, undefined="nan").value
    ranks = [naive.average_ranks(row) for row in scores]
    theirs = naive.mean_over_pairs(getattr(naive, name), ranks)
    assert ours == pytest.approx(theirs, abs=1e-12, nan_ok=True)


@given(scored_runs())
@settings(max_examples=60, deadline=None)
def test_kendall_w_with_ties_and_with_each_run_left_out(scores: np.ndarray) -> None:
    ours = ms.stability(ms.Runs.from_scores(scores), "kendall_w", undefined="nan")
    ranks = [naive.average_ranks(row) for row in scores]
    assert ours.value == pytest.approx(naive.kendall_w(ranks), abs=1e-12, nan_ok=True)
    if ours.leave_one_out is not None:
        rest = [naive.kendall_w(ranks[:i] + ranks[i + 1 :]) for i in range(len(ranks))]
        np.testing.assert_allclose(ours.leave_one_out, rest, atol=1e-12)


def test_kendall_w_corrected_for_chance_is_the_mean_spearman_correlation() -> None:
    runs = ms.Runs.from_ranks(strict(np.random.default_rng(0), 7, 15))
    corrected = ms.stability(runs, "kendall_w", correction="exact").value
    assert corrected == pytest.approx(ms.stability(runs, "spearman").value, abs=1e-12)


@pytest.mark.parametrize("k", [None, 1, 3, 9])
@pytest.mark.parametrize("seed", range(3))
def test_canberra_and_its_top_k_form(k: int | None, seed: int) -> None:
    ranks = strict(np.random.default_rng(seed), 4, 9)
    runs = ms.Runs.from_ranks(ranks)
    ours = ms.stability(runs, "canberra" if k is None else f"canberra@{k}")
    theirs = naive.mean_over_pairs(lambda a, b: naive.canberra(a, b, k), list(ranks))
    assert ours.value == pytest.approx(theirs, abs=1e-12)
    assert ours.canberra_distance == pytest.approx(1 - ours.value, abs=1e-12)


@pytest.mark.parametrize(("p", "k"), [(5, None), (6, 2), (6, 6), (7, 1)])
def test_expected_canberra_equals_the_mean_over_all_rankings(p: int, k: int | None) -> None:
    ours = 1 - rankings.expected_canberra_distance(p, p if k is None else k)
    assert ours == pytest.approx(naive.expected_canberra(p, k), abs=1e-12)
    first = list(range(1, p + 1))
    everything = [naive.canberra(first, other, k) for other in itertools.permutations(first)]
    assert ours == pytest.approx(np.mean(everything), abs=1e-12)


def test_canberra_corrected_for_chance_divides_the_distance_by_the_expected_one() -> None:
    runs = ms.Runs.from_ranks(strict(np.random.default_rng(1), 5, 12))
    estimate = ms.stability(runs, "canberra@4", correction="exact")
    expected = 1 - naive.expected_canberra(12, 4)
    assert estimate.value == pytest.approx(1 - estimate.canberra_distance / expected)


def test_only_canberra_has_a_canberra_distance() -> None:
    estimate = ms.stability(ms.Runs.from_ranks([[1, 2], [2, 1]]), "spearman")
    with pytest.raises(AttributeError, match="'spearman' has no Canberra distance"):
        _ = estimate.canberra_distance


@pytest.mark.parametrize("depth", [None, 1, 4])
@pytest.mark.parametrize("persistence", [0.5, 0.9, 0.98])
def test_rank_biased_overlap(depth: int | None, persistence: float) -> None:
    ranks = strict(np.random.default_rng(2), 4, 8)
    name = "rbo" if depth is None else f"rbo@{depth}"
    ours = ms.stability(ms.Runs.from_ranks(ranks), name, persistence=persistence).value
    theirs = naive.mean_over_pairs(lambda a, b: naive.rbo(a, b, persistence, depth), list(ranks))
    assert ours == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("k", [None, 1, 3])
def test_average_overlap(k: int | None) -> None:
    ranks = strict(np.random.default_rng(3), 4, 8)
    name = "average_overlap" if k is None else f"average_overlap@{k}"
    ours = ms.stability(ms.Runs.from_ranks(ranks), name).value
    theirs = naive.mean_over_pairs(lambda a, b: naive.average_overlap(a, b, k), list(ranks))
    assert ours == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("name", ["rbo", "average_overlap", "rbo@3", "average_overlap@3"])
def test_overlaps_corrected_for_chance_average_0_over_all_rankings(name: str) -> None:
    first = list(range(1, 6))
    values = [
        ms.stability(ms.Runs.from_ranks([first, list(other)]), name, correction="exact").value
        for other in itertools.permutations(first)
    ]
    assert np.mean(values) == pytest.approx(0, abs=1e-12)
    assert max(values) == pytest.approx(1, abs=1e-12)


def test_overlaps_break_ties_at_random_and_say_so() -> None:
    runs = ms.Runs.from_scores([[2, 1, 1, 0], [2, 1, 1, 0]])
    with pytest.warns(UserWarning, match="2 of 2 rankings have ties") as caught:
        ms.stability(runs, "rbo", random_state=0)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("name", ["spearman", "kendall", "kendall_w"])
def test_top_k_form_ties_everything_below_place_k(name: str) -> None:
    ranks = strict(np.random.default_rng(4), 5, 10)
    ours = ms.stability(ms.Runs.from_ranks(ranks), f"{name}@3").value
    cut = ms.Runs.from_scores(-np.minimum(ranks, 4).astype(float))
    assert ours == pytest.approx(ms.stability(cut, name).value, abs=1e-12)
    whole = ms.stability(ms.Runs.from_ranks(ranks), f"{name}@10").value
    assert whole == pytest.approx(ms.stability(ms.Runs.from_ranks(ranks), name).value)


def test_pearson_correlates_scores() -> None:
    scores = np.random.default_rng(5).normal(size=(5, 30))
    expected = np.corrcoef(scores)[np.triu_indices(5, 1)].mean()
    ours = ms.stability(ms.Runs.from_scores(scores), "pearson").value
    assert ours == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall"])
def test_constant_scores_have_no_correlation(name: str) -> None:
    runs = ms.Runs.from_scores([[1.0, 1.0, 1.0], [1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])
    with pytest.warns(UserWarning, match=r"undefined .* 2 pair.* first 0 and 1"):
        assert math.isnan(ms.stability(runs, name).value)


@pytest.mark.parametrize(("m", "p"), [(3, 5), (6, 40), (5, 530), (9, 1100)])
@pytest.mark.parametrize("ties", ["none", "some", "the same number"])
def test_kendall_without_looking_at_pairs_of_runs_is_the_same(
    m: int, p: int, ties: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(p)
    scores = rng.integers(0, p // 2, (m, p)) if ties == "some" else rng.random((m, p))
    if ties == "the same number":
        scores = np.maximum(scores, np.median(scores, axis=1, keepdims=True))
    runs = ms.Runs.from_scores(scores)
    by_pairs = ms.stability(runs, "kendall")
    monkeypatch.setattr(rankings, "MOST_PAIRWISE_STEPS", 0)
    at_once = ms.stability(runs, "kendall")
    assert by_pairs.pairwise is not None
    assert at_once.pairwise is None
    assert at_once.value == pytest.approx(by_pairs.value, abs=1e-12)
    np.testing.assert_allclose(at_once.leave_one_out, by_pairs.leave_one_out, atol=1e-12)
    if runs.n_runs > 2:
        assert at_once.standard_error == pytest.approx(by_pairs.standard_error, abs=1e-10)


def test_concordance_kernels_count_pairs_of_features() -> None:
    ranks = strict(np.random.default_rng(6), 4, 30).astype(float)
    ours = concordance.pairwise_concordance(ranks, np.argsort(ranks, axis=1))
    for i, j in itertools.combinations(range(4), 2):
        assert ours[i, j] == pytest.approx(naive.kendall(ranks[i], ranks[j]) * 30 * 29 / 2)
    total, rows = concordance.whole_concordance_totals(ranks.astype(np.int16))
    tied_total, tied_rows = concordance.scaled_concordance_totals(ranks, np.ones(4))
    expected_rows = ours.sum(axis=1) + 30 * 29 / 2
    assert total == tied_total == expected_rows.sum()
    assert rows.tolist() == tied_rows.tolist() == expected_rows.tolist()
