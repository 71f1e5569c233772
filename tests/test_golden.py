"""Agreement with values that stabm, Nogueira's own program and hand computation gave."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtri

import mainstay as ms
from conftest import golden, golden_cases

OURS = {
    "IntersectionCount": "sma_count",
    "IntersectionMean": "sma_mean",
    "IntersectionGreedy": "sma_greedy",
    "IntersectionMBM": "sma_mbm",
}
ALL_PAIRS = ("IntersectionCount", "IntersectionMean", "IntersectionGreedy", "IntersectionMBM", "Yu")


def ours(name: str) -> str:
    return OURS.get(name, name.lower())


def full_matrix(case: dict[str, Any]) -> np.ndarray:
    sim, p = case["sim"], case["p"]
    matrix = np.full((p, p), float(sim["background"]))
    np.fill_diagonal(matrix, sim["diag"])
    for i, j, value in sim["entries"]:
        matrix[i, j] = matrix[j, i] = value
    return matrix


def not_a_definition_to_copy(result: dict[str, Any]) -> bool:
    """Values the spec sets aside: rounding noise, two-set expectations, Yu turned into SMU."""
    return (
        result.get("zero_denominator_noise", False)
        or result.get("stabm_pairwise_expectation", False)
        or (result["measure"] == "Yu" and result.get("switched_to_unadjusted", False))
    )


def measured(case: dict[str, Any], result: dict[str, Any]) -> ms.StabilityEstimate:
    options: dict[str, Any] = {"undefined": result.get("impute_na", "nan"), "random_state": 0}
    if "penalty" in result:
        options["penalty"] = result["penalty"]
    if "threshold" in result:
        matrix = full_matrix(case)
        options["similarity"] = ms.FeatureSimilarity.from_matrix(matrix, result["threshold"])
    runs = ms.Runs.from_sets(case["sets"], features=case["p"])
    return ms.stability(runs, ours(result["measure"]), correction=result["correction"], **options)


@pytest.mark.parametrize(
    "case",
    [
        case
        for name in ("unadjusted", "adjusted", "exact", "edge")
        for case in golden_cases(f"stability/{name}.json")
    ],
)
def test_deterministic_values_agree_to_1e_9(case: dict[str, Any]) -> None:
    compared = 0
    for result in case["results"]:
        if not_a_definition_to_copy(result):
            continue
        value = measured(case, result).value
        if result["value"] is None:
            assert math.isnan(value), result
        else:
            assert value == pytest.approx(result["value"], abs=1e-9), result
        compared += 1
    assert compared


@pytest.mark.parametrize("case", golden_cases("stability/estimate.json"))
def test_simulated_corrections_agree_within_4_standard_errors(case: dict[str, Any]) -> None:
    for result in case["results"]:
        if not_a_definition_to_copy(result):
            continue
        estimate = measured(case, result)
        reference, error = result.get("mean", result.get("value")), 0.0
        if result["correction"] == "estimate":
            error = math.hypot(result["sd"] / math.sqrt(10), estimate.chance_standard_error)
        assert abs(estimate.value - reference) <= 4 * error + 1e-9, result


@pytest.mark.parametrize("name", ["paper7", "irregular7"])
@pytest.mark.parametrize("measure", [*ALL_PAIRS, "Unadjusted", "Zucknick"])
def test_every_pair_of_subsets_of_seven_features_agrees(name: str, measure: str) -> None:
    reference = golden(f"stability/allpairs_{name}.json")
    subsets = [[f for f in range(7) if b >> f & 1] for b in range(128)]
    similarity = ms.FeatureSimilarity.from_matrix(np.array(reference["sim"]), 0.9)
    options = {} if measure == "Unadjusted" else {"similarity": similarity}
    correction = "exact" if measure in ALL_PAIRS else "auto"

    def value(sets: list[list[int]]) -> ms.StabilityEstimate:
        runs = ms.Runs.from_sets(sets, features=7)
        return ms.stability(runs, ours(measure), correction=correction, undefined="nan", **options)

    pairwise = value(subsets).pairwise
    assert pairwise is not None
    for b, subset in enumerate(subsets):
        pairwise[b, b] = value([subset, subset]).value
    expected = [np.nan if v is None else v for v in reference["values"][measure]]
    np.testing.assert_allclose(pairwise[np.triu_indices(128)], expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(pairwise, pairwise.T, rtol=0, atol=1e-12)


def matrix_of(rows: list[str]) -> np.ndarray:
    return np.array([[int(character) for character in row] for row in rows])


def number(value: float | str) -> float:
    return float(value)


def test_nogueira_values_and_variances_are_the_published_ones() -> None:
    """So are the intervals and tests that follow from them; ours allow for few runs."""
    for case in golden("stability/nogueira.json")["matrices"]:
        runs = ms.Runs.from_support(matrix_of(case["rows"]))
        estimate = ms.stability(runs, undefined="nan")
        assert estimate.value == pytest.approx(number(case["stability"]), abs=1e-9, nan_ok=True)
        if math.isnan(estimate.value):
            continue
        if runs.n_runs == 2:
            assert math.isnan(estimate.standard_error)
            continue
        assert estimate.standard_error**2 == pytest.approx(number(case["variance"]), abs=1e-9)
        for interval in case["ci"]:
            reach = ndtri(1 - interval["alpha"] / 2) * estimate.standard_error
            theirs = (number(interval["lower"]), number(interval["upper"]))
            published = (estimate.value - reach, estimate.value + reach)
            assert published == pytest.approx(theirs, abs=1e-7), case["name"]
            low, high = ms.stability(runs, confidence=1 - interval["alpha"]).interval
            if 5 <= runs.n_runs < 50:
                assert low <= max(theirs[0], -1) + 1e-7
                assert high >= min(theirs[1], 1) - 1e-7
        for test in case["test_V"]:
            if estimate.standard_error > 1e-9:
                published_test = (estimate.value - test["stab0"]) / estimate.standard_error
                assert published_test == pytest.approx(number(test["V"]), abs=1e-6), case["name"]


def test_nogueira_two_sample_tests() -> None:
    reference = golden("stability/nogueira.json")
    rows = {case["name"]: case["rows"] for case in reference["matrices"]}
    compared = 0
    for test in reference["test_T"]:
        first, second = (
            ms.stability(ms.Runs.from_support(matrix_of(rows[test[side]])), undefined="nan")
            for side in ("first", "second")
        )
        if math.isnan(first.value) or math.isnan(second.value):
            continue
        error = math.hypot(first.standard_error, second.standard_error)
        if not error > 1e-9:
            continue
        published = (second.value - first.value) / error
        assert published == pytest.approx(number(test["T"]), abs=1e-6)
        if min(first.n_runs, second.n_runs) >= 20:
            ours = ms.compare_stability(first, second)
            assert ours.p_value >= number(test["p_value"])
            assert (ours.p_value < test["alpha"]) == test["reject"]
        compared += 1
    assert compared >= 3


PAPER_NAMES = {
    "Kuncheva": "kuncheva",
    "Lustgarten": "lustgarten",
    "Wald": "wald",
    "Hamming": "hamming",
    "sim_N": "sim_n",
    "sim_K": "kuncheva",
    "sim_L": "lustgarten",
    "sim_W": "wald",
    "nPOG": "npog",
}


def test_toy_examples_of_nogueira2015() -> None:
    compared = 0
    for example in golden("stability/paper_examples.json")["examples"]:
        name = next((ours for key, ours in PAPER_NAMES.items() if key in example["measure"]), None)
        if name is None:
            continue
        runs = ms.Runs.from_sets(example["sets"], features=example["n"])
        if name == "npog":  # stated for one ordered pair
            pairwise = ms.stability(runs, name).pairwise
            assert pairwise is not None
            value = pairwise[0, 1]
        else:
            value = ms.stability(runs, name).value
        assert value == pytest.approx(example["computed"]["value"], abs=1e-12), example["id"]
        compared += 1
    assert compared >= 8
