"""Are two candidates really different? Paired tests over the shared splits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtr

from mainstay.measures.hypothesis_tests import compare_stability
from mainstay.measures.inference import StabilityEstimate
from mainstay.reliability.agreement import PairAgreement

if TYPE_CHECKING:
    import pandas as pd


def corrected_standard_error(values: np.ndarray, test_per_train: float) -> float:
    """Standard error of the mean of scores over splits that share rows.

    s·√(1/J + n_test/n_train) for J splits (Nadeau and Bengio 2003): splits of one data set
    overlap, so that s/√J alone would promise too much.

    Examples
    --------
    >>> import numpy as np
    >>> round(corrected_standard_error(np.array([0.8, 0.9, 0.85, 0.85]), 1.0), 4)
    0.0456
    """
    return float(np.std(values, ddof=1) * math.sqrt(1 / len(values) + test_per_train))


@dataclass(frozen=True)
class PairedTest:
    """Mean difference of scores on the same splits, its standard error, and a test that it is 0."""

    difference: float
    standard_error: float
    statistic: float
    p_value: float


def corrected_t_test(first: np.ndarray, second: np.ndarray, test_per_train: float) -> PairedTest:
    """Test two candidates' scores on the same splits: the corrected resampled t-test.

    t = mean(second − first) / (s·√(1/J + n_test/n_train)), with J − 1 degrees of freedom.

    References
    ----------
    Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52,
    239–281.

    Examples
    --------
    >>> import numpy as np
    >>> a, b = np.array([0.8, 0.9, 0.85, 0.85]), np.array([0.9, 0.92, 0.9, 0.93])
    >>> test = corrected_t_test(a, b, 0.25)
    >>> round(test.difference, 4), round(test.p_value, 3)
    (0.0625, 0.086)
    """
    differences = np.asarray(second) - np.asarray(first)
    error = corrected_standard_error(differences, test_per_train)
    return _t_test(float(differences.mean()), error, len(differences))


def against_random_features(
    random: np.ndarray, candidate: np.ndarray, test_per_train: float
) -> PairedTest:
    """Test a candidate's scores against those of random features, drawn anew for every split.

    The candidate's scores share rows, so that their mean has the corrected standard error. What
    random features reach depends above all on the draw, and draws are independent: their mean has
    the standard error s/√J. (In the corrected paired test a lucky draw or two would hide any
    difference.)

    Examples
    --------
    >>> import numpy as np
    >>> random, candidate = np.array([0.5, 0.9, 0.5, 0.5]), np.array([0.9, 0.95, 0.9, 0.95])
    >>> test = against_random_features(random, candidate, 1.0)
    >>> round(test.difference, 4), round(test.p_value, 3)
    (0.325, 0.054)
    """
    own = corrected_standard_error(candidate, test_per_train)
    error = math.hypot(own, float(np.std(random, ddof=1)) / math.sqrt(len(random)))
    return _t_test(float(np.mean(candidate) - np.mean(random)), error, len(candidate))


def _t_test(mean: float, error: float, n_splits: int) -> PairedTest:
    statistic = _ratio(mean, error)
    return PairedTest(mean, error, statistic, 2 * float(stdtr(n_splits - 1.0, -abs(statistic))))


def holm(p_values: Any) -> np.ndarray:
    """Correct p-values for their number, step by step from the smallest (Holm 1979).

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    given = np.asarray(p_values, dtype=float)
    order = np.argsort(given, kind="stable")
    stepped = np.maximum.accumulate(given[order] * np.arange(len(given), 0, -1))
    corrected = np.empty(len(given))
    corrected[order] = np.minimum(stepped, 1.0)
    return corrected


def neighbour_tests(
    front: Sequence[str],
    scores: Mapping[str, np.ndarray],
    estimates: Mapping[str, StabilityEstimate | PairAgreement],
    test_per_train: float,
) -> pd.DataFrame:
    """Test each candidate of a front against the next, in score and in stability."""
    import pandas as pd

    rows = []
    for first, second in pairwise(front):
        pair = {"first": first, "second": second}
        score = corrected_t_test(scores[first], scores[second], test_per_train)
        stability = _stability_test(estimates[first], estimates[second])
        rows += [{**pair, "criterion": "score", **vars(score)},
                 {**pair, "criterion": "stability", **vars(stability)}]  # fmt: skip
    columns = ["first", "second", "criterion", *PairedTest.__dataclass_fields__]
    table = pd.DataFrame(rows, columns=columns)
    return table.assign(p_holm=holm(table["p_value"]))


def _stability_test(
    first: StabilityEstimate | PairAgreement, second: StabilityEstimate | PairAgreement
) -> PairedTest:
    if isinstance(first, PairAgreement) and isinstance(second, PairAgreement):
        return corrected_t_test(first.pairs, second.pairs, 1.0)  # halves are of equal size
    assert isinstance(first, StabilityEstimate)
    assert isinstance(second, StabilityEstimate)
    if first.interval_note or second.interval_note:  # too few splits for a test
        return PairedTest(second.value - first.value, math.nan, math.nan, math.nan)
    test = compare_stability(first, second, paired=True)
    return PairedTest(test.difference, test.standard_error, test.statistic, test.p_value)


def _ratio(mean: float, error: float) -> float:
    if error > 0:
        return mean / error
    return math.copysign(math.inf, mean) if mean else 0.0
