"""Replicability, as the page shows it: numbers, words, and where the marks of its chart stand."""

from __future__ import annotations

import math
from typing import Any

from mainstay.report.words import decimals

_Y_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
_MARGIN, _ASIDE = 0.06, 0.009  # room at the sides; half the distance of two curves' bars


def summarise_replicability(replicability: Any, wanted: float) -> dict[str, Any]:
    """Collect what the page and the verdict say; `wanted` is an agreement to plan rows for."""
    single, gain = replicability.single, replicability.gain
    size = replicability.ensemble_size
    curves = [_curve(replicability, "Single runs" if size is None else f"Ensembles of {size}")]
    if single is not None:
        curves.append(_curve(single, "Single runs"))
    at_n = replicability.at_n
    return {
        **_estimate(replicability.value, replicability.interval),
        "measure": replicability.measure,
        "confidence": replicability.confidence,
        "corrected": replicability.is_corrected,
        "of_selections": replicability.compares_selections,
        "ensemble_size": size,
        "n": replicability.n,
        "n_rows": replicability.n_rows,
        "at_n": _estimate(at_n.value, at_n.interval),
        "wanted": wanted,
        "rows_wanted": [_rounded(n) for n in replicability.rows_for(wanted)],
        "statement": replicability.statement,
        "summary": replicability.summary(),
        "gain": None if gain is None else gain.summary(),
        "curves": curves,
        "chart": _chart(curves, replicability.measure),
    }


def _curve(replicability: Any, label: str) -> dict[str, Any]:
    points = [
        {
            "n_rows": int(row.n_rows),
            **_estimate(row.agreement, (row.lower, row.upper)),
            "extrapolated": row.kind == "extrapolated",
        }
        for row in replicability.table.itertuples()
    ]
    return {"label": label, "points": points}


def _estimate(value: float, interval: tuple[float, float]) -> dict[str, float | None]:
    low, high = interval
    return {"value": _rounded(value), "lower": _rounded(low), "upper": _rounded(high)}


# ---------------------------------------------------------------------- the chart


def _chart(curves: list[dict[str, Any]], measure: str) -> dict[str, Any]:
    """Place ticks, bars, lines and dots, in per cent from the left and from the top."""
    points = [point for curve in curves for point in curve["points"] if point["value"] is not None]
    sizes = sorted({point["n_rows"] for point in points})
    bottom: float = min([0.0] + [point[key] for point in points for key in ("value", "lower")
                          if point[key] is not None])  # fmt: skip

    def x(n_rows: int) -> float:
        span = math.log(sizes[-1] / sizes[0]) or 1.0
        return _MARGIN + (1 - 2 * _MARGIN) * math.log(n_rows / sizes[0]) / span

    def top(value: float) -> float:
        return round(100 * (1 - (value - bottom) / (1 - bottom)), 2)

    placed = []
    for number, curve in enumerate(curves):
        aside = _ASIDE * (2 * number - 1) if len(curves) > 1 else 0.0
        marks = [
            {
                **point,
                "said": [curve["label"], _said({"points": [point]})],
                "left": round(100 * (x(point["n_rows"]) + aside), 2),
                "top": top(point["value"]),
                "bar": None
                if point["lower"] is None
                else [top(point["upper"]), top(point["lower"])],
            }
            for point in curve["points"]
            if point["value"] is not None
        ]
        placed.append({"label": curve["label"], "marks": marks})
    return {
        "x_title": "Rows of each study",
        "y_title": f"Agreement ({measure})",
        "label": "; ".join(f"{curve['label']}: {_said(curve)}" for curve in curves),
        "x_ticks": [{"left": round(100 * x(n), 2), "text": f"{n:,}"} for n in sizes],
        "y_ticks": [{"top": top(value), "text": f"{value:g}"} for value in _Y_TICKS],
        "curves": placed,
    }


def _said(curve: dict[str, Any]) -> str:
    """What the marks of a curve say, one after the other."""
    said = []
    for point in curve["points"]:
        if point["value"] is not None:
            text = f"{point['n_rows']:,} rows {decimals(point['value'])}"
            if point["lower"] is not None:
                text += f" ({decimals(point['lower'])} to {decimals(point['upper'])})"
            said.append(text + (", extrapolated" if point["extrapolated"] else ""))
    return "; ".join(said)


def _rounded(value: Any) -> float | None:
    number = float(value)
    return round(number, 4) if math.isfinite(number) else None
