"""Two results compared: what entered, what left, and which differences are within noise."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import mainstay as ms
from hostile import hostile_runs
from mainstay.cli import main
from mainstay.report.differing import render_difference


def result_of(support: np.ndarray, k: int = 2) -> ms.SelectionResult:
    names = [f"x{j}" for j in range(support.shape[1])]
    return ms.SelectionResult.from_runs(
        ms.Runs.from_support(support, names), n_features_to_select=k
    )


def chosen(*counts: int, n_runs: int = 50) -> np.ndarray:
    """Selections in which feature j was chosen in so many runs."""
    return np.arange(n_runs)[:, None] < np.array(counts)


def test_what_entered_left_and_stayed() -> None:
    change = result_of(chosen(50, 40, 5, 5)).compared_with(result_of(chosen(50, 5, 40, 5)))
    assert (change.entered, change.left, change.stayed) == (("x2",), ("x1",), ("x0",))
    assert change.statement == "1 feature entered, 1 left, 1 stayed."
    assert change.table["beyond_noise"].tolist() == [True, True, False]
    assert "More than the number of runs leaves open: 'x2', 'x1'." in change.summary()


def test_small_changes_are_within_noise_and_it_says_so() -> None:
    change = result_of(chosen(50, 26, 24, 5)).compared_with(result_of(chosen(50, 24, 26, 5)))
    assert change.entered == ("x2",)
    assert not change.table["beyond_noise"].any()
    assert "Within the noise of the runs, so that another seed could undo it" in change.summary()


def test_the_interval_is_newcombes() -> None:
    """Newcombe (1998), method 10: 56/70 against 48/80 gives 0.0524 to 0.3339 at 95%."""
    one = ms.Runs.from_support(chosen(48, 80, n_runs=80), ["a", "b"])
    other = ms.Runs.from_support(chosen(56, 70, n_runs=70), ["a", "b"])
    before, after = (
        ms.SelectionResult.from_runs(runs, n_features_to_select=2) for runs in (one, other)
    )
    from mainstay.ensemble.difference import difference_of

    # two features: 95% for one of them is 90% for both together
    row = difference_of(before, after, confidence=0.9).table.set_index("feature").loc["a"]
    assert row["lower"] == pytest.approx(0.0524, abs=5e-5)
    assert row["upper"] == pytest.approx(0.3339, abs=5e-5)


def test_two_seeds_of_one_procedure_differ_beyond_noise_in_few_cases() -> None:
    """At most 5% of pairs may have any such feature: with 200 pairs, three standard errors more."""
    rng = np.random.default_rng(0)
    share = rng.uniform(0.1, 0.9, size=30)
    wrong = 0
    for _ in range(200):
        one, other = (result_of(rng.random((50, 30)) < share, k=5) for _ in range(2))
        wrong += bool(one.compared_with(other).table["beyond_noise"].any())
    assert wrong <= 200 * (0.05 + 3 * math.sqrt(0.05 * 0.95 / 200))


def test_equal_lists_are_called_equal() -> None:
    one = result_of(chosen(50, 40, 5, 5))
    change = one.compared_with(one)
    assert change.statement == "Both lists hold the same 2 features."
    assert "0.00 ±" in change.summary().replace("+", "").replace("-", "")
    assert len(change.settings) == 0


def test_a_feature_that_one_side_does_not_know_is_said_to_be_missing(tmp_path: Path) -> None:
    runs = ms.Runs.from_support(chosen(50, 40), ["x0", "new"])
    other = ms.SelectionResult.from_runs(runs, n_features_to_select=2)
    change = result_of(chosen(50, 40, 5)).compared_with(other)
    assert change.entered == ("new",)
    assert math.isnan(change.table.set_index("feature").loc["new", "difference"])
    assert "not there" in render_difference(change)


def test_other_numbers_of_features_per_run_are_named_as_a_cause() -> None:
    change = result_of(chosen(50, 10, 5)).compared_with(result_of(chosen(50, 50, 5)))
    assert "that alone changes frequencies" in change.summary()


@pytest.fixture
def archives(tmp_path: Path) -> tuple[str, str]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 8))
    y = (X[:, 0] > 0).astype(int)
    paths = (str(tmp_path / "a.zip"), str(tmp_path / "b.zip"))
    for path, ranker in zip(paths, ("f_statistic", "mrmr"), strict=True):
        selector = ms.EnsembleSelector(
            ranker, n_features_to_select=3, n_resamples=20, random_state=0
        )
        selector.fit(X, y).result().save(path)
    return paths


def test_report_of_two_files_compares_them(archives: tuple[str, str], tmp_path: Path) -> None:
    page = tmp_path / "change.html"
    found = CliRunner().invoke(main, ["report", *archives, "-o", str(page), "--title", "A <b>"])
    assert found.exit_code == 0, found.output
    assert "stayed." in found.output or "same 3 features" in found.output
    assert "Both saw the same data." in found.output
    text = page.read_text("utf-8")
    assert "A &lt;b&gt;" in text
    assert "&#39;mrmr&#39;" in text
    assert "a.zip" in text


def test_hostile_names_stay_text_here_too() -> None:
    result = ms.SelectionResult.from_runs(hostile_runs())
    page = render_difference(result.compared_with(result, names=("<script>", "b")))
    assert "<script>alert" not in page
    assert page.count("<script>") == 1  # the page's own
