"""Targets that have nothing to do with the features: y permuted, by row, group or stratum."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

from mainstay._validation import InputError, numbered, row_labels
from mainstay.data import Data


@dataclass(frozen=True)
class Permuter:
    """Draws permuted targets; what belongs together stays together.

    Rows of a group (samples of one patient) are no independent rows. If every group has one label,
    whole groups change labels; if labels differ within groups, they change places within groups.
    With strata nothing leaves its stratum.

    Attributes
    ----------
    y : numpy.ndarray
        The target.
    unit : numpy.ndarray
        Number of the row or group that each row takes its label with.
    block : numpy.ndarray
        For every unit, the block within which it changes places.
    what : str
        What changes places, in words.
    """

    y: np.ndarray
    unit: np.ndarray
    block: np.ndarray
    what: str

    @classmethod
    def of(cls, data: Data, strata: Any = None) -> Permuter:
        """Decide what may change places; refuse data in which nothing can."""
        n = data.n_rows
        blocks = np.zeros(n, dtype=np.intp)
        within = ""
        if strata is not None:
            blocks, within = numbered(row_labels("strata", strata, n)), " within strata"
        if data.groups is None:
            made = cls(data.y, np.arange(n), blocks, f"rows{within}")
        else:
            made = _by_group(data, blocks, within)
        made._check()
        return made

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """One permuted target."""
        labels = self._labels
        shuffled = labels.copy()
        for members in self._members:
            shuffled[members] = labels[rng.permutation(members)]
        return np.asarray(shuffled[self.unit])

    @property
    def log_count(self) -> float:
        """Logarithm of the number of different targets that can be drawn."""
        total = 0.0
        for members in self._members:
            repeats = np.unique(self._labels[members], return_counts=True)[1]
            total += float(gammaln(len(members) + 1) - gammaln(repeats + 1).sum())
        return total

    def check_resolution(self, level: float) -> None:
        """Refuse data whose few different permutations cannot reach a level."""
        if self.log_count < math.log(1 / level) - 1e-9:
            raise InputError(
                f"permuting {self.what} gives only {round(math.exp(self.log_count))} different "
                f"targets, the real one included, so no p-value can be at or below {level:g}; "
                f"at least {math.ceil(1 / level - 1e-9)} are needed. More groups or rows, or "
                "coarser strata, give more."
            )

    @property
    def _labels(self) -> np.ndarray:
        first = np.unique(self.unit, return_index=True)[1]
        return np.asarray(self.y[first])

    @property
    def _members(self) -> list[np.ndarray]:
        order = np.argsort(self.block, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.block))[:-1])

    def _check(self) -> None:
        labels = self._labels
        if all(len(np.unique(labels[members])) == 1 for members in self._members):
            raise InputError(
                f"no permutation of {self.what} changes the target: it is constant wherever "
                "labels may change places. Give coarser strata or groups, or none."
            )


def _by_group(data: Data, blocks: np.ndarray, within: str) -> Permuter:
    assert data.groups is not None
    groups = numbered(data.groups)
    first = np.unique(groups, return_index=True)[1]
    if (data.y == data.y[first][groups]).all():
        if (blocks != blocks[first][groups]).any():
            raise InputError(
                "a group has rows in several strata; whole groups are permuted, so that all rows "
                "of a group must be in one stratum."
            )
        return Permuter(data.y, groups, blocks[first], f"labels of whole groups{within}")
    together = numbered(groups * (int(blocks.max()) + 1) + blocks)
    return Permuter(data.y, np.arange(data.n_rows), together, f"labels within groups{within}")
