"""The command `mainstay report`, and what `mainstay select` writes with --report and --save."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mainstay._terminal import clear_errors

if TYPE_CHECKING:
    from mainstay.ensemble import EnsembleSelector


@click.command()
@click.argument("file", type=click.Path())
@click.option("-o", "--output", type=click.Path(), default="report.html", show_default=True,
              metavar="HTML", help="The page to write.")  # fmt: skip
@click.option("--title", metavar="TEXT", help="Heading of the page.")
@clear_errors
def report(file: str, output: str, title: str | None) -> None:
    """Write a saved result (or runs) as one HTML page.

    FILE is a result.zip written by `mainstay select --save` or `result.save`; or runs, as for
    `mainstay stability`.
    """
    from pathlib import Path

    from mainstay._validation import InputError
    from mainstay.ensemble import write_report
    from mainstay.ensemble.result import SelectionResult

    found: Any
    if Path(file).suffix == ".zip":
        from mainstay.io.archive import load_result

        found = load_result(file)
        if not isinstance(found, SelectionResult):
            raise InputError(f"{file} holds a {type(found).__name__}, not a selection to report.")
    else:
        from mainstay.io import read_runs

        found = read_runs(file)
    write_report(found, output, title=title)
    click.echo(f"The report is in {output}.")


def write_selection(
    selector: EnsembleSelector, source: dict[str, Any], report: str | None, save: str | None
) -> None:
    """Write what `mainstay select` found, with the forecast that its runs allow."""
    if report is None and save is None:
        return
    from pathlib import Path

    forecast = None
    if 0 < selector.n_features_ < selector.runs_.n_features:
        forecast = selector.forecast(random_state=source["seed"])
    kept = {"file": Path(source["file"]).name}
    kept |= {name: source[name] for name in ("target", "groups", "drop") if source[name]}
    result = selector.result(forecast=forecast, source=kept)
    if save is not None:
        result.save(save)
    if report is not None:
        result.write_report(report)
