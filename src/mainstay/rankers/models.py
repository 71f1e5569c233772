"""Models that have a name: estimators that suit the data and the task."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone

from mainstay._validation import InputError, check_choice
from mainstay.rankers.inputs import Table

_FOREST_TREES = 100
_EXTRA_TREES = 5  # per run: 500 in an ensemble of 100
_BOOSTING: dict[str, Any] = {  # small trees, and leaves that tables of 50 rows can fill
    "n_estimators": 100,
    "learning_rate": 0.1,
    "max_depth": 3,
    "colsample_bytree": 0.5,
    "n_jobs": 1,
}
_ROWS_OF_LEAF = 5


def random_forest(X: Any, task: str) -> Any:
    """Make a random forest of 100 trees."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    classes = task == "classification"
    return (RandomForestClassifier if classes else RandomForestRegressor)(_FOREST_TREES)


def extra_trees(X: Any, task: str) -> Any:
    """Make a small forest of extremely randomised trees."""
    from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

    classes = task == "classification"
    return (ExtraTreesClassifier if classes else ExtraTreesRegressor)(_EXTRA_TREES)


def default_estimator(X: Any, task: str) -> Any:
    """Make a linear model on standardised features; means stand in for missing values.

    Parameters
    ----------
    X : array, sparse matrix, pandas or polars DataFrame
        The features: sparse ones are not centred, and those with gaps are filled in.
    task : {"classification", "regression"}
        Logistic or ridge regression.

    Examples
    --------
    >>> default_estimator(np.eye(3), "regression")[-1]
    Ridge()
    """
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    imputer = [SimpleImputer(keep_empty_features=True)] if has_gaps(X) else []
    model = LogisticRegression(max_iter=1000) if task == "classification" else Ridge()
    return make_pipeline(*imputer, StandardScaler(with_mean=not hasattr(X, "toarray")), model)


def boosting(X: Any, task: str) -> Any:
    """Make gradient-boosted trees: LightGBM's, or XGBoost's where LightGBM is not installed.

    100 trees of depth 3 on half of the features each, drawn by `random_state`. Importances are the
    total gain of the splits on a feature. Gaps are left to the trees.
    """
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    model = _lightgbm(task) or _xgboost(task)
    if model is None:
        raise InputError(
            "ranker 'boosting' needs LightGBM (or XGBoost); install it with "
            "pip install 'mainstay[boost]'."
        )
    return make_pipeline(FunctionTransformer(_numbers), model)


def _lightgbm(task: str) -> Any:
    try:
        from lightgbm import LGBMClassifier, LGBMRegressor
    except ImportError:
        return None
    return (LGBMClassifier if task == "classification" else LGBMRegressor)(
        min_child_samples=_ROWS_OF_LEAF,
        importance_type="gain",
        deterministic=True,
        force_row_wise=True,
        verbosity=-1,
        **_BOOSTING,
    )


def _xgboost(task: str) -> Any:
    try:
        from xgboost import XGBClassifier, XGBRegressor
    except ImportError:
        return None
    return (XGBClassifier if task == "classification" else XGBRegressor)(
        tree_method="hist", importance_type="total_gain", **_BOOSTING
    )


def _numbers(X: Any) -> np.ndarray:
    """The numbers of any table, without its names, some of which LightGBM and XGBoost refuse."""
    return np.ascontiguousarray(Table(X).numbers("omit", "boosting").T)


MODELS: dict[str, Callable[[Any, str], Any]] = {
    "random_forest": random_forest,
    "extra_trees": extra_trees,
    "linear": default_estimator,
    "boosting": boosting,
}


def make_model(estimator: Any, X: Any, task: str) -> Any:
    """Make a model by its name (None: a random forest), or copy the estimator given."""
    if estimator is None:
        return random_forest(X, task)
    if isinstance(estimator, str):
        return MODELS[check_choice("estimator", estimator, MODELS)](X, task)
    return clone(estimator)


def has_gaps(X: Any) -> bool:
    """Tell whether values are missing."""
    import pandas as pd

    if hasattr(X, "toarray"):
        X = X.data
    return bool(np.any(pd.isna(X.to_numpy() if hasattr(X, "to_numpy") else X)))
