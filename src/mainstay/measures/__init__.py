"""Stability measures: runs in, one number with its uncertainty out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mainstay._validation import (
    InputError,
    RandomState,
    check_choice,
    check_count,
    check_random_state,
)
from mainstay.measures import rankings, sets, similar
from mainstay.measures.chance import Chance, expected_overlap_score
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

CORRECTIONS = ("auto", "none", "exact", "estimate")


@dataclass(frozen=True)
class Measure:
    """What is known of a measure: one row of `list_measures()`.

    The six properties are those of Nogueira and Brown (2015), section 2.2. A property that has no
    meaning for rankings is None. `tests/test_properties.py` checks every one by computation.
    """

    name: str
    kind: str
    corrected: bool
    adjusted: bool
    lower: float
    upper: float
    limits: bool
    monotonicity: bool
    correction_for_chance: bool
    unconstrained_cardinality: bool | None
    symmetry: bool
    redundancy_awareness: bool
    options: str
    reference: str


def _measure(
    name: str,
    kind: str,
    bounds: tuple[float, float],
    lacks: str,
    reference: str,
    options: str = "",
) -> Measure:
    """Describe a measure; `lacks` holds the numbers of the properties it does not have."""
    has = {number: str(number) not in lacks for number in range(1, 7)}
    return Measure(
        name=name,
        kind=kind,
        corrected=has[3],
        adjusted=kind == "similarity",
        lower=bounds[0],
        upper=bounds[1],
        limits=has[1],
        monotonicity=has[2],
        correction_for_chance=has[3],
        unconstrained_cardinality=has[4] if kind in ("set", "similarity") else None,
        symmetry=has[5],
        redundancy_awareness=has[6],
        options=options,
        reference=reference,
    )


_INF = float("inf")
_BOMMERT = "Bommert and Rahnenführer 2020"

MEASURES: dict[str, Measure] = {
    m.name: m
    for m in (
        _measure("nogueira", "set", (-1, 1), "6", "Nogueira, Sechidis and Brown 2018"),
        _measure("jaccard", "set", (0, 1), "36", "Jaccard 1901; Kalousis et al. 2007"),
        _measure("dice", "set", (0, 1), "36", "Dice 1945"),
        _measure("ochiai", "set", (0, 1), "36", "Ochiai 1957; Zucknick et al. 2008"),
        _measure("hamming", "set", (0, 1), "36", "Dunne et al. 2002"),
        _measure("kuncheva", "set", (-1, 1), "46", "Kuncheva 2007"),
        _measure("lustgarten", "set", (-1, 1), "16", "Lustgarten et al. 2009"),
        _measure("wald", "set", (-_INF, 1), "16", "Wald et al. 2013"),
        _measure("npog", "set", (-_INF, 1), "156", "Zhang et al. 2009", "pairing"),
        _measure("sim_n", "set", (-1, 1), "6", "Nogueira and Brown 2015"),
        _measure("unadjusted", "set", (-1, 1), "6", _BOMMERT),
        _measure("phi", "set", (-1, 1), "6", "Nogueira and Brown 2016"),
        _measure("kappa", "set", (-1, 1), "6", "Carletta 1996"),
        _measure("davis", "set", (0, 1), "36", "Davis et al. 2006", "penalty"),
        _measure("novovicova", "set", (0, 1), "36", "Novovičová et al. 2009"),
        _measure("somol", "set", (0, 1), "36", "Somol and Novovičová 2010"),
        _measure("weighted_consistency", "set", (0, 1), "36", "Somol and Novovičová 2008"),
        _measure("krizek", "set", (0, 1), "346", "Křížek et al. 2007"),
        _measure("zucknick", "similarity", (0, 1), "3", "Zucknick et al. 2008"),
        _measure("yu", "similarity", (-_INF, 1), "1", f"Yu et al. 2012; {_BOMMERT}"),
        _measure("sma_count", "similarity", (-_INF, 1), "1", _BOMMERT),
        _measure("sma_mean", "similarity", (-_INF, 1), "1", _BOMMERT),
        _measure("sma_greedy", "similarity", (-_INF, 1), "1", _BOMMERT),
        _measure("sma_mbm", "similarity", (-_INF, 1), "1", _BOMMERT),
        _measure("npogr", "similarity", (-_INF, 1), "15", "Zhang et al. 2009", "pairing"),
        _measure("matching", "similarity", (0, 1), "3", "Yu, Ding and Loscalzo 2008"),
        _measure("sechidis", "similarity", (-_INF, 1), "1", "Sechidis et al. 2020"),
        _measure("spearman", "ranking", (-1, 1), "6", "Kalousis et al. 2007", "k"),
        _measure("kendall", "ranking", (-1, 1), "6", "Kendall 1945", "k"),
        _measure("kendall_w", "ranking", (0, 1), "36", "Kendall and Smith 1939", "k"),
        _measure("canberra", "ranking", (0, 1), "236", "Jurman et al. 2008", "k"),
        _measure("rbo", "ranking", (0, 1), "36", "Webber et al. 2010", "k persistence"),
        _measure("average_overlap", "ranking", (0, 1), "36", "Fagin et al. 2003", "k"),
        _measure("pearson", "scores", (-1, 1), "6", "Kalousis et al. 2007"),
    )
}

_SIMILAR: dict[str, Callable[..., Scores]] = {
    "zucknick": similar.zucknick,
    "yu": similar.yu,
    "sma_count": partial(similar.sma, "COUNT"),
    "sma_mean": partial(similar.sma, "MEAN"),
    "sma_greedy": partial(similar.sma, "GREEDY"),
    "sma_mbm": partial(similar.sma, "MATCHING"),
    "npogr": similar.npogr,
    "matching": similar.matching,
    "sechidis": similar.sechidis,
}


def list_measures() -> pd.DataFrame:
    """List all measures with their properties.

    Returns
    -------
    pandas.DataFrame
        One row per measure: `name`; `kind` (set, similarity, ranking, scores); whether it is
        `corrected` for chance and `adjusted` for similar features; its bounds `lower` and `upper`;
        the six properties of Nogueira and Brown (2015): `limits`, `monotonicity`,
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

    table = pd.DataFrame([asdict(measure) for measure in MEASURES.values()])
    column = "unconstrained_cardinality"
    return table.assign(**{column: table[column].astype("boolean")})


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
        (for ranking measures: ties everything below place 20). A callable gets the `Runs` and
        returns a number.
    similarity : FeatureSimilarity, optional
        Needed by, and only by, the measures of kind "similarity".
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
        (rankings), `persistence` (rbo).

    Returns
    -------
    StabilityEstimate
        Value, standard error and interval; `float()` of it is the value.

    Examples
    --------
    >>> import mainstay as ms
    >>> runs = ms.Runs.from_sets([["a", "b"], ["a", "c"], ["a", "b"]], features=list("abcdef"))
    >>> ms.stability(runs)
    nogueira: 0.5, 95% interval 0.2333 to 0.7667 (3 runs × 6 features)
    >>> round(float(ms.stability(runs, "jaccard")), 4)
    0.5556

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
    check_choice("correction", correction, CORRECTIONS)
    undefined = check_undefined(undefined)
    rng = check_random_state(random_state)
    if not 0 < tolerance < np.inf:
        raise InputError(f"tolerance must be a number above 0, got {tolerance!r}.")
    chance = Chance(correction, tolerance, check_count("max_draws", max_draws, 100), rng)
    if callable(measure):
        _refuse_options(getattr(measure, "__name__", "callable"), "", options)
        return _callable_estimate(runs, measure, undefined, confidence)
    info, k = _look_up(measure)
    seed = random_state if isinstance(random_state, int) else rng.spawn(1)[0].integers(2**32)
    _refuse_options(info.name, info.options, options)
    runs = _fitting(runs, info, measure, k, int(seed))
    if k is not None and info.kind == "ranking":
        options = {**options, "k": k}
    if info.kind == "similarity":
        if similarity is None:
            raise InputError(
                f"{info.name!r} counts similar features as exchangeable and needs similarity=; "
                "make one with ms.FeatureSimilarity.from_data(X, threshold=0.9)."
            )
        scores = _similar_scores(runs, info.name, similarity, chance, options)
    elif similarity is not None:
        adjusted = ", ".join(m.name for m in MEASURES.values() if m.adjusted)
        raise InputError(f"{info.name!r} does not use similarity=; these do: {adjusted}.")
    elif info.kind in ("ranking", "scores"):
        scores = _ranking_scores(runs, info, correction, int(seed), options)
    elif info.name in sets.PAIR_SCORES:
        scores = _pair_scores(runs, info, correction, options)
    else:
        scores = _joint_scores(runs, info, correction, options)
    return estimate(measure, scores, undefined, confidence, (runs.n_runs, runs.n_features))


