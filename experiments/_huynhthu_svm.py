"""Random subspaces of support vector machines, compiled, for the grids of huynhthu2021.

scikit-learn's SVC and SVR with their defaults, bagged: 10,100 machines for one training set. It is
faster because a machine with more features of an ensemble has those of the ones with fewer, so that
squared distances are summed once for all sizes and folds. Every size by itself is drawn as before.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np
from numba import njit

from mainstay._kernels.subspace_draws import GOLDEN, _below, _mixed
from mainstay._kernels.subspace_svm import GIVEN, _exp, _pose, _problem, _solve

C, EPSILON, TOLERANCE = 1.0, 0.1, 1e-3  # scikit-learn's defaults


@njit(cache=True, nogil=True, error_model="numpy")
def _add_features(columns, features, distances):
    """Add squared differences in some features to the distances of the first rows to all."""
    for i in range(len(distances)):
        line = distances[i]
        for j in features:
            column, x = columns[j], columns[j, i]
            for r in range(len(line)):
                line[r] += (column[r] - x) * (column[r] - x)


@njit(cache=True, nogil=True, error_model="numpy")
def _similarities(distances, rows, n, n_all, gamma, problem, cache):
    """Fill `cache` with exp(−γ distance) of the rows trained on and all rows of a problem."""
    exponent = problem.gain
    for i in range(n):
        line = distances[rows[i]]
        for r in range(n_all):
            exponent[r] = -gamma * line[rows[r]]
        _exp(exponent, n_all, problem.gap, problem.gap_bits, cache[i])


@njit(cache=True, nogil=True, error_model="numpy")
def _add_moments(columns, features, counts, moments):
    """Add the sum and the sum of squares of some features in every bootstrap sample."""
    for f in range(len(counts)):
        for j in features:
            for i in range(len(counts[f])):
                weighted = counts[f, i] * columns[j, i]
                moments[f, 0] += weighted
                moments[f, 1] += weighted * columns[j, i]


@njit(cache=True, nogil=True, error_model="numpy")
def machines(columns, y, classes, n_learned, fold_of, sizes, n_models, seed):
    """Mean prediction (the share of votes for class 1 if `classes`) by size and row.

    `columns` is features × rows, of which the first `n_learned` may be learned from. The rows of
    fold f = 0, 1, … are predicted by machines that learn from bootstraps of those of them that are
    in other folds (−1: in none). `sizes` are in ascending order.
    """
    p, n = columns.shape
    folds = fold_of.max() + 1
    state = np.empty(1, np.uint64)
    every, distances = np.arange(p), np.empty((n_learned, n))
    counts, moments = np.empty((folds, n_learned), np.int64), np.empty((folds, 2))
    problem, memory = _problem(0, n), np.empty(n_learned * n, np.float32)
    train, start, out = np.empty(n_learned, np.int64), np.zeros(n), np.zeros((len(sizes), n))
    n_classes, epsilon = (2, 0.0) if classes else (0, EPSILON)
    for t in range(n_models):
        state[0] = _mixed(np.uint64(seed) + GOLDEN * np.uint64(t + 1))
        counts[:] = 0
        for f in range(folds):
            m = 0
            for i in range(n_learned):
                train[m] = i
                m += fold_of[i] != f
            for _ in range(m):
                counts[f, train[_below(state, m)]] += 1
        for i in range(sizes[-1]):
            at = i + _below(state, p - i)
            every[at], every[i] = every[i], every[at]
        distances[:], moments[:] = 0, 0
        for s in range(len(sizes)):
            new = every[(sizes[s - 1] if s else 0) : sizes[s]]
            _add_features(columns, new, distances)
            _add_moments(columns, new, counts, moments)
            for f in range(folds):
                held = np.nonzero(fold_of == f)[0]
                entries = sizes[s] * counts[f].sum()
                variance = moments[f, 1] / entries - (moments[f, 0] / entries) ** 2
                size, n_all = _pose(
                    problem, columns, new, 0, y[:n_learned], counts[f], held, n_classes, 1, 0,
                    start,
                )  # fmt: skip
                if classes and (y[problem.rows[:size]] == y[problem.rows[0]]).all():
                    out[s, held] += y[problem.rows[0]]  # the bootstrap has one class
                    continue
                cache = memory[: size * n_all].reshape(size, n_all)
                gamma = 1.0 / (sizes[s] * variance) if variance > 0 else 1.0
                _similarities(distances, problem.rows, size, n_all, gamma, problem, cache)
                offset = _solve(problem, 0, size, n_all, GIVEN, gamma, C, epsilon, TOLERANCE, cache)
                for r in range(size, n_all):
                    decision = offset - problem.u[r]
                    out[s, problem.rows[r]] += decision > 0 if classes else decision
    return out / n_models
