"""Speed of the aggregations, as ratios to the naive twins in tests/naive_aggregation.py.

    python benchmarks/aggregation.py              all cases, about a minute
    python benchmarks/aggregation.py rra stuart   some of them

Every case runs in a process of its own, on one core, after a warm-up on small data, so that
compilation does not count. The naive twins compute with exact fractions, feature by feature; their
time is that of one feature and 60 lists, scaled by the number of features and of terms (the square
of the number of lists). Their fractions get longer with more lists, so the ratio is a low estimate.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from multiprocessing import get_context
from pathlib import Path

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(threads, "1")  # before numpy is loaded
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import numpy as np  # noqa: E402

import mainstay as ms  # noqa: E402
import naive_aggregation as naive  # noqa: E402
from mainstay.aggregation import aggregate  # noqa: E402
from mainstay.aggregation import order_statistics as order  # noqa: E402

Row = tuple[str, float, float | None, str]  # what, seconds, naive seconds, remark


def clock(call: Callable[[], object]) -> tuple[float, object]:
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def rankings(m: int, p: int) -> np.ndarray:
    """Rankings around a latent order, as from bootstraps of one filter."""
    latent = np.arange(p) / p + 0.5 * np.random.default_rng(0).normal(size=(m, p))
    return np.argsort(np.argsort(latent, axis=1), axis=1) + 1


def naive_seconds(twin: Callable[[list[Fraction]], object], m: int, p: int) -> float:
    r = [Fraction(int(k), p) for k in rankings(60, p)[:, p // 3]]
    return clock(lambda: twin(r))[0] * p * (m / 60) ** 2


def statistic(name: str, m: int, p: int) -> list[Row]:
    r = rankings(m, p) / p
    functions: dict[str, Callable[[np.ndarray], object]] = {
        "log rho": order.rra_log_rho,
        "exact p-values": lambda r: order.rra_p_value(order.rra_log_rho(r), len(r)),
        "log Q and log(1 - Q)": order.stuart_log_q,
    }
    functions[name](r[:20, :10])
    seconds, result = clock(lambda: functions[name](r))
    finite = bool(np.isfinite(result).all())
    twin = {"log rho": naive.rho, "log Q and log(1 - Q)": naive.stuart_recursion}.get(name)
    slow = naive_seconds(twin, m, p) if twin else None
    return [(f"{name}, {m:,} lists × {p:,} features", seconds, slow, f"all finite: {finite}")]


def rule(name: str, m: int, p: int) -> list[Row]:
    scores = np.random.default_rng(0).random((m, p))
    runs = ms.Runs.from_scores(scores)
    options = {"top": p // 10} if name in ("frequency", "borda") else {}
    aggregate(ms.Runs.from_scores(scores[:5, :20]), name, **({"top": 2} if options else {}))
    seconds, _ = clock(lambda: aggregate(runs, name, **options))
    return [(f"{name}, {m:,} runs × {p:,} features", seconds, None, "")]


CASES: dict[str, list[tuple[Callable[..., list[Row]], tuple[object, ...]]]] = {
    "rra": [
        (statistic, (name, m, p))
        for name in ("log rho", "exact p-values")
        for m, p in ((1000, 300), (10_000, 50))
    ],
    "stuart": [(statistic, ("log Q and log(1 - Q)", m, p)) for m, p in ((1000, 300), (10_000, 50))],
    "rules": [
        (rule, (name, 200, 20_000))
        for name in ("mean", "geometric_mean", "median", "rank_mean", "borda", "frequency")
    ],
}


def measured(
    case: Callable[..., list[Row]], arguments: tuple[object, ...]
) -> tuple[list[Row], int]:
    rows = case(*arguments)
    return rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("groups", nargs="*", choices=[*CASES, []], help="default: all")
    wanted = parser.parse_args().groups or list(CASES)
    print(f"{'':<62}{'CPU s':>9}{'naive s':>13}{'ratio':>12}{'peak MB':>9}")
    for group in wanted:
        for case, arguments in CASES[group]:
            with get_context("spawn").Pool(1) as pool:
                rows, memory = pool.apply(measured, (case, arguments))
            for what, seconds, slow, remark in rows:
                shown = (
                    f"{slow:>13,.0f}{slow / max(seconds, 1e-3):>12,.0f}" if slow else f"{'':>25}"
                )
                print(f"{what:<62}{seconds:>9.3f}{shown}{memory:>9}  {remark}", flush=True)


if __name__ == "__main__":
    main()
