"""What similar features add to the overlap of two sets, for runs and for random sets.

Graphs come as CSR arrays (`indptr`, `indices`, `weights`) over the features that have a similar
one. `edge` gives for every stored entry its place in the greedy order of all undirected edges, and
`ends` the two features of the edge at that place.
"""

from __future__ import annotations

import numpy as np
from numba import njit

COUNT, MEAN, GREEDY, MATCHING = 0, 1, 2, 3


@njit(cache=True)
def _one_sided(mean, group, side, other, indptr, indices, weights):  # type: ignore[no-untyped-def]
    """A (or M if `mean`): over `group`, features with a similar one on side `other`."""
    total = 0.0
    for x in group:
        found = 0
        similarity = 0.0
        for at in range(indptr[x], indptr[x + 1]):
            if side[indices[at]] == other:
                found += 1
                if not mean:
                    break
                similarity += weights[at]
        if found:
            total += similarity / found if mean else 1.0
    return total


@njit(cache=True)
def _greedy(left, side, indptr, indices, edge, ends, used):  # type: ignore[no-untyped-def]
    """Size of the greedy matching of the features on side 1 with those on side 2."""
    places = np.empty(0, dtype=np.int64)
    for repeat in range(2):  # count the edges, then list them
        n = 0
        for x in left:
            for at in range(indptr[x], indptr[x + 1]):
                if side[indices[at]] == 2:
                    if repeat:
                        places[n] = edge[at]
                    n += 1
        if repeat == 0:
            if n == 0:
                return 0.0
            places = np.empty(n, dtype=np.int64)
    places.sort()
    size = 0.0
    for place in places:
        a, b = ends[place, 0], ends[place, 1]
        if not used[a] and not used[b]:
            used[a] = used[b] = True
            size += 1.0
    for place in places:
        used[ends[place, 0]] = used[ends[place, 1]] = False
    return size


@njit(cache=True)
def _matching(left, right, side, indptr, indices, partner, parent, queue):  # type: ignore[no-untyped-def]
    """Size of the maximum matching of side 1 with side 2: breadth-first augmenting paths.

    `partner` and `parent` hold -1 everywhere, before and after.
    """
    size = 0.0
    for start in left:
        n_queued, head, end = 1, 0, -1
        queue[0] = start
        while head < n_queued and end < 0:
            x = queue[head]
            head += 1
            for at in range(indptr[x], indptr[x + 1]):
                y = indices[at]
                if side[y] == 2 and parent[y] < 0:
                    parent[y] = x
                    if partner[y] < 0:
                        end = y
                        break
                    queue[n_queued] = partner[y]
                    n_queued += 1
        if end >= 0:
            size += 1.0
            while end >= 0:
                x = parent[end]
                previous = partner[x]
                partner[x], partner[end] = end, x
                end = previous
        for y in right:
            parent[y] = -1
    for x in left:
        partner[x] = -1
    for y in right:
        partner[y] = -1
    return size


@njit(cache=True)
def _adjustment(  # type: ignore[no-untyped-def]
    kind, left, right, side, indptr, indices, weights, edge, ends, used, partner, parent, queue
):
    """Adjustment seen from the left and from the right (the same for matchings)."""
    if kind == GREEDY:
        value = _greedy(left, side, indptr, indices, edge, ends, used)
        return value, value
    if kind == MATCHING:
        value = _matching(left, right, side, indptr, indices, partner, parent, queue)
        return value, value
    return (
        _one_sided(kind == MEAN, left, side, 2, indptr, indices, weights),
        _one_sided(kind == MEAN, right, side, 1, indptr, indices, weights),
    )


