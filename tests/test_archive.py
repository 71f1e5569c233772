"""A result can be saved and reopened: everything comes back, the same seed gives the same bytes."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.tree import DecisionTreeClassifier

import mainstay as ms
from hostile import HOSTILE, hostile_runs
from mainstay._provenance import content_hash, plain

X, Y = load_breast_cancer(return_X_y=True, as_frame=True)


def selector(**options: Any) -> ms.EnsembleSelector:
    settings = {"n_features_to_select": 5, "n_resamples": 12, "random_state": 0} | options
    return ms.EnsembleSelector("f_statistic", **settings).fit(X, Y)


@pytest.fixture(scope="module")
def result() -> ms.SelectionResult:
    fitted = selector()
    return fitted.result(forecast=fitted.forecast(ensemble_sizes=[1, 10], random_state=0))


def same(a: Any, b: Any) -> None:
    """Assert that two values are the same, all the way down."""
    assert type(a) is type(b)
    if isinstance(a, pd.DataFrame):
        pd.testing.assert_frame_equal(a, b, check_exact=True)
    elif isinstance(a, np.ndarray):
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype
    elif isinstance(a, ms.Runs):
        assert (a.kind, a.features) == (b.kind, b.features)
        np.testing.assert_array_equal(a.to_frame(), b.to_frame())
    elif isinstance(a, ms.Ranking):
        same(a.to_frame(), b.to_frame())
    elif isinstance(a, ms.Forecast):
        same(a.curve, b.curve)
        same(a.compare(), b.compare())
        assert (a.n_useful, a.p, a.infeasible) == (b.n_useful, b.p, b.infeasible)
    elif sp.issparse(a):
        assert (a != b).nnz == 0
        assert a.shape == b.shape
    elif isinstance(a, ms.SelectionResult | ms.StabilityEstimate | ms.FeatureSimilarity):
        for field in fields(a):
            same(getattr(a, field.name), getattr(b, field.name))
    else:
        np.testing.assert_equal(a, b)


def test_a_reopened_result_is_the_same(result: ms.SelectionResult, tmp_path: Path) -> None:
    result.save(tmp_path / "result.zip")
    same(result, ms.load_result(tmp_path / "result.zip"))


@pytest.mark.parametrize("kind", ["scores", "support"])
def test_hostile_names_come_back(kind: str, tmp_path: Path) -> None:
    found = ms.SelectionResult.from_runs(hostile_runs(kind))
    found.save(tmp_path / "result.zip")
    back = ms.load_result(tmp_path / "result.zip")
    assert back.runs.features == tuple(HOSTILE)
    same(found, back)


def test_a_result_of_an_older_version_loses_the_p_values_that_did_not_hold(tmp_path: Path) -> None:
    found = selector(similarity_threshold=None).result()
    new = found.feature_table
    old = new.drop(columns=["q_value", "group_q_value"]).assign(p_value=1e-30)
    old = old[
        [*old.columns[: new.columns.get_loc("q_value")], "p_value", "group", "group_frequency"]
    ]
    replace(found, feature_table=old).save(tmp_path / "old.zip")
    back = ms.load_result(tmp_path / "old.zip")
    pd.testing.assert_frame_equal(back.feature_table, new)
    back.write_report(tmp_path / "report.html")


def test_undefined_numbers_come_back_undefined(tmp_path: Path) -> None:
    everything = ms.Runs.from_support(np.ones((3, 2), dtype=int))
    found = ms.SelectionResult.from_runs(everything)
    assert np.isnan(found.stability.value)
    found.save(tmp_path / "result.zip")
    same(found, ms.load_result(tmp_path / "result.zip"))


@pytest.mark.parametrize("aggregation", ["mean", "rra", "stuart"])
def test_p_values_of_a_ranking_come_back(aggregation: str, tmp_path: Path) -> None:
    found = selector(aggregation=aggregation, similarity_threshold=None).result()
    found.save(tmp_path / "result.zip")
    same(found.ranking, ms.load_result(tmp_path / "result.zip").ranking)


@pytest.mark.parametrize("protocol", ["flat", "nested", "overlapping"])
def test_a_reopened_forecast_plans_as_before(protocol: str, tmp_path: Path) -> None:
    forecast = ms.forecast_stability(
        "f_statistic", X, Y, n_features_to_select=5, protocol=protocol, n_runs=24, random_state=0
    )
    forecast.save(tmp_path / "forecast.zip")
    back = ms.load_result(tmp_path / "forecast.zip")
    same(forecast, back)
    assert back.plan(0.5).ensemble_size == forecast.plan(0.5).ensemble_size
    assert back.plateau == forecast.plateau
    assert np.isnan(back.seconds_per_run)  # a measured time would change the file


def test_a_nested_forecast_of_an_older_version_is_reopened_as_what_it_was() -> None:
    forecast = ms.forecast_stability(
        "f_statistic", X, Y, n_features_to_select=5, protocol="overlapping", n_runs=24,
        random_state=0,
    )  # fmt: skip
    parts = {**forecast._to_parts(), "protocol": "nested"}
    del parts["paired"]  # older versions did not know it
    back = ms.Forecast._from_parts(parts)
    assert back.protocol == "overlapping"
    same(forecast, back)


def test_a_forecast_that_knows_twins_comes_back(tmp_path: Path) -> None:
    similarity = ms.FeatureSimilarity.from_data(X, threshold=0.9)
    forecast = ms.forecast_stability(
        selector().runs_, protocol="flat", n_features_to_select=5, measure="sma_count",
        similarity=similarity, ensemble_sizes=[1, 2], random_state=0,
    )  # fmt: skip
    forecast.save(tmp_path / "forecast.zip")
    back = ms.load_result(tmp_path / "forecast.zip")
    assert back.at(2).stability == forecast.at(2).stability


def test_a_forecast_with_a_function_says_that_it_cannot_be_saved(tmp_path: Path) -> None:
    forecast = ms.forecast_stability(
        selector().runs_, protocol="flat", n_features_to_select=5, random_state=0,
        measure=lambda runs: float(runs.n_runs), ensemble_sizes=[1],
    )  # fmt: skip
    with pytest.raises(ms.InputError, match=r"function .* cannot be saved"):
        forecast.save(tmp_path / "forecast.zip")


# ---------------------------------------------------------------------- the same bytes


@pytest.mark.slow
def test_the_same_seed_gives_the_same_file_whatever_the_number_of_cores(tmp_path: Path) -> None:
    one, two, other = (tmp_path / f"{name}.zip" for name in ("one", "two", "other"))
    selector(n_jobs=1).save(one)
    selector(n_jobs=2, progress=True).save(two)
    selector(random_state=1).save(other)
    assert one.read_bytes() == two.read_bytes()
    assert one.read_bytes() != other.read_bytes()


def test_measured_times_do_not_get_into_the_file(tmp_path: Path) -> None:
    for name in ("first", "second"):
        forecast = ms.forecast_stability(
            "f_statistic", X, Y, protocol="flat", n_features_to_select=5, n_runs=20,
            ensemble_sizes=[1], random_state=0,
        )  # fmt: skip
        assert forecast.seconds_per_run > 0
        chosen = selector(n_resamples="auto", target_stability=0.5)
        chosen.result(forecast=forecast).save(tmp_path / f"{name}.zip")
    first, second = (tmp_path / f"{name}.zip" for name in ("first", "second"))
    assert first.read_bytes() == second.read_bytes()


def test_a_reopened_result_is_saved_as_the_same_bytes(
    result: ms.SelectionResult, tmp_path: Path
) -> None:
    first, second = tmp_path / "first.zip", tmp_path / "second.zip"
    result.save(first)
    ms.load_result(first).save(second)
    assert first.read_bytes() == second.read_bytes()


def test_the_runs_that_a_forecast_shares_with_its_result_are_stored_once(
    result: ms.SelectionResult, tmp_path: Path
) -> None:
    result.save(tmp_path / "result.zip")
    with zipfile.ZipFile(tmp_path / "result.zip") as file:
        assert "runs.parquet" in file.namelist()
        assert "forecast/runs.parquet" not in file.namelist()
        assert {entry.date_time for entry in file.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_settings_say_what_is_needed_to_repeat_and_never_hold_the_data(
    result: ms.SelectionResult, tmp_path: Path
) -> None:
    result.save(tmp_path / "result.zip")
    with zipfile.ZipFile(tmp_path / "result.zip") as file:
        settings = json.loads(file.read("settings.json"))
        versions = json.loads(file.read("versions.json"))
    assert settings["parameters"]["random_state"] == 0
    assert settings["parameters"]["ranker"] == "f_statistic"
    assert settings["data"] == {
        "n_samples": 569, "n_features": 30,
        "sha256_X": content_hash(X), "sha256_y": content_hash(Y),
    }  # fmt: skip
    assert versions["mainstay"] == ms.__version__
    assert {"n_jobs", "progress"}.isdisjoint(settings["parameters"])


# ---------------------------------------------------------------------- files that are not results


def rewritten(path: Path, change: Any, compression: int = zipfile.ZIP_STORED) -> Path:
    """Copy an archive with one member changed by `change(name, content)`; None leaves it out."""
    target = path.with_name("changed.zip")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(target, "w", compression) as new:
        for name in old.namelist():
            content = change(name, old.read(name))
            if content is not None:
                new.writestr(name, content)
    return target


@pytest.fixture
def saved(result: ms.SelectionResult, tmp_path: Path) -> Path:
    result.save(tmp_path / "result.zip")
    return tmp_path / "result.zip"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ms.InputError, match=r"no file .*nowhere\.zip"):
        ms.load_result(tmp_path / "nowhere.zip")


def test_only_zip_files_are_written(result: ms.SelectionResult, tmp_path: Path) -> None:
    with pytest.raises(ms.InputError, match=r"saved as \.zip files, got .*result\.pkl"):
        result.save(tmp_path / "result.pkl")


def test_what_is_no_zip_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.zip").write_text("not a zip file")
    with pytest.raises(ms.InputError, match="not a zip file"):
        ms.load_result(tmp_path / "text.zip")


def test_a_file_that_was_cut_off_is_refused(saved: Path) -> None:
    saved.write_bytes(saved.read_bytes()[:-400])
    with pytest.raises(ms.InputError, match="damaged"):
        ms.load_result(saved)


def test_a_changed_byte_is_noticed(saved: Path) -> None:
    with zipfile.ZipFile(saved) as file:
        at = file.getinfo("runs.parquet").header_offset + 200
    content = bytearray(saved.read_bytes())
    content[at] ^= 1
    saved.write_bytes(bytes(content))
    with pytest.raises(ms.InputError, match="damaged"):
        ms.load_result(saved)


def test_a_zip_file_from_elsewhere_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "photos.zip", "w") as file:
        file.writestr("cat.jpg", b"...")
    with pytest.raises(ms.InputError, match=r"not a result saved by mainstay.*no mainstay\.json"):
        ms.load_result(tmp_path / "photos.zip")


def test_a_file_of_the_future_asks_for_a_newer_mainstay(saved: Path) -> None:
    def change(name: str, content: bytes) -> bytes:
        if name != "mainstay.json":
            return content
        manifest = json.loads(content) | {"format": 2, "written_by": "mainstay 9.0"}
        return json.dumps(manifest).encode()

    with pytest.raises(ms.InputError, match=r"mainstay 9\.0 in format 2.*up to 1\. Update"):
        ms.load_result(rewritten(saved, change))


@pytest.mark.parametrize("broken", [b"{", b"[]", b'{"format": 1}', b'{"format": "x"}'])
def test_a_broken_manifest_is_refused(saved: Path, broken: bytes) -> None:
    change = lambda name, content: broken if name == "mainstay.json" else content  # noqa: E731
    with pytest.raises(ms.InputError, match="damaged"):
        ms.load_result(rewritten(saved, change))


def with_member(saved: Path, name: str, content: bytes) -> Path:
    with zipfile.ZipFile(saved, "a", zipfile.ZIP_DEFLATED) as file:
        file.writestr(name, content)
    return saved


def test_a_member_that_is_not_listed_is_refused_before_it_is_read(saved: Path) -> None:
    saved = with_member(saved, "more.npy", bytes(10**7))
    with pytest.raises(ms.InputError, match=r"was changed .*'more\.npy' in it is not part"):
        ms.load_result(saved)


def test_an_archive_that_would_fill_the_memory_is_refused_before_it_is_read(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mainstay.io.archive._SMALL", 10**6)
    change = lambda name, content: bytes(2 * 10**8) if name == "runs.parquet" else content  # noqa: E731
    saved = rewritten(saved, change, zipfile.ZIP_DEFLATED)
    monkeypatch.setattr(zipfile.ZipFile, "read", only_the_manifest(zipfile.ZipFile.read))
    with pytest.raises(ms.InputError, match=r"would expand to 0\.2 GB"):
        ms.load_result(saved)


def only_the_manifest(read: Any) -> Any:
    def checked(file: zipfile.ZipFile, name: str) -> bytes:
        assert name == "mainstay.json"
        return read(file, name)

    return checked


def npy(header: str) -> bytes:
    padded = header.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded.encode()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("values.json", b"[" * 100_000),
        ("values.json", b'{"a":' * 100_000),
        (
            "ranking/scores.npy",
            npy("{'descr': '<f8', 'fortran_order': False, 'shape': (10**12,), }"),
        ),
        ("ranking/scores.npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': (9" * 2)),
        (
            "ranking/scores.npy",
            npy("{'descr': '<f8', 'fortran_order': False, 'shape': (999999999999,), }"),
        ),
        ("ranking/scores.npy", npy("((((")),
    ],
    ids=["nested lists", "nested objects", "a sum", "cut header", "a huge array", "open brackets"],
)
def test_members_made_to_break_readers_are_refused(saved: Path, name: str, content: bytes) -> None:
    change = lambda member, old: content if member == name else old  # noqa: E731
    with pytest.raises(ms.InputError, match="damaged"):
        ms.load_result(rewritten(saved, change))


def test_a_table_larger_than_the_memory_is_refused_before_it_is_read(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mainstay.io.archive._memory", lambda: 1000.0)
    with pytest.raises(ms.InputError, match=r"damaged.* more than there is memory"):
        ms.load_result(saved)


@pytest.mark.parametrize("name", ["runs.parquet", "values.json", "ranking/scores.npy"])
@pytest.mark.parametrize("content", [None, b"", b"\x80\x04K\x01."])
def test_a_missing_or_foreign_member_is_refused(
    saved: Path, name: str, content: bytes | None
) -> None:
    change = lambda member, old: content if member == name else old  # noqa: E731
    with pytest.raises(ms.InputError, match="damaged"):
        ms.load_result(rewritten(saved, change))


def test_nothing_is_ever_unpickled(saved: Path) -> None:
    buffer = io.BytesIO()
    np.save(buffer, np.array([print], dtype=object), allow_pickle=True)
    change = lambda name, old: buffer.getvalue() if name == "ranking/scores.npy" else old  # noqa: E731
    with pytest.raises(ms.InputError, match=r"damaged.*allow_pickle"):
        ms.load_result(rewritten(saved, change))


# ---------------------------------------------------------------------- settings and hashes


def test_the_hash_knows_content_not_container() -> None:
    numbers = np.array([[1.0, 2.0], [np.nan, -0.0]])
    pandas, polars = pd.DataFrame(numbers), pl.DataFrame(numbers)
    assert content_hash(numbers) == content_hash(pandas) == content_hash(polars)
    assert content_hash(numbers) == content_hash(np.asfortranarray(numbers))
    assert content_hash(numbers) == content_hash(np.array([[1, 2], [np.nan, 0]]))
    assert content_hash(numbers) != content_hash(numbers.T)
    assert content_hash(np.arange(6).reshape(2, 3)) != content_hash(np.arange(6).reshape(3, 2))


def test_the_hash_of_sparse_data_ignores_how_they_are_stored() -> None:
    matrix = sp.csr_array(np.array([[0, 1.0], [2.0, 0]]))
    assert content_hash(matrix) == content_hash(sp.csc_array(matrix))
    assert content_hash(matrix) != content_hash(2 * matrix)


def test_the_hash_of_text_knows_cells_apart() -> None:
    a, b = np.array([["x", "yz"]], dtype=object), np.array([["xy", "z"]], dtype=object)
    assert content_hash(a) != content_hash(b)
    frame = pd.DataFrame({"n": [1.0, 2.0], "s": ["x", "y"]})
    assert content_hash(frame) != content_hash(frame.assign(s=["y", "x"]))
    assert content_hash(np.array(["x", "y"])) != content_hash(np.array(["x", "z"]))


def test_estimators_are_described_by_class_and_changed_parameters() -> None:
    forest = RandomForestClassifier(n_estimators=7, n_jobs=3)
    assert plain(forest) == {
        "class": "sklearn.ensemble._forest.RandomForestClassifier",
        "parameters": {"n_estimators": 7},
    }
    json.dumps(plain([forest, SelectKBest(k=2), DecisionTreeClassifier(), np.float64(1), None]))


def test_objects_are_described_without_their_place_in_memory() -> None:
    class Odd:
        pass

    assert plain(Odd()) == plain(Odd())
    assert plain(np.random.default_rng(0))["object"].startswith("a numpy Generator")
    assert plain(float("nan")) == "nan"


def test_a_selector_that_was_not_fitted_has_no_result() -> None:
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        ms.EnsembleSelector().result()


def test_scores_and_links_come_back_with_their_settings(tmp_path: Path) -> None:
    scores = ms.cross_validate_selection(
        ms.EnsembleSelector("f_statistic", n_resamples=5), X, Y, sizes=[5], cv=3, random_state=0
    )
    links = ms.network_stability(
        X.iloc[:60, :4], n_links=3, n_resamples=4, n_estimators=5, random_state=0
    )
    for value in (scores, links):
        for name in ("one.zip", "two.zip"):
            value.save(tmp_path / name)
        assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
        again = ms.load_result(tmp_path / "one.zip")
        assert repr(again) == repr(value)
        same(again.to_frame(), value.to_frame())
        assert again.settings == value.settings
        assert again.settings["random_state"] == 0
    assert list(ms.load_result(tmp_path / "one.zip").runs.features) == list(links.runs.features)
    scores.save(tmp_path / "scores.zip")
    same(ms.load_result(tmp_path / "scores.zip").runs["ensemble"], scores.runs["ensemble"])


def test_every_archive_names_the_versions_that_wrote_it(tmp_path: Path) -> None:
    selector().forecast(ensemble_sizes=[1, 5], random_state=0).save(tmp_path / "forecast.zip")
    with zipfile.ZipFile(tmp_path / "forecast.zip") as file:
        manifest = json.loads(file.read("mainstay.json"))
    assert manifest["versions"]["numpy"] == np.__version__
