"""Checkpoints: finished tasks are kept in a folder, so that work that was killed can go on.

A folder belongs to one job, described in `checkpoint.json`: what is computed, on which data, with
which settings and seed, by which versions. While a checkpoint is active, `run_tasks` keeps the
result of every task as soon as it is there, and does not compute what is already kept. Since a task
is a pure function of its arguments, the result is the same as without interruption.

Every process appends to a file of its own and reads those of all others, so that no two ever write
to the same file and nothing has to be locked. A record carries its length and a checksum: what a
kill cut off, or what was damaged later, is noticed and computed again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import secrets
import struct
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mainstay._packing import pack, unpack
from mainstay._provenance import NUMBERS_DEPEND_ON, WITHOUT_EFFECT, plain, versions
from mainstay._validation import InputError
from mainstay._writing import check_folder_writable, replacing

_FORMAT = 1  # raise it when records mean something else
_DESCRIPTION = "checkpoint.json"
_MAGIC = b"mainstay checkpoint\n"
_RECORD = struct.Struct("<4sIQ")  # mark, length of the key, length of the value; then their CRC
_MARK, _SUM_OF_HEAD, _SUM = b"run:", 4, 16
_PREFIXES = {"data": "", "settings": "", "versions": "version of "}  # in messages
_MOST_SHOWN = 60  # characters of a setting there

_log = logging.getLogger(__name__)


# ---------------------------------------------------------------------- a job and its checkpoint


@contextlib.contextmanager
def keep_in(
    folder: str | Path | None,
    made_by: str,
    settings: Mapping[str, Any],
    data: Callable[[], Mapping[str, Any]],
) -> Iterator[None]:
    """Keep what `run_tasks` computes inside this block, and take from the folder what it has.

    Parameters
    ----------
    folder : str, Path or None
        Where; made if it does not exist. None: nothing is kept.
    made_by : str
        Name of the function or class whose work this is.
    settings : mapping
        All arguments that its tasks depend on, `random_state` among them. Those that never change a
        result (number of cores, progress bar) do not count.
    data : callable
        Gives a description by which the data can be recognised; called only if it is needed.

    Raises
    ------
    InputError
        If the folder holds the work of another job; the message lists what differs.
    """
    if folder is None:
        yield
        return
    given = {name: value for name, value in settings.items() if name not in WITHOUT_EFFECT}
    _check_seed(given.get("random_state"))
    found = versions()
    job = {
        "format": _FORMAT,
        "made_by": made_by,
        "data": dict(data()),
        "settings": plain(given),
        "versions": {name: found[name] for name in NUMBERS_DEPEND_ON},
    }
    store = Store(_folder_of_job(Path(folder), job), _digest_of_job(job))
    before = _active.set(Job(store))
    try:
        yield
    finally:
        _active.reset(before)
        store.close()


@contextlib.contextmanager
def paused() -> Iterator[None]:
    """Keep nothing inside this block: tasks that tasks call are part of these."""
    before = _active.set(None)
    try:
        yield
    finally:
        _active.reset(before)


def active() -> Job | None:
    """The job whose tasks are kept at the moment, or None."""
    return _active.get()


class Job:
    """A store, and how many lists of tasks have been looked up in it."""

    def __init__(self, store: Store) -> None:
        self.store, self._n_lists = store, 0

    @property
    def has_results(self) -> bool:
        """Whether anything had been kept when the job started."""
        return len(self.store) > 0

    def tasks(self, function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]) -> KeptTasks:
        """The next list of tasks: found by their place in the job and by their arguments."""
        self._n_lists += 1
        name = f"{function.__module__}.{function.__qualname__}"
        known: dict[int, bytes] = {}  # by identity: tasks share their data
        keys = [
            f"{self._n_lists}.{i} {name} {_digest(task, known).hex()}"
            for i, task in enumerate(tasks)
        ]
        return KeptTasks(self.store, keys)


class KeptTasks:
    """What is kept of a list of tasks."""

    def __init__(self, store: Store, keys: Sequence[str]) -> None:
        self._store, self._keys = store, keys

    def results(self) -> dict[int, Any]:
        """Results that were kept, by the number of their task."""
        return {i: self._store.get(key) for i, key in enumerate(self._keys) if key in self._store}

    def keep(self, i: int, result: Any) -> None:
        """Keep the result of task i."""
        self._store.put(self._keys[i], result)


_active: ContextVar[Job | None] = ContextVar("mainstay_checkpoint", default=None)


def _check_seed(seed: Any) -> None:
    if not isinstance(seed, int | np.integer) or isinstance(seed, bool):
        raise InputError(
            "a checkpoint can only be continued with the same random numbers: random_state must be "
            f"a whole number, got {seed!r}."
        )


def _digest(value: Any, known: dict[int, bytes]) -> bytes:
    """Hash numbers, text, arrays and what is made of them; of other objects only their class.

    What the others are the description of the job says.
    """
    if value is None or isinstance(value, bool | int | float | str | bytes | np.generic):
        return hashlib.blake2b(
            repr(value).encode("utf-8", "surrogatepass"), digest_size=16
        ).digest()
    if id(value) in known:
        return known[id(value)]
    total = hashlib.blake2b(type(value).__qualname__.encode(), digest_size=16)
    if isinstance(value, np.ndarray):
        total.update(f"{value.dtype.str} {value.shape}".encode())
        total.update(
            repr(value.tolist()).encode("utf-8", "surrogatepass")
            if value.dtype.hasobject
            else np.ascontiguousarray(value).reshape(-1).view(np.uint8).data
        )
    for part in _parts(value):
        total.update(_digest(part, known))
    known[id(value)] = total.digest()
    return known[id(value)]


def _parts(value: Any) -> list[Any]:
    if isinstance(value, tuple | list):
        return list(value)
    if isinstance(value, Mapping):
        return [part for item in value.items() for part in item]
    if is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, field.name) for field in fields(value)]
    return []


# ---------------------------------------------------------------------- whose folder it is


def _folder_of_job(folder: Path, job: Mapping[str, Any]) -> Path:
    """Make the folder for a job, or find out whether it is the job's."""
    check_folder_writable(folder)
    folder.mkdir(parents=True, exist_ok=True)
    description = folder / _DESCRIPTION
    if not description.exists():
        with replacing(description) as part:
            part.write_text(json.dumps(job, indent=1), encoding="utf-8")
    try:
        there = json.loads(description.read_text(encoding="utf-8"))
        different = _differences(there, json.loads(json.dumps(job)))
    except (ValueError, AttributeError, TypeError) as error:
        raise InputError(
            f"{description} is damaged: {error}. Give another folder, or delete this one and start "
            "anew."
        ) from error
    if different:
        listed = "".join(f"\n  {line}" for line in different)
        raise InputError(
            f"the checkpoint in {str(folder)!r} belongs to other work. What differs:{listed}\n"
            "Give what was given there, or another folder."
        )
    return folder


