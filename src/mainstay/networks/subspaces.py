"""Links from feature subsets: parametric random subspaces with a joint penalty, and evolution.

One problem per target gene, squared error, everything standardised. With α_jg the probability that
a model of gene g uses regulator j, parametric subspaces minimise

    Σ_g (1/N) Σ_i (y_ig − E[f(x_i)])²  +  (λ/N) Σ_j √(Σ_g α_jg²).

The penalty favours few regulators that act on many genes; its gradient, (λ/N) α_jg/‖α_j·‖, couples
the genes. All genes advance in lock-step.

Reference: Huynh-Thu, V. A. and Geurts, P. (2021). Optimizing model-agnostic random subspace
ensembles. Section 3.3; λ as there, which makes sense without the 1/(GN) of equation 23.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mainstay._parallel import Progress, one_thread, run_tasks
from mainstay._validation import InputError, check_choice, check_count
from mainstay.networks.expression import Expression, seed_of
from mainstay.networks.trees import over_targets
from mainstay.subspace.learners import Learner, check_folds, make_learner
from mainstay.subspace.umda import EvolutionSettings, evolve

_BASES = ("knn", "svm", "tree")
_FIRST_PENALTY, _GROWTH = 0.1, 1.03  # where an automatic λ/N begins, and how it grows per stage


def make_base(base: Any) -> Any:
    """Turn "knn", "svm" or "tree" into a regressor; leave estimators alone."""
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.svm import SVR
    from sklearn.tree import DecisionTreeRegressor

    if isinstance(base, str):
        check_choice("base", base, _BASES)
        return {"knn": KNeighborsRegressor, "svm": SVR, "tree": DecisionTreeRegressor}[base]()
    if isinstance(base, type) or not (hasattr(base, "fit") and hasattr(base, "predict")):
        raise InputError(
            f"base must be one of {', '.join(_BASES)}, or a scikit-learn regressor, got {base!r}."
        )
    return base


# ---------------------------------------------------------------------- parametric subspaces


@dataclass(frozen=True)
class SubspaceSettings:
    """How the probabilities of a network are learned; see `subspace.optimisation.Settings`."""

    n_models: int = 100
    n_references: int = 10
    learning_rate: float = 1e-2
    max_steps: int = 100
    n_stages: int = 100
    cv: int = 10
    regularization: float | None = None  # λ; None: grows until expected_regulators is met
    expected_regulators: float = 0.5


def subspace_links(
    expression: Expression,
    seed: int,
    settings: SubspaceSettings,
    *,
    base: Any = "knn",
    n_restarts: int = 4,
    n_jobs: int | None = None,
    progress: Progress = "auto",
) -> np.ndarray:
    """Selection probabilities α, regulators × targets, averaged over stages and restarts."""
    estimator = make_base(base)
    check_folds(settings.cv, len(expression.values))
    n = check_count("n_restarts", n_restarts, 1)
    tasks = [(expression, seed_of(seed, r), settings, estimator) for r in range(n)]
    alphas = run_tasks(_restart, tasks, n_jobs=n_jobs, progress=progress, description="restarts")
    return np.asarray(np.mean(alphas, axis=0))


def _restart(
    expression: Expression, seed: int, settings: SubspaceSettings, estimator: Any
) -> np.ndarray:
    with one_thread():
        problem = CoupledProblem(expression, seed, settings, estimator)
        for _ in range(settings.n_stages):
            problem.stage()
    return problem.average_alpha()


class CoupledProblem:
    """The problems of all target genes, advancing together.

    Parameters
    ----------
    expression : Expression
        The genes.
    seed : int
        Seed; every target draws from a stream of its own, named after it.
    settings : SubspaceSettings
        How to learn.
    estimator : scikit-learn regressor
        The base model.

    Attributes
    ----------
    alpha : numpy.ndarray, targets × regulators
        The current probabilities.
    penalty : float
        λ/N, the current one.
    objective_path : list of float
        Mean squared error over targets after every stage.
    """

    def __init__(
        self, expression: Expression, seed: int, settings: SubspaceSettings, estimator: Any
    ) -> None:
        T, Q = settings.n_models, settings.n_references
        N, M = expression.inputs.shape
        G = expression.outputs.shape[1]
        self.settings, self._Y = settings, expression.outputs
        self._learners: list[Learner] = [
            make_learner(
                estimator,
                expression.inputs,
                np.ascontiguousarray(y),
                classification=False,
                cv=settings.cv,
                names=tuple(expression.regulator_names),
                n_jobs=1,
            )
            for y in expression.outputs.T
        ]
        self._streams = [
            np.random.default_rng(seed_of(seed, name)) for name in expression.target_names
        ]
        self.alpha = np.zeros((G, M))
        varies = (expression.inputs != 0).any(axis=0)  # standardised: a constant gene is zero
        for g in range(G):
            candidates = expression.candidates(g)
            candidates = candidates[varies[candidates]]
            if len(candidates) and expression.outputs[:, g].any():
                # on average, at least five models per regulator and two regulators per model
                first = min(0.5, max(5 / T, 2 / len(candidates)))
                self.alpha[g, candidates] = first
        given = settings.regularization
        self.penalty = _FIRST_PENALTY if given is None else given / N
        self.objective_path: list[float] = []
        self.penalty_path: list[float] = []
        self._alpha_path: list[np.ndarray] = []
        self._references = np.repeat(self.alpha[:, None], Q, axis=1)
        self._drawn_from = np.repeat(np.arange(Q), [len(s) for s in np.array_split(range(T), Q)])
        self._Z = np.zeros((G, T, M), dtype=bool)
        self._predictions = np.zeros((G, T, N))
        self._gram, self._cross = np.zeros((G, T, T)), np.zeros((G, T))

    def stage(self) -> None:
        """Replace the oldest models of every target, then take steps while models allow it."""
        from mainstay._kernels.network_steps import lockstep

        settings, n_stages = self.settings, len(self.objective_path)
        models = np.arange(settings.n_models)
        if n_stages:
            latest = n_stages % settings.n_references
            self._references[:, latest] = self.alpha
            models = np.flatnonzero(self._drawn_from == latest)
        for g in range(len(self.alpha)):
            self._train(g, models)
        shares = np.bincount(self._drawn_from) / settings.n_models
        value, effective = np.empty(len(self.alpha)), np.empty(len(self.alpha))
        lockstep(
            self.alpha,
            self._Z,
            self._gram,
            self._cross,
            self._references,
            shares,
            settings.learning_rate,
            self.penalty,
            settings.max_steps,
            settings.n_models / 2,
            value,
            effective,
        )
        self.objective_path.append(float(np.mean((self._Y**2).mean(axis=0) + value)))
        self.penalty_path.append(self.penalty)
        self._alpha_path.append(self.alpha.copy())
        self._adapt()

    def _train(self, g: int, models: np.ndarray) -> None:
        stream, N = self._streams[g], self._predictions.shape[2]
        Z = stream.random((len(models), self.alpha.shape[1])) < self.alpha[g]
        seeds = stream.integers(2**32, size=len(models))
        self._Z[g, models] = Z
        P = self._predictions[g]
        P[models] = self._learners[g].held_out(Z, seeds)
        block = P[models] @ P.T / N
        self._gram[g, models] = block
        self._gram[g][:, models] = block.T
        self._cross[g, models] = P[models] @ self._Y[:, g] / N

    def _adapt(self) -> None:
        """Let an automatic λ grow while genes have more regulators than expected, on average.

        A λ that is too large, even briefly, removes regulators for good: once no model uses them,
        no gradient brings them back. So it grows slowly, and no further than needed.
        """
        few = self.alpha.sum(axis=1).mean() <= self.settings.expected_regulators
        if self.settings.regularization is None and not few:
            self.penalty *= _GROWTH

    def average_alpha(self) -> np.ndarray:
        """Average the probabilities over all stages but the first fifth: regulators × targets.

        Under a growing penalty the stages form a regularisation path. Links that survive longer
        weigh more in its average, which ranks links better than its end does.
        """
        path = self._alpha_path[len(self._alpha_path) // 5 :]
        return np.asarray(np.mean(path, axis=0).T)


# ---------------------------------------------------------------------- evolution


def evolution_links(
    expression: Expression,
    seed: int,
    *,
    base: Any = "knn",
    n_subsets: int = 100,
    n_restarts: int = 4,
    cv: int = 10,
    n_jobs: int | None = None,
    progress: Progress = "auto",
) -> np.ndarray:
    """How often the best regulator subsets of each target use each regulator."""
    n_subsets = check_count("n_estimators", n_subsets, 2)
    settings = EvolutionSettings(n_subsets, max(1, n_subsets // 2))
    check_folds(cv, len(expression.values))
    n = check_count("n_restarts", n_restarts, 1)
    shared = (expression, make_base(base), settings, cv, n, seed)
    return over_targets(_evolution_block, *shared, n_jobs=n_jobs, progress=progress)


def _evolution_block(
    targets: np.ndarray,
    expression: Expression,
    estimator: Any,
    settings: EvolutionSettings,
    cv: int,
    n_restarts: int,
    seed: int,
) -> np.ndarray:
    out = np.zeros((len(targets), len(expression.regulators)))
    for row, target in zip(out, targets, strict=True):
        features = expression.candidates(int(target))
        y = np.ascontiguousarray(expression.outputs[:, target])
        if len(features) == 0 or not y.any():
            continue
        X = np.ascontiguousarray(expression.inputs[:, features])
        learner = make_learner(estimator, X, y, classification=False, cv=cv, n_jobs=1)
        name = expression.target_names[target]
        row[features] = np.mean(
            [
                evolve(learner, y, False, len(features), settings, seed_of(seed, r, name)).alpha
                for r in range(n_restarts)
            ],
            axis=0,
        )
    return out.T
