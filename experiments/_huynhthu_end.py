"""Where the learning of the paper ended: how far α had moved, and what ours gives at that point."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
from _cells import Cell
from _common import table
from _huynhthu_cells import (
    FROM_RESTARTS,
    N_NOISE,
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
)
from _huynhthu_tables import LABELS, Paper, from_paper
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
SIMULATED_PAPERS = {"size": TABLE_S1, "error": TABLE_S2_ERROR, "aupr": TABLE_S2_AUPR}
REAL_PAPERS = {"size": TABLE_S5, "error": TABLE_S6, "aupr": TABLE_S7}
DIGITS = {"size": 1, "error": 2, "aupr": 2}


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


def by_end(found: pd.DataFrame, whole: pd.DataFrame, name: str, base: str) -> dict[str, Any]:
    """Cells of a data set and base model by where learning ended, all of the same repetitions.

    Empty if a step was not run, or once only.
    """
    mine = found[found["data"] == name]
    kinds = {step: mine[mine["method"] == f"step{step}-{base}"] for step in STEPS}
    kinds[AT_THE_END] = whole[(whole["data"] == name) & (whole["method"] == f"prsb-{base}")]
    kinds = {kind: cells.set_index("repetition") for kind, cells in kinds.items()}
    common = set.intersection(*(set(cells.index) for cells in kinds.values()))
    if len(common) < 2:
        return {}
    return {kind: cells.loc[sorted(common)] for kind, cells in kinds.items()}


def compared(
    found: pd.DataFrame, whole: pd.DataFrame, papers: dict[str, Paper], names: Sequence[str]
) -> tuple[str, str]:
    """Set Σα, error and AUPR beside the paper's, by where learning ended.

    Also returned, in words: how many of them are the paper's.
    """
    rows = []
    same: dict[str, list[bool]] = {kind: [] for kind in (*STEPS, AT_THE_END)}
    nearest: list[int] = []
    for name in names:
        for base in BASES:
            kinds, key = by_end(found, whole, name, base), (name, f"prsb-{base}")
            if not kinds:
                continue
            row, held = [], {}
            for kind, cells in kinds.items():
                near = {
                    value: abs(from_paper(cells[value], paper[key], larger=True)) <= 2
                    for value, paper in papers.items()
                }
                texts = {value: f"{cells[value].mean():.{n}f}" for value, n in DIGITS.items()}
                row.append(", ".join(f"**{t}**" if near[v] else t for v, t in texts.items()))
                same[kind] += near.values()
                held[kind] = sum(near.values())
            theirs = ", ".join(paper[key].text.split(" ")[0] for paper in papers.values())
            rows.append([name, LABELS[base], len(cells), theirs, *row])
            nearest.append(max(held[step] for step in STEPS))
    if not rows:
        return "(not run)", "not run"
    header = ["", "", "times", "paper", *(f"step {step}" for step in STEPS), AT_THE_END]
    counts = [
        f"{sum(near)} of {len(near)} {'' if kind == AT_THE_END else 'with steps of '}{kind}"
        for kind, near in same.items()
    ]
    words = (
        f"{', '.join(counts)}; with the step that comes nearest in each row, picked with the "
        f"paper's numbers in hand, {sum(nearest)}"
    )
    return table(header, rows, text=2), words


def early_against_late(found: pd.DataFrame, whole: pd.DataFrame, names: Sequence[str]) -> str:
    """Write how often a restart that ended early ranks better, and how often it predicts better."""
    pairs = [
        kinds for name in names for base in BASES if (kinds := by_end(found, whole, name, base))
    ]
    if not pairs:
        return "not run"
    words = []
    for step in STEPS:
        ranks, predicts = (
            sum(
                bool(sign * (kinds[step][v].mean() - kinds[AT_THE_END][v].mean()) > 0)
                for kinds in pairs
            )
            for v, sign in (("aupr", 1), ("error", -1))
        )
        words.append(
            f"steps of {step}: AUPR higher in {ranks}, error lower in {predicts} of {len(pairs)}"
        )
    return "; ".join(words)
