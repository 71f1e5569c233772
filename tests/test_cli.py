"""The command line gives the library's numbers, and says what is wrong instead of a traceback."""

from __future__ import annotations

import json
import subprocess
import sys

import click
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

import mainstay as ms
from mainstay.cli import main
from mainstay.cli.command import OutputFile, OutputFolder

SETS = [["a", "b"], ["a", "c"], ["a", "b"]]
FEATURES = ["a", "b", "c", "d"]
RUNS = ms.Runs.from_sets(SETS, FEATURES)
SCORES = np.array([[0.9, 0.5, 0.4, 0.1], [0.8, 0.2, 0.6, 0.1], [0.9, 0.7, 0.3, 0.0]])


def mainstay(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def printed(*arguments: object) -> list[dict]:
    """The measures that --json prints."""
    result = mainstay("stability", *arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)["measures"]


def expected(runs: ms.Runs, *measures: str, **arguments) -> list[dict]:
    """What ms.stability says, with null for what is undefined."""
    frames = [ms.stability(runs, measure, **arguments).to_frame() for measure in measures]
    rows = (frame.astype(object).where(frame.notna(), None) for frame in frames)
    return [row.to_dict("records")[0] for row in rows]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A folder of files: three selections in every layout, scores, and data where b and c agree."""
    monkeypatch.chdir(tmp_path)
    RUNS.save("saved.csv")
    RUNS.save("saved.parquet")
    wide = RUNS.to_frame()
    wide.to_csv("wide.csv")
    wide.to_csv("wide.tsv", sep="\t", index=False)
    wide.to_parquet("wide.parquet")
    pairs = pd.DataFrame([(run, name) for run, chosen in enumerate(SETS) for name in chosen])
    pairs.set_axis(["run", "feature"], axis=1).to_csv("pairs.csv", index=False)
    ms.Runs.from_scores(SCORES, FEATURES).save("scores.parquet")
    pd.DataFrame(ms.Runs.from_scores(SCORES, FEATURES).ranks, columns=FEATURES).to_csv("ranks.csv")
    ms.Runs.from_scores(np.round(SCORES), FEATURES).save("ties.parquet")
    ms.Runs.from_sets([[], [], ["a"]], FEATURES).save("empty.parquet")
    ms.Runs.from_sets([["a"], ["a", "b"]], FEATURES).save("unequal.parquet")
    steps = np.arange(1.0, 9.0)
    data = pd.DataFrame({"d": np.sin(9 * steps), "c": steps**9, "a": np.cos(5 * steps), "b": steps})
    data["outcome"] = ["ill", "well"] * 4
    data.to_csv("data.csv", index=False)
    data.drop(columns="b").to_csv("without_b.csv", index=False)
    data.assign(d=1.0).to_parquet("constant.parquet")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 no PAR1")
    (tmp_path / "broken.csv").write_bytes(bytes(range(256)))
    (tmp_path / "cut.csv").write_text("# mainstay runs: scores\n")


# --- numbers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["saved.csv"],
        ["saved.parquet"],
        ["wide.csv"],
        ["wide.tsv"],
        ["wide.parquet"],
        ["wide.csv", "--kind", "support"],
        ["pairs.csv", "--n-features", 4],
        ["pairs.csv", "--similarity", "data.csv", "--target", "outcome"],
    ],
    ids=lambda arguments: " ".join(map(str, arguments)),
)
def test_the_same_selections_in_any_layout_give_the_same_numbers(arguments):
    measures = ["nogueira", "jaccard"]
    found = printed(*arguments, "-m", "nogueira", "--measure", "jaccard")
    assert found == expected(RUNS, *measures)


@pytest.mark.parametrize("file", ["scores.parquet", "ranks.csv"])
def test_rankings_have_measures_of_their_own_and_of_their_tops(file):
    measures = ["spearman", "kendall", "canberra", "rbo", "jaccard@2", "spearman@3"]
    found = printed(file, *(part for name in measures for part in ("-m", name)))
    runs = ms.Runs.from_scores(SCORES, FEATURES)
    assert found == expected(runs, *measures, random_state=0)


def test_json_describes_the_runs_and_writes_null_for_what_is_undefined():
    result = mainstay("stability", "empty.parquet", "-m", "jaccard", "--undefined", "nan", "--json")
    assert result.exit_code == 0, result.stderr
    answer = json.loads(result.stdout)
    assert answer["runs"] == {"n_runs": 3, "n_features": 4, "kind": "support"}
    assert answer["measures"][0]["value"] is None
    assert answer["measures"][0]["lower"] is None


@pytest.mark.parametrize(
    ("options", "arguments", "pairs"),
    [
        ([], {}, "0 pairs with |pearson| >= 0.9"),
        (["--threshold", 0.7], {"threshold": 0.7}, "1 pair with |pearson| >= 0.7"),
        (["--method", "spearman"], {"method": "spearman"}, "1 pair with |spearman| >= 0.9"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*by chance:UserWarning")
def test_similar_features_are_found_in_the_data(options, arguments, pairs):
    options = ["--similarity", "data.csv", "--target", "outcome", *options]
    data = pd.read_csv("data.csv").drop(columns="outcome")[FEATURES]
    similarity = ms.FeatureSimilarity.from_data(data, **arguments)
    found = printed("wide.csv", *options, "-m", "sma_count", "-m", "yu")
    assert found == expected(RUNS, "sma_count", "yu", similarity=similarity, random_state=0)
    assert pairs in mainstay("stability", "wide.csv", *options).stdout


def test_columns_of_the_data_that_no_run_knows_are_not_looked_at():
    assert mainstay("stability", "wide.csv", "--similarity", "data.csv").exit_code == 0


def test_the_level_of_the_interval_is_chosen():
    runs = ms.Runs.from_sets([*SETS, *SETS], FEATURES)
    runs.save("six.csv")
    found = printed("six.csv", "-m", "nogueira", "--confidence", 0.8)
    assert found == expected(runs, "nogueira", confidence=0.8)
    assert found[0]["lower"] is not None
    assert "80% interval" in mainstay("stability", "six.csv", "--confidence", 0.8).stdout


@pytest.mark.parametrize("correction", ["none", "exact"])
def test_the_correction_for_chance_is_chosen(correction):
    found = printed("wide.csv", "-m", "jaccard", "--correction", correction)
    assert found == expected(RUNS, "jaccard", correction=correction)


def test_an_undefined_score_may_be_replaced():
    runs = ms.Runs.load("empty.parquet")
    found = printed("empty.parquet", "-m", "jaccard", "--undefined", "0")
    assert found == expected(runs, "jaccard", undefined=0)


def test_fewer_than_five_runs_have_no_interval_and_that_is_said():
    result = mainstay("stability", "unequal.parquet")
    assert result.exit_code == 0
    assert "—: an interval needs at least 5 runs." in result.stdout


@pytest.mark.parametrize(
    ("file", "names"),
    [
        ("wide.csv", ["nogueira", "jaccard", "kappa"]),
        ("scores.parquet", ["spearman", "kendall", "canberra", "rbo", "nogueira@1"]),
    ],
)
def test_without_a_measure_a_table_of_fitting_ones_is_printed(file, names):
    result = mainstay("stability", file)
    head, columns, *rows = result.stdout.splitlines()
    assert (result.exit_code, result.stderr) == (0, "")
    assert head == repr(ms.Runs.load(file))
    assert " ".join(columns.split()) == "measure stability 95% interval corrected for chance"
    assert [row.split()[0] for row in rows][: len(names)] == names
    value = float(ms.stability(ms.Runs.load(file), names[0]))
    assert rows[0].split()[1] == f"{value:.3f}"


def test_the_seed_decides_simulated_numbers():
    rng = np.random.default_rng(0)
    data = np.repeat(rng.normal(size=(20, 10)), 3, axis=1) + 0.1 * rng.normal(size=(20, 30))
    pd.DataFrame(data).add_prefix("x").to_csv("data.csv", index=False)
    sets = [rng.choice(30, 8, replace=False) for _ in range(4)]
    ms.Runs.from_sets(sets, 30).save("runs.parquet")
    options = ("runs.parquet", "--similarity", "data.csv", "-m", "sma_count")
    first, again, other = (printed(*options, "--seed", seed)[0] for seed in (1, 1, 2))
    assert first == again
    assert first["correction"] == "estimate"
    assert first["value"] != other["value"]
    assert first["value"] == pytest.approx(other["value"], abs=10 * first["chance_standard_error"])


def test_every_measure_is_listed_on_a_line_of_its_own():
    result = mainstay("stability", "--list")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()[1:]
    for line, row in zip(lines, ms.list_measures().itertuples(), strict=True):
        assert line.split()[0] == row.name
        assert line.rstrip().endswith(row.reference)


# --- warnings -----------------------------------------------------------------------------------


@pytest.mark.filterwarnings("always")
@pytest.mark.parametrize(
    ("arguments", "warning", "output"),
    [
        (["empty.parquet", "-m", "jaccard"], "'jaccard' is undefined (0/0)", "undefined"),
        (["pairs.csv"], "the 3 features seen are taken for all there were", "nogueira"),
        (["ties.parquet", "-m", "jaccard@1"], "in 2 of 3 runs features tie for place 1", "0.333"),
        (["wide.csv", "--similarity", "constant.parquet"], "1 constant feature(s)", "sma_count"),
    ],
)
def test_a_warning_goes_to_stderr_and_the_numbers_to_stdout(arguments, warning, output):
    result = mainstay("stability", *arguments)
    assert result.exit_code == 0
    assert output in result.stdout
    assert "Warning" not in result.stdout
    assert result.stderr.startswith("Warning: ")
    assert warning in result.stderr
    assert ".py" not in result.stderr


# --- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("wide.csv --mesure jaccard", "No such option"),
        ("wide.csv --kind sets", "'sets' is not one of 'auto', 'support', 'ranks', 'scores'"),
        ("wide.csv --seed many", "'many' is not a valid integer"),
        ("", "Missing argument 'FILE'"),
        ("nowhere.csv", "there is no file 'nowhere.csv'"),
        (".", "there is no file '.': it is a directory"),
        ("broken.parquet", "broken.parquet is not a parquet file"),
        ("broken.csv", "broken.csv is not a text file"),
        ("cut.csv", "cut.csv"),
        ("data.csv", "column(s) 'outcome' are not numeric"),
        ("wide.csv -m jacard", "unknown measure 'jacard'. Did you mean 'jaccard'? Valid: "),
        ("wide.csv -m jaccard -m jacard", "Did you mean 'jaccard'?"),
        ("wide.csv -m jaccard@2", "'jaccard@2' needs rankings or scores"),
        ("wide.csv -m spearman", "'spearman' compares rankings"),
        ("scores.parquet -m jaccard", "measure='jaccard@20'"),
        ("scores.parquet -m jaccard@0", "what follows @ must be a number of features"),
        ("scores.parquet -m jaccard@9", "k must be a whole number from 1 to 4, got 9"),
        ("ranks.csv -m pearson", "'pearson' compares scores, but these runs hold ranks"),
        ("unequal.parquet -m kuncheva", "Use 'sim_n' or 'nogueira'"),
        ("wide.csv -m sma_count", "give --similarity DATA"),
        ("wide.csv --n-features 9", "n_features is for tables of run, feature pairs"),
        ("pairs.csv --n-features 2", "at least 3, got 2"),
        ("wide.csv --confidence 95", "confidence must be a number in (0, 1), got 95"),
        ("wide.csv --seed -1", "random_state must be"),
        ("wide.csv --undefined maybe", "undefined must be 'warn', 'nan', 'error' or a number"),
        ("empty.parquet -m jaccard --undefined error", "--undefined 0"),
        ("wide.csv --similarity nowhere.csv", "there is no file 'nowhere.csv'"),
        ("wide.csv --similarity broken.parquet", "broken.parquet could not be read as parquet"),
        ("wide.csv --similarity data.csv --target outcom", "Did you mean 'outcome'?"),
        ("wide.csv --similarity data.csv --target b", "not columns of the data: 'b'"),
        ("wide.csv --similarity without_b.csv", "1 of the 4 features are not columns"),
        ("pairs.csv --similarity without_b.csv", "unknown feature 'b'"),
        ("pairs.csv --similarity data.csv", "feature 'outcome' is not numeric"),
        ("wide.csv --similarity data.csv --threshold 1.5", "in [0, 1], got 1.5"),
        ("wide.csv --similarity data.csv --method cosine", "'cosine' is not one of 'pearson'"),
    ],
)
def test_an_error_is_told_on_stderr_with_exit_code_2(command, message):
    result = mainstay("stability", *command.split())
    assert isinstance(result.exception, SystemExit), repr(result.exception)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    "arguments", [["demo", "--resamples", "2"], ["stabilty"], ["demo", "more"]]
)
def test_a_wrong_command_has_exit_code_2(arguments):
    result = mainstay(*arguments)
    assert result.exit_code == 2
    assert "Error: " in result.stderr


@pytest.mark.parametrize(
    "content", [b"", b"a,b\n", bytes(range(256))], ids=["empty", "header", "binary"]
)
@pytest.mark.parametrize(
    "command",
    ["stability FILE", "aggregate FILE", "report FILE", "network FILE",
     "stability wide.csv --similarity FILE", "select FILE --target a", "compare FILE --target a",
     "forecast FILE --target a --protocol flat"],
)  # fmt: skip
def test_a_file_without_a_table_is_named_by_every_command(command, content, tmp_path):
    (tmp_path / "odd.csv").write_bytes(content)
    result = mainstay(*command.replace("FILE", "odd.csv").split())
    assert isinstance(result.exception, SystemExit), repr(result.exception)
    assert result.exit_code == 2
    assert "odd.csv" in result.stderr


def test_a_list_of_regulators_must_be_text():
    result = mainstay("network", "ranks.csv", "--regulators", "broken.csv")
    assert result.exit_code == 2
    assert "broken.csv is not a text file of names" in result.stderr


# --- options and files that collide -------------------------------------------------------------


def options_of(command: click.Command) -> list[click.Option]:
    return [param for param in command.params if isinstance(param, click.Option)]


ONCE = [
    (name, option.opts[-1], option.is_flag)
    for name, command in main.commands.items()
    for option in options_of(command)
    if not option.multiple and option.name != "list_only"  # it ends as soon as it is seen
]


@pytest.mark.parametrize(("command", "option", "flag"), ONCE, ids=lambda part: str(part))
def test_an_option_that_takes_one_value_is_given_once(command, option, flag, tmp_path):
    (option_object,) = (o for o in options_of(main.commands[command]) if option in o.opts)
    if isinstance(option_object.type, click.Choice):
        value = option_object.type.choices[0]
    elif isinstance(option_object.type, OutputFile):
        value = f"out{option_object.type.endings()[0]}"
    else:
        value = "5"
    given = [option] if flag else [option, value]
    required = {
        "select": ["data.csv", "--target", "outcome"],
        "compare": ["data.csv", "--target", "outcome"],
        "replicate": ["data.csv", "--target", "outcome"],
        "forecast": ["data.csv", "--target", "outcome", "--protocol", "flat"],
        "demo": [],
    }.get(command, ["wide.csv"])
    result = mainstay(command, *required, *given, *given)
    assert result.exit_code == 2
    assert f"{option} was given" in result.stderr
    assert sorted(path.name for path in tmp_path.glob("out*")) == []


def test_a_target_given_twice_is_not_a_feature():
    result = mainstay("select", "data.csv", "--target", "a", "--target", "outcome")
    assert result.exit_code == 2
    assert "--target was given 2 times" in result.stderr


def test_help_and_repeatable_options_are_not_counted():
    twice = mainstay("select", "--target", "a", "--target", "b", "--help")
    assert twice.exit_code == 0
    assert mainstay("stability", "wide.csv", "-m", "jaccard", "-m", "kappa").exit_code == 0


OUTPUTS = [
    (name, option)
    for name, command in main.commands.items()
    for option in options_of(command)
    if isinstance(option.type, OutputFile)
]
ARGUMENTS = {
    "select": ["--target", "outcome"],
    "compare": ["--target", "outcome"],
    "replicate": ["--target", "outcome"],
    "forecast": ["--target", "outcome", "--protocol", "flat"],
    "network": ["--resamples", "2"],
}


def test_every_file_that_is_written_is_checked():
    assert {(name, option.opts[-1]) for name, option in OUTPUTS} == {
        ("aggregate", "--output"), ("select", "--output"), ("select", "--save-runs"),
        ("select", "--report"), ("select", "--save"), ("forecast", "--output"),
        ("forecast", "--plot"), ("compare", "--output"), ("compare", "--plot"),
        ("replicate", "--output"), ("replicate", "--plot"), ("replicate", "--save"),
        ("network", "--output"), ("network", "--save-runs"), ("report", "--output"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("command", "option"), OUTPUTS, ids=lambda part: getattr(part, "name", part)
)
def test_a_file_that_cannot_be_written_is_refused_before_any_work(command, option, tmp_path):
    (tmp_path / "folder").mkdir()
    ending = option.type.endings()[0]
    (tmp_path / f"folder{ending}").mkdir()
    for path, message in (
        ("x.xyz", f"x.xyz: the name must end in {ending}"),
        ("no/x" + ending, "there is no directory 'no'"),
        ("folder" + ending, "is a directory"),
    ):
        result = mainstay(
            command, "nowhere.csv", *ARGUMENTS.get(command, []), option.opts[-1], path
        )
        assert result.exit_code == 2
        assert message in result.stderr
        assert result.stderr.startswith(f"Error: {option.opts[-1]} {path}")
        assert result.stderr.count("\n") == 1
        assert result.stdout == ""


FOLDERS = [
    (name, option)
    for name, command in main.commands.items()
    for option in options_of(command)
    if isinstance(option.type, OutputFolder)
]


@pytest.mark.parametrize(
    ("command", "option"), FOLDERS, ids=lambda part: getattr(part, "name", part)
)
def test_a_folder_that_cannot_be_made_is_refused_before_any_work(command, option, tmp_path):
    (tmp_path / "file").touch()
    file = [] if command == "demo" else ["nowhere.csv"]
    result = mainstay(command, *file, *ARGUMENTS.get(command, []), option.opts[-1], "file/folder")
    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: {option.opts[-1]} file/folder: ")
    assert "is a file, not a directory" in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_folder_without_permission_is_refused_before_any_work(monkeypatch):
    def deny(*_args):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("mainstay._writing.os.open", deny)  # permissions do not bind root
    result = mainstay("select", "nowhere.csv", "--target", "outcome", "--report", "x.html")
    assert result.exit_code == 2
    assert "nothing can be written into the directory" in result.stderr
    assert "Permission denied" in result.stderr
    assert "nowhere.csv" not in result.stderr


@pytest.mark.parametrize(
    ("command", "option"), OUTPUTS, ids=lambda part: getattr(part, "name", part)
)
def test_no_output_overwrites_the_input(command, option, tmp_path):
    (tmp_path / "folder").mkdir()
    name = f"input{option.type.endings()[0]}"
    (tmp_path / name).write_text("precious")
    result = mainstay(
        command, name, *ARGUMENTS.get(command, []), option.opts[-1], f"folder/../{name}"
    )
    assert result.exit_code == 2
    assert f"{option.opts[-1]} folder/../{name} would overwrite FILE" in result.stderr
    assert (tmp_path / name).read_text() == "precious"


def test_two_outputs_are_two_files():
    result = mainstay("select", "data.csv", "--target", "outcome", "--output", "x.parquet",
                      "--save-runs", "x.parquet")  # fmt: skip
    assert result.exit_code == 2
    assert "--save-runs x.parquet would overwrite --output" in result.stderr


@pytest.mark.parametrize(
    "command",
    ["select data.csv --target outcome --resamples 3", "network data.csv --drop outcome",
     "forecast data.csv --target outcome --protocol flat --runs 20",
     "compare data.csv --target outcome --cv 4 --resamples 3 -r f_statistic", "demo"],
)  # fmt: skip
def test_no_cores_are_too_few(command):
    result = mainstay(*command.split(), "--jobs", 0)
    assert isinstance(result.exception, SystemExit), repr(result.exception)
    assert result.exit_code == 2
    assert "Error: n_jobs (--jobs) must be a number of cores" in result.stderr


# --- as a program -------------------------------------------------------------------------------


def program(*arguments: str, module: str = "mainstay") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60, check=False)


@pytest.mark.parametrize("module", ["mainstay", "mainstay.cli"])
def test_the_program_is_a_module_too(module):
    done = program("--help", module=module)
    assert done.returncode == 0
    assert done.stdout.startswith("Usage: mainstay [OPTIONS] COMMAND")


def test_the_program_prints_numbers_and_warnings_apart():
    done = program("stability", "empty.parquet", "-m", "jaccard", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["measures"][0]["value"] is None
    assert done.stderr.splitlines() == [
        "Warning: 'jaccard' is undefined (0/0) for 1 pair(s) of runs, first 0 and 1, so the result "
        "is NaN: undefined=0 (or another number; --undefined 0) replaces it, or use another "
        "measure."
    ]


def test_the_program_ends_with_a_message_not_a_traceback():
    done = program("stability", "unequal.parquet", "--measure", "kuncheva")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: 'kuncheva' needs selections of equal size")
    assert "Traceback" not in done.stderr


def test_aggregate_has_p_values_for_independent_lists_only() -> None:
    runs = ms.Runs.from_scores(SCORES, FEATURES)
    runs.as_resampled().save("resampled.parquet")
    independent = mainstay("aggregate", "scores.parquet", "--method", "rra").stdout
    assert "p value" in independent
    assert "Without p-values" not in independent
    dependent = mainstay("aggregate", "resampled.parquet", "--method", "rra").stdout
    assert "p value" not in dependent
    assert "Without p-values" in dependent
    assert "resamples of the same rows" in dependent
    assert "p value" not in mainstay("aggregate", "scores.parquet", "--method", "stuart").stdout
