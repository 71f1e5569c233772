"""Tables, runs and results from files."""

from mainstay._files import read_table
from mainstay.io.archive import load_result
from mainstay.io.tables import read_data
from mainstay.runs import Runs

read_runs = Runs.load

__all__ = ["load_result", "read_data", "read_runs", "read_table"]
