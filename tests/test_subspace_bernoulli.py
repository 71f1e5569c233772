"""Coin tosses that choose features: probabilities, weights and gradients are what they should be.

Fast code is compared with the loops of `naive_subspace`, with finite differences, and for few
features with sums over all subsets.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_subspace as naive
from mainstay._validation import InputError
from mainstay.subspace.bernoulli import (
    ImportanceSample,
    effective_size,
    log_probability,
    sample_subsets,
)
from mainstay.subspace.losses import LOSSES, Loss, make_loss
from mainstay.subspace.objective import Objective

CHANCES = st.one_of(st.sampled_from([0.0, 1.0, 1e-9, 1 - 1e-9, 0.5]), st.floats(0, 1))


def draws(
    rng: np.random.Generator, alphas: np.ndarray, sizes: list[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Subsets of every reference, and the reference of every subset."""
    Z = [sample_subsets(alpha, size, rng) for alpha, size in zip(alphas, sizes, strict=True)]
    return np.concatenate(Z), np.repeat(np.arange(len(alphas)), sizes)


def row(function: Any) -> naive.Loss:
    """A loss of arrays as a function of two numbers."""
    return lambda y, e: float(function(np.array([y]), np.array([e]))[0])


# ---------------------------------------------------------------------- probabilities and weights


@given(st.integers(0, 2**32), st.lists(CHANCES, min_size=1, max_size=12))
def test_log_probability_is_the_log_of_the_product(seed: int, alpha: list[float]) -> None:
    Z = np.random.default_rng(seed).random((5, len(alpha))) < 0.5
    found = log_probability(Z, np.array(alpha))
    expected = [math.log(naive.probability(z, alpha)) for z in Z]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_a_probability_of_0_is_never_drawn_and_of_1_always() -> None:
    Z = sample_subsets(np.array([0.0, 0.3, 1.0]), 20_000, np.random.default_rng(0))
    assert Z[:, 0].sum() == 0
    assert Z[:, 2].all()
    assert Z[:, 1].mean() == pytest.approx(0.3, abs=4 * math.sqrt(0.21 / 20_000))


@given(st.integers(0, 2**32), st.data())
def test_weights_are_what_they_are_defined_to_be(seed: int, data: st.DataObject) -> None:
    m, q = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 3))
    chances = st.lists(CHANCES, min_size=m, max_size=m)
    alphas = np.array(data.draw(st.lists(chances, min_size=q, max_size=q)))
    beta = np.array(data.draw(chances))
    sizes = [3] * q
    Z, drawn_from = draws(np.random.default_rng(seed), alphas, sizes)
    sample = ImportanceSample.from_references(Z, alphas, drawn_from)
    expected = np.array([naive.weight(z, beta, alphas, sizes) for z in Z])
    np.testing.assert_allclose(sample.weights(beta), expected, rtol=1e-8)
    normalized = sample.weights(beta, self_normalized=True)
    np.testing.assert_allclose(normalized, expected / expected.mean(), rtol=1e-8)
    assert 1 - 1e-9 <= effective_size(expected) <= len(Z) + 1e-9


@pytest.mark.parametrize("extreme", [0.0, 1.0, 1e-9])
def test_extreme_probabilities_give_finite_weights(extreme: float) -> None:
    """2000 features of which every one is nearly certain: products underflow, logarithms do not."""
    beta = np.full(2000, extreme)
    alphas = np.stack([np.full(2000, 0.5), beta])
    Z, drawn_from = draws(np.random.default_rng(0), alphas, [10, 10])
    sample = ImportanceSample.from_references(Z, alphas, drawn_from)
    weights = sample.weights(beta)
    # a draw from β itself has p(z|β)/(½ p(z|β)) = 2, the others are impossible
    np.testing.assert_allclose(weights, [0.0] * 10 + [2.0] * 10, atol=1e-12)
    assert effective_size(sample.weights(beta, self_normalized=True)) == pytest.approx(10)


def test_where_nothing_has_moved_all_weights_are_one() -> None:
    rng = np.random.default_rng(0)
    alpha = rng.random(30)
    Z, drawn_from = draws(rng, np.stack([alpha, alpha]), [4, 6])
    sample = ImportanceSample.from_references(Z, np.stack([alpha, alpha]), drawn_from)
    np.testing.assert_allclose(sample.weights(alpha), 1.0)


