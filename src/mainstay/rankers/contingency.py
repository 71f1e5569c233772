"""Counts of bins × classes for many weightings at once.

A resample is a vector of row weights. Its contingency tables, for all features, are sums of
weights over the rows of every table cell; all resamples of a block are summed together, packed
into machine words (see `mainstay._kernels.contingency`). Memory: the result, plus one block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

import numpy as np

from mainstay._workspace import recycled
from mainstay.rankers.discretization import Coded
from mainstay.rankers.inputs import check_weight_rows

# Sums of c·log c are fixed-point integers with this many bits behind the point, by lane width.
_FRACTION_BITS = {2: 42, 4: 37}
_LARGEST = {2: 2**16 - 1, 4: 2**21}
_MOST_CELLS = 2**24  # of bins × classes tables that are looked through at once
_MOST_AT_ONCE = 2**20  # values whose cells are found together
_SUMS_AT_ONCE = 2**13  # features × lanes


@dataclass(frozen=True)
class Lanes:
    """A block of resamples, one per lane, ready for the kernels.

    Attributes
    ----------
    words : array, n × words
        Row weights; several lanes to a word where weights are whole numbers.
    dtype : numpy dtype
        Of a lane: uint16, uint32 or float64.
    totals : array, lanes
        Sum of the weights.
    table : array
        c·log(c) in fixed point, empty for lanes of float64.
    unit : float
        What 1 stands for in sums of c·log(c).
    """

    words: np.ndarray
    dtype: Any
    totals: np.ndarray
    table: np.ndarray
    unit: float

    def accumulator(self, size: int) -> tuple[np.ndarray, np.ndarray]:
        """Make room for `size` counts per lane: as words, and the same memory as lanes."""
        words = np.empty((size, self.words.shape[1]), dtype=self.words.dtype)
        return words, words.view(self.dtype)

    def sums(self, *shape: int) -> np.ndarray:
        """Make room for sums of c·log(c)."""
        return np.zeros(shape, dtype=self.table.dtype)

    def entropy(self, sums: np.ndarray) -> np.ndarray:
        """Entropy in nats from Σ c·log(c), lanes last."""
        return np.asarray(np.log(self.totals) - sums * self.unit / self.totals)


def pack(weights: np.ndarray) -> Lanes:
    """Pack B × n row weights into words: 16 bits a lane if the totals allow, else 32, else floats.

    Examples
    --------
    >>> lanes = pack(np.array([[1, 2, 0], [0, 1, 1]]))
    >>> lanes.words.view(lanes.dtype)[:, :2].tolist(), lanes.totals.tolist()
    ([[1, 0], [2, 1], [0, 1]], [3.0, 2.0])
    """
    totals = weights.sum(axis=1, dtype=float)
    size = _lane_size(weights, totals)
    if size == 8:
        columns = np.ascontiguousarray(weights.T, dtype=float)
        return Lanes(columns, np.dtype(float), totals, np.zeros(0), 1.0)
    dtype = np.dtype(f"u{size}")
    padded = -(-len(weights) * size // 8) * 8 // size
    columns = np.zeros((weights.shape[1], padded), dtype=dtype)
    columns[:, : len(weights)] = weights.T
    table = _fixed_point_table(size, int(totals.max()))
    return Lanes(columns.view(np.uint64), dtype, totals, table, 0.5 ** _FRACTION_BITS[size])


def are_whole(weights: np.ndarray) -> bool:
    """Tell whether weights are whole numbers that `pack` keeps as such."""
    return _lane_size(weights, weights.sum(axis=1, dtype=float)) < 8


def _lane_size(weights: np.ndarray, totals: np.ndarray) -> int:
    """Bytes of a lane."""
    whole = weights.dtype.kind != "f" or bool(np.all(weights == np.floor(weights)))
    return next((s for s in (2, 4) if whole and totals.max() <= _LARGEST[s]), 8)


def _fixed_point_table(size: int, largest: int) -> np.ndarray:
    """c·log(c) for c = 0 … largest or beyond; tables of a power of two are kept."""
    return _table_of(size, min(int(largest).bit_length(), _LARGEST[size].bit_length()))


@lru_cache(maxsize=8)
def _table_of(size: int, bits: int) -> np.ndarray:
    c = np.arange(2**bits, dtype=float)
    exact = c * np.log(np.maximum(c, 1))
    return np.asarray(np.rint(np.ldexp(exact, _FRACTION_BITS[size])), dtype=np.int64)


def weight_blocks(weights: Any, n_rows: int, size: int) -> Iterator[tuple[slice, np.ndarray]]:
    """Go through B × n weights in checked blocks of `size` resamples."""
    if not hasattr(weights, "shape"):
        weights = np.asarray(weights)
    if weights.ndim != 2 or weights.shape[1] != n_rows:
        check_weight_rows(weights, n_rows)
    for start in range(0, len(weights), size):
        rows = slice(start, min(start + size, len(weights)))
        yield rows, check_weight_rows(weights[rows], n_rows, start)


# ---------------------------------------------------------------------- features × classes


@dataclass(frozen=True)
class Cells:
    """The cells of the bins × classes tables that occur in the data, feature by feature."""

    of_row: np.ndarray  # p × n, numbered from 0 within every feature
    first: np.ndarray  # p + 1
    bin: np.ndarray
    cls: np.ndarray

    @classmethod
    def of(cls, coded: Coded) -> Cells:
        """List the cells of coded data."""
        from mainstay._kernels.contingency import number_cells

        k = coded.n_classes
        most = int(coded.n_bins.max()) * k
        of_row = recycled(*coded.codes.shape, dtype=np.uint8 if most <= 2**8 else np.int32)
        counts, every = [], []
        step = max(1, min(_MOST_CELLS // most, _MOST_AT_ONCE // coded.codes.shape[1]))
        for at in range(0, len(coded.codes), step):
            part = slice(at, at + step)
            occurs = np.zeros((len(coded.codes[part]), int(coded.n_bins[part].max()) * k), bool)
            number_cells(coded.codes[part], coded.classes, k, occurs, of_row[part])
            counts.append(occurs.sum(axis=1))
            every.append(np.nonzero(occurs)[1])
        first = np.concatenate([[0], np.cumsum(np.concatenate(counts))])
        cells = np.concatenate(every)
        return cls(of_row, first, cells // k, cells % k)


@dataclass(frozen=True)
class Statistics:
    """What all filters are made of, B × p or B × 1: entropies (nats), chi-square, and raw sums.

    `joint_sum`, `margin_sum` and `class_sum` are Σ c·log(c) over cells, bins and classes, in the
    number format of the lanes.
    """

    total: np.ndarray
    n_rows: np.ndarray
    n_columns: np.ndarray
    entropy_x: np.ndarray
    entropy_y: np.ndarray
    information: np.ndarray
    chi2: np.ndarray
    joint_sum: np.ndarray
    margin_sum: np.ndarray
    class_sum: np.ndarray

    def of(self, lane: int) -> Statistics:
        """Those of one resample, 1 × p."""
        return Statistics(**{f.name: getattr(self, f.name)[[lane]] for f in fields(self)})


def table_statistics(coded: Coded, cells: Cells, lanes: Lanes) -> Statistics:
    """Entropies, information and chi-square of every feature with the class, in every resample.

    A feature or target that is constant in a resample has entropy and information exactly 0.
    """
    everything = slice(0, len(coded.names))
    return _of_features(coded, cells, lanes, _class_weights(coded, lanes), everything)


def statistics_in_blocks(
    coded: Coded, cells: Cells, lanes: Lanes, *, with_chi2: bool = True
) -> Iterator[tuple[slice, Statistics]]:
    """What `table_statistics` gives, for a few features at a time: little memory, in the cache.

    Without chi-square that is empty.
    """
    per_class = _class_weights(coded, lanes)
    step = max(1, _SUMS_AT_ONCE // len(lanes.totals))
    for at in range(0, len(coded.names), step):
        features = slice(at, min(at + step, len(coded.names)))
        yield features, _of_features(coded, cells, lanes, per_class, features, with_chi2)


def _class_weights(coded: Coded, lanes: Lanes) -> np.ndarray:
    """Sum of the weights of every class, classes × lanes."""
    b = len(lanes.totals)
    row_lanes = lanes.words.view(lanes.dtype)[:, :b]
    per_class = np.zeros((coded.n_classes, b))
    for label in range(coded.n_classes):
        of_class = np.ascontiguousarray(row_lanes[coded.classes == label].T)
        per_class[label] = of_class.sum(axis=1, dtype=float)  # same bits for any number of lanes
    return per_class


def _of_features(
    coded: Coded, cells: Cells, lanes: Lanes, per_class: np.ndarray, features: slice,
    with_chi2: bool = True,
) -> Statistics:  # fmt: skip
    from mainstay._kernels.contingency import table_sums

    p, b = features.stop - features.start, len(lanes.totals)
    first = cells.first[features.start : features.stop + 1]
    acc, lane = lanes.accumulator(int(np.diff(first).max()))
    joint, margin = lanes.sums(p, b), lanes.sums(p, b)
    chi2, n_rows = np.zeros((p, b if with_chi2 else 0)), np.zeros((p, b), dtype=np.int64)
    table_sums(
        cells.of_row[features], first, cells.bin, cells.cls, lanes.words, acc, lane, per_class,
        lanes.totals, lanes.table, joint, margin, chi2, n_rows,
    )  # fmt: skip
    n_columns = (per_class > 0).sum(axis=0)
    class_sum = c_log_c(per_class, lanes).sum(axis=0)
    return _statistics(lanes, joint, margin, class_sum, chi2, n_rows, n_columns)


def _statistics(
    lanes: Lanes, joint: np.ndarray, margin: np.ndarray, class_sum: np.ndarray, chi2: np.ndarray,
    n_rows: np.ndarray, n_columns: np.ndarray,
) -> Statistics:  # fmt: skip
    """Gather sums over tables, features × lanes; what is constant has information exactly 0."""
    constant = (n_rows <= 1) | (n_columns <= 1)
    information = np.maximum(lanes.entropy(margin + class_sum - joint), 0)
    return Statistics(
        total=lanes.totals[:, None],
        n_rows=n_rows.T,
        n_columns=n_columns[:, None],
        entropy_x=np.where(n_rows <= 1, 0, np.maximum(lanes.entropy(margin), 0)).T,
        entropy_y=np.where(n_columns <= 1, 0, lanes.entropy(class_sum))[:, None],
        information=np.where(constant, 0, information).T,
        chi2=(np.where(constant, 0, chi2) if chi2.size else chi2).T,
        joint_sum=joint.T,
        margin_sum=margin.T,
        class_sum=class_sum[:, None],
    )


def count_statistics(counts: np.ndarray) -> Statistics:
    """Compute what `table_statistics` does from counts: features × bins × classes × resamples."""
    per_class = counts[0].sum(axis=0, dtype=float)
    totals = per_class.sum(axis=0)
    lanes = _without_rows(totals)
    n_columns, class_sum = (per_class > 0).sum(axis=0), c_log_c(per_class, lanes).sum(axis=0)
    step = max(1, _MOST_AT_ONCE // counts[0].size)
    found: dict[str, list[np.ndarray]] = {}
    for at in range(0, len(counts), step):
        part = counts[at : at + step].astype(float)
        margin = part.sum(axis=2)
        expected = margin[:, :, None] * (per_class / totals)
        deviation = np.square(part - expected)
        chi2 = np.divide(deviation, expected, out=np.zeros_like(part), where=expected > 0)
        sums = {
            "joint": c_log_c(part, lanes).sum(axis=(1, 2)),
            "margin": c_log_c(margin, lanes).sum(axis=1),
            "chi2": chi2.sum(axis=(1, 2)),
            "n_rows": (margin > 0).sum(axis=1),
        }
        for name, values in sums.items():
            found.setdefault(name, []).append(values)
    joint, margins, chi2, n_rows = (np.concatenate(parts) for parts in found.values())
    return _statistics(lanes, joint, margins, class_sum, chi2, n_rows, n_columns)


def _without_rows(totals: np.ndarray) -> Lanes:
    """The number format that `pack` takes for resamples of these sizes."""
    size = next((s for s in (2, 4) if totals.max() <= _LARGEST[s]), 8)
    words = np.zeros((0, len(totals)), dtype=np.uint64)
    if size == 8:
        return Lanes(words, np.dtype(float), totals, np.zeros(0), 1.0)
    table = _fixed_point_table(size, int(totals.max()))
    return Lanes(words, np.dtype(f"u{size}"), totals, table, 0.5 ** _FRACTION_BITS[size])


def c_log_c(counts: np.ndarray, lanes: Lanes) -> np.ndarray:
    """c·log(c) of counts, in the number format of the lanes' sums."""
    if lanes.table.size:
        return lanes.table[counts.astype(np.int64)]
    return counts * np.log(np.where(counts > 0, counts, 1))
