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
    "rf": "RF", "gbdt": "GBDT", "gbdt2": "GBDT, depth 2 too",
    "single": "single", "rsb": "RSB", "eda": "EDA", "prsb": "PRSB",
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


def goals(cells: pd.DataFrame, error: Paper, aupr: Paper) -> tuple[str, pd.Series]:
    """Compare PRSB with the paper's Table S2, two-sided: the same within two standard errors?

    The standard error is that of the difference of two means over ten data sets, ours and the
    paper's. Also returned: the verdicts by problem and value.
    """
    rows, verdicts = [], {}
    for problem in PROBLEMS:
        for method in each("prsb"):
            row = [problem, label(method)]
            for value, paper, sign in (("error", error, 1), ("aupr", aupr, -1)):
                ours = spread(cells, value)
                if (problem, method) not in ours.index:
                    row += ["–"] * 3
                    continue
                mean, sd, count = ours.loc[(problem, method)]
                theirs, their_sd = paper[problem, method]
                se = np.hypot(sd, their_sd or 0) / count**0.5
                z = sign * (mean - theirs) / se
                what = "same" if abs(z) <= 2 else "better" if z < 0 else "**worse**"
                verdicts[problem, method, value] = what
                own = sd / count**0.5
                row += [f"{mean:.3f} ± {own:.3f}", f"{theirs:.2f}", f"{what} ({-z:+.1f})"]
            rows.append(row)
    header = ["", "", "test error ± s.e.", "paper", "(s.e. apart)"]
    header += ["AUPR ± s.e.", "paper", "(s.e. apart)"]
    return table(header, rows, text=2), pd.Series(verdicts, dtype=object)


def counted_goals(verdicts: pd.Series) -> str:
    """Write how many of the paper's numbers are the same here, better and worse."""
    counts = verdicts.value_counts()
    better = verdicts[verdicts == "better"].groupby(level=0).size()
    of_problem = ", ".join(f"{problem} {n}" for problem, n in better.items())
    return (
        f"{counts.get('same', 0)} agree with the paper's within two standard errors of the "
        f"difference, {counts.get('better', 0)} are better ({of_problem}) and "
        f"{counts.get('**worse**', 0)} worse"
    )


def restarts(cells: pd.DataFrame) -> str:
    """AUPR of single restarts, of the one with the lowest objective, and of the mean."""
    found = cells[cells["method"].isin(each("prsb"))].copy()
    columns = {
        "aupr_single": "single restart", "aupr_of_lowest_objective": "lowest objective",
        "aupr": "mean of all", "agreement": "agreement of restarts", "n_models": "models a restart",
        "seconds": "CPU s, all restarts",
    }  # fmt: skip
    found = found.reindex(columns=["data", "method", *columns])
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


def best(cells: pd.DataFrame, wanted: dict[str, float]) -> str:
    """The best of all methods on every network, beside the best of the paper's."""
    rows = []
    for name, goal in wanted.items():
        mine = cells[cells["data"] == name].sort_values("average_precision", ascending=False)
        if len(mine):
            top = mine.iloc[0]
            shown = f"{top['average_precision']:.3f}"
            rows.append([name, label(top["method"]), len(mine), shown, goal])
    header = ["network", "best method", "of", "average precision", "the paper's best"]
    return table(header, rows, text=2)


def by_rule(
    cells: pd.DataFrame, paper: Paper, observed: dict[str, float], lambdas: Sequence[str]
) -> tuple[str, int, int]:
    """λ by the paper's rule: the largest with more regulators per gene than were observed.

    Also returned: how many of the numbers are above the paper's, and how many there are.
    """
    rows: list[list[Any]] = []
    above: list[bool] = []
    for base in BASES:
        row: list[Any] = [LABELS[base]]
        for name, least in observed.items():
            mine = cells[cells["data"] == name].set_index("method")
            wanted = [f"prsb-{base}-{value}" for value in lambdas if value != "0"]
            if not set(wanted) <= set(mine.index):
                row.append("–")
                continue
            enough = [m for m in wanted if mine.loc[m, "regulators_mean"] > least]
            chosen = enough[-1] if enough else wanted[0]
            precision, value = mine.loc[chosen, "average_precision"], chosen.rpartition("-")[2]
            theirs = paper[f"prsb-{base}-auto", name][0]
            row.append(f"{precision:.3f} at λ = {value} ({theirs:.2f})")
            above.append(bool(precision > theirs))
        rows.append(row)
    header = ["", *(f"network {name}" for name in observed)]
    return table(header, rows), sum(above), len(above)
