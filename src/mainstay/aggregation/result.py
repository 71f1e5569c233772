"""What an aggregation gives: scores, put in order."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mainstay._saving import field_parts
from mainstay._validation import check_count, natural_order
from mainstay.aggregation.entry import Outcome
from mainstay.aggregation.scores import mean

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Ranking:
    """One ranking of all features, aggregated from many.

    Attributes
    ----------
    method : str
        The rule; "rank_mean" if "mean" was asked for runs that hold ranks.
    features : tuple of str
        The p names, in column order.
    scores : numpy.ndarray
        One per feature, larger = better. What they are is the rule's: see `aggregate`.
    ranks : numpy.ndarray
        One per feature, 1 = best, no ties.
    order : numpy.ndarray
        Column indices, best first.
    n_runs : int
        How many runs or lists were aggregated.
    p_values : numpy.ndarray or None
        RRA: exact p-values for independent random rankings, on the safe side where there are ties.
        None for other rules (Stuart's Q, exp(−score), is not uniform for random rankings), and for
        runs on resamples of the same rows. Computed when first read.
    p_values_note : str
        Why there are no p-values where the rule has some.
    """

    method: str
    features: tuple[str, ...]
    scores: np.ndarray
    ranks: np.ndarray
    order: np.ndarray
    n_runs: int
    _p_values: Callable[[], np.ndarray] | None = None
    p_values_note: str = ""

    def without_p_values(self, why: str) -> Ranking:
        """Leave p-values out because they would not hold; nothing changes if there are none."""
        if self._p_values is None:
            return self
        return replace(self, _p_values=None, p_values_note=why)

    def put_back(self, order: np.ndarray, features: tuple[str, ...]) -> Ranking:
        """The ranking of features whose columns had been put in an order; without p-values."""
        places = np.argsort(order)
        return replace(
            self,
            features=features,
            scores=self.scores[places],
            ranks=self.ranks[places],
            order=order[self.order],
            _p_values=None,
        )

    def _to_parts(self) -> dict[str, Any]:
        return {**field_parts(self), "_p_values": self.p_values}

    @classmethod
    def _from_parts(cls, parts: dict[str, Any]) -> Self:
        p_values = parts.pop("_p_values")
        if parts["method"] == "stuart":  # older versions called Q so
            p_values = None
        return cls(**parts, _p_values=None if p_values is None else lambda: p_values)

    @cached_property
    def p_values(self) -> np.ndarray | None:
        """p-values of the rules that have them."""
        return None if self._p_values is None else self._p_values()

    def best(self, k: int) -> tuple[str, ...]:
        """Names of the k best features, best first."""
        k = check_count("k", k, 1, len(self.features))
        return tuple(self.features[i] for i in self.order[:k])

    def top(self, k: int) -> tuple[str, ...]:
        """Deprecated name of `best`."""
        warnings.warn(
            "Ranking.top is now called best; the old name goes in mainstay 0.3.",
            FutureWarning,
            stacklevel=2,
        )
        return self.best(k)

    def to_frame(self) -> pd.DataFrame:
        """Return a table, best first: feature, rank, score and, where there are any, p_value."""
        import pandas as pd

        table = {
            "feature": list(self.features),
            "rank": self.ranks,
            "score": self.scores,
        }
        if self.p_values is not None:
            table["p_value"] = self.p_values
        return pd.DataFrame(table).iloc[self.order].reset_index(drop=True)

    def __repr__(self) -> str:
        best = ", ".join(f"{self.features[i]} ({self.scores[i]:.4g})" for i in self.order[:5])
        rest = f" and {len(self.features) - 5} more" if len(self.features) > 5 else ""
        runs = f"{self.n_runs} run{'s' * (self.n_runs != 1)}"
        return f"{self.method} of {runs}, best first: {best}{rest}"


def ranking(
    method: str,
    features: tuple[str, ...],
    outcome: Outcome,
    mentioned: np.ndarray,
    full: np.ndarray | None,
    weights: np.ndarray | None,
    n_runs: int,
) -> Ranking:
    """Put features in order: by score, tie-break, mean of `full` (scores or minus ranks), name.

    Without `full`, ties go by the name at once.

    Features that are not `mentioned` come last. Numbers that agree to 12 digits count as tied, so
    that rounding decides nothing.
    """
    by_name = np.empty(len(features), dtype=np.intp)
    by_name[natural_order(features)] = np.arange(len(features))
    keys = [by_name]
    score = rounded(outcome.scores)
    if full is not None and len(np.unique(score)) < len(score):
        keys.append(-rounded(mean(full, weights)))
    if outcome.tie_break is not None:
        keys.append(-rounded(outcome.tie_break))
    order = np.lexsort([*keys, -score, ~mentioned])
    ranks = np.empty(len(features), dtype=np.intp)
    ranks[order] = np.arange(1, len(features) + 1)
    scores = outcome.scores + 0.0  # no -0.0
    return Ranking(method, features, scores, ranks, order, n_runs, outcome.p_values)


def rounded(values: np.ndarray) -> np.ndarray:
    """Round to 40 bits, about 12 digits; infinities stay."""
    mantissa, exponent = np.frexp(values)
    return np.asarray(np.ldexp(np.rint(np.ldexp(mantissa, 40)), exponent - 40))
