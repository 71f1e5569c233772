"""Rows that are read block by block give what they give in memory, however they are cut."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import mainstay as ms
from mainstay._checkpoint import Store
from mainstay._kernels.contingency import add_cells, width_cells
from mainstay.batches import BLOCK_ROWS
from mainstay.batches.memory import parse_memory, shown
from mainstay.rankers import Binning, Correlation, FStatistic, InformationGain
from naive_rankers import cell_sums, width_codes

N, P = 3 * BLOCK_ROWS + 123, 7
RANKERS = (
    "f_statistic",
    "correlation",
    "information_gain",
    "symmetric_uncertainty",
    "gain_ratio",
    "chi_square",
    "cramers_v",
)
SETTINGS: dict[str, Any] = {
    "resampling": "poisson",
    "n_resamples": 8,
    "n_features_to_select": 2,
    "random_state": 0,
}


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """Numbers with gaps, a constant, whole numbers, categories coded as integers, a twin."""
    rng = np.random.default_rng(5)
    y = rng.integers(2, size=N)
    a = rng.normal(size=N) + 100
    b = rng.normal(size=N) + 0.5 * y
    gappy = np.where(rng.random(N) < 0.1, np.nan, rng.normal(size=N) + 0.2 * y)
    late = np.where(np.arange(N) < BLOCK_ROWS + 5, np.nan, 1e6 + rng.normal(size=N) + 0.3 * y)
    return pd.DataFrame(
        {
            "a": a,
            "b": b,
            "twin": (b + 0.1 * rng.normal(size=N)).astype(np.float32),
            "constant": np.full(N, 3.0),
            "gappy": gappy,
            "late": late,
            "level": rng.integers(4, size=N) + y,
            "y": y,
        }
    )


def write_folder(table: pd.DataFrame, folder: Path, sizes: list[int], **options: Any) -> Path:
    folder.mkdir()
    start = 0
    for number, size in enumerate(sizes):
        part = table.iloc[start : start + size]
        part.to_parquet(folder / f"part-{number:03}.parquet", index=False, **options)
        start += size
    assert start == len(table)
    return folder


@pytest.fixture(scope="module")
def folder(table: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folder(table, tmp_path_factory.mktemp("rows") / "cut", [5000, 1, 3000, N - 8001])


def in_memory(table: pd.DataFrame, ranker: Any, **settings: Any) -> ms.EnsembleSelector:
    y = table["y"].to_numpy()
    return ms.EnsembleSelector(ranker, **{**SETTINGS, **settings}).fit(table.drop(columns="y"), y)


def streamed(source: Any, ranker: Any, target: Any = "y", **settings: Any) -> ms.EnsembleSelector:
    rows = ms.RowBatches.open(source, target)
    return ms.EnsembleSelector(ranker, **{**SETTINGS, **settings}).fit(rows)


def passes_over(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    passes: list[Any] = []
    blocks = ms.RowBatches.blocks

    def counted(self: ms.RowBatches, columns: Any = slice(None)) -> Any:
        passes.append(columns)
        return blocks(self, columns)

    monkeypatch.setattr(ms.RowBatches, "blocks", counted)
    return passes


# ---------------------------------------------------------------------- the same as in memory


@pytest.mark.parametrize("ranker", RANKERS)
def test_streamed_rows_give_the_scores_of_the_same_rows_in_memory(
    table: pd.DataFrame, folder: Path, ranker: str
) -> None:
    there, here = streamed(folder, ranker), in_memory(table, ranker)
    np.testing.assert_allclose(there.runs_.scores, here.runs_.scores, rtol=1e-10, atol=1e-13)
    assert there.get_feature_names_out().tolist() == here.get_feature_names_out().tolist()
    pd.testing.assert_frame_equal(there.feature_table_, here.feature_table_, rtol=1e-10)


@pytest.mark.parametrize("ranker", ["f_statistic", "correlation", "information_gain"])
def test_a_continuous_target_is_streamed_too(
    table: pd.DataFrame, tmp_path: Path, ranker: str
) -> None:
    numbers = table.assign(y=table["y"] + np.random.default_rng(0).normal(size=N))
    folder = write_folder(numbers, tmp_path / "rows", [N])
    there, here = streamed(folder, ranker), in_memory(numbers, ranker)
    assert (there.task_, there.task_reason_) == (here.task_, here.task_reason_)
    np.testing.assert_allclose(there.runs_.scores, here.runs_.scores, rtol=1e-10, atol=1e-13)


def test_classes_may_be_text(table: pd.DataFrame, tmp_path: Path) -> None:
    named = table.assign(y=np.array(["well", "ill"], dtype=object)[table["y"]])
    there = streamed(write_folder(named, tmp_path / "rows", [N]), "f_statistic")
    here = in_memory(named, "f_statistic")
    assert there.task_reason_ == here.task_reason_ == "y holds text or categories"
    np.testing.assert_allclose(there.runs_.scores, here.runs_.scores, rtol=1e-10)


@pytest.mark.parametrize(
    "binning",
    [
        Binning(n_bins=4),
        Binning([0.0, 1.0, 50.0]),
        Binning({"b": [-1.0, 1.0]}, n_bins=5),
        Binning(integers="categories"),
        Binning(integers="numbers"),
    ],
    ids=str,
)
def test_bins_are_cut_as_in_memory(table: pd.DataFrame, folder: Path, binning: Binning) -> None:
    ranker = InformationGain(binning=binning)
    there, here = streamed(folder, ranker), in_memory(table, ranker)
    np.testing.assert_array_equal(there.runs_.scores, here.runs_.scores)


def test_without_resampling_there_is_one_run_on_all_rows(table: pd.DataFrame, folder: Path) -> None:
    there = streamed(folder, "f_statistic", resampling="none")
    alone = FStatistic().fit(table.drop(columns="y"), table["y"])
    np.testing.assert_allclose(there.runs_.scores, alone.scores_[None], rtol=1e-10)


def test_several_rankers_and_a_forecast_work_on_streamed_rows(
    table: pd.DataFrame, folder: Path, tmp_path: Path
) -> None:
    rankers = ["f_statistic", "information_gain"]
    there = streamed(folder, rankers, n_features_to_select=3)
    here = in_memory(table, rankers, n_features_to_select=3)
    np.testing.assert_array_equal(there.runs_.ranks, here.runs_.ranks)
    result = there.result()
    result.save(tmp_path / "result.zip")
    ms.write_report(result, tmp_path / "result.html")
    assert ms.load_result(tmp_path / "result.zip").selected == result.selected
    assert result.settings["data"]["n_samples"] == N
    assert result.settings["data"]["n_files"] == 4


# ---------------------------------------------------------------------- however rows are cut


@pytest.mark.parametrize("ranker", ["f_statistic", "correlation", "chi_square"])
def test_the_bits_depend_neither_on_files_nor_on_cores(
    table: pd.DataFrame, folder: Path, tmp_path: Path, ranker: str
) -> None:
    whole = streamed(folder, ranker).runs_.scores
    one = write_folder(table, tmp_path / "one", [N], row_group_size=777)
    many = write_folder(table, tmp_path / "many", [1000] * 12 + [N - 12000])
    for other in (one, many, pa.Table.from_pandas(table), ds.dataset(folder)):
        np.testing.assert_array_equal(streamed(other, ranker).runs_.scores, whole)
    np.testing.assert_array_equal(streamed(folder, ranker, n_jobs=2).runs_.scores, whole)


@pytest.mark.parametrize("ranker", ["f_statistic", "information_gain"])
def test_columns_that_do_not_fit_at_once_are_read_in_several_passes_to_the_same_bits(
    folder: Path, monkeypatch: pytest.MonkeyPatch, ranker: str
) -> None:
    whole = streamed(folder, ranker)
    passes = passes_over(monkeypatch)
    monkeypatch.setattr(ms.RowBatches, "columns_at_once", lambda *_args, **_options: 2)
    few = streamed(folder, ranker)
    widths = [len(range(P)[columns]) for columns in passes if isinstance(columns, slice)]
    assert max(widths) == 2
    assert len(widths) == 8  # 4 of them for the twins
    np.testing.assert_array_equal(few.runs_.scores, whole.runs_.scores)


@pytest.mark.parametrize("ranker", ["f_statistic", "correlation"])
def test_few_resamples_are_summed_by_column_to_the_same_bits(
    table: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ranker: str
) -> None:
    wide = table.assign(c=table["a"] ** 2, d=table["b"] + table["a"], e=-table["b"] * table["a"])
    folder = write_folder(wide, tmp_path / "wide", [N])
    by_column = streamed(folder, ranker).runs_.scores
    monkeypatch.setattr("mainstay.rankers.streamed_moments._FEW_LANES", 0)
    np.testing.assert_array_equal(by_column, streamed(folder, ranker).runs_.scores)


# ---------------------------------------------------------------------- checkpoints


class KilledError(Exception):
    """What stands for a kill."""


@pytest.fixture
def few_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks of two columns, so that P columns are several."""
    monkeypatch.setattr("mainstay.rankers.streamed._FEWEST_KEPT", 2)


