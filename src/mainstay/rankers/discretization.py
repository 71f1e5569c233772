"""Bins: turning columns of numbers into codes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from mainstay._validation import InputError, check_choice, check_count, some
from mainstay._workspace import recycled
from mainstay.rankers.inputs import (
    Column,
    Table,
    Target,
    almost_constant,
    missing_rows,
    refuse_missing,
)

BINS = ("width", "quantile", "mdl")
MISSING = ("bin", "error")
INTEGERS = ("auto", "categories", "numbers")


@dataclass(repr=False)
class Binning(BaseEstimator):  # type: ignore[misc]
    """How columns become codes: the options that all rankers which count bins share.

    It has `get_params` and `set_params`, so that a search can vary `binning__n_bins`.

    Parameters
    ----------
    bins : {"width", "quantile", "mdl"}, array of cut points, or dict name → cut points
        "width": b = min(⌊(x − min)/(max − min)·n_bins⌋, n_bins − 1). "quantile": cut at the
        quantiles 1/n_bins, 2/n_bins, … "mdl": supervised cuts of Fayyad and Irani (1993). With cut
        points e₁ < e₂ < …, bin i holds eᵢ ≤ x < eᵢ₊₁; columns that a dict leaves out are cut by
        "width".
    n_bins : int
        Number of bins for "width" and "quantile".
    missing : {"bin", "error"}
        Missing values get a bin of their own, or are an error.
    integers : {"auto", "categories", "numbers"}
        Whether every distinct integer is a category, or integers are cut like other numbers.
        "auto": categories in columns of at most `n_bins` distinct integers (missing values not
        counted), numbers in the others. Booleans, categoricals and text are always categories.
    near_zero_variance : bool
        Whether columns that hardly vary (R's caret: the most frequent value is more than 19 times
        as frequent as the next, and under 10% of values are distinct) count as constant.
    rebin : bool
        Find the bins anew in every resample, which is slower. Otherwise they are found once, on
        all rows.

    Examples
    --------
    >>> from mainstay.rankers import Binning, InformationGain
    >>> InformationGain(binning=Binning("quantile", n_bins=4))
    InformationGain(binning=Binning(bins='quantile', n_bins=4))
    """

    bins: Any = "width"
    n_bins: int = 10
    missing: str = "bin"
    integers: str = "auto"
    near_zero_variance: bool = False
    rebin: bool = False

    @property
    def looks_at_classes(self) -> bool:
        """Whether the bins of a column depend on the target."""
        return isinstance(self.bins, str) and self.bins == "mdl"

    def check(self, names: tuple[str, ...]) -> None:
        """Refuse options that make no sense, and cut points for columns that don't exist."""
        check_choice("missing", self.missing, MISSING)
        check_choice("integers", self.integers, INTEGERS)
        check_count("n_bins", self.n_bins, 2)
        if isinstance(self.bins, Mapping):
            unknown = [name for name in self.bins if name not in names]
            if unknown:
                raise InputError(
                    f"bins has cut points for {some(unknown)}; features are {some(names)}."
                )
        elif isinstance(self.bins, str):
            check_choice("bins", self.bins, BINS)
        else:
            _cut_points(self.bins)


OPTIONS = tuple(Binning().get_params())


def with_old_names(
    binning: Binning | None, old: Mapping[str, Any], stacklevel: int = 3
) -> Binning | None:
    """Put options that rankers used to take themselves into their Binning, with a warning."""
    if not old:
        return binning
    for name in old:
        if name not in OPTIONS:
            raise TypeError(f"unexpected keyword argument {name!r}")
    options = ", ".join(f"{name}={value!r}" for name, value in old.items())
    warnings.warn(
        f"{' and '.join(old)} moved into Binning; write binning=Binning({options}). "
        "The old way will stop working in the next release.",
        FutureWarning,
        stacklevel=stacklevel,
    )
    moved: Binning = clone(checked_binning(binning)).set_params(**old)
    return moved


