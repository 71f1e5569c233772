"""The figures of the experiments, and their common look."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

# Okabe and Ito's colours, told apart by colour-blind readers too
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9")
BLUE, ORANGE = COLOURS[:2]
_LOOK = {
    "figure.dpi": 120,
    "savefig.dpi": 120,
    "figure.constrained_layout.use": True,
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "0.9",
    "axes.axisbelow": True,
    "legend.frameon": False,
}


def use_look() -> None:
    """Draw all figures of this process alike; for scripts, not on import: tests import modules."""
    mpl.use("Agg")
    mpl.rcParams.update(_LOOK)


def save_figure(figure: Any, folder: Path, name: str) -> None:
    """Write a PNG."""
    figure.savefig(folder / name, bbox_inches="tight", pil_kwargs={"optimize": True})
    plt.close(figure)


# ---------------------------------------------------------------------- bommert2020


def plot_pairs(values: pd.DataFrame) -> Any:
    """Draw the scatter-plot matrix; the area of a point shows how many pairs lie on it."""
    names = list(values)
    figure, axes = plt.subplots(7, 7, figsize=(10.5, 10.5), sharex="col")
    low, high = np.floor(values.min().min() * 10) / 10, 1.1
    for i, row in enumerate(names):
        for j, column in enumerate(names):
            ax = axes[i, j]
            ax.set(xlim=(low, high), ylim=(low, high), xticks=[-1, 0, 1], yticks=[-1, 0, 1])
            ax.tick_params(labelsize=7, labelleft=j == 0 and i > 0, labelbottom=i == 6 and j < 6)
            if i > j:
                both = values[[column, row]].dropna().round(6)
                spots = both.value_counts().reset_index()
                ax.axline((0, 0), slope=1, color=ORANGE, linewidth=1.2, zorder=1)
                area = 1.5 + 0.25 * spots["count"].clip(upper=200)
                ax.scatter(
                    spots[column], spots[row], s=area, color=BLUE, alpha=0.45, lw=0, rasterized=True
                )
                continue
            ax.axis("off")
            if i == j:
                ax.text(0.5, 0.5, row, ha="center", va="center", transform=ax.transAxes, size=11)
                continue
            correlation = values[row].corr(values[column])
            apart = (values[row] - values[column]).abs().max()
            text = f"r = {correlation:.3f}\nmax |Δ| = {apart:.2f}"
            shade = plt.get_cmap("cividis")(0.35 + 0.65 * max(correlation, 0))
            box = {"facecolor": shade, "edgecolor": "none", "alpha": 0.35, "pad": 5}
            ax.text(0.5, 0.5, text, ha="center", va="center", transform=ax.transAxes, bbox=box)
    return figure


def plot_correlations(correlation: pd.DataFrame) -> Any:
    """Draw Fig. 3."""
    figure, ax = plt.subplots(figsize=(6.2, 5.2))
    image = ax.imshow(correlation, cmap="cividis", vmin=0, vmax=1)
    ax.set_xticks(range(7), correlation.columns, rotation=35, ha="right")
    ax.set_yticks(range(7), correlation.columns)
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
    for (i, j), value in np.ndenumerate(correlation):
        ax.text(j, i, f"{value:.3f}", ha="center", va="center", color="wk"[int(value > 0.5)])
    figure.colorbar(image, label="mean Pearson correlation", shrink=0.85)
    return figure


def plot_times(results: pd.DataFrame, sets: pd.DataFrame) -> Any:
    """Draw Fig. 4: a dot for every setting, a bar for the median."""
    figure, axes = plt.subplots(1, len(sets), figsize=(1 + 3 * len(sets), 4), sharey=True)
    jitter = np.random.default_rng(0)
    order = ["SMU", "SMZ", "SMY", "SMA-Count", "SMA-Mean", "SMA-Greedy", "SMA-MBM"]
    for ax, (data, part) in zip(axes, results.groupby("data", sort=False), strict=True):
        for place, name in enumerate(order):
            seconds = part[f"seconds {name}"]
            for colour, varied, label in ((BLUE, False, "equal"), (ORANGE, True, "different")):
                chosen = seconds[(part["distinct sizes"] > 1) == varied]
                at = place + jitter.uniform(-0.25, 0.25, len(chosen))
                text = f"{label} set sizes" if place == 0 else None
                ax.scatter(at, chosen, s=9, color=colour, alpha=0.6, lw=0, label=text)
            ax.plot([place - 0.35, place + 0.35], [seconds.median()] * 2, color="k", lw=1.8)
        n, p, similar = sets.loc[data, ["n (half)", "p", "similar features"]]
        ax.set(title=f"{data}\nn = {n}, p = {p}, {similar} similar", yscale="log")
        ax.set_xticks(range(7), order, rotation=60, ha="right", rotation_mode="anchor")
        ax.grid(visible=False, axis="x")
    axes[0].set_ylabel("CPU seconds per call")
    axes[0].legend(loc="upper left", markerscale=1.8, handletextpad=0.1)
    return figure


# ---------------------------------------------------------------------- nogueira2015


def plot_extremes(extremes: dict[int, np.ndarray]) -> Any:
    """Draw the largest and smallest sim_N against the size of one of the sets (Fig. 1)."""
    figure, axes = plt.subplots(1, 2, figsize=(8, 3.2), sharey=True)
    for ax, (k2, values) in zip(axes, extremes.items(), strict=True):
        for colour, marker, name, y in zip(
            (BLUE, ORANGE), "os", ("max", "min"), values, strict=True
        ):
            ax.plot(y, color=colour, marker=marker, markersize=4, label=f"{name} of sim_N")
        ax.axvline(k2, color="0.6", linewidth=1, linestyle=":")
        ax.set(title=f"k₂ = {k2}, n = 10", xlabel="k₁", xticks=range(0, 11, 2), ylim=(-1.1, 1.1))
    axes[0].legend(loc=(0.33, 0.42))
    return figure


def plot_chance(evidence: pd.DataFrame, n: int) -> Any:
    """Draw what random and what identical sets score, against their size."""
    figure, axes = plt.subplots(3, 4, figsize=(10.5, 6.6), sharex=True, sharey=True)
    for ax, (name, part) in zip(axes.flat, evidence.groupby("measure", sort=False), strict=True):
        ax.plot(part["k"], part["identical"], color=ORANGE, marker="s", markersize=3)
        error = 2 * part["error"]
        ax.errorbar(part["k"], part["mean"], error, color=BLUE, marker="o", markersize=3)
        ax.set(title=name, xlim=(0, n), ylim=(-0.08, 1.08))
    for y, text, colour in ((0.86, "identical sets", "#A66F00"), (0.08, "random sets", BLUE)):
        axes[0, 3].text(n / 2, y, text, color=colour, ha="center")
    figure.supxlabel(f"features selected, of {n}", size=10)
    figure.supylabel("stability", size=10)
    return figure


def plot_forests(results: dict[str, pd.DataFrame]) -> Any:
    """Draw the stability of random forests by measure and data set, with intervals (Fig. 2)."""
    figure, axes = plt.subplots(len(results), 1, figsize=(8.5, 3 * len(results)), sharex=True)
    for ax, (variant, table) in zip(np.atleast_1d(axes), results.items(), strict=True):
        measures, sets = list(table["measure"].unique()), list(table["data"].unique())
        for place, (measure, colour) in enumerate(zip(measures, COLOURS, strict=True)):
            part = table[table["measure"] == measure]
            at = np.arange(len(sets)) + 0.13 * (place - (len(measures) - 1) / 2)
            ax.bar(at, part["value"], 0.115, color=colour, label=measure)
            reach = [part["value"] - part["lower"], part["upper"] - part["value"]]
            ax.errorbar(at, part["value"], reach, fmt="none", color="k", capsize=2, linewidth=1)
        ax.set(title=variant, ylabel="stability", ylim=(0, 1.08))
        ax.set_xticks(range(len(sets)), sets)
        ax.grid(visible=False, axis="x")
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=6)
    return figure
