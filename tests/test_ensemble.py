"""EnsembleSelector and its evaluation: a good scikit-learn citizen that says how sure it is."""

from __future__ import annotations

import pickle
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import RFE, SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, ShuffleSplit, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import mainstay as ms
from mainstay.ensemble.feature_table import COLUMNS, feature_table
from mainstay.measures.inference import frequency_interval
from mainstay.procedure import report_padding

X, Y = load_breast_cancer(return_X_y=True, as_frame=True)


def selector(ranker: Any = "information_gain", **options: Any) -> ms.EnsembleSelector:
    options = {"n_features_to_select": 5, "n_resamples": 20, "random_state": 0, **options}
    return ms.EnsembleSelector(ranker, **options)


RESAMPLED = "resampling draws rows, not weight: a row of weight 2 is not the same as two rows"
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": RESAMPLED,
    "check_sample_weight_equivalence_on_sparse_data": RESAMPLED,
}


@pytest.mark.filterwarnings("ignore:.*features tie for place")  # their features are that good
@parametrize_with_checks(
    [ms.EnsembleSelector(n_resamples=5, random_state=0)],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_scikit_learn_finds_nothing_to_complain_about(estimator: Any, check: Any) -> None:
    check(estimator)


# ---------------------------------------------------------------------- with scikit-learn


def test_works_in_a_pipeline_in_a_search_and_in_cross_validation() -> None:
    pipeline = make_pipeline(selector(), GaussianNB())
    search = GridSearchCV(pipeline, {"ensembleselector__n_features_to_select": [2, 6]}, cv=3)
    search.fit(X, Y)
    assert search.best_score_ > 0.9
    assert cross_validate(pipeline, X, Y, cv=3)["test_score"].min() > 0.85


def test_clone_and_pickle_keep_what_matters() -> None:
    fitted = selector().fit(X, Y)
    assert not hasattr(clone(fitted), "support_")
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.transform(X), fitted.transform(X))


def test_output_has_names() -> None:
    fitted = selector().set_output(transform="pandas").fit(X, Y)
    frame = fitted.transform(X)
    assert list(frame.columns) == list(fitted.get_feature_names_out())
    assert frame.shape == (len(X), 5)
    assert set(frame.columns) == set(fitted.feature_table_["feature"].head(5))


def test_groups_and_weights_are_routed() -> None:
    import sklearn

    groups = np.arange(len(X)) // 3
    with sklearn.config_context(enable_metadata_routing=True):
        routed = selector().set_fit_request(groups=True, sample_weight=True)
        pipeline = make_pipeline(routed, GaussianNB().set_fit_request(sample_weight=False))
        pipeline.fit(X, Y, groups=groups, sample_weight=np.ones(len(X)))
    direct = selector().fit(X, Y, groups=groups, sample_weight=np.ones(len(X)))
    np.testing.assert_array_equal(pipeline[0].get_support(), direct.get_support())


def test_tables_arrays_and_sparse_matrices_give_the_same() -> None:
    expected = selector().fit(X, Y).get_support()
    for data in (X.to_numpy(), pl.from_pandas(X), sp.csr_array(X.to_numpy())):
        np.testing.assert_array_equal(selector().fit(data, Y).get_support(), expected)


@pytest.mark.parametrize("ranker", ["information_gain", "mrmr", RandomForestClassifier(10)])
def test_the_number_of_cores_changes_nothing(ranker: Any) -> None:
    one, two = (selector(ranker, n_resamples=8, n_jobs=n).fit(X, Y) for n in (1, 2))
    np.testing.assert_array_equal(one.runs_.scores, two.runs_.scores)
    pd.testing.assert_frame_equal(one.feature_table_, two.feature_table_)


def test_another_seed_another_result() -> None:
    first, second = (selector(random_state=seed).fit(X, Y).runs_.scores for seed in (0, 1))
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("ranker", ["chi_square", "mrmr", LogisticRegression(max_iter=5000)])
def test_shuffling_columns_with_their_names_changes_nothing(ranker: Any) -> None:
    data = pd.DataFrame(StandardScaler().fit_transform(X), columns=X.columns).iloc[:, :12]
    order = np.random.default_rng(0).permutation(12)
    one = selector(ranker).fit(data, Y)
    two = selector(ranker).fit(data.iloc[:, order], Y)
    table = two.feature_table_
    assert list(table["feature"]) == list(one.feature_table_["feature"])
    np.testing.assert_allclose(table["frequency"], one.feature_table_["frequency"])
    assert two.stability_.value == pytest.approx(one.stability_.value)


