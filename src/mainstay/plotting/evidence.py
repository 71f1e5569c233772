"""Evidence: features against what noise would give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mainstay.plotting._axes import (
    BLUE,
    GREY,
    LIGHT_GREY,
    ORANGE,
    Display,
    head,
    legend_below,
    new_axes,
    short_names,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from mainstay.reliability import FeatureEvidence

_MOST_NAMES = 12


@dataclass(eq=False)
class EvidenceDisplay(Display):
    """Evidence against frequency: how often a feature was selected, and how likely it is false.

    Features above the line can be named at the wanted false discovery rate. Often selected but
    below it: the runs agree on the feature because they share rows, and noise does as well.

    Parameters
    ----------
    table : pandas.DataFrame
        `FeatureEvidence.table`.
    level : float
        False discovery rate of the line.
    n_permutations : int
        How many permutations the q-values come from.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn; `display.save("evidence.png")` writes it to a file.

    Examples
    --------
    >>> import mainstay as ms
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> ev = ms.feature_evidence("f_statistic", X, y, n_permutations=20, random_state=0)
    >>> ms.EvidenceDisplay.from_evidence(ev).ax_.get_xlabel()
    'selection frequency'
    """

    table: pd.DataFrame
    level: float
    n_permutations: int

    @classmethod
    def from_evidence(cls, evidence: FeatureEvidence, *, ax: Any = None) -> EvidenceDisplay:
        """Draw what `ms.feature_evidence` returned.

        Parameters
        ----------
        evidence : FeatureEvidence
            The result.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        """
        return cls(evidence.table, evidence.level, evidence.n_permutations).plot(ax)

    def plot(self, ax: Any = None) -> EvidenceDisplay:
        """Draw on `ax`, or on new axes."""
        self.ax_ = ax = new_axes() if ax is None else ax
        self.figure_ = ax.figure
        named = (self.table["q_value"] <= self.level).to_numpy()
        x = self.table["frequency"].to_numpy()
        y = self.table["q_value"].to_numpy()
        ax.scatter(x[~named], y[~named], s=14, color=GREY, alpha=0.45, linewidths=0,
                   label="not to be told from noise")  # fmt: skip
        ax.scatter(x[named], y[named], s=26, color=BLUE, label="can be named", zorder=3)
        ax.axhline(self.level, color=ORANGE, linestyle="--", linewidth=1.2,
                   label=f"false discovery rate {self.level:.0%}")  # fmt: skip
        ax.set_yscale("log")
        _plain_numbers(ax)
        ax.set_ylim(1.6, min(0.6 / self.n_permutations, 0.5 * float(y.min()), 0.5 * self.level))
        ax.set_xlim(-0.03, 1.03)
        _list_strongest(ax, [str(name) for name in self.table["feature"][named]])
        ax.set_xlabel("selection frequency")
        ax.set_ylabel("q-value (stronger evidence ↑)")
        ax.spines[["top", "right"]].set_visible(False)
        count = int(named.sum())
        head(
            ax,
            "How often selected, and how likely to be false",
            f"{count:,} of {len(x):,} features can be named; {self.n_permutations:,} permutations",
        )
        legend_below(ax)
        return self


def _list_strongest(ax: Axes, names: list[str]) -> None:
    """List the strongest features beside the axes, where nothing overlaps."""
    if not names:
        return
    shown = short_names(names)[:_MOST_NAMES]
    if len(names) > _MOST_NAMES:
        shown.append(f"and {len(names) - _MOST_NAMES:,} more")
    ax.annotate(
        "\n".join(["strongest first", *shown]), (1, 1), xytext=(10, 0), xycoords="axes fraction",
        textcoords="offset points", ha="left", va="top", fontsize="small", color=BLUE,
        parse_math=False,
    )  # fmt: skip


@dataclass(eq=False)
class NullDistributionDisplay(Display):
    """How many features reach a value: observed, and what noise gives on average.

    Parameters
    ----------
    values : numpy.ndarray
        The observed statistic of every feature.
    null_quantiles : numpy.ndarray
        Quantiles of the statistics of permuted targets, as in `FeatureEvidence`.
    null_largest : numpy.ndarray
        Largest statistic of every permuted target.
    named : numpy.ndarray
        Which features can be named.
    label : str
        What was measured.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> import mainstay as ms
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> ev = ms.feature_evidence("f_statistic", X, y, n_permutations=20, random_state=0)
    >>> ms.NullDistributionDisplay.from_evidence(ev).ax_.get_ylabel()
    'features that reach it'
    """

    values: np.ndarray
    null_quantiles: np.ndarray
    null_largest: np.ndarray
    named: np.ndarray
    label: str = "statistic"

    @classmethod
    def from_evidence(cls, evidence: FeatureEvidence, *, ax: Any = None) -> NullDistributionDisplay:
        """Draw what `ms.feature_evidence` returned.

        Parameters
        ----------
        evidence : FeatureEvidence
            The result.
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        """
        return cls(
            evidence.values,
            evidence.null_quantiles,
            evidence.null_largest,
            evidence.q_values <= evidence.level,
            evidence.statistic_in_words,
        ).plot(ax)

    def plot(self, ax: Any = None) -> NullDistributionDisplay:
        """Draw on `ax`, or on new axes."""
        self.ax_ = ax = new_axes() if ax is None else ax
        self.figure_ = ax.figure
        p, m = len(self.values), len(self.null_largest)
        falling = np.sort(self.values)[::-1]
        ax.step(falling, np.arange(1, p + 1), where="post", color=BLUE, label="observed", zorder=3)
        expected = np.geomspace(1, 1 / (m * p), len(self.null_quantiles)) * p
        ax.fill_between(self.null_quantiles, expected, 1e-9, color=LIGHT_GREY, linewidth=0,
                        label="noise, on average")  # fmt: skip
        ax.axvline(float(np.quantile(self.null_largest, 0.95)), color=ORANGE, linestyle="--",
                   linewidth=1.2, label="95% of noise data sets end here")  # fmt: skip
        strong = np.flatnonzero(self.named[np.argsort(-self.values, kind="stable")])
        ax.plot(falling[strong], strong + 1, "o", color=BLUE, markersize=4, zorder=4)
        ax.set_yscale("log")
        ax.set_ylim(0.5 / m, 1.5 * p)
        _plain_numbers(ax)
        ax.set_xlabel(self.label)
        ax.set_ylabel("features that reach it")
        ax.spines[["top", "right"]].set_visible(False)
        head(
            ax,
            "Observed features and what noise would give",
            f"dots: the {len(strong):,} of {p:,} features that can be named; {m:,} permutations",
        )
        legend_below(ax)
        return self


def _plain_numbers(ax: Axes) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    ax.yaxis.set_major_locator(LogLocator(base=10))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
