"""What the experiments salman2022 and onda2021 compute around the library: errors, luck, claims."""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "experiments"))

import _onda_curves
import _salman_claims as claims
import _salman_errors as errors
import _salman_stability as stability
import onda2021
from _salman_data import FILTERS, RULES, SCORES, SETS

AGREES, IN_PART, NOT = "**Agrees.**", "**Agrees in part.**", "**Does not agree.**"


def pairs_of(rng: np.random.Generator, m: int) -> np.ndarray:
    x = rng.random((m, m))
    x = (x + x.T) / 2
    np.fill_diagonal(x, np.nan)
    return x


def accuracies(value: Any) -> pd.DataFrame:
    """Accuracies of all data sets, filters and rules in three splits."""
    cases = product(SETS, map(str, range(3)), FILTERS, RULES, range(1, 11))
    rows = [(*case, value(*case)) for case in cases]
    return pd.DataFrame(rows, columns=["data", "split", "filter", "rule", "tenth", "accuracy"])


# ---------------------------------------------------------------------- errors and luck


def test_the_jackknife_leaves_out_one_run_after_the_other() -> None:
    rng = np.random.default_rng(0)
    one, other = pairs_of(rng, 7), pairs_of(rng, 7)
    left = [np.delete(np.delete(one - other, i, 0), i, 1) for i in range(7)]
    means = np.array([np.nanmean(x) for x in left])
    naive = np.sqrt(6 / 7 * ((means - means.mean()) ** 2).sum())
    assert errors.jackknife_error(one, other) == pytest.approx(naive)
    assert errors.jackknife_error(one, one) == 0
    assert np.isnan(errors.jackknife_error(one[:2, :2]))


def test_rules_that_move_together_have_a_small_error_of_their_difference() -> None:
    rng = np.random.default_rng(1)
    together = rng.normal(0.8, 0.1, size=(8, 1)) + rng.normal(0, 1e-3, size=(8, 2))
    found = errors.difference_errors(pd.DataFrame(together, columns=[errors.MEAN, "RRA"]))
    assert found["RRA"] < 0.1 * found[errors.MEAN]


def test_luck_turns_whole_data_sets() -> None:
    one, none = np.ones(8, dtype=int), np.zeros(8, dtype=int)
    luck, p_value = errors.flip_luck(np.array([1, 1, 1, 1, 1, 1, 0, 0]), np.eye(8, dtype=int)[0])
    assert luck == 1 + 5 / 2  # the first set counts either way, two never do
    assert p_value == pytest.approx(1 / 2**5)
    for seen in range(9):
        kept = np.where(np.arange(8) < seen, one, none)
        found = errors.flip_luck(kept, 1 - kept)
        assert found == (4, pytest.approx(stats.binom.sf(seen - 1, 8, 0.5)))
    assert errors.flip_luck(3 * one, 0 * one) == (12, 1 / 2**8)  # three measures move as one


def test_the_signs_of_eight_data_sets() -> None:
    values = np.array([1.0, 2, 4, 8, 16, 32, 64, -128])
    assert errors.flip_test(np.abs(values)) == 2 / 2**8
    assert errors.flip_test(values) == errors.flip_test(-values) == 1  # -1: all but -128, or that
    rng = np.random.default_rng(7)
    some = rng.normal(0.5, size=8)
    test = stats.permutation_test((some,), np.mean, permutation_type="samples")
    assert errors.flip_test(some) == pytest.approx(test.pvalue)


def test_a_count_that_luck_explains_is_no_agreement() -> None:
    assert errors.beyond_luck(22, 24, 0.05) is False
    assert errors.beyond_luck(13, 24, 0.04) is None
    assert errors.beyond_luck(22, 24, 0.04) is True


def test_ties_on_top_count() -> None:
    values = pd.DataFrame({"a": [1.0, 1, 0], "b": [1.0, 0, 1], "c": [0.0, 0, 2]})
    assert errors.on_top(values, ["b"]).tolist() == [1, 0, 0]
    assert errors.on_top(values, ["b", "c"]).tolist() == [1, 0, 1]
    assert errors.on_top(-values, ["c"]).tolist() == [1, 1, 0]


