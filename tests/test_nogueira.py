"""What the page of nogueira2015 computes, on cases whose answer is known."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "experiments"))

import _nogueira_measures as measures
import nogueira2015

import mainstay as ms

AGREES = "**Agrees.**"


def test_sizes_of_random_sets_are_in_their_range() -> None:
    assert (measures.drawn_sets(6, 6, 5, 0).sum(axis=2) == 6).all()
    sizes = measures.drawn_sets(2, 4, 200, 0).sum(axis=2)
    assert sorted(set(sizes.ravel().tolist())) == [2, 3, 4]


def test_the_mean_of_nogueira_over_all_pairs_of_sets_of_two_sizes() -> None:
    some = itertools.product(
        itertools.combinations(range(5), 1), itertools.combinations(range(5), 3)
    )
    scores = [ms.stability(ms.Runs.from_sets(sets, features=5), "nogueira").value for sets in some]
    assert np.mean(scores) == pytest.approx(measures.expected_nogueira(np.array([1, 3]), 5))


def test_exact_means_over_the_overlaps_of_random_sets() -> None:
    found = measures.exact_means(3)
    assert found.loc["sim_W"].tolist() == pytest.approx([0, 0], abs=1e-12)
    # one of three twice: 1 with probability 1/3, else 0; two of three twice: 1 or 1/3
    assert found.loc["sim_J"].tolist() == pytest.approx([1 / 3, 1 / 3 + 2 / 3 * 1 / 3])


def test_measures_with_the_same_means_are_one_row_and_flat_is_near_0() -> None:
    numbers = {"sim_K": (0.0, 0.01), "sim_W": (0.0, 0.01), "sim_J": (0.2, 0.5), "sim_L": (0.1, 0.1)}
    evidence = pd.DataFrame(
        [
            {"measure": name, "k": k, "mean": mean, "error": 0.01}
            for name, means in numbers.items()
            for k, mean in enumerate(means)
        ]
    )
    rows, agree = measures.against_0(evidence)
    assert [row[0] for row in rows] == ["sim_J", "sim_K = sim_W", "sim_L"]
    assert agree == {"sim_J": True, "sim_K": True, "sim_L": False}


def test_what_follows_from_the_definitions() -> None:
    found = nogueira2015.definitions(4)
    assert found["lowest_wald"] == pytest.approx(-3)
    assert found["n_nested"] == 9  # one largest overlap for each pair of sizes
    names = [name for name in found if name.endswith("verdict")]
    assert [found[name] for name in names] == [AGREES] * 4


def runs_of(sizes: list[int], n: int) -> ms.Runs:
    return ms.Runs.from_sets([range(k) for k in sizes], features=n)


def test_the_factor_and_its_errors() -> None:
    """Twice the paper's numbers everywhere is a factor of 2, half of them too."""
    paper = {
        data: (int(2 * mean), int(mean)) for data, (_, mean, _) in nogueira2015.TABLE_2.items()
    }
    every = {
        name: {data: runs_of([numbers[at]] * 100, 100) for data, numbers in paper.items()}
        for at, name in enumerate(("twice", "once"))
    }
    found = nogueira2015.factors(every, 0)
    assert found.loc["once", "off"] == pytest.approx(1.0, abs=0.03)
    assert found.loc["twice", "off"] == pytest.approx(2.0, abs=0.05)
    assert found.loc["once", ["apart", "apart_error"]].tolist() == [0, 0]
    # sizes do not vary: all of the error is that of the paper's means, and all blocks are alike
    shares = [sd / 10 / mean for _, mean, sd in nogueira2015.TABLE_2.values()]
    expected = 2 * np.sqrt(np.sum(np.square(shares))) / 4
    assert found.loc["twice", "error"] == pytest.approx(expected, rel=0.15)
    assert found.loc["twice", "least"] == pytest.approx(found.loc["twice", "most"])


def test_claims_about_the_order_and_the_spread_can_fail() -> None:
    """nPOG of sets that are all the same does not change; sizes 2 and 15 of 20 vary much."""
    same = {data: runs_of([5] * 10, 20) for data in nogueira2015.TABLE_2}
    found = nogueira2015.claims(same, nogueira2015.forest_stability(same), 0)
    assert (found["ranges"][0], found["spread"][0]) == (False, True)
    varied = {data: runs_of([2, 15] * 5, 20) for data in nogueira2015.TABLE_2}
    found = nogueira2015.claims(varied, nogueira2015.forest_stability(varied), 0)
    assert (found["ranges"][0], found["spread"][0]) == (True, False)


def test_kinds_that_cannot_be_told_from_the_nearest_by_two_errors_are_near_too() -> None:
    off = pd.DataFrame(
        {
            "off": [1.5, 1.2, 1.12, 1.1],
            "apart": [0.4, 0.1, 0.02, 0.0],
            "apart_error": [0.3, 0.04, 0.01, 0.0],
        },
        index=[nogueira2015.DEFAULT, "far", "tied", "nearest"],
    )
    assert nogueira2015.closest(off) == ["nearest", "tied"]


def test_the_kinds_within_the_papers_spread_on_most_sets_are_named_whatever_their_factor() -> None:
    low, high = (
        {
            data: runs_of([round(mean + sign * 1.5 * sd)] * 3, 60)
            for data, (_, mean, sd) in nogueira2015.TABLE_2.items()
        }
        for sign in (-1, 1)
    )
    exact = {data: runs_of([round(x[1])] * 3, 60) for data, x in nogueira2015.TABLE_2.items()}
    assert nogueira2015.within_paper(low) == nogueira2015.within_paper(high) == []
    assert nogueira2015.within_paper(exact | {"sonar": high["sonar"]}) == [
        "wine", "parkinsons", "breast",
    ]  # fmt: skip
    within = {"nearest": ["wine"], "tied": ["wine", "breast"], "far": ["wine", "breast", "sonar"]}
    assert nogueira2015.most_within(within, ["nearest", "tied"]) == '"tied", on 2 of 4'
    assert nogueira2015.most_within(within, ["nearest"]) == '"nearest", on 1 of 4'
    assert nogueira2015.most_within(within | {"other": within["far"]}, ["far", "other"]) == (
        '"far", "other", on 3 of 4'
    )
    assert nogueira2015.most_within(within, []) == "none, on 0 of 4"


@pytest.mark.parametrize(
    ("sim_l", "npog", "holds"), [(0.5, 1.0, True), (0.5, 0.4, False), (0.9, 1.0, True)]
)
def test_lustgarten_has_to_be_lowest_in_the_order_of_the_figure(
    sim_l: float, npog: float, holds: bool
) -> None:
    """In how many other orders nPOG is below it is said, and decides nothing."""
    varied = {data: runs_of([2, 15] * 5, 20) for data in nogueira2015.TABLE_2}
    stability = nogueira2015.forest_stability(varied)
    given = stability["measure"].map({"sim_L": sim_l, "nPOG": npog}).fillna(1.0)
    found = nogueira2015.claims(varied, stability.assign(value=given), 0)["lowest"]
    assert bool(found[0]) is holds
    rng, below = np.random.default_rng(0), 0
    for _ in range(nogueira2015.N_ORDERS):
        order = varied["wine"].subset(rng.permutation(10))
        below += ms.stability(order, "npog", pairing="disjoint").value < sim_l
    assert found[1].startswith(
        f"wine {'sim_L' if holds else 'nPOG'} (nPOG below in {below} of "
        f"{nogueira2015.N_ORDERS} orders)"
    )
