"""The command `mainstay replicate`."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mainstay._terminal import echo, print_table
from mainstay.cli import options
from mainstay.cli.command import OutputFile, command
from mainstay.cli.options import DataSource, number_or_text, task_and_reason

if TYPE_CHECKING:
    import pandas as pd

    from mainstay.reliability import Replicability

_KINDS = ("ensembles", "single runs")  # folders of a checkpoint


# options read better as short paragraphs
# fmt: off
@command()
@options.data_source
@options.task
@options.rankers
@options.ranker_aggregation
@click.option("--n-features", default="0.1", show_default=True, metavar="20|0.1",
              help="How many features a study selects.")
@click.option("--ensemble-size", type=click.IntRange(min=2), default=20, show_default=True,
              help="Resamples in the ensembles that are compared with single runs.")
@click.option("-m", "--measure", default="nogueira", show_default=True, metavar="NAME",
              help="Measure of agreement.")
@click.option("--pairs", type=click.IntRange(min=5), default=50, show_default=True,
              help="How often the rows are cut into two halves.")
@click.option("--splits", type=click.IntRange(min=5), default=15, show_default=True,
              help="How often they are cut into parts that tell how unsure the estimate is.")
@options.output_plot(help="Draw agreement by number of rows (.png, .pdf, .svg or .jpg).")
@options.output_table
@click.option("--save", type=OutputFile(".zip"), metavar="ZIP",
              help="Write everything, to be opened with ms.load_result.")
@options.seed
@options.jobs
@options.checkpoint
@options.as_json
def replicate(
    source: DataSource,
    task: str,
    rankers: tuple[str, ...],
    ranker_aggregation: str,
    n_features: str,
    ensemble_size: int,
    measure: str,
    pairs: int,
    splits: int,
    plot: str | None,
    output: str | None,
    save: str | None,
    seed: int,
    jobs: int | None,
    checkpoint: str | None,
    as_json: bool,
) -> None:
    """Estimate how far two independent studies would agree on the features of FILE.

    The rows are cut into halves that share no row, and features are selected on both: once with
    single runs of the ranker, once with ensembles. Says whether the ensemble helps.
    """
    from mainstay._files import write_table
    from mainstay._validation import counted
    from mainstay.ensemble import EnsembleSelector

    _check_measure(measure)
    data = source.read()
    ranker = list(rankers) if len(rankers) > 1 else (rankers or ("information_gain",))[0]
    studies: dict[str, Any] = {
        "procedure": EnsembleSelector(ranker, ranker_aggregation=ranker_aggregation),
        "X": data.X, "y": data.y, "groups": data.groups,
        "task": task, "n_pairs": pairs, "n_splits": splits, "n_jobs": jobs,
        "measure": measure, "n_features_to_select": number_or_text(n_features),
    }
    result = _compared(studies, ensemble_size, seed, checkpoint)
    table = _side_by_side(result)
    if plot:
        result.plot().save(plot)
    if output:
        write_table(table, output)
    if save:
        result.save(save)
    if as_json:
        click.echo(json.dumps(_record(result, table)))
        return
    unit = "row" if data.groups is None else "group"
    echo(
        f"{source.describe(data, *task_and_reason(task, data.y))}; {pairs} pairs of halves that "
        f"share no {unit}, {counted(result.n_features_to_select, 'feature')} each; agreement: "
        f"{measure}.\n"
    )
    print_table(table)
    echo(f"\n{result.summary()}")
    for written in filter(None, (plot, output, save)):
        echo(f"Written: {written}")


# fmt: on
def _check_measure(measure: str) -> None:
    """Refuse what cannot be compared between ensembles, before the file is read."""
    from mainstay.measures import check_named

    kind = check_named(measure).kind
    if kind in ("scores", "importances"):
        raise click.UsageError(
            f"--measure {measure} compares {kind}, but ensembles end in rankings; ms.replicability "
            "in Python takes it for single runs."
        )


def _compared(
    studies: dict[str, Any], size: int, seed: int, checkpoint: str | None
) -> Replicability:
    """Estimate for ensembles and for single runs on the same rows; first say what that costs."""
    from mainstay.reliability import replicability
    from mainstay.reliability.cost import replicability_cost

    costs = [replicability_cost(**studies, ensemble_size=one) for one in (None, size)]
    count, seconds = costs[0].n_studies, sum(cost.seconds for cost in costs)
    echo(
        f"{count} studies with single runs and {count} with ensembles of {size}, "
        f"about {_duration(seconds)}.",
        err=True,
    )
    folders = [None if checkpoint is None else Path(checkpoint) / kind for kind in _KINDS]
    ensembles, single = (
        replicability(**studies, ensemble_size=one, random_state=seed, checkpoint=folder)
        for one, folder in zip((size, None), folders, strict=True)
    )
    return ensembles.compared_with(single)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _side_by_side(result: Replicability) -> pd.DataFrame:
    """One row per number of rows: single runs, ensembles, and whether it is extrapolated."""
    assert result.single is not None
    keys, values = ["n_rows", "kind"], {"agreement": "", "lower": "_lower", "upper": "_upper"}
    single, ensemble = (
        one.table.rename(columns={old: f"{name}{end}" for old, end in values.items()})
        for name, one in (("single", result.single), ("ensemble", result))
    )
    return single.merge(ensemble, on=keys)[
        ["n_rows", *(f"{name}{end}" for name in ("single", "ensemble") for end in values.values()),
         "kind"]
    ]  # fmt: skip


def _record(result: Replicability, table: pd.DataFrame) -> dict[str, Any]:
    """The estimates for JSON; what is undefined becomes null."""
    assert result.single is not None
    assert result.gain is not None
    return {
        "measure": result.measure,
        "n_features_to_select": result.n_features_to_select,
        "n_rows": result.n_rows,
        "single": _estimates(result.single),
        "ensemble": {"ensemble_size": result.ensemble_size, **_estimates(result)},
        "gain": asdict(result.gain) | {"verdict": result.gain.verdict},
        "table": json.loads(table.to_json(orient="records")),
        "summary": result.summary(),
    }


def _estimates(result: Replicability) -> dict[str, Any]:
    at_n = result.at_n
    numbers = {
        "value": result.value, "lower": result.interval[0], "upper": result.interval[1],
        "value_at_n": at_n.value, "lower_at_n": at_n.interval[0], "upper_at_n": at_n.interval[1],
    }  # fmt: skip
    return {name: number if math.isfinite(number) else None for name, number in numbers.items()}
