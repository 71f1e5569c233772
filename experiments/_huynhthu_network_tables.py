"""The tables of huynhthu2021 about gene networks: ours, and in brackets the paper's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from _common import table
from _huynhthu_methods import BASES
from _huynhthu_networks import (
    LAMBDAS,
    LOWEST_OF,
    NETWORKS,
    OBSERVED,
    SAMPLES,
    SIMULATED,
    STAGES,
)
from _huynhthu_paper import TABLE_5
from _huynhthu_tables import LABELS, label

from mainstay.networks.subspaces import SubspaceSettings

Values = Sequence[float]
_NETS = [f"network {name}" for name in NETWORKS]


def ranged(values: Values, ends: str = "") -> str:
    """Write a mean, with the lowest and highest in square brackets if there are several."""
    if len(values) == 0:
        return f"–{ends}"
    shown = f"{np.mean(values):.3f}"
    if len(values) > 1:
        shown += f" [{min(values):.3f}–{max(values):.3f}]"
    return shown + ends


def counted(numbers: Sequence[int]) -> str:
    """Write one number, or the least and the most of several."""
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low}–{high}"


def shown(method: str) -> str:
    """Write a method of a network as the paper does."""
    kind, _, rest = method.rpartition("-")
    if rest == "auto":
        return f"{label(kind)}, λ automatic"
    if not rest.isdigit():
        return label(method)
    step = f", step {STEPS['slow']}" if kind.startswith("slow-") else ""
    several = f", {LOWEST_OF} restarts" if kind.startswith("lowest-") else ""
    kind = kind.replace("slow-", "prsb-").replace("lowest-", "prsb-")
    return f"{label(kind)}, λ = {rest}{step}{several}"


def precisions(cells: pd.DataFrame, name: str, method: str) -> list[float]:
    """Average precision of every seed; of a path with one restart also those of the automatic λ.

    The restarts of the automatic λ are such runs, the first of them that of the same seed.
    """
    here = cells[cells["data"] == name]
    mine = here[here["method"] == method]
    if method.endswith("-path") and "of_restarts" in here:
        several = here[here["method"] == method.replace("-path", "-auto")]
        several = several.dropna(subset=["of_restarts"])
        left = mine[~mine["seed"].isin(several["seed"])]
        return [*left["average_precision"], *(v for runs in several["of_restarts"] for v in runs)]
    return mine["average_precision"].tolist()


def table_5(cells: pd.DataFrame) -> str:
    """Table 5: every method of the paper, mean and range over seeds."""
    rows = []
    for method in dict.fromkeys(key[0] for key in TABLE_5):
        found = {name: precisions(cells, name, method) for name in NETWORKS}
        values = [ranged(v, f" ({TABLE_5[method, n][0]:.2f})") for n, v in found.items()]
        rows.append([shown(method), counted([len(v) for v in found.values()]), *values])
    return table(["", "seeds", *_NETS], rows)


def auto_above(cells: pd.DataFrame) -> tuple[str, str]:
    """Write how many means with λ automatic are above the paper's with its rule.

    Also returned: from how many seeds these means are, by base model.
    """
    found = {
        base: [precisions(cells, name, f"prsb-{base}-auto") for name in NETWORKS] for base in BASES
    }
    above = [
        float(np.mean(values)) > TABLE_5[f"prsb-{base}-auto", name][0]
        for base, of_base in found.items()
        for name, values in zip(NETWORKS, of_base, strict=True)
        if values
    ]
    seeds = [f"{LABELS[base]} {counted([len(v) for v in vs])}" for base, vs in found.items()]
    return f"{sum(above)} of {len(above)}", ", ".join(seeds)


def best(cells: pd.DataFrame) -> str:
    """The best of the methods of Table 5 on every network, by their means, ours and the paper's."""
    rows = []
    methods = {method for method, _ in TABLE_5}
    for name in NETWORKS:
        goal = max(TABLE_5[method, name][0] for method in methods)
        mine = cells[(cells["data"] == name) & cells["method"].isin(methods)]
        means = mine.groupby("method")["average_precision"].agg(["mean", "count"])
        if len(means):
            top = str(means["mean"].idxmax())
            value, seeds = means.loc[top]
            rows.append([name, shown(top), len(means), int(seeds), f"{value:.3f}", goal])
    header = ["network", "best method", "of", "seeds", "average precision", "the paper's best"]
    return table(header, rows, text=2)


