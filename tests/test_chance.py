"""Expected scores of random selections: closed forms, enumeration, and honest simulation."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import mainstay as ms
import naive
from conftest import make, random_sets, random_similarity
from mainstay._kernels import adjustments
from mainstay.measures import MEASURES, chance

KINDS = {
    "sma_count": adjustments.COUNT,
    "sma_mean": adjustments.MEAN,
    "sma_greedy": adjustments.GREEDY,
    "sma_mbm": adjustments.MATCHING,
}


def graph_of(matrix: np.ndarray, threshold: float = 0.9) -> chance.Graph:
    """The similarity graph of all features, also those without a similar one."""
    similar = np.where(matrix >= threshold, matrix, 0.0)
    np.fill_diagonal(similar, 0.0)
    return chance.Graph.from_sparse(sp.csr_array(similar))


def linked(matrix: np.ndarray) -> np.ndarray:
    """Features with at least one similar one."""
    return np.flatnonzero(((matrix >= 0.9) & ~np.eye(len(matrix), dtype=bool)).any(axis=1))


def evenly(expected: np.ndarray) -> np.ndarray:
    """A stability that falls by 1 with every expectation."""
    return -np.ones_like(expected)


# ---------------------------------------------------------------------- distributions


@given(st.integers(1, 30), st.data())
@settings(max_examples=80, deadline=None)
def test_hypergeometric_probabilities_are_exact(p: int, data: st.DataObject) -> None:
    marked, k = data.draw(st.integers(0, p)), data.draw(st.integers(0, p))
    ours = chance.hypergeometric(p, marked, np.array([k]))[0]
    theirs = [comb(marked, a) * comb(p - marked, k - a) / comb(p, k) if a <= k else 0.0
              for a in range(marked + 1)]  # fmt: skip
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-15)


def test_hypergeometric_probabilities_stay_accurate_for_many_features() -> None:
    p, marked, sizes = 1_000_000, 300, np.array([1, 5000, 999_999])
    ours = chance.hypergeometric(p, marked, sizes)
    np.testing.assert_allclose(ours.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(ours @ np.arange(301), marked * sizes / p, rtol=1e-10)


def test_union_and_frequency_distributions() -> None:
    sizes, p = np.array([2, 3, 3]), 6
    u = chance.union_size(sizes, p)
    assert u.sum() == pytest.approx(1)
    assert u @ np.arange(p + 1) == pytest.approx(p * (1 - (4 / 6) * (3 / 6) ** 2))
    h = chance.times_selected(sizes, p)
    np.testing.assert_allclose(h, [4 / 24, 10 / 24, 8 / 24, 2 / 24], atol=1e-12)


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        (name, sizes)
        for name, measure in MEASURES.items()
        if measure.expected is not None
        for sizes in [(2, 2), (1, 3), (2, 2, 2), (1, 2, 3), (3, 3, 3)]
        if not measure.equal_sizes or len(set(sizes)) == 1
    ],
)
def test_joint_measures_have_closed_expectations(name: str, sizes: tuple[int, ...]) -> None:
    for options in [{"penalty": 0.0}, {"penalty": 1.5}] if name == "davis" else [{}]:
        ours = MEASURES[name].expected(np.array(sizes), 4, **options)
        theirs = naive.expected_joint_score(name, list(sizes), 4, **options)
        assert ours == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("name", ["davis", "novovicova", "somol", "weighted_consistency", "krizek"])
def test_joint_measures_corrected_for_chance_average_0(name: str) -> None:
    rng = np.random.default_rng(0)
    low, high = (3, 3) if name == "krizek" else (2, 6)
    sizes = rng.integers(low, high + 1, size=5)
    values = []
    for _ in range(300):
        sets = [set(rng.choice(12, k, replace=False).tolist()) for k in sizes]
        values.append(ms.stability(make(sets, 12), name, correction="exact").value)
    assert abs(np.mean(values)) <= 4 * np.std(values, ddof=1) / np.sqrt(len(values))
    identical = make([{0, 1, 2}] * 4, 12)
    assert ms.stability(identical, name, correction="exact").value == pytest.approx(1)


# ---------------------------------------------------------------------- similar features


@pytest.mark.parametrize("seed", range(3))
def test_one_sided_expectations_equal_the_mean_over_all_pairs_of_sets(seed: int) -> None:
    matrix = random_similarity(np.random.default_rng(seed), 6, share=0.35)
    members = linked(matrix)
    graph = graph_of(matrix[members][:, members])
    sizes = np.array([0, 1, 2, 4, 6])
    ours = chance.expected_one_sided(graph, sizes, 6, mean=False)
    for i, a in enumerate(sizes):
        for j, b in enumerate(sizes):
            theirs = naive.expected_pair_score("npogr", int(a), int(b), 6, matrix) - a * b / 6
            assert ours[i, j] == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("seed", range(3))
def test_enumerated_expectations_are_exact(kind: str, seed: int) -> None:
    p = 6
    matrix = random_similarity(np.random.default_rng(seed), p, share=0.25)
    members = linked(matrix)
    graph = graph_of(matrix[members][:, members])
    sizes = np.array([1, 2, 3, 5])
    exactly = chance.Chance("exact", 1e-3, 1000, np.random.default_rng(0))
    found = chance.expected_adjustment(KINDS[kind], graph, sizes, p, exactly, evenly)
    assert found.n_draws == 0
    for i, a in enumerate(sizes):
        for j, b in enumerate(sizes):
            theirs = naive.expected_pair_score(kind, int(a), int(b), p, matrix) - a * b / p
            assert found.mean[i, j] == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("s", [2, 3, 5])
def test_a_clique_has_a_closed_form(s: int) -> None:
    matrix = np.eye(7)
    matrix[:s, :s] = 0.95
    np.fill_diagonal(matrix, 1)
    ours = chance._expected_in_clique(s, np.arange(8), 7)
    for a in range(8):
        for b in range(8):
            theirs = naive.expected_pair_score("sma_mbm", a, b, 7, matrix) - a * b / 7
            assert ours[a, b] == pytest.approx(theirs, abs=1e-12)


def clustered(rng: np.random.Generator, p: int, n_linked: int, share: float = 0.3) -> np.ndarray:
    """An irregular similarity graph on the first n_linked of p features."""
    matrix = np.eye(p)
    matrix[:n_linked, :n_linked] = random_similarity(rng, n_linked, share)
    return matrix


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(KINDS))
@pytest.mark.parametrize("crowded", [False, True])
def test_simulation_agrees_with_enumeration_and_states_an_honest_error(
    name: str, crowded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few similar features, or many that are nearly all similar, and many sizes.

    z = (simulated − exact)/stated error over 60 seeds: mean 0 and standard deviation 1.

    The standard deviation of 60 values has a standard error of about 0.09; 4 of them are allowed.
    """
    rng = np.random.default_rng(1)
    p = 30
    matrix = clustered(rng, p, 12, 0.8) if crowded else clustered(rng, p, 10)
    similarity = ms.FeatureSimilarity.from_matrix(matrix, 0.9)
    sizes = range(4, 18) if crowded else (4, 6, 9, 9, 12, 14)
    runs = make([set(rng.choice(p, k, replace=False).tolist()) for k in sizes], p)
    exact = ms.stability(runs, name, similarity=similarity, correction="exact")
    assert exact.n_draws == 0
    monkeypatch.setattr(chance, "AUTO_ENUMERATED", 1)
    z = []
    for seed in range(60):
        found = ms.stability(
            runs, name, similarity=similarity, random_state=seed, max_draws=4000, tolerance=1e-9
        )
        assert found.correction == "estimate"
        z.append((found.value - exact.value) / found.chance_standard_error)
    assert abs(np.mean(z)) <= 4 / np.sqrt(60)
    assert 0.64 <= np.std(z) <= 1.36
    assert max(np.abs(z)) < 5


