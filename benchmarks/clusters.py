"""What two workers bring: time and CPU of one ensemble, with processes, on Dask and on Ray.

    python benchmarks/clusters.py [--resamples 60]

Efficiency is the time of one process over twice the time with two workers. On a machine where
others work, too, it says little; "CPU" is then the better figure: all CPU seconds of the client and
the workers over those of one process, which is 1 if distributing the work costs nothing. Workers
are warm, as in any run of more than a minute. Needs mainstay[dask,ray].
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

import joblib
import numpy as np
import psutil
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

import mainstay as ms

WORKERS = 2


@contextmanager
def on_dask() -> Iterator[None]:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=WORKERS,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
        ) as cluster,  # fmt: skip
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


def cpu_seconds() -> float:
    """CPU of this process and of those that it has started."""
    total = 0.0
    for process in [psutil.Process(), *psutil.Process().children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            total += times.user + times.system
    return total


def measure(X: np.ndarray, y: np.ndarray, n_resamples: int, n_jobs: int | None) -> dict[str, Any]:
    selector = ms.EnsembleSelector(
        RandomForestClassifier(100, random_state=0), random_state=0, n_jobs=n_jobs
    )
    selector.set_params(n_resamples=2 * WORKERS).fit(X, y)  # warm
    cpu, wall = cpu_seconds(), time.perf_counter()
    selector.set_params(n_resamples=n_resamples).fit(X, y)
    return {
        "wall": time.perf_counter() - wall,
        "cpu": cpu_seconds() - cpu,
        "scores": selector.runs_.scores,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--resamples", type=int, default=60)
    n_resamples = parser.parse_args().resamples
    X, y = make_classification(200, 2000, n_informative=20, random_state=0)
    places: dict[str, tuple[Any, int | None]] = {
        "one process": (nullcontext(), 1),
        "joblib": (nullcontext(), WORKERS),
        "dask": (on_dask(), None),
        "ray": (on_ray(), None),
    }
    alone: dict[str, Any] = {}
    print(f"{'':12} {'wall s':>8} {'efficiency':>11} {'CPU s':>8} {'CPU':>6}")
    for place, (where, n_jobs) in places.items():
        with where:
            found = measure(X, y, n_resamples, n_jobs)
        alone = alone or found
        assert found["scores"].tobytes() == alone["scores"].tobytes(), f"other bits on {place}"
        workers = 1 if place == "one process" else WORKERS
        efficiency = alone["wall"] / (workers * found["wall"])
        print(f"{place:12} {found['wall']:8.1f} {efficiency:11.0%} {found['cpu']:8.1f} "
              f"{found['cpu'] / alone['cpu']:6.2f}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
