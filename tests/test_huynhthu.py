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
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeRegressor

import mainstay as ms

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "experiments"))

import _huynhthu_claims as claims
import _huynhthu_extra as extra
import _huynhthu_figures as figures
import _huynhthu_network_tables as network_tables
import _huynhthu_networks as networks
import _huynhthu_paper as paper
import _huynhthu_protocol as protocol
import _huynhthu_tables as tables
from _huynhthu_cells import APPENDIX_B, PROBLEMS, SIMULATED, RealData, equal_rows
from _huynhthu_methods import Task
from _huynhthu_simulated_networks import simulate_network
from _huynhthu_svm import machines
from _huynhthu_trees import boosting, forest, neighbours, sorted_table
from _huynhthu_tuned import tuned
from papers_index import numbers

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
    words = protocol.together_in_words(real, together, {"spectf": 0.42})
    assert words == (
        "where many test rows were seen in training (spectf 42%) 1 of 1 errors rise "
        "(on spectf RF 0.100 → 0.200)"
    )


def test_where_few_rows_were_seen_errors_are_only_counted() -> None:
    names = ("ERA", "haberman", "bupa")
    real = real_cells({"rf": 0.3, "gbdt": 0.5}, "error", names)
    together = real_cells({"rf": 0.4, "gbdt": 0.4}, "error", names)
    words = protocol.together_in_words(real, together, {"ERA": 0.93}, listing=False)
    assert words == (
        "where many test rows were seen in training (ERA 93%) 1 of 2 errors rise; "
        "on haberman and bupa 2 of 4 errors rise"
    )


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
    words = protocol.baselines(done, replace(SIMULATED, depths=(1, 3)))
    assert words.startswith("RF is tuned as in appendix B")
    assert "(Compiled versions" in words
    assert "GBDT: its depth among 1 and 3, by 3 folds" in words
    assert "RSB-SVM: K among 1, √M, M/50, M/10, M/3 and M, by 3 folds" in words
    printed = {("Linear", "rf"): paper.Number(0.21, None, "0.21")}
    text = protocol.appendix_b(cells, cells, ["Linear"], [printed], 10)
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
    assert words == "RF on 1, GBDT on 0, RSB-kNN on 0, RSB-tree on 0 and RSB-SVM on 0"


def test_ranks_with_equal_rows_together_need_all_methods() -> None:
    errors = {"rf": 0.3, "gbdt": 0.4, "prsb-tree": 0.2}
    real = real_cells(errors, "error", ("bupa", "ERA", "pm10"))
    together = real_cells(errors | {"prsb-tree": 0.9}, "error", ("bupa", "ERA"))
    words = protocol.of_ranks_together(real, together, list(errors))
    assert words.startswith("On all 3 sets, equal rows together on bupa and ERA (Friedman p = ")
    assert "): RF 1.33, GBDT 2.33; RF is 1.00 ahead of PRSB-tree, below" in words
    words = protocol.of_ranks_together(real, together.drop(index=0), list(errors))
    assert words.startswith("On all 3 sets, equal rows together on ERA (Friedman")
    assert protocol.of_ranks_together(real, together[:5], list(errors)) == "(not run)"


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


# ---------------------------------------------------------------------- the paper's statements


def problem_cells(values: dict[str, float], value: str, n: int = 10) -> pd.DataFrame:
    rows = [
        {"data": problem, "repetition": str(i), "method": method, value: number + 0.001 * i}
        for problem in PROBLEMS
        for i in range(n)
        for method, number in values.items()
    ]
    return pd.DataFrame(rows)


def test_the_papers_numbers_keep_their_digits() -> None:
    cells = problem_cells({"prsb-tree": 4.9}, "size")
    text = tables.by_data(cells, "size", paper.TABLE_S1, ["Checkerboard"], ["prsb-tree"], 1)
    assert text.splitlines()[-1] == "| Checkerboard | 4.9 ± 0.0 (8.35 ± 2.09) |"
    assert paper.TABLE_4["ERA", "rsb-tree"].text == "2.59"  # no standard deviation is printed


@pytest.mark.parametrize(
    ("table", "larger", "said"), [("TABLE_S6", False, 9.6e-4), ("TABLE_S7", True, 4.0e-3)]
)
def test_friedman_by_f_gives_about_the_p_of_the_papers_text(table, larger, said) -> None:
    scores = pd.Series(claims.printed(getattr(paper, table))).unstack()
    five = scores[["rf", "gbdt", "prsb-tree", "prsb-knn", "prsb-svm"]]
    chi2, f = figures.friedman(figures.rank(five, larger))
    assert f == pytest.approx(said, rel=0.15)
    assert chi2 > 1.5 * said


