"""Selecting by how many false features are tolerated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mainstay._parallel import Progress
from mainstay._validation import InputError, check_choice
from mainstay.data import Data
from mainstay.procedure import Procedure
from mainstay.rankers import L1Path
from mainstay.reliability import ErrorRule, FeatureEvidence, bounds
from mainstay.reliability.evidence import evidence_of
from mainstay.reliability.permutation import Permuter
from mainstay.runs import Runs
from mainstay.similarity import FeatureSimilarity

CONTROLS = ("permutation", "unimodal", "meinshausen-buehlmann", "r-concave", "ipss")
N_PERMUTATIONS = 100
_LEVEL = 0.1  # at which summaries name features where the rule has no level of its own
_PAIRS_OF_AUTO = 50  # taken for a number of resamples that is not known yet
_THRESHOLD = 0.75  # of the runs, for which the number of features of a run is chosen


@dataclass(frozen=True)
class ErrorSelection:
    """What was selected under an error rule, and what that promises."""

    mask: np.ndarray
    guarantee: str


def check_control(rule: Any, control: str, resampling: Any, n_permutations: Any) -> None:
    """Refuse combinations that promise nothing, before anything is computed."""
    check_choice("control", control, CONTROLS)
    if not isinstance(rule, ErrorRule):
        if control != "permutation":
            raise InputError(
                f"control={control!r} is for error rates, but a number of features was asked for: "
                "set n_features_to_select='expected_false<=1' (--n-features), or leave control out."
            )
        return
    if control == "permutation":
        made = N_PERMUTATIONS if n_permutations is None else n_permutations
        if isinstance(made, int) and made < rule.fewest_permutations:
            raise InputError(
                f"{made} permutations cannot resolve '{rule}'; set n_permutations (--permutations) "
                f"to at least {rule.fewest_permutations}."
            )
        return
    if resampling != "pairs":
        raise InputError(
            f"control={control!r} needs runs on complementary pairs: give resampling='pairs' "
            f"(--resampling pairs), got {resampling!r}."
        )
    if rule.kind == "fdr" and control != "ipss":
        raise InputError(
            f"the {control} bound is on the expected number of false features, not on their share; "
            f"use 'expected_false<=1' or 'fwer<={rule.level:g}', or control='permutation'."
        )


def check_strata(strata: Any, data: Any, wanted: Any, control: str, n_permutations: Any) -> None:
    """Refuse strata within which nothing can be permuted, and those that nothing would use."""
    by_rule = isinstance(wanted, ErrorRule) and control == "permutation"
    if n_permutations is None and not by_rule:
        raise InputError(
            "strata say among which rows targets are permuted, but nothing is permuted: set "
            "n_permutations (--permutations 100), or n_features_to_select='fdr<=0.1'."
        )
    Permuter.of(data, strata)


def features_per_run(rule: ErrorRule, control: str, n_features: int, n_resamples: Any) -> int:
    """How many features a run selects, so that features in 75% of the runs keep the bound."""
    pairs = n_resamples // 2 if isinstance(n_resamples, int) else _PAIRS_OF_AUTO
    return max(
        1,
        bounds.largest_selection(
            max_false=rule.level,
            n_features=n_features,
            threshold=_THRESHOLD,
            n_pairs=pairs,
            bound=control,
        ),
    )


def permutation_evidence(
    procedure: Procedure,
    data: Data,
    runs: Runs,
    similarity: FeatureSimilarity | None,
    n_permutations: int | str,
    rule: ErrorRule | None,
    rng: np.random.Generator,
    *,
    strata: Any,
    n_jobs: int | None,
    progress: Progress,
) -> FeatureEvidence:
    """Compare the runs with those on permuted targets, with enough permutations for the rule."""
    level = _LEVEL
    if rule is not None and rule.kind != "expected_false":
        level = rule.level
    return evidence_of(
        procedure,
        data,
        runs,
        rng,
        n_permutations=n_permutations,
        level=level,
        strata=strata,
        similarity=similarity,
        n_jobs=n_jobs,
        progress=progress,
    )


def select_by_error(
    rule: ErrorRule,
    control: str,
    procedure: Procedure,
    runs: Runs,
    evidence: FeatureEvidence | None,
) -> ErrorSelection:
    """Name the features that keep the rule, and say what is promised."""
    if control == "permutation":
        assert evidence is not None
        return ErrorSelection(evidence.mask(rule), evidence.guarantee(rule))
    if control == "ipss":
        on_penalties = [isinstance(ranker, L1Path) for _, ranker in procedure.rankers] == [True]
        integrated = bounds.ipss(runs, path="penalties" if on_penalties else "ranks")
        rates = integrated.q_values if rule.kind == "fdr" else integrated.expected_false
        return ErrorSelection(rates <= rule.level, f"{_promise(rule)} {integrated.statement}")
    found = bounds.select(
        runs,
        max_false=rule.level,
        bound=control,
        n_features_to_select=procedure.per_run(runs.n_features),
    )
    return ErrorSelection(found.support, f"{_promise(rule)} {found.statement}")


def _promise(rule: ErrorRule) -> str:
    """What was asked for; a bound on the expected number also bounds the probability of any."""
    words = rule.in_words
    return f"{words[0].upper()}{words[1:]}."
