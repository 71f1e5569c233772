"""The tables of huynhthu2021: ours, and in brackets the paper's."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from _common import table
from _huynhthu_cells import PROBLEMS, REGRESSION
from _huynhthu_methods import BASES
from _huynhthu_paper import Number

LABELS = {
    "rf": "RF", "gbdt": "GBDT", "gbdt2": "GBDT, depth 2 too",
    "single": "single", "rsb": "RSB", "eda": "EDA", "prsb": "PRSB",
    "tree": "tree", "knn": "kNN", "svm": "SVM", "forest": "GENIE3 (forest)",
}  # fmt: skip
Paper = dict[tuple[str, str], Number]
AS_PRINTED = ("Linear",)  # the other problems are our reading of the paper


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
    """Write one cell: our mean ± standard deviation, and in brackets the paper's as printed."""
    theirs = paper.get(key)
    shown = "" if theirs is None else f" ({theirs.text})"
    if key not in ours.index:
        return f"–{shown}"
    mean, sd, count = ours.loc[key]
    spread_shown = f" ± {sd:.{digits}f}" if count > 1 else ""
    return f"{mean:.{digits}f}{spread_shown}{shown}"


def listed(names: Sequence[str]) -> str:
    """Write names one after the other: a, b and c."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def with_error(values: pd.Series, digits: int = 3) -> str:
    """Write a mean and its standard error."""
    if len(values) == 0:
        return "–"
    error = f" ± {values.std() / len(values) ** 0.5:.{digits}f}" if len(values) > 1 else ""
    return f"{values.mean():.{digits}f}{error}"


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


N_THEIRS = 10  # data sets behind every number of the paper


def from_paper(values: pd.Series, theirs: Number, larger: bool) -> float:
    """How many standard errors of the difference of two means ours is better than the paper's."""
    error = of_difference(values, theirs)
    return float((values.mean() - theirs.mean) / error) * (1 if larger else -1)


def of_difference(values: pd.Series, theirs: Number) -> float:
    """Standard error of the difference between the mean of ours and the paper's."""
    return float((values.var() / len(values) + (theirs.sd or 0) ** 2 / N_THEIRS) ** 0.5)


def goals(cells: pd.DataFrame, error: Paper, aupr: Paper) -> tuple[str, str]:
    """Compare PRSB with the paper's Table S2, two-sided: the same within two standard errors?

    Also returned: how many of the numbers of a problem are the same, better and worse.
    """
    rows = []
    counts = {problem: {"same": 0, "better": 0, "worse": 0} for problem in PROBLEMS}
    for problem in PROBLEMS:
        for method in each("prsb"):
            row = [problem, label(method)]
            mine = cells[(cells["data"] == problem) & (cells["method"] == method)]
            for value, paper, larger in (("error", error, False), ("aupr", aupr, True)):
                if value not in mine or len(mine[value].dropna()) < 2:
                    row += ["–"] * 3
                    continue
                theirs = paper[problem, method]
                z = from_paper(mine[value].dropna(), theirs, larger)
                what = "same" if abs(z) <= 2 else "better" if z > 0 else "worse"
                counts[problem][what] += 1
                shown = f"**{what}**" if what == "worse" else what
                row += [
                    with_error(mine[value].dropna()),
                    f"{theirs.mean:.2f}",
                    f"{shown} ({z:+z.1f})",
                ]
            rows.append(row)
    header = ["", "", "test error ± s.e.", "paper", "(s.e. apart)"]
    header += ["AUPR ± s.e.", "paper", "(s.e. apart)"]
    kinds = ["same", "better", "worse"]
    summary = [
        [f"{problem}, {'as printed' if problem in AS_PRINTED else '*our reading*'}",
         *(counts[problem][kind] for kind in kinds)]
        for problem in PROBLEMS
    ]  # fmt: skip
    summary.append(["all", *(sum(n[kind] for n in counts.values()) for kind in kinds)])
    return table(header, rows, text=2), table(["", *kinds], summary)


def near_rf(cells: pd.DataFrame, error: Paper) -> str:
    """Write RF's error, ± its standard error, where the problem is our reading of the paper."""
    words = []
    for problem in REGRESSION:
        mine = cells[(cells["data"] == problem) & (cells["method"] == "rf")]["error"]
        words.append(f"{problem} {with_error(mine, 2)} against {error[problem, 'rf'].text}")
    return "; ".join(words)


def restarts(cells: pd.DataFrame) -> tuple[str, str]:
    """AUPR of the restart with the lowest objective, and of the mean.

    Also returned, in words: from how many data sets, and how often the mean is better.
    """
    found = cells[cells["method"].isin(each("prsb"))].copy()
    columns = {
        "aupr_of_lowest_objective": "lowest objective", "aupr": "mean of all",
        "agreement": "agreement of restarts", "n_models": "models a restart",
        "seconds": "CPU s, all restarts",
    }  # fmt: skip
    found = found.reindex(columns=["data", "method", *columns])
    rows, better, sizes = [], [], set()
    for (data, method), mine in found.groupby(["data", "method"], sort=False):
        values = [with_error(mine[c].dropna(), 2) for c in list(columns)[:3]]
        means = mine[list(columns)].mean()
        costs = [f"{means['n_models']:.0f}", f"{means['seconds']:.0f}"]
        rows.append([data, label(method), *values, *costs])
        better.append(bool(means["aupr"] > means["aupr_of_lowest_objective"]))
        sizes.add(len(mine))
    words = (
        f"means ± standard error over {' to '.join(map(str, sorted(sizes)))} data sets. The mean "
        f"of all ranks better in {sum(better)} of {len(better)} cases"
    )
    return table(["", "", *columns.values()], rows, text=2), words


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