@pytest.mark.parametrize("ranker", ["f_statistic", "information_gain"])
def test_streamed_work_that_was_killed_goes_on_to_the_same_bits_with_other_memory_and_cores(
    folder: Path, tmp_path: Path, few_columns: None, monkeypatch: pytest.MonkeyPatch, ranker: str
) -> None:
    kept = tmp_path / "kept"
    whole = streamed(folder, ranker).runs_.scores
    put, keys = Store.put, list[str]()

    def killed_after_two(self: Store, key: str, value: Any) -> None:
        if len(keys) == 2:
            raise KilledError
        keys.append(key)
        put(self, key, value)

    monkeypatch.setattr(Store, "put", killed_after_two)
    with pytest.raises(KilledError):
        streamed(folder, ranker, checkpoint=kept)
    later: list[str] = []
    monkeypatch.setattr(Store, "put", lambda self, key, value: later.append(key))
    monkeypatch.setattr(ms.RowBatches, "columns_at_once", lambda *_args, **_options: 1)
    np.testing.assert_array_equal(
        streamed(folder, ranker, checkpoint=kept, n_jobs=2).runs_.scores, whole
    )
    assert len(later) == 2  # of 4 tasks
    assert not set(later) & set(keys)


def test_other_rows_are_refused_by_a_checkpoint(table: pd.DataFrame, tmp_path: Path) -> None:
    kept, rows = tmp_path / "kept", table.drop(columns=["gappy", "late", "level"])
    X, y = rows.drop(columns="y").to_numpy(dtype=float, copy=True), rows["y"].to_numpy(copy=True)
    streamed(X, "f_statistic", y, checkpoint=kept)
    streamed(X.copy(), "f_statistic", y, checkpoint=kept)
    X[17, 0] += 1
    with pytest.raises(ms.InputError, match="values: not the same as in the checkpoint"):
        streamed(X, "f_statistic", y, checkpoint=kept)
    X[17, 0] -= 1
    y[3] = 1 - y[3]
    with pytest.raises(ms.InputError, match="target: not the same as in the checkpoint"):
        streamed(X, "f_statistic", y, checkpoint=kept)
    files = write_folder(rows, tmp_path / "files", [N])
    of_files = tmp_path / "kept of files"
    streamed(files, "f_statistic", checkpoint=of_files)
    rows.assign(a=rows["a"] + 1).to_parquet(files / "part-000.parquet", index=False)
    with pytest.raises(ms.InputError, match="files: not the same as in the checkpoint"):
        streamed(files, "f_statistic", checkpoint=of_files)


