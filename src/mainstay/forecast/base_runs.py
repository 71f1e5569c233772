"""The base runs behind a forecast: a ranker run on resamples of the data, or of halves of it."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone

from mainstay._parallel import n_cores, run_tasks
from mainstay._validation import InputError, check_count
from mainstay.resampled import Data, collect_runs, combined_runs, is_classification
from mainstay.runs import Runs

if TYPE_CHECKING:
    from mainstay.ensemble import EnsembleSelector

_MOST_TRIES = 100


@dataclass(frozen=True, eq=False)
class BaseRuns:
    """Runs, the training half that each came from, and what they cost.

    Attributes
    ----------
    runs : Runs
        The runs.
    halves : numpy.ndarray or None
        Number of the half of each run; None if every run saw a resample of all rows.
    seconds : float
        Core-seconds per run; NaN if not known.
    """

    runs: Runs
    halves: np.ndarray | None = None
    seconds: float = math.nan

    def with_more(self, more: BaseRuns) -> BaseRuns:
        """Add runs of the same kind."""
        n, new = self.runs.n_runs, more.runs.n_runs
        halves = None
        if self.halves is not None and more.halves is not None:
            halves = np.concatenate([self.halves, more.halves + self.halves.max() + 1])
        seconds = (n * self.seconds + new * more.seconds) / (n + new)
        return BaseRuns(Runs.concatenate([self.runs, more.runs]), halves, seconds)


def run_flat(
    selector: EnsembleSelector, data: Data, n_runs: int, rng: np.random.Generator
) -> BaseRuns:
    """Run the selector's rankers on fresh resamples of all rows."""
    clock = _Clock(selector.n_jobs)
    runs = _run(selector, data, n_runs, rng)
    return BaseRuns(runs, None, clock.seconds() / runs.n_runs)


def run_nested(
    selector: EnsembleSelector, data: Data, n_halves: int, n_inside: int, rng: np.random.Generator
) -> BaseRuns:
    """Draw random halves of the rows; run the rankers on resamples of each half."""
    clock = _Clock(selector.n_jobs)
    halves = [draw_half(data.y, data.groups, rng) for _ in range(n_halves)]
    if is_classification(data.y):
        _report_missing_classes(data.y, halves)
    quiet = clone(selector).set_params(n_jobs=1, progress=False)
    seeds = rng.integers(2**62, size=n_halves)
    tasks = [(quiet, data, half, n_inside, int(s)) for half, s in zip(halves, seeds, strict=True)]
    parts = run_tasks(
        _run_half,
        tasks,
        n_jobs=selector.n_jobs,
        progress=selector.progress,
        description="training halves",
    )
    labels = np.repeat(np.arange(n_halves), [part.n_runs for part in parts])
    runs = Runs.concatenate(parts)
    return BaseRuns(runs, labels, clock.seconds() / runs.n_runs)


def shape_of_halves(n_runs: int, n_halves: int | None) -> tuple[int, int]:
    """Split a budget of runs into halves and runs inside a half.

    Twice as many halves as runs inside is about best: the spread between halves is the larger part
    of the error, and the curve inside them can be extrapolated.
    """
    check_count("n_runs", n_runs, 6)
    if n_halves is None:
        n_halves = max(3, round(math.sqrt(2 * n_runs)))
    check_count("n_halves", n_halves, 3, n_runs // 2)
    return n_halves, n_runs // n_halves


def draw_half(y: np.ndarray, groups: np.ndarray | None, rng: np.random.Generator) -> np.ndarray:
    """Row numbers of a random half: of every class if y holds classes, of the groups if given.

    An odd member of a class is in or out at random.
    """
    if groups is not None:
        units = np.unique(groups)
        for _ in range(_MOST_TRIES):
            rows = np.flatnonzero(np.isin(groups, rng.permutation(units)[: len(units) // 2]))
            if (y[rows] != y[rows[0]]).any():
                return rows
        raise InputError(f"in {_MOST_TRIES} tries no half of the groups held two values of y.")
    strata = np.unique(y, return_inverse=True)[1].ravel() if is_classification(y) else 0 * y
    chosen = []
    for stratum in np.unique(strata):
        members = rng.permutation(np.flatnonzero(strata == stratum))
        chosen.append(members[: (len(members) + int(rng.integers(2))) // 2])
    return np.sort(np.concatenate(chosen))


def _run_half(
    selector: EnsembleSelector, data: Data, rows: np.ndarray, n_runs: int, seed: int
) -> Runs:
    return _run(selector, data.rows(rows), n_runs, np.random.default_rng(seed))


def _run(selector: EnsembleSelector, data: Data, n_runs: int, rng: np.random.Generator) -> Runs:
    return combined_runs(selector, collect_runs(selector, data, n_runs, rng))


class _Clock:
    """Core-seconds since it was made: exact in one process, cores × time in several."""

    def __init__(self, n_jobs: int | None) -> None:
        self.cores = n_cores(n_jobs)
        self.read = time.process_time if self.cores == 1 else time.perf_counter
        self.start = self.read()

    def seconds(self) -> float:
        return (self.read() - self.start) * self.cores


def _report_missing_classes(y: np.ndarray, halves: Iterable[np.ndarray]) -> None:
    """Say which classes are so rare that some halves do without them."""
    classes, sizes = np.unique(y, return_counts=True)
    present = np.array([np.isin(classes, y[half]) for half in halves])
    for label, size, found in zip(classes, sizes, present.sum(axis=0), strict=True):
        if found < len(present):
            warnings.warn(
                f"class {label!s} ({size} row{'s' if size != 1 else ''}) is missing in "
                f"{len(present) - found} of {len(present)} training halves.",
                stacklevel=4,
            )
