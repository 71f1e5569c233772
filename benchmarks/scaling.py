"""How time and memory grow with rows, features, repetitions and workers.

    python benchmarks/scaling.py               all, a few CPU minutes; writes table, plot and page
    python benchmarks/scaling.py --only twins  some pieces; prints, writes nothing
    python benchmarks/scaling.py --page        write the page again from results/scaling.csv

Every point runs in a process of its own (forked from one that has imported everything), on one
core, after a warm-up on small data: CPU seconds, the least of up to three calls, and the most
memory beside the data. Exponents are the slopes of least squares in logarithms. Workers are
judged by the CPU time of the calling process and the busiest worker, the time on cores that are
free, so that other work on the machine does not count.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import time
from dataclasses import asdict, replace
from pathlib import Path

from _pieces import PIECES, SHARED, SMALL, WORKERS, Piece, Size, classes  # sets number of threads

import numpy as np  # isort: skip
import pandas as pd
from _growth import draw, write_page
from _usage import Usage, usage_of

HERE = Path(__file__).resolve().parent
POINTS, BASES = HERE / "results" / "scaling.csv", HERE / "results" / "scaling_bases.csv"
ENOUGH = 1.5  # CPU seconds after which a call is not repeated


def measure(piece: Piece, size: Size) -> Usage:
    """One point, in a fresh process."""
    piece.prepare(replace(SMALL, workers=size.workers))()
    call = piece.prepare(size)
    found = [usage_of(call)]
    while len(found) < 3 and sum(usage.cpu for usage in found) < ENOUGH:
        found.append(usage_of(call))
    fastest = min(found, key=lambda usage: usage.cpu)
    return replace(fastest, memory=found[0].memory)


def measured(table: str, number: int, size: Size) -> Usage:
    return measure({"grows": PIECES, "shared": SHARED}[table][number], size)


def all_points(chosen: str) -> pd.DataFrame:
    """One row per piece, axis and size."""
    rows = []
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["_pieces"])

    def add(table: str, number: int, piece: Piece, axis: str, size: Size) -> None:
        with context.Pool(1) as pool:
            usage = pool.apply(measured, (table, number, size))
        data = 0.0 if size.n == 0 else size.n * size.p * 4 / 2**20
        place = {"piece": piece.name, "axis": axis, "at": getattr(size, axis)}
        rows.append({**place, **asdict(size), **asdict(usage), "data": data})
        print(f"{piece.name:<30}{axis:<8}{place['at']:>9,}{usage.cpu:>9.3f} s"
              f"{usage.memory:>9.0f} MB", flush=True)  # fmt: skip

    for number, piece in enumerate(PIECES):
        for axis in piece.axes if chosen in piece.name else ():
            for size in piece.sizes(axis):
                add("grows", number, piece, axis, size)
    for number, piece in enumerate(SHARED):
        for workers in WORKERS if chosen in piece.name else ():
            add("shared", number, piece, "workers", replace(piece.base, workers=workers))
    return pd.DataFrame(rows)


# ---------------------------------------------------------------------- what extrapolations use


def cheapest(call: object, repeats: int = 5) -> float:
    """Least CPU seconds of several calls."""
    return min(usage_of(call).cpu for _ in range(repeats))  # type: ignore[arg-type]


def filter_seconds(ranker: str, m: int) -> float:
    """CPU seconds per row, feature and resample of a filter on rows in memory."""
    from mainstay.rankers import make_ranker

    size = Size(100_000, 100, m)
    X, y = classes(size)
    weights = np.random.default_rng(1).poisson(1.0, (m, size.n)).astype(np.uint8)
    make_ranker(ranker).score_resamples(X[:500], y[:500], weights[:, :500])
    call = lambda: make_ranker(ranker).score_resamples(X, y, weights)  # noqa: E731
    return cheapest(call, 3) / size.cells


def reading_seconds() -> float:
    """CPU seconds per value of reading float32 columns from Parquet, the file being in memory."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    X, _ = classes(Size(100_000, 100, 1))
    with tempfile.TemporaryDirectory() as folder:
        table = pa.table({f"g{j}": np.ascontiguousarray(X[:, j]) for j in range(X.shape[1])})
        pq.write_table(table, Path(folder) / "x.parquet", row_group_size=10_000)

        def read() -> None:
            file = pq.ParquetFile(Path(folder) / "x.parquet")
            for batch in file.iter_batches(10_000, use_threads=False):
                batch.nbytes  # noqa: B018

        return cheapest(read) / X.size


def product_seconds() -> float:
    """CPU seconds per multiplication of a product of float32 matrices."""
    X, _ = classes(Size(2_000, 1_000, 1))
    return cheapest(lambda: X.T @ X) / (X.shape[0] * X.shape[1] ** 2)


def all_bases() -> pd.DataFrame:
    """What one core takes for the units of work that large data consist of."""
    found = {
        "f_statistic_once": filter_seconds("f_statistic", 1),
        "f_statistic": filter_seconds("f_statistic", 20),
        "information_gain": filter_seconds("information_gain", 20),
        "read_parquet": reading_seconds(),
        "product": product_seconds(),
    }
    return pd.DataFrame({"what": list(found), "seconds": list(found.values())})


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="pieces whose name contains this")
    parser.add_argument("--page", action="store_true", help="measure nothing, write the page")
    options = parser.parse_args()
    if not options.page:
        start = time.time()
        points = all_points(options.only)
        if options.only:
            return
        POINTS.parent.mkdir(exist_ok=True)
        points.to_csv(POINTS, index=False, float_format="%.5g")
        all_bases().to_csv(BASES, index=False, float_format="%.4g")
        print(
            f"{points['cpu'].sum():.0f} CPU s in what was timed, {time.time() - start:.0f} s in all"
        )
    points, bases = pd.read_csv(POINTS), pd.read_csv(BASES)
    draw(points)
    write_page(points, bases)


if __name__ == "__main__":
    main()
