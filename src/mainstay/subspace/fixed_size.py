"""Random subspaces of a fixed size, chosen by cross-validation: the classic baseline.

scikit-learn's bagging does the work: every model gets a bootstrap sample and K random features.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.ensemble import BaggingClassifier, BaggingRegressor
from sklearn.metrics import get_scorer_names
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, check_cv
from sklearn.preprocessing import StandardScaler
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from mainstay._parallel import check_n_jobs
from mainstay._validation import (
    InputError,
    check_choice,
    check_count,
    natural_order,
    share_or_number,
)
from mainstay.subspace.learners import check_base_estimator

_PARAMETERS = """Parameters
    ----------
    estimator : scikit-learn estimator, optional
        The base model, a classifier or regressor as the ensemble; by default five nearest
        neighbours.
    n_estimators : int
        Models per ensemble.
    max_features : int, float or sequence of these, optional
        Candidates for K: numbers, or shares of all features (rounded up). By default 1, M/100,
        M/50, M/20, M/10, M/5, M/3, M/2, √M and M, as in Huynh-Thu and Geurts (2021), where M is the
        number of features.
    cv : int or scikit-learn splitter
        Number of shuffled folds by which K is chosen, or a splitter; None for scikit-learn's five
        folds in the order of the rows.
    scoring : str or callable, optional
        What K should maximise, any score of scikit-learn; by default accuracy, or minus the mean
        squared error.
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
        max_features: int | float | Sequence[int | float] | None = None,
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
        bagging, scoring = self._checked_bagging(), self._checked_scoring()
        check_n_jobs(self.n_jobs)
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        y = self._checked_target(y)
        names = getattr(self, "feature_names_in_", None)
        # bagging draws features by position: sorted by name, shuffled columns change nothing
        self._order = np.arange(X.shape[1]) if names is None else natural_order(list(names))
        self._scaler = StandardScaler().fit(X)
        values = self._scaler.transform(X)[:, self._order]
        candidates = self._candidates(X.shape[1])
        search = GridSearchCV(
            bagging,
            {"max_features": candidates},
            scoring=scoring,
            cv=self._splits(values, y),
            n_jobs=self.n_jobs,
        )
        try:
            search.fit(values, y)
        except (ValueError, TypeError, AttributeError) as error:
            reason = (str(error).strip() or repr(error)).splitlines()[-1]  # the rest is a traceback
            raise InputError(
                f"an ensemble of {bagging.estimator!r} could not be fitted and scored: {reason}"
            ) from error
        means = search.cv_results_["mean_test_score"]
        if not np.isfinite(means).any():
            raise InputError(
                f"scoring {scoring!r} of an ensemble of {bagging.estimator!r} gave no number for "
                "any of the max_features; take another scoring or larger test parts (cv)."
            )
        self.scores_ = dict(zip(candidates, map(float, means), strict=True))
        self.n_features_per_model_ = int(search.best_params_["max_features"])
        self.ensemble_ = search.best_estimator_
        return self

    _classification: bool
    _scoring: str

    def _checked_target(self, y: np.ndarray) -> np.ndarray:
        return y

    def _checked_bagging(self) -> Any:
        if self.estimator is not None:
            check_base_estimator(self.estimator, classification=self._classification)
        seed = self.random_state
        if seed is not None and not isinstance(seed, np.random.RandomState):
            seed = check_count("random_state", seed, 0, 2**32 - 1)
        n_estimators = check_count("n_estimators", self.n_estimators, 1)
        return self._bagging().set_params(n_estimators=n_estimators, random_state=seed)

    def _checked_scoring(self) -> Any:
        if self.scoring is None:
            return self._scoring
        if callable(self.scoring):
            return self.scoring
        return check_choice("scoring", self.scoring, get_scorer_names())

    def _splits(self, values: np.ndarray, y: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """Rows of the training and the test parts."""
        cv = self.cv
        if isinstance(cv, int | np.integer):
            cv = self._folds(check_count("cv, the number of folds,", cv, 2, len(y)), y)
        known = cv is None or hasattr(cv, "split") or isinstance(cv, Iterable)
        if isinstance(cv, str) or not known:
            raise InputError(f"cv must be a number of folds or a splitter, got {self.cv!r}.")
        splitter = check_cv(cv, y, classifier=self._classification)
        try:
            return [(train, test) for train, test in splitter.split(values, y)]
        except (ValueError, TypeError) as error:
            raise InputError(
                f"cv={cv!r} cannot split these {len(y)} rows: {error} (A splitter that needs more "
                "than X and y can be given as a list of its training and test rows.)"
            ) from error

    def _candidates(self, n_features: int) -> list[int]:
        if self.max_features is None:
            shares = [n_features / part for part in (100, 50, 20, 10, 5, 3, 2, 1)]
            usual = [1, math.sqrt(n_features), *shares]
            return sorted({max(1, round(size)) for size in usual})
        given: Any = self.max_features
        if isinstance(given, np.ndarray):
            given = given.tolist()
        if isinstance(given, str) or not isinstance(given, Iterable | Real):
            raise InputError(
                "max_features must be a number or a share of features, a list of these, or None, "
                f"got {given!r}."
            )
        sizes: list[Any] = list(given) if isinstance(given, Iterable) else [given]
        if not sizes:
            raise InputError("max_features is empty; give at least one number of features.")
        return sorted({share_or_number("max_features", size, n_features) for size in sizes})

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

    _classification = True
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

    _classification = False
    _scoring = "neg_mean_squared_error"

    def _bagging(self) -> Any:
        from sklearn.neighbors import KNeighborsRegressor

        base = KNeighborsRegressor() if self.estimator is None else clone(self.estimator)
        return BaggingRegressor(base)

    def _folds(self, n_folds: int, y: np.ndarray) -> Any:
        return KFold(n_folds, shuffle=True, random_state=self.random_state)

    def _checked_target(self, y: np.ndarray) -> np.ndarray:
        try:
            return np.asarray(y, dtype=float)
        except (TypeError, ValueError):
            raise InputError(
                f"y must be numbers, got {str(y[0])!r}; use RandomSubspaceClassifierCV for classes."
            ) from None
