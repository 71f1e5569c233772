"""Bounds applied to runs: selecting within a bound, integrated paths, and noise."""

from __future__ import annotations

import itertools
import math
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import mainstay as ms
import naive_bounds
from mainstay import InputError, Runs
from mainstay.reliability import bounds


def noise_selections(rng: np.random.Generator, n: int, p: int, q: int, n_pairs: int) -> Runs:
    """The q features that correlate most with y, in both halves of every pair, of pure noise."""
    X, y = rng.normal(size=(n, p)), rng.normal(size=n)
    support = np.zeros((2 * n_pairs, p), dtype=bool)
    for pair in range(n_pairs):
        order = rng.permutation(n)
        for side, rows in enumerate((order[: n // 2], order[n // 2 :])):
            x = X[rows] - X[rows].mean(axis=0)
            score = np.abs(x.T @ y[rows]) / np.sqrt(np.square(x).sum(axis=0))
            support[2 * pair + side, np.argpartition(-score, q)[:q]] = True
    return Runs.from_support(support).as_pairs()


# --- noise ----------------------------------------------------------------------------------------


def test_noise_gives_no_more_false_features_than_the_two_bounds_with_few_assumptions_say():
    """All features are alike, so that each is selected with probability q/p exactly."""
    rng = np.random.default_rng(0)
    p, q, B = 200, 10, 20
    counts = np.array([noise_selections(rng, 40, p, q, B).counts for _ in range(200)])
    for w in range(B + 1, 2 * B + 1):
        found = (counts >= w).sum(axis=1)
        surely = found.mean() - 3 * found.std() / math.sqrt(len(found))
        for name in ("meinshausen-buehlmann", "unimodal"):
            assert surely <= bounds.BOUNDS[name].by_count(p, q, B)[w]
    assert (counts >= B + 1).sum(axis=1).mean() > 0.3  # there are false features to count


@pytest.mark.slow
def test_noise_breaks_the_r_concave_bound():
    rng = np.random.default_rng(0)
    found = [
        bounds.select(noise_selections(rng, 100, 1000, 20, 50), bound="r-concave").support.sum()
        for _ in range(40)
    ]
    assert np.mean(found) - 3 * np.std(found) / math.sqrt(len(found)) > 1


# --- selecting ------------------------------------------------------------------------------------


def paired_scores(p: int = 60, strong: int = 4, n_pairs: int = 20, seed: int = 0) -> Runs:
    scores = np.random.default_rng(seed).normal(size=(2 * n_pairs, p))
    scores[:, :strong] += 6
    return Runs.from_scores(scores, [f"gene{i}" for i in range(p)]).as_pairs()


@pytest.mark.parametrize("bound", bounds.BOUNDS)
@pytest.mark.parametrize("max_false", [0.7, 1, 3])
def test_features_are_selected_from_the_smallest_threshold_on_that_keeps_the_bound(
    bound, max_false
):
    found = bounds.select(paired_scores(), max_false=max_false, bound=bound, n_features_to_select=6)
    design = {"n_features": 60, "n_selected": 6, "n_pairs": 20}
    wanted = bounds.smallest_threshold(max_false=max_false, bound=bound, **design)
    assert found.threshold == wanted
    function = getattr(bounds, bound.replace("-", "_"))
    assert found.expected_false == function(**design, threshold=wanted) <= max_false
    frequency = paired_scores().top(6).support.mean(axis=0)
    assert np.array_equal(found.frequencies, frequency)
    assert np.array_equal(found.support, frequency >= wanted)
    assert found.selected[:4] == ("gene0", "gene1", "gene2", "gene3")


def test_selections_of_different_sizes_count_with_their_mean():
    runs = Runs.from_sets([[0], [0, 1, 2], [0, 3], [0, 4]], features=100).as_pairs()
    found = bounds.select(runs, max_false=1)
    assert (found.n_selected, found.sizes, found.n_pairs) == (2.0, (1, 3), 2)
    assert found.selected == ("x0",)
    assert "a run selects 2 of 100 on average" in found.statement


def test_the_statement_says_what_is_bounded_and_what_is_assumed():
    found = bounds.select(paired_scores(), max_false=1, n_features_to_select=3)
    assert found.statement == (
        "4 of 60 features were selected in at least 22 of 40 runs. The expected number of features "
        "that pass by chance, those whose probability of being selected in a run is at most 0.05 "
        "(a run selects 3 of 60), is at most 1 (unimodal bound). This assumes independent rows, "
        "and that the share of pairs in which both halves select such a feature has a unimodal "
        "distribution."
    )
    assert repr(found).startswith("BoundedSelection: 4 of 60 features, threshold")


def test_where_no_threshold_keeps_the_bound_nothing_is_selected_and_the_remedy_is_named():
    found = bounds.select(paired_scores(), max_false=0.01, n_features_to_select=30)
    assert (found.threshold, found.selected, found.expected_false) == (None, (), 0)
    most = bounds.largest_selection(max_false=0.01, n_features=60, threshold=1, n_pairs=20)
    assert 0 < most < 30
    assert found.statement.startswith("Nothing is selected: with 20 pairs and runs that select 30")
    assert f"Let a run select at most {most}, or make more pairs" in found.statement
    assert not found.to_frame()["selected"].any()
    hopeless = bounds.select(paired_scores(), max_false=1e-6, n_features_to_select=30)
    assert "Make more pairs, or allow more false features" in hopeless.statement


def test_groups_of_twins_are_selected_where_their_members_take_turns():
    sets = [["a", "x"], ["b", "x"]] * 10
    runs = Runs.from_sets(sets, features=["a", "b", "x", *(f"n{i}" for i in range(50))]).as_pairs()
    assert bounds.select(runs, max_false=0.5).selected == ("x",)
    found = bounds.select(runs.grouped([("a", "b")]), max_false=0.5)
    assert found.selected == ("a; b", "x")
    assert len(found.features) == 52


def test_shuffling_columns_or_pairs_changes_nothing():
    runs = paired_scores(strong=0)
    rng = np.random.default_rng(1)
    columns = rng.permutation(60)
    rows = (2 * rng.permutation(20)[:, None] + [1, 0]).ravel()
    names = np.array(runs.features)[columns]
    shuffled = Runs.from_scores(runs.scores[rows][:, columns], names).as_pairs()
    for function in (
        lambda runs: bounds.select(runs, n_features_to_select=6),
        lambda runs: bounds.ipss(runs, power=3),
    ):
        assert function(runs).to_frame().equals(function(shuffled).to_frame())


def test_runs_of_an_ensemble_on_pairs_can_be_selected_from():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 100)), np.arange(80) % 2
    X[:, 7] += 3 * y
    selector = ms.EnsembleSelector(
        "f_statistic", n_features_to_select=5, n_resamples=40, resampling="pairs", random_state=0
    ).fit(X, y)
    assert bounds.select(selector.runs_, n_features_to_select=5).selected == ("x7",)
    assert bounds.ipss(selector.runs_).selected(max_false=1) == ("x7",)


@pytest.mark.parametrize(
    ("runs", "options", "message"),
    [
        (
            Runs.from_sets([[0], [1]], 3),
            {},
            r"not complementary pairs.*resampling='pairs'.*as_pairs",
        ),
        (paired_scores(), {}, "hold scores: say with n_features_to_select how many"),
        (paired_scores().top(2), {"n_features_to_select": 2}, "selections already"),
        (paired_scores(), {"n_features_to_select": 61}, "whole number from 1 to 60, got 61"),
        (paired_scores().top(2), {"bound": "unimodel"}, "Did you mean 'unimodal'"),
        (paired_scores().top(2), {"max_false": 0}, "must be a number above 0, got 0"),
    ],
)
def test_runs_that_cannot_be_bounded_are_refused(runs, options, message):
    with pytest.raises(InputError, match=message):
        bounds.select(runs, **options)


# --- integrated paths -----------------------------------------------------------------------------


def rank_path_sets(ranks: np.ndarray) -> list[list[set[int]]]:
    """For k = 1..p the features of every run whose ties, too, are among its k best."""
    p = ranks.shape[1]
    last = [[sum(other <= rank for other in row) for rank in row] for row in ranks.tolist()]
    return [[{j for j in range(p) if row[j] <= k} for row in last] for k in range(1, p + 1)]


@given(
    st.sampled_from([1, 2, 3]),
    st.sampled_from([0.01, 0.05, 0.4]),
    st.tuples(st.integers(1, 4), st.integers(1, 9)).flatmap(
        lambda s: arrays(float, (2 * s[0], s[1]), elements=st.integers(0, 12))
    ),
)
def test_integrating_over_rank_paths_is_a_sum_over_all_numbers_of_features(power, cutoff, scores):
    runs = Runs.from_scores(scores).as_pairs()
    p = runs.n_features
    total = sum(1 / k for k in range(1, p + 1))
    weights = [1 / k / total for k in range(1, p + 1)]
    efp, integral, n_points = naive_bounds.ipss(
        rank_path_sets(runs.ranks), weights, p, power, cutoff
    )
    found = bounds.ipss(runs, power=power, cutoff=cutoff)
    assert found.integral == pytest.approx(integral, abs=1e-14)
    assert found.end == n_points
    assert found.expected_false == pytest.approx(efp, rel=1e-9)
    assert found.q_values == pytest.approx(naive_bounds.q_values(found.expected_false.tolist()))


@given(
    st.sampled_from([1, 2, 3]),
    st.sampled_from([0.01, 0.05, 0.4]),
    st.integers(1, 3),
    st.integers(1, 8),
    st.integers(0, 2**32 - 1),
)
def test_integrating_over_penalties_is_a_sum_over_the_pieces_between_entries(
    power, cutoff, n_pairs, p, seed
):
    rng = np.random.default_rng(seed)
    penalties = rng.choice([0.0, *rng.uniform(0.01, 1, 6)], size=(2 * n_pairs, p))
    penalties[:, 0] = 1.0  # the first to enter does so at the largest penalty
    penalties[0, -1] = 0.005
    grid = sorted(set(penalties[penalties > 0].tolist()), reverse=True)
    length = math.log(grid[0] / grid[-1])
    weights = [math.log(a / b) / length for a, b in itertools.pairwise(grid)]
    sets = [
        [{j for j in range(p) if row[j] >= penalty} for row in penalties] for penalty in grid[:-1]
    ]
    efp, integral, n_points = naive_bounds.ipss(sets, weights, p, power, cutoff)
    found = bounds.ipss(
        Runs.from_scores(penalties).as_pairs(), path="penalties", power=power, cutoff=cutoff
    )
    assert found.integral == pytest.approx(integral, abs=1e-14)
    assert found.end == pytest.approx(grid[n_points])
    assert found.expected_false == pytest.approx(efp, rel=1e-9)


def test_the_integral_stays_within_the_cutoff_and_longer_paths_have_more_power():
    runs = paired_scores(p=500, strong=4)
    short, long = (bounds.ipss(runs, cutoff=cutoff) for cutoff in (0.01, 0.05))
    assert short.integral <= 0.01 < long.integral <= 0.05
    assert short.end < long.end
    assert (short.scores <= long.scores).all()


def test_features_are_named_within_an_expected_number_or_a_rate():
    found = bounds.ipss(paired_scores(p=500))
    table = found.to_frame()
    assert list(table.columns) == ["feature", "score", "expected_false", "q_value"]
    best = tuple(f"gene{i}" for i in range(4))
    assert set(found.selected(max_false=1)) == set(found.selected(max_fdr=0.1)) == set(best)
    assert found.selected(max_false=1) == tuple(table["feature"][:4])
    assert (np.diff(table["expected_false"]) >= 0).all()
    assert (np.diff(table["q_value"]) >= 0).all()
    assert table["q_value"].max() <= 1
    for options in ({}, {"max_false": 1, "max_fdr": 0.1}):
        with pytest.raises(InputError, match="give either max_false or max_fdr"):
            found.selected(**options)


def test_the_statement_of_a_path_says_how_far_it_goes_and_what_is_assumed():
    runs = paired_scores(p=500)
    one, three = (bounds.ipss(runs, power=power) for power in (1, 3))
    assert f"with h₁, over the 1 to {one.end:.0f} best features of every run" in one.statement
    assert one.statement.endswith("a false feature with probability at most (q/p)².")
    assert three.statement.endswith("at most (q/p)⁶, which failed where it was measured.")
    penalties = Runs.from_scores(np.linspace(0.1, 1, 20) + np.zeros((4, 1))).as_pairs()
    assert "of the largest penalty" in bounds.ipss(penalties, path="penalties").statement


def test_with_very_few_features_a_path_can_select_nothing():
    found = bounds.ipss(Runs.from_ranks([[1, 2], [1, 2]]).as_pairs())
    assert found.expected_false.tolist() == [2, 2]
    assert found.q_values.tolist() == [1, 1]
    assert found.selected(max_false=1) == ()
    assert found.statement.startswith("Nothing can be selected: as soon as features enter the path")


@pytest.mark.parametrize("power", [1, 2, 3])
def test_twenty_thousand_features_take_a_second_or_two(power):
    runs = Runs.from_scores(np.random.default_rng(0).normal(size=(100, 20_000))).as_pairs()
    start = time.process_time()
    bounds.ipss(runs, power=power)
    assert time.process_time() - start < 6  # about 2 s, most of it for ranks


@pytest.mark.parametrize(
    ("runs", "options", "message"),
    [
        (Runs.from_scores(np.eye(2)), {}, r"not complementary pairs.*resampling='pairs'"),
        (paired_scores().top(2), {}, r"selections, one point of a path.*use bounds.select"),
        (paired_scores(), {"power": 4}, "power must be a whole number from 1 to 3, got 4"),
        (paired_scores(), {"path": "rank"}, "Did you mean 'ranks'"),
        (paired_scores(), {"cutoff": 0}, r"cutoff must be a number in \(0, 1\), got 0"),
        (paired_scores(), {"path": "penalties"}, r"from 0 \(never enters\) to 1; these scores go"),
        (Runs.from_ranks([[1, 2], [2, 1]]).as_pairs(), {"path": "penalties"}, "runs hold ranks"),
        (
            Runs.from_scores([[0, 1], [1, 0]]).as_pairs(),
            {"path": "penalties"},
            "no feature enters any run after the largest penalty",
        ),
    ],
)
def test_runs_without_a_path_are_refused(runs, options, message):
    with pytest.raises(InputError, match=message):
        bounds.ipss(runs, **options)
