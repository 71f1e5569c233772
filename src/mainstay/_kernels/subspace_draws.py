"""Folds and bootstrap samples of one model of a random-subspace ensemble, from its seed alone.

A bootstrap sample is held as multiplicities: `counts[f, i]` says how often row i was drawn for the
model of fold f. Naive twins of what is learned from them: tests/naive_subspace_models.py.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np
from numba import njit

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)


@njit(cache=True, nogil=True, error_model="numpy")
def _mixed(z):
    """Scramble 64 bits (the output function of splitmix64)."""
    z = (z ^ (z >> np.uint64(30))) * FIRST
    z = (z ^ (z >> np.uint64(27))) * SECOND
    return z ^ (z >> np.uint64(31))


@njit(cache=True, nogil=True, error_model="numpy")
def _below(state, n):
    """Draw a whole number from 0 to n − 1, n < 2³²; probabilities are right to n / 2³²."""
    state[0] += GOLDEN
    return np.int64(((_mixed(state[0]) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@njit(cache=True, nogil=True, error_model="numpy")
def _fraction(state):
    """Draw a number in [0, 1)."""
    state[0] += GOLDEN
    return np.float64(_mixed(state[0]) >> np.uint64(11)) * 2.0**-53


@njit(cache=True, nogil=True, error_model="numpy")
def _bootstrap(state, rows, n, weights, cumulated, counts):
    """Draw n times from the n `rows`, evenly or in proportion to weights; add to `counts`."""
    total = 0.0
    if len(weights):
        for i in range(n):
            total += weights[rows[i]]
            cumulated[i] = total
    if total == 0.0:
        for _ in range(n):
            counts[rows[_below(state, n)]] += 1
        return
    last = n - 1
    while weights[rows[last]] == 0.0:
        last -= 1
    for _ in range(n):
        point = _fraction(state) * total
        low, high = 0, last  # the first row whose cumulated weight exceeds the point, or the last
        while low < high:
            middle = (low + high) // 2
            if cumulated[middle] > point:
                high = middle
            else:
                low = middle + 1
        counts[rows[low]] += 1


@njit(cache=True, nogil=True, error_model="numpy")
def draw(seed, n_folds, weights, order, first, counts):
    """Draw what model `seed` is trained on and predicts.

    The rows held out in fold f are `order[first[f] : first[f + 1]]`; the other rows gave its
    bootstrap sample, `counts[f]`. Folds are consecutive pieces of a shuffle, the first N mod F of
    them one row longer. With `n_folds` = 0 there is one bootstrap sample, of all rows, and the rows
    that are not in it are held out.
    """
    n = len(order)
    state = np.empty(1, np.uint64)
    state[0] = _mixed(np.uint64(seed) + GOLDEN)
    rows, cumulated = np.empty(n, np.int64), np.empty(n)
    for i in range(n):
        order[i] = i
        for f in range(len(counts)):
            counts[f, i] = 0
    if n_folds == 0:
        _bootstrap(state, order, n, weights, cumulated, counts[0])
        out = 0
        for i in range(n):
            if counts[0, i] == 0:
                order[out] = i
                out += 1
        first[0], first[1] = 0, out
        return
    for i in range(n - 1, 0, -1):
        j = _below(state, i + 1)
        order[i], order[j] = order[j], order[i]
    first[0] = 0
    for f in range(n_folds):
        a, b = first[f], first[f] + n // n_folds + (f < n % n_folds)
        first[f + 1] = b
        for i in range(n - b + a):
            rows[i] = order[i] if i < a else order[i + b - a]
        _bootstrap(state, rows, n - b + a, weights, cumulated, counts[f])


@njit(cache=True, nogil=True, error_model="numpy")
def chosen_features(used, chosen):
    """List the features of a model; return how many there are."""
    n = 0
    for j in range(len(used)):
        if used[j]:
            chosen[n] = j
            n += 1
    return n


@njit(cache=True, nogil=True, error_model="numpy")
def most_features(Z):
    """Return the largest number of features of a model."""
    most = 0
    for t in range(Z.shape[0]):
        size = 0
        for j in range(Z.shape[1]):
            size += Z[t, j]
        most = max(most, size)
    return most


@njit(cache=True, nogil=True, error_model="numpy")
def first_largest(values):
    """Return where the largest value is, the first of several."""
    best = 0
    for i in range(len(values)):
        if values[i] > values[best]:
            best = i
    return best


@njit(cache=True, nogil=True, error_model="numpy")
def constant_value(y, counts, n_classes, tally):
    """Return the mean (no classes) or the first most frequent class of a bootstrap sample.

    Also returns whether there is one class only; `tally` gets the counts of the classes.
    """
    if n_classes == 0:
        total, n = 0.0, 0
        for i in range(len(y)):
            total += counts[i] * y[i]
            n += counts[i]
        return total / n, False
    for c in range(n_classes):
        tally[c] = 0
    for i in range(len(y)):
        tally[int(y[i])] += counts[i]
    present = 0
    for c in range(n_classes):
        present += tally[c] > 0
    return float(first_largest(tally)), present == 1


@njit(cache=True, nogil=True, error_model="numpy")
def constant_predictions(y, held, value, n_classes, soft, out):
    """Fill in a model without features: `value`, or with soft votes 1 where it is the class."""
    for i in held:
        if soft and n_classes > 0:
            out[i] = 1.0 if y[i] == value else 0.0
        else:
            out[i] = value