# ---------------------------------------------------------------------- rankers


@pytest.mark.parametrize(
    "ranker",
    [
        "symmetric_uncertainty",
        "f_statistic",
        "jmi",
        RandomForestClassifier(5),
        make_pipeline(StandardScaler(), LogisticRegression()),
        SelectKBest(f_classif, k=4),
        RFE(LogisticRegression(max_iter=5000), n_features_to_select=3, step=5),
    ],
    ids=lambda r: r if isinstance(r, str) else type(r).__name__,
)
def test_rankers_estimators_and_selectors_all_do(ranker: Any) -> None:
    data = pd.DataFrame(StandardScaler().fit_transform(X), columns=X.columns)
    fitted = selector(ranker, n_resamples=6).fit(data, Y)
    assert fitted.get_support().sum() == 5
    assert fitted.runs_.n_runs == 6
    assert np.isfinite(fitted.stability_.value)


def test_several_rankers_are_averaged_with_weights() -> None:
    both = selector(["information_gain", "f_statistic"]).fit(X, Y)
    assert set(both.runs_by_ranker_) == {"information_gain", "f_statistic"}
    only_first = selector(["information_gain", "f_statistic"], ranker_weights=[1, 0]).fit(X, Y)
    alone = selector("information_gain").fit(X, Y)
    np.testing.assert_array_equal(only_first.ranking_.order, alone.ranking_.order)


@pytest.mark.parametrize("rule", ["l2_norm", "geometric_mean"])
def test_scores_below_zero_are_no_strength(rule: str) -> None:
    """Greedy rankers score minus the place: squared, the last feature would be the best."""
    with pytest.raises(ms.InputError, match=f"'{rule}' needs scores of at least 0"):
        selector("mrmr", aggregation=rule).fit(X, Y)


@pytest.mark.parametrize("rule", ["l2_norm", "geometric_mean"])
def test_rules_that_read_the_scores_of_each_ranker_are_not_forecast_for_several(rule: str) -> None:
    several = selector(["f_statistic", "information_gain"], aggregation=rule)
    refused = rf"a forecast for several rankers.*aggregation='{rule}'.*one ranker at a time"
    fitted = several.fit(X, Y)
    with pytest.raises(ms.InputError, match=refused):
        fitted.forecast()
    with pytest.raises(ms.InputError, match=refused):
        ms.forecast_stability(several, X, Y, protocol="nested", n_features_to_select=3)
    with pytest.raises(ms.InputError, match=rf"'auto'.*{refused}.*give n_resamples a number"):
        several.set_params(n_resamples="auto").fit(X, Y)
    assert fitted.forecast(aggregation="mean", ensemble_sizes=[5]).curve["stability"].notna().all()


def test_several_rankers_are_combined_by_any_rule_of_ranks() -> None:
    rankers = ["information_gain", "f_statistic", "symmetric_uncertainty"]
    for rule in ("rank_median", "borda", "rra", "stuart"):
        fitted = selector(rankers, ranker_aggregation=rule).fit(X, Y)
        each = [ms.aggregate(runs, "mean").ranks for runs in fitted.runs_by_ranker_.values()]
        expected = ms.aggregate(ms.Runs.from_ranks(each, features=list(X.columns)), rule)
        np.testing.assert_array_equal(fitted.ranking_.order, expected.order)
        assert fitted.ranking_.p_values is None  # the rankers saw the same rows
        first = [runs.ranks[0] for runs in fitted.runs_by_ranker_.values()]
        combined = ms.aggregate(ms.Runs.from_ranks(first, features=list(X.columns)), rule)
        np.testing.assert_allclose(fitted.runs_.scores[0], combined.scores)
    by_default, by_name = (
        selector(rankers, **options).fit(X, Y)
        for options in ({}, {"ranker_aggregation": "rank_mean"})
    )
    np.testing.assert_array_equal(by_default.ranking_.scores, by_name.ranking_.scores)


