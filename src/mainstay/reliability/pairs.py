"""Studies on disjoint parts of the rows, and how far the two of a pair agree.

A study runs the whole procedure on some rows and ends in one ranking or selection. Studies come in
pairs whose parts share no row, so that they are to each other what independent studies are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mainstay._parallel import Progress, run_tasks
from mainstay._validation import InputError, numbered
from mainstay.data import Data
from mainstay.measures import MEASURES, stability
from mainstay.procedure import Procedure, selections
from mainstay.rankers.base import WeightedRanker
from mainstay.resampling import Pairs
from mainstay.runs import Runs
from mainstay.similarity import FeatureSimilarity

_TOGETHER = 64  # runs whose pairs are scored in one go


def halve(data: Data, rows: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Cut some rows into two disjoint halves, by class and by group."""
    classes = None if data.classes is None else numbered(data.classes[rows])
    groups = None if data.groups is None else numbered(data.groups[rows])
    first, second = Pairs().halves(len(rows), classes, groups, rng)
    return rows[first], rows[second]


def run_studies(
    procedure: Procedure,
    data: Data,
    parts: Sequence[np.ndarray],
    ensemble_size: int | None,
    rng: np.random.Generator,
    *,
    n_jobs: int | None,
    progress: Progress,
) -> Runs:
    """Make one study on each part of the rows, as paired runs.

    With `ensemble_size` a study is an ensemble on so many resamples of its rows; without, the
    rankers alone, which see every row of the part once.
    """
    if ensemble_size is None:
        procedure = procedure.alone()
    if not procedure.is_alone:
        _check_groups_of(parts, data)
    seeds = rng.integers(2**62, size=len(parts))
    ours = all(isinstance(ranker, WeightedRanker) for _, ranker in procedure.rankers)
    data = data.looked_up() if ours else data.in_one_piece()
    tasks = [
        (procedure, data, rows, ensemble_size or 1, int(seed))
        for rows, seed in zip(parts, seeds, strict=True)
    ]
    results = run_tasks(
        _study, tasks, n_jobs=n_jobs, progress=progress, description="studies of parts of the rows"
    )
    make = Runs.from_support if results[0].dtype == bool else Runs.of_new_scores
    return make(np.stack(results), data.features).as_pairs()


def _check_groups_of(parts: Sequence[np.ndarray], data: Data) -> None:
    """Refuse ensembles of parts that hold one group, which cannot be resampled."""
    if data.groups is None or all(len(np.unique(data.groups[part])) > 1 for part in parts):
        return
    raise InputError(
        "an ensemble resamples the groups of every part of the rows, but of the "
        f"{len(np.unique(data.groups))} groups a part holds only one; give eight groups or more, "
        "of similar size. ms.replicability(…, ensemble_size=None) compares single runs, which need "
        "four of every class."
    )


def _study(
    procedure: Procedure, data: Data, rows: np.ndarray, n_runs: int, seed: int
) -> np.ndarray:
    """What one study finds: a selection, or scores in the order of its ranking."""
    rng = np.random.default_rng(seed)
    by_ranker = procedure.run(data.rows(rows), n_runs, rng, n_jobs=1, progress=False)
    if procedure.is_alone:
        runs = procedure.merge(by_ranker)
        return np.asarray(runs.support[0] if runs.kind == "support" else runs.scores[0])
    return -procedure.combine(by_ranker, ties=rng).ranks.astype(float)


def agreement_in_pairs(
    runs: Runs,
    measure: str | Callable[[Runs], float],
    n_features_to_select: int,
    *,
    similarity: FeatureSimilarity | None = None,
    seed: int = 0,
) -> np.ndarray:
    """Agreement of runs 0 and 1, 2 and 3, …: one value per pair, by any measure.

    Measures of selections and of importances compare the `n_features_to_select` best of every run
    (ties at random), or the runs' own selections.

    Examples
    --------
    >>> runs = Runs.from_sets([[0, 1], [0, 2], [3, 4], [3, 4]], features=6).as_pairs()
    >>> agreement_in_pairs(runs, "jaccard", 2)
    array([0.33333333, 1.        ])
    """
    if not runs.paired:
        raise InputError("these runs are not paired; make them with resampling='pairs'.")
    entry = None if callable(measure) else MEASURES.get(str(measure).partition("@")[0])
    if entry is None or entry.compares_selections:
        runs = selections(runs, n_features_to_select, seed)
    elif entry.kind == "importances" and runs.kind == "scores":
        chosen = selections(runs, n_features_to_select, seed).support
        runs = Runs("scores", np.where(chosen, runs.scores, 0.0), runs.features, paired=True)
    by_size = None if entry is None or not entry.corrected else entry.equal_size_score
    if by_size is not None and (runs.sizes == runs.sizes[0]).all():
        k = runs.sizes[::2].astype(float)
        return by_size(_shared_with_partner(runs), k, k, runs.n_features)
    options: dict[str, Any] = {"undefined": "nan", "random_state": seed}
    if entry is not None and entry.adjusted:
        options["similarity"] = similarity
    if entry is None or stability(runs[:2], measure, **options).pairwise is None:
        pairs = [runs[i : i + 2] for i in range(0, runs.n_runs, 2)]
        return np.array([float(stability(pair, measure, **options)) for pair in pairs])
    values = []
    for start in range(0, runs.n_runs, _TOGETHER):
        pairwise = stability(runs[start : start + _TOGETHER], measure, **options).pairwise
        assert pairwise is not None
        first = np.arange(0, len(pairwise), 2)
        values.append((pairwise[first, first + 1] + pairwise[first + 1, first]) / 2)
    return np.concatenate(values)


def _shared_with_partner(runs: Runs) -> np.ndarray:
    """How many features the two runs of each pair both select."""
    support = runs.sparse_support.astype(np.int64)
    return np.asarray(support[::2].multiply(support[1::2]).sum(axis=1), dtype=float).ravel()


def gain_from_sharing(runs: Runs, n_features_to_select: int, *, seed: int = 0) -> float:
    """How much further runs of different pairs agree than partners, as a share of what is left.

    Two halves of different pairs share half of their rows on average, partners none. With the
    agreements A of runs of different pairs and D of partners (shared features over selected ones,
    corrected for chance), h = (A − D)/(1 − D), at least 0: 0 where the rows do not matter, since
    the ranker draws by lot; 1 where runs that share rows find the same, others not; NaN where
    partners always find the same, so that nothing is left.

    Examples
    --------
    >>> runs = Runs.from_sets([[0, 1], [2, 3], [0, 1], [2, 3]], features=6).as_pairs()
    >>> gain_from_sharing(runs, 2)  # A = 1/4, D = −1/2
    0.5
    """
    chosen = selections(runs, n_features_to_select, seed)
    size = float(chosen.sizes.mean())
    by_chance = size / chosen.n_features
    if not 0 < by_chance < 1:
        return math.nan
    of_partners = 2 * _shared_with_partner(chosen).sum()  # both ways round, as all counts here
    counts, m = chosen.counts.astype(float), chosen.n_runs
    of_others = counts @ (counts - 1) - of_partners
    disjoint, sharing = (
        float(shared / n / size - by_chance) / (1 - by_chance)
        for shared, n in ((of_partners, m), (of_others, m * (m - 2)))
    )
    return max(sharing - disjoint, 0.0) / (1 - disjoint) if disjoint < 1 else math.nan
