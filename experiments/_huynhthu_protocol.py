"""What the paper's protocol, or a stricter one, changes: restarts, tuning, equal rows together."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from _common import table
from _huynhthu_cells import (
    LOWEST_OF_20,
    N_FOLDS,
    PROBLEMS,
    TESTED,
    WITH_APPENDIX_B,
    WITH_EQUAL_ROWS,
)
from _huynhthu_methods import BASES
from _huynhthu_tables import LABELS, label

KEY = ["data", "repetition", "method"]


def spread(values: pd.Series, digits: int = 3) -> str:
    """Write a mean and its standard error."""
    if len(values) == 0:
        return "–"
    error = f" ± {values.std() / len(values) ** 0.5:.{digits}f}" if len(values) > 1 else ""
    return f"{values.mean():.{digits}f}{error}"


def lowest_of_20(cells: pd.DataFrame) -> str:
    """Compare the paper's rule for restarts with ours on the data sets that have both; kNN."""
    rows = []
    for problem in PROBLEMS:
        mine = cells[cells["data"] == problem].set_index(["repetition", "method"])
        sets = [i for i, m in mine.index if m == LOWEST_OF_20 and (i, "prsb-knn") in mine.index]
        if not sets:
            rows.append([problem, 0, *["–"] * 6])
            continue
        theirs = mine.loc[[(i, LOWEST_OF_20) for i in sets]]
        ours = mine.loc[[(i, "prsb-knn") for i in sets]]
        rows.append(
            [problem, len(sets), spread(ours["error"]), spread(theirs["error"]),
             spread(ours["aupr"]), spread(theirs["aupr_single"]), spread(theirs["aupr"]),
             spread(theirs["aupr_of_mean"])]
        )  # fmt: skip
    header = ["", "data sets", "error: mean of 3", "lowest of 20", "AUPR: mean of 3"]
    return table([*header, "single of 20", "lowest of 20", "mean of 20"], rows)


def appendix_b(cells: pd.DataFrame) -> str:
    """Compare the small grids with the paper's, on the data sets that have both."""
    rows = []
    for method in WITH_APPENDIX_B:
        for problem in PROBLEMS:
            mine = cells[cells["data"] == problem].set_index(["repetition", "method"])
            sets = [i for i, m in mine.index if m == f"b-{method}" and (i, method) in mine.index]
            if not sets:
                continue
            small = mine.loc[[(i, method) for i in sets]]
            large = mine.loc[[(i, f"b-{method}") for i in sets]]
            rows.append(
                [label(method), problem, len(sets), spread(small["error"]), spread(large["error"]),
                 f"{large['seconds'].mean():.0f}"]
            )  # fmt: skip
    if not rows:
        return "(not run)"
    header = ["", "", "data sets", "error, small grid", "ten values, ten folds", "CPU s a data set"]
    return table(header, rows, text=2)


def equal_rows_together(real: pd.DataFrame, together: pd.DataFrame) -> str:
    """Errors with folds at random, and with equal rows in the same fold."""
    rows = []
    for name in WITH_EQUAL_ROWS:
        for method in (*TESTED, *(f"single-{base}" for base in BASES)):
            apart, kept = (
                found[(found["data"] == name) & (found["method"] == method)]["error"]
                for found in (real, together)
            )
            if len(kept) == N_FOLDS:
                rows.append([name, label(method), spread(apart), spread(kept)])
    if not rows:
        return "(not run)"
    return table(["", "", "folds at random", "equal rows together"], rows, text=2)


def together_in_words(real: pd.DataFrame, together: pd.DataFrame) -> str:
    """Write what keeping equal rows together does to the errors of RF and PRSB-tree."""
    words = []
    for name in WITH_EQUAL_ROWS:
        mine = {}
        for method in ("rf", "prsb-tree"):
            apart, kept = (
                found[(found["data"] == name) & (found["method"] == method)]["error"]
                for found in (real, together)
            )
            if len(kept) == N_FOLDS:
                mine[label(method)] = f"{apart.mean():.3f} becomes {kept.mean():.3f}"
        if mine:
            shown = ", ".join(f"{method}'s error of {text}" for method, text in mine.items())
            words.append(f"on {name} {shown}")
    return "; ".join(words) or "not run"


def from_restarts(real: pd.DataFrame, several: pd.DataFrame, names: Sequence[str]) -> str:
    """AUPR on real data: one restart, the lowest objective, and the mean, on the same folds."""
    rows = []
    for base in BASES:
        for name in names:
            method = f"prsb-{base}"
            mine = several[(several["data"] == name) & (several["method"] == method)]
            if mine.empty:
                continue
            once = real[(real["data"] == name) & (real["method"] == method)]
            once = once[once["repetition"].isin(mine["repetition"])]
            columns = ("aupr_single", "aupr_of_lowest_objective", "aupr")
            rows.append(
                [LABELS[base], name, len(mine), *(spread(mine[c]) for c in columns),
                 spread(once["error"]), spread(mine["error"])]
            )  # fmt: skip
    if not rows:
        return "(not run)"
    header = ["", "", "folds", "AUPR: single restart", "lowest objective of 3", "mean of 3"]
    return table([*header, "error: one restart", "mean of 3"], rows, text=2)
