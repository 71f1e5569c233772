"""Resamples of the rows of a data set: bootstrap, subsamples, folds, blocks, whole groups.

A resampling says which rows one resample holds, as indices (a row may come more than once). Each
resample is drawn from a seed of its own, so that any of them can be made again, anywhere, in any
order. `weights` counts how often each row comes: what rankers that take row weights read.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from mainstay._validation import (
    InputError,
    check_choice,
    check_count,
    check_fraction,
    numbered,
    row_labels,
)

_MOST_TRIES = 100
_GROUP_TRIES = 10
_WORDS_PER_STEP = 8  # 32-bit words that Philox makes of one counter
# P(Poisson(1) ≤ k) in units of 2⁻³²; P(Poisson(1) > 12) is below one unit
_POISSON_LIMITS = np.array(
    [
        math.floor(sum(math.exp(-1) / math.factorial(j) for j in range(k + 1)) * 2**32)
        for k in range(13)
    ],
    dtype=np.uint32,
)
# most often the first 12 bits of a word already tell the number
_OTHER_BITS, _UNDECIDED = 20, 255
_POISSON_OF_FIRST_BITS = np.searchsorted(
    _POISSON_LIMITS, np.arange(2**12, dtype=np.uint32) << _OTHER_BITS, side="right"
).astype(np.uint8)
_POISSON_OF_FIRST_BITS[_POISSON_LIMITS >> _OTHER_BITS] = _UNDECIDED


class Resampling(Protocol):
    """Anything with a method that draws the units of one resample."""

    def draw(self, n: int, strata: np.ndarray | None, rng: np.random.Generator) -> np.ndarray:
        """Positions of the drawn units, 0 to n − 1."""
        ...


@dataclass(frozen=True)
class Bootstrap:
    """As many rows as there are, drawn with replacement.

    Examples
    --------
    >>> import numpy as np
    >>> Bootstrap().draw(5, None, np.random.default_rng(0))
    array([4, 3, 2, 1, 1])
    """

    stratify: bool = False

    def draw(self, n: int, strata: np.ndarray | None, rng: np.random.Generator) -> np.ndarray:
        """Draw n of n with replacement, within each class if stratified."""
        if strata is None or not self.stratify:
            return rng.integers(n, size=n)
        return np.concatenate([rng.choice(rows, len(rows)) for rows in _classes(strata)])


@dataclass(frozen=True)
class Subsample:
    """A share of the rows, drawn without replacement."""

    fraction: float = 0.632
    stratify: bool = False

    def draw(self, n: int, strata: np.ndarray | None, rng: np.random.Generator) -> np.ndarray:
        """Draw a share of n without replacement, of each class if stratified."""
        share = check_fraction("fraction", self.fraction, closed=False)
        if strata is None or not self.stratify:
            return rng.choice(n, max(1, round(share * n)), replace=False)
        return np.concatenate(
            [
                rng.choice(rows, max(1, round(share * len(rows))), replace=False)
                for rows in _classes(strata)
            ]
        )


@dataclass(frozen=True)
class Blocks:
    """Bootstrap of time series: blocks of consecutive rows, drawn with replacement."""

    length: int = 10

    def draw(self, n: int, strata: np.ndarray | None, rng: np.random.Generator) -> np.ndarray:
        """Draw blocks of consecutive rows, anywhere in the series, until n rows are drawn."""
        length = check_count("length", self.length, 1, n)
        starts = rng.integers(n - length + 1, size=-(-n // length))
        return (starts[:, None] + np.arange(length)).ravel()[:n]


@dataclass(frozen=True)
class Pairs:
    """Complementary pairs: the rows are cut into two disjoint halves, again and again.

    The two halves of a pair share no row, so that they are to each other what two independent
    studies of half the size are. Classes are halved each for itself, whole groups stay together,
    and the halves are as equal as they can be.

    References
    ----------
    Shah, R. D. and Samworth, R. J. (2013). Variable selection with error control: another look at
    stability selection. J. Royal Statistical Society B 75, 55–80.

    Examples
    --------
    >>> import numpy as np
    >>> halves = Pairs().halves(6, np.array([0, 0, 0, 0, 1, 1]), None, np.random.default_rng(0))
    >>> [half.tolist() for half in halves]
    [[0, 2, 5], [1, 3, 4]]
    """

    def halves(
        self,
        n: int,
        classes: np.ndarray | None,
        groups: np.ndarray | None,
        rng: np.random.Generator,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rows of two disjoint halves, sorted."""
        strata = np.zeros(n, dtype=np.intp) if classes is None else classes
        first = _half_of_rows(strata, rng) if groups is None else _half_of_groups(
            strata, groups, rng)  # fmt: skip
        mask = np.zeros(n, dtype=bool)
        mask[first] = True
        return np.flatnonzero(mask), np.flatnonzero(~mask)

    def check(self, classes: np.ndarray | None, groups: np.ndarray | None, n: int) -> None:
        """Refuse data that cannot be cut into two halves that both hold every class."""
        units = np.arange(n) if groups is None else groups
        what = "row" if groups is None else "group"
        n_units = len(np.unique(units))
        if n_units < 2:
            raise InputError(f"{n_units} {what} cannot be cut into two halves; at least 2 can.")
        if classes is None:
            return
        for label in np.unique(classes):
            members = len(np.unique(units[classes == label]))
            if members < 2:
                raise InputError(
                    f"class number {label} (in sorted order, from 0) is in {members} {what}; two "
                    f"disjoint halves that both hold it need at least 2."
                )


