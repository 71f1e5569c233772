"""What the paper's protocol, or a stricter one, changes: restarts, tuning, equal rows together."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from _cells import Cell
from _common import table
from _huynhthu_cells import (
    LOWEST_OF_20,
    N_FOLDS,
    N_SETS,
    PROBLEMS,
    SEEN_IN_TRAINING,
    TESTED,
    WITH_APPENDIX_B,
    WITH_EQUAL_ROWS,
)
from _huynhthu_figures import average_ranks
from _huynhthu_methods import BASES, N_MODELS, Effort
from _huynhthu_paper import TABLE_S2_ERROR
from _huynhthu_tables import LABELS, Paper, label, listed
from _huynhthu_tables import spread as by_method
from _huynhthu_tables import with_error as spread

KEY = ["data", "repetition", "method"]


def lowest_of_20(cells: pd.DataFrame) -> tuple[str, str]:
    """Compare the paper's rule for restarts with ours on the data sets that have both; kNN.

    Also returned, in words: on how many problems the average of 3 has the higher mean AUPR.
    """
    rows, pairs = [], []
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
        pairs.append((round(ours["aupr"].mean(), 3), round(theirs["aupr"].mean(), 3)))
    if not rows:
        return "(not run)", "not run"
    above, below = (sum(sign * (a - b) > 0 for a, b in pairs) for sign in (1, -1))
    words = f"higher on {above}, lower on {below} of {len(pairs)} problems"
    header = ["", "data sets", "error: mean of 3", "lowest of 20", "AUPR: mean of 3"]
    return table([*header, "single of 20", "lowest of 20", "mean of 20"], rows), words


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


def on_real_data(found: pd.DataFrame, tuned: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Put what was tuned by appendix B in the place of the small grids, set by set.

    Only where all folds were run. Also returned: for which methods, and on how many sets.
    """
    whole = tuned.groupby(["data", "method"]).filter(lambda part: len(part) == N_FOLDS).copy()
    whole["method"] = whole["method"].str.removeprefix("b-")
    key = ["data", "method"]
    taken = pd.MultiIndex.from_frame(whole[key])
    kept = found[~pd.MultiIndex.from_frame(found[key]).isin(taken)]
    counts = whole.drop_duplicates(key)["method"].value_counts()
    words = [f"{label(method)} on {counts.get(method, 0)}" for method in WITH_APPENDIX_B]
    return pd.concat([kept, whole], ignore_index=True), listed(words)


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


def together_in_words(
    real: pd.DataFrame, together: pd.DataFrame, seen: dict[str, float], listing: bool = True
) -> str:
    """Write what keeping equal rows together does where many test rows were seen, and elsewhere.

    `seen` is the share of the test rows that are in the training part, by data set. With `listing`
    the errors where many were seen are written, too.
    """
    errors: dict[str, dict[str, tuple[float, float]]] = {}
    for name in WITH_EQUAL_ROWS:
        for method in TESTED:
            apart, kept = (
                found[(found["data"] == name) & (found["method"] == method)]["error"]
                for found in (real, together)
            )
            if len(kept) == N_FOLDS:
                errors.setdefault(name, {})[method] = apart.mean(), kept.mean()

    def rising(names: Sequence[str]) -> str:
        pairs = [pair for name in names for pair in errors[name].values()]
        return f"{sum(bool(b > a) for a, b in pairs)} of {len(pairs)} errors rise"

    many = [name for name in SEEN_IN_TRAINING if name in errors]
    others = [name for name in errors if name not in many]
    words = []
    if many:
        shares = listed([f"{name} {seen[name]:.0%}" for name in many])
        changes = [
            f"on {name} "
            + ", ".join(f"{label(m)} {a:.3f} → {b:.3f}" for m, (a, b) in errors[name].items())
            for name in many
        ]
        words.append(
            f"where many test rows were seen in training ({shares}) {rising(many)}"
            + (f" ({'; '.join(changes)})" if listing else "")
        )
    if others:
        words.append(f"on {listed(others)} {rising(others)}")
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


def apart(ranks: pd.Series, one: str, other: str, difference: float) -> str:
    """Write how far two methods' average ranks are apart, and whether that is significant."""
    gap = ranks[one] - ranks[other]
    beyond = abs(gap) > difference
    where = "behind" if gap > 0 else "ahead of"
    return (
        f"{label(one)} is {abs(gap):.2f} {where} {label(other)}, "
        f"{'beyond' if beyond else 'below'} "
        f"Nemenyi's critical difference of {difference:.3f}: "
        f"{'significant' if beyond else 'not significant'}"
    )


