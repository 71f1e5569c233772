"""forecast_stability: from few runs to the stability of an ensemble not yet run."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mainstay._checkpoint import keep_in
from mainstay._parallel import Progress
from mainstay._validation import (
    InputError,
    RandomState,
    check_choice,
    check_count,
    check_fraction,
    check_random_state,
    numbered,
    share_or_number,
)
from mainstay.data import Data
from mainstay.forecast.base_runs import BaseRuns, Source
from mainstay.forecast.curves import FlatCurve, HalvesCurve, make_curve
from mainstay.forecast.result import Forecast, fit_model, point_at, tabulate
from mainstay.forecast.virtual import (
    Ensembles,
    check_measure,
    check_sizes,
    compares_selections,
)
from mainstay.procedure import as_procedure, asked_task
from mainstay.runs import Runs
from mainstay.similarity import FeatureSimilarity

PROTOCOLS = ("flat", "nested", "overlapping")
METHODS = ("resampling", "simulator")
_log = logging.getLogger(__name__)


def forecast_stability(
    ranker: Any,
    X: Any = None,
    y: Any = None,
    *,
    protocol: str,
    n_features_to_select: int | float | None = None,
    ensemble_sizes: Sequence[int] = (1, 2, 5, 10, 20, 50, 100),
    n_runs: int = 100,
    measure: Any = "jaccard",
    aggregation: Any = None,
    resampling: Any = None,
    similarity: FeatureSimilarity | None = None,
    method: str = "resampling",
    halves: Any = None,
    n_halves: int | None = None,
    precision: float | None = None,
    max_runs: int = 1000,
    n_ensembles: int = 100,
    confidence: float = 0.95,
    sample_weight: Any = None,
    groups: Any = None,
    task: str = "auto",
    random_state: RandomState = None,
    n_jobs: int | None = None,
    progress: Progress = "auto",
    checkpoint: str | Path | None = None,
) -> Forecast:
    """Forecast how stable an ensemble of any size would be, from few runs of its ranker.

    Parameters
    ----------
    ranker : str, ranker, estimator, EnsembleSelector, Procedure or Runs
        What would be run many times: a name from `list_rankers()`, any ranker or scikit-learn
        estimator, or an `EnsembleSelector` or `Procedure`, whose settings are taken over. Or runs
        that were made already; then X and y are not needed.
    X, y : data
        The samples × features and the target.
    protocol : {"flat", "nested", "overlapping"}
        Which question to answer. They have very different answers, so there is no default.

        - "nested": *would another study find the same features?* The rows are cut into two
          disjoint halves again and again; each half builds its own ensemble, and the two lists are
          compared. They agree as far as those of two independent studies with half of these rows
          each would. A larger ensemble irons out the noise of the ranker, but not the difference
          between the rows, so the curve levels off, often low.
        - "flat": *would I get the same list again from these rows?* Every run sees a fresh
          resample of all rows. A larger ensemble always helps, and with enough runs the list no
          longer changes, even if it is noise. This is what tells you how many resamples to run.
        - "overlapping": the experiment of Onda et al. (2021), for comparison with it. Halves are
          drawn independently of each other, so that two of them share half of their rows, and
          all are compared. On data without any signal the lists still agree; this is not what
          two studies would do.
    n_features_to_select : int or float
        How many features (or which share) an ensemble selects. Not needed if `measure` compares
        whole rankings.
    ensemble_sizes : sequence of int
        Sizes to forecast.
    n_runs : int
        How many times the ranker is actually run.
    measure : str or callable
        A name from `ms.list_measures()`.
    aggregation : str or callable, optional
        A name from `ms.list_aggregations()`; "mean" by default. Rules that count selections
        ("frequency", "vote", "borda") count the `n_features_to_select` best of a ranking.
    resampling : str, resampling or splitter, optional
        How one run's rows are drawn; "bootstrap" by default.
    similarity : FeatureSimilarity, optional
        For measures that count similar features as exchangeable.
    method : {"resampling", "simulator"}
        "resampling" draws ensembles from the observed runs. "simulator" is the model of Onda et al.
        (2021) with two parameters: analytic, but it takes all useful features for equally good.
        Its limit follows from how many features the runs on these rows prefer, whether or not
        another study would prefer them too. `Forecast.compare()` shows both.
    halves : sequence of length n_runs, optional
        For runs made elsewhere, nested or overlapping: the number of the training half that each
        run came from. Nested: of the sorted numbers, the first and the second, the third and the
        fourth, … are the two halves of one cut, which share no row.
    n_halves : int, optional
        Number of training halves, in pairs if nested; by default about twice the number of runs
        in each.
    precision : float, optional
        Sequential mode: add base runs until every interval is at most ± `precision`, or `max_runs`
        are reached. Intervals of "nested" are over data sets: more runs narrow them only so far.
    max_runs : int
        Most base runs of the sequential mode.
    n_ensembles : int
        How many ensembles are drawn per size.
    confidence : float
        Level of the intervals.
    sample_weight, groups : arrays, optional
        Weights of the rows; rows that belong together and are drawn together.
    task : {"auto", "classification", "regression"}
        What y is; see `EnsembleSelector`.
    random_state : int, Generator or None
        Seed of resamples, rankers and draws.
    n_jobs : int, optional
        Number of cores; the result is the same for any number.
    progress : bool or "auto"
        Show a progress bar; "auto" on a terminal.
    checkpoint : str or Path, optional
        A folder where finished base runs are kept, so that a call that was killed goes on where it
        was; see `EnsembleSelector`. Other sizes, measures and aggregations can be forecast from the
        same runs. What runs from there took is not known: `seconds_per_run` is then NaN.

    Returns
    -------
    Forecast
        `.curve`, `.plan(target)`, `.compare()`, `.plot()`, `.summary()`, and the paper's
        `.n_useful` and `.p`.

    Notes
    -----
    Flat: ensembles of m of the observed runs are drawn with replacement and compared (without
    overlap where the pool holds at least ten of them). Nested: up to the number b of runs in a
    half, ensembles are drawn inside the two halves of a pair and compared; beyond it
    1/Φ(m) = a + c/m, with Φ the stability corrected for chance; where the halves hardly agree, its
    growth is taken from how far ensembles inside the same half do.

    What the intervals refer to. Nested: the agreement of two independent studies with half of the
    rows each, over data sets of this kind. The standard error is s·√(1/B + 1), with s the standard
    deviation over B pairs (Nadeau and Bengio 2003): a heuristic, and usually on the safe side.
    `experiments/results/forecast_disjoint` measures bias, error and coverage against independent
    data; `ms.replicability` estimates the variance over data sets from disjoint parts of the rows,
    at the price of more runs. Flat and overlapping: jackknife intervals over tenths of the runs,
    or over halves, for other resamples of the same rows; they say nothing of other data.
    `experiments/results/onda2021` measures their errors on 13 data sets.

    Rankings with ties count average ranks, and ties at the cut are broken at random: in column
    order they would look like agreement.

    References
    ----------
    Onda, Gao, Kotera, Oono (2021), Fast estimation method for the stability of ensemble feature
    selectors, arXiv.

    Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52,
    239–281.

    Examples
    --------
    >>> import mainstay as ms
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> fc = ms.forecast_stability("information_gain", X, y, n_features_to_select=5,
    ...                            protocol="nested", ensemble_sizes=[1, 10, 50], random_state=0)
    >>> fc.curve[["ensemble_size", "stability"]].round(1)
       ensemble_size  stability
    0              1        0.7
    1             10        0.9
    2             50        0.9
    """
    check_choice("protocol", protocol, PROTOCOLS)
    check_choice("method", method, METHODS)
    sizes = check_sizes(ensemble_sizes)
    rng = check_random_state(random_state)
    check_fraction("confidence", confidence, closed=False)
    check_count("n_ensembles", n_ensembles, 10)
    check_measure(measure, similarity)
    if precision is not None and not precision > 0:
        raise InputError(f"precision must be a number above 0, got {precision!r}.")
    source: Source | None = None
    kept: AbstractContextManager[None] = nullcontext()
    if isinstance(ranker, Runs):
        if X is not None or y is not None:
            raise InputError("runs that were made already need no X and y; leave them out.")
        if precision is not None:
            raise InputError("precision= adds runs, which needs a ranker and data, not runs.")
        if checkpoint is not None:
            raise InputError("checkpoint= keeps runs while they are made; these are made already.")
        labels = _checked_halves(halves, protocol, ranker.n_runs)
        base = BaseRuns(ranker, labels, paired=protocol == "nested")
    else:
        if halves is not None:
            raise InputError("halves= is for runs made elsewhere; use n_halves= here.")
        if X is None or y is None:
            raise InputError(
                "a forecast from a ranker needs the data X and y; or give runs made already."
            )
        procedure = as_procedure(ranker, aggregation=aggregation, resampling=resampling)
        if n_features_to_select is None:
            n_features_to_select = _number_of(ranker)
        task = asked_task(ranker, task)
        data = Data.check(X, y, sample_weight=sample_weight, groups=groups, task=task)
        n_jobs = getattr(ranker, "n_jobs", None) if n_jobs is None else n_jobs
        budget = check_count("n_runs", n_runs, 2)
        source = Source(procedure, data, protocol, budget, n_halves, n_jobs, progress)
        aggregation = procedure.rule_of_merged()
        settings = source.settings(ranker, random_state)
        kept = keep_in(checkpoint, "forecast_stability", settings, data.fingerprint)
    rule = "mean" if aggregation is None else aggregation

    def curve_of(base: BaseRuns) -> FlatCurve | HalvesCurve:
        ensembles = Ensembles(base.runs, rule, measure, k, similarity)
        n = n_ensembles if ensembles.averages else max(10, n_ensembles // 4)  # others take long
        return make_curve(ensembles, base.halves, n, confidence, seed, paired=base.paired)

    with kept:
        if source is not None:
            base = source.first(rng)
        k = _checked_number(n_features_to_select, base.runs, compares_selections(measure))
        seed = int(rng.integers(2**32))
        if source is not None and precision is not None:
            base = _enough_runs(source, base, curve_of, sizes, precision, max_runs, rng)
    curve = curve_of(base)
    model = fit_model(curve.ensembles, _single_agreement(curve, base, seed), seed)
    points = [point_at(curve, model, method, float(m)) for m in sizes]
    return Forecast(tabulate(points), protocol, method, k, base, confidence, curve, model)


def _enough_runs(
    source: Source,
    base: BaseRuns,
    curve_of: Callable[[BaseRuns], FlatCurve | HalvesCurve],
    sizes: Sequence[int],
    precision: float,
    max_runs: int,
    rng: np.random.Generator,
) -> BaseRuns:
    """Add base runs until every interval is at most ± `precision`, or `max_runs` are reached."""
    widest = math.inf
    while widest > precision and base.runs.n_runs < max_runs:
        curve = curve_of(base)
        widest = max((q.upper - q.lower) / 2 for q in map(curve.point, map(float, sizes)))
        _log.info("%d runs: intervals up to ± %.3f", base.runs.n_runs, widest)
        if widest > precision:
            base = base.with_more(source.more(base, max_runs - base.runs.n_runs, rng))
    return base


def _single_agreement(curve: FlatCurve | HalvesCurve, base: BaseRuns, seed: int) -> float:
    """Jaccard index of single runs, from which the paper's p is solved."""
    if curve.ensembles.n_selected is None:
        return 0.0
    plain = replace(curve.ensembles, measure="jaccard", similarity=None)
    single = make_curve(plain, base.halves, 100, curve.confidence, seed, paired=base.paired)
    return single.point(1.0, interval=False).stability


