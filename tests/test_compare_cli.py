"""`mainstay compare`."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from sklearn.datasets import load_breast_cancer

import mainstay as ms
from mainstay.cli import main

QUICK = ["--target", "target", "-r", "f_statistic", "--sizes", "2,0.2", "--resamples", "3",
         "--cv", "4"]  # fmt: skip


@pytest.fixture
def data(tmp_path: Path) -> Path:
    frame = load_breast_cancer(as_frame=True).frame.iloc[::5, -15:]
    frame.to_csv(tmp_path / "cancer.csv", index=False)
    return tmp_path / "cancer.csv"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["compare", *map(str, arguments)])


def test_compare_prints_the_front_the_baselines_and_plain_words(data: Path, tmp_path: Path) -> None:
    picture, table = tmp_path / "front.png", tmp_path / "table.csv"
    result = run(data, *QUICK, "--aggregation", "mean", "--aggregation", "none",
                 "--plot", picture, "--output", table)  # fmt: skip
    assert result.exit_code == 0, result.output
    words = result.stdout
    assert "114 rows × 14 features, target 'target' (classification: y holds 2 distinct" in words
    assert "6 candidates, beside all, no and random features; 4 splits" in words
    assert "score: accuracy, stability: sma_count" in words
    for expected in ("Recommended: ", "all features", "random/3", "F-test/2", "For comparison,"):
        assert expected in words
    assert picture.read_bytes().startswith(b"\x89PNG")
    written = pd.read_csv(table)
    assert "f_statistic/none/3" in written["candidate"].tolist()
    shown = words.partition("Recommended: ")[0]  # few candidates are all shown, on the front or not
    assert all(name in shown for name in written["candidate"])
    assert f"Recommended: {written.loc[written['recommended'], 'candidate'].iloc[0]}." in words


def test_compare_is_the_library_as_json(data: Path) -> None:
    result = run(data, *QUICK, "--json", "--priority", "size", "--priority", "score",
                 "--priority", "stability", "--seed", 7)  # fmt: skip
    record = json.loads(result.stdout)
    frame = pd.read_csv(data)
    found = ms.compare_selectors(
        ["f_statistic"], frame.drop(columns="target"), frame["target"], sizes=[2, 0.2],
        n_resamples=3, cv=4, priorities=["size", "score", "stability"], random_state=7,
    )  # fmt: skip
    assert record["settings"] == found.settings
    assert record["recommended"] == found.recommended
    assert record["reason"] == found.reason
    by_name = {row["candidate"]: row for row in record["candidates"]}
    assert list(by_name) == found.table["candidate"].tolist()
    assert by_name["all features"]["stability"] is None
    assert by_name["no features"]["stability"] is None
    scores = found.table.set_index("candidate")["score"]
    assert by_name["F-test/2"]["score"] == pytest.approx(scores["F-test/2"], abs=1e-9)
    assert [test["criterion"] for test in record["tests"][:2]] in ([], ["score", "stability"])


@pytest.mark.parametrize("kind", ["regression", "text"])
def test_targets_that_are_numbers_or_text(data: Path, kind: str) -> None:
    frame = pd.read_csv(data)
    frame["target"] = (
        frame["worst radius"] + 0.5 if kind == "regression"
        else np.where(frame["target"] == 1, "gutartig", "bösartig, µ")
    )  # fmt: skip
    frame.to_csv(data, index=False)
    result = run(data, *QUICK)
    assert result.exit_code == 0, result.output
    assert ("score: R²" if kind == "regression" else "score: accuracy") in result.stdout


def test_the_task_is_chosen(data: Path) -> None:
    words = run(data, *QUICK, "--task", "regression").stdout
    assert "(regression: as asked for)" in words
    assert "score: R²" in words


@pytest.mark.parametrize("ending", ["tsv", "parquet", "feather"])
def test_the_table_is_written_as_its_ending_says(data: Path, tmp_path: Path, ending: str) -> None:
    table = tmp_path / f"table.{ending}"
    assert run(data, *QUICK, "--output", table).exit_code == 0
    assert "recommended" in ms.io.read_table(table).columns


def test_a_search_from_the_command_line(data: Path) -> None:
    result = run(data, *QUICK, "--search", "optuna", "--trials", 3, "--json")
    assert result.exit_code == 0, result.output
    settings = json.loads(result.stdout)["settings"]
    assert (settings["search"], settings["n_trials"]) == ("optuna", 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "targt"], "Did you mean 'target'?"),
        ([], "Missing option '--target'"),
        (["--target", "target", "--ranks", "x"], "No such option"),
        (["--target", "target", "-r", "forest"], "unknown ranker 'forest'"),
        (["--target", "target", "--aggregation", "men"], "Did you mean 'mean'?"),
        (["--target", "target", "--sizes", "5;6"], "such as 5,10,0.1"),
        (["--target", "target", "--sizes", "14"], "below the number of features, 14"),
        (["--target", "target", "--resamples", "x"], "n_resamples"),
        (["--target", "target", "--cv", "third"], "'half', got 'third'"),
        (["--target", "target", "--scoring", "acuracy"], "Did you mean 'accuracy'?"),
        (["--target", "target", "--priority", "score"], "in some order"),
        (["--target", "target", "--search", "grid"], "'optuna'"),
        (["--target", "target", "--plot", "x.xyz"], "must end in .png"),
        (["--target", "target", "--output", "no/where.csv"], "there is no directory"),
        (["--target", "target", "--seed", "-1"], "random_state"),
        (["--target", "target", "--drop", "worst"], "unknown column"),
    ],
)
def test_what_is_wrong_is_said_with_exit_code_2(
    data: Path, arguments: list[str], message: str
) -> None:
    result = run(data, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,target\n1,2\n3,\n5,6\n", "missing in 1 row."),
        ("a,target\n1,2\n3,2\n5,2\n", "is constant"),
        ('a,target\n1,2\n"3,4\n', "a quotation mark that is never closed"),
        ("a,target\n1,0\n3,1\n5,0\n2,1\n", "at least 2 features, got 1"),
        ("a,b,target\n1,x,0\n3,y,1\n5,x,0\n2,y,1\n", "text or categories: 'b'"),
        ("a,b,target\n1,1,0\n3,2,1\n5,3,0\n2,1,9\n", "cannot split these 4 rows"),
    ],
)
def test_files_that_cannot_be_compared(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "data.csv"
    file.write_text(content)
    result = run(file, "--target", "target")
    assert result.exit_code == 2, result.output
    assert message in result.stderr


@pytest.mark.parametrize("rankers", [["mrmr_fcq"], ["f_statistic", "extra_trees"]])
def test_the_printed_command_and_code_select_with_what_is_recommended(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rankers: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names = [word for name in rankers for word in ("-r", name)]
    result = run("cancer.csv", "--target", "target", *names, "--sizes", "3", "--resamples", "4",
                 "--cv", "4", "--priority", "size", "--priority", "stability",
                 "--priority", "score")  # fmt: skip
    lines = [line.removeprefix("  ") for line in result.stdout.splitlines()]
    (command,) = (line for line in lines if line.startswith("mainstay select"))
    start = lines.index("import mainstay as ms")
    frame = pd.read_csv(data)
    space = {"X": frame.drop(columns="target"), "y": frame["target"].to_numpy()}
    exec("\n".join(lines[start:]), space)
    by_code = set(space["selector"].get_feature_names_out())
    selected = CliRunner().invoke(main, [*shlex.split(command)[1:], "--json"])
    assert selected.exit_code == 0, selected.output
    table = json.loads(selected.stdout)["features"]
    assert {row["feature"] for row in table if row["selected"]} == by_code
    assert len(by_code) == 3
