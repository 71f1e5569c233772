"""EnsembleSelector: select features on many resamples, and say how far to trust each of them."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.feature_selection import SelectorMixin
from sklearn.model_selection import check_cv

from mainstay._parallel import Progress, n_cores, run_tasks
from mainstay._validation import (
    InputError,
    RandomState,
    check_count,
    check_fraction,
    check_random_state,
    check_table,
    check_weights,
    take_columns,
    take_rows,
)
from mainstay.aggregation import Ranking, aggregate
from mainstay.aggregation.order_statistics import rra_bonferroni, rra_log_rho, rra_p_value
from mainstay.measures import stability
from mainstay.measures.inference import wilson_interval
from mainstay.rankers import make_ranker
from mainstay.rankers.tables import read_target
from mainstay.resampling import Resamples, make_resamples
from mainstay.runs import Runs
from mainstay.similarity import FeatureSimilarity

if TYPE_CHECKING:
    import pandas as pd

BLOCK = 256  # resamples whose weights are in memory at once
_FREQUENCY = re.compile(r"frequency\s*>=\s*(\d*\.?\d+)")


class EnsembleSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Rank features on many resamples, combine the rankings, select the best.

    With one ranker this is the within-aggregation of Salman et al. (2022): every resample is
    ranked, and the rankings become one by `aggregation`. With several rankers each is aggregated
    over its resamples, and the rankers' rankings are then averaged (between-aggregation).

    Parameters
    ----------
    ranker : str, ranker, scikit-learn estimator or selector, or a list of these
        A name from `mainstay.rankers.list_rankers()`, such as "information_gain" or "mrmr"; any
        estimator with `feature_importances_` or `coef_`; any scikit-learn selector.
    n_features_to_select : int, float or str
        How many, which share (rounded up, at least one), "frequency>=0.8" for features selected in
        at least 80% of the runs, or "auto": the fewest whose cross-validated score is within one
        standard error of the best.
    n_resamples : int
        Number of resamples.
    resampling : str, mainstay resampling or scikit-learn splitter
        "bootstrap", "subsample", "half", "folds", "blocks", …; see `mainstay.resampling`.
    aggregation : str or callable
        A name from `ms.list_aggregations()`.
    ranker_weights : sequence of float, optional
        Weights of several rankers; equal if not given.
    n_features_per_run : int or float, optional
        How many features a single run selects, for frequencies and stability. By default as many
        as are selected in the end, or a tenth where that number is not given beforehand.
    similarity_threshold : float or None
        Absolute correlation from which features count as exchangeable; None to skip twins.
    estimator, cv, scoring
        What "auto" cross-validates: by default a logistic regression or ridge regression on
        standardised features, 5 folds, and the estimator's own score.
    random_state : int, Generator or None
        Seed of resamples and rankers.
    n_jobs : int, optional
        Number of cores; the result is the same for any number.
    progress : bool or "auto"
        Show a progress bar; "auto" on a terminal.

    Attributes
    ----------
    ranking_ : Ranking
        The combined ranking.
    runs_ : Runs
        Scores of every run (selections, if the ranker is a selector).
    runs_by_ranker_ : dict of str to Runs
        The same by ranker.
    stability_ : StabilityEstimate
        Stability of the runs' selections (`nogueira`), with interval.
    adjusted_stability_ : StabilityEstimate or None
        The same with exchangeable features counted as one (`sma_count`).
    feature_table_ : pandas.DataFrame
        Per feature, best first: rank, score, mean and standard deviation of its rank over the
        runs, selection frequency with a Wilson interval, RRA p-value, its group (the features that
        can stand in for it), and in which share of the runs it *or one of them* was selected.
    n_features_ : int
        How many features were selected.

    Examples
    --------
    >>> import mainstay as ms
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> selector = ms.EnsembleSelector("information_gain", n_features_to_select=5, random_state=0)
    >>> table = selector.fit(X, y).feature_table_
    >>> table[["feature", "frequency", "group_frequency"]].head(2)
                    feature  frequency  group_frequency
    0  worst concave points        1.0              1.0
    1       worst perimeter        1.0              1.0
    """

    def __init__(
        self,
        ranker: Any = "information_gain",
        *,
        n_features_to_select: int | float | str = 0.1,
        n_resamples: int = 100,
        resampling: Any = "bootstrap",
        aggregation: Any = "mean",
        ranker_weights: Sequence[float] | None = None,
        n_features_per_run: int | float | None = None,
        similarity_threshold: float | None = 0.9,
        estimator: Any = None,
        cv: Any = 5,
        scoring: Any = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        progress: Progress = "auto",
    ) -> None:
        self.ranker = ranker
        self.n_features_to_select = n_features_to_select
        self.n_resamples = n_resamples
        self.resampling = resampling
        self.aggregation = aggregation
        self.ranker_weights = ranker_weights
        self.n_features_per_run = n_features_per_run
        self.similarity_threshold = similarity_threshold
        self.estimator = estimator
        self.cv = cv
        self.scoring = scoring
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None
    ) -> EnsembleSelector:
        """Run the rankers on resamples of the data and select features.

        Parameters
        ----------
        X : array, sparse matrix, pandas or polars DataFrame of shape (n, p)
            The data.
        y : array of shape (n,)
            The target: classes or numbers.
        sample_weight : array of shape (n,), optional
            Weights of the rows, multiplied with those of a resample.
        groups : array of shape (n,), optional
            Rows that belong together, such as samples of one patient: groups are resampled.
        """
        X, y = check_table(self, X, y)
        sample_weight = check_weights(sample_weight, len(y))
        rng = check_random_state(self.random_state)
        k = self._number_to_select()
        found = rank_on_resamples(self, X, y, sample_weight, groups, rng)
        self.ranking_ = found.ranking
        self.runs_ = found.runs
        self.runs_by_ranker_ = found.by_ranker
        per_run = self._features_per_run(k)
        chosen = selections(self.runs_, per_run, int(rng.integers(2**32)))
        if self.n_features_to_select == "auto":
            k = self._cross_validated_number(X, y, sample_weight, groups, rng)
            if self.n_features_per_run is None:
                chosen = selections(self.runs_, k, int(rng.integers(2**32)))
        frequency = chosen.counts / chosen.n_runs
        self.similarity_ = self._similarity(X)
        seed = int(rng.integers(2**32))
        self.stability_ = stability(chosen, undefined="nan")
        self.adjusted_stability_ = None
        if self.similarity_ is not None:
            self.adjusted_stability_ = stability(
                chosen, "sma_count", similarity=self.similarity_, undefined="nan", random_state=seed
            )
        if isinstance(k, float):
            selected = frequency >= k
        else:
            selected = np.zeros(self.n_features_in_, dtype=bool)
            selected[self.ranking_.order[:k]] = True
        self.support_ = selected
        self.n_features_ = int(selected.sum())
        self.feature_table_ = feature_table(
            self.ranking_, self.runs_, chosen, self.similarity_, selected
        )
        return self

    def _get_support_mask(self) -> np.ndarray:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "support_")
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    # ------------------------------------------------------------------ how many features

    def _number_to_select(self) -> int | float | None:
        """A number of features, a frequency (a float), or None for "auto"."""
        wanted, p = self.n_features_to_select, self.n_features_in_
        if isinstance(wanted, str):
            if wanted == "auto":
                return None
            match = _FREQUENCY.fullmatch(wanted.strip())
            if match is None:
                raise InputError(
                    f"n_features_to_select must be a number, a share, 'auto' or such as "
                    f"'frequency>=0.8', got {wanted!r}."
                )
            return check_fraction("the frequency in n_features_to_select", match[1])
        return share_or_number("n_features_to_select", wanted, p)

    def _features_per_run(self, k: int | float | None) -> int:
        if self.n_features_per_run is not None:
            return share_or_number(
                "n_features_per_run", self.n_features_per_run, self.n_features_in_
            )
        return k if isinstance(k, int) else max(1, math.ceil(0.1 * self.n_features_in_))

    def _cross_validated_number(
        self, X: Any, y: np.ndarray, sample_weight: Any, groups: Any, rng: np.random.Generator
    ) -> int:
        """Fewest features within one standard error of the best; ensembles inside the folds."""
        classes = is_classification(y)
        estimator = default_estimator(classes) if self.estimator is None else self.estimator
        cv = check_cv(self.cv, y, classifier=is_classifier(estimator))
        sizes = candidate_sizes(self.n_features_in_)
        folds = list(cv.split(np.zeros((len(y), 1)), y, groups))
        seeds = rng.integers(2**62, size=len(folds))
        scores = []
        for (train, test), seed in zip(folds, seeds, strict=True):
            found = rank_on_resamples(
                self,
                take_rows(X, train),
                y[train],
                None if sample_weight is None else sample_weight[train],
                None if groups is None else np.asarray(groups)[train],
                np.random.default_rng(int(seed)),
            )
            scores.append(
                score_sizes(found.ranking.order, sizes, estimator, X, y, train, test, self.scoring)
            )
        table = np.array(scores)
        mean, best = table.mean(axis=0), int(table.mean(axis=0).argmax())
        error = table[:, best].std(ddof=1) / math.sqrt(len(table))
        self.cv_scores_ = dict(zip(sizes, mean.tolist(), strict=True))
        return int(sizes[int(np.flatnonzero(mean >= mean[best] - error)[0])])

    def _similarity(self, X: Any) -> FeatureSimilarity | None:
        if self.similarity_threshold is None:
            return None
        threshold = check_fraction("similarity_threshold", self.similarity_threshold)
        return numeric_similarity(X, self.runs_.features, threshold)


