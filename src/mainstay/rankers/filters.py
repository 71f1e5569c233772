"""Filters that score every feature by itself, from its table of bins × classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mainstay._validation import InputError, check_choice
from mainstay._workspace import recycled
from mainstay.rankers.base import BlockScorer, DiscreteRanker, NamedRanker, with_options
from mainstay.rankers.contingency import (
    Cells,
    Statistics,
    pack,
    statistics_in_blocks,
    weight_blocks,
)
from mainstay.rankers.discretization import (
    Binning,
    Coded,
    checked_binning,
    discretize,
    with_old_names,
)
from mainstay.rankers.inputs import Table, read_target

Formula = Callable[[Statistics], np.ndarray]


def _ratio(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Quotient; 0 where the denominator is 0."""
    out = np.zeros(np.broadcast_shapes(numerator.shape, denominator.shape))
    np.divide(numerator, denominator, out=out, where=denominator > 0)
    return out


def _cramers_v(s: Statistics) -> np.ndarray:
    smaller = np.minimum(s.n_rows, s.n_columns) - 1
    return np.asarray(np.minimum(np.sqrt(_ratio(s.chi2, s.total * smaller)), 1))


# name → score from the entropies and chi-square of the table
FORMULAS: dict[str, Formula] = {
    "information_gain": lambda s: s.information,
    "symmetric_uncertainty": lambda s: np.where(
        s.information > 0, _ratio(2 * s.information, s.entropy_x + s.entropy_y), 0
    ),
    "gain_ratio": lambda s: _ratio(s.information, s.entropy_x),
    "chi_square": lambda s: s.chi2,
    "cramers_v": _cramers_v,
}
NEED_CHI2 = ("chi_square", "cramers_v")


class TableFilter(DiscreteRanker):
    """A filter whose score is a formula in the entropies and chi-square of bins × classes."""

    _formula: str
    scores_features_alone = True

    def __init__(
        self, *, binning: Binning | None = None, target: str = "auto", **old_names: Any
    ) -> None:
        self.binning = with_old_names(binning, old_names)
        self.target = target

    def _coded_scorer(self, coded: Coded, attributes: dict[str, Any]) -> BlockScorer:
        cells, formula = Cells.of(coded), FORMULAS[self._formula]
        with_chi2 = self._formula in NEED_CHI2

        def score(weights: np.ndarray) -> np.ndarray:
            out = recycled(len(weights), len(coded.names))
            blocks = statistics_in_blocks(coded, cells, pack(weights), with_chi2=with_chi2)
            for features, statistics in blocks:
                out[:, features] = formula(statistics)
            return out

        return score


_OPTIONS = """

    Parameters
    ----------
    binning : Binning, optional
        How columns and continuous targets are cut into bins, and what becomes of integers and of
        missing values; by default `Binning()`.
    target : {"auto", "class", "continuous"}
        Whether y holds classes or numbers. "auto" takes numbers with a fractional part, or over 20
        distinct ones with under 10 rows each, as continuous.
"""


@with_options(_OPTIONS)
class InformationGain(TableFilter):
    """Information gain (mutual information) of feature and target, in nats.

    IG = H(x) + H(y) − H(x, y). A constant feature scores 0.

    References
    ----------
    Quinlan, J. R. (1986). Induction of decision trees. Machine Learning 1, 81–106.

    Examples
    --------
    >>> from mainstay.rankers import InformationGain
    >>> ranker = InformationGain().fit([["a", 1], ["a", 2], ["b", 1], ["b", 2]], [0, 0, 1, 1])
    >>> ranker.scores_.round(4), ranker.ranks_
    (array([0.6931, 0.    ]), array([1., 2.]))
    """

    _formula = "information_gain"


@with_options(_OPTIONS)
class SymmetricUncertainty(TableFilter):
    """Information gain as a share of what there is to gain: between 0 and 1.

    SU = 2·IG / (H(x) + H(y)). A constant feature scores 0.

    References
    ----------
    Press, W. H. et al. (1988). Numerical Recipes in C, section 14.4.

    Examples
    --------
    >>> from mainstay.rankers import SymmetricUncertainty
    >>> SymmetricUncertainty().fit([["a"], ["a"], ["b"], ["b"]], [0, 0, 1, 1]).scores_
    array([1.])
    """

    _formula = "symmetric_uncertainty"


