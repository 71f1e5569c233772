"""Speed of the aggregations, as ratios to the naive twins in tests/naive_aggregation.py.

    python benchmarks/aggregation.py              all cases, about a minute
    python benchmarks/aggregation.py rra stuart   some of them

Every case runs in a process of its own, on one core, after a warm-up on small data, so that
compilation does not count. The naive twins compute with exact fractions, feature by feature; their
time is that of one feature and 60 lists, scaled by the number of features and of terms (the square
of the number of lists). Their fractions get longer with more lists, so the ratio is a low estimate.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

from _harness import Case, Row, clock, main  # isort: skip  (sets the number of threads)

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import numpy as np

import mainstay as ms
import naive_aggregation as naive
from mainstay.aggregation import aggregate
from mainstay.aggregation import order_statistics as order


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


CASES: dict[str, list[Case]] = {
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


if __name__ == "__main__":
    main(__doc__, CASES, "naive s")
