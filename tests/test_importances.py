"""Stability of selections whose features carry importances."""

from __future__ import annotations

import numpy as np
import pytest

import mainstay as ms
import naive

NAME = "importance_weighted"


def importances(rng: np.random.Generator, m: int, p: int) -> np.ndarray:
    """Gamma importances of about a third of the features."""
    return np.where(rng.random((m, p)) < 0.3, rng.gamma(1.0, size=(m, p)), 0.0)


def value(scores: np.ndarray, **options: object) -> float:
    return float(ms.stability(ms.Runs.from_scores(scores), NAME, **options))  # type: ignore[arg-type]


def test_equals_the_naive_twin_with_every_run_left_out() -> None:
    scores = importances(np.random.default_rng(0), 7, 15)
    estimate = ms.stability(ms.Runs.from_scores(scores), NAME)
    assert estimate.value == pytest.approx(naive.importance_weighted(scores.tolist()))
    without = [naive.importance_weighted(np.delete(scores, i, axis=0).tolist()) for i in range(7)]
    assert estimate.leave_one_out == pytest.approx(without)


def test_reference_value_by_hand() -> None:
    """Weights (1.5, 0.5, 0) and (1.5, 0, 0.5): s² = 0, ⅛, ⅛; all six: mean square 5/6, mean ⅔."""
    by_hand = 1 - (0.25 / 3) / (5 / 6 - 4 / 9)
    assert value(np.array([[3.0, 1.0, 0.0], [6.0, 0.0, 2.0]])) == pytest.approx(by_hand)


def test_equal_importances_give_nogueira_for_any_sizes() -> None:
    rng = np.random.default_rng(1)
    support = rng.random((8, 20)) < np.linspace(0.1, 0.9, 20)
    scale = rng.uniform(0.1, 10, (8, 1))
    estimate = ms.stability(ms.Runs.from_scores(support * scale), NAME)
    of_sets = ms.stability(ms.Runs.from_support(support))
    assert estimate.value == pytest.approx(of_sets.value)
    assert estimate.leave_one_out == pytest.approx(of_sets.leave_one_out)
    assert estimate.interval == pytest.approx(of_sets.interval)


def test_the_scale_of_a_run_does_not_matter() -> None:
    rng = np.random.default_rng(2)
    scores = importances(rng, 6, 12)
    assert value(scores * rng.uniform(0.1, 9, (6, 1))) == pytest.approx(value(scores))


def test_disagreement_about_unimportant_features_counts_less() -> None:
    base = np.zeros((4, 10))
    base[:, 0] = 1.0
    values = []
    for weight in (0.1, 0.5, 1.0):
        scores = base.copy()
        scores[np.arange(4), 1 + np.arange(4)] = weight  # everyone has another second feature
        values.append(value(scores))
    assert values[0] > 0.95
    assert values == sorted(values, reverse=True)


def test_importances_dealt_to_features_at_random_score_0() -> None:
    """200 repetitions, 4 standard errors."""
    rng = np.random.default_rng(3)
    dealt = np.array([5.0, 3.0, 2.0, 1.0, 0.5] + [0.0] * 15)
    repeats = [value(np.array([rng.permutation(dealt) for _ in range(6)])) for _ in range(200)]
    assert abs(np.mean(repeats)) < 4 * np.std(repeats, ddof=1) / np.sqrt(200)


def test_the_k_most_important_features_of_every_run() -> None:
    rng = np.random.default_rng(4)
    scores = rng.gamma(1.0, size=(5, 9))
    cut = np.where(scores >= np.sort(scores, axis=1)[:, [-3]], scores, 0.0)
    ranked = ms.Runs.from_scores(scores)
    assert float(ms.stability(ranked, f"{NAME}@3")) == pytest.approx(value(cut))
    assert value(scores, k=3) == pytest.approx(value(cut))


def test_negative_importances_and_runs_without_scores_are_refused() -> None:
    with pytest.raises(ms.InputError, match=r"negative: 'x1'.*absolute values"):
        value(np.array([[1.0, -1.0], [1.0, 2.0]]))
    with pytest.raises(ms.InputError, match="compares scores"):
        ms.stability(ms.Runs.from_sets([[0], [1]], features=3), NAME)


def test_runs_that_select_nothing_at_all_are_undefined() -> None:
    with pytest.warns(UserWarning, match="undefined"):
        assert np.isnan(value(np.zeros((3, 4))))
