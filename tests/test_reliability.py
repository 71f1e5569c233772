"""Would another study find the same? Pairs share no row; intervals refer to other data sets."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeClassifier

import mainstay as ms
from mainstay import InputError
from mainstay.data import Data
from mainstay.procedure import Procedure
from mainstay.reliability.pairs import agreement_in_pairs, gain_from_sharing, halve
from mainstay.reliability.result import Replicability
from mainstay.reliability.variance import PartScores, Spread, extrapolate, grown, rows_needed
from mainstay.resampling import Pairs, make_resamples

N, P = 60, 40
RNG = np.random.default_rng(0)
Y = np.repeat([0, 1], N // 2)
NOISE = RNG.normal(size=(N, P))
SIGNAL = NOISE + 3 * Y[:, None] * (np.arange(P) < 4)


class Lot(BaseEstimator):
    """A ranker that draws by lot, anew for any other rows."""

    def fit(self, X: Any, y: Any) -> Lot:
        self.scores_ = np.random.default_rng(crc32(X.tobytes())).random(X.shape[1])
        return self


# ---------------------------------------------------------------------- complementary pairs


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(2, 15), min_size=1, max_size=4), st.integers(0, 10**6))
def test_halves_share_no_row_and_split_every_class_as_evenly_as_possible(
    sizes: list[int], seed: int
) -> None:
    classes = np.repeat(np.arange(len(sizes)), sizes)
    first, second = Pairs().halves(len(classes), classes, None, np.random.default_rng(seed))
    np.testing.assert_array_equal(np.sort(np.r_[first, second]), np.arange(len(classes)))
    assert abs(len(first) - len(second)) <= 1
    for label, size in enumerate(sizes):
        share = (classes[first] == label).sum()
        assert share in (size // 2, (size + 1) // 2)


def test_groups_stay_on_one_side_and_the_sides_are_nearly_equal() -> None:
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(20), rng.integers(1, 9, size=20))
    classes = groups % 2
    for seed in range(20):
        first, second = Pairs().halves(len(groups), classes, groups, np.random.default_rng(seed))
        assert not set(groups[first]) & set(groups[second])
        assert abs(len(first) - len(second)) <= groups.size // 10
        assert set(classes[first]) == set(classes[second]) == {0, 1}


def test_every_row_is_in_the_first_half_as_often_as_in_the_second() -> None:
    """400 pairs: the count of a row in first halves has mean 200 and standard deviation 10."""
    resamples = make_resamples("pairs", 800, N, classes=Y, rng=np.random.default_rng(0))
    first = sum(np.bincount(resamples.rows(i), minlength=N) for i in range(0, 800, 2))
    assert np.abs(first - 200).max() < 5 * 10


@pytest.mark.parametrize(
    ("sizes", "labels"),
    [
        ([1, 1, 2, 20, 5, 5, 5, 5], [0] * 4 + [1] * 4),
        ([30, *[1] * 9, 5, 5, 5, 5], [0] * 10 + [1] * 4),
        ([1, 1, 1, 60, 30, 1, 1, 1, 9, 8, 8, 4], [0, 1] * 6),
    ],
    ids=["one group of 20", "one group of 30", "two large groups"],
)
@pytest.mark.parametrize("seed", range(20))
def test_halves_can_be_halved_again_where_one_group_holds_most_rows(
    sizes: list[int], labels: list[int], seed: int
) -> None:
    groups = np.repeat(np.arange(len(sizes)), sizes)
    classes = np.array(labels)[groups]
    rng = np.random.default_rng(seed)
    for half in Pairs().halves(len(groups), classes, groups, rng):
        of_half = np.unique(groups[half], return_inverse=True)[1]
        for quarter in Pairs().halves(len(half), classes[half], of_half, rng):
            assert set(classes[half][quarter]) == {0, 1}


def test_ensembles_are_made_in_parts_of_two_groups() -> None:
    """Eight patients, four of each class: a quarter of them is one patient of each class."""
    patients = np.repeat(np.arange(8), 5)
    y, X = patients % 2, RNG.normal(size=(40, 6))
    rep = ms.replicability(
        "f_statistic", X, y, groups=patients, ensemble_size=3, n_pairs=5, n_splits=5,
        n_features_to_select=2, random_state=0,
    )  # fmt: skip
    assert rep.interval[0] <= float(rep) <= rep.interval[1]


def test_four_groups_are_enough_for_single_runs_and_too_few_for_ensembles() -> None:
    """A quarter of them is one group, of which nothing can be resampled."""
    centres, y = np.tile(np.repeat(np.arange(4), 2), 10), np.tile([0, 1], 40)
    X = RNG.normal(size=(80, 6))
    options: dict[str, Any] = {"groups": centres, "n_pairs": 5, "n_splits": 5, "random_state": 0}
    assert ms.replicability("f_statistic", X, y, **options).inside_halves is not None
    with pytest.raises(ms.InputError, match="of the 4 groups a part holds only one"):
        ms.replicability("f_statistic", X, y, ensemble_size=3, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 7}, "n_resamples must be even, got 7"),
        ({"classes": np.r_[np.zeros(9, dtype=int), 1]}, "in 1 row; two disjoint halves"),
        ({"groups": np.repeat([0, 1, 2], 4), "classes": np.repeat([0, 0, 1], 4)}, "in 1 group"),
    ],
)
def test_what_cannot_be_halved_is_refused(options: dict[str, Any], message: str) -> None:
    n = options.pop("n", 4)
    rows = len(next(iter(options.values()), np.zeros(10)))
    with pytest.raises(InputError, match=message):
        make_resamples("pairs", n, rows, rng=np.random.default_rng(0), **options)


def test_runs_of_pairs_know_their_partners(tmp_path: Path) -> None:
    selector = ms.EnsembleSelector("f_statistic", resampling="pairs", n_resamples=6, random_state=0)
    runs = selector.fit(SIGNAL, Y).runs_
    assert runs.paired
    assert runs.top(5).paired
    assert ms.Runs.concatenate([runs, runs]).paired
    assert not runs[1:3].paired
    assert runs != runs[:]  # the same scores, but nobody knows the partners
    for name in ("runs.csv", "runs.parquet"):
        runs.save(tmp_path / name)
        assert ms.Runs.load(tmp_path / name) == runs
    with pytest.raises(InputError, match="come in twos, got 3 runs"):
        ms.Runs.from_sets([[0], [1], [0]], features=3).as_pairs()


SIMILARITY = ms.FeatureSimilarity.from_matrix(
    np.eye(P) + 0.95 * (np.eye(P, k=1) * (np.arange(P) % 2 == 0)[:, None])
    + 0.95 * (np.eye(P, k=-1) * (np.arange(P) % 2 == 0)[None, :])
)  # fmt: skip


@pytest.mark.parametrize(
    "measure", ["nogueira", "jaccard", "sma_count", "spearman", "rbo", "davis"]
)
def test_agreement_in_pairs_is_that_of_every_pair_alone(measure: str) -> None:
    scores = RNG.normal(size=(130, P))  # more than are scored in one go
    runs = ms.Runs.from_scores(scores).as_pairs()
    options: dict[str, Any] = {}
    if measure == "sma_count":
        options["similarity"] = SIMILARITY
    values = agreement_in_pairs(runs, measure, 8, **options)
    selected = runs if measure in ("spearman", "rbo") else runs.top(8)
    alone = [
        float(ms.stability(selected[i : i + 2], measure, random_state=0, **options))
        for i in range(0, 130, 2)
    ]
    tolerance = 1e-3 if measure == "sma_count" else 1e-12  # its correction for chance is simulated
    np.testing.assert_allclose(values, alone, atol=tolerance)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 6), st.integers(1, 7), st.integers(0, 10**6))
def test_gain_from_sharing_is_what_runs_of_different_pairs_agree_further(
    n_pairs: int, k: int, seed: int
) -> None:
    """By hand: all pairs of runs, one by one."""
    rng = np.random.default_rng(seed)
    sets = [set(rng.choice(8, k, replace=False).tolist()) for _ in range(2 * n_pairs)]
    partners, others = [], []
    for i, first in enumerate(sets):
        for j in range(i):
            agreement = (len(first & sets[j]) / k - k / 8) / (1 - k / 8)
            (partners if i // 2 == j // 2 else others).append(agreement)
    disjoint, sharing = np.mean(partners), np.mean(others)
    expected = max(0.0, (sharing - disjoint) / (1 - disjoint)) if disjoint < 1 - 1e-9 else np.nan
    runs = ms.Runs.from_sets([sorted(one) for one in sets], features=8).as_pairs()
    assert gain_from_sharing(runs, k) == pytest.approx(expected, abs=1e-9, nan_ok=True)


def test_rows_matter_to_a_filter_and_not_to_a_ranker_that_draws_by_lot() -> None:
    options = {"n_features_to_select": 4, "n_splits": 5, "random_state": 0}
    X = np.random.default_rng(5).normal(size=(N, 200))
    lot, f_test = (ms.replicability(ranker, X, Y, **options) for ranker in (Lot(), "f_statistic"))
    assert lot.sharing < 0.03 < 0.08 < f_test.sharing
    assert lot.interval[0] <= 0
    assert np.diff(lot.interval) < 0.8 * np.diff(f_test.interval)


@pytest.mark.parametrize("chosen", [[], [0, 1], [0, 1, 2]])
def test_where_partners_always_agree_no_gain_from_sharing_can_be_seen(chosen: list[int]) -> None:
    runs = ms.Runs.from_sets([chosen] * 4, features=3).as_pairs()
    assert np.isnan(gain_from_sharing(runs, 3))


def test_runs_without_partners_cannot_be_compared_in_pairs() -> None:
    with pytest.raises(InputError, match="not paired"):
        agreement_in_pairs(ms.Runs.from_sets([[0], [1]], features=3), "jaccard", 1)


# ---------------------------------------------------------------------- uncertainty


def parts_with(variance: float, mean: float, seed: int, n_parts: int = 2) -> PartScores:
    """Parts that differ with a variance, and pairs inside them with 0.04; 4,000 splits."""
    rng = np.random.default_rng(seed)
    parts = rng.normal(mean, np.sqrt(variance), size=(4000, n_parts, 1))
    return PartScores(parts + rng.normal(0, 0.2, size=(4000, n_parts, 4)))


def test_the_variance_over_parts_is_found_back() -> None:
    part = parts_with(0.01, 0.4, seed=0)
    # standard error of the variance: about 0.02 · √(2/4000) = 0.00045
    assert part.of_parts - part.of_pairs / 4 == pytest.approx(0.01, abs=4 * 0.00045)


def test_the_spread_is_the_mean_over_the_prior_weighted_by_the_parts() -> None:
    """By hand: a sum over the 21 × 21 values of v and c."""
    rng = np.random.default_rng(2)
    pairs = rng.uniform(0, 0.4, size=50)
    halves, quarters = (
        PartScores(rng.uniform(0, 0.3, (15, 2, 4))),
        PartScores(rng.uniform(0, 0.2, (7, 4, 2))),
    )
    spread = Spread.of(pairs, [halves, quarters], 10, of_chance=0.001, sharing=0.1)
    total = v_sum = c_sum = 0.0
    for i in np.linspace(-2.5, 2.5, 21):
        for j in np.linspace(-2.5, 2.5, 21):
            v = 12 * 0.1**2 * quarters.of_pairs * np.exp(0.6 * i)
            c = 30 * 0.1**2 / 10 * np.exp(1.2 * j)
            weight = np.exp(-(i**2 + j**2) / 2)
            for part, freedom, n_pairs in ((halves, 14, 4), (quarters, 16, 2)):
                theta = part.mean
                expected = v + c * theta * (1 - theta) ** 2 + part.of_pairs / n_pairs
                weight *= expected ** (-freedom / 2)
                weight *= np.exp(-freedom / 2 * part.of_parts / expected)
            total, v_sum, c_sum = total + weight, v_sum + weight * v, c_sum + weight * c
    assert spread.at_zero == pytest.approx(v_sum / total)
    assert spread.slope == pytest.approx(c_sum / total)
    assert spread.error == pytest.approx(pairs.var(ddof=1) / 50)


def test_parts_that_differ_more_make_the_spread_larger() -> None:
    pairs = np.linspace(0.2, 0.6, 50)
    little, much = (
        Spread.of(
            pairs, [parts_with(variance, 0.3, 0), parts_with(variance, 0.2, 1, 4)], 10, 0.0, 0.15
        )
        for variance in (0.001, 0.05)
    )
    assert little.slope < much.slope
    assert little.standard_error(0.4) < much.standard_error(0.4)


@settings(max_examples=100, deadline=None)
@given(st.floats(-0.1, 1), st.floats(0, 0.01), st.floats(0, 0.3), st.floats(0, 0.001))
def test_an_interval_holds_its_estimate_and_grows_with_the_level(
    value: float, at_zero: float, slope: float, error: float
) -> None:
    spread = Spread(at_zero, slope, error)
    low, high = spread.interval(value, 0.95, -1.0)
    wide_low, wide_high = spread.interval(value, 0.99, -1.0)
    assert -1 <= wide_low <= low <= value <= high <= wide_high <= 1


def test_near_zero_the_interval_reaches_further_up_than_down() -> None:
    low, high = Spread(0.001, 0.05, 0.0001).interval(0.01, 0.95, -1.0)
    assert high - 0.01 > 0.01 - low


def test_studies_that_all_find_the_same_leave_a_doubt_which_smaller_studies_lessen() -> None:
    ones = PartScores(np.ones((7, 4, 2)))
    spread = Spread.of(np.ones(50), [ones], 10, of_chance=0.005, sharing=np.nan)
    low, low_of_quarters = (s.interval(1.0, 0.95, -1.0)[0] for s in (spread, spread.inside(ones)))
    assert 0.5 < low < low_of_quarters < 0.99


@settings(max_examples=100, deadline=None)
@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 0.1))
@example(1.0, 1.0, 0.0)  # all halves and quarters agree fully
def test_an_extrapolation_is_at_most_1_and_never_goes_down(
    value: float, before: float, slope: float
) -> None:
    for error in (0.0, 0.01):
        spread = Spread(slope / 20, slope, error)
        assert value <= extrapolate(value, before, spread) <= 1
        assert extrapolate(-value, before, spread) == 0
    low, high = grown((min(before, value), max(before, value)))
    assert low <= high <= 1


def test_growth_is_extrapolated_as_far_as_it_is_certain() -> None:
    """From 0.2 to 0.4 the logit grew by log(8/3); once more would be 0.64."""
    certain, doubtful, unknown = (
        extrapolate(0.4, 0.2, Spread(slope / 20, slope, 0.0)) for slope in (1e-5, 0.06, 3.0)
    )
    assert certain == pytest.approx(0.64, abs=0.001)
    assert certain > doubtful > unknown
    assert unknown == pytest.approx(0.4, abs=0.001)


def test_no_plan_needs_more_than_100_times_the_rows() -> None:
    """Before, growth that had nearly stopped gave numbers such as 10¹⁶."""
    assert rows_needed((0.1, 0.3), 0.2, 0.19, 50, 0.8)[1] == np.inf
    assert rows_needed((0.29, 0.31), 0.3, 0.1, 50, 0.8)[1] < 100 * 50


def test_rows_needed() -> None:
    fewest, most = rows_needed((0.3, 0.5), 0.4, 0.2, 50, 0.8)
    assert 50 < fewest < most
    assert rows_needed((0.85, 0.95), 0.9, 0.8, 50, 0.8) == (50, 50)
    assert rows_needed((-0.01, 0.5), 0.1, 0.0, 50, 0.8)[1] == np.inf


# ---------------------------------------------------------------------- replicability


QUICK = {"n_features_to_select": 4, "n_pairs": 10, "n_splits": 5, "random_state": 0}


def test_noise_agrees_no_better_than_chance_and_the_interval_says_so() -> None:
    rep = ms.replicability("f_statistic", NOISE, Y, **QUICK)
    assert abs(float(rep)) < 0.1
    assert rep.interval[0] <= 0 <= rep.interval[1]
    assert "cannot be told from chance" in rep.summary()


def test_disjoint_halves_of_noise_agree_to_0_on_average() -> None:
    """40 data sets; each estimate has a standard deviation of about 0.03."""
    rng = np.random.default_rng(3)
    values = [
        float(ms.replicability("f_statistic", rng.normal(size=(40, 100)), np.arange(40) % 2,
                               n_features_to_select=10, n_pairs=10, n_splits=5, random_state=i))
        for i in range(40)
    ]  # fmt: skip
    error = np.std(values, ddof=1) / np.sqrt(40)
    assert abs(np.mean(values)) < 4 * error
    assert error < 0.02


def test_a_strong_signal_is_found_by_every_study() -> None:
    rep = ms.replicability("f_statistic", SIGNAL, Y, **QUICK)
    assert float(rep) > 0.9
    assert rep.at_n.value >= float(rep) - 0.05
    assert rep.n_rows == N // 2
    assert list(rep.table["kind"]) == ["observed"] * 3 + ["extrapolated"]
    assert list(rep.table["n_rows"]) == [7, 15, 30, 60]


def test_studies_do_not_agree_on_features_that_they_cannot_tell_apart() -> None:
    """A tree of depth 2 uses three features at most; the other seven are not taken by name."""
    stump = DecisionTreeClassifier(max_depth=2, random_state=0)
    rep = ms.replicability(
        stump, NOISE, Y, n_features_to_select=10, ensemble_size=3, n_pairs=10, n_splits=5,
        random_state=0,
    )  # fmt: skip
    assert rep.interval[0] <= 0
    assert abs(float(rep)) < 0.15


def test_overlapping_runs_agree_on_noise_where_disjoint_ones_do_not() -> None:
    """The number that this replaces: resamples share rows, and noise that one likes all like."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 500))
    selector = ms.EnsembleSelector("f_statistic", n_features_to_select=10, random_state=0)
    assert selector.fit(X, Y).stability_.interval[0] > 0.05
    assert ms.replicability(selector, X, Y, random_state=0).interval[0] <= 0


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_neither_cores_nor_the_order_of_columns_change_the_result(n_jobs: int) -> None:
    table = pd.DataFrame(SIGNAL, columns=[f"g{i}" for i in range(P)])
    expected = ms.replicability("information_gain", table, Y, **QUICK)
    shuffled = table[table.columns[np.random.default_rng(1).permutation(P)]]
    again = ms.replicability("information_gain", shuffled, Y, n_jobs=n_jobs, **QUICK)
    np.testing.assert_array_equal(again.pairs, expected.pairs)
    np.testing.assert_array_equal(again.inside_halves, expected.inside_halves)


