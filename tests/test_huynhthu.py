"""What the experiment huynhthu2021 computes around the library: networks, folds, baselines."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    BaggingRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeRegressor

import mainstay as ms

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "experiments"))

import _huynhthu_extra as extra
import _huynhthu_networks as networks
from _huynhthu_cells import APPENDIX_B, SIMULATED, RealData, equal_rows
from _huynhthu_methods import Task
from _huynhthu_simulated_networks import simulate_network
from _huynhthu_svm import machines
from _huynhthu_trees import boosting, forest, neighbours, sorted_table
from _huynhthu_tuned import tuned

from mainstay._kernels.subspace_draws import GOLDEN, _below, _mixed
from mainstay.networks.expression import read_expression
from mainstay.networks.inference import link_table
from mainstay.networks.subspaces import SubspaceSettings


def test_a_restart_is_what_infer_network_runs() -> None:
    data = simulate_network(hubs=True, seed=0)
    few = data.expression.iloc[:30, :6]
    expression = read_expression(few)
    settings = SubspaceSettings(regularization=20.0)
    run = networks.run_restart(expression, 3, 0, "knn", settings)
    ours = link_table(expression, run.average().T)
    links = ms.infer_network(few, regularization=20.0, n_restarts=1, random_state=3, n_jobs=1)
    pd.testing.assert_frame_equal(ours, links)
    assert len(run.path) == len(run.objectives) == settings.n_stages


@pytest.mark.parametrize("hubs", [True, False])
def test_a_simulated_network(hubs: bool) -> None:
    data = simulate_network(hubs, seed=1)
    assert data.expression.shape == (100, 100)
    assert len(data.links) == 200 == len(data.links.drop_duplicates())
    assert (data.links["regulator"] != data.links["target"]).all()
    counts = data.links["regulator"].value_counts()
    assert (counts.head(10).sum() > 140) == hubs
    again = simulate_network(hubs, seed=1)
    pd.testing.assert_frame_equal(data.expression, again.expression)
    # targets follow their regulators: more than pairs that are not links do
    correlation = data.expression.corr().abs()
    of_links = [correlation.loc[a, b] for a, b in data.links.itertuples(index=False)]
    assert np.mean(of_links) > 2 * correlation.to_numpy()[np.triu_indices(100, 1)].mean()


@pytest.mark.parametrize("classification", [True, False])
def test_rows_with_equal_features_stay_together(classification: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(3, size=(120, 3)).astype(float)
    y = rng.integers(2, size=120)
    data = RealData(X, y, np.arange(3), classification, equal_rows(X), 0)
    rows = [tuple(row) for row in X]
    shared = {}
    for together in (False, True):
        shared[together] = sum(
            len({rows[i] for i in train} & {rows[i] for i in test})
            for train, test in data.folds(together)
        )
    assert shared[True] == 0 < shared[False]
    assert sorted(np.concatenate([test for _, test in data.folds(True)])) == list(range(120))


class TestCompiledBaselines:
    """Appendix B is run with compiled methods: they are scikit-learn's, up to chance."""

    @pytest.fixture
    def problem(self) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(260, 12)).astype(np.float32)
        X[:, 6:] = rng.integers(5, size=(260, 6))  # equal values
        return X, X[:, 0] * X[:, 1] + X[:, 7] + 0.5 * rng.normal(size=260)

    @pytest.mark.parametrize(("classes", "depth"), [(True, 1), (False, 1), (False, 2)])
    def test_boosting_without_equal_cuts(self, problem: Any, classes: bool, depth: int) -> None:
        X, y = problem
        y = (y > 0).astype(float) if classes else y
        kind = GradientBoostingClassifier if classes else GradientBoostingRegressor
        theirs = kind(max_depth=depth, n_estimators=20, random_state=0).fit(X[:160], y[:160])
        expected = (theirs.decision_function if classes else theirs.predict)(X[160:])
        importances = np.zeros(12)
        train, test = np.arange(160), np.arange(160, 260)
        table = sorted_table(X)
        found = boosting(table, y, classes, train, test, depth, 20, 0.1, 0, importances)
        np.testing.assert_allclose(found, expected, atol=1e-6)
        np.testing.assert_allclose(
            importances / importances.sum(), theirs.feature_importances_, atol=1e-6
        )

    @pytest.mark.parametrize("classes", [True, False])
    def test_boosting(self, problem: Any, classes: bool) -> None:
        X, y = problem
        y = (y > 0).astype(float) if classes else y
        kind = GradientBoostingClassifier if classes else GradientBoostingRegressor
        train, test, table = np.arange(160), np.arange(160, 260), sorted_table(X)
        ours, theirs = [], []
        for seed in range(12):
            ours.append(boosting(table, y, classes, train, test, 6, 20, 0.1, seed, np.zeros(12)))
            model = kind(max_depth=6, n_estimators=20, random_state=seed).fit(X[:160], y[:160])
            theirs.append((model.decision_function if classes else model.predict)(X[160:]))
        if not classes:
            assert_same_up_to_chance(np.array(ours), np.array(theirs))
            return
        # many cuts are equally good at first; which is taken differs between versions of
        # scikit-learn, too, so that rows are predicted otherwise, but not better or worse
        signs = 2 * y[160:] - 1
        losses = [np.log1p(np.exp(-signs * scores)).mean(axis=1) for scores in (ours, theirs)]
        error = np.hypot(*(loss.std(ddof=1) / np.sqrt(len(loss)) for loss in losses))
        assert abs(losses[0].mean() - losses[1].mean()) < 3 * error
        assert error < 0.01

    @pytest.mark.parametrize("size", [2, 8, 12])  # rows sorted anew, and kept sorted
    @pytest.mark.parametrize("subspace", [True, False])
    @pytest.mark.parametrize("classes", [True, False])
    def test_forests(self, problem: Any, size: int, subspace: bool, classes: bool) -> None:
        X, y = problem
        y = (y > 0).astype(float) if classes else y
        train, test = np.arange(160), np.arange(160, 260)
        table, importances = sorted_table(X), np.zeros(12)
        ours = [
            forest(table, y, train, test, size, subspace, 40, seed, importances)
            for seed in range(12)
        ]
        theirs = []
        for seed in range(12):
            model: Any
            if subspace:
                base = DecisionTreeRegressor()
                model = BaggingRegressor(base, 40, max_features=size, random_state=seed)
            else:
                model = RandomForestRegressor(40, max_features=size, random_state=seed)
            theirs.append(model.fit(X[:160], y[:160]).predict(X[160:]))
        assert_same_up_to_chance(np.array(ours), np.array(theirs))

    def test_neighbours(self, problem: Any) -> None:
        X, y = problem
        train, test = np.arange(160), np.arange(160, 260)
        columns = np.ascontiguousarray(X.T, dtype=float)
        ours, theirs = [], []
        for seed in range(12):
            ours.append(neighbours(columns, y, train, test, 4, 5, 40, seed))
            model = BaggingRegressor(KNeighborsRegressor(), 40, max_features=4, random_state=seed)
            theirs.append(model.fit(X[:160], y[:160]).predict(X[160:]))
        assert_same_up_to_chance(np.array(ours), np.array(theirs))

    @pytest.mark.parametrize("classes", [True, False])
    def test_machines(self, problem: Any, classes: bool) -> None:
        X, y = problem
        X = X.astype(float)
        y = (y > 0.5).astype(float) if classes else y
        sizes, fold_of = np.array([2, 5, 12]), np.repeat([-1, 0], [160, 100])
        for seed in range(8):
            found = machines(np.ascontiguousarray(X.T), y, classes, 160, fold_of, sizes, 1, seed)
            state = np.array([_mixed(np.uint64(seed) + GOLDEN)], dtype=np.uint64)
            rows = [int(_below(state, 160)) for _ in range(160)]
            used = np.arange(12)
            for i in range(12):
                at = i + int(_below(state, 12 - i))
                used[[at, i]] = used[[i, at]]
            for size, line in zip(sizes, found, strict=True):
                model = SVC() if classes else SVR()
                model.fit(X[rows][:, used[:size]], y[rows])
                expected = model.predict(X[160:, used[:size]])
                # both stop at a tolerance of 1e-3
                np.testing.assert_allclose(line[160:], expected, atol=0 if classes else 0.01)

    def test_machines_learn_from_the_other_folds(self, problem: Any) -> None:
        X, y = problem
        columns, fold_of = np.ascontiguousarray(X.T, dtype=float), np.arange(260) % 4
        found = machines(columns, y, False, 260, fold_of, np.array([12]), 20, 0)[0]
        expected = np.empty(260)
        for fold in range(4):
            seen = fold_of != fold
            expected[~seen] = SVR().fit(X[seen], y[seen]).predict(X[~seen])
        assert np.corrcoef(found, expected)[0, 1] > 0.97
        changed = np.where(fold_of == 1, -y, y)
        again = machines(columns, changed, False, 260, fold_of, np.array([12]), 20, 0)[0]
        np.testing.assert_array_equal(again[fold_of == 1], found[fold_of == 1])
        assert (again[fold_of != 1] != found[fold_of != 1]).all()

    def test_a_bootstrap_of_one_class_predicts_it(self) -> None:
        columns = np.random.default_rng(0).normal(size=(3, 12))
        y, fold_of = np.array([1.0] + [0.0] * 11), np.repeat([-1, 0], [10, 2])
        found = machines(columns, y, True, 10, fold_of, np.array([1, 3]), 50, 0)
        assert (found >= 0).all()
        assert (found <= 0.7).all()

    @pytest.mark.parametrize("method", ["rf", "gbdt", "rsb-knn", "rsb-tree", "rsb-svm"])
    def test_a_search_finds_what_helps(self, problem: Any, method: str) -> None:
        X, y = problem
        X = np.hstack([X, np.random.default_rng(1).normal(size=(260, 30))])
        task = Task(X[:160], y[:160], X[160:], y[160:], np.array([0, 1, 7]), False, 0)
        effort = replace(SIMULATED, **APPENDIX_B | {"folds": 3})
        found = tuned(method, task, effort)
        assert found["error"] < 0.95 * y[160:].var()
        assert len(found["errors"]) >= 8
        assert (
            found["size"]
            == (effort.depths if method == "gbdt" else effort.sizes(42))[
                int(np.argmin(found["errors"]))
            ]
        )
        if method in ("rf", "gbdt"):
            assert found["aupr"] > 0.5


