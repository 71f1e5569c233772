"""What all commands have in common: clear errors and notes, options that do not collide."""

from __future__ import annotations

import logging
import signal
import threading
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import click

from mainstay._terminal import echo, printable, show_any_character

EXIT_CODES = """\b
Exit codes:
  0    done
  1    stopped by Ctrl-C, or an error in mainstay itself (with a traceback)
  2    the command, a file or the data cannot be used; the message says why
  143  stopped by SIGTERM
"""
_NOTES = "mainstay._files"  # the logger of what was found out about a file


class InputFile(click.Path):
    """A file to read; what is wrong with it is said by what reads it."""


class PathError(click.ClickException):
    """A path on the command line that nothing can be written to: one line, and exit code 2."""

    exit_code = 2

    def __init__(self, message: str, param: click.Parameter | None) -> None:
        option = f"{param.opts[-1]} " if isinstance(param, click.Option) else ""
        super().__init__(option + message)


class OutputFile(click.Path):
    """A file to write; that it can be written is checked before any work is done for it."""

    def __init__(self, *endings: str) -> None:
        super().__init__()
        self._endings = endings

    def endings(self) -> tuple[str, ...]:
        """How the file's name may end."""
        return self._endings

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Check ending and place."""
        from mainstay._writing import check_writable

        if Path(value).suffix not in self.endings():
            raise PathError(f"{value}: the name must end in {' or '.join(self.endings())}.", param)
        try:
            check_writable(value)
        except OSError as error:
            raise PathError(str(error), param) from error
        return super().convert(value, param, ctx)


class OutputFolder(click.Path):
    """A folder to write into, which is made if there is none; checked before any work is done."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Check that the folder can be made or written into."""
        from mainstay._writing import check_folder_writable

        try:
            check_folder_writable(value)
        except OSError as error:
            said = str(error) if str(error).startswith(str(value)) else f"{value}: {error}"
            raise PathError(said, param) from error
        return super().convert(value, param, ctx)


class Program(click.Group):
    """The group of all commands; what it prints suits any terminal."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the program."""
        show_any_character()
        return super().main(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; nothing that was typed changes the terminal."""
        with _printable_errors():
            return super().invoke(ctx)


@contextmanager
def _printable_errors() -> Iterator[None]:
    try:
        yield
    except click.ClickException as error:
        error.message = printable(error.message)  # type: ignore[misc]
        raise


class Command(click.Command):
    """A command whose mistakes end with a message and exit code 2, never with a traceback.

    An option that takes one value is given once, and no file is written that another option or
    argument names, too. All have the option --quiet.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.epilog = EXIT_CODES
        self.params.append(
            click.Option(
                ["-q", "--quiet"],
                is_flag=True,
                expose_value=False,
                callback=_remember,
                help="No progress bars and no notes: only results, warnings and errors.",
            )
        )

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line, and refuse repeated options and colliding files."""
        *_, given = self.make_parser(ctx).parse_args(args=list(args))
        if not any(param.is_eager and getattr(param, "is_flag", False) for param in given):
            _refuse_repeated(ctx, given)  # not where --help or --list was asked for
        rest = super().parse_args(ctx, args)
        self._refuse_colliding_files(ctx)
        return rest

    def _refuse_colliding_files(self, ctx: click.Context) -> None:
        users: dict[Path, str] = {}
        for param in sorted(self.params, key=lambda param: isinstance(param.type, OutputFile)):
            path = ctx.params.get(param.name or "")
            if path is None or not isinstance(param.type, InputFile | OutputFile):
                continue
            name = param.opts[-1] if isinstance(param, click.Option) else param.human_readable_name
            other = users.setdefault(Path(path).resolve(), name)
            if other != name and isinstance(param.type, OutputFile):
                raise click.UsageError(f"{name} {path} would overwrite {other}.", ctx)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; print warnings and errors as one line each."""
        from mainstay._validation import InputError

        try:
            with warnings.catch_warnings(), _ended_by_sigterm(), _notes(quiet=ctx.meta[_QUIET]):
                warnings.showwarning = _print_warning
                return super().invoke(ctx)
        except BrokenPipeError:  # the reader of a pipe went away: click ends quietly
            raise
        except (InputError, OSError) as error:
            echo(f"Error: {error}", err=True)
            ctx.exit(2)


def _refuse_repeated(ctx: click.Context, given: list[click.Parameter]) -> None:
    for param, times in Counter(given).items():
        if isinstance(param, click.Option) and not param.multiple and times > 1:
            raise click.UsageError(f"{param.opts[-1]} was given {times} times; give it once.", ctx)


_QUIET = "mainstay.quiet"


def _remember(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    ctx.meta[_QUIET] = value


class _NoteHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        echo(f"Note: {record.getMessage()}", err=True)


@contextmanager
def _notes(*, quiet: bool) -> Iterator[None]:
    """Print what is found out about files as notes; or, if quiet, neither notes nor progress."""
    from mainstay._parallel import without_progress

    logger, handler = logging.getLogger(_NOTES), logging.NullHandler() if quiet else _NoteHandler()
    logger.addHandler(handler)
    propagated, logger.propagate = logger.propagate, False
    try:
        with without_progress() if quiet else nullcontext():
            yield
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagated


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Let SIGTERM end the command as an exception would, so that its workers are ended, too."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _terminate(number: int, _frame: Any) -> None:
    signal.signal(number, signal.SIG_IGN)  # once is enough: the workers are being ended
    echo("Error: stopped by SIGTERM.", err=True)
    raise SystemExit(128 + number)


def _print_warning(message: Warning | str, *_args: Any, **_kwargs: Any) -> None:
    echo(f"Warning: {message}", err=True)


command = partial(click.command, cls=Command)
