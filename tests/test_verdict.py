"""The words of the verdict: on noise they promise nothing, whatever the runs agree on."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import mainstay as ms
from mainstay.report.summarise import summarise
from mainstay.report.verdict import Verdict, make_verdict
from mainstay.report.verdict_evidence import evidence_sentences
from mainstay.report.verdict_runs import HEADLINES
from mainstay.report.words import count, with_interval

PROMISES = ("solid", "build on", "rely", "excellent", "trust", "reproducible", "runs would help",
            "Would help", "true features")  # fmt: skip


def fit_noise(seed: int, resampling: str, n: int = 40, p: int = 200) -> ms.EnsembleSelector:
    rng = np.random.default_rng(seed)
    resamples = {"folds": n}.get(resampling, 30)  # leaving one row out
    selector = ms.EnsembleSelector(
        "f_statistic", n_features_to_select=10, resampling=resampling, n_resamples=resamples,
        random_state=seed,
    )  # fmt: skip
    return selector.fit(rng.normal(size=(n, p)), np.arange(n) % 2)


def everything(verdict: Verdict) -> str:
    said = [point["text"] for point in verdict.points + verdict.advice]
    return " ".join([verdict.headline, verdict.lead, *said])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("resampling", ["bootstrap", "half", "folds", "pairs"])
def test_runs_that_agree_on_noise_promise_nothing(resampling: str, seed: int) -> None:
    selector = fit_noise(seed, resampling)
    result = selector.result(forecast=selector.forecast(ensemble_sizes=[1, 10], random_state=0))
    if resampling == "folds":
        assert selector.stability_.value > 0.75  # nearly all rows are shared
    verdict = make_verdict(summarise(result))
    assert verdict.headline in HEADLINES.values()
    assert verdict.tone == "care"
    said = everything(verdict)
    assert not [promise for promise in PROMISES if promise in said]
    assert "ms.feature_evidence" in verdict.lead
    assert "ms.replicability" in verdict.lead
    assert "agree on noise, too" in verdict.lead


def test_the_strongest_word_about_runs_is_that_they_agree() -> None:
    verdict = make_verdict(summarise(fit_noise(0, "folds").result()))
    assert verdict.headline == HEADLINES["good"]
    assert "luck" in verdict.headline


def test_more_runs_are_said_to_bring_agreement_not_truth() -> None:
    """Permuted labels were once told that 2,048 runs would help."""
    selector = fit_noise(1, "bootstrap")
    forecast = selector.forecast(ensemble_sizes=[1, 10, 100], random_state=0)
    verdict = make_verdict(summarise(selector.result(forecast=forecast)))
    (said,) = [point["text"] for point in verdict.advice if "bigger" in point["title"]]
    assert "on resamples of these data" in said
    assert "repeatable on these rows; they do not make it truer" in said
    assert "repeatable on these rows, not true" in forecast.summary()


# ---------------------------------------------------------------------- evidence


def evidence(
    q: list[float], group_q: list[float] | None = None, groups: list[Any] | None = None,
    p_value: float = 0.01, n_permutations: int = 100,
) -> SimpleNamespace:  # fmt: skip
    table = pd.DataFrame(
        {
            "feature": [f"gene {i}" for i in range(len(q))],
            "p_value": np.array(q) / 2,
            "family_wise_p_value": q,
            "q_value": q,
            "group": groups or [""] * len(q),
            "group_q_value": q if group_q is None else group_q,
        }
    )
    return SimpleNamespace(
        p_value=p_value, n_permutations=n_permutations, permuted="rows", table=table, level=0.1
    )


def test_noise_is_called_noise_with_what_could_change_that() -> None:
    said = evidence_sentences(evidence([0.9, 0.8, 1.0], p_value=0.43), n_rows=200)
    assert said.level == "nothing"
    assert said.headline == "Nothing was found that noise would not give."
    assert said.tested == (
        "Nothing was found that noise would not give: p = 0.43 for the whole list (100 "
        "permutations of rows)."
    )
    assert "More rows" in said.advice
    assert "More runs on the same rows cannot." in said.advice


def test_a_strong_signal_is_named_by_name_best_first() -> None:
    said = evidence_sentences(evidence([0.05, 0.6, 0.01, 0.1]), n_rows=200)
    assert said.level == "features"
    assert said.headline == "3 features can be named."
    assert "gene 2, gene 0 and gene 3." in said.named
    assert "gene 1" not in said.named
    assert "false discovery rate of 10%" in said.named
    assert said.advice == ""
    one = evidence_sentences(evidence([0.05, 0.6]))
    assert one.headline == "1 feature can be named."
    many = evidence_sentences(evidence([0.01] * 40))
    assert "gene 11 and 28 more." in many.named


def test_named_features_that_are_twins_are_counted_as_one_as_well() -> None:
    said = evidence_sentences(evidence([0.01, 0.02, 0.03, 0.9], groups=["a", "a", "", "a"]))
    assert said.headline == "3 features can be named, 2 with twins counted as one."
    assert "3 features can be named, 2 with twins counted as one: gene 0, gene 1" in said.named


def test_twins_are_named_as_groups_where_no_member_can_be() -> None:
    found = evidence([0.3, 0.3, 0.9, 0.9], [0.04, 0.04, 0.9, 0.9], ["a", "a", "b", "b"])
    said = evidence_sentences(found)
    assert said.level == "groups"
    assert said.headline == "1 group of twins can be named, but not which of its members."
    assert "gene 0 or gene 1." in said.named
    assert "gene 2" not in said.named
    assert "Report the groups." in said.advice
    two = evidence_sentences(evidence([0.3] * 4, [0.04] * 4, ["a", "a", "b", "b"]))
    assert two.headline == "2 groups of twins can be named, but not which of their members."


def test_a_list_may_be_more_than_noise_though_no_feature_can_be_named() -> None:
    said = evidence_sentences(evidence([0.3, 0.4], p_value=0.02))
    assert said.level == "list"
    assert "no single feature can be named" in said.headline
    assert said.tested.startswith("There is more here than noise gives: p = 0.02 (100 permuta")


def test_twenty_rows_are_called_few() -> None:
    said = evidence_sentences(evidence([0.9, 0.9], p_value=0.5), n_rows=20)
    assert "with 20, only very strong effects stand out from noise" in said.advice


def test_too_few_permutations_are_said_to_be_too_few() -> None:
    said = evidence_sentences(evidence([1.0], p_value=0.2, n_permutations=4))
    assert "cannot give a p-value below 0.2: at least 9 are needed." in said.tested
    enough = evidence_sentences(evidence([1.0], p_value=0.2, n_permutations=9))
    assert "are needed" not in enough.tested


def test_the_verdict_begins_with_the_evidence() -> None:
    selector = fit_noise(2, "bootstrap")
    forecast = selector.forecast(ensemble_sizes=[1, 10], random_state=0)
    summary = summarise(selector.result(forecast=forecast))
    verdict = make_verdict({**summary, "evidence": {"source": evidence([0.9, 0.8], p_value=0.6)}})
    assert verdict.headline == "Nothing was found that noise would not give."
    assert verdict.tone == "care"
    assert verdict.points[0]["title"] == "Is there anything, or is it luck?"
    advice = {point["title"]: point["text"] for point in verdict.advice}
    assert next(iter(advice)) == "What could change that"
    assert advice["A bigger ensemble"].startswith("Cannot help")
    verdict = make_verdict({**summary, "evidence": {"source": evidence([0.01, 0.8])}})
    assert verdict.headline == "1 feature can be named."
    assert verdict.tone == "calm"
    assert "gene 0" in verdict.lead


def test_what_rounds_to_zero_has_no_sign() -> None:
    estimate = {"value": -0.003, "lower": -0.02, "upper": 0.004, "confidence": 0.95}
    assert with_interval(estimate) == "0.00 (95% interval -0.02 to 0.00)"


def test_few_shared_features_are_not_rounded_to_none() -> None:
    assert [count(value) for value in (0.025, 0.0, 1.25, 5.0, 120.4)] == [
        "0.03", "0", "1.2", "5", "120",
    ]  # fmt: skip
