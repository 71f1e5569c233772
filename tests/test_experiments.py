"""The scripts of the papers run, and say what they cost."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "experiments"))

import _cells  # noqa: E402

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


def test_modules_of_the_experiments_leave_matplotlib_as_it_is() -> None:
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    for script in sorted((ROOT / "experiments").glob("*_figures.py")):
        runpy.run_path(str(script))
    assert dict(mpl.rcParams) == before


# ---------------------------------------------------------------------- cells


def cells_of(
    folder: Path, part: str = "part", *, report_only: bool = False, output: Path | None = None
) -> _cells.Cells:
    options = Namespace(
        jobs=1, report_only=report_only, quick=False, seed=0, cache=folder / "cache",
        output=output or folder / "results",
    )  # fmt: skip
    return _cells.Cells(options, "paper", part)


def double(cell: _cells.Cell) -> dict[str, float]:
    return {"value": 2 * float(cell[1]), "seconds": 0.0}


def test_packed_cells_serve_a_run_without_their_cache(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(_cells, "HERE", tmp_path)
    wanted = [("a", "1"), ("b, c", "2")]
    store = cells_of(tmp_path)
    store.compute(wanted, double)
    store.pack()
    first = store.archive.read_bytes()
    for file in (tmp_path / "cache").rglob("*.json"):
        file.unlink()

    again = cells_of(tmp_path)
    again.compute(wanted, lambda cell: pytest.fail(f"computed {cell} again"))
    assert [cell["value"] for cell in again.found(wanted).values()] == [2, 4]
    again.compute([("d", "3")], double)
    other = cells_of(tmp_path, "other part")
    other.compute([("a", "5")], double)
    again.pack()
    other.pack()
    packed = cells_of(tmp_path, report_only=True)
    assert set(packed.packed) == {"a_1", "b-c_2", "d_3"}
    assert set(cells_of(tmp_path, "other part").packed) == {"a_5"}
    assert store.archive.read_bytes() != first


def test_packing_the_same_cells_gives_the_same_bytes(tmp_path, monkeypatch) -> None:
    archives = []
    for turn in ("first", "second"):
        monkeypatch.setattr(_cells, "HERE", tmp_path / turn)
        store = cells_of(tmp_path / turn)
        wanted = [("x", "1"), ("y", "2")]
        store.compute(wanted if turn == "first" else wanted[::-1], double)
        store.pack()
        archives.append(store.archive.read_bytes())
    assert archives[0] == archives[1]


def test_a_page_written_elsewhere_leaves_the_archive_as_it_is(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(_cells, "HERE", tmp_path)
    store = cells_of(tmp_path, output=tmp_path / "elsewhere")
    store.compute([("a", "1")], double)
    store.pack()
    assert not store.archive.exists()
    assert cells_of(tmp_path).found([("a", "1")]) == {("a", "1"): {"value": 2.0, "seconds": 0.0}}


def test_no_cell_is_begun_after_the_time_is_up(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(_cells, "HERE", tmp_path)
    store = cells_of(tmp_path)
    store.until = 0.0
    store.compute([("a", "1")], lambda cell: pytest.fail(f"computed {cell}"))
    assert not store.has(("a", "1"))
    store.until = None
    store.compute([("a", "1")], double)
    assert store.has(("a", "1"))
