"""Trees that split a node into all values of a discrete feature at once (ID3), compiled.

One of the kinds of trees that nogueira2015 may have used: it splits by "the mutual information",
which its authors' other work computes between discretised features and the class.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np
from numba import njit

from mainstay._kernels.subspace_draws import GOLDEN, _below, _mixed


@njit(cache=True, nogil=True)
def _entropy(counts, n):
    total = 0.0
    for count in counts:
        if count > 0:
            total -= count / n * np.log(count / n)
    return total


@njit(cache=True, nogil=True)
def _information(codes, j, rows, y, table):
    """Mutual information of feature j and the class in some rows."""
    table[:] = 0
    for row in rows:
        table[codes[j, row], y[row]] += 1
    n, left = len(rows), 0.0
    for counts in table:
        some = counts.sum()
        if some > 0:
            left += some / n * _entropy(counts, some)
    return _entropy(table.sum(axis=0), n) - left


@njit(cache=True, nogil=True)
def _grow(state, codes, y, n_values, n_classes, mtry, used):
    """Grow one tree on a bootstrap sample, until nothing more can be told; mark its features.

    `mtry` of the features that the path to the node has not used are candidates.
    """
    p, n = codes.shape
    table = np.zeros((n_values, n_classes), np.int64)
    drawn = np.empty(n, np.int64)
    for i in range(n):
        drawn[i] = _below(state, n)
    nodes = [(drawn, np.ones(p, np.bool_))]
    while len(nodes):
        rows, free = nodes.pop()
        candidates = np.flatnonzero(free)
        best, feature = 1e-12, -1
        for i in range(min(mtry, len(candidates))):
            at = i + _below(state, len(candidates) - i)
            j = candidates[at]
            candidates[at] = candidates[i]
            found = _information(codes, j, rows, y, table)
            if found > best:
                best, feature = found, j
        if feature < 0:
            continue
        used[feature] = True
        for value in range(n_values):
            part = rows[codes[feature, rows] == value]
            if len(part) > 1:
                left = free.copy()
                left[feature] = False
                nodes.append((part, left))


@njit(cache=True, nogil=True)
def multiway_forest(codes, y, n_values, n_classes, mtry, n_trees, seed):
    """Which features each tree uses: trees × p; codes: p × n values from 0 to n_values − 1."""
    state = np.empty(1, np.uint64)
    state[0] = _mixed(np.uint64(seed) + GOLDEN)
    used = np.zeros((n_trees, codes.shape[0]), np.bool_)
    for tree in range(n_trees):
        _grow(state, codes, y, n_values, n_classes, mtry, used[tree])
    return used