# ---------------------------------------------------------------------- arguments


def _look_up(measure: object) -> tuple[Measure, int | None]:
    """Split "name@k" and find the measure."""
    name, at, k = str(measure).partition("@")
    info = MEASURES[check_choice("measure", name if at else measure, MEASURES)]
    if not at:
        return info, None
    if not k.isdecimal() or int(k) < 1:
        raise InputError(
            f"in {measure!r}, what follows @ must be a number of features, such as 20."
        )
    return info, int(k)


def _refuse_options(name: str, valid: str, options: dict[str, Any]) -> None:
    for option in options:
        if option not in valid.split():
            takes = valid.replace(" ", ", ") or "none"
            raise InputError(f"{name!r} has no option {option!r}; its options: {takes}.")


def _fitting(runs: Runs, info: Measure, measure: str, k: int | None, seed: int) -> Runs:
    """Return runs of the kind that the measure reads, or say how to get them."""
    needs_sets = info.kind in ("set", "similarity")
    if needs_sets and runs.kind != "support":
        if k is None:
            raise InputError(
                f"{info.name!r} compares selections, but these runs hold {runs.kind}; "
                f"use measure='{info.name}@20' or runs.top(20) for the 20 best features."
            )
        return runs.top(k, random_state=seed)
    if needs_sets and k is not None:
        raise InputError(f"{measure!r} needs rankings or scores, but these runs hold selections.")
    if info.kind == "ranking" and runs.kind == "support":
        raise InputError(f"{info.name!r} compares rankings, but these runs hold selections.")
    if info.kind == "scores" and runs.kind != "scores":
        raise InputError(f"{info.name!r} compares scores, but these runs hold {runs.kind}.")
    if info.kind == "scores" and k is not None:
        raise InputError(f"{info.name!r} has no top-k form; 'spearman@{k}' has.")
    return runs


