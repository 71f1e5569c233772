"""The simulated selector: draws as the paper's algorithms make them, formulas as draws say."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

import mainstay as ms
import naive
import naive_forecast as twin
from mainstay.forecast import SimulatedSelector, UniformSelector, analytic, simulator
from mainstay.measures import MEASURES

COLON = {"n_features": 2000, "n_selected": 20, "n_useful": 60}
SMALL = [
    (4, 2, 3, "3/5"), (5, 2, 3, "1/2"), (5, 1, 3, "4/5"), (5, 3, 4, "7/10"), (4, 2, 2, "1/4"),
    (4, 2, 4, "9/10"), (5, 2, 4, "0"), (5, 2, 3, "1"), (5, 4, 4, "3/10"), (3, 1, 1, "1/3"),
]  # fmt: skip


def phi_limit(n: int, k: int, u: float) -> float:
    return (k / u - k / n) / (1 - k / n)


def parameters() -> st.SearchStrategy[SimulatedSelector]:
    def build(n: int, a: float, b: float, p: float) -> SimulatedSelector:
        k = 1 + int(a * (n - 2))
        return SimulatedSelector(n, k, k + int(b * (n - k)), p)

    share = st.floats(0, 1)
    return st.builds(build, st.integers(2, 40), share, share, share)


# ---------------------------------------------------------------------- draws


@pytest.mark.parametrize(("n", "k", "u", "p"), SMALL)
def test_rankings_come_up_as_often_as_algorithm_3_says(n: int, k: int, u: int, p: str) -> None:
    outcomes = twin.rankings(n, k, u, Fraction(p))
    assert sum(outcomes.values()) == 1
    draws = 20_000
    ranks = SimulatedSelector(n, k, u, float(Fraction(p))).sample_ranks(draws, random_state=1)
    orders = [tuple(row) for row in np.argsort(ranks, axis=1).tolist()]
    seen = pd.Series(orders).value_counts()
    assert set(seen.index) <= set(outcomes)
    expected = np.array([float(chance) for chance in outcomes.values()]) * draws
    observed = np.array([seen.get(order, 0) for order in outcomes])
    if len(outcomes) > 1:
        assert chisquare(observed, expected).pvalue > 1e-3


def test_the_enumerated_rankings_are_those_of_the_literal_algorithm() -> None:
    outcomes = twin.rankings(4, 2, 3, Fraction(3, 5))
    rng = np.random.default_rng(0)
    orders = [
        tuple(np.argsort(twin.weak_selector(4, 2, 3, 0.6, rng)).tolist()) for _ in range(5000)
    ]
    seen = pd.Series(orders).value_counts()
    expected = np.array([float(chance) for chance in outcomes.values()]) * 5000
    assert chisquare([seen.get(order, 0) for order in outcomes], expected).pvalue > 1e-3


@pytest.mark.parametrize(("n", "k", "u", "p"), [(60, 8, 15, 0.4), (60, 40, 50, 0.5)])
def test_ranks_of_useful_features_follow_the_literal_algorithm(
    n: int, k: int, u: int, p: float
) -> None:
    rng = np.random.default_rng(2)
    literal = np.array([twin.weak_selector(n, k, u, p, rng) for _ in range(700)])
    ours = SimulatedSelector(n, k, u, p).sample_ranks(700, random_state=3)
    for part in (slice(None, u), slice(u, None)):
        means = [draws[:, part].mean(axis=1) for draws in (literal, ours)]
        error = np.hypot(*(mean.std() / np.sqrt(700) for mean in means))
        assert abs(means[0].mean() - means[1].mean()) < 3.5 * error
    tops = [(draws[:, :u] <= k).sum(axis=1) for draws in (literal, ours)]
    assert abs(tops[0].mean() - tops[1].mean()) < 3.5 * np.hypot(
        *(t.std() / np.sqrt(700) for t in tops)
    )


@given(parameters(), st.integers(1, 30), st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_every_draw_is_a_ranking(selector: SimulatedSelector, n_runs: int, seed: int) -> None:
    ranks = selector.sample_ranks(n_runs, random_state=seed)
    whole = np.arange(1, selector.n_features + 1)
    np.testing.assert_array_equal(np.sort(ranks, axis=1), np.broadcast_to(whole, ranks.shape))
    np.testing.assert_array_equal(ranks, selector.sample_ranks(n_runs, random_state=seed))


def test_many_draws_are_made_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulator, "RANKS_AT_ONCE", 100)
    ranks = SimulatedSelector(30, 3, 6, 0.5).sample_ranks(20, random_state=0)
    assert (np.sort(ranks, axis=1) == np.arange(1, 31)).all()
    assert len({tuple(row) for row in ranks.tolist()}) == 20


def test_a_tiny_p_does_not_overflow() -> None:
    ranks = SimulatedSelector(50, 5, 10, 1e-300).sample_ranks(20, random_state=0)
    assert (np.sort(ranks, axis=1) == np.arange(1, 51)).all()
    assert ((ranks > 45).sum(axis=1) == 5).all()


def test_runs_hold_rankings_or_selections() -> None:
    selector = SimulatedSelector(50, 5, 10, 0.8)
    ranked = selector.sample_runs(7, random_state=0)
    chosen = selector.sample_runs(7, returns="selection", random_state=0)
    assert (ranked.kind, chosen.kind) == ("ranks", "support")
    np.testing.assert_array_equal(chosen.support, ranked.ranks <= 5)


def test_the_uniform_selector_selects_uniformly() -> None:
    uniform = UniformSelector(n_features=20, n_selected=4)
    runs = uniform.sample_runs(4000, random_state=0)
    assert (runs.sizes == 4).all()
    assert chisquare(runs.counts).pvalue > 1e-3
    assert float(ms.stability(runs)) == pytest.approx(0, abs=0.01)
    ranks = uniform.sample_runs(3, returns="ranks", random_state=0).ranks
    np.testing.assert_array_equal(np.sort(ranks, axis=1)[0], np.arange(1, 21))


# ---------------------------------------------------------------------- one run: exact


@pytest.mark.parametrize(("n", "k", "u", "p"), SMALL)
def test_formulas_for_one_run_are_exact(n: int, k: int, u: int, p: str) -> None:
    outcomes = twin.rankings(n, k, u, Fraction(p))
    tops = twin.tops(outcomes, k)
    useful = [float(sum(c for s, c in tops.items() if len(s & set(range(u))) == b))
              for b in range(k + 1)]  # fmt: skip
    chance = float(Fraction(p))
    np.testing.assert_allclose(analytic.useful_in_run(n, k, u, chance)[0], useful, atol=1e-12)
    selector = SimulatedSelector(n, k, u, chance)
    for measure in [name for name, entry in MEASURES.items() if entry.pair_score]:
        mean = sum(
            float(x * y) * naive.pair_score(measure, set(a), set(b), n)
            for a, x in tops.items()
            for b, y in tops.items()
        )
        assert selector.stability(1, measure) == pytest.approx(mean, abs=1e-12), measure
    assert selector.stability(1, "nogueira") == selector.stability(1, "kuncheva")
    assert selector.stability(1, "weighted_consistency") == selector.stability(1, "dice")


@pytest.mark.parametrize(("n", "k", "u", "p"), SMALL)
def test_distribution_of_ranks_is_exact(n: int, k: int, u: int, p: str) -> None:
    outcomes = twin.rankings(n, k, u, Fraction(p))
    weak = analytic.weak_ranks(n, k, u, float(Fraction(p)))
    first, last = np.zeros(n), np.zeros(n)
    means, chances = [], []
    for ranking, chance in outcomes.items():
        first[ranking.index(0)] += float(chance)
        last[ranking.index(n - 1)] += float(chance)
        means.append(np.mean([ranking.index(f) for f in range(u)]))
        chances.append(float(chance))
    np.testing.assert_allclose(weak.useful, first, atol=1e-12)
    if u < n:
        np.testing.assert_allclose(weak.other, last, atol=1e-12)
    centre = np.average(means, weights=chances)
    assert weak.spread == pytest.approx(np.average((means - centre) ** 2, weights=chances))


def test_all_measures_but_jaccard_are_linear_in_the_overlap() -> None:
    r = np.arange(8.0)
    for name, score in analytic.OVERLAP_SCORES.items():
        bend = np.abs(np.diff(score(r, 7.0, 7.0, 40), 2)).max()
        assert (bend > 1e-3) == (name == "jaccard")


@pytest.mark.parametrize(("n", "k", "u", "p"), [(2000, 20, 60, 0.7), (100, 50, 70, 0.6)])
def test_corrected_for_chance_one_run_has_a_closed_form(n: int, k: int, u: int, p: float) -> None:
    q = (p - k / n) / (1 - k / n)
    value = SimulatedSelector(n, k, u, p).stability(1, "nogueira")
    assert value == pytest.approx(q**2 * phi_limit(n, k, u), abs=1e-12)


@given(parameters(), st.floats(0, 1), st.sampled_from(["jaccard", "nogueira", "hamming"]))
@settings(max_examples=80, deadline=None)
def test_runs_become_more_stable_as_p_grows(
    selector: SimulatedSelector, share: float, measure: str
) -> None:
    n, k, u = selector.n_features, selector.n_selected, int(selector.n_useful)
    low = k / n + share * (1 - k / n) * 0.9
    values = [SimulatedSelector(n, k, u, p).stability(1, measure) for p in (k / n, low, 1.0)]
    assert values[0] <= values[1] + 1e-12
    assert values[1] <= values[2] + 1e-12


@given(parameters(), st.integers(1, 12), st.sampled_from(["ranks", "selection"]))
@settings(max_examples=60, deadline=None)
def test_stability_stays_within_bounds(selector: SimulatedSelector, m: int, returns: str) -> None:
    assert 0 <= selector.stability(m, returns=returns) <= 1 + 1e-12
    assert -1 <= selector.stability(m, "nogueira", returns=returns) <= 1 + 1e-12
    assert 0 <= selector.plateau(returns=returns) <= 1 + 1e-12


# ---------------------------------------------------------------------- ensembles


@pytest.mark.slow
@pytest.mark.parametrize("m", [1, 3, 10])
@pytest.mark.parametrize(
    ("n", "k", "u", "p"), [(2000, 20, 60, 0.7), (400, 10, 30, 0.3), (50, 5, 10, 0.4)]
)
@pytest.mark.parametrize("returns", ["ranks", "selection"])
def test_formulas_agree_with_3000_simulated_ensembles(
    n: int, k: int, u: int, p: float, m: int, returns: str
) -> None:
    selector = SimulatedSelector(n, k, u, p)
    draws = 3000 if n * m < 3000 or m == 1 else 1000
    for measure, n_ensembles in (("nogueira", draws), ("jaccard", draws // 5)):
        simulated = selector.simulate(
            m, measure, returns=returns, n_ensembles=n_ensembles, random_state=m
        )
        formula = selector.stability(m, measure, returns=returns)
        assert abs(simulated.value - formula) < 3 * simulated.standard_error


CORNERS = [
    (6, 2, 3, 0.8), (10, 4, 6, 0.6), (10, 7, 8, 0.6), (20, 2, 5, 0.5), (30, 10, 10, 0.5),
    (40, 39, 40, 0.5), (40, 39, 39, 0.9), (40, 1, 1, 0.5), (40, 1, 40, 0.5), (40, 5, 12, 0.0),
    (40, 5, 12, 1.0), (40, 5, 5, 1.0), (40, 5, 12, 0.125), (200, 1, 5, 0.5), (2, 1, 2, 0.7),
    (2, 1, 1, 0.7), (60, 20, 22, 0.35),
]  # fmt: skip


@pytest.mark.parametrize(("n", "k", "u", "p"), CORNERS)
@pytest.mark.parametrize("returns", ["ranks", "selection"])
def test_formulas_hold_in_the_corners(n: int, k: int, u: int, p: float, returns: str) -> None:
    selector = SimulatedSelector(n, k, u, p)
    for m in (1, 2, 6):
        simulated = selector.simulate(m, returns=returns, n_ensembles=300, random_state=0)
        noise = 3 * np.nan_to_num(simulated.standard_error)
        off = 0.02 if n >= 10 else 0.03
        assert abs(simulated.value - selector.stability(m, returns=returns)) < noise + off


def test_an_ensemble_selects_as_algorithm_2_does() -> None:
    n, k, u, p, m = 30, 4, 10, 0.6, 4
    rng = np.random.default_rng(5)
    literal = [len(twin.algorithm_2(n, k, u, p, m, rng)[0] & set(range(u))) for _ in range(600)]
    weak = analytic.weak_ranks(n, k, u, p)
    mean = analytic.useful_in_ensemble(weak, n, k, u, m) @ np.arange(k + 1)
    assert abs(np.mean(literal) - mean) < 3 * np.std(literal) / np.sqrt(600)


@pytest.mark.parametrize(
    ("n", "k", "u", "paper", "exact"),
    [(2000, 20, 60, 0.2, 0.203), (5966, 60, 200, 0.17, 0.178), (5966, 60, 130, 0.3, 0.301)],
)
def test_plateaus_of_the_paper(n: int, k: int, u: int, paper: float, exact: float) -> None:
    plateaus = {SimulatedSelector(n, k, u, p).plateau() for p in (0.2, 0.7, 1.0)}
    assert len(plateaus) == 1
    assert plateaus.pop() == pytest.approx(exact, abs=1e-3)
    large = SimulatedSelector(n, k, u, 0.7).stability(200)
    assert large == pytest.approx(exact, abs=1e-3)
    assert large == pytest.approx(paper, abs=0.01)


def test_only_runs_with_p_from_0_7_lose_by_a_small_ensemble() -> None:
    for p in np.arange(1, 10) / 10:  # section D.3.2, the lower part of figure 9
        single, ten = SimulatedSelector(5966, 60, 200, p).curve([1, 10])["stability"]
        assert (single > ten) == (p >= 0.7 - 1e-9)


def test_large_ensembles_level_off_whatever_p() -> None:
    sizes = [30, 40, 50]
    curves = [SimulatedSelector(**COLON, p=p).curve(sizes)["stability"] for p in (0.3, 0.6, 0.9)]
    assert np.ptp(np.array(curves)) < 0.01
    assert np.mean(curves) == pytest.approx(0.2, abs=0.005)  # figure 3, left


def test_useful_features_that_come_last_are_avoided() -> None:
    never = SimulatedSelector(100, 5, 10, 0.0)
    chance = SimulatedSelector(100, 5, 10, 0.05)
    assert never.plateau() == pytest.approx(never.stability(400), abs=1e-3)
    assert never.plateau() < SimulatedSelector(100, 5, 10, 0.5).plateau()
    assert chance.stability(30, "nogueira", returns="selection") == pytest.approx(0, abs=1e-3)
    assert chance.plateau("nogueira", returns="selection") == pytest.approx(0, abs=1e-12)


def test_binning_the_ranks_of_large_ensembles_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    selector = SimulatedSelector(1000, 10, 40, 0.4)
    coarse = selector.stability(60)
    monkeypatch.setattr(analytic, "MOST_POINTS", 2**20)
    assert selector.stability(60) == pytest.approx(coarse, abs=1e-5)


@given(parameters(), st.floats(0, 1), st.sampled_from([1, 4]))
@settings(max_examples=30, deadline=None)
def test_a_number_of_useful_features_between_two_whole_ones(
    selector: SimulatedSelector, part: float, m: int
) -> None:
    n, k, u, p = selector.n_features, selector.n_selected, int(selector.n_useful), selector.p
    if u == n:
        return
    low, high = (SimulatedSelector(n, k, u + extra, p).stability(m) for extra in (0, 1))
    between = SimulatedSelector(n, k, u + part, p).stability(m)
    assert between == pytest.approx(low + part * (high - low), abs=1e-12)


def test_sampling_rounds_the_number_of_useful_features() -> None:
    ranks = SimulatedSelector(50, 3, 5.6, 1.0).sample_ranks(200, random_state=0)
    assert (ranks <= 3).any(axis=0).sum() == 6


# ---------------------------------------------------------------------- simulation


@pytest.mark.parametrize(
    ("rule", "returns"), [(r, returns) for returns, rules in simulator.SUMS.items() for r in rules]
)
def test_sums_select_what_the_library_aggregates(
    rule: str, returns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    selector = SimulatedSelector(40, 5, 12, 0.6)
    how: dict[str, Any] = {"aggregation": rule, "returns": returns, "random_state": 3}
    fast = selector.simulate(4, **how, n_ensembles=15)
    monkeypatch.setitem(simulator.SUMS, returns, ())
    slow = selector.simulate(4, **how, n_ensembles=15)
    np.testing.assert_array_equal(fast.pairwise, slow.pairwise)


@pytest.mark.parametrize("rule", ["rank_median", "rra", "frequency", "rank_min"])
def test_any_rule_can_be_simulated(rule: str) -> None:
    selector = SimulatedSelector(60, 5, 12, 0.6)
    many = selector.simulate(15, aggregation=rule, n_ensembles=20, random_state=0).value
    assert selector.stability(15, aggregation=rule, n_ensembles=20, random_state=0) == many
    if rule != "rank_min":
        assert many > selector.stability(1, aggregation=rule)


def test_any_measure_can_be_simulated() -> None:
    selector = SimulatedSelector(60, 5, 12, 0.6)

    def mean_overlap(runs: ms.Runs) -> float:
        return float((runs.counts * (runs.counts - 1)).sum() / (runs.n_runs * (runs.n_runs - 1)))

    overlap = selector.simulate(8, mean_overlap, n_ensembles=30, random_state=0).value
    dice = selector.simulate(8, "dice", n_ensembles=30, random_state=0).value
    assert overlap == pytest.approx(5 * dice)
    assert selector.stability(8, mean_overlap, n_ensembles=30, random_state=0) == overlap
    at = selector.simulate(8, "jaccard@5", n_ensembles=30, random_state=0).value
    assert at == selector.simulate(8, "jaccard", n_ensembles=30, random_state=0).value
    assert selector.simulate(8, "spearman", n_ensembles=30, random_state=0).value > 0.05
    assert selector.simulate(8, "davis", penalty=1, n_ensembles=30, random_state=0).value < 1


def test_a_rule_of_ones_own_can_be_simulated() -> None:
    selector = SimulatedSelector(60, 5, 12, 0.6)
    how: dict[str, Any] = {"n_ensembles": 20, "random_state": 1}
    own = selector.simulate(6, aggregation=lambda ranks: -ranks.mean(axis=0), **how)
    assert own.value == selector.simulate(6, **how).value


def test_the_seed_decides() -> None:
    selector = SimulatedSelector(60, 5, 12, 0.6)
    how: dict[str, Any] = {"aggregation": "rra", "n_ensembles": 10}
    curves = [selector.curve([3, 6], random_state=seed, **how) for seed in (0, 0, 1)]
    pd.testing.assert_frame_equal(curves[0], curves[1])
    assert not curves[0].equals(curves[2])
    assert curves[0].columns.tolist() == ["ensemble_size", "stability"]


# ---------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((10, 0, 5, 0.5), "n_selected = 0 must be at least 1"),
        ((10, 10, 10, 0.5), "below n_features = 10"),
        ((10, 3, 2, 0.5), "n_useful = 2 must be from n_selected = 3 to n_features = 10"),
        ((10, 3, 11, 1.5), "n_useful = 11 .*; p = 1.5 must be a probability"),
        ((10, 3, 5, float("nan")), "p = nan must be a probability"),
        (
            (10, 2.5, "x", 0.5),
            "n_selected = 2.5 is not a whole number; n_useful = 'x' is not a number",
        ),
    ],
)
def test_impossible_parameters_are_named(given: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ms.InputError, match=message):
        SimulatedSelector(*given)


def test_a_uniform_selector_needs_features_to_leave_out() -> None:
    with pytest.raises(ms.InputError, match="n_selected = 5 must be at least 1 and below"):
        UniformSelector(5, 5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "magic"}, "unknown method"),
        ({"returns": "rank"}, "Did you mean 'ranks'"),
        ({"measure": "jacard"}, "Did you mean 'jaccard'"),
        ({"aggregation": "rank_maen"}, "Did you mean 'rank_mean'"),
        ({"aggregation": "mean", "returns": "selection"}, "use 'frequency'"),
        ({"aggregation": "rra", "method": "analytic"}, "no formula .*rank_mean or borda of ranks"),
        ({"measure": "spearman", "method": "analytic"}, "no formula .*nogueira, .*jaccard"),
        ({"ensemble_size": 0}, "ensemble_size must be a whole number at least 1"),
    ],
)
def test_mistakes_get_an_error_that_helps(options: dict[str, Any], message: str) -> None:
    selector = SimulatedSelector(30, 3, 6, 0.5)
    with pytest.raises(ms.InputError, match=message):
        selector.stability(**{"ensemble_size": 3, **options})


def test_a_plateau_needs_a_formula() -> None:
    with pytest.raises(ms.InputError, match="unknown measure 'spearman'"):
        SimulatedSelector(30, 3, 6, 0.5).plateau("spearman")


def test_a_probability_next_to_zero_is_zero() -> None:
    tiny, zero = (SimulatedSelector(20, 2, 4.5, p).stability(4) for p in (5e-324, 0.0))
    assert tiny == pytest.approx(zero, abs=1e-12)
