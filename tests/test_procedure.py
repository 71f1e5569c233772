"""A procedure is a value that runs on any data; data are checked once; nothing is silent."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import (
    RFE,
    RFECV,
    SelectFromModel,
    SelectKBest,
    SequentialFeatureSelector,
    VarianceThreshold,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import mainstay as ms
from mainstay import InputError
from mainstay.data import Data
from mainstay.procedure import Procedure, as_procedure
from mainstay.rankers import FStatistic

N, P = 80, 30
RNG = np.random.default_rng(0)
Y = np.repeat([0, 1], N // 2)
X = RNG.normal(size=(N, P))
X[:, [3, 7, 11]] += 4 * Y[:, None]  # three features that any selector finds in any resample
TRUE = {"x3", "x7", "x11"}


def run(procedure: Procedure, data: Data, n: int = 5) -> ms.Runs:
    return procedure.merge(procedure.run(data, n, np.random.default_rng(0), progress=False))


# ---------------------------------------------------------------------- selections stay selections


class BorutaLike(BaseEstimator):
    """A third-party selector: `support_` and `ranking_` after fit, but no `get_support`."""

    def __init__(self, k: int = 3) -> None:
        self.k = k

    def fit(self, X: Any, y: Any) -> BorutaLike:
        gap = np.abs(np.asarray(X)[y == 1].mean(axis=0) - np.asarray(X)[y == 0].mean(axis=0))
        self.ranking_ = np.argsort(np.argsort(-gap)) + 1
        self.support_ = self.ranking_ <= self.k
        return self


TREE = DecisionTreeClassifier(max_depth=3)
LINEAR = LogisticRegression(C=0.1)
SELECTORS = {
    "SelectKBest": SelectKBest(k=3),
    "SelectFromModel": SelectFromModel(LINEAR, max_features=3, threshold=-np.inf),
    "RFE": RFE(LINEAR, n_features_to_select=3, step=5),
    "SequentialFeatureSelector": SequentialFeatureSelector(LINEAR, n_features_to_select=3, cv=2),
    "BorutaLike": BorutaLike(),
    "Pipeline": make_pipeline(StandardScaler(), SelectKBest(k=3)),
    "Pipeline that drops columns": make_pipeline(VarianceThreshold(), BorutaLike()),
}
SMALL = X[:, :12]


@pytest.mark.parametrize("name", SELECTORS)
def test_runs_that_select_the_same_features_are_perfectly_stable(name: str) -> None:
    """Three of twelve features are selected in every run; ten were asked for in the end."""
    selector = ms.EnsembleSelector(
        SELECTORS[name], n_features_to_select=10, n_resamples=6, random_state=0
    )
    strict = "Sequential" not in name  # forward selection may take a noise feature third
    with pytest.warns(UserWarning, match="10 features were asked for, but the 6 runs selected"):
        selector.fit(SMALL, Y)
    assert selector.runs_.kind == "support"
    assert (selector.selections_.sizes == 3).all()
    if strict:
        assert selector.stability_.value == 1
        assert set(selector.get_feature_names_out()) == TRUE
        frequency = selector.feature_table_.set_index("feature")["frequency"]
        assert (frequency[list(TRUE)] == 1).all()
        assert frequency.sum() == 3


def test_rfecv_and_variance_threshold_select_as_many_as_they_like() -> None:
    wide = ms.EnsembleSelector(
        VarianceThreshold(1.5), n_features_to_select="frequency>=0.5", n_resamples=6, random_state=0
    ).fit(SMALL, Y)
    assert wide.runs_.kind == "support"
    assert set(wide.get_feature_names_out()) == TRUE  # the only ones with a large variance
    search = ms.EnsembleSelector(
        RFECV(LINEAR, cv=2, step=4), n_features_to_select=3, n_resamples=4, random_state=0
    ).fit(SMALL, Y)
    assert search.runs_.kind == "support"
    assert len(set(search.selections_.sizes.tolist())) >= 1
    assert set(search.get_feature_names_out()) == TRUE


def test_selections_are_aggregated_by_frequency() -> None:
    selector = ms.EnsembleSelector(
        SelectKBest(k=4), n_features_to_select=3, n_resamples=20, random_state=0
    ).fit(X, Y)
    np.testing.assert_array_equal(
        selector.ranking_.scores, selector.runs_.counts / selector.runs_.n_runs
    )


# ---------------------------------------------------------------------- one protocol


class MeanGap(BaseEstimator):
    """A ranker of one's own: `fit` sets `scores_`, and that is all."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MeanGap:
        values = np.asarray(X)
        self.scores_ = np.abs(values[y == 1].mean(axis=0) - values[y == 0].mean(axis=0))
        return self


