"""Tasks: one core each, on whatever joblib offers."""

from __future__ import annotations

import os
import time

import joblib
import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_info, threadpool_limits

import mainstay as ms
from mainstay._parallel import n_threads, run_tasks


def most_threads(_: int = 0) -> int:
    time.sleep(0.01)
    return max(pool["num_threads"] for pool in threadpool_info())


def test_bits_do_not_depend_on_the_number_of_blas_threads() -> None:
    X, y = make_classification(300, 3000, n_informative=20, random_state=0)

    def scores(n_threads: int) -> np.ndarray:
        with threadpool_limits(n_threads):
            selector = ms.EnsembleSelector(
                LogisticRegression(max_iter=50), n_resamples=2, random_state=0, n_jobs=1
            )
            return selector.fit(X, y).runs_.scores

    np.testing.assert_array_equal(scores(1), scores(2))


@pytest.mark.parametrize("n_jobs", [0, "a", 1.5, True])
def test_what_is_no_number_of_cores_is_refused(n_jobs: object) -> None:
    with pytest.raises(ms.InputError, match=f"n_jobs .* a number of cores.*, got {n_jobs!r}"):
        run_tasks(os.path.basename, [("a/b",)], n_jobs=n_jobs)
    run_tasks(os.path.basename, [("a/b",)], n_jobs=np.int64(1))


@pytest.mark.parametrize(("backend", "n_jobs"), [("loky", 1), ("loky", 2), ("threading", 2)])
def test_a_task_has_one_thread(backend: str, n_jobs: int) -> None:
    with threadpool_limits(2), joblib.parallel_config(backend):
        found = run_tasks(most_threads, [(i,) for i in range(6)], n_jobs=n_jobs)
        assert found == [1] * 6
        assert most_threads() == 2


def test_backends_that_give_all_results_at_once_work() -> None:
    with joblib.parallel_config("multiprocessing"):
        found = run_tasks(os.path.basename, [("a/b",), ("c/d",), ("e/f",)], n_jobs=2)
    assert found == ["b", "d", "f"]


def test_threads_are_never_more_than_this_machine_has_cores() -> None:
    assert n_threads(10_000) == joblib.cpu_count()
    assert n_threads(1) == 1
