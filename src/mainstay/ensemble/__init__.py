"""EnsembleSelector: select on many resamples, and say how far to trust the result."""

from mainstay.ensemble.result import SelectionResult, write_report
from mainstay.ensemble.selector import EnsembleSelector

__all__ = ["EnsembleSelector", "SelectionResult", "write_report"]
