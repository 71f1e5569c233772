"""Twins: looked for among all features, or where these are very many, of those that matter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mainstay as ms


def many_features() -> tuple[np.ndarray, np.ndarray]:
    """Five useful features, a twin of each, and twins that nothing selects."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 30)), np.repeat([0, 1], 30)
    X[:, :5] += np.array([4, 3.5, 3, 2, 1]) * y[:, None]
    X[:, 10:15] = X[:, :5] + 0.2 * rng.normal(size=(60, 5))
    X[:, 28] = np.tile(X[:30, 28], 2)  # alike in both classes
    X[:, 29] = X[:, 28]
    return X, y


LOOKED_FOR = "30 features are too many.*twins are looked for of 14 features only"


def test_evidence_of_very_many_features_groups_what_is_selected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    options = {"n_features_to_select": 10, "n_permutations": 20, "random_state": 0}
    whole = ms.feature_evidence("f_statistic", *many_features(), **options)
    monkeypatch.setattr("mainstay.twins.ALL_PAIRS_UP_TO", 29)
    with pytest.warns(UserWarning, match=LOOKED_FOR):
        part = ms.feature_evidence("f_statistic", *many_features(), **options)
    np.testing.assert_array_equal(part.q_values, whole.q_values)
    twins = [evidence.table.set_index("feature")["group"] for evidence in (part, whole)]
    for name in ("x0", "x4", "x12"):
        assert twins[0][name] == twins[1][name] != ""
    assert (twins[0]["x28"], twins[1]["x28"] != "") == ("", True)


def test_replicability_of_very_many_features_knows_the_twins_of_what_is_selected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    options = {"measure": "sma_count", "n_features_to_select": 3, "random_state": 0}
    monkeypatch.setattr("mainstay.twins.ALL_PAIRS_UP_TO", 29)
    with pytest.warns(UserWarning, match=LOOKED_FOR):
        aware = ms.replicability("f_statistic", *many_features(), **options)
    similarity = ms.FeatureSimilarity.from_data(many_features()[0], threshold=0.9)
    whole = ms.replicability("f_statistic", *many_features(), similarity=similarity, **options)
    none = ms.FeatureSimilarity.from_matrix(np.eye(30), threshold=0.9)
    without = ms.replicability("f_statistic", *many_features(), similarity=none, **options)
    assert float(aware) == pytest.approx(float(whole), abs=0.01)
    assert float(aware) > float(without) + 0.1


def test_comparisons_of_very_many_features_know_the_twins_of_what_is_selected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def compared() -> np.ndarray:
        rankers = ["f_statistic", "correlation"]
        options = {"sizes": [3], "n_resamples": 10, "random_state": 0}
        made = ms.compare_selectors(rankers, *many_features(), **options)
        return made.table["stability"].to_numpy()

    whole = compared()
    monkeypatch.setattr("mainstay.twins.ALL_PAIRS_UP_TO", 29)
    with pytest.warns(UserWarning, match=f"{LOOKED_FOR}, all that a ranker on all rows selected"):
        np.testing.assert_allclose(compared(), whole, atol=0.02)


def test_cross_validation_of_very_many_features_knows_the_twins_of_what_is_selected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def cross_validated() -> Any:
        selector = ms.EnsembleSelector("f_statistic", n_resamples=10)
        made = ms.cross_validate_selection(
            selector, *many_features(), sizes=[3], measures=["sma_count"], cv="half", random_state=0
        )
        return made.stability["value"].to_numpy()

    whole = cross_validated()
    monkeypatch.setattr("mainstay.twins.ALL_PAIRS_UP_TO", 29)
    with pytest.warns(UserWarning, match=LOOKED_FOR):
        np.testing.assert_allclose(cross_validated(), whole, atol=0.02)
