"""Accuracy and stability of a selector, both measured outside the data it saw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv

from mainstay._checkpoint import keep_in
from mainstay._parallel import Progress, run_tasks
from mainstay._provenance import plain
from mainstay._saving import WithNamedRuns
from mainstay._validation import InputError, RandomState, check_random_state, share_or_number
from mainstay.data import Data
from mainstay.ensemble import EnsembleSelector
from mainstay.ensemble.resample_count import repeat_on
from mainstay.ensemble.scoring import score_sizes
from mainstay.measures import MEASURES, stability
from mainstay.measures.inference import StabilityEstimate
from mainstay.rankers.models import default_estimator
from mainstay.reliability.agreement import PairAgreement, chance_agreement
from mainstay.reliability.pairs import agreement_in_pairs, halve
from mainstay.resampling import Pairs
from mainstay.runs import Runs
from mainstay.twins import choice_of, find_twins

if TYPE_CHECKING:
    import pandas as pd

    from mainstay.similarity import FeatureSimilarity

_PAIRS_OF_HALVES = 10
DEFAULT_MEASURES = ("spearman", "canberra", "nogueira", "jaccard")


@dataclass(frozen=True)
class SelectionScores(WithNamedRuns):
    """What `cross_validate_selection` found.

    Attributes
    ----------
    scores : pandas.DataFrame
        One row per fold, kind ("ensemble" or "single", the ranker without resampling) and number
        of features: the estimator's score on the test part.
    stability : pandas.DataFrame
        One row per kind, measure and number of features: value, standard error, interval.
    runs : dict of str to Runs
        The rankings of the outer training parts, by kind.
    settings : dict
        The selector and every option that changes the result, the seed among them.
    """

    scores: pd.DataFrame
    stability: pd.DataFrame
    runs: dict[str, Runs]
    settings: dict[str, Any] = field(default_factory=dict)

    def to_frame(self) -> pd.DataFrame:
        """Mean and standard error of the score per kind and number of features."""
        grouped = self.scores.groupby(["kind", "n_features"])["score"]
        return grouped.agg(score="mean", standard_error="sem").reset_index()

    def __repr__(self) -> str:
        return (
            f"SelectionScores: {self.scores['fold'].nunique()} folds\n\n"
            f"{self.to_frame().to_string(index=False)}\n\n{self.stability.to_string(index=False)}"
        )


def cross_validate_selection(
    selector: EnsembleSelector,
    X: Any,
    y: Any,
    *,
    estimator: Any = None,
    cv: Any = 5,
    sizes: Sequence[int | float] = (0.1,),
    measures: Sequence[str] = DEFAULT_MEASURES,
    scoring: Any = None,
    groups: Any = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    progress: Progress = "auto",
    checkpoint: str | Path | None = None,
) -> SelectionScores:
    """Cross-validate feature selection: the whole ensemble runs inside every training part.

    Each outer training part is ranked by the ensemble and, as baseline, by its ranker alone
    without resampling; `estimator` is fitted on the best features of the training part and scored
    on the test part, for every size. The outer rankings are the runs whose stability is measured.
    The training parts of k folds overlap (by 98% for 100 folds), so that even an unstable ranker
    looks stable there. With `cv="half"` only halves that share no row are compared, which agree as
    far as two independent studies with half of the rows each would.

    Parameters
    ----------
    selector : EnsembleSelector
        The ensemble; its number of features is not used.
    X, y : the data
    estimator : scikit-learn estimator, optional
        Scored on the selected features; a linear model on standardised features if not given.
    cv : int, splitter, or "half"
        The outer split. "half" cuts the rows into two disjoint halves 10 times, and each half is
        tested on the other; stability is the mean agreement of the two halves of a cut, with an
        interval over data sets (s·√(1/10 + 1), see `mainstay.reliability.agreement`).
    sizes : sequence of int or float
        Numbers or shares of features.
    measures : sequence of str
        Measures of selections are taken at every size.
    scoring : str or callable, optional
        The score; the estimator's own if not given.
    groups : array, optional
        Rows that belong together, for the outer and the inner resampling.
    random_state : int, Generator or None
        Seed.
    n_jobs, progress
        Outer folds run in parallel; the result is the same for any number of cores.
    checkpoint : str or Path, optional
        A folder where finished folds are kept, so that a call that was killed goes on where it
        was; see `EnsembleSelector`.

    Examples
    --------
    >>> import mainstay as ms
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> result = ms.cross_validate_selection(
    ...     ms.EnsembleSelector(n_resamples=20), X, y, sizes=[5], random_state=0)
    >>> bool(result.to_frame()["score"].min() > 0.9)
    True
    """
    settings = {
        "made_by": "cross_validate_selection",
        "selector": plain(selector),
        "estimator": plain(estimator),
        "cv": plain(cv),
        "sizes": plain(list(sizes)),
        "measures": list(measures),
        "scoring": plain(scoring),
        "random_state": plain(random_state),
    }
    data = Data.check(X, y, groups=groups, task=selector.task)
    numbers = sorted({share_or_number("sizes", size, data.n_features) for size in sizes})
    rng = check_random_state(random_state)
    estimator = default_estimator(data.X, data.task) if estimator is None else estimator
    folds = outer_splits(cv, estimator, data, rng)
    seeds = rng.integers(2**62, size=len(folds))
    tasks = [
        (selector, data, train, test, numbers, estimator, scoring, int(seed))
        for (train, test), seed in zip(folds, seeds, strict=True)
    ]
    with keep_in(checkpoint, "cross_validate_selection", settings, data.fingerprint):
        results = run_tasks(
            _one_fold, tasks, n_jobs=n_jobs, progress=progress, description="outer folds"
        )
    runs = {
        kind: Runs.from_scores(np.stack([result[kind][0] for result in results]), data.features)
        for kind in ("ensemble", "single")
    }
    if cv_is_half(cv):
        runs = {kind: of_kind.as_pairs() for kind, of_kind in runs.items()}
    seed = int(rng.integers(2**32))
    similarity = None
    if any(name in MEASURES and MEASURES[name].adjusted for name in measures):
        similarity = find_twins(
            data,
            selector.similarity_threshold or 0.9,
            lambda: choice_of(list(runs.values()), numbers[-1]),
        )
    return SelectionScores(
        _score_table(results, numbers),
        _stability_table(runs, measures, numbers, similarity, seed),
        runs,
        settings,
    )


def outer_splits(
    cv: Any, estimator: Any, data: Data, rng: np.random.Generator
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Rows of the training and the test parts; "half" is 10 cuts into halves, used both ways."""
    try:
        if cv_is_half(cv):
            Pairs().check(data.classes, data.groups, data.n_rows)
            rows = np.arange(data.n_rows)
            pairs = [halve(data, rows, rng) for _ in range(_PAIRS_OF_HALVES)]
            return [
                split for first, second in pairs for split in ((first, second), (second, first))
            ]
        splitter = check_cv(cv, data.y, classifier=is_classifier(estimator))
        return list(splitter.split(np.zeros((data.n_rows, 1)), data.y, data.groups))
    except ValueError as error:
        raise InputError(f"cv={cv!r} cannot split these {data.n_rows} rows: {error}") from error


