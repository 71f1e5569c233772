"""The ranker protocol: own classes, selectors, names, tasks, and the options that have moved."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.compose import ColumnTransformer
from sklearn.covariance import EllipticEnvelope
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestRegressor
from sklearn.feature_selection import (
    RFE,
    RFECV,
    SelectFromModel,
    SelectKBest,
    SequentialFeatureSelector,
    VarianceThreshold,
)
from sklearn.linear_model import BayesianRidge, LogisticRegression
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import mainstay as ms
from mainstay import InputError
from mainstay._sklearn import fresh_copy
from mainstay.rankers import (
    MRMR,
    RANKERS,
    Binning,
    EstimatorImportance,
    EvolutionRanker,
    FStatistic,
    FunctionRanker,
    InformationGain,
    NamedRanker,
    PermutationImportance,
    SelectorRanker,
    SplitFrequency,
    list_rankers,
    make_ranker,
    score_filters,
)
from mainstay.rankers.base import for_task, resample_scorer
from mainstay.rankers.inputs import infer_task

WINE = load_wine(return_X_y=True)
TREE = DecisionTreeClassifier(random_state=0)


class Spread(BaseEstimator):
    """An own ranker: the columns with the largest variance."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Spread:
        self.scores_ = np.var(np.asarray(X), axis=0)
        return self


class FastSpread(Spread):
    """The same with the fast path."""

    calls: list[tuple[int, int]] = []  # noqa: RUF012 (a clone would not share an instance's list)

    def score_resamples(self, X: Any, y: Any, weights: np.ndarray) -> np.ndarray:
        FastSpread.calls.append(weights.shape)
        X = np.asarray(X)
        n = weights.sum(axis=1, keepdims=True)
        return (weights @ X**2) / n - ((weights @ X) / n) ** 2


class Boruta(BaseEstimator):
    """A third-party selector: support_ and ranking_, but no get_support()."""

    def __init__(self, k: int = 3, random_state: int | None = None) -> None:
        self.k, self.random_state = k, random_state

    def fit(self, X: Any, y: Any) -> Boruta:
        self.ranking_ = FStatistic().fit(X, y).ranks_.astype(int)
        self.support_ = self.ranking_ <= self.k
        return self

    def transform(self, X: Any) -> Any:
        return np.asarray(X)[:, self.support_]


# ---------------------------------------------------------------------- selections


SELECTORS = {
    "SelectKBest": (SelectKBest(k=3), 3),
    "SelectFromModel": (SelectFromModel(TREE, max_features=3, threshold=-np.inf), 3),
    "RFE": (RFE(TREE, n_features_to_select=3), 3),
    "RFECV": (RFECV(TREE, cv=2, min_features_to_select=2), None),
    "SequentialFeatureSelector": (SequentialFeatureSelector(TREE, n_features_to_select=2, cv=2), 2),
    "VarianceThreshold": (VarianceThreshold(1.0), None),
    "Boruta": (Boruta(), 3),
    "Pipeline": (make_pipeline(StandardScaler(), SelectKBest(k=3)), 3),
    "Pipeline of Boruta": (make_pipeline(VarianceThreshold(1.0), Boruta(2)), 2),
    "Pipeline that drops": (make_pipeline(SelectKBest(k=5), RFE(TREE, n_features_to_select=2)), 2),
}


@pytest.mark.parametrize("name", SELECTORS)
def test_the_selection_of_a_selector_is_kept(name: str) -> None:
    selector, size = SELECTORS[name]
    X = pd.DataFrame(WINE[0], columns=[f"w{12 - j}" for j in range(13)])  # handed over backwards
    y = WINE[1]
    fitted = clone(selector).fit(X[X.columns[::-1]].to_numpy(), y)
    if name == "Pipeline of Boruta":
        places = np.flatnonzero(fitted[0].get_support())[fitted[1].support_]
    elif name == "Pipeline that drops":
        places = np.flatnonzero(fitted[0].get_support())[fitted[1].get_support()]
    else:
        last = fitted[-1] if name == "Pipeline" else fitted
        places = np.flatnonzero(last.support_ if name == "Boruta" else last.get_support())
    ranker = make_ranker(selector).fit(X, y)
    assert ranker.support_.dtype == bool
    assert np.flatnonzero(ranker.support_[::-1]).tolist() == places.tolist()
    assert size is None or ranker.support_.sum() == size
    assert len(ranker.scores_) == 13
    best = np.argsort(-ranker.scores_, kind="stable")[: ranker.support_.sum()]
    if name != "RFECV":
        assert ranker.support_[best].all()  # scores agree with the selection


