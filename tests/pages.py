"""Pages of the documentation: run their Python, compare what it prints with what they show.

In a page, a ```python block may be followed by a ```text block that holds what it prints.
`python tests/pages.py` writes those blocks anew; look at the difference before you commit it.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"
_BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


def pages() -> list[Path]:
    """The pages that people wrote."""
    made = ("_build", "auto_examples", "generated")
    return [
        path for path in sorted(DOCS.rglob("*.md")) if path.relative_to(DOCS).parts[0] not in made
    ]


def run_page(
    text: str,
    visit: Callable[[str | None, str], None],
    visit_remark: Callable[[str, str], None] = lambda remark, printed: None,
) -> str:
    """Run all blocks of a page in one namespace; return the page with what they really print.

    `visit` gets, for every block, what the page shows (or None) and what was printed;
    `visit_remark` the remark behind a call of print, and what that call printed.
    """
    space: dict[str, object] = {"__name__": "page"}

    def run(match: re.Match[str]) -> str:
        code, shown = match[1], match[2]
        lines, printed = code.splitlines(), ""
        for statement in ast.parse(code).body:
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(ast.Module([statement], []), "page", "exec"), space)
            printed += out.getvalue()
            last = lines[statement.end_lineno - 1].encode()[statement.end_col_offset :].decode()
            if last.startswith("  # ") and ast.unparse(statement).startswith("print("):
                visit_remark(last.removeprefix("  # "), out.getvalue())
        visit(shown, printed)
        block = f"```python\n{code}```\n"
        return block if shown is None else f"{block}\n```text\n{printed}```\n"

    return _BLOCK.sub(run, text)


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        for path in pages():
            before = path.read_text(encoding="utf-8")
            after = run_page(before, lambda shown, printed: None)
            if after != before:
                path.write_text(after, encoding="utf-8")
                print("rewritten:", path.relative_to(DOCS))


if __name__ == "__main__":
    main()
