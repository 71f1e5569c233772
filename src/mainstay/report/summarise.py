"""From a result to the plain numbers that the page shows: rounded, counted, compact."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from mainstay.measures.inference import StabilityEstimate
from mainstay.report.charts import forecast_chart, overview, strips
from mainstay.report.compared import summarise_comparison
from mainstay.report.evidenced import summarise_evidence
from mainstay.report.listed import summarise_list
from mainstay.report.repeat import cli_line, config_file, python_code
from mainstay.report.replicated import summarise_replicability
from mainstay.report.words import LONGEST_NAME, ranker_name, readable
from mainstay.runs import Runs

if TYPE_CHECKING:
    from mainstay.ensemble.result import SelectionResult

MOST_FEATURES = 2000  # in the page; the result has them all
_MOST_TEXT = 150_000  # characters of all names; beyond it they are cut in the CSV too
_MOST_TWINS = 6
_BINS = 24
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
# Fleiss, Levin and Paik (2004), as Nogueira, Sechidis and Brown (2018) suggest for their measure
EXCELLENT, POOR = 0.75, 0.4
DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"


def summarise(
    result: SelectionResult, *, title: str | None = None, most_features: int = MOST_FEATURES
) -> dict[str, Any]:
    """Collect everything that the page shows, as plain numbers, strings, lists and dicts."""
    chosen, settings, comparison = result.selections, result.settings, result.comparison
    chance = _chance(chosen)
    replicability = result.replicability
    listed = result.feature_table.head(most_features)
    data = settings.get("data") or {}
    features = _features(result, listed)
    return {
        "title": title or "Which features can you rely on?",
        "source": settings.get("source") or {},
        "columns": result.columns,
        "n_runs": chosen.n_runs,
        "n_features": chosen.n_features,
        "n_samples": data.get("n_samples"),
        "n_listed": len(listed),
        "most_frequent_unlisted": _most_frequent(result, len(listed)),
        "procedure": _procedure(result),
        "selected": _selected(result),
        "list": summarise_list(result),
        "stability": _estimate(result.stability),
        "adjusted": _estimate(result.adjusted_stability),
        "chance": chance,
        "twins": _twin_counts(result),
        "features": features,
        "overview": overview(features, chosen.n_runs, chance["frequency"]),
        "strips": strips(features, chosen.n_runs, chance["frequency"]),
        "replicability": None
        if replicability is None
        else summarise_replicability(replicability, EXCELLENT),
        "evidence": None if result.evidence is None else summarise_evidence(result.evidence),
        "forecast": None if result.forecast is None else _forecast(result),
        "comparison": None if comparison is None else summarise_comparison(comparison),
        "settings": settings,
        "versions": result.versions,
        "python": python_code(settings),
        "command": cli_line(settings),
        "config": config_file(settings),
    }


def _procedure(result: SelectionResult) -> dict[str, Any]:
    """Name what was run."""
    parameters = result.settings.get("parameters", {})
    rankers = parameters.get("ranker")
    names = [ranker_name(item) for item in (rankers if isinstance(rankers, list) else [rankers])]
    resampling = parameters.get("resampling")
    return {
        "rankers": [name for name in names if name],
        "resampling": resampling if isinstance(resampling, str) else ranker_name(resampling),
        "seed": parameters.get("random_state"),
        "threshold": None if result.similarity is None else result.similarity.threshold,
    }


def _selected(result: SelectionResult) -> list[dict[str, Any]]:
    table = result.feature_table
    rows = table.loc[table["selected"]]
    return [
        {"name": readable(str(name), 60), "frequency": float(frequency)}
        for name, frequency in zip(rows["feature"], rows["frequency"], strict=True)
    ]


def _estimate(estimate: StabilityEstimate | None) -> dict[str, Any] | None:
    if estimate is None:
        return None
    low, high = estimate.interval
    return {
        "measure": estimate.measure,
        "value": _number(estimate.value, 4),
        "lower": _number(low, 4),
        "upper": _number(high, 4),
        "confidence": estimate.confidence,
        "note": estimate.interval_note,
    }


def _chance(chosen: Runs) -> dict[str, float]:
    """How many features two runs share on average, and how many random selections would.

    Two random sets of k and l of p features share k·l/p on average.
    """
    m, p = chosen.n_runs, chosen.n_features
    counts, sizes = chosen.counts.astype(float), chosen.sizes.astype(float)
    pairs = m * (m - 1)
    products = sizes.sum() ** 2 - (sizes**2).sum()
    return {
        "size": float(sizes.mean()),
        "shared": float((counts * (counts - 1)).sum() / pairs),
        "expected": float(products / pairs / p),
        "frequency": float(sizes.mean() / p),
    }


def _twin_counts(result: SelectionResult) -> dict[str, int] | None:
    """How many selected features have a twin, and how many groups the selected features form."""
    if result.similarity is None:
        return None
    similarity = result.similarity.aligned_to(result.runs.features)
    where = {name: i for i, name in enumerate(result.runs.features)}
    members = [where[name] for name in result.selected]
    labels = similarity.group_labels()[members]
    return {
        "selected_with_twins": int((similarity.degrees[members] > 0).sum()),
        "selected_groups": len(np.unique(labels)),
    }


def _most_frequent(result: SelectionResult, listed: int) -> float | None:
    rest = result.feature_table["frequency"].iloc[listed:]
    return float(rest.max()) if len(rest) else None


# ---------------------------------------------------------------------- features, column by column


def _features(result: SelectionResult, listed: Any) -> dict[str, Any]:
    """Columns of the table; for the ranks of a feature, five quantiles and a histogram."""
    m = result.selections.n_runs
    names = [str(name) for name in listed["feature"]]
    shown, labels = names, _labels(names, LONGEST_NAME)
    if sum(map(len, names)) > _MOST_TEXT:
        shown = labels = _labels(names, max(40, _MOST_TEXT // len(names)))
    columns: dict[str, Any] = {
        "name": shown,
        "label": {i: label for i, label in enumerate(labels) if label != shown[i]},
        "selected": listed["selected"].astype(int).tolist(),
        "count": (listed["frequency"] * m).round().astype(int).tolist(),
        "lower": listed["frequency_lower"].round(4).tolist(),
        "upper": listed["frequency_upper"].round(4).tolist(),
        "score": [_number(value, 5) for value in listed["score"]],
    }
    if result.runs.kind != "support":
        columns |= {
            "mean_rank": listed["mean_rank"].round(2).tolist(),
            "sd_rank": listed["sd_rank"].round(2).tolist(),
            **_rank_distributions(result, names),
        }
    for name in ("q_value", "group_q_value"):
        if listed[name].notna().any():
            columns[name] = [_number(value, 3) for value in listed[name]]
    if result.similarity is not None:
        columns["group_count"] = (listed["group_frequency"] * m).round().astype(int).tolist()
        columns |= _twins(result, names)
    return columns


def _labels(names: list[str], longest: int) -> list[str]:
    """How names are shown; names that would look the same get their rank beside them."""
    labels = [readable(name, longest) for name in names]
    looks = [unicodedata.normalize("NFKC", label) for label in labels]
    seen = Counter(looks)
    return [
        f"{label} (rank {i + 1})" if seen[look] > 1 else label
        for i, (label, look) in enumerate(zip(labels, looks, strict=True))
    ]


def _rank_distributions(result: SelectionResult, names: list[str]) -> dict[str, Any]:
    where = {name: i for i, name in enumerate(result.runs.features)}
    ranks = result.runs.ranks[:, [where[name] for name in names]]
    p = result.runs.n_features
    edges = np.unique(np.round(np.geomspace(1, p + 1, _BINS + 1)).astype(int))
    if p <= _BINS:
        edges = np.arange(1, p + 2)
    bins = np.searchsorted(edges, ranks, side="right") - 1
    shape = (len(names), len(edges) - 1)
    histogram = np.zeros(shape, dtype=int)
    np.add.at(histogram, (np.arange(len(names)), bins), 1)
    # one character per bin; a bin that is not empty stays visible
    height = np.ceil(histogram / histogram.max(axis=1, keepdims=True) * (len(DIGITS) - 1))
    return {
        "edges": edges.tolist(),
        "histogram": ["".join(DIGITS[int(bar)] for bar in row) for row in height],
        "quantiles": np.quantile(ranks, _QUANTILES, axis=0).T.round(1).tolist(),
    }


def _twins(result: SelectionResult, names: list[str]) -> dict[str, Any]:
    """The most similar twins of every feature: by position in the list, or by name if not in it."""
    assert result.similarity is not None
    graph = result.similarity.aligned_to(result.runs.features).graph
    where = {name: i for i, name in enumerate(result.runs.features)}
    place = {where[name]: i for i, name in enumerate(names)}
    twins, n_twins = [], []
    for name in names:
        span = slice(graph.indptr[where[name]], graph.indptr[where[name] + 1])
        others, values = graph.indices[span], graph.data[span]
        best = np.argsort(-values, kind="stable")[:_MOST_TWINS]
        n_twins.append(len(others))
        twins.append(
            [
                [place.get(int(i), readable(result.runs.features[i], 60)), round(float(v), 3)]
                for i, v in zip(others[best], values[best], strict=True)
            ]
        )
    return {"twins": twins, "n_twins": n_twins}


# ---------------------------------------------------------------------- forecast


def _forecast(result: SelectionResult) -> dict[str, Any]:
    forecast = result.forecast
    assert forecast is not None
    plan = forecast.plan()
    now = forecast.at(float(result.runs.n_runs))
    curve = forecast.curve
    numbers: dict[str, Any] = {
        "protocol": forecast.protocol,
        "measure": forecast.measure,
        "aggregation": forecast.aggregation,
        "n_runs": forecast.n_runs,
        "n_selected": forecast.n_features_to_select,
        "sizes": curve["ensemble_size"].tolist(),
        "stability": [_number(value, 4) for value in curve["stability"]],
        "lower": [_number(value, 4) for value in curve["lower"]] if "lower" in curve else None,
        "upper": [_number(value, 4) for value in curve["upper"]] if "upper" in curve else None,
        "observed": curve["observed"].astype(bool).tolist(),
        "single": _number(forecast.at(1.0).stability, 4),
        "here": {"size": result.runs.n_runs, "stability": _number(now.stability, 4)},
        "plateau": _number(forecast.plateau, 4),
        "worthwhile": plan.worthwhile_size,
        "at_worthwhile": _number(plan.stability, 4),
        "summary": forecast.summary(),
    }
    return {**numbers, "chart": forecast_chart(numbers)}


def _number(value: Any, digits: int) -> float | None:
    """Round to some significant digits; None for what is not a finite number."""
    number = float(value)
    if not math.isfinite(number):
        return None
    return float(f"{number:.{digits}g}")
