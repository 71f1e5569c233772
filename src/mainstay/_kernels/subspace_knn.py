"""Nearest neighbours for many feature subsets, folds and bootstrap samples.

The rows of a bootstrap sample are visited once each, whatever their multiplicity; a row that was
drawn m times fills m of the k places. Of rows at exactly the same distance the one with the lower
number comes first. Naive twin: tests/naive_subspace_models.py.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np
from numba import njit

from mainstay._kernels.subspace_draws import (
    chosen_features,
    constant_predictions,
    constant_value,
    draw,
    first_largest,
    most_features,
)


@njit(cache=True, nogil=True, error_model="numpy")
def _bag(counts, rows, times):
    """List the rows of a bootstrap sample and how often they were drawn; return their number."""
    size = 0
    for i in range(len(counts)):
        if counts[i] > 0:
            rows[size], times[size] = i, counts[i]
            size += 1
    return size


@njit(cache=True, nogil=True, error_model="numpy")
def _squared_distances(bagged, d, n, point, out):
    """Fill `out` with squared distances, features summed in order, of n rows to a point."""
    row, x = bagged[0], point[0]
    for b in range(n):
        out[b] = (row[b] - x) * (row[b] - x)
    c = 1
    while c + 1 < d:
        row, x, other, z = bagged[c], point[c], bagged[c + 1], point[c + 1]
        for b in range(n):
            out[b] = (out[b] + (row[b] - x) * (row[b] - x)) + (other[b] - z) * (other[b] - z)
        c += 2
    if c < d:
        row, x = bagged[c], point[c]
        for b in range(n):
            out[b] += (row[b] - x) * (row[b] - x)


@njit(cache=True, nogil=True, error_model="numpy")
def _nearest(distances, times, n, k, near, place):
    """Fill `near` and `place` with the k smallest distances and where they are, ascending."""
    filled = 0
    for b in range(n):
        distance = distances[b]
        if filled == k and not distance < near[k - 1]:
            continue
        for _ in range(times[b]):
            if filled < k:
                at = filled
                filled += 1
            elif distance < near[k - 1]:
                at = k - 1
            else:
                break
            while at > 0 and distance < near[at - 1]:
                near[at], place[at] = near[at - 1], place[at - 1]
                at -= 1
            near[at], place[at] = distance, b


@njit(cache=True, nogil=True, error_model="numpy")
def knn_held_out(columns, y, n_classes, soft, k, n_folds, weights, Z, seeds, out):
    """Fill `out[t]` with what model t predicts for its held-out rows.

    `columns` is features × rows. `n_classes` = 0 means regression. With `soft`, a prediction is the
    share of a row's own class among its neighbours. Every bootstrap sample has at least k rows.
    """
    n = len(y)
    folds = max(n_folds, 1)
    order, first = np.empty(n, np.int64), np.empty(folds + 1, np.int64)
    counts = np.empty((folds, n), np.int64)
    chosen = np.empty(len(columns), np.int64)
    most = most_features(Z)
    bagged, point, distances = np.empty((most, n)), np.empty(most), np.empty(n)
    rows, times = np.empty(n, np.int64), np.empty(n, np.int64)
    near, place, tally = np.empty(k), np.empty(k, np.int64), np.empty(n_classes, np.int64)
    for t in range(len(seeds)):
        draw(seeds[t], n_folds, weights, order, first, counts)
        d = chosen_features(Z[t], chosen)
        for f in range(folds):
            held = order[first[f] : first[f + 1]]
            if d == 0:
                value, _ = constant_value(y, counts[f], n_classes, tally)
                constant_predictions(y, held, value, n_classes, soft, out[t])
                continue
            size = _bag(counts[f], rows, times)
            for c in range(d):
                for b in range(size):
                    bagged[c, b] = columns[chosen[c], rows[b]]
            for i in held:
                for c in range(d):
                    point[c] = columns[chosen[c], i]
                _squared_distances(bagged, d, size, point, distances)
                _nearest(distances, times, size, k, near, place)
                if n_classes == 0:
                    total = 0.0
                    for a in range(k):
                        total += y[rows[place[a]]]
                    out[t, i] = total / k
                    continue
                for c in range(n_classes):
                    tally[c] = 0
                for a in range(k):
                    tally[int(y[rows[place[a]]])] += 1
                out[t, i] = tally[int(y[i])] / k if soft else first_largest(tally)
