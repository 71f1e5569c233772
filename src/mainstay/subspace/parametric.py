"""Random-subspace ensembles of any model that learn how often to use each feature."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from mainstay._parallel import Progress
from mainstay._validation import InputError, RandomState, check_choice
from mainstay.subspace._base import ParametricSubspace
from mainstay.subspace.learners import Folds

# the parts of the docstrings that both estimators share
_BASE = """estimator : scikit-learn estimator, optional
        The base model; 5 nearest neighbours by default. Nearest neighbours, trees and SVMs have
        compiled fast paths, anything else goes through `fit` and `predict`.
    n_estimators : int
        T, the number of models."""

_LEARNING = """regularization : float
        λ of a penalty λΣα: the larger, the fewer features.
    cv : int or "oob"
        Folds in which the models predict rows they have not seen, or "oob": every model is fitted
        once and predicts the rows outside its bootstrap sample, which is several times cheaper.
    n_references : int
        Q: a Q-th of the models is replaced per stage. 1 is slowest and most exact.
    weights : {"self_normalized", "plain"}
        Importance weights divided by their sum, or as in the paper; plain ones need a ten times
        smaller step.
    n_restarts : int
        Independent repetitions.
    restart_rule : {"mean", "lowest_objective"}
        Average the probabilities of the restarts, or take those of the restart with the lowest
        objective at its end. The paper takes the lowest of 20. On its four simulated problems the
        mean of 3 ranks features better than the lowest of 3 in 10 of 12 cases (three base models);
        with nearest neighbours it ranks better than the lowest of 20 on 2 of the 4, by more than
        two standard errors on 1 (10 data sets each).
    initial_probability : float or "auto"
        Where the probabilities start. "auto" is 5/T, so that a feature is in five models, or more
        where a model would have fewer than two features; at most 1/2.
    learning_rate : float or "auto"
        Factor of the gradient steps; "auto" is 0.01, and 0.001 for plain weights.
    max_stages, tolerance : int, float
        A restart ends when the mean objective of 50 stages has not fallen by a share of `tolerance`
        in the next 100 stages, or after `max_stages`.
    warm_start : bool
        Start from the probabilities of the previous fit; additional restarts start afresh.
    random_state : int, Generator or None
        Seed of everything.
    n_jobs : int, optional
        Number of cores; the result is the same for any number.
    progress : bool or "auto"
        Show a progress bar over restarts; "auto" on a terminal.

    Attributes
    ----------
    selection_probabilities_, feature_importances_ : array of shape (p,)
        α by the `restart_rule`: how often the ensemble uses each feature. Their sum is the
        average number of features of a model.
    restart_probabilities_ : array of shape (n_restarts, p)
        α of every restart, averaged over its last stages.
    best_restart_ : int
        Which restart has the lowest objective at its end.
    restart_agreement_ : float or None
        Mean Jaccard index between the best features of the restarts, as many as a model uses on
        average: how far a single restart can be trusted. None if there is only one.
    objective_path_, effective_size_path_ : list of arrays
        Per restart: loss of the averaged held-out prediction, and effective number of models, at
        the end of every stage.
    n_models_trained_ : int
        How many models were trained in all, each of them in all folds.
    converged_ : bool
        Whether all restarts ended before `max_stages`; if not, `fit` warns."""

_REMARKS = """n_features_in_, feature_names_in_
        The features seen in `fit`.

    Notes
    -----
    As `ranker` of an EnsembleSelector it is best run on subsamples (`resampling="subsample"`): in a
    bootstrap sample, copies of a row fall into several folds, so that rows that the models have
    seen count as held out.

    References
    ----------
    Huynh-Thu, V. A. and Geurts, P. (2021). Optimizing model-agnostic random subspace ensembles."""


class ParametricSubspaceClassifier(ClassifierMixin, ParametricSubspace):  # type: ignore[misc]  # noqa: D101
    __doc__ = f"""Random-subspace ensemble of any classifier that learns which features to use.

    Every model gets a bootstrap sample and a random subset of the features, which contains feature
    j with probability α_j. The ensemble's vote is E_α[f_z(x)], and α is learned by gradient descent
    on the loss of that vote for rows that the models have not seen:

        min_α (1/N) Σ_i L(y_i, E[f_z(x_i)]_{{p(z|α)}}) + λ Σ_j α_j,   0 ≤ α_j ≤ 1.

    Importance sampling lets α move many steps before models have to be replaced. Features are
    standardised internally.

    Parameters
    ----------
    {_BASE}
    voting : {{"hard", "soft"}}
        Average the models' votes, as in the paper, or their probabilities.
    loss : str or pair of callables
        "auto" (cross-entropy), "cross_entropy", "squared_error", "absolute_error", "huber", or
        two functions of (targets, averages) that return the loss of every row and its derivative
        with respect to the average. An average is the share of votes for a row's own class; its
        target is 1.
    {_LEARNING}
    estimators_, estimators_features_ : list
        The final models and the features each of them uses. They were fitted to standardised
        features and class codes.
    classes_ : array
        The classes.
    {_REMARKS}

    Examples
    --------
    >>> import mainstay as ms
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 30))
    >>> y = X[:, 0] + X[:, 1] + X[:, 2] > 0
    >>> model = ms.ParametricSubspaceClassifier(n_restarts=2, random_state=0)
    >>> np.flatnonzero(model.fit(X, y).selection_probabilities_ > 0.5)
    array([0, 1, 2])
    >>> model.restart_agreement_
    1.0
    """

    _classification = True

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 100,
        voting: str = "hard",
        loss: Any = "auto",
        regularization: float = 0.0,
        cv: Folds = 10,
        n_references: int = 10,
        weights: str = "self_normalized",
        n_restarts: int = 5,
        restart_rule: str = "mean",
        initial_probability: float | str = "auto",
        learning_rate: float | str = "auto",
        max_stages: int = 1000,
        tolerance: float = 1e-3,
        warm_start: bool = False,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        progress: Progress = "auto",
    ) -> None:
        super().__init__(
            estimator,
            n_estimators=n_estimators,
            loss=loss,
            regularization=regularization,
            cv=cv,
            n_references=n_references,
            weights=weights,
            n_restarts=n_restarts,
            restart_rule=restart_rule,
            initial_probability=initial_probability,
            learning_rate=learning_rate,
            max_stages=max_stages,
            tolerance=tolerance,
            warm_start=warm_start,
            random_state=random_state,
            n_jobs=n_jobs,
            progress=progress,
        )
        self.voting = voting

    @property
    def _soft(self) -> bool:
        return self.voting == "soft"

    def _default_estimator(self) -> Any:
        from sklearn.neighbors import KNeighborsClassifier

        return KNeighborsClassifier()

    def _read_target(self, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        check_classification_targets(y)
        used = y if weight is None else y[weight > 0]
        if len(np.unique(used)) < 2:
            raise InputError(
                f"y has one class only, {str(used[0])!r}; a classifier needs at least two classes."
            )
        self.classes_, codes = np.unique(y, return_inverse=True)
        self._n_classes = len(self.classes_)
        return codes.astype(np.int64)

    def _base_estimator(self) -> Any:
        base = super()._base_estimator()
        check_choice("voting", self.voting, ["hard", "soft"])
        if self._soft and not hasattr(base, "predict_proba"):
            raise InputError(f"voting='soft' needs predict_proba, which {base!r} does not have.")
        return base

    def predict_proba(self, X: Any) -> np.ndarray:
        """Share of the models that vote for each class (or their mean probabilities), n × classes.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, p)
            The features.
        """
        check_is_fitted(self, "estimators_")
        return self._average(X, partial(_class_shares, n_classes=self._n_classes, soft=self._soft))

    def predict(self, X: Any) -> np.ndarray:
        """Class that most models vote for; of tied classes, the first.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, p)
            The features.
        """
        winners = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[winners])


class ParametricSubspaceRegressor(RegressorMixin, ParametricSubspace):  # type: ignore[misc]  # noqa: D101
    __doc__ = f"""Random-subspace ensemble of any regressor that learns which features to use.

    Every model gets a bootstrap sample and a random subset of the features, which contains feature
    j with probability α_j. The ensemble predicts E_α[f_z(x)], and α is learned by gradient descent
    on the loss of that prediction for rows that the models have not seen:

        min_α (1/N) Σ_i L(y_i, E[f_z(x_i)]_{{p(z|α)}}) + λ Σ_j α_j,   0 ≤ α_j ≤ 1.

    Importance sampling lets α move many steps before models have to be replaced. Features and
    target are standardised internally.

    Parameters
    ----------
    {_BASE}
    loss : str or pair of callables
        "auto" (squared error), "squared_error", "absolute_error", "huber", or two functions of
        (targets, averages) that return the loss of every row and its derivative with respect to
        the average. Targets have mean 0 and variance 1.
    {_LEARNING}
    estimators_, estimators_features_ : list
        The final models and the features each of them uses. They were fitted to standardised
        features and a standardised target.
    {_REMARKS}

    Examples
    --------
    >>> import mainstay as ms
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 30))
    >>> y = X[:, 0] + X[:, 1] + X[:, 2]
    >>> model = ms.ParametricSubspaceRegressor(n_restarts=2, random_state=0)
    >>> np.flatnonzero(model.fit(X, y).selection_probabilities_ > 0.5)
    array([0, 1, 2])
    """

    _classification = False
    _n_classes = 0

    def _default_estimator(self) -> Any:
        from sklearn.neighbors import KNeighborsRegressor

        return KNeighborsRegressor()

    def _read_target(self, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        try:
            y = np.asarray(y, dtype=float)
        except (TypeError, ValueError):
            raise InputError(
                f"y must be numbers, got {y[0]!r}; use ParametricSubspaceClassifier for classes."
            ) from None
        used = y if weight is None else y[weight > 0]
        if used.min() == used.max():
            raise InputError(
                f"the target is constant ({used[0]:g} in every row): there is nothing to learn."
            )
        self._target_mean = float(np.average(y, weights=weight))
        self._target_scale = float(
            np.sqrt(np.average((y - self._target_mean) ** 2, weights=weight))
        )
        return (y - self._target_mean) / self._target_scale

    def predict(self, X: Any) -> np.ndarray:
        """Average prediction of the models.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, p)
            The features.
        """
        return self._average(X, _numbers) * self._target_scale + self._target_mean


def _numbers(estimator: Any, X: Any) -> np.ndarray:
    return np.asarray(estimator.predict(X), dtype=float).ravel()


def _class_shares(estimator: Any, X: Any, *, n_classes: int, soft: bool) -> np.ndarray:
    """Vote of one model as a table of 0 and 1, or its probabilities: rows × classes."""
    shares = np.zeros((X.shape[0], n_classes))
    if soft:
        shares[:, estimator.classes_] = estimator.predict_proba(X)
    else:
        shares[np.arange(len(shares)), np.asarray(estimator.predict(X), dtype=np.intp)] = 1.0
    return shares