class FastMeanGap(MeanGap):
    """The same with a fast path; it counts how often that is used."""

    calls: list[int] = []  # noqa: RUF012 (shared on purpose: clones are counted too)

    def score_resamples(self, X: Any, y: Any, weights: Any) -> np.ndarray:
        FastMeanGap.calls.append(len(weights))
        one, two = ((np.asarray(weights) * (y == c)).astype(float) for c in (0, 1))
        means = [w @ np.asarray(X) / w.sum(axis=1, keepdims=True) for w in (one, two)]
        return np.abs(means[1] - means[0])


def test_a_ranker_of_ones_own_needs_nothing_but_scores() -> None:
    data = Data.check(X, Y)
    runs = run(Procedure.of(MeanGap()), data)
    assert runs.kind == "scores"
    assert {runs.features[j] for j in np.argsort(-runs.scores[0])[:3]} == TRUE


def test_the_fast_path_of_a_ranker_is_used_and_agrees_with_fitting() -> None:
    data = Data.check(X, Y)
    FastMeanGap.calls.clear()
    fast = run(Procedure.of(FastMeanGap()), data)
    assert FastMeanGap.calls == [5]
    np.testing.assert_allclose(fast.scores, run(Procedure.of(MeanGap()), data).scores)


# ---------------------------------------------------------------------- data


def test_data_are_checked_once_and_know_their_task() -> None:
    data = Data.check(X, Y)
    assert (data.n_rows, data.n_features, data.task) == (N, P, "classification")
    assert "2 distinct" in data.task_reason
    half = data.rows(np.arange(0, N, 2))
    assert half.n_rows == N // 2
    assert half.task == data.task
    with pytest.raises(dataclasses.FrozenInstanceError):
        data.task = "regression"  # type: ignore[misc]


def test_whole_numbers_are_classes_or_numbers_as_asked() -> None:
    counts = RNG.poisson(3, size=N)
    assert Data.check(X, counts).task == "classification"
    asked = Data.check(X, counts, task="regression")
    assert (asked.task, asked.task_reason, asked.classes) == ("regression", "as asked for", None)
    forest = ms.EnsembleSelector(
        "random_forest", task="regression", n_features_to_select=3, n_resamples=2, random_state=0
    ).fit(X, counts)
    assert forest.task_ == "regression"
    with pytest.raises(InputError, match="needs numbers"):
        Data.check(X, np.where(Y == 1, "a", "b"), task="regression")
    with pytest.raises(InputError, match=r"unknown task 'regresion'\. Did you mean 'regression'"):
        Data.check(X, Y, task="regresion")


@pytest.mark.parametrize("constant", [np.zeros((N, 4)), np.full((N, 4), np.nan)])
def test_features_none_of_which_varies_are_refused(constant: np.ndarray) -> None:
    with pytest.raises(InputError, match="none of the 4 features varies"):
        ms.EnsembleSelector(n_resamples=3).fit(constant, Y)


def test_one_feature_that_varies_is_enough_also_by_its_gaps() -> None:
    values = np.zeros((N, 4))
    values[::2, 2] = np.nan
    assert Data.check(values, Y).n_features == 4


def test_a_class_without_weight_is_refused() -> None:
    with pytest.raises(InputError, match="class '1' have weight 0"):
        ms.EnsembleSelector(n_resamples=3).fit(X, Y, sample_weight=(Y == 0).astype(float))


