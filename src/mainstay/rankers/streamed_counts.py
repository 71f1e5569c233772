"""Filters that count bins × classes, for rows that are read block by block.

Bins of equal width need the range of every column. Where the headers of Parquet files tell it, one
pass counts, and checks that what was told is so; else a pass before it finds the ranges, and the
categories of columns of whole numbers. Bins with given cut points need one pass. Counts are whole
numbers, so that no order of adding them matters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from mainstay._validation import InputError
from mainstay.batches import BLOCK_ROWS, RowBatches
from mainstay.rankers.contingency import Statistics, count_statistics, pack
from mainstay.rankers.discretization import Binning, equal_width_codes
from mainstay.rankers.streamed_target import StreamedTarget
from mainstay.resampling import Resamples, check_class_weights

_MOST_CATEGORIES = 1000  # of a column of whole numbers
_COLUMNS = 64  # that are counted together


@dataclass(frozen=True)
class _Cuts:
    """How the values of some columns become bins.

    `by_width` are the columns that are cut between `low` and `high` into bins of equal width;
    `points` has the cut points or categories of each other column. Columns whose range a file's
    header has told, and nobody has looked at, are `told`.
    """

    n_bins: int
    low: np.ndarray
    high: np.ndarray
    told: np.ndarray
    points: Mapping[int, tuple[np.ndarray, bool]]  # and whether they are categories

    @cached_property
    def by_width(self) -> np.ndarray:
        """Columns without cut points or categories of their own."""
        return np.array([j for j in range(len(self.low)) if j not in self.points], dtype=np.intp)

    @cached_property
    def width(self) -> int:
        """Bins of the column that has most, and one for missing values."""
        others = (len(points) + (not categories) for points, categories in self.points.values())
        return max(self.n_bins if len(self.by_width) else 1, *others, 1) + 1

    def cells(self, values: np.ndarray, of_rows: np.ndarray, n_classes: int) -> np.ndarray:
        """Cells, bin · n_classes + class, of columns × rows; missing values have the last bin."""
        from mainstay._kernels.contingency import width_cells

        out, part = np.empty(values.shape, dtype=np.int32), self.by_width
        if not self.points:
            width_cells(
                values, self.low, self.high, self.n_bins, self.width - 1, of_rows, n_classes, out
            )
            return out
        cut = np.empty((len(part), values.shape[1]), dtype=np.int32)
        width_cells(
            values[part], self.low[part], self.high[part], self.n_bins, self.width - 1, of_rows,
            n_classes, cut,
        )  # fmt: skip
        out[part] = cut
        for j, (points, categories) in self.points.items():
            codes = np.searchsorted(points, values[j], side="left" if categories else "right")
            codes[np.isnan(values[j])] = self.width - 1
            out[j] = codes * n_classes + of_rows
        return out


def streamed_counts(
    rows: RowBatches, columns: slice, resamples: Resamples, target: StreamedTarget, classes: bool,
    binning: Binning,
) -> Statistics:  # fmt: skip
    """Entropies and chi-square of bins × classes, resamples × columns."""
    cuts = _find_cuts(rows, columns, binning)
    counts, low, high = _count(rows, columns, resamples, target, classes, binning, cuts)
    wrong = cuts.told & ((low != cuts.low) | (high != cuts.high))
    if wrong.any():  # what the header told was not so: once more, with what was seen
        cuts = replace(cuts, low=np.where(wrong, low, cuts.low),
                       high=np.where(wrong, high, cuts.high))  # fmt: skip
        counts, _, _ = _count(rows, columns, resamples, target, classes, binning, cuts)
    of_classes = counts[0].sum(axis=0, dtype=float).T
    check_class_weights(of_classes if classes else of_classes.sum(axis=1, keepdims=True))
    return count_statistics(counts)


def _count(
    rows: RowBatches, columns: slice, resamples: Resamples, target: StreamedTarget, classes: bool,
    binning: Binning, cuts: _Cuts,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Columns × bins × classes × resamples; and the range of the columns told by a header."""
    from mainstay._kernels.contingency import add_cells

    n_classes = len(target.class_labels()) if classes else binning.n_bins
    n_columns, n_cells = len(cuts.low), cuts.width * n_classes
    counts = np.zeros((n_columns, n_cells, len(resamples)), dtype=np.uint32)
    low, high = np.full(n_columns, np.inf), np.full(n_columns, -np.inf)
    for block in rows.blocks(columns):
        values = block.values.T
        if not block.complete:
            _refuse_gaps(values, block.start, rows.features[columns], binning)
        if cuts.told.any():
            low, high = _wider(low, high, values, block.complete)
        if classes:
            of_rows = target.codes(block.target)
        else:
            y = np.asarray(block.target, dtype=float)
            of_rows = equal_width_codes(y, target.low, target.high, binning.n_bins)
        cells = cuts.cells(values, of_rows.astype(np.int32), n_classes)
        lanes = pack(resamples.weights_of(block.start, block.start + len(block.target)))
        for at in range(0, n_columns, _COLUMNS):
            part = cells[at : at + _COLUMNS]
            words, lane = lanes.accumulator(len(part) * n_cells)
            words[:] = 0
            add_cells(part, lanes.words, words.reshape(len(part), n_cells, -1))
            counts[at : at + _COLUMNS] += lane.reshape(len(part), n_cells, -1)[
                :, :, : len(resamples)
            ]
    return counts.reshape(n_columns, cuts.width, n_classes, len(resamples)), low, high


