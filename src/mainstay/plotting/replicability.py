"""Replicability: agreement of two independent studies by their number of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mainstay.plotting._axes import BLUE, GREY, ORANGE, Display, head, legend_below, new_axes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from mainstay.reliability import Replicability


@dataclass(eq=False)
class ReplicabilityDisplay(Display):
    """Agreement of two independent studies by their number of rows.

    Dots are observed, from disjoint parts of the data; the bar is the interval over data sets; what
    is dashed and hollow is extrapolated.

    Parameters
    ----------
    table : pandas.DataFrame
        `Replicability.table`.
    measure : str
        Name of the measure of agreement.
    single : pandas.DataFrame, optional
        The same table of single runs, drawn beside that of ensembles.
    label : str
        What a study does.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn; `display.save("replicability.png")` writes it to a file.

    Examples
    --------
    >>> import mainstay as ms
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rep = ms.replicability("f_statistic", X, y, n_features_to_select=5, random_state=0)
    >>> ms.ReplicabilityDisplay.from_replicability(rep).ax_.get_xlabel()
    'rows of each study'
    """

    table: pd.DataFrame
    measure: str = "agreement"
    single: pd.DataFrame | None = None
    label: str = "observed"

    @classmethod
    def from_replicability(
        cls, replicability: Replicability, *, ax: Any = None
    ) -> ReplicabilityDisplay:
        """Draw what `ms.replicability` returned.

        Parameters
        ----------
        replicability : Replicability
            The result; with `single`, both are drawn.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        """
        single = replicability.single
        if single is None:
            return cls(replicability.table, replicability.measure).plot(ax)
        label = f"ensembles of {replicability.ensemble_size}"
        return cls(replicability.table, replicability.measure, single.table, label).plot(ax)

    def plot(self, ax: Any = None) -> ReplicabilityDisplay:
        """Draw on `ax`, or on new axes."""
        from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

        self.ax_ = ax = new_axes() if ax is None else ax
        self.figure_ = ax.figure
        ax.set_xscale("log")
        ax.axhline(0, color=GREY, linewidth=1)
        tables = [self.table] if self.single is None else [self.table, self.single]
        _draw_curve(ax, self.table, BLUE, "o", self.label, 1 if self.single is None else 0.98)
        if self.single is not None:
            _draw_curve(ax, self.single, ORANGE, "s", "single runs", 1.02)
        ax.plot([], [], "o--", color=GREY, markerfacecolor="white", label="extrapolated")
        ax.xaxis.set_major_locator(FixedLocator(self.table["n_rows"].tolist()))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        lowest = min(float(table[["lower", "agreement"]].min().min()) for table in tables)
        ax.set_ylim(min(-0.05, lowest - 0.03), 1.03)
        ax.set(xlabel="rows of each study", ylabel=f"agreement ({self.measure})")
        ax.grid(axis="y", color="0.9", linewidth=0.8)
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
        legend_below(ax)
        head(ax, "Would another study find the same features?",
             "two studies that share no row; bars: interval over data sets")  # fmt: skip
        return self


def _draw_curve(
    ax: Axes, table: pd.DataFrame, color: str, marker: str, label: str, shift: float
) -> None:
    """Draw one table; `shift` moves it sideways, so that the bars of two stand side by side."""
    seen = table[table["kind"] == "observed"]
    ahead = table[table["kind"] == "extrapolated"]
    last_two = table.iloc[[len(seen) - 1, len(seen)]]
    ax.plot(shift * last_two["n_rows"], last_two["agreement"], "--", color=color)
    ax.plot(shift * seen["n_rows"], seen["agreement"], f"{marker}-", color=color, label=label)
    ax.plot(
        shift * ahead["n_rows"], ahead["agreement"], marker, color=color, markerfacecolor="white"
    )
    for style, rows in (("-", seen.dropna()), ("--", ahead)):
        ax.vlines(shift * rows["n_rows"], rows["lower"], rows["upper"], color=color, alpha=0.45,
                  linewidth=3, linestyle=style, zorder=1.5)  # fmt: skip
