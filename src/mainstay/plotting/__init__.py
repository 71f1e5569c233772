"""Displays: objects that hold what a picture shows, and draw it with matplotlib."""

from mainstay.plotting._axes import Display
from mainstay.plotting.comparison import ComparisonDisplay
from mainstay.plotting.evidence import EvidenceDisplay, NullDistributionDisplay
from mainstay.plotting.forecast import ForecastDisplay
from mainstay.plotting.frequency import SelectionFrequencyDisplay
from mainstay.plotting.heatmap import RunsHeatmapDisplay
from mainstay.plotting.network import ExchangeableNetworkDisplay
from mainstay.plotting.ranks import RankDistributionDisplay
from mainstay.plotting.replicability import ReplicabilityDisplay
from mainstay.plotting.similarity import RunSimilarityDisplay
from mainstay.plotting.sizes import StabilityBySizeDisplay

__all__ = [
    "ComparisonDisplay",
    "Display",
    "EvidenceDisplay",
    "ExchangeableNetworkDisplay",
    "ForecastDisplay",
    "NullDistributionDisplay",
    "RankDistributionDisplay",
    "ReplicabilityDisplay",
    "RunSimilarityDisplay",
    "RunsHeatmapDisplay",
    "SelectionFrequencyDisplay",
    "StabilityBySizeDisplay",
]
