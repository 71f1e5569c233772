"""Complete linkage of a sparse similarity graph: groups in which every two features are similar."""

from __future__ import annotations

from typing import Any

import numpy as np

from mainstay.runs import numbered_by_first


def complete_linkage_labels(graph: Any, place: np.ndarray) -> np.ndarray:
    """Partition the nodes by complete linkage, as far as all pairs of a group are linked.

    Links are taken from the most similar down, and their number between every two groups is
    counted. As soon as all pairs of two groups have had their link, the two are merged: the last of
    these links is the complete-linkage similarity of the two groups, so that groups merge in the
    order in which complete linkage merges them. Work and memory grow with the number of links, not
    with p².

    Parameters
    ----------
    graph : scipy.sparse.csr_array
        Symmetric similarities; pairs that are not stored are not similar.
    place : numpy.ndarray
        Position of every node in an order that does not depend on the columns; equal similarities
        are taken in that order.

    Returns
    -------
    numpy.ndarray
        One label for every node, numbered in the order of the nodes.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> chain = np.array([[0, 0.9, 0], [0.9, 0, 0.95], [0, 0.95, 0]])
    >>> complete_linkage_labels(sp.csr_array(chain), np.arange(3))
    array([0, 1, 1])
    """
    first, second = _links_from_the_most_similar(graph, place)
    p = graph.shape[0]
    group = list(range(p))
    members = {node: [node] for node in np.unique(np.concatenate((first, second))).tolist()}
    links: dict[int, dict[int, int]] = {node: {} for node in members}  # to which group, how many
    for i, j in zip(first.tolist(), second.tolist(), strict=True):
        a, b = group[i], group[j]
        if a == b:
            continue
        seen = links[a].get(b, 0) + 1
        if seen < len(members[a]) * len(members[b]):
            links[a][b] = links[b][a] = seen
            continue
        if len(links[a]) < len(links[b]):
            a, b = b, a
        _move_links(links, b, a)
        for node in members[b]:
            group[node] = a
        members[a] += members.pop(b)
    return numbered_by_first(np.array(group))


def _links_from_the_most_similar(graph: Any, place: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    coo = graph.tocoo()
    once = place[coo.row] < place[coo.col]
    first, second, similarity = coo.row[once], coo.col[once], coo.data[once]
    order = np.lexsort((place[second], place[first], -similarity))
    return first[order], second[order]


def _move_links(links: dict[int, dict[int, int]], source: int, target: int) -> None:
    """Add the links of one group to those of another, and forget the first group."""
    of_target = links[target]
    of_target.pop(source, None)
    for other, count in links.pop(source).items():
        if other != target:
            del links[other][source]
            of_target[other] = links[other][target] = of_target.get(other, 0) + count
