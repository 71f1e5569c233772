"""Agreement within pairs of halves of one data set, and how sure it is about other data sets."""

from __future__ import annotations

import numpy as np
import pytest

import mainstay as ms
from mainstay.reliability.agreement import PairAgreement, chance_agreement
from mainstay.resampling import Pairs

P, K = 200, 10


def best(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The K features whose classes differ most, as a selection."""
    first, second = X[y == 0], X[y == 1]
    error = first.var(axis=0) / len(first) + second.var(axis=0) / len(second)
    chosen = np.argsort(-((first.mean(axis=0) - second.mean(axis=0)) ** 2) / error)[:K]
    return np.isin(np.arange(P), chosen)


def data_set(n: int, signal: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    y = np.repeat([0, 1], n // 2)
    X = rng.normal(size=(n, P))
    X[:, : 2 * K] += signal * (y[:, None] - 0.5)
    return X, y


def agreement(first: np.ndarray, second: np.ndarray) -> float:
    return float(((first & second).sum() / K - K / P) / (1 - K / P))


@pytest.mark.parametrize("signal", [0.0, 0.6])
def test_intervals_over_pairs_cover_what_independent_studies_reach(signal: float) -> None:
    rng = np.random.default_rng(0)
    n, n_sets, n_pairs = 80, 50, 10
    studies = np.stack([best(*data_set(n // 2, signal, rng)) for _ in range(200)])
    truth = float(ms.stability(ms.Runs.from_support(studies), "nogueira"))
    chance = chance_agreement("nogueira", K, P)
    means, covered, covered_by_jackknife = [], [], []
    for _ in range(n_sets):
        X, y = data_set(n, signal, rng)
        halves = [Pairs().halves(n, y, None, rng) for _ in range(n_pairs)]
        values = np.array([agreement(*(best(X[half], y[half]) for half in two)) for two in halves])
        found = PairAgreement("nogueira", values, chance)
        means.append(found.value)
        covered.append(found.interval[0] <= truth <= found.interval[1])
        reach = 2.26 * values.std(ddof=1) / np.sqrt(n_pairs)
        covered_by_jackknife.append(abs(found.value - truth) <= reach)
    assert np.mean(means) == pytest.approx(truth, abs=0.03)  # standard error 0.01
    assert np.mean(covered) >= 0.9
    assert np.mean(covered_by_jackknife) < 0.85  # the spread over pairs of one data set is not it


@pytest.mark.parametrize("measure", ["nogueira", "jaccard", "hamming", "kuncheva"])
def test_chance_agreement_is_that_of_random_selections(measure: str) -> None:
    rng = np.random.default_rng(1)
    values = []
    for _ in range(600):
        sets = [rng.choice(30, 5, replace=False) for _ in range(2)]
        values.append(float(ms.stability(ms.Runs.from_sets(sets, 30), measure)))
    mean, spread = chance_agreement(measure, 5, 30)
    assert mean == pytest.approx(np.mean(values), abs=4 * spread / np.sqrt(600))
    assert spread == pytest.approx(np.std(values), rel=0.15)


def test_pairs_that_agree_equally_are_not_certain() -> None:
    chance = chance_agreement("nogueira", K, P)
    nothing = PairAgreement("nogueira", np.full(10, -K / (P - K)), chance)
    assert nothing.interval[0] < nothing.value < 0 < nothing.interval[1]
    everything = PairAgreement("nogueira", np.ones(10), chance)
    assert everything.standard_error == 0  # random selections have no room
    # yet 10 pairs cannot exclude that a quarter of all pairs agrees on nothing
    assert everything.interval == (pytest.approx(0.05 ** (1 / 10)), 1)


def test_intervals_stay_within_the_measure() -> None:
    wide = PairAgreement("jaccard", np.array([0.0, 1.0, 0.2, 0.9]))
    assert wide.interval == (0, 1)
