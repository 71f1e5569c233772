"""Bounds from complementary pairs: reference values, twins, and what must hold for any numbers."""

from __future__ import annotations

import math
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_bounds
from conftest import golden
from mainstay import InputError
from mainstay.reliability import bounds
from mainstay.reliability.bounds.concave_tails import largest_tails

NAMES = {
    "meinshausen-buehlmann": bounds.meinshausen_buehlmann,
    "unimodal": bounds.unimodal,
    "r-concave": bounds.r_concave,
}
EVERY_BOUND = pytest.mark.parametrize("name", NAMES)


@st.composite
def designs(draw: st.DrawFn, most_pairs: int = 20) -> tuple[int, Fraction, int]:
    """Numbers of features, of selected features (not always whole) and of pairs."""
    p = draw(st.integers(1, 3000))
    q = Fraction(draw(st.integers(0, 4 * p)), 4)
    return p, q, draw(st.integers(1, most_pairs))


def value(name: str, p: int, q: float, n_pairs: int, count: int) -> float:
    """The bound, infinite where it does not hold."""
    try:
        return NAMES[name](
            n_features=p, n_selected=q, n_pairs=n_pairs, threshold=count / (2 * n_pairs)
        )
    except InputError:
        return math.inf


# --- the numbers ----------------------------------------------------------------------------------


def test_bounds_have_the_reference_values():
    checked = 0
    for case in golden("error_control/bounds.json")["values"]:
        p, q, B = case["n_features"], case["n_selected"], case["n_pairs"]
        for name in NAMES:
            wanted = case[name.replace("-", "_")]
            found = value(name, p, q, B, case["count"])
            assert found == (math.inf if wanted is None else pytest.approx(wanted, rel=1e-9))
            checked += 1
    assert checked == 3 * 36


@pytest.mark.parametrize("name", ["meinshausen-buehlmann", "unimodal"])
@given(designs(), st.data())
def test_bounds_of_closed_form_are_what_fractions_give(name, design, data):
    p, q, B = design
    count = data.draw(st.integers(0, 2 * B))
    wanted = getattr(naive_bounds, name.replace("-", "_"))(p, q, B, count)
    found = value(name, p, float(q), B, count)
    assert found == (math.inf if wanted is None else pytest.approx(float(wanted), rel=1e-12))


