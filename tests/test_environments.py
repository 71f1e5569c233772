"""Where mainstay runs: read-only containers, python -OO, terminals that are narrow or not UTF-8;
and what it is given there: tiny weights, huge values, names that no one expects."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import mainstay as ms
from mainstay import _kernels
from mainstay._validation import natural_order
from mainstay.rankers import FStatistic, InformationGain

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 6))
Y = (X[:, 0] + 0.3 * RNG.normal(size=40) > 0).astype(int)


def run(*arguments: str, options: tuple[str, ...] = (), **environment: str):
    return subprocess.run(
        [sys.executable, *options, "-m", "mainstay", *arguments],
        capture_output=True,
        env=os.environ | environment,
        check=False,
    )


@pytest.fixture
def table(tmp_path: Path) -> str:
    frame = pd.DataFrame(X, columns=["größe", "x,1", "基因", *"abc"]).assign(y=Y)
    frame.to_csv(tmp_path / "t.csv", index=False)
    return str(tmp_path / "t.csv")


# --- where compiled kernels are kept ------------------------------------------------------------


@pytest.fixture
def read_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine on which only the folder for temporary files can be written."""
    can_write = _kernels._can_write
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr("numba.config.CACHE_DIR", "")
    monkeypatch.setattr(
        _kernels, "_can_write", lambda folder: tmp_path in folder.parents and can_write(folder)
    )
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_kernels_go_to_a_private_folder_where_nothing_else_can_be_written(read_only):
    import numba

    _kernels._choose_cache_folder()
    folder = Path(os.environ.pop("NUMBA_CACHE_DIR"))
    assert folder.parent == read_only
    assert str(folder) == numba.config.CACHE_DIR
    assert folder.stat().st_mode & 0o077 == 0
    _kernels._choose_cache_folder()
    assert os.environ.pop("NUMBA_CACHE_DIR") == str(folder)  # next time, they are still there


def test_kernels_do_not_go_to_a_folder_that_others_can_write(read_only):
    _kernels._choose_cache_folder()
    folder = Path(os.environ.pop("NUMBA_CACHE_DIR"))
    folder.chmod(0o777)
    _kernels._choose_cache_folder()
    assert os.environ.pop("NUMBA_CACHE_DIR") != str(folder)


def test_the_users_own_folder_for_kernels_is_respected(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(_kernels, "_can_write", lambda folder: False)
    _kernels._choose_cache_folder()
    assert os.environ["NUMBA_CACHE_DIR"] == str(tmp_path)


def test_where_no_folder_can_be_written_one_is_asked_for(monkeypatch):
    def refused(*_args, **_options):
        raise PermissionError("read-only")

    monkeypatch.setattr("tempfile.gettempdir", refused)
    with pytest.raises(OSError, match="NUMBA_CACHE_DIR to one that can"):
        _kernels._private_folder()


# --- interpreters and streams -------------------------------------------------------------------


def test_it_runs_without_docstrings_and_assertions(table):
    done = run("select", table, "--target", "y", "--resamples", "5", options=("-OO",))
    assert done.returncode == 0, done.stderr.decode()
    assert "größe" in done.stdout.decode()


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_what_a_stream_cannot_show_is_replaced(encoding, table):
    done = run("select", table, "--target", "y", "--resamples", "5", PYTHONIOENCODING=encoding)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    text = done.stdout.decode("utf-8" if encoding == "ascii" else encoding, errors="replace")
    assert "\\u57fa\\u56e0" in text  # the name that cannot be shown
    assert "40 rows" in text
    listed = run("stability", "--list", PYTHONIOENCODING=encoding)
    assert listed.returncode == 0


# --- weights, values, names ---------------------------------------------------------------------


@pytest.mark.parametrize("weight", [1e-300, 1e300])
@pytest.mark.parametrize("ranker", [InformationGain(), FStatistic()])
def test_the_unit_of_weights_may_be_tiny_or_huge(weight, ranker):
    plain = ranker.fit(X, Y, sample_weight=np.ones(40)).scores_
    assert np.allclose(ranker.fit(X, Y, sample_weight=np.full(40, weight)).scores_, plain)


@pytest.mark.parametrize("ranker", [InformationGain(), FStatistic()])
def test_a_weight_that_vanishes_beside_the_others_is_none(ranker):
    weights = np.repeat([1.0, 0.0], 20)
    without = ranker.fit(X, Y, sample_weight=weights).scores_
    assert np.array_equal(ranker.fit(X, Y, sample_weight=weights + 1e-300).scores_, without)
    with pytest.raises(ms.InputError, match="all rows of class '1' have weight 0"):
        ms.EnsembleSelector(ranker).fit(X, Y, sample_weight=np.where(Y == 1, 1e-300, 1.0))


@pytest.mark.parametrize("ranker", ["f_statistic", "information_gain", "random_forest"])
def test_values_too_large_to_be_squared_are_refused_by_name(ranker):
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(c=X[:, 2] * 1e200)
    selector = ms.EnsembleSelector(ranker, n_resamples=3)
    with pytest.raises(ms.InputError, match=r"feature 'c' holds values beyond 1e\+150.*rescale"):
        selector.fit(frame, Y)
    with pytest.raises(ms.InputError, match="the target has values beyond"):
        selector.fit(X, X[:, 0] * 1e200)


def test_a_ranker_alone_refuses_them_too():
    with pytest.raises(ms.InputError, match="'x0' holds values beyond"):
        FStatistic().fit(X * 1e200, Y)


@pytest.mark.filterwarnings("ignore:(overflow|invalid value) encountered:RuntimeWarning")
def test_values_too_large_for_a_model_are_named():
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(c=X[:, 2] * 1e50)
    with pytest.raises(
        ms.InputError, match=r"RandomForest.* values beyond 3e\+38 in 'c'.* Rescale"
    ):
        ms.EnsembleSelector("random_forest", n_resamples=3).fit(frame, Y)


def test_numbers_in_names_may_have_any_number_of_digits():
    names = ["x10", "x9", "x010", "x" + "1" * 5000, "x" + "2" * 4999, "y", "x٣"]
    order = [names[i] for i in natural_order(names)]
    assert order == ["x٣", "x9", "x010", "x10", names[4], names[3], "y"]
    frame = pd.DataFrame(X, columns=["a\rb", "1" * 5000, "x" * 200_000, *"def"])
    assert ms.EnsembleSelector(n_resamples=3, random_state=0).fit(frame, Y).n_features_ == 1
