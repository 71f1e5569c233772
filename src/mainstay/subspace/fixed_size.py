"""Random subspaces of a fixed size, chosen by cross-validation: the classic baseline.

scikit-learn's bagging does the work: every model gets a bootstrap sample and K random features.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.ensemble import BaggingClassifier, BaggingRegressor
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from mainstay._validation import InputError, check_count, natural_order

_PARAMETERS = """Parameters
    ----------
    estimator : scikit-learn estimator, optional
        The base model; by default five nearest neighbours.
    n_estimators : int
        Models per ensemble.
    max_features : sequence of int, optional
        Candidates for K. By default 1, M/100, M/50, M/20, M/10, M/5, M/3, M/2, √M and M, as in
        Huynh-Thu and Geurts (2021), where M is the number of features.
    cv : int or scikit-learn splitter
        Number of shuffled folds by which K is chosen.
    scoring : str or callable, optional
        What K should maximise; by default accuracy, or minus the mean squared error.
    random_state : int, optional
        Seed of folds, subspaces and bootstrap samples.
    n_jobs : int, optional
        Number of cores.

    Attributes
    ----------
    n_features_per_model_ : int
        The K chosen.
    scores_ : dict of int to float
        Cross-validated score of every candidate.
    ensemble_ : BaggingClassifier or BaggingRegressor
        The ensemble with that K, trained on all rows.

    References
    ----------
    Ho, T. K. (1998). The random subspace method for constructing decision forests. IEEE PAMI 20,
    832–844. Panov, P. and Džeroski, S. (2007). Combining bagging and random subspaces to create
    better ensembles."""


class _RandomSubspaceCV(BaseEstimator):  # type: ignore[misc]
    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 100,
        max_features: Sequence[int] | None = None,
        cv: Any = 10,
        scoring: Any = None,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.cv = cv
        self.scoring = scoring
        self.random_state = random_state
        self.n_jobs = n_jobs

    @abstractmethod
    def _bagging(self) -> Any:
        """Make the ensemble, with the default base model if none is given."""

    @abstractmethod
    def _folds(self, n_folds: int, y: np.ndarray) -> Any:
        """Make shuffled folds."""

    def fit(self, X: Any, y: Any) -> Self:
        """Choose K and train the ensemble.

        Parameters
        ----------
        X : array or DataFrame of shape (n, p)
            The features; they are standardised.
        y : array of shape (n,)
            The target.
        """
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        y = self._checked_target(y)
        names = getattr(self, "feature_names_in_", None)
        # bagging draws features by position: sorted by name, shuffled columns change nothing
        self._order = np.arange(X.shape[1]) if names is None else natural_order(list(names))
        self._scaler = StandardScaler().fit(X)
        values = self._scaler.transform(X)[:, self._order]
        candidates = self._candidates(X.shape[1])
        cv = self.cv
        if isinstance(cv, int | np.integer):
            cv = self._folds(check_count("cv, the number of folds,", cv, 2, len(y)), y)
        bagging = self._bagging().set_params(
            n_estimators=check_count("n_estimators", self.n_estimators, 1),
            random_state=self.random_state,
        )
        search = GridSearchCV(
            bagging,
            {"max_features": candidates},
            scoring=self.scoring or self._scoring,
            cv=cv,
            n_jobs=self.n_jobs,
        ).fit(values, y)
        means = search.cv_results_["mean_test_score"]
        self.scores_ = dict(zip(candidates, map(float, means), strict=True))
        self.n_features_per_model_ = int(search.best_params_["max_features"])
        self.ensemble_ = search.best_estimator_
        return self

    _scoring: str

    def _checked_target(self, y: np.ndarray) -> np.ndarray:
        return y

    def _candidates(self, n_features: int) -> list[int]:
        if self.max_features is None:
            shares = [n_features / part for part in (100, 50, 20, 10, 5, 3, 2, 1)]
            sizes = [1, math.sqrt(n_features), *shares]
            return sorted({max(1, round(size)) for size in sizes})
        sizes = list(self.max_features)
        if not sizes:
            raise InputError("max_features is empty; give at least one number of features.")
        return sorted({check_count("max_features", size, 1, n_features) for size in sizes})

    def _prepared(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "ensemble_")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(self._scaler.transform(X)[:, self._order])

    def predict(self, X: Any) -> np.ndarray:
        """Predict with the ensemble."""
        values = self._prepared(X)
        return np.asarray(self.ensemble_.predict(values))


class RandomSubspaceClassifierCV(ClassifierMixin, _RandomSubspaceCV):  # type: ignore[misc]  # noqa: D101
    __doc__ = f"""Bagged classifiers on K random features each; K chosen by cross-validation.

    {_PARAMETERS}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import mainstay as ms
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ms.RandomSubspaceClassifierCV(n_estimators=10, cv=3, random_state=0).fit(X, y)
    >>> sorted(model.scores_), bool(model.score(X, y) > 0.9)
    ([1, 2, 4], True)
    """

    _scoring = "accuracy"

    def _bagging(self) -> Any:
        from sklearn.neighbors import KNeighborsClassifier

        base = KNeighborsClassifier() if self.estimator is None else clone(self.estimator)
        return BaggingClassifier(base)

    def _folds(self, n_folds: int, y: np.ndarray) -> Any:
        rarest = int(np.unique(y, return_counts=True)[1].min())
        splitter = StratifiedKFold if rarest >= n_folds else KFold
        return splitter(n_folds, shuffle=True, random_state=self.random_state)

    def _checked_target(self, y: np.ndarray) -> np.ndarray:
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise InputError(
                f"y has one class only, {str(y[0])!r}; a classifier needs at least two."
            )
        return y

    def predict_proba(self, X: Any) -> np.ndarray:
        """Average probability of each class over the models."""
        values = self._prepared(X)
        return np.asarray(self.ensemble_.predict_proba(values))


class RandomSubspaceRegressorCV(RegressorMixin, _RandomSubspaceCV):  # type: ignore[misc]  # noqa: D101
    __doc__ = f"""Bagged regressors on K random features each; K chosen by cross-validation.

    {_PARAMETERS}

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> import mainstay as ms
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ms.RandomSubspaceRegressorCV(n_estimators=5, cv=3, random_state=0).fit(X, y)
    >>> model.n_features_per_model_ in model.scores_
    True
    """

    _scoring = "neg_mean_squared_error"

    def _bagging(self) -> Any:
        from sklearn.neighbors import KNeighborsRegressor

        base = KNeighborsRegressor() if self.estimator is None else clone(self.estimator)
        return BaggingRegressor(base)

    def _folds(self, n_folds: int, y: np.ndarray) -> Any:
        return KFold(n_folds, shuffle=True, random_state=self.random_state)

    def _checked_target(self, y: np.ndarray) -> np.ndarray:
        return np.asarray(y, dtype=float)
