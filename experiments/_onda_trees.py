"""Random forests on few rows and many columns, compiled, for onda2021 and bommert2020.

The rules are those of scikit-learn's RandomForestClassifier with the Gini index: trees on bootstrap
samples, grown until leaves are pure; features are visited in random order, `mtry` of them and on
until one is not constant; the first of equally good cuts is taken. Without a random part (all rows,
one way to be best) a tree is scikit-learn's; `check_trees` of _onda_forests holds it to that.

It is faster because columns are sorted once for all trees of a half, because what cuts of two
classes gain is looked up (few rows give few numbers of them to the left), and because nothing but
the importances is kept.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from mainstay._kernels.subspace_draws import GOLDEN, _below, _mixed

FEW = 12  # rows of a node that are sorted anew instead of looked up among all rows
MOST_CUTS = 20_000  # of a node, by how many of each class go left, whose gains are kept


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
def _best_cut(in_order, m, codes, j, y, times, counts, total, squares, inverse, left, right):
    """Best cut of a node by column j: Σ l²/n_l + Σ r²/n_r, and how many rows go left (0: none)."""
    best, cut = -1.0, 0
    for k in range(len(counts)):
        left[k], right[k] = 0, counts[k]
    in_left, in_right, n_left = 0, squares, 0
    before = codes[j, in_order[0]]
    for p in range(m):
        row = in_order[p]
        if codes[j, row] != before:
            before = codes[j, row]
            gain = in_left * inverse[n_left] + in_right * inverse[total - n_left]
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
def _gains_of(counts, n_cuts, inverse, digits, out):
    """Write Σ l²/n_l + Σ r²/n_r for all numbers of each class that may go to the left.

    Their place is Σ l_k · Π (counts_i + 1) over the classes i before k. Nothing to the left, or
    nothing to the right, is no cut: −1.
    """
    digits[:] = 0
    total = counts.sum()
    for place in range(n_cuts):
        n_left, in_left, in_right = 0, 0, 0
        for k in range(len(counts)):
            n_left += digits[k]
            in_left += digits[k] * digits[k]
            in_right += (counts[k] - digits[k]) * (counts[k] - digits[k])
        out[place] = in_left * inverse[n_left] + in_right * inverse[total - n_left]
        k = 0
        while k < len(counts) and digits[k] == counts[k]:
            digits[k] = 0
            k += 1
        if k < len(counts):
            digits[k] += 1
    out[0] = out[n_cuts - 1] = -1.0


@njit(cache=True, nogil=True)
def _best_of(order, steps, gains, floor):
    """Best gain above the floor of a column without equal values; else the floor.

    `steps` says for every row how far it moves in `gains`; rows of other nodes do not.
    """
    best, at = floor, 0
    for row in order:
        at += steps[row]
        best = max(best, gains[at])
    return best


@njit(cache=True, nogil=True)
def _cut_of(order, codes, steps, gains, floor):
    """First best cut above the floor of any column: its gain, and the code of the last row left.

    −1 is no such cut.
    """
    best, at, cut = floor, 0, -1
    for p in range(len(order) - 1):
        row = order[p]
        at += steps[row]
        if gains[at] > best and codes[order[p + 1]] != codes[row]:
            best, cut = gains[at], codes[row]
    return best, cut


@njit(cache=True, nogil=True)
def _grow(
    state, orders, codes, distinct, y, n_classes, times, inverse, mtry, least, features, importances
):  # fmt: skip
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
    in_order, steps = np.empty(n + 1, np.int64), np.zeros(n, np.int64)
    counts = np.empty(n_classes, np.int64)
    left, right = np.empty(n_classes, np.int64), np.empty(n_classes, np.int64)
    strides, looked_up = np.empty(n_classes, np.int64), np.empty(MOST_CUTS + 1)
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
        n_cuts = 1
        for k in range(n_classes):
            strides[k] = n_cuts
            n_cuts *= counts[k] + 1 if n_cuts <= MOST_CUTS else 1
        few = n_cuts <= min(MOST_CUTS, mtry * n // n_classes)  # look their gains up
        if few:
            _gains_of(counts, n_cuts, inverse, left, looked_up)
            for q in range(start, stop):
                steps[rows[q]] = times[rows[q]] * strides[y[rows[q]]]
        best, feature, last, visited = -0.5, -1, -1, 0
        while visited < p and (visited < mtry or feature < 0):
            at = visited + _below(state, p - visited)
            j = features[at]
            features[at], features[visited] = features[visited], j
            visited += 1
            if few:
                if distinct[j] and _best_of(orders[j], steps, looked_up, best) == best:
                    continue
                gain, code = _cut_of(orders[j], codes[j], steps, looked_up, best)
            else:
                m = _sorted_rows(orders, codes, j, node, node_of, rows, start, stop, in_order)
                gain, cut = _best_cut(
                    in_order, m, codes, j, y, times, counts, total, squares, inverse, left, right
                )
                code = np.int64(codes[j, in_order[cut - 1]]) if cut else -1
            if code >= 0 and gain > best:
                best, feature, last = gain, j, code
        steps[rows[start:stop]] = 0
        if feature < 0:
            continue
        used[n_used], gains[n_used] = feature, best - squares / total
        n_used += 1
        middle = start
        for q in range(start, stop):
            row = rows[q]
            if codes[feature, row] <= last:
                rows[q], rows[middle] = rows[middle], row
                node_of[row] = made
                middle += 1
            else:
                node_of[row] = made + 1
        made += 2
        starts[open_], stops[open_] = start, middle
        starts[open_ + 1], stops[open_ + 1] = middle, stop
        open_ += 2
    whole = gains[:n_used].sum()
    for q in range(n_used):
        importances[used[q]] += gains[q] / whole if whole > 0 else 0.0


@njit(cache=True, nogil=True)
def _forest(
    orders, codes, distinct, y, row_of, n_classes, mtry, least, bootstrap, sizes, seed, out
):  # fmt: skip
    """Importances of the first trees of one forest, as many as each of the sizes says."""
    n = len(row_of)
    state = np.empty(1, np.uint64)
    features, times = np.arange(len(orders)), np.empty(len(y), np.int64)
    inverse, total = 1.0 / np.maximum(np.arange(n + 1), 1), np.zeros(len(orders))
    place = 0
    for tree in range(sizes[-1]):
        state[0] = _mixed(np.uint64(seed) + GOLDEN * np.uint64(tree + 1))
        times[:] = 0
        for i in range(n):
            times[row_of[_below(state, n) if bootstrap else i]] += 1
        _grow(
            state, orders, codes, distinct, y, n_classes, times, inverse, mtry, least, features,
            total,
        )  # fmt: skip
        if tree + 1 == sizes[place]:
            out[place] = total / max(total.sum(), 1e-300)
            place += 1


class Columns:
    """Columns of a table, sorted once for all forests that see these rows; equal rows are one."""

    def __init__(self, X: np.ndarray, y: np.ndarray) -> None:
        if len(y) > 255:
            raise ValueError(f"sorted columns are kept in bytes: at most 255 rows, got {len(y)}.")
        self.classes, y = np.unique(y, return_inverse=True)
        number: dict[tuple[bytes, int], int] = {}
        found = zip(np.ascontiguousarray(X), y.tolist(), strict=True)
        self.row_of = np.array([number.setdefault((r.tobytes(), k), len(number)) for r, k in found])
        first = np.unique(self.row_of, return_index=True)[1]
        X, self.y = X[first], y[first]
        order = np.argsort(X, axis=0, kind="stable")
        ordered = np.take_along_axis(X, order, axis=0)
        new = np.zeros(X.shape, dtype=np.uint8)
        new[1:] = ordered[1:] != ordered[:-1]
        codes = np.empty(X.shape, dtype=np.uint8)
        np.put_along_axis(codes, order, np.cumsum(new, axis=0, dtype=np.uint8), axis=0)
        self.orders = np.ascontiguousarray(order.T.astype(np.uint8))
        self.codes = np.ascontiguousarray(codes.T)
        self.distinct = new[1:].all(axis=0)

    def importances(
        self, sizes: Any, mtry: int, seed: int, *, bootstrap: bool = True, min_rows: int = 2
    ) -> np.ndarray:
        """Importances of forests of so many trees (the larger contain the smaller): sizes × p.

        Nodes of fewer than `min_rows` rows of the bootstrap sample are not split.
        """
        out = np.empty((len(sizes), len(self.orders)))
        _forest(
            self.orders, self.codes, self.distinct, self.y, self.row_of, len(self.classes), mtry,
            min_rows, bootstrap, np.asarray(sizes, dtype=np.int64), seed, out,
        )  # fmt: skip
        return out
