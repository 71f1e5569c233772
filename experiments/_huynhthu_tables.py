"""The tables of huynhthu2021: ours, and in brackets the paper's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
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
                theirs, their_sd, _ = paper[problem, method]
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
