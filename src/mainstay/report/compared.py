"""The comparison with other selectors, as the page shows it."""

from __future__ import annotations

import math
from typing import Any

_MOST_ROWS = 300


def summarise_comparison(comparison: Any) -> dict[str, Any]:
    """Collect the front, the baselines and the best others, best score first; without times."""
    table, column = comparison.table, comparison.stability_column
    order = table.sort_values(["score", "n_features"], ascending=[False, True], kind="stable")
    marked = order["on_front"] | order["baseline"] | order["recommended"]
    others = order[~marked].head(max(0, _MOST_ROWS - int(marked.sum())))
    shown = order.loc[order.index.isin([*order[marked].index, *others.index])]
    rows = [
        {
            "name": str(row["candidate"]),
            "n_features": int(row["n_features"]),
            "score": _rounded(row["score"]),
            "error": _rounded(row["score_standard_error"]),
            "stability": _rounded(row[column]),
            "lower": _rounded(row[f"{column}_lower"]),
            "upper": _rounded(row[f"{column}_upper"]),
            "baseline": bool(row["baseline"]),
            "on_front": bool(row["on_front"]),
            "recommended": bool(row["recommended"]),
        }
        for _, row in shown.iterrows()
    ]
    best = order[order["baseline"]].drop_duplicates("selector")
    return {
        "score_name": str(comparison.settings["scoring"]),
        "measure": str(comparison.settings["stability"]),
        "n_splits": int(comparison.settings["n_splits"]),
        "n_candidates": len(table),
        "n_left_out": len(table) - len(rows),
        "reason": comparison.reason,
        "caution": comparison.caution,
        "rows": rows,
        "baselines": [
            {"name": str(name), "score": _rounded(score)}
            for name, score in zip(best["candidate"], best["score"], strict=True)
        ],
    }


def _rounded(value: Any) -> float | None:
    number = float(value)
    return round(number, 4) if math.isfinite(number) else None