def checked_binning(binning: Binning | None) -> Binning:
    """Return the options given, or the default ones."""
    if binning is None:
        return Binning()
    if not isinstance(binning, Binning):
        raise InputError(
            f"binning must be a Binning, such as Binning('quantile', n_bins=5), got {binning!r}."
        )
    return binning


@dataclass(frozen=True)
class Coded:
    """Columns and target as codes 0, 1, …; every code occurs.

    Attributes
    ----------
    names : tuple of str
        Feature names.
    codes : array of int32, p × n
        Bin of every value.
    n_bins : array of int, p
        How many bins every feature has.
    classes : array of int32, n
        Class (or bin of a continuous target) of every row.
    n_classes : int
        How many there are.
    edges : tuple
        Cut points of every feature; None for a column of categories.
    """

    names: tuple[str, ...]
    codes: np.ndarray
    n_bins: np.ndarray
    classes: np.ndarray
    n_classes: int
    edges: tuple[np.ndarray | None, ...]

    def with_classes(self, classes: np.ndarray) -> Coded:
        """The same columns with another target."""
        return replace(self, classes=classes, n_classes=int(classes.max()) + 1)


def discretize(table: Table, target: Target, binning: Binning) -> Coded:
    """Turn every column and the target into codes.

    Examples
    --------
    >>> from mainstay.rankers.inputs import Table, read_target
    >>> X, y = [[0.0, 1.0], [0.1, 2.0], [0.9, 3.0]], ["a", "a", "b"]
    >>> coded = discretize(Table(X), read_target(y, 3, "auto"), Binning(n_bins=2))
    >>> coded.codes
    array([[0, 0, 1],
           [0, 1, 1]], dtype=int32)
    """
    classes = code_target(target, binning)
    return code_columns(table, binning, classes).with_classes(classes)


def code_target(target: Target, binning: Binning) -> np.ndarray:
    """Turn the target into codes: a continuous one is cut by the same rule as the columns."""
    if target.codes is not None:
        return target.codes
    if binning.looks_at_classes:
        raise InputError(
            "bins='mdl' looks for cuts that separate classes, but the target is continuous; "
            "use bins='width' or 'quantile'."
        )
    rule = binning.bins if isinstance(binning.bins, str) else "width"
    assert target.values is not None
    return _compressed(_cut(target.values, rule, binning.n_bins, None)[0])[0]


def code_columns(table: Table, binning: Binning, classes: np.ndarray | None = None) -> Coded:
    """Turn every column into codes; bins='mdl' needs the classes for that."""
    binning.check(table.names)
    none = np.zeros(0, dtype=np.int32)
    at_once = _cut_all(table, binning)
    if at_once is not None:
        return Coded(table.names, *at_once[:2], none, 0, at_once[2])
    codes = np.empty((table.n_features, table.n_rows), dtype=np.int32)
    n_bins = np.empty(table.n_features, dtype=np.int64)
    edges: list[np.ndarray | None] = []
    for j, name in enumerate(table.names):
        column = table.column(j)
        if binning.missing == "error":
            refuse_missing(column, name)
        if binning.near_zero_variance and almost_constant(column):
            raw, cuts = np.zeros(table.n_rows, dtype=np.int64), None
        else:
            raw, cuts = _coded(column, name, binning, classes)
        codes[j], n_bins[j] = _compressed(raw)
        edges.append(cuts)
    return Coded(table.names, codes, n_bins, none, 0, tuple(edges))