# ---------------------------------------------------------------------- parts of the work


@dataclass(frozen=True)
class RankedResamples:
    """Runs and combined ranking of an ensemble."""

    ranking: Ranking
    runs: Runs
    by_ranker: dict[str, Runs]


def rank_on_resamples(
    selector: EnsembleSelector,
    X: Any,
    y: np.ndarray,
    sample_weight: Any,
    groups: Any,
    rng: np.random.Generator,
) -> RankedResamples:
    """Run every ranker on the same resamples and combine the runs."""
    specs = selector.ranker if isinstance(selector.ranker, list | tuple) else [selector.ranker]
    if not specs:
        raise InputError("ranker is an empty list; give at least one ranker.")
    rankers = [make_ranker(spec) for spec in specs]
    resamples = make_resamples(
        selector.resampling,
        selector.n_resamples,
        X,
        y,
        groups=groups,
        classes=is_classification(y),
        rng=rng,
    )
    features = feature_names_of(selector)
    by_ranker: dict[str, Runs] = {}
    for spec, ranker in zip(specs, rankers, strict=True):
        runs = _runs_of(ranker, X, y, resamples, sample_weight, features, rng, selector)
        name = spec if isinstance(spec, str) else type(spec).__name__
        while name in by_ranker:
            name += "'"
        by_ranker[name] = runs
    rankings = [_aggregated(runs, selector.aggregation) for runs in by_ranker.values()]
    if len(rankings) == 1:
        if selector.ranker_weights is not None:
            raise InputError("ranker_weights are for several rankers.")
        return RankedResamples(rankings[0], next(iter(by_ranker.values())), by_ranker)
    weights = _checked_weights(selector.ranker_weights, len(rankings))
    together = Runs.from_ranks(np.stack([ranking.ranks for ranking in rankings]), features)
    combined = aggregate(together, "rank_mean", weights=weights)
    ranks = np.average([_ranks_of(runs) for runs in by_ranker.values()], axis=0, weights=weights)
    return RankedResamples(combined, Runs.from_scores(-ranks, features), by_ranker)


