"""The methods paragraph says what was done, and cites whoever it came from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.feature_selection import SelectKBest
from sklearn.tree import DecisionTreeClassifier

import mainstay as ms
from mainstay.aggregation import AGGREGATIONS
from mainstay.cli import main
from mainstay.measures import MEASURES
from mainstay.rankers import RANKERS
from mainstay.report.references import REFERENCES

RNG = np.random.default_rng(0)
Y = np.repeat([0, 1], 30)
X = RNG.normal(size=(60, 8)) + 2 * Y[:, None] * (np.arange(8) < 2)


def text_of(ranker: object = "mrmr", **options: object) -> str:
    settings = {"n_features_to_select": 2, "n_resamples": 10, "random_state": 7} | options
    return ms.EnsembleSelector(ranker, **settings).fit(X, Y).result().methods_text()


@pytest.mark.parametrize("registry", [AGGREGATIONS, MEASURES, RANKERS],
                         ids=["aggregations", "measures", "rankers"])  # fmt: skip
def test_every_member_of_a_registry_has_full_citations(registry: dict) -> None:
    for name, entry in registry.items():
        assert entry.reference, name
        for key in entry.reference.split("; "):
            year = key.rpartition(" ")[2]
            assert f"({year})" in REFERENCES[key], (name, key)


def test_references_begin_with_the_first_author_of_their_short_name() -> None:
    for key, full in REFERENCES.items():
        author = key.partition(" ")[0].rstrip(",")
        assert full.startswith(author), key
        assert full.endswith("."), key


def test_settings_versions_and_seed_are_in_the_paragraph() -> None:
    paragraph, _, references = text_of().partition("\n\nReferences\n")
    assert f"mainstay {ms.__version__}" in paragraph
    assert "8 features were ranked by mrmr (Peng et al. 2005) on 10 bootstrap samples" in paragraph
    assert "of 60 rows" in paragraph
    assert "best 2 features were selected" in paragraph
    assert "The random seed was 7." in paragraph
    assert "Peng, H., Long, F. and Ding, C. (2005)." in references
    assert "On the stability of feature selection algorithms" in references
    assert "\n" not in paragraph


def test_what_was_not_done_is_not_described() -> None:
    text = text_of()
    for word in ("permutations", "two independent studies", "forecast", "compared", "Onda"):
        assert word not in text


def test_another_ranker_rule_and_aggregation_bring_other_references() -> None:
    text = text_of("l1_path", aggregation="rra", resampling="half")
    assert "Tibshirani, R. (1996)" in text
    assert "Kolde, R." in text
    assert "random halves" in text
    assert "Peng" not in text
    by_error = text_of("f_statistic", n_features_to_select="fdr<=0.1", n_permutations=30)
    assert "selected by fdr<=0.1" in by_error
    assert "Westfall, P. H." in by_error
    often = text_of(n_features_to_select="frequency>=0.8")
    assert "selected in at least 80% of the runs" in often
    tree = text_of(DecisionTreeClassifier())
    assert "ranked by DecisionTreeClassifier (Pedregosa et al. 2011)" in tree


def test_everything_that_was_computed_is_described() -> None:
    selector = ms.EnsembleSelector(n_features_to_select=2, n_resamples=20, random_state=0)
    selector.fit(X, Y)
    studies = ms.replicability(selector, X, Y, n_pairs=5, n_splits=5, random_state=0)
    evidence = ms.feature_evidence(selector, X, Y, n_permutations=20, n_resamples=5, random_state=0)
    result = selector.result(
        replicability=studies, evidence=evidence, forecast=selector.forecast(random_state=0)
    )
    text = result.methods_text()
    assert "20 permutations of rows" in text
    assert f"two independent studies of {studies.n_rows} rows each" in text
    assert f"{float(studies):.2f} (measure nogueira" in text
    assert "forecast from 20 runs" in text
    for key in ("Storey and Tibshirani 2003", "Shah and Samworth 2013", "Kalousis et al. 2007"):
        assert REFERENCES[key] in text


TWO = ["information_gain", "f_statistic"]


def test_of_several_rankers_both_rules_are_named_and_cited() -> None:
    text = text_of(TWO, aggregation="l2_norm", ranker_aggregation="stuart")
    assert (
        "The runs of every ranker were combined by the rule 'l2_norm' (Salman et al. 2022) and the "
        "rankings of the rankers by the rule 'stuart' (Stuart et al. 2003), and the best 2 features"
    ) in text
    assert "weight" not in text
    for key in ("Salman et al. 2022", "Stuart et al. 2003"):
        assert REFERENCES[key] in text


def test_weights_of_rankers_are_named() -> None:
    text = text_of(TWO, ranker_weights=[2, 0.5])
    assert (
        "the rankings of the rankers by the rule 'rank_mean' (Borda 1781; Saeys et al. 2008) with "
        "the weights 2 (information_gain) and 0.5 (f_statistic), and the best 2 features"
    ) in text


def test_rankers_whose_runs_were_combined_by_different_rules_have_their_own() -> None:
    text = text_of(["f_statistic", SelectKBest(k=2), "information_gain"])
    assert (
        "The runs of f_statistic and information_gain were combined by the rule 'mean' (Salman et "
        "al. 2022), those of SelectKBest by the rule 'frequency' (Meinshausen and Bühlmann 2010) "
        "and the rankings of the rankers by the rule 'rank_mean'"
    ) in text


def test_one_ranker_in_a_list_has_one_rule() -> None:
    assert "The runs were combined by the rule 'l2_norm'" in text_of(
        ["f_statistic"], aggregation="l2_norm"
    )


def test_rules_of_ones_own_are_called_by_their_names() -> None:
    def best(scores: np.ndarray) -> np.ndarray:
        return scores.max(axis=0)

    def surest(ranks: np.ndarray) -> np.ndarray:
        return -ranks.max(axis=0)

    text = text_of(TWO, aggregation=best, ranker_aggregation=surest)
    assert "by the rule 'best' and the rankings of the rankers by the rule 'surest', and" in text


def test_weights_stay_with_their_rankers_where_two_have_one_name() -> None:
    rankers = [DecisionTreeClassifier(), DecisionTreeClassifier(max_depth=1), "f_statistic"]
    result = (
        ms.EnsembleSelector(rankers, n_resamples=3, ranker_weights=[1, 2, 5]).fit(X, Y).result()
    )
    before = dict(result.settings)
    del before["aggregations"]  # as in results that were saved by an earlier version
    weights = (
        "the weights 1 (DecisionTreeClassifier), 2 (DecisionTreeClassifier') and 5 (f_statistic)"
    )
    assert weights in result.methods_text()
    assert weights in replace(result, settings=before).methods_text()


def test_a_result_of_several_rankers_that_was_saved_before_has_its_rules() -> None:
    result = ms.EnsembleSelector(TWO, n_resamples=5, aggregation="median").fit(X, Y).result()
    settings = dict(result.settings)
    del settings["aggregations"], settings["parameters"]["ranker_aggregation"]
    text = replace(result, settings=settings).methods_text()
    assert "runs of every ranker were combined by the rule 'median' (Lin 2010) and the" in text
    assert "rankers by the rule 'rank_mean'" in text


def test_runs_made_elsewhere_are_called_that() -> None:
    runs = ms.Runs.from_sets([["a", "b"], ["a", "c"], ["a"]], features=list("abcd"))
    text = ms.SelectionResult.from_runs(runs).methods_text()
    assert "3 runs over 4 features, which were made elsewhere" in text
    assert "seed" not in text


@pytest.mark.parametrize("ranker", ["information_gain", TWO, [*TWO, SelectKBest(k=2)]])
def test_the_command_prints_the_text_of_a_saved_result_and_writes_no_page(
    ranker: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = ms.EnsembleSelector(ranker, n_resamples=5, random_state=0).fit(X, Y).result()
    result.save("result.zip")
    printed = CliRunner().invoke(main, ["report", "result.zip", "--methods"])
    assert printed.exit_code == 0, printed.output
    assert printed.stdout == result.methods_text() + "\n"
    assert not Path("report.html").exists()
