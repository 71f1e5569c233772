"""Resamples hold the rows they promise, and can be made again in any order."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, RepeatedKFold, TimeSeriesSplit

from mainstay import InputError
from mainstay.resampling import (
    RESAMPLINGS,
    Blocks,
    Bootstrap,
    Poisson,
    Resamples,
    Subsample,
    make_resamples,
)

N = 60
Y = np.repeat([0, 1, 2], [30, 20, 10])


def resamples(resampling: Any, n: int = 40, **options: Any) -> Resamples:
    options = {"y": Y, "classes": Y, **options}
    return make_resamples(resampling, n, N, rng=np.random.default_rng(0), **options)


REPEATED = [name for name in RESAMPLINGS if name != "none"]


@pytest.mark.parametrize("name", [*REPEATED, "folds", "stratified_folds"])
def test_any_resample_can_be_made_alone(name: str) -> None:
    n = 6 if name == "pairs" else 5
    made = resamples(name, n)
    assert len(made) == n
    again = resamples(name, n)
    for i in (3, 0, 4):
        np.testing.assert_array_equal(made.rows(i), again.rows(i))
    assert len({made.rows(i).tobytes() for i in range(n)}) == n


def test_without_resampling_there_is_one_run_that_sees_every_row_once() -> None:
    made = resamples("none", 40)
    assert len(made) == 1
    np.testing.assert_array_equal(made.rows(0), np.arange(N))


@pytest.mark.parametrize("name", [*REPEATED, "folds"])
def test_weights_count_the_rows(name: str) -> None:
    made = resamples(name, 6)
    weights = made.weights(2, 5)
    assert weights.shape == (3, N)
    for weight, i in zip(weights, (2, 3, 4), strict=True):
        np.testing.assert_array_equal(np.repeat(np.arange(N), weight), made.rows(i))


def test_a_bootstrap_draws_each_row_equally_often() -> None:
    """400 bootstraps: the count of a row has mean 400 and standard deviation 20."""
    total = resamples(Bootstrap(), 400, classes=None).weights().sum(axis=0)
    assert total.sum() == 400 * N
    assert np.abs(total - 400).max() < 5 * 20


def test_a_subsample_takes_a_share_of_different_rows() -> None:
    weights = resamples(Subsample(0.5)).weights()
    assert set(np.unique(weights)) == {0, 1}
    assert (weights.sum(axis=1) == 30).all()


@pytest.mark.parametrize("resampling", [Bootstrap(stratify=True), Subsample(0.5, stratify=True)])
def test_stratified_resamples_keep_the_share_of_every_class(resampling: Any) -> None:
    weights = resamples(resampling).weights()
    share = weights.sum(axis=1)[0] / N
    for label, size in enumerate((30, 20, 10)):
        assert (weights[:, label == Y].sum(axis=1) == share * size).all()


def test_a_resample_with_one_class_only_is_drawn_again() -> None:
    y = np.array([0] * 57 + [1] * 3)
    made = make_resamples("bootstrap", 200, N, classes=y, rng=np.random.default_rng(1))
    assert all(set(y[rows]) == {0, 1} for rows in made)


def test_resamples_that_cannot_hold_two_classes_are_reported() -> None:
    y = np.array([0] * 59 + [1])
    made = make_resamples(Subsample(0.01), 2, N, classes=y, rng=np.random.default_rng(1))
    with pytest.raises(InputError, match="more than one class; use a stratified"):
        made.rows(0)


@pytest.mark.parametrize("name", ["bootstrap", "subsample", "half", "folds"])
def test_groups_stay_together(name: str) -> None:
    groups = np.repeat(np.arange(20), 3)
    weights = resamples(name, 8, groups=groups).weights()
    by_group = weights.reshape(8, 20, 3)
    assert (by_group == by_group[:, :, :1]).all()


def test_blocks_are_consecutive_rows() -> None:
    drawn = Blocks(5).draw(N, None, np.random.default_rng(2)).reshape(-1, 5)
    assert (np.diff(drawn, axis=1) == 1).all()


@pytest.mark.parametrize(
    "splitter", [RepeatedKFold(n_splits=4, n_repeats=2, random_state=0), TimeSeriesSplit(3)]
)
def test_any_splitter_gives_its_training_parts(splitter: Any) -> None:
    made = resamples(splitter)
    for i, (train, _) in enumerate(splitter.split(Y, Y)):
        np.testing.assert_array_equal(made.rows(i), train)
    assert len(made) == splitter.get_n_splits(Y, Y)


def test_a_splitter_gets_the_groups() -> None:
    groups = np.repeat(np.arange(20), 3)
    made = resamples(GroupKFold(4), groups=groups)
    assert len(made) == 4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: resamples("bootstraps"), "Did you mean 'bootstrap'"),
        (lambda: resamples(3), "scikit-learn splitter, got 3"),
        (lambda: resamples("bootstrap", 0), "n_resamples must be a whole number at least 1"),
        (lambda: resamples("folds", 100), "number of folds.* 2 to 60"),
        (lambda: resamples("bootstrap", groups=[1, 2]), "one entry per row"),
        (lambda: resamples("bootstrap", groups=np.zeros(N)), "too few"),
        (lambda: resamples("blocks", groups=np.repeat(np.arange(20), 3)), "cannot be combined"),
        (lambda: resamples(Subsample(1.5)).rows(0), "fraction"),
        (lambda: resamples(Blocks(100)).rows(0), "length"),
    ],
)
def test_errors_say_what_was_wrong(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


# ---------------------------------------------------------------------- the Poisson bootstrap


def naive_poisson(seed: int, n: int) -> np.ndarray:
    """Row by row: the r-th 32-bit word of Philox, low half first, by the inverse of the cdf."""
    words = []
    for word in np.random.Philox(key=seed, counter=0).random_raw(-(-n // 2)).tolist():
        words += [word % 2**32, word // 2**32]
    below = [sum(math.exp(-1) / math.factorial(j) for j in range(k + 1)) for k in range(20)]
    return np.array([sum(word >= int(2**32 * limit) for limit in below) for word in words[:n]])


def test_poisson_weights_are_a_function_of_seed_and_row_number() -> None:
    whole = Poisson().weights(2**61 + 3, 0, 1000)
    np.testing.assert_array_equal(whole, naive_poisson(2**61 + 3, 1000))
    for start, stop in ((0, 1), (1, 8), (7, 300), (513, 1000)):
        part = Poisson().weights(2**61 + 3, start, stop)
        np.testing.assert_array_equal(part, whole[start:stop])
    assert (Poisson().weights(2**61 + 4, 0, 1000) != whole).any()


def test_poisson_weights_have_the_poisson_distribution() -> None:
    n = 400_000
    counts = np.bincount(Poisson().weights(11, 0, n), minlength=6)
    for k in range(6):
        expected = n * math.exp(-1) / math.factorial(k)
        assert abs(counts[k] - expected) < 4 * math.sqrt(expected)  # four standard errors


def test_poisson_weights_of_rows_and_of_resamples_are_independent() -> None:
    n = 200_000
    first, second = (Poisson().weights(seed, 0, n).astype(float) - 1 for seed in (5, 6))
    error = 1 / math.sqrt(n)  # of a correlation
    assert abs(np.mean(first * second)) < 4 * error
    assert abs(np.mean(first[1:] * first[:-1])) < 4 * error


def test_poisson_resamples_draw_whole_groups_and_agree_with_their_rows() -> None:
    groups = np.repeat(np.arange(20), 3)
    made = resamples("poisson", 6, groups=groups)
    weights = made.weights()
    assert (np.ptp(weights.reshape(6, 20, 3), axis=2) == 0).all()
    for i in range(6):
        np.testing.assert_array_equal(np.bincount(made.rows(i), minlength=N), weights[i])


def test_a_poisson_resample_without_two_classes_is_an_error() -> None:
    made = make_resamples(
        "poisson", 50, 4, classes=np.array([0, 0, 0, 1]), rng=np.random.default_rng(0)
    )
    with pytest.raises(InputError, match="too few rows"):
        made.weights()


def test_weights_take_one_byte_unless_a_row_comes_more_often() -> None:
    assert resamples(Bootstrap()).weights().dtype == np.int8
    many = Resamples(300, splits=(np.arange(300), np.zeros(300, dtype=np.intp)))
    assert many.weights().dtype == np.int16
    assert many.weights()[1, 0] == 300
