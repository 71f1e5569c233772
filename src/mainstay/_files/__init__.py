"""Tables from files and to files: the ending of a file's name says what it holds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from mainstay._files.annotated import Annotations, read_h5ad, read_mat, read_npz
from mainstay._files.text import PAIRS, read_text
from mainstay._validation import InputError, check_choice, some
from mainstay._writing import replacing

__all__ = [
    "PAIRS",
    "WRITERS",
    "existing",
    "first_line",
    "read_annotated",
    "read_table",
    "write_table",
]

_READERS: dict[str, Callable[[Path], pd.DataFrame | tuple[pd.DataFrame, Annotations]]] = {
    ".csv": read_text,
    ".tsv": read_text,
    ".parquet": pd.read_parquet,
    ".feather": pd.read_feather,
    ".npz": read_npz,
    ".mat": read_mat,
    ".h5ad": read_h5ad,
}

WRITERS: dict[str, Callable[[pd.DataFrame, Path], None]] = {
    ".csv": lambda table, path: table.to_csv(path, index=False),
    ".tsv": lambda table, path: table.to_csv(path, index=False, sep="\t"),
    ".parquet": lambda table, path: table.to_parquet(path, index=False),
    ".feather": lambda table, path: table.reset_index(drop=True).to_feather(path),
}


def read_table(path: str | Path) -> pd.DataFrame:
    """Read a table of samples × columns.

    Parameters
    ----------
    path : str or Path
        .csv, .tsv, .parquet or .feather: all columns. .npz, .mat or .h5ad (extra "h5ad"): the
        columns of `X`, named by `feature_names` or `var`; labels of the rows that are stored beside
        `X` are no part of the table (`mainstay.io.read_data` reads those it is asked for).

    Returns
    -------
    pandas.DataFrame
        Its column names are text, and no two are the same.
    """
    return read_annotated(path)[0]


def read_annotated(path: str | Path) -> tuple[pd.DataFrame, Annotations]:
    """Read a table as `read_table` does, and functions that read each of its rows' annotations.

    Annotations are the columns of `obs` in .h5ad, and the arrays beside `X` in .npz and .mat;
    other files have none.
    """
    path = existing(path)
    try:
        contents = _READERS[path.suffix](path)
    except (InputError, ImportError):
        raise
    except Exception as error:  # every reader raises kinds of its own
        raise InputError(
            f"{path} could not be read as {path.suffix[1:]}: {first_line(error)}"
        ) from error
    table, annotations = contents if isinstance(contents, tuple) else (contents, {})
    if len(table) == 0:
        raise InputError(f"{path} holds no rows.")
    table.columns = [str(name) for name in table.columns]
    if not table.columns.is_unique:
        repeated = list(table.columns[table.columns.duplicated()].unique())
        raise InputError(f"{path} names columns more than once: {some(repeated)}.")
    return table, annotations


def write_table(table: pd.DataFrame, path: str | Path) -> None:
    """Write a table, without its index, in the format that the ending of `path` names."""
    path = Path(path)
    write = WRITERS[check_choice("file ending", path.suffix, WRITERS)]
    with replacing(path) as part:
        write(table, part)


def existing(path: str | Path) -> Path:
    """Return the path of a file that exists and whose ending is known."""
    path = Path(path)
    if not path.is_file():
        why = ": it is a directory" if path.is_dir() else ""
        raise InputError(f"there is no file {str(path)!r}{why}.")
    check_choice("file ending", path.suffix, _READERS)
    return path


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message."""
    return (str(error) or type(error).__name__).splitlines()[0]
