"""Links from forests (GENIE3) and from boosting (GRNBoost2): one regression per target gene."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mainstay._checkpoint import active
from mainstay._parallel import Progress, n_cores, run_tasks
from mainstay._validation import InputError, check_count
from mainstay.networks.expression import Expression, seed_of

_BLOCKS_IN_CHECKPOINT = 200
_BLOCKS_PER_CORE = 4  # so that a progress bar moves, and cores finish together


@dataclass(frozen=True)
class Boosting:
    """How boosting learns and when it stops; the defaults are GRNBoost2's."""

    depth: int = 3
    rate: float = 0.01
    share_of_samples: float = 0.9
    window: int = 25


BOOSTING = Boosting()


def forest_links(
    expression: Expression,
    seed: int,
    *,
    extra: bool = False,
    n_trees: int = 100,
    max_features: float | int | str | None = None,
    n_jobs: int | None = None,
    progress: Progress = "auto",
) -> np.ndarray:
    """How much splits on each regulator reduce the variance of each target, per tree.

    Columns are sorted once for all targets and trees. Random forests draw bootstrap samples, extra
    trees use all samples, as in GENIE3.
    """
    values = _columns(expression)
    if extra:
        columns: tuple[np.ndarray, ...] = (values,)
    else:
        orders = _orders(values)
        ordered = np.take_along_axis(values, orders, axis=1)
        steps = np.concatenate([np.zeros((len(values), 1), bool), np.diff(ordered) > 0], axis=1)
        ranks = np.empty(values.shape, np.int32)
        np.put_along_axis(ranks, orders.astype(np.intp), np.cumsum(steps, axis=1), axis=1)
        columns = (orders, ranks)
    count = check_count("n_estimators", n_trees, 1)
    check_max_features(max_features, values.shape[0])
    shared = (expression, columns, count, max_features, seed)
    return over_targets(_forest_block, *shared, n_jobs=n_jobs, progress=progress)


def _columns(expression: Expression) -> np.ndarray:
    return np.ascontiguousarray(expression.inputs.T, dtype=np.float32)


def _orders(values: np.ndarray) -> np.ndarray:
    """Row numbers of every column in ascending order of its values."""
    return np.argsort(values, axis=1, kind="stable").astype(np.uint32)


def _forest_block(
    targets: np.ndarray,
    expression: Expression,
    columns: tuple[np.ndarray, ...],
    n_trees: int,
    max_features: float | int | str | None,
    seed: int,
) -> np.ndarray:
    from mainstay._kernels.network_forest import extra_importances, forest_importances

    extra = len(columns) == 1
    kernel = extra_importances if extra else forest_importances
    out = np.zeros((len(targets), len(expression.regulators)))
    for row, target in zip(out, targets, strict=True):
        features = expression.candidates(int(target))
        if len(features):
            k = check_max_features(max_features, len(features))
            own_seed = np.uint64(seed_of(seed, expression.target_names[target]))
            y = np.ascontiguousarray(expression.outputs[:, target])
            kernel(*columns, y, features, n_trees, k, not extra, own_seed, row)
    return out.T


def check_max_features(max_features: float | int | str | None, n: int) -> int:
    """Turn None, "sqrt", a share or a number into how many of n features are looked at."""
    if max_features is None:
        return n
    if max_features == "sqrt":
        return max(1, math.isqrt(n))
    if isinstance(max_features, float) and 0 < max_features <= 1:
        return max(1, round(max_features * n))
    if isinstance(max_features, int | np.integer) and not isinstance(max_features, bool):
        return min(n, check_count("max_features", max_features, 1))
    raise InputError(
        f"max_features must be None (all), 'sqrt', a share in (0, 1] or a whole number, got "
        f"{max_features!r}."
    )


def boosting_links(
    expression: Expression,
    seed: int,
    *,
    n_trees: int = 5000,
    max_features: float | int | str | None = None,
    n_jobs: int | None = None,
    progress: Progress = "auto",
) -> np.ndarray:
    """Links as in GRNBoost2: slow stochastic boosting that stops when it no longer helps.

    Trees of depth 3, learning rate 0.01, 90% of the samples per tree; training stops when the loss
    on the samples left out has not improved, on average, over 25 trees. The importance is the
    number of trees times the share of the reduction in squared error.

    As in scikit-learn since 1.3, which GRNBoost2 is run with today, the improvement of a tree is
    the loss on the samples that the tree before it left out, less the loss on its own; before that
    it was measured on the same samples.
    """
    count = check_count("n_estimators", n_trees, 1)
    share: float | int | str = 0.1 if max_features is None else max_features
    check_max_features(share, len(expression.regulators))
    values = _columns(expression)
    columns = (_orders(values), values)
    shared = (expression, columns, count, share, seed)
    return over_targets(_boosting_block, *shared, n_jobs=n_jobs, progress=progress)


def _boosting_block(
    targets: np.ndarray,
    expression: Expression,
    columns: tuple[np.ndarray, np.ndarray],
    n_trees: int,
    max_features: float | int | str,
    seed: int,
) -> np.ndarray:
    from mainstay._kernels.network_boosting import boosting_importances

    n = len(expression.values)
    n_left_out = n - int(BOOSTING.share_of_samples * n)
    out = np.zeros((len(targets), len(expression.regulators)))
    for row, target in zip(out, targets, strict=True):
        features = expression.candidates(int(target))
        y = np.ascontiguousarray(expression.outputs[:, target])
        if len(features) == 0 or not y.any():
            continue
        k = check_max_features(max_features, len(features))
        own_seed = np.uint64(seed_of(seed, expression.target_names[target]))
        grown = boosting_importances(
            *columns, y, features, n_trees, k, n_left_out, BOOSTING.depth, BOOSTING.rate,
            BOOSTING.window, own_seed, row,
        )  # fmt: skip
        row *= grown / row.sum()
    return out.T


def over_targets(
    score_block: Callable[..., np.ndarray],
    expression: Expression,
    *rest: Any,
    n_jobs: int | None,
    progress: Progress,
) -> np.ndarray:
    """Score the regulators of all targets, block by block: a column per target.

    Parameters
    ----------
    score_block : callable
        Called with a block of targets (their numbers), the expression and the rest.
    expression, *rest
        What every block needs.
    n_jobs, progress
        There are several blocks for every core; in a checkpoint they are always the same.
    """
    n = len(expression.targets)
    wanted = _BLOCKS_PER_CORE * n_cores(n_jobs) if active() is None else _BLOCKS_IN_CHECKPOINT
    tasks = [(block, expression, *rest) for block in np.array_split(np.arange(n), min(n, wanted))]
    scores = run_tasks(
        score_block, tasks, n_jobs=n_jobs, progress=progress, description="target genes"
    )
    return np.concatenate(scores, axis=1)