def test_methods_that_always_come_in_the_same_order_differ() -> None:
    ranks = pd.DataFrame([[1.0, 2.0, 3.0]] * 4)
    chi2, f = figures.friedman(ranks)
    assert chi2 == pytest.approx(np.exp(-4))  # χ² = 8 with 2 degrees of freedom
    assert f == 0


@pytest.mark.parametrize(("right", "agrees"), [(8, True), (6, None), (5, False), (0, False)])
def test_four_fifths_agree_and_most_agree_in_part(right: int, agrees: bool | None) -> None:
    assert claims.judged([True] * right + [False] * (10 - right)) is agrees


def test_statements_about_simulations() -> None:
    error = {"rf": 0.3, "gbdt": 0.1}
    for base, single, rsb, prsb in (
        ("tree", 0.5, 0.3, 0.25), ("knn", 0.5, 0.48, 0.2), ("svm", 0.5, 0.4, 0.38)
    ):  # fmt: skip
        error |= {f"single-{base}": single, f"rsb-{base}": rsb, f"prsb-{base}": prsb}
    found = claims.of_simulated(problem_cells(error, "error"))
    assert found["claim_lowest"] == "**Agrees.** 3 of 3"
    assert found["claim_rsb"].startswith("**Agrees.** 12 of 12")
    assert found["claim_gain"].startswith("**Does not agree.** 4 of 8")  # kNN gains, SVM does not
    assert found["claim_only_trees"] == "**Agrees in part.** 8 of 12"  # SVM improves by a fifth
    assert found["claim_rf_error"].startswith("**Agrees in part.** 6 of 9")
    assert found["claim_rf_error"].endswith("worse by more than two standard errors: 3")
    assert found["claim_gbdt_error"].startswith("**Does not agree.** 0 of 9")
    assert found["claim_rf_aupr"].startswith("(not yet computed)")


def test_statements_about_real_data() -> None:
    names = ("bupa", "ERA", "pm10", "wind")
    error = {"rf": 0.1, "gbdt": 0.2, "prsb-tree": 0.3, "prsb-knn": 0.4, "prsb-svm": 0.5}
    more = {"rsb-tree": 0.2, "rsb-knn": 0.5, "rsb-svm": 0.45}
    found = real_cells(error | more, "error", names)
    found["error"] += found["repetition"].astype(int) * 0.001
    rankings = {method: 1 - value for method, value in error.items()}
    found["aupr"] = found["method"].map(rankings)
    said = claims.of_real(found, names, list(error))
    assert said["said_knn_svm"].startswith("**Does not agree.** 4 of 8")
    assert said["said_trees"].startswith("**Agrees.** PRSB-tree has a lower mean error")
    assert said["said_outperformed"] == (
        "**Agrees.** PRSB's average rank is behind in 6 of 6 pairs"
    )
    assert said["said_tree_apart"].startswith("**Agrees.** RF is 2.00 ahead of PRSB-tree, below")
    assert said["said_bases"].startswith("**Agrees in part.**")  # trees rank best, too
    assert said["said_leader"] == "RF has the best average rank (1.00)"
    always = claims.always(problem_cells(error | more, "error"), found, names)
    assert always.startswith("**Does not agree.** 4 of 8 simulated and 4 of 8 real cases")
    assert claims.of_real(found, names[:1], list(error))["said_bases"] != ""


def test_too_few_sets_for_ranks_are_not_judged() -> None:
    found = real_cells({"rf": 0.1, "gbdt": 0.2}, "error", ("bupa",)).assign(aupr=0.5)
    said = claims.of_real(found, ["bupa"], ["rf", "gbdt"])
    assert set(said.values()) == {"(not yet computed)"}
    assert len(said) == 10


def test_errors_against_the_papers_are_compared_in_its_digits() -> None:
    found = real_cells({"prsb-tree": 0.462}, "error", ("bupa", "pm10"))  # paper: 0.46 and 0.69
    words = claims.against_paper(found.assign(aupr=0.5))  # paper: 0.33 and 0.77
    assert words.startswith("PRSB-tree error lower on 1, higher on 0 and AUPR lower on 1, higher")


