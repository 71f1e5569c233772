"""How strong the evidence of huynhthu2021 is: counts against luck, tests over folds, ranks."""

from __future__ import annotations

from typing import Any

import pandas as pd
from _common import verdict
from _huynhthu_cells import N_FOLDS, PROBLEMS
from _huynhthu_figures import average_ranks
from _huynhthu_methods import BASES
from _huynhthu_tables import label, spread
from scipy.stats import binom

from mainstay.comparison.significance import corrected_t_test, holm


def counted(cases: list[bool]) -> str:
    """Write how often something holds, whether that supports the paper, and what luck would do.

    "Agrees" needs four fifths of the cases; the probability is that of as many heads in as many
    tosses of a coin.
    """
    if not cases:
        return "(not yet computed)"
    n, right = len(cases), sum(cases)
    agrees = True if right >= 0.8 * n else None if right > 0.5 * n else False
    luck = float(binom.sf(right - 1, n, 0.5))
    shown = "< 0.001" if luck < 0.001 else f"{luck:.3f}"
    return f"{verdict(agrees)} {right} of {n} (coin tosses: {n / 2:g}; at least as many: {shown})"


def of_simulated(mean: dict[str, pd.Series]) -> dict[str, str]:
    """Whether what the paper concludes from its simulations holds here."""

    def better(value: str, one: str, other: str, problems: Any = PROBLEMS) -> list[bool]:
        table, sign = mean[value], -1 if value == "aupr" else 1
        return [
            bool(sign * table[p, f"{one}-{base}"] < sign * table[p, other.format(base=base)])
            for p in problems
            for base in BASES
            if (p, f"{one}-{base}") in table and (p, other.format(base=base)) in table
        ]

    not_friedman = [name for name in PROBLEMS if name != "Friedman"]
    return {
        "claim_rsb": counted(better("error", "prsb", "rsb-{base}")),
        "claim_single": counted(better("error", "prsb", "single-{base}")),
        "claim_sparse": counted(better("size", "prsb", "rsb-{base}")),
        "claim_rf": counted(better("error", "prsb", "rf", not_friedman)),
        "claim_gbdt": counted(better("error", "prsb", "gbdt", not_friedman)),
        "claim_eda": counted(better("aupr", "prsb", "eda-{base}")),
        "claim_q": counted(
            better("aupr", "prsb1", "prsb10-{base}", [*not_friedman[1:], "Friedman"])
        ),
    }


def over_folds(found: pd.DataFrame, one: str, other: str) -> str:
    """Write on how many data sets two methods' errors differ, by tests over the folds.

    The corrected resampled t-test (Nadeau and Bengio 2003), then Holm's correction over data sets.
    """
    wide = found[found["method"].isin([one, other])].pivot(
        index=["data", "repetition"], columns="method", values="error"
    )
    tests = {
        data: corrected_t_test(part[other].to_numpy(), part[one].to_numpy(), 1 / (N_FOLDS - 1))
        for data, part in wide.dropna().groupby("data")
        if len(part) > 1
    }
    if not tests:
        return "not yet computed"
    small = holm([test.p_value for test in tests.values()]) < 0.05
    lower = sum(bool(s and t.difference < 0) for s, t in zip(small, tests.values(), strict=True))
    higher = sum(bool(s and t.difference > 0) for s, t in zip(small, tests.values(), strict=True))
    return f"lower on {lower}, higher on {higher} of {len(tests)}"


def apart(ranks: pd.Series, one: str, other: str, difference: float) -> str:
    """Write how far two methods' average ranks are apart, and whether that is significant."""
    gap = abs(ranks[one] - ranks[other])
    beyond = gap > difference
    return (
        f"{label(one)} is {gap:.2f} from {label(other)}, {'beyond' if beyond else 'below'} "
        f"Nemenyi's critical difference of {difference:.3f}: "
        f"{'significant' if beyond else 'not significant'}"
    )


def of_ranks(found: pd.DataFrame, whole: list[str], methods: list[str]) -> str:
    """Compare the first two methods by average rank: all sets, then those with all their rows."""
    wide = _errors(found, methods)
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
    names = kept["data"].unique()
    wide = _errors(pd.concat([found[~found["data"].isin(names)], kept]), methods)
    return f"On all {len(wide)} sets, equal rows together on {len(names)} of them{_ranked(wide)}"


def _errors(found: pd.DataFrame, methods: list[str]) -> pd.DataFrame:
    """Mean errors, data sets × methods."""
    return spread(found, "error")["mean"].unstack("method").reindex(columns=methods).dropna()


def _ranked(scores: pd.DataFrame) -> str:
    """Write the first two methods by average rank, and how far RF and PRSB-tree are apart."""
    ranks, p, difference = average_ranks(scores, larger_is_better=False)
    (first, best), (second, next_) = list(ranks.items())[:2]
    return (
        f" (Friedman p = {p:.3f}): {label(str(first))} {best:.2f}, "
        f"{label(str(second))} {next_:.2f}; {apart(ranks, 'rf', 'prsb-tree', difference)}."
    )


def of_rankings(found: pd.DataFrame, methods: list[str]) -> dict[str, str]:
    """Average ranks behind what section 3.2 of the paper says: of the bases, and kNN's gaps."""
    of_bases, gaps = [], ""
    for value in ("error", "aupr"):
        wide = spread(found, value)["mean"].unstack("method").reindex(columns=methods)
        ranks, _, difference = average_ranks(wide.dropna(axis=1).dropna(), value == "aupr")
        names = [str(name) for name in ranks.index if str(name).startswith("prsb-")]
        shown = ", ".join(f"{label(name)} {ranks[name]:.2f}" for name in names)
        of_bases.append(f"{shown} ({'test errors' if value == 'error' else 'feature rankings'})")
        if value == "aupr":
            gaps = "; ".join(apart(ranks, name, "prsb-knn", difference) for name in ("rf", "gbdt"))
    return {"ranks_of_bases": ", and ".join(of_bases), "ranks_of_knn": gaps}
