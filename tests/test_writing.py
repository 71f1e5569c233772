"""Files are whole or not there: the old one or the new one, whatever ends the writer."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import mainstay as ms
from mainstay import _writing
from mainstay._files import WRITERS, write_table
from mainstay._writing import check_folder_writable, check_writable, replacing
from mainstay.io import load_result
from mainstay.plotting import SelectionFrequencyDisplay

RUNS = ms.Runs.from_scores(np.random.default_rng(0).normal(size=(6, 8)))


@pytest.fixture(scope="module")
def result():
    return ms.EnsembleSelector.result(
        ms.EnsembleSelector("f_statistic", n_resamples=6, random_state=0).fit(
            np.random.default_rng(1).normal(size=(30, 8)), np.arange(30) % 2
        )
    )


def writers(result):
    """Everything of the package that writes a file: a name for the file, and how to write it."""
    table = pd.DataFrame({"a": np.arange(1000.0)})
    return {
        "result.zip": result.save,
        "report.html": result.write_report,
        "runs.csv": RUNS.save,
        "runs.parquet": RUNS.save,
        "picture.png": SelectionFrequencyDisplay.from_runs(RUNS.top(3)).plot().save,
        **{f"table{ending}": lambda path: write_table(table, path) for ending in WRITERS},
    }


WRITTEN = ["result.zip", "report.html", "runs.csv", "runs.parquet", "picture.png", "table.csv",
           "table.tsv", "table.parquet", "table.feather"]  # fmt: skip


def test_all_writers_are_tested(result):
    assert list(writers(result)) == WRITTEN


@pytest.mark.parametrize("name", WRITTEN)
def test_a_full_disk_leaves_the_old_file_as_it_was(name, result, tmp_path, monkeypatch):
    write, path = writers(result)[name], tmp_path / name
    path.write_bytes(b"precious")

    def full(_part: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(_writing, "_sync", full)
    with pytest.raises(OSError, match="No space left"):
        write(path)
    assert path.read_bytes() == b"precious"
    assert list(tmp_path.iterdir()) == [path]
    monkeypatch.undo()
    write(path)
    assert path.read_bytes() != b"precious"
    assert list(tmp_path.iterdir()) == [path]


def test_a_writer_that_fails_in_the_middle_leaves_the_old_file_as_it_was(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("old")
    with pytest.raises(OSError, match=r"No space left.*x\.csv"), replacing(path) as part:  # noqa: PT012
        part.write_text("half of the n")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_gets_the_usual_permissions_and_an_old_one_keeps_its_own(tmp_path):
    usual = tmp_path / "usual"
    usual.touch()
    path = tmp_path / "runs.csv"
    RUNS.save(path)
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(usual.stat().st_mode)
    path.chmod(0o640)
    RUNS.save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_what_a_link_points_to_is_replaced_and_the_link_stays(tmp_path):
    (tmp_path / "store").mkdir()
    link, place = tmp_path / "runs.csv", tmp_path / "store" / "kept.csv"
    link.symlink_to(place)
    for _ in range(2):  # a link to nothing, then to a file
        RUNS.save(link)
        assert link.is_symlink()
        assert ms.Runs.load(place) == RUNS
    assert sorted(file.name for file in tmp_path.rglob("*")) == ["kept.csv", "runs.csv", "store"]


def test_a_pipe_is_written_into_and_not_replaced(tmp_path):
    pipe, read = tmp_path / "pipe.csv", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_table(pd.DataFrame({"a": [1]}), pipe)
    reader.join()
    assert read == ["a\n1\n"]
    assert pipe.is_fifo()


def test_names_of_any_length_can_be_replaced(tmp_path):
    path = tmp_path / ("ä" * 120 + ".csv")
    RUNS.save(path)
    assert ms.Runs.load(path) == RUNS


def test_a_place_that_cannot_be_written_says_why(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(IsADirectoryError, match=r"folder.csv is a directory"):
        RUNS.save(tmp_path / "folder.csv")
    with pytest.raises(FileNotFoundError, match=r"x.csv: there is no directory '.*nowhere'"):
        RUNS.save(tmp_path / "nowhere" / "x.csv")
    for below in ("file", "file/deeper"):
        with pytest.raises(NotADirectoryError, match=r"'.*file' is a file, not a directory"):
            check_folder_writable(tmp_path / below)
    check_folder_writable(tmp_path)
    check_folder_writable(tmp_path / "new" / "newer")
    check_writable(tmp_path / "new.csv")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["file", "folder.csv"]


def test_a_folder_or_file_that_may_not_be_written_says_so(tmp_path, monkeypatch):
    path = tmp_path / "x.csv"
    path.write_text("old")
    refused = PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    def deny(*_args: object) -> int:
        raise refused

    # permissions do not bind root, who may run the tests
    with monkeypatch.context() as patch:
        patch.setattr(_writing.os, "open", deny)
        for check in (check_writable, RUNS.save):
            with pytest.raises(PermissionError, match=r"into the directory '.*': Permission den"):
                check(path)
    with monkeypatch.context() as patch:
        patch.setattr(_writing.os, "access", lambda *_args: False)
        with pytest.raises(PermissionError, match=r"x.csv is write-protected"):
            RUNS.save(path)
    assert path.read_text() == "old"


KILLED = """
import sys, zipfile
from mainstay._writing import replacing
path, number = sys.argv[1], 0
while True:
    number += 1
    with replacing(path) as part, zipfile.ZipFile(part, "w") as file:
        for member in range(20):
            file.writestr(str(member), bytes([number % 256]) * 50_000)
    if number == 1:
        print("started", flush=True)
