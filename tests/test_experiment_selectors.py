"""The selectors that the papers' experiments are made of."""

from __future__ import annotations

import sys
from functools import partialmethod
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "experiments"))

import _bommert_selectors as bommert
import _onda_ensembles as ensembles
import _onda_forests as onda
from _bare_trees import bare_trees
from _multiway_trees import multiway_forest
from _onda_trees import Columns
from _selectors import binned, trees_using

import mainstay as ms

RNG = np.random.default_rng(0)
Y = np.arange(40) % 2
X = (RNG.normal(size=(40, 30)) + 1.5 * np.outer(Y, np.arange(30) < 4)).astype(np.float32)


# ---------------------------------------------------------------------- compiled forests


def test_compiled_forests_have_the_importances_of_scikit_learn_up_to_chance() -> None:
    rng = np.random.default_rng(1)
    y = rng.permutation(np.repeat([0, 1, 2], 20))
    wide = rng.normal(size=(60, 300)) + np.outer(y, np.arange(300) < 5)
    wide[:, 150:] = np.round(wide[:, 150:])  # ties
    onda.check_trees(onda.Data("none", 5, wide.astype(np.float32), y), forests=20)


def test_the_check_of_compiled_forests_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    other = partialmethod(Columns.importances, bootstrap=False)
    monkeypatch.setattr(Columns, "importances", other)
    rng = np.random.default_rng(1)
    wide = rng.normal(size=(60, 300)).astype(np.float32)
    with pytest.raises(RuntimeError, match="differ"):
        onda.check_trees(onda.Data("none", 5, wide, rng.integers(0, 2, 60)), forests=20)


def test_without_a_random_part_a_compiled_tree_is_scikit_learns() -> None:
    x = np.sort(RNG.normal(size=(1, 60))).T.astype(np.float32)
    y = np.array([0] * 20 + [1] * 15 + [2] * 25)
    both = np.column_stack([x, np.round(x)])  # the second is never better
    ours = Columns(both, y).importances([1], 2, 0, bootstrap=False)[0]
    tree = DecisionTreeClassifier(random_state=0).fit(x, y)
    assert tree.tree_.node_count == 5
    np.testing.assert_allclose(ours.sum(), 1)
    assert ours[0] > 0.99


def test_smaller_forests_are_the_first_trees_of_larger_ones() -> None:
    columns = Columns(X, Y)
    both = columns.importances([10, 30], 5, 3)
    np.testing.assert_array_equal(columns.importances([10], 5, 3)[0], both[0])
    assert not np.array_equal(columns.importances([10], 5, 4)[0], both[0])


def test_nodes_of_few_rows_are_leaves_if_asked_for() -> None:
    columns = Columns(X, Y)
    assert (columns.importances([5], 5, 0, min_rows=41)[0] == 0).all()
    few, many = (columns.importances([5], 5, 0, min_rows=m)[0] > 0 for m in (20, 2))
    assert 0 < few.sum() < many.sum()


def test_more_rows_than_fit_into_bytes_are_refused() -> None:
    with pytest.raises(ValueError, match="255"):
        Columns(np.zeros((256, 1)), np.zeros(256))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"criterion": "entropy", "max_features": 3},
        {"min_samples_leaf": 3},
        {"max_depth": 2},
        {"bootstrap": False},
    ],
)
def test_bare_trees_are_scikit_learns_bit_for_bit(options: dict) -> None:
    forest = RandomForestClassifier(7, random_state=5, **options).fit(X, Y)
    bare = list(bare_trees(X, Y, 7, 5, **options))
    for ours, theirs in zip(bare, forest.estimators_, strict=True):
        np.testing.assert_array_equal(ours.feature, theirs.tree_.feature)
        np.testing.assert_array_equal(ours.threshold, theirs.tree_.threshold)


# ---------------------------------------------------------------------- onda2021


def test_selections_survive_being_written_as_steps() -> None:
    chosen = np.sort(RNG.choice(1000, (3, 2, 10)), axis=-1)
    np.testing.assert_array_equal(onda.from_steps(onda.as_steps(chosen)), chosen)


