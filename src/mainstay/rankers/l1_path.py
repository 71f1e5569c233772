"""L1Path: features in the order in which they enter a lasso or an L1 logistic regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mainstay._validation import (
    InputError,
    check_choice,
    check_count,
    check_fraction,
)
from mainstay.rankers.base import BlockScorer, ForTarget, NamedRanker, WeightedRanker
from mainstay.rankers.inputs import Table, Target, read_target

LOSSES = ("auto", "squared", "logistic")
_EXPLAINED = 0.999  # of the deviance: what enters after that fits rounding
_ROUNDING = 1e-12  # a spread or a correlation below this share of what it could be is none


class L1Path(WeightedRanker):
    """Order of entry along the path of a lasso, or of an L1 logistic regression.

    The penalty λ falls from λ_max, at which no feature is in the model, and the features enter one
    after the other; the score is the λ at which a feature enters as a share of λ_max. The first has
    1; those that never enter, and constant ones, have 0. It is the ranker of the literature on
    stability selection: `Runs.top(q)` holds the first q features on every path.

    Minimised is loss(β)/Σw + λ Σ|β_j| over standardised features, with an intercept that is not
    penalised, at `n_penalties` values of λ. A feature has entered where the size of the loss's
    gradient reaches λ, which, unlike the coefficients, is unique: copies of a feature tie. Between
    two values of λ the entry is put at the mean of the larger one and the size of the feature's
    gradient there, the latest at which it can have entered if gradients change no faster than λ
    (which is what the strong rules assume); features that enter between the same two values are
    ordered by this size. With more than two classes there is one path for every class against the
    others, under the same penalties, and the score is the largest of them.

    A lasso can hold no more features than there are rows, and the path ends where 99.9% of the
    deviance is explained. Features that have not entered by then tie at 0: a run that is cut at
    more features than have entered draws lots among them.

    Parameters
    ----------
    loss : {"auto", "squared", "logistic"}
        "auto": logistic for classes, squared for numbers. With "squared" classes are numbers, 0 and
        1, which gives almost the same order.
    n_penalties : int
        How many values of λ there are, in equal ratios.
    smallest_penalty : float
        Where the path ends, as a share of λ_max.
    max_features : int, optional
        Stop when so many features have entered; the others score 0. All that enter by default.
    target : {"auto", "class", "continuous"}
        Whether y holds classes or numbers.

    References
    ----------
    Tibshirani, R. (1996). Regression shrinkage and selection via the lasso. JRSS B 58, 267–288.
    Meinshausen, N. and Bühlmann, P. (2010). Stability selection. JRSS B 72, 417–473.
    Tibshirani, R. et al. (2012). Strong rules for discarding predictors in lasso-type problems.
    JRSS B 74, 245–266.
    Tibshirani, R. J. (2013). The lasso problem and uniqueness. EJS 7, 1456–1490.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from mainstay.rankers import L1Path
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> ranker = L1Path(max_features=4).fit(X, y)
    >>> {name: round(s, 2) for name, s in zip(X, ranker.scores_.tolist(), strict=True) if s > 0}
    {'bmi': 1.0, 'bp': 0.49, 's3': 0.34, 's5': 0.95}
    """

    def __init__(
        self,
        *,
        loss: str = "auto",
        n_penalties: int = 100,
        smallest_penalty: float = 0.01,
        max_features: int | None = None,
        target: str = "auto",
    ) -> None:
        self.loss = loss
        self.n_penalties = n_penalties
        self.smallest_penalty = smallest_penalty
        self.max_features = max_features
        self.target = target

    def _prepare_features(self, table: Table) -> ForTarget:
        values, back = table.centred_by_name("L1Path")

        def for_target(y: Any) -> tuple[BlockScorer, dict[str, Any]]:
            target = read_target(y, table.n_rows, self.target)
            path = Path(
                values=values,
                responses=_responses(target),
                shares=self._shares(),
                most=self._most(table.n_features),
                logistic=self._is_logistic(target),
            )
            return lambda weights: np.stack([path.scores(w)[back] for w in weights]), {}

        return for_target

    def _shares(self) -> np.ndarray:
        """Penalties as shares of the largest."""
        n = check_count("n_penalties", self.n_penalties, 2)
        return np.geomspace(
            1.0, check_fraction("smallest_penalty", self.smallest_penalty, closed=False), n
        )

    def _most(self, n_features: int) -> int:
        if self.max_features is None:
            return n_features
        return min(check_count("max_features", self.max_features, 1), n_features)

    def _is_logistic(self, target: Target) -> bool:
        loss = check_choice("loss", self.loss, LOSSES)
        if loss == "logistic" and target.codes is None:
            raise InputError(
                "loss='logistic' needs classes, but y holds numbers; leave out loss=, or set "
                "target='class'."
            )
        return loss == "logistic" or (loss == "auto" and target.codes is not None)


def _responses(target: Target) -> np.ndarray:
    """What is regressed on the features: numbers, or each class against the others as 0 and 1."""
    if target.codes is None:
        assert target.values is not None
        return np.asarray(target.values - np.median(target.values))[None]
    labels = range(1, 2) if target.n_classes == 2 else range(target.n_classes)
    return np.array([target.codes == label for label in labels], dtype=float)


@dataclass(frozen=True)
class Path:
    """The prepared data of an L1 path.

    Attributes
    ----------
    values : array, p × n
        The features, in the natural order of their names.
    responses : array, m × n
        What is regressed on them.
    shares : array
        Penalties as shares of the largest, falling from 1.
    most : int
        Stop when so many features have entered.
    logistic : bool
        Logistic or squared loss.
    """

    values: np.ndarray
    responses: np.ndarray
    shares: np.ndarray
    most: int
    logistic: bool

    def scores(self, weights: np.ndarray) -> np.ndarray:
        """Where features enter under these row weights, as shares of the largest penalty."""
        from mainstay._kernels.l1_path import entry_penalties, gradients, standardise

        rows = np.flatnonzero(weights)
        w = weights[rows] / weights[rows].sum()
        Z = np.empty((len(self.values), len(rows)))
        standardise(self.values, rows, w, Z)
        responses = [y for y in self.responses[:, rows] if _spread(y, w)]
        slopes = [w * (y - w @ y) for y in responses]
        largest, size = 0.0, np.empty(len(Z))
        for y, slope in zip(responses, slopes, strict=True):
            gradients(Z, slope, size)
            if np.abs(size).max() > _ROUNDING * _spread(y, w):
                largest = max(largest, float(np.abs(size).max()))
        best = np.zeros(len(Z))
        if largest == 0:
            return best
        for y in responses:
            entry = np.zeros(len(Z))
            entry_penalties(
                Z, w, y, largest * self.shares, self.most, _EXPLAINED, self.logistic, entry
            )
            best = np.maximum(best, entry)
        best /= largest
        if self.most < len(best):
            best[best < np.partition(best, -self.most)[-self.most]] = 0.0
        return best


def _spread(y: np.ndarray, w: np.ndarray) -> float:
    """Standard deviation under weights that add up to 1; 0 where it is but rounding."""
    variance = w @ (y - w @ y) ** 2
    return float(np.sqrt(variance)) if variance > _ROUNDING * (w @ y**2) else 0.0


NAMED = {
    "l1_path": NamedRanker(
        L1Path, "model", reference="Tibshirani 1996; Meinshausen and Bühlmann 2010"
    )
}
