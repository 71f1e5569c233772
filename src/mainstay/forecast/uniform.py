"""A feature selector without any preference, and what all simulated selectors share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from mainstay._validation import (
    InputError,
    RandomState,
    check_choice,
    check_count,
    check_random_state,
)
from mainstay.runs import Runs

RETURNS = ("ranks", "selection")
RANKS_AT_ONCE = 2**20  # drawn in one block, to save memory


@dataclass(frozen=True)
class UniformSelector:
    """A selector without any preference: pure chance.

    Parameters
    ----------
    n_features, n_selected : int
        It selects `n_selected` of `n_features` at random.

    Examples
    --------
    >>> import mainstay as ms
    >>> from mainstay.forecast import UniformSelector
    >>> runs = UniformSelector(n_features=2000, n_selected=20).sample_runs(62, random_state=0)
    >>> int(runs.counts.max())
    5
    """

    n_features: int
    n_selected: int

    def __post_init__(self) -> None:
        check_parameters(self.n_features, self.n_selected)

    def sample_ranks(self, n_runs: int, *, random_state: RandomState = None) -> np.ndarray:
        """Draw rankings: n_runs × n_features ranks, 1 = best."""
        rng = check_random_state(random_state)
        ranks = np.empty((check_count("n_runs", n_runs, 1), self.n_features), dtype=np.int32)
        places = np.arange(1, self.n_features + 1)
        rows = max(1, RANKS_AT_ONCE // self.n_features)
        for start in range(0, n_runs, rows):
            part = ranks[start : start + rows]
            part[:] = rng.permuted(np.broadcast_to(places, part.shape), axis=1)
        return ranks

    def sample_runs(
        self, n_runs: int, *, returns: str = "selection", random_state: RandomState = None
    ) -> Runs:
        """Draw runs: selections, or whole rankings (returns="ranks")."""
        return as_runs(self, n_runs, returns, random_state)


# ---------------------------------------------------------------------- shared


def check_parameters(
    n_features: object, n_selected: object, n_useful: object = None, p: object = 0.0
) -> None:
    """Check that 1 ≤ n_selected ≤ n_useful ≤ n_features, n_selected < n_features, 0 ≤ p ≤ 1."""
    given = {"n_features": n_features, "n_selected": n_selected}
    if n_useful is not None:
        given |= {"n_useful": n_useful, "p": p}
    wrong = [
        f"{name} = {value!r} is not a {'number' if name in ('n_useful', 'p') else 'whole number'}"
        for name, value in given.items()
        if not _is_number(value, whole=name not in ("n_useful", "p"))
    ]
    if not wrong:
        n, k, u, chance = n_features, n_selected, n_useful, p
        if not 1 <= k < n:  # type: ignore[operator]
            wrong.append(f"n_selected = {k} must be at least 1 and below n_features = {n}")
        if u is not None and not k <= u <= n:  # type: ignore[operator]
            wrong.append(f"n_useful = {u} must be from n_selected = {k} to n_features = {n}")
        if not 0 <= chance <= 1:  # type: ignore[operator]
            wrong.append(f"p = {chance} must be a probability, from 0 to 1")
    if wrong:
        raise InputError(f"{'; '.join(wrong)}.")


def _is_number(value: object, whole: bool) -> bool:
    kinds = (int, np.integer) if whole else (int, float, np.integer, np.floating)
    return isinstance(value, kinds) and not isinstance(value, bool)


def runs_of_columns(rows: list[np.ndarray], n_features: int) -> Runs:
    """Make runs from the columns that they select, the same number in each."""
    k = len(rows[0])
    columns = np.sort(np.stack(rows), axis=1).ravel()
    ends = np.arange(0, len(columns) + 1, k)
    ones = np.ones(len(columns), dtype=np.int32)
    return Runs.from_support(sp.csr_array((ones, columns, ends), shape=(len(rows), n_features)))


def as_runs(selector: Any, n_runs: int, returns: str, random_state: RandomState) -> Runs:
    """Draw runs of a selector: rankings, or the selections of their best."""
    check_choice("returns", returns, RETURNS)
    ranks = selector.sample_ranks(check_count("n_runs", n_runs, 2), random_state=random_state)
    if returns == "ranks":
        return Runs.from_ranks(ranks)
    return Runs.from_support(sp.csr_array(ranks <= selector.n_selected))
