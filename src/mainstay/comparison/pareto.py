"""What no other candidate beats in everything, and which of these to take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

CRITERIA = ("score", "stability", "size")


def pareto_front(values: Any) -> np.ndarray:
    """Tell which points no other point dominates.

    A point dominates another if it is at least as good in every criterion and better in one.
    Points that are equal in everything do not dominate each other. A point with a NaN cannot be
    compared: it is not on the front and dominates nothing.

    Parameters
    ----------
    values : array of shape (n, criteria)
        Larger = better; negate what should be small.

    Returns
    -------
    numpy.ndarray of bool
        Whether each point is on the front.

    Examples
    --------
    >>> from mainstay.comparison import pareto_front
    >>> pareto_front([[0.9, -10], [0.8, -5], [0.8, -20], [0.9, -10]])
    array([ True,  True, False,  True])
    """
    points = np.asarray(values, dtype=float)
    complete = ~np.isnan(points).any(axis=1)
    front: np.ndarray = complete.copy()
    for i in np.flatnonzero(complete):
        no_worse = (points >= points[i]).all(axis=1)
        better = (points > points[i]).any(axis=1)
        front[i] = not (no_worse & better).any()
    return front


@dataclass(frozen=True)
class Step:
    """One criterion of a choice: the best that was left, and how many are as good as that.

    Attributes
    ----------
    criterion : str
        "score", "stability" or "size".
    best : int
        Position of the best candidate that was left.
    reach : float
        How far below the best still counts as equally good.
    kept : int
        How many candidates are left after this step.
    """

    criterion: str
    best: int
    reach: float
    kept: int


def choose(
    values: Mapping[str, np.ndarray],
    errors: Mapping[str, np.ndarray],
    allowed: np.ndarray,
    priorities: Sequence[str] = CRITERIA,
    tolerance: float = 1.0,
) -> tuple[int, list[Step]]:
    """Take the criteria one after the other; keep what is as good as the best within its error.

    What is left in the end is put in order by the last criterion, then the others, from the most
    to the least important. A candidate that dominates another passes wherever the other passes
    and comes first in the end, so that the choice is always on the Pareto front.

    Parameters
    ----------
    values, errors : mapping of criterion to array
        Larger = better, and its standard error (0 where it is known exactly, as a number of
        features is; NaN, for too few runs to tell, counts as 0).
    allowed : array of bool
        Candidates that may be chosen; at least one, with complete values.
    priorities : sequence of str
        The criteria, most important first.
    tolerance : float
        How many standard errors of the best are no difference.
    """
    left = np.flatnonzero(allowed)
    steps = []
    for criterion in priorities:
        value = values[criterion][left]
        best = int(left[np.argmax(value)])
        reach = tolerance * float(np.nan_to_num(errors[criterion][best]))
        left = left[value >= values[criterion][best] - reach]
        steps.append(Step(criterion, best, reach, len(left)))
    *first, last = priorities
    order = np.lexsort([-values[criterion][left] for criterion in reversed([last, *first])])
    return int(left[order[0]]), steps
