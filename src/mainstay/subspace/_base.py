"""What the subspace classifier and regressor share: restarts, the final ensemble, checks."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from mainstay._parallel import Progress, n_cores, one_thread, run_tasks
from mainstay._validation import (
    InputError,
    RandomState,
    check_choice,
    check_count,
    check_fraction,
    check_random_state,
    check_weights,
    natural_order,
)
from mainstay.subspace.learners import (
    BaseModel,
    Folds,
    Learner,
    check_base_estimator,
    check_folds,
    make_learner,
)
from mainstay.subspace.losses import Loss, make_loss
from mainstay.subspace.optimisation import Learned, Settings, learn_probabilities

_BLOCK = 10
_STEP = {"self_normalized": 1e-2, "plain": 1e-3}


class ParametricSubspace(BaseEstimator):  # type: ignore[misc]
    """What the classifier and the regressor share."""

    _classification: bool
    _n_classes: int

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 100,
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
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.loss = loss
        self.regularization = regularization
        self.cv = cv
        self.n_references = n_references
        self.weights = weights
        self.n_restarts = n_restarts
        self.restart_rule = restart_rule
        self.initial_probability = initial_probability
        self.learning_rate = learning_rate
        self.max_stages = max_stages
        self.tolerance = tolerance
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    @property
    def _soft(self) -> bool:
        """Whether probabilities of classes are averaged, not votes."""
        return False

    @abstractmethod
    def _default_estimator(self) -> Any:
        """Make the base estimator of `estimator=None`."""

    @abstractmethod
    def _read_target(self, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        """Turn the target into class codes or standardised numbers."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the selection probabilities, and train the ensemble that they describe.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, p)
            The features.
        y : array of shape (n,)
            The target.
        sample_weight : array of shape (n,), optional
            Row weights: chances in the bootstrap samples, and weights in the objective.
        """
        base = self._base_estimator()
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse=self._accept_sparse(),
            dtype=np.float64,
            ensure_all_finite="allow-nan",
            ensure_min_samples=2,
        )
        self._refuse_missing(X)
        weight = check_weights(sample_weight, len(y))
        settings, loss = self._settings(), make_loss(self.loss, classification=self._classification)
        cv = check_folds(self.cv, len(y))
        n_restarts = check_count("n_restarts", self.n_restarts, 1)
        check_choice("restart_rule", self.restart_rule, ["mean", "lowest_objective"])
        regularization = _not_negative("regularization", self.regularization)
        rng = check_random_state(self.random_state)
        target = self._read_target(y, weight)
        self._scaler = StandardScaler(with_mean=not hasattr(X, "toarray"))
        X = self._scaler.fit_transform(X, sample_weight=weight)

        names = getattr(self, "feature_names_in_", None)
        # columns are taken in an order of their names, so that shuffling them changes nothing
        order = np.arange(X.shape[1]) if names is None else natural_order([str(n) for n in names])
        labels = None if names is None else tuple(str(names[j]) for j in order)
        model = BaseModel(
            base, X[:, order], target, self._classification, self._n_classes, weight, labels
        )
        starts = self._starts(n_restarts, order)
        seeds = rng.integers(2**63, size=n_restarts)
        learned = self._learn(model, cv, loss, regularization, settings, starts, seeds)
        self._store(learned, order)
        self._train(model, order, rng)
        return self

    # ------------------------------------------------------------------ learning

    def _learn(
        self,
        model: BaseModel,
        cv: Folds,
        loss: Loss,
        regularization: float,
        settings: Settings,
        starts: np.ndarray,
        seeds: np.ndarray,
    ) -> list[Learned]:
        spread_restarts = len(seeds) > 1  # over the cores; else the models of the only restart
        # every restart makes its own learner: compiled code cannot be sent to other processes
        make = partial(
            make_learner,
            model.estimator,
            model.X,
            model.y,
            classification=self._classification,
            n_classes=self._n_classes,
            cv=cv,
            sample_weight=model.sample_weight,
            soft=self._soft,
            names=model.names,
            n_jobs=1 if spread_restarts else self.n_jobs,
        )
        target = np.ones(len(model.y)) if self._soft else model.y
        options = {
            "classes": self._classification and not self._soft,
            "sample_weight": model.sample_weight,
            "regularization": regularization,
        }
        tasks = [
            (make, target, loss, start, settings, int(seed), options)
            for start, seed in zip(starts, seeds, strict=True)
        ]
        return run_tasks(
            _restart,
            tasks,
            n_jobs=self.n_jobs if spread_restarts else 1,
            progress=self.progress,
            description="restarts",
        )

    def _starts(self, n_restarts: int, order: np.ndarray) -> np.ndarray:
        """Return the probabilities that each restart begins with."""
        n_features = len(order)
        if self.initial_probability == "auto":
            # on average, at least five models per feature and two features per model
            first = min(0.5, max(5 / self.n_estimators, 2 / n_features))
        else:
            first = check_fraction("initial_probability", self.initial_probability, closed=False)
        starts = np.full((n_restarts, n_features), first)
        before = getattr(self, "restart_probabilities_", None)
        if self.warm_start and before is not None:
            if before.shape[1] != n_features:
                raise InputError(
                    f"warm_start continues a fit to {before.shape[1]} features, but X has "
                    f"{n_features}; set warm_start=False."
                )
            kept = before[:n_restarts, order]
            starts[: len(kept)] = kept
        return starts

    def _store(self, learned: list[Learned], order: np.ndarray) -> None:
        probabilities = np.empty((len(learned), len(order)))
        probabilities[:, order] = [result.alpha for result in learned]
        self.restart_probabilities_ = probabilities
        ends = [_end(result.objective_path) for result in learned]
        self.best_restart_ = int(np.argmin(ends))
        if self.restart_rule == "mean":
            self.selection_probabilities_ = probabilities.mean(axis=0)
        else:
            self.selection_probabilities_ = probabilities[self.best_restart_].copy()
        self.objective_path_ = [result.objective_path for result in learned]
        self.effective_size_path_ = [result.effective_size_path for result in learned]
        self.n_models_trained_ = sum(result.n_models_trained for result in learned)
        self.converged_ = all(result.converged for result in learned)
        self.restart_agreement_ = _agreement(probabilities)
        if not self.converged_:
            n_stopped = sum(not result.converged for result in learned)
            warnings.warn(
                f"{n_stopped} of {len(learned)} restarts stopped after "
                f"max_stages={self.max_stages} stages, before the loss had settled: "
                "probabilities may still be far from their final values. Raise max_stages.",
                ConvergenceWarning,
                stacklevel=3,
            )

    @property
    def feature_importances_(self) -> np.ndarray:
        """The selection probabilities."""
        check_is_fitted(self, "selection_probabilities_")
        return np.asarray(self.selection_probabilities_)

    # ------------------------------------------------------------------ the final ensemble

    def _train(self, model: BaseModel, order: np.ndarray, rng: np.random.Generator) -> None:
        drawn = rng.random((self.n_estimators, len(order))) < self.selection_probabilities_[order]
        subsets = [np.flatnonzero(row) for row in drawn]
        seeds = rng.integers(2**32, size=self.n_estimators).tolist()
        blocks = np.array_split(np.arange(self.n_estimators), n_cores(self.n_jobs))
        tasks = [
            (model, [subsets[t] for t in block], [seeds[t] for t in block])
            for block in blocks
            if len(block)
        ]
        trained = run_tasks(_train_block, tasks, n_jobs=self.n_jobs, progress=False)
        self.estimators_ = [estimator for block in trained for estimator in block]
        self.estimators_features_ = [order[subset] for subset in subsets]

    def _average(self, X: Any, predict: Callable[..., np.ndarray]) -> np.ndarray:
        """Average `predict(estimator, X)` over the ensemble."""
        check_is_fitted(self, "estimators_")
        X = validate_data(
            self, X, accept_sparse=self._accept_sparse(), dtype=np.float64, reset=False
        )
        X = self._scaler.transform(X)
        pairs = list(zip(self.estimators_, self.estimators_features_, strict=True))
        # blocks do not depend on the number of cores, so that sums do not either
        blocks = [pairs[t : t + _BLOCK] for t in range(0, len(pairs), _BLOCK)]
        tasks = [(block, X, predict) for block in blocks]
        sums = run_tasks(_predict_block, tasks, n_jobs=self.n_jobs, progress=False)
        return np.asarray(sum(sums) / len(pairs))

    # ------------------------------------------------------------------ checks

    def _base_estimator(self) -> Any:
        base = self._default_estimator() if self.estimator is None else self.estimator
        return check_base_estimator(base, classification=self._classification)

    def _accept_sparse(self) -> str | bool:
        return "csr" if get_tags(self).input_tags.sparse else False

    def _refuse_missing(self, X: Any) -> None:
        values = X.data if hasattr(X, "toarray") else X
        if not np.isnan(values).any():
            return
        where = ""
        if not hasattr(X, "toarray"):
            row, column = np.argwhere(np.isnan(X))[0]
            names = getattr(self, "feature_names_in_", None)
            name = column if names is None else repr(str(names[column]))
            where = f", the first in row {row} of feature {name}"
        raise InputError(
            f"X contains NaN{where}; impute the missing values first, for instance with "
            "sklearn.impute.SimpleImputer."
        )

    def _settings(self) -> Settings:
        weights = check_choice("weights", self.weights, _STEP)
        n_models = check_count("n_estimators", self.n_estimators, 2)
        rate = self.learning_rate
        if rate == "auto":
            rate = _STEP[weights]
        return Settings(
            n_models=n_models,
            n_references=min(n_models, check_count("n_references", self.n_references, 1)),
            self_normalized=weights == "self_normalized",
            learning_rate=_not_negative("learning_rate", rate),
            max_stages=check_count("max_stages", self.max_stages, 1),
            tolerance=_not_negative("tolerance", self.tolerance),
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        base = self._default_estimator() if self.estimator is None else self.estimator
        if hasattr(base, "__sklearn_tags__") and not isinstance(base, type):
            tags.input_tags.sparse = get_tags(base).input_tags.sparse
        return tags


def _restart(
    make: Callable[[], Learner],
    target: np.ndarray,
    loss: Loss,
    alpha: np.ndarray,
    settings: Settings,
    seed: int,
    options: dict[str, Any],
) -> Learned:
    with one_thread():
        return learn_probabilities(make(), target, loss, alpha, settings, seed, **options)


def _train_block(model: BaseModel, subsets: list[np.ndarray], seeds: list[int]) -> list[Any]:
    with one_thread():
        return [model.train(subset, seed) for subset, seed in zip(subsets, seeds, strict=True)]


def _predict_block(
    pairs: list[tuple[Any, np.ndarray]], X: Any, predict: Callable[..., np.ndarray]
) -> np.ndarray:
    with one_thread():
        return np.asarray(sum(predict(estimator, X[:, features]) for estimator, features in pairs))


def _end(objective_path: np.ndarray) -> float:
    """Mean objective of the stages over which a restart's probabilities are averaged."""
    n_stages = len(objective_path)
    return float(np.mean(objective_path[-min(Settings.window, max(1, n_stages // 2)) :]))


def _agreement(probabilities: np.ndarray) -> float | None:
    """Mean Jaccard index of the restarts' best features, as many as a model uses on average."""
    if len(probabilities) < 2:
        return None
    k = max(1, round(float(probabilities.mean(axis=0).sum())))
    best = np.argsort(-probabilities, axis=1, kind="stable")[:, :k]
    chosen = np.zeros(probabilities.shape)
    np.put_along_axis(chosen, best, 1.0, axis=1)
    chosen *= probabilities > 0
    first, second = np.triu_indices(len(probabilities), 1)
    common = (chosen[first] * chosen[second]).sum(axis=1)
    either = np.maximum(chosen[first], chosen[second]).sum(axis=1)
    # two restarts that use no features at all agree perfectly
    return float(np.divide(common, either, out=np.ones(len(common)), where=either > 0).mean())


def _not_negative(what: str, value: object) -> float:
    if isinstance(value, int | float | np.number) and not isinstance(value, bool):
        number = float(value)
        if 0 <= number < np.inf:
            return number
    raise InputError(f"{what} must be a number of at least 0, got {value!r}.")
