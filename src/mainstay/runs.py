"""Runs: what a feature selector returned, run by run. Everything else in mainstay reads them."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.sparse as sp

from mainstay._validation import (
    InputError,
    check_count,
    check_matrix,
    feature_names,
    run_label,
    some,
    split_table,
)

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["support", "ranks", "scores"]


class Runs:
    """m runs of a feature selector over the same p features.

    A run is a set of selected features (`support`), a ranking (`ranks`, 1 = best, ties as average
    ranks) or a score for every feature (`scores`, larger = better). Build one with `from_sets`,
    `from_support`, `from_ranks` or `from_scores`; scores give ranks, and `top(k)` gives supports.

    Attributes
    ----------
    kind : {"support", "ranks", "scores"}
        What the runs hold.
    features : tuple of str
        The p feature names, in column order.

    Examples
    --------
    >>> import mainstay as ms
    >>> runs = ms.Runs.from_sets([["a", "b"], ["a", "c"]], features=["a", "b", "c", "d"])
    >>> runs
    Runs: 2 runs × 4 features, selections of 2 features each
    >>> runs.support.astype(int)
    array([[1, 1, 0, 0],
           [1, 0, 1, 0]])
    >>> ms.Runs.from_scores([[0.9, 0.1, 0.5], [0.8, 0.7, 0.1]]).top(2).support.astype(int)
    array([[1, 0, 1],
           [1, 1, 0]])
    """

    def __init__(self, kind: Kind, data: Any, features: tuple[str, ...]) -> None:
        if data.shape[0] < 2:
            raise InputError(
                f"got {data.shape[0]} run(s); stability compares runs, so at least 2 are needed."
            )
        self.kind: Kind = kind
        self.features = features
        self._data = data

    # ------------------------------------------------------------------ making runs

    @classmethod
    def from_sets(cls, sets: Iterable[Iterable[Any]], features: Any) -> Runs:
        """Make runs from one collection of selected features per run.

        Parameters
        ----------
        sets : iterable of iterables
            The selected features of each run, as names or as column indices (from 0).
        features : sequence of names, or int
            All features the selector could choose from, or how many. It must be given, since
            what agreement is worth depends on how many features there were.
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
        shape = (len(ends) - 1, len(names))
        ones = np.ones(len(columns), dtype=np.int32)
        return cls("support", sp.csr_array((ones, columns, ends), shape=shape), names)

    @classmethod
    def from_support(cls, support: Any, features: Any = None) -> Runs:
        """Make runs from an m × p table of 0/1 or booleans: numpy, scipy.sparse, pandas, polars."""
        values, columns = split_table(support)
        if not sp.issparse(values) or values.ndim != 2:
            values = check_matrix("support", values, columns)
        names = feature_names(features, columns, values.shape[1])
        matrix = sp.csr_array(values, copy=True)
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        wrong = np.flatnonzero(matrix.data != 1)
        if wrong.size:
            run = int(np.searchsorted(matrix.indptr, wrong[0], side="right")) - 1
            raise InputError(
                f"a support holds 0 and 1 only, but {run_label(run)}, feature "
                f"{names[matrix.indices[wrong[0]]]!r} is {matrix.data[wrong[0]]}. "
                "For rankings use from_ranks, for scores from_scores."
            )
        return cls("support", matrix.astype(np.int32), names)

    @classmethod
    def from_ranks(cls, ranks: Any, features: Any = None) -> Runs:
        """Make runs from an m × p matrix of ranks, 1 = best.

        Tied features may share the average, the smallest, the largest or the next ("dense") rank;
        they are kept as average ranks. Anything that is not a complete ranking is an error.
        """
        values, columns = split_table(ranks)
        matrix = check_matrix("ranks", values, columns)
        names = feature_names(features, columns, matrix.shape[1])
        _refuse_non_finite("ranks", matrix, names)
        return cls("ranks", _checked_ranks(matrix, names), names)

    @classmethod
    def from_scores(cls, scores: Any, features: Any = None) -> Runs:
        """Make runs from an m × p matrix of scores, larger = better."""
        values, columns = split_table(scores)
        matrix = check_matrix("scores", values, columns)
        names = feature_names(features, columns, matrix.shape[1])
        _refuse_non_finite("scores", matrix, names)
        return cls("scores", matrix, names)

    # ------------------------------------------------------------------ reading runs

    @property
    def n_runs(self) -> int:
        """Number of runs, m."""
        return int(self._data.shape[0])

    @property
    def n_features(self) -> int:
        """Number of features, p."""
        return len(self.features)

    @property
    def sparse_support(self) -> Any:
        """The selections as an m × p `scipy.sparse.csr_array` of ones."""
        if self.kind != "support":
            raise InputError(
                f"these runs hold {self.kind}, not selections; runs.top(k) selects the k best."
            )
        return self._data

    @property
    def support(self) -> np.ndarray:
        """The selections as an m × p boolean array."""
        return np.asarray(self.sparse_support.toarray(), dtype=bool)

    @property
    def ranks(self) -> np.ndarray:
        """The m × p ranks, 1 = best, ties as average ranks."""
        if self.kind == "support":
            raise InputError("these runs hold selections without an order; they have no ranks.")
        values = np.array(self._data, dtype=float)
        return average_ranks(-values) if self.kind == "scores" else values

    @property
    def scores(self) -> np.ndarray:
        """The m × p scores, larger = better."""
        if self.kind != "scores":
            raise InputError(f"these runs hold {self.kind}, not scores.")
        return np.array(self._data)

    @property
    def sizes(self) -> np.ndarray:
        """How many features every run selected."""
        return np.asarray(np.diff(self.sparse_support.indptr), dtype=np.int64)

    @property
    def counts(self) -> np.ndarray:
        """In how many runs every feature was selected."""
        return np.bincount(self.sparse_support.indices, minlength=self.n_features)

    def top(self, k: int, *, random_state: int = 0) -> Runs:
        """Select the k best features of every run.

        Ties at the cut are broken at random, with a warning. The draw depends only on
        `random_state`, the feature's name and the run's content, so that neither the order of the
        columns nor that of the runs changes the result.
        """
        k = check_count("k", k, 1, self.n_features)
        ranks = self.ranks
        cut = np.partition(ranks, k - 1, axis=1)[:, k - 1 : k]
        support = ranks <= cut
        tied = np.flatnonzero(support.sum(axis=1) > k)
        if tied.size:
            warnings.warn(
                f"in {tied.size} of {self.n_runs} runs features tie for place {k}; the ties were "
                f"broken at random (random_state={random_state}).",
                stacklevel=2,
            )
            strict = break_ties(ranks[tied], self.features, random_state)
            support[tied] = strict <= k
        return Runs("support", sp.csr_array(support).astype(np.int32), self.features)

    def subset(self, runs: Sequence[int] | np.ndarray) -> Runs:
        """Keep only some of the runs, by position."""
        return Runs(self.kind, self._data[np.asarray(runs)], self.features)

    @staticmethod
    def concatenate(parts: Sequence[Runs]) -> Runs:
        """Put runs over the same features one after the other.

        Examples
        --------
        >>> import mainstay as ms
        >>> runs = ms.Runs.from_sets([["a"], ["b"]], features=["a", "b"])
        >>> ms.Runs.concatenate([runs, runs]).n_runs
        4
        """
        first = parts[0]
        for other in parts[1:]:
            if other.kind != first.kind or other.features != first.features:
                raise InputError(
                    f"only runs of one kind over the same features can be put together, got "
                    f"{first!r} and {other!r}."
                )
        stack = sp.vstack if first.kind == "support" else np.concatenate
        data = stack([runs._data for runs in parts])
        return Runs(first.kind, sp.csr_array(data) if first.kind == "support" else data,
                    first.features)  # fmt: skip

    def to_frame(self) -> pd.DataFrame:
        """Return the runs as a table: one row per run, one column per feature."""
        import pandas as pd

        values = self.support.astype(np.int8) if self.kind == "support" else self._data
        return pd.DataFrame(values, columns=list(self.features)).rename_axis("run")

    def __len__(self) -> int:
        return self.n_runs

    def __repr__(self) -> str:
        head = f"Runs: {self.n_runs} runs × {self.n_features} features, "
        if self.kind != "support":
            return head + ("rankings" if self.kind == "ranks" else "scores")
        low, high = int(self.sizes.min()), int(self.sizes.max())
        if low == high:
            return head + f"selections of {low} feature{'s' * (low != 1)} each"
        return head + f"selections of {low} to {high} features (mean {self.sizes.mean():.1f})"

    # ------------------------------------------------------------------ files

    def save(self, path: str | Path) -> None:
        """Write the runs to a .parquet or .csv file that `Runs.load` reads back unchanged."""
        from mainstay.io import write_runs

        write_runs(self, path)

    @staticmethod
    def load(path: str | Path) -> Runs:
        """Read runs from a .parquet or .csv file.

        Files written by `save` come back unchanged. Tables from elsewhere may have one row per run
        (0/1, ranks or scores) or the columns `run` and `feature`; see `mainstay.io.read_runs`.
        """
        from mainstay.io import read_runs

        return read_runs(path)


# ---------------------------------------------------------------------- ranks and ties


def average_ranks(values: np.ndarray) -> np.ndarray:
    """Rank every row ascending, 1 = smallest, ties as average ranks."""
    order = np.argsort(values, axis=1, kind="stable")
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
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, positions, axis=1)
    return ranks


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


def _listed(what: str, items: Any) -> list[Any]:
    if isinstance(items, str) or not isinstance(items, Iterable):
        raise InputError(f"{what} must be a collection, got {items!r}.")
    return list(items)


def _refuse_non_finite(what: str, matrix: np.ndarray, names: Sequence[str]) -> None:
    bad = np.argwhere(~np.isfinite(matrix))
    if bad.size:
        run, column = bad[0]
        raise InputError(
            f"{what} must be finite, but {run_label(run)}, feature {names[column]!r} is "
            f"{matrix[run, column]} ({len(bad)} such value(s) in all)."
        )


def _checked_ranks(matrix: np.ndarray, names: Sequence[str]) -> np.ndarray:
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
