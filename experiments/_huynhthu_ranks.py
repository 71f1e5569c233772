"""Average ranks of methods over the real data sets, and how far two of them are apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
from _common import table
from _huynhthu_cells import N_FOLDS, WITH_COPIES
from _huynhthu_counts import Cases, printed
from _huynhthu_figures import average_ranks
from _huynhthu_methods import BASES
from _huynhthu_tables import Paper, each, label, listed, spread

FOREST_AND_BOOSTING = ("rf", "gbdt")
FIVE = [*FOREST_AND_BOOSTING, *each("prsb")]  # the methods of Figure 1


def by_set(found: pd.DataFrame, value: str, methods: Sequence[str]) -> pd.DataFrame:
    """Means, data sets × methods."""
    return spread(found, value)["mean"].unstack("method").reindex(columns=methods).dropna()


def published(paper: Paper, methods: Sequence[str]) -> pd.DataFrame:
    """The paper's means, data sets × methods."""
    return pd.Series(printed(paper)).unstack()[list(methods)]


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


def behind(ranks: pd.Series) -> Cases:
    """Whether PRSB's average rank is behind those of RF and GBDT, by base model: six pairs."""
    return {
        (other, base): bool(ranks[f"prsb-{base}"] > ranks[other])
        for base in BASES
        for other in FOREST_AND_BOOSTING
    }


def with_copies_together(
    found: pd.DataFrame, together: pd.DataFrame, methods: Sequence[str]
) -> tuple[pd.DataFrame, list[str]]:
    """Put folds that keep copies together in the place of folds at random, set by set.

    Only sets that hold copies, and where all folds were run with all methods. Also returned: them.
    """
    kept = together[together["method"].isin(methods) & together["data"].isin(WITH_COPIES)]
    kept = kept.groupby("data").filter(lambda part: len(part) == N_FOLDS * len(methods))
    names = [name for name in WITH_COPIES if name in set(kept["data"])]
    return pd.concat([found[~found["data"].isin(names)], kept]), names


def rank_table(scores: Mapping[str, pd.DataFrame]) -> str:
    """Average ranks by errors, one row for each way to compute them (data sets × methods)."""
    rows = []
    methods: list[str] = []
    for what, errors in scores.items():
        if len(errors) < 3:  # too few for ranks
            continue
        methods = list(errors)
        ranks, p, difference = average_ranks(errors, larger_is_better=False)
        shown = [f"{ranks[m]:.2f}" for m in methods]
        rows.append([what, len(errors), f"{p:.2g}", *shown, f"{difference:.3f}"])
    if not rows:
        return "(not run)"
    header = ["", "sets", "Friedman's p", *map(label, methods), "critical difference"]
    return table(header, rows)


def of_ranks(errors: pd.DataFrame) -> str:
    """Write how far RF, GBDT and PRSB-tree are apart."""
    if len(errors) < 3:
        return "(not run)"
    ranks, _, difference = average_ranks(errors, larger_is_better=False)
    return "; ".join(apart(ranks, m, "prsb-tree", difference) for m in FOREST_AND_BOOSTING)


def in_words(found: pd.DataFrame, methods: list[str], theirs: Paper) -> str:
    """Write the average ranks of feature rankings, here and from the paper's table."""
    words = []
    for whose, scores in (
        ("here", by_set(found, "aupr", methods)), ("paper", published(theirs, methods))
    ):  # fmt: skip
        if len(scores) >= 3:
            ranks, p, _ = average_ranks(scores, larger_is_better=True)
            order = ", ".join(f"{label(str(m))} {rank:.2f}" for m, rank in ranks.items())
            words.append(f"{whose} {order} (p = {p:.1e})")
    return "; ".join(words)


def from_restarts(real: pd.DataFrame, several: pd.DataFrame, methods: Sequence[str]) -> str:
    """Write the average ranks of PRSB's rankings by what is made of its restarts.

    On the sets where all folds were run from several restarts; the other methods as they are.
    """
    aupr = spread(real, "aupr")["mean"].unstack("method").reindex(columns=methods)
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


def named(names: Sequence[str]) -> str:
    """Write how a row of the table with copies together is called."""
    return f"copies together on {listed(names)}" if names else "copies together on no set"
