"""What stands between the optimiser and the base models: held-out predictions of many models.

A learner holds the data. Asked for T models, each given by its features and its seed, it answers
with T × N predictions in which no row was predicted by a model that had seen it. Everything random
in a model (folds, bootstrap samples, the base estimator's own draws) comes from that model's seed,
so that predictions depend neither on which models are trained together nor on the number of cores.

With `cv` = an integer, every model has its own shuffled folds, and every fold its own bootstrap
sample of the other rows. With `cv="oob"` a model is fitted once, to a bootstrap sample of all rows,
and predicts the rows that are not in it; the others are NaN. Row weights are the probabilities with
which bootstrap samples are drawn, so base estimators need not know about weights.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
from sklearn.utils import get_tags

from mainstay._parallel import n_cores, one_thread, run_tasks
from mainstay._sklearn import fresh_copy
from mainstay._sklearn import seed as set_seed
from mainstay._validation import InputError, check_count, some
from mainstay.subspace.compiled import fast_learner

Folds = int | Literal["oob"]


class Learner(Protocol):
    """Trains models on feature subsets and predicts the rows they have not seen."""

    def held_out(self, Z: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Train one model per row of Z and predict held-out rows.

        Parameters
        ----------
        Z : array of bool, T × M
            The features that each model uses.
        seeds : array of int, T
            One seed per model.

        Returns
        -------
        array of float, T × N
            Regression: numbers. Classification: class codes 0 … n_classes − 1 (or, with soft votes,
            the probability of a row's own class). NaN where the row was in the bag.
        """


@dataclass(frozen=True)
class ConstantModel:
    """The mean or the most frequent class of a bootstrap sample: a model without features."""

    value: float
    classes_: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def predict(self, X: Any) -> np.ndarray:
        """Predict the same for every row."""
        return np.full(X.shape[0], self.value)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Give all probability to one class."""
        return np.ones((X.shape[0], 1))


@dataclass(frozen=True, eq=False)
class BaseModel:
    """How one model is made: the base estimator, the data, and what to do without features."""

    estimator: Any
    X: Any
    y: np.ndarray
    classification: bool
    n_classes: int = 0
    sample_weight: np.ndarray | None = None
    names: tuple[str, ...] | None = None

    def bootstrap(self, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw as many of the rows as there are, with repetition, by weight."""
        if self.sample_weight is None:
            return rows[rng.integers(len(rows), size=len(rows))]
        weights = self.sample_weight[rows]
        total = weights.sum()
        return rng.choice(rows, size=len(rows), p=weights / total if total > 0 else None)

    def fit(self, rows: np.ndarray, features: np.ndarray, rng: np.random.Generator) -> Any:
        """Fit the base estimator to some rows and features; a constant where it cannot learn."""
        y = self.y[rows]
        if self.classification:
            counts = np.bincount(y, minlength=self.n_classes)
            if len(features) == 0 or np.count_nonzero(counts) == 1:
                winner = int(counts.argmax())
                return ConstantModel(winner, np.array([winner]))
        elif len(features) == 0:
            return ConstantModel(float(y.mean()))
        model = fresh_copy(self.estimator)
        set_seed(model, int(rng.integers(2**32)))
        return model.fit(self.X[rows][:, features], y)

    def train(self, features: np.ndarray, seed: int) -> Any:
        """Fit a model of the final ensemble, to a bootstrap sample of all rows."""
        rng = np.random.default_rng(seed)
        with self.reporting(features, seed):
            return self.fit(self.bootstrap(np.arange(len(self.y)), rng), features, rng)

    @contextmanager
    def reporting(self, features: np.ndarray, seed: int) -> Iterator[None]:
        """Name the features and the seed with which a base model failed."""
        try:
            with warnings.catch_warnings():
                # one of thousands of fits that has not converged is not worth a warning
                warnings.simplefilter("ignore")
                yield
        except Exception as error:
            listed = features.tolist() if self.names is None else [self.names[j] for j in features]
            raise InputError(
                f"the base model {self.estimator!r} failed on the features {some(listed, 20)} "
                f"(seed {seed}): {type(error).__name__}: {error}"
            ) from error


