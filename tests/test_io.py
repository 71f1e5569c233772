"""Files: runs come back as they were saved, tables from elsewhere mean what they seem to mean,
and a file that cannot be used is refused with a reason."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import rankdata

from mainstay import InputError, Runs
from mainstay._files import write_table
from mainstay.io import read_runs, read_table
from mainstay.io.tables import is_id_name

ODD_NAMES = [
    "a,b", "say \"hi\"", "'", "β-actin", "基因", "# mainstay runs: ranks", "#", " before", "after ",
    "run", "feature", "1", "1.0", "NA", "nan", "", "Unnamed: 0", "a.1", "a", "x;y", "tab\there",
]  # fmt: skip
NAMES = st.one_of(
    st.sampled_from(ODD_NAMES), st.text(st.characters(codec="utf-8", exclude_categories=["C"]))
)
FINITE = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def any_runs(draw, kinds=("support", "ranks", "scores")) -> Runs:
    names = draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
    shape = (draw(st.integers(2, 4)), len(names))
    kind = draw(st.sampled_from(kinds))
    if kind == "support":
        return Runs.from_support(draw(arrays(bool, shape)), features=names)
    if kind == "scores":
        return Runs.from_scores(draw(arrays(float, shape, elements=FINITE)), features=names)
    values = draw(arrays(float, shape, elements=st.integers(0, 3)))
    return Runs.from_ranks(rankdata(values, axis=1), features=names)


def assert_same(found: Runs, expected: Runs) -> None:
    assert found.kind == expected.kind
    assert found.features == expected.features
    assert np.array_equal(found.to_frame(), expected.to_frame())


def write(path, text: str):
    path.write_text(text, encoding="utf-8")
    return path


# --- saved runs ---------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(runs=any_runs())
@example(runs=Runs.from_support(np.zeros((3, 2)), features=["run", "feature"]))
@example(runs=Runs.from_support([[1, 0], [0, 1]], features=["feature", "run"]))
@example(runs=Runs.from_scores([[0.1 + 0.2, 5e-324], [1e300, -0.0]], features=["Unnamed: 0", ""]))
@example(runs=Runs.from_ranks([[1, 2], [1.5, 1.5]], features=["run", "1"]))
def test_saved_runs_come_back_unchanged(runs, ending, tmp_path):
    runs.save(tmp_path / f"runs{ending}")
    assert_same(Runs.load(tmp_path / f"runs{ending}"), runs)


@pytest.mark.parametrize("name", ODD_NAMES)
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("kind", ["support", "scores"])
def test_a_feature_may_have_any_name(name, ending, kind, tmp_path):
    for features in ([name, "z"], ["z", name], [name]):
        table = np.eye(2)[:, : len(features)]
        runs = getattr(Runs, f"from_{kind}")(table, features=features)
        runs.save(str(tmp_path / f"runs{ending}"))
        assert_same(Runs.load(str(tmp_path / f"runs{ending}")), runs)


def test_selections_among_a_hundred_thousand_features_make_a_small_file(tmp_path):
    runs = Runs.from_sets([range(20), range(10, 30)], features=100_000)
    runs.save(tmp_path / "runs.parquet")
    assert (tmp_path / "runs.parquet").stat().st_size < 4_000_000
    assert Runs.load(tmp_path / "runs.parquet").counts.tolist() == runs.counts.tolist()


@pytest.mark.parametrize("ending", [".tsv", ".txt", ""])
def test_runs_are_saved_as_csv_or_parquet_only(ending, tmp_path):
    with pytest.raises(InputError, match=r"unknown file ending .*Valid: \.csv, \.parquet"):
        Runs.from_sets([[0], [1]], 2).save(tmp_path / f"runs{ending}")


# --- one row per run ----------------------------------------------------------------------------

WIDE = {
    "support": [[1, 0, 1], [0, 1, 1]],
    "ranks": [[1, 2.5, 2.5], [3, 2, 1]],
    "scores": [[0.5, -1.0, 2.0], [0.25, 0.0, 1.0]],
}


@pytest.mark.parametrize("run_column", ["run", "", None])
@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet"])
@pytest.mark.parametrize("kind", WIDE)
def test_a_table_with_one_row_per_run_says_by_its_values_what_it_holds(
    kind, ending, run_column, tmp_path
):
    path = tmp_path / f"table{ending}"
    table = pd.DataFrame(WIDE[kind], columns=["a", "b", "c"])
    if run_column is not None:
        table.insert(0, run_column, ["first", "second"])
    if ending == ".parquet":
        table.to_parquet(path)
    else:
        table.to_csv(path, index=False, sep="," if ending == ".csv" else "\t")
    runs = read_runs(path)
    assert (runs.kind, runs.features) == (kind, ("a", "b", "c"))
    assert np.array_equal(runs.to_frame(), WIDE[kind])


@pytest.mark.parametrize("write_index", [True, False])
def test_pandas_and_polars_tables_are_read_alike(write_index, tmp_path):
    table = pd.DataFrame(WIDE["scores"], columns=["a", "b", "c"]).rename_axis("run")
    table.to_parquet(tmp_path / "pandas.parquet", index=write_index)
    table.to_csv(tmp_path / "pandas.csv", index=write_index)
    pl.DataFrame(table).write_parquet(tmp_path / "polars.parquet")
    for name in ("pandas.parquet", "pandas.csv", "polars.parquet"):
        assert_same(read_runs(tmp_path / name), Runs.from_scores(table))


def test_true_and_false_are_selections(tmp_path):
    runs = read_runs(write(tmp_path / "t.csv", "a,b\nTrue,False\nFalse,True\n"))
    assert np.array_equal(runs.support, np.eye(2))


@pytest.mark.parametrize("kind", ["support", "ranks", "scores"])
def test_the_reader_may_say_what_the_values_are(kind, tmp_path):
    path = write(tmp_path / "t.csv", "a,b\n1,1\n1,1\n")
    assert read_runs(path).kind == "support"
    assert read_runs(path, kind=kind).kind == kind


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("a,b\n1,2\n2,1\n", "support", "run 0 .*'b' is 2"),
        ("a,b\n1,3\n2,1\n", "ranks", "run 0 .* not a ranking: feature 'b' has rank 3"),
        ("a,b\n1,0\n,1\n", "auto", "run 1 .*'a' is nan"),
        ("a,b\n0.5,inf\n0.25,1\n", "auto", "run 0 .*'b' is inf"),
        ("a,b,a\n1,0,1\n0,1,1\n", "auto", "more than once.*'a'"),
        ("a,b\n1,0\n0,1\n", "suport", "'suport'. Did you mean 'support'"),
    ],
)
def test_values_that_are_not_runs_are_refused(text, kind, message, tmp_path):
    with pytest.raises(InputError, match=message):
        read_runs(write(tmp_path / "t.csv", text), kind=kind)


# --- run, feature pairs -------------------------------------------------------------------------

PAIRS = "run,feature\nlate,b\nearly,c\nlate,a\n"


def test_pairs_without_the_number_of_features_are_read_with_a_warning(tmp_path):
    path = write(tmp_path / "pairs.csv", PAIRS)
    with pytest.warns(UserWarning, match=r"the 3 features seen .*Give the number of features"):
        runs = read_runs(path)
    assert runs.features == ("b", "c", "a")
    assert runs.support.astype(int).tolist() == [[1, 0, 1], [0, 1, 0]]


def test_pairs_with_the_number_of_features_count_those_never_selected(tmp_path):
    runs = read_runs(write(tmp_path / "pairs.csv", PAIRS), n_features=10)
    assert (runs.n_features, runs.sizes.tolist(), runs.counts.sum()) == (10, [2, 1], 3)


def test_pairs_with_the_names_of_all_features_keep_their_order(tmp_path):
    runs = read_runs(write(tmp_path / "pairs.csv", PAIRS), features=["d", "c", "b", "a"])
    assert runs.features == ("d", "c", "b", "a")
    assert runs.support.astype(int).tolist() == [[0, 0, 1, 1], [0, 1, 0, 0]]


@pytest.mark.parametrize("ending", [".tsv", ".parquet"])
def test_pairs_of_numbers_in_either_order_of_columns_are_read(ending, tmp_path):
    table = pd.DataFrame({"feature": [7, 12, 7], "run": [0, 0, 1]})
    path = tmp_path / f"pairs{ending}"
    table.to_parquet(path) if ending == ".parquet" else table.to_csv(path, index=False, sep="\t")
    runs = read_runs(path, n_features=3)
    assert runs.features[:2] == ("7", "12")
    assert runs.support.astype(int).tolist() == [[1, 1, 0], [1, 0, 0]]


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("run,feature\n1,a\n2,\n", {"n_features": 3}, "row 2 .*empty cell"),
        ("run,feature\n1,a\n,b\n", {"n_features": 3}, "row 2 .*empty cell"),
        ("run,feature\n1,a\n1,a\n2,a\n", {"n_features": 3}, "run 0 .*'a' twice"),
        (PAIRS, {"n_features": 2}, "n_features must be a whole number at least 3, got 2"),
        (PAIRS, {"features": ["a", "b"]}, "run 1 .*unknown feature 'c'; features are 'a', 'b'"),
        (PAIRS, {"features": ["a", "b", "c"], "n_features": 9}, "n_features"),
        ("run,feature\n", {"n_features": 3}, "no rows"),
        ("run,feature,score\n1,a,0.5\n2,b,0.25\n", {}, "'feature' .*not numeric"),
    ],
)
def test_incomplete_or_contradictory_pairs_are_refused(text, arguments, message, tmp_path):
    with pytest.raises(InputError, match=message):
        read_runs(write(tmp_path / "pairs.csv", text), **arguments)


def test_one_run_can_be_read(tmp_path):
    runs = read_runs(write(tmp_path / "pairs.csv", "run,feature\n1,a\n1,b\n"), n_features=3)
    assert runs.support.tolist() == [[True, True, False]]
    assert read_runs(write(tmp_path / "wide.csv", "a,b\n0.5,0.25\n")).n_runs == 1


def test_the_number_of_features_contradicts_a_column_per_feature(tmp_path):
    path = write(tmp_path / "wide.csv", "a,b\n1,0\n0,1\n")
    with pytest.raises(InputError, match="n_features is for tables of run, feature pairs"):
        read_runs(path, n_features=5)


# --- files that cannot be used ------------------------------------------------------------------


@pytest.mark.parametrize("read", [read_table, read_runs, Runs.load], ids=lambda read: read.__name__)
def test_a_missing_file_is_named(read, tmp_path):
    for path in (tmp_path / "nowhere.csv", str(tmp_path), str(tmp_path / "no.parquet")):
        with pytest.raises(InputError, match=re.escape(f"there is no file {str(path)!r}")):
            read(path)


@pytest.mark.parametrize("name", ["runs.docx", "runs", "runs.csv.zip"])
@pytest.mark.parametrize("read", [read_table, read_runs], ids=lambda read: read.__name__)
def test_an_unknown_ending_gets_the_list_of_known_ones(read, name, tmp_path):
    path = write(tmp_path / name, "a,b\n1,0\n0,1\n")
    with pytest.raises(InputError, match=r"file ending .*Valid: \.csv, \.tsv, .*\.parquet"):
        read(path)


BROKEN = {
    "empty": b"",
    "only a header": b"a,b\n",
    "binary": bytes(range(256)) * 20,
    "in an unknown encoding": b"gr\x81\x8fe,b\n1,0\n0,1\n",
    "ragged": b"a,b\n1,0\n0,1,1,1\n",
    "saved, then cut after the first line": b"# mainstay runs: scores\n",
    "saved, then cut after the header": b"# mainstay runs: scores\na,b\n",
    "saved, then cut in a row": b'# mainstay runs: scores\na,b\n1.0,2.0\n"3.',
    "saved, then changed": b"# mainstay runs: colours\na,b\n1.0,2.0\n2.0,1.0\n",
    "a name for runs but no features": b"run\n1\n2\n",
}


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_refused_with_a_reason(content, ending, tmp_path):
    path = tmp_path / f"broken{ending}"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_runs(path)
    assert len(str(caught.value)) > 20
    assert "\n" not in str(caught.value)


def test_a_parquet_file_cut_short_is_refused(tmp_path):
    path = tmp_path / "runs.parquet"
    Runs.from_scores(WIDE["scores"]).save(path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match="is not a parquet file"):
        Runs.load(path)


@pytest.mark.parametrize(
    "table", [pd.DataFrame({"a": [], "b": []}), pd.DataFrame({"run": [], "feature": []})]
)
def test_a_parquet_file_without_rows_is_refused(table, tmp_path):
    table.to_parquet(tmp_path / "empty.parquet")
    with pytest.raises(InputError, match="no rows"):
        read_runs(tmp_path / "empty.parquet")


def test_a_missing_cell_of_a_parquet_file_is_refused(tmp_path):
    table = pd.DataFrame({"a": [1, None], "b": [0, 1]}, dtype="Int64")
    table.to_parquet(tmp_path / "missing.parquet")
    with pytest.raises(InputError, match=r"run 1 .*'a'"):
        read_runs(tmp_path / "missing.parquet")


def test_text_columns_are_named(tmp_path):
    path = write(tmp_path / "t.csv", "sample,a,b\ns1,1,low\ns2,0,high\n")
    with pytest.raises(InputError, match=r"column\(s\) 'sample', 'b' are not numeric.*'run' and"):
        read_runs(path)


# --- rows of text files -------------------------------------------------------------------------


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("quote", ["", '"'])
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["a,b", "1,2", "3,4,5", "6,7"], "line 3 .*has 3 values, but the header has 2 columns"),
        (["a,b", "1,2", "3,4", "6"], "line 4 .*has 1 value, but the header has 2 columns"),
        (["a,b", "s,1,2", "t,3,4"], "line 2 .*has 3 values.*row names.*needs a name"),
        (["a,b", "1,2,", "3,4,"], "line 2 .*has 3 values.*must not end with a separator"),
        (["a,b,", "1,2", "3,4"], "line 2 .*has 2 values.*does the header end with a separator"),
        (["a,b", "1,2", ",,"], "line 3 .*has 3 values"),
        (["a", "1", "2,"], "line 3 .*has 2 values, but the header has 1 column[.]"),
        (["a,b", "", "1,2", "", "3"], "line 5 .*has 1 value"),
    ],
)
def test_a_row_longer_or_shorter_than_the_header_is_refused(
    rows, message, quote, line_end, tmp_path
):
    rows = [f"{quote}{rows[0][0]}{quote}{rows[0][1:]}", *rows[1:]]
    for ending, separator in ((".csv", ","), (".tsv", "\t")):
        path = tmp_path / f"t{ending}"
        path.write_bytes(line_end.join([*rows, ""]).replace(",", separator).encode())
        with pytest.raises(InputError, match=message):
            read_table(path)


def test_the_line_is_found_far_into_a_large_file(tmp_path):
    row = ",".join("12345678") * 1000
    n_columns = row.count(",") + 1
    header = ",".join(f"x{i}" for i in range(n_columns))
    text = "\n".join([header, *[row] * 3000, row + ",9", row])
    with pytest.raises(InputError, match=f"line 3002 .*has {n_columns + 1:,} values"):
        read_table(write(tmp_path / "large.csv", text))


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("end", ["", "{0}", "{0}{0}{0}", "{0}  {0}"])
def test_line_ends_and_blank_lines_at_the_end_do_not_matter(line_end, end, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes((line_end.join(["a,b", "1,2", ",4"]) + end.format(line_end)).encode())
    assert read_table(path).fillna(0).to_numpy().tolist() == [[1, 2], [0, 4]]


@pytest.mark.parametrize("ending", [".csv", ".tsv"])
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(
        st.tuples(*[st.text(st.sampled_from("ab1 ,;\t\"\n'é"), min_size=1)] * 2), min_size=1
    )
)
@example(rows=[('a,"b"\n', "\r\n"), ("\t", "\n\n")])
def test_separators_and_line_breaks_may_be_quoted(rows, ending, tmp_path):
    table = pd.DataFrame([(f"_{first}_", f"_{second}") for first, second in rows])
    table.columns = ["x,\ty", 'z"\n"']
    write_table(table, tmp_path / f"t{ending}")
    read = read_table(tmp_path / f"t{ending}")
    assert list(read.columns) == list(table.columns)
    assert read.to_numpy().tolist() == table.to_numpy().tolist()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"\x00\x01,\x02\n1,2\n", "is not a text file"),
        (b"a,b\n", "holds no rows"),
        (b"a,b,a\n1,2,3\n", "names columns more than once: 'a'"),
    ],
)
def test_text_that_is_no_table_is_refused(content, message, tmp_path):
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_table(tmp_path / "t.csv")


def test_column_names_that_are_the_same_as_text_are_refused(tmp_path):
    np.savez(tmp_path / "t.npz", X=np.eye(2), feature_names=np.array(["a", "a"]))
    with pytest.raises(InputError, match="names columns more than once: 'a'"):
        read_table(tmp_path / "t.npz")


# --- written tables -----------------------------------------------------------------------------

TABLE = pd.DataFrame({"feature": ["a", "b,c"], "rank": [2, 1], "score": [0.1, np.nan]})


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".feather"])
def test_a_table_is_written_as_its_ending_says(ending, tmp_path):
    path = tmp_path / f"t{ending}"
    write_table(TABLE.sort_values("rank"), path)
    pd.testing.assert_frame_equal(read_table(path), TABLE.sort_values("rank", ignore_index=True))
    starts = {".parquet": b"PAR1", ".feather": b"ARROW1", ".tsv": b"feature\trank\tscore"}
    assert path.read_bytes().startswith(starts.get(ending, b"feature,rank,score"))


def test_a_table_is_not_written_under_any_other_ending(tmp_path):
    with pytest.raises(InputError, match=r"Valid: \.csv, \.tsv, \.parquet, \.feather"):
        write_table(TABLE, tmp_path / "t.xlsx")


# --- names of identifiers -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["id", "ID", "patient_id", "sample id", "PatientID", "id_patient", "Nr", "sample no.", "no",
     "number", "index", "row-index", "Key", "cell barcode", "patient", "Sample", "Unnamed: 0", ""],
)  # fmt: skip
def test_names_of_identifiers(name):
    assert is_id_name(name)


@pytest.mark.parametrize(
    "name",
    ["age", "ID1", "IDH1", "valid", "number of reads", "keyboard", "sample_size", "patient age",
     "width", "x7", "index1", "Unnamed"],
)  # fmt: skip
def test_names_that_are_not_those_of_identifiers(name):
    assert not is_id_name(name)
