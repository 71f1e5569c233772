"""The six properties of Nogueira and Brown (2015), computed for every measure.

For each property that `list_measures()` claims the test computes it; for each that a measure lacks
the test shows a counterexample. A wrong tick in the table fails either way.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import mainstay as ms
from conftest import make, random_sets
from mainstay.measures import MEASURES, Measure

SETS = [m for m in MEASURES.values() if m.kind in ("set", "similarity", "importances")]
RANKINGS = [m for m in MEASURES.values() if m.kind in ("ranking", "scores")]
P = 12  # features; in GROUPS those that stand in for each other
GROUPS = ((0, 1, 2), (3, 4), (5, 6, 7))

# Table 1 of the paper: limits, monotonicity, chance, cardinality, symmetry, redundancy
TABLE_1 = {
    "jaccard": (True, True, False, True, True, False),
    "hamming": (True, True, False, True, True, False),
    "matching": (True, True, False, True, True, True),
    "kuncheva": (True, True, True, False, True, False),
    "lustgarten": (False, True, True, True, True, False),
    "wald": (False, True, True, True, True, False),
    "npog": (False, True, True, True, False, False),
    "npogr": (False, True, True, True, False, True),
    "somol": (True, True, False, True, True, False),
    "krizek": (True, True, False, False, True, False),
}


def grouped(p: int = P, groups: tuple[tuple[int, ...], ...] = GROUPS) -> ms.FeatureSimilarity:
    matrix = np.eye(p)
    for group in groups:
        for i, j in itertools.permutations(group, 2):
            matrix[i, j] = 0.95
    return ms.FeatureSimilarity.from_matrix(matrix, 0.9)


def estimate(
    measure: Measure,
    sets: list[set[int]],
    p: int = P,
    similarity: ms.FeatureSimilarity | None = None,
    **options: object,
) -> ms.StabilityEstimate:
    if measure.adjusted:
        options["similarity"] = similarity if similarity is not None else grouped(p)
    return ms.stability(make(sets, p), measure.name, random_state=0, **options)  # type: ignore[arg-type]


def value(measure: Measure, sets: list[set[int]], *args: object, **options: object) -> float:
    return float(estimate(measure, sets, *args, **options))  # type: ignore[arg-type]


def of_rankings(measure: Measure, rankings: np.ndarray) -> float:
    if measure.kind == "scores":
        scores = 1.0 + rankings.max() - rankings  # above 0: importances
        return float(ms.stability(ms.Runs.from_scores(scores), measure.name))
    return float(ms.stability(ms.Runs.from_ranks(rankings), measure.name))


def sizes_for(measure: Measure, rng: np.random.Generator) -> tuple[int, int]:
    if measure.unconstrained_cardinality:
        return 1, P - 1
    k = int(rng.integers(1, P))
    return k, k


def test_table_1_of_the_paper_is_the_table_here() -> None:
    columns = [
        "limits", "monotonicity", "correction_for_chance", "unconstrained_cardinality", "symmetry",
        "redundancy_awareness",
    ]  # fmt: skip
    table = ms.list_measures().set_index("name")[columns]
    for name, expected in TABLE_1.items():
        assert tuple(bool(tick) for tick in table.loc[name]) == expected, name


# ---------------------------------------------------------------------- 1 limits


@pytest.mark.parametrize("measure", [m for m in SETS if m.limits], ids=lambda m: m.name)
def test_limits_hold_for_any_runs_and_identical_selections_reach_the_largest(
    measure: Measure,
) -> None:
    rng = np.random.default_rng(1)
    nested = [set(range(1)), set(range(P - 1))]
    opposite = [set(range(P // 2)), set(range(P // 2, P))]
    adversarial = [opposite] if not measure.unconstrained_cardinality else [opposite, nested]
    random = [random_sets(rng, 4, P, *sizes_for(measure, rng)) for _ in range(100)]
    for sets in adversarial + random:
        assert measure.lower - 1e-12 <= value(measure, sets) <= measure.upper + 1e-12
    for k in range(1, P):
        assert value(measure, [set(range(k))] * 3) == pytest.approx(measure.upper, abs=1e-9)


def loner_or_group(p: int) -> tuple[list[set[int]], ms.FeatureSimilarity]:
    """All features but the last are exchangeable; the runs pick the last, or one of the others."""
    return [{p - 1}, {0}, {1}], grouped(p, (tuple(range(p - 1)),))


@pytest.mark.parametrize("measure", [m for m in SETS if not m.limits], ids=lambda m: m.name)
def test_limits_are_missing_where_the_table_says_so(measure: Measure) -> None:
    if measure.name == "lustgarten":  # identical selections do not reach the maximum
        assert value(measure, [set(range(7))] * 2, 10) == pytest.approx(0.7)
        return
    lowest = []
    for p in (10, 100):
        if measure.adjusted:
            sets, similarity = loner_or_group(p)
            lowest.append(value(measure, sets, p, similarity))
        else:
            lowest.append(value(measure, [{0}, set(range(1, p))], p))
    assert lowest[1] < 3 * lowest[0] < -1  # grows with p: no constant bounds it


@pytest.mark.parametrize("measure", RANKINGS, ids=lambda m: m.name)
def test_limits_of_ranking_measures(measure: Measure) -> None:
    assert measure.limits
    rng = np.random.default_rng(2)
    up = np.arange(1, P + 1)
    for rankings in [np.array([up, up[::-1]])] + [
        np.argsort(rng.random((3, P)), axis=1) + 1 for _ in range(50)
    ]:
        assert measure.lower - 1e-12 <= of_rankings(measure, rankings) <= measure.upper + 1e-12
    assert of_rankings(measure, np.array([up, up, up])) == pytest.approx(measure.upper)


# ---------------------------------------------------------------------- 2 monotonicity


@pytest.mark.parametrize("measure", SETS, ids=lambda m: m.name)
@pytest.mark.parametrize("others", [0, 2])
def test_mending_a_disagreement_never_lowers_the_stability(measure: Measure, others: int) -> None:
    """One run exchanges, one at a time, a feature nobody else has for one that all others have.

    The mended features have no similar ones, here and in every definition of the property: where
    a feature stood in for several others, mending it can lower `yu` and `npogr` (next test).
    """
    assert measure.monotonicity
    similarity = grouped(P, ((8, 9), (10, 11)))
    target = {0, 1, 2, 3}
    values = []
    for agreed in range(5):
        last = set(range(agreed)) | set(range(4, 8 - agreed))
        values.append(value(measure, [target] * (1 + others) + [last], P, similarity))
    assert all(b >= a - 1e-12 for a, b in itertools.pairwise(values))
    assert values[-1] > values[0]


@pytest.mark.parametrize("name", ["yu", "npogr", "sma_count"])
def test_mending_what_stood_in_for_several_features(name: str) -> None:
    """Feature 4 of the second run stands in for 1, 2 and 3 of the first, which then gets it too."""
    matrix = np.eye(20)
    for i in (1, 2, 3):
        matrix[i, 4] = matrix[4, i] = 0.95
    similarity = ms.FeatureSimilarity.from_matrix(matrix, 0.9)
    before = value(MEASURES[name], [{0, 1, 2, 3}, {4, 5, 6, 7}], 20, similarity, correction="none")
    after = value(MEASURES[name], [{4, 1, 2, 3}, {4, 5, 6, 7}], 20, similarity, correction="none")
    assert (after < before) == (name in ("yu", "npogr"))


@pytest.mark.parametrize("measure", RANKINGS, ids=lambda m: m.name)
def test_mending_neighbours_never_lowers_the_stability_of_rankings(measure: Measure) -> None:
    """All but `canberra`: 5 6 4 3 2 1 is farther from 1 2 3 4 5 6 than 6 5 4 3 2 1 is."""
    truth = np.arange(1, 7)
    ranking = truth[::-1].copy()
    values = [of_rankings(measure, np.array([truth, ranking]))]
    while (ranking != truth).any():
        at = int(np.flatnonzero(np.diff(ranking) < 0)[0])
        ranking[[at, at + 1]] = ranking[[at + 1, at]]
        values.append(of_rankings(measure, np.array([truth, ranking])))
    assert len(values) == 16
    never_lower = all(b >= a - 1e-12 for a, b in itertools.pairwise(values))
    assert never_lower == measure.monotonicity
    assert values[-1] > values[0]


# ---------------------------------------------------------------------- 3 correction for chance


def mean_of_random_selections(measure: Measure, k: int) -> tuple[float, float]:
    """Mean and standard error of the stability of runs that draw k features at random."""
    rng = np.random.default_rng(k)
    m = 4 if measure.name in ("krizek", "somol", "novovicova", "davis") else 12
    repeats = [value(measure, random_sets(rng, m, P, k, k)) for _ in range(120)]
    return float(np.mean(repeats)), float(np.std(repeats, ddof=1) / np.sqrt(len(repeats)))


@pytest.mark.slow
@pytest.mark.parametrize("measure", SETS, ids=lambda m: m.name)
def test_random_selections_score_the_same_for_any_size_exactly_if_corrected(
    measure: Measure,
) -> None:
    results = [mean_of_random_selections(measure, k) for k in (1, 4, 8)]
    if measure.correction_for_chance:
        for mean, error in results:
            assert abs(mean) <= 4 * error
    else:
        (low, error_low), (high, error_high) = min(results), max(results)
        assert high - low > 4 * np.hypot(error_low, error_high)
    assert measure.corrected == measure.correction_for_chance


def expected_with_unequal_sizes(name: str, sizes: list[int]) -> float:
    """Mean of the stability of random selections of these sizes, for corrected measures.

    0, but for measures of all runs together: these take the variance s² of the sizes for
    instability. With similarities C and the covariance Σ of random selections it is
    −s²/(m·p²)·Σ_fg C_fg/tr(CΣ), which is −s²/(m·k̄(p − k̄)) for C = I: 0 only for many runs.
    """
    if name not in ("nogueira", "sechidis"):
        return 0.0
    mean, square, m = np.mean(sizes), np.mean(np.square(sizes)), len(sizes)
    covariance = np.full((P, P), (square - mean) / (P * (P - 1)) - (mean / P) ** 2)
    np.fill_diagonal(covariance, mean / P * (1 - mean / P))
    similar = np.eye(P)
    for group in GROUPS if name == "sechidis" else ():
        for i, j in itertools.permutations(group, 2):
            similar[i, j] = 0.95
    spread = np.var(sizes, ddof=1) / (m * P**2)
    return float(-spread * similar.sum() / np.trace(similar @ covariance))


@pytest.mark.slow
@pytest.mark.parametrize(
    "measure", [m for m in SETS if m.unconstrained_cardinality], ids=lambda m: m.name
)
def test_random_selections_of_unequal_sizes_score_the_same_exactly_if_corrected(
    measure: Measure,
) -> None:
    rng = np.random.default_rng(8)
    results = []
    for sizes in ([1, 2, 3, 4] * 2, [2, 6, 10] * 3, [8, 9, 10, 11] * 2):
        repeats = [
            value(measure, [set(rng.choice(P, size=k, replace=False).tolist()) for k in sizes])
            for _ in range(100)
        ]
        error = float(np.std(repeats, ddof=1) / np.sqrt(len(repeats)))
        expected = expected_with_unequal_sizes(measure.name, sizes)
        results.append((float(np.mean(repeats)), error, expected))
    if measure.correction_for_chance:
        for mean, error, expected in results:
            assert abs(mean - expected) <= 4 * error
    else:
        (low, error_low, _), (high, error_high, _) = min(results), max(results)
        assert high - low > 4 * np.hypot(error_low, error_high)


@pytest.mark.parametrize("measure", RANKINGS, ids=lambda m: m.name)
def test_random_rankings_score_0_exactly_if_corrected(measure: Measure) -> None:
    rng = np.random.default_rng(3)
    repeats = [of_rankings(measure, np.argsort(rng.random((6, P)), axis=1) + 1) for _ in range(150)]
    mean, error = np.mean(repeats), np.std(repeats, ddof=1) / np.sqrt(len(repeats))
    assert (abs(mean) <= 4 * error) == measure.correction_for_chance


# ---------------------------------------------------------------------- 4 cardinality


@pytest.mark.parametrize("measure", SETS, ids=lambda m: m.name)
def test_selections_of_unequal_size(measure: Measure) -> None:
    sets = [{0, 5}, {0, 8, 9}, {0, 1, 9, 10}]
    if measure.unconstrained_cardinality:
        assert np.isfinite(value(measure, sets))
    else:
        with pytest.raises(ms.InputError, match=r"equal size.*sim_n.*nogueira"):
            value(measure, sets)


# ---------------------------------------------------------------------- 5 symmetry


@pytest.mark.parametrize("measure", SETS, ids=lambda m: m.name)
def test_order_of_the_runs(measure: Measure) -> None:
    rng = np.random.default_rng(4)
    sets = random_sets(rng, 6, P, *((2, 6) if measure.unconstrained_cardinality else (4, 4)))
    order = rng.permutation(6)
    shuffled = [sets[i] for i in order]
    assert value(measure, shuffled) == pytest.approx(value(measure, sets), abs=1e-12)
    pairwise = estimate(measure, sets).pairwise
    if measure.symmetry:
        if pairwise is not None:
            np.testing.assert_allclose(pairwise, pairwise.T, atol=1e-12)
    else:  # the mean over all ordered pairs hides what one pair, or disjoint pairs, show
        assert pairwise is not None
        assert abs(pairwise - pairwise.T)[~np.eye(6, dtype=bool)].max() > 0.01
        published = value(measure, sets, pairing="disjoint")
        assert value(measure, shuffled, pairing="disjoint") != pytest.approx(published, abs=1e-6)


@pytest.mark.parametrize("measure", RANKINGS, ids=lambda m: m.name)
def test_order_of_rankings(measure: Measure) -> None:
    assert measure.symmetry
    rankings = np.argsort(np.random.default_rng(5).random((5, P)), axis=1) + 1
    shuffled = of_rankings(measure, rankings[[3, 0, 4, 2, 1]])
    assert shuffled == pytest.approx(of_rankings(measure, rankings), abs=1e-12)


# ---------------------------------------------------------------------- 6 redundancy


@pytest.mark.parametrize("measure", SETS, ids=lambda m: m.name)
def test_swapping_a_feature_for_its_twin_counts_less_exactly_if_aware_of_redundancy(
    measure: Measure,
) -> None:
    twins = value(measure, [{0, 9, 10}, {1, 9, 10}, {0, 9, 10}])
    strangers = value(measure, [{8, 9, 10}, {11, 9, 10}, {8, 9, 10}])
    if measure.redundancy_awareness:
        assert twins > strangers + 0.01
    else:
        assert twins == pytest.approx(strangers, abs=1e-12)


@pytest.mark.parametrize("measure", RANKINGS, ids=lambda m: m.name)
def test_ranking_measures_do_not_know_twins(measure: Measure) -> None:
    """Exchanging the names of features changes nothing, whoever they are."""
    assert not measure.redundancy_awareness
    rankings = np.argsort(np.random.default_rng(6).random((4, P)), axis=1) + 1
    renamed = rankings[:, np.random.default_rng(7).permutation(P)]
    assert of_rankings(measure, renamed) == pytest.approx(of_rankings(measure, rankings), abs=1e-12)
