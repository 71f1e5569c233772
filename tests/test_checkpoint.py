"""Checkpoints: work that was killed goes on where it was, and ends with the same bits."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeClassifier

import mainstay as ms
from mainstay import _checkpoint
from mainstay._checkpoint import Store, keep_in
from mainstay._packing import pack, unpack
from mainstay._parallel import run_tasks
from mainstay.cli import main

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(60, 12))).add_prefix("g")
Y = (X["g0"] + X["g1"] + RNG.normal(size=60) > 0).astype(int).to_numpy()
GENES = X[["g0", "g1", "g2", "g3", "g4"]]
TREE = DecisionTreeClassifier()


class KilledError(Exception):
    """What stands for a kill in these tests."""


@pytest.fixture
def kept(monkeypatch):
    """Counts what is kept; raises after `kept.most` records, as if the process had been killed."""

    class Counter:
        most: float = float("inf")
        count = 0

    put = Store.put

    def counted(self, key, value):
        if Counter.count >= Counter.most:
            raise KilledError
        Counter.count += 1
        put(self, key, value)

    monkeypatch.setattr(Store, "put", counted)
    return Counter


def selector(ranker=TREE, **settings):
    return ms.EnsembleSelector(
        ranker, **{"n_resamples": 12, "random_state": 3, "n_features_to_select": 4} | settings
    )


def fitted(**settings):
    def fit(folder):
        found = selector(**settings, checkpoint=folder).fit(X, Y)
        return found.feature_table_, found.runs_.to_frame(), found.ranking_.to_frame()

    return fit


def replicated(folder):
    result = ms.replicability(
        selector(), X, Y, n_pairs=5, n_splits=5, ensemble_size=3, random_state=1, checkpoint=folder
    )
    return result.table, result.runs.to_frame()


def evidenced(ranker, n_permutations):
    def test(folder):
        procedure = ms.EnsembleSelector(ranker, resampling="pairs", n_resamples=4)
        result = ms.feature_evidence(
            procedure, X, Y, n_permutations=n_permutations, random_state=1, checkpoint=folder
        )
        return (result.table,)

    return test


def forecast(protocol, ranker=TREE, **settings):
    def run(folder):
        result = ms.forecast_stability(
            ranker, X, Y, protocol=protocol, n_features_to_select=3, ensemble_sizes=[1, 4],
            n_runs=14, random_state=1, checkpoint=folder, **settings,
        )  # fmt: skip
        return result.curve, result.base.runs.to_frame()

    return run


def cross_validated(folder):
    result = ms.cross_validate_selection(
        selector(), X, Y, cv=3, sizes=[2, 4], random_state=1, checkpoint=folder
    )
    return result.scores, result.stability


def compared(folder):
    result = ms.compare_selectors(
        ["f_statistic", TREE],
        X,
        Y,
        sizes=[2, 4],
        n_resamples=3,
        cv=4,
        random_state=1,
        checkpoint=folder,
    )
    return (result.table.drop(columns="seconds"),)


def searched(folder):
    result = ms.compare_selectors(
        ["f_statistic", TREE], X, Y, sizes=[2, 6], n_resamples=2, cv=3, search="optuna", n_trials=4,
        random_state=1, checkpoint=folder,
    )  # fmt: skip
    return (result.table.drop(columns="seconds"),)


def network(method):
    def infer(folder):
        links = ms.infer_network(
            GENES, method=method, n_estimators=3, n_restarts=3, random_state=1, checkpoint=folder
        )
        return (links,)

    return infer


def network_resampled(folder):
    result = ms.network_stability(
        GENES, n_resamples=5, n_estimators=5, random_state=1, checkpoint=folder
    )
    return result.links, result.runs.to_frame()


JOBS = {
    "fits": fitted(),
    "selections": fitted(ranker=SelectKBest(k=3), n_features_to_select=2),
    "several rankers": fitted(ranker=["f_statistic", TREE, "information_gain"]),
    "blocks of resamples": fitted(ranker="f_statistic", n_resamples=600),
    "pairs": fitted(resampling="pairs"),
    "as many runs as needed": fitted(n_resamples="auto", target_stability=0.6),
    "as many features as needed": fitted(n_features_to_select="auto", n_resamples=3),
    "replicability": replicated,
    "evidence": evidenced(TREE, 30),
    "evidence, as much as needed": evidenced("f_statistic", "auto"),
    "selection by error": fitted(ranker="f_statistic", n_features_to_select="fdr<=0.2"),
    "flat forecast": forecast("flat"),
    "nested forecast": forecast("nested"),
    "forecast from selections": forecast("nested", ranker=SelectKBest(k=3)),
    "forecast, as many runs as needed": forecast("flat", precision=0.05, max_runs=30),
    "cross-validation": cross_validated,
    "comparison": compared,
    "search": searched,
    "forest": network("forest"),
    "boosting": network("boosting"),
    "eda": network("eda"),
    "network resampled": network_resampled,
}


@pytest.mark.filterwarnings("ignore:.*resamples were run:UserWarning")
@pytest.mark.parametrize("job", JOBS.values(), ids=JOBS)
def test_interrupted_work_ends_with_the_same_bits(job, kept, tmp_path):
    expected = job(None)
    assert kept.count == 0
    starts = 0
    while True:
        starts, kept.most = starts + 1, kept.count + 1 + 2 * starts
        try:
            found = job(tmp_path / "kept")
            break
        except KilledError:
            continue
    for one, other in zip(found, expected, strict=True):
        pd.testing.assert_frame_equal(one, other, check_exact=True)
    assert starts > 1
    # nothing was computed twice, and nothing is computed when everything is there
    total, kept.most = kept.count, 0
    kept.count = 0
    again = job(tmp_path / "kept")
    for one, other in zip(again, expected, strict=True):
        pd.testing.assert_frame_equal(one, other, check_exact=True)
    kept.most = float("inf")
    job(tmp_path / "other")
    assert kept.count == total


def test_parametric_subspaces_keep_their_restarts(kept, tmp_path, monkeypatch):
    monkeypatch.setattr("mainstay.networks.subspaces.SubspaceSettings.n_stages", 2)
    job = network("parametric_subspace")
    (expected,) = job(None)
    kept.most = 1
    with pytest.raises(KilledError):
        job(tmp_path)
    kept.most = 3
    pd.testing.assert_frame_equal(job(tmp_path)[0], expected, check_exact=True)


@pytest.mark.parametrize("ranker", [TREE, "f_statistic"], ids=["fits", "blocks"])
def test_work_begun_on_one_core_goes_on_with_two(ranker, kept, tmp_path):
    settings = {"ranker": ranker, "n_resamples": 600 if ranker == "f_statistic" else 12}
    expected = selector(**settings).fit(X, Y).runs_
    kept.most = 2
    with pytest.raises(KilledError):
        selector(**settings, checkpoint=tmp_path, n_jobs=1).fit(X, Y)
    kept.most = 3 if ranker == "f_statistic" else 12
    assert selector(**settings, checkpoint=tmp_path, n_jobs=2).fit(X, Y).runs_ == expected
    assert kept.count == kept.most


def test_work_on_two_cores_that_cannot_be_kept_ends_at_once_and_goes_on(kept, tmp_path):
    expected = selector().fit(X, Y).runs_
    kept.most = 3
    with pytest.raises(KilledError):
        selector(checkpoint=tmp_path, n_jobs=2).fit(X, Y)
    kept.most = 12
    assert selector(checkpoint=tmp_path, n_jobs=2).fit(X, Y).runs_ == expected


def test_a_checkpoint_is_no_part_of_the_result(tmp_path):
    selector().fit(X, Y).save(tmp_path / "without.zip")
    selector(checkpoint=tmp_path / "kept").fit(X, Y).save(tmp_path / "with.zip")
    assert (tmp_path / "with.zip").read_bytes() == (tmp_path / "without.zip").read_bytes()


def test_another_measure_can_be_taken_of_the_same_studies(kept, tmp_path):
    options = {"n_pairs": 5, "n_splits": 5, "random_state": 1}
    ms.replicability(selector(), X, Y, **options, checkpoint=tmp_path)
    kept.most = 0
    found = ms.replicability(selector(), X, Y, **options, measure="jaccard", checkpoint=tmp_path)
    expected = ms.replicability(selector(), X, Y, **options, measure="jaccard")
    assert float(found) == float(expected)


def test_another_measure_and_other_sizes_can_be_forecast_from_the_same_runs(kept, tmp_path):
    options = {"protocol": "nested", "n_features_to_select": 3, "random_state": 1}
    first = ms.forecast_stability(TREE, X, Y, **options, checkpoint=tmp_path)
    assert first.seconds_per_run > 0
    kept.most, others = 0, {"measure": "nogueira", "ensemble_sizes": [3, 30]}
    found = ms.forecast_stability(TREE, X, Y, **options, **others, checkpoint=tmp_path)
    expected = ms.forecast_stability(TREE, X, Y, **options, **others)
    pd.testing.assert_frame_equal(found.curve, expected.curve, check_exact=True)
    assert np.isnan(found.seconds_per_run)  # nothing was run, so nothing was measured


def test_a_forecast_from_runs_that_exist_has_nothing_to_keep(tmp_path):
    runs = selector().fit(X, Y).runs_
    with pytest.raises(ms.InputError, match="these are made already"):
        ms.forecast_stability(
            runs, protocol="flat", n_features_to_select=3, checkpoint=tmp_path / "new"
        )
    assert not (tmp_path / "new").exists()


# ---------------------------------------------------------------------- other data, other settings


def changed(table, row, column):
    table = table.copy()
    table.iloc[row, column] += 1e-9
    return table


OTHERS = {
    "X": (selector(), changed(X, 5, 5), Y, {}, "X: not the same"),
    "y": (selector(), X, 1 - Y, {}, "y: not the same"),
    "rows": (selector(), X[:-1], Y[:-1], {}, "n_samples: 60 in the checkpoint, 59 now"),
    "names": (selector(), X.rename(columns={"g0": "h"}), Y, {}, "feature names: not the same"),
    "types": (selector(), X.astype("float32").astype("float64").astype({"g0": "float32"}), Y, {},
              "column types: not the same"),
    "weights": (selector(), X, Y, {"sample_weight": np.ones(60)}, "sample_weight: not the same"),
    "groups": (selector(), X, Y, {"groups": np.arange(60) // 2}, "groups: not the same"),
    "seed": (selector(random_state=4), X, Y, {}, "random_state: 3 in the checkpoint, 4 now"),
    "number": (selector(n_resamples=13), X, Y, {}, "n_resamples: 12 in the checkpoint, 13 now"),
    "ranker": (selector(DecisionTreeClassifier(max_depth=2)), X, Y, {},
               "ranker.parameters.max_depth: not given in the checkpoint, 2 now"),
    "resampling": (selector(resampling="half"), X, Y, {},
                   'resampling: "bootstrap" in the checkpoint, "half" now'),
}  # fmt: skip


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_other_data_or_settings_are_refused_with_what_differs(other, tmp_path):
    selector(checkpoint=tmp_path).fit(X, Y)
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}
    different, table, y, options, message = other
    with pytest.raises(ms.InputError, match=re.escape(message)) as caught:
        different.set_params(checkpoint=tmp_path).fit(table, y, **options)
    assert "What differs:\n  " in str(caught.value)
    assert before == {file: file.read_bytes() for file in tmp_path.iterdir()}


OTHER_FORECASTS = {
    "protocol": ({"protocol": "flat"}, 'protocol: "nested" in the checkpoint, "flat" now'),
    "runs": ({"n_runs": 20}, "n_runs: 12 in the checkpoint, 20 now"),
    "halves": ({"n_halves": 6}, "n_halves: not given in the checkpoint, 6 now"),
    "resampling": (
        {"resampling": "half"}, 'resampling: "bootstrap" in the checkpoint, "half" now'
    ),
    "seed": ({"random_state": 2}, "random_state: 1 in the checkpoint, 2 now"),
    "data": ({"X": changed(X, 5, 5)}, "X: not the same"),
}  # fmt: skip


@pytest.mark.parametrize("other", OTHER_FORECASTS.values(), ids=OTHER_FORECASTS)
def test_a_forecast_of_something_else_is_refused_with_what_differs(other, tmp_path):
    options = {"ranker": "f_statistic", "X": X, "y": Y, "protocol": "nested", "n_runs": 12,
               "n_features_to_select": 3, "random_state": 1, "checkpoint": tmp_path}  # fmt: skip
    ms.forecast_stability(**options)
    changes, message = other
    with pytest.raises(ms.InputError, match=re.escape(message)):
        ms.forecast_stability(**options | changes)


OTHER_NETWORKS = {
    "method": ({"method": "extra_trees"}, 'method: "forest" in the checkpoint, "extra_trees" now'),
    "trees": ({"n_estimators": 4}, "n_estimators: 3 in the checkpoint, 4 now"),
    "seed": ({"random_state": 2}, "random_state: 1 in the checkpoint, 2 now"),
    "data": ({"expression": changed(GENES, 5, 2)}, "not the same as in the checkpoint"),
}


@pytest.mark.parametrize("function", [ms.infer_network, ms.network_stability])
@pytest.mark.parametrize("other", OTHER_NETWORKS.values(), ids=OTHER_NETWORKS)
def test_another_network_is_refused_with_what_differs(function, other, tmp_path):
    options = {"expression": GENES, "method": "forest", "n_estimators": 3, "random_state": 1}
    function(**options, checkpoint=tmp_path)
    changes, message = other
    with pytest.raises(ms.InputError, match=re.escape(message)):
        function(**options | changes, checkpoint=tmp_path)


def test_other_functions_and_versions_are_refused(tmp_path, monkeypatch):
    selector(checkpoint=tmp_path).fit(X, Y)
    with pytest.raises(
        ms.InputError, match=r'made_by: "EnsembleSelector" in the .*"replicability"'
    ):
        ms.replicability(selector(), X, Y, random_state=3, checkpoint=tmp_path)
    monkeypatch.setattr(_checkpoint, "versions", lambda: dict.fromkeys(
        ("mainstay", "numpy", "scipy", "scikit-learn", "numba"), "99"))  # fmt: skip
    with pytest.raises(ms.InputError, match=r'version of numpy: .* in the checkpoint, "99" now'):
        selector(checkpoint=tmp_path).fit(X, Y)


@pytest.mark.parametrize("seed", [None, np.random.default_rng(0), np.random.RandomState(0)])
def test_random_numbers_that_cannot_be_drawn_again_are_refused(seed, tmp_path):
    with pytest.raises(ms.InputError, match="random_state must be a whole number"):
        selector(random_state=seed, checkpoint=tmp_path / "new").fit(X, Y)
    assert not (tmp_path / "new").exists()


def test_folds_that_are_not_the_same_again_are_computed_anew(kept, tmp_path):
    # a splitter without a seed: the description of the job is the same, the rows are not
    options = {"cv": KFold(3, shuffle=True), "random_state": 1, "checkpoint": tmp_path}
    ms.cross_validate_selection(selector(), X, Y, **options)
    ms.cross_validate_selection(selector(), X, Y, **options)
    assert kept.count == 6


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match="is a file, not a directory"):
        selector(checkpoint=tmp_path / "file").fit(X, Y)


@pytest.mark.parametrize("content", ["", "{", "[]", "null"])
def test_a_damaged_description_is_an_error(content, tmp_path):
    (tmp_path / "checkpoint.json").write_text(content)
    with pytest.raises(ms.InputError, match=r"checkpoint.json is damaged"):
        selector(checkpoint=tmp_path).fit(X, Y)


# ---------------------------------------------------------------------- damaged and shared files

JOB = b"0123456789abcdef"


def filled(folder: Path, n: int = 6) -> Path:
    """A file with some records, and nothing else."""
    store = Store(folder, JOB)
    for i in range(n):
        store.put(f"run {i}", np.arange(5.0) + i)
    store.close()
    (file,) = folder.glob("*.bin")
    return file


def values(folder: Path) -> dict[str, list[float]]:
    store = Store(folder, JOB)
    return {f"run {i}": store.get(f"run {i}").tolist() for i in range(9) if f"run {i}" in store}


def test_of_a_file_that_was_cut_anywhere_all_whole_records_are_found(tmp_path):
    whole = filled(tmp_path).read_bytes()
    expected = values(tmp_path)
    for length in range(len(whole)):
        file = filled_with(tmp_path, whole[:length])
        found = values(tmp_path)
        assert found.items() <= expected.items()
        # records are all of the same length
        assert len(found) == max(0, (length - 36) * 6 // (len(whole) - 36))
        file.unlink()


def filled_with(folder: Path, content: bytes) -> Path:
    for file in folder.glob("*.bin"):
        file.unlink()
    file = folder / "runs-1-0.bin"
    file.write_bytes(content)
    return file


@pytest.mark.filterwarnings("ignore:.*are damaged:UserWarning")
def test_a_changed_byte_is_never_taken_for_a_result(tmp_path):
    whole = filled(tmp_path, 3).read_bytes()
    expected = values(tmp_path)
    for place in range(len(whole)):
        content = bytearray(whole)
        content[place] ^= 0x10
        filled_with(tmp_path, bytes(content))
        found = values(tmp_path)
        assert found.items() < expected.items()


def test_a_damaged_record_is_reported_and_only_that_one_is_lost(tmp_path):
    whole = bytearray(filled(tmp_path).read_bytes())
    expected = values(tmp_path)
    whole[36 + (len(whole) - 36) // 6 + 60] ^= 1  # in the middle of the second
    filled_with(tmp_path, bytes(whole))
    with pytest.warns(UserWarning, match="1 of the results kept there are damaged"):
        found = values(tmp_path)
    assert found.keys() == expected.keys() - {"run 1"}


def test_after_damage_the_work_ends_with_the_same_bits(kept, tmp_path):
    expected = selector(checkpoint=tmp_path).fit(X, Y).runs_
    (file,) = tmp_path.glob("*.bin")
    file.write_bytes(file.read_bytes()[:-100])
    kept.count = 0
    assert selector(checkpoint=tmp_path).fit(X, Y).runs_ == expected
    assert kept.count == 1


def test_a_full_disk_is_an_error_and_loses_nothing_that_was_kept(tmp_path, monkeypatch):
    expected, write, written = selector().fit(X, Y).runs_, os.write, []

    def full(descriptor, content):
        written.append(len(content))
        if len(written) < 6:
            return write(descriptor, content)
        if len(written) == 6:
            return write(descriptor, bytes(content)[:20])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(_checkpoint.os, "write", full)
        with pytest.raises(OSError, match="No space left"):
            selector(checkpoint=tmp_path).fit(X, Y)
    (file,) = tmp_path.glob("*.bin")
    assert file.stat().st_size == sum(written[:5])
    assert selector(checkpoint=tmp_path).fit(X, Y).runs_ == expected


def test_two_at_once_in_one_folder_do_not_disturb_each_other(tmp_path):
    expected, found = selector(n_resamples=40).fit(X, Y).runs_, []

    def fit() -> None:
        found.append(selector(n_resamples=40, checkpoint=tmp_path, n_jobs=1).fit(X, Y).runs_)

    threads = [threading.Thread(target=fit) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 3
    assert fitted(n_resamples=40)(tmp_path)[1].equals(expected.to_frame())


def test_files_of_other_work_in_the_same_folder_are_not_read(tmp_path):
    filled(tmp_path)
    assert "run 0" not in Store(tmp_path, b"fedcba9876543210")


# ---------------------------------------------------------------------- what is kept


def outer(i: int) -> list[float]:
    return [i, *run_tasks(float, [(1,), (2,)], n_jobs=1)]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_tasks_inside_tasks_are_not_kept(n_jobs, kept, tmp_path):
    with keep_in(tmp_path, "test", {"random_state": 0}, dict):
        found = run_tasks(outer, [(i,) for i in range(4)], n_jobs=n_jobs)
    assert found == [[i, 1.0, 2.0] for i in range(4)]
    assert kept.count == 4
    run_tasks(outer, [(1,)], n_jobs=1)
    assert kept.count == 4


def test_equal_tasks_at_different_places_are_kept_apart(kept, tmp_path):
    for _ in range(2):
        with keep_in(tmp_path, "test", {"random_state": 0}, dict):
            assert run_tasks(abs, [(-1,), (-1,)], n_jobs=1) == [1, 1]
            assert run_tasks(abs, [(-2,)], n_jobs=1) == [2]
    assert kept.count == 3


def test_results_that_cannot_be_kept_are_an_error(tmp_path):
    with (
        keep_in(tmp_path, "test", {"random_state": 0}, dict),
        pytest.raises(TypeError, match="a set cannot be kept"),
    ):
        run_tasks(set, [((1, 2),)], n_jobs=1)


PLAIN = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(), st.binary()
)
NESTED = st.recursive(
    PLAIN,
    lambda inner: st.one_of(
        st.lists(inner),
        st.lists(inner).map(tuple),
        st.dictionaries(st.one_of(st.text(), st.tuples(st.text(), st.integers())), inner),
    ),
)


@given(NESTED)
def test_what_is_packed_comes_back_as_it_was(value):
    found = unpack(pack(value))
    assert found == value
    assert repr(found) == repr(value)  # types and signs of zeros, too


@pytest.mark.parametrize("array", [
    np.array([0.1, np.nan, -0.0, np.inf]), np.zeros((0, 3), dtype=bool), np.float32(0.1),
    np.asfortranarray(np.arange(6).reshape(2, 3)), np.array(["ä", "b"]), np.int64(3), np.array(2.5),
])  # fmt: skip
def test_arrays_come_back_with_their_types(array):
    (found, *_rest) = unpack(pack((array, 1.5, array)))
    assert type(found) is type(array)
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found, array)
    assert np.isfortran(np.asarray(found)) == np.isfortran(np.asarray(array))


# ---------------------------------------------------------------------- the command line

SLOW = """
import sys, time
import numpy as np
import mainstay as ms
from sklearn.base import BaseEstimator

