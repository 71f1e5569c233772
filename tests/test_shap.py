"""Shapley values of trees as a ranker."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import mainstay as ms
from mainstay.rankers import ShapImportance, make_ranker


def test_without_the_package_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "shap", None)
    with pytest.raises(ms.InputError, match=r"mainstay\[shap\]"):
        make_ranker("shap").fit([[0.0], [1.0]] * 5, [0, 1] * 5)


@pytest.fixture
def shap() -> Any:
    return pytest.importorskip("shap")


def test_a_stump_gives_all_to_the_feature_it_splits_on(shap: Any) -> None:
    X, y = [[0.0, 1], [0.1, 0], [0.9, 1], [1.0, 0]], [0.0, 0.0, 1.0, 1.0]
    stump = DecisionTreeRegressor(max_depth=1, random_state=0)
    # the prediction is 0 or 1, its mean 1/2: feature 0 is worth ±1/2 in every row
    for estimator in (stump, make_pipeline(StandardScaler(), stump)):
        np.testing.assert_allclose(ShapImportance(estimator).fit(X, y).scores_, [0.5, 0.0])


def test_classes_are_averaged_and_columns_may_come_in_any_order(shap: Any) -> None:
    data, target = load_iris(return_X_y=True, as_frame=True)
    tree = DecisionTreeClassifier(random_state=0)
    ranker = ShapImportance(tree, random_state=0).fit(data, target)
    assert set(np.argsort(ranker.scores_)[-2:]) == {2, 3}  # petals
    shuffled = ShapImportance(tree, random_state=0).fit(data.iloc[:, ::-1], target)
    np.testing.assert_allclose(shuffled.scores_[::-1], ranker.scores_)


def test_it_is_a_ranker_for_ensembles_by_name(shap: Any) -> None:
    data, target = load_iris(return_X_y=True, as_frame=True)
    options = {"n_features_to_select": 2, "n_resamples": 2, "random_state": 0}
    chosen = ms.EnsembleSelector("shap", **options).fit(data, target).get_feature_names_out()
    assert set(chosen) == {"petal length (cm)", "petal width (cm)"}


def test_a_model_without_trees_is_named(shap: Any) -> None:
    with pytest.raises(ms.InputError, match="LinearRegression"):
        ShapImportance(LinearRegression()).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
