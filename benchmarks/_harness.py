"""What the benchmarks share: every case in a process of its own, on one core; one table."""

from __future__ import annotations

import argparse
import csv
import os
import resource
import sys
import time
from collections.abc import Callable
from datetime import date
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path

from _pages import fill, table

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(threads, "1")  # before numpy is loaded

RESULTS = Path(__file__).resolve().parent / "results"
PAGE = RESULTS.parents[1] / "docs" / "speed.md"
SHOWN = {  # what docs/speed.md shows of every script's results, by how it begins
    "stability": (
        "sma_count, groups", "sma_count, the first", "sma_mean, groups", "sma_greedy, groups",
        "sma_mbm, groups", "jaccard, 1000", "jaccard, 1600", "nogueira, 1000", "spearman",
        "kendall,", "canberra,", "rbo", "correlations of 50,000", "import", "mainstay --help",
    ),
    "rankers": (
        "IG, SU, χ²: 1000 bootstraps, n=2000", "mrmr: 1000 bootstraps, n=2000",
        "jmi: 1000 bootstraps, n=2000", "L1 path", "f_statistic: 1000 bootstraps, n=200",
        "cmim 50: one", "jmim 50: one", "mrmr 50: one run, n=200", "jmi 50: one",
        "f_statistic: 4 bootstraps, n=1,000,000", "information_gain: 4 bootstraps, n=1,000,000",
        "EnsembleSelector",
    ),
    "aggregation": ("log", "exact p-values, 1,000", "mean", "median"),
    "forecast": ("flat", "nested", "Colon, 100", "Colon: simulate", "Colon: curve"),
    "subspace": (
        "kNN, classes, 100 models, N=300, 10", "tree, classes, 100 models, N=300, 10",
        "SVM, classes, 100 models, N=300, 10", "linear SVM, classes", "kNN: one", "tree: one",
        "SVM: one",
    ),
    "networks": (
        "forest, 100 × 100, 100 trees, K = all", "boosting", "parametric_subspace, knn",
        "parametric_subspace, svm, 100 × 100, one",
    ),
    "reliability": ("f_statistic", "information_gain"),
}  # fmt: skip
Row = tuple[str, float, float | None, str]  # what, CPU seconds, the other way's seconds, remark
Case = tuple[Callable[..., list[Row]], tuple[object, ...]]


def l1_penalty() -> dict[str, object]:
    """How the installed scikit-learn asks for the L1 penalty; `l1_ratio` was ridge before 1.8."""
    old = tuple(map(int, version("scikit-learn").split(".")[:2])) < (1, 8)
    return {"penalty": "l1"} if old else {"l1_ratio": 1.0}


def clock(call: Callable[[], object]) -> tuple[float, object]:
    """CPU seconds of a call, and what it returned."""
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def seconds_of(call: Callable[[], object]) -> float:
    """CPU seconds of a call."""
    return clock(call)[0]


def measured(
    case: Callable[..., list[Row]], arguments: tuple[object, ...]
) -> tuple[list[Row], int]:
    rows = case(*arguments)
    return rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main(about: str, cases: dict[str, list[Case]], other: str) -> None:
    """Run the groups named on the command line (default: all) and print times, ratios, memory.

    A run of all groups is kept in results/<script>.csv, from which docs/speed.md is written.
    """
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("groups", nargs="*", choices=[*cases, []], help="default: all")
    groups = parser.parse_args().groups
    print(f"{'':<62}{'CPU s':>9}{other:>13}{'ratio':>12}{'peak MB':>9}")
    kept = []
    for group in groups or list(cases):
        for case, arguments in cases[group]:
            with get_context("spawn").Pool(1) as pool:
                rows, peak = pool.apply(measured, (case, arguments))
            for what, seconds, slow, remark in rows:
                shown = f"{slow:>13,.1f}{slow / max(seconds, 1e-3):>12,.0f}" if slow else " " * 25
                print(f"{what:<62}{seconds:>9.3f}{shown}{peak:>9}  {remark}", flush=True)
                kept.append([what, seconds, slow, peak, remark])
    if not groups:
        keep(Path(sys.argv[0]).stem, other, kept)


def keep(script: str, other: str, rows: list[list[object]]) -> None:
    """Write what a script measured into results/<script>.csv, and all that is there to the page."""
    with (RESULTS / f"{script}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["what", "seconds", other, "peak MB", "remark", date.today().isoformat()])
        for what, seconds, slow, peak, remark in rows:
            times = [f"{t:.3g}" if isinstance(t, float) else "" for t in (seconds, slow)]
            writer.writerow([what, *times, peak, remark])
    fill(PAGE, {"speed": page_of(RESULTS)})


def page_of(folder: Path) -> str:
    """The most telling of all that was measured, in one table."""
    body, days = [], []
    for script, wanted in SHOWN.items():
        path = folder / f"{script}.csv"
        if not path.is_file():
            continue
        with path.open(newline="", encoding="utf-8") as file:
            (*_, day), *rows = csv.reader(file)
        days.append(day)
        body += [
            [what, shown(seconds), shown(slow), times_faster(slow, seconds), peak, remark]
            for what, seconds, slow, peak, remark in rows
            if what.startswith(wanted)
        ]
    header = ["what", "CPU s", "plain way, s", "ratio", "peak MB", "remark"]
    return f"Measured {' to '.join(sorted({min(days), max(days)}))}.\n\n{table(header, body)}"


def shown(seconds: str) -> str:
    """Write seconds with three digits; nothing stays nothing."""
    if not seconds:
        return ""
    value = float(seconds)
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def times_faster(slow: str, fast: str) -> str:
    """Write the ratio of two times, if there are two."""
    if not slow:
        return ""
    ratio = float(slow) / float(fast)
    return f"{ratio:,.0f} ×" if ratio >= 10 else f"{ratio:.1f} ×"