def _wider(
    low: np.ndarray, high: np.ndarray, values: np.ndarray, complete: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The ranges of columns, widened to some more rows of them."""
    least, most = (np.minimum, np.maximum) if complete else (np.fmin, np.fmax)
    return np.fmin(low, least.reduce(values, axis=1)), np.fmax(high, most.reduce(values, axis=1))


def _find_cuts(rows: RowBatches, columns: slice, binning: Binning) -> _Cuts:
    """Cut points, ranges and categories of some columns; reads only those it must."""
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
    spans = rows.spans([names[j] for j in others if j not in points and kinds[j] == "float"])
    told = np.array([name in spans for name in names])
    low, high = (
        np.array([float(spans[name][end]) if name in spans else none for name in names])
        for end, none in ((0, np.inf), (1, -np.inf))
    )
    read = [j for j in others if not told[j] and (j in seen or j not in points)]
    if read:
        low[read], high[read] = _look_through(rows, columns, read, seen, binning)
    points |= {j: (values, True) for j, values in seen.items()}
    empty = np.isinf(low)  # nothing but missing values
    low[empty], high[empty] = 0.0, 0.0
    return _Cuts(binning.n_bins, low, high, told, points)


def _look_through(
    rows: RowBatches,
    columns: slice,
    read: list[int],
    seen: dict[int, np.ndarray],
    binning: Binning,
) -> tuple[np.ndarray, np.ndarray]:
    """Ranges of some columns; `seen` gets the categories of those in it, or loses the column."""
    names, kinds = rows.features[columns], rows.kinds[columns]
    first, every = columns.indices(rows.n_features)[0], binning.integers == "categories"
    low, high = np.full(len(read), np.inf), np.full(len(read), -np.inf)
    for block in rows.blocks([first + j for j in read]):
        values = block.values.T
        low, high = _wider(low, high, values, block.complete)
        for at, j in enumerate(read):
            if j not in seen:
                continue
            here = values[at][~np.isnan(values[at])]
            seen[j] = np.union1d(seen[j], here)
            if len(seen[j]) > _MOST_CATEGORIES and every:
                raise InputError(
                    f"feature {names[j]!r} has more than {_MOST_CATEGORIES:,} distinct integers, "
                    "too many to count each; use Binning(integers='numbers')."
                )
            if len(seen[j]) > binning.n_bins and not every and kinds[j] == "integer":
                del seen[j]
    return low, high


def _floats(cut_points: Any) -> np.ndarray:
    return np.asarray(cut_points, dtype=float)


def _may_be_categories(kind: str, binning: Binning) -> bool:
    return kind == "boolean" or (kind == "integer" and binning.integers != "numbers")


def _refuse_gaps(values: np.ndarray, start: int, names: tuple[str, ...], binning: Binning) -> None:
    gaps = np.argwhere(np.isnan(values))
    if binning.missing != "error" or not len(gaps):
        return
    column, row = gaps[0]
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