def test_kendalls_w_is_one_where_all_rows_have_the_same_order() -> None:
    rng = np.random.default_rng(2)
    ordered = np.sort(rng.random((6, 5)), axis=1)
    w, p_value = errors.concordance(pd.DataFrame(ordered))
    assert w == pytest.approx(1)
    assert p_value < 1e-4
    by_luck = [errors.concordance(pd.DataFrame(rng.random((8, 5))))[0] for _ in range(300)]
    assert np.mean(by_luck) == pytest.approx(1 / 8, abs=0.02)


# ---------------------------------------------------------------------- claims of salman2022


def test_noise_is_not_taken_for_a_gain_by_selection() -> None:
    rng = np.random.default_rng(3)
    found = claims.gains(accuracies(lambda *_: 0.8 + 0.01 * rng.normal()))
    assert int(found["gain_share"]["best"].split()[0]) > 0.8 * 160  # the best of nine
    assert found["gain"] == NOT
    assert found["gain_luck"]["best"] == "144"


def test_a_gain_at_every_threshold_is_found() -> None:
    rng = np.random.default_rng(4)
    found = claims.gains(
        accuracies(lambda *case: 0.8 - 0.05 * (case[-1] == 10) + 0.01 * rng.normal())
    )
    assert found["gain"] == AGREES


@pytest.mark.parametrize(("falling", "said"), [(SETS, AGREES), (("musk",), NOT)])
def test_accuracy_must_fall_where_the_paper_says(falling: tuple[str, ...], said: str) -> None:
    rng = np.random.default_rng(5)

    def value(name: str, *case: Any) -> float:
        few = case[-1] <= claims.FALLS.get(name, 2)
        return 0.8 - 0.05 * (few and name in falling) + 0.002 * rng.normal()

    found = claims.falls(accuracies(value))
    assert found["fall_verdict"] == said
    assert "musk" in found["fall_clear"]


def curves(value: Any) -> pd.DataFrame:
    """Accuracies in percent, rows data set × filter × threshold, columns rules."""
    rows = list(product(SETS, FILTERS, range(1, 10)))
    index = pd.MultiIndex.from_tuples(rows, names=["data", "filter", "tenth"])
    values = [[value(*row, rule) for rule in RULES] for row in rows]
    return pd.DataFrame(values, index, pd.Index(RULES, name="rule"))


def test_an_overlap_under_higher_thresholds_is_a_trend() -> None:
    rng = np.random.default_rng(11)

    def value(name: str, filter_: str, tenth: int, rule: str) -> float:
        return 80 + RULES.index(rule) * (10 - tenth) / 20 + 0.001 * rng.normal()

    found = claims.overlap(curves(value))
    assert found["spread_verdict"] == AGREES
    assert found["spread_trend"] == "-1.00 ± 0.00"
    assert found["spread_p"] == 2 / 2**8
    rising = claims.overlap(curves(lambda n, f, tenth, r: value(n, f, 10 - tenth, r)))
    assert rising["spread_verdict"] == NOT  # wide and wider


def test_steadiness_is_judged_in_jackknife_errors() -> None:
    rng = np.random.default_rng(8)

    def noise(size: dict[str, float]) -> Any:
        return lambda *case: 80 + size.get(case[-1], 0.1) * rng.normal()

    loud = {"geometric mean": 3.0, "RRA": 3.0, "Stuart": 3.0}
    assert claims.steadiness(curves(noise(loud)))["steady_verdict"] == AGREES
    quiet = {errors.MEAN: 3.0, "L2 norm": 3.0}
    assert claims.steadiness(curves(noise(quiet)))["steady_verdict"] == NOT
    assert "as large as 2.4" in claims._steady_verdict([2.3, -2.3], 2.4)
    assert claims._steady_verdict([2.5, -2.5], 2.4) == IN_PART
    assert claims._steady_verdict([2.3, -2.5], 2.4) == NOT


@pytest.mark.parametrize(
    ("size", "said", "place"), [(3.0, AGREES, "number 1 of 5"), (0.01, NOT, "number 5 of 5")]
)
def test_a_volatile_rule_has_the_largest_deviation(size: float, said: str, place: str) -> None:
    rng = np.random.default_rng(13)
    found = claims.steadiness(
        curves(lambda *case: 80 + (size if case[-1] == "geometric mean" else 0.1) * rng.normal())
    )
    assert (found["volatile_verdict"], found["volatile_place"]) == (said, place)


