"""How the commands print tables and estimates."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from mainstay.measures.inference import StabilityEstimate
    from mainstay.runs import Runs


_NAMES = (
    "feature",
    "regulator",
    "target",
    "candidate",
    "first",
    "second",
    "criterion",
)  # columns of text


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
    """Print a table."""
    from rich.table import Table

    shown = Table(box=None, header_style="bold", pad_edge=False)
    for name in table.columns:
        shown.add_column(name.replace("_", " "), justify="left" if name in _NAMES else "right")
    for row in table.itertuples(index=False):
        shown.add_row(*(_cell(value) for value in row))
    _console().print(shown)


def _cell(value: Any) -> str:
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return "yes" if value else ""
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.3g}"
    return str(value)


def print_estimates(estimates: list[StabilityEstimate]) -> None:
    """Print estimates as a table."""
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    level = f"{estimates[0].confidence:.0%} interval"
    for column in ("measure", "stability", level, "corrected for chance"):
        table.add_column(column, justify="right" if column == "stability" else "left")
    for e in estimates:
        low, high = e.interval
        interval = f"{low:.3f} to {high:.3f}" if not e.interval_note else "—"
        value = f"{round(e.value, 3) + 0.0:.3f}" if math.isfinite(e.value) else "undefined"
        table.add_row(e.measure, value, interval, _correction_text(e))
    _console().print(table)
    for note in sorted({e.interval_note for e in estimates if math.isfinite(e.value)} - {""}):
        click.echo(f"—: {note}.")


def _correction_text(e: StabilityEstimate) -> str:
    if e.correction == "estimate":
        return f"simulated, ± {e.chance_standard_error:.1g}"
    return {"none": "no", "exact": "exactly"}.get(e.correction, e.correction)


def list_measures(ctx: click.Context, wanted: bool) -> None:
    """List all measures and end, if `--list` was given."""
    if not wanted or ctx.resilient_parsing:
        return
    from rich.table import Table

    from mainstay.measures import MEASURES

    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("name", "kind", "bounds", "corrected", "adjusted", "options", "reference"):
        table.add_column(column)
    for m in MEASURES.values():
        bounds = f"{m.lower:g} to {m.upper:g}"
        corrected, adjusted = ("yes" if flag else "no" for flag in (m.corrected, m.adjusted))
        table.add_row(m.name, m.kind, bounds, corrected, adjusted, " ".join(m.options), m.reference)
    _console().print(table)
    ctx.exit()


def _console() -> Console:
    """Make a console that does not fold tables that go into a file or a pipe."""
    from rich.console import Console

    console = Console(soft_wrap=True)
    if not console.is_terminal:
        console.width = 200
    return console
