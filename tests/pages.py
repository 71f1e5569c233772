"""Pages of the documentation: run their code, compare what it prints with what they show.

In a page, a ```python block may be followed by a ```text block that holds what it prints. So may be
a remark `<!-- prints: mainstay … -->`: the command is run where the Python before left its files.
`python tests/pages.py` writes those blocks anew, of all pages or of those that are named
(`python tests/pages.py docs/index.md`); look at the difference before you commit it.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"
DEMO_PAGE = DOCS / "demo_result.md"  # its code needs what the demo wrote: see test_demo.py
_TEXT = r"\n```text\n(.*?)^```\n"
_BLOCK = re.compile(
    rf"^```python\n(.*?)^```\n(?:{_TEXT})?|^<!-- prints: (mainstay [^\n]*) -->\n{_TEXT}",
    re.MULTILINE | re.DOTALL,
)


def pages() -> list[Path]:
    """The pages that people wrote."""
    made = ("_build", "auto_examples", "generated")
    return [
        path
        for path in sorted(DOCS.rglob("*.md"))
        if path.relative_to(DOCS).parts[0] not in made and path != DEMO_PAGE
    ]


def run_page(
    text: str,
    visit: Callable[[str | None, str], None],
    visit_remark: Callable[[str, str], None] = lambda remark, printed: None,
) -> str:
    """Run all blocks of a page, its Python in one namespace; return it with what they print.

    `visit` gets, for every block, what the page shows (or None) and what was printed;
    `visit_remark` the remark behind a call of print, and what that call printed.
    """
    space: dict[str, object] = {"__name__": "page"}

    def run(match: re.Match[str]) -> str:
        if match[3] is not None:
            printed = run_command(match[3])
            visit(match[4], printed)
            return f"<!-- prints: {match[3]} -->\n\n```text\n{printed}```\n"
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


def run_command(command: str) -> str:
    """Run a command of mainstay on a terminal of 80 columns; return what it prints."""
    import pty
    import termios

    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (50, 80))
    words = [sys.executable, "-m", *shlex.split(command)]
    environment = {**os.environ, "TERM": "dumb", "COLUMNS": "80"}
    process = subprocess.Popen(words, stdout=theirs, stderr=subprocess.DEVNULL, env=environment)
    os.close(theirs)
    printed = b""
    with contextlib.suppress(OSError):  # Linux says EIO at the end
        while part := os.read(ours, 65536):
            printed += part
    os.close(ours)
    if process.wait():
        raise RuntimeError(f"{command}: exit code {process.returncode}")
    text = re.sub("\x1b\\[[0-9;]*m", "", printed.decode("utf-8").replace("\r\n", "\n"))
    return re.sub(r" +$", "", text, flags=re.MULTILINE)


def main(named: list[str]) -> None:
    paths = [Path(name).resolve() for name in named] or pages()
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        for path in paths:
            before = path.read_text(encoding="utf-8")
            after = run_page(before, lambda shown, printed: None)
            if after != before:
                path.write_text(after, encoding="utf-8")
                print("rewritten:", path.name)


if __name__ == "__main__":
    main(sys.argv[1:])
