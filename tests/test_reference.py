"""The library, the reference values in tests/reference and the naive twins agree.

The files hold numbers that the twins made (`make_reference.py`), so that anybody can run these
tests. Where values of other programs are at hand, the twins are compared with those too.
"""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import mainstay as ms
import make_reference as twins
import naive_rankers
from conftest import golden
from mainstay.aggregation import order_statistics
from mainstay.forecast import SimulatedSelector, solve_p
from mainstay.rankers import FStatistic, InformationGain, make_ranker
from mainstay.rankers.discretization import mdl_cuts

REFERENCE = {
    name: json.loads((twins.REFERENCE / f"{name}.json").read_text(encoding="utf-8"))
    for name in twins.FILES
}


def numbers(values: list[float | None]) -> np.ndarray:
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def number(value: float | None) -> float:
    return math.nan if value is None else value


# ---------------------------------------------------------------------- the library


@pytest.mark.parametrize("case", REFERENCE["measures"]["selections"], ids=lambda c: str(c["sets"]))
def test_stability_of_selections(case: dict[str, Any]) -> None:
    runs = ms.Runs.from_sets(case["sets"], features=case["p"])
    matrix = twins.similarity_matrix(case["p"], case["similar"])
    similarity = ms.FeatureSimilarity.from_matrix(matrix, twins.THRESHOLD)
    adjusted = {row["name"] for row in ms.list_measures().to_dict("records") if row["adjusted"]}
    for measure, options, value in case["values"]:
        extra = {"similarity": similarity} if measure in adjusted else {}
        ours = ms.stability(runs, measure, undefined="nan", **options, **extra).value
        assert ours == pytest.approx(number(value), abs=1e-10, nan_ok=True), (measure, options)


@pytest.mark.parametrize("case", REFERENCE["measures"]["rankings"])
def test_stability_of_rankings(case: dict[str, Any]) -> None:
    if "ranks" in case:
        runs = ms.Runs.from_ranks(case["ranks"])
    else:
        runs = ms.Runs.from_scores(case["scores"])
    for measure, options, value in case["values"]:
        ours = ms.stability(runs, measure, **options).value
        assert ours == pytest.approx(value, abs=1e-12), (measure, options)


