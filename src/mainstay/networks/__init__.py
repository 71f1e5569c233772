"""Gene regulatory networks: one regression per target gene; links come with frequencies."""

from __future__ import annotations

import warnings
from typing import Any

from mainstay.networks.expression import read_expression_file
from mainstay.networks.inference import NETWORK_METHODS, infer_network, link_average_precision
from mainstay.networks.stability import NetworkStability, network_stability

__all__ = [
    "NETWORK_METHODS",
    "NetworkStability",
    "infer_network",
    "link_average_precision",
    "network_stability",
    "read_expression_file",
]


def __getattr__(name: str) -> Any:
    if name == "METHODS":
        message = (
            "mainstay.networks.METHODS is now called NETWORK_METHODS; METHODS will be removed."
        )
        warnings.warn(message, FutureWarning, stacklevel=2)
        return NETWORK_METHODS
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
