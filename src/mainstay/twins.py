"""Twins: features that can stand in for each other; of all, or where there are many, of some."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from mainstay.data import Data, StreamedData
from mainstay.procedure import ranks_of, selections
from mainstay.runs import Runs
from mainstay.similarity import FeatureSimilarity

ALL_PAIRS_UP_TO = 50_000  # features; above, no more pairs are compared than these have


class Choice(NamedTuple):
    """How often every feature was selected, its place among all (smaller = better), and by whom."""

    counts: np.ndarray
    places: np.ndarray
    by: str = "any run"


def choice_of(runs: Sequence[Runs], k: int, by: str = "any run") -> Choice:
    """What runs of several kinds select, each its k best, and the mean of their ranks."""
    counts = sum(selections(some, k, 0).counts for some in runs)
    places = np.mean([ranks_of(some).mean(axis=0) for some in runs], axis=0)
    return Choice(np.asarray(counts), places, by)


def find_twins(
    data: Data | StreamedData, threshold: float, chosen: Callable[[], Choice]
) -> FeatureSimilarity | None:
    """Find the features that can stand in for each other, in time that is bounded.

    All pairs of up to 50,000 features are compared. Of more features, those that were selected most
    often, then those that are ranked best, are compared with all others: as many of them as make no
    more pairs than 50,000 features have. As long as all that any run selected are among them, this
    changes neither the frequencies of groups nor the agreement of runs, which only read pairs of
    which some run selected one. What is subtracted from the agreement as chance is a little
    smaller, because random selections may hit twins that were not looked for; and features that
    are not among them count as groups of their own. Rows that are streamed are compared in all
    pairs.

    Parameters
    ----------
    data : Data or StreamedData
        The features.
    threshold : float
        Absolute correlation from which features are twins.
    chosen : callable
        Gives the `Choice`; called only if there are too many features.
    """
    p = data.n_features
    if p <= ALL_PAIRS_UP_TO or isinstance(data, StreamedData):
        return data.similarity(threshold)
    counts, places, by = chosen()
    room = max(1, ALL_PAIRS_UP_TO**2 // (2 * p))
    first = np.lexsort((places, -counts))[:room]
    left_out = int((counts > 0).sum()) - int((counts[first] > 0).sum())
    selected = f"all that {by} selected" if left_out == 0 else "those selected most often"
    cost = f"; {left_out:,} that were selected more rarely are not among them" if left_out else ""
    warnings.warn(
        f"{p:,} features are too many to compare each with every other (more than "
        f"{ALL_PAIRS_UP_TO:,}): twins are looked for of {room:,} features only, {selected} and the "
        f"next best{cost}. FeatureSimilarity.from_data compares all pairs; "
        "similarity_threshold=None looks for no twins.",
        stacklevel=4,
    )
    return data.similarity(threshold, [data.features[j] for j in first])
