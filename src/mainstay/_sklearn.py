"""What the wrappers of scikit-learn need to know: tables, seeds, weights, scores of features."""

from __future__ import annotations

import inspect
import sys
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from mainstay._validation import InputError, check_count, some

_PLAIN = frozenset({type(None), bool, int, float, str})


def take_columns(X: Any, columns: np.ndarray) -> Any:
    """Pick columns of any kind of table, by position."""
    if hasattr(X, "iloc"):
        return X.iloc[:, columns]
    if hasattr(X, "get_columns"):
        return X.select([X.columns[j] for j in columns])
    return (X if hasattr(X, "shape") else np.asarray(X))[:, columns]


def take_rows(data: Any, rows: np.ndarray) -> Any:
    """Pick rows of any kind of table or target."""
    if hasattr(data, "iloc"):
        return data.iloc[rows]
    return (data if hasattr(data, "shape") else np.asarray(data))[rows]


def fresh_copy(model: Any) -> Any:
    """Copy an estimator with its parameters but without what it learned, as `sklearn.base.clone`.

    Where all parameters are plain values there is nothing to copy deeply, and what `clone` then
    does is a call of the constructor: a twentieth of its time, for models fitted many times.
    """
    from sklearn.base import clone

    kind: Any = type(model)
    held = getattr(model, "__dict__", {})
    if (
        _has_usual(kind, "get_params", "__sklearn_clone__")
        and held.keys() == frozenset(_parameter_names(kind))
        and _PLAIN.issuperset(map(type, held.values()))
    ):
        new = kind(**held)
        if vars(new) == held:
            return new
    return clone(model)


def seed(model: Any, random_state: int | None) -> None:
    """Set every `random_state` parameter within the model."""
    if random_state is None:
        return
    number = check_count("random_state", random_state, 0, 2**32 - 1)
    if _stands_alone(model):  # the quick way, as cheap models are fitted many times
        kind: Any = type(model)
        if "random_state" in _parameter_names(kind):
            model.random_state = number
        return
    names = [name for name in model.get_params() if f"__{name}".endswith("__random_state")]
    model.set_params(**dict.fromkeys(names, number))


def takes_only_class_numbers(model: Any) -> bool:
    """Tell whether an estimator, or one within it, is a classifier of XGBoost."""
    if "xgboost" not in sys.modules:  # asked before every fit, and looking inside takes time
        return False
    from sklearn.base import is_classifier

    inside = model.get_params().values() if hasattr(model, "get_params") else ()
    return any(
        type(part).__module__.startswith("xgboost.") and is_classifier(part)
        for part in (model, *inside)
    )


@lru_cache(maxsize=64)
def _parameter_names(kind: Any) -> tuple[str, ...]:
    return tuple(kind._get_param_names())


@lru_cache(maxsize=64)
def _has_usual(kind: Any, *methods: str) -> bool:
    """Whether a class has these methods from scikit-learn's base class."""
    from sklearn.base import BaseEstimator

    return all(getattr(kind, name, None) is getattr(BaseEstimator, name) for name in methods)


def _stands_alone(model: Any) -> bool:
    """Whether a model has the parameters of its class and no estimator among them."""
    kind: Any = type(model)
    return _has_usual(kind, "get_params", "set_params") and not any(
        hasattr(getattr(model, name, None), "get_params") for name in _parameter_names(kind)
    )


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


class FeatureScores(NamedTuple):
    """What a fitted model says of each feature: a score, and whether it selected it."""

    scores: np.ndarray
    support: np.ndarray | None = None


def read_scores(model: Any, n_features: int) -> FeatureScores:
    """Read the scores and, where there is one, the selection of a fitted model.

    A selection is `get_support()` or a boolean `support_`. Scores are `scores_` (in a selection,
    those that are not defined count as the worst), minus `ranking_`, 1 and 0 for what is selected
    and what is not, `feature_importances_` or the size of `coef_`, whichever comes first. Features
    that did not reach the last step of a Pipeline are not selected and score worst.
    """
    last, places = last_step(model, n_features)
    support = _selection(last, len(places))
    if support is None and _is_sklearn(last):  # BayesianRidge.scores_ speaks of iterations
        return FeatureScores(spread_out(_importances(last, n_features), places, n_features, 0.0))
    scores, ranking = (_values(last, name, len(places)) for name in ("scores_", "ranking_"))
    worst = 0.0
    if scores is not None:
        worst = min(0.0, float(np.min(scores, initial=0.0, where=~np.isnan(scores))))
        scores = scores if support is None else np.where(np.isnan(scores), worst, scores)
    elif ranking is not None:
        scores, worst = -ranking, -ranking.max() - 1
    elif support is not None:
        scores = support.astype(float)
    else:
        scores = _importances(last, n_features)
    selected = None if support is None else spread_out(support, places, n_features, False)
    return FeatureScores(spread_out(scores, places, n_features, worst), selected)


