"""Standard errors, intervals and tests: against naive twins and against simulation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import mainstay as ms
import naive
from conftest import make, random_sets, random_similarity
from mainstay.measures.intervals import pair_variance

PAIRWISE = ("jaccard", "hamming", "kappa", "sim_n", "lustgarten", "phi", "npog")


def noisy_runs(rng: np.random.Generator, m: int, p: int = 20, signal: int = 5) -> ms.Runs:
    """Runs that select `signal` features mostly and the others rarely."""
    chance = np.where(np.arange(p) < signal, 0.8, 0.1)
    return ms.Runs.from_support(rng.random((m, p)) < chance)


@pytest.mark.parametrize("name", PAIRWISE)
def test_pairwise_measures_have_a_jackknife_error_over_runs(name: str) -> None:
    sets = random_sets(np.random.default_rng(0), 7, 15, 3, 8)
    average = naive.mean_over_ordered_pairs if name == "npog" else naive.mean_over_pairs

    def statistic(some: list[set[int]]) -> float:
        return average(lambda a, b: naive.pair_score(name, a, b, 15), some)

    ours = ms.stability(make(sets, 15), name)
    assert ours.standard_error == pytest.approx(naive.jackknife_standard_error(statistic, sets))


@pytest.mark.parametrize("name", ["davis", "novovicova", "somol", "weighted_consistency"])
def test_joint_measures_have_a_jackknife_error_over_runs(name: str) -> None:
    sets = random_sets(np.random.default_rng(1), 7, 15, 3, 8)
    ours = ms.stability(make(sets, 15), name)
    theirs = naive.jackknife_standard_error(lambda some: naive.joint_score(name, some, 15), sets)
    assert ours.standard_error == pytest.approx(theirs)


def test_corrected_adjusted_measures_too() -> None:
    rng = np.random.default_rng(2)
    matrix = random_similarity(rng, 6, 0.4)
    sets = random_sets(rng, 5, 6, 1, 4)
    similarity = ms.FeatureSimilarity.from_matrix(matrix, 0.9)
    ours = ms.stability(make(sets, 6), "sma_count", similarity=similarity, correction="exact")

    def statistic(some: list[set[int]]) -> float:
        return naive.mean_over_pairs(
            lambda a, b: naive.corrected_pair_score("sma_count", a, b, 6, matrix), some
        )

    assert ours.standard_error == pytest.approx(naive.jackknife_standard_error(statistic, sets))


def test_corrected_joint_measures_leave_out_the_run_from_the_expectation_too() -> None:
    sets = random_sets(np.random.default_rng(3), 5, 9, 2, 5)
    ours = ms.stability(make(sets, 9), "novovicova", correction="exact")
    assert ours.leave_one_out is not None
    for i, without in enumerate(ours.leave_one_out):
        rest = make(sets[:i] + sets[i + 1 :], 9)
        assert without == pytest.approx(ms.stability(rest, "novovicova", correction="exact").value)


def test_nogueira_variance_equals_the_naive_twin() -> None:
    sets = random_sets(np.random.default_rng(4), 9, 15, 3, 8)
    ours = ms.stability(make(sets, 15))
    assert ours.error_method == "analytic"
    assert ours.standard_error**2 == pytest.approx(naive.nogueira_variance(sets, 15))


def test_the_method_of_the_error_has_a_deprecated_name() -> None:
    estimate = ms.stability(noisy_runs(np.random.default_rng(0), 5), "jaccard")
    with pytest.warns(FutureWarning, match="is now error_method"):
        assert estimate.method == estimate.error_method == "jackknife"


def test_estimates_saved_under_the_old_name_can_be_read() -> None:
    estimate = ms.stability(noisy_runs(np.random.default_rng(0), 5))
    parts = {("method" if key == "error_method" else key): value
             for key, value in vars(estimate).items()}  # fmt: skip
    assert ms.StabilityEstimate._from_parts(parts).error_method == "analytic"


@pytest.mark.slow
@pytest.mark.parametrize("m", [5, 10, 40])
@pytest.mark.parametrize("name", ["nogueira", "jaccard"])
def test_intervals_cover_the_true_stability(name: str, m: int) -> None:
    """Independent runs, 400 repetitions: 95% ± 4 standard errors (1.1% each) of cover."""
    rng = np.random.default_rng(5)
    truth = ms.stability(noisy_runs(rng, 4000), name).value
    covered = 0
    for _ in range(400):
        low, high = ms.stability(noisy_runs(rng, m), name).interval
        covered += low <= truth <= high
    assert covered / 400 >= 0.906


def test_wider_confidence_wider_interval() -> None:
    runs = noisy_runs(np.random.default_rng(6), 10)
    widths = [np.diff(ms.stability(runs, confidence=c).interval)[0] for c in (0.5, 0.9, 0.99)]
    assert widths == sorted(widths)


@pytest.mark.parametrize("name", ["nogueira", "jaccard"])
def test_two_runs_have_no_error(name: str) -> None:
    assert math.isnan(ms.stability(make([{0, 1}, {0, 2}], 6), name).standard_error)


@pytest.mark.parametrize("name", ["nogueira", "jaccard", "davis"])
@pytest.mark.parametrize("m", [2, 3, 4])
def test_fewer_than_five_runs_have_no_interval_and_say_why(name: str, m: int) -> None:
    estimate = ms.stability(make([{0, 1}, {0, 2}, {0, 3}, {1, 2}][:m], 6), name)
    assert all(math.isnan(end) for end in estimate.interval)
    assert estimate.interval_note == "an interval needs at least 5 runs"
    with pytest.raises(ms.InputError, match="at least 5 runs"):
        ms.stability_test(estimate, 0.5)


def test_four_disjoint_pairs_are_four_observations_not_eight() -> None:
    runs = make(random_sets(np.random.default_rng(0), 10, 9, 2, 5), 9)
    assert ms.stability(runs[:8], "npog", pairing="disjoint").interval_note.startswith(
        "an interval"
    )
    assert ms.stability(runs, "npog", pairing="disjoint").interval_note == ""


@pytest.mark.parametrize(
    ("name", "of_others"),
    [("nogueira", -0.5), ("kappa", -0.5), ("jaccard", 0), ("somol", 0), ("krizek", 0)],
)
@pytest.mark.parametrize("m", [8, 20])
def test_identical_runs_show_what_a_second_selection_could_still_be(
    name: str, of_others: float, m: int
) -> None:
    """A selection of probability ε stays unseen with probability (1 − ε)^m = 5%.

    Two of six features against two others score −1/2 when corrected for chance.
    """
    estimate = ms.stability(make([{0, 1}] * m, 6), name)
    both_as_seen = 0.05 ** (2 / m)
    lowest = both_as_seen + (1 - both_as_seen) * of_others
    assert estimate.interval == pytest.approx((lowest, 1))
    assert 0 < ms.stability_test(estimate, 0.1).p_value < 0.5
    assert ms.compare_stability(estimate, estimate).p_value == 1


def test_five_identical_runs_are_not_proven_stabler_than_three_of_five() -> None:
    """Fisher's exact test of 5 of 5 against 3 of 5 has p = 0.44."""
    all_same = ms.stability(make([{0, 1}] * 5, 6), "jaccard")
    three = ms.stability(make([{0, 1}] * 3 + [{2, 3}] * 2, 6), "jaccard")
    for paired in (False, True):
        assert ms.compare_stability(three, all_same, paired=paired).p_value > 0.1