def test_an_ensemble_of_selectors_counts_what_they_select() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = rng.normal(size=(80, 30))
    X[:, :3] += 5 * y[:, None]
    chooser = SelectFromModel(LogisticRegression(), max_features=3, threshold=-np.inf)
    for selector in (chooser, Boruta()):
        ensemble = ms.EnsembleSelector(
            selector, n_features_to_select=10, n_resamples=10, random_state=0
        )
        with pytest.warns(UserWarning, match="selected only 3 different ones"):
            ensemble.fit(X, y)
        assert ensemble.runs_.kind == "support"
        assert ensemble.stability_.value == 1
        table = ensemble.feature_table_.set_index("feature")
        assert table.loc[["x0", "x1", "x2"], "frequency"].tolist() == [1, 1, 1]


@pytest.mark.filterwarnings("ignore:Determinant", "ignore:The covariance")
def test_support_that_speaks_of_rows_is_no_selection() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(13, 13)), np.arange(13) % 2  # as many rows as columns
    assert make_ranker(SVC(kernel="linear")).fit(X, y).support_ is None
    envelope = make_ranker(EllipticEnvelope(support_fraction=1.0))
    with pytest.raises(InputError, match="none of these"):
        envelope.fit(X, y)
    ridge = BayesianRidge(compute_score=True, max_iter=12)
    lines = make_ranker(ridge).fit(X, X[:, 0] + y)  # scores_ of BayesianRidge: one per iteration
    np.testing.assert_allclose(lines.scores_, np.abs(clone(ridge).fit(X, X[:, 0] + y).coef_))


def test_a_ranking_after_a_selection_keeps_no_selection_of_before() -> None:
    ranker = make_ranker(SelectKBest(k=2)).fit(*WINE)
    assert ranker.support_.sum() == 2
    estimator = EstimatorImportance(Boruta()).fit(*WINE)
    assert estimator.support_.sum() == 3
    assert estimator.set_params(estimator=TREE).fit(*WINE).support_ is None


# ---------------------------------------------------------------------- own rankers


def test_an_own_class_with_scores_is_a_ranker() -> None:
    X, y = WINE
    ranker = make_ranker(Spread()).fit(X, y)
    np.testing.assert_array_equal(ranker.scores_, X.var(axis=0))
    ensemble = ms.EnsembleSelector(Spread(), n_features_to_select=2, n_resamples=5, random_state=0)
    assert ensemble.fit(X, y).get_support()[[4, 12]].all()


def test_the_fast_path_of_an_own_ranker_is_taken() -> None:
    X, y = WINE
    FastSpread.calls.clear()
    ensemble = ms.EnsembleSelector(FastSpread(), n_resamples=7, random_state=0, n_jobs=1).fit(X, y)
    assert sum(rows for rows, _ in FastSpread.calls) == 7
    assert len(FastSpread.calls) == 1  # a block, not one call per resample
    slow = ms.EnsembleSelector(Spread(), n_resamples=7, random_state=0, n_jobs=1).fit(X, y)
    np.testing.assert_allclose(ensemble.runs_.scores, slow.runs_.scores)


def test_a_fast_path_must_give_a_score_per_resample_and_feature() -> None:
    class Transposed(FastSpread):
        def score_resamples(self, X: Any, y: Any, weights: np.ndarray) -> np.ndarray:
            return super().score_resamples(X, y, weights).T

    score = resample_scorer(Transposed(), *WINE)
    assert score is not None
    with pytest.raises(InputError, match=r"Transposed.*shape \(13, 2\).*\(2, 13\)"):
        score(np.ones((2, len(WINE[1]))))
    assert resample_scorer(Spread(), *WINE) is None


