"""Tables and sentences of error_control.py."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from _common import table
from _error_data import SMALL, P, all_cells
from _error_measures import (
    CELL,
    FEWEST,
    HOLDS,
    MEASURES,
    ROW,
    cell_of,
    chance_of_a_break,
    cpu_minutes,
    paired_power,
    rule_of,
    summarised,
    with_measures,
)
from _error_methods import FURTHER, METHODS

F_TEST = ("Benjamini-Hochberg, F-test", "FDR 10%")
G_TEST = ("Benjamini-Hochberg, G-test", "FDR 10%, permuted")
OURS = "mainstay, F-test"
GAIN, QUANTILES = "mainstay, information gain", "mainstay, information gain, 4 quantile bins"
COMPARED = (
    (OURS, F_TEST), ("mainstay, F-test, 50 pairs", F_TEST), (GAIN, G_TEST),
    ("mainstay, information gain, 50 pairs", G_TEST), (GAIN, F_TEST),
    (QUANTILES, G_TEST), (QUANTILES, F_TEST),
)  # fmt: skip
OUR_RANKERS = (OURS, GAIN, QUANTILES, "mainstay, L1 path", "mainstay, forest of 20 trees")
LOW = 0.05  # power of the reference below which a ratio says nothing


def page(rows: list[dict[str, Any]], folder: Path) -> dict[str, Any]:
    """Everything that the template asks for; the whole table goes to a file in the folder."""
    sets = with_measures(rows)
    summary = summarised(sets)
    write_csv(summary, folder / "error_control")
    return {
        "n_fits": f"{sets.groupby([*CELL, 'method', 'number']).ngroups:,}",
        "n_cells": summary.groupby(CELL).ngroups,
        "minutes": f"{cpu_minutes(sets):.0f}",
        "fewest": FEWEST,
        "further": FURTHER,
        "chance": f"{chance_of_a_break():.0%}",
        "promises": promise_table(summary),
        "again": judged_again(summary),
        "small": small_table(summary, sets),
        "power": our_power(sets),
        "against_peers": our_power_against_peers(sets, summary),
        "noise": noise_table(summary),
        "signal": signal_table(summary),
        "costs": cost_table(sets),
        "knockpy": seconds_a_set(sets, "knockpy", P),
        "powershap": seconds_a_set(sets, "powershap", SMALL),
        "boruta": seconds_a_set(sets, "Boruta", SMALL),
        "unfinished": unfinished(sets),
    }


def write_csv(summary: pd.DataFrame, folder: Path) -> None:
    """Every cell and rule, all measures."""
    folder.mkdir(parents=True, exist_ok=True)
    columns = [*ROW, *CELL, "sets", "level", *(c for m in MEASURES for c in (m, f"se {m}")),
               "broken", "again", "se again", "sets again"]  # fmt: skip
    ordered = summary.sort_values([*ROW, *CELL], kind="stable")
    ordered[columns].round(4).to_csv(folder / "measured.csv", index=False, lineterminator="\n")


# ---------------------------------------------------------------------- words for numbers


def number(mean: float, error: float) -> str:
    """Mean ± standard error."""
    digits = 1 if mean >= 10 else 2
    return f"{mean:.{digits}f} ± {error:.{digits}f}"


def entry(line: pd.Series | None, measure: str, bold: bool = False) -> str:
    """Mean ± standard error, data sets where fewer than 100; bold: the promise is broken."""
    if line is None:
        return "–"
    if not line["judged"]:
        return f"{line[measure]:.2f} ({line['sets']})"
    text = number(line[measure], line[f"se {measure}"])
    few = f" ({line['sets']})" if line["sets"] < 100 else ""
    return f"**{text}**{few}" if bold else text + few


def cell_name(line: pd.Series) -> str:
    """In words."""
    small = "" if line["p"] == P else f", p = {line['p']}"
    return f"{line['target']}, {line['design']}, n = {line['n']}{small}, {line['signal']}"


def pooled(part: pd.DataFrame, name: str = "promised", sets: str = "sets") -> str:
    """Mean over the data sets of several cells."""
    if part.empty:
        return "–"
    weights = part[sets] / part[sets].sum()
    mean = float((weights * part[name]).sum())
    error = float(np.sqrt(((weights * part[f"se {name}"]) ** 2).sum()))
    return f"{mean:.3f} ± {error:.3f}"


def span(counts: Iterable[int]) -> str:
    """25, or 25 to 100."""
    low, high = min(counts), max(counts)
    return f"{low}" if low == high else f"{low} to {high}"


def unfinished(sets: pd.DataFrame) -> str:
    """Which methods lack data sets that were planned."""
    done = sets.drop_duplicates([*CELL, "method", "number"]).groupby("method").size()
    lacking = []
    for name, method in METHODS.items():
        planned = sum(method.n_sets(cell) for cell in all_cells())
        if done.get(name, 0) < planned:
            lacking.append(f"{name} ({done.get(name, 0)} of {planned} data sets)")
    return f"**Unfinished**: {', '.join(lacking)}." if lacking else "All of them were run."


def rules_in_order(summary: pd.DataFrame) -> Iterable[tuple[str, str, pd.DataFrame]]:
    """Method, rule and their lines, in the order of the experiment."""
    by_rule = dict(iter(summary.groupby(ROW, sort=False)))
    for name, method in METHODS.items():
        for rule in method.rules:
            if (name, rule.label) in by_rule:
                yield name, rule.label, by_rule[name, rule.label]


# ---------------------------------------------------------------------- promises


def promise_table(summary: pd.DataFrame) -> str:
    """One row per method and rule: mean errors, the worst cell, in how many cells it broke."""
    body = []
    for method, label, every in rules_in_order(summary):
        part = every[every["judged"]]
        if part.empty:
            body.append([method, label, "–", "–", f"fewer than {FEWEST} data sets", "–",
                         len(every), span(every["sets"])])  # fmt: skip
            continue
        noise = part["signal"] == "noise"
        worst = part.loc[(part["promised"] / part["level"]).idxmax()]
        name = f"{number(worst['promised'], worst['se promised'])}: {cell_name(worst)}"
        broken = f"{int(part['broken'].sum())}"
        again = part[part["broken"] & part["decided"]]
        if len(again):
            broken += f"; {int(again['broken for good'].sum())} of {len(again)} judged again"
        body.append([method, label, pooled(part[noise]), pooled(part[~noise]), name, broken,
                     len(part), span(part["sets"])])  # fmt: skip
    header = ["method", "promise", "noise", "with a signal", "worst cell", "cells that broke",
              "cells", "data sets a cell"]  # fmt: skip
    return table(header, body, text=2)


def judged_again(summary: pd.DataFrame) -> str:
    """Cells whose first data sets lie above the promise, and what the further ones say."""
    again = np.array([METHODS[name].judged_again for name in summary["method"]])
    part = summary[summary["broken"] & again]
    if part.empty:
        return (
            "No promise of ours or of Benjamini-Hochberg broke in the planned data sets of a cell."
        )
    body = []
    for _, line in part.iterrows():
        further = "–" if np.isnan(line["again"]) else (
            f"{number(line['again'], line['se again'])} ({int(line['sets again'])})")  # fmt: skip
        word = ("broken" if line["broken for good"] else "held") if line["decided"] else "open"
        body.append([line["method"], line["rule"], cell_name(line), f"{line['level']:g}",
                     f"{number(line['promised'], line['se promised'])} ({line['sets']})", further,
                     word])  # fmt: skip
    header = ["method", "promise", "cell", "level", "planned data sets", "further ones", "verdict"]
    return table(header, body, text=3)


# ---------------------------------------------------------------------- like with like


def small_table(summary: pd.DataFrame, sets: pd.DataFrame) -> str:
    """All methods on the same small data sets."""
    small = summary[summary["p"] == SMALL]
    seconds = sets[sets["p"] == SMALL].groupby("method")["seconds"].median()
    body = []
    for method, label, part in rules_in_order(small):
        if "groups" in label:  # there are no twins: they are the features
            continue
        lines = {(line["target"], line["signal"]): line for _, line in part.iterrows()}
        kind = rule_of(method, label).kind
        shown = []
        for target in ("continuous", "binary"):
            noise, strong = lines.get((target, "noise")), lines.get((target, "strong"))
            for line, measure in ((noise, "any"), (noise, "false"), (strong, "FDR, marginal"),
                                  (strong, "power")):  # fmt: skip
                promised = measure == "false" if kind in ("number", "share") else measure != "false"
                bold = line is not None and line["broken"] and promised and measure != "power"
                shown.append(entry(line, measure, bool(bold)))
        body.append([method, label, *shown, f"{seconds[method]:.2f}"])
    names = ("P(any)", "false features", "FDR", "power")
    columns = [f"{t}: {name}" for t in ("y", "classes") for name in names]
    return table(["method", "promise", *columns, "CPU s"], body, text=2)


# ---------------------------------------------------------------------- power


def our_power(sets: pd.DataFrame) -> str:
    """Ratios of power to that of the plain tests, on the same data sets."""
    body = []
    for method, reference in COMPARED:
        both = paired_power(sets, [(method, "FDR 10%"), reference])
        both = both[both[1] >= LOW]
        if both.empty:
            continue
        ratio = both[0] / both[1]
        low = both.loc[ratio.idxmin()]
        body.append([
            method, ", ".join(reference), f"{ratio.median():.2f}", f"{ratio.min():.2f}",
            f"{low[0]:.2f} against {low[1]:.2f}: {cell_name(low)}", int((ratio < 0.8).sum()),
            len(both), span(both["sets"]),
        ])  # fmt: skip
    header = ["ours, FDR 10%", "against", "median ratio", "lowest", "where", "cells below 0.8",
              "cells", "data sets a cell"]  # fmt: skip
    return table(header, body, text=2)


def our_power_against_peers(sets: pd.DataFrame, summary: pd.DataFrame) -> str:
    """Power of a peer where its error was not seen to break, and of our rankers on its data sets.

    A peer that found significantly more than our F-test is bold.
    """
    body = []
    for method, label, part in rules_in_order(summary):
        if METHODS[method].family != "peer" or rule_of(method, label).kind != "fdr":
            continue
        held = part[part["judged"] & ~part["broken"] & (part["signal"] != "noise")]
        for _, line in held.iterrows():
            place = (sets[CELL] == line[CELL].to_list()).all(axis=1)
            here = sets[place]
            ours = [other_power(here, (method, label), name) for name in OUR_RANKERS]
            both = paired_power(here, [(OURS, "FDR 10%"), (method, label)])
            more = len(both) and both["difference"][0] < -HOLDS * both["se"][0]
            peer = f"{line['power']:.2f}"
            body.append([method, label, cell_name(line), line["sets"], f"**{peer}**" if more else
                         peer, *ours])  # fmt: skip
    if not body:
        return "No peer has enough data sets with a signal."
    header = ["peer", "promise", "cell", "data sets", "its power",
              *(name.removeprefix("mainstay, ") for name in OUR_RANKERS)]  # fmt: skip
    return table(header, body, text=3)


def other_power(here: pd.DataFrame, peer: tuple[str, str], name: str) -> str:
    """Power of one of our rankers on the data sets of one cell that the peer had, too."""
    both = paired_power(here, [(name, "FDR 10%"), peer])
    return f"{both[0][0]:.2f} ({both['sets'][0]})" if len(both) else "–"


# ---------------------------------------------------------------------- cell by cell


def by_cell(summary: pd.DataFrame, signal: bool, columns: list[tuple[str, str, str, str]]) -> str:
    """Rows: cells. Columns: header, method, rule and measure; bold where that promise broke."""
    lines = {(cell_of(line), line["method"], line["rule"]): line for _, line in summary.iterrows()}
    body = []
    for cell in all_cells():
        if (cell.signal != "noise") != signal:
            continue
        of_cell = [lines.get((cell, method, rule)) for _, method, rule, _ in columns]
        if any(line is not None for line in of_cell):
            size = f"{cell.n}" if cell.p == P else f"{cell.n} × {cell.p}"
            shown = [
                entry(line, measure, line is not None and bool(line["broken"]) and
                      measure != "power")
                for line, (*_, measure) in zip(of_cell, columns, strict=True)
            ]  # fmt: skip
            body.append([cell.target, cell.design, size, *([cell.signal] * signal), *shown])
    header = ["y", "features", "n", *(["signal"] * signal), *(name for name, *_ in columns)]
    return table(header, body, text=3 + signal)


def noise_table(summary: pd.DataFrame) -> str:
    """Where nothing is to be found: P(anything) at 10%, FWER 5%, E ≤ 1."""
    return by_cell(summary, False, [
        ("BH, F-test: P(any)", *F_TEST, "any"),
        ("F-test: P(any)", OURS, "FDR 10%", "any"),
        ("groups: P(any)", OURS, "FDR 10%, groups", "any"),
        ("FWER 5%: P(any)", OURS, "FWER 5%", "any"),
        ("E ≤ 1: false features", OURS, "E ≤ 1", "false"),
        ("information gain: P(any)", GAIN, "FDR 10%", "any"),
        ("unimodal, E ≤ 1: false features", "mainstay, bounds, F-test", "unimodal, E ≤ 1", "false"),
    ])  # fmt: skip


def signal_table(summary: pd.DataFrame) -> str:
    """With 20 true features: FDR against the marginal truth, and power."""
    return by_cell(summary, True, [
        ("BH, F-test: FDR", *F_TEST, "FDR, marginal"),
        ("power", *F_TEST, "power"),
        ("F-test: FDR", OURS, "FDR 10%", "FDR, marginal"),
        ("power", OURS, "FDR 10%", "power"),
        ("information gain: FDR", GAIN, "FDR 10%", "FDR, marginal"),
        ("power", GAIN, "FDR 10%", "power"),
    ])  # fmt: skip


def seconds_a_set(sets: pd.DataFrame, method: str, p: int) -> str:
    """CPU seconds of a method on data sets with p features: median, and the most on one."""
    mine = sets[(sets["method"] == method) & (sets["p"] == p)]
    if mine.empty:
        return "no data set yet"
    seconds = mine.drop_duplicates([*CELL, "number"])["seconds"]
    return f"{seconds.median():.1f} CPU seconds (median; at most {seconds.max():.1f})"


def cost_table(sets: pd.DataFrame) -> str:
    """CPU seconds a data set (median), and how many data sets the cells have."""
    fits = sets.drop_duplicates([*CELL, "method", "number"])
    body = []
    for name, method in METHODS.items():
        mine = fits[(fits["method"] == name) & (fits["p"] == P)]
        seconds = mine.groupby("n")["seconds"].median()
        small = fits[(fits["method"] == name) & (fits["p"] == SMALL)]["seconds"].median()
        shown = [f"{seconds[n]:.2f}" if n in seconds.index else "–" for n in (100, 200, 500)]
        least = "–" if np.isnan(small) else f"{small:.2f}"
        body.append([name, method.family, least, *shown])
    return table(["method", "", "100 × 200", "100 × 1,000", "200 × 1,000", "500 × 1,000"], body, 2)
