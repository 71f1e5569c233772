"""From scores to an estimate: standard errors, intervals and tests."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from mainstay._validation import InputError, check_choice, check_fraction

if TYPE_CHECKING:
    import pandas as pd

Undefined = Literal["warn", "nan", "error"] | float


@dataclass(frozen=True)
class Scores:
    """What a measure computes: the score of every pair of runs, or one score of all runs.

    `leave_one_out[i]` is the score without run i, or without pair i where pairs are disjoint.
    `variance` is given where theory provides it.
    """

    pairwise: np.ndarray | None = None
    joint: float = math.nan
    leave_one_out: np.ndarray | None = None
    variance: float | None = None
    correction: str = "none"
    disjoint: bool = False
    chance_standard_error: float = 0.0
    n_draws: int = 0
    details: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class StabilityEstimate:
    """A stability value with its uncertainty; `float(estimate)` is the value.

    Attributes
    ----------
    measure : str
        Name of the measure.
    value : float
        The stability; larger = more stable.
    standard_error : float
        Of `value`, over runs; NaN when there are too few runs (2) to tell.
    interval : (float, float)
        Confidence interval: normal with the analytic variance (`nogueira`), Student's t with the
        jackknife. It is not cut off at the measure's bounds. Runs on overlapping resamples of one
        data set are not independent, which makes any such interval too narrow for the
        stability on new data.
    confidence : float
        Level of the interval.
    correction : str
        "none", "exact", "estimate", or "by definition" for measures that are corrected as such.
    chance_standard_error : float
        Part of `standard_error` that comes from simulating chance; 0 when nothing was simulated.
    n_draws : int
        Number of simulated draws.
    pairwise : numpy.ndarray or None
        m × m scores of pairs of runs (NaN on the diagonal), where the measure has them.
    leave_one_out : numpy.ndarray or None
        The value without each run in turn.
    n_runs, n_features : int
        What it was computed from.
    error_method : {"analytic", "jackknife"}
        Where the standard error comes from.
    details : mapping
        Further numbers of some measures, such as `canberra_distance`.
    """

    measure: str
    value: float
    standard_error: float
    interval: tuple[float, float]
    confidence: float
    correction: str
    n_runs: int
    n_features: int
    error_method: str
    chance_standard_error: float = 0.0
    n_draws: int = 0
    pairwise: np.ndarray | None = None
    leave_one_out: np.ndarray | None = None
    details: Mapping[str, float] = field(default_factory=dict)

    def __float__(self) -> float:
        return self.value

    @classmethod
    def _from_parts(cls, parts: dict[str, Any]) -> Self:
        if "method" in parts:  # the name of the field in files written by mainstay 0.1
            parts["error_method"] = parts.pop("method")
        return cls(**parts)

    @property
    def method(self) -> str:
        """Deprecated name of `error_method`."""
        warnings.warn(
            "StabilityEstimate.method is now error_method; the old name goes in mainstay 0.3.",
            FutureWarning,
            stacklevel=2,
        )
        return self.error_method

    @property
    def canberra_distance(self) -> float:
        """Mean Canberra distance of the rankings (measure "canberra" only)."""
        if "canberra_distance" not in self.details:
            raise AttributeError(f"{self.measure!r} has no Canberra distance; 'canberra' has.")
        return self.details["canberra_distance"]

    def to_frame(self) -> pd.DataFrame:
        """Return the estimate as a table of one row."""
        import pandas as pd

        row = {
            "measure": self.measure,
            "value": self.value,
            "standard_error": self.standard_error,
            "lower": self.interval[0],
            "upper": self.interval[1],
            "confidence": self.confidence,
            "correction": self.correction,
            "chance_standard_error": self.chance_standard_error,
            "n_runs": self.n_runs,
            "n_features": self.n_features,
        }
        return pd.DataFrame([row])

    def __repr__(self) -> str:
        text = f"{self.measure}: {self.value:.4g}"
        if math.isfinite(self.standard_error):
            low, high = self.interval
            text += f", {self.confidence:.0%} interval {low:.4g} to {high:.4g}"
        text += f" ({self.n_runs} runs × {self.n_features} features"
        if self.correction in ("exact", "estimate"):
            text += f"; corrected for chance: {self.correction}"
        if self.n_draws:
            text += (
                f", Monte Carlo error {self.chance_standard_error:.1g} from {self.n_draws} draws"
            )
        return text + ")"


# ---------------------------------------------------------------------- estimates


def estimate(
    measure: str, scores: Scores, undefined: Undefined, confidence: float, shape: tuple[int, int]
) -> StabilityEstimate:
    """Average the scores, replace or report undefined ones, and add the uncertainty."""
    confidence = check_fraction("confidence", confidence, closed=False)
    pairwise, leave_one_out, value = scores.pairwise, scores.leave_one_out, scores.joint
    if pairwise is not None:
        pairwise = _defined_pairs(measure, pairwise, undefined, scores.disjoint)
        value, leave_one_out = _average_pairs(pairwise, scores.disjoint)
    elif math.isnan(value):
        what = f"{measure!r} is undefined for these runs (0/0)"
        value = _replacement(undefined, what, stacklevel=4)
        if leave_one_out is not None and not isinstance(undefined, str):
            leave_one_out = np.nan_to_num(leave_one_out, nan=float(undefined))
    variance, degrees = scores.variance, math.inf
    error_method = "analytic"
    if variance is None:
        error_method = "jackknife"
        variance, degrees = _jackknife_variance(leave_one_out)
    error = math.sqrt(variance + scores.chance_standard_error**2) if variance >= 0 else math.nan
    if math.isnan(value):
        error = math.nan
    return StabilityEstimate(
        measure=measure,
        value=value,
        standard_error=error,
        interval=_interval(value, error, confidence, degrees),
        confidence=confidence,
        correction=scores.correction,
        n_runs=shape[0],
        n_features=shape[1],
        error_method=error_method,
        chance_standard_error=scores.chance_standard_error,
        n_draws=scores.n_draws,
        pairwise=pairwise,
        leave_one_out=leave_one_out,
        details=scores.details,
    )


def check_undefined(undefined: object) -> Undefined:
    """Return a valid `undefined=` argument."""
    if isinstance(undefined, int | float | np.number) and math.isfinite(undefined):
        return float(undefined)
    if undefined in ("warn", "nan", "error"):
        return undefined
    raise InputError(
        f"undefined must be 'warn', 'nan', 'error' or a number that replaces undefined scores, "
        f"got {undefined!r}."
    )


def _replacement(undefined: Undefined, what: str, *, stacklevel: int) -> float:
    """Return the number that stands in for an undefined score; warn or raise if asked to."""
    if not isinstance(undefined, str):
        return float(undefined)
    remedy = "undefined=0 (or another number; --undefined 0) replaces it, or use another measure"
    if undefined == "error":
        raise InputError(f"{what}: {remedy}.")
    if undefined == "warn":
        warnings.warn(f"{what}, so the result is NaN: {remedy}.", stacklevel=stacklevel)
    return math.nan


def _defined_pairs(
    measure: str, pairwise: np.ndarray, undefined: Undefined, disjoint: bool
) -> np.ndarray:
    m = len(pairwise)
    used = ~np.eye(m, dtype=bool)
    if disjoint:
        used = np.zeros((m, m), dtype=bool)
        used[np.arange(0, m - 1, 2), np.arange(1, m, 2)] = True
    pairwise = np.where(used, pairwise, np.nan)
    missing = np.argwhere(np.isnan(pairwise) & used)
    if missing.size:
        i, j = missing[0]
        number = len({(min(pair), max(pair)) for pair in missing.tolist()})
        what = f"{measure!r} is undefined (0/0) for {number} pair(s) of runs, first {i} and {j}"
        pairwise[tuple(missing.T)] = _replacement(undefined, what, stacklevel=5)
    return pairwise


def _average_pairs(pairwise: np.ndarray, disjoint: bool) -> tuple[float, np.ndarray | None]:
    """Mean over (ordered) pairs, and the same without each run in turn."""
    m = len(pairwise)
    if disjoint:
        values = pairwise[np.arange(0, m - 1, 2), np.arange(1, m, 2)]
        n = len(values)
        without = (values.sum() - values) / (n - 1) if n > 1 else None
        return float(values.mean()), without
    filled = pairwise.copy()
    np.fill_diagonal(filled, 0.0)
    total = filled.sum()
    value = float(total / (m * (m - 1)))
    if m < 3:
        return value, None
    return value, (total - filled.sum(axis=0) - filled.sum(axis=1)) / ((m - 1) * (m - 2))


def _jackknife_variance(leave_one_out: np.ndarray | None) -> tuple[float, float]:
    """Delete-one jackknife variance (n−1)/n Σ(θ_i − mean θ)², and its degrees of freedom."""
    if leave_one_out is None or len(leave_one_out) < 2 or np.isnan(leave_one_out).any():
        return math.nan, math.nan
    n = len(leave_one_out)
    centred = leave_one_out - leave_one_out.mean()
    return float((n - 1) / n * (centred @ centred)), n - 1.0


def _interval(value: float, error: float, confidence: float, degrees: float) -> tuple[float, float]:
    if math.isnan(error):
        return math.nan, math.nan
    tail = (1 + confidence) / 2
    reach = error * float(ndtri(tail) if math.isinf(degrees) else stdtrit(degrees, tail))
    return value - reach, value + reach


def wilson_interval(
    successes: np.ndarray, n: int, confidence: float = 0.95
) -> tuple[np.ndarray, np.ndarray]:
    """Score interval of Wilson (1927) for frequencies, which stays inside [0, 1].

    Examples
    --------
    >>> low, high = wilson_interval(np.array([0, 96]), 100)
    >>> low.round(3), high.round(3)
    (array([0.   , 0.902]), array([0.037, 0.984]))
    """
    z = float(ndtri((1 + confidence) / 2))
    share = np.asarray(successes) / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return np.clip(centre - reach, 0, 1), np.clip(centre + reach, 0, 1)


# ---------------------------------------------------------------------- tests


@dataclass(frozen=True)
class StabilityTest:
    """Test of one stability against a fixed value.

    Attributes
    ----------
    statistic : float
        (stability − value) / standard error.
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
        Two-sided test of no difference.
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

    The statistic (stability − value) / standard error is compared with the normal distribution for
    the analytic standard error of `nogueira` (Nogueira, Sechidis and Brown 2018, section 7.2), with
    Student's t for the jackknife.

    Parameters
    ----------
    stability : StabilityEstimate
        What `ms.stability` returned.
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
    (3.31, 0.0005)
    """
    check_choice("alternative", alternative, ("greater", "less", "two-sided"))
    _check_estimate(stability)
    statistic = _standardised(stability.value - value, stability.standard_error)
    degrees = math.inf if stability.error_method == "analytic" else stability.n_runs - 1.0
    return StabilityTest(
        stability.measure,
        stability.value,
        float(value),
        statistic,
        _p_value(statistic, degrees, alternative),
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

    Unpaired, T = (second − first) / √(se₁² + se₂²) (Nogueira, Sechidis and Brown 2018, section
    7.3). Paired, for selectors run on the same resamples in the same order, the jackknife leaves
    out the same resample in both and takes the variance of the *difference*: what both owe to the
    resample cancels out.

    Examples
    --------
    >>> import mainstay as ms
    >>> a = ms.Runs.from_sets([[0, 1], [0, 2], [0, 3], [1, 2]], features=10)
    >>> b = ms.Runs.from_sets([[0, 1], [0, 1], [0, 3], [0, 1]], features=10)
    >>> result = ms.compare_stability(ms.stability(a), ms.stability(b), paired=True)
    >>> round(result.difference, 3), round(result.p_value, 2)
    (0.417, 0.2)
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
    degrees = math.inf
    if paired:
        one, two = first.leave_one_out, second.leave_one_out
        if one is None or two is None or len(one) != len(two):
            raise InputError(
                "a paired comparison needs the same number of runs, at least 3, on both sides; got "
                f"{first.n_runs} and {second.n_runs}."
            )
        variance, degrees = _jackknife_variance(two - one)
        variance += first.chance_standard_error**2 + second.chance_standard_error**2
    else:
        variance = first.standard_error**2 + second.standard_error**2
        if "jackknife" in (first.error_method, second.error_method):
            degrees = min(first.n_runs, second.n_runs) - 1.0
    error = math.sqrt(variance)
    statistic = _standardised(difference, error)
    return StabilityComparison(
        first.measure,
        difference,
        error,
        _interval(difference, error, confidence, degrees),
        statistic,
        _p_value(statistic, degrees, "two-sided"),
        paired,
        confidence,
    )


def _check_estimate(stability: object) -> None:
    if not isinstance(stability, StabilityEstimate):
        raise InputError(
            f"expected what ms.stability(runs, ...) returns, got {type(stability).__name__}."
        )
    if math.isnan(stability.standard_error):
        raise InputError(
            f"{stability.measure!r} has no standard error here (value {stability.value:g}, "
            f"{stability.n_runs} runs), so it cannot be tested; a test needs a defined value and "
            "at least 3 runs."
        )


def _standardised(difference: float, error: float) -> float:
    if error > 0:
        return difference / error
    return math.copysign(math.inf, difference) if difference else math.nan


def _p_value(statistic: float, degrees: float, alternative: str) -> float:
    def tail(x: float) -> float:
        return float(ndtr(-x) if math.isinf(degrees) else stdtr(degrees, -x))

    if alternative == "two-sided":
        return 2 * tail(abs(statistic))
    return tail(statistic if alternative == "greater" else -statistic)
