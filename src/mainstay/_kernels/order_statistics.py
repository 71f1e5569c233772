"""Compiled loops for order statistics; every sum has positive terms only.

N is the number of m independent uniforms that fall below a point. Everything here asks how such
counts behave: the tails of N at one point (binomial), the probability that N ever reaches a given
staircase (`log_crossing`), and that it always stays on or above one (`log_staying`).
Naive twins, with exact fractions, are in tests/naive_aggregation.py.
"""

# mypy: disallow-untyped-decorators=False, disable-error-code="no-untyped-def"

from __future__ import annotations

import math

import numpy as np
from numba import njit

TINY = 1e-18  # what is smaller than this, in probability, is left out
STIRLING = np.array(
    [0.0] + [math.lgamma(n + 1.0) - (n + 0.5) * math.log(n) + n for n in range(1, 16)]
) - 0.5 * math.log(2 * math.pi)  # fmt: skip

_LOG_HALF = -math.log(2.0)


@njit(cache=True)
def _stirling_error(n):
    """Log n! − log(√(2πn) (n/e)ⁿ)."""
    if n < 16:
        return STIRLING[n]
    s = 1.0 / (float(n) * n)
    return (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - s / 1188) * s) * s) * s) / n


@njit(cache=True)
def _deviance(x, mean):
    """x log(x/mean) + mean − x, without cancellation (Loader 2000)."""
    if abs(x - mean) >= 0.1 * (x + mean):
        return x * math.log(x / mean) + mean - x
    v = (x - mean) / (x + mean)
    total = (x - mean) * v
    power = 2.0 * x * v
    for j in range(1, 1000):
        power *= v * v
        after = total + power / (2 * j + 1)
        if after == total:
            break
        total = after
    return total


@njit(cache=True)
def _log_binomial(k, m, x, y):
    """Log P(N = k), N binomial(m, x), y = 1 − x."""
    if k == 0:
        return m * (math.log1p(-x) if x < 0.5 else math.log(y))
    if k == m:
        return m * (math.log(x) if x < 0.5 else math.log1p(-y))
    error = _stirling_error(m) - _stirling_error(k) - _stirling_error(m - k)
    distance = _deviance(float(k), m * x) + _deviance(float(m - k), m * y)
    return error - distance - 0.5 * math.log(2 * math.pi * k * (m - k) / m)


@njit(cache=True)
def log_tails(k, m, x, y, wanted=0.0):
    """Log P(N ≥ k) and log P(N < k), N binomial(m, x), y = 1 − x, 1 ≤ k ≤ m.

    What is seen to have log P(N ≥ k) above `wanted` may be 0 and −∞ instead: sums over some √m
    terms are then cut short.
    """
    if y <= 0.0:
        return 0.0, -np.inf
    term, total = 1.0, 1.0
    if k > m * x:
        log_first = _log_binomial(k, m, x, y)
        enough = math.exp(min(700.0, wanted - log_first)) if wanted < 0.0 else np.inf
        odds = x / y
        for i in range(k, m):
            term *= (m - i) / (i + 1.0) * odds
            total += term
            if term < 1e-17 * total:
                break
            if total > enough:
                return 0.0, -np.inf
        upper = min(0.0, log_first + math.log(total))
        return upper, math.log1p(-math.exp(upper)) if upper < 0 else -np.inf
    if wanted < _LOG_HALF:  # k is at most the median
        return 0.0, -np.inf
    odds = y / x
    for i in range(k - 1, 0, -1):
        term *= i / (m - i + 1.0) * odds
        total += term
        if term < 1e-17 * total:
            break
    lower = min(0.0, _log_binomial(k - 1, m, x, y) + math.log(total))
    return math.log1p(-math.exp(lower)) if lower < 0 else -np.inf, lower


@njit(cache=True)
def log_rho(ordered, counts):
    """Per row of sorted ranks: log ρ and log(1 − ρ), ρ = min over k of P(N(r_(k)) ≥ k)."""
    p = ordered.shape[0]
    rho, complement = np.zeros(p), np.full(p, -np.inf)
    for j in range(p):
        m = counts[j]
        for k in range(1, m + 1):
            r = ordered[j, k - 1]
            if k < m and ordered[j, k] == r:
                continue  # of tied ranks the last has the smallest tail
            upper, lower = log_tails(k, m, r, 1.0 - r, rho[j])
            rho[j] = min(rho[j], upper)
            complement[j] = max(complement[j], lower)
    return rho, complement


