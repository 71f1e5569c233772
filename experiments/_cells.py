"""Costly results of the experiments, one file per cell, so that a run that was stopped goes on."""

from __future__ import annotations

import json
import os
import time
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from _common import log

from mainstay._parallel import run_tasks

Cell = tuple[str, ...]


class Cells:
    """Results of one part of an experiment by cell (a tuple of names), computed once."""

    def __init__(self, options: Namespace, paper: str, part: str) -> None:
        self.jobs = options.jobs
        self.report_only = options.report_only
        run = f"{paper}{'_quick' if options.quick else ''}"
        if options.seed:
            run += f"_seed{options.seed}"
        self.folder = options.cache / run / part
        self.folder.mkdir(parents=True, exist_ok=True)

    def path(self, cell: Cell) -> Path:
        """Where a cell is kept."""
        return self.folder / f"{'_'.join(cell)}.json"

    def compute(self, wanted: Sequence[Cell], work: Callable[[Cell], dict[str, Any]]) -> None:
        """Compute what is missing, cells in the order given; nothing with --report-only."""
        missing = [cell for cell in wanted if not self.path(cell).is_file()]
        log(f"{self.folder.name}: {len(missing)} of {len(wanted)} cells missing")
        if not self.report_only:
            run_tasks(_keep, [(work, cell, self.path(cell)) for cell in missing], n_jobs=self.jobs)

    def found(self, wanted: Sequence[Cell]) -> dict[Cell, dict[str, Any]]:
        """Return what has been computed, by cell."""
        paths = {cell: self.path(cell) for cell in wanted}
        return {cell: json.loads(p.read_text()) for cell, p in paths.items() if p.is_file()}

    def table(self, wanted: Sequence[Cell], names: Sequence[str]) -> pd.DataFrame:
        """Return what has been computed, one row per cell."""
        return pd.DataFrame(
            [
                dict(zip(names, cell, strict=True)) | found
                for cell, found in self.found(wanted).items()
            ]
        )


def _keep(work: Callable[[Cell], dict[str, Any]], cell: Cell, path: Path) -> None:
    started = time.process_time()
    found = work(cell)
    found.setdefault("seconds", time.process_time() - started)
    partial = path.with_suffix(f".{os.getpid()}")  # a stopped run leaves no half file behind
    partial.write_text(json.dumps(found))
    partial.replace(path)
    log(f"{' '.join(cell)}: {found['seconds']:.0f} s")
