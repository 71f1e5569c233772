"""Do the intervals of `ms.stability` cover the truth, and do its tests keep their level?

Populations of independent runs whose stability is known: noise of several strengths, a rare second
selection, two selections that come up equally often, features that are drawn by lot.

python experiments/intervals.py                # about 5 minutes of computing
python experiments/intervals.py --report-only  # what has been computed so far
python experiments/intervals.py --quick        # a look, in a temporary folder: about 2 minutes
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from _cells import Cell, Cells
from _common import arguments, table, write
from scipy import special

import mainstay as ms

P, K = 40, 10  # features, and how many of them a run selects
RUNS = (5, 10, 20, 50, 100)
MEASURES = ("nogueira", "jaccard", "kuncheva", "sma_count", "spearman")
RARE = 0.05  # probability of the rare second selection
TRUTH_RUNS = 2000
SECOND_ORDER = np.random.default_rng(8).permutation(P)  # none of the first K stays there

_pairs = np.kron(np.eye(P // 2), np.ones((2, 2)))
TWINS = ms.FeatureSimilarity.from_matrix(np.where(np.eye(P) == 1, 1.0, 0.95 * _pairs), 0.9)
OPTIONS: dict[str, dict[str, Any]] = {
    "sma_count": {"similarity": TWINS, "random_state": 0, "tolerance": 0.05}
}


@dataclass(frozen=True)
class Population:
    """Runs as scores; those of the second kind favour other features in an unrelated order."""

    name: str
    advantage: float  # of the first K features; the scores are Gumbel noise plus this
    noise: float = 1.0
    second: float = 0.0  # probability of a run of the second kind
    by_lot: bool = False  # one of the K features is any of the others
    unequal: bool = False  # a run selects what scores above a threshold
    opposite: bool = False  # runs of the second kind have the order of the first, reversed

    def scores(self, rng: np.random.Generator, is_second: np.ndarray) -> np.ndarray:
        """One row of scores for every run."""
        m = len(is_second)
        scores = self.advantage * (np.arange(P) < K) - 1e-3 * np.arange(P)
        scores = scores + self.noise * rng.gumbel(size=(m, P))
        if self.by_lot:
            scores[np.arange(m), rng.integers(K, P, m)] += 100
            scores[:, : K - 1] += 50
        order = np.arange(P)[::-1] if self.opposite else SECOND_ORDER
        return np.where(is_second[:, None], scores[:, order], scores)

    def runs(self, rng: np.random.Generator, m: int, measure: str) -> ms.Runs:
        """Draw m independent runs."""
        return self._runs(self.scores(rng, rng.random(m) < self.second), measure)

    def _runs(self, scores: np.ndarray, measure: str) -> ms.Runs:
        if measure == "spearman":
            return ms.Runs.from_scores(scores)
        if self.unequal:
            return ms.Runs.from_support(scores > 2.5)
        return ms.Runs.from_scores(scores).top(K)

    def truth(self, measure: str) -> float:
        """Stability of many runs, with exactly the expected number of the second kind."""
        rng = np.random.default_rng(12345)
        is_second = np.arange(TRUTH_RUNS) < self.second * TRUTH_RUNS
        repeats = 2 if measure == "sma_count" else 10
        values = [
            stability(self._runs(self.scores(rng, is_second), measure), measure).value
            for _ in range(repeats)
        ]
        return float(np.mean(values))


POPULATIONS = (
    Population("no signal", 0.0),
    Population("weak signal", 2.0),
    Population("strong signal", 4.0),
    Population("nearly always the same", 7.0),
    Population("sizes vary", 3.0, unequal=True),
    Population("one feature by lot", 0.0, noise=0.0, by_lot=True),
    Population("second selection in 5%", 1.0, noise=0.0, second=RARE),
    Population("second selection in 5%, noise", 6.0, second=RARE),
    Population("second selection in 20%", 1.0, noise=0.0, second=0.2),
    Population("two selections, half each", 6.0, second=0.5),
    Population("reversed in 10%", 1.0, noise=0.0, second=0.1, opposite=True),
    Population("reversed in 20%", 1.0, noise=0.0, second=0.2, opposite=True),
    Population("reversed in 20%, noise", 6.0, second=0.2, opposite=True),
)


def stability(runs: ms.Runs, measure: str) -> ms.StabilityEstimate:
    return ms.stability(runs, measure, undefined=0.0, **OPTIONS.get(measure, {}))


@dataclass(frozen=True)
class Found:
    """What came out for one population, measure and number of runs."""

    population: str
    measure: str
    m: int
    truth: float
    coverage: float
    old_coverage: float
    width: float
    old_width: float
    rejected: float
    paired_rejected: float


@lru_cache
def truth_of(population: Population, measure: str) -> float:
    """The true stability, computed once for all numbers of runs."""
    return population.truth(measure)


def run_cell(cell: Cell, repeats: int, seed: int) -> dict[str, Any]:
    """Repeat the estimate, and compare estimates of the same population with each other.

    Cell = population, measure, number of runs.
    """
    name, measure, m = cell[0], cell[1], int(cell[2])
    population = next(one for one in POPULATIONS if one.name == name)
    truth = truth_of(population, measure)
    place = (POPULATIONS.index(population), MEASURES.index(measure), m)
    rng = np.random.default_rng([seed, *place])
    estimates = [stability(population.runs(rng, m, measure), measure) for _ in range(repeats)]
    new = np.array([e.interval for e in estimates])
    reach = np.array([_old_reach(e) for e in estimates])
    values = np.array([e.value for e in estimates])
    half = repeats // 2
    pairs = list(zip(estimates[:half], estimates[half:], strict=False))

    def rejects(paired: bool) -> float:
        tests = [ms.compare_stability(a, b, paired=paired) for a, b in pairs]
        return float(np.mean([test.p_value < 0.05 for test in tests]))

    slack = 1e-9
    found = Found(
        population.name, measure, m, truth,
        float(np.mean((new[:, 0] <= truth + slack) & (new[:, 1] >= truth - slack))),
        float(np.mean(np.abs(values - truth) <= reach + slack)),
        float(np.mean(new[:, 1] - new[:, 0])),
        float(np.mean(2 * reach)),
        rejects(False), rejects(True),
    )  # fmt: skip
    return asdict(found)


def _old_reach(e: ms.StabilityEstimate) -> float:
    """Half-width of the textbook interval: normal with the analytic error, t with the jackknife."""
    degrees = np.inf if e.error_method == "analytic" else e.n_runs - 1
    quantile = special.stdtrit(degrees, 0.975)
    return e.standard_error * float(quantile)


def applies(population: Population, measure: str) -> bool:
    if population.opposite:  # for selections it is one more second selection
        return measure == "spearman"
    return not (population.unequal and measure in ("kuncheva", "spearman"))


def report(cells: list[Found], repeats: int) -> dict[str, Any]:
    """Tables of coverage and level, and the worst cells."""
    by_key: dict[tuple[str, str], list[Found]] = {}
    for cell in cells:
        by_key.setdefault((cell.measure, cell.population), []).append(cell)

    def rows(show: Callable[[Found], str]) -> list[list[str]]:
        return [[*key, *(show(cell) for cell in row)] for key, row in sorted_rows]

    sorted_rows = sorted(by_key.items(), key=lambda item: MEASURES.index(item[0][0]))
    header = ["measure", "population", *(f"m = {m}" for m in RUNS)]
    worst = min(cells, key=lambda c: c.coverage)
    loudest = max(cells, key=lambda c: c.rejected)
    loudest_paired = max(cells, key=lambda c: c.paired_rejected)
    return {
        "repeats": f"{repeats:,}",
        "coverage": table(
            header, rows(lambda c: f"{c.coverage:.1%} ({c.old_coverage:.0%})"), text=2
        ),
        "width": table(header, rows(lambda c: f"{c.width:.3f} ({c.old_width:.3f})"), text=2),
        "level": table(
            header, rows(lambda c: f"{c.rejected:.1%}, {c.paired_rejected:.1%}"), text=2
        ),
        "worst": _say(worst, worst.coverage, repeats),
        "above_99": sum(c.coverage > 0.99 for c in cells),
        "n_cells": len(cells),
        "loudest": _say(loudest, loudest.rejected, repeats // 2),
        "loudest_paired": _say(loudest_paired, loudest_paired.paired_rejected, repeats // 2),
        "coverage_error": f"{100 * np.sqrt(0.05 * 0.95 / repeats):.1f}",
        "level_error": f"{100 * np.sqrt(0.05 * 0.95 / (repeats // 2)):.1f}",
    }


def _say(cell: Found, share: float, n: int) -> str:
    error = np.sqrt(share * (1 - share) / n)
    return f"{share:.1%} ± {error:.1%} (`{cell.measure}`, {cell.population}, m = {cell.m})"


def main(options: argparse.Namespace) -> None:
    repeats = 100 if options.quick else 500
    wanted: list[Cell] = [
        (population.name, measure, str(m))
        for population, measure in itertools.product(POPULATIONS, MEASURES)
        if applies(population, measure)
        for m in RUNS
    ]
    store = Cells(options, "intervals", "cells")
    store.compute(wanted, partial(run_cell, repeats=repeats, seed=options.seed))
    store.pack()
    found = store.found(wanted)
    if len(found) < len(wanted):
        raise SystemExit(f"{len(wanted) - len(found)} of {len(wanted)} cells are not computed yet.")
    names = Found.__dataclass_fields__
    cells = [Found(**{name: cell[name] for name in names}) for cell in found.values()]
    write("intervals.md", options, report(cells, repeats))


if __name__ == "__main__":
    main(arguments(__doc__, cache=True, resumable=True))
