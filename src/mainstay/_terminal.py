"""How the commands print tables and estimates."""

from __future__ import annotations

import codecs
import math
import re
import shutil
import sys
from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import click

# what moves the cursor, changes colours or turns the direction of writing
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
# what an ASCII terminal shows instead of what we write; names are escaped
_PLAIN = {"×": "x", "±": "+-", "−": "-", "–": "-", "—": "-", "…": "...", "≤": "<=", "≥": ">=",
          "²": "^2", "“": '"', "”": '"', "’": "'"}  # fmt: skip
_ROUNDING = 1e-12  # of the largest value in a column
_WIDTH_OF_FILES = 200
_LONGEST_CELL = 200
_SHORT_TEXT = 22
_GAP = 2  # between columns

if TYPE_CHECKING:
    import pandas as pd

    from mainstay.measures.inference import StabilityEstimate
    from mainstay.runs import Runs


def printable(text: str) -> str:
    r"""Make control characters visible, so that a name or a file cannot change the terminal.

    Examples
    --------
    >>> print(printable("\x1b[31mred\r"))
    \x1b[31mred\x0d
    """
    return _CONTROL.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def echo(text: str, *, err: bool = False) -> None:
    """Print a message; on a terminal, broken between words."""
    click.echo(_wrapped(printable(text), sys.stderr if err else sys.stdout), err=err)


def _wrapped(text: str, stream: Any) -> str:
    if not stream.isatty():
        return text
    width = shutil.get_terminal_size().columns
    return "\n".join(
        line if line.startswith(" ") else fill(line, width, break_on_hyphens=False)
        for line in text.split("\n")
    )


def show_any_character() -> None:
    """Let streams that are not UTF-8 show what they can, instead of failing at the first ×."""
    codecs.register_error("mainstay-plain", _plain)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure") and (stream.encoding or "").lower() not in (
            "utf-8",
            "utf8",
        ):
            stream.reconfigure(errors="mainstay-plain")


def _plain(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    known = "".join(
        _PLAIN.get(one) or one.encode("ascii", "backslashreplace").decode() for one in letters
    )
    return known, error.end


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


def print_table(table: pd.DataFrame, order: Sequence[str] = ()) -> None:
    """Print a table: text to the left, numbers to the right, True as yes.

    Columns named in `order` come first. A terminal that is too narrow for all columns shows the
    first of them, and names those left out.
    """
    first = [name for name in order if name in table.columns]
    table = table[[*first, *(name for name in table.columns if name not in first)]]
    columns = [
        (str(name).replace("_", " "), "right" if dtype.kind in "buif" else "left")
        for name, dtype in table.dtypes.items()
    ]
    shown = [_cells(table[name]) for name in table.columns]
    _print_rows(columns, list(map(list, zip(*shown, strict=True))))


def _cells(column: pd.Series) -> list[str]:
    """Print values; what is zero but for rounding errors is 0, except among p- and q-values."""
    values = column.tolist()
    if column.dtype.kind == "f" and not str(column.name).endswith("value"):
        largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
        values = [0.0 if abs(value) <= _ROUNDING * largest else value for value in values]
    return [_cell(value) for value in values]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return "yes" if value else ""
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value + 0.0:.3g}"
    return printable(str(value).replace("\n", "\\n").replace("\t", "\\t"))


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
        echo(f"—: {note}.")


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


def _print_rows(columns: list[tuple[str, str]], rows: list[list[str]]) -> None:
    """Print rows under titles, each column adjusted to the left or to the right."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(soft_wrap=True)
    narrow = (console.is_terminal and console.width) or _WIDTH_OF_FILES
    widths = _fitting_widths(columns, rows, narrow)
    if not console.is_terminal:  # tables that go into a file or a pipe are not folded
        console.width = max(narrow, sum(widths) + _GAP * len(widths))
    table = Table(box=None, header_style="bold", pad_edge=False)
    for (title, justify), width in zip(columns, widths, strict=False):
        table.add_column(Text(title), justify=justify, width=width)  # type: ignore[arg-type]
    for row in rows:
        # as text: rich would read [a] in a plain string as markup
        cells = (_shortened(cell, width) for cell, width in zip(row, widths, strict=False))
        table.add_row(*map(Text, cells))
    console.print(table)
    left_out = [title for title, _ in columns[len(widths) :]]
    if left_out:
        echo(f"(Left out, as the terminal is narrow: {', '.join(left_out)}.)")


def _fitting_widths(columns: list[tuple[str, str]], rows: list[list[str]], width: int) -> list[int]:
    """Widths of the first columns, as many as there is room for.

    If need be, titles go over several lines, and long text is shortened.
    """
    from rich.cells import cell_len

    whole = [
        max(cell_len(cell) for cell in (title, *(row[j] for row in rows)))
        for j, (title, _) in enumerate(columns)
    ]
    whole = [min(one, _LONGEST_CELL) for one in whole]
    if sum(whole) + _GAP * (len(whole) - 1) <= width:
        return whole
    folded = [
        max(map(cell_len, [*title.split(), *(row[j] for row in rows)]))
        for j, (title, _) in enumerate(columns)
    ]
    least = [
        min(one, _SHORT_TEXT) if justify == "left" else one
        for one, (_, justify) in zip(folded, columns, strict=True)
    ]
    while len(least) > 1 and sum(least) + _GAP * (len(least) - 1) > width:
        least.pop()
    spare = width - sum(least) - _GAP * (len(least) - 1)
    for j, one in enumerate(least):
        extra = max(0, min(spare, min(folded[j], _LONGEST_CELL) - one))
        least[j] += extra
        spare -= extra
    return least


def _shortened(text: str, width: int) -> str:
    """Leave out the middle of what is too long: names often differ at their ends."""
    from rich.cells import cell_len

    if cell_len(text) <= width:
        return text
    end = (width - 1) // 3
    return f"{text[: width - 1 - end]}…{text[len(text) - end :]}"
