"""The methods that huynhthu2021 compares: train on one part, test on the other, rank the features.

A method is named by what it is and its base model: "prsb-knn", "rsb-tree", "single-svm", "eda-knn",
"rf", "gbdt". `measure` returns plain numbers, which are kept as JSON.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.metrics import average_precision_score
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import mainstay as ms
from mainstay.rankers import EvolutionRanker
from mainstay.subspace.fixed_size import RandomSubspaceClassifierCV, RandomSubspaceRegressorCV

BASES = {
    "tree": (DecisionTreeRegressor(), DecisionTreeClassifier()),
    "knn": (KNeighborsRegressor(), KNeighborsClassifier()),
    "svm": (SVR(), SVC()),
}


N_MODELS = 100
STEPS = ("0.0001", "0.001", "0.01")  # lengths of gradient steps; the last is mainstay's


@dataclass(frozen=True, eq=False)
class Task:
    """Rows to learn from, rows to be tested on, and which features are relevant."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    relevant: np.ndarray
    classification: bool
    seed: int

    def error(self, predicted: np.ndarray) -> float:
        """Misclassification rate, or mean square error."""
        if self.classification:
            return float(np.mean(predicted != self.y_test))
        return float(np.mean((predicted - self.y_test) ** 2))

    def aupr(self, importances: np.ndarray) -> float:
        """Average precision with which importances find the relevant features."""
        truth = np.zeros(self.X.shape[1])
        truth[self.relevant] = 1
        return float(average_precision_score(truth, importances))


@dataclass(frozen=True)
class Effort:
    """How much each method may cost.

    Attributes
    ----------
    cv : int or "oob"
        Held-out predictions of parametric subspaces and EDA.
    restarts : int
        Restarts of parametric subspaces; EDA has one.
    stages : int
        Most stages of a restart.
    folds : int
        Folds by which the baselines' parameters are chosen.
    search_models : int
        Models of RSB and RF while K is chosen; the ensembles that are tested have `N_MODELS`.
    shares : tuple of int
        K of RSB and RF: M divided by these, and 1 and √M.
    depths : tuple of int
        Of the trees in boosting.
    """

    cv: Any
    restarts: int
    stages: int
    folds: int
    search_models: int
    shares: tuple[int, ...]
    depths: tuple[int, ...]

    def sizes(self, n_features: int) -> list[int]:
        """Candidates for K."""
        found = [1.0, n_features**0.5, *(n_features / share for share in self.shares)]
        return sorted({max(1, round(size)) for size in found})


def measure(method: str, task: Task, effort: Effort) -> dict[str, Any]:
    """Run one method on one task."""
    kind, _, base = method.partition("-")
    estimator = BASES[base][task.classification] if base else None
    started = time.process_time()
    found = _METHODS[kind](task, effort, estimator)
    return found | {"seconds": time.process_time() - started}


def _single(task: Task, effort: Effort, estimator: Any) -> dict[str, Any]:
    if "random_state" in estimator.get_params():
        estimator = clone(estimator).set_params(random_state=task.seed)
    model = make_pipeline(StandardScaler(), estimator).fit(task.X, task.y)
    return {"error": task.error(model.predict(task.X_test))}


def _rsb(task: Task, effort: Effort, estimator: Any) -> dict[str, Any]:
    kind = RandomSubspaceClassifierCV if task.classification else RandomSubspaceRegressorCV
    chosen = kind(
        estimator,
        n_estimators=effort.search_models,
        max_features=effort.sizes(task.X.shape[1]),
        cv=effort.folds,
        random_state=task.seed,
    ).fit(task.X, task.y)
    model: Any = chosen
    if effort.search_models < N_MODELS:
        large = clone(chosen.ensemble_).set_params(n_estimators=N_MODELS)
        model = make_pipeline(StandardScaler(), large).fit(task.X, task.y)
    error = task.error(model.predict(task.X_test))
    return {"error": error, "size": float(chosen.n_features_per_model_)}


