"""Similar columns of rows that are read block by block.

One pass gives mean and spread of every column, a second one the products of all pairs of
standardised columns, in tiles of 32 × 32: as many tiles at once as fit into memory, the others in
further passes. Tiles and blocks of rows have the same size whatever the memory, so that it has no
influence on the similarities.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from mainstay._validation import InputError, check_choice, check_count
from mainstay.batches import BLOCK_ROWS, RowBatches
from mainstay.similarity.pairs import (
    CONSTANT,
    Pairs,
    collect_pairs,
    least_overlap,
    snapped,
    warn_of_chance_twins,
    warn_of_constants,
    warn_of_short_overlaps,
)

_TILE = 32


@dataclass(frozen=True)
class _Columns:
    """Numbers of values, means, standard deviations and largest absolute values of columns."""

    n_present: np.ndarray
    mean: np.ndarray
    deviation: np.ndarray
    largest: np.ndarray

    @property
    def constant(self) -> np.ndarray:
        """Which columns do not vary."""
        return self.deviation <= CONSTANT * self.largest

    def standardised(self, values: np.ndarray, columns: slice) -> np.ndarray:
        """Rows × columns, centred and scaled; NaN stays NaN, constant columns become 0."""
        scale = np.where(self.constant, np.inf, self.deviation)[columns]
        return np.asarray((values - self.mean[columns]) / scale)


def streamed_pairs(
    rows: RowBatches,
    method: Any,
    threshold: float,
    *,
    min_overlap: int | None,
    constant: Literal["warn", "ignore"],
) -> Pairs:
    """Find all pairs of columns whose absolute correlation reaches the threshold, each pair once.

    Called by `FeatureSimilarity.from_data` alone: warnings point at its caller.
    """
    if method != "pearson":
        raise InputError(
            f"rows that are read block by block are compared by method='pearson', got {method!r}; "
            "other similarities need all rows in memory."
        )
    check_choice("constant", constant, ("warn", "ignore"))
    n, names = rows.n_rows, rows.features
    if min_overlap is not None:
        min_overlap = check_count("min_overlap", min_overlap, 2, max(n, 2))
    columns = _describe(rows)
    if constant == "warn":
        warn_of_constants(columns.constant, names)
    gaps = columns.n_present < n
    overlap = least_overlap(min_overlap, n)
    n_short = np.zeros(rows.n_features, dtype=int)
    found = _tile_pairs(rows, columns, gaps, overlap, n_short)
    pairs = collect_pairs(found, threshold, names)
    varying = ~columns.constant
    warn_of_short_overlaps(n_short, np.flatnonzero(gaps & varying), varying.sum(), overlap, names)
    if len(pairs[0]):
        warn_of_chance_twins(columns.n_present[varying], n, threshold)
    return pairs


def _describe(rows: RowBatches) -> _Columns:
    """One pass (several where columns do not fit at once): means and spreads."""
    step = rows.columns_at_once(3 * 8 * BLOCK_ROWS + 100)
    parts = [_describe_part(rows, slice(at, at + step)) for at in range(0, rows.n_features, step)]
    return _Columns(*(np.concatenate(values) for values in zip(*parts, strict=True)))


def _describe_part(rows: RowBatches, columns: slice) -> tuple[np.ndarray, ...]:
    p = len(rows.features[columns])
    n, total, square, largest = np.zeros((4, p))
    centre = np.full(p, np.nan)
    for block in rows.blocks(columns):
        values = block.values.T
        present = ~np.isnan(values)
        unset = np.flatnonzero(np.isnan(centre) & present.any(axis=1))
        if unset.size:
            centre[unset] = np.nanmedian(values[unset], axis=1)
        centred = np.where(present, values - centre[:, None], 0.0)
        n += present.sum(axis=1)
        total += centred.sum(axis=1)
        square += np.einsum("ij,ij->i", centred, centred)
        largest = np.fmax(largest, np.fmax.reduce(np.abs(values), axis=1))
    count = np.maximum(n, 1)
    spread = np.maximum(square - total**2 / count, 0.0)
    mean = np.where(n > 0, centre, 0.0) + total / count
    return n, mean, np.sqrt(spread / count), largest


# ---------------------------------------------------------------------- products, tile by tile


def _tile_pairs(
    rows: RowBatches, columns: _Columns, gaps: np.ndarray, overlap: int, n_short: np.ndarray
) -> Iterator[Pairs]:
    """Correlations of all pairs of columns that vary, tile by tile.

    Counts in `n_short` with how many others every column shares too few rows.
    """
    p = rows.n_features
    tiles = [slice(at, min(at + _TILE, p)) for at in range(0, p, _TILE)]
    step = _tiles_at_once(rows, len(tiles), bool(gaps.any()))
    groups = [range(len(tiles))[at : at + step] for at in range(0, len(tiles), step)]
    for number, first in enumerate(groups):
        for second in groups[number:]:
            pairs = [(a, b) for a in first for b in second if a <= b]
            yield from _products(rows, columns, gaps, tiles, pairs, overlap, n_short)


def _tiles_at_once(rows: RowBatches, n_tiles: int, gappy: bool) -> int:
    """How many tiles a group may have, if two groups are worked on at once, or one with all."""
    width = min(_TILE, rows.n_features)
    column_bytes = 8 * BLOCK_ROWS * (6 if gappy else 3)
    tile_bytes = 8 * width**2 * (12 if gappy else 3)  # sums, and what is made of them

    def fit(n_columns: int, n_pairs: int, *, required: bool = False) -> bool:
        return rows.fits(
            n_columns, n_pairs * tile_bytes + n_columns * column_bytes, required=required
        )

    if fit(rows.n_features, n_tiles * (n_tiles + 1) // 2):
        return n_tiles
    fit(2 * width, 1, required=True)
    step = 1
    while step < n_tiles and fit(2 * (step + 1) * width, (step + 1) ** 2):
        step += 1
    return step


def _products(
    rows: RowBatches,
    columns: _Columns,
    gaps: np.ndarray,
    tiles: Sequence[slice],
    pairs: Sequence[tuple[int, int]],
    overlap: int,
    n_short: np.ndarray,
) -> Iterator[Pairs]:
    """One pass: sums of products of some pairs of tiles, and the correlations from them."""
    involved = sorted({tile for pair in pairs for tile in pair})
    gappy = {tile: bool(gaps[tiles[tile]].any()) for tile in involved}
    sums = {pair: _Products(tiles, pair, gappy) for pair in pairs}
    wanted = [j for tile in involved for j in range(tiles[tile].start, tiles[tile].stop)]
    for block in rows.blocks(wanted):
        parts, at = {}, 0
        for tile in involved:
            width = tiles[tile].stop - tiles[tile].start
            parts[tile] = columns.standardised(block.values[:, at : at + width], tiles[tile])
            at += width
        for (a, b), products in sums.items():
            products.add(parts[a], parts[b])
    for pair in pairs:
        yield sums.pop(pair).correlations(columns, gaps, overlap, n_short)


class _Products:
    """Sums over rows of the products of two tiles of standardised columns."""

    def __init__(
        self, tiles: Sequence[slice], pair: tuple[int, int], gappy: dict[int, bool]
    ) -> None:
        self._first, self._second = tiles[pair[0]], tiles[pair[1]]
        self._gappy = gappy[pair[0]] or gappy[pair[1]]
        shape = self._first.stop - self._first.start, self._second.stop - self._second.start
        self._sums = [np.zeros(shape) for _ in range(6 if self._gappy else 1)]

    def add(self, a: np.ndarray, b: np.ndarray) -> None:
        """Add the products over some rows."""
        if not self._gappy:
            self._sums[0] += a.T @ b
            return
        has_a, has_b = (~np.isnan(a)).astype(float), (~np.isnan(b)).astype(float)
        a, b = np.nan_to_num(a), np.nan_to_num(b)
        of = ((a, b), (has_a, has_b), (a, has_b), (has_a, b), (a * a, has_b), (has_a, b * b))
        for total, (left, right) in zip(self._sums, of, strict=True):
            total += left.T @ right

    def correlations(
        self, columns: _Columns, gaps: np.ndarray, overlap: int, n_short: np.ndarray
    ) -> Pairs:
        """Numbers of the columns of all pairs, and their absolute correlations."""
        wanted = np.outer(~columns.constant[self._first], ~columns.constant[self._second])
        if self._first == self._second:
            wanted = np.triu(wanted, 1)
        if self._gappy:
            r = self._over_common_rows(columns, gaps, wanted, overlap, n_short)
        else:
            r = self._sums[0] / columns.n_present[self._first, None]
        rows, cols = np.nonzero(wanted)
        values = snapped(np.minimum(np.abs(r[rows, cols]), 1.0))
        return rows + self._first.start, cols + self._second.start, values

    def _over_common_rows(
        self,
        columns: _Columns,
        gaps: np.ndarray,
        wanted: np.ndarray,
        overlap: int,
        n_short: np.ndarray,
    ) -> np.ndarray:
        """Correlations over the rows that both have; pairs that share too few are not wanted."""
        product, n_common, total_a, total_b, square_a, square_b = self._sums
        either = gaps[self._first, None] | gaps[self._second]
        short = wanted & either & (n_common < overlap)
        n_short[self._first] += short.sum(axis=1)
        n_short[self._second] += short.sum(axis=0)
        n = np.maximum(n_common, 1.0)
        spread_a, spread_b = square_a - total_a**2 / n, square_b - total_b**2 / n
        varies = (spread_a > 1e-12 * square_a) & (spread_b > 1e-12 * square_b)
        wanted &= varies & ~short
        covariance = product - total_a * total_b / n
        scale = np.sqrt(np.where(varies, spread_a * spread_b, 1.0))
        return np.asarray(covariance / scale)
