"""Replicability: agreement of two independent studies by their number of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mainstay.plotting._axes import BLUE, GREY, Display, head, new_axes

if TYPE_CHECKING:
    import pandas as pd

    from mainstay.reliability import Replicability


@dataclass(eq=False)
class ReplicabilityDisplay(Display):
    """Agreement of two independent studies by their number of rows.

    Dots are observed, from disjoint parts of the data; the bar is the interval over data sets; the
    dashed line is extrapolated.

    Parameters
    ----------
    table : pandas.DataFrame
        `Replicability.table`.
    measure : str
        Name of the measure of agreement.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn; `display.figure_.savefig("replicability.png")` writes it to a file.

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

    @classmethod
    def from_replicability(
        cls, replicability: Replicability, *, ax: Any = None
    ) -> ReplicabilityDisplay:
        """Draw what `ms.replicability` returned.

        Parameters
        ----------
        replicability : Replicability
            The result.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        """
        return cls(replicability.table, replicability.measure).plot(ax)

    def plot(self, ax: Any = None) -> ReplicabilityDisplay:
        """Draw on `ax`, or on new axes."""
        from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

        self.ax_ = ax = new_axes() if ax is None else ax
        self.figure_ = ax.figure
        seen = self.table[self.table["kind"] == "observed"]
        ahead = self.table[self.table["kind"] == "extrapolated"]
        both = self.table.iloc[[len(seen) - 1, len(seen)]]
        ax.axhline(0, color=GREY, linewidth=1)
        ax.plot(seen["n_rows"], seen["agreement"], "o-", color=BLUE, label="observed")
        ax.plot(both["n_rows"], both["agreement"], "--", color=BLUE)
        ax.plot(ahead["n_rows"], ahead["agreement"], "o", color=BLUE, markerfacecolor="white",
                label="extrapolated")  # fmt: skip
        for style, rows in (("-", seen.dropna()), (":", ahead)):
            ax.vlines(rows["n_rows"], rows["lower"], rows["upper"], color=BLUE, alpha=0.5,
                      linewidth=3, linestyle=style, label="_")  # fmt: skip
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(FixedLocator(self.table["n_rows"].tolist()))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter(StrMethodFormatter("{x:.0f}"))
        low = min(-0.05, float(self.table["lower"].min()) - 0.03)
        ax.set(xlabel="rows of each study", ylabel=f"agreement ({self.measure})", ylim=(low, 1.03))
        ax.legend(loc="upper left", frameon=False)
        head(ax, "Would another study find the same features?",
             "two studies that share no row; bars: interval over data sets")  # fmt: skip
        return self
