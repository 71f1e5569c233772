"""How many selected features are false, and who keeps the promise? Ours, the peers, plain tests.

python experiments/error_control.py            # hours on two cores; resumes from finished parts
python experiments/error_control.py --quick    # a look, in a temporary folder
python experiments/error_control.py --only "mainstay, F-test" "Boruta"    # some methods

Populations with known truth (see _error_data): 1,000 features, none or 20 of them in the model,
four designs, n = 100, 200, 500; continuous and class targets. Every method gets the same data
sets; slow ones get fewer of them. The peers need the extra: pip install "mainstay[peers]".
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from _cells import Cells
from _common import arguments, log, write
from _error_data import Cell, Sample, all_cells, draw
from _error_methods import METHODS, Method, Named
from _error_tables import page


@dataclass(frozen=True)
class Part:
    """Some data sets of a cell for one method: what is computed and kept together."""

    cell: Cell
    method: str
    first: int
    last: int

    @property
    def key(self) -> tuple[str, ...]:
        """Under which its results are kept."""
        return (self.method, self.cell.name, str(self.first))

    @property
    def about(self) -> dict[str, Any]:
        """What every row of its results says."""
        cell = self.cell
        return {"method": self.method, "target": cell.target, "design": cell.design,
                "n": cell.n, "signal": cell.signal}  # fmt: skip


def all_parts(methods: Iterable[Method], cells: list[Cell], quick: bool) -> list[Part]:
    """Everything in rounds, so that stopping at any time leaves a balanced table.

    Cells without signal, where a promise is easiest to judge, run ahead.
    """
    parts = []
    for method in methods:
        for cell in cells:
            wanted = min(method.n_sets(cell), 2 if quick else 10**6)
            parts += [
                Part(cell, method.name, first, min(first + method.chunk, wanted))
                for first in range(0, wanted, method.chunk)
            ]

    def turn(part: Part) -> tuple[float, bool, int]:
        is_noise = part.cell.signal == "noise"
        return part.first / (2.5 if is_noise else 1), not is_noise, part.cell.n

    return sorted(parts, key=turn)


# ---------------------------------------------------------------------- what is measured


def score(named: Named, sample: Sample) -> dict[str, int]:
    """How many were selected, how many of them are false, how many true features were found.

    A group is false if none of its members is related to y; a true feature is found with its group.
    """
    counted: dict[str, int] = {"found": int((named.mask & sample.conditional).sum())}
    labels = np.arange(len(named.mask)) if named.groups is None else named.groups
    chosen = np.unique(labels[named.mask])
    counted["selected"] = len(chosen)
    for name, truth in (("marginal", sample.marginal), ("conditional", sample.conditional)):
        counted[name] = int((~np.isin(chosen, labels[truth])).sum())
    return counted


def run_part(part: Part, seed: int) -> list[dict[str, Any]]:
    """One row per data set and rule."""
    warnings.simplefilter("ignore")  # peers on recent versions of their dependencies
    method = METHODS[part.method]
    rows = []
    for number in range(part.first, part.last):
        sample = draw(part.cell, number, seed)
        start = time.process_time()
        found = method.run(sample.X, sample.y, part.cell.task, 1000 * seed + number)
        seconds = time.process_time() - start
        rows += [
            {"number": number, "rule": rule, "seconds": seconds, **score(named, sample)}
            for rule, named in found.items()
        ]
    return rows


def work(key: tuple[str, ...], by_key: dict[tuple[str, ...], Part], seed: int) -> dict[str, Any]:
    """What is kept of a part."""
    return {"rows": run_part(by_key[key], seed)}


def kept_rows(part: Part, found: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows of a part: one per data set and rule."""
    return [part.about | row for row in found["rows"] if row["number"] < part.last]


def main() -> None:
    options = arguments(__doc__ or "", cache=True, resumable=True, only=tuple(METHODS))
    methods = [method for method in METHODS.values() if method.name in options.only]
    missing = [method.name for method in methods if not method.installed]
    if missing:
        log(f"not installed, left out: {', '.join(missing)}; see the extra 'peers'")
    able = [m for m in methods if m.installed or options.report_only]
    parts = all_parts(able, all_cells(), options.quick)
    by_key = {part.key: part for part in parts}
    store = Cells(options, "error_control", "parts")
    store.compute(list(by_key), partial(work, by_key=by_key, seed=options.seed))
    store.pack()
    found = store.found(list(by_key))
    rows = [row for key, result in found.items() for row in kept_rows(by_key[key], result)]
    write("error_control.md", options, page(rows))
    log(f"{len(found)} of {len(parts)} parts")


if __name__ == "__main__":
    main()
