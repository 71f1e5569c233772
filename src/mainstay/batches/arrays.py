"""Rows from arrays: numpy.memmap, .npy files, and arrays that are in memory anyway."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mainstay._validation import InputError, feature_names
from mainstay.batches.sources import Piece, Source, file_summary

_ROWS_AT_ONCE = 4096


class ArrayRows(Source):
    """An array of rows × features; one that is mapped from a file is let go after every block."""

    target_is_column = False

    def __init__(self, values: np.ndarray, target: Any, features: Sequence[str] | None) -> None:
        mapped = isinstance(values, np.memmap)
        self.what = "a memory-mapped array" if mapped else "an array"
        if values.ndim != 2:
            raise InputError(f"{self.what} must be rows × features, got shape {values.shape}.")
        kind = {"f": "float", "i": "integer", "u": "integer", "b": "boolean"}.get(
            values.dtype.kind, f"values of type {values.dtype}"
        )
        self._values, self._file = values, _mapped_file(values)
        self.n_rows = len(values)
        self.names = feature_names(features, None, values.shape[1])
        self._columns = {name: j for j, name in enumerate(self.names)}
        self.kinds = dict.fromkeys(self.names, kind)
        self.targets = None
        self.target = _target_array(target, self.n_rows, self.what)
        self.bytes_per_column = 2 * _ROWS_AT_ONCE * values.itemsize
        whole_rows = values.flags.c_contiguous and mapped  # pages hold all columns
        self.bytes_fixed = _ROWS_AT_ONCE * values.strides[0] if whole_rows else 2**20

    def pieces(self, names: Sequence[str]) -> Iterator[Piece]:
        """Read all rows."""
        at = np.array([self._columns[name] for name in names], dtype=np.intp)
        columns: Any = at
        if len(at) and (np.diff(at) == 1).all():
            columns = slice(int(at[0]), int(at[-1]) + 1)
        for start in range(0, self.n_rows, _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            yield np.asarray(self._values[rows, columns]), self.target[rows]
            if self._file is not None and hasattr(mmap, "MADV_DONTNEED"):
                self._file.madvise(mmap.MADV_DONTNEED)

    def summary(self) -> dict[str, Any]:
        """Size and time of the file, where there is one."""
        name = getattr(self._values, "filename", None)
        return file_summary([Path(name)]) if name is not None else {}


def open_npy(path: Path, target: Any, features: Sequence[str] | None) -> ArrayRows:
    """Map an .npy file into memory; the target is an array, or the name of another such file."""
    if isinstance(target, str | Path):
        if not Path(target).is_file() or Path(target).suffix != ".npy":
            raise InputError(
                f"the target of rows from {path.name} must be an array or an .npy file with one "
                f"value per row, got {str(target)!r}."
            )
        target = np.load(target, mmap_mode="r")
    return ArrayRows(np.load(path, mmap_mode="r"), target, features)


def _mapped_file(values: np.ndarray) -> Any:
    """The mmap object behind an array, if it is read-only or shared: its pages can be let go."""
    owner: Any = values
    while isinstance(owner, np.ndarray) and owner.base is not None:
        owner = owner.base
    private = isinstance(values, np.memmap) and values.mode == "c"
    return owner if isinstance(owner, mmap.mmap) and not private else None


def _target_array(target: Any, n_rows: int, what: str) -> np.ndarray:
    if isinstance(target, str) or target is None:
        raise InputError(f"{what} has no named columns: give the target as an array of n values.")
    values = np.asarray(target)
    if values.shape != (n_rows,):
        raise InputError(f"the target has shape {values.shape}, but {what} has {n_rows} rows.")
    return values