def test_a_rule_that_is_more_volatile_than_some_is_so_in_part() -> None:
    rng = np.random.default_rng(13)
    size = {"geometric mean": 3.0, "L2 norm": 9.0}
    found = claims.steadiness(curves(lambda *case: 80 + size.get(case[-1], 0.1) * rng.normal()))
    assert (found["volatile_verdict"], found["volatile_place"]) == (IN_PART, "number 2 of 5")


def of_geometric_mean(apart: dict[str, float], noise: float) -> Any:
    """By data set: how far the geometric mean is from the others, which are the same two and two.

    The others are 0.1 points above and below, so that its place is 1, 3 or 5.
    """
    rng = np.random.default_rng(14)
    level = {errors.MEAN: 0.1, "L2 norm": 0.1, "RRA": -0.1, "Stuart": -0.1}

    def value(name: str, split: str, filter_: str, rule: str, tenth: int) -> float:
        own = apart[name] if rule == "geometric mean" and name in apart else level.get(rule, 0.0)
        return 0.8 + (own + noise * rng.normal()) / 100

    return accuracies(value)


@pytest.mark.parametrize(
    ("scene", "musk", "ionosphere", "noise", "said"),
    [
        (1.0, 1.0, -1.0, 0.001, AGREES),
        (1.0, -1.0, 1.0, 0.001, IN_PART),  # one is right, two are wrong
        (-0.05, 1.0, 0.05, 0.001, IN_PART),  # one is right
        (-1.0, -1.0, 1.0, 0.001, NOT),
        (-0.05, -0.05, 0.05, 0.001, NOT),  # in the middle, and clearly on the wrong side
        (0.05, 0.05, -0.05, 0.001, "undecided"),  # in the middle, on the right side
        (-0.05, -0.05, 0.05, 0.3, "undecided"),  # on the wrong side, within two errors
    ],
)
def test_a_place_is_wrong_only_beyond_two_errors(
    scene: float, musk: float, ionosphere: float, noise: float, said: str
) -> None:
    apart = {"scene": scene, "musk": musk, "ionosphere": ionosphere}
    found = claims.good_and_bad(of_geometric_mean(apart, noise))["gm_sets_verdict"]
    assert (found == said) if said != "undecided" else ("Not judged" in found)


def of_families(apart: Any) -> pd.DataFrame:
    """Accuracies in percent of which score rules have so much more than rank rules."""
    rng = np.random.default_rng(15)

    def value(name: str, filter_: str, tenth: int, rule: str) -> float:
        return 80 + (rule in SCORES) * apart(name, filter_) + 0.01 * rng.normal()

    return curves(value) / 100


def judged_families(apart: Any) -> dict[str, Any]:
    values = of_families(apart)
    return claims.family_claims(values, claims.bonferroni_pairs(values.groupby("data").mean()))


def test_score_rules_and_rank_rules_differ_in_accuracy_beyond_the_signs_of_data_sets() -> None:
    up_and_down = dict(zip(SETS, (1, -1) * 4, strict=True))
    found = judged_families(lambda *_: -0.5)  # in either direction
    assert found["accuracy_family_verdict"] == AGREES
    assert found["accuracy_family_pairs"] == "6 of 6"
    assert "| four filters | -0.50 ± 0.00 | 0 of 8 | 0.0078 | – |" in found["accuracy_family_table"]
    one = judged_families(lambda n, f: 0.5 if f == "mrmr" else -2 * up_and_down[n])
    assert one["accuracy_family_verdict"] == IN_PART  # 0.0078 times four filters
    seven = judged_families(
        lambda n, f: 0.5 - 0.6 * (n == "ada") if f == "mrmr" else -2 * up_and_down[n]
    )
    assert "Not judged" in seven["accuracy_family_verdict"]  # 0.0156 times four
    assert "| 7 of 8 | 0.016 | 0.062 |" in seven["accuracy_family_table"]
    wide = judged_families(lambda n, _: up_and_down[n])
    assert wide["accuracy_family_verdict"] == f"(Not judged: {claims.TOO_SMALL}.)"
    assert wide["accuracy_family_pairs"] == "0 of 6"
    narrow = judged_families(lambda n, _: 0.05 * up_and_down[n])
    assert narrow["accuracy_family_verdict"] == NOT  # the interval is within a tenth of a point


def test_the_interval_of_a_mean_is_students() -> None:
    values = pd.Series([1.0, 2.0, 4.0, 7.0])
    expected = stats.t.interval(0.95, 3, loc=values.mean(), scale=values.sem())
    assert claims.bounds(values) == pytest.approx(expected)