def _number_of(ranker: Any) -> int | float | None:
    """How many features a procedure or an EnsembleSelector selects, if it says so beforehand."""
    wanted = getattr(ranker, "n_features_to_select", None) if hasattr(ranker, "procedure") else None
    wanted = getattr(ranker, "n_features_per_run", None) if wanted is None else wanted
    return None if isinstance(wanted, str) else wanted


def _checked_halves(halves: Any, protocol: str, n_runs: int) -> np.ndarray | None:
    if protocol == "flat":
        if halves is not None:
            raise InputError("halves= belongs to protocol='nested' and 'overlapping'.")
        return None
    if halves is None:
        raise InputError(
            f"protocol={protocol!r} compares ensembles from different training halves, so runs "
            "made elsewhere need halves=, the half of every run; runs on resamples of all rows "
            "(such as those of an EnsembleSelector) cannot answer it: give a ranker and data "
            "instead."
        )
    labels = np.asarray(halves)
    if labels.shape != (n_runs,):
        raise InputError(f"halves must name the half of each of {n_runs} runs, got {labels.shape}.")
    return numbered(labels)


def _checked_number(wanted: Any, runs: Runs, needed: bool) -> int | None:
    p = runs.n_features
    if wanted is None:
        if not needed:
            return None
        if runs.kind != "support":
            raise InputError(
                "n_features_to_select is needed: how many features would an ensemble select?"
            )
        wanted = max(1, min(round(float(runs.sizes.mean())), p - 1))
    k = share_or_number("n_features_to_select", wanted, p)
    if k >= p:
        raise InputError(
            f"n_features_to_select is {k} of {p} features; a selection must leave some out."
        )
    return k
