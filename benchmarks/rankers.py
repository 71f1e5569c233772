"""Speed of the rankers over bootstraps, as ratios to plain loops, in one run on one core.

    python benchmarks/rankers.py

Discrete data of the sizes of jasmine (n = 2000, p = 140) and musk (n = 6598, p = 166). The plain
loops run a few bootstraps and are scaled up to 1000.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(threads, "1")  # before numpy is loaded

import numpy as np  # noqa: E402

FILTERS = ["information_gain", "symmetric_uncertainty", "chi_square"]
BOOTSTRAPS = 1000


def clock(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def data(n: int, p: int, bins: int = 10) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    return rng.integers(0, bins, (n, p)) // (1 + y[:, None] * (np.arange(p) % 3)), y


def numpy_loop(X: np.ndarray, y: np.ndarray, weights: np.ndarray) -> None:
    """Information gain, symmetric uncertainty and chi-square, bootstrap by bootstrap."""
    codes = X * 2 + y[:, None]
    width = int(codes.max()) + 1 + (codes.max() + 1) % 2
    for w in weights:
        for j in range(X.shape[1]):
            table = np.bincount(codes[:, j], weights=w, minlength=width).reshape(-1, 2)
            row, column, total = table.sum(axis=1), table.sum(axis=0), table.sum()
            with np.errstate(divide="ignore", invalid="ignore"):
                h_xy, h_x, h_y = (
                    -np.nansum(q * np.log(q)) for q in (table / total, row / total, column / total)
                )
                expected = np.outer(row, column) / total
                chi = np.nansum((table - expected) ** 2 / expected)
            gain = h_x + h_y - h_xy
            _ = (gain, 2 * gain / (h_x + h_y), chi)


def sklearn_loop(X: np.ndarray, y: np.ndarray, weights: np.ndarray) -> None:
    from sklearn.feature_selection import mutual_info_classif

    for w in weights:
        rows = np.repeat(np.arange(len(y)), w)
        mutual_info_classif(X[rows], y[rows], discrete_features=True)


def filters(n: int, p: int) -> None:
    from mainstay.rankers import score_filters

    X, y = data(n, p)
    weights = np.random.default_rng(1).multinomial(n, np.full(n, 1 / n), size=BOOTSTRAPS)
    score_filters(X, y, weights[:3], FILTERS)
    ours = clock(lambda: score_filters(X, y, weights, FILTERS))
    one = clock(lambda: score_filters(X, y, weights, FILTERS[:1]))
    loop = clock(lambda: numpy_loop(X, y, weights[:5])) * BOOTSTRAPS / 5
    learn = clock(lambda: sklearn_loop(X, y, weights[:2])) * BOOTSTRAPS / 2
    print(f"n = {n}, p = {p}, {BOOTSTRAPS} bootstraps of IG, SU and chi-square: {ours:.2f} s; "
          f"numpy loop {loop:.0f} s ({loop / ours:.0f} ×)")  # fmt: skip
    print(f"    IG alone {one:.2f} s; scikit-learn's mutual_info_classif {learn:.0f} s "
          f"({learn / one:.0f} ×)", flush=True)  # fmt: skip


def greedy(n: int, p: int) -> None:
    from mainstay.rankers import MRMR

    X, y = data(n, p)
    weights = np.random.default_rng(1).multinomial(n, np.full(n, 1 / n), size=100)
    MRMR().fit(X[:50], y[:50])
    MRMR().score_resamples(X[:50], y[:50], np.ones((2, 50), dtype=int))
    one = clock(lambda: MRMR().fit(X, y))
    many = clock(lambda: MRMR().score_resamples(X, y, weights)) * BOOTSTRAPS / 100
    print(f"n = {n}, p = {p}, full mRMR ranking: {one:.3f} s; {BOOTSTRAPS} bootstraps {many:.0f} s "
          "(scaled up from 100)", flush=True)  # fmt: skip


def growth() -> None:
    """Time should grow in proportion to bootstraps, rows and features."""
    from mainstay.rankers import score_filters

    def seconds(b: int, n: int, p: int) -> float:
        X, y = data(n, p)
        weights = np.random.default_rng(1).multinomial(n, np.full(n, 1 / n), size=b)
        return min(clock(lambda: score_filters(X, y, weights, FILTERS)) for _ in range(3))

    base = seconds(500, 2000, 140)
    print("doubling, three filters: "
          f"bootstraps × {seconds(1000, 2000, 140) / base:.1f}, "
          f"rows × {seconds(500, 4000, 140) / base:.1f}, "
          f"features × {seconds(500, 2000, 280) / base:.1f}", flush=True)  # fmt: skip


def ensemble(path: Path) -> None:
    if not path.is_file():
        print(f"(no {path.name} at hand: the ensemble is not timed)")
        return
    from mainstay import EnsembleSelector, io

    table = io.read_data(path, target="y")
    EnsembleSelector(n_resamples=5, random_state=0).fit(table.X, table.y)
    selector = EnsembleSelector(n_features_to_select=20, n_resamples=BOOTSTRAPS, random_state=0)
    seconds = clock(lambda: selector.fit(table.X, table.y))
    print(f"EnsembleSelector, 1000 bootstraps of IG on colon (62 × 2000): {seconds:.1f} s")


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    filters(2000, 140)
    filters(6598, 166)
    greedy(2000, 140)
    growth()
    ensemble(Path(__file__).resolve().parents[2] / "shared/data/microarray/colon.npz")
