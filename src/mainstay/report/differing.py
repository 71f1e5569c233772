"""The page that sets two results side by side."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from mainstay._provenance import versions
from mainstay.report.charts import in_per_cent, per_cent
from mainstay.report.render import fill, write_html
from mainstay.report.words import LONGEST_NAME, readable

_MOST_ROWS = 300
_CHANGES = {"entered": "Entered", "left": "Left", "stayed": "Stayed"}


def write_difference_page(difference: Any, path: str | Path, *, title: str | None = None) -> None:
    """Write two results, side by side, as one HTML page."""
    write_html(render_difference(difference, title), path)


def render_difference(difference: Any, title: str | None = None) -> str:
    """Fill the template; text is escaped by it."""
    table = difference.table
    changed = table[table["change"] != "stayed"]
    return fill(
        "difference.html.j2",
        (),
        title=title or "What changed from one result to the other?",
        names=[readable(name, LONGEST_NAME) for name in difference.names],
        start="changes",
        headline=difference.statement,
        explanation=difference.explanation,
        tone="care" if len(changed) else "calm",
        confidence=difference.confidence,
        groups=[
            {"title": title_, "rows": [_row(row) for row in rows.head(_MOST_ROWS).itertuples()],
             "n": len(rows)}
            for change, title_ in _CHANGES.items()
            if len(rows := table[table["change"] == change])
        ],
        sides=[_side(result) for result in (difference.before, difference.after)],
        settings=difference.settings.to_dict("records"),
        versions=versions(),
        data="",
    )  # fmt: skip


def _row(row: Any) -> dict[str, Any]:
    known = not math.isnan(row.difference)
    shares = [None if math.isnan(share) else share
              for share in (row.frequency_before, row.frequency_after)]  # fmt: skip
    return {
        "name": readable(str(row.feature), 60),
        "ranks": [_whole(row.rank_before), _whole(row.rank_after)],
        "shares": ["not there" if share is None else in_per_cent(share) for share in shares],
        "places": [None if share is None else per_cent(share) for share in shares],
        "interval": f"{100 * row.lower:+.0f} to {100 * row.upper:+.0f}" if known else "",
        "difference": f"{100 * row.difference:+.0f}" if known else "",
        "beyond": bool(row.beyond_noise),
    }


def _whole(rank: Any) -> str:
    return "–" if rank is None or rank != rank else f"{int(rank):,}"


def _side(result: Any) -> dict[str, Any]:
    source, data = result.settings.get("source") or {}, result.settings.get("data") or {}
    return {
        "file": source.get("file"),
        "target": source.get("target"),
        "n_samples": data.get("n_samples"),
        "n_features": result.runs.n_features,
        "n_runs": result.runs.n_runs,
        "n_selected": len(result.selected),
        "stability": repr(result.stability).partition(" (")[0],
    }
