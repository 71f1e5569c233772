"""axe-core finds nothing to object to: light, dark, on a phone, on paper, without scripts."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from sklearn.datasets import load_breast_cancer

import mainstay as ms

Open = Callable[..., Any]
VIEWS: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "phone": {"viewport": {"width": 400, "height": 800}},
    "paper": {"viewport": {"width": 720, "height": 1000}},
}


@pytest.fixture(scope="module")
def axe() -> str:
    pytest.importorskip("axe_playwright_python", reason="axe-core comes with mainstay[browser]")
    return (files("axe_playwright_python") / "axe.min.js").read_text("utf-8")


@pytest.fixture(scope="module")
def everything() -> ms.SelectionResult:
    """A result with every section that a page can have."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X, y = X.iloc[::3, :12], y.iloc[::3]
    selector = ms.EnsembleSelector(
        "f_statistic", n_features_to_select=3, n_resamples=20, random_state=0
    ).fit(X, y)
    return selector.result(
        forecast=selector.forecast(ensemble_sizes=[1, 5, 20], random_state=0),
        evidence=ms.feature_evidence(selector, X, y, n_permutations=20, random_state=0),
        replicability=ms.replicability(selector, X, y, random_state=0),
        comparison=ms.compare_selectors(
            "f_statistic", X, y, sizes=[2, 4], n_resamples=5, random_state=0
        ),
        source={"file": "cells.csv", "target": "benign"},
    )


def violations(page: Any, axe: str) -> list[str]:
    page.evaluate(axe)
    found = page.evaluate("axe.run()")["violations"]
    return [f"{one['id']}: {node['html']}" for one in found for node in one["nodes"]]


@pytest.mark.parametrize("view", VIEWS)
def test_nobody_is_shut_out(
    open_page: Open, everything: ms.SelectionResult, axe: str, view: str
) -> None:
    page = open_page(everything, **VIEWS[view])
    if view == "paper":
        page.emulate_media(media="print")
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    assert page.locator("section:visible").count() == 8
    assert violations(page, axe) == []


def test_nor_by_the_page_of_two_results(
    browser: Any, everything: ms.SelectionResult, axe: str, tmp_path: Path
) -> None:
    everything.compared_with(everything).write_report(tmp_path / "two.html")
    for view in VIEWS.values():
        context = browser.new_context(**view)
        page = context.new_page()
        page.goto((tmp_path / "two.html").as_uri())
        assert violations(page, axe) == []
        context.close()


def test_without_scripts_table_verdict_and_pictures_are_there(
    open_page: Open, everything: ms.SelectionResult
) -> None:
    page = open_page(everything, java_script_enabled=False)
    shown = page.locator("#features table:visible")
    assert shown.locator("tbody tr").count() == 12
    for name in everything.selected:
        assert name in shown.inner_text()
    assert page.locator(".headline").is_visible()
    assert page.locator("#strips [role=option]:visible").count() == 12
    assert page.locator("#overview circle.filled").count() == 3
    assert page.locator("#forecast-plot circle").count() == 3
    assert page.locator("#comparison-plot circle.filled").count() >= 1
    for tool in ("#search", "#download", "#next", "#how-many"):
        assert not page.locator(tool).is_visible()


def test_every_column_is_explained_where_it_stands(
    open_page: Open, everything: ms.SelectionResult
) -> None:
    page = open_page(everything)
    for head in page.locator("#table th button").all():
        assert head.get_attribute("title") in everything.columns.values()
    page.get_by_text("What the columns mean").click()
    for name, text in everything.columns.items():
        meaning = page.locator(".meanings div", has_text=text).first
        assert meaning.locator("dt").inner_text() == name


def test_the_page_says_which_file_and_which_target(
    open_page: Open, everything: ms.SelectionResult
) -> None:
    about = open_page(everything).locator(".about").inner_text()
    assert about == "cells.csv, target benign, 190 rows × 12 features"


def test_the_chart_of_the_comparison_has_names_bars_and_titles(
    open_page: Open, everything: ms.SelectionResult
) -> None:
    chart = open_page(everything).locator("#comparison-plot")
    comparison = everything.comparison
    assert chart.locator(".x-title").inner_text() == "Stability (sma_count)"
    assert chart.locator(".y-title").inner_text().lower() == comparison.settings["scoring"]
    names = chart.locator(".mark-name").all_text_contents()
    assert comparison.recommended in names
    assert set(names) <= set(comparison.front["candidate"])
    assert chart.locator("line.error").count() >= 2


def test_on_paper_pages_have_margins(
    open_page: Open, everything: ms.SelectionResult, tmp_path: Path
) -> None:
    page = open_page(everything)
    written = tmp_path / "page.pdf"
    page.pdf(path=str(written), prefer_css_page_size=True)
    assert written.stat().st_size > 10_000
    assert "@page { margin: 16mm" in page.content()
