"""Where the marks of the charts stand, in per cent: drawn without a script, on any screen."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
_STRIPS = 100  # features that the page can show as strips
_LONGEST = 60  # characters of a name beside its strip


def per_cent(share: float) -> float:
    """A place between 0 and 1, kept inside the chart."""
    return round(100 * min(1.0, max(0.0, share)), 2)


def nice_ticks(low: float, high: float) -> list[float]:
    """Round numbers between two limits, about five of them."""
    if not high > low:
        return [low]
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(k * step, 10) for k in range(first, last + 1)]


def in_per_cent(share: float) -> str:
    """A share in words; one digit more where whole numbers would say 0% or 100% of what is not."""
    close = 0 < share < 0.01 or 0.99 < share < 1
    return f"{100 * share:.{int(close)}f}%"


def short(rank: float) -> str:
    """A mean rank."""
    return f"{rank:.1f}" if rank < 100 else f"{rank:,.0f}"


def frame(
    x_ticks: Iterable[tuple[float, str]],
    y_ticks: Iterable[tuple[float, str]],
    *,
    x_title: str,
    y_title: str,
    label: str,
) -> dict[str, Any]:
    """The axes of a chart: ticks as (share from the left, text) and (share from below, text)."""
    return {
        "x_title": x_title,
        "y_title": y_title,
        "label": label,
        "x_ticks": [{"left": per_cent(x), "text": text} for x, text in x_ticks],
        "y_ticks": [{"top": per_cent(1 - y), "text": text} for y, text in y_ticks],
    }


# ---------------------------------------------------------------------- features


def told(features: dict[str, Any], i: int, n_runs: int) -> list[str]:
    """What a chart says of a feature: its name, its frequency, its rank."""
    share = in_per_cent(features["count"][i] / n_runs)
    low, high = in_per_cent(features["lower"][i]), in_per_cent(features["upper"][i])
    rank = f"rank {i + 1}"
    if "mean_rank" in features:
        rank += f", mean rank {short(features['mean_rank'][i])}"
    name = features["label"].get(i, features["name"][i])
    return [name, f"selected in {share} of the runs ({low} to {high})", rank]


def overview(features: dict[str, Any], n_runs: int, chance: float) -> dict[str, Any]:
    """Selection frequency of all listed features, by final rank (logarithmic)."""
    n = len(features["name"])

    def place(rank: int) -> float:
        return math.log(rank) / math.log(n) if n > 1 else 0.5

    places = [
        (per_cent(place(i + 1)), per_cent(1 - count / n_runs))
        for i, count in enumerate(features["count"])
    ]
    steps = [tick for tick in (1, 3, 10, 30, 100, 300, 1000, 3000) if tick <= n]
    return {
        **frame(
            [(place(tick), f"{tick:,}") for tick in steps],
            [(share, f"{share:.0%}") for share in _SHARES],
            x_title="Final rank",
            y_title="Selected in",
            label="Selection frequency by final rank",
        ),
        "chance": per_cent(1 - chance),
        "selected": [spot for spot, chosen in zip(places, features["selected"], strict=True)
                     if chosen],
        "others": sorted({spot for spot, chosen in zip(places, features["selected"], strict=True)
                          if not chosen}),
    }  # fmt: skip


def strips(features: dict[str, Any], n_runs: int, chance: float) -> dict[str, Any]:
    """Frequency and ranks of the best features, a row each."""
    ranked = "quantiles" in features
    last = features["edges"][-1] - 1 if ranked else 1

    def on_ranks(rank: float) -> float:
        return per_cent(math.log(max(1.0, rank)) / math.log(last)) if last > 1 else 0.0

    return {
        "chance": per_cent(chance),
        "share_ticks": [{"left": per_cent(x), "text": f"{x:.0%}"} for x in (0.0, 0.5, 1.0)],
        "rank_ticks": [{"left": on_ranks(t), "text": f"{t:,}"} for t in _rank_ticks(last)]
        if ranked
        else [],
        "ranked": ranked,
        "rows": [
            _strip(features, i, n_runs, on_ranks if ranked else None)
            for i in range(min(_STRIPS, len(features["name"])))
        ],
    }


def _strip(features: dict[str, Any], i: int, n_runs: int, on_ranks: Any) -> dict[str, Any]:
    name, *rest = told(features, i, n_runs)
    row = {
        "said": [name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…", *rest],
        "selected": bool(features["selected"][i]),
        "share": per_cent(features["count"][i] / n_runs),
        "lower": per_cent(features["lower"][i]),
        "upper": per_cent(features["upper"][i]),
    }
    if on_ranks is not None:
        low, first, middle, third, high = (on_ranks(rank) for rank in features["quantiles"][i])
        width = round(max(third - first, 0.6), 2)
        row |= {"low": low, "high": high, "middle": middle, "width": width,
                "first": min(first, round(100 - width, 2))}  # fmt: skip
    return row


def _rank_ticks(last: int) -> list[int]:
    steps = (1, 3) if last <= 300 else (1,)
    powers = range(int(math.log10(max(1, last))) + 1)
    return [step * 10**power for power in powers for step in steps if step * 10**power <= last]


# ---------------------------------------------------------------------- forecast


def forecast_chart(forecast: dict[str, Any]) -> dict[str, Any] | None:
    """Agreement by ensemble size (logarithmic), with its band; None where nothing is defined."""
    lower = forecast["lower"] or [None] * len(forecast["sizes"])
    upper = forecast["upper"] or [None] * len(forecast["sizes"])
    columns = (forecast["sizes"], forecast["stability"], lower, upper, forecast["observed"])
    points = [point for point in zip(*columns, strict=True) if point[1] is not None]
    if not points:
        return None
    last = points[-1][0]
    bottom: float = min([0.0, *(point[1] if point[2] is None else point[2] for point in points)])

    def x(size: int) -> float:
        return math.log(size) / math.log(last) if last > 1 else 0.5

    def y(value: float) -> float:
        return (value - bottom) / (1 - bottom)

    ticks = [points[0][0]]
    ticks += [size for size, *_ in points[1:] if x(size) - x(ticks[-1]) > 0.06]
    limit = forecast["plateau"] if forecast["protocol"] == "nested" else None
    said = "; ".join(f"{size:,} runs: {value:.2f}" for size, value, *_ in points)
    return {
        **frame(
            [(x(size), f"{size:,}") for size in ticks],
            [(y(value), f"{value:g}") for value in _SHARES],
            x_title="Runs in the ensemble",
            y_title=f"Agreement ({forecast['measure']})",
            label=said,
        ),
        "band": _outline([(x(m), y(low), y(high)) for m, _, low, high, _ in points
                          if low is not None]),
        "curve": _path([(x(size), y(value)) for size, value, *_ in points]),
        "limit": None if limit is None else {"top": per_cent(1 - y(limit)), "value": limit},
        "dots": [
            {
                "left": per_cent(x(size)),
                "top": per_cent(1 - y(value)),
                "kind": "filled" if observed else "hollow",
                "said": [f"{size:,} run{'s' * (size != 1)}",
                         f"agreement {value:.2f}"
                         + ("" if low is None else f" ({low:.2f} to {high:.2f})")],
            }
            for size, value, low, high, observed in points
        ],
    }  # fmt: skip


def _path(points: Iterable[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{per_cent(x):g} {per_cent(1 - y):g}" for x, y in points)


def _outline(band: list[tuple[float, float, float]]) -> str:
    """The band between the lower and the upper ends, as one closed line."""
    if len(band) < 2:
        return ""
    there = [(x, high) for x, _, high in band]
    back = [(x, low) for x, low, _ in reversed(band)]
    return f"{_path([*there, *back])}Z"
