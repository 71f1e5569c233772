"""Slow, obvious twins of the compiled trees of networks; they draw the same random numbers."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

WORD = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
TIE = 1e-10


def mixed(z: int) -> int:
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
    return z ^ (z >> 31)


class Numbers:
    """The stream of random numbers of one tree."""

    def __init__(self, seed: int, tree: int) -> None:
        self.state = mixed((seed + GOLDEN * (tree + 1)) & WORD)

    def next(self) -> int:
        self.state = (self.state + GOLDEN) & WORD
        return mixed(self.state)

    def below(self, n: int) -> int:
        return ((self.next() >> 32) * n) >> 32

    def fraction(self) -> float:
        return (self.next() >> 11) * 2.0**-53


def explained(rows: list[int], y: np.ndarray, times: np.ndarray) -> float:
    """Squared sum over number: what the mean of a node explains."""
    return float((times[rows] * y[rows]).sum() ** 2 / times[rows].sum())


def forest(X, y, features, n_trees, k, bootstrap, seed, extra=False) -> np.ndarray:
    """Reduction of variance by every column of X, averaged over trees."""
    X = X.astype(np.float32)
    out = np.zeros(X.shape[1])
    for tree in range(n_trees):
        numbers = Numbers(seed, tree)
        times = np.zeros(len(y), dtype=int)
        for row in range(len(y)):
            times[numbers.below(len(y)) if bootstrap else row] += 1
        order = list(features)
        nodes = [[row for row in range(len(y)) if times[row]]]
        while nodes:
            rows = nodes.pop()
            if len({float(y[row]) for row in rows}) < 2:
                continue
            split = random_split if extra else best_split
            found = split(X, y, times, rows, features, order, k, numbers)
            if found is None:
                continue
            feature, left, right = found
            gain = explained(left, y, times) + explained(right, y, times)
            out[feature] += (gain - explained(rows, y, times)) / (len(y) * n_trees)
            nodes += [left, right]
    return out


def visit(order: list[int], k: int, numbers: Numbers, found: list, always: bool = False):
    """Features in the order they are looked at: all, or k drawn ones and more until one splits."""
    visited = 0
    while visited < len(order) and (visited < k or not found):
        if always or k < len(order):
            at = visited + numbers.below(len(order) - visited)
            order[at], order[visited] = order[visited], order[at]
        visited += 1
        yield order[visited - 1]


def best_split(X, y, times, rows, features, order, k, numbers):
    if len(rows) == 2:
        telling = [j for j in features if X[rows[0], j] != X[rows[1], j]]
        if not telling:
            return None
        return telling[numbers.below(len(telling))], rows[:1], rows[1:]
    found: list = []
    best, ties = -1.0, 0
    for j in visit(order, k, numbers, found):
        ranked = sorted(rows, key=lambda row: X[row, j])
        cuts = [p for p in range(1, len(rows)) if X[ranked[p], j] != X[ranked[p - 1], j]]
        if not cuts:
            continue
        gains = [explained(ranked[:p], y, times) + explained(ranked[p:], y, times) for p in cuts]
        gain = max(gains)
        if gain < best * (1 - TIE):
            continue
        ties = 1 if gain > best * (1 + TIE) else ties + 1
        if ties == 1 or numbers.below(ties) == 0:
            p = cuts[next(i for i, g in enumerate(gains) if g >= gain * (1 - 1e-13))]
            best, found[:] = gain, [(j, ranked[:p], ranked[p:])]
    return found[0] if found else None


def random_split(X, y, times, rows, features, order, k, numbers):
    found: list = []
    best, ties = -1.0, 0
    for j in visit(order, k, numbers, found):
        low, high = X[rows, j].min(), X[rows, j].max()
        if low == high:
            continue
        at = np.float32(float(low) + numbers.fraction() * (float(high) - float(low)))
        at = low if at >= high else at
        left = [row for row in rows if X[row, j] <= at]
        right = [row for row in rows if X[row, j] > at]
        gain = explained(left, y, times) + explained(right, y, times)
        if gain < best * (1 - TIE):
            continue
        ties = 1 if gain > best * (1 + TIE) else ties + 1
        if ties == 1 or numbers.below(ties) == 0:
            best, found[:] = gain, [(j, left, right)]
    return found[0] if found else None


def boosting(X, y, features, n_trees, k, n_left_out, depth, rate, window, seed):
    """Reduction of squared error by every column of X in all trees, and how many trees there are.

    Every tree is written down as its leaves; predictions are kept, not what they leave unexplained.
    """
    X = X.astype(np.float32).astype(float)
    out = np.zeros(X.shape[1])
    prediction = np.full(len(y), y.mean())
    drawn, order, losses = list(range(len(y))), list(range(len(features))), []
    for tree in range(n_trees):
        numbers = Numbers(seed, tree)
        for i in range(n_left_out):
            at = i + numbers.below(len(y) - i)
            drawn[at], drawn[i] = drawn[i], drawn[at]
        left_out = drawn[:n_left_out]
        if not losses:
            losses.append(np.mean((y - prediction)[left_out] ** 2))
        residuals = y - prediction
        nodes, leaves = [list(range(len(y)))], []
        for _ in range(depth):
            children = []
            for rows in nodes:
                inside = [row for row in rows if row not in left_out]
                found = threshold_split(X, residuals, inside, features, order, k, numbers)
                if found is None:
                    leaves.append(rows)
                    continue
                feature, threshold, gain = found
                out[feature] += gain
                children.append([row for row in rows if X[row, feature] <= threshold])
                children.append([row for row in rows if X[row, feature] > threshold])
            nodes = children
        for rows in leaves + nodes:
            inside = [row for row in rows if row not in left_out]
            prediction[rows] += rate * residuals[inside].mean()
        losses.append(np.mean((y - prediction)[left_out] ** 2))
        improvements = -np.diff(losses)
        if len(improvements) >= window and improvements[-window:].mean() < 0:
            return out, tree + 1
    return out, n_trees


def threshold_split(X, residuals, inside, features, order, k, numbers):
    """The best column, threshold and reduction of the sum of squares; of equals the first drawn."""
    if np.ptp(residuals[inside]) < 1e-12:
        return None
    once = np.ones(len(residuals), dtype=int)
    found: list = []
    for place in visit(order, k, numbers, found, always=True):
        j = features[place]
        levels = np.unique(X[inside, j])
        for low, high in pairwise(levels):
            left = [row for row in inside if X[row, j] <= low]
            right = [row for row in inside if X[row, j] > low]
            gain = explained(left, residuals, once) + explained(right, residuals, once)
            gain -= explained(inside, residuals, once)
            if not found or gain > found[0][2] + 1e-10:
                found[:] = [(j, (low + high) / 2, gain)]
    return found[0] if found else None
