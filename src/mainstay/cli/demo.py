"""The command `mainstay demo`."""

from __future__ import annotations

import click

from mainstay.cli import options
from mainstay.cli.command import OutputFolder, command


# fmt: off
@command()
@click.option("--output", "folder", type=OutputFolder(), default="mainstay-demo", show_default=True,
              metavar="FOLDER",
              help="Where the report and the pictures go.")
@click.option("--resamples", type=click.IntRange(min=3), default=100, show_default=True,
              help="Number of bootstrap samples.")
@options.seed
@options.cores_or_cluster(default=-1)
def demo(folder: str, resamples: int, seed: int, jobs: int | None) -> None:
    """Take the whole tour on data that ships with scikit-learn: about a minute on two cores.

    Select, measure, test, replicate, forecast, compare; ends with a verdict, a report and pictures.
    """
    from mainstay.demo import run_demo

    run_demo(folder, n_resamples=resamples, seed=seed, n_jobs=jobs)
