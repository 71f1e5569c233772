"""`--config settings.toml`: the options of a command from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click


def read_config(ctx: click.Context, _param: click.Parameter, path: str | None) -> None:
    """Take what a file says for what the command line does not say.

    Keys are the names of options (with - or _), and file; options that can be repeated take lists.
    """
    if path is None:
        return
    settings = _settings(path)
    params = {key: param for param in ctx.command.params for key in _keys(param)}
    values: dict[str, Any] = {}
    for key, value in settings.items():
        name = key.replace("_", "-")
        if name not in params:
            raise click.UsageError(_unknown(path, key, list(params)), ctx)
        param = params[name]
        values[param.name or ""] = _value(path, key, value, repeatable=param.multiple)
    ctx.default_map = {**(ctx.default_map or {}), **values}


def _settings(path: str) -> dict[str, Any]:
    import tomllib

    try:
        with Path(path).open("rb") as file:
            return tomllib.load(file)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise click.UsageError(f"--config {path} is not a TOML file: {error}") from error
    except OSError as error:
        raise click.UsageError(f"--config {path} cannot be read: {error.strerror}.") from error


def _keys(param: click.Parameter) -> list[str]:
    if isinstance(param, click.Argument):
        return [str(param.name)]
    if not param.expose_value or getattr(param, "hidden", False):
        return []
    return [option.removeprefix("--") for option in param.opts if option.startswith("--")]


def _unknown(path: str, key: str, valid: list[str]) -> str:
    from mainstay._validation import InputError, check_choice

    try:
        check_choice(f"setting in {path}", key, valid)
    except InputError as error:
        return str(error)
    raise AssertionError(f"{key} is valid")


def _value(path: str, key: str, value: Any, *, repeatable: bool) -> Any:
    values = value if isinstance(value, list) else [value]
    if not all(isinstance(one, str | int | float | bool) for one in values):
        raise click.UsageError(f"{key} in {path} must be text or a number, got {value!r}.")
    if repeatable:
        return values
    if len(values) != 1 or isinstance(value, list):
        raise click.UsageError(f"{key} in {path} takes one value, got {value!r}.")
    return value


# FILE and required options may be in the file, so it is read before them
config = click.option(
    "--config",
    type=click.Path(),
    metavar="TOML",
    is_eager=True,
    expose_value=False,
    callback=read_config,
    help="Read options from this file, such as target = \"outcome\"; those on the command line "
         "win. A report's page shows one under “How to repeat it”.",
)  # fmt: skip
