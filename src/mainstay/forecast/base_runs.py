"""The base runs behind a forecast: a ranker run on resamples of the data, or of halves of it."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mainstay._checkpoint import active
from mainstay._parallel import Progress, n_cores, run_tasks
from mainstay._provenance import plain
from mainstay._validation import InputError, RandomState, check_count
from mainstay.data import Data
from mainstay.procedure import Procedure
from mainstay.reliability.pairs import halve
from mainstay.runs import Runs

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
    paired : bool
        Whether halves 0 and 1, 2 and 3, … are partners, which share no row.
    """

    runs: Runs
    halves: np.ndarray | None = None
    seconds: float = math.nan
    paired: bool = False

    def with_more(self, more: BaseRuns) -> BaseRuns:
        """Add runs of the same kind."""
        n, new = self.runs.n_runs, more.runs.n_runs
        halves = None
        if self.halves is not None and more.halves is not None:
            halves = np.concatenate([self.halves, more.halves + self.halves.max() + 1])
        seconds = (n * self.seconds + new * more.seconds) / (n + new)
        return BaseRuns(Runs.concatenate([self.runs, more.runs]), halves, seconds, self.paired)


@dataclass(frozen=True, eq=False)
class Source:
    """What makes base runs: a procedure, its data, the protocol and a budget of runs."""

    procedure: Procedure
    data: Data
    protocol: str
    n_runs: int
    n_halves: int | None
    n_jobs: int | None
    progress: Progress

    def settings(self, ranker: Any, random_state: RandomState) -> dict[str, Any]:
        """What the runs depend on, besides the data: `ranker` and the seed as they were given."""
        return {
            "ranker": plain(ranker),
            "resampling": plain(self.procedure.resampling),
            "protocol": self.protocol,
            "n_runs": self.n_runs,
            "n_halves": self.n_halves,
            "task": self.data.task,
            "random_state": plain(random_state),
        }

    def first(self, rng: np.random.Generator) -> BaseRuns:
        """Spend the budget."""
        if self.protocol == "flat":
            return self.flat(self.n_runs, rng)
        return self.in_halves(*shape_of_halves(self.n_runs, self.n_halves, self.protocol), rng)

    def more(self, base: BaseRuns, most: int, rng: np.random.Generator) -> BaseRuns:
        """Half as many runs again as at first: fresh resamples, or pairs of halves as before."""
        n = max(2, min(self.n_runs // 2, most))
        if self.protocol == "flat" or base.halves is None:
            return self.flat(n, rng)
        n_inside = int(np.bincount(base.halves).min())
        return self.in_halves(2 * max(1, n // (2 * n_inside)), n_inside, rng)

    def flat(self, n_runs: int, rng: np.random.Generator) -> BaseRuns:
        """Run the rankers on fresh resamples of all rows."""
        clock = _Clock(self.n_jobs)
        made = self.procedure.run(
            self.data, n_runs, rng, n_jobs=self.n_jobs, progress=self.progress
        )
        runs = self.procedure.merge(made)
        return BaseRuns(runs, None, clock.seconds() / runs.n_runs)

    def in_halves(self, n_halves: int, n_inside: int, rng: np.random.Generator) -> BaseRuns:
        """Draw halves of the rows, in disjoint pairs or not; run the rankers on resamples of each.

        What each half holds is resampled as the procedure says.
        """
        clock, data, paired = _Clock(self.n_jobs), self.data, self.protocol == "nested"
        if paired:
            everything = np.arange(data.n_rows)
            halves = [half for _ in range(n_halves // 2) for half in halve(data, everything, rng)]
        else:
            halves = [draw_half(data, rng) for _ in range(n_halves)]
        if data.is_classification:
            _report_missing_classes(data.y, halves)
        seeds = rng.integers(2**62, size=n_halves)
        tasks = [
            (self.procedure, data, half, n_inside, int(seed))
            for half, seed in zip(halves, seeds, strict=True)
        ]
        parts = run_tasks(
            _run_half,
            tasks,
            n_jobs=self.n_jobs,
            progress=self.progress,
            description="training halves",
        )
        labels = np.repeat(np.arange(n_halves), [len(part["values"]) for part in parts])
        runs = Runs.concatenate([_as_runs(part, data.features) for part in parts])
        return BaseRuns(runs, labels, clock.seconds() / runs.n_runs, paired)


def shape_of_halves(n_runs: int, n_halves: int | None, protocol: str) -> tuple[int, int]:
    """Split a budget of runs into halves and runs inside a half.

    Twice as many halves as runs inside is about best: the spread between halves is the larger part
    of the error, and the curve inside them can be extrapolated. Fewer than 5 pairs of halves have
    very wide intervals.
    """
    if protocol == "nested":
        check_count("n_runs", n_runs, 12)
        if n_halves is None:
            n_halves = 2 * max(min(5, n_runs // 4), round(math.sqrt(n_runs / 2)))
        check_count("n_halves", n_halves, 6, n_runs // 2)
        if n_halves % 2:
            raise InputError(
                "protocol='nested' compares the two halves of a pair, so n_halves must be even, "
                f"got {n_halves}."
            )
    else:
        check_count("n_runs", n_runs, 6)
        if n_halves is None:
            n_halves = max(3, round(math.sqrt(2 * n_runs)))
        check_count("n_halves", n_halves, 3, n_runs // 2)
    return n_halves, n_runs // n_halves


def draw_half(data: Data, rng: np.random.Generator) -> np.ndarray:
    """Row numbers of one random half: of every class, of the groups if given.

    An odd member of a class is in or out at random.
    """
    y, groups = data.y, data.groups
    if groups is not None:
        units = np.unique(groups)
        for _ in range(_MOST_TRIES):
            rows = np.flatnonzero(np.isin(groups, rng.permutation(units)[: len(units) // 2]))
            if (y[rows] != y[rows[0]]).any():
                return rows
        raise InputError(f"in {_MOST_TRIES} tries no half of the groups held two values of y.")
    strata = np.zeros(len(y), dtype=int) if data.classes is None else data.classes
    chosen = []
    for stratum in np.unique(strata):
        members = rng.permutation(np.flatnonzero(strata == stratum))
        chosen.append(members[: (len(members) + int(rng.integers(2))) // 2])
    return np.sort(np.concatenate(chosen))


def _run_half(
    procedure: Procedure, data: Data, rows: np.ndarray, n_runs: int, seed: int
) -> dict[str, Any]:
    """Runs on one half, as what a checkpoint can keep; `_as_runs` undoes it."""
    rng = np.random.default_rng(seed)
    runs = procedure.merge(procedure.run(data.rows(rows), n_runs, rng, n_jobs=1, progress=False))
    values = runs.support if runs.kind == "support" else runs.scores
    return {"values": values, "paired": runs.paired, "resampled": runs.resampled}


def _as_runs(part: dict[str, Any], features: Sequence[str]) -> Runs:
    make = Runs.from_support if part["values"].dtype == bool else Runs.from_scores
    runs = make(part["values"], features)
    runs = runs.as_pairs() if part["paired"] else runs
    return runs.as_resampled() if part["resampled"] else runs


class _Clock:
    """Core-seconds since it was made: exact in one process, cores × time in several.

    NaN where runs come from a checkpoint, since what those took is not known.
    """

    def __init__(self, n_jobs: int | None) -> None:
        self.cores = n_cores(n_jobs)
        self.read = time.process_time if self.cores == 1 else time.perf_counter
        self.start = self.read()

    def seconds(self) -> float:
        job = active()
        if job is not None and job.has_results:
            return math.nan
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