def _cut_all(
    table: Table, binning: Binning
) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, ...]] | None:
    """Cut all columns into bins of equal width at once: codes, numbers of bins, cut points.

    None where the columns are not all floats without gaps, or where they are not cut this way.
    """
    by_width = isinstance(binning.bins, str) and binning.bins == "width"
    if not by_width or binning.near_zero_variance:
        return None
    found = table.rows_of_floats()
    if found is None:
        return None
    from mainstay._kernels.contingency import cut_rows, extremes

    values, rows = found
    low, high = np.empty((2, table.n_features))
    extremes(values, rows, low, high)
    with np.errstate(over="ignore"):
        width = high - low
    if np.isinf(width).any():
        return None
    constant = width == 0
    scale = np.where(constant, 1.0, width)
    codes = recycled(len(low), len(rows), dtype=np.int32)
    cut_rows(values, rows, low, scale, binning.n_bins, codes)
    occurs = _number_cells(codes, binning.n_bins, codes)
    edges = list(np.linspace(low, high, binning.n_bins + 1)[1:-1].T)
    for j in np.flatnonzero(constant):
        edges[j] = np.zeros(0)
    return codes, occurs.sum(axis=1), tuple(edges)


def equal_width_codes(values: np.ndarray, low: Any, high: Any, n_bins: int) -> np.ndarray:
    """Bins of numbers that lie between low and high: the rule "width" of `Binning`.

    Examples
    --------
    >>> equal_width_codes(np.array([0.0, 0.4, 0.5, 1.0]), 0.0, 1.0, 2)
    array([0, 0, 1, 1], dtype=int32)
    """
    with np.errstate(over="ignore"):
        too_wide = np.isinf(np.subtract(high, low)).any()
    if too_wide:
        values, low, high = values / 2, low / 2, high / 2
    width = np.subtract(high, low)
    share = (values - low) / np.where(width == 0, 1.0, width)
    with np.errstate(invalid="ignore"):  # what is missing gets some bin
        return np.asarray(np.minimum(np.floor(share * n_bins), n_bins - 1), dtype=np.int32)


