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


_SURE = 4  # a plan names one size if the sizes that its interval allows are within this factor


@dataclass(frozen=True)
class Plan:
    """The smallest ensemble that reaches a target, and the size beyond which more runs gain little.

    Attributes
    ----------
    target : float or None
        The stability wanted.
    ensemble_size : int or None
        Smallest size whose forecast reaches the target; None if no size does.
    fewest, most : int or None
        The same for the upper and the lower end of the interval, in steps of a factor of two: how
        few may be enough, and how many are needed at most. None if no size does, or without a
        target or an interval.
    stability, lower, upper : float
        Forecast at `ensemble_size`, or at `worthwhile_size` if no size reaches the target.
    plateau : float
        Limit of the stability as ensembles grow.
    worthwhile_size : int
        Smallest size from which on every doubling of the ensemble gains less than `tolerance`.
    tolerance : float
        Smallest gain per doubling that is worth it.
    seconds : float
        Core-seconds of the recommended ensemble, from the measured cost of a base run; NaN if that
        is not known.
    largest : int
        Largest size considered.
    stability_at_largest : float
        Forecast at that size.
    narrowed_by : str
        What would make the interval narrower.
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
    fewest: int | None = None
    most: int | None = None
    narrowed_by: str = ""

    @property
    def reached(self) -> bool:
        """Whether some ensemble size reaches the target."""
        return self.ensemble_size is not None

    @property
    def recommended_size(self) -> int:
        """Size that reaches the target or, if none does, the worthwhile size."""
        return self.worthwhile_size if self.ensemble_size is None else self.ensemble_size

    @property
    def is_sure(self) -> bool:
        """Whether the interval supports a size: both of its ends lead to sizes close to it."""
        if math.isnan(self.lower):
            return self.reached
        if self.ensemble_size is None or self.fewest is None or self.most is None:
            return False
        return self.most <= _SURE * self.fewest

    def __str__(self) -> str:
        if self.target is None:
            return f"{self._would_give}. {self._worthwhile}"
        if not self.is_sure:
            return self._unsure
        between = ""
        if self.fewest is not None and self.most is not None and self.fewest < self.most:
            between = f" (the interval allows {self.fewest:,} to {self.most:,})"
        assert self.ensemble_size is not None
        forecast = with_interval(self.stability, self.lower, self.upper)
        return (
            f"{resamples(self.ensemble_size)} would reach {self.target:g}{between}: "
            f"{forecast}{self._cost}. {self._worthwhile}"
        )

    @property
    def _unsure(self) -> str:
        """What can be said where one number would say too much."""
        few = None if self.fewest is None else resamples(self.fewest)
        if few is None or (self.ensemble_size is None and math.isnan(self.lower)):
            limit = f": the limit is about {self.plateau:.2f}"
            if self.plateau >= 1:  # in the limit, ensembles on the same data agree
                limit = f": the largest would give about {self.stability_at_largest:.2f}"
            return (
                f"No ensemble of up to {self.largest:,} reaches {self.target:g}{limit}. "
                f"{self._would_give}. {self._worthwhile}"
            )
        if self.ensemble_size is None:
            size = (
                f"No ensemble of up to {self.largest:,} is forecast to reach {self.target:g}, but "
                f"the interval does not exclude that {few} would. {self._would_give}"
            )
        elif self.most is None:
            size = (
                f"At least {few} would be needed for {self.target:g}; how many are enough, these "
                "runs cannot tell"
            )
        else:
            size = (
                f"Between {self.fewest:,} and {resamples(self.most)} would reach {self.target:g}; "
                "these runs cannot tell more closely"
            )
        return f"{size}. {self.narrowed_by}"

    @property
    def _would_give(self) -> str:
        size = resamples(self.recommended_size)
        return (
            f"{size} would give {with_interval(self.stability, self.lower, self.upper)}{self._cost}"
        )

    @property
    def _cost(self) -> str:
        return "" if math.isnan(self.seconds) else f" ({_duration(self.seconds)} of one core)"

    @property
    def _worthwhile(self) -> str:
        if self.worthwhile_size == 1:
            return f"No doubling of the ensemble gains {self.tolerance:g}."
        if self.worthwhile_size > self.largest / 2:
            return f"Doubling the ensemble gains {self.tolerance:g} or more up to that size."
        return (
            f"From about {self.worthwhile_size:,} on, doubling the ensemble gains less than "
            f"{self.tolerance:g}."
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
    narrowed_by: str = "",
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
    worthwhile = _worthwhile_size(sizes, values, tolerance)
    chosen = point(float(worthwhile if reached is None else reached))
    fewest = most = None
    if target is not None and not math.isnan(chosen.lower):
        fewest, most = _sizes_allowed(target, sizes, reached, point)
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
        fewest=fewest,
        most=most,
        narrowed_by=narrowed_by,
    )


def _sizes_allowed(
    target: float, sizes: np.ndarray, reached: int | None, point: Callable[[float], Point]
) -> tuple[int | None, int | None]:
    """The first sizes at which the upper and the lower end of the interval reach the target.

    The ends are looked for around the size whose forecast reaches the target; the lower end is not
    where nothing reaches it.
    """
    fewest = reached
    for size in sizes[::-1] if reached is None else sizes[sizes < reached][::-1]:
        if point(float(size)).upper >= target:
            fewest = int(size)
        elif fewest is not None:
            break
    if reached is None:
        return fewest, None
    for size in [reached, *sizes[sizes > reached]]:
        if point(float(size)).lower >= target:
            return fewest, int(size)
    return fewest, None


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
    """Find the first size from which on every doubling gains less than the tolerance.

    Forecasts are noisy, but larger ensembles do not agree less: gains are those of the isotonic
    regression. The last size if doubling still gains more there.
    """
    from sklearn.isotonic import isotonic_regression

    large = np.flatnonzero(np.diff(isotonic_regression(values)) >= tolerance)
    return int(sizes[large[-1] + 1 if large.size else 0])


def with_interval(value: float, lower: float, upper: float) -> str:
    """A stability with the ends of its interval, if it has one."""
    return f"{value:.2f}" + ("" if math.isnan(lower) else f" ({lower:.2f} to {upper:.2f})")


def resamples(size: int) -> str:
    """A number of resamples, in words."""
    return f"{size:,} resample{'s' * (size != 1)}"


def _duration(seconds: float) -> str:
    """Seconds in words."""
    if seconds < 90:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
