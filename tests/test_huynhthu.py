"""What the experiment huynhthu2021 computes around the library: networks, folds, tables."""

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
from sklearn.tree import DecisionTreeRegressor

import mainstay as ms

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "experiments"))

import _huynhthu_claims as claims
import _huynhthu_network_tables as network_tables
import _huynhthu_networks as networks
import _huynhthu_protocol as protocol
from _huynhthu_cells import APPENDIX_B, PROBLEMS, SIMULATED, RealData, equal_rows
from _huynhthu_methods import Task
from _huynhthu_simulated_networks import simulate_network
from _huynhthu_trees import boosting, forest, neighbours, sorted_table
from _huynhthu_tuned import tuned
from papers_index import numbers

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
def test_equal_rows_stay_together(classification: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(3, size=(120, 3)).astype(float)
    y = rng.integers(2, size=120)
    data = RealData(X, y, np.arange(3), classification, equal_rows(X, y), 0)
    rows = [tuple(row) for row in np.column_stack([X, y])]
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

    @pytest.mark.parametrize("method", ["rf", "gbdt", "rsb-knn", "rsb-tree"])
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


# ---------------------------------------------------------------------- tables of networks


def cells(sizes: dict[str, float], precision: float = 0.2) -> pd.DataFrame:
    rows = [
        {"data": "1", "method": f"prsb-knn-{value}", "seed": "0", "average_precision": precision,
         "of_last": [precision / 2], "regulators_mean": size, "regulators_last": size / 2}
        for value, size in sizes.items()
    ]  # fmt: skip
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("sizes", "averaged", "last"),
    [
        ({"20": 2.0, "50": 1.0, "100": 0.5}, "100", "50"),
        ({"20": 2.0, "50": 0.5, "100": 0.1}, "50", "20"),
        ({"20": 0.3, "50": 0.2, "100": 0.1}, "20", "20"),  # none is enough: the smallest
        ({"20": 2.0, "50": 0.5}, None, None),  # one was not run
        ({"20": 2.0, "50": 0.5, "100": np.nan}, None, None),  # or not kept
    ],
)
def test_the_papers_rule_for_the_penalty(sizes, averaged, last) -> None:
    found = cells(sizes)  # network 1: more than 0.46 regulators per gene
    chosen = [
        network_tables.chosen_lambda(found, "1", "prsb-knn", r) for r in network_tables.READINGS
    ]
    assert chosen == [averaged, last]


def test_numbers_with_a_range_are_counted_in_the_overview() -> None:
    with_range = network_tables.ranged([0.18, 0.20], " at λ = 50 (0.19)")
    assert with_range == "0.190 [0.180–0.200] at λ = 50 (0.19)"
    far = network_tables.ranged([0.1], " (0.19)")
    assert numbers(f"| kNN | {with_range} | {far} |") == (1, 2)


def test_the_rule_is_applied_to_every_network_and_seed() -> None:
    rows = [
        {"data": name, "method": f"slow-knn-{value}", "seed": str(seed),
         "average_precision": 0.2 + 0.02 * seed, "of_last": [0.1], "regulators_mean": 50 / size,
         "regulators_last": 30 / size}
        for name in networks.NETWORKS
        for value, size in (("20", 20), ("50", 50), ("100", 100))
        for seed in range(2)
    ]  # fmt: skip
    text, words = network_tables.by_rule(pd.DataFrame(rows))
    lines = text.splitlines()[2:]
    assert [line.split("|")[2:5] for line in lines] == [
        [" 0.001 ", " mean over the stages ", " 2 "],
        [" 0.001 ", " last stage ", " 2 "],
    ]
    # more than 0.46 regulators in E. coli, 0.66 in yeast: 0.5 at λ = 100, or 0.6 at λ = 50
    assert lines[0].count("at λ = 100") == 2
    assert lines[0].count("0.210 [0.200–0.220] at λ = 50") == 3
    assert lines[1].count("0.100 [0.100–0.100] at λ = 50") == 2
    assert lines[1].count("at λ = 20") == 3
    assert "2 above, 3 below, 0 the same" in words
    assert "0 above, 5 below" in words


