"""The repository holds what is written by hand, and pages that scripts write: nothing else."""

from __future__ import annotations

import subprocess

import pytest

from conftest import ROOT

AT_THE_ROOT = {
    "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "README.md", "pyproject.toml",
    "benchmarks", "docs", "experiments", "src", "tests",
}  # fmt: skip


def test_no_program_left_its_files_at_the_root():
    if not (ROOT / ".git").exists():
        pytest.skip("not a clone: nothing is tracked")
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    at_the_root = {name.split("/")[0] for name in tracked}
    assert {name for name in at_the_root if not name.startswith(".")} == AT_THE_ROOT