def test_mean_ranks_are_those_of_the_library() -> None:
    scores = RNG.normal(size=(7, 12))
    found = ensembles.mean_ranks(scores, [3, 7])
    for m, ours in zip((3, 7), found, strict=True):
        library = ms.aggregate(ms.Runs.from_scores(scores[:m]), "rank_mean").scores
        np.testing.assert_allclose(ours, library, rtol=1e-12)


@pytest.mark.parametrize("kind", onda.KINDS)
def test_single_forests_never_see_the_sample_left_out(kind: str) -> None:
    data = onda.Data("none", 5, X, Y)
    shuffle = np.random.default_rng(0).permutation(39)
    for left_out in (0, 17, 39):
        rows = onda._rows_of(data, left_out, kind, np.random.default_rng(1), shuffle)
        assert left_out not in rows
        share = 2 / 3 if kind == "two thirds" else 1 / 2
        assert len(rows) == pytest.approx(share * 39, abs=1.5)
        if kind not in ("unstratified", "same halves", "same halves and seed", "bootstrap"):
            assert abs(np.mean(Y[rows]) - 0.5) < 0.06


# ---------------------------------------------------------------------- nogueira2015


def test_bins_are_of_equal_width_or_frequency() -> None:
    x = np.array([[0.0], [1], [2], [3], [4], [100]])
    assert binned(x, 2, "width").ravel().tolist() == [0, 0, 0, 0, 0, 1]
    assert binned(x, 2, "frequency").ravel().tolist() == [0, 0, 0, 1, 1, 1]
    assert (binned(np.ones((4, 1)), 3, "width") == 0).all()


def test_a_multiway_tree_uses_what_tells_the_class_and_nothing_after_it() -> None:
    codes = np.array([np.arange(60) % 3, RNG.integers(0, 3, 60)])
    used = multiway_forest(codes, codes[0], 3, 3, 2, 20, 0)
    assert used[:, 0].all()
    assert not used[:, 1].any()
    either = multiway_forest(codes, codes[0], 3, 3, 1, 200, 0)  # one candidate at a time
    assert 0.3 < either[:, 1].mean() < 0.7


def test_more_splits_use_more_features() -> None:
    few = trees_using(X, Y, 0, {"max_depth": 1})
    assert few.sum() <= 100
    assert trees_using(X, Y, 0, {}).sum() > few.sum()
    assert trees_using(X, Y, 0, {"bins": 3, "multiway": True}).sum() > few.sum()


# ---------------------------------------------------------------------- bommert2020


def test_the_lasso_selects_nothing_above_its_largest_penalty_and_more_below() -> None:
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    sizes = [bommert.lasso(Z, Y, s, 0).sum() for s in (10.0, 0.2, 0.02, 1e-9)]
    assert sizes[0] == 0
    assert sizes == sorted(sizes)
    assert sizes[-1] > 5
    at_end = bommert.lasso(Z, Y, 1e-4 * np.abs(Z.T @ (Y - Y.mean())).max() / 40, 0).sum()
    assert sizes[-1] == at_end


def test_boosting_starts_with_the_strongest_feature_and_adds_to_it() -> None:
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    one, many = bommert.boosting(Z, Y, 1), bommert.boosting(Z, Y, 300)
    assert np.flatnonzero(one) == np.abs(Z.T @ (Y - 0.5)).argmax()
    assert many[one].all()
    assert many.sum() > 4


@pytest.mark.parametrize("model", bommert.MODELS)
def test_settings_are_drawn_within_their_limits(model: str) -> None:
    rng = np.random.default_rng(0)
    for how in bommert.FILTERS:
        for _ in range(50):
            drawn = bommert.draw(model, how, 60, 30, rng)
            assert drawn["kept"] == 30 if how == "none" else 0 <= drawn["kept"] <= 30
            assert 2**-15 <= drawn.get("penalty", 1) <= 2**15
            assert 1 <= drawn.get("steps", 1) <= bommert.MOST_STEPS
            assert 1 <= drawn.get("mtry", 1) <= max(drawn["kept"], 1)
            assert 2 <= drawn.get("min_rows", 2) <= 13
