"""How results look in a notebook: a heading, a sentence and a small table, everything escaped."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

_MOST_ROWS = 10
_LONGEST = 80
_CELL = "padding:2px 10px;text-align:{side};white-space:nowrap"


def card(
    title: str, text: str = "", table: pd.DataFrame | None = None, *, most_rows: int = _MOST_ROWS
) -> str:
    """Return HTML for a notebook; it takes colours and fonts from the notebook.

    Parameters
    ----------
    title : str
        One line.
    text : str
        What the result says; a line is a paragraph.
    table : pandas.DataFrame, optional
        Numbers to show; the first rows, and how many more there are.
    most_rows : int
        How many rows of the table are shown.

    Examples
    --------
    >>> card("Runs", "2 runs of <b>")
    '<div><strong>Runs</strong><p style="max-width:80ch">2 runs of &lt;b&gt;</p></div>'
    """
    parts = [f"<strong>{escape(title)}</strong>"]
    for paragraph in filter(None, text.split("\n")):
        parts.append(f'<p style="max-width:80ch">{escape(paragraph)}</p>')
    if table is not None:
        parts.append(_table(table.head(most_rows)))
        more = len(table) - most_rows
        if more > 0:
            parts.append(f"<p>and {more:,} more row{'s' * (more != 1)}</p>")
    return f"<div>{''.join(parts)}</div>"


def _table(table: pd.DataFrame) -> str:
    sides = ["right" if dtype.kind in "uif" else "left" for dtype in table.dtypes]
    head = "".join(
        f'<th scope="col" style="{_CELL.format(side=side)}">{escape(_shown(name))}</th>'
        for name, side in zip(table.columns, sides, strict=True)
    )
    rows = "".join(
        "<tr>"
        + "".join(
            f'<td style="{_CELL.format(side=side)}">{escape(_shown(value))}</td>'
            for value, side in zip(row, sides, strict=True)
        )
        + "</tr>"
        for row in table.itertuples(index=False)
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _shown(value: Any) -> str:
    if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_"):
        return "yes" if value else ""
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.3g}"
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
