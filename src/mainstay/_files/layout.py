"""How a text file is written: its encoding, its separator, and its decimal mark."""

from __future__ import annotations

import codecs
import csv
import itertools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from mainstay._files.sources import Source
from mainstay._validation import InputError

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "'|'"}
_USUAL = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # before utf-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BLOCK = 1 << 24  # bytes
_N_SAMPLED = 20  # rows that tell the separator


@dataclass(frozen=True)
class TextLayout:
    """A text file as UTF-8, its separator, and how it differed from what its name promises."""

    source: Source
    separator: str
    n_skipped: int
    encoding: str

    def findings(self, n_columns: int) -> list[str]:
        """What a user would not expect of such a file, in a few words each."""
        found = []
        if n_columns > 1 and self.separator != _USUAL.get(self.source.ending):
            found.append(f"values separated by {SEPARATORS[self.separator]}")
        if self.encoding in ("latin-1", "cp1252"):
            found.append(
                f"text is not UTF-8 and was read as {self.encoding} (Western European; save the "
                "file as UTF-8 if letters look wrong)"
            )
        elif self.encoding != "utf-8":
            found.append(f"text in {self.encoding}")
        return found


def find_layout(source: Source) -> TextLayout:
    """Find out encoding and separator."""
    encoding = _encoding(source)
    if encoding != "utf-8":
        source = source.with_content(_as_utf8(source, encoding))
    declared, skipped = _declared_separator(source)
    if skipped:  # a first line such as "sep=;", which spreadsheets write
        with source.open() as file:
            file.readline()
            source = source.with_content(file.read())
    return TextLayout(source, declared or _separator(source), skipped, encoding)


def _encoding(source: Source) -> str:
    with source.open() as file:
        start = file.read(4096)
        for mark, name in _BYTE_ORDER_MARKS:
            if start.startswith(mark):
                return name
        if len(start) > 3 and start[1::2].count(0) > 0.9 * len(start[1::2]):
            return "utf-16-le"
        if len(start) > 3 and start[::2].count(0) > 0.9 * len(start[::2]):
            return "utf-16-be"
        if b"\0" in start:
            raise InputError(f"{source} is not a text file.")
        return _eight_bit_encoding(itertools.chain([start], iter(lambda: file.read(_BLOCK), b"")))


def _eight_bit_encoding(blocks: Iterator[bytes]) -> str:
    """UTF-8 if the bytes allow it; if not, one of the encodings in which every byte is a letter."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    is_utf8, is_latin = True, True
    for block in blocks:
        if block.isascii() and not decoder.getstate()[0]:
            continue
        is_latin = is_latin and not any(0x80 <= byte < 0xA0 for byte in set(block))
        try:
            is_utf8 = is_utf8 and decoder.decode(block) is not None
        except UnicodeDecodeError:
            is_utf8 = False
    if is_utf8 and not decoder.getstate()[0]:
        return "utf-8"
    return "latin-1" if is_latin else "cp1252"


def _as_utf8(source: Source, encoding: str) -> bytes:
    with source.open() as file:
        content = file.read()
    try:
        return content.decode(encoding).removeprefix("\ufeff").encode()
    except UnicodeDecodeError as error:
        raise InputError(
            f"{source} cannot be read as text, neither in UTF-8 nor in {encoding} ({error}); save "
            "it as UTF-8."
        ) from error


def _declared_separator(source: Source) -> tuple[str, int]:
    with source.open() as file:
        first = file.readline(8).removeprefix(codecs.BOM_UTF8).rstrip(b"\r\n").decode("latin-1")
    declared = first.removeprefix("sep=")
    if first != declared and declared in SEPARATORS:
        return declared, 1
    return "", 0


def _separator(source: Source) -> str:
    """The separator that gives the first rows as many values as the header has names.

    The one that the file's ending promises is taken if it does, or if none does better.
    """
    usual = _USUAL.get(source.ending, ",")
    shares = {usual: _share_of_full_rows(source, usual)}
    if shares[usual] == 1:
        return usual
    shares |= {other: _share_of_full_rows(source, other) for other in SEPARATORS if other != usual}
    best = max(shares, key=lambda separator: shares[separator])
    return best if shares[best] > max(0.5, shares[usual]) else usual


def _share_of_full_rows(source: Source, separator: str) -> float:
    """How many of the first rows have as many values as the header; 0 if it has only one."""
    header, *rows = [row for row in _first_rows(source, separator) if row] or [[]]
    if len(header) < 2 or not rows:
        return 0.0
    return sum(len(row) == len(header) for row in rows) / len(rows)


def _first_rows(source: Source, separator: str) -> list[list[str]]:
    """Split the first rows of a file."""
    with source.open_text() as file, long_fields():
        try:
            return list(itertools.islice(csv.reader(file, delimiter=separator), _N_SAMPLED))
        except csv.Error as error:
            raise InputError(f"{source} is not a table of text: {error}.") from error


@contextmanager
def long_fields() -> Iterator[None]:
    """Let the csv module read names and values of any length."""
    before = csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    try:
        yield
    finally:
        csv.field_size_limit(before)
