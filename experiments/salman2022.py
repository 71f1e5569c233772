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
from _salman_claims import SHOWN, accuracy_claims
from _salman_data import FILTERS, GENERATED, MORE, MULTICLASS, SETS, SINGLE, read
from _salman_errors import jackknife_error, split_errors, with_errors
from _salman_figures import plot_accuracy, plot_stability, plot_stuart
from _salman_paper import FEATURES
from _salman_stability import (
    both_filters,
    jaccard_by_threshold,
    of_sets,
    outer,
    pair_claims,
    stability_claims,
)

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
    by = more.groupby(["data", "rule"])["accuracy"].mean().unstack()
    by = by.reindex(index=[name for name in MORE if name in by.index], columns=SHOWN)
    n_splits = every.groupby("data")["split"].nunique()
    return accuracy_claims(ours, mean) | {
        "accuracy_more": with_errors(by, split_errors(more)),
        "n_splits": _from_to(n_splits.loc[list(SETS)]),
        "n_splits_more": _from_to(n_splits.reindex(MORE)),
    }


def _from_to(counts: Any) -> str:
    low, high = int(min(counts)), int(max(counts))
    return str(low) if low == high else f"{low} to {high}"


# ---------------------------------------------------------------------- stability


def stability_study(run: Experiment, accuracy: pd.DataFrame) -> dict[str, Any]:
    """Figures 15 to 20, and the harder test on halves."""
    ranks = run.part("stability", cells.all_stability_cells(run.size), cells.part_ranks)
    found = {filter_: outer(ranks, filter_, "fold") for filter_ in cells.STUDIED}
    halves = outer(ranks, "information_gain", "half")
    frames = {filter_: measured.values for filter_, measured in found.items()}
    run.draw("stability", plot_stability(frames))
    values: dict[str, Any] = {"half_table": halves.table("Spearman", SETS)}
    for filter_, measured in found.items():
        values[f"{filter_}_tables"] = "\n\n".join(
            f"*{FILTERS[filter_]}, {what}*\n\n{measured.table(what, SETS)}" for what in MEASURES
        )
        values[f"{filter_}_more"] = measured.table("Spearman", MORE, mean=False)
        ours = of_sets(measured.values, SETS)
        by_top, error = jaccard_by_threshold(ours)
        values |= {f"{filter_}_jaccard": by_top, f"{filter_}_jaccard_error": error}
        values |= stability_claims(filter_, ours)
    small = [p < 0.05 for f in found for p in values[f"{f}_p"]]
    values["anova_verdict"] = verdict(True if all(small) else None if any(small) else False)
    values |= pair_claims(of_sets(frames["information_gain"], SETS))
    values |= both_filters(frames, accuracy)
    gap = halves.values["Spearman"].unstack("rule")
    values["half_gap"] = _mean_error(gap["arithmetic mean"] - gap[SINGLE])
    values["half_stuart"] = _mean_error(gap["Stuart"] - gap["arithmetic mean"])
    values["n_halves"] = _from_to(halves.parts.values())
    values["budget"] = _budget(run.size, {f: measured.parts for f, measured in found.items()})
    return values


def _mean_error(values: pd.Series) -> str:
    return f"{values.mean():+.3f} ± {values.sem():.3f}"


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
    stable = {
        key: ms.stability(ms.Runs.from_ranks([f[key] for f in folds]), "spearman") for key in kinds
    }
    found: dict[str, Any] = {key: estimate.value for key, estimate in stable.items()}
    found |= {f"{k}_error": jackknife_error(estimate.pairwise) for k, estimate in stable.items()}
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
        kinds = [
            f"{s[k]:.3f} ± {s[f'{k}_error']:.3f}" for k in ("exact", "recursion", "mean", "first")
        ]
        error = "no number" if s["nan"] == 1 else f"{s['error']:.0e}".replace("inf", "∞")
        rows.append((m, error, *shares, f"{s['same']} of {folds}", *kinds))
    return table(header, rows, text=0)


def data_sets() -> dict[str, Any]:
    """Sizes of the data sets, beside those of the paper's Table 1."""
    rows, more = [], dict[int, list[str]]()
    for name in cells.EVERY:
        X, y = read(name)
        source = "optdigits" if name == MULTICLASS else name
        before = X.shape[1] if name in GENERATED else load(f"wam12/{source}")[0].shape[1]
        share = f"{y.mean():.1%}" if name in SETS else "–"
        paper = FEATURES.get(name)
        if paper and paper > before:
            more.setdefault(paper - before, []).append(name)
        shape = (len(y), paper or "–", before, X.shape[1])
        rows.append((name, *shape, len(np.unique(y)), share))
    head = ["", "rows", "features, paper", "columns", "columns kept", "classes", "class 1"]
    return {
        "sets_table": table(head, rows),
        "more_features": "; ".join(f"{n} more: {', '.join(s)}" for n, s in sorted(more.items())),
    }


def main() -> None:
    """Regenerate all results."""
    options = arguments(__doc__, cache=True, resumable=True)
    use_look()
    run = Experiment(options)
    values = data_sets() | {"size": run.size | {"seed": options.seed}, "n_sets": len(SETS)}
    values |= stuart_study(run) | accuracy_study(run)
    values |= stability_study(run, values["accuracy_cases"])
    write("salman2022.md", options, values | {"cost": run.seconds / 60})


if __name__ == "__main__":
    main()