def test_one_pattern_in_the_agreements_is_told_from_many() -> None:
    """Two selections, against selections by lot: there the jackknife counts twice."""
    rng = np.random.default_rng(3)
    two, lot = (
        ms.stability(make(sets, 40), "jaccard")
        for sets in ([{0, 1}, {2, 3}] * 15, [set(rng.choice(40, 10, False)) for _ in range(30)])
    )
    of_pairs, w = pair_variance(two.pairwise)
    assert w > 0.9
    assert two.sampling_error == pytest.approx(math.sqrt(of_pairs))  # the jackknife sees nothing
    of_pairs, w = pair_variance(lot.pairwise)
    assert w < 0.4
    assert lot.sampling_error**2 < lot.standard_error**2 - 0.2 * of_pairs


@pytest.mark.parametrize("m", [5, 12, 1001])
def test_the_variance_of_pairs_in_blocks_is_the_same(m: int) -> None:
    rng = np.random.default_rng(m)
    agreement = rng.random((m, m))
    agreement = (agreement + agreement.T) / 2
    of_pairs, w = pair_variance(agreement)
    if m > 1000:
        assert w == 1  # too costly to find out
        assert of_pairs == pytest.approx(np.var(agreement[np.triu_indices(m, 1)]) * 2 / m**2, 0.02)
    else:
        assert of_pairs == pytest.approx(naive.pair_variance(agreement.tolist()))
        assert w == pytest.approx(naive.share_of_patterns(agreement.tolist()))


