"""Reliability: would another study find these features?"""

from mainstay.reliability.replicability import replicability
from mainstay.reliability.result import Extrapolation, Replicability

__all__ = ["Extrapolation", "Replicability", "replicability"]
