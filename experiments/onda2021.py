"""Regenerate the results of Onda, Gao, Kotera and Oono (2021), next to what the paper reports.

python experiments/onda2021.py                # 20 minutes of CPU time and section 9; cells are kept
python experiments/onda2021.py --report-only  # what has been computed so far
python experiments/onda2021.py --quick        # a look, in a temporary folder: two minutes
"""

from __future__ import annotations

from functools import partial
from typing import Any

import _onda_curves as curves
import _onda_estimates as estimates
import _onda_explained as explained
from _cells import Cell
from _common import arguments, table, write
from _figures import use_look
from _onda_bank import RANKERS
from _onda_counts import DRAWS
from _onda_errors import REPEATS, error_cells, error_sections, errors_of, forecast_errors
from _onda_experiment import Experiment
from _onda_paper import CORRECTED, CORRECTED_J, N_USEFUL, REAL, REAL_TREES, SIMULATED, STABILITY, P

Row = tuple[str, float, float, float | None, str]
# what, the paper's number, ours, how far they may be apart, what ours comes from
DATA, SHAPE, FORMULA = "data", "shape of the data", "formula, paper's inputs"


def main_numbers(values: dict[str, Any]) -> list[Row]:
    """Collect the numbers that the paper's text gives, with ours."""
    single, parts, real = values["single"], values["parts"], values["real"]
    rows: list[Row] = []
    for name, t in values["t_uniform"].iterrows():
        error = 2 * t["paper_sd"] / DRAWS**0.5
        rows.append((f"t_uniform, {name} (Table 4)", t["paper"], t["ours"], error, SHAPE))
    for name in parts:
        found, apart = single.loc[(name, 300)], values["apart"].loc[(name, 300)]
        error = abs(apart["apart"] / apart["redrawn"])
        text = f"n_useful, {name}, 300 trees (Table 2)"
        rows.append((text, found["paper"], found["n_useful"], 2 * error, DATA))
    for name in parts:
        ours = single.loc[(name, 300), "J"]
        text = f"J of single forests, {name}, 300 trees"
        rows.append((text, STABILITY[name][0], ours, STABILITY[name][1], DATA))
    for name in ("Colon", "Lymphoma"):
        text = f"p, {name}, from the paper's J and n_useful"
        rows.append((text, P[name], parts[name]["p"], None, FORMULA))
        text = f"n_useful counted again, {name} (Fig. 8)"
        rows.append((text, N_USEFUL[name], parts[name]["again"], None, FORMULA))
    again = values["corrected"]["again"]
    rows.append(("n_useful counted again, Prostate (Fig. 11)", CORRECTED, again, None, FORMULA))
    for name in ("Colon", "Prostate"):
        ours = values["plateaus"][name]
        text = f"J of large simulated ensembles, {name} (Fig. 9)"
        rows.append((text, SIMULATED[name], ours, None, FORMULA))
    ours = values["corrected_plateau"]
    rows.append(("the same, Prostate, n_useful = 130 (Fig. 11)", CORRECTED_J, ours, None, FORMULA))
    for name in ("Colon", "Prostate"):
        trees = list(REAL_TREES[name])
        ours = float(real[name].iloc[-1][trees].mean())
        text = f"J of large real ensembles, {name}, {trees[0]} to {trees[-1]} trees (Fig. 10)"
        rows.append((text, REAL[name], ours, None, DATA))
    return [*rows, *((*row, DATA) for row in values["mtry_numbers"])]


def summary(values: dict[str, Any]) -> dict[str, Any]:
    """Put the paper's numbers beside ours and say which are within their margin."""
    cells: list[tuple[str, ...]] = []
    for what, paper, ours, margin, source in main_numbers(values):
        digits = len(f"{paper:g}".partition(".")[2])
        if margin is None:
            same = abs(ours - paper) <= 0.1 * paper or round(ours, digits) == paper
        else:
            same = abs(ours - paper) <= margin
        fine = margin is not None and margin < 0.1
        shown = f"{ours:.{3 if fine else max(digits, 1) + (digits < 3)}f}"
        mark = "✓" if same else "**no**"
        cells.append((what, source, f"{paper:g}", shown, _margin(what, margin), mark))
    return _counted(cells)


def _margin(what: str, margin: float | None) -> str:
    """Say how far apart numbers may be, and what this margin is."""
    if margin is None:
        return "10%, or the digits given"
    kind = "plotted, Fig. 8" if what.startswith("J of single") else "two errors"
    return f"{margin:.2g} ({kind})"


def _counted(cells: list[tuple[str, ...]]) -> dict[str, Any]:
    """Write the table of numbers, and how many are within the margin, by what they come from."""
    good = [source for _, source, *_, mark in cells if mark == "✓"]
    return {
        "summary": table(["", "ours from", "paper", "ours", "margin", "within"], cells, text=2),
        "n_good": len(good),
        "n_numbers": len(cells),
        "n_data": good.count(DATA) + good.count(SHAPE),
        "n_shape": good.count(SHAPE),
        "n_formula": good.count(FORMULA),
    }


def costs(seconds: dict[str, float], errors: dict[Cell, dict[str, Any]]) -> dict[str, Any]:
    """CPU minutes by part, and which cells of section 9 have no time: those of an earlier run."""
    untimed = sum(not cell["seconds"] for cell in errors.values())
    carried = (
        f" {untimed} of the {len(errors)} cells of section 9 are carried over from a run of an "
        "earlier session, made before cells and times were kept; their cost is not known."
    )
    return {
        "cost": sum(seconds.values()) / 60,
        "cost_errors": seconds["errors"] / 60,
        "cost_others": (sum(seconds.values()) - seconds["errors"]) / 60,
        "carried": carried if untimed else "",
    }


def main() -> None:
    """Regenerate all results."""
    options = arguments(__doc__, cache=True, resumable=True)
    use_look()
    run = Experiment(options)
    values: dict[str, Any] = {"size": run.size}
    values |= estimates.thresholds(run) | estimates.useful_features(run)
    values |= estimates.parameters(run, values["single"]) | estimates.by_mtry(run)
    values |= estimates.budget(run) | estimates.variants(run)
    values |= curves.curves(run) | explained.theorem()
    values |= explained.explained(
        run, values["banks"], values["bootstrap_useful"], values["found"], values["seeds"]
    )
    values |= estimates.corrected(run, values["real"]["Prostate"])
    values |= (
        curves.wide_mtry(run, values["real"])
        | curves.accuracies(run, values["found"])
        | curves.times(run)
    )
    repeats = 2 if options.quick else REPEATS
    wanted = error_cells(["F-score"] if options.quick else RANKERS)
    found = run.part("errors", wanted, partial(errors_of, repeats=repeats))
    errors = forecast_errors(found)
    run.save("forecast_errors", errors)
    values |= error_sections(errors, repeats) | costs(run.seconds, found)
    write("onda2021.md", options, values | summary(values))


if __name__ == "__main__":
    main()
