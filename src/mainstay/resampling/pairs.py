"""Complementary pairs: two disjoint halves of the rows, by class and by group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mainstay._validation import InputError
from mainstay.resampling.schemes import rows_by_class

_GROUP_TRIES = 10


@dataclass(frozen=True)
class Pairs:
    """Complementary pairs: the rows are cut into two disjoint halves, again and again.

    The two halves of a pair share no row, so that they are to each other what two independent
    studies of half the size are. Classes are halved each for itself, whole groups stay together,
    and the halves are as equal as they can be.

    References
    ----------
    Shah, R. D. and Samworth, R. J. (2013). Variable selection with error control: another look at
    stability selection. J. Royal Statistical Society B 75, 55–80.

    Examples
    --------
    >>> import numpy as np
    >>> halves = Pairs().halves(6, np.array([0, 0, 0, 0, 1, 1]), None, np.random.default_rng(0))
    >>> [half.tolist() for half in halves]
    [[0, 2, 5], [1, 3, 4]]
    """

    def halves(
        self,
        n: int,
        classes: np.ndarray | None,
        groups: np.ndarray | None,
        rng: np.random.Generator,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rows of two disjoint halves, sorted."""
        strata = np.zeros(n, dtype=np.intp) if classes is None else classes
        first = _half_of_rows(strata, rng) if groups is None else _half_of_groups(
            strata, groups, rng)  # fmt: skip
        mask = np.zeros(n, dtype=bool)
        mask[first] = True
        return np.flatnonzero(mask), np.flatnonzero(~mask)

    def check(self, classes: np.ndarray | None, groups: np.ndarray | None, n: int) -> None:
        """Refuse data that cannot be cut into two halves that both hold every class."""
        units = np.arange(n) if groups is None else groups
        what = "row" if groups is None else "group"
        n_units = len(np.unique(units))
        if n_units < 2:
            raise InputError(f"{n_units} {what} cannot be cut into two halves; at least 2 can.")
        if classes is None:
            return
        for label in np.unique(classes):
            members = len(np.unique(units[classes == label]))
            if members < 2:
                raise InputError(
                    f"class number {label} (in sorted order, from 0) is in {members} {what}; two "
                    f"disjoint halves that both hold it need at least 2."
                )


def _half_of_rows(strata: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Half of every class; the odd members of several classes go to either side in turn."""
    chosen, odd = [], []
    for members in rows_by_class(strata):
        drawn = rng.permutation(members)
        chosen.append(drawn[: len(drawn) // 2])
        odd += drawn[len(drawn) // 2 * 2 :].tolist()
    turn = int(rng.integers(2))
    extra = rng.permutation(np.array(odd, dtype=np.intp))[turn::2]
    return np.concatenate([*chosen, extra])


def _half_of_groups(strata: np.ndarray, groups: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Groups in random order, each to the side that makes the classes more equal; best of several.

    Both sides get at least `_fewest_groups` of every class, so that they can be halved again, even
    where one group holds most rows of a class; sides that lack it are not taken while others can
    be found.
    """
    members = rows_by_class(groups)
    counts = np.stack([np.bincount(strata[rows], minlength=strata.max() + 1) for rows in members])
    best, least = None, np.inf
    for _ in range(_GROUP_TRIES):
        side, surplus = _sides_in_random_order(counts, rng)
        complete = (counts[side].sum(axis=0) > 0) & (counts[~side].sum(axis=0) > 0)
        cost = np.abs(surplus).sum() + 1e9 * (~complete).sum()
        if cost < least:
            best, least = side, cost
    assert best is not None
    if least >= 1e9:
        raise InputError(
            f"in {_GROUP_TRIES} tries {len(members)} groups gave no two halves that both hold "
            "every class; there are too few groups of some class."
        )
    return np.concatenate([rows for rows, first in zip(members, best, strict=True) if first])


def _sides_in_random_order(
    counts: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Which groups go to the first side, and by how many rows of each class it is larger.

    `counts` holds the rows of every class in each group.
    """
    holds = (counts > 0).astype(int)
    missing = np.tile(_fewest_groups(holds.sum(axis=0)), (2, 1))  # groups that a side still needs
    to_come = holds.sum(axis=0)
    first, surplus = np.zeros(len(counts), dtype=bool), np.zeros(counts.shape[1])
    for unit in rng.permutation(len(counts)):
        to_come -= holds[unit]
        costs = []
        for side, sign in ((0, 1), (1, -1)):
            needed = np.maximum(missing[side] - holds[unit], 0) + missing[1 - side]
            out_of_reach = np.maximum(needed - to_come, 0).sum()
            costs.append(np.square(surplus + sign * counts[unit]).sum() + 1e18 * out_of_reach)
        first[unit] = costs[0] < costs[1] or (costs[0] == costs[1] and bool(rng.integers(2)))
        side = 0 if first[unit] else 1
        missing[side] = np.maximum(missing[side] - holds[unit], 0)
        surplus += counts[unit] if first[unit] else -counts[unit]
    return first, surplus


def _fewest_groups(n_groups: np.ndarray) -> np.ndarray:
    """Groups of a class that each half gets: enough to be halved once or twice more."""
    return np.select([n_groups >= 16, n_groups >= 4, n_groups >= 2], [4, 2, 1], 0)