@njit(cache=True)
def _quantiles(log_p, m):
    """For k = 1..m the x (and 1 − x) with P(N(x) ≥ k) = p: Newton's method, from log tails.

    A log tail is concave in the log of its argument, so the steps cannot go astray.
    """
    x, y = np.empty(m), np.empty(m)
    by_lower = log_p > -math.log(2.0)
    log_1m_p = math.log(-math.expm1(log_p)) if by_lower else math.log1p(-math.exp(log_p))
    x[0], y[0] = -math.expm1(log_1m_p / m), math.exp(log_1m_p / m)
    z = math.log(y[0] if by_lower else x[0])
    before = z
    for k in range(2, m + 1):
        guess = 2 * z - before if by_lower else min(2 * z - before, 0.5 * z)
        before, z = z, guess
        for _ in range(100):
            e = math.exp(z)
            r, s = (-math.expm1(z), e) if by_lower else (e, -math.expm1(z))
            upper, lower = log_tails(k, m, r, s)
            tail, target = (lower, log_1m_p) if by_lower else (upper, log_p)
            slope = m * math.exp(z + _log_binomial(k - 1, m - 1, r, s) - tail)
            step = (target - tail) / slope
            z = min(z + step, 0.5 * z)
            if abs(step) < 2e-15 * (1.0 + abs(z)):
                break
        e = math.exp(z)
        x[k - 1], y[k - 1] = (-math.expm1(z), e) if by_lower else (e, -math.expm1(z))
    return x, y


@njit(cache=True)
def rra_log_p(log_p, m):
    """Log P(ρ' ≤ ρ) for m uniforms: some N(x_k) reaches k, where P(N(x_k) ≥ k) = ρ for all k."""
    x, y = _quantiles(log_p, m)
    return log_crossing(x, y, np.arange(1, m + 1), m)


@njit(cache=True)
def _bridge(n, top, survived, keep):
    """`_bridges` for one n, from the likeliest number of points in the last slice."""
    first, odds = max(0, n - top), (1.0 - keep) / keep
    mode = min(n, int((n + 1) * (1.0 - keep)))
    peak = math.exp(_log_binomial(mode, n, 1.0 - keep, keep))
    total, weight = 0.0, peak
    for s in range(mode, n + 1):
        if s >= first:
            total += weight * survived[n - s]
        weight *= (n - s) * odds / (s + 1.0)
        if weight < TINY:
            break
    weight = peak
    for s in range(mode - 1, first - 1, -1):
        weight *= (s + 1.0) / ((n - s) * odds)
        total += weight * survived[n - s]
        if weight < TINY:
            break
    return total


@njit(cache=True)
def _bridges(low, high, bottom, top, survived, keep, numbers, weight, out):
    """Fill `out[low..high]`: the sum over s of P(s of n points in the last slice) survived[n − s].

    A point is before the last slice with probability `keep`; `survived` is 0 outside bottom..top.
    """
    log_keep = math.log(keep)
    if high * log_keep < -30.0:  # a wide slice
        for n in range(low, high + 1):
            out[n] = _bridge(n, top, survived, keep)
        return
    odds = (1.0 - keep) / keep
    weights, sums, n = weight[low : high + 1], out[low : high + 1], numbers[low : high + 1]
    for i in range(len(n)):
        weights[i] = math.exp(n[i] * log_keep)
        sums[i] = 0.0
    for s in range(high + 1):  # plain slices, so that the compiler can use vector instructions
        first, stop = max(low, bottom + s), min(high, top + s) + 1
        if first < stop:
            some, before = out[first:stop], survived[first - s : stop - s]
            at = weight[first:stop]
            for i in range(len(some)):
                some[i] += at[i] * before[i]
        ratio, done = odds / (s + 1.0), float(s)
        for i in range(len(n)):
            weights[i] *= (n[i] - done) * ratio
        if weight[high] < TINY and s >= high * (1.0 - keep):
            break


@njit(cache=True)
def log_crossing(x, y, reach, m):
    """Log P(N(x_i) ≥ reach_i for some i); x and reach ascending, y = 1 − x.

    The sum over i of P(first time at i). Given N(x_i) = n the earlier points are n uniforms on
    [0, x_i], whatever x_i: `survived[n]` = P(they kept below `reach` so far) is a plain probability
    that never underflows, and the binomial P(N(x_i) = n) stays outside, in logs. Points whose own
    tail is below e⁻⁵⁰ of the largest are left out.
    """
    tails = np.empty(len(x))
    for i in range(len(x)):
        tails[i] = log_tails(reach[i], m, x[i], y[i])[0]
    largest = tails.max() if len(x) else -np.inf
    if largest == -np.inf:
        return -np.inf
    kept = np.flatnonzero(tails >= largest - 50.0)
    slopes = np.empty(len(kept))  # of the flattest way to a later point
    flattest = np.inf
    for i in range(len(kept) - 1, -1, -1):
        flattest = min(flattest, reach[kept[i]] / x[kept[i]])
        slopes[i] = flattest
    survived, after, work = np.zeros(m + 1), np.ones(m + 1), np.empty(m + 1)
    weights, numbers = np.empty(m + 1), np.arange(m + 1.0)
    total, bottom, top = 0.0, 0, 0
    for i in range(len(kept)):
        at, r = kept[i], reach[kept[i]]
        high = r
        weights[r] = math.exp(_log_binomial(r, m, x[at], y[at]) - largest)
        while high < m and (weights[high] > TINY or high < m * x[at]):
            weights[high + 1] = weights[high] * (m - high) / (high + 1.0) * x[at] / y[at]
            high += 1
        mean = x[at] * slopes[i]
        spread = mean * (1.0 - x[at] / x[kept[-1]])
        low = min(r, max(0, int(mean - 9.1 * math.sqrt(spread) - 15.0)))  # Bernstein's bound
        if i:
            keep = x[kept[i - 1]] / x[at]
            _bridges(low, high, bottom, top, survived, keep, numbers, work, after)
        for n in range(r, high + 1):
            total += weights[n] * after[n]
        survived[bottom : top + 1] = 0.0
        survived[low:r] = after[low:r]
        bottom, top = low, r - 1
    return min(0.0, largest + math.log(total))


