"""Memory for intermediate results that is used again instead of being asked for anew.

Every array above some hundred kilobytes may be memory that the system has to find, clear and take
back: in workers of Dask always, elsewhere above 32 MB. That costs a filter as much as its work.
"""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np

_MOST = 4 * 2**20  # bytes that are kept under one name


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
