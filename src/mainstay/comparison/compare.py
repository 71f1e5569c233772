"""compare_selectors: rankers × aggregations × sizes on one shared split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier

from mainstay._checkpoint import keep_in
from mainstay._parallel import Progress
from mainstay._provenance import plain
from mainstay._validation import (
    InputError,
    RandomState,
    check_choice,
    check_count,
    check_fraction,
    check_random_state,
    some,
)
from mainstay.comparison.candidates import (
    ALL,
    NO_CHOICE,
    NONE,
    Space,
    baselines,
    make_space,
    rule_name,
)
from mainstay.comparison.cross_validation import agreement, cv_is_half, outer_splits
from mainstay.comparison.evaluate import Bench, Candidate, Result
from mainstay.comparison.pareto import CRITERIA
from mainstay.comparison.result import Comparison, conclude
from mainstay.comparison.significance import corrected_standard_error
from mainstay.data import Data
from mainstay.measures import MEASURES
from mainstay.measures.inference import StabilityEstimate
from mainstay.rankers.inputs import Table
from mainstay.rankers.models import default_estimator
from mainstay.reliability.agreement import PairAgreement
from mainstay.twins import Choice, choice_of, find_twins

if TYPE_CHECKING:
    from mainstay.similarity import FeatureSimilarity

_FEWEST_SPLITS = 3


def compare_selectors(
    selectors: Any,
    X: Any,
    y: Any,
    *,
    aggregations: Any = None,
    sizes: Any = None,
    grids: Mapping[str, Mapping[str, Sequence[Any]]] | None = None,
    n_resamples: int | str = 20,
    resampling: Any = "bootstrap",
    estimator: Any = None,
    scoring: Any = None,
    cv: Any = "half",
    groups: Any = None,
    task: str = "auto",
    measures: Sequence[str] = ("nogueira", "sma_count"),
    similarity_threshold: float | None = 0.9,
    priorities: Sequence[str] = CRITERIA,
    tolerance: float = 1.0,
    search: str | None = None,
    n_trials: int = 100,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    progress: Progress = "auto",
    checkpoint: str | Path | None = None,
) -> Comparison:
    """Compare feature selectors by accuracy, stability and number of features.

    Every candidate (a selector, an aggregation, a number of features) selects on the same training
    parts of one outer split; `estimator` is fitted there to the selected features and scored on the
    test part; the selections of the training parts are compared for stability. Candidates that no
    other beats in all three criteria form the Pareto front, which is what Bommert and Rahnenführer
    (2020) propose for choosing among selectors.

    Every ranker also competes alone, without resampling (aggregation "none"), unless `aggregations`
    says otherwise: what is recommended may well be a single ranker on all rows.

    Four baselines are always there: all features (their stability says nothing and is left out);
    no features, which is predicting the most frequent class or the mean of y; the F-test of every
    feature for itself (which competes like any other; it needs features that are numbers); and
    random selection. `reason` says so if what is recommended predicts no better than random
    features or than no features at all (t-tests at 5%, corrected for splits that share rows).

    **What is recommended**: take the criteria in the order of `priorities`. (1) Score: keep the
    candidates whose mean score is within one standard error (of the best) of the best. (2)
    Stability: of those, keep the ones within one standard error of the most stable. (3) Size: of
    those, take the one with the fewest features; if several have as few, the one with the better
    score, then the more stable. In words: about as accurate as the best; of these, about as
    reproducible as the best; of these, the shortest list. It is always on the front. This is the
    one-standard-error rule of Breiman et al. (1984), criterion by criterion.

    Parameters
    ----------
    selectors : None, name, ranker, estimator, EnsembleSelector, or a list or dict of these
        What competes; in a dict under names of your own, where a list of rankers is one ensemble
        of several. None takes F-statistic, information gain, mRMR (of correlations), extremely
        randomised trees and a linear model. An EnsembleSelector keeps its resampling, number of
        resamples and (if `aggregations` is not given) its aggregation; its number of features is
        not used. Greedy rankers asked for by name ("mrmr") put only twice as many features in
        order as the largest of `sizes`.
    X, y : the data
        As in `EnsembleSelector.fit`.
    aggregations : str, callable or sequence of these, optional
        How the runs on resamples become one ranking, from `ms.list_aggregations()`; "none" is the
        ranker alone on all rows of a training part, without resampling. If not given, "mean" and
        "none": an ensemble is worth its price only if it beats its own ranker.
    sizes : int, float or sequence of these, optional
        Numbers or shares of features; 2, 5, 10, 20, 50, 100 if not given, up to half of the
        features.
    grids : dict of str to dict, optional
        Hyper-parameters to try: `{"mrmr": {"binning__n_bins": [5, 10]}}`. All combinations compete.
    n_resamples, resampling
        Of every ensemble: see `EnsembleSelector`.
    estimator : scikit-learn estimator, optional
        Scored on the selected features; a linear model on standardised features if not given.
    scoring : str or callable, optional
        The score; accuracy or R² if not given.
    cv : "half", int or splitter
        The outer split, the same for all. "half" cuts the rows into two disjoint halves 10 times,
        and each half is tested on the other. Stability compares the two halves of a cut, which
        agree as far as two independent studies with half of the rows each would. The training
        parts of k folds overlap so much (75% for 5 folds) that any selector looks stable on them;
        the price of halves is that models see half of the rows, for all candidates alike.
    groups : array, optional
        Rows that belong together, for the outer and the inner resampling.
    task : {"auto", "classification", "regression"}
        What y is; see `EnsembleSelector`.
    measures : sequence of str
        Measures of stability, of selections: the first plain one becomes `stability`, the first
        that counts similar features as exchangeable becomes `adjusted_stability`; more of them get
        columns of their own name.
    similarity_threshold : float or None
        Absolute correlation from which features count as exchangeable. With None, or where the
        features are not all numbers, the plain stability counts in the front. Of more than 50,000
        features, those that the rankers select on all rows, and the next best, are compared with
        all others; a warning says how many.
    priorities : sequence of str
        "score", "stability" and "size", most important first.
    tolerance : float
        How many standard errors below the best still count as equally good.
    search : {"optuna"}, optional
        Search instead of trying everything: `n_trials` candidates proposed by Optuna's
        multi-objective sampler, of any number of features between the smallest and the largest of
        `sizes`. Needs `pip install 'mainstay[optuna]'`.
    n_trials : int
        How many candidates a search tries.
    random_state : int, Generator or None
        Seed of everything; `settings["random_state"]` says which it was.
    n_jobs : int, optional
        Number of cores; the result is the same for any number (but for `seconds`).
    progress : bool or "auto"
        Show a progress bar; "auto" on a terminal.
    checkpoint : str or Path, optional
        A folder where finished rankings and scores are kept, so that a call that was killed
        goes on where it was; see `EnsembleSelector`.

    Returns
    -------
    Comparison
        Table, scores, front, recommendation with its reason, tests, runs and settings.

    Notes
    -----
    Standard errors of scores are those of Nadeau and Bengio (2003), s·√(1/J + n_test/n_train) for
    J splits, since splits of the same rows are not independent. With `cv="half"` the standard
    error and the interval of a stability are of the same kind, s·√(1/10 + 1) over 10 pairs of
    halves: they refer to other data sets, and are usually on the safe side. With other splits they
    refer to resamples of these rows, and say nothing of other data. The best of many candidates
    owes part of its score to luck: the score of what is recommended is a little too good, the more
    so the more candidates there are.

    References
    ----------
    Bommert, A. and Rahnenführer, J. (2020). Adjusted measures for feature selection stability for
    data sets with similar features. LOD 2020, section 5.

    Breiman, L., Friedman, J., Olshen, R. and Stone, C. (1984). Classification and regression trees.
    Wadsworth, section 3.4.3.

    Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52,
    239–281.

    Examples
    --------
    >>> import mainstay as ms
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> found = ms.compare_selectors(["f_statistic", "mrmr"], X, y, sizes=[3, 10], random_state=0)
    >>> found.table["candidate"].tolist()  # doctest: +NORMALIZE_WHITESPACE
    ['f_statistic/mean/3', 'f_statistic/mean/10', 'mrmr@20/mean/3', 'mrmr@20/mean/10',
     'mrmr@20/none/3', 'mrmr@20/none/10', 'all features', 'no features', 'F-test/3', 'F-test/10',
     'random/3', 'random/10']
    >>> found.recommended in found.front["candidate"].tolist()
    True
    """
    data = Data.check(X, y, groups=groups, task=task)
    seed = random_state if isinstance(random_state, int | np.integer) else None
    if seed is None:
        seed = int(check_random_state(random_state).integers(2**32))
    rng = check_random_state(int(seed))
    _check_options(measures, priorities, tolerance, scoring)
    space = make_space(
        selectors,
        data,
        aggregations=aggregations,
        sizes=sizes,
        grids=grids,
        n_resamples=n_resamples,
        resampling=resampling,
    )
    numeric = _all_numbers(data.X, estimator)
    estimator = default_estimator(data.X, data.task) if estimator is None else estimator
    splits = outer_splits(cv, estimator, data, rng)
    check_count("the number of outer splits", len(splits), _FEWEST_SPLITS)
    bench = Bench(
        data,
        splits,
        estimator,
        scoring,
        largest=space.sizes[-1],
        rng=rng,
        n_jobs=n_jobs,
        progress=progress,
        paired=cv_is_half(cv),
    )
    judge = Judge(measures, _twins(data, similarity_threshold, space), int(rng.integers(2**32)))
    settings = {
        **_data_settings(data, splits),
        **_space_settings(space),
        "n_resamples": n_resamples,
        "resampling": plain(resampling),
        "estimator": repr(estimator),
        "scoring": _scoring_name(scoring, estimator),
        "cv": plain(cv),
        "measures": list(measures),
        "stability": judge.adjusted or judge.plain,
        "similarity_threshold": similarity_threshold,
        "priorities": list(priorities),
        "tolerance": float(tolerance),
        "search": search,
        "n_trials": n_trials if search else None,
        "random_state": int(seed),
    }
    kept = {**settings, "selectors": plain(space.specs), "random_state": random_state}
    with keep_in(checkpoint, "compare_selectors", kept, data.fingerprint):
        candidates = _candidates(space, bench, judge, search, n_trials, int(rng.integers(2**31)))
        candidates += _baselines(candidates, numeric, data.n_features)
        return _judged(candidates, bench, judge, settings)


def _judged(
    candidates: Sequence[Candidate], bench: Bench, judge: Judge, settings: dict[str, Any]
) -> Comparison:
    """Evaluate the candidates, measure their stability, and conclude."""
    results = bench.evaluate(candidates)
    labels = [candidate.label for candidate in candidates]
    estimates = {
        candidate.label: judge.estimates(result)
        for candidate, result in zip(candidates, results, strict=True)
        if candidate.contender.name not in NO_CHOICE
    }
    rows = [
        _row(candidate, result, estimates.get(candidate.label, {}), settings["test_per_train"],
             judge)
        for candidate, result in zip(candidates, results, strict=True)
    ]  # fmt: skip
    return conclude(
        rows,
        {label: result.scores for label, result in zip(labels, results, strict=True)},
        {label: result.runs for label, result in zip(labels, results, strict=True)},
        {label: of_measure[settings["stability"]] for label, of_measure in estimates.items()},
        {candidate.label: candidate.selector(task=settings["task"],
                                             random_state=settings["random_state"])
         for candidate in candidates},
        settings,
    )  # fmt: skip


def _baselines(candidates: Sequence[Candidate], numeric: bool, n_features: int) -> list[Candidate]:
    """All features, none, and F-test and random features of every size that competes."""
    fixed = {ALL: [n_features], NONE: [0]}
    sizes = sorted({candidate.n_features for candidate in candidates})
    return [
        Candidate(contender, name, k)
        for contender in baselines(numeric)
        for name in contender.aggregations
        for k in fixed.get(contender.name, sizes)
    ]


def _data_settings(data: Data, splits: Sequence[tuple[np.ndarray, np.ndarray]]) -> dict[str, Any]:
    return {
        "n_rows": data.n_rows,
        "n_features": data.n_features,
        "task": data.task,
        "task_reason": data.task_reason,
        "groups": data.groups is not None,
        "n_splits": len(splits),
        "test_per_train": _test_per_train(splits),
    }


def _space_settings(space: Space) -> dict[str, Any]:
    return {
        "selectors": {name: repr(spec) for name, spec in space.specs.items()},
        "aggregations": None if space.aggregations is None else list(space.aggregations),
        "sizes": space.sizes,
        "grids": {name: {k: [plain(v) for v in values] for k, values in grid.items()}
                  for name, grid in space.grids.items()},
    }  # fmt: skip


class Judge:
    """Measures the stability of a candidate's selections, plain and adjusted."""

    def __init__(
        self, measures: Sequence[str], similarity: FeatureSimilarity | None, seed: int
    ) -> None:
        self.similarity, self.seed = similarity, seed
        self.measures = [
            name for name in measures if similarity is not None or not MEASURES[name].adjusted
        ]
        self.plain = next(name for name in measures if not MEASURES[name].adjusted)
        self.adjusted = next((name for name in self.measures if MEASURES[name].adjusted), None)

    def estimates(self, result: Result) -> dict[str, StabilityEstimate | PairAgreement]:
        """One estimate per measure."""
        k = int(result.runs.sizes[0])  # all training parts select as many
        return {
            name: agreement(result.runs, name, k, self.similarity, self.seed)
            for name in self.measures
        }

    def deciding(self, result: Result) -> float:
        """The stability that counts in the front."""
        return float(self.estimates(result)[self.adjusted or self.plain])


