"""Runs: whatever a selector returned goes in unchanged, and whatever it cannot have returned is
refused with a message that says where."""

from __future__ import annotations

import pickle
import re
import warnings
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import rankdata

import naive
from mainstay import InputError, Runs

ABC = ["a", "b", "c"]
SUPPORT = np.array([[1, 1, 0], [0, 1, 1]])
SCORES = np.array([[0.9, 0.1, 0.5, 0.3], [0.2, 0.8, 0.8, 0.1]])

EVERY_MAKER = pytest.mark.parametrize(
    "make", [Runs.from_support, Runs.from_ranks, Runs.from_scores], ids=lambda make: make.__name__
)


def some_scores(most: int = 6, distinct: int = 4):
    """Matrices of scores with many ties."""
    shapes = st.tuples(st.integers(2, most), st.integers(1, most))
    return shapes.flatmap(lambda shape: arrays(float, shape, elements=st.integers(0, distinct)))


def quietly(function, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args, **kwargs)


def selections(runs: Runs) -> Counter[frozenset[str]]:
    """The selected names of every run, whatever the order of runs and columns."""
    names = np.array(runs.features)
    return Counter(frozenset(names[row].tolist()) for row in runs.support)


# --- sets ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sets", "features"),
    [
        ([["a", "b"], ["c", "b"]], ["a", "b", "c"]),
        ([[0, 1], [2, 1]], ["a", "b", "c"]),
        ([["a", 1], [2, "b"]], ["a", "b", "c"]),
        ([[0, 1], [1, 2]], 3),
        ([["x0", "x1"], ["x1", "x2"]], 3),
        ([[10, 20], [30, 20]], [10, 20, 30]),
        ([["10", "20"], ["30", "20"]], [10, 20, 30]),
        ([[1, 0], [0, 2]], [1, 0, 2]),
        ([{"a", "b"}, ("b", "c")], np.array(["a", "b", "c"])),
        ([np.array([0, 1]), np.array([1, 2], dtype=np.uint8)], np.int64(3)),
        ([np.array(["a", "b"]), np.array(["b", "c"])], pd.Index(["a", "b", "c"])),
        ([pd.Series(["a", "b"]), pd.Series([1, 2])], ["a", "b", "c"]),
        ([pl.Series(["a", "b"]), pl.Series([1, 2])], pl.Series(["a", "b", "c"])),
        ((iter(chosen) for chosen in ("ab", "bc")), ABC),
    ],
)
def test_a_selection_may_be_given_by_names_or_positions_in_any_collection(sets, features):
    runs = Runs.from_sets(sets, features)
    assert np.array_equal(runs.support, SUPPORT)
    assert runs.sparse_support.indices.tolist() == [0, 1, 1, 2]


def test_whole_numbers_among_the_feature_labels_are_labels_not_positions():
    with pytest.raises(InputError, match=r"run 1 .* unknown feature 0; features are '10', '20'"):
        Runs.from_sets([[10], [0]], features=[10, 20])


def test_a_run_may_select_nothing_or_everything():
    runs = Runs.from_sets([[], [0, 1, 2], []], features=3)
    assert runs.sizes.tolist() == [0, 3, 0]
    assert runs.counts.tolist() == [1, 1, 1]


@given(arrays(bool, st.tuples(st.integers(2, 6), st.integers(1, 6))))
def test_sets_and_supports_are_the_same_thing(support):
    sets = [np.flatnonzero(row) for row in support]
    from_sets, from_support = Runs.from_sets(sets, support.shape[1]), Runs.from_support(support)
    for runs in (from_sets, from_support):
        assert np.array_equal(runs.support, support)
        assert runs.sizes.tolist() == support.sum(axis=1).tolist()
        assert runs.counts.tolist() == support.sum(axis=0).tolist()


NAMED = pd.DataFrame(SUPPORT, columns=["x0", "x1", "x2"])
SPARSE = (sp.csr_array, sp.csc_matrix, sp.coo_array)


