"""Rows from .h5ad files, whose matrix stays on disk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mainstay._files.annotated import (
    h5ad_column,
    h5ad_is_by_row,
    h5ad_names,
    h5ad_rows,
    h5ad_shape,
    open_h5ad,
)
from mainstay._validation import InputError
from mainstay.batches.arrow import unique_names
from mainstay.batches.sources import Piece, Source, column_target, file_summary

_ROWS_AT_ONCE = 4096


class H5adRows(Source):
    """The matrix `X` of an .h5ad file, dense or sparse by rows; the target is a column of `obs`."""

    target_is_column = False

    def __init__(self, path: Path, target: Any) -> None:
        self._path, self.what = path, path.name
        with open_h5ad(path) as file:
            names, self.targets = h5ad_names(path, file)
            self.n_rows, n_columns = h5ad_shape(file["X"])
            if not h5ad_is_by_row(file["X"]):
                raise InputError(
                    f"X of {path} is stored by columns, so that its rows cannot be read block by "
                    "block; store it by rows (adata.X = adata.X.tocsr())."
                )
        self.names = unique_names(names, self.what)
        if len(self.names) != n_columns:
            raise InputError(f"{path} names {len(self.names)} of {n_columns} columns of X.")
        self._columns = {name: j for j, name in enumerate(self.names)}
        self.kinds = dict.fromkeys(self.names, "float")
        self.target = column_target(target, self.what)
        self.bytes_per_column = 8 * _ROWS_AT_ONCE
        self.bytes_fixed = 3 * 8 * _ROWS_AT_ONCE * n_columns + 9 * self.n_rows

    def pieces(self, names: Sequence[str]) -> Iterator[Piece]:
        """Read all rows; of every row all columns, of which some are kept."""
        at = [self._columns[name] for name in names]
        with open_h5ad(self._path) as file:
            labels = h5ad_column(file["obs"][self.target])
            for start in range(0, self.n_rows, _ROWS_AT_ONCE):
                stop = min(start + _ROWS_AT_ONCE, self.n_rows)
                rows = h5ad_rows(file["X"], start, stop) if at else np.empty((stop - start, 0))
                yield rows[:, at], labels[start:stop]

    def summary(self) -> dict[str, Any]:
        """Size and time of the file."""
        return file_summary([self._path])
