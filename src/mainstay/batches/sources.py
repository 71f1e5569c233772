"""What `RowBatches` needs of a source of rows; there is one small class per kind of source."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mainstay._validation import InputError

# Rows of some columns (a rows × columns array, or one array per column), and their target.
Piece = tuple[Any, np.ndarray]


class Source(ABC):
    """A table on disk (or somewhere), whose rows can be read again and again.

    Attributes
    ----------
    what : str
        What it is, for messages.
    names, kinds
        Columns that may be features, and what each of them holds: "float", "integer", "boolean", or
        in words what else.
    target : str or array
        What is to be predicted; `target_is_column` tells whether it is one of `names`, and
        `targets` what may be asked for (None: an array was given).
    n_rows : int
        Number of rows.
    bytes_per_column, bytes_fixed : int
        Memory that reading takes, for every column that is read and besides.
    """

    what: str
    names: tuple[str, ...]
    kinds: Mapping[str, str]
    target: Any
    target_is_column: bool = True
    targets: Sequence[str] | None
    n_rows: int
    bytes_per_column: int
    bytes_fixed: int

    @abstractmethod
    def pieces(self, names: Sequence[str]) -> Iterator[Piece]:
        """Read all rows of some columns, in order, some rows at a time."""

    def spans(self, names: Sequence[str]) -> dict[str, tuple[Any, Any]]:
        """Smallest and largest numbers of columns, of those where it is known without reading."""
        return {}

    @abstractmethod
    def summary(self) -> dict[str, Any]:
        """By what the contents can be recognised, as plain values."""


def file_summary(paths: Sequence[Path]) -> dict[str, Any]:
    """Number, sizes and a hash of names, sizes and times of files: any change shows."""
    from mainstay._provenance import content_hash

    stats = [path.stat() for path in paths]
    entries = [f"{p.name} {s.st_size} {s.st_mtime_ns}" for p, s in zip(paths, stats, strict=True)]
    return {
        "n_files": len(paths),
        "bytes": sum(s.st_size for s in stats),
        "sha256_files": content_hash(np.array(entries, dtype=object)),
    }


def column_target(target: Any, what: str) -> str:
    """The name of the target, where it must be a column."""
    if not isinstance(target, str):
        raise InputError(
            f"target must be the name of a column of {what}, got {type(target).__name__}."
        )
    return target