@dataclass(frozen=True, eq=False)
class GenericLearner:
    """Held-out predictions of any scikit-learn estimator, through its fit and predict."""

    base: BaseModel
    cv: Folds
    soft: bool = False
    n_jobs: int | None = None

    def held_out(self, Z: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Train one model per row of Z and predict held-out rows; see `Learner`."""
        n_blocks = min(len(Z), n_cores(self.n_jobs))
        tasks = [
            (self, Z[block], seeds[block])
            for block in np.array_split(np.arange(len(Z)), n_blocks)
            if len(block)
        ]
        n_jobs = self.n_jobs if len(tasks) > 1 else 1
        return np.concatenate(run_tasks(_block, tasks, n_jobs=n_jobs, progress=False))

    def one(self, features: np.ndarray, seed: int) -> np.ndarray:
        """Predictions of one model for its held-out rows."""
        rng = np.random.default_rng(seed)
        out = np.full(len(self.base.y), np.nan)
        for rows, held in self._splits(rng):
            if len(held):
                out[held] = self._predict(rows, held, features, rng)
        return out

    def _splits(self, rng: np.random.Generator) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Rows to train on (a bootstrap sample) and rows held out."""
        everything = np.arange(len(self.base.y))
        if self.cv == "oob":
            rows = self.base.bootstrap(everything, rng)
            yield rows, np.setdiff1d(everything, rows)
            return
        for held in np.array_split(rng.permutation(len(everything)), self.cv):
            yield self.base.bootstrap(np.setdiff1d(everything, held), rng), held

    def _predict(
        self, rows: np.ndarray, held: np.ndarray, features: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        model = self.base.fit(rows, features, rng)
        X = self.base.X[held][:, features]
        if not self.soft:
            return np.asarray(model.predict(X), dtype=float)
        own = np.asarray(model.classes_)[None, :] == self.base.y[held][:, None]
        return np.asarray((model.predict_proba(X) * own).sum(axis=1))


def _block(learner: GenericLearner, Z: np.ndarray, seeds: np.ndarray) -> np.ndarray:
    out = np.empty((len(Z), len(learner.base.y)))
    with one_thread():
        for t, (row, seed) in enumerate(zip(Z, seeds.tolist(), strict=True)):
            features = np.flatnonzero(row)
            with learner.base.reporting(features, seed):
                out[t] = learner.one(features, seed)
    return out


def check_folds(cv: object, n_rows: int) -> Folds:
    """Return "oob" or a number of folds that the rows allow."""
    if cv == "oob":
        return "oob"
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool) and cv > n_rows:
        raise InputError(
            f"cv={cv} folds need at least {cv} samples, but there are {n_rows}; use fewer folds or "
            "cv='oob'."
        )
    if isinstance(cv, str):
        raise InputError(f"cv must be a number of folds or 'oob', got {cv!r}.")
    return check_count("cv", cv, 2)


def check_base_estimator(estimator: Any, *, classification: bool) -> Any:
    """Return an estimator that can be cloned, fits, and predicts classes or else numbers."""
    missing = [name for name in ("fit", "predict", "get_params") if not hasattr(estimator, name)]
    wanted = "classifier" if classification else "regressor"
    such = f"KNeighbors{wanted.capitalize()}()"
    if missing or isinstance(estimator, type):
        what = "an instance, not a class" if isinstance(estimator, type) else missing[0]
        raise InputError(
            f"estimator needs {what}: got {estimator!r}; give a scikit-learn estimator with fit "
            f"and predict, such as {such}."
        )
    kind = get_tags(estimator).estimator_type if hasattr(estimator, "__sklearn_tags__") else None
    if kind not in (None, wanted):
        raise InputError(
            f"estimator must be a {wanted}, got {estimator!r}, a {str(kind).replace('_', ' ')}; "
            f"give one such as {such}."
        )
    return estimator


def make_learner(
    estimator: Any,
    X: Any,
    y: np.ndarray,
    *,
    classification: bool,
    n_classes: int = 0,
    cv: Folds = 10,
    sample_weight: np.ndarray | None = None,
    soft: bool = False,
    names: tuple[str, ...] | None = None,
    n_jobs: int | None = None,
) -> Learner:
    """Make the learner of a base estimator: compiled where there is a fast path, or generic.

    Parameters
    ----------
    estimator : scikit-learn estimator
        The base estimator; it is cloned for every model.
    X : array or sparse matrix, N × M
        The features, standardised.
    y : array of N
        Class codes (int) or numbers.
    classification : bool
        Whether y holds class codes.
    n_classes : int
        Number of classes.
    cv : int or "oob"
        Number of folds, or out-of-bag predictions.
    sample_weight : array of N, optional
        Row weights: probabilities of the bootstrap.
    soft : bool
        Classification: predict the probability of a row's class instead of voting.
    names : tuple of str, optional
        Feature names, for messages.
    n_jobs : int, optional
        Number of cores.
    """
    cv = check_folds(cv, len(y))
    fast = fast_learner(
        estimator,
        X,
        y,
        classification=classification,
        n_classes=n_classes,
        cv=cv,
        sample_weight=sample_weight,
        soft=soft,
        n_jobs=n_jobs,
    )
    if fast is not None:
        return fast
    base = BaseModel(estimator, X, y, classification, n_classes, sample_weight, names)
    return GenericLearner(base, cv, soft, n_jobs)
