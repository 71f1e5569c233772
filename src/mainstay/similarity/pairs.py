"""Which columns of a data table are similar: block by block, so that no p × p array is needed."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import numpy as np
from scipy.special import betaincc, betainccinv

from mainstay._validation import InputError, check_choice, check_count, some
from mainstay.runs import average_ranks

Method = str | Callable[[np.ndarray, np.ndarray], np.ndarray]
Pairs = tuple[np.ndarray, np.ndarray, np.ndarray]  # columns i, columns j, their similarities

_BLOCK_BYTES = 16 * 2**20
_MOST_PAIRS = 200_000_000
_MOST_CHANCE_TWINS = 0.05  # of the columns, before a warning
CONSTANT = 1e-13  # a standard deviation below this share of the largest value is rounding


def similar_pairs(
    data: np.ndarray,
    method: Method,
    threshold: float,
    names: Sequence[str],
    *,
    min_overlap: int | None,
    constant: Literal["warn", "ignore"],
    similar_to: np.ndarray | None = None,
) -> Pairs:
    """Find all pairs of columns whose similarity reaches the threshold, each pair once.

    With `similar_to` (numbers of columns) only the pairs with one of these. Called by
    `FeatureSimilarity.from_data` alone: warnings point at its caller.
    """
    n, p = data.shape
    check_choice("constant", constant, ("warn", "ignore"))
    if min_overlap is not None:
        min_overlap = check_count("min_overlap", min_overlap, 2, max(n, 2))
    if not callable(method):
        check_choice("similarity method", method, ("pearson", "spearman"))
    wanted = np.ones(p, dtype=bool)
    if similar_to is not None:
        wanted[:] = False
        wanted[similar_to] = True
    gaps = np.isnan(data).any(axis=0)
    if gaps.any() and method != "pearson":
        _refuse_gaps(method, [names[int(i)] for i in np.flatnonzero(gaps)])
    if callable(method):
        numbers, n_first = np.asarray(data, dtype=float), int(wanted.sum())
        found = _callable_pairs(numbers, method, threshold, _first(wanted), n_first)
        return collect_pairs(found, threshold, names)
    if method == "spearman":
        data = average_ranks(np.ascontiguousarray(data.T)).T
    present = ~np.isnan(data) if gaps.any() else None
    rough, is_constant = _rough_columns(data, present)
    if constant == "warn":
        warn_of_constants(is_constant, names)
    complete = ~gaps & ~is_constant
    columns = _first(wanted & complete, complete)
    n_first = int((wanted & complete).sum())
    found = _correlations(data, rough, n_first, columns, threshold)
    pairs = [collect_pairs(found, threshold, names)]
    if present is not None:
        del rough
        min_overlap = least_overlap(min_overlap, n)
        first = wanted & ~is_constant & (gaps if similar_to is None else True)
        columns, n_first = _first(first, ~is_constant), int(first.sum())
        n_short = np.zeros(p, dtype=int)
        n_short[columns] = _short_overlaps(present[:, columns], n_first, min_overlap)
        warn_of_short_overlaps(n_short, columns[:n_first], len(columns), min_overlap, names)
        found = _gapped_correlations(
            np.asarray(data[:, columns], float), n_first, columns, threshold, min_overlap
        )
        pairs.append(collect_pairs(found, threshold, names))
    rows, cols, values = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
    if len(rows):
        n_present = np.full(p, n) if present is None else present.sum(axis=0)
        warn_of_chance_twins(n_present[~is_constant], n, threshold)
    return rows, cols, values


def _first(wanted: np.ndarray, among: np.ndarray | None = None) -> np.ndarray:
    """Numbers of the columns `among` all, those that are wanted first."""
    others = ~wanted if among is None else among & ~wanted
    return np.concatenate((np.flatnonzero(wanted), np.flatnonzero(others)))


def warn_of_constants(is_constant: np.ndarray, names: Sequence[str]) -> None:
    """Name the columns that are similar to nothing because they do not vary."""
    which = [names[int(i)] for i in np.flatnonzero(is_constant)]
    if which:
        warnings.warn(
            f"{len(which)} constant feature(s) are similar to nothing: {some(which)}.", stacklevel=4
        )


def least_overlap(min_overlap: int | None, n: int) -> int:
    """How many rows two columns must share if one has gaps: as asked, or half, at least 10."""
    return min_overlap or min(n, max(10, -(-n // 2)))


def _refuse_gaps(method: Method, names: Sequence[str]) -> None:
    what = "a similarity function" if callable(method) else f"method={method!r}"
    raise InputError(
        f"{what} needs complete columns, but {len(names)} feature(s) have missing values: "
        f"{some(names)}. Impute them first, or use method='pearson', which compares two features "
        "by the rows that both have."
    )


def collect_pairs(pairs: Iterator[Pairs], threshold: float, names: Sequence[str]) -> Pairs:
    """Join the blocks, keeping what reaches the threshold."""
    empty = np.zeros(0, dtype=np.int32)
    kept: list[Pairs] = [(empty, empty, np.zeros(0))]
    total = 0
    for rows, cols, values in pairs:
        check_similarities(rows, cols, values, names)
        keep = values >= threshold
        kept.append((rows[keep].astype(np.int32), cols[keep].astype(np.int32), values[keep]))
        total += int(keep.sum())
        if total > _MOST_PAIRS:
            p = len(names)
            raise InputError(
                f"more than {_MOST_PAIRS:,} of the {p * (p - 1) // 2:,} pairs of features reach "
                f"the threshold {threshold:g}; raise it."
            )
    rows, cols, values = (np.concatenate(part) for part in zip(*kept, strict=True))
    return rows, cols, values


def check_similarities(
    rows: np.ndarray, cols: np.ndarray, values: np.ndarray, names: Sequence[str]
) -> None:
    """Refuse similarities outside [0, 1], naming the first pair."""
    bad = np.flatnonzero(~((values >= 0) & (values <= 1)))
    if bad.size:
        i, j = names[int(rows[bad[0]])], names[int(cols[bad[0]])]
        raise InputError(
            f"similarities lie in [0, 1], but that of {i!r} and {j!r} is {values[bad[0]]}. "
            "For correlations give their absolute values."
        )


def _blocks(p: int, end: int, arrays: int = 1) -> list[tuple[int, int]]:
    """Cut the first `end` of p columns so that `arrays` arrays of (block × p) stay small."""
    width = int(np.clip(_BLOCK_BYTES // (8 * p * arrays), 1, p)) if p else 1
    return [(start, min(start + width, end)) for start in range(0, end, width)]


def _above_diagonal(mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    rows, cols = np.nonzero(mask)
    above = cols > rows
    return rows[above], cols[above]


# ---------------------------------------------------------------------- chance


def chance_twins(n_present: np.ndarray, n: int, threshold: float) -> float:
    """Share of independent columns that correlate with some other column from a threshold on.

    The squared correlation of two independent normal columns over n rows follows the
    Beta(1/2, (n − 2)/2) distribution. With q the probability that it reaches the threshold, a
    column has such a twin among p with probability 1 − (1 − q)^(p − 1). Correlations of ranks are
    large more often (with 12 rows above 0.9 twice as often), so that for Spearman's correlation the
    share is a lower limit.

    Parameters
    ----------
    n_present : numpy.ndarray
        How many values every column has; two columns share n_i·n_j/n rows on average.
    n : int
        Number of rows.
    threshold : float
        Absolute correlation that makes two columns twins.

    Examples
    --------
    >>> share = chance_twins(np.full(2000, 12), 12, 0.9)
    >>> round(share, 3), round(chance_twins(np.full(2000, 20), 20, 0.9), 6)
    (0.124, 0.000131)
    """
    counts, times = np.unique(n_present, return_counts=True)
    common = np.maximum(np.outer(counts, counts) / n, 2 + 1e-9)
    reaching = np.minimum(betaincc(0.5, (common - 2) / 2, threshold**2), 1 - 1e-15)
    log_alone = np.log1p(-reaching)
    without_itself = log_alone @ times - np.diag(log_alone)
    return float(-np.expm1(without_itself) @ times / max(times.sum(), 1))


def warn_of_chance_twins(n_present: np.ndarray, n: int, threshold: float) -> None:
    """Warn if more than 5% of unrelated columns would have a twin by chance."""
    p = len(n_present)
    share = chance_twins(n_present, n, threshold) if p > 1 else 0.0
    if share <= _MOST_CHANCE_TWINS:
        return
    usual = int(np.median(n_present))
    remedy = "compare fewer columns or use more rows"
    if usual > 2:
        reaching = -np.expm1(np.log1p(-_MOST_CHANCE_TWINS) / (p - 1))
        enough = np.sqrt(betainccinv(0.5, (usual - 2) / 2, reaching))
        remedy = f"a threshold of {np.ceil(1000 * enough) / 1000:g} would make it 5%, or {remedy}"
    warnings.warn(
        f"with {usual} rows, {share:.2g} of {p} unrelated columns correlate at {threshold:g} or "
        f"more with some other column by chance, so features may look similar that are not: "
        f"{remedy}.",
        stacklevel=4,
    )


# ---------------------------------------------------------------------- correlations


def _unit_columns(
    values: np.ndarray, present: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Centre the columns and scale them to length 1, and tell which of them are constant.

    Constant columns become 0, and so does what is not present (None: all is).
    """
    values = np.asarray(values, dtype=float)
    n_present = np.full(values.shape[1], len(values))
    if present is not None:
        n_present, values = present.sum(axis=0), np.where(present, values, 0.0)
    largest = np.abs(values).max(axis=0)
    scaled = values / np.where(largest > 0, largest, 1.0)
    centred = scaled - scaled.sum(axis=0) / np.maximum(n_present, 1)
    if present is not None:
        centred[~present] = 0.0
    length = np.sqrt(np.einsum("ij,ij->j", centred, centred))
    constant = length <= CONSTANT * np.sqrt(n_present)
    length[constant] = 1.0
    centred[:, constant] = 0.0
    return centred / length, constant & (n_present > 0)


