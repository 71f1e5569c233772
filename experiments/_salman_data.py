"""The data sets, filters and rules of salman2022, and what every repetition is made of."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from _common import load
from scipy.ndimage import gaussian_filter, gaussian_filter1d
from scipy.special import factorial

import mainstay as ms
from mainstay.aggregation.order_statistics import rra_log_rho
from mainstay.rankers import MRMR, score_filters
from mainstay.rankers.inputs import Table, almost_constant

SETS = ("ionosphere", "satellite", "ada", "splice", "optdigits", "jasmine", "musk", "scene")
WIDE = SETS[5:]  # mRMR gets fewer repetitions here
MULTICLASS = "optdigits, ten classes"
GENERATED = ("like Semeion", "like Indian Pines")
MORE = (MULTICLASS, *GENERATED)  # not the paper's: shown in a table of their own
FILTERS = {
    "information_gain": "information gain",
    "symmetric_uncertainty": "symmetric uncertainty",
    "chi_square": "chi-square",
    "mrmr": "mRMR",
}
SCORES, RANKS = ["arithmetic mean", "geometric mean", "L2 norm"], ["RRA", "Stuart"]
RULES = (*SCORES, *RANKS)
SINGLE, ONE, BROKEN = "single filter", "one bootstrap", "Stuart, recursion"


@lru_cache(maxsize=2)
def read(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Read a data set as the paper has it: two classes, no columns of near-zero variance."""
    if name in GENERATED:
        X, y = generated(name)
    elif name == MULTICLASS:
        X, y = load("wam12/optdigits")
    else:
        X, y = load(f"wam12/{name}")
        y = {"optdigits": y == 3, "splice": y != 2}.get(name, y == 1).astype(int)
    columns = Table(X)
    kept = [j for j in range(X.shape[1]) if not almost_constant(columns.column(j))]
    return X[:, kept], y


def generated(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Make a problem of the shape of a data set that cannot be had: rows, columns, classes.

    Like Semeion: 16 × 16 black and white pixels, ten smooth shapes, each drawn with smooth noise.
    Like Indian Pines: spectra of 220 bands, eight smooth mean curves close to each other, smooth
    and white noise. Nothing else is known of the real ones here.
    """
    rng = np.random.default_rng(GENERATED.index(name))
    if name == "like Semeion":
        y = np.arange(1593) % 10
        shapes = gaussian_filter(rng.normal(size=(10, 16, 16)), (0, 2, 2))
        noise = gaussian_filter(rng.normal(size=(len(y), 16, 16)), (0, 2, 2))
        return (shapes[y] + noise > 0).reshape(len(y), -1).astype(float), y
    y = np.arange(9144) % 8
    curves = gaussian_filter1d(rng.normal(size=(8, 220)), 12, axis=1)
    smooth = gaussian_filter1d(rng.normal(size=(len(y), 220)), 20, axis=1)
    return curves[y] + 1.5 * smooth + 0.2 * rng.normal(size=(len(y), 220)), y


def bootstraps(n: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """How often each of n rows comes in each of `count` bootstrap samples."""
    cells = rng.integers(n, size=(count, n)) + n * np.arange(count)[:, None]
    return np.bincount(cells.ravel(), minlength=count * n).reshape(count, n)


def scored(X: np.ndarray, y: np.ndarray, weights: np.ndarray, filters: Any) -> dict[str, Any]:
    """Scores of every filter in every resample; mRMR: p + 1 − place in the order of selection."""
    tables = [name for name in filters if name != "mrmr"]
    found = score_filters(X, y, weights, tables) if tables else {}
    if "mrmr" in filters:
        found["mrmr"] = X.shape[1] + 1 + MRMR().score_resamples(X, y, weights)
    return found


def aggregated(scores: np.ndarray) -> dict[str, np.ndarray]:
    """Ranks by the five rules. RRA by its log ρ: p-values, which order nothing, would cost more."""
    runs = ms.Runs.from_scores(scores)
    by_rank = ms.Runs.from_ranks(runs.ranks)
    methods = ("mean", "geometric_mean", "l2_norm", None, "stuart")
    return {
        rule: ms.aggregate(runs, method).ranks
        if method
        else ms.aggregate(by_rank, lambda r: -rra_log_rho(r / r.shape[1])).ranks
        for rule, method in zip(RULES, methods, strict=True)
    }


def alone(scores: np.ndarray) -> np.ndarray:
    """Ranks by one row of scores, ties in column order."""
    return np.argsort(np.argsort(-scores, kind="stable")) + 1


def classical_q(ranks: np.ndarray) -> np.ndarray:
    """Q of normalised ranks (lists × features) by the alternating recursion, in doubles.

    V_k = Σ_{i=1..k} (−1)^{i−1} V_{k−i}/i! · r_{m−k+1}^i, Q = m!·V_m (Aerts et al. 2006).
    """
    values, at = np.unique(np.sort(ranks, axis=0), return_inverse=True)
    m, p = ranks.shape
    at = at.reshape(m, p)
    i = np.arange(1, m + 1)[:, None]
    signs, factorials, powers = (-1.0) ** (i - 1), factorial(i), values**i
    V = np.ones((m + 1, p))
    with np.errstate(all="ignore"):
        for k in range(1, m + 1):
            terms = V[k - 1 :: -1] * powers[:k, at[m - k]] / factorials[:k]
            V[k] = (signs[:k] * terms).sum(axis=0)
        return np.asarray(factorials[-1] * V[m])


def by_recursion(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ranks by the recursion, sorted as RobustRankAggreg does: first list, stable, NaN last; Q."""
    ranks = ms.Runs.from_scores(scores).ranks
    q = classical_q(ranks / ranks.shape[1])
    first = np.argsort(ranks[0], kind="stable")
    return np.argsort(first[np.argsort(q[first], kind="stable")]) + 1, q


def rank_all(X: np.ndarray, y: np.ndarray, filters: Any, count: int, rng: Any) -> dict[str, Any]:
    """Filter → rule → ranks, of all rules, the filter without bootstrap, and one bootstrap."""
    weights = bootstraps(len(y), count, rng)
    scores = scored(X, y, np.vstack([np.ones_like(weights[:1]), weights]), filters)
    return {
        name: aggregated(s[1:])
        | {BROKEN: by_recursion(s[1:])[0]}
        | {SINGLE: alone(s[0]), ONE: alone(s[1])}
        for name, s in scores.items()
    }