# ---------------------------------------------------------------------- ranges from headers


def test_one_pass_counts_where_the_headers_of_files_tell_the_ranges(
    table: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    floats = table.drop(columns="level")
    told = write_folder(floats, tmp_path / "told", [N])
    silent = write_folder(floats, tmp_path / "silent", [5000, N - 5000], write_statistics=False)
    settings: dict[str, Any] = {"similarity_threshold": None}
    passes = passes_over(monkeypatch)
    first = streamed(told, "information_gain", **settings).runs_.scores
    assert passes == [None, slice(0, P - 1)]  # the target, then all features once
    passes.clear()
    second = streamed(silent, "information_gain", **settings).runs_.scores
    assert passes == [None, list(range(P - 1)), slice(0, P - 1)]
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("lie", [(-0.1, 0.1), (-1e9, 1e9), (np.inf, -np.inf), (7.0, 7.0)])
def test_ranges_that_headers_tell_wrongly_do_no_harm(
    folder: Path, monkeypatch: pytest.MonkeyPatch, lie: tuple[float, float]
) -> None:
    honest = streamed(folder, "information_gain").runs_.scores
    spans = ms.RowBatches.spans

    def lying(self: ms.RowBatches, features: Any) -> Any:
        return {name: span if name == "b" else lie for name, span in spans(self, features).items()}

    monkeypatch.setattr(ms.RowBatches, "spans", lying)
    np.testing.assert_array_equal(streamed(folder, "information_gain").runs_.scores, honest)


def test_headers_tell_no_range_where_some_row_group_has_none(tmp_path: Path) -> None:
    table = pd.DataFrame({"x": [np.nan, np.nan, 1.0, 5.0], "z": [1, 2, 3, 9], "y": [0, 1, 0, 1]})
    rows = ms.RowBatches.open(write_folder(table, tmp_path / "cut", [4], row_group_size=2), "y")
    assert rows.spans(["x", "z"]) == {"z": (1, 9)}
    assert rows.spans([]) == {}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cells_of_bins_of_equal_width_are_those_cut_by_hand(dtype: Any) -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(3, 40)).astype(dtype)
    values[1] = 2.5  # constant
    if dtype is np.float64:
        values[2] *= 1.7e308 / np.abs(values[2]).max()  # the range is infinite
    classes = rng.integers(3, size=40).astype(np.int32)
    expected = [
        [code * 3 + int(c) for code, c in zip(width_codes(x, 7), classes, strict=True)]
        for x in (values.astype(float) / 4).tolist()
    ]
    values[0, 5] = np.nan
    expected[0][5] = 7 * 3 + int(classes[5])
    low, high = (f(values.astype(float), axis=1) for f in (np.nanmin, np.nanmax))
    cells = np.empty((3, 40), dtype=np.int32)
    width_cells(values, low, high, 7, 7, classes, 3, cells)
    assert cells.tolist() == expected


