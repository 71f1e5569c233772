"""RowBatches: rows that stay on disk and are read in blocks of a fixed number of rows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from mainstay._provenance import content_hash
from mainstay._validation import InputError, check_choice, feature_names, some
from mainstay.batches.memory import columns_at_once, parse_memory, room_for
from mainstay.batches.opening import open_source
from mainstay.batches.sources import Source

# Whatever is summed is summed block by block, so this number is part of the results: it depends
# neither on the memory limit nor on how files are cut.
BLOCK_ROWS = 4096
_IDENTITIES = {"sha256_files", "graph"}  # in a summary: any change of the source shows
_NUMBERS = ("float", "integer", "boolean")


class Block(NamedTuple):
    """Consecutive rows: number of the first, their features (rows × columns) and their target.

    `complete` tells that no value is missing.
    """

    start: int
    values: np.ndarray
    target: np.ndarray
    complete: bool


class RowBatches:
    """Rows that are read where they are, as often as needed, and never held all at once.

    Make one with `RowBatches.open`. `EnsembleSelector.fit` and `FeatureSimilarity.from_data` take
    it in place of a table. Results depend neither on the limit of memory, nor on how the rows are
    cut into files, nor on the number of cores: rows are always summed in blocks of 4,096, one block
    after the other.

    Attributes
    ----------
    features : tuple of str
        Names of the features.
    kinds : tuple of str
        What they hold: "float", "integer" or "boolean".
    target : str
        Name of the target.
    n_rows, n_features : int
        How many rows and features there are.
    memory : int or None
        Limit in bytes for the whole process.

    Examples
    --------
    >>> import numpy as np, mainstay as ms
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=10_000)
    >>> X = rng.normal(size=(10_000, 20))
    >>> X[:, 3] += y
    >>> rows = ms.RowBatches.open(X, target=y, memory=None)
    >>> rows
    RowBatches: 10000 rows × 20 features, target 'y', from an array
    >>> selector = ms.EnsembleSelector(
    ...     "f_statistic", resampling="poisson", n_features_to_select=1, random_state=0
    ... )
    >>> selector.fit(rows).get_feature_names_out()
    array(['x3'], dtype=object)
    """

    def __init__(
        self, source: Source, features: Sequence[str], target: str, memory: int | None
    ) -> None:
        self._source = source
        self.features, self.target, self.memory = tuple(features), target, memory
        self.kinds = tuple(source.kinds[name] for name in self.features)
        self.n_rows, self.n_features = source.n_rows, len(self.features)
        self.most_at_once = self.n_features

    @classmethod
    def open(
        cls,
        source: Any,
        target: Any,
        *,
        memory: int | str | None = None,
        drop: Sequence[str] = (),
        features: Sequence[str] | None = None,
    ) -> RowBatches:
        """Look at where rows are, without reading them.

        Parameters
        ----------
        source : str, Path, pyarrow Dataset or Table, dask DataFrame, numpy.memmap or array
            A folder of Parquet files (all files in it, sorted by name), a Parquet file, an .h5ad
            file (extra "h5ad"), an .npy file (mapped into memory), or one of these objects.
            Features must be numbers; columns of text must be encoded or dropped.
        target : str or array
            Name of the column to be predicted (in .h5ad files a column of `obs`); for arrays and
            .npy files one value per row, in an array or the name of another .npy file.
        memory : int or str, optional
            How much the whole process may hold, such as "2GB". Where not all columns fit, they are
            read in several passes, some at a time. Without a limit, arrays take up to 1 GB.
        drop : sequence of str
            Columns that are not features.
        features : sequence of str, optional
            Names of the columns of an array.
        """
        limit = parse_memory(memory)
        opened = open_source(source, target, features)
        label = opened.target if isinstance(opened.target, str) else "y"
        columns = opened.names
        if opened.targets is not None:
            check_choice(f"column of {opened.what}", label, opened.targets)
        for name in drop:
            check_choice(f"column of {opened.what}", name, columns)
        left_out = {label, *drop} if opened.target_is_column else set(drop)
        names = [name for name in columns if name not in left_out]
        if not names:
            raise InputError(f"{opened.what} has no column besides {some(sorted(left_out))}.")
        if opened.n_rows < 2:
            raise InputError(f"{opened.what} has {opened.n_rows} row(s); at least 2 are needed.")
        other = {name: opened.kinds[name] for name in names if opened.kinds[name] not in _NUMBERS}
        if other:
            held = "; ".join(f"{name!r} holds {kind}" for name, kind in list(other.items())[:5])
            raise InputError(
                f"rows that are read block by block need features of numbers, but of "
                f"{opened.what} {len(other)} column(s) hold something else: {held}. Encode them as "
                "numbers, or leave them out (drop=[…], --drop)."
            )
        return cls(opened, feature_names(None, names, len(names)), label, limit)

    def blocks(self, columns: slice | Sequence[int] | None = slice(None)) -> Iterator[Block]:
        """Read all rows once, 4,096 at a time (the last block may have fewer).

        Parameters
        ----------
        columns : slice, sequence of int, or None
            Which features; None: only the target.

        Yields
        ------
        Block
            Its arrays are overwritten when the next block is read.
        """
        names = self._names(columns)
        values = np.empty((len(names), BLOCK_ROWS))
        target: list[np.ndarray] = []
        start = filled = 0
        for piece, labels in self._source.pieces(names):
            n, at = len(labels), 0
            while at < n:
                take = min(BLOCK_ROWS - filled, n - at)
                _copy(piece, at, take, values, filled)
                target.append(labels[at : at + take])
                filled, at = filled + take, at + take
                if filled == BLOCK_ROWS:
                    yield self._block(start, values, filled, target, names)
                    start, filled, target = start + BLOCK_ROWS, 0, []
        if filled:
            yield self._block(start, values, filled, target, names)
        if start + filled != self.n_rows:
            raise InputError(
                f"{self._source.what} had {self.n_rows} rows when it was opened, but "
                f"{start + filled} were read: it was changed meanwhile."
            )

    def _names(self, columns: slice | Sequence[int] | None) -> tuple[str, ...]:
        if isinstance(columns, slice):
            return self.features[columns]
        return tuple(self.features[j] for j in columns or ())

    def columns_at_once(self, per_column: float, fixed: float = 0.0, *, n_workers: int = 1) -> int:
        """How many columns fit into the memory allowed, if each takes `per_column` bytes more."""
        reading = self._source.bytes_per_column + 8 * BLOCK_ROWS
        return columns_at_once(
            self.memory,
            self.n_features,
            per_column + reading,
            fixed + self._source.bytes_fixed,
            n_workers,
        )

    def fits(self, n_columns: int, fixed: float, *, required: bool) -> bool:
        """Tell whether so many columns and `fixed` bytes fit; raise an error if they must."""
        reading = self._source.bytes_per_column + 8 * BLOCK_ROWS
        needed = n_columns * reading + fixed + self._source.bytes_fixed
        return room_for(self.memory, needed, required=required)

    def spans(self, features: Sequence[str]) -> dict[str, tuple[Any, Any]]:
        """Smallest and largest numbers of those features of which a file's header tells them."""
        return self._source.spans(features)

    def at_most(self, n_columns: int) -> RowBatches:
        """The same rows, of which no more columns than these are worked on at once."""
        limited = copy(self)
        limited.most_at_once = min(n_columns, self.n_features)
        return limited

    def parts_of(self, columns: range) -> list[slice]:
        """Cut consecutive columns into parts that may be worked on at once."""
        step = self.most_at_once
        return [slice(at, min(at + step, columns.stop)) for at in columns[::step]]

    def fingerprint(self) -> dict[str, Any]:
        """Summary, and hashes that tell any other data: of the target, and where need be of X.

        Files are told by their names, sizes and times; what is no file is read once.
        """
        known = self.summary()
        read = None if _IDENTITIES & known.keys() else slice(None)
        of_target, of_values = hashlib.sha256(), hashlib.sha256()
        for block in self.blocks(read):
            of_target.update(content_hash(block.target).encode())
            if read is not None:
                of_values.update(content_hash(block.values).encode())
        hashes = {"sha256_target": of_target.hexdigest()}
        if read is not None:
            hashes["sha256_values"] = of_values.hexdigest()
        names = np.array([*self.features, *self.kinds], dtype=object)
        return {**known, "sha256_feature names and types": content_hash(names), **hashes}

    def summary(self) -> dict[str, Any]:
        """Shape, and by what the source can be recognised: names and sizes, not its contents."""
        return {
            "n_samples": self.n_rows,
            "n_features": self.n_features,
            "source": self._source.what,
            **self._source.summary(),
        }

    def _block(
        self, start: int, values: np.ndarray, n: int, target: list[np.ndarray],
        names: Sequence[str],
    ) -> Block:  # fmt: skip
        held = values[:, :n]
        complete = bool(np.isfinite(held.sum()))
        if not complete and np.isinf(held).any():
            column, row = np.argwhere(np.isinf(held))[0]
            raise InputError(
                f"feature {names[column]!r} is {held[column, row]} in row {start + row}; replace "
                "infinite values by numbers, or by NaN if they mean 'missing'."
            )
        labels = target[0] if len(target) == 1 else np.concatenate(target)
        return Block(start, held.T, labels, complete)

    def __repr__(self) -> str:
        return (
            f"RowBatches: {self.n_rows} rows × {self.n_features} features, target "
            f"{self.target!r}, from {self._source.what}"
        )


def _copy(piece: Any, at: int, n: int, values: np.ndarray, filled: int) -> None:
    """Copy n rows of a piece (a rows × columns array, or one array per column) into the block."""
    rows = slice(filled, filled + n)
    if isinstance(piece, np.ndarray):
        values[:, rows] = piece[at : at + n].T
        return
    for column, out in zip(piece, values, strict=True):
        out[rows] = column[at : at + n]