def last_step(model: Any, n_features: int) -> tuple[Any, np.ndarray]:
    """Find the fitted estimator within searches and pipelines, and which features reach it."""
    places = _every(n_features)
    while True:
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif _searches(model):
            raise InputError(f"{type(model).__name__} has no best_estimator_; set refit=True.")
        elif hasattr(model, "steps"):
            for _, step in model.steps[:-1]:
                places = _places_after(step, places)
            model = model.steps[-1][1]
        else:
            return model, places


@lru_cache(maxsize=4)
def _every(n: int) -> np.ndarray:
    """Places of n features that all reach the estimator: always the same, read-only array."""
    places = np.arange(n)
    places.flags.writeable = False
    return places


def _places_after(step: Any, places: np.ndarray) -> np.ndarray:
    """Tell which features leave a fitted transformer, and in which order."""
    support = _selection(step, len(places))
    if support is not None:
        return np.asarray(places[support])
    try:
        names = [str(name) for name in step.get_feature_names_out()]
    except (AttributeError, ValueError):  # it does not say; features keep their places
        return places
    given = getattr(step, "feature_names_in_", [f"x{i}" for i in range(step.n_features_in_)])
    if len(given) != len(places):
        raise InputError(
            f"{type(step).__name__} was given {len(given)} features where {len(places)} were "
            "expected: a step before it adds or drops features without saying which."
        )
    place = dict(zip((str(name) for name in given), places, strict=True))
    if not set(names) <= set(place):  # a ColumnTransformer puts the step's name before each
        names = [name.partition("__")[2] or name for name in names]
    if not set(names) <= set(place) or len(set(names)) < len(names):
        raise InputError(
            f"{type(step).__name__} makes new features, {some(names, 3)}, whose scores are not "
            "those of single features of X; rank without this step."
        )
    return np.array([place[name] for name in names], dtype=np.intp)


def spread_out(values: np.ndarray, places: np.ndarray, n_features: int, fill: Any) -> np.ndarray:
    """Put values of the features that reached the estimator into their places."""
    if places is _every(n_features):
        return values
    if len(values) != len(places):
        return values  # of other features, which a step made; the caller says so
    out = np.full(n_features, fill, dtype=values.dtype)
    out[places] = values
    return out


def _is_sklearn(estimator: Any) -> bool:
    return type(estimator).__module__.startswith("sklearn.")


def _selection(estimator: Any, n_features: int) -> np.ndarray | None:
    if hasattr(estimator, "get_support"):
        return np.asarray(estimator.get_support(), dtype=bool)
    if _is_sklearn(estimator):  # SVC.support_ and EllipticEnvelope.support_ speak of rows
        return None
    support = np.asarray(getattr(estimator, "support_", None))
    return support if support.dtype == bool and support.shape == (n_features,) else None


def _values(estimator: Any, name: str, n_features: int) -> np.ndarray | None:
    values = np.asarray(getattr(estimator, name, None))
    if values.dtype.kind not in "buif" or values.shape != (n_features,):
        return None
    return values.astype(float)


def _importances(model: Any, n_features: int) -> np.ndarray:
    if hasattr(model, "feature_importances_"):
        return np.asarray(model.feature_importances_, dtype=float)
    if hasattr(model, "coef_"):
        coef = model.coef_.toarray() if hasattr(model.coef_, "toarray") else model.coef_
        coef = np.abs(np.asarray(coef, dtype=float))
        if coef.ndim == 2 and len(coef) == 1:
            coef = coef[0]
        return coef if coef.ndim == 1 else np.asarray(np.sqrt(np.sum(coef**2, axis=0)))
    raise InputError(
        f"after fit, {type(model).__name__} has none of these with a value for each of "
        f"{n_features} features: get_support(), support_ (booleans), scores_, ranking_, "
        "feature_importances_, coef_. PermutationImportance works with any estimator that predicts."
    )