def test_a_rule_of_ones_own_for_rankers_gets_ranks_and_gives_scores() -> None:
    seen: list[np.ndarray] = []

    def worst_rank(ranks: np.ndarray) -> np.ndarray:
        seen.append(ranks)
        return -ranks.max(axis=0)

    rankers = ["information_gain", "f_statistic", SelectKBest(k=3)]
    fitted = selector(rankers, ranker_aggregation=worst_rank, n_resamples=6).fit(X, Y)
    p = X.shape[1]
    assert {ranks.shape for ranks in seen} == {(3, p)}  # a row per ranker
    of_runs = [ranks for ranks in seen if (ranks[2] == 2).sum() == 3]
    assert len(of_runs) == 6  # every run: what the third ranker selects shares the places 1 to 3
    (of_rankings,) = (ranks for ranks in seen if all((r == 2).sum() < 3 for r in ranks))
    assert (np.sort(of_rankings, axis=1) == np.arange(1, p + 1)).all()  # 1 = best, no ties
    best = fitted.ranking_.order[0]
    assert of_rankings.max(axis=0)[best] == of_rankings.max(axis=0).min()  # larger = better
    np.testing.assert_array_equal(fitted.runs_.scores[0], -of_runs[0].max(axis=0))
    assert fitted.ranking_.method == "worst_rank"


BETWEEN = "mean, median, rank_mean, rank_median, rank_min, rank_geometric_mean, borda, rra, stuart"


@pytest.mark.parametrize("ranker", ["f_statistic", ["f_statistic", "information_gain"]])
@pytest.mark.parametrize("rule", ["medien", None, 5, "frequency", "l2_norm"])
def test_a_wrong_rule_for_rankers_is_answered_with_those_that_work(ranker: Any, rule: Any) -> None:
    with pytest.raises(ms.InputError, match=f"ranker_aggregation.*{rule}.*: {BETWEEN}") as found:
        selector(ranker, ranker_aggregation=rule).fit(X, Y)
    assert "top=" not in str(found.value)


@pytest.mark.parametrize("rule", BETWEEN.split(", "))
def test_every_rule_that_the_message_lists_combines_rankers(rule: str) -> None:
    rankers = ["f_statistic", "information_gain"]
    fitted = selector(rankers, ranker_aggregation=rule, n_resamples=2).fit(X, Y)
    assert fitted.ranking_.n_runs == 2


@pytest.mark.parametrize("rule", ["rank_min", "rra", "stuart", np.max])
def test_rules_without_weights_refuse_those_of_rankers(rule: Any) -> None:
    several = selector(
        ["f_statistic", "information_gain"], ranker_aggregation=rule, ranker_weights=[2, 1]
    )
    weighted = "mean, median, rank_mean, rank_median, rank_geometric_mean, borda"
    with pytest.raises(ms.InputError, match=f"no ranker_weights.*: {weighted}"):
        several.fit(X, Y)


def test_a_rule_for_rankers_needs_several() -> None:
    for ranker in ("f_statistic", ["f_statistic"]):
        with pytest.raises(ms.InputError, match=r"'borda' is for several rankers.*aggregation="):
            selector(ranker, ranker_aggregation="borda").fit(X, Y)
        for usual in ("rank_mean", "mean"):
            selector(ranker, ranker_aggregation=usual, n_resamples=2).fit(X, Y)


def test_regression_and_many_classes() -> None:
    data, target = load_diabetes(return_X_y=True, as_frame=True)
    assert (
        "bmi"
        in selector("correlation", n_features_to_select=3).fit(data, target).get_feature_names_out()
    )
    data, target = load_iris(return_X_y=True, as_frame=True)
    chosen = selector(n_features_to_select=2).fit(data, target).get_feature_names_out()
    assert set(chosen) == {"petal length (cm)", "petal width (cm)"}


# ---------------------------------------------------------------------- how many


