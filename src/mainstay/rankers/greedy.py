"""Greedy rankings: MRMR and its relatives. One engine, one criterion each.

The best feature by information with the target comes first; then, step by step, the one with the
best criterion given those already chosen. Ties go to the first in the natural order of the feature
names (x2 before x10), which is the order of the columns for default names, so that shuffling
columns with their names changes nothing. Features that are constant in a resample come last.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from mainstay._validation import InputError, check_choice, check_count, natural_order
from mainstay.rankers._greedy_engine import (
    CRITERIA,
    Groups,
    InformationTerms,
    MomentTerms,
    Selection,
    lanes_that_fit,
    select,
)
from mainstay.rankers._greedy_wide import WideTable, is_wide
from mainstay.rankers.base import (
    BlockScorer,
    DiscreteRanker,
    ForTarget,
    NamedRanker,
    with_options,
)
from mainstay.rankers.contingency import Cells, are_whole, pack, weight_blocks
from mainstay.rankers.discretization import Binning, Coded, with_old_names
from mainstay.rankers.inputs import Table, read_target
from mainstay.rankers.moments import Moments

SCORES = ("rank", "criterion")
REST = ("tie", "criterion")
METHODS = ("MID", "MIQ", "FCD", "FCQ")


class _Greedy(DiscreteRanker):
    """A greedy ranker; `_criterion` names its entry in CRITERIA."""

    _criterion: str

    def __init__(
        self,
        *,
        n_features_to_select: int | str | None = "auto",
        rest: str = "tie",
        scores: str = "rank",
        binning: Binning | None = None,
        target: str = "auto",
        **old_names: Any,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.rest = rest
        self.scores = scores
        self.binning = with_old_names(binning, old_names)
        self.target = target

    def _n_to_select(self, p: int) -> int:
        check_choice("scores", self.scores, SCORES)
        check_choice("rest", self.rest, REST)
        if self.n_features_to_select is None or isinstance(self.n_features_to_select, str):
            check_choice("n_features_to_select", self.n_features_to_select or "auto", ("auto",))
            return p
        if self.scores == "criterion":
            raise InputError(
                "scores='criterion' needs a criterion for every feature; leave out "
                "n_features_to_select, or use scores='rank'."
            )
        return check_count("n_features_to_select", self.n_features_to_select, 1, p)

    def _coded_scorer(self, coded: Coded, attributes: dict[str, Any]) -> BlockScorer:
        order = natural_order(coded.names)
        names = tuple(coded.names[j] for j in order)
        codes = np.ascontiguousarray(coded.codes[order])
        coded = Coded(names, codes, coded.n_bins[order], coded.classes, coded.n_classes, ())
        cells = Cells.of(coded)
        groups: dict[int, Groups] = {}
        k, criterion = self._n_to_select(len(names)), CRITERIA[self._criterion_name()]
        most = lanes_that_fit(len(names), k, criterion.with_class)

        wide = WideTable(coded, cells, criterion, k)

        def score(weights: np.ndarray) -> np.ndarray:
            if is_wide(coded, k, len(weights)) and are_whole(weights):
                parts = list(wide.select(weights))
            else:
                parts = []
                for _, part in weight_blocks(weights, weights.shape[1], most):
                    terms = InformationTerms(coded, cells, pack(part), criterion, groups)
                    parts.append(select(terms, criterion, k))
            return self._scored(Selection.join(parts).renumbered(order), attributes)

        return score

    def _criterion_name(self) -> str:
        return self._criterion

    def _scored(self, chosen: Selection, attributes: dict[str, Any]) -> np.ndarray:
        attributes.update(order_=chosen.order[-1], selection_scores_=chosen.criterion[-1])
        return chosen.criterion_scores() if self.scores == "criterion" else -chosen.ranks(self.rest)


_OPTIONS = """

    Parameters
    ----------
    n_features_to_select : int, None or "auto"
        Stop after so many features: the time grows with this number times the number of features.
        None: select all. "auto": all where the ranker is fitted by itself; in an ensemble, or
        whatever else repeats a selection, twice as many as a run selects, and at least 50, with
        rest="criterion".
    rest : {"tie", "criterion"}
        Whether the features left over tie for the last places, or come in the order of the last
        criterion computed of them (CMIM, JMIM and NJMIM compute only those that can still win).
    scores : {"rank", "criterion"}
        What `scores_` and `score_resamples` give: minus the place in the selection order, or the
        criterion at the moment of selection, which is no ranking (it is not monotone along the
        order). Features that are constant in a resample tie for the last places.
    binning, target
        As for `InformationGain`.

    Attributes
    ----------
    order_ : array of int
        Columns in the order of selection.
    selection_scores_ : array of float
        The criterion at the moment of selection, in that order.
    scores_, ranks_, n_features_in_, feature_names_in_, bin_edges_
        As for all rankers.
