"""Counting loops of the rankers, many resamples at a time. Naive twins: tests/naive_rankers.py.

A resample is a lane. Whole-number weights are packed, four lanes of 16 bits (or two of 32) to a
64-bit word: adding two words adds all their lanes, since no lane overflows. `acc` and `lane` are
the same memory, once as words and once as lanes. Other weights are words of one float64 lane.

For whole numbers `table[c]` is c·log(c) as a fixed-point integer, so that sums do not depend on
their order; for other weights the table is empty and c·log(c) is computed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import overload


def _c_log_c(c: Any, table: Any) -> Any:
    """c·log(c), from the table if it holds integers (in Python; compiled below)."""
    if table.dtype.kind == "i":
        return table[int(c)]
    return c * np.log(c) if c > 0 else 0.0


@overload(_c_log_c)
def _c_log_c_compiled(c, table):  # type: ignore[no-untyped-def]
    if isinstance(table.dtype, types.Integer):
        return lambda c, table: table[np.int64(c)]
    return lambda c, table: c * np.log(c) if c > 0 else 0.0


@njit(cache=True, nogil=True)
def table_sums(  # type: ignore[no-untyped-def]
    cells, first, cell_bin, cell_class, words, acc, lane, per_class, totals, table, joint, margin,
    chi2, n_rows,
):  # fmt: skip
    """Sums over the bins × classes table of every feature, in every lane.

    `cells[f, i]` is the table cell of row i; cells first[f] … first[f + 1] − 1, ordered by bin, are
    those of feature f that occur. Fills Σ c·log c over cells (`joint`) and over bins (`margin`),
    the number of bins that are not empty, and Pearson's statistic unless that has no columns.
    """
    n, width = words.shape
    lanes = totals.shape[0]
    with_chi2 = chi2.shape[1] > 0
    for f in range(cells.shape[0]):
        size = first[f + 1] - first[f]
        for c in range(size):
            for k in range(width):
                acc[c, k] = 0
        for i in range(n):
            c = cells[f, i]
            for k in range(width):
                acc[c, k] += words[i, k]
        start = 0
        while start < size:
            stop = start + 1
            while stop < size and cell_bin[first[f] + stop] == cell_bin[first[f] + start]:
                stop += 1
            for b in range(lanes):
                row = lane[start, b] * 0.0
                for c in range(start, stop):
                    row += lane[c, b]
                    joint[f, b] += _c_log_c(lane[c, b], table)
                if row == 0:
                    continue
                margin[f, b] += _c_log_c(row, table)
                n_rows[f, b] += 1
                if not with_chi2:
                    continue
                elsewhere = totals[b]
                for c in range(start, stop):
                    of_class = per_class[cell_class[first[f] + c], b]
                    if of_class > 0:
                        expected = row * of_class / totals[b]
                        chi2[f, b] += (lane[c, b] - expected) ** 2 / expected
                        elsewhere -= of_class
                if stop - start < per_class.shape[0]:
                    chi2[f, b] += row * elsewhere / totals[b]
            start = stop


@njit(cache=True, nogil=True)
def number_cells(codes, classes, n_classes, occurs, cells):  # type: ignore[no-untyped-def]
    """Number the cells code · n_classes + class that occur in every row of `codes`, from 0 up.

    Marks in `occurs[f]` which they are, and fills `cells[f, i]` with the number of row i's cell.
    With one class these are the codes, renumbered so that every one occurs.
    """
    n_features, n = codes.shape
    number = np.empty(occurs.shape[1], np.int32)
    for f in range(n_features):
        for i in range(n):
            occurs[f, codes[f, i] * n_classes + classes[i]] = True
        found = 0
        for c in range(occurs.shape[1]):
            number[c] = found
            found += occurs[f, c]
        for i in range(n):
            cells[f, i] = number[codes[f, i] * n_classes + classes[i]]


@njit(cache=True, nogil=True)
def extremes(values, rows, low, high):  # type: ignore[no-untyped-def]
    """Smallest and largest value of every column of some rows; none is missing."""
    low[:] = values[rows[0]]
    high[:] = values[rows[0]]
    for r in rows:
        row = values[r]
        for f in range(low.shape[0]):
            value = row[f]
            low[f] = value if value < low[f] else low[f]
            high[f] = value if value > high[f] else high[f]


@njit(cache=True, nogil=True)
def cut_rows(values, rows, low, scale, n_bins, codes):  # type: ignore[no-untyped-def]
    """Bins of equal width of some rows of `values`, turned into columns × rows.

    Column f is cut from `low[f]` on into `n_bins` parts of `scale[f]`; a few columns at a time,
    whose bins stay in the cache.
    """
    n, p = rows.shape[0], low.shape[0]
    last = n_bins - 1.0
    for start in range(0, p, 16):
        stop = min(start + 16, p)
        for i in range(n):
            r = rows[i]
            for f in range(start, stop):
                b = np.floor((values[r, f] - low[f]) / scale[f] * n_bins)
                codes[f, i] = np.int32(b if b < last else last)


@njit(cache=True, nogil=True)
def width_cells(  # type: ignore[no-untyped-def]
    values, low, high, n_bins, missing, classes, n_classes, cells
):
    """Table cells, bin · n_classes + class, of numbers cut into bins of equal width.

    `values` are columns × rows, cut between `low[f]` and `high[f]`: the rule of
    `discretization.equal_width_codes`. NaN is in bin `missing`; what lies outside, in the first or
    last one.
    """
    n_features, n = values.shape
    last = n_bins - 1.0
    for f in range(n_features):
        half = 0.5 if np.isinf(high[f] - low[f]) else 1.0
        start = low[f] * half
        width = high[f] * half - start
        width = 1.0 if width == 0.0 else width
        for i in range(n):
            value = values[f, i]
            b = np.floor((value * half - start) / width * n_bins)
            b = b if b < last else last
            b = b if b > 0.0 else 0.0
            b = b if value == value else missing
            cells[f, i] = np.int32(b) * n_classes + classes[i]


@njit(cache=True, nogil=True)
def add_cells(cells, words, sums):  # type: ignore[no-untyped-def]
    """Add the weights of every row, `words[i]`, to its table cell, `sums[f, cells[f, i]]`."""
    n, width = words.shape
    for f in range(cells.shape[0]):
        if width == 1:
            for i in range(n):
                sums[f, cells[f, i], 0] += words[i, 0]
        else:
            for i in range(n):
                c = cells[f, i]
                for k in range(width):
                    sums[f, c, k] += words[i, k]


@njit(cache=True, nogil=True)
def pair_sums(  # type: ignore[no-untyped-def]
    codes, n_bins, wanted, group, n_groups, closes, words, acc, lane, outer, outer_lane, table,
    pair, triple,
):  # fmt: skip
    """Σ c·log c over the joint table of one feature with others, without and with the class.

    `group[i]` is row i's bin of the feature and class (or bin alone if `triple` has no columns),
    numbered in that order; `closes` says after which groups the bin changes. Fills `pair[g]`, and
    `triple[g]`, for all g in `wanted`. For tables that fit into `acc`.
    """
    n, width = words.shape
    lanes = pair.shape[1]
    with_class = triple.shape[1] > 0
    for g in wanted:
        size = n_bins[g]
        for c in range(n_groups * size):
            for k in range(width):
                acc[c, k] = 0
        if width == 1:
            for i in range(n):
                acc[group[i] * size + codes[g, i], 0] += words[i, 0]
        else:
            for i in range(n):
                c = group[i] * size + codes[g, i]
                for k in range(width):
                    acc[c, k] += words[i, k]
        if not with_class:
            for c in range(n_groups * size):
                for b in range(lanes):
                    pair[g, b] += _c_log_c(lane[c, b], table)
            continue
        fresh = True
        for j in range(n_groups):
            for c in range(size):
                at = j * size + c
                for k in range(width):
                    outer[c, k] = acc[at, k] if fresh else outer[c, k] + acc[at, k]
                for b in range(lanes):
                    triple[g, b] += _c_log_c(lane[at, b], table)
            fresh = closes[j]
            if fresh:
                for c in range(size):
                    for b in range(lanes):
                        pair[g, b] += _c_log_c(outer_lane[c, b], table)


@njit(cache=True, nogil=True)
def wide_pair_sums(  # type: ignore[no-untyped-def]
    codes, wanted, order, starts, closes, words, acc, lane, outer, outer_lane, table, pair, triple
):
    """Compute what `pair_sums` does, for tables with more cells than rows.

    `order` sorts the rows by group, groups begin at `starts`; only cells that occur are visited.
    """
    width = words.shape[1]
    lanes = pair.shape[1]
    with_class = triple.shape[1] > 0
    most = acc.shape[0]
    seen = np.full(most, -1, np.int64)
    outer_seen = np.full(most, -1, np.int64)
    touched = np.empty(most, np.int64)
    outer_touched = np.empty(most, np.int64)
    mark = 0
    for g in wanted:
        n_outer = 0
        outer_mark = mark
        for j in range(starts.shape[0] - 1):
            n_touched = 0
            for i in range(starts[j], starts[j + 1]):
                row = order[i]
                c = codes[g, row]
                new = seen[c] != mark
                if new:
                    seen[c] = mark
                    touched[n_touched] = c
                    n_touched += 1
                for k in range(width):
                    acc[c, k] = words[row, k] if new else acc[c, k] + words[row, k]
            for t in range(n_touched):
                c = touched[t]
                if not with_class:
                    for b in range(lanes):
                        pair[g, b] += _c_log_c(lane[c, b], table)
                    continue
                new = outer_seen[c] != outer_mark
                if new:
                    outer_seen[c] = outer_mark
                    outer_touched[n_outer] = c
                    n_outer += 1
                for k in range(width):
                    outer[c, k] = acc[c, k] if new else outer[c, k] + acc[c, k]
                for b in range(lanes):
                    triple[g, b] += _c_log_c(lane[c, b], table)
            mark += 1
            if with_class and closes[j]:
                for t in range(n_outer):
                    for b in range(lanes):
                        pair[g, b] += _c_log_c(outer_lane[outer_touched[t], b], table)
                n_outer = 0
                outer_mark = mark
