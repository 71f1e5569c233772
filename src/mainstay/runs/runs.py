"""The class Runs: m runs of a feature selector over the same p features."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.sparse as sp

from mainstay._notebook import card
from mainstay._validation import (
    InputError,
    check_count,
    check_matrix,
    default_names,
    feature_names,
    run_label,
    split_table,
)
from mainstay.runs import files
from mainstay.runs.grouping import best_in_groups, group_columns, selected_groups
from mainstay.runs.ranks import average_ranks, break_ties, checked_ranks, up_to_place
from mainstay.runs.sets import selected_columns

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["support", "ranks", "scores"]


class Runs:
    """m runs of a feature selector over the same p features.

    A run is a set of selected features (`support`), a ranking (`ranks`, 1 = best, ties as average
    ranks) or a score for every feature (`scores`, larger = better). Build one with `from_sets`,
    `from_support`, `from_ranks` or `from_scores`; scores give ranks, and `top(k)` gives supports.
    Runs are values: their arrays are read-only, equal runs are `==`, and `runs[2]`, `runs[:10]` or
    `runs[[0, 5]]` are runs again.

    Attributes
    ----------
    kind : {"support", "ranks", "scores"}
        What the runs hold.
    features : tuple of str
        The p feature names, in column order.
    paired : bool
        Whether runs 0 and 1, 2 and 3, … saw the two disjoint halves of the same rows
        (`resampling="pairs"`), so that each two of them are like two independent studies.
    resampled : bool
        Whether the runs are known to have seen the same rows, resampled: then they are not
        independent lists, and p-values that need such do not hold.

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

    def __init__(
        self,
        kind: Kind,
        data: Any,
        features: tuple[str, ...],
        *,
        paired: bool = False,
        resampled: bool = False,
    ) -> None:
        if data.shape[0] < 1:
            raise InputError("there are no runs; at least one is needed.")
        if paired and data.shape[0] % 2:
            raise InputError(f"paired runs come in twos, got {data.shape[0]} runs.")
        self._paired, self._resampled = paired, resampled or paired
        self._kind: Kind = kind
        self._features = features
        self._data = data
        parts = (data.data, data.indices, data.indptr) if kind == "support" else (data,)
        for part in parts:
            part.flags.writeable = False

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
        columns, ends, names = selected_columns(sets, features)
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
        return cls("ranks", checked_ranks(matrix, names), names)

    @classmethod
    def from_scores(cls, scores: Any, features: Any = None) -> Runs:
        """Make runs from an m × p matrix of scores, larger = better."""
        values, columns = split_table(scores)
        matrix = check_matrix("scores", values, columns)
        names = feature_names(features, columns, matrix.shape[1])
        _refuse_non_finite("scores", matrix, names)
        return cls("scores", matrix, names)

    @classmethod
    def of_new_scores(cls, scores: np.ndarray, features: tuple[str, ...]) -> Runs:
        """As `from_scores`, of an array that is nobody else's and names that were checked.

        Nothing is copied.
        """
        _refuse_non_finite("scores", scores, features)
        return cls("scores", scores, features)

    # ------------------------------------------------------------------ reading runs

    @property
    def kind(self) -> Kind:
        """What the runs hold."""
        return self._kind

    @property
    def features(self) -> tuple[str, ...]:
        """The p feature names, in column order."""
        return self._features

    @property
    def paired(self) -> bool:
        """Whether runs 0 and 1, 2 and 3, … saw disjoint halves of the same rows."""
        return self._paired

    def as_pairs(self) -> Runs:
        """The same runs, with runs 0 and 1, 2 and 3, … known to be the halves of pairs."""
        return Runs(self.kind, self._data, self.features, paired=True)

    @property
    def resampled(self) -> bool:
        """Whether the runs are known to have seen the same rows, resampled."""
        return self._resampled

    def as_resampled(self) -> Runs:
        """The same runs, known to have seen resamples of the same rows."""
        return Runs(self.kind, self._data, self.features, paired=self.paired, resampled=True)

    def reordered(self, order: np.ndarray) -> Runs:
        """The same runs with their columns in another order, named x0, x1, … in it."""
        return self._like(self.kind, self._data[:, order], default_names(len(order)))

    def _like(self, kind: Kind, data: Any, features: tuple[str, ...]) -> Runs:
        """Other values of the same runs, which saw the same rows."""
        return Runs(kind, data, features, paired=self.paired, resampled=self.resampled)

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

    @cached_property
    def ranks(self) -> np.ndarray:
        """The m × p ranks, 1 = best, ties as average ranks; computed once and kept."""
        if self.kind == "support":
            raise InputError("these runs hold selections without an order; they have no ranks.")
        if self.kind == "ranks":
            return np.asarray(self._data)
        ranks = average_ranks(-self._data)
        ranks.flags.writeable = False
        return ranks

    @property
    def scores(self) -> np.ndarray:
        """The m × p scores, larger = better."""
        if self.kind != "scores":
            raise InputError(f"these runs hold {self.kind}, not scores.")
        return np.asarray(self._data)

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
        values, sign = (self._data, -1.0) if self.kind == "scores" else (self.ranks, 1.0)
        best = up_to_place(values, k, sign)
        tied = np.flatnonzero([len(columns) > k for columns in best])
        if tied.size:
            warnings.warn(
                f"in {tied.size} of {self.n_runs} runs features tie for place {k}; the ties were "
                f"broken at random (random_state={random_state}).",
                stacklevel=2,
            )
            ranks = average_ranks(sign * values[tied])
            strict = break_ties(ranks, self.features, random_state)
            for run, places in zip(tied, strict, strict=True):
                best[run] = np.flatnonzero(places <= k)
        ends = np.arange(0, k * self.n_runs + 1, k, dtype=np.int32)
        columns = np.concatenate(best, dtype=np.int32, casting="same_kind")
        chosen = sp.csr_array((np.ones(len(columns), np.int32), columns, ends), self._data.shape)
        return self._like("support", chosen, self.features)

    def grouped(self, groups: Iterable[Iterable[str]]) -> Runs:
        """Turn runs over features into runs over groups of features.

        A run selects a group if it selects a member; in rankings and scores a group stands where
        the best of its members stands. Pairs stay pairs.

        Parameters
        ----------
        groups : iterable of iterables of str
            Names of the features of each group, which must not overlap; features in none are groups
            of their own. `FeatureSimilarity.groups("complete_linkage")` gives groups of twins.

        Examples
        --------
        >>> import mainstay as ms
        >>> runs = ms.Runs.from_sets([["a"], ["b"]], features=["a", "b", "c"])
        >>> grouped = runs.grouped([("a", "b")])
        >>> grouped.features, grouped.counts.tolist()
        (('a; b', 'c'), [2, 0])
        """
        labels, names = group_columns(groups, self.features)
        names = feature_names(names, None, len(names))
        if self.kind == "support":
            data: Any = selected_groups(self._data, labels)
        elif self.kind == "scores":
            data = best_in_groups(self._data, labels, np.maximum)
        else:
            data = average_ranks(best_in_groups(self._data, labels, np.minimum))
        return self._like(self.kind, data, names)

    def __getitem__(self, runs: int | slice | Sequence[int] | np.ndarray) -> Runs:
        """Keep some of the runs: a position, a slice, positions, or a mask."""
        if isinstance(runs, int | np.integer):
            if not -self.n_runs <= runs < self.n_runs:
                raise IndexError(f"there are {self.n_runs} runs, so no run {runs}.")
            runs = [int(runs)]
        elif not isinstance(runs, slice):
            runs = np.asarray(runs)
            runs = runs if runs.size else np.empty(0, dtype=np.intp)
        return Runs(self.kind, self._data[runs], self.features, resampled=self.resampled)

    def __iter__(self) -> Iterator[Runs]:
        return (self[run] for run in range(self.n_runs))

    def subset(self, runs: Sequence[int] | np.ndarray) -> Runs:
        """Keep only some of the runs, by position: `runs[[0, 5]]`."""
        return self[runs]

    __array_ufunc__ = None  # so that numpy leaves == and != to the runs

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Runs):
            return NotImplemented
        mine = (self.kind, self.features, self.n_runs, self.paired)
        if mine != (other.kind, other.features, other.n_runs, other.paired):
            return False
        if self.kind == "support":
            return bool((self._data != other._data).nnz == 0)
        return bool(np.array_equal(self._data, other._data))

    def __hash__(self) -> int:
        return hash((self.kind, self.features, self.n_runs))

    def __reduce__(self) -> tuple[Any, ...]:
        make = partial(Runs, paired=self.paired, resampled=self.resampled)  # read-only again
        return make, (self._kind, self._data, self._features)

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
        data = sp.csr_array(data) if first.kind == "support" else data
        return Runs(
            first.kind,
            data,
            first.features,
            paired=all(runs.paired for runs in parts),
            resampled=any(runs.resampled for runs in parts),
        )

    def to_frame(self) -> pd.DataFrame:
        """Return the runs as a table: one row per run, one column per feature."""
        import pandas as pd

        values = self.support.astype(np.int8) if self.kind == "support" else self._data
        return pd.DataFrame(values, columns=list(self.features)).rename_axis("run")

    def __len__(self) -> int:
        return self.n_runs

    def __repr__(self) -> str:
        head = f"Runs: {self.n_runs} run{'s' * (self.n_runs != 1)} × {self.n_features} features, "
        if self.kind != "support":
            return head + ("rankings" if self.kind == "ranks" else "scores")
        low, high = int(self.sizes.min()), int(self.sizes.max())
        if low == high:
            return head + f"selections of {low} feature{'s' * (low != 1)} each"
        return head + f"selections of {low} to {high} features (mean {self.sizes.mean():.1f})"

    def _repr_html_(self) -> str:
        import pandas as pd

        if self.kind == "support":
            best = np.argsort(-self.counts, kind="stable")
            share = self.counts[best] / self.n_runs
            columns = {"feature": [self.features[j] for j in best], "frequency": share}
        else:
            mean = self.ranks.mean(axis=0)
            best = np.argsort(mean, kind="stable")
            columns = {"feature": [self.features[j] for j in best], "mean rank": mean[best]}
        return card(repr(self), table=pd.DataFrame(columns))

    # ------------------------------------------------------------------ files

    @property
    def _rows_seen(self) -> files.RowsSeen:
        if self.paired:
            return "in pairs"
        return "resampled" if self.resampled else ""

    def save(self, path: str | Path) -> None:
        """Write the runs to a .parquet or .csv file that `Runs.load` reads back unchanged."""
        files.write(path, self.kind, self._data, self.features, self._rows_seen)

    def to_arrow(self) -> Any:
        """Return the runs as a pyarrow table, which `from_arrow` turns back unchanged."""
        return files.to_arrow(self.kind, self._data, self.features, self._rows_seen)

    @classmethod
    def from_arrow(cls, table: Any) -> Runs:
        """Make runs of a table written by `to_arrow`."""
        return cls._made(*files.from_arrow(table))

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        kind: str = "auto",
        n_features: int | None = None,
        features: Sequence[str] | None = None,
    ) -> Runs:
        """Read runs from a file.

        Parameters
        ----------
        path : str or Path
            A .csv, .tsv or .parquet file: written by `Runs.save`; or with one row per run and one
            column per feature; or with the columns `run` and `feature`, one row per selected
            feature. A column named `run` (or unnamed) is taken as the runs' names.
        kind : {"auto", "support", "ranks", "scores"}
            What the values are. "auto": selections if all are 0 or 1, ranks if every row is a
            ranking, scores otherwise.
        n_features : int, optional
            For run, feature pairs: how many features there were to choose from. Without it only
            those that were ever selected are counted, which makes chance agreement look larger
            than it is.
        features : sequence of str, optional
            For run, feature pairs: the names of all features there were to choose from.
        """
        return cls._made(*files.read(path, kind=kind, n_features=n_features, features=features))

    @classmethod
    def _made(cls, how: str, values: Any, features: Any, rows_seen: files.RowsSeen) -> Runs:
        makers: dict[str, Callable[[Any, Any], Runs]] = {
            "sets": cls.from_sets,
            "support": cls.from_support,
            "ranks": cls.from_ranks,
            "scores": cls.from_scores,
        }
        runs = makers[how](values, features)
        if rows_seen == "in pairs":
            return runs.as_pairs()
        return runs.as_resampled() if rows_seen == "resampled" else runs


def _refuse_non_finite(what: str, matrix: np.ndarray, names: Sequence[str]) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(matrix.sum()):
            return
    finite = np.isfinite(matrix)
    if not finite.all():
        bad = np.argwhere(~finite)
        run, column = bad[0]
        raise InputError(
            f"{what} must be finite, but {run_label(run)}, feature {names[column]!r} is "
            f"{matrix[run, column]} ({len(bad)} such value(s) in all)."
        )
