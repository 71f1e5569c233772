"""FeatureSimilarity: exactly the pairs of features that reach the threshold, in little memory."""

from __future__ import annotations

import itertools
import re
import time
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import mainstay.similarity.pairs
import naive
from mainstay import FeatureSimilarity, InputError, Runs

# most tables here are too small to tell twins from chance; the tests of that warning ask for it
pytestmark = pytest.mark.filterwarnings("ignore:.*by chance:UserWarning")

ABC = ["a", "b", "c"]
S = np.array([[1.0, 0.95, 0.2], [0.95, 1.0, 0.0], [0.2, 0.0, 1.0]])


def correlated(seed: int, n: int = 20, p: int = 12) -> np.ndarray:
    """Columns in noisy groups of four, of both signs, in different units."""
    rng = np.random.default_rng(seed)
    shared = np.repeat(rng.normal(size=(n, -(-p // 4))), 4, axis=1)[:, :p]
    noise = rng.normal(size=(n, p)) * rng.uniform(0, 0.5, p)
    return (shared + noise) * rng.choice([-1, 1], p) * 10.0 ** rng.integers(-9, 10, p)


def edges(similarity: FeatureSimilarity) -> dict[tuple[int, int], float]:
    graph = sp.coo_array(similarity.graph)
    triples = zip(graph.row.tolist(), graph.col.tolist(), graph.data.tolist(), strict=True)
    return {(i, j): value for i, j, value in triples if i < j}


def named_groups(similarity: FeatureSimilarity, kind: str) -> set[frozenset[str]]:
    return {frozenset(group) for group in similarity.groups(kind)}


def symmetric_matrices(most: int = 8):
    """Symmetric matrices of few different similarities, so that there are ties."""
    squares = st.integers(1, most).map(lambda p: (p, p))
    halves = squares.flatmap(lambda s: arrays(float, s, elements=st.sampled_from([0, 0.5, 0.9, 1])))
    return halves.map(lambda half: np.triu(half, 1) + np.triu(half, 1).T + np.eye(len(half)))


def absolute_cosine(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(a, axis=0)[:, None] * np.linalg.norm(b, axis=0)
    return np.minimum(np.abs(a.T @ b) / lengths, 1)


# --- from data ----------------------------------------------------------------------------------


@pytest.mark.parametrize("block_bytes", [1, 8 * 12 * 5, 2**26], ids=["1 column", "5", "all"])
@pytest.mark.parametrize("threshold", [0.3, 0.8, 0.95])
@pytest.mark.parametrize("method", ["pearson", "spearman"])
def test_the_graph_holds_the_pairs_that_reach_the_threshold(
    method, threshold, block_bytes, monkeypatch
):
    monkeypatch.setattr(mainstay.similarity.pairs, "_BLOCK_BYTES", block_bytes)
    for seed in range(3):
        X = correlated(seed)
        found = FeatureSimilarity.from_data(X, method, threshold)
        expected = naive.correlation_graph(X, threshold, method)
        assert 0 < len(expected) < 66
        assert edges(found) == pytest.approx(expected, abs=1e-12)
        assert (found.graph != found.graph.T).nnz == 0
        assert not found.graph.diagonal().any()


def test_shuffling_columns_changes_no_bit_of_any_correlation(monkeypatch):
    X = correlated(1, n=101, p=40)
    order = np.random.default_rng(2).permutation(40)
    names = np.array([f"gene{i}" for i in range(40)])
    plain = FeatureSimilarity.from_data(X, threshold=0.5, features=names)
    monkeypatch.setattr(mainstay.similarity.pairs, "_BLOCK_BYTES", 8 * 40 * 7)
    shuffled = FeatureSimilarity.from_data(X[:, order], threshold=0.5, features=names[order])
    assert edges(shuffled.aligned_to(plain.features)) == edges(plain) != {}


@given(arrays(float, (6, 5), elements=st.integers(0, 3)), st.sampled_from([0.25, 0.6, 0.99]))
@pytest.mark.filterwarnings("ignore:.*constant feature")
def test_spearman_is_right_with_ties_and_constant_columns(X, threshold):
    expected = naive.correlation_graph(X, threshold - 1e-9, "spearman")
    found = edges(FeatureSimilarity.from_data(X, "spearman", threshold - 1e-9))
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("method", ["pearson", "spearman"])
def test_copies_of_a_feature_are_exactly_similar(method):
    X = np.random.default_rng(0).normal(size=(50, 30))
    copies = np.hstack((X, X, -3 * X + 1))
    similarity = FeatureSimilarity.from_data(copies, method, threshold=1.0)
    triples = {frozenset((f"x{i}", f"x{i + 30}", f"x{i + 60}")) for i in range(30)}
    assert named_groups(similarity, "cliques") == triples
    assert set(similarity.graph.data.tolist()) == {1.0}


@pytest.mark.parametrize("unit", [1e-200, 1e-6, 1e6, 1e200])
def test_the_unit_of_a_feature_does_not_matter(unit):
    X = np.random.default_rng(0).normal(size=(50, 2))
    scaled = np.hstack((X, X * unit))
    assert FeatureSimilarity.from_data(scaled).groups() == [("x0", "x2"), ("x1", "x3")]


@pytest.mark.parametrize("threshold", [0.0, 0.9])
@pytest.mark.parametrize("method", ["pearson", "spearman"])
@pytest.mark.parametrize("value", [0.0, 0.1, -1e9])
def test_constant_features_are_named_and_similar_to_nothing(value, method, threshold):
    X = np.array([[1.0, value, 2.0, value], [2.0, value, 4.0, value], [3.0, value, 5.0, value]])
    with pytest.warns(UserWarning, match=r"2 constant feature\(s\) are similar to nothing: 'x1'"):
        similarity = FeatureSimilarity.from_data(X, method, threshold)
    assert similarity.degrees.tolist() == [1, 0, 1, 0]


def test_any_function_of_two_blocks_may_say_what_is_similar(monkeypatch):
    X = correlated(4)
    whole = FeatureSimilarity.from_data(X, absolute_cosine, threshold=0.8)
    expected = np.argwhere(np.triu(absolute_cosine(X, X) >= 0.8, 1))
    assert sorted(edges(whole)) == [tuple(pair) for pair in expected.tolist()]
    assert "absolute_cosine >= 0.8" in repr(whole)
    monkeypatch.setattr(mainstay.similarity.pairs, "_BLOCK_BYTES", 8 * 12 * 5)
    blockwise = FeatureSimilarity.from_data(X, absolute_cosine, threshold=0.8)
    assert edges(blockwise) == pytest.approx(edges(whole), abs=1e-12)


def constant_function(value):
    return lambda a, b: np.full((a.shape[1], b.shape[1]), value)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda a, b: np.ones(3), r"shape \(3,\).*3 and 3 columns; it must return \(3, 3\)"),
        (lambda a, b: 0.5, r"shape \(\)"),
        (constant_function(np.nan), "'x0' and 'x1' is nan"),
        (constant_function(1.5), r"\[0, 1\], but that of 'x0' and 'x1' is 1.5"),
        (constant_function(-0.95), r"\[0, 1\], but that of 'x0' and 'x1' is -0.95"),
    ],
)
def test_a_function_that_returns_no_similarities_is_refused(function, message):
    with pytest.raises(InputError, match=message):
        FeatureSimilarity.from_data(np.eye(3), function)


@pytest.mark.parametrize(
    ("X", "arguments", "message"),
    [
        ({"a": [1.0, np.inf], "b": [1.0, None]}, {}, r"1 feature\(s\) .*infinite.*: 'a'\. Repl"),
        ({"a": [1.0, 2.0], "b": ["low", "high"]}, {}, "'b' is not numeric .*'low'"),
        ({"a": [1.0, 2.0], "b": [1.0, "n/a"]}, {}, "'b' is not numeric .*'n/a'"),
        ({"a": [1.0, 2.0], "b": pd.to_datetime(["2020", "2021"])}, {}, "'b' is not numeric"),
        ({"a": [], "b": []}, {}, "no (samples|rows)"),
        ({}, {}, "no features"),
        ([[1.0, 2.0], [3.0]], {}, "row 1|samples × features"),
        ([1.0, 2.0], {}, r"samples × features, got shape \(2,\)"),
        ({"a": [1, 2]}, {"method": "pearsn"}, "'pearsn'. Did you mean 'pearson'"),
        ({"a": [1, 2]}, {"features": ["u", "v"]}, "2 feature names .* 1 columns"),
        ({"a": [1, 2]}, {"threshold": 1.1}, r"threshold must be a number in \[0, 1\], got 1.1"),
        ({"a": [1, 2]}, {"threshold": "high"}, "threshold must be .*'high'"),
        ({"a": [1, 2]}, {"threshold": np.nan}, "threshold must be .*nan"),
        ({"a": [1, 2]}, {"min_overlap": 1}, "min_overlap must be .* from 2 to 2, got 1"),
        ({"a": [1, 2]}, {"min_overlap": 3}, "min_overlap must be .* from 2 to 2, got 3"),
        ({"a": [1, 2]}, {"constant": "silent"}, "unknown constant 'silent'.* Valid: warn, ignore"),
    ],
)
def test_data_that_cannot_be_compared_is_refused(X, arguments, message):
    X = pd.DataFrame(X) if isinstance(X, dict) else X
    with pytest.raises(InputError, match=message):
        FeatureSimilarity.from_data(X, **arguments)


def test_names_and_values_come_from_any_table():
    X = np.array([[1.0, 2.0, 0.0], [2.0, 4.1, 5.0], [3.0, 6.0, 1.0], [4.0, 8.0, 2.0]])
    plain = FeatureSimilarity.from_data(X, features=ABC)
    for table in (pd.DataFrame(X, columns=ABC), pl.DataFrame(X, schema=ABC)):
        similarity = FeatureSimilarity.from_data(table)
        assert similarity.features == ("a", "b", "c")
        assert edges(similarity) == edges(plain) != {}
    assert edges(FeatureSimilarity.from_data(sp.csr_array(X))) == edges(plain)


def test_three_thousand_features_need_no_square_matrix():
    X = correlated(0, n=30, p=3000)
    tracemalloc.start()
    try:
        similarity = FeatureSimilarity.from_data(X, threshold=0.95)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert similarity.graph.nnz > 1000
    assert peak < 3000 * 3000 * 8 / 2


# --- from data with missing values --------------------------------------------------------------


def with_gaps(seed: int, share: float, n: int = 40, p: int = 12) -> np.ndarray:
    """Correlated columns of which every second misses a share of its values."""
    X = correlated(seed, n, p)
    missing = np.random.default_rng(seed + 100).random(X.shape) < share
    missing[:, ::2] = False
    X[missing] = np.nan
    return X


@pytest.mark.parametrize("block_bytes", [1, 8 * 12 * 10 * 5, 2**26], ids=["1 column", "5", "all"])
@pytest.mark.parametrize("threshold", [0.3, 0.8, 0.95])
@pytest.mark.filterwarnings("ignore:.*rows in common")
def test_features_with_gaps_are_compared_by_the_rows_that_both_have(
    threshold, block_bytes, monkeypatch
):
    monkeypatch.setattr(mainstay.similarity.pairs, "_BLOCK_BYTES", block_bytes)
    for seed in range(3):
        X = with_gaps(seed, 0.2)
        similarity = FeatureSimilarity.from_data(X, threshold=threshold)
        expected = naive.correlation_graph(X, threshold, min_overlap=20)
        assert 0 < len(expected) < 66
        assert edges(similarity) == pytest.approx(expected, abs=1e-12)
        assert (similarity.graph != similarity.graph.T).nnz == 0


@pytest.mark.parametrize("min_overlap", [2, 15, 24, 40])
@pytest.mark.filterwarnings("ignore:.*rows in common")
def test_gaps_are_treated_as_pandas_treats_them(min_overlap):
    X = with_gaps(7, 0.5)
    similarity = FeatureSimilarity.from_data(X, threshold=0, min_overlap=min_overlap)
    table = pd.DataFrame(X).corr(min_periods=min_overlap).abs().to_numpy()
    expected = {(i, j): table[i, j] for i, j in np.argwhere(np.triu(~np.isnan(table), 1))}
    assert edges(similarity) == pytest.approx(expected, abs=1e-9)


@given(
    arrays(float, (12, 5), elements=st.sampled_from([0, 1, 2, 5, np.nan])),
    st.permutations(range(12)),
    st.permutations(range(5)),
)
@pytest.mark.filterwarnings("ignore:.*(constant feature|rows in common)")
def test_gaps_mean_the_same_in_every_order_of_rows_and_columns(X, rows, columns):
    names = np.array([f"gene{i}" for i in range(5)])
    plain = FeatureSimilarity.from_data(X, threshold=0.6 - 1e-9, features=names, min_overlap=3)
    assert edges(plain) == pytest.approx(
        naive.correlation_graph(X, 0.6 - 1e-9, min_overlap=3), abs=1e-12
    )
    shuffled = FeatureSimilarity.from_data(
        X[np.ix_(rows, columns)], threshold=0.6 - 1e-9, features=names[columns], min_overlap=3
    )
    assert edges(shuffled.aligned_to(names)) == pytest.approx(edges(plain), abs=1e-12)


def test_shuffling_columns_with_gaps_changes_no_bit_of_any_correlation(monkeypatch):
    X = with_gaps(1, 0.1, n=101, p=40)
    order = np.random.default_rng(2).permutation(40)
    names = np.array([f"gene{i}" for i in range(40)])
    plain = FeatureSimilarity.from_data(X, threshold=0.5, features=names)
    monkeypatch.setattr(mainstay.similarity.pairs, "_BLOCK_BYTES", 8 * 40 * 70)
    shuffled = FeatureSimilarity.from_data(X[:, order], threshold=0.5, features=names[order])
    assert edges(shuffled.aligned_to(plain.features)) == edges(plain) != {}


def test_a_copy_with_gaps_is_exactly_similar():
    X = np.random.default_rng(0).normal(size=(50, 30))
    copies = -3 * X + 1
    copies[np.random.default_rng(1).random(copies.shape) < 0.2] = np.nan
    similarity = FeatureSimilarity.from_data(np.hstack((X, copies)), threshold=1.0)
    assert named_groups(similarity, "cliques") == {
        frozenset((f"x{i}", f"x{i + 30}")) for i in range(30)
    }
    assert set(similarity.graph.data.tolist()) == {1.0}


def test_one_missing_value_keeps_the_similarities_of_all_features():
    X = correlated(3, n=30)
    complete = FeatureSimilarity.from_data(X, threshold=0.8)
    X[0, 0] = np.nan
    gapped = FeatureSimilarity.from_data(X, threshold=0.8)
    others = {pair: value for pair, value in edges(complete).items() if 0 not in pair}
    assert {pair: value for pair, value in edges(gapped).items() if 0 not in pair} == others
    assert gapped.degrees[0] > 0


@pytest.mark.parametrize("far", [1e6, 1e12])
def test_an_outlier_outside_the_common_rows_does_not_blur_the_rest(far):
    x, noise = np.random.default_rng(0).normal(size=(2, 41))
    X = np.column_stack((x, x + 0.3 * noise))
    X[0] = far, np.nan
    X[1, 0] = np.nan
    expected = abs(np.corrcoef(X[2:].T)[0, 1])
    assert edges(FeatureSimilarity.from_data(X)) == pytest.approx({(0, 1): expected}, abs=1e-12)


def test_features_that_are_constant_in_their_common_rows_are_not_similar():
    x = np.arange(30.0)
    X = np.column_stack((x, np.where(x < 10, x, 7.1), x))
    X[:10, 2] = np.nan
    assert edges(FeatureSimilarity.from_data(X, threshold=0.9)) == {(0, 2): 1.0}
    assert (1, 2) not in edges(FeatureSimilarity.from_data(X, threshold=0))


def test_features_that_share_too_few_rows_are_named_and_not_similar():
    x = np.arange(30.0)
    X = np.column_stack((x, x, x))
    X[:16, 1] = np.nan
    few = r"1 feature\(s\) have fewer than min_overlap=15 rows .* those: 'x1'\. Impute"
    with pytest.warns(UserWarning, match=few) as caught:
        assert edges(FeatureSimilarity.from_data(X)) == {(0, 2): 1.0}
    assert caught[0].filename == __file__
    assert len(edges(FeatureSimilarity.from_data(X, min_overlap=14))) == 3


def test_a_few_pairs_that_share_too_few_rows_need_no_warning():
    X = np.random.default_rng(0).normal(size=(30, 42))
    X[:9, 0] = X[-9:, 1] = np.nan  # 12 rows in common
    assert FeatureSimilarity.from_data(X, threshold=0).degrees.tolist() == [40, 40] + [41] * 40


@pytest.mark.parametrize(("n", "smallest"), [(6, 6), (14, 10), (20, 10), (31, 16)])
def test_by_default_half_of_the_rows_and_at_least_ten_must_be_common(n, smallest):
    x = np.random.default_rng(0).normal(size=n)
    for n_common in (smallest, smallest - 1):
        X = np.column_stack((x, np.where(np.arange(n) < n_common, x, np.nan)))
        X[0] += 1e-3 * (n_common == n)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert len(edges(FeatureSimilarity.from_data(X))) == (n_common == smallest)
        assert len(caught) == (n_common < smallest)


def test_a_feature_without_any_value_is_similar_to_nothing():
    X = np.column_stack((np.arange(20.0), np.full(20, np.nan), np.arange(20.0)))
    with pytest.warns(UserWarning, match=r"those: 'x1'\."):
        assert edges(FeatureSimilarity.from_data(X)) == {(0, 2): 1.0}


@pytest.mark.parametrize("method", ["spearman", absolute_cosine], ids=["spearman", "function"])
def test_only_pearson_takes_missing_values(method):
    X = np.array([[1.0, np.nan, 3.0], [2.0, 4.0, 1.0], [3.0, 5.0, 2.0]])
    message = r"needs complete columns, but 1 feature\(s\).*: 'x1'\. Impute .* method='pearson'"
    with pytest.raises(InputError, match=message):
        FeatureSimilarity.from_data(X, method)


def test_missing_values_of_every_kind_of_table_mean_the_same():
    columns = {"a": [1, 2, None, 4, 5], "b": [2, 4, 7, 8, 10], "c": [5, None, 2, 9, 1]}
    nullable = pd.DataFrame(columns, dtype="Int64")
    mixed = pd.DataFrame(columns, dtype=object)
    floats = pd.DataFrame(columns, dtype=float)
    expected = edges(FeatureSimilarity.from_data(floats, min_overlap=3))
    assert expected
    for table in (nullable, mixed, pl.DataFrame(columns)):
        assert edges(FeatureSimilarity.from_data(table, min_overlap=3)) == expected


def test_constant_features_need_no_warning_where_they_are_expected():
    X = np.array([[1.0, 3.0, 2.0], [2.0, 3.0, 4.0], [3.0, 3.0, 5.0]])
    assert FeatureSimilarity.from_data(X, constant="ignore").degrees.tolist() == [1, 0, 1]


# --- from a matrix ------------------------------------------------------------------------------


@given(symmetric_matrices(), st.sampled_from([0.5, 0.8, 0.9, 1.0]))
def test_dense_and_sparse_matrices_mean_the_same(matrix, threshold):
    dense = FeatureSimilarity.from_matrix(matrix, threshold)
    expected = {tuple(pair): matrix[tuple(pair)] for pair in np.argwhere(matrix >= threshold)}
    assert edges(dense) == {(i, j): value for (i, j), value in expected.items() if i < j}
    for kind in (sp.csr_array, sp.coo_matrix, sp.csc_array):
        sparse = FeatureSimilarity.from_matrix(kind(matrix), threshold)
        assert edges(sparse) == edges(dense)
        assert np.array_equal(sparse.diagonal, dense.diagonal)


def test_the_names_of_a_similarity_table_are_its_columns():
    for table in (pd.DataFrame(S, columns=ABC, index=ABC), pl.DataFrame(S, schema=ABC)):
        assert FeatureSimilarity.from_matrix(table).groups() == [("a", "b")]


def test_at_threshold_zero_a_dense_matrix_makes_all_features_similar():
    similarity = FeatureSimilarity.from_matrix(S, threshold=0, features=ABC)
    assert similarity.degrees.tolist() == [2, 2, 2]
    assert similarity.groups("components") == similarity.groups("cliques") == [("a", "b", "c")]
    assert similarity.aligned_to(["c", "b", "a"]).degrees.tolist() == [2, 2, 2]
    assert similarity.to_frame()["similarity"].tolist() == [0.95, 0.2, 0.0]


def test_at_threshold_zero_a_sparse_matrix_is_refused():
    with pytest.raises(InputError, match=r"threshold=0 with a sparse.*not stored count as 0"):
        FeatureSimilarity.from_matrix(sp.csr_array(S), threshold=0)


def changed(i: int, j: int, value: float) -> np.ndarray:
    matrix = S.copy()
    matrix[i, j] = value
    return matrix


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, pd.DataFrame], ids=lambda k: k.__name__)
@pytest.mark.parametrize(
    ("matrix", "arguments", "message"),
    [
        (changed(0, 1, 0.99), {}, "symmetric, but 'a', 'b' and its transpose differ by 0.04"),
        (changed(0, 2, 0.95), {}, "symmetric, but 'a', 'c'"),
        (changed(0, 1, 1.2), {}, r"\[0, 1\], but that of 'a' and 'b' is 1.2"),
        (changed(1, 2, -0.4), {}, "'b' and 'c' is -0.4.*absolute values"),
        (changed(1, 2, np.nan), {}, "'b' and 'c' is nan"),
        (changed(2, 2, 1.5), {}, "'c' and 'c' is 1.5"),
        (S[:2], {}, "p × p, got 2 × 3"),
        (S, {"features": ["a", "b"]}, "2 feature names .* 3 columns"),
        (S, {"features": ["a", "b", "b"]}, "unique.*'b'"),
        (S, {"threshold": -0.1}, r"threshold must be a number in \[0, 1\], got -0.1"),
        (S, {"threshold": 2}, r"threshold must be a number in \[0, 1\], got 2"),
    ],
)
def test_a_matrix_that_holds_no_similarities_is_refused(kind, matrix, arguments, message):
    with pytest.raises(InputError, match=message):
        FeatureSimilarity.from_matrix(kind(matrix), **{"features": ABC, **arguments})


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones(3), r"p × p, got shape \(3,\)"),
        (np.ones((2, 2, 2)), r"p × p, got shape \(2, 2, 2\)"),
        ([[1, 0.5], [0.5]], "p × p"),
        ([["1", "high"], ["high", "1"]], "'high'"),
        (np.ones((0, 0)), "features"),
        (pd.DataFrame(S, columns=ABC, index=["b", "a", "c"]), "rows.*columns|columns.*rows"),
    ],
)
def test_a_similarity_matrix_is_a_square_of_numbers(matrix, message):
    with pytest.raises(InputError, match=message):
        FeatureSimilarity.from_matrix(matrix)