@pytest.mark.parametrize(
    "table",
    [SUPPORT.tolist(), NAMED, NAMED.astype("boolean"), pl.DataFrame(NAMED)]
    + [SUPPORT.astype(dtype) for dtype in (bool, float, np.uint8, object)]
    + [kind(SUPPORT.astype(dtype)) for kind in SPARSE for dtype in (bool, float)],
    ids=lambda table: f"{type(table).__module__.split('.')[0]}-{type(table).__name__}",
)
def test_a_support_may_come_in_any_table(table):
    runs = Runs.from_support(table)
    assert np.array_equal(runs.support, SUPPORT)
    assert runs.features == ("x0", "x1", "x2")


def test_names_come_from_the_columns_unless_given():
    table = pd.DataFrame(SUPPORT, columns=["a", 7, "c"])
    assert Runs.from_support(table).features == ("a", "7", "c")
    assert Runs.from_support(table, features=["u", "v", "w"]).features == ("u", "v", "w")


def test_making_runs_leaves_a_sparse_matrix_as_it_was():
    given_zeros = sp.csr_array(([1, 0, 1], [0, 2, 1], [0, 2, 3]), shape=(2, 3))
    before = given_zeros.copy()
    Runs.from_support(given_zeros)
    assert given_zeros.indices.tolist() == before.indices.tolist()
    assert given_zeros.data.tolist() == before.data.tolist()


@EVERY_MAKER
def test_runs_do_not_change_when_the_array_they_came_from_does(make):
    table = np.array([[1.0, 0.0], [0.0, 1.0]]) + (make == Runs.from_ranks)
    runs = make(table)
    before = runs.to_frame()
    table[:] = 0.5
    assert runs.to_frame().equals(before)


# --- rankings and scores ------------------------------------------------------------------------


@given(some_scores(), st.lists(st.sampled_from(["average", "min", "max", "dense"]), min_size=6))
def test_ties_in_any_convention_become_average_ranks(values, conventions):
    table = [rankdata(row, method) for row, method in zip(values, conventions, strict=False)]
    assert np.array_equal(Runs.from_ranks(table).ranks, rankdata(values, axis=1))


@given(st.lists(st.permutations(range(1, 6)), min_size=2))
def test_permutations_are_rankings(table):
    assert np.array_equal(Runs.from_ranks(np.array(table, dtype=np.int16)).ranks, table)
    assert np.array_equal(Runs.from_ranks(pl.DataFrame(table, orient="row")).ranks, table)


@given(some_scores())
def test_the_largest_score_has_rank_one_and_ties_share_their_mean_rank(scores):
    runs = Runs.from_scores(scores)
    assert np.array_equal(runs.scores, scores)
    assert np.array_equal(runs.ranks, [naive.average_ranks(row) for row in scores])


# --- the k best ---------------------------------------------------------------------------------


@given(st.lists(st.permutations(range(1, 7)), min_size=2), st.integers(1, 6))
def test_the_k_best_are_those_with_rank_up_to_k(table, k):
    assert np.array_equal(Runs.from_ranks(table).top(k).support, np.array(table) <= k)


@given(some_scores(), st.data())
def test_ties_at_the_cut_are_broken_to_exactly_k_features(scores, data):
    runs = Runs.from_scores(scores)
    k = data.draw(st.integers(1, runs.n_features))
    support = quietly(runs.top, k).support
    assert (support.sum(axis=1) == k).all()
    best_left_out = np.where(support, -np.inf, scores).max(axis=1)
    assert (np.where(support, scores, np.inf).min(axis=1) >= best_left_out).all()


def test_a_tie_at_the_cut_is_reported_and_one_elsewhere_is_not():
    runs = Runs.from_scores(SCORES)
    with pytest.warns(UserWarning, match=r"in 1 of 2 runs features tie for place 1.*random"):
        runs.top(1)
    for k in (2, 3, 4):  # would raise: warnings are errors
        assert runs.top(k).sizes.tolist() == [k, k]


