"""Memory for intermediate results that is used again instead of being asked for anew.

Every array above some hundred kilobytes may be memory that the system has to find, clear and take
back: in workers of Dask always, elsewhere above 32 MB. That costs a filter as much as its work.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from typing import Any

import numpy as np

_MOST = 4 * 2**20  # bytes that are kept under one name
_FEWEST_RECYCLED, _MOST_RECYCLED = 2**16, 32 * 2**20  # bytes of an array that is worth it
_returned: deque[np.ndarray] = deque(maxlen=3)  # memory of results that nobody holds any more


class _Kept(threading.local):
    """What a thread has used so far, by name."""

    def __init__(self) -> None:
        self.by_name: dict[str, np.ndarray] = {}


_kept = _Kept()


def workspace(name: str, *shape: int, dtype: Any = float) -> np.ndarray:
    """An array with any content, for use until this thread asks for the same name again.

    What is returned or kept must not be in it. One that is too large to stay is made anew.
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if size > _MOST:
        return np.empty(shape, dtype)
    room = _kept.by_name.get(name)
    if room is None or room.nbytes < size:
        room = _kept.by_name[name] = np.empty(size, dtype=np.uint8)
    return np.asarray(room[:size].view(dtype).reshape(shape))


def recycled(*shape: int, dtype: Any = float) -> np.ndarray:
    """An array with any content, for a result that may be kept or soon be forgotten.

    Its memory goes round: it is used again as soon as nobody holds the array or a part of it.
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if not _FEWEST_RECYCLED <= size <= _MOST_RECYCLED:
        return np.empty(shape, dtype)
    array = np.asarray(_Lent(_returned_memory(size)))
    return np.asarray(array[:size].view(dtype).reshape(shape))


def _returned_memory(size: int) -> np.ndarray:
    """Bytes that were returned, if they are enough and not many too many; or new ones."""
    for _ in range(len(_returned)):
        try:
            found = _returned.popleft()
        except IndexError:  # another thread was faster
            break
        if size <= found.nbytes <= 2 * size:
            return found
    return np.empty(size, dtype=np.uint8)


class _Lent:
    """Memory that an array, and every view of it, holds on to, and that is then returned."""

    def __init__(self, memory: np.ndarray) -> None:
        self._memory = memory
        self.__array_interface__ = memory.__array_interface__

    def __del__(self, returned: deque[np.ndarray] = _returned) -> None:
        returned.append(self._memory)
