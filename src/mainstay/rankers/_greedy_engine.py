"""The engine of the greedy rankers: many resamples advance together, step by step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mainstay.rankers.contingency import Cells, Lanes, Statistics, table_statistics
from mainstay.rankers.discretization import Coded
from mainstay.rankers.inputs import Target
from mainstay.rankers.moments import Moments, Weighting, f_scores
from mainstay.runs import average_ranks

_FLOOR = 0.001  # of every redundancy in a quotient
ROUNDING = 1e-12  # an entropy below this is that of a constant
_MOST_BYTES = 2**28  # of cached sums
_MOST_LANES = 32
_MOST_VALUES = 2**16  # whose products are summed together
_MOST_CELLS = 2048  # of a joint table that is counted without sorting rows


@dataclass(frozen=True)
class Criterion:
    """How chosen features w and a candidate x make a criterion.

    `term` makes one term of every pair from the entropies H(x,w), H(x,w,y), …; `combine` joins the
    terms of all chosen w; `value` gives the criterion from relevance, combined terms and their
    number.
    """

    term: str  # "redundancy", "joint", "normalised", "conditional"
    combine: np.ufunc
    value: Callable[[np.ndarray, np.ndarray, int], np.ndarray]
    floor: float = 0.0

    @property
    def with_class(self) -> bool:
        """Whether terms need the class too."""
        return self.term != "redundancy"


_DIFFERENCE = Criterion("redundancy", np.add, lambda rel, state, n: rel - state / n)
_QUOTIENT = Criterion("redundancy", np.add, lambda rel, state, n: rel / (state / n), floor=_FLOOR)
CRITERIA = {
    "MID": _DIFFERENCE,
    "MIQ": _QUOTIENT,
    "FCD": _DIFFERENCE,
    "FCQ": _QUOTIENT,
    "jmi": Criterion("joint", np.add, lambda rel, state, n: state),
    "cmim": Criterion("conditional", np.minimum, lambda rel, state, n: np.minimum(rel, state)),
    "disr": Criterion("normalised", np.add, lambda rel, state, n: state),
    "jmim": Criterion("joint", np.minimum, lambda rel, state, n: state),
    "njmim": Criterion("normalised", np.minimum, lambda rel, state, n: state),
}


class Terms(Protocol):
    """What the engine asks of the data: b × p arrays."""

    relevance: np.ndarray
    constant: np.ndarray

    def of(self, chosen: np.ndarray, taken: np.ndarray) -> np.ndarray:
        """Terms of all features with the one that each resample has just chosen."""


@dataclass(frozen=True)
class Selection:
    """The order of selection in b resamples, and the criterion at that moment: b × k.

    `last` is the criterion of every feature when the last one was chosen, or a bound of it.
    """

    order: np.ndarray
    criterion: np.ndarray
    constant: np.ndarray  # b × p
    last: np.ndarray  # b × p

    @staticmethod
    def join(parts: Sequence[Selection]) -> Selection:
        """Put blocks of resamples under one another."""
        return Selection(
            np.concatenate([part.order for part in parts]),
            np.concatenate([part.criterion for part in parts]),
            np.concatenate([part.constant for part in parts]),
            np.concatenate([part.last for part in parts]),
        )

    def renumbered(self, columns: np.ndarray) -> Selection:
        """Feature i becomes columns[i]."""
        constant, last = np.empty_like(self.constant), np.empty_like(self.last)
        constant[:, columns], last[:, columns] = self.constant, self.last
        return Selection(columns[self.order], self.criterion, constant, last)

    def criterion_scores(self) -> np.ndarray:
        """The criterion of every feature, b × p (all features were selected)."""
        out = np.empty(self.constant.shape)
        np.put_along_axis(out, self.order, self.criterion, axis=1)
        return out

    def ranks(self, rest: str = "tie") -> np.ndarray:
        """Places, b × p; features left over come behind the chosen, constant ones behind all.

        Those left over tie, or go by their last criterion (rest="criterion").
        """
        b, p = self.constant.shape
        place = np.full((b, p), np.inf)
        steps = np.broadcast_to(np.arange(1.0, self.order.shape[1] + 1), self.order.shape)
        np.put_along_axis(place, self.order, steps, axis=1)
        n_constant = self.constant.sum(axis=1, keepdims=True)
        left = np.isinf(place) & ~self.constant
        before = p - n_constant - left.sum(axis=1, keepdims=True)
        if rest == "tie":
            place = np.where(left, (before + 1 + p - n_constant) / 2, place)
        else:
            place = np.where(
                left, before + average_ranks(np.where(left, -self.last, np.inf)), place
            )
        return np.where(self.constant, p - (n_constant - 1) / 2, place)


def select(terms: Terms, criterion: Criterion, k: int) -> Selection:
    """Choose k features in every resample."""
    relevance, constant = terms.relevance, terms.constant
    b, p = relevance.shape
    every = np.arange(b)
    taken = np.zeros((b, p), dtype=bool)
    order, reached = np.empty((b, k), dtype=np.intp), np.empty((b, k))
    value, state = relevance, np.empty(0)
    for step in range(k):
        key = np.where(constant, -np.finfo(float).max, value)
        key[taken] = -np.inf
        best = np.argmax(key, axis=1)
        order[:, step], reached[:, step] = best, value[every, best]
        taken[every, best] = True
        if step + 1 < k:
            term = np.maximum(terms.of(best, taken), criterion.floor)
            state = term if step == 0 else criterion.combine(state, term)
            value = criterion.value(relevance, state, step + 1)
    return Selection(order, reached, constant, value)


# ---------------------------------------------------------------------- information


def lanes_that_fit(p: int, k: int, with_class: bool) -> int:
    """How many resamples can share their joint counts within the memory limit."""
    lanes = _MOST_LANES
    while lanes > 1 and (1 + with_class) * 8 * lanes * p * min(p, k * lanes) > _MOST_BYTES:
        lanes //= 2
    return lanes


@dataclass(frozen=True)
class Groups:
    """Rows grouped by a feature's bin (and by class), and after which groups the bin changes."""

    of_row: np.ndarray
    n: int
    closes: np.ndarray