def _rough_columns(data: np.ndarray, present: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Centred columns of length 1 in single precision, and which of them are constant."""
    p = data.shape[1]
    rough, is_constant = np.empty(data.shape, dtype=np.float32), np.empty(p, dtype=bool)
    edges = np.linspace(0, p, len(_blocks(len(data), p)) + 1).astype(int) if p else [0]
    for start, stop in itertools.pairwise(edges):
        part = slice(start, stop)
        of_part = None if present is None else present[:, part]
        rough[:, part], is_constant[part] = _unit_columns(data[:, part], of_part)
    return rough, is_constant


def _correlations(
    data: np.ndarray, rough: np.ndarray, n_first: int, columns: np.ndarray, threshold: float
) -> Iterator[Pairs]:
    """Correlate the first `n_first` of the complete `columns` with all later ones, tile by tile.

    Single precision finds the candidates at twice the speed; double precision settles them.
    """
    if len(columns) < data.shape[1] or (np.diff(columns) != 1).any():
        rough = rough[:, columns]
    least = threshold - 1e-5 - 1e-7 * len(data)
    side = max(1, math.isqrt(_BLOCK_BYTES // 16))
    for start in range(0, n_first, side):
        block = np.ascontiguousarray(rough[:, start : min(start + side, n_first)].T)
        for at in range(start, len(columns), side):
            near = block @ rough[:, at : at + side]
            rows, cols = np.nonzero(np.abs(near, out=near) >= least)
            rows, cols = rows + start, cols + at
            above = cols > rows
            rows, cols = columns[rows[above]], columns[cols[above]]
            for chunk in _chunks(len(rows), len(data)):
                i, j = rows[chunk], cols[chunk]
                both, place = np.unique(np.concatenate((i, j)), return_inverse=True)
                unit = _unit_columns(data[:, both])[0]
                yield i, j, _products(unit[:, place[: len(i)]], unit[:, place[len(i) :]])


def _chunks(n_pairs: int, n_rows: int) -> list[slice]:
    step = max(1, _BLOCK_BYTES // (16 * n_rows))
    return [slice(at, at + step) for at in range(0, n_pairs, step)]


def _products(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """|correlation| of the columns of a with those of b, one by one; all have length 1."""
    return snapped(np.abs(np.einsum("ij,ij->j", a, b)))


def snapped(similarities: np.ndarray) -> np.ndarray:
    """Take those that differ from 1 by rounding for 1: duplicates are exactly similar."""
    similarities[similarities > 1 - 1e-12] = 1.0
    return similarities


# ---------------------------------------------------------------------- with missing values


def _short_overlaps(present: np.ndarray, n_first: int, min_overlap: int) -> np.ndarray:
    """With how many others every column shares too few rows; only the first `n_first` are asked."""
    present = present.astype(np.float32)
    n_short = np.zeros(present.shape[1], dtype=int)
    for start, stop in _blocks(present.shape[1], n_first):
        n_common = present[:, start:stop].T @ present[:, start:]
        short = np.triu(n_common < min_overlap, 1)
        n_short[start:stop] += short.sum(axis=1)
        n_short[start:] += short.sum(axis=0)
    return n_short


def warn_of_short_overlaps(
    n_short: np.ndarray, gappy: np.ndarray, n_columns: int, min_overlap: int, names: Sequence[str]
) -> None:
    """Name those of the gappy columns that share too few rows with more than 5% of the others."""
    worst = np.sort(gappy[n_short[gappy] > 0.05 * (n_columns - 1)])
    if worst.size:
        warnings.warn(
            f"{worst.size} feature(s) have fewer than min_overlap={min_overlap} rows in common "
            "with more than 5% of the other features, and count as not similar to those: "
            f"{some([names[int(i)] for i in worst])}. Impute their missing values, or lower "
            "min_overlap.",
            stacklevel=4,
        )


def _gapped_correlations(
    data: np.ndarray, n_first: int, columns: np.ndarray, threshold: float, min_overlap: int
) -> Iterator[Pairs]:
    """Correlate the first `n_first` columns with all later ones, over the rows that both have.

    Pairs of two complete columns are left out: they need no such care.

    Six matrix products give the sums over common rows from which candidates are found; each of
    these is then settled from its own two columns. Where the common rows vary little compared with
    their distance from the column's mean, differences of sums are inexact: such pairs are always
    candidates.
    """
    mask = ~np.isnan(data)
    complete = mask.all(axis=0)
    unit = _unit_columns(data, mask)[0]
    present, squares = mask.astype(float), unit**2
    data = np.where(mask, data, 0.0)
    least = max(threshold - 1e-5, 0.0)
    for start, stop in _blocks(data.shape[1], n_first, arrays=10):
        block, later = slice(start, stop), slice(start, None)
        n_common = present[:, block].T @ present[:, later]
        enough = np.triu(n_common >= min_overlap, 1)
        enough &= ~(complete[block, None] & complete[later])
        n_common[~enough] = 1.0
        sum_i, sum_j = unit[:, block].T @ present[:, later], present[:, block].T @ unit[:, later]
        total_i = squares[:, block].T @ present[:, later]
        total_j = present[:, block].T @ squares[:, later]
        spread_i, spread_j = total_i - sum_i**2 / n_common, total_j - sum_j**2 / n_common
        covariance = unit[:, block].T @ unit[:, later] - sum_i * sum_j / n_common
        inexact = (spread_i <= 1e-6 * total_i) | (spread_j <= 1e-6 * total_j)
        near = covariance**2 >= least**2 * spread_i * spread_j
        rows, cols = np.nonzero(enough & (near | inexact))
        rows, cols = rows + start, cols + start
        for chunk in _chunks(len(rows), len(data)):
            i, j = rows[chunk], cols[chunk]
            both = mask[:, i] & mask[:, j]
            unit_i, constant_i = _unit_columns(data[:, i], both)
            unit_j, constant_j = _unit_columns(data[:, j], both)
            varies = ~(constant_i | constant_j)
            exact = _products(unit_i[:, varies], unit_j[:, varies])
            yield columns[i[varies]], columns[j[varies]], exact


# ---------------------------------------------------------------------- any function


def _callable_pairs(
    data: np.ndarray,
    method: Callable[..., Any],
    threshold: float,
    columns: np.ndarray,
    n_first: int,
) -> Iterator[Pairs]:
    p = data.shape[1]
    data = data[:, columns]
    for start, stop in _blocks(p, n_first):
        block = np.asarray(method(data[:, start:stop], data[:, start:]), dtype=float)
        expected = (stop - start, p - start)
        if block.shape != expected:
            raise InputError(
                f"the similarity function returned shape {block.shape} for blocks of "
                f"{expected[0]} and {expected[1]} columns; it must return {expected}."
            )
        kept = (block >= threshold) | ~np.isfinite(block) | (block < 0)
        rows, cols = _above_diagonal(kept)
        yield columns[rows + start], columns[cols + start], block[rows, cols]
