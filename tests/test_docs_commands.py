"""The commands that README and documentation show are commands that work."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import mainstay as ms
from conftest import ROOT
from mainstay.cli import main
from pages import pages

BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)


def commands_of(page: Path) -> list[str]:
    """The lines of a page's shell blocks that call mainstay, without remarks."""
    blocks = "".join(BLOCK.findall(page.read_text("utf-8")))
    lines = re.sub(r" *\\\n *", " ", blocks).splitlines()
    return [line.partition(" # ")[0] for line in lines if line.startswith("mainstay ")]


PAGES = [page for page in (ROOT / "README.md", *pages()) if commands_of(page)]
QUICK = {
    "compare": {"--resamples": "3", "--ranker": "f_statistic"},
    "forecast": {"--runs": "30"},
    "network": {"--resamples": "3"},
    "replicate": {"--pairs": "5", "--splits": "5", "--ensemble-size": "3"},
    "select": {"--resamples": "5"},
}


def quicker(words: list[str]) -> list[str]:
    """A command with smaller numbers."""
    for option, value in QUICK.get(words[0], {}).items():
        if option in words:
            place = words.index(option)
            if words[place + 1] == "auto":
                continue
            words = [*words[:place], *words[place + 2 :]]
        words = [*words, option, value]
    return words


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files that the commands name."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(60, 40))).add_prefix("g")
    data["g1"] = data["g0"] + 0.1 * rng.normal(size=60)
    data[["g0", "g1", "g2", "g3"]].to_csv("expression.csv", index=False)
    Path("tfs.txt").write_text("g0\ng2\n")
    data.assign(y=data["g0"] > 0).to_csv("data.csv", index=False)
    visits = {"patient": np.arange(60) // 2, "centre": np.repeat(["A", "B"], 30)}
    data.assign(y=data["g0"] > 0, **visits).to_csv("visits.csv", index=False)
    data.assign(diagnosis=data["g0"] > 0).to_csv("tumours.csv", index=False)
    ranks = ms.Runs.from_scores(rng.normal(size=(8, 40)), features=list(data.columns))
    ranks.to_frame().rank(axis=1, ascending=False).astype(int).to_csv("rankings.csv", index=False)
    ranks.save("rankings.parquet")
    ranks.top(5).to_frame().astype(int).to_csv("runs.csv", index=False)
    pairs = {"run": [0, 0, 1, 1, 2, 2], "feature": ["a", "b", "a", "c", "a", "b"]}
    pd.DataFrame(pairs).to_csv("pairs.csv", index=False)


@pytest.mark.usefixtures("files")
@pytest.mark.filterwarnings("always")
@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_the_commands_of_a_page_work_one_after_the_other(page: Path) -> None:
    for command in commands_of(page):
        words = shlex.split(command)[1:]
        # smaller than what people would run; the options of the page stay
        result = CliRunner().invoke(main, quicker(words))
        assert result.exit_code == 0, (command, result.output)
        assert result.stdout
