"""One self-contained HTML page of a result: summarise (numbers) → verdict (words) → render."""

from mainstay.report.methods import methods_text
from mainstay.report.render import notebook_html, write_page

__all__ = ["methods_text", "notebook_html", "write_page"]
