"""The feature table: everything that the runs say of each feature, best first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mainstay.aggregation import Ranking
from mainstay.aggregation.order_statistics import rra_bonferroni, rra_log_rho, rra_p_value
from mainstay.measures.inference import wilson_interval
from mainstay.procedure import ranks_of
from mainstay.runs import Runs
from mainstay.similarity import FeatureSimilarity

if TYPE_CHECKING:
    import pandas as pd


def feature_table(
    ranking: Ranking,
    runs: Runs,
    chosen: Runs,
    similarity: FeatureSimilarity | None,
    selected: np.ndarray,
) -> pd.DataFrame:
    """Everything known of each feature, best first; the same columns whatever was computed."""
    import pandas as pd

    ranks = ranks_of(runs)
    low, high = wilson_interval(chosen.counts, chosen.n_runs)
    groups, group_frequency = [""] * runs.n_features, np.full(runs.n_features, np.nan)
    if similarity is not None:
        similarity = similarity.aligned_to(runs.features)
        groups, group_frequency = similarity.twin_names(), similarity.group_frequency(chosen)
    table = pd.DataFrame(
        {
            "feature": runs.features,
            "rank": ranking.ranks.astype(int),
            "selected": selected,
            "score": ranking.scores,
            "mean_rank": ranks.mean(axis=0),
            "sd_rank": ranks.std(axis=0, ddof=1) if runs.n_runs > 1 else np.nan,
            "frequency": chosen.counts / chosen.n_runs,
            "frequency_lower": low,
            "frequency_upper": high,
            "p_value": _rra_p_values(ranks),
            "group": groups,
            "group_frequency": group_frequency,
        }
    )
    return table.sort_values("rank").reset_index(drop=True)


def _rra_p_values(ranks: np.ndarray) -> np.ndarray:
    """RRA p-values: exact for up to 200 runs, then their (close) upper bound, which is fast.

    Features that a run cannot tell apart all get the last of their ranks. With average ranks the
    many zeros of a tree would land in the middle, always, and that would look far from random.
    """
    from scipy.stats import rankdata

    m, p = ranks.shape
    log_rho = rra_log_rho(rankdata(ranks, method="max", axis=1) / p)
    return rra_p_value(log_rho, m) if m <= 200 else rra_bonferroni(log_rho, m)
