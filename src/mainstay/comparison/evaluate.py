"""The bench: every contender on the same training parts, scored on the same test parts."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from mainstay._parallel import Progress, run_tasks
from mainstay._sklearn import seed as set_seed
from mainstay._validation import natural_order
from mainstay.comparison.candidates import ALL, ALONE, Contender
from mainstay.comparison.cross_validation import without_resampling
from mainstay.resampled import Data, combine_rankers, score_columns
from mainstay.runs import Runs


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

    @property
    def ranking(self) -> tuple[str, str]:
        """What it shares with the candidates that differ in size only."""
        return self.contender.key, self.aggregation


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
    ) -> None:
        self.data, self.splits, self.largest = data, splits, largest
        self.scoring, self.n_jobs, self.progress = scoring, n_jobs, progress
        self.estimator = clone(estimator)
        set_seed(self.estimator, int(rng.integers(2**31)))
        self.seeds = [int(seed) for seed in rng.integers(2**62, size=len(splits))]
        self._by_name = natural_order(data.features)
        self._orders: dict[tuple[str, str], list[np.ndarray]] = {}
        self._seconds: dict[tuple[str, str], float] = {}
        self._scores: dict[tuple[int, bytes], float] = {}

    def evaluate(
        self, candidates: Sequence[Candidate], *, progress: Progress | None = None
    ) -> list[Result]:
        """Rank and score what is not yet known, and hand out the results."""
        progress = self.progress if progress is None else progress
        self._rank((candidate.contender for candidate in candidates), progress)
        self._score(candidates, progress)
        return [self._result(candidate) for candidate in candidates]

    def _columns(self, candidate: Candidate, split: int) -> np.ndarray:
        """Columns that a candidate selects, in the natural order of their names."""
        if candidate.contender.name == ALL:
            return self._by_name
        chosen = self._orders[candidate.ranking][split][: candidate.n_features]
        return self._by_name[np.isin(self._by_name, chosen)]

    def _rank(self, contenders: Iterable[Contender], progress: Progress) -> None:
        new: dict[str, Contender] = {}
        for contender in contenders:
            rankings = [(contender.key, name) for name in contender.aggregations]
            if not all(ranking in self._orders for ranking in rankings):
                new[contender.key] = contender
        tasks = [
            (contender, self.data, train, seed, self._by_name, self.largest)
            for contender in new.values()
            for (train, _), seed in zip(self.splits, self.seeds, strict=True)
        ]
        found = run_tasks(
            rank_part, tasks, n_jobs=self.n_jobs, progress=progress, description="ranking"
        )
        for number, contender in enumerate(new.values()):
            parts = found[number * len(self.splits) : (number + 1) * len(self.splits)]
            for name in contender.aggregations:
                orders, seconds = zip(*(part[name] for part in parts), strict=True)
                self._orders[contender.key, name] = list(orders)
                # the median leaves out splits in which something was compiled
                self._seconds[contender.key, name] = float(np.median(seconds))

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
        for found in run_tasks(
            score_sets, tasks, n_jobs=self.n_jobs, progress=progress, description="scoring"
        ):
            self._scores.update(found)

    def _result(self, candidate: Candidate) -> Result:
        support = np.zeros((len(self.splits), len(self.data.features)), dtype=bool)
        scores = np.empty(len(self.splits))
        for split in range(len(self.splits)):
            columns = self._columns(candidate, split)
            support[split, columns] = True
            scores[split] = self._scores[split, columns.tobytes()]
        seconds = self._seconds[candidate.ranking]
        return Result(scores, Runs.from_support(support, self.data.features), seconds)


def rank_part(
    contender: Contender,
    data: Data,
    train: np.ndarray,
    seed: int,
    by_name: np.ndarray,
    largest: int,
) -> dict[str, tuple[np.ndarray, float]]:
    """Rank one training part in every way: the best columns, and the seconds it took."""
    rng = np.random.default_rng(seed)
    if contender.selector is None:
        return {ALONE: (by_name[rng.permutation(len(by_name))][:largest], 0.0)}
    part = data.rows(train)
    found = {}
    for resampled in (True, False):
        rules = {
            name: rule
            for name, rule in contender.aggregations.items()
            if (name != ALONE) is resampled
        }
        if not rules:
            continue
        selector = clone(contender.selector)
        if not resampled:
            selector = without_resampling(selector).set_params(aggregation="mean")
        selector.n_features_in_ = len(by_name)
        start = time.process_time()
        by_ranker = selector.run_rankers(part, np.random.default_rng(seed))
        ranked = time.process_time()
        for name, rule in rules.items():
            if resampled:
                selector.set_params(aggregation=rule)
            begin = time.process_time()
            order = combine_rankers(selector, by_ranker).ranking.order[:largest]
            found[name] = (order, ranked - start + time.process_time() - begin)
    return found


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
        (split, key): score_columns(columns, estimator, data.X, data.y, train, test, scoring)
        for key, columns in sets.items()
    }
