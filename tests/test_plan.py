"""A plan names a size only where its interval supports it; else the range, and what narrows it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import mainstay as ms
from mainstay.forecast.curves import Point
from mainstay.forecast.planning import Plan, make_plan


def plan(half_width: float, target: float | None = 0.8, limit: float = 1.0, **options: Any) -> Plan:
    """Plan with Φ(m) = limit · m/(m + 10), known to ± half_width: 0.8 is reached at m = 40."""

    def value(m: float) -> float:
        return limit * m / (m + 10)

    def point(m: float) -> Point:
        phi = value(m)
        return Point(m, phi, half_width / 2, phi - half_width, min(phi + half_width, 1.0), True)

    settings = {"tolerance": 0.01, "largest": 10_000, "narrowed_by": "More runs would."} | options
    return make_plan(value, point, limit, math.nan, target=target, **settings)


def test_a_narrow_interval_supports_one_size_and_the_plan_says_how_far() -> None:
    made = plan(0.02)
    assert made.is_sure
    assert made.ensemble_size is not None
    assert made.ensemble_size == pytest.approx(40, rel=0.1)
    assert made.fewest is not None
    assert made.most is not None
    # the ends of the interval reach 0.8 at Φ = 0.78 and 0.82: m = 35.5 and 45.6
    assert made.fewest <= made.ensemble_size <= 45.6 <= made.most <= 64
    assert "resamples would reach 0.8 (the interval allows" in str(made)


def test_a_wide_interval_gives_the_range_and_what_would_narrow_it() -> None:
    made = plan(0.1)
    # Φ = 0.7 at m = 23.3, Φ = 0.9 at m = 90; looked for in powers of two
    assert (made.fewest, made.most) == (32, 128)
    assert made.is_sure
    wide = plan(0.15)
    assert (wide.fewest, wide.most) == (32, 256)  # Φ = 0.65 at m = 18.6, Φ = 0.95 at m = 190
    assert str(wide) == (
        "Between 32 and 256 resamples would reach 0.8; these runs cannot tell more closely. "
        "More runs would."
    )


def test_an_interval_without_end_names_no_size_that_is_enough() -> None:
    made = plan(0.27)
    assert made.most is None
    assert str(made).startswith(
        "At least 16 resamples would be needed for 0.8; how many are enough"
    )
    assert "would reach" not in str(made)


def test_a_target_beyond_the_forecast_but_within_the_interval_is_not_excluded() -> None:
    made = plan(0.1, limit=0.75)
    assert not made.reached
    assert made.fewest is not None
    assert "is forecast to reach 0.8, but the interval does not exclude" in str(made)
    far = plan(0.1, limit=0.5)
    assert str(far).startswith("No ensemble of up to 10,000 reaches 0.8: the limit is about 0.50.")


def test_worthwhile_is_where_every_further_doubling_gains_little() -> None:
    """A curve that starts flat, as those of noise do, was once said to be settled at 2."""

    def late(m: float) -> float:
        return 1 / (1 + math.exp(-(math.log2(m) - 7)))

    sizes = 2.0 ** np.arange(14)
    gains = np.diff([late(m) for m in sizes])
    expected = int(sizes[np.flatnonzero(gains >= 0.01)[-1] + 1])
    made = make_plan(late, lambda m: Point(m, late(m), math.nan, math.nan, math.nan, False), 1.0,
                     math.nan, target=None, tolerance=0.01, largest=10_000)  # fmt: skip
    assert made.worthwhile_size == expected > 1000


def test_plans_of_five_seeds_are_close_or_say_how_unsure_they_are() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 200))
    y = (X[:, :5].sum(axis=1) + rng.normal(size=60) > 0).astype(int)
    plans = [
        ms.forecast_stability(
            "f_statistic", X, y, n_features_to_select=10, protocol="flat", n_runs=60,
            random_state=seed,
        ).plan(0.9)
        for seed in range(5)
    ]  # fmt: skip
    sizes = [one.ensemble_size or math.inf for one in plans]
    close = max(sizes) <= 1.5 * min(sizes)
    for one in plans:
        if not close:
            said = str(one)
            assert "these runs cannot tell" in said or "the interval" in said
        assert one.fewest is not None
        assert one.fewest <= min(sizes)  # what one seed allows holds what the others found


def test_a_comparison_without_a_model_has_numbers_only() -> None:
    """`mainstay forecast --compare` printed a bare None."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 60)), np.tile([0, 1], 20)
    forecast = ms.forecast_stability(
        "f_statistic", X, y, n_features_to_select=30, protocol="flat", n_runs=20, random_state=0
    )
    assert forecast.infeasible
    assert forecast.compare()["simulator"].dtype == float
    assert forecast.compare()["simulator"].isna().all()
