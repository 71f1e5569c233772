"""Ensembles that were never run: observed runs, drawn and combined, and how well these agree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from mainstay._validation import InputError, check_count, natural_order
from mainstay.aggregation import Aggregation, Outcome, read_for
from mainstay.aggregation.result import rounded
from mainstay.aggregation.rules import find_rule
from mainstay.measures import MEASURES, check_named, stability
from mainstay.measures.inference import StabilityEstimate
from mainstay.procedure import rule_of_runs
from mainstay.reliability.agreement import chance_agreement
from mainstay.reliability.pairs import agreement_in_pairs
from mainstay.runs import Runs, content_keys
from mainstay.similarity import FeatureSimilarity


@dataclass(frozen=True, eq=False)
class Ensembles:
    """Observed runs, and what an ensemble of any of them would select.

    Attributes
    ----------
    runs : Runs
        The observed runs.
    aggregation : str or callable
        How the runs of an ensemble become one ranking.
    measure : str or callable
        How the agreement of ensembles is measured.
    n_selected : int or None
        How many features an ensemble selects; may be None if `measure` compares whole rankings.
    similarity : FeatureSimilarity or None
        For measures that count similar features as exchangeable.
    """

    runs: Runs
    aggregation: str | Callable[[np.ndarray], Any]
    measure: str | Callable[[Runs], float]
    n_selected: int | None
    similarity: FeatureSimilarity | None = None

    @cached_property
    def rule(self) -> Aggregation:
        """The rule of aggregation that fits what the runs hold."""
        return find_rule(rule_of_runs(self.runs, self.aggregation), self.runs.kind)

    @property
    def averaged(self) -> np.ndarray:
        """What rules that average take the mean of, one row per run."""
        return self._matrix

    @cached_property
    def _matrix(self) -> np.ndarray:
        """What the rule reads, one row per run; of rules that average, what is averaged."""
        top = None
        if self.rule.kind in ("selections", "places") and self.runs.kind != "support":
            top = self.n_selected
        matrix = read_for(self.rule, self.runs, top)
        return matrix if self.rule.mean_of is None else self.rule.mean_of(matrix)

    @property
    def averages(self) -> bool:
        """Whether the order of the features is that of a mean over the runs: then it is fast."""
        return self.rule.mean_of is not None

    @cached_property
    def _by_name(self) -> np.ndarray:
        """Position of each feature among the sorted names: random ties ignore column order."""
        position = np.empty(self.runs.n_features, dtype=np.intp)
        position[natural_order(self.runs.features)] = np.arange(self.runs.n_features)
        return position

    @cached_property
    def canonical(self) -> np.ndarray:
        """Order of the runs by their content: draws from it ignore the order they came in."""
        values = self.runs.support.astype(float) if self.runs.kind == "support" else self.runs.ranks
        return np.argsort(content_keys(values, self.runs.features, 0), kind="stable")

    def scores(self, draws: np.ndarray) -> np.ndarray:
        """Aggregate the runs of every draw: n × m positions of runs in, n × p scores out."""
        n, m = draws.shape
        if self.averages:
            rows = np.repeat(np.arange(n), m)
            shape = (n, self.runs.n_runs)
            counts = sp.coo_array((np.full(n * m, 1 / m), (rows, draws.ravel())), shape=shape)
            return np.asarray(counts.toarray() @ self._matrix)
        outcomes = (self.rule.function(self._matrix[draw]) for draw in draws)
        return np.stack([_as_scores(outcome, self.runs.n_features) for outcome in outcomes])

    def selections(self, scores: np.ndarray, rng: np.random.Generator) -> Runs:
        """Make runs of the ensembles: their k best features, or their scores if all count."""
        if self.n_selected is None or not compares_selections(self.measure):
            return Runs.from_scores(scores, self.runs.features)
        values = rounded(scores)
        k = self.n_selected
        cut = -np.partition(-values, k - 1, axis=1)[:, k - 1 : k]
        support = values > cut
        missing = k - support.sum(axis=1)
        # ties at the cut at random: by column order they would make ensembles look stable
        lots = np.where(values == cut, rng.random(values.shape)[:, self._by_name], 2.0)
        last = np.take_along_axis(np.sort(lots, axis=1), missing[:, None] - 1, axis=1)
        support |= lots <= last
        return Runs("support", sp.csr_array(support).astype(np.int32), self.runs.features)

    def agreement(self, draws: np.ndarray, rng: np.random.Generator) -> StabilityEstimate:
        """Stability of the ensembles made from the draws."""
        return self.agreement_of(self.scores(draws), rng)

    def agreement_of(self, scores: np.ndarray, rng: np.random.Generator) -> StabilityEstimate:
        """Stability of ensembles with these aggregated scores."""
        options: dict[str, Any] = {} if self.similarity is None else {"similarity": self.similarity}
        seed = int(rng.integers(2**32))
        runs = self.selections(scores, rng)
        return stability(runs, self.measure, random_state=seed, **options)

    def agreements_in_pairs(self, scores: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Agreement of ensembles 0 and 1, 2 and 3, …; the mean of the others where undefined."""
        seed = int(rng.integers(2**32))
        runs = self.selections(scores, rng).as_pairs()
        k = self.n_selected or self.runs.n_features
        values = agreement_in_pairs(runs, self.measure, k, similarity=self.similarity, seed=seed)
        defined = ~np.isnan(values)
        if defined.sum() < 2:
            raise InputError(
                f"{self.measure!r} is undefined (0/0) for {int((~defined).sum())} of {len(values)} "
                "pairs of ensembles, too many to forecast it; use another measure."
            )
        return np.where(defined, values, values[defined].mean())

    @cached_property
    def chance(self) -> tuple[float, float]:
        """Mean and standard deviation of the agreement of two random selections."""
        return chance_agreement(self.measure, self.n_selected or 1, self.runs.n_features)

    @property
    def lowest(self) -> float:
        """Smallest value that the measure can have; −∞ for functions."""
        name = str(self.measure).partition("@")[0]
        return -np.inf if callable(self.measure) else MEASURES[name].lower

    # -------------------------------------------------------------- the scale to extrapolate on

    def to_reliability(self, value: np.ndarray) -> np.ndarray:
        """Stability on a scale where chance is 0 and identity 1, which 1/(a + b/m) describes.

        Scores of two sets of equal size are functions of their overlap x; the scale is
        Φ = (x/k − k/p)/(1 − k/p). Other measures are taken as they are.
        """
        grid = self._score_of_overlap
        if grid is None:
            return np.asarray(value, dtype=float)
        k, p = self.n_selected or 1, self.runs.n_features
        x = np.interp(value, grid, np.linspace(0, k, len(grid)))
        return np.asarray((x / k - k / p) / (1 - k / p))

    def from_reliability(self, reliability: np.ndarray) -> np.ndarray:
        """Inverse of `to_reliability`."""
        grid = self._score_of_overlap
        if grid is None:
            return np.asarray(reliability, dtype=float)
        k, p = self.n_selected or 1, self.runs.n_features
        x = k * (np.asarray(reliability) * (1 - k / p) + k / p)
        return np.asarray(np.interp(x, np.linspace(0, k, len(grid)), grid))

    @cached_property
    def _score_of_overlap(self) -> np.ndarray | None:
        entry = MEASURES.get(self.measure) if isinstance(self.measure, str) else None
        score = None if entry is None else entry.pair_score or entry.equal_size_score
        if self.n_selected is None or score is None:
            return None
        k, x = float(self.n_selected), np.linspace(0, self.n_selected, 1001)
        return np.asarray(score(x, k, k, self.runs.n_features))


