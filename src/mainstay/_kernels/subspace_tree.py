"""Decision trees (CART) for many feature subsets, folds and bootstrap samples.

Every column is sorted once per data set. A tree starts from those orders without the rows that were
not drawn, and keeps them as it splits; a bootstrap sample is a whole-number weight per row. The
held-out rows travel down with the tree, and branches that none of them reaches are not grown.

As in scikit-learn features are float32, values within 1e-7 of each other are one, and thresholds
are half-way. Of splits with the same gain the one on the first feature wins, and then the lowest
threshold (scikit-learn: a random feature, then the lowest threshold, or what rounding prefers).
Two classes are a number, 0 or 1: the Gini index is then twice the squared error.
Naive twin: tests/naive_subspace_models.py.

Most nodes have few rows, so that what is done once a node counts: named tuples are unpacked before
the loop, and nothing is sliced without need, since numba counts every array that is taken from a
tuple or another array, with atomic instructions.
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
    tally: Any  # weights of the classes, of more than two
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
def _scan_classes(
    ordered, c, start, stop, values, j, weight, code, inverse, tally, left, right, n, least, floor
):
    """Return the greatest height of the cuts of sorted rows by Gini of many classes, and a place.

    The height is that of `_grow`, with the squared sums of all classes. The place is where the
    right side starts of the first cut that reaches the floor; `start` if none does.
    """
    best, n_left, squares_left, squares_right = -np.inf, 0, 0.0, 0.0
    for k in range(len(tally)):
        left[k], right[k] = 0.0, tally[k]
        squares_right += tally[k] * tally[k]
    before = values[j, ordered[c, start]]
    for p in range(start, stop):
        row = ordered[c, p]
        value = values[j, row]
        if value > before + SAME and n_left >= least and n - n_left >= least:
            height = squares_left * inverse[n_left] + squares_right * inverse[n - n_left]
            best = max(best, height)
            if height >= floor:
                return best, p
        before = value
        k, w = code[row], weight[row]
        squares_left += w * (2.0 * left[k] + w)
        squares_right -= w * (2.0 * right[k] - w)
        left[k] += w
        right[k] -= w
        n_left += w
    return best, start


@njit(cache=True, nogil=True, error_model="numpy")
def _count(ordered, c, start, stop, weight, code, tally):
    """Fill `tally` with the weights of the classes of a node; return its weight and impurity."""
    n, squares = 0, 0.0
    for k in range(len(tally)):
        tally[k] = 0.0
    for p in range(start, stop):
        row = ordered[c, p]
        tally[code[row]] += weight[row]
        n += weight[row]
    for k in range(len(tally)):
        squares += tally[k] * tally[k]
    return n, 1.0 - squares / (n * n)


@njit(cache=True, nogil=True, error_model="numpy")
def _settle(held, first, last, n, total, code, tally, centre, soft, out):
    """Write the prediction of a leaf for the held-out rows that reached it."""
    if len(tally) == 0:
        for h in range(first, last):
            out[held[h]] = centre + total / n
    elif soft:
        for h in range(first, last):
            own = code[held[h]]
            share = tally[own] if len(tally) > 2 else (total if own else n - total)
            out[held[h]] = share / n
    else:
        value = first_largest(tally) if len(tally) > 2 else int(total > n - total)
        for h in range(first, last):
            out[held[h]] = value


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
    """Grow one tree on the rows `ordered[c, :size]`, c < d, and predict the rows in `held`.

    A node is split at the cut with the greatest height, L²/n_L + R²/n_R for the sums L and R of the
    target on its sides, which orders cuts as their gain does: squared error if the target is y,
    Gini of two classes if it is one of them. Heights that differ by less than rounding are the
    same. What is done at every node stands here in one piece: a call costs as much as the sums of
    tens of rows.
    """
    stack, ordered, goes_left, spare = work.stack, work.ordered, work.goes_left, work.spare
    deepest, least_split, least = work.limits[0], work.limits[1], work.limits[2]
    values, chosen, y, code = sample.values, sample.chosen, sample.y, sample.code
    weight, target, inverse, centre = sample.weight, sample.target, sample.inverse, sample.centre
    tally, lefts, rights = work.tally, work.left, work.right
    many = sample.n_classes > 2
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3], stack[0, 4] = 0, size, 0, len(held), 0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        start, stop = stack[waiting, 0], stack[waiting, 1]
        first, last, depth = stack[waiting, 2], stack[waiting, 3], stack[waiting, 4]
        n, total, same = 0, 0.0, True
        if many:
            n, impurity = _count(ordered, 0, start, stop, weight, code, tally)
            same = impurity <= EPSILON
        else:
            value = y[ordered[0, start]]
            for p in range(start, stop):
                row = ordered[0, p]
                n += weight[row]
                total += target[row]
                same = same and y[row] == value
        # the best cut: `cut` is where its right side starts
        best, slack, feature, cut = -np.inf, 0.0, -1, start
        for c in range(d if depth < deepest and n >= least_split and not same else 0):
            j = chosen[c]
            before = values[j, ordered[c, start]]
            if values[j, ordered[c, stop - 1]] <= before + SAME:
                continue
            height, left, n_left = -np.inf, 0.0, 0
            if many:
                height, _ = _scan_classes(
                    ordered, c, start, stop, values, j, weight, code, inverse, tally, lefts, rights,
                    n, least, np.inf,
                )  # fmt: skip
            else:
                for p in range(start, stop):
                    row = ordered[c, p]
                    value = values[j, row]
                    if value > before + SAME and n_left >= least and n - n_left >= least:
                        right = total - left
                        height = max(
                            height,
                            left * left * inverse[n_left] + right * right * inverse[n - n_left],
                        )
                    before = value
                    left += target[row]
                    n_left += weight[row]
            if height > best + slack:
                best, feature = height, c
                slack = ROUNDING * (n if sample.n_classes > 0 else best)
        if feature >= 0:
            j = chosen[feature]
            floor, left, n_left = best - slack, 0.0, 0
            before = values[j, ordered[feature, start]]
            if many:
                _, cut = _scan_classes(
                    ordered, feature, start, stop, values, j, weight, code, inverse, tally, lefts,
                    rights, n, least, floor,
                )  # fmt: skip
            else:
                for p in range(start, stop):
                    row = ordered[feature, p]
                    value = values[j, row]
                    if value > before + SAME and n_left >= least and n - n_left >= least:
                        right = total - left
                        if (
                            left * left * inverse[n_left] + right * right * inverse[n - n_left]
                            >= floor
                        ):
                            cut = p
                            break
                    before = value
                    left += target[row]
                    n_left += weight[row]
        if cut == start:
            _settle(held, first, last, n, total, code, tally, centre, soft, out)
            continue
        j = chosen[feature]
        threshold = (
            np.float64(values[j, ordered[feature, cut - 1]]) / 2.0
            + np.float64(values[j, ordered[feature, cut]]) / 2.0
        )
        middle = first
        for h in range(first, last):
            row = held[h]
            if np.float64(values[j, row]) <= threshold:
                held[h], held[middle] = held[middle], row
                middle += 1
        depth += 1
        ends_left = ends_right = True
        for side in range(2):
            a, b = (start, cut) if side == 0 else (cut, stop)
            h, k = (first, middle) if side == 0 else (middle, last)
            if h == k:
                continue
            n, total, squares, same = 0, 0.0, 0.0, True
            if many:
                n, impurity = _count(ordered, feature, a, b, weight, code, tally)
            else:
                value = y[ordered[feature, a]]
                for p in range(a, b):
                    row = ordered[feature, p]
                    n += weight[row]
                    total += target[row]
                    squares += target[row] * y[row]
                    same = same and y[row] == value
                impurity = 0.0 if same else squares / n - (total / n) ** 2
            if depth < deepest and n >= least_split and impurity > EPSILON:
                stack[waiting, 0], stack[waiting, 1] = a, b
                stack[waiting, 2], stack[waiting, 3], stack[waiting, 4] = h, k, depth
                waiting += 1
                if side == 0:
                    ends_left = False
                else:
                    ends_right = False
            else:
                _settle(held, h, k, n, total, code, tally, centre, soft, out)
        if ends_left and ends_right:
            continue
        for p in range(start, stop):
            goes_left[ordered[feature, p]] = p < cut
        for c in range(d):
            if c != feature:
                _keep_order(ordered[c, start:stop], goes_left, ends_left, ends_right, spare)


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
