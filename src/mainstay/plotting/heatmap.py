"""Which run selected which feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mainstay.plotting._axes import (
    GREY,
    Display,
    head,
    new_axes,
    rows_height,
    rows_of_features,
    shown_of,
)
from mainstay.plotting._ordering import (
    MOST_RUNS,
    best_first,
    cluster_order,
    fitted,
    jaccard_distance,
    neighbour_blocks,
    number_shown,
    selections_of,
    twin_letters,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mainstay.runs import Runs
    from mainstay.similarity import FeatureSimilarity


@dataclass(eq=False)
class RunsHeatmapDisplay(Display):
    """Runs × features: dark where a run selected a feature, similar ones side by side.

    Runs are ordered by average-linkage clustering with the Jaccard distance of their selections.
    Features are ordered by groups of twins where similarities are given (the group that is selected
    most first), else by the same clustering of which runs select them. More than 100 runs are shown
    as 100 blocks of neighbours, coloured by the share of runs in the block that select the feature.

    Parameters
    ----------
    values : numpy.ndarray
        Features × blocks of runs, as drawn: share of the runs in a block that select the feature.
    features : list of str
        The features shown, from top to bottom.
    groups : list of str
        A letter for every feature shown that has twins, else "".
    run_order : numpy.ndarray
        Numbers of the runs, from left to right.
    n_runs, n_features : int
        Of the runs it was made from.
    similarity : str
        What makes twins, such as `"|pearson| >= 0.9"`; empty if nothing is known of them.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn; `display.save("heatmap.png")` writes it to a file.

    Examples
    --------
    >>> import mainstay as ms
    >>> runs = ms.Runs.from_sets([["a", "b"], ["a", "c"], ["a", "b"]], features=list("abcd"))
    >>> display = ms.RunsHeatmapDisplay.from_runs(runs, n_shown=3)
    >>> display.features
    ['a', 'b', 'c']
    >>> display.values
    array([[1., 1., 1.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """

    values: np.ndarray
    features: list[str]
    groups: list[str]
    run_order: np.ndarray
    n_runs: int
    n_features: int
    similarity: str = ""

    @classmethod
    def from_runs(
        cls,
        runs: Runs,
        *,
        n_features_to_select: int | None = None,
        similarity: FeatureSimilarity | None = None,
        n_shown: int = 30,
        ax: Any = None,
    ) -> RunsHeatmapDisplay:
        """Draw which run selected which of the features that were selected most.

        Parameters
        ----------
        runs : Runs
            Selections, or rankings or scores. Of more than 2,000 runs 2,000 are shown, evenly
            spaced.
        n_features_to_select : int, optional
            How many of its best features a run selects, if the runs hold rankings or scores.
        similarity : FeatureSimilarity, optional
            Which features can stand in for each other: they are put side by side.
        n_shown : int
            How many features to show.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        """
        chosen = selections_of(runs, n_features_to_select)
        order = best_first(chosen.counts / chosen.n_runs, chosen.features)
        shown = order[: number_shown(n_shown, chosen.n_features)]
        groups = np.full(chosen.n_features, "", dtype=object)
        label = ""
        if similarity is None:
            columns = chosen.sparse_support.T.tocsr()[shown]
            shown = shown[cluster_order(jaccard_distance(columns), chosen.counts[shown])]
        else:
            similarity = similarity.aligned_to(chosen.features)
            label = similarity.criterion
            groups = twin_letters(similarity, chosen)
            first: dict[Any, int] = {}
            place = [first.setdefault(groups[f] or int(f), i) for i, f in enumerate(shown)]
            shown = shown[np.argsort(place, kind="stable")]
        kept = np.arange(chosen.n_runs)
        if chosen.n_runs > MOST_RUNS:
            kept = np.linspace(0, chosen.n_runs - 1, MOST_RUNS).astype(int)
        support = chosen.sparse_support[kept]
        picture = support[:, shown].toarray().astype(float)
        # runs that select more of the features at the top come first
        weight = picture @ np.linspace(1, 0.5, len(shown))
        by_likeness = cluster_order(jaccard_distance(support), weight)
        picture = picture[by_likeness]
        return cls(
            np.stack(
                [picture[block].mean(axis=0) for block in neighbour_blocks(len(kept))], axis=1
            ),
            [chosen.features[i] for i in shown],
            [str(groups[i]) for i in shown],
            kept[by_likeness],
            chosen.n_runs,
            chosen.n_features,
            label,
        ).plot(ax)

    @classmethod
    def from_selector(
        cls, selector: Any, *, n_shown: int = 30, ax: Any = None
    ) -> RunsHeatmapDisplay:
        """Draw what the runs of a fitted `EnsembleSelector` selected.

        Parameters
        ----------
        selector : EnsembleSelector
            Fitted.
        n_shown : int
            How many features to show.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        """
        runs = fitted(selector).selections_
        return cls.from_runs(runs, similarity=selector.similarity_, n_shown=n_shown, ax=ax)

    def plot(self, ax: Any = None) -> RunsHeatmapDisplay:
        """Draw on `ax`, or on new axes."""
        n, n_blocks = self.values.shape
        self.ax_ = ax = new_axes(7.4, rows_height(n)) if ax is None else ax
        self.figure_ = ax.figure
        image = ax.imshow(
            self.values, aspect="auto", interpolation="nearest", cmap="Blues", vmin=0, vmax=1
        )
        rows_of_features(ax, self.features)
        ax.set_ylim(n - 0.5, -0.5)
        ax.set_xticks([])
        ax.hlines(np.arange(0.5, n - 1), -0.5, n_blocks - 0.5, color="white", linewidth=0.8)
        self._draw_groups(ax)
        drawn = len(self.run_order)
        text = f"{drawn:,} runs" if drawn == self.n_runs else f"{drawn:,} of {self.n_runs:,} runs"
        text += ", similar ones side by side"
        if n_blocks < drawn:
            text += f" (a column is about {drawn / n_blocks:.0f} runs)"
            bar = self.figure_.colorbar(image, ax=ax, pad=0.02, aspect=30)
            bar.set_label("share of the runs that select it")
            bar.outline.set_visible(False)
        ax.set_xlabel(text)
        note = shown_of(n, self.n_features)
        if n < self.n_features:
            note += ", those selected most"
        if n_blocks == drawn:
            note += "; dark: selected"
        if self.similarity:
            note += f"\nsame letter: twins, {self.similarity.replace('>=', '≥')}"
        head(ax, "Which run selected which feature?", note)
        return self

    def _draw_groups(self, ax: Axes) -> None:
        """Write the letter of twins beside their rows, with a line around those of one group."""
        for name in sorted(set(self.groups) - {""}):
            rows = [i for i, group in enumerate(self.groups) if group == name]
            edge = (rows[0] - 0.35, rows[-1] + 0.35)
            across = ax.get_yaxis_transform()
            ax.plot(
                (1.008, 1.008), edge, color=GREY, linewidth=1.5, transform=across, clip_on=False,
                solid_capstyle="butt",
            )  # fmt: skip
            ax.annotate(
                name, (1.008, sum(edge) / 2), xycoords=across, xytext=(4, 0),
                textcoords="offset points", va="center", fontsize="small", color=GREY,
                annotation_clip=False,
            )  # fmt: skip