def test_statements_about_networks() -> None:
    values = {"forest": 0.2, "eda-knn": 0.1, "prsb-knn-0": 0.15, "prsb-knn-auto": 0.3}
    rows = [
        {"data": name, "method": method, "seed": "0", "average_precision": value}
        for name in networks.NETWORKS
        for method, value in values.items()
    ]
    said = claims.of_networks(pd.DataFrame(rows))
    assert said["net_bases"] == "no base model"
    assert said["net_highest"] == "(not yet computed)"
    assert said["net_highest_auto"] == "5 of 5"
    assert said["net_eda"].startswith("**Agrees.** 5 of 5")
    assert said["net_forest"].startswith("**Agrees.** 5 of 5")
    assert said["net_gap"].startswith("-0.050")
    for value, size in (("20", 20), ("50", 50), ("100", 100)):
        rows += [
            {"data": name, "method": f"prsb-knn-{value}", "seed": "0", "average_precision": 0.18,
             "of_last": [0.1], "regulators_mean": 50 / size, "regulators_last": 30 / size}
            for name in networks.NETWORKS
        ]  # fmt: skip
    said = claims.of_networks(pd.DataFrame(rows))
    assert said["net_bases"] == "kNN"
    assert said["net_highest"] == "**Does not agree.** 0 of 5"  # below the forest
    assert said["net_above"].startswith("**Does not agree.** 0 of 5")


def test_stages_are_described_by_where_the_ranking_is_best() -> None:
    path = {"10": 0.10, "50": 0.18, "70": 0.16, "100": 0.08}
    cells = pd.DataFrame([{"data": "1", "method": "prsb-knn-0", "seed": "0", "by_stage": path}])
    assert network_tables.stages_in_words(cells) == (
        "with steps of 0.01 the ranking is best at stage 50 and changes by -0.100 to -0.100 until "
        "the last; its best minus the paper's number is +0.010 to +0.010 (1 networks)"
    )
    late = network_tables.late_in_words(cells.assign(method="prsb-knn-50"))
    assert late == "by -0.100 to -0.020 with steps of 0.01"
    assert network_tables.late_in_words(cells) == "(not run)"


def test_networks_methods_are_written_with_their_penalty() -> None:
    written = [network_tables.shown(m) for m in ("forest", "eda-knn", "prsb-svm-auto")]
    assert written == ["GENIE3 (forest)", "EDA-kNN", "PRSB-SVM, λ automatic"]
    assert network_tables.shown("slow-knn-100") == "PRSB-kNN, λ = 100, step 0.001"
    assert network_tables.shown("prsb-tree-0") == "PRSB-tree, λ = 0"


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


def test_differences_between_digits_are_paired() -> None:
    rows = [
        {"data": name, "repetition": str(i), "method": method, "error": 0.1 * i + step}
        for name in extra.DIGITS
        for i in range(5)
        for method, step in zip(extra.DIGITS_METHODS, (0.3, 0.0, 0.1, 0.2), strict=True)
    ]
    text, words = extra.digit_differences(pd.DataFrame(rows))
    line = "| 120 rows | -0.100 ± 0.000 | 0.200 ± 0.000 | 0.100 ± 0.000 |"
    assert text.splitlines()[2] == line
    assert words.startswith("with 120 rows 0.200 ± 0.000 against an SVM and 0.100 ± 0.000")


def test_the_mean_of_restarts_is_counted_against_the_lowest() -> None:
    cells = problem_cells({"prsb-knn": 0.6}, "aupr")
    cells["aupr_of_lowest_objective"] = np.where(cells["data"] == "Linear", 0.9, 0.5)
    text, words = tables.restarts(cells.assign(agreement=1.0, n_models=10, seconds=1.0))
    assert words.startswith("means ± standard error over 10 data sets. The mean of all")
    assert words.endswith("in 3 of 4 cases")
    assert "0.50 ± 0.00 | 0.60 ± 0.00 | 1.00 ± 0.00 | 10 | 1 |" in text


def test_printed_versions_are_counted_with_three_restarts_only_if_all_sets_were_run() -> None:
    values = {"rf": 0.2, "gbdt": 0.1, "prsb-knn": 0.15}
    cells = problem_cells(values, "error", extra.N_SETS).assign(aupr=0.5)
    cells = cells[cells["data"] == "Hypercube"]
    more = cells[cells["method"] == "prsb-knn"].assign(data=extra.THREE, error=0.05)
    words = extra.printed_in_words(extra.all_sets(pd.concat([cells, more])))
    assert words.startswith("lower error than RF: Hypercube 1 of 1, Hypercube (3 restarts) 1 of 1;")
    assert "lower error than GBDT: Hypercube 0 of 1, Hypercube (3 restarts) 1 of 1" in words
    words = extra.printed_in_words(extra.all_sets(pd.concat([cells, more[1:]])))
    assert words.startswith("lower error than RF: Hypercube 1 of 1; lower error than GBDT")