def test_columns_keep_names_that_are_no_strings() -> None:
    by_number = pd.DataFrame(X[:, :12], columns=range(100, 112))
    selector = ms.EnsembleSelector(n_features_to_select=3, n_resamples=5, random_state=0)
    assert set(selector.fit(by_number, Y).get_feature_names_out()) == {"103", "107", "111"}
    assert set(selector.feature_table_["feature"]) == {str(i) for i in range(100, 112)}
    levels = pd.MultiIndex.from_tuples([("plate", i) for i in range(12)])
    by_level = pd.DataFrame(X[:, :12], columns=levels)
    assert "plate_3" in selector.fit(by_level, Y).get_feature_names_out()


def test_a_gap_removes_neither_twins_nor_columns_of_the_table() -> None:
    twins = X.copy()
    twins[:, 4] = twins[:, 3] + 0.01 * RNG.normal(size=N)
    complete = ms.EnsembleSelector(n_features_to_select=4, n_resamples=5, random_state=0)
    complete.fit(twins, Y)
    twins[0, 3] = np.nan
    selector = ms.EnsembleSelector(n_features_to_select=4, n_resamples=5, random_state=0)
    table = selector.fit(twins, Y).feature_table_
    assert list(table.columns) == list(complete.feature_table_.columns)
    assert table.set_index("feature").loc["x3", "group"] == "x4"
    assert selector.adjusted_stability_ is not None


def test_the_table_has_the_same_columns_when_twins_are_not_looked_for() -> None:
    selector = ms.EnsembleSelector(
        n_features_to_select=3, n_resamples=5, similarity_threshold=None, random_state=0
    ).fit(X, Y)
    assert (selector.feature_table_["group"] == "").all()
    assert selector.feature_table_["group_frequency"].isna().all()


# ---------------------------------------------------------------------- procedures


def test_a_procedure_is_frozen_and_gives_the_same_runs_for_the_same_seed() -> None:
    procedure, data = Procedure.of("f_statistic"), Data.check(X, Y)
    assert run(procedure, data) == run(procedure, data)
    with pytest.raises(dataclasses.FrozenInstanceError):
        procedure.aggregation = "median"  # type: ignore[misc]


def test_a_selector_repeats_its_procedure() -> None:
    selector = ms.EnsembleSelector("f_statistic", n_features_to_select=4, n_resamples=7,
                                   random_state=3).fit(X, Y)  # fmt: skip
    runs = selector.procedure.run(Data.check(X, Y), 7, np.random.default_rng(3), progress=False)
    assert runs["f_statistic"] == selector.runs_
    assert selector.procedure.combine(runs).best(4) == selector.ranking_.best(4)
    assert as_procedure(selector).n_features_per_run == 4
    assert as_procedure(selector, aggregation="median").aggregation == "median"


def test_a_ranker_alone_is_one_run_on_all_rows() -> None:
    data = Data.check(X, Y)
    alone = run(Procedure.of("f_statistic").alone(), data)
    assert alone.n_runs == 1
    ranker = FStatistic().fit(X, Y)
    np.testing.assert_allclose(alone.scores[0], ranker.scores_)
    with pytest.raises(InputError, match="needs at least"):
        ms.stability(alone.top(3))


def test_an_ensemble_without_resampling_has_one_run_and_no_stability() -> None:
    selector = ms.EnsembleSelector(
        "f_statistic", resampling="none", n_features_to_select=3, random_state=0
    ).fit(X, Y)
    assert selector.n_resamples_ == 1
    assert np.isnan(selector.stability_.value)
    assert set(selector.get_feature_names_out()) == TRUE


@pytest.mark.parametrize("rule", ["frequency", "vote"])
def test_rules_that_count_selections_count_the_best_of_every_run(rule: str) -> None:
    selector = ms.EnsembleSelector(
        "f_statistic", aggregation=rule, n_features_to_select=3, n_resamples=10, random_state=0
    ).fit(X, Y)
    assert set(selector.get_feature_names_out()) == TRUE
    frequency = selector.feature_table_.set_index("feature")["frequency"]
    assert (frequency[list(TRUE)] == 1).all()


