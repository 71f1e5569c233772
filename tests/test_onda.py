"""What onda2021 computes around the library: differences with errors, contrasts, Theorem 1."""

from __future__ import annotations

import sys
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "experiments"))

import _onda_claims as claims
import _onda_counts as counts
import _onda_errors as errors
import _onda_explained as explained
import _onda_model as model
from _onda_ensembles import contrast
from _onda_forests import TREES, Data

import mainstay as ms

AGREES, IN_PART, NOT = "**Agrees.**", "**Agrees in part.**", "**Does not agree.**"


# ---------------------------------------------------------------------- n_useful


def test_two_readings_of_the_papers_spread_give_two_errors() -> None:
    half = pd.DataFrame({"n_useful": [53.0], "paper": [50.0], "paper_sd": [10.0], "sd_runs": [4.0]})
    found = counts.differences(half, repetitions=4).iloc[0]
    # 4²/4 = 4 and 10²/1000 = 0.1; the bank of the paper's forests adds 4² = 16
    assert found["redrawn"] == pytest.approx(3 / np.sqrt(4.1))
    assert found["one_bank"] == pytest.approx(3 / np.sqrt(20.1))
    assert found["one_sd"] == pytest.approx(0.3)


def by_repetition(means: list[float], noise: float = 0.1) -> np.ndarray:
    """Eight repetitions with these means by number of trees."""
    x = np.random.default_rng(0).normal(size=(8, len(means)))
    return np.array(means) + noise * (x - x.mean(axis=0))


@pytest.mark.parametrize(
    ("means", "free"),
    [
        ([50, 56, 57, 57, 57, 57], False),  # rises, then stays
        ([50, 56, 57, 57, 56, 53], True),  # rises and falls
        ([50, 50, 50, 50, 50, 50], True),  # no change
        ([50, 49, 48, 47, 46, 45], False),
    ],
)
def test_a_trend_is_a_change_from_end_to_end_that_no_step_goes_against(
    means: list[float], free: bool
) -> None:
    x = by_repetition(means)
    steps = [counts.mean_and_error(step) for step in np.diff(x, axis=1).T]
    assert counts.no_trend(steps, counts.mean_and_error(x[:, -1] - x[:, 0])) is free


@pytest.mark.parametrize(
    ("prostate", "said"),
    [
        ([219, 210, 200, 190, 180, 170], AGREES),
        ([219, 229, 217, 212, 202, 198], IN_PART),
        ([198, 202, 212, 217, 219, 229], NOT),
    ],
)
def test_prostate_falls_if_no_step_rises_beyond_its_error(prostate: list[float], said: str) -> None:
    flat = by_repetition([50, 50, 50, 50, 50, 50])
    sets = {"Colon": flat, "Lymphoma": flat, "Prostate": by_repetition(prostate)}
    index = pd.MultiIndex.from_product([sets, TREES], names=["data", "n_tree"])
    found = counts.trends(sets, pd.DataFrame({"paper": np.arange(18.0)}, index=index))
    assert found["monotone_verdict"] == said
    assert found["others_verdict"] == AGREES


def test_draws_of_the_threshold_and_runs_make_up_the_spread_of_one_estimate() -> None:
    data = Data("none", 4, np.zeros((30, 50), np.float32), np.arange(30) % 2)
    rng = np.random.default_rng(1)
    weights = np.r_[np.full(12, 0.06), np.full(38, 0.28 / 38)]
    selected = np.array(
        [
            [[rng.choice(50, 4, replace=False, p=weights) for _ in range(30)] for _ in TREES]
            for _ in range(5)
        ]
    )
    found = model.useful(data, selected)
    runs = 4 / 5 * found["sd_runs"] ** 2  # over the five, around their mean
    np.testing.assert_allclose(found["sd"] ** 2, found["sd_draws"] ** 2 + runs)
    n_useful, stability = model.by_repetition(data, selected)
    np.testing.assert_allclose(n_useful.mean(axis=0), found["n_useful"])
    np.testing.assert_allclose(stability.mean(axis=0), found["J"])


# ---------------------------------------------------------------------- contrasts of J


def estimate(seed: int, runs: int = 9) -> ms.StabilityEstimate:
    rng = np.random.default_rng(seed)
    sets = [rng.choice(12, 4, replace=False).tolist() for _ in range(runs)]
    return ms.stability(ms.Runs.from_sets(sets, features=12), "jaccard")


