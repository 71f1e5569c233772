"""One self-contained HTML page of a result: summarise (numbers) → verdict (words) → render."""

from mainstay.report.differing import write_difference_page
from mainstay.report.methods import methods_text
from mainstay.report.render import notebook_html, write_page
from mainstay.report.verdict import Verdict, verdict_of

__all__ = [
    "Verdict",
    "methods_text",
    "notebook_html",
    "verdict_of",
    "write_difference_page",
    "write_page",
]
