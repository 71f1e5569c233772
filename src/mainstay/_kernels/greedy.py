"""Joint counts of pairs of features in one resample, and lazy greedy selection from them.

Naive twins: tests/naive_rankers.py. Only the rows that the resample holds are there; `codes[g, i]`
is row i's bin of feature g, `weights[i]` how often the row occurs. `table[c]` is c·log(c) as a
fixed-point integer, so that sums do not depend on their order.
"""

from __future__ import annotations

import numpy as np
from numba import njit

CONDITIONAL, JOINT, NORMALISED = 0, 1, 2  # terms of `select_lazily`


@njit(cache=True, nogil=True)
def group_rows(bins, classes, n_classes, group, closes):  # type: ignore[no-untyped-def]
    """Number the combinations of bin and class that occur, in this order; return how many do.

    Fills the `group` of every row, and `closes`: after which groups the bin changes.
    """
    most = np.int64(bins.max())
    number = np.full((most + 1) * n_classes, -1, np.int64)
    for i in range(bins.shape[0]):
        number[np.int64(bins[i]) * n_classes + classes[i]] = 0
    n_groups = 0
    for b in range(most + 1):
        for c in range(n_classes):
            if number[b * n_classes + c] == 0:
                number[b * n_classes + c] = n_groups
                closes[n_groups] = False
                n_groups += 1
        if n_groups > 0:
            closes[n_groups - 1] = True
    for i in range(bins.shape[0]):
        group[i] = number[np.int64(bins[i]) * n_classes + classes[i]]
    return n_groups


@njit(cache=True, nogil=True, forceinline=True)
def pair_in_one(  # type: ignore[no-untyped-def]
    codes, size, group, n_groups, closes, with_class, weights, table, count, outer
):
    """Σ c·log c over the joint table of two features, without and with the class.

    `group` comes from `group_rows` for one feature, `codes` < `size` are the bins of the other;
    `count` and `outer` are room for counts.
    """
    pair, triple = np.int64(0), np.int64(0)
    for c in range(n_groups * size):
        count[c] = 0
    for i in range(codes.shape[0]):
        count[np.uint32(group[i]) * np.uint32(size) + np.uint32(codes[i])] += weights[i]
    if not with_class:
        for c in range(n_groups * size):
            pair += table[np.uint32(count[c])]
        return pair, triple
    for b in range(size):
        outer[b] = 0
    for j in range(n_groups):
        for b in range(size):
            c = count[np.uint32(j * size + b)]
            outer[b] += c
            triple += table[np.uint32(c)]
        if closes[j]:
            for b in range(size):
                pair += table[np.uint32(outer[b])]
                outer[b] = 0
    return pair, triple


@njit(cache=True, nogil=True, forceinline=True)
def sparse_pair_in_one(  # type: ignore[no-untyped-def]
    codes, size, bins, group, with_class, weights, table, count, outer
):
    """Compute what `pair_in_one` does, for tables with more cells than rows.

    `bins` are those of the feature that `group` comes from.
    """
    pair, triple = np.int64(0), np.int64(0)
    for i in range(codes.shape[0]):
        outer[np.uint32(bins[i]) * np.uint32(size) + np.uint32(codes[i])] = 0
        count[np.uint32(group[i]) * np.uint32(size) + np.uint32(codes[i])] = 0
    for i in range(codes.shape[0]):
        at = np.uint32(bins[i]) * np.uint32(size) + np.uint32(codes[i])
        before = outer[at]
        outer[at] += weights[i]
        pair += table[np.uint32(outer[at])] - table[np.uint32(before)]
        if with_class:
            at = np.uint32(group[i]) * np.uint32(size) + np.uint32(codes[i])
            before = count[at]
            count[at] += weights[i]
            triple += table[np.uint32(count[at])] - table[np.uint32(before)]
    return pair, triple


@njit(cache=True, nogil=True, forceinline=True)
def _pair_sums(  # type: ignore[no-untyped-def]
    codes, n_bins, g, w, group, n_groups, closes, with_class, weights, table, count, outer
):
    if n_groups * n_bins[g] > 4 * codes.shape[1]:
        return sparse_pair_in_one(
            codes[g], n_bins[g], codes[w], group, with_class, weights, table, count, outer
        )
    return pair_in_one(
        codes[g], n_bins[g], group, n_groups, closes, with_class, weights, table, count, outer
    )