def test_what_an_own_ranker_lacks_is_named() -> None:
    class Bare:
        def fit(self, X: Any, y: Any) -> Bare:
            return self

    class Silent(BaseEstimator):
        def fit(self, X: Any, y: Any) -> Silent:
            self.scores_ = [1.0]  # of another length than the features
            return self

    with pytest.raises(InputError, match=r"Bare has fit, but not get_params and set_params.*Base"):
        make_ranker(Bare())
    with pytest.raises(InputError, match=r"Silent has none of these.*13 features.*scores_"):
        make_ranker(Silent()).fit(*WINE)


def test_new_features_made_in_a_pipeline_are_not_taken_for_those_of_x() -> None:
    X, y = WINE
    model = LogisticRegression(max_iter=10_000)
    for step in (PCA(13), FeatureUnion([("a", StandardScaler()), ("b", StandardScaler())])):
        with pytest.raises(InputError, match="makes new features"):
            make_ranker(make_pipeline(StandardScaler(), step, model)).fit(X, y)
    drop_two = FunctionTransformer(lambda X: X[:, 2:])  # and does not say which
    with pytest.raises(InputError, match="given 11 features where 13 were expected"):
        make_ranker(make_pipeline(drop_two, StandardScaler(), model)).fit(X, y)
    frame = pd.DataFrame(X, columns=[f"w{j:02}" for j in range(13)])
    last_first = ColumnTransformer([("s", StandardScaler(), ["w12", "w00"])])
    ranker = make_ranker(make_pipeline(last_first, model)).fit(frame, y)
    assert np.flatnonzero(ranker.scores_).tolist() == [0, 12]
    alone = make_pipeline(StandardScaler(), model).fit(X[:, [12, 0]], y)
    np.testing.assert_allclose(
        ranker.scores_[[12, 0]], np.linalg.norm(alone[-1].coef_, axis=0), rtol=1e-6
    )


# ---------------------------------------------------------------------- names


def test_names_may_say_where_a_greedy_ranker_stops() -> None:
    X, y = WINE
    assert make_ranker("mrmr@4").fit(X, y).order_.tolist() == MRMR().fit(X, y).order_[:4].tolist()
    assert make_ranker("mrmr_fcq@3").method == "FCQ"
    assert make_ranker("l1_path@3").max_features == 3
    with pytest.raises(InputError, match=r"'chi_square' ranks all.*mrmr, mrmr_fcq, jmi"):
        make_ranker("chi_square@3")
    for wrong in ("mrmr@", "mrmr@x", "mrmr@0", "mrmr@1.5"):
        with pytest.raises(InputError, match="k in mrmr@k must be a whole number"):
            make_ranker(wrong)
    with pytest.raises(InputError, match="mean 'mrmr'"):
        make_ranker("mrm@3")


def test_one_entry_makes_a_ranker_known_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RANKERS, "spread", NamedRanker(Spread, "moments"))
    assert list_rankers().set_index("name").loc["spread", "summary"].startswith("An own ranker")
    ensemble = ms.EnsembleSelector("spread", n_features_to_select=1, random_state=0).fit(*WINE)
    assert np.flatnonzero(ensemble.get_support()).tolist() == [12]


@pytest.mark.parametrize("name", ["extra_trees", "linear"])
def test_models_by_name_suit_the_task(name: str) -> None:
    X, y = WINE
    assert make_ranker(name).set_params(random_state=0).fit(X, y).scores_.max() > 0
    numbers = make_ranker(name).set_params(random_state=0).fit(X, X[:, 3] / 7)
    assert numbers.ranks_[3] == 1
    with_gaps = X.copy()
    with_gaps[::7, 2] = np.nan
    assert np.isfinite(make_ranker(name).fit(with_gaps, y).scores_).all()


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
@pytest.mark.parametrize("kind", ["labels", "three labels", "numbers"])
def test_boosting_finds_the_feature_that_matters_in_50_rows(
    library: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(library)
    if library == "xgboost":
        monkeypatch.setitem(sys.modules, "lightgbm", None)  # as if it were not installed
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(50, 30)), columns=[f"g[{j}]: <a>" for j in range(30)])
    X.iloc[::7, 3] = np.nan
    signal = X.iloc[:, 12].to_numpy() + 0.3 * rng.normal(size=50)
    y = {
        "labels": np.array(["no", "yes"])[(signal > 0) * 1],
        "three labels": np.array(["low", "mid", "high"])[np.digitize(signal, [-0.5, 0.5])],
        "numbers": signal,
    }[kind]
    ranker = make_ranker("boosting").set_params(random_state=0).fit(X, y)
    assert ranker.ranks_[12] == 1
    assert (ranker.scores_ > 0).sum() > 5
    again = clone(ranker).fit(X, y)
    np.testing.assert_array_equal(again.scores_, ranker.scores_)
    weights = np.where(np.arange(50) < 40, 1.0, 0.0)
    weighted = clone(ranker).fit(X, y, sample_weight=weights)
    assert (weighted.scores_ != ranker.scores_).any()
    runs = ms.EnsembleSelector(
        "boosting", n_features_to_select=1, n_resamples=3, random_state=0, n_jobs=1
    ).fit(X, y)
    assert runs.get_feature_names_out().tolist() == [X.columns[12]]