def test_two_selections_that_happen_to_be_balanced_do_not_look_certain() -> None:
    """Leaving out any run changes the mean alike: the jackknife alone would see no spread."""
    balanced = ms.stability(make([{0, 1}, {2, 3}] * 5, 6), "jaccard")
    assert balanced.standard_error == pytest.approx(0, abs=1e-12)
    low, high = balanced.interval
    assert low < 0.4
    assert high > 0.5  # the stability of two selections with probability 1/2 each


@pytest.mark.parametrize("name", ["nogueira", "jaccard", "spearman", "davis"])
def test_intervals_stay_within_the_range_of_the_measure(name: str) -> None:
    rng = np.random.default_rng(20)
    for _ in range(30):
        runs = noisy_runs(rng, 5, p=6, signal=3)
        if name == "spearman":
            runs = ms.Runs.from_scores(rng.normal(size=(5, 4)))
        estimate = ms.stability(runs, name, undefined=0)
        low, high = estimate.interval
        bounds = ms.list_measures().set_index("name").loc[name, ["lower", "upper"]]
        assert bounds["lower"] <= low <= estimate.value <= high <= bounds["upper"]


def test_many_runs_give_the_published_interval_nearly() -> None:
    estimate = ms.stability(noisy_runs(np.random.default_rng(21), 200))
    low, high = estimate.interval
    reach = 1.96 * estimate.standard_error
    assert (low, high) == pytest.approx((estimate.value - reach, estimate.value + reach), abs=0.003)


def test_a_rare_second_selection_is_covered() -> None:
    """In 5% of the runs: 10 runs miss it in 60% of the cases. 300 repetitions, 4 errors of 1.3%."""
    rng = np.random.default_rng(22)
    truth = 0.95**2 + 0.05**2  # of the Jaccard index
    covered = 0
    for _ in range(300):
        second = rng.random(10) < 0.05
        low, high = ms.stability(
            make([{2, 3} if s else {0, 1} for s in second], 9), "jaccard"
        ).interval
        covered += low <= truth <= high
    assert covered / 300 >= 0.95 - 4 * 0.013


def test_a_ranking_that_is_sometimes_reversed_is_covered() -> None:
    """In 20% of the runs: 10 runs miss it in 11% of the cases. 300 repetitions, errors of 1.7%."""
    rng = np.random.default_rng(23)
    truth = 1 - 4 * 0.2 * 0.8  # two runs score 1 or −1
    up = np.arange(12.0)
    covered = 0
    for _ in range(300):
        reversed_too = rng.random(10) < 0.2
        scores = np.where(reversed_too[:, None], -up, up)
        low, high = ms.stability(ms.Runs.from_scores(scores), "spearman").interval
        covered += low <= truth <= high
    assert covered / 300 >= 0.9


# ---------------------------------------------------------------------- tests


def test_alternatives_of_the_one_sample_test_add_up() -> None:
    estimate = ms.stability(noisy_runs(np.random.default_rng(7), 20))
    greater = ms.stability_test(estimate, 0.3)
    less = ms.stability_test(estimate, 0.3, alternative="less")
    both = ms.stability_test(estimate, 0.3, alternative="two-sided")
    assert greater.p_value + less.p_value == pytest.approx(1)
    assert both.p_value == pytest.approx(2 * min(greater.p_value, less.p_value))
    assert greater.statistic == pytest.approx((estimate.value - 0.3) / estimate.sampling_error)
    assert greater.to_frame().loc[0, "p_value"] == greater.p_value


