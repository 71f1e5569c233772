"""The large data sets of huynhthu2021 with all rows, as in the paper: what the budget allows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
from _cells import Cell
from _common import table
from _huynhthu_cells import N_FOLDS, REAL, RealData
from _huynhthu_counts import better, means, printed, share
from _huynhthu_figures import critical_difference
from _huynhthu_methods import measure
from _huynhthu_ranks import (
    FIVE,
    by_set,
    named,
    of_ranks,
    published,
    rank_table,
    with_copies_together,
)
from _huynhthu_tables import Paper, beside, label, listed, spread
from _huynhthu_tuned import tuned

SETS = ("phoneme", "clean2", "spambase", "wind", "satellite_image", "cpu_act")  # cheapest first
TUNED = ("rf", "gbdt")
METHODS = (*TUNED, "prsb-tree", "prsb-knn")
FOLDS = (0, 1, 2, 3, 4, 5, 7, 9)  # of ten, as far as they were run
EFFORT = replace(REAL, search_models=100, depths=(1, 3, 5))


def cells(quick: bool) -> list[Cell]:
    """List data set, fold, method."""
    if quick:
        return []
    return [(name, str(fold), m) for fold in FOLDS for m in METHODS for name in SETS]


def of_fold(cell: Cell, seed: int, folder: Path) -> dict[str, Any]:
    """Run one method on one fold of all rows."""
    name, fold, method = cell
    task = RealData.load(name, seed, folder, every_row=True).task(int(fold))
    return (tuned if method in TUNED else measure)(method, task, EFFORT)


def folds(every: pd.DataFrame) -> str:
    """Write how many folds were run: the fewest and the most of a method and data set."""
    if every.empty:
        return "0"
    counts = every.groupby(["data", "method"]).size()
    return " to ".join(map(str, sorted({counts.min(), counts.max()})))


def alike(every: pd.DataFrame) -> pd.DataFrame:
    """The folds that all methods have: methods are compared on the same rows."""
    if every.empty:
        return every
    return every.groupby(["data", "repetition"]).filter(lambda fold: len(fold) == len(METHODS))


def compared(every: pd.DataFrame, fewer: pd.DataFrame, papers: tuple[Paper, Paper]) -> str:
    """Errors and AUPR with all rows, beside those with fewer and the paper's."""
    names = ("error", "aupr")
    large, small = ({name: spread(found, name) for name in names} for found in (every, fewer))
    rows = []
    for data in SETS:
        for method in METHODS:
            key = (data, method)
            if key not in large["error"].index:
                continue
            shown = [
                text
                for name, paper in zip(names, papers, strict=True)
                for text in (beside(small[name], {}, key, 3), beside(large[name], paper, key, 3))
            ]
            rows.append([data, label(method), int(large["error"].loc[key, "count"]), *shown])
    if not rows:
        return "(not run)"
    header = ["", "", "folds", "error, 1,000 rows", "all rows", "AUPR, 1,000 rows", "all rows"]
    return table(header, rows, text=2)


def in_words(every: pd.DataFrame, paper: Paper) -> str:
    """Write how errors with all rows stand to the paper's, and PRSB's to those of RF and GBDT."""
    ours = spread(every, "error")
    if ours.empty:
        return "not run"
    words, same, total = [], 0, 0
    for method in METHODS:
        keys = [key for name in SETS if (key := (name, method)) in ours.index]
        near = [_near(ours.loc[key], paper, key) for key in keys]
        counts = [f"{near.count(how)} {how}" for how in ("the same", "lower", "higher")]
        words.append(f"{label(method)} {', '.join(counts)}")
        same, total = same + near.count("the same"), total + len(near)
    against = []
    for method in METHODS[2:]:
        for other in TUNED:
            here, there = (
                better(values, SETS, method, other, bases=[""])
                for values in (means(alike(every), "error"), printed(paper))
            )
            against.append(
                f"{label(method)} is below {label(other)} on {share(here)} sets "
                f"(paper: {share(there)})"
            )
    return f"{same} of {total} errors are as in the paper ({'; '.join(words)}); {listed(against)}"


def average_ranks(
    every: pd.DataFrame, smaller: pd.DataFrame, together: pd.DataFrame, paper: Paper
) -> tuple[str, list[str], pd.DataFrame]:
    """Average ranks by error over all data sets with all rows, as a table and, by row, in words.

    Also returned: these errors, data sets × methods, with folds at random.

    `smaller` has the cells of the other sets, `together` those whose folds keep copies together.
    """
    methods = list(METHODS)
    smaller, together = (cells[~cells["data"].isin(SETS)] for cells in (smaller, together))
    copies, names = with_copies_together(smaller, together, methods)
    here = {"folds at random": smaller, named(names): copies}
    scores = {
        what: by_set(pd.concat([alike(every), cells]), "error", methods)
        for what, cells in here.items()
    }
    theirs = published(paper, methods).loc[scores["folds at random"].index]
    five = critical_difference(len(FIVE), len(theirs))
    words = [
        f"{what}: {of_ranks(errors)} (with the five methods of Figure 1 the critical difference "
        f"would be {five:.3f})"
        for what, errors in scores.items()
    ]
    shown = rank_table(scores | {"paper (Table S6)": theirs})
    return shown, words, scores["folds at random"]


def _near(ours: pd.Series, paper: Paper, key: tuple[str, str]) -> str:
    """Whether a mean over folds is the paper's, within two standard errors of the difference.

    The standard deviation over folds is the paper's, from ten folds, where it prints one: that of
    the few folds here would be rough.
    """
    theirs = paper[key]
    sd = theirs.sd if theirs.sd is not None else float(ours["std"])
    error = sd * (1 / ours["count"] + 1 / N_FOLDS) ** 0.5
    gap = float(ours["mean"]) - theirs.mean
    if abs(gap) <= max(2 * error, theirs.rounding):
        return "the same"
    return "lower" if gap < 0 else "higher"
