"""The program `mainstay`."""

from mainstay.cli.main import main

__all__ = ["main"]
