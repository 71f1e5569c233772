"""What the commands print: tables that fit, notes, progress, settings from a file."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

import mainstay as ms
from mainstay import _parallel, _terminal
from mainstay._terminal import print_table, printable
from mainstay.cli import main
from mainstay.report.repeat import cli_line, config_file

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work where a file of data is, in two ways of writing."""
    table = pd.DataFrame(RNG.normal(size=(30, 4)), columns=["a", "b", "c", "long name of d"])
    table["y"] = np.where(table["a"] + RNG.normal(size=30) > 0, "u", "v")
    table.to_csv(tmp_path / "data.csv", index=False)
    table.to_csv(tmp_path / "semicolons.csv", index=False, sep=";", decimal=",")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def mainstay(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments, prog_name="mainstay")


def select(*arguments: str, file: str = "data.csv") -> Result:
    return mainstay("select", file, "--target", "y", "--resamples", "5", *arguments)


# --- tables -------------------------------------------------------------------------------------

TABLE = pd.DataFrame(
    {
        "feature": ["worst concave points", "a name that is far too long for a terminal, number 7"],
        "rank": [1, 2],
        "selected": [True, False],
        "score": [0.45, 3.47e-18],
        "frequency": [0.96, 0.8475],
        "frequency_lower": [0.865, 0.1],
        "frequency_upper": [0.989, 0.9],
        "q_value": [0.0476, 1e-20],
        "group": ["mean concave points", "worst radius; worst perimeter; mean area; and 2 more"],
    }
)
ORDER = ("rank", "feature", "frequency", "q_value", "group")


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")


@pytest.mark.usefixtures("narrow")
def test_80_columns_show_rank_feature_frequency_q_and_group(capsys):
    print_table(TABLE, ORDER)
    *lines, left_out = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    first = next(line for line in lines if "worst concave" in line)
    assert first.split()[:4] == ["1", "worst", "concave", "points"]
    assert "0.96" in first
    assert "0.0476" in first
    assert "mean concave points" in first
    assert left_out.startswith("(Left out, as the terminal is narrow: selected, score,")


@pytest.mark.usefixtures("narrow")
def test_long_names_keep_their_beginning_and_their_end(capsys):
    print_table(TABLE, ORDER)
    second = capsys.readouterr().out.splitlines()[3]
    assert "a name" in second
    assert "mber 7" in second
    assert "2 more" in second


def test_a_pipe_gets_all_columns_and_whole_names(capsys):
    print_table(TABLE, ORDER)
    header, *rows = capsys.readouterr().out.splitlines()
    assert header.split()[:3] == ["rank", "feature", "frequency"]
    assert "number 7" in rows[1]
    assert "Left out" not in rows[-1]


def test_zero_is_0_but_tiny_p_values_are_not(capsys):
    print_table(TABLE[["score", "q_value"]])
    assert capsys.readouterr().out.splitlines()[2].split() == ["0", "1e-20"]


def test_a_name_cannot_change_the_terminal(capsys):
    name = "\x1b[2Jgone\r\x07\u202e"
    print_table(pd.DataFrame({"feature": [name]}))
    shown = capsys.readouterr().out
    assert "\\x1b[2Jgone\\x0d\\x07\\u202e" in shown
    assert not set(shown) & set("\x1b\r\x07\u202e")
    assert printable("a\nb") == "a\nb"


@pytest.mark.parametrize("arguments", [("select", "x\x1b[31m.csv", "--target", "y"), ("\x1b[31m",)])
def test_what_was_typed_cannot_change_the_terminal(arguments):
    result = mainstay(*arguments)
    assert result.exit_code == 2
    assert "\x1b" not in result.output


def test_messages_break_between_words_on_a_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")

    class Terminal:
        def isatty(self) -> bool:
            return True

    wrapped = _terminal._wrapped("one two three four five six seven\n  code stays", Terminal())
    assert wrapped == "one two three four five six\nseven\n  code stays"


