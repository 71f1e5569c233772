"""The command `mainstay compare`."""

from __future__ import annotations

import json
from textwrap import indent
from typing import TYPE_CHECKING

import click

from mainstay._terminal import echo, print_table
from mainstay.cli import options
from mainstay.cli.command import command
from mainstay.cli.options import DataSource, number_or_text, numbers_or_shares

if TYPE_CHECKING:
    from mainstay.comparison import Comparison

# of the overview: what a narrow terminal shows first
_COLUMNS = ("candidate", "recommended", "on_front", "features", "score", "±", "stability")


# options read better as short paragraphs
# fmt: off
@command()
@options.data_source
@options.task
@click.option("-r", "--ranker", "rankers", multiple=True, metavar="NAME",
              help="Ranker to compare; repeat for several.  [default: F-statistic, information "
                   "gain, mRMR, extremely randomised trees, a linear model]")
@click.option("--aggregation", "aggregations", multiple=True, metavar="NAME",
              help="How runs on resamples become one ranking; repeat for several. none is the "
                   "ranker without resampling.  [default: mean and none]")
@click.option("--sizes", metavar="5,10,0.1",
              help="Numbers or shares of features.  [default: 2,5,10,20,50,100, up to half]")
@click.option("--resamples", default="20", show_default=True, metavar="20|auto",
              help="Number of resamples of every ensemble.")
@click.option("--cv", default="half", show_default=True, metavar="half|FOLDS",
              help="The split that all share: 10 pairs of disjoint halves, or a number of "
                   "folds.")
@click.option("--scoring", metavar="NAME",
              help="Any score of scikit-learn, such as roc_auc.  [default: accuracy, or R²]")
@click.option("--priority", "priorities", multiple=True, metavar="score|stability|size",
              help="What counts first for the recommendation; give all three, in order.  "
                   "[default: score, stability, size]")
@click.option("--search", type=click.Choice(["optuna"]),
              help="Search instead of trying everything; needs the extra mainstay[optuna].")
@click.option("--trials", type=click.IntRange(min=1), default=100, show_default=True,
              help="With --search: how many candidates to try.")
@options.threshold
@options.output_table
@options.output_plot(help="Draw score by stability (.png, .pdf, .svg or .jpg).")
@options.seed
@options.jobs
@options.checkpoint
@options.as_json
def compare(
    source: DataSource,
    task: str,
    rankers: tuple[str, ...],
    aggregations: tuple[str, ...],
    sizes: str | None,
    resamples: str,
    cv: str,
    scoring: str | None,
    priorities: tuple[str, ...],
    search: str | None,
    trials: int,
    threshold: float,
    output: str | None,
    plot: str | None,
    seed: int,
    jobs: int | None,
    checkpoint: str | None,
    as_json: bool,
) -> None:
    """Compare ways to select the features of FILE: accuracy, stability, number of features.

    Prints what no other candidate beats in all three (the front; of up to ten candidates, all), the
    baselines (all features, no features, an F-test, random selection), and which candidate to take
    and why.
    """
    from mainstay._files import write_table
    from mainstay.comparison import compare_selectors

    feature_counts = None if sizes is None else numbers_or_shares("--sizes", sizes)
    data = source.read()
    comparison = compare_selectors(
        list(rankers) or None,
        data.X,
        data.y,
        aggregations=list(aggregations) or None,
        sizes=feature_counts,
        n_resamples=number_or_text(resamples),  # type: ignore[arg-type]
        task=task,
        scoring=scoring,
        cv=number_or_text(cv),
        groups=data.groups,
        similarity_threshold=threshold,
        priorities=priorities or ("score", "stability", "size"),
        search=search,
        n_trials=trials,
        random_state=seed,
        n_jobs=jobs,
        checkpoint=checkpoint,
    )
    if output:
        write_table(comparison.table, output)
    if plot:
        comparison.plot().save(plot)
    if as_json:
        _print_json(comparison)
        return
    settings = comparison.settings
    echo(
        f"{source.describe(data, settings['task'], settings['task_reason'])}; "
        f"{comparison.counted}; {settings['n_splits']} splits; score: "
        f"{settings['scoring']}, stability: {settings['stability']}.\n"
    )
    print_table(comparison.overview(), _COLUMNS)
    echo(f"\n{comparison.reason}\n\nTo select with it on all rows:")
    echo(f"\n{indent(_how_to_repeat(comparison, source), '  ')}")
    if plot:
        echo(f"The picture is in {plot}.")


# fmt: on
def _how_to_repeat(comparison: Comparison, source: DataSource) -> str:
    """The command that selects with what is recommended, and the Python code."""
    line, code = comparison.command(**source.given), comparison.python_code()
    return code if line is None else f"{line}\n\n{code}"


def _print_json(comparison: Comparison) -> None:
    record = {
        "recommended": comparison.recommended,
        "reason": comparison.reason,
        "candidates": json.loads(comparison.table.to_json(orient="records")),
        "tests": json.loads(comparison.tests.to_json(orient="records")),
        "settings": comparison.settings,
    }
    click.echo(json.dumps(record))