@given(some_scores(distinct=2), st.data())
def test_shuffling_columns_or_runs_does_not_change_how_ties_fall(scores, data):
    m, p = scores.shape
    names = np.array([f"gene {i}" for i in range(p)])
    k = data.draw(st.integers(1, p))
    rows = data.draw(st.permutations(range(m)))
    columns = data.draw(st.permutations(range(p)))
    plain = Runs.from_scores(scores, features=names)
    shuffled = Runs.from_scores(scores[rows][:, columns], features=names[columns])
    assert selections(quietly(plain.top, k)) == selections(quietly(shuffled.top, k))


def test_ties_fall_evenly_over_features_and_independently_over_identical_runs():
    m, p, k = 2000, 20, 5
    chosen = quietly(Runs.from_scores(np.zeros((m, p))).top, k, random_state=3).support
    frequency_error = np.sqrt(k / p * (1 - k / p) / m)  # 0.0097
    assert chosen.mean(axis=0) == pytest.approx(np.full(p, k / p), abs=4 * frequency_error)
    overlap = (chosen[::2] & chosen[1::2]).sum(axis=1)  # hypergeometric
    variance = k * (k / p) * (1 - k / p) * (p - k) / (p - 1)
    overlap_error = np.sqrt(variance / (m / 2))  # 0.027
    assert overlap.mean() == pytest.approx(k * k / p, abs=4 * overlap_error)
    assert overlap.var(ddof=1) == pytest.approx(variance, rel=0.2)


def test_the_seed_decides_how_ties_fall():
    runs = Runs.from_scores(np.zeros((5, 30)))
    first, again, other = (quietly(runs.top, 10, random_state=seed).support for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("k", [0, 5, -1, 1.5, "2", None, True])
def test_k_must_be_a_number_of_features(k):
    with pytest.raises(InputError, match=f"k must be a whole number from 1 to 4, got {k!r}"):
        Runs.from_scores(SCORES).top(k)


# --- reading runs -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("runs", "attribute", "message"),
    [
        (Runs.from_scores(SCORES), "support", r"hold scores, not selections; runs.top\(k\)"),
        (Runs.from_ranks([[1, 2], [2, 1]]), "sizes", "hold ranks, not selections"),
        (Runs.from_support(SUPPORT), "ranks", "no ranks"),
        (Runs.from_support(SUPPORT), "scores", "hold support, not scores"),
        (Runs.from_ranks([[1, 2], [2, 1]]), "scores", "hold ranks, not scores"),
    ],
)
def test_runs_say_what_they_do_not_hold(runs, attribute, message):
    with pytest.raises(InputError, match=message):
        getattr(runs, attribute)


EACH_KIND = {
    "Runs: 2 runs × 3 features, selections of 2 features each": Runs.from_support(SUPPORT),
    "Runs: 3 runs × 4 features, selections of 0 to 3 features (mean 1.3)": Runs.from_sets(
        [[], [1], [0, 1, 2]], 4
    ),
    "Runs: 2 runs × 2 features, rankings": Runs.from_ranks([[1, 2], [1.5, 1.5]]),
    "Runs: 2 runs × 4 features, scores": Runs.from_scores(SCORES, features=list("abcd")),
}


@pytest.mark.parametrize("text", EACH_KIND)
def test_runs_describe_themselves_and_survive_pickling(text):
    runs = EACH_KIND[text]
    copy = pickle.loads(pickle.dumps(runs))
    assert repr(runs) == repr(copy) == text
    assert (len(copy), copy.n_runs, copy.n_features) == (len(runs), len(runs), runs.n_features)
    assert copy.to_frame().equals(runs.to_frame())


def test_pairs_are_still_pairs_after_pickling():
    runs = Runs.from_sets([[0], [1]], 3).as_pairs()
    assert pickle.loads(pickle.dumps(runs)).paired


@pytest.mark.parametrize("runs", EACH_KIND.values(), ids=lambda runs: runs.kind)
def test_the_table_of_runs_makes_the_same_runs(runs):
    table = runs.to_frame()
    assert table.columns.tolist() == list(runs.features)
    again = getattr(Runs, f"from_{runs.kind}")(table)
    assert again.to_frame().equals(table)


