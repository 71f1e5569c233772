"""The comparison: score by stability, coloured by number of features."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mainstay.plotting._axes import GREY, ORANGE, Display, legend_below, new_axes, short_names

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from mainstay.comparison import Comparison

_MOST_LABELS = 12
_NEAR = ((9, 4), (9, -10), (-9, 4), (-9, -10), (0, 9), (0, -15))
_FAR = tuple((x, y) for y in (22, -28, 38, -44, 56, -62) for x in (0, 14, -14, 40, -40))
_COLOURS = "cividis_r"  # pale = few features; made for people with colour blindness


@dataclass(eq=False)
class ComparisonDisplay(Display):
    """Score by stability of all candidates, with the front and the recommended one.

    Colour is the number of features. Candidates on the front have a dark rim and faint error
    bars; the rest are small and without. All features have a score but no stability: a line.

    Parameters
    ----------
    table : pandas.DataFrame
        `Comparison.table`.
    stability : str
        The column that holds the stability to show.
    xlabel, ylabel, title : str
        Texts.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn; `display.save("comparison.png")` writes it to a file.
    labels_ : list of matplotlib texts
        Names of candidates; as many of the front as find room.

    Examples
    --------
    >>> import mainstay as ms
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> comparison = ms.compare_selectors("f_statistic", X, y, sizes=[2, 5], random_state=0)
    >>> display = ms.ComparisonDisplay.from_comparison(comparison)
    >>> display.ax_.get_xlabel()
    'stability (sma_count)'
    """

    table: pd.DataFrame
    stability: str = "stability"
    xlabel: str = "stability"
    ylabel: str = "score"
    title: str = "Accurate, stable, short: what no other candidate beats"
    labels_: list[Any] = field(init=False, repr=False, default_factory=list)

    @classmethod
    def from_comparison(cls, comparison: Comparison, *, ax: Any = None) -> ComparisonDisplay:
        """Draw what `ms.compare_selectors` returned.

        Parameters
        ----------
        comparison : Comparison
            What `ms.compare_selectors` returned.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        """
        display = cls(
            comparison.table,
            comparison.stability_column,
            xlabel=f"stability ({comparison.settings['stability']})",
            ylabel=str(comparison.settings["scoring"]),
        )
        return display.plot(ax)

    def plot(self, ax: Any = None) -> ComparisonDisplay:
        """Draw on `ax`, or on new axes."""
        from matplotlib.colors import LogNorm

        self.ax_ = ax = new_axes(7.2, 4.8) if ax is None else ax
        self.figure_ = ax.figure
        self.labels_ = []
        table = self.table[self.table[self.stability].notna()]
        front = table[table["on_front"]]
        random = table[table["selector"] == "random"]
        rest = table[~table["on_front"] & (table["selector"] != "random")]
        sizes = table["n_features"]
        norm = LogNorm(max(1, sizes.min()), max(sizes.max(), sizes.min() + 1))
        colours: dict[str, Any] = {"cmap": _COLOURS, "norm": norm}
        if len(random):
            ax.scatter(random[self.stability], random["score"], c=GREY, marker="x", s=28,
                       linewidth=1.2, label="random selection", zorder=2)  # fmt: skip
        if len(rest):
            ax.scatter(rest[self.stability], rest["score"], c=rest["n_features"], s=22,
                       alpha=0.75, linewidth=0, label="others", zorder=2, **colours)  # fmt: skip
        self._error_bars(ax, front)
        points = ax.scatter(front[self.stability], front["score"], c=front["n_features"], s=64,
                            edgecolor="black", linewidth=1.1, label="on the front", zorder=4,
                            **colours)  # fmt: skip
        best = table[table["recommended"]]
        ax.scatter(best[self.stability], best["score"], s=230, facecolor="none", edgecolor=ORANGE,
                   linewidth=2.4, label="recommended", zorder=5)  # fmt: skip
        self._colour_bar(ax, points, sizes)
        self._without_choice(ax)
        ax.set(xlabel=self.xlabel, ylabel=self.ylabel, title=self.title)
        ax.grid(color="0.92", linewidth=0.8)
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
        ax.margins(0.09, 0.1)
        legend_below(ax)
        self._label(ax, table)
        return self

    def _error_bars(self, ax: Axes, front: pd.DataFrame) -> None:
        x = front[self.stability]
        reach = [x - front[f"{self.stability}_lower"], front[f"{self.stability}_upper"] - x]
        ax.errorbar(
            x, front["score"], xerr=np.nan_to_num(reach), yerr=front["score_standard_error"],
            fmt="none", ecolor=GREY, elinewidth=0.8, alpha=0.35, zorder=3,
        )  # fmt: skip

    def _colour_bar(self, ax: Axes, points: Any, sizes: pd.Series) -> None:
        from matplotlib.ticker import NullFormatter, NullLocator

        bar = self.figure_.colorbar(points, ax=ax, pad=0.02, aspect=30)
        bar.set_label("number of features")
        steps = np.unique(sizes)
        if len(steps) > 6:
            steps = np.unique(steps[np.linspace(0, len(steps) - 1, 6).astype(int)])
        bar.ax.yaxis.set_major_locator(NullLocator())
        bar.set_ticks([int(k) for k in steps], labels=[f"{k}" for k in steps])
        bar.ax.yaxis.set_minor_formatter(NullFormatter())
        bar.ax.minorticks_off()

    def _without_choice(self, ax: Axes) -> None:
        """Draw the scores of all and of no features as lines: without choice, no stability."""
        for selector, style in (("all features", "--"), ("no features", ":")):
            for row in self.table[self.table["selector"] == selector].to_dict("records"):
                label = f"all {row['n_features']} features" if row["n_features"] else selector
                ax.axhline(row["score"], color=GREY, linewidth=1, linestyle=style, zorder=1,
                           label=label)  # fmt: skip

    def _label(self, ax: Axes, table: pd.DataFrame) -> None:
        """Name the recommended candidate and as many of the front as find room."""
        from matplotlib.patheffects import withStroke

        front = table[table["on_front"]].sort_values("score", ascending=False, kind="stable")
        ax.figure.canvas.figure.draw_without_rendering()  # positions are known from here on
        taken = [_box(ax, x, y) for x, y in zip(front[self.stability], front["score"], strict=True)]
        places = _NEAR if len(front) > _MOST_LABELS else (*_NEAR, *_FAR)
        recommended = front.index[front["recommended"]].tolist()
        names = dict(zip(front.index, short_names(front["candidate"].tolist(), 40), strict=True))
        for index in dict.fromkeys([*recommended, *_spread_out(front.index.tolist())]):
            row = front.loc[index]
            text = ax.annotate(
                names[index], (row[self.stability], row["score"]), xytext=(0, 0),
                textcoords="offset points", annotation_clip=False, parse_math=False,
                fontsize="x-small", zorder=6,
                fontweight="bold" if row["recommended"] else "normal",
                path_effects=[withStroke(linewidth=2, foreground="white", alpha=0.8)],
                arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.6, "shrinkA": 0,
                            "shrinkB": 4},
            )  # fmt: skip
            text.set_in_layout(False)
            if _find_room(text, places, taken, ax.get_window_extent()):
                self.labels_.append(text)
            else:
                text.remove()


def _spread_out(items: list[Any]) -> list[Any]:
    """As many items as can be labelled, evenly spread, both ends first."""
    steps = np.linspace(0, len(items) - 1, min(len(items), _MOST_LABELS)).round().astype(int)
    return [items[i] for i in (steps[0], steps[-1], *steps[1:-1])]


def _box(ax: Axes, x: float, y: float, reach: float = 6) -> Any:
    """A square of pixels around a point."""
    from matplotlib.transforms import Bbox

    at_x, at_y = ax.transData.transform((x, y))
    return Bbox.from_extents(at_x - reach, at_y - reach, at_x + reach, at_y + reach)


def _find_room(text: Any, places: Any, taken: list[Any], frame: Any) -> bool:
    """Try places around the point; take the first that is free and within the axes."""
    for x, y in places:
        text.set_position((x, y))
        text.set_ha("left" if x > 0 else "right" if x < 0 else "center")
        text.arrow_patch.set_visible((x, y) in _FAR)
        box = _text_box(text)
        inside = frame.x0 <= box.x0 and box.x1 <= frame.x1
        inside = inside and frame.y0 <= box.y0 and box.y1 <= frame.y1
        if inside and not any(box.overlaps(other) for other in taken):
            taken.append(box)
            return True
    return False


def _text_box(text: Any) -> Any:
    """Pixels of the text alone, without the line that leads to its point."""
    from matplotlib.text import Text

    text.get_window_extent()  # finds the position
    return Text.get_window_extent(text).padded(1)
