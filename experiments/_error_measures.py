"""What error_control.py measures, from one row per data set and rule; who kept the promise.

A promise counts as broken in a cell if the mean error of its data sets lies more than two standard
errors above it. Of many cells of an exact rule some break by luck. So there is a rule, fixed
beforehand: where ours or Benjamini-Hochberg's break, fresh data sets are drawn (`FURTHER` of them),
and these alone decide.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from _error_data import N_TRUE, Cell
from _error_methods import FURTHER, METHODS, Rule
from scipy.stats import binom

CELL = ["signal", "target", "design", "n", "p"]
ROW = ["method", "rule"]
HOLDS = 2  # standard errors above the promise that count as luck
FEWEST = 10  # data sets below which a cell is shown and not judged
MEASURES = ("any", "false", "FDR, marginal", "FDR, conditional", "power", "promised")


def chance_of_a_break() -> float:
    """How often a rule whose error is exactly 10% breaks after 100 data sets."""
    counts = np.arange(101)
    share = counts / 100
    broken = share - HOLDS * np.sqrt(share * (1 - share) / 100) > 0.1
    return float(binom.pmf(counts[broken], 100, 0.1).sum())


def cell_of(line: pd.Series | dict[str, Any]) -> Cell:
    """The cell that a line is about."""
    return Cell(line["target"], line["design"], int(line["n"]), line["signal"], int(line["p"]))


def rule_of(method: str, label: str) -> Rule:
    """What is promised."""
    return next(rule for rule in METHODS[method].rules if rule.label == label)


def with_measures(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Add what is averaged over data sets.

    `promised` is the error that the rule is about; `further` tells the fresh data sets of cells
    that are judged again.
    """
    sets = pd.DataFrame(rows)
    named = sets["selected"].clip(lower=1)
    sets["any"] = (sets["selected"] > 0).astype(float)
    sets["false"] = sets["marginal"].astype(float)
    sets["FDR, marginal"] = sets["marginal"] / named
    sets["FDR, conditional"] = sets["conditional"] / named
    sets["power"] = sets["found"] / N_TRUE
    sets["promised"], sets["level"], sets["further"] = np.nan, np.nan, False
    for (method, label), part in sets.groupby(ROW):
        rule = rule_of(method, label)
        false = part[rule.truth]
        error = {
            "fdr": part[f"FDR, {rule.truth}"], "fwer": (false > 0).astype(float), "number": false,
            "share": false / part["p"],
        }[rule.kind]  # fmt: skip
        sets.loc[part.index, "promised"] = error.astype(float)
        sets.loc[part.index, "level"] = rule.level
    for (name, *place), part in sets.groupby(["method", *CELL]):
        method = METHODS[name]
        planned = method.n_sets(cell_of(dict(zip(CELL, place, strict=True))))
        sets.loc[part.index, "further"] = method.judged_again & (part["number"] >= planned)
    return sets


def summarised(sets: pd.DataFrame) -> pd.DataFrame:
    """Per cell and rule: means, standard errors, data sets, and whether the promise broke.

    `broken`: in the planned data sets; `again`: error in the further ones, NaN where there are
    none; `broken for good`: by what decides, the further ones where all of them are there
    (`decided`).
    """
    summary = _means(sets[~sets["further"]])
    further = _means(sets[sets["further"]])
    for name, source in (("again", "promised"), ("se again", "se promised"),
                         ("sets again", "sets")):  # fmt: skip
        summary[name] = further[source].reindex(summary.index)
    summary["decided"] = summary["sets again"] >= FURTHER
    still = summary["again"] - HOLDS * summary["se again"] - summary["level"] > 1e-12
    summary["broken for good"] = np.where(summary["decided"], still, summary["broken"])
    return summary.reset_index()


def _means(sets: pd.DataFrame) -> pd.DataFrame:
    grouped = sets.groupby([*CELL, *ROW], sort=False)
    summary = grouped[list(MEASURES)].mean()
    summary["sets"] = grouped.size()
    for name in MEASURES:
        summary[f"se {name}"] = grouped[name].std(ddof=0) / np.sqrt(summary["sets"])
    summary["level"] = grouped["level"].first()
    excess = summary["promised"] - HOLDS * summary["se promised"] - summary["level"]
    summary["judged"] = summary["sets"] >= FEWEST
    summary["broken"] = (excess > 1e-12) & summary["judged"]
    return summary


def broken_cells(rows: list[dict[str, Any]]) -> dict[str, list[Cell]]:
    """By method, cells whose planned data sets are complete and break one of its promises."""
    if not rows:
        return {}
    summary = _means(with_measures(rows)).reset_index()
    out: dict[str, list[Cell]] = {}
    for _, line in summary[summary["broken"]].iterrows():
        cell, cells = cell_of(line), out.setdefault(line["method"], [])
        if line["sets"] >= METHODS[line["method"]].n_sets(cell) and cell not in cells:
            cells.append(cell)
    return out


def paired_power(sets: pd.DataFrame, rules: list[tuple[str, str]]) -> pd.DataFrame:
    """Mean power of several rules by cell, on the data sets that all of them had.

    Columns 0, 1, …: the rules; `se`: standard error of the first two's difference; `sets`.
    """
    powers = []
    for method, label in rules:
        mine = sets[(sets["method"] == method) & (sets["rule"] == label)]
        mine = mine[(mine["signal"] != "noise") & ~mine["further"]]
        powers.append(mine.set_index([*CELL, "number"])["power"])
    every = pd.concat(powers, axis=1, keys=range(len(rules))).dropna()
    every["difference"] = every[0] - every[1]
    grouped = every.groupby(level=CELL)
    out = grouped.mean()
    out["sets"] = grouped.size()
    out["se"] = grouped["difference"].std(ddof=1) / np.sqrt(out["sets"])
    return out.reset_index()


def cpu_minutes(sets: pd.DataFrame) -> float:
    """Of all methods, without drawing the data."""
    return float(sets.groupby([*CELL, "method", "number"])["seconds"].first().sum() / 60)
