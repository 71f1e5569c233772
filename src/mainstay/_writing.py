"""Files that are written as a whole or not at all.

A file is written beside its place and then renamed, which is one step for the file system: whoever
reads it, and whatever ends the writer (a full disk, a kill), finds the old file or the new one.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

_NAME_IN_TEMPORARY = 40  # characters: names of files are limited to 255 bytes


@contextlib.contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Give a temporary file in the folder of `path` to be written; then put it in its place.

    If the body fails, the temporary file is removed and what was at `path` stays as it was. The
    permissions of a file that is replaced are kept, and links are followed. What is no regular file
    (a pipe) cannot be replaced and is written directly.

    Parameters
    ----------
    path : str or Path
        The file to be written.

    Yields
    ------
    Path
        Where to write. Its name has no telling ending: say explicitly which format is meant.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(f"{folder}/notes.txt") as part:
    ...         _ = part.write_text("complete")
    ...     [file.name for file in Path(folder).iterdir()]
    ['notes.txt']
    """
    place = _checked_place(path)
    if _is_special(place):
        yield place
        return
    part = _new_file_beside(place)
    try:
        yield part
        if place.exists():
            part.chmod(stat.S_IMODE(place.stat().st_mode))
        _sync(part)
        part.replace(place)
    except BaseException as error:
        part.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename in (None, str(part)):
            error.filename = str(path)  # a full disk does not say which file it had no room for
        raise
    _sync_folder(place.parent)


def check_writable(path: str | Path) -> None:
    """Refuse a place where no file can be written, with an error that says why.

    Raises
    ------
    OSError
        FileNotFoundError if there is no such folder, IsADirectoryError if there is a folder of this
        name, PermissionError (or what the system says) if the file or its folder cannot be written.
    """
    place = _checked_place(path)
    if not _is_special(place):
        _new_file_beside(place).unlink()


def check_folder_writable(path: str | Path) -> None:
    """Refuse a folder that can neither be made (with those above it) nor written into."""
    place = Path(path).resolve()
    while not place.exists():
        place = place.parent
    if not place.is_dir():
        raise NotADirectoryError(f"{path}: {str(place)!r} is a file, not a directory.")
    check_writable(place / "file")


def _checked_place(path: str | Path) -> Path:
    """Where a file of this name is, links followed; not where a folder is, or where none is."""
    place = Path(path).resolve()
    if place.is_dir():
        raise IsADirectoryError(f"{path} is a directory, not a file.")
    if not place.parent.is_dir():
        folder = place.parent if Path(path).is_symlink() else Path(path).parent
        raise FileNotFoundError(f"{path}: there is no directory {str(folder)!r}.")
    if place.exists() and not os.access(place, os.W_OK):
        raise PermissionError(f"{path} is write-protected.")
    return place


def _is_special(place: Path) -> bool:
    """Whether this is a pipe or a device, which can be written but not replaced."""
    return place.exists() and not place.is_file()


def _new_file_beside(place: Path) -> Path:
    """An empty file in the same folder, with the permissions that a new file has."""
    name = f".{place.name[:_NAME_IN_TEMPORARY]}.{secrets.token_hex(6)}.tmp"
    part = place.with_name(name)
    try:
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    except OSError as error:
        raise type(error)(
            f"nothing can be written into the directory {str(place.parent)!r}: {error.strerror}."
        ) from error
    return part


def _sync(path: Path) -> None:
    """Have the contents on the disk before the name: else a power failure may leave an empty file.

    This is also where some file systems notice that the disk is full.
    """
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Have the new name on the disk; not every system lets one."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