"""


def is_whole(path: Path) -> bool:
    with zipfile.ZipFile(path) as file:
        contents = {file.read(name) for name in file.namelist()}
        return len(file.namelist()) == 20 and len(contents) == 1


def start_writer(path: Path) -> subprocess.Popen[str]:
    writer = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    assert writer.stdout.readline() == "started\n"
    return writer


def test_a_kill_while_writing_leaves_a_whole_file(tmp_path):
    rng, path = np.random.default_rng(), tmp_path / "x.zip"
    for _ in range(12):
        with start_writer(path) as writer:
            time.sleep(rng.uniform(0, 0.05))
            writer.send_signal(signal.SIGKILL)
        assert is_whole(path)


def test_every_read_succeeds_while_two_write(tmp_path):
    path, reads = tmp_path / "x.zip", 0
    with start_writer(path) as one, start_writer(path) as other:
        end = time.monotonic() + 1
        while time.monotonic() < end:
            assert is_whole(path)
            reads += 1
        for writer in (one, other):
            writer.kill()
    assert reads > 20


def test_a_saved_result_is_the_same_as_before(result, tmp_path):
    result.save(tmp_path / "a.zip")
    assert load_result(tmp_path / "a.zip").selected == result.selected


# ---------------------------------------------------------------------- runs as text


@pytest.mark.parametrize("runs", [RUNS, RUNS.top(3), RUNS.as_pairs(), RUNS[:1]], ids=repr)
def test_runs_in_a_csv_file_that_was_cut_anywhere_are_refused(runs, tmp_path):
    path = tmp_path / "runs.csv"
    runs.save(path)
    assert ms.Runs.load(path) == runs
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(ms.InputError):
            ms.Runs.load(path)


def test_a_csv_file_of_runs_says_what_is_missing(tmp_path):
    path = tmp_path / "runs.csv"
    RUNS.save(path)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-1]))
    with pytest.raises(ms.InputError, match=r"holds 6 runs, but there are 5"):
        ms.Runs.load(path)
    path.write_text("".join(lines)[:-3])
    with pytest.raises(ms.InputError, match=r"in the middle of its last line"):
        ms.Runs.load(path)


@pytest.mark.parametrize("pairs", ["", ", in pairs"])
def test_runs_written_before_they_were_counted_still_load(pairs, tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text(f"# mainstay runs: scores{pairs}\na,b\n1.0,2.0\n3.5,1.0")
    runs = ms.Runs.load(path)
    assert runs.scores.tolist() == [[1.0, 2.0], [3.5, 1.0]]
    assert runs.paired is bool(pairs)
