"""The entry of a rule of aggregation: everything that is known of it, in one place."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a rule computes: scores, larger = better, and `tie_break`, which orders equal scores.

    p-values may cost far more than the order, so they are computed when they are first read.
    """

    scores: np.ndarray
    tie_break: np.ndarray | None = None
    p_values: Callable[[], np.ndarray] | None = None


@dataclass(frozen=True)
class Aggregation:
    """Everything that is known of a rule.

    Attributes
    ----------
    name : str
        The name to ask for.
    kind : {"scores", "ranks", "places", "selections", "order statistics"}
        What it reads, one row per run and NaN for no opinion: scores; ranks, 1 = best; credit for
        a place; selections, 1 or 0; ranks divided by the number of features.
    function : callable
        From what it reads (and the weights of the runs, unless `weights` is "no" or "whole") and
        its options to one score per feature, larger = better, or to an `Outcome`.
    reference : str
        Who proposed it.
    weights : {"yes", "no", "whole"}
        Whether runs may have weights; "whole": whole numbers only, a run repeated.
    options : tuple of str
        The keyword arguments that users may give.
    lowest : float
        The smallest value that it can read.
    mean_of : callable, optional
        The function of what it reads whose mean over the runs puts features in the same order.
        Forecasts of such rules are fast.
    on_ranks : str, optional
        For a rule of scores: the rule that stands in for it where runs hold ranks.
    """

    name: str
    kind: Literal["scores", "ranks", "places", "selections", "order statistics"]
    function: Callable[..., np.ndarray | Outcome]
    reference: str
    weights: Literal["yes", "no", "whole"] = "yes"
    options: tuple[str, ...] = ()
    lowest: float = -math.inf
    mean_of: Callable[[np.ndarray], np.ndarray] | None = None
    on_ranks: str | None = None
