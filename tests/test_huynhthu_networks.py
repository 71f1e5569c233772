"""What the page of huynhthu2021 says of gene networks."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "experiments"))

import _huynhthu_claims as claims
import _huynhthu_network_tables as network_tables
import _huynhthu_networks as networks
from papers_index import numbers


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
    ruled = network_tables.by_rule(pd.DataFrame(rows))
    lines = network_tables.rule_table(ruled).splitlines()[2:]
    assert [line.split("|")[2:5] for line in lines] == [
        [" 0.001 ", " mean over the stages ", " 2 "],
        [" 0.001 ", " last stage ", " 2 "],
    ]
    # more than 0.46 regulators in E. coli, 0.66 in yeast: 0.5 at λ = 100, or 0.6 at λ = 50
    assert lines[0].count("at λ = 100") == 2
    assert lines[0].count("0.210 [0.200–0.220] at λ = 50") == 3
    assert lines[1].count("0.100 [0.100–0.100] at λ = 50") == 2
    assert lines[1].count("at λ = 20") == 3
    # the paper has 0.19, 0.19, 0.28, 0.28, 0.28: 0.21 is 0.034 less, 0.1 is 0.144 less on average
    summary = network_tables.rule_summary(ruled).splitlines()[2:]
    assert summary[0].endswith("| 2 | -0.034 | -0.070 to +0.020 | 0 of 5 |")
    assert summary[1].endswith("| 2 | -0.144 | -0.180 to -0.090 | 0 of 5 |")


def test_the_restart_with_the_lowest_objective_is_the_papers() -> None:
    rows = [
        {"data": name, "method": "lowest-knn-50", "seed": "0", "average_precision": 0.25,
         "of_restarts": [0.1, 0.3], "objectives": [0.4, 0.5]}
        for name in networks.NETWORKS
    ]  # fmt: skip
    lines = network_tables.lowest_objective(pd.DataFrame(rows)).splitlines()[2:]
    assert [line.split("|")[4].strip() for line in lines] == [
        "0.200 [0.100–0.300]", "0.100 (0.19)", "0.250"
    ]  # fmt: skip
    assert network_tables.lowest_objective(pd.DataFrame(rows[1:])) == "(not run)"
    words = network_tables.lowest_in_words(pd.DataFrame(rows), "50")
    # the paper: 0.19, 0.19, 0.28, 0.28, 0.28
    assert words == (
        "that restart differs from the paper's numbers by -0.144 on average (-0.180 to -0.090), a "
        "single one by -0.044 (-0.080 to +0.010)"
    )
    assert network_tables.lowest_in_words(pd.DataFrame(rows)) == "(not run)"
    assert network_tables.shown("lowest-knn-50") == "PRSB-kNN, λ = 50, 20 restarts"


def test_the_best_is_the_best_of_the_papers_ten_methods() -> None:
    rows = [
        {"data": name, "method": method, "seed": "0", "average_precision": value}
        for name in networks.NETWORKS
        for method, value in (("forest", 0.2), ("prsb-knn-auto", 0.3), ("prsb-knn-50", 0.9))
    ]
    lines = network_tables.best(pd.DataFrame(rows)).splitlines()[2:]
    assert lines[0] == "| 1 | PRSB-kNN, λ automatic | 2 | 1 | 0.300 | 0.22 |"
    assert [line.split("|")[-2].strip() for line in lines] == [
        "0.22",
        "0.22",
        "0.29",
        "0.28",
        "0.29",
    ]


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
    # lower on all by 0.050; in the paper by 0.015
    assert said["net_forest"].startswith("**Agrees in part.** Lower in 5 of 5 (paper's table: 10")
    assert "on average by -0.050 (-0.050 to -0.050; paper -0.015" in said["net_forest"]
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
    cells = pd.DataFrame(
        [{"data": "1", "method": "prsb-knn-0", "seed": "0", "by_stage": path,
          "average_precision": 0.15}]
    )  # fmt: skip
    assert network_tables.stages_in_words(cells) == (
        "with steps of 0.01 the ranking is best at stage 50 and changes by -0.100 to -0.100 until "
        "the last; with the best stage, picked with the true network in hand, it would gain at "
        "most 0.030, and would differ from the paper's number by +0.010 to +0.010 (1 networks)"
    )
    late = network_tables.late_in_words(cells.assign(method="prsb-knn-50"))
    assert late == "by -0.100 to -0.020 with steps of 0.01"
    assert network_tables.late_in_words(cells) == "(not run)"


def test_networks_methods_are_written_with_their_penalty() -> None:
    written = [network_tables.shown(m) for m in ("forest", "eda-knn", "prsb-svm-auto")]
    assert written == ["GENIE3 (forest)", "EDA-kNN", "PRSB-SVM, λ automatic"]
    assert network_tables.shown("slow-knn-100") == "PRSB-kNN, λ = 100, step 0.001"
    assert network_tables.shown("prsb-tree-0") == "PRSB-tree, λ = 0"
