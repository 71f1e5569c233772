"""The list explains itself: its rule, who was passed over and why, what other rules would give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.feature_selection import SelectKBest

import mainstay as ms
from mainstay.cli import main
from mainstay.report.verdict_list import why_this_list


def result_of(
    scores: list[list[float]], k: int = 2, similarity: np.ndarray | None = None, **options: str
) -> ms.SelectionResult:
    names = list("abcdefgh")[: len(scores[0])]
    runs = ms.Runs.from_scores(np.array(scores), names)
    twins = None if similarity is None else ms.FeatureSimilarity.from_matrix(
        similarity, 0.9, features=names)  # fmt: skip
    return ms.SelectionResult.from_runs(runs, n_features_to_select=k, similarity=twins, **options)


# b wins once by far and loses otherwise: the best mean score after a, in the fewest selections
UNEVEN = [[9, 50, 2, 1], [9, 0, 2, 1], [9, 0, 2, 1], [9, 0, 1, 2], [9, 0, 1, 2]]


def test_a_feature_with_a_better_mean_score_is_in_and_more_frequent_ones_are_not() -> None:
    result = result_of(UNEVEN)
    assert result.selected == ("b", "a")
    why = result.verdict.why
    assert why.startswith("The list holds the 2 best features, ranked by mean score over the runs.")
    assert "2 features that more runs selected than b (20%) are not on it" in why
    assert why.endswith(
        "because the mean score over the runs of each is worse: c (40%) and d (40%)."
    )


def test_one_feature_that_was_passed_over_is_spoken_of_in_the_singular() -> None:
    why = result_of([row[:3] for row in UNEVEN]).verdict.why
    assert "1 feature that more runs selected than b (20%) is not on it, because" in why
    assert "of it is worse: c (80%)." in why


def test_a_list_in_the_order_of_frequency_has_nothing_to_explain() -> None:
    by_frequency = result_of(UNEVEN, aggregation="frequency")
    assert by_frequency.selected == ("a", "c")
    assert "not on it" not in by_frequency.verdict.why
    agreed = result_of([[3, 2, 1], [3, 2, 1], [3, 2, 1]])
    assert "not on it" not in agreed.verdict.why


def test_what_a_ranking_by_frequency_would_change_is_said() -> None:
    said = {other["option"]: other["text"] for other in result_of(UNEVEN).verdict.others}
    assert said["--by frequency"] == "c would take the place of b."
    same = {other["option"]: other["text"] for other in result_of([[3, 2, 1]] * 3).verdict.others}
    assert same["--by frequency"] == "The features that the most runs selected are the same ones."


def verdict_by(ranker: object, **options: object) -> Any:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6))
    selector = ms.EnsembleSelector(
        ranker, n_features_to_select=2, n_resamples=10, random_state=0, **options
    )
    return selector.fit(X, X[:, 0] > 0).result().verdict


def test_of_several_rankers_the_words_name_both_rules() -> None:
    two = ["f_statistic", "information_gain"]
    assert verdict_by(two).why.startswith(
        "The list holds the 2 best features, ranked by mean rank over the rankers, each of which "
        "ranks by mean score over the runs."
    )
    stuart = verdict_by(two, aggregation="l2_norm", ranker_aggregation="stuart").why
    assert stuart.startswith(
        "The list holds the 2 best features, ranked by combined score of the rankers (stuart), "
        "each of which ranks by root mean square of the scores."
    )
    weighted = verdict_by(two, ranker_weights=[2, 1], ranker_aggregation="rank_median").why
    assert "ranked by weighted median rank over the rankers, each of which" in weighted
    mixed = verdict_by([*two, SelectKBest(k=2)]).why
    assert "ranks by mean score over the runs or share of the runs that selected it." in mixed


def test_why_a_frequent_feature_is_not_on_the_list_of_several_rankers() -> None:
    listed = {"rule": 1, "method": "borda", "rules": {"a": "mean", "b": "mean"}, "weights": None,
              "passed_over": {"weakest": "u", "weakest_frequency": 0.2, "names": ["v"],
                              "frequencies": [0.4]}}  # fmt: skip
    why = why_this_list({"list": listed, "selected": ["u"]})
    assert why.endswith(
        "because the sum of points with the rankers (Borda) of it is worse: v (40%)."
    )


def test_no_list_by_frequency_is_offered_that_no_option_gives() -> None:
    assert "--by frequency" in {other["option"] for other in verdict_by("f_statistic").others}
    several = verdict_by(["f_statistic", "information_gain"]).others
    assert {other["option"] for other in several} == {"--by q-value"}


def twins_runs() -> tuple[list[list[float]], np.ndarray]:
    """Runs that agree on one of {a, b} and one of {c, d}, never on which."""
    scores = [[9, 0, 8, 0, 1, 2], [0, 9, 0, 8, 2, 1], [9, 0, 0, 8, 1, 2], [0, 9, 8, 0, 2, 1]] * 5
    alike = np.eye(6)
    alike[0, 1] = alike[1, 0] = alike[2, 3] = alike[3, 2] = 0.99
    return scores, alike


def test_groups_lead_where_the_runs_agree_on_groups() -> None:
    scores, alike = twins_runs()
    verdict = result_of(scores, similarity=alike).verdict
    assert verdict.headline.startswith("The runs agree on ")
    assert "twins" in verdict.headline
    assert "or" in verdict.lead.split("(100%)")[0]
    names = [name for tier in verdict.tiers for name in tier["names"]]
    assert all(" or " in name for name in names)
    assert all(group["frequency"] == 1 for group in verdict.groups)


def test_groups_do_not_lead_where_the_runs_agree_on_features() -> None:
    alike = np.eye(4)
    alike[0, 1] = alike[1, 0] = 0.99
    verdict = result_of([[4, 3, 2, 1]] * 10, similarity=alike).verdict
    assert "twins" not in verdict.headline
    assert [name for tier in verdict.tiers for name in tier["names"]] == ["a", "b"]


@pytest.mark.parametrize(
    ("rule", "words"),
    [("frequency>=0.5", "every feature that at least 50% of the runs selected"),
     ("auto", "shortest whose cross-validated score is within one standard error")],
)  # fmt: skip
def test_every_rule_has_its_words(rule: str, words: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6))
    selector = ms.EnsembleSelector(
        "f_statistic", n_features_to_select=rule, n_resamples=20, random_state=0
    )
    assert words in selector.fit(X, X[:, 0] > 0).result().verdict.why


# ---------------------------------------------------------------------- on the terminal


@pytest.fixture
def table(tmp_path: Path) -> str:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6))
    X[:, 1] = X[:, 0] + 0.2 * rng.normal(size=60)
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(y=(X[:, 0] > 0).astype(int))
    path = tmp_path / "data.csv"
    frame.to_csv(path, index=False)
    return str(path)


def select(table: str, *options: str) -> str:
    found = CliRunner().invoke(
        main, ["select", table, "--target", "y", "--resamples", "20", *options]
    )
    assert found.exit_code == 0, found.output
    return str(found.output)


def test_select_prints_the_verdict_and_the_rule(table: str) -> None:
    printed = select(table)
    assert "The list holds the best feature, ranked by mean score over the runs." in printed
    assert "they cannot say." in printed
    assert "--by q-value" in printed
    assert "agree on noise, too" in printed


def test_the_way_to_make_the_list_is_chosen_in_words(table: str) -> None:
    assert "share of the runs that selected it" in select(table, "--by", "frequency")
    assert "fdr<=0.1" in select(table, "--by", "q-value", "--permutations", "20")
    grouped = select(table, "--by", "group", "--n-features", "2")
    assert "a; b" in grouped or "b; a" in grouped


@pytest.mark.parametrize(
    "options",
    [["--by", "frequency", "--aggregation", "median"], ["--by", "q-value", "--n-features", "3"]],
)
def test_two_rules_at_once_are_refused(table: str, options: list[str]) -> None:
    found = CliRunner().invoke(main, ["select", table, "--target", "y", *options])
    assert found.exit_code == 2
    assert "does not go with" in found.output
