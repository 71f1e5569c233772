"""Tables and sentences of error_control.py, computed from one row per data set and rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from _common import table
from _error_data import N_TRUE
from _error_methods import METHODS, Rule
from scipy.stats import binom

CELL = ["signal", "target", "design", "n"]
ROW = ["method", "rule"]
F_TEST = ("Benjamini-Hochberg, F-test", "FDR 10%")
G_TEST = ("Benjamini-Hochberg, G-test", "FDR 10%")
G_TEST_PERMUTED = ("Benjamini-Hochberg, G-test", "FDR 10%, permuted")
COMPARED = (
    ("mainstay, F-test", F_TEST), ("mainstay, F-test, 50 pairs", F_TEST),
    ("mainstay, information gain", G_TEST_PERMUTED), ("mainstay, information gain", G_TEST),
    ("mainstay, information gain", F_TEST),
)  # fmt: skip
HOLDS = 2  # standard errors above the promise that count as luck
FEWEST = 5  # data sets below which a cell is shown and not judged
LOW = 0.05  # power of the reference below which a ratio says nothing


def page(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Everything that the template asks for."""
    sets = with_measures(pd.DataFrame(rows))
    summary = summarised(sets)
    return {
        "n_fits": f"{sets.groupby([*CELL, 'method', 'number']).ngroups:,}",
        "n_cells": summary.groupby(CELL).ngroups,
        "minutes": f"{cpu_minutes(sets):.0f}",
        "costs": cost_table(sets),
        "noise": noise_tables(summary),
        "signal": signal_tables(summary),
        "ours": promises(summary, "ours"),
        "reference": promises(summary, "reference"),
        "power": our_power(sets),
        "against_peers": our_power_against_peers(sets, summary),
        "peers": promises(summary, "peer"),
        "chance": f"{chance_of_a_break():.0%}",
    }


def chance_of_a_break() -> float:
    """How often a rule whose error is exactly 10% is bold after 100 data sets."""
    counts = np.arange(101)
    share = counts / 100
    broken = share - HOLDS * np.sqrt(share * (1 - share) / 100) > 0.1
    return float(binom.pmf(counts[broken], 100, 0.1).sum())


# ---------------------------------------------------------------------- measures


def rule_of(method: str, label: str) -> Rule:
    """What is promised."""
    return next(rule for rule in METHODS[method].rules if rule.label == label)


def with_measures(sets: pd.DataFrame) -> pd.DataFrame:
    """Add what is averaged over data sets; `promised` is the error that the rule is about."""
    sets = sets.copy()
    named = sets["selected"].clip(lower=1)
    sets["any"] = (sets["selected"] > 0).astype(float)
    sets["false"] = sets["marginal"].astype(float)
    sets["FDR, marginal"] = sets["marginal"] / named
    sets["FDR, conditional"] = sets["conditional"] / named
    sets["power"] = sets["found"] / N_TRUE
    sets["promised"] = np.nan
    sets["level"] = np.nan
    for (method, label), part in sets.groupby(ROW):
        rule = rule_of(method, label)
        false = part[rule.truth]
        error = {
            "fdr": part[f"FDR, {rule.truth}"], "fwer": (false > 0).astype(float), "number": false,
        }[rule.kind]  # fmt: skip
        sets.loc[part.index, "promised"] = error
        sets.loc[part.index, "level"] = rule.level
    return sets


MEASURES = ("any", "false", "FDR, marginal", "FDR, conditional", "power", "promised")


def summarised(sets: pd.DataFrame) -> pd.DataFrame:
    """Per cell and rule: means, standard errors, data sets, and whether the promise broke."""
    grouped = sets.groupby([*CELL, *ROW], sort=False)
    summary = grouped[list(MEASURES)].mean()
    summary["sets"] = grouped.size()
    for name in MEASURES:
        summary[f"se {name}"] = grouped[name].std(ddof=0) / np.sqrt(summary["sets"])
    summary["level"] = grouped["level"].first()
    excess = summary["promised"] - HOLDS * summary["se promised"] - summary["level"]
    summary["judged"] = summary["sets"] >= FEWEST
    summary["broken"] = (excess > 1e-12) & summary["judged"]
    return summary.reset_index()


def cpu_minutes(sets: pd.DataFrame) -> float:
    """Of all methods, without drawing the data."""
    return float(sets.groupby([*CELL, "method", "number"])["seconds"].first().sum() / 60)


# ---------------------------------------------------------------------- tables