@njit(cache=True)
def pair_adjustments(kind, run_indptr, run_indices, indptr, indices, weights, edge, ends):  # type: ignore[no-untyped-def]
    """m × m adjustments: [i, j] is what the features of run i find in run j."""
    m, n = len(run_indptr) - 1, len(indptr) - 1
    result = np.zeros((m, m))
    side = np.zeros(n, dtype=np.int8)
    left, right = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    used = np.zeros(n, dtype=np.bool_)
    partner, parent = np.full(n, -1), np.full(n, -1)
    queue = np.empty(n + 1, dtype=np.int64)
    for i in range(m):
        mine = run_indices[run_indptr[i] : run_indptr[i + 1]]
        for j in range(i + 1, m):
            theirs = run_indices[run_indptr[j] : run_indptr[j + 1]]
            for x in mine:
                side[x] = 1
            n_right = 0
            for y in theirs:
                if side[y] == 1:
                    side[y] = 0
                else:
                    side[y] = 2
                    right[n_right] = y
                    n_right += 1
            n_left = 0
            for x in mine:
                if side[x] == 1:
                    left[n_left] = x
                    n_left += 1
            result[i, j], result[j, i] = _adjustment(
                kind, left[:n_left], right[:n_right], side, indptr, indices, weights, edge, ends,
                used, partner, parent, queue,
            )  # fmt: skip
            for x in mine:
                side[x] = 0
            for y in theirs:
                side[y] = 0
    return result


@njit(cache=True)
def enumerate_adjustments(kind, indptr, indices, weights, edge, ends):  # type: ignore[no-untyped-def]
    """Sum of the smaller one-sided adjustment over all ways to put features left, right or aside.

    Returns an array [a, b]: the sum over the ways with a features left and b right.
    """
    n = len(indptr) - 1
    total = np.zeros((n + 1, n + 1))
    side = np.zeros(n, dtype=np.int8)
    left, right = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    used = np.zeros(n, dtype=np.bool_)
    partner, parent = np.full(n, -1), np.full(n, -1)
    queue = np.empty(n + 1, dtype=np.int64)
    while True:
        at = 0
        while at < n and side[at] == 2:  # count up in base 3
            side[at] = 0
            at += 1
        if at == n:
            return total
        side[at] += 1
        n_left, n_right = 0, 0
        for x in range(n):
            if side[x] == 1:
                left[n_left] = x
                n_left += 1
            elif side[x] == 2:
                right[n_right] = x
                n_right += 1
        a, b = _adjustment(
            kind, left[:n_left], right[:n_right], side, indptr, indices, weights, edge, ends,
            used, partner, parent, queue,
        )  # fmt: skip
        total[n_left, n_right] += min(a, b)


@njit(cache=True)
def _draw(rng, p, pool, depth, order, place):  # type: ignore[no-untyped-def]
    """Draw the first `depth` of a random permutation of p features; note which are in `pool`."""
    n, found = len(pool), 0
    for position in range(depth):
        if rng.random() * (p - position) < n - found:
            pick = found + int(rng.random() * (n - found))
            pool[found], pool[pick] = pool[pick], pool[found]
            order[found] = pool[found]
            place[pool[found]] = position
            found += 1
            if found == n:
                break
    return found


@njit(cache=True)
def _keep_linked(order, n, place_other, absent, indptr, indices):  # type: ignore[no-untyped-def]
    """Keep of `order` the features with a similar one drawn on the other side."""
    kept = 0
    for at in range(n):
        x = order[at]
        for entry in range(indptr[x], indptr[x + 1]):
            if place_other[indices[entry]] < absent:
                order[kept] = x
                kept += 1
                break
    return kept


@njit(cache=True)
def _count_in_groups(pool, n, place, size, place_other, size_other, group, counts):  # type: ignore[no-untyped-def]
    """Count by group the drawn features that are in this set only."""
    for at in range(n):
        x = pool[at]
        if place[x] >= size:
            break
        if place_other[x] >= size_other:
            counts[group[x]] += 1


