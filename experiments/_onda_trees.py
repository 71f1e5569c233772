"""Random forests on few rows and many columns, compiled, for onda2021 and bommert2020.

The rules are those of scikit-learn's RandomForestClassifier with the Gini index: trees on bootstrap
samples, grown until leaves are pure; features are visited in random order, `mtry` of them and on
until one is not constant; the first of equally good cuts is taken. Without a random part (all rows,
one way to be best) a tree is scikit-learn's; `check_trees` of _onda_forests holds it to that.

It is faster because columns are sorted once for all trees of a half, and because nothing but the
importances is kept: with 51 rows and 5,966 columns it takes a tenth of the time.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from mainstay._kernels.subspace_draws import GOLDEN, _below, _mixed

FEW = 12  # rows of a node that are sorted anew instead of looked up among all rows


@njit(cache=True, nogil=True)
def _sorted_rows(orders, codes, j, node, node_of, rows, start, stop, out):
    """Write the rows of a node into `out`, in the order of column j; return how many."""
    m = stop - start
    if m > FEW:
        k = 0
        for p in range(orders.shape[1]):
            row = orders[j, p]
            out[k] = row
            k += node_of[row] == node
        return m
    for p in range(start, stop):
        row, k = rows[p], p - start
        code = codes[j, row]
        while k > 0 and codes[j, out[k - 1]] > code:
            out[k] = out[k - 1]
            k -= 1
        out[k] = row
    return m


@njit(cache=True, nogil=True)
def _best_cut(in_order, m, codes, j, y, times, counts, total, squares, left, right):
    """Best cut of a node by column j: Σ l²/n_l + Σ r²/n_r, and how many rows go left (0: none)."""
    best, cut = -1.0, 0
    left[:] = 0
    right[:] = counts
    in_left, in_right = 0, squares
    n_left = 0
    before = codes[j, in_order[0]]
    for p in range(m):
        row = in_order[p]
        if codes[j, row] != before:
            before = codes[j, row]
            gain = in_left / n_left + in_right / (total - n_left)
            if gain > best:
                best, cut = gain, p
        w, k = times[row], y[row]
        in_left += w * (2 * left[k] + w)
        in_right += w * (w - 2 * right[k])
        left[k] += w
        right[k] -= w
        n_left += w
    return best, cut


@njit(cache=True, nogil=True)
def _grow(state, orders, codes, y, n_classes, times, mtry, least, features, importances):
    """Grow one tree on rows drawn `times` often; add its normalised importances.

    Nodes of fewer than `least` rows are not split.
    """
    p, n = orders.shape
    rows, node_of = np.empty(n, np.int64), np.full(n, -1, np.int64)
    size = 0
    for i in range(n):
        if times[i]:
            rows[size] = i
            node_of[i] = 0
            size += 1
    in_order, chosen = np.empty(n + 1, np.int64), np.empty(n, np.int64)
    counts = np.empty(n_classes, np.int64)
    left, right = np.empty(n_classes, np.int64), np.empty(n_classes, np.int64)
    starts, stops = np.empty(2 * n, np.int64), np.empty(2 * n, np.int64)
    starts[0], stops[0], open_, made = 0, size, 1, 1
    used, gains, n_used = np.empty(n, np.int64), np.empty(n), 0
    while open_:
        open_ -= 1
        start, stop = starts[open_], stops[open_]
        node = node_of[rows[start]]
        counts[:] = 0
        total = 0
        for q in range(start, stop):
            counts[y[rows[q]]] += times[rows[q]]
            total += times[rows[q]]
        squares = (counts * counts).sum()
        if squares == total * total or total < least:
            continue
        best, feature, n_left, visited, varies = -1.0, -1, 0, 0, False
        while visited < p and (visited < mtry or not varies):
            at = visited + _below(state, p - visited)
            j = features[at]
            features[at], features[visited] = features[visited], j
            visited += 1
            m = _sorted_rows(orders, codes, j, node, node_of, rows, start, stop, in_order)
            gain, cut = _best_cut(
                in_order, m, codes, j, y, times, counts, total, squares, left, right
            )
            varies = varies or cut > 0
            if cut > 0 and gain > best:
                best, feature, n_left = gain, j, cut
                chosen[:m] = in_order[:m]
        if feature < 0:
            continue
        used[n_used], gains[n_used] = feature, best - squares / total
        n_used += 1
        m = stop - start
        rows[start:stop] = chosen[:m]
        for q in range(start, stop):
            node_of[rows[q]] = made + (q >= start + n_left)
        made += 2
        starts[open_], stops[open_] = start, start + n_left
        starts[open_ + 1], stops[open_ + 1] = start + n_left, stop
        open_ += 2
    whole = gains[:n_used].sum()
    for q in range(n_used):
        importances[used[q]] += gains[q] / whole if whole > 0 else 0.0


@njit(cache=True, nogil=True)
def _forest(orders, codes, y, n_classes, mtry, least, bootstrap, sizes, seed, out):
    """Importances of the first trees of one forest, as many as each of the sizes says."""
    p, n = orders.shape
    state = np.empty(1, np.uint64)
    features, times = np.arange(p), np.empty(n, np.int64)
    total = np.zeros(p)
    place = 0
    for tree in range(sizes[-1]):
        state[0] = _mixed(np.uint64(seed) + GOLDEN * np.uint64(tree + 1))
        times[:] = 0 if bootstrap else 1
        if bootstrap:
            for _ in range(n):
                times[_below(state, n)] += 1
        _grow(state, orders, codes, y, n_classes, times, mtry, least, features, total)
        if tree + 1 == sizes[place]:
            out[place] = total / max(total.sum(), 1e-300)
            place += 1


class Columns:
    """Columns of a table, sorted once for all forests that see these rows."""

    def __init__(self, X: np.ndarray, y: np.ndarray) -> None:
        if len(y) > 255:
            raise ValueError(f"sorted columns are kept in bytes: at most 255 rows, got {len(y)}.")
        self.classes, self.y = np.unique(y, return_inverse=True)
        order = np.argsort(X, axis=0, kind="stable")
        ordered = np.take_along_axis(X, order, axis=0)
        new = np.zeros(X.shape, dtype=np.uint8)
        new[1:] = ordered[1:] != ordered[:-1]
        codes = np.empty(X.shape, dtype=np.uint8)
        np.put_along_axis(codes, order, np.cumsum(new, axis=0, dtype=np.uint8), axis=0)
        self.orders = np.ascontiguousarray(order.T.astype(np.uint8))
        self.codes = np.ascontiguousarray(codes.T)

    def importances(
        self, sizes: Any, mtry: int, seed: int, *, bootstrap: bool = True, min_rows: int = 2
    ) -> np.ndarray:
        """Importances of forests of so many trees (the larger contain the smaller): sizes × p.

        Nodes of fewer than `min_rows` rows of the bootstrap sample are not split.
        """
        out = np.empty((len(sizes), len(self.orders)))
        _forest(
            self.orders, self.codes, self.y, len(self.classes), mtry, min_rows, bootstrap,
            np.asarray(sizes, dtype=np.int64), seed, out,
        )  # fmt: skip
        return out
