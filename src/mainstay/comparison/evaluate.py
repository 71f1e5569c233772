"""The bench: every contender on the same training parts, scored on the same test parts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from mainstay._parallel import Progress, run_tasks
from mainstay._sklearn import seed as set_seed
from mainstay._validation import InputError, natural_order
from mainstay.comparison.candidates import ALL, ALONE, Contender
from mainstay.data import Data
from mainstay.ensemble import EnsembleSelector
from mainstay.ensemble.resample_count import repeat_on
from mainstay.ensemble.scoring import score_columns
from mainstay.runs import Runs

RankingKey = tuple[str, str, int | None]  # contender, aggregation, features a run selects


@dataclass(frozen=True)
class Candidate:
    """What one row of the table is about: a contender, an aggregation, a number of features."""

    contender: Contender
    aggregation: str
    n_features: int

    @property
    def label(self) -> str:
        """Its name in the table."""
        return self.contender.label(self.aggregation, self.n_features)

    def selector(self, **settings: Any) -> EnsembleSelector | None:
        """The EnsembleSelector that repeats it on all rows; None for baselines that see no data."""
        if self.contender.selector is None:
            return None
        alone = {"resampling": "none", "aggregation": "mean", "n_resamples": 100}
        rule = {"aggregation": self.contender.aggregations[self.aggregation]}
        settings |= alone if self.aggregation == ALONE else rule
        selector: EnsembleSelector = clone(self.contender.selector).set_params(
            n_features_to_select=self.n_features, **settings
        )
        return selector

    @property
    def ranking(self) -> RankingKey:
        """What it shares with others: candidates that differ in size only share their ranking,
        unless the aggregation counts the best of every run, which depends on the size.
        """
        counts = self.contender.counts(self.aggregation)
        return self.contender.key, self.aggregation, self.n_features if counts else None


@dataclass(frozen=True)
class Result:
    """What a candidate reached: a score per split, its selections, its median time."""

    scores: np.ndarray
    runs: Runs
    seconds: float


class Bench:
    """One shared outer split. Nothing is computed twice.

    A contender is run once per split; its aggregations read the same runs, and all sizes cut the
    same ranking. Candidates that select the same features of a split share one fit.

    Parameters
    ----------
    data : Data
        All rows.
    splits : list of (training rows, test rows)
        The outer split.
    estimator, scoring
        What is fitted to the selected features, and how it is scored.
    largest : int
        The largest number of features that will be asked for.
    rng : numpy.random.Generator
        Source of one seed per split. Contenders share it, and with it their inner resamples.
    paired : bool
        Whether the training parts of splits 0 and 1, 2 and 3, … are disjoint halves.
    """

    def __init__(
        self,
        data: Data,
        splits: Sequence[tuple[np.ndarray, np.ndarray]],
        estimator: Any,
        scoring: Any,
        *,
        largest: int,
        rng: np.random.Generator,
        n_jobs: int | None,
        progress: Progress,
        paired: bool = False,
    ) -> None:
        self.data, self.splits, self.largest, self.paired = data, splits, largest, paired
        self.scoring, self.n_jobs, self.progress = scoring, n_jobs, progress
        self.estimator = clone(estimator)
        set_seed(self.estimator, int(rng.integers(2**31)))
        self.seeds = [int(seed) for seed in rng.integers(2**62, size=len(splits))]
        self._by_name = natural_order(data.features)
        self._orders: dict[RankingKey, list[np.ndarray]] = {}
        self._seconds: dict[RankingKey, float] = {}
        self._scores: dict[tuple[int, bytes], float] = {}

    def evaluate(
        self, candidates: Sequence[Candidate], *, progress: Progress | None = None
    ) -> list[Result]:
        """Rank and score what is not yet known, and hand out the results."""
        progress = self.progress if progress is None else progress
        self._rank(candidates, progress)
        self._score(candidates, progress)
        return [self._result(candidate) for candidate in candidates]

    def _columns(self, candidate: Candidate, split: int) -> np.ndarray:
        """Columns that a candidate selects, in the natural order of their names."""
        if candidate.contender.name == ALL:
            return self._by_name
        chosen = self._orders[candidate.ranking][split][: candidate.n_features]
        return self._by_name[np.isin(self._by_name, chosen)]

    def _rank(self, candidates: Sequence[Candidate], progress: Progress) -> None:
        """Run every contender once per split, for all rankings that are not yet known."""
        wanted: dict[str, tuple[Contender, set[RankingKey]]] = {}
        for candidate in candidates:
            if candidate.ranking not in self._orders:
                contender = candidate.contender
                wanted.setdefault(contender.key, (contender, set()))[1].add(candidate.ranking)
        tasks = [
            (contender, sorted(keys, key=str), self.data, train, seed, self._by_name, self.largest)
            for contender, keys in wanted.values()
            for (train, _), seed in zip(self.splits, self.seeds, strict=True)
        ]
        results = run_tasks(
            rank_part, tasks, n_jobs=self.n_jobs, progress=progress, description="ranking"
        )
        for number, (_, keys) in enumerate(wanted.values()):
            parts = results[number * len(self.splits) : (number + 1) * len(self.splits)]
            for key in keys:
                orders, seconds = zip(*(part[key] for part in parts), strict=True)
                self._orders[key] = list(orders)
                # the median leaves out splits in which something was compiled
                self._seconds[key] = float(np.median(seconds))

    def _score(self, candidates: Sequence[Candidate], progress: Progress) -> None:
        tasks = []
        for split, (train, test) in enumerate(self.splits):
            sets = {}
            for candidate in candidates:
                columns = self._columns(candidate, split)
                if (split, columns.tobytes()) not in self._scores:
                    sets[columns.tobytes()] = columns
            if sets:
                tasks.append((split, sets, self.estimator, self.data, train, test, self.scoring))
        for scores in run_tasks(
            score_sets, tasks, n_jobs=self.n_jobs, progress=progress, description="scoring"
        ):
            self._scores.update(scores)

    def _result(self, candidate: Candidate) -> Result:
        support = np.zeros((len(self.splits), len(self.data.features)), dtype=bool)
        scores = np.empty(len(self.splits))
        for split in range(len(self.splits)):
            columns = self._columns(candidate, split)
            support[split, columns] = True
            scores[split] = self._scores[split, columns.tobytes()]
        seconds = self._seconds[candidate.ranking]
        runs = Runs.from_support(support, self.data.features)
        return Result(scores, runs.as_pairs() if self.paired else runs, seconds)


def rank_part(
    contender: Contender,
    keys: Sequence[RankingKey],
    data: Data,
    train: np.ndarray,
    seed: int,
    by_name: np.ndarray,
    largest: int,
) -> dict[RankingKey, tuple[np.ndarray, float]]:
    """Rank one training part in every way asked for: the best columns, the seconds it took."""
    selector = contender.selector
    if selector is None:
        order = by_name[np.random.default_rng(seed).permutation(len(by_name))][:largest]
        return dict.fromkeys(keys, (order, 0.0))
    part, results = data.rows(train), {}
    for alone in (False, True):
        wanted = [key for key in keys if (key[1] == ALONE) is alone]
        if not wanted:
            continue
        procedure = selector.procedure.alone() if alone else selector.procedure
        start = time.process_time()
        by_ranker = repeat_on(selector, procedure, part, seed)
        ranked = time.process_time()
        for key in wanted:
            rule = procedure
            if not alone:
                rule = replace(rule, aggregation=contender.aggregations[key[1]])
            if key[2] is not None:
                rule = replace(rule, n_features_per_run=key[2])
            begin = time.process_time()
            ties = np.random.default_rng(seed)  # between splits, not by name
            try:
                order = rule.combine(by_ranker, ties=ties).order[:largest]
            except InputError as error:  # which of many candidates it is
                raise InputError(f"{contender.name} with {key[1]}: {error}") from error
            results[key] = (order, ranked - start + time.process_time() - begin)
    return results


def score_sets(
    split: int,
    sets: dict[bytes, np.ndarray],
    estimator: Any,
    data: Data,
    train: np.ndarray,
    test: np.ndarray,
    scoring: Any,
) -> dict[tuple[int, bytes], float]:
    """Score every set of columns on one split."""
    return {
        (split, key): score_columns(columns, estimator, data, train, test, scoring)
        for key, columns in sets.items()
    }
