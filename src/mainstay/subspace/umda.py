"""Evolving feature subsets: the univariate marginal distribution algorithm (UMDA).

Used by `mainstay.rankers.EvolutionRanker`, which describes it, and by gene networks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mainstay._parallel import one_thread
from mainstay.subspace.bernoulli import sample_subsets

if TYPE_CHECKING:
    from mainstay.subspace.learners import Learner


@dataclass(frozen=True)
class EvolutionSettings:
    """How subsets evolve; see `EvolutionRanker`."""

    n_subsets: int = 100
    n_kept: int = 50
    initial_probability: float | None = None
    convergence: float = 0.5
    max_generations: int = 100


@dataclass(frozen=True, eq=False)
class Evolved:
    """Probabilities of the last generation's best subsets, and the mean error per generation."""

    alpha: np.ndarray
    errors: np.ndarray


def evolve(
    learner: Learner,
    target: np.ndarray,
    classes: bool,
    n_features: int,
    settings: EvolutionSettings,
    seed: int,
) -> Evolved:
    """Run UMDA once; `target` is what held-out predictions of the learner are compared with."""
    T, start = settings.n_subsets, settings.initial_probability
    if start is None:
        start = min(0.5, max(5 / T, 2 / n_features))
    rng = np.random.default_rng(seed)
    alpha = np.full(n_features, start)
    errors: list[float] = []
    least_distance = -np.inf
    with one_thread():
        for _ in range(settings.max_generations):
            Z = sample_subsets(alpha, T, rng)
            distance = mean_hamming_distance(Z)
            if distance < least_distance:
                break
            if not errors:
                least_distance = settings.convergence * distance
            predicted = learner.held_out(Z, rng.integers(2**32, size=T))
            misses = (predicted != target) if classes else (predicted - target) ** 2
            # rows that an out-of-bag model was trained on are NaN, and do not count
            losses = np.where(np.isnan(predicted), np.nan, misses)
            error = np.nanmean(losses, axis=1)
            errors.append(float(error.mean()))
            best = np.argsort(error, kind="stable")[: settings.n_kept]
            alpha = Z[best].mean(axis=0)
    return Evolved(alpha, np.array(errors))


def mean_hamming_distance(Z: np.ndarray) -> float:
    """In how many features two of the subsets differ, on average."""
    T = len(Z)
    counts = Z.sum(axis=0, dtype=float)
    return float(2 * (counts * (T - counts)).sum() / (T * (T - 1)))