def entry(line: pd.Series, measure: str, bold: bool) -> str:
    """Mean ± standard error, data sets where fewer than 100; bold: the promise is broken."""
    digits = 1 if line[measure] >= 10 else 2
    text = f"{line[measure]:.{digits}f}"
    if line["judged"]:
        text += f" ± {line[f'se {measure}']:.{digits}f}"
    few = f" ({line['sets']})" if line["sets"] < 100 else ""
    return f"**{text}**{few}" if bold else text + few


def wide(
    summary: pd.DataFrame, measure: str, is_promise: Callable[[Rule], bool], by: Sequence[str]
) -> str:
    """Rows: method and rule. Columns: the cells. Bold where this measure is what was promised."""
    columns = list(summary.groupby(list(by), sort=False).groups)
    columns.sort(key=lambda key: column_order(key))
    body = []
    for name, method in METHODS.items():
        for rule in method.rules:
            mine = summary[(summary["method"] == name) & (summary["rule"] == rule.label)]
            if mine.empty:
                continue
            lines = {tuple(line[list(by)]): line for _, line in mine.iterrows()}
            shown = [
                entry(lines[key], measure, bool(lines[key]["broken"]) and is_promise(rule))
                if key in lines else "–"
                for key in columns
            ]  # fmt: skip
            body.append([name, rule.label, *shown])
    header = ["method", "promise", *(", ".join(map(str, key)) for key in columns)]
    return table(header, body, text=2)


def column_order(key: tuple[Any, ...]) -> tuple[Any, ...]:
    """Targets and designs in the order of the experiment, then n."""
    names = ("continuous", "binary", "five classes", "one in ten", "variance", "independent",
             "AR(0.7)", "twins", "expression", "expression, own rows")  # fmt: skip
    return tuple(names.index(part) if part in names else part for part in key)


def both_targets(
    summary: pd.DataFrame, title: str, measure: str, is_promise: Callable[[Rule], bool]
) -> str:
    """One table for continuous targets, one for classes."""
    continuous = summary["target"] == "continuous"
    parts = [
        (f"{title}: continuous y", summary[continuous], ["design", "n"]),
        (f"{title}: classes", summary[~continuous], ["target", "design", "n"]),
    ]
    return "\n\n".join(
        f"### {heading}\n\n{wide(part, measure, is_promise, by)}"
        for heading, part, by in parts
        if len(part)
    )


def noise_tables(summary: pd.DataFrame) -> str:
    """P(anything selected), and false features, where nothing is to be found."""
    noise = summary[summary["signal"] == "noise"]
    return "\n\n".join(
        [
            both_targets(noise, "P(anything selected)", "any", lambda r: r.kind != "number"),
            both_targets(noise, "Number of false features", "false", lambda r: r.kind == "number"),
        ]
    )


def signal_tables(summary: pd.DataFrame) -> str:
    """FDR against both truths, numbers of false features, power."""
    parts = []
    for signal in ("strong", "weak"):
        mine = summary[summary["signal"] == signal]
        if mine.empty:
            continue
        for truth in ("marginal", "conditional"):
            parts.append(
                both_targets(
                    mine, f"FDR, {truth} truth, {signal}", f"FDR, {truth}",
                    lambda rule, truth=truth: rule.kind == "fdr" and rule.truth == truth,
                )
            )  # fmt: skip
        kinds = {(name, rule.label) for name, method in METHODS.items()
                 for rule in method.rules if rule.kind != "fdr"}  # fmt: skip
        counted = mine[[key in kinds for key in zip(mine["method"], mine["rule"], strict=True)]]
        parts.append(
            both_targets(counted, f"False features (E) or P(any false) (FWER), {signal}",
                         "promised", lambda rule: True)
        )  # fmt: skip
        parts.append(both_targets(mine, f"Power, {signal}", "power", lambda rule: False))
    return "\n\n".join(parts)


def cost_table(sets: pd.DataFrame) -> str:
    """CPU seconds a data set (median), and how many data sets the cells have."""
    fits = sets.drop_duplicates([*CELL, "method", "number"])
    body = []
    for name, method in METHODS.items():
        mine = fits[fits["method"] == name]
        seconds = mine.groupby("n")["seconds"].median()
        counts = mine.groupby(CELL).size()
        shown = [f"{seconds[n]:.2f}" if n in seconds.index else "–" for n in (100, 200, 500)]
        covered = f"{counts.min()} to {counts.max()}" if len(counts) else "–"
        body.append([name, method.family, *shown, len(counts), covered])
    header = ["method", "", "n = 100", "n = 200", "n = 500", "cells", "data sets a cell"]
    return table(header, body, text=2)


# ---------------------------------------------------------------------- sentences


def cell_name(line: pd.Series) -> str:
    """In words."""
    return f"{line['target']}, {line['design']}, n = {line['n']}, {line['signal']}"


