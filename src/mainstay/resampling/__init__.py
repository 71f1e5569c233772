"""Resamples of the rows of a data set: bootstrap, subsamples, folds, blocks, whole groups.

A resampling says which rows one resample holds, as indices (a row may come more than once). Each
resample is drawn from a seed of its own, so that any of them can be made again, anywhere, in any
order. `weights` counts how often each row comes: what rankers that take row weights read.
"""

from mainstay.resampling.pairs import Pairs
from mainstay.resampling.resamples import (
    RESAMPLINGS,
    Resamples,
    check_class_weights,
    check_groups,
    check_one_pass,
    make_resamples,
    takes_all_rows,
)
from mainstay.resampling.schemes import (
    Blocks,
    Bootstrap,
    Poisson,
    Resampling,
    Subsample,
    WholeData,
)

__all__ = [
    "RESAMPLINGS",
    "Blocks",
    "Bootstrap",
    "Pairs",
    "Poisson",
    "Resamples",
    "Resampling",
    "Subsample",
    "WholeData",
    "check_class_weights",
    "check_groups",
    "check_one_pass",
    "make_resamples",
    "takes_all_rows",
]
