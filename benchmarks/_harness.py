"""What the benchmarks share: every case in a process of its own, on one core; one table."""

from __future__ import annotations

import argparse
import os
import resource
import time
from collections.abc import Callable
from importlib.metadata import version
from multiprocessing import get_context

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(threads, "1")  # before numpy is loaded

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
    """Run the groups named on the command line (default: all) and print times, ratios, memory."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("groups", nargs="*", choices=[*cases, []], help="default: all")
    print(f"{'':<62}{'CPU s':>9}{other:>13}{'ratio':>12}{'peak MB':>9}")
    for group in parser.parse_args().groups or list(cases):
        for case, arguments in cases[group]:
            with get_context("spawn").Pool(1) as pool:
                rows, peak = pool.apply(measured, (case, arguments))
            for what, seconds, slow, remark in rows:
                shown = f"{slow:>13,.1f}{slow / max(seconds, 1e-3):>12,.0f}" if slow else " " * 25
                print(f"{what:<62}{seconds:>9.3f}{shown}{peak:>9}  {remark}", flush=True)
