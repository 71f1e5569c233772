"""The last question of the verdict: do the runs on these rows agree, and what would help there?"""

from __future__ import annotations

from typing import Any

from mainstay.report.summarise import EXCELLENT, POOR
from mainstay.report.verdict_studies import study_level
from mainstay.report.words import count, has, with_interval

OFTEN = 0.5
# runs on the same rows agree on noise, too: no headline may say more than that they agree
HEADLINES = {
    "undefined": "These runs say nothing about stability.",
    "chance": "The runs agree no more than random selections would.",
    "poor": "Much of this list changes from run to run, even on the same rows.",
    "fair": "A core keeps coming back in the runs on these rows; whether by luck, they cannot say.",
    "good": "The runs on these rows agree; whether by luck, they cannot say.",
    "combined": "Single runs differ, but lists combined from many runs agree.",
    "groups": "The runs agree on {n}, less on their members; whether by luck, they cannot say.",
}
_MORE_RUNS = "More runs make the list more repeatable on these rows; they do not make it truer."


def level(estimate: dict[str, Any]) -> str:
    """How far the runs agree, in one word."""
    value, lower = estimate["value"], estimate["lower"]
    if value is None:
        return "undefined"
    if (value if lower is None else lower) <= 0:
        return "chance"
    if value >= EXCELLENT:
        return "good"
    return "fair" if value >= POOR else "poor"


def combined_lists_agree(forecast: dict[str, Any] | None) -> bool:
    """Tell whether ensembles on different halves of the rows would agree."""
    if forecast is None or forecast["protocol"] != "nested":
        return False
    return (forecast["here"]["stability"] or 0) >= EXCELLENT


def stability(summary: dict[str, Any]) -> dict[str, str]:
    """How far the runs agree, and what that does not say."""
    estimate, title = summary["stability"], "Agreement between runs on the same rows"
    if estimate["value"] is None:
        text = (
            "Stability is undefined when every run selects nothing, or everything: there is "
            "nothing to agree on."
        )
        return {"title": title, "text": text}
    return {
        "title": title,
        "text": f"{with_interval(estimate)}, where 1 means that every run selects the same "
        f"features and 0 that they agree as random selections do. The more rows the runs have in "
        "common, the more they agree, on noise, too: this says nothing about luck.",
    }


def chance(summary: dict[str, Any]) -> dict[str, str]:
    """How many features two runs share, and two random selections."""
    found = summary["chance"]
    return {
        "title": "Compared with chance",
        "text": f"Two runs share {count(found['shared'])} of their "
        f"{count(found['size'])} features on average. Two random selections of that size "
        f"would share {count(found['expected'])}. Runs on the same rows share more than that on "
        "noise, too.",
    }


def twins_as_one(summary: dict[str, Any]) -> dict[str, str] | None:
    """How far the runs agree with twins counted as one."""
    adjusted, twins, plain = summary["adjusted"], summary["twins"], summary["stability"]
    if adjusted is None or twins is None or adjusted["value"] is None or plain["value"] is None:
        return None
    threshold = summary["procedure"]["threshold"]
    if not summary["selected"]:
        text = "No feature was selected, with or without a twin."
    elif not twins["selected_with_twins"]:
        text = (
            f"None of the selected features has a twin (a correlation of at least {threshold:g} "
            "with another feature)."
        )
    else:
        n, k = twins["selected_with_twins"], len(summary["selected"])
        which = f"All {k:,} selected features" if n == k > 1 else f"{n:,} of the {k:,} selected"
        text = (
            f"{which} {has(n)} a twin: a feature with a correlation of at least {threshold:g}, "
            "which can stand in for it."
        )
    text += f" Counting twins as one, the runs agree to {with_interval(adjusted)}"
    gain = adjusted["value"] - plain["value"]
    text += (
        f", against {plain['value']:.2f} without."
        if abs(gain) >= 0.005
        else ", the same as without."
    )
    return {"title": "Treating twins as one", "text": text}