@pytest.mark.parametrize("runs", EACH_KIND.values(), ids=lambda runs: runs.kind)
def test_a_subset_keeps_the_runs_asked_for(runs):
    part = runs.subset([1, 0, 1])
    assert (part.kind, part.features) == (runs.kind, runs.features)
    assert np.array_equal(part.to_frame(), runs.to_frame().iloc[[1, 0, 1]])
    assert runs.subset([0]) == runs[0]


@pytest.mark.parametrize("runs", EACH_KIND.values(), ids=lambda runs: runs.kind)
def test_runs_are_indexed_like_rows(runs):
    m = len(runs)
    rows = runs.to_frame().to_numpy()
    first = np.arange(m) == 0
    for index in (0, np.int64(1), -1, slice(1, None), slice(None, None, -1), [1, 0, 1], first):
        part = runs[index]
        assert (part.kind, part.features) == (runs.kind, runs.features)
        assert np.array_equal(part.to_frame(), np.atleast_2d(rows[index]))
    for index in (m, -m - 1, [0, m], [True] * (m + 1)):
        with pytest.raises(IndexError):
            runs[index]
    for nothing in (slice(m, None), [], [False] * m):
        with pytest.raises(InputError, match="there are no runs; at least one is needed"):
            runs[nothing]


@pytest.mark.parametrize("runs", EACH_KIND.values(), ids=lambda runs: runs.kind)
def test_runs_are_made_of_their_runs(runs):
    one_by_one = list(runs)
    assert [len(run) for run in one_by_one] == [1] * len(runs)
    assert Runs.concatenate(one_by_one) == runs


def test_equal_runs_hold_the_same_values_of_the_same_features():
    runs = Runs.from_scores(SCORES, features=list("abcd"))
    same = Runs.from_scores(SCORES.copy(), features=list("abcd"))
    assert runs == same
    assert hash(runs) == hash(same)
    assert len({runs, same}) == 1
    for other in (
        Runs.from_scores(SCORES, features=list("abce")),
        Runs.from_scores(SCORES + np.eye(2, 4), features=list("abcd")),
        Runs.from_scores(SCORES[::-1], features=list("abcd")),
        Runs.from_ranks(runs.ranks, features=list("abcd")),
        runs[0],
        SCORES,
    ):
        assert runs != other
    assert Runs.from_sets([[0, 1], [1, 2]], 3) == Runs.from_support(SUPPORT)
    assert Runs.from_sets([[0, 1], [0, 2]], 3) != Runs.from_support(SUPPORT)


def test_values_of_runs_cannot_be_changed():
    runs = Runs.from_scores(SCORES)
    selections = Runs.from_support(SUPPORT)
    copies = pickle.loads(pickle.dumps((runs, selections)))
    for scored, selected in ((runs, selections), (runs[:1], selections[:1]), copies):
        for values in (scored.scores, scored.ranks):
            with pytest.raises(ValueError, match="read-only"):
                values[0, 0] = 1
        with pytest.raises(ValueError, match="read-only"):
            selected.sparse_support.data[0] = 0
    with pytest.raises(ValueError, match="read-only"):
        Runs.from_ranks([[1, 2], [2, 1]]).ranks[0, 0] = 2


def test_ranks_are_computed_once():
    for runs in (Runs.from_scores(SCORES), Runs.from_ranks([[1, 2], [2, 1]])):
        assert runs.ranks is runs.ranks


@EVERY_MAKER
def test_one_run_is_enough(make):
    runs = make([[1]])
    assert (runs.n_runs, runs.n_features) == (1, 1)
    assert repr(runs).startswith("Runs: 1 run × 1 feature")