def by_lambda(cells: pd.DataFrame) -> str:
    """Average precision at every λ, one restart."""
    rows = []
    for base in BASES:
        for value in LAMBDAS:
            found = [precisions(cells, name, f"prsb-{base}-{value}") for name in NETWORKS]
            seeds = counted([len(v) for v in found])
            rows.append([LABELS[base], value, seeds, *map(ranged, found)])
    return table(["", "λ", "seeds", *_NETS], rows)


# ---------------------------------------------------------------------- the paper's rule


class Reading(NamedTuple):
    """How the paper's rule can be read: whose Σα counts, and which α ranks the links."""

    name: str
    size: str  # the column of regulators per gene
    average: bool  # rank by α averaged over stages, not by that of the last stage


READINGS = (
    Reading("mean over the stages", "regulators_mean", True),
    Reading("last stage", "regulators_last", False),
)
STEPS = {"slow": "0.001", "prsb": "0.01"}


def chosen_lambda(cells: pd.DataFrame, name: str, method: str, reading: Reading) -> str | None:
    """The largest λ with more regulators per gene than observed, in the first seed that says so.

    `method` is such as "prsb-knn". None if no seed has all λ and kept their Σα.
    """
    if reading.size not in cells:
        return None
    mine = cells[cells["data"] == name].pivot(index="seed", columns="method", values=reading.size)
    mine = mine.reindex(columns=[f"{method}-{value}" for value in LAMBDAS[1:]]).dropna()
    if mine.empty:
        return None
    sizes = mine.sort_index().iloc[0]
    enough = [v for v, size in zip(LAMBDAS[1:], sizes, strict=True) if size > OBSERVED[name]]
    return enough[-1] if enough else LAMBDAS[1]


class Ruled(NamedTuple):
    """What λ by the paper's rule gives with one base model, step and reading, by network."""

    base: str
    step: str
    reading: str
    lambdas: list[str]
    values: list[list[float]]  # of the seeds
    paper: list[float]

    def name(self) -> list[str]:
        """How a row of a table begins."""
        seeds = counted([len(v) for v in self.values])
        return [LABELS[self.base], self.step, self.reading, seeds]


def by_rule(cells: pd.DataFrame) -> list[Ruled]:
    """The λ of the paper's rule, one restart: every reading that was run on all networks."""
    every = []
    for base in BASES:
        for kind, step in STEPS.items():
            for reading in READINGS:
                found = values_by_rule(cells, f"{kind}-{base}", reading)
                if len(found) == len(NETWORKS):
                    theirs = [TABLE_5[f"prsb-{base}-auto", name][0] for name in NETWORKS]
                    chosen, values = ([*column] for column in zip(*found, strict=True))
                    every.append(Ruled(base, step, reading.name, chosen, values, theirs))
    return every


def rule_table(every: Sequence[Ruled]) -> str:
    """Every network by the paper's rule beside the paper's number (lowest of 20 restarts)."""
    rows = []
    for mine in every:
        values = [
            ranged(v, f" at λ = {chosen} ({theirs:.2f})")
            for chosen, v, theirs in zip(mine.lambdas, mine.values, mine.paper, strict=True)
        ]
        rows.append([*mine.name(), *values])
    return table(["", "step", "α", "seeds", *_NETS], rows, text=3)


def rule_summary(every: Sequence[Ruled]) -> str:
    """How far the paper's rule is from the paper's numbers, on average and beside the seeds."""
    rows = []
    for mine in every:
        gaps = [np.mean(v) - t for v, t in zip(mine.values, mine.paper, strict=True)]
        within = [
            min(v) - 0.005 <= t <= max(v) + 0.005
            for v, t in zip(mine.values, mine.paper, strict=True)
        ]
        several = min(len(v) for v in mine.values) > 1
        rows.append(
            [*mine.name(), f"{np.mean(gaps):+z.3f}", signed(gaps),
             f"{sum(within)} of {len(within)}" if several else "–"]
        )  # fmt: skip
    header = ["", "step", "α", "seeds", "ours minus paper", "by network"]
    return table([*header, "paper within our seeds' range"], rows, text=3)