@njit(cache=True)
def _poisson(mean, out):
    """Fill `out` with the Poisson probabilities above 1e-30; return the first and the last one."""
    mode = int(mean)
    peak = -mean
    if mode:
        peak = -_stirling_error(mode) - _deviance(float(mode), mean)
        peak -= 0.5 * math.log(2 * math.pi * mode)
    out[mode] = math.exp(peak)
    first = last = mode
    while first > 0 and out[first] > 1e-30:
        out[first - 1] = out[first] * first / mean
        first -= 1
    while last + 1 < len(out) and out[last] > 1e-30:
        out[last + 1] = out[last] * mean / (last + 1)
        last += 1
    return first, last


@njit(cache=True)
def log_staying(x, floor):
    """Log P(N(x_i) ≥ floor_i for all i); x and floor ascending, the last floor is m.

    A Poisson process given N = m, with the rate of the likeliest way to succeed: the slope of the
    least concave majorant of the points (x_i, floor_i). Where the rate changes from a to b the
    state n gets the factor (b/a)^(n − floor), which is at most 1, so nothing over- or underflows.
    """
    points, m = len(x), floor[-1]
    hull = np.empty(points + 1, dtype=np.int64)  # -1 is the origin
    hull[0] = -1
    size = 1
    for j in range(points):
        while size > 1:
            b, a = hull[size - 1], hull[size - 2]
            xa, ya = (x[a], floor[a]) if a >= 0 else (0.0, 0)
            if (floor[b] - ya) * (x[j] - xa) > (floor[j] - ya) * (x[b] - xa):
                break
            size -= 1
        hull[size] = j
        size += 1
    state, after, jump = np.zeros(m + 1), np.zeros(m + 1), np.zeros(m + 1)
    state[0] = 1.0
    low = high = 0
    result = 0.5 * math.log(2 * math.pi * m) + _stirling_error(m)
    log_rate = 0.0
    for segment in range(1, size):
        a, b = hull[segment - 1], hull[segment]
        xa, ya = (x[a], floor[a]) if a >= 0 else (0.0, 0)
        dx, dy = x[b] - xa, floor[b] - ya
        previous, log_rate = log_rate, math.log(dy / m) - math.log(dx)
        result -= dy * log_rate
        if segment > 1:
            factor, power = math.exp(log_rate - previous), 1.0
            for n in range(low, high + 1):  # low is the floor here, or more
                if n == low:
                    power = factor ** (n - ya)
                state[n] *= power
                power *= factor
        for j in range(a + 1, b + 1):
            mean = dy * ((x[j] - (x[j - 1] if j > 0 else 0.0)) / dx)
            first, last = _poisson(mean, jump)
            new_low, new_high = max(low + first, floor[j]), min(high + last, m)
            after[new_low : new_high + 1] = 0.0
            for s in range(first, last + 1):
                start, stop = max(low, new_low - s), min(high, new_high - s)
                for n in range(start, stop + 1):
                    after[n + s] += jump[s] * state[n]
            largest = after[new_low : new_high + 1].max()
            result += math.log(largest)
            while after[new_low] < 1e-30 * largest:
                new_low += 1
            while after[new_high] < 1e-30 * largest:
                new_high -= 1
            low, high = new_low, new_high
            state[low : high + 1] = after[low : high + 1] / largest
    return min(0.0, result + math.log(state[m]))


@njit(cache=True)
def log_stuart(ordered, counts):
    """Per row of sorted ranks: log Q and log(1 − Q), Q = P(N(r_(k)) ≥ k for all k)."""
    p, m_all = ordered.shape
    log_q, log_1m_q = np.zeros(p), np.full(p, -np.inf)
    x, floor = np.empty(m_all), np.empty(m_all, dtype=np.int64)
    for j in range(p):
        m = counts[j]
        size = 0
        for k in range(1, m + 1):
            if k == m or ordered[j, k] != ordered[j, k - 1]:
                x[size], floor[size] = ordered[j, k - 1], k
                size += 1
        if size == 0 or x[0] == 1.0:
            continue  # Q = 1
        log_q[j] = log_staying(x[:size], floor[:size])
        if log_q[j] < -math.log(2.0):
            log_1m_q[j] = math.log1p(-math.exp(log_q[j]))
            continue
        inner = size - (x[size - 1] == 1.0)  # seen from the other end: points above x
        v = x[:inner][::-1].copy()
        log_1m_q[j] = log_crossing(1.0 - v, v, m + 1 - floor[:inner][::-1], m)
        log_q[j] = math.log1p(-math.exp(log_1m_q[j]))
    return log_q, log_1m_q
