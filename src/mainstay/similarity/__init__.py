"""FeatureSimilarity: which features can stand in for each other."""

from mainstay.similarity.similarity import FeatureSimilarity

__all__ = ["FeatureSimilarity"]
