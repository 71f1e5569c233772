"""`mainstay select`, `mainstay aggregate`, and the data files they read."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp
from click.testing import CliRunner, Result
from sklearn.datasets import load_iris

import mainstay as ms
from mainstay import io
from mainstay.aggregation.rules import rules_of_ranks
from mainstay.cli import main
from mainstay.report.repeat import _PYTHON_ONLY, cli_line, config_file

IRIS = load_iris(as_frame=True)
TABLE = IRIS.data.assign(species=IRIS.target_names[IRIS.target])


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def select(*arguments: str) -> Result:
    return run("select", *arguments, "--target", "species", "--resamples", "20")


# ---------------------------------------------------------------------- files


def as_npz(path: str, table: pd.DataFrame) -> None:
    X = table.drop(columns="species")
    np.savez(path, X=X.to_numpy(), species=table["species"].to_numpy(dtype=str),
             feature_names=np.array(X.columns, dtype=str))  # fmt: skip


def as_mat(path: str, table: pd.DataFrame) -> None:
    X = table.drop(columns="species").to_numpy()
    codes = table["species"].astype("category").cat.codes.to_numpy()
    scipy.io.savemat(path, {"X": sp.csc_matrix(X), "species": codes})


def as_h5ad(path: str, table: pd.DataFrame, *, sparse: bool = False) -> None:
    """The parts of an AnnData file that matter here, written by hand."""
    X = table.drop(columns="species")
    category = table["species"].astype("category")
    with h5py.File(path, "w") as file:
        if sparse:
            matrix, group = sp.csr_array(X.to_numpy()), file.create_group("X")
            group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", matrix.shape
            for part in ("data", "indices", "indptr"):
                group[part] = getattr(matrix, part)
        else:
            file["X"] = X.to_numpy()
        var, obs = file.create_group("var"), file.create_group("obs")
        var.attrs["_index"] = obs.attrs["_index"] = "_index"
        var["_index"] = np.array(X.columns, dtype="S")
        obs["_index"] = np.array([f"cell {i}" for i in range(len(X))], dtype="S")
        species = obs.create_group("species")
        species["categories"] = np.array(category.cat.categories, dtype="S")
        species["codes"] = category.cat.codes.to_numpy()


WRITERS: dict[str, Any] = {
    "iris.csv": lambda path, table: table.to_csv(path, index=False),
    "iris.tsv": lambda path, table: table.to_csv(path, index=False, sep="\t"),
    "iris.parquet": lambda path, table: table.to_parquet(path),
    "iris.feather": lambda path, table: table.to_feather(path),
    "iris.npz": as_npz,
    "iris.h5ad": as_h5ad,
    "sparse.h5ad": lambda path, table: as_h5ad(path, table, sparse=True),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_kind_of_file_gives_the_same_table(name: str) -> None:
    WRITERS[name](name, TABLE)
    data = io.read_data(name, target="species")
    assert list(data.X.columns) == list(TABLE.columns[:4])
    np.testing.assert_allclose(data.X, TABLE.iloc[:, :4])
    assert (data.y.astype(str) == TABLE["species"].to_numpy(dtype=str)).all()
    assert "petal" in select(name, "--n-features", "1").stdout


def test_mat_files_have_numbered_features() -> None:
    as_mat("iris.mat", TABLE)
    table = io.read_table("iris.mat")
    assert list(table.columns) == ["x0", "x1", "x2", "x3"]
    assert select("iris.mat", "--n-features", "1").exit_code == 0


def test_mat_files_may_hold_text_in_cells() -> None:
    names, species = (np.array(v, dtype=object) for v in (TABLE.columns[:4], TABLE["species"]))
    X = TABLE.iloc[:, :4].to_numpy()
    scipy.io.savemat("iris.mat", {"X": X, "feature_names": names, "species": species})
    data = io.read_data("iris.mat", target="species")
    assert list(data.X.columns) == list(TABLE.columns[:4])
    assert list(data.y) == list(TABLE["species"])


# ---------------------------------------------------------------------- annotations of rows


def annotated(path: str, **obs: Any) -> None:
    """An .h5ad file of iris with more columns in `obs`, written by `write(group, name)`."""
    as_h5ad(path, TABLE)
    with h5py.File(path, "a") as file:
        for name, write in obs.items():
            write(file["obs"], name)


def nullable(values: Any, missing: list[int], encoding: str) -> Any:
    def write(obs: Any, name: str) -> None:
        group = obs.create_group(name)
        group.attrs["encoding-type"] = encoding
        group["values"] = values
        group["mask"] = np.isin(np.arange(150), missing)

    return write


def plain(values: Any) -> Any:
    return lambda obs, name: obs.create_dataset(name, data=values)


def test_a_missing_label_of_h5ad_is_missing_and_not_the_last_category() -> None:
    as_h5ad("iris.h5ad", TABLE)
    with h5py.File("iris.h5ad", "a") as file:
        file["obs/species/codes"][:3] = -1
    result = select("iris.h5ad")
    assert result.exit_code == 2
    assert "the target 'species' is missing in 3 rows" in result.stderr


def test_missing_groups_are_refused() -> None:
    groups = TABLE.assign(patient=[None, *("ab" * 75)[:149]])
    groups.to_csv("iris.csv", index=False)
    assert (
        "the groups 'patient' are missing in 1 row;"
        in select("iris.csv", "--groups", "patient").stderr
    )


@pytest.mark.parametrize("name", ["iris.h5ad", "iris.npz", "iris.mat"])
def test_annotations_are_never_features(name: str) -> None:
    patient = np.arange(150) // 2
    if name.endswith("h5ad"):
        annotated(name, patient=plain(patient), batch=plain(patient % 7))
    else:
        codes = TABLE["species"].astype("category").cat.codes.to_numpy()
        arrays = {"X": TABLE.iloc[:, :4].to_numpy(), "species": codes, "patient": patient,
                  "batch": patient % 7, "loadings": np.ones((4, 4))}  # fmt: skip
        np.savez(name, **arrays) if name.endswith("npz") else scipy.io.savemat(name, arrays)
    assert io.read_table(name).shape == (150, 4)
    data = io.read_data(name, target="species", groups="patient")
    assert data.X.shape == (150, 4)
    assert data.groups is not None
    assert list(data.groups) == list(patient)
    assert "150 rows × 4 features" in select(name).stdout
    assert select(name, "--drop", "batch").exit_code == 0  # it is left out already


def test_an_array_of_another_length_is_no_target() -> None:
    np.savez("iris.npz", X=TABLE.iloc[:, :4].to_numpy(), species=np.arange(7))
    assert "'species' of iris.npz has 7 entries for 150 rows" in select("iris.npz").stderr


WORDS = np.array(["ill", "well"] * 75, dtype="S")


@pytest.mark.parametrize(
    ("write", "expected"),
    [
        (nullable(np.arange(150) % 3, [], "nullable-integer"), np.arange(150) % 3),
        (nullable(np.arange(150) % 2 == 1, [], "nullable-boolean"), np.arange(150) % 2 == 1),
        (nullable(WORDS, [], "nullable-string-array"), WORDS.astype(str)),
    ],
    ids=["integer", "boolean", "text"],
)
def test_nullable_columns_of_h5ad_are_read(write: Any, expected: np.ndarray) -> None:
    annotated("iris.h5ad", outcome=write)
    assert list(io.read_data("iris.h5ad", target="outcome").y) == list(expected)


@pytest.mark.parametrize("encoding", ["nullable-integer", "nullable-boolean"])
def test_masked_entries_of_h5ad_are_missing(encoding: str) -> None:
    values = np.arange(150) % 2
    values = values if encoding == "nullable-integer" else values == 1
    annotated("iris.h5ad", outcome=nullable(values, [3, 5], encoding))
    result = run("select", "iris.h5ad", "--target", "outcome")
    assert result.exit_code == 2
    assert "the target 'outcome' is missing in 2 rows" in result.stderr


def test_categories_of_older_h5ad_files_are_read() -> None:
    annotated("iris.h5ad", outcome=plain(np.arange(150) % 2))
    with h5py.File("iris.h5ad", "a") as file:
        file["obs/__categories/outcome"] = np.array(["ill", "well"], dtype="S")
        file["obs/outcome"].attrs["categories"] = file["obs/__categories/outcome"].ref
    assert list(io.read_data("iris.h5ad", target="outcome").y[:2]) == ["ill", "well"]


def test_a_name_of_both_a_gene_and_an_annotation_is_unclear() -> None:
    gene = TABLE.columns[0]
    annotated("iris.h5ad", **{gene: plain(np.arange(150) % 2)})
    result = run("select", "iris.h5ad", "--target", gene)
    assert result.exit_code == 2
    assert f"{gene!r} is both a feature and an annotation" in result.stderr
    assert "150 rows × 4 features" in select("iris.h5ad").stdout


def test_an_annotation_in_an_unknown_encoding_matters_only_if_it_is_asked_for() -> None:
    annotated("iris.h5ad", odd=lambda obs, name: obs.create_group(name))
    assert select("iris.h5ad").exit_code == 0
    result = run("select", "iris.h5ad", "--target", "odd")
    assert result.exit_code == 2
    assert "'/obs/odd' has the encoding 'unknown'" in result.stderr


# ---------------------------------------------------------------------- identifiers

RNG = np.random.default_rng(0)
COUNTS = RNG.permutation(10_000)[:150]
IDENTIFIERS = {
    "text": ("code", [f"s{i}" for i in range(150)]),
    "named like an id": ("patient_id", COUNTS),
    "named like an id, with gaps": ("Sample ID", [None, None, *map(float, COUNTS[2:])]),
    "row numbers": ("x", range(1000, 1150)),
    "shuffled row numbers": ("x", RNG.permutation(150)),
    "without a name": ("", COUNTS),
}


@pytest.mark.filterwarnings("ignore:features of text or categories are not compared")
@pytest.mark.parametrize(("name", "values"), IDENTIFIERS.values(), ids=IDENTIFIERS)
def test_an_identifier_is_refused_unless_it_is_dropped_or_kept(name: str, values: Any) -> None:
    TABLE.assign(**{name: values}).to_csv("iris.csv", index=False)
    column = pd.read_csv("iris.csv").columns[-1]
    result = select("iris.csv")
    assert result.exit_code == 2
    for part in (f"column {column!r}", "--drop", "--keep"):
        assert part in result.stderr
    assert "× 4 features" in select("iris.csv", "--drop", column).stdout
    assert "× 5 features" in select("iris.csv", "--keep", column).stdout


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("reads", COUNTS),
        ("number_of_reads", COUNTS),
        ("ID1", COUNTS),  # a gene
        ("patient_id", np.arange(150) // 2),
        ("index", np.linspace(0, 1, 150)),
        ("days", np.arange(150) * 2),
    ],
)
def test_counts_and_measurements_are_no_identifiers(name: str, values: Any) -> None:
    TABLE.assign(**{name: values}).to_csv("iris.csv", index=False)
    assert "× 5 features" in select("iris.csv").stdout


def test_columns_of_ranks_are_no_row_numbers() -> None:
    ranks = pd.DataFrame({f"x{i}": RNG.permutation(150) for i in range(5)})
    ranks.assign(species=TABLE["species"]).to_csv("iris.csv", index=False)
    assert "× 5 features" in select("iris.csv").stdout


def test_all_identifiers_are_named_at_once() -> None:
    rows = [f"s{i}" for i in range(150)]
    TABLE.assign(code=rows, id=COUNTS, small=np.arange(150, dtype=np.uint8)).to_parquet("i.parquet")
    message = run("select", "i.parquet", "--target", "species").stderr
    assert "column 'code' looks like an identifier" in message
    assert "(So do 'id', 'small'.)" in message


def test_a_column_to_keep_must_be_a_feature() -> None:
    TABLE.to_csv("iris.csv", index=False)
    assert "unknown feature to keep 'species'" in select("iris.csv", "--keep", "species").stderr


# ---------------------------------------------------------------------- select


def test_select_prints_the_ranked_features_and_the_stability() -> None:
    TABLE.to_csv("iris.csv", index=False)
    result = select("iris.csv", "--n-features", "2", "--ranker", "information_gain")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert "2 features selected" in lines[0]
    assert lines[3].split()[:2] == ["1", "petal"]
    assert any(line.startswith("nogueira") for line in lines)
    assert any(line.startswith("sma_count") for line in lines)


@pytest.mark.parametrize("name", ["[/]", "[a]b", "x[0]", "[bold]z", ":smile:", "back\\[slash]"])
def test_names_are_printed_as_they_are(name: str) -> None:
    TABLE.rename(columns={"petal width (cm)": name}).to_csv("iris.csv", index=False)
    result = select("iris.csv", "--n-features", "2")
    assert result.exit_code == 0, result.exception
    assert any(f"  {name} " in line for line in result.stdout.splitlines())


def test_select_writes_the_table_and_the_runs() -> None:
    TABLE.to_csv("iris.csv", index=False)
    result = select("iris.csv", "--n-features", "0.5", "--output", "features.csv",
                    "--save-runs", "runs.parquet", "--json")  # fmt: skip
    assert result.exit_code == 0
    printed = json.loads(result.stdout)
    saved = pd.read_csv("features.csv")
    assert [row["feature"] for row in printed["features"]] == list(saved["feature"])
    assert saved["selected"].sum() == 2
    runs = ms.Runs.load("runs.parquet")
    assert (runs.n_runs, runs.n_features) == (20, 4)
    assert printed["stability"][0]["value"] == pytest.approx(ms.stability(runs, "nogueira@2").value)


def test_select_equals_the_library() -> None:
    TABLE.to_csv("iris.csv", index=False)
    printed = json.loads(select("iris.csv", "-r", "mrmr", "-r", "chi_square", "--json").stdout)
    selector = ms.EnsembleSelector(["mrmr", "chi_square"], n_resamples=20, random_state=0)
    selector.fit(TABLE.drop(columns="species"), TABLE["species"])
    assert [row["feature"] for row in printed["features"]] == list(
        selector.feature_table_["feature"]
    )


@pytest.mark.parametrize("aggregation", ["frequency", "vote"])
def test_the_features_that_most_runs_select_can_be_asked_for(aggregation: str) -> None:
    TABLE.to_csv("iris.csv", index=False)
    result = select("iris.csv", "--n-features", "2", "--aggregation", aggregation, "--json")
    assert result.exit_code == 0, result.stderr
    features = [row["feature"] for row in json.loads(result.stdout)["features"]]
    assert all(name.startswith("petal") for name in features[:2])


@pytest.mark.parametrize(
    "options",
    [{"ranker": ["f_statistic", "information_gain"], "ranker_weights": [2, 1]},
     {"n_features_per_run": 2}, {"scoring": "accuracy"}, {"similarity_threshold": None}],
)  # fmt: skip
def test_no_command_is_given_for_what_no_command_can_do(options: dict[str, Any]) -> None:
    usual = ms.EnsembleSelector().get_params()
    assert {name: usual[name] for name in _PYTHON_ONLY} == _PYTHON_ONLY
    source = {"file": "iris.csv", "target": "species"}
    plain = {"n_resamples": 3, "n_features_to_select": 2}
    fitted = ms.EnsembleSelector(**plain, **options).fit(IRIS.data, TABLE["species"])
    assert cli_line(fitted.result(source=source).settings) is None
    fitted = ms.EnsembleSelector(**plain).fit(IRIS.data, TABLE["species"])
    line = cli_line(fitted.result(source=source).settings)
    assert line == "mainstay select iris.csv --target species --n-features 2 --resamples 3"


@pytest.mark.filterwarnings("always:the result has no forecast")
def test_the_rankings_of_several_rankers_are_combined_as_asked_for() -> None:
    TABLE.to_csv("iris.csv", index=False)
    options = ["--target", "species", "--ranker", "f_statistic", "--ranker", "information_gain",
               "--aggregation", "l2_norm", "--ranker-aggregation", "stuart",
               "--n-features", "2", "--resamples", "5", "--seed", "0"]  # fmt: skip
    printed = run("select", "iris.csv", *options, "--save", "r.zip")
    assert printed.exit_code == 0, printed.output
    assert "Warning: the result has no forecast of larger ensembles" in printed.stderr
    assert "ranked by combined score of the rankers (stuart), each of which ranks" in printed.stdout
    result = ms.load_result("r.zip")
    in_python = ms.EnsembleSelector(
        ["f_statistic", "information_gain"], n_features_to_select=2, n_resamples=5,
        aggregation="l2_norm", ranker_aggregation="stuart", random_state=0,
    ).fit(IRIS.data, TABLE["species"])  # fmt: skip
    np.testing.assert_array_equal(result.ranking.scores, in_python.ranking_.scores)
    assert cli_line(result.settings) == shlex.join(["mainstay", "select", "iris.csv", *options])
    again = config_file(result.settings)
    assert 'ranker-aggregation = "stuart"' in again
    Path("again.toml").write_text(again)
    assert run("select", "--config", "again.toml", "--save", "s.zip").exit_code == 0
    np.testing.assert_array_equal(ms.load_result("s.zip").ranking.scores, result.ranking.scores)
    methods = run("report", "r.zip", "--methods").stdout
    assert "combined by the rule 'l2_norm'" in methods
    assert "the rankings of the rankers by the rule 'stuart'" in methods


@pytest.mark.parametrize("command", ["select", "replicate"])
def test_the_help_lists_what_combines_rankers(command: str) -> None:
    printed = " ".join(run(command, "--help").stdout.split())
    described = printed.partition("--ranker-aggregation NAME")[2].partition("--")[0]
    assert all(name in described for name in rules_of_ranks())


def test_select_says_what_the_task_is_and_why() -> None:
    IRIS.frame.to_csv("iris.csv", index=False)
    as_classes, as_numbers = (
        run("select", "iris.csv", "--target", "target", "--resamples", "5", *more)
        for more in ([], ["--task", "regression", "-r", "f_statistic"])
    )
    head = "150 rows × 4 features, target 'target'"
    assert f"{head} (classification: y holds 3 distinct whole numbers); " in as_classes.stdout
    assert f"{head} (regression: as asked for); " in as_numbers.stdout


def test_text_cannot_be_regressed_on() -> None:
    TABLE.to_csv("iris.csv", index=False)
    result = select("iris.csv", "--task", "regression")
    assert result.exit_code == 2
    assert "y holds categories" in result.stderr


def test_the_command_in_the_result_keeps_task_and_columns() -> None:
    IRIS.frame.assign(row=range(150)).to_csv("iris.csv", index=False)
    options = ["--target", "target", "--ranker", "f_statistic", "--resamples", "5",
               "--task", "regression", "--keep", "row", "--seed", "3"]  # fmt: skip
    assert run("select", "iris.csv", *options, "--save", "r.zip").exit_code == 0
    line = cli_line(ms.load_result("r.zip").settings)
    assert line == shlex.join(["mainstay", "select", "iris.csv", *options])


def test_groups_are_drawn_together() -> None:
    TABLE.assign(patient=np.arange(150) // 5).to_csv("iris.csv", index=False)
    result = select("iris.csv", "--groups", "patient")
    assert result.exit_code == 0
    assert "150 rows × 4 features" in result.stdout


def with_column(**columns: Any) -> None:
    TABLE.assign(**columns).to_csv("iris.csv", index=False)


@pytest.mark.parametrize(
    ("prepare", "arguments", "message"),
    [
        (lambda: with_column(), ["--groups", "patients"], "unknown column .*'patients'.* Valid"),
        (lambda: with_column(species="one"), [], "target 'species' is constant"),
        (lambda: with_column(species=[None] * 3 + ["a"] * 147), [], "missing in 3 rows"),
        (lambda: with_column(species=[f"s{i}" for i in range(150)]), [], "identifier"),
        (
            lambda: with_column(id=[f"s{i}" for i in range(150)]),
            [],
            "'id' looks .* is text .*--drop id",
        ),
        (lambda: with_column(bad=[np.inf] + [0.0] * 149), [], "'bad' holds infinite values"),
        (lambda: with_column(), ["--ranker", "informtion_gain"], "Did you mean 'information_gain'"),
        (lambda: with_column(), ["--aggregation", "avg"], "unknown aggregation"),
        (lambda: with_column(), ["--ranker-aggregation", "avg"], "Valid: mean, .*, borda, rra"),
        (lambda: with_column(), ["--ranker-aggregation", "borda"], "is for several rankers"),
        (lambda: with_column(), ["--n-features", "9"], "from 1 to 4, got 9"),
        (lambda: with_column(), ["--n-features", "few"], "'expected_false<=1', got 'few'"),
        (lambda: with_column(), ["--resampling", "boot"], "unknown resampling"),
        (lambda: Path("iris.csv").write_bytes(bytes(range(256))), [], "is not a text file"),
        (
            lambda: Path("iris.csv").write_text("species\na\nb\n"),
            [],
            "has a single column, 'species'",
        ),
    ],
)
def test_what_is_wrong_is_said_with_exit_code_2(
    prepare: Any, arguments: list[str], message: str
) -> None:
    prepare()
    result = select("iris.csv", *arguments)
    assert result.exit_code == 2
    assert "Traceback" not in result.output
    assert re.search(message, result.stderr), result.stderr


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (pd.date_range("2020", periods=150), "dates or times such as '2020-01-01 00:00:00'"),
        (pd.to_timedelta(np.arange(150) % 3, unit="D"), "neither numbers nor text but durations"),
        ([[1, 2]] * 150, "neither numbers nor text but lists"),
    ],
)
def test_a_column_of_neither_numbers_nor_text_is_refused(values: Any, kind: str) -> None:
    TABLE.assign(when=values).to_parquet("iris.parquet")
    result = select("iris.parquet")
    assert result.exit_code == 2
    assert f"column 'when' holds {kind}" in result.stderr
    assert select("iris.parquet", "--drop", "when").exit_code == 0


@pytest.mark.parametrize("ending", ["parquet", "feather", "npz", "mat", "h5ad"])
def test_a_file_that_is_not_what_its_name_says(ending: str) -> None:
    Path(f"iris.{ending}").write_text("sepal,petal\n1,2\n")
    result = select(f"iris.{ending}")
    assert result.exit_code == 2
    assert f"could not be read as {ending}" in result.stderr


def test_an_npz_without_x_is_reported() -> None:
    np.savez("iris.npz", data=np.zeros((3, 2)))
    assert "needs a two-dimensional array 'X'" in select("iris.npz").stderr


def test_a_wrong_target_among_thousands_of_columns_does_not_list_them_all() -> None:
    np.savez("wide.npz", X=np.zeros((3, 2000)), y=np.arange(3))
    message = run("select", "wide.npz", "--target", "z").stderr
    assert "(2001 in all)" in message
    assert len(message) < 300


# ---------------------------------------------------------------------- aggregate


def test_aggregate_combines_rankings() -> None:
    ranks = np.argsort(np.random.default_rng(0).random((6, 5)), axis=1) + 1
    pd.DataFrame(ranks, columns=list("abcde")).to_csv("ranks.csv", index=False)
    result = run("aggregate", "ranks.csv", "--method", "rra", "--output", "out.csv", "--json")
    assert result.exit_code == 0
    expected = ms.aggregate(ms.Runs.from_ranks(ranks, list("abcde")), "rra").to_frame()
    best_first = list(expected.sort_values("rank")["feature"])
    assert [row["feature"] for row in json.loads(result.stdout)] == best_first
    assert list(pd.read_csv("out.csv")["feature"]) == best_first
    shown = run("aggregate", "ranks.csv", "--method", "rank_mean", "--top", "3").stdout
    assert len(shown.splitlines()) == 2 + 1 + 3


def test_aggregate_says_what_is_wrong() -> None:
    pd.DataFrame({"a": [1, 0], "b": [0, 1]}).to_csv("sets.csv", index=False)
    assert run("aggregate", "sets.csv", "--method", "ra").exit_code == 2
    assert run("aggregate", "nothing.csv").exit_code == 2


def test_the_table_has_a_companion_that_says_what_its_columns_mean() -> None:
    TABLE.to_csv("iris.csv", index=False)
    printed = select("iris.csv", "--output", "features.csv").output
    assert "features.columns.csv" in printed
    table, meaning = pd.read_csv("features.csv"), pd.read_csv("features.columns.csv")
    assert set(meaning["column"]) == set(table.columns)
    assert meaning["meaning"].str.len().min() > 10


def test_a_report_can_be_given_a_title() -> None:
    TABLE.to_csv("iris.csv", index=False)
    select("iris.csv", "--report", "page.html", "--title", "Cells & <genes>")
    assert "<h1>Cells &amp; &lt;genes&gt;</h1>" in Path("page.html").read_text("utf-8")
