"""Where a table comes from: a file, a compressed text file, or standard input."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from mainstay._validation import InputError, check_choice

STANDARD_INPUT = "-"
TEXT_ENDINGS = (".csv", ".tsv", ".tab", ".txt")
_OLD_SPREADSHEETS = (".xls", ".xlsm", ".xlsb", ".ods", ".numbers")


def _unzstd(content: bytes) -> bytes:
    import pyarrow as pa

    with pa.CompressedInputStream(pa.BufferReader(content), "zstd") as stream:
        return bytes(stream.read())


# ending: how its contents begin, what unpacks it
_COMPRESSIONS: dict[str, tuple[bytes, Callable[[bytes], bytes]]] = {
    ".gz": (b"\x1f\x8b", gzip.decompress),
    ".bz2": (b"BZh", bz2.decompress),
    ".xz": (b"\xfd7zXZ\x00", lzma.decompress),
    ".zst": (b"\x28\xb5\x2f\xfd", _unzstd),
}


@dataclass(frozen=True)
class Source:
    """A file and the ending that says what it holds; or contents that are in memory already.

    Attributes
    ----------
    name : str
        What messages call it.
    ending : str
        What it holds, such as ".csv"; that of what is inside a compressed file.
    path : Path or None
        Where it is; None for standard input.
    content : bytes or None
        What it holds, if that is not simply the bytes at `path`.
    """

    name: str
    ending: str
    path: Path | None = None
    content: bytes | None = None

    def __str__(self) -> str:
        return self.name

    def open(self) -> BinaryIO:
        """Open the contents from their beginning."""
        if self.content is not None:
            return io.BytesIO(self.content)
        assert self.path is not None
        return self.path.open("rb")

    def open_text(self, errors: str = "strict") -> io.TextIOWrapper:
        """Open the contents as text in UTF-8."""
        return io.TextIOWrapper(self.open(), encoding="utf-8-sig", errors=errors, newline="")

    def with_content(self, content: bytes) -> Source:
        """The same file with other contents."""
        return replace(self, content=content)


def find_source(path: str | Path | Source, endings: Sequence[str]) -> Source:
    """Find a file whose ending is one of `endings`; "-" is text from standard input.

    Text files may be compressed (.csv.gz, .csv.bz2, .csv.xz, .csv.zst).
    """
    if isinstance(path, Source):
        return path
    if str(path) == STANDARD_INPUT:
        return _standard_input()
    path = Path(path)
    if not path.is_file():
        why = ": it is a directory" if path.is_dir() else ""
        raise InputError(f"there is no file {str(path)!r}{why}.")
    ending = path.suffix.lower()
    if ending not in _COMPRESSIONS:
        return Source(str(path), _known_ending(path, ending, endings), path)
    inner = Path(path.stem).suffix.lower()
    if inner not in TEXT_ENDINGS:
        raise InputError(
            f"{path}: only text can be read compressed ({', '.join(TEXT_ENDINGS)} before "
            f"{ending}); unpack it first."
        )
    return Source(str(path), inner, path, _unpacked(str(path), path.read_bytes(), ending))


def _known_ending(path: Path, ending: str, endings: Sequence[str]) -> str:
    if ending in _OLD_SPREADSHEETS:
        raise InputError(f"{path}: {ending} cannot be read; save the table as .xlsx or .csv.")
    return check_choice("file ending", ending, endings)


def _standard_input() -> Source:
    if sys.stdin is None or sys.stdin.isatty():
        raise InputError(
            "'-' reads a table from standard input, and nothing is sent there; "
            "use it as in: zcat data.csv.gz | mainstay select - --target y"
        )
    name, content = "standard input", sys.stdin.buffer.read()
    for ending, (beginning, _) in _COMPRESSIONS.items():
        if content.startswith(beginning):
            content = _unpacked(name, content, ending)
            break
    if content.startswith((b"PAR1", b"PK\x03\x04", b"ARROW1", b"\x89HDF")):
        raise InputError(f"{name} is read as text (.csv, …), but holds a binary file; save it.")
    return Source(name, ".csv", None, content)


def _unpacked(name: str, content: bytes, ending: str) -> bytes:
    try:
        return _COMPRESSIONS[ending][1](content)
    except (OSError, EOFError, ValueError, lzma.LZMAError) as error:
        raise InputError(
            f"{name} is damaged, or not compressed as {ending} says: {error or 'it ends too early'}"
        ) from error