# ---------------------------------------------------------------------- evaluation


def _pair_scores(runs: Runs, info: Measure, correction: str, options: dict[str, Any]) -> Scores:
    score_of = sets.PAIR_SCORES[info.name]
    if not info.unconstrained_cardinality:
        sets.equal_sizes(info.name, runs.sizes)
    a, p = runs.sizes.astype(float), runs.n_features
    pairwise = score_of(sets.overlaps(runs), a[:, None], a[None, :], p)
    disjoint = _check_pairing(options) == "disjoint"
    if info.corrected:
        return Scores(pairwise=pairwise, correction="by definition", disjoint=disjoint)
    if correction in ("auto", "none"):
        return Scores(pairwise=pairwise)
    sizes, which = np.unique(runs.sizes, return_inverse=True)
    expected = expected_overlap_score(score_of, sizes, p)[which[:, None], which[None, :]]
    return Scores(
        pairwise=sets.correct_for_chance(pairwise, expected, np.ones_like(expected)),
        correction="exact",
    )


def _check_pairing(options: dict[str, Any]) -> str:
    return check_choice("pairing", options.get("pairing", "all"), ("all", "disjoint"))


def _joint_scores(runs: Runs, info: Measure, correction: str, options: dict[str, Any]) -> Scores:
    counts, measure = sets.Counts.of(runs), sets.JOINT_SCORES[info.name]
    values = measure.score(counts, **options)
    label = "by definition" if info.corrected else "none"
    if correction in ("exact", "estimate") and not info.corrected:
        label = "exact"
        expected = np.empty(counts.m + 1)
        expected[0] = measure.expected(counts.sizes, counts.p, **options)
        for size in np.unique(counts.sizes):
            same = np.flatnonzero(counts.sizes == size)
            without = np.delete(counts.sizes, same[0])
            expected[same + 1] = measure.expected(without, counts.p, **options)
        maximum = np.full(counts.m + 1, measure.maximum(counts.p, **options))
        values = sets.correct_for_chance(values, expected, maximum)
    return Scores(
        joint=float(values[0]),
        leave_one_out=values[1:] if counts.m > 2 else None,
        variance=sets.nogueira_variance(counts) if info.name == "nogueira" else None,
        correction=label,
    )


def _similar_scores(
    runs: Runs,
    name: str,
    similarity: FeatureSimilarity,
    chance: Chance,
    options: dict[str, Any],
) -> Scores:
    if not hasattr(similarity, "aligned_to"):
        raise InputError(
            f"similarity must be a mainstay.FeatureSimilarity, got {type(similarity).__name__}; "
            "use FeatureSimilarity.from_matrix or from_data."
        )
    _check_pairing(options)
    pairs = similar.SimilarPairs(runs, similarity.aligned_to(runs.features))
    return _SIMILAR[name](pairs, chance, **options)


def _ranking_scores(
    runs: Runs, info: Measure, correction: str, seed: int, options: dict[str, Any]
) -> Scores:
    if not info.corrected:
        options = {**options, "correct": correction in ("exact", "estimate")}
    if info.name in ("rbo", "average_overlap"):
        options = {**options, "random_state": seed}
    return rankings.RANKING_SCORES[info.name](runs, **options)


def _callable_estimate(
    runs: Runs, measure: Callable[[Runs], float], undefined: Undefined, confidence: float
) -> StabilityEstimate:
    m = runs.n_runs
    without = None
    if m > 2:
        rest = [np.delete(np.arange(m), i) for i in range(m)]
        without = np.array([float(measure(runs.subset(rows))) for rows in rest])
    scores = Scores(joint=float(measure(runs)), leave_one_out=without)
    name = getattr(measure, "__name__", "callable")
    return estimate(name, scores, undefined, confidence, (m, runs.n_features))
