"""How many resamples: as many as asked for, or as many as a forecast says are needed."""

from __future__ import annotations

import logging
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from mainstay._parallel import Progress
from mainstay._validation import InputError, check_count
from mainstay.data import Data, StreamedData
from mainstay.forecast import Forecast, forecast_stability
from mainstay.procedure import Procedure, RunsByRanker
from mainstay.runs import Runs

_FIRST, _MOST = 50, 1024
_TARGET = 0.9
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class MadeRuns:
    """The runs of every ranker; with "auto", the forecast and the decision behind their number."""

    by_ranker: RunsByRanker
    forecast: Forecast | None = None
    decision: str | None = None


def make_runs(
    procedure: Procedure,
    data: Data | StreamedData,
    n_resamples: Any,
    rng: np.random.Generator,
    *,
    target_stability: float | None = None,
    n_jobs: int | None = None,
    progress: Progress = "auto",
) -> MadeRuns:
    """Run a procedure on a number of resamples, or with "auto" on as many as it needs."""
    options: dict[str, Any] = {"n_jobs": n_jobs, "progress": progress}
    if n_resamples == "auto":
        target = _TARGET if target_stability is None else target_stability
        return _run_on_enough(procedure, data, target, rng, options)
    if target_stability is not None:
        raise InputError(
            f"target_stability needs n_resamples='auto', but n_resamples is {n_resamples!r}."
        )
    # without resampling there is one run, however many are asked for
    n = check_count("n_resamples", n_resamples, 1 if procedure.is_alone else 2)
    return MadeRuns(procedure.run(data, n, rng, **options))


def repeat_on(selector: Any, procedure: Procedure, data: Data, seed: int) -> RunsByRanker:
    """Run a selector's procedure, or its rankers alone, on some of the rows, on one core."""
    rng = np.random.default_rng(seed)
    options: dict[str, Any] = {"n_jobs": 1, "progress": False}
    if procedure.is_alone:
        return procedure.run(data, 1, rng, **options)
    target = selector.target_stability
    return make_runs(
        procedure, data, selector.n_resamples, rng, target_stability=target, **options
    ).by_ranker


def _run_on_enough(
    procedure: Procedure,
    data: Data | StreamedData,
    target: float,
    rng: np.random.Generator,
    options: dict[str, Any],
) -> MadeRuns:
    """Run, forecast, and run more until the forecast says that the target is reached."""
    fixed = hasattr(procedure.resampling, "split") and not isinstance(procedure.resampling, str)
    if fixed or procedure.is_alone:
        raise InputError("n_resamples='auto' needs a resampling, not a splitter of fixed size.")
    try:
        rule = procedure.rule_of_merged()
    except InputError as error:
        raise InputError(
            f"n_resamples='auto' needs a forecast, but {error} Or give n_resamples a number."
        ) from None
    by_ranker: RunsByRanker = {}
    missing, seed = _FIRST, int(rng.integers(2**32))
    while missing > 0:
        more = procedure.run(data, missing, rng, **options)
        by_ranker = {
            name: Runs.concatenate([by_ranker[name], runs]) if by_ranker else runs
            for name, runs in more.items()
        }
        runs = procedure.merge(by_ranker)
        forecast = forecast_stability(
            runs,
            protocol="flat",
            n_features_to_select=procedure.per_run(data.n_features),
            aggregation=rule,
            random_state=seed,
        )
        plan = forecast.plan(target, largest=_MOST)
        # an early forecast is rough: at most three times as many before looking again
        missing = min(plan.recommended_size, 3 * runs.n_runs) - runs.n_runs
    decision = f"{runs.n_runs} resamples were run. {plan}"
    _log.info(decision)
    if not plan.reached:
        warnings.warn(decision, stacklevel=4)
    return MadeRuns(by_ranker, forecast, decision)
