"""Ranks and ties: plain functions of m × p arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mainstay._validation import InputError, check_count, run_label
from mainstay._workspace import workspace

_BLOCK_SIZE = 2**18  # of values that are ranked at once: they stay in the cache
_SORTED_AT_ONCE = 2**15  # values of which only a few are looked for


def average_ranks(values: np.ndarray) -> np.ndarray:
    """Rank every row ascending, 1 = smallest, ties as average ranks."""
    m, p = values.shape
    ranks = np.empty((m, p))
    step = max(1, _BLOCK_SIZE // max(p, 1))
    for at in range(0, m, step):
        _fill_ranks(values[at : at + step], ranks[at : at + step])
    return ranks


def _fill_ranks(values: np.ndarray, ranks: np.ndarray) -> None:
    order = np.argsort(values, axis=1)  # in any order of ties, which have the same rank
    ordered = np.take_along_axis(values, order, axis=1)
    p = values.shape[1]
    positions = np.broadcast_to(np.arange(1.0, p + 1), values.shape)
    same = ordered[:, 1:] == ordered[:, :-1]
    tied_rows = np.flatnonzero(same.any(axis=1))
    if tied_rows.size:
        positions = positions.copy()
        for row in tied_rows:
            starts = np.flatnonzero(np.concatenate(([True], ~same[row])))
            lengths = np.diff(np.append(starts, p))
            positions[row] = np.repeat(starts + (lengths + 1) / 2, lengths)
    np.put_along_axis(ranks, order, positions, axis=1)


def up_to_place(values: np.ndarray, k: int, sign: float = 1.0) -> list[np.ndarray]:
    """Columns of the values in every row that are at most as large as its k-th smallest.

    Values are multiplied by `sign`, 1 or −1, first. More than k are the columns of ties.

    Examples
    --------
    >>> up_to_place(np.array([[3.0, 1.0, 2.0], [5.0, 5.0, 4.0]]), 2)
    [array([1, 2]), array([0, 1, 2])]
    """
    m, p = values.shape
    step = max(1, _SORTED_AT_ONCE // p)
    compare = np.less_equal if sign > 0 else np.greater_equal
    found = []
    for at in range(0, m, step):
        part = values[at : at + step]
        room = workspace("up_to_place", *part.shape)
        np.multiply(part, sign, out=room)
        room.partition(k - 1, axis=1)
        last = sign * room[:, k - 1]
        found += [np.flatnonzero(compare(row, end)) for row, end in zip(part, last, strict=True)]
    return found


def break_ties(ranks: np.ndarray, features: Sequence[str], random_state: int) -> np.ndarray:
    """Turn rankings with ties into strict ones, at random, whatever the order of columns and runs.

    The random key of a feature in a run is a hash of the seed, the feature's name and the run's
    own content. Runs with the same content (which are interchangeable) are numbered, so that
    their ties fall independently.
    """
    by_name = _name_keys(features, random_state)
    strict = np.empty(ranks.shape)
    seen: dict[int, int] = {}
    for row, (values, key) in enumerate(
        zip(ranks, content_keys(ranks, features, random_state), strict=True)
    ):
        content = int(key)
        seen[content] = seen.get(content, 0) + 1
        of_run = _mix(np.uint64(content) ^ _mix(np.uint64(seen[content])))
        strict[row, np.lexsort((_mix(by_name ^ of_run), values))] = np.arange(1, ranks.shape[1] + 1)
    return strict


def content_keys(values: np.ndarray, features: Sequence[str], seed: int) -> np.ndarray:
    """One hash per run, of its values and their features' names, whatever the column order."""
    by_name = _name_keys(features, seed)
    keys = [np.sum(_mix(row.view(np.uint64)) * by_name, dtype=np.uint64) for row in values]
    return np.array(keys, dtype=np.uint64)


def _name_keys(features: Sequence[str], seed: int) -> np.ndarray:
    import pandas as pd

    mixed = _mix(np.uint64(check_count("random_state", seed, 0)))
    return np.asarray(_mix(pd.util.hash_array(np.asarray(features, dtype=object)) ^ mixed))


def _mix(bits: Any) -> Any:
    """Scramble 64-bit integers (the finaliser of splitmix64)."""
    with np.errstate(over="ignore"):
        z = np.asarray(bits, dtype=np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def checked_ranks(matrix: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Return average ranks, or say which run and feature keep `matrix` from being rankings."""
    m, p = matrix.shape
    whole = (matrix >= 1) & (matrix <= p) & (matrix == np.floor(matrix))
    if whole.all():
        taken = np.zeros((m, p), dtype=bool)
        np.put_along_axis(taken, matrix.astype(np.intp) - 1, True, axis=1)
        if taken.all():
            return matrix
    average = average_ranks(matrix)
    for run in range(m):
        given, mean = matrix[run], average[run]
        if np.array_equal(given, mean):
            continue
        _, inverse, counts = np.unique(given, return_inverse=True, return_counts=True)
        half = (counts[inverse] - 1) / 2
        accepted = (mean - half, mean + half, inverse + 1.0)
        if not any(np.array_equal(given, method) for method in accepted):
            column = int(np.flatnonzero(given != mean)[0])
            raise InputError(
                f"{run_label(run)} is not a ranking: feature {names[column]!r} has rank "
                f"{given[column]:g}, where its place among the {p} features is {mean[column]:g}. "
                "Ranks go from 1 (best) up, one for every feature; for scores use from_scores."
            )
    return average
