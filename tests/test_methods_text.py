"""The methods paragraph says what was done, and cites whoever it came from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
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


def test_runs_made_elsewhere_are_called_that() -> None:
    runs = ms.Runs.from_sets([["a", "b"], ["a", "c"], ["a"]], features=list("abcd"))
    text = ms.SelectionResult.from_runs(runs).methods_text()
    assert "3 runs over 4 features, which were made elsewhere" in text
    assert "seed" not in text


def test_the_command_prints_the_text_of_a_saved_result_and_writes_no_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = ms.EnsembleSelector(n_resamples=5, random_state=0).fit(X, Y).result()
    result.save("result.zip")
    printed = CliRunner().invoke(main, ["report", "result.zip", "--methods"])
    assert printed.exit_code == 0, printed.output
    assert printed.stdout == result.methods_text() + "\n"
    assert not Path("report.html").exists()
