"""One run of onda2021: the data, the forests, the sizes, and where results go."""

from __future__ import annotations

import argparse
from typing import Any

import pandas as pd
from _figures import save_figure
from _onda_ensembles import ensembles
from _onda_forests import Data, bank, base, check_trees, read
from _onda_paper import FILES
from PIL import Image

SIZES = {"folds": 999, "weak": 50, "repetitions": 8, "timed": 10}
QUICK = {"folds": 14, "weak": 5, "repetitions": 2, "timed": 1}
COSTLY = {False: (20, 40), True: (6, 5)}  # with mtry 0.1: folds and weak selectors, quick or not


class Experiment:
    """What all parts read."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.size = QUICK if options.quick else SIZES
        self.sets = {name: read(name, *file) for name, file in FILES.items()}
        check_trees(self.sets["Colon"])
        self.folder = options.output / "onda2021"
        self.folder.mkdir(exist_ok=True)

    def n_runs(self, data: Data) -> int:
        """Count the folds: the paper's m_stability."""
        return min(self.size["folds"], data.n_samples)

    def base(self, data: Data, mtry: str = "sqrt") -> dict[str, Any]:
        """Return the selections of single forests."""
        return base(data, mtry, self.size["folds"], self.size["repetitions"], self.options)

    def unstratified(self, data: Data) -> dict[str, Any]:
        """Return the selections of single forests on halves dealt without regard to classes."""
        return base(data, "sqrt", self.size["folds"], 2, self.options, evenly=False)

    def real(self, data: Data, mtry: str = "sqrt", kind: str = "bootstrap") -> tuple[Any, Any, str]:
        """Return the weak selectors, what their ensembles select, and their name in the cache."""
        folds, weak = self.size["folds"], self.size["weak"]
        if mtry == "0.1":
            folds, weak = COSTLY[self.options.quick]
        folds = min(folds, data.n_samples)
        found = bank(data, mtry, folds, weak, self.options, kind)
        name = f"{data.file}_mtry-{mtry}_{folds}x{weak}_seed{self.options.seed}"
        name += "" if kind == "bootstrap" else f"_{kind}"
        return found, ensembles(data, found, name, self.options), name

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
