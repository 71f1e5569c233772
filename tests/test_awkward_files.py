"""Awkward files: what strangers have is read as it was meant, with a line that says what was found;
what could be meant in two ways is refused with the way out."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import logging
import lzma

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from mainstay import InputError, Runs
from mainstay._files import write_table
from mainstay.io import read_data, read_runs, read_table

PLAIN = "größe,gewicht,y\n1.5,2,a\n2.5,3,b\n-3.25,4,a\n0.125,1e3,b\n"
NUMBERS = [[1.5, 2], [2.5, 3], [-3.25, 4], [0.125, 1000]]


def zstd(content: bytes) -> bytes:
    buffer = pa.BufferOutputStream()
    with pa.CompressedOutputStream(buffer, "zstd") as stream:
        stream.write(content)
    return buffer.getvalue().to_pybytes()


def columns_of(n: int = 12, **columns) -> pd.DataFrame:
    """A table of n rows with a plain feature and a target."""
    rng = np.random.default_rng(0)
    return pd.DataFrame({"plain": rng.normal(size=n), **columns, "y": ["a", "b"] * (n // 2)})


def cycled(values: list, n: int = 12) -> list:
    return (values * n)[:n]


def saved(tmp_path, table: pd.DataFrame, name: str = "t.csv", **options):
    table.to_csv(tmp_path / name, index=False, **options)
    return tmp_path / name


def assert_is_the_table(table: pd.DataFrame) -> None:
    assert list(table.columns) == ["größe", "gewicht", "y"]
    assert table[["größe", "gewicht"]].to_numpy().tolist() == NUMBERS
    assert table["y"].tolist() == ["a", "b", "a", "b"]


# --- separators, decimal marks, encodings -------------------------------------------------------


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".tab", ".txt"])
@pytest.mark.parametrize(
    ("separator", "name"), [(",", "commas"), (";", "semicolons"), ("\t", "tabs"), ("|", "'|'")]
)
def test_the_separator_is_found_and_named(ending, separator, name, tmp_path, caplog):
    path = tmp_path / f"t{ending}"
    path.write_text(PLAIN.replace(",", separator), encoding="utf-8")
    assert_is_the_table(read_table(path))
    is_usual = separator == {".csv": ",", ".tsv": "\t", ".tab": "\t"}.get(ending)
    expected = [] if is_usual else [f"{path}: values separated by {name}."]
    assert caplog.messages == expected


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_decimal_commas_are_found_and_named(separator, tmp_path, caplog):
    path = tmp_path / "t.csv"
    path.write_text(PLAIN.replace(",", separator).replace(".", ","), encoding="utf-8")
    assert_is_the_table(read_table(path))
    assert "decimal commas" in caplog.text


def test_decimal_commas_may_be_quoted_in_a_file_separated_by_commas(tmp_path, caplog):
    (tmp_path / "t.csv").write_text('a,b\n"1,5",2\n"2,25",3\n7,4\n')
    assert read_table(tmp_path / "t.csv")["a"].tolist() == [1.5, 2.25, 7]
    assert "decimal commas" in caplog.text


def test_the_line_that_spreadsheets_write_before_the_header_is_heeded(tmp_path):
    (tmp_path / "t.csv").write_text("sep=;\na;b\n1,5;2\n2,5;3\n")
    assert read_table(tmp_path / "t.csv").to_numpy().tolist() == [[1.5, 2], [2.5, 3]]
    (tmp_path / "t.csv").write_text("sep=;\na;b\n1,5;2\n2,5;3;4\n")
    with pytest.raises(InputError, match=r"line 4 .*has 3 values, but the header has 2"):
        read_table(tmp_path / "t.csv")


def test_commas_that_may_separate_thousands_are_refused_until_one_says_what_they_are(tmp_path):
    (tmp_path / "t.csv").write_text("a;b\n1,234;2\n12,500;3\n7;4\n")
    with pytest.raises(InputError, match=r"'a' .*'1,234'.* thousands.*--decimal ,"):
        read_table(tmp_path / "t.csv")
    assert read_table(tmp_path / "t.csv", decimal=",")["a"].tolist() == [1.234, 12.5, 7]


def test_commas_in_one_column_and_points_in_another_are_refused(tmp_path):
    (tmp_path / "t.csv").write_text("a;b\n1,5;2.5\n2,25;3.5\n")
    with pytest.raises(InputError, match=r"decimal point in column 'b' and .* comma in 'a'"):
        read_table(tmp_path / "t.csv")


ENCODINGS = {
    "utf-8-sig": "",
    "utf-16": "text in utf-16",
    "utf-16-le": "text in utf-16-le",
    "utf-32": "text in utf-32",
    "latin-1": "not UTF-8 and was read as latin-1",
    "cp1252": "not UTF-8 and was read as latin-1",
}


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_encoding_is_found_and_named(encoding, tmp_path, caplog):
    (tmp_path / "t.csv").write_bytes(PLAIN.encode(encoding))
    assert_is_the_table(read_table(tmp_path / "t.csv"))
    assert ENCODINGS[encoding] in caplog.text
    assert bool(caplog.text) == bool(ENCODINGS[encoding])


def test_quotes_of_windows_are_read_as_such(tmp_path, caplog):
    (tmp_path / "t.csv").write_bytes("“x”,b\n1,2\n3,4\n".encode("cp1252"))
    assert list(read_table(tmp_path / "t.csv").columns) == ["“x”", "b"]
    assert "read as cp1252" in caplog.text


def test_a_letter_may_lie_on_the_border_of_what_is_read_at_once(tmp_path, caplog):
    text = "a,b\n" + "x" * 4091 + "é,1\ny,2\n"
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    assert read_table(tmp_path / "t.csv")["a"][0].endswith("xé")
    assert caplog.text == ""


def test_the_note_is_one_line(tmp_path, caplog):
    text = PLAIN.replace(",", ";").replace(".", ",")
    (tmp_path / "t.csv").write_bytes(text.encode("latin-1"))
    with caplog.at_level(logging.INFO):
        assert_is_the_table(read_table(tmp_path / "t.csv"))
    (line,) = caplog.messages
    assert "semicolons; text is not UTF-8" in line
    assert "\n" not in line


# --- compressed files, standard input, spreadsheets ---------------------------------------------

PACK = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": zstd}


@pytest.mark.parametrize("ending", PACK)
def test_text_may_be_compressed(ending, tmp_path):
    path = tmp_path / f"t.csv{ending}"
    path.write_bytes(PACK[ending](PLAIN.encode()))
    assert_is_the_table(read_table(path))
    path.write_bytes(PACK[ending](b"a,b,c\n1,0,1\n0,1,1\n"))
    assert read_runs(path).n_runs == 2
    path.write_bytes(PACK[ending](PLAIN.encode())[:-6])
    with pytest.raises(InputError, match="is damaged, or not compressed as"):
        read_table(path)


def test_saved_runs_may_be_compressed(tmp_path):
    runs = Runs.from_scores(np.eye(3), ["a", "b", "c"])
    runs.save(tmp_path / "runs.csv")
    (tmp_path / "runs.csv.gz").write_bytes(gzip.compress((tmp_path / "runs.csv").read_bytes()))
    assert Runs.load(tmp_path / "runs.csv.gz") == runs


def test_only_text_is_read_compressed(tmp_path):
    (tmp_path / "t.parquet.gz").write_bytes(gzip.compress(b"PAR1"))
    with pytest.raises(InputError, match=r"only text can be read compressed .*unpack it first"):
        read_table(tmp_path / "t.parquet.gz")


class Piped:
    def __init__(self, content: bytes, terminal: bool = False):
        self.buffer = io.BytesIO(content)
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


@pytest.mark.parametrize("pack", [bytes, *PACK.values()])
def test_a_dash_is_standard_input(pack, monkeypatch):
    monkeypatch.setattr("sys.stdin", Piped(pack(PLAIN.encode())))
    assert_is_the_table(read_table("-"))


def test_runs_come_through_a_pipe(monkeypatch):
    monkeypatch.setattr("sys.stdin", Piped(b"# mainstay runs: support, 2 runs\na,b\n1,0\n0,1\n"))
    assert read_runs("-").support.tolist() == [[True, False], [False, True]]


def test_a_terminal_or_a_binary_file_on_standard_input_is_refused(monkeypatch):
    monkeypatch.setattr("sys.stdin", Piped(b"", terminal=True))
    with pytest.raises(InputError, match="nothing is sent there; use it as in"):
        read_table("-")
    monkeypatch.setattr("sys.stdin", Piped(b"PAR1..."))
    with pytest.raises(InputError, match="holds a binary file; save it"):
        read_table("-")


@pytest.mark.parametrize("name", ["t.xls", "t.ods"])
def test_other_spreadsheets_say_what_to_do(name, tmp_path):
    (tmp_path / name).write_bytes(b"...")
    with pytest.raises(InputError, match=r"save the table as \.xlsx or \.csv"):
        read_table(tmp_path / name)


def test_endings_may_be_written_in_capitals(tmp_path):
    (tmp_path / "T.CSV").write_text(PLAIN, encoding="utf-8")
    assert_is_the_table(read_table(tmp_path / "T.CSV"))


def workbook(path, rows, *sheets):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for sheet in sheets:
        book.create_sheet(sheet)
    book.save(path)
    return path


def test_the_first_sheet_of_a_workbook_is_the_table(tmp_path, caplog):
    rows = [["a", "b", "flag", "y"], [1.5, "2", True, "u"], [None, "3", False, "v"]]
    table = read_table(workbook(tmp_path / "t.xlsx", [*rows, [None] * 4], "notes"))
    assert table["a"].fillna(-1).tolist() == [1.5, -1]
    assert table["b"].tolist() == [2, 3]  # numbers stored as text
    assert table["flag"].dtype == bool
    assert "read sheet 'Sheet', the first of 2 (the others: 'notes')" in caplog.text


def test_columns_of_a_workbook_need_different_names(tmp_path):
    with pytest.raises(InputError, match="names columns more than once: 'a'"):
        read_table(workbook(tmp_path / "t.xlsx", [["a", "a"], [1, 2]]))
    with pytest.raises(InputError, match="is empty"):
        read_table(workbook(tmp_path / "t.xlsx", []))


# --- words among numbers, dates, booleans -------------------------------------------------------


def test_words_among_numbers_are_named_with_the_ways_out(tmp_path):
    values = ["1.5", "n.d.", "2.5", "<0.1", "3.25", "4", "5", "<0.2", "6", "7", "8", "n.d."]
    path = saved(tmp_path, columns_of(assay=values))
    with pytest.raises(InputError) as caught:
        read_data(path, target="y")
    message = str(caught.value)
    assert "column 'assay' holds numbers, except 'n.d.' (in 2 rows), '<0.1' (in 1 row)" in message
    assert "--missing n.d. --missing '<'" in message
    assert "--drop assay" in message
    assert "--keep assay" in message


def test_words_can_be_treated_as_missing_and_are_counted(tmp_path, caplog):
    values = ["1.5", "n.d.", "2.5", "<0.1", "3.25", "4", "5", "<0.2", "6", "7", "8", "n.d."]
    path = saved(tmp_path, columns_of(assay=values, code=cycled([1.0, -999.0, 2.5])))
    X = read_data(path, target="y", missing=["n.d.", "<", "-999", "ND"]).X
    assert X["assay"].dtype == float
    assert X["assay"].isna().tolist() == [value in ("n.d.", "<0.1", "<0.2") for value in values]
    assert X["code"].isna().sum() == 4
    (line,) = caplog.messages
    assert "treated as missing: 'n.d.' (2 values), '<' (2 values), '-999' (4 values)" in line
    assert "found nowhere: 'ND'" in line


def test_words_are_missing_among_decimal_commas_too(tmp_path):
    values = cycled(["1,5", "n.d.", "2,25", "7"])
    path = saved(tmp_path, columns_of(assay=values).drop(columns="plain"), sep=";")
    X = read_data(path, target="y", missing=["n.d."]).X
    assert X["assay"].dropna().tolist() == [1.5, 2.25, 7] * 3


def test_mostly_numbers_may_be_categories(tmp_path):
    path = saved(tmp_path, columns_of(chromosome=cycled(["1", "2", "X", "3"])))
    with pytest.raises(InputError, match="'chromosome' holds numbers, except 'X'"):
        read_data(path, target="y")
    assert read_data(path, target="y", keep=["chromosome"]).X["chromosome"][2] == "X"


@pytest.mark.parametrize("values", [["low", "2", "high"], ["A1", "B2", "C3"], ["yes", "no", "no"]])
def test_words_are_categories(values, tmp_path):
    path = saved(tmp_path, columns_of(words=cycled(values)))
    assert read_data(path, target="y").X["words"].tolist() == cycled(values)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["5%", "12.5%", "7%"], "numbers with '%' behind them, such as '5%'. Remove it"),
        (["1.5 mg", "2 mg", "3 mg"], "numbers with 'mg' behind them"),
        (["2024-01-31", "2024-02-01", "2023-12-24"], "holds dates or times such as '2024-01-31'"),
        (["31.01.2024", "1.2.2024", "24.12.2023"], "days since a start"),
        (["01/31/24", "02/01/24", "12/24/23"], "--drop odd"),
        (["2024-01-31T12:30:00Z", "2024-02-01 08:00", ""], "--keep odd"),
        (["08:30", "9:15:10", "23:59"], "dates or times"),
    ],
)
def test_units_and_dates_are_refused_with_what_to_do(values, message, tmp_path):
    path = saved(tmp_path, columns_of(odd=cycled(values)))
    with pytest.raises(InputError) as caught:
        read_data(path, target="y")
    assert message in str(caught.value)
    assert read_data(path, target="y", keep=["odd"]).X["odd"].dtype.kind == "O"


def test_stored_dates_are_refused_with_what_to_do(tmp_path):
    table = columns_of(day=pd.date_range("2024-01-01", periods=12))
    table.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError, match=r"dates .*'2024-01-01.*days since a start.*--drop day"):
        read_data(tmp_path / "t.parquet", target="y")


def test_booleans_are_features_also_with_gaps(tmp_path):
    path = saved(tmp_path, columns_of(all=cycled([True, False]), some=cycled([True, None, False])))
    X = read_data(path, target="y").X
    assert X["all"].dtype == bool
    assert X["some"].fillna(-1).tolist() == cycled([1.0, -1.0, 0.0])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["1.5", "2.5", "n.d.", "3.5"], "target 'odd' holds numbers, except 'n.d.' .in 3 rows"),
        (["2024-01-31", "2024-02-01"], "target 'odd' holds dates such as '2024-01-31'"),
    ],
)
def test_an_odd_target_is_refused_with_what_to_do(values, message, tmp_path):
    path = saved(tmp_path, columns_of(odd=cycled(values)))
    with pytest.raises(InputError, match=message):
        read_data(path, target="odd", drop=["y"])


def test_words_that_stand_for_nothing_are_named_where_they_may_be_a_category(tmp_path, caplog):
    path = saved(tmp_path, columns_of(drug=cycled(["None", "A", "B"]), z=cycled(["NA", "1.5"])))
    X = read_data(path, target="y").X
    assert X["drug"].isna().sum() == 4
    (line,) = caplog.messages
    assert "'None' (4 values) among text in 'drug' taken for missing; rename what is" in line


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("My study\n\na,b,y\n1,2,u\n3,4,v\n", "line 3 .*lines above the header, such as a title"),
        ("# by me\na,b,y\n1,2,u\n3,4,v\n", "line 2 .*lines above the header"),
        ("a,b,y\n1,2,u\n3,4,v\nSource: me\n", "line 4 .*or is there text below the table"),
        ('a,b,y\n1,2,u\n"3,4,v\n5,6,u\n', "quotation mark that is never closed, .*line 3"),
        ('a;b\n"1,234";2.5\n"5,678";3.5\n', "commas .*'a' .*decimal points in 'b'; remove commas"),
        ("a,y\n1,u\n2,\n3,v\n", "target 'y' is missing in 1 row[.] Take these rows out"),
    ],
)
def test_what_is_not_the_table_is_found(text, message, tmp_path):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        read_data(tmp_path / "t.csv", target="y")


def test_a_file_of_one_column_says_which_separators_there_are(tmp_path):
    (tmp_path / "t.csv").write_text("a b y\n1 2 3\n4 5 6\n")
    with pytest.raises(InputError, match=r"single column, 'a b y'.*semicolons, tabs"):
        read_data(tmp_path / "t.csv", target="y")


# --- names --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["carriage\rreturn", "line\nbreak", "1" * 5000, "x" * 200_000, "\x1b[31mred", "=1+1"]
)
def test_any_name_is_read(name, tmp_path):
    path = saved(tmp_path, columns_of(**{name: np.arange(12) % 5 / 2}), quoting=csv.QUOTE_ALL)
    assert list(read_data(path, target="y").X.columns) == ["plain", name]


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_runs_keep_names_with_carriage_returns_and_very_long_ones(ending, tmp_path):
    runs = Runs.from_scores(np.eye(4), ["a\rb", "\r", "1" * 5000, "x" * 200_000])
    runs.save(tmp_path / f"runs{ending}")
    assert Runs.load(tmp_path / f"runs{ending}") == runs


@pytest.mark.parametrize("ending", [".csv", ".tsv"])
def test_no_spreadsheet_takes_a_written_name_for_a_formula(ending, tmp_path):
    names = ["=1+1", "+1", "-1", "@sum", "\tx", "\ry", "plain", "a=b"]
    write_table(pd.DataFrame({"feature": names, "score": -1.0}), tmp_path / f"t{ending}")
    read = pd.read_csv(tmp_path / f"t{ending}", sep="," if ending == ".csv" else "\t")
    assert read["feature"].tolist() == [f"'{name}" for name in names[:6]] + names[6:]
    assert (read["score"] == -1).all()
