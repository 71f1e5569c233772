"""Bounds on the expected number of false features, from complementary pairs of runs.

`meinshausen_buehlmann`, `unimodal` and `r_concave` are functions of how many features there are,
how many a run selects, and how many runs must agree; `smallest_threshold` and `largest_selection`
turn them round; `select` applies one of them to runs made with `resampling="pairs"`. `ipss`
integrates over all numbers of features a run, or over a path of penalties.
"""

from mainstay.reliability.bounds.formulas import (
    BOUNDS,
    PairBound,
    meinshausen_buehlmann,
    r_concave,
    unimodal,
)
from mainstay.reliability.bounds.integrated_path import IntegratedPath, ipss
from mainstay.reliability.bounds.inverses import largest_selection, smallest_threshold
from mainstay.reliability.bounds.selection import BoundedSelection, select

__all__ = [
    "BOUNDS",
    "BoundedSelection",
    "IntegratedPath",
    "PairBound",
    "ipss",
    "largest_selection",
    "meinshausen_buehlmann",
    "r_concave",
    "select",
    "smallest_threshold",
    "unimodal",
]