def test_networks_that_were_not_run_are_left_out_of_the_comparison() -> None:
    dream = pd.DataFrame(
        {"data": ["1", "2"], "method": "forest", "seed": "0", "average_precision": 0.2}
    )
    values = {"forest": 0.4, "prsb-knn-path": 0.5}
    simulated = pd.DataFrame(
        [
            {"data": name, "method": method, "seed": "0", "average_precision": value}
            for name in ("hubs-0", "hubs-1")
            for method, value in values.items()
        ]
    )
    found = network_tables.groups(dream, simulated)
    assert [group.networks for group in found] == [[], ["hubs-0", "hubs-1"], []]
    lines = network_tables.path_of_lambda(found).splitlines()[2:]
    assert "0.400 ± 0.000 | – | 0.500 ± 0.000 | 2 of 2 | – | –" in lines[1]
    words = network_tables.elsewhere(found)
    assert (
        words == "with hubs 0.50 with one restart (above forests on 2 of 2 networks), forests 0.40"
    )


def test_restarts_of_the_automatic_penalty_are_paths_with_one_restart() -> None:
    cells = pd.DataFrame(
        [
            {"method": "prsb-knn-path", "seed": "0", "average_precision": 0.1},
            {"method": "prsb-knn-path", "seed": "1", "average_precision": 0.2},
            {"method": "prsb-knn-auto", "seed": "0", "average_precision": 0.9},
            {"method": "prsb-knn-auto", "seed": "1", "average_precision": 0.8},
        ]
    ).assign(data="1")
    cells["of_restarts"] = [[0.1], [0.2], None, [0.2, 0.3]]  # of one run they were not kept
    assert network_tables.precisions(cells, "1", "prsb-knn-auto") == [0.9, 0.8]
    assert network_tables.precisions(cells, "1", "prsb-knn-path") == [0.1, 0.2, 0.3]


def test_equal_rows_are_compared_only_on_whole_cross_validations() -> None:
    real = pd.DataFrame(
        [
            {"data": name, "repetition": str(fold), "method": "rf", "error": 0.1}
            for name in ("spectf", "ERA")
            for fold in range(10)
        ]
    )
    together = real.assign(error=0.2).drop(index=15)  # a fold of ERA is missing
    text = protocol.equal_rows_together(real, together)
    assert text.splitlines()[2:] == ["| spectf | RF | 0.100 ± 0.000 | 0.200 ± 0.000 |"]
    words = protocol.together_in_words(real, together)
    assert words == "on spectf RF 0.100 → 0.200"


def test_appendix_b_takes_the_place_of_the_small_grids_once_all_of_it_was_run() -> None:
    cells = pd.DataFrame(
        [
            {"data": name, "repetition": str(i), "method": method, "error": error, "size": 2.0}
            for name in PROBLEMS
            for i in range(10)
            for method, error in (("rf", 0.3), ("b-rf", 0.2), ("gbdt", 0.5), ("b-gbdt", 0.4))
        ]
    ).assign(seconds=1.0)
    main, done = protocol.with_appendix_b(cells)
    assert done == ["rf", "gbdt"]
    assert main.groupby("method")["error"].first().to_dict() == {"rf": 0.2, "gbdt": 0.4}
    main, done = protocol.with_appendix_b(cells.drop(index=3))  # one of b-gbdt is missing
    assert done == ["rf"]
    assert main[main["method"] == "gbdt"]["error"].tolist() == [0.5] * 40
    words = protocol.baselines(done, (1, 3))
    assert words.startswith("RF is tuned as in appendix B")
    assert "GBDT: its depth among 1, 3, by 3 folds" in words
    paper = {("Linear", "rf"): (0.21, None)}
    text = protocol.appendix_b(cells, cells, ["Linear"], [paper], 10)
    assert text.splitlines()[2] == (
        "| RF | Linear | 10 | 0.300 ± 0.000 | 0.200 ± 0.000 | 0.21 | 2 to 2 | 1 |"
    )