def shifted(mean: float, filters: Any, slope: float = 0.0) -> pd.DataFrame:
    """RRA is higher by mean + 1 in every other data set, by mean − 1 in those between.

    Thresholds repeat it, so that rows tell a mean from 0 that data sets do not; with a slope rows
    vary more than data sets.
    """
    rng = np.random.default_rng(16)
    sign = dict(zip(SETS, (1, -1) * 4, strict=True))

    def value(name: str, filter_: str, tenth: int, rule: str) -> float:
        moved = rule == "RRA" and filter_ in filters
        return moved * (mean + sign[name] + slope * (tenth - 5)) + 0.01 * rng.normal()

    return curves(value)


@pytest.mark.parametrize(
    ("mean", "said", "told"),
    [
        (0.0, f"(Not judged: {claims.TOO_SMALL}.)", False),
        (0.25, f"(Not judged: {claims.TOO_SMALL}.)", True),
        (0.4, IN_PART, False),  # by the corrected rows
    ],
)
def test_an_anova_that_is_not_corrected_is_told_and_not_counted(
    mean: float, said: str, told: bool
) -> None:
    found = claims.anova_claims(shifted(mean, ["mrmr"]))
    assert found["accuracy_anova_verdict"] == said
    assert ("not corrected: mRMR; the same, corrected: neither" in found["anova_found"]) is told
    assert found["anova_only"].startswith("Not counted: mRMR, by the rows") is told
    assert bool(found["anova_only"]) is told


def test_what_an_uncorrected_anova_of_data_sets_finds_too_is_not_for_the_rows_alone() -> None:
    found = claims.anova_claims(shifted(0.85, ["mrmr"], slope=1.2))
    assert "data sets: neither; data sets × thresholds, not corrected: mRMR" in found["anova_found"]
    assert "Not judged" in found["accuracy_anova_verdict"]
    assert found["anova_only"] == ""


def test_an_anova_agrees_if_both_filters_differ_over_data_sets() -> None:
    both = claims.anova_claims(shifted(100.0, FILTERS))
    assert both["accuracy_anova_verdict"] == AGREES
    one = claims.anova_claims(shifted(100.0, ["mrmr"]))
    assert one["accuracy_anova_verdict"] == IN_PART


def stabilities(value: Any) -> dict[str, pd.DataFrame]:
    """By filter: rows data set × rule, columns measures."""
    rules = [*RULES, stability.BROKEN]
    index = pd.MultiIndex.from_product([SETS, rules], names=["data", "rule"])
    return {
        f: pd.DataFrame({w: [value(*row) for row in index] for w in stability.JUDGED}, index)
        for f in stability.STUDIED
    }


def test_stuart_that_is_always_lower_accounts_for_all_differences() -> None:
    rng = np.random.default_rng(9)
    low = stabilities(lambda _, rule: 0.9 - 0.3 * (rule == stability.BROKEN) + 1e-3 * rng.random())
    found = stability.stuart_claims(low)
    assert found["stuart_pairs_recursion"] == "24 of 24, lower in 24"
    assert found["stuart_pairs_verdict"] == NOT  # with the exact Q nothing differs


def test_two_rules_that_are_better_everywhere() -> None:
    rng = np.random.default_rng(10)

    def value(_: str, rule: str) -> float:
        return 0.9 + 0.05 * (rule in errors.BEST) + 1e-3 * rng.random()

    accuracy = curves(lambda *case: value("", case[-1])).groupby(["data", "filter"]).mean()
    found = stability.better_claims(stabilities(value), accuracy)
    assert (found["better_verdict"], found["better_count"]) == (AGREES, "6 of 6")
    level = accuracy * 0 + 80.0
    assert stability.better_claims(stabilities(value), level)["better_verdict"] == IN_PART
    assert stability.peak_claims(stabilities(value))["peak_verdict"] == AGREES
    assert stability.near_claims(stabilities(value))["near_verdict"] != AGREES  # others are as near
    place = {
        **dict.fromkeys(RULES, 0.0),
        errors.MEAN: 4.0,
        "L2 norm": 4.1,
        "RRA": 1.0,
        "Stuart": 2.0,
    }
    near = stability.near_claims(stabilities(lambda _, rule: place.get(rule, 0.0)))
    assert (near["near_verdict"], near["near_count"]) == (AGREES, "6 of 6")
    assert "| 0.1000 | 1.0000 (geometric mean and RRA) |" in near["near_table"]


