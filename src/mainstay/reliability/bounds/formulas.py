"""How many features of low selection probability are selected, at most: three bounds.

The runs come in B complementary pairs of disjoint halves and select q of p features each, or q on
average. A feature is selected if at least w of the 2B runs select it, τ = w/2B. What is bounded is
the expected number of selected features whose selection probability in a run is at most θ = q/p,
that of drawing lots. Such a feature need not be unrelated to the target, nor the other way round.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mainstay._validation import InputError, check_count, check_fraction
from mainstay.reliability.bounds.concave_tails import largest_tails

ROUNDING = 1e-9  # room for it where numbers are compared


@dataclass(frozen=True)
class PairBound:
    """One bound, and what is known of it.

    Attributes
    ----------
    name : str
        As in `bound="unimodal"`.
    by_count : callable
        (p, q, B) to the bound for w = 0..2B; infinite where it does not hold.
    assumes : str
        What has to be true beside independent rows, to complete "It assumes …".
    where : str
        For which thresholds it holds, in words.
    """

    name: str
    by_count: Callable[[int, float, int], np.ndarray]
    assumes: str
    where: str


def meinshausen_buehlmann(
    *, n_features: int, n_selected: float, threshold: float, n_pairs: int | None = None
) -> float:
    """Bound the number of false features without assuming a shape: q²/((2τ − 1)p), for τ > ½.

    Parameters
    ----------
    n_features : int
        p, how many features (or groups of features) there were to choose from.
    n_selected : float
        q, how many of them a run selects, on average if runs differ.
    threshold : float
        τ, the share of the runs that must select a feature.
    n_pairs : int, optional
        B; with it the threshold is rounded up to a whole number of the 2B runs.

    Returns
    -------
    float
        Largest expected number of selected features whose selection probability is at most q/p.

    References
    ----------
    Meinshausen, N. and Bühlmann, P. (2010). Stability selection. J. Royal Statistical Society B 72,
    417–473. Shah, R. D. and Samworth, R. J. (2013). Variable selection with error control: another
    look at stability selection. J. Royal Statistical Society B 75, 55–80.

    Examples
    --------
    >>> from mainstay.reliability import bounds
    >>> bounds.meinshausen_buehlmann(n_features=1000, n_selected=50, threshold=0.75)
    5.0
    """
    if n_pairs is not None:
        return _at("meinshausen-buehlmann", n_features, n_selected, threshold, n_pairs)
    p = check_count("n_features", n_features, 1)
    q = check_selected(n_selected, p)
    tau = check_fraction("threshold", threshold)
    if tau <= 0.5:
        raise _does_not_hold("meinshausen-buehlmann", tau)
    return q**2 / ((2 * tau - 1) * p)


def unimodal(*, n_features: int, n_selected: float, n_pairs: int, threshold: float) -> float:
    """Bound the number of false features if simultaneous selections are unimodal: q²/(pC).

    For τ ≤ ¾, C = 2(2τ − 1 − 1/(2B)), and τ must be at least ½ + min(θ², 1/(2B) + ¾θ²); for τ > ¾,
    C = (1 + 1/B)/(4(1 − τ + 1/(2B))). θ = q/p must be at most 1/√3. It is never larger than
    `meinshausen_buehlmann`, and about half of it for τ ≤ ¾.

    Parameters
    ----------
    n_features, n_selected, threshold
        As in `meinshausen_buehlmann`.
    n_pairs : int
        B, the number of complementary pairs; there are 2B runs.

    Returns
    -------
    float
        Largest expected number of selected features whose selection probability is at most q/p.

    References
    ----------
    Shah and Samworth (2013; see `meinshausen_buehlmann`).

    Examples
    --------
    >>> from mainstay.reliability import bounds
    >>> round(bounds.unimodal(n_features=1000, n_selected=50, n_pairs=50, threshold=0.75), 3)
    2.551
    """
    return _at("unimodal", n_features, n_selected, threshold, n_pairs)


def r_concave(*, n_features: int, n_selected: float, n_pairs: int, threshold: float) -> float:
    """Bound the number of false features if shares of selections are r-concave.

    p · min{1, D(θ², w − B, B, −½), D(θ, w, 2B, −¼)}, where D(η, t, N, r) is the largest P(X ≥ t) of
    an r-concave X on 0..N with mean ηN (`largest_tails`), end points included: R's stabs stops
    short of them and is up to 3% lower. It exists for every threshold, and is the smallest of the
    three where q is a small share of p.

    The assumption cannot be checked, and the promise broke in 7 of 75 kinds of data
    (`experiments/results/error_control.md`): with an F-test on 200 × 1,000 values of pure noise,
    asked for at most 1 false feature, there were 1.25 ± 0.11 (100 data sets).

    Parameters
    ----------
    n_features, n_selected, n_pairs, threshold
        As in `unimodal`.

    Returns
    -------
    float
        Largest expected number of selected features whose selection probability is at most q/p.

    References
    ----------
    Shah and Samworth (2013; see `meinshausen_buehlmann`).

    Examples
    --------
    >>> from mainstay.reliability import bounds
    >>> round(bounds.r_concave(n_features=1000, n_selected=50, n_pairs=50, threshold=0.75), 3)
    0.648
    """
    return _at("r-concave", n_features, n_selected, threshold, n_pairs)


def check_selected(n_selected: Any, p: int) -> float:
    """Return q as a float if it is a number from 0 to p."""
    try:
        q = float(n_selected)
    except (TypeError, ValueError):
        q = math.nan
    if not 0 <= q <= p:
        raise InputError(
            f"n_selected, how many features a run selects, must be a number from 0 to n_features "
            f"({p}), got {n_selected!r}."
        )
    return q


def smallest_count(threshold: Any, n_pairs: int) -> int:
    """How many of the 2B runs must select a feature for a share of at least `threshold`.

    Examples
    --------
    >>> smallest_count(0.07, 50), 0.07 * 100 > 7
    (7, True)
    """
    tau = check_fraction("threshold", threshold)
    return math.ceil(tau * 2 * n_pairs - ROUNDING)


def _at(name: str, n_features: int, n_selected: float, threshold: float, n_pairs: int) -> float:
    p = check_count("n_features", n_features, 1)
    q = check_selected(n_selected, p)
    B = check_count("n_pairs", n_pairs, 1)
    if name == "unimodal" and q / p > 1 / math.sqrt(3):
        raise InputError(
            f"the unimodal bound needs n_selected of at most n_features/√3 = "
            f"{p / math.sqrt(3):.4g}, got {q:g}. Let a run select fewer features, or use the "
            "bound of Meinshausen and Bühlmann."
        )
    value = float(BOUNDS[name].by_count(p, q, B)[smallest_count(threshold, B)])
    if math.isinf(value):
        raise _does_not_hold(name, threshold)
    return value


def _does_not_hold(name: str, threshold: float) -> InputError:
    return InputError(
        f"the {name} bound holds for thresholds {BOUNDS[name].where}, got {threshold:g}."
    )


# ---------------------------------------------------------------------- by number of runs


def _meinshausen_buehlmann(p: int, q: float, B: int) -> np.ndarray:
    values = np.full(2 * B + 1, np.inf)
    above = np.arange(B + 1, 2 * B + 1)
    values[above] = q**2 * B / ((above - B) * p)
    return values


def _unimodal(p: int, q: float, B: int) -> np.ndarray:
    values = np.full(2 * B + 1, np.inf)
    theta = q / p
    if theta > 1 / math.sqrt(3):
        return values
    least = 0.5 + min(theta**2, 1 / (2 * B) + 0.75 * theta**2)
    above = np.arange(B + 1, 2 * B + 1)
    tau = above / (2 * B)
    low = 2 * (2 * tau - 1 - 1 / (2 * B))
    high = (1 + 1 / B) / (4 * (1 - tau + 1 / (2 * B)))
    to_three_quarters = 4 * above <= 6 * B
    values[above] = q * theta / np.where(to_three_quarters, low, high)
    values[above[to_three_quarters & (tau < least - ROUNDING)]] = np.inf
    return values


def _r_concave(p: int, q: float, B: int) -> np.ndarray:
    theta = q / p
    both = np.concatenate((np.ones(B), largest_tails(theta**2, B, -0.5)))
    return np.asarray(p * np.minimum(both, largest_tails(theta, 2 * B, -0.25)))


BOUNDS: dict[str, PairBound] = {
    bound.name: bound
    for bound in (
        PairBound(
            "meinshausen-buehlmann",
            _meinshausen_buehlmann,
            "nothing about the distribution of how often features are selected",
            "above 1/2",
        ),
        PairBound(
            "unimodal",
            _unimodal,
            "that the share of pairs in which both halves select such a feature has a unimodal "
            "distribution",
            "above 1/2 and, up to 3/4, of at least 1/2 + min(θ², 1/(2B) + 3θ²/4), where "
            "θ = n_selected/n_features and B = n_pairs",
        ),
        PairBound(
            "r-concave",
            _r_concave,
            "that the shares of runs, and of pairs, that select such a feature have r-concave "
            "distributions (r = −1/4 and −1/2), which failed where it was measured",
            "from 0 to 1",
        ),
    )
}
