"""What the page of bommert2020 computes, on cases whose answer is known."""

from __future__ import annotations

import sys
from math import comb, sqrt
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "experiments"))

import _bommert_artificial as artificial
import _bommert_definitions as definitions
import bommert2020

import mainstay as ms

AGREES, IN_PART, NOT = "**Agrees.**", "**Agrees in part.**", "**Does not agree.**"


def scores(smy: list[float], sma: list[float], mean: list[float]) -> pd.DataFrame:
    same = dict.fromkeys(("SMA-Count", "SMA-Greedy", "SMA-MBM"), sma)
    return pd.DataFrame({"SMY": smy, **same, "SMA-Mean": mean})


def test_gaps_are_counted_among_the_chosen_pairs() -> None:
    values = scores([0.9, 0.7, 0.7, 0.1], [0.8, 0.7, 0.8, 0.9], [0.7, 0.6, 0.7, 0.9])
    found = artificial.gaps(values, [True, True, True, False])
    assert found.loc["SMA-Count"].tolist() == pytest.approx([1 / 3, 1 / 3])
    assert found.loc["SMA-Mean"].tolist() == pytest.approx([2 / 3, 0])


def test_often_larger_needs_large_values_of_all_measures_and_all_of_the_sma() -> None:
    uneven = np.array([True, True])
    found = artificial.where_large(scores([0.9, 0.9], [0.7, 0.9], [0.7, 0.9]), uneven)
    assert (found["gap_verdict"], found["crowded_verdict"]) == (AGREES, AGREES)
    only_mean = artificial.where_large(scores([0.9, 0.9], [0.9, 0.9], [0.7, 0.9]), ~uneven)
    assert (only_mean["gap_verdict"], only_mean["crowded_verdict"]) == (IN_PART, NOT)
    one_is_small = scores([1.0, 0.9], [0.4, 0.9], [0.4, 0.9])  # SMY is larger, but not all large
    found = artificial.where_large(one_is_small, uneven)
    assert found["n_large"] == [1, 1, 2]
    assert found["gap_verdict"] == NOT


def test_adjustments_of_a_path() -> None:
    """1 – 2 – 0 – 3: greedy takes the strongest link, 0 – 2, and nothing is left for 1 and 3."""
    matrix = np.eye(5)
    for i, j, similarity in ((0, 2, 0.95), (0, 3, 0.92), (1, 2, 0.91)):
        matrix[i, j] = matrix[j, i] = similarity
    support = np.array([[1, 1, 0, 0, 1], [0, 0, 1, 1, 1]], dtype=bool)
    found = definitions.adjustments(support, ms.FeatureSimilarity.from_matrix(matrix, 0.9))
    mean = min((0.95 + 0.92) / 2 + 0.91, (0.95 + 0.91) / 2 + 0.92)
    expected = {"SMA-Count": 2, "SMA-Mean": mean, "SMA-Greedy": 1, "SMA-MBM": 2}
    assert {name: x[0, 1] for name, x in found.items()} == pytest.approx(expected)


def test_orders_count_what_is_below_equal_and_above() -> None:
    pairs = pd.DataFrame({"a": [1.0, 1, 2, 3], "b": [2.0, 1, 1, 3]})
    assert definitions.ordered(pairs, "a", "b") == ("a and b", 1, 2, 1)


def test_one_feature_that_stands_for_five() -> None:
    """Of two random sets of 1 and 5 of 12 features, by counting."""
    shared = 5 / 12
    centre = (comb(11, 5) - comb(6, 5)) / comb(12, 5)  # without it, with one of the five
    leaf = comb(10, 4) / comb(12, 5)  # the centre, without the leaf
    expected = shared + centre / 12 + leaf * 5 / 12
    found = definitions.unequal_pair(1, 5)
    assert found["SMY"] == pytest.approx(1)
    assert found["SMA-MBM"] == pytest.approx((1 - expected) / (sqrt(5) - expected))


def test_means_over_random_sets_of_one_feature() -> None:
    means, limits = definitions.means_by_size()
    alike = 3 * 2 + 2 + 2  # ordered pairs of different features that are similar
    assert means.loc["SMZ", (1, 1)] == pytest.approx((7 + alike * 0.95) / 49)
    assert limits.drop("SMZ").abs().to_numpy().max() < 1e-12


def test_the_odd_one_out_is_named_only_if_it_is_clear() -> None:
    names = list(artificial.NAMES.values())
    r = pd.DataFrame(0.9, names, names)
    r.loc["SMU"] = r["SMU"] = 0.2
    r.loc["SMU", "SMU"] = 1.0
    said = bommert2020.summarised(r)
    assert said["SMU − SMZ"] == pytest.approx(0.2 - (5 * 0.9 + 0.2) / 6)
    assert bommert2020.odd_one_out(r, clear=True) == "SMU"
    assert bommert2020.odd_one_out(r, clear=False) == "SMU or SMZ"


def test_standard_errors_of_correlations_are_those_of_the_normal_distribution() -> None:
    """SMU and SMZ are independent: the error of their correlation is 1/√n."""
    rng = np.random.default_rng(0)
    values = pd.DataFrame(rng.normal(size=(400, 7)), columns=list(artificial.NAMES.values()))
    found = bommert2020.standard_errors(values.assign(data="a"), ["a"], 0)
    assert found["SMU and SMZ"] == pytest.approx(1 / 20, rel=0.25)


def test_of_the_two_quickest_measures_one_can_be_judged_and_makes_agreement_in_part_at_most() -> (
    None
):
    sets = ["tecator", "lsvt"]
    found = bommert2020.quickest(sets, sets)
    assert (found["quick_verdict"], found["quick_half"]) == (IN_PART, "holds")
    found = bommert2020.quickest(["lsvt"], sets)
    assert (found["quick_verdict"], found["quick_half"]) == (NOT, "fails")
