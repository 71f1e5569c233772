"""Comparing selectors: one shared split, an honest front, an explained recommendation."""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import mainstay as ms
import naive_comparison as naive
from mainstay.comparison.cross_validation import outer_splits
from mainstay.comparison.pareto import choose, pareto_front
from mainstay.comparison.significance import (
    corrected_standard_error,
    corrected_t_test,
    holm,
    neighbour_tests,
)
from mainstay.data import Data
from mainstay.rankers import FStatistic, FunctionRanker
from mainstay.reliability.agreement import PairAgreement

UNHURRIED = settings(deadline=None, max_examples=60)
HALVES = ShuffleSplit(5, test_size=0.5, random_state=3)


def problem(n: int = 60, p: int = 12, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Three features matter; the last is a twin of the first."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X[:, -1] = X[:, 0] + 0.1 * rng.normal(size=n)
    y = (X[:, :3].sum(axis=1) + 0.5 * rng.normal(size=n) > 0).astype(int)
    return pd.DataFrame(X, columns=[f"gene {i}" for i in range(p)]), y


def compare(selectors: Any = "f_statistic", X: Any = None, y: Any = None, **options: Any) -> Any:
    if X is None:
        X, y = problem()
    usual = {"sizes": [2, 4], "n_resamples": 2, "cv": HALVES, "random_state": 0}
    return ms.compare_selectors(selectors, X, y, **{**usual, **options})


def without_time(comparison: ms.Comparison) -> pd.DataFrame:
    return comparison.table.drop(columns="seconds")


@pytest.fixture(scope="module")
def found() -> ms.Comparison:
    return compare(["f_statistic", "information_gain"], aggregations=["mean", "rank_mean", "none"])


# ---------------------------------------------------------------------- the front

VALUES = st.sampled_from([0.0, 1.0, 2.0, 3.0, math.nan, -math.inf])
POINTS = st.integers(1, 3).flatmap(
    lambda d: arrays(float, st.tuples(st.integers(1, 12), st.just(d)), elements=VALUES)
)


@UNHURRIED
@given(POINTS)
def test_front_is_what_comparing_all_pairs_finds(points: np.ndarray) -> None:
    assert pareto_front(points).tolist() == naive.pareto_front(points.tolist())


@UNHURRIED
@given(POINTS, st.randoms(use_true_random=False))
def test_order_of_candidates_does_not_change_the_front(points: np.ndarray, random: Any) -> None:
    order = list(range(len(points)))
    random.shuffle(order)
    assert pareto_front(points[order]).tolist() == pareto_front(points)[order].tolist()


@UNHURRIED
@given(POINTS)
def test_what_is_not_on_the_front_is_beaten_by_something_on_it(points: np.ndarray) -> None:
    front = pareto_front(points)
    for point, on_front in zip(points.tolist(), front, strict=True):
        beaten = any(naive.dominates(other, point) for other in points[front].tolist())
        assert beaten == (not on_front) or any(math.isnan(x) for x in point)


def test_front_of_nothing_but_unknowns_is_empty() -> None:
    assert not pareto_front([[math.nan, 1.0], [2.0, math.nan]]).any()
    assert pareto_front(np.empty((0, 3))).shape == (0,)


# ---------------------------------------------------------------------- the recommendation

NUMBERS = st.sampled_from([0.0, 0.1, 0.2, 0.5, 0.9, 1.0])
ROWS = st.lists(st.tuples(*[NUMBERS] * 6), min_size=1, max_size=12)


@UNHURRIED
@given(ROWS, st.sampled_from(naive.ORDERS), st.sampled_from([0.0, 1.0, 2.5]))
def test_recommended_is_on_the_front_and_what_the_rule_says(
    rows: list[tuple[float, ...]], order: tuple[str, ...], tolerance: float
) -> None:
    table = np.array(rows)
    values = dict(zip(order, table[:, :3].T, strict=True))
    errors = dict(zip(order, table[:, 3:].T, strict=True))
    chosen, steps = choose(values, errors, np.ones(len(rows), dtype=bool), order, tolerance)
    assert pareto_front(table[:, :3])[chosen]
    assert chosen in naive.choose([r[:3] for r in rows], [r[3:] for r in rows], tolerance)
    assert [step.criterion for step in steps] == list(order)
    kept = [len(rows), *(step.kept for step in steps)]
    assert sorted(kept, reverse=True) == kept
    assert kept[-1] >= 1


def test_one_standard_error_is_given_away_for_stability_and_size() -> None:
    values = {"score": np.array([0.90, 0.89, 0.88, 0.80]),
              "stability": np.array([0.3, 0.80, 0.79, 0.9]),
              "size": -np.array([50.0, 20, 5, 1])}  # fmt: skip
    errors = {"score": np.full(4, 0.03), "stability": np.full(4, 0.02), "size": np.zeros(4)}
    everyone = np.ones(4, dtype=bool)
    assert choose(values, errors, everyone)[0] == 2
    assert choose(values, errors, everyone, tolerance=0)[0] == 0
    assert choose(values, errors, everyone, ("stability", "score", "size"))[0] == 3
    assert choose(values, errors, everyone & (values["score"] > 0.88))[0] == 1


def test_an_unknown_error_gives_nothing_away() -> None:
    values = {"score": np.array([0.9, 0.89]), "stability": np.array([0.1, 0.9])}
    errors = {"score": np.full(2, np.nan), "stability": np.zeros(2)}
    assert choose(values, errors, np.ones(2, dtype=bool), ("score", "stability"))[0] == 0


# ---------------------------------------------------------------------- the tests


@UNHURRIED
@given(arrays(float, st.integers(3, 30), elements=st.floats(-1, 1)), st.floats(0.01, 2))
def test_corrected_t_test_is_the_formula(differences: np.ndarray, test_per_train: float) -> None:
    if differences.std() < 1e-6:
        return
    zero = np.zeros_like(differences)
    result = corrected_t_test(zero, differences, test_per_train)
    statistic, p_value = naive.corrected_t(differences.tolist(), test_per_train)
    assert result.statistic == pytest.approx(statistic, rel=1e-6, abs=1e-9)
    assert result.p_value == pytest.approx(p_value, rel=1e-6, abs=1e-12)


def test_candidates_that_score_the_same_do_not_differ() -> None:
    same = np.array([0.8, 0.9, 0.7])
    assert corrected_t_test(same, same, 1.0).p_value == 1
    always = corrected_t_test(np.zeros(3), np.ones(3), 1.0)
    assert (always.statistic, always.p_value) == (math.inf, 0)


def test_standard_error_of_overlapping_halves_is_that_of_the_rows_not_of_the_splits() -> None:
    """Twenty halves of 100 coin flips do not know the mean better than 100 coin flips do."""
    rng = np.random.default_rng(0)
    errors = []
    for _ in range(200):
        flips = rng.integers(2, size=100)
        halves = np.array([flips[rng.permutation(100)[:50]].mean() for _ in range(20)])
        errors.append(corrected_standard_error(halves, 1.0))
    assert np.mean(errors) == pytest.approx(math.sqrt(0.25 / 100), rel=0.1)


@UNHURRIED
@given(st.lists(st.sampled_from([0.0, 0.001, 0.01, 0.02, 0.3, 1.0]), max_size=8))
def test_holm_is_step_by_step(p_values: list[float]) -> None:
    corrected = holm(p_values)
    assert corrected.tolist() == pytest.approx(naive.holm(p_values))
    assert all(c >= p for c, p in zip(corrected, p_values, strict=True))


def test_neighbours_that_always_agree_are_not_told_apart() -> None:
    runs = ms.Runs.from_sets([["a"]] * 6, features=["a", "b"])
    other = ms.Runs.from_sets([["b"], ["a"]] * 3, features=["a", "b"])
    estimates = {"x": ms.stability(runs), "y": ms.stability(runs), "z": ms.stability(other)}
    scores = dict.fromkeys("xyz", np.array([0.5, 0.6, 0.7, 0.8, 0.9, 1.0]))
    table = neighbour_tests(["x", "y", "z"], scores, estimates, 1.0).set_index(
        ["first", "second", "criterion"]
    )
    assert table.loc[("x", "y", "stability"), "p_value"] == 1
    assert table.loc[("y", "z", "stability"), "difference"] < 0
    assert table.notna().all(axis=None)
    assert neighbour_tests(["x"], scores, estimates, 1.0).empty


def test_fewer_than_five_splits_are_not_tested_for_stability() -> None:
    runs = ms.Runs.from_sets([["a"], ["b"], ["a"], ["a"]], features=["a", "b"])
    estimates = dict.fromkeys("xy", ms.stability(runs))
    scores = dict.fromkeys("xy", np.array([0.5, 0.6, 0.7, 0.8]))
    table = neighbour_tests(["x", "y"], scores, estimates, 1.0).set_index("criterion")
    assert table.loc["stability", "difference"] == 0
    assert np.isnan(table.loc["stability", "p_value"])
    assert np.isfinite(table.loc["score", "p_holm"])


# ---------------------------------------------------------------------- the comparison


def test_every_candidate_and_every_baseline_has_a_row(found: ms.Comparison) -> None:
    labels = found.table["candidate"].tolist()
    assert len(set(labels)) == len(labels) == 2 * 3 * 2 + 1 + 1 + 2 + 2
    assert labels[:2] == ["f_statistic/mean/2", "f_statistic/mean/4"]
    assert labels[-6:-4] == ["all features", "no features"]
    assert labels[-4:] == ["F-test/2", "F-test/4", "random/2", "random/4"]
    assert found.table["baseline"].sum() == 6
    assert set(found.runs) == set(labels) == set(found.scores["candidate"])
    assert (found.scores.groupby("candidate").size() == HALVES.n_splits).all()
    means = found.scores.groupby("candidate")["score"].mean()
    assert found.table.set_index("candidate")["score"].to_dict() == pytest.approx(means.to_dict())


def test_all_features_have_no_stability_and_chance_does_not_compete(found: ms.Comparison) -> None:
    table = found.table.set_index("selector")
    apart = ["all features", "no features"]
    assert table.loc[apart, ["stability", "adjusted_stability"]].isna().all(axis=None)
    assert not table.loc[[*apart, "random"], ["on_front", "recommended"]].any(axis=None)
    rest = found.table[~found.table["selector"].isin(apart)]
    assert rest.notna().all(axis=None)


def test_front_and_recommendation_come_from_the_table(found: ms.Comparison) -> None:
    front = found.front
    assert front["score"].is_monotonic_decreasing
    assert found.recommended in set(front["candidate"])
    apart = ["all features", "no features", "random"]
    competing = found.table[~found.table["selector"].isin(apart)]
    points = competing[["score", "adjusted_stability", "n_features"]] * [1, 1, -1]
    assert naive.pareto_front(points.to_numpy().tolist()) == competing["on_front"].tolist()
    assert found.reason.startswith(f"Recommended: {found.recommended}.")
    pairs = list(zip(found.tests["first"], found.tests["second"], strict=True))[::2]
    names = front["candidate"].tolist()
    assert pairs == list(pairwise(names))
    assert (found.tests["p_holm"] >= found.tests["p_value"]).all()


def test_selections_and_scores_are_those_of_scikit_learn_done_by_hand() -> None:
    X, y = problem()
    result = compare("f_statistic", X, y, aggregations="none")
    selections, scores = [], []
    for train, test in HALVES.split(X):
        best = SelectKBest(f_classif, k=2).fit(X.iloc[train], y[train])
        model = make_pipeline(StandardScaler(), LogisticRegression())
        model.fit(best.transform(X.iloc[train]), y[train])
        scores.append(model.score(best.transform(X.iloc[test]), y[test]))
        selections.append(best.get_support())
    for label in ("f_statistic/none/2", "F-test/2"):
        assert (result.runs[label].support == selections).all()
        of_label = result.scores[result.scores["candidate"] == label]
        assert of_label["score"].tolist() == pytest.approx(scores)
    row = result.table.set_index("candidate").loc["F-test/2"]
    estimate = ms.stability(result.runs["F-test/2"])
    assert (row["stability"], row["stability_lower"]) == (estimate.value, estimate.interval[0])
    assert row["score_standard_error"] == pytest.approx(
        np.std(scores, ddof=1) * math.sqrt(1 / HALVES.n_splits + 1)
    )


CALLS = {"rank": 0, "fit": 0}


def counting_scores(X: Any, y: Any) -> np.ndarray:
    CALLS["rank"] += 1
    return FStatistic().fit(X, y).scores_


class CountingClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    def fit(self, X: Any, y: Any) -> CountingClassifier:
        CALLS["fit"] += 1
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> np.ndarray:
        return np.full(len(X), self.classes_[0])


def test_aggregations_share_runs_sizes_share_rankings_equal_sets_share_fits() -> None:
    CALLS.update(rank=0, fit=0)
    X, y = problem(p=4)
    result = compare(
        {"counted": FunctionRanker(counting_scores)},
        X, y, sizes=[1, 2, 3], aggregations=["mean", "rank_mean", "borda"],
        estimator=CountingClassifier(),
    )  # fmt: skip
    assert CALLS["rank"] == 5 * 2  # splits × resamples
    sets = {
        (split, frozenset(np.flatnonzero(row)))
        for runs in result.runs.values()
        for split, row in enumerate(runs.support)
        if row.any()  # without features nothing is fitted
    }
    assert CALLS["fit"] == len(sets) < HALVES.n_splits * len(result.table)


@pytest.mark.slow
def test_same_seed_gives_the_same_bits_for_any_number_of_cores(found: ms.Comparison) -> None:
    again = compare(
        ["f_statistic", "information_gain"], aggregations=["mean", "rank_mean", "none"], n_jobs=2
    )
    pd.testing.assert_frame_equal(without_time(again), without_time(found), check_exact=True)
    pd.testing.assert_frame_equal(again.tests, found.tests, check_exact=True)
    assert again.settings == found.settings


def test_the_seed_that_was_drawn_repeats_the_comparison() -> None:
    trees = DecisionTreeClassifier(max_features=3)
    first = compare(trees, random_state=None, estimator=trees)
    second = compare(trees, random_state=first.settings["random_state"], estimator=trees)
    pd.testing.assert_frame_equal(without_time(second), without_time(first), check_exact=True)


def test_shuffling_columns_with_their_names_changes_nothing(found: ms.Comparison) -> None:
    X, y = problem()
    shuffled = X.iloc[:, np.random.default_rng(1).permutation(X.shape[1])]
    again = compare(["f_statistic", "information_gain"], shuffled, y,
                    aggregations=["mean", "rank_mean", "none"])  # fmt: skip
    pd.testing.assert_frame_equal(without_time(again), without_time(found), rtol=1e-12)


def test_settings_are_json_and_the_parts_rebuild_the_comparison(found: ms.Comparison) -> None:
    assert json.loads(json.dumps(found.settings)) == found.settings
    parts = {field.name: getattr(found, field.name) for field in dataclasses.fields(found)}
    rebuilt = ms.Comparison(**parts)
    assert repr(rebuilt) == repr(found)
    assert rebuilt.recommended == found.recommended
    frame = found.to_frame()
    frame["score"] = 0.0
    assert (found.table["score"] > 0).all()


def test_repr_shows_the_front_the_baselines_and_the_reason(found: ms.Comparison) -> None:
    text = repr(found)
    competing = ~found.table["selector"].isin(["all features", "no features", "random"])
    assert found.n_candidates == competing.sum() < len(found.table)
    for expected in (
        f"{competing.sum()} candidates",
        "on 5 splits",
        "all features",
        "random/2",
        found.reason,
    ):
        assert expected in text
    assert "nan" not in text.lower()


def test_twins_count_as_one_unless_similarity_is_not_wanted() -> None:
    X, _ = problem()
    y = (X["gene 0"] + 0.3 * X["gene 1"] > 0).to_numpy()  # gene 11 does as well as gene 0
    adjusted = compare("f_statistic", X, y, sizes=1)
    plain = compare("f_statistic", X, y, sizes=1, similarity_threshold=None)
    row = adjusted.table.iloc[0]
    assert row["adjusted_stability"] == 1 > row["stability"]
    assert adjusted.settings["stability"] == "sma_count"
    assert "adjusted_stability" not in plain.table
    assert plain.settings["stability"] == "nogueira"
    assert plain.table["stability"][0] == row["stability"]


def test_more_measures_get_columns_of_their_own() -> None:
    result = compare(measures=["jaccard", "nogueira", "yu"])
    runs = result.runs["f_statistic/mean/2"]
    row = result.table.iloc[0]
    assert row["stability"] == ms.stability(runs, "jaccard").value
    assert row["nogueira"] == ms.stability(runs, "nogueira").value
    assert result.settings["stability"] == "yu"


def test_noise_is_called_noise_and_signal_is_not() -> None:
    rng = np.random.default_rng(0)
    noise = compare("f_statistic", rng.normal(size=(200, 12)), rng.integers(2, size=200), sizes=6)
    assert "not shown to predict better than 6 random features" in noise.reason
    assert "not shown to predict better than always predicting the most frequent" in noise.reason
    assert noise.reason.endswith(noise.caution)
    X, y = problem(200)
    signal = compare("f_statistic", X, y)
    assert signal.caution == ""
    assert "Beware" not in signal.reason


def test_no_features_predict_the_most_frequent_class_or_the_mean() -> None:
    X, _ = problem()
    rng = np.random.default_rng(0)
    rare = np.where(rng.random(len(X)) < 0.2, "rare", "common")
    for scoring in (None, "roc_auc", "neg_log_loss"):
        scores = compare("f_statistic", X, rare, scoring=scoring).scores
        without = scores.loc[scores["candidate"] == "no features", "score"].tolist()
        expected = []
        for train, test in HALVES.split(X):
            common = np.mean(rare[train] == "common")
            share = np.mean(rare[test] == "common")
            expected.append({
                None: share,
                "roc_auc": 0.5,
                "neg_log_loss": share * np.log(common) + (1 - share) * np.log(1 - common),
            }[scoring])  # fmt: skip
        assert without == pytest.approx(expected)
    number = rng.normal(size=len(X))
    found = compare("f_statistic", X, number)
    without = found.scores.loc[found.scores["candidate"] == "no features", "score"].tolist()
    expected = [
        1 - np.sum((number[test] - number[train].mean()) ** 2) / np.sum(
            (number[test] - number[test].mean()) ** 2)
        for train, test in HALVES.split(X)
    ]  # fmt: skip
    assert without == pytest.approx(expected)
    assert "always predicting the mean" in found.reason


def test_accuracy_that_only_repeats_the_share_of_a_class_does_not_pass_without_a_word() -> None:
    """90% of the rows are of one class, and no feature knows which: all reach about 0.9."""
    rng = np.random.default_rng(1)
    found = compare("f_statistic", rng.normal(size=(200, 30)), rng.random(200) < 0.1)
    recommended = found.table.loc[found.table["recommended"], "score"].item()
    assert recommended > 0.8
    assert "predicting the most frequent class" in found.caution


def test_priorities_decide() -> None:
    sizes = [1, 3, 6]
    short = compare(sizes=sizes, priorities=["size", "score", "stability"])
    assert short.recommended.endswith("/1")
    accurate = compare(sizes=sizes, tolerance=0)
    apart = ["all features", "no features", "random"]
    best = accurate.table[~accurate.table["selector"].isin(apart)]["score"]
    chosen = accurate.table.set_index("candidate").loc[accurate.recommended]
    assert chosen["score"] == best.max()
    assert "0 standard errors" in accurate.reason


# ---------------------------------------------------------------------- what may compete


def test_an_ensemble_keeps_its_aggregation_unless_others_are_asked_for() -> None:
    own = ms.EnsembleSelector("f_statistic", aggregation="borda", n_resamples=3)
    assert compare(own).table["aggregation"][0] == "borda"
    table = compare({"mine": own}, aggregations=["mean", "min"]).table
    assert table["candidate"].tolist()[:4:2] == ["mine/mean/2", "mine/min/2"]


def test_a_ranker_alone_competes_with_its_ensembles_and_can_win() -> None:
    """Ensembles of two bootstraps throw away rows: the ranker that sees all of them is better."""
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    X = rng.normal(size=(120, 40)) + 0.8 * y[:, None] * (np.arange(40) < 3)
    found = compare({"filter": FStatistic()}, X, y, sizes=3, n_resamples=2, cv="half")
    table = found.table.set_index("candidate")
    assert list(table.index[:2]) == ["filter/mean/3", "filter/none/3"]
    assert not table.loc["filter/none/3", "baseline"]
    stability = table["stability"]
    assert stability["filter/none/3"] > stability["filter/mean/3"] + 0.05
    assert found.recommended == "filter/none/3"


def test_rankers_alone_are_left_out_where_they_say_nothing_new() -> None:
    def candidates(selectors: Any, **options: Any) -> list[str]:
        names = compare(selectors, sizes=2, n_resamples=2, **options).table["candidate"]
        return [name for name in names if "/none/" in name]

    assert candidates("f_statistic") == []  # the F-test is a baseline
    assert candidates("information_gain", aggregations="mean") == []
    chooser = SelectKBest(f_classif, k=2)  # says which features are in, and no more
    assert candidates(chooser) == []


def test_grids_set_hyperparameters_of_rankers_estimators_and_ensembles() -> None:
    table = compare(
        {
            "bins": "information_gain",
            "tree": DecisionTreeClassifier(),
            "ensemble": ms.EnsembleSelector("f_statistic"),
            "both": ["f_statistic", "information_gain"],
        },
        sizes=2,
        aggregations="mean",
        grids={"bins": {"binning__n_bins": [2, 5]}, "tree": {"max_depth": [1]},
               "ensemble": {"n_resamples": [2, 3]}},
    ).table  # fmt: skip
    assert table["candidate"].tolist()[:6] == [
        "bins(binning__n_bins=2)/mean/2", "bins(binning__n_bins=5)/mean/2",
        "tree(max_depth=1)/mean/2", "ensemble(n_resamples=2)/mean/2",
        "ensemble(n_resamples=3)/mean/2", "both/mean/2",
    ]  # fmt: skip
    assert table["hyperparameters"].tolist()[:3] == [
        "binning__n_bins=2", "binning__n_bins=5", "max_depth=1",
    ]  # fmt: skip


def test_a_selector_of_scikit_learn_competes_by_selection_frequency() -> None:
    result = compare(SelectKBest(k=3), sizes=3)
    assert result.table["candidate"][0] == "SelectKBest/mean/3"
    assert result.table["score"][0] > 0.6


@pytest.mark.parametrize("kind", ["regression", "text", "gaps", "sparse", "polars"])
def test_all_kinds_of_data_work_with_the_default_selectors(kind: str) -> None:
    X, y = problem()
    data: Any = X.iloc[:, :8]
    if kind == "regression":
        y = X["gene 0"].to_numpy() + 0.1 * y
    if kind == "text":
        y = np.where(y == 1, "krank, µ", "<b>")
    if kind == "gaps":
        data = data.mask(np.random.default_rng(0).random(data.shape) < 0.1)
    if kind == "sparse":
        data = sp.csr_array(data.to_numpy())
    if kind == "polars":
        data = pl.DataFrame(data.to_dict("list"))
    result = compare(None, data, y, n_resamples=2, sizes=3)
    assert result.settings["scoring"] == ("R²" if kind == "regression" else "accuracy")
    assert len(result.settings["selectors"]) == 5
    chance = result.table.set_index("candidate").loc["random/3", "score"]
    assert result.table["score"].max() > chance


def test_categories_compete_where_the_estimator_can_read_them() -> None:
    X, y = problem()
    X = X.iloc[:, :6].assign(city=np.where(y == 1, "A", "B"))
    with pytest.raises(ms.InputError, match=r"text or categories: 'city'.*give an estimator"):
        compare("information_gain", X, y)

    def texts(table: pd.DataFrame) -> list[str]:
        return [name for name in table if name == "city"]

    encoded = make_column_transformer((OneHotEncoder(), texts), remainder="passthrough")
    with pytest.warns(UserWarning, match="text or categories are not compared.*'city'"):
        result = compare(
            "information_gain", X, y, estimator=make_pipeline(encoded, LogisticRegression())
        )
    assert "F-test/2" not in set(result.table["candidate"])
    assert result.table["score"][0] > 0.95


def test_rules_that_count_selections_count_as_many_as_the_candidate_selects() -> None:
    X, y = problem()
    every_row = [(np.arange(60), np.arange(0, 60, step)) for step in (2, 3, 5)]
    folds = KFold(5)
    result = compare(
        "f_statistic", X, y, aggregations="frequency", sizes=[2, 5], cv=every_row, resampling=folds
    )
    for k in (2, 5):
        selector = ms.EnsembleSelector(
            "f_statistic", aggregation="frequency", n_features_to_select=k, resampling=folds
        ).fit(X, y)
        for run in result.runs[f"f_statistic/frequency/{k}"]:
            np.testing.assert_array_equal(run.support[0], selector.support_)


def test_groups_are_never_torn_apart() -> None:
    X, y = problem()
    groups = np.arange(60) // 6
    result = compare("f_statistic", X, y, groups=groups, cv=GroupKFold(5))
    assert result.settings["groups"]
    halves = compare("f_statistic", X, y, groups=groups, cv="half", sizes=2)
    assert halves.settings["n_splits"] == 20
    assert halves.settings["test_per_train"] == 1


def noise(seed: int, n: int = 60, p: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """No feature has to do with the target."""
    return np.random.default_rng(seed).normal(size=(n, p)), np.tile([0, 1], n // 2)


def test_on_noise_no_candidate_is_stable() -> None:
    # halves drawn independently of each other share half of their rows: 0.15 and more
    columns = ["stability", "stability_lower", "stability_upper"]
    rows = []
    for seed in range(6):
        found = compare("f_statistic", *noise(seed), cv="half", sizes=20, random_state=seed)
        rows.append(found.table.set_index("candidate").loc["f_statistic/mean/20", columns])
    stability, lower, upper = np.array(rows, dtype=float).T
    assert abs(stability.mean()) < 0.04  # standard error 0.01
    assert ((lower < 0) & (upper > 0)).all()


def test_halves_do_not_agree_on_features_that_they_cannot_tell_apart() -> None:
    """A tree of depth 2 uses three of 20 features; taken by name, the rest agreed to 0.86."""
    X, y = noise(0)
    stump = DecisionTreeClassifier(max_depth=2, random_state=0)
    found = compare({"tree": stump}, X, y, cv="half", sizes=20, n_resamples=3)
    agreed = found.table.set_index("candidate")["stability"]
    assert agreed[["tree/mean/20", "tree/none/20"]].abs().max() < 0.1
    selector = ms.EnsembleSelector(stump, n_resamples=3, random_state=0)
    scores = ms.cross_validate_selection(
        selector, X, y, cv="half", sizes=[20], measures=["nogueira", "spearman"], random_state=0
    )
    assert scores.stability["value"].abs().max() < 0.1


def test_halves_are_pairs_and_each_half_is_tested_on_the_other() -> None:
    X, y = problem()
    data = Data.check(X, y)
    splits = outer_splits("half", LogisticRegression(), data, np.random.default_rng(0))
    assert len(splits) == 20
    for (train, test), (other_train, other_test) in zip(splits[::2], splits[1::2], strict=True):
        np.testing.assert_array_equal(train, other_test)
        np.testing.assert_array_equal(test, other_train)
        np.testing.assert_array_equal(np.sort(np.r_[train, test]), np.arange(60))


def test_stability_of_halves_is_the_mean_of_the_partners() -> None:
    result = compare(cv="half", sizes=3, measures=["jaccard"])
    runs, row = result.runs["f_statistic/mean/3"], result.table.iloc[0]
    assert runs.paired
    partners = [float(ms.stability(runs[i : i + 2], "jaccard")) for i in range(0, 20, 2)]
    assert row["stability"] == pytest.approx(np.mean(partners))
    error = corrected_standard_error(np.array(partners), 1.0)
    assert row["stability_standard_error"] == pytest.approx(error)


def test_selectors_that_differ_on_all_halves_differ_in_the_test_of_stability() -> None:
    steady = PairAgreement("nogueira", np.linspace(0.8, 0.9, 10))
    shaky = PairAgreement("nogueira", np.linspace(0.2, 0.4, 10))
    scores = dict.fromkeys("ab", np.linspace(0.5, 0.6, 20))
    tests = neighbour_tests(["a", "b"], scores, {"a": steady, "b": shaky}, 1.0)
    of_stability = tests.set_index("criterion").loc["stability"]
    assert of_stability["difference"] == pytest.approx(-0.55)
    assert of_stability["p_value"] < 0.001


def test_one_candidate_alone_is_compared_with_the_baselines() -> None:
    result = compare(sizes=1)
    assert len(result.table) == 5
    assert result.recommended in ("f_statistic/mean/1", "F-test/1")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"selectors": []}, "no selectors"),
        ({"selectors": ["mrmr", "mrmr"]}, "two selectors are called 'mrmr@8'"),
        ({"selectors": "mrm"}, "Did you mean 'mrmr'"),
        ({"selectors": {"random": "mrmr"}}, "'random': a baseline has this name"),
        ({"selectors": SelectKBest(), "aggregations": "none"}, "only says which features are in"),
        ({"sizes": []}, "sizes is empty"),
        ({"sizes": [0]}, "from 1 to 12, got 0"),
        ({"sizes": 1.0}, "stay below the number of features, 12"),
        ({"sizes": [13]}, "from 1 to 12, got 13"),
        ({"aggregations": []}, "aggregations is empty"),
        ({"aggregations": ["meen"]}, "Did you mean 'mean'"),
        ({"grids": {"mrmr": {}}}, "unknown selector in grids 'mrmr'"),
        ({"grids": {"f_statistic": ["missing"]}}, "must map hyper-parameters"),
        ({"grids": {"f_statistic": {"missing": "omit"}}}, "must be a list of values"),
        ({"grids": {"f_statistic": {"missing": []}}}, "no value to try"),
        ({"grids": {"f_statistic": {"mising": ["omit"]}}}, "Did you mean 'missing'"),
        ({"n_resamples": 1}, "n_resamples must be a whole number at least 2"),
        ({"cv": 2}, "number of outer splits must be a whole number at least 3"),
        ({"cv": 61}, "cannot split these 60 rows"),
        ({"cv": "third"}, "'half', got 'third'"),
        ({"scoring": "acuracy"}, "Did you mean 'accuracy'"),
        ({"scoring": "r2", "estimator": LogisticRegression(C=-1)}, "could not be fitted"),
        ({"scoring": lambda *_: math.nan}, "gave nan on a test part of 30 rows"),
        ({"measures": "nogueira"}, "must be a list of names"),
        ({"measures": ["spearman"]}, "unknown measure of selections 'spearman'"),
        ({"measures": ["sma_count"]}, "knows nothing of similar features"),
        ({"similarity_threshold": 2}, r"similarity_threshold must be a number in \[0, 1\]"),
        ({"priorities": ["score"]}, "score, stability, size in some order"),
        ({"tolerance": -1}, "number of standard errors, got -1"),
        ({"random_state": -1}, "random_state must be"),
        ({"search": "grid"}, "unknown search 'grid'"),
        ({"search": "optuna", "n_trials": 0}, "n_trials must be a whole number at least 1"),
    ],
)
def test_what_is_wrong_is_said_before_the_work(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ms.InputError, match=message):
        compare(**options)


