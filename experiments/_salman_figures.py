"""The figures of salman2022."""

from __future__ import annotations

from itertools import product
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from _figures import COLOURS
from _salman_data import BROKEN, FILTERS, ONE, RULES, SETS, SINGLE

LOOK = {rule: look for rule, *look in zip(RULES, COLOURS, "os^Dv", strict=False)}
LOOK |= {BROKEN: ["k", "x"], SINGLE: ["0.55", "_"], ONE: [COLOURS[5], "+"]}


def plot_accuracy(mean: pd.Series) -> Any:
    """Figs. 3 to 14: accuracy against the share of features kept."""
    figure, axes = plt.subplots(len(SETS), 4, figsize=(11, 15), sharex=True, sharey="row")
    for (i, name), (j, key) in product(enumerate(SETS), enumerate(FILTERS)):
        ax = axes[i, j]
        for rule in (SINGLE, *RULES):
            colour, marker = LOOK[rule]
            style = {"color": colour, "marker": marker, "markersize": 3.5, "linewidth": 1}
            ax.plot(np.arange(10, 101, 10), mean.loc[name, key, rule], label=rule, **style)
        ax.set(xticks=range(20, 101, 20), title=FILTERS[key] if i == 0 else None)
        if j == 0:
            ax.set_ylabel(f"{name}\naccuracy")
    figure.supxlabel("features kept, %", size=10)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=6)
    return figure


def plot_stability(found: dict[str, pd.DataFrame]) -> Any:
    """Figs. 15 to 20: stability by data set; the mean over thresholds for Jaccard."""
    measures = ("Spearman", "1 − Canberra", "Jaccard")
    figure, axes = plt.subplots(2, 3, figsize=(12.5, 6.4), sharex=True)
    for (i, (key, frame)), (j, what) in product(enumerate(found.items()), enumerate(measures)):
        ax, by = axes[i, j], frame[what].unstack("rule").reindex(list(SETS))
        for place, (rule, (colour, marker)) in enumerate(LOOK.items()):
            at = np.arange(len(SETS)) + 0.1 * (place - 3.5)
            ax.plot(at, by[rule], marker, color=colour, markersize=5, label=rule)
        ax.set(title=f"{FILTERS[key]}: {what}")
        ax.set_xticks(range(len(SETS)), SETS, rotation=40, ha="right", rotation_mode="anchor")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=8)
    return figure


def plot_stuart(stable: dict[int, dict[str, float]]) -> Any:
    """Draw the error of the recursion, and the stability it makes, against the number of lists."""
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.3))
    errors = {m: s["error"] for m, s in stable.items() if s["nan"] < 1 and s["error"] < 1e300}
    axes[0].loglog(list(errors), list(errors.values()), "o-", color=LOOK["Stuart"][0])
    axes[0].axhline(1, color="0.6", linewidth=1, linestyle=":")
    axes[0].set(xlabel="bootstraps", ylabel="largest relative error of Q", title="recursion")
    lines = {
        "exact": "Stuart, exact Q",
        "recursion": "Stuart, recursion",
        "mean": "arithmetic mean",
        "first": "first bootstrap only",
    }
    for (key, label), colour, marker in zip(lines.items(), COLOURS, "osv^", strict=False):
        y = [s[key] for s in stable.values()]
        axes[1].semilogx(list(stable), y, f"{marker}-", color=colour, label=label, markersize=5)
    axes[1].set(
        xlabel="bootstraps", ylabel="Spearman stability", title="ionosphere, information gain"
    )
    axes[1].legend()
    return figure
