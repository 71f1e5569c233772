"""Costly results of the experiments, one per cell, so that a run that was stopped goes on.

Cells are kept as JSON in the cache while a script runs. At its end `pack` puts them into
`results/<experiment>/cells.zip`, which is part of the repository: whoever runs the script next goes
on from there, and the pages can be written anew without computing anything.
"""

from __future__ import annotations

import json
import os
import time
import zipfile
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from _common import HERE, log

from mainstay._parallel import run_tasks

Cell = tuple[str, ...]
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the same cells give the same bytes, whenever they are packed


class Cells:
    """Results of one part of an experiment by cell (a tuple of names), computed once."""

    def __init__(self, options: Namespace, experiment: str, part: str) -> None:
        self.jobs = options.jobs
        self.report_only = options.report_only
        self.until: float | None = vars(options).get("until")
        run = f"{experiment}{'_quick' if options.quick else ''}"
        if options.seed:
            run += f"_seed{options.seed}"
        self.folder = options.cache / run / part
        self.folder.mkdir(parents=True, exist_ok=True)
        real = not options.quick and not options.seed
        results = HERE / "results"
        self.archive = results / experiment / "cells.zip" if real else None
        self.packed = _read(self.archive, part)
        self.packs = real and options.output.resolve() == results.resolve()

    def path(self, cell: Cell) -> Path:
        """Where a cell is kept until it is packed."""
        return self.folder / f"{_name(cell)}.json"

    def has(self, cell: Cell) -> bool:
        """Whether the cell has been computed."""
        return _name(cell) in self.packed or self.path(cell).is_file()

    def compute(self, wanted: Sequence[Cell], work: Callable[[Cell], dict[str, Any]]) -> None:
        """Compute what is missing, cells in the order given, until the time of --minutes is up.

        Nothing is computed with --report-only.
        """
        missing = [cell for cell in wanted if not self.has(cell)]
        log(f"{self.folder.name}: {len(missing)} of {len(wanted)} cells missing")
        if not self.report_only:
            tasks = [(work, cell, self.path(cell), self.until) for cell in missing]
            run_tasks(_keep, tasks, n_jobs=self.jobs)

    def found(self, wanted: Sequence[Cell]) -> dict[Cell, dict[str, Any]]:
        """Return what has been computed, by cell; the cache goes before what was packed."""
        found = {}
        for cell in wanted:
            path = self.path(cell)
            if path.is_file():
                found[cell] = json.loads(path.read_text(encoding="utf-8"))
            elif _name(cell) in self.packed:
                found[cell] = json.loads(self.packed[_name(cell)])
        return found

    def table(self, wanted: Sequence[Cell], names: Sequence[str]) -> pd.DataFrame:
        """Return what has been computed, one row per cell."""
        return pd.DataFrame(
            [
                dict(zip(names, cell, strict=True)) | found
                for cell, found in self.found(wanted).items()
            ]
        )

    def pack(self) -> None:
        """Put the cells of the cache into the archive of the results, beside those there.

        Not when the page is written elsewhere: archive and page are of the same cells.
        """
        fresh = {path.stem: path.read_bytes() for path in self.folder.glob("*.json")}
        new = any(self.packed.get(name) != text for name, text in fresh.items())
        if self.archive is None or not self.packs or not new:
            return
        self.packed |= fresh
        members = {f"{self.folder.name}/{name}.json": text for name, text in self.packed.items()}
        if self.archive.is_file():  # the other parts as they are
            with zipfile.ZipFile(self.archive) as file:
                members = {name: file.read(name) for name in file.namelist()} | members
        self.archive.parent.mkdir(parents=True, exist_ok=True)
        partial = self.archive.with_suffix(f".{os.getpid()}")
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
            for name in sorted(members):
                info = zipfile.ZipInfo(name, _EPOCH)
                info.compress_type = zipfile.ZIP_DEFLATED
                file.writestr(info, members[name])
        partial.replace(self.archive)
        log(f"packed {len(fresh)} cells of {self.folder.name}")


def _name(cell: Cell) -> str:
    return "_".join(cell).replace(" ", "-").replace("/", "-").replace(",", "")


def _read(archive: Path | None, part: str) -> dict[str, bytes]:
    """The cells of a part in an archive, by name."""
    if archive is None or not archive.is_file():
        return {}
    start, end = f"{part}/", ".json"
    with zipfile.ZipFile(archive) as file:
        names = [name for name in file.namelist() if name.startswith(start)]
        return {name.removeprefix(start).removesuffix(end): file.read(name) for name in names}


def _keep(
    work: Callable[[Cell], dict[str, Any]], cell: Cell, path: Path, until: float | None
) -> None:
    if until is not None and time.time() > until:
        return
    started = time.process_time()
    found = work(cell)
    found.setdefault("seconds", time.process_time() - started)
    partial = path.with_suffix(f".{os.getpid()}")  # a stopped run leaves no half file behind
    partial.write_text(json.dumps(found), encoding="utf-8")
    partial.replace(path)
    log(f"{' '.join(cell)}: {found['seconds']:.0f} s")
