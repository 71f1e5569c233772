"""The resamples of one data set: planned from seeds, made when asked for, as rows or as weights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mainstay._validation import InputError, check_choice, check_count, numbered, row_labels
from mainstay.resampling.pairs import Pairs
from mainstay.resampling.schemes import (
    Blocks,
    Bootstrap,
    Poisson,
    Resampling,
    Subsample,
    WholeData,
    rows_by_class,
)

_MOST_TRIES = 100

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
        members = rows_by_class(self.groups)
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


def takes_all_rows(resampling: Any) -> bool:
    """Whether there is one resample, which holds every row once."""
    return isinstance(resampling, WholeData) or (
        isinstance(resampling, str) and resampling == "none"
    )


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
    everything = takes_all_rows(resampling)
    if groups is not None:
        groups = numbered(check_groups(groups, n, fewest=1 if everything else 2))
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
    if everything:
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
        raise InputError(
            f"{n_groups} {are} too few to resample; at least {fewest} are needed (replicability: 4 "
            "of every class)."
        )
    return labels
