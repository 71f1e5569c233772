"""Stability measures: runs in, one number with its uncertainty out.

Every measure is an `entry.Measure` in the module of its family: pairs of selections, all selections
at once, selections with similar features, rankings, importances.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mainstay._validation import (
    InputError,
    RandomState,
    check_choice,
    check_count,
    check_options,
    check_random_state,
)
from mainstay.measures import importances, joint, pairs, rankings, similar
from mainstay.measures.chance import Chance
from mainstay.measures.entry import Measure
from mainstay.measures.inference import (
    Scores,
    StabilityEstimate,
    Undefined,
    check_undefined,
    estimate,
)
from mainstay.runs import Runs

if TYPE_CHECKING:
    import pandas as pd

    from mainstay.similarity import FeatureSimilarity

__all__ = ["CORRECTIONS", "MEASURES", "Measure", "list_measures", "stability"]

CORRECTIONS = ("auto", "none", "exact", "estimate")

MEASURES: dict[str, Measure] = {
    measure.name: measure
    for family in (joint, pairs, similar, rankings, importances)
    for measure in family.ENTRIES
}


def list_measures() -> pd.DataFrame:
    """List all measures with their properties.

    Returns
    -------
    pandas.DataFrame
        One row per measure: `name`; `kind` (set, similarity, ranking, scores, importances); whether
        it is `corrected` for chance and `adjusted` for similar features; its bounds `lower` and
        `upper`; the six properties of Nogueira and Brown (2015): `limits`, `monotonicity`,
        `correction_for_chance`, `unconstrained_cardinality`, `symmetry`, `redundancy_awareness`;
        the measure's own `options`; and the `reference`.

    Examples
    --------
    >>> import mainstay as ms
    >>> table = ms.list_measures().set_index("name")
    >>> bool(table.loc["jaccard", "corrected"]), bool(table.loc["nogueira", "corrected"])
    (False, True)
    """
    import pandas as pd

    columns = ["name", "kind", "corrected", "adjusted", "lower", "upper", "limits", "monotonicity",
               "correction_for_chance", "unconstrained_cardinality", "symmetry",
               "redundancy_awareness", "options", "reference"]  # fmt: skip
    rows = [[getattr(measure, column) for column in columns] for measure in MEASURES.values()]
    table = pd.DataFrame(rows, columns=columns)
    return table.assign(
        unconstrained_cardinality=table["unconstrained_cardinality"].astype("boolean"),
        options=table["options"].map(" ".join),
    )


def stability(
    runs: Runs,
    measure: str | Callable[[Runs], float] = "nogueira",
    *,
    similarity: FeatureSimilarity | None = None,
    correction: str = "auto",
    undefined: Undefined = "warn",
    confidence: float = 0.95,
    random_state: RandomState = None,
    tolerance: float = 1e-3,
    max_draws: int = 100_000,
    **options: Any,
) -> StabilityEstimate:
    """Measure how reproducible the runs of a feature selector are.

    Parameters
    ----------
    runs : Runs
        Selections, rankings or scores of at least two runs.
    measure : str or callable
        A name from `list_measures()`. `"jaccard@20"` takes the 20 best features of every ranking
        (for ranking measures: ties everything below place 20; for importances: those below place
        20 count as 0). A callable gets the `Runs` and
        returns a number.
    similarity : FeatureSimilarity, optional
        Needed by the measures of kind "similarity"; those of importances use it if it is given.
    correction : {"auto", "none", "exact", "estimate"}
        Correction for chance, (score − E)/(bound − E) with E the expected score of random
        selections of the same sizes. "auto" corrects what its authors defined as corrected,
        exactly where a closed form or a small enumeration gives E, by simulation otherwise. "none"
        gives the raw score, "exact" insists on an exact E, "estimate" simulates what has no exact
        form (and uses the exact form where there is one).
    undefined : {"warn", "nan", "error"} or float
        What to do with a score that is 0/0, such as the Jaccard index of two empty sets: NaN with a
        warning, NaN, an error, or a number in its place.
    confidence : float
        Level of the confidence interval.
    random_state : int, Generator or None
        Seed of simulations and random ties.
    tolerance : float
        A simulation stops when its standard error on the result is below this...
    max_draws : int
        ...or after so many draws. The estimate says how precise it is.
    **options
        Options of the measure: `penalty` (davis), `pairing="disjoint"` (npog, npogr), `k`
        (rankings, importances), `persistence` (rbo), `bound="arithmetic"` (`sma_count`,
        `sma_mean`, `sma_greedy`, `sma_mbm`: the largest score is taken to be (k_i + k_j)/2 instead
        of √(k_i k_j)).

    Returns
    -------
    StabilityEstimate
        Value, standard error and interval; `float()` of it is the value.

    Examples
    --------
    >>> import mainstay as ms
    >>> chosen = [["a", "b"], ["a", "c"], ["a", "b"], ["a", "b"], ["a", "b"]]
    >>> runs = ms.Runs.from_sets(chosen, features=list("abcdef"))
    >>> ms.stability(runs)
    nogueira: 0.7, 95% interval -0.1329 to 1 (5 runs × 6 features)
    >>> round(float(ms.stability(runs, "jaccard")), 4)
    0.7333

    Features that can stand in for each other may be counted as the same:

    >>> similarity = ms.FeatureSimilarity.from_matrix(
    ...     [[1, 0, 0], [0, 1, 0.95], [0, 0.95, 1]], features=["a", "b", "c"])
    >>> runs = ms.Runs.from_sets([["a", "b"], ["a", "c"]], features=["a", "b", "c"])
    >>> float(ms.stability(runs, "sma_count", similarity=similarity))
    1.0
    """
    if not isinstance(runs, Runs):
        raise InputError(
            f"runs must be a mainstay.Runs, got {type(runs).__name__}; make one with "
            "Runs.from_sets, from_support, from_ranks or from_scores."
        )
    chance = _chance(correction, tolerance, max_draws, random_state)
    undefined = check_undefined(undefined)
    name = getattr(measure, "__name__", "callable") if callable(measure) else str(measure)
    if runs.n_runs < 2:
        raise InputError(
            f"{name!r} compares runs with each other and needs at least 2 of them, got 1."
        )
    shape = (runs.n_runs, runs.n_features)
    if callable(measure):
        check_options(name, options, ())
        return estimate(name, _callable_scores(runs, measure), undefined, confidence, shape)
    entry, k = _look_up(measure)
    check_options(entry.name, options, entry.options)
    runs = _runs_for(entry, runs, name, k, chance.seed)
    if k is not None and "k" in entry.options:
        options = {**options, "k": k}
    aligned = _similarity_for(entry, runs, similarity)
    scores = _scores(entry, runs, aligned, chance, options)
    return estimate(
        name,
        scores,
        undefined,
        confidence,
        shape,
        bounds=_bounds(entry, scores.correction),
    )


# ---------------------------------------------------------------------- arguments


def _chance(correction: str, tolerance: float, max_draws: int, random_state: RandomState) -> Chance:
    check_choice("correction", correction, CORRECTIONS)
    rng = check_random_state(random_state)
    if not 0 < tolerance < np.inf:
        raise InputError(f"tolerance must be a number above 0, got {tolerance!r}.")
    is_seed = isinstance(random_state, int | np.integer)
    seed: Any = random_state if is_seed else rng.spawn(1)[0].integers(2**32)
    return Chance(correction, tolerance, check_count("max_draws", max_draws, 100), rng, int(seed))


def _look_up(measure: object) -> tuple[Measure, int | None]:
    """Split "name@k" and find the measure."""
    name, at, k = str(measure).partition("@")
    entry = MEASURES[check_choice("measure", name if at else measure, MEASURES)]
    if not at:
        return entry, None
    if not k.isdecimal() or int(k) < 1:
        raise InputError(
            f"in {measure!r}, what follows @ must be a number of features, such as 20."
        )
    return entry, int(k)


def check_named(measure: object) -> Measure:
    """Find a measure that compares what studies or ensembles select, so many features of each.

    Measures of selections are then given without "@k".
    """
    entry = MEASURES[check_choice("measure", str(measure).partition("@")[0], MEASURES)]
    if entry.reads_selected and "@" in str(measure):
        raise InputError(
            f"measure {measure!r}: n_features_to_select says how many features are compared; use "
            f"measure={entry.name!r}."
        )
    return entry


def _runs_for(entry: Measure, runs: Runs, measure: str, k: int | None, seed: int) -> Runs:
    """Return runs of the kind that the measure compares, or say how to get them."""
    if entry.compares_selections and runs.kind != "support":
        if k is None:
            raise InputError(
                f"{entry.name!r} compares selections, but these runs hold {runs.kind}; "
                f"use measure='{entry.name}@20' or runs.top(20) for the 20 best features."
            )
        return runs.top(k, random_state=seed)
    if runs.kind == "support" and k is not None:
        raise InputError(f"{measure!r} needs rankings or scores, but these runs hold selections.")
    if entry.equal_sizes:
        _check_equal_sizes(entry.name, runs.sizes)
    if entry.kind == "ranking" and runs.kind == "support":
        raise InputError(f"{entry.name!r} compares rankings, but these runs hold selections.")
    if entry.kind == "importances" and runs.kind == "ranks":
        raise InputError(
            f"{entry.name!r} compares importances, but these runs hold ranks; runs.top(20) makes "
            "selections, whose features count as equally important."
        )
    if entry.kind == "scores" and runs.kind != "scores":
        raise InputError(f"{entry.name!r} compares scores, but these runs hold {runs.kind}.")
    if entry.kind == "scores" and k is not None and "k" not in entry.options:
        raise InputError(f"{entry.name!r} has no top-k form; 'spearman@{k}' has.")
    return runs


def _check_equal_sizes(name: str, sizes: np.ndarray) -> None:
    different = np.flatnonzero(sizes != sizes[0])
    if different.size:
        raise InputError(
            f"{name!r} needs selections of equal size, but run 0 has {sizes[0]} features and run "
            f"{different[0]} has {sizes[different[0]]}. Use 'sim_n' or 'nogueira', which take any "
            "sizes."
        )


def _similarity_for(
    entry: Measure, runs: Runs, similarity: FeatureSimilarity | None
) -> FeatureSimilarity | None:
    """Return the similarities in the order of the runs' features, if the measure uses them."""
    if not entry.adjusted:
        if similarity is not None:
            adjusted = ", ".join(m.name for m in MEASURES.values() if m.adjusted)
            raise InputError(f"{entry.name!r} does not use similarity=; these do: {adjusted}.")
        return None
    if similarity is None and not entry.needs_similarity:
        return None
    if similarity is None:
        raise InputError(
            f"{entry.name!r} counts similar features as exchangeable and needs similarity=; "
            "make one with ms.FeatureSimilarity.from_data(X, threshold=0.9)."
        )
    if not hasattr(similarity, "aligned_to"):
        raise InputError(
            f"similarity must be a mainstay.FeatureSimilarity, got {type(similarity).__name__}; "
            "use FeatureSimilarity.from_matrix or from_data."
        )
    return similarity.aligned_to(runs.features)


