"""Aggregation of lists of names, best first, that need not hold the same features."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from mainstay._validation import (
    InputError,
    check_choice,
    check_count,
    feature_names,
    natural_order,
    some,
)
from mainstay.aggregation.result import Ranking
from mainstay.aggregation.rules import combine, find_rule


def aggregate_lists(
    lists: Iterable[Iterable[Any]],
    features: Any = None,
    method: str | Callable[[np.ndarray], Any] = "rra",
    *,
    missing: str = "last",
    n_features: int | None = None,
    weights: Any = None,
    **options: Any,
) -> Ranking:
    """Combine lists of names, best first, of different lengths, into one ranking.

    Parameters
    ----------
    lists : iterable of iterables
        The names of every list, best first.
    features : sequence of names, optional
        All features; by default those that are in any list, in natural order. Features in no
        list come last.
    method : str or callable
        As for `aggregate`; the rules of scores cannot be used. "borda" gives the length of the
        longest list as credit for a first place. A callable gets ranks.
    missing : {"last", "drop"}
        What absence from a list means: the last rank, or no opinion. With "last" ranks are
        divided by the number of features, with "drop" by the length of the list.
    n_features : int, optional
        How many features there were to choose from, if more than `features`: for lists of the
        best few of many thousand genes, say. It decides how surprising a short list is.
    weights, **options
        As for `aggregate`.

    Examples
    --------
    >>> from mainstay.aggregation import aggregate_lists
    >>> ranking = aggregate_lists([["a", "b"], ["b", "c", "a"]], n_features=100)
    >>> ranking.best(3)
    ('b', 'a', 'c')
    >>> ranking.to_frame().round(4)
      feature  rank   score  p_value
    0       b     1  7.8240   0.0008
    1       a     2  7.0131   0.0018
    2       c     3  3.2289   0.0716
    """
    check_choice("missing", missing, ("last", "drop"))
    named = _named(lists)
    if features is None:
        seen = sorted({name for names in named for name in names})
        features = [seen[i] for i in natural_order(seen)]
    names = feature_names(features, None, None)
    p = len(names) if n_features is None else check_count("n_features", n_features, len(names))
    rule = find_rule(method, "ranks", options)
    column = {name: j for j, name in enumerate(names)}
    places = np.full((len(named), len(names)), np.nan)
    for i, chosen in enumerate(named):
        for name in chosen:
            if name not in column:
                raise InputError(
                    f"list {i} (counting from 0) has the unknown feature {name!r}; features are "
                    f"{some(names)}."
                )
        places[i, [column[name] for name in chosen]] = np.arange(1, len(chosen) + 1)
    absent = np.isnan(places)
    last = np.where(absent, p, places)
    if rule.kind == "selections":
        matrix = (~absent).astype(float)
    elif rule.kind == "places":
        matrix = np.where(absent, 0.0, max(map(len, named)) + 1 - places)
    else:
        length = np.array([[max(len(chosen), 1)] for chosen in named])
        matrix = last if missing == "last" else places * p / length
        matrix = matrix / p if rule.kind == "order statistics" else matrix
    mentioned = ~absent.all(axis=0)
    return combine(rule, matrix, -last, names, p, weights, options, mentioned)


def _named(lists: Any) -> list[list[str]]:
    """Return the lists as lists of str; refuse empty input and names given twice."""
    if isinstance(lists, str) or not isinstance(lists, Iterable):
        raise InputError(f"lists must be a collection of lists of names, got {lists!r}.")
    named = []
    for i, names in enumerate(lists):
        if isinstance(names, str) or not isinstance(names, Iterable):
            raise InputError(f"list {i} (counting from 0) is {names!r}, not a list of names.")
        chosen = [str(name) for name in names]
        if len(set(chosen)) < len(chosen):
            twice = next(name for n, name in enumerate(chosen) if name in chosen[:n])
            raise InputError(f"list {i} (counting from 0) has feature {twice!r} twice.")
        named.append(chosen)
    if not any(named):
        raise InputError("there is nothing to aggregate: no list, or only empty ones.")
    return named
