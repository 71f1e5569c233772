"""Dask: workers that are killed, clients that are stopped, and the option --scheduler."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.ensemble import RandomForestClassifier

import mainstay as ms
from mainstay import _clusters
from mainstay._parallel import run_tasks
from mainstay._provenance import versions
from mainstay.cli import main


def processes(client: Any) -> list[int]:
    return list(client.run(os.getpid).values())


@pytest.fixture
def kill_in_the_middle(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any, int], list[int]]:
    """Kill a worker after so many results; the list has its process as soon as it is dead."""

    def arrange(client: Any, after: int) -> list[int]:
        killed: list[int] = []
        results = _clusters._Dask.results

        def interrupted(self: Any, *arguments: Any) -> Iterator[Any]:
            made = results(self, *arguments)
            for n, result in enumerate(made):
                if n == after and not killed:
                    killed.append(processes(client)[0])
                    os.kill(killed[0], signal.SIGKILL)
                yield result

        monkeypatch.setattr(_clusters._Dask, "results", interrupted)
        return killed

    return arrange


def slow_total() -> Callable[[np.ndarray, int], tuple[float, int]]:
    def task(values: np.ndarray, i: int) -> tuple[float, int]:
        time.sleep(0.1)
        return float(values.sum()) + i, os.getpid()

    return task


def n_tasks_left(client: Any) -> int:
    def count(dask_scheduler: Any) -> int:
        return sum(key.startswith("mainstay") for key in dask_scheduler.tasks)

    return client.run_on_scheduler(count)


def soon(claim: Callable[[], bool], seconds: float = 10) -> bool:
    end = time.monotonic() + seconds
    while not claim() and time.monotonic() < end:
        time.sleep(0.1)
    return claim()


class TestKilledWorkers:
    def test_one_of_two_changes_no_bit_of_an_ensemble(
        self,
        dask_client: Any,
        kill_in_the_middle: Callable[[Any, int], list[int]],
        labelled: tuple[np.ndarray, np.ndarray],
    ) -> None:
        def fit(n_jobs: int | None) -> bytes:
            forest = RandomForestClassifier(10, random_state=0)
            selector = ms.EnsembleSelector(forest, n_resamples=16, random_state=0, n_jobs=n_jobs)
            return selector.fit(*labelled).runs_.scores.tobytes()

        killed = kill_in_the_middle(dask_client, 4)
        with joblib.parallel_config("dask", client=dask_client):
            assert fit(None) == fit(1)
        assert killed
        assert killed[0] not in processes(dask_client)

    def test_the_tasks_of_the_dead_are_done_by_others(
        self, dask_client: Any, kill_in_the_middle: Callable[[Any, int], list[int]]
    ) -> None:
        killed = kill_in_the_middle(dask_client, 6)
        values = np.arange(20_000.0)
        with joblib.parallel_config("dask", client=dask_client):
            found = run_tasks(slow_total(), [(values, i) for i in range(30)])
        assert [total for total, _ in found] == [values.sum() + i for i in range(30)]
        assert killed[0] in {process for _, process in found}
        assert len({process for _, process in found}) > 1

    def test_data_that_the_only_worker_held_are_sent_again(
        self, kill_in_the_middle: Callable[[Any, int], list[int]], local_dask: Any
    ) -> None:
        with (
            local_dask(n_workers=1, threads_per_worker=2) as client,
            joblib.parallel_config("dask", client=client),
        ):
            killed = kill_in_the_middle(client, 3)
            values = np.arange(20_000.0)
            found = run_tasks(slow_total(), [(values, i) for i in range(12)])
        assert [total for total, _ in found] == [values.sum() + i for i in range(12)]
        assert {process for _, process in found} > {killed[0]}


class TestStoppedClients:
    def test_ctrl_c_leaves_no_tasks_behind(self, dask_client: Any) -> None:
        values = np.arange(20_000.0)
        threading.Timer(1.0, signal.raise_signal, [signal.SIGINT]).start()
        with (
            joblib.parallel_config("dask", client=dask_client),
            pytest.raises(KeyboardInterrupt),
        ):
            run_tasks(slow_total(), [(values, i) for i in range(200)])
        assert soon(lambda: n_tasks_left(dask_client) == 0)

    def test_sigterm_leaves_no_tasks_behind(self, dask_client: Any, table: Path) -> None:
        command = [
            sys.executable, "-m", "mainstay.cli", "select", table, "--target", "y",
            "--ranker", "random_forest", "--resamples", "2000",
            "--scheduler", dask_client.scheduler.address,
        ]  # fmt: skip
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as client:
            assert soon(lambda: n_tasks_left(dask_client) > 0, seconds=60)
            client.terminate()
            _, said = client.communicate(timeout=60)
        assert client.returncode == 128 + signal.SIGTERM
        assert said == "Error: stopped by SIGTERM.\n"
        assert soon(lambda: n_tasks_left(dask_client) == 0)


# ---------------------------------------------------------------------- the command line


@pytest.fixture(scope="session")
def table(
    labelled: tuple[np.ndarray, np.ndarray], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    X, y = labelled
    path = tmp_path_factory.mktemp("data") / "data.csv"
    pd.DataFrame(X).add_prefix("x").assign(y=y).to_csv(path, index=False)
    return path


def mainstay(*arguments: object) -> Any:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_scheduler_gives_what_one_core_gives(
    dask_client: Any, table: Path, tasks_sent: list[int]
) -> None:
    select = ("select", table, "--target", "y", "-r", "random_forest", "--resamples", 3, "--json")
    local = mainstay(*select)
    assert tasks_sent == []
    remote = mainstay(*select, "--scheduler", dask_client.scheduler.address)
    assert remote.exit_code == 0, remote.output
    assert remote.stdout == local.stdout
    assert tasks_sent == [3]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--scheduler", "nonsense"), "written as tcp://HOST:PORT, got 'nonsense'"),
        (("--scheduler", "http://127.0.0.1:1"), "written as tcp://HOST:PORT, got 'http://127"),
        (("--scheduler", "tcp://127.0.0.1:9"), "no Dask scheduler has answered at 'tcp://127.0.0"),
        (("--scheduler", "tcp://127.0.0.1:9", "--jobs", "2"), "leave it out with --scheduler"),
    ],
)
def test_a_wrong_scheduler_is_one_line(
    given: tuple[str, ...],
    said: str,
    table: Path,
    monkeypatch: pytest.MonkeyPatch,
    dask_client: Any,
) -> None:
    monkeypatch.setattr(_clusters, "_SECONDS_TO_CONNECT", 1)
    result = mainstay("select", table, "--target", "y", *given)
    assert result.exit_code == 2
    *_, error = result.stderr.strip().splitlines()
    assert error.startswith("Error: ")
    assert said in error


def test_a_scheduler_without_workers_is_one_line(table: Path, local_dask: Any) -> None:
    with local_dask(n_workers=0) as client:
        address = client.scheduler.address
        result = mainstay("select", table, "--target", "y", "--scheduler", address)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: the Dask scheduler at {address} has no workers.")
    assert result.stderr.count("\n") == 1


class FakeClient:
    """A client that tells of one worker what it is told to."""

    def __init__(self, installed: bool, **versions_there: str) -> None:
        self.installed, self.versions = installed, versions() | versions_there

    def run(self, function: Any, *_: Any) -> dict[str, Any]:
        answer = self.versions if function is versions else (self.installed or None)
        return {"tcp://10.0.0.7:40000": answer}

    def run_on_scheduler(self, *_: Any) -> bool:
        return True


def test_workers_without_mainstay_are_refused() -> None:
    with pytest.raises(ms.InputError, match=r"not installed for 'tcp://10\.0\.0\.7:40000'"):
        _clusters._check_versions(FakeClient(installed=False))


def test_workers_with_other_versions_are_named() -> None:
    with pytest.warns(UserWarning, match=r"tcp://10\.0\.0\.7:40000 has numpy 1\.0, and here"):
        _clusters._check_versions(FakeClient(installed=True, numpy="1.0"))
