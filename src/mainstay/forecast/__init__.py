"""Forecasts: from a few runs to the stability of an ensemble that has not been run."""

from mainstay.forecast.calibration import InfeasibleError, estimate_n_useful, solve_p
from mainstay.forecast.forecasting import forecast_stability
from mainstay.forecast.planning import Plan
from mainstay.forecast.result import Forecast
from mainstay.forecast.simulator import SimulatedSelector
from mainstay.forecast.threshold import MaximumCount, t_uniform
from mainstay.forecast.uniform import UniformSelector
from mainstay.forecast.verification import (
    FixedPoint,
    compatible_pairs,
    fixed_point,
    verify_n_useful,
)

__all__ = [
    "FixedPoint",
    "Forecast",
    "InfeasibleError",
    "MaximumCount",
    "Plan",
    "SimulatedSelector",
    "UniformSelector",
    "compatible_pairs",
    "estimate_n_useful",
    "fixed_point",
    "forecast_stability",
    "solve_p",
    "t_uniform",
    "verify_n_useful",
]
