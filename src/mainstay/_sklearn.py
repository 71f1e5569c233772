"""What the wrappers of scikit-learn need to know: pipelines, searches, seeds, weights."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np

from mainstay._validation import InputError, check_count


def take_columns(X: Any, order: np.ndarray) -> Any:
    """Reorder the columns of any kind of table."""
    if hasattr(X, "iloc"):
        return X.iloc[:, order]
    if hasattr(X, "get_columns"):
        return X.select([X.columns[j] for j in order])
    return (X if hasattr(X, "shape") else np.asarray(X))[:, order]


def take_rows(data: Any, rows: np.ndarray) -> Any:
    """Pick rows of any kind of table or target."""
    if hasattr(data, "iloc"):
        return data.iloc[rows]
    return (data if hasattr(data, "shape") else np.asarray(data))[rows]


def seed(model: Any, random_state: int | None) -> None:
    """Set every `random_state` parameter within the model."""
    if random_state is None:
        return
    number = check_count("random_state", random_state, 0, 2**32 - 1)
    names = [name for name in model.get_params() if f"__{name}".endswith("__random_state")]
    model.set_params(**dict.fromkeys(names, number))


def weight_parameter(model: Any) -> str:
    """Return the name under which `model.fit` takes row weights."""
    inner, prefix = model, ""
    while hasattr(inner, "steps") or hasattr(inner, "best_estimator_") or _searches(inner):
        if hasattr(inner, "steps"):
            name, inner = inner.steps[-1]
            prefix += f"{name}__"
        else:
            inner = inner.estimator
    parameters = inspect.signature(inner.fit).parameters.values()
    if not any(p.name == "sample_weight" or p.kind is p.VAR_KEYWORD for p in parameters):
        raise InputError(f"{type(inner).__name__}.fit takes no sample_weight; resample the rows.")
    return f"{prefix}sample_weight"


def _searches(model: Any) -> bool:
    """Tell a search such as GridSearchCV: it refits an estimator that it holds."""
    return hasattr(model, "refit") and hasattr(model, "estimator") and hasattr(model, "cv")


@dataclass(frozen=True)
class Kept:
    """Which of the features that a Pipeline was given reach its last step."""

    places: np.ndarray
    n_features: int


def last_step(model: Any) -> tuple[Any, Kept | None]:
    """Find the fitted estimator within searches and pipelines, and which features reach it."""
    kept: Kept | None = None
    while True:
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif _searches(model):
            raise InputError(f"{type(model).__name__} has no best_estimator_; set refit=True.")
        elif hasattr(model, "steps"):
            for _, step in model.steps[:-1]:
                if hasattr(step, "get_support"):
                    support = np.asarray(step.get_support())
                    before = kept or Kept(np.arange(len(support)), len(support))
                    kept = Kept(before.places[support], before.n_features)
            model = model.steps[-1][1]
        else:
            return model, kept


def spread_out(scores: np.ndarray, kept: Kept | None, fill: float = 0.0) -> np.ndarray:
    """Put scores of the features that reached the estimator into their places."""
    if kept is None or len(scores) != len(kept.places):
        return scores
    out = np.full(kept.n_features, fill)
    out[kept.places] = scores
    return out


def importances_of(model: Any) -> np.ndarray:
    """Read the importances or the size of the coefficients of a fitted estimator."""
    if hasattr(model, "feature_importances_"):
        return np.asarray(model.feature_importances_, dtype=float)
    if hasattr(model, "coef_"):
        coef = model.coef_.toarray() if hasattr(model.coef_, "toarray") else model.coef_
        coef = np.abs(np.asarray(coef, dtype=float))
        return coef if coef.ndim == 1 else np.asarray(np.sqrt(np.sum(coef**2, axis=0)))
    raise InputError(
        f"{type(model).__name__} has neither feature_importances_ nor coef_ after fit; "
        "use PermutationImportance, which works with any estimator."
    )
