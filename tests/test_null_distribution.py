"""p-values, q-values and permuted targets: they are what the formulas say, and hold under noise."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

import naive_evidence as naive
from mainstay import InputError
from mainstay.data import Data
from mainstay.reliability import ErrorRule
from mainstay.reliability.null_distribution import (
    Heterogeneity,
    comparable,
    exact_p_values,
    expected_false,
    family_wise_p_values,
    list_p_value,
    q_values,
    standardised,
)
from mainstay.reliability.permutation import Permuter

# ---------------------------------------------------------------------- as the formulas say


@st.composite
def statistics(draw: Any, fewest: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Observed and null statistics of few different values, so that there are ties."""
    m, p = draw(st.integers(fewest, 9)), draw(st.integers(1, 7))
    both = draw(arrays(float, (m + 1, p), elements=st.integers(-3, 3).map(float)))
    return both[0], both[1:]


@settings(max_examples=150, deadline=None)
@given(statistics())
def test_p_and_q_values_are_those_of_the_loops(both: tuple[np.ndarray, np.ndarray]) -> None:
    observed, null = both
    pairs: Any = [
        (exact_p_values, naive.exact_p_values),
        (family_wise_p_values, naive.family_wise_p_values),
        (expected_false, naive.expected_false),
        (q_values, naive.q_values),
    ]
    for fast, slow in pairs:
        assert_allclose(fast(observed, null), slow(observed.tolist(), null.tolist()), rtol=1e-12)