def test_simulated_expectations_per_pair_of_sizes_state_their_error() -> None:
    rng = np.random.default_rng(2)
    p = 25
    matrix = clustered(rng, p, 12)
    graph = graph_of(matrix[:12, :12])
    sizes = np.array([3, 6, 9])
    limits = chance.Chance("exact", 1e-4, 20_000, rng)
    simulated = chance._simulated(
        adjustments.COUNT, graph, sizes, p, np.zeros((3, 3)), limits, evenly
    )
    exact = chance.expected_adjustment(adjustments.COUNT, graph, sizes, p, limits, evenly).mean
    assert simulated.standard_error is not None
    assert (np.abs(simulated.mean - exact) <= 4 * simulated.standard_error).all()


@pytest.mark.parametrize("name", sorted(KINDS))
def test_a_draw_is_worth_more_than_a_plain_one(name: str) -> None:
    """Exact parts and the control variate beat plain Monte Carlo with as many draws."""
    rng = np.random.default_rng(3)
    p = 60
    matrix = clustered(rng, p, 20)
    graph = graph_of(matrix[:20, :20])
    limits = chance.Chance("auto", 1e-9, 4000, rng)
    found = chance.expected_adjustment(KINDS[name], graph, np.array([12]), p, limits, evenly)
    plain, plain_error = naive.simulated_expectation(name, 12, 12, p, matrix, 0.9, 4000, rng)
    assert found.standard_error is not None
    assert found.n_draws == 4000
    assert found.standard_error[0, 0] < plain_error
    both = np.hypot(found.standard_error[0, 0], plain_error)
    assert abs(found.mean[0, 0] + 144 / p - plain) <= 4 * both


