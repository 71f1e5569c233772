"""EvolutionRanker: a feature scores by how often the best of evolving subsets use it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor

from mainstay._parallel import Progress, run_tasks
from mainstay._sklearn import FeatureScores
from mainstay._validation import InputError, check_count, check_fraction
from mainstay.rankers.base import NamedRanker
from mainstay.rankers.importances import ModelRanker
from mainstay.rankers.inputs import Table, Target, read_target
from mainstay.subspace.learners import Folds, Learner, make_learner
from mainstay.subspace.umda import EvolutionSettings, evolve


class EvolutionRanker(ModelRanker):
    """How often the best subsets of features use a feature after some generations.

    The univariate marginal distribution algorithm (UMDA), an estimation-of-distribution algorithm:
    draw T subsets, feature j with probability α_j; estimate by cross-validation the error of a
    model on each; set α_j to the share of the B best subsets that hold j; repeat until the mean
    Hamming distance between the subsets falls below half of what it was at first. Scores are the α,
    averaged over independent restarts.

    Parameters
    ----------
    estimator : scikit-learn estimator, optional
        Model whose error is estimated, on standardised features. By default five nearest
        neighbours, which, like trees and support vector machines, is compiled.
    n_subsets : int
        T.
    n_kept : int, optional
        B; half of T if not given.
    n_restarts : int
        Independent runs whose α are averaged.
    cv : int or "oob"
        Number of folds. Every fold's model is trained on a bootstrap sample of the other folds.
        "oob": one bootstrap sample, judged on the rows not in it.
    initial_probability : float or "auto"
        α at first; "auto": 5/T, but at least two features per subset.
    convergence : float
        Stop when the mean Hamming distance falls below this share of the initial one.
    max_generations : int
        Stop after so many generations at the latest.
    target : {"auto", "class", "continuous"}
        Whether y holds classes or numbers. "auto" asks the estimator first, then y.
    random_state : int, optional
        Seed.
    reorder : bool
        As for `EstimatorImportance`.
    n_jobs : int, optional
        Cores among which restarts are distributed.
    progress : bool or "auto"
        Show a progress bar.

    Attributes
    ----------
    n_generations_ : numpy.ndarray of int
        Generations of every restart.
    errors_ : list of numpy.ndarray
        Mean error (squared error of the standardised target, or share of wrong classes) of the
        generations of every restart.

    Notes
    -----
    The paper keeps the restart with the lowest error; the average ranks better, and costs the same.
    Constant features score 0.

    References
    ----------
    Saeys, Y., Degroeve, S. and Van de Peer, Y. (2006). Feature ranking using an EDA-based wrapper
    approach. Huynh-Thu, V. A. and Geurts, P. (2021). Optimizing model-agnostic random subspace
    ensembles. Appendix B.2.

    Examples
    --------
    >>> from mainstay.datasets import make_linear
    >>> from mainstay.rankers import EvolutionRanker
    >>> data = make_linear(n_samples=100, n_irrelevant=20, random_state=0)
    >>> ranker = EvolutionRanker(n_subsets=50, n_restarts=2, random_state=0)
    >>> scores = ranker.fit(data.X, data.y).scores_
    >>> bool(scores[data.relevant].mean() > 3 * scores[10:].mean())
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_subsets: int = 100,
        n_kept: int | None = None,
        n_restarts: int = 5,
        cv: Folds = 10,
        initial_probability: float | str = "auto",
        convergence: float = 0.5,
        max_generations: int = 100,
        target: str = "auto",
        random_state: int | None = None,
        reorder: bool = True,
        n_jobs: int | None = None,
        progress: Progress = "auto",
    ) -> None:
        self.estimator = estimator
        self.n_subsets = n_subsets
        self.n_kept = n_kept
        self.n_restarts = n_restarts
        self.cv = cv
        self.initial_probability = initial_probability
        self.convergence = convergence
        self.max_generations = max_generations
        self.target = target
        self.random_state = random_state
        self.reorder = reorder
        self.n_jobs = n_jobs
        self.progress = progress

    def _model_scores(self, X: Any, y: Any, sample_weight: np.ndarray | None) -> FeatureScores:
        settings = self._settings()
        n_restarts = check_count("n_restarts", self.n_restarts, 1)
        table = Table(X)
        values = table.numbers("error", "EvolutionRanker")
        spread = values.std(axis=1)
        varies = np.flatnonzero(spread > 1e-12 * np.abs(values).max(axis=1))
        scores = np.zeros(len(values))
        if len(varies) == 0:
            raise InputError("every feature is constant; there is nothing to rank.")
        values = values[varies]
        standard = ((values - values.mean(axis=1)[:, None]) / spread[varies][:, None]).T
        target = read_target(y, table.n_rows, self._kind_of_target())
        known_y = target.codes if target.values is None else _standardised(target.values)
        assert known_y is not None
        names = tuple(table.names[j] for j in varies)
        learner = self._learner(standard, known_y, target, sample_weight, names)
        seeds = np.random.SeedSequence(self.random_state).generate_state(n_restarts, np.uint64)
        tasks = [
            (learner, known_y, target.codes is not None, len(varies), settings, int(seed))
            for seed in seeds
        ]
        results = run_tasks(
            evolve, tasks, n_jobs=self.n_jobs, progress=self.progress, description="restarts"
        )
        self.errors_ = [result.errors for result in results]
        self.n_generations_ = np.array([len(result.errors) for result in results])
        scores[varies] = np.mean([result.alpha for result in results], axis=0)
        return FeatureScores(scores)

    def _kind_of_target(self) -> str:
        """What the estimator predicts, unless `target` says it: a regressor knows no classes."""
        if self.target != "auto" or self.estimator is None:
            return self.target
        if is_regressor(self.estimator):
            return "continuous"
        return "class" if is_classifier(self.estimator) else "auto"

    def _settings(self) -> EvolutionSettings:
        n_subsets = check_count("n_subsets", self.n_subsets, 2)
        half = max(1, n_subsets // 2)
        n_kept = half if self.n_kept is None else check_count("n_kept", self.n_kept, 1, n_subsets)
        start: float | None = None
        if self.initial_probability != "auto":
            start = check_fraction("initial_probability", self.initial_probability, closed=False)
        return EvolutionSettings(
            n_subsets,
            n_kept,
            start,
            check_fraction("convergence", self.convergence, closed=False),
            check_count("max_generations", self.max_generations, 1),
        )

    def _learner(
        self,
        X: np.ndarray,
        y: np.ndarray,
        target: Target,
        weight: np.ndarray | None,
        names: tuple[str, ...],
    ) -> Learner:
        from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

        classes = target.codes is not None
        default = KNeighborsClassifier() if classes else KNeighborsRegressor()
        return make_learner(
            default if self.estimator is None else self.estimator,
            X,
            y.astype(np.int64) if classes else y,
            classification=classes,
            n_classes=target.n_classes,
            cv=self.cv,
            sample_weight=weight,
            names=names,
            n_jobs=1,
        )


def _standardised(values: np.ndarray) -> np.ndarray:
    return np.asarray((values - values.mean()) / values.std())


NAMED = {"evolution": NamedRanker(EvolutionRanker, "model", reference="Saeys et al. 2006")}
