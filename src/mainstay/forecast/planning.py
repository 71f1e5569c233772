"""How large an ensemble is worth running."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mainstay._validation import InputError, check_count

if TYPE_CHECKING:
    import pandas as pd

    from mainstay.forecast.curves import Point


@dataclass(frozen=True)
class Plan:
    """The smallest ensemble that reaches a target, and the size beyond which more runs gain little.

    Attributes
    ----------
    target : float or None
        The stability wanted.
    ensemble_size : int or None
        Smallest size whose forecast reaches the target; None if no size does.
    stability, lower, upper : float
        Forecast at `ensemble_size`, or at `worthwhile_size` if no size reaches the target.
    plateau : float
        Limit of the stability as ensembles grow.
    worthwhile_size : int
        Smallest size from which doubling the ensemble gains less than `tolerance`.
    tolerance : float
        Smallest gain per doubling that is worth it.
    seconds : float
        Core-seconds of the recommended ensemble, from the measured cost of a base run; NaN if that
        is not known.
    largest : int
        Largest size considered.
    stability_at_largest : float
        Forecast at that size.
    """

    target: float | None
    ensemble_size: int | None
    stability: float
    lower: float
    upper: float
    plateau: float
    worthwhile_size: int
    tolerance: float
    seconds: float
    largest: int
    stability_at_largest: float

    @property
    def reached(self) -> bool:
        """Whether some ensemble size reaches the target."""
        return self.ensemble_size is not None

    @property
    def recommended_size(self) -> int:
        """Size that reaches the target or, if none does, the worthwhile size."""
        return self.worthwhile_size if self.ensemble_size is None else self.ensemble_size

    def __str__(self) -> str:
        cost = f" ({_duration(self.seconds)} of one core)" if not math.isnan(self.seconds) else ""
        forecast = with_interval(self.stability, self.lower, self.upper)
        worthwhile = (
            f"From {self.worthwhile_size} on, doubling the ensemble gains less than "
            f"{self.tolerance:g}."
        )
        if self.target is None:
            return f"{self.worthwhile_size} resamples would give {forecast}{cost}. {worthwhile}"
        if self.ensemble_size is not None:
            return (
                f"{_resamples(self.ensemble_size)} would reach {self.target:g}: {forecast}{cost}. "
                f"{worthwhile}"
            )
        limit = f"the limit is about {self.plateau:.2f}"
        if self.plateau >= 1:  # in the limit, ensembles on the same data agree
            limit = f"{self.largest} would give about {self.stability_at_largest:.2f}"
        return (
            f"No ensemble of up to {self.largest} reaches {self.target:g}: {limit}. {worthwhile} "
            f"{_resamples(self.worthwhile_size)} would give {forecast}{cost}."
        )

    def to_frame(self) -> pd.DataFrame:
        """Return the plan as a table of one row."""
        import pandas as pd

        return pd.DataFrame([{**self.__dict__, "reached": self.reached}])


def make_plan(
    forecast: Callable[[float], float],
    point: Callable[[float], Point],
    plateau: float,
    seconds: float,
    *,
    target: float | None,
    tolerance: float,
    largest: int,
) -> Plan:
    """Search the sizes 1, 2, 4, … up to `largest`; around the target in steps of a tenth.

    `forecast` gives the stability at a size; `point` the same with its interval.
    """
    check_count("largest", largest, 2)
    if not tolerance > 0:
        raise InputError(f"tolerance must be a number above 0, got {tolerance!r}.")
    if target is not None and not -1 <= target <= 1:
        raise InputError(f"target must be a stability, a number up to 1, got {target!r}.")
    sizes = np.array([2**i for i in range(int(math.log2(largest)) + 1)])
    values = np.array([forecast(float(m)) for m in sizes])
    reached = None if target is None else _first_reaching(target, sizes, values, forecast)
    worthwhile = _worthwhile_size(sizes, np.append(values, plateau), tolerance)
    chosen = point(float(worthwhile if reached is None else reached))
    return Plan(
        target=target,
        ensemble_size=reached,
        stability=chosen.stability,
        lower=chosen.lower,
        upper=chosen.upper,
        plateau=plateau,
        worthwhile_size=worthwhile,
        tolerance=tolerance,
        seconds=seconds * chosen.ensemble_size,
        largest=largest,
        stability_at_largest=float(values[-1]),
    )


def _first_reaching(
    target: float, sizes: np.ndarray, values: np.ndarray, forecast: Callable[[float], float]
) -> int | None:
    above = np.flatnonzero(values >= target)
    if not above.size:
        return None
    high = int(sizes[above[0]])
    between = sorted({round(high * 2 ** (-i / 8)) for i in range(1, 8)})
    for size in between:
        if size > high // 2 and forecast(float(size)) >= target:
            return size
    return high


def _worthwhile_size(sizes: np.ndarray, values: np.ndarray, tolerance: float) -> int:
    """Find the first size at which this doubling and the next gain less than the tolerance."""
    small = np.append(np.diff(values) < tolerance, True)
    settled = np.flatnonzero(small[:-1] & small[1:])
    return int(sizes[settled[0] if settled.size else -1])


def with_interval(value: float, lower: float, upper: float) -> str:
    """A stability with the ends of its interval, if it has one."""
    return f"{value:.2f}" + ("" if math.isnan(lower) else f" ({lower:.2f} to {upper:.2f})")


def _resamples(size: int) -> str:
    return f"{size} resample{'s' * (size != 1)}"


def _duration(seconds: float) -> str:
    """Seconds in words."""
    if seconds < 90:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
