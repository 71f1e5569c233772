"""How many of these are false? The whole procedure on permuted targets says."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from pandas.testing import assert_frame_equal
from sklearn.feature_selection import SelectFdr, SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression

import mainstay as ms
import naive_evidence as naive
from mainstay import InputError
from mainstay.data import Data
from mainstay.procedure import Procedure, selections
from mainstay.rankers import MRMR, Binning, Correlation, FStatistic, InformationGain, make_ranker
from mainstay.rankers.base import has_fast_path, resample_scorer, target_scorer
from mainstay.reliability import evidence as module
from mainstay.reliability.evidence import Repetition, _why_decided, evidence_of
from mainstay.reliability.null_distribution import Heterogeneity, expected_false, standardised
from mainstay.reliability.permutation import Permuter
from mainstay.resampling import make_resamples

N, P = 40, 12
RNG = np.random.default_rng(0)
Y = np.repeat([0, 1], N // 2)
NOISE = RNG.normal(size=(N, P))
SIGNAL = NOISE + 3 * Y[:, None] * (np.arange(P) < 2)
TWINS = np.column_stack([SIGNAL, SIGNAL[:, 0] + 0.05 * RNG.normal(size=N)])
NAMES = [f"g{j}" for j in range(P)]


def evidence(procedure: Any = "f_statistic", X: Any = SIGNAL, y: Any = Y, **options: Any) -> Any:
    """feature_evidence, cheap: 19 permutations of 10 runs."""
    given = {"n_permutations": 19, "n_resamples": 10, "random_state": 0, "progress": False}
    return ms.feature_evidence(procedure, X, y, **{**given, **options})


def same(one: ms.FeatureEvidence, other: ms.FeatureEvidence) -> None:
    assert_frame_equal(one.table, other.table)
    assert one.p_value == other.p_value
    assert_array_equal(one.null_stability, other.null_stability)


# ---------------------------------------------------------------------- the whole thing by hand


def test_it_is_permuting_y_and_fitting_every_run_by_hand() -> None:
    """Permute y, draw the resamples, fit the ranker to the rows of each, compare: with loops."""
    data, m, n_runs = Data.check(NOISE, Y), 12, 6
    procedure = Procedure.of("f_statistic", resampling="pairs", n_features_per_run=3)
    runs = procedure.run(data, n_runs, np.random.default_rng(1), progress=False)["f_statistic"]
    ev = evidence_of(procedure, data, runs, np.random.default_rng(5), n_permutations=m)
    permuter, null = Permuter.of(data), []
    for seed in np.random.default_rng(5).integers(2**62, size=m):
        rng = np.random.default_rng(int(seed))
        y = permuter.draw(rng)
        resamples = make_resamples("pairs", n_runs, N, classes=y, y=y, rng=rng)
        total = np.zeros(P)
        for i in range(n_runs):
            rows = resamples.rows(i)
            total += FStatistic().fit(NOISE[rows], y[rows]).scores_
        at_once = FStatistic().fit(NOISE, y).scores_
        null.append(((total / n_runs + at_once) / 2).tolist())
    observed = ((runs.scores.mean(axis=0) + FStatistic().fit(NOISE, Y).scores_) / 2).tolist()
    assert not ev.standardised
    assert_allclose(ev.p_values, naive.exact_p_values(observed, null))
    assert_allclose(ev.family_wise_p_values, naive.family_wise_p_values(observed, null))
    assert_allclose(ev.expected_false, naive.expected_false(observed, null))
    assert ev.p_value == pytest.approx(naive.list_p_value(observed, null))
    assert_allclose(ev.q_values, np.maximum(naive.q_values(observed, null), ev.p_value))
    assert_allclose(ev.null_largest, [max(row) for row in null])


def test_p_values_come_near_those_of_all_permutations() -> None:
    """8 rows, one run on all of them: 70 targets can be tried; 600 drawn, standard error 0.02."""
    X, y = NOISE[:8, :4] + 2 * (np.arange(8) < 4)[:, None] * (np.arange(4) < 1), np.arange(8) // 4
    scores = {
        target: f_classif(X, np.array(target))[0]
        for target in naive.different_targets(y.tolist(), [0] * 8)
    }
    ev = evidence(Procedure.of("f_statistic", resampling="none"), X, y, n_permutations=600)
    observed = scores[tuple(y.tolist())]
    shares = np.mean([other >= observed - 1e-9 for other in scores.values()], axis=0)
    error = np.sqrt(shares * (1 - shares) / 600)
    assert (np.abs(ev.p_values - shares) <= 3.5 * error + 2 / 600).all()


def test_the_twin_of_the_whole_test_finds_the_same_features() -> None:
    scores_of = lambda y: f_classif(SIGNAL, y)[0]  # noqa: E731
    p, family_wise = naive.permutation_test(scores_of, Y, 99, np.random.default_rng(0))
    ev = evidence(Procedure.of("f_statistic", resampling="none"), n_permutations=99)
    assert_array_equal(ev.family_wise_p_values == 0.01, np.array(family_wise) == 0.01)
    assert np.abs(ev.p_values - p).max() < 4 * math.sqrt(2 * 0.25 / 99)


@pytest.mark.parametrize("statistic", ["score", "log_rank", "frequency"])
def test_what_is_compared_is_what_the_statistic_says(statistic: str) -> None:
    procedure = Procedure.of("f_statistic", n_features_per_run=3)
    data = Data.check(SIGNAL, Y)
    runs = procedure.run(data, 10, np.random.default_rng(0), progress=False)["f_statistic"]
    by_hand = {
        "score": (runs.scores.mean(axis=0) + FStatistic().fit(SIGNAL, Y).scores_) / 2,
        "log_rank": -np.log(runs.ranks).mean(axis=0),
        "frequency": (runs.ranks <= 3).mean(axis=0),
    }[statistic]
    ev = evidence_of(
        procedure, data, runs, np.random.default_rng(0), n_permutations=19, statistic=statistic
    )
    assert ev.statistic == statistic
    if not ev.standardised:
        assert_allclose(ev.values, by_hand)
    assert_array_equal(np.argsort(ev.values)[-2:], np.argsort(by_hand)[-2:])
    assert_allclose(ev.frequency, (runs.ranks <= 3).mean(axis=0))


def test_frequency_as_statistic_is_the_frequency_of_the_table_even_where_ties_are_drawn() -> None:
    X = np.repeat(NOISE[:, :3] > 0, 4, axis=1).astype(int)
    ev = evidence("information_gain", X, statistic="frequency", similarity_threshold=None)
    assert not ev.standardised
    assert_array_equal(ev.values, ev.frequency)


# ---------------------------------------------------------------------- what never changes


@pytest.mark.parametrize("ranker", ["f_statistic", "information_gain", "mrmr"])
def test_the_order_of_columns_changes_nothing(ranker: str) -> None:
    table = pd.DataFrame(TWINS.round(1), columns=[*NAMES, "twin"])
    order = np.random.default_rng(3).permutation(P + 1)
    one, other = evidence(ranker, table), evidence(ranker, table.iloc[:, order])
    assert_frame_equal(one.table, other.table)
    assert one.p_value == other.p_value
    assert one.selected_groups("fdr<=0.2") == other.selected_groups("fdr<=0.2")


@pytest.mark.parametrize("ranker", ["f_statistic", SelectKBest(k=3)])
def test_the_number_of_cores_and_the_seed_given_again_change_nothing(ranker: Any) -> None:
    one = evidence(ranker, n_jobs=1)
    same(one, evidence(ranker, n_jobs=2))
    same(one, evidence(ranker))
    assert (evidence(ranker, random_state=1).p_values != one.p_values).any()


def test_how_many_permutations_share_a_task_changes_nothing(tmp_path: Path) -> None:
    """Fewer and fewer, so that cores end together; in a checkpoint five, whatever the cores."""
    options = {"n_permutations": 60, "n_jobs": 1}
    same(evidence(**options), evidence(**options, checkpoint=tmp_path))
    repetition = Repetition(
        Procedure.of("f_statistic"), Data.check(SIGNAL, Y), Permuter.of(Data.check(SIGNAL, Y)), 10,
        "score", 1,
    )  # fmt: skip
    seeds = np.arange(60)
    tasks = repetition.in_tasks(seeds, n_jobs=1)
    assert [len(task) for task in tasks] == [15, 11, 8, 6, 5, 5, 5, 5]
    assert np.concatenate(tasks).tolist() == seeds.tolist()
    slow = replace(repetition, procedure=Procedure.of(LogisticRegression()))
    assert [len(task) for task in slow.in_tasks(seeds, n_jobs=1)] == [5] * 12


def test_labels_in_the_same_order_are_the_same_target() -> None:
    one = evidence()
    for labels in (Y.astype(str), np.array(["healthy", "ill"])[Y], 7 + 2 * Y, Y.astype(bool)):
        same(one, evidence(y=labels))


@pytest.mark.parametrize("X", [TWINS, NOISE[:, :1]])
def test_a_saved_result_is_reopened_as_it_was(X: np.ndarray, tmp_path: Path) -> None:
    ev = evidence(X=X)
    ev.save(tmp_path / "evidence.zip")
    again = ms.load_result(tmp_path / "evidence.zip")
    same(ev, again)
    assert again.summary() == ev.summary()
    assert repr(again) == repr(ev)
    assert again.settings == ev.settings


def test_a_fitted_selector_and_its_procedure_are_the_same_question() -> None:
    selector = ms.EnsembleSelector("f_statistic", n_resamples=10, random_state=0)
    one = evidence(selector, n_resamples=None)
    same(one, evidence(selector.fit(SIGNAL, Y), n_resamples=None))
    same(one, evidence(selector.procedure))
    assert one.n_runs == 10


def test_the_task_of_a_selector_is_that_of_its_evidence() -> None:
    y = np.arange(N) % 4
    asked = evidence(ms.EnsembleSelector("f_statistic", task="regression"), y=y)
    assert_array_equal(asked.values, evidence(
        ms.EnsembleSelector("f_statistic"), y=y, task="regression").values)  # fmt: skip
    assert (asked.values != evidence(ms.EnsembleSelector("f_statistic"), y=y).values).any()


# ---------------------------------------------------------------------- prepared data


def mixed_table() -> pd.DataFrame:
    rng = np.random.default_rng(2)
    table = pd.DataFrame(rng.normal(size=(30, 3)), columns=["a", "b", "c"])
    table["few"], table["many"] = rng.integers(0, 3, 30), rng.integers(0, 25, 30)
    table["gaps"] = np.where(rng.random(30) < 0.2, np.nan, rng.normal(size=30))
    table["text"] = rng.choice(["x", "y", "z"], 30)
    return table


MIXED = mixed_table()
TARGETS = [np.random.default_rng(s).permutation(np.arange(30) % 2) for s in range(3)]
NUMBERS = [np.random.default_rng(s).normal(size=30) for s in range(3)]
BINNINGS = [
    Binning(), Binning("quantile", n_bins=4), Binning("mdl"), Binning([0.0, 0.5]),
    Binning({"a": [0.0]}), Binning(integers="categories"), Binning(integers="numbers"),
    Binning(near_zero_variance=True), Binning("quantile", rebin=True), Binning("mdl", rebin=True),
]  # fmt: skip


def assert_prepared_once_is_prepared_anew(ranker: Any, X: Any, targets: list[np.ndarray]) -> None:
    weights = np.random.default_rng(0).multinomial(30, np.full(30, 1 / 30), size=5)
    prepared = target_scorer(ranker, X)
    assert prepared is not None
    for y in (*targets, targets[0]):
        anew = resample_scorer(ranker, X, y)
        assert anew is not None
        assert_array_equal(prepared(y)(weights), anew(weights))


@pytest.mark.parametrize("binning", BINNINGS, ids=repr)
@pytest.mark.parametrize("ranker", [InformationGain, MRMR])
def test_bins_found_once_serve_every_target(ranker: Any, binning: Binning) -> None:
    assert_prepared_once_is_prepared_anew(ranker(binning=binning), MIXED, TARGETS)
    if binning.bins != "mdl":
        assert_prepared_once_is_prepared_anew(ranker(binning=binning), MIXED, NUMBERS)


FAST = [name for name in ms.list_rankers()["name"] if has_fast_path(make_ranker(name))]


@pytest.mark.parametrize("name", FAST)
def test_every_ranker_that_prepares_data_scores_as_if_prepared_anew(name: str) -> None:
    numeric = MIXED[["a", "b", "c", "few", "many"]]
    assert_prepared_once_is_prepared_anew(make_ranker(name), numeric, TARGETS)
    assert_prepared_once_is_prepared_anew(make_ranker(name), numeric.to_numpy(), NUMBERS)


@pytest.mark.parametrize(
    "ranker",
    [FStatistic(near_zero_variance=True), Correlation(), Correlation(method="spearman")],
    ids=repr,
)
def test_gaps_and_ranks_are_prepared_for_every_target(ranker: Any) -> None:
    numeric = MIXED.drop(columns="text")
    assert_prepared_once_is_prepared_anew(ranker, numeric, TARGETS)
    assert_prepared_once_is_prepared_anew(ranker, numeric, NUMBERS)


# ---------------------------------------------------------------------- under noise


def independent(rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=(20, 8))


def blocks(rng: np.random.Generator) -> np.ndarray:
    return np.repeat(rng.normal(size=(20, 2)), 4, axis=1) + 0.2 * rng.normal(size=(20, 8))


def check_noise(make: Any, statistic: str, n_sets: int, n_permutations: int | str = 19) -> None:
    """P(list p ≤ .1), P(anything at FDR ≤ .1), expected false features and exact p-values hold."""
    y = np.arange(20) % 2
    lists, named, false, small = [], [], [], []
    for seed in range(n_sets):
        ev = evidence(
            X=make(np.random.default_rng(seed)), y=y, n_permutations=n_permutations, n_resamples=4,
            statistic=statistic, similarity_threshold=None, random_state=seed,
            n_features_to_select=2,
        )  # fmt: skip
        lists.append(ev.p_value <= 0.1)
        named.append(len(ev.selected("fdr<=0.1")) > 0)
        false.append(len(ev.selected("expected_false<=1")))
        small.append((ev.p_values <= 0.1).mean())
    error = math.sqrt(0.1 * 0.9 / n_sets)
    # three standard errors, because there are some thirty such checks
    assert np.mean(lists) <= 0.1 + 3 * error
    assert np.mean(named) <= 0.1 + 3 * error
    assert np.mean(false) <= 1 + 3 * np.std(false) / math.sqrt(n_sets)
    assert np.mean(small) <= 0.1 + 3 * np.std(small) / math.sqrt(n_sets)
    if statistic != "frequency":
        assert np.mean(small) >= 0.1 - 3 * np.std(small) / math.sqrt(n_sets)


def test_error_rates_hold_under_noise() -> None:
    """60 data sets: 0.1 has a standard error of 0.039."""
    check_noise(independent, "auto", 60)


@pytest.mark.slow
@pytest.mark.parametrize("statistic", ["score", "log_rank", "frequency"])
@pytest.mark.parametrize("make", [independent, blocks])
def test_error_rates_hold_under_noise_for_every_statistic(make: Any, statistic: str) -> None:
    """250 data sets: 0.1 has a standard error of 0.019."""
    check_noise(make, statistic, 250)


@pytest.mark.slow
@pytest.mark.parametrize("make", [independent, blocks])
def test_error_rates_hold_when_it_stops_by_itself(make: Any) -> None:
    """200 data sets: 0.1 has a standard error of 0.021."""
    check_noise(make, "score", 200, "auto")


def test_a_feature_in_most_runs_of_noise_is_not_named() -> None:
    X, y = np.random.default_rng(0).normal(size=(30, 200)), np.arange(30) % 2
    selector = ms.EnsembleSelector("f_statistic", n_features_to_select=20, n_resamples=40)
    ev = evidence(selector, X, y, n_resamples=None, similarity_threshold=None)
    assert ev.frequency.max() > 0.8
    assert ev.selected() == ()
    assert ev.summary().startswith("Nothing was found that noise would not give")


# ---------------------------------------------------------------------- with signal


@pytest.mark.parametrize("statistic", ["score", "log_rank", "frequency"])
def test_strong_features_are_found_and_others_are_not(statistic: str) -> None:
    X = np.column_stack([SIGNAL, np.random.default_rng(1).normal(size=(N, 50))])
    ev = evidence(X=X, statistic=statistic, n_permutations=99, n_features_to_select=5)
    assert set(ev.selected()) == {"x0", "x1"}
    assert {"x1"} <= set(ev.selected("fwer<=0.05")) <= {"x0", "x1"}
    assert ev.p_value <= 0.02
    assert ev.stability_p_value == 0.01
    assert ev.summary().startswith("There is more here than noise gives: p = 0.0")
    assert (ev.q_values >= ev.p_value).all()
    assert (np.diff(ev.q_values[np.argsort(ev.values)]) <= 0).all()


def test_the_table_has_everything_strongest_first() -> None:
    table = evidence(X=TWINS).table
    assert list(table) == [
        "feature", "statistic", "frequency", "p_value", "family_wise_p_value", "expected_false",
        "q_value", "group", "group_p_value", "group_q_value",
    ]  # fmt: skip
    assert table["q_value"].is_monotonic_increasing
    assert set(table["feature"][:3]) == {"x0", "x1", f"x{P}"}
    assert dict(zip(table["feature"], table["group"], strict=True))["x0"] == f"x0; x{P}"


def test_a_group_is_as_strong_as_its_strongest_member() -> None:
    ev, data = evidence(X=TWINS, n_permutations=30), Data.check(TWINS, Y)
    procedure = Procedure.of("f_statistic", resampling="pairs")
    rng = np.random.default_rng(0)
    runs = procedure.run(data, 10, rng, progress=False)["f_statistic"]
    seeds = rng.integers(2**62, size=30)
    repetition = Repetition(procedure, data, Permuter.of(data), 10, "score", 1)
    null = [values.tolist() for values, _ in repetition.permuted(seeds)]
    labels = ev.groups.labels.tolist()
    assert labels[0] == labels[P]
    assert len(set(labels)) == P
    observed = (runs.scores.mean(axis=0) + FStatistic().fit(TWINS, Y).scores_) / 2
    strongest = naive.strongest_of_groups(observed.tolist(), labels)
    strongest_null = [naive.strongest_of_groups(row, labels) for row in null]
    assert_allclose(ev.groups.p_values, naive.exact_p_values(strongest, strongest_null))
    assert ("x0", f"x{P}") in ev.selected_groups()
    assert_array_equal(ev.group_q_values, ev.groups.q_values[labels])


def test_without_twins_groups_are_the_features() -> None:
    ev = evidence(X=SIGNAL)
    labels = ev.groups.labels
    assert sorted(labels) == list(range(P))
    for rate in ("values", "p_values", "family_wise_p_values", "expected_false", "q_values"):
        assert_array_equal(getattr(ev.groups, rate)[labels], getattr(ev, rate))


def test_named_twins_are_counted_as_one_in_words() -> None:
    words = evidence(X=TWINS).statement
    assert "3 features can be named, 2 with twins counted as one" in words
    assert "2 features can be named:" in evidence(X=SIGNAL).statement


def test_without_groups_their_columns_are_empty() -> None:
    ev = evidence(similarity_threshold=None)
    assert ev.groups is None
    assert ev.table["group_q_value"].isna().all()
    assert (ev.table["group"] == "").all()
    with pytest.raises(InputError, match="no groups of twins were looked for"):
        ev.selected_groups()


def test_a_given_similarity_decides_who_is_a_twin() -> None:
    matrix = np.eye(P)
    matrix[3, 4] = matrix[4, 3] = 0.95
    similarity = ms.FeatureSimilarity.from_matrix(matrix, features=[f"x{j}" for j in range(P)])
    ev = evidence(similarity=similarity)
    assert ev.groups.labels[3] == ev.groups.labels[4]
    assert len(ev.groups.values) == P - 1


# ---------------------------------------------------------------------- unequal features


def levels_table(n: int = 60) -> pd.DataFrame:
    """10 columns of 2 levels and 10 of 30 levels, nothing to do with anything."""
    rng = np.random.default_rng(1)
    few = {f"few{j}": rng.choice(["a", "b"], n) for j in range(10)}
    many = {f"many{j}": rng.choice([f"l{i}" for i in range(30)], n) for j in range(10)}
    return pd.DataFrame({**few, **many})


def levels_null(table: pd.DataFrame, y: np.ndarray, m: int) -> tuple[np.ndarray, np.ndarray]:
    procedure, data = Procedure.of("information_gain", resampling="pairs"), Data.check(table, y)
    runs = procedure.run(data, 10, np.random.default_rng(0), progress=False)["information_gain"]
    repetition = Repetition(procedure, data, Permuter.of(data), 10, "score", 2)
    chosen = selections(runs, 2, 0)
    null = np.stack([values for values, _ in repetition.permuted(np.arange(m))])
    return repetition.summarise(data, runs, chosen, np.random.default_rng(0))[0], null


def test_columns_of_many_levels_do_not_crowd_out_those_of_few() -> None:
    """Information gain: without standardisation every false feature has many levels."""
    table, y = levels_table(), np.arange(60) % 2
    observed, null = levels_null(table, y, 100)
    assert not Heterogeneity.of(null).alike
    many = np.array([name.startswith("many") for name in table])
    assert many[null.argmax(axis=1)].all()
    share = many[standardised(observed, null)[1].argmax(axis=1)].mean()
    assert 0.2 < share < 0.8


def test_a_useful_column_of_two_levels_is_found_among_those_of_thirty() -> None:
    table, y = levels_table(), np.arange(60) % 2
    table["few0"] = np.where(np.arange(60) < 44, np.array(["a", "b"])[y], table["few0"])
    observed, null = levels_null(table, y, 40)
    assert expected_false(observed, null)[0] > 1
    with pytest.warns(UserWarning, match="text or categories are not compared"):
        ev = evidence("information_gain", table, y, n_permutations=40)
    assert ev.standardised
    assert ev.selected() == ("few0",)
    assert ev.groups is None


# ---------------------------------------------------------------------- rows that belong together


def test_rows_of_a_patient_are_not_evidence_of_their_own() -> None:
    """10 patients × 10 rows: what luck gave to the patients of one class looks strong by row."""
    rng = np.random.default_rng(3)
    patients, y = np.repeat(np.arange(10), 10), np.repeat(np.arange(10) % 2, 10)
    X = rng.normal(size=(10, 6))[patients] + 0.3 * rng.normal(size=(100, 6))
    options: dict[str, Any] = {"X": X, "y": y, "n_permutations": 50, "similarity_threshold": None}
    naively = evidence(**options)
    assert naively.permuted == "rows"
    assert len(naively.selected()) == 2
    patiently = evidence(**options, groups=patients)
    assert patiently.permuted == "labels of whole groups"
    assert patiently.selected() == ()


def test_what_strata_explain_is_no_evidence() -> None:
    """A feature that differs between sites, as y does, has nothing to do with y within sites."""
    rng = np.random.default_rng(0)
    sites = np.repeat([0, 1], 40)
    y = (rng.random(80) < np.where(sites == 1, 0.85, 0.15)).astype(int)
    X = rng.normal(size=(80, 5)) + 3 * sites[:, None] * (np.arange(5) == 0)
    assert evidence(X=X, y=y, n_permutations=50).selected() == ("x0",)
    ev = evidence(X=X, y=y, strata=sites, n_permutations=50)
    assert ev.permuted == "rows within strata"
    assert ev.selected() == ()


# ---------------------------------------------------------------------- rankers and data


def test_selectors_are_compared_by_how_often_they_select() -> None:
    ev = evidence(SelectKBest(k=2))
    assert ev.statistic == "frequency"
    assert set(ev.selected()) == {"x0", "x1"}
    with pytest.raises(InputError, match="needs scores, but this selector only selects"):
        evidence(SelectKBest(k=2), statistic="score")


def test_selectors_that_select_nothing_on_noise_have_words_for_it() -> None:
    strict = SelectFdr(f_classif, alpha=1e-6)
    ev = evidence(strict, SIGNAL + 5 * Y[:, None] * (np.arange(P) < 2))
    assert np.isnan(ev.null_stability).any()
    assert "nan" not in ev.summary()
    assert ev.stability_p_value == 0.05
    assert "nan" not in evidence(strict, NOISE).summary()


def test_several_rankers_are_compared_by_their_mean_ranks() -> None:
    ev = evidence(["f_statistic", Correlation()], n_permutations=50)
    assert ev.statistic == "log_rank"
    assert ev.p_value <= 0.04


@pytest.mark.parametrize(
    ("ranker", "statistic"),
    [("f_statistic", "score"), ("mrmr", "log_rank"), ("chi_square", "score")],
)
def test_scores_are_compared_where_features_are_scored_alone(ranker: str, statistic: str) -> None:
    assert evidence(ranker, SIGNAL[:, :4]).statistic == statistic


def test_a_model_that_must_be_fitted_to_every_run() -> None:
    ev = evidence("linear", SIGNAL[:, :5], n_permutations=10, n_resamples=4)
    assert ev.p_value == pytest.approx(1 / 11)


def test_numbers_and_several_classes_as_targets() -> None:
    y = SIGNAL[:, 0] + 0.3 * RNG.normal(size=N)
    assert "x0" in evidence(y=y).selected()
    classes = np.arange(N) % 3
    X = NOISE + 3 * classes[:, None] * (np.arange(P) == 5)
    assert evidence("information_gain", X, classes, n_permutations=50).selected() == ("x5",)


def test_one_run_on_all_rows_has_no_stability() -> None:
    ev = evidence(ms.EnsembleSelector("f_statistic", resampling="none"))
    assert ev.n_runs == 1
    assert math.isnan(ev.stability)
    assert math.isnan(ev.stability_p_value)
    assert ev.summary() == ev.statement
    assert set(ev.selected()) == {"x0", "x1"}


def test_rows_without_weight_are_left_out() -> None:
    weight = np.r_[np.ones(15), np.zeros(5), np.ones(15), np.zeros(5)]
    wrong = SIGNAL.copy()
    wrong[weight == 0] = 1e3 * RNG.normal(size=(10, P))
    assert set(evidence(X=wrong, sample_weight=weight).selected()) == {"x0", "x1"}
    assert evidence(X=wrong).selected() == ()


def test_sparse_data_are_the_same_as_dense_ones() -> None:
    X = np.where(np.abs(SIGNAL) > 0.7, SIGNAL, 0)
    for ranker in ("f_statistic", "information_gain"):
        same(evidence(ranker, X), evidence(ranker, sp.csr_matrix(X)))


def test_one_feature() -> None:
    ev = evidence(X=SIGNAL[:, :1])
    assert ev.selected() == ("x0",)
    assert ev.q_values[0] == pytest.approx(1 / 19)
    assert evidence(X=NOISE[:, :1]).selected() == ()


def test_constant_features_are_never_named() -> None:
    X = SIGNAL.copy()
    X[:, 5:] = 1.0
    ev = evidence(X=X)
    assert_array_equal(ev.p_values[5:], 1)
    assert set(ev.selected()) == {"x0", "x1"}


# ---------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_permutations": 9}, "9 permutations cannot resolve a level of 0.1.*at least 10"),
        ({"n_permutations": 99, "level": 0.01}, "at least 100 are needed"),
        ({"n_permutations": "x"}, "a number or 'auto', got 'x'"),
        ({"n_permutations": 0}, "n_permutations"),
        ({"n_permutations": "auto", "level": 0.001}, "at least 1000 permutations, but 'auto'"),
        ({"statistic": "rank"}, "log_rank"),
        ({"level": 0}, r"level must be a number in \(0, 1\)"),
        ({"strata": Y}, "no permutation of rows within strata changes the target"),
        ({"strata": Y[:-1]}, "strata must have one entry per row"),
        ({"strata": [None] * 3 + ["a"] * (N - 3)}, "strata .* missing in 3 rows, such as row 0"),
        ({"strata": np.r_[np.ones(N - 1), np.nan]}, f"missing in 1 row, such as row {N - 1}"),
        ({"groups": Y[:-1]}, "groups must have one entry per row"),
        ({"groups": [*range(N - 1), None]}, f"groups .* missing in 1 row, such as row {N - 1}"),
        ({"groups": np.repeat(np.arange(4), 10)}, "only 6 different targets"),
        ({"n_resamples": 0}, "n_resamples"),
        ({"n_resamples": 7}, "must be even"),
        ({"similarity_threshold": 2}, "similarity_threshold must be a number"),
    ],
)
def test_what_cannot_be_computed_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        evidence(**options)


def test_a_rule_that_the_permutations_cannot_resolve_is_refused() -> None:
    ev = evidence()
    assert ev.selected("fwer<=0.05")
    with pytest.raises(InputError, match=r"19 permutations cannot resolve 'fdr<=0.05'.*20"):
        ev.selected("fdr<=0.05")
    with pytest.raises(InputError, match=r"such as 'fdr<=0\.1'"):
        ev.selected("best")


# ---------------------------------------------------------------------- "auto"


def test_on_noise_it_stops_when_noise_did_as_well_ten_times() -> None:
    ev = evidence(X=NOISE, n_permutations="auto")
    assert ev.n_permutations == 40
    assert ev.stopped.startswith("noise did as well as the data ")
    assert ev.selected() == ()


def test_on_strong_signal_it_stops_as_soon_as_all_is_clear() -> None:
    ev = evidence(n_permutations="auto")
    assert ev.n_permutations < 100
    assert ev.stopped == "what can be named is the same within their error"
    assert set(ev.selected()) == {"x0", "x1"}


def test_on_the_border_it_goes_on_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_why_decided", lambda *_: "")
    ev = evidence(ms.EnsembleSelector("f_statistic", resampling="none"), n_permutations="auto")
    assert ev.n_permutations == 400
    assert ev.stopped == "the most that 'auto' makes, 400"


def test_a_list_at_the_border_of_the_level_is_not_decided() -> None:
    """4 of 49 permuted targets did as well: p = 0.1, which may end above 0.1 or below."""
    rng = np.random.default_rng(0)
    null = rng.normal(size=(49, 1))
    observed = np.sort(null, axis=0)[-4] - 1e-9
    assert _why_decided(observed, null, 0.1) == ""
    assert _why_decided(np.array([9.0]), null, 0.1) == (
        "what can be named is the same within their error"
    )
    assert _why_decided(np.array([-9.0]), null, 0.1) == "noise did as well as the data 49 times"


def test_the_number_of_named_features_must_be_clear_as_well() -> None:
    """Two strong features beyond doubt; a third one that noise reaches now and then."""
    rng = np.random.default_rng(0)
    null = rng.normal(size=(60, 50))
    clear = np.r_[9.0, 8.0, np.full(48, -1.0)]
    assert _why_decided(clear, null, 0.1)
    third = np.sort(null.ravel())[-15]
    assert _why_decided(np.r_[9.0, 8.0, third, np.full(47, -1.0)], null, 0.1) == ""


# ---------------------------------------------------------------------- words


@pytest.mark.parametrize("rule", ["fdr<=0.1", "fwer<=0.06", "expected_false<=1"])
def test_the_guarantee_names_null_permutations_and_assumptions_in_one_sentence(rule: str) -> None:
    words = evidence().guarantee(rule)
    assert words[0].isupper()
    assert words.endswith(".")
    assert ". " not in words
    assert "19 permutations of rows" in words
    assert "has nothing to do with the target" in words


def test_levels_keep_their_digits_in_words() -> None:
    ev = evidence(n_permutations=50, level=0.025)
    assert "false discovery rate of 2.5%" in ev.summary()
    assert "false discovery rate of 2.5%" in repr(ev)
