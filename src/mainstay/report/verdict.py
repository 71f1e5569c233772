"""From numbers to plain words: is there anything, would another study find it, do the runs agree.

Each question has a file of its own, in this order: `verdict_evidence`, `verdict_studies`,
`verdict_runs`. The headline answers the first question that was asked of the data. Where only the
runs on these rows are known, it says no more than that they agree.
"""

from __future__ import annotations

from typing import Any

from mainstay.report.verdict_evidence import NOT_COMPUTED, EvidenceWords, evidence_sentences
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
    "Runs on the same rows agree on noise, too. ms.feature_evidence tells these features from "
    "luck, and ms.replicability estimates what another study would find."
)


def make_verdict(summary: dict[str, Any]) -> dict[str, Any]:
    """Put the summary into plain words.

    Returns
    -------
    dict
        `tone` (calm or care), `headline`, `lead`; `tiers`: the selected features by how often they
        came back; `points`: how sure; `advice`: what would help (each with `title` and `text`).
    """
    evidence = summary.get("evidence")
    found = None if evidence is None else evidence_sentences(
        evidence["source"], n_rows=summary["n_samples"])  # fmt: skip
    headline, tone = _headline(summary, found)
    points = [{"title": _ANYTHING, "text": NOT_COMPUTED if found is None else found.tested}]
    points += [point for point in (another_study(summary), stability(summary), chance(summary),
                                   twins_as_one(summary), single_run(summary), baseline(summary))
               if point]  # fmt: skip
    nothing = found is not None and found.level == "nothing"
    advice = []
    if found is not None and found.advice:
        advice.append({"title": "What could change that", "text": found.advice})
    advice += [point for point in (more_runs(summary, nothing), more_samples(summary),
                                   group_twins(summary), weak_features(summary))
               if point]  # fmt: skip
    return {
        "tone": tone,
        "headline": headline,
        "lead": _lead(summary, found),
        "tiers": _tiers(summary["selected"]),
        "points": points,
        "advice": advice,
    }


def _headline(summary: dict[str, Any], found: EvidenceWords | None) -> tuple[str, str]:
    """Choose the headline, and whether it is to be read with care.

    Runs on the same rows alone are always to be read with care, however far they agree.
    """
    if found is not None:
        return found.headline, "calm" if found.level in ("features", "groups") else "care"
    studies = study_level(summary["replicability"])
    if studies is not None:
        headline = STUDY_HEADLINES[studies].format(**summary["replicability"])
        return headline, "care" if studies in ("nothing", "few") else "calm"
    plain = level(summary["stability"])
    adjusted = level(summary["adjusted"]) if summary["adjusted"] else plain
    order = ["undefined", "chance", "poor", "fair", "good"]
    if plain in ("poor", "fair"):
        if combined_lists_agree(summary["forecast"]):
            return HEADLINES["combined"], "calm"  # on halves that share no row
        if order.index(adjusted) > order.index(plain):
            return HEADLINES["groups"], "care"
    return HEADLINES[plain], "care"


def _lead(summary: dict[str, Any], found: EvidenceWords | None) -> str:
    procedure, k, studies = summary["procedure"], len(summary["selected"]), summary["replicability"]
    text = f"{k:,} of {summary['n_features']:,} features {were(k)} selected from "
    text += f"{summary['n_runs']:,} runs"
    if procedure["rankers"]:
        text += f" of {and_(procedure['rankers'])}"
    if procedure["resampling"]:
        rows = f" of {summary['n_samples']:,} rows" if summary["n_samples"] else ""
        text += f", each on a {procedure['resampling']} resample{rows}"
    before = [] if found is None else [found.named]
    before += [] if studies is None else [studies["statement"]]
    after = [_RUNS_ALONE] if found is None and studies is None else []
    return " ".join([*before, f"{text}.", *after])


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
