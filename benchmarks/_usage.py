"""CPU time and peak memory of a call and of the worker processes it starts, by /proc."""

from __future__ import annotations

import ctypes
import os
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True)
class Usage:
    """What a call took."""

    cpu: float  # seconds, of all processes
    path: float  # seconds of this process and the busiest worker: the time on cores that are free
    wall: float
    memory: float  # MB that this process needed at most, beside what it held before


def usage_of(call: Callable[[], object]) -> Usage:
    """Run a call once."""
    before, held = workers(), _forget_peak()
    start = time.process_time(), time.perf_counter()
    call()
    own, wall = time.process_time() - start[0], time.perf_counter() - start[1]
    peak = _status("VmHWM") or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    busy = [seconds - before.get(pid, 0.0) for pid, seconds in workers().items()]
    return Usage(own + sum(busy), own + max(busy, default=0.0), wall, max(peak - held, 0.0))


def workers() -> dict[int, float]:
    """CPU seconds so far of every process that this one has started, by /proc."""
    tick, found = os.sysconf("SC_CLK_TCK"), {}
    for folder in PROC.glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if int(fields[1]) == os.getpid():
            found[int(folder.name)] = (int(fields[11]) + int(fields[12])) / tick
    return found


def _forget_peak() -> float:
    """Let the peak start from what is held now, in MB; freed memory goes back first."""
    try:
        ctypes.CDLL(None).malloc_trim(0)
        (PROC / "self" / "clear_refs").write_text("5")
    except (OSError, AttributeError):  # not Linux: the peak of the whole process
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return _status("VmRSS")


def _status(field: str) -> float:
    """A field of /proc/self/status in MB; 0 where there is none."""
    try:
        lines = (PROC / "self" / "status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(field)), 0.0)
