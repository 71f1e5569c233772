"""Rankers: agreement with reference values and naive twins, and what every ranker promises."""

from __future__ import annotations

import gc
import pickle
import tracemalloc
import warnings
import weakref
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.ensemble import BaggingClassifier, ExtraTreesRegressor, GradientBoostingClassifier
from sklearn.feature_selection import (
    RFE,
    SelectFromModel,
    SelectKBest,
    SequentialFeatureSelector,
    f_classif,
    f_regression,
)
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import naive_rankers as naive
from conftest import golden
from mainstay import EnsembleSelector, InputError
from mainstay._kernels.greedy import sums_with_one
from mainstay._kernels.moments import (
    column_moments,
    column_products,
    row_moments,
    row_moments_with_target,
)
from mainstay.data import Data
from mainstay.rankers import (
    MRMR,
    NJMIM,
    RANKERS,
    Binning,
    ChiSquare,
    Correlation,
    EstimatorImportance,
    FStatistic,
    FunctionRanker,
    InformationGain,
    PermutationImportance,
    SelectorRanker,
    SplitFrequency,
    SymmetricUncertainty,
    inputs,
    list_rankers,
    make_ranker,
    moments,
    score_filters,
)
from mainstay.rankers.base import for_number
from mainstay.rankers.contingency import pack
from mainstay.rankers.discretization import mdl_cuts
from mainstay.rankers.inputs import Table

LOADERS = {
    "iris": load_iris,
    "wine": load_wine,
    "breast_cancer": load_breast_cancer,
    "digits": load_digits,
}
TABLE = ["information_gain", "symmetric_uncertainty", "gain_ratio", "chi_square", "cramers_v"]
COUNTED = ["mrmr", "jmi", "cmim", "disr", "jmim", "njmim"]
GREEDY = [*COUNTED, "mrmr_fcq"]
CATEGORIES = Binning(integers="categories")
WEIGHTED = [name for name, entry in RANKERS.items() if hasattr(entry(), "score_resamples")]
MODELS = [name for name in RANKERS if name not in WEIGHTED and name != "shap"]  # test_shap.py


def dataset(name: str) -> tuple[np.ndarray, np.ndarray]:
    return LOADERS[name](return_X_y=True)


def or_zero(values: list[float | None]) -> np.ndarray:
    return np.array([0.0 if value is None else value for value in values])


