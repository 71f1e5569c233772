"""The second question of the verdict: would another study find the same features?"""

from __future__ import annotations

from typing import Any

from mainstay.report.summarise import EXCELLENT, POOR
from mainstay.report.words import about, with_interval

_SURELY_MORE_THAN = 0.5  # lower end of the interval from which "most" is said
_FAR_BEYOND = 50  # times the rows there are: further, no plan for rows is worth its words
STUDY_HEADLINES = {
    "nothing": "Nothing says that another study would find these features.",
    "few": "Another study would find few of the same features.",
    "part": "Another study would find part of the same features.",
    "most": "Another study would find most of the same features.",
    "measured": "Two independent studies would agree to {value:.2f} ({measure}).",
}
HOW_TO_REPLICATE = (
    "ms.replicability(selector, X, y), or mainstay replicate on the command line, estimates how "
    "far another study would agree."
)


def study_level(replicability: dict[str, Any] | None) -> str | None:
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


def another_study(summary: dict[str, Any]) -> dict[str, str]:
    """How far two studies would agree."""
    title, studies = "Would another study agree?", summary["replicability"]
    if studies is None:
        return {"title": title, "text": f"Not computed. {HOW_TO_REPLICATE}"}
    if study_level(studies) == "nothing":
        text = "Nothing here says so: the interval of the agreement includes 0, which is chance."
    else:
        text = f"To {with_interval(studies)}, where 1 means the same result"
        text += " and 0 the agreement of chance." if studies["corrected"] else (
            f"; {studies['measure']} is not corrected for chance.")  # fmt: skip
    return {
        "title": title,
        "text": f"{text} The interval is over data sets: halves of these rows that share no row "
        "stand for independent studies.",
    }


def more_samples(summary: dict[str, Any]) -> dict[str, str]:
    """Whether more rows would help."""
    studies, forecast, title = summary["replicability"], summary["forecast"], "More samples"
    if studies is not None and studies["value"] is not None:
        return {"title": title, "text": _with_more_rows(studies)}
    if forecast is None or forecast["protocol"] != "nested" or forecast["plateau"] is None:
        return {
            "title": title,
            "text": "Runs on resamples of the same rows cannot tell whether more samples would "
            f"help, nor what another study would find. {HOW_TO_REPLICATE}",
        }
    return {
        "title": title,
        "text": f"Two studies with half of the rows each are forecast to reach an agreement of at "
        f"most {forecast['plateau']:.2f} ({forecast['measure']}), however many runs they make. "
        f"{HOW_TO_REPLICATE}",
    }


def _with_more_rows(studies: dict[str, Any]) -> str:
    if study_level(studies) == "nothing":
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
        needed = f"roughly {about(fewest)} to {about(most)} rows"
    else:
        needed = f"at least {about(fewest)} rows; how many at most, these data cannot tell"
    return f"{text} For {studies['wanted']}, each needs {needed}."
