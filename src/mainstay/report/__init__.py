"""One self-contained HTML page of a result: summarise (numbers) → verdict (words) → render."""

from mainstay.report.render import notebook_html, write_page

__all__ = ["notebook_html", "write_page"]
