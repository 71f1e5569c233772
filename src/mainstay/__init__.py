"""mainstay: which features can you rely on?"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mainstay._validation import InputError
    from mainstay.aggregation import Ranking, aggregate, aggregate_lists, list_aggregations
    from mainstay.comparison import Comparison, compare_selectors
    from mainstay.comparison.cross_validation import SelectionScores, cross_validate_selection
    from mainstay.ensemble import EnsembleSelector, write_report
    from mainstay.ensemble.result import SelectionResult
    from mainstay.forecast.forecasting import forecast_stability
    from mainstay.forecast.planning import Plan
    from mainstay.forecast.result import Forecast
    from mainstay.io.archive import load_result
    from mainstay.measures import list_measures, stability
    from mainstay.measures.hypothesis_tests import (
        StabilityComparison,
        StabilityTest,
        compare_stability,
        stability_test,
    )
    from mainstay.measures.inference import StabilityEstimate
    from mainstay.networks.inference import infer_network
    from mainstay.networks.stability import NetworkStability, network_stability
    from mainstay.plotting import (
        ComparisonDisplay,
        EvidenceDisplay,
        ExchangeableNetworkDisplay,
        ForecastDisplay,
        NullDistributionDisplay,
        RankDistributionDisplay,
        ReplicabilityDisplay,
        RunsHeatmapDisplay,
        RunSimilarityDisplay,
        SelectionFrequencyDisplay,
        StabilityBySizeDisplay,
    )
    from mainstay.rankers import list_rankers
    from mainstay.reliability import (
        FeatureEvidence,
        Replicability,
        feature_evidence,
        replicability,
    )
    from mainstay.runs import Runs
    from mainstay.similarity import FeatureSimilarity
    from mainstay.subspace.fixed_size import (
        RandomSubspaceClassifierCV,
        RandomSubspaceRegressorCV,
    )
    from mainstay.subspace.parametric import (
        ParametricSubspaceClassifier,
        ParametricSubspaceRegressor,
    )

__version__ = "0.1.0"

# Public names load their module on first use, so that importing mainstay stays cheap.
_HOME = {
    "Comparison": "mainstay.comparison",
    "ComparisonDisplay": "mainstay.plotting",
    "EnsembleSelector": "mainstay.ensemble",
    "ExchangeableNetworkDisplay": "mainstay.plotting",
    "EvidenceDisplay": "mainstay.plotting",
    "FeatureEvidence": "mainstay.reliability",
    "FeatureSimilarity": "mainstay.similarity",
    "Forecast": "mainstay.forecast.result",
    "ForecastDisplay": "mainstay.plotting",
    "InputError": "mainstay._validation",
    "NetworkStability": "mainstay.networks.stability",
    "NullDistributionDisplay": "mainstay.plotting",
    "ParametricSubspaceClassifier": "mainstay.subspace.parametric",
    "ParametricSubspaceRegressor": "mainstay.subspace.parametric",
    "Plan": "mainstay.forecast.planning",
    "RandomSubspaceClassifierCV": "mainstay.subspace.fixed_size",
    "RandomSubspaceRegressorCV": "mainstay.subspace.fixed_size",
    "RankDistributionDisplay": "mainstay.plotting",
    "Ranking": "mainstay.aggregation",
    "Replicability": "mainstay.reliability",
    "ReplicabilityDisplay": "mainstay.plotting",
    "RunSimilarityDisplay": "mainstay.plotting",
    "Runs": "mainstay.runs",
    "RunsHeatmapDisplay": "mainstay.plotting",
    "SelectionFrequencyDisplay": "mainstay.plotting",
    "SelectionResult": "mainstay.ensemble.result",
    "SelectionScores": "mainstay.comparison.cross_validation",
    "StabilityBySizeDisplay": "mainstay.plotting",
    "StabilityComparison": "mainstay.measures.hypothesis_tests",
    "StabilityEstimate": "mainstay.measures.inference",
    "StabilityTest": "mainstay.measures.hypothesis_tests",
    "aggregate": "mainstay.aggregation",
    "aggregate_lists": "mainstay.aggregation",
    "compare_selectors": "mainstay.comparison",
    "compare_stability": "mainstay.measures.hypothesis_tests",
    "cross_validate_selection": "mainstay.comparison.cross_validation",
    "feature_evidence": "mainstay.reliability",
    "forecast_stability": "mainstay.forecast.forecasting",
    "infer_network": "mainstay.networks.inference",
    "list_aggregations": "mainstay.aggregation",
    "list_measures": "mainstay.measures",
    "list_rankers": "mainstay.rankers",
    "load_result": "mainstay.io.archive",
    "replicability": "mainstay.reliability",
    "network_stability": "mainstay.networks.stability",
    "stability": "mainstay.measures",
    "stability_test": "mainstay.measures.hypothesis_tests",
    "write_report": "mainstay.ensemble",
}

__all__ = [
    "Comparison",
    "ComparisonDisplay",
    "EnsembleSelector",
    "EvidenceDisplay",
    "ExchangeableNetworkDisplay",
    "FeatureEvidence",
    "FeatureSimilarity",
    "Forecast",
    "ForecastDisplay",
    "InputError",
    "NetworkStability",
    "NullDistributionDisplay",
    "ParametricSubspaceClassifier",
    "ParametricSubspaceRegressor",
    "Plan",
    "RandomSubspaceClassifierCV",
    "RandomSubspaceRegressorCV",
    "RankDistributionDisplay",
    "Ranking",
    "Replicability",
    "ReplicabilityDisplay",
    "RunSimilarityDisplay",
    "Runs",
    "RunsHeatmapDisplay",
    "SelectionFrequencyDisplay",
    "SelectionResult",
    "SelectionScores",
    "StabilityBySizeDisplay",
    "StabilityComparison",
    "StabilityEstimate",
    "StabilityTest",
    "__version__",
    "aggregate",
    "aggregate_lists",
    "compare_selectors",
    "compare_stability",
    "cross_validate_selection",
    "feature_evidence",
    "forecast_stability",
    "infer_network",
    "list_aggregations",
    "list_measures",
    "list_rankers",
    "load_result",
    "network_stability",
    "replicability",
    "stability",
    "stability_test",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'mainstay' has no attribute {name!r}; it has {__all__}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
