"""The figures of huynhthu2021: critical differences, boxplots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from _figures import COLOURS
from _huynhthu_cells import PROBLEMS, REGRESSION
from _huynhthu_methods import BASES
from _huynhthu_tables import LABELS, label
from scipy import stats


def rank(scores: pd.DataFrame, larger_is_better: bool) -> pd.DataFrame:
    """Rank the methods (columns) on every data set, the best first."""
    # some cells have five digits only: means that differ in the last are equal
    digits = scores.map(lambda x: float(f"{x:.4g}"))
    return digits.rank(axis=1, ascending=not larger_is_better)


def average_ranks(scores: pd.DataFrame, larger_is_better: bool) -> tuple[pd.Series, float, float]:
    """Average rank of every method (columns) over data sets, Friedman's p, Nemenyi's difference.

    p is that of the F statistic, which is nearest to the paper's. Two methods differ at the 5%
    level if their average ranks are CD = q √(k(k+1)/6N) apart, where q is the studentised range
    over √2 (Demšar 2006).
    """
    n, k = scores.shape
    ranks = rank(scores, larger_is_better)
    return ranks.mean().sort_values(), friedman(ranks)[1], critical_difference(k, n)


def critical_difference(k: int, n: int) -> float:
    """Nemenyi's critical difference of the average ranks of k methods over n data sets."""
    q = stats.studentized_range.ppf(0.95, k, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(k * (k + 1) / (6 * n)))


def friedman(ranks: pd.DataFrame) -> tuple[float, float]:
    """Friedman's p from ranks, data sets × methods: of χ², and of Iman and Davenport's F.

    F = (N − 1) χ² / (N (k − 1) − χ²) with k − 1 and (k − 1)(N − 1) degrees of freedom. Both as in
    Demšar (2006), whom the paper cites: without a correction for ties, which scipy has.
    """
    n, k = ranks.shape
    chi2 = 12 * n / (k * (k + 1)) * float((ranks.mean() ** 2).sum() - k * (k + 1) ** 2 / 4)
    left = n * (k - 1) - chi2
    f = (n - 1) * chi2 / left if left > 1e-9 else np.inf
    return float(stats.chi2.sf(chi2, k - 1)), float(stats.f.sf(f, k - 1, (k - 1) * (n - 1)))


def critical_differences(ranks: pd.Series, difference: float, title: str) -> Any:
    """Draw methods on a line of average ranks; bars join those that do not differ."""
    k = len(ranks)
    half = (k + 1) // 2
    figure, ax = plt.subplots(figsize=(7, 1.5 + 0.24 * half))
    ax.set(xlim=(0.6, k + 0.4), ylim=(-half - 1.3, 1.6))
    ax.axis("off")
    ax.plot([1, k], [0, 0], color="black", linewidth=1)
    for tick in range(1, k + 1):
        ax.plot([tick, tick], [0, 0.15], color="black", linewidth=1)
        ax.text(tick, 0.25, str(tick), ha="center", va="bottom", size=8)
    ax.plot([1, 1 + difference], [1.15, 1.15], color=COLOURS[3], linewidth=2)
    ax.text(1 + difference + 0.05, 1.15, f"critical difference {difference:.2f}", va="center",
            size=8, color=COLOURS[3])  # fmt: skip
    for i, (method, rank) in enumerate(ranks.items()):
        left = i < half
        level = -1.1 - (i if left else k - 1 - i)
        end, align = (0.95, "right") if left else (k + 0.05, "left")
        ax.plot([rank, rank, end], [0, level, level], color=COLOURS[0], linewidth=1)
        ax.text(end - 0.03 if left else end + 0.03, level, f"{label(str(method))}  {rank:.2f}",
                ha=align, va="center", size=8.5)  # fmt: skip
    for bar, (first, last) in enumerate(_joined(ranks.to_numpy(), difference)):
        ax.plot([first - 0.04, last + 0.04], [-0.3 - 0.22 * bar] * 2, color="black", linewidth=3)
    ax.set_title(title, pad=12)
    return figure


def _joined(ranks: np.ndarray, difference: float) -> list[tuple[float, float]]:
    """Longest stretches of ranks within the critical difference."""
    found: list[tuple[float, float]] = []
    for first in ranks:
        last = ranks[ranks <= first + difference].max()
        if last > first and not any(a <= first and last <= b for a, b in found):
            found.append((float(first), float(last)))
    return found


def plot_boxes(cells: pd.DataFrame, value: str, kinds: Sequence[str], ylabel: str) -> Any:
    """Draw one panel per problem: boxes over data sets, by base model and kind of method."""
    figure, axes = plt.subplots(1, 4, figsize=(11, 3))
    for ax, problem in zip(axes, PROBLEMS, strict=True):
        for i, kind in enumerate(kinds):
            for j, base in enumerate(BASES):
                mine = cells[(cells["data"] == problem) & (cells["method"] == f"{kind}-{base}")]
                values = mine[value].dropna() if value in mine else []
                if len(values):
                    _box(ax, values, j + (i - (len(kinds) - 1) / 2) * 0.26, COLOURS[i], 0.22)
        ax.set_xticks(range(len(BASES)), [LABELS[base] for base in BASES])
        unit = "mean square error" if problem in REGRESSION else "misclassification rate"
        ax.set(title=problem, ylabel=unit if ylabel == "error" else ylabel, xlim=(-0.6, 2.6))
        ax.set_ylim(bottom=0)
    handles = [plt.Line2D([], [], color=COLOURS[i], linewidth=6) for i in range(len(kinds))]
    figure.legend(handles, [LABELS[kind] for kind in kinds], loc="outside lower center", ncols=3)
    return figure


def plot_regulators(cells: pd.DataFrame, names: Sequence[str], lambdas: Sequence[str]) -> Any:
    """Draw Figure S3: regulators per model, over the target genes, by λ; steps of 0.001 if run."""
    figure, axes = plt.subplots(1, len(names), figsize=(11, 2.8), sharey=True)
    drawn = set()
    for ax, name in zip(axes, names, strict=True):
        for i, base in enumerate(BASES):
            for j, value in enumerate(lambdas):
                kept = _regulators(cells[cells["data"] == name], f"{base}-{value}")
                if kept is not None:
                    _box(ax, kept, j + (i - 1) * 0.26, COLOURS[i], 0.22)
                    drawn.add(i)
        ax.set_xticks(range(len(lambdas)), lambdas)
        ax.set(title=f"network {name}", xlabel="λ", xlim=(-0.6, len(lambdas) - 0.4))
    axes[0].set_ylabel("Σα of a gene")
    handles = [plt.Line2D([], [], color=COLOURS[i], linewidth=6) for i in sorted(drawn)]
    labels = [LABELS[list(BASES)[i]] for i in sorted(drawn)]
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure


def _regulators(cells: pd.DataFrame, method: str) -> Any:
    """Σα of every gene of the first seed that kept it, by small steps rather than large ones."""
    for kind in ("slow", "prsb"):
        mine = cells[cells["method"] == f"{kind}-{method}"]
        kept = mine["regulators"].dropna() if "regulators" in mine else []
        if len(kept):
            return kept.iloc[0]
    return None


def _box(ax: Any, values: Any, position: float, colour: str, width: float) -> None:
    ax.boxplot(
        list(values), positions=[position], widths=width, patch_artist=True, manage_ticks=False,
        boxprops={"facecolor": colour, "alpha": 0.55, "linewidth": 0.8},
        medianprops={"color": "black"}, flierprops={"markersize": 2.5},
        whiskerprops={"linewidth": 0.8}, capprops={"linewidth": 0.8},
    )  # fmt: skip
