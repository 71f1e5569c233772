"""Where the learning of the paper ended: how far α had moved, and what ours gives at that point."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
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
from _huynhthu_counts import below, means, printed, share
from _huynhthu_extra import N_IRRELEVANT
from _huynhthu_figures import average_ranks
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
from _huynhthu_ranks import FIVE, FOREST_AND_BOOSTING, behind, by_set, published
from _huynhthu_tables import LABELS, Paper, label, listed, of_difference
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
EARLY = tuple(f"step{step}" for step in STEPS)
LATE = "end"  # one restart of a simulated problem; those on real data are the cells of section 5
AT_THE_END = "to the end"
ENDS = (*STEPS, AT_THE_END)
COLUMNS = (*(f"step {step}" for step in STEPS), AT_THE_END)
NAMES = {"size": "Σα", "error": "error", "aupr": "AUPR"}
SIMULATED_PAPERS = {"size": TABLE_S1, "error": TABLE_S2_ERROR, "aupr": TABLE_S2_AUPR}
REAL_PAPERS = {"size": TABLE_S5, "error": TABLE_S6, "aupr": TABLE_S7}
DIGITS = {"size": 1, "error": 2, "aupr": 2}

Held = dict[str, list[bool]]  # whether something holds, case by case, by where learning ended
Kinds = dict[str, pd.DataFrame]  # cells of a data set and base model, by where learning ended

# ---------------------------------------------------------------------- what is run


def cells(quick: bool) -> list[Cell]:
    """List data set, repetition, method: simulated problems, then real data, base by base."""
    if quick:
        return [("Linear", "0", f"step{STEPS[-1]}-knn")]
    repetitions = {"knn": N_SETS, "tree": N_SLOW_SETS, "svm": N_SLOW_SETS}
    return [
        (name, str(i), f"{method}-{base}")
        for base, n in repetitions.items()
        for names, methods in ((PROBLEMS, (*EARLY, LATE)), (FROM_RESTARTS, EARLY))
        for i in range(n)
        for method in methods
        for name in names
    ]


def ended(cell: Cell, seed: int, folder: Path) -> dict[str, Any]:
    """Run one restart: to the end, or for as many stages as the paper had, or may have had."""
    data, _, method = cell
    kind, base = method.split("-")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # to end before is what is asked for
        if data in PROBLEMS:
            effort = replace(SIMULATED, restarts=1)
            if kind in EARLY:
                effort = replace(effort, stages=STAGES[data, base])
            return simulated(cell, seed, effort)
        return real(cell, seed, replace(REAL, stages=STAGES_REAL), folder)


# ---------------------------------------------------------------------- what it says


def near_the_start(found: pd.DataFrame, paper: Paper, names: Sequence[str]) -> str:
    """Write for how many cases Σα is near where it starts, in the paper and here."""
    theirs, ours = (
        [is_near(values[key], key[0]) for name in names for base in BASES
         if (key := (name, f"prsb-{base}")) in values]
        for values in (printed(paper), means(found, "size"))
    )  # fmt: skip
    return f"{sum(theirs)} of {len(theirs)} (here {sum(ours)} of {len(ours)})"


def is_near(size: float, name: str) -> bool:
    """Whether Σα of a data set is near where every restart starts."""
    return bool(abs(size / (START * n_features(name)) - 1) < NEAR)


def n_features(name: str) -> int:
    """Number of features of a simulated problem or a real data set, irrelevant ones included."""
    if name in PROBLEMS:
        return N_RELEVANT[name] + N_IRRELEVANT
    return TABLE_S4[name][1] + N_NOISE


def of_one_restart(found: pd.DataFrame) -> pd.DataFrame:
    """Cells of single restarts of simulated problems that went to the end."""
    return as_prsb(found, LATE)


def as_prsb(cells: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Cells of a kind, named as those of the main tables are."""
    mine = cells[cells["method"].str.startswith(f"{kind}-")]
    return mine.assign(method=mine["method"].str.replace(kind, "prsb", n=1, regex=False))


