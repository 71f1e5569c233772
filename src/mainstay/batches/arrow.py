"""Rows from pyarrow: datasets and tables, and how Arrow columns become numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mainstay._validation import InputError, some
from mainstay.batches.sources import Piece, Source, column_target

ROWS_AT_ONCE = 32_768  # that pyarrow is asked for
BUFFER = 2**16  # bytes of a column chunk that are read at a time
_LARGEST_PAGE = 2 * 2**20  # of which a decoder holds one per column, compressed and not


class ArrowRows(Source):
    """A `pyarrow.dataset.Dataset`, or a `pyarrow.Table` (such as one of a memory-mapped file)."""

    bytes_fixed = 32 * 2**20

    def __init__(self, dataset: Any, target: Any) -> None:
        import pyarrow.dataset as ds

        self.what = f"a pyarrow {type(dataset).__name__}"
        if not hasattr(dataset, "schema") or not hasattr(dataset, "to_batches"):
            raise InputError(
                f"rows must be read more than once, which {self.what} does not allow; give a "
                "Dataset or a Table."
            )
        self._dataset = dataset if isinstance(dataset, ds.Dataset) else ds.dataset(dataset)
        self.target = column_target(target, self.what)
        self.names = unique_names(self._dataset.schema.names, self.what)
        self.targets = self.names
        self.kinds = {field.name: kind_of(field.type) for field in self._dataset.schema}
        self.n_rows = int(self._dataset.count_rows())
        self.bytes_per_column = bytes_of_reader(_largest_chunk_of(self._dataset))

    def pieces(self, names: Sequence[str]) -> Iterator[Piece]:
        """Read all rows, batch by batch."""
        batches = self._dataset.to_batches(
            columns=[*names, self.target],
            batch_size=ROWS_AT_ONCE,
            batch_readahead=0,
            fragment_readahead=0,
            use_threads=False,
            fragment_scan_options=_small_buffers(self._dataset),
        )
        for batch in batches:
            yield split_batch(batch, len(names))
        release_unused()

    def summary(self) -> dict[str, Any]:
        """The names of files, where there are some."""
        files = list(getattr(self._dataset, "files", []))
        return {"n_files": len(files)} if files else {}


def bytes_of_reader(chunk: int) -> int:
    """Memory that reading a column takes, with chunks of so many bytes: as measured, not less."""
    return int(1.75 * (2 * min(chunk, _LARGEST_PAGE) + BUFFER)) + 2 * 8 * ROWS_AT_ONCE


def largest_chunk(metadata: Any) -> int:
    """Bytes of the largest column chunk of a Parquet file, in its first or last row group."""
    groups = {0, metadata.num_row_groups - 1} if metadata.num_row_groups else set()
    sizes = (
        metadata.row_group(group).column(j).total_uncompressed_size
        for group in groups
        for j in range(metadata.num_columns)
    )
    return max(sizes, default=0)


def release_unused() -> None:
    """Let Arrow give back memory that it keeps for later."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()


def _is_parquet(dataset: Any) -> bool:
    return getattr(getattr(dataset, "format", None), "default_extname", "") == "parquet"


def _largest_chunk_of(dataset: Any) -> int:
    """The largest chunk of the first file, if there are Parquet files."""
    if not _is_parquet(dataset):
        return 0
    return max(
        (largest_chunk(file.metadata) for file in list(dataset.get_fragments())[:1]), default=0
    )


def _small_buffers(dataset: Any) -> Any:
    """Options that make pyarrow read Parquet page by page."""
    import pyarrow.dataset as ds

    if not _is_parquet(dataset):
        return None
    return ds.ParquetFragmentScanOptions(
        use_buffered_stream=True, buffer_size=BUFFER, pre_buffer=False
    )


def unique_names(names: Sequence[str], what: str) -> tuple[str, ...]:
    """The names of columns, of which no two may be the same."""
    twice = sorted({name for name in names if list(names).count(name) > 1}) if len(
        set(names)) < len(names) else []  # fmt: skip
    if twice:
        raise InputError(f"{what} names columns more than once: {some(twice)}.")
    return tuple(names)


def kind_of(kind: Any) -> str:
    """What an Arrow type holds."""
    from pyarrow import types

    if types.is_floating(kind) or types.is_decimal(kind):
        return "float"
    if types.is_integer(kind):
        return "integer"
    if types.is_boolean(kind):
        return "boolean"
    if types.is_dictionary(kind):
        return "categories"
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "text"
    return str(kind)


def split_batch(batch: Any, n_features: int) -> Piece:
    """A record batch whose last column is the target: one array per feature, and the target."""
    columns = [_numbers(batch.column(j)) for j in range(n_features)]
    return columns, labels(batch.column(n_features))


def _numbers(column: Any) -> np.ndarray:
    """A column of numbers as an array, NaN where they are missing."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_boolean(column.type) or types.is_decimal(column.type):
        column = column.cast(pa.float64())
    return np.asarray(column.to_numpy(zero_copy_only=False))


def labels(column: Any) -> np.ndarray:
    """A column that is to be predicted: numbers, booleans or text; None or NaN where missing."""
    from pyarrow import types

    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if types.is_floating(column.type) or types.is_integer(column.type):
        return _numbers(column)
    if types.is_decimal(column.type):
        return _numbers(column)
    return np.asarray(column.to_numpy(zero_copy_only=False))
