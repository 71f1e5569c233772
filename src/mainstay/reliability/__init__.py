"""Reliability: would another study find these features, and how many of them are false?"""

from mainstay.reliability import bounds
from mainstay.reliability.error_rule import ErrorRule
from mainstay.reliability.evidence import feature_evidence
from mainstay.reliability.evidence_result import FeatureEvidence, GroupEvidence
from mainstay.reliability.replicability import replicability
from mainstay.reliability.result import Extrapolation, Replicability

__all__ = [
    "ErrorRule",
    "Extrapolation",
    "FeatureEvidence",
    "GroupEvidence",
    "Replicability",
    "bounds",
    "feature_evidence",
    "replicability",
]