# --- groups -------------------------------------------------------------------------------------


@given(symmetric_matrices())
def test_components_are_joined_by_chains_of_similar_features(matrix):
    similarity = FeatureSimilarity.from_matrix(matrix, 0.9)
    expected = naive.connected_components(len(matrix), edges(similarity))
    labels = similarity.group_labels("components")
    found = [set(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)]
    assert sorted(found, key=min) == expected
    several = {frozenset(f"x{i}" for i in group) for group in expected if len(group) > 1}
    assert named_groups(similarity, "components") == several


@given(symmetric_matrices())
def test_cliques_cover_all_features_once_and_hold_only_similar_ones(matrix):
    similarity = FeatureSimilarity.from_matrix(matrix, 0.9)
    labels = similarity.group_labels("cliques")
    assert sorted(set(labels.tolist())) == list(range(labels.max() + 1))
    for i, j in itertools.combinations(range(len(matrix)), 2):
        assert labels[i] != labels[j] or matrix[i, j] >= 0.9
    sizes = [len(group) for group in similarity.groups("cliques")]
    assert sizes == sorted((n for n in np.bincount(labels).tolist() if n > 1), reverse=True)


@given(symmetric_matrices(), st.data())
def test_shuffling_the_columns_with_their_names_does_not_change_the_groups(matrix, data):
    order = data.draw(st.permutations(range(len(matrix))))
    names = np.array([f"gene{i}" for i in range(len(matrix))])
    plain = FeatureSimilarity.from_matrix(matrix, 0.5, features=names)
    shuffled = FeatureSimilarity.from_matrix(
        matrix[np.ix_(order, order)], 0.5, features=names[order]
    )
    for kind in ("components", "cliques", "complete_linkage"):
        assert named_groups(plain, kind) == named_groups(shuffled, kind)


