"""The figures of onda2021."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from _figures import BLUE, COLOURS, ORANGE
from matplotlib.ticker import LogFormatterSciNotation, MaxNLocator, NullFormatter, NullLocator

VERMILION, GREY = COLOURS[3], "0.45"


def shades(keys: Any) -> dict[Any, Any]:
    """Give ordered keys colours from dark to light that all readers can put in order."""
    keys = list(keys)
    return dict(zip(keys, mpl.colormaps["viridis"](np.linspace(0, 0.88, len(keys))), strict=True))


def draw_lines(ax: Any, table: pd.DataFrame, label: str = "{}") -> None:
    """Draw one line per column, in the order of the columns."""
    markers = "osD^vPX*h"
    for marker, (key, colour) in zip(markers, shades(table).items(), strict=False):
        ax.plot(
            table.index,
            table[key],
            color=colour,
            marker=marker,
            markersize=4,
            label=label.format(key),
        )


def columns(n: int = 3, rows: int = 1, height: float = 3.2, **options: Any) -> Any:
    """Make a row of panels, one per data set."""
    return plt.subplots(rows, n, figsize=(3.5 * n, height * rows), **options)


def plot_accuracy(tables: dict[str, pd.DataFrame], chance: dict[str, float]) -> Any:
    """Draw Figs. 1 (left) and 6: accuracy against the size of the ensemble."""
    figure, axes = columns(sharey=True)
    for ax, (name, table) in zip(axes, tables.items(), strict=True):
        draw_lines(ax, table)
        ax.axhline(chance[name], color=GREY, linestyle=":")
        ax.text(1, chance[name] + 0.01, "largest class", color=GREY, size=8)
        ax.set(title=name, xlabel="weak selectors, m_ensemble", ylim=(0.4, 1.01))
    axes[0].set_ylabel("leave-one-out accuracy")
    axes[2].legend(title="n_tree", loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def plot_frequencies(parts: dict[str, dict[str, Any]]) -> Any:
    """Draw Figs. 1 (right) and 7: how many features were selected how often."""
    figure, axes = columns()
    for ax, (name, part) in zip(axes, parts.items(), strict=True):
        real, uniform = part["real"], part["uniform"]
        at = np.arange(len(real))
        ax.bar(at, real, 1, color=BLUE, label="random forest, 500 trees")
        seen = uniform > 0.02
        ax.step(
            at[seen], uniform[seen], where="mid", color=ORANGE, lw=2, label="uniform (expected)"
        )
        ax.axvline(part["threshold"], color="k", linestyle="--", lw=1)
        ax.annotate(
            f"mean t_uniform\n{part['threshold']:.2f}",
            (part["threshold"], 0.62),
            (8, 0),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            size=8,
        )
        ax.set(title=name, xlabel="times selected", yscale="log", ylim=(0.5, 2 * real.max()))
        ax.yaxis.set_major_formatter(LogFormatterSciNotation())
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes[0].set_ylabel("features")
    axes[2].legend(loc="upper right")
    return figure


def plot_verification(table: pd.DataFrame) -> Any:
    """Draw Fig. 2 (left): n_useful counted again in simulated runs, for several p."""
    figure, ax = plt.subplots(figsize=(4.6, 3.7))
    for key, colour in shades(table).items():
        ax.plot(table.index, table[key], color=colour, label=f"{key:g}")
    top = float(np.nanmax(table.to_numpy())) * 1.05
    ax.plot([0, top], [0, top], color="k", linestyle="--", lw=1)
    ax.text(top * 0.72, top * 0.78, "equal", rotation=0, ha="right")
    ax.set(xlabel="n_useful given", ylabel="n_useful counted again", ylim=(0, top))
    ax.legend(title="p", loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def draw_pairs(ax: Any, part: dict[str, Any]) -> None:
    """Draw the pairs (n_useful, p) that agree with the stability, and with the count."""
    for kind, colour, marker in (("stability", BLUE, "^"), ("count", ORANGE, "o")):
        pairs = part[kind]
        ax.scatter(
            pairs[:, 0], pairs[:, 1], s=7, color=colour, marker=marker, lw=0, rasterized=True
        )
    u, p = part["n_useful"], part["p"]
    if p is not None:
        ax.plot(u, p, marker="*", color="k", markersize=11, markeredgecolor="w")
        ax.annotate(f"({u:g}, {p:.2f})", (u, p), (7, -11), textcoords="offset points", size=8)
    else:
        ax.axvline(u, color="k", linestyle=":", lw=1)
        ax.text(u + 3, 0.05, f"n_useful = {u:g}:\nno p", size=8)
    ax.set(xlabel="n_useful", ylim=(0, 1.02))


def plot_pairs(parts: dict[str, dict[str, Any]]) -> Any:
    """Draw Figs. 2 (right) and 8."""
    figure, axes = columns(sharey=True)
    for ax, (name, part) in zip(axes, parts.items(), strict=True):
        draw_pairs(ax, part)
        ax.set_title(
            f"{name}\nJ = {part['J']:g} ± {part['J_width']:g}, count {part['n_useful']:g} ± 2"
        )
    axes[0].set_ylabel("p")
    handles = [
        plt.Line2D([], [], color=BLUE, marker="^", ls="", label="stability as observed"),
        plt.Line2D(
            [], [], color=ORANGE, marker="o", ls="", label="n_useful counted again as given"
        ),
        plt.Line2D([], [], color="k", marker="*", ls="", markersize=9, label="solve_p"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    return figure


def plot_curves(
    simulated: dict[str, pd.DataFrame], real: dict[str, pd.DataFrame], plateaus: dict[str, float]
) -> Any:
    """Draw Figs. 3, 9 and 10: stability against the size of the ensemble, simulated and real."""
    figure, axes = columns(rows=2, height=3.1, sharex=True, sharey="row")
    for place, name in enumerate(real):
        draw_lines(axes[0, place], simulated[name], "{:g}")
        draw_lines(axes[1, place], real[name])
        axes[0, place].set_title(name)
        axes[1, place].set_xlabel("weak selectors, m_ensemble")
        for ax in axes[:, place]:
            ax.axhline(plateaus[name], color=GREY, linestyle=":", lw=1.5)
    for ax in axes[:, 0]:
        ax.set_ylim(0, None)
    axes[0, 0].set_ylabel("J, simulated (Fig. 9)")
    axes[1, 0].set_ylabel("J, random forests (Fig. 10)")
    axes[0, 2].legend(title="p", loc="center left", bbox_to_anchor=(1, 0.5))
    axes[1, 2].legend(title="n_tree", loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def plot_real(real: dict[str, pd.DataFrame]) -> Any:
    """Draw Fig. 15: the real ensembles with a tenth of the features tried at every split."""
    figure, axes = columns(sharey=True)
    for ax, (name, table) in zip(axes, real.items(), strict=True):
        draw_lines(ax, table)
        ax.set(title=name, xlabel="weak selectors, m_ensemble")
    axes[0].set(ylabel="J", ylim=(0, None))
    axes[2].legend(title="n_tree", loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def plot_corrected(part: dict[str, Any], simulated: pd.DataFrame, real: pd.DataFrame) -> Any:
    """Draw Fig. 11: Prostate with n_useful = 130."""
    figure, (left, right) = columns(2, height=3.4)
    draw_pairs(left, part)
    left.set(title="pairs that fit", ylabel="p")
    draw_lines(right, simulated, "{:g}")
    right.plot(real.index, real[200], color=VERMILION, lw=2.2, label="real,\n200 trees")
    right.set(title=f"stability, n_useful = {part['n_useful']:g}", ylabel="J", ylim=(0, None))
    right.set_xlabel("weak selectors, m_ensemble")
    right.legend(title="p", loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def plot_times(times: pd.DataFrame) -> Any:
    """Draw Figs. 4, 12 and 13: CPU time of the stability of an ensemble, real and simulated."""
    figure, axes = columns(sharey=True)
    looks = {
        "RandomForestClassifier": (BLUE, "o"),
        "the same rules, compiled": (COLOURS[5], "s"),
        "simulated": (ORANGE, "^"),
        "formula": (VERMILION, "D"),
    }
    for ax, (name, part) in zip(axes, times.groupby("data", sort=False), strict=True):
        for kind, (colour, marker) in looks.items():
            ax.plot(part["m_ensemble"], part[kind], color=colour, marker=marker, ms=4, label=kind)
        ax.set(title=name, xlabel="weak selectors, m_ensemble", yscale="log")
        ax.yaxis.set_minor_formatter(NullFormatter())
    axes[0].set_ylabel("CPU seconds")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def plot_mtry(table: pd.DataFrame) -> Any:
    """Draw Fig. 14: estimates of n_useful and p on Colon, by number of trees and mtry."""
    figure, axes = columns(2)
    for ax, what in zip(axes, ("n_useful", "p"), strict=True):
        for (mtry, part), colour, marker in zip(
            table.groupby("mtry", sort=False), COLOURS[:3], "os^", strict=False
        ):
            low, high = part[f"{what}_low"], part[f"{what}_high"]
            ax.fill_between(part["n_tree"], low, high, color=colour, alpha=0.2, lw=0)
            ax.plot(part["n_tree"], part[what], color=colour, marker=marker, ms=4, label=mtry)
        ax.set(xlabel="n_tree", ylabel=what)
    axes[0].set_ylim(0, None)
    axes[1].set_ylim(0, 1)
    axes[1].legend(title="normalised mtry", loc="lower right")
    return figure


def plot_budget(tables: dict[str, pd.DataFrame]) -> Any:
    """Draw how n_useful and the plateau that follows from it depend on the number of runs."""
    figure, axes = columns(2)
    for (name, table), colour, marker in zip(tables.items(), COLOURS, "os^", strict=False):
        axes[0].plot(table.index, table["n_useful"], color=colour, marker=marker, ms=4, label=name)
        axes[1].plot(table.index, table["plateau"], color=colour, marker=marker, ms=4, label=name)
    for ax, label in zip(axes, ("n_useful", "J forecast for large ensembles"), strict=True):
        ax.set(xlabel="runs counted, M", ylabel=label, ylim=(0, None), xscale="log")
        ax.set_xticks([25, 50, 100, 200, 400, 800], [25, 50, 100, 200, 400, 800], minor=False)
        ax.xaxis.set_minor_locator(NullLocator())
    axes[0].legend()
    return figure
