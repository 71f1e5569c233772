"""How many features are selected: a number, a share, a frequency, an error rule, or "auto"."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv

from mainstay._validation import InputError, check_fraction, share_or_number
from mainstay.data import Data
from mainstay.ensemble.scoring import candidate_sizes, score_sizes
from mainstay.procedure import Procedure
from mainstay.rankers.models import default_estimator
from mainstay.reliability import ErrorRule

_FREQUENCY = re.compile(r"frequency\s*>=\s*(\d*\.?\d+)")


def wanted_number(wanted: Any, p: int) -> int | float | ErrorRule | None:
    """A number of features, a frequency (a float), an error rule, or None for "auto".

    Examples
    --------
    >>> [wanted_number(wanted, 40) for wanted in (5, 0.1, "frequency>=0.8", "auto")]
    [5, 4, 0.8, None]
    """
    if not isinstance(wanted, str):
        return share_or_number("n_features_to_select", wanted, p)
    if wanted == "auto":
        return None
    if ErrorRule.is_rule(wanted):
        return ErrorRule.parse(wanted)
    match = _FREQUENCY.fullmatch(wanted.strip())
    if match is None:
        raise InputError(
            f"n_features_to_select must be a number, a share, 'auto', or such as "
            f"'frequency>=0.8', 'fdr<=0.1', 'fwer<=0.05' or 'expected_false<=1', got "
            f"{wanted!r}."
        )
    return check_fraction("the frequency in n_features_to_select", match[1])


def cross_validated_number(
    procedure: Procedure,
    data: Data,
    n_resamples: int,
    rng: np.random.Generator,
    *,
    estimator: Any,
    cv: Any,
    scoring: Any,
    n_jobs: int | None,
) -> tuple[int, dict[int, float]]:
    """Fewest features within one standard error of the best; ensembles inside the folds.

    Returns
    -------
    (int, dict)
        The number, and the mean score of every number that was tried.
    """
    if estimator is None:
        estimator = default_estimator(data.X, data.task)
    splitter = check_cv(cv, data.y, classifier=is_classifier(estimator))
    sizes = candidate_sizes(data.n_features)
    folds = list(splitter.split(np.zeros((data.n_rows, 1)), data.y, data.groups))
    seeds = rng.integers(2**62, size=len(folds))
    scores = []
    for (train, test), seed in zip(folds, seeds, strict=True):
        inside = np.random.default_rng(int(seed))
        ranking = procedure.rank(data.rows(train), n_resamples, inside, n_jobs=n_jobs)
        scores.append(score_sizes(ranking.order, sizes, estimator, data, train, test, scoring))
    table = np.array(scores)
    mean, best = table.mean(axis=0), int(table.mean(axis=0).argmax())
    error = table[:, best].std(ddof=1) / math.sqrt(len(table))
    fewest = int(sizes[int(np.flatnonzero(mean >= mean[best] - error)[0])])
    return fewest, dict(zip(sizes, mean.tolist(), strict=True))
