"""The parts of an ensemble's work: rank resamples, combine the runs, describe the features."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from mainstay._parallel import Progress, n_cores, run_tasks
from mainstay._sklearn import take_columns, take_rows
from mainstay._validation import InputError, check_count, check_fraction
from mainstay.aggregation import Ranking, aggregate
from mainstay.aggregation.order_statistics import rra_bonferroni, rra_log_rho, rra_p_value
from mainstay.measures.inference import wilson_interval
from mainstay.rankers import make_ranker, models
from mainstay.rankers.base import resample_scorer
from mainstay.rankers.inputs import infer_task
from mainstay.rankers.models import has_gaps as has_gaps
from mainstay.resampling import Resamples, make_resamples
from mainstay.runs import Runs
from mainstay.similarity import FeatureSimilarity

if TYPE_CHECKING:
    import pandas as pd

    from mainstay.ensemble import EnsembleSelector

BLOCK = 256  # resamples whose weights are in memory at once


@dataclass(frozen=True)
class RankedResamples:
    """Runs and combined ranking of an ensemble."""

    ranking: Ranking
    runs: Runs
    by_ranker: dict[str, Runs]


@dataclass(frozen=True, eq=False)
class Data:
    """The data that rankers are run on."""

    X: Any
    y: np.ndarray
    features: tuple[str, ...]
    sample_weight: np.ndarray | None = None
    groups: np.ndarray | None = None

    def rows(self, rows: np.ndarray) -> Data:
        """Only some of the rows."""
        weight, groups = self.sample_weight, self.groups
        return Data(
            take_rows(self.X, rows),
            self.y[rows],
            self.features,
            None if weight is None else weight[rows],
            None if groups is None else groups[rows],
        )


def rank_on_resamples(
    selector: EnsembleSelector, data: Data, n_resamples: int, rng: np.random.Generator
) -> RankedResamples:
    """Run every ranker on the same resamples and combine the runs."""
    return combine_rankers(selector, collect_runs(selector, data, n_resamples, rng))


def collect_runs(
    selector: EnsembleSelector, data: Data, n_resamples: int, rng: np.random.Generator
) -> dict[str, Runs]:
    """Run every ranker on the same resamples: one Runs per ranker, by its name."""
    specs = selector.ranker if isinstance(selector.ranker, list | tuple) else [selector.ranker]
    if not specs:
        raise InputError("ranker is an empty list; give at least one ranker.")
    rankers = [make_ranker(spec) for spec in specs]
    resamples = make_resamples(
        selector.resampling,
        n_resamples,
        data.X,
        data.y,
        groups=data.groups,
        classes=is_classification(data.y),
        rng=rng,
    )
    by_ranker: dict[str, Runs] = {}
    for spec, ranker in zip(specs, rankers, strict=True):
        runs = runs_on_resamples(
            ranker, data, resamples, rng, n_jobs=selector.n_jobs, progress=selector.progress
        )
        name = spec if isinstance(spec, str) else type(spec).__name__
        while name in by_ranker:
            name += "'"
        by_ranker[name] = runs
    return by_ranker


def combine_rankers(selector: EnsembleSelector, by_ranker: dict[str, Runs]) -> RankedResamples:
    """Aggregate the runs of every ranker; average the rankings of several."""
    rankings = [_aggregated(runs, selector.aggregation) for runs in by_ranker.values()]
    if len(rankings) == 1:
        return RankedResamples(rankings[0], combined_runs(selector, by_ranker), by_ranker)
    weights = _checked_weights(selector.ranker_weights, len(rankings))
    features = rankings[0].features
    together = Runs.from_ranks(np.stack([ranking.ranks for ranking in rankings]), features)
    combined = aggregate(together, "rank_mean", weights=weights)
    return RankedResamples(combined, combined_runs(selector, by_ranker), by_ranker)


def combined_runs(selector: EnsembleSelector, by_ranker: dict[str, Runs]) -> Runs:
    """Runs of the one ranker; of several, minus the weighted mean of their ranks."""
    several = list(by_ranker.values())
    if len(several) == 1:
        if selector.ranker_weights is not None:
            raise InputError("ranker_weights are for several rankers.")
        return several[0]
    weights = _checked_weights(selector.ranker_weights, len(several))
    ranks = np.average([_ranks_of(runs) for runs in several], axis=0, weights=weights)
    return Runs.from_scores(-ranks, several[0].features)


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


def runs_on_resamples(
    ranker: Any,
    data: Data,
    resamples: Resamples,
    rng: np.random.Generator,
    *,
    n_jobs: int | None = None,
    progress: Progress = "auto",
) -> Runs:
    """Run one ranker on every resample."""
    how: dict[str, Any] = {
        "n_jobs": n_jobs,
        "progress": progress,
        "description": type(ranker).__name__,
    }
    if hasattr(ranker, "resample_scorer") or hasattr(ranker, "score_resamples"):
        # whole blocks for every core: the data are prepared once per core, and what is computed
        # together does not depend on their number
        blocks = -(-len(resamples) // BLOCK)
        step = BLOCK * -(-blocks // min(blocks, n_cores(n_jobs)))
        starts = range(0, len(resamples), step)
        tasks: Any = [(ranker, data, resamples, at, at + step) for at in starts]
        return Runs.from_scores(
            np.concatenate(run_tasks(_score_blocks, tasks, **how)), data.features
        )
    seeds = rng.integers(2**31, size=len(resamples))
    tasks = [(ranker, data, resamples, i, int(seed)) for i, seed in enumerate(seeds)]
    results = run_tasks(_score_resample, tasks, **how)
    if results[0].dtype == bool:
        return Runs.from_support(np.stack(results), data.features)
    return Runs.from_scores(np.stack(results), data.features)


def _score_blocks(
    ranker: Any, data: Data, resamples: Resamples, start: int, stop: int
) -> np.ndarray:
    score = resample_scorer(ranker, data.X, data.y)
    assert score is not None
    parts = []
    for at in range(start, min(stop, len(resamples)), BLOCK):
        weights = resamples.weights(at, min(at + BLOCK, stop))
        parts.append(score(weights if data.sample_weight is None else weights * data.sample_weight))
    return np.concatenate(parts)


def _score_resample(ranker: Any, data: Data, resamples: Resamples, i: int, seed: int) -> np.ndarray:
    part = data.rows(resamples.rows(i))
    one = clone(ranker)
    names = [n for n in one.get_params() if n == "random_state" or n.endswith("__random_state")]
    one.set_params(**dict.fromkeys(sorted(names), seed))
    one.fit(part.X, part.y, sample_weight=part.sample_weight)
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
        table["group"] = [_twins(graph, feature, runs.features) for feature in range(len(table))]
        table["group_frequency"] = group_frequency(chosen, graph)
    return table.sort_values("rank").reset_index(drop=True)


def group_frequency(chosen: Runs, graph: Any) -> np.ndarray:
    """Share of the runs that selected a feature or one of its neighbours in the graph."""
    support = chosen.sparse_support
    either = (support @ graph + support > 0).sum(axis=0)
    return np.asarray(np.asarray(either).ravel() / chosen.n_runs)


def _twins(graph: Any, feature: int, names: Sequence[str]) -> str:
    """Name the features that can stand in for one, most similar first."""
    span = slice(graph.indptr[feature], graph.indptr[feature + 1])
    others = graph.indices[span][np.argsort(-graph.data[span], kind="stable")]
    listed = "; ".join(names[i] for i in others[:3])
    return listed if len(others) <= 3 else f"{listed}; and {len(others) - 3} more"


def _rra_p_values(ranks: np.ndarray) -> np.ndarray:
    """RRA p-values: exact for up to 200 runs, then their (close) upper bound, which is fast.

    Features that a run cannot tell apart all get the last of their ranks. With average ranks the
    many zeros of a tree would land in the middle, always, and that would look far from random.
    """
    from scipy.stats import rankdata

    m, p = ranks.shape
    log_rho = rra_log_rho(rankdata(ranks, method="max", axis=1) / p)
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
    return [score_columns(order[:k], estimator, X, y, train, test, scoring) for k in sizes]


def score_columns(
    columns: np.ndarray,
    estimator: Any,
    X: Any,
    y: np.ndarray,
    train: np.ndarray,
    test: np.ndarray,
    scoring: Any,
) -> float:
    """Fit on the training rows with some of the features, score on the test rows."""
    from sklearn.metrics import check_scoring

    chosen = take_columns(X, columns)
    try:
        model = clone(estimator).fit(take_rows(chosen, train), y[train])
        scorer = check_scoring(model, scoring=scoring)
        score = float(scorer(model, take_rows(chosen, test), y[test]))
    except (ValueError, TypeError, AttributeError) as error:
        raise InputError(
            f"the estimator {estimator!r} could not be fitted to the selected features and "
            f"scored: {error}"
        ) from error
    if not math.isfinite(score):
        raise InputError(
            f"scoring {scoring!r} of {estimator!r} gave {score} on a test part of {len(test)} "
            "rows; take another scoring or larger test parts."
        )
    return score


def candidate_sizes(p: int) -> list[int]:
    """About a dozen numbers of features from 1 to p, evenly spaced in logarithms."""
    return sorted({round(k) for k in np.geomspace(1, p, 12)})


def default_estimator(X: Any, y: np.ndarray) -> Any:
    """Make a linear model on standardised features; means stand in for missing values."""
    return models.default_estimator(X, infer_task(y)[0])


def is_classification(y: np.ndarray) -> bool:
    """Tell classes from numbers, as the rankers do."""
    return infer_task(y)[0] == "classification"


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