def test_boosting_without_a_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("lightgbm", "xgboost"):
        monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(InputError, match=r"needs LightGBM.*pip install 'mainstay\[boost\]'"):
        make_ranker("boosting").fit(*WINE)


def test_named_models_take_labels_as_they_take_numbers() -> None:
    X, y = WINE
    for name in ("random_forest", "extra_trees", "linear"):
        ranker = make_ranker(name).set_params(random_state=0)
        labels = np.array(["a", "b", "c"])[y]
        np.testing.assert_array_equal(
            ranker.fit(X, labels).scores_, clone(ranker).fit(X, y).scores_
        )


# ---------------------------------------------------------------------- tasks


@pytest.mark.parametrize(
    ("y", "task", "reason"),
    [
        (["a", "b"], "classification", "text or categories"),
        ([True, False], "classification", "booleans"),
        ([1, 2, 4, 2], "classification", "3 distinct whole numbers"),
        ([1.0, 2.0], "classification", "2 distinct whole numbers"),
        ([0.5, 2.0], "regression", "fractional part"),
        (range(30), "regression", "30 distinct whole numbers, in 1.0 rows each"),
        (list(range(30)) * 10, "classification", "30 distinct whole numbers"),
    ],
)
def test_the_task_is_told_with_its_reason(y: Any, task: str, reason: str) -> None:
    inferred = infer_task(list(y))
    assert inferred[0] == task
    assert reason in inferred[1]
    values = FStatistic().fit(np.arange(len(y))[:, None] ** 2, list(y)).scores_
    kind = {"classification": "class", "regression": "continuous"}[task]
    same = FStatistic(target=kind).fit(np.arange(len(y))[:, None] ** 2, list(y)).scores_
    assert values.tolist() == same.tolist()


def test_a_task_decides_what_was_left_open() -> None:
    assert for_task(InformationGain(), "regression").target == "continuous"
    given = InformationGain(target="class")
    assert for_task(given, "regression") is given
    assert for_task(EstimatorImportance(), "auto").target == "auto"
    assert for_task(FunctionRanker(np.var), "regression").function is np.var
    wrapped = EstimatorImportance(EstimatorImportance())
    assert for_task(wrapped, "classification").estimator.target == "class"
    assert wrapped.estimator.target == "auto"
    with pytest.raises(InputError, match=r"unknown task 'class'.*classification"):
        for_task(given, "class")


@pytest.mark.parametrize(
    "ranker",
    [
        EstimatorImportance(random_state=0),
        SplitFrequency(random_state=0),
        PermutationImportance(random_state=0, n_repeats=1),
        EvolutionRanker(n_subsets=20, n_restarts=1, random_state=0),
    ],
    ids=lambda ranker: type(ranker).__name__,
)
def test_models_keep_to_the_task(ranker: Any) -> None:
    X, y = WINE
    as_numbers = for_task(ranker, "regression").fit(X, y)
    assert (as_numbers.scores_ != clone(ranker).fit(X, y).scores_).any()
    as_classes = for_task(ranker, "classification").fit(X, y)
    np.testing.assert_array_equal(as_classes.scores_, clone(ranker).fit(X, y).scores_)


