"""The loss of an averaged held-out prediction, as a function of the selection probabilities.

With models f_t on subsets drawn from reference distributions, importance weights w_t(β) and row
weights ω_i (Σω = 1),

    F(β) = Σ_i ω_i L(y_i, E_i),    E_i = Σ_t w_t f_t(x_i) / T,

or, self-normalised, E_i = Σ_t w_t f_t(x_i) / Σ_t w_t. Out-of-bag, the sums of row i run over the
models that were not trained on it. The gradient folds the samples first,
r_t = Σ_i ω_i L′_i (f_t(x_i) − E_i), and then costs one product with the T × M table of subsets:
T·(N + M) operations per step, and never an array of N × M × T.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mainstay.subspace.bernoulli import ImportanceSample, effective_size
from mainstay.subspace.losses import Loss


class Objective:
    """F for one set of models; `at(beta)` evaluates it.

    Parameters
    ----------
    sample : ImportanceSample
        The models' subsets, with the distributions they were drawn from.
    predictions : array, T × N
        What every model predicts for rows it has not seen; NaN for rows it has.
    target : array of N
        What the averages are compared with.
    loss : Loss
        Compares them.
    row_weight : array of N
        Weights of the rows.
    self_normalized : bool
        Divide by the sum of the importance weights.
    """

    def __init__(
        self,
        sample: ImportanceSample,
        predictions: np.ndarray,
        target: np.ndarray,
        loss: Loss,
        row_weight: np.ndarray,
        *,
        self_normalized: bool = True,
    ) -> None:
        self.sample, self.target, self.loss = sample, target, loss
        self.self_normalized = self_normalized
        missing = np.isnan(predictions)
        self.complete = not missing.any()
        self.predictions, self.row_weight = predictions, row_weight
        if not self.complete:
            self.held_out = 1.0 - missing
            self.predictions = np.where(missing, 0.0, predictions)
            # a row that every model was trained on has no held-out prediction
            self.row_weight = row_weight * ~missing.all(axis=0)
        self.row_weight = self.row_weight / self.row_weight.sum()

    def at(self, beta: np.ndarray) -> Evaluation:
        """Evaluate the objective at β."""
        weights = self.sample.weights(beta, self_normalized=self.self_normalized)
        sums = weights @ self.predictions
        if self.complete:
            return Evaluation(self, beta, weights, sums / len(weights), len(weights))
        totals = (weights if self.self_normalized else np.ones_like(weights)) @ self.held_out
        totals = np.where(totals > 0, totals, 1.0)
        return Evaluation(self, beta, weights, sums / totals, totals)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The objective at one point."""

    objective: Objective
    beta: np.ndarray
    weights: np.ndarray
    averages: np.ndarray
    totals: np.ndarray | int

    @cached_property
    def effective_size(self) -> float:
        """Number of models that count at this point."""
        return effective_size(self.weights)

    @property
    def value(self) -> float:
        """Mean loss of the averaged predictions."""
        return float(self.objective.row_weight @ self._losses)

    @property
    def _losses(self) -> np.ndarray:
        return self.objective.loss.value(self.objective.target, self.averages)

    @property
    def gradient(self) -> np.ndarray:
        """Derivatives of the objective with respect to the selection probabilities."""
        objective = self.objective
        slopes = objective.loss.derivative(objective.target, self.averages) * objective.row_weight
        slopes = slopes * (len(self.weights) / self.totals)
        folded = objective.predictions @ slopes
        if objective.self_normalized:
            centres = slopes * self.averages
            common = centres.sum() if objective.complete else objective.held_out @ centres
            folded = folded - common
        return objective.sample.gradient(self.beta, self.weights, folded)