def _as_scores(outcome: Any, p: int) -> np.ndarray:
    """Turn what a rule returned into scores whose ties are those that the rule leaves."""
    if not isinstance(outcome, Outcome):
        values = np.asarray(outcome, dtype=float)
        if values.shape != (p,) or np.isnan(values).any():
            raise InputError(
                f"an aggregation must return {p} scores, one per feature and none of them NaN, "
                f"got shape {values.shape} with {int(np.isnan(values).sum())} NaN."
            )
        return values
    if outcome.tie_break is None:
        return outcome.scores
    scores, tie_breaks = rounded(outcome.scores), rounded(outcome.tie_break)
    order = np.lexsort((tie_breaks, scores))
    steps = (np.diff(scores[order]) != 0) | (np.diff(tie_breaks[order]) != 0)
    dense = np.empty(p)
    dense[order] = np.concatenate(([0], np.cumsum(steps)))
    return dense


def compares_selections(measure: Any) -> bool:
    """Whether a measure reads selections, not whole rankings; functions get selections."""
    name = str(measure).partition("@")[0]
    return callable(measure) or MEASURES[name].compares_selections


def check_measure(measure: Any, similarity: FeatureSimilarity | None) -> None:
    """Check that measure and similarity fit."""
    if callable(measure):
        return
    entry = check_named(measure)
    if entry.kind == "importances":
        raise InputError(f"{entry.name!r} compares importances, but ensembles end in rankings.")
    if entry.needs_similarity and similarity is None:
        raise InputError(
            f"{entry.name!r} counts similar features as exchangeable; give similarity="
            "ms.FeatureSimilarity.from_data(X)."
        )
    if similarity is not None and not entry.adjusted:
        adjusting = ", ".join(m.name for m in MEASURES.values() if m.adjusted)
        raise InputError(f"{entry.name!r} does not use similarity=; these do: {adjusting}.")


def check_sizes(ensemble_sizes: Any) -> tuple[int, ...]:
    """Return the sizes of the ensembles, sorted."""
    try:
        sizes = list(ensemble_sizes)
    except TypeError:
        sizes = [ensemble_sizes]
    if not sizes:
        raise InputError("ensemble_sizes is empty; give sizes such as [1, 10, 50].")
    return tuple(sorted({check_count("an ensemble size", size, 1) for size in sizes}))
