"""`mainstay select` on more rows than memory: the same numbers, within the limit."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

import mainstay as ms
from mainstay.cli import main

N, P = 6000, 12
MB = 10**6

MEASURED = """
import json, resource, sys
from mainstay.cli import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    assert not end.code, end.code
if sys.platform == "linux":  # ru_maxrss starts with what the parent held
    status = open("/proc/self/status").read()
    peak = 1024 * int(status.split("VmHWM:")[1].split()[0])
else:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(peak, file=sys.stderr)
"""


def mainstay(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def make_part(rng: np.random.Generator, n: int, p: int) -> pd.DataFrame:
    y = rng.integers(2, size=n)
    X = rng.normal(size=(n, p)).astype(np.float32)
    X[:, 3] += 0.5 * y
    X[:, 7] = X[:, 3] + 0.1 * X[:, 7]
    return pd.DataFrame(X, columns=[f"g{j}" for j in range(p)]).assign(y=y)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("big") / "rows"
    folder.mkdir()
    rng = np.random.default_rng(0)
    for number in range(3):
        make_part(rng, N // 3, P).to_parquet(folder / f"{number}.parquet", index=False)
    return folder


def test_a_folder_is_streamed_with_the_numbers_of_the_library(folder: Path, tmp_path: Path) -> None:
    made = mainstay(
        "select", folder, "--target", "y", "--memory", "2GB", "--resamples", 10, "--n-features", 2,
        "--save-runs", tmp_path / "runs.parquet", "--report", tmp_path / "report.html", "--json",
    )  # fmt: skip
    assert made.exit_code == 0, made.stderr
    selector = ms.EnsembleSelector(
        resampling="poisson", n_resamples=10, n_features_to_select=2, random_state=0
    ).fit(ms.RowBatches.open(folder, "y"))
    assert ms.Runs.load(tmp_path / "runs.parquet").scores.tolist() == selector.runs_.scores.tolist()
    best = [row["feature"] for row in json.loads(made.stdout)["features"][:2]]
    assert sorted(best) == ["g3", "g7"]
    assert "g3" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_folder_is_streamed_without_a_limit_too_and_the_resampling_is_named(folder: Path) -> None:
    made = mainstay("select", folder, "--target", "y", "-r", "f_statistic", "--resamples", 4)
    assert made.exit_code == 0, made.stderr
    assert f"{N:,} rows × {P} features, target 'y'" in made.stdout
    assert "4 poisson resamples" in made.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--memory", "10MB"], "10 MB is too little"),
        (["--memory", "lots"], "memory must be an amount such as '2GB'"),
        (["--resampling", "bootstrap"], "resampling='poisson' or 'none', got 'bootstrap'"),
        (["-r", "mrmr"], "Rankers that read rows block by block: information_gain"),
        (["--groups", "g1"], "--groups cannot be used"),
        (["--permutations", "10"], "n_permutations cannot be used"),
        (["--drop", "nothing"], "nothing"),
        (["--keep", "nothing"], "feature to keep"),
    ],
    ids=str,
)
def test_what_cannot_be_streamed_is_said_in_one_line(
    folder: Path, arguments: list[str], message: str
) -> None:
    made = mainstay("select", folder, "--target", "y", *arguments)
    assert made.exit_code == 2
    assert message in made.stderr
    assert made.stderr.count("\n") == 1


def test_a_csv_cannot_be_streamed(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,y\n1,0\n2,1\n")
    made = mainstay("select", tmp_path / "a.csv", "--target", "y", "--memory", "1GB")
    assert made.exit_code == 2
    assert "Write other tables as Parquet first" in made.stderr


def test_identifiers_in_files_are_refused_unless_kept(tmp_path: Path) -> None:
    part = make_part(np.random.default_rng(1), 500, 9)
    folder = tmp_path / "rows"
    folder.mkdir()
    part.assign(patient_id=np.arange(500) * 7, row=np.arange(500)).to_parquet(
        folder / "a.parquet", index=False
    )
    made = mainstay("select", folder, "--target", "y")
    assert made.exit_code == 2
    assert "'patient_id' looks like an identifier" in made.stderr
    assert "So do 'row'" in made.stderr
    made = mainstay("select", folder, "--target", "y", "--drop", "patient_id", "--keep", "row")
    assert made.exit_code == 0, made.stderr


def test_the_index_of_a_pandas_table_is_no_feature(tmp_path: Path) -> None:
    part = make_part(np.random.default_rng(1), 500, 9)
    part.index = pd.Index(np.arange(500)[::-1])
    part.to_parquet(tmp_path / "a.parquet", index=True)
    assert ms.RowBatches.open(tmp_path, "y").n_features == 9


@pytest.mark.slow
def test_peak_memory_stays_below_the_limit_whatever_the_number_of_rows(tmp_path: Path) -> None:
    """Interpreter and libraries included; the files are larger than the limit."""
    limit, p = 500 * MB, 160
    folder = tmp_path / "rows"
    folder.mkdir()
    rng = np.random.default_rng(2)
    peaks = {}
    for n_files in (2, 10):
        for number in range(len(list(folder.iterdir())), n_files):
            make_part(rng, 100_000, p).to_parquet(
                folder / f"{number}.parquet", index=False, row_group_size=20_000,
                use_dictionary=False,
            )  # fmt: skip
        arguments = ["select", str(folder), "--target", "y", "--memory", "500MB", "--json"]
        arguments += ["-r", "f_statistic", "--resamples", "5", "--n-features", "2"]
        made = subprocess.run(
            [sys.executable, "-c", MEASURED, *arguments], capture_output=True, text=True
        )
        assert made.returncode == 0, made.stderr
        best = [row["feature"] for row in json.loads(made.stdout)["features"][:2]]
        assert sorted(best) == ["g3", "g7"]
        peaks[n_files] = int(made.stderr.split()[-1])
    assert sum(file.stat().st_size for file in folder.iterdir()) > 1.2 * limit
    assert max(peaks.values()) < limit
    assert peaks[10] < 1.1 * peaks[2]
