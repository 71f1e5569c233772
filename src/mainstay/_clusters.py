"""Tasks on a cluster of Dask or Ray: what they share is sent once, and a dead worker is no loss.

Objects that several tasks have in common (the data, above all) are pickled, put into the cluster
once and unpickled once by every worker process; a task carries only what is its own, and tasks that
turn out to be short are sent several at a time. What was put there stays as long as the object
lives and is used again if it has not changed. Dask and Ray repeat the tasks of a worker that died;
what only that worker held is sent again.
"""

from __future__ import annotations

import hashlib
import pickle
import re
import time
import warnings
import weakref
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np

from mainstay._provenance import NUMBERS_DEPEND_ON, versions
from mainstay._validation import InputError, some

Numbers = tuple[int, ...]  # of tasks that are sent together
Calls = Mapping[Numbers, bytes]
Results = Generator[tuple[int, Any], None, None]
# Numbers of tasks, their results, and the seconds that each of them took.
Made = Generator[tuple[Numbers, list[Any], float], None, None]

_CARRIED = 10_000  # bytes up to which an object travels with every task: putting it costs more
_PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic)
_SECONDS_TO_CONNECT = 10
_LOOK = "Look into the logs of the workers: often they are short of memory."
_FIRST, _LEAST = 3, 4  # tasks per worker that are sent alone, and later parcels per worker
_SECONDS_OF_PARCEL = 0.25  # far more than sending it takes
_MOST_TRIES = 5  # in a row without a single result, after everything in the cluster was lost


class Cluster(Protocol):
    """What mainstay needs of Dask or Ray."""

    @property
    def identity(self) -> Any:
        """Something weakly referable that lives as long as what was put into the cluster."""

    def n_workers(self) -> int:
        """How many tasks run at the same time."""

    def dumps(self, value: Any) -> bytes:
        """Pickle, classes and functions of the main program included."""

    def put(self, content: np.ndarray) -> Any:
        """Bring bytes into the cluster; give a handle."""

    def holds(self, handle: Any) -> bool:
        """Whether the cluster still has what a handle stands for."""

    def results(
        self, calls: Calls, more: Callable[[float], Calls], digests: Sequence[str], handles: Any
    ) -> Made:
        """What `_call` returns, as it is there; what was lost is left out.

        As soon as some worker must have done a second call, `more` is told the least seconds that a
        task took, and gives the other calls.
        """


def cluster_of(backend: Any) -> Cluster | None:
    """The cluster that a backend of joblib stands for; None for threads and local processes."""
    kind = type(backend).__name__
    if kind == "DaskDistributedBackend":
        return _Dask(backend)
    if kind == "RayBackend":
        return _Ray(backend)
    return None


def on_cluster(
    cluster: Cluster, function: Callable[..., Any], tasks: Sequence[Any], which: Sequence[int]
) -> Results:
    """Numbers and results of `function(*tasks[i])` for the i asked for, as they are there.

    Parameters
    ----------
    cluster : Cluster
        Where.
    function : callable
        A pure function; it and its arguments can be pickled.
    tasks : sequence of tuples
        Arguments of every call.
    which : sequence of int
        Which of the tasks to do.
    """
    shared = _Shared(cluster, [tasks[i] for i in which])
    missing = dict.fromkeys(which)
    tries = 0

    def calls(numbers: Sequence[int], size: int) -> Calls:
        parcels = [tuple(numbers[at : at + size]) for at in range(0, len(numbers), size)]
        return {
            parcel: cluster.dumps((function, [shared.without(tasks[i]) for i in parcel]))
            for parcel in parcels
        }

    while missing:
        tries += 1
        n_workers, todo = cluster.n_workers(), list(missing)
        n_first = _FIRST * n_workers if len(todo) > 2 * _FIRST * n_workers else len(todo)
        more = partial(_parcels, calls, todo[n_first:], n_workers)
        made = cluster.results(calls(todo[:n_first], 1), more, shared.digests, shared.handles())
        with closing(made):
            for numbers, results, _ in made:
                for i, result in zip(numbers, results, strict=True):
                    del missing[i]
                    tries = 0
                    yield i, result
        if tries == _MOST_TRIES:
            raise InputError(
                f"the cluster lost its workers {tries} times in a row before a single task was "
                f"done. {_LOOK}"
            )


def _parcels(
    calls: Callable[[Sequence[int], int], Calls],
    todo: Sequence[int],
    n_workers: int,
    seconds: float,
) -> Calls:
    """The other tasks: as many to a parcel as take a while, but several parcels for each worker."""
    fair = len(todo) // (_LEAST * n_workers)
    return calls(todo, max(1, min(fair, round(_SECONDS_OF_PARCEL / max(seconds, 1e-6)))))


# ---------------------------------------------------------------------- what tasks share


@dataclass(frozen=True)
class _Place:
    """Stands in a task for the shared object of that number."""

    number: int


@dataclass(frozen=True)
class _Sent:
    """What was put into a cluster."""

    digest: str
    handle: Any


