"""Replicability: what two independent studies would agree on, as a result with its uncertainty."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mainstay._notebook import card
from mainstay._saving import Saveable, field_parts
from mainstay._validation import InputError
from mainstay.measures import MEASURES
from mainstay.reliability.agreement import chance_agreement, lowest_not_excluded
from mainstay.reliability.gain import Gain
from mainstay.reliability.pairs import gain_from_sharing
from mainstay.reliability.variance import (
    PartScores,
    Spread,
    extrapolate,
    grown,
    logit_growth,
    rows_needed,
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
    sharing : float
        How much further runs of different pairs agree, because they share half of their rows: from
        0 (rows do not matter, the ranker draws by lot) to 1; NaN where partners always agree.
    settings : dict
        What is needed to repeat it.
    seconds : float
        How long the studies took; not saved.
    single : Replicability or None
        The same for single runs of the rankers, if `compared_with` was called.
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
    sharing: float
    settings: dict[str, Any] = field(default_factory=dict)
    seconds: float = math.nan
    single: Replicability | None = None

    def _to_parts(self) -> dict[str, Any]:
        return {**field_parts(self), "seconds": math.nan}

    @classmethod
    def _from_parts(cls, parts: dict[str, Any]) -> Self:
        if "sharing" not in parts:  # files written before it was kept
            parts["sharing"] = gain_from_sharing(parts["runs"], parts["n_features_to_select"])
        return cls(**parts)

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
        return self._spread.standard_error(self.value)

    @property
    def interval(self) -> tuple[float, float]:
        """Confidence interval over data sets, within the range of the measure.

        It reaches down to what the pairs cannot exclude, also where all of them agree fully.
        """
        level, lowest = self.confidence, self._lowest
        low, high = self._spread.interval(self.value, level, lowest)
        of_parts = [self._spread.inside(p).interval(p.mean, level, lowest)[0] for p in self._parts]
        low = max([low, *(min(end, self.value) for end in of_parts if end > 0)])
        return min(low, lowest_not_excluded(self.value, len(self.pairs), level)), high

    @property
    def at_n(self) -> Extrapolation:
        """Agreement of two studies of n rows each: extrapolated, with an interval of its own.

        More rows do not make studies agree less, so that it is at least the estimate at n/2; the
        growth is kept as far as the data can tell it from nothing.
        """
        before = self._parts[0].mean
        value = extrapolate(self.value, before, self._spread)
        low, high = grown(self.interval, logit_growth(self.value, before))
        return Extrapolation(value, (min(low, value), max(high, value)))

    def compared_with(self, single: Replicability) -> Replicability:
        """Keep the replicability of single runs (ensemble_size=None) beside that of ensembles.

        Both must come from the same call of `ms.replicability` but for `ensemble_size`, with the
        same whole number as `random_state`: then the studies are of the same rows, and `gain` says
        whether the ensemble helps.
        """
        if single.ensemble_size is not None or self.ensemble_size is None:
            raise InputError(
                "ensembles are compared with single runs: call compared_with on the replicability "
                "with an ensemble_size, and give it the one with ensemble_size=None."
            )
        if self._studies != single._studies or not isinstance(self._studies[-1], int):
            raise InputError(
                "these were not estimated on the same pairs of halves; give both calls of "
                "ms.replicability the same data, options and whole number as random_state."
            )
        return replace(self, single=single)

    @property
    def gain(self) -> Gain | None:
        """Whether ensembles agree more than single runs; None without `single`."""
        return None if self.single is None else Gain.of(self.single.pairs, self.pairs)

    @property
    def is_corrected(self) -> bool:
        """Whether an agreement of 0 means that of random selections or rankings."""
        entry = MEASURES.get(self.measure.partition("@")[0])
        return entry is not None and entry.corrected

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
            cannot tell, or where it is more than 100 times the rows of these studies (n/2).
        """
        return rows_needed(self.interval, self.value, self._parts[0].mean, self.n_rows, target)

    @property
    def compares_selections(self) -> bool:
        """Whether the measure compares what studies select, not whole rankings or scores."""
        entry = MEASURES.get(self.measure.partition("@")[0])
        return entry is None or entry.reads_selected

    @property
    def statement(self) -> str:
        """The estimate in one sentence; where it cannot be told from chance, a second says so."""
        low, high = self.interval
        what = "the ranker alone" if self.ensemble_size is None else (
            f"ensembles of {self.ensemble_size} resamples")  # fmt: skip
        on = f"their {self.n_features_to_select} features" if self.compares_selections else (
            "how they order the features")  # fmt: skip
        words = (
            f"Two independent studies of {self.n_rows:,} rows each, with {what}, would agree on "
            f"{on} to {self.value:z.2f} ({self.measure}; {self.confidence:.0%} interval {low:z.2f} "
            f"to {high:z.2f})."
        )
        if low <= 0 and self.is_corrected:
            words += " That cannot be told from chance: nothing says that another study would find "
            words += "any of these features."
        return words

    def summary(self) -> str:
        """Say it in plain words."""
        low, high = self.at_n.interval
        words = (
            f"{self.statement} Extrapolated to {self.n:,} rows each: {self.at_n.value:.2f} "
            f"({low:z.2f} to {high:z.2f})."
        )
        return words if self.gain is None else f"{words} {self.gain.summary()}"

    def __repr__(self) -> str:
        low, high = self.interval
        return (
            f"Replicability: {self.value:.4g}, {self.confidence:.0%} interval {low:.4g} to "
            f"{high:.4g} ({self.measure}, two studies of {self.n_rows} rows); extrapolated to "
            f"{self.n} rows: {self.at_n.value:.4g}"
        )

    def _repr_html_(self) -> str:
        return card("Replicability", self.summary(), self.table)

    @property
    def _studies(self) -> tuple[Any, ...]:
        """What must be the same for studies to be of the same rows and compared alike."""
        same = (self.measure, self.n, self.n_features_to_select, self.pairs.shape)
        inside = self.inside_halves.shape
        return *same, inside, self.runs.features, self.settings.get("random_state")

    @property
    def _parts(self) -> list[PartScores]:
        given = (self.inside_halves, self.inside_quarters)
        return [PartScores(values) for values in given if values is not None]

    @cached_property
    def _spread(self) -> Spread:
        k = self.n_features_to_select
        of_chance = chance_agreement(self.measure, k, self.runs.n_features)[1] ** 2
        return Spread.of(self.pairs, self._parts, k, of_chance, self.sharing)

    @property
    def _lowest(self) -> float:
        name = self.measure.partition("@")[0]
        return float(MEASURES[name].lower) if name in MEASURES else -1.0
