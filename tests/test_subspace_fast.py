"""Compiled base models of random subspaces: the same as scikit-learn's on the same bootstraps."""

from __future__ import annotations

import pickle
import re
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC, SVR, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier

import naive_subspace_models as naive
from mainstay import InputError
from mainstay.subspace.compiled import FastLearner, fast_learner

BASES = {
    "knn": (KNeighborsClassifier(3), KNeighborsRegressor(3)),
    "tree": (DecisionTreeClassifier(), DecisionTreeRegressor()),
    "svm": (SVC(), SVR()),
}


def problem(
    n: int = 60, p: int = 6, n_classes: int = 2, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Random features; a target that depends on the first two (n_classes = 0: a number)."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    signal = X[:, 0] + X[:, 1] * X[:, 0] + 0.5 * rng.normal(size=n)
    if n_classes == 0:
        return X, (signal - signal.mean()) / signal.std()
    edges = np.quantile(signal, np.arange(1, n_classes) / n_classes)
    return X, np.searchsorted(edges, signal).astype(np.int64)


def subsets(t: int, p: int, seed: int = 0) -> np.ndarray:
    """Random feature subsets of all sizes from 1 to p."""
    rng = np.random.default_rng(seed)
    Z = np.zeros((t, p), dtype=bool)
    for i in range(t):
        Z[i, rng.choice(p, 1 + i % p, replace=False)] = True
    return Z


def make(
    estimator: BaseEstimator, X: np.ndarray, y: np.ndarray, n_classes: int, **options: Any
) -> FastLearner:
    learner = fast_learner(
        estimator, X, y, classification=n_classes > 0, n_classes=n_classes, **options
    )
    assert learner is not None
    return learner


def compare(
    learner: FastLearner, predict: naive.Predict, y: np.ndarray, n_classes: int, Z: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """What the compiled learner and a naive twin say on the same bootstraps."""
    seeds = np.arange(len(Z)) + 100
    drawn = [learner.draws(int(seed)) for seed in seeds]
    return learner.held_out(Z, seeds), naive.held_out(predict, y, n_classes, Z, drawn)


def any_base(name: str, n_classes: int) -> BaseEstimator:
    return BASES[name][0 if n_classes else 1]


# --- folds and bootstrap samples ----------------------------------------------------------------
@pytest.mark.parametrize(("n", "cv"), [(60, 10), (23, 7), (5, 5), (9, 2), (31, "oob"), (2, "oob")])
def test_folds_and_bootstraps_are_those_of_the_naive_twin(n, cv):
    X, y = problem(n, n_classes=0)
    learner = make(KNeighborsRegressor(1), X, y, 0, cv=cv)
    for seed in (0, 1, 2**40, 2**63 - 1):
        drawn, expected = learner.draws(seed), naive.draws(seed, n, 0 if cv == "oob" else cv)
        assert len(drawn) == len(expected)
        for (counts, held), (bag, rows) in zip(drawn, expected, strict=True):
            assert np.repeat(np.arange(n), counts).tolist() == bag
            assert held.tolist() == rows
            assert counts[held].sum() == 0


def test_every_row_is_held_out_once_and_drawn_about_as_often_as_the_others():
    X, y = problem(40, n_classes=0)
    learner = make(KNeighborsRegressor(1), X, y, 0, cv=10)
    total = np.zeros(40)
    for seed in range(200):
        drawn = learner.draws(seed)
        assert sorted(np.concatenate([held for _, held in drawn])) == list(range(40))
        assert all(counts.sum() == 36 for counts, _ in drawn)
        total += sum(counts for counts, _ in drawn)
    assert abs(total / 2000 - 0.9).max() < 5 * np.sqrt(0.9 / 2000)


@pytest.mark.parametrize("cv", [4, "oob"])
def test_rows_are_drawn_in_proportion_to_their_weights(cv):
    X, y = problem(12, n_classes=0)
    weights = np.array([0, 1, 2, 3, 0, 1, 2, 3, 1, 1, 1, 0.0])
    learner = make(KNeighborsRegressor(1), X, y, 0, cv=cv, sample_weight=weights)
    drawn = np.sum([c for seed in range(3000) for c, _ in learner.draws(seed)], axis=0)
    assert (drawn[weights == 0] == 0).all()
    # with folds a row competes with others only: its share is not quite its weight's
    np.testing.assert_allclose(
        drawn / drawn.sum(), weights / weights.sum(), atol=0.01 if cv == "oob" else 0.03
    )


def test_rows_are_drawn_evenly_where_all_weight_is_held_out():
    X, y = problem(6, n_classes=0)
    weights = np.array([1.0, 0, 0, 0, 0, 0])
    learner = make(KNeighborsRegressor(1), X, y, 0, cv=6, sample_weight=weights)
    for counts, held in learner.draws(3):
        assert counts.sum() == 5
        assert (counts[0] == 5) == (held[0] != 0)


# --- nearest neighbours -------------------------------------------------------------------------
@pytest.mark.parametrize("cv", [10, "oob"])
@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("k", [1, 5])
def test_neighbours_are_those_of_the_naive_twin_and_of_scikit_learn(n_classes, k, cv):
    X, y = problem(n_classes=n_classes)
    estimator = (KNeighborsClassifier if n_classes else KNeighborsRegressor)(k)
    learner, Z = make(estimator, X, y, n_classes, cv=cv), subsets(6, 6)
    ours, twin = compare(learner, naive.knn(X, y, n_classes, k), y, n_classes, Z)
    np.testing.assert_allclose(ours, twin, rtol=0, atol=1e-12)
    _, sklearn = compare(learner, naive.fitted(estimator, X, y), y, n_classes, Z)
    np.testing.assert_allclose(ours, sklearn, rtol=0, atol=1e-12)


@pytest.mark.parametrize("n_classes", [0, 3])
def test_of_equally_near_neighbours_the_first_row_counts(n_classes):
    X, y = problem(50, 4, n_classes)
    X = np.round(X)  # many rows alike, and many equal distances
    estimator = (KNeighborsClassifier if n_classes else KNeighborsRegressor)(4)
    learner = make(estimator, X, y, n_classes, cv=5)
    ours, twin = compare(learner, naive.knn(X, y, n_classes, 4), y, n_classes, subsets(8, 4))
    np.testing.assert_allclose(ours, twin, rtol=0, atol=1e-12)


def test_as_many_neighbours_as_the_bag_has_rows_and_not_more():
    X, y = problem(20, n_classes=0)
    learner, Z = make(KNeighborsRegressor(16), X, y, 0, cv=5), subsets(2, 6)
    ours, twin = compare(learner, naive.knn(X, y, 0, 16), y, 0, Z)
    np.testing.assert_allclose(ours, twin, atol=1e-12)
    assert fast_learner(KNeighborsRegressor(17), X, y, classification=False, cv=5) is None
    assert fast_learner(KNeighborsRegressor(17), X, y, classification=False, cv="oob") is not None


# --- trees --------------------------------------------------------------------------------------
TREES: list[dict[str, Any]] = [
    {},
    {"max_depth": 2},
    {"min_samples_leaf": 4},
    {"min_samples_split": 15},
    {"max_depth": 3, "min_samples_split": 9, "min_samples_leaf": 5},
]


@pytest.mark.parametrize("options", TREES, ids=str)
@pytest.mark.parametrize("n_classes", [0, 2, 4])
def test_trees_are_those_of_the_naive_twin(n_classes, options):
    X, y = problem(45, 5, n_classes)
    X[:, 3] = np.round(X[:, 3])
    if n_classes == 0:
        y = np.round(4 * y)
    estimator = (DecisionTreeClassifier if n_classes else DecisionTreeRegressor)(**options)
    learner = make(estimator, X, y, n_classes, cv=4)
    ours, twin = compare(
        learner, naive.tree(X, y, n_classes, **options), y, n_classes, subsets(6, 5)
    )
    np.testing.assert_allclose(ours, twin, rtol=0, atol=1e-12)


@pytest.mark.parametrize("options", TREES, ids=str)
@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("cv", [10, "oob"])
def test_trees_on_one_feature_are_those_of_scikit_learn(n_classes, options, cv):
    X, y = problem(120, 3, n_classes)
    estimator = (DecisionTreeClassifier if n_classes else DecisionTreeRegressor)(**options)
    learner = make(estimator, X, y, n_classes, cv=cv)
    twin = naive.fitted(estimator, X, y)
    ours, sklearn = compare(learner, twin, y, n_classes, np.eye(3, dtype=bool))
    np.testing.assert_allclose(ours, sklearn, rtol=0, atol=1e-9)


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_trees_without_tiny_nodes_are_those_of_scikit_learn(n_classes):
    X, y = problem(200, 6, n_classes)
    options = {"min_samples_leaf": 0.05, "min_samples_split": 0.15}
    estimator = (DecisionTreeClassifier if n_classes else DecisionTreeRegressor)(**options)
    learner, Z = make(estimator, X, y, n_classes, cv=10), subsets(6, 6)
    same = []
    for state in range(4):  # of equally good splits scikit-learn takes one by chance or rounding
        twin = naive.fitted(estimator.set_params(random_state=state), X, y)
        ours, sklearn = compare(learner, twin, y, n_classes, Z)
        same.append(abs(ours - sklearn) < 1e-9)
    assert np.mean(same) > 0.99
    assert np.any(same, axis=0).mean() > 0.998


def test_fully_grown_trees_differ_from_scikit_learns_as_those_do_among_themselves():
    X, y = problem(200, 6, 2)
    Z = np.ones((15, 6), dtype=bool)
    learner = make(DecisionTreeClassifier(), X, y, 2, cv=10)
    twins = [naive.fitted(DecisionTreeClassifier(random_state=s), X, y) for s in (0, 1)]
    ours, one = compare(learner, twins[0], y, 2, Z)
    _, other = compare(learner, twins[1], y, 2, Z)
    assert (ours == one).mean() > (one == other).mean() - 0.01 > 0.9
    assert abs((ours != y).mean() - (one != y).mean()) < 0.01


def test_values_closer_than_trees_can_tell_are_not_split():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    X = np.column_stack([y * 5e-8, y * 5e-8 + rng.normal(size=60)])
    learner = make(DecisionTreeClassifier(), X, y, 2, cv=5)
    ours, twin = compare(learner, naive.tree(X, y, 2), y, 2, np.array([[True, False]] * 2))
    np.testing.assert_array_equal(ours, twin)
    assert (ours != y).mean() > 0.3


# --- support vector machines --------------------------------------------------------------------
SVMS: list[dict[str, Any]] = [
    {},
    {"gamma": "auto", "C": 10},
    {"gamma": 0.7, "C": 0.1},
    {"kernel": "linear"},
    {"kernel": "linear", "C": 0.05},
]


@pytest.mark.parametrize("options", SVMS, ids=str)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_svm_votes_are_those_of_scikit_learn(n_classes, options):
    X, y = problem(100, 6, n_classes)
    learner, Z = make(SVC(**options), X, y, n_classes, cv=10), subsets(12, 6)
    ours, sklearn = compare(learner, naive.fitted(SVC(**options), X, y), y, n_classes, Z)
    assert (ours == sklearn).mean() > 0.99


@pytest.mark.parametrize("options", SVMS, ids=str)
def test_svm_votes_differ_only_where_the_decision_is_within_the_tolerance(options):
    X, y = problem(100, 6, 2)
    learner, Z = make(SVC(**options), X, y, 2, cv="oob"), subsets(12, 6)
    exact = SVC(**options, tol=1e-5)
    ours, decision = compare(learner, naive.fitted(exact, X, y, "decision_function"), y, 2, Z)
    clear = abs(decision) > 5e-3
    assert clear[~np.isnan(ours)].mean() > 0.97
    np.testing.assert_array_equal(ours[clear], (decision > 0)[clear])


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("options", SVMS, ids=str)
@pytest.mark.parametrize("cv", [5, "oob"])
def test_support_vector_regression_is_that_of_scikit_learn(options, epsilon, cv):
    X, y = problem(80, 6, 0)
    Z = subsets(6, 6)
    estimator = SVR(**options, epsilon=epsilon)
    coarse, fine = (make(estimator.set_params(tol=tol), X, y, 0, cv=cv) for tol in (1e-3, 1e-6))
    twin = naive.fitted(SVR(**options, epsilon=epsilon, tol=1e-6), X, y)
    ours, sklearn = compare(fine, twin, y, 0, Z)
    np.testing.assert_allclose(ours, sklearn, atol=1e-4)
    ours, _ = compare(coarse, twin, y, 0, Z)
    np.testing.assert_allclose(ours, sklearn, atol=0.02)


def test_an_svm_with_nothing_to_learn_from_is_like_scikit_learns():
    X, y = problem(40, 2, 2)
    X[:, 0] = 0.0  # gamma="scale" has no variance to divide by
    X = np.repeat(X[:20], 2, axis=0)
    y = np.tile(y[:20], 2)
    learner, Z = make(SVC(), X, y, 2, cv=5), np.array([[True, False], [True, True]])
    ours, sklearn = compare(learner, naive.fitted(SVC(), X, y), y, 2, Z)
    assert (ours == sklearn).mean() > 0.9
    flat = np.zeros(40)
    held = make(SVR(), X, flat, 0, cv=5).held_out(Z, np.array([1, 2]))
    np.testing.assert_allclose(held, 0)


# --- what every learner promises ----------------------------------------------------------------
@pytest.mark.parametrize("n_classes", [0, 3])
@pytest.mark.parametrize("name", BASES)
@pytest.mark.parametrize("cv", [10, "oob"])
def test_a_model_without_features_is_a_constant(name, n_classes, cv):
    X, y = problem(40, n_classes=n_classes)
    learner = make(any_base(name, n_classes), X, y, n_classes, cv=cv)
    Z = np.zeros((3, 6), dtype=bool)
    ours, twin = compare(learner, lambda *_: [], y, n_classes, Z)
    np.testing.assert_allclose(ours, twin, atol=1e-12)
    assert np.isnan(ours).any() == (cv == "oob")


@pytest.mark.parametrize("name", BASES)
def test_a_bag_of_one_class_gives_a_constant(name):
    X, _ = problem(30)
    y = np.zeros(30, dtype=np.int64)
    y[0] = 1  # not in the bag of its own fold, and in few others'
    learner = make(any_base(name, 2), X, y, 2, cv=10)
    ours = learner.held_out(subsets(5, 6), np.arange(5))
    for t in range(5):
        for counts, held in learner.draws(t):
            if counts[0] == 0:
                assert (ours[t, held] == 0).all()
    assert make(any_base(name, 1), X, 0 * y, 1, cv=3).held_out(subsets(1, 6), [1]).max() == 0


@pytest.mark.parametrize("n_classes", [0, 2])
@pytest.mark.parametrize("name", BASES)
@pytest.mark.parametrize("case", ["one feature", "few rows", "duplicates", "constant column"])
def test_unusual_data_are_learned_as_scikit_learn_does(name, n_classes, case):
    X, y = problem(15 if case == "few rows" else 40, 3, n_classes, seed=1)
    Z = subsets(3, 3)
    if case == "one feature":
        X, Z = X[:, :1], np.ones((2, 1), dtype=bool)
    if case == "duplicates":
        X, y = np.tile(X[:20], (2, 1)), np.tile(y[:20], 2)
    if case == "constant column":
        X[:, 1] = 3.0
        Z = np.array([[True, True, False], [False, True, False]])
    learner = make(any_base(name, n_classes), X, y, n_classes, cv=10)
    estimator = any_base(name, n_classes)
    twin = naive.fitted(estimator, X, y)
    if name == "knn":
        twin = naive.knn(X, y, n_classes, 3)
    if name == "tree":
        y = y if n_classes else np.round(4 * y)
        learner = make(estimator, X, y, n_classes, cv=10)
        twin = naive.tree(X, y, n_classes)
    ours, expected = compare(learner, twin, y, n_classes, Z)
    assert not np.isnan(ours).any()
    if n_classes and name == "svm":
        assert (ours == expected).mean() > 0.95
    else:
        np.testing.assert_allclose(ours, expected, atol=5e-3 if name == "svm" else 1e-12)


@pytest.mark.parametrize("name", ["knn", "tree"])
@pytest.mark.parametrize("cv", [5, "oob"])
def test_soft_votes_are_the_share_of_the_own_class(name, cv):
    X, y = problem(45, 4, 3)
    Z = np.vstack([subsets(4, 4), np.zeros((1, 4), dtype=bool)])
    estimator = KNeighborsClassifier(4) if name == "knn" else DecisionTreeClassifier(max_depth=2)
    learner = make(estimator, X, y, 3, cv=cv, soft=True)
    twin = (
        naive.knn(X, y, 3, 4, soft=True)
        if name == "knn"
        else naive.tree(X, y, 3, max_depth=2, soft=True)
    )
    ours, expected = compare(learner, twin, y, 3, Z)
    np.testing.assert_allclose(ours[:4], expected[:4], atol=1e-12)
    known = ~np.isnan(ours[4])
    np.testing.assert_array_equal(ours[4][known], (expected[4] == y)[known])


@pytest.mark.parametrize("n_classes", [0, 3])
@pytest.mark.parametrize("name", BASES)
def test_results_do_not_depend_on_cores_or_company(name, n_classes):
    X, y = problem(50, n_classes=n_classes)
    Z, seeds = subsets(37, 6), np.arange(37) * 7919
    learner = make(any_base(name, n_classes), X, y, n_classes, cv=5)
    together = learner.held_out(Z, seeds)
    alone = np.vstack([learner.held_out(Z[t : t + 1], seeds[t : t + 1]) for t in range(37)])
    np.testing.assert_array_equal(together, alone)
    for n_jobs in (2, 3, -1):
        more = make(any_base(name, n_classes), X, y, n_classes, cv=5, n_jobs=n_jobs)
        np.testing.assert_array_equal(together, more.held_out(Z, seeds))
    again = pickle.loads(pickle.dumps(learner))
    np.testing.assert_array_equal(together, again.held_out(Z, seeds))


@pytest.mark.parametrize("name", BASES)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_permuted_models_give_permuted_predictions_and_equal_ones_the_same(name, data):
    n_classes = data.draw(st.sampled_from([0, 2, 3]))
    n, p, t = data.draw(st.integers(8, 30)), data.draw(st.integers(1, 4)), 6
    cv = data.draw(st.sampled_from([2, 5, "oob"]))
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    X = np.round(rng.normal(size=(n, p)), data.draw(st.integers(0, 3)))
    y = rng.integers(0, max(n_classes, 5), n)
    y = np.minimum(y, n_classes - 1) if n_classes else y
    Z, seeds = rng.random((t, p)) < 0.6, rng.integers(0, 2**62, t)
    Z[1], seeds[1] = Z[0], seeds[0]
    learner = make(any_base(name, n_classes), X, y, n_classes, cv=cv)
    out = learner.held_out(Z, seeds)
    order = data.draw(st.permutations(range(t)))
    np.testing.assert_array_equal(out[order], learner.held_out(Z[order], seeds[order]))
    np.testing.assert_array_equal(out[0], out[1])
    for row, seed in zip(out, seeds, strict=True):
        predicted = np.concatenate([held for _, held in learner.draws(int(seed))])
        assert set(np.flatnonzero(~np.isnan(row))) == set(predicted.tolist())
        if n_classes:
            assert set(row[predicted]) <= set(range(n_classes))


class MyNeighbours(KNeighborsClassifier):
    """A subclass may do anything."""


@pytest.mark.parametrize(
    "estimator",
    [
        KNeighborsClassifier(weights="distance"), KNeighborsClassifier(p=1),
        KNeighborsClassifier(metric="manhattan"), KNeighborsClassifier(metric=max),
        KNeighborsClassifier(metric_params={"a": 1}), KNeighborsClassifier(n_neighbors=0),
        KNeighborsClassifier(n_neighbors=2.0), MyNeighbours(), KNeighborsRegressor(),
        DecisionTreeClassifier(criterion="entropy"), DecisionTreeClassifier(splitter="random"),
        DecisionTreeClassifier(max_features=1), DecisionTreeClassifier(max_leaf_nodes=3),
        DecisionTreeClassifier(class_weight="balanced"), DecisionTreeClassifier(ccp_alpha=0.1),
        DecisionTreeClassifier(min_impurity_decrease=0.1), DecisionTreeClassifier(max_depth=0),
        DecisionTreeClassifier(min_weight_fraction_leaf=0.1), ExtraTreeClassifier(),
        DecisionTreeClassifier(min_samples_leaf=0), DecisionTreeClassifier(min_samples_split=1.5),
        DecisionTreeClassifier(monotonic_cst=[1, 0, 0, 0, 0, 0]),
        SVC(kernel="poly"), SVC(kernel="precomputed"), SVC(kernel=np.dot), SVC(C=-1),
        SVC(gamma=-1.0), SVC(max_iter=10), SVC(class_weight={0: 2}), SVC(break_ties=True),
        SVC(tol=0), LinearSVC(), LogisticRegression(), object(),
    ],
    ids=lambda e: re.sub(r" at 0x\w+", "", repr(e))[:60],
)  # fmt: skip
def test_options_without_a_fast_path_have_none(estimator):
    X, y = problem()
    assert fast_learner(estimator, X, y, classification=True, n_classes=2) is None


@pytest.mark.parametrize(
    "estimator",
    [
        KNeighborsClassifier(metric="euclidean", algorithm="brute", leaf_size=3, n_jobs=2),
        DecisionTreeClassifier(random_state=3, min_impurity_decrease=0),
        SVC(shrinking=False, cache_size=1, random_state=1, degree=2, probability=False),
    ],
    ids=lambda e: re.sub(r" at 0x\w+", "", repr(e))[:60],
)
def test_options_that_change_no_prediction_keep_the_fast_path(estimator):
    X, y = problem()
    plain = make(type(estimator)(), X, y, 2, cv=5).held_out(subsets(3, 6), [1, 2, 3])
    other = make(estimator, X, y, 2, cv=5).held_out(subsets(3, 6), [1, 2, 3])
    np.testing.assert_array_equal(plain, other)


@pytest.mark.parametrize("bad", [sp.csr_array(np.eye(60, 6)), np.full((60, 6), np.nan)])
def test_data_without_a_fast_path_have_none(bad):
    _, y = problem()
    assert fast_learner(SVC(), bad, y, classification=True, n_classes=2) is None


def test_there_are_no_soft_votes_of_svms():
    X, y = problem()
    assert fast_learner(SVC(), X, y, classification=True, n_classes=2, soft=True) is None


def test_a_table_of_models_that_does_not_fit_is_named():
    X, y = problem()
    learner = make(SVC(), X, y, 2)
    with pytest.raises(InputError, match=r"2 models × 6 features.*got \(2, 5\)"):
        learner.held_out(np.ones((2, 5), dtype=bool), [1, 2])
    assert learner.held_out(np.ones((0, 6), dtype=bool), np.empty(0, dtype=int)).shape == (0, 60)