def values_by_rule(
    cells: pd.DataFrame, method: str, reading: Reading
) -> list[tuple[str, list[float]]]:
    """The λ chosen and the average precisions of all seeds, by network; those that were run."""
    found = []
    for name in NETWORKS:
        chosen = chosen_lambda(cells, name, method, reading)
        if chosen is None:
            continue
        mine = cells[(cells["data"] == name) & (cells["method"] == f"{method}-{chosen}")]
        if reading.average:
            values = mine["average_precision"].tolist()
        else:
            values = [last[0] for last in mine["of_last"].dropna()]
        found.append((chosen, values))
    return found


class Restarts(NamedTuple):
    """What many restarts gave on one network, as average precision; and the paper's number."""

    singles: list[float]
    lowest: float  # of the restart with the lowest objective
    mean: float  # of the average α
    paper: float


def many_restarts(cells: pd.DataFrame, base: str, value: str) -> list[Restarts]:
    """What many restarts gave on every network; nothing if one was not run."""
    mine = cells[cells["method"] == f"lowest-{base}-{value}"].set_index("data")
    if not set(NETWORKS) <= set(mine.index):
        return []
    theirs = f"prsb-{base}-{'0' if value == '0' else 'auto'}"
    found = []
    for name in NETWORKS:
        here = mine.loc[name]
        lowest = here["of_restarts"][int(np.argmin(here["objectives"]))]
        paper = TABLE_5[theirs, name][0]
        found.append(Restarts(here["of_restarts"], lowest, here["average_precision"], paper))
    return found


def lowest_objective(cells: pd.DataFrame) -> str:
    """The restart with the lowest objective of many, as in the paper, the others, and their mean.

    Average precision of α averaged over the stages, by network; those that were run.
    """
    rows: list[list[str]] = []
    for base in BASES:
        for value in LAMBDAS:
            if found := many_restarts(cells, base, value):
                name = [LABELS[base], value]
                rows += [
                    [*name, "single restarts", *(ranged(r.singles) for r in found)],
                    [
                        *name,
                        "lowest objective",
                        *(f"{r.lowest:.3f} ({r.paper:.2f})" for r in found),
                    ],
                    [*name, f"mean α of {LOWEST_OF}", *(f"{r.mean:.3f}" for r in found)],
                ]
    header = ["", "λ", f"of {LOWEST_OF} restarts", *_NETS]
    return table(header, rows, text=3) if rows else "(not run)"


def lowest_in_words(cells: pd.DataFrame, value: str = "0") -> str:
    """Say how far the lowest objective and single restarts are from the paper; kNN."""
    found = many_restarts(cells, "knn", value)
    if not found:
        return "(not run)"
    lowest = [r.lowest - r.paper for r in found]
    single = [float(np.mean(r.singles)) - r.paper for r in found]
    return (
        f"that restart differs from the paper's numbers by {np.mean(lowest):+z.3f} on average "
        f"({signed(lowest)}), a single one by {np.mean(single):+z.3f} ({signed(single)})"
    )


# ---------------------------------------------------------------------- why λ = 0 is lower


def by_stage(cells: pd.DataFrame) -> str:
    """Average precision of α averaged over ten stages, as learning goes on; kNN."""
    rows = []
    for kind, value in (("prsb", "0"), ("slow", "0"), ("prsb", "50"), ("slow", "50")):
        theirs = f"prsb-knn-{'0' if value == '0' else 'auto'}"
        for name in NETWORKS:
            mine = cells[(cells["data"] == name) & (cells["method"] == f"{kind}-knn-{value}")]
            if mine.empty or mine.get("by_stage", pd.Series(dtype=object)).isna().all():
                continue
            shown_values = [_at(mine["by_stage"], n) for n in STAGES]
            what = [f"λ = {value}, step {STEPS[kind]}", name, mine["by_stage"].notna().sum()]
            rows.append([*what, *shown_values, f"{TABLE_5[theirs, name][0]:.2f}"])
    return table(["", "network", "seeds", *map(str, STAGES), "paper"], rows, text=2)