def test_the_mixture_estimate_is_unbiased() -> None:
    """Mean of 1500 estimates from 12 draws of three references; exact within 4 standard errors."""
    rng = np.random.default_rng(1)
    alphas, beta, sizes = rng.uniform(0.2, 0.8, (3, 4)), rng.uniform(0.2, 0.8, 4), [2, 4, 6]
    values = {tuple(z): float(v) for z, v in zip(naive.all_subsets(4), rng.normal(size=16),
                                                 strict=True)}  # fmt: skip
    exact = sum(naive.probability(z, beta) * v for z, v in values.items())
    slopes = naive.exact_gradient(
        np.array(list(values.values()))[:, None], [0.0], lambda y, e: 1.0, beta
    )
    estimates, gradients = [], []
    for _ in range(1500):
        Z, drawn_from = draws(rng, alphas, sizes)
        sample = ImportanceSample.from_references(Z, alphas, drawn_from)
        outputs, weights = np.array([values[tuple(z)] for z in Z]), sample.weights(beta)
        estimates.append(weights @ outputs / len(Z))
        gradients.append(sample.gradient(beta, weights, outputs))
    for found, expected in [(np.array(estimates), exact), (np.array(gradients), np.array(slopes))]:
        error = found.std(axis=0, ddof=1) / math.sqrt(len(found))
        assert (np.abs(found.mean(axis=0) - expected) < 4 * error).all()
        assert (error < 0.08).all()


# ---------------------------------------------------------------------- gradients

DIFFERENTIABLE = [name for name in LOSSES if name != "absolute_error"]


def random_objective(
    seed: int, loss: Loss, *, self_normalized: bool, holes: bool
) -> tuple[Objective, np.ndarray, dict[str, Any]]:
    """Objective of 14 models on 5 features and 6 rows, a point, and the naive twin's arguments."""
    rng = np.random.default_rng(seed)
    alphas, beta = rng.uniform(0.1, 0.9, (3, 5)), rng.uniform(0.1, 0.9, 5)
    sizes = [5, 4, 5]
    Z, drawn_from = draws(rng, alphas, sizes)
    predictions = rng.uniform(0.2, 1, (14, 6))
    if holes:
        predictions[rng.random((14, 6)) < 0.5] = np.nan
        predictions[0] = 0.5
    target, row_weight = rng.normal(size=6), rng.uniform(0.5, 2, 6)
    sample = ImportanceSample.from_references(Z, alphas, drawn_from)
    objective = Objective(
        sample, predictions, target, loss, row_weight, self_normalized=self_normalized
    )
    twin = {
        "Z": Z, "predictions": predictions, "target": target, "alphas": alphas, "sizes": sizes,
        "self_normalized": self_normalized, "row_weight": row_weight,
    }  # fmt: skip
    return objective, beta, twin


