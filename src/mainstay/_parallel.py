"""The only file that calls joblib: tasks, progress, clean stops.

Where tasks run is decided as everywhere in joblib: by `n_jobs`, and by the backend that
`joblib.parallel_config` has made the active one. `n_jobs=1` is always this process, whatever the
backend. Under Dask or Ray any other value, None included, means all workers of the cluster.
"""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from contextvars import ContextVar
from functools import lru_cache, partial
from numbers import Integral
from typing import Any, Literal

from mainstay._checkpoint import active, paused
from mainstay._clusters import Cluster, cluster_of, connected_to_dask, on_cluster
from mainstay._validation import InputError

Progress = bool | Literal["auto"]


def n_cores(n_jobs: int | None) -> int:
    """Number of workers that `n_jobs` stands for: cores of this machine, or of a cluster."""
    import joblib

    check_n_jobs(n_jobs)
    cluster = None if n_jobs == 1 else _active_cluster()
    return int(joblib.effective_n_jobs(n_jobs)) if cluster is None else cluster.n_workers()


def n_threads(n_jobs: int | None) -> int:
    """Number of threads of this process that `n_jobs` stands for."""
    if n_jobs == 1:  # asked for at every stage of a subspace: counting cores reads files
        return 1
    import joblib

    return min(n_cores(n_jobs), int(joblib.cpu_count()))


@contextmanager
def dask_scheduler(address: str) -> Iterator[None]:
    """Run all tasks inside this block on the workers of a Dask scheduler.

    Raises
    ------
    InputError
        If Dask is not installed, or nothing answers at that address within some seconds.
    """
    import joblib

    with connected_to_dask(address) as client, joblib.parallel_config("dask", client=client):
        n_cores(None)  # is an error if there are no workers
        yield


def _active_cluster() -> Cluster | None:
    """The cluster that `joblib.parallel_config` has made the active backend, or None."""
    from joblib.parallel import get_active_backend

    return cluster_of(get_active_backend()[0])


def run_tasks(
    function: Callable[..., Any],
    tasks: Iterable[tuple[Any, ...]],
    *,
    n_jobs: int | None = None,
    progress: Progress = "auto",
    description: str = "",
) -> list[Any]:
    """Call `function(*task)` for every task, in order, on `n_jobs` cores.

    Whatever is random must come with the task (a seed), so that results do not depend on `n_jobs`.
    A task has one core: BLAS and OpenMP use one thread in it, since how many they use would change
    the last bits of its result.
    The progress bar goes to stderr: if `progress` is True, or "auto" on a terminal when the work
    takes longer than a second. Ctrl-C stops the workers and propagates. Inside a `keep_in` block
    results are kept as soon as they are there, and those that are kept are not computed again; what
    a task is must then not depend on `n_jobs`.
    """
    check_n_jobs(n_jobs)
    todo = list(tasks)
    job = active()
    kept = None if job is None else job.tasks(function, todo)
    results = {} if kept is None else kept.results()
    missing = [i for i in range(len(todo)) if i not in results]

    def finished() -> Iterator[None]:
        yield from [None] * len(results)
        with closing(_as_completed(function, todo, missing, n_jobs)) as made:
            for i, result in made:
                if kept is not None:
                    kept.keep(i, result)
                results[i] = result
                yield None

    with paused(), one_thread():
        collect(finished(), len(todo), progress=progress, description=description)
    return [results[i] for i in range(len(todo))]


def _as_completed(
    function: Callable[..., Any], todo: Sequence[tuple[Any, ...]], which: list[int], n_jobs: Any
) -> Generator[tuple[int, Any], None, None]:
    """Numbers of tasks and their results, in the order in which these are there."""
    cluster = _active_cluster()
    alone = n_cores(n_jobs) == 1 if cluster is None else n_jobs == 1 or len(which) < 2
    if alone:  # thousands of small calls: a pool for each would cost more than the work
        with nullcontext() if cluster is None else _no_inner_tasks():
            yield from ((i, function(*todo[i])) for i in which)
    elif cluster is None:
        yield from _on_this_machine(function, todo, which, n_jobs)
    else:
        with closing(on_cluster(cluster, partial(_in_worker, function), todo, which)) as made:
            yield from made