def real_cells(methods: dict[str, float], value: str, names: tuple[str, ...]) -> pd.DataFrame:
    rows = [
        {"data": name, "repetition": str(fold), "method": method, value: number}
        for name in names
        for fold in range(10)
        for method, number in methods.items()
    ]
    return pd.DataFrame(rows).assign(seconds=6.0)


def test_appendix_b_on_real_data_needs_all_folds_of_a_set() -> None:
    small = real_cells({"rf": 0.3, "gbdt": 0.5}, "error", ("bupa", "ERA"))
    large = real_cells({"b-rf": 0.2}, "error", ("bupa", "ERA")).drop(index=15)  # a fold of ERA
    main, words = protocol.on_real_data(small, large)
    assert len(main) == len(small)
    means = main.groupby(["method", "data"])["error"].mean().unstack()
    assert means.loc["rf"].to_dict() == pytest.approx({"bupa": 0.2, "ERA": 0.3})
    assert means.loc["gbdt"].tolist() == pytest.approx([0.5, 0.5])
    assert words == "RF on 1, GBDT on 0, RSB-kNN on 0 and RSB-tree on 0"


def test_ranks_with_equal_rows_together_need_all_methods() -> None:
    errors = {"rf": 0.3, "gbdt": 0.4, "prsb-tree": 0.2}
    real = real_cells(errors, "error", ("bupa", "ERA", "pm10"))
    together = real_cells(errors | {"prsb-tree": 0.9}, "error", ("bupa", "ERA"))
    words = claims.of_ranks_together(real, together, list(errors))
    assert words.startswith("On all 3 sets, equal rows together on 2 of them (Friedman p = ")
    assert "): RF 1.33, GBDT 2.33; RF is 1.00 from PRSB-tree, below" in words
    words = claims.of_ranks_together(real, together.drop(index=0), list(errors))
    assert words.startswith("On all 3 sets, equal rows together on 1 of them")
    assert claims.of_ranks_together(real, together[:5], list(errors)) == "(not run)"


def test_ranks_from_restarts_take_only_what_the_restarts_changed() -> None:
    names = ("bupa", "ERA", "pm10")
    real = real_cells({"rf": 0.5, "gbdt": 0.3, "prsb-knn": 0.9}, "aupr", names)
    several = real_cells({"prsb-knn": 0.4}, "aupr", names)
    several["aupr_single"], several["aupr_of_lowest_objective"] = 0.2, 0.6
    words = protocol.ranks_from_restarts(real, several, ["rf", "gbdt", "prsb-knn"])
    assert words == (
        "PRSB-kNN 3.00 with one restart, 1.00 with the lowest objective of 3, "
        "2.00 with the mean of 3 (3 sets)"
    )
    assert protocol.ranks_from_restarts(real, several[:0], ["rf", "gbdt", "prsb-knn"]) == "not run"


def test_what_is_left_is_counted_by_method_with_its_cost() -> None:
    found = real_cells({"rf": 0.3, "gbdt": 0.5}, "error", ("bupa", "ERA"))
    wanted = [tuple(cell) for cell in found[["data", "repetition", "method"]].to_numpy()]
    found.loc[found["data"] == "ERA", "seconds"] = 60.0
    left = found.drop(index=[0, 1, 20, 22])  # of bupa one of each, of ERA two of RF
    more = [("bupa", "0", "b-rf")]
    text = protocol.remaining({"real": (wanted, left), "tuned": (more, found[:0])})
    assert text.splitlines()[2:] == [
        "| real | RF | 17 of 20 | 2 |",
        "| real | GBDT | 19 of 20 | 0 |",
        "| tuned | RF, appendix B | 0 of 1 | no cell yet |",
        "| all |  |  | 2 |",
    ]
    assert protocol.remaining({"real": (wanted, found)}).startswith("(nothing")