def test_a_block_has_a_fixed_number_of_rows_however_pieces_come(folder: Path) -> None:
    rows = ms.RowBatches.open(folder, "y")
    sizes = [(block.start, len(block.target)) for block in rows.blocks()]
    assert sizes == [(0, 4096), (4096, 4096), (8192, 4096), (12288, 123)]


@pytest.mark.parametrize("lanes", [1, 3])
def test_cells_are_summed_as_by_hand(lanes: int) -> None:
    rng = np.random.default_rng(lanes)
    cells = rng.integers(5, size=(3, 50)).astype(np.int32)
    words = rng.integers(9, size=(50, lanes)).astype(np.uint64)
    sums = np.zeros((3, 5, lanes), dtype=np.uint64)
    add_cells(cells, words, sums)
    np.testing.assert_array_equal(sums, cell_sums(cells.tolist(), words.tolist(), 5))


# ---------------------------------------------------------------------- sources


def test_a_mapped_array_and_an_npy_file_are_read_in_place(
    table: pd.DataFrame, tmp_path: Path
) -> None:
    X = table.drop(columns="y").to_numpy(dtype=np.float32)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", table["y"].to_numpy())
    here = ms.EnsembleSelector("f_statistic", **SETTINGS).fit(X, table["y"].to_numpy())
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    for source, target in (
        (mapped, table["y"].to_numpy()),
        (np.asfortranarray(X), table["y"].to_numpy()),
        (tmp_path / "X.npy", tmp_path / "y.npy"),
    ):
        there = streamed(source, "f_statistic", target)
        np.testing.assert_allclose(there.runs_.scores, here.runs_.scores, rtol=1e-10)


