"""Speed and memory of the rankers over many bootstraps, as ratios to plain ways of doing it.

    python benchmarks/rankers.py               all cases, about two minutes
    python benchmarks/rankers.py filters mrmr  some of them

Every case runs in a process of its own, on one core, after a warm-up on small data. The plain ways
are timed on a few bootstraps and scaled to 1000: a numpy loop (IG, SU and χ² from one bincount per
feature and bootstrap), and scikit-learn's mutual_info_classif(discrete_features=True) on really
resampled, already discrete rows (information gain alone).
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from collections.abc import Callable
from multiprocessing import get_context

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(threads, "1")  # before numpy is loaded

import numpy as np  # noqa: E402

from mainstay.rankers import RANKERS, score_filters  # noqa: E402

Row = tuple[str, float, float | None, str]  # what, seconds, other's seconds, remark
B = 1000


def clock(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def problem(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    return rng.normal(size=(n, p)) + y[:, None] * rng.random(p), y


def bootstraps(n: int, b: int) -> np.ndarray:
    rng = np.random.default_rng(1)
    return np.array(
        [np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(b)], dtype=np.uint8
    )


def width_codes(X: np.ndarray) -> np.ndarray:
    low, high = X.min(axis=0), X.max(axis=0)
    return np.minimum(np.floor((X - low) / (high - low) * 10), 9).astype(np.intp)


def numpy_loop(codes: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """IG, SU, χ² of every feature and bootstrap, one table at a time over features: B × 3 × p."""
    n, p = codes.shape
    cell = (np.arange(p) * 20 + codes * 2 + y[:, None]).ravel()
    out = np.empty((len(weights), 3, p))

    def entropy(counts: np.ndarray) -> np.ndarray:
        share = counts / n
        return -np.sum(share * np.log(np.where(share > 0, share, 1)), axis=1)

    for b, w in enumerate(weights):
        table = np.bincount(cell, np.repeat(w, p), minlength=p * 20).reshape(p, 10, 2)
        rows, columns = table.sum(axis=2), table.sum(axis=1)
        h_x, h_y = entropy(rows), entropy(columns)
        gain = h_x + h_y - entropy(table.reshape(p, -1))
        expected = rows[:, :, None] * columns[:, None, :] / n
        squares = np.where(expected > 0, (table - expected) ** 2, 0)
        chi2 = np.sum(squares / np.where(expected > 0, expected, 1), axis=(1, 2))
        out[b] = gain, 2 * gain / (h_x + h_y), chi2
    return out


def filters(n: int, p: int) -> list[Row]:
    from sklearn.feature_selection import mutual_info_classif

    X, y = problem(n, p)
    weights, codes = bootstraps(n, B), width_codes(X)
    score_filters(X[:50], y[:50], weights[:3, :50] + 1)
    seconds = min(clock(lambda: score_filters(X, y, weights)) for _ in range(3))
    few = weights[:50]
    ours = score_filters(X, y, few)
    loop = numpy_loop(codes, y, few)
    for i, name in enumerate(ours):
        np.testing.assert_allclose(loop[:, i], ours[name], rtol=1e-8, atol=1e-10)
    slow = clock(lambda: numpy_loop(codes, y, few)) * B / len(few)
    rows = np.repeat(np.arange(n), weights[0])
    sklearn = clock(lambda: mutual_info_classif(codes[rows], y[rows], discrete_features=True)) * B
    what = f"IG, SU, χ²: {B} bootstraps, n={n}, p={p}"
    return [
        (what, seconds, slow, "numpy loop"),
        ("", seconds, sklearn, "scikit-learn, IG alone"),
    ]


def memory(b: int) -> list[Row]:
    X, y = problem(500, 50)
    weights = np.tile(bootstraps(500, 100), (b // 100, 1))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = clock(lambda: score_filters(X, y, weights, ["information_gain"]))
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    remark = f"+{more:.0f} MB, of which scores {b * 50 * 8 / 2**20:.0f} MB"
    return [(f"IG: {b:,} bootstraps, n=500, p=50", seconds, None, remark)]


def weighted(name: str, n: int, p: int, b: int, options: dict[str, object]) -> list[Row]:
    X, y = problem(n, p)
    weights = bootstraps(n, b)
    ranker = RANKERS[name](**options)
    ranker.fit(X[:60], y[:60])
    ranker.score_resamples(X[:60], y[:60], weights[:3, :60] + 1)  # type: ignore[attr-defined]
    label = f"{name} {' '.join(map(str, options.values()))}".strip()
    one = min(clock(lambda: ranker.fit(X, y)) for _ in range(3))
    many = clock(lambda: ranker.score_resamples(X, y, weights))  # type: ignore[attr-defined]
    return [
        (f"{label}: one run, n={n}, p={p}", one, None, ""),
        (f"{label}: {B} bootstraps, n={n}, p={p}", many * B / b, one * B, "one run × 1000"),
    ]


CASES: dict[str, list[tuple[Callable[..., list[Row]], tuple[object, ...]]]] = {
    "filters": [(filters, (2000, 140)), (filters, (6598, 166))],
    "memory": [(memory, (1_000,)), (memory, (20_000,))],
    "mrmr": [
        (weighted, ("mrmr", 2000, 140, 320, {})),
        (weighted, ("mrmr", 6598, 166, 96, {})),
        (weighted, ("jmi", 2000, 140, 320, {})),
        (weighted, ("mrmr", 2000, 140, 320, {"method": "FCQ"})),
        (weighted, ("mrmr", 100, 10_000, 8, {"n_features_to_select": 50})),
    ],
    "moments": [
        (weighted, ("f_statistic", 2000, 140, B, {})),
        (weighted, ("correlation", 2000, 140, B, {})),
        (weighted, ("correlation", 2000, 140, 200, {"method": "spearman"})),
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
    print(f"{'':<62}{'CPU s':>9}{'other s':>13}{'ratio':>12}{'peak MB':>9}")
    for group in wanted:
        for case, arguments in CASES[group]:
            with get_context("spawn").Pool(1) as pool:
                rows, peak = pool.apply(measured, (case, arguments))
            for what, seconds, slow, remark in rows:
                shown = f"{slow:>13,.2f}{slow / seconds:>12,.1f}" if slow else f"{'':>25}"
                print(f"{what:<62}{seconds:>9.3f}{shown}{peak:>9}  {remark}", flush=True)


if __name__ == "__main__":
    main()
