"""Where features enter along an L1 path: coordinate descent with working sets and strong rules.

Sums over rows are reordered by the compiler in a way that depends on the number of rows alone, so
that a feature has the same sums wherever its column stands.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_CONSTANT = 1e-12  # a variance below this share of the mean square is rounding
_SOLVED = 1e-6  # of the penalty: how far gradients may be from where the optimum has them
_AT_PENALTY = 1e-5  # a gradient this close to the penalty, as a share of it, has reached it
_SMALLEST_VARIANCE = 1e-5  # of a fitted class, so that steps stay finite
_MOST_SWEEPS = 5000  # of one penalty
_PATIENCE = 8  # sweeps over the features that are in before all of them are moved at once
_SMALLEST_PIVOT = 1e-10  # of a feature given the others; below, it is a combination of them
_MOST_EXPANSIONS = 50  # of the logistic loss at one penalty

_compiled = njit(
    cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "nsz", "contract"}
)


@_compiled
def standardise(values, rows, weights, out):  # type: ignore[no-untyped-def]
    """out[f] = values[f, rows], centred and scaled under the weights (sum 1); constants are 0."""
    m = rows.shape[0]
    for f in range(values.shape[0]):
        mean = 0.0
        square = 0.0
        for i in range(m):
            x = values[f, rows[i]]
            out[f, i] = x
            mean += weights[i] * x
            square += weights[i] * x * x
        variance = 0.0
        for i in range(m):
            out[f, i] -= mean
            variance += weights[i] * out[f, i] * out[f, i]
        scale = 1 / np.sqrt(variance) if variance > _CONSTANT * square else 0.0
        for i in range(m):
            out[f, i] *= scale


@_compiled
def _dot(a, b):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@_compiled
def gradients(Z, slope, out):  # type: ignore[no-untyped-def]
    """out[f] = Σᵢ Z[f, i]·slope[i]."""
    for f in range(Z.shape[0]):
        out[f] = _dot(Z[f], slope)


@_compiled
def _expand(weights, y, fit, logistic, slope, curve):  # type: ignore[no-untyped-def]
    """First and second derivatives of the loss of every row at its fit; returns the deviance."""
    deviance = 0.0
    for i in range(y.shape[0]):
        if logistic:
            share = 1 / (1 + np.exp(-fit[i]))
            slope[i] = weights[i] * (y[i] - share)
            curve[i] = weights[i] * max(share * (1 - share), _SMALLEST_VARIANCE)
            margin = fit[i] if y[i] > 0.5 else -fit[i]
            deviance += weights[i] * (np.log1p(np.exp(-abs(margin))) - min(margin, 0.0))
        else:
            slope[i] = weights[i] * (y[i] - fit[i])
            curve[i] = weights[i]
            deviance += weights[i] * (y[i] - fit[i]) ** 2
    return deviance


@_compiled
def _step(x, at, bend, penalty, coefficient, slope, curve, fit):  # type: ignore[no-untyped-def]
    """Minimise the expanded loss over one coefficient; returns how far its gradient moved."""
    if bend == 0.0:
        return 0.0
    old = coefficient[at]
    pull = _dot(x, slope) + bend * old
    new = 0.0
    if abs(pull) > penalty:
        new = (pull - penalty if pull > 0 else pull + penalty) / bend
    if new == old:
        return 0.0
    change = new - old
    coefficient[at] = new
    for i in range(x.shape[0]):
        slope[i] -= change * curve[i] * x[i]
        fit[i] += change * x[i]
    return abs(change) * bend


@_compiled
def _balance(slope, curve, fit):  # type: ignore[no-untyped-def]
    """Minimise the expanded loss over the intercept."""
    change = slope.sum() / curve.sum()
    for i in range(fit.shape[0]):
        slope[i] -= change * curve[i]
        fit[i] += change


@_compiled
def _cholesky_solve(A, b):  # type: ignore[no-untyped-def]
    """Solve A·x = b in place (A positive definite, unit-like diagonal); False if it is singular."""
    k = b.shape[0]
    for j in range(k):
        for i in range(j):
            A[j, i] = (A[j, i] - _dot(A[j, :i], A[i, :i])) / A[i, i]
        pivot = A[j, j] - _dot(A[j, :j], A[j, :j])
        if pivot <= _SMALLEST_PIVOT * A[j, j]:
            return False
        A[j, j] = np.sqrt(pivot)
        b[j] = (b[j] - _dot(A[j, :j], b[:j])) / A[j, j]
    for j in range(k - 1, -1, -1):
        for i in range(j + 1, k):
            b[j] -= A[i, j] * b[i]
        b[j] /= A[j, j]
    return True


@_compiled
def _move_together(Z, penalty, work, coefficient, slope, curve, fit):  # type: ignore[no-untyped-def]
    """Move all coefficients that are in towards their joint optimum, until one reaches 0.

    Coordinate descent crawls when there are nearly as many of them as rows.
    """
    inside = work[coefficient[work] != 0]
    k, n = inside.shape[0], fit.shape[0]
    if k == 0:
        return
    centred, bent = np.empty((k, n)), np.empty((k, n))
    step, system = np.empty(k), np.empty((k, k))
    total = curve.sum()
    for a in range(k):
        mean = _dot(Z[inside[a]], curve) / total
        for i in range(n):
            centred[a, i] = Z[inside[a], i] - mean
            bent[a, i] = centred[a, i] * curve[i]
        for b in range(a + 1):
            system[a, b] = _dot(bent[a], centred[b])
        pull = _dot(Z[inside[a]], slope)
        step[a] = pull - penalty if coefficient[inside[a]] > 0 else pull + penalty
    if not _cholesky_solve(system, step):
        return
    share, stop = 1.0, -1
    for a in range(k):
        value = coefficient[inside[a]]
        if value * (value + step[a]) < 0 and -value < share * step[a] * np.sign(-value):
            share, stop = -value / step[a], a
    for a in range(k):
        coefficient[inside[a]] += share * step[a]
        for i in range(n):
            fit[i] += share * step[a] * centred[a, i]
            slope[i] -= share * step[a] * bent[a, i]
    if stop >= 0:
        coefficient[inside[stop]] = 0.0


@_compiled
def _distance(Z, penalty, work, coefficient, slope):  # type: ignore[no-untyped-def]
    """How far the gradients of the features in `work` are from where the optimum has them."""
    off = 0.0
    for f in work:
        gradient = _dot(Z[f], slope)
        if coefficient[f] == 0:
            off = max(off, abs(gradient) - penalty)
        else:
            off = max(off, abs(gradient - (penalty if coefficient[f] > 0 else -penalty)))
    return off


@_compiled
def _descend(  # type: ignore[no-untyped-def]
    Z, penalty, enough, work, bend, coefficient, slope, curve, fit, logistic
):
    """Minimise the expanded loss over the features in `work`; returns whether it succeeded."""
    everything, waited = True, 0
    for _ in range(_MOST_SWEEPS):
        moved = 0.0
        for f in work:
            if everything or coefficient[f] != 0:
                step = _step(Z[f], f, bend[f], penalty, coefficient, slope, curve, fit)
                moved = max(moved, step)
        if logistic:
            _balance(slope, curve, fit)
        if moved <= enough and everything:
            return True
        everything = moved <= enough
        waited += 1
        if waited == _PATIENCE:
            _move_together(Z, penalty, work, coefficient, slope, curve, fit)
            waited = 0
    return False


@_compiled
def _solve(  # type: ignore[no-untyped-def]
    Z, weights, y, penalty, work, bend, coefficient, fit, slope, curve, logistic
):
    """Optimise over the features in `work`; returns whether it succeeded, and the deviance."""
    deviance = 0.0
    for _ in range(_MOST_EXPANSIONS):
        deviance = _expand(weights, y, fit, logistic, slope, curve)
        off = _distance(Z, penalty, work, coefficient, slope)
        if logistic:
            off = max(off, abs(slope.sum()))
        if off <= _SOLVED * penalty:
            return True, deviance
        for f in work:
            bend[f] = 0.0
            for i in range(y.shape[0]):
                bend[f] += curve[i] * Z[f, i] * Z[f, i]
        enough = 0.1 * _SOLVED * penalty
        if logistic:  # the expansion is not worth more digits than it has
            enough = max(enough, 0.01 * off)
        if not _descend(
            Z, penalty, enough, work, bend, coefficient, slope, curve, fit, logistic
        ):  # fmt: skip
            break
    return False, deviance


@_compiled
def _admit(size, least, in_work, work, n_work):  # type: ignore[no-untyped-def]
    """Add the features whose size is at least `least` to the working set; returns how many."""
    for f in range(size.shape[0]):
        if not in_work[f] and size[f] >= least:
            in_work[f] = True
            work[n_work] = f
            n_work += 1
    return n_work


@_compiled
def entry_penalties(  # type: ignore[no-untyped-def]
    Z, weights, y, penalties, most, explained, logistic, entry
):
    """Fill in the penalty at which every feature enters; 0 for those that do not.

    Z holds standardised features (p × n), weights add up to 1, penalties fall from the largest
    gradient of the empty model on, or from above it. A feature has entered where its gradient has
    reached the penalty: this set is unique even where the coefficients are not. The entry is placed
    at the mean of the penalty before and the gradient there, since gradients hardly ever change
    faster than the penalty. Ends when `most` features have entered, or when the share `explained`
    of the deviance of the empty model is explained.
    """
    p, n = Z.shape
    coefficient, bend = np.zeros(p), np.zeros(p)
    slope, curve, fit = np.empty(n), np.empty(n), np.empty(n)
    mean = _dot(weights, y)
    fit[:] = np.log(mean / (1 - mean)) if logistic else mean
    empty = _expand(weights, y, fit, logistic, slope, curve)
    size, before = np.empty(p), np.empty(p)
    gradients(Z, slope, size)
    work, in_work, n_work = np.empty(p, np.int64), np.zeros(p, np.bool_), 0
    last, entered = penalties[0], 0
    for penalty in penalties:
        before[:] = np.abs(size)
        n_work = _admit(before, 2 * penalty - last, in_work, work, n_work)  # the strong rule
        known = -1
        while n_work > known:
            known = n_work
            solved, deviance = _solve(
                Z, weights, y, penalty, work[:n_work], bend, coefficient, fit, slope, curve,
                logistic,
            )  # fmt: skip
            if not solved:
                return
            gradients(Z, slope, size)
            size[:] = np.abs(size)
            n_work = _admit(size, penalty * (1 + _SOLVED), in_work, work, n_work)
        for f in range(p):
            if entry[f] == 0 and size[f] >= penalty * (1 - _AT_PENALTY):
                entry[f] = min(max((before[f] + last) / 2, penalty), last)
                entered += 1
        if entered >= most or deviance <= (1 - explained) * empty:
            return
        last = penalty
