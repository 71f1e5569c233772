"""The comparison with other selectors, as the page shows it."""

from __future__ import annotations

import math
from typing import Any

from mainstay.report.charts import frame, nice_ticks, per_cent

_MOST_ROWS = 300
_MOST_LABELS = 8
_WIDTH, _HEIGHT, _LETTER, _LINE = 1080, 360, 6.6, 15  # of the chart on a wide screen, in pixels


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
        "n_candidates": comparison.n_candidates,
        "counted": comparison.counted,
        "n_left_out": len(table) - len(rows),
        "reason": comparison.reason,
        "caution": comparison.caution,
        "rows": rows,
        "baselines": [
            {"name": str(name), "score": _rounded(score)}
            for name, score in zip(best["candidate"], best["score"], strict=True)
        ],
        "chart": _chart(rows, comparison),
    }


# ---------------------------------------------------------------------- the chart


def _chart(rows: list[dict[str, Any]], comparison: Any) -> dict[str, Any] | None:
    """Score by stability; what is on the front has bars, and names as far as these find room."""
    scored = [row for row in rows if row["score"] is not None]
    shown = [row for row in scored if row["stability"] is not None]
    if not shown:
        return None
    ends = [row["score"] for row in scored if row["n_features"] > 0]
    ends += [row["score"] + side * (row["error"] or 0) for row in shown if row["on_front"]
             for side in (-1, 1)]  # fmt: skip
    room = 0.06 * max(max(ends) - min(ends), 0.01)
    low, high = float(min(ends) - room), float(max(ends) + room)
    left: float = min(
        [
            0.0,
            *(row["stability"] for row in shown),
            *(row["lower"] for row in shown if row["on_front"] and row["lower"]),
        ]
    )

    def x(value: float) -> float:
        return (value - left) / (1.03 - left)

    def y(value: float) -> float:
        return (value - low) / (high - low)

    name, measure = comparison.settings["scoring"], comparison.settings["stability"]
    marks = [_mark(row, x, y, str(name)) for row in shown]
    marks.sort(key=lambda mark: 2 * mark["recommended"] + mark["on_front"])
    _place_names(marks)
    return {
        **frame(
            [(x(tick), f"{tick:g}") for tick in (0, 0.25, 0.5, 0.75, 1)],
            [(y(tick), f"{tick:g}") for tick in nice_ticks(low + room, high - room)],
            x_title=f"Stability ({measure})",
            y_title=str(name).capitalize(),
            label=f"{name} by stability: {comparison.counted}",
        ),
        "marks": marks,
        "lines": [
            {"top": per_cent(1 - y(row["score"])), "text": row["name"]}
            for row in scored
            if row["stability"] is None and low <= row["score"] <= high
        ],
    }


def _mark(row: dict[str, Any], x: Any, y: Any, score_name: str) -> dict[str, Any]:
    reach = f" ± {row['error']:.3f}" if row["error"] is not None else ""
    sides = ups = None
    if row["on_front"] and row["lower"] is not None:
        sides = [per_cent(x(row["lower"])), per_cent(x(row["upper"]))]
    if row["on_front"] and row["error"] is not None:
        ups = [per_cent(1 - y(row["score"] + side * row["error"])) for side in (1, -1)]
    interval = "" if row["lower"] is None else f" ({row['lower']:.2f} to {row['upper']:.2f})"
    return {
        "name": row["name"],
        "left": per_cent(x(row["stability"])),
        "top": per_cent(1 - y(row["score"])),
        "kind": "filled" if row["on_front"] else "baseline" if row["baseline"] else "hollow",
        "recommended": row["recommended"],
        "on_front": row["on_front"],
        "sides": sides,
        "ups": ups,
        "said": [
            row["name"],
            f"{score_name} {row['score']:.3f}{reach}",
            f"stability {row['stability']:.2f}{interval}, {row['n_features']:,} features",
        ],
        "label": None,
    }


def _place_names(marks: list[dict[str, Any]]) -> None:
    """Give the front names, the recommended one first, where they overlap nothing."""
    front = [mark for mark in marks if mark["on_front"]]
    taken, bars = [_around(mark) for mark in front], [bar for mark in front for bar in _bars(mark)]
    for mark in sorted(front, key=lambda mark: not mark["recommended"])[:_MOST_LABELS]:
        width = _LETTER * len(mark["name"])
        at_x, at_y = mark["left"] / 100 * _WIDTH, mark["top"] / 100 * _HEIGHT
        avoided = taken if mark["recommended"] else [*taken, *bars]
        for below in (-14, 24, -30, 40, -46, 56, -62, 72):
            for side in ("start", "end", "middle"):
                shift = {"start": 12.0, "end": -12.0 - width, "middle": -width / 2}[side]
                start = at_x + shift
                box = (start, at_y + below - 12, start + width, at_y + below - 12 + _LINE)
                inside = box[0] >= 0 and box[2] <= _WIDTH and box[1] >= 0 and box[3] <= _HEIGHT
                if inside and not any(_overlap(box, other) for other in avoided):
                    taken.append(box)
                    dx = {"start": 12, "end": -12, "middle": 0}[side]
                    far = abs(below) > _LINE + 10
                    mark["label"] = {"anchor": side, "dx": dx, "dy": below, "far": far}
                    break
            if mark["label"]:
                break


def _around(mark: dict[str, Any]) -> tuple[float, ...]:
    """Pixels that a dot takes; the recommended one has a ring."""
    reach = 12 if mark["recommended"] else 7
    x, y = mark["left"] / 100 * _WIDTH, mark["top"] / 100 * _HEIGHT
    return x - reach, y - reach, x + reach, y + reach


def _bars(mark: dict[str, Any]) -> list[tuple[float, ...]]:
    """Pixels that the error bars of a dot take."""
    x, y = mark["left"] / 100 * _WIDTH, mark["top"] / 100 * _HEIGHT
    boxes: list[tuple[float, ...]] = []
    if mark["sides"]:
        boxes.append(
            (mark["sides"][0] / 100 * _WIDTH, y - 1, mark["sides"][1] / 100 * _WIDTH, y + 1)
        )
    if mark["ups"]:
        boxes.append((x - 1, mark["ups"][0] / 100 * _HEIGHT, x + 1, mark["ups"][1] / 100 * _HEIGHT))
    return boxes


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _rounded(value: Any) -> float | None:
    number = float(value)
    return round(number, 4) if math.isfinite(number) else None
