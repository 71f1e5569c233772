"""Every measure against its naive twin, its invariances, and what users hand in."""

from __future__ import annotations

import itertools
import math
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mainstay as ms
import naive
from conftest import make, random_sets, random_similarity
from mainstay.measures import MEASURES, Measure

ADJUSTED_PAIRS = ("zucknick", "yu", "sma_count", "sma_mean", "sma_greedy", "sma_mbm", "npogr")
EQUAL_SIZES = ("kuncheva", "krizek")


@st.composite
def selections(draw: Any, p: int = 7, equal: bool = False) -> list[set[int]]:
    """Two to five sets of 0 to p of p features."""
    size = draw(st.integers(0, p))
    one = st.sets(
        st.integers(0, p - 1), min_size=size if equal else 0, max_size=size if equal else p
    )
    return draw(st.lists(one, min_size=2, max_size=5))


def ordered(name: str) -> bool:
    return name in ("npog", "npogr")


def naive_mean(name: str, score: Any, sets: list[set[int]]) -> float:
    return (naive.mean_over_ordered_pairs if ordered(name) else naive.mean_over_pairs)(score, sets)


@pytest.mark.parametrize("name", [m.name for m in MEASURES.values() if m.pair_score])
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_pair_measures_equal_their_naive_twin(name: str, data: st.DataObject) -> None:
    sets = data.draw(selections(equal=name in EQUAL_SIZES))
    ours = ms.stability(make(sets, 7), name, undefined="nan").value
    theirs = naive_mean(name, lambda a, b: naive.pair_score(name, a, b, 7), sets)
    assert ours == pytest.approx(theirs, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("name", [m.name for m in MEASURES.values() if m.joint_score])
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_joint_measures_equal_their_naive_twin(name: str, data: st.DataObject) -> None:
    sets = data.draw(selections(equal=name in EQUAL_SIZES))
    options = {"penalty": data.draw(st.floats(0, 5))} if name == "davis" else {}
    ours = ms.stability(make(sets, 7), name, undefined="nan", **options)
    assert ours.value == pytest.approx(
        naive.joint_score(name, sets, 7, **options), abs=1e-12, nan_ok=True
    )
    if ours.leave_one_out is not None:
        without = [
            naive.joint_score(name, sets[:i] + sets[i + 1 :], 7, **options)
            for i in range(len(sets))
        ]
        np.testing.assert_allclose(ours.leave_one_out, without, atol=1e-12)


@pytest.mark.parametrize("correction", ["none", "exact"])
@pytest.mark.parametrize("name", ADJUSTED_PAIRS)
@pytest.mark.parametrize("seed", range(4))
def test_adjusted_measures_equal_their_naive_twin(name: str, correction: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    p = 6
    matrix = random_similarity(rng, p, share=0.4)
    sets = random_sets(rng, 4, p, 1, 5)
    similarity = ms.FeatureSimilarity.from_matrix(matrix, 0.9)
    ours = ms.stability(
        make(sets, p), name, similarity=similarity, correction=correction, undefined="nan"
    )
    score = naive.corrected_pair_score if correction == "exact" else naive.pair_score
    theirs = naive_mean(name, lambda a, b: score(name, a, b, p, matrix, 0.9), sets)
    assert ours.value == pytest.approx(theirs, abs=1e-10, nan_ok=True)


@pytest.mark.parametrize("seed", range(5))
def test_matching_and_sechidis_equal_their_naive_twins(seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = random_similarity(rng, 9)
    sets = random_sets(rng, 5, 9, 0, 6)
    similarity = ms.FeatureSimilarity.from_matrix(matrix, 0.9)
    runs = make(sets, 9)
    ours = ms.stability(runs, "matching", similarity=similarity, undefined="nan").value
    theirs = naive.mean_over_pairs(lambda a, b: naive.pair_score("matching", a, b, 9, matrix), sets)
    assert ours == pytest.approx(theirs, abs=1e-12, nan_ok=True)
    estimate = ms.stability(runs, "sechidis", similarity=similarity)
    assert estimate.value == pytest.approx(naive.joint_score("sechidis", sets, 9, matrix))
    without = [naive.joint_score("sechidis", sets[:i] + sets[i + 1 :], 9, matrix) for i in range(5)]
    np.testing.assert_allclose(estimate.leave_one_out, without, atol=1e-9)


@pytest.mark.parametrize("name", ["sma_greedy", "sma_mbm"])
@pytest.mark.parametrize("seed", range(6))
def test_matchings_of_large_irregular_sets_equal_the_naive_twin(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    p = 40
    matrix = random_similarity(rng, p, share=0.08)
    if seed % 2:  # ties: the greedy order then depends on the features' order
        matrix = np.where(matrix >= 0.9, np.round(matrix, 1), matrix)
    sets = random_sets(rng, 5, p, 5, 25)
    similarity = ms.FeatureSimilarity.from_matrix(matrix, 0.9)
    ours = ms.stability(make(sets, p), name, similarity=similarity, correction="none").value
    score = lambda a, b: naive.pair_score(name, a, b, p, matrix)  # noqa: E731
    assert ours == naive.mean_over_pairs(score, sets)


@given(st.integers(1, 9), st.integers(10, 30), st.data())
@settings(max_examples=50, deadline=None)
def test_for_equal_sizes_the_corrected_measures_coincide(
    k: int, p: int, data: st.DataObject
) -> None:
    sets = data.draw(
        st.lists(st.sets(st.integers(0, p - 1), min_size=k, max_size=k), min_size=2, max_size=6)
    )
    values = [
        ms.stability(make(sets, p), name).value
        for name in ("wald", "kappa", "unadjusted", "phi", "nogueira", "kuncheva", "npog")
    ]
    assert values == pytest.approx([values[0]] * len(values), abs=1e-12)


def test_correcting_dice_and_hamming_gives_kappa_and_ochiai_gives_unadjusted() -> None:
    runs = make(random_sets(np.random.default_rng(0), 6, 20, 2, 12), 20)
    for raw, corrected in (("dice", "kappa"), ("hamming", "kappa"), ("ochiai", "unadjusted")):
        ours = ms.stability(runs, raw, correction="exact").value
        assert ours == pytest.approx(ms.stability(runs, corrected).value, abs=1e-13)


def test_without_similar_features_sma_is_unadjusted_and_yu_is_kappa() -> None:
    runs = make(random_sets(np.random.default_rng(1), 6, 20, 2, 12), 20)
    nothing_similar = ms.FeatureSimilarity.from_matrix(np.eye(20), 0.9)
    plain = {name: ms.stability(runs, name).value for name in ("unadjusted", "kappa")}
    for name in ("sma_count", "sma_mean", "sma_greedy", "sma_mbm"):
        ours = ms.stability(runs, name, similarity=nothing_similar).value
        assert ours == pytest.approx(plain["unadjusted"], abs=1e-13)
    yu = ms.stability(runs, "yu", similarity=nothing_similar).value
    assert yu == pytest.approx(plain["kappa"], abs=1e-13)


@pytest.mark.parametrize("name", ["sma_count", "sma_mean", "sma_greedy", "sma_mbm"])
def test_the_looser_bound_is_that_of_the_naive_twin_and_leaves_equal_sizes_alone(
    name: str,
) -> None:
    rng = np.random.default_rng(5)
    matrix = random_similarity(rng, 6, 0.4)
    similarity = ms.FeatureSimilarity.from_matrix(matrix, 0.9)
    sets = random_sets(rng, 5, 6, 1, 4)

    def stability(sets: list[set[int]], bound: str) -> float:
        runs = make(sets, 6)
        options = {"correction": "exact", "bound": bound}
        return ms.stability(runs, name, similarity=similarity, **options).value

    for bound in ("geometric", "arithmetic"):
        theirs = naive.mean_over_pairs(
            lambda a, b, bound=bound: naive.corrected_pair_score(
                name, a, b, 6, matrix, bound=bound
            ),
            sets,
        )
        assert stability(sets, bound) == pytest.approx(theirs, abs=1e-12)
    same_size = [set(s) for s in ([0, 1], [1, 2], [0, 3], [4, 5])]
    assert stability(same_size, "arithmetic") == pytest.approx(stability(same_size, "geometric"))
    with pytest.raises(ms.InputError, match="bound"):
        stability(sets, "loose")


@pytest.mark.parametrize("name", ["sma_count", "sma_mean", "sma_greedy", "sma_mbm"])
def test_the_looser_bound_brings_unequal_selections_nearer_to_0_from_either_side(name: str) -> None:
    similarity = ms.FeatureSimilarity.from_matrix(np.eye(12), 0.9)

    def stability(sets: list[set[int]], bound: str) -> float:
        return ms.stability(make(sets, 12), name, similarity=similarity, bound=bound).value

    disjoint = [set(range(6)), {6}, set(range(7, 11)), {11}]
    nested = [set(range(6)), set(range(2)), set(range(4))]
    assert stability(disjoint, "geometric") == pytest.approx(-0.2823, abs=1e-4)
    assert stability(disjoint, "arithmetic") == pytest.approx(-0.2331, abs=1e-4)
    assert 0 < stability(nested, "arithmetic") < stability(nested, "geometric")


def test_dense_selections_take_the_other_route_to_the_same_overlaps() -> None:
    rng = np.random.default_rng(2)
    support = rng.random((40, 300)) < 0.7
    pairwise = ms.stability(ms.Runs.from_support(support), "jaccard").pairwise
    both, either = support @ support.T.astype(int), 300 - (~support) @ (~support.T).astype(int)
    expected = both / either
    np.fill_diagonal(expected, np.nan)
    np.testing.assert_allclose(pairwise, expected, atol=1e-12)


# ---------------------------------------------------------------------- invariances


def every_measure(runs: ms.Runs, similarity: ms.FeatureSimilarity) -> dict[str, float]:
    values = {}
    for measure in MEASURES.values():
        needs_sets = measure.kind in ("set", "similarity")
        options = {"similarity": similarity} if measure.adjusted else {}
        name = f"{measure.name}@5" if needs_sets else measure.name
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "in .* runs features tie|.*rankings have ties")
            values[name] = ms.stability(runs, name, random_state=3, max_draws=3000, **options).value
    return values


def test_neither_the_order_of_runs_nor_of_columns_changes_any_value() -> None:
    """Ties at the cut and simulated corrections included: same seed, same value."""
    rng = np.random.default_rng(4)
    p = 24
    scores = rng.integers(0, 6, (8, p)).astype(float)  # many ties
    matrix = np.round(random_similarity(rng, p, share=0.25), 2)  # too many to enumerate; ties
    names = [f"gene {i}" for i in range(p)]
    before = every_measure(
        ms.Runs.from_scores(scores, features=names),
        ms.FeatureSimilarity.from_matrix(matrix, 0.9, features=names),
    )
    rows, columns, others = rng.permutation(8), rng.permutation(p), rng.permutation(p)
    after = every_measure(
        ms.Runs.from_scores(scores[rows][:, columns], features=[names[i] for i in columns]),
        ms.FeatureSimilarity.from_matrix(
            matrix[others][:, others], 0.9, features=[names[i] for i in others]
        ),
    )
    for name, value in before.items():
        assert after[name] == pytest.approx(value, abs=1e-12), name


def test_same_seed_same_value_and_another_seed_another() -> None:
    rng = np.random.default_rng(5)
    p = 40
    similarity = ms.FeatureSimilarity.from_matrix(random_similarity(rng, p, 0.1), 0.9)
    runs = make(random_sets(rng, 5, p, 5, 15), p)

    def value(seed: Any) -> float:
        return ms.stability(runs, "sma_count", similarity=similarity, random_state=seed).value

    assert value(1) == value(1) == value(np.random.default_rng(1))
    assert value(1) != value(2)


# ---------------------------------------------------------------------- undefined values


def test_undefined_scores_warn_raise_or_are_replaced() -> None:
    runs = ms.Runs.from_sets([[], [], [0, 1]], features=4)
    with pytest.warns(
        UserWarning, match=r"'jaccard' is undefined .* 1 pair.* first 0 and 1"
    ) as caught:
        assert math.isnan(ms.stability(runs, "jaccard").value)
    assert caught[0].filename == __file__
    assert math.isnan(ms.stability(runs, "jaccard", undefined="nan").value)
    with pytest.raises(ms.InputError, match="undefined=0"):
        ms.stability(runs, "jaccard", undefined="error")
    replaced = ms.stability(runs, "jaccard", undefined=1)
    assert replaced.value == pytest.approx(1 / 3)
    assert replaced.pairwise is not None
    assert replaced.pairwise[0, 1] == 1.0
    with pytest.raises(ms.InputError, match="'warn', 'nan', 'error' or a number"):
        ms.stability(runs, undefined="ignore")  # type: ignore[arg-type]


def test_undefined_joint_scores() -> None:
    runs = ms.Runs.from_sets([[], [], []], features=4)
    with pytest.warns(UserWarning, match="'nogueira' is undefined") as caught:
        assert math.isnan(ms.stability(runs).value)
    assert caught[0].filename == __file__
    assert ms.stability(runs, undefined=0.5).value == 0.5


# ---------------------------------------------------------------------- arguments


def runs_of_sets() -> ms.Runs:
    return make([{0, 1}, {0, 2}, {0, 1}], 5)


def runs_of_scores() -> ms.Runs:
    return ms.Runs.from_scores(np.random.default_rng(0).random((4, 6)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ms.stability([[0, 1]]), "mainstay.Runs, got list"),
        (lambda: ms.stability(runs_of_sets(), "jacard"), "Did you mean 'jaccard'"),
        (lambda: ms.stability(runs_of_sets(), 3), "unknown measure 3"),
        (lambda: ms.stability(runs_of_sets(), correction="always"), "auto, none, exact, estimate"),
        (lambda: ms.stability(runs_of_sets(), confidence=1), r"confidence .* \(0, 1\)"),
        (lambda: ms.stability(runs_of_sets(), tolerance=0), "tolerance must be"),
        (lambda: ms.stability(runs_of_sets(), max_draws=0), "max_draws must be a whole number"),
        (lambda: ms.stability(runs_of_sets(), random_state=-1), "random_state must be"),
        (lambda: ms.stability(runs_of_sets(), penalty=1), "no option 'penalty'; its options: none"),
        (lambda: ms.stability(runs_of_sets(), "davis", penalty=-1), "penalty must be"),
        (lambda: ms.stability(runs_of_sets(), "npog", pairing="x"), "all, disjoint"),
        (lambda: ms.stability(runs_of_sets(), "sma_count"), "needs similarity="),
        (lambda: ms.stability(runs_of_sets(), "spearman"), "hold selections"),
        (lambda: ms.stability(runs_of_sets(), "jaccard@2"), "hold selections"),
        (lambda: ms.stability(runs_of_scores(), "jaccard"), r"jaccard@20.*top\(20\)"),
        (lambda: ms.stability(runs_of_scores(), "jaccard@x"), "number of features"),
        (lambda: ms.stability(runs_of_scores(), "jaccard@7"), "from 1 to 6, got 7"),
        (lambda: ms.stability(runs_of_scores(), "spearman@7"), "from 1 to 6, got 7"),
        (lambda: ms.stability(runs_of_scores(), "pearson@2"), "spearman@2"),
        (lambda: ms.stability(runs_of_scores(), "rbo", persistence=1.0), "persistence"),
        (lambda: ms.stability(ms.Runs.from_ranks([[1, 2], [2, 1]]), "pearson"), "hold ranks"),
        (
            lambda: ms.stability(runs_of_sets(), "yu", similarity=np.eye(5)),
            "FeatureSimilarity, got ndarray",
        ),
        (
            lambda: ms.stability(
                runs_of_sets(), similarity=ms.FeatureSimilarity.from_matrix(np.eye(5))
            ),
            "'nogueira' does not use similarity=.*sma_count",
        ),
    ],
)
def test_errors_say_what_was_wrong_and_what_is_valid(call: Any, message: str) -> None:
    with pytest.raises(ms.InputError, match=message):
        call()


def test_a_callable_is_a_measure_with_a_jackknife_interval() -> None:
    runs = make(random_sets(np.random.default_rng(6), 8, 12, 3, 6), 12)

    def mean_frequency_of_the_selected(runs: ms.Runs) -> float:
        counts = runs.counts[runs.counts > 0]
        return float((counts / runs.n_runs).mean())

    ours = ms.stability(runs, mean_frequency_of_the_selected)
    davis = ms.stability(runs, "davis")
    assert ours.measure == "mean_frequency_of_the_selected"
    assert (ours.value, ours.standard_error) == pytest.approx((davis.value, davis.standard_error))


@pytest.mark.parametrize("measure", ["nogueira", "jaccard", "sma_count", len])
def test_one_run_has_no_stability(measure: Any) -> None:
    name = "len" if callable(measure) else measure
    with pytest.raises(ms.InputError, match=f"'{name}' compares runs .* at least 2 of them, got 1"):
        ms.stability(ms.Runs.from_sets([["a", "b"]], features=list("abcd")), measure)


def test_one_ranking_has_no_stability() -> None:
    for measure in ("spearman", "pearson", "jaccard@2"):
        with pytest.raises(ms.InputError, match="at least 2 of them, got 1"):
            ms.stability(runs_of_scores()[0], measure)


def test_a_seed_is_a_seed_whatever_its_integer_type() -> None:
    tied = ms.Runs.from_scores(np.random.default_rng(1).integers(0, 3, (5, 30)).astype(float))
    values = []
    for seed in (7, np.int64(7), np.uint8(7)):
        with pytest.warns(UserWarning, match=r"broken at random \(random_state=7\)"):
            values.append(ms.stability(tied, "average_overlap@10", random_state=seed).value)
    assert values[0] == values[1] == values[2]


def test_a_new_measure_is_one_entry() -> None:
    def shared_of_smaller(r: Any, a: Any, b: Any, p: int) -> np.ndarray:
        return r / np.minimum(a, b)

    runs = make([{0, 1}, {0, 2, 3}, {0, 1, 4}], 6)
    entry = Measure("shared_of_smaller", "set", (0, 1), "a test", pair_score=shared_of_smaller)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(MEASURES, entry.name, entry)
        assert ms.stability(runs, entry.name).value == pytest.approx((1 / 2 + 1 + 1 / 3) / 3)
        corrected = ms.stability(runs, entry.name, correction="exact")
        assert corrected.correction == "exact"
        assert corrected.value < 11 / 18
        assert entry.name in set(ms.list_measures()["name"])


@pytest.mark.parametrize(
    ("functions", "message"),
    [
        ({}, "'toy' needs one of pair_score, joint_score, run_scores, got none"),
        ({"pair_score": len, "run_scores": len}, "got pair_score and run_scores"),
        ({"joint_score": len}, "needs expected=.* or corrected=True"),
    ],
)
def test_an_entry_that_cannot_be_computed_is_refused(functions: Any, message: str) -> None:
    with pytest.raises(ms.InputError, match=message):
        Measure("toy", "set", (0, 1), "a test", **functions)


def test_list_measures_has_a_row_for_every_measure() -> None:
    table = ms.list_measures()
    assert list(table["name"]) == list(MEASURES)
    assert table["name"].is_unique
    assert (table["reference"].str.len() > 5).all()
    assert (table["lower"] < table["upper"]).all()
    assert set(table["kind"]) == {"set", "similarity", "ranking", "scores", "importances"}


def test_results_go_into_pandas_and_print_readably() -> None:
    estimate = ms.stability(runs_of_sets(), "jaccard")
    frame = estimate.to_frame()
    assert frame.loc[0, "value"] == float(estimate)
    assert repr(estimate).endswith("; an interval needs at least 5 runs)")
    five = ms.stability(make([{0, 1}, {0}, {0}, {0}, {0, 1}], 3), "jaccard")
    assert "jaccard: 0.7, 95% interval 0." in repr(five)


def test_disjoint_pairing_averages_consecutive_pairs() -> None:
    sets = [{0, 1}, {0, 2, 3}, {1, 4}, {1, 4}]
    pairs = [naive.pair_score("npog", sets[i], sets[i + 1], 8) for i in (0, 2)]
    ours = ms.stability(make(sets, 8), "npog", pairing="disjoint").value
    assert ours == pytest.approx(np.mean(pairs))
    both = itertools.permutations(range(4), 2)
    everything = [naive.pair_score("npog", sets[i], sets[j], 8) for i, j in both]
    assert ms.stability(make(sets, 8), "npog").value == pytest.approx(np.mean(everything))
