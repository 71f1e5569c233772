"""Runs: what a feature selector returned, run by run. Everything else in mainstay reads them."""

from mainstay.runs.ranks import average_ranks, break_ties, content_keys
from mainstay.runs.runs import Kind, Runs

__all__ = ["Kind", "Runs", "average_ranks", "break_ties", "content_keys"]
