"""A feature selector with two parameters, which shows what ensembling would bring."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mainstay._validation import (
    InputError,
    RandomState,
    check_choice,
    check_count,
    check_random_state,
)
from mainstay.aggregation import Aggregation, aggregate
from mainstay.aggregation.rules import find_rule
from mainstay.forecast import analytic
from mainstay.forecast.uniform import (
    RANKS_AT_ONCE,
    RETURNS,
    as_runs,
    check_parameters,
    runs_of_columns,
)
from mainstay.measures import MEASURES, stability
from mainstay.measures.inference import StabilityEstimate
from mainstay.runs import Runs

if TYPE_CHECKING:
    import pandas as pd

# Rules that order features by the sum, over the runs, of their ranks or of their selections
SUMS = {
    "ranks": ("rank_mean", "borda"),
    "selection": ("frequency", "vote", "rank_mean", "borda"),
}

MeasureLike = str | Callable[[Runs], float]
AggregationLike = str | Callable[[np.ndarray], Any]


@dataclass(frozen=True)
class SimulatedSelector:
    """A selector that prefers some features: the model of Onda et al. (2021).

    Every run draws a set S_m of `n_selected` features from the `n_useful` useful ones. It then
    ranks all features, best first: the next one comes from S_m with probability `p` and from the
    other features with probability 1 − p, at random within both, until either has run out.

    Parameters
    ----------
    n_features : int
        Number of features, n.
    n_selected : int
        How many a run, or an ensemble, selects, k; fewer than n.
    n_useful : int or float
        How many features runs choose from, u; from k to n. Formulas take values in between as a
        mixture of the two whole numbers around; sampling rounds to the nearest.
    p : float
        How likely a run is to pick from its set S_m. Random selections have p = k/n.

    References
    ----------
    Onda, Gao, Kotera, Oono (2021), Fast estimation method for the stability of ensemble feature
    selectors, algorithm 3.

    Examples
    --------
    >>> from mainstay.forecast import SimulatedSelector
    >>> selector = SimulatedSelector(n_features=2000, n_selected=20, n_useful=60, p=0.7)
    >>> round(selector.stability(ensemble_size=1), 3), round(selector.stability(30), 3)
    (0.093, 0.199)
    >>> round(selector.plateau(), 3)
    0.203
    >>> selector.sample_ranks(50, random_state=0).shape
    (50, 2000)
    """

    n_features: int
    n_selected: int
    n_useful: float
    p: float

    def __post_init__(self) -> None:
        check_parameters(self.n_features, self.n_selected, self.n_useful, self.p)

    # ------------------------------------------------------------------ drawing runs

    def sample_ranks(self, n_runs: int, *, random_state: RandomState = None) -> np.ndarray:
        """Draw rankings: n_runs × n_features ranks, 1 = best. The useful features come first.

        Member j of S_m gets the place min(G_1 + … + G_j, n − k + j) with G ~ Geometric(p), which
        is algorithm 3 without its loop; the others fill the free places in random order.

        Examples
        --------
        >>> from mainstay.forecast import SimulatedSelector
        >>> selector = SimulatedSelector(n_features=5, n_selected=2, n_useful=2, p=1.0)
        >>> (selector.sample_ranks(3, random_state=0)[:, :2] <= 2).all()
        np.True_
        """
        n_runs = check_count("n_runs", n_runs, 1)
        ranks = np.empty((n_runs, self.n_features), dtype=np.int32)
        self._fill(ranks, check_random_state(random_state))
        return ranks

    def _fill(self, ranks: np.ndarray, rng: np.random.Generator) -> None:
        n, k = self.n_features, self.n_selected
        u = max(k, round(self.n_useful))
        places = np.arange(1, n + 1)
        rows = max(1, RANKS_AT_ONCE // n)
        for start in range(0, len(ranks), rows):
            part = ranks[start : start + rows]
            members = np.broadcast_to(places[n - k :], (len(part), k))
            if self.p > 0:
                steps = np.minimum(rng.geometric(self.p, (len(part), k)), n)  # no overflow
                members = np.minimum(np.cumsum(steps, axis=1), members)
            free = np.ones((len(part), n), dtype=bool)
            np.put_along_axis(free, members - 1, False, axis=1)
            others = np.broadcast_to(places, free.shape)[free].reshape(len(part), n - k)
            part[:, k:] = rng.permuted(others, axis=1)
            part[:, :k] = members
            part[:, :u] = rng.permuted(part[:, :u].astype(np.int64), axis=1)  # which are S_m

    def sample_runs(
        self, n_runs: int, *, returns: str = "ranks", random_state: RandomState = None
    ) -> Runs:
        """Draw runs: rankings, or only the selections of the `n_selected` best.

        Examples
        --------
        >>> from mainstay.forecast import SimulatedSelector
        >>> selector = SimulatedSelector(n_features=100, n_selected=5, n_useful=10, p=0.8)
        >>> selector.sample_runs(30, returns="selection", random_state=0)
        Runs: 30 runs × 100 features, selections of 5 features each
        """
        return as_runs(self, n_runs, returns, random_state)

    # ------------------------------------------------------------------ stability

    def stability(
        self,
        ensemble_size: int = 1,
        measure: MeasureLike = "jaccard",
        *,
        aggregation: AggregationLike = "rank_mean",
        returns: str = "ranks",
        method: str = "auto",
        n_ensembles: int = 50,
        random_state: RandomState = None,
    ) -> float:
        """Expected stability of ensembles of `ensemble_size` runs.

        Parameters
        ----------
        ensemble_size : int
            Runs in an ensemble, m.
        measure : str or callable
            A name from `ms.list_measures()`; a callable gets `Runs` of selections.
        aggregation : str or callable
            How an ensemble combines its runs; a name from `ms.list_aggregations()`.
        returns : {"ranks", "selection"}
            What runs pass on to the ensemble: rankings, or only which features they select.
        method : {"auto", "analytic", "simulation"}
            "analytic" for a formula, "simulation" for a draw (see `simulate`); "auto" for the
            formula where there is one. There is one for measures of two sets, "nogueira" and
            "weighted_consistency", and rules that rank by the sum of ranks ("rank_mean", "borda")
            or of selections ("frequency", "vote", "rank_mean", "borda" with returns="selection").
        n_ensembles, random_state
            For the simulation.

        Notes
        -----
        For one run the formula is exact: corrected for chance, the stability is Φ₁ = q²·Φ∞ with
        q = (p − k/n)/(1 − k/n) and Φ∞ = (k/u − k/n)/(1 − k/n). For m runs it is
        Φ_m = Φ∞·((E[B]/k − u/n)/(1 − u/n))², B being how many of the k selected features are useful
        (see `mainstay.forecast.analytic`). Against simulations of 150 random settings with n from
        20 to 3000 the error of the Jaccard index was 0.0001 in the median and below 0.005 in 95%;
        it was larger, up to 0.03, where k is 1 to 3 or nearly u.

        Small ensembles can be less stable than single runs, since a rank sum is dominated by the
        runs whose set S_m lacks the feature.

        Examples
        --------
        >>> from mainstay.forecast import SimulatedSelector
        >>> selector = SimulatedSelector(n_features=2000, n_selected=20, n_useful=60, p=0.7)
        >>> [round(selector.stability(m, "nogueira"), 3) for m in (1, 5, 50)]
        [0.159, 0.074, 0.327]
        >>> round(selector.stability(5, returns="selection"), 3)
        0.187
        """
        check_choice("method", method, ("auto", "analytic", "simulation"))
        m = check_count("ensemble_size", ensemble_size, 1)
        summed = _sums(_rule(aggregation, returns), aggregation, returns)
        scored = not callable(measure) and measure in analytic.OVERLAP_SCORES
        has_formula = scored and (m == 1 or summed)
        if method == "simulation" or (method == "auto" and not has_formula):
            options: dict[str, Any] = {"aggregation": aggregation, "returns": returns}
            options |= {"n_ensembles": n_ensembles, "random_state": random_state}
            return float(self.simulate(m, measure, **options))
        if not has_formula:
            raise InputError(
                f"there is no formula for measure={measure!r} with aggregation={aggregation!r} and "
                f"returns={returns!r}. There is one for the measures "
                f"{', '.join(analytic.OVERLAP_SCORES)} with {' or '.join(SUMS['ranks'])} of ranks, "
                f"or {' or '.join(SUMS['selection'])} of selections. Use method='auto' or "
                "'simulation'."
            )
        return self._mixed(lambda whole: whole._expected(str(measure), m, returns))

    def simulate(
        self,
        ensemble_size: int = 1,
        measure: MeasureLike = "jaccard",
        *,
        aggregation: AggregationLike = "rank_mean",
        returns: str = "ranks",
        n_ensembles: int = 50,
        random_state: RandomState = None,
        **options: Any,
    ) -> StabilityEstimate:
        """Simulate ensembles and measure their stability: any measure, any rule of aggregation.

        The paper's algorithm 2. Parameters are those of `stability`; `options` go to the measure.
        An ensemble of one run is that run. Rules of selections count the `n_selected` best of a
        ranking. Ties at the cut are broken at random where the rule leaves them to feature names.

        Examples
        --------
        >>> from mainstay.forecast import SimulatedSelector
        >>> selector = SimulatedSelector(n_features=200, n_selected=10, n_useful=30, p=0.7)
        >>> selector.simulate(20, random_state=0)
        jaccard: 0.1977, 95% interval 0.1743 to 0.2082 (50 runs × 200 features)
        """
        m = check_count("ensemble_size", ensemble_size, 1)
        n_ensembles = check_count("n_ensembles", n_ensembles, 2)
        rule = _rule(aggregation, returns)
        whole_rankings = False
        if not callable(measure):
            name, at, _ = str(measure).partition("@")
            kind = MEASURES[check_choice("measure", name, MEASURES)].kind
            whole_rankings = kind == "ranking" or bool(at)
        rng = check_random_state(random_state)
        orders = self._orders(m, aggregation, rule, returns, n_ensembles, rng)
        if whole_rankings:
            ranks = np.empty((n_ensembles, self.n_features))
            places = np.broadcast_to(np.arange(1.0, self.n_features + 1), ranks.shape)
            np.put_along_axis(ranks, np.stack(list(orders)), places, axis=1)
            runs = Runs.from_ranks(ranks)
        else:
            runs = runs_of_columns([order[: self.n_selected] for order in orders], self.n_features)
        return stability(runs, measure, random_state=rng, **options)

    def _orders(
        self,
        m: int,
        aggregation: AggregationLike,
        rule: Aggregation,
        returns: str,
        n_ensembles: int,
        rng: np.random.Generator,
    ) -> Iterator[np.ndarray]:
        """Features of every ensemble, best first."""
        n, k = self.n_features, self.n_selected
        top = k if returns == "ranks" and rule.kind == "selections" else None
        at_once = max(1, RANKS_AT_ONCE // (m * n))
        for start in range(0, n_ensembles, at_once):
            drawn = np.empty((min(at_once, n_ensembles - start), m, n), dtype=np.int32)
            self._fill(drawn.reshape(-1, n), rng)
            tie_breaks = rng.random((len(drawn), n))
            if m == 1 or _sums(rule, aggregation, returns):
                values = drawn if returns == "ranks" else drawn > k
                yield from np.argsort(values.sum(axis=1, dtype=np.int64) + tie_breaks, axis=1)
                continue
            # the library's last tie-break is the name of a feature: make that random
            for ranks, shuffled in zip(drawn, np.argsort(tie_breaks, axis=1), strict=True):
                given: Any = ranks[:, shuffled]
                make = Runs.from_ranks if returns == "ranks" else Runs.from_support
                runs = make(given if returns == "ranks" else given <= k)
                yield shuffled[aggregate(runs, aggregation, top=top).order]

    def curve(
        self,
        ensemble_sizes: Iterable[int],
        measure: MeasureLike = "jaccard",
        *,
        aggregation: AggregationLike = "rank_mean",
        returns: str = "ranks",
        method: str = "auto",
        n_ensembles: int = 50,
        random_state: RandomState = None,
    ) -> pd.DataFrame:
        """Stability for several ensemble sizes; parameters are those of `stability`.

        Returns
        -------
        pandas.DataFrame
            Columns `ensemble_size` and `stability`.

        Examples
        --------
        >>> from mainstay.forecast import SimulatedSelector
        >>> selector = SimulatedSelector(n_features=2000, n_selected=20, n_useful=60, p=0.7)
        >>> selector.curve([1, 10, 50]).round(3)
           ensemble_size  stability
        0              1      0.093
        1             10      0.095
        2             50      0.203
        """
        import pandas as pd

        sizes = [check_count("an ensemble size", size, 1) for size in ensemble_sizes]
        seeds = check_random_state(random_state).integers(2**62, size=len(sizes))
        options: dict[str, Any] = {"aggregation": aggregation, "returns": returns, "method": method}
        values = [
            self.stability(m, measure, **options, n_ensembles=n_ensembles, random_state=int(seed))
            for m, seed in zip(sizes, seeds, strict=True)
        ]
        return pd.DataFrame({"ensemble_size": sizes, "stability": values})

    def plateau(self, measure: str = "jaccard", *, returns: str = "ranks") -> float:
        """Stability in the limit of large ensembles.

        In the limit an ensemble selects useful features only, at random among them: the overlap of
        two is hypergeometric, whatever `p` is. That is so where useful features have the better
        mean rank (returns="ranks") or are selected more often (returns="selection"), for which p
        must be above k/n, or with ranks a limit between k/n and (k + 1)/(n + 1). With a smaller p
        large ensembles avoid the useful features.

        Examples
        --------
        >>> from mainstay.forecast import SimulatedSelector
        >>> round(SimulatedSelector(5966, 60, 130, p=0.7).plateau(), 3)
        0.301
        """
        check_choice("measure", measure, analytic.OVERLAP_SCORES)
        check_choice("returns", returns, RETURNS)
        return self._mixed(lambda whole: whole._expected(measure, None, returns))

    # ------------------------------------------------------------------ formulas

    def _mixed(self, value: Callable[[SimulatedSelector], float]) -> float:
        """Apply a formula for whole numbers of useful features to what may lie between two."""
        below, part = divmod(self.n_useful, 1)
        if not part:
            return value(self)
        low, high = (value(replace(self, n_useful=int(below) + extra)) for extra in (0, 1))
        return low + part * (high - low)

    def _expected(self, measure: str, m: int | None, returns: str) -> float:
        n, k, u = self.n_features, self.n_selected, int(self.n_useful)
        if m == 1:
            useful = analytic.useful_in_run(n, k, u, self.p)[0]
        elif m is not None:
            useful = analytic.useful_in_ensemble(self._weak(returns), n, k, u, m)
        else:
            useful = analytic.useful_in_the_limit(self._weak(returns), n, k, u)
        return float(analytic.expected_score(measure, useful, n, k, u))

    def _weak(self, returns: str) -> analytic.Weak:
        return self._weak_ranks if returns == "ranks" else self._weak_selections

    @cached_property
    def _weak_ranks(self) -> analytic.Weak:
        return analytic.weak_ranks(*self._whole)

    @cached_property
    def _weak_selections(self) -> analytic.Weak:
        return analytic.weak_selections(*self._whole)

    @property
    def _whole(self) -> tuple[int, int, int, float]:
        return self.n_features, self.n_selected, int(self.n_useful), self.p


def _rule(aggregation: AggregationLike, returns: str) -> Aggregation:
    """Find the rule of aggregation that fits what the runs pass on."""
    holds = {"ranks": "ranks", "selection": "support"}[check_choice("returns", returns, RETURNS)]
    return find_rule(aggregation, holds)


def _sums(rule: Aggregation, aggregation: AggregationLike, returns: str) -> bool:
    """Whether an ensemble orders features by a sum over its runs."""
    return not callable(aggregation) and rule.name in SUMS[returns]
