"""The tests that the experiments use for the papers' claims."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

EXPERIMENTS = Path(__file__).resolve().parents[1] / "experiments"


@pytest.fixture
def significance(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(EXPERIMENTS))
    import _significance

    yield _significance
    sys.modules.pop("_significance", None)


def test_with_two_columns_repeated_measures_are_the_paired_t_test(significance) -> None:
    values = pd.DataFrame(np.random.default_rng(0).normal(size=(12, 2)), columns=["a", "b"])
    f, p = significance.repeated_measures_anova(values)
    paired = stats.ttest_rel(values["a"], values["b"])
    assert f == pytest.approx(paired.statistic**2)
    assert p == pytest.approx(paired.pvalue)


def test_differences_between_subjects_do_not_matter(significance) -> None:
    rng = np.random.default_rng(1)
    values = pd.DataFrame(rng.normal(size=(8, 5)))
    shifted = values.add(100 * rng.normal(size=8), axis=0)
    assert significance.repeated_measures_anova(shifted) == pytest.approx(
        significance.repeated_measures_anova(values), rel=1e-6
    )


def test_under_the_null_the_p_values_of_repeated_measures_are_small_as_often_as_promised(
    significance,
) -> None:
    rng = np.random.default_rng(2)
    small = np.mean(
        [
            significance.repeated_measures_anova(pd.DataFrame(rng.normal(size=(8, 5))))[1] < 0.05
            for _ in range(2000)
        ]
    )
    # Greenhouse and Geisser's correction makes the test conservative, never liberal
    assert 0.01 < small < 0.05 + 2 * np.sqrt(0.05 * 0.95 / 2000)


def test_bonferroni_multiplies_by_the_number_of_pairs(significance) -> None:
    values = pd.DataFrame(np.random.default_rng(3).normal(size=(10, 3)), columns=list("abc"))
    adjusted = significance.bonferroni_pairs(values)
    expected = min(1.0, 3 * stats.ttest_rel(values["a"], values["c"]).pvalue)
    assert len(adjusted) == 3
    assert adjusted["a", "c"] == pytest.approx(expected)
    assert significance.written_pairs(pd.Series({("a", "b"): 0.2})).startswith("none of 1 pairs")


def test_without_correction_repeated_measures_are_the_textbooks_f(significance) -> None:
    x = np.random.default_rng(4).normal(size=(6, 3))
    f, p = significance.repeated_measures_anova(pd.DataFrame(x), corrected=False)
    assert f == pytest.approx(significance.repeated_measures_anova(pd.DataFrame(x))[0])
    assert p == pytest.approx(stats.f.sf(f, 2, 10))


def test_a_detectable_difference_is_found_as_often_as_promised(significance) -> None:
    many = significance.detectable_difference(0.1, 10_000, 0.05)
    normal = 0.1 * (stats.norm.isf(0.025) + stats.norm.isf(0.2))
    assert many == pytest.approx(normal, rel=1e-3)
    few = significance.detectable_difference(1 / np.sqrt(8), 8, 0.005)
    samples = np.random.default_rng(5).normal(few, 1, size=(20_000, 8))
    found = (stats.ttest_1samp(samples, 0, axis=1).pvalue < 0.005).mean()
    assert found == pytest.approx(0.8, abs=0.01)