@given(
    st.integers(1, 8), st.floats(1e-4, 0.6), st.sampled_from([-0.5, -0.25]), st.integers(0, 8)
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_the_largest_tail_is_at_an_end_point_of_a_scan_between_them(n, eta, r, t):
    wanted = naive_bounds.largest_tail(eta, min(t, n), n, r)
    assert largest_tails(eta, n, r)[min(t, n)] == pytest.approx(wanted, rel=1e-7, abs=1e-12)


@given(
    st.integers(2, 30),
    st.sampled_from([-0.5, -0.25]),
    st.integers(0, 2**32 - 1),
    st.floats(0.1, 50),
)
def test_no_r_concave_distribution_has_a_larger_tail(n, r, seed, steepness):
    """Of a convex positive h, h^(1/r) is r-concave; its support may end before n."""
    rng = np.random.default_rng(seed)
    last = rng.integers(1, n + 1)
    slopes = np.sort(rng.normal(size=last)) * steepness + rng.exponential() * steepness
    convex = np.concatenate(([0.0], np.cumsum(slopes)))
    convex += rng.exponential() + 1e-3 - convex.min()
    mass = np.concatenate((convex ** (1 / r), np.zeros(n - last)))
    mass /= mass.sum()
    eta = mass @ np.arange(n + 1) / n
    tails = np.cumsum(mass[::-1])[::-1]
    assert (tails <= largest_tails(float(eta), n, r) * (1 + 1e-9) + 1e-12).all()


def test_the_r_concave_bound_is_fast():
    largest_tails.cache_clear()
    start = time.process_time()
    bounds.r_concave(n_features=1234, n_selected=51, n_pairs=50, threshold=0.8)
    assert time.process_time() - start < 0.1  # about 2 ms
    bounds.r_concave(n_features=1234, n_selected=51, n_pairs=500, threshold=0.8)
    assert time.process_time() - start < 5  # about 0.6 s


# --- what must hold -------------------------------------------------------------------------------


@EVERY_BOUND
@given(designs())
def test_bounds_fall_with_the_threshold(name, design):
    p, q, B = design
    values = bounds.BOUNDS[name].by_count(p, float(q), B)
    assert len(values) == 2 * B + 1
    finite = values[np.isfinite(values)]
    assert (np.diff(finite) <= 1e-12 * p).all()
    assert np.isfinite(values[len(values) - len(finite) :]).all()  # infinite ones come first


@EVERY_BOUND
@given(designs(), st.data())
def test_bounds_grow_with_the_number_of_features_a_run_selects(name, design, data):
    p, q, B = design
    fewer = q * data.draw(st.fractions(0, 1, max_denominator=10))
    few, many = (bounds.BOUNDS[name].by_count(p, float(x), B) for x in (fewer, q))
    assert (few <= many * (1 + 1e-9) + 1e-12).all()


@given(designs())
def test_the_unimodal_bound_is_never_above_that_of_meinshausen_and_buehlmann(design):
    p, q, B = design
    plain, unimodal = (
        bounds.BOUNDS[name].by_count(p, float(q), B)
        for name in ("meinshausen-buehlmann", "unimodal")
    )
    both = np.isfinite(unimodal)
    assert (unimodal[both] <= plain[both] * (1 + 1e-12)).all()


@given(st.integers(10, 3000), st.floats(0.001, 0.2), st.integers(2, 30))
def test_the_r_concave_bound_is_not_above_the_unimodal_one_where_its_tails_are_not_trivial(
    p, theta, B
):
    unimodal, r_concave = (
        bounds.BOUNDS[name].by_count(p, theta * p, B) for name in ("unimodal", "r-concave")
    )
    not_trivial = np.arange(2 * B + 1) - B > 2 * theta**2 * B + 1
    assert (r_concave <= unimodal * (1 + 1e-9))[not_trivial].all()


@pytest.mark.parametrize("count", range(1, 101))
def test_a_share_counts_the_runs_that_it_says_whatever_the_rounding(count):
    for share in (count / 100, 0.01 * count, float(f"0.{count:02d}") if count < 100 else 1.0):
        found = bounds.r_concave(n_features=100, n_selected=5, n_pairs=50, threshold=share)
        assert found == bounds.BOUNDS["r-concave"].by_count(100, 5.0, 50)[count]


def test_without_pairs_the_threshold_is_taken_as_it_is():
    design = {"n_features": 100, "n_selected": 10, "threshold": 0.7}
    assert bounds.meinshausen_buehlmann(**design) == pytest.approx(2.5)
    rounded_up = bounds.meinshausen_buehlmann(**design, n_pairs=2)  # 3 of 4 runs
    assert rounded_up == pytest.approx(2.0)


# --- the other way round --------------------------------------------------------------------------


@EVERY_BOUND
@given(designs(8), st.floats(0.01, 100))
@settings(deadline=None)
def test_the_smallest_threshold_keeps_the_bound_and_one_run_less_does_not(name, design, most):
    p, q, B = design
    found = bounds.smallest_threshold(
        max_false=most, n_features=p, n_selected=float(q), n_pairs=B, bound=name
    )
    count = 2 * B + 1 if found is None else round(found * 2 * B)
    if count <= 2 * B:
        assert value(name, p, float(q), B, count) <= most * (1 + 2e-9)
    if count > 0:
        assert value(name, p, float(q), B, count - 1) > most


@EVERY_BOUND
@given(designs(8), st.floats(0.01, 100), st.data())
@settings(deadline=None)
def test_the_largest_selection_keeps_the_bound_and_one_feature_more_does_not(
    name, design, most, data
):
    p, _, B = design
    count = data.draw(st.integers(1, 2 * B))
    q = bounds.largest_selection(
        max_false=most, n_features=p, n_pairs=B, threshold=count / (2 * B), bound=name
    )
    assert q == 0 or value(name, p, q, B, count) <= most * (1 + 2e-9)
    assert q == p or value(name, p, q + 1, B, count) > most


# --- edges ----------------------------------------------------------------------------------------


@EVERY_BOUND
def test_runs_that_select_nothing_select_nothing_false(name):
    assert value(name, 100, 0, 10, 15) == 0


def test_runs_that_select_everything_have_no_useful_bound():
    assert value("meinshausen-buehlmann", 100, 100, 10, 20) == 100
    assert value("r-concave", 100, 100, 10, 20) == 100
    message = r"needs n_selected of at most n_features/√3 = 57.74, got 100.*select fewer"
    with pytest.raises(InputError, match=message):
        bounds.unimodal(n_features=100, n_selected=100, n_pairs=10, threshold=1)


def test_one_pair_and_one_feature():
    assert value("meinshausen-buehlmann", 1, 1, 1, 2) == 1
    assert value("unimodal", 2, 1, 1, 2) == pytest.approx(0.5)
    assert value("r-concave", 1, 1, 1, 2) == 1


@pytest.mark.parametrize(
    ("name", "threshold", "message"),
    [
        (
            "meinshausen-buehlmann",
            0.5,
            "meinshausen-buehlmann bound holds for thresholds above 1/2",
        ),
        ("unimodal", 0.5, r"unimodal bound holds for thresholds above 1/2 and, .* got 0.5"),
        ("r-concave", 1.5, r"threshold must be a number in \[0, 1\], got 1.5"),
        ("unimodal", 75, r"threshold must be a number in \[0, 1\], got 75"),
    ],
)
def test_a_threshold_for_which_a_bound_does_not_hold_is_refused(name, threshold, message):
    with pytest.raises(InputError, match=message):
        NAMES[name](n_features=100, n_selected=10, n_pairs=10, threshold=threshold)


@pytest.mark.parametrize("q", [-1, 101, "many", None, math.nan])
def test_a_run_selects_between_none_and_all_features(q):
    with pytest.raises(InputError, match=r"n_selected, .* from 0 to n_features \(100\), got"):
        bounds.unimodal(n_features=100, n_selected=q, n_pairs=10, threshold=0.9)


@pytest.mark.parametrize("most", [0, -1, "few", math.inf, math.nan])
def test_the_wanted_number_of_false_features_is_above_zero(most):
    with pytest.raises(InputError, match=r"max_false, .* must be a number above 0, got"):
        bounds.smallest_threshold(max_false=most, n_features=10, n_selected=1, n_pairs=5)


def test_an_unknown_bound_gets_the_nearest_name():
    with pytest.raises(InputError, match="Did you mean 'r-concave'"):
        bounds.smallest_threshold(
            max_false=1, n_features=10, n_selected=1, n_pairs=5, bound="r_concave"
        )
