"""Tables from files and to files: the ending of a file's name says what it holds."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd

from mainstay._files.annotated import Annotations, read_h5ad, read_mat, read_npz
from mainstay._files.numbers import describe_missing, mark_missing
from mainstay._files.sources import TEXT_ENDINGS, Source, find_source
from mainstay._files.spreadsheet import as_cells, read_xlsx
from mainstay._files.text import PAIRS, read_text, write_text
from mainstay._validation import InputError, check_choice, some
from mainstay._writing import replacing

__all__ = [
    "PAIRS",
    "WRITERS",
    "Source",
    "existing",
    "first_line",
    "read_annotated",
    "read_table",
    "write_table",
    "write_text",
]

_log = logging.getLogger(__name__)

# all but text, which has a decimal mark to find out
_READERS: dict[str, Callable[[Path], pd.DataFrame | tuple[pd.DataFrame, Annotations]]] = {
    ".parquet": pd.read_parquet,
    ".feather": pd.read_feather,
    ".xlsx": read_xlsx,
    ".npz": read_npz,
    ".mat": read_mat,
    ".h5ad": read_h5ad,
}

WRITERS: dict[str, Callable[[pd.DataFrame, Path], None]] = {
    ".csv": lambda table, path: write_text(as_cells(table), path),
    ".tsv": lambda table, path: write_text(as_cells(table), path, separator="\t"),
    ".parquet": lambda table, path: table.to_parquet(path, index=False),
    ".feather": lambda table, path: table.reset_index(drop=True).to_feather(path),
}


def read_table(
    path: str | Path | Source, *, missing: Sequence[str] = (), decimal: str | None = None
) -> pd.DataFrame:
    """Read a table of samples × columns.

    What is found out about a file (its separator, its encoding, decimal commas) is logged in one
    line; the command line shows it as a note.

    Parameters
    ----------
    path : str or Path
        .csv, .tsv, .tab or .txt, also compressed (.gz, .bz2, .xz, .zst), .parquet, .feather or
        .xlsx (extra "excel"; the first sheet): all columns. .npz, .mat or .h5ad (extra "h5ad"): the
        columns of `X`, named by `feature_names` or `var`; labels of the rows that are stored beside
        `X` are no part of the table (`mainstay.io.read_data` reads those it is asked for).
        "-" is text from standard input. Values in text files are separated by commas, semicolons,
        tabs or "|"; text is UTF-8, UTF-16 or Western European.
    missing : sequence of str
        What else stands for a missing value, such as "n.d." or "-999"; "<" stands for every value
        like "<0.1". Empty cells, NA, NaN, null and None always do.
    decimal : {".", ","}, optional
        The decimal mark of a text file. Without it, it is found out.

    Returns
    -------
    pandas.DataFrame
        Its column names are text, and no two are the same.
    """
    return read_annotated(path, missing=missing, decimal=decimal)[0]


def read_annotated(
    path: str | Path | Source, *, missing: Sequence[str] = (), decimal: str | None = None
) -> tuple[pd.DataFrame, Annotations]:
    """Read a table as `read_table` does, and functions that read each of its rows' annotations.

    Annotations are the columns of `obs` in .h5ad, and the arrays beside `X` in .npz and .mat;
    other files have none.
    """
    source = existing(path)
    table, annotations, decimal, findings = _contents(source, decimal)
    if len(table) == 0:
        raise InputError(f"{source} holds no rows.")
    table.columns = [str(name) for name in table.columns]
    if not table.columns.is_unique:
        repeated = list(table.columns[table.columns.duplicated()].unique())
        raise InputError(f"{source} names columns more than once: {some(repeated)}.")
    if missing:
        table, counts = mark_missing(table, missing, decimal)
        findings = [*findings, describe_missing(counts)]
    if findings:
        _log.warning("%s: %s.", source, "; ".join(findings))
    return table, annotations


def _contents(
    source: Source, decimal: str | None
) -> tuple[pd.DataFrame, Annotations, str, list[str]]:
    """Table, annotations, decimal mark of what is still text, and what was found out."""
    try:
        if source.ending in TEXT_ENDINGS:
            table, mark, findings = read_text(source, decimal)
            return table, {}, mark, findings
        assert source.path is not None
        contents = _READERS[source.ending](source.path)
    except (InputError, ImportError):
        raise
    except Exception as error:  # every reader raises kinds of its own
        raise InputError(
            f"{source} could not be read as {source.ending[1:]}: {first_line(error)}"
        ) from error
    table, annotations = contents if isinstance(contents, tuple) else (contents, {})
    return table, annotations, decimal or ".", list(table.attrs.get("findings", []))


def write_table(table: pd.DataFrame, path: str | Path) -> None:
    """Write a table, without its index, in the format that the ending of `path` names."""
    path = Path(path)
    write = WRITERS[check_choice("file ending", path.suffix, WRITERS)]
    with replacing(path) as part:
        write(table, part)


def existing(path: str | Path | Source) -> Source:
    """Return a file that exists and whose ending is known, or standard input."""
    return find_source(path, (*TEXT_ENDINGS, *_READERS))


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message."""
    return (str(error) or type(error).__name__).splitlines()[0]
