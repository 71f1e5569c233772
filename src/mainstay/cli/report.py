"""The command `mainstay report`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mainstay._terminal import echo
from mainstay.cli import options
from mainstay.cli.command import OutputFile, command


@command()
@options.input_file
@click.option("-o", "--output", type=OutputFile(".html", ".htm"), default="report.html",
              show_default=True, metavar="HTML", help="The page to write.")  # fmt: skip
@click.option("--title", metavar="TEXT", help="Heading of the page.")
@click.option("--methods", is_flag=True,
              help="Print a methods paragraph with full references, for a paper, and write no "
                   "page.")  # fmt: skip
def report(file: str, output: str, title: str | None, methods: bool) -> None:
    """Write a saved result (or runs) as one HTML page.

    FILE is a result.zip written by `mainstay select --save` or `result.save`; or runs, as for
    `mainstay stability`.
    """
    from mainstay import io
    from mainstay._validation import InputError
    from mainstay.ensemble import write_report
    from mainstay.ensemble.result import SelectionResult, as_result

    result: Any
    if Path(file).suffix == ".zip":
        result = io.load_result(file)
        if not isinstance(result, SelectionResult):
            raise InputError(f"{file} holds a {type(result).__name__}, not a selection to report.")
    else:
        result = io.read_runs(file)
    if methods:
        click.echo(as_result(result).methods_text())
        return
    write_report(result, output, title=title)
    echo(f"The report is in {output}.")
