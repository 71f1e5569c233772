"""Rows from a dask DataFrame, partition by partition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mainstay.batches.arrow import unique_names
from mainstay.batches.sources import Piece, Source, column_target

_KINDS = {"f": "float", "i": "integer", "u": "integer", "b": "boolean", "O": "text", "M": "dates"}


class DaskRows(Source):
    """The partitions of a dask DataFrame, one after the other; one of them is held at a time."""

    bytes_fixed = 32 * 2**20

    def __init__(self, frame: Any, target: Any) -> None:
        self.what = "a dask DataFrame"
        self._frame = frame
        self.target = column_target(target, self.what)
        self.names = unique_names([str(n) for n in frame.columns], self.what)
        self.targets = self.names
        self._columns = dict(zip(self.names, frame.columns, strict=True))
        self.kinds = {str(name): _kind(dtype) for name, dtype in frame.dtypes.items()}
        sizes = np.asarray(frame.iloc[:, :1].map_partitions(len).compute())
        self.n_rows = int(sizes.sum())
        self.bytes_per_column = 3 * 8 * int(sizes.max(initial=1))

    def pieces(self, names: Sequence[str]) -> Iterator[Piece]:
        """Read all rows, one partition at a time, in this thread."""
        wanted = [self._columns[name] for name in (*names, self.target)]
        for number in range(self._frame.npartitions):
            part = self._frame[wanted].partitions[number].compute(scheduler="synchronous")
            columns = [
                part.iloc[:, j].to_numpy(dtype=float, na_value=np.nan) for j in range(len(names))
            ]
            yield columns, _labels(part.iloc[:, len(names)])

    def summary(self) -> dict[str, Any]:
        """Dask's name of the graph, which changes with what it computes."""
        return {"graph": str(self._frame._name), "n_partitions": int(self._frame.npartitions)}


def _kind(dtype: Any) -> str:
    kind = getattr(dtype, "kind", "O")
    if str(dtype) == "category":
        return "categories"
    return _KINDS.get(kind, str(dtype))


def _labels(column: Any) -> np.ndarray:
    if getattr(column.dtype, "kind", "O") in "iufb":
        missing = bool(column.isna().any())
        return np.asarray(
            column.to_numpy(dtype=float, na_value=np.nan) if missing else column.to_numpy()
        )
    return np.asarray(column.astype(object).to_numpy())
