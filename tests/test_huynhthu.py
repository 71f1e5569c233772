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
