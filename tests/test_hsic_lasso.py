"""HSICLasso: order of entry into a non-negative lasso on kernels."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import mainstay as ms
import naive_hsic_lasso as naive
from mainstay.rankers import HSICLasso, list_rankers, make_ranker
from mainstay.rankers.hsic_lasso import entry_penalties


def problem(seed: int, n: int = 30, p: int = 8) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, classes and numbers that depend on some of them, not only linearly."""
    rng = np.random.default_rng(seed)
    classes = np.arange(n) % 3
    X = rng.normal(size=(n, p)) + np.outer(classes, rng.random(p) * (np.arange(p) < 3))
    return X, classes, X[:, 0] + np.sin(3 * X[:, 1]) + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["class", "continuous"])
def test_features_enter_where_the_naive_lasso_lets_them_in(seed: int, kind: str) -> None:
    X, classes, numbers = problem(seed)
    y = classes if kind == "class" else numbers
    scores = HSICLasso(target=kind).fit(X, y).scores_
    F, target = naive.kernel_vectors(X.tolist(), y.tolist(), classes=kind == "class")
    largest = (F @ target).max()
    assert scores.max() == pytest.approx(1)
    assert scores.argmax() == (F @ target).argmax()
    entries = np.sort(scores[scores > 1e-3])[::-1]
    assert len(entries) >= 3
    for above, below in pairwise(entries):  # between two corners of the path
        middle = (above + below) / 2
        inside = naive.non_negative_lasso(F, target, largest * middle) > 1e-9
        assert inside.any()
        assert not inside[scores < middle].any()
        newest = np.flatnonzero(scores == above)  # has just entered, and cannot have left
        if above - below > 1e-4:
            assert inside[newest].all()


def test_dependence_without_correlation_is_seen() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 20))
    X[50:, 7] = -X[:50, 7]
    y = X[:, 7] ** 2 + 0.3 * np.tile(rng.normal(size=50), 2)
    assert HSICLasso().fit(X, y).ranks_[7] == 1
    assert make_ranker("correlation").fit(X, y).ranks_[7] == 20


def test_a_feature_that_says_the_same_again_comes_later_than_one_that_adds_something() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 200))
    again = a + 0.1 * rng.normal(size=200)
    X, y = np.column_stack([a, again, b]), a + 0.7 * b
    alone = [HSICLasso().fit(X[:, [j]], y) for j in range(3)]
    assert all(ranker.scores_[0] == pytest.approx(1) for ranker in alone)
    ranks = HSICLasso().fit(X, y).ranks_
    assert ranks[2] < max(ranks[:2])
    first = make_ranker("correlation").fit(X, y).ranks_  # looks at every feature alone
    assert first[2] == 3


def test_copies_tie_and_constants_are_last() -> None:
    X, y, _ = problem(0)
    X = np.column_stack([X, X[:, 0], np.ones(len(y)), 1e9 + 1e-9 * X[:, 1]])
    scores = HSICLasso().fit(X, y).scores_
    assert scores[8] == pytest.approx(scores[0], rel=1e-9)
    assert scores[9] == scores[10] == 0


def test_the_order_of_the_columns_and_of_the_rows_does_not_matter() -> None:
    X, y, _ = problem(2)
    table = pd.DataFrame(X, columns=[f"g{j}" for j in range(X.shape[1])])
    scores = pd.Series(HSICLasso().fit(table, y).scores_, table.columns)
    shuffled = table.sample(frac=1, axis=1, random_state=0)
    again = pd.Series(HSICLasso().fit(shuffled, y).scores_, shuffled.columns)
    pd.testing.assert_series_equal(again[table.columns], scores)
    rows = np.random.default_rng(0).permutation(len(y))
    np.testing.assert_allclose(HSICLasso().fit(X[rows], y[rows]).scores_, scores, atol=1e-12)


def test_a_path_that_stops_early_orders_the_rest_below_those_that_entered() -> None:
    X, y, _ = problem(3, n=60, p=12)
    whole, part = HSICLasso().fit(X, y), make_ranker("hsic_lasso@3").fit(X, y)
    best = np.argsort(-whole.scores_)[:3]
    np.testing.assert_allclose(part.scores_[best], whole.scores_[best])
    rest = np.delete(part.scores_, best)
    assert rest.max() <= part.scores_[best].min()
    assert len(np.unique(rest[rest > 0])) == (rest > 0).sum() > 3


def test_blocks_compare_rows_within_them_only() -> None:
    X, y, _ = problem(5, n=90)
    whole = HSICLasso().fit(X, y)
    for size in (90, 500):
        np.testing.assert_array_equal(HSICLasso(block_size=size).fit(X, y).scores_, whole.scores_)
    blocks = HSICLasso(block_size=30).fit(X, y)
    assert not np.allclose(blocks.scores_, whole.scores_)
    assert blocks.scores_.argmax() == whole.scores_.argmax()
    other = HSICLasso(block_size=30, random_state=1).fit(X, y)
    assert not np.allclose(blocks.scores_, other.scores_)


def test_a_coefficient_may_fall_to_zero_again() -> None:
    rng = np.random.default_rng(0)
    for _ in range(30):  # by chance, paths of few correlated vectors drop some of them
        F = np.abs(rng.normal(size=(6, 4)))
        F /= np.linalg.norm(F, axis=1, keepdims=True)
        target = np.abs(rng.normal(size=4))
        scores = entry_penalties(F, target, 6)
        largest = (F @ target).max()
        for share in (0.9, 0.5, 0.2, 0.05):
            inside = naive.non_negative_lasso(F, target, largest * share) > 1e-8
            assert not inside[scores < share * (1 - 1e-9)].any()


def test_no_dependence_at_all_gives_zeros() -> None:
    np.testing.assert_array_equal(HSICLasso().fit(np.ones((10, 3)), [0, 1] * 5).scores_, 0)


def test_missing_values_and_nonsense_are_refused() -> None:
    with pytest.raises(ms.InputError, match="x0"):
        HSICLasso().fit([[np.nan], [1.0], [2.0]], [0, 1, 1])
    with pytest.raises(ms.InputError, match="block_size"):
        HSICLasso(block_size=1).fit([[0.0], [1.0], [2.0]], [0, 1, 1])


def test_it_has_a_name() -> None:
    row = list_rankers().set_index("name").loc["hsic_lasso"]
    assert row["class"] == "HSICLasso"
    assert "Yamada" in row["reference"]
