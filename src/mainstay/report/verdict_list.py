"""Why the list holds these features and not others, and which other lists could be asked for."""

from __future__ import annotations

import re
from typing import Any

from mainstay._validation import counted
from mainstay.report.words import and_, listed, readable

_RANKED_BY = {
    "mean": "mean score over the runs",
    "geometric_mean": "geometric mean of the scores",
    "l2_norm": "root mean square of the scores",
    "median": "median score over the runs",
    "min": "lowest score in any run",
    "max": "highest score in any run",
    "rank_mean": "mean rank over the runs",
    "rank_median": "median rank over the runs",
    "rank_min": "best rank in any run",
    "rank_geometric_mean": "geometric mean of the ranks",
    "borda": "sum of points for its places (Borda)",
    "frequency": "share of the runs that selected it",
    "vote": "share of the runs that selected it",
}
_RANKERS_BY = {
    "rank_mean": "mean rank over the rankers",
    "rank_median": "median rank over the rankers",
    "rank_min": "best rank by any ranker",
    "rank_geometric_mean": "geometric mean of the rankers' ranks",
    "borda": "sum of points with the rankers (Borda)",
}
_NAMED_IN_GROUP = 3


def ranked_by(listed_: dict[str, Any]) -> str:
    """What the combined ranking goes by, in words."""
    method = listed_["method"]
    if not listed_["rules"]:
        return _of_runs(method)
    words = _RANKERS_BY.get(method, f"combined score of the rankers ({method})")
    return words if listed_["weights"] is None else f"weighted {words}"


def _of_runs(method: str) -> str:
    return _RANKED_BY.get(method, f"combined score ({method})")


def _each_by(listed_: dict[str, Any]) -> str:
    """What the rankings of several rankers go by."""
    rules = dict.fromkeys(_of_runs(method) for method in listed_["rules"].values())
    return f", each of which ranks by {' or '.join(rules)}" if rules else ""


def why_this_list(summary: dict[str, Any]) -> str:
    """The rule behind the list, and why features that more runs selected are not on it."""
    listed_, k = summary["list"], len(summary["selected"])
    words = ranked_by(listed_)
    rule = listed_["rule"] if isinstance(listed_["rule"], str) else ""
    if rule.startswith("frequency"):
        share = float(re.sub(r"[^\d.]", "", rule))
        return f"The list holds every feature that at least {share:.0%} of the runs selected."
    if rule.startswith(("fdr", "fwer", "expected_false")):
        text = f"The list holds what can be named under {rule}, whatever its frequency."
        return f"{text} {_passed_over(listed_, 'they do not meet that rule')}".rstrip()
    if rule == "auto":
        text = (
            "The list is the shortest whose cross-validated score is within one standard error of "
            f"the best; it is filled in the order of the {words}{_each_by(listed_)}."
        )
    else:
        best = "the best feature" if k == 1 else f"the {k:,} best features"
        text = f"The list holds {best}, ranked by {words}{_each_by(listed_)}."
    return f"{text} {_passed_over(listed_, _because(words))}".rstrip()


def _because(words: str) -> str:
    return f"the {words} of each is worse"


def _passed_over(listed_: dict[str, Any], because: str) -> str:
    found = listed_["passed_over"]
    if found is None:
        return ""
    shown = [
        f"{readable(name, 60)} ({share:.0%})"
        for name, share in zip(found["names"], found["frequencies"], strict=True)
    ]
    n, weakest = len(shown), readable(found["weakest"], 60)
    more = f"{counted(n, 'feature')} that more runs selected than {weakest}"
    reason = because.replace(" of each is", " of it is") if n == 1 else because
    reason = reason.replace("they do", "it does") if n == 1 else reason
    return (
        f"{more} ({found['weakest_frequency']:.0%}) {'is' if n == 1 else 'are'} not on it, "
        f"because {reason}: {listed(shown)}."
    )


def other_lists(summary: dict[str, Any]) -> list[dict[str, str]]:
    """The lists that other rules would give, each with how to ask for it."""
    listed_ = summary["list"]
    return [
        {"title": title, "text": text, "option": option, "python": python}
        for title, text, option, python in (
            ("By frequency", _by_frequency(listed_), "--by frequency", 'aggregation="frequency"'),
            (
                "By q-value",
                _by_q_value(listed_, len(summary["selected"])),
                "--by q-value",
                'n_features_to_select="fdr<=0.1"',
            ),
            ("By group", _by_group(listed_), "--by group", "result.verdict.groups"),
        )
        if text
    ]


def _by_frequency(listed_: dict[str, Any]) -> str:
    found = listed_["by_frequency"]
    if found is None:
        return ""
    if not found["enter"]:
        return "The features that the most runs selected are the same ones."
    enter = listed([readable(name, 60) for name in found["enter"]])
    leave = listed([readable(name, 60) for name in found["leave"]])
    place = "the place" if len(found["leave"]) == 1 else "the places"
    return f"{enter} would take {place} of {leave}."


def _by_q_value(listed_: dict[str, Any], k: int) -> str:
    if str(listed_["rule"]).startswith("fdr"):
        return ""
    found = listed_["by_q_value"]
    if found is None:
        return "What noise would not give; found by repeating everything on permuted targets."
    n, level = found["n"], f"{found['level']:.0%}"
    if not n:
        return f"No feature can be named at a false discovery rate of {level}."
    return f"{counted(n, 'feature')} can be named at a false discovery rate of {level}."


def _by_group(listed_: dict[str, Any]) -> str:
    groups = listed_["groups"]
    if not groups or all(len(group["members"]) == 1 for group in groups):
        return ""
    return f"{groups_in_words(groups)}."


# ---------------------------------------------------------------------- groups


def group_in_words(group: dict[str, Any]) -> str:
    """Members of a group, selected ones first: "a or b or 3 more"."""
    names = [readable(name, 60) for name in group["members"]]
    shown, more = names[:_NAMED_IN_GROUP], len(names) - _NAMED_IN_GROUP
    return " or ".join([*shown, f"{more:,} more"] if more > 0 else shown)


def count_groups(groups: list[dict[str, Any]]) -> str:
    """How many groups of twins, and features without twins, the selected features form."""
    n_single = sum(len(group["members"]) == 1 for group in groups)
    parts = (
        [f"{counted(len(groups) - n_single, 'group')} of twins"] if n_single < len(groups) else []
    )
    if n_single:
        parts.append(counted(n_single, "feature") + " without twins")
    return and_(parts)


def groups_in_words(groups: list[dict[str, Any]]) -> str:
    """The groups with the share of runs that selected a member: "2 groups: a or b (98%), …"."""
    shown = [f"{group_in_words(group)} ({group['frequency']:.0%})" for group in groups]
    text = "; ".join(shown[:6])
    more = len(shown) - 6
    return f"{count_groups(groups)}: {text}" + (f"; and {more:,} more" if more > 0 else "")