def stages_in_words(cells: pd.DataFrame) -> str:
    """Say at which stage the ranking is best without a penalty, how far it falls, by step; kNN."""
    words = []
    for kind, step in STEPS.items():
        best, falls, gains, apart = [], [], [], []
        for name, path in _paths(cells, f"{kind}-knn-0").items():
            top = max(path, key=lambda stage: path[stage])
            best.append(top)
            falls.append(path[max(path)] - path[top])
            gains.append(path[top] - np.mean(precisions(cells, name, f"{kind}-knn-0")))
            apart.append(path[top] - TABLE_5["prsb-knn-0", name][0])
        if best:
            words.append(
                f"with steps of {step} the ranking is best at stage {counted(best)} and changes by "
                f"{signed(falls)} until the last; with the best stage, picked with the true "
                f"network in hand, it would gain at most {max(gains):.3f}, and would differ from "
                f"the paper's number by {signed(apart)} ({len(best)} networks)"
            )
    return "; ".join(words) or "not run"


def late_in_words(cells: pd.DataFrame, value: str = "50", begin: int = 50) -> str:
    """Say how far the ranking changes after a stage with a penalty, by step; kNN."""
    words = []
    for kind, step in STEPS.items():
        paths = _paths(cells, f"{kind}-knn-{value}").values()
        changes = [path[n] - path[begin] for path in paths for n in path if n > begin]
        if changes:
            words.append(f"by {signed(changes)} with steps of {step}")
    return " and ".join(words) or "(not run)"


def _paths(cells: pd.DataFrame, method: str) -> dict[str, dict[int, float]]:
    """Average precision by stage, mean over seeds, of the networks where it was kept."""
    found = {}
    for name in NETWORKS:
        mine = cells[(cells["data"] == name) & (cells["method"] == method)]
        kept = [] if mine.empty or "by_stage" not in mine else mine["by_stage"].dropna().tolist()
        if kept:
            found[name] = {int(n): float(np.mean([path[n] for path in kept])) for n in kept[0]}
    return found


def signed(values: Sequence[float]) -> str:
    """Write the least and the most of some differences."""
    return f"{min(values):+z.3f} to {max(values):+z.3f}"


def objectives(cells: pd.DataFrame) -> str:
    """Write the held-out objective without a penalty as learning goes on; nothing if not kept."""
    mine = cells[cells["method"] == "prsb-knn-0"].reindex(columns=["objective_by_stage"]).dropna()
    if mine.empty:
        return ""
    at = ", ".join(f"{_at(mine['objective_by_stage'], n)} at stage {n}" for n in (20, 50, 100))
    return f" (held-out objective {at}, mean of {len(mine)} runs)"


def by_samples(cells: pd.DataFrame) -> str:
    """Average precision as learning goes on without a penalty, by number of samples."""
    stages = [n for n in STAGES if n <= SubspaceSettings().n_stages]
    rows = []
    for kind, words in (("hubs", "with hubs"), ("plain", "without hubs")):
        for n in SAMPLES:
            mine = cells[cells["data"].str.startswith(kind) & (cells["samples"] == n)]
            if not mine.empty:
                values = [_at(mine["by_stage"], stage) for stage in stages]
                rows.append([words, n, len(mine), *values])
    return table(["", "samples", "networks", *map(str, stages)], rows)


def by_samples_in_words(cells: pd.DataFrame) -> str:
    """Say how average precision changes late in learning, by number of samples."""
    changes = []
    for n in SAMPLES:
        paths = cells.loc[cells["samples"] == n, "by_stage"] if len(cells) else []
        each = [path["100"] - path["50"] for path in paths]
        if each:
            spread = f"{signed(each)}, {len(each)} networks"
            changes.append(f"with {n} samples by {np.mean(each):+.3f} ({spread})")
    return f"From stage 50 to 100 it changes {' and '.join(changes)}." if changes else ""


