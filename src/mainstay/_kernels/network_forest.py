"""Importances of regression forests, where the same columns explain many targets.

Columns are sorted once for all targets and trees. A tree starts from these orders, without the rows
that were not drawn, and keeps them as it splits. No tree is stored: what counts is by how much each
feature reduced the sum of squares. Trees are grown until nothing is left to explain; of splits that
are equally good one is drawn at random, as small nodes can often be split alike by many features.
Naive twin: tests/naive_networks.py.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np
from numba import njit

from mainstay._kernels.subspace_draws import GOLDEN, _below, _fraction, _mixed

TIE = 1e-10  # relative difference up to which gains are the same


@njit(cache=True, nogil=True)
def _draw_rows(state, bootstrap, times):
    """Fill `times` with how often each row is drawn."""
    n = len(times)
    times[:] = 0 if bootstrap else 1
    if bootstrap:
        for _ in range(n):
            times[_below(state, n)] += 1


@njit(cache=True, nogil=True)
def _next_feature(state, features, visited):
    """Draw one of the features not yet visited, and move it to the place `visited`."""
    at = visited + _below(state, len(features) - visited)
    features[at], features[visited] = features[visited], features[at]
    return features[visited]


@njit(cache=True, nogil=True)
def _best_cut(sorted_rows, c, start, stop, ranks, j, times, weighted, n, total, inverse):
    """Best place to cut sorted rows, and what it leaves explained; place `start`: there is none."""
    best, cut = -1.0, start
    left, n_left = 0.0, 0
    before = ranks[j, sorted_rows[c, start]]
    for p in range(start, stop):
        row = sorted_rows[c, p]
        if ranks[j, row] != before:
            before = ranks[j, row]
            right = total - left
            gain = left * left * inverse[n_left] + right * right * inverse[n - n_left]
            if gain > best:
                best, cut = gain, p
        left += weighted[row]
        n_left += times[row]
    return best, cut


@njit(cache=True, nogil=True)
def _keep_sorted(sorted_rows, c, start, stop, goes_left, spare):
    """Move the rows that go left to the front, both parts in the order they were in."""
    left, right = start, 0
    for p in range(start, stop):
        row = sorted_rows[c, p]
        side = goes_left[row]
        sorted_rows[c, left] = row  # both writes, one of them overwritten next: nothing to predict
        spare[right] = row
        left += side
        right += 1 - side
    for p in range(right):
        sorted_rows[c, left + p] = spare[p]


@njit(cache=True, nogil=True)
def _describe(rows, start, stop, y, times, weighted):
    """Return number and sum of a node's rows, and whether there is anything to explain."""
    n, total, varies = 0, 0.0, False
    for p in range(start, stop):
        row = rows[p]
        n += times[row]
        total += weighted[row]
        varies = varies or y[row] != y[rows[start]]
    return n, total, varies


@njit(cache=True, nogil=True)
def _feature_for_two(state, ranks, features, a, b):
    """Draw one of the features that tell two rows apart; −1 if none does."""
    n = 0
    for c in range(len(features)):
        n += ranks[features[c], a] != ranks[features[c], b]
    if n == 0:
        return -1
    pick = _below(state, n)
    for c in range(len(features)):
        pick -= ranks[features[c], a] != ranks[features[c], b]
        if pick < 0:
            return c
    return -1