@pytest.mark.parametrize("sparse", [False, True])
def test_an_h5ad_file_stays_on_disk(table: pd.DataFrame, tmp_path: Path, sparse: bool) -> None:
    h5py = pytest.importorskip("h5py")
    import scipy.sparse as sp

    X = table[["a", "b", "level"]].to_numpy(dtype=np.float32)
    X[X < 0.5] = 0
    path = tmp_path / "rows.h5ad"
    with h5py.File(path, "w") as file:
        if sparse:
            matrix = sp.csr_array(X)
            group = file.create_group("X")
            group.attrs.update({"encoding-type": "csr_matrix", "shape": X.shape})
            for part in ("data", "indices", "indptr"):
                group[part] = getattr(matrix, part)
        else:
            file["X"] = X
        file.create_group("var").create_dataset("_index", data=[b"a", b"b", b"level"])
        obs = file.create_group("obs")
        obs.create_dataset("_index", data=np.arange(N))
        disease = obs.create_group("disease")
        disease.attrs["encoding-type"] = "categorical"
        disease["codes"] = table["y"].to_numpy(dtype=np.int8)
        disease["categories"] = [b"no", b"yes"]
    there = streamed(path, "f_statistic", "disease")
    here = ms.EnsembleSelector("f_statistic", **SETTINGS).fit(X, table["y"].to_numpy())
    np.testing.assert_allclose(there.runs_.scores, here.runs_.scores, rtol=1e-10)
    with pytest.raises(ms.InputError, match="disease"):
        ms.RowBatches.open(path, "sick")


def test_a_dask_frame_is_read_partition_by_partition(table: pd.DataFrame, folder: Path) -> None:
    dd = pytest.importorskip("dask.dataframe")
    whole = streamed(folder, "f_statistic").runs_.scores
    frame = dd.from_pandas(table, npartitions=3)
    np.testing.assert_array_equal(streamed(frame, "f_statistic").runs_.scores, whole)


# ---------------------------------------------------------------------- similar features


def test_twins_are_those_of_the_rows_in_memory(table: pd.DataFrame, folder: Path) -> None:
    rows = ms.RowBatches.open(folder, "y")
    X = table.drop(columns="y")
    there = ms.FeatureSimilarity.from_data(rows, threshold=0.05, constant="ignore")
    here = ms.FeatureSimilarity.from_data(X, threshold=0.05, constant="ignore")
    assert there.features == here.features
    assert there.graph.nnz == here.graph.nnz > 2
    np.testing.assert_allclose(there.graph.toarray(), here.graph.toarray(), atol=1e-10)
    with pytest.warns(UserWarning, match="1 constant feature"):
        assert ms.FeatureSimilarity.from_data(rows).groups() == [("b", "twin")]


def test_tiles_of_columns_have_no_influence_on_similarities(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(5000, 40)) @ rng.normal(size=(40, 40))
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:, :6] = rng.normal(size=(5000, 6)).cumsum(axis=1)
    rows = ms.RowBatches.open(X, rng.integers(2, size=5000))
    here = ms.FeatureSimilarity.from_data(X, threshold=0.3)
    monkeypatch.setattr("mainstay.similarity.streamed._TILE", 7)
    there = ms.FeatureSimilarity.from_data(rows, threshold=0.3)
    np.testing.assert_allclose(there.graph.toarray(), here.graph.toarray(), atol=1e-10)
    passes = []
    blocks = ms.RowBatches.blocks
    monkeypatch.setattr(
        ms.RowBatches, "blocks", lambda *given: passes.append(given[1:]) or blocks(*given)
    )
    monkeypatch.setattr(ms.RowBatches, "fits", lambda *_args, required: required)
    again = ms.FeatureSimilarity.from_data(rows, threshold=0.3)
    assert len(passes) == 1 + 6 * 7 / 2  # one for means, one for every pair of tiles
    np.testing.assert_array_equal(again.graph.toarray(), there.graph.toarray())