def test_a_contrast_of_two_is_the_librarys_paired_jackknife() -> None:
    one, other = estimate(0), estimate(1)
    value, error = contrast([one, other], [1, -1])
    assert one.leave_one_out is not None
    assert other.leave_one_out is not None
    left = one.leave_one_out - other.leave_one_out
    assert value == pytest.approx(one.value - other.value)
    assert error == pytest.approx(np.sqrt(8 / 9 * ((left - left.mean()) ** 2).sum()))
    assert contrast([one, one], [1, -1]) == (0, 0)


def test_a_lead_within_its_error_does_not_agree() -> None:
    same = pd.DataFrame({t: [estimate(0)] for t in TREES}, index=[30])
    found = claims.at_thirty(same)
    assert (found["thirty_verdict"], found["alike_verdict"]) == (NOT, AGREES)
    assert claims.few_trees({"one": same, "other": same})["few_verdict"] == NOT


def fake(value: float, left_out: np.ndarray) -> SimpleNamespace:
    return SimpleNamespace(value=value, leave_one_out=left_out, standard_error=0.0)


def test_fewer_trees_are_less_stable_only_if_both_readings_of_weak_selectors_say_so() -> None:
    lower, level = (
        pd.DataFrame({t: [fake(x if t < 200 else 0.2, np.arange(5) * 1e-4)] for t in TREES})
        for x in (0.1, 0.2)
    )
    both = claims.few_trees({"bootstraps": lower, "new seeds only": lower})
    assert both["few_verdict"] == AGREES
    found = claims.few_trees({"bootstraps": lower, "new seeds only": level})
    assert found["few_verdict"] == IN_PART
    assert found["few_clear"] == {"bootstraps": "8 of 8", "new seeds only": "0 of 8"}
    assert found["few_table"].count("new seeds only") == 2  # 50 and 100 trees


def test_curves_are_alike_when_two_errors_more_are_within_the_margin() -> None:
    still, moving = np.zeros(5), np.array([0.02, 0.0, 0.0, 0.0, 0.0])
    frame = pd.DataFrame({50: [fake(0.2, still)], 100: [fake(0.22, moving)]}, index=[50])
    change, error, at = claims.widest(frame, (50, 100))
    assert (change, at) == (pytest.approx(0.02), 50)
    assert error == pytest.approx(0.016)  # √(4/5 · (0.016² + 4 · 0.004²))
    assert change + counts.CLEAR * error > claims.ALIKE


def test_the_proportional_part_of_a_line_is_known() -> None:
    sizes = np.array([1, 5, 10, 50])
    assert claims.proportional_part(sizes, 2.0 * sizes) == pytest.approx(1)
    assert claims.proportional_part(sizes, 50.0 + sizes) == pytest.approx(0.5)


# ---------------------------------------------------------------------- the model's explanation


@pytest.mark.parametrize(("real", "same"), [(0.02, True), (-0.02, False), (0.001, False)])
def test_a_change_has_the_same_sign_beyond_two_errors(real: float, same: bool) -> None:
    made = explained.Changes((5.0, 1.0), 5.0, (real, 0.002), (0.01, 0.001), 0.0, 0.0)
    assert made.same_sign() is same


def test_more_useful_features_make_large_simulated_ensembles_less_stable() -> None:
    data = Data("Colon", 20, np.zeros((4, 2000), np.float32), np.array([0, 1, 0, 1]))
    assert (np.diff(explained.limits(data, [40, 50, 60, 80])) < 0).all()


def test_the_first_pick_is_that_of_all_its_ways() -> None:
    n, u, k, p = 7, 4, 2, Fraction(2, 5)
    ways = list(combinations(range(u), k))
    naive = sum(p / k if 0 in chosen else (1 - p) / (n - k) for chosen in ways) / len(ways)
    assert explained.first_pick(n, u, k, p) == naive
    assert explained.theorem()["theorem_verdict"] == AGREES


# ---------------------------------------------------------------------- errors of the forecast


@pytest.mark.parametrize(("size", "said"), [(0.01, AGREES), (0.1, NOT)])
def test_biases_of_both_signs_do_not_cancel(size: float, said: str) -> None:
    rows = [
        {"data": f"set {i}", "new": True, "ranker": "F", "protocol": protocol, "method": method,
         "truth": 0.5, "feasible": 1.0, "bias": size * (-1) ** i, "rmse": 0.04, "coverage": 0.95,
         "half_width": 0.1}
        for i in range(4)
        for protocol, method in errors.DEFAULTS.items()
    ]  # fmt: skip
    found = errors.error_sections(pd.DataFrame(rows), 20)
    for protocol in errors.DEFAULTS:
        assert found[f"error_{protocol}"].startswith(said)
        outside = 4 if size > errors.MOST_BIAS else 0
        assert f"Single cases outside: {outside} have" in found[f"error_{protocol}"]
