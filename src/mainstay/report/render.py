"""From a summary to one HTML page that needs nothing but itself."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mainstay._validation import InputError
from mainstay.report.repeat import as_python
from mainstay.report.summarise import summarise
from mainstay.report.verdict import EXCELLENT, POOR, make_verdict
from mainstay.results import SelectionResult, check_result

if TYPE_CHECKING:
    from mainstay.forecast import Forecast

_SCRIPTS = ("draw.js", "detail.js", "table.js", "charts.js", "compare.js", "page.js")
_IN_NOTEBOOK = 200  # features


def write_report(
    result: Any,
    path: str | Path,
    *,
    forecast: Forecast | None = None,
    comparison: Any = None,
    title: str | None = None,
) -> None:
    """Write a result as one HTML page: a verdict in plain words, the features, charts, settings.

    The page loads nothing from anywhere and sends nothing; it can be mailed, archived and printed.
    It lists the 2,000 best features; the result has them all. Of every feature's ranks it holds
    five quantiles and a histogram. In the CSV that it offers, a name that a spreadsheet would take
    for a formula (it starts with =, +, -, @, a tab or a line break) gets an apostrophe in front.

    Parameters
    ----------
    result : EnsembleSelector, SelectionResult or Runs
        A fitted selector, its `result()` (or a reopened one), or runs made elsewhere.
    path : str or Path
        The .html file.
    forecast : Forecast, optional
        From `selector.forecast()` or `ms.forecast_stability`; that of the result if not given.
    comparison : Comparison, optional
        From `ms.compare_selectors`; that of the result if not given.
    title : str, optional
        Heading of the page.

    Examples
    --------
    >>> import tempfile, mainstay as ms
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = ms.EnsembleSelector(n_features_to_select=2, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ms.write_report(selector, f"{folder}/report.html", forecast=selector.forecast())
    """
    path = Path(path)
    if path.suffix not in (".html", ".htm"):
        raise InputError(f"a report is an .html file, got {str(path)!r}.")
    found = check_result(result)
    if forecast is not None:
        found = replace(found, forecast=forecast)
    if comparison is not None:
        found = replace(found, comparison=comparison)
    path.write_text(render(summarise(found, title=title)), encoding="utf-8", newline="\n")


def notebook_html(result: SelectionResult) -> str:
    """The page in a frame of its own, so that neither it nor the notebook styles the other."""
    page = html.escape(render(summarise(result, most_features=_IN_NOTEBOOK)))
    return (
        f'<iframe srcdoc="{page}" sandbox="allow-scripts allow-downloads" title="mainstay report" '
        'style="width:100%;height:640px;border:1px solid #8884;border-radius:8px"></iframe>'
    )


def render(summary: dict[str, Any]) -> str:
    """Fill the template. Text is escaped by the template, data by `_embedded`."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    templates = files("mainstay.report") / "templates"
    read = {name: (templates / name).read_text("utf-8") for name in (*_SCRIPTS, "style.css")}
    script = '"use strict";\n(() => {\n' + "\n".join(read[name] for name in _SCRIPTS) + "})();\n"
    environment = Environment(
        loader=PackageLoader("mainstay.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["as_python"] = as_python
    shown = ("n_runs", "chance", "features", "forecast", "comparison")
    return environment.get_template("report.html.j2").render(
        **summary,
        verdict=make_verdict(summary),
        bands={"poor": POOR, "excellent": EXCELLENT},
        style=read["style.css"],
        script=script,
        script_hash=_source_hash(script),
        data=_embedded({key: summary.get(key) for key in shown}),
    )


def _source_hash(script: str) -> str:
    """Hash for the page's security policy: no other script can run in it."""
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"


def _embedded(data: dict[str, Any]) -> str:
    """JSON that can stand in a script element: nothing in it can end the element."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    return re.sub("[<>&\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text)
