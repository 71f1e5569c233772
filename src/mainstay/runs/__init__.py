"""Runs: what a feature selector returned, run by run. Everything else in mainstay reads them."""

from mainstay.runs.grouping import best_in_groups, group_columns, numbered_by_first
from mainstay.runs.ranks import average_ranks, break_ties, content_keys
from mainstay.runs.runs import Kind, Runs

__all__ = [
    "Kind",
    "Runs",
    "average_ranks",
    "best_in_groups",
    "break_ties",
    "content_keys",
    "group_columns",
    "numbered_by_first",
]
