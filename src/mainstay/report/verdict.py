"""From numbers to plain words: what was selected, how sure that is, and what would help."""

from __future__ import annotations

from typing import Any

from mainstay.report.summarise import EXCELLENT, POOR

ALWAYS, OFTEN = 0.9, 0.5
_SURELY_MORE_THAN = 0.5  # lower end of the interval from which "most" is said
_FAR_BEYOND = 50  # times the rows there are: further, no plan for rows is worth its words
_SHOWN = 12

# about another study only where replicability was computed; otherwise about these runs
STUDY_HEADLINES = {
    "nothing": "Nothing says that another study would find these features.",
    "few": "Another study would find few of the same features.",
    "part": "Another study would find part of the same features.",
    "most": "Another study would find most of the same features.",
    "measured": "Two independent studies would agree to {value:.2f} ({measure}).",
}
HEADLINES = {
    "undefined": "These runs say nothing about stability.",
    "chance": "The runs agree no more than random selections would.",
    "poor": "Much of this list changes from run to run, even on the same rows.",
    "fair": "A core keeps coming back in the runs on these rows; the rest changes.",
    "good": "The runs on these rows keep choosing the same features.",
    "combined": "Single runs differ, but lists combined from many runs agree.",
    "groups": "The runs agree on groups of twins, not on which twin to take.",
}
_HOW_TO_REPLICATE = (
    "ms.replicability(selector, X, y), or mainstay replicate on the command line, estimates how "
    "far another study would agree."
)


def make_verdict(summary: dict[str, Any]) -> dict[str, Any]:
    """Put the summary into plain words.

    Returns
    -------
    dict
        `tone` (calm or care), `headline`, `lead`; `tiers`: the selected features by how often they
        came back; `points`: how sure; `advice`: what would help (each with `title` and `text`).
    """
    headline, tone = _headline(summary)
    return {
        "tone": tone,
        "headline": headline,
        "lead": _lead(summary),
        "tiers": _tiers(summary["selected"]),
        "points": [point for point in (_another_study(summary), _stability(summary),
                                       _chance(summary), _twins(summary), _single_run(summary),
                                       _baseline(summary)) if point],
        "advice": [point for point in (_more_runs(summary), _more_samples(summary),
                                       _group_twins(summary), _weak_features(summary)) if point],
    }  # fmt: skip


def _headline(summary: dict[str, Any]) -> tuple[str, str]:
    """Choose the headline, and whether it is to be read with care."""
    studies = _study_level(summary["replicability"])
    if studies is not None:
        headline = STUDY_HEADLINES[studies].format(**summary["replicability"])
        return headline, "care" if studies in ("nothing", "few") else "calm"
    level = _level(summary["stability"])
    adjusted = _level(summary["adjusted"]) if summary["adjusted"] else level
    order = ["undefined", "chance", "poor", "fair", "good"]
    headline = level
    if level in ("poor", "fair"):
        if _combined_lists_agree(summary["forecast"]):
            headline = "combined"
        elif order.index(adjusted) > order.index(level):
            headline = "groups"
    care = headline in ("undefined", "chance", "poor")
    return HEADLINES[headline], "care" if care else "calm"


def _study_level(replicability: dict[str, Any] | None) -> str | None:
    """What the replicability and its interval allow to be said; None where there is none."""
    if replicability is None or replicability["value"] is None:
        return None
    value, lower = replicability["value"], replicability["lower"]
    if replicability["corrected"] and lower <= 0:
        return "nothing"
    if not (replicability["corrected"] and replicability["of_selections"]):
        return "measured"
    if value >= EXCELLENT and lower >= _SURELY_MORE_THAN:
        return "most"
    return "part" if value >= POOR else "few"


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
    studies = summary["replicability"]
    return f"{text}." if studies is None else f"{studies['statement']} {text}."


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


def _another_study(summary: dict[str, Any]) -> dict[str, str]:
    title, studies = "Would another study agree?", summary["replicability"]
    if studies is None:
        return {"title": title, "text": f"Not computed. {_HOW_TO_REPLICATE}"}
    if _study_level(studies) == "nothing":
        text = "Nothing here says so: the interval of the agreement includes 0, which is chance."
    else:
        text = f"To {_with_interval(studies)}, where 1 means the same result"
        text += " and 0 the agreement of chance." if studies["corrected"] else (
            f"; {studies['measure']} is not corrected for chance.")  # fmt: skip
    return {
        "title": title,
        "text": f"{text} The interval is over data sets: halves of these rows that share no row "
        "stand for independent studies.",
    }


