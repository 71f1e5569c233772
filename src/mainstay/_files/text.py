"""Tables in text files, in which every row has as many values as the header has names."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mainstay._validation import InputError, some

PAIRS = {"run", "feature"}  # columns of selections listed one by one
_BLOCK = 1 << 24  # bytes


def read_text(path: Path) -> pd.DataFrame:
    """Read .csv or .tsv; a row with more or fewer values than the header is an error."""
    separator = "\t" if path.suffix == ".tsv" else ","
    header = _header(path, separator)
    if len(set(header)) < len(header):
        repeated = [name for name in dict.fromkeys(header) if header.count(name) > 1]
        raise InputError(f"{path} names columns more than once: {some(repeated)}.")
    # in pairs, a feature may be called NA
    as_text: Any = {"dtype": str, "keep_default_na": False, "na_values": [""]}
    options = as_text if set(header) == PAIRS else {}
    try:
        table: pd.DataFrame = pd.read_csv(path, sep=separator, **options)
    except pd.errors.ParserError as error:
        if "fields in line" in str(error):
            _check_row_lengths(path, separator, len(header))
        raise
    _check_row_lengths(path, separator, len(header))
    return table


def _header(path: Path, separator: str) -> list[str]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        header = next((row for row in csv.reader(file, delimiter=separator) if row), [])
    if not header:
        raise InputError(f"{path} is empty.")
    if any("\0" in name for name in header):
        raise InputError(f"{path} is not a text file.")
    return header


def _check_row_lengths(path: Path, separator: str, n_columns: int) -> None:
    """Refuse what pandas would accept: it pads short rows and makes row names of the excess."""
    odd = _first_odd_row(path, separator, n_columns)
    if odd is None:
        return
    line, n_values = odd
    if n_values > n_columns:
        advice = (
            "If the first column holds row names, the header needs a name for it, too; lines must "
            "not end with a separator, and a value that contains one needs quotes."
        )
    else:
        advice = (
            "Every row needs one value per column (a missing value is an empty cell between two "
            "separators); does the header end with a separator?"
        )
    values = "1 value" if n_values == 1 else f"{n_values} values"
    columns = "1 column" if n_columns == 1 else f"{n_columns} columns"
    raise InputError(f"line {line} of {path} has {values}, but the header has {columns}. {advice}")


def _first_odd_row(path: Path, separator: str, n_columns: int) -> tuple[int, int] | None:
    """Line and number of values of the first row whose length is not `n_columns`."""
    blank = b" \r" if separator == "\t" else b" \t\r"
    line = 1
    for block in _blocks_of_lines(path):
        if b'"' in block or block.count(b"\r") > block.count(b"\r\n"):
            return _first_odd_row_of_csv(path, separator, n_columns)
        characters = np.frombuffer(block, dtype=np.uint8)
        ends = np.flatnonzero(characters == ord("\n"))
        separators = np.flatnonzero(characters == ord(separator))
        n_values = np.diff(np.searchsorted(separators, ends), prepend=0) + 1
        for row in np.flatnonzero(n_values != n_columns):
            start = ends[row - 1] + 1 if row else 0
            if block[start : ends[row]].strip(blank):
                return line + int(row), int(n_values[row])
        line += len(ends)
    return None


def _blocks_of_lines(path: Path) -> Iterator[bytes]:
    """Read a file in blocks that end where a line ends."""
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            block += file.readline()
            yield block if block.endswith(b"\n") else block + b"\n"


def _first_odd_row_of_csv(path: Path, separator: str, n_columns: int) -> tuple[int, int] | None:
    """Do the same where separators and line breaks may be quoted: slower."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=separator)
        line = 1
        for row in reader:
            is_blank = len(row) < 2 and not "".join(row).strip()
            if len(row) != n_columns and not is_blank:
                return line, len(row)
            line = reader.line_num + 1
    return None
