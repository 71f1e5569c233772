"""From numbers to plain words: is there anything, would another study find it, do the runs agree.

Each question has a file of its own, in this order: `verdict_evidence`, `verdict_studies`,
`verdict_runs`. The headline answers the first question that was asked of the data. Where only the
runs on these rows are known, it says no more than that they agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mainstay._notebook import card
from mainstay.report.summarise import summarise
from mainstay.report.verdict_evidence import (
    NOT_COMPUTED,
    EvidenceWords,
    bounded_sentences,
    evidence_sentences,
)
from mainstay.report.verdict_list import (
    count_groups,
    group_in_words,
    groups_in_words,
    other_lists,
    why_this_list,
)
from mainstay.report.verdict_runs import (
    HEADLINES,
    OFTEN,
    baseline,
    chance,
    combined_lists_agree,
    group_twins,
    level,
    more_runs,
    single_run,
    stability,
    twins_as_one,
    weak_features,
)
from mainstay.report.verdict_studies import (
    STUDY_HEADLINES,
    another_study,
    more_samples,
    study_level,
)
from mainstay.report.words import SHOWN, and_, were

ALWAYS = 0.9
_ANYTHING = "Is there anything, or is it luck?"
_RUNS_ALONE = (
    "Runs on the same rows agree on noise, too. ms.feature_evidence (mainstay select "
    "--permutations 100) tells these features from luck, and ms.replicability (mainstay "
    "replicate) estimates what another study would find."
)


@dataclass(frozen=True)
class Verdict:
    """A result in plain words; `print(verdict)` shows all of it.

    Attributes
    ----------
    tone : {"calm", "care"}
        Whether the headline is to be read with care.
    headline : str
        One sentence.
    lead : str
        What was found, from how many runs.
    why : str
        How the list came about, and why features that more runs selected are not on it.
    others : list of dict
        Other ways to make the list: `title`, `text`, and how to ask for it: `option` of `mainstay
        select`, `python`.
    tiers : list of dict
        The selected features, or groups of twins where the runs agree on these, by how often they
        came back.
    points, advice : list of dict
        How sure that is, and what would help: each with `title` and `text`.
    groups : list of dict
        Groups of twins that the selected features belong to: `members`, `frequency`.
    """

    tone: str
    headline: str
    lead: str
    why: str
    others: list[dict[str, str]]
    tiers: list[dict[str, Any]]
    points: list[dict[str, str]]
    advice: list[dict[str, str]]
    groups: list[dict[str, Any]]

    def __str__(self) -> str:
        parts = [self.headline, self.lead, self.why]
        for title, points in (("Other lists", self.others), ("How sure is that?", self.points),
                              ("What would help", self.advice)):  # fmt: skip
            parts += [title, *(f"  {point['title']}: {point['text']}" for point in points)]
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        return card(self.headline, str(self).partition("\n")[2])


def verdict_of(result: Any) -> Verdict:
    """Put a result into plain words; the summary of the features' ranks is not needed for that."""
    return make_verdict(summarise(result, most_features=1))


def make_verdict(summary: dict[str, Any]) -> Verdict:
    """Put the summary into plain words."""
    evidence = summary.get("evidence")
    found = bounded_sentences(summary) if evidence is None else evidence_sentences(
        evidence["source"], n_rows=summary["n_samples"])  # fmt: skip
    headline, tone, by_group = _headline(summary, found)
    points = [{"title": _ANYTHING, "text": NOT_COMPUTED if found is None else found.tested}]
    points += [point for point in (another_study(summary), stability(summary), chance(summary),
                                   twins_as_one(summary), single_run(summary), baseline(summary))
               if point]  # fmt: skip
    nothing = evidence is not None and found is not None and found.level == "nothing"
    advice = []
    if found is not None and found.advice:
        advice.append({"title": "What could change that", "text": found.advice})
    advice += [point for point in (more_runs(summary, nothing), more_samples(summary),
                                   group_twins(summary), weak_features(summary))
               if point]  # fmt: skip
    groups = summary["list"]["groups"] or []
    return Verdict(
        tone=tone,
        headline=headline,
        lead=_lead(summary, found, groups if by_group else []),
        why=why_this_list(summary),
        others=other_lists(summary),
        tiers=_tiers(_as_one(groups) if by_group else summary["selected"]),
        points=points,
        advice=advice,
        groups=groups,
    )


def _headline(summary: dict[str, Any], found: EvidenceWords | None) -> tuple[str, str, bool]:
    """Choose the headline, whether it is to be read with care, and whether groups lead.

    Runs on the same rows alone are always to be read with care, however far they agree.
    """
    groups = summary["list"]["groups"]
    if found is not None:
        permuted = summary.get("evidence") is not None  # a bound rests on more assumptions
        tone = "calm" if permuted and found.level in ("features", "groups") else "care"
        return found.headline, tone, found.level == "groups" and bool(groups)
    studies = study_level(summary["replicability"])
    if studies is not None:
        headline = STUDY_HEADLINES[studies].format(**summary["replicability"])
        return headline, "care" if studies in ("nothing", "few") else "calm", False
    if not summary["selected"]:
        return "No feature was selected.", "care", False
    plain = level(summary["stability"])
    adjusted = level(summary["adjusted"]) if summary["adjusted"] else plain
    order = ["undefined", "chance", "poor", "fair", "good"]
    if plain in ("poor", "fair"):
        if combined_lists_agree(summary["forecast"]):
            return HEADLINES["combined"], "calm", False  # on halves that share no row
        if groups and order.index(adjusted) > order.index(plain):
            return HEADLINES["groups"].format(n=count_groups(groups)), "care", True
    return HEADLINES[plain], "care", False


def _lead(
    summary: dict[str, Any], found: EvidenceWords | None, groups: list[dict[str, Any]]
) -> str:
    procedure, k, studies = summary["procedure"], len(summary["selected"]), summary["replicability"]
    text = f"{k:,} of {summary['n_features']:,} features {were(k)} selected from "
    text += f"{summary['n_runs']:,} runs"
    if procedure["rankers"]:
        text += f" of {and_(procedure['rankers'])}"
    if procedure["resampling"]:
        rows = f" of {summary['n_samples']:,} rows" if summary["n_samples"] else ""
        resample = f"a {procedure['resampling']} resample"
        text += f", each on {'half' if procedure['resampling'] == 'pairs' else resample}{rows}"
    before = [f"{groups_in_words(groups)}."] if groups else []
    before += [] if found is None or not found.named else [found.named]
    before += [] if studies is None else [studies["statement"]]
    after = [_RUNS_ALONE] if k and found is None and studies is None else []
    return " ".join([*before, f"{text}.", *after])


def _as_one(groups: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Groups of twins in the place of features."""
    return [{"name": group_in_words(group), "frequency": group["frequency"]} for group in groups]


def _tiers(selected: list[dict[str, Any]]) -> list[dict[str, Any]]:
    bounds = [
        ("Nearly always", f"in at least {ALWAYS:.0%} of the runs", ALWAYS, 2.0),
        ("Often", f"in {OFTEN:.0%} to {ALWAYS:.0%} of the runs", OFTEN, ALWAYS),
        ("Rarely", f"in fewer than {OFTEN:.0%} of the runs", -1.0, OFTEN),
    ]
    tiers = []
    for title, text, low, high in bounds:
        inside = [feature for feature in selected if low <= feature["frequency"] < high]
        names = [feature["name"] for feature in inside[:SHOWN]]
        if inside:
            tiers.append({"title": title, "text": text, "n": len(inside), "names": names,
                          "more": len(inside) - len(names)})  # fmt: skip
    return tiers
