"""Without Dask, --scheduler says what to install."""

from __future__ import annotations

import sys

import pytest
from click.testing import CliRunner

from mainstay.cli import main


@pytest.mark.parametrize("command", sorted(main.commands))
def test_every_command_with_cores_takes_a_scheduler(command: str) -> None:
    options = {option for param in main.commands[command].params for option in param.opts}
    assert ("--jobs" in options) == ("--scheduler" in options)


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    result = CliRunner().invoke(main, ["demo", "--scheduler", "tcp://127.0.0.1:8786"])
    assert result.exit_code == 2
    assert result.stderr == (
        "Error: a Dask scheduler needs the package distributed: pip install 'mainstay[dask]'.\n"
    )
