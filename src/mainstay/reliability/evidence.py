"""feature_evidence: which features are more than noise would give, by permuting the target."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mainstay._checkpoint import active, keep_in
from mainstay._parallel import Progress, n_cores, run_tasks
from mainstay._provenance import content_hash, plain
from mainstay._validation import (
    InputError,
    RandomState,
    check_choice,
    check_count,
    check_fraction,
    check_random_state,
)
from mainstay.data import Data
from mainstay.measures.joint import Counts, nogueira
from mainstay.procedure import (
    Prepared,
    Procedure,
    as_procedure,
    asked_task,
    ranks_of,
    selections,
)
from mainstay.rankers.base import has_fast_path, scores_features_alone
from mainstay.reliability.evidence_result import FeatureEvidence, GroupEvidence
from mainstay.reliability.null_distribution import (
    comparable,
    exact_p_values,
    expected_false,
    family_wise_p_values,
    list_p_value,
    q_values,
)
from mainstay.reliability.permutation import Permuter
from mainstay.runs import Runs
from mainstay.similarity import FeatureSimilarity
from mainstay.twins import choice_of, find_twins

STATISTICS = ("auto", "score", "log_rank", "frequency")
_CHUNK = 5  # permutations in one task, at least
_TASKS_PER_CORE = 4  # a task makes this share of what is left, where it shares prepared data
_FIRST, _MOST = 40, 400  # permutations of "auto"
_EXCEEDANCES = 10  # as in Besag and Clifford (1991)
_NULL_POINTS = 400  # quantiles of the null distribution that are kept


def feature_evidence(
    procedure: Any,
    X: Any,
    y: Any,
    *,
    n_permutations: int | str = 100,
    statistic: str = "auto",
    level: float = 0.1,
    n_resamples: int | None = None,
    n_features_to_select: int | float | None = None,
    strata: Any = None,
    similarity: FeatureSimilarity | None = None,
    similarity_threshold: float | None = 0.9,
    sample_weight: Any = None,
    groups: Any = None,
    task: str = "auto",
    random_state: RandomState = None,
    n_jobs: int | None = None,
    progress: Progress = "auto",
    checkpoint: str | Path | None = None,
) -> FeatureEvidence:
    """Estimate which features are more than noise would give, and how many of them are false.

    The target is permuted, and the *whole* procedure (resampling, ranking, counting) is repeated on
    it, again and again: that is what the procedure finds where there is nothing to be found. It
    works for any ranker and needs no assumption about the distribution of the data.

    Parameters
    ----------
    procedure : EnsembleSelector, Procedure, or a ranker in any form
        What is tested. A ranker by itself runs on 50 complementary pairs of halves.
    X, y : the data
        As in `EnsembleSelector.fit`.
    n_permutations : int or "auto"
        How many permuted targets. "auto" makes at least 40 and at most 400, and stops as soon as
        noise has done as well as the data 10 times (Besag and Clifford 1991), or as the p-value of
        the list is on one side of `level` by more than two standard errors and the same features
        would be named for every number of false features that the permutations are compatible
        with. `n_permutations` and `stopped` of the result say how many were made, and why.
    statistic : {"auto", "score", "log_rank", "frequency"}
        What is compared with the null distribution, per feature: its score, the mean of −log(rank)
        over the runs, or how often it was selected. The score is the mean of two: of the runs, on
        average, and on all rows at once (halves of the rows alone cost power where scores need
        many rows, as those from tables of counts do). "auto": the score where the score of a
        feature does not depend on the other features (filters such as "f_statistic"); else
        −log(rank), where strong features push each other down the ranks, which costs power; the
        frequency for selectors that give no ranks.
    level : float
        False discovery rate at which features are named in summaries.
    n_resamples : int, optional
        Resamples of every repetition; that of the selector, or 100.
    n_features_to_select : int or float, optional
        How many features a run selects; that of the procedure if not given.
    strata : array of n labels, optional
        Rows change labels only within their stratum (a site, a batch, a sex).
    similarity : FeatureSimilarity, optional
        Which features are twins; computed from X with `similarity_threshold` if not given.
    similarity_threshold : float or None
        Absolute correlation from which features are twins; None: no groups. Of more than 50,000
        features only those that runs selected, and the next best, are compared with all others;
        a warning says how many.
    sample_weight, groups, task
        As in `EnsembleSelector`. Groups whose rows all have one label change labels as a whole;
        otherwise labels change places within groups.
    random_state : int, Generator, RandomState or None
        Seed.
    n_jobs, progress
        The permutations run in parallel; the result is the same for any number of cores.
    checkpoint : str or Path, optional
        A folder where finished permutations are kept, so that a call that was killed goes on where
        it was; see `EnsembleSelector`.

    Returns
    -------
    FeatureEvidence
        `.table` with p-values and q-values of features and of groups of twins; `.p_value`: is
        there anything at all; `.selected("fdr<=0.1")`; `.plot()`, `.summary()`, `.save()`.

    Notes
    -----
    It tests *marginal* association: that feature and target have nothing to do with each other. A
    feature correlated with a useful one is not false in this sense; twins are reported as groups.
    p-values are exact under the null hypothesis that y has nothing to do with X; the false
    discovery rate also where some features are useful was measured, not proved, see
    `experiments/results/error_control.md`.

    References
    ----------
    Besag, J. and Clifford, P. (1991). Sequential Monte Carlo p-values. Biometrika 78, 301–304.

    Westfall, P. H. and Young, S. S. (1993). Resampling-Based Multiple Testing. Wiley.

    Examples
    --------
    >>> import mainstay as ms, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 30)), np.repeat([0, 1], 30)
    >>> X[y == 1, :2] += 2
    >>> ev = ms.feature_evidence("f_statistic", X, y, random_state=0)
    >>> ev.selected("fdr<=0.1"), round(ev.p_value, 2)
    (('x0', 'x1', 'x28'), 0.01)
    """
    settings: dict[str, Any] = {}
    if not isinstance(procedure, Procedure) and not hasattr(procedure, "procedure"):
        settings["resampling"] = "pairs"
    repeated = as_procedure(procedure, n_features_per_run=n_features_to_select, **settings)
    task = asked_task(procedure, task)
    data = Data.check(X, y, sample_weight=sample_weight, groups=groups, task=task)
    rng = check_random_state(random_state)
    n = check_count("n_resamples", _resamples_of(procedure, n_resamples), 1)
    if similarity_threshold is not None:
        check_fraction("similarity_threshold", similarity_threshold)
    made_with = {"procedure": plain(procedure), "random_state": plain(random_state)}
    kept = {
        **made_with, "n_permutations": n_permutations, "statistic": statistic, "level": level,
        "n_resamples": n, "n_features_to_select": n_features_to_select,
        "strata": None if strata is None else content_hash(np.asarray(strata)),
    }  # fmt: skip
    with keep_in(checkpoint, "feature_evidence", kept, data.fingerprint):
        observed = repeated.merge(repeated.run(data, n, rng, n_jobs=n_jobs, progress=progress))
        if similarity is None and similarity_threshold is not None:
            k = repeated.per_run(data.n_features)
            similarity = find_twins(data, similarity_threshold, lambda: choice_of([observed], k))
        return evidence_of(
            repeated, data, observed, rng,
            n_permutations=n_permutations, statistic=statistic, level=level, strata=strata,
            similarity=similarity, n_jobs=n_jobs, progress=progress, settings=made_with,
        )  # fmt: skip


def evidence_of(
    procedure: Procedure,
    data: Data,
    runs: Runs,
    rng: np.random.Generator,
    *,
    n_permutations: int | str,
    statistic: str = "auto",
    level: float = 0.1,
    strata: Any = None,
    similarity: FeatureSimilarity | None = None,
    n_jobs: int | None = None,
    progress: Progress = "auto",
    settings: dict[str, Any] | None = None,
) -> FeatureEvidence:
    """Compare runs that were made with the same procedure on permuted targets."""
    check_fraction("level", level, closed=False)
    permuter = Permuter.of(data, strata)
    permuter.check_resolution(level)
    most = _most_permutations(n_permutations, level)
    repetition = Repetition(
        procedure, data, permuter, runs.n_runs, _settled_statistic(statistic, procedure, runs),
        procedure.per_run(data.n_features),
    )  # fmt: skip
    seeds = rng.integers(2**62, size=most)
    seed_of_ties = int(rng.integers(2**32))
    chosen = selections(runs, repetition.n_selected, seed_of_ties)
    observed, agreement = repetition.summarise(data, runs, chosen, rng)
    start = time.perf_counter()
    null, agreements, stopped = _permuted(
        repetition, observed, seeds, n_permutations, level, n_jobs, progress
    )
    seconds = time.perf_counter() - start
    compared, compared_null, standardised = comparable(observed, null)
    anything = list_p_value(compared, compared_null)
    rates = _rates(observed, null, compared, compared_null, anything)
    return FeatureEvidence(
        features=data.features,
        statistic=repetition.statistic,
        standardised=standardised,
        frequency=chosen.counts / chosen.n_runs,
        **rates,
        p_value=anything,
        stability=agreement,
        null_stability=agreements,
        null_largest=compared_null.max(axis=1),
        null_quantiles=_tail_quantiles(compared_null),
        n_permutations=len(null),
        n_runs=runs.n_runs,
        n_selected=repetition.n_selected,
        level=float(level),
        permuted=permuter.what,
        stopped=stopped,
        groups=None if similarity is None else _group_evidence(
            similarity.aligned_to(data.features), observed, null, rates),
        settings={"made_by": "feature_evidence", **(settings or {})},
        seconds=seconds,
    )  # fmt: skip


# ---------------------------------------------------------------------- one repetition


@dataclass(frozen=True)
class Repetition:
    """The procedure on one target, and what is kept of its runs."""

    procedure: Procedure
    data: Data
    permuter: Permuter
    n_resamples: int
    statistic: str
    n_selected: int

    def summarise(
        self,
        data: Data,
        runs: Runs,
        chosen: Runs,
        rng: np.random.Generator,
        prepared: Prepared | None = None,
    ) -> tuple[np.ndarray, float]:
        """Statistic of every feature, and agreement (`nogueira`) of the runs' selections."""
        if self.statistic == "frequency":
            values = chosen.counts / chosen.n_runs
        elif self.statistic == "score":
            values = runs.scores.mean(axis=0)
            if not self.procedure.is_alone:  # else the runs are that
                whole = self.procedure.alone()
                at_once = whole.run(data, 1, rng, n_jobs=1, progress=False, prepared=prepared)
                values = (values + whole.merge(at_once).scores[0]) / 2
        else:
            values = -np.log(ranks_of(runs)).mean(axis=0)
        agreement = math.nan
        if chosen.n_runs > 1:
            agreement = float(nogueira(Counts.of(chosen))[0])
        return np.asarray(values, dtype=float), agreement

    def in_tasks(self, seeds: np.ndarray, n_jobs: int | None) -> list[np.ndarray]:
        """Seeds of the permutations that each task makes.

        Where preparing X is worth sharing, the first tasks make many and the last ones few, so that
        all cores end together. Every permutation has its own seed, so that this changes no result.
        In a checkpoint tasks must not depend on the number of cores.
        """
        share = 0
        if active() is None and all(has_fast_path(r) for _, r in self.procedure.rankers):
            share = _TASKS_PER_CORE * n_cores(n_jobs)
        tasks, at = [], 0
        while at < len(seeds):
            size = max(_CHUNK, (len(seeds) - at) // share) if share else _CHUNK
            tasks.append(seeds[at : at + size])
            at += size
        return tasks

    def permuted(self, seeds: np.ndarray) -> list[tuple[np.ndarray, float]]:
        """Repeat the whole procedure on permuted targets; X is prepared once."""
        prepared = self.procedure.prepare(self.data)
        out = []
        for seed in seeds:
            rng = np.random.default_rng(int(seed))
            data = self.data.with_target(self.permuter.draw(rng))
            by_ranker = self.procedure.run(
                data, self.n_resamples, rng, n_jobs=1, progress=False, prepared=prepared
            )
            runs = self.procedure.merge(by_ranker)
            chosen = selections(runs, self.n_selected, int(rng.integers(2**32)))
            out.append(self.summarise(data, runs, chosen, rng, prepared))
        return out


def _permuted(
    repetition: Repetition,
    observed: np.ndarray,
    seeds: np.ndarray,
    wanted: int | str,
    level: float,
    n_jobs: int | None,
    progress: Progress,
) -> tuple[np.ndarray, np.ndarray, str]:
    """Statistics and agreements of permuted targets, and why there are no more of them."""
    values: list[np.ndarray] = []
    agreements: list[float] = []
    stopped = "as asked for"
    for batch in _batches(seeds, wanted, level):
        tasks = [(repetition, part) for part in repetition.in_tasks(batch, n_jobs)]
        parts = run_tasks(
            _permuted_chunk, tasks, n_jobs=n_jobs, progress=progress,
            description="tasks of several permuted targets",
        )  # fmt: skip
        for one, agreement in (made for part in parts for made in part):
            values.append(one)
            agreements.append(agreement)
        if wanted == "auto":
            decided = _why_decided(observed, np.stack(values), level)
            stopped = decided or f"the most that 'auto' makes, {_MOST}"
            if decided:
                break
    return np.stack(values), np.array(agreements), stopped


def _permuted_chunk(repetition: Repetition, seeds: np.ndarray) -> list[tuple[np.ndarray, float]]:
    return repetition.permuted(seeds)


def _batches(seeds: np.ndarray, wanted: int | str, level: float) -> Iterator[np.ndarray]:
    """All seeds at once, or as many as "auto" looks at before it decides anew."""
    if wanted != "auto":
        yield seeds
        return
    first = min(len(seeds), max(_FIRST, math.ceil(2 / level)))
    yield seeds[:first]
    for at in range(first, len(seeds), _FIRST // 2):
        yield seeds[at : at + _FIRST // 2]


def _why_decided(observed: np.ndarray, null: np.ndarray, level: float) -> str:
    """Why further permutations would not change what is named; "" if they might."""
    compared, compared_null, _ = comparable(observed, null)
    anything = list_p_value(compared, compared_null)
    reached = anything * (1 + len(null)) - 1
    if reached >= _EXCEEDANCES:
        return f"noise did as well as the data {round(reached)} times"
    doubt = 2 * math.sqrt(anything * (1 - anything) / len(null))
    if abs(anything - level) <= doubt:
        return ""
    falling = -np.sort(-compared)
    counts = np.stack(
        [len(one) - np.searchsorted(np.sort(one), falling, side="left") for one in compared_null]
    )
    mean = counts.mean(axis=0) + 1 / len(null)
    error = 2 * counts.std(axis=0, ddof=1) / math.sqrt(len(null))
    named = [
        int(np.flatnonzero(np.append(True, rate <= level * np.arange(1, len(falling) + 1)))[-1])
        for rate in (mean - error, mean + error)
    ]
    return "what can be named is the same within their error" if named[0] == named[1] else ""


# ---------------------------------------------------------------------- rates, groups, checks


def _rates(
    observed: np.ndarray,
    null: np.ndarray,
    compared: np.ndarray,
    compared_null: np.ndarray,
    anything: float,
) -> dict[str, np.ndarray]:
    """What is known of every feature or group; no q-value is below the p-value of the list."""
    return {
        "values": compared,
        "p_values": exact_p_values(observed, null),
        "family_wise_p_values": family_wise_p_values(compared, compared_null),
        "expected_false": expected_false(compared, compared_null),
        "q_values": np.maximum(q_values(compared, compared_null), anything),
    }


def _group_evidence(
    similarity: FeatureSimilarity,
    observed: np.ndarray,
    null: np.ndarray,
    alone: dict[str, np.ndarray],
) -> GroupEvidence:
    """The same for groups of twins: a group is as strong as its strongest member.

    `alone`: what is known of the features; without twins that is what is known of the groups.
    """
    labels = np.asarray(similarity.group_labels("complete_linkage"))
    order = np.argsort(labels, kind="stable")
    if labels.max() + 1 == len(labels):
        return GroupEvidence(labels=labels, **{name: rate[order] for name, rate in alone.items()})
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    strongest = np.maximum.reduceat(observed[order], starts)
    strongest_null = np.maximum.reduceat(null[:, order], starts, axis=1)
    compared, compared_null, _ = comparable(strongest, strongest_null)
    anything = list_p_value(compared, compared_null)
    rates = _rates(strongest, strongest_null, compared, compared_null, anything)
    return GroupEvidence(labels=labels, **rates)


def _tail_quantiles(null: np.ndarray) -> np.ndarray:
    """Quantiles of all null statistics, closer together towards the upper end."""
    shares = 1 - np.geomspace(1, 1 / null.size, _NULL_POINTS)
    return np.asarray(np.quantile(null, np.clip(shares, 0, 1)))


def _settled_statistic(statistic: str, procedure: Procedure, runs: Runs) -> str:
    check_choice("statistic", statistic, STATISTICS)
    if runs.kind == "support":
        if statistic in ("score", "log_rank"):
            raise InputError(
                f"statistic={statistic!r} needs scores, but this selector only selects; use "
                "'frequency' (or 'auto')."
            )
        return "frequency"
    if statistic != "auto":
        return statistic
    rankers = [ranker for _, ranker in procedure.rankers]
    alone = len(rankers) == 1 and scores_features_alone(rankers[0])
    return "score" if alone else "log_rank"


def _resamples_of(procedure: Any, asked: int | None) -> int:
    if asked is not None:
        return asked
    own = getattr(procedure, "n_resamples_", getattr(procedure, "n_resamples", 100))
    return int(own) if isinstance(own, int | np.integer) else 100


def _most_permutations(n_permutations: int | str, level: float) -> int:
    """How many permutations there can be; too few for the level are refused."""
    needed = max(3, math.ceil(1 / level - 1e-9))
    if n_permutations == "auto":
        if needed > _MOST:
            raise InputError(
                f"a level of {level:g} needs at least {needed} permutations, but 'auto' makes at "
                f"most {_MOST}; give n_permutations={needed} or more."
            )
        return _MOST
    if isinstance(n_permutations, str):
        raise InputError(f"n_permutations must be a number or 'auto', got {n_permutations!r}.")
    number = check_count("n_permutations", n_permutations, 1)
    if number < needed:
        raise InputError(
            f"{n_permutations} permutations cannot resolve a level of {level:g}: the smallest "
            f"q-value of a single feature is 1/{n_permutations}; at least {needed} are needed."
        )
    return number
