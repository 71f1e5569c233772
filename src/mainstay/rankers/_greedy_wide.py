"""Greedy selection of few out of many features: one resample at a time, on the rows it holds.

Resamples of a wide table choose different features, so that nothing can be shared between them but
the tables of single features with the class. Sums of terms need all pairs of chosen features and
candidates; criteria that are the smallest term are bounded by the terms known, and need few.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mainstay.rankers._greedy_engine import (
    ROUNDING,
    Criterion,
    Selection,
    information_terms,
    select,
)
from mainstay.rankers.contingency import Cells, Lanes, Statistics, pack, table_statistics
from mainstay.rankers.discretization import Coded

_MOST_CELLS = 2**22  # of a joint table
_MOST_SCORES = 2**22  # resamples × features whose tables with the class are kept
_FEW = 4  # features are few if so many times their number are left over


def is_wide(coded: Coded, k: int, n_resamples: int) -> bool:
    """Tell whether resamples are better taken one by one."""
    most = int(coded.n_bins.max())
    fits = most * most * coded.n_classes <= _MOST_CELLS
    return fits and (n_resamples == 1 or _FEW * k < len(coded.names))


class WideTable:
    """Coded columns, ready for greedy selection of k features in many resamples."""

    def __init__(self, coded: Coded, cells: Cells, criterion: Criterion, k: int) -> None:
        self._coded, self._cells, self._criterion, self._k = coded, cells, criterion, k
        small = coded.n_bins.max() <= 2**8
        self._codes = coded.codes.astype(np.uint8) if small else coded.codes

    def select(self, weights: np.ndarray) -> Iterator[Selection]:
        """Choose features in every resample; weights are whole numbers."""
        step = max(1, _MOST_SCORES // len(self._codes))
        for at in range(0, len(weights), step):
            part = weights[at : at + step]
            lanes = pack(part)
            statistics = table_statistics(self._coded, self._cells, lanes)
            for lane, of_rows in enumerate(part):
                one = _OneResample(
                    self._coded, self._codes, of_rows, lanes, statistics.of(lane), self._criterion
                )
                lazy = self._criterion.combine is np.minimum
                yield one.select_lazily(self._k) if lazy else select(one, self._criterion, self._k)


class _OneResample:
    """Terms from the joint counts of one resample."""

    def __init__(
        self,
        coded: Coded,
        codes: np.ndarray,
        weights: np.ndarray,
        lanes: Lanes,
        statistics: Statistics,
        criterion: Criterion,
    ) -> None:
        rows = np.flatnonzero(weights)
        self._lanes, self._table, self._criterion = lanes, statistics, criterion
        self._codes = np.ascontiguousarray(codes[:, rows])
        self._n_bins = coded.n_bins
        self._classes = np.zeros(len(rows), dtype=np.int32)
        self._n_classes = 1
        if criterion.with_class:
            self._classes, self._n_classes = coded.classes[rows], coded.n_classes
        most, kind = int(coded.n_bins.max()), lanes.dtype
        self._weights = weights[rows].astype(kind)
        self._room = np.empty(most * most * self._n_classes, kind), np.empty(most * most, kind)
        self.relevance, self.constant = statistics.information, statistics.n_rows <= 1

    def of(self, chosen: np.ndarray, taken: np.ndarray) -> np.ndarray:
        """Terms of all features with the one that was just chosen, 1 × p."""
        from mainstay._kernels.greedy import sums_with_one

        pair, triple = np.zeros((2, 1, len(self._codes)), dtype=np.int64)
        sums_with_one(
            self._codes, self._n_bins, np.flatnonzero(~taken[0]), chosen[0], self._classes,
            self._n_classes, self._weights, self._lanes.table, *self._room, pair[0], triple[0],
        )  # fmt: skip
        return information_terms(
            self._criterion.term, chosen, pair, triple, self._table, self._lanes.unit
        )

    def select_lazily(self, k: int) -> Selection:
        """Choose k features by their smallest term; see the kernel."""
        from mainstay._kernels import greedy

        kind = {
            "conditional": greedy.CONDITIONAL,
            "joint": greedy.JOINT,
            "normalised": greedy.NORMALISED,
        }[self._criterion.term]
        order, reached = np.empty(k, dtype=np.intp), np.empty(k)
        bound, table = np.empty(len(self._codes)), self._table
        n = table.total[0, 0]
        greedy.select_lazily(
            kind, self._codes, self._n_bins, self._classes, self._n_classes, self._weights,
            self._lanes.table, self.relevance[0], self.constant[0], table.margin_sum[0],
            table.joint_sum[0], table.class_sum[0, 0], np.log(n), n, self._lanes.unit, ROUNDING,
            *self._room, order, reached, bound,
        )  # fmt: skip
        return Selection(order[None], reached[None], self.constant, bound[None])