def test_ensembles_own_sizes_are_not_a_hyperparameter_and_one_feature_is_too_few() -> None:
    own = {"mine": ms.EnsembleSelector()}
    with pytest.raises(ms.InputError, match="that is what sizes= is for"):
        compare(own, grids={"mine": {"n_features_to_select": [2]}})
    X, y = problem()
    with pytest.raises(ms.InputError, match="at least 2 features, got 1"):
        compare("f_statistic", X[["gene 0"]], y)
    with pytest.raises(ms.InputError, match=r"cannot split these 60 rows.*is in 1 row"):
        compare("f_statistic", X, np.r_[2, y[1:]], cv="half")


# ---------------------------------------------------------------------- search


def test_a_search_finds_for_a_candidate_what_the_grid_finds() -> None:
    grids = {"information_gain": {"binning__n_bins": [2, 5]}}
    space: dict[str, Any] = {"aggregations": ["mean", "rank_mean"], "sizes": [1, 5], "grids": grids}
    selectors = ["f_statistic", "information_gain"]
    searched = compare(selectors, search="optuna", n_trials=8, **space)
    candidates = searched.table[~searched.table["baseline"]]
    assert 1 < len(candidates) <= 8
    assert candidates["n_features"].between(1, 5).all()
    assert candidates["selector"].isin(selectors).all()
    sizes = sorted(candidates["n_features"].unique().tolist())
    assert searched.settings["sizes"] == [1, 5]
    grid = compare(selectors, **{**space, "sizes": [*sizes, 5]})
    expected = grid.table.set_index("candidate").loc[searched.table["candidate"]]
    columns = ["score", "stability", "adjusted_stability"]
    np.testing.assert_array_equal(expected[columns], searched.table[columns])
    again = compare(selectors, search="optuna", n_trials=8, **space)
    pd.testing.assert_frame_equal(without_time(again), without_time(searched), check_exact=True)