@given(st.integers(1, 12), st.integers(0, 2**32 - 1), st.sampled_from([0.3, 0.6, 0.9]))
def test_complete_linkage_merges_the_two_groups_whose_least_similar_members_are_most_similar(
    p, seed, threshold
):
    matrix = np.random.default_rng(seed).uniform(size=(p, p))  # without ties
    matrix = np.maximum(matrix, matrix.T)
    similarity = FeatureSimilarity.from_matrix(matrix, threshold)
    labels = similarity.group_labels("complete_linkage")
    found = {frozenset(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)}
    assert found == naive.complete_linkage(matrix, threshold)


@given(symmetric_matrices())
def test_groups_of_complete_linkage_hold_only_similar_features_and_no_two_could_be_merged(matrix):
    labels = FeatureSimilarity.from_matrix(matrix, 0.9).group_labels("complete_linkage")
    assert list(dict.fromkeys(labels.tolist())) == list(range(labels.max() + 1))
    for a, b in itertools.combinations_with_replacement(range(labels.max() + 1), 2):
        between = matrix[np.ix_(labels == a, labels == b)]
        assert (between.min() >= 0.9) == (a == b)


def test_a_chain_of_similar_features_is_cut_where_its_links_are_weakest():
    names, strong, weak = list("abcdef"), 0.99, 0.92
    matrix = np.eye(6)
    for i, link in enumerate([strong, weak, strong, weak, strong]):
        matrix[i, i + 1] = matrix[i + 1, i] = link
    similarity = FeatureSimilarity.from_matrix(matrix, 0.9, features=names)
    assert similarity.groups("components") == [tuple("abcdef")]
    assert similarity.groups("complete_linkage") == [("a", "b"), ("c", "d"), ("e", "f")]


