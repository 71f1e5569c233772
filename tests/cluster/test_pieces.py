"""Whatever runs in parallel gives on a cluster the bits that it gives in one process."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import mainstay as ms
from mainstay.rankers import EvolutionRanker

X, y = make_classification(80, 40, n_informative=5, random_state=0)
EXPRESSION = np.random.default_rng(0).normal(size=(24, 10))


def selector(ranker: Any = "f_statistic", **options: Any) -> ms.EnsembleSelector:
    return ms.EnsembleSelector(ranker, n_features_to_select=5, random_state=0, **options)


def ensemble_of_filters(n_jobs: int | None) -> Any:
    return selector(n_resamples=300, n_jobs=n_jobs).fit(X, y).runs_.scores


def ensemble_of_models(n_jobs: int | None) -> Any:
    model = DecisionTreeClassifier(random_state=0)
    return selector(model, n_resamples=8, n_jobs=n_jobs).fit(X, y).runs_.scores


def pairs(n_jobs: int | None) -> Any:
    options = {"n_pairs": 5, "n_splits": 5, "ensemble_size": 3}
    return ms.replicability(selector(), X, y, **options, random_state=0, n_jobs=n_jobs).table


def permutations(n_jobs: int | None) -> Any:
    found = selector(n_resamples=5)
    return ms.feature_evidence(found, X, y, n_permutations=25, random_state=0, n_jobs=n_jobs).table


def evaluation(n_jobs: int | None) -> Any:
    scores = ms.cross_validate_selection(
        selector(n_resamples=5), X, y, cv=3, random_state=0, n_jobs=n_jobs
    )
    return scores.runs["ensemble"].scores, scores.stability


def comparison(n_jobs: int | None) -> Any:
    found = ms.compare_selectors(
        ["f_statistic", "information_gain"], X, y, sizes=[3, 6], n_resamples=4,
        random_state=0, n_jobs=n_jobs,
    )  # fmt: skip
    return found.table.loc[:, ~found.table.columns.str.contains("second")]


def forecast(n_jobs: int | None) -> Any:
    options = {"protocol": "nested", "n_features_to_select": 5, "n_runs": 24}
    return ms.forecast_stability(
        "f_statistic", X, y, **options, ensemble_sizes=[1, 2, 5], random_state=0, n_jobs=n_jobs
    ).curve


def subspaces(n_jobs: int | None, n_restarts: int) -> Any:
    model = ms.ParametricSubspaceClassifier(
        LogisticRegression(), n_estimators=12, max_stages=3, n_restarts=n_restarts,
        random_state=0, n_jobs=n_jobs,
    ).fit(X[:, :8], y)  # fmt: skip
    return model.selection_probabilities_, model.predict_proba(X[:, :8])


def subspace_restarts(n_jobs: int | None) -> Any:
    return subspaces(n_jobs, n_restarts=2)


def subspace_models(n_jobs: int | None) -> Any:
    return subspaces(n_jobs, n_restarts=1)


def evolution(n_jobs: int | None) -> Any:
    ranker = EvolutionRanker(
        LogisticRegression(),
        n_subsets=10,
        max_generations=3,
        n_restarts=2,
        random_state=0,
        n_jobs=n_jobs,
    )
    return ranker.fit(X[:, :8], y).scores_


def network(n_jobs: int | None, method: str) -> Any:
    return ms.infer_network(
        EXPRESSION, method=method, n_estimators=10, n_restarts=2, random_state=0, n_jobs=n_jobs
    )


def network_of_forests(n_jobs: int | None) -> Any:
    return network(n_jobs, "forest")


def network_of_subspaces(n_jobs: int | None) -> Any:
    return network(n_jobs, "parametric_subspace")


def network_stability(n_jobs: int | None) -> Any:
    return ms.network_stability(
        EXPRESSION, n_resamples=4, n_estimators=5, random_state=0, n_jobs=n_jobs
    ).runs.scores


PIECES = [
    ensemble_of_filters, ensemble_of_models, pairs, permutations, evaluation, comparison, forecast,
    subspace_restarts, subspace_models, evolution, network_of_forests, network_of_subspaces,
    network_stability,
]  # fmt: skip


def bits(result: Any) -> list[Any]:
    """Every number of a result, to the last bit."""
    if isinstance(result, tuple):
        return [bits(part) for part in result]
    if isinstance(result, np.ndarray):
        return [result.shape, result.tobytes()]
    return [bits(result[name].to_numpy()) if result[name].dtype.kind == "f"
            else result[name].tolist() for name in result]  # fmt: skip


@cache
def in_one_process(piece: Callable[[int | None], Any]) -> list[Any]:
    return bits(piece(1))


@pytest.mark.filterwarnings("ignore:.*few:UserWarning")
@pytest.mark.parametrize("piece", PIECES, ids=lambda piece: piece.__name__)
def test_a_cluster_gives_the_same_bits_as_one_process(
    piece: Callable[[int | None], Any], cluster: str, tasks_sent: list[int]
) -> None:
    assert bits(piece(None)) == in_one_process(piece)
    assert sum(tasks_sent) > 1