@settings(max_examples=150, deadline=None)
@given(statistics())
def test_the_p_value_of_the_list_is_that_of_the_loops(both: tuple[np.ndarray, np.ndarray]) -> None:
    observed, null = both
    assert list_p_value(observed, null) == pytest.approx(
        naive.list_p_value(observed.tolist(), null.tolist())
    )


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 12), st.integers(1, 8), st.integers(0, 10**6))
def test_standardised_statistics_are_those_of_the_loops(m: int, p: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.integers(-3, 4, size=p)
    observed, null = 5 + scale * rng.normal(size=p), 5 + scale * rng.normal(size=(m, p))
    assert list_p_value(*standardised(observed, null)) == pytest.approx(
        naive.list_p_value(observed.tolist(), null.tolist(), standardise=True)
    )
    expected = naive.standardised_by_others([observed.tolist(), *null.tolist()])
    assert_allclose(np.vstack(standardised(observed, null)), expected, rtol=1e-6)


@settings(max_examples=100, deadline=None)
@given(statistics())
def test_p_and_q_values_stay_in_their_range_and_fall_with_the_statistic(
    both: tuple[np.ndarray, np.ndarray],
) -> None:
    observed, null = both
    m = len(null)
    for p in (exact_p_values(observed, null), family_wise_p_values(observed, null)):
        assert ((p >= 1 / (m + 1)) & (p <= 1)).all()
    assert 1 / (m + 1) <= list_p_value(observed, null) <= 1
    for falling in (family_wise_p_values, expected_false, q_values):
        values = falling(observed, null)[np.argsort(observed, kind="stable")]
        assert (np.diff(values) <= 0).all()
    assert (q_values(observed, null) <= 1).all()
    assert (family_wise_p_values(observed, null) >= exact_p_values(observed, null)).all()


@pytest.mark.parametrize("distinct", [3, 100, 2_000])
def test_many_statistics_are_compared_as_few_are(distinct: int) -> None:
    """More than are looked through at once, with ties that go on from one part to the next."""
    values = np.random.default_rng(0).integers(0, distinct, (30, 5_000)).astype(float)
    values[0] += distinct / 100
    reached = [(values >= value).sum() for value in np.unique(values)]
    at = np.searchsorted(np.unique(values), np.sort(values, axis=1)[:, ::-1])
    rates = np.array(reached)[at] / np.arange(1, 5_001)
    smallest = rates.min(axis=1)
    assert list_p_value(values[0], values[1:]) == (smallest <= smallest[0]).mean()


def test_a_statistic_that_never_varies_is_no_evidence_and_breaks_nothing() -> None:
    observed, null = np.zeros(4), np.zeros((10, 4))
    assert_array_equal(exact_p_values(observed, null), 1)
    assert_array_equal(q_values(observed, null), 1)
    assert list_p_value(observed, null) == 1
    assert list_p_value(*standardised(observed, null)) == 1
    assert Heterogeneity.of(null) == Heterogeneity(0.0, 0.0)


# ---------------------------------------------------------------------- under noise


def independent(rng: np.random.Generator, m: int) -> np.ndarray:
    return rng.normal(size=(m, 12))


def twins(rng: np.random.Generator, m: int) -> np.ndarray:
    return np.repeat(rng.normal(size=(m, 3)), 4, axis=1) + 0.1 * rng.normal(size=(m, 12))


def counts(rng: np.random.Generator, m: int) -> np.ndarray:
    return rng.binomial(6, 0.2, size=(m, 12)) / 6


def unequal(rng: np.random.Generator, m: int) -> np.ndarray:
    return np.r_[np.zeros(6), np.full(6, 5.0)] + rng.gamma(2, np.r_[[1.0] * 6, [3.0] * 6], (m, 12))


NOISE = {"independent": independent, "twins": twins, "counts": counts, "unequal": unequal}


@pytest.mark.parametrize("standardise", [False, True])
@pytest.mark.parametrize("kind", NOISE)
def test_the_p_value_of_the_list_holds_under_noise(kind: str, standardise: bool) -> None:
    """1,500 data sets, 19 permutations: P(p ≤ 0.1) = 0.1 without ties, standard error 0.008."""
    rng, n_sets = np.random.default_rng(1), 1500
    rejected = 0
    for _ in range(n_sets):
        values = NOISE[kind](rng, 20)
        both = values[0], values[1:]
        rejected += list_p_value(*(standardised(*both) if standardise else both)) <= 0.1
    error = math.sqrt(0.1 * 0.9 / n_sets)
    assert rejected / n_sets <= 0.1 + 2 * error
    if kind != "counts":
        assert rejected / n_sets >= 0.1 - 3 * error


@pytest.mark.parametrize("kind", NOISE)
def test_noise_brings_as_many_false_features_as_expected(kind: str) -> None:
    """1,500 data sets, 19 permutations, standard error as measured."""
    rng, named = np.random.default_rng(2), []
    for _ in range(1500):
        values = NOISE[kind](rng, 20)
        named.append((expected_false(values[0], values[1:]) <= 1).sum())
    error = np.std(named) / math.sqrt(len(named))
    assert np.mean(named) <= 1 + 2 * error
    assert np.mean(named) >= (0.3 if kind == "counts" else 0.75)


# ---------------------------------------------------------------------- unequal features


def test_features_with_the_same_null_distribution_stay_as_they_are() -> None:
    rng = np.random.default_rng(0)
    observed, null = rng.normal(size=200), rng.normal(size=(50, 200))
    values, null_values, changed = comparable(observed, null)
    assert not changed
    assert values is observed
    assert null_values is null


@pytest.mark.parametrize(("shift", "scale"), [(1.0, 1.0), (0.0, 2.0)])
def test_differences_of_location_and_of_scale_are_seen(shift: float, scale: float) -> None:
    rng, half = np.random.default_rng(0), np.arange(200) < 100
    null = np.where(half, shift, 0) + np.where(half, scale, 1) * rng.normal(size=(50, 200))
    seen = Heterogeneity.of(null)
    assert not seen.alike
    assert seen.location == pytest.approx(shift / 2, abs=0.12)
    assert seen.scale == pytest.approx(math.log(scale) / 2, abs=0.06)


def test_standardised_features_are_alike() -> None:
    rng = np.random.default_rng(0)
    scale = np.geomspace(1, 100, 300)
    _, null, changed = comparable(scale, scale * (3 + rng.normal(size=(60, 300))))
    assert changed
    assert Heterogeneity.of(null).alike


def test_uncertain_standard_deviations_are_drawn_together_and_true_differences_are_kept() -> None:
    rng = np.random.default_rng(3)
    noise = rng.normal(size=(61, 2000))
    for scale, left in ((np.ones(2000), 0.0), (np.exp(rng.normal(size=2000)), 1.0)):
        both = 2 * scale * noise
        centred = both[0] - both[1:].mean(axis=0)
        divisors = centred / standardised(both[0], both[1:])[0]
        seen = np.log(divisors).std()
        assert seen == pytest.approx(left, abs=0.04)  # each sd by itself: 0.09 where all are equal


# ---------------------------------------------------------------------- permuted targets


def data_of(y: Any, groups: Any = None) -> Data:
    data = Data.check(np.random.default_rng(0).normal(size=(len(y), 2)), np.asarray(y))
    # two groups are refused of a whole data set; its parts may have them
    return data if groups is None else replace(data, groups=np.asarray(groups))


def drawn(permuter: Permuter, n: int = 30) -> list[np.ndarray]:
    return [permuter.draw(np.random.default_rng(seed)) for seed in range(n)]


def test_whole_patients_with_one_label_each_change_labels_together() -> None:
    patients = np.repeat(np.arange(12), 3)
    labels = np.arange(12) % 2
    permuter = Permuter.of(data_of(labels[patients], patients))
    assert permuter.what == "labels of whole groups"
    for y in drawn(permuter):
        by_patient = [set(y[patients == patient]) for patient in range(12)]
        assert all(len(one) == 1 for one in by_patient)
        assert sum(one == {1} for one in by_patient) == 6
    assert len({tuple(y) for y in drawn(permuter)}) > 1


def test_labels_that_differ_within_patients_stay_within_them() -> None:
    patients = np.array([3, 1, 2, 3, 1, 2, 3, 1, 2])
    labels = np.array([0, 0, 0, 1, 1, 1, 1, 0, 0])
    permuter = Permuter.of(data_of(labels, patients))
    assert permuter.what == "labels within groups"
    for y in drawn(permuter):
        for patient in (1, 2, 3):
            assert Counter(y[patients == patient]) == Counter(labels[patients == patient])
    assert len({tuple(y) for y in drawn(permuter)}) > 5


def test_nothing_leaves_its_stratum() -> None:
    rng = np.random.default_rng(0)
    y, sites = rng.normal(size=12), np.array(["a", "b", "c"])[np.arange(12) % 3]
    permuter = Permuter.of(data_of(y), sites)
    assert permuter.what == "rows within strata"
    for target in drawn(permuter):
        for site in "abc":
            assert set(target[sites == site]) == set(y[sites == site])
        assert not np.array_equal(target, y)


def test_whole_groups_stay_in_their_stratum() -> None:
    patients, sites = np.repeat(np.arange(8), 2), np.repeat([0, 1], 8)
    y = np.repeat([0, 1, 1, 1, 0, 0, 0, 1], 2)
    for target in drawn(Permuter.of(data_of(y, patients), sites)):
        assert target[sites == 0].sum() == 6
        assert target[sites == 1].sum() == 2
        assert (target[::2] == target[1::2]).all()


def test_every_target_is_drawn_equally_often() -> None:
    """6,000 draws of 6 targets: 1,000 each, standard deviation 29."""
    permuter = Permuter.of(data_of([0, 0, 1, 1]))
    seen = Counter(tuple(y.tolist()) for y in drawn(permuter, 6000))
    assert set(seen) == naive.different_targets([0, 0, 1, 1], [0] * 4)
    assert max(abs(count - 1000) for count in seen.values()) < 4 * 29


@pytest.mark.parametrize(
    ("y", "groups", "strata", "units", "blocks"),
    [
        ([0, 0, 1, 1, 1, 0], None, None, [0, 0, 1, 1, 1, 0], [0] * 6),
        ([0, 1, 2, 0, 1, 2], None, "aabbbb", [0, 1, 2, 0, 1, 2], [0, 0, 1, 1, 1, 1]),
        ([0, 0, 1, 1, 2, 0], [0, 0, 1, 1, 2, 3], None, [0, 1, 2, 0], [0] * 4),
        ([0, 1, 0, 1, 1, 0], [0, 0, 1, 1, 1, 1], None, [0, 1, 0, 1, 1, 0], [0, 0, 1, 1, 1, 1]),
    ],
)
def test_the_number_of_targets_is_that_of_trying_all(
    y: Any, groups: Any, strata: Any, units: Any, blocks: Any
) -> None:
    permuter = Permuter.of(data_of(y, groups), None if strata is None else list(strata))
    assert math.exp(permuter.log_count) == pytest.approx(
        len(naive.different_targets(units, blocks))
    )


@pytest.mark.parametrize(
    ("y", "groups", "strata", "message"),
    [
        ([0, 1, 0, 1], None, [0, 1, 0, 1], "no permutation of rows within strata changes"),
        ([0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 1, 1], "labels of whole groups within strata changes"),
        ([0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1], "a group has rows in several strata"),
        ([0, 0, 1, 1], None, [0, 1, 1], r"one entry per row \(4\), got shape \(3,\)"),
        ([0, 0, 1, 1], None, [[0, 1, 1, 0]], r"got shape \(1, 4\)"),
    ],
)
def test_targets_that_cannot_be_permuted_are_refused(
    y: Any, groups: Any, strata: Any, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        Permuter.of(data_of(y, groups), strata)


def test_too_few_different_targets_are_refused_with_the_number_needed() -> None:
    permuter = Permuter.of(data_of(np.repeat([0, 0, 1, 1], 5), np.repeat(np.arange(4), 5)))
    permuter.check_resolution(1 / 6)
    with pytest.raises(InputError, match=r"only 6 different targets.*at least 10 are needed"):
        permuter.check_resolution(0.1)


# ---------------------------------------------------------------------- rules


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["fdr", "fwer", "expected_false"]), st.floats(0.001, 0.999))
def test_a_rule_is_read_as_it_is_written(kind: Any, level: float) -> None:
    rule = ErrorRule(kind, float(f"{level:g}"))
    assert ErrorRule.parse(str(rule)) == rule
    assert ErrorRule.parse(f"  {kind} <= {rule.level} ") == rule
    assert ErrorRule.is_rule(str(rule))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fdr<0.1", "'fdr<=0.1', 'fwer<=0.05' or 'expected_false<=1'"),
        ("fdr<=1.5", "between 0 and 1"),
        ("fwer<=0", "between 0 and 1"),
        ("expected_false<=0", "above 0"),
        ("fdr<=1..2", "no number"),
        ("power<=0.1", "an error rule is such as"),
    ],
)
def test_rules_that_mean_nothing_are_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        ErrorRule.parse(text)


@pytest.mark.parametrize(
    ("text", "fewest"),
    [("fdr<=0.1", 10), ("fdr<=0.05", 20), ("fwer<=0.05", 19), ("expected_false<=2", 1)],
)
def test_the_fewest_permutations_of_a_rule_reach_its_level_and_one_less_does_not(
    text: str, fewest: int
) -> None:
    rule = ErrorRule.parse(text)
    assert rule.fewest_permutations == fewest
    smallest = {
        "fdr": lambda m: 1 / m,
        "fwer": lambda m: 1 / (m + 1),
        "expected_false": lambda m: 1 / (m + 1),
    }[rule.kind]
    assert smallest(fewest) <= rule.level * (1 + 1e-12)
    assert fewest == 1 or smallest(fewest - 1) > rule.level


def test_levels_are_written_with_all_their_digits() -> None:
    assert "at most 2.5% of" in ErrorRule("fdr", 0.025).in_words
    assert "at most 10% of" in ErrorRule("fdr", 0.1).in_words
