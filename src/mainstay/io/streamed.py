"""Data that are read block by block, with the checks that `read_data` makes where they can be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from mainstay._validation import check_choice
from mainstay.batches import RowBatches
from mainstay.io.tables import is_id_name, refuse_identifiers


def open_data(
    path: str | Path,
    *,
    target: str,
    memory: int | str | None = None,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
) -> RowBatches:
    """Open a folder of Parquet files, or a .parquet, .h5ad or .npy file, to be read block by block.

    Columns that look like identifiers are refused by name, unless `keep` says that they are
    features: whole numbers in a column that is named like an identifier (see
    `mainstay.io.tables.is_id_name`), or that according to the statistics in Parquet files span
    exactly as many numbers as there are rows. Whether they are all different is not looked at.

    Parameters
    ----------
    path, target, memory, drop
        As in `RowBatches.open`.
    keep : sequence of str
        Columns that are features, although they look like identifiers.
    """
    rows = RowBatches.open(path, target, memory=memory, drop=drop)
    for name in keep:
        check_choice("feature to keep", name, rows.features)
    refuse_identifiers(_identifiers(rows), keep)
    return rows


def _identifiers(rows: RowBatches) -> Iterator[tuple[str, str]]:
    whole = [n for n, kind in zip(rows.features, rows.kinds, strict=True) if kind == "integer"]
    spans = rows.spans(whole)
    for name in whole:
        span = spans.get(name)
        if span is not None and span[1] - span[0] == rows.n_rows - 1:
            yield name, f"it holds whole numbers from {span[0]} to {span[1]} in {rows.n_rows} rows"
        elif is_id_name(name):
            yield name, "it is named like one, and holds whole numbers"
