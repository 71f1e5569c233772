"""What is guaranteed on a cluster, whether it is one of Dask or of Ray."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import mainstay as ms
from mainstay import _clusters
from mainstay._parallel import n_cores, run_tasks

# Tasks are functions inside functions: these are sent by value, so that workers need no test files.


class TestWhereTasksRun:
    def test_by_default_on_all_workers(self, cluster: str) -> None:
        assert n_cores(None) == n_cores(-1) == 2
        used = set(run_tasks(pause_and_tell_process(0.05), [(i,) for i in range(20)]))
        assert len(used) == 2
        assert os.getpid() not in used

    def test_with_one_job_in_this_process(self, cluster: str) -> None:
        assert n_cores(1) == 1
        used = run_tasks(pause_and_tell_process(0), [(i,) for i in range(5)], n_jobs=1)
        assert set(used) == {os.getpid()}

    def test_with_one_job_models_do_not_use_the_cluster_either(self, cluster: str) -> None:
        def workers(_: int) -> int:
            return joblib.effective_n_jobs(-1)

        assert run_tasks(workers, [(i,) for i in range(2)], n_jobs=1) == [1, 1]

    def test_an_only_task_is_not_sent(self, cluster: str) -> None:
        assert run_tasks(pause_and_tell_process(0), [(0,)]) == [os.getpid()]


def pause_and_tell_process(seconds: float) -> Callable[[int], int]:
    def task(_: int) -> int:
        time.sleep(seconds)
        return os.getpid()

    return task


def test_results_come_in_the_order_of_the_tasks(cluster: str) -> None:
    def task(i: int) -> int:
        time.sleep(0.05 * (i % 3))
        return i * i

    assert run_tasks(task, [(i,) for i in range(12)]) == [i * i for i in range(12)]


def test_an_error_in_a_task_is_raised_as_it_was(cluster: str) -> None:
    def task(i: int) -> int:
        if i == 3:
            raise ms.InputError("y has one class only.")
        return i

    with pytest.raises(ms.InputError, match=r"^y has one class only\.$"):
        run_tasks(task, [(i,) for i in range(6)])


def test_no_thread_pool_and_no_tasks_inside_a_task(cluster: str) -> None:
    def task(i: int) -> dict[str, int]:
        import numba
        from threadpoolctl import threadpool_info

        inner = joblib.Parallel(n_jobs=2)(joblib.delayed(os.getpid)() for _ in range(4))
        return {
            "workers of joblib": joblib.effective_n_jobs(-1),
            "processes of inner tasks": len({*inner, os.getpid()}),
            "threads of libraries": max(pool["num_threads"] for pool in threadpool_info()),
            "threads of numba": numba.get_num_threads(),
        }

    run_tasks(task, [(i,) for i in range(4)])  # from here on numba is loaded
    for found in run_tasks(task, [(i,) for i in range(4)]):
        assert found == dict.fromkeys(found, 1)


def test_a_task_whose_worker_dies_is_done_by_another(cluster: str, tmp_path: Path) -> None:
    def task(values: np.ndarray, i: int) -> float:
        if i == 5:
            try:
                (tmp_path / "first try").touch(exist_ok=False)
                os.kill(os.getpid(), signal.SIGKILL)
            except FileExistsError:
                pass
        return float(values.sum()) + i

    values = np.arange(20_000.0)
    found = run_tasks(task, [(values, i) for i in range(12)])
    assert found == [values.sum() + i for i in range(12)]
    assert (tmp_path / "first try").exists()


@pytest.mark.parametrize(("seconds", "together"), [(0.0, True), (0.3, False)])
def test_short_tasks_travel_together_and_long_ones_alone(
    cluster: str, monkeypatch: pytest.MonkeyPatch, seconds: float, together: bool
) -> None:
    def task(values: np.ndarray, i: int) -> float:
        time.sleep(seconds)
        return float(values[i])

    parcels: list[int] = []
    made = _clusters._parcels

    def spied(*arguments: Any) -> Any:
        calls = made(*arguments)
        parcels.extend(len(numbers) for numbers in calls)
        return calls

    monkeypatch.setattr(_clusters, "_parcels", spied)
    n = 200 if together else 16
    values = np.arange(20_000.0)
    assert run_tasks(task, [(values, i) for i in range(n)]) == list(range(n))
    assert sum(parcels) == n - 6  # three for each of two workers went first
    assert (max(parcels) > 1) is together
    assert len(parcels) >= 8  # enough for both workers to end at about the same time


def test_an_error_in_a_parcel_is_raised_as_it_was(cluster: str) -> None:
    def task(i: int) -> int:
        if i == 97:
            raise ms.InputError("y has one class only.")
        return i

    with pytest.raises(ms.InputError, match=r"^y has one class only\.$"):
        run_tasks(task, [(i,) for i in range(120)])


# ---------------------------------------------------------------------- what is sent


class Counted:
    """Data that leaves a file wherever it is unpickled."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.values = folder, np.arange(100_000.0)

    def __setstate__(self, state: dict[str, Any]) -> None:
        import secrets

        self.__dict__.update(state)
        (self.folder / f"{os.getpid()}-{secrets.token_hex(4)}").touch()


def by_value(kind: type) -> type:
    """The class as one of the main program, which workers get with the object."""
    kind.__module__ = "__main__"
    return kind


def test_the_data_reach_every_worker_once(cluster: str, tmp_path: Path) -> None:
    def total(data: Any, i: int) -> float:
        time.sleep(0.05)
        return float(data.values.sum()) + i

    data = by_value(Counted)(tmp_path)
    for _ in range(3):
        found = run_tasks(total, [(data, i) for i in range(20)])
        assert found == [data.values.sum() + i for i in range(20)]
    times = Counter(path.name.split("-")[0] for path in tmp_path.iterdir())
    assert set(times.values()) == {1}
    assert len(times) == 2


def test_data_that_changed_are_sent_again(cluster: str) -> None:
    def total(values: np.ndarray, i: int) -> float:
        return float(values.sum())

    values = np.ones(50_000)
    assert run_tasks(total, [(values, i) for i in range(4)]) == [50_000] * 4
    values += 1
    assert run_tasks(total, [(values, i) for i in range(4)]) == [100_000] * 4


def test_what_was_sent_is_forgotten_with_the_data(cluster: str) -> None:
    from mainstay._clusters import _sent_before

    def total(values: np.ndarray, i: int) -> float:
        return float(values.sum())

    def n_sent() -> int:
        return sum(len(of_cluster) for of_cluster in _sent_before.values())

    before = n_sent()
    values = np.ones(50_000)
    run_tasks(total, [(values, i) for i in range(4)])
    assert n_sent() == before + 1
    del values
    assert n_sent() == before


# ---------------------------------------------------------------------- checkpoints


def test_what_a_checkpoint_has_is_not_sent_again(
    cluster: str,
    labelled: tuple[np.ndarray, np.ndarray],
    tmp_path: Path,
    tasks_sent: list[int],
) -> None:
    def fit(**options: Any) -> bytes:
        tree = DecisionTreeClassifier(random_state=0)
        selector = ms.EnsembleSelector(tree, n_resamples=6, random_state=0, **options)
        return selector.fit(*labelled).runs_.scores.tobytes()

    on_cluster = fit(checkpoint=tmp_path)
    assert tasks_sent == [6]
    assert on_cluster == fit(checkpoint=tmp_path) == fit(checkpoint=tmp_path, n_jobs=1)
    assert tasks_sent == [6]
    assert on_cluster == fit(n_jobs=1)
