"""Forecasts from observed runs: right on average, honest intervals, whatever the order."""

from __future__ import annotations

import logging
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.ensemble import RandomForestClassifier

import mainstay as ms
from mainstay.aggregation import AGGREGATIONS, aggregate
from mainstay.data import Data
from mainstay.forecast import InfeasibleError, SimulatedSelector, base_runs, forecast_stability
from mainstay.forecast.base_runs import draw_half, shape_of_halves
from mainstay.forecast.curves import Point, make_curve
from mainstay.forecast.planning import make_plan
from mainstay.forecast.virtual import Ensembles
from mainstay.measures import MEASURES
from mainstay.reliability.pairs import agreement_in_pairs

LOGGER = "mainstay.forecast.forecasting"
AVERAGING = [name for name, rule in AGGREGATIONS.items() if rule.mean_of is not None]


def noisy_scores(
    n: int, p: int, rng: np.random.Generator, spread: float = 1.0, noise: float = 2.0
) -> np.ndarray:
    """Runs that measure p fixed values with independent noise."""
    truth = np.random.default_rng(99).normal(size=p) * spread
    return truth + rng.normal(size=(n, p)) * noise


def nested_scores(
    halves: int, inside: int, p: int, rng: np.random.Generator, between: float, within: float
) -> tuple[np.ndarray, np.ndarray]:
    """Values of variance 1, plus an error per half, plus an error per run."""
    truth = np.random.default_rng(98).normal(size=p)
    means = truth + rng.normal(size=(halves, p)) * between
    scores = means[:, None] + rng.normal(size=(halves, inside, p)) * within
    return scores.reshape(-1, p), np.repeat(np.arange(halves), inside)


@pytest.fixture(scope="module")
def cancer() -> tuple[np.ndarray, np.ndarray]:
    return load_breast_cancer(return_X_y=True)


# ---------------------------------------------------------------------- is it right?


@pytest.mark.parametrize("protocol", ["nested", "overlapping"])
def test_curve_of_halves_is_the_reliability_of_a_mean(protocol: str) -> None:
    # correlation of two ensembles of m: 1 / (1 + between² + within²/m)
    between, within = 0.7, 2.0
    rng = np.random.default_rng(0)
    scores, halves = nested_scores(14, 7, 3000, rng, between, within)
    fc = forecast_stability(
        ms.Runs.from_scores(scores), protocol=protocol, halves=halves, measure="pearson",
        ensemble_sizes=[1, 4, 7, 50, 1000], random_state=0,
    )  # fmt: skip
    sizes = fc.curve["ensemble_size"].to_numpy()
    expected = 1 / (1 + between**2 + within**2 / sizes)
    np.testing.assert_allclose(fc.curve["stability"], expected, atol=0.02)
    assert fc.plateau == pytest.approx(1 / (1 + between**2), abs=0.02)
    assert fc.curve["observed"].tolist() == [True, True, True, False, False]


def test_flat_curve_is_the_reliability_of_a_mean() -> None:
    rng = np.random.default_rng(1)
    runs = ms.Runs.from_scores(noisy_scores(100, 3000, rng))
    fc = forecast_stability(
        runs, protocol="flat", measure="pearson", ensemble_sizes=[1, 5, 50, 400], random_state=0
    )
    variance = np.random.default_rng(99).normal(size=3000).var()
    expected = variance / (variance + 4 / fc.curve["ensemble_size"])
    # the pool's own mean is noisy too, which adds up to 4/100 to the spread it shares
    np.testing.assert_allclose(fc.curve["stability"], expected, atol=0.02)


