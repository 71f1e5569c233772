"""Ways to draw one resample: bootstrap, subsamples, blocks, the Poisson bootstrap."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mainstay._validation import check_count, check_fraction

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
        return np.concatenate([rng.choice(rows, len(rows)) for rows in rows_by_class(strata)])


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
                for rows in rows_by_class(strata)
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


def rows_by_class(numbers: np.ndarray) -> Sequence[np.ndarray]:
    """Rows of each class or group, numbered from 0."""
    order = np.argsort(numbers, kind="stable")
    return np.split(order, np.cumsum(np.bincount(numbers))[:-1])
