"""Ensembles against single runs: compared on the same halves, and told plainly."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import mainstay as ms
from mainstay.reliability.cost import replicability_cost
from mainstay.reliability.gain import Gain
from mainstay.reliability.variance import rows_needed

X, Y = (table.iloc[::5] for table in load_breast_cancer(return_X_y=True, as_frame=True))


def studied(ensemble_size: int | None, seed: int = 0) -> ms.Replicability:
    return ms.replicability("f_statistic", X, Y, n_features_to_select=5, n_pairs=6, n_splits=5,
                            ensemble_size=ensemble_size, random_state=seed)  # fmt: skip


def test_ensembles_are_compared_with_single_runs_on_the_same_halves_only() -> None:
    single, ensembles = studied(None), studied(4)
    with pytest.raises(ms.InputError, match="not estimated on the same pairs"):
        ensembles.compared_with(studied(None, seed=1))
    for one, two in ((single, single), (ensembles, ensembles), (single, ensembles)):
        with pytest.raises(ms.InputError, match="ensembles are compared with single runs"):
            one.compared_with(two)
    gain = ensembles.compared_with(single).gain
    assert gain.difference == pytest.approx(ensembles.value - single.value)
    spread = np.std(ensembles.pairs - single.pairs, ddof=1) / np.sqrt(6)
    assert gain.margin == pytest.approx(2.5706 * spread, rel=1e-4)


@pytest.mark.parametrize(
    ("single", "ensemble", "verdict", "words"),
    [
        ([0.1, 0.2, 0.1, 0.2], [0.5, 0.6, 0.6, 0.5], "helps", "The ensemble helps."),
        ([0.5, 0.6, 0.6, 0.5], [0.1, 0.2, 0.1, 0.2], "hurts", "makes it worse"),
        ([0.5, 0.6, 0.6, 0.5], [0.6, 0.5, 0.5, 0.6], "makes no difference", "does not help"),
        ([0.5, 0.5, 0.5, 0.5], [0.505] * 4, "makes no difference", "does not help"),
    ],
)
def test_whether_the_ensemble_helps_is_said_plainly(
    single: list[float], ensemble: list[float], verdict: str, words: str
) -> None:
    gain = Gain.of(np.array(single), np.array(ensemble))
    assert gain.verdict == verdict
    assert words in gain.summary()
    assert "not over other data sets" in gain.summary()


def test_both_are_drawn_and_saved_together(tmp_path: Path) -> None:
    both = studied(4).compared_with(studied(None))
    display = both.plot()
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == ["ensembles of 4", "single runs", "extrapolated"]
    assert display.ax_.get_ylim()[0] <= min(both.table["lower"].min(), 0)
    both.save(tmp_path / "both.zip")
    assert ms.load_result(tmp_path / "both.zip").summary() == both.summary()


def test_the_cost_counts_every_study_and_grows_with_the_ensemble() -> None:
    single, ensembles = (
        replicability_cost("f_statistic", X, Y, ensemble_size=size, n_pairs=6, n_splits=5)
        for size in (None, 200)
    )
    assert single.n_studies == ensembles.n_studies == 2 * 6 + 5 * 2 * 4 * 2 + 3 * 4 * 2 * 2
    assert ensembles.seconds > single.seconds > 0


def test_rows_that_no_number_can_name_are_infinitely_many() -> None:
    fewest, most = rows_needed((0.3, 0.5), 0.4, 0.3999, 100, 0.9)
    assert fewest == pytest.approx(100 * 2 ** (math.log(9) / 1.5))
    assert most == math.inf


def test_rankings_are_not_called_features_that_agree() -> None:
    found = ms.replicability("f_statistic", X, Y, measure="kendall", n_pairs=6, n_splits=5,
                             random_state=0)  # fmt: skip
    assert "would agree on how they order the features to" in found.statement


def test_an_uncorrected_measure_of_0_is_not_called_chance() -> None:
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(40, 300))
    found = {
        name: ms.replicability("f_statistic", noise, np.arange(40) % 2, measure=name, n_pairs=6,
                               n_splits=5, n_features_to_select=3, random_state=0).statement
        for name in ("jaccard", "nogueira")
    }  # fmt: skip
    assert "cannot be told from chance" in found["nogueira"]
    assert "cannot be told from chance" not in found["jaccard"]
