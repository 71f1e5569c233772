"""Rows that are read block by block, against reading the same Parquet files with pyarrow alone.

Run: python benchmarks/streaming.py [throughput] [ensemble] [growth] [bases]

"bases" writes what a unit of work takes to results/streaming_bases.csv, for the page "Growth".
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from _harness import Row, clock, main, seconds_of

P = 100
RESULT = Path(__file__).resolve().parent / "results" / "streaming_bases.csv"


def write_files(folder: Path, n_rows: int, n_files: int) -> Path:
    import pandas as pd

    rng = np.random.default_rng(0)
    names = [f"g{j}" for j in range(P)]
    for number in range(n_files):
        n = n_rows // n_files
        y = rng.integers(2, size=n)
        X = rng.normal(size=(n, P)).astype(np.float32)
        X[:, 0] += 0.1 * y
        table = pd.DataFrame(X, columns=names).assign(y=y)
        table.to_parquet(folder / f"{number:03}.parquet", index=False)
    return folder


def read_alone(folder: Path) -> int:
    """Read all files with pyarrow, in one thread, as streaming does, and keep nothing."""
    import pyarrow.parquet as pq

    return sum(pq.read_table(path, use_threads=False).num_rows for path in folder.iterdir())


def throughput(ranker: str, n_rows: int) -> list[Row]:
    """One statistic of all rows, without resampling, and without a look for twins."""
    import mainstay as ms

    with tempfile.TemporaryDirectory() as name:
        folder = write_files(Path(name), n_rows, 5)
        selector = ms.EnsembleSelector(
            ranker, resampling="none", similarity_threshold=None, random_state=0, progress=False
        )
        small = write_files(Path(tempfile.mkdtemp(dir=name)), 5000, 1)
        selector.fit(ms.RowBatches.open(small, "y"))  # compiles
        read_alone(small)
        for path in (*small.iterdir(), small):
            path.rmdir() if path.is_dir() else path.unlink()
        reading = min(seconds_of(lambda: read_alone(folder)) for _ in range(3))
        streaming = min(
            seconds_of(lambda: selector.fit(ms.RowBatches.open(folder, "y"))) for _ in range(3)
        )
        assert selector.get_feature_names_out()[0] == "g0"
    what = f"{ranker}, {n_rows:,} × {P}, read alone: {reading:.2f} s"
    return [(what, streaming, None, f"{streaming / reading:.2f} × reading alone; wanted ≤ 3")]


def ensemble(n_rows: int, n_resamples: int) -> list[Row]:
    """The Poisson bootstrap, streamed and in memory: the same scores."""
    import pandas as pd

    import mainstay as ms

    with tempfile.TemporaryDirectory() as name:
        folder = write_files(Path(name), n_rows, 5)
        selector = ms.EnsembleSelector(
            "f_statistic", resampling="poisson", n_resamples=n_resamples, random_state=0,
            similarity_threshold=None, progress=False,
        )  # fmt: skip
        streamed, fitted = clock(lambda: selector.fit(ms.RowBatches.open(folder, "y")).runs_.scores)
        table = pd.read_parquet(folder)
        y = table.pop("y").to_numpy()
        seconds, here = clock(lambda: selector.fit(table, y).runs_.scores)
        # scores near 0 are differences of sums, so that their error is absolute
        np.testing.assert_allclose(fitted, here, rtol=1e-10, atol=1e-10)
    what = f"f_statistic, {n_rows:,} × {P}, {n_resamples} resamples"
    return [(what, streamed, None, f"in memory {seconds:.2f} s; scores agree to 1e-10")]


def bases(n_rows: int, n_resamples: int) -> list[Row]:
    """CPU seconds per row, feature and resample, reading included, for benchmarks/scaling.py."""
    import pandas as pd

    import mainstay as ms

    def seconds(folder: Path, ranker: str, resampling: str) -> float:
        selector = ms.EnsembleSelector(
            ranker, resampling=resampling, n_resamples=n_resamples, random_state=0,
            similarity_threshold=None, progress=False,
        )  # fmt: skip
        call = lambda: selector.fit(ms.RowBatches.open(folder, "y"))  # noqa: E731
        call()  # compiles
        return min(seconds_of(call) for _ in range(2))

    with tempfile.TemporaryDirectory() as name:
        folder, cells = write_files(Path(name), n_rows, 5), n_rows * P
        found = {
            "read_parquet": min(seconds_of(lambda: read_alone(folder)) for _ in range(3)) / cells,
            "f_statistic_once": seconds(folder, "f_statistic", "none") / cells,
            "f_statistic": seconds(folder, "f_statistic", "poisson") / cells / n_resamples,
            "information_gain": seconds(folder, "information_gain", "poisson")
            / cells
            / n_resamples,
        }
    table = pd.DataFrame({"what": list(found), "seconds": list(found.values())})
    table.to_csv(RESULT, index=False, float_format="%.4g")
    return [(f"{what}, per value", unit, None, "") for what, unit in found.items()]


CASES = {
    "throughput": [
        (throughput, ("f_statistic", 1_000_000)),
        (throughput, ("correlation", 1_000_000)),
        (throughput, ("information_gain", 1_000_000)),
    ],
    "ensemble": [(ensemble, (200_000, 50))],
    "bases": [(bases, (200_000, 20))],
    "growth": [
        (throughput, ("f_statistic", 250_000)),
        (throughput, ("f_statistic", 500_000)),
        (throughput, ("f_statistic", 2_000_000)),
    ],
}

if __name__ == "__main__":
    main(__doc__, CASES, "")