def single_run(summary: dict[str, Any]) -> dict[str, str] | None:
    """What the ensemble brings, against the ranker on all rows where that was measured."""
    studies, forecast, title = (
        summary["replicability"], summary["forecast"], "Compared with a single run",
    )  # fmt: skip
    if studies is not None and studies["gain"] is not None:
        size, text = studies["ensemble_size"], studies["gain"]
        if size != summary["n_runs"]:
            text += (
                f" These were ensembles of {size:,} runs; this result has {summary['n_runs']:,}."
            )
        return {"title": title, "text": text}
    if forecast is None or forecast["single"] is None or forecast["here"]["stability"] is None:
        return None
    return {
        "title": title,
        "text": f"The agreement of two single runs, each on one resample, is "
        f"{forecast['single']:.2f} ({forecast['measure']}), that of two ensembles of "
        f"{forecast['here']['size']:,} runs {forecast['here']['stability']:.2f}"
        f"{_whose(forecast)}. A single run on all rows was not compared; mainstay replicate does.",
    }


def baseline(summary: dict[str, Any]) -> dict[str, str] | None:
    """What other selectors and baselines reach, where they were run."""
    title, comparison = "Compared with a baseline", summary["comparison"]
    if comparison:
        return {"title": title, "text": _among_others(comparison)}
    if single_run(summary):
        return None
    return {
        "title": title,
        "text": "No other selector was run. ms.compare_selectors compares this one with using all "
        "features, no features, an F-test and random selection.",
    }


def _among_others(comparison: dict[str, Any]) -> str:
    best = next(row for row in comparison["rows"] if row["recommended"])
    name, n = comparison["score_name"], comparison["n_candidates"]
    text = (
        f"Of {n:,} candidates that were compared on {comparison['n_splits']} splits, "
        f"{best['name']} is recommended: {name} {best['score']:.2f}, stability "
        f"{best['stability']:.2f} with {best['n_features']:,} features."
    )
    scored = [one for one in comparison["baselines"] if one["score"] is not None]
    listed = ", ".join(f"{one['name']} {one['score']:.2f}" for one in scored)
    text += f" Baselines reach: {listed}." if listed else ""
    return f"{text} {comparison['caution']}".rstrip()


def more_runs(summary: dict[str, Any], nothing: bool = False) -> dict[str, str]:
    """What a bigger ensemble would bring; never more than agreement, and `nothing` on noise."""
    forecast, title = summary["forecast"], "A bigger ensemble"
    if nothing:
        return {"title": title, "text": f"Cannot help: noise gives as much. {_MORE_RUNS}"}
    if study_level(summary["replicability"]) == "nothing":
        text = f"Cannot help as long as nothing shows that two studies agree. {_MORE_RUNS}"
        return {"title": title, "text": text}
    if forecast is None or forecast["here"]["stability"] is None:
        return {
            "title": title,
            "text": "Not known, since no forecast was made. selector.forecast() estimates from "
            f"these runs what more of them would bring. {_MORE_RUNS}",
        }
    size, now = forecast["here"]["size"], forecast["here"]["stability"]
    enough, goal = forecast["worthwhile"], forecast["at_worthwhile"]
    if enough <= size or goal is None or goal - now < 0.02:
        text = (
            f"Would bring little: the agreement of two ensembles of {size:,} runs is "
            f"forecast to be {now:.2f} ({forecast['measure']}){_whose(forecast)}, and "
            f"{_little_gain(enough)}."
        )
        return {"title": title, "text": text}
    return {
        "title": title,
        "text": f"Would raise the agreement of two ensembles{_whose(forecast)}: {enough:,} runs "
        f"instead of {size:,} are forecast to take it from {now:.2f} to {goal:.2f} "
        f"({forecast['measure']}). {_MORE_RUNS}",
    }


def _little_gain(enough: int) -> str:
    start = f"from about {enough:,} runs on, " if enough > 1 else ""
    return f"{start}doubling gains less than 0.01"


def group_twins(summary: dict[str, Any]) -> dict[str, str] | None:
    """Advice to name groups where the runs agree on groups."""
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


def weak_features(summary: dict[str, Any]) -> dict[str, str] | None:
    """Advice about features that few runs selected."""
    weak = [f for f in summary["selected"] if f["frequency"] < OFTEN]
    if not weak or len(weak) == len(summary["selected"]):
        return None
    keep = len(summary["selected"]) - len(weak)
    return {
        "title": "A shorter list",
        "text": f"{len(weak):,} of the selected features came back in fewer than {OFTEN:.0%} of "
        f"the runs. The runs agree on the {'other one' if keep == 1 else f'{keep:,} others'}.",
    }


def _whose(forecast: dict[str, Any]) -> str:
    return {
        "flat": " on resamples of these data",
        "nested": " on disjoint halves of the data",
        "overlapping": " on halves of the data that overlap",
    }[forecast["protocol"]]
