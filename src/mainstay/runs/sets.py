"""Selections given as collections of features: which columns they are."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from mainstay._validation import InputError, feature_names, run_label, some


def selected_columns(
    sets: Iterable[Iterable[Any]], features: Any
) -> tuple[list[int], list[int], tuple[str, ...]]:
    """Columns that every run selects, where those of a run end, and the names of all columns.

    Parameters
    ----------
    sets, features
        As in `Runs.from_sets`.
    """
    labels = [] if isinstance(features, int | np.integer) else _listed("features", features)
    names = feature_names(labels or features, None, None)
    index: dict[Any, int] = {name: i for i, name in enumerate(names)}
    index |= {label: i for i, label in enumerate(labels)}
    by_position = not any(isinstance(label, int | np.integer) for label in labels)

    def position(run: int, item: Any) -> int:
        if by_position and isinstance(item, int | np.integer) and not isinstance(item, bool):
            if 0 <= item < len(names):
                return int(item)
            raise InputError(
                f"{run_label(run)} selects feature number {item}, "
                f"but there are {len(names)} features (0 to {len(names) - 1})."
            )
        found = index.get(item) if isinstance(item, Hashable) else None
        if found is None:
            raise InputError(
                f"{run_label(run)} selects the unknown feature {item!r}; "
                f"features are {some(names)}."
            )
        return found

    columns: list[int] = []
    ends = [0]
    for run, chosen in enumerate(_listed("sets", sets)):
        if isinstance(chosen, str) or not isinstance(chosen, Iterable):
            raise InputError(f"{run_label(run)} is {chosen!r}, not a collection of features.")
        row = [position(run, item) for item in chosen]
        if len(set(row)) < len(row):
            twice = next(i for n, i in enumerate(row) if i in row[:n])
            raise InputError(f"{run_label(run)} selects feature {names[twice]!r} twice.")
        columns.extend(sorted(row))
        ends.append(len(columns))
    return columns, ends, names


def _listed(what: str, items: Any) -> list[Any]:
    if isinstance(items, str) or not isinstance(items, Iterable):
        raise InputError(f"{what} must be a collection, got {items!r}.")
    return list(items)
