"""The first question of the verdict: is there anything, and which features can be named?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mainstay._validation import counted
from mainstay.reliability.evidence_words import (
    HEADLINES,
    Named,
    features_named,
    most_named,
    tested_against_noise,
    what_could_help,
)
from mainstay.report.words import listed, readable

if TYPE_CHECKING:
    import pandas as pd

NOT_COMPUTED = (
    "Not computed: how far runs on the same rows agree says nothing about luck. "
    "ms.feature_evidence(selector, X, y) repeats everything with the target permuted, and says "
    "what noise alone would give."
)


@dataclass(frozen=True)
class EvidenceWords:
    """What the permutations allow to be said.

    Attributes
    ----------
    level : {"nothing", "list", "groups", "features"}
        The most that can be named.
    headline : str
        One sentence.
    named : str
        Which features, or groups, can be named.
    tested : str
        What was tested, with its p-value, and what that means.
    advice : str
        What could change that; empty where features can be named.
    """

    level: Named
    headline: str
    named: str
    tested: str
    advice: str


def evidence_sentences(evidence: Any, *, n_rows: int | None = None) -> EvidenceWords:
    """Say whether there is anything, then which features, or groups of twins, can be named.

    A feature can be named if its q-value is at most the level: of all features named so, no larger
    share is expected to be there by luck.

    Parameters
    ----------
    evidence : object
        With `p_value` of the whole list, `n_permutations` of what is `permuted`, `level` (false
        discovery rate, and the p-value up to which the list counts as more than noise) and
        `table` (feature, p_value, family_wise_p_value, q_value, group, group_q_value). Features
        that share a `group` are twins; an empty group is a feature without twins.
    n_rows : int, optional
        How many rows the data have, for the advice.
    """
    level = float(evidence.level)
    table = evidence.table.sort_values(["q_value", "p_value"], kind="stable")
    found = table[table["q_value"] <= level]
    features = [readable(str(name), 60) for name in found["feature"]]
    groups = _groups(table[table["group_q_value"] <= level])
    most = most_named(float(evidence.p_value), level, len(features), len(groups))
    tested = _tested(evidence, level, most)
    rate = f"At a false discovery rate of {level:.0%}"
    if most == "features":
        n = features_named(len(features), len(_groups(found)))
        named = f"{rate}, {n}: {listed(features)}."
        headline = HEADLINES[most].format(n=n)
        return EvidenceWords(most, headline, named, f"{tested} {_MARGINAL}", "")
    if most == "groups":
        n = f"{counted(len(groups), 'group')} of twins"
        named = f"{rate} no single feature can be named, but {n}: {listed(groups)}."
        headline = HEADLINES[most].format(n=n)
        if len(groups) == 1:
            headline = headline.replace("their", "its")
        advice = "Report the groups. Only other data could tell the members of a group apart."
        return EvidenceWords(most, headline, named, f"{tested} {_MARGINAL}", advice)
    none = f"{rate} no feature can be named."
    return EvidenceWords(most, HEADLINES[most], none, tested, what_could_help(most, n_rows))


def bounded_sentences(summary: dict[str, Any]) -> EvidenceWords | None:
    """The same for a list that a bound on its errors made, without permuted targets."""
    promise, rule = summary["settings"].get("guarantee"), summary["list"]["rule"]
    if promise is None or summary.get("evidence") is not None:
        return None
    n, groups = len(summary["selected"]), summary["list"]["groups"]
    if n:
        named = features_named(n, len(groups) if groups else n)
        return EvidenceWords("features", f"{named} under {rule}.", "", promise, "")
    advice = (
        f"A bound allows for the worst case; permuted targets ({_PERMUTATION}) may name more. "
        f"{what_could_help('nothing', summary['n_samples'])}"
    )
    return EvidenceWords("nothing", f"No feature can be named under {rule}.", "", promise, advice)


_PERMUTATION = "control='permutation', --control permutation"
_MARGINAL = (
    "Each is tested for itself: a feature that is correlated with a true one is not false in this "
    "sense."
)


def _tested(evidence: Any, level: float, most: Named) -> str:
    """What noise gave, and whether that was asked often enough."""
    n = int(evidence.n_permutations)
    smallest = 1 / (n + 1)
    text = tested_against_noise(most, float(evidence.p_value), n, evidence.permuted)
    if smallest > level:
        enough = math.ceil(1 / level - 1e-9) - 1
        text += (
            f" So few permutations cannot give a p-value below {smallest:.2g}: at least {enough} "
            "are needed."
        )
    return text


def _groups(table: pd.DataFrame) -> list[str]:
    """Groups of twins in the order of the table, each as its members; single features alone."""
    members: dict[Any, list[str]] = {}
    for name, group in zip(table["feature"], table["group"], strict=True):
        missing = group is None or group == "" or group != group
        key = ("feature", name) if missing else ("group", group)
        members.setdefault(key, []).append(readable(str(name), 60))
    return [" or ".join(names) for names in members.values()]
