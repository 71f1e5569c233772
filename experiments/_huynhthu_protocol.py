"""What the paper's protocol, or a stricter one, changes: restarts, tuning, equal rows together."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from _common import table
from _huynhthu_cells import (
    LOWEST_OF_20,
    N_FOLDS,
    N_SETS,
    PROBLEMS,
    TESTED,
    WITH_APPENDIX_B,
    WITH_EQUAL_ROWS,
)
from _huynhthu_methods import BASES
from _huynhthu_paper import TABLE_S2_ERROR
from _huynhthu_tables import LABELS, Paper, label

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
            continue
        theirs = mine.loc[[(i, LOWEST_OF_20) for i in sets]]
        ours = mine.loc[[(i, "prsb-knn") for i in sets]]
        rows.append(
            [problem, len(sets), spread(ours["error"]), spread(theirs["error"]),
             spread(ours["aupr"]), spread(theirs["aupr_single"]), spread(theirs["aupr"]),
             spread(theirs["aupr_of_mean"])]
        )  # fmt: skip
    if not rows:
        return "(not run)"
    header = ["", "data sets", "error: mean of 3", "lowest of 20", "AUPR: mean of 3"]
    return table([*header, "single of 20", "lowest of 20", "mean of 20"], rows)


def with_appendix_b(cells: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Put what was tuned by appendix B in the place of the small grids, where all of it was run.

    Also returned: the methods for which that is so.
    """
    counts = cells["method"].value_counts()
    done = [m for m in WITH_APPENDIX_B if counts.get(f"b-{m}", 0) == N_SETS * len(PROBLEMS)]
    main = cells[~cells["method"].isin([*done, *(["gbdt2"] if "gbdt" in done else [])])].copy()
    main["method"] = main["method"].replace({f"b-{m}": m for m in done})
    return main, done


def listed(names: Sequence[str]) -> str:
    """Write names one after the other: a, b and c."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def baselines(done: Sequence[str], depths: Sequence[int]) -> str:
    """Write how RF, GBDT and RSB are tuned."""
    grids = {
        method: "K among 1, √M, M/50, M/10, M/3 and M"
        if method != "gbdt"
        else f"its depth among {', '.join(map(str, depths))}"
        for method in ("rf", "gbdt", *(f"rsb-{base}" for base in BASES))
        if method not in done
    }
    words = []
    if done:
        words.append(
            f"{listed([label(m) for m in done])} {'are' if len(done) > 1 else 'is'} tuned as in "
            "appendix B of the paper: ten "
            "values of K or depths from 1 to 10, by 10 folds, with 100 models; by compiled "
            "versions of scikit-learn's methods, which tests hold to the originals."
        )
    for grid in dict.fromkeys(grids.values()):
        names = listed([label(m) for m, g in grids.items() if g == grid])
        words.append(f"{names}: {grid}, by 3 folds (paper: ten values each, by 10 folds).")
    return " ".join(words)


def on_friedman(cells: pd.DataFrame) -> str:
    """Write what GBDT's error on Friedman is by the depths that it may choose from."""
    kinds = {"gbdt": "1, 3, 5", "gbdt2": "1, 2, 3, 5", "b-gbdt": "1 to 10 by ten folds"}
    mine = cells[cells["data"] == "Friedman"].groupby("method")["error"].agg(["mean", "count"])
    shown = [
        f"{mine.loc[method, 'mean']:.2f} with {depths}"
        for method, depths in kinds.items()
        if method in mine.index
    ]
    ours = [f"{label(m)} {mine.loc[m, 'mean']:.2f}" for m in TESTED[2:] if m in mine.index]
    paper = TABLE_S2_ERROR["Friedman", "gbdt"][0]
    return f"{', '.join(shown)} (paper: {paper}), beside {', '.join(ours)}"


def appendix_b(
    small: pd.DataFrame, large: pd.DataFrame, names: Sequence[str], papers: Sequence[Paper], n: int
) -> str:
    """Compare the small grids with the paper's, where the latter was run n times."""
    rows = []
    for method in WITH_APPENDIX_B:
        for name in names:
            mine = large[(large["data"] == name) & (large["method"] == f"b-{method}")]
            both = small[(small["data"] == name) & (small["method"] == method)]
            both = both[both["repetition"].isin(mine["repetition"])]
            if len(both) < n:
                continue
            theirs = next((p[name, method] for p in papers if (name, method) in p), None)
            chosen = sorted(mine["size"].astype(int))
            rows.append(
                [label(method), name, len(mine), spread(both["error"]), spread(mine["error"]),
                 f"{theirs[0]:.2f}" if theirs else "–", f"{chosen[0]} to {chosen[-1]}",
                 f"{mine['seconds'].mean():.0f}"]
            )  # fmt: skip
    if not rows:
        return "(not run)"
    header = ["", "", "times", "error, small grid", "ten values, ten folds", "paper"]
    return table([*header, "K or depth chosen", "CPU s each"], rows, text=2)


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
