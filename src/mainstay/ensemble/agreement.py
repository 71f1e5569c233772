"""How far the runs of an ensemble agree, plain and with similar features counted as one."""

from __future__ import annotations

import math

from mainstay.measures import stability
from mainstay.measures.inference import StabilityEstimate
from mainstay.runs import Runs
from mainstay.similarity import FeatureSimilarity


def agreement_of(
    selections: Runs, similarity: FeatureSimilarity | None, seed: int
) -> tuple[StabilityEstimate, StabilityEstimate | None]:
    """`nogueira` of the runs' selections, and `sma_count` where twins are known."""
    if selections.n_runs == 1:
        return _no_estimate(selections), None
    plain = stability(selections, undefined="nan")
    if similarity is None:
        return plain, None
    adjusted = stability(
        selections, "sma_count", similarity=similarity, undefined="nan", random_state=seed
    )
    return plain, adjusted


def _no_estimate(runs: Runs) -> StabilityEstimate:
    """What stands for the stability of one run, which has nothing to agree with."""
    nan = math.nan
    shape = (runs.n_runs, runs.n_features)
    return StabilityEstimate(
        "nogueira", nan, nan, (nan, nan), 0.95, "by definition", *shape, "none"
    )
