"""Learning selection probabilities: gradient steps between draws of models.

One problem, from start to end:

    learned = learn_probabilities(learner, target, loss, alpha, Settings(), seed=0)

Many problems that are coupled by a penalty, such as the genes of a network, advance in lock-step.
A stage draws and trains some new models, and then takes gradient steps on all models at hand:

    problems = [SubspaceProblem(learner, y, loss, alpha, settings, seed) for …]  # one per gene
    for _ in range(n_stages):
        advance_together(problems, penalty_gradient)      # or, problem by problem:
        # problem.stage(lambda alpha: …)                  # gradient of the penalty for its own α

`penalty_gradient` takes the M × G table of all probabilities and returns its gradient in the same
shape, for instance λ α_jg/‖α_j‖. With `stage` alone, problems can be spread over cores, each seeing
the others' probabilities as of the start of the stage. A feature whose initial α is 0 is never
drawn and never moves: that is how a gene is kept from explaining itself.

Reference: Huynh-Thu, V. A. and Geurts, P. (2021). Optimizing model-agnostic random subspace
ensembles, algorithms 1–3, with two errors corrected: the objective of a stage is computed before
the models that it averages are replaced, and all β_j move at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mainstay.subspace.bernoulli import ImportanceSample, sample_subsets
from mainstay.subspace.learners import Learner
from mainstay.subspace.losses import Loss
from mainstay.subspace.objective import Objective

PenaltyGradient = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Settings:
    """How probabilities are learned.

    Attributes
    ----------
    n_models : int
        T, the models whose predictions are averaged.
    n_references : int
        Q, the distributions they were drawn from: T/Q models are replaced per stage.
    self_normalized : bool
        Divide importance weights by their sum.
    learning_rate : float
        Length of a gradient step, relative to the gradient.
    max_steps : int
        Most steps per stage; a stage also ends when fewer than half the models count.
    max_stages : int
        Most stages.
    window, tolerance
        Learning has converged when the mean objective of `window` stages has not fallen, by a share
        of `tolerance`, in the next two windows: one is not enough where learning starts slowly. The
        probabilities are averaged over the last `window` stages, at most half of all.
    """

    n_models: int = 100
    n_references: int = 10
    self_normalized: bool = True
    learning_rate: float = 1e-2
    max_steps: int = 100
    max_stages: int = 1000
    window: int = 50
    tolerance: float = 1e-3


@dataclass(frozen=True, eq=False)
class Learned:
    """Selection probabilities, and how they were found."""

    alpha: np.ndarray
    objective_path: np.ndarray
    effective_size_path: np.ndarray
    n_models_trained: int
    converged: bool


class SubspaceProblem:
    """Selection probabilities that are being learned, and the models that they are learned from.

    Parameters
    ----------
    learner : Learner
        Trains models and predicts held-out rows.
    target : array of N
        What the averaged predictions are compared with: numbers, or class codes with `classes`.
    loss : Loss
        Compares them.
    alpha : array of M
        Probabilities to start from.
    settings : Settings
        How to learn.
    seed : int or SeedSequence
        All that is random comes from it.
    classes : bool
        Whether the learner returns class codes: then the average is that of
        1[prediction = target], compared with 1.
    sample_weight : array of N, optional
        Weights of the rows in the objective.
    regularization : float
        λ of a penalty λΣα, the expected number of features of a model.
    """

    def __init__(
        self,
        learner: Learner,
        target: np.ndarray,
        loss: Loss,
        alpha: np.ndarray,
        settings: Settings,
        seed: int | np.random.SeedSequence,
        *,
        classes: bool = False,
        sample_weight: np.ndarray | None = None,
        regularization: float = 0.0,
    ) -> None:
        self.learner, self.loss, self.settings, self.classes = learner, loss, settings, classes
        self.target, self.regularization = target, regularization
        self._row_weight = np.ones(len(target)) if sample_weight is None else sample_weight
        self._rng = np.random.default_rng(seed)
        self.alpha = np.array(alpha, dtype=float)
        self.objective_path: list[float] = []
        self.effective_size_path: list[float] = []
        self.alpha_path: list[np.ndarray] = []
        self.n_models_trained = 0

        T, Q = settings.n_models, settings.n_references
        self._Z = np.zeros((T, len(self.alpha)), dtype=bool)
        self._predictions = np.zeros((T, len(target)))
        self._references = np.repeat(self.alpha[None], Q, axis=0)
        self._drawn_from = np.repeat(np.arange(Q), [len(s) for s in np.array_split(range(T), Q)])
        self._latest = 0

    # ------------------------------------------------------------------ models

    def begin_stage(self) -> None:
        """Train all models (at the first stage) or replace the oldest by draws from the new α."""
        if self.n_models_trained == 0:
            models = np.arange(self.settings.n_models)
        else:
            self._latest = (self._latest + 1) % self.settings.n_references
            self._references[self._latest] = self.alpha
            models = np.flatnonzero(self._drawn_from == self._latest)
        Z = sample_subsets(self.alpha, len(models), self._rng)
        predictions = self.learner.held_out(Z, self._rng.integers(2**32, size=len(models)))
        if self.classes:
            hits = (predictions == self.target).astype(float)
            predictions = np.where(np.isnan(predictions), np.nan, hits)
        self._Z[models], self._predictions[models] = Z, predictions
        self.n_models_trained += len(models)
        normalized = self.settings.self_normalized
        sample = ImportanceSample.from_references(
            self._Z, self._references, self._drawn_from, stratified=not normalized
        )
        self._objective = Objective(
            sample,
            self._predictions,
            np.ones(len(self.target)) if self.classes else self.target,
            self.loss,
            self._row_weight,
            self_normalized=normalized,
        )
        self._here = self._objective.at(self.alpha)
        self._n_steps = 0

    def end_stage(self) -> None:
        """Record the probabilities and the objective at the end of the stage."""
        penalty = self.regularization * float(self.alpha.sum())
        self.objective_path.append(self._here.value + penalty)
        self.effective_size_path.append(self._here.effective_size)
        self.alpha_path.append(self.alpha)
        del self.alpha_path[: -self.settings.window]

    # ------------------------------------------------------------------ steps and stages

    def step(self, penalty_gradient: np.ndarray | float = 0.0) -> bool:
        """Take one projected gradient step; return whether the stage may go on."""
        gradient = self._here.gradient + (self.regularization + penalty_gradient)
        target = self.alpha - self.settings.learning_rate * gradient
        moved = np.minimum(np.maximum(target, 0.0), 1.0)
        if np.array_equal(moved, self.alpha):
            return False  # all further steps would stay here too
        self.alpha = moved
        self._n_steps += 1
        self._here = self._objective.at(self.alpha)
        enough = self._here.effective_size >= self.settings.n_models / 2
        return enough and self._n_steps < self.settings.max_steps

    def stage(self, penalty_gradient: PenaltyGradient | None = None) -> None:
        """Replace the oldest models, then take steps while the models allow it."""
        self.begin_stage()
        may_go_on = True
        while may_go_on:
            may_go_on = self.step(0.0 if penalty_gradient is None else penalty_gradient(self.alpha))
        self.end_stage()

    @property
    def converged(self) -> bool:
        """Whether the objective has stopped falling."""
        path, window = self.objective_path, self.settings.window
        if len(path) < 3 * window:
            return False
        before, later, last = np.mean(np.reshape(path[-3 * window :], (3, window)), axis=1)
        return bool(min(later, last) > before - self.settings.tolerance * abs(before))

    def average_alpha(self) -> np.ndarray:
        """Average the probabilities over the last `window` stages, at most half of all stages."""
        n_stages = max(1, min(self.settings.window, len(self.objective_path) // 2))
        return np.asarray(np.mean(self.alpha_path[-n_stages:], axis=0))

    def learned(self) -> Learned:
        """Return the probabilities, averaged over the last stages, and how they were found."""
        return Learned(
            self.average_alpha(),
            np.array(self.objective_path),
            np.array(self.effective_size_path),
            self.n_models_trained,
            self.converged,
        )


def advance_together(
    problems: Sequence[SubspaceProblem], penalty_gradient: PenaltyGradient
) -> None:
    """Take every problem through one stage, in lock-step, under a penalty that couples them.

    Before every step the penalty sees the M × G table of all current probabilities. A problem whose
    models no longer allow steps waits for the others.
    """
    for problem in problems:
        problem.begin_stage()
    active = list(range(len(problems)))
    while active:
        gradient = penalty_gradient(np.stack([problem.alpha for problem in problems], axis=1))
        active = [g for g in active if problems[g].step(gradient[:, g])]
    for problem in problems:
        problem.end_stage()


def learn_probabilities(
    learner: Learner,
    target: np.ndarray,
    loss: Loss,
    alpha: np.ndarray,
    settings: Settings,
    seed: int | np.random.SeedSequence,
    *,
    classes: bool = False,
    sample_weight: np.ndarray | None = None,
    regularization: float = 0.0,
) -> Learned:
    """Learn selection probabilities until they converge; arguments as for `SubspaceProblem`."""
    problem = SubspaceProblem(
        learner,
        target,
        loss,
        alpha,
        settings,
        seed,
        classes=classes,
        sample_weight=sample_weight,
        regularization=regularization,
    )
    for _ in range(settings.max_stages):
        problem.stage()
        if problem.converged:
            break
    return problem.learned()