def of_family(summary: pd.DataFrame, family: str) -> pd.DataFrame:
    """Lines of our methods, or of the peers."""
    return summary[[METHODS[name].family == family for name in summary["method"]]]


def pooled(part: pd.DataFrame) -> str:
    """Mean over the data sets of several cells."""
    weights = part["sets"] / part["sets"].sum()
    mean = float((weights * part["promised"]).sum())
    error = float(np.sqrt(((weights * part["se promised"]) ** 2).sum()))
    return f"{mean:.3f} ± {error:.3f} ({part['sets'].sum():,} data sets)"


def judgement(part: pd.DataFrame) -> str:
    """In how many cells a promise was seen to break, the worst cell, and the mean of all."""
    part = part[part["judged"]]
    if part.empty:
        return f"fewer than {FEWEST} data sets in every cell, not judged."
    broken = int(part["broken"].sum())
    worst = part.loc[(part["promised"] / part["level"]).idxmax()]
    noise, signal = part[part["signal"] == "noise"], part[part["signal"] != "noise"]
    means = [f"{name} {pooled(some)}" for name, some in (("noise", noise), ("signal", signal))
             if len(some)]  # fmt: skip
    return (
        f"seen to break in {broken} of {len(part)} cells of {part['sets'].min()} to "
        f"{part['sets'].max()} data sets; promised {worst['level']:g}, over all cells "
        f"{'; '.join(means)}; highest {worst['promised']:.2f} ± {worst['se promised']:.2f} "
        f"({cell_name(worst)}, {worst['sets']} data sets)."
    )


def promises(summary: pd.DataFrame, family: str) -> str:
    """One item per method and rule."""
    mine = of_family(summary, family)
    keys = [(name, rule.label) for name, method in METHODS.items() for rule in method.rules]
    items = []
    for method, label in keys:
        part = mine[(mine["method"] == method) & (mine["rule"] == label)]
        if len(part):
            items.append(f"- {method}, {label}: {judgement(part)}")
    return "\n".join(items)


def paired_power(sets: pd.DataFrame, first: tuple[str, str], second: tuple[str, str]) -> Any:
    """Mean power of two rules on the data sets that both had, by cell."""
    powers = []
    for method, label in (first, second):
        mine = sets[(sets["method"] == method) & (sets["rule"] == label)]
        mine = mine[mine["signal"] != "noise"]
        powers.append(mine.set_index([*CELL, "number"])["power"])
    both = pd.concat(powers, axis=1, keys=["first", "second"]).dropna()
    both["difference"] = both["first"] - both["second"]
    grouped = both.groupby(level=CELL)
    out = grouped.mean()
    out["se"] = grouped["difference"].std(ddof=1) / np.sqrt(grouped.size())
    return out.reset_index()


def our_power(sets: pd.DataFrame) -> str:
    """Ratios of power to that of the plain tests, on the same data sets."""
    items = []
    for method, reference in COMPARED:
        both = paired_power(sets, (method, "FDR 10%"), reference)
        both = both[both["second"] >= LOW]
        if both.empty:
            continue
        ratio = both["first"] / both["second"]
        low = both.loc[ratio.idxmin()]
        items.append(
            f"- {method}, FDR 10%: {ratio.median():.2f} times the power of {', '.join(reference)} "
            f"in the median of {len(both)} cells, {ratio.min():.2f} in the lowest "
            f"({cell_name(low)}: {low['first']:.2f} against {low['second']:.2f}); below 0.8 in "
            f"{int((ratio < 0.8).sum())}."
        )
    return "\n".join(items)


def our_power_against_peers(sets: pd.DataFrame, summary: pd.DataFrame) -> str:
    """Cells where a peer that keeps its promise finds more than our F-test."""
    items = []
    peers = of_family(summary, "peer")
    for (method, label), part in peers[peers["signal"] != "noise"].groupby(ROW, sort=False):
        if rule_of(method, label).kind != "fdr":
            continue
        held = part[part["judged"] & ~part["broken"]].set_index(CELL).index
        both = paired_power(sets, ("mainstay, F-test", "FDR 10%"), (method, label))
        both = both[[tuple(line[CELL]) in held for _, line in both.iterrows()]]
        if both.empty:
            continue
        better = both[both["difference"] < -HOLDS * both["se"]]
        where = "; ".join(
            f"{cell_name(line)}: {line['second']:.2f} against {line['first']:.2f}"
            for _, line in better.iterrows()
        )
        items.append(
            f"- {method}, {label}: cells with a signal where it was not seen to break its promise: "
            f"{len(both)}; where it also found more than our F-test: {len(better)}"
            f"{f' ({where})' if where else ''}."
        )
    return "\n".join(items) or "- No peer has enough data sets with a signal."