@pytest.mark.parametrize("case", REFERENCE["aggregation"]["rankings"])
def test_aggregated_rankings(case: dict[str, Any]) -> None:
    ranks = np.array(case["ranks"])
    m, p = ranks.shape
    runs, values = ms.Runs.from_ranks(ranks), case["values"]
    for rule in ("rank_mean", "rank_median", "rank_min", "rank_geometric_mean"):
        ours = -ms.aggregate(runs, rule).scores / p
        np.testing.assert_allclose(ours, values[rule], rtol=1e-12)
    log_rho = order_statistics.rra_log_rho(ranks / p)
    log_q, log_1m_q = order_statistics.stuart_log_q(ranks / p)
    np.testing.assert_allclose(log_rho, values["log_rho"], rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(log_q, values["log_stuart"], rtol=1e-11, atol=1e-12)
    certain = np.isneginf(log_1m_q)
    assert (certain == np.isnan(numbers(values["log1m_stuart"]))).all()
    np.testing.assert_allclose(
        log_1m_q[~certain], numbers(values["log1m_stuart"])[~certain], rtol=1e-10, atol=1e-11
    )
    if "rra_exact" in values:
        p_values = order_statistics.rra_p_value(log_rho, m)
        np.testing.assert_allclose(p_values, values["rra_exact"], rtol=1e-9)


@pytest.mark.parametrize("case", REFERENCE["aggregation"]["cut_offs"])
def test_rra_of_lists_that_end_at_a_cut_off(case: dict[str, Any]) -> None:
    ours = order_statistics.rra_log_rho(case["normalised_ranks"], top_cutoff=case["cutoff"])
    np.testing.assert_allclose(ours, case["log_rho"], rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("data", twins.DATASETS)
class TestRankers:
    @pytest.mark.parametrize("name", twins.TABLE_FILTERS)
    def test_filters_of_contingency_tables(self, data: str, name: str) -> None:
        scores = make_ranker(name).fit(*twins.DATASETS[data](return_X_y=True)).scores_
        np.testing.assert_allclose(scores, REFERENCE["rankers"][data]["table"][name], rtol=1e-11)

    def test_information_gain_of_weighted_rows(self, data: str) -> None:
        X, y = twins.DATASETS[data](return_X_y=True)
        resampled = REFERENCE["rankers"][data]["information_gain_of_resamples"]
        for weights, values in zip(twins.row_weights(len(y)), resampled, strict=True):
            scores = InformationGain().fit(X, y, sample_weight=weights).scores_
            np.testing.assert_allclose(scores, values, rtol=1e-11)

    def test_f_statistic(self, data: str) -> None:
        scores = FStatistic().fit(*twins.DATASETS[data](return_X_y=True)).scores_
        np.testing.assert_allclose(scores, REFERENCE["rankers"][data]["f_statistic"], rtol=1e-9)

    def test_supervised_cuts(self, data: str) -> None:
        X, y = twins.DATASETS[data](return_X_y=True)
        for x, cuts in zip(X.T, REFERENCE["rankers"][data]["mdl_cuts"], strict=True):
            np.testing.assert_allclose(mdl_cuts(x, y), cuts, rtol=1e-12)

    @pytest.mark.parametrize("name", twins.GREEDY)
    def test_greedy_selection(self, data: str, name: str) -> None:
        ranker = make_ranker(name).fit(*twins.DATASETS[data](return_X_y=True))
        reference = REFERENCE["rankers"][data]["greedy"][name]
        assert ranker.order_.tolist() == reference["order"]
        np.testing.assert_allclose(ranker.selection_scores_, reference["criterion"], atol=1e-10)


@pytest.mark.parametrize("case", REFERENCE["forecast"]["simulated"])
def test_simulated_selectors(case: dict[str, Any]) -> None:
    selector = SimulatedSelector(**case["selector"])
    for measure, value in case["stability"].items():
        ours = selector.stability(ensemble_size=1, measure=measure)
        assert ours == pytest.approx(value, abs=1e-12), measure


@pytest.mark.parametrize("measure", ["jaccard", "kuncheva"])
def test_p_is_found_back_from_the_agreement_of_two_runs(measure: str) -> None:
    solved = 0
    for case in REFERENCE["forecast"]["simulated"]:
        sizes = dict(case["selector"])
        p, by_chance = sizes.pop("p"), sizes["n_selected"] / sizes["n_features"]
        if p > by_chance and sizes["n_useful"] < sizes["n_features"]:  # the p that agreement tells
            found = solve_p(stability=case["stability"][measure], measure=measure, **sizes)
            assert found == pytest.approx(p, abs=1e-6), case
            solved += 1
    assert solved >= 5


# ---------------------------------------------------------------------- the files


def same_numbers(ours: Any, theirs: Any) -> bool:
    """Whether two pieces of JSON are equal up to rounding."""
    if isinstance(ours, dict):
        return ours.keys() == theirs.keys() and all(same_numbers(ours[k], theirs[k]) for k in ours)
    if isinstance(ours, list):
        return len(ours) == len(theirs) and all(map(same_numbers, ours, theirs))
    if isinstance(ours, float) and theirs is not None:
        return math.isclose(ours, theirs, rel_tol=1e-10, abs_tol=1e-12)
    return bool(ours == theirs)


@pytest.mark.parametrize("name", twins.FILES)
def test_the_files_are_what_the_twins_make(name: str) -> None:
    made = json.loads(twins.as_json(twins.FILES[name]()))
    assert same_numbers(made, REFERENCE[name])


def test_numbers_that_differ_are_found_out() -> None:
    assert same_numbers({"a": [1, 0.5, None]}, {"a": [1, 0.5 + 1e-14, None]})
    for other in ({"a": [1, 0.6, None]}, {"a": [1, 0.5, 0.0]}, {"a": [1, 0.5]}, {"b": []}):
        assert not same_numbers({"a": [1, 0.5, None]}, other)


def test_the_files_stay_small() -> None:
    assert sum(path.stat().st_size for path in twins.REFERENCE.glob("*.json")) < 200_000


# ---------------------------------------------------------------------- other programs

STABM = {
    "Jaccard": "jaccard", "Dice": "dice", "Ochiai": "ochiai", "Hamming": "hamming",
    "Lustgarten": "lustgarten", "Phi": "phi", "Kappa": "kappa", "Wald": "wald", "Davis": "davis",
    "Novovicova": "novovicova", "Somol": "somol", "Nogueira": "nogueira", "Zucknick": "zucknick",
    "Yu": "yu", "Unadjusted": "unadjusted", "IntersectionCount": "sma_count",
    "IntersectionMean": "sma_mean", "IntersectionGreedy": "sma_greedy",
    "IntersectionMBM": "sma_mbm",
}  # fmt: skip


def test_the_pairs_of_sets_have_the_values_of_stabm() -> None:
    stabm = golden("stability/allpairs_paper7.json")
    assert np.array_equal(stabm["sim"], twins.similarity_matrix(7, twins.THREE_GROUPS))
    place = {pair: i for i, pair in enumerate(zip(*np.triu_indices(128), strict=True))}
    compared = 0
    for case in REFERENCE["measures"]["selections"]:
        if case["similar"] != twins.THREE_GROUPS:
            continue
        first, second = sorted(sum(1 << f for f in chosen) for chosen in case["sets"])
        for name, values in stabm["values"].items():
            wanted = "exact" if STABM[name] in twins.CORRECTED_BY_ENUMERATION else None
            (ours,) = [
                value
                for measure, options, value in case["values"]
                if measure == STABM[name] and wanted in (None, options.get("correction"))
            ]
            theirs = number(values[place[first, second]])
            assert number(ours) == pytest.approx(theirs, abs=1e-9, nan_ok=True), (name, case)
            compared += 1
    assert compared == 7 * len(twins.PAIRS_OF_SETS)


@pytest.mark.parametrize("name", ["unadjusted", "edge", "exact"])
def test_the_twins_of_the_measures_give_the_values_of_stabm(name: str) -> None:
    compared = 0
    for case in golden(f"stability/{name}.json")["cases"]:
        if case["p"] > 60:  # the twins are slow
            continue
        sets = [set(chosen) for chosen in case["sets"]]
        for result in case["results"]:
            if (
                result["correction"] != "none"
                or result.get("zero_denominator_noise")
                or result.get("switched_to_unadjusted")
                or result.get("impute_na", "nan") != "nan"
                or result["measure"] not in STABM
            ):
                continue
            options = {"penalty": result["penalty"]} if "penalty" in result else {}
            if "threshold" in result:
                sim = case["sim"]
                matrix = np.full((case["p"], case["p"]), float(sim["background"]))
                np.fill_diagonal(matrix, sim["diag"])
                for i, j, value in sim["entries"]:
                    matrix[i, j] = matrix[j, i] = value
                options |= {"similarity": matrix, "threshold": result["threshold"]}
            ours = twins.twin_stability(STABM[result["measure"]], sets, case["p"], **options)
            assert ours == pytest.approx(number(result["value"]), abs=1e-9, nan_ok=True), result
            compared += 1
    assert compared > 60


@pytest.mark.parametrize("name", ["full", "ties"])
def test_the_twins_of_the_aggregations_give_exact_values(name: str) -> None:
    compared = 0
    for case in golden(f"aggregation/{name}.json"):
        ranks = case["ranks"] if "ranks" in case else case["tied_ranks"]
        if case["m"] > 20:
            continue
        for j in range(0, case["n_features"], 3):
            ours = twins.twin_aggregation([Fraction(row[j]) / case["N"] for row in ranks])
            for rule, value in ours.items():
                theirs = number(case["out"][rule][j])
                assert value == pytest.approx(theirs, rel=1e-11, abs=1e-11, nan_ok=True), rule
                compared += 1
    assert compared > 50


@pytest.mark.parametrize("data", twins.DATASETS)
def test_filters_and_orders_have_the_values_of_praznik_and_fselectorrcpp(data: str) -> None:
    theirs, ours = golden(f"filters/{data}_ew10.json"), REFERENCE["rankers"][data]
    for name in twins.TABLE_FILTERS:
        reference = theirs[name.replace("chi_square", "chi2")]
        np.testing.assert_allclose(ours["table"][name], reference, rtol=1e-11)
    for name in twins.GREEDY:
        assert ours["greedy"][name]["order"] == theirs[name]["order"]
        reference = theirs[name]["score"]
        np.testing.assert_allclose(ours["greedy"][name]["criterion"], reference, atol=1e-10)


def test_f_statistics_and_cuts_of_iris_have_the_values_of_other_programs() -> None:
    ours = REFERENCE["rankers"]["iris"]
    f_statistic = golden("filters/iris_fcq.json")["f_statistic"]
    np.testing.assert_allclose(ours["f_statistic"], f_statistic, rtol=1e-9)
    for cuts, limits in zip(
        ours["mdl_cuts"], golden("filters/iris_mdl.json")["cut_between"], strict=True
    ):
        for cut, (low, high) in zip(cuts, sorted(limits), strict=True):
            assert low < cut <= high


def test_weighted_filters_have_the_values_of_really_resampled_data() -> None:
    reference = golden("filters/wam_wine.json")
    codes, classes = twins.coded("wine", reference["bins"])
    for b in range(5):
        weights = [ord(character) - 48 for character in reference["multiplicity"][b]]
        ours = [naive_rankers.table_score("information_gain", weights, x, classes) for x in codes]
        theirs = reference["filters"]["information_gain"]["scores"][b]
        np.testing.assert_allclose(ours, theirs, atol=1e-12)
