"""The command `mainstay forecast`."""

from __future__ import annotations

import json
from math import isnan
from typing import TYPE_CHECKING

import click

from mainstay._terminal import echo, print_table
from mainstay.cli import options
from mainstay.cli.command import command
from mainstay.cli.options import DataSource, number_or_text, task_and_reason, whole_numbers

if TYPE_CHECKING:
    import pandas as pd

    from mainstay.forecast import Forecast
    from mainstay.forecast.planning import Plan

_SIZES = "1,2,5,10,20,50,100"


# options read better as short paragraphs
# fmt: off
@command()
@options.data_source
@options.task
@click.option("--protocol", type=click.Choice(["nested", "flat", "overlapping"]), required=True,
              help="nested: would another study (half of the samples) find the same features? "
                   "flat: would these samples give the same list again? overlapping: the "
                   "experiment of Onda et al., on halves that share rows.")
@click.option("-r", "--ranker", default="information_gain", show_default=True, metavar="NAME",
              help="What would be run on every resample.")
@click.option("--n-features", default="0.1", show_default=True, metavar="20|0.1",
              help="How many features an ensemble selects.")
@click.option("--ensemble-sizes", metavar="M,M,…",
              help=f"Ensemble sizes to forecast.  [default: {_SIZES}]")
@click.option("--sizes", "deprecated_sizes", hidden=True)
@click.option("--target-stability", type=float, metavar="S",
              help="Stability wanted; the smallest ensemble that reaches it is searched for.")
@click.option("--runs", "n_runs", type=int, default=100, show_default=True,
              help="How many times the ranker is actually run.")
@click.option("--precision", type=float, metavar="W",
              help="Add runs until every interval is at most ± W.")
@click.option("-m", "--measure", default="jaccard", show_default=True, metavar="NAME",
              help="Measure of stability.")
@click.option("--aggregation", default="mean", show_default=True, metavar="NAME",
              help="How the runs become one ranking.")
@click.option("--resampling", default="bootstrap", show_default=True, metavar="NAME",
              help="bootstrap, subsample, half, …")
@click.option("--method", type=click.Choice(["resampling", "simulator"]), default="resampling",
              show_default=True, help="Draw from the observed runs, or Onda et al.'s simulator.")
@click.option("--compare", is_flag=True, help="Show both methods side by side.")
@options.output_plot(help="Draw the curve (.png, .pdf, .svg or .jpg).")
@options.output_table
@options.seed
@options.jobs
@options.checkpoint
@options.as_json
def forecast(
    source: DataSource,
    task: str,
    protocol: str,
    ranker: str,
    n_features: str,
    ensemble_sizes: str | None,
    deprecated_sizes: str | None,
    target_stability: float | None,
    n_runs: int,
    precision: float | None,
    measure: str,
    aggregation: str,
    resampling: str,
    method: str,
    compare: bool,
    plot: str | None,
    output: str | None,
    seed: int,
    jobs: int | None,
    checkpoint: str | None,
    as_json: bool,
) -> None:
    """Forecast how stable an ensemble would be, and how large it is worth making it."""
    from mainstay._files import write_table
    from mainstay.forecast import forecast_stability

    sizes = _ensemble_sizes(ensemble_sizes, deprecated_sizes)
    data = source.read()
    result = forecast_stability(
        ranker,
        data.X,
        data.y,
        protocol=protocol,
        task=task,
        n_features_to_select=number_or_text(n_features),  # type: ignore[arg-type]
        ensemble_sizes=sizes,
        n_runs=n_runs,
        precision=precision,
        measure=measure,
        aggregation=aggregation,
        resampling=resampling,
        method=method,
        groups=data.groups,
        random_state=seed,
        n_jobs=jobs,
        checkpoint=checkpoint,
    )
    table = result.compare() if compare else result.curve
    plan = result.plan(target_stability)
    if plot:
        result.plot(target=target_stability).save(plot)
    if output:
        write_table(table, output)
    if as_json:
        _print_json(result, table, plan)
        return
    echo(
        f"{source.describe(data, *task_and_reason(task, data.y))}; "
        f"{result.n_runs} runs of {ranker}, {protocol} protocol.\n"
    )
    print_table(table)
    picture = f"\nThe curve is drawn in {plot}." if plot else ""
    echo(f"\n{result.summary()}\n{plan}{picture}")


# fmt: on
def _ensemble_sizes(sizes: str | None, deprecated_sizes: str | None) -> list[int]:
    """Read the sizes; --sizes was their name before it came to mean numbers of features."""
    if deprecated_sizes is None:
        return whole_numbers("--ensemble-sizes", _SIZES if sizes is None else sizes)
    if sizes is not None:
        raise click.UsageError("--sizes is the old name of --ensemble-sizes; give only one.")
    echo("Warning: --sizes is deprecated here; it is now --ensemble-sizes.", err=True)
    return whole_numbers("--sizes", deprecated_sizes)


def _print_json(result: Forecast, table: pd.DataFrame, plan: Plan) -> None:
    record = {
        "curve": json.loads(table.to_json(orient="records")),
        "plan": json.loads(plan.to_frame().to_json(orient="records"))[0],
        "n_useful": result.n_useful,
        "p": result.p,
        "infeasible": result.infeasible,
        "n_runs": result.n_runs,
        "seconds_per_run": None if isnan(result.seconds_per_run) else result.seconds_per_run,
    }
    click.echo(json.dumps(record))
