"""What the paper's protocol, or a stricter one, changes: restarts, tuning, equal rows together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
from _cells import Cell
from _common import table
from _huynhthu_cells import (
    FEW_VALUES,
    LOWEST_OF_20,
    N_FOLDS,
    N_SETS,
    PROBLEMS,
    TESTED,
    WITH_APPENDIX_B,
    WITH_COPIES,
    WITH_EQUAL_ROWS,
)
from _huynhthu_methods import BASES, N_MODELS, Effort
from _huynhthu_network_tables import shown
from _huynhthu_paper import TABLE_S2_AUPR, TABLE_S2_ERROR, Number
from _huynhthu_tables import LABELS, Paper, each, from_paper, label, listed
from _huynhthu_tables import with_error as spread

KEY = ["data", "repetition", "method"]


def lowest_of_20(cells: pd.DataFrame) -> tuple[str, str]:
    """Compare the paper's rule for restarts with ours on the data sets that have both; kNN.

    Also returned, in words: on how many problems the AUPR of the two rules clearly differs.
    """
    rows, differences = [], []
    for problem in PROBLEMS:
        mine = cells[cells["data"] == problem].set_index(["repetition", "method"])
        sets = [i for i, m in mine.index if m == LOWEST_OF_20 and (i, "prsb-knn") in mine.index]
        if len(sets) < 2:
            continue
        theirs = mine.loc[[(i, LOWEST_OF_20) for i in sets]].droplevel("method")
        ours = mine.loc[[(i, "prsb-knn") for i in sets]].droplevel("method")
        key = problem, "prsb-knn"
        rows.append(
            [problem, len(sets), spread(ours["error"]),
             _beside_paper(theirs["error"], TABLE_S2_ERROR[key], larger=False),
             spread(ours["aupr"]), spread(theirs["aupr_single"]),
             _beside_paper(theirs["aupr"], TABLE_S2_AUPR[key], larger=True),
             spread(theirs["aupr_of_mean"])]
        )  # fmt: skip
        gap = ours["aupr"] - theirs["aupr"]
        clear = abs(gap.mean()) > 2 * gap.sem()
        differences.append((problem, gap) if clear else (problem, None))
    if not rows:
        return "(not run)", "not run"
    clear = [f"{name} {spread(gap)}" for name, gap in differences if gap is not None]
    words = f"{len(clear)} of {len(differences)} problems" + (
        f" ({'; '.join(clear)})" if clear else ""
    )
    header = ["", "data sets", "error: mean of 3", "lowest of 20 (from the paper)"]
    header += ["AUPR: mean of 3", "single of 20", "lowest of 20 (from the paper)", "mean of 20"]
    return table(header, rows), words


def _beside_paper(values: pd.Series, theirs: Number, larger: bool) -> str:
    """Write a mean, and by how many standard errors it is better than the paper's."""
    return f"{spread(values)} ({from_paper(values, theirs, larger):+z.1f} s.e.)"


