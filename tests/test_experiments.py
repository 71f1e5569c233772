"""The scripts of the papers run, and say what they cost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAPERS = ("bommert2020", "huynhthu2021", "nogueira2015", "onda2021", "salman2022")
DATA = Path(os.environ.get("MAINSTAY_SHARED", ROOT.parent / "shared")) / "data"


def run(paper: str, *options: str) -> str:
    script = ROOT / "experiments" / f"{paper}.py"
    found = subprocess.run(
        [sys.executable, str(script), *options], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


@pytest.mark.slow
@pytest.mark.parametrize("paper", PAPERS)
def test_a_quick_run_regenerates_the_page(paper: str, tmp_path: Path) -> None:
    if not DATA.is_dir():
        pytest.skip("the papers' data are not at hand")
    folders = ("--cache", str(tmp_path / "cache"), "--output", str(tmp_path))
    run(paper, "--quick", "--jobs", "1", *folders)
    text = (tmp_path / f"{paper}.md").read_text(encoding="utf-8")
    assert "with `--quick`" in text


@pytest.mark.slow
@pytest.mark.parametrize("paper", PAPERS)
def test_the_help_says_what_the_script_costs(paper: str) -> None:
    text = run(paper, "--help")
    assert "what it costs" in text
    assert "--quick" in text
    assert any(unit in text for unit in ("minutes", "hours", "hour"))
