"""Data: the simulated problems of Huynh-Thu and Geurts (2021), and loaders of the papers' data."""

from __future__ import annotations

from mainstay.datasets.loaders import (
    DREAM4,
    PMLB,
    LoadedData,
    NetworkData,
    load_dream4,
    load_openml,
    load_pmlb,
)
from mainstay.datasets.simulated import (
    SimulatedData,
    add_permuted_features,
    make_checkerboard,
    make_friedman_correlated,
    make_hypercube,
    make_linear,
)

__all__ = [
    "DREAM4",
    "PMLB",
    "LoadedData",
    "NetworkData",
    "SimulatedData",
    "add_permuted_features",
    "load_dream4",
    "load_openml",
    "load_pmlb",
    "make_checkerboard",
    "make_friedman_correlated",
    "make_hypercube",
    "make_linear",
]
