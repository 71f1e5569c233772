"""Two results side by side: what entered the list, what left it, and what may be mere noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from mainstay._notebook import card
from mainstay._validation import some
from mainstay.measures.inference import frequency_interval
from mainstay.report import write_difference_page

if TYPE_CHECKING:
    import pandas as pd

    from mainstay.ensemble.result import SelectionResult


@dataclass(frozen=True, eq=False, repr=False)
class ResultDifference:
    """What `result.compared_with(other)` returns: how the list changed from one to the other.

    The runs of either result are a sample of all runs that its procedure could make on its rows. A
    change of frequency is `beyond_noise` if that sample cannot explain it: 0 is outside the
    interval of the difference of two proportions (Newcombe 1998, from Wilson intervals). The
    intervals hold for all features together (Bonferroni), since lists are made of those that chance
    favoured. That is about runs on the same rows; it says nothing about what other rows would
    change.

    Attributes
    ----------
    before, after : SelectionResult
        The two results.
    names : (str, str)
        What they are called.
    confidence : float
        Level of the intervals, for all features together.
    table : pandas.DataFrame
        Features of either list: `change` ("entered", "left", "stayed"), ranks and frequencies in
        both results, `difference` of the frequencies with `lower` and `upper`, `beyond_noise`.

    References
    ----------
    Newcombe, Interval estimation for the difference between independent proportions. Statistics in
    Medicine 17, 1998.
    """

    before: SelectionResult
    after: SelectionResult
    names: tuple[str, str]
    confidence: float
    table: pd.DataFrame

    @property
    def entered(self) -> tuple[str, ...]:
        """Features that only the second list has, best first."""
        return self._that("entered")

    @property
    def left(self) -> tuple[str, ...]:
        """Features that only the first list has, best first."""
        return self._that("left")

    @property
    def stayed(self) -> tuple[str, ...]:
        """Features of both lists."""
        return self._that("stayed")

    def _that(self, change: str) -> tuple[str, ...]:
        return tuple(self.table["feature"][self.table["change"] == change])

    @property
    def settings(self) -> pd.DataFrame:
        """Parameters in which the two differ: `parameter`, `before`, `after`."""
        import pandas as pd

        one, other = (r.settings.get("parameters", {}) for r in (self.before, self.after))
        differing = [name for name in sorted({*one, *other}) if one.get(name) != other.get(name)]
        return pd.DataFrame(
            {
                "parameter": differing,
                "before": [one.get(name) for name in differing],
                "after": [other.get(name) for name in differing],
            }
        )

    @property
    def same_data(self) -> bool | None:
        """Whether both saw the same data, by their hashes; None if that is not known."""
        one, other = (r.settings.get("data") for r in (self.before, self.after))
        return None if not one or not other else bool(one == other)

    @property
    def stability_change(self) -> tuple[float, float]:
        """Difference of the two stabilities, and half the width of its interval (may be NaN)."""
        one, other = self.before.stability, self.after.stability
        reach = float(stats.norm.ppf((1 + self.confidence) / 2))
        error = math.hypot(one.sampling_error, other.sampling_error)
        return other.value - one.value, reach * error

    @property
    def statement(self) -> str:
        """What changed, in one sentence."""
        if not (self.entered or self.left):
            return f"Both lists hold the same {_features(len(self.stayed))}."
        return (
            f"{_features(len(self.entered))} entered, {len(self.left):,} left, "
            f"{len(self.stayed):,} stayed."
        )

    def summary(self) -> str:
        """What changed, what of it is beyond noise, and what that does not say."""
        return f"{self.statement} {self.explanation}"

    @property
    def explanation(self) -> str:
        """What of the changes is beyond noise, and what that does not say."""
        changed = self.table[self.table["change"] != "stayed"]
        beyond = [str(name) for name in changed["feature"][changed["beyond_noise"]]]
        within = [str(name) for name in changed["feature"][~changed["beyond_noise"]]]
        words = []
        if beyond:
            words.append(f"More than the number of runs leaves open: {some(beyond, 12)}.")
        if within:
            words.append(
                f"Within the noise of the runs, so that another seed could undo it: "
                f"{some(within, 12)}."
            )
        words += [self._about_sizes(), self._about_stability(), self._about_data()]
        return " ".join(filter(None, words))

    def _about_sizes(self) -> str:
        one, other = (float(r.selections.sizes.mean()) for r in (self.before, self.after))
        if round(one, 1) == round(other, 1):
            return ""
        return (
            f"A run selects {one:.3g} features before and {other:.3g} after; that alone changes "
            "frequencies."
        )

    def _about_stability(self) -> str:
        one, other = self.before.stability.value, self.after.stability.value
        gain, reach = self.stability_change
        words = f"The runs agree to {one:.2f} before and {other:.2f} after"
        if math.isnan(reach):
            return f"{words}; for an interval of the difference there are too few runs."
        noise = "beyond noise" if abs(gain) > reach else "within noise"
        return f"{words}, a difference of {gain:+.2f} ± {reach:.2f}: {noise}."

    def _about_data(self) -> str:
        if self.same_data is None:
            return "Whether both saw the same data is not known."
        if self.same_data:
            return "Both saw the same data."
        return (
            "They saw different data: what is beyond the noise of the runs may come from the rows, "
            "and the runs cannot tell how much."
        )

    def to_frame(self) -> pd.DataFrame:
        """Return the table."""
        return self.table.copy()

    def write_report(self, path: str | Path, *, title: str | None = None) -> None:
        """Write the comparison as one HTML page."""
        write_difference_page(self, path, title=title)

    def _repr_html_(self) -> str:
        return card(f"{self.names[0]} and {self.names[1]}", self.summary(), self.table)

    def __repr__(self) -> str:
        return f"ResultDifference: {self.statement}"


def difference_of(
    before: SelectionResult,
    after: SelectionResult,
    names: tuple[str, str] = ("before", "after"),
    confidence: float = 0.95,
) -> ResultDifference:
    """Set two results side by side."""
    import pandas as pd

    either = list(dict.fromkeys([*after.selected, *before.selected]))
    n_features = len({*before.runs.features, *after.runs.features})
    level = 1 - (1 - confidence) / n_features
    one, other = (_frequencies(result, either, level) for result in (before, after))
    low = (other[0] - one[0]) - np.hypot(other[0] - other[1], one[2] - one[0])
    high = (other[0] - one[0]) + np.hypot(other[2] - other[0], one[0] - one[1])
    chosen = [set(before.selected), set(after.selected)]
    table = pd.DataFrame(
        {
            "feature": either,
            "change": ["stayed" if name in chosen[0] & chosen[1] else
                       "entered" if name in chosen[1] else "left" for name in either],
            "rank_before": _ranks(before, either),
            "rank_after": _ranks(after, either),
            "frequency_before": one[0],
            "frequency_after": other[0],
            "difference": other[0] - one[0],
            "lower": low,
            "upper": high,
            "beyond_noise": (low > 0) | (high < 0) | np.isnan(low),
        }
    )  # fmt: skip
    order = {"entered": 0, "left": 1, "stayed": 2}
    table = table.sort_values("change", key=lambda column: column.map(order), kind="stable")
    return ResultDifference(before, after, names, confidence, table.reset_index(drop=True))


def _frequencies(
    result: SelectionResult, names: list[str], level: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Frequencies with their Wilson intervals; NaN for features that a result does not know."""
    chosen = result.selections
    place = {name: j for j, name in enumerate(chosen.features)}
    low, high = frequency_interval(chosen, level)
    columns = (chosen.counts / chosen.n_runs, low, high)
    at = [place.get(name, -1) for name in names]
    known = np.array(at) >= 0
    frequency, lower, upper = (np.where(known, column[at], np.nan) for column in columns)
    return frequency, lower, upper


def _ranks(result: SelectionResult, names: list[str]) -> list[Any]:
    ranks: dict[Any, Any] = result.feature_table.set_index("feature")["rank"].to_dict()
    return [ranks.get(name) for name in names]


def _features(n: int) -> str:
    return f"{n:,} feature{'s' * (n != 1)}"
