"""Regenerate the results of Salman, Alzaatreh and Sulieman (2022), next to what the paper reports.

python experiments/salman2022.py                # half an hour of CPU time; every cell is kept
python experiments/salman2022.py --report-only  # what has been computed so far
python experiments/salman2022.py --quick        # a look, in a temporary folder: a minute
"""

from __future__ import annotations

from functools import partial
from typing import Any

import _salman_cells as cells
import numpy as np
import pandas as pd
from _cells import Cell, Cells
from _common import arguments, load, table, verdict, write
from _figures import save_figure, use_look
from _salman_claims import accuracy_claims, filled, stability_claims
from _salman_data import FILTERS, GENERATED, MORE, MULTICLASS, RULES, SETS, SINGLE, read
from _salman_figures import LOOK, plot_accuracy, plot_stability, plot_stuart

import mainstay as ms

MEASURES = ("Spearman", "1 − Canberra", "Canberra distance", "Jaccard")


class Experiment:
    """Cells of one part after the other, computed if need be, and what they cost."""

    def __init__(self, options: Any) -> None:
        self.options, self.size = options, cells.sizes(options.quick)
        self.seconds = 0.0

    def part(self, name: str, wanted: list[Cell], work: Any) -> dict[Cell, dict[str, Any]]:
        """Compute the missing cells of a part and return all that are there."""
        store = Cells(self.options, "salman2022", name)
        store.compute(wanted, partial(work, size=self.size, seed=self.options.seed))
        store.pack()
        found = store.found(wanted)
        self.seconds += sum(cell["seconds"] for cell in found.values())
        return found

    def draw(self, name: str, figure: Any) -> None:
        """Write a figure."""
        save_figure(figure, self.options.output, f"salman2022_{name}.png")


# ---------------------------------------------------------------------- accuracy


def accuracy_study(run: Experiment) -> dict[str, Any]:
    """Figures 3 to 14."""
    found = run.part("accuracy", cells.accuracy_cells(run.size), cells.accuracies)
    rows = [
        {"data": name, "split": split, "filter": f, "rule": rule, "tenth": t, "accuracy": x}
        for (name, split), cell in found.items()
        for f, rule, *hits in cell["accuracy"]
        for t, x in zip(cells.TENTHS, hits, strict=True)
    ]
    every = pd.DataFrame(rows)
    ours = every[every["data"].isin(SETS)]
    mean = ours.groupby(["data", "filter", "rule", "tenth"])["accuracy"].mean()
    run.draw("accuracy", plot_accuracy(mean))
    more = every[every["data"].isin(MORE) & (every["tenth"] < 10)]
    shown = [*RULES, SINGLE]
    by = more.groupby(["data", "rule"])["accuracy"].mean().unstack()
    by = by.reindex(index=[name for name in MORE if name in by.index], columns=shown)
    n_splits = every.groupby("data")["split"].nunique()
    return accuracy_claims(ours, mean) | {
        "accuracy_more": filled(by, mean=False),
        "n_splits": _from_to(n_splits.loc[list(SETS)]),
        "n_splits_more": _from_to(n_splits.reindex(MORE)),
    }


def _from_to(counts: Any) -> str:
    low, high = int(min(counts)), int(max(counts))
    return str(low) if low == high else f"{low} to {high}"


# ---------------------------------------------------------------------- stability


def measure(parts: list[dict[str, Any]]) -> pd.DataFrame:
    """Stability of every rule over the outer parts."""
    rows = {}
    for rule in parts[0]:
        runs = ms.Runs.from_ranks(np.array([part[rule] for part in parts]))
        p = runs.n_features
        canberra = ms.stability(runs, "canberra")
        tops = [ms.stability(runs, f"jaccard@{-(-t * p // 10)}").value for t in cells.TENTHS[:-1]]
        rows[rule] = {
            "Spearman": ms.stability(runs, "spearman").value,
            "1 − Canberra": canberra.value,
            "Canberra distance": canberra.canberra_distance,
            "Jaccard": np.mean(tops),
        } | {f"Jaccard {10 * t}%": x for t, x in zip(cells.TENTHS, tops, strict=False)}
    return pd.DataFrame(rows).T


def outer(
    found: dict[Cell, dict[str, Any]], filter_: str, kind: str
) -> tuple[pd.DataFrame, dict[str, int]]:
    """Stability over the training parts of folds, or over halves; how many parts each set has."""
    by_set: dict[str, list[Any]] = {}
    for (name, *about, _), cell in found.items():
        if about == [filter_, kind]:
            by_set.setdefault(name, []).append(cell["ranks"])
    by_set = {name: parts for name, parts in by_set.items() if len(parts) > 1}
    frames = {name: measure(parts) for name, parts in by_set.items()}
    return pd.concat(frames, names=["data", "rule"]), {n: len(p) for n, p in by_set.items()}


def by_rule(frame: pd.DataFrame, what: str, names: tuple[str, ...], mean: bool = True) -> str:
    """One row per data set, one column per rule."""
    wide = frame[what].unstack("rule")
    return filled(wide.reindex(index=[n for n in names if n in wide.index], columns=LOOK), mean)