def test_complete_linkage_of_many_features_takes_as_long_as_there_are_links():
    rng = np.random.default_rng(0)
    p = 20_000
    centre = np.repeat(np.arange(p // 20), 20)
    rows, cols = np.nonzero(np.triu(np.ones((20, 20)), 1))
    block = 20 * np.arange(p // 20)[:, None]
    rows, cols = (block + rows).ravel(), (block + cols).ravel()
    links = sp.coo_array((rng.uniform(0.95, 1, len(rows)), (rows, cols)), shape=(p, p))
    bridges = sp.coo_array((np.full(p - 1, 0.9), (np.arange(p - 1), np.arange(1, p))), shape=(p, p))
    upper = links.tocsr().maximum(bridges.tocsr())
    similarity = FeatureSimilarity.from_matrix(upper + upper.T, 0.9)
    start = time.process_time()
    labels = similarity.group_labels("complete_linkage")
    assert time.process_time() - start < 5
    assert np.array_equal(labels, centre)


def test_an_unknown_kind_of_group_gets_the_nearest_name():
    with pytest.raises(InputError, match="Did you mean 'cliques'"):
        FeatureSimilarity.from_matrix(S).groups("clique")


# --- with runs ----------------------------------------------------------------------------------


def test_features_are_matched_by_name():
    similarity = FeatureSimilarity.from_matrix(S, features=ABC).aligned_to(["b", "c", "a"])
    assert similarity.features == ("b", "c", "a")
    assert edges(similarity) == {(0, 2): 0.95}


@pytest.mark.parametrize(
    ("mine", "theirs"), [(None, ["u", "v", "w"]), (["u", "v", "w"], ["x0", "x1", "x2"])]
)
def test_features_without_names_are_matched_by_position(mine, theirs):
    similarity = FeatureSimilarity.from_matrix(S, features=mine).aligned_to(theirs)
    assert similarity.features == tuple(theirs)
    assert edges(similarity) == {(0, 1): 0.95}


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (["a", "b", "z"], "not among the similarities: 'z'"),
        (["a", "b", "c", "d"], r"\(3 features\).*\(4 features\).*: 'd'"),
        (["x0", "x1"], r"'x0', 'x1'"),
        (["a", "b"], "'c'"),
    ],
)
def test_similarities_of_other_features_are_refused_by_name(features, message):
    with pytest.raises(InputError, match=message):
        FeatureSimilarity.from_matrix(S, features=ABC).aligned_to(features)


def test_a_run_that_selects_a_twin_counts_for_the_group():
    similarity = FeatureSimilarity.from_matrix(S, features=ABC)
    runs = Runs.from_sets([["a"], ["b"], ["b", "c"], ["c"]], features=["c", "b", "a"])
    assert similarity.group_frequency(runs).tolist() == [0.5, 0.75, 0.75]


def test_at_threshold_zero_every_selection_counts_for_every_feature():
    runs = Runs.from_sets([["a"], ["c"], ["b"]], features=ABC)
    similarity = FeatureSimilarity.from_matrix(S, threshold=0, features=ABC)
    assert similarity.group_frequency(runs).tolist() == [1, 1, 1]


def test_rankings_have_no_group_frequency_before_they_are_cut():
    runs = Runs.from_scores([[1.0, 2.0, 3.0]], features=ABC)
    with pytest.raises(InputError, match=r"runs\.top\(k\)"):
        FeatureSimilarity.from_matrix(S, features=ABC).group_frequency(runs)


def test_twins_are_named_most_similar_first():
    star = np.eye(6)
    star[0, 1:] = star[1:, 0] = [0.91, 0.95, 0.99, 0.95, 0.92]
    similarity = FeatureSimilarity.from_matrix(star, features=list("abcdef"))
    assert similarity.twin_names() == ["d; c; e; and 2 more", "a", "a", "a", "a", "a"]
    assert similarity.twin_names(most=5)[0] == "d; c; e; f; b"
    assert FeatureSimilarity.from_matrix(np.eye(2)).twin_names() == ["", ""]


@pytest.mark.parametrize("method", ["pearson", "spearman", "gaps", absolute_cosine])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_is_similar_to_some_features_is_found_without_comparing_all(
    method, dtype, monkeypatch
):
    monkeypatch.setattr(mainstay.similarity.pairs, "_BLOCK_BYTES", 8 * 40 * 7)  # several tiles
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(30, 6)) @ rng.normal(size=(6, 40))).astype(dtype)
    X[:, 7] = 1.0
    if method == "gaps":
        X[rng.random(X.shape) < 0.01] = np.nan
        method = "pearson"
    options = {"method": method, "threshold": 0.5, "constant": "ignore"}
    whole = FeatureSimilarity.from_data(X, **options).to_frame()
    part = FeatureSimilarity.from_data(X, similar_to=["x9", "x3", "x7"], **options).to_frame()
    wanted = {"x9", "x3", "x7"}
    touches = whole["feature"].isin(wanted) | whole["other"].isin(wanted)
    assert 0 < touches.sum() < len(whole)
    pd.testing.assert_frame_equal(part, whole[touches].reset_index(drop=True), rtol=1e-12)