def _aggregated(runs: Runs, method: Any) -> Ranking:
    """Combine runs; selections, which have no scores, by how often a feature was selected."""
    if runs.kind == "support" and method in ("mean", "median"):
        method = "frequency"
    return aggregate(runs, method)


def _ranks_of(runs: Runs) -> np.ndarray:
    """Ranks of the runs; in a selection the selected share the best places."""
    if runs.kind != "support":
        return runs.ranks
    return Runs.from_scores(runs.support.astype(float), runs.features).ranks


def _runs_of(
    ranker: Any,
    X: Any,
    y: np.ndarray,
    resamples: Resamples,
    sample_weight: Any,
    features: Sequence[str],
    rng: np.random.Generator,
    selector: EnsembleSelector,
) -> Runs:
    how: dict[str, Any] = {
        "n_jobs": selector.n_jobs,
        "progress": selector.progress,
        "description": type(ranker).__name__,
    }
    if hasattr(ranker, "resample_scorer"):
        # whole blocks for every core: the data are prepared once per core, and what is computed
        # together does not depend on their number
        blocks = -(-len(resamples) // BLOCK)
        step = BLOCK * -(-blocks // min(blocks, n_cores(selector.n_jobs)))
        starts = range(0, len(resamples), step)
        tasks: Any = [(ranker, X, y, resamples, at, at + step, sample_weight) for at in starts]
        return Runs.from_scores(np.concatenate(run_tasks(_score_blocks, tasks, **how)), features)
    seeds = rng.integers(2**31, size=len(resamples))
    tasks = [(ranker, X, y, resamples, i, int(seed), sample_weight) for i, seed in enumerate(seeds)]
    results = run_tasks(_score_resample, tasks, **how)
    if results[0].dtype == bool:
        return Runs.from_support(np.stack(results), features)
    return Runs.from_scores(np.stack(results), features)


def _score_blocks(
    ranker: Any,
    X: Any,
    y: np.ndarray,
    resamples: Resamples,
    start: int,
    stop: int,
    weight: np.ndarray | None,
) -> np.ndarray:
    score = ranker.resample_scorer(X, y)
    parts = []
    for at in range(start, min(stop, len(resamples)), BLOCK):
        weights = resamples.weights(at, min(at + BLOCK, stop))
        parts.append(score(weights if weight is None else weights * weight))
    return np.concatenate(parts)


def _score_resample(
    ranker: Any,
    X: Any,
    y: np.ndarray,
    resamples: Resamples,
    i: int,
    seed: int,
    weight: np.ndarray | None,
) -> np.ndarray:
    rows = resamples.rows(i)
    one = clone(ranker)
    names = [n for n in one.get_params() if n == "random_state" or n.endswith("__random_state")]
    one.set_params(**dict.fromkeys(sorted(names), seed))
    part = None if weight is None else weight[rows]
    one.fit(take_rows(X, rows), y[rows], sample_weight=part)
    support = getattr(one, "support_", None)
    return np.asarray(one.scores_ if support is None else support)


def selections(runs: Runs, k: int, seed: int) -> Runs:
    """What every run selects: its own selection, or its k best features (ties at random)."""
    if runs.kind == "support":
        return runs
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "in .* runs features tie")
        return runs.top(k, random_state=seed)


def feature_table(
    ranking: Ranking,
    runs: Runs,
    chosen: Runs,
    similarity: FeatureSimilarity | None,
    selected: np.ndarray,
) -> pd.DataFrame:
    """Everything known of each feature, best first."""
    import pandas as pd

    ranks = _ranks_of(runs)
    low, high = wilson_interval(chosen.counts, chosen.n_runs)
    table = pd.DataFrame(
        {
            "feature": runs.features,
            "rank": ranking.ranks.astype(int),
            "selected": selected,
            "score": ranking.scores,
            "mean_rank": ranks.mean(axis=0),
            "sd_rank": ranks.std(axis=0, ddof=1),
            "frequency": chosen.counts / chosen.n_runs,
            "frequency_lower": low,
            "frequency_upper": high,
            "p_value": _rra_p_values(ranks),
        }
    )
    if similarity is not None:
        graph = similarity.aligned_to(runs.features).graph
        support = chosen.sparse_support
        table["group"] = [_twins(graph, feature, runs.features) for feature in range(len(table))]
        either = (support @ graph + support > 0).sum(axis=0)
        table["group_frequency"] = np.asarray(either).ravel() / chosen.n_runs
    return table.sort_values("rank").reset_index(drop=True)


def _twins(graph: Any, feature: int, names: Sequence[str]) -> str:
    """Name the features that can stand in for one, most similar first."""
    span = slice(graph.indptr[feature], graph.indptr[feature + 1])
    others = graph.indices[span][np.argsort(-graph.data[span], kind="stable")]
    listed = "; ".join(names[i] for i in others[:3])
    return listed if len(others) <= 3 else f"{listed}; and {len(others) - 3} more"


def _rra_p_values(ranks: np.ndarray) -> np.ndarray:
    """RRA p-values: exact for up to 200 runs, then their (close) upper bound, which is fast."""
    m, p = ranks.shape
    log_rho = rra_log_rho(ranks / p)
    return rra_p_value(log_rho, m) if m <= 200 else rra_bonferroni(log_rho, m)


def numeric_similarity(
    X: Any, features: Sequence[str], threshold: float
) -> FeatureSimilarity | None:
    """Correlations of the columns, or None if they are not all numeric and complete."""
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*constant feature")
            return FeatureSimilarity.from_data(X, threshold=threshold, features=features)
    except InputError:
        return None


def score_sizes(
    order: np.ndarray,
    sizes: Sequence[int],
    estimator: Any,
    X: Any,
    y: np.ndarray,
    train: np.ndarray,
    test: np.ndarray,
    scoring: Any,
) -> list[float]:
    """Fit on the training rows with the best k features, score on the test rows, for every k."""
    from sklearn.metrics import check_scoring

    scores = []
    for k in sizes:
        best = take_columns(X, order[:k])
        model = clone(estimator).fit(take_rows(best, train), y[train])
        scorer = check_scoring(model, scoring=scoring)
        scores.append(float(scorer(model, take_rows(best, test), y[test])))
    return scores


def candidate_sizes(p: int) -> list[int]:
    """About a dozen numbers of features from 1 to p, evenly spaced in logarithms."""
    return sorted({round(k) for k in np.geomspace(1, p, 12)})


def default_estimator(classes: bool) -> Any:
    """Make a linear model on standardised features."""
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(
        StandardScaler(), LogisticRegression(max_iter=1000) if classes else Ridge()
    )


def is_classification(y: np.ndarray) -> bool:
    """Tell classes from numbers, as the rankers do."""
    return read_target(y, len(y), "auto").codes is not None


def feature_names_of(selector: Any) -> tuple[str, ...]:
    """Names seen in `fit`, or x0, x1, …"""
    names = getattr(selector, "feature_names_in_", None)
    if names is None:
        return tuple(f"x{i}" for i in range(selector.n_features_in_))
    return tuple(str(name) for name in names)


def share_or_number(what: str, wanted: Any, p: int) -> int:
    """Number of features from a number, or from a share of all (rounded up, at least one)."""
    if isinstance(wanted, float | np.floating):
        return max(1, math.ceil(check_fraction(what, wanted) * p - 1e-9))
    return check_count(what, wanted, 1, p)


def _checked_weights(weights: Sequence[float] | None, n: int) -> np.ndarray:
    values = np.ones(n) if weights is None else np.asarray(weights, dtype=float)
    if values.shape != (n,) or not (values >= 0).all() or values.sum() <= 0:
        raise InputError(f"ranker_weights must be {n} numbers of at least 0, got {weights!r}.")
    return np.asarray(values / values.sum())