def test_features_that_share_too_few_rows_are_named_when_streamed(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 4))
    X[:4000, 0], X[1000:, 1] = np.nan, np.nan
    rows = ms.RowBatches.open(X, rng.integers(2, size=5000), features=list("abcd"))
    with pytest.warns(UserWarning, match="2 feature.*min_overlap=2500.*'a', 'b'"):
        ms.FeatureSimilarity.from_data(rows)


# ---------------------------------------------------------------------- what is refused


def open_and_fit(
    source: Any, target: Any = "y", ranker: Any = "f_statistic", **settings: Any
) -> Any:
    return streamed(source, ranker, target, **settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ranker": "mrmr"}, "MRMR needs all rows in memory.*f_statistic, correlation"),
        ({"ranker": "random_forest"}, "information_gain, symmetric_uncertainty"),
        ({"ranker": Correlation(method="spearman")}, "method='pearson'"),
        ({"ranker": InformationGain(binning=Binning("quantile"))}, "bins='width'"),
        ({"ranker": InformationGain(binning=Binning("mdl"))}, "bins='width'"),
        ({"ranker": InformationGain(binning=Binning(rebin=True))}, "rebin=False"),
        ({"ranker": FStatistic(near_zero_variance=True)}, "near_zero_variance=False"),
        ({"ranker": FStatistic(missing="error")}, "'late' has missing values, the first in row"),
        (
            {"ranker": InformationGain(binning=Binning(missing="error"))},
            "'gappy' has missing values",
        ),
        ({"resampling": "bootstrap"}, "resampling='poisson' or 'none', got 'bootstrap'"),
        ({"resampling": "poison"}, "poisson"),
        ({"n_permutations": 10}, "n_permutations cannot be used"),
        ({"n_features_to_select": "fdr<=0.1"}, "permuted targets"),
        ({"n_features_to_select": "auto"}, "cross-validation"),
        ({"target": "z"}, "column of cut.*z"),
    ],
    ids=str,
)
def test_what_needs_all_rows_is_refused_with_what_can_be_done(
    folder: Path, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(ms.InputError, match=message):
        open_and_fit(folder, **settings)


def test_a_target_beside_row_batches_is_refused(table: pd.DataFrame, folder: Path) -> None:
    rows = ms.RowBatches.open(folder, "y")
    with pytest.raises(ms.InputError, match=r"y cannot be used.*know their target"):
        ms.EnsembleSelector("f_statistic", resampling="poisson").fit(rows, table["y"])


def test_columns_of_text_are_named(table: pd.DataFrame, tmp_path: Path) -> None:
    folder = write_folder(table.assign(city="Bonn"), tmp_path / "rows", [N])
    with pytest.raises(ms.InputError, match=r"'city' holds text.*drop"):
        ms.RowBatches.open(folder, "y")
    assert "city" not in ms.RowBatches.open(folder, "y", drop=["city"]).features


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": np.nan}, "target 'y' is missing in some rows, the first is row 4"),
        ({"y": np.inf}, "infinite values"),
        ({"b": np.inf}, "'b' is inf in row 4"),
    ],
)
def test_gaps_in_the_target_and_infinite_values_are_found(
    table: pd.DataFrame, tmp_path: Path, change: dict[str, float], message: str
) -> None:
    changed = table.astype({"y": float})
    for name, value in change.items():
        changed.loc[4, name] = value
    with pytest.raises(ms.InputError, match=message):
        open_and_fit(write_folder(changed, tmp_path / "rows", [N]))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.ones(N), "constant"),
        (np.array([f"p{i}" for i in range(N)], dtype=object), "looks like an identifier"),
    ],
    ids=["constant", "names"],
)
def test_targets_that_cannot_be_predicted_are_refused(
    table: pd.DataFrame, tmp_path: Path, y: np.ndarray, message: str
) -> None:
    with pytest.raises(ms.InputError, match=message):
        open_and_fit(write_folder(table.assign(y=y), tmp_path / "rows", [N]))