def test_number_share_frequency_and_auto() -> None:
    assert selector(n_features_to_select=7).fit(X, Y).n_features_ == 7
    assert selector(n_features_to_select=0.21).fit(X, Y).n_features_ == 7  # rounded up
    often = selector(n_features_to_select="frequency>=0.9", n_features_per_run=6).fit(X, Y)
    table = often.feature_table_
    assert (table["selected"] == (table["frequency"] >= 0.9)).all()
    auto = selector(n_features_to_select="auto", n_resamples=5, cv=3).fit(X, Y)
    scores = auto.cv_scores_
    assert auto.n_features_ in scores
    assert scores[auto.n_features_] >= max(scores.values()) - 0.05


# ---------------------------------------------------------------------- what is known afterwards


def test_every_column_of_the_feature_table_is_explained() -> None:
    fitted = ms.EnsembleSelector("f_statistic", n_resamples=3, random_state=0).fit(X, Y)
    assert list(fitted.feature_table_) == list(COLUMNS)


def test_the_feature_table_says_everything() -> None:
    fitted = selector(n_resamples=50).fit(X, Y)
    table = fitted.feature_table_
    assert list(table["rank"]) == list(range(1, 31))
    assert table["selected"].sum() == 5
    assert table["selected"].head(5).all()
    assert (table["frequency_lower"] <= table["frequency"]).all()
    assert (table["frequency"] <= table["frequency_upper"]).all()
    assert table[["q_value", "group_q_value"]].isna().all().all()  # nothing was computed of them
    assert "p_value" not in table
    assert table["frequency"].sum() == pytest.approx(5)
    assert (table["group_frequency"] >= table["frequency"] - 1e-12).all()
    runs = fitted.runs_.ranks
    first = list(X.columns).index(table.loc[0, "feature"])
    assert table.loc[0, "mean_rank"] == pytest.approx(runs[:, first].mean())
    assert table.loc[0, "sd_rank"] == pytest.approx(runs[:, first].std(ddof=1))


def test_evidence_fills_the_q_values_of_its_features() -> None:
    runs = ms.Runs.from_scores([[1, 3, 2], [1, 2, 3], [0, 3, 1]], features=["a", "b", "c"])
    evidence = SimpleNamespace(q_values=[0.9, 0.01, 0.2], group_q_values=[0.8, 0.02, 0.02])
    table = feature_table(
        ms.aggregate(runs), runs, runs.top(1), None, np.array([False, True, False]), evidence
    )
    assert list(table["feature"]) == ["b", "c", "a"]
    assert list(table["q_value"]) == [0.01, 0.2, 0.9]
    assert list(table["group_q_value"]) == [0.02, 0.02, 0.8]


@pytest.mark.parametrize("paired", [False, True])
def test_the_interval_of_a_frequency_covers_what_endlessly_many_runs_would_give(
    paired: bool,
) -> None:
    """Half A of the rows shows d + e, the other half d − e; a run selects where that exceeds 1.

    Without effect (d = 0) both halves of a pair select, or neither: 50 pairs are worth 50 runs.
    95% of 2,000 intervals have a standard error of 0.5 points; Wilson's interval for 50 or 100
    runs covers a frequency of 0.317 in 95.3% or 94.7% (the binomial sum).
    """
    rng = np.random.default_rng(0)
    frequency = 0.3173105  # P(|e| > 1)
    errors = rng.normal(size=(50 if paired else 100, 2000))
    support = np.abs(np.repeat(errors, 2, axis=0) if paired else errors) > 1
    runs = ms.Runs.from_support(support)
    low, high = frequency_interval(runs.as_pairs() if paired else runs)
    assert 0.93 < np.mean((low <= frequency) & (frequency <= high)) < 0.97
    if paired:  # taken for independent runs, the interval would be too short
        low, high = frequency_interval(runs)
        assert np.mean((low <= frequency) & (frequency <= high)) < 0.88


