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
from operator import itemgetter
from typing import Any

import numpy as np
from _cells import Cells
from _common import arguments, log, write
from _error_data import Cell, Sample, all_cells, draw
from _error_measures import broken_cells
from _error_methods import FURTHER, METHODS, Method, Named, is_small
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
                "n": cell.n, "signal": cell.signal, "p": cell.p}  # fmt: skip


def parts_of(method: Method, cell: Cell, first: int, last: int) -> list[Part]:
    """Data sets first … last − 1, as many in a part as the method says."""
    return [
        Part(cell, method.name, at, min(at + method.chunk, last))
        for at in range(first, last, method.chunk)
    ]


def all_parts(methods: Iterable[Method], cells: list[Cell], quick: bool) -> list[Part]:
    """Everything in rounds, so that stopping at any time leaves a balanced table.

    Cells without signal, where a promise is easiest to judge, run ahead but for peers. Methods
    follow each other on the same data sets, which are drawn once.
    """
    keyed = []
    for place, cell in enumerate(cells):
        is_noise = cell.signal == "noise"
        for method in methods:
            ahead = 5 if is_noise and method.family != "peer" else 1
            wanted = min(method.n_sets(cell), 2 if quick else 10**6)
            later = method.later + (0 if is_small(cell) else method.later_if_large)
            for part in parts_of(method, cell, 0, wanted):
                turn = later + part.first / ahead
                keyed.append(((turn, not is_noise, cell.n, place), part))
    return [part for _, part in sorted(keyed, key=itemgetter(0))]


def further_parts(rows: list[dict[str, Any]], methods: Iterable[Method]) -> list[Part]:
    """Fresh data sets for cells in which a promise was seen to break, for who is judged again."""
    broken = broken_cells(rows)
    parts = []
    for method in methods:
        for cell in broken.get(method.name, ()) if method.judged_again else ():
            first = method.n_sets(cell)
            parts += parts_of(method, cell, first, first + FURTHER)
    return parts


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
    store = Cells(options, "error_control", "parts")
    rows = rows_of(parts, store, options.seed)
    if not options.quick:
        rows += rows_of(further_parts(rows, able), store, options.seed)
    store.pack()
    write("error_control.md", options, page(rows, options.output))


def rows_of(parts: list[Part], store: Cells, seed: int) -> list[dict[str, Any]]:
    """Compute what is missing of some parts; rows of what there is, one per data set and rule."""
    by_key = {part.key: part for part in parts}
    store.compute(list(by_key), partial(work, by_key=by_key, seed=seed))
    found = store.found(list(by_key))
    log(f"{len(found)} of {len(parts)} parts")
    return [row for key, result in found.items() for row in kept_rows(by_key[key], result)]


if __name__ == "__main__":
    main()
