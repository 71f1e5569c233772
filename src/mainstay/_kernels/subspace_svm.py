"""Support vector machines for many feature subsets, folds and bootstrap samples.

The dual problem of libsvm, in signed coefficients β (C-SVC: βᵢ = yᵢαᵢ, ε = 0; SVR: βᵢ = αᵢ − αᵢ*):

    minimise ½ βᵀKβ − pᵀβ + ε Σ|βᵢ|   subject to   Σ βᵢ = 0,  lowᵢ ≤ βᵢ ≤ highᵢ

A row that was drawn m times is one variable with m times the bound, which has the same solution as
m copies. The code has β/C, whose bounds are whole numbers: sums of coefficients at their bounds are
exact. Solved as libsvm does, two variables at a time chosen by second-order information, to the
same tolerance and with kernels as float32. The residuals p − Kβ of the held-out rows are kept up to
date with the others, so that they are the predictions in the end. A fold starts from the
coefficients of the folds before, as shares of their bounds. Naive twin:
tests/naive_subspace_models.py.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import Any, NamedTuple

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

RBF, LINEAR, GIVEN = 0, 1, 2  # given: similarities, 1 on the diagonal, are in the cache already
FIXED, SCALE, AUTO = 0, 1, 2  # how gamma is found
TAU = 1e-12
NEAR = 1e-12  # from a bound, in units of C, is at the bound

# float32 constants of the exponential
LOWEST = np.float32(-87.0)
SHIFT = np.float32(1.5 * 2**23)  # adding it rounds a number to a whole one, found in the low bits
LOG2_E = np.float32(1.44269504)
LN2_HIGH, LN2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)
ONE, E2, E3, E4 = np.float32(1), np.float32(1 / 2), np.float32(1 / 6), np.float32(1 / 24)
E5, E6, E7 = np.float32(1 / 120), np.float32(1 / 720), np.float32(1 / 5040)


class Problem(NamedTuple):
    """Memory of one problem: rows to train on first, then those to predict."""

    points: Any  # features × rows
    rows: Any  # which row of the data each is
    low: Any
    high: Any
    beta: Any  # in units of C, as low and high
    u: Any  # p − Kβ
    up: Any  # what to subtract from u for the slope upwards; inf where β may not grow
    down: Any  # the same downwards; −inf where β may not shrink
    diagonal: Any
    sums: Any
    gain: Any  # float32
    gain_bits: Any  # the same memory as integers
    gap: Any
    gap_bits: Any
    known: Any  # whether a row of the kernel was computed


@njit(cache=True, nogil=True, error_model="numpy")
def _problem(most, n):
    """Allocate for n rows and up to `most` features."""
    gain, gap = np.empty(n, np.float32), np.empty(n + 1, np.float32)
    return Problem(
        np.empty((most, n)), np.empty(n, np.int64), np.empty(n), np.empty(n), np.empty(n),
        np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n), gain,
        gain.view(np.int32), gap, gap.view(np.int32), np.empty(n, np.bool_),
    )  # fmt: skip


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _exp(x, n, rounded, bits, out):
    """Fill `out` with exp(x), x ≤ 0, to float32 precision, in plain loops that vectorise.

    `bits` is the memory of `rounded` as integers.
    """
    for i in range(n):
        z = max(x[i], LOWEST)
        r = z * LOG2_E + SHIFT
        k = r - SHIFT
        z = (z - k * LN2_HIGH) - k * LN2_LOW
        p = (((((E7 * z + E6) * z + E5) * z + E4) * z + E3) * z + E2) * z + ONE
        rounded[i] = r
        out[i] = p * z + ONE
    for i in range(n):
        bits[i] = (bits[i] + 127) << 23
    for i in range(n):
        out[i] *= rounded[i]


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _kernel_row(points, sums, exponent, rounded, bits, d, n, i, kernel, gamma, cache):
    """Fill `cache[i]` with the kernel of row i and the first n rows."""
    if kernel == GIVEN:
        return
    out = cache[i]
    for j in range(n):
        sums[j] = 0.0
    if kernel == LINEAR:
        for c in range(d):
            row, x = points[c], points[c, i]
            for j in range(n):
                sums[j] += row[j] * x
        for j in range(n):
            out[j] = sums[j]
        return
    c = 0
    while c + 1 < d:  # two at a time: fewer passes through the sums
        row, x, other, z = points[c], points[c, i], points[c + 1], points[c + 1, i]
        for j in range(n):
            a, b = row[j] - x, other[j] - z
            sums[j] += a * a + b * b
        c += 2
    if c < d:
        row, x = points[c], points[c, i]
        for j in range(n):
            a = row[j] - x
            sums[j] += a * a
    for j in range(n):
        exponent[j] = -gamma * sums[j]
    _exp(exponent, n, rounded, bits, out)


@njit(cache=True, nogil=True, error_model="numpy")
def _balance(problem, n):
    """Move coefficients towards 0 until they sum to 0, those at a bound last."""
    beta, low, high = problem.beta, problem.low, problem.high
    surplus = 0.0
    for i in range(n):
        surplus += beta[i]
    sign = 1.0 if surplus > 0 else -1.0
    surplus = abs(surplus)
    for free in (True, False):
        for i in range(n):
            if surplus > 0 and sign * beta[i] > 0 and (low[i] < beta[i] < high[i]) == free:
                less = min(abs(beta[i]), surplus)
                beta[i] = 0.0 if less == abs(beta[i]) else beta[i] - sign * less
                surplus -= less


@njit(cache=True, nogil=True, error_model="numpy")
def _slopes(beta, low, high, epsilon):
    """How the slopes of a coefficient up and down differ from u; ±inf where it may not move."""
    up = (epsilon if beta >= 0 else -epsilon) if beta < high else np.inf
    return up, (epsilon if beta > 0 else -epsilon) if beta > low else -np.inf


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _partner(u, down, diagonal, gain, gain_bits, gap, gap_bits, n, largest, i, cache):
    """Return the coefficient with which to move, by gain, and the widest gap of slopes.

    Gains and gaps are float32 and not negative, so that their bits are ordered as they are:
    compilers vectorise the maximum of integers, and not that of floats.
    """
    own = diagonal[i]
    for r in range(n):
        width = np.float32(max(largest - u[r] + down[r], 0.0))
        gap[r] = width
        gain[r] = width * width / np.float32(max(own + diagonal[r] - 2.0 * cache[i, r], TAU))
    widest = best = np.int32(0)
    for r in range(n):
        widest = max(widest, gap_bits[r])
        best = max(best, gain_bits[r])
    j = 0
    while gain_bits[j] != best:
        j += 1
    gap_bits[-1] = widest  # from bits to a number
    return j, gap[-1]


@njit(cache=True, nogil=True, error_model="numpy")
def _solve(problem, d, n, n_all, kernel, gamma, C, epsilon, tol, cache):
    """Solve from feasible coefficients; return the offset b.

    The first n rows are trained on. `u` holds p on entry and p − Kβ on return, for all rows. Arrays
    are taken from the problem before the loop: numba counts each time that one is.
    """
    beta, low, high, u = problem.beta, problem.low, problem.high, problem.u
    up, down, diagonal, known = problem.up, problem.down, problem.diagonal, problem.known
    gain, gain_bits, gap, gap_bits = problem.gain, problem.gain_bits, problem.gap, problem.gap_bits
    points, sums = problem.points, problem.sums
    for i in range(n):
        known[i] = beta[i] != 0.0
        up[i], down[i] = _slopes(beta[i], low[i], high[i], epsilon)
        diagonal[i] = 1.0
        if kernel == LINEAR:
            diagonal[i] = 0.0
            for c in range(d):
                diagonal[i] += points[c, i] ** 2
    for i in range(n):
        if known[i]:
            _kernel_row(points, sums, gain, gap, gap_bits, d, n_all, i, kernel, gamma, cache)
            for r in range(n_all):
                u[r] -= C * beta[i] * cache[i, r]
    for _ in range(max(10_000_000, 100 * n)):
        # the coefficient that most wants to grow
        i, largest = 0, -np.inf
        for r in range(n):
            if u[r] - up[r] > largest:
                i, largest = r, u[r] - up[r]
        if not known[i]:
            known[i] = True
            _kernel_row(points, sums, gain, gap, gap_bits, d, n_all, i, kernel, gamma, cache)
        j, widest = _partner(
            u, down, diagonal, gain, gain_bits, gap, gap_bits, n, largest, i, cache
        )
        if widest < tol:
            break
        if not known[j]:
            known[j] = True
            _kernel_row(points, sums, gain, gap, gap_bits, d, n_all, j, kernel, gamma, cache)
        # 0 is a stop on the way from bound to bound, for the slope may change there
        end_i = 0.0 if beta[i] < 0 else high[i]
        end_j = 0.0 if beta[j] > 0 else low[j]
        room_i, room_j = end_i - beta[i], beta[j] - end_j
        curvature = C * max(diagonal[i] + diagonal[j] - 2.0 * cache[i, j], TAU)
        step = min((largest - u[j] + down[j]) / curvature, room_i, room_j)
        beta[i] = beta[i] + step if room_i - step > NEAR else end_i
        beta[j] = beta[j] - step if room_j - step > NEAR else end_j
        for r in (i, j):
            up[r], down[r] = _slopes(beta[r], low[r], high[r], epsilon)
        step *= C
        for r in range(n_all):
            u[r] -= step * (cache[i, r] - cache[j, r])
    total, free, largest, smallest = 0.0, 0, -np.inf, np.inf
    for i in range(n):
        if beta[i] != 0.0 and low[i] < beta[i] < high[i]:
            total += u[i] - up[i]
            free += 1
        largest, smallest = max(largest, u[i] - up[i]), min(smallest, u[i] - down[i])
    return total / free if free > 0 else (largest + smallest) / 2


@njit(cache=True, nogil=True, error_model="numpy")
def _gamma(columns, chosen, d, counts, how, gamma):
    """Gamma of a bootstrap sample: given, 1/d, or 1/(d × variance of all its entries)."""
    if how == FIXED:
        return gamma
    if how == AUTO:
        return 1.0 / d
    n, total = 0, 0.0
    for c in range(d):
        for i in range(len(counts)):
            n += counts[i]
            total += counts[i] * columns[chosen[c], i]
    mean, variance = total / n, 0.0
    for c in range(d):
        for i in range(len(counts)):
            deviation = columns[chosen[c], i] - mean
            variance += counts[i] * deviation * deviation
    variance /= n
    return 1.0 / (d * variance) if variance != 0.0 else 1.0


@njit(cache=True, nogil=True, error_model="numpy")
def _pose(problem, columns, chosen, d, y, counts, held, n_classes, a, b, share):
    """Set up the problem of classes a (+1) and b (−1), or the regression; return its sizes.

    `share` holds where to start from, as shares of the bounds.
    """
    n, rows = 0, problem.rows
    for i in range(len(y)):
        if counts[i] == 0 or (n_classes > 0 and y[i] != a and y[i] != b):
            continue
        problem.low[n] = 0.0 if n_classes > 0 and y[i] == a else -counts[i]
        problem.high[n] = 0.0 if n_classes > 0 and y[i] == b else counts[i]
        problem.beta[n] = share[i] * counts[i]
        problem.u[n] = y[i] if n_classes == 0 else (1.0 if y[i] == a else -1.0)
        rows[n] = i
        n += 1
    n_all = n + len(held)
    for h in range(len(held)):
        rows[n + h] = held[h]
        problem.u[n + h] = 0.0
    for c in range(d):
        column = columns[chosen[c]]
        for r in range(n_all):
            problem.points[c, r] = column[rows[r]]
    return n, n_all


@njit(cache=True, nogil=True, error_model="numpy")
def svm_held_out(
    columns, y, n_classes, kernel, how_gamma, fixed_gamma, C, epsilon, tol, n_folds, weights, Z,
    seeds, out,
):  # fmt: skip
    """Fill `out[t]` with what model t predicts for its held-out rows.

    `columns` is features × rows. `n_classes` = 0 means regression; otherwise `epsilon` is 0, and
    every pair of classes that occur has a machine and a vote.
    """
    n = len(y)
    folds = max(n_folds, 1)
    order, first = np.empty(n, np.int64), np.empty(folds + 1, np.int64)
    counts = np.empty((folds, n), np.int64)
    chosen, tally = np.empty(len(columns), np.int64), np.empty(n_classes, np.int64)
    most = most_features(Z)
    problem, memory = _problem(most, n), np.empty(0, np.float32)
    pairs = max(n_classes * (n_classes - 1) // 2, 1)
    share, votes = np.empty((pairs, n)), np.empty((n, n_classes), np.int64)
    for t in range(len(seeds)):
        draw(seeds[t], n_folds, weights, order, first, counts)
        d = chosen_features(Z[t], chosen)
        share[:] = 0.0
        for f in range(folds):
            held = order[first[f] : first[f + 1]]
            value, one_class = constant_value(y, counts[f], n_classes, tally)
            if d == 0 or one_class:
                constant_predictions(y, held, value, n_classes, False, out[t])
                continue
            gamma = _gamma(columns, chosen, d, counts[f], how_gamma, fixed_gamma)
            votes[:] = 0
            pair = -1
            for a in range(max(n_classes - 1, 1)):
                for b in range(a + 1, max(n_classes, 2)):
                    pair += 1
                    if n_classes > 0 and (tally[a] == 0 or tally[b] == 0):
                        continue
                    size, n_all = _pose(
                        problem, columns, chosen, d, y, counts[f], held, n_classes, a, b,
                        share[pair],
                    )  # fmt: skip
                    _balance(problem, size)
                    if len(memory) < size * n_all:
                        memory = np.empty(size * n_all, np.float32)
                    cache = memory[: size * n_all].reshape(size, n_all)
                    offset = _solve(problem, d, size, n_all, kernel, gamma, C, epsilon, tol, cache)
                    rows = problem.rows
                    for r in range(size):
                        share[pair, rows[r]] = problem.beta[r] / counts[f, rows[r]]
                    for r in range(size, n_all):
                        decision = offset - problem.u[r]
                        if n_classes == 0:
                            out[t, rows[r]] = decision
                        else:
                            votes[rows[r], a if decision > 0 else b] += 1
            if n_classes > 0:
                for i in held:
                    out[t, i] = first_largest(votes[i])
