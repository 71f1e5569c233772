"""replicability: how far two independent studies would agree on the features."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mainstay._checkpoint import keep_in
from mainstay._parallel import Progress
from mainstay._provenance import plain
from mainstay._validation import (
    InputError,
    RandomState,
    check_count,
    check_fraction,
    check_random_state,
    share_or_number,
)
from mainstay.data import Data
from mainstay.measures import MEASURES, check_named
from mainstay.procedure import Procedure, as_procedure, asked_task
from mainstay.reliability.pairs import (
    agreement_in_pairs,
    gain_from_sharing,
    halve,
    run_studies,
)
from mainstay.reliability.result import Replicability
from mainstay.runs import Runs
from mainstay.similarity import FeatureSimilarity
from mainstay.twins import choice_of, find_twins

_IN_HALVES, _IN_QUARTERS = 4, 2  # pairs inside each part
_FEWEST_ROWS, _FEWEST_OF_CLASS = 8, 4
_FOR_EIGHTHS = 16  # rows of a class (or groups of it) from which eighths are looked at

Parts = list[np.ndarray]


def replicability(
    procedure: Any,
    X: Any,
    y: Any,
    *,
    measure: str | Callable[[Runs], float] = "nogueira",
    n_features_to_select: int | float | None = None,
    ensemble_size: int | None = None,
    n_pairs: int = 50,
    n_splits: int = 15,
    similarity: FeatureSimilarity | None = None,
    similarity_threshold: float = 0.9,
    confidence: float = 0.95,
    sample_weight: Any = None,
    groups: Any = None,
    task: str = "auto",
    random_state: RandomState = None,
    n_jobs: int | None = None,
    progress: Progress = "auto",
    checkpoint: str | Path | None = None,
) -> Replicability:
    """Estimate how far two independent studies would agree on the selected features.

    The rows are cut into two disjoint halves again and again (complementary pairs); the whole
    procedure runs on both, and the two results are compared. That is unbiased for two studies of
    n/2 rows each, because the halves share no row. What resamples of all rows agree on
    (`EnsembleSelector.stability_`) is another number: resamples share most of their rows, and
    noise that one of them likes the others like too.

    Parameters
    ----------
    procedure : EnsembleSelector, Procedure, or a ranker in any form
        What a study would do.
    X, y : the data
        As in `EnsembleSelector.fit`.
    measure : str or callable
        A name from `ms.list_measures()`: of selections (chance-corrected or not, twin-aware),
        of rankings or of scores; or a function of two runs.
    n_features_to_select : int or float, optional
        How many features (or which share) a study selects; that of the procedure if not given.
    ensemble_size : int, optional
        How many resamples a study's ensemble has. None: a study runs the rankers once, on its rows
        as they are.
    n_pairs : int
        How often the rows are cut into two halves.
    n_splits : int
        How often they are cut into halves (and quarters) inside which the uncertainty is measured.
    similarity : FeatureSimilarity, optional
        For twin-aware measures; by default computed from X with `similarity_threshold`.
    similarity_threshold : float
        Absolute correlation from which features count as exchangeable, for twin-aware measures. Of
        more than 50,000 features only those that the studies select, and the next best, are
        compared with all others; a warning says how many.
    confidence : float
        Level of the intervals.
    sample_weight, groups, task
        As in `EnsembleSelector`; groups are kept together on one side.
    random_state : int, Generator, RandomState or None
        Seed.
    n_jobs, progress
        The studies run in parallel; the result is the same for any number of cores.
    checkpoint : str or Path, optional
        A folder where finished studies are kept, so that a call that was killed goes on where it
        was; see `EnsembleSelector`. Another `measure` can be taken of the same studies.

    Returns
    -------
    Replicability
        `float()` of it is the agreement of two studies of n/2 rows; `.interval` covers that number
        over data sets; `.at_n` is extrapolated to n rows; `.table`, `.plot()`, `.save()`.

    Notes
    -----
    θ̂ is the mean over the pairs of φ(S_b, S_b′). Its variance over data sets is estimated from
    pairs inside disjoint halves and quarters; see `mainstay.reliability.variance`. Bias, coverage
    and width over populations with known truth: `experiments/results/replicability.md`.

    References
    ----------
    Shah, R. D. and Samworth, R. J. (2013). Variable selection with error control: another look at
    stability selection. J. Royal Statistical Society B 75, 55–80.

    Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52,
    239–281.

    Examples
    --------
    >>> import mainstay as ms
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> rep = ms.replicability("f_statistic", X, y, n_features_to_select=5, random_state=0)
    >>> rep.n_rows, round(float(rep), 1)
    (284, 0.9)
    """
    repeated = as_procedure(procedure)
    task = asked_task(procedure, task)
    data = Data.check(X, y, sample_weight=sample_weight, groups=groups, task=task)
    check_fraction("confidence", confidence, closed=False)
    _check_measure(measure, ensemble_size)
    if ensemble_size is not None:
        check_count("ensemble_size", ensemble_size, 2)
    check_size(repeated, data)
    wanted = repeated.n_features_per_run if n_features_to_select is None else n_features_to_select
    k = share_or_number("n_features_to_select", 0.1 if wanted is None else wanted, data.n_features)
    if repeated.n_features_per_run is None:
        repeated = replace(repeated, n_features_per_run=k)
    rng = check_random_state(random_state)
    levels = draw_parts(
        data,
        check_count("n_pairs", n_pairs, 5),
        check_count("n_splits", n_splits, 5),
        rng,
    )
    parts = [part for level in levels for part in level]
    start = time.perf_counter()
    settings = {
        "made_by": "replicability",
        "procedure": plain(procedure),
        "n_pairs": n_pairs,
        "n_splits": n_splits,
        "task": data.task,
        "random_state": plain(random_state),
    }
    studies = {**settings, "ensemble_size": ensemble_size}
    with keep_in(checkpoint, "replicability", studies, data.fingerprint):
        runs = run_studies(
            repeated, data, parts, ensemble_size, rng, n_jobs=n_jobs, progress=progress
        )
    seconds = time.perf_counter() - start
    if _is_adjusted(measure) and similarity is None:
        threshold = check_fraction("similarity_threshold", similarity_threshold)
        similarity = find_twins(data, threshold, lambda: choice_of([runs], k))
        if similarity is None and MEASURES[str(measure)].needs_similarity:
            raise InputError(f"{measure!r} needs features that are numbers; take another measure.")
    seed = int(rng.integers(2**32))
    scores = agreement_in_pairs(runs, measure, k, similarity=similarity, seed=seed)
    halves, inside = _by_level(scores, levels, n_splits)
    return Replicability(
        measure=measure if isinstance(measure, str) else getattr(measure, "__name__", "callable"),
        pairs=halves,
        inside_halves=inside[0],
        inside_quarters=inside[1] if len(inside) > 1 else None,
        n=data.n_rows,
        n_features_to_select=k,
        ensemble_size=ensemble_size,
        confidence=float(confidence),
        runs=runs[: 2 * n_pairs],
        sharing=gain_from_sharing(runs[: 2 * n_pairs], k, seed=seed),
        settings=settings,
        seconds=seconds,
    )


# ---------------------------------------------------------------------- which rows


def draw_parts(data: Data, n_pairs: int, n_splits: int, rng: np.random.Generator) -> list[Parts]:
    """Rows of all studies: halves; pairs inside halves; where possible, pairs inside quarters."""
    everything = np.arange(data.n_rows)
    halves = [half for _ in range(n_pairs) for half in halve(data, everything, rng)]
    quarters = [
        part
        for _ in range(n_splits)
        for half in halve(data, everything, rng)
        for _ in range(_IN_HALVES)
        for part in halve(data, half, rng)
    ]
    levels = [halves, quarters]
    if _smallest_class(data) >= _FOR_EIGHTHS:
        levels.append(
            [
                part
                for _ in range(_coarse(n_splits))
                for half in halve(data, everything, rng)
                for quarter in halve(data, half, rng)
                for _ in range(_IN_QUARTERS)
                for part in halve(data, quarter, rng)
            ]
        )
    return levels


def _coarse(n_splits: int) -> int:
    """How many splits into quarters go with a number of splits into halves."""
    return max(3, n_splits // 2)


def _by_level(
    scores: np.ndarray, levels: list[Parts], n_splits: int
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Agreements of the halves, and those inside halves and quarters: splits × parts × pairs."""
    shapes = [(n_splits, 2, _IN_HALVES), (_coarse(n_splits), 4, _IN_QUARTERS)]
    ends = np.cumsum([len(level) // 2 for level in levels])
    inside = [
        scores[start:stop].reshape(shape)
        for start, stop, shape in zip(ends[:-1], ends[1:], shapes, strict=False)
    ]
    return scores[: ends[0]], inside


def _smallest_class(data: Data) -> int:
    """Rows (or groups) of the rarest class; all of them where there are no classes."""
    units = np.arange(data.n_rows) if data.groups is None else data.groups
    if data.classes is None:
        return len(np.unique(units))
    return min(len(np.unique(units[data.classes == label])) for label in np.unique(data.classes))


# ---------------------------------------------------------------------- checks


def check_size(procedure: Procedure, data: Data) -> None:
    """Refuse what cannot be repeated on four parts of the rows that all hold every class."""
    if hasattr(procedure.resampling, "split") and not isinstance(procedure.resampling, str):
        raise InputError(
            "a splitter with fixed splits cannot be repeated on parts of the rows; give a "
            "resampling such as 'bootstrap'."
        )
    if data.n_rows < _FEWEST_ROWS:
        raise InputError(
            f"replicability compares halves of halves, which needs at least {_FEWEST_ROWS} rows, "
            f"got {data.n_rows}."
        )
    what = "row" if data.groups is None else "group"
    fewest = _smallest_class(data)
    if fewest < _FEWEST_OF_CLASS:
        of = "" if data.classes is None else " of every class"
        raise InputError(
            f"replicability cuts the data into four parts that share no {what}, which needs at "
            f"least {_FEWEST_OF_CLASS} {what}s{of}; the fewest are {fewest}."
        )


def _is_adjusted(measure: Any) -> bool:
    return isinstance(measure, str) and measure in MEASURES and MEASURES[measure].adjusted


def _check_measure(measure: Any, ensemble_size: int | None) -> None:
    if callable(measure):
        return
    entry = check_named(measure)
    if entry.kind in ("scores", "importances") and ensemble_size is not None:
        raise InputError(f"{entry.name!r} compares {entry.kind}, but ensembles end in rankings.")