def information_terms(
    term: str,
    chosen: np.ndarray,
    pair: np.ndarray,
    triple: np.ndarray,
    table: Statistics,
    unit: float,
) -> np.ndarray:
    """Terms of all features with those chosen, b × p, from Σ c·log c of their joint tables."""
    lane, n = np.arange(len(chosen)), table.total
    constant = table.n_rows <= 1

    def nats(sums: np.ndarray) -> np.ndarray:
        return np.asarray(np.maximum(np.log(n) - sums * unit / n, 0))

    of_w = table.margin_sum[lane, chosen][:, None]
    if term == "redundancy":
        unrelated = constant | constant[lane, chosen][:, None]
        return np.where(unrelated, 0, nats(table.margin_sum + of_w - pair))
    if term == "conditional":
        sums = of_w + triple - pair - table.joint_sum[lane, chosen][:, None]
        return np.where(constant, 0, np.maximum(sums * unit / n, 0))
    joint = nats(pair + table.class_sum - triple)
    if term == "joint":
        return joint
    entropy = nats(triple)
    defined = entropy > ROUNDING
    return np.asarray(np.divide(joint, entropy, out=np.zeros_like(joint), where=defined))


class InformationTerms:
    """Terms from weighted joint counts, all resamples of a block at once.

    When some resample chooses w, the tables of w with all features are counted for all resamples
    and kept, as the others are likely to choose w later. Whole-number weights give the same sums
    for (w, g) and (g, w), so those are counted once.
    """

    def __init__(
        self,
        coded: Coded,
        cells: Cells,
        lanes: Lanes,
        criterion: Criterion,
        groups: dict[int, Groups],
    ) -> None:
        self._coded, self._lanes, self._groups = coded, lanes, groups
        self._term, self._with_class = criterion.term, criterion.with_class
        self._table = table_statistics(coded, cells, lanes)
        self.relevance, self.constant = self._table.information, self._table.n_rows <= 1
        self._rows: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        most_bins = int(coded.n_bins.max())
        self._n_cells = max(most_bins, min(2 * coded.codes.shape[1], _MOST_CELLS))
        self._room = (*lanes.accumulator(self._n_cells), *lanes.accumulator(most_bins))

    def of(self, chosen: np.ndarray, taken: np.ndarray) -> np.ndarray:
        """Terms of all features with the one that each resample has just chosen, b × p."""
        b = len(chosen)
        alone = b == 1
        for w in np.unique(chosen).tolist():
            if w not in self._rows:
                if alone:
                    self._rows.clear()
                self._rows[w] = self._count(w, np.flatnonzero(~taken[0]) if alone else None)
        lane = np.arange(b)
        pair = np.array(
            [self._rows[w][0][:, i] for i, w in zip(lane, chosen.tolist(), strict=True)]
        )
        triple = pair
        if self._with_class:
            triple = np.array(
                [self._rows[w][1][:, i] for i, w in zip(lane, chosen.tolist(), strict=True)]
            )
        return information_terms(self._term, chosen, pair, triple, self._table, self._lanes.unit)

    def _count(self, w: int, wanted: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Σ c·log c of w's tables with other features, p × b; zeros for those not wanted."""
        from mainstay._kernels.contingency import pair_sums, wide_pair_sums

        coded, lanes = self._coded, self._lanes
        p, b = len(coded.names), len(lanes.totals)
        pair, triple = lanes.sums(p, b), lanes.sums(p, b if self._with_class else 0)
        counted: list[int] = []
        if wanted is None:
            if lanes.table.size:
                counted = list(self._rows)
            wanted = np.setdiff1d(np.arange(p), [*counted, w])
        of_w = self._groups_of(w)
        fits = of_w.n * coded.n_bins[wanted] <= self._n_cells
        pair_sums(
            coded.codes, coded.n_bins, wanted[fits], of_w.of_row, of_w.n, of_w.closes, lanes.words,
            *self._room, lanes.table, pair, triple,
        )  # fmt: skip
        if not fits.all():
            order = np.argsort(of_w.of_row, kind="stable")
            starts = np.searchsorted(of_w.of_row[order], np.arange(of_w.n + 1))
            wide_pair_sums(
                coded.codes, wanted[~fits], order, starts, of_w.closes, lanes.words,
                *self._room, lanes.table, pair, triple,
            )  # fmt: skip
        for g in counted:
            pair[g], triple[g] = self._rows[g][0][w], self._rows[g][1][w]
        return pair, triple

    def _groups_of(self, w: int) -> Groups:
        if w not in self._groups:
            codes = self._coded.codes[w].astype(np.int64)
            k = self._coded.n_classes if self._with_class else 1
            key = codes * k + self._coded.classes if self._with_class else codes
            occurs = np.bincount(key) > 0
            bins = np.append(np.flatnonzero(occurs) // k, -1)
            of_row = (np.cumsum(occurs) - 1)[key]
            self._groups[w] = Groups(of_row, len(bins) - 1, bins[1:] != bins[:-1])
        return self._groups[w]


# ---------------------------------------------------------------------- F-statistic, correlation


class MomentTerms:
    """Relevance = F-statistic, terms = |Pearson correlation|, for b × n weights."""

    def __init__(self, data: Moments, target: Target, weights: np.ndarray) -> None:
        self._weights, self._values = weights, data.block(slice(None), slice(None))[0]
        self.relevance = f_scores(data, target, weights)
        self.constant = self.relevance <= 0
        lanes = Weighting(weights)
        self._n, self._sums = lanes.totals, np.empty(self.relevance.shape)
        spread = np.empty(self.relevance.shape)
        for features in data.feature_blocks(lanes):
            sums = data.sums(features, lanes)
            self._sums[:, features] = sums.total[:, 0]
            spread[:, features] = sums.square[:, 0] - sums.total[:, 0] ** 2 / self._n
        self._scale = np.sqrt(np.maximum(spread, 0))

    def of(self, chosen: np.ndarray, taken: np.ndarray) -> np.ndarray:
        """Correlations of all features with the one that each resample has just chosen, b × p."""
        lane = np.arange(len(chosen))
        products = self._products(self._weights * self._values[:, chosen].T)
        covariance = products - self._sums * self._sums[lane, chosen][:, None] / self._n
        scale = self._scale * self._scale[lane, chosen][:, None]
        r = np.where(scale > 0, np.abs(covariance) / np.where(scale > 0, scale, 1), 0)
        return np.asarray(np.minimum(r, 1))

    def _products(self, weights: np.ndarray) -> np.ndarray:
        """Sums of the values under b × n weights, b × p, rows in order."""
        from mainstay._kernels.moments import row_moments

        n, p = self._values.shape
        total, no_squares = np.zeros((len(weights), 1, p)), np.zeros((len(weights), 1, 0))
        step = max(4, _MOST_VALUES // p)
        for at in range(0, n, step):
            part = self._values[at : at + step]
            every = np.arange(len(part))
            ends = np.array([0, len(part)])
            row_moments(part, every, ends, weights[:, at : at + step], total, no_squares)
        return total[:, 0]
