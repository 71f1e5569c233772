"""Tests of one stability, and of the difference of two."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtr

from mainstay._validation import InputError, check_choice, check_fraction
from mainstay.measures.inference import StabilityEstimate
from mainstay.measures.intervals import LEAST_RUNS, jackknife_variance, t_quantile

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class StabilityTest:
    """Test of one stability against a fixed value.

    Attributes
    ----------
    statistic : float
        (stability − value) / sampling error.
    p_value : float
        Probability of a statistic at least as extreme if the stability were `value`.
    """

    measure: str
    stability: float
    value: float
    statistic: float
    p_value: float
    alternative: str

    def to_frame(self) -> pd.DataFrame:
        """Return the test as a table of one row."""
        import pandas as pd

        return pd.DataFrame([asdict(self)])


@dataclass(frozen=True)
class StabilityComparison:
    """Difference of two stabilities, second minus first.

    Attributes
    ----------
    difference, standard_error : float
        Second minus first, and its standard error.
    interval : (float, float)
        Confidence interval of the difference.
    statistic, p_value : float
        Two-sided test of no difference, by Student's t.
    paired : bool
        Whether the two selectors were run on the same resamples.
    """

    measure: str
    difference: float
    standard_error: float
    interval: tuple[float, float]
    statistic: float
    p_value: float
    paired: bool
    confidence: float

    def to_frame(self) -> pd.DataFrame:
        """Return the comparison as a table of one row."""
        import pandas as pd

        row = asdict(self)
        row["lower"], row["upper"] = row.pop("interval")
        return pd.DataFrame([row])


def stability_test(
    stability: StabilityEstimate, value: float, *, alternative: str = "greater"
) -> StabilityTest:
    """Test whether a stability exceeds (or differs from, or falls below) a value.

    The statistic (stability − value) / sampling error is compared with Student's t with m − 1
    degrees of freedom. (Nogueira, Sechidis and Brown 2018, section 7.2, take their analytic error
    and the normal distribution, which from 5 runs reject a true hypothesis far too often.)

    The test is about runs like these. Runs on resamples of one data set share rows, and agree more
    than chance even where nothing relates features and target: a small p-value against 0 says that
    runs on *these rows* agree, not that other data would show the same features.

    Parameters
    ----------
    stability : StabilityEstimate
        What `ms.stability` returned for at least 5 runs.
    value : float
        The stability under the null hypothesis.
    alternative : {"greater", "less", "two-sided"}
        What is to be shown.

    Examples
    --------
    >>> import mainstay as ms
    >>> runs = ms.Runs.from_sets([[0, 1], [0, 1], [0, 2], [0, 1], [1, 2]], features=10)
    >>> result = ms.stability_test(ms.stability(runs), 0.2)
    >>> round(result.statistic, 2), round(result.p_value, 4)
    (1.75, 0.0779)
    """
    check_choice("alternative", alternative, ("greater", "less", "two-sided"))
    _check_estimate(stability)
    statistic = _standardised(stability.value - value, stability.sampling_error)
    return StabilityTest(
        stability.measure,
        stability.value,
        float(value),
        statistic,
        _p_value(statistic, _degrees(stability), alternative),
        alternative,
    )


def compare_stability(
    first: StabilityEstimate,
    second: StabilityEstimate,
    *,
    paired: bool = False,
    confidence: float = 0.95,
) -> StabilityComparison:
    """Compare the stabilities of two selectors.

    Unpaired, T = (second − first) / √(error₁² + error₂²) with the sampling errors of both and
    Welch's degrees of freedom. Paired, for selectors run on the same resamples in the same order,
    the jackknife leaves out the same resample in both and takes the variance of the *difference*:
    what both owe to the resample cancels out. What the jackknife misses in small samples is added
    for both. Either way 5 runs of each are needed.

    Examples
    --------
    >>> import mainstay as ms
    >>> a = ms.Runs.from_sets([[0, 1], [0, 2], [0, 3], [1, 2], [0, 1]], features=10)
    >>> b = ms.Runs.from_sets([[0, 1], [0, 1], [0, 3], [0, 1], [0, 1]], features=10)
    >>> result = ms.compare_stability(ms.stability(a), ms.stability(b), paired=True)
    >>> round(result.difference, 3), round(result.p_value, 2)
    (0.375, 0.15)
    """
    _check_estimate(first)
    _check_estimate(second)
    confidence = check_fraction("confidence", confidence, closed=False)
    if first.measure != second.measure or first.correction != second.correction:
        raise InputError(
            "two stabilities are comparable when they are of the same measure and correction; got "
            f"{first.measure!r} ({first.correction}) and {second.measure!r} ({second.correction})."
        )
    difference = second.value - first.value
    variance, degrees = _paired(first, second) if paired else _unpaired(first, second)
    error = math.sqrt(variance)
    statistic = _standardised(difference, error)
    reach = error * t_quantile(degrees, confidence)
    return StabilityComparison(
        first.measure,
        difference,
        error,
        (difference - reach, difference + reach),
        statistic,
        _p_value(statistic, degrees, "two-sided"),
        paired,
        confidence,
    )


def _paired(first: StabilityEstimate, second: StabilityEstimate) -> tuple[float, float]:
    """Variance of the difference on the same resamples, and its degrees of freedom."""
    one, two = first.leave_one_out, second.leave_one_out
    if one is None or two is None or len(one) != len(two):
        raise InputError(
            "a paired comparison needs the same number of runs on both sides; got "
            f"{first.n_runs} and {second.n_runs}."
        )
    missed = sum(
        side.sampling_error**2 - jackknife_variance(side.leave_one_out) for side in (first, second)
    )
    return jackknife_variance(two - one) + max(missed, 0.0), len(one) - 1.0


def _unpaired(first: StabilityEstimate, second: StabilityEstimate) -> tuple[float, float]:
    """Variance of the difference of independent runs, and Welch's degrees of freedom."""
    variances = np.array([first.sampling_error**2, second.sampling_error**2])
    degrees = np.array([_degrees(first), _degrees(second)])
    total = float(variances.sum())
    welch = total**2 / float((variances**2 / degrees).sum()) if total else degrees.min()
    return total, float(welch)


def _degrees(stability: StabilityEstimate) -> float:
    assert stability.leave_one_out is not None
    return len(stability.leave_one_out) - 1.0


def _check_estimate(stability: object) -> None:
    if not isinstance(stability, StabilityEstimate):
        raise InputError(
            f"expected what ms.stability(runs, ...) returns, got {type(stability).__name__}."
        )
    if math.isnan(stability.sampling_error):
        raise InputError(
            f"{stability.measure!r} cannot be tested here (value {stability.value:g}, "
            f"{stability.n_runs} runs); a test needs at least {LEAST_RUNS} runs, and a score that "
            "is defined with all of them and without each in turn."
        )


def _standardised(difference: float, error: float) -> float:
    if error > 0:
        return difference / error
    return math.copysign(math.inf, difference) if difference else 0.0


def _p_value(statistic: float, degrees: float, alternative: str) -> float:
    def tail(x: float) -> float:
        return float(stdtr(degrees, -x))

    if alternative == "two-sided":
        return 2 * tail(abs(statistic))
    return tail(statistic if alternative == "greater" else -statistic)