def test_without_optuna_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ms.InputError, match=r"pip install 'mainstay\[optuna\]'"):
        compare(search="optuna")


# ---------------------------------------------------------------------- the picture


def many_candidates(n: int) -> pd.DataFrame:
    rng = np.random.default_rng(n)
    k = rng.choice([2, 5, 10, 50], n)
    score, stability = 0.7 + 0.03 * np.log(k) + 0.02 * rng.normal(size=n), rng.random(n)
    table = pd.DataFrame({
        "candidate": [f"selector {i}/mean/{size}" for i, size in enumerate(k)],
        "selector": "mrmr", "n_features": k, "score": score, "score_standard_error": 0.02,
        "stability": stability, "stability_lower": stability - 0.1,
        "stability_upper": stability + 0.1,
    })  # fmt: skip
    table["on_front"] = pareto_front(table[["score", "stability", "n_features"]] * [1, 1, -1])
    table["recommended"] = table.index == table.index[table["on_front"]][-1]
    return table


@pytest.mark.parametrize("n", [1, 5, 200])
def test_labels_do_not_overlap_and_name_the_recommended(n: int) -> None:
    table = many_candidates(n)
    display = ms.ComparisonDisplay(table).plot()
    display.figure_.canvas.draw()
    names = [label.get_text() for label in display.labels_]
    assert names[0] == table.loc[table["recommended"], "candidate"].iloc[0]
    assert len(names) <= min(13, table["on_front"].sum())
    from matplotlib.text import Text

    boxes = [Text.get_window_extent(label) for label in display.labels_]
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])
        assert display.ax_.bbox.padded(2).contains(box.x0, box.y0)
        assert display.ax_.bbox.padded(2).contains(box.x1, box.y1)


