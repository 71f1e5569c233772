"""Comparison: which selector, which aggregation, how many features?"""

from mainstay.comparison.compare import compare_selectors
from mainstay.comparison.pareto import pareto_front
from mainstay.comparison.result import Comparison

__all__ = ["Comparison", "compare_selectors", "pareto_front"]
