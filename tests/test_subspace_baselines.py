"""The neighbours of parametric subspaces: subsets that breed, and subspaces of a fixed size."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import Ridge
from sklearn.metrics import average_precision_score
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

import mainstay as ms
from mainstay.datasets import make_hypercube, make_linear
from mainstay.rankers import EvolutionRanker, make_ranker
from mainstay.subspace.fixed_size import RandomSubspaceClassifierCV, RandomSubspaceRegressorCV
from mainstay.subspace.umda import EvolutionSettings, evolve, mean_hamming_distance


class Scripted:
    """A learner whose error falls with every feature of a secret set that a model uses."""

    def __init__(self, good: list[int], n_rows: int = 40) -> None:
        self.good, self.n_rows, self.asked = good, n_rows, []

    def held_out(self, Z: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        self.asked.append(Z.copy())
        missing = len(self.good) - Z[:, self.good].sum(axis=1)
        return np.repeat(missing, self.n_rows).reshape(len(Z), -1).astype(float)


# --- evolution ----------------------------------------------------------------------------------


def test_the_hamming_distance_is_that_of_all_pairs():
    Z = np.random.default_rng(0).random((9, 30)) < 0.3
    pairs = [(Z[a] != Z[b]).sum() for a in range(9) for b in range(a)]
    assert mean_hamming_distance(Z) == pytest.approx(np.mean(pairs))


def test_probabilities_are_the_shares_of_the_best_subsets():
    learner = Scripted([1, 4])
    settings = EvolutionSettings(n_subsets=60, n_kept=20, max_generations=1)
    found = evolve(learner, np.zeros(40), False, 20, settings, seed=0)
    (Z,) = learner.asked
    error = (2 - Z[:, [1, 4]].sum(axis=1)) ** 2
    best = sorted(range(60), key=lambda t: error[t])[:20]
    assert np.array_equal(found.alpha, Z[best].mean(axis=0))
    assert found.errors == pytest.approx([error.mean()])


def test_evolution_ends_when_subsets_have_become_alike():
    learner = Scripted([1, 4, 7])
    found = evolve(learner, np.zeros(40), False, 60, EvolutionSettings(), seed=0)
    distances = [mean_hamming_distance(Z) for Z in learner.asked]
    assert all(d >= distances[0] / 2 for d in distances)
    assert set(np.argsort(found.alpha)[-3:]) == {1, 4, 7}
    assert found.errors[-1] == 0


def test_subsets_start_with_two_features_at_least():
    learner = Scripted([0])
    evolve(learner, np.zeros(40), False, 5, EvolutionSettings(max_generations=1), seed=0)
    evolve(learner, np.zeros(40), False, 400, EvolutionSettings(max_generations=1), seed=0)
    assert learner.asked[0].mean() == pytest.approx(0.4, abs=0.1)
    assert learner.asked[1].mean() == pytest.approx(0.05, abs=0.01)


@pytest.fixture(scope="module")
def easy():
    return make_linear(120, 15, n_test=0, random_state=0)


def quick(**options) -> EvolutionRanker:
    options = {"n_subsets": 40, "n_restarts": 2, "cv": 3, "random_state": 0} | options
    return EvolutionRanker(**options)


def test_relevant_features_come_out_on_top(easy):
    truth = np.isin(np.arange(25), easy.relevant)
    ranker = quick().fit(easy.X, easy.y)
    assert average_precision_score(truth, ranker.scores_) > 0.75
    assert (ranker.scores_ >= 0).all()
    assert (ranker.scores_ <= 1).all()
    assert len(ranker.errors_) == len(ranker.n_generations_) == 2
    assert ranker.errors_[0][-1] < ranker.errors_[0][0]


def test_numbers_are_predicted_too(easy):
    y = easy.X[:, 0] + easy.X[:, 1] + 0.01
    for options in ({}, {"cv": "oob"}, {"estimator": DecisionTreeRegressor(), "n_restarts": 1}):
        scores = quick(**options).fit(easy.X, y).scores_
        assert scores[:2].min() > scores[2:].max()


@pytest.mark.slow
def test_the_order_of_columns_and_the_number_of_cores_change_nothing(easy):
    table = pd.DataFrame(easy.X, columns=[f"g{j}" for j in range(25)])
    expected = quick().fit(table, easy.y).scores_
    shuffled = table[table.columns[::-1]]
    assert np.array_equal(quick(n_jobs=2).fit(shuffled, easy.y).scores_[::-1], expected)
    assert not np.array_equal(quick(random_state=1).fit(table, easy.y).scores_, expected)


def test_whole_numbers_are_no_classes_for_a_regressor():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    y = np.round(3 * X[:, 0])  # 20 different values or so
    grades = quick(estimator=KNeighborsRegressor(), cv="oob").fit(X, y)
    shifted = quick(estimator=KNeighborsRegressor(), cv="oob").fit(X, 0.5 * y)
    assert np.array_equal(grades.scores_, shifted.scores_)
    assert grades.scores_.argmax() == 0
    assert grades.errors_[0][-1] < 0.5  # squared errors of standardised grades, not wrong classes


def test_it_is_a_ranker_for_ensembles(easy):
    ranker = quick(n_restarts=1, n_subsets=20)
    selector = ms.EnsembleSelector(ranker, n_features_to_select=5, n_resamples=3, random_state=0)
    selector.fit(easy.X, easy.y)
    assert selector.runs_.n_runs == 3
    assert set(np.flatnonzero(selector.get_support())) <= set(range(25))
    assert type(make_ranker("evolution")) is EvolutionRanker


def test_bad_input_is_named(easy):
    with pytest.raises(ms.InputError, match="n_kept must be a whole number from 1 to 40, got 50"):
        quick(n_kept=50).fit(easy.X, easy.y)
    with pytest.raises(ms.InputError, match="initial_probability"):
        quick(initial_probability=2).fit(easy.X, easy.y)
    with pytest.raises(ms.InputError, match="every feature is constant"):
        quick().fit(np.ones((10, 2)), np.arange(10) % 2)
    broken = easy.X.copy()
    broken[3, 2] = np.nan
    with pytest.raises(ms.InputError, match="'x2' has 1 missing value"):
        quick().fit(broken, easy.y)
    with pytest.raises(ms.InputError, match="folds need at least"):
        quick(cv=200).fit(easy.X, easy.y)


# --- subspaces of a fixed size ------------------------------------------------------------------


def test_the_number_of_features_is_the_one_with_the_best_score():
    data = make_hypercube(150, 20, n_test=200, random_state=0)
    model = RandomSubspaceClassifierCV(n_estimators=10, cv=3, random_state=0).fit(data.X, data.y)
    assert list(model.scores_) == [1, 2, 5, 8, 12, 25]
    assert model.scores_[model.n_features_per_model_] == max(model.scores_.values())
    subsets = model.ensemble_.estimators_features_
    assert {len(subset) for subset in subsets} == {model.n_features_per_model_}
    assert model.score(data.X_test, data.y_test) > 0.6
    assert model.predict_proba(data.X_test).shape == (200, 2)


def test_candidates_are_those_of_the_paper():
    model = RandomSubspaceClassifierCV()
    assert model._candidates(304) == [1, 3, 6, 15, 17, 30, 61, 101, 152, 304]


def test_columns_may_come_in_any_order():
    data = make_linear(60, 2, n_test=0, random_state=0)
    table = pd.DataFrame(data.X, columns=[f"g{j}" for j in range(12)])
    y = data.X[:, 0]
    models = [
        RandomSubspaceRegressorCV(max_features=[2, 6], n_estimators=5, cv=2, random_state=0)
        for _ in range(2)
    ]
    shuffled = table[table.columns[::-1]]
    one, other = models[0].fit(table, y), models[1].fit(shuffled, y)
    assert one.scores_ == pytest.approx(other.scores_)
    assert np.allclose(one.predict(table), other.predict(shuffled))


def test_sizes_and_folds_are_checked():
    X, y = np.random.default_rng(0).normal(size=(12, 3)), np.arange(12.0)
    with pytest.raises(ms.InputError, match="max_features must be a whole number from 1 to 3"):
        RandomSubspaceRegressorCV(max_features=[4]).fit(X, y)
    with pytest.raises(ms.InputError, match="max_features is empty"):
        RandomSubspaceRegressorCV(max_features=[]).fit(X, y)
    with pytest.raises(ms.InputError, match="folds, must be a whole number from 2 to 12"):
        RandomSubspaceRegressorCV(cv=13).fit(X, y)
    with pytest.raises(ms.InputError, match="one class only"):
        RandomSubspaceClassifierCV().fit(X, np.ones(12))
    splitter = KFold(2)
    model = RandomSubspaceClassifierCV(DummyClassifier(), cv=splitter, n_estimators=2)
    assert model.fit(X, np.arange(12) % 2).n_features_per_model_ == 1


class Bare:
    """Fits and predicts, but is no estimator of scikit-learn."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Bare:
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return X[:, 0]


