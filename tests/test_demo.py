"""The demo: the whole tour, from data to a page that answers."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import mainstay as ms
from conftest import ROOT
from mainstay.cli import main
from mainstay.demo import run_demo
from pages import DEMO_PAGE, run_page

PICTURES = {
    "evidence",
    "null",
    "frequency",
    "ranks",
    "runs",
    "sizes",
    "twins",
    "replicability",
    "forecast",
    "comparison",
}


def demo(folder: Path, *options: object) -> Result:
    arguments = ["demo", "--output", folder, "--resamples", 6, "--jobs", 1, *options]
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def tour(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    folder = tmp_path_factory.mktemp("demo") / "new" / "folder"
    return folder, demo(folder)


def test_it_selects_measures_replicates_forecasts_compares_and_gives_a_verdict(
    tour: tuple[Path, Result],
) -> None:
    _, result = tour
    assert result.exit_code == 0, result.output
    parts = ["569 patients", "1 Select", "2 Measure", "nogueira", "sma_count", "3 Test",
             "permutations of rows", "4 Replicate", "Two independent studies of 284", "5 Forecast",
             "6 Compare", "random/5", "Recommended", "Verdict",
             "Two independent studies of 284", "report.html"]  # fmt: skip
    place = 0
    for part in parts:
        place = result.stdout.index(part, place)


def test_it_writes_a_report_pictures_and_a_result_that_can_be_reopened(
    tour: tuple[Path, Result],
) -> None:
    folder, result = tour
    found = {path.name for path in folder.iterdir()}
    assert found == {"report.html", "result.zip"} | {f"{name}.png" for name in PICTURES}
    page = (folder / "report.html").read_text("utf-8")
    reopened = ms.load_result(folder / "result.zip")
    for feature in reopened.selected:
        assert feature in page
        assert feature in result.stdout
    assert reopened.runs.n_runs == 6
    assert reopened.comparison.recommended in page
    assert reopened.forecast.protocol == "nested"
    assert reopened.evidence.n_permutations == 30
    assert reopened.replicability.ensemble_size == 6
    assert reopened.replicability.summary() in page
    assert reopened.replicability.gain.summary() in result.stdout


@pytest.mark.slow
def test_the_same_seed_gives_the_same_tour(tour: tuple[Path, Result], tmp_path: Path) -> None:
    folder, result = tour
    again = demo(tmp_path)
    there, here = str(folder / "report.html"), str(tmp_path / "report.html")
    assert again.stdout == result.stdout.replace(there, here)
    assert (tmp_path / "result.zip").read_bytes() == (folder / "result.zip").read_bytes()


def test_the_page_about_the_result_opens_what_the_demo_writes(
    tour: tuple[Path, Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _ = tour
    (folder.parent / "mainstay-demo").symlink_to(folder)
    monkeypatch.chdir(folder.parent)
    page = DEMO_PAGE.read_text(encoding="utf-8")
    run_page(page, lambda shown, printed: None)
    linked = set(re.findall(r'"mainstay-demo/([^"]+)"', page))
    assert linked == {path.name for path in folder.iterdir()}


@pytest.mark.slow
def test_the_readme_says_what_the_demo_finds_and_for_how_long_it_computes(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    start = time.process_time()
    run_demo(tmp_path, n_resamples=100, seed=0, n_jobs=1)
    computed = time.process_time() - start
    (said,) = re.findall(r"The\s+demo then computes for about (\d+) s", readme)
    assert computed < 2 * int(said)
    result = ms.load_result(tmp_path / "result.zip")
    studies, evidence = result.replicability, result.evidence
    for answer in (
        f"| To {float(result.stability):.2f} (",
        f"and to {float(result.adjusted_stability):.2f} where",
        f"studies of {studies.n_rows} tumours each would agree to {float(studies):.2f}, with an "
        f"interval from {studies.interval[0]:.2f} to {studies.interval[1]:.2f}; single forests "
        f"only to {float(studies.single):.2f}",
        f"among the {(evidence.q_values <= 0.1).sum()} features that can be named",
    ):
        assert answer in readme
    table = result.feature_table
    selected = table[table["selected"]]
    assert (selected["q_value"] <= 0.1).all()
    for row in selected.to_dict("records"):
        shares = f"{row['frequency']:.0%} | {row['group_frequency']:.0%}"
        assert f"| {row['feature']} | {shares} |" in readme
    most = table.loc[~table["selected"], "frequency"].max()
    assert f"selected by more than {most:.0%} of the runs" in readme
