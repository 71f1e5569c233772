"""Decision trees (CART) for many feature subsets, folds and bootstrap samples.

Every column is sorted once per data set. A tree starts from those orders without the rows that were
not drawn, and keeps them as it splits; a bootstrap sample is a whole-number weight per row. The
held-out rows travel down with the tree, and branches that none of them reaches are not grown.

As in scikit-learn features are float32, values within 1e-7 of each other are one, and thresholds
are half-way. Of splits with the same gain the one on the first feature wins, and then the lowest
threshold (scikit-learn: a random feature, then the lowest threshold, or what rounding prefers).
Naive twin: tests/naive_subspace_models.py.
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

SAME = np.float32(1e-7)
EPSILON = np.finfo(np.float64).eps
ROUNDING = 1e-13


class Sample(NamedTuple):
    """What trees are grown on."""

    values: Any  # features × rows, float32
    y: Any  # regression: with its mean near 0, so that gains are not lost in rounding
    code: Any  # y as integers
    centre: float  # what was subtracted from y
    n_classes: int  # 0: regression
    weight: Any  # how often each row was drawn
    inverse: Any  # 1/n for whole numbers n
    target: Any  # weight × y
    chosen: Any  # the features of the model


class Work(NamedTuple):
    """Memory of a tree that grows."""

    ordered: Any  # chosen features × rows: a node has the same piece of every line
    stack: Any  # nodes to split: piece of `ordered`, piece of the held-out rows, depth
    limits: Any  # largest depth, least rows to split, least rows of a leaf
    tally: Any  # weights of the classes
    left: Any
    right: Any
    goes_left: Any
    spare: Any


@njit(cache=True, nogil=True, error_model="numpy")
def _drawn(rows, counts, out):
    """Keep the rows that are in the bootstrap sample; return how many they are."""
    size = 0
    for row in rows:
        out[size] = row
        size += counts[row] > 0
    return size


@njit(cache=True, nogil=True, error_model="numpy")
def _height(rows, x, weight, target, inverse, total, n, least):
    """Greatest height of the cuts of sorted rows; −inf if there is none.

    The height of a cut is L²/n_L + R²/n_R for the sums L and R of the target on its sides, which
    orders cuts as their gain does: squared error if the target is y, Gini of two classes if it is
    one of them.
    """
    best, left, n_left = -np.inf, 0.0, 0
    before = x[rows[0]]
    for row in rows:
        value = x[row]
        if value > before + SAME and n_left >= least and n - n_left >= least:
            right = total - left
            best = max(best, left * left * inverse[n_left] + right * right * inverse[n - n_left])
        before = value
        left += target[row]
        n_left += weight[row]
    return best


@njit(cache=True, nogil=True, error_model="numpy")
def _cut(rows, x, weight, target, inverse, total, n, least, floor):
    """Return how many rows are to the left of the first cut whose height reaches the floor."""
    left, n_left = 0.0, 0
    before = x[rows[0]]
    for p in range(len(rows)):
        row = rows[p]
        value = x[row]
        if value > before + SAME and n_left >= least and n - n_left >= least:
            right = total - left
            if left * left * inverse[n_left] + right * right * inverse[n - n_left] >= floor:
                return p
        before = value
        left += target[row]
        n_left += weight[row]
    return 0


@njit(cache=True, nogil=True, error_model="numpy")
def _scan_classes(rows, x, weight, code, inverse, tally, left, right, n, least, floor):
    """Do as `_height`, and as `_cut` if the floor is reached, by Gini of any number of classes.

    Here the squared sums are those of all classes.
    """
    best, n_left, squares_left, squares_right = -np.inf, 0, 0.0, 0.0
    for c in range(len(tally)):
        left[c], right[c] = 0.0, tally[c]
        squares_right += tally[c] * tally[c]
    before = x[rows[0]]
    for p in range(len(rows)):
        row = rows[p]
        value = x[row]
        if value > before + SAME and n_left >= least and n - n_left >= least:
            height = squares_left * inverse[n_left] + squares_right * inverse[n - n_left]
            best = max(best, height)
            if height >= floor:
                return best, p
        before = value
        c, w = code[row], weight[row]
        squares_left += w * (2.0 * left[c] + w)
        squares_right -= w * (2.0 * right[c] - w)
        left[c] += w
        right[c] -= w
        n_left += w
    return best, 0


@njit(cache=True, nogil=True, error_model="numpy")
def _best_split(sample, work, d, start, stop, n, total):
    """Return which of the d features to split a node on, and the number of rows to the left.

    Heights that differ by less than rounding are the same.
    """
    weight, target, inverse = sample.weight, sample.target, sample.inverse
    code, tally, left, right = sample.code, work.tally, work.left, work.right
    best, slack, feature, least = -np.inf, 0.0, -1, work.limits[2]
    for c in range(d):
        rows, x = work.ordered[c, start:stop], sample.values[sample.chosen[c]]
        if x[rows[-1]] <= x[rows[0]] + SAME:
            continue
        if sample.n_classes > 2:
            height, _ = _scan_classes(
                rows, x, weight, code, inverse, tally, left, right, n, least, np.inf
            )
        else:
            height = _height(rows, x, weight, target, inverse, total, n, least)
        if height > best + slack:
            best, feature = height, c
            slack = ROUNDING * (n if sample.n_classes > 0 else best)
    if feature < 0:
        return feature, 0
    rows, x, floor = (
        work.ordered[feature, start:stop], sample.values[sample.chosen[feature]], best - slack
    )  # fmt: skip
    if sample.n_classes > 2:
        return feature, _scan_classes(
            rows, x, weight, code, inverse, tally, left, right, n, least, floor
        )[1]
    return feature, _cut(rows, x, weight, target, inverse, total, n, least, floor)


@njit(cache=True, nogil=True, error_model="numpy")
def _describe(sample, rows, tally):
    """Return weight, sum and impurity of a node; `tally` gets the weights of its classes."""
    weight, y = sample.weight, sample.y
    n, total, squares = 0, 0.0, 0.0
    if sample.n_classes > 0:
        for c in range(len(tally)):
            tally[c] = 0.0
        for row in rows:
            tally[sample.code[row]] += weight[row]
            n += weight[row]
        for c in range(len(tally)):
            squares += tally[c] * tally[c]
        return n, tally[-1], 1.0 - squares / (n * n)
    same = True
    for row in rows:
        n += weight[row]
        total += weight[row] * y[row]
        squares += weight[row] * y[row] * y[row]
        same = same and y[row] == y[rows[0]]
    return n, total, 0.0 if same else squares / n - (total / n) ** 2


@njit(cache=True, nogil=True, error_model="numpy")
def _settle(sample, held, n, total, tally, soft, out):
    """Write the prediction of a leaf for the held-out rows that reached it."""
    if sample.n_classes == 0:
        for i in held:
            out[i] = sample.centre + total / n
    elif soft:
        for i in held:
            out[i] = tally[sample.code[i]] / n
    else:
        value = first_largest(tally)
        for i in held:
            out[i] = value


@njit(cache=True, nogil=True, error_model="numpy")
def _is_leaf(sample, work, rows, held, depth, soft, out):
    """Say whether a node need not be split; if so, write its prediction for the held-out rows."""
    if len(held) == 0:
        return True
    n, total, impurity = _describe(sample, rows, work.tally)
    if depth < work.limits[0] and n >= work.limits[1] and impurity > EPSILON:
        return False
    _settle(sample, held, n, total, work.tally, soft, out)
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def _push(stack, waiting, start, stop, first, last, depth):
    """Add a node to those that wait; return their number."""
    stack[waiting, 0], stack[waiting, 1] = start, stop
    stack[waiting, 2], stack[waiting, 3] = first, last
    stack[waiting, 4] = depth
    return waiting + 1


@njit(cache=True, nogil=True, error_model="numpy")
def _split_held(held, x, threshold):
    """Move the held-out rows that go left to the front; return how many they are."""
    left = 0
    for h in range(len(held)):
        row = held[h]
        if np.float64(x[row]) <= threshold:
            held[h], held[left] = held[left], row
            left += 1
    return left


@njit(cache=True, nogil=True, error_model="numpy")
def _keep_order(rows, goes_left, ends_left, ends_right, spare):
    """Move the rows that go left to the front, both parts in the order they were in.

    The part of a child that ends here may be lost. Rows are written to where they may not belong,
    and overwritten by the next that does: there is no branch to mispredict.
    """
    if ends_right:
        left = np.uint32(0)
        for row in rows:
            rows[left] = row
            left += goes_left[row]
    elif ends_left:
        right = len(rows) - 1
        for p in range(len(rows) - 1, -1, -1):
            row = rows[p]
            rows[right] = row
            right -= 1 - int(goes_left[row])
    else:
        left = other = np.uint32(0)
        for row in rows:
            rows[left] = row
            spare[other] = row
            left += goes_left[row]
            other += np.uint32(1) - goes_left[row]
        for p in range(other):
            rows[left + p] = spare[p]


@njit(cache=True, nogil=True, error_model="numpy")
def _grow(sample, work, d, size, held, soft, out):
    """Grow one tree on the rows `ordered[c, :size]`, c < d, and predict the rows in `held`."""
    stack, ordered, goes_left = work.stack, work.ordered, work.goes_left
    waiting = _push(stack, 0, 0, size, 0, len(held), 0)
    if _is_leaf(sample, work, ordered[0, :size], held, stack[0, 4], soft, out):
        return
    while waiting > 0:
        waiting -= 1
        start, stop, first, last, depth = stack[waiting]
        n, total, _ = _describe(sample, ordered[0, start:stop], work.tally)
        feature, cut = _best_split(sample, work, d, start, stop, n, total)
        if cut == 0:
            _settle(sample, held[first:last], n, total, work.tally, soft, out)
            continue
        rows, x = ordered[feature, start:stop], sample.values[sample.chosen[feature]]
        threshold = np.float64(x[rows[cut - 1]]) / 2.0 + np.float64(x[rows[cut]]) / 2.0
        middle = first + _split_held(held[first:last], x, threshold)
        depth += 1
        ends_left = _is_leaf(sample, work, rows[:cut], held[first:middle], depth, soft, out)
        ends_right = _is_leaf(sample, work, rows[cut:], held[middle:last], depth, soft, out)
        if not ends_left:
            waiting = _push(stack, waiting, start, start + cut, first, middle, depth)
        if not ends_right:
            waiting = _push(stack, waiting, start + cut, stop, middle, last, depth)
        if ends_left and ends_right:
            continue
        for p in range(len(rows)):
            goes_left[rows[p]] = p < cut
        for c in range(d):
            if c != feature:
                _keep_order(ordered[c, start:stop], goes_left, ends_left, ends_right, work.spare)


@njit(cache=True, nogil=True, error_model="numpy")
def tree_held_out(
    values, sorted_columns, y, centre, n_classes, soft, max_depth, min_split, min_leaf, n_folds,
    weights, Z, seeds, out,
):  # fmt: skip
    """Fill `out[t]` with what model t predicts for its held-out rows.

    `values` (float32) and `sorted_columns` (row numbers, ascending by value) are features × rows.
    `min_split[f]` and `min_leaf[f]` are the least numbers of rows for fold f. `n_classes` = 0 means
    regression, of y + `centre`. With `soft`, a prediction is the share of a row's own class in its
    leaf.
    """
    n = len(y)
    folds = max(n_folds, 1)
    order, first = np.empty(n, np.int64), np.empty(folds + 1, np.int64)
    counts = np.empty((folds, n), np.int64)
    sample = Sample(
        values, y, y.astype(np.int64), centre, n_classes, np.empty(n, np.int64),
        1.0 / np.maximum(np.arange(n + 1), 1), np.empty(n), np.empty(len(values), np.int64),
    )  # fmt: skip
    work = Work(
        np.empty((most_features(Z), n), np.uint32), np.empty((n + 1, 5), np.int64),
        np.empty(3, np.int64), np.empty(n_classes), np.empty(n_classes), np.empty(n_classes),
        np.zeros(n, np.uint32), np.empty(n, np.uint32),
    )  # fmt: skip
    tally = np.empty(n_classes, np.int64)
    for t in range(len(seeds)):
        draw(seeds[t], n_folds, weights, order, first, counts)
        d = chosen_features(Z[t], sample.chosen)
        for f in range(folds):
            held = order[first[f] : first[f + 1]]
            value, one_class = constant_value(y, counts[f], n_classes, tally)
            if d == 0 or one_class:
                constant_predictions(y, held, centre + value, n_classes, soft, out[t])
                continue
            for i in range(n):
                sample.weight[i] = counts[f, i]
                sample.target[i] = counts[f, i] * y[i]
            for c in range(d):
                size = _drawn(sorted_columns[sample.chosen[c]], counts[f], work.ordered[c])
            work.limits[0], work.limits[1], work.limits[2] = max_depth, min_split[f], min_leaf[f]
            _grow(sample, work, d, size, held, soft, out[t])
