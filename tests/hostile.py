"""Feature names that would break a careless page, spreadsheet or archive."""

from __future__ import annotations

import numpy as np

import mainstay as ms

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "<!--",
    "]]>",
    "{{ 7 * 7 }}",
    "${alert(1)}",
    "&lt;b&gt;",
    "it's \"quoted\"",
    "javascript:alert(1)",
    '=HYPERLINK("http://example.org")',
    "+1",
    "-1",
    "@SUM(A1)",
    "\tTab",
    "\rReturn",
    "line\nbreak",
    "comma, semicolon; quote\"",
    "a",
    " a",
    "a ",
    " ",
    "__proto__",
    "constructor",
    "toString",
    "שלום עולם",
    "\u202egnp.exe",
    "日本語の遺伝子名",
    "🧬" * 30,
    "é",
    "e\u0301",
    "\u2028\u2029",
    "x" * 5000,
    "x" * 5000 + "y",
]  # fmt: skip


def hostile_runs(kind: str = "scores") -> ms.Runs:
    """Runs over these names."""
    rng = np.random.default_rng(0)
    scores = np.linspace(3, 0, len(HOSTILE)) + rng.normal(size=(12, len(HOSTILE)))
    runs = ms.Runs.from_scores(scores, HOSTILE)
    return runs if kind == "scores" else runs.top(5)
