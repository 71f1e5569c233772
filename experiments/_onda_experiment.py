"""One run of onda2021: which cells are wanted, what they hold, and where results go."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from _cells import Cell, Cells
from _figures import save_figure
from _onda_ensembles import SIZES as ENSEMBLES
from _onda_ensembles import accuracy, ensemble_fold, estimates_of
from _onda_forests import KINDS, TREES, Data, check_trees, from_steps, read, single_forests
from _onda_paper import FILES
from PIL import Image

# folds, weak selectors of an ensemble, repetitions of single forests and of their variants, calls
# of RandomForestClassifier that are timed
SIZES = {"folds": 999, "weak": 50, "repetitions": 8, "variants": 1, "timed": 3}
QUICK = {"folds": 14, "weak": 5, "repetitions": 2, "variants": 1, "timed": 1}
VARIANTS = tuple(kind for kind in KINDS if kind != "half")
MTRY = ("0.01", "0.1")  # on Colon (Fig. 14); "sqrt" everywhere
TURN = 12  # folds
WIDER = ("0.02", "0.05")  # on Prostate: would a wider choice explain its n_useful?


class Curves(NamedTuple):
    """Stability of ensembles by size and trees, as estimates; accuracy, number of folds."""

    estimates: pd.DataFrame
    accuracy: pd.DataFrame | None
    folds: int

    @property
    def stability(self) -> pd.DataFrame:
        """The values of the estimates."""
        return self.estimates.map(lambda e: e.value)

    @property
    def errors(self) -> pd.DataFrame:
        """Their standard errors, a jackknife over folds."""
        return self.estimates.map(lambda e: e.standard_error)


class Experiment:
    """What all parts read."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.size = QUICK if options.quick else SIZES
        self.sets = {name: read(name) for name in FILES}
        self.folder = options.output / "onda2021"
        self.folder.mkdir(exist_ok=True)
        if not options.report_only:
            check_trees(self.sets["Colon"])
        self.seconds: dict[str, float] = {}  # of CPU, by part
        folds, seed = self.size["folds"], options.seed
        work = partial(single_forests, folds=folds, seed=seed)
        self._single = self.part("single", self._single_cells(), work)
        fold = partial(ensemble_fold, weak=self.size["weak"], seed=seed)
        self._folds = self.part("ensembles", self._ensemble_cells(), fold)

    def part(self, name: str, wanted: list[Cell], work: Any) -> dict[Cell, dict[str, Any]]:
        """Compute the missing cells of a part and return all that are there."""
        store = Cells(self.options, "onda2021", name)
        store.compute(wanted, work)
        store.pack()
        found = store.found(wanted)
        self.seconds[name] = sum(cell["seconds"] for cell in found.values())
        return found

    def _single_cells(self) -> list[Cell]:
        half, few = (map(str, range(self.size[n])) for n in ("repetitions", "variants"))
        half, few = list(half), list(few)
        cells = [(name, "sqrt", "half", i) for i in half for name in self.sets]
        cells += [("Colon", mtry, "half", i) for mtry in MTRY for i in half]
        for i in few:
            cells += [(name, "sqrt", kind, i) for kind in VARIANTS for name in self.sets]
            cells += [("Prostate", mtry, "half", i) for mtry in WIDER]
            cells += [("Colon", "0.1", kind, i) for kind in VARIANTS]
        return cells

    def _ensemble_cells(self) -> list[Cell]:
        """Folds in random order, so that those that are there are a random part of all.

        In turns of `TURN` folds of every setting, so that a run that was stopped has some of each.
        """
        orders = {name: self._order(data) for name, data in self.sets.items()}
        cells: list[Cell] = []
        for start in range(0, max(map(len, orders.values())), TURN):
            for mtry, kind, names in (
                ("sqrt", "bootstrap", tuple(orders)),
                ("sqrt", "half", ("Colon",)),
                ("0.1", "bootstrap", tuple(orders)),
            ):
                for i in range(start, start + TURN):
                    cells += [(n, mtry, kind, str(f)) for n in names for f in orders[n][i : i + 1]]
        return cells

    def _order(self, data: Data) -> np.ndarray:
        order = np.random.default_rng([self.options.seed, data.n_features])
        return order.permutation(data.n_samples)[: self.n_runs(data)]

    def n_runs(self, data: Data) -> int:
        """Count the folds: the paper's m_stability."""
        return min(self.size["folds"], data.n_samples)

    def single(self, data: Data, mtry: str = "sqrt", kind: str = "half") -> np.ndarray:
        """Return the selections of single forests: repetitions × trees × folds × k."""
        found = [
            from_steps(cell["selected"])
            for (name, *rest, _), cell in self._single.items()
            if name == data.name and rest == [mtry, kind]
        ]
        return np.array(found).transpose(0, 2, 1, 3) if found else np.empty((0, len(TREES), 0, 0))

    def ensembles(
        self, data: Data, mtry: str = "sqrt", kind: str = "bootstrap"
    ) -> dict[str, np.ndarray]:
        """Return what ensembles select, trees × sizes × folds × k, and what else is known."""
        cells = {
            int(left_out): cell
            for (name, *rest, left_out), cell in self._folds.items()
            if name == data.name and rest == [mtry, kind]
        }
        cells = dict(sorted(cells.items()))
        selected = np.array([from_steps(cell["selected"]) for cell in cells.values()])
        return {
            "selected": selected.transpose(1, 2, 0, 3) if cells else np.empty((0, 0, 0, 0)),
            "sizes": np.array([m for m in ENSEMBLES if m <= self.size["weak"]]),
            "left_out": np.array(list(cells), dtype=int),
            "hits": np.array([c["hits"] for c in cells.values() if "hits" in c]),
        }

    def curves(self, data: Data, mtry: str = "sqrt", kind: str = "bootstrap") -> Curves:
        """Stability and accuracy by size and trees, and from how many folds."""
        found = self.ensembles(data, mtry, kind)
        hits = accuracy(found) if len(found["hits"]) else None
        return Curves(estimates_of(data, found), hits, len(found["left_out"]))

    def save(self, name: str, frame: pd.DataFrame) -> None:
        """Write a table."""
        frame.to_csv(self.folder / f"{name}.csv", float_format="%.5g")

    def draw(self, name: str, figure: Any) -> None:
        """Write a figure, in few colours, which makes the file small."""
        save_figure(figure, self.folder, f"{name}.png")
        path = self.folder / f"{name}.png"
        with Image.open(path) as image:
            few = image.convert("RGB").quantize(128)
        few.save(path, optimize=True)


def stacked(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Make one table of many, with the data set in front."""
    return pd.concat(tables, names=["data"])


def pm(mean: float, sd: float, digits: int = 1) -> str:
    """Write mean ± standard deviation."""
    return f"{mean:.{digits}f} ± {sd:.{digits}f}"


def listed(values: Any, form: str = "{:.3f}") -> str:
    """Write one number per data set."""
    return ", ".join(f"{name} {form.format(value)}" for name, value in dict(values).items())


def or_none(value: float | None, form: str = "{:.2f}") -> str:
    """Write a number, or that there is none."""
    return "none" if value is None or value != value else form.format(value)