class _Shared:
    """Objects that several tasks have in common, and where in the cluster they are."""

    def __init__(self, cluster: Cluster, tasks: Sequence[tuple[Any, ...]]) -> None:
        self._cluster = cluster
        self._objects: list[Any] = []
        self._contents: list[bytes] = []
        self._places: dict[int, _Place] = {}
        objects = {id(part): part for task in tasks for part in task}
        times = Counter(number for task in tasks for number in {id(part) for part in task})
        for number, part in objects.items():
            if times[number] > 1 and not isinstance(part, _PLAIN):
                content = cluster.dumps(part)
                if len(content) > _CARRIED:
                    self._places[number] = _Place(len(self._objects))
                    self._objects.append(part)
                    self._contents.append(content)
        self.digests = [hashlib.blake2b(content, digest_size=16).hexdigest()
                        for content in self._contents]  # fmt: skip
        self._sent: list[_Sent | None] = [None] * len(self._objects)

    def without(self, task: tuple[Any, ...]) -> tuple[Any, ...]:
        """The task with places instead of shared objects."""
        return tuple(self._places.get(id(part), part) for part in task)

    def handles(self) -> list[Any]:
        """Where the shared objects are; those that are not in the cluster are put there."""
        known = _sent_before.setdefault(self._cluster.identity, {})
        handles = []
        for n, part in enumerate(self._objects):
            sent = self._sent[n] or known.get(id(part))
            if (
                sent is None
                or sent.digest != self.digests[n]
                or not self._cluster.holds(sent.handle)
            ):
                content = np.frombuffer(self._contents[n], np.uint8)
                sent = _Sent(self.digests[n], self._cluster.put(content))
                _keep_while_alive(known, part, sent)
            self._sent[n] = sent
            handles.append(sent.handle)
        return handles


# by cluster, then by the identity of the object
_sent_before: weakref.WeakKeyDictionary[Any, dict[int, _Sent]] = weakref.WeakKeyDictionary()


def _keep_while_alive(known: dict[int, _Sent], part: Any, sent: _Sent) -> None:
    """Remember what was sent until its object goes; tuples and lists are sent for every list."""
    new = id(part) not in known
    try:
        if new:
            weakref.finalize(part, known.pop, id(part), None).atexit = False
    except TypeError:
        return
    known[id(part)] = sent


class _Rest:
    """Calls that wait until it is known how long a task takes."""

    def __init__(self, more: Callable[[float], Calls], n_workers: int) -> None:
        self._more, self._n_workers = more, n_workers
        self._seconds: list[float] = []

    def after(self, made: Sequence[tuple[Numbers, list[Any], float]]) -> Calls:
        """What is to be sent now that these are done: nothing, or once all that is left."""
        already = len(self._seconds) > self._n_workers
        self._seconds += [seconds for _, _, seconds in made]
        if already or len(self._seconds) <= self._n_workers:  # the first in a worker takes longer
            return {}
        return self._more(min(self._seconds))


# ---------------------------------------------------------------------- in the worker

_unpacked: dict[str, Any] = {}


def _call(
    numbers: Numbers, content: bytes, digests: Sequence[str], *shared: np.ndarray
) -> tuple[Numbers, list[Any], float]:
    """Do some tasks in a worker, which keeps the shared objects until it gets others."""
    global _unpacked
    known = _unpacked
    objects = {
        digest: known[digest] if digest in known else pickle.loads(part.data)
        for digest, part in zip(digests, shared, strict=True)
    }
    _unpacked = objects
    function, tasks = pickle.loads(content)
    in_order = [objects[digest] for digest in digests]
    start, results = time.perf_counter(), []
    for task in tasks:
        arguments = [in_order[part.number] if isinstance(part, _Place) else part for part in task]
        results.append(function(*arguments))
    return numbers, results, (time.perf_counter() - start) / len(tasks)


# ---------------------------------------------------------------------- Dask


class _Dask:
    """A scheduler of Dask, through the client of joblib's backend."""

    def __init__(self, backend: Any) -> None:
        self._backend = backend
        self.identity = backend.client

    def n_workers(self) -> int:
        try:
            return int(self._backend.effective_n_jobs(-1))
        except TimeoutError as error:
            raise InputError(
                f"the Dask scheduler at {self.identity.scheduler.address} has no workers. Start "
                "some: dask worker ADDRESS."
            ) from error

    def dumps(self, value: Any) -> bytes:
        import cloudpickle

        return bytes(cloudpickle.dumps(value))

    def put(self, content: np.ndarray) -> Any:
        # to every worker: each needs it, and none is the only one that has it
        return self.identity.scatter(content, broadcast=True, hash=False)

    def holds(self, handle: Any) -> bool:
        return bool(handle.status == "finished")

    def results(
        self, calls: Calls, more: Callable[[float], Calls], digests: Sequence[str], handles: Any
    ) -> Made:
        from distributed import as_completed
        from distributed.client import CancelledError
        from distributed.scheduler import KilledWorker

        client = self.identity
        if client not in _checked:
            _check_versions(client)
            _checked.add(client)

        def submitted(calls: Calls) -> set[Any]:
            with warnings.catch_warnings():  # a task carries no more than it needs
                warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
                return set(client.map(
                    _call_with, list(calls), list(calls.values()), key="mainstay", pure=False,
                    digests=digests, handles=handles, **self._backend.submit_kwargs,
                ))  # fmt: skip

        waiting, rest = submitted(calls), _Rest(more, self.n_workers())
        completed = as_completed(waiting, loop=client.loop)
        try:
            for batch in completed.batches():
                # a task is cancelled when the data that it needs are lost
                done = [future for future in batch if future.status != "cancelled"]
                try:
                    found = client.gather(done)
                except CancelledError:
                    continue
                if others := rest.after(found):
                    futures = submitted(others)
                    completed.update(futures)
                    waiting |= futures
                yield from found
                for future in done:
                    future.release()
                waiting.difference_update(done)
        except KilledWorker as error:
            raise InputError(
                f"a task was tried {error.allowed_failures + 1} times, and every time the worker "
                f"died. {_LOOK}"
            ) from error
        finally:
            if waiting:
                client.cancel(list(waiting))


