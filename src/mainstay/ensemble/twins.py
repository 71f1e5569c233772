"""Twins of the features of an ensemble: of all, or of those that matter where there are many."""

from __future__ import annotations

import warnings

import numpy as np

from mainstay.aggregation import Ranking
from mainstay.data import Data, StreamedData
from mainstay.runs import Runs
from mainstay.similarity import FeatureSimilarity

ALL_PAIRS_UP_TO = 50_000  # features; above, no more pairs are compared than these have


def find_twins(
    data: Data | StreamedData, threshold: float, chosen: Runs, ranking: Ranking
) -> FeatureSimilarity | None:
    """Find the features that can stand in for each other, in time that is bounded.

    All pairs of up to 50,000 features are compared. Of more features, those that the runs selected
    most often, then those that are ranked best, are compared with all others: as many of them as
    make no more pairs than 50,000 features have. As long as all that any run selected are among
    them, this changes neither the frequencies of groups nor the agreement of runs, which only read
    pairs of which some run selected one. What is subtracted from the agreement as chance is a
    little smaller, because random selections may hit twins that were not looked for. Rows that are
    streamed are compared in all pairs.
    """
    p = data.n_features
    if p <= ALL_PAIRS_UP_TO or isinstance(data, StreamedData):
        return data.similarity(threshold)
    room = max(1, ALL_PAIRS_UP_TO**2 // (2 * p))
    place = np.empty(p, dtype=np.intp)
    place[ranking.order] = np.arange(p)
    first = np.lexsort((place, -chosen.counts))[:room]
    left_out = int((chosen.counts > 0).sum()) - int((chosen.counts[first] > 0).sum())
    selected = "all that any run selected" if left_out == 0 else "those selected most often"
    cost = f"; {left_out:,} that were selected more rarely are not among them" if left_out else ""
    warnings.warn(
        f"{p:,} features are too many to compare each with every other (more than "
        f"{ALL_PAIRS_UP_TO:,}): twins are looked for of {room:,} features only, {selected} and the "
        f"next best{cost}. FeatureSimilarity.from_data compares all pairs; "
        "similarity_threshold=None looks for no twins.",
        stacklevel=4,
    )
    return data.similarity(threshold, [data.features[j] for j in first])
