"""Tables of benchmarks in Markdown, and their places in the pages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path


def table(header: list[str], body: list[list[str]]) -> str:
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def filled(page: str, blocks: Mapping[str, str]) -> str:
    """Replace what stands between the marks of every block."""
    for name, content in blocks.items():
        mark = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
        if not mark.search(page):
            raise ValueError(f"the page has no place for {name!r}: <!-- {name} --> is missing.")
        page = mark.sub(lambda found, text=content: f"{found[1]}{text}\n{found[2]}", page)
    return page


def fill(path: Path, blocks: Mapping[str, str]) -> None:
    """Rewrite the blocks of a page."""
    path.write_text(filled(path.read_text(encoding="utf-8"), blocks), encoding="utf-8")
