"""How the commands print tables and estimates."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from mainstay.measures.inference import StabilityEstimate
    from mainstay.runs import Runs


def describe(runs: Runs) -> dict[str, Any]:
    """What the runs are, for JSON."""
    return {"n_runs": runs.n_runs, "n_features": runs.n_features, "kind": runs.kind}


def to_records(estimates: list[StabilityEstimate]) -> list[dict[str, Any]]:
    """Turn estimates into plain dictionaries; what is undefined becomes null."""
    records: list[dict[str, Any]] = []
    for estimate in estimates:
        (row,) = estimate.to_frame().to_dict("records")
        records.append(
            {
                str(key): None if isinstance(value, float) and not math.isfinite(value) else value
                for key, value in row.items()
            }
        )
    return records


def print_table(table: pd.DataFrame) -> None:
    """Print a table: text to the left, numbers to the right, True as yes."""
    columns = [
        (str(name).replace("_", " "), "right" if dtype.kind in "buif" else "left")
        for name, dtype in table.dtypes.items()
    ]
    _print_rows(columns, ([_cell(value) for value in row] for row in table.itertuples(index=False)))


def _cell(value: Any) -> str:
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return "yes" if value else ""
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.3g}"
    return str(value)


def print_estimates(estimates: list[StabilityEstimate]) -> None:
    """Print estimates as a table."""
    level = f"{estimates[0].confidence:.0%} interval"
    columns = [("measure", "left"), ("stability", "right"), (level, "left"),
               ("corrected for chance", "left")]  # fmt: skip
    rows = []
    for e in estimates:
        low, high = e.interval
        interval = f"{low:.3f} to {high:.3f}" if not e.interval_note else "—"
        value = f"{round(e.value, 3) + 0.0:.3f}" if math.isfinite(e.value) else "undefined"
        rows.append([e.measure, value, interval, _correction_text(e)])
    _print_rows(columns, rows)
    for note in sorted({e.interval_note for e in estimates if math.isfinite(e.value)} - {""}):
        click.echo(f"—: {note}.")


def _correction_text(e: StabilityEstimate) -> str:
    if e.correction == "estimate":
        return f"simulated, ± {e.chance_standard_error:.1g}"
    return {"none": "no", "exact": "exactly"}.get(e.correction, e.correction)


def print_measures(ctx: click.Context, wanted: bool) -> None:
    """List all measures and end, if `--list` was given."""
    if not wanted or ctx.resilient_parsing:
        return
    from mainstay.measures import MEASURES

    columns = ("name", "kind", "bounds", "corrected", "adjusted", "options", "reference")
    rows = []
    for m in MEASURES.values():
        bounds = f"{m.lower:g} to {m.upper:g}"
        corrected, adjusted = ("yes" if flag else "no" for flag in (m.corrected, m.adjusted))
        rows.append([m.name, m.kind, bounds, corrected, adjusted, " ".join(m.options), m.reference])
    _print_rows([(column, "left") for column in columns], rows)
    ctx.exit()


def _print_rows(columns: list[tuple[str, str]], rows: Iterable[list[str]]) -> None:
    """Print rows under titles, each column adjusted to the left or to the right."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False)
    for title, justify in columns:
        table.add_column(Text(title), justify=justify)  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*map(Text, row))  # as text: rich would read [a] in a plain string as markup
    _console().print(table)


def _console() -> Console:
    """Make a console that does not fold tables that go into a file or a pipe."""
    from rich.console import Console

    console = Console(soft_wrap=True)
    if not console.is_terminal:
        console.width = 200
    return console
