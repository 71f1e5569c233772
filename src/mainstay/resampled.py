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
from mainstay._validation import (
    InputError,
    check_count,
    check_fraction,
    take_columns,
    take_rows,
)
from mainstay.aggregation import Ranking, aggregate
from mainstay.aggregation.order_statistics import rra_bonferroni, rra_log_rho, rra_p_value
from mainstay.measures.inference import wilson_interval
from mainstay.rankers import make_ranker
from mainstay.rankers.tables import read_target
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
        runs = runs_on_resamples(
            ranker,
            X,
            y,
            resamples,
            features,
            rng,
            sample_weight=sample_weight,
            n_jobs=selector.n_jobs,
            progress=selector.progress,
        )
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


def runs_on_resamples(
    ranker: Any,
    X: Any,
    y: np.ndarray,
    resamples: Resamples,
    features: Sequence[str],
    rng: np.random.Generator,
    *,
    sample_weight: np.ndarray | None = None,
    n_jobs: int | None = None,
    progress: Progress = "auto",
) -> Runs:
    """Run one ranker on every resample."""
    how: dict[str, Any] = {
        "n_jobs": n_jobs,
        "progress": progress,
        "description": type(ranker).__name__,
    }
    if hasattr(ranker, "resample_scorer"):
        # whole blocks for every core: the data are prepared once per core, and what is computed
        # together does not depend on their number
        blocks = -(-len(resamples) // BLOCK)
        step = BLOCK * -(-blocks // min(blocks, n_cores(n_jobs)))
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
