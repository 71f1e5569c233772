"""F-statistics and correlations from sums over rows that are read block by block, in one pass.

Features are centred at the median of the first block that has values of them. Half of that block
lies on the far side of it from the mean μ, so that with m = 4,096 rows in a block and n in all, the
sum of squares around the centre is at most about 2n/m times that around the mean: at 10⁸ rows,
differences of sums lose under 5 of 16 digits.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np

from mainstay._validation import InputError
from mainstay.batches import Block, RowBatches
from mainstay.rankers.moments import _CONSTANT, _SMALLEST_SHARE
from mainstay.rankers.streamed_target import StreamedTarget
from mainstay.resampling import Resamples, check_class_weights

_FEW_LANES = 8
_COLUMNS = 32  # that are summed together: 4,096 rows of them stay in the cache


class _Lanes:
    """Row weights of a block in many resamples, lanes × rows, with rows ordered by group."""

    def __init__(
        self, weights: np.ndarray, groups: np.ndarray | None = None, n_groups: int = 1
    ) -> None:
        n = weights.shape[1]
        self._rows, self._starts = np.arange(n), np.array([0, n])
        if groups is not None:
            self._rows = np.argsort(groups, kind="stable")
            self._starts = np.searchsorted(groups[self._rows], np.arange(n_groups + 1))
        self._weights = weights[:, self._rows].astype(np.uint16, order="C")
        self.totals = np.zeros((len(weights), n_groups))
        self._nothing = np.zeros((len(weights), n_groups, 0))
        every = zip(self._starts[:-1], self._starts[1:], strict=True)
        for group, (start, stop) in enumerate(every):
            self.totals[:, group] = self._weights[:, start:stop].sum(axis=1, dtype=float)

    def add(self, values: np.ndarray, total: np.ndarray, square: np.ndarray | None = None) -> None:
        """Add the weighted rows, and their squares, to the sums of their groups."""
        from mainstay._kernels.moments import row_moments

        square = self._nothing if square is None else square
        row_moments(values, self._rows, self._starts, self._weights, total, square)

    @property
    def are_few(self) -> bool:
        """Whether `add_columns` is faster than `add`."""
        return len(self._weights) <= _FEW_LANES

    def add_columns(
        self, columns: np.ndarray, centres: np.ndarray, y: np.ndarray | None, part: _Part
    ) -> None:
        """As `add`, from complete columns × rows that are not centred yet; by fours."""
        from mainstay._kernels.moments import column_moments, column_products

        column_moments(columns, centres, self._rows, self._starts, self._weights, part.total,
                       part.square)  # fmt: skip
        if y is not None:
            column_products(columns, centres, y, self._rows, self._weights, part.product[:, 0])


@dataclass
class _Part:
    """Running sums of some columns, lanes × groups × columns, and of what is missing in them."""

    columns: slice
    total: np.ndarray
    square: np.ndarray
    product: np.ndarray
    gone: list[np.ndarray] = field(default_factory=list)  # Σ w, Σ w·y, Σ w·y² of missing rows


class StreamedSums:
    """Sums of centred features over blocks of rows, for many resamples and groups of rows.

    Parameters
    ----------
    names : sequence of str
        The columns.
    n_lanes, n_groups : int
        Numbers of resamples, and of groups of rows (classes).
    with_target : bool
        Whether sums with the numbers of the target are wanted, too.
    missing : {"omit", "error"}
        What becomes of missing values.
    """

    def __init__(
        self, names: tuple[str, ...], n_lanes: int, n_groups: int, with_target: bool, missing: str
    ) -> None:
        self._names, self._missing, self._with_target = names, missing, with_target
        self._centres = np.full(len(names), np.nan)
        shape = n_lanes, n_groups
        self.weight = np.zeros(shape)
        self.y_total, self.y_square = np.zeros((*shape, 1)), np.zeros((*shape, 1))
        self.parts = []
        n_by_four = len(names) - len(names) % 4
        starts = [*range(0, n_by_four, _COLUMNS), n_by_four]
        for at, stop in itertools.pairwise([*starts, len(names)]):
            part = slice(at, stop)
            width = stop - at
            total, square = np.zeros((*shape, width)), np.zeros((*shape, width))
            product = np.zeros((*shape, width if with_target else 0))
            self.parts.append(_Part(part, total, square, product))

    def add(self, block: Block, lanes: _Lanes, y: np.ndarray | None = None) -> None:
        """Add the rows of a block."""
        self.weight += lanes.totals
        unset = np.flatnonzero(np.isnan(self._centres))
        if unset.size:
            some_value = unset[~np.isnan(block.values[:, unset]).all(axis=0)]
            self._centres[some_value] = np.nanmedian(block.values[:, some_value], axis=0)
        if y is not None:
            lanes.add(np.ascontiguousarray(y[:, None]), self.y_total, self.y_square)
        for part in self.parts:
            centres = self._centres[part.columns]
            if block.complete and lanes.are_few and len(centres) % 4 == 0:
                lanes.add_columns(block.values.T[part.columns], centres, y, part)
                continue
            values = np.subtract(block.values[:, part.columns], centres, order="C")
            if not block.complete:
                self._set_aside(part, values, block.start, lanes, y)
            lanes.add(values, part.total, part.square)
            if y is not None:
                lanes.add(values * y[:, None], part.product)

    def _set_aside(
        self, part: _Part, values: np.ndarray, start: int, lanes: _Lanes, y: np.ndarray | None
    ) -> None:
        """Make missing values 0, and add up the weights of their rows."""
        gaps = np.isnan(values)
        if self._missing == "error" and gaps.any():
            row, column = np.argwhere(gaps)[0]
            raise InputError(
                f"feature {self._names[part.columns.start + column]!r} has missing values, the "
                f"first in row {start + row}; fill them in, or use missing='omit'."
            )
        values[gaps] = 0.0
        if not part.gone:
            part.gone = [np.zeros_like(part.total) for _ in range(3 if self._with_target else 1)]
        weightless = gaps.astype(float)
        lanes.add(weightless, part.gone[0])
        if y is not None:
            lanes.add(weightless * y[:, None], part.gone[1], part.gone[2])

    def present(self, part: _Part) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Σ w, Σ w·y and Σ w·y² over the rows that are not missing, per column if some are."""
        whole = self.weight[:, :, None], self.y_total, self.y_square
        if not part.gone:
            return whole
        left = [all_ - gone for all_, gone in zip(whole, part.gone, strict=False)]
        return (*left, *whole[len(left) :])


