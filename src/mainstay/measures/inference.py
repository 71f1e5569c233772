"""From scores to an estimate with its uncertainty."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from scipy.special import ndtri

from mainstay._notebook import card
from mainstay._validation import InputError, check_fraction
from mainstay.measures.intervals import (
    LEAST_RUNS,
    confidence_interval,
    jackknife_variance,
    least_agreement,
    sums_with_others,
    t_quantile,
    variance_over_runs,
)

if TYPE_CHECKING:
    import pandas as pd

    from mainstay.runs import Runs

Undefined = Literal["warn", "nan", "error"] | float


@dataclass(frozen=True)
class Scores:
    """What a measure computes: the score of every pair of runs, or one score of all runs.

    `leave_one_out[i]` is the score without run i, or without pair i where pairs are disjoint.
    `variance` is given where theory provides it. `agreement` holds m × m agreements of pairs of
    runs where the score is one of all runs: what their mean is to first order. `unlike` is the
    score of two runs that have nothing in common, where that is below 0; of rankings, of one and
    its reverse.
    """

    pairwise: np.ndarray | None = None
    joint: float = math.nan
    leave_one_out: np.ndarray | None = None
    variance: float | None = None
    agreement: np.ndarray | None = None
    unlike: float = 0.0
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
        Of `value`, over runs: as published (`nogueira`), or the jackknife; NaN for two runs.
    sampling_error : float
        The error that intervals and tests are built on: the jackknife, corrected for what it misses
        or counts twice in small samples. NaN for fewer than 5 runs.
    interval : (float, float)
        Confidence interval for the stability of independent runs, within the measure's range:
        Student's t, and room for selections that so few runs may not have shown; m identical runs
        give about (1 − confidence)^(2/m) to 1. Fewer than 5 runs have none, and `interval_note`
        says so. In simulation (`experiments/results/intervals.md`) 95% intervals covered the truth
        in 92.6% ± 1.2% of 500 repetitions in the worst of 255 cells. Runs on resamples of one data
        set are not independent: the interval is about runs on these rows, and too narrow for the
        agreement of other studies.
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
    sampling_error: float = math.nan

    def __float__(self) -> float:
        return self.value

    @classmethod
    def _from_parts(cls, parts: dict[str, Any]) -> Self:
        if "method" in parts:  # the name of the field in files written by mainstay 0.1
            parts["error_method"] = parts.pop("method")
        parts.setdefault("sampling_error", parts["standard_error"])
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

    @property
    def interval_note(self) -> str:
        """Why there is no interval; empty if there is one."""
        if not math.isnan(self.interval[0]):
            return ""
        if math.isnan(self.value):
            return "an interval needs a defined value"
        if self.n_runs < LEAST_RUNS:
            return f"an interval needs at least {LEAST_RUNS} runs"
        return f"an interval needs {LEAST_RUNS} runs or pairs, and a defined score without each"

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
        if not self.interval_note:
            low, high = self.interval
            text += f", {self.confidence:.0%} interval {low:.4g} to {high:.4g}"
        text += f" ({self.n_runs} runs × {self.n_features} features"
        if self.correction in ("exact", "estimate"):
            text += f"; corrected for chance: {self.correction}"
        if self.n_draws:
            text += (
                f", Monte Carlo error {self.chance_standard_error:.1g} from {self.n_draws} draws"
            )
        if self.interval_note and not math.isnan(self.value):
            text += f"; {self.interval_note}"
        return text + ")"

    def _repr_html_(self) -> str:
        return card("Stability", repr(self), self.to_frame().dropna(axis=1))


# ---------------------------------------------------------------------- estimates


def estimate(
    measure: str,
    scores: Scores,
    undefined: Undefined,
    confidence: float,
    shape: tuple[int, int],
    *,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> StabilityEstimate:
    """Average the scores, replace or report undefined ones, and add the uncertainty.

    `bounds` is the range of the scores.
    """
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
    jackknife = math.nan if math.isnan(value) else jackknife_variance(leave_one_out)
    variance = jackknife
    if scores.variance is not None and shape[0] > 2 and not math.isnan(value):
        variance = scores.variance
    of_chance = scores.chance_standard_error**2
    agreement = scores.agreement if pairwise is None else pairwise
    sampling_error, interval = _sampling_error_and_interval(
        value,
        jackknife + of_chance,
        agreement=None if scores.disjoint else agreement,
        unlike=scores.unlike,
        n=0 if leave_one_out is None else len(leave_one_out),
        n_runs=shape[0],
        confidence=confidence,
        bounds=bounds,
    )
    return StabilityEstimate(
        measure=measure,
        value=value,
        standard_error=math.sqrt(variance + of_chance),
        interval=interval,
        confidence=confidence,
        correction=scores.correction,
        n_runs=shape[0],
        n_features=shape[1],
        error_method="jackknife" if scores.variance is None else "analytic",
        chance_standard_error=scores.chance_standard_error,
        n_draws=scores.n_draws,
        pairwise=pairwise,
        leave_one_out=leave_one_out,
        details=scores.details,
        sampling_error=sampling_error,
    )


def _sampling_error_and_interval(
    value: float,
    variance: float,
    *,
    agreement: np.ndarray | None,
    unlike: float,
    n: int,
    confidence: float,
    **known: Any,
) -> tuple[float, tuple[float, float]]:
    """Error over runs, and the interval that goes with it; NaN from too few runs.

    Where all runs agree, or all pairs equally, nothing varied: the error is then what the interval
    at 95% leaves open.
    """
    if n < LEAST_RUNS or math.isnan(variance):
        return math.nan, (math.nan, math.nan)
    unlike *= max(value, 0.0)  # what is unlike runs that differ is less unlike each of them
    if agreement is not None:
        variance = variance_over_runs(variance, agreement)
        unlike = min(unlike, least_agreement(agreement))
    known["unlike"] = unlike
    error = math.sqrt(variance)
    interval = confidence_interval(value, error, n=n, confidence=confidence, **known)
    if error <= 1e-9 * max(1.0, abs(value)):
        low, high = confidence_interval(value, error, n=n, confidence=0.95, **known)
        error = max(value - low, high - value) / t_quantile(n - 1.0, 0.95)
    return error, interval


def nothing_shared(scores: np.ndarray) -> float:
    """Mean of what pairs of runs would score if they had nothing in common, at most 0."""
    defined = scores[~np.isnan(scores)]
    return min(0.0, float(defined.mean())) if len(defined) else 0.0


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
    if disjoint:
        used = np.zeros((m, m), dtype=bool)
        used[np.arange(0, m - 1, 2), np.arange(1, m, 2)] = True
        pairwise = np.where(used, pairwise, np.nan)
        missing = np.argwhere(np.isnan(pairwise) & used)
    else:
        pairwise = pairwise.astype(float)  # a copy
        np.fill_diagonal(pairwise, 0.0)
        missing = np.argwhere(np.isnan(pairwise))
        np.fill_diagonal(pairwise, np.nan)
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
    with_others = sums_with_others(pairwise)
    total = with_others.sum() / 2
    value = float(total / (m * (m - 1)))
    if m < 3:
        return value, None
    return value, (total - with_others) / ((m - 1) * (m - 2))


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


def frequency_interval(chosen: Runs, confidence: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Wilson intervals of the selection frequencies: what a finite number of runs leaves open.

    They are about the frequency that endlessly many such runs *on the same rows* would give, and
    say nothing about other data sets. The two runs of a pair are counted as one observation: given
    the rows, what one half shows too much the other shows too little, so that a feature without
    effect tends to be chosen in both halves (with opposite signs) or in neither. For features that
    are chosen in one half rather than both, the interval is then wider than it need be.

    Parameters
    ----------
    chosen : Runs
        Selections.
    confidence : float
        Level of the intervals.

    Examples
    --------
    >>> import mainstay as ms
    >>> runs = ms.Runs.from_sets([["a"], ["a"], ["b"], ["a"]], features=["a", "b"])
    >>> low, high = frequency_interval(runs)
    >>> low.round(2), high.round(2)
    (array([0.3 , 0.05]), array([0.95, 0.7 ]))
    >>> low, high = frequency_interval(runs.as_pairs())
    >>> low.round(2), high.round(2)
    (array([0.2 , 0.03]), array([0.97, 0.8 ]))
    """
    per_observation = 2 if chosen.paired else 1
    return wilson_interval(
        chosen.counts / per_observation, chosen.n_runs // per_observation, confidence
    )
