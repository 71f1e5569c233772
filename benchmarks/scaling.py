"""How time and memory grow with rows, features, repetitions and workers.

    python benchmarks/scaling.py --fresh       all, a few CPU minutes; writes plot and page
    python benchmarks/scaling.py               only what results/scaling.csv lacks; the same
    python benchmarks/scaling.py --only twins  some pieces; adds to results/scaling.csv only

Every point runs in a process of its own (forked from one that has imported everything), on one
core, after a warm-up on small data: CPU seconds, the least of up to five calls, and the most
memory beside the data. Exponents are the slopes of least squares in logarithms. Workers are
judged by the CPU time of the calling process and the busiest worker, the time on cores that are
free, so that other work on the machine does not count.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path

from _pieces import PIECES, SHARED, SMALL, Piece, Size, classes  # sets number of threads

import numpy as np  # isort: skip
import pandas as pd
from _growth import draw, write_page
from _usage import Usage, usage_of
from joblib.externals.loky import get_reusable_executor

HERE = Path(__file__).resolve().parent
POINTS, BASES = HERE / "results" / "scaling.csv", HERE / "results" / "scaling_bases.csv"
TABLES = {"grows": PIECES, "shared": SHARED}
CALLS, ENOUGH = 5, 2.5  # at most so many calls, and none after so many CPU seconds


def measure(piece: Piece, size: Size) -> Usage:
    """One point, in a fresh process."""
    piece.prepare(replace(SMALL, workers=size.workers))()
    call = piece.prepare(size)
    found = [usage_of(call)]
    while len(found) < CALLS and sum(usage.cpu for usage in found) < ENOUGH:
        found.append(usage_of(call))
    fastest = min(found, key=lambda usage: usage.cpu)
    return replace(fastest, memory=found[0].memory)


def measured(table: str, number: int, size: Size) -> Usage:
    usage = measure(TABLES[table][number], size)
    if size.workers > 1:  # idle workers would keep this process from ending for minutes
        get_reusable_executor().shutdown(wait=True)
    return usage


def place_of(piece: Piece, axis: str, size: Size) -> tuple[str, str, int]:
    return piece.name, axis, getattr(size, axis)


def wanted(chosen: str) -> list[tuple[str, int, Piece, str, Size]]:
    """All points of the pieces whose name contains `chosen`."""
    return [
        (table, number, piece, axis, size)
        for table, pieces in TABLES.items()
        for number, piece in enumerate(pieces)
        for axis, sizes in piece.axes.items()
        for size in sizes
        if chosen in piece.name
    ]


def measure_missing(chosen: str) -> None:
    """Add the points that the file does not have, each as soon as it is measured."""
    POINTS.parent.mkdir(exist_ok=True)
    names, done = ["piece", "axis", "at"], set()
    if POINTS.exists():
        done = set(pd.read_csv(POINTS)[names].itertuples(index=False, name=None))
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["_pieces"])
    for table, number, piece, axis, size in wanted(chosen):
        place = place_of(piece, axis, size)
        if place in done:
            continue
        # not a Pool, whose processes may not start workers
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            usage = pool.submit(measured, table, number, size).result()
        row = dict(zip(names, place, strict=True)) | asdict(size) | asdict(usage)
        row["data"] = size.n * size.p * 4 / 2**20
        pd.DataFrame([row]).to_csv(
            POINTS, mode="a", header=not POINTS.exists(), index=False, float_format="%.5g"
        )
        print(f"{piece.name:<30}{axis:<8}{place[2]:>9,}{usage.cpu:>9.3f} s"
              f"{usage.memory:>9.0f} MB", flush=True)  # fmt: skip


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
    other = X[:, ::-1].copy()  # of X.T @ X BLAS computes one half only
    return cheapest(lambda: X.T @ other) / (X.shape[0] * X.shape[1] ** 2)


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
    parser.add_argument("--only", default="", help="measure pieces whose name contains this")
    parser.add_argument("--fresh", action="store_true", help="forget what was measured before")
    options = parser.parse_args()
    if options.fresh:
        POINTS.unlink(missing_ok=True)
        BASES.unlink(missing_ok=True)
    measure_missing(options.only)
    if options.only:
        return
    if not BASES.exists():
        all_bases().to_csv(BASES, index=False, float_format="%.4g")
    points = pd.read_csv(POINTS).drop_duplicates(["piece", "axis", "at"])
    print(f"{points['cpu'].sum():.0f} CPU s in the fastest calls of all points")
    draw(points)
    write_page(points, pd.read_csv(BASES))


if __name__ == "__main__":
    main()
