"""`mainstay replicate`: the cost first, single runs beside ensembles, plain words last."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from sklearn.datasets import load_breast_cancer

import mainstay as ms
from mainstay.cli import main

QUICK = ["--target", "y", "--ranker", "f_statistic", "--n-features", 5, "--pairs", 6, "--splits", 5,
         "--ensemble-size", 4]  # fmt: skip
X, Y = (table.iloc[::5] for table in load_breast_cancer(return_X_y=True, as_frame=True))


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    X.assign(y=Y, patient=np.arange(len(X)) // 2).to_csv("data.csv", index=False)
    return tmp_path


def replicate(*arguments: object) -> Result:
    result = CliRunner().invoke(main, ["replicate", *map(str, arguments)])
    assert not result.exception or isinstance(result.exception, SystemExit), result.exception
    return result


def in_python(ensemble_size: int | None) -> ms.Replicability:
    return ms.replicability("f_statistic", X, Y, n_features_to_select=5, n_pairs=6, n_splits=5,
                            ensemble_size=ensemble_size, random_state=0)  # fmt: skip


def test_it_says_the_cost_first_and_ends_in_plain_words(in_folder: Path) -> None:
    result = replicate("data.csv", *QUICK, "--drop", "patient")
    assert result.exit_code == 0, result.output
    n = 2 * 6 + 5 * 2 * 4 * 2 + 3 * 4 * 2 * 2
    expected = f"{n} studies with single runs and {n} with ensembles of 4, about "
    assert result.stderr.startswith(expected)
    assert result.stderr.endswith(" s.\n")
    heading = next(line for line in result.stdout.splitlines() if line.startswith("n rows"))
    assert heading.index("single") < heading.index("ensemble") < heading.index("kind")
    assert result.stdout.endswith(in_python(4).compared_with(in_python(None)).summary() + "\n")
    assert [path.name for path in in_folder.iterdir()] == ["data.csv"]


def test_json_has_both_estimates_and_whether_the_ensemble_helps() -> None:
    printed = json.loads(replicate("data.csv", *QUICK, "--drop", "patient", "--json").stdout)
    single, ensembles = in_python(None), in_python(4)
    for name, found in (("single", single), ("ensemble", ensembles)):
        assert printed[name]["value"] == found.value
        assert (printed[name]["lower"], printed[name]["upper"]) == found.interval
        assert printed[name]["value_at_n"] == found.at_n.value
    assert printed["gain"]["verdict"] == ensembles.compared_with(single).gain.verdict
    assert [row["n_rows"] for row in printed["table"]] == ensembles.table["n_rows"].tolist()


def test_it_writes_what_it_is_asked_for() -> None:
    result = replicate("data.csv", *QUICK, "--drop", "patient", "--plot", "rows.png", "--output",
                       "table.csv", "--save", "result.zip")  # fmt: skip
    assert result.exit_code == 0, result.output
    assert Path("rows.png").read_bytes().startswith(b"\x89PNG")
    table = pd.read_csv("table.csv")
    saved = ms.load_result("result.zip")
    assert table["ensemble"].tolist() == pytest.approx(saved.table["agreement"].tolist())
    assert table["single"].tolist() == pytest.approx(saved.single.table["agreement"].tolist())
    for written in ("rows.png", "table.csv", "result.zip"):
        assert f"Written: {written}" in result.stdout


def test_several_rankers_are_combined_as_asked_for() -> None:
    quick = ["--target", "y", "--n-features", 5, "--pairs", 5, "--splits", 5, "--ensemble-size", 2]
    several = [*quick, "-r", "f_statistic", "-r", "information_gain", "--drop", "patient", "--json"]
    asked = [*several, "--ranker-aggregation", "rank_min"]
    found, by_default = (
        json.loads(replicate("data.csv", *words).stdout)["single"]["value"]
        for words in (asked, several)
    )
    selector = ms.EnsembleSelector(
        ["f_statistic", "information_gain"], ranker_aggregation="rank_min"
    )
    expected = ms.replicability(selector, X, Y, n_features_to_select=5, n_pairs=5, n_splits=5,
                                random_state=0)  # fmt: skip
    assert found == expected.value != by_default


def test_groups_stay_on_one_side() -> None:
    result = replicate("data.csv", *QUICK, "--groups", "patient", "--save", "result.zip", "--json")
    assert result.exit_code == 0, result.output
    assert "patient" not in ms.load_result("result.zip").runs.features
    words = replicate("data.csv", *QUICK, "--groups", "patient").stdout
    assert "6 pairs of halves that share no group" in words


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--n-features", "auto"], "n_features_to_select must be a whole number"),
        (["--measure", "nogeira"], "Did you mean 'nogueira'?"),
        (["--ensemble-size", 1], "--ensemble-size"),
        (["--pairs", 2], "--pairs"),
        (["--ranker", "nothing"], "unknown ranker 'nothing'"),
        (["--target", "z"], "unknown column of data.csv 'z'"),
        (["--plot", "data.csv"], "must end in"),
        (["--n-features", 31], "whole number from 1 to 30, got 31"),
        (["--measure", "pearson"], "ensembles end in rankings"),
    ],
)
def test_mistakes_end_with_a_message_and_exit_code_2(options: list[object], message: str) -> None:
    defaults = {"--target": "y", "--drop": "patient"} | dict(zip(*[iter(options)] * 2, strict=True))
    result = replicate("data.csv", *[word for pair in defaults.items() for word in pair])
    assert result.exit_code == 2
    assert message in result.stderr
    assert "studies" not in result.stderr  # no cost is announced for what cannot be done


def test_too_few_rows_are_refused_with_what_is_needed() -> None:
    X.head(6).assign(y=[0, 1] * 3).to_csv("few.csv", index=False)
    result = replicate("few.csv", "--target", "y")
    assert result.exit_code == 2
    assert "at least 8 rows, got 6" in result.stderr