class Slow(BaseEstimator):
    def fit(self, X, y):
        time.sleep(0.02)
        self.scores_ = np.abs(np.asarray(X)[: len(X) // 2].sum(axis=0))
        return self

rng = np.random.default_rng(0)
X, y = rng.normal(size=(40, 30)), np.arange(40) % 2
folder, out = sys.argv[1:]
print("ready", flush=True)
selector = ms.EnsembleSelector(
    Slow(), n_resamples=60, random_state=0, n_jobs=1, checkpoint=folder or None
).fit(X, y)
selector.save(out)
"""


@pytest.mark.slow
def test_a_job_killed_at_random_times_ends_with_the_same_file(tmp_path):
    script, out, folder = tmp_path / "slow.py", tmp_path / "found.zip", tmp_path / "kept"
    script.write_text(SLOW)
    rng, kills = np.random.default_rng(), 0
    subprocess.run([sys.executable, script, "", tmp_path / "expected.zip"], check=True)
    while not out.exists():
        command = [sys.executable, script, folder, out]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            process.stdout.readline()
            # the first kills while it works, then let it end
            try:
                process.wait(rng.uniform(0, 0.6) if kills < 6 else None)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                kills += 1
    assert kills > 0
    assert out.read_bytes() == (tmp_path / "expected.zip").read_bytes()
    records = sum(file.read_bytes().count(b"run:") for file in folder.glob("*.bin"))
    assert records == 60  # nothing was computed twice


@pytest.mark.slow
def test_two_processes_in_one_folder_both_end_with_the_same_file(tmp_path):
    script, folder = tmp_path / "slow.py", tmp_path / "kept"
    script.write_text(SLOW)
    outs = [tmp_path / f"{i}.zip" for i in range(3)]
    processes = [subprocess.Popen([sys.executable, script, folder, out]) for out in outs[:2]]
    assert [process.wait() for process in processes] == [0, 0]
    subprocess.run([sys.executable, script, "", outs[2]], check=True)
    assert len({out.read_bytes() for out in outs}) == 1


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X.assign(y=Y).to_csv("data.csv", index=False)
    GENES.to_csv("genes.csv", index=False)


COMMANDS = {
    "select": "select data.csv --target y --ranker extra_trees --resamples 4",
    "compare": "compare data.csv --target y -r f_statistic --resamples 2 --cv 3 --sizes 2",
    "replicate": "replicate data.csv --target y -r f_statistic --pairs 5 --splits 5 "
                 "--ensemble-size 2",
    "forecast": "forecast data.csv --target y --protocol nested -r f_statistic --runs 12",
    "network": "network genes.csv --method forest --estimators 3",
    "network resampled": "network genes.csv --method forest --estimators 3 --resamples 3",
}  # fmt: skip


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_commands_keep_what_they_have_done(command, kept):
    def run(*options: str) -> str:
        result = CliRunner().invoke(main, [*command.split(), "--json", *options])
        assert result.exit_code == 0, result.output
        return re.sub(r'"seconds(_per_run)?": ([0-9.e-]+|null)', "", result.stdout)

    expected = run()
    assert run("--checkpoint", "deep/kept") == expected
    assert kept.count > 0
    kept.most = 0
    assert run("--checkpoint", "deep/kept") == expected


@pytest.mark.usefixtures("data")
def test_a_command_says_what_differs_from_its_checkpoint(tmp_path):
    words = COMMANDS["select"].split()
    assert CliRunner().invoke(main, [*words, "--checkpoint", "kept"]).exit_code == 0
    result = CliRunner().invoke(main, [*words, "--seed", "5", "--checkpoint", "kept"])
    assert result.exit_code == 2
    assert "random_state: 0 in the checkpoint, 5 now" in result.stderr
    assert json.loads((tmp_path / "kept" / "checkpoint.json").read_text())["format"] == 1


def state_and_parent(pid: int) -> tuple[str, int]:
    """State and parent of a process, by /proc; "X" if it is gone."""
    try:
        state, parent, *_ = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return "X", 0
    return state, int(parent)


def workers_of(pid: int) -> list[int]:
    """Processes that a process has started."""
    pids = [int(folder.name) for folder in Path("/proc").glob("[0-9]*")]
    return [one for one in pids if state_and_parent(one)[1] == pid]


def is_running(pid: int) -> bool:
    return state_and_parent(pid)[0] not in "XZ"


@pytest.mark.slow
@pytest.mark.usefixtures("data")
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_sigterm_leaves_no_workers_behind():
    command = "select data.csv --target y --ranker random_forest --resamples 5000 --jobs 2"
    process = subprocess.Popen(
        [sys.executable, "-m", "mainstay", *command.split()], stderr=subprocess.PIPE, text=True
    )
    try:
        workers: list[int] = []
        end = time.monotonic() + 60
        while len(workers) < 3 and time.monotonic() < end:  # two, and what tracks their files
            time.sleep(0.1)
            workers = workers_of(process.pid)
        assert len(workers) >= 3
        time.sleep(2)
        process.terminate()
        _, errors = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 143
    assert errors == "Error: stopped by SIGTERM.\n"
    end = time.monotonic() + 10
    while any(is_running(pid) for pid in workers) and time.monotonic() < end:
        time.sleep(0.1)
    assert [pid for pid in workers if is_running(pid)] == []
