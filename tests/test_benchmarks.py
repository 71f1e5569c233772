"""Benchmarks: exponents are fitted as claimed, and no time is shown where results disagree."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from scipy.stats import linregress

from conftest import ROOT

sys.path.append(str(ROOT / "benchmarks"))

import _growth as growth
import _harness as harness
import _peers as peers_python
import peers
from _pages import filled
from _peers import Comparison, Outcome
from _usage import usage_of

# ---------------------------------------------------------------------- growth


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_the_exponent_of_a_power_is_that_power(power):
    sizes = np.array([100.0, 200, 400, 800])
    fit = growth.exponent(sizes, 3e-5 * sizes**power)
    assert fit.value == pytest.approx(power)
    assert fit.error == pytest.approx(0, abs=1e-7)


def test_its_standard_error_is_that_of_a_regression_in_logarithms():
    rng = np.random.default_rng(0)
    sizes = np.geomspace(10, 1000, 6)
    costs = sizes**1.2 * np.exp(0.1 * rng.normal(size=6))
    fit, expected = growth.exponent(sizes, costs), linregress(np.log(sizes), np.log(costs))
    assert fit.value == pytest.approx(expected.slope)
    assert fit.error == pytest.approx(expected.stderr)


def test_a_fixed_cost_lowers_the_exponent():
    sizes = np.array([100.0, 200, 400])
    assert growth.exponent(sizes, 1 + 0.001 * sizes).value < 0.5


BASES = pd.DataFrame(
    {
        "what": ["read_parquet", "f_statistic_once", "f_statistic", "information_gain", "product"],
        "seconds": [1e-9, 4e-9, 2e-9, 1e-8, 1e-10],
    }
)


def test_the_arithmetic_for_large_data(monkeypatch, tmp_path):
    monkeypatch.setattr(growth, "STREAMING", tmp_path / "none.csv")
    text = growth.extrapolation(BASES)
    assert "4 TB; each of 100 workers has 1,000,000 rows, 40 GB" in text
    lines = {row.split(" | ")[0].strip("| "): row.split(" | ")[2] for row in text.splitlines()
             if row.startswith("| ")}  # fmt: skip
    assert lines["F-statistic, no resampling"] == "40 s"  # 10¹⁰ × 4 ns
    assert lines["F-statistic, 100 Poisson resamples"] == "33.3 min"  # 10¹⁰ × 100 × 2 ns = 2,000 s
    assert lines["all correlations"] == "83.3 min"  # 10¹⁰ × 10⁴/2 × 0.1 ns = 5,000 s


def test_what_streaming_was_measured_to_take_replaces_the_kernels(monkeypatch, tmp_path):
    measured = tmp_path / "streaming_bases.csv"
    measured.write_text("what,seconds\nf_statistic_once,8e-9\n")
    monkeypatch.setattr(growth, "STREAMING", measured)
    assert "10¹⁰ × 8.00 ns | 80 s" in growth.extrapolation(BASES)


def test_memory_of_a_call_is_what_it_needed_beside_the_rest(monkeypatch):
    monkeypatch.setattr("_usage.workers", dict)  # those that other tests left may be busy
    before = np.ones(4_000_000)  # 32 MB, not counted
    usage = usage_of(lambda: np.ones(12_000_000).sum() + before[0])
    if usage.memory == 0:
        pytest.skip("the peak cannot be reset on this machine")
    assert 90 <= usage.memory <= 120
    assert usage.cpu >= 0
    assert usage.path == usage.cpu  # no workers


# ---------------------------------------------------------------------- pages


def test_only_what_is_between_the_marks_is_replaced():
    page = "above\n<!-- a -->\nold\n<!-- /a -->\nbelow <!-- b -->\n<!-- /b -->\n"
    assert filled(page, {"a": "new\\1"}) == page.replace("old", "new\\1")
    with pytest.raises(ValueError, match="no place for 'c'"):
        filled(page, {"c": "new"})


# ---------------------------------------------------------------------- peers


def comparison(outcome, **options):
    return Comparison("work", "peer", options.pop("needs", "numpy"), "pip install peer",
                      lambda: outcome, **options)  # fmt: skip


class Here:
    """Stands for a process of its own."""

    def Pool(self, _):  # noqa: N802
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def apply(self, function, arguments):
        return function(*arguments)


@pytest.fixture
def shown(monkeypatch):
    def show(compared):
        monkeypatch.setattr(peers, "COMPARISONS", [compared])
        monkeypatch.setattr(
            peers, "get_context", lambda _: type("", (), {"Pool": lambda *_: Here()})
        )
        return peers.row_of(compared, 0)[2:]

    return show


def test_times_are_shown_where_results_agree(shown):
    row = shown(comparison(Outcome(0.5, 2.0, True, "equal up to rounding")))
    assert row == ["0.5", "2", "4.0 ×", "equal up to rounding"]


def test_no_times_without_agreement(shown):
    row = shown(
        comparison(Outcome(0.5, 2.0, False, "differ by up to 1"), because="another formula")
    )
    assert row[:3] == ["–"] * 3
    assert row[3] == "no times, since they disagree (differ by up to 1): another formula"


def test_a_peer_that_is_not_there_is_named_with_how_to_get_it(shown):
    row = shown(comparison(None, needs="no_such_module"))
    assert row == ["–", "–", "–", "not installed: `pip install peer`"]


def test_a_peer_that_fails_is_said_to(shown):
    def fail():
        raise RuntimeError("out of order")

    row = shown(Comparison("work", "peer", "numpy", "", fail))
    assert row == ["–", "–", "–", "failed: RuntimeError: out of order"]


def test_agreement_of_orders_values_and_random_methods():
    assert peers_python.same_order([3, 1, 2], [3, 1, 2])[0]
    assert peers_python.same_order([3, 1, 2], [3, 2, 1]) == (False, "only the first 1 of 3 agree")
    assert peers_python.equal([1.0, 2.0], [1.0, 2.0 + 1e-9])[0]
    assert not peers_python.equal([1.0, 2.0], [1.0, 2.1])[0]
    rng = np.random.default_rng(0)
    truth = rng.normal(size=1000)
    ours, theirs, again = (truth + 0.5 * rng.normal(size=1000) for _ in range(3))
    assert peers_python.as_similar(ours, theirs, again)[0]
    assert not peers_python.as_similar(rng.normal(size=1000), theirs, again)[0]


def test_two_matrix_products_are_the_f_statistic():
    X, y = peers_python.problem(30, 7)
    weights = np.random.default_rng(0).integers(0, 3, (4, 30)).astype(np.uint8)
    np.testing.assert_allclose(
        peers_python.product_f(X, y, weights), peers_python.sklearn_f(X, y, weights)
    )


# ---------------------------------------------------------------------- times


def test_what_a_script_measured_is_kept_and_the_most_telling_stands_on_the_page(
    monkeypatch, tmp_path
):
    page = tmp_path / "speed.md"
    page.write_text("before\n<!-- speed -->\nold\n<!-- /speed -->\nafter\n", encoding="utf-8")
    monkeypatch.setattr(harness, "PAGE", page)
    monkeypatch.setattr(harness, "RESULTS", tmp_path)
    monkeypatch.setattr(harness, "SHOWN", {"stability": ("jaccard",), "rankers": ("mrmr",)})
    rows = [["jaccard, 1,600 runs", 0.0391, 250.0, 120, "exact"], ["phi", 2.0, None, 80, ""]]
    harness.keep("stability", "naive s", rows)
    harness.keep("rankers", "other s", [["mrmr", 0.5, None, 99, ""]])
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n<!-- speed -->\nMeasured 20")
    assert "| jaccard, 1,600 runs | 0.0391 | 250 | 6,394 × | 120 | exact |" in text
    assert "| mrmr | 0.5 |  |  | 99 |  |" in text
    assert "phi" not in text
    assert text.endswith("<!-- /speed -->\nafter\n")
    assert "phi,2,,80," in (tmp_path / "stability.csv").read_text(encoding="utf-8")


def test_the_page_has_the_times_that_were_measured():
    text = harness.PAGE.read_text(encoding="utf-8")
    assert harness.page_of(harness.RESULTS) in text
    for script, wanted in harness.SHOWN.items():
        kept = pd.read_csv(harness.RESULTS / f"{script}.csv")["what"].dropna()
        for start in wanted:
            assert kept.str.startswith(start).any(), (script, start)


def test_the_readme_has_the_times_that_were_measured():
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    kept = pd.read_csv(harness.RESULTS / "stability.csv").set_index("what")["seconds"]
    warm, first = kept["sma_count, groups of five"], kept["sma_count, the first call in a process"]
    assert f"takes {warm:.2f} s for 10,000 ({first:.2f} s in the first call of a process" in text
    restarts = pd.read_csv(harness.RESULTS / "subspace.csv").set_index("what")
    for base in ("kNN", "tree", "SVM"):
        row = restarts.loc[f"{base}: one restart on Hypercube"]
        assert row["loop s"] > 100 * row["seconds"]  # "over a hundred times cheaper"