def noise(n: int, p: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Data in which no feature has to do with the target."""
    return np.random.default_rng(seed).normal(size=(n, p)), np.tile([0, 1], n // 2)


def test_on_noise_two_studies_agree_on_nothing_though_overlapping_halves_do() -> None:
    options = {"n_features_to_select": 20, "measure": "nogueira", "ensemble_sizes": [1, 10, 50]}
    values = {
        protocol: [
            forecast_stability(
                "f_statistic", *noise(60, 400, seed), protocol=protocol, random_state=seed,
                **options,
            ).curve["stability"].to_numpy()
            for seed in range(8)
        ]
        for protocol in ("nested", "overlapping")
    }  # fmt: skip
    nested, overlapping = (np.mean(values[name], axis=0) for name in values)
    assert (np.abs(nested) < 0.03).all()  # standard error 0.01
    assert (overlapping[1:] > 0.08).all()


def test_an_interval_on_noise_has_room_for_other_data_sets() -> None:
    # all pairs agree on nothing at all, which does not make it certain that no data set would
    fc = forecast_stability(
        "f_statistic", *noise(60, 2000, 0), protocol="nested", n_features_to_select=20,
        measure="nogueira", ensemble_sizes=[5], random_state=0,
    )  # fmt: skip
    assert fc.curve["lower"][0] < 0 < fc.curve["upper"][0] < 0.1


def test_the_halves_of_a_pair_share_no_row_and_hold_them_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen, run_half = [], base_runs._run_half

    def witness(procedure: object, data: Data, rows: np.ndarray, *rest: int) -> ms.Runs:
        seen.append(rows)
        return run_half(procedure, data, rows, *rest)

    monkeypatch.setattr(base_runs, "_run_half", witness)
    fc = forecast_stability(
        "f_statistic", *noise(42, 10, 0), protocol="nested", n_features_to_select=1, n_runs=20,
        random_state=0,
    )  # fmt: skip
    assert fc.base.paired
    assert len(seen) == 10
    for first, second in zip(seen[::2], seen[1::2], strict=True):
        np.testing.assert_array_equal(np.sort(np.concatenate([first, second])), np.arange(42))


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["flat", "nested", "overlapping"])
def test_intervals_cover_what_a_real_ensemble_would_reach(protocol: str) -> None:
    rng = np.random.default_rng(2)
    p, k, m = 60, 8, 30
    if protocol == "flat":
        big = noisy_scores(400 * m, p, rng).reshape(400, m, p).mean(axis=1)
    else:
        big = nested_scores(400, m, p, rng, 0.7, 2.0)[0].reshape(400, m, p).mean(axis=1)
    measured = float(ms.stability(ms.Runs.from_scores(big).top(k), "jaccard"))
    covered, errors = [], []
    for _ in range(60):
        halves = None
        scores = noisy_scores(100, p, rng)
        if protocol != "flat":
            scores, halves = nested_scores(14, 7, p, rng, 0.7, 2.0)
        point = make_curve(
            Ensembles(ms.Runs.from_scores(scores), "mean", "jaccard", k), halves, 100, 0.95, 0,
            paired=protocol == "nested",
        ).point(m)  # fmt: skip
        covered.append(point.lower <= measured <= point.upper)
        errors.append(point.stability - measured)
    assert 0.85 <= np.mean(covered) <= 1  # 95% wanted; 60 repetitions: standard error 0.03
    assert abs(np.mean(errors)) <= 0.03
    root_mean_square = np.sqrt(np.mean(np.square(errors)))
    if (
        protocol == "nested"
    ):  # 7 pairs, extrapolated from 7 runs to 30: within twice their own error
        partners = agreement_in_pairs(ms.Runs.from_scores(big).as_pairs(), "jaccard", k)
        assert root_mean_square <= 2 * partners.std() / np.sqrt(7)
    else:
        assert root_mean_square <= 0.06


def test_ensembles_of_identical_runs_agree_fully() -> None:
    runs = ms.Runs.from_scores(np.tile(np.arange(10.0), (40, 1)))
    fc = forecast_stability(runs, protocol="flat", n_features_to_select=3, random_state=0)
    assert (fc.curve["stability"] == 1).all()
    assert (fc.curve["standard_error"] == 0).all()


def test_single_runs_are_the_runs() -> None:
    runs = ms.Runs.from_scores(noisy_scores(40, 30, np.random.default_rng(3)))
    fc = forecast_stability(
        runs, protocol="flat", n_features_to_select=5, ensemble_sizes=[1], random_state=0
    )
    assert fc.curve["stability"][0] == pytest.approx(float(ms.stability(runs.top(5), "jaccard")))


def test_only_different_halves_are_compared() -> None:
    # inside a half all runs are equal, halves have nothing in common
    scores = np.repeat(np.eye(6), 4, axis=0)[:, :]
    fc = forecast_stability(
        ms.Runs.from_scores(scores), protocol="nested", halves=np.repeat(np.arange(6), 4),
        n_features_to_select=1, random_state=0,
    )  # fmt: skip
    assert (fc.curve["stability"] == 0).all()


# ---------------------------------------------------------------------- the traps


def test_ties_are_not_agreement() -> None:
    # forests with few trees leave most importances at exactly 0: in column order they "agree"
    rng = np.random.default_rng(4)
    scores = np.zeros((60, 200))
    for row in scores:
        row[rng.choice(200, 3, replace=False)] = rng.random(3)
    fc = forecast_stability(
        ms.Runs.from_scores(scores), protocol="flat", n_features_to_select=20,
        ensemble_sizes=[1, 2], random_state=0,
    )  # fmt: skip
    assert fc.curve["stability"].max() < 0.1  # two random sets of 20 of 200: 0.053


def test_ties_at_the_cut_fall_at_random_and_in_any_column_order() -> None:
    scores = np.zeros((4000, 5))
    scores[:, 0] = 1
    pool = Ensembles(ms.Runs.from_scores(scores[:2]), "mean", "jaccard", 2)
    chosen = pool.selections(scores, np.random.default_rng(0)).support
    assert (chosen.sum(axis=1) == 2).all()
    assert chosen[:, 0].all()
    share = chosen[:, 1:].mean(axis=0)
    assert (np.abs(share - 0.25) < 4 * np.sqrt(0.25 * 0.75 / 4000)).all()


def test_a_class_that_some_halves_miss_is_named() -> None:
    X, y = make_classification(n_samples=60, n_features=8, random_state=0)
    y = y.astype(int)
    y[0] = 2
    with pytest.warns(UserWarning, match=r"class 2 \(1 row\) is missing in \d+ of \d+ training"):
        forecast_stability(
            "f_statistic", X, y, protocol="nested", n_features_to_select=2, n_runs=30,
            random_state=0,
        )  # fmt: skip


def of(y: np.ndarray, groups: np.ndarray | None = None) -> Data:
    """Data with this target; the features do not matter."""
    return Data.check(np.arange(len(y), dtype=float)[:, None], y, groups=groups)


def test_halves_hold_half_of_every_class_even_if_labels_are_sorted() -> None:
    y = np.repeat([0, 1, 2], [51, 30, 5])
    rng = np.random.default_rng(0)
    halves = np.array([np.bincount(y[draw_half(of(y), rng)], minlength=3) for _ in range(200)])
    assert (halves[:, 1] == 15).all()
    assert set(halves[:, 0]) == {25, 26}
    assert set(halves[:, 2]) == {2, 3}


def test_halves_keep_groups_together() -> None:
    y = np.tile([0, 1], 30)
    groups = np.repeat(np.arange(12), 5)
    half = draw_half(of(y, groups), np.random.default_rng(0))
    counts = np.bincount(groups[half], minlength=12)
    assert sorted(counts) == [0] * 6 + [5] * 6


def test_a_numeric_target_is_halved_at_random() -> None:
    half = draw_half(of(np.linspace(0, 1, 41)), np.random.default_rng(0))
    assert len(half) in (20, 21)
    assert len(set(half)) == len(half)


# ---------------------------------------------------------------------- order changes nothing


@pytest.mark.parametrize("protocol", ["flat", "nested", "overlapping"])
def test_neither_the_order_of_runs_nor_that_of_columns_matters(protocol: str) -> None:
    rng = np.random.default_rng(5)
    scores, halves = nested_scores(6, 5, 40, rng, 0.7, 1.0)
    scores = np.round(scores, 1)
    scores[:, :10] = 0  # ties
    names = [f"g{i}" for i in range(40)]

    def curve(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        fc = forecast_stability(
            ms.Runs.from_scores(scores[rows][:, columns], [names[j] for j in columns]),
            protocol=protocol,
            halves=halves[rows] if protocol != "flat" else None,
            n_features_to_select=10,
            aggregation="rank_mean",
            random_state=7,
        )
        return fc.curve[["stability", "lower", "upper"]].to_numpy()

    same = curve(np.arange(30), np.arange(40))
    np.testing.assert_allclose(curve(rng.permutation(30), rng.permutation(40)), same, atol=1e-12)


def test_same_seed_same_curve_for_any_number_of_cores(cancer: tuple) -> None:
    X, y = cancer
    curves = [
        forecast_stability(
            RandomForestClassifier(3), X[::8], y[::8], protocol="nested", n_features_to_select=5,
            n_runs=12, random_state=3, n_jobs=n_jobs,
        ).curve.to_numpy(dtype=float)
        for n_jobs in (1, 2)
    ]  # fmt: skip
    np.testing.assert_array_equal(*curves)


# ---------------------------------------------------------------------- any rule, any measure


@pytest.mark.parametrize("rule", [*AGGREGATIONS, "callable"])
@pytest.mark.parametrize("protocol", ["flat", "nested", "overlapping"])
def test_every_aggregation_can_be_forecast(rule: str, protocol: str) -> None:
    scores, halves = nested_scores(6, 4, 15, np.random.default_rng(6), 0.5, 1.0)
    method = (lambda s: s.mean(axis=0)) if rule == "callable" else rule
    fc = forecast_stability(
        ms.Runs.from_scores(np.abs(scores)), protocol=protocol, aggregation=method,
        halves=halves if protocol != "flat" else None, n_features_to_select=4,
        ensemble_sizes=[1, 3, 12], n_ensembles=40, random_state=0,
    )  # fmt: skip
    assert fc.curve["stability"].between(-1, 1).all()
    assert (fc.curve["lower"] <= fc.curve["stability"]).all()


@pytest.mark.parametrize("protocol", ["nested", "overlapping"])
@pytest.mark.parametrize("measure", [m for m in MEASURES if m != "shared_importance"])
def test_measures_of_selections_and_rankings_can_be_forecast(measure: str, protocol: str) -> None:
    scores, halves = nested_scores(6, 4, 15, np.random.default_rng(7), 0.5, 1.0)
    similarity = None
    if MEASURES[measure].adjusted:
        similarity = ms.FeatureSimilarity.from_data(scores, threshold=0.5)
    fc = forecast_stability(
        ms.Runs.from_scores(scores), protocol=protocol, halves=halves, measure=measure,
        similarity=similarity, n_features_to_select=4, ensemble_sizes=[2, 12], n_ensembles=20,
        random_state=0,
    )  # fmt: skip
    assert np.isfinite(fc.curve["stability"]).all()
    assert (fc.curve["lower"] >= MEASURES[measure].lower).all()


@given(seed=st.integers(0, 10**6), rule=st.sampled_from(AVERAGING))
@settings(max_examples=40, deadline=None)
def test_rules_that_average_order_features_as_aggregate_does(seed: int, rule: str) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(6, 12))
    runs = ms.Runs.from_scores(np.abs(scores) if AGGREGATIONS[rule].lowest == 0 else scores)
    top = {"top": 4} if AGGREGATIONS[rule].kind in ("places", "selections") else {}
    pool = Ensembles(runs, rule, "jaccard", 4)
    scores = pool.scores(np.arange(6)[None])[0]
    wanted = aggregate(runs, rule, **top).scores
    for i in range(12):
        np.testing.assert_array_equal(
            np.sign((scores - scores[i]).round(12)), np.sign((wanted - wanted[i]).round(12))
        )


def test_selections_of_any_size_can_be_forecast() -> None:
    rng = np.random.default_rng(8)
    sets = [rng.choice(20, rng.integers(2, 6), replace=False) for _ in range(30)]
    fc = forecast_stability(ms.Runs.from_sets(sets, 20), protocol="flat", random_state=0)
    assert fc.n_features_to_select == round(np.mean([len(s) for s in sets]))
    assert fc.aggregation == "frequency"


def test_reliability_scale_inverts() -> None:
    runs = ms.Runs.from_scores(np.random.default_rng(0).normal(size=(3, 50)))
    for measure in ("jaccard", "hamming", "dice", "kuncheva", "nogueira"):
        pool = Ensembles(runs, "mean", measure, 7)
        values = np.array([0.3, 0.6, 0.9])
        back = pool.to_reliability(pool.from_reliability(values))
        np.testing.assert_allclose(back, values, atol=1e-3)
    assert Ensembles(runs, "mean", "jaccard", 7).from_reliability(np.array(1.0)) == 1


# ---------------------------------------------------------------------- both methods, the model


def test_both_methods_from_the_same_runs(cancer: tuple) -> None:
    fc = forecast_stability(
        "f_statistic", *cancer, protocol="nested", n_features_to_select=5, n_runs=60,
        random_state=0,
    )  # fmt: skip
    both = fc.compare()
    np.testing.assert_array_equal(both["resampling"], fc.curve["stability"])
    assert {"simulator", "lower", "upper"} <= set(both.columns)
    assert fc.n_useful is not None


def test_the_simulator_as_method_has_its_curve_without_interval() -> None:
    sim = SimulatedSelector(n_features=300, n_selected=10, n_useful=30, p=0.7)
    runs = sim.sample_runs(100, random_state=0)
    fc = forecast_stability(
        runs, protocol="flat", method="simulator", n_features_to_select=10, random_state=0,
        aggregation="rank_mean",
    )  # fmt: skip
    assert "lower" not in fc.curve
    assert fc.p == pytest.approx(0.7, abs=0.1)
    assert fc.n_useful == pytest.approx(30, abs=5)
    assert fc.plan(0.99).reached is False
    assert fc.plateau < 0.5


@pytest.mark.parametrize("rule", ["mean", "median", "l2_norm", "rra"])
def test_the_model_ranks_where_the_runs_have_scores(rule: str) -> None:
    model = SimulatedSelector(n_features=80, n_selected=6, n_useful=12, p=0.8)
    scores = -model.sample_ranks(40, random_state=0).astype(float) + 81
    fc = forecast_stability(
        ms.Runs.from_scores(scores), protocol="flat", n_features_to_select=6, aggregation=rule,
        ensemble_sizes=[1, 8], n_ensembles=40, random_state=0,
    )  # fmt: skip
    both = fc.compare()
    assert fc.infeasible == ""
    np.testing.assert_allclose(both["simulator"], both["resampling"], atol=0.15)


def test_an_infeasible_model_is_reported_with_the_reason() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(50, 40)) + np.where(np.arange(40) < 5, 8, 0)
    scores[:, 5:15] += 2  # often enough to count as useful, while the runs agree on five
    runs = ms.Runs.from_scores(scores)
    fc = forecast_stability(runs, protocol="flat", n_features_to_select=6, random_state=0)
    if fc.p is None:
        assert "infeasible" in fc.infeasible
        assert fc.compare()["simulator"].isna().all()
        assert "does not fit" in fc.summary()
        with pytest.raises(InfeasibleError, match="infeasible"):
            forecast_stability(
                runs, protocol="flat", n_features_to_select=6, method="simulator", random_state=0
            )


# ---------------------------------------------------------------------- planning


def plan_for(values: dict[int, float], plateau: float = 1.0, **options: float):
    def forecast(m: float) -> float:
        return float(np.interp(np.log(m), np.log(list(values)), list(values.values())))

    def point(m: float) -> Point:
        return Point(m, forecast(m), 0.01, forecast(m) - 0.02, forecast(m) + 0.02, False)

    wanted = {"target": None, "tolerance": 0.01, "largest": 1000, **options}
    return make_plan(forecast, point, plateau, 2.0, **wanted)


def test_the_plan_is_the_smallest_size_that_reaches_the_target() -> None:
    plan = plan_for({1: 0.1, 100: 0.9, 1000: 0.9}, target=0.5)
    assert plan.reached
    assert plan.ensemble_size == 10  # halfway on the logarithmic scale
    assert plan.seconds == 20
    assert "10 resamples would reach 0.5" in str(plan)


def test_a_target_out_of_reach_is_said_with_the_limit() -> None:
    plan = plan_for({1: 0.1, 16: 0.3, 1000: 0.3}, plateau=0.31, target=0.8)
    assert not plan.reached
    assert plan.ensemble_size is None
    assert "the limit is about 0.31" in str(plan)
    assert plan.recommended_size == plan.worthwhile_size == 16


def test_an_ensemble_is_worthwhile_until_two_doublings_gain_too_little() -> None:
    assert plan_for({1: 0.1, 8: 0.5, 1000: 0.52}, plateau=0.52).worthwhile_size == 8
    assert plan_for({1: 0.5, 1000: 0.5}, plateau=0.5).worthwhile_size == 1
    assert plan_for({1: 0.1, 1024: 0.9}, plateau=0.95).worthwhile_size == 512


@pytest.mark.parametrize(
    ("options", "message"),
    [({"target": 2.0}, "target"), ({"tolerance": 0.0}, "tolerance"), ({"largest": 1}, "largest")],
)
def test_senseless_plans_are_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(ms.InputError, match=message):
        plan_for({1: 0.1, 1000: 0.9}, **options)


def test_sequential_mode_adds_runs_until_the_interval_is_narrow(
    cancer: tuple, caplog: pytest.LogCaptureFixture
) -> None:
    options = {"n_features_to_select": 5, "n_runs": 30, "ensemble_sizes": [20], "random_state": 0}
    X, y = (part[::6] for part in cancer)
    with caplog.at_level(logging.INFO, logger=LOGGER):
        fc = forecast_stability("f_statistic", X, y, protocol="flat", precision=0.07, **options)
    assert fc.n_runs > 30
    assert (fc.curve["upper"] - fc.curve["lower"]).max() / 2 <= 0.07
    assert "intervals up to" in caplog.text
    few = forecast_stability(
        "f_statistic", X, y, protocol="nested", precision=1e-6, max_runs=50, **options
    )
    assert few.n_runs <= 60
    assert (np.bincount(few.base.halves) == few.base.halves.tolist().count(0)).all()


# ---------------------------------------------------------------------- the ensemble selector


def test_a_fitted_selector_forecasts_from_its_runs(cancer: tuple) -> None:
    selector = ms.EnsembleSelector(n_features_to_select=5, n_resamples=60, random_state=0)
    fc = selector.fit(*cancer).forecast(ensemble_sizes=[1, 20], random_state=0)
    assert fc.n_runs == 60
    assert fc.n_features_to_select == 5
    with pytest.raises(ms.InputError, match="give a ranker and data instead"):
        selector.forecast(protocol="nested")


def test_a_selector_can_be_forecast_on_halves(cancer: tuple) -> None:
    selector = ms.EnsembleSelector(
        ["f_statistic", "information_gain"], n_features_to_select=5, random_state=0
    )
    fc = forecast_stability(selector, *cancer, protocol="nested", n_runs=30, random_state=0)
    assert fc.n_features_to_select == 5
    assert fc.aggregation == "mean"


def test_auto_runs_only_as_many_as_the_target_needs() -> None:
    y = np.tile([0, 1], 40)
    X = np.random.default_rng(0).normal(size=(80, 40)) + y[:, None] * np.linspace(0, 2, 40)
    low, high = (
        ms.EnsembleSelector(
            "f_statistic",
            n_features_to_select=5,
            n_resamples="auto",
            target_stability=target,
            random_state=0,
        ).fit(X, y)
        for target in (0.5, 0.9)
    )
    assert low.n_resamples_ == 50  # the first look was enough
    assert high.n_resamples_ > 50
    assert f"{high.n_resamples_} resamples were run" in high.decision_
    assert high.forecast_.at(high.n_resamples_).stability == pytest.approx(0.9, abs=0.05)
    assert high.runs_.n_runs == high.n_resamples_


def test_auto_says_when_no_number_is_enough() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 300)), np.tile([0, 1], 20)
    selector = ms.EnsembleSelector(
        "f_statistic", n_features_to_select=30, n_resamples="auto", target_stability=0.999,
        random_state=0,
    )  # fmt: skip
    with pytest.warns(UserWarning, match=r"No ensemble of up to 1,024 reaches 0.999"):
        selector.fit(X, y)


def test_a_target_without_auto_is_refused(cancer: tuple) -> None:
    with pytest.raises(ms.InputError, match="n_resamples='auto'"):
        ms.EnsembleSelector(target_stability=0.8).fit(*cancer)


# ---------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"protocol": "bagged"}, "Valid: flat, nested, overlapping"),
        ({"method": "magic"}, "Valid: resampling, simulator"),
        ({"measure": "jacard"}, "Did you mean 'jaccard'"),
        ({"measure": "jaccard@5"}, "n_features_to_select says how many"),
        ({"measure": "sma_count"}, "give similarity="),
        ({"aggregation": "meen"}, "Did you mean"),
        ({"ensemble_sizes": []}, "ensemble_sizes is empty"),
        ({"ensemble_sizes": [0]}, "an ensemble size must be"),
        ({"n_features_to_select": None}, "n_features_to_select is needed"),
        ({"n_features_to_select": 30}, "must leave some out"),
        ({"confidence": 1.0}, "confidence"),
        ({"precision": 0.0}, "precision"),
        ({"halves": [1, 2]}, "n_halves"),
        ({"n_runs": 1}, "n_runs"),
        ({"n_halves": 2}, "n_halves"),
        ({"n_halves": 7}, "n_halves must be even, got 7"),
    ],
)
def test_bad_requests_say_what_to_do(cancer: tuple, options: dict, message: str) -> None:
    given = {"protocol": "nested", "n_features_to_select": 5, "n_runs": 20, "random_state": 0}
    with pytest.raises(ms.InputError, match=message):
        forecast_stability("f_statistic", *cancer, **{**given, **options})


def test_the_protocol_must_be_chosen(cancer: tuple) -> None:
    with pytest.raises(TypeError, match="protocol"):
        forecast_stability("f_statistic", *cancer, n_features_to_select=5)  # type: ignore[call-arg]


def test_runs_made_elsewhere_need_no_data_but_their_halves() -> None:
    runs = ms.Runs.from_scores(np.random.default_rng(0).normal(size=(8, 10)))
    given = {"n_features_to_select": 3}
    with pytest.raises(ms.InputError, match="need no X"):
        forecast_stability(runs, np.eye(3), [0, 1, 0], protocol="flat", **given)
    with pytest.raises(ms.InputError, match="need halves="):
        forecast_stability(runs, protocol="nested", **given)
    halves = [0, 0, 0, 0, 1, 1, 1, 1]
    with pytest.raises(ms.InputError, match="at least 3 pairs of halves"):
        forecast_stability(runs, protocol="nested", halves=halves, **given)
    with pytest.raises(ms.InputError, match="at least 3 halves"):
        forecast_stability(runs, protocol="overlapping", halves=halves, **given)
    with pytest.raises(ms.InputError, match="half of each of 8 runs"):
        forecast_stability(runs, protocol="nested", halves=[0, 1], **given)
    with pytest.raises(ms.InputError, match="belongs to protocol='nested'"):
        forecast_stability(runs, protocol="flat", halves=[0, 1], **given)
    with pytest.raises(ms.InputError, match="needs the data X and y"):
        forecast_stability("f_statistic", protocol="flat", **given)


def test_budgets_become_halves() -> None:
    assert shape_of_halves(100, None, "overlapping") == (14, 7)
    assert shape_of_halves(100, 10, "overlapping") == (10, 10)
    assert shape_of_halves(100, None, "nested") == (14, 7)
    assert shape_of_halves(30, None, "nested") == (10, 3)
    assert shape_of_halves(12, None, "nested") == (6, 2)
    for protocol in ("nested", "overlapping"):
        with pytest.raises(ms.InputError, match="n_runs"):
            shape_of_halves(4, None, protocol)


def test_agreement_no_better_than_chance_is_not_extrapolated() -> None:
    scores, halves = nested_scores(8, 5, 100, np.random.default_rng(11), 50.0, 50.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fc = forecast_stability(
            ms.Runs.from_scores(scores), protocol="nested", halves=halves, n_features_to_select=5,
            measure="nogueira", random_state=0,
        )  # fmt: skip
    assert fc.curve["stability"].abs().max() < 0.2
