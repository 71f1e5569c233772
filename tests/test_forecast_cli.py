"""`mainstay forecast`, and the picture of a forecast."""

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


@pytest.fixture
def data(tmp_path: Path) -> Path:
    frame = load_breast_cancer(as_frame=True).frame.iloc[::5]
    frame.to_csv(tmp_path / "cancer.csv", index=False)
    return tmp_path / "cancer.csv"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["forecast", *map(str, arguments)])


def test_forecast_prints_a_table_plain_words_and_draws_a_picture(
    data: Path, tmp_path: Path
) -> None:
    picture = tmp_path / "curve.png"
    result = run(
        data, "--target", "target", "--protocol", "nested", "--ensemble-sizes", "1,5,10,20,50,100",
        "--target-stability", 0.99, "--n-features", 5, "--runs", 40, "--plot", picture,
        "--ranker", "f_statistic",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    words = result.output
    assert "ensemble size" in words
    assert "100 resamples would give a jaccard of 0." in words
    assert "the limit for large ensembles is about 0." in words
    assert "two independent studies with half of these rows each" in words
    assert "No ensemble of up to 10,000 is forecast to reach 0.99, but" in words
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_forecast_of_the_same_data_warns_what_it_is_not(data: Path, tmp_path: Path) -> None:
    result = run(
        data, "--target", "target", "--protocol", "flat", "--runs", 30, "--n-features", 5,
        "--plot", tmp_path / "x.png", "--compare",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "Whether another study would find the same features" in result.output
    assert "simulator" in result.output


FLAT = ["--target", "target", "--protocol", "flat", "--runs", 20, "--n-features", 5]


@pytest.mark.parametrize("more", [[], ["--json"]], ids=["table", "json"])
def test_nothing_is_drawn_unasked(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(data, *FLAT, *more)
    assert result.exit_code == 0, result.output
    assert [path.name for path in tmp_path.iterdir()] == ["cancer.csv"]
    assert "drawn" not in result.output


def test_the_task_is_named_and_chosen(data: Path) -> None:
    inferred, chosen = (
        run(data, *FLAT, "-r", "linear", *more) for more in ([], ["--task", "regression"])
    )
    assert "(classification: y holds 2 distinct whole numbers); " in inferred.stdout
    assert "(regression: as asked for); " in chosen.stdout
    assert inferred.stdout.splitlines()[2:] != chosen.stdout.splitlines()[2:]


def test_the_old_name_of_the_ensemble_sizes_still_works(data: Path) -> None:
    old, new = (
        run(data, *FLAT, option, "1,50", "--json") for option in ("--sizes", "--ensemble-sizes")
    )
    assert "--sizes is deprecated here; it is now --ensemble-sizes" in old.stderr
    assert new.stderr == ""
    assert json.loads(old.stdout)["curve"] == json.loads(new.stdout)["curve"]
    both = run(data, *FLAT, "--sizes", "1", "--ensemble-sizes", "2")
    assert both.exit_code == 2
    assert "give only one" in both.stderr


def test_forecast_as_json_and_as_csv(data: Path, tmp_path: Path) -> None:
    table = tmp_path / "curve.csv"
    result = run(
        data, "--target", "target", "--protocol", "nested", "--runs", 30, "--n-features", 5,
        "--ensemble-sizes", "1,50", "--plot", tmp_path / "x.png", "--output", table, "--json",
    )  # fmt: skip
    record = json.loads(result.output)
    assert [row["ensemble_size"] for row in record["curve"]] == [1, 50]
    assert record["plan"]["worthwhile_size"] >= 1
    assert record["seconds_per_run"] > 0
    assert pd.read_csv(table)["ensemble_size"].tolist() == [1, 50]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "targt", "--protocol", "flat"], "Did you mean 'target'?"),
        (["--target", "target"], "Missing option '--protocol'"),
        (["--target", "target", "--protocol", "both"], "'nested', 'flat', 'overlapping'"),
        (["--target", "target", "--protocol", "flat", "--ensemble-sizes", "1;2"], "such as 1,5,10"),
        (["--target", "target", "--protocol", "flat", "--ranker", "forest"], "unknown ranker"),
        (["--target", "target", "--protocol", "flat", "--measure", "jac"], "unknown measure"),
        (["--target", "target", "--protocol", "flat", "--n-features", "x"], "n_features_to_select"),
        (["--target", "target", "--protocol", "nested", "--runs", "2"], "n_runs"),
        (["--tagret", "target"], "No such option"),
    ],
)
def test_mistakes_end_with_a_message_and_exit_code_2(
    data: Path, arguments: list[str], message: str
) -> None:
    result = run(data, *arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 nonsense")
    result = run(tmp_path / "broken.parquet", "--target", "y", "--protocol", "flat")
    assert result.exit_code == 2
    assert "broken.parquet" in result.output


def test_select_decides_how_many_resamples_are_enough(data: Path) -> None:
    arguments = ["select", str(data), "--target", "target", "--n-features", "5",
                 "--resamples", "auto", "--target-stability", "0.5"]  # fmt: skip
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    assert "50 resamples were run." in result.output


# ---------------------------------------------------------------------- the picture


@pytest.fixture(scope="module")
def forecast() -> ms.Forecast:
    rng = np.random.default_rng(0)
    runs = ms.Runs.from_scores(rng.normal(size=(40, 30)) + np.linspace(0, 2, 30))
    return ms.forecast_stability(runs, protocol="flat", n_features_to_select=5, random_state=0)


def test_the_picture_shows_curve_band_plan_and_measured_points(forecast: ms.Forecast) -> None:
    measured = pd.DataFrame({"ensemble_size": [10, 50], "stability": [0.5, 0.8]})
    display = ms.ForecastDisplay.from_forecast(forecast, target=0.4, measured=measured)
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == ["interval", "forecast", "observed", "measured"]
    written = [text.get_text() for text in display.ax_.texts]
    assert "target 0.4" in written
    assert any(text.isdecimal() for text in written)
    low, high = display.ax_.get_ylim()
    assert low <= 0
    assert high >= forecast.curve["upper"].max()


def test_the_picture_goes_where_it_is_told(forecast: ms.Forecast) -> None:
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    assert forecast.plot(ax).ax_ is ax


def test_a_limit_is_drawn_where_no_size_reaches_the_target() -> None:
    rng = np.random.default_rng(1)
    scores = np.repeat(rng.normal(size=(8, 30)), 4, axis=0) + rng.normal(size=(32, 30))
    fc = ms.forecast_stability(
        ms.Runs.from_scores(scores), protocol="nested", halves=np.repeat(np.arange(8), 4),
        n_features_to_select=5, random_state=0,
    )  # fmt: skip
    display = fc.plot(target=0.95)
    assert any("limit about" in text.get_text() for text in display.ax_.texts)
