"""The tables of huynhthu2021: ours, and in brackets the paper's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from _common import table
from _huynhthu_cells import PROBLEMS
from _huynhthu_methods import BASES
from _huynhthu_paper import Number

LABELS = {
    "rf": "RF", "gbdt": "GBDT", "single": "single", "rsb": "RSB", "eda": "EDA", "prsb": "PRSB",
    "tree": "tree", "knn": "kNN", "svm": "SVM", "forest": "GENIE3 (forest)",
}  # fmt: skip
Paper = dict[tuple[str, str], Number]


def label(method: str) -> str:
    """Write a method's name as the paper does."""
    return "-".join(LABELS.get(part, part) for part in method.split("-"))


def spread(cells: pd.DataFrame, value: str) -> pd.DataFrame:
    """Mean, standard deviation and number of repetitions by data set and method."""
    if value not in cells:
        return pd.DataFrame(columns=["mean", "std", "count"])
    return (
        cells.dropna(subset=[value])
        .groupby(["data", "method"])[value]
        .agg(["mean", "std", "count"])
    )


def beside(ours: pd.DataFrame, paper: Paper, key: tuple[str, str], digits: int) -> str:
    """Write one cell: our mean ± standard deviation, and the paper's mean in brackets."""
    theirs = paper.get(key)
    shown = "" if theirs is None else f" ({theirs[0]:.{digits}f})"
    if key not in ours.index:
        return f"–{shown}"
    mean, sd, count = ours.loc[key]
    spread_shown = f" ± {sd:.{digits}f}" if count > 1 else ""
    return f"{mean:.{digits}f}{spread_shown}{shown}"


def by_data(
    cells: pd.DataFrame, value: str, paper: Paper, names: Sequence[str], methods: Sequence[str],
    digits: int = 2,
) -> str:  # fmt: skip
    """One row per data set, one column per method."""
    ours = spread(cells, value)
    rows = [[name, *(beside(ours, paper, (name, m), digits) for m in methods)] for name in names]
    return table(["", *map(label, methods)], rows)


def each(*kinds: str) -> list[str]:
    """Methods of some kinds with every base model, base by base."""
    return [f"{kind}-{base}" for base in BASES for kind in kinds]


# ---------------------------------------------------------------------- the simulated problems


def goals(cells: pd.DataFrame, error: Paper, aupr: Paper) -> tuple[str, int, int]:
    """Compare PRSB with the paper's Table S2: not worse by more than one standard error.

    The standard error is that of our mean over the data sets.
    """
    rows, good, n = [], 0, 0
    for problem in PROBLEMS:
        for method in each("prsb"):
            row = [problem, label(method)]
            for value, paper, sign in (("error", error, 1), ("aupr", aupr, -1)):
                ours = spread(cells, value)
                if (problem, method) not in ours.index:
                    row += ["–"] * 3
                    continue
                mean, sd, count = ours.loc[(problem, method)]
                se = sd / count**0.5 if count > 1 else np.nan
                theirs = paper[problem, method][0]
                reached = bool(sign * (mean - theirs) <= se)
                good, n = good + reached, n + 1
                row += [f"{mean:.3f} ± {se:.3f}", f"{theirs:.2f}", "✓" if reached else "**no**"]
            rows.append(row)
    header = ["", "", "test error ± s.e.", "paper", "", "AUPR ± s.e.", "paper", ""]
    return table(header, rows, text=2), good, n


def restarts(cells: pd.DataFrame) -> str:
    """AUPR of single restarts, of the one with the lowest objective, and of the mean."""
    found = cells[cells["method"].isin(each("prsb"))].copy()
    found["single"] = found["aupr_of_restarts"].map(np.mean)
    columns = {
        "single": "single restart", "aupr_of_lowest_objective": "lowest objective",
        "aupr": "mean of all", "agreement": "agreement of restarts", "n_models": "models a restart",
        "seconds": "CPU s, all restarts",
    }  # fmt: skip
    means = found.groupby(["data", "method"], sort=False)[list(columns)].mean()
    rows = [
        [data, label(method), *(f"{row[c]:.2f}" for c in list(columns)[:4]),
         f"{row['n_models']:.0f}", f"{row['seconds']:.0f}"]
        for (data, method), row in means.iterrows()
    ]  # fmt: skip
    return table(["", "", *columns.values()], rows, text=2)


def references(cells: pd.DataFrame, papers: dict[str, Paper]) -> str:
    """Table S3: Q = 1 and Q = 10."""
    found = {name: spread(cells, name) for name in papers}
    rows = []
    for base in BASES:
        for problem in PROBLEMS:
            for kind, q in (("prsb1", 1), ("prsb10", 10)):
                key = (problem, f"{kind}-{base}")
                count = found["error"]["count"].get(key, 0)
                values = [
                    beside(found[name], papers[name], key, 0 if name == "n_models" else 2)
                    for name in papers
                ]
                rows.append([LABELS[base], problem, q, int(count), *values])
    header = ["", "", "Q", "data sets", "test error", "AUPR", "models trained"]
    return table(header, rows, text=2)


# ---------------------------------------------------------------------- networks


def networks(cells: pd.DataFrame, paper: Paper, names: Sequence[str]) -> str:
    """Table 5."""
    ours = {(row["method"], row["data"]): row["average_precision"] for _, row in cells.iterrows()}
    rows = []
    for method in dict.fromkeys(key[0] for key in paper):
        shown = label(method).replace("-auto", ", λ automatic").replace("-0", ", λ = 0")
        values = []
        for name in names:
            mine, theirs = ours.get((method, name)), paper[method, name][0]
            values.append(f"{'–' if mine is None else f'{mine:.3f}'} ({theirs:.2f})")
        rows.append([shown, *values])
    return table(["", *(f"network {name}" for name in names)], rows)


def best(cells: pd.DataFrame, wanted: dict[str, float]) -> tuple[str, bool]:
    """The best method on every network, and whether it reaches what was asked for."""
    rows, reached = [], True
    for name, goal in wanted.items():
        mine = cells[cells["data"] == name].sort_values("average_precision", ascending=False)
        if mine.empty:
            return "not yet computed", False
        top = mine.iloc[0]
        good = bool(top["average_precision"] >= goal)
        reached &= good
        shown = f"{top['average_precision']:.3f}"
        rows.append([name, label(top["method"]), shown, goal, "✓" if good else "**no**"])
    return table(["network", "best method", "average precision", "the paper's best", ""], rows), (
        reached
    )


def by_rule(
    cells: pd.DataFrame, paper: Paper, observed: dict[str, float], lambdas: Sequence[str]
) -> str:
    """λ by the paper's rule: the largest with more regulators per gene than were observed."""
    rows: list[list[Any]] = []
    for base in BASES:
        row: list[Any] = [LABELS[base]]
        for name, least in observed.items():
            mine = cells[cells["data"] == name].set_index("method")
            wanted = [f"prsb-{base}-{value}" for value in lambdas if value != "0"]
            if not set(wanted) <= set(mine.index):
                row.append("–")
                continue
            enough = [m for m in wanted if np.mean(mine.loc[m, "regulators"]) > least]
            chosen = enough[-1] if enough else wanted[0]
            precision, value = mine.loc[chosen, "average_precision"], chosen.rpartition("-")[2]
            theirs = paper[f"prsb-{base}-auto", name][0]
            row.append(f"{precision:.3f} at λ = {value} ({theirs:.2f})")
        rows.append(row)
    return table(["", *(f"network {name}" for name in observed)], rows)