# --- notes, progress, quiet ---------------------------------------------------------------------


def test_what_was_found_out_about_a_file_is_a_note_unless_quiet():
    note = "Note: semicolons.csv: values separated by semicolons; decimal commas.\n"
    loud, quiet = select(file="semicolons.csv"), select("--quiet", file="semicolons.csv")
    assert loud.stderr == note
    assert quiet.stderr == ""
    assert quiet.stdout == loud.stdout
    assert quiet.stdout == select().stdout


@pytest.mark.parametrize("ranker", ["information_gain", "mrmr", "f_statistic", "linear", "l1_path"])
def test_every_ranker_shows_progress_unless_quiet(ranker, monkeypatch):
    shown: list[str] = []
    with_bar = _parallel._with_bar

    def watched(results, total, description):
        shown.append(description)
        return with_bar(results, total, description)

    monkeypatch.setattr(_parallel, "_with_bar", watched)
    X, y = RNG.normal(size=(20, 3)), [0, 1] * 10
    selector = ms.EnsembleSelector(ranker, n_resamples=3, n_jobs=1, progress=True)
    selector.fit(X, y)
    assert len(shown) == 1
    with _parallel.without_progress():
        selector.fit(X, y)
    assert len(shown) == 1


def test_a_bar_within_a_bar_is_not_shown(capsys):
    def inner(i: int) -> int:
        return sum(_parallel.run_tasks(int, [(i,), (1,)], n_jobs=1, progress=True))

    results = _parallel.run_tasks(inner, [(0,), (1,)], n_jobs=1, progress=True, description="outer")
    assert results == [1, 2]


def test_help_has_exit_codes_completion_and_quiet():
    for arguments in (("--help",), ("select", "--help"), ("demo", "--help")):
        text = mainstay(*arguments).stdout
        assert "Exit codes:" in text
        assert "2    the command, a file or the data cannot be used" in text
    assert "_MAINSTAY_COMPLETE=bash_source" in mainstay("--help").stdout
    assert all("--quiet" in mainstay(name, "--help").stdout for name in main.commands)


# --- settings from a file -----------------------------------------------------------------------


def test_settings_come_from_a_file_and_the_command_line_wins():
    Path("s.toml").write_text(
        'file = "data.csv"\ntarget = "y"\nresamples = 5\nranker = ["f_statistic"]\n'
        'n_features = 2\ndrop = "b"\n'
    )
    result = mainstay("select", "--config", "s.toml")
    assert result.exit_code == 0, result.output
    assert result.stdout == select("-r", "f_statistic", "--n-features", "2", "--drop", "b").stdout
    assert (
        "1 feature selected" in mainstay("select", "--config", "s.toml", "--n-features", "1").stdout
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('targt = "y"', "unknown setting in s.toml 'targt'. Did you mean 'target'?"),
        ("target = ", "s.toml is not a TOML file"),
        ('target = ["y", "z"]', "target in s.toml takes one value"),
        ("target = {a = 1}", "target in s.toml must be text or a number"),
        ('target = "y"\nresamples = 5\nthreshold = "high"', "'--threshold': 'high' is not a valid"),
    ],
)
def test_faulty_settings_are_named(text, message):
    Path("s.toml").write_text(text)
    result = mainstay("select", "data.csv", "--config", "s.toml")
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_report_shows_the_settings_that_repeat_it():
    options = ["--missing", 'n."d".', "--n-features", "2", "-r", "f_statistic", "-r", "linear"]
    first = select("--save", "r.zip", *options)
    assert first.exit_code == 0, first.output
    settings = ms.load_result("r.zip").settings
    text = config_file(settings)
    assert tomllib.loads(text)["missing"] == ['n."d".']
    Path("s.toml").write_text(text)
    repeated = mainstay("select", "--config", "s.toml")
    assert first.stdout.startswith(repeated.stdout)
    assert cli_line(settings).startswith("mainstay select data.csv --target y --ranker f_statistic")
