"""Where the learning of the paper ended: how far α had moved, and what ours gives at that point."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
from _cells import Cell
from _common import table
from _huynhthu_cells import (
    FROM_RESTARTS,
    N_NOISE,
    N_RESTARTS_REAL,
    N_SETS,
    PROBLEMS,
    REAL,
    SIMULATED,
    real,
    simulated,
)
from _huynhthu_counts import means, printed
from _huynhthu_extra import N_IRRELEVANT
from _huynhthu_methods import BASES, N_MODELS, STEPS
from _huynhthu_paper import (
    N_RELEVANT,
    TABLE_S1,
    TABLE_S2_AUPR,
    TABLE_S2_ERROR,
    TABLE_S3_MODELS,
    TABLE_S4,
    TABLE_S5,
    TABLE_S6,
    TABLE_S7,
    Number,
)
from _huynhthu_tables import LABELS, Paper, listed, of_difference
from sklearn.exceptions import ConvergenceWarning

START, NEAR = 0.05, 0.2  # of every α; a sum that differs from its start by less has not moved far
Q = 10  # 1/Q of the models is trained anew in every stage
STAGES_REAL = 300  # the paper gives numbers of models for its simulated problems only
N_SLOW_SETS = 5  # data sets of a problem, or folds, with trees and SVM, which take longer
STAGES = {  # that train as many models as the paper reports in Table S3 for Q = 10
    (problem, base): round((TABLE_S3_MODELS[problem, f"prsb10-{base}"].mean / N_MODELS - 1) * Q) + 1
    for problem in PROBLEMS
    for base in BASES
}
AT_THE_END = "to the end"
ENDS = (*STEPS, AT_THE_END)
COLUMNS = (*(f"step {step}" for step in STEPS), AT_THE_END)
NAMES = {"size": "Σα", "error": "error", "aupr": "AUPR"}
SIMULATED_PAPERS = {"size": TABLE_S1, "error": TABLE_S2_ERROR, "aupr": TABLE_S2_AUPR}
REAL_PAPERS = {"size": TABLE_S5, "error": TABLE_S6, "aupr": TABLE_S7}
DIGITS = {"size": 1, "error": 2, "aupr": 2}

Held = dict[str, list[bool]]  # whether something holds, case by case, by where learning ended

# ---------------------------------------------------------------------- what is run


def cells(quick: bool) -> list[Cell]:
    """List data set, repetition, method: simulated problems, then real data, base by base."""
    if quick:
        return [("Linear", "0", f"step{STEPS[-1]}-knn")]
    return [
        (name, str(i), f"step{step}-{base}")
        for base in ("knn", "tree", "svm")
        for names in (PROBLEMS, FROM_RESTARTS)
        for i in range(N_SETS if base == "knn" else N_SLOW_SETS)
        for step in STEPS
        for name in names
    ]


def ended(cell: Cell, seed: int, folder: Path) -> dict[str, Any]:
    """Run one restart that ends after as many stages as the paper's, or as it may have had."""
    data, _, method = cell
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # to end before is what is asked for
        if data in PROBLEMS:
            effort = replace(SIMULATED, restarts=1, stages=STAGES[data, method.split("-")[1]])
            return simulated(cell, seed, effort)
        return real(cell, seed, replace(REAL, stages=STAGES_REAL), folder)


# ---------------------------------------------------------------------- what it says


def near_the_start(found: pd.DataFrame, paper: Paper, names: Sequence[str]) -> str:
    """Write for how many cases Σα is near where it starts, in the paper and here."""
    sums = means(found, "size")
    keys = [(name, f"prsb-{base}") for name in names for base in BASES]
    theirs, ours = (
        [
            abs(values[key] / (START * n_features(key[0])) - 1) < NEAR
            for key in keys
            if key in values
        ]
        for values in (printed(paper), sums)
    )
    return f"{sum(theirs)} of {len(theirs)} (here {sum(ours)} of {len(ours)})"


def n_features(name: str) -> int:
    """Number of features of a simulated problem or a real data set, irrelevant ones included."""
    if name in PROBLEMS:
        return N_RELEVANT[name] + N_IRRELEVANT
    return TABLE_S4[name][1] + N_NOISE


def every_end(
    found: pd.DataFrame, whole: pd.DataFrame, names: Sequence[str]
) -> Iterator[tuple[str, str, dict[str, pd.DataFrame]]]:
    """Data set, base model and cells by where learning ended, where that was run."""
    for name in names:
        for base in BASES:
            if kinds := by_end(found, whole, name, base):
                yield name, base, kinds


def by_end(found: pd.DataFrame, whole: pd.DataFrame, name: str, base: str) -> dict[str, Any]:
    """Cells of a data set and base model by where learning ended, all of the same repetitions.

    Empty if a step was not run, or once only.
    """
    mine = found[found["data"] == name]
    kinds = {step: mine[mine["method"] == f"step{step}-{base}"] for step in STEPS}
    kinds[AT_THE_END] = whole[(whole["data"] == name) & (whole["method"] == f"prsb-{base}")]
    kinds = {end: cells.set_index("repetition") for end, cells in kinds.items()}
    common = set.intersection(*(set(cells.index) for cells in kinds.values()))
    if len(common) < 2:
        return {}
    return {end: cells.loc[sorted(common)] for end, cells in kinds.items()}


