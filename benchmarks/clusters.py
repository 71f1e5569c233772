"""What two workers bring: time and CPU of several pieces, with processes, on Dask and on Ray.

    python benchmarks/clusters.py                     all, some three minutes on an idle machine;
                                                      rewrites the table in docs/clusters.md
    python benchmarks/clusters.py --only forests      pieces whose name contains this
    python benchmarks/clusters.py --places dask ray   besides one process

Efficiency is the time of one process over twice the time with two workers, of work that takes one
process 10 to 20 s. On a machine where others work, too, it says little; "CPU" is then the better
figure: all CPU seconds of the client and the workers over those of one process, which is 1 if
distributing the work costs nothing. Workers are warm, as in any run of more than a minute: before
it is timed, small work is repeated until every worker has had some. What starting and warming them
took is in the last column. Needs mainstay[dask,ray].
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import _harness  # noqa: F401  (sets the number of threads before numpy is loaded)
import joblib
import numpy as np
import psutil
from _pages import fill, table
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

import mainstay as ms

WORKERS = 2
PAGE = Path(__file__).resolve().parents[1] / "docs" / "clusters.md"
HEADER = ["work", "where", "wall s", "efficiency", "CPU s", "CPU", "start-up s"]
Work = Callable[[int, int | None], np.ndarray]  # how much of it, n_jobs → what must be equal


@contextmanager
def on_dask() -> Iterator[None]:
    """Workers as Dask starts them."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=WORKERS,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
        joblib.parallel_config("dask", client=client),
    ):
        yield


@contextmanager
def on_ray() -> Iterator[None]:
    import ray
    from ray.util.joblib import register_ray

    register_ray()
    ray.init(num_cpus=WORKERS, include_dashboard=False, logging_level="error",
             _node_ip_address="127.0.0.1")  # fmt: skip
    with joblib.parallel_config("ray"):
        yield
    ray.shutdown()


PLACES: dict[str, tuple[Callable[[], AbstractContextManager[Any]], int | None]] = {
    "processes": (nullcontext, WORKERS),
    "dask": (on_dask, None),
    "ray": (on_ray, None),
}


# ---------------------------------------------------------------------- work


@cache
def problem(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    return make_classification(n, p, n_informative=20, random_state=0)


def forests(n_resamples: int, n_jobs: int | None) -> np.ndarray:
    """An ensemble of random forests: tasks of a quarter of a second."""
    model = RandomForestClassifier(100, random_state=0)
    selector = ms.EnsembleSelector(
        model, n_resamples=n_resamples, similarity_threshold=None, random_state=0, n_jobs=n_jobs,
        progress=False,
    )  # fmt: skip
    return selector.fit(*problem(200, 2_000)).runs_.scores


def studies(n_pairs: int, n_jobs: int | None) -> np.ndarray:
    """Replicability of the F-statistic: hundreds of tasks of some milliseconds."""
    found = ms.replicability(
        "f_statistic", *problem(1_000, 6_000), n_features_to_select=50, n_pairs=n_pairs,
        n_splits=5, random_state=0, n_jobs=n_jobs, progress=False,
    )  # fmt: skip
    return found.runs.scores


def permutations(n_permutations: int, n_jobs: int | None) -> np.ndarray:
    """Evidence: the whole ensemble again for every permuted target."""
    found = ms.feature_evidence(
        "f_statistic", *problem(200, 4_000), n_permutations=n_permutations, random_state=0,
        similarity_threshold=None, n_jobs=n_jobs, progress=False,
    )  # fmt: skip
    return found.p_values


PIECES: dict[str, tuple[Work, int, int]] = {  # how much: to warm up, and to measure
    "forests": (forests, 2 * WORKERS, 80),
    "replicability": (studies, 5, 1_800),
    "permutations": (permutations, 20, 1_200),
}


# ---------------------------------------------------------------------- measuring


def cpu_by_process() -> dict[int, float]:
    """CPU of this process and of those that it has started."""
    found = {}
    for process in [psutil.Process(), *psutil.Process().children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            found[process.pid] = times.user + times.system
    return found


def warm_up(work: Work, little: int, n_jobs: int | None) -> None:
    """Repeat a little work until as many workers as there are have done some of it."""
    for _ in range(20):
        before = cpu_by_process()
        work(little, n_jobs)
        busy = {pid for pid, s in cpu_by_process().items() if s - before.get(pid, 0.0) > 0.02}
        if len(busy - {os.getpid()}) >= WORKERS:
            return


@dataclass(frozen=True)
class Outcome:
    """Seconds by the clock and of CPU, and what was computed."""

    wall: float
    cpu: float
    result: np.ndarray


def measure(work: Work, much: int, n_jobs: int | None) -> Outcome:
    cpu, wall = sum(cpu_by_process().values()), time.perf_counter()
    result = work(much, n_jobs)
    wall = time.perf_counter() - wall
    return Outcome(wall, sum(cpu_by_process().values()) - cpu, result)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="pieces whose name contains this")
    parser.add_argument("--places", nargs="+", choices=PLACES, default=list(PLACES))
    options = parser.parse_args()
    pieces = {name: piece for name, piece in PIECES.items() if options.only in name}
    alone, rows = {}, []
    print(" | ".join(HEADER))
    for name, (work, little, much) in pieces.items():
        work(little, 1)  # compiles
        alone[name] = measure(work, much, 1)
        wall, cpu = alone[name].wall, alone[name].cpu
        rows.append([name, "one process", f"{wall:.1f}", "", f"{cpu:.1f}", "", ""])
        print(" | ".join(rows[-1]), flush=True)
    for place in options.places:
        where, n_jobs = PLACES[place]
        start = time.perf_counter()
        with where():
            for name, (work, little, much) in pieces.items():
                warm_up(work, little, n_jobs)
                started = time.perf_counter() - start
                found, one = measure(work, much, n_jobs), alone[name]
                assert found.result.tobytes() == one.result.tobytes(), f"other bits: {place}"
                efficiency = one.wall / (WORKERS * found.wall)
                rows.append([name, place, f"{found.wall:.1f}", f"{efficiency:.0%}",
                             f"{found.cpu:.1f}", f"{found.cpu / one.cpu:.2f}",
                             f"{started:.1f}"])  # fmt: skip
                print(" | ".join(rows[-1]), flush=True)
                start = time.perf_counter()
    if pieces == PIECES and options.places == list(PLACES):
        when = f"Measured {date.today():%d %B %Y} on a machine of two cores."
        fill(PAGE, {"clusters": f"{when}\n\n{table(HEADER, rows)}"})


if __name__ == "__main__":
    main()