def stability_study(run: Experiment) -> dict[str, Any]:
    """Figures 15 to 20, and the harder test on halves."""
    ranks = run.part("stability", cells.all_stability_cells(run.size), cells.part_ranks)
    found, parts = {}, {}
    for filter_ in cells.STUDIED:
        found[filter_], parts[filter_] = outer(ranks, filter_, "fold")
    halves, n_halves = outer(ranks, "information_gain", "half")
    run.draw("stability", plot_stability(found))
    values: dict[str, Any] = {"half_table": by_rule(halves, "Spearman", SETS)}
    for filter_, frame in found.items():
        values[f"{filter_}_tables"] = "\n\n".join(
            f"*{FILTERS[filter_]}, {what}*\n\n{by_rule(frame, what, SETS)}" for what in MEASURES
        )
        values[f"{filter_}_more"] = by_rule(frame, "Spearman", MORE, mean=False)
        ours = frame[frame.index.get_level_values("data").isin(SETS)]
        tops = [c for c in ours if str(c).startswith("Jaccard ")]
        by_top = ours[tops].groupby("rule").mean().loc[list(LOOK)]
        values[f"{filter_}_jaccard"] = table(
            ["", *[c.split()[1] for c in tops]],
            [(r, *[f"{x:.3f}" for x in by_top.loc[r]]) for r in LOOK],
        )
        values |= stability_claims(filter_, ours)
    small = [p < 0.05 for f in found for p in values[f"{f}_p"]]
    values["anova_verdict"] = verdict(True if all(small) else None if any(small) else False)
    gap = halves["Spearman"].unstack("rule")
    values["half_gap"] = (gap["arithmetic mean"] - gap[SINGLE]).mean()
    values["half_stuart"] = (gap["Stuart"] - gap["arithmetic mean"]).mean()
    values["n_halves"] = _from_to(n_halves.values())
    values["budget"] = _budget(run.size, parts)
    return values


def _budget(size: dict[str, Any], parts: dict[str, dict[str, int]]) -> str:
    rows = []
    for name in cells.EVERY:
        row: list[Any] = [name]
        for filter_ in cells.STUDIED:
            count = size[filter_][cells.GROUP_OF[name]][0]
            row += [count, parts[filter_].get(name, 0)]
        rows.append(row)
    header = ["", "information gain: bootstraps", "training parts"]
    return table([*header, "mRMR: bootstraps", "training parts"], rows)


# ---------------------------------------------------------------------- Stuart's recursion


def stuart_study(run: Experiment) -> dict[str, Any]:
    """Both ways of computing Stuart's Q on ionosphere, information gain and mRMR."""
    found = run.part("stuart", cells.stuart_cells(run.size), cells.stuart_fold)
    values: dict[str, Any] = {"stuart_folds": run.size["stuart_folds"]}
    for filter_ in cells.STUDIED:
        folds = [cell["lists"] for (name, _), cell in found.items() if name == filter_]
        stable = {m: _of_lists([fold[i] for fold in folds]) for i, m in enumerate(cells.LISTS)}
        values[f"stuart_table_{filter_}"] = _stuart_table(stable, len(folds))
        values[f"stuart_{filter_}"] = stable
    stable = values["stuart_information_gain"]
    run.draw("stuart", plot_stuart(stable))
    return values | {
        "same_verdict": verdict(stable[1000]["same"] == run.size["stuart_folds"] or None),
        "error_verdict": verdict(
            (stable[30]["error"] < 3e-4 and not stable[40]["outside"]) or None
        ),
        "first_outside": min(m for m, s in stable.items() if s["outside"]),
        "unstable_verdict": verdict(stable[1000]["exact"] < stable[1000]["mean"] - 0.02),
    }


def _of_lists(folds: list[dict[str, Any]]) -> dict[str, Any]:
    """Stability over the folds for one number of lists, and what became of Q."""
    kinds = ("exact", "recursion", "mean", "first")
    found: dict[str, Any] = {
        key: ms.stability(ms.Runs.from_ranks([f[key] for f in folds]), "spearman").value
        for key in kinds
    }
    found |= {k: np.mean([f[k] for f in folds]) for k in ("outside", "nan", "between")}
    return found | {
        "error": max(f["error"] for f in folds),
        "same": sum(f["same"] for f in folds),
    }


def _stuart_table(stable: dict[int, dict[str, Any]], folds: int) -> str:
    compared = ("exact Q", "recursion", "arithmetic mean", "first bootstrap")
    header = [
        "bootstraps", "largest relative error", "outside [0, 1] or NaN", "NaN",
        "Spearman of the two orders", "order of the first bootstrap",
        *(f"stability: {what}" for what in compared),
    ]  # fmt: skip
    rows = []
    for m, s in stable.items():
        shares = (f"{s['outside']:.2%}", f"{s['nan']:.2%}", f"{s['between']:.3f}")
        kinds = [f"{s[k]:.3f}" for k in ("exact", "recursion", "mean", "first")]
        error = "no number" if s["nan"] == 1 else f"{s['error']:.0e}".replace("inf", "∞")
        rows.append((m, error, *shares, f"{s['same']} of {folds}", *kinds))
    return table(header, rows, text=0)


def main() -> None:
    """Regenerate all results."""
    options = arguments(__doc__, cache=True, resumable=True)
    use_look()
    run = Experiment(options)
    shapes = []
    for name in cells.EVERY:
        X, y = read(name)
        source = "optdigits" if name == MULTICLASS else name
        before = X.shape[1] if name in GENERATED else load(f"wam12/{source}")[0].shape[1]
        share = f"{y.mean():.1%}" if name in SETS else "–"
        shapes.append((name, len(y), before, X.shape[1], len(np.unique(y)), share))
    header = ["", "rows", "columns", "columns kept", "classes", "class 1"]
    values = {
        "sets_table": table(header, shapes),
        "size": run.size | {"seed": options.seed},
        "n_sets": len(SETS),
    }
    values |= stuart_study(run) | stability_study(run) | accuracy_study(run)
    write("salman2022.md", options, values | {"cost": run.seconds / 60})


if __name__ == "__main__":
    main()
