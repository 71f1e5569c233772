"""Ensembles that learn which features to use find them, and are good scikit-learn citizens."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import mainstay as ms
from mainstay.subspace.losses import LOSSES
from mainstay.subspace.optimisation import Settings, SubspaceProblem, advance_together

X = np.random.default_rng(0).normal(size=(100, 10))
Y_NUMBERS = X[:, 0] + X[:, 1] + X[:, 2]
Y = (Y_NUMBERS > 0).astype(int)
NAMES = [f"gene {j}" for j in range(10)]
TABLE = pd.DataFrame(X, columns=NAMES)
SMALL: dict[str, Any] = {
    "n_estimators": 20, "cv": 3, "max_stages": 8, "n_restarts": 2, "random_state": 0,
}  # fmt: skip


def classifier(estimator: Any = None, **options: Any) -> ms.ParametricSubspaceClassifier:
    return ms.ParametricSubspaceClassifier(estimator, **{**SMALL, **options})


def regressor(estimator: Any = None, **options: Any) -> ms.ParametricSubspaceRegressor:
    return ms.ParametricSubspaceRegressor(estimator, **{**SMALL, **options})


def best(model: Any, k: int = 3) -> set[int]:
    return set(model.selection_probabilities_.argsort()[-k:].tolist())


RESAMPLED = "bootstrap samples draw rows, not weight: a row of weight 2 is not the same as two rows"
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": RESAMPLED,
    "check_sample_weight_equivalence_on_sparse_data": RESAMPLED,
}


@pytest.mark.slow
@parametrize_with_checks(
    [
        estimator(n_estimators=n, cv=2, max_stages=2, n_restarts=1, random_state=0)
        for estimator, n in (
            (ms.ParametricSubspaceClassifier, 10),  # one check asks for an accuracy of 0.83
            (ms.ParametricSubspaceRegressor, 4),
        )
    ],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_scikit_learn_finds_nothing_to_complain_about(estimator: Any, check: Any) -> None:
    check(estimator)


# ---------------------------------------------------------------------- it learns


def test_relevant_features_are_found_and_the_others_dropped() -> None:
    rng = np.random.default_rng(0)
    noisy = np.hstack([X, rng.normal(size=(100, 40))])
    model = classifier(n_estimators=60, cv=10, max_stages=100).fit(noisy, Y)
    assert best(model) == {0, 1, 2}
    assert model.selection_probabilities_[:3].min() > 0.9
    assert model.selection_probabilities_[3:].mean() < 0.05
    assert model.score(noisy, Y) > KNeighborsClassifier().fit(noisy, Y).score(noisy, Y)


def test_regression_finds_them_too() -> None:
    model = regressor(n_estimators=50, max_stages=40).fit(X, Y_NUMBERS)
    assert best(model) == {0, 1, 2}
    assert model.score(X, Y_NUMBERS) > 0.7


def test_several_classes_with_names() -> None:
    data, codes = load_iris(return_X_y=True)
    flowers = np.array(["setosa", "versicolor", "virginica"])[codes]
    noise = np.random.default_rng(0).normal(size=(150, 10))
    model = classifier(n_estimators=50, max_stages=40).fit(np.hstack([data, noise]), flowers)
    assert best(model, 2) == {2, 3}  # the petals
    assert model.score(np.hstack([data, noise]), flowers) > 0.9
    shares = model.predict_proba(np.hstack([data, noise]))
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert list(model.classes_) == ["setosa", "versicolor", "virginica"]


def test_the_objective_falls_and_the_paths_have_one_entry_per_stage() -> None:
    model = classifier(n_estimators=50, max_stages=40).fit(X, Y)
    for objective, sizes in zip(model.objective_path_, model.effective_size_path_, strict=True):
        assert len(objective) == len(sizes) == 40
        assert objective[-10:].mean() < objective[:5].mean()
        assert (sizes <= 50 + 1e-9).all()
    # all models once, then a tenth per stage
    assert model.n_models_trained_ == 2 * (50 + 39 * 5)
    assert not model.converged_


def test_learning_stops_when_the_objective_no_longer_falls() -> None:
    model = classifier(n_estimators=10, cv=2, max_stages=160, tolerance=10.0, n_restarts=1)
    with pytest.raises(ms.InputError, match="tolerance"):
        clone(model).set_params(tolerance=-1).fit(X, Y)
    assert model.set_params(tolerance=0.9).fit(X, Y).converged_
    assert len(model.objective_path_[0]) == 150  # two windows of 50 without a fall


def test_stopping_before_the_end_is_said() -> None:
    model = classifier(max_stages=5, n_restarts=2)
    with pytest.warns(ConvergenceWarning, match="2 of 2 restarts stopped after max_stages=5"):
        model.fit(X, Y)


def test_a_penalty_makes_models_smaller() -> None:
    sizes = [
        classifier(regularization=penalty).fit(X, Y).selection_probabilities_.sum()
        for penalty in (0.0, 0.1, 100.0)
    ]
    assert sizes[0] > sizes[1] > sizes[2]
    assert sizes[2] == pytest.approx(0)


def test_an_ensemble_without_features_predicts_the_mean_or_the_majority() -> None:
    model = regressor(regularization=100.0).fit(X, Y_NUMBERS)
    # twenty bootstrap means: standard error of their mean is sd/sqrt(20 n)
    error = Y_NUMBERS.std() / np.sqrt(20 * 100)
    assert model.predict(X[:1])[0] == pytest.approx(Y_NUMBERS.mean(), abs=5 * error)
    lopsided = np.arange(100) < 20
    assert not classifier(regularization=100.0).fit(X, lopsided).predict(X).any()


@pytest.mark.parametrize("weights", ["plain", "self_normalized"])
@pytest.mark.parametrize("cv", [3, "oob"])
def test_both_kinds_of_weights_and_of_held_out_rows(weights: str, cv: Any) -> None:
    model = classifier(weights=weights, cv=cv, n_estimators=40, max_stages=30).fit(X, Y)
    assert len(best(model) & {0, 1, 2}) >= 2


@pytest.mark.parametrize("loss", ["absolute_error", "huber", "pair"])
def test_losses_of_regression(loss: Any) -> None:
    if loss == "pair":
        loss = (lambda y, e: (y - e) ** 4, lambda y, e: 4 * (e - y) ** 3)
    model = regressor(loss=loss, max_stages=30).fit(X, Y_NUMBERS)
    assert model.score(X, Y_NUMBERS) > 0.3


def test_any_estimator_will_do() -> None:
    few: dict[str, Any] = {"n_estimators": 10, "max_stages": 3, "n_restarts": 1}
    for base in (LogisticRegression(), make_pipeline(GaussianNB())):
        assert classifier(base, **few).fit(X, Y).score(X, Y) > 0.6
    assert regressor(Ridge(), **few).fit(X, Y_NUMBERS).score(X, Y_NUMBERS) > 0


def test_probabilities_can_be_averaged_instead_of_votes() -> None:
    model = classifier(GaussianNB(), voting="soft", max_stages=3).fit(X, Y)
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert len(np.unique(shares)) > 150  # not twentieths
    with pytest.raises(ms.InputError, match="predict_proba"):
        classifier(RidgeClassifier(), voting="soft").fit(X, Y)


def test_rows_of_weight_zero_do_not_matter() -> None:
    """Every row occurs twice, the second time with the wrong label and no weight."""
    data, labels = np.vstack([X, X]), np.concatenate([Y, 1 - Y])
    weight = np.repeat([1.0, 0.0], len(Y))
    assert classifier().fit(data, labels, sample_weight=weight).score(X, Y) > 0.9
    assert classifier().fit(data, labels).score(X, Y) < 0.7


def test_weights_are_chances_in_the_bootstrap() -> None:
    heavy = np.where(Y == 0, 1.0, 0.1)
    model = classifier(regularization=100.0).fit(X, Y, sample_weight=heavy)
    assert not model.predict(X).any()


def test_sparse_input_where_the_base_takes_it() -> None:
    dense = np.where(np.abs(X) < 0.5, 0.0, X)
    model = classifier(LogisticRegression(), max_stages=3, n_restarts=1)
    fitted = model.fit(sp.csr_array(dense), Y)
    assert fitted.score(sp.csr_array(dense), Y) > 0.7
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        classifier(GaussianNB()).fit(sp.csr_array(dense), Y)


# ---------------------------------------------------------------------- same seed, same result


@pytest.mark.slow
@pytest.mark.parametrize(
    ("base", "n_restarts"), [(None, 1), (None, 2), (GaussianNB(), 1), (GaussianNB(), 2)]
)
def test_the_number_of_cores_changes_nothing(base: Any, n_restarts: int) -> None:
    options: dict[str, Any] = {"max_stages": 2, "n_estimators": 6, "n_restarts": n_restarts}
    one, two = (classifier(base, n_jobs=n, **options).fit(X, Y) for n in (1, 2))
    np.testing.assert_array_equal(one.restart_probabilities_, two.restart_probabilities_)
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    other = classifier(base, random_state=1, **options).fit(X, Y)
    assert not np.array_equal(one.restart_probabilities_, other.restart_probabilities_)


def test_shuffling_columns_with_their_names_changes_nothing() -> None:
    order = np.random.default_rng(0).permutation(10)
    one, two = classifier().fit(TABLE, Y), classifier().fit(TABLE.iloc[:, order], Y)
    np.testing.assert_array_equal(two.selection_probabilities_, one.selection_probabilities_[order])
    np.testing.assert_array_equal(two.predict_proba(TABLE.iloc[:, order]), one.predict_proba(TABLE))
    used = [{NAMES[order[j]] for j in features} for features in two.estimators_features_]
    assert used == [{NAMES[j] for j in features} for features in one.estimators_features_]


def test_without_names_a_permutation_is_like_another_seed() -> None:
    order = np.random.default_rng(0).permutation(10)
    options: dict[str, Any] = {"n_estimators": 40, "max_stages": 30}
    one, two = classifier(**options).fit(X, Y), classifier(**options).fit(X[:, order], Y)
    assert {int(order[j]) for j in best(two)} == best(one)


def test_units_do_not_matter() -> None:
    scale = 2.0 ** np.arange(10)
    one, two = classifier().fit(X, Y), classifier().fit(X * scale + 100 * scale, Y)
    np.testing.assert_allclose(one.selection_probabilities_, two.selection_probabilities_)
    one, two = (regressor().fit(X, y) for y in (Y_NUMBERS, 8 * Y_NUMBERS + 3))
    np.testing.assert_allclose(one.selection_probabilities_, two.selection_probabilities_)
    np.testing.assert_allclose(8 * one.predict(X) + 3, two.predict(X))


# ---------------------------------------------------------------------- what is known afterwards


def test_restarts_are_averaged_and_compared() -> None:
    model = classifier(n_restarts=3).fit(X, Y)
    assert model.restart_probabilities_.shape == (3, 10)
    np.testing.assert_allclose(
        model.selection_probabilities_, model.restart_probabilities_.mean(axis=0)
    )
    np.testing.assert_array_equal(model.feature_importances_, model.selection_probabilities_)
    k = max(1, round(model.selection_probabilities_.sum()))
    tops = [set(alpha.argsort()[-k:]) for alpha in model.restart_probabilities_]
    pairs = [(0, 1), (0, 2), (1, 2)]
    jaccard = [len(tops[a] & tops[b]) / len(tops[a] | tops[b]) for a, b in pairs]
    assert model.restart_agreement_ == pytest.approx(np.mean(jaccard))
    assert classifier(n_restarts=1).fit(X, Y).restart_agreement_ is None


def test_the_papers_restart_rule_takes_the_restart_with_the_lowest_objective() -> None:
    mean = classifier(n_restarts=3).fit(X, Y)
    best = classifier(n_restarts=3, restart_rule="lowest_objective").fit(X, Y)
    # probabilities are averaged over the last half of these few stages, and so is the objective
    ends = [path[-(len(path) // 2) :].mean() for path in best.objective_path_]
    assert best.best_restart_ == mean.best_restart_ == int(np.argmin(ends))
    np.testing.assert_array_equal(best.restart_probabilities_, mean.restart_probabilities_)
    chosen = best.restart_probabilities_[best.best_restart_]
    np.testing.assert_array_equal(best.selection_probabilities_, chosen)
    with pytest.raises(ms.InputError, match="restart_rule"):
        classifier(restart_rule="best").fit(X, Y)


def test_the_ensemble_is_what_it_says() -> None:
    model = classifier(n_estimators=200, max_stages=2, n_restarts=1).fit(TABLE, Y)
    assert len(model.estimators_) == len(model.estimators_features_) == 200
    frequency = np.bincount(np.concatenate(model.estimators_features_), minlength=10) / 200
    alpha = model.selection_probabilities_
    error = np.sqrt(alpha * (1 - alpha) / 200)
    assert (np.abs(frequency - alpha) < 4.5 * error + 1e-9).all()
    assert list(model.feature_names_in_) == NAMES


def test_a_warm_start_goes_on_from_where_the_last_fit_stopped() -> None:
    model = classifier(warm_start=True, n_restarts=1).fit(X, Y)
    before = model.selection_probabilities_
    model.set_params(max_stages=1, n_restarts=2, learning_rate=0.0).fit(X, Y)
    old, new = model.restart_probabilities_
    np.testing.assert_array_equal(old, before)
    np.testing.assert_array_equal(new, 0.25)  # 5 of 20 models
    with pytest.raises(ms.InputError, match="warm_start=False"):
        model.fit(X[:, :5], Y)


def test_clone_and_pickle_keep_what_matters() -> None:
    fitted = classifier().fit(X, Y)
    assert not hasattr(clone(fitted), "estimators_")
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))


# ---------------------------------------------------------------------- in company


def test_selects_in_pipelines_and_searches() -> None:
    chosen = SelectFromModel(classifier(), max_features=3, threshold=-np.inf).fit(TABLE, Y)
    assert len(chosen.get_feature_names_out()) == 3
    pipeline = make_pipeline(SelectFromModel(classifier(), max_features=4), GaussianNB())
    search = GridSearchCV(pipeline, {"selectfrommodel__estimator__regularization": [0, 0.1]}, cv=2)
    assert search.fit(X, Y).best_score_ > 0.6


def test_is_a_ranker_for_an_ensemble_and_for_a_forecast() -> None:
    few: dict[str, Any] = {"n_estimators": 20, "max_stages": 5, "n_restarts": 1}
    selector = ms.EnsembleSelector(
        classifier(**few), n_features_to_select=3, n_resamples=6, random_state=0
    )
    selector.fit(TABLE, Y)
    assert selector.runs_.n_runs == 6
    assert set(selector.get_feature_names_out()) & {"gene 0", "gene 1", "gene 2"}
    forecast = ms.forecast_stability(
        classifier(**few), TABLE, Y, n_features_to_select=3, protocol="flat", n_runs=6,
        ensemble_sizes=[1, 5], random_state=0,
    )  # fmt: skip
    assert np.isfinite(forecast.curve["stability"]).all()


# ---------------------------------------------------------------------- the optimiser by itself


class Additive:
    """A learner whose models predict the sum of their features: no data are fitted."""

    def __init__(self, X: np.ndarray) -> None:
        self.X = X
        self.seeds: list[int] = []

    def held_out(self, Z: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        self.seeds += seeds.tolist()
        return Z @ self.X.T


def problem(target: np.ndarray, seed: int = 0, **options: Any) -> SubspaceProblem:
    settings = Settings(n_models=20, n_references=4, max_steps=10, window=5)
    start = np.full(10, 0.3)
    start[9] = 0.0
    return SubspaceProblem(
        Additive(X), target, LOSSES["squared_error"], start, settings, seed, **options
    )


def test_a_stage_replaces_a_share_of_the_models_and_notes_where_it_got() -> None:
    one = problem(Y_NUMBERS)
    for stage in range(6):
        one.stage()
        assert one.n_models_trained == 20 + 5 * stage
    assert len(one.objective_path) == len(one.effective_size_path) == 6
    assert len(set(one.learner.seeds)) == one.n_models_trained
    assert (one.alpha[:3] > 0.5).all()
    assert one.alpha[9] == 0  # never drawn, never moved
    np.testing.assert_allclose(one.average_alpha(), np.mean(one.alpha_path[-3:], axis=0))


def test_problems_side_by_side_are_the_problems_one_by_one_if_nothing_couples_them() -> None:
    targets = [Y_NUMBERS, X[:, 3] - X[:, 4], X[:, 5]]
    together = [problem(y, seed) for seed, y in enumerate(targets)]
    alone = [problem(y, seed, regularization=0.05) for seed, y in enumerate(targets)]
    for _ in range(4):
        advance_together(together, lambda alphas: np.full_like(alphas, 0.05))
        for one in alone:
            one.stage()
    for one, other in zip(together, alone, strict=True):
        np.testing.assert_allclose(one.alpha, other.alpha)


def test_a_joint_penalty_sees_all_problems() -> None:
    seen = []

    def penalty(alphas: np.ndarray) -> np.ndarray:
        seen.append(alphas.shape)
        norms = np.sqrt((alphas**2).sum(axis=1, keepdims=True))
        return 0.5 * np.divide(alphas, norms, out=np.zeros_like(alphas), where=norms > 0)

    free = [problem(Y_NUMBERS, seed) for seed in range(3)]
    coupled = [problem(Y_NUMBERS, seed) for seed in range(3)]
    for _ in range(4):
        advance_together(coupled, penalty)
        for one in free:
            one.stage()
    assert set(seen) == {(10, 3)}
    assert sum(p.alpha.sum() for p in coupled) < sum(p.alpha.sum() for p in free)


# ---------------------------------------------------------------------- errors


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_base_model_that_fails_names_the_draw(n_jobs: int) -> None:
    greedy = KNeighborsClassifier(1000)
    message = r"\(n_neighbors=1000\) failed on the features 'gene .*' \(seed \d+\).*n_samples"
    with pytest.raises(ms.InputError, match=message):
        classifier(greedy, n_jobs=n_jobs).fit(TABLE, Y)


WITH_HOLE = TABLE.copy()
WITH_HOLE.iloc[4, 2] = np.nan


@pytest.mark.parametrize(
    ("model", "data", "target", "message"),
    [
        (classifier(), X, np.zeros(100), "one class only, .*at least two classes"),
        (regressor(), X, np.ones(100), "constant .1 in every row"),
        (regressor(), X, np.where(Y == 1, "a", "b"), "ParametricSubspaceClassifier"),
        (classifier(cv=200), X, Y, "cv=200 folds need at least 200 samples, but there are 100"),
        (classifier(cv="loo"), X, Y, "number of folds or 'oob', got 'loo'"),
        (classifier(cv=1), X, Y, "at least 2, got 1"),
        (classifier(), WITH_HOLE, Y, "NaN, the first in row 4 of feature 'gene 2'; impute"),
        (classifier(SelectFromModel(Ridge())), X, Y, "needs predict"),
        (classifier(GaussianNB), X, Y, "an instance, not a class"),
        (classifier(Ridge()), X, Y, r"must be a classifier, got Ridge\(\), a regressor"),
        (regressor(GaussianNB()), X, Y, "must be a regressor, got GaussianNB.*, a classifier"),
        (classifier(regularization=-1), X, Y, "regularization must be .* at least 0, got -1"),
        (classifier(loss="cross_entropi"), X, Y, "Did you mean 'cross_entropy'"),
        (classifier(weights="normal"), X, Y, "Valid: self_normalized, plain"),
        (classifier(n_estimators=1), X, Y, "n_estimators must be a whole number at least 2"),
        (classifier(n_references=0), X, Y, "n_references"),
        (classifier(n_restarts=0), X, Y, "n_restarts"),
        (classifier(initial_probability=1.0), X, Y, r"initial_probability .*\(0, 1\)"),
        (classifier(learning_rate="fast"), X, Y, "learning_rate .*, got 'fast'"),
        (classifier(random_state="x"), X, Y, "random_state"),
    ],
)  # fmt: skip
def test_errors_say_what_was_wrong(model: Any, data: Any, target: Any, message: str) -> None:
    with pytest.raises(ms.InputError, match=message):
        model.fit(data, target)