def test_picture_shows_front_baselines_and_all_features(found: ms.Comparison) -> None:
    display = found.plot()
    shown = {text.get_text() for text in display.ax_.get_legend().get_texts()}
    assert shown == {"random selection", "others", "on the front", "recommended", "all 12 features",
                     "no features"}  # fmt: skip
    assert display.ax_.get_ylabel() == "accuracy"
    from matplotlib.figure import Figure

    ax = Figure().subfigures(1, 2)[0].subplots()
    assert found.plot(ax).ax_ is ax


def test_names_are_drawn_as_they_are() -> None:
    names = ["<script>alert(1)</script>", r"$\frac{", "µ " * 40, "two\nlines", "", "%s {0}"]
    table = many_candidates(40)
    front = table.index[table["on_front"]][: len(names)]
    table.loc[front, "candidate"] = names[: len(front)]
    display = ms.ComparisonDisplay(table).plot()
    display.figure_.canvas.draw()
    assert len(display.labels_) > 1


def test_a_rule_that_cannot_read_the_scores_of_a_ranker_is_named_with_it() -> None:
    with pytest.raises(
        ms.InputError, match=r"^mrmr@8 with l2_norm: 'l2_norm' needs scores of at l"
    ):
        compare(["f_statistic", "mrmr"], aggregations=["mean", "l2_norm"])
