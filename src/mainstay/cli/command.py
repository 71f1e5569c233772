"""What all commands have in common: clear errors, and options and files that do not collide."""

from __future__ import annotations

import signal
import threading
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import click


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
            raise PathError(str(error), param) from error
        return super().convert(value, param, ctx)


class Command(click.Command):
    """A command whose mistakes end with a message and exit code 2, never with a traceback.

    An option that takes one value is given once, and no file is written that another option or
    argument names, too.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line, and refuse repeated options and colliding files."""
        *_, given = self.make_parser(ctx).parse_args(args=list(args))
        rest = super().parse_args(ctx, args)
        for param, times in Counter(given).items():
            if isinstance(param, click.Option) and not param.multiple and times > 1:
                raise click.UsageError(
                    f"{param.opts[-1]} was given {times} times; give it once.", ctx
                )
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
            with warnings.catch_warnings(), _ended_by_sigterm():
                warnings.showwarning = _print_warning
                return super().invoke(ctx)
        except BrokenPipeError:  # the reader of a pipe went away: click ends quietly
            raise
        except (InputError, OSError) as error:
            click.echo(f"Error: {error}", err=True)
            ctx.exit(2)


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
    click.echo("Error: stopped by SIGTERM.", err=True)
    raise SystemExit(128 + number)


def _print_warning(message: Warning | str, *_args: Any, **_kwargs: Any) -> None:
    click.echo(f"Warning: {message}", err=True)


command = partial(click.command, cls=Command)
