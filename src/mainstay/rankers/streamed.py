"""Scores of rows that are read block by block, in many resamples at once.

`STREAMED` says for every kind of ranker that can do this how: a function of the ranker, what is to
be predicted and the number of resamples that returns a `StreamPlan`. Columns are worked on in
groups that fit into memory; as every score depends on its own column and the target only, groups
(and cores) have no influence on the scores.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mainstay._checkpoint import active
from mainstay._parallel import Progress, n_cores, run_tasks
from mainstay._validation import InputError, check_choice
from mainstay.batches import RowBatches
from mainstay.rankers import RANKERS
from mainstay.rankers.discretization import checked_binning
from mainstay.rankers.filters import FORMULAS, TableFilter
from mainstay.rankers.moments import METHODS, MISSING, Correlation, FStatistic
from mainstay.rankers.streamed_counts import (
    bytes_of_counts,
    check_binning,
    needs_all_rows,
    streamed_counts,
)
from mainstay.rankers.streamed_moments import (
    bytes_of_sums,
    streamed_correlation,
    streamed_f,
    streamed_regression_f,
)
from mainstay.rankers.streamed_target import StreamedTarget
from mainstay.resampling import Resamples

_FEWEST_KEPT, _MOST_KEPT = 16, 64  # columns of a task in a checkpoint, and number of tasks
_BYTES_OF_SCORE = 40  # a score, its rank, and the copies on the way to the result


@dataclass(frozen=True)
class StreamPlan:
    """How a ranker scores columns: with how much memory, and by which function.

    Attributes
    ----------
    bytes_per_column : float
        What it holds for every column.
    score : callable
        (rows, slice of columns, resamples) → resamples × columns.
    """

    bytes_per_column: float
    score: Callable[[RowBatches, slice, Resamples], np.ndarray]


def _f_plan(ranker: FStatistic, target: StreamedTarget, n_lanes: int) -> StreamPlan:
    missing = _checked_missing(ranker)
    score: Any = streamed_f
    if ranker.target == "continuous" or not target.is_classes(ranker.target):
        target.check_numbers()
        score = streamed_regression_f
    n_groups = len(target.class_labels()) if score is streamed_f else 1
    return StreamPlan(
        bytes_of_sums(n_lanes, n_groups, score is not streamed_f),
        lambda rows, columns, resamples: score(rows, columns, resamples, target, missing),
    )


def _correlation_plan(ranker: Correlation, target: StreamedTarget, n_lanes: int) -> StreamPlan:
    missing = _checked_missing(ranker)
    if check_choice("method", ranker.method, METHODS) != "pearson":
        raise needs_all_rows(f"Correlation(method={ranker.method!r})", "method='pearson'")
    if target.kind == "category" and len(target.class_labels()) != 2:
        raise InputError(
            f"correlation needs a target of numbers or of two classes, but y has "
            f"{len(target.class_labels())} classes; use 'f_statistic' or 'information_gain'."
        )
    return StreamPlan(
        bytes_of_sums(n_lanes, 1, True),
        lambda rows, columns, resamples: streamed_correlation(
            rows, columns, resamples, target, missing
        )[0],
    )


def _filter_plan(ranker: TableFilter, target: StreamedTarget, n_lanes: int) -> StreamPlan:
    binning = checked_binning(ranker.binning)
    check_binning(type(ranker).__name__, binning)
    classes = target.is_classes(ranker.target)
    if not classes:
        target.check_numbers()
    formula = FORMULAS[ranker._formula]
    return StreamPlan(
        bytes_of_counts(
            n_lanes, len(target.class_labels()) if classes else binning.n_bins, binning
        ),
        lambda rows, columns, resamples: formula(
            streamed_counts(rows, columns, resamples, target, classes, binning)
        ),
    )


# kind of ranker → how it scores
STREAMED: dict[type, Callable[[Any, StreamedTarget, int], StreamPlan]] = {
    FStatistic: _f_plan,
    Correlation: _correlation_plan,
    TableFilter: _filter_plan,
}


def stream_plan(ranker: Any, target: StreamedTarget, n_lanes: int) -> StreamPlan:
    """How a ranker scores rows that are read block by block; an error if it cannot."""
    for kind, plan in STREAMED.items():
        if isinstance(ranker, kind):
            return plan(ranker, target, n_lanes)
    able = [n for n, named in RANKERS.items() if issubclass(_class_of(named.make), (*STREAMED,))]
    raise InputError(
        f"{type(ranker).__name__} needs all rows in memory. Rankers that read rows block by block: "
        f"{', '.join(able)}."
    )


def _class_of(make: Any) -> type:
    return make if isinstance(make, type) else object


def _checked_missing(ranker: Any) -> str:
    if ranker.near_zero_variance:
        name = f"{type(ranker).__name__}(near_zero_variance=True)"
        raise needs_all_rows(name, "near_zero_variance=False")
    return check_choice("missing", ranker.missing, MISSING)


def stream_scores(
    ranker: Any,
    rows: RowBatches,
    target: StreamedTarget,
    resamples: Resamples,
    *,
    n_jobs: int | None = None,
    progress: Progress = "auto",
) -> np.ndarray:
    """Score all features in all resamples, resamples × features."""
    plan = stream_plan(ranker, target, len(resamples))
    workers = min(n_cores(n_jobs), rows.n_features)
    fixed = _BYTES_OF_SCORE * len(resamples) * rows.n_features
    width = rows.columns_at_once(plan.bytes_per_column, fixed, n_workers=workers)
    n_groups = max(-(-rows.n_features // width), workers)
    step = -(-rows.n_features // n_groups)
    if active() is not None:  # neither memory nor cores may change what a task is
        step = max(_FEWEST_KEPT, -(-rows.n_features // _MOST_KEPT))
    rows = rows.at_most(width)
    tasks = [
        (ranker, rows, target, resamples, at, at + step) for at in range(0, rows.n_features, step)
    ]
    name = type(ranker).__name__
    parts = run_tasks(_score_columns, tasks, n_jobs=n_jobs, progress=progress, description=name)
    return np.concatenate(parts, axis=1)


def _score_columns(
    ranker: Any, rows: RowBatches, target: StreamedTarget, resamples: Resamples, at: int, to: int
) -> np.ndarray:
    plan = stream_plan(ranker, target, len(resamples))
    parts = rows.parts_of(range(at, min(to, rows.n_features)))
    return np.concatenate([plan.score(rows, part, resamples) for part in parts], axis=1)