def _forest(task: Task, effort: Effort, _: Any) -> dict[str, Any]:
    kind = RandomForestClassifier if task.classification else RandomForestRegressor
    sizes = effort.sizes(task.X.shape[1])
    small = kind(effort.search_models, random_state=task.seed)
    model = _tuned(task, effort, small, {"max_features": sizes})
    if effort.search_models < N_MODELS:
        model = clone(model).set_params(n_estimators=N_MODELS).fit(task.X, task.y)
    return _of_trees(task, model)


def _boosting(
    task: Task, effort: Effort, _: Any, more_depths: tuple[int, ...] = ()
) -> dict[str, Any]:
    kind = GradientBoostingClassifier if task.classification else GradientBoostingRegressor
    grid = {"max_depth": sorted({*effort.depths, *more_depths})}
    return _of_trees(task, _tuned(task, effort, kind(random_state=task.seed), grid))


def _tuned(task: Task, effort: Effort, model: Any, grid: dict[str, list[int]]) -> Any:
    scoring = "accuracy" if task.classification else "neg_mean_squared_error"
    folds = KFold(effort.folds, shuffle=True, random_state=task.seed)
    return GridSearchCV(model, grid, scoring=scoring, cv=folds).fit(task.X, task.y).best_estimator_


def _of_trees(task: Task, model: Any) -> dict[str, Any]:
    return {
        "error": task.error(model.predict(task.X_test)),
        "aupr": task.aupr(model.feature_importances_),
    }


def _evolution(task: Task, effort: Effort, estimator: Any) -> dict[str, Any]:
    ranker = EvolutionRanker(
        estimator, n_restarts=1, cv=effort.cv, random_state=task.seed, progress=False
    ).fit(task.X, task.y)
    return {"aupr": task.aupr(ranker.scores_)}


def _parametric(
    task: Task, effort: Effort, estimator: Any, n_references: int = 10, lowest_of: int = 0,
    step: float | str = "auto",
) -> dict[str, Any]:  # fmt: skip
    kind = ms.ParametricSubspaceClassifier
    model = (kind if task.classification else ms.ParametricSubspaceRegressor)(
        estimator,
        cv=effort.cv,
        n_references=n_references,
        n_restarts=lowest_of or effort.restarts,
        restart_rule="lowest_objective" if lowest_of else "mean",
        learning_rate=step,
        max_stages=effort.stages,
        random_state=task.seed,
        n_jobs=1,
        progress=False,
    ).fit(task.X, task.y)
    ends = [float(path[-50:].mean()) for path in model.objective_path_]
    singles = [task.aupr(alpha) for alpha in model.restart_probabilities_]
    return {
        "error": task.error(model.predict(task.X_test)),
        "aupr": task.aupr(model.selection_probabilities_),
        "size": float(model.selection_probabilities_.sum()),
        "aupr_of_restarts": singles,
        "aupr_single": float(np.mean(singles)),
        "aupr_of_mean": task.aupr(model.restart_probabilities_.mean(axis=0)),
        "aupr_of_lowest_objective": singles[int(np.argmin(ends))],
        "objectives": ends,
        "agreement": model.restart_agreement_,
        "n_models": model.n_models_trained_ / len(ends),
        "n_stages": [len(path) for path in model.objective_path_],
    }


_METHODS = {
    "single": _single,
    "rsb": _rsb,
    "rf": _forest,
    "gbdt": _boosting,
    "gbdt2": partial(_boosting, more_depths=(2,)),
    "eda": _evolution,
    "prsb": _parametric,
    "prsb1": partial(_parametric, n_references=1),
    "prsb10": _parametric,
    "prsb20": partial(_parametric, lowest_of=20),
    **{f"step{step}": partial(_parametric, step=float(step)) for step in STEPS},
    "end": _parametric,
}