def renumbered(codes: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Renumber every row of codes below `width` so that every code occurs; and which occur.

    Examples
    --------
    >>> renumbered(np.array([[0, 3, 3], [1, 2, 1]]), 4)[0]
    array([[0, 1, 1],
           [0, 1, 0]], dtype=int32)
    """
    new = np.empty(codes.shape, dtype=np.int32)
    return new, _number_cells(codes, width, new)


def _number_cells(codes: np.ndarray, width: int, out: np.ndarray) -> np.ndarray:
    """Renumber every row of codes into `out`, which may be the codes; and which occur."""
    from mainstay._kernels.contingency import number_cells

    occurs = np.zeros((len(codes), width), dtype=bool)
    number_cells(codes, np.zeros(codes.shape[1], dtype=np.int32), 1, occurs, out)
    return occurs


def _coded(
    column: Column, name: str, binning: Binning, classes: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return codes, missing values last, and the cut points."""
    missing = missing_rows(column)
    rule = binning.bins
    explicit = isinstance(rule, Mapping) and name in rule
    if isinstance(rule, Mapping):
        rule = rule.get(name, "width")
    if explicit and column.kind == "category":
        raise InputError(f"bins has cut points for {name!r}, but that column holds categories.")
    codes, cuts = np.zeros(len(missing), dtype=np.int64), None
    present = column.values[~missing]
    if column.kind == "category":
        codes[~missing] = present
    elif column.kind == "float" or explicit or not _are_categories(column.kind, present, binning):
        of_present = None if classes is None else classes[~missing]
        codes[~missing], cuts = _cut(present, rule, binning.n_bins, of_present)
    else:
        codes[~missing] = np.unique(present, return_inverse=True)[1]
    codes[missing] = codes.max(initial=0) + 1
    return codes, cuts


def _are_categories(kind: str, present: np.ndarray, binning: Binning) -> bool:
    """Tell whether booleans or integers are categories."""
    if kind == "integer" and binning.integers == "auto":
        return len(np.unique(present)) <= binning.n_bins
    return kind == "boolean" or binning.integers == "categories"


def _cut(
    x: np.ndarray, rule: Any, n_bins: int, classes: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Cut numbers (none missing) by a rule or at given points."""
    if len(x) == 0:
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    if isinstance(rule, str) and rule == "width":
        low, high = float(x.min()), float(x.max())
        if np.isinf(high - low):
            x, low, high = x / 2, low / 2, high / 2
        if high == low:
            return np.zeros(len(x), dtype=np.int64), np.zeros(0)
        codes = np.minimum(np.floor((x - low) / (high - low) * n_bins), n_bins - 1)
        return codes.astype(np.int64), np.linspace(low, high, n_bins + 1)[1:-1]
    if isinstance(rule, str) and rule == "quantile":
        cuts = np.unique(np.quantile(x, np.linspace(0, 1, n_bins + 1)[1:-1]))
    elif isinstance(rule, str):
        assert classes is not None
        cuts = mdl_cuts(x, classes)
    else:
        cuts = _cut_points(rule)
    return np.searchsorted(cuts, x, side="right"), cuts


def _cut_points(bins: Any) -> np.ndarray:
    cuts = np.asarray(bins)
    if cuts.ndim != 1 or cuts.dtype.kind not in "iuf" or not np.all(np.diff(cuts) > 0):
        raise InputError(
            f"bins must be one of {', '.join(BINS)}, an increasing array of cut points, or a dict "
            f"of such arrays; got {bins!r}."
        )
    return cuts.astype(float)


def _compressed(codes: np.ndarray) -> tuple[np.ndarray, int]:
    """Renumber codes so that every code occurs."""
    present = np.bincount(codes) > 0
    return (np.cumsum(present) - 1)[codes].astype(np.int32), int(present.sum())


def mdl_cuts(x: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Find the supervised cuts of Fayyad and Irani (1993).

    Split where the information gain is largest, as long as

        gain > [log2(N − 1) + log2(3ᵏ − 2) − k·H + k₁·H₁ + k₂·H₂] / N,

    N values and k classes in the part to be split, entropies H in bits; then split both sides.

    Examples
    --------
    >>> x = np.array([1.0, 2, 3, 4, 11, 12, 13, 14])
    >>> mdl_cuts(x, np.array([0, 0, 0, 0, 1, 1, 1, 1]))
    array([7.5])
    """
    order = np.argsort(x, kind="stable")
    values, first = np.unique(x[order], return_index=True)
    one_hot = np.zeros((len(x) + 1, int(classes.max()) + 1))
    one_hot[np.arange(1, len(x) + 1), classes[order]] = 1
    below = np.cumsum(one_hot, axis=0)[np.append(first, len(x))]  # class counts below each value
    cuts: list[float] = []
    parts = [(0, len(values))]
    while parts:
        start, stop = parts.pop()
        if stop - start < 2:
            continue
        left = below[start + 1 : stop] - below[start]
        whole = below[stop] - below[start]
        right = whole - left
        entropy, n_present = _bits(whole[None])
        (h_left, k_left), (h_right, k_right) = _bits(left), _bits(right)
        n = whole.sum()
        gain = entropy - (left.sum(axis=1) * h_left + right.sum(axis=1) * h_right) / n
        best = int(np.argmax(gain))
        k = n_present[0]
        penalty = np.log2(n - 1) + np.log2(3.0**k - 2) - k * entropy[0]
        penalty += k_left[best] * h_left[best] + k_right[best] * h_right[best]
        if gain[best] > penalty / n:
            middle = start + 1 + best
            cuts.append(_between(values[middle - 1], values[middle]))
            parts += [(start, middle), (middle, stop)]
    return np.sort(np.array(cuts))


def _between(low: float, high: float) -> float:
    """Return a number above `low` and not above `high`, the middle if there is one."""
    middle = low / 2 + high / 2
    return middle if low < middle <= high else high


def _bits(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Entropy in bits, and number of classes present, of every row of counts."""
    shares = counts / counts.sum(axis=1, keepdims=True)
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    return -(shares * logs).sum(axis=1), (counts > 0).sum(axis=1)