# --- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sets", "features", "message"),
    [
        ([["a"], ["b", "z"]], ABC, "run 1 .*unknown feature 'z'; features are 'a', 'b', 'c'"),
        ([["a"], ["x1"]], ABC, "run 1 .*unknown feature 'x1'"),
        ([[0], [3]], 3, r"run 1 .*feature number 3, but there are 3 features \(0 to 2\)"),
        ([[-1], [0]], 3, "run 0 .*feature number -1"),
        ([[0], [True]], 3, "run 1 .*unknown feature True"),
        ([[0], [1.5]], 3, "run 1 .*unknown feature 1.5"),
        ([[0], [None]], 3, "run 1 .*unknown feature None"),
        ([[0], [[1]]], 3, r"run 1 .*\[1\]"),
        ([["a"], ["b", "c", "b"]], ABC, "run 1 .*feature 'b' twice"),
        ([["a"], ["b", 1]], ABC, "run 1 .*feature 'b' twice"),
        ([["a"], "abc"], ABC, "run 1 .*'abc', not a collection of features"),
        ([["a"], 2], ABC, "run 1 .*2, not a collection of features"),
        ([["a"], None], ABC, "run 1 .*None, not a collection of features"),
        ([], ABC, "there are no runs; at least one is needed"),
        ([[], []], [], "no features"),
        ([[], []], 0, "features must be a whole number at least 1, got 0"),
        ([["a"], ["b"]], ["a", "b", "a"], "unique; given more than once: 'a'"),
        ([[1], [1]], [1, "1"], "unique; given more than once: '1'"),
    ],
)
def test_a_set_of_unknown_or_repeated_features_is_refused(sets, features, message):
    with pytest.raises(InputError, match=message):
        Runs.from_sets(sets, features)


@pytest.mark.parametrize("make", [np.array, sp.csr_array, lambda rows: pd.DataFrame(rows)])
@pytest.mark.parametrize("value", [2.0, 0.5, -1.0, np.nan, np.inf])
def test_a_support_holds_only_zeros_and_ones(make, value):
    with pytest.raises(InputError, match=rf"0 and 1 only, but run 1 .*feature 'b' is {value}"):
        Runs.from_support(make([[0.0, 1.0], [1.0, value]]), features=["a", "b"])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([1, 2, 4], "feature 'c' has rank 4, .* is 3"),
        ([0, 1, 2], "feature 'a' has rank 0, .* is 1"),
        ([3, 3, 2], "feature '[abc]' has rank"),
        ([1, 1, 4], "feature '[abc]' has rank"),
        ([1.25, 1.75, 3], "feature 'a' has rank 1.25, .* is 1"),
        ([-1, 2, 3], "feature 'a' has rank -1"),
        ([1, np.nan, 3], "ranks must be finite, but .*feature 'b' is nan"),
        ([1, 2, np.inf], "ranks must be finite, but .*feature 'c' is inf"),
    ],
)
def test_a_ranking_has_every_place_from_one_to_p(row, message):
    with pytest.raises(InputError, match=message) as caught:
        Runs.from_ranks([[1, 2, 3], row], features=ABC)
    assert "run 1 (counting from 0)" in str(caught.value)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, None])
def test_scores_are_finite(value):
    with pytest.raises(InputError, match=r"finite, but run 1 .*'b' is (nan|inf|-inf) \(1 such"):
        Runs.from_scores(pd.DataFrame({"a": [0.1, 0.2], "b": [0.3, value]}))


@EVERY_MAKER
@pytest.mark.parametrize(
    ("table", "message"),
    [
        (np.ones((0, 2)), "there are no runs; at least one is needed"),
        (np.ones((2, 0)), "features"),
        (pd.DataFrame(index=[0, 1]), "no features"),
        ([[1, 2], [1]], "run 1 .*has 1 values, but run 0 has 2"),
        ([1, 2], "run 0 .*is 1, not a row of values"),
        (np.array([1, 2]), r"2 dimensions.*\(2,\)"),
        (np.ones((2, 2, 2)), r"2 dimensions.*\(2, 2, 2\)"),
        (pd.DataFrame({"a": [1, 2], "b": [2, "low"]}), "run 1 .*'low'"),
        ([[1, 2], [2, "low"]], "run 1 .*'low'"),
        (np.array([["1", "1"], ["1", "1"]]), "run 0 .*'1'.* not a number"),
        (np.ones((2, 2), dtype="datetime64[D]"), "not a number|not numeric"),
    ],
)
def test_a_table_has_one_number_for_every_run_and_feature(make, table, message):
    with pytest.raises(InputError, match=message):
        make(table)


