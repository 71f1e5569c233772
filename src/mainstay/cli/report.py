"""The command `mainstay report`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mainstay._terminal import echo
from mainstay.cli import options
from mainstay.cli.command import InputFile, OutputFile, command


@command()
@options.input_file
@click.argument("other", required=False, type=InputFile())
@click.option("-o", "--output", type=OutputFile(".html", ".htm"), default="report.html",
              show_default=True, metavar="HTML", help="The page to write.")  # fmt: skip
@click.option("--title", metavar="TEXT", help="Heading of the page.")
@click.option("--methods", is_flag=True,
              help="Print a methods paragraph with full references, for a paper, and write no "
                   "page.")  # fmt: skip
def report(file: str, other: str | None, output: str, title: str | None, methods: bool) -> None:
    """Write a saved result (or runs) as one HTML page.

    FILE is a result.zip written by `mainstay select --save` or `result.save`; or runs, as for
    `mainstay stability`. With OTHER, a second one, the page compares the two: which features
    entered the list, which left it, and which differences are within noise.
    """
    from mainstay.ensemble.result import as_result

    result = as_result(_open(file))
    if methods:
        if other is not None:
            raise click.UsageError("--methods describes one result; give one file.")
        click.echo(result.methods_text())
        return
    if other is None:
        result.write_report(output, title=title)
    else:
        names = (Path(file).name, Path(other).name)
        if names[0] == names[1]:
            names = (file, other)
        change = result.compared_with(as_result(_open(other)), names=names)
        change.write_report(output, title=title)
        echo(change.summary())
    echo(f"The report is in {output}.")


def _open(file: str) -> Any:
    """Read a result, or runs."""
    from mainstay import io
    from mainstay._validation import InputError
    from mainstay.ensemble.result import SelectionResult

    if Path(file).suffix != ".zip":
        return io.read_runs(file)
    result = io.load_result(file)
    if not isinstance(result, SelectionResult):
        raise InputError(f"{file} holds a {type(result).__name__}, not a selection to report.")
    return result
