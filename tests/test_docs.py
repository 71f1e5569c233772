"""What README and docstrings say is what happens."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import mainstay
import mainstay as ms
from conftest import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
MODULES = [
    info.name
    for info in pkgutil.walk_packages(mainstay.__path__, "mainstay.")
    if not info.name.startswith("mainstay._kernels")
]


@pytest.mark.parametrize("name", MODULES)
def test_doctests(name: str) -> None:
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    assert doctest.testmod(importlib.import_module(name), optionflags=flags).failed == 0


def test_every_public_name_has_an_example_or_is_a_result() -> None:
    results = {"Forecast", "InputError", "Plan", "Ranking", "SelectionScores",
               "StabilityComparison", "StabilityEstimate", "StabilityTest"}  # fmt: skip
    for name in set(ms.__all__) - results - {"__version__"}:
        assert ">>> " in getattr(ms, name).__doc__, name


def test_python_of_the_readme_runs_and_prints_what_its_comments_say(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    space: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL):
        exec(block, space)
        printed = capsys.readouterr().out.splitlines()
        promised = re.findall(r"print\(.*\)  # (.*)", block)
        for line, start in zip(printed, promised, strict=False):
            assert line.startswith(start.split("...")[0].strip()), (line, start)


def test_table_of_measures_in_the_readme_is_the_registry() -> None:
    (table,) = re.findall(r"<!-- measures -->\n(.*?)<!-- /measures -->", README, flags=re.DOTALL)
    assert table == measures_table()


def measures_table() -> str:
    """The README's table, from `list_measures()`."""
    properties = [
        "limits", "monotonicity", "correction_for_chance", "unconstrained_cardinality", "symmetry",
        "redundancy_awareness",
    ]  # fmt: skip
    kinds = {"set": "selections", "similarity": "selections with similar features",
             "ranking": "rankings", "scores": "scores"}  # fmt: skip
    lines = ["| measure | of | bounds | 1 | 2 | 3 | 4 | 5 | 6 | reference |", "|---" * 10 + "|"]
    for row in ms.list_measures().to_dict("records"):
        bounds = f"{row['lower']:g} to {row['upper']:g}".replace("inf", "∞").replace("-", "−")
        ticks = " | ".join({True: "✓", False: ""}.get(row[name], "–") for name in properties)
        lines.append(
            f"| `{row['name']}` | {kinds[row['kind']]} | {bounds} | {ticks} | {row['reference']} |"
        )
    return "\n".join(lines) + "\n"


def test_ci_runs_exactly_the_commands_of_the_readme() -> None:
    commands = re.findall(r"^python3 -m venv .*$", README, flags=re.MULTILINE)
    script = (ROOT / ".ci" / "run").read_text().splitlines()
    assert len(commands) == 2
    for command in commands:
        assert command in script