def _candidates(
    space: Space, bench: Bench, judge: Judge, search: str | None, n_trials: int, seed: int
) -> list[Candidate]:
    """Everything there is to try, or what a search finds worth trying."""
    if search is not None:
        check_choice("search", search, ("optuna",))
        from mainstay.comparison.search import search_candidates

        return search_candidates(
            space, bench, judge.deciding, check_count("n_trials", n_trials, 1), seed
        )
    return [
        Candidate(contender, name, k)
        for contender in space.contenders()
        for name in contender.aggregations
        for k in space.sizes
    ]


def _row(
    candidate: Candidate,
    result: Result,
    estimates: Mapping[str, StabilityEstimate | PairAgreement],
    test_per_train: float,
    judge: Judge,
) -> dict[str, Any]:
    """One row of the table, but for what needs the others."""
    contender = candidate.contender
    row: dict[str, Any] = {
        "candidate": candidate.label,
        "selector": contender.name,
        "hyperparameters": contender.hyperparameter_text,
        "aggregation": candidate.aggregation,
        "n_features": candidate.n_features,
        "score": float(result.scores.mean()),
        "score_standard_error": corrected_standard_error(result.scores, test_per_train),
    }
    for name, found in estimates.items():
        column = {judge.plain: "stability", judge.adjusted: "adjusted_stability"}.get(name, name)
        values = (found.value, found.standard_error, *found.interval)
        endings = ("", "_standard_error", "_lower", "_upper")
        for ending, value in zip(endings, values, strict=True):
            row[column + ending] = float(value)
    return {**row, "seconds": result.seconds}