def cv_is_half(cv: Any) -> bool:
    """Whether the outer split is pairs of disjoint halves; no other name is valid."""
    if isinstance(cv, str) and cv != "half":
        raise InputError(f"cv must be a number of folds, a splitter or 'half', got {cv!r}.")
    return isinstance(cv, str)


def agreement(
    runs: Runs, measure: str, n_features: int, similarity: FeatureSimilarity | None, seed: int
) -> StabilityEstimate | PairAgreement:
    """Agreement of the training parts: within pairs of halves, or of all parts with each other."""
    entry = MEASURES.get(measure)
    similarity = similarity if entry is not None and entry.adjusted else None
    if runs.paired:
        values = agreement_in_pairs(runs, measure, n_features, similarity=similarity, seed=seed)
        return PairAgreement(
            measure, values, chance_agreement(measure, n_features, runs.n_features)
        )
    cut = entry is not None and entry.compares_selections and runs.kind != "support"
    return stability(
        runs,
        f"{measure}@{n_features}" if cut else measure,
        similarity=similarity,
        undefined="nan",
        random_state=seed,
    )


def _one_fold(
    selector: EnsembleSelector,
    data: Data,
    train: np.ndarray,
    test: np.ndarray,
    sizes: list[int],
    estimator: Any,
    scoring: Any,
    seed: int,
) -> dict[str, tuple[np.ndarray, list[float]]]:
    """Rank the training part with and without resampling; score both on the test part."""
    results, part, ensemble = {}, data.rows(train), selector.procedure
    for kind, procedure in (("ensemble", ensemble), ("single", ensemble.alone())):
        by_ranker = repeat_on(selector, procedure, part, seed)
        ranking = procedure.combine(by_ranker, ties=np.random.default_rng(seed))
        scores = score_sizes(ranking.order, sizes, estimator, data, train, test, scoring)
        results[kind] = (-ranking.ranks.astype(float), scores)
    return results


def _score_table(results: list[Any], sizes: list[int]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(
        [
            {"fold": fold, "kind": kind, "n_features": size, "score": score}
            for fold, result in enumerate(results)
            for kind, (_, scores) in result.items()
            for size, score in zip(sizes, scores, strict=True)
        ]
    )


def _stability_table(
    runs: dict[str, Runs], measures: Sequence[str], sizes: list[int], similarity: Any, seed: int
) -> pd.DataFrame:
    import pandas as pd

    rows = []
    for kind, of_kind in runs.items():
        for name in measures:
            info = MEASURES.get(name)
            sets = info is not None and info.compares_selections
            for k in sizes if sets else [of_kind.n_features]:
                estimate = agreement(of_kind, name, k, similarity, seed)
                lower, upper = estimate.interval
                rows.append({"kind": kind, "measure": name, "n_features": k,
                             "value": estimate.value, "standard_error": estimate.standard_error,
                             "lower": lower, "upper": upper})  # fmt: skip
    return pd.DataFrame(rows)
