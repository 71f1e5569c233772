"""Pictures show what the runs say: the right values, in the right order, with legible labels."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import mainstay as ms
from mainstay.measures.inference import wilson_interval
from mainstay.plotting._axes import letter, short_names
from mainstay.plotting._ordering import cluster_order, jaccard_distance
from mainstay.plotting.network import layout

FEATURES = ["a", "b", "c", "d", "e"]
HOSTILE = [
    "$\\frac{", "_hidden", "<script>alert(1)</script>", "a\nb\tc", "ü" * 300, "x" * 200 + "1",
    "x" * 200 + "2", "x" * 100 + "y" + "x" * 100, "x" * 100 + "z" + "x" * 100, "", " ",
]  # fmt: skip


def sets(*runs, features=FEATURES):
    return ms.Runs.from_sets(runs, features=features)


def twins(*pairs, features=FEATURES):
    """A similarity in which just these pairs (of letters) are similar."""
    matrix = np.eye(len(features))
    for one, other in pairs:
        i, j = features.index(one), features.index(other)
        matrix[i, j] = matrix[j, i] = 0.95
    return ms.FeatureSimilarity.from_matrix(matrix, features=features)


def noisy_scores(m, p, seed=0):
    rng = np.random.default_rng(seed)
    return ms.Runs.from_scores(rng.normal(size=(m, p)) + np.linspace(3, 0, p) ** 2)


def labels(display):
    display.figure_.canvas.draw()
    return [tick.get_text() for tick in display.ax_.get_yticklabels()]


def words(display):
    """All that is written in the axes."""
    return "\n".join(text.get_text() for text in display.ax_.texts)


def note(display):
    """What stands under the title, on one line."""
    return display.ax_.texts[-1].get_text().replace("\n", " ")


@pytest.fixture(scope="module")
def selector():
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    chosen = ms.EnsembleSelector("f_statistic", n_features_to_select=5, random_state=0)
    return chosen.set_params(n_resamples=40).fit(X, y)


def all_displays(runs, similarity, k):
    yield ms.SelectionFrequencyDisplay.from_runs(
        runs, n_features_to_select=k, similarity=similarity
    )
    yield ms.RankDistributionDisplay.from_runs(runs, n_features_to_select=k)
    yield ms.RunsHeatmapDisplay.from_runs(runs, n_features_to_select=k, similarity=similarity)
    yield ms.RunsHeatmapDisplay.from_runs(runs, n_features_to_select=k)
    yield ms.RunSimilarityDisplay.from_runs(runs)
    yield ms.StabilityBySizeDisplay.from_runs(runs, sizes=[k])
    yield ms.ExchangeableNetworkDisplay.from_runs(runs, similarity, n_features_to_select=k)


# ---------------------------------------------------------------------- names


def test_names_that_fit_stay_as_they_are():
    assert short_names(["mean radius", "TP53", "αβγ"]) == ["mean radius", "TP53", "αβγ"]


def test_long_names_keep_their_start_and_their_end():
    (short,) = short_names(["expression of gene BRCA1 in tissue 42"], 20)
    assert len(short) == 20
    assert short.startswith("expr")
    assert short.endswith("42")
    assert "…" in short


def test_names_that_look_alike_after_trimming_are_numbered():
    short = short_names(HOSTILE)
    assert len(set(short)) == len(HOSTILE)
    assert max(map(len, short)) <= 28
    assert all("\n" not in name and name.strip() for name in short)


def test_a_number_never_collides_with_a_name_that_was_there():
    assert len(set(short_names(["a\tb", "a b", "a b (1)"]))) == 3


def test_wide_characters_count_twice():
    (short,) = short_names(["基" * 30], 20)
    assert len(short) <= 11


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=40), unique=True, max_size=12), st.integers(8, 30))
def test_different_names_stay_different(names, longest):
    short = short_names(names, longest)
    assert len(set(short)) == len(names)
    assert all(len(text) <= longest for text in short)


def test_letters_go_on_after_z():
    assert [letter(i) for i in (0, 25, 26, 701, 702)] == ["A", "Z", "AA", "ZZ", "AAA"]


# ---------------------------------------------------------------------- all displays


@pytest.mark.parametrize(("m", "p"), [(2, 2), (30, 20), (150, 300)])
def test_every_display_draws_small_and_large_runs(m, p, tmp_path):
    runs = noisy_scores(m, p)
    similarity = ms.FeatureSimilarity.from_matrix(
        np.eye(p) + 0.95 * (np.eye(p, k=1) + np.eye(p, k=-1)), features=runs.features
    )
    for number, display in enumerate(all_displays(runs, similarity, 1 if p == 2 else p // 10)):
        display.figure_.savefig(tmp_path / f"{number}.png", dpi=40)


def test_hostile_names_are_written_as_they_are_and_not_as_formulas():
    rng = np.random.default_rng(0)
    runs = ms.Runs.from_scores(rng.normal(size=(6, len(HOSTILE))), HOSTILE)
    chain = np.eye(len(HOSTILE)) + 0.95 * (np.eye(len(HOSTILE), k=1) + np.eye(len(HOSTILE), k=-1))
    similarity = ms.FeatureSimilarity.from_matrix(chain, features=HOSTILE)
    for display in all_displays(runs, similarity, 3):
        display.figure_.canvas.draw()  # a formula that cannot be read would raise here
    shown = labels(ms.RankDistributionDisplay.from_runs(runs))
    assert {"$\\frac{", "_hidden", "<script>alert(1)</script>", "a b c"} <= set(shown)
    assert len(set(shown)) == len(HOSTILE)


def test_a_display_draws_on_the_axes_it_is_given():
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    display = ms.SelectionFrequencyDisplay.from_runs(sets(["a"], ["a", "b"]), ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert display.plot().ax_ is not ax


def test_displays_do_not_touch_pyplot():
    code = (
        "import sys, mainstay as ms\n"
        "ms.SelectionFrequencyDisplay.from_runs(ms.Runs.from_sets([[0], [1]], 3))\n"
        "ms.RunSimilarityDisplay.from_runs(ms.Runs.from_sets([[0], [1]], 3))\n"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_shuffled_columns_and_runs_give_the_same_picture():
    rng = np.random.default_rng(1)
    support = rng.random((40, 12)) < np.linspace(0.9, 0.05, 12)
    names = np.array([f"x{i}" for i in range(12)])
    columns, rows = rng.permutation(12), rng.permutation(40)
    one = ms.Runs.from_support(support, names)
    other = ms.Runs.from_support(support[rows][:, columns], names[columns])
    first, second = (ms.RunsHeatmapDisplay.from_runs(runs) for runs in (one, other))
    assert first.features == second.features
    assert_array_equal(first.values.sum(axis=1), second.values.sum(axis=1))
    first, second = (ms.SelectionFrequencyDisplay.from_runs(runs) for runs in (one, other))
    assert first.table.equals(second.table)


def test_runs_that_hold_rankings_need_a_number_and_selections_refuse_one():
    with pytest.raises(ms.InputError, match="n_features_to_select= must say how many"):
        ms.SelectionFrequencyDisplay.from_runs(noisy_scores(5, 5))
    with pytest.raises(ms.InputError, match="hold selections already"):
        ms.RunsHeatmapDisplay.from_runs(sets(["a"], ["b"]), n_features_to_select=1)
    with pytest.raises(ms.InputError, match="no ranks"):
        ms.RankDistributionDisplay.from_runs(sets(["a"], ["b"]))
    with pytest.raises(ms.InputError, match="have one size"):
        ms.StabilityBySizeDisplay.from_runs(sets(["a"], ["b"]))


@pytest.mark.parametrize(
    "display",
    [
        ms.SelectionFrequencyDisplay, ms.RankDistributionDisplay, ms.RunsHeatmapDisplay,
        ms.RunSimilarityDisplay, ms.StabilityBySizeDisplay, ms.ExchangeableNetworkDisplay,
    ],
)  # fmt: skip
def test_a_selector_must_be_fitted(display):
    with pytest.raises(ms.InputError, match="call fit"):
        display.from_selector(ms.EnsembleSelector())


# ---------------------------------------------------------------------- frequencies


def test_frequencies_stand_in_order_with_their_wilson_intervals():
    display = ms.SelectionFrequencyDisplay.from_runs(
        sets(["b", "a"], ["b"], ["b", "c"], ["b", "a"])
    )
    assert labels(display) == ["b", "a", "c", "d", "e"]
    assert list(display.table["frequency"]) == [1.0, 0.5, 0.25, 0.0, 0.0]
    low, high = wilson_interval(np.array([4, 2, 1, 0, 0]), 4)
    assert_allclose(display.table[["lower", "upper"]], np.stack((low, high), axis=1))
    drawn = next(line for line in display.ax_.lines if line.get_label() == "feature")
    assert_array_equal(drawn.get_xdata(), [1.0, 0.5, 0.25, 0.0, 0.0])
    (chance,) = (line for line in display.ax_.lines if line.get_label() == "random selection")
    assert chance.get_xdata()[0] == pytest.approx(7 / 20)


def test_only_the_top_is_shown_and_the_rest_is_told():
    runs = ms.Runs.from_sets([[0, 1, 2, 7], [0, 1, 3], [0, 1, 2], [0, 4]], features=2000)
    display = ms.SelectionFrequencyDisplay.from_runs(runs, n_shown=3)
    assert labels(display) == ["x0", "x1", "x2"]
    assert note(display) == (
        "3 of 2,000 features; 3 of the others were selected at least once, "
        "in at most 25% of the runs"
    )
    assert len(display.table) == 2000


def test_twins_share_a_letter_and_show_how_often_one_of_them_was_selected():
    runs = sets(["a", "b"], ["c"], ["a"], ["c", "e"])
    display = ms.SelectionFrequencyDisplay.from_runs(runs, similarity=twins("ac", "de"))
    table = display.table.set_index("feature")
    assert dict(table["group"]) == {"a": "A", "c": "A", "b": "", "d": "B", "e": "B"}
    assert dict(table["group_frequency"]) == {"a": 1, "c": 1, "b": 0.25, "d": 0.25, "e": 0.25}
    assert "A: 1 twin" in words(display)
    assert "|" not in note(display)
    assert "same letter: twins, similarity ≥ 0.9" in note(display)


def test_a_selector_shows_what_its_table_says(selector):
    display = ms.SelectionFrequencyDisplay.from_selector(selector, n_shown=8)
    expected = selector.feature_table_.set_index("feature")["frequency"]
    shown = display.table.set_index("feature")["frequency"]
    assert_allclose(shown, expected[shown.index])
    assert shown.is_monotonic_decreasing
    blue = next(line for line in display.ax_.lines if line.get_label() == "in the final selection")
    assert len(blue.get_xdata()) == 5


# ---------------------------------------------------------------------- ranks


def test_ranks_are_described_by_quantiles_in_the_order_of_the_mean_rank():
    ranks = np.array([[1, 2, 3], [1, 3, 2], [2, 1, 3], [1, 2, 3], [1, 2, 3]])
    display = ms.RankDistributionDisplay.from_runs(ms.Runs.from_ranks(ranks, ["p", "q", "r"]))
    assert labels(display) == ["p", "q", "r"]
    assert_allclose(display.table["mean"], ranks.mean(axis=0))
    assert_allclose(display.table["low"], np.quantile(ranks, 0.05, axis=0))
    assert_allclose(display.table["upper_quartile"], np.quantile(ranks, 0.75, axis=0))
    assert display.ax_.get_xscale() == "linear"


def test_many_features_get_a_logarithmic_axis_and_only_the_best_are_shown():
    display = ms.RankDistributionDisplay.from_runs(
        noisy_scores(10, 200), n_shown=4, n_features_to_select=7
    )
    assert display.ax_.get_xscale() == "log"
    assert len(labels(display)) == 4
    assert note(display).startswith("4 of 200 features, 10 runs")
    assert "7 are selected" in [line.get_label() for line in display.ax_.lines]


def test_a_selector_shows_its_features_in_the_order_of_its_ranking(selector):
    display = ms.RankDistributionDisplay.from_selector(selector, n_shown=6)
    assert list(display.table["feature"]) == list(selector.ranking_.best(6))


# ---------------------------------------------------------------------- heat map of the runs


def test_cells_are_the_selections_of_the_run_in_that_place():
    rng = np.random.default_rng(0)
    runs = ms.Runs.from_support(rng.random((25, 8)) < 0.4)
    display = ms.RunsHeatmapDisplay.from_runs(runs)
    columns = [runs.features.index(name) for name in display.features]
    assert_array_equal(display.values, runs.support[display.run_order][:, columns].T)
    assert_array_equal(display.ax_.images[0].get_array(), display.values)
    assert sorted(display.run_order) == list(range(25))


def test_runs_and_features_of_one_kind_stand_side_by_side():
    two_kinds = [["a", "c"], ["b", "d"]] * 3
    display = ms.RunsHeatmapDisplay.from_runs(sets(*two_kinds))
    parity = display.run_order % 2
    assert np.abs(np.diff(parity)).sum() == 1
    place = {name: i for i, name in enumerate(display.features)}
    assert abs(place["a"] - place["c"]) == 1
    assert abs(place["b"] - place["d"]) == 1


def test_with_similarities_twins_stand_together_best_group_first():
    runs = sets(["a", "b"], ["a", "b"], ["a", "d"], ["b", "c"])
    display = ms.RunsHeatmapDisplay.from_runs(runs, similarity=twins("ad", "bc"))
    assert display.features == ["a", "d", "b", "c", "e"]
    assert display.groups == ["A", "A", "B", "B", ""]


def test_many_runs_become_blocks_that_keep_the_frequencies():
    rng = np.random.default_rng(0)
    runs = ms.Runs.from_support(rng.random((1000, 6)) < np.linspace(0.9, 0.1, 6))
    display = ms.RunsHeatmapDisplay.from_runs(runs)
    assert display.values.shape == (6, 100)
    columns = [runs.features.index(name) for name in display.features]
    assert_allclose(display.values.mean(axis=1), runs.support.mean(axis=0)[columns])
    assert "about 10 runs" in display.ax_.get_xlabel()


def test_of_very_many_runs_an_even_sample_is_shown_and_told():
    rng = np.random.default_rng(0)
    display = ms.RunsHeatmapDisplay.from_runs(ms.Runs.from_support(rng.random((2500, 4)) < 0.5))
    assert len(display.run_order) == 2000
    assert display.ax_.get_xlabel().startswith("2,000 of 2,500 runs")


def test_empty_runs_are_drawn_too():
    display = ms.RunsHeatmapDisplay.from_runs(sets([], ["a"], []))
    assert display.values.sum() == 1


# ---------------------------------------------------------------------- similarity of the runs


def test_similarities_are_those_of_the_measure_in_the_new_order():
    runs = sets(["a", "b"], ["c", "d"], ["a", "c"], ["a", "b", "c"])
    estimate = ms.stability(runs, "jaccard")
    display = ms.RunSimilarityDisplay.from_estimate(estimate)
    order = display.run_order
    assert_array_equal(display.values, estimate.pairwise[np.ix_(order, order)])
    assert display.mean == pytest.approx(estimate.value)


def test_blocks_of_runs_show_the_mean_over_pairs_of_different_runs():
    rng = np.random.default_rng(0)
    estimate = ms.stability(ms.Runs.from_support(rng.random((250, 10)) < 0.5), "hamming")
    display = ms.RunSimilarityDisplay.from_estimate(estimate)
    assert display.values.shape == (100, 100)
    block = display.run_order[:3]  # 250 runs in 100 blocks: the first have three
    between = estimate.pairwise[np.ix_(block, block)]
    assert display.values[0, 0] == pytest.approx(np.nanmean(between))
    assert "about 2 runs" in display.ax_.get_xlabel()


def test_rankings_are_compared_by_spearman_unless_told_otherwise():
    display = ms.RunSimilarityDisplay.from_runs(noisy_scores(6, 10))
    assert display.measure == "spearman"
    assert ms.RunSimilarityDisplay.from_runs(noisy_scores(6, 10), "kendall").measure == "kendall"


def test_a_measure_without_pairs_says_which_have_some():
    with pytest.raises(ms.InputError, match=r"'nogueira' is not a mean over pairs.*'jaccard'"):
        ms.RunSimilarityDisplay.from_runs(sets(["a"], ["b"]), "nogueira")


def test_undefined_pairs_are_grey_and_undefined_runs_an_error():
    display = ms.RunSimilarityDisplay.from_runs(sets([], [], ["a"]))
    assert np.isnan(display.values).sum() == 5
    assert np.isfinite(display.mean)
    with pytest.raises(ms.InputError, match="undefined for every pair"):
        ms.RunSimilarityDisplay.from_runs(sets([], []))


def test_a_selector_is_compared_with_its_own_twins(selector):
    plain = ms.RunSimilarityDisplay.from_selector(selector)
    adjusted = ms.RunSimilarityDisplay.from_selector(selector, "sma_count")
    assert plain.mean < adjusted.mean


# ---------------------------------------------------------------------- stability by size


def test_stability_of_every_size_is_that_of_the_top_features():
    runs = noisy_scores(20, 30)
    display = ms.StabilityBySizeDisplay.from_runs(runs, sizes=[10, 2, 5])
    assert list(display.table["n_features"]) == [2, 5, 10]
    for row in display.table.itertuples():
        found = ms.stability(runs.top(row.n_features))
        assert row.stability == pytest.approx(found.value)
        assert (row.lower, row.upper) == pytest.approx(found.interval)
    assert (display.table["chance"] == 0).all()


@pytest.mark.parametrize("measure", ["jaccard", "hamming", "davis", "novovicova"])
def test_chance_is_what_random_rankings_reach(measure):
    rng = np.random.default_rng(0)
    runs = ms.Runs.from_scores(rng.random((300, 12)))
    table = ms.StabilityBySizeDisplay.from_runs(runs, measure, sizes=[2, 6]).table
    assert_allclose(table["stability"], table["chance"], atol=0.02)


def test_default_sizes_go_from_one_to_half_of_the_features():
    sizes = ms.StabilityBySizeDisplay.from_runs(noisy_scores(5, 500)).table["n_features"]
    assert sizes.iloc[0] == 1
    assert sizes.iloc[-1] == 250
    assert all(one < two for one, two in pairwise(sizes))
    assert len(sizes) <= 15


def test_sizes_and_measures_that_do_not_exist_are_refused():
    with pytest.raises(ms.InputError, match="sizes must be a whole number from 1 to 10"):
        ms.StabilityBySizeDisplay.from_runs(noisy_scores(5, 10), sizes=[11])
    with pytest.raises(ms.InputError, match="measure of selections 'spearman'"):
        ms.StabilityBySizeDisplay.from_runs(noisy_scores(5, 10), "spearman")
    with pytest.raises(ms.InputError, match="undefined for all sizes"):
        ms.StabilityBySizeDisplay.from_runs(noisy_scores(5, 10), sizes=[10])


def test_a_selector_marks_the_number_it_selected(selector):
    display = ms.StabilityBySizeDisplay.from_selector(selector, "sma_count", sizes=[5, 8])
    assert "5 selected" in [line.get_label() for line in display.ax_.lines]
    at_five = ms.StabilityBySizeDisplay.from_selector(selector, sizes=[5]).table["stability"][0]
    assert display.table["stability"][0] > at_five


# ---------------------------------------------------------------------- exchangeable features


def test_groups_stand_in_the_order_of_how_often_any_member_was_selected():
    runs = sets(["a", "b"], ["c"], ["c", "d"], ["e", "b"])
    display = ms.ExchangeableNetworkDisplay.from_runs(runs, twins("ac", "de"))
    assert display.groups.to_dict("records") == [
        {"group": "A", "n_features": 2, "frequency": 0.75},
        {"group": "B", "n_features": 2, "frequency": 0.5},
    ]
    assert list(display.nodes["feature"]) == ["c", "a", "d", "e"]
    assert list(display.edges[["feature", "other"]].itertuples(index=False, name=None)) == [
        ("c", "a"), ("d", "e"),
    ]  # fmt: skip
    written = words(display)
    assert "A: any of 2 in 75% of runs" in written
    assert "c 50%" in written
    assert "4 of 5 features have a twin" in note(display)


def test_large_groups_and_many_groups_are_cut_and_told():
    names = [f"x{i}" for i in range(40)]
    matrix = np.eye(40)
    matrix[:12, :12] = 1
    for i in range(12, 40, 2):
        matrix[i, i + 1] = matrix[i + 1, i] = 1
    runs = ms.Runs.from_sets([[0, 11, 12], [11, 14], [11, 13]], features=names)
    similarity = ms.FeatureSimilarity.from_matrix(matrix, features=names)
    display = ms.ExchangeableNetworkDisplay.from_runs(runs, similarity, n_shown=3)
    assert list(display.groups["n_features"]) == [12, 2, 2]
    first = display.nodes[display.nodes["group"] == "A"]
    assert list(first["feature"])[:2] == ["x11", "x0"]
    assert len(first) == 8
    assert "any of 12 in 100% of runs, 8 drawn" in words(display)
    assert "3 of 15 groups shown" in note(display)


def test_where_nothing_is_similar_the_picture_says_so():
    display = ms.ExchangeableNetworkDisplay.from_runs(sets(["a"], ["b"]), twins())
    assert "no two features are this similar" in words(display)


def test_a_selector_without_similarities_says_what_to_do():
    X = np.random.default_rng(0).normal(size=(30, 4))
    selector = ms.EnsembleSelector("f_statistic", n_resamples=5, similarity_threshold=None)
    selector.fit(X, X[:, 0] > 0)
    with pytest.raises(ms.InputError, match="from_runs with a FeatureSimilarity"):
        ms.ExchangeableNetworkDisplay.from_selector(selector)


def test_a_selector_shows_the_groups_of_its_data(selector):
    display = ms.ExchangeableNetworkDisplay.from_selector(selector)
    assert display.n_groups == len(selector.similarity_.groups())


# ---------------------------------------------------------------------- layout and clusters


def graph(n, edges):
    rows, columns = np.array(edges).T
    matrix = np.zeros((n, n))
    matrix[rows, columns] = matrix[columns, rows] = 1
    return sp.csr_array(matrix)


def test_a_clique_becomes_a_regular_polygon():
    place = layout(graph(5, [(i, j) for i in range(5) for j in range(i)]))
    distances = np.sort(np.linalg.norm(place[:, None] - place[None], axis=2)[0])
    assert_allclose(distances[1], distances[2])
    assert_allclose(np.linalg.norm(place, axis=1), 1)


def test_a_chain_becomes_an_upright_line_in_its_order():
    place = layout(graph(6, [(i, i + 1) for i in range(5)]))
    assert (np.abs(np.diff(place[:, 1])) > 0.2).all()
    assert len(set(np.sign(np.diff(place[:, 1])))) == 1
    assert np.abs(place[:, 0]).max() < 0.3


def test_no_two_nodes_share_a_place():
    rng = np.random.default_rng(0)
    for n in range(2, 9):
        tree = graph(n, [(i, int(rng.integers(i))) for i in range(1, n)])
        place = layout(tree)
        distances = np.linalg.norm(place[:, None] - place[None], axis=2) + 9 * np.eye(n)
        assert distances.min() > 0.1
        assert np.abs(place).max() <= 1 + 1e-9


def test_clusters_put_equal_rows_side_by_side_heavy_ones_first():
    rows = sp.csr_array(np.array([[1, 1, 0], [0, 0, 1], [1, 1, 0], [0, 0, 1], [1, 1, 0]]))
    order = cluster_order(jaccard_distance(rows), np.array([2.0, 1, 2, 1, 2]))
    assert_array_equal(order, [0, 2, 4, 1, 3])


def test_two_empty_selections_are_alike():
    assert jaccard_distance(sp.csr_array(np.zeros((2, 3))))[0, 1] == 0


def test_notebooks_show_the_picture():
    display = ms.SelectionFrequencyDisplay.from_runs(sets(["a"], ["b"]))
    assert display._repr_png_().startswith(b"\x89PNG")


def test_a_group_has_the_same_letter_in_all_pictures(selector):
    frequency = ms.SelectionFrequencyDisplay.from_selector(selector).table
    heatmap = ms.RunsHeatmapDisplay.from_selector(selector)
    network = ms.ExchangeableNetworkDisplay.from_selector(selector).nodes
    letters = dict(zip(frequency["feature"], frequency["group"], strict=True))
    assert set(letters.values()) >= {"", "A", "B"}
    for features, groups in (
        (heatmap.features, heatmap.groups),
        (network["feature"], network["group"]),
    ):
        assert [letters[name] for name in features] == list(groups)


# --- evidence -------------------------------------------------------------------------------------


def evidence_of(p, effect):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, p)), np.arange(40) % 2
    X[y == 1, : min(p, 3)] += effect
    return ms.feature_evidence(
        "f_statistic", X, y, n_permutations=20, n_resamples=10, similarity_threshold=None,
        random_state=0,
    )  # fmt: skip


@pytest.mark.parametrize("p", [1, 20, 2000])
def test_evidence_shows_every_feature_and_marks_those_that_can_be_named(p):
    ev = evidence_of(p, 3.0)
    display = ev.plot()
    others, named = (dots.get_offsets() for dots in display.ax_.collections)
    assert len(others) + len(named) == p
    assert len(named) == len(ev.selected()) > 0
    assert_allclose(named[:, 1], ev.table["q_value"][: len(named)])
    assert f"{len(named)} of {p:,} features can be named" in display.ax_.texts[-1].get_text()


def test_the_picture_of_noise_names_nothing():
    display = evidence_of(30, 0.0).plot()
    assert all("strongest first" not in text.get_text() for text in display.ax_.texts)


def test_the_null_distribution_ends_where_its_largest_values_are():
    ev = evidence_of(50, 3.0)
    display = ev.plot_null()
    observed = display.ax_.lines[0]
    assert observed.get_xdata()[0] == ev.values.max()
    assert observed.get_ydata()[-1] == 50
    assert display.ax_.lines[1].get_xdata()[0] == np.quantile(ev.null_largest, 0.95)
    assert len(display.ax_.lines[2].get_xdata()) == len(ev.selected())


def test_hostile_names_stand_beside_the_evidence_as_they_are():
    import pandas as pd

    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, len(HOSTILE))) + 3 * y[:, None]
    ev = ms.feature_evidence(
        "f_statistic", pd.DataFrame(X, columns=HOSTILE), y, n_permutations=20, n_resamples=10,
        similarity_threshold=None, random_state=0,
    )  # fmt: skip
    display = ev.plot()
    display.figure_.canvas.draw()
    listed = next(text for text in display.ax_.texts if "strongest" in text.get_text())
    assert "$\\frac{" in listed.get_text()
    assert len(listed.get_text().split("\n")) == 1 + len(HOSTILE)
