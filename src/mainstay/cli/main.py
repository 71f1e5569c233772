"""The group of all commands."""

from __future__ import annotations

import click

from mainstay.cli.aggregate import aggregate
from mainstay.cli.command import EXIT_CODES, Program
from mainstay.cli.compare import compare
from mainstay.cli.demo import demo
from mainstay.cli.forecast import forecast
from mainstay.cli.network import network
from mainstay.cli.replicate import replicate
from mainstay.cli.report import report
from mainstay.cli.select import select
from mainstay.cli.stability import stability

COMPLETION = """
\b
Completion of commands and options, for this shell (or its start-up file):
  bash  eval "$(_MAINSTAY_COMPLETE=bash_source mainstay)"
  zsh   eval "$(_MAINSTAY_COMPLETE=zsh_source mainstay)"
  fish  _MAINSTAY_COMPLETE=fish_source mainstay | source
"""


@click.group(
    cls=Program,
    epilog=EXIT_CODES + COMPLETION,
    context_settings={"help_option_names": ["-h", "--help"]},
    commands=[stability, aggregate, select, forecast, compare, replicate, network, report, demo],
)
@click.version_option(package_name="mainstay")
def main() -> None:
    """Which features can you rely on?"""
