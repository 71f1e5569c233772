"""Replicability: what two independent studies would agree on, as a result with its uncertainty."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mainstay._saving import Saveable, field_parts
from mainstay.measures import MEASURES
from mainstay.reliability.variance import (
    PartScores,
    combined_scale,
    extrapolate,
    grown,
    interval,
    standard_error,
)
from mainstay.runs import Runs

if TYPE_CHECKING:
    import pandas as pd

    from mainstay.plotting import ReplicabilityDisplay


@dataclass(frozen=True)
class Extrapolation:
    """Agreement of two studies with as many rows as there are, extrapolated from smaller ones."""

    value: float
    interval: tuple[float, float]

    def __float__(self) -> float:
        return self.value


@dataclass(frozen=True, eq=False, repr=False)
class Replicability(Saveable):
    """How far two independent studies would agree; `float()` of it is the estimate at n/2 rows.

    Attributes
    ----------
    measure : str
        Name of the measure of agreement.
    pairs : numpy.ndarray
        Agreement of the two disjoint halves, for each of the pairs.
    inside_halves, inside_quarters : numpy.ndarray or None
        Agreements inside disjoint parts (splits × parts × pairs), from which the uncertainty over
        data sets comes; quarters are None where the data are too few.
    n : int
        Number of rows of the data; the estimate is for studies of n/2 rows.
    n_features_to_select : int
        How many features a study selects.
    ensemble_size : int or None
        Resamples in a study's ensemble; None: the rankers alone.
    confidence : float
        Level of the intervals.
    runs : Runs
        What the studies of the halves found; runs 0 and 1, 2 and 3, … are partners.
    settings : dict
        What is needed to repeat it.
    seconds : float
        How long the studies took; not saved.
    """

    measure: str
    pairs: np.ndarray
    inside_halves: np.ndarray
    inside_quarters: np.ndarray | None
    n: int
    n_features_to_select: int
    ensemble_size: int | None
    confidence: float
    runs: Runs
    settings: dict[str, Any] = field(default_factory=dict)
    seconds: float = math.nan

    def _to_parts(self) -> dict[str, Any]:
        return {**field_parts(self), "seconds": math.nan}

    def __float__(self) -> float:
        return self.value

    @property
    def value(self) -> float:
        """Mean agreement of two disjoint halves: unbiased for two studies of n/2 rows."""
        return float(np.mean(self.pairs))

    @property
    def n_rows(self) -> int:
        """Number of rows of the studies that the estimate refers to, n/2."""
        return self.n // 2

    @property
    def standard_error(self) -> float:
        """Standard deviation of the estimate over data sets (not over pairs)."""
        return standard_error(self.value, self._scale, self._pair_error)

    @property
    def interval(self) -> tuple[float, float]:
        """Confidence interval over data sets, within the range of the measure."""
        return interval(self.value, self._scale, self._pair_error, self.confidence, self._lowest)

    @property
    def at_n(self) -> Extrapolation:
        """Agreement of two studies of n rows each: extrapolated, with an interval of its own."""
        before = PartScores(self.inside_halves).mean
        value = extrapolate(self.value, before, self._scale, self._pair_error)
        low, high = grown(self.interval)
        return Extrapolation(value, (min(low, value), max(high, value)))

    @property
    def table(self) -> pd.DataFrame:
        """Agreement by number of rows: observed at n/8, n/4 and n/2, extrapolated to n.

        The interval is given for n/2 and n; smaller parts are there to show the trend.
        """
        import pandas as pd

        nan = math.nan
        rows = [(self.n_rows, self.value, *self.interval, "observed")]
        for divisor, part in zip((4, 8), self._parts, strict=False):
            rows.insert(0, (self.n // divisor, part.mean, nan, nan, "observed"))
        at_n = self.at_n
        rows.append((self.n, at_n.value, *at_n.interval, "extrapolated"))
        return pd.DataFrame(rows, columns=["n_rows", "agreement", "lower", "upper", "kind"])

    def to_frame(self) -> pd.DataFrame:
        """Return the table."""
        return self.table

    def plot(self, ax: Any = None) -> ReplicabilityDisplay:
        """Draw agreement against the number of rows."""
        from mainstay.plotting import ReplicabilityDisplay

        return ReplicabilityDisplay.from_replicability(self, ax=ax)

    def rows_for(self, target: float) -> tuple[float, float]:
        """Roughly how many rows a study needs for a wanted agreement: from the same growth.

        Returns
        -------
        (float, float)
            The fewest and the most that the interval is compatible with; infinity where the data
            cannot tell.
        """
        from mainstay.reliability.variance import rows_needed

        return rows_needed(self.interval, self.value, PartScores(self.inside_halves).mean,
                           self.n_rows, target)  # fmt: skip

    def summary(self) -> str:
        """Say it in plain words."""
        low, high = self.interval
        at_n = self.at_n
        what = "the ranker alone" if self.ensemble_size is None else (
            f"ensembles of {self.ensemble_size} resamples")  # fmt: skip
        words = (
            f"Two independent studies of {self.n_rows} rows each, with {what}, would agree on "
            f"their {self.n_features_to_select} features to {self.value:.2f} ({self.measure}; "
            f"{self.confidence:.0%} interval {low:.2f} to {high:.2f})."
        )
        if low <= 0:
            words += " That cannot be told from chance: nothing says that another study would find "
            words += "any of these features."
        return words + (
            f" Extrapolated to {self.n} rows each: {at_n.value:.2f} ({at_n.interval[0]:.2f} to "
            f"{at_n.interval[1]:.2f})."
        )

    def __repr__(self) -> str:
        low, high = self.interval
        return (
            f"Replicability: {self.value:.4g}, {self.confidence:.0%} interval {low:.4g} to "
            f"{high:.4g} ({self.measure}, two studies of {self.n_rows} rows); extrapolated to "
            f"{self.n} rows: {self.at_n.value:.4g}"
        )

    @property
    def _parts(self) -> list[PartScores]:
        given = (self.inside_halves, self.inside_quarters)
        return [PartScores(values) for values in given if values is not None]

    @property
    def _scale(self) -> float:
        return combined_scale(self._parts)

    @property
    def _pair_error(self) -> float:
        return float(np.std(self.pairs, ddof=1)) / math.sqrt(len(self.pairs))

    @property
    def _lowest(self) -> float:
        name = self.measure.partition("@")[0]
        return float(MEASURES[name].lower) if name in MEASURES else -1.0