def test_features_that_cannot_be_told_apart_at_the_cut_are_named() -> None:
    copies = np.repeat(X[:, [3]], 3, axis=1)
    with pytest.warns(UserWarning, match="3 features tie for place 2.*'x0', 'x1', 'x2'"):
        selector = ms.EnsembleSelector(n_features_to_select=2, n_resamples=5, random_state=0).fit(
            copies, Y
        )
    assert list(selector.get_feature_names_out()) == ["x0", "x1"]


def test_scikit_learns_random_state_is_taken() -> None:
    def fitted(random_state: Any) -> ms.Runs:
        selector = ms.EnsembleSelector(n_resamples=4, random_state=random_state)
        return selector.fit(X, Y).runs_

    assert fitted(np.random.RandomState(5)) == fitted(np.random.RandomState(5))
    assert fitted(np.random.RandomState(5)) != fitted(np.random.RandomState(6))


def test_a_fitted_selector_is_pickled_without_its_data() -> None:
    big = RNG.normal(size=(N, 2000))
    selector = ms.EnsembleSelector("f_statistic", n_resamples=2, random_state=0).fit(big, Y)
    text = pickle.dumps(selector)
    assert len(text) < big.nbytes
    assert pickle.loads(text).data_summary_ == selector.data_summary_
    assert selector.data_summary_["n_features"] == 2000


def test_data_are_hashed_only_when_somebody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    import mainstay.data as module

    def refuse(*_: Any) -> None:
        raise AssertionError("the data were hashed")

    monkeypatch.setattr(module, "data_summary", refuse)
    selector = ms.EnsembleSelector(n_resamples=3, random_state=0).fit(X, Y)
    with pytest.raises(AssertionError, match="hashed"):
        selector.result()


def test_several_rankers_keep_their_own_kind_of_runs() -> None:
    data = Data.check(X, Y)
    procedure = Procedure.of(["f_statistic", SelectKBest(k=3), RandomForestClassifier(5)])
    runs = procedure.run(data, 3, np.random.default_rng(0), progress=False)
    assert [one.kind for one in runs.values()] == ["scores", "support", "scores"]
    assert set(procedure.combine(runs).best(3)) == TRUE


def test_a_splitter_of_one_split_makes_one_run() -> None:
    splitter = ShuffleSplit(1, test_size=0.2, random_state=0)
    assert run(Procedure.of("f_statistic", resampling=splitter), Data.check(X, Y)).n_runs == 1


def test_twins_by_chance_are_announced_once_where_an_ensemble_looks_for_twins() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 2000)), np.repeat([0, 1], 6)
    selector = ms.EnsembleSelector("f_statistic", n_resamples=5, random_state=0)
    with pytest.warns(UserWarning, match="by chance") as caught:
        selector.fit(X, y)
    assert sum("by chance" in str(one.message) for one in caught) == 1


def test_ties_are_broken_by_name_or_at_random_whatever_the_order_of_columns() -> None:
    procedure = Procedure.of("f_statistic")
    names = tuple(f"x{j}" for j in range(30))
    scores = np.zeros((2, 30))
    scores[:, 7] = 1.0
    tied = {"f_statistic": ms.Runs.from_scores(scores, names)}
    by_name = procedure.combine(tied)
    assert by_name.best(4) == ("x7", "x0", "x1", "x2")
    one, other = (procedure.combine(tied, ties=np.random.default_rng(seed)) for seed in (1, 2))
    assert one.best(1) == other.best(1) == ("x7",)
    assert one.best(30) != other.best(30)
    turned = {"f_statistic": ms.Runs.from_scores(scores[:, ::-1], names[::-1])}
    again = procedure.combine(turned, ties=np.random.default_rng(1))
    assert again.best(30) == one.best(30)
    assert again.features == names[::-1]
