"""Loops that arrays cannot express: the only folder that imports numba.

Every kernel has a naive twin in the tests that it is compared with.
"""

from __future__ import annotations

import logging
import os
import stat
import tempfile
from pathlib import Path

_log = logging.getLogger(__name__)


def _choose_cache_folder() -> None:
    """Let compiled kernels be kept where one can write: numba fails if that is nowhere.

    It keeps them beside this file or in the user's cache folder; in a container often neither can
    be written. Then they go to a folder for temporary files that nobody else can write into, since
    what is kept there is run.
    """
    if os.environ.get("NUMBA_CACHE_DIR") or _can_write(Path(__file__).parent / "__pycache__"):
        return
    import numba
    from numba.misc.appdirs import AppDirs

    if _can_write(Path(AppDirs(appname="numba", appauthor=False).user_cache_dir)):
        return
    folder = str(_private_folder())
    _log.info("compiled kernels are kept in %s; NUMBA_CACHE_DIR names another folder.", folder)
    os.environ["NUMBA_CACHE_DIR"] = folder  # for processes that are started from here
    numba.config.CACHE_DIR = folder


def _can_write(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _private_folder() -> Path:
    """A folder for this user alone; the same one next time, if nobody else has made it."""
    user = os.getuid() if hasattr(os, "getuid") else None
    try:
        folder = Path(tempfile.gettempdir()) / f"mainstay-kernels-{user}"
        folder.mkdir(mode=0o700, exist_ok=True)
        about = folder.lstat()
        is_private = about.st_uid == user and stat.S_ISDIR(about.st_mode)
        if is_private and not about.st_mode & 0o077 and _can_write(folder):
            return folder
        return Path(tempfile.mkdtemp(prefix="mainstay-kernels-"))
    except OSError as error:
        raise OSError(
            "mainstay compiles some loops and needs a folder to keep them in, but none can be "
            f"written ({error}). Set the environment variable NUMBA_CACHE_DIR to one that can."
        ) from error


_choose_cache_folder()
