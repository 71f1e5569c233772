"""The reference of the command line is made from the commands, and lists all of them."""

from __future__ import annotations

import click
import pytest

from cli_reference import PAGE, page
from mainstay.cli import main


def test_the_page_is_what_the_commands_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python tests/cli_reference.py"


@pytest.mark.parametrize("name", main.commands)
def test_every_option_of_a_command_is_in_its_section(name: str) -> None:
    _, _, rest = page().partition(f"\n## mainstay {name}\n")
    section, _, _ = rest.partition("\n## ")
    for parameter in main.commands[name].params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            assert all(option in section for option in parameter.opts), parameter.opts
            assert parameter.help