@EVERY_MAKER
@pytest.mark.parametrize(
    ("features", "message"),
    [
        (["a"], "1 feature names were given for 2 columns"),
        (["a", "b", "c"], "3 feature names were given for 2 columns"),
        (["a", "a"], "unique; given more than once: 'a'"),
    ],
)
def test_every_column_has_one_name_of_its_own(make, features, message):
    with pytest.raises(InputError, match=re.escape(message)):
        make([[1, 2], [2, 1]], features=features)


# --- groups of features ---------------------------------------------------------------------------


@given(arrays(bool, (4, 6)), st.lists(st.integers(0, 5), min_size=6, max_size=6))
def test_a_run_selects_a_group_if_it_selects_a_member(support, of_feature):
    names = list("abcdef")
    groups = [[names[i] for i in range(6) if of_feature[i] == g] for g in set(of_feature)]
    grouped = Runs.from_support(support, names).as_pairs().grouped(groups)
    assert grouped.paired
    assert grouped.n_features == len(groups)
    for group, column in zip(sorted(groups), grouped.support.T, strict=True):
        assert column.tolist() == [any(row[names.index(n)] for n in group) for row in support]


@given(arrays(float, (2, 5), elements=st.integers(0, 3)))
def test_a_group_stands_where_the_best_of_its_members_stands(scores):
    groups = [("a", "d"), ("b", "e")]
    runs = Runs.from_scores(scores, list("abcde"))
    best = np.stack((scores[:, [0, 3]].max(1), scores[:, [1, 4]].max(1), scores[:, 2]), axis=1)
    assert np.array_equal(runs.grouped(groups).scores, best)
    by_rank = Runs.from_ranks(runs.ranks, list("abcde")).grouped(groups)
    assert by_rank.features == ("a; d", "b; e", "c")
    assert np.array_equal(by_rank.ranks, rankdata(-best, axis=1))


def test_groups_are_named_alike_whatever_the_order_of_the_columns():
    names = ["x10", "x2", "x1", "x3"]
    for order in ([0, 1, 2, 3], [3, 2, 1, 0]):
        runs = Runs.from_sets([[0]], [names[i] for i in order]).grouped([["x10", "x1", "x2"]])
        assert set(runs.features) == {"x1; x2; and 1 more", "x3"}


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (
            [["a", "z"]],
            "group 0 .* that the runs do not have: 'z'; features are 'a', 'b'",
        ),
        ([["a"], ["b", "a"]], "'a' is in more than one group, or twice in one"),
        ([["a", "a"]], "'a' is in more than one group, or twice in one"),
    ],
)
def test_groups_do_not_overlap_and_hold_known_features(groups, message):
    with pytest.raises(InputError, match=message):
        Runs.from_sets([["a"]], ["a", "b"]).grouped(groups)


@pytest.mark.parametrize("know", [Runs.as_pairs, Runs.as_resampled])
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_what_is_known_of_the_rows_is_not_forgotten(know, ending, tmp_path):
    for plain in (Runs.from_scores(SCORES), Runs.from_support(SUPPORT)):
        assert not plain.resampled
        runs = know(plain)
        runs.save(tmp_path / f"runs{ending}")
        copies = [pickle.loads(pickle.dumps(runs)), Runs.load(tmp_path / f"runs{ending}")]
        copies += [Runs.from_arrow(runs.to_arrow()), Runs.concatenate([runs, runs])]
        if plain.kind == "scores":
            copies.append(quietly(runs.top, 1))
        assert [copy.paired for copy in copies] == [runs.paired] * len(copies)
        assert all(copy.resampled for copy in [*copies, runs[0], *runs])
        assert Runs.concatenate([runs, plain]).resampled
