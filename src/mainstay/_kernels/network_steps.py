"""Gradient steps of many subspace problems in lock-step, under a penalty that couples them.

With squared error and self-normalised weights v_t = w_t/Σw the objective of one target is a
quadratic form in v: with predictions P (models × rows), K = PP'/N and b = Py/N,

    F = y'y/N − 2 v'b + v'Kv,    ∂F/∂β_j = 2 Σ_{t∋j} v_t r_t/(β_j(1 − β_j)),
    r = Kv − b − v'(Kv − b).

A step costs T² + (features in use) operations per target, however many rows there are. The slow
twin is `mainstay.subspace.optimisation.advance_together`.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import math

import numpy as np
from numba import njit

CLIP = 1e-6


@njit(cache=True, nogil=True)
def _clipped(p):
    return min(max(p, CLIP), 1.0 - CLIP)


@njit(cache=True, nogil=True)
def _list_members(Z, first, members, used):
    """List the features of every model; count in `used` how many models use each feature."""
    used[:] = 0
    size = 0
    for t in range(Z.shape[0]):
        first[t] = size
        for j in range(Z.shape[1]):
            if Z[t, j]:
                members[size] = j
                used[j] += 1
                size += 1
    first[Z.shape[0]] = size


@njit(cache=True, nogil=True)
def _log_mixture(references, shares, first, members, joint, out):
    """log Σ_q c_q p(z_t | α^(q)) of every model."""
    T = len(out)
    for q in range(len(references)):
        empty = math.log(shares[q])
        for j in range(references.shape[1]):
            empty += math.log1p(-_clipped(references[q, j]))
        for t in range(T):
            total = empty
            for m in range(first[t], first[t + 1]):
                p = _clipped(references[q, members[m]])
                total += math.log(p) - math.log1p(-p)
            joint[q, t] = total
    for t in range(T):
        top = joint[0, t]
        for q in range(1, len(references)):
            top = max(top, joint[q, t])
        total = 0.0
        for q in range(len(references)):
            total += math.exp(joint[q, t] - top)
        out[t] = top + math.log(total)


@njit(cache=True, nogil=True)
def _weigh(alpha, first, members, used, mixture, logit, v):
    """Fill v with self-normalised weights; return the effective number of models."""
    T = len(v)
    for j in range(len(alpha)):
        if used[j] > 0:
            p = _clipped(alpha[j])
            logit[j] = math.log(p) - math.log1p(-p)
    top = -np.inf
    for t in range(T):
        total = -mixture[t]
        for m in range(first[t], first[t + 1]):
            total += logit[members[m]]
        v[t] = total
        top = max(top, total)
    total = squares = 0.0
    for t in range(T):
        v[t] = math.exp(v[t] - top)
        total += v[t]
    for t in range(T):
        v[t] /= total
        squares += v[t] * v[t]
    return 1.0 / squares


@njit(cache=True, nogil=True)
def _residuals(gram, cross, v, r):
    """Fill r with Kv − b, centred; return v'Kv − 2v'b."""
    T = len(v)
    for s in range(T):
        r[s] = -cross[s]
    for t in range(T):
        weight = v[t]
        for s in range(T):
            r[s] += weight * gram[t, s]
    centre = explained = 0.0
    for t in range(T):
        centre += v[t] * r[t]
        explained += v[t] * cross[t]
    for t in range(T):
        r[t] -= centre
    return centre - explained


@njit(cache=True, nogil=True)
def lockstep(
    alpha, Z, gram, cross, references, shares, rate, penalty, max_steps, least, value, effective
):
    """Take all targets through the steps of one stage; `alpha` (targets × features) moves.

    A target waits for the others once fewer than `least` models count. Before every step the
    penalty's gradient, penalty · α_gj/‖α_·j‖, sees the current probabilities of all targets.
    `value` gets the objectives without y'y/N, `effective` the effective numbers of models.
    """
    G, T, M = Z.shape
    most = 0
    for g in range(G):
        most = max(most, np.sum(Z[g]))
    first, members = np.empty((G, T + 1), np.int64), np.empty((G, most), np.uint32)
    used, mixture = np.empty((G, M), np.int64), np.empty((G, T))
    joint, logit, slope = np.empty((len(shares), T)), np.empty(M), np.empty(M)
    v, r = np.empty((G, T)), np.empty(T)
    norm, going = np.empty(M), np.ones(G, np.bool_)
    for g in range(G):
        _list_members(Z[g], first[g], members[g], used[g])
        _log_mixture(references[g], shares, first[g], members[g], joint, mixture[g])
        effective[g] = _weigh(alpha[g], first[g], members[g], used[g], mixture[g], logit, v[g])
    for _ in range(max_steps):
        norm[:] = 0.0
        for g in range(G):
            for j in range(M):
                norm[j] += alpha[g, j] * alpha[g, j]
        for j in range(M):
            norm[j] = math.sqrt(norm[j])
        any_going = False
        for g in range(G):
            if not going[g]:
                continue
            _residuals(gram[g], cross[g], v[g], r)
            slope[:] = 0.0
            for t in range(T):
                for m in range(first[g, t], first[g, t + 1]):
                    slope[members[g, m]] += v[g, t] * r[t]
            for j in range(M):
                move = 0.0
                if 0 < used[g, j] < T:
                    p = _clipped(alpha[g, j])
                    move = 2.0 * slope[j] / (p * (1.0 - p))
                if norm[j] > 0.0:
                    move += penalty * alpha[g, j] / norm[j]
                alpha[g, j] = min(max(alpha[g, j] - rate * move, 0.0), 1.0)
            effective[g] = _weigh(alpha[g], first[g], members[g], used[g], mixture[g], logit, v[g])
            going[g] = effective[g] >= least
            any_going = any_going or going[g]
        if not any_going:
            break
    for g in range(G):
        value[g] = _residuals(gram[g], cross[g], v[g], r)