# ---------------------------------------------------------------------- scores


def _scores(
    entry: Measure,
    runs: Runs,
    similarity: FeatureSimilarity | None,
    chance: Chance,
    options: dict[str, Any],
) -> Scores:
    """Compute the measure by whichever function its entry has."""
    pairing = check_choice("pairing", options.pop("pairing", "all"), ("all", "disjoint"))
    if entry.pair_score is not None:
        scores = pairs.scores_of_pairs(entry, runs, chance)
    elif entry.joint_score is not None:
        scores = joint.scores_of_all(entry, runs, chance, options)
    else:
        assert entry.run_scores is not None
        compared: Any = runs
        if entry.kind == "importances":
            options = {**options, "similarity": similarity}
        elif similarity is not None:
            compared = similar.SimilarPairs(runs, similarity)
        scores = entry.run_scores(compared, chance, **options)
    return replace(scores, disjoint=pairing == "disjoint")


def _bounds(entry: Measure, correction: str) -> tuple[float, float]:
    """Range of the measure as it was computed: correcting or not correcting changes it."""
    if correction == "none" and entry.corrected:
        return 0.0, np.inf
    if correction in ("exact", "estimate") and not entry.corrected:
        return -np.inf, 1.0
    return entry.bounds


def _callable_scores(runs: Runs, measure: Callable[[Runs], float]) -> Scores:
    """Scores of a user's function: of all runs, and without each in turn."""
    without_each = None
    if runs.n_runs > 2:
        every = np.arange(runs.n_runs)
        without_each = np.array([float(measure(runs[np.delete(every, i)])) for i in every])
    return Scores(joint=float(measure(runs)), leave_one_out=without_each)
