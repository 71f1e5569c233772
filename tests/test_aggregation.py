"""Many rankings into one: reference values, exact twins, and what no shuffling may change."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mainstay as ms
import naive_aggregation as naive
from conftest import golden
from mainstay.aggregation import (
    AGGREGATIONS,
    Aggregation,
    aggregate,
    aggregate_lists,
    list_aggregations,
)
from mainstay.aggregation import order_statistics as order
from mainstay.aggregation import ranks as by_rank
from mainstay.aggregation import scores as by_score

SCORE_RULES = [name for name, rule in AGGREGATIONS.items() if rule.kind == "scores"]
RANK_RULES = [name for name, rule in AGGREGATIONS.items() if rule.kind != "scores"]
WEIGHTED = [name for name, rule in AGGREGATIONS.items() if rule.weights == "yes"]


def needs_top(name: str) -> dict[str, Any]:
    return {"top": 2} if AGGREGATIONS[name].kind == "selections" else {}


def strict(rng: np.random.Generator, m: int, p: int, noise: float = 1.0) -> np.ndarray:
    """m noisy rankings of p features around the order 1..p."""
    latent = np.arange(p) / p + noise * rng.normal(size=(m, p))
    return np.argsort(np.argsort(latent, axis=1), axis=1) + 1


# ---------------------------------------------------------------------- reference values


def normalised(case: dict[str, Any]) -> np.ndarray:
    for key in ("ranks", "tied_ranks"):
        if key in case:
            return np.array(case[key], dtype=float) / case["N"]
    partial = case["kind"] == "full_na"
    r = np.full((case["m"], case["n_features"]), np.nan if partial else 1.0)
    for row, chosen in zip(r, case["lists"], strict=True):
        row[chosen] = np.arange(1, len(chosen) + 1) / (len(chosen) if partial else case["N"])
    return r


def reference(case: dict[str, Any], name: str) -> np.ndarray:
    return np.array([np.nan if v is None else v for v in case["out"][name]], dtype=float)


def test_reference_values_include_what_they_promise() -> None:
    assert len(golden("aggregation/full.json")) >= 16
    assert sum("top_cutoff" in case for case in golden("aggregation/topk.json")) == 2


@pytest.mark.parametrize("name", ["full", "topk", "full_na", "ties", "large"])
def test_order_statistics_agree_with_exact_values(name: str) -> None:
    for case in golden(f"aggregation/{name}.json"):
        r = normalised(case)
        if "top_cutoff" in case:
            log_rho = order.rra_log_rho(r, top_cutoff=case["top_cutoff"])
            bound = order.rra_bonferroni(log_rho, case["m"])
            np.testing.assert_allclose(bound, reference(case, "rra_bonferroni"), rtol=1e-10)
            continue
        counts = np.sum(~np.isnan(r), axis=0)
        log_rho = order.rra_log_rho(r)
        log_q, log_1m_q = order.stuart_log_q(r)
        log_1m_q = np.where(np.isneginf(log_1m_q), np.nan, log_1m_q)
        for ours, theirs in (
            (log_rho, reference(case, "log_rho")),
            (log_q, reference(case, "log_stuart")),
            (log_1m_q, reference(case, "log1m_stuart")),
        ):
            np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-10)
        bound = order.rra_bonferroni(log_rho, counts)
        np.testing.assert_allclose(
            bound, reference(case, "rra_bonferroni"), rtol=1e-10, atol=1e-290
        )


@pytest.mark.parametrize("name", ["full", "topk", "full_na", "ties", "large"])
def test_exact_p_values_agree_with_the_reference_where_it_is_right(name: str) -> None:
    """Below ρ ≈ 1e-190 some reference values exceed m·ρ, or miss (see the next test)."""
    for case in golden(f"aggregation/{name}.json"):
        if "top_cutoff" in case:
            continue
        r = normalised(case)
        counts, log_rho = np.sum(~np.isnan(r), axis=0), order.rra_log_rho(r)
        ours = order.rra_p_value(log_rho, counts)
        right = log_rho > -400
        np.testing.assert_allclose(ours[right], reference(case, "rra_exact")[right], rtol=1e-10)
        bound = order.rra_bonferroni(log_rho, counts)
        assert (ours <= bound * (1 + 1e-12)).all()
        assert (ours >= np.exp(log_rho) * (1 - 1e-12)).all()


def test_a_tiny_p_value_is_that_of_1200_digit_arithmetic() -> None:
    """Ionosphere, feature 29 (m = 400); the reference file says 1.7% less."""
    p_value = order.rra_p_value([-451.15292654946785], 400)[0]
    assert math.log(p_value) == pytest.approx(-445.258478148455625141, abs=1e-11)
    small = order.rra_p_value([-600.0, -0.01], 100)
    assert np.log(small[0]) == pytest.approx(-595.395100516580365, abs=1e-11)
    assert 1 - small[1] == pytest.approx(1.4690935633756e-10, rel=1e-3)


@pytest.mark.parametrize("name", ["full", "topk", "full_na", "ties"])
def test_rules_of_ranks_agree_with_the_reference(name: str) -> None:
    for case in golden(f"aggregation/{name}.json"):
        if "top_cutoff" in case:
            continue
        r = normalised(case)
        for rule in ("rank_mean", "rank_median", "rank_min", "rank_geometric_mean"):
            ours = -AGGREGATIONS[rule].function(r)
            np.testing.assert_allclose(ours, reference(case, rule), rtol=1e-12)


@pytest.mark.parametrize("name", ["topk", "full_na"])
def test_lists_of_names_agree_with_the_reference(name: str) -> None:
    for case in golden(f"aggregation/{name}.json"):
        if "top_cutoff" in case:
            continue
        options = {
            "features": [f"g{j}" for j in range(case["n_features"])],
            "missing": "drop" if name == "full_na" else "last",
            "n_features": case["N"],
        }
        lists = [[f"g{j}" for j in chosen] for chosen in case["lists"]]
        found = aggregate_lists(lists, **options)
        assert found.p_values is not None
        np.testing.assert_allclose(
            -found.scores, reference(case, "log_rho"), rtol=1e-10, atol=1e-12
        )
        np.testing.assert_allclose(found.p_values, reference(case, "rra_exact"), rtol=1e-10)
        found = aggregate_lists(lists, method="stuart", **options)
        np.testing.assert_allclose(-found.scores, reference(case, "log_stuart"), atol=1e-10)
        n = case["N"] or case["n_features"]
        found = aggregate_lists(lists, method="mean", **options)
        np.testing.assert_allclose(-found.scores / n, reference(case, "rank_mean"), rtol=1e-12)


@pytest.mark.parametrize("data", ["iris", "wine"])
def test_aggregated_bootstraps_agree_with_the_reference(data: str) -> None:
    for name, reference_of in golden(f"filters/wam_{data}.json")["filters"].items():
        if name == "mrmr":
            continue
        runs = ms.Runs.from_scores(reference_of["scores"])
        for rule in ("mean", "geometric_mean", "l2_norm"):
            ours = aggregate(runs, rule).scores
            np.testing.assert_allclose(ours, reference_of[rule], rtol=1e-12)
        for rule, theirs in (
            ("rank_mean", "rank_mean"),
            ("rra", "log_rho"),
            ("stuart", "log_stuart"),
        ):
            ours = -aggregate(runs, rule).scores
            np.testing.assert_allclose(ours, reference_of[theirs], rtol=1e-10, atol=1e-10)


# ---------------------------------------------------------------------- exact twins


@st.composite
def normalised_ranks(draw: Any) -> list[Fraction]:
    m, n = draw(st.integers(1, 9)), draw(st.integers(1, 30))
    return [Fraction(draw(st.integers(1, n)), n) for _ in range(m)]


def column(r: list[Fraction]) -> np.ndarray:
    return np.array([[float(x)] for x in r])


@given(normalised_ranks())
@settings(max_examples=150, deadline=None)
def test_rho_and_q_are_those_of_exact_fractions(r: list[Fraction]) -> None:
    q = naive.stuart_by_counting(r)
    assert naive.stuart_recursion(r) == q
    log_q, log_1m_q = order.stuart_log_q(column(r))
    assert log_q[0] == pytest.approx(naive.log_of(q), rel=1e-12, abs=1e-13)
    expected = naive.log_of(1 - q) if q < 1 else -math.inf
    assert log_1m_q[0] == pytest.approx(expected, rel=1e-11, abs=1e-12)
    log_rho = order.rra_log_rho(column(r))[0]
    assert log_rho == pytest.approx(naive.log_of(naive.rho(r)), rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("noise", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("m", [60, 150])
def test_many_lists_are_those_of_exact_fractions(m: int, noise: float) -> None:
    p = 12
    ranks = strict(np.random.default_rng(m), m, p, noise)
    log_q, log_1m_q = order.stuart_log_q(ranks / p)
    for j in (0, 3, 6, 9, 11):
        q = naive.stuart_recursion([Fraction(int(k), p) for k in ranks[:, j]])
        assert log_q[j] == pytest.approx(naive.log_of(q), rel=1e-12, abs=1e-12)
        expected = naive.log_of(1 - q) if q < 1 else -math.inf
        assert log_1m_q[j] == pytest.approx(expected, rel=1e-10, abs=1e-10)


def test_the_classical_recursion_is_right_for_8_lists_and_wrong_for_50() -> None:
    p = 20
    for m, broken in ((8, False), (50, True)):
        ranks = strict(np.random.default_rng(m), m, p)
        errors, ours = [], order.stuart_log_q(ranks / p)[0]
        for j in range(p):
            exact = naive.stuart_recursion([Fraction(int(k), p) for k in ranks[:, j]])
            classical = naive.stuart_recursion([float(k) / p for k in ranks[:, j]])
            errors.append(abs(classical / float(exact) - 1))
            assert ours[j] == pytest.approx(naive.log_of(exact), rel=1e-12, abs=1e-12)
        assert (max(errors) > 1) if broken else (max(errors) < 1e-9)


@given(st.integers(1, 9), st.floats(-40, -0.001))
@settings(max_examples=60, deadline=None)
def test_exact_p_values_are_those_of_exact_fractions(m: int, log_rho: float) -> None:
    from scipy.special import betaincinv

    k = np.arange(1, m + 1)
    quantiles = betaincinv(k, m - k + 1, math.exp(log_rho))
    expected = float(naive.rra_p_value(quantiles.tolist()))
    assert order.rra_p_value([log_rho], m)[0] == pytest.approx(expected, rel=1e-9)


def test_p_values_of_random_lists_are_uniform() -> None:
    r = np.random.default_rng(0).random((6, 4000))
    p_values = np.sort(order.rra_p_value(order.rra_log_rho(r), 6))
    assert np.abs(p_values - (np.arange(4000) + 0.5) / 4000).max() < 0.03  # Kolmogorov-Smirnov


def random_lists_with_zeros(rng: np.random.Generator, m: int, p: int, share: float) -> ms.Runs:
    """Lists like those of trees on noise: a few features have a score, at random, the rest 0."""
    listed = rng.random((m, p)).argsort(axis=1) < round((1 - share) * p)
    return ms.Runs.from_scores(np.where(listed, rng.random((m, p)), 0.0))


@pytest.mark.parametrize("options", [{}, {"top": 10}, {"top": 10, "missing": "drop"}])
@pytest.mark.parametrize("m", [5, 20, 60])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_p_values_of_random_lists_hold_with_ties(
    m: int, share: float, options: dict[str, Any]
) -> None:
    """P(p ≤ 0.05) ≤ 0.05 + 2 standard errors: 30 × 200 p-values, nearly independent ones.

    With average ranks all of them were below 0.001 for 90% zeros and 20 lists.
    """
    rng = np.random.default_rng(m)
    drawn = [random_lists_with_zeros(rng, m, 200, share) for _ in range(30)]
    p_values = np.concatenate([aggregate(runs, "rra", **options).p_values for runs in drawn])
    assert np.mean(p_values <= 0.05) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / p_values.size)


def test_a_feature_that_tied_lists_agree_on_still_stands_out() -> None:
    runs = random_lists_with_zeros(np.random.default_rng(0), 20, 200, 0.9)
    scores = runs.scores.copy()
    scores[:, 7] = 0.5
    found = aggregate(ms.Runs.from_scores(scores), "rra")
    assert found.best(1) == ("x7",)
    assert found.p_values is not None
    assert found.p_values[7] < 1e-10
    assert np.delete(found.p_values, 7).min() > 0.05 / 200


def test_stuarts_q_is_no_p_value_and_is_not_called_one() -> None:
    """Of 6 independent random lists, 41% of the features have Q ≤ 0.05 (s.e. below 1%)."""
    q = np.exp(order.stuart_log_q(np.random.default_rng(0).random((6, 4000)))[0])
    assert 0.38 < np.mean(q <= 0.05) < 0.44
    runs = ms.Runs.from_scores(np.random.default_rng(0).random((6, 10)))
    found = aggregate(runs, "stuart")
    assert found.p_values is None
    assert found.to_frame().columns.tolist() == ["feature", "rank", "score"]


def test_runs_on_the_same_rows_have_no_p_values_because_they_are_not_independent() -> None:
    rng = np.random.default_rng(0)
    noise, coins = rng.normal(size=(40, 60)), np.tile([0, 1], 20)
    for resampling in ("bootstrap", "pairs"):
        fitted = ms.EnsembleSelector(
            "f_statistic", n_resamples=20, aggregation="rra", resampling=resampling, random_state=0
        ).fit(noise, coins)
        again = aggregate(fitted.runs_, "rra")
        for ranking in (fitted.ranking_, again, aggregate(fitted.runs_[:10], "rra")):
            assert ranking.p_values is None
            assert "same rows" in ranking.p_values_note
            assert "p_value" not in ranking.to_frame()
        made_elsewhere = aggregate(ms.Runs.from_scores(fitted.runs_.scores), "rra")
        assert made_elsewhere.p_values is not None
        assert made_elsewhere.best(60) == again.best(60)


@given(st.lists(st.tuples(st.floats(0.01, 1), st.floats(0.05, 1)), min_size=1, max_size=8))
@settings(max_examples=60, deadline=None)
def test_cut_offs_are_those_of_plain_poisson_binomial_sums(
    pairs: list[tuple[float, float]],
) -> None:
    cutoff = [s for _, s in pairs]
    r = [x if x <= s else 1.0 for x, s in pairs]
    ours = order.rra_log_rho(np.array(r)[:, None], top_cutoff=cutoff)[0]
    assert ours == pytest.approx(math.log(naive.cut_rho(r, cutoff)), rel=1e-10, abs=1e-12)


def test_without_a_cut_the_cut_off_rule_is_rra_itself() -> None:
    r = strict(np.random.default_rng(5), 9, 15) / 16
    ours = order.rra_log_rho(r, top_cutoff=np.ones(9))
    np.testing.assert_allclose(ours, order.rra_log_rho(r), rtol=1e-12)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=6), st.integers(1, 6))
@settings(max_examples=60, deadline=None)
def test_tied_features_share_their_places(keys: list[int], k: int) -> None:
    p = len(keys)
    k = min(k, p)
    ranks = ms.Runs.from_scores([[-x for x in keys]] * 2).ranks[:1]
    values = [float(max(k - i, 0)) for i in range(p)]
    expected = naive.mean_over_tie_breaks(ranks[0].tolist(), values)
    assert by_rank.top_credit(ranks, k)[0].tolist() == pytest.approx(expected)
    expected = naive.mean_over_tie_breaks(ranks[0].tolist(), [float(i < k) for i in range(p)])
    assert by_rank.in_top(ranks, k)[0].tolist() == pytest.approx(expected)
    places = [float(i + 1 if i < k else p) for i in range(p)]
    expected = naive.mean_over_tie_breaks(ranks[0].tolist(), places)
    assert by_rank.top_ranks(ranks, k, "last")[0].tolist() == pytest.approx(expected)


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 4)), min_size=1, max_size=8))
@settings(max_examples=80, deadline=None)
def test_whole_weights_are_repetitions(pairs: list[tuple[int, int]]) -> None:
    weights = np.array([w for _, w in pairs], dtype=float)
    if weights.sum() == 0:
        return
    values = np.array([[float(v)] for v, _ in pairs])
    repeated = np.repeat(values, weights.astype(int), axis=0)
    ours = by_score.median(values, weights)[0]
    assert ours == naive.weighted_median(values[:, 0].tolist(), weights.astype(int).tolist())
    assert by_score.mean(values, weights) == pytest.approx(repeated.mean(axis=0))
    assert by_score.l2_norm(values, weights) == pytest.approx(np.linalg.norm(repeated, axis=0))
    positive, more = np.exp(values), np.exp(repeated)
    ours = by_score.geometric_mean(positive, weights)[0]
    assert ours == pytest.approx(math.exp(np.log(more).mean()))


# ---------------------------------------------------------------------- guarantees


def with_ties(rng: np.random.Generator, kind: str) -> ms.Runs:
    m, p = 7, 9
    names = [f"x{i}" for i in rng.permutation(p + 3)[:p]]
    values = rng.integers(0, 4, size=(m, p)) + rng.choice([0.0, 0.1, 0.3], size=(m, 1))
    if kind == "scores":
        return ms.Runs.from_scores(values, names)
    if kind == "ranks":
        return ms.Runs.from_ranks(ms.Runs.from_scores(values).ranks, names)
    return ms.Runs.from_support(values > 1.5, names)


def rearranged(runs: ms.Runs, rows: np.ndarray, columns: np.ndarray) -> ms.Runs:
    table = runs.to_frame().iloc[rows, columns]
    make = {"scores": ms.Runs.from_scores, "ranks": ms.Runs.from_ranks}
    return make.get(runs.kind, ms.Runs.from_support)(table)


def refused(name: str, kind: str, top: int | None, missing: str) -> bool:
    """Which rule cannot read which runs."""
    of_scores = AGGREGATIONS[name].kind == "scores"
    if kind == "support":
        return of_scores or top is not None or missing == "drop"
    if of_scores:
        return top is not None if kind == "scores" else name not in ("mean", "median")
    return AGGREGATIONS[name].kind == "selections" and top is None


@pytest.mark.parametrize("missing", ["last", "drop"])
@pytest.mark.parametrize("top", [None, 3])
@pytest.mark.parametrize("kind", ["scores", "ranks", "support"])
@pytest.mark.parametrize("name", AGGREGATIONS)
def test_neither_the_order_of_runs_nor_of_columns_matters(
    name: str, kind: str, top: int | None, missing: str
) -> None:
    rng = np.random.default_rng(3)
    runs = with_ties(rng, kind)
    weights = rng.integers(1, 4, size=runs.n_runs)
    for weighted in (False, True) if AGGREGATIONS[name].weights != "no" else (False,):
        options: dict[str, Any] = {"top": top, "missing": missing}
        share = {"weights": weights} if weighted else {}
        if refused(name, kind, top, missing):
            with pytest.raises(ms.InputError):
                aggregate(runs, name, **options, **share)
            return
        first = aggregate(runs, name, **options, **share)
        for _ in range(3):
            rows, columns = rng.permutation(runs.n_runs), rng.permutation(runs.n_features)
            share = {"weights": weights[rows]} if weighted else {}
            again = aggregate(rearranged(runs, rows, columns), name, **options, **share)
            assert again.scores.tolist() == first.scores[columns].tolist()
            assert again.best(9) == first.best(9)


@pytest.mark.parametrize("name", RANK_RULES)
def test_a_better_rank_never_makes_a_feature_worse(name: str) -> None:
    rng = np.random.default_rng(11)
    for _ in range(25):
        m, p = 5, 8
        ranks = strict(rng, m, p)
        before = aggregate(ms.Runs.from_ranks(ranks), name, **needs_top(name))
        run, place = rng.integers(m), rng.integers(2, p + 1)
        better, worse = (int(np.flatnonzero(ranks[run] == k)[0]) for k in (place, place - 1))
        ranks[run, [better, worse]] = place - 1, place
        after = aggregate(ms.Runs.from_ranks(ranks), name, **needs_top(name))
        assert after.ranks[better] <= before.ranks[better]
        assert after.scores[better] >= before.scores[better] - 1e-13


@pytest.mark.parametrize("name", ["rra", "stuart"])
def test_2000_lists_make_no_ties_by_saturation(name: str) -> None:
    ranks = strict(np.random.default_rng(1), 2000, 40, noise=0.3)
    r = ranks / 40
    if name == "stuart":
        log_q, log_1m_q = order.stuart_log_q(r)
        assert len(set(log_q[log_q < -1])) == (log_q < -1).sum() > 5
        assert len(set(log_1m_q[log_q > -1])) == (log_q > -1).sum() > 5
    else:
        log_rho = order.rra_log_rho(r)
        assert np.isfinite(log_rho).all()
        assert log_rho.min() < -1000  # exp() of it is 0
        assert len(set(log_rho)) == 40
    found = aggregate(ms.Runs.from_ranks(ranks), name)
    assert np.corrcoef(found.ranks, np.arange(40))[0, 1] > 0.98


def test_what_is_never_in_the_top_is_told_apart_from_what_almost_never_is() -> None:
    """1 − ρ = 0.5^2000 is no double; the features still come in the right order."""
    lists = [["a", "b"]] * 1999 + [["a", "c"]]
    for name in ("rra", "stuart"):
        assert aggregate_lists(lists, features=list("dcba"), method=name).best(4) == tuple("abcd")


def test_ten_thousand_lists_give_numbers() -> None:
    r = strict(np.random.default_rng(2), 10_000, 6) / 6
    log_q, log_1m_q = order.stuart_log_q(r)
    assert np.isfinite(log_q).all()
    assert np.isfinite(log_1m_q).all()
    assert np.isfinite(order.rra_log_rho(r)).all()


# ---------------------------------------------------------------------- meaning


def test_identical_runs_give_that_run_back() -> None:
    runs = ms.Runs.from_scores([[0.3, 0.9, 0.5]] * 4, features=["a", "b", "c"])
    for name in AGGREGATIONS:
        if AGGREGATIONS[name].kind == "selections":
            continue
        assert aggregate(runs, name).best(3) == ("b", "c", "a"), name


@pytest.mark.parametrize("name", AGGREGATIONS)
def test_one_run_gives_that_run_back(name: str) -> None:
    run = ms.Runs.from_scores([[0.3, 0.9, 0.5]], features=["a", "b", "c"])
    ranking = aggregate(run, name, **needs_top(name))
    assert ranking.best(3) == ("b", "c", "a")
    assert repr(ranking).startswith(f"{name} of 1 run, best first: b")


@pytest.mark.parametrize("name", ["frequency", "vote", "borda", "rra", "rank_mean"])
def test_one_selection_puts_its_features_first(name: str) -> None:
    run = ms.Runs.from_sets([["b", "d"]], features=["a", "b", "c", "d"])
    assert aggregate(run, name).best(4) == ("b", "d", "a", "c")


def test_a_new_rule_is_one_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    def midrange(scores: np.ndarray) -> np.ndarray:
        return (scores.min(axis=0) + scores.max(axis=0)) / 2

    rule = Aggregation("midrange", "scores", midrange, "a test", weights="no", lowest=0.0)
    monkeypatch.setitem(AGGREGATIONS, rule.name, rule)
    runs = ms.Runs.from_scores([[1.0, 0.0], [2.0, 5.0], [2.0, 1.0]], features=["a", "b"])
    assert aggregate(runs, "midrange").scores.tolist() == [1.5, 2.5]
    assert "midrange" in set(list_aggregations()["name"])
    with pytest.raises(ms.InputError, match=r"at least 0, but run 1 .* feature 'b' is -5"):
        aggregate(ms.Runs.from_scores([[1, 2], [3, -5]], features=["a", "b"]), "midrange")


def test_the_best_names_have_a_deprecated_name_too() -> None:
    ranking = aggregate(ms.Runs.from_ranks([[1, 2, 3], [1, 3, 2]]))
    with pytest.warns(FutureWarning, match="now called best"):
        assert ranking.top(2) == ranking.best(2)


@pytest.mark.parametrize("name", AGGREGATIONS)
def test_one_feature_and_ties_everywhere(name: str) -> None:
    one = ms.Runs.from_scores([[0.3], [0.5]])
    top = {"top": 1} if needs_top(name) else {}
    assert aggregate(one, name, **top).ranks.tolist() == [1]
    tied = ms.Runs.from_scores(np.ones((3, 4)), features=["x10", "x2", "x1", "b"])
    found = aggregate(tied, name, **top)
    assert len(set(found.scores)) == 1
    assert found.best(4) == ("b", "x1", "x2", "x10")  # natural order of names


def test_ties_go_to_the_larger_mean_score_then_to_the_name() -> None:
    runs = ms.Runs.from_scores([[3, 2, 1, 0], [1, 2, 9, 0]], features=["c", "b", "a", "z"])
    assert aggregate(runs, "rank_mean").best(3) == ("a", "b", "c")  # mean ranks are all 2
    found = aggregate(runs, "frequency", top=3)
    assert found.scores.tolist() == [1, 1, 1, 0]
    assert found.best(4) == ("a", "b", "c", "z")
    ranks = ms.Runs.from_ranks([[1, 2, 3], [3, 1, 2]], features=["c", "b", "a"])
    assert aggregate(ranks, "rank_min").best(3) == ("b", "c", "a")  # best ranks 1, 1, 2


def test_products_that_are_equal_tie_whatever_the_rounding() -> None:
    ranks = ms.Runs.from_ranks([[1, 2, 3, 4, 5, 6], [6, 3, 2, 4, 5, 1]], features=list("fedcba"))
    assert aggregate(ranks, "rank_geometric_mean").best(4) == ("d", "e", "a", "f")


def test_mean_of_ranks_stands_in_where_there_are_no_scores() -> None:
    runs = ms.Runs.from_ranks([[1, 2, 3], [1, 3, 2]])
    assert aggregate(runs).method == "rank_mean"
    assert aggregate(runs, "median").method == "rank_median"
    assert aggregate(runs).scores.tolist() == [-1, -2.5, -2.5]


def test_scores_of_the_rules_of_scores() -> None:
    runs = ms.Runs.from_scores([[1, 0, 3], [4, 9, 4]])
    assert aggregate(runs, "geometric_mean").scores.tolist() == [2, 0, pytest.approx(12**0.5)]
    more = aggregate(runs, "geometric_mean", epsilon=1.0).scores
    assert more.tolist() == pytest.approx([10**0.5, 10**0.5, 20**0.5])
    assert aggregate(runs, "l2_norm").scores.tolist() == pytest.approx([17**0.5, 9, 5])
    assert aggregate(runs, "min").scores.tolist() == [1, 0, 3]
    assert aggregate(runs, "max").scores.tolist() == [4, 9, 4]
    assert aggregate(runs, "mean", weights=[3, 1]).scores.tolist() == [1.75, 2.25, 3.25]
    assert aggregate(runs, "geometric_mean", weights=[0, 1]).scores == pytest.approx([4, 9, 4])


def test_the_l2_norm_of_huge_scores_does_not_overflow() -> None:
    runs = ms.Runs.from_scores([[3e200, 0], [4e200, 0]])
    assert aggregate(runs, "l2_norm").scores == pytest.approx([5e200, 0])


def test_selections_are_two_ties() -> None:
    runs = ms.Runs.from_sets([["a", "b"], ["a"], ["c", "a"]], features=["a", "b", "c", "d", "e"])
    assert aggregate(runs, "frequency").scores == pytest.approx([1, 1 / 3, 1 / 3, 0, 0])
    assert aggregate(runs, "vote", threshold=1 / 3).scores == pytest.approx([1, 1 / 3, 1 / 3, 0, 0])
    assert aggregate(runs, "vote").scores == pytest.approx([1, 0, 0, 0, 0])
    mean_ranks = [4 / 3, (1.5 + 3.5 + 4) / 3, (4 + 3.5 + 1.5) / 3, 11.5 / 3, 11.5 / 3]
    assert -aggregate(runs, "rank_mean").scores == pytest.approx(mean_ranks)
    borda = aggregate(runs, "borda").scores
    assert borda == pytest.approx([3 * (6 - r) for r in mean_ranks])


def test_rra_of_selections_is_a_binomial_test_of_the_frequency() -> None:
    support = np.random.default_rng(0).permuted(np.tile([1] * 4 + [0] * 16, (30, 1)), axis=1)
    found = aggregate(ms.Runs.from_support(support), "rra")
    for count, score in zip(support.sum(axis=0), found.scores, strict=True):
        tail = naive.binomial_tail(int(count), 30, Fraction(1, 5))
        assert score == pytest.approx(-naive.log_of(tail), rel=1e-11)


def test_top_keeps_the_best_of_every_ranking() -> None:
    runs = ms.Runs.from_ranks([[1, 2, 3, 4], [1, 3, 2, 4], [2, 4, 3, 1]], list("abcd"))
    assert aggregate(runs, "borda", top=2).scores.tolist() == [5, 1, 1, 2]
    assert aggregate(runs, "frequency", top=2).scores == pytest.approx([1, 1 / 3, 1 / 3, 1 / 3])
    last = aggregate(runs, "rank_mean", top=2)
    assert -last.scores == pytest.approx([4 / 3, 10 / 3, 10 / 3, 3])
    drop = aggregate(runs, "rank_mean", top=2, missing="drop")
    assert -drop.scores == pytest.approx([2 * 4 / 3, 4, 4, 2])  # stretched to end at 4
    assert drop.best(1) == ("d",)
    lists = [["a", "b"], ["a", "c"], ["d", "a"]]
    for missing in ("last", "drop"):
        for name in ("rra", "stuart", "rank_mean", "rank_min", "rank_geometric_mean", "borda"):
            ours = aggregate(runs, name, top=2, missing=missing)
            by_name = aggregate_lists(lists, list("abcd"), name, missing=missing)
            np.testing.assert_array_equal(ours.scores, by_name.scores)


def test_ties_across_the_cut_are_no_opinion_when_dropping() -> None:
    runs = ms.Runs.from_scores([[3, 2, 2, 1], [4, 3, 2, 1]], features=list("abcd"))
    found = aggregate(runs, "rank_mean", top=2, missing="drop")
    assert -found.scores == pytest.approx([(4 + 2) / 2, 4, 4, 4])
    assert found.best(4) == tuple("abcd")  # c and d, on which no run has an opinion, are last


@pytest.mark.parametrize("name", ["rra", "stuart", "rank_mean", "rank_median", "rank_min"])
@pytest.mark.parametrize("missing", ["last", "drop"])
def test_features_without_opinions_come_last(name: str, missing: str) -> None:
    lists = [["b", "a"], ["b", "a", "z"]]
    found = aggregate_lists(lists, ["aa", "z", "a", "b"], name, missing=missing)
    assert found.best(4) == ("b", "a", "z", "aa")
    assert np.isfinite(found.scores).all()


def test_lists_find_their_features_by_themselves() -> None:
    found = aggregate_lists([["x10", "x2"], ["x2"], []], method="frequency")
    assert found.features == ("x2", "x10")
    assert found.scores == pytest.approx([2 / 3, 1 / 3])
    assert aggregate_lists([["a", "b"]], method="borda").scores.tolist() == [2, 1]
    assert aggregate_lists([[3, 1], [3]], method="mean").features == ("1", "3")


@pytest.mark.parametrize("name", ["rra", "stuart"])
def test_whole_weights_repeat_lists(name: str) -> None:
    ranks = strict(np.random.default_rng(4), 3, 6)
    found = aggregate(ms.Runs.from_ranks(ranks), name, weights=[2, 0, 1])
    again = aggregate(ms.Runs.from_ranks(ranks[[0, 0, 2]]), name)
    assert found.scores.tolist() == again.scores.tolist()


@pytest.mark.parametrize("name", WEIGHTED)
def test_equal_weights_change_nothing_and_a_run_of_weight_0_is_as_if_not_there(name: str) -> None:
    scores = np.random.default_rng(8).random((4, 6))
    runs, options = ms.Runs.from_scores(scores), needs_top(name)
    plain = aggregate(runs, name, **options)
    equal = aggregate(runs, name, weights=[0.3] * 4, **options)
    assert equal.scores == pytest.approx(plain.scores, rel=1e-12)
    without = aggregate(ms.Runs.from_scores(scores[:3]), name, **options)
    assert aggregate(runs, name, weights=[1, 1, 1, 0], **options).best(6) == without.best(6)


def test_a_callable_gets_scores_or_ranks() -> None:
    runs = ms.Runs.from_scores([[0.1, 0.9, 0.5], [0.2, 0.1, 0.4]])

    def spread(matrix: np.ndarray) -> np.ndarray:
        return np.ptp(matrix, axis=0)

    assert aggregate(runs, spread).scores == pytest.approx([0.1, 0.8, 0.1])
    assert aggregate(runs, spread).method == "spread"
    assert aggregate(runs, spread, top=2).scores.tolist() == [1, 2, 1]


def test_r_of_exactly_1_says_nothing() -> None:
    log_q, log_1m_q = order.stuart_log_q([[1.0, 0.5], [1.0, 1.0], [1.0, np.nan]])
    assert log_q.tolist() == [0, pytest.approx(math.log(0.75))]
    assert log_1m_q.tolist() == [-math.inf, pytest.approx(math.log(0.25))]
    assert order.rra_log_rho([[1.0, np.nan], [1.0, np.nan]]).tolist() == [0, 0]
    assert order.rra_p_value([0.0, 0.0, -1.0], [3, 0, 1]) == pytest.approx([1, 1, math.exp(-1)])


def test_p_values_below_the_smallest_doubles_are_bounds() -> None:
    p_values = order.rra_p_value([-5000.0, -690.0], 10)
    assert p_values.tolist() == [0, pytest.approx(math.exp(-690) * 10)]


def test_a_ranking_reads_well() -> None:
    runs = ms.Runs.from_scores(np.arange(14.0).reshape(2, 7), features=list("abcdefg"))
    found = aggregate(runs, "rra")
    assert repr(aggregate(runs)) == (
        "mean of 2 runs, best first: g (9.5), f (8.5), e (7.5), d (6.5), c (5.5) and 2 more"
    )
    table = found.to_frame()
    assert table.columns.tolist() == ["feature", "rank", "score", "p_value"]
    assert table["feature"].tolist() == list("gfedcba")
    assert table["rank"].tolist() == list(range(1, 8))
    assert table["score"].is_monotonic_decreasing
    assert aggregate(runs).to_frame().columns.tolist() == ["feature", "rank", "score"]
    assert found.order.tolist() == [6, 5, 4, 3, 2, 1, 0]
    assert found.n_runs == 2
    listed = list_aggregations()
    assert listed["name"].tolist() == list(AGGREGATIONS)
    assert set(listed["weights"]) == {"yes", "no", "whole"}


# ---------------------------------------------------------------------- errors

SCORES = ms.Runs.from_scores([[1, 2, 3], [3, -2, 1]], features=["a", "b", "c"])
POSITIVE = ms.Runs.from_scores([[1, 2, 3], [3, 2, 1]])
RANKS = ms.Runs.from_ranks([[1, 2, 3], [3, 2, 1]])
SETS = ms.Runs.from_sets([[0], [1]], 3)


@pytest.mark.parametrize(
    ("runs", "options", "message"),
    [
        ([[1, 2]], {}, r"runs must be a mainstay.Runs, got list.*aggregate_lists"),
        (
            SCORES,
            {"method": "rank_men"},
            r"unknown aggregation.*Did you mean 'rank_mean'\?.*stuart",
        ),
        (SCORES, {"missing": "first"}, r"unknown missing 'first'.*Valid: last, drop"),
        (SCORES, {"top": 4}, r"top must be a whole number from 1 to 3, got 4"),
        (SCORES, {"top": 2}, r"'mean' uses all scores and has no top=; use 'rank_mean'"),
        (SCORES, {"method": "min", "top": 2}, r"use 'rank_min'"),
        (SCORES, {"epsilon": 1}, r"'mean' has no option 'epsilon'; its options: none"),
        (SCORES, {"method": "vote", "top": 1, "limit": 1}, r"its options: threshold"),
        (SCORES, {"method": "vote", "top": 1, "threshold": 2}, r"threshold must be .* \[0, 1\]"),
        (SCORES, {"method": "frequency"}, r"'frequency' counts.* hold scores; give top=20"),
        (
            SCORES,
            {"method": "geometric_mean"},
            r"run 1 \(counting from 0\), feature 'b' is -2 \(1 such.*'rank_mean'",
        ),
        (SCORES, {"method": "l2_norm"}, r"'l2_norm' needs scores of at least 0, but run 1"),
        (POSITIVE, {"method": "geometric_mean", "epsilon": -1}, r"epsilon must be .* got -1"),
        (RANKS, {"method": "max"}, r"'max' aggregates scores, not ranks; use 'rank_mean'"),
        (RANKS, {"method": "geometric_mean"}, r"use 'rank_geometric_mean'"),
        (SETS, {}, r"'mean' aggregates scores, but these runs hold selections; use 'frequency'"),
        (SETS, {"method": "frequency", "top": 1}, r"top= takes the best of a ranking"),
        (SETS, {"method": "rra", "missing": "drop"}, r"leave nothing to compare.*missing='last'"),
        (SCORES, {"weights": [1]}, r"weights must be 2 numbers from 0 up.*got \[1\]"),
        (SCORES, {"weights": [1, -1]}, r"one per run, not all 0"),
        (SCORES, {"weights": ["a", 1]}, r"weights must be 2 numbers"),
        (SCORES, {"weights": [0, 0]}, r"not all 0"),
        (
            SCORES,
            {"method": "max", "weights": [1, 2]},
            r"'max' does not take weights; these do: mean",
        ),
        (
            SCORES,
            {"method": "rra", "weights": [1, 0.5]},
            r"no weights in the literature.*repetitions",
        ),
        (SCORES, {"method": lambda s: s}, r"must return 3 scores.*returned shape \(2, 3\)"),
        (SCORES, {"method": lambda s: s[0] * np.nan}, r"returned NaN for feature 'a'"),
    ],
)
def test_errors_say_what_to_do(runs: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ms.InputError, match=message):
        aggregate(runs, **options)


@pytest.mark.parametrize(
    ("lists", "options", "message"),
    [
        ("ab", {}, r"lists must be a collection of lists of names, got 'ab'"),
        (["ab"], {}, r"list 0 \(counting from 0\) is 'ab', not a list of names"),
        ([["a"], ["b", "b"]], {}, r"list 1 \(counting from 0\) has feature 'b' twice"),
        ([[], []], {}, r"nothing to aggregate"),
        (
            [["a"]],
            {"features": ["b", "c"]},
            r"list 0 .* unknown feature 'a'; features are 'b', 'c'",
        ),
        ([["a", "b"]], {"n_features": 1}, r"n_features must be a whole number at least 2"),
        ([["a", "b"]], {"method": "l2_norm"}, r"aggregates scores, not ranks; use 'rank_mean'"),
        ([["a", "b"]], {"missing": "no"}, r"unknown missing"),
    ],
)
def test_errors_about_lists_say_what_to_do(
    lists: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ms.InputError, match=message):
        aggregate_lists(lists, **options)


def test_errors_of_the_order_statistics() -> None:
    with pytest.raises(ms.InputError, match=r"list 1 .*, feature 0 is 3; divide ranks by"):
        order.rra_log_rho([[1.0], [3.0]])
    with pytest.raises(ms.InputError, match=r"lie in \(0, 1\].*is 0"):
        order.stuart_log_q([[0.0]])
    with pytest.raises(ms.InputError, match=r"2 dimensions"):
        order.stuart_log_q(np.ones(3))
    with pytest.raises(ms.InputError, match=r"one share in \(0, 1\] for each of the 2 lists"):
        order.rra_log_rho([[0.5], [1.0]], top_cutoff=[0.5])
    with pytest.raises(ms.InputError, match=r"no value above 0 and no NaN"):
        order.rra_p_value([0.5], 3)
    with pytest.raises(ms.InputError, match=r"n_lists must be a number of lists"):
        order.rra_bonferroni([-0.5], 2.5)