def _stability(summary: dict[str, Any]) -> dict[str, str]:
    estimate, title = summary["stability"], "Agreement between runs on the same rows"
    if estimate["value"] is None:
        text = (
            "Stability is undefined when every run selects nothing, or everything: there is "
            "nothing to agree on."
        )
        return {"title": title, "text": text}
    return {
        "title": title,
        "text": f"{_with_interval(estimate)}, where 1 means that every run selects the same "
        f"features and 0 that they agree as random selections do. By common rules of thumb, above "
        f"{EXCELLENT} is excellent and below {POOR} is poor.",
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
    text += f" Counting twins as one, the runs agree to {_with_interval(adjusted)}"
    gain = adjusted["value"] - plain["value"]
    text += (
        f", against {plain['value']:.2f} without."
        if abs(gain) >= 0.005
        else ", the same as without."
    )
    return {"title": "Treating twins as one", "text": text}


def _single_run(summary: dict[str, Any]) -> dict[str, str] | None:
    """What the ensemble brings, against the ranker on all rows where that was measured."""
    studies, forecast, title = (
        summary["replicability"], summary["forecast"], "Compared with a single run",
    )  # fmt: skip
    if studies is not None and studies["gain"] is not None:
        return {"title": title, "text": studies["gain"]}
    if forecast is None or forecast["single"] is None or forecast["here"]["stability"] is None:
        return None
    return {
        "title": title,
        "text": f"The agreement of two single runs, each on one resample, is "
        f"{forecast['single']:.2f} ({forecast['measure']}), that of two ensembles of "
        f"{forecast['here']['size']:,} runs {forecast['here']['stability']:.2f}"
        f"{_whose(forecast)}. A single run on all rows was not compared; mainstay replicate does.",
    }


def _baseline(summary: dict[str, Any]) -> dict[str, str] | None:
    title, comparison = "Compared with a baseline", summary["comparison"]
    if comparison:
        return {"title": title, "text": _among_others(comparison)}
    if _single_run(summary):
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
        f"Of {n:,} ways to select that were compared on {comparison['n_splits']} splits, "
        f"{best['name']} is recommended: {name} {best['score']:.2f}, stability "
        f"{best['stability']:.2f} with {best['n_features']:,} features."
    )
    scored = [baseline for baseline in comparison["baselines"] if baseline["score"] is not None]
    listed = ", ".join(f"{baseline['name']} {baseline['score']:.2f}" for baseline in scored)
    text += f" Baselines reach: {listed}." if listed else ""
    return f"{text} {comparison['caution']}".rstrip()


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
            f"forecast to be {now:.2f} ({forecast['measure']}){_whose(forecast)}, and from "
            f"{enough:,} runs on, doubling gains less than 0.01.",
        }
    return {
        "title": title,
        "text": f"Would help: {enough:,} runs instead of {size:,} are forecast to raise the "
        f"agreement of two ensembles from {now:.2f} to {goal:.2f} ({forecast['measure']})"
        f"{_whose(forecast)}.",
    }


def _more_samples(summary: dict[str, Any]) -> dict[str, str]:
    studies, forecast, title = summary["replicability"], summary["forecast"], "More samples"
    if studies is not None and studies["value"] is not None:
        return {"title": title, "text": _with_more_rows(studies)}
    if forecast is None or forecast["protocol"] != "nested" or forecast["plateau"] is None:
        return {
            "title": title,
            "text": "Runs on resamples of the same rows cannot tell whether more samples would "
            f"help, nor what another study would find. {_HOW_TO_REPLICATE}",
        }
    return {
        "title": title,
        "text": f"Two studies with half of the rows each are forecast to reach an agreement of at "
        f"most {forecast['plateau']:.2f} ({forecast['measure']}), however many runs they make. "
        f"{_HOW_TO_REPLICATE}",
    }


def _with_more_rows(studies: dict[str, Any]) -> str:
    if _study_level(studies) == "nothing":
        return (
            "These data cannot tell whether more would help: nothing shows yet that two studies "
            "agree more than by chance."
        )
    ahead, (fewest, most) = studies["at_n"], studies["rows_wanted"]
    text = (
        f"Extrapolated from {studies['n_rows']:,} to {studies['n']:,} rows, two studies would "
        f"agree to {ahead['value']:.2f} ({ahead['lower']:.2f} to {ahead['upper']:.2f})."
    )
    if not (studies["corrected"] and studies["of_selections"]):
        return text
    if fewest is None or fewest > _FAR_BEYOND * studies["n"]:
        return f"{text} How many rows an agreement of {studies['wanted']} needs, they cannot tell."
    if most == fewest:
        return f"{text} An agreement of {studies['wanted']} is reached already."
    enough = most is not None and most <= _FAR_BEYOND * studies["n"]
    if enough:
        needed = f"roughly {_about(fewest)} to {_about(most)} rows"
    else:
        needed = f"at least {_about(fewest)} rows; how many at most, these data cannot tell"
    return f"{text} For {studies['wanted']}, each needs {needed}."


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
        f"the runs. The runs agree on the {keep:,} others.",
    }


# ---------------------------------------------------------------------- words


def _with_interval(estimate: dict[str, Any]) -> str:
    text = f"{estimate['value']:.2f}"
    if estimate["lower"] is not None:
        text += f" ({estimate['confidence']:.0%} interval {estimate['lower']:.2f} to "
        text += f"{estimate['upper']:.2f})"
    return text


def _whose(forecast: dict[str, Any]) -> str:
    return {
        "flat": " on resamples of these data",
        "nested": " on disjoint halves of the data",
        "overlapping": " on halves of the data that overlap",
    }[forecast["protocol"]]


def _count(value: float) -> str:
    return f"{value:.0f}" if value == round(value) or value >= 100 else f"{value:.1f}"


def _about(number: float) -> str:
    """Two significant digits are all that a rough number deserves."""
    return f"{float(f'{number:.2g}'):,.0f}"


def _and(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _were(n: int) -> str:
    return "was" if n == 1 else "were"


def _has(n: int) -> str:
    return "has" if n == 1 else "have"