def of_ranks(found: pd.DataFrame, whole: list[str], methods: list[str]) -> str:
    """Compare the first two methods by average rank: all sets, then those with all their rows."""
    wide = by_set(found, "error", methods)
    return " ".join(
        f"On {what}{_ranked(scores)}"
        for what, scores in (
            (f"all {len(wide)} sets", wide),
            (f"the {len(whole)} sets with all rows", wide.loc[wide.index.isin(whole)]),
        )
    )


def of_ranks_together(found: pd.DataFrame, together: pd.DataFrame, methods: list[str]) -> str:
    """Compare them with equal rows in the same fold, where all folds and methods were run so."""
    kept = together[together["method"].isin(methods)]
    kept = kept.groupby("data").filter(lambda part: len(part) == N_FOLDS * len(methods))
    if kept.empty:
        return "(not run)"
    names = list(kept["data"].unique())
    wide = by_set(pd.concat([found[~found["data"].isin(names)], kept]), "error", methods)
    return f"On all {len(wide)} sets, equal rows together on {listed(names)}{_ranked(wide)}"


def by_set(found: pd.DataFrame, value: str, methods: list[str]) -> pd.DataFrame:
    """Means, data sets × methods."""
    return by_method(found, value)["mean"].unstack("method").reindex(columns=methods).dropna()


def _ranked(scores: pd.DataFrame) -> str:
    """Write the first two methods by average rank, and how far RF and PRSB-tree are apart."""
    ranks, p, difference = average_ranks(scores, larger_is_better=False)
    (first, best), (second, next_) = list(ranks.items())[:2]
    return (
        f" (Friedman p = {p:.3f}): {label(str(first))} {best:.2f}, "
        f"{label(str(second))} {next_:.2f}; {apart(ranks, 'rf', 'prsb-tree', difference)}."
    )


def ranks_in_words(found: pd.DataFrame, methods: list[str], theirs: Paper) -> str:
    """Write the average ranks of feature rankings, here and from the paper's table."""
    published = pd.Series({key: number.mean for key, number in theirs.items()}).unstack()
    words = []
    for whose, scores in (("here", by_set(found, "aupr", methods)), ("paper", published[methods])):
        if len(scores) >= 3:
            ranks, p, _ = average_ranks(scores, larger_is_better=True)
            order = ", ".join(f"{label(str(m))} {rank:.2f}" for m, rank in ranks.items())
            words.append(f"{whose} {order} (p = {p:.1e})")
    return "; ".join(words)


def ranks_from_restarts(real: pd.DataFrame, several: pd.DataFrame, methods: Sequence[str]) -> str:
    """Write the average ranks of PRSB's rankings by what is made of its restarts.

    On the sets where all folds were run from several restarts; the other methods as they are.
    """
    aupr = by_method(real, "aupr")["mean"].unstack("method").reindex(columns=methods)
    words = []
    for method in (f"prsb-{base}" for base in BASES):
        mine = several[several["method"] == method]
        mine = mine.groupby("data").filter(lambda part: len(part) == N_FOLDS)
        if mine.empty:
            continue
        ranks = []
        for column in ("aupr_single", "aupr_of_lowest_objective", "aupr"):
            scores = aupr.loc[sorted(mine["data"].unique())].copy()
            scores[method] = mine.groupby("data")[column].mean()
            ranks.append(f"{average_ranks(scores, larger_is_better=True)[0][method]:.2f}")
        words.append(
            f"{label(method)} {ranks[0]} with one restart, {ranks[1]} with the lowest objective of "
            f"3, {ranks[2]} with the mean of 3 ({mine['data'].nunique()} sets)"
        )
    return "; ".join(words) or "not run"


def _planned(method: str) -> str:
    """Write a method of a cell that is planned."""
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
                [part, _planned(str(method)), f"{n_planned - len(mine)} of {n_planned}",
                 f"{sum(each) / 60:.0f}" if known else "no cell yet"]
            )  # fmt: skip
    if not rows:
        return "(nothing: all planned cells were run)"
    rows.append(["all", "", "", f"{total:.0f}"])
    return table(["part", "method", "cells run", "CPU minutes left"], rows, text=2)
