"""Agreement within pairs of one data set, and a cautious interval over data sets.

The spread over pairs of halves says how well *these* rows are known; the pairs share their rows,
so that another data set can turn out quite differently. Nadeau and Bengio (2003) take s·√(1/B + 1)
instead of s/√B for the mean over B splits into halves: a heuristic that needs no further runs and
is usually on the safe side. `mainstay.reliability.variance` estimates the variance over data sets
from disjoint parts of the rows, which is sharper and takes more runs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import stdtrit
from scipy.stats import hypergeom

from mainstay.measures import MEASURES


def chance_agreement(measure: Any, n_selected: float, n_features: int) -> tuple[float, float]:
    """Mean and standard deviation of the agreement of two random selections of n_selected features.

    Measures that count similar features as exchangeable get those of "kuncheva", to which they come
    down without such features. Functions, and measures of rankings and scores, whose values are not
    whole steps, get (0, 0).

    Examples
    --------
    >>> [round(value, 3) for value in chance_agreement("jaccard", 20, 1000)]
    [0.01, 0.016]
    """
    entry = None if callable(measure) else MEASURES.get(str(measure).partition("@")[0])
    if entry is None or entry.kind not in ("set", "similarity"):
        return 0.0, 0.0
    score = entry.pair_score or entry.equal_size_score or MEASURES["kuncheva"].pair_score
    assert score is not None
    k = min(max(1, round(n_selected)), n_features - 1)
    shared = np.arange(k + 1)
    probability = hypergeom(n_features, k, k).pmf(shared)
    values = np.nan_to_num(np.asarray(score(shared.astype(float), float(k), float(k), n_features)))
    mean = float(probability @ values)
    return mean, math.sqrt(float(probability @ (values - mean) ** 2))


def error_over_data_sets(
    value: float, spread: float, n_pairs: int, chance: tuple[float, float]
) -> float:
    """Standard error s·√(1/B + 1) of a mean over B pairs, as of a draw of the data set too.

    A few pairs that happen to agree equally, such as on nothing at all, have no spread; it counts
    as at least that of random selections, as far as the agreement leaves them room.
    """
    mean, least = chance
    room = min(max((1 - value) / (1 - mean), 0.0), 1.0) if mean < 1 else 0.0
    return max(spread, room * least) * math.sqrt(1 / n_pairs + 1)


def lowest_not_excluded(value: float, n_pairs: int, confidence: float) -> float:
    """Lower end that an interval reaches at least, however equal the pairs are.

    B pairs cannot exclude that a share ε of all pairs agrees on nothing, as long as
    (1 − ε)^B ≥ 1 − confidence: where all pairs agree fully, this is (1 − confidence)^(1/B).

    Examples
    --------
    >>> round(lowest_not_excluded(1.0, 10, 0.95), 3)
    0.741
    """
    return float((1 - confidence) ** (1 / n_pairs) * max(value, 0.0))


@dataclass(frozen=True, eq=False)
class PairAgreement:
    """Mean over pairs of the agreement of two disjoint halves; `float()` of it is that mean.

    Attributes
    ----------
    measure : str
        Name of the measure.
    pairs : numpy.ndarray
        Agreement of the two halves, for each of the pairs.
    chance : tuple of float
        Mean and standard deviation between random selections, see `chance_agreement`.
    confidence : float
        Level of the interval.

    Examples
    --------
    >>> import numpy as np
    >>> agreement = PairAgreement("nogueira", np.array([0.2, 0.3, 0.4]), (0.0, 0.05))
    >>> round(float(agreement), 2), round(agreement.standard_error, 3)
    (0.3, 0.115)
    """

    measure: str
    pairs: np.ndarray
    chance: tuple[float, float] = (0.0, 0.0)
    confidence: float = 0.95

    def __float__(self) -> float:
        return self.value

    @property
    def value(self) -> float:
        """Mean agreement; NaN where it is undefined in some pair."""
        return float(self.pairs.mean())

    @cached_property
    def standard_error(self) -> float:
        """Of two independent studies of half the size, over data sets: s·√(1/B + 1)."""
        spread = float(self.pairs.std(ddof=1))
        return error_over_data_sets(self.value, spread, len(self.pairs), self.chance)

    @property
    def interval(self) -> tuple[float, float]:
        """With the t quantile of B − 1 degrees of freedom, within the bounds of the measure.

        It reaches down to what B pairs cannot exclude, see `lowest_not_excluded`.
        """
        reach = float(stdtrit(len(self.pairs) - 1, (1 + self.confidence) / 2)) * self.standard_error
        entry = MEASURES.get(self.measure.partition("@")[0])
        low, high = (-math.inf, math.inf) if entry is None else entry.bounds
        open_end = lowest_not_excluded(self.value, len(self.pairs), self.confidence)
        lower = min(self.value - reach, open_end)
        return max(lower, low), min(self.value + reach, high)
