"""A headless browser, and pages that must not complain, ask anything or load anything."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

import mainstay as ms

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def without_browser(reason: str) -> NoReturn:
    if os.environ.get("MAINSTAY_REQUIRE_BROWSER") == "1":
        pytest.fail(f"{reason}, and MAINSTAY_REQUIRE_BROWSER=1 asks for one")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        without_browser("no playwright: pip install 'mainstay[browser]'")
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        without_browser(f"no browser: none of {', '.join(names)} is installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Write a report and open it; afterwards check that nothing went wrong while it was open."""
    contexts, troubles = [], []

    def open_report(result: Any, *, forecast: Any = None, **context: Any) -> Any:
        path = tmp_path / "report.html"
        ms.write_report(result, path, forecast=forecast)
        contexts.append(browser.new_context(accept_downloads=True, **context))
        page = contexts[-1].new_page()
        page.on("console", lambda message: troubles.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (troubles.append("a dialog"), dialog.dismiss()))
        page.on("request", lambda request: request.url != path.as_uri()
                and not request.url.startswith("blob:")
                and troubles.append(f"request: {request.url}"))  # fmt: skip
        page.goto(path.as_uri())
        return page

    yield open_report
    for context in contexts:
        context.close()
    assert troubles == []
