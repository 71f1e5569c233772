"""From numbers to plain words: what was selected, how sure that is, and what would help."""

from __future__ import annotations

from typing import Any

# Fleiss, Levin and Paik (2004), as Nogueira, Sechidis and Brown (2018) suggest for their measure
EXCELLENT, POOR = 0.75, 0.4
ALWAYS, OFTEN = 0.9, 0.5
_SHOWN = 12

HEADLINES = {
    "undefined": "These runs say nothing about stability.",
    "chance": "The runs agree no more than random selections would.",
    "poor": "Treat this list with care: much of it changes from run to run.",
    "fair": "Part of this list is solid: a core keeps coming back, the rest changes.",
    "good": "You can build on this list: the runs keep choosing the same features.",
    "combined": "Single runs differ, but lists combined from many runs agree.",
    "groups": "The runs agree on groups of twins, not on which twin to take.",
}


def make_verdict(summary: dict[str, Any]) -> dict[str, Any]:
    """Put the summary into plain words.

    Returns
    -------
    dict
        `tone` (calm or care), `headline`, `lead`; `tiers`: the selected features by how often they
        came back; `points`: how sure; `advice`: what would help (each with `title` and `text`).
    """
    level = _level(summary["stability"])
    adjusted = _level(summary["adjusted"]) if summary["adjusted"] else level
    order = ["undefined", "chance", "poor", "fair", "good"]
    headline = level
    if level in ("poor", "fair"):
        if _combined_lists_agree(summary["forecast"]):
            headline = "combined"
        elif order.index(adjusted) > order.index(level):
            headline = "groups"
    return {
        "tone": "care" if headline in ("undefined", "chance", "poor") else "calm",
        "headline": HEADLINES[headline],
        "lead": _lead(summary),
        "tiers": _tiers(summary["selected"]),
        "points": [point for point in (_stability(summary), _chance(summary), _twins(summary),
                                       _baseline(summary)) if point],
        "advice": [point for point in (_more_runs(summary), _more_samples(summary),
                                       _group_twins(summary), _weak_features(summary)) if point],
    }  # fmt: skip


def _level(estimate: dict[str, Any]) -> str:
    value, lower = estimate["value"], estimate["lower"]
    if value is None:
        return "undefined"
    if (value if lower is None else lower) <= 0:
        return "chance"
    if value >= EXCELLENT:
        return "good"
    return "fair" if value >= POOR else "poor"


def _combined_lists_agree(forecast: dict[str, Any] | None) -> bool:
    """Tell whether ensembles on different halves of the rows would agree."""
    if forecast is None or forecast["protocol"] != "nested":
        return False
    return (forecast["here"]["stability"] or 0) >= EXCELLENT


def _lead(summary: dict[str, Any]) -> str:
    procedure, k = summary["procedure"], len(summary["selected"])
    text = f"{k:,} of {summary['n_features']:,} features {_were(k)} selected from "
    text += f"{summary['n_runs']:,} runs"
    if procedure["rankers"]:
        text += f" of {_and(procedure['rankers'])}"
    if procedure["resampling"]:
        rows = f" of {summary['n_samples']:,} rows" if summary["n_samples"] else ""
        text += f", each on a {procedure['resampling']} resample{rows}"
    return f"{text}."


def _tiers(selected: list[dict[str, Any]]) -> list[dict[str, Any]]:
    bounds = [
        ("Nearly always", f"in at least {ALWAYS:.0%} of the runs", ALWAYS, 2.0),
        ("Often", f"in {OFTEN:.0%} to {ALWAYS:.0%} of the runs", OFTEN, ALWAYS),
        ("Rarely", f"in fewer than {OFTEN:.0%} of the runs", -1.0, OFTEN),
    ]
    tiers = []
    for title, text, low, high in bounds:
        inside = [feature for feature in selected if low <= feature["frequency"] < high]
        names = [feature["name"] for feature in inside[:_SHOWN]]
        if inside:
            tiers.append({"title": title, "text": text, "n": len(inside), "names": names,
                          "more": len(inside) - len(names)})  # fmt: skip
    return tiers


# ---------------------------------------------------------------------- how sure


def _stability(summary: dict[str, Any]) -> dict[str, str]:
    estimate = summary["stability"]
    if estimate["value"] is None:
        text = (
            "Stability is undefined when every run selects nothing, or everything: there is "
            "nothing to agree on."
        )
        return {"title": "Stability", "text": text}
    return {
        "title": "Stability",
        "text": f"{_with_interval(estimate)} between single runs, where 1 means that every run "
        f"selects the same features and 0 that they agree as random selections do. By common rules "
        f"of thumb, above {EXCELLENT} is excellent and below {POOR} is poor.",
    }


def _chance(summary: dict[str, Any]) -> dict[str, str]:
    chance = summary["chance"]
    return {
        "title": "Compared with chance",
        "text": f"Two runs share {_count(chance['shared'])} of their "
        f"{_count(chance['size'])} features on average. Two random selections of that size "
        f"would share {_count(chance['expected'])}.",
    }


def _twins(summary: dict[str, Any]) -> dict[str, str] | None:
    adjusted, twins, plain = summary["adjusted"], summary["twins"], summary["stability"]
    if adjusted is None or twins is None or adjusted["value"] is None or plain["value"] is None:
        return None
    threshold = summary["procedure"]["threshold"]
    if not twins["selected_with_twins"]:
        text = (
            f"None of the selected features has a twin (a correlation of at least {threshold:g} "
            "with another feature)."
        )
    else:
        n, k = twins["selected_with_twins"], len(summary["selected"])
        which = f"All {k:,} selected features" if n == k > 1 else f"{n:,} of the {k:,} selected"
        text = (
            f"{which} {_has(n)} a twin: a feature with a correlation of at least {threshold:g}, "
            "which can stand in for it."
        )
    text += f" Counting twins as one, the stability is {_with_interval(adjusted)}"
    gain = adjusted["value"] - plain["value"]
    text += (
        f", against {plain['value']:.2f} without."
        if abs(gain) >= 0.005
        else ", the same as without."
    )
    return {"title": "Treating twins as one", "text": text}


