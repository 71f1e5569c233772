"""Real clusters on this machine, bound to 127.0.0.1.

Without Dask or Ray their tests are skipped, unless MAINSTAY_REQUIRE_CLUSTERS=1.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.datasets import make_classification


def needed(package: str, extra: str) -> Any:
    try:
        return importlib.import_module(package)
    except ImportError:
        reason = f"no {package}: pip install 'mainstay[{extra}]'"
        if os.environ.get("MAINSTAY_REQUIRE_CLUSTERS") == "1":
            pytest.fail(f"{reason}, and MAINSTAY_REQUIRE_CLUSTERS=1 asks for it")
        pytest.skip(reason)


@pytest.fixture(scope="session")
def local_dask() -> Callable[..., AbstractContextManager[Any]]:
    """Makes a client of a new cluster of processes."""
    distributed = needed("distributed", "dask")

    @contextmanager
    def start(n_workers: int, threads_per_worker: int = 1) -> Iterator[Any]:
        with (
            distributed.LocalCluster(
                n_workers=n_workers,
                threads_per_worker=threads_per_worker,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
            ) as cluster,
            distributed.Client(cluster, set_as_default=False) as client,
        ):
            yield client

    return start


@pytest.fixture
def dask_client(local_dask: Callable[..., AbstractContextManager[Any]]) -> Iterator[Any]:
    """Two worker processes with one thread each, new for every test: some kill them."""
    with local_dask(n_workers=2) as client:
        yield client


@pytest.fixture(scope="session")
def ray_cluster() -> Iterator[None]:
    """Two worker processes."""
    ray = needed("ray", "ray")
    from ray.util.joblib import register_ray

    register_ray()
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="error",
        _node_ip_address="127.0.0.1",
    )
    yield
    ray.shutdown()


@pytest.fixture(params=["dask", "ray"])
def cluster(request: pytest.FixtureRequest) -> Iterator[str]:
    """Everything in the test runs on Dask, then on Ray; gives the name."""
    options = {}
    if request.param == "dask":
        options["client"] = request.getfixturevalue("dask_client")
    else:
        request.getfixturevalue("ray_cluster")
    with joblib.parallel_config(request.param, **options):
        yield request.param


@pytest.fixture(scope="session")
def labelled() -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(80, 40, n_informative=5, random_state=0)
    return X, y


@pytest.fixture
def tasks_sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many tasks every list had that went to a cluster."""
    from mainstay import _parallel

    sizes = []
    send = _parallel.on_cluster

    def counted(cluster: Any, function: Any, tasks: Any, which: Any) -> Any:
        sizes.append(len(which))
        return send(cluster, function, tasks, which)

    monkeypatch.setattr(_parallel, "on_cluster", counted)
    return sizes
