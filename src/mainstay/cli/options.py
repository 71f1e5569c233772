"""Options that several commands share, and how the texts of options are read."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mainstay.cli.command import InputFile, OutputFile, OutputFolder
from mainstay.cli.config import config

if TYPE_CHECKING:
    import numpy as np

    from mainstay.batches import RowBatches
    from mainstay.io.tables import LabelledTable

F = TypeVar("F", bound=Callable[..., Any])


class OutputTable(OutputFile):
    """A table to write, in any format that `write_table` knows."""

    def endings(self) -> tuple[str, ...]:
        """The endings of those formats."""
        from mainstay._files import WRITERS

        return tuple(WRITERS)


# options read better as short paragraphs
# fmt: off
input_file = click.argument("file", type=InputFile())  # "-" is standard input
output_table = click.option(
    "--output", type=OutputTable(), metavar="FILE",
    help="Write the whole table (.csv, .tsv, .parquet or .feather).")
output_plot = functools.partial(
    click.option, "--plot", type=OutputFile(".png", ".pdf", ".svg", ".jpg"), metavar="FILE")
output_runs = functools.partial(
    click.option, "--save-runs", type=OutputFile(".parquet", ".csv"), metavar="FILE")
rankers = click.option(
    "-r", "--ranker", "rankers", multiple=True, metavar="NAME",
    help="Ranker, such as f_statistic, information_gain, mrmr@40, l1_path@40, random_forest, "
         "boosting; an unknown name lists all. Repeat for several.  [default: information_gain]")
ranker_aggregation = click.option(
    "--ranker-aggregation", default="rank_mean", show_default=True, metavar="NAME",
    help="How the rankings of several rankers become one: rank_mean (or mean), rank_median (or "
         "median), rank_min, rank_geometric_mean, borda, rra or stuart.")
runs_kind = click.option(
    "--kind", type=click.Choice(["auto", "support", "ranks", "scores"]), default="auto",
    show_default=True, help="What the values in FILE are.")
runs_n_features = click.option(
    "--n-features", type=int, metavar="P",
    help="For run,feature pairs: number of features there were to choose from.")
task = click.option(
    "--task", type=click.Choice(["auto", "classification", "regression"]), default="auto",
    show_default=True, help="Whether the target holds classes or numbers; auto says why.")
threshold = click.option(
    "--threshold", type=float, default=0.9, show_default=True,
    help="Absolute correlation from which features count as exchangeable.")
top = click.option(
    "--top", type=click.IntRange(min=1), default=20, show_default=True,
    help="Rows of the table to print.")
seed = click.option(
    "--seed", type=int, default=0, show_default=True, help="Seed of all random numbers.")
checkpoint = click.option(
    "--checkpoint", type=OutputFolder(), metavar="DIR",
    help="Keep finished work in this folder; the same command goes on there after a kill.")
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
# fmt: on


@dataclass(frozen=True)
class DataSource:
    """A file of data, and what its columns are."""

    file: str
    target: str
    groups: str | None
    drop: tuple[str, ...]
    keep: tuple[str, ...]
    missing: tuple[str, ...] = ()
    decimal: str | None = None
    strata: str | None = None

    def read(self) -> LabelledTable:
        """Read the file."""
        from mainstay.io import read_data

        about = asdict(self)
        return read_data(about.pop("file"), **about)

    def open(self, memory: str | None) -> RowBatches:
        """Open the file or folder, to be read block by block."""
        from mainstay._validation import InputError
        from mainstay.io.streamed import open_data

        for option, column in (("--groups", self.groups), ("--strata", self.strata)):
            if column:
                raise InputError(
                    f"{option} cannot be used with rows that are read block by block (--memory, or "
                    f"a folder): {option[2:]} would have to be looked up among all rows."
                )
        return open_data(
            self.file, target=self.target, memory=memory, drop=self.drop, keep=self.keep
        )

    def describe(self, data: LabelledTable | RowBatches, task: str, reason: str) -> str:
        """Say in a few words what the data are, and why they are a task of this kind."""
        from mainstay._validation import counted

        if hasattr(data, "X"):
            n_rows, n_features = data.X.shape
        else:
            n_rows, n_features = data.n_rows, data.n_features
        kind = f"{task}: {reason}"
        size = f"{counted(n_rows, 'row')} × {counted(n_features, 'feature')}"
        return f"{size}, target {self.target!r} ({kind})"

    @property
    def given(self) -> dict[str, Any]:
        """The file, and the options that were given."""
        return {name: value for name, value in asdict(self).items() if value}

    def to_dict(self) -> dict[str, Any]:
        """Describe the source in a result: the file without its folder, options that were given."""
        plain = {name: list(v) if isinstance(v, tuple) else v for name, v in self.given.items()}
        return plain | {"file": Path(self.file).name}


def data_source(command: F) -> F:
    """Add FILE and the options that say what is in it; the command gets them as `source`."""

    @functools.wraps(command)
    def with_source(**options: Any) -> None:
        names = [field.name for field in fields(DataSource) if field.name in options]
        about = {name: options.pop(name) for name in names}
        command(source=DataSource(**about), **options)

    # fmt: off
    for add in reversed((
        input_file,
        click.option("--target", required=True, metavar="COLUMN", help="Column to be predicted."),
        click.option("--groups", metavar="COLUMN",
                     help="Column that tells which rows belong together."),
        click.option("--drop", multiple=True, metavar="COLUMN",
                     help="Column to leave out; repeatable."),
        click.option("--keep", multiple=True, metavar="COLUMN",
                     help="Column that is a feature although it looks like an identifier, a date "
                          "or faulty numbers; repeatable."),
        click.option("--missing", multiple=True, metavar="TEXT",
                     help="What else stands for a missing value, such as n.d. or -999; < for all "
                          "values like <0.1; repeatable."),
        click.option("--decimal", type=click.Choice([".", ","]),
                     help="The decimal mark, where a text file leaves it open."),
        config,
    )):
        with_source = add(with_source)
    # fmt: on
    return with_source  # type: ignore[return-value]


def cores_or_cluster(default: int) -> Callable[[F], F]:
    """Add --jobs and --scheduler; the command gets `jobs` and runs where these say."""

    def add_options(command: F) -> F:
        @functools.wraps(command)
        def where_asked(*, jobs: int, scheduler: str | None, **options: Any) -> None:
            if scheduler is None:
                command(jobs=jobs, **options)
                return
            source = click.get_current_context().get_parameter_source("jobs")
            if source is not click.core.ParameterSource.DEFAULT:
                raise click.UsageError("--jobs is for this machine: leave it out with --scheduler.")
            from mainstay._parallel import dask_scheduler

            with dask_scheduler(scheduler):
                command(jobs=None, **options)

        # fmt: off
        for add in (
            click.option("--scheduler", metavar="tcp://HOST:PORT",
                         help="Run on the workers of this Dask scheduler (needs mainstay[dask])."),
            click.option("--jobs", type=int, default=default, show_default=True,
                         help="Number of cores; -1 for all."),
        ):
            where_asked = add(where_asked)
        # fmt: on
        return where_asked  # type: ignore[return-value]

    return add_options


jobs = cores_or_cluster(default=1)


def task_and_reason(task: str, y: np.ndarray) -> tuple[str, str]:
    """The task that was asked for, or the one that y suggests; and why."""
    from mainstay.rankers.inputs import infer_task

    return infer_task(y) if task == "auto" else (task, "as asked for")


def number_or_text(text: str) -> int | float | str:
    """Read 20 as a number, 0.1 as a share, anything else as it is."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def whole_numbers(option: str, text: str) -> list[int]:
    """Read 1,5,10 as numbers."""
    numbers = numbers_or_shares(option, text, example="1,5,10")
    if not all(isinstance(number, int) for number in numbers):
        raise _not_numbers(option, text, "1,5,10")
    return [int(number) for number in numbers]


def numbers_or_shares(option: str, text: str, example: str = "5,10,0.1") -> list[int | float]:
    """Read 5,10,0.1 as two numbers and a share."""
    parts = [number_or_text(part.strip()) for part in text.split(",")]
    numbers = [number for number in parts if not isinstance(number, str)]
    if len(numbers) < len(parts):
        raise _not_numbers(option, text, example)
    return numbers


def _not_numbers(option: str, text: str, example: str) -> Exception:
    from mainstay._validation import InputError

    return InputError(f"{option} must be numbers such as {example}, got {text!r}.")