def test_ensembles_selectors_and_any_measure() -> None:
    selector = ms.EnsembleSelector(DecisionTreeClassifier(), n_features_to_select=4)
    rep = ms.replicability(selector, SIGNAL, Y, n_pairs=5, n_splits=5, ensemble_size=5,
                           random_state=0)  # fmt: skip
    assert rep.ensemble_size == 5
    assert rep.n_features_to_select == 4
    for measure in ("jaccard", "spearman", "sma_count", lambda runs: 0.25):
        rep = ms.replicability("f_statistic", SIGNAL, Y, measure=measure, **QUICK)
        assert rep.interval[0] <= float(rep) <= rep.interval[1]
    assert float(rep) == 0.25


def test_a_result_is_saved_and_reopened(tmp_path: Path) -> None:
    rep = ms.replicability("f_statistic", SIGNAL, Y, **QUICK)
    rep.save(tmp_path / "rep.zip")
    again = ms.load_result(tmp_path / "rep.zip")
    assert repr(again) == repr(rep)
    pd.testing.assert_frame_equal(again.table, rep.table)
    assert again.runs == rep.runs


def test_a_file_from_before_sharing_was_kept_is_reopened() -> None:
    rep = ms.replicability("f_statistic", NOISE, Y, **QUICK)
    parts = rep._to_parts()
    del parts["sharing"]
    again = Replicability._from_parts(parts)
    assert again.sharing == pytest.approx(rep.sharing)
    assert again.interval == rep.interval


