"""Concordance of rankings: Kendall's τ by pairs of runs, and over all pairs at once."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def _inversions(values, buffer):  # type: ignore[no-untyped-def]
    """Number of pairs out of order, strictly; sorts `values` (bottom-up merge sort)."""
    n = len(values)
    swaps = 0
    width = 1
    while width < n:
        for low in range(0, n, 2 * width):
            middle, high = min(low + width, n), min(low + 2 * width, n)
            i, j = low, middle
            for at in range(low, high):
                if i < middle and (j >= high or values[i] <= values[j]):
                    buffer[at] = values[i]
                    i += 1
                else:
                    buffer[at] = values[j]
                    swaps += middle - i
                    j += 1
        values, buffer = buffer, values
        width *= 2
    return swaps


@njit(cache=True)
def pairwise_concordance(ranks, order):  # type: ignore[no-untyped-def]
    """m × m numbers of concordant minus discordant feature pairs (Knight's algorithm).

    `order[i]` sorts row i of `ranks`.
    """
    m, p = ranks.shape
    result = np.zeros((m, m))
    values, buffer, along = np.empty(p), np.empty(p), np.empty(p)
    pairs = p * (p - 1) / 2
    for i in range(m):
        first = order[i]
        for j in range(i + 1, m):
            tied_i, tied_both = 0.0, 0.0
            for f in range(p):
                along[f] = ranks[j, first[f]]
            start = 0
            for f in range(1, p + 1):  # inside a tie of run i, sort by run j
                if f == p or ranks[i, first[f]] != ranks[i, first[start]]:
                    n = f - start
                    if n > 1:
                        tied_i += n * (n - 1) / 2
                        along[start:f].sort()
                        same = 1
                        for at in range(start + 1, f + 1):
                            if at < f and along[at] == along[at - 1]:
                                same += 1
                            else:
                                tied_both += same * (same - 1) / 2
                                same = 1
                    start = f
            tied_j, same = 0.0, 1
            for f in range(1, p + 1):
                if f < p and ranks[j, order[j, f]] == ranks[j, order[j, f - 1]]:
                    same += 1
                else:
                    tied_j += same * (same - 1) / 2
                    same = 1
            for f in range(p):
                values[f] = along[f]
            discordant = _inversions(values, buffer)
            result[i, j] = pairs - tied_i - tied_j + tied_both - 2 * discordant
    return result + result.T


@njit(cache=True)
def _count_above(theirs, mine, row):  # type: ignore[no-untyped-def]
    """Add sign(mine − theirs) + 1."""
    for t in range(theirs.size):
        row[t] += (theirs[t] < mine) + (theirs[t] <= mine)


@njit(cache=True)
def _sum_above(theirs, mine, row, sums):  # type: ignore[no-untyped-def]
    """Add row · (sign(mine − theirs) + 1)."""
    for t in range(theirs.size):
        sums[t] += row[t] * ((theirs[t] < mine) + (theirs[t] <= mine))


@njit(cache=True)
def _add_signs(theirs, mine, row, scale):  # type: ignore[no-untyped-def]
    for t in range(theirs.size):
        row[t] += (scale if theirs[t] < mine else 0.0) - (scale if theirs[t] > mine else 0.0)


@njit(cache=True, fastmath=True)
def _sum_signs(theirs, mine, row):  # type: ignore[no-untyped-def]
    total = 0.0
    for t in range(theirs.size):
        total += (row[t] if theirs[t] < mine else 0.0) - (row[t] if theirs[t] > mine else 0.0)
    return total


@njit(cache=True)
def _keep_upper(row, f, first):  # type: ignore[no-untyped-def]
    """Blank the pairs (f, g) with g <= f in a row that starts at feature `first`."""
    row[: max(0, min(row.size, f + 1 - first))] = 0


@njit(cache=True)
def whole_concordance_totals(ranks):  # type: ignore[no-untyped-def]
    """Concordance summed over all pairs of rankings without looking at pairs of runs.

    With s_i(f, g) = sign(rank_i(f) − rank_i(g)) and N = Σ_i s_i, returns Σ_{f<g} N² and, for every
    run, Σ_{f<g} s_i N. `ranks` are whole numbers. All counts fit 16-bit integers (fewer than 2¹⁴
    runs), of which the processor handles many at a time; tiles keep what is read in its cache.
    """
    m, p = ranks.shape
    tile = 512
    block = max(1, min(16, 16383 // m))
    row_sums = np.zeros(m)
    total = 0.0
    for first in range(0, p, tile):
        width = min(tile, p - first)
        far = ranks[:, first : first + width].copy()
        net = np.empty((block, width), dtype=np.int16)
        sums = np.empty(width, dtype=np.int16)
        for start in range(0, first + width, block):
            height = min(block, p - start)
            near = ranks[:, start : start + height].copy()
            net[:] = -m
            for i in range(m):
                for a in range(height):
                    _count_above(far[i], near[i, a], net[a])
            all_net = 0.0
            for a in range(height):
                _keep_upper(net[a], start + a, first)
                for t in range(width):
                    all_net += net[a, t]
                    total += float(net[a, t]) * float(net[a, t])
            for i in range(m):
                sums[:] = 0
                for a in range(height):
                    _sum_above(far[i], near[i, a], net[a], sums)
                gain = 0
                for t in range(width):
                    gain += sums[t]
                row_sums[i] += gain - all_net
    return total, row_sums


@njit(cache=True)
def scaled_concordance_totals(ranks, scale):  # type: ignore[no-untyped-def]
    """Do the same with s_i = scale_i · sign, for rankings that are tied to different extents."""
    m, p = ranks.shape
    tile, block = 512, 8
    row_sums = np.zeros(m)
    total = 0.0
    for first in range(0, p, tile):
        width = min(tile, p - first)
        far = ranks[:, first : first + width].copy()
        net = np.empty((block, width))
        for start in range(0, first + width, block):
            height = min(block, p - start)
            near = ranks[:, start : start + height].copy()
            net[:] = 0
            for i in range(m):
                for a in range(height):
                    _add_signs(far[i], near[i, a], net[a], scale[i])
            for a in range(height):
                _keep_upper(net[a], start + a, first)
                for t in range(width):
                    total += net[a, t] * net[a, t]
            for i in range(m):
                for a in range(height):
                    row_sums[i] += scale[i] * _sum_signs(far[i], near[i, a], net[a])
    return total, row_sums