def test_a_default_forest_regresses_when_told_to() -> None:
    X, y = WINE
    forest = EstimatorImportance(RandomForestRegressor(), random_state=0).fit(X, y)
    told = EstimatorImportance(target="continuous", random_state=0).fit(X, y)
    np.testing.assert_array_equal(told.scores_, forest.scores_)


# ---------------------------------------------------------------------- columns models refuse


def test_columns_that_a_model_cannot_take_are_named() -> None:
    X = pd.DataFrame(WINE[0][:, :2], columns=["alcohol", "acid"])
    X["colour"] = ["red", "white"] * 89
    with pytest.raises(InputError, match=r"text or categories in 'colour'\. Encode.*information"):
        make_ranker("random_forest").fit(X, WINE[1])
    gaps = X[["alcohol", "acid"]].mask(X.index.to_numpy()[:, None] % 9 == [0, 20])
    with pytest.raises(InputError, match=r"missing values in 'alcohol'\. Fill them in"):
        make_ranker(LogisticRegression()).fit(gaps, WINE[1])

    class Broken(BaseEstimator):
        def fit(self, X: Any, y: Any) -> Broken:
            raise ValueError("a bug of its own")

    with pytest.raises(ValueError, match="a bug of its own") as caught:
        make_ranker(Broken()).fit(*WINE)
    assert not isinstance(caught.value, InputError)


# ---------------------------------------------------------------------- options that moved


def test_binning_options_work_under_their_old_names_with_a_warning() -> None:
    X, y = WINE
    expected = InformationGain(binning=Binning("quantile", n_bins=4)).fit(X, y).scores_
    with pytest.warns(FutureWarning, match=r"bins and n_bins moved.*Binning\(bins='quantile'") as w:
        old = InformationGain(bins="quantile", n_bins=4)
    assert w[0].filename == __file__
    with pytest.warns(FutureWarning, match="n_bins"):
        also = InformationGain(binning=Binning("quantile")).set_params(n_bins=4)
    set_later = InformationGain(binning=Binning("quantile"))
    with pytest.warns(FutureWarning, match="n_bins"):
        set_later.n_bins = 4
    with pytest.warns(FutureWarning, match="n_bins"):
        assert MRMR(binning=Binning(n_bins=7)).n_bins == 7
    with pytest.warns(FutureWarning, match="rebin"):
        assert MRMR(rebin=True).binning.rebin
    with pytest.warns(FutureWarning, match="n_bins"):
        scores = score_filters(X, y, None, ["information_gain"], bins="quantile", n_bins=4)
    np.testing.assert_array_equal(scores["information_gain"][0], expected)
    for ranker in (old, clone(old), also, set_later):
        np.testing.assert_array_equal(ranker.fit(X, y).scores_, expected)
    with pytest.raises(TypeError, match="unexpected keyword argument 'nbins'"):
        InformationGain(nbins=4)


def test_binning_options_can_be_searched() -> None:
    ranker = MRMR().set_params(binning__n_bins=4, binning__integers="numbers")
    assert repr(ranker) == "MRMR(binning=Binning(integers='numbers', n_bins=4))"
    assert MRMR().binning is None  # the default is not shared
    assert ranker.get_params()["binning__n_bins"] == 4
    with pytest.raises(ValueError, match="Invalid parameter 'm_bins'"):
        ranker.set_params(binning__m_bins=4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clone(ranker).set_params(**ranker.get_params())


# ---------------------------------------------------------------------- integers


@pytest.mark.parametrize("ranker", ["information_gain", "chi_square", "gain_ratio", "mrmr"])
def test_numbers_of_patients_and_ages_are_not_favoured_over_noise(ranker: str) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(100, 30)), columns=[f"noise{j}" for j in range(30)])
    X["patient"] = rng.permutation(10_000)[:100]
    X["age"] = rng.integers(20, 90, 100)
    y = rng.integers(0, 2, 100)
    ensemble = ms.EnsembleSelector(ranker, n_features_to_select=4, random_state=0).fit(X, y)
    frequency = ensemble.feature_table_.set_index("feature")["frequency"]
    assert frequency[["patient", "age"]].max() < 0.5


