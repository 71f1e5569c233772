"""What the experiments share: command line, data, Markdown."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

HERE = Path(__file__).resolve().parent


def arguments(
    doc: str, *, cache: bool = False, resumable: bool = False, only: Sequence[str] = ()
) -> argparse.Namespace:
    """Read the command line that all experiments have, some with a cache of costly results.

    A resumable experiment can also report what its cache holds so far; one with names in `only` can
    be restricted to some of them.
    """
    summary, _, costs = doc.strip().partition("\n")
    parser = argparse.ArgumentParser(
        description=summary,
        epilog=f"what it costs:\n{costs.strip()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of everything random (0)")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes (2)")
    parser.add_argument(
        "--quick", action="store_true", help="fewer repetitions, for a look; not the real results"
    )
    parser.add_argument(
        "--output",
        type=Path,
        help="folder for the results (experiments/results; with --quick a temporary folder)",
    )
    if cache:
        folder = Path(tempfile.gettempdir()) / "mainstay-cache"
        parser.add_argument(
            "--cache",
            type=Path,
            default=folder,
            help=f"folder for costly results, reused when the settings are the same ({folder})",
        )
    if resumable:
        parser.add_argument(
            "--report-only",
            action="store_true",
            help="compute nothing: report what the cache holds, – for what is missing",
        )
        parser.add_argument(
            "--minutes", type=float, help="begin no further cell after so many minutes (no limit)"
        )
    if only:
        parser.add_argument(
            "--only", nargs="+", choices=only, default=only, help="these methods only (all)"
        )
    options = parser.parse_args()
    if resumable:
        options.until = options.minutes and time.time() + 60 * options.minutes
    if cache:
        options.cache.mkdir(parents=True, exist_ok=True)
    quick_folder = Path(tempfile.gettempdir()) / "mainstay-quick"
    options.output = options.output or (quick_folder if options.quick else HERE / "results")
    options.output.mkdir(parents=True, exist_ok=True)
    return options


def log(message: str) -> None:
    """Say on stderr how far the experiment is."""
    print(f"[{time.process_time():6.1f} s CPU] {message}", file=sys.stderr, flush=True)


def shared_data(name: str) -> Path:
    """Return a file or folder of the papers' data; leave if the data are not there."""
    shared = Path(os.environ.get("MAINSTAY_SHARED", HERE.parents[1] / "shared"))
    path = shared / "data" / name
    if not path.exists():
        where = os.path.relpath(path)
        sys.exit(
            f"{where} is missing: the experiments read the papers' data from ../shared/data beside "
            "the repository, or from $MAINSTAY_SHARED/data."
        )
    return path


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Read X and y of a data set such as "uci_small/wine"; leave if the data are not there."""
    with np.load(shared_data(f"{name}.npz")) as archive:
        return archive["X"].astype(float), archive["y"].astype(int)


def l1_logistic(**settings: Any) -> LogisticRegression:
    """Logistic regression with the L1 penalty, which scikit-learn calls otherwise since 1.8."""
    old = tuple(map(int, version("scikit-learn").split(".")[:2])) < (1, 8)
    kind: dict[str, Any] = {"penalty": "l1"} if old else {"l1_ratio": 1}
    return LogisticRegression(solver="liblinear", **kind, **settings)


def table(header: Sequence[Any], rows: Iterable[Sequence[Any]], text: int = 1) -> str:
    """Write a Markdown table; the first `text` columns are text, the others numbers."""
    align = ["---"] * text + ["---:"] * (len(header) - text)
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in (header, align, *rows))


def rounding(printed: str) -> float:
    """Half a unit of the last digit that is printed."""
    return 0.5 * 10.0 ** -len(printed.partition(".")[2]) + 1e-9


def verdict(agrees: bool | None) -> str:
    """Say in bold whether our numbers support the paper's statement; None = in part."""
    return {True: "**Agrees.**", False: "**Does not agree.**", None: "**Agrees in part.**"}[agrees]


def write(name: str, options: argparse.Namespace, values: dict[str, Any]) -> None:
    """Fill experiments/templates/<name> with the numbers and say what made them."""
    packages = ("mainstay", "numpy", "scipy", "scikit-learn", "numba", "matplotlib")
    versions = ", ".join(f"{package} {version(package)}" for package in packages)
    quick = " with `--quick`: fewer repetitions than the real results" if options.quick else ""
    foot = f"Seed {options.seed}{quick}; Python {platform.python_version()}, {versions}."
    text = (HERE / "templates" / name).read_text(encoding="utf-8")
    (options.output / name).write_text(text.format(**values, foot=foot), encoding="utf-8")
    log(f"wrote {os.path.relpath(options.output / name)}")
