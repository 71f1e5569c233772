"""How often every feature was selected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from mainstay.measures.inference import frequency_interval
from mainstay.plotting._axes import (
    BLUE,
    GREY,
    LIGHT_GREY,
    ORANGE,
    Display,
    head,
    legend_below,
    new_axes,
    rows_height,
    rows_of_features,
    shown_of,
)
from mainstay.plotting._ordering import (
    best_first,
    fitted,
    number_shown,
    selections_of,
    twin_letters,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mainstay.runs import Runs
    from mainstay.similarity import FeatureSimilarity


@dataclass(eq=False)
class SelectionFrequencyDisplay(Display):
    """Share of the runs that selected a feature, with intervals, most frequent first.

    The bar is the 95% interval of Wilson (1927). Where similar features are known, an open diamond
    shows in which share of the runs the feature *or one of its twins* was selected, and features
    with the same letter belong to one group of twins. The dotted line is the frequency that
    random selections would give.

    Parameters
    ----------
    table : pandas.DataFrame
        All features, most frequent first: `feature`, `frequency`, `lower`, `upper`, and where
        known `selected`, `group` (a letter), `n_twins`, `group_frequency`.
    n_runs : int
        Number of runs.
    chance : float
        Frequency of a feature in random selections.
    n_shown : int
        How many features to show.
    similarity : str
        What makes twins, such as `"|pearson| >= 0.9"`; empty if nothing is known of them.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn; `display.save("frequency.png")` writes it to a file.

    Examples
    --------
    >>> import mainstay as ms
    >>> runs = ms.Runs.from_sets([["a", "b"], ["a", "c"], ["a", "b"]], features=list("abcd"))
    >>> display = ms.SelectionFrequencyDisplay.from_runs(runs)
    >>> display.table[["feature", "frequency"]].head(2)
      feature  frequency
    0       a   1.000000
    1       b   0.666667
    >>> display.ax_.get_xlabel()
    'share of 3 runs that select the feature'
    """

    table: pd.DataFrame
    n_runs: int
    chance: float
    n_shown: int = 20
    similarity: str = ""

    @classmethod
    def from_runs(
        cls,
        runs: Runs,
        *,
        n_features_to_select: int | None = None,
        similarity: FeatureSimilarity | None = None,
        n_shown: int = 20,
        ax: Any = None,
    ) -> SelectionFrequencyDisplay:
        """Draw how often runs selected their features.

        Parameters
        ----------
        runs : Runs
            Selections, or rankings or scores.
        n_features_to_select : int, optional
            How many of its best features a run selects, if the runs hold rankings or scores.
        similarity : FeatureSimilarity, optional
            Which features can stand in for each other.
        n_shown : int
            How many features to show.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        """
        chosen = selections_of(runs, n_features_to_select)
        frequency = chosen.counts / chosen.n_runs
        lower, upper = frequency_interval(chosen)
        order = best_first(frequency, chosen.features)
        columns = {
            "feature": np.array(chosen.features, dtype=object),
            "frequency": frequency,
            "lower": lower,
            "upper": upper,
        }
        if similarity is not None:
            columns["group_frequency"] = similarity.group_frequency(chosen)
        table = pd.DataFrame(columns).iloc[order].reset_index(drop=True)
        return cls._make(table, order, chosen, similarity, n_shown).plot(ax)

    @classmethod
    def from_selector(
        cls, selector: Any, *, n_shown: int = 20, ax: Any = None
    ) -> SelectionFrequencyDisplay:
        """Draw how often the runs of a fitted `EnsembleSelector` selected their features.

        Parameters
        ----------
        selector : EnsembleSelector
            Fitted. Features that it selected in the end are blue, others grey.
        n_shown : int
            How many features to show.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        """
        chosen = fitted(selector).selections_
        names = {"frequency_lower": "lower", "frequency_upper": "upper"}
        columns = ["feature", "frequency", "lower", "upper", "selected", "group_frequency"]
        table = selector.feature_table_.rename(columns=names)
        table = table[[name for name in columns if name in table]]
        table = table.sort_values("frequency", ascending=False, kind="stable", ignore_index=True)
        place = {name: i for i, name in enumerate(chosen.features)}
        order = np.array([place[name] for name in table["feature"]])
        return cls._make(table, order, chosen, selector.similarity_, n_shown).plot(ax)

    @classmethod
    def _make(
        cls,
        table: pd.DataFrame,
        order: np.ndarray,
        chosen: Runs,
        similarity: FeatureSimilarity | None,
        n_shown: int,
    ) -> SelectionFrequencyDisplay:
        n_shown = number_shown(n_shown, chosen.n_features)
        label = ""
        if similarity is not None:
            similarity = similarity.aligned_to(chosen.features)
            label = similarity.criterion
            table = table.assign(
                group=twin_letters(similarity, chosen)[order],
                n_twins=similarity.degrees[order],
            )
        chance = float(chosen.sizes.mean()) / chosen.n_features
        return cls(table, chosen.n_runs, chance, n_shown, label)

    def plot(self, ax: Any = None) -> SelectionFrequencyDisplay:
        """Draw on `ax`, or on new axes."""
        top = self.table.head(self.n_shown)
        rows = np.arange(len(top))
        self.ax_ = ax = new_axes(6.8, rows_height(len(top))) if ax is None else ax
        self.figure_ = ax.figure
        rows_of_features(ax, list(top["feature"]))
        ax.grid(axis="x", color="0.9", linewidth=0.8)
        chosen = np.ones(len(top), dtype=bool)
        if "selected" in top:
            chosen = top["selected"].to_numpy(dtype=bool)
        ax.axvline(self.chance, color=GREY, linewidth=1.2, linestyle=":", label="random selection")
        if self.similarity:
            self._draw_twins(ax, top)
        ax.hlines(rows, top["lower"], top["upper"], color=LIGHT_GREY, linewidth=5, zorder=1.5)
        named = "selected" in top
        for mask, colour, label in (
            (chosen, BLUE, "in the final selection" if named else "feature"),
            (~chosen, GREY, "not in it"),
        ):
            if mask.any():
                ax.plot(top["frequency"][mask], rows[mask], "o", color=colour, label=label)
        ax.set(xlim=(-0.02, 1.02), xlabel=f"share of {self.n_runs:,} runs that select the feature")
        head(ax, "How often was a feature selected?", self._note(top))
        if named or self.similarity:
            legend_below(ax)
        return self

    def _draw_twins(self, ax: Axes, top: pd.DataFrame) -> None:
        twins = np.flatnonzero(top["n_twins"])
        if not len(twins):
            return
        together = top["group_frequency"].iloc[twins]
        ax.hlines(twins, top["frequency"].iloc[twins], together, color=ORANGE, linewidth=1)
        ax.plot(
            together, twins, "D", color=ORANGE, markerfacecolor="white", markersize=5,
            label="it or a twin",
        )  # fmt: skip
        for row in twins:
            number = int(top["n_twins"].iloc[row])
            ax.annotate(
                f"{top['group'].iloc[row]}: {number} twin{'s' * (number > 1)}", (1, row),
                xycoords=ax.get_yaxis_transform(), xytext=(4, 0), textcoords="offset points",
                va="center", fontsize="small", color=GREY, annotation_clip=False,
            )  # fmt: skip

    def _note(self, top: pd.DataFrame) -> str:
        note = shown_of(len(top), len(self.table))
        rest = self.table["frequency"].iloc[len(top) :]
        if len(rest):
            note += f"; {int((rest > 0).sum()):,} of the others were selected at least once"
            note += f", in at most {rest.max():.0%} of the runs" if rest.max() > 0 else ""
        if self.similarity:
            note += f"\nsame letter: twins, {self.similarity.replace('>=', '≥')}"
        return note