@pytest.mark.parametrize("holes", [False, True], ids=["folds", "oob"])
@pytest.mark.parametrize("self_normalized", [False, True], ids=["plain", "self_normalized"])
@pytest.mark.parametrize("name", LOSSES)
def test_objective_and_gradient_are_those_of_the_estimate(
    name: str, self_normalized: bool, holes: bool
) -> None:
    loss = LOSSES[name]
    for seed in range(5):
        objective, beta, twin = random_objective(
            seed, loss, self_normalized=self_normalized, holes=holes
        )
        here = objective.at(beta)

        def value(point: np.ndarray, twin: Any = twin) -> float:
            return naive.objective(loss=row(loss.value), beta=point, **twin)

        assert here.value == pytest.approx(value(beta), rel=1e-12)
        used = twin["Z"].sum(axis=0)
        slopes = np.array(naive.finite_differences(value, beta))
        slopes[(used == 0) | (used == 14)] = 0  # no model tells what the feature does
        np.testing.assert_allclose(here.gradient, slopes, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_stratified_gradient_is_the_loop_of_the_paper(seed: int) -> None:
    loss = LOSSES["squared_error"]
    _, beta, twin = random_objective(seed, loss, self_normalized=False, holes=False)
    Z, alphas = twin["Z"], twin["alphas"]
    sample = ImportanceSample.from_references(
        Z, alphas, np.repeat([0, 1, 2], twin["sizes"]), stratified=True
    )
    objective = Objective(
        sample, twin["predictions"], twin["target"], loss, np.ones(6), self_normalized=False
    )
    del twin["self_normalized"], twin["row_weight"]
    expected = naive.paper_gradient(slope=row(loss.derivative), beta=beta, **twin)
    np.testing.assert_allclose(objective.at(beta).gradient, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("stratified", [False, True])
@pytest.mark.parametrize("self_normalized", [False, True])
@pytest.mark.parametrize("n_features", [1, 3, 8])
def test_with_one_model_per_subset_the_gradient_is_exact(
    n_features: int, self_normalized: bool, stratified: bool
) -> None:
    """All 2^M subsets as if drawn from fair coins: the estimate is the expectation itself."""
    rng = np.random.default_rng(n_features)
    Z, beta = naive.all_subsets(n_features), rng.uniform(0.05, 0.95, n_features)
    predictions, target = rng.normal(size=(len(Z), 4)), rng.normal(size=4)
    fair = np.full((1, n_features), 0.5)
    sample = ImportanceSample.from_references(
        Z, fair, np.zeros(len(Z), dtype=int), stratified=stratified
    )
    loss = LOSSES["squared_error"]
    here = Objective(
        sample, predictions, target, loss, np.ones(4), self_normalized=self_normalized
    ).at(beta)
    exact = naive.exact_objective(predictions, target, row(loss.value), beta)
    slopes = naive.exact_gradient(predictions, target, row(loss.derivative), beta)
    assert here.value == pytest.approx(exact)
    np.testing.assert_allclose(here.gradient, slopes, rtol=1e-8, atol=1e-10)


def test_two_references_in_exact_proportion_give_the_exact_gradient() -> None:
    """Coins of ½ and of ¼: 8 and 1 … 27 copies of each of the 8 subsets make 64 + 64 draws."""
    rng = np.random.default_rng(0)
    subsets, beta = naive.all_subsets(3), np.array([0.1, 0.6, 0.9])
    alphas = np.array([[0.5] * 3, [0.25] * 3])
    copies = [[round(64 * naive.probability(z, alpha)) for z in subsets] for alpha in alphas]
    Z = np.concatenate([np.repeat(subsets, n, axis=0) for n in copies])
    by_subset, target = rng.normal(size=(8, 5)), rng.normal(size=5)
    predictions = np.concatenate([np.repeat(by_subset, n, axis=0) for n in copies])
    sample = ImportanceSample.from_references(Z, alphas, np.repeat([0, 1], 64))
    loss = LOSSES["squared_error"]
    here = Objective(sample, predictions, target, loss, np.ones(5), self_normalized=False).at(beta)
    slopes = naive.exact_gradient(by_subset, target, row(loss.derivative), beta)
    np.testing.assert_allclose(here.gradient, slopes, rtol=1e-8)


@pytest.mark.parametrize("extreme", [0.0, 1.0, 1e-9])
def test_gradients_are_finite_at_the_edges(extreme: float) -> None:
    objective, beta, _ = random_objective(
        0, LOSSES["squared_error"], self_normalized=True, holes=False
    )
    beta[[0, 3]] = extreme
    assert np.isfinite(objective.at(beta).gradient).all()


# ---------------------------------------------------------------------- losses


@pytest.mark.parametrize("name", DIFFERENTIABLE)
@given(target=st.floats(-3, 3), average=st.floats(-3, 3))
def test_derivatives_are_those_of_the_losses(name: str, target: float, average: float) -> None:
    loss, step = LOSSES[name], 1e-6
    slope = (row(loss.value)(target, average + step) - row(loss.value)(target, average - step)) / (
        2 * step
    )
    assert row(loss.derivative)(target, average) == pytest.approx(slope, rel=1e-3, abs=1e-4)


def test_cross_entropy_is_the_log_of_the_share_of_right_votes() -> None:
    shares = np.array([0.02, 0.5, 1.0])
    np.testing.assert_allclose(LOSSES["cross_entropy"].value(np.ones(3), shares), -np.log(shares))


def test_losses_by_name_by_pair_and_by_mistake() -> None:
    assert make_loss("auto", classification=True) is LOSSES["cross_entropy"]
    assert make_loss("auto", classification=False) is LOSSES["squared_error"]
    pair = (lambda y, e: e, lambda y, e: np.ones_like(e))
    assert make_loss(pair, classification=False).value is pair[0]
    for wrong, message in [
        ("hubber", "Did you mean 'huber'"),
        ("cross_entropy", "unknown loss"),
        (abs, "derivative"),
        ((abs,), "pair of functions"),
    ]:
        with pytest.raises(InputError, match=message):
            make_loss(wrong, classification=False)