_checked: weakref.WeakSet[Any] = weakref.WeakSet()  # clients whose workers are known to do


def _check_versions(client: Any) -> None:
    """Refuse workers without mainstay; say which ones may not give the same bits."""
    where = dict(client.run(find_spec, "mainstay"))
    where["the scheduler"] = client.run_on_scheduler(find_spec, "mainstay")
    without = [name for name, found in where.items() if found is None]
    if without:
        raise InputError(
            f"mainstay is not installed for {some(without, 3)} of the Dask cluster. Scheduler and "
            "workers need the version that is used here."
        )
    here = versions()
    for worker, there in client.run(versions).items():
        for name in NUMBERS_DEPEND_ON:
            if there[name] != here[name]:
                warnings.warn(
                    f"{worker} has {name} {there[name]}, and here it is {here[name]}: results may "
                    "differ from those on one machine.",
                    stacklevel=2,
                )


@contextmanager
def connected_to_dask(address: str) -> Iterator[Any]:
    """A client of the Dask scheduler at an address, closed at the end."""
    try:
        from distributed import Client
    except ImportError as error:
        raise InputError(
            "a Dask scheduler needs the package distributed: pip install 'mainstay[dask]'."
        ) from error
    if not re.fullmatch(r"(tcp|tls|ws|wss|ucx)://[^/]+:[0-9]+", address):
        raise InputError(
            "the address of a Dask scheduler (--scheduler) is written as tcp://HOST:PORT, got "
            f"{address!r}."
        )
    try:
        client = Client(address, timeout=_SECONDS_TO_CONNECT, set_as_default=False)
    except OSError as error:  # a TimeoutError, too
        raise InputError(
            f"no Dask scheduler has answered at {address!r} within {_SECONDS_TO_CONNECT} seconds. "
            "Give the address that dask scheduler printed when it was started."
        ) from error
    with client:
        yield client


def _call_with(
    numbers: Numbers, content: bytes, digests: Sequence[str], handles: Sequence[np.ndarray]
) -> tuple[Numbers, list[Any], float]:
    return _call(numbers, content, digests, *handles)


# ---------------------------------------------------------------------- Ray


class _Ray:
    """The Ray cluster that this process is connected to, or a local one that Ray starts."""

    def __init__(self, backend: Any) -> None:
        self._options = {"num_cpus": 1, "max_retries": 3} | (backend.ray_remote_args or {})

    @property
    def identity(self) -> Any:
        import ray

        if not ray.is_initialized():
            ray.init()
        return _session(ray.get_runtime_context().get_worker_id())

    def n_workers(self) -> int:
        import ray

        assert self.identity  # connects
        return max(1, int(ray.cluster_resources().get("CPU", 1) // self._options["num_cpus"]))

    def dumps(self, value: Any) -> bytes:
        import ray.cloudpickle

        return bytes(ray.cloudpickle.dumps(value))

    def put(self, content: np.ndarray) -> Any:
        import ray

        return ray.put(content)

    def holds(self, handle: Any) -> bool:
        return True  # it belongs to this process, which is still there

    def results(
        self, calls: Calls, more: Callable[[float], Calls], digests: Sequence[str], handles: Any
    ) -> Made:
        import ray

        remote = _remote_call().options(**self._options)

        def submitted(calls: Calls) -> list[Any]:
            return [remote.remote(n, content, digests, *handles) for n, content in calls.items()]

        waiting, rest = submitted(calls), _Rest(more, self.n_workers())
        try:
            while waiting:
                done, waiting = ray.wait(waiting)
                try:
                    found = ray.get(done[0])
                except ray.exceptions.RayTaskError as error:
                    raise error.cause from error
                waiting += submitted(rest.after([found]))
                yield found
        finally:
            for reference in waiting:
                ray.cancel(reference, force=True)


class _Session:
    """One connection of this process to Ray."""


@cache
def _session(_worker: str) -> _Session:
    return _Session()


@cache
def _remote_call() -> Any:
    import ray

    return ray.remote(_call)
