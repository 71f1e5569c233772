"""Shapley values of trees as a ranker; the shap package is imported where it is used."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from mainstay._sklearn import FeatureScores, last_step, spread_out
from mainstay._validation import InputError
from mainstay.rankers.base import NamedRanker
from mainstay.rankers.importances import EstimatorImportance
from mainstay.rankers.inputs import read_target


class ShapImportance(EstimatorImportance):
    """Mean absolute Shapley value of the feature over the rows of the fit.

    s_j = (1/n) Σ_i abs(φ_ij), where φ_ij is the share of feature j in the prediction for row i, as
    `shap.TreeExplainer` computes it; with several classes, the mean over these. Needs the extra:
    `pip install 'mainstay[shap]'`.

    Parameters
    ----------
    estimator : tree, forest or boosting of trees, or {"random_forest", "extra_trees", "boosting"}
        May be the last step of a Pipeline. By default a random forest of 100 trees.
    target, random_state, reorder
        As for `EstimatorImportance`.

    References
    ----------
    Lundberg, S. M. et al. (2020). From local explanations to global understanding with explainable
    AI for trees. Nature Machine Intelligence 2, 56–67.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from mainstay.rankers import ShapImportance
    >>> X = [[0.0, 1], [0.1, 0], [0.9, 1], [1.0, 0]]
    >>> ranker = ShapImportance(DecisionTreeRegressor(max_depth=1, random_state=0))
    >>> ranker.fit(X, [0.0, 0.0, 1.0, 1.0]).scores_  # doctest: +SKIP
    array([0.5, 0. ])
    """

    def _model_scores(self, X: Any, y: Any, sample_weight: np.ndarray | None) -> FeatureScores:
        explain = _tree_explainer()
        model = self._copied(self.estimator, X, y)
        if isinstance(self.estimator, str):
            classes = read_target(y, len(y), self.target).codes
            y = y if classes is None else classes
        fitted = self._fitted(model, X, y, sample_weight)
        last, places = last_step(fitted, X.shape[1])
        seen = fitted[:-1].transform(X) if isinstance(fitted, Pipeline) else X
        seen = np.asarray(seen.toarray() if hasattr(seen, "toarray") else seen, dtype=float)
        try:
            values = explain(last).shap_values(seen, check_additivity=False)
        except Exception as error:  # shap has no exception of its own for models it does not know
            raise InputError(
                f"shap.TreeExplainer could not explain {type(last).__name__}; ShapImportance needs "
                f"a tree, a forest or boosted trees. The error was: {error}"
            ) from error
        values = np.abs(np.asarray(values))
        scores = values.mean(axis=0) if values.ndim == 2 else values.mean(axis=(0, 2))
        return FeatureScores(spread_out(scores, places, X.shape[1], 0.0))


def _tree_explainer() -> Any:
    try:
        from shap import TreeExplainer
    except ImportError as error:
        raise InputError(
            "ranker 'shap' needs the shap package; install it with pip install 'mainstay[shap]'."
        ) from error
    return TreeExplainer


NAMED = {
    "shap": NamedRanker(
        ShapImportance,
        "model",
        "Mean absolute Shapley values in a random forest; needs the extra 'shap'.",
        reference="Lundberg et al. 2020",
    )
}