def test_groups_are_kept_together() -> None:
    groups = np.repeat(np.arange(N // 2), 2)
    data = Data.check(SIGNAL, Y, groups=groups)
    first, second = halve(data, np.arange(N), np.random.default_rng(0))
    assert not set(groups[first]) & set(groups[second])
    assert float(ms.replicability("f_statistic", SIGNAL, Y, groups=groups, **QUICK)) > 0.8


@pytest.mark.parametrize(
    ("X", "y", "options", "message"),
    [
        (NOISE[:6], Y[27:33], {}, "at least 8 rows, got 6"),
        (NOISE, np.r_[Y[:57], [2, 2, 2]], {}, "at least 4 rows of every class; the fewest are 3"),
        (NOISE, Y, {"groups": np.repeat([0, 1, 2, 3], 15)}, "at least 4 groups of every class"),
        (NOISE, Y, {"measure": "nogueria"}, "Did you mean 'nogueira'"),
        (NOISE, Y, {"measure": "jaccard@5"}, "use measure='jaccard'"),
        (NOISE, Y, {"ensemble_size": 1}, "ensemble_size must be a whole number at least 2"),
        (NOISE, Y, {"measure": "pearson", "ensemble_size": 3}, "ensembles end in rankings"),
        (NOISE, Y, {"n_pairs": 2}, "n_pairs must be a whole number at least 5"),
    ],
)
def test_what_is_wrong_is_said(X: Any, y: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ms.replicability("f_statistic", X, y, **{**QUICK, **options})


def test_fixed_splits_cannot_be_repeated_on_parts() -> None:
    procedure = Procedure.of("f_statistic", resampling=KFold(3))
    with pytest.raises(InputError, match="fixed splits"):
        ms.replicability(procedure, NOISE, Y, **QUICK)


def test_the_picture_shows_observed_and_extrapolated_agreement() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    display = ms.replicability("f_statistic", X, y, **QUICK).plot()
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == ["observed", "extrapolated"]


def test_the_task_of_a_selector_is_kept() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 6)), rng.integers(0, 5, size=40)
    selector = ms.EnsembleSelector("f_statistic", n_features_to_select=2, task="regression")
    options = {"n_pairs": 5, "n_splits": 5, "random_state": 0}
    assert ms.replicability(selector, X, y, **options).settings["task"] == "regression"
    as_classes = ms.replicability(selector, X, y, task="classification", **options)
    assert as_classes.settings["task"] == "classification"


def test_studies_that_always_agree_still_leave_room_for_doubt() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    X = rng.normal(size=(80, 8))
    X[:, :2] += 20 * y[:, None]
    found = ms.replicability("f_statistic", X, y, n_features_to_select=2, n_pairs=20,
                             random_state=0, progress=False)  # fmt: skip
    low, high = found.interval
    assert 0.8 < low <= 0.05 ** (1 / 20) + 1e-9
    assert high == 1
