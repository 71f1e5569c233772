"""The rules of aggregation: finding one, and making a ranking of what it computes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mainstay._validation import InputError, check_choice, check_options
from mainstay.aggregation import order_statistics, ranks, scores
from mainstay.aggregation.entry import Aggregation, Outcome
from mainstay.aggregation.result import Ranking, ranking

if TYPE_CHECKING:
    import pandas as pd

AGGREGATIONS: dict[str, Aggregation] = {
    rule.name: rule for family in (scores, ranks, order_statistics) for rule in family.ENTRIES
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
    rows = [[getattr(rule, column) for column in columns] for rule in AGGREGATIONS.values()]
    table = pd.DataFrame(rows, columns=columns)
    return table.assign(options=table["options"].map(" ".join))


def find_rule(
    method: Any, holds: str, options: dict[str, Any] | None = None, *, top: bool = False
) -> Aggregation:
    """Find the rule for runs that hold scores, ranks or support; `top`: only their best count."""
    if callable(method):
        name = getattr(method, "__name__", "callable")
        reads_scores = holds == "scores" and not top
        rule = Aggregation(name, "scores" if reads_scores else "ranks", method, "", weights="no")
    else:
        rule = AGGREGATIONS[check_choice("aggregation", method, AGGREGATIONS)]
    check_options(rule.name, options or {}, rule.options)
    if rule.kind != "scores" or (holds == "scores" and not top):
        return rule
    if holds == "support":
        raise InputError(
            f"{rule.name!r} aggregates scores, but these runs hold selections; use 'frequency'."
        )
    if holds == "ranks" and rule.on_ranks is not None:
        return AGGREGATIONS[rule.on_ranks]
    by_rank = f"rank_{rule.name}" if f"rank_{rule.name}" in AGGREGATIONS else "rank_mean"
    why = "uses all scores and has no top=" if holds == "scores" else "aggregates scores, not ranks"
    raise InputError(f"{rule.name!r} {why}; use {by_rank!r}.")


def rules_of_ranks(*, weighted: bool = False) -> list[str]:
    """Names of the rules that combine whole rankings, all or those that take weights."""
    return [
        name
        for name, rule in AGGREGATIONS.items()
        if rule.kind in ("ranks", "places", "order statistics") or rule.on_ranks is not None
        if rule.weights == "yes" or not weighted
    ]


def check_rule_of_ranks(what: str, method: Any) -> Aggregation:
    """Find a rule that combines whole rankings, one per ranker; if it does not, list those."""
    if callable(method):
        return find_rule(method, "ranks")
    valid = rules_of_ranks()
    if isinstance(method, str) and method in AGGREGATIONS and method not in valid:
        raise InputError(
            f"{what}={method!r} reads {AGGREGATIONS[method].kind}, but of each ranker only the "
            f"ranks are combined. Use one of: {', '.join(valid)}."
        )
    return find_rule(check_choice(what, method, valid), "ranks")


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
        weighted = ", ".join(name for name, row in AGGREGATIONS.items() if row.weights == "yes")
        raise InputError(f"{rule.name!r} does not take weights; these do: {weighted}.")
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
    no_opinion = np.isnan(matrix).all(axis=0)
    if no_opinion.any():
        worst = 1.0 if rule.kind == "order statistics" else n_features
        matrix = np.where(no_opinion, worst, matrix)
    computed = rule.function(*((matrix,) if share is None else (matrix, share)), **options)
    if not isinstance(computed, Outcome):
        computed = Outcome(_checked(rule, computed, features))
    ranked = ~no_opinion if mentioned is None else ~no_opinion & mentioned
    tie_break = None if rule.name == "mean" and matrix is full else full  # they are these means
    return ranking(rule.name, features, computed, ranked, tie_break, share, m)


def _checked(rule: Aggregation, computed: Any, features: tuple[str, ...]) -> np.ndarray:
    """Return what a rule computed as scores, or say what a user's function did wrong."""
    values = np.asarray(computed, dtype=float)
    if values.shape != (len(features),):
        raise InputError(
            f"{rule.name!r} must return {len(features)} scores, one per feature, but returned "
            f"shape {values.shape}."
        )
    if np.isnan(values).any():
        worst = features[int(np.flatnonzero(np.isnan(values))[0])]
        raise InputError(f"{rule.name!r} returned NaN for feature {worst!r}.")
    return values
