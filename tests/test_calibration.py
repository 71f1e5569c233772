"""Threshold, n_useful and p: the paper's numbers, from formulas instead of simulations."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import binom

import mainstay as ms
import naive_forecast as twin
from mainstay.forecast import (
    InfeasibleError,
    SimulatedSelector,
    UniformSelector,
    analytic,
    compatible_pairs,
    estimate_n_useful,
    fixed_point,
    solve_p,
    t_uniform,
    verify_n_useful,
)
from mainstay.forecast.calibration import largest_n_useful

COLON: dict[str, Any] = {"n_features": 2000, "n_selected": 20}
LYMPHOMA: dict[str, Any] = {"n_features": 4026, "n_selected": 40}
PROSTATE: dict[str, Any] = {"n_features": 5966, "n_selected": 60}
TABLE_4 = [(COLON, 62, 4.640, 0.636), (LYMPHOMA, 96, 6.029, 0.668), (PROSTATE, 102, 6.455, 0.703)]


def maxima(n: int, k: int, n_runs: int, draws: int, rng: np.random.Generator) -> np.ndarray:
    """t_uniform by simulation, quick where k is far below n: sets with repeats are drawn again."""
    sets = np.sort(rng.integers(n, size=(draws * n_runs, k)), axis=1)
    while len(again := np.flatnonzero((np.diff(sets, axis=1) == 0).any(axis=1))):
        sets[again] = np.sort(rng.integers(n, size=(len(again), k)), axis=1)
    return np.array([np.bincount(chosen.ravel()).max() for chosen in np.split(sets, draws)])


# ---------------------------------------------------------------------- threshold


@pytest.mark.parametrize(("data", "n_runs", "mean", "std"), TABLE_4)
def test_the_threshold_is_that_of_table_4(
    data: dict[str, int], n_runs: int, mean: float, std: float
) -> None:
    threshold = t_uniform(**data, n_runs=n_runs)
    error = std / np.sqrt(1000)  # the paper drew 1000 times
    assert abs(threshold.mean() - mean) < 1.5 * error
    assert abs(threshold.std() - std) < 0.05


def test_the_threshold_is_that_of_a_simulation() -> None:
    rng = np.random.default_rng(0)
    for n, k, n_runs in ((2000, 20, 62), (300, 15, 20)):
        drawn = maxima(n, k, n_runs, 6000, rng)
        threshold = t_uniform(n_features=n, n_selected=k, n_runs=n_runs)
        assert threshold.mean() == pytest.approx(drawn.mean(), abs=0.02)
        assert threshold.std() == pytest.approx(drawn.std(), abs=0.02)


@pytest.mark.parametrize(
    ("n", "k", "n_runs"), [(4, 1, 3), (4, 2, 4), (6, 3, 3), (5, 1, 5), (3, 2, 5), (8, 1, 4)]
)
def test_the_threshold_of_few_features_is_nearly_exact(n: int, k: int, n_runs: int) -> None:
    exact = twin.maximum_counts(n, k, n_runs)
    mean = float(sum(t * chance for t, chance in exact.items()))
    threshold = t_uniform(n_features=n, n_selected=k, n_runs=n_runs)
    assert threshold.mean() == pytest.approx(mean, abs=0.1)
    assert threshold.support()[0] >= k * n_runs / n  # the mean count
    as_if_independent = n_runs - (binom.cdf(range(n_runs), n_runs, k / n) ** n).sum()
    assert abs(threshold.mean() - mean) < abs(as_if_independent - mean)


def test_one_run_selects_each_feature_at_most_once() -> None:
    assert t_uniform(n_features=10, n_selected=2, n_runs=1).mean() == 1
    assert t_uniform(n_features=10, n_selected=10, n_runs=7).mean() == 7


def test_the_threshold_is_a_distribution() -> None:
    threshold = t_uniform(**COLON, n_runs=62)
    t = threshold.support()
    assert threshold.pmf(t).sum() == pytest.approx(1)
    assert threshold.cdf(t[-1]) == pytest.approx(1)
    assert threshold.cdf(4) - threshold.cdf(3) == pytest.approx(threshold.pmf(4))
    np.testing.assert_array_equal(threshold.pmf([-1, 4.5, 99]), 0)
    assert (threshold.cdf(-1), threshold.cdf(4.5)) == (0, threshold.cdf(4))
    assert threshold.expect(lambda t: t) == pytest.approx(threshold.mean())
    square = threshold.expect(lambda t: t**2)
    assert threshold.std() == pytest.approx((square - threshold.mean() ** 2) ** 0.5)
    drawn = threshold.rvs(5000, random_state=0)
    assert drawn.mean() == pytest.approx(threshold.mean(), abs=4 * threshold.std() / 5000**0.5)
    assert threshold.to_frame()["probability"].sum() == pytest.approx(1)
    assert repr(threshold) == "MaximumCount: 4.635 ± 0.638 of 62 runs, 2000 features"


# ---------------------------------------------------------------------- n_useful


def test_n_useful_is_the_mean_of_the_papers_count() -> None:
    selector = SimulatedSelector(200, 8, 40, 0.5)
    runs = selector.sample_runs(20, returns="selection", random_state=0)
    rng = np.random.default_rng(1)
    counts = runs.counts.tolist()
    drawn = [
        twin.algorithm_a(counts, max(twin.uniform_counts(200, 8, 20, rng))) for _ in range(300)
    ]
    error = np.std(drawn) / np.sqrt(300)
    assert estimate_n_useful(runs) == pytest.approx(np.mean(drawn), abs=3 * error + 0.1)


def test_random_selections_have_no_useful_features() -> None:
    uniform = UniformSelector(1000, 20)
    found = [estimate_n_useful(uniform.sample_runs(40, random_state=seed)) for seed in range(20)]
    assert np.mean(found) < 1


def test_selections_of_different_sizes_are_judged_by_their_own_chance() -> None:
    rng = np.random.default_rng(0)
    sizes = rng.integers(5, 36, 40)
    sets = [rng.choice(500, size, replace=False).tolist() for size in sizes]
    unequal = estimate_n_useful(ms.Runs.from_sets(sets, 500))
    assert 0 <= unequal < 3
    favourites = [sorted({*chosen, 0, 1, 2}) for chosen in sets]
    assert estimate_n_useful(ms.Runs.from_sets(favourites, 500)) == pytest.approx(3, abs=2)


def test_n_useful_needs_selections() -> None:
    with pytest.raises(ms.InputError, match=r"runs.top\(k\)"):
        estimate_n_useful(SimulatedSelector(30, 3, 6, 0.5).sample_runs(4, random_state=0))
    with pytest.raises(ms.InputError, match=r"must be a mainstay\.Runs, got list"):
        estimate_n_useful([[1, 2]])  # type: ignore[arg-type]


# ---------------------------------------------------------------------- p


def test_p_of_the_papers_data() -> None:
    colon, lymphoma = COLON | {"n_useful": 60}, LYMPHOMA | {"n_useful": 150}
    assert solve_p(stability=0.1, **colon) == pytest.approx(0.724, abs=1e-3)
    assert solve_p(stability=0.1, **lymphoma) == pytest.approx(0.816, abs=1e-3)
    assert solve_p(stability=0.1, **colon, method="grid") == 0.7
    assert solve_p(stability=0.1, **lymphoma, method="grid") == 0.8


def test_prostate_has_no_p_with_200_useful_features() -> None:
    message = r"infeasible: the runs agree more than n_useful allows.*at most 0.1775.*0.2.*<= 180"
    with pytest.raises(InfeasibleError, match=message):
        solve_p(stability=0.2, **PROSTATE, n_useful=200)
    assert solve_p(stability=0.2, **PROSTATE, n_useful=180) == pytest.approx(1, abs=0.01)
    with pytest.raises(InfeasibleError):
        solve_p(stability=0.2, **PROSTATE, n_useful=181)
    assert solve_p(stability=0.2, **PROSTATE, n_useful=200, method="grid") == 0.9


@given(st.integers(3, 60), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.data())
@settings(max_examples=80, deadline=None)
def test_p_is_found_back(n: int, a: float, b: float, c: float, data: st.DataObject) -> None:
    k = 1 + int(a * (n - 2))
    u = k + b * (n - 1 - k)
    p = k / n + c * (1 - k / n)
    measure = data.draw(st.sampled_from(sorted(analytic.OVERLAP_SCORES)))
    value = SimulatedSelector(n, k, u, p).stability(1, measure)
    chance = SimulatedSelector(n, k, u, k / n).stability(1, measure)
    assume(abs(value - chance) > 1e-6)  # p is ill-determined next to chance
    found = solve_p(stability=value, measure=measure, n_features=n, n_selected=k, n_useful=u)
    assert found == pytest.approx(p, abs=1e-4)


def test_the_largest_stability_is_not_exceeded_by_rounding() -> None:
    value = SimulatedSelector(n_features=3, n_selected=2, n_useful=2, p=1.0).stability(1, "sim_n")
    assert value == 1.0
    assert solve_p(stability=value, measure="sim_n", n_features=3, n_selected=2, n_useful=2) == 1.0


def test_the_closed_form_of_a_corrected_measure() -> None:
    n, k, u, phi = 2000, 20, 60, 0.17
    limit = (k / u - k / n) / (1 - k / n)
    expected = k / n + (1 - k / n) * np.sqrt(phi / limit)
    found = solve_p(stability=phi, measure="nogueira", n_features=n, n_selected=k, n_useful=u)
    assert found == pytest.approx(expected, abs=1e-12)


def test_the_jaccard_index_of_the_mean_overlap_is_not_its_mean() -> None:
    n, k, u, p = 2000, 20, 60, 0.7
    value = SimulatedSelector(n, k, u, p).stability(1)
    share = 2 * value / (1 + value)  # taking J for a function of the mean overlap
    phi = (share - k / n) / (1 - k / n)
    rough = solve_p(stability=phi, measure="nogueira", n_features=n, n_selected=k, n_useful=u)
    assert abs(rough - p) > 0.005
    assert solve_p(stability=value, n_features=n, n_selected=k, n_useful=u) == pytest.approx(p)


def test_less_agreement_than_by_chance_is_infeasible() -> None:
    with pytest.raises(InfeasibleError, match=r"less than random selections do.*0\.005.*0\.001"):
        solve_p(stability=0.001, **COLON, n_useful=60)
    at_chance = SimulatedSelector(**COLON, n_useful=60, p=0.01).stability(1)
    assert solve_p(stability=at_chance, **COLON, n_useful=60) == pytest.approx(0.01, abs=1e-4)
    assert solve_p(stability=0.0, measure="nogueira", **COLON, n_useful=60) == 0.01


def test_p_cannot_be_told_if_all_features_are_useful() -> None:
    with pytest.raises(InfeasibleError, match="every p gives"):
        solve_p(stability=0.1, **COLON, n_useful=2000)


def test_the_largest_number_of_useful_features_is_the_last_feasible_one() -> None:
    for measure in ("jaccard", "nogueira"):
        most = largest_n_useful(stability=0.3, measure=measure, n_features=200, n_selected=10)
        plateaus = [SimulatedSelector(200, 10, u, 1.0).plateau(measure) for u in (most, most + 1)]
        assert plateaus[0] >= 0.3 > plateaus[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stability": 1.2}, "stability must be a value of 'jaccard', a number from 0 to 1"),
        ({"stability": None}, "stability must be a value of 'jaccard'"),
        ({"measure": "spearman"}, "unknown measure 'spearman'"),
        ({"method": "newton"}, "unknown method 'newton'"),
        ({"n_useful": 10}, "n_useful = 10 must be from n_selected = 20"),
        ({"method": "grid", "grid": [0.5, 1.5]}, "grid must be numbers from 0 to 1"),
        ({"method": "grid", "grid": []}, "grid must be numbers from 0 to 1"),
    ],
)
def test_mistakes_get_an_error_that_helps(options: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"stability": 0.1, **COLON, "n_useful": 60}
    with pytest.raises(ms.InputError, match=message):
        solve_p(**{**given, **options})


# ---------------------------------------------------------------------- verification


def test_the_first_pick_is_that_of_theorem_1() -> None:
    n, k, u = 30, 4, 10
    for p in (0.05, k / n, 0.5):
        useful = analytic.weak_ranks(n, k, u, p).useful[0]
        assert useful == pytest.approx(((n - u) * p + u - k) / (u * (n - k)))
        assert (useful > 1 / n + 1e-12) == (p > k / n)


def test_a_whole_selection_prefers_useful_features_as_the_first_pick_does() -> None:
    outcomes = twin.tops(twin.rankings(6, 2, 4, Fraction(3, 5)), 2)
    exact = float(sum(chance for chosen, chance in outcomes.items() if 0 in chosen))
    assert analytic.selection_chances(6, 2, 4, 0.6)[0] == pytest.approx(exact)
    first = ((6 - 4) * 0.6 + 4 - 2) / (4 * (6 - 2))
    assert exact - 2 / 6 == pytest.approx(2 * (first - 1 / 6))  # k times the first pick's lead


@pytest.mark.parametrize(("n", "k", "u", "p"), [(300, 10, 40, 0.5), (60, 40, 45, 0.8)])
def test_verification_is_what_simulated_runs_show(n: int, k: int, u: int, p: float) -> None:
    selector = SimulatedSelector(n, k, u, p)
    rng = np.random.default_rng(0)
    seen = [
        estimate_n_useful(selector.sample_runs(30, returns="selection", random_state=rng))
        for _ in range(150)
    ]
    verified = verify_n_useful(n_features=n, n_selected=k, n_useful=u, p=p, n_runs=30)
    assert abs(np.mean(seen) - verified) < 3 * np.std(seen) / np.sqrt(150)


@pytest.mark.parametrize(
    ("data", "n_runs", "u", "p"), [(COLON, 62, 60, 0.7), (LYMPHOMA, 96, 150, 0.8)]
)
def test_the_papers_parameters_are_compatible(
    data: dict[str, int], n_runs: int, u: int, p: float
) -> None:
    verified = verify_n_useful(**data, n_useful=u, p=p, n_runs=n_runs)
    assert verified == pytest.approx(u, abs=2)


def test_useful_features_are_missed_where_p_is_small_or_they_are_many() -> None:
    def verified(u: int, p: float) -> float:
        return verify_n_useful(**COLON, n_useful=u, p=p, n_runs=62)

    assert verified(60, 0.9) == pytest.approx(60, abs=1)
    assert verified(60, 0.3) < 50  # underestimated, where section 2.3.3 says overestimated
    counts = [verified(u, 0.7) for u in (50, 100, 200, 400, 800)]  # figure 2, left
    assert counts[0] == pytest.approx(50, abs=1)
    assert counts[2] < 200
    assert counts[4] < counts[3] < counts[2]
    turns = [
        next(u for u in range(20, 800, 5) if verified(u, p) < 0.9 * u) for p in (0.3, 0.6, 0.9)
    ]
    assert all(a < b for a, b in pairwise(turns))  # the smaller p, the sooner


@pytest.mark.parametrize(
    ("data", "n_runs", "u", "p"), [(COLON, 62, 60, 0.724), (LYMPHOMA, 96, 150, 0.816)]
)
@pytest.mark.parametrize("equation", ["observed", "self"])
def test_colon_and_lymphoma_satisfy_the_fixed_point_equation(
    data: dict[str, int], n_runs: int, u: int, p: float, equation: str
) -> None:
    found = fixed_point(stability=0.1, n_useful=u, **data, n_runs=n_runs, equation=equation)
    assert found.converged
    assert (found.n_useful, found.p) == (pytest.approx(u, abs=0.5), pytest.approx(p, abs=0.005))


def test_prostate_fails_because_no_p_exists_not_because_of_the_fixed_point() -> None:
    both = [
        fixed_point(stability=0.2, n_useful=200, **PROSTATE, n_runs=102, equation=equation)
        for equation in ("observed", "self")
    ]
    for found in both:
        assert not found.converged
        assert found.reason.startswith("infeasible")
    assert (both[0].n_useful, both[1].n_useful) == (180, 200)
    assert "180 features would stand out, but 200 did" in both[0].reason
    assert np.isnan(both[1].p)
    # the equation itself holds for the paper's 130, and just as well for any smaller number
    for u in (80, 130, 170):
        assert fixed_point(
            stability=0.2, n_useful=u, **PROSTATE, n_runs=102, equation="self"
        ).converged


@pytest.mark.parametrize(("stability", "observed"), [(0.05, 60), (0.02, 30), (0.03, 70)])
def test_the_calibrated_parameters_give_both_observations(
    stability: float, observed: float
) -> None:
    found = fixed_point(stability=stability, n_useful=observed, **COLON, n_runs=62)
    assert found.converged
    assert found.n_useful > observed  # some useful features do not stand out
    model = SimulatedSelector(**COLON, n_useful=found.n_useful, p=found.p)
    assert model.stability(1) == pytest.approx(stability, abs=1e-6)
    verified = verify_n_useful(**COLON, n_useful=found.n_useful, p=found.p, n_runs=62)
    assert verified == pytest.approx(observed, abs=0.05)
    assert found.path["n_useful"].is_monotonic_increasing
    assert found.to_frame().columns.tolist() == ["n_useful", "p", "n_useful_verified"]
    assert "converged: the verified count is" in repr(found)


def test_a_search_without_solution_says_why() -> None:
    below = fixed_point(stability=0.001, n_useful=60, **COLON, n_runs=62)
    assert not below.converged
    assert "less than random selections" in below.reason
    few = fixed_point(stability=0.3, n_useful=10, **COLON, n_runs=62)
    assert "the smallest for this stability" in few.reason
    short = fixed_point(stability=0.02, n_useful=30, **COLON, n_runs=62, max_iterations=2)
    assert (short.converged, short.reason) == (False, "no solution after 2 steps")
    assert len(short.path) == 2
    with pytest.raises(ms.InputError, match="n_useful must be a number above 0"):
        fixed_point(stability=0.1, n_useful=0, **COLON, n_runs=62)
    with pytest.raises(ms.InputError, match="unknown equation"):
        fixed_point(stability=0.1, n_useful=60, **COLON, n_runs=62, equation="other")


def test_pairs_that_match_meet_where_the_paper_says() -> None:
    pairs = compatible_pairs(stability=0.1, n_useful=60, **COLON, n_runs=62)
    assert len(pairs) == 79 * 100
    assert pairs["n_useful"].max() == 800
    both = pairs[pairs["matches_stability"] & pairs["matches_n_useful"]]
    assert set(both["n_useful"]) == {60}
    assert both["p"].min() <= 0.7 <= 0.724 <= both["p"].max() < 0.8
    one = pairs[(pairs["n_useful"] == 200) & (pairs["p"] == 0.5)].iloc[0]
    model = SimulatedSelector(2000, 20, 200, 0.5)
    assert one["stability"] == pytest.approx(model.stability(1), abs=1e-12)
    assert one["n_useful_verified"] == pytest.approx(
        verify_n_useful(**COLON, n_useful=200, p=0.5, n_runs=62)
    )


def test_prostate_pairs_match_with_130_but_not_with_200() -> None:
    grid = range(60, 261, 10)
    how: dict[str, Any] = {"stability": 0.2, "stability_tolerance": 0.02, **PROSTATE}
    for observed, found in ((130, {130}), (200, set())):
        pairs = compatible_pairs(**how, n_useful=observed, n_runs=102, n_useful_grid=grid)
        both = pairs[pairs["matches_stability"] & pairs["matches_n_useful"]]
        assert set(both["n_useful"]) == found


def test_grids_must_lie_within_bounds() -> None:
    with pytest.raises(ms.InputError, match="n_useful_grid must be numbers from 20 to 2000"):
        compatible_pairs(stability=0.1, n_useful=60, **COLON, n_runs=62, n_useful_grid=[10, 20])
    with pytest.raises(ms.InputError, match="p_grid must be numbers from 0 to 1"):
        compatible_pairs(stability=0.1, n_useful=60, **COLON, n_runs=62, p_grid=[2])