def test_a_feature_or_its_twin() -> None:
    """One informative feature and its noisy copy: each is chosen sometimes, one of them always."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    signal = y + rng.normal(size=200)
    data = pd.DataFrame(rng.normal(size=(200, 8)), columns=[f"noise {i}" for i in range(8)])
    data["gene"] = signal + 0.1 * rng.normal(size=200)
    data["twin"] = signal + 0.1 * rng.normal(size=200)
    fitted = selector("f_statistic", n_features_to_select=1, n_resamples=100).fit(data, y)
    table = fitted.feature_table_.set_index("feature")
    assert 0.02 < table.loc["twin", "frequency"] < 0.98
    assert table.loc["gene", "group"] == "twin"
    assert table.loc["twin", "group"] == "gene"
    assert table.loc["gene", "group_frequency"] == table.loc["twin", "group_frequency"] == 1
    assert fitted.adjusted_stability_.value > fitted.stability_.value + 0.1


@pytest.mark.parametrize("limit", [29, 15])
def test_of_many_features_only_those_that_runs_select_have_their_twins_looked_for(
    limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 30)), rng.integers(0, 2, 60)
    X[:, :5] += 2 * y[:, None]
    X[:, 10:15] = X[:, :5] + 0.1 * rng.normal(size=(60, 5))
    X[:, 29] = X[:, 28]  # twins that no run selects
    selector = ms.EnsembleSelector("f_statistic", n_features_to_select=3, random_state=0)
    whole = clone(selector).fit(X, y)
    ever = int((whole.selections_.counts > 0).sum())
    monkeypatch.setattr("mainstay.twins.ALL_PAIRS_UP_TO", limit)
    assert (ever <= limit**2 // 60) == (limit == 29)  # both cases are tried
    room = limit**2 // 60  # as many as make no more pairs than `limit` features have
    which = "all that any run selected" if ever <= room else f"{ever - room} that were selected"
    with pytest.warns(UserWarning, match=f"twins are looked for of {room} features only.*{which}"):
        part = clone(selector).fit(X, y)
    assert part.similarity_.graph.nnz < whole.similarity_.graph.nnz
    if ever <= room:  # then nothing that is said of the selected features changes
        options = {"measure": "sma_count", "correction": "none"}
        agreement = [
            ms.stability(one.selections_, similarity=one.similarity_, **options).value
            for one in (part, whole)
        ]
        assert agreement[0] == agreement[1]
        columns = ["feature", "frequency", "group_frequency"]
        pd.testing.assert_frame_equal(part.feature_table_[columns], whole.feature_table_[columns])
        selected = part.feature_table_["frequency"] > 0
        pd.testing.assert_frame_equal(part.feature_table_[selected], whole.feature_table_[selected])


def test_text_columns_have_no_twins_but_are_ranked() -> None:
    data = X.iloc[:, :4].assign(colour=np.where(Y == 1, "red", "blue"))
    with pytest.warns(UserWarning, match="text or categories.*'colour'"):
        fitted = selector(n_features_to_select=1).fit(data, Y)
    assert list(fitted.get_feature_names_out()) == ["colour"]
    table = fitted.feature_table_.set_index("feature")
    assert table.loc["colour", "group"] == ""
    assert table.loc["mean radius", "group"] == "mean perimeter; mean area"
    assert fitted.adjusted_stability_ is not None


# ---------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ranker": "information_gian"}, "Did you mean 'information_gain'"),
        ({"ranker": []}, "empty list"),
        ({"ranker": GaussianNB()}, "feature_importances_"),
        ({"n_features_to_select": 31}, "from 1 to 30, got 31"),
        ({"n_features_to_select": 1.5}, r"from 1 to 30, or a share .* to 1\.0, got 1\.5"),
        (
            {"n_features_to_select": "many"},
            "or 'expected_false<=1', got 'many'",
        ),
        ({"aggregation": "meen"}, "Did you mean 'mean'"),
        ({"resampling": "bootstrp"}, "Did you mean 'bootstrap'"),
        ({"n_resamples": 1}, "at least 2"),
        ({"ranker_weights": [1.0]}, "several rankers"),
        ({"ranker": ["mrmr", "jmi"], "ranker_aggregation": "medien"}, "Did you mean 'median'"),
        ({"ranker": ["mrmr", "jmi"], "ranker_weights": [1]}, "2 numbers"),
    ],
)
def test_errors_say_what_was_wrong(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        selector(**{"ranker": "information_gain", **options}).fit(X, Y)


# ---------------------------------------------------------------------- evaluation


def test_selection_inside_the_folds_does_not_leak() -> None:
    """Noise: 60 rows, 500 features, coin-toss classes. Selecting before splitting reaches 80%.

    The accuracy of 10 random halves of 60 rows has a standard error below 0.05 around 1/2.
    """
    rng = np.random.default_rng(1)
    noise, coins = rng.normal(size=(60, 500)), rng.integers(0, 2, 60)
    halves = ShuffleSplit(10, test_size=0.5, random_state=0)
    honest = ms.cross_validate_selection(
        selector("f_statistic"), noise, coins, cv=halves, sizes=[10], random_state=0
    )
    assert honest.to_frame()["score"].between(0.3, 0.7).all()
    best = selector("f_statistic", n_features_to_select=10).fit(noise, coins).transform(noise)
    leaky = cross_validate(LogisticRegression(), best, coins, cv=halves)["test_score"].mean()
    assert leaky > 0.75


def test_on_noise_the_halves_of_a_pair_agree_on_nothing() -> None:
    rng = np.random.default_rng(2)
    noise, coins = rng.normal(size=(60, 300)), np.tile([0, 1], 30)
    result = ms.cross_validate_selection(
        selector("f_statistic"), noise, coins, cv="half", sizes=[20], measures=["nogueira"],
        random_state=0,
    )  # fmt: skip
    assert all(runs.paired for runs in result.runs.values())
    assert (result.stability["value"].abs() < 0.1).all()
    assert ((result.stability["lower"] < 0) & (result.stability["upper"] > 0)).all()


def test_evaluation_reports_ensemble_and_baseline_at_every_size() -> None:
    result = ms.cross_validate_selection(
        selector(), X, Y, estimator=GaussianNB(), cv=4, sizes=[2, 0.2], random_state=0,
        measures=["spearman", "jaccard", "sma_count"],
    )  # fmt: skip
    assert set(result.to_frame()["n_features"]) == {2, 6}
    assert len(result.scores) == 4 * 2 * 2
    table = result.stability.set_index(["kind", "measure", "n_features"])["value"]
    assert table.loc["ensemble", "spearman", 30] > 0.9
    assert table.index.is_unique
    assert len(table) == 2 * (1 + 2 + 2)
    runs = result.runs["single"]
    assert runs.n_runs == 4
    assert "4 folds" in repr(result)


def test_the_baseline_is_the_ranker_on_the_whole_training_part() -> None:
    from sklearn.model_selection import KFold

    from mainstay.rankers import InformationGain

    folds = KFold(3, shuffle=True, random_state=0)
    result = ms.cross_validate_selection(selector(), X, Y, cv=folds, random_state=0)
    for i, (train, _) in enumerate(folds.split(X)):
        alone = InformationGain().fit(X.iloc[train], Y.iloc[train])
        expected = np.argsort(np.argsort(-alone.scores_, kind="stable")) + 1
        np.testing.assert_array_equal(result.runs["single"].ranks[i], expected)


def test_evaluation_is_the_same_for_any_number_of_cores() -> None:
    data, target = make_classification(80, 20, random_state=0)
    one, two = (
        ms.cross_validate_selection(selector(), data, target, cv=3, random_state=0, n_jobs=n)
        for n in (1, 2)
    )
    pd.testing.assert_frame_equal(one.scores, two.scores)
    pd.testing.assert_frame_equal(one.stability, two.stability)


def test_places_that_are_filled_at_random_are_announced():
    scores = np.zeros((3, 20))
    scores[:, :4] = [4, 3, 2, 1]
    runs = ms.Runs.from_scores(scores)
    with pytest.warns(UserWarning, match="on average 6 of the 10 places in a run were filled"):
        report_padding(runs, 10)
    report_padding(runs, 7)  # fewer than half of the places
    report_padding(ms.Runs.from_support(scores > 0), 10)


def test_a_warning_names_the_line_that_called_fit():
    X, y = np.zeros((20, 4)), np.arange(20) % 2
    X[:, 0] = y
    with pytest.warns(UserWarning, match="features tie for place 2") as caught:
        ms.EnsembleSelector(
            "f_statistic", n_features_to_select=2, similarity_threshold=None, random_state=0
        ).fit(X, y)
    assert {warning.filename for warning in caught} == {__file__}
