"""How well a model predicts from the selected features: fit on some rows, score on others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from mainstay._sklearn import take_columns, take_rows
from mainstay._validation import InputError
from mainstay.data import Data


def score_sizes(
    order: np.ndarray,
    sizes: Sequence[int],
    estimator: Any,
    data: Data,
    train: np.ndarray,
    test: np.ndarray,
    scoring: Any,
) -> list[float]:
    """Fit on the training rows with the best k features, score on the test rows, for every k."""
    return [score_columns(order[:k], estimator, data, train, test, scoring) for k in sizes]


def score_columns(
    columns: np.ndarray,
    estimator: Any,
    data: Data,
    train: np.ndarray,
    test: np.ndarray,
    scoring: Any,
) -> float:
    """Fit on the training rows with some of the features, score on the test rows.

    Without any feature the prediction is the most frequent class (its share as the probability) or
    the mean of y.
    """
    from sklearn.metrics import check_scoring

    y = data.y
    if len(columns):
        chosen = take_columns(data.X, columns)
    else:
        chosen, estimator = np.zeros((len(y), 1)), _without_features(estimator)
    try:
        model = clone(estimator).fit(take_rows(chosen, train), y[train])
        scorer = check_scoring(model, scoring=scoring)
        score = float(scorer(model, take_rows(chosen, test), y[test]))
    except (ValueError, TypeError, AttributeError) as error:
        raise InputError(
            f"the estimator {estimator!r} could not be fitted to the selected features and "
            f"scored: {error}"
        ) from error
    if not math.isfinite(score):
        raise InputError(
            f"scoring {scoring!r} of {estimator!r} gave {score} on a test part of {len(test)} "
            "rows; take another scoring or larger test parts."
        )
    return score


def _without_features(estimator: Any) -> Any:
    """What predicts without looking at any feature, of the same kind as the estimator."""
    from sklearn.base import is_classifier
    from sklearn.dummy import DummyClassifier, DummyRegressor

    return DummyClassifier(strategy="prior") if is_classifier(estimator) else DummyRegressor()


def candidate_sizes(p: int) -> list[int]:
    """About a dozen numbers of features from 1 to p, evenly spaced in logarithms."""
    return sorted({round(k) for k in np.geomspace(1, p, 12)})