@pytest.mark.parametrize("similar_to", ["x1", ["x1", "gene"]])
def test_features_to_compare_are_given_by_name(similar_to):
    with pytest.raises(InputError, match="similar_to must list names of features, such as"):
        FeatureSimilarity.from_data(np.eye(5), similar_to=similar_to)


def test_similar_pairs_come_as_a_table():
    table = FeatureSimilarity.from_matrix(S, threshold=0.2, features=ABC).to_frame()
    assert table.columns.tolist() == ["feature", "other", "similarity"]
    assert table.to_numpy().tolist() == [["a", "b", 0.95], ["a", "c", 0.2]]


@pytest.mark.parametrize(
    ("threshold", "text"),
    [
        (1.0, "3 features, 0 pairs with similarity >= 1; 0 features in 0 groups"),
        (0.9, "3 features, 1 pair with similarity >= 0.9; 2 features in 1 group"),
        (0.2, "3 features, 2 pairs with similarity >= 0.2; 3 features in 1 group"),
    ],
)
def test_similarities_describe_themselves(threshold, text):
    assert re.fullmatch(rf"\w+: {text}", repr(FeatureSimilarity.from_matrix(S, threshold)))


# ---------------------------------------------------------------------- chance


@pytest.mark.parametrize("method", ["pearson", "spearman"])
@pytest.mark.parametrize(("n", "threshold"), [(8, 0.9), (12, 0.9), (30, 0.6)])
def test_independent_columns_have_as_many_twins_as_computed(
    method: str, n: int, threshold: float
) -> None:
    """20 tables of 300 columns, 4 standard errors; ranks have up to twice as many."""
    rng = np.random.default_rng(n)
    expected = mainstay.similarity.pairs.chance_twins(np.full(300, n), n, threshold)
    shares = [
        (
            FeatureSimilarity.from_data(rng.normal(size=(n, 300)), method, threshold).degrees > 0
        ).mean()
        for _ in range(20)
    ]
    error = np.std(shares, ddof=1) / np.sqrt(20)
    if method == "pearson":
        assert abs(np.mean(shares) - expected) < 4 * error
    else:
        assert expected - 4 * error < np.mean(shares) < 2 * expected + 4 * error


def test_gaps_leave_fewer_rows_and_more_chance_twins() -> None:
    complete = mainstay.similarity.pairs.chance_twins(np.full(500, 20), 20, 0.9)
    gappy = mainstay.similarity.pairs.chance_twins(np.full(500, 16), 20, 0.9)
    fewer_rows = mainstay.similarity.pairs.chance_twins(np.full(500, 10), 10, 0.9)
    assert complete < gappy < fewer_rows


@pytest.mark.filterwarnings("error")
def test_twins_by_chance_are_announced_with_their_share_and_a_remedy() -> None:
    expected = mainstay.similarity.pairs.chance_twins(np.full(2000, 12), 12, 0.9)
    assert expected == pytest.approx(0.124, abs=0.001)
    wide = np.random.default_rng(1).normal(size=(12, 2000))
    with pytest.warns(UserWarning, match=r"12 rows, 0\.12 of 2000 .* a threshold of 0\.918"):
        FeatureSimilarity.from_data(wide)
    FeatureSimilarity.from_data(wide, threshold=0.918)  # 5% at most: no warning
    FeatureSimilarity.from_data(wide[:, :600])  # 4% of them
