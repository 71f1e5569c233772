"""Importances of stochastic gradient boosting, where the same columns explain many targets.

Columns are sorted once for all targets. Trees are shallow and look at few columns, so a node takes
its rows from the sorted columns that it looks at, and nothing else is kept sorted. No tree is
stored: what counts is by how much each column reduced the squared error. Naive twin:
tests/naive_networks.py.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np
from numba import njit

from mainstay._kernels.network_forest import TIE, _next_feature
from mainstay._kernels.subspace_draws import GOLDEN, _below, _mixed


@njit(cache=True, nogil=True)
def _leave_out(state, rows, n_left_out, place):
    """Put all rows into node 1; those drawn to be left out into −1."""
    n = len(rows)
    place[:] = 1
    for drawn in range(n_left_out):
        at = drawn + _below(state, n - drawn)
        rows[at], rows[drawn] = rows[drawn], rows[at]
        place[rows[drawn]] = -1


@njit(cache=True, nogil=True)
def _rows_of(order, place, node, inside):
    """Fill `inside` with the rows of a node in the given order; return how many there are."""
    size = 0
    for p in range(len(order)):
        row = order[p]
        inside[size] = row  # overwritten by the next one if it is not of the node
        size += place[row] == node
    return size


@njit(cache=True, nogil=True)
def _best_cut(inside, size, values, residuals, total, inverse):
    """Best place to cut sorted rows, and what it leaves explained; place 0: there is none."""
    best, cut, left = -1.0, 0, 0.0
    before = values[inside[0]]
    for p in range(size):
        row = inside[p]
        if values[row] != before:
            before = values[row]
            right = total - left
            gain = left * left * inverse[p] + right * right * inverse[size - p]
            if gain > best:
                best, cut = gain, p
        left += residuals[row]
    return best, cut


@njit(cache=True, nogil=True)
def _describe(place, node, residuals):
    """Return the sum over a node's rows, and whether there is anything to explain."""
    n, total, first, varies = 0, 0.0, 0.0, False
    for row in range(len(place)):
        if place[row] == node:
            first = first if n else residuals[row]
            varies = varies or residuals[row] != first
            total += residuals[row]
            n += 1
    return total, varies


@njit(cache=True, nogil=True)
def _split(state, node, orders, values, residuals, features, todo, k, place, inverse, inside):
    """Find the best cut of a node among k columns drawn anew (and more, until one can be cut).

    Returns the column, −1 if there is none, the value halfway between the two sides, and by how
    much the cut reduces the sum of squares.
    """
    total, varies = _describe(place, node, residuals)
    best, feature, threshold, size, visited = 0.0, -1, 0.0, 0, 0
    while varies and visited < len(features) and (visited < k or feature < 0):
        j = features[_next_feature(state, todo, visited)]
        visited += 1
        size = _rows_of(orders[j], place, node, inside)
        gain, cut = _best_cut(inside, size, values[j], residuals, total, inverse)
        if cut > 0 and (feature < 0 or gain > best * (1.0 + TIE)):  # of equals the first drawn
            best, feature = gain, j
            threshold = 0.5 * (values[j, inside[cut - 1]] + np.float64(values[j, inside[cut]]))
    return feature, threshold, best - total * total * inverse[size]


@njit(cache=True, nogil=True)
def _divide(place, node, values, threshold):
    """Send the rows of a node, those left out too, to its children 2·node and 2·node + 1."""
    for row in range(len(place)):
        if place[row] == node:
            place[row] = 2 * node + (values[row] > threshold)
        elif place[row] == -node:
            place[row] = -2 * node - (values[row] > threshold)


@njit(cache=True, nogil=True)
def _step(place, rate, residuals, sums, counts):
    """Move the predictions of all rows towards the means of their nodes."""
    sums[:], counts[:] = 0.0, 0
    for row in range(len(place)):
        if place[row] > 0:
            sums[place[row]] += residuals[row]
            counts[place[row]] += 1
    for row in range(len(place)):
        node = abs(place[row])
        residuals[row] -= rate * sums[node] / counts[node]


@njit(cache=True, nogil=True)
def _loss(residuals, rows, n):
    """Mean square of the first n rows."""
    total = 0.0
    for i in range(n):
        total += residuals[rows[i]] ** 2
    return total / n


@njit(cache=True, nogil=True)
def boosting_importances(
    orders, values, y, features, n_trees, k, n_left_out, depth, rate, window, seed, out
):
    """Add to `out[j]` by how much splits on column j reduced the squared error; return the trees.

    `orders[j]` holds the row numbers in ascending order of column j, `values` (float32) is columns
    × rows. `features` are the columns that may be used; at every node k of them, drawn anew, are
    looked at. A tree of the given depth learns what the trees before it left unexplained, without
    `n_left_out` rows, and the prediction moves by `rate` times that of the tree. No more are grown
    when the loss on the rows left out is higher than it was `window` trees before, on the rows left
    out then.
    """
    N = len(y)
    state = np.empty(1, np.uint64)
    residuals, todo = y - y.mean(), np.arange(len(features))
    rows, place, inside = np.arange(N), np.empty(N, np.int32), np.empty(N, np.uint32)
    sums, counts = np.empty(2 << depth), np.empty(2 << depth, np.int64)
    losses, inverse = np.empty(n_trees + 1), np.zeros(N + 1)
    for i in range(1, N + 1):
        inverse[i] = 1.0 / i
    for tree in range(n_trees):
        state[0] = _mixed(np.uint64(seed) + GOLDEN * np.uint64(tree + 1))
        _leave_out(state, rows, n_left_out, place)
        for node in range(1, 1 << depth):
            feature, threshold, gain = _split(
                state, node, orders, values, residuals, features, todo, k, place, inverse, inside
            )
            if feature >= 0:
                out[feature] += gain
                _divide(place, node, values[feature], threshold)
        if tree == 0:
            losses[0] = _loss(residuals, rows, n_left_out)
        _step(place, rate, residuals, sums, counts)
        losses[tree + 1] = _loss(residuals, rows, n_left_out)
        if tree + 1 >= window and losses[tree + 1] > losses[tree + 1 - window]:
            return tree + 1
    return n_trees
