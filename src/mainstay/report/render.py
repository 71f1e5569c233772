"""From a summary to one HTML page that needs nothing but itself."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

from mainstay._validation import InputError
from mainstay._writing import replacing
from mainstay.report.charts import in_per_cent, short
from mainstay.report.repeat import as_python
from mainstay.report.summarise import EXCELLENT, POOR, summarise
from mainstay.report.verdict import make_verdict
from mainstay.report.words import decimals

_SCRIPTS = ("draw.js", "detail.js", "table.js", "charts.js", "page.js")
_IN_NOTEBOOK = 200  # features
_ON_PAPER = 100  # selected features of the table that needs no script


def write_page(result: Any, path: str | Path, *, title: str | None = None) -> None:
    """Write a result as one HTML page."""
    write_html(render(summarise(result, title=title)), path)


def write_html(page: str, path: str | Path) -> None:
    """Write a page whole or not at all."""
    path = Path(path)
    if path.suffix not in (".html", ".htm"):
        raise InputError(f"a report is an .html file, got {str(path)!r}.")
    with replacing(path) as part:
        part.write_text(page, encoding="utf-8", newline="\n")


def notebook_html(result: Any) -> str:
    """Return the page in a frame, so that its style and that of the notebook stay apart."""
    page = html.escape(render(summarise(result, most_features=_IN_NOTEBOOK)))
    return (
        f'<iframe srcdoc="{page}" sandbox="allow-scripts allow-downloads" title="mainstay report" '
        'style="width:100%;height:640px;border:1px solid #8884;border-radius:8px"></iframe>'
    )


def render(summary: dict[str, Any]) -> str:
    """Fill the template. Text is escaped by the template, data by `_embedded`."""
    shown = ("n_runs", "features", "columns")
    chosen = [i for i, selected in enumerate(summary["features"]["selected"]) if selected]
    return fill(
        "report.html.j2",
        _SCRIPTS,
        **summary,
        start="features",
        verdict=make_verdict(summary),
        bands={"poor": POOR, "excellent": EXCELLENT},
        static_rows=sorted({*chosen[:_ON_PAPER], *range(min(20, summary["n_listed"]))}),
        data=_embedded({key: summary[key] for key in shown}),
    )


def fill(template: str, scripts: tuple[str, ...], **values: Any) -> str:
    """Fill one of the page's templates, with its style and scripts inside."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    templates = files("mainstay.report") / "templates"
    script = '"use strict";\n(() => {\n' + "\n".join(
        (templates / name).read_text("utf-8") for name in scripts) + "})();\n"  # fmt: skip
    environment = Environment(
        loader=PackageLoader("mainstay.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "as_python": as_python, "decimals": decimals, "in_per_cent": in_per_cent, "short": short,
    }  # fmt: skip
    return environment.get_template(template).render(
        style=(templates / "style.css").read_text("utf-8"),
        script=script,
        script_hash=_source_hash(script),
        **values,
    )


def _source_hash(script: str) -> str:
    """Hash for the page's security policy: no other script can run in it."""
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"


def _embedded(data: dict[str, Any]) -> str:
    """JSON that can stand in a script element: nothing in it can end the element."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    return re.sub("[<>&\ud800-\udfff]", lambda match: f"\\u{ord(match[0]):04x}", text)
