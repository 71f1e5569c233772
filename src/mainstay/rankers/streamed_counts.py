"""Filters that count bins × classes, for rows that are read block by block.

Bins of equal width need the range of every column: one pass for the edges, one for the counts. Bins
with given cut points need the second pass only. Counts are whole numbers, so that no order of
adding them matters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mainstay._validation import InputError
from mainstay.batches import BLOCK_ROWS, RowBatches
from mainstay.rankers.contingency import Statistics, count_statistics, pack
from mainstay.rankers.discretization import Binning, equal_width_codes
from mainstay.rankers.streamed_target import StreamedTarget
from mainstay.resampling import Resamples, check_class_weights

_MOST_CATEGORIES = 1000  # of a column of whole numbers
_MOST_AT_ONCE = 2**18  # values that are cut together
_COLUMNS = 64  # that are counted together


@dataclass(frozen=True)
class _Cuts:
    """How the values of some columns become bins.

    `by_width` are the columns that are cut between `low` and `high` into bins of equal width;
    `points` has the cut points or categories of each other column.
    """

    n_bins: int
    low: np.ndarray
    high: np.ndarray
    by_width: np.ndarray
    points: Mapping[int, tuple[np.ndarray, bool]]  # and whether they are categories

    @property
    def width(self) -> int:
        """Bins of the column that has most, and one for missing values."""
        others = (len(points) + (not categories) for points, categories in self.points.values())
        return max(self.n_bins if len(self.by_width) else 1, *others, 1) + 1

    def codes(self, values: np.ndarray) -> np.ndarray:
        """Bins of columns × rows; missing values are in the last one."""
        out = np.empty(values.shape, dtype=np.int32)
        step = max(1, _MOST_AT_ONCE // values.shape[1])
        for at in range(0, len(self.by_width), step):
            part = self.by_width[at : at + step]
            out[part] = equal_width_codes(
                values[part], self.low[part, None], self.high[part, None], self.n_bins
            )
        for j, (points, categories) in self.points.items():
            out[j] = np.searchsorted(points, values[j], side="left" if categories else "right")
        out[np.isnan(values)] = self.width - 1
        return out


def streamed_counts(
    rows: RowBatches, columns: slice, resamples: Resamples, target: StreamedTarget, classes: bool,
    binning: Binning,
) -> Statistics:  # fmt: skip
    """Entropies and chi-square of bins × classes, resamples × columns."""
    from mainstay._kernels.contingency import add_cells

    cuts = _find_cuts(rows, columns, binning)
    n_classes = len(target.class_labels()) if classes else binning.n_bins
    n_columns, n_cells = len(rows.features[columns]), cuts.width * n_classes
    counts = np.zeros((n_columns, n_cells, len(resamples)), dtype=np.uint32)
    for block in rows.blocks(columns):
        if classes:
            of_rows = target.codes(block.target)
        else:
            y = np.asarray(block.target, dtype=float)
            of_rows = equal_width_codes(y, target.low, target.high, binning.n_bins)
        cells = cuts.codes(block.values.T)
        cells *= n_classes
        cells += of_rows.astype(np.int32)
        lanes = pack(resamples.weights_of(block.start, block.start + len(block.target)))
        for at in range(0, n_columns, _COLUMNS):
            part = cells[at : at + _COLUMNS]
            words, lane = lanes.accumulator(len(part) * n_cells)
            words[:] = 0
            add_cells(part, lanes.words, words.reshape(len(part), n_cells, -1))
            counts[at : at + _COLUMNS] += lane.reshape(len(part), n_cells, -1)[
                :, :, : len(resamples)
            ]
    by_bin = counts.reshape(n_columns, cuts.width, n_classes, len(resamples))
    of_classes = by_bin[0].sum(axis=0, dtype=float).T
    check_class_weights(of_classes if classes else of_classes.sum(axis=1, keepdims=True))
    return count_statistics(by_bin)


def _find_cuts(rows: RowBatches, columns: slice, binning: Binning) -> _Cuts:
    """Cut points, ranges and categories of some columns; reads them only where need be."""
    binning.check(rows.features)
    names, kinds = rows.features[columns], rows.kinds[columns]
    given = {} if isinstance(binning.bins, str) else binning.bins
    points: dict[int, tuple[np.ndarray, bool]] = {}
    if isinstance(given, Mapping):
        points = {j: (_floats(given[name]), False) for j, name in enumerate(names) if name in given}
    others = [j for j in range(len(names)) if j not in points]
    seen = {j: np.zeros(0) for j in others if _may_be_categories(kinds[j], binning)}
    if not isinstance(given, Mapping):  # cut points for all columns that are no categories
        points |= {j: (_floats(given), False) for j in others}
    low, high = np.full(len(names), np.inf), np.full(len(names), -np.inf)
    if len(points) == len(names) and not seen and binning.missing != "error":
        return _Cuts(binning.n_bins, low, high, np.zeros(0, dtype=np.intp), points)
    every = binning.integers == "categories"
    for block in rows.blocks(columns):
        values = block.values.T
        _refuse_gaps(values, block.start, names, binning)
        low = np.fmin(low, np.fmin.reduce(values, axis=1))
        high = np.fmax(high, np.fmax.reduce(values, axis=1))
        for j in list(seen):
            here = values[j][~np.isnan(values[j])]
            seen[j] = np.union1d(seen[j], here)
            if len(seen[j]) > _MOST_CATEGORIES and every:
                raise InputError(
                    f"feature {names[j]!r} has more than {_MOST_CATEGORIES:,} distinct integers, "
                    "too many to count each; use Binning(integers='numbers')."
                )
            if len(seen[j]) > binning.n_bins and not every and kinds[j] == "integer":
                del seen[j]
    points |= {j: (values, True) for j, values in seen.items()}
    by_width = np.array([j for j in range(len(names)) if j not in points], dtype=np.intp)
    empty = np.isinf(low)  # nothing but missing values
    low[empty], high[empty] = 0.0, 0.0
    return _Cuts(binning.n_bins, low, high, by_width, points)


def _floats(cut_points: Any) -> np.ndarray:
    return np.asarray(cut_points, dtype=float)


def _may_be_categories(kind: str, binning: Binning) -> bool:
    return kind == "boolean" or (kind == "integer" and binning.integers != "numbers")


def _refuse_gaps(values: np.ndarray, start: int, names: tuple[str, ...], binning: Binning) -> None:
    if binning.missing != "error" or np.isfinite(values.sum()):
        return
    column, row = np.argwhere(np.isnan(values))[0]
    raise InputError(
        f"feature {names[column]!r} has missing values, the first in row {start + row}; fill them "
        "in, or use Binning(missing='bin')."
    )


def check_binning(name: str, binning: Binning) -> None:
    """Refuse bins that cannot be found in one pass over the rows."""
    if isinstance(binning.bins, str) and binning.bins != "width":
        instead = "bins='width', or cut points of your own"
        raise needs_all_rows(f"{name} with bins={binning.bins!r}", instead)
    for option in ("rebin", "near_zero_variance"):
        if getattr(binning, option):
            raise needs_all_rows(f"{name} with {option}=True", f"{option}=False")


def needs_all_rows(what: str, instead: str) -> InputError:
    """What is raised for settings that cannot be used block by block."""
    return InputError(
        f"{what} needs all rows in memory; for rows that are read block by block use {instead}."
    )


def bytes_of_counts(n_lanes: int, n_classes: int, binning: Binning) -> float:
    """Memory of the counts of one column, and of the codes of a block."""
    cells = (_widest(binning) + 1) * n_classes
    return cells * n_lanes * (4 + 3) + BLOCK_ROWS * (4 + 1) + 8.0 * 20 * n_lanes


def _widest(binning: Binning) -> int:
    """How many bins a column may have."""
    rules = binning.bins.values() if isinstance(binning.bins, Mapping) else [binning.bins]
    given = [len(rule) + 1 for rule in rules if not isinstance(rule, str)]
    most = _MOST_CATEGORIES if binning.integers == "categories" else binning.n_bins
    return max([most, *given])
