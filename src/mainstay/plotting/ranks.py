"""Where the best features were ranked, run by run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from mainstay._validation import check_count
from mainstay.plotting._axes import (
    BLUE,
    GREY,
    ORANGE,
    Display,
    count_on_log_axis,
    head,
    legend_below,
    new_axes,
    rows_height,
    rows_of_features,
    shown_of,
)
from mainstay.plotting._ordering import best_first, fitted, number_shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mainstay.runs import Runs

_QUANTILES = {"low": 0.05, "lower_quartile": 0.25, "median": 0.5, "upper_quartile": 0.75,
              "high": 0.95}  # fmt: skip
_MOST_LINEAR = 40  # features; with more, the best places need a logarithmic axis


@dataclass(eq=False)
class RankDistributionDisplay(Display):
    """Ranks of the best features over the runs: the middle half, 90%, median and mean.

    Parameters
    ----------
    table : pandas.DataFrame
        The features shown, best first: `feature`, `low` and `high` (5% and 95% of the runs),
        `lower_quartile`, `median`, `upper_quartile`, `mean`.
    n_runs, n_features : int
        What it was computed from.
    n_features_to_select : int, optional
        How many features are selected: marked by a line.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn; `display.save("ranks.png")` writes it to a file.

    Examples
    --------
    >>> import mainstay as ms
    >>> runs = ms.Runs.from_ranks([[1, 2, 3], [1, 3, 2], [2, 1, 3]], features=["a", "b", "c"])
    >>> ms.RankDistributionDisplay.from_runs(runs).table[["feature", "median", "mean"]]
      feature  median      mean
    0       a     1.0  1.333333
    1       b     2.0  2.000000
    2       c     3.0  2.666667
    """

    table: pd.DataFrame
    n_runs: int
    n_features: int
    n_features_to_select: int | None = None

    @classmethod
    def from_runs(
        cls,
        runs: Runs,
        *,
        order: Any = None,
        n_features_to_select: int | None = None,
        n_shown: int = 20,
        ax: Any = None,
    ) -> RankDistributionDisplay:
        """Draw the ranks of the best features.

        Parameters
        ----------
        runs : Runs
            Rankings or scores.
        order : sequence of int, optional
            Column indices, best first, such as `Ranking.order`; by mean rank if not given.
        n_features_to_select : int, optional
            How many features are selected: marked by a line.
        n_shown : int
            How many features to show.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        """
        ranks = runs.ranks
        if n_features_to_select is not None:
            check_count("n_features_to_select", n_features_to_select, 1, runs.n_features)
        n_shown = number_shown(n_shown, runs.n_features)
        if order is None:
            order = best_first(-ranks.mean(axis=0), runs.features)
        shown = np.asarray(order, dtype=np.intp)[:n_shown]
        quantiles = np.quantile(ranks[:, shown], list(_QUANTILES.values()), axis=0)
        table = pd.DataFrame(
            {
                "feature": [runs.features[i] for i in shown],
                **dict(zip(_QUANTILES, quantiles, strict=True)),
                "mean": ranks[:, shown].mean(axis=0),
            }
        )
        return cls(table, runs.n_runs, runs.n_features, n_features_to_select).plot(ax)

    @classmethod
    def from_selector(
        cls, selector: Any, *, n_shown: int = 20, ax: Any = None
    ) -> RankDistributionDisplay:
        """Draw the ranks over the runs of a fitted `EnsembleSelector`, in the order of its ranking.

        Parameters
        ----------
        selector : EnsembleSelector
            Fitted, with a ranker that ranks (a scikit-learn selector only selects).
        n_shown : int
            How many features to show.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        """
        return cls.from_runs(
            fitted(selector).runs_,
            order=selector.ranking_.order,
            n_features_to_select=selector.n_features_ or None,
            n_shown=n_shown,
            ax=ax,
        )

    def plot(self, ax: Any = None) -> RankDistributionDisplay:
        """Draw on `ax`, or on new axes."""
        table, n = self.table, len(self.table)
        self.ax_ = ax = new_axes(6.8, rows_height(n)) if ax is None else ax
        self.figure_ = ax.figure
        boxes = [
            {
                "whislo": row["low"], "q1": row["lower_quartile"], "med": row["median"],
                "q3": row["upper_quartile"], "whishi": row["high"], "fliers": [],
            }
            for row in table.to_dict("records")
        ]  # fmt: skip
        ax.bxp(
            boxes, positions=range(n), orientation="horizontal", widths=0.6, showfliers=False,
            manage_ticks=False, patch_artist=True, showcaps=False,
            boxprops={"facecolor": "#CCE3F0", "edgecolor": BLUE},
            whiskerprops={"color": BLUE}, medianprops={"color": BLUE, "linewidth": 2.5},
        )  # fmt: skip
        ax.plot(table["mean"], range(n), "D", color=ORANGE, markersize=4, zorder=3, label="mean")
        rows_of_features(ax, list(table["feature"]))
        ax.grid(axis="x", color="0.9", linewidth=0.8)
        self._scale(ax)
        if self.n_features_to_select is not None:
            ax.axvline(
                self.n_features_to_select + 0.5, color=GREY, linewidth=1.2, linestyle=":",
                label=f"{self.n_features_to_select:,} are selected",
            )  # fmt: skip
        ax.set_xlabel("rank (1 = best)")
        note = f"{shown_of(n, self.n_features)}, {self.n_runs:,} runs; "
        head(ax, "Where was a feature ranked?", note + "box: half of the runs, whiskers: 90%")
        legend_below(ax)
        return self

    def _scale(self, ax: Axes) -> None:
        from matplotlib.ticker import MaxNLocator

        if self.n_features <= _MOST_LINEAR:
            ax.set_xlim(0.5, self.n_features + 0.5)
            ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=2))
            return
        count_on_log_axis(ax)
        ax.set_xlim(0.8, self.n_features * 1.1)
