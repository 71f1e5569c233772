"""Importing mainstay is cheap: what a call does not need is not loaded."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import pytest

import mainstay

HEAVY = ("numpy", "scipy", "pandas", "pyarrow", "sklearn", "numba", "polars", "matplotlib", "rich")


def loaded_after(code: str) -> set[str]:
    """The heavy packages that a fresh interpreter has loaded after running `code`."""
    report = f"import sys\n{code}\nprint('loaded:', *(set({HEAVY}) & set(sys.modules)))"
    command = [sys.executable, "-W", "error", "-c", report]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.rpartition("loaded:")[2].split())


def test_importing_mainstay_loads_nothing_heavy():
    assert loaded_after("import mainstay") == set()


@pytest.mark.parametrize("arguments", [["--help"], ["stability", "--help"], ["demo", "-h"]])
def test_the_help_of_the_program_loads_nothing_heavy(arguments):
    code = f"from mainstay.cli import main\ntry: main({arguments})\nexcept SystemExit: pass"
    assert loaded_after(code) == set()


def test_making_runs_loads_no_compiler_and_no_tables():
    code = "import mainstay\nmainstay.Runs.from_sets([[0], [1]], 3).support"
    assert loaded_after(code) == {"numpy", "scipy"}


def test_plain_set_measures_load_no_compiler():
    code = "import mainstay\nmainstay.stability(mainstay.Runs.from_sets([[0], [1]], 3))"
    assert not loaded_after(code) & {"numba", "sklearn", "pyarrow", "matplotlib", "polars"}


@pytest.mark.parametrize("name", mainstay.__all__)
def test_every_public_name_resolves_and_is_documented(name):
    assert name in dir(mainstay)
    assert getattr(mainstay, name).__doc__


def test_the_version_is_that_of_the_installed_package():
    assert mainstay.__version__ == version("mainstay")


def test_every_public_name_has_a_home_and_no_other_has():
    assert set(mainstay.__all__) - {"__version__"} == set(mainstay._HOME)


def test_an_unknown_name_gets_the_list_of_known_ones():
    with pytest.raises(AttributeError, match=r"no attribute 'Run'.*'FeatureSimilarity'.*'Runs'"):
        mainstay.Run  # noqa: B018
