"""How similar the runs are to each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mainstay._validation import InputError
from mainstay.measures import MEASURES, stability
from mainstay.plotting._axes import LIGHT_GREY, Display, head, new_axes
from mainstay.plotting._ordering import cluster_order, fitted, neighbour_blocks

if TYPE_CHECKING:
    from mainstay.measures.inference import StabilityEstimate
    from mainstay.runs import Runs
    from mainstay.similarity import FeatureSimilarity


@dataclass(eq=False)
class RunSimilarityDisplay(Display):
    """Similarity of every two runs, with runs that agree side by side.

    One dark square means that all runs agree; several mean that there are several kinds of
    selections. More than 100 runs are shown as 100 blocks of neighbours, coloured by the mean
    over the pairs of different runs.

    Parameters
    ----------
    values : numpy.ndarray
        As drawn: mean similarity of the runs in two blocks; NaN where there is no pair.
    run_order : numpy.ndarray
        Numbers of the runs, from left to right and from top to bottom.
    measure : str
        What was measured.
    mean : float
        The stability: mean of all pairs.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn; `display.save("similarity.png")` writes it to a file.

    Examples
    --------
    >>> import mainstay as ms
    >>> runs = ms.Runs.from_sets([["a", "b"], ["c", "d"], ["a", "b"]], features=list("abcd"))
    >>> display = ms.RunSimilarityDisplay.from_runs(runs)
    >>> display.run_order
    array([0, 2, 1])
    >>> display.values
    array([[nan,  1.,  0.],
           [ 1., nan,  0.],
           [ 0.,  0., nan]])
    """

    values: np.ndarray
    run_order: np.ndarray
    measure: str
    mean: float

    @classmethod
    def from_runs(
        cls,
        runs: Runs,
        measure: str | None = None,
        *,
        similarity: FeatureSimilarity | None = None,
        ax: Any = None,
    ) -> RunSimilarityDisplay:
        """Measure and draw the similarity of every two runs.

        Parameters
        ----------
        runs : Runs
            Selections, rankings or scores.
        measure : str, optional
            A measure of pairs of runs; by default "jaccard" for selections (the share of the
            features selected by either that both select), "spearman" for rankings and scores.
        similarity : FeatureSimilarity, optional
            For the measures that need one.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        """
        if measure is None:
            measure = "jaccard" if runs.kind == "support" else "spearman"
        estimate = stability(runs, measure, similarity=similarity, undefined="nan", random_state=0)
        return cls.from_estimate(estimate, ax=ax)

    @classmethod
    def from_selector(
        cls, selector: Any, measure: str = "jaccard", *, ax: Any = None
    ) -> RunSimilarityDisplay:
        """Draw how similar the selections of the runs of a fitted `EnsembleSelector` are.

        Parameters
        ----------
        selector : EnsembleSelector
            Fitted.
        measure : str
            A measure of pairs of selections.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        """
        info = MEASURES.get(measure)
        similarity = selector.similarity_ if info is not None and info.adjusted else None
        runs = fitted(selector).selections_
        return cls.from_runs(runs, measure, similarity=similarity, ax=ax)

    @classmethod
    def from_estimate(cls, estimate: StabilityEstimate, *, ax: Any = None) -> RunSimilarityDisplay:
        """Draw the pairs behind an estimate.

        Parameters
        ----------
        estimate : StabilityEstimate
            What `ms.stability` returned, for a measure of pairs of runs.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        """
        pairwise = estimate.pairwise
        if pairwise is None:
            raise InputError(
                f"{estimate.measure!r} is not a mean over pairs of runs, so there are no pairs to "
                "draw; 'jaccard', 'phi', 'sma_count' (selections) and 'spearman' (rankings) are."
            )
        known = ~np.isnan(pairwise)
        if not known.any():
            raise InputError(f"{estimate.measure!r} is undefined for every pair of these runs.")
        mean = float(pairwise[known].mean())
        filled = np.where(known, pairwise, mean)
        filled = (filled + filled.T) / 2
        order = cluster_order(filled.max() - filled, filled.sum(axis=0))
        pairwise = pairwise[np.ix_(order, order)]
        return cls(_block_means(pairwise), order, estimate.measure, mean).plot(ax)

    def plot(self, ax: Any = None) -> RunSimilarityDisplay:
        """Draw on `ax`, or on new axes."""
        import matplotlib as mpl

        n, m = len(self.values), len(self.run_order)
        self.ax_ = ax = new_axes(5.8, 4.9) if ax is None else ax
        self.figure_ = ax.figure
        low = np.floor(np.nanmin(self.values) * 10) / 10
        high = np.ceil(np.nanmax(self.values) * 10) / 10
        # light to dark: dark is similar, as ink on a page; grey where there is no pair
        colours = mpl.colormaps["cividis_r"].with_extremes(bad=LIGHT_GREY)
        image = ax.imshow(
            np.ma.masked_invalid(self.values), cmap=colours, interpolation="nearest",
            vmin=low, vmax=max(high, low + 0.1),
        )  # fmt: skip
        ax.set_xticks([])
        ax.set_yticks([])
        ax.spines[:].set_visible(False)
        bar = self.figure_.colorbar(image, ax=ax, pad=0.03)
        bar.set_label(f"{self.measure}, mean {self.mean:.2f}", parse_math=False)
        bar.outline.set_visible(False)
        text = f"{m:,} runs, similar ones side by side"
        if n < m:
            text += f"\n(a column is about {m / n:.0f} runs)"
        ax.set_xlabel(text)
        note = "darker: more similar"
        note += "; grey: a run with itself, or undefined" if np.isnan(self.values).any() else ""
        head(ax, "Do the runs tell the same story?", note)
        return self


def _block_means(pairwise: np.ndarray) -> np.ndarray:
    """Means over the known pairs of two blocks of neighbours; NaN where there are none."""
    starts = [block[0] for block in neighbour_blocks(len(pairwise))]

    def sums(values: np.ndarray) -> np.ndarray:
        return np.asarray(np.add.reduceat(np.add.reduceat(values, starts, axis=0), starts, axis=1))

    known = ~np.isnan(pairwise)
    total, number = sums(np.where(known, pairwise, 0.0)), sums(known.astype(float))
    return np.where(number > 0, total / np.maximum(number, 1), np.nan)