def _half_of_rows(strata: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Half of every class; the odd members of several classes go to either side in turn."""
    chosen, odd = [], []
    for members in _classes(strata):
        drawn = rng.permutation(members)
        chosen.append(drawn[: len(drawn) // 2])
        odd += drawn[len(drawn) // 2 * 2 :].tolist()
    turn = int(rng.integers(2))
    extra = rng.permutation(np.array(odd, dtype=np.intp))[turn::2]
    return np.concatenate([*chosen, extra])


def _half_of_groups(strata: np.ndarray, groups: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Groups in random order, each to the side that makes the classes more equal; best of several.

    Both sides get at least `_fewest_groups` of every class, so that they can be halved again, even
    where one group holds most rows of a class; sides that lack it are not taken while others can
    be found.
    """
    members = _classes(groups)
    counts = np.stack([np.bincount(strata[rows], minlength=strata.max() + 1) for rows in members])
    best, least = None, np.inf
    for _ in range(_GROUP_TRIES):
        side, surplus = _sides_in_random_order(counts, rng)
        complete = (counts[side].sum(axis=0) > 0) & (counts[~side].sum(axis=0) > 0)
        cost = np.abs(surplus).sum() + 1e9 * (~complete).sum()
        if cost < least:
            best, least = side, cost
    assert best is not None
    if least >= 1e9:
        raise InputError(
            f"in {_GROUP_TRIES} tries {len(members)} groups gave no two halves that both hold "
            "every class; there are too few groups of some class."
        )
    return np.concatenate([rows for rows, first in zip(members, best, strict=True) if first])


def _sides_in_random_order(
    counts: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Which groups go to the first side, and by how many rows of each class it is larger.

    `counts` holds the rows of every class in each group.
    """
    holds = (counts > 0).astype(int)
    missing = np.tile(_fewest_groups(holds.sum(axis=0)), (2, 1))  # groups that a side still needs
    to_come = holds.sum(axis=0)
    first, surplus = np.zeros(len(counts), dtype=bool), np.zeros(counts.shape[1])
    for unit in rng.permutation(len(counts)):
        to_come -= holds[unit]
        costs = []
        for side, sign in ((0, 1), (1, -1)):
            needed = np.maximum(missing[side] - holds[unit], 0) + missing[1 - side]
            out_of_reach = np.maximum(needed - to_come, 0).sum()
            costs.append(np.square(surplus + sign * counts[unit]).sum() + 1e18 * out_of_reach)
        first[unit] = costs[0] < costs[1] or (costs[0] == costs[1] and bool(rng.integers(2)))
        side = 0 if first[unit] else 1
        missing[side] = np.maximum(missing[side] - holds[unit], 0)
        surplus += counts[unit] if first[unit] else -counts[unit]
    return first, surplus


def _fewest_groups(n_groups: np.ndarray) -> np.ndarray:
    """Groups of a class that each half gets: enough to be halved once or twice more."""
    return np.select([n_groups >= 16, n_groups >= 4, n_groups >= 2], [4, 2, 1], 0)


@dataclass(frozen=True)
class Poisson:
    """Poisson bootstrap: every row comes a Poisson(1) number of times, whatever the others do.

    A bootstrap that needs no look at the other rows, so that it works on rows that are read one
    after the other. The weight of a row is a function of the seed of the resample and of the number
    of the row alone: row r gets the r-th 32-bit word u of the counter-based generator Philox4x64
    with that seed as its key, and comes min{k : u/2³² < P(Poisson(1) ≤ k)} times. Who reads the
    rows, and how many at once, has no influence. Rounding to 32 bits changes no probability by more
    than 2⁻³². A resample holds n rows on average, with a standard deviation of √n.

    References
    ----------
    Salmon, J. K. et al. (2011). Parallel random numbers: as easy as 1, 2, 3. SC '11, article 16.
    Chamandy, N. et al. (2012). Estimating uncertainty for massive data streams. Google.

    Examples
    --------
    >>> Poisson().weights(seed=0, start=0, stop=8)
    array([0, 0, 1, 0, 0, 0, 0, 1], dtype=uint8)
    >>> Poisson().weights(seed=0, start=2, stop=4)
    array([1, 0], dtype=uint8)
    """

    def weights(self, seed: int, start: int, stop: int) -> np.ndarray:
        """How often rows start … stop − 1 come in the resample with this seed."""
        first = start // _WORDS_PER_STEP
        generator = np.random.Philox(key=seed, counter=first)
        skipped = start - first * _WORDS_PER_STEP
        raw = generator.random_raw(-(-(skipped + stop - start) // 2)).astype("<u8")
        words = raw.view("<u4")[skipped : skipped + stop - start]
        weights: np.ndarray = _POISSON_OF_FIRST_BITS[words >> _OTHER_BITS]
        open_ = np.flatnonzero(weights == _UNDECIDED)
        weights[open_] = np.searchsorted(_POISSON_LIMITS, words[open_], side="right")
        return weights


@dataclass(frozen=True)
class WholeData:
    """No resampling: every row once, which is the ranker alone."""

    def draw(self, n: int, strata: np.ndarray | None, rng: np.random.Generator) -> np.ndarray:
        """Take all rows."""
        return np.arange(n)


RESAMPLINGS: dict[str, Resampling | Pairs | Poisson] = {
    "bootstrap": Bootstrap(),
    "stratified_bootstrap": Bootstrap(stratify=True),
    "subsample": Subsample(),
    "stratified_subsample": Subsample(stratify=True),
    "half": Subsample(0.5),
    "blocks": Blocks(),
    "poisson": Poisson(),
    "none": WholeData(),
    "pairs": Pairs(),
}


_FOLDS = ("folds", "stratified_folds")


@dataclass(frozen=True)
class Resamples:
    """The resamples of one data set, made when asked for.

    Attributes
    ----------
    n_rows : int
        Number of rows of the data.
    seeds : tuple of int
        One per resample (empty if `splits` are given).
    splits : tuple of numpy.ndarray
        Rows of each resample, where a scikit-learn splitter made them.
    """

    n_rows: int
    resampling: Resampling | Pairs | Poisson | None = None
    seeds: tuple[int, ...] = ()
    strata: np.ndarray | None = None
    groups: np.ndarray | None = None
    splits: tuple[np.ndarray, ...] = ()

    def __len__(self) -> int:
        return len(self.splits) or len(self.seeds)

    @property
    def paired(self) -> bool:
        """Whether resamples 0 and 1, 2 and 3, … are the halves of pairs."""
        return isinstance(self.resampling, Pairs)

    def rows(self, i: int) -> np.ndarray:
        """Row indices of resample i, sorted."""
        if self.splits:
            return np.sort(self.splits[i])
        if isinstance(self.resampling, Pairs):
            rng = np.random.default_rng(self.seeds[i - i % 2])
            return self.resampling.halves(self.n_rows, self.strata, self.groups, rng)[i % 2]
        if isinstance(self.resampling, Poisson):
            return np.repeat(np.arange(self.n_rows), self._poisson_weights(i))
        rng = np.random.default_rng(self.seeds[i])
        for _ in range(_MOST_TRIES):
            rows = self._draw(rng)
            if self.strata is None or (self.strata[rows] != self.strata[rows[0]]).any():
                return np.sort(rows)
        raise InputError(
            f"in {_MOST_TRIES} tries no resample held more than one class; use a stratified "
            "resampling, or larger resamples."
        )

    def _draw(self, rng: np.random.Generator) -> np.ndarray:
        assert self.resampling is not None
        assert not isinstance(self.resampling, Pairs | Poisson)
        if self.groups is None:
            return self.resampling.draw(self.n_rows, self.strata, rng)
        members = _classes(self.groups)
        drawn = self.resampling.draw(len(members), None, rng)
        return np.concatenate([members[unit] for unit in drawn])

    def weights(self, start: int = 0, stop: int | None = None) -> np.ndarray:
        """How often each row comes in resamples start to stop: one row of weights per resample.

        In the smallest type that holds them, most often one byte; signed, as differences are
        taken of sums.
        """
        numbers = range(len(self))[start:stop]
        if self.paired:
            return self._weights_of_pairs(numbers)
        out = np.empty((len(numbers), self.n_rows), dtype=np.int8)
        for at, i in enumerate(numbers):
            counts = self._counts(i)
            wide_enough = np.promote_types(out.dtype, np.min_scalar_type(-int(counts.max()) - 1))
            out = out.astype(wide_enough, copy=False)
            out[at] = counts
        return out

    def _weights_of_pairs(self, numbers: range) -> np.ndarray:
        """The second half of a pair is what the first one leaves."""
        out = np.zeros((len(numbers), self.n_rows), dtype=np.int8)
        for at, i in enumerate(numbers):
            if at and i % 2:
                out[at] = 1 - out[at - 1]
            else:
                out[at, self.rows(i)] = 1
        return out

    def weights_of(self, start: int, stop: int) -> np.ndarray:
        """How often rows start … stop − 1 come, in all resamples; without a look at other rows."""
        if isinstance(self.resampling, WholeData):
            return np.ones((len(self), stop - start), dtype=np.uint8)
        assert isinstance(self.resampling, Poisson)
        return np.stack([self.resampling.weights(seed, start, stop) for seed in self.seeds])

    def _counts(self, i: int) -> np.ndarray:
        if isinstance(self.resampling, Poisson):
            return self._poisson_weights(i)
        return np.bincount(self.rows(i), minlength=self.n_rows)

    def _poisson_weights(self, i: int) -> np.ndarray:
        assert isinstance(self.resampling, Poisson)
        n_units = self.n_rows if self.groups is None else int(self.groups.max()) + 1
        weights = self.resampling.weights(self.seeds[i], 0, n_units)
        if self.groups is not None:
            weights = weights[self.groups]
        strata = np.zeros(self.n_rows, dtype=np.intp) if self.strata is None else self.strata
        check_class_weights(np.bincount(strata, weights)[None], i)
        return weights

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self.rows(i) for i in range(len(self)))


def _too_few_rows(i: int, held: str) -> InputError:
    """What is raised where a Poisson resample cannot be used; it cannot be drawn again."""
    return InputError(
        f"resample {i} of the Poisson bootstrap holds {held}: there are too few rows for it. Use "
        "resampling='stratified_bootstrap', or another random_state."
    )


def check_one_pass(resampling: Any) -> None:
    """Refuse resamplings of rows that are read block by block, if they look at all rows at once."""
    named = isinstance(resampling, str)
    if named:
        check_choice("resampling", resampling, (*RESAMPLINGS, *_FOLDS))
    if not isinstance(RESAMPLINGS.get(resampling) if named else resampling, Poisson | WholeData):
        raise InputError(
            "rows that are read block by block can be resampled by resampling='poisson' or "
            f"'none', got {resampling!r}."
        )


def check_class_weights(totals: np.ndarray, first: int = 0) -> None:
    """Refuse Poisson resamples without rows or with one class only.

    `totals` holds the weight of every class in resamples `first`, `first + 1`, …
    """
    held = (totals > 0).sum(axis=1)
    empty, single = np.flatnonzero(held == 0), np.flatnonzero(held == 1)
    if empty.size:
        raise _too_few_rows(first + int(empty[0]), "no row")
    if single.size and totals.shape[1] > 1:
        raise _too_few_rows(first + int(single[0]), "one class only")


def make_resamples(
    resampling: Any,
    n_resamples: int,
    n_rows: int,
    *,
    y: np.ndarray | None = None,
    classes: np.ndarray | None = None,
    groups: np.ndarray | None = None,
    rng: np.random.Generator,
) -> Resamples:
    """Plan the resamples of a data set.

    Parameters
    ----------
    resampling : str, Bootstrap, Subsample, Blocks, or scikit-learn splitter
        A name from `RESAMPLINGS`, "folds" or "stratified_folds" (the training parts of
        `n_resamples` folds), a resampling of one's own, or a splitter, whose training parts are
        the resamples, as many as it makes.
    n_resamples : int
        How many (not used with a splitter).
    n_rows : int
        Number of rows of the data.
    y : array, optional
        The target, for splitters.
    classes : array of int, optional
        Class of every row: a resample that holds one class only is drawn again.
    groups : array, optional
        Rows that belong together (samples of one patient): groups are drawn, not rows.
    rng : numpy.random.Generator
        Source of the seeds.
    """
    n = n_rows
    if groups is not None:
        groups = numbered(check_groups(groups, n, fewest=2))
    if not isinstance(resampling, str) and hasattr(resampling, "split"):
        splits = tuple(train for train, _ in resampling.split(np.zeros((n, 1)), y, groups))
        return Resamples(n, splits=splits)
    n_resamples = check_count("n_resamples", n_resamples, 1)
    if isinstance(resampling, str):
        check_choice("resampling", resampling, (*RESAMPLINGS, *_FOLDS))
        if resampling in _FOLDS:
            return Resamples(n, splits=_folds(resampling, n_resamples, y, groups, n, rng))
        resampling = RESAMPLINGS[resampling]
    if isinstance(resampling, Pairs):
        if n_resamples % 2:
            raise InputError(
                f"resampling='pairs' makes two runs a pair, so n_resamples must be even, got "
                f"{n_resamples}."
            )
        resampling.check(classes, groups, n)
    elif not hasattr(resampling, "draw") and not isinstance(resampling, Poisson):
        raise InputError(
            f"resampling must be one of {', '.join((*RESAMPLINGS, *_FOLDS))}, a mainstay "
            f"resampling or a scikit-learn splitter, got {resampling!r}."
        )
    if groups is not None and isinstance(resampling, Blocks):
        raise InputError("time blocks and groups cannot be combined; give one of the two.")
    if isinstance(resampling, WholeData):
        n_resamples = 1  # there is nothing else to see
    seeds = tuple(int(seed) for seed in rng.integers(2**62, size=n_resamples))
    return Resamples(n, resampling, seeds, classes, groups)


def _folds(
    kind: str,
    n_folds: int,
    y: np.ndarray | None,
    groups: np.ndarray | None,
    n: int,
    rng: np.random.Generator,
) -> tuple[np.ndarray, ...]:
    """Training parts of shuffled folds; rows of a group stay together."""
    from sklearn import model_selection

    units = n if groups is None else int(groups.max()) + 1
    check_count("n_resamples, the number of folds,", n_folds, 2, units)
    names = {
        ("folds", False): "KFold",
        ("stratified_folds", False): "StratifiedKFold",
        ("folds", True): "GroupKFold",
        ("stratified_folds", True): "StratifiedGroupKFold",
    }
    splitter = getattr(model_selection, names[kind, groups is not None])
    seed = int(rng.integers(2**31))
    folds = splitter(n_folds, shuffle=True, random_state=seed).split(np.zeros((n, 1)), y, groups)
    return tuple(train for train, _ in folds)


def check_groups(groups: Any, n: int, *, fewest: int) -> np.ndarray:
    """One label per row, of at least so many groups."""
    labels = row_labels("groups", groups, n)
    n_groups = len(np.unique(labels))
    if n_groups < fewest:
        are = "group is" if n_groups == 1 else "groups are"
        raise InputError(f"{n_groups} {are} too few to resample; at least {fewest} are needed.")
    return labels


def _classes(numbers: np.ndarray) -> Sequence[np.ndarray]:
    """Rows of each class or group, numbered from 0."""
    order = np.argsort(numbers, kind="stable")
    return np.split(order, np.cumsum(np.bincount(numbers))[:-1])