@with_options(_OPTIONS)
class GainRatio(TableFilter):
    """Information gain divided by the feature's own entropy.

    GR = IG / H(x). A constant feature scores 0.

    References
    ----------
    Quinlan, J. R. (1993). C4.5: Programs for Machine Learning. Morgan Kaufmann.

    Examples
    --------
    >>> from mainstay.rankers import GainRatio
    >>> GainRatio().fit([[1], [2], [3], [4]], ["n", "n", "y", "y"]).scores_
    array([0.5])
    """

    _formula = "gain_ratio"


@with_options(_OPTIONS)
class ChiSquare(TableFilter):
    """Pearson's chi-square statistic of the bins × classes table, no continuity correction.

    χ² = Σ (observed − expected)² / expected. Rows and columns that are empty in a resample are left
    out of it. (scikit-learn's `chi2` is another statistic.)

    References
    ----------
    Liu, H. and Setiono, R. (1995). Chi2: feature selection and discretization of numeric
    attributes. ICTAI, 388–391.

    Examples
    --------
    >>> from mainstay.rankers import ChiSquare
    >>> ChiSquare().fit([["a"], ["a"], ["b"], ["b"]], [0, 0, 1, 1]).scores_
    array([4.])
    """

    _formula = "chi_square"


@with_options(_OPTIONS)
class CramersV(TableFilter):
    """Chi-square put on a scale from 0 to 1, whatever the numbers of rows, bins and classes.

    V = √(χ² / (n·min(bins − 1, classes − 1))), counting bins and classes that are not empty.

    References
    ----------
    Cramér, H. (1946). Mathematical Methods of Statistics. Princeton University Press.

    Examples
    --------
    >>> from mainstay.rankers import CramersV
    >>> CramersV().fit([["a"], ["a"], ["b"], ["b"]], [0, 0, 1, 1]).scores_
    array([1.])
    """

    _formula = "cramers_v"


NAMED = {
    "information_gain": NamedRanker(InformationGain, "table", reference="Quinlan 1986"),
    "symmetric_uncertainty": NamedRanker(
        SymmetricUncertainty, "table", reference="Press et al. 1988"
    ),
    "gain_ratio": NamedRanker(GainRatio, "table", reference="Quinlan 1993"),
    "chi_square": NamedRanker(ChiSquare, "table", reference="Liu and Setiono 1995"),
    "cramers_v": NamedRanker(CramersV, "table", reference="Cramér 1946"),
}


def score_filters(
    X: Any,
    y: Any,
    weights: Any = None,
    filters: Sequence[str] = ("information_gain", "symmetric_uncertainty", "chi_square"),
    *,
    binning: Binning | None = None,
    target: str = "auto",
    **old_names: Any,
) -> dict[str, np.ndarray]:
    """Score several filters from the same counts, in many resamples at once.

    Parameters
    ----------
    X, y
        n × p features, and n classes or numbers.
    weights : array, B × n, optional
        Row weights of every resample; without them, one resample of all rows.
    filters : sequence of str
        Of information_gain, symmetric_uncertainty, gain_ratio, chi_square, cramers_v.
    binning, target
        As for `InformationGain`; `rebin` is not supported.
    **old_names
        Options of `Binning` by themselves; deprecated.

    Returns
    -------
    dict
        Filter name → B × p scores, equal to those of the filters' own `score_resamples`.

    Examples
    --------
    >>> from mainstay.rankers import score_filters
    >>> scores = score_filters([["a"], ["b"], ["b"]], [0, 1, 1], [[1, 1, 0], [1, 0, 1]])
    >>> scores["chi_square"].tolist()
    [[2.0], [2.0]]
    """
    if isinstance(filters, str):
        raise InputError(f"filters must be a list of names, such as [{filters!r}].")
    names = [check_choice("filter", name, FORMULAS) for name in filters]
    table = Table(X)
    options = checked_binning(with_old_names(binning, old_names))
    if options.rebin:
        raise InputError("score_filters counts once for all resamples; it cannot rebin.")
    coded = discretize(table, read_target(y, table.n_rows, target), options)
    cells = Cells.of(coded)
    if weights is None:
        weights = np.ones((1, table.n_rows), dtype=np.int64)
    out = {name: np.empty((len(weights), table.n_features)) for name in names}
    for rows, part in weight_blocks(weights, table.n_rows, DiscreteRanker._block):
        for features, statistics in statistics_in_blocks(coded, cells, pack(part)):
            for name in names:
                out[name][rows, features] = FORMULAS[name](statistics)
    return out
