"""The program `mainstay`: one file per command.

Heavy imports stay inside the commands, so that `mainstay --help` starts at once.
"""

from mainstay.cli.main import main

__all__ = ["main"]
