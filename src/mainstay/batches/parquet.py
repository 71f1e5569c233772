"""Rows from Parquet files: one file, or all files of a folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mainstay._validation import InputError, some
from mainstay.batches.arrow import ROWS_AT_ONCE, kind_of, split_batch, unique_names
from mainstay.batches.sources import Piece, Source, column_target, file_summary

_BUFFER = 2**16  # bytes of a column chunk that are read at a time
_LARGEST_PAGE = 2 * 2**20  # of which a decoder holds one per column, compressed and not


class ParquetRows(Source):
    """Parquet files with the same columns, in the order of their names.

    Column chunks are read through small buffers, page by page: row groups may be of any size.
    """

    def __init__(self, path: Path, target: Any) -> None:
        self._paths = [path] if path.is_file() else _files_in(path)
        self.what = str(path.name or path)
        self.target = column_target(target, self.what)
        first = _opened(self._paths[0])
        schema = first.schema_arrow
        self.names = unique_names(schema.names, self.what)
        self.targets = self.names
        self.kinds = {field.name: kind_of(field.type) for field in schema}
        self.n_rows, chunk = 0, 0
        for file in self._paths:
            opened = _opened(file)
            _check_schema(schema, self._paths[0], opened.schema_arrow, file)
            self.n_rows += opened.metadata.num_rows
            chunk = max(chunk, _largest_chunk(opened.metadata))
            opened.close()
        page = min(chunk, _LARGEST_PAGE)
        self.bytes_per_column = 2 * page + _BUFFER + 3 * 8 * ROWS_AT_ONCE
        self.bytes_fixed = 16 * 2**20

    def pieces(self, names: Sequence[str]) -> Iterator[Piece]:
        """Read all rows, file after file."""
        for path in self._paths:
            with _opened(path) as file:
                batches = file.iter_batches(
                    ROWS_AT_ONCE, columns=[*names, self.target], use_threads=False
                )
                for batch in batches:
                    ordered = batch.select([*names, self.target])
                    yield split_batch(ordered, len(names))

    def summary(self) -> dict[str, Any]:
        """Sizes and times of the files."""
        return file_summary(self._paths)


def _files_in(folder: Path) -> list[Path]:
    files = sorted(path for path in folder.rglob("*.parquet") if path.is_file())
    if not files:
        others = [path.name for path in folder.iterdir()]
        held = f"it holds {some(sorted(others))}" if others else "it is empty"
        raise InputError(f"the folder {str(folder)!r} has no .parquet files; {held}.")
    nested = next((path for path in files if "=" in str(path.parent.relative_to(folder))), None)
    if nested is not None:
        raise InputError(
            f"{str(nested.relative_to(folder))!r} lies in a folder named like a value of a column. "
            "Open such a partitioned data set with pyarrow.dataset.dataset(folder, "
            "partitioning='hive') and pass that."
        )
    return files


def _opened(path: Path) -> Any:
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(path, buffer_size=_BUFFER, pre_buffer=False)
    except Exception as error:  # of whatever is wrong with the file
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise InputError(f"{path} could not be read as parquet: {reason}") from error


def _largest_chunk(metadata: Any) -> int:
    """Bytes of the largest column chunk, unpacked; of the first and the last row group."""
    groups = {0, metadata.num_row_groups - 1} if metadata.num_row_groups else set()
    return max(
        (
            metadata.row_group(g).column(j).total_uncompressed_size
            for g in groups
            for j in range(metadata.num_columns)
        ),
        default=0,
    )


def _check_schema(schema: Any, first: Path, other: Any, path: Path) -> None:
    """Refuse files whose columns differ from those of the first one."""
    missing = [name for name in schema.names if name not in other.names]
    extra = [name for name in other.names if name not in schema.names]
    if missing or extra:
        parts = [f"lacks {some(missing)}"] if missing else []
        parts += [f"has {some(extra)} besides"] if extra else []
        raise InputError(
            f"all files must have the same columns, but compared with {first.name}, {path.name} "
            f"{' and '.join(parts)}."
        )
    for field in schema:
        kinds = kind_of(field.type), kind_of(other.field(field.name).type)
        if kinds[0] != kinds[1]:
            raise InputError(
                f"column {field.name!r} holds {kinds[0]} in {first.name} but {kinds[1]} in "
                f"{path.name}; write it with one type."
            )
