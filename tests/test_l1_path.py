"""Order of entry along L1 paths: scikit-learn, a naive twin, closed forms, and edge cases."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.linear_model import LogisticRegression, lars_path, lasso_path

import mainstay as ms
import naive_l1_path as naive
from mainstay import InputError
from mainstay._kernels.l1_path import _cholesky_solve, standardise
from mainstay.rankers import Correlation, L1Path, list_rankers, make_ranker

SKLEARN = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
SHARES = np.geomspace(1, 0.01, 100)


def problem(n: int, p: int, seed: int = 0, rho: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Numbers that five features explain in part; neighbours correlate by rho."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    return X, X[:, :: p // 5][:, :5].sum(axis=1) + 2 * rng.normal(size=n)


def grid_place(scores: np.ndarray) -> np.ndarray:
    """The first penalty of SHARES at which a feature is in; -1 for those that never are."""
    return np.where(scores > 0, np.searchsorted(-SHARES, -scores * (1 + 1e-12)), -1)


# --- scikit-learn -------------------------------------------------------------------------------
@pytest.mark.parametrize(("n", "p", "rho"), [(100, 20, 0.0), (60, 200, 0.0), (60, 200, 0.8)])
def test_features_enter_a_lasso_where_scikit_learn_has_them(n: int, p: int, rho: float) -> None:
    X, y = problem(n, p, rho=rho)
    Z, centred = naive.standardised(X), y - y.mean()
    largest = np.abs(Z.T @ centred).max() / n
    ours = grid_place(L1Path().fit(X, y).scores_)
    until = ours.max()  # where 99.9% are explained
    _, coefficients, _ = lasso_path(
        Z, centred, alphas=largest * SHARES[: until + 1], tol=1e-13, max_iter=10**6
    )
    held = np.abs(coefficients) > 1e-12 * np.abs(coefficients).max()  # at λ_max: rounding, or 0
    theirs = np.where(held.any(axis=1), held.argmax(axis=1), -1)
    first = ours == 0  # at the largest penalty its coefficient still is 0
    assert first.sum() == 1
    assert theirs[first] == 1
    np.testing.assert_array_equal(ours[~first], theirs[~first])
    assert (ours > 0).sum() > 15


@pytest.mark.parametrize("rho", [0.0, 0.7])
def test_the_order_is_that_of_the_exact_path_but_for_neighbours_on_the_grid(rho: float) -> None:
    X, y = problem(100, 300, seed=1, rho=rho)
    penalties, _, coefficients = lars_path(
        naive.standardised(X), y - y.mean(), method="lasso", alpha_min=0.0
    )
    scores = L1Path().fit(X, y).scores_
    held = coefficients != 0
    knot = penalties[np.maximum(held.argmax(axis=1) - 1, 0)] / penalties[0]
    exact = np.where(held.any(axis=1), knot, 0.0)
    early = exact > 0.1
    assert early.sum() > 30
    ratio = scores[early] / exact[early]
    step = SHARES[0] / SHARES[1]
    assert ratio.min() > 1 / step
    assert ratio.max() < step


@pytest.mark.parametrize("place", [10, 40, 70])
def test_features_enter_a_logistic_regression_where_scikit_learn_has_them(place: int) -> None:
    X, y = problem(80, 150, seed=2)
    y = (y > 0).astype(int)
    Z = naive.standardised(X)
    penalty = SHARES[place] * np.abs(Z.T @ (y - y.mean())).max()
    kind = {"penalty": "l1"} if SKLEARN < (1, 8) else {"l1_ratio": 1.0}
    model = LogisticRegression(**kind, solver="saga", C=1 / penalty, tol=1e-8, max_iter=10**5)
    model.fit(Z, y)
    ours = L1Path(smallest_penalty=SHARES[place], n_penalties=place + 1).fit(X, y).scores_
    held = np.flatnonzero(model.coef_[0])
    assert len(held) >= 3
    assert set(held) <= set(np.flatnonzero(ours))  # some that entered may have left again
    assert np.count_nonzero(ours) <= len(held) + 3


def test_with_several_classes_a_feature_enters_with_the_first_model_of_a_class_that_takes_it() -> (
    None
):
    X, y = load_wine(return_X_y=True)
    Z = naive.standardised(X)
    largest = max(np.abs(Z.T @ ((y == c) - np.mean(y == c))).max() for c in range(3))
    alone = []
    for c in range(3):
        own = np.abs(Z.T @ ((y == c) - np.mean(y == c))).max() / largest
        path = L1Path(n_penalties=2, smallest_penalty=0.2 / own).fit(X, y == c)
        alone.append(path.scores_ > 0)
    ours = L1Path(n_penalties=2, smallest_penalty=0.2).fit(X, y)
    np.testing.assert_array_equal(ours.scores_ > 0, np.any(alone, axis=0))
    assert 3 < (ours.scores_ > 0).sum() < 13


# --- naive twin and closed forms ----------------------------------------------------------------
@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("seed", range(4))
def test_entries_equal_their_naive_twin(loss: str, seed: int) -> None:
    X, y = problem(30, 7, seed, rho=0.5)
    y = y if loss == "squared" else (y > np.median(y)).astype(float)
    weights = np.random.default_rng(seed).integers(0, 3, 30)
    rows = np.repeat(np.arange(30), weights)
    ranker = L1Path(loss=loss, n_penalties=15, smallest_penalty=0.1)
    ours = ranker.fit(X, y, sample_weight=weights).scores_
    twin = naive.entries(X[rows], y[rows], np.geomspace(1, 0.1, 15), loss)
    np.testing.assert_allclose(ours, twin, rtol=1e-5)
    assert (ours > 0).sum() > 2


def test_uncorrelated_features_enter_at_their_correlation() -> None:
    hadamard = np.array([[1]])
    for _ in range(5):
        hadamard = np.block([[hadamard, hadamard], [hadamard, -hadamard]])
    X = hadamard[:, 1:].astype(float)
    effect = np.linspace(1, 0.05, 31)
    scores = L1Path(n_penalties=50, smallest_penalty=0.02).fit(X, X @ effect).scores_
    step = 0.02 ** (-1 / 49)
    entered = scores > 0  # those that come when 99.9% are explained do not
    assert entered[:25].all()
    assert (scores[entered] >= effect[entered] * (1 - 1e-5)).all()
    assert (scores[entered] < effect[entered] * step).all()
    assert (np.diff(scores) <= 0).all()


def test_standardised_features_equal_those_of_repeated_rows() -> None:
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(20, 3)) * 100, rng.integers(0, 3, 20)
    X[:, 1] = 7.0
    rows = np.flatnonzero(weights)
    out = np.empty((3, len(rows)))
    standardise(np.ascontiguousarray(X.T), rows, weights[rows] / weights.sum(), out)
    repeated = np.repeat(np.arange(len(rows)), weights[rows])
    twin = naive.standardised(X[np.repeat(np.arange(20), weights)])
    np.testing.assert_allclose(out.T[repeated], twin, atol=1e-12)


def test_linear_systems_are_solved_unless_they_are_singular() -> None:
    rng = np.random.default_rng(0)
    A = np.cov(rng.normal(size=(6, 30)))
    b = rng.normal(size=6)
    x = b.copy()
    assert _cholesky_solve(A.copy(), x)
    np.testing.assert_allclose(A @ x, b, rtol=1e-9)
    A[5] = A[4]
    A[:, 5] = A[:, 4]
    assert not _cholesky_solve(A.copy(), b.copy())


# --- what an order of entry must satisfy --------------------------------------------------------
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_the_first_feature_is_the_one_that_correlates_best(loss: str) -> None:
    for seed in range(5):
        X, y = problem(40, 100, seed)
        y = y if loss == "squared" else (y > 0) * 1
        scores = L1Path(loss=loss).fit(X, y).scores_
        assert scores.argmax() == Correlation().fit(X, y).scores_.argmax()
        assert scores.max() == 1
        assert scores.min() == 0


def test_squared_loss_on_classes_gives_nearly_the_logistic_order() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    logistic, squared = (L1Path(loss=loss).fit(X, y) for loss in ("logistic", "squared"))
    assert L1Path().fit(X, y).scores_.tolist() == logistic.scores_.tolist()
    assert np.array_equal(np.argsort(-logistic.scores_)[:3], np.argsort(-squared.scores_)[:3])


def test_neither_scale_nor_sign_nor_origin_of_a_feature_matters() -> None:
    X, y = problem(50, 80)
    scale = np.where(np.arange(80) % 2, 1e-6, -1e5)
    moved = X * scale + 3 * scale
    for target in (y, (y > 0) * 1):
        plain, other = (L1Path().fit(data, target).scores_ for data in (X, moved))
        np.testing.assert_allclose(other, plain, rtol=1e-7)
    np.testing.assert_allclose(
        L1Path().fit(X, 1e4 * y - 5).scores_, L1Path().fit(X, y).scores_, rtol=1e-7
    )


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_copies_of_a_feature_tie_and_others_keep_their_scores(loss: str) -> None:
    X, y = problem(50, 30)
    y = y if loss == "squared" else (y > 0) * 1
    alone = L1Path(loss=loss).fit(X, y).scores_
    best, second = np.argsort(-alone)[:2]
    with_copies = np.column_stack([X[:, second], X, -X[:, best], X[:, best]])
    scores = L1Path(loss=loss).fit(with_copies, y).scores_
    assert scores[-1] == scores[-2] == scores[best + 1] == 1
    assert scores[0] == scores[second + 1]
    np.testing.assert_allclose(scores[1:-2], alone, atol=1e-6)


def test_a_path_stops_at_the_number_of_features_asked_for() -> None:
    X, y = problem(60, 200)
    full, part = L1Path().fit(X, y).scores_, make_ranker("l1_path@10").fit(X, y).scores_
    assert (part > 0).sum() == 10
    np.testing.assert_array_equal(part[part > 0], full[part > 0])
    assert full[part == 0].max() < part[part > 0].min()
    X, y = load_wine(return_X_y=True)
    few, all_of_them = L1Path(max_features=4).fit(X, y).scores_, L1Path().fit(X, y).scores_
    np.testing.assert_array_equal(few, np.where(all_of_them >= np.sort(all_of_them)[-4],
                                                all_of_them, 0))  # fmt: skip
    assert L1Path(max_features=100).fit(X, y).scores_.tolist() == all_of_them.tolist()


def test_no_more_features_enter_than_can_be_fitted() -> None:
    X, y = problem(20, 500)
    for target in (y, (y > 0) * 1):
        entered = (L1Path().fit(X, target).scores_ > 0).sum()
        assert 10 < entered < 40  # some leave again


def test_nothing_enters_after_a_feature_that_explains_everything() -> None:
    X, _ = problem(40, 10)
    scores = L1Path().fit(X, 2 * X[:, 3] + 1).scores_
    assert np.flatnonzero(scores).tolist() == [3]
    separable = L1Path().fit(X, X[:, 3] > 0).scores_
    assert separable[3] == 1
    assert np.isfinite(separable).all()


@pytest.mark.parametrize("n", [2, 3, 4])
def test_a_handful_of_rows_gives_finite_scores(n: int) -> None:
    X, y = problem(n, 50)
    for target in (y, np.arange(n) % 2, np.arange(n) + 0.5):
        scores = L1Path().fit(X, target).scores_
        assert np.isfinite(scores).all()
        assert scores.max() == 1


def test_a_target_that_no_feature_tells_anything_about_gets_zeros() -> None:
    X = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]])
    for y in ([0, 1, 1, 0], [0.5, 1.5, 1.5, 0.5]):
        assert L1Path().fit(X, y).scores_.tolist() == [0, 0]
    constant = L1Path().fit(np.full((4, 2), 0.1), [0, 1, 1, 0])
    assert constant.scores_.tolist() == [0, 0]
    rows_of_one_value = L1Path().fit(X, [0.1, 0.1, 0.1, 5.5], sample_weight=[1, 1, 1, 0])
    assert rows_of_one_value.scores_.tolist() == [0, 0]


# --- in ensembles -------------------------------------------------------------------------------
def test_stability_selection_finds_the_true_features() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(100, 200)), columns=[f"g{j}" for j in range(200)])
    y = X[["g3", "g50", "g120"]].sum(axis=1) + rng.normal(size=100)
    selector = ms.EnsembleSelector(
        "l1_path@10",
        n_features_to_select="frequency>=0.9",
        n_features_per_run=10,
        resampling="pairs",
        n_resamples=40,
        random_state=0,
    ).fit(X, y)
    assert selector.get_feature_names_out().tolist() == ["g3", "g50", "g120"]


def test_a_cut_among_features_that_never_entered_says_that_they_tie() -> None:
    X, y = problem(40, 10)
    runs = ms.Runs.from_scores(L1Path(max_features=3).fit(X, y).scores_[None])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert runs.top(3).support.sum() == 3
    with pytest.warns(UserWarning, match="in 1 of 1 runs features tie for place 5"):
        runs.top(5)


# --- options and errors -------------------------------------------------------------------------
def test_the_path_is_in_the_registry() -> None:
    row = list_rankers().set_index("name").loc["l1_path"]
    assert (row["class"], row["kind"], row["weights"], row["random"]) == (
        "L1Path",
        "model",
        True,
        False,
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "hinge"}, "Valid"),
        ({"loss": "logistic"}, "needs classes, but y holds numbers"),
        ({"n_penalties": 1}, "n_penalties must be a whole number at least 2"),
        ({"smallest_penalty": 0}, r"smallest_penalty must be a number in \(0, 1\)"),
        ({"max_features": 0}, "max_features must be a whole number at least 1"),
    ],
)
def test_wrong_options_are_named(options: dict[str, Any], message: str) -> None:
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(InputError, match=message):
        L1Path(**options).fit(X, y)


def test_missing_values_and_text_are_refused() -> None:
    X, y = problem(20, 5)
    X[4, 1] = np.nan
    with pytest.raises(InputError, match=r"'x1' has 1 missing.*row 4"):
        L1Path().fit(X, y)
    with pytest.raises(InputError, match="'a' holds categories"):
        L1Path().fit(pd.DataFrame({"a": list("uv") * 10}), y)