def bootstraps(n: int, b: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.array([np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(b)])


def problem(n: int = 60, p: int = 6, classes: int = 3, seed: int = 0) -> tuple[Any, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    X = rng.normal(size=(n, p)) + np.outer(y, rng.random(p))
    return X, y


def small(name: str) -> Any:
    """The ranker of this name, made quick and reproducible."""
    if name in ("boosting", "shap"):
        pytest.importorskip("lightgbm" if name == "boosting" else name)
        return RANKERS[name](random_state=1)
    if name == "evolution":
        return RANKERS[name](n_subsets=20, n_restarts=1, random_state=1)
    if name in MODELS:
        estimator = DecisionTreeClassifier(max_features=2)
        if name == "split_frequency":
            estimator = BaggingClassifier(estimator, 5, max_features=3)
        if name in ("extra_trees", "linear"):
            return RANKERS[name](random_state=1)
        return RANKERS[name](estimator, random_state=1)
    return RANKERS[name]()


# --- reference values ---------------------------------------------------------------------------
EW = ["iris_ew5", "iris_ew10", "wine_ew10", "breast_cancer_ew5", "digits_ew10"]


@pytest.mark.parametrize("name", EW)
def test_filters_agree_with_reference_values(name: str) -> None:
    reference = golden(f"filters/{name}.json")
    X, y = dataset(reference["dataset"])
    binning = Binning(n_bins=reference["bins"])
    ours = score_filters(X, y, None, TABLE, binning=binning)
    for filter_name in TABLE:
        theirs = or_zero(reference[filter_name.replace("chi_square", "chi2")])
        scale = max(1.0, theirs.max()) if filter_name == "chi_square" else 1.0
        np.testing.assert_allclose(ours[filter_name][0], theirs, rtol=0, atol=1e-12 * scale)
        alone = RANKERS[filter_name](binning=binning).fit(X, y)
        np.testing.assert_array_equal(alone.scores_, ours[filter_name][0])


@pytest.mark.parametrize("name", EW)
@pytest.mark.parametrize("method", COUNTED)
def test_greedy_orders_agree_with_reference_values(name: str, method: str) -> None:
    reference = golden(f"filters/{name}.json")
    X, y = dataset(reference["dataset"])
    ranker = RANKERS[method](binning=Binning(n_bins=reference["bins"])).fit(X, y)
    order = reference[method]["order"]  # may stop early, where the criterion reaches 0
    assert ranker.order_[: len(order)].tolist() == order
    np.testing.assert_allclose(
        ranker.selection_scores_[: len(order)], reference[method]["score"], rtol=0, atol=1e-10
    )


@pytest.mark.parametrize("name", ["iris", "breast_cancer", "digits"])
def test_mdl_cuts_agree_with_reference_values(name: str) -> None:
    reference = golden(f"filters/{name}_mdl.json")
    X, y = dataset(name)
    gain = InformationGain(binning=Binning("mdl")).fit(X, y)
    su = SymmetricUncertainty(binning=Binning("mdl")).fit(X, y)
    # In pixel 30 the last cut gains 0.120957 bits where 0.120986 are asked for; the reference
    # program leaves one row out of both sides of a cut when it checks that, and accepts it.
    doubtful = [30] if name == "digits" else []
    for j, cuts in enumerate(reference["cut_between"]):
        if j not in doubtful:
            assert len(gain.bin_edges_[j]) == len(cuts) == reference["n_bins"][j] - 1
            for ours, (low, high) in zip(gain.bin_edges_[j], sorted(cuts), strict=True):
                assert low < ours <= high
    keep = np.setdiff1d(np.arange(X.shape[1]), doubtful)
    for ranker, values in ((gain, "information_gain"), (su, "symmetric_uncertainty")):
        theirs = np.array(reference[values])
        np.testing.assert_allclose(ranker.scores_[keep], theirs[keep], rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["iris", "wine", "digits"])
def test_praznik_bins_given_as_cut_points_agree_with_reference_values(name: str) -> None:
    reference = golden(f"filters/{name}_cut10.json")
    X, y = dataset(name)
    cuts = {}
    for j, (low, high) in enumerate(zip(X.min(axis=0), X.max(axis=0), strict=True)):
        if min(abs(low), abs(high)) >= 1e-14:
            low -= (high - low) / 1000
            high += (high - low) / 1000
        cuts[f"x{j}"] = low + (high - low) * np.arange(1, 10) / 10 if high > low else []
    binning = Binning({name: np.array(points, dtype=float) for name, points in cuts.items()})
    mi = InformationGain(binning=binning).fit(X, y)
    np.testing.assert_allclose(mi.scores_, reference["mi"], rtol=0, atol=1e-12)
    mrmr = MRMR(binning=binning).fit(X, y)
    assert mrmr.order_.tolist() == reference["mrmr"]["order"]
    np.testing.assert_allclose(mrmr.selection_scores_, reference["mrmr"]["score"], atol=1e-10)


@pytest.mark.parametrize("name", ["iris", "breast_cancer", "digits"])
def test_fcq_agrees_with_mrmr_selection(name: str) -> None:
    reference = golden(f"filters/{name}_fcq.json")
    X, y = dataset(name)
    ranker = MRMR("FCQ").fit(X, y)
    order = reference["order"]  # features without a positive F are left out
    assert ranker.order_[: len(order)].tolist() == order
    np.testing.assert_allclose(
        ranker.selection_scores_[: len(order)], reference["score_at_selection"], rtol=1e-9
    )
    np.testing.assert_allclose(
        FStatistic().fit(X, y).scores_, or_zero(reference["f_statistic"]), rtol=1e-9
    )


@pytest.mark.parametrize("name", ["iris", "wine"])
def test_bootstraps_as_row_weights_agree_with_reference_values(name: str) -> None:
    reference = golden(f"filters/wam_{name}.json")
    X, y = dataset(name)
    weights = np.array([[ord(c) - 48 for c in row] for row in reference["multiplicity"]])
    filters = reference["filters"]
    binning = Binning(n_bins=reference["bins"])
    ours = score_filters(X, y, weights, binning=binning)
    for ours_name, theirs in (
        ("information_gain", "information_gain"),
        ("symmetric_uncertainty", "symmetric_uncertainty"),
        ("chi_square", "chi2"),
    ):
        tolerance = 1e-10 if theirs == "chi2" else 1e-12  # printed with 13 digits
        np.testing.assert_allclose(ours[ours_name], filters[theirs]["scores"], atol=tolerance)
    mrmr = filters.get("mrmr") or reference["mrmr"]
    order = np.array(mrmr["order"])
    ranks = -MRMR(binning=binning).score_resamples(X, y, weights)
    np.testing.assert_array_equal(np.argsort(ranks, axis=1), order)
    criterion = MRMR(binning=binning, scores="criterion").score_resamples(X, y, weights)
    np.testing.assert_allclose(
        np.take_along_axis(criterion, order, axis=1), mrmr["score_at_selection"], atol=1e-10
    )


def test_f_statistics_are_those_of_scikit_learn() -> None:
    X, y = load_diabetes(return_X_y=True)
    np.testing.assert_allclose(FStatistic().fit(X, y).scores_, f_regression(X, y)[0], rtol=1e-9)
    X, y = load_wine(return_X_y=True)
    np.testing.assert_allclose(FStatistic().fit(X, y).scores_, f_classif(X, y)[0], rtol=1e-9)


# --- naive twins --------------------------------------------------------------------------------
@st.composite
def tables(draw: st.DrawFn, whole: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Integer columns of few or many categories, classes, and row weights of two resamples."""
    n, p = draw(st.integers(4, 30)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    y = np.concatenate([[0, 1], rng.integers(0, draw(st.integers(2, 4)), n - 2)])
    X = np.column_stack([rng.integers(0, draw(st.sampled_from([1, 2, 3, 25])), n) + 0
                         for _ in range(p)])  # fmt: skip
    weights = rng.integers(0, 4, (2, n)) if whole else rng.random((2, n)) * rng.integers(0, 2, n)
    weights[:, 0] += 1
    return X, y, weights


@settings(max_examples=60, deadline=None)
@given(st.booleans().flatmap(tables))
def test_table_filters_equal_their_naive_twins(case: Any) -> None:
    X, y, weights = case
    ours = score_filters(X, y, weights, TABLE, binning=CATEGORIES)
    for name in TABLE:
        twin = [[naive.table_score(name, w, x, y) for x in X.T] for w in weights.tolist()]
        np.testing.assert_allclose(ours[name], twin, rtol=1e-9, atol=1e-11)


def test_a_constant_table_has_no_normalised_information() -> None:
    X, y = np.zeros((4, 2), dtype=int), np.array([0, 1, 0, 0])
    for ranker in (RANKERS["disr"](), RANKERS["njmim"]()):
        ranker.fit(X, y, sample_weight=[3, 0, 1, 3])  # the only row of class 1 has no weight
        assert ranker.selection_scores_.tolist() == [0, 0]


@settings(max_examples=60, deadline=None)
@given(
    st.booleans().flatmap(tables),
    st.sampled_from([*COUNTED, "MIQ"]),
)
def test_greedy_steps_are_the_best_ones(case: Any, name: str) -> None:
    X, y, weights = case
    criterion = {"mrmr": "MID"}.get(name, name)
    ranker = RANKERS[name](binning=CATEGORIES) if name != "MIQ" else MRMR(name, binning=CATEGORIES)
    columns = [x.tolist() for x in X.T]
    for w in weights:
        ranker.fit(X, y, sample_weight=w)
        reached = naive.greedy_path_is_optimal(
            criterion, ranker.order_.tolist(), columns, y.tolist(), w.tolist()
        )
        np.testing.assert_allclose(ranker.selection_scores_, reached, rtol=1e-8, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(tables())
def test_moment_filters_equal_their_naive_twins(case: Any) -> None:
    X, y, weights = case
    for w in weights.tolist():
        labels = naive.repeated(y.tolist(), w)
        numbers = naive.repeated((y * y).tolist(), w)
        columns = [naive.repeated(x.tolist(), w) for x in X.T]
        ranked = [naive.average_ranks(x) for x in columns]
        twins = {
            FStatistic(target="class"): [naive.anova_f(x, labels) for x in columns],
            Correlation(): [naive.correlation(x, numbers) for x in columns],
            Correlation(method="spearman"): [
                naive.correlation(x, naive.average_ranks(numbers)) for x in ranked
            ],
        }
        for ranker, twin in twins.items():
            target = y if isinstance(ranker, FStatistic) else y * y
            ours = ranker.fit(X, target, sample_weight=w).scores_
            np.testing.assert_allclose(ours, twin, rtol=1e-6, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(3, 40), st.integers(2, 4))
def test_mdl_cuts_equal_their_naive_twin(seed: int, n: int, classes: int) -> None:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    x = np.round(rng.normal(size=n) + 2 * y, 1)
    np.testing.assert_allclose(mdl_cuts(x, y), naive.mdl_cuts(x.tolist(), y.tolist()))


def test_width_bins_equal_their_naive_twin() -> None:
    X, y = problem(50, 4)
    codes = np.array([naive.width_codes(x, 7) for x in X.T.tolist()]).T
    ours = ChiSquare(binning=Binning(n_bins=7)).fit(X, y).scores_
    np.testing.assert_array_equal(ours, ChiSquare(binning=CATEGORIES).fit(codes, y).scores_)


@pytest.mark.parametrize("lanes", [1, 5])
@pytest.mark.parametrize("dtype", [np.uint16, float])
def test_sums_of_rows_equal_their_naive_twin(lanes: int, dtype: Any) -> None:
    rng = np.random.default_rng(0)
    values, classes = rng.normal(size=(23, 40)), rng.integers(0, 3, 23)
    weights = (rng.random((lanes, 23)) * 3).astype(dtype)
    order = np.argsort(classes)
    starts = np.searchsorted(classes[order], range(4))
    sums, squares = np.zeros((lanes, 3, 40)), np.zeros((lanes, 3, 40))
    row_moments(values, order, starts, weights[:, order], sums, squares)
    for label in range(3):
        of_class = (weights * (classes == label)).T.tolist()
        for ours, columns in ((sums, values.T), (squares, values.T**2)):
            twin = naive.weighted_sums(columns.tolist(), of_class)
            np.testing.assert_allclose(ours[:, label].T, twin, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("lanes", [1, 5])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_of_columns_equal_their_naive_twin_and_those_of_rows(lanes: int, dtype: Any) -> None:
    rng = np.random.default_rng(0)
    columns, y = rng.normal(size=(8, 23)).astype(dtype), rng.normal(size=23)
    centres, classes = rng.normal(size=8), rng.integers(0, 3, 23)
    weights = rng.integers(0, 4, (lanes, 23)).astype(np.uint16)
    order = np.argsort(classes)
    of_rows = order, np.searchsorted(classes[order], range(4)), weights[:, order]
    by_column, by_row = (tuple(np.zeros((lanes, 3, 8)) for _ in range(2)) for _ in range(2))
    column_moments(columns, centres, *of_rows, *by_column)
    centred = np.ascontiguousarray((columns - centres[:, None]).T)
    row_moments(centred, *of_rows, *by_row)
    np.testing.assert_array_equal(by_column, by_row)
    products = np.zeros((lanes, 8))
    column_products(columns, centres, y, np.arange(23), weights, products)
    for label in range(3):
        of_class = (weights * (classes == label)).T.tolist()
        for ours, values in zip(by_column, (centred.T, centred.T**2), strict=True):
            twin = naive.weighted_sums(values.tolist(), of_class)
            np.testing.assert_allclose(ours[:, label].T, twin, rtol=1e-12, atol=1e-12)
    twin = naive.weighted_sums((centred.T * y).tolist(), weights.T.tolist())
    np.testing.assert_allclose(products.T, twin, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.uint16, float])
def test_sums_of_products_with_the_target_equal_their_naive_twin(dtype: Any) -> None:
    rng = np.random.default_rng(0)
    values, y = rng.normal(size=(23, 40)), rng.normal(size=23)
    weights = (rng.random((5, 23)) * 3).astype(dtype)
    sums = [np.zeros((5, 40)) for _ in range(3)]
    row_moments_with_target(values, y, weights, *sums)
    for ours, columns in zip(sums, (values.T, values.T**2, values.T * y), strict=True):
        twin = naive.weighted_sums(columns.tolist(), weights.T.tolist())
        np.testing.assert_allclose(ours.T, twin, rtol=1e-12, atol=1e-12)


def test_rows_are_summed_alike_in_chunks_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = problem(90, 70, 3)
    X[::7, 3] = np.nan
    weights = bootstraps(90, 5)
    rankers = [FStatistic(), FStatistic(target="continuous"), MRMR("FCQ", n_features_to_select=4)]
    tables = [X, X, np.nan_to_num(X)]
    whole = [r.score_resamples(x, y, weights) for r, x in zip(rankers, tables, strict=True)]
    monkeypatch.setattr(moments, "_MOST_ROWS", 16)
    monkeypatch.setattr(moments, "_BLOCK_SIZE", 2**9)
    for ranker, table, scores in zip(rankers, tables, whole, strict=True):
        np.testing.assert_array_equal(ranker.score_resamples(table, y, weights), scores)


def test_single_precision_scores_as_the_same_numbers_in_double() -> None:
    X, y = problem(3000, 5)
    single = X.astype(np.float32)
    single[::9, 2] = np.nan
    for name in WEIGHTED:
        if name == "correlation":
            continue
        if name == "mrmr_fcq":
            single = np.nan_to_num(single)
        scores = RANKERS[name]().fit(single, y).scores_
        np.testing.assert_array_equal(scores, RANKERS[name]().fit(single.astype(float), y).scores_)


@pytest.mark.parametrize("name", ["f_statistic", "correlation"])
def test_single_precision_is_not_copied_as_a_whole(name: str) -> None:
    X = np.random.default_rng(0).normal(size=(100_000, 40)).astype(np.float32)
    y, weights = np.arange(len(X)) % 2, np.ones((2, len(X)), dtype=np.uint8)
    ranker = RANKERS[name]()
    ranker.score_resamples(X[:100], y[:100], weights[:, :100])  # compiles
    tracemalloc.start()
    try:
        ranker.score_resamples(X, y, weights)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < X.nbytes / 2


@pytest.mark.parametrize("name", WEIGHTED)
def test_features_prepared_once_score_for_any_target(name: str) -> None:
    X, y = problem(40, 4, 2)
    weights = bootstraps(40, 3)
    ranker = RANKERS[name]()
    scorer = ranker.target_scorer(X)
    for target in (y, y[::-1], X[:, 0] + 0.5):
        expected = ranker.score_resamples(X, target, weights)
        np.testing.assert_array_equal(scorer(target)(weights), expected)


@pytest.mark.parametrize("n_bins", [3, 30])
@pytest.mark.parametrize("n_classes", [1, 3])
def test_joint_sums_of_one_resample_equal_their_naive_twin(n_bins: int, n_classes: int) -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, n_bins, (5, 40)).astype(np.uint8)
    classes, weights = rng.integers(0, n_classes, 40), rng.integers(1, 4, 40).astype(np.uint16)
    lanes = pack(weights[None])
    room = np.empty(n_bins * n_bins * n_classes, np.uint16), np.empty(n_bins**2, np.uint16)
    pair, triple = np.zeros((2, 5), dtype=np.int64)
    sums_with_one(
        codes, np.full(5, n_bins), np.arange(1, 5), 0, classes, n_classes, weights, lanes.table,
        *room, pair, triple,
    )  # fmt: skip
    rows = weights.tolist()
    for g in range(1, 5):
        columns = codes[0].tolist(), codes[g].tolist()
        assert pair[g] * lanes.unit == pytest.approx(naive.sum_c_log_c(rows, *columns))
        if n_classes > 1:
            with_class = naive.sum_c_log_c(rows, *columns, classes.tolist())
            assert triple[g] * lanes.unit == pytest.approx(with_class)


@pytest.mark.parametrize("name", COUNTED)
def test_few_of_many_features_are_those_of_the_full_order(name: str) -> None:
    X, y = problem(50, 60, 3)
    X[:, 7], X[:, 9], X[:, 11] = X[:, 3], -X[:, 3], 1.0  # ties, and a constant
    X[:, 20:30] = np.round(X[:, 20:30])
    for binning in (Binning(n_bins=3), Binning(n_bins=40)):
        full = RANKERS[name](binning=binning)
        few = RANKERS[name](n_features_to_select=8, binning=binning)
        for weights in bootstraps(50, 5):
            together = full.score_resamples(X, y, np.stack([weights, weights]))[0]
            order = np.argsort(-together)[:8].tolist()
            assert few.fit(X, y, sample_weight=weights).order_.tolist() == order
            np.testing.assert_array_equal(full.fit(X, y, sample_weight=weights).scores_, together)


@pytest.mark.parametrize("scale", [1, 40, 40_000, 0.5, 10**9])
def test_counts_are_right_whatever_the_number_format_of_the_weights(scale: float) -> None:
    X, y = problem(80, 3)
    weights = bootstraps(80, 3) * scale
    assert pack(weights).dtype == {1: "u2", 40: "u2", 40_000: "f8"}.get(scale, "f8")  # 3.2 million
    plain = score_filters(X, y, bootstraps(80, 3), TABLE)
    scaled = score_filters(X, y, weights, TABLE)
    for name in TABLE:
        factor = scale if name == "chi_square" else 1
        np.testing.assert_allclose(scaled[name], plain[name] * factor, rtol=1e-9, atol=1e-11)
    assert pack(bootstraps(80, 3) * 2000).dtype == "u4"
    middle = score_filters(X, y, bootstraps(80, 3) * 2000, TABLE)["information_gain"]
    np.testing.assert_allclose(middle, plain["information_gain"], rtol=1e-9, atol=1e-12)


# --- a resample is a vector of row weights ------------------------------------------------------
@pytest.mark.parametrize("name", [*WEIGHTED, "MIQ", "FCD", "spearman"])
@pytest.mark.parametrize("kind", ["class", "continuous"])
def test_weights_score_as_really_resampled_rows(name: str, kind: str) -> None:
    X, y = problem(60, 5, 3 if name not in ("correlation", "spearman") else 2)
    X = np.round(X, 1)
    y = y if kind == "class" else X[:, 0] + np.sin(np.arange(60))
    cuts = np.linspace(-2, 3, 6)  # given, as bins would otherwise be found on other rows
    ranker: Any
    if name in ("f_statistic", "correlation", "l1_path", "hsic_lasso"):
        ranker = RANKERS[name]()
    elif name == "spearman":
        ranker = Correlation(method=name)
    elif name.isupper():
        ranker = MRMR(name, binning=Binning(cuts))
    else:
        ranker = RANKERS[name](binning=Binning(cuts))
    weights = bootstraps(60, 4)
    if kind == "continuous" and hasattr(ranker, "binning"):
        weights[:, [y.argmin(), y.argmax()]] += 1  # or the target's bins would change
    scores = ranker.score_resamples(X, y, weights)
    for b, w in enumerate(weights):
        rows = np.repeat(np.arange(60), w)
        np.testing.assert_allclose(ranker.fit(X[rows], y[rows]).scores_, scores[b], rtol=1e-9)
        np.testing.assert_array_equal(ranker.fit(X, y, sample_weight=w).scores_, scores[b])


@pytest.mark.parametrize("name", [*WEIGHTED, "spearman"])
@pytest.mark.parametrize("fractional", [False, True])
def test_a_resample_scores_the_same_bits_in_any_company(name: str, fractional: bool) -> None:
    X, y = problem(50, 6, 2)
    weights = bootstraps(50, 70) * (0.3 if fractional else 1)
    ranker = Correlation(method=name) if name == "spearman" else RANKERS[name]()
    together = ranker.score_resamples(X, y, weights)
    np.testing.assert_array_equal(ranker.score_resamples(X, y, weights[40:]), together[40:])
    np.testing.assert_array_equal(ranker.score_resamples(X, y, weights[69:]), together[69:])
    np.testing.assert_array_equal(ranker.resample_scorer(X, y)(weights[3:5]), together[3:5])


@pytest.mark.parametrize("bins", ["width", "quantile", "mdl"])
@pytest.mark.parametrize("name", ["information_gain", "mrmr"])
def test_rebin_cuts_anew_in_every_resample(name: str, bins: str) -> None:
    X, y = problem(60, 4)
    weights = bootstraps(60, 3)
    scores = RANKERS[name](binning=Binning(bins, rebin=True)).score_resamples(X, y, weights)
    for w, ours in zip(weights, scores, strict=True):
        rows = np.repeat(np.arange(60), w)
        once = RANKERS[name](binning=Binning(bins)).fit(X[rows], y[rows])
        np.testing.assert_array_equal(once.scores_, ours)
    with pytest.raises(InputError, match="whole-number"):
        RANKERS[name](binning=Binning(rebin=True)).score_resamples(X, y, weights * 0.5)
    with pytest.raises(InputError, match="cannot rebin"):
        score_filters(X, y, weights, binning=Binning(rebin=True))


@pytest.mark.parametrize("name", ["random_forest", "permutation", "split_frequency"])
def test_integer_sample_weights_reach_the_estimator(name: str) -> None:
    X, y = problem(40, 3, 2)
    weights = np.random.default_rng(0).integers(1, 4, 40)
    options = {"holdout": None, "n_repeats": 30} if name == "permutation" else {}
    ranker = RANKERS[name](DecisionTreeClassifier(max_depth=2), random_state=0, **options)
    rows = np.repeat(np.arange(40), weights)
    weighted_scores = ranker.fit(X, y, sample_weight=weights).scores_
    repeated = ranker.fit(X[rows], y[rows]).scores_
    tolerance = 0.1 if name == "permutation" else 1e-9  # shuffles differ
    np.testing.assert_allclose(weighted_scores, repeated, atol=tolerance)


# --- what every ranker promises -----------------------------------------------------------------
@pytest.mark.parametrize("name", RANKERS)
def test_shuffling_columns_with_their_names_changes_nothing(name: str) -> None:
    X, y = problem(60, 11, 2)
    X[:, 4] = X[:, 2]  # a tie
    X[:, 9] = -X[:, 2]  # and one that no bin label tells
    X[:, 7] = 1.0
    frame = pd.DataFrame(X, columns=[f"gene{j}" for j in range(11)])
    shuffled = frame[frame.columns[np.random.default_rng(1).permutation(11)]]
    one, other = small(name).fit(frame, y), small(name).fit(shuffled, y)
    by_name = dict(zip(other.feature_names_in_, other.scores_, strict=True))
    assert [by_name[feature] for feature in one.feature_names_in_] == one.scores_.tolist()
    if name in WEIGHTED:
        weights = bootstraps(60, 3)
        resampled = small(name).score_resamples(shuffled, y, weights)
        table = pd.DataFrame(resampled, columns=shuffled.columns)[frame.columns]
        np.testing.assert_array_equal(small(name).score_resamples(frame, y, weights), table)
    if name in GREEDY:
        names = [r.feature_names_in_[r.order_].tolist() for r in (one, other)]
        assert names[0] == names[1]


@pytest.mark.parametrize("name", RANKERS)
def test_constant_features_score_zero_and_rank_last(name: str) -> None:
    X, y = problem(80, 4, 2)
    X[:, 1] = 3.5
    ranker = small(name).fit(X, y)
    if name != "permutation":  # where others may be negative
        assert ranker.ranks_[1] >= ranker.ranks_.max()
    assert ranker.n_features_in_ == 4
    if name not in GREEDY:
        assert ranker.scores_[1] == 0


@pytest.mark.parametrize("name", RANKERS)
def test_rankers_are_scikit_learn_estimators(name: str) -> None:
    X, y = problem(40, 4, 2)
    ranker = small(name)
    before = repr(ranker.get_params())
    assert ranker.fit(X, y) is ranker
    assert repr(ranker.get_params()) == before
    copy = clone(ranker)
    assert not hasattr(copy, "scores_")
    np.testing.assert_array_equal(copy.fit(X, y).scores_, ranker.scores_)
    loaded = pickle.loads(pickle.dumps(ranker))
    np.testing.assert_array_equal(loaded.scores_, ranker.scores_)
    assert ranker.feature_names_in_.tolist() == ["x0", "x1", "x2", "x3"]
    assert ranker.scores_.dtype == float
    assert RANKERS[name]().set_params(**RANKERS[name]().get_params()) is not None


@pytest.mark.parametrize("name", RANKERS)
def test_the_form_of_the_table_does_not_matter(name: str) -> None:
    X, y = problem(50, 3, 2)
    X[X < 0] = 0
    names = ["x0", "x1", "x2"]
    frames = [
        (X, y),
        (X.tolist(), y.tolist()),
        (pd.DataFrame(X, columns=names), pd.Series(y)),
        (pl.DataFrame(X, schema=names), pl.Series(y)),
        (sp.csr_matrix(X), y),
        (np.asfortranarray(X), pd.Series(y, dtype="category")),
    ]
    if name == "linear":  # does not centre sparse columns, and its solver stops elsewhere
        del frames[4]
    results = [small(name).fit(*frame) for frame in frames]
    rounding = 1e-12 if name == "linear" else 0  # BLAS sums rows and columns in another order
    for result in results:
        np.testing.assert_allclose(result.scores_, results[0].scores_, rtol=rounding, atol=0)
        assert result.feature_names_in_.tolist() == names


# --- columns and targets ------------------------------------------------------------------------
def test_text_categorical_boolean_and_integer_columns_are_categories() -> None:
    codes = np.array([0, 1, 2, 0, 1, 2, 0, 0])
    y = [0, 1, 1, 0, 1, 0, 0, 1]
    text = np.array(["b", "c", "a"])[codes]
    frame = pd.DataFrame(
        {
            "integer": codes,
            "text": text,
            "object": pd.Series(text, dtype=object),
            "category": pd.Categorical(text),
            "nullable": pd.array(codes, dtype="Int64"),
            "mixed": pd.Series([["b", 1, None][c] for c in codes], dtype=object),
        }
    )
    scores = InformationGain().fit(frame, y).scores_
    np.testing.assert_array_equal(scores, scores[0])
    np.testing.assert_array_equal(InformationGain().fit(pl.from_pandas(frame.drop(columns="mixed")),
                                                        y).scores_, scores[:5])  # fmt: skip
    flag = InformationGain().fit(pd.DataFrame({"f": codes > 0, "g": (codes > 0) * 1}), y)
    assert flag.scores_[0] == flag.scores_[1] > 0


def test_integers_can_be_cut_like_other_numbers() -> None:
    X = np.arange(100)[:, None]
    y = np.arange(100) % 2
    assert InformationGain(binning=CATEGORIES).fit(X, y).scores_[0] == pytest.approx(np.log(2))
    as_numbers = InformationGain(binning=Binning(integers="numbers")).fit(X, y)
    np.testing.assert_array_equal(as_numbers.scores_, InformationGain().fit(X * 1.0, y).scores_)
    cut = InformationGain(binning=Binning({"x0": [50]})).fit(X, (np.arange(100) >= 50) * 1)
    assert cut.bin_edges_[0].tolist() == [50]
    assert cut.scores_[0] == pytest.approx(np.log(2))


def test_missing_values_are_a_bin_of_their_own() -> None:
    y = np.array([0, 0, 0, 1, 1, 1])
    X = pd.DataFrame({"a": [1.0, 2, 3, np.nan, np.nan, np.nan], "b": list("uv") * 3})
    X.loc[0, "b"] = None
    scores = InformationGain(binning=Binning([10.0])).fit(X, y).scores_
    assert scores[0] == pytest.approx(np.log(2))
    same = InformationGain().fit(X.fillna({"b": "none"}), y)
    assert scores[1] == same.scores_[1]
    with pytest.raises(InputError, match=r"'a' has 3 missing.*row 3"):
        InformationGain(binning=Binning(missing="error")).fit(X, y)
    with pytest.raises(InputError, match="'a' has 3 missing"):
        FStatistic(missing="error").fit(X[["a"]], y)
    with pytest.raises(InputError, match="missing"):
        MRMR("FCQ").fit(X[["a"]], y)


@pytest.mark.parametrize("ranker", [FStatistic(), Correlation(), Correlation(method="spearman")])
def test_moments_leave_out_rows_where_the_feature_is_missing(ranker: Any) -> None:
    X, y = problem(50, 3, 2)
    X[::4, 1] = np.nan
    rows = ~np.isnan(X[:, 1])
    scores = ranker.fit(X, y).scores_
    assert scores[1] == pytest.approx(ranker.fit(X[rows], y[rows]).scores_[1])
    assert scores[0] == pytest.approx(ranker.fit(X[:, :1], y).scores_[0])
    X[:, 2] = np.nan
    assert ranker.fit(X, y).scores_[2] == 0


def test_features_of_near_zero_variance_can_be_set_aside() -> None:
    X, y = problem(100, 3, 2)
    X[:, 1] = 0
    X[:3, 1] = [1, 2, 3]
    for name in WEIGHTED:
        if name in ("mrmr_fcq", "l1_path", "hsic_lasso"):  # which have no such option
            continue
        option: dict[str, Any] = {"near_zero_variance": True}
        if name in TABLE + COUNTED:
            option = {"binning": Binning(near_zero_variance=True)}
        kept, aside = RANKERS[name]().fit(X, y), RANKERS[name](**option).fit(X, y)
        assert aside.ranks_[1] == 3
        if name not in GREEDY:
            assert kept.scores_[1] > 0
            assert aside.scores_[1] == 0


def test_continuous_targets_are_cut_by_the_same_rule() -> None:
    X, y = load_diabetes(return_X_y=True)  # whole numbers, but not classes
    assert InformationGain().fit(X, y).ranks_[[2, 8]].max() == 2
    codes = np.array(naive.width_codes(y.tolist(), 10))
    np.testing.assert_array_equal(InformationGain().fit(X, y).scores_,
                                  InformationGain().fit(X, codes).scores_)  # fmt: skip
    quantiles = InformationGain(binning=Binning("quantile")).fit(X, y)
    assert quantiles.ranks_[[2, 8]].max() <= 3
    assert MRMR("FCQ").fit(X, y).order_[0] == 2
    assert EstimatorImportance(Lasso()).fit(X, y).ranks_[2] == 1
    with pytest.raises(InputError, match="mdl"):
        InformationGain(binning=Binning("mdl")).fit(X, y)


def test_a_target_may_be_a_table_of_one_column() -> None:
    X, y = problem(30, 3, 2)
    expected = InformationGain().fit(X, y).scores_
    for table in (y[:, None], pd.DataFrame({"y": y}), pl.DataFrame({"y": y})):
        np.testing.assert_array_equal(InformationGain().fit(X, table).scores_, expected)


def test_duplicated_features_tie_in_filters_and_part_in_mrmr() -> None:
    X, y = problem(80, 5, 2)
    X[:, 3] = -X[:, 0]  # the same bins under other labels
    for name in TABLE:
        scores = score_filters(X, y, bootstraps(80, 3), [name], binning=Binning([0.0]))[name]
        np.testing.assert_allclose(scores[:, 0], scores[:, 3], rtol=1e-12)
    gain = InformationGain(binning=Binning([0.0])).fit(X, y)
    assert gain.scores_[0] == gain.scores_[3]
    assert gain.ranks_[0] == gain.ranks_[3]
    strong = np.column_stack([y + 0.0, X[:, 0], y + 0.0])
    assert MRMR().fit(strong, y).order_[0] == 0  # first in natural order
    assert MRMR().fit(strong, y).order_[2] == 2


def test_stopping_early_selects_the_same_and_ties_the_rest() -> None:
    X, y = problem(60, 8)
    X[:, 5] = 0
    full, part = MRMR().fit(X, y), MRMR(n_features_to_select=3).fit(X, y)
    assert part.order_.tolist() == full.order_[:3].tolist()
    np.testing.assert_array_equal(part.scores_[part.order_], [-1, -2, -3])
    rest = np.setdiff1d(np.arange(8), [*part.order_, 5])
    assert set(part.scores_[rest]) == {-5.5}
    assert part.ranks_[5] == 8
    with pytest.raises(InputError, match="criterion"):
        MRMR(n_features_to_select=3, scores="criterion").fit(X, y)


@pytest.mark.parametrize("name", GREEDY)
def test_features_left_over_can_go_by_their_last_criterion(name: str) -> None:
    X, y = problem(60, 70, 2)
    X[:, 5], X[:, 6] = 0, X[:, 8]
    tied, ordered = (
        RANKERS[name](n_features_to_select=10, rest=rest).fit(X, y) for rest in ("tie", "criterion")
    )
    assert ordered.order_.tolist() == tied.order_.tolist()
    np.testing.assert_array_equal(ordered.scores_[tied.order_], tied.scores_[tied.order_])
    assert ordered.ranks_[5] == 70
    rest = np.setdiff1d(np.arange(70), [*tied.order_, 5])
    assert sorted(np.floor(ordered.ranks_[rest])) != [39] * 59  # those that tied have places
    assert ordered.ranks_[rest].min() >= 11
    assert ordered.ranks_[rest].sum() == pytest.approx(np.arange(11, 70).sum())
    if name in ("mrmr", "jmi", "disr"):  # the eleventh is the best that is left
        longer = RANKERS[name](n_features_to_select=11, rest="criterion").fit(X, y)
        assert longer.ranks_[longer.order_[-1]] == 11
    with pytest.raises(InputError, match="rest"):
        RANKERS[name](rest="last").fit(X, y)
    with pytest.raises(InputError, match="auto"):
        RANKERS[name](n_features_to_select="all").fit(X, y)


def test_a_greedy_ranker_orders_what_an_ensemble_needs() -> None:
    assert for_number(MRMR(), 10, 1000).get_params()["n_features_to_select"] == 50
    assert for_number(NJMIM(), 100, 1000).get_params()["n_features_to_select"] == 200
    for settled in (MRMR(n_features_to_select=None), MRMR(scores="criterion"), FStatistic()):
        assert for_number(settled, 10, 1000) is settled
    small_table = MRMR()
    assert for_number(small_table, 10, 50) is small_table
    X, y = problem(40, 80, 2)
    selector = EnsembleSelector("mrmr", n_features_to_select=5, n_resamples=3, random_state=0)
    by_name = selector.fit(X, y).runs_.scores
    given = MRMR(n_features_to_select=50, rest="criterion")
    np.testing.assert_array_equal(selector.set_params(ranker=given).fit(X, y).runs_.scores, by_name)


def test_memory_limits_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    from mainstay.rankers import _greedy_engine as engine

    X, y = problem(60, 12)
    weights = bootstraps(60, 40)
    plain = {name: RANKERS[name](scores="criterion").score_resamples(X, y, weights)
             for name in COUNTED}  # fmt: skip
    monkeypatch.setattr(engine, "_MOST_BYTES", 12 * 12 * 8 * 2)
    monkeypatch.setattr(engine, "_MOST_CELLS", 1)
    for name in COUNTED:
        again = RANKERS[name](scores="criterion").score_resamples(X, y, weights)
        np.testing.assert_array_equal(again, plain[name])


# --- scikit-learn inside ------------------------------------------------------------------------
def test_importances_are_found_inside_pipelines_and_searches() -> None:
    X, y = load_wine(return_X_y=True)
    linear = make_pipeline(StandardScaler(), LogisticRegression())
    expected = np.linalg.norm(linear.fit(X, y)[-1].coef_, axis=0)
    np.testing.assert_allclose(make_ranker(linear).fit(X, y).scores_, expected)
    search = GridSearchCV(linear, {"logisticregression__C": [1.0]}, cv=2)
    np.testing.assert_allclose(make_ranker(search).fit(X, y).scores_, expected)
    ones = np.ones(len(y))
    for model in (linear, search):
        weighted_fit = make_ranker(model).fit(X, y, sample_weight=ones)
        np.testing.assert_allclose(weighted_fit.scores_, expected, rtol=1e-6)
    some = make_pipeline(SelectKBest(k=4), SelectKBest(k=2), StandardScaler(), LogisticRegression())
    scores = make_ranker(some).fit(X, y).scores_
    assert np.flatnonzero(scores).tolist() == np.sort(np.argsort(-f_classif(X, y)[0])[:2]).tolist()
    with pytest.raises(InputError, match="best_estimator_"):
        make_ranker(GridSearchCV(linear, {}, cv=2, refit=False)).fit(X, y)
    with pytest.raises(InputError, match="PCA makes new features"):
        make_ranker(make_pipeline(PCA(2), LogisticRegression())).fit(X, y)
    with pytest.raises(InputError, match="2 scores for 13 features"):
        make_ranker(lambda X, y: [1, 2]).fit(X, y)


def test_selectors_become_rankers() -> None:
    X, y = load_wine(return_X_y=True)
    X = np.column_stack([X[:, :5], np.ones(len(y))])
    tree = DecisionTreeClassifier(random_state=0)
    rfe = make_ranker(RFE(tree, n_features_to_select=1)).fit(X, y)
    assert sorted(rfe.ranks_) == [1, 2, 3, 4, 5, 6]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # f_classif on the constant column
        best = make_ranker(SelectKBest(k=2)).fit(X, y)
        piped = make_ranker(make_pipeline(StandardScaler(), SelectKBest(k=2))).fit(X, y)
    np.testing.assert_allclose(best.scores_, FStatistic().fit(X, y).scores_, rtol=1e-9)
    np.testing.assert_allclose(piped.scores_, best.scores_, rtol=1e-9)
    support = make_ranker(SelectFromModel(tree)).fit(X, y)
    assert set(support.scores_) == {0.0, 1.0}
    forward = make_ranker(SequentialFeatureSelector(tree, n_features_to_select=1, cv=2)).fit(X, y)
    assert forward.scores_.sum() == 1
    with pytest.raises(InputError, match="LogisticRegression selects nothing"):
        SelectorRanker(LogisticRegression()).fit(X[:, :2] / 100, y)


def test_split_frequency_counts_trees() -> None:
    X, y = problem(60, 5, 2)
    forest = BaggingClassifier(DecisionTreeClassifier(max_depth=1), 20, max_features=2)
    scores = SplitFrequency(forest, random_state=0).fit(X, y).scores_
    assert scores.sum() == pytest.approx(1)  # a stump splits once
    boosted = SplitFrequency(GradientBoostingClassifier(n_estimators=3)).fit(X, y % 3)
    assert boosted.scores_.max() <= 1
    trees = ExtraTreesRegressor(5, max_depth=1, random_state=0)
    assert SplitFrequency(trees).fit(X, X[:, 0]).scores_.sum() == pytest.approx(1)
    with pytest.raises(InputError, match="tree_"):
        SplitFrequency(LogisticRegression()).fit(X, y)


@pytest.mark.parametrize("name", MODELS)
def test_the_same_seed_gives_the_same_bits(name: str) -> None:
    if name == "boosting":
        pytest.importorskip("lightgbm")
    X, y = problem(40, 4, 2)
    X[:, :2] = np.random.default_rng(5).normal(size=(40, 2))
    first = RANKERS[name](random_state=3).fit(X, y)
    np.testing.assert_array_equal(RANKERS[name](random_state=3).fit(X, y).scores_, first.scores_)
    if name != "linear":  # which draws nothing
        assert (RANKERS[name](random_state=4).fit(X, y).scores_ != first.scores_).any()
    assert RANKERS[name](random_state=3).fit(X, X[:, 3]).ranks_[3] == 1


def test_functions_become_rankers() -> None:
    X, y = load_wine(return_X_y=True)
    ranker = make_ranker(f_classif).fit(X, y)
    assert isinstance(ranker, FunctionRanker)
    np.testing.assert_allclose(ranker.scores_, f_classif(X, y)[0])
    with pytest.raises(InputError, match="no sample_weight"):
        ranker.fit(X, y, sample_weight=np.ones(len(y)))
    with pytest.raises(InputError, match="not finite"):
        make_ranker(lambda X, y: np.full(13, np.nan)).fit(X, y)


def test_permutation_importance_can_measure_on_the_rows_fitted() -> None:
    X, y = problem(60, 3, 2)
    ranker = PermutationImportance(
        KNeighborsClassifier(1), holdout=None, n_repeats=1, random_state=0
    ).fit(X, y)
    assert ranker.scores_.min() > 0


# --- registry and errors ------------------------------------------------------------------------
def test_the_registry_lists_every_ranker() -> None:
    table = list_rankers()
    assert table["name"].tolist() == list(RANKERS)
    assert table.set_index("name").loc[WEIGHTED, "weights"].all()
    assert not table.set_index("name").loc[MODELS, "weights"].any()
    for name, entry in RANKERS.items():
        assert repr(make_ranker(name)) == repr(entry())
        assert entry.summary
    ranker = NJMIM(binning=Binning(n_bins=3))
    assert make_ranker(ranker) is ranker


def test_unknown_names_get_the_nearest_and_all_valid_ones() -> None:
    with pytest.raises(InputError, match=r"'information_gian'.*mean 'information_gain'.*mrmr"):
        make_ranker("information_gian")
    with pytest.raises(InputError, match="give an instance"):
        make_ranker(InformationGain)
    with pytest.raises(InputError, match="Names: information_gain"):
        make_ranker(3)
    X, y = problem()
    for wrong in (
        {"bins": "widht"},
        {"bins": [3, 2]},
        {"bins": {"nose": [1]}},
        {"n_bins": 1},
        {"missing": "drop"},
        {"integers": "x"},
    ):
        with pytest.raises(InputError, match=r"Valid|valid|bins|width"):
            InformationGain(binning=Binning(**wrong)).fit(X, y)
    for ranker in (
        MRMR("MIX"),
        MRMR(scores="x"),
        Correlation(method="kendall"),
        InformationGain(target="klass"),
        EstimatorImportance(target="klass"),
        EstimatorImportance("random_forrest"),
    ):
        with pytest.raises(InputError, match="Valid"):
            ranker.fit(X, y)
    with pytest.raises(InputError, match=r"binning must be a Binning.*got 'quantile'"):
        InformationGain(binning="quantile").fit(X, y)
    with pytest.raises(InputError, match="list of names"):
        score_filters(X, y, None, "mrmr")


@pytest.mark.parametrize("name", RANKERS)
def test_bad_targets_are_refused(name: str) -> None:
    X, y = problem(30, 3, 2)
    ranker = small(name)
    with pytest.raises(InputError, match="y is constant"):
        ranker.fit(X, np.ones(30))
    with pytest.raises(InputError, match="y has 29 values, but X has 30 rows"):
        ranker.fit(X, y[1:])
    with pytest.raises(InputError, match=r"missing in 1 row\(s\), the first is row 4"):
        ranker.fit(X, np.where(np.arange(30) == 4, np.nan, y))
    with pytest.raises(InputError, match="y is missing"):
        ranker.fit(X, None)


@pytest.mark.parametrize("name", WEIGHTED)
def test_bad_columns_and_weights_are_refused(name: str) -> None:
    X, y = problem(30, 3, 2)
    ranker = small(name)
    for wrong, message in (
        (np.ones((2, 29)), r"resamples × rows, \(B, 30\)"),
        (np.zeros((2, 30)), "resample 0 has no rows"),
        (-np.ones((2, 30)), "negative"),
        (np.full((2, 30), np.nan), "non-finite"),
        (np.full((2, 30), "a"), "must be numbers"),
    ):
        with pytest.raises(InputError, match=message):
            ranker.score_resamples(X, y, wrong)
    with pytest.raises(InputError, match="sample_weight needs one number per row"):
        ranker.fit(X, y, sample_weight=[1, 2])
    X[7, 1] = np.inf
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    with pytest.raises(InputError, match="'b' is inf in row 7"):
        ranker.fit(frame, y)


def test_unusable_input_is_named() -> None:
    X, y = problem(30, 3, 2)
    text = pd.DataFrame({"a": ["u", "v"] * 15})
    with pytest.raises(InputError, match="'a' holds categories"):
        FStatistic().fit(text, y)
    with pytest.raises(InputError, match="'d' has dtype datetime"):
        InformationGain().fit(pd.DataFrame({"d": pd.date_range("2020", periods=30)}), y)
    with pytest.raises(InputError, match="two classes"):
        Correlation().fit(X, list("abc") * 10)
    with pytest.raises(InputError, match="continuous"):
        InformationGain(target="continuous").fit(X, list("abc") * 10)
    with pytest.raises(InputError, match="holds categories"):
        InformationGain(binning=Binning({"a": [1]})).fit(text, y)
    with pytest.raises(InputError, match="2 dimensions"):
        InformationGain().fit(X[0], y)
    with pytest.raises(InputError, match="ragged"):
        InformationGain().fit([[1, 2], [1]], [0, 1])
    with pytest.raises(InputError, match="at least 2"):
        InformationGain().fit(X[:1], y[:1])
    with pytest.raises(InputError, match="unique"):
        InformationGain().fit(pd.DataFrame(X, columns=["a", "a", "b"]), y)


def test_estimators_without_importances_name_the_missing_attributes() -> None:
    X, y = problem(30, 3, 2)
    with pytest.raises(InputError, match=r"none of these.*support_.*scores_.*ranking_.*coef_"):
        make_ranker(KNeighborsClassifier()).fit(X, y)
    with pytest.raises(InputError, match=r"KNeighborsClassifier\.fit takes no sample_weight"):
        make_ranker(KNeighborsClassifier()).fit(X, y, sample_weight=np.ones(30))


def test_one_class_in_a_resample_scores_zero_not_nan() -> None:
    X, y = problem(30, 3, 2)
    weights = np.stack([(y == 0) * 1, np.ones(30, dtype=int), (np.arange(30) == 3) * 1])
    for name in WEIGHTED:
        scores = RANKERS[name]().score_resamples(X, y, weights)
        assert np.isfinite(scores).all()
        if name not in GREEDY:
            assert (scores[[0, 2]] == 0).all()
            assert (scores[1] > 0).all()


@pytest.mark.parametrize("name", ["f_statistic", "information_gain", "mrmr@3", "cmim@3"])
def test_data_are_released_as_soon_as_they_are_scored(name):
    """Thousands of parts of the rows are scored in turn; cycles would keep them all for a while."""

    class Rows(np.ndarray):
        """An array that can be referred to weakly."""

    X = np.random.default_rng(0).normal(size=(40, 6)).view(Rows)
    kept = weakref.ref(X)
    gc.disable()
    try:
        make_ranker(name).fit(X, np.arange(40) % 2)
        del X
        assert kept() is None
    finally:
        gc.enable()


# ---------------------------------------------------------------------- tables


def test_a_table_of_numbers_is_read_at_once_as_column_by_column(monkeypatch) -> None:
    table = pd.DataFrame(
        {
            "whole": [1, 2, 3, 4],
            "short": np.array([1, 0, 2, 7], dtype=np.uint8),
            "yes": [True, False, True, True],
            "gaps": [0.5, np.nan, 2.5, -1.0],
        }
    )
    at_once = Table(table)
    monkeypatch.setattr(inputs, "_SMALL", 0)
    one_by_one = Table(table)
    for j, kind in enumerate(["integer", "integer", "boolean", "float"]):
        assert at_once.column(j).kind == one_by_one.column(j).kind == kind
        np.testing.assert_array_equal(at_once.column(j).values, one_by_one.column(j).values)
    numbers = Table(table.drop(columns="gaps")).matrix("error", "this test")
    np.testing.assert_array_equal(numbers, [[1, 1, 1], [2, 0, 0], [3, 2, 1], [4, 7, 1]])
    with pytest.raises(InputError, match="gaps"):
        at_once.matrix("error", "this test")


def test_rows_are_taken_from_a_table_in_one_piece() -> None:
    columns = [pd.Series(np.arange(6) * j, name=f"g{j}") for j in range(5)]
    data = Data.check(pd.concat(columns, axis=1), np.arange(6) % 2)
    again = data.in_one_piece()
    pd.testing.assert_frame_equal(again.X, data.X)
    assert again.features == data.features
    assert len(again.X._mgr.blocks) == 1
