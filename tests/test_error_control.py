"""The experiment on error control: its truths, its counts and its tables are what they claim."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from conftest import ROOT, SHARED

EXPERIMENTS = ROOT / "experiments"
sys.path.append(str(EXPERIMENTS))

import _error_data as populations  # noqa: E402
import _error_measures as measures  # noqa: E402
import _error_methods as methods  # noqa: E402
import _error_tables as tables  # noqa: E402
import error_control  # noqa: E402
from _error_data import BLOCK, N_TRUE, SMALL, Cell, P, Sample  # noqa: E402
from _error_methods import FURTHER, Named  # noqa: E402

BH, OURS = "Benjamini-Hochberg, F-test", "mainstay, F-test"


# ---------------------------------------------------------------------- truths


@pytest.mark.parametrize("p", [P, SMALL])
@pytest.mark.parametrize("target", ["continuous", "binary", "five classes", "one in ten"])
def test_without_a_signal_no_feature_is_true(target, p):
    sample = populations.draw(Cell(target, "independent", 100, "noise", p), 0, 0)
    assert sample.X.shape == (100, p)
    assert not sample.marginal.any()
    assert not sample.conditional.any()


@pytest.mark.parametrize("p", [P, SMALL])
@pytest.mark.parametrize("target", ["continuous", "binary", "five classes", "variance"])
def test_of_independent_features_those_in_the_model_are_the_related_ones(target, p):
    sample = populations.draw(Cell(target, "independent", 100, "strong", p), 0, 0)
    assert sample.conditional.sum() == N_TRUE
    np.testing.assert_array_equal(sample.marginal, sample.conditional)


def test_twins_of_true_features_are_related_by_themselves_only():
    sample = populations.draw(Cell("continuous", "twins", 100, "strong"), 0, 0)
    blocks = np.flatnonzero(sample.conditional) // BLOCK
    assert len(set(blocks)) == N_TRUE
    np.testing.assert_array_equal(sample.marginal, np.isin(np.arange(P) // BLOCK, blocks))


def test_neighbours_are_related_as_far_as_their_correlation_reaches():
    sample = populations.draw(Cell("continuous", "AR(0.7)", 100, "strong"), 0, 0)
    true = np.flatnonzero(sample.conditional)
    distance = np.abs(np.arange(P)[:, None] - true).min(axis=1)
    assert sample.marginal[distance <= 5].all()  # 0.7⁵ = 0.17 of a true feature's effect
    assert not sample.marginal[distance >= 20].any()  # 0.7²⁰ = 0.0008 of it


def test_data_sets_are_the_same_for_every_method_and_differ_by_number():
    cell = Cell("continuous", "independent", 100, "strong")
    first = populations.draw(cell, 0, 0)
    populations.draw.cache_clear()
    again, other = (populations.draw(cell, number, 0) for number in (0, 1))
    np.testing.assert_array_equal(first.X, again.X)
    np.testing.assert_array_equal(first.y, again.y)
    assert not np.array_equal(first.X, other.X)


@pytest.mark.parametrize("target", ["binary", "five classes", "one in ten"])
def test_what_classes_add_to_features_has_mean_0_variance_1_and_no_correlation(target):
    y, scores = populations.draw_target(
        Cell(target, "independent", 100, "strong"), np.random.default_rng(0)
    )
    assert scores.shape == (100, len(np.unique(y)) - 1)
    np.testing.assert_allclose(scores.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(scores.T @ scores / 100, np.eye(scores.shape[1]), atol=1e-12)


def test_a_signal_is_as_strong_as_promised():
    """Each of the 20 true features by itself: mean of 20 × 20 squared t-values is λ + 1."""
    cell = Cell("continuous", "independent", 500, "strong")
    effect = populations.strength(cell)
    squares = []
    for number in range(20):
        sample = populations.draw(cell, number, 0)
        noise = sample.X[:, sample.conditional]
        squares.append(500 * np.corrcoef(noise.T, sample.y)[-1, :-1] ** 2)
    r2 = effect**2 / (1 + effect**2)  # of a feature effect·y + N(0, 1) with y
    expected = 1 + 500 * r2 - r2  # up to terms of order r⁴
    found, error = np.mean(squares), np.std(squares) / np.sqrt(np.size(squares))
    assert abs(found - expected) < 4 * error


# ---------------------------------------------------------------------- counts


def sample_of(marginal, conditional):
    as_mask = [np.isin(np.arange(6), chosen) for chosen in (marginal, conditional)]
    return Sample(np.zeros((2, 6)), np.zeros(2), *as_mask)


def test_false_features_are_counted_against_both_truths():
    named = Named(np.isin(np.arange(6), [0, 1, 4]))
    counted = error_control.score(named, sample_of(marginal=[0, 1, 2], conditional=[0, 2]))
    assert counted == {"found": 1, "selected": 3, "marginal": 1, "conditional": 2}


def test_a_group_is_false_if_none_of_its_members_is_related():
    groups = np.array([0, 0, 1, 1, 2, 2])
    named = Named(np.ones(6, dtype=bool), groups)
    counted = error_control.score(named, sample_of(marginal=[0, 1, 2], conditional=[1]))
    assert counted == {"found": 1, "selected": 3, "marginal": 1, "conditional": 2}


def test_nothing_selected_is_nothing_false():
    counted = error_control.score(Named(np.zeros(6, dtype=bool)), sample_of([0], [0]))
    assert counted == {"found": 0, "selected": 0, "marginal": 0, "conditional": 0}


@pytest.mark.parametrize("signal", ["noise", "weak", "strong"])
def test_benjamini_hochberg_is_the_largest_step_below_its_line(signal):
    from sklearn.feature_selection import f_regression

    sample = populations.draw(Cell("continuous", "independent", 200, signal), 0, 0)
    (named,) = methods.benjamini_hochberg(sample.X, sample.y, "regression", 0).values()
    p_values = np.sort(f_regression(sample.X, sample.y)[1])
    below = np.flatnonzero(p_values <= 0.1 * np.arange(1, P + 1) / P)
    assert named.mask.sum() == (below[-1] + 1 if len(below) else 0)


def test_a_peer_that_writes_logs_leaves_none_in_the_working_directory(monkeypatch, tmp_path):
    class Loud:
        """Selects the first column, and writes where it stands, as CatBoost does."""

        def __init__(self, **options):
            pass

        def fit(self, X, y):
            Path("catboost_info").mkdir()
            self.selected = np.arange(X.shape[1]) == 0
            return self

        def get_support(self):
            return self.selected

    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "powershap", SimpleNamespace(PowerShap=Loud))
    named = methods.powershap(np.ones((4, 3)), np.arange(4.0), "regression", 0)["α = 0.01"]
    assert np.flatnonzero(named.mask).tolist() == [0]
    assert list(tmp_path.iterdir()) == []


def test_parts_run_in_rounds_and_quick_ones_have_two_data_sets():
    chosen = [methods.METHODS[BH], methods.METHODS[OURS]]
    cells = [Cell("continuous", "independent", n, s) for n in (100, 200) for s in ("noise", "weak")]
    whole = error_control.all_parts(chosen, cells, quick=False)
    for method in chosen:
        for cell in cells:
            covered = [
                number
                for part in whole
                if (part.cell, part.method) == (cell, method.name)
                for number in range(part.first, part.last)
            ]
            assert sorted(covered) == list(range(method.n_sets(cell)))
    quick = error_control.all_parts(chosen, cells, quick=True)
    assert {(part.first, part.last) for part in quick} == {(0, 2)}
    assert quick[0].cell.signal == "noise"


def test_methods_follow_each_other_on_the_data_sets_of_a_cell():
    """So that a data set is drawn once: the draws of the last 25 are kept."""
    cells = populations.all_cells()
    parts = error_control.all_parts([methods.METHODS[BH], methods.METHODS[OURS]], cells, False)
    assert [(p.cell, p.first) for p in parts[::2]] == [(p.cell, p.first) for p in parts[1::2]]


def test_slow_peers_run_on_small_cells_before_large_ones():
    parts = error_control.all_parts([methods.METHODS["knockpy"]], populations.all_cells(), False)
    assert [part.cell.p for part in parts] == sorted(part.cell.p for part in parts)


# ---------------------------------------------------------------------- measures


def rows(method, rule, counts, signal="strong", first=0, p=P):
    """One data set each: (selected, marginal, conditional, found)."""
    place = {"method": method, "target": "continuous", "design": "independent", "n": 100, "p": p}
    return [
        {**place, "signal": signal, "rule": rule, "number": first + i, "seconds": 0.5,
         "selected": s, "marginal": m, "conditional": c, "found": f}
        for i, (s, m, c, f) in enumerate(counts)
    ]  # fmt: skip


def line_of(method, rule, counts, **options):
    sets = measures.with_measures(rows(method, rule, counts, **options))
    return measures.summarised(sets).iloc[0]


def test_false_discovery_rates_are_means_of_shares_with_0_where_nothing_is_selected():
    line = line_of(BH, "FDR 10%", [(10, 1, 2, 8), (0, 0, 0, 0), (4, 2, 4, 0), (1, 0, 0, 1)])
    assert line["FDR, marginal"] == pytest.approx((0.1 + 0 + 0.5 + 0) / 4)
    assert line["FDR, conditional"] == pytest.approx((0.2 + 0 + 1 + 0) / 4)
    assert line["power"] == pytest.approx((8 + 0 + 0 + 1) / 4 / N_TRUE)
    assert line["any"] == 0.75
    spread = np.std([0.1, 0, 0.5, 0]) / 2
    assert line["promised"] == line["FDR, marginal"]
    assert line["se promised"] == pytest.approx(spread)


@pytest.mark.parametrize(
    ("method", "rule", "expected", "level"),
    [
        (OURS, "FWER 5%", 0.5, 0.05),
        (OURS, "E ≤ 1", 1.5, 1.0),
        ("powershap", "α = 0.01", 1.5 / P, 0.01),
    ],
)
def test_other_promises_are_about_any_false_feature_or_their_number(method, rule, expected, level):
    line = line_of(method, rule, [(5, 2, 2, 3), (5, 0, 0, 5), (9, 4, 4, 5), (2, 0, 0, 2)])
    assert line["promised"] == expected
    assert line["level"] == level


FALSE, TRUE = (1, 1, 1, 0), (1, 0, 0, 1)


def test_a_promise_is_broken_by_more_than_two_standard_errors_in_enough_data_sets():
    assert line_of(BH, "FDR 10%", [FALSE] * 10)["broken"]
    assert not line_of(BH, "FDR 10%", [FALSE] * 9)["broken"]  # too few to judge
    assert not line_of(BH, "FDR 10%", [TRUE] * 100)["broken"]
    # 17 of 100: 0.17 − 2·0.038 < 0.1; 18 of 100: 0.18 − 2·0.038 > 0.1
    assert not line_of(BH, "FDR 10%", [FALSE] * 17 + [TRUE] * 83)["broken"]
    assert line_of(BH, "FDR 10%", [FALSE] * 18 + [TRUE] * 82)["broken"]


def test_the_chance_of_a_break_is_a_tail_of_the_binomial_distribution():
    assert measures.chance_of_a_break() == pytest.approx(binom.sf(17, 100, 0.1))


def test_power_is_compared_on_data_sets_that_both_had():
    ours = rows(OURS, "FDR 10%", [(9, 0, 0, 9), (5, 0, 0, 5), (7, 0, 0, 7)])
    theirs = rows(BH, "FDR 10%", [(10, 0, 0, 10), (10, 0, 0, 10)])
    noise = rows(BH, "FDR 10%", [(3, 3, 3, 0)], signal="noise")
    sets = measures.with_measures(ours + theirs + noise)
    both = measures.paired_power(sets, [(OURS, "FDR 10%"), (BH, "FDR 10%")])
    (line,) = both.to_dict("records")
    assert (line[0], line[1], line["sets"]) == (pytest.approx(7 / N_TRUE), 10 / N_TRUE, 2)
    assert line["se"] == pytest.approx(np.std([-1, -5], ddof=1) / N_TRUE / np.sqrt(2))


# ---------------------------------------------------------------------- judged again


ABOVE = [FALSE] * 20 + [TRUE] * 80


def test_cells_that_break_get_fresh_data_sets_once_the_planned_ones_are_complete():
    judged = [methods.METHODS[BH]]
    parts = error_control.further_parts(rows(BH, "FDR 10%", ABOVE), judged)
    cell = Cell("continuous", "independent", 100, "strong")
    assert {part.cell for part in parts} == {cell}
    numbers = [number for part in parts for number in range(part.first, part.last)]
    assert numbers == list(range(100, 100 + FURTHER))
    assert not error_control.further_parts(rows(BH, "FDR 10%", ABOVE[:50]), judged)
    assert not error_control.further_parts(rows(BH, "FDR 10%", [TRUE] * 100), judged)
    assert not error_control.further_parts([], judged)


def test_peers_and_bounds_get_none():
    chosen = [m for m in methods.METHODS.values() if m.family == "peer" or "bounds" in m.name]
    every = [row for m in chosen for row in rows(m.name, m.rules[0].label, [(99, 99, 99, 0)] * 100)]
    assert not error_control.further_parts(every, chosen)


@pytest.mark.parametrize(("n_false", "broken"), [(30, False), (60, True)])
def test_the_further_data_sets_alone_decide(n_false, broken):
    further = [FALSE] * n_false + [TRUE] * (FURTHER - n_false)
    every = rows(BH, "FDR 10%", ABOVE) + rows(BH, "FDR 10%", further, first=100)
    (line,) = measures.summarised(measures.with_measures(every)).to_dict("records")
    assert (line["sets"], line["promised"], line["broken"]) == (100, 0.2, True)
    assert (line["sets again"], line["again"]) == (FURTHER, n_false / FURTHER)
    assert line["broken for good"] == broken
    assert ("broken" if broken else "held") in tables.judged_again(pd.DataFrame([line]))


def test_until_the_further_ones_are_complete_the_first_ones_count():
    every = rows(BH, "FDR 10%", ABOVE) + rows(BH, "FDR 10%", [TRUE] * 25, first=100)
    summary = measures.summarised(measures.with_measures(every))
    assert summary["broken for good"].tolist() == [True]
    assert "open" in tables.judged_again(summary)


# ---------------------------------------------------------------------- tables


def test_cells_of_tables_show_error_number_of_data_sets_and_breaks():
    line = pd.Series({"false": 0.256, "se false": 0.031, "sets": 100, "judged": True})
    assert tables.entry(line, "false") == "0.26 ± 0.03"
    assert tables.entry(line, "false", bold=True) == "**0.26 ± 0.03**"
    few = pd.Series({"false": 12.34, "se false": 0.5, "sets": 4, "judged": False})
    assert tables.entry(few, "false") == "12.34 (4)"
    assert tables.entry(None, "false") == "–"


def test_peers_are_compared_with_every_ranker_of_ours_where_their_error_holds():
    found = {"knockpy": 16, OURS: 12, "mainstay, L1 path": 15}
    every = [row for name, n in found.items() for row in rows(name, "FDR 10%", [(n, 0, 0, n)] * 10)]
    sets = measures.with_measures(every)
    text = tables.our_power_against_peers(sets, measures.summarised(sets))
    cells = [part.strip() for part in text.splitlines()[-1].split("|")]
    assert cells[1] == "knockpy"
    assert cells[4:8] == ["10", "**0.80**", "0.60 (10)", "–"]
    assert "0.75 (10)" in cells
    broken = rows("knockpy", "FDR 10%", [(4, 2, 2, 2)] * 10)
    sets = measures.with_measures(broken)
    assert "knockpy" not in tables.our_power_against_peers(sets, measures.summarised(sets))


# ---------------------------------------------------------------------- the whole


@pytest.mark.slow
def test_a_quick_look_writes_a_page_and_resumes(tmp_path):
    if not (SHARED / "data" / "microarray").is_dir():
        pytest.skip("the expression data are not on this machine")
    command = [sys.executable, EXPERIMENTS / "error_control.py", "--quick", "--jobs", "1",
               "--only", BH, "--cache", tmp_path / "cache", "--output", tmp_path]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True)
    page = (tmp_path / "error_control.md").read_text(encoding="utf-8")
    assert BH in page
    table = pd.read_csv(tmp_path / "error_control" / "measured.csv")
    assert len(table) == len(populations.all_cells())
    kept = {file: file.stat().st_mtime_ns for file in (tmp_path / "cache").rglob("*.json")}
    assert len(kept) == len(populations.all_cells())
    subprocess.run([*command, "--report-only"], check=True, capture_output=True)
    assert kept == {file: file.stat().st_mtime_ns for file in (tmp_path / "cache").rglob("*.json")}
    assert (tmp_path / "error_control.md").read_text(encoding="utf-8") == page
