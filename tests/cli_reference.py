"""The page docs/cli.md, made from the commands themselves.

`python tests/cli_reference.py` writes it anew; a test compares it with the commands.
"""

from __future__ import annotations

from pathlib import Path

import click

from mainstay.cli import main

PAGE = Path(__file__).resolve().parents[1] / "docs" / "cli.md"
_START = """# Command line

<!-- made by `python tests/cli_reference.py` from the commands; do not edit -->

`mainstay COMMAND --help` prints the same in a terminal. [Start here](index.md) shows the commands
at work, [Your data](your_data.md) says which files they read.

| command | what it does |
|---|---|
"""
_EVERYWHERE = """
`python -m mainstay` is the same program. Results go to standard output; notes, warnings, errors and
progress go to standard error.

## Settings in a file

`--config settings.toml` reads options from a file; those on the command line win. A report's page
shows such a file under "How to repeat it".

```toml
target = "outcome"
ranker = ["mrmr"]
n-features = "20"
```

## Exit codes and shell completion

"""


def page() -> str:
    """The whole page: one section per command."""
    context = click.Context(main, info_name="mainstay")
    commands = [(name, main.commands[name]) for name in main.list_commands(context)]
    rows = [
        f"| [`mainstay {name}`](#mainstay-{name}) | {command.get_short_help_str(200)} |\n"
        for name, command in commands
    ]
    sections = [_section(name, command, context) for name, command in commands]
    return _START + "".join(rows) + _EVERYWHERE + f"{_text(main.epilog)}\n" + "".join(sections)


def _section(name: str, command: click.Command, parent: click.Context) -> str:
    context = click.Context(command, info_name=name, parent=parent)
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    lines = [f"\n## mainstay {name}\n", f"```text\n{usage}\n```\n", f"{_text(command.help)}\n"]
    lines += ["| option | meaning |", "|---|---|"]
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if isinstance(parameter, click.Option) and record is not None:
            option, meaning = record
            lines.append(f"| `{_cell(option)}` | {_cell(_text(meaning))} |")
    return "\n".join(lines) + "\n"


def _text(text: str | None) -> str:
    """Help text as Markdown: what click keeps unwrapped is a block, <x> and * are no markup."""
    paragraphs = []
    for paragraph in (text or "").replace("\r\n", "\n").split("\n\n"):
        if paragraph.lstrip().startswith("\b"):
            paragraphs.append(f"```text\n{paragraph.strip().strip(chr(8)).strip(chr(10))}\n```")
        else:
            one_line = " ".join(paragraph.split())
            paragraphs.append(one_line.replace("<", "\\<").replace("*", "\\*"))
    return "\n\n".join(paragraphs)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print("written:", PAGE.relative_to(PAGE.parents[1]))