@njit(cache=True, nogil=True)
def sums_with_one(  # type: ignore[no-untyped-def]
    codes, n_bins, wanted, w, classes, n_classes, weights, table, count, outer, pair, triple
):
    """Σ c·log c over the joint tables of feature w with all wanted ones.

    Fills `pair[g]`, and with `n_classes` > 1 also `triple[g]`, for all g in `wanted`.
    """
    group = np.empty(codes.shape[1], np.int32)
    closes = np.empty(codes.shape[1] + 1, np.bool_)
    n_groups = group_rows(codes[w], classes, n_classes, group, closes)
    with_class = n_classes > 1
    if (
        n_groups * n_bins.max() <= 4 * codes.shape[1]
    ):  # asked once: a choice within the loop slows it
        for g in wanted:
            pair[g], triple[g] = pair_in_one(
                codes[g], n_bins[g], group, n_groups, closes, with_class, weights, table, count,
                outer,
            )  # fmt: skip
        return
    for g in wanted:
        pair[g], triple[g] = _pair_sums(
            codes, n_bins, g, w, group, n_groups, closes, with_class, weights, table, count, outer
        )


@njit(cache=True, nogil=True)
def _sift_down(heap, at, size, key):  # type: ignore[no-untyped-def]
    """Move an entry of a heap down to its place: small keys first, then small numbers."""
    moved = heap[at]
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and _before(heap[child + 1], heap[child], key):
            child += 1
        if not _before(heap[child], moved, key):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = moved


@njit(cache=True, nogil=True, forceinline=True)
def _before(a, b, key):  # type: ignore[no-untyped-def]
    return key[a] < key[b] or (key[a] == key[b] and a < b)


@njit(cache=True, nogil=True, forceinline=True)
def _term(  # type: ignore[no-untyped-def]
    kind, pair, triple, of_w, of_w_and_class, of_class, log_n, n, unit, smallest
):
    """One term of a criterion from Σ c·log c of the tables; see `rankers._greedy_engine`."""
    if kind == CONDITIONAL:
        return max((of_w + triple - pair - of_w_and_class) * unit / n, 0.0)
    joint = max(log_n - (pair + of_class - triple) * unit / n, 0.0)
    if kind == JOINT:
        return joint
    entropy = max(log_n - triple * unit / n, 0.0)
    return joint / entropy if entropy > smallest else 0.0


@njit(cache=True, nogil=True)
def select_lazily(  # type: ignore[no-untyped-def]
    kind, codes, n_bins, classes, n_classes, weights, table, relevance, constant, margin_sum,
    joint_sum, class_sum, log_n, n, unit, smallest, count, outer, order, reached, bound,
):  # fmt: skip
    """Choose features by the smallest of their terms with those chosen, computing few of the terms.

    The smallest of the first terms bounds the criterion from above. The candidate with the largest
    bound gets its next term; one that has all of them and still the largest bound is chosen. Fills
    `order` and `reached` (the criterion when chosen), and `bound` of all features.
    """
    p, m = codes.shape
    k = order.shape[0]
    group, n_groups = np.empty((k, m), np.int32), np.empty(k, np.int64)
    closes = np.empty((k, m + 1), np.bool_)
    n_terms = np.zeros(p, np.int64)
    key = np.empty(p)  # minus the bound; constant features come last
    for x in range(p):
        bound[x] = relevance[x]
        key[x] = np.inf if constant[x] else -relevance[x]
    heap, size = np.arange(p), p
    for step in range(k):
        if step < 2:
            for at in range(size // 2 - 1, -1, -1):
                _sift_down(heap, at, size, key)
        while n_terms[heap[0]] < step:
            x = heap[0]
            t = n_terms[x]
            w = order[t]
            pair, triple = _pair_sums(
                codes, n_bins, x, w, group[t], n_groups[t], closes[t], True, weights, table, count,
                outer,
            )  # fmt: skip
            term = _term(
                kind, pair, triple, margin_sum[w], joint_sum[w], class_sum, log_n, n, unit, smallest
            )
            if kind == CONDITIONAL and constant[x]:
                term = 0.0
            bound[x] = min(bound[x], term)
            n_terms[x] += 1
            if not constant[x]:
                key[x] = -bound[x]
                _sift_down(heap, 0, size, key)
        best = heap[0]
        order[step], reached[step] = best, bound[best]
        n_groups[step] = group_rows(codes[best], classes, n_classes, group[step], closes[step])
        size -= 1
        heap[0] = heap[size]
        _sift_down(heap, 0, size, key)
        if step == 0 and k > 1 and kind != CONDITIONAL:  # relevance does not bound these
            for x in range(p):
                bound[x] = np.inf
                if not constant[x]:
                    key[x] = -np.inf
