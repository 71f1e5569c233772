"""What the experiment huynhthu2021 computes around the library: networks, folds, tables."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import mainstay as ms

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "experiments"))

import _huynhthu_network_tables as network_tables
import _huynhthu_networks as networks
import _huynhthu_protocol as protocol
from _huynhthu_cells import APPENDIX_B, SIMULATED, RealData, equal_rows
from _huynhthu_simulated_networks import simulate_network
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


def test_appendix_b_has_ten_values() -> None:
    from dataclasses import replace

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
    assert words == "with hubs 0.50 against 0.40 of forests (above on 2 of 2 networks)"


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
    assert words == "on spectf RF's error of 0.100 becomes 0.200"
