"""Rows from Parquet files: one file, or all files of a folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mainstay._validation import InputError, some
from mainstay.batches.arrow import (
    BUFFER,
    ROWS_AT_ONCE,
    bytes_of_reader,
    kind_of,
    largest_chunk,
    release_unused,
    split_batch,
    unique_names,
)
from mainstay.batches.sources import Piece, Source, column_target, file_summary


class ParquetRows(Source):
    """Parquet files with the same columns, in the order of their names.

    Column chunks are read through small buffers, page by page: row groups may be of any size. What
    pandas wrote as an index is no column.
    """

    def __init__(self, path: Path, target: Any) -> None:
        self._paths = [path] if path.is_file() else _files_in(path)
        self.what = str(path.name or path)
        self.target = column_target(target, self.what)
        first = _opened(self._paths[0])
        schema = first.schema_arrow
        every = unique_names(schema.names, self.what)
        index = _index_columns(schema)
        self.names = tuple(name for name in every if name not in index)
        self.targets = self.names
        self.kinds = {field.name: kind_of(field.type) for field in schema}
        self.n_rows, chunk = 0, 0
        for file in self._paths:
            opened = _opened(file)
            _check_schema(schema, self._paths[0], opened.schema_arrow, file)
            self.n_rows += opened.metadata.num_rows
            chunk = max(chunk, largest_chunk(opened.metadata))
            opened.close()
        self.bytes_per_column = bytes_of_reader(chunk)
        self.bytes_fixed = 4 * 2**20

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
        release_unused()

    def spans(self, names: Sequence[str]) -> dict[str, tuple[Any, Any]]:
        """Smallest and largest numbers of columns, where all row groups tell."""
        found: dict[str, tuple[Any, Any]] = {}
        unknown: set[str] = set()
        for path in self._paths:
            with _opened(path) as file:
                at = [(name, file.schema_arrow.names.index(name)) for name in names]
                for group in range(file.metadata.num_row_groups):
                    columns = file.metadata.row_group(group)
                    for name, j in at:
                        column = columns.column(j)
                        told = column.statistics if column.path_in_schema == name else None
                        if told is None or not told.has_min_max or told.min != told.min:
                            unknown.add(name)
                            continue
                        low, high = found.get(name, (told.min, told.max))
                        found[name] = min(low, told.min), max(high, told.max)
        return {name: span for name, span in found.items() if name not in unknown}

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


def _index_columns(schema: Any) -> set[str]:
    """Columns that pandas wrote as the index of a table: they are no features."""
    metadata = schema.pandas_metadata or {}
    return {name for name in metadata.get("index_columns", ()) if isinstance(name, str)}


def _opened(path: Path) -> Any:
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(path, buffer_size=BUFFER, pre_buffer=False)
    except Exception as error:  # of whatever is wrong with the file
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise InputError(f"{path} could not be read as parquet: {reason}") from error


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
