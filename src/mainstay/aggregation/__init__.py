"""Aggregation: many runs in, one ranking out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mainstay._validation import InputError, check_choice, check_count, run_label
from mainstay.aggregation import ranks
from mainstay.aggregation.entry import Aggregation, Outcome
from mainstay.aggregation.lists import aggregate_lists
from mainstay.aggregation.result import Ranking
from mainstay.aggregation.rules import AGGREGATIONS, combine, find_rule, list_aggregations
from mainstay.runs import Runs

__all__ = [
    "AGGREGATIONS",
    "Aggregation",
    "Outcome",
    "Ranking",
    "aggregate",
    "aggregate_lists",
    "list_aggregations",
    "read_for",
]

_NOT_INDEPENDENT = (
    "p-values of RRA are for independent lists; these runs saw resamples of the same rows"
)


def aggregate(
    runs: Runs,
    method: str | Callable[[np.ndarray], Any] = "mean",
    *,
    weights: Any = None,
    top: int | None = None,
    missing: str = "last",
    **options: Any,
) -> Ranking:
    """Combine the runs of a feature selector into one ranking.

    Parameters
    ----------
    runs : Runs
        Scores, rankings or selections. Tied features have the mean of their ranks ("rra" and
        "stuart": the last of them). A selection of k features is a ranking with two ties: its
        features share the places 1 to k.
    method : str or callable
        A name from `list_aggregations()`; larger scores are better for all of them:

        - of scores: "mean", "median", "min", "max", and of scores from 0 up "geometric_mean" and
          "l2_norm". For runs of ranks "mean" and "median" are "rank_mean" and "rank_median".
        - of ranks, as minus the aggregated rank: "rank_mean", "rank_median", "rank_min",
          "rank_geometric_mean".
        - "borda": the sum of credits, `top` (or p) for the first place, one less for every next.
        - "frequency": share of runs with the feature among the `top` best (or selected); "vote":
          the same where it reaches `threshold` (0.5), otherwise 0.
        - "rra": −log ρ of robust rank aggregation; "stuart": −log Q of Stuart's statistic. See
          `mainstay.aggregation.order_statistics`. Q is a score, not a p-value.

        A callable gets the m × p scores (or, if the runs hold none or `top` is given, ranks) and
        returns p scores.
    weights : m numbers, optional
        A weight for every run. "rra" and "stuart" count runs, so they take whole numbers only (a
        run of weight 2 counts as two lists, as if these were independent).
    top : int, optional
        Read only the `top` best of every ranking. Score rules use all scores and refuse it.
    missing : {"last", "drop"}
        What it means that a feature is not among the `top` best of a run: the last rank, p; or no
        opinion, so that the run is left out for this feature and ranks are relative to the length
        of the list. With "drop", one good place in one run beats many good ones. "borda",
        "frequency" and "vote" count presence, so that absence is always 0.
    **options
        Options of the rule: `epsilon` (geometric_mean), `threshold` (vote).

    Returns
    -------
    Ranking
        Scores, ranks, order and, for "rra" of lists that may be independent, p-values.

    Notes
    -----
    Ties in the result (scores equal to 12 digits) go to the larger mean score, or the smaller mean
    rank if the runs hold no scores, then to the name that comes first in natural order (x2 before
    x10). So neither the order of the runs nor that of the columns matters. Features on which no
    run has an opinion (`missing="drop"`) come last.

    For "rra" and "stuart" features that a run leaves tied, such as the zeros of a tree, all have
    the last of their ranks: all that the run says of them is that they are among so many best,
    which chance does with that probability. A selected feature has the normalised rank k/p and any
    other 1, so that ρ of selections is the tail of a binomial distribution, and "rra" a test of
    the selection frequency.

    The p-values of "rra" are for lists that really are independent: of several laboratories, say,
    or data sets. Runs on resamples of one data set share their rows and their noise, which would
    make the p-values of pure noise tiny; of such runs (`Runs.resampled`) there are none, and
    `Ranking.p_values_note` says why.

    References
    ----------
    Salman, Alzaatreh, Sulieman (2022), The stability of different aggregation techniques in
    ensemble feature selection, Journal of Big Data 9:51.

    Examples
    --------
    >>> import mainstay as ms
    >>> from mainstay.aggregation import aggregate
    >>> runs = ms.Runs.from_scores([[0.9, 0.5, 0.1], [0.6, 0.7, 0.2]], features=["a", "b", "c"])
    >>> aggregate(runs)
    mean of 2 runs, best first: a (0.75), b (0.6), c (0.15)
    >>> aggregate(runs, "rank_mean").best(2)
    ('a', 'b')
    >>> aggregate(runs, "frequency", top=1).scores
    array([0.5, 0.5, 0. ])
    >>> aggregate(runs, "rra").p_values.round(3)
    array([0.614, 0.614, 1.   ])
    """
    if not isinstance(runs, Runs):
        raise InputError(
            f"runs must be a mainstay.Runs, got {type(runs).__name__}; make one with "
            "Runs.from_scores, from_ranks, from_sets or from_support, or use aggregate_lists for "
            "lists of names."
        )
    check_choice("missing", missing, ("last", "drop"))
    if top is not None:
        top = check_count("top", top, 1, runs.n_features)
        if runs.kind == "support":
            raise InputError("top= takes the best of a ranking, but these runs hold selections.")
    rule = find_rule(method, runs.kind, options, top=top is not None)
    matrix = read_for(rule, runs, top, missing)
    full = runs.scores if runs.kind == "scores" else -_ranks_of(runs)
    found = combine(rule, matrix, full, runs.features, runs.n_features, weights, options)
    return found.without_p_values(_NOT_INDEPENDENT) if runs.resampled else found


# ---------------------------------------------------------------------- reading runs


def _ranks_of(runs: Runs) -> np.ndarray:
    """Ranks; of selections the mean of the places that the selected, and the others, share."""
    if runs.kind != "support":
        return runs.ranks
    k, p = runs.sizes[:, None], runs.n_features
    return np.where(runs.support, (k + 1) / 2, (k + 1 + p) / 2)


def read_for(
    rule: Aggregation, runs: Runs, top: int | None = None, missing: str = "last"
) -> np.ndarray:
    """Return the m × p matrix that a rule of this kind reads."""
    p = runs.n_features
    if rule.kind == "scores":
        _refuse_below(rule, runs)
        return runs.scores
    if runs.kind == "support":
        if missing == "drop":
            raise InputError(
                "missing='drop' would leave nothing to compare: selections say only which features "
                "are in. Use missing='last'."
            )
        if rule.kind == "selections":
            return runs.support.astype(float)
        if rule.kind == "order statistics":
            return np.where(runs.support, runs.sizes[:, None] / p, 1.0)
    given = _ranks_of(runs)
    if rule.kind == "selections":
        if top is None:
            raise InputError(
                f"{rule.name!r} counts how often a feature is selected, but these runs hold "
                f"{runs.kind}; give top=20 to count the 20 best of every run."
            )
        return ranks.in_top(given, top)
    if rule.kind == "places":
        return ranks.top_credit(given, p if top is None else top)
    if rule.kind == "order statistics":
        given = ranks.last_ranks(given)
        if top is not None and missing == "last":
            return np.where(given <= top, given / p, 1.0)
    if top is not None:
        given = ranks.top_ranks(given, top, missing)
    return given / p if rule.kind == "order statistics" else given


def _refuse_below(rule: Aggregation, runs: Runs) -> None:
    too_low = np.argwhere(runs.scores < rule.lowest)
    if too_low.size:
        run, column = too_low[0]
        raise InputError(
            f"{rule.name!r} needs scores of at least {rule.lowest:g}, but {run_label(run)}, "
            f"feature {runs.features[column]!r} is {runs.scores[run, column]:g} ({len(too_low)} "
            "such value(s) in all). Use 'mean', 'median' or a rule of ranks such as 'rank_mean', "
            "or shift the scores."
        )