def test_score_rules_and_rank_rules_differ_in_stability_with_the_exact_q_or_not_at_all() -> None:
    rng = np.random.default_rng(18)
    up_and_down = dict(zip(SETS, (1, -1) * 4, strict=True))

    def value(name: str, rule: str) -> float:
        return 0.9 - 0.3 * (rule == stability.BROKEN) + 1e-3 * up_and_down[name] * (rule in SCORES)

    by_luck = stability.family_claims(stabilities(value))
    assert by_luck["family_verdict"] == NOT
    assert by_luck["family_count"] == {"exact": "0 of 6", "recursion": "6 of 6"}
    lower = stabilities(lambda _, rule: 0.9 - 0.1 * (rule in SCORES) + 1e-3 * rng.random())
    found = stability.family_claims(lower)
    assert (found["family_verdict"], found["family_adjusted"]) == (AGREES, 6)  # 6 · 2/2⁸ < 0.05
    some = {f: x.assign(Jaccard=0.0) for f, x in lower.items()}
    assert stability.family_claims(some)["family_verdict"] == IN_PART


def test_an_order_that_all_sets_share_is_steadier_than_noise() -> None:
    rng = np.random.default_rng(12)
    noise = curves(lambda *_: rng.normal()).groupby(["data", "filter"]).mean()
    ordered = stabilities(lambda _, rule: float(RULES.index(rule)) if rule in RULES else 0.0)
    found = stability.steadier_claims(ordered, noise)
    assert (found["steadier_verdict"], found["w_luck"]) == (AGREES, "0.125")
    by_luck = stability.steadier_claims(stabilities(lambda *_: rng.normal()), noise)
    assert by_luck["steadier_count"] == "0 of 6"


def test_that_rules_do_not_differ_is_not_judged_where_no_test_finds_a_difference() -> None:
    pair = (errors.MEAN, "L2 norm")
    none, some = pd.Series({pair: 1.0, ("a", "b"): 0.5}), pd.Series({pair: 1.0, ("a", "b"): 0.01})
    assert "**" not in claims._l2_note(none, [none])
    assert claims._l2_note(some, [none, some]) == AGREES


def test_stability_comes_with_errors_of_differences() -> None:
    rng = np.random.default_rng(6)
    base = [rng.permutation(20) + 1 for _ in range(5)]
    parts = [{errors.MEAN: r.tolist(), "RRA": r.tolist(), "Stuart": r[::-1].tolist()} for r in base]
    values, found = stability.measure(parts)
    assert values.loc["RRA", "Jaccard"] == values.loc[errors.MEAN, "Jaccard"]
    assert found.loc["RRA", "Spearman"] == 0
    assert found.loc[errors.MEAN, "Spearman"] > 0


# ---------------------------------------------------------------------- claims of onda2021


def test_cells_without_a_time_are_said_to_be_carried_over() -> None:
    cells: dict[Any, dict[str, Any]] = {("a", "b"): {"seconds": 0.0}, ("c", "d"): {"seconds": 60.0}}
    found = onda2021.costs({"single": 120.0, "errors": 60.0}, cells)
    assert "1 of the 2 cells" in found["carried"]
    assert (found["cost"], found["cost_errors"]) == (3, 1)
    assert onda2021.costs({"errors": 60.0}, {("c", "d"): {"seconds": 60.0}})["carried"] == ""


def test_one_size_at_which_curves_fall_otherwise_is_agreement_in_part() -> None:
    tenths = [p / 10 for p in range(1, 10)]
    first = np.linspace(0.01, 0.16, 9)
    rising = {m: first + m / 100 for m in (10, 30, 50)}
    at_ten = np.where(np.array(tenths) >= 0.7, first - 0.001, first + 0.001)
    at_five = np.where(np.array(tenths) >= 0.5, first - 0.001, first + 0.001)
    frame = pd.DataFrame({1: first, 5: at_five} | rising | {10: at_ten}, index=tenths).T
    near = pd.DataFrame(0.2, index=[1, 5, 10, 30, 50], columns=tenths)
    found = _onda_curves._shapes({"Colon": near, "Prostate": frame})
    assert found["falls_verdict"] == IN_PART
    assert found["falls"] == {5: "p ≥ 0.5", 10: "p ≥ 0.7"}
    assert found["regardless_verdict"] == AGREES
