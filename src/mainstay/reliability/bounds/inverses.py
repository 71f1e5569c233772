"""The bounds turned round: which threshold, or how many features a run, for a wanted bound."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mainstay._validation import InputError, check_choice, check_count
from mainstay.reliability.bounds.formulas import (
    BOUNDS,
    ROUNDING,
    check_selected,
    smallest_count,
)


def smallest_threshold(
    *,
    max_false: float,
    n_features: int,
    n_selected: float,
    n_pairs: int,
    bound: str = "unimodal",
) -> float | None:
    """Find the smallest threshold at which a bound is at most a wanted number.

    Parameters
    ----------
    max_false : float
        Wanted bound on the expected number of false features.
    n_features, n_selected, n_pairs
        p, q and B, as in `unimodal`.
    bound : {"unimodal", "meinshausen-buehlmann", "r-concave"}
        Which bound.

    Returns
    -------
    float or None
        Share w/2B of the runs that must select a feature; None if not even features that all runs
        select keep the bound.

    Examples
    --------
    >>> from mainstay.reliability import bounds
    >>> bounds.smallest_threshold(max_false=1, n_features=1000, n_selected=50, n_pairs=50)
    0.91
    >>> bounds.smallest_threshold(max_false=0.01, n_features=1000, n_selected=50, n_pairs=50)
    """
    most = check_max_false(max_false)
    name = check_choice("bound", bound, BOUNDS)
    p = check_count("n_features", n_features, 1)
    B = check_count("n_pairs", n_pairs, 1)
    values = BOUNDS[name].by_count(p, check_selected(n_selected, p), B)
    kept = np.flatnonzero(values <= most * (1 + ROUNDING))
    return int(kept[0]) / (2 * B) if kept.size else None


def largest_selection(
    *,
    max_false: float,
    n_features: int,
    threshold: float,
    n_pairs: int,
    bound: str = "unimodal",
) -> int:
    """Find how many features a run may select for a bound to be at most a wanted number.

    Parameters
    ----------
    max_false : float
        Wanted bound on the expected number of false features.
    n_features, threshold, n_pairs
        p, τ and B, as in `unimodal`.
    bound : {"unimodal", "meinshausen-buehlmann", "r-concave"}
        Which bound.

    Returns
    -------
    int
        The largest whole q; 0 if not even one feature a run keeps the bound.

    Examples
    --------
    >>> from mainstay.reliability import bounds
    >>> bounds.largest_selection(max_false=1, n_features=1000, threshold=0.9, n_pairs=50)
    48
    """
    most = check_max_false(max_false)
    by_count = BOUNDS[check_choice("bound", bound, BOUNDS)].by_count
    p = check_count("n_features", n_features, 1)
    B = check_count("n_pairs", n_pairs, 1)
    w = smallest_count(threshold, B)
    kept, too_many = 0, p + 1
    while too_many - kept > 1:  # all bounds grow with q
        q = (kept + too_many) // 2
        within = by_count(p, q, B)[w] <= most * (1 + ROUNDING)
        kept, too_many = (q, too_many) if within else (kept, q)
    return kept


def check_max_false(max_false: Any) -> float:
    """Return the wanted number of false features as a float if it is above 0."""
    try:
        number = float(max_false)
    except (TypeError, ValueError):
        number = math.nan
    if not 0 < number < math.inf:
        raise InputError(
            f"max_false, the expected number of false features, must be a number above 0, got "
            f"{max_false!r}."
        )
    return number
