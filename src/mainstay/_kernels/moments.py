"""Weighted sums of rows, and F-statistics from them. Naive twins: tests/naive_rankers.py.

A resample is a lane. Every sum adds its rows one after the other, in the order given, and rows of
weight 0 are left out: the bits of a sum depend neither on the other lanes nor on the other columns,
which no matrix product of BLAS promises.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def centred_rows(values, rows, first, centres, out):  # type: ignore[no-untyped-def]
    """Fill `out` with some rows of `values`, columns `first` and following, less their centres."""
    for i in range(rows.shape[0]):
        row = values[rows[i]]
        for f in range(centres.shape[0]):
            out[i, f] = row[first + f] - centres[f]


@njit(cache=True, nogil=True)
def row_moments(values, rows, starts, weights, sums, squares):  # type: ignore[no-untyped-def]
    """Add weighted rows of `values`, and of their squares, to the sums of their group.

    Group c holds the rows `rows[starts[c]]` … `rows[starts[c + 1] - 1]`, and `weights[b, r]` is the
    weight of `rows[r]` in lane b. Adds to `sums[b, c]` and, unless it has no columns, to
    `squares[b, c]`.
    """
    row, weight = np.empty(4, np.int64), np.empty(4)
    for b in range(weights.shape[0]):
        for c in range(starts.shape[0] - 1):
            waiting = 0
            for r in range(starts[c], starts[c + 1]):
                if weights[b, r] == 0:
                    continue
                row[waiting], weight[waiting] = rows[r], weights[b, r]
                waiting += 1
                if waiting == 4:
                    _add_four_rows(values, row, weight, sums[b, c], squares[b, c])
                    waiting = 0
            for w in range(waiting):
                _add_row(values[row[w]], weight[w], sums[b, c], squares[b, c])


@njit(cache=True, nogil=True)
def _add_row(row, weight, sums, squares):  # type: ignore[no-untyped-def]
    for f in range(sums.shape[0]):
        sums[f] += row[f] * weight
    for f in range(squares.shape[0]):
        squares[f] += row[f] * row[f] * weight


@njit(cache=True, nogil=True)
def _add_four_rows(values, rows, weights, sums, squares):  # type: ignore[no-untyped-def]
    """Add four rows, one after the other, though a sum is loaded and stored only once."""
    a, b, c, d = values[rows[0]], values[rows[1]], values[rows[2]], values[rows[3]]
    u, v, w, x = weights[0], weights[1], weights[2], weights[3]
    if squares.shape[0] == 0:
        for f in range(sums.shape[0]):
            sums[f] = sums[f] + a[f] * u + b[f] * v + c[f] * w + d[f] * x
        return
    for f in range(sums.shape[0]):
        sums[f] = sums[f] + a[f] * u + b[f] * v + c[f] * w + d[f] * x
        squares[f] = (
            squares[f] + a[f] * a[f] * u + b[f] * b[f] * v + c[f] * c[f] * w + d[f] * d[f] * x
        )


@njit(cache=True, nogil=True)
def row_moments_with_target(  # type: ignore[no-untyped-def]
    values, y, weights, sums, squares, products
):
    """As `row_moments`, for all rows as one group, and add their products with y to `products`.

    `sums`, `squares` and `products` are lanes × columns.
    """
    row, weight = np.empty(4, np.int64), np.empty(4)
    for lane in range(weights.shape[0]):
        waiting = 0
        for r in range(weights.shape[1]):
            if weights[lane, r] == 0:
                continue
            row[waiting], weight[waiting] = r, weights[lane, r]
            waiting += 1
            if waiting == 4:
                _add_four_with_target(
                    values, y, row, weight, sums[lane], squares[lane], products[lane]
                )
                waiting = 0
        for w in range(waiting):
            of_row, of_y = values[row[w]], y[row[w]]
            _add_row(of_row, weight[w], sums[lane], squares[lane])
            for f in range(len(of_row)):
                products[lane, f] += of_row[f] * of_y * weight[w]


@njit(cache=True, nogil=True)
def _add_four_with_target(  # type: ignore[no-untyped-def]
    values, y, rows, weights, sums, squares, products
):
    a, b, c, d = values[rows[0]], values[rows[1]], values[rows[2]], values[rows[3]]
    u, v, w, x = weights[0], weights[1], weights[2], weights[3]
    p, q, r, s = y[rows[0]], y[rows[1]], y[rows[2]], y[rows[3]]
    for f in range(sums.shape[0]):
        sums[f] = sums[f] + a[f] * u + b[f] * v + c[f] * w + d[f] * x
        squares[f] = (
            squares[f] + a[f] * a[f] * u + b[f] * b[f] * v + c[f] * c[f] * w + d[f] * d[f] * x
        )
        products[f] = products[f] + a[f] * p * u + b[f] * q * v + c[f] * r * w + d[f] * s * x


@njit(cache=True, nogil=True)
def column_moments(  # type: ignore[no-untyped-def]
    columns, centres, rows, starts, weights, sums, squares
):
    """As `row_moments`, of values laid out by column, less their centres: the same bits.

    `columns` are a multiple of four; four at a time stay in registers. With few lanes this is
    several times faster than turning the values into rows, with many it is slower.
    """
    for f in range(0, columns.shape[0], 4):
        h, j, k = f + 1, f + 2, f + 3
        a, b, c, d = columns[f], columns[h], columns[j], columns[k]
        at_a, at_b, at_c, at_d = centres[f], centres[h], centres[j], centres[k]
        for lane in range(weights.shape[0]):
            for g in range(starts.shape[0] - 1):
                s, q = sums[lane, g], squares[lane, g]
                s_a, s_b, s_c, s_d = s[f], s[h], s[j], s[k]
                q_a, q_b, q_c, q_d = q[f], q[h], q[j], q[k]
                for r in range(starts[g], starts[g + 1]):
                    row, w = rows[r], float(weights[lane, r])
                    v_a, v_b = a[row] - at_a, b[row] - at_b
                    v_c, v_d = c[row] - at_c, d[row] - at_d
                    s_a, s_b, s_c, s_d = s_a + v_a * w, s_b + v_b * w, s_c + v_c * w, s_d + v_d * w
                    q_a, q_b = q_a + v_a * v_a * w, q_b + v_b * v_b * w
                    q_c, q_d = q_c + v_c * v_c * w, q_d + v_d * v_d * w
                s[f], s[h], s[j], s[k] = s_a, s_b, s_c, s_d
                q[f], q[h], q[j], q[k] = q_a, q_b, q_c, q_d


@njit(cache=True, nogil=True)
def column_products(columns, centres, y, rows, weights, products):  # type: ignore[no-untyped-def]
    """Weighted sums of y times values laid out by column, less their centres, in every lane.

    `products` is lanes × columns; a multiple of four columns.
    """
    for f in range(0, columns.shape[0], 4):
        h, j, k = f + 1, f + 2, f + 3
        a, b, c, d = columns[f], columns[h], columns[j], columns[k]
        at_a, at_b, at_c, at_d = centres[f], centres[h], centres[j], centres[k]
        for lane in range(weights.shape[0]):
            s = products[lane]
            s_a, s_b, s_c, s_d = s[f], s[h], s[j], s[k]
            for r in range(weights.shape[1]):
                row, w = rows[r], float(weights[lane, r])
                t = y[row]
                s_a, s_b = s_a + (a[row] - at_a) * t * w, s_b + (b[row] - at_b) * t * w
                s_c, s_d = s_c + (c[row] - at_c) * t * w, s_d + (d[row] - at_d) * t * w
            s[f], s[h], s[j], s[k] = s_a, s_b, s_c, s_d


@njit(cache=True, nogil=True, error_model="numpy")
def class_f(sums, squares, counts, constant, smallest_share, out):  # type: ignore[no-untyped-def]
    """F-statistics of one-way ANOVA from the sums of every lane, class and feature.

    `counts[b, c]` holds the weight of a class in every feature, or one number for all of them.
    A spread of at most `constant` times the sum of squares is that of a constant feature, which
    scores 0; the share of the spread within classes counts as at least `smallest_share`.
    """
    n_lanes, n_classes, n_features = sums.shape
    shared = counts.shape[2] == 1
    total, square, explained = np.empty(n_features), np.empty(n_features), np.empty(n_features)
    for b in range(n_lanes):
        weight, present = 0.0, 0
        if shared:  # nothing in its loops over the features stops vectorisation
            total[:], square[:], explained[:] = 0.0, 0.0, 0.0
            for c in range(n_classes):
                count = counts[b, c, 0]
                if count > 0:
                    present += 1
                    weight += count
                    for f in range(n_features):
                        total[f] += sums[b, c, f]
                        square[f] += squares[b, c, f]
                        explained[f] += sums[b, c, f] * sums[b, c, f] / count
            for f in range(n_features):
                total[f] = _f_of(
                    total[f], square[f], explained[f], weight, present, constant, smallest_share
                )
            out[b] = total
            continue
        for f in range(n_features):
            weight, present = 0.0, 0
            of_f, square_of_f, explained_of_f = 0.0, 0.0, 0.0
            for c in range(n_classes):
                count = counts[b, c, f]
                if count > 0:
                    present += 1
                    weight += count
                    of_f += sums[b, c, f]
                    square_of_f += squares[b, c, f]
                    explained_of_f += sums[b, c, f] * sums[b, c, f] / count
            out[b, f] = _f_of(
                of_f, square_of_f, explained_of_f, weight, present, constant, smallest_share
            )


@njit(cache=True, nogil=True, error_model="numpy")
def _f_of(  # type: ignore[no-untyped-def]
    total, square, explained, weight, present, constant, smallest_share
):
    """F-statistic of one feature; 0 where it is constant, or classes or rows are too few."""
    of_mean = total * total / weight
    spread = square - of_mean
    between = explained - of_mean
    between = between if between > 0.0 else 0.0
    between = between if between < spread else spread
    within = spread - between
    least = smallest_share * spread
    within = within if within > least else least
    f = between * (weight - present) / (within * (present - 1))
    return f if spread > constant * square and present > 1 and weight > present else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def correlations(  # type: ignore[no-untyped-def]
    total, square, count, product, y_total, y_square, constant, out
):
    """Absolute Pearson correlations from the sums of every lane and feature.

    `count`, `y_total` and `y_square` may have one column for all features. 0 where the spread of
    feature or target is at most `constant` times its sum of squares.
    """
    shared = count.shape[1] == 1
    for b in range(total.shape[0]):
        n, of_y = count[b, 0], y_total[b, 0]
        y_root = _root_of_spread(of_y, y_square[b, 0], n, constant)
        for f in range(total.shape[1] if shared else 0):  # nothing here stops vectorisation
            root = _root_of_spread(total[b, f], square[b, f], n, constant)
            out[b, f] = _correlation(total[b, f], product[b, f], n, of_y, root * y_root)
        for f in range(0 if shared else total.shape[1]):
            n, of_y = count[b, f], y_total[b, f]
            root = _root_of_spread(total[b, f], square[b, f], n, constant)
            root *= _root_of_spread(of_y, y_square[b, f], n, constant)
            out[b, f] = _correlation(total[b, f], product[b, f], n, of_y, root)


@njit(cache=True, nogil=True, error_model="numpy")
def _root_of_spread(total, square, n, constant):  # type: ignore[no-untyped-def]
    """Square root of a sum of squares around the mean; 0 if that is rounding, or n is 0."""
    spread = square - total * total / n
    return np.sqrt(spread if spread > constant * square else 0.0)


@njit(cache=True, nogil=True, error_model="numpy")
def _correlation(total, product, n, y_total, root):  # type: ignore[no-untyped-def]
    r = abs(product - total * y_total / n) / (root if root > 0.0 else 1.0)
    return 0.0 if root == 0.0 else (r if r < 1.0 else 1.0)


@njit(cache=True, nogil=True, error_model="numpy")
def correlations_to_f(r, n, smallest_share):  # type: ignore[no-untyped-def]
    """Turn correlations into F-statistics of simple regressions, in place.

    `n` may have one column for all features; the share of unexplained variance counts as at least
    `smallest_share`.
    """
    for b in range(r.shape[0]):
        for f in range(r.shape[1]):
            freedom = n[b, f if n.shape[1] > 1 else 0] - 2.0
            freedom = freedom if freedom > 0.0 else 0.0
            explained = r[b, f] * r[b, f]
            rest = 1.0 - explained
            rest = rest if rest > smallest_share else smallest_share
            r[b, f] = explained / rest * freedom
