"""Naive twins of the simulated selector: the paper's algorithms, step by step, and all outcomes.

Written from Onda et al. (2021) alone, with sets and loops; nothing of the library is imported.
Features are numbered 0..n-1, the first u are the useful ones. A ranking is a tuple of features,
best first.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, product

import numpy as np

Ranking = tuple[int, ...]


def algorithm_3(n: int, members: set[int], p: float, rng: np.random.Generator) -> list[int]:
    """Rank of every feature, 1 = best: one pick after the other."""
    inside, outside = sorted(members), sorted(set(range(n)) - members)
    rank = [0] * n
    for i in range(1, n + 1):
        r = rng.random()
        if (r < p and not inside) or (r >= p and outside):
            s = outside.pop(int(rng.integers(len(outside))))
        else:
            s = inside.pop(int(rng.integers(len(inside))))
        rank[s] = i
    return rank


def weak_selector(n: int, k: int, u: int, p: float, rng: np.random.Generator) -> list[int]:
    """One run: its set S_m from the useful features, then algorithm 3."""
    return algorithm_3(n, set(rng.choice(u, k, replace=False).tolist()), p, rng)


def algorithm_2(
    n: int, k: int, u: int, p: float, m: int, rng: np.random.Generator
) -> tuple[set[int], list[list[int]]]:
    """Selection of an ensemble by mean rank, ties at random, and its runs' ranks."""
    ranks = [weak_selector(n, k, u, p, rng) for _ in range(m)]
    keys = [(sum(rank[f] for rank in ranks), rng.random(), f) for f in range(n)]
    return {f for _, _, f in sorted(keys)[:k]}, ranks


def uniform_counts(n: int, k: int, n_runs: int, rng: np.random.Generator) -> list[int]:
    """How often every feature is selected by the uniform feature selector."""
    chosen = [f for _ in range(n_runs) for f in rng.choice(n, k, replace=False).tolist()]
    times = Counter(chosen)
    return [times[f] for f in range(n)]


def algorithm_a(counts: list[int], t_uniform: int) -> int:
    """n_useful: features selected more often than the threshold (section 2.3.1)."""
    return sum(count > t_uniform for count in counts)


# --- all outcomes -------------------------------------------------------------------------------
def rankings(n: int, k: int, u: int, p: Fraction) -> dict[Ranking, Fraction]:
    """Probability of every ranking that a run can give."""
    found: Counter[Ranking] = Counter()

    def pick(inside: frozenset[int], outside: frozenset[int], so_far: Ranking, chance: Fraction):
        if not inside and not outside:
            found[so_far] += chance
            return
        from_inside = p if inside and outside else Fraction(bool(inside))
        for pool, share in ((inside, from_inside), (outside, 1 - from_inside)):
            if share:
                for f in pool:
                    left = (inside - {f}, outside - {f})
                    pick(*left, (*so_far, f), chance * share / len(pool))

    sets = list(combinations(range(u), k))
    for members in sets:
        rest = frozenset(range(n)) - set(members)
        pick(frozenset(members), rest, (), Fraction(1, len(sets)))
    return dict(found)


def tops(outcomes: dict[Ranking, Fraction], k: int) -> dict[frozenset[int], Fraction]:
    """Probability of every set of k best features."""
    found: Counter[frozenset[int]] = Counter()
    for ranking, chance in outcomes.items():
        found[frozenset(ranking[:k])] += chance
    return dict(found)


def maximum_counts(n: int, k: int, n_runs: int) -> dict[int, Fraction]:
    """Probability of every value of t_uniform, from all ways to select k of n, n_runs times."""
    sets = list(combinations(range(n), k))
    found: Counter[int] = Counter()
    for runs in product(sets, repeat=n_runs):
        found[max(Counter(f for run in runs for f in run).values())] += 1
    return {t: Fraction(times, len(sets) ** n_runs) for t, times in found.items()}
