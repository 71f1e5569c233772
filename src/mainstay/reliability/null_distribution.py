"""p-values and q-values of statistics, from the same statistics under permuted targets.

Everything here is arrays: `observed` holds one statistic per feature (larger = stronger), `null`
the same statistics for every permuted target, permutations × features.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_ALIKE = 0.3  # null means this much of a standard deviation apart, or sds 30%, still count as alike
_SMALLEST_SD = 0.1  # of the median sd; a feature that hardly varies under the null is not infinite


def exact_p_values(observed: np.ndarray, null: np.ndarray) -> np.ndarray:
    """Per feature, (1 + #{null ≥ observed}) / (1 + permutations): compared with itself only.

    Examples
    --------
    >>> exact_p_values(np.array([3.0, 0.0]), np.array([[1.0, 0.0], [2.0, 1.0], [4.0, -1.0]]))
    array([0.5 , 0.75])
    """
    return np.asarray((1 + (null >= observed).sum(axis=0)) / (1 + len(null)))


def family_wise_p_values(observed: np.ndarray, null: np.ndarray) -> np.ndarray:
    """Per feature, how often the largest statistic of a permuted target reaches it (max-T).

    References
    ----------
    Westfall, P. H. and Young, S. S. (1993). Resampling-Based Multiple Testing. Wiley.
    """
    largest = np.sort(null.max(axis=1))
    reached = len(largest) - np.searchsorted(largest, observed, side="left")
    return np.asarray((1 + reached) / (1 + len(null)))


def expected_false(observed: np.ndarray, null: np.ndarray) -> np.ndarray:
    """How many features noise would put at or above each observed statistic, on average.

    #{all targets, the real one included: statistics ≥ t} / (1 + permutations): the expected number
    of false features if all features at least as strong as this one were named. If no feature has
    to do with the target, at most E features on average have a value of at most E, however features
    depend on each other and however different their null distributions are: of all statistics of
    the 1 + permutations targets, at most E·(1 + permutations) have one, and the real target is as
    good as any.
    """
    everything = np.sort(np.concatenate([null.ravel(), observed]))
    reached = len(everything) - np.searchsorted(everything, observed, side="left")
    return np.asarray(reached / (1 + len(null)))


def q_values(observed: np.ndarray, null: np.ndarray) -> np.ndarray:
    """Estimated false discovery rate of the shortest list, from the top, that holds each feature.

    min over t ≤ T_j of (mean over permutations of #{T* ≥ t} + 1/permutations) / #{T ≥ t}.

    References
    ----------
    Storey, J. D. and Tibshirani, R. (2003). Statistical significance for genomewide studies. PNAS
    100, 9440–9445.

    Examples
    --------
    >>> null = np.array([[0.0, 1.0, 2.0, 0.5]] * 10)
    >>> q_values(np.array([9.0, 8.0, 2.0, 0.1]), null).round(3)
    array([0.05 , 0.05 , 0.367, 0.775])
    """
    order = np.argsort(-observed, kind="stable")
    falling = observed[order]
    named = np.searchsorted(-falling, -falling, side="right")  # ties are named together
    pooled = np.sort(null, axis=None)
    reached = len(pooled) - np.searchsorted(pooled, falling, side="left")
    rate = (reached + 1) / len(null) / named
    monotone = np.minimum.accumulate(rate[::-1])[::-1]
    out = np.empty_like(monotone)
    out[order] = np.minimum(monotone, 1.0)
    return out


def list_p_value(observed: np.ndarray, null: np.ndarray) -> float:
    """Is there anything at all? Exact p-value of the smallest q-value in the list.

    Every target, the real one and the permuted ones, gets the smallest value over r of
    (mean number of statistics above its r-th best, over all targets)/r. The rank of the real
    target's among all is an exact test that no feature has to do with the target: it sees one
    strong feature as well as many weak ones.
    """
    from mainstay._kernels.permutations import smallest_rates

    rising = np.sort(np.vstack([observed, null]), axis=1)
    smallest = smallest_rates(rising, np.sort(rising, axis=None))
    return float((smallest <= smallest[0]).mean())


@dataclass(frozen=True)
class Heterogeneity:
    """How different the null distributions of the features are, beyond what luck makes them.

    Attributes
    ----------
    location : float
        Spread of the features' null means, in typical null standard deviations.
    scale : float
        Spread of the logarithms of their null standard deviations.
    """

    location: float
    scale: float

    @classmethod
    def of(cls, null: np.ndarray) -> Heterogeneity:
        """Measure it as what two halves of the permutations say alike of the features."""
        if len(null) < 8 or null.shape[1] < 2:
            return cls(0.0, 0.0)
        halves = null[0::2], null[1::2]
        means = [half.mean(axis=0) for half in halves]
        sds = [half.std(axis=0, ddof=1) for half in halves]
        typical = float(np.median(null.std(axis=0, ddof=1)))
        if typical == 0:
            return cls(0.0, 0.0)
        logs = [np.log(np.maximum(sd, _SMALLEST_SD * typical)) for sd in sds]
        return cls(_shared_spread(*means) / typical, _shared_spread(*logs))

    @property
    def alike(self) -> bool:
        """Whether features can be compared with each other's null distributions as they are."""
        return self.location <= _ALIKE and self.scale <= _ALIKE


def _shared_spread(a: np.ndarray, b: np.ndarray) -> float:
    covariance = float(np.mean((a - a.mean()) * (b - b.mean())))
    return float(np.sqrt(max(covariance, 0.0)))


def standardised(observed: np.ndarray, null: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Put every feature on the scale of its own null distribution.

    The statistics of every target, the real one and the permuted ones alike, are measured from the
    mean of the other targets' in units of their standard deviation. Where no feature has to do with
    the target, all targets stay exchangeable.

    A standard deviation from few permutations is itself uncertain, and dividing by it costs power.
    So logarithms of standard deviations are drawn towards their mean over the features, as far as
    their differences are what luck alone would give.
    """
    everything = _without_each(np.vstack([observed, null]))
    return everything[0], everything[1:]


def _without_each(values: np.ndarray) -> np.ndarray:
    """Standardise every row by mean and standard deviation of the other rows."""
    n = len(values) - 1
    centre = values.mean(axis=0)  # sums of squares around it lose no digits
    offset = values - centre
    mean = (offset.sum(axis=0) - offset) / n
    variance = ((offset**2).sum(axis=0) - offset**2 - n * mean**2) / (n - 1)
    log_sd = np.log(_bounded_sd(np.sqrt(np.maximum(variance, 0))))
    own = _share_beyond_luck(offset)
    drawn = own * log_sd + (1 - own) * log_sd.mean(axis=1, keepdims=True)
    return np.asarray((offset - mean) / np.exp(drawn))


def _share_beyond_luck(offset: np.ndarray) -> float:
    """How much of the variance of the features' log standard deviations is not sampling error.

    The log standard deviation of n values with kurtosis κ has variance (κ − 1)/(4n). All rows
    count alike, so that they stay exchangeable.
    """
    square = (offset**2).mean(axis=0)
    varies = square > 0
    if varies.sum() < 2:
        return 1.0
    spread = float(np.log(_bounded_sd(np.sqrt(square))).var(ddof=1))
    kurtosis = (offset[:, varies] ** 4).mean(axis=0) / square[varies] ** 2
    luck = float((kurtosis - 1).mean()) / (4 * len(offset))
    return max(0.0, 1 - luck / spread) if spread > 0 else 0.0


def _bounded_sd(sd: np.ndarray) -> np.ndarray:
    """Standard deviations of at least a tenth of the median one."""
    typical = float(np.median(sd))
    return np.asarray(np.maximum(sd, _SMALLEST_SD * typical if typical > 0 else 1.0))


def comparable(observed: np.ndarray, null: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
    """Statistics that can be compared between features, and whether they had to be standardised."""
    if Heterogeneity.of(null).alike:
        return observed, null, False
    return *standardised(observed, null), True
