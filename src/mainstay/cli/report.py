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
    entered the list, which left it, and which differences are within noise. OTHER may also be what
    `mainstay replicate --save` wrote for the same table: then the page says how far another study
    would agree.
    """
    from mainstay.ensemble.result import as_result, write_report
    from mainstay.reliability import Replicability

    result = as_result(_open(file))
    if methods:
        if other is not None:
            raise click.UsageError("--methods describes one result; give one file.")
        click.echo(result.methods_text())
        return
    second = None if other is None else _open(other, Replicability)
    if other is None or isinstance(second, Replicability):
        write_report(result, output, replicability=second, title=title)
    else:
        names = (Path(file).name, Path(other).name)
        if names[0] == names[1]:
            names = (file, other)
        change = result.compared_with(as_result(second), names=names)
        change.write_report(output, title=title)
        echo(change.summary())
    echo(f"The report is in {output}.")


def _open(file: str, *also: type) -> Any:
    """Read a result, runs, or what else is taken here."""
    from mainstay import io
    from mainstay._validation import InputError
    from mainstay.ensemble.result import SelectionResult

    if Path(file).suffix != ".zip":
        return io.read_runs(file)
    result = io.load_result(file)
    if not isinstance(result, (SelectionResult, *also)):
        raise InputError(f"{file} holds a {type(result).__name__}, not a selection to report.")
    return result