def streamed_f(
    rows: RowBatches, columns: slice, resamples: Resamples, target: StreamedTarget, missing: str
) -> np.ndarray:
    """F-statistic of one-way ANOVA, resamples × columns."""
    from mainstay._kernels.moments import class_f

    names, n_classes = rows.features[columns], len(target.class_labels())
    sums = StreamedSums(names, len(resamples), n_classes, False, missing)
    for block in rows.blocks(columns):
        weights = resamples.weights_of(block.start, block.start + len(block.target))
        sums.add(block, _Lanes(weights, target.codes(block.target), n_classes))
    check_class_weights(sums.weight)
    out = np.empty((len(resamples), len(names)))
    for part in sums.parts:
        count = np.ascontiguousarray(sums.present(part)[0])
        scores = np.empty((len(resamples), part.total.shape[2]))
        class_f(part.total, part.square, count, _CONSTANT, _SMALLEST_SHARE, scores)
        out[:, part.columns] = scores
    return out


def streamed_correlation(
    rows: RowBatches, columns: slice, resamples: Resamples, target: StreamedTarget, missing: str
) -> tuple[np.ndarray, np.ndarray]:
    """Absolute Pearson correlation with the target, and total weight, resamples × columns."""
    from mainstay._kernels.moments import correlations

    names = rows.features[columns]
    sums = StreamedSums(names, len(resamples), 1, True, missing)
    centre = None
    for block in rows.blocks(columns):
        weights = resamples.weights_of(block.start, block.start + len(block.target))
        y = target.numbers(block.target)
        centre = float(np.median(y)) if centre is None else centre
        sums.add(block, _Lanes(weights), y - centre)
    check_class_weights(sums.weight)
    r, n = np.empty((2, len(resamples), len(names)))
    for part in sums.parts:
        count, y_total, y_square = (np.ascontiguousarray(a[:, 0]) for a in sums.present(part))
        scores = np.empty((len(resamples), part.total.shape[2]))
        correlations(
            part.total[:, 0], part.square[:, 0], count, part.product[:, 0], y_total, y_square,
            _CONSTANT, scores,
        )  # fmt: skip
        r[:, part.columns], n[:, part.columns] = scores, count
    return r, n


def streamed_regression_f(
    rows: RowBatches, columns: slice, resamples: Resamples, target: StreamedTarget, missing: str
) -> np.ndarray:
    """F-statistic of the simple regression of the target on every column, resamples × columns."""
    from mainstay._kernels.moments import correlations_to_f

    scores, n = streamed_correlation(rows, columns, resamples, target, missing)
    correlations_to_f(scores, n, _SMALLEST_SHARE)
    return scores


def bytes_of_sums(n_lanes: int, n_groups: int, with_target: bool) -> float:
    """Memory of the sums of one column, if values are missing in it, and of what is made of it."""
    return 8.0 * n_lanes * (n_groups * (6 if with_target else 4) + 4)
