"""Runs over groups of features: a group is selected if one of its members is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from mainstay._validation import InputError, natural_order, some


def group_columns(
    groups: Iterable[Iterable[str]], features: Sequence[str]
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Number the groups that features belong to, and name them.

    Parameters
    ----------
    groups : iterable of iterables of str
        Names of the features of each group; features in none are groups of their own.
    features : sequence of str
        All features.

    Returns
    -------
    labels : numpy.ndarray
        Number of the group of every feature, in the order of the groups' first features.
    names : tuple of str
        Name of every group: its feature, or "a; b", or "a; b; and 3 more".

    Examples
    --------
    >>> labels, names = group_columns([("a", "c")], ["a", "b", "c"])
    >>> labels, names
    (array([0, 1, 0]), ('a; c', 'b'))
    """
    position = {name: i for i, name in enumerate(features)}
    owner = np.full(len(features), -1)
    listed = [list(group) for group in groups]
    for number, group in enumerate(listed):
        unknown = [name for name in group if name not in position]
        if unknown:
            raise InputError(
                f"group {number} (counting from 0) has features that the runs do not have: "
                f"{some(unknown)}; features are {some(list(features))}."
            )
        for name in group:
            if owner[position[name]] >= 0:
                raise InputError(
                    f"feature {name!r} is in more than one group, or twice in one; groups must not "
                    "overlap. similarity.groups('complete_linkage') gives groups that do not."
                )
            owner[position[name]] = number
    alone = owner < 0
    owner[alone] = len(listed) + np.arange(alone.sum())
    labels = numbered_by_first(owner)
    members: list[list[str]] = [[] for _ in range(labels.max() + 1)]
    for name, label in zip(features, labels.tolist(), strict=True):
        members[label].append(name)
    return labels, tuple(group_name(group) for group in members)


def group_name(members: Sequence[str]) -> str:
    """Name a group by its members, the first two by name; no column order changes it.

    Examples
    --------
    >>> group_name(["x10", "x2", "x1"])
    'x1; x2; and 1 more'
    """
    if len(members) == 1:
        return members[0]
    ordered = [members[i] for i in natural_order(members)]
    more = [f"and {len(ordered) - 2} more"] * (len(ordered) > 2)
    return "; ".join(ordered[:2] + more)


def numbered_by_first(labels: np.ndarray) -> np.ndarray:
    """Number labels from 0 in the order in which they first come.

    Examples
    --------
    >>> numbered_by_first(np.array([7, 3, 7, 9]))
    array([0, 1, 0, 2])
    """
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    number = np.empty(len(first), dtype=np.intp)
    number[np.argsort(first)] = np.arange(len(first))
    return np.asarray(number[inverse.ravel()])


def best_in_groups(values: np.ndarray, labels: np.ndarray, best: np.ufunc) -> np.ndarray:
    """Best value of every group in every row, with `numpy.maximum` or `numpy.minimum` as `best`.

    Examples
    --------
    >>> best_in_groups(np.array([[3.0, 1.0, 2.0]]), np.array([0, 1, 1]), np.minimum)
    array([[3., 1.]])
    """
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    return np.asarray(best.reduceat(values[:, order], starts, axis=1))


def selected_groups(support: Any, labels: np.ndarray) -> Any:
    """Which groups have a selected member: runs × groups, sparse, of ones."""
    p = len(labels)
    member_of = sp.csr_array((np.ones(p, dtype=np.int32), (np.arange(p), labels)))
    found = sp.csr_array(support @ member_of)
    found.data = np.ones_like(found.data)
    found.sort_indices()
    return found
