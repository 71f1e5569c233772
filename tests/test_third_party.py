"""Estimators and selectors of other packages are rankers as they are, where they are installed."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import RFE, SelectFromModel, VarianceThreshold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mainstay as ms
from mainstay.rankers import EstimatorImportance, PermutationImportance, SelectorRanker

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 6))
NUMBERS = 3 * X[:, 2] - 2 * X[:, 4] + 0.1 * RNG.normal(size=80)
LABELS = np.where(NUMBERS > 0, "sick", "healthy")
USEFUL = [2, 4]
ONE_CORE = {"n_estimators": 20, "n_jobs": 1}


def xgboost(kind: str = "Classifier", **options):
    package = pytest.importorskip("xgboost")
    return getattr(package, f"XGB{kind}")(max_depth=2, **(ONE_CORE | options))


def lightgbm(kind: str = "Classifier"):
    package = pytest.importorskip("lightgbm")
    return getattr(package, f"LGBM{kind}")(verbose=-1, min_child_samples=5, **ONE_CORE)


def catboost(kind: str = "Classifier"):
    package = pytest.importorskip("catboost")
    return getattr(package, f"CatBoost{kind}")(
        iterations=20, depth=3, verbose=False, thread_count=1, allow_writing_files=False
    )


def boruta():
    package = pytest.importorskip("boruta")
    forest = RandomForestClassifier(n_estimators=20, max_depth=4, random_state=0)
    return package.BorutaPy(forest, n_estimators=20, max_iter=15, random_state=0)


def selected_by(ranker, y, **options) -> list[int]:
    selector = ms.EnsembleSelector(
        ranker, n_features_to_select=2, n_resamples=5, random_state=0, **options
    )
    return np.flatnonzero(selector.fit(X, y).get_support()).tolist()


# --- gradient boosting --------------------------------------------------------------------------


@pytest.mark.parametrize("make", [xgboost, lightgbm, catboost])
@pytest.mark.parametrize("y", [LABELS, np.where(NUMBERS > 0, 7, 3), NUMBERS], ids=str)
def test_boosted_trees_take_text_numbers_and_any_classes(make, y):
    model = make("Regressor" if y.dtype.kind == "f" else "Classifier")
    assert selected_by(model, y) == USEFUL


@pytest.mark.parametrize("make", [xgboost, lightgbm, catboost])
def test_boosted_trees_may_be_the_last_step_of_a_pipeline(make):
    assert selected_by(make_pipeline(StandardScaler(), make()), LABELS) == USEFUL


def test_a_model_keeps_its_settings_and_its_logs_stay_where_it_writes_them(monkeypatch, tmp_path):
    package = pytest.importorskip("catboost")
    monkeypatch.chdir(tmp_path)
    model = package.CatBoostClassifier(iterations=5, verbose=False, thread_count=1)
    selected_by(model, LABELS)
    assert [path.name for path in tmp_path.iterdir()] == ["catboost_info"]


# lightgbm 4.6 invents names for columns of arrays, and scikit-learn then misses them
@pytest.mark.filterwarnings("ignore:X does not have valid feature names:UserWarning")
@pytest.mark.parametrize("make", [xgboost, lightgbm])
def test_boosted_trees_may_be_inside_a_selector_or_permuted(make):
    assert selected_by(RFE(make(), n_features_to_select=2), LABELS) == USEFUL
    assert selected_by(SelectFromModel(make(), max_features=2), LABELS) == USEFUL
    scores = PermutationImportance(make(), random_state=0).fit(X, LABELS).scores_
    assert sorted(np.argsort(-scores)[:2].tolist()) == USEFUL


def test_labels_do_not_change_what_xgboost_finds():
    found = [EstimatorImportance(xgboost()).fit(X, y) for y in (LABELS, (NUMBERS > 0).astype(int))]
    assert np.allclose(found[0].scores_, found[1].scores_, rtol=1e-5)  # XGBoost's are float32


def test_a_regression_on_whole_numbers_is_not_given_class_numbers():
    y = np.round(NUMBERS).astype(int) * 10
    model = xgboost("Regressor")
    direct = model.fit(X, y).feature_importances_
    assert np.allclose(EstimatorImportance(model, reorder=False).fit(X, y).scores_, direct)


# --- selectors ----------------------------------------------------------------------------------


class Threshold(BaseEstimator):
    """Selects what correlates: the conventions of many selectors outside scikit-learn."""

    def __init__(self, level: float = 0.3):
        self.level = level

    def fit(self, X, y):
        y = np.unique(y, return_inverse=True)[1]
        size = np.abs(np.corrcoef(np.asarray(X).T, y)[-1, :-1])
        self.ranking_ = np.argsort(np.argsort(-size)) + 1
        self.support_ = size > self.level
        return self

    def transform(self, X):
        return np.asarray(X)[:, self.support_]


class Order(BaseEstimator):
    """Ranks, but selects nothing."""

    def fit(self, X, y):
        self.ranking_ = Threshold().fit(X, y).ranking_
        return self


def test_a_class_with_support_and_ranking_selects():
    ranker = SelectorRanker(Threshold()).fit(X, LABELS)
    assert np.flatnonzero(ranker.support_).tolist() == USEFUL
    assert ranker.ranks_.tolist() == Threshold().fit(X, LABELS).ranking_.tolist()
    assert selected_by(Threshold(), LABELS) == USEFUL


def test_a_class_with_a_ranking_alone_ranks():
    assert selected_by(Order(), LABELS) == USEFUL


def test_a_pipeline_may_end_in_such_a_class():
    model = make_pipeline(VarianceThreshold(), StandardScaler(), Threshold())
    assert selected_by(model, LABELS) == USEFUL


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("in_pipeline", [False, True])
def test_boruta_selects(in_pipeline):
    model = make_pipeline(StandardScaler(), boruta()) if in_pipeline else boruta()
    assert selected_by(model, LABELS) == USEFUL


# --- imbalanced-learn ---------------------------------------------------------------------------


@pytest.mark.parametrize("last", ["forest", "xgboost", "selector"])
def test_a_pipeline_of_imbalanced_learn_resamples_rows_before_it_ranks(last):
    pytest.importorskip("imblearn")
    from imblearn.over_sampling import SMOTE
    from imblearn.pipeline import make_pipeline as make_imblearn_pipeline
    from imblearn.under_sampling import RandomUnderSampler

    model = {
        "forest": lambda: RandomForestClassifier(20, random_state=0),
        "xgboost": xgboost,
        "selector": Threshold,
    }[last]()
    y = np.where(NUMBERS > 2, "rare", "usual")
    for sampler in (RandomUnderSampler(random_state=0), SMOTE(k_neighbors=2, random_state=0)):
        assert selected_by(make_imblearn_pipeline(sampler, StandardScaler(), model), y) == USEFUL
