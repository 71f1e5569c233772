"""Features that can stand in for each other, as a network."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from mainstay._validation import InputError, check_count
from mainstay.plotting._axes import BLUE, GREY, Display, head, new_axes, short_names
from mainstay.plotting._ordering import best_first, fitted, selections_of, twin_letters

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mainstay.runs import Runs
    from mainstay.similarity import FeatureSimilarity

_MOST_MEMBERS = 8  # of one group, drawn
_NAME, _APART = 18, 0.105  # longest label, and the distance between two of them, in cells
_CELL_WIDTH, _CELL_HEIGHT = 3.8, 1.9  # inches


@dataclass(eq=False)
class ExchangeableNetworkDisplay(Display):
    """Groups of exchangeable features: features as nodes, similarities as lines.

    The size of a node is how often the feature was selected; above each group stands in which share
    of the runs *any* of its features was selected. A group whose features are each selected now and
    then, but together nearly always, is a stable finding that has many names.

    Parameters
    ----------
    nodes : pandas.DataFrame
        The features shown: `feature`, `group` (a letter), `frequency`, and their place `x`, `y`.
    edges : pandas.DataFrame
        The similar pairs among them: `feature`, `other`, `similarity`.
    groups : pandas.DataFrame
        The groups shown: `group`, `n_features` (all of the group's), `frequency` (of any of them).
    n_groups, n_grouped, n_features : int
        Of all: groups of two or more features, features in them, features.
    similarity : str
        What makes features exchangeable, such as `"|pearson| >= 0.9"`.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn; `display.save("network.png")` writes it to a file.

    Examples
    --------
    >>> import mainstay as ms
    >>> runs = ms.Runs.from_sets([["a"], ["b"], ["a"], ["c"]], features=["a", "b", "c"])
    >>> similarity = ms.FeatureSimilarity.from_matrix(
    ...     [[1, 0.95, 0], [0.95, 1, 0], [0, 0, 1]], features=["a", "b", "c"])
    >>> display = ms.ExchangeableNetworkDisplay.from_runs(runs, similarity)
    >>> display.nodes[["feature", "group", "frequency"]]
      feature group  frequency
    0       a     A       0.50
    1       b     A       0.25
    >>> display.groups
      group  n_features  frequency
    0     A           2       0.75
    """

    nodes: pd.DataFrame
    edges: pd.DataFrame
    groups: pd.DataFrame
    n_groups: int
    n_grouped: int
    n_features: int
    similarity: str

    @classmethod
    def from_runs(
        cls,
        runs: Runs,
        similarity: FeatureSimilarity,
        *,
        n_features_to_select: int | None = None,
        n_shown: int = 8,
        ax: Any = None,
    ) -> ExchangeableNetworkDisplay:
        """Draw the groups that were selected most.

        Parameters
        ----------
        runs : Runs
            Selections, or rankings or scores.
        similarity : FeatureSimilarity
            Which features can stand in for each other.
        n_features_to_select : int, optional
            How many of its best features a run selects, if the runs hold rankings or scores.
        n_shown : int
            How many groups to show. Of a large group the 8 features selected most are shown.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        """
        n_shown = check_count("n_shown", n_shown, 1)
        chosen = selections_of(runs, n_features_to_select)
        similarity = similarity.aligned_to(chosen.features)
        frequency = chosen.counts / chosen.n_runs
        labels, grouped = similarity.group_labels(), similarity.degrees > 0
        shares = _group_shares(chosen, labels)
        by_frequency = best_first(frequency, chosen.features)
        by_frequency = by_frequency[grouped[by_frequency]]
        # the groups selected most, ties in the order of their best feature
        groups_met = np.array(list(dict.fromkeys(labels[by_frequency].tolist())), dtype=np.intp)
        order = groups_met[np.argsort(-shares[groups_met], kind="stable")]
        letters = twin_letters(similarity, chosen)
        nodes, groups = [], []
        for label in order[:n_shown]:
            members = by_frequency[labels[by_frequency] == label]
            drawn = members[:_MOST_MEMBERS]
            name = str(letters[drawn[0]])
            groups.append((name, len(members), shares[label]))
            nodes += [
                (int(i), chosen.features[i], name, float(frequency[i]), float(x), float(y))
                for i, (x, y) in zip(drawn, layout(similarity.graph[drawn][:, drawn]), strict=True)
            ]
        table = pd.DataFrame(nodes, columns=["column", "feature", "group", "frequency", "x", "y"])
        return cls(
            table.drop(columns="column"),
            _edges_among(similarity, table["column"].to_numpy(dtype=np.intp)),
            pd.DataFrame(groups, columns=["group", "n_features", "frequency"]),
            len(order),
            int(grouped.sum()),
            chosen.n_features,
            similarity.criterion,
        ).plot(ax)

    @classmethod
    def from_selector(
        cls, selector: Any, *, n_shown: int = 8, ax: Any = None
    ) -> ExchangeableNetworkDisplay:
        """Draw the exchangeable features of a fitted `EnsembleSelector`.

        Parameters
        ----------
        selector : EnsembleSelector
            Fitted, with a `similarity_threshold`, on numbers.
        n_shown : int
            How many groups to show.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        """
        if fitted(selector).similarity_ is None:
            raise InputError(
                "this selector knows no similar features: similarity_threshold is None, or the "
                "data are not all numbers. Use from_runs with a FeatureSimilarity."
            )
        return cls.from_runs(selector.selections_, selector.similarity_, n_shown=n_shown, ax=ax)

    def plot(self, ax: Any = None) -> ExchangeableNetworkDisplay:
        """Draw on `ax`, or on new axes."""
        n = len(self.groups)
        across = 1 if n < 2 else 2
        down = max(1, math.ceil(n / across))
        size = (max(5.0, _CELL_WIDTH * across), 0.9 + _CELL_HEIGHT * down)
        self.ax_ = ax = new_axes(*size) if ax is None else ax
        self.figure_ = ax.figure
        ax.set(xlim=(0, across), ylim=(down, 0), xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
        for number, group in enumerate(self.groups.to_dict("records")):
            self._draw_group(ax, group, number % across, number // across)
        if n == 0:
            ax.text(across / 2, down / 2, "no two features are this similar", ha="center",
                    color=GREY)  # fmt: skip
        rule = self.similarity.replace(">=", "≥")
        note = (
            f"{self.n_grouped:,} of {self.n_features:,} features have a twin ({rule})\n"
            f"{n:,} of {self.n_groups:,} groups shown; larger: selected more often, open: never"
        )
        head(ax, "Which features are exchangeable?", note)
        return self

    def _draw_group(self, ax: Axes, group: dict[Any, Any], left: float, top: float) -> None:
        nodes = self.nodes[self.nodes["group"] == group["group"]]
        x = left + 0.5 + 0.14 * nodes["x"].to_numpy()
        y = top + 0.57 - 0.3 * nodes["y"].to_numpy()
        number = {name: i for i, name in enumerate(nodes["feature"])}
        for edge in self.edges[self.edges["feature"].isin(number)].to_dict("records"):
            ends = [number[edge["feature"]], number[edge["other"]]]
            ax.plot(x[ends], y[ends], color=GREY, alpha=0.45, linewidth=1.0, zorder=1)
        frequency = nodes["frequency"].to_numpy()
        colours = [BLUE if share > 0 else "white" for share in frequency]
        ax.scatter(x, y, s=18 + 240 * frequency, c=colours, edgecolors=BLUE, zorder=2)
        text = f"{group['group']}: any of {group['n_features']:,} in {group['frequency']:.0%}"
        text += " of runs"
        text += f", {len(nodes)} drawn" if len(nodes) < group["n_features"] else ""
        ax.text(left + 0.5, top + 0.13, text, ha="center", va="center", fontsize="medium")
        names = short_names(list(nodes["feature"]), _NAME)
        right = nodes["x"].to_numpy() >= -0.05
        for side, align, shift in ((right, "left", 1), (~right, "right", -1)):
            at = np.flatnonzero(side)
            for i, height in zip(at, _apart(y[at]), strict=True):
                reach = math.sqrt((18 + 240 * frequency[i]) / math.pi) + 3
                ax.annotate(
                    f"{names[i]} {frequency[i]:.0%}", (x[i], height), xytext=(shift * reach, 0),
                    textcoords="offset points", ha=align, va="center", fontsize="x-small",
                    parse_math=False,
                )  # fmt: skip


def _group_shares(chosen: Runs, labels: np.ndarray) -> np.ndarray:
    """Share of the runs that selected any feature of a group, for every label."""
    p = len(labels)
    ones = np.ones(p, dtype=np.int32)
    member = sp.csr_array((ones, (np.arange(p), labels)), shape=(p, int(labels.max()) + 1))
    any_selected = (chosen.sparse_support @ member > 0).sum(axis=0)
    return np.asarray(any_selected).ravel() / chosen.n_runs


def _edges_among(similarity: FeatureSimilarity, columns: np.ndarray) -> pd.DataFrame:
    """List the similar pairs among some features."""
    inside = sp.coo_array(sp.triu(similarity.graph[columns][:, columns], k=1))
    names = np.array(similarity.features, dtype=object)[columns]
    return pd.DataFrame(
        {"feature": names[inside.row], "other": names[inside.col], "similarity": inside.data}
    )


def layout(graph: Any, n_steps: int = 500) -> np.ndarray:
    """Place the nodes of a small graph so that distances resemble those along its edges.

    Nodes that are mostly joined to each other lie on a circle. Others are placed by SMACOF (de
    Leeuw 1977) on the numbers of steps between them, from a circle: a chain becomes a line.
    Nothing is random. Nodes that are not connected lie as far apart as the graph is long. A long
    picture is turned upright.

    Returns
    -------
    numpy.ndarray
        n × 2 places in [−1, 1]².

    Examples
    --------
    >>> chain = sp.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    >>> layout(chain).round(1) + 0.0
    array([[ 0.,  1.],
           [ 0.,  0.],
           [ 0., -1.]])
    """
    n = graph.shape[0]
    distance = sp.csgraph.shortest_path(sp.csr_array(graph), directed=False, unweighted=True)
    finite = np.isfinite(distance)
    distance = np.where(finite, distance, distance[finite].max() + 1)
    # the circle starts at one end of a chain, so that neighbours in the chain stay neighbours
    turn = np.argsort(distance[np.argmax(distance.max(axis=0))], kind="stable")
    angles = np.empty(n)
    angles[turn] = np.pi / 2 + 2 * np.pi * np.arange(n) / n
    place = np.stack((np.cos(angles), np.sin(angles)), axis=1)
    if (distance == 1).sum() >= 0.75 * n * (n - 1):
        return place
    for _ in range(n_steps):
        drawn = np.linalg.norm(place[:, None] - place[None], axis=2)
        pull = -distance / np.maximum(drawn, 1e-9)
        np.fill_diagonal(pull, 0.0)
        np.fill_diagonal(pull, -pull.sum(axis=1))
        place = pull @ place / n
    place -= place.mean(axis=0)
    axes, spread, _ = np.linalg.svd(place.T)
    if n > 1 and spread[0] > 1.3 * spread[-1]:
        upright = axes[:, ::-1] * np.sign(axes[0, 0] * axes[1, 1] - axes[0, 1] * axes[1, 0])
        place = place @ upright
        place *= np.where(place[0] < 0, -1, 1)
    return np.asarray(place / max(np.abs(place).max(), 1e-9))


def _apart(heights: np.ndarray) -> np.ndarray:
    """Move labels on one side apart, as little as their order allows."""
    order = np.argsort(heights, kind="stable")
    moved = heights[order].copy()
    for i in range(1, len(moved)):
        moved[i] = max(moved[i], moved[i - 1] + _APART)
    moved -= (moved - heights[order]).mean() if len(moved) else 0.0
    result = np.empty(len(moved))
    result[order] = moved
    return result