@njit(cache=True)
def simulate_adjustments(  # type: ignore[no-untyped-def]
    kind, rng, n_draws, stride, p, sizes_a, sizes_b, group, indptr, indices, weights, edge, ends
):
    """Random adjustments for many pairs of sizes from one stream of random permutations.

    The first k features of a random permutation are a random set of size k, so that a draw serves
    all pairs of sizes; draw d looks at every `stride`-th of them, starting with number d mod
    stride. Returns for every pair of sizes the sums of 1, y, x, z and of their products yy, xx, zz,
    yx, yz, xz. y is the adjustment. x and z are control variates with known expectations: x is the
    mean of the two one-sided counts (similarities for `MEAN`), z what y would be if all features of
    a `group` were similar to each other (left at 0 if `group` is empty).
    """
    # in one piece: with its loops in functions of their own it takes two to five times as long
    n, n_cells = len(indptr) - 1, len(sizes_a)
    sums = np.zeros((n_cells, 10))
    depth_a, depth_b = sizes_a.max(), sizes_b.max()
    absent = p + 1
    pool_a, pool_b = np.arange(n), np.arange(n)
    order_a, order_b = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    place_a, place_b = np.full(n, absent), np.full(n, absent)
    n_groups = group.max() + 1 if len(group) else 0
    in_a, in_b = np.zeros(n_groups, dtype=np.int64), np.zeros(n_groups, dtype=np.int64)
    side = np.zeros(n, dtype=np.int8)
    left, right = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    used = np.zeros(n, dtype=np.bool_)
    partner, parent = np.full(n, -1), np.full(n, -1)
    queue = np.empty(n + 1, dtype=np.int64)
    for draw in range(n_draws):
        drawn_a = _draw(rng, p, pool_a, depth_a, order_a, place_a)
        drawn_b = _draw(rng, p, pool_b, depth_b, order_b, place_b)
        linked_a = _keep_linked(order_a, drawn_a, place_b, absent, indptr, indices)
        linked_b = _keep_linked(order_b, drawn_b, place_a, absent, indptr, indices)
        for cell in range(draw % stride, n_cells, stride):
            size_a, size_b = sizes_a[cell], sizes_b[cell]
            y, x, z = 0.0, 0.0, 0.0
            n_left, n_right = 0, 0
            for at in range(linked_a):
                f = order_a[at]
                if place_a[f] >= size_a:
                    break
                if place_b[f] >= size_b:
                    left[n_left] = f
                    side[f] = 1
                    n_left += 1
            for at in range(linked_b if n_left > 0 else 0):
                f = order_b[at]
                if place_b[f] >= size_b:
                    break
                if place_a[f] >= size_a:
                    right[n_right] = f
                    side[f] = 2
                    n_right += 1
            if n_right > 0:
                a, b = _adjustment(
                    COUNT if kind >= GREEDY else kind, left[:n_left], right[:n_right], side,
                    indptr, indices, weights, edge, ends, used, partner, parent, queue,
                )  # fmt: skip
                y, x = min(a, b), (a + b) / 2
                if kind >= GREEDY and x > 0:
                    y, _same = _adjustment(
                        kind, left[:n_left], right[:n_right], side,
                        indptr, indices, weights, edge, ends, used, partner, parent, queue,
                    )  # fmt: skip
            for at in range(n_left):
                side[left[at]] = 0
            for at in range(n_right):
                side[right[at]] = 0
            if n_groups:
                _count_in_groups(pool_a, drawn_a, place_a, size_a, place_b, size_b, group, in_a)
                _count_in_groups(pool_b, drawn_b, place_b, size_b, place_a, size_a, group, in_b)
                for g in range(n_groups):
                    z += min(in_a[g], in_b[g])
                    in_a[g], in_b[g] = 0, 0
            total = sums[cell]
            total[0] += 1
            if x > 0 or z > 0:
                total[1] += y
                total[2] += x
                total[3] += z
                total[4] += y * y
                total[5] += x * x
                total[6] += z * z
                total[7] += y * x
                total[8] += y * z
                total[9] += x * z
        for at in range(drawn_a):
            place_a[pool_a[at]] = absent
        for at in range(drawn_b):
            place_b[pool_b[at]] = absent
    return sums