@njit(cache=True, nogil=True)
def forest_importances(orders, ranks, y, features, n_trees, k, bootstrap, seed, out):
    """Add to `out[j]` by how much splits on column j reduced the variance of y, per tree.

    `orders[j]` holds the row numbers in ascending order of column j, `ranks[j]` the ranks of the
    rows, equal for equal values. `features` are the columns that may be used; at every node k of
    them, drawn anew, are looked at (and more, until one can be split).
    """
    N, M = len(y), len(features)
    state = np.empty(1, np.uint64)
    times, weighted = np.empty(N, np.int64), np.empty(N)
    inverse = np.zeros(N + 1)
    for i in range(1, N + 1):
        inverse[i] = 1.0 / i
    sorted_rows = np.empty((M, N), np.uint32)
    goes_left, spare = np.zeros(N, np.int64), np.empty(N, np.uint32)
    stack, todo = np.empty((N + 1, 2), np.int64), np.arange(M)
    for tree in range(n_trees):
        state[0] = _mixed(np.uint64(seed) + GOLDEN * np.uint64(tree + 1))
        _draw_rows(state, bootstrap, times)
        for i in range(N):
            weighted[i] = times[i] * y[i]
        size = 0
        for c in range(M):
            todo[c] = c
            j = features[c]
            size = 0
            for p in range(N):
                row = orders[j, p]
                sorted_rows[c, size] = row
                size += times[row] > 0
        stack[0, 0], stack[0, 1] = 0, size
        waiting = 1
        while waiting > 0:
            waiting -= 1
            start, stop = stack[waiting]
            n, total, varies = _describe(sorted_rows[0], start, stop, y, times, weighted)
            if not varies:
                continue
            if stop - start == 2:  # every feature that tells the two rows apart splits them alike
                a, b = sorted_rows[0, start], sorted_rows[0, start + 1]
                feature = _feature_for_two(state, ranks, features, a, b)
                if feature >= 0:
                    gain = times[a] * y[a] * y[a] + times[b] * y[b] * y[b]
                    out[features[feature]] += (gain - total * total / n) / (N * n_trees)
                continue
            best, cut, feature, ties, visited = -1.0, start, 0, 0, 0
            while visited < M and (visited < k or cut == start):
                c = visited if k == M else _next_feature(state, todo, visited)
                visited += 1
                gain, p = _best_cut(
                    sorted_rows, c, start, stop, ranks, features[c], times, weighted, n, total,
                    inverse,
                )  # fmt: skip
                if p == start or gain < best * (1.0 - TIE):
                    continue
                ties = 1 if gain > best * (1.0 + TIE) else ties + 1
                if ties == 1 or _below(state, ties) == 0:
                    best, cut, feature = gain, p, c
            if cut == start:
                continue
            out[features[feature]] += (best - total * total * inverse[n]) / (N * n_trees)
            rows = sorted_rows[feature]
            _, _, varies_left = _describe(rows, start, cut, y, times, weighted)
            _, _, varies_right = _describe(rows, cut, stop, y, times, weighted)
            if not (varies_left or varies_right):
                continue
            for p in range(start, stop):
                goes_left[rows[p]] = p < cut
            for c in range(M):
                if c != feature:
                    _keep_sorted(sorted_rows, c, start, stop, goes_left, spare)
            if varies_left:
                stack[waiting, 0], stack[waiting, 1] = start, cut
                waiting += 1
            if varies_right:
                stack[waiting, 0], stack[waiting, 1] = cut, stop
                waiting += 1


@njit(cache=True, nogil=True)
def extra_importances(values, y, features, n_trees, k, bootstrap, seed, out):
    """As `forest_importances`, for extremely randomised trees: one random threshold per feature.

    `values` (float32) is columns × rows; nothing needs to be sorted.
    """
    N, M = len(y), len(features)
    state = np.empty(1, np.uint64)
    times, weighted = np.empty(N, np.int64), np.empty(N)
    rows, stack, todo = np.empty(N, np.int64), np.empty((N + 1, 2), np.int64), np.arange(M)
    for tree in range(n_trees):
        state[0] = _mixed(np.uint64(seed) + GOLDEN * np.uint64(tree + 1))
        _draw_rows(state, bootstrap, times)
        size = 0
        for i in range(N):
            weighted[i] = times[i] * y[i]
            rows[size] = i
            size += times[i] > 0
        for c in range(M):
            todo[c] = c
        stack[0, 0], stack[0, 1] = 0, size
        waiting = 1
        while waiting > 0:
            waiting -= 1
            start, stop = stack[waiting]
            n, total, varies = _describe(rows, start, stop, y, times, weighted)
            if not varies:
                continue
            best, threshold, feature, ties, visited = -1.0, np.float32(0), -1, 0, 0
            while visited < M and (visited < k or feature < 0):
                c = visited if k == M else _next_feature(state, todo, visited)
                visited += 1
                j = features[c]
                low = high = values[j, rows[start]]
                for p in range(start, stop):
                    x = values[j, rows[p]]
                    low, high = min(low, x), max(high, x)
                if low == high:
                    continue
                at = np.float32(low + _fraction(state) * (high - low))
                if at >= high:  # rounded up
                    at = low
                left, n_left = 0.0, 0
                for p in range(start, stop):
                    row = rows[p]
                    goes = values[j, row] <= at
                    left += goes * weighted[row]
                    n_left += goes * times[row]
                right = total - left
                gain = left * left / n_left + right * right / (n - n_left)
                if gain < best * (1.0 - TIE):
                    continue
                ties = 1 if gain > best * (1.0 + TIE) else ties + 1
                if ties == 1 or _below(state, ties) == 0:
                    best, threshold, feature = gain, at, c
            if feature < 0:
                continue
            out[features[feature]] += (best - total * total / n) / (N * n_trees)
            j, middle = features[feature], start
            for p in range(start, stop):
                row = rows[p]
                if values[j, row] <= threshold:
                    rows[p], rows[middle] = rows[middle], row
                    middle += 1
            stack[waiting, 0], stack[waiting, 1] = start, middle
            stack[waiting + 1, 0], stack[waiting + 1, 1] = middle, stop
            waiting += 2
