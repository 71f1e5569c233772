"""Gene regulatory networks: one regression per target gene; links come with frequencies."""

from __future__ import annotations

from mainstay.networks.expression import read_expression_file
from mainstay.networks.inference import METHODS, infer_network, link_average_precision
from mainstay.networks.stability import NetworkStability, network_stability

__all__ = [
    "METHODS",
    "NetworkStability",
    "infer_network",
    "link_average_precision",
    "network_stability",
    "read_expression_file",
]