def with_appendix_b(cells: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Put what was tuned by appendix B in the place of the small grids, where all of it was run.

    Also returned: the methods for which that is so.
    """
    counts = cells["method"].value_counts()
    done = [m for m in WITH_APPENDIX_B if counts.get(f"b-{m}", 0) == N_SETS * len(PROBLEMS)]
    main = cells[~cells["method"].isin([*done, *(["gbdt2"] if "gbdt" in done else [])])].copy()
    main["method"] = main["method"].replace({f"b-{m}": m for m in done})
    return main, done


def candidates(effort: Effort) -> tuple[str, str]:
    """Write the K of RF and RSB, and the depths of GBDT, that a small search tries."""
    shares = [f"M/{share}" if share > 1 else "M" for share in effort.shares]
    depths = [str(depth) for depth in effort.depths]
    return f"K among {listed(['1', '√M', *shares])}", f"depth among {listed(depths)}"


def small_grids(effort: Effort) -> str:
    """Write a small search: its candidates, folds and models."""
    sizes, depths = candidates(effort)
    models = "" if effort.search_models == N_MODELS else f" with {effort.search_models} models"
    return f"{sizes}{models}, GBDT {depths}, by {effort.folds} folds"


def baselines(done: Sequence[str], effort: Effort) -> str:
    """Write how RF, GBDT and RSB are tuned."""
    sizes, depths = candidates(effort)
    grids = {
        method: sizes if method != "gbdt" else f"its {depths}"
        for method in ("rf", "gbdt", *(f"rsb-{base}" for base in BASES))
        if method not in done
    }
    words = []
    if done:
        words.append(
            f"{listed([label(m) for m in done])} {'are' if len(done) > 1 else 'is'} tuned as in "
            "appendix B of the paper: ten "
            "values of K or depths from 1 to 10, by 10 folds, with 100 models."
        )
        words.append(
            "(Compiled versions of scikit-learn's methods, which tests hold to the originals.)"
        )
    for grid in dict.fromkeys(grids.values()):
        names = listed([label(m) for m, g in grids.items() if g == grid])
        words.append(f"{names}: {grid}, by {effort.folds} folds (paper: ten values each, by 10).")
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


def tuned_sets(tuned: pd.DataFrame) -> dict[str, list[str]]:
    """On which data sets all folds were run by appendix B, by method."""
    counts = tuned.groupby(["method", "data"]).size()
    whole = counts[counts == N_FOLDS].index
    return {m: [data for b, data in whole if b == f"b-{m}"] for m in WITH_APPENDIX_B}


def on_real_data(found: pd.DataFrame, tuned: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Put what was tuned by appendix B in the place of the small grids, set by set.

    Only where all folds were run. Also returned: for which methods, and on how many sets.
    """
    sets = tuned_sets(tuned)
    key = ["data", "method"]
    taken = pd.MultiIndex.from_tuples([(d, m) for m, ds in sets.items() for d in ds], names=key)
    new = tuned.assign(method=tuned["method"].str.removeprefix("b-"))
    new = new[pd.MultiIndex.from_frame(new[key]).isin(taken)]
    kept = found[~pd.MultiIndex.from_frame(found[key]).isin(taken)]
    words = [f"{label(method)} on {len(ds)}" for method, ds in sets.items()]
    return pd.concat([kept, new], ignore_index=True), listed(words)


def equal_rows_together(real: pd.DataFrame, together: pd.DataFrame) -> str:
    """Errors with folds at random, and with rows of equal features in the same fold."""
    rows = []
    for name in WITH_EQUAL_ROWS:
        for method in (*TESTED, *each("single"), *each("rsb")):
            apart, kept = (
                found[(found["data"] == name) & (found["method"] == method)]["error"]
                for found in (real, together)
            )
            if len(kept) == N_FOLDS:
                rows.append([name, label(method), spread(apart), spread(kept)])
    if not rows:
        return "(not run)"
    return table(["", "", "folds at random", "equal rows together"], rows, text=2)


def together_in_words(real: pd.DataFrame, together: pd.DataFrame, seen: Mapping[str, float]) -> str:
    """Write how often errors rise when equal rows are kept together: RF, GBDT and PRSB.

    `seen` is the share of the test rows that are in the training part, by data set.
    """
    words = []
    for names in (WITH_COPIES[:1], WITH_COPIES[1:], FEW_VALUES):
        rises: list[bool] = []
        shown = []
        for name in names:
            pairs = [
                [found[(found["data"] == name) & (found["method"] == m)]["error"]
                 for found in (real, together)]
                for m in TESTED
            ]  # fmt: skip
            done = [(apart, kept) for apart, kept in pairs if len(kept) == N_FOLDS]
            if done:
                rises += [bool(kept.mean() > apart.mean()) for apart, kept in done]
                shown.append(f"{name} ({seen[name]:.0%})")
        if shown:
            words.append(f"on {listed(shown)} {sum(rises)} of {len(rises)}")
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


def _planned(part: str, method: str) -> str:
    """Write a method of a cell that is planned."""
    if part == "networks":
        return shown(method)
    if method == LOWEST_OF_20:
        return "PRSB-kNN, lowest of 20"
    return label(method.removeprefix("b-")) + ", appendix B" * method.startswith("b-")


def remaining(parts: dict[str, tuple[Sequence[Cell], pd.DataFrame]]) -> str:
    """List by part and method the cells that are planned and not run, and what they would cost.

    A part is its planned cells, and what was found, whose first three columns name the cell. The
    cost is estimated from the cells of the same method in that part, of the same data where
    there are any.
    """
    rows, total = [], 0.0
    for part, (wanted, found) in parts.items():
        key = list(found.columns[:3])
        planned, done = pd.DataFrame(wanted, columns=key), found[[*key, "seconds"]]
        left = planned.merge(done, on=key, how="left", indicator=True)
        left = left[left["_merge"] == "left_only"]
        costs = done.groupby(["data", "method"])["seconds"].mean()
        of_method = done.groupby("method")["seconds"].mean()
        for method, mine in left.groupby("method", sort=False):
            each = [costs.get((data, method), of_method.get(method)) for data in mine["data"]]
            known = all(cost is not None for cost in each)
            total += sum(each) / 60 if known else 0.0
            n_planned = int((planned["method"] == method).sum())
            rows.append(
                [part, _planned(part, str(method)), f"{n_planned - len(mine)} of {n_planned}",
                 f"{sum(each) / 60:.0f}" if known else "no cell yet"]
            )  # fmt: skip
    if not rows:
        return "nothing."
    rows.append(["all", "", "", f"{total:.0f}"])
    shown = table(["part", "method", "cells run", "CPU minutes left"], rows, text=2)
    return (
        "the table (minutes on one core, estimated from the cells at hand and summed where there "
        "is an estimate; the number behind a method of a network is λ, slow has steps of 0.001)."
        f"\n\n{shown}"
    )