def _check_options(
    measures: Sequence[str], priorities: Sequence[str], tolerance: Any, scoring: Any
) -> None:
    if isinstance(measures, str):
        raise InputError(f"measures must be a list of names, got {measures!r}.")
    valid = [name for name, info in MEASURES.items() if info.compares_selections]
    for name in measures:
        check_choice("measure of selections", name, valid)
    if all(MEASURES[name].adjusted for name in measures):
        raise InputError(
            "measures needs at least one that knows nothing of similar features, such as "
            "'nogueira', for data whose similarities are not known."
        )
    if sorted(priorities) != sorted(CRITERIA):
        raise InputError(
            f"priorities must be {', '.join(CRITERIA)} in some order, got {priorities!r}."
        )
    if not (isinstance(tolerance, int | float) and 0 <= tolerance < np.inf):
        raise InputError(f"tolerance must be a number of standard errors, got {tolerance!r}.")
    if isinstance(scoring, str):
        from sklearn.metrics import get_scorer_names

        check_choice("scoring", scoring, get_scorer_names())


def _all_numbers(X: Any, estimator: Any) -> bool:
    """Tell whether all features are numbers; the default estimator needs that."""
    table = Table(X)
    texts = [name for j, name in enumerate(table.names) if table.column(j).kind == "category"]
    if texts and estimator is None:
        raise InputError(
            f"these features hold text or categories: {some(texts)}. The linear model that scores "
            "the selections cannot read them. Encode them as numbers, leave them out, or give an "
            "estimator that can."
        )
    return not texts


def _twins(data: Data, threshold: float | None, space: Space) -> FeatureSimilarity | None:
    """Which features are twins; of very many, those of what the rankers select on all rows."""
    if threshold is None:
        return None

    def chosen() -> Choice:
        runs = []
        for name in space.specs:
            selector = space.contender(name, {}).selector
            assert selector is not None  # which only baselines have
            alone = selector.procedure.alone()
            once = alone.run(data, 1, np.random.default_rng(0), n_jobs=1, progress=False)
            runs.append(alone.merge(once))
        return choice_of(runs, space.sizes[-1], "a ranker on all rows")

    return find_twins(data, check_fraction("similarity_threshold", threshold), chosen)


def _test_per_train(splits: Sequence[tuple[np.ndarray, np.ndarray]]) -> float:
    return sum(len(test) for _, test in splits) / sum(len(train) for train, _ in splits)


def _scoring_name(scoring: Any, estimator: Any) -> str:
    if scoring is None:
        return "accuracy" if is_classifier(estimator) else "R²"
    return rule_name(scoring)