def _at(paths: pd.Series, stage: int) -> str:
    """Mean of a value at a stage over the seeds that got there."""
    found = [path[str(stage)] for path in paths.dropna() if str(stage) in path]
    return f"{np.mean(found):.3f}" if found else "–"


# ---------------------------------------------------------------------- the path of λ


def _mean(values: Any) -> str:
    values = list(values)
    if not values:
        return "–"
    spread = f" ± {np.std(values, ddof=1) / len(values) ** 0.5:.3f}" if len(values) > 1 else ""
    return f"{np.mean(values):.3f}{spread}"


class Group(NamedTuple):
    """Networks of one kind, and the average precision of every network by method, over seeds."""

    name: str
    networks: list[str]
    values: dict[str, list[float]]


_COMPARED = ("forest", "prsb-knn-50", "prsb-knn-path", "prsb-knn-auto")


def groups(dream: pd.DataFrame, simulated: pd.DataFrame) -> list[Group]:
    """Networks where the path of λ was chosen, and simulated ones; those that have been run."""
    found = []
    for name, cells, names in (
        ("DREAM4, where the path was chosen", dream, NETWORKS),
        ("simulated, with hubs", simulated, [n for n in SIMULATED if n.startswith("hubs")]),
        ("simulated, without hubs", simulated, [n for n in SIMULATED if n.startswith("plain")]),
    ):
        tried = [(n, *(precisions(cells, n, method) for method in _COMPARED)) for n in names]
        done = [n for n, forest, _, path, auto in tried if forest and (path or auto)]
        values = {
            method: [float(np.mean(v)) for n in done if (v := precisions(cells, n, method))]
            for method in _COMPARED
        }
        found.append(Group(name, done, values))
    return found


def _above(group: Group, method: str) -> str:
    """Write on how many networks a method is above forests; – if it was not run on all."""
    n = len(group.networks)
    if n == 0 or len(group.values[method]) < n:
        return "–"
    pairs = zip(group.values[method], group.values["forest"], strict=True)
    return f"{sum(path > forest for path, forest in pairs)} of {n}"


def path_of_lambda(found: list[Group]) -> str:
    """Forest, one λ, path of λ with one restart, and with four: where it was chosen, and elsewhere.

    Means over networks with their standard errors; – where some network was not run.
    """
    rows = []
    for group in found:
        n = len(group.networks)
        row: list[Any] = [group.name, n]
        for method in _COMPARED:
            row.append(_mean(group.values[method]) if len(group.values[method]) == n else "–")
            if method in _COMPARED[2:]:
                row.append(_above(group, method))
        rows.append(row)
    header = ["", "networks", "forest", "kNN, λ = 50", "kNN, path, one restart", "above forest"]
    return table([*header, "kNN, path, 4 restarts", "above forest"], rows)


def elsewhere(found: list[Group]) -> str:
    """Write how the path does on networks that nothing was chosen on."""
    words = []
    for group in found[1:]:
        name, forests = group.name.removeprefix("simulated, "), group.values["forest"]
        shown = [
            f"{np.mean(group.values[method]):.2f} with {restarts} "
            f"(above forests on {_above(group, method)} networks)"
            for method, restarts in (("prsb-knn-path", "one restart"), ("prsb-knn-auto", "four"))
            if group.values[method]
        ]
        if shown:
            words.append(f"{name} {' and '.join(shown)}, forests {np.mean(forests):.2f}")
    return "; ".join(words) or "not run"


def each_simulated(cells: pd.DataFrame) -> str:
    """Every simulated network: forest and path of λ."""
    rows = []
    for name in sorted(SIMULATED):
        values = [precisions(cells, name, m) for m in ("forest", "prsb-knn-path", "prsb-knn-auto")]
        if values[0] and values[1]:
            kind, _, number = name.partition("-")
            what = "with hubs" if kind == "hubs" else "without hubs"
            rows.append([f"{what}, {number}", *map(ranged, values)])
    return table(["", "forest", "kNN, path, one restart", "kNN, path, 4 restarts"], rows)
