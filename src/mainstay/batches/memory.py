"""How much memory may be used, and how much is left."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from mainstay._validation import InputError

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
          "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}  # fmt: skip
_WITHOUT_LIMIT = 10**9  # for arrays, where no limit is given
_RESERVE = 48 * 10**6  # for compiled loops, libraries that load late, and what allocators keep


def parse_memory(memory: int | str | None) -> int | None:
    """Read an amount of memory in bytes.

    Examples
    --------
    >>> parse_memory("2GB"), parse_memory("1.5 GiB"), parse_memory(10**9)
    (2000000000, 1610612736, 1000000000)
    """
    if memory is None:
        return None
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", str(memory))
    unit = None if match is None else _UNITS.get(match[2].upper())
    if match is None or unit is None or float(match[1]) * unit < 1:
        raise InputError(
            f"memory must be an amount such as '2GB', '500MB' or '1.5GiB', or a number of bytes, "
            f"got {memory!r}."
        )
    return int(float(match[1]) * unit)


def shown(n_bytes: float) -> str:
    """An amount of memory in words.

    Examples
    --------
    >>> shown(2_340_000_000), shown(999_500)
    ('2.34 GB', '1 MB')
    """
    if n_bytes >= 10**9:
        return f"{n_bytes / 10**9:.3g} GB"
    return f"{max(1, -int(-n_bytes // 10**6))} MB"


def resident() -> int:
    """Bytes of main memory that this process holds now (where that is not told: its peak)."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
    import mmap

    return pages * mmap.PAGESIZE


def columns_at_once(
    memory: int | None, n_columns: int, per_column: float, fixed: float = 0.0, n_workers: int = 1
) -> int:
    """How many columns can be worked on together within the limit; at least one, or an error.

    Parameters
    ----------
    memory : int or None
        The limit for the whole process, in bytes; None: 1 GB of arrays, whatever else there is.
    n_columns : int
        How many there are.
    per_column, fixed : float
        Bytes that every column takes, and bytes that are needed whatever the number of columns.
    n_workers : int
        Processes that share the limit, if there are several; each of them holds all libraries.
    """
    room = _room(memory, n_workers) - fixed
    if room < per_column:
        room_for(memory, fixed + per_column, required=True, n_workers=n_workers)
    return int(min(n_columns, max(1, room // per_column)))


def room_for(memory: int | None, needed: float, *, required: bool, n_workers: int = 1) -> bool:
    """Tell whether so many bytes are left; raise an error that says how many if they must be."""
    if needed <= _room(memory, n_workers):
        return True
    if memory is None or not required:
        return memory is None and required
    held = resident() + _RESERVE
    workers = f" in each of {n_workers} processes" if n_workers > 1 else ""
    raise InputError(
        f"memory of {shown(memory)} is too little: with all libraries loaded the program holds "
        f"{shown(held)}{workers}, and the least that can be worked on at once needs "
        f"{shown(needed)} more. Allow at least {shown((held + needed) * n_workers * 1.02)}."
    )


def _room(memory: int | None, n_workers: int) -> float:
    """Bytes that are left for arrays."""
    return _WITHOUT_LIMIT if memory is None else memory / n_workers - resident() - _RESERVE