@pytest.mark.parametrize("ranker", ["information_gain", "chi_square", "mrmr@5"])
def test_counts_of_genes_rank_like_the_same_numbers_as_floats(ranker: str) -> None:
    rng = np.random.default_rng(1)
    y = np.arange(80) % 2
    mean = np.exp(rng.normal(4, 1.5, 300))
    mean[:5] = np.exp(rng.uniform(3, 6, 5))
    fold = np.where(np.arange(300) < 5, 2.2, 1.0) ** y[:, None]
    counts = rng.poisson(rng.gamma(5, mean * fold / 5))

    def true_genes(X: np.ndarray) -> int:
        order = np.argsort(make_ranker(ranker).fit(X, y).ranks_, kind="stable")
        return int((order[:5] < 5).sum())

    assert true_genes(counts) >= true_genes(counts.astype(float)) >= 4


def test_integers_are_categories_if_they_are_few() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 90)
    few, many = np.arange(90) % 10, np.arange(90) % 11
    X = pd.DataFrame({"few": few, "many": many, "gaps": pd.array(few, dtype="Int64")})
    X.loc[::8, "gaps"] = pd.NA  # missing is no further value
    ranker = InformationGain().fit(X, y)
    assert [edges is None for edges in ranker.bin_edges_] == [True, False, True]
    as_numbers = InformationGain(binning=Binning(integers="numbers")).fit(X, y)
    assert all(edges is not None for edges in as_numbers.bin_edges_)
    wider = InformationGain(binning=Binning(n_bins=11)).fit(X, y)
    assert wider.bin_edges_[1] is None


def test_booleans_are_categories_whatever_integers_are() -> None:
    X = pd.DataFrame(
        {"rare": np.arange(60) >= 57, "object": pd.Series([True, False] * 30, dtype=object)}
    )
    y = np.arange(60) >= 57
    ranker = InformationGain(binning=Binning("quantile", integers="numbers")).fit(X, y)
    assert ranker.bin_edges_ == (None, None)
    assert ranker.ranks_[0] == 1
    assert FStatistic().fit(X, y).ranks_[0] == 1  # and numbers where those are needed


def test_selectors_wrap_what_selects() -> None:
    assert isinstance(make_ranker(SelectKBest()), SelectorRanker)
    assert isinstance(make_ranker(Boruta()), EstimatorImportance)


def test_a_seed_reaches_models_alone_and_inside_others() -> None:
    from sklearn.ensemble import BaggingClassifier
    from sklearn.linear_model import Ridge
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline

    from mainstay._sklearn import seed

    alone, inside, neither = Ridge(), BaggingClassifier(make_pipeline(Ridge())), GaussianNB()
    for model in (alone, inside, neither):
        seed(model, 7)
    assert alone.random_state == 7
    assert inside.random_state == inside.estimator.steps[0][1].random_state == 7
    assert not hasattr(neither, "random_state")


# ---------------------------------------------------------------------- copies for every run


class Forgetful(BaseEstimator):
    """Breaks scikit-learn's rule that a constructor stores what it is given."""

    def __init__(self, k: int = 3) -> None:
        self.k = k + 1


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(C=0.5, tol=np.float64(1e-3)),
        LogisticRegression(class_weight={0: 1.0, 1: 2.0, 2: 1.0}),
        DecisionTreeClassifier(max_depth=2).fit(*WINE),
        StandardScaler().set_output(transform="pandas"),
        make_pipeline(StandardScaler(), LogisticRegression()),
        RFE(TREE),
    ],
)
def test_a_fresh_copy_is_what_clone_makes(model: Any) -> None:
    mine, expected = fresh_copy(model), clone(model)
    assert type(mine) is type(expected)
    assert vars(mine).keys() == vars(expected).keys()
    assert repr(mine.get_params()) == repr(expected.get_params())
    for name, value in vars(mine).items():  # nothing that could change is shared with the original
        plain = isinstance(value, int | float | str | type(None))
        assert plain or value is not getattr(model, name)


def test_a_fresh_copy_refuses_what_clone_refuses() -> None:
    with pytest.raises(RuntimeError, match="constructor"):
        fresh_copy(Forgetful())