def test_simulation_stops_at_the_tolerance_or_at_the_cap() -> None:
    rng = np.random.default_rng(4)
    similarity = ms.FeatureSimilarity.from_matrix(random_similarity(rng, 40, 0.2), 0.9)
    runs = make(random_sets(rng, 5, 40, 5, 20), 40)

    def simulate(**limits: Any) -> ms.StabilityEstimate:
        return ms.stability(runs, "sma_mbm", similarity=similarity, random_state=0, **limits)

    loose, tight = simulate(tolerance=0.01), simulate(tolerance=0.001)
    assert loose.chance_standard_error <= 0.01
    assert tight.chance_standard_error <= 0.001
    assert tight.n_draws > loose.n_draws
    capped = simulate(tolerance=1e-9, max_draws=5000)
    assert 5000 <= capped.n_draws < 6000
    assert f"from {capped.n_draws} draws" in repr(capped)
    assert capped.standard_error > capped.chance_standard_error > 0


@pytest.mark.parametrize("name", sorted(KINDS))
def test_runs_that_select_everything_are_undefined_without_a_draw(name: str) -> None:
    matrix = random_similarity(np.random.default_rng(8), 20, 0.5)
    similarity = ms.FeatureSimilarity.from_matrix(matrix, 0.9)
    everything = make([set(range(20))] * 3, 20)
    assert np.isnan(ms.stability(everything, name, similarity=similarity, undefined="nan").value)


def test_exact_refuses_what_cannot_be_counted_out_and_says_what_to_use() -> None:
    rng = np.random.default_rng(5)
    similarity = ms.FeatureSimilarity.from_matrix(random_similarity(rng, 40, 0.2), 0.9)
    runs = make(random_sets(rng, 3, 40, 5, 20), 40)
    with pytest.raises(ms.InputError, match=r"3\^40 cases.*correction='estimate'"):
        ms.stability(runs, "sma_count", similarity=similarity, correction="exact")
    with pytest.raises(ms.InputError, match="no exact expectation"):
        ms.stability(runs, "matching", similarity=similarity, correction="exact")


def test_matching_corrected_for_chance_by_plain_simulation() -> None:
    rng = np.random.default_rng(6)
    p = 8
    matrix = random_similarity(rng, p, 0.3)
    similarity = ms.FeatureSimilarity.from_matrix(matrix, 0.9)
    sets = random_sets(rng, 3, p, 2, 5)
    found = ms.stability(
        make(sets, p), "matching", similarity=similarity, correction="estimate", random_state=0,
        tolerance=0.01,
    )  # fmt: skip
    exact = naive.mean_over_pairs(
        lambda a, b: naive.corrected_pair_score("matching", a, b, p, matrix), sets
    )
    assert abs(found.value - exact) <= 4 * found.chance_standard_error
    assert found.chance_standard_error <= 0.01


def test_greedy_edges_are_numbered_by_similarity_then_by_feature() -> None:
    matrix = np.eye(4)
    for i, j, s in [(2, 3, 0.95), (0, 1, 0.91), (1, 2, 0.95), (0, 3, 0.99)]:
        matrix[i, j] = matrix[j, i] = s
    assert graph_of(matrix).ends.tolist() == [[0, 3], [1, 2], [2, 3], [0, 1]]