def every_end(
    found: pd.DataFrame, whole: pd.DataFrame, names: Sequence[str]
) -> Iterator[tuple[str, str, Kinds]]:
    """Data set, base model and cells by where learning ended, where that was run."""
    for name in names:
        for base in BASES:
            if kinds := by_end(found, whole, name, base):
                yield name, base, kinds


def by_end(found: pd.DataFrame, whole: pd.DataFrame, name: str, base: str) -> Kinds:
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


def mean(cells: pd.DataFrame, value: str) -> float:
    """Mean of a value that every cell must have: nothing is above or below what is not there."""
    if value not in cells or cells[value].isna().any():
        raise ValueError(f"{value!r} is missing in some of {len(cells)} cells: nothing to compare.")
    return float(cells[value].mean())


def is_the_papers(values: pd.Series, theirs: Number) -> bool:
    """Whether a mean is the paper's, within two standard errors of the difference, or rounding."""
    gap = abs(float(values.mean()) - theirs.mean)
    return gap <= max(2 * of_difference(values, theirs), theirs.rounding)


def compared(
    found: pd.DataFrame, whole: pd.DataFrame, papers: dict[str, Paper], names: Sequence[str]
) -> dict[str, str]:
    """Set Σα, error and AUPR beside the paper's by where learning ended; say how near they are."""
    rows, nearest = [], 0
    same: dict[str, Held] = {value: {end: [] for end in ENDS} for value in papers}
    factors: dict[str, dict[str, list[float]]] = {v: {end: [] for end in ENDS} for v in papers}
    for name, base, kinds in every_end(found, whole, names):
        theirs = {value: paper[name, f"prsb-{base}"] for value, paper in papers.items()}
        row, held = [], dict.fromkeys(ENDS, 0)
        for end, cells in kinds.items():
            texts = []
            for value, number in theirs.items():
                near = is_the_papers(cells[value], number)
                same[value][end].append(near)
                factors[value][end].append(abs(np.log(mean(cells, value) / number.mean)))
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
    n = len(total[AT_THE_END])
    counts = [
        [NAMES[value], len(rows), *(
            f"{sum(held[end])} (× {np.exp(np.median(factors[value][end])):.2f})" for end in ENDS
        )]
        for value, held in same.items()
    ]  # fmt: skip
    counts.append(["all", n, *(sum(total[end]) for end in ENDS)])
    header = ["", "", "times", "paper", *COLUMNS]
    return {
        "table": table(header, rows, text=2),
        "counts": table(["", "of", *COLUMNS], counts),
        "nearest": f"{nearest} of {n}",
        "short": f"{sum(total[AT_THE_END])} of {n} to the end, and "
        f"{listed([str(sum(total[step])) for step in STEPS])} with restarts that end early, by the "
        f"length of their steps ({listed(STEPS)})",
    }


# ---------------------------------------------------------------------- what it changes

Holds = Callable[[str, str, pd.DataFrame], "bool | None"]  # None: not known


def count(
    found: pd.DataFrame, late: pd.DataFrame, names: Sequence[str], holds: Holds
) -> dict[str, list[bool | None]]:
    """Whether something holds, case by case, by where learning ended.

    `holds` gets the data set, the base model and the cells.
    """
    held: dict[str, list[bool | None]] = {end: [] for end in ENDS}
    for name, base, kinds in every_end(found, late, names):
        for end, cells in kinds.items():
            held[end].append(holds(name, base, cells))
    return held


def better_than(other: pd.DataFrame, method: str, value: str) -> Holds:
    """Whether PRSB is strictly better than a method ("prsb": of its base), repetitions alike."""

    def holds(name: str, base: str, cells: pd.DataFrame) -> bool | None:
        which = f"prsb-{base}" if method == "prsb" else method
        theirs = other[(other["data"] == name) & (other["method"] == which)]
        theirs = theirs.set_index("repetition")
        if not set(cells.index) <= set(theirs.index):
            return None
        ours, others = mean(cells, value), mean(theirs.loc[cells.index], value)
        return below(ours, others) if value == "error" else below(others, ours)

    return holds