def assert_same_up_to_chance(ours: np.ndarray, theirs: np.ndarray) -> None:
    """Compare the means of predictions over seeds, in standard errors of their difference."""
    error = (ours.var(axis=0, ddof=1) + theirs.var(axis=0, ddof=1)) / len(ours)
    apart = (ours.mean(axis=0) - theirs.mean(axis=0)) ** 2
    assert apart.sum() < 1.9 * error.sum()  # 1 if they are the same; rows share models
    assert 0.6 < ours.std(axis=0).mean() / theirs.std(axis=0).mean() < 1.6


def test_appendix_b_has_ten_values() -> None:
    effort = replace(SIMULATED, **APPENDIX_B)
    assert effort.sizes(10_000) == [1, 100, 200, 500, 1000, 2000, 3333, 5000, 10_000]  # √M = M/100
    assert len(effort.sizes(305)) == 10 == len(effort.depths) == effort.folds


def test_hypercube_as_printed_has_unit_variance_around_four_corners() -> None:
    X, y, relevant = extra.printed_problem("Hypercube", 0)
    assert X.shape == (800, 305)
    assert relevant.tolist() == [0, 1, 2, 3, 4]
    assert y.sum() == 400
    signs = np.sign(X[:, :5])
    corners, counts = np.unique(signs, axis=0, return_counts=True)
    centre = corners[counts.argmax()]
    near = X[(signs == centre).all(axis=1), :5]
    assert np.abs(near.mean(axis=0) - centre).max() < 0.5
    assert 0.9 < X[:, 5:].std() < 1.1