def is_the_papers(values: pd.Series, theirs: Number) -> bool:
    """Whether a mean is the paper's, within two standard errors of the difference, or rounding."""
    gap = abs(float(values.mean()) - theirs.mean)
    return gap <= max(2 * of_difference(values, theirs), theirs.rounding)


def compared(
    found: pd.DataFrame, whole: pd.DataFrame, papers: dict[str, Paper], names: Sequence[str]
) -> dict[str, str]:
    """Set Σα, error and AUPR beside the paper's, by where learning ended, and count the same."""
    rows, nearest = [], 0
    same: dict[str, Held] = {value: {end: [] for end in ENDS} for value in papers}
    for name, base, kinds in every_end(found, whole, names):
        theirs = {value: paper[name, f"prsb-{base}"] for value, paper in papers.items()}
        row, held = [], dict.fromkeys(ENDS, 0)
        for end, cells in kinds.items():
            texts = []
            for value, number in theirs.items():
                near = is_the_papers(cells[value], number)
                same[value][end].append(near)
                held[end] += near
                text = f"{cells[value].mean():.{DIGITS[value]}f}"
                texts.append(f"**{text}**" if near else text)
            row.append(", ".join(texts))
        nearest += max(held[step] for step in STEPS)
        means_there = ", ".join(number.text.split(" ")[0] for number in theirs.values())
        rows.append([name, LABELS[base], len(kinds[AT_THE_END]), means_there, *row])
    if not rows:
        return {
            "table": "(not run)", "counts": "(not run)", "nearest": "not run", "short": "not run"
        }  # fmt: skip
    total: Held = {end: [near for held in same.values() for near in held[end]] for end in ENDS}
    counts = [_counted(NAMES[value], held) for value, held in same.items()]
    header = ["", "", "times", "paper", *COLUMNS]
    return {
        "table": table(header, rows, text=2),
        "counts": table(["", "of", *COLUMNS], [*counts, _counted("all", total)]),
        "nearest": f"{nearest} of {len(total[AT_THE_END])}",
        "short": f"{sum(total[AT_THE_END])} of {len(total[AT_THE_END])} numbers are the paper's to "
        f"the end, {listed([f'{sum(total[step])} with steps of {step}' for step in STEPS])}",
    }


def _counted(name: str, held: Held) -> list[Any]:
    """A row of a table: how many cases there are, and how many hold, by where learning ended."""
    return [name, len(held[STEPS[0]]), *(sum(held[end]) if end in held else "" for end in ENDS)]


def how_often(
    found: pd.DataFrame, whole: pd.DataFrame, names: Sequence[str], value: str, late: str = ""
) -> Held:
    """Whether an early end is better than learning to the end, by step.

    `late` is the column of what is learned to the end; the same as that of early ends by default.
    """
    sign = -1 if value == "error" else 1
    gains = [
        {step: sign * (kinds[step][value].mean() - kinds[AT_THE_END][late or value].mean())
         for step in STEPS}
        for _, _, kinds in every_end(found, whole, names)
    ]  # fmt: skip
    return {step: [bool(gain[step] > 0) for gain in gains] for step in STEPS}


def behind(
    found: pd.DataFrame, whole: pd.DataFrame, names: Sequence[str], other: str
) -> tuple[Held, int]:
    """Whether PRSB's error is above another method's, by where learning ended, repetitions alike.

    Also returned: in how many of these cases it is in the paper's table.
    """
    above: Held = {end: [] for end in ENDS}
    n_there = 0
    errors = whole[whole["method"] == other].set_index(["data", "repetition"])["error"]
    for name, base, kinds in every_end(found, whole, names):
        for end, cells in kinds.items():
            above[end].append(bool(cells["error"].mean() > errors[name][cells.index].mean()))
        n_there += TABLE_S6[name, f"prsb-{base}"].mean > TABLE_S6[name, other].mean
    return above, n_there


def what_it_changes(
    found: pd.DataFrame, real: pd.DataFrame, several: pd.DataFrame, problems: pd.DataFrame
) -> str:
    """Count in how many cases an early end changes what is concluded, on real data and problems."""
    rows = []
    for other in ("rf", "gbdt"):
        above, n_there = behind(found, real, FROM_RESTARTS, other)
        rows.append([*_counted(f"real: error above that of {LABELS[other]}", above), n_there])
    for what, whole in (("one restart", real), (f"the average of {N_RESTARTS_REAL}", several)):
        for value, words in (("aupr", "AUPR above"), ("error", "error below")):
            held = how_often(found, whole, FROM_RESTARTS, value)
            rows.append([*_counted(f"real: {words} that of {what} to the end", held), ""])
    held = how_often(found, problems, list(PROBLEMS), "aupr", "aupr_single")
    rows.append([*_counted("simulated: AUPR above that of one restart to the end", held), ""])
    return table(["cases", "of", *COLUMNS, "paper"], rows)