def what_it_changes(
    found: pd.DataFrame, late: pd.DataFrame, main: pd.DataFrame, several: pd.DataFrame,
    restarts: int, papers: dict[str, Paper], names: Sequence[str],
) -> str:  # fmt: skip
    """Count in how many cases α is near its start, and PRSB better, by where learning ended.

    `late` has one restart to the end, `several` that many `restarts`, `main` RF and GBDT.
    """
    keys = [(name, f"prsb-{base}") for name, base, _ in every_end(found, late, names)]
    if not keys:
        return "(not run)"

    def row(words: str, holds: Holds, there: Any = "", ends: Sequence[str] = ENDS) -> list[Any]:
        held = count(found, late, names, holds)
        sums = {end: "–" if None in held[end] else sum(map(bool, held[end])) for end in ends}
        return [words, *(sums.get(end, "") for end in ENDS), there]

    there = sum(is_near(papers["size"][key].mean, key[0]) for key in keys)
    near = f"Σα within {NEAR:.0%} of where it starts"
    rows = [row(near, lambda name, _, cells: is_near(mean(cells, "size"), name), there)]
    for value, words in (("aupr", "AUPR above"), ("error", "error below")):
        paper, sign = papers[value], -1 if value == "error" else 1
        for other in FOREST_AND_BOOSTING:
            there = sum(sign * (paper[key].mean - paper[key[0], other].mean) > 0 for key in keys)
            rows.append(row(f"{words} {label(other)}'s", better_than(main, other, value), there))
        one, more = (better_than(cells, "prsb", value) for cells in (late, several))
        rows.append(row(f"{words} that of one restart to the end", one, "", STEPS))
        rows.append(row(f"{words} that of {restarts} restarts to the end", more))
    return table([f"of {len(keys)} cases", *COLUMNS, "paper"], rows)


def ranks(found: pd.DataFrame, whole: pd.DataFrame, names: Sequence[str]) -> str:
    """Average ranks by error of the methods of Figure 1, by where learning ended.

    On the repetitions that every base model has.
    """
    ends = list(every_end(found, whole, names))
    common = [set(cells.index) for _, _, kinds in ends for cells in kinds.values()]
    if not common:
        return "(not run)"
    shared = set.intersection(*common)
    early = found[found["repetition"].isin(shared) & found["data"].isin(names)]
    late = whole[whole["repetition"].isin(shared) & whole["data"].isin(names)]
    forests = late[late["method"].isin(FOREST_AND_BOOSTING)]
    scores = {
        f"step {step}": pd.concat([forests, as_prsb(early, f"step{step}")]) for step in STEPS
    } | {AT_THE_END: late}
    errors = {what: by_set(cells, "error", FIVE) for what, cells in scores.items()}
    errors["paper"] = published(TABLE_S6, FIVE).loc[errors[AT_THE_END].index]
    rows = []
    for what, table_of in errors.items():
        average = average_ranks(table_of, larger_is_better=False)[0]
        rows.append([what, *(f"{average[m]:.2f}" for m in FIVE), share(behind(average))])
    return table(["", *map(label, FIVE), "pairs in which PRSB is behind"], rows)


def stages_in_words(found: pd.DataFrame, whole: pd.DataFrame, names: Sequence[str]) -> str:
    """Write how many restarts did not end where they were to end."""
    early = found[found["data"].isin(names) & found["method"].str.startswith(EARLY)]
    late = whole[whole["data"].isin(names) & whole["method"].str.startswith("prsb-")]
    of_early, of_late = ((cells["n_models"] / N_MODELS - 1) * Q + 1 for cells in (early, late))
    return (
        f"{(of_early < STAGES_REAL).sum()} of {len(early)} had converged before; of the "
        f"{len(late)} that went to the end {(of_late < STAGES_REAL).sum()} did so too, and "
        f"{(of_late >= REAL.stages).sum()} were stopped at {REAL.stages:,} stages"
    )
