"""Forests, boosting and subspaces of trees or neighbours, compiled, for the grids of huynhthu2021.

The rules are scikit-learn's: RandomForest, GradientBoosting (squared error or log loss, step 0.1,
100 stages), Bagging of trees or nearest neighbours. Two classes are 0 and 1: the Gini index is then
twice the squared error, so that one kind of tree does for all. `check` holds the errors to those of
scikit-learn.

It is faster because columns are sorted once for all folds, candidates and trees, and because a tree
that looks at most columns keeps them sorted as it splits.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from mainstay._kernels.subspace_draws import GOLDEN, _below, _mixed
from mainstay._kernels.subspace_knn import _bag, _nearest, _squared_distances
from mainstay._kernels.subspace_tree import EPSILON, ROUNDING, _drawn, _keep_order

GAPS = np.array([57, 23, 10, 4, 1])  # of the sort of rows that are not kept sorted
FEW = 10  # rows of a node that are not kept sorted in any case


class Table(NamedTuple):
    """Columns × rows: values, the same as whole numbers in their order, and the rows by value."""

    values: Any  # float32
    codes: Any
    orders: Any


class Tree(NamedTuple):
    """Nodes of a tree; the children of node i are left[i] and left[i] + 1, none if it is 0."""

    feature: Any
    threshold: Any
    left: Any
    value: Any
    leaf_of: Any  # the leaf of every row that the tree was grown on


class Work(NamedTuple):
    """Memory of trees that grow."""

    ordered: Any  # the columns that are kept sorted
    rows: Any
    node_of: Any
    goes_left: Any
    spare: Any
    keys: Any
    chosen: Any
    stack: Any
    inverse: Any
    target: Any
    gains: Any


def sorted_table(X: np.ndarray) -> Table:
    """Sort every column once; at most 65,535 rows."""
    values = np.ascontiguousarray(X.T, dtype=np.float32)
    wide = np.argsort(values, axis=1, kind="stable")
    ordered = np.take_along_axis(values, wide, axis=1)
    new = np.zeros(values.shape, dtype=np.uint16)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    codes = np.empty(values.shape, dtype=np.uint16)
    np.put_along_axis(codes, wide, np.cumsum(new, axis=1, dtype=np.uint16), axis=1)
    return Table(values, codes, wide.astype(np.uint32))


@njit(cache=True, nogil=True, error_model="numpy")
def _memory(p, n):
    inverse = 1.0 / np.maximum(np.arange(n + 1), 1)
    tree = Tree(
        np.empty(2 * n + 1, np.int64), np.empty(2 * n + 1), np.empty(2 * n + 1, np.int64),
        np.empty(2 * n + 1), np.empty(n, np.int64),
    )  # fmt: skip
    work = Work(
        np.empty((p, n), np.uint32), np.empty(n, np.uint32), np.empty(n, np.int64),
        np.zeros(n, np.uint32), np.empty(n, np.uint32), np.empty(n, np.int64),
        np.empty(n, np.uint32), np.empty((n + 1, 4), np.int64), inverse, np.empty(n), np.empty(p),
    )  # fmt: skip
    return tree, work


@njit(cache=True, nogil=True, error_model="numpy")
def _best_cut(rows, codes, target, weight, inverse, total, n, slack):
    """Greatest L²/n_L + R²/n_R of the cuts of sorted rows, and how many go left (0: no cut).

    What differs by less than the slack is the same, and the first counts.
    """
    best, cut, left, n_left = -np.inf, 0, 0.0, 0
    before = codes[rows[0]]
    for p in range(len(rows)):
        row = rows[p]
        if codes[row] != before:
            before = codes[row]
            right = total - left
            height = left * left * inverse[n_left] + right * right * inverse[n - n_left]
            if height > best + slack:
                best, cut = height, p
        left += target[row]
        n_left += weight[row]
    return best, cut


@njit(cache=True, nogil=True, error_model="numpy")
def _in_order(order, codes, rows, node_of, node, keys, out):
    """Write the rows of a node into `out` in the order of a column."""
    m = len(rows)
    if m * 8 > len(order):  # many: take them from all rows in order
        size = 0
        for row in order:
            out[size] = row
            size += node_of[row] == node
            if size == m:
                break
        return
    for i in range(m):
        keys[i] = (np.int64(codes[rows[i]]) << 32) | np.int64(rows[i])
    for gap in GAPS:
        for i in range(gap, m):
            key, k = keys[i], i
            while k >= gap and keys[k - gap] > key:
                keys[k] = keys[k - gap]
                k -= gap
            keys[k] = key
    for i in range(m):
        out[i] = np.uint32(keys[i] & 0xFFFFFFFF)


@njit(cache=True, nogil=True, error_model="numpy")
def _describe(rows, y, weight):
    """Weight, sum, sum of squares and impurity of some rows."""
    n, total, squares = 0, 0.0, 0.0
    for row in rows:
        w, value = weight[row], y[row]
        n += w
        total += w * value
        squares += w * value * value
    return n, total, squares, squares / n - (total / n) ** 2


@njit(cache=True, nogil=True, error_model="numpy")
def _most_height(rows, y, weight, inverse, total, n, keys):
    """Greatest L²/n_L + R²/n_R of all ways to part few rows: they are parted by y."""
    m = len(rows)
    for i in range(m):
        row, k = rows[i], i
        while k > 0 and y[keys[k - 1]] > y[row]:
            keys[k] = keys[k - 1]
            k -= 1
        keys[k] = row
    best, left, n_left = -np.inf, 0.0, 0
    for i in range(m - 1):
        left += weight[keys[i]] * y[keys[i]]
        n_left += weight[keys[i]]
        right = total - left
        best = max(best, left * left * inverse[n_left] + right * right * inverse[n - n_left])
    return best


@njit(cache=True, nogil=True, error_model="numpy")
def _grow(state, table, y, weight, columns, size, sorted_, mtry, most, tree, work):
    """Grow one tree on `columns` (shuffled here) down to depth `most`; gains go to `work.gains`.

    The first `size` entries of `work.rows` are the rows, with `sorted_` those of the lines of
    `work.ordered` are the same by column. Few rows are sorted anew, for the few columns that it
    takes to find a cut that none can better. Returns the number of nodes.
    """
    d = len(columns)
    target, stack, gains, base = work.target, work.stack, work.gains, work.rows
    work.node_of[:] = -1
    for p in range(size):
        row = base[p]
        target[row] = weight[row] * y[row]
        work.node_of[row] = 0
    n, total, _, impurity = _describe(base[:size], y, weight)
    made, waiting = 1, 0
    tree.value[0], tree.left[0] = total / n, 0
    tree.leaf_of[:] = -1
    for p in range(size):
        tree.leaf_of[base[p]] = 0
    if impurity > EPSILON and most > 0:
        stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, size, 0, 0
        waiting = 1
    while waiting:
        waiting -= 1
        start, stop, depth, node = stack[waiting]
        rows = base[start:stop]
        m = stop - start
        n, total, squares, _ = _describe(rows, y, weight)
        kept = sorted_ and m > FEW
        most_height = squares  # if both sides are pure
        if m <= FEW:
            most_height = _most_height(rows, y, weight, work.inverse, total, n, work.keys)
        slack = ROUNDING * squares
        enough = most_height - slack
        best, feature, cut, visited = -np.inf, -1, 0, 0
        while visited < d and (visited < mtry or feature < 0) and best < enough:
            at = visited + _below(state, d - visited)
            j = columns[at]
            columns[at], columns[visited] = columns[visited], j
            visited += 1
            if kept:
                line = work.ordered[j, start:stop]
            else:
                _in_order(table.orders[j], table.codes[j], rows, work.node_of, node, work.keys,
                          work.spare)  # fmt: skip
                line = work.spare[:m]
            height, found = _best_cut(
                line, table.codes[j], target, weight, work.inverse, total, n, slack
            )
            if found and height > best + slack:
                best, feature, cut = height, j, found
                if not kept:
                    work.chosen[:m] = line
        if feature < 0:
            continue
        gains[feature] += best - total * total / n
        line = work.ordered[feature, start:stop] if kept else work.chosen[:m]
        x = table.values[feature]
        tree.feature[node], tree.left[node] = feature, made
        tree.threshold[node] = np.float64(x[line[cut - 1]]) / 2 + np.float64(x[line[cut]]) / 2
        lost = [True, True]  # need not be kept sorted
        for side in range(2):
            part = line[:cut] if side == 0 else line[cut:]
            child = made + side
            n, total, _, impurity = _describe(part, y, weight)
            tree.value[child], tree.left[child] = total / n, 0
            for row in part:
                tree.leaf_of[row] = child
                work.node_of[row] = child
            if depth + 1 < most and impurity > EPSILON and n > 1:
                lost[side] = len(part) <= FEW
                stack[waiting, 0] = start if side == 0 else start + cut
                stack[waiting, 1] = start + cut if side == 0 else stop
                stack[waiting, 2], stack[waiting, 3] = depth + 1, child
                waiting += 1
        made += 2
        rows[:] = line
        if kept and not (lost[0] and lost[1]):
            for p in range(m):
                work.goes_left[line[p]] = p < cut
            for j in columns:
                if j != feature:
                    _keep_order(
                        work.ordered[j, start:stop], work.goes_left, lost[0], lost[1], work.spare
                    )
    return made


@njit(cache=True, nogil=True, error_model="numpy")
def _value(tree, values, row):
    """What a tree predicts for a row."""
    node = 0
    while tree.left[node]:
        feature = tree.feature[node]
        node = tree.left[node] + (np.float64(values[feature, row]) > tree.threshold[node])
    return node


@njit(cache=True, nogil=True, error_model="numpy")
def forest(table, y, train, others, mtry, subspace, n_trees, seed, importances):
    """Mean prediction of a forest grown on bootstraps of the rows `train`, for the rows `others`.

    With `subspace`, a tree has `mtry` columns for all its nodes; else they are drawn at every node.
    """
    p, n = table.orders.shape
    state = np.empty(1, np.uint64)
    tree, work = _memory(p, n)
    out, weight, every = np.zeros(len(others)), np.empty(n, np.int64), np.arange(p)
    for t in range(n_trees):
        state[0] = _mixed(np.uint64(seed) + GOLDEN * np.uint64(t + 1))
        weight[:] = 0
        for _ in range(len(train)):
            weight[train[_below(state, len(train))]] += 1
        columns = every
        if subspace:
            for i in range(mtry):
                at = i + _below(state, p - i)
                every[at], every[i] = every[i], every[at]
            columns = every[:mtry]
        sorted_ = subspace or 4 * mtry > p
        size = 0
        if sorted_:
            for j in columns:
                _drawn(table.orders[j], weight, work.ordered[j])
        for row in range(n):
            if weight[row]:
                work.rows[size] = row
                size += 1
        work.gains[:] = 0
        _grow(state, table, y, weight, columns, size, sorted_, mtry, n, tree, work)
        whole = work.gains.sum()
        if whole > 0:
            importances += work.gains / whole
        for i in range(len(others)):
            out[i] += tree.value[_value(tree, table.values, others[i])]
    return out / n_trees


@njit(cache=True, nogil=True, error_model="numpy")
def boosting(table, y, classes, train, others, depth, n_trees, rate, seed, importances):
    """Prediction (log odds if `classes`) of boosted trees of a depth, for the rows `others`."""
    p, n = table.orders.shape
    state = np.empty(1, np.uint64)
    state[0] = _mixed(np.uint64(seed) + GOLDEN)
    tree, work = _memory(p, n)
    weight, columns, residual = np.zeros(n, np.int64), np.arange(p), np.zeros(n)
    weight[train] = 1
    mean = y[train].mean()
    start = np.log(mean / (1 - mean)) if classes else mean
    fit, out = np.full(n, start), np.full(len(others), start)
    above, below = np.empty(2 * n + 1), np.empty(2 * n + 1)
    orders = np.empty((p, len(train)), np.uint32)
    for j in range(p):
        size = 0
        for row in table.orders[j]:
            if weight[row]:
                orders[j, size] = row
                size += 1
    for _ in range(n_trees):
        for row in train:
            residual[row] = y[row] - (1 / (1 + np.exp(-fit[row])) if classes else fit[row])
        work.ordered[:, : len(train)], work.rows[: len(train)] = orders, train
        work.gains[:] = 0
        made = _grow(
            state, table, residual, weight, columns, len(train), True, p, depth, tree, work
        )
        importances += work.gains
        if classes:  # one step of Newton's in every leaf
            above[:made], below[:made] = 0, 0
            for row in train:
                leaf = tree.leaf_of[row]
                share = y[row] - residual[row]
                above[leaf] += residual[row]
                below[leaf] += share * (1 - share)
            for leaf in range(made):
                tree.value[leaf] = above[leaf] / below[leaf] if below[leaf] > 1e-150 else 0.0
        for row in train:
            fit[row] += rate * tree.value[tree.leaf_of[row]]
        for i in range(len(others)):
            out[i] += rate * tree.value[_value(tree, table.values, others[i])]
    return out


@njit(cache=True, nogil=True, error_model="numpy")
def neighbours(columns, y, train, others, size, k, n_models, seed):
    """Mean prediction of k nearest neighbours in random subspaces of so many columns."""
    p, n = columns.shape
    state = np.empty(1, np.uint64)
    every, counts = np.arange(p), np.empty(n, np.int64)
    rows, times = np.empty(n, np.int64), np.empty(n, np.int64)
    bagged, point, distances = np.empty((size, n)), np.empty(size), np.empty(n)
    near, place, out = np.empty(k), np.empty(k, np.int64), np.zeros(len(others))
    for t in range(n_models):
        state[0] = _mixed(np.uint64(seed) + GOLDEN * np.uint64(t + 1))
        counts[:] = 0
        for _ in range(len(train)):
            counts[train[_below(state, len(train))]] += 1
        for i in range(size):
            at = i + _below(state, p - i)
            every[at], every[i] = every[i], every[at]
        m = _bag(counts, rows, times)
        for c in range(size):
            for b in range(m):
                bagged[c, b] = columns[every[c], rows[b]]
        for i in range(len(others)):
            for c in range(size):
                point[c] = columns[every[c], others[i]]
            _squared_distances(bagged, size, m, point, distances)
            _nearest(distances, times, m, k, near, place)
            total = 0.0
            for a in range(k):
                total += y[rows[place[a]]]
            out[i] += total / k
    return out / n_models
