"""The command `mainstay aggregate`."""

from __future__ import annotations

import click

from mainstay._terminal import echo, print_table
from mainstay.cli import options
from mainstay.cli.command import command


@command()
@options.input_file
@click.option("--method", default="rra", show_default=True, metavar="NAME",
              help="How the rankings become one.")  # fmt: skip
@options.runs_kind
@options.runs_n_features
@options.top
@options.output_table
@options.as_json
def aggregate(
    file: str,
    method: str,
    kind: str,
    n_features: int | None,
    top: int,
    output: str | None,
    as_json: bool,
) -> None:
    """Combine the rankings (or selections) in FILE into one.

    FILE is as for `mainstay stability`.
    """
    from mainstay import io
    from mainstay._files import write_table
    from mainstay.aggregation import aggregate as combine

    runs = io.read_runs(file, kind=kind, n_features=n_features)
    ranking = combine(runs, method)
    table = ranking.to_frame().sort_values("rank")
    if output:
        write_table(table, output)
    if as_json:
        echo(table.to_json(orient="records"))
        return
    echo(f"{runs!r}\n")
    print_table(table.head(top))
    if ranking.p_values_note:
        echo(f"\nWithout p-values: {ranking.p_values_note}.")
