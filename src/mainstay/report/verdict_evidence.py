"""The first question of the verdict: is there anything, and which features can be named?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from mainstay.report.summarise import readable
from mainstay.report.words import listed

if TYPE_CHECKING:
    import pandas as pd

_FEW_ROWS = 50
NOT_COMPUTED = (
    "Not computed: how far runs on the same rows agree says nothing about luck. "
    "ms.feature_evidence(selector, X, y) repeats everything with the target permuted, and says "
    "what noise alone would give."
)
HEADLINES = {
    "nothing": "Nothing was found that noise would not give.",
    "list": "There is something in these data, but no single feature can be named.",
    "groups": "{n} can be named, but not which of their members.",
    "features": "{n} can be named.",
}


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

    level: Literal["nothing", "list", "groups", "features"]
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
        With `p_value` of the whole list, `n_permutations`, `level` (false discovery rate, and the
        p-value up to which the list counts as more than noise) and `table` (feature, p_value,
        family_wise_p_value, q_value, group, group_q_value). Features that share a `group` are
        twins; an empty group is a feature without twins.
    n_rows : int, optional
        How many rows the data have, for the advice.
    """
    level = float(evidence.level)
    table = evidence.table.sort_values(["q_value", "p_value"], kind="stable")
    features = [readable(str(name), 60) for name in table["feature"][table["q_value"] <= level]]
    groups = _groups(table[table["group_q_value"] <= level])
    tested = _tested(evidence, level)
    if features:
        n = f"{len(features):,} feature{'s' * (len(features) > 1)}"
        named = f"At a false discovery rate of {level:.0%}, {n} can be named: {listed(features)}."
        headline = _headline("features", n)
        return EvidenceWords("features", headline, named, f"{tested} {_MARGINAL}", "")
    if groups:
        n = f"{len(groups):,} group{'s' * (len(groups) > 1)} of twins"
        named = (
            f"At a false discovery rate of {level:.0%} no single feature can be named, but {n}: "
            f"{listed(groups)}."
        )
        headline = _headline("groups", n) if len(groups) > 1 else (
            "1 group of twins can be named, but not which of its members.")  # fmt: skip
        advice = "Report the groups. Only other data could tell the members of a group apart."
        return EvidenceWords("groups", headline, named, f"{tested} {_MARGINAL}", advice)
    none = f"At a false discovery rate of {level:.0%} no feature can be named."
    most: Literal["list", "nothing"] = "list" if evidence.p_value <= level else "nothing"
    advice = _what_could_change_that(most, n_rows)
    return EvidenceWords(most, HEADLINES[most], none, tested, advice)


_MARGINAL = (
    "Each is tested for itself: a feature that is correlated with a true one is not false in this "
    "sense."
)


def _headline(level: str, n: str) -> str:
    return HEADLINES[level].format(n=n)


def _tested(evidence: Any, level: float) -> str:
    """What noise gave, and whether that was asked often enough."""
    n, p = int(evidence.n_permutations), float(evidence.p_value)
    smallest = 1 / (n + 1)
    said = "is more than" if p <= level else "is not more than"
    text = f"The whole list {said} {n:,} permutations of the target give (p = {p:.2g})."
    if smallest > level:
        enough = math.ceil(1 / level - 1e-9) - 1
        text += (
            f" So few permutations cannot give a p-value below {smallest:.2g}: at least {enough} "
            "are needed."
        )
    return text


def _what_could_change_that(level: str, n_rows: int | None) -> str:
    """Advice that does not promise anything."""
    rows = "More rows"
    if n_rows is not None and n_rows < _FEW_ROWS:
        rows = f"More rows (with {n_rows}, only very strong effects stand out from noise)"
    tested = "testing fewer features, chosen before looking at the target"
    if level == "list":
        return f"{rows}, or {tested}, could make single features stand out."
    return (
        f"{rows}; {tested}; or a ranker that sees another kind of effect, such as one that is not "
        "linear. More runs on the same rows cannot."
    )


def _groups(table: pd.DataFrame) -> list[str]:
    """Groups of twins in the order of the table, each as its members; single features alone."""
    members: dict[Any, list[str]] = {}
    for name, group in zip(table["feature"], table["group"], strict=True):
        missing = group is None or group == "" or group != group
        key = ("feature", name) if missing else ("group", group)
        members.setdefault(key, []).append(readable(str(name), 60))
    return [" or ".join(names) for names in members.values()]