def _baseline(summary: dict[str, Any]) -> dict[str, str]:
    title = "Compared with a baseline"
    comparison, forecast = summary["comparison"], summary["forecast"]
    if comparison:
        return {"title": title, "text": _among_others(comparison)}
    if forecast and forecast["single"] is not None and forecast["here"]["stability"] is not None:
        size = forecast["here"]["size"]
        return {
            "title": "Compared with a single run",
            "text": f"The agreement of two single runs is {forecast['single']:.2f} "
            f"({forecast['measure']}), that of two ensembles of {size:,} runs "
            f"{forecast['here']['stability']:.2f}{_whose(forecast)}.",
        }
    return {
        "title": title,
        "text": "No other selector was run. ms.compare_selectors compares this one with using all "
        "features, an F-test and random selection.",
    }


def _among_others(comparison: dict[str, Any]) -> str:
    best = next(row for row in comparison["rows"] if row["recommended"])
    name, n = comparison["score_name"], comparison["n_candidates"]
    text = (
        f"Of {n:,} ways to select that were compared on {comparison['n_splits']} splits, "
        f"{best['name']} is recommended: {name} {best['score']:.2f}, stability "
        f"{best['stability']:.2f} with {best['n_features']:,} features."
    )
    scored = [baseline for baseline in comparison["baselines"] if baseline["score"] is not None]
    listed = ", ".join(f"{baseline['name']} {baseline['score']:.2f}" for baseline in scored)
    return f"{text} Baselines reach: {listed}." if listed else text


# ---------------------------------------------------------------------- what would help


def _more_runs(summary: dict[str, Any]) -> dict[str, str]:
    forecast, title = summary["forecast"], "A bigger ensemble"
    if forecast is None or forecast["here"]["stability"] is None:
        return {
            "title": title,
            "text": "Not known, since no forecast was made. selector.forecast() estimates from "
            "these runs what more of them would bring.",
        }
    size, now = forecast["here"]["size"], forecast["here"]["stability"]
    enough, goal = forecast["worthwhile"], forecast["at_worthwhile"]
    if enough <= size or goal is None or goal - now < 0.02:
        return {
            "title": title,
            "text": f"Would bring little: the agreement of two ensembles of {size:,} runs is "
            f"forecast to be {now:.2f} ({forecast['measure']}), and from {enough:,} runs on, "
            "doubling gains less than 0.01.",
        }
    return {
        "title": title,
        "text": f"Would help: {enough:,} runs instead of {size:,} are forecast to raise the "
        f"agreement of two ensembles from {now:.2f} to {goal:.2f} ({forecast['measure']})"
        f"{_whose(forecast)}.",
    }


def _more_samples(summary: dict[str, Any]) -> dict[str, str]:
    forecast, title = summary["forecast"], "More samples"
    if forecast is None or forecast["protocol"] != "nested" or forecast["plateau"] is None:
        return {
            "title": title,
            "text": "Runs on resamples of the same rows cannot tell whether another study would "
            'find these features. ms.forecast_stability(…, protocol="nested") estimates that.',
        }
    limit = forecast["plateau"]
    head = f"Two studies with half of the rows each would reach an agreement of at most " \
           f"{limit:.2f} ({forecast['measure']}), however many runs they make."  # fmt: skip
    if limit >= EXCELLENT:
        return {"title": title, "text": f"{head} More samples are not what this list lacks."}
    return {
        "title": title,
        "text": f"{head} Only more samples (or fewer features) would raise that limit.",
    }


def _group_twins(summary: dict[str, Any]) -> dict[str, str] | None:
    adjusted, plain, twins = summary["adjusted"], summary["stability"], summary["twins"]
    if adjusted is None or adjusted["value"] is None or plain["value"] is None or twins is None:
        return None
    if adjusted["value"] - plain["value"] < 0.05:
        return None
    return {
        "title": "Report twins as groups",
        "text": f"The {len(summary['selected']):,} selected features form "
        f"{twins['selected_groups']:,} groups. Name the group rather than the member: the runs "
        "agree on that much better.",
    }


def _weak_features(summary: dict[str, Any]) -> dict[str, str] | None:
    weak = [f for f in summary["selected"] if f["frequency"] < OFTEN]
    if not weak or len(weak) == len(summary["selected"]):
        return None
    keep = len(summary["selected"]) - len(weak)
    return {
        "title": "A shorter list",
        "text": f"{len(weak):,} of the selected features came back in fewer than {OFTEN:.0%} of "
        f"the runs. The {keep:,} others are the ones to defend.",
    }


# ---------------------------------------------------------------------- words


def _with_interval(estimate: dict[str, Any]) -> str:
    text = f"{estimate['value']:.2f}"
    if estimate["lower"] is not None:
        text += f" ({estimate['confidence']:.0%} interval {estimate['lower']:.2f} to "
        text += f"{estimate['upper']:.2f})"
    return text


def _whose(forecast: dict[str, Any]) -> str:
    if forecast["protocol"] == "flat":
        return " on resamples of these data"
    return " on different halves of the data"


def _count(value: float) -> str:
    return f"{value:.0f}" if value == round(value) or value >= 100 else f"{value:.1f}"


def _and(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _were(n: int) -> str:
    return "was" if n == 1 else "were"


def _has(n: int) -> str:
    return "has" if n == 1 else "have"
