"""Evidence against permuted targets, as the page shows it: words, and where its marks stand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mainstay.report.charts import in_per_cent, nice_ticks
from mainstay.report.words import readable

_MOST_DOTS = 2000  # in the chart; features of larger q-values are left out


def summarise_evidence(evidence: Any) -> dict[str, Any]:
    """Collect what the page and the verdict say."""
    rule = f"fdr<={evidence.level:g}"
    return {
        "source": evidence,
        "p_value": evidence.p_value,
        "level": evidence.level,
        "n_permutations": evidence.n_permutations,
        "stopped": evidence.stopped,
        "statement": evidence.statement,
        "summary": evidence.summary(),
        "guarantee": evidence.guarantee(rule),
        "n_features": len(evidence.features),
        "n_named": len(evidence.selected(rule)),
        "volcano": _volcano(evidence),
        "null": _null(evidence),
    }


def _volcano(evidence: Any) -> dict[str, Any]:
    """Selection frequency from left to right, q-value (logarithmic) from the top."""
    table = evidence.table.head(_MOST_DOTS)
    smallest = min(1 / evidence.n_permutations, float(table["q_value"].min()), evidence.level) / 2
    span = math.log(1 / smallest)

    def top(q: float) -> float:
        return round(4 + 92 * math.log(q / smallest) / span, 2)

    ticks = [q for q in (1.0, 0.1, 0.01, 0.001, 1e-4) if q >= smallest]
    named = (table["q_value"] <= evidence.level).to_numpy()
    places = [
        (round(2 + 96 * frequency, 2), top(q))
        for frequency, q in zip(table["frequency"], table["q_value"], strict=True)
    ]
    dots = [
        {
            "left": place[0],
            "top": place[1],
            "said": [
                readable(str(name), 60),
                f"q = {q:.2g}",
                f"selected in {in_per_cent(share)} of the runs",
            ],
        }
        for place, name, q, share, is_named in zip(
            places, table["feature"], table["q_value"], table["frequency"], named, strict=True
        )
        if is_named
    ]
    others = {place for place, is_named in zip(places, named, strict=True) if not is_named}
    n, p = f"{int(named.sum()):,}", f"{len(evidence.features):,}"
    return {
        "x_title": "Selected in",
        "y_title": "q-value",
        "label": f"{n} of {p} features have a q-value of at most {evidence.level:g}",
        "y_ticks": [{"top": top(q), "text": f"{q:g}"} for q in ticks],
        "x_ticks": [{"left": 2 + 96 * x, "text": f"{x:.0%}"} for x in (0, 0.25, 0.5, 0.75, 1)],
        "level": top(evidence.level),
        "dots": dots,
        "others": sorted(others),
    }


def _null(evidence: Any) -> dict[str, Any]:
    """How many features reach a value (logarithmic), observed and under permuted targets."""
    p, m = len(evidence.features), evidence.n_permutations
    words = evidence.statistic_in_words
    falling = np.sort(evidence.values)[::-1]
    quantiles = np.asarray(evidence.null_quantiles)
    low = min(float(falling[-1]), float(quantiles[0]))
    high = max(float(falling[0]), float(quantiles[-1]))
    width = (high - low) or 1.0
    most, least = math.log(1.5 * p), math.log(0.5 / m)

    def x(value: float) -> float:
        return round(2 + 96 * (value - low) / width, 2)

    def top(count: float) -> float:
        return round(100 * (most - math.log(count)) / (most - least), 2)

    counts = np.arange(1, p + 1)
    kept = np.unique(np.round(np.geomspace(1, p, 200)).astype(int)) - 1
    observed = [(x(float(falling[i])), top(float(counts[i]))) for i in kept]
    expected = np.geomspace(1, 1 / (m * p), len(quantiles)) * p
    null = [(x(float(q)), top(float(e))) for q, e in zip(quantiles, expected, strict=True)]
    outline = [(null[0][0], 100.0), *null, (null[-1][0], 100.0)]
    powers = range(math.ceil(least / math.log(10)), math.floor(most / math.log(10)) + 1)
    return {
        "x_title": words[0].upper() + words[1:],
        "y_title": "Features that reach it",
        "label": "Number of features that reach a value, observed and with permuted targets",
        "observed": _steps(observed),
        "null": "M" + "L".join(f"{a:g} {b:g}" for a, b in outline) + "Z",
        "end": x(float(np.quantile(evidence.null_largest, 0.95))),
        "y_ticks": [{"top": top(10.0**power), "text": f"{10.0**power:,g}"} for power in powers],
        "x_ticks": [{"left": x(value), "text": f"{value:.3g}"} for value in nice_ticks(low, high)],
    }


def _steps(points: list[tuple[float, float]]) -> str:
    """A falling staircase, from the strongest feature to the weakest."""
    path = f"M{points[0][0]:g} 100V{points[0][1]:g}"
    return path + "".join(f"H{left:g}V{height:g}" for left, height in points[1:])
