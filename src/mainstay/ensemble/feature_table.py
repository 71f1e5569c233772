"""The feature table: everything that the runs say of each feature, best first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mainstay._files import write_table
from mainstay._validation import InputError
from mainstay.aggregation import Ranking
from mainstay.measures.inference import frequency_interval
from mainstay.procedure import ranks_of
from mainstay.runs import Runs
from mainstay.similarity import FeatureSimilarity

if TYPE_CHECKING:
    import pandas as pd

COLUMNS: dict[str, str] = {
    "feature": "Name of the feature.",
    "rank": "Place in the combined ranking; 1 is the best.",
    "selected": "Whether the feature is in the final list.",
    "score": "Score of the aggregation (of several rankers: of ranker_aggregation), by which the "
    "features are ranked. Larger is better. "
    "Scores of two aggregations cannot be compared.",
    "mean_rank": "Mean of the feature's ranks in the runs; 1 is the best.",
    "sd_rank": "Standard deviation of the feature's ranks between the runs. Small: the runs place "
    "the feature alike.",
    "frequency": "Share of the runs that selected the feature.",
    "frequency_lower": "Lower end of the 95% interval of the frequency: what a finite number of "
    "runs on these rows leaves open. It says nothing about another study.",
    "frequency_upper": "Upper end of the 95% interval of the frequency.",
    "q_value": "Smallest false discovery rate at which the feature can be named, from permuted "
    "targets. Empty where no evidence was computed.",
    "group": "The feature's twins: features so similar to it that they can stand in for it, the "
    "most similar first. Empty for a feature without twins.",
    "group_frequency": "Share of the runs that selected the feature or one of its twins.",
    "group_q_value": "Smallest false discovery rate at which the feature's group of twins can be "
    "named as a whole. Empty where no evidence was computed.",
}
"""What each column of the feature table means; shown in the documentation and in reports."""


def feature_table(
    ranking: Ranking,
    runs: Runs,
    chosen: Runs,
    similarity: FeatureSimilarity | None,
    selected: np.ndarray,
    evidence: Any = None,
) -> pd.DataFrame:
    """Everything known of each feature, best first; the same columns whatever was computed.

    `evidence` has `q_values` and `group_q_values`, in the order of the runs' features. Without it
    these columns are NaN: how often runs on the same rows choose a feature cannot tell whether it
    is there by luck. `frequency_lower` and `frequency_upper` are no answer to that either, see
    `frequency_interval`.
    """
    import pandas as pd

    ranks = ranks_of(runs)
    low, high = frequency_interval(chosen)
    unknown = np.full(runs.n_features, np.nan)
    groups, group_frequency = [""] * runs.n_features, unknown
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
            "q_value": unknown if evidence is None else evidence.q_values,
            "group": groups,
            "group_frequency": group_frequency,
            "group_q_value": unknown if evidence is None else evidence.group_q_values,
        }
    )
    return table.sort_values("rank").reset_index(drop=True)


def write_feature_table(table: pd.DataFrame, path: str | Path) -> Path:
    """Write a feature table, and beside it what its columns mean; return the path of the latter.

    The companion of features.csv is features.columns.csv, with the columns `column` and `meaning`.
    """
    import pandas as pd

    path = Path(path)
    write_table(table, path)
    companion = path.with_suffix(".columns.csv")
    meanings = {name: COLUMNS[name] for name in table.columns if name in COLUMNS}
    meaning = pd.DataFrame({"column": list(meanings), "meaning": list(meanings.values())})
    write_table(meaning, companion)
    return companion


def with_evidence(table: pd.DataFrame, evidence: Any) -> pd.DataFrame:
    """Fill in the q-values of a table, by the names of the features."""
    if evidence is None:
        return table
    if set(table["feature"]) != set(evidence.features):
        raise InputError(
            "the evidence is about other features than the result; compute both on the same data."
        )
    place = {name: j for j, name in enumerate(evidence.features)}
    at = [place[name] for name in table["feature"]]
    return table.assign(q_value=evidence.q_values[at], group_q_value=evidence.group_q_values[at])


def with_todays_columns(table: pd.DataFrame) -> pd.DataFrame:
    """Bring the table of a result that an older version saved to the columns of `feature_table`.

    Its p-values took resamples of one data set for independent lists. They were tiny even for
    noise, and are left out.
    """
    if "q_value" in table:
        return table
    columns = list(table.columns.drop("p_value", errors="ignore"))
    columns.insert(columns.index("group"), "q_value")
    return table.reindex(columns=[*columns, "group_q_value"])