def _digest_of_job(job: Mapping[str, Any]) -> bytes:
    text = json.dumps(job, sort_keys=True).encode()
    return hashlib.blake2b(text, digest_size=_SUM).digest()


def _differences(there: Mapping[str, Any], here: Mapping[str, Any], of: str = "") -> list[str]:
    """What differs between the descriptions of two jobs, one line each."""
    lines = []
    for name in dict.fromkeys([*there, *here]):
        old, new = there.get(name), here.get(name)
        if old == new:
            continue
        label = of + name
        if isinstance(old, dict) and isinstance(new, dict):
            lines += _differences(old, new, _PREFIXES.get(name, f"{label}."))
        elif name.startswith("sha256_"):
            lines.append(f"{name.removeprefix('sha256_')}: not the same as in the checkpoint")
        else:
            lines.append(f"{label}: {_shown(old)} in the checkpoint, {_shown(new)} now")
    return lines


def _shown(value: Any) -> str:
    text = "not given" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MOST_SHOWN else text[: _MOST_SHOWN - 1] + "…"


# ---------------------------------------------------------------------- records on disk


class _Place(NamedTuple):
    file: Path
    start: int
    length: int


class Store:
    """Results by key, in the files of a folder.

    Parameters
    ----------
    folder : Path
        An existing folder.
    job : bytes
        16 bytes that stand for the job; files of other jobs are not read.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(Path(folder), b"0123456789abcdef")
    ...     store.put("run 3", np.array([0.5, 0.25]))
    ...     store.close()
    ...     again = Store(Path(folder), b"0123456789abcdef")
    ...     "run 3" in again, again.get("run 3")
    (True, array([0.5 , 0.25]))
    """

    def __init__(self, folder: Path, job: bytes) -> None:
        self.folder, self._head = folder, _MAGIC + job
        self._places: dict[str, _Place] = {}
        self._own: int | None = None  # descriptor of the file of this process
        for file in sorted(folder.glob("runs-*.bin")):
            self._read(file)

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, key: str) -> bool:
        return key in self._places

    def get(self, key: str) -> Any:
        """The value that was kept for a key, checked when the store was opened."""
        place = self._places[key]
        with place.file.open("rb") as file:
            file.seek(place.start)
            return unpack(file.read(place.length))

    def put(self, key: str, value: Any) -> None:
        """Append a value, in a record of its own."""
        name, content = key.encode(), pack(value)
        head = _RECORD.pack(_MARK, len(name), len(content))
        body = name + content
        record = head + _sum_of_head(head) + body + _sum_of_body(body)
        if self._own is None:
            self._own = self._new_file()
        _append(self._own, record)

    def close(self) -> None:
        """Close the file of this process."""
        if self._own is not None:
            os.close(self._own)
            self._own = None

    def _new_file(self) -> int:
        name = f"runs-{os.getpid()}-{secrets.token_hex(4)}.bin"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | getattr(os, "O_BINARY", 0)
        descriptor = os.open(self.folder / name, flags, 0o666)
        _append(descriptor, self._head)
        return descriptor

    def _read(self, path: Path) -> None:
        """Find the records of a file; the first of those with the same key counts."""
        with path.open("rb") as file:
            if file.read(len(self._head)) != self._head:
                return
            end = os.fstat(file.fileno()).st_size
            n_damaged = 0
            while file.tell() < end:
                start = file.tell()
                head = file.read(_RECORD.size)
                if len(head) < _RECORD.size or file.read(_SUM_OF_HEAD) != _sum_of_head(head):
                    _report(path, n_damaged, end - start)
                    return
                _, of_key, of_value = _RECORD.unpack(head)
                body, total = file.read(of_key + of_value), file.read(_SUM)
                if len(total) < _SUM:
                    _report(path, n_damaged, end - start)
                    return
                if total != _sum_of_body(body):
                    n_damaged += 1
                    continue
                place = _Place(path, file.tell() - _SUM - of_value, of_value)
                self._places.setdefault(body[:of_key].decode(), place)
            _report(path, n_damaged, 0)


def _report(path: Path, n_damaged: int, n_bytes_left: int) -> None:
    """Say what could not be read; a record cut off at the end is what a kill leaves behind."""
    if n_bytes_left:
        _log.info("%s: the last %d bytes are no whole record", path, n_bytes_left)
    if n_damaged:
        warnings.warn(
            f"{path}: {n_damaged} of the results kept there are damaged; they are computed again.",
            stacklevel=2,
        )


def _sum_of_head(head: bytes) -> bytes:
    return zlib.crc32(head).to_bytes(_SUM_OF_HEAD, "little")


def _sum_of_body(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=_SUM).digest()


def _append(descriptor: int, content: bytes) -> None:
    """Write all of it or, on a full disk, nothing."""
    size = os.fstat(descriptor).st_size
    rest = memoryview(content)
    try:
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    except BaseException:
        os.ftruncate(descriptor, size)
        raise