CLASSIFIER, REGRESSOR = RandomSubspaceClassifierCV, RandomSubspaceRegressorCV


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (CLASSIFIER, {"estimator": Ridge()}, r"a classifier, got Ridge\(\), a regressor.*KN"),
        (REGRESSOR, {"estimator": DecisionTreeClassifier()}, "must be a regressor, got Decision"),
        (REGRESSOR, {"estimator": KMeans()}, "must be a regressor, got KMeans.*, a clusterer"),
        (CLASSIFIER, {"estimator": "knn"}, "estimator needs fit: got 'knn'; give a scikit-learn"),
        (REGRESSOR, {"estimator": Ridge}, "needs an instance, not a class"),
        (REGRESSOR, {"estimator": Bare()}, "estimator needs get_params: got <"),
        (REGRESSOR, {"max_features": "sqrt"}, "max_features must be .* or None, got 'sqrt'"),
        (REGRESSOR, {"max_features": True}, "max_features must be a whole number.*, got True"),
        (REGRESSOR, {"max_features": 0}, "max_features must be a whole number from 1 to 3, got 0"),
        (REGRESSOR, {"max_features": [1, 1.5]}, r"whole number .* 1 to 3, or a share .*, got 1.5"),
        (CLASSIFIER, {"cv": "x"}, "cv must be a number of folds or a splitter, got 'x'"),
        (CLASSIFIER, {"cv": [1, 2]}, r"cv=\[1, 2\] cannot split these 12 rows"),
        (CLASSIFIER, {"cv": StratifiedKFold(9)}, "cv=Strat.* cannot split these 12 rows: n_splits"),
        (CLASSIFIER, {"cv": GroupKFold(2)}, "these 12 rows: .*groups.*as a list of its training"),
        (CLASSIFIER, {"scoring": "acuracy"}, "unknown scoring .* Did you mean 'accuracy'"),
        (CLASSIFIER, {"scoring": 3}, "unknown scoring 3"),
        (CLASSIFIER, {"n_jobs": "a"}, "n_jobs .* must be a number of cores.*, got 'a'"),
        (CLASSIFIER, {"n_jobs": 0}, "n_jobs .* must be a number of cores.*, got 0"),
        (CLASSIFIER, {"random_state": "a"}, "random_state must be a whole number.*, got 'a'"),
    ],
)
def test_wrong_values_are_named_before_anything_is_trained(
    kind: type, options: dict[str, object], message: str
) -> None:
    X = np.random.default_rng(0).normal(size=(12, 3))
    with pytest.raises(ms.InputError, match=message) as found:
        kind(**{"cv": 2, "n_estimators": 2, **options}).fit(X, np.arange(12) % 2)
    assert "GridSearchCV" not in str(found.value)


