"""The reference of the command line is made from the commands, and lists all of them."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from cli_reference import PAGE, page
from mainstay.cli import main


def test_the_page_is_what_the_commands_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python tests/cli_reference.py"


@pytest.mark.parametrize("shell", re.findall(r"_COMPLETE=(\w+)_source", page()))
def test_the_completion_that_the_page_shows_is_there(shell: str) -> None:
    asked = CliRunner().invoke(
        main, prog_name="mainstay", env={"_MAINSTAY_COMPLETE": f"{shell}_source"}
    )
    assert asked.exit_code == 0
    assert "mainstay" in asked.stdout


def test_the_settings_that_the_page_shows_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (settings,) = re.findall(r"```toml\n(.*?)```", page(), flags=re.DOTALL)
    Path("settings.toml").write_text(settings.replace('"20"', '"2"'), encoding="utf-8")
    rows = [f"{i % 2},{(7 * i) % 11},{(5 * i) % 13},{i % 2 * 3}" for i in range(40)]
    Path("data.csv").write_text("\n".join(["outcome,a,b,c", *rows]) + "\n", encoding="utf-8")
    words = ["select", "data.csv", "--config", "settings.toml", "--resamples", "5"]
    asked = CliRunner().invoke(main, words)
    assert asked.exit_code == 0, asked.output
    assert "2 features selected" in asked.stdout


@pytest.mark.parametrize("name", main.commands)
def test_every_option_of_a_command_is_in_its_section(name: str) -> None:
    _, _, rest = page().partition(f"\n## mainstay {name}\n")
    section, _, _ = rest.partition("\n## ")
    for parameter in main.commands[name].params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            assert all(option in section for option in parameter.opts), parameter.opts
            assert parameter.help