def test_files_with_other_columns_or_types_are_named(table: pd.DataFrame, tmp_path: Path) -> None:
    folder = write_folder(table, tmp_path / "rows", [5000, N - 5000])
    last = folder / "part-001.parquet"
    table.drop(columns="b").assign(c=1.0).to_parquet(last)
    with pytest.raises(ms.InputError, match=r"part-001.parquet lacks 'b' and has 'c' besides"):
        ms.RowBatches.open(folder, "y")
    table.assign(b="1").to_parquet(last)
    with pytest.raises(ms.InputError, match=r"'b' holds float in part-000.parquet but text"):
        ms.RowBatches.open(folder, "y")
    last.write_bytes(b"not parquet")
    with pytest.raises(ms.InputError, match=r"part-001.parquet could not be read as parquet"):
        ms.RowBatches.open(folder, "y")


def test_files_may_have_their_columns_in_another_order(
    table: pd.DataFrame, folder: Path, tmp_path: Path
) -> None:
    mixed = write_folder(table, tmp_path / "rows", [5000, N - 5000])
    shuffled = table.iloc[5000:][list(table.columns[::-1])]
    shuffled.to_parquet(mixed / "part-001.parquet", index=False)
    np.testing.assert_array_equal(
        streamed(mixed, "f_statistic").runs_.scores, streamed(folder, "f_statistic").runs_.scores
    )


def test_folders_without_rows_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ms.InputError, match="no file or folder"):
        ms.RowBatches.open(tmp_path / "nowhere", "y")
    with pytest.raises(ms.InputError, match=r"no .parquet files; it is empty"):
        ms.RowBatches.open(tmp_path, "y")
    (tmp_path / "a.csv").write_text("a,y\n1,2\n")
    with pytest.raises(ms.InputError, match=r"no .parquet files; it holds 'a.csv'"):
        ms.RowBatches.open(tmp_path, "y")
    with pytest.raises(ms.InputError, match="Write other tables as Parquet first"):
        ms.RowBatches.open(tmp_path / "a.csv", "y")


def test_partitioned_folders_are_left_to_pyarrow(table: pd.DataFrame, tmp_path: Path) -> None:
    pq.write_to_dataset(pa.Table.from_pandas(table), tmp_path / "by", partition_cols=["level"])
    with pytest.raises(ms.InputError, match="partitioning='hive'"):
        ms.RowBatches.open(tmp_path / "by", "y")
    opened = ms.RowBatches.open(ds.dataset(tmp_path / "by", partitioning="hive"), "y")
    assert set(opened.features) == set(table.columns) - {"y"}


def test_objects_that_cannot_be_read_twice_are_refused(table: pd.DataFrame) -> None:
    with pytest.raises(ms.InputError, match="Dataset or Table, a dask DataFrame"):
        ms.RowBatches.open(table, "y")
    reader = pa.Table.from_pandas(table).to_reader()
    with pytest.raises(ms.InputError, match="more than once"):
        ms.RowBatches.open(reader, "y")


def test_a_source_that_changes_while_it_is_read_is_noticed(
    table: pd.DataFrame, tmp_path: Path
) -> None:
    folder = write_folder(table, tmp_path / "rows", [N])
    rows = ms.RowBatches.open(folder, "y")
    table.head(5000).to_parquet(folder / "part-000.parquet", index=False)
    with pytest.raises(ms.InputError, match=f"had {N} rows when it was opened, but 5000"):
        ms.EnsembleSelector("f_statistic", **SETTINGS).fit(rows)


# ---------------------------------------------------------------------- memory


def test_amounts_of_memory_are_read_and_shown() -> None:
    assert parse_memory("400 MB") == 400 * 10**6
    assert shown(parse_memory("2gb") or 0) == "2 GB"
    for wrong in ("2XB", "much", "-1GB", "0"):
        with pytest.raises(ms.InputError, match="'2GB'"):
            parse_memory(wrong)


def test_too_little_memory_is_an_error_that_says_how_much_is_needed(folder: Path) -> None:
    rows = ms.RowBatches.open(folder, "y", memory="10MB")
    with pytest.raises(ms.InputError, match=r"10 MB is too little.*Allow at least [\d.]+ [MG]B"):
        ms.EnsembleSelector("f_statistic", **SETTINGS).fit(rows)
