"""Reliability: would another study find these features, and how many of them are false?"""

from mainstay.reliability import bounds
from mainstay.reliability.replicability import replicability
from mainstay.reliability.result import Extrapolation, Replicability

__all__ = ["Extrapolation", "Replicability", "bounds", "replicability"]