def test_small_p_values_do_not_round_to_0() -> None:
    estimate = ms.stability(noisy_runs(np.random.default_rng(8), 400))
    assert 0 < ms.stability_test(estimate, 0.2).p_value < 1e-30


@pytest.mark.parametrize("m", [5, 40])
def test_two_selectors_of_the_same_stability_are_told_apart_in_5_percent(m: int) -> None:
    """400 repetitions, at level 5%: 5% ± 4 standard errors (1.1% each)."""
    rng = np.random.default_rng(9)
    p_values = [
        ms.compare_stability(
            ms.stability(noisy_runs(rng, m)), ms.stability(noisy_runs(rng, m))
        ).p_value
        for _ in range(400)
    ]
    assert 0.006 <= np.mean(np.array(p_values) < 0.05) <= 0.094


@pytest.mark.parametrize("name", ["nogueira", "jaccard"])
def test_paired_comparison_is_the_jackknife_of_the_difference(name: str) -> None:
    rng = np.random.default_rng(10)
    a, b = random_sets(rng, 8, 12, 3, 6), random_sets(rng, 8, 12, 3, 6)
    result = ms.compare_stability(
        ms.stability(make(a, 12), name), ms.stability(make(b, 12), name), paired=True
    )

    def one(sets: list[set[int]]) -> float:
        if name == "nogueira":
            return naive.joint_score(name, sets, 12)
        return naive.mean_over_pairs(lambda x, y: naive.pair_score(name, x, y, 12), sets)

    def difference(pairs: list[tuple[set[int], set[int]]]) -> float:
        return one([pair[1] for pair in pairs]) - one([pair[0] for pair in pairs])

    pairs = list(zip(a, b, strict=True))
    assert result.difference == pytest.approx(difference(pairs))
    jackknife = naive.jackknife_standard_error(difference, pairs)
    missed = 0.0
    for sets in (a, b):
        own = naive.jackknife_standard_error(one, sets) ** 2
        agreement = [[naive.pair_agreement(name, x, y, 12, sets) for y in sets] for x in sets]
        of_pairs, w = naive.pair_variance(agreement), naive.share_of_patterns(agreement)
        missed += max(own + (2 * w - 1) * of_pairs, of_pairs) - own
    expected = math.sqrt(jackknife**2 + max(missed, 0.0))
    assert result.standard_error == pytest.approx(expected)


def test_pairing_removes_what_both_selectors_share() -> None:
    rng = np.random.default_rng(11)
    common = rng.random((40, 20)) < np.where(np.arange(20) < 5, 0.7, 0.2)
    other = common.copy()
    changed = rng.random(common.shape) < 0.03
    other[changed] = ~other[changed]
    first = ms.stability(ms.Runs.from_support(common), "jaccard")
    second = ms.stability(ms.Runs.from_support(other), "jaccard")
    paired = ms.compare_stability(first, second, paired=True)
    unpaired = ms.compare_stability(first, second)
    assert paired.difference == unpaired.difference
    assert paired.standard_error < 0.7 * unpaired.standard_error
    assert paired.to_frame().loc[0, "lower"] == paired.interval[0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda a, b, c: ms.compare_stability(a, c), "same measure"),
        (lambda a, b, c: ms.compare_stability(a, b, paired=True), "same number of runs"),
        (lambda a, b, c: ms.compare_stability(a, 0.5), "what ms.stability"),
        (lambda a, b, c: ms.stability_test(0.5, 0.1), "what ms.stability"),
        (lambda a, b, c: ms.stability_test(a, 0.1, alternative="more"), "greater, less, two-sided"),
    ],
)
def test_errors_of_tests(call: Any, message: str) -> None:
    rng = np.random.default_rng(12)
    a, b = ms.stability(noisy_runs(rng, 5)), ms.stability(noisy_runs(rng, 6))
    c = ms.stability(noisy_runs(rng, 5), "jaccard")
    with pytest.raises(ms.InputError, match=message):
        call(a, b, c)
