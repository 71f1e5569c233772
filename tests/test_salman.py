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
from _salman_data import FILTERS, RULES, SETS

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


def test_a_count_that_luck_explains_is_no_agreement() -> None:
    assert errors.luck_p(13, 24, 0.4) == pytest.approx(stats.binom.sf(12, 24, 0.4))
    assert errors.beyond_luck(13, 24, 0.4) is False
    assert errors.beyond_luck(15, 24, 0.4) is None
    assert errors.beyond_luck(22, 24, 0.4) is True


def test_kendalls_w_is_one_where_all_rows_have_the_same_order() -> None:
    rng = np.random.default_rng(2)
    ordered = np.sort(rng.random((6, 5)), axis=1)
    assert errors.concordance(pd.DataFrame(ordered)) == pytest.approx(1)
    assert errors.concordance(pd.DataFrame(rng.random((2000, 5)))) < 0.01


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
