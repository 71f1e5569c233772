"""The rules of aggregation: what each reads, and how its scores become a ranking."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mainstay._validation import InputError, check_choice
from mainstay.aggregation import order_statistics, ranks, scores
from mainstay.aggregation.result import Outcome, Ranking, ranking

if TYPE_CHECKING:
    import pandas as pd

Rule = Callable[..., "np.ndarray | Outcome"]


@dataclass(frozen=True)
class Aggregation:
    """What is known of a rule: one row of `list_aggregations()`.

    `kind` says what it reads: scores, ranks, places (credit for a place), selections, or order
    statistics (ranks divided by the number of features). `weights` says whether runs may have
    weights: "yes", "no", or "whole" (whole numbers only: a run repeated).
    """

    name: str
    kind: str
    function: Rule
    weights: str
    options: str
    reference: str


AGGREGATIONS: dict[str, Aggregation] = {
    row[0]: Aggregation(*row)
    for row in (
        ("mean", "scores", scores.mean, "yes", "", "Salman et al. 2022"),
        ("geometric_mean", "scores", scores.geometric_mean, "yes", "epsilon", "Salman et al. 2022"),
        ("l2_norm", "scores", scores.l2_norm, "yes", "", "Salman et al. 2022"),
        ("median", "scores", scores.median, "yes", "", "Lin 2010"),
        ("min", "scores", scores.smallest, "no", "", "Seijo-Pardo et al. 2017"),
        ("max", "scores", scores.largest, "no", "", "Seijo-Pardo et al. 2017"),
        ("rank_mean", "ranks", ranks.rank_mean, "yes", "", "Borda 1781; Saeys et al. 2008"),
        ("rank_median", "ranks", ranks.rank_median, "yes", "", "Lin 2010"),
        ("rank_min", "ranks", ranks.rank_min, "no", "", "Seijo-Pardo et al. 2017"),
        ("rank_geometric_mean", "ranks", ranks.rank_geometric_mean, "yes", "", "Lin 2010"),
        ("borda", "places", ranks.borda, "yes", "", "Borda 1781"),
        ("frequency", "selections", ranks.frequency, "yes", "", "Meinshausen and Bühlmann 2010"),
        ("vote", "selections", ranks.vote, "yes", "threshold", "Meinshausen and Bühlmann 2010"),
        ("rra", "order statistics", order_statistics.rra, "whole", "", "Kolde et al. 2012"),
        ("stuart", "order statistics", order_statistics.stuart, "whole", "", "Stuart et al. 2003"),
    )
}

# Rules that put features in the order of a mean, over the runs, of this function of what they read
ORDERED_BY_MEAN_OF: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "mean": np.asarray,
    "l2_norm": np.square,
    "rank_mean": np.negative,
    "rank_geometric_mean": lambda ranks: -np.log(ranks),
    "borda": np.asarray,
    "frequency": np.asarray,
}


def list_aggregations() -> pd.DataFrame:
    """List all rules of `aggregate`.

    Returns
    -------
    pandas.DataFrame
        One row per rule: `name`; `kind`, what it reads (scores, ranks, places, selections, order
        statistics); `weights` (yes, no, or whole numbers); its own `options`; the `reference`.

    Examples
    --------
    >>> from mainstay.aggregation import list_aggregations
    >>> table = list_aggregations()
    >>> table.loc[table["kind"] == "selections", "name"].tolist()
    ['frequency', 'vote']
    """
    import pandas as pd

    columns = ["name", "kind", "weights", "options", "reference"]
    return pd.DataFrame([[getattr(rule, c) for c in columns] for rule in AGGREGATIONS.values()],
                        columns=columns)  # fmt: skip


def find_rule(method: Any, holds: str, options: dict[str, Any], top: str) -> Aggregation:
    """Find the rule that fits what the runs hold."""
    if callable(method):
        name = getattr(method, "__name__", "callable")
        kind = "scores" if holds == "scores" and not top else "ranks"
        rule = Aggregation(name, kind, method, "no", "", "")
    else:
        rule = AGGREGATIONS[check_choice("aggregation", method, AGGREGATIONS)]
    for option in options:
        if option not in rule.options.split():
            takes = rule.options.replace(" ", ", ") or "none"
            raise InputError(f"{rule.name!r} has no option {option!r}; its options: {takes}.")
    if rule.kind != "scores":
        return rule
    by_rank = f"rank_{rule.name}" if f"rank_{rule.name}" in AGGREGATIONS else "rank_mean"
    if holds == "support":
        raise InputError(
            f"{rule.name!r} aggregates scores, but these runs hold selections; use 'frequency'."
        )
    if holds == "scores" and not top:
        return rule
    if holds == "ranks" and rule.name in ("mean", "median"):
        return AGGREGATIONS[by_rank]
    why = "uses all scores and has no top=" if holds == "scores" else "aggregates scores, not ranks"
    raise InputError(f"{rule.name!r} {why}; use {by_rank!r}.")


def _check_weights(rule: Aggregation, weights: Any, m: int) -> np.ndarray:
    try:
        given = np.asarray(weights, dtype=float)
    except (TypeError, ValueError):
        given = np.empty(0)
    if given.shape != (m,) or not (np.isfinite(given) & (given >= 0)).all() or not given.sum() > 0:
        raise InputError(
            f"weights must be {m} numbers from 0 up, one per run, not all 0; got {weights!r}."
        )
    if rule.weights == "no":
        able = ", ".join(name for name, row in AGGREGATIONS.items() if row.weights == "yes")
        raise InputError(f"{rule.name!r} has no weights; these have: {able}.")
    if rule.weights == "whole" and (given != np.floor(given)).any():
        raise InputError(
            f"{rule.name!r} counts lists and has no weights in the literature; whole numbers are "
            f"taken as repetitions, but got {weights!r}. For weights use 'rank_mean'."
        )
    return given


def combine(
    rule: Aggregation,
    matrix: np.ndarray,
    full: np.ndarray,
    features: tuple[str, ...],
    n_features: int,
    weights: Any,
    options: dict[str, Any],
    mentioned: np.ndarray | None = None,
) -> Ranking:
    """Apply the rule to what it reads, and put the features in order.

    `full` (scores or minus ranks) breaks ties. `n_features` is the last rank.
    """
    m, share = len(matrix), None
    if weights is not None:
        share = _check_weights(rule, weights, m)
        repeats = share.astype(int) if rule.weights == "whole" else (share > 0).astype(int)
        matrix, full = np.repeat(matrix, repeats, axis=0), np.repeat(full, repeats, axis=0)
        share = None if rule.weights == "whole" else share[share > 0] * m / share.sum()
    silent = np.isnan(matrix).all(axis=0)
    matrix = np.where(silent, 1.0 if rule.kind == "order statistics" else n_features, matrix)
    arguments = (matrix,) if share is None else (matrix, share)
    found = rule.function(*arguments, **options)
    outcome = found if isinstance(found, Outcome) else Outcome(_checked(rule, found, features))
    heard = ~silent if mentioned is None else ~silent & mentioned
    return ranking(rule.name, features, outcome, heard, full, share, m)


def _checked(rule: Aggregation, found: Any, features: tuple[str, ...]) -> np.ndarray:
    """Return what a rule computed as scores, or say what a user's function did wrong."""
    values = np.asarray(found, dtype=float)
    if values.shape != (len(features),):
        raise InputError(
            f"{rule.name!r} must return {len(features)} scores, one per feature, but returned "
            f"shape {values.shape}."
        )
    if np.isnan(values).any():
        worst = features[int(np.flatnonzero(np.isnan(values))[0])]
        raise InputError(f"{rule.name!r} returned NaN for feature {worst!r}.")
    return values
