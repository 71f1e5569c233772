"""Memory that is used again is never somebody else's."""

from __future__ import annotations

import gc
import threading
from typing import Any

import numpy as np
import pytest

from mainstay import _workspace
from mainstay._workspace import recycled, workspace
from mainstay.data import Data
from mainstay.rankers import make_ranker
from mainstay.rankers.inputs import SomeRows, Table

LARGE = 2**17


@pytest.fixture(autouse=True)
def nothing_returned() -> None:
    gc.collect()
    _workspace._returned.clear()


def address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


def test_a_workspace_is_the_same_memory_under_the_same_name_only() -> None:
    first = workspace("test a", 10, 20)
    assert first.shape == (10, 20)
    assert address(workspace("test a", 5, 4)) == address(first)
    assert not np.shares_memory(workspace("test b", 10, 20), first)


def test_threads_have_their_own_workspaces() -> None:
    made: list[np.ndarray] = []
    thread = threading.Thread(target=lambda: made.append(workspace("test a", 10)))
    thread.start()
    thread.join()
    assert not np.shares_memory(made[0], workspace("test a", 10))


def test_a_workspace_that_is_too_large_is_not_kept() -> None:
    first = workspace("test large", _workspace._MOST // 8 + 1)
    assert not np.shares_memory(first, workspace("test large", _workspace._MOST // 8 + 1))


def test_what_nobody_holds_is_used_again() -> None:
    first = recycled(LARGE)
    where = address(first)
    del first
    assert address(recycled(LARGE // 4, 4)) == where


@pytest.mark.parametrize("part", [lambda a: a[5:7], lambda a: a.T, lambda a: a.view(np.int64)])
def test_what_somebody_holds_a_part_of_is_not(part: Any) -> None:
    first = recycled(LARGE // 2, 2)
    first[:] = 7.0
    kept = part(first)
    copy = kept.copy()
    del first
    again = recycled(LARGE // 2, 2)
    again[:] = -1.0
    assert not np.shares_memory(kept, again)
    assert (kept == copy).all()


def test_memory_that_goes_round_is_bounded() -> None:
    arrays = [recycled(LARGE) for _ in range(10)]
    arrays.clear()
    assert len(_workspace._returned) == _workspace._returned.maxlen
    huge = recycled(_workspace._MOST_RECYCLED // 8 + 1)
    assert huge.base is None
    assert recycled(3).base is None


# ---------------------------------------------------------------------- rows that are looked up


RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(90, 40)), np.arange(90) % 3
ROWS = RNG.choice(90, 50, replace=False)
RANKERS = ["f_statistic", "correlation", "information_gain", "chi_square", "mrmr", "cmim"]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("ranker", RANKERS)
def test_rows_that_are_looked_up_score_as_their_copy(ranker: str, dtype: Any) -> None:
    data = Data.check(X.astype(dtype), Y % 2)
    part = data.looked_up().rows(ROWS)
    assert isinstance(part.X, SomeRows)
    copied = data.rows(ROWS)
    weights = RNG.poisson(1.0, (9, len(ROWS)))
    for given in (weights, weights[:1]):
        scores = make_ranker(ranker).score_resamples(part.X, part.y, given)
        expected = make_ranker(ranker).score_resamples(copied.X, copied.y, given)
        assert scores.tobytes() == expected.tobytes()


def test_rows_of_rows() -> None:
    some = (
        SomeRows(X, np.arange(90), tuple(map(str, range(40)))).of_these(ROWS).of_these(ROWS[:5] % 7)
    )
    assert (np.asarray(some) == X[ROWS][ROWS[:5] % 7]).all()
    assert (Table(some).column(3).values == X[ROWS][ROWS[:5] % 7, 3]).all()


def test_tables_with_gaps_are_not_looked_up() -> None:
    gappy = X.copy()
    gappy[3, 4] = np.nan
    assert not isinstance(Data.check(gappy, Y).looked_up().X, SomeRows)
    assert not isinstance(Data.check(X.astype(np.int64), Y).looked_up().X, SomeRows)
