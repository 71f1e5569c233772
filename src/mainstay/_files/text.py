"""Tables in text files, in which every row has as many values as the header has names."""

from __future__ import annotations

import csv
import itertools
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from mainstay._files.layout import TextLayout, find_layout, long_fields
from mainstay._files.numbers import decimal_mark, refuse_both_marks, text_columns
from mainstay._files.sources import Source
from mainstay._validation import InputError, counted, some

PAIRS = {"run", "feature"}  # columns of selections listed one by one
_BLOCK = 1 << 24  # bytes


class TextTable(NamedTuple):
    """A table, the decimal mark of its numbers, and what was found out about the file."""

    table: pd.DataFrame
    decimal: str
    findings: list[str]


def read_text(source: Source, decimal: str | None = None) -> TextTable:
    """Read a text file; a row with more or fewer values than the header is an error.

    Parameters
    ----------
    source : Source
        The file. Its encoding, separator and decimal mark are found out.
    decimal : {".", ","}, optional
        The decimal mark, where the file leaves it open.
    """
    layout = find_layout(source)
    header = _header(layout)
    if len(set(header)) < len(header):
        repeated = [name for name in dict.fromkeys(header) if header.count(name) > 1]
        raise InputError(f"{source} names columns more than once: {some(repeated)}.")
    # in pairs, a feature may be called NA
    as_text: Any = {"dtype": str, "keep_default_na": False, "na_values": [""]}
    options = as_text if set(header) == PAIRS else {}
    try:
        table = _parsed(layout, **options)
    except pd.errors.ParserError as error:
        if "fields in line" in str(error):
            _check_row_lengths(layout, len(header))
        if "EOF inside string" in str(error):
            raise InputError(
                f"{source} has a quotation mark that is never closed, at or after line "
                f"{_row_of(error) + 1 + layout.n_skipped}. Remove it, or double it within a value."
            ) from error
        raise
    _check_row_lengths(layout, len(header))
    mark = "." if options else decimal_mark(source.name, table, decimal)
    found = layout.findings(len(header))
    if mark == ",":
        with_commas = _parsed(layout, decimal=",")
        refuse_both_marks(source.name, table, with_commas)
        table = with_commas
        found.append("decimal commas")
    if not options:
        found += _words_taken_for_missing(layout, table)
    return TextTable(table, mark, found)


def _words_taken_for_missing(layout: TextLayout, table: pd.DataFrame) -> list[str]:
    """Name words such as None that pandas takes for missing, where they may be a category."""
    gappy = [name for name in text_columns(table) if table[name].isna().any()]
    if not gappy:
        return []
    given = _parsed(layout, usecols=gappy, dtype=str, keep_default_na=False)
    words: Counter[str] = Counter()
    for name in gappy:
        words.update(given.loc[table[name].isna().to_numpy(), name].str.strip())
    del words[""]
    if not words:
        return []
    listed = ", ".join(f"{word!r} ({counted(n, 'value')})" for word, n in words.most_common())
    return [f"{listed} among text in {some(gappy)} taken for missing; rename what is a category"]


def _row_of(error: Exception) -> int:
    row = re.search(r"starting at row (\d+)", str(error))
    return int(row[1]) if row else 0


def _parsed(layout: TextLayout, **options: Any) -> pd.DataFrame:
    with layout.source.open() as file:
        table: pd.DataFrame = pd.read_csv(
            file, sep=layout.separator, encoding="utf-8", low_memory=False, **options
        )
    return table


def _header(layout: TextLayout) -> list[str]:
    with layout.source.open_text() as file, long_fields():
        reader = csv.reader(file, delimiter=layout.separator)
        header = next((row for row in reader if row), [])
    if not header:
        raise InputError(f"{layout.source} is empty.")
    if any("\0" in name for name in header):
        raise InputError(f"{layout.source} is not a text file.")
    return header


def write_text(table: pd.DataFrame, file: Any, separator: str = ",") -> None:
    """Write a table without its index, so that `read_text` finds the same names and values."""
    texts = [*map(str, table.columns), *itertools.chain(*(table[c] for c in text_columns(table)))]
    # the csv module of Python leaves a lone carriage return without quotes
    alone = any(isinstance(text, str) and "\r" in text for text in texts)
    quoting: Any = csv.QUOTE_NONNUMERIC if alone else csv.QUOTE_MINIMAL
    table.to_csv(file, index=False, sep=separator, quoting=quoting)


def _check_row_lengths(layout: TextLayout, n_columns: int) -> None:
    """Refuse what pandas would accept: it pads short rows and makes row names of the excess."""
    odd = _first_odd_row(layout.source, layout.separator, n_columns)
    if odd is None:
        return
    line, n_values = odd[0] + layout.n_skipped, odd[1]
    if n_columns == 1:
        advice = (
            "Are there lines above the header, such as a title or comments? Remove them; a value "
            "that contains a separator needs quotes."
        )
    elif n_values > n_columns:
        advice = (
            "If the first column holds row names, the header needs a name for it, too; lines must "
            "not end with a separator, and a value that contains one needs quotes."
        )
    else:
        advice = (
            "Every row needs one value per column (a missing value is an empty cell between two "
            "separators); does the header end with a separator, or is there text below the table?"
        )
    values, columns = counted(n_values, "value"), counted(n_columns, "column")
    raise InputError(
        f"line {line} of {layout.source} has {values}, but the header has {columns}. {advice}"
    )


def _first_odd_row(source: Source, separator: str, n_columns: int) -> tuple[int, int] | None:
    """Line and number of values of the first row whose length is not `n_columns`."""
    blank = b" \r" if separator == "\t" else b" \t\r"
    line = 1
    for block in _blocks_of_lines(source):
        if b'"' in block or block.count(b"\r") > block.count(b"\r\n"):
            return _first_odd_row_of_csv(source, separator, n_columns)
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


def _blocks_of_lines(source: Source) -> Iterator[bytes]:
    """Read a file in blocks that end where a line ends."""
    with source.open() as file:
        while block := file.read(_BLOCK):
            block += file.readline()
            yield block if block.endswith(b"\n") else block + b"\n"


def _first_odd_row_of_csv(source: Source, separator: str, n_columns: int) -> tuple[int, int] | None:
    """Do the same where separators and line breaks may be quoted: slower."""
    with source.open_text() as file, long_fields():
        reader = csv.reader(file, delimiter=separator)
        line = 1
        for row in reader:
            is_blank = len(row) < 2 and not "".join(row).strip()
            if len(row) != n_columns and not is_blank:
                return line, len(row)
            line = reader.line_num + 1
    return None