"""


@with_options(_OPTIONS)
class MRMR(_Greedy):
    """Minimum redundancy, maximum relevance.

    Relevance D(x) and mean redundancy R(x) with the features already chosen are, by `method`:

    - "MID": D − R, D = I(x; y), R = mean of I(x; w) (the default);
    - "MIQ": D / R of the same;
    - "FCD": D − R, D = F-statistic, R = mean absolute Pearson correlation of x and w;
    - "FCQ": D / R of the same (what the Python package mrmr-selection computes).

    In the quotients every redundancy counts as at least 0.001. "FCD" and "FCQ" use the numbers as
    they are, without bins, and take no missing values.

    References
    ----------
    Peng, H., Long, F. and Ding, C. (2005). Feature selection based on mutual information: criteria
    of max-dependency, max-relevance, and min-redundancy. IEEE TPAMI 27, 1226–1238.
    Ding, C. and Peng, H. (2005). Minimum redundancy feature selection from microarray gene
    expression data. J. Bioinformatics and Computational Biology 3, 185–205.

    Examples
    --------
    >>> from mainstay.rankers import MRMR
    >>> y = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> good, other = [0, 0, 0, 0, 1, 1, 1, 0], [0, 1, 0, 0, 0, 1, 1, 1]
    >>> X = list(zip(good, good, other))
    >>> MRMR().fit(X, y).order_  # the copy of the best one comes last
    array([0, 2, 1])
    """

    def __init__(
        self,
        method: str = "MID",
        *,
        n_features_to_select: int | str | None = "auto",
        rest: str = "tie",
        scores: str = "rank",
        binning: Binning | None = None,
        target: str = "auto",
        **old_names: Any,
    ) -> None:
        self.method = method
        self.n_features_to_select = n_features_to_select
        self.rest = rest
        self.scores = scores
        self.binning = with_old_names(binning, old_names)
        self.target = target

    def _criterion_name(self) -> str:
        return check_choice("method", self.method, METHODS)

    def _prepare_features(self, table: Table) -> ForTarget:
        criterion = CRITERIA[self._criterion_name()]
        if self.method in ("MID", "MIQ"):
            return super()._prepare_features(table)
        order = natural_order(table.names)
        data = Moments(table.matrix("error", f"MRMR(method={self.method!r})")[:, order])
        k = self._n_to_select(table.n_features)

        def for_target(y: Any) -> tuple[BlockScorer, dict[str, Any]]:
            target = read_target(y, table.n_rows, self.target)
            attributes: dict[str, Any] = {}

            def score(weights: np.ndarray) -> np.ndarray:
                chosen = select(MomentTerms(data, target, weights), criterion, k)
                return self._scored(chosen.renumbered(order), attributes)

            return score, attributes

        return for_target


@with_options(_OPTIONS)
class JMI(_Greedy):
    """Joint mutual information: J(x) = Σ over the chosen w of I(x, w; y).

    References
    ----------
    Yang, H. H. and Moody, J. (1999). Data visualization and feature selection: new algorithms for
    nongaussian data. NIPS 12, 687–693.

    Examples
    --------
    >>> from mainstay.rankers import JMI
    >>> JMI().fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]).order_
    array([0, 1])
    """

    _criterion = "jmi"


@with_options(_OPTIONS)
class CMIM(_Greedy):
    """Conditional mutual information maximisation: J(x) = min(I(x; y), min over w of I(x; y | w)).

    References
    ----------
    Fleuret, F. (2004). Fast binary feature selection with conditional mutual information. JMLR 5,
    1531–1555.

    Examples
    --------
    >>> from mainstay.rankers import CMIM
    >>> CMIM().fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]).order_
    array([0, 1])
    """

    _criterion = "cmim"


@with_options(_OPTIONS)
class DISR(_Greedy):
    """Double input symmetrical relevance: J(x) = Σ over w of I(x, w; y) / H(x, w, y).

    References
    ----------
    Meyer, P. E. and Bontempi, G. (2006). On the use of variable complementarity for feature
    selection in cancer classification. EvoWorkshops, 91–102.

    Examples
    --------
    >>> from mainstay.rankers import DISR
    >>> DISR().fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]).order_
    array([0, 1])
    """

    _criterion = "disr"


@with_options(_OPTIONS)
class JMIM(_Greedy):
    """Joint mutual information maximisation: J(x) = min over the chosen w of I(x, w; y).

    References
    ----------
    Bennasar, M., Hicks, Y. and Setchi, R. (2015). Feature selection using joint mutual information
    maximisation. Expert Systems with Applications 42, 8520–8532.

    Examples
    --------
    >>> from mainstay.rankers import JMIM
    >>> JMIM().fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]).order_
    array([0, 1])
    """

    _criterion = "jmim"


@with_options(_OPTIONS)
class NJMIM(_Greedy):
    """Normalised joint mutual information maximisation: J(x) = min over w of I(x, w; y)/H(x, w, y).

    References
    ----------
    Bennasar, M., Hicks, Y. and Setchi, R. (2015). Feature selection using joint mutual information
    maximisation. Expert Systems with Applications 42, 8520–8532.

    Examples
    --------
    >>> from mainstay.rankers import NJMIM
    >>> NJMIM().fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]).order_
    array([0, 1])
    """

    _criterion = "njmim"


NAMED = {
    "mrmr": NamedRanker(MRMR, "greedy", reference="Peng et al. 2005"),
    "mrmr_fcq": NamedRanker(
        partial(MRMR, "FCQ"),
        "greedy",
        "mRMR as quotient of F-statistic and correlation; no bins.",
        "Ding and Peng 2005",
    ),
    "jmi": NamedRanker(JMI, "greedy", reference="Yang and Moody 1999"),
    "cmim": NamedRanker(CMIM, "greedy", reference="Fleuret 2004"),
    "disr": NamedRanker(DISR, "greedy", reference="Meyer and Bontempi 2006"),
    "jmim": NamedRanker(JMIM, "greedy", reference="Bennasar et al. 2015"),
    "njmim": NamedRanker(NJMIM, "greedy", reference="Bennasar et al. 2015"),
}