def _on_this_machine(
    function: Callable[..., Any], todo: Sequence[tuple[Any, ...]], which: list[int], n_jobs: Any
) -> Generator[tuple[int, Any], None, None]:
    """The same, on the cores of this machine or on whatever other backend is active."""
    import joblib
    from joblib.parallel import get_active_backend

    if not get_active_backend()[0].supports_return_generator:
        parallel = joblib.Parallel(n_jobs=n_jobs)
        yield from parallel(joblib.delayed(_numbered)(i, function, todo[i]) for i in which)
        return
    parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    made = parallel(joblib.delayed(_numbered)(i, function, todo[i]) for i in which)
    try:
        # not "yield from", which would close it before the filter is set
        for numbered in made:  # noqa: UP028
            yield numbered
    finally:
        with warnings.catch_warnings():  # whoever stops early knows that tasks are cancelled
            warnings.filterwarnings("ignore", ".*have been cancelled", UserWarning)
            made.close()


def _numbered(i: int, function: Callable[..., Any], task: tuple[Any, ...]) -> tuple[int, Any]:
    with one_thread():
        return i, function(*task)


# ---------------------------------------------------------------------- one core for a task


def _in_worker(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a worker of a cluster: it has one core, and starts no tasks itself."""
    # not lifted again: a worker of Dask may run other tasks in other threads at the same time
    _thread_pools(len(sys.modules)).limit(limits=1)
    if "numba" in sys.modules:
        sys.modules["numba"].set_num_threads(1)
    with _no_inner_tasks():
        return function(*arguments)


def _no_inner_tasks() -> AbstractContextManager[Any]:
    """What is called in this block, such as a forest of scikit-learn, uses no other workers.

    Under Dask joblib would hand every tree to the scheduler, which is 20 times slower.
    """
    import joblib

    block: AbstractContextManager[Any] = joblib.parallel_config(backend="sequential")
    return block


class _Nesting(threading.local):
    """Whether a thread is inside `one_thread`."""

    inside = False


_nesting = _Nesting()


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep BLAS and OpenMP to one thread: models are small, and sums must not depend on threads."""
    if _nesting.inside:
        yield
        return
    _nesting.inside = True
    try:
        with _thread_pools(len(sys.modules)).limit(limits=1):
            yield
    finally:
        _nesting.inside = False


@lru_cache(1)
def _thread_pools(_n_modules: int) -> Any:
    """Controllers of BLAS and OpenMP; looked up again when something was imported."""
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()


# ---------------------------------------------------------------------- checks and progress


def check_n_jobs(n_jobs: object) -> None:
    """Refuse what does not stand for a number of cores; None leaves it to joblib."""
    number = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not number or n_jobs == 0):
        raise InputError(
            "n_jobs (--jobs) must be a number of cores, or -1 for all of them (-2: all but one), "
            f"got {n_jobs!r}."
        )


_silent: ContextVar[bool] = ContextVar("silent", default=False)


@contextmanager
def without_progress() -> Iterator[None]:
    """Show no progress bars within this block."""
    token = _silent.set(True)
    try:
        yield
    finally:
        _silent.reset(token)


def collect(
    results: Iterable[Any], total: int, *, progress: Progress = "auto", description: str = ""
) -> list[Any]:
    """Take results as they come, with a progress bar if it is wanted (see `run_tasks`)."""
    shown = progress is True or (progress == "auto" and sys.stderr.isatty())
    if not shown or total < 1 or _silent.get():
        return list(results)
    return _with_bar(results, total, description)


def _with_bar(results: Iterable[Any], total: int, description: str) -> list[Any]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bar

    # a single task, which cannot say how far it is, shows at least that time goes by
    time = TimeRemainingColumn() if total > 1 else TimeElapsedColumn()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), time)
    bar = Bar(*columns, console=Console(stderr=True), transient=True)
    collected = []
    with bar, without_progress():  # one bar at a time: not one for every task within
        task = bar.add_task(description, total=total)
        for result in results:
            collected.append(result)
            bar.advance(task)
    return collected