def test_one_number_or_share_of_features_is_one_candidate():
    X, y = np.random.default_rng(0).normal(size=(20, 4)), np.arange(20) % 2
    for given, expected in (
        (3, [3]), (0.5, [2]), (np.int64(1), [1]), ([1, 0.3, 0.5], [1, 2]), (np.array(3), [3]),
        (np.array([0.5, 1.0]), [2, 4]),
    ):  # fmt: skip
        model = RandomSubspaceClassifierCV(max_features=given, cv=2, n_estimators=2, random_state=0)
        assert list(model.fit(X, y).scores_) == expected


def test_no_cv_is_the_five_folds_of_scikit_learn():
    X, y = np.random.default_rng(0).normal(size=(30, 4)), np.arange(30) % 2
    options = {"max_features": [2], "n_estimators": 3, "random_state": 0}
    usual = RandomSubspaceClassifierCV(cv=None, **options).fit(X, y)
    named = RandomSubspaceClassifierCV(cv=StratifiedKFold(5), **options).fit(X, y)
    assert usual.scores_ == named.scores_


@pytest.mark.filterwarnings("ignore")
def test_where_no_candidate_has_a_score_that_is_an_error():
    X, y = np.random.default_rng(0).normal(size=(12, 3)), np.arange(12.0)
    with pytest.raises(ms.InputError, match=r"scoring 'r2' .* gave no number.*larger test parts"):
        RandomSubspaceRegressorCV(cv=12, scoring="r2", n_estimators=2).fit(X, y)


def test_an_estimator_that_fails_is_named_with_the_reason():
    X, y = np.random.default_rng(0).normal(size=(12, 3)), np.arange(12) % 2
    model = RandomSubspaceClassifierCV(KNeighborsClassifier(-1), cv=2, n_estimators=2)
    with pytest.raises(ms.InputError, match=r"KNeighborsClassifier\(n_neighbors=-1\).*n_neighbors"):
        model.fit(X, y)


def test_classes_are_no_target_of_a_regressor():
    X, y = np.random.default_rng(0).normal(size=(12, 3)), np.repeat(["a", "b"], 6)
    with pytest.raises(ms.InputError, match="y must be numbers, got 'a'; use RandomSubspaceClass"):
        RandomSubspaceRegressorCV().fit(X, y)


@pytest.mark.slow
@parametrize_with_checks(
    [
        RandomSubspaceClassifierCV(n_estimators=3, cv=2, random_state=0),
        RandomSubspaceRegressorCV(n_estimators=3, cv=2, random_state=0),
    ]
)
def test_they_are_scikit_learn_estimators(estimator, check):
    check(estimator)
