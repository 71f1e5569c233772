"""Stability by the number of selected features."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from mainstay._validation import InputError, check_choice, check_count
from mainstay.measures import MEASURES, stability
from mainstay.plotting._axes import BLUE, GREY, ORANGE, Display, count_on_log_axis, head, new_axes
from mainstay.plotting._ordering import fitted

if TYPE_CHECKING:
    from mainstay.runs import Runs
    from mainstay.similarity import FeatureSimilarity


@dataclass(eq=False)
class StabilityBySizeDisplay(Display):
    """Stability of the k best features for many k, with intervals, and what chance would give.

    Parameters
    ----------
    table : pandas.DataFrame
        One row per size: `n_features`, `stability`, `lower`, `upper`, and `chance`, the stability
        of as many random selections of that size (0 for measures that are corrected for chance,
        NaN where it is not known in closed form).
    measure : str
        The measure.
    n_runs, n_features : int
        Of the runs it was computed from.
    confidence : float
        Level of the intervals.
    n_features_to_select : int, optional
        A number of features to mark.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn; `display.save("sizes.png")` writes it to a file.

    Examples
    --------
    >>> import mainstay as ms
    >>> runs = ms.Runs.from_ranks([[1, 2, 3, 4], [1, 3, 2, 4], [1, 2, 4, 3]])
    >>> display = ms.StabilityBySizeDisplay.from_runs(runs, "jaccard", sizes=[1, 2])
    >>> display.table[["n_features", "stability", "chance"]].round(3)
       n_features  stability  chance
    0           1      1.000   0.250
    1           2      0.556   0.389
    """

    table: pd.DataFrame
    measure: str
    n_runs: int
    n_features: int
    confidence: float = 0.95
    n_features_to_select: int | None = None

    @classmethod
    def from_runs(
        cls,
        runs: Runs,
        measure: str = "nogueira",
        *,
        sizes: Sequence[int] | None = None,
        similarity: FeatureSimilarity | None = None,
        confidence: float = 0.95,
        n_features_to_select: int | None = None,
        random_state: int = 0,
        ax: Any = None,
    ) -> StabilityBySizeDisplay:
        """Measure and draw the stability of the k best features of every run.

        Parameters
        ----------
        runs : Runs
            Rankings or scores.
        measure : str
            A measure of selections.
        sizes : sequence of int, optional
            Numbers of features; about 15 from 1 to half of all if not given.
        similarity : FeatureSimilarity, optional
            For the measures that need one.
        confidence : float
            Level of the intervals.
        n_features_to_select : int, optional
            A number of features to mark.
        random_state : int
            Seed of random ties and simulated corrections.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        """
        valid = [name for name, info in MEASURES.items() if info.compares_selections]
        check_choice("measure of selections", measure, valid)
        p = runs.n_features
        if runs.kind == "support":
            raise InputError(
                "these runs hold selections, which have one size; give runs that hold ranks or "
                "scores."
            )
        if sizes is None:
            sizes = sorted({round(k) for k in np.geomspace(1, max(1, p // 2), 15)})
        chance = MEASURES[measure].chance_level
        rows = []
        for k in sorted({check_count("sizes", k, 1, p) for k in sizes}):
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "in .* runs features tie")
                chosen = runs.top(k, random_state=random_state)
            estimate = stability(
                chosen, measure, similarity=similarity, confidence=confidence,
                undefined="nan", random_state=random_state,
            )  # fmt: skip
            rows.append((k, estimate.value, *estimate.interval, chance(k, runs.n_runs, p)))
        table = pd.DataFrame(rows, columns=["n_features", "stability", "lower", "upper", "chance"])
        if table["stability"].isna().all():
            raise InputError(f"{measure!r} is undefined for all sizes: {list(sizes)}.")
        return cls(table, measure, runs.n_runs, p, confidence, n_features_to_select).plot(ax)

    @classmethod
    def from_selector(
        cls,
        selector: Any,
        measure: str = "nogueira",
        *,
        sizes: Sequence[int] | None = None,
        ax: Any = None,
    ) -> StabilityBySizeDisplay:
        """Draw the stability by size of the runs of a fitted `EnsembleSelector`.

        Parameters
        ----------
        selector : EnsembleSelector
            Fitted, with a ranker that ranks.
        measure : str
            A measure of selections.
        sizes : sequence of int, optional
            Numbers of features; about 15 from 1 to half of all if not given.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        """
        runs = fitted(selector).runs_
        adjusted = measure in MEASURES and MEASURES[measure].adjusted
        return cls.from_runs(
            runs,
            measure,
            sizes=sizes,
            similarity=selector.similarity_ if adjusted else None,
            n_features_to_select=selector.n_features_ or None,
            ax=ax,
        )

    def plot(self, ax: Any = None) -> StabilityBySizeDisplay:
        """Draw on `ax`, or on new axes."""
        self.ax_ = ax = new_axes() if ax is None else ax
        self.figure_ = ax.figure
        table = self.table
        x, y = table["n_features"], table["stability"]
        lower, upper = table["lower"], table["upper"]
        ax.fill_between(x, lower.clip(-1, 1), upper.clip(-1, 1), color=BLUE, alpha=0.18,
                        linewidth=0, label=f"{self.confidence:.0%} interval")  # fmt: skip
        ax.plot(x, y, "o-", color=BLUE, label="these runs")
        if table["chance"].notna().any():
            ax.plot(x, table["chance"], ":", color=GREY, linewidth=1.6, label="random selection")
        if self.n_features_to_select is not None:
            ax.axvline(self.n_features_to_select, color=ORANGE, linestyle="--", linewidth=1.2,
                       label=f"{self.n_features_to_select} selected")  # fmt: skip
        count_on_log_axis(ax)
        lowest = float(np.nanmin([y.min(), table["chance"].min(), lower.clip(-1, 1).min(), 0.0]))
        ax.set(
            xlabel="number of selected features, k",
            ylabel=f"stability ({self.measure})",
            ylim=(lowest - 0.03, 1.03),
        )
        ax.grid(axis="y", color="0.9", linewidth=0.8)
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False, loc="best", fontsize="small")
        note = f"k best features of {self.n_runs:,} rankings of {self.n_features:,} features"
        head(ax, "How many features are reproducible?", note)
        return self
