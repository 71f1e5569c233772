"""The command `mainstay network`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mainstay._terminal import echo, print_estimates, print_table, to_records
from mainstay.cli import options
from mainstay.cli.command import InputFile, command

if TYPE_CHECKING:
    import pandas as pd

    from mainstay.networks.stability import NetworkStability


# options read better as short paragraphs
# fmt: off
@command()
@options.input_file
@click.option("--regulators", "regulators_file", type=InputFile(), metavar="TXT",
              help="File with the names of the genes that may regulate, one per line.  "
                   "[default: all genes]")
@click.option("--genes", type=click.Choice(["columns", "rows"]), default="columns",
              show_default=True, help="Where the genes are in FILE.")
@click.option("--drop", multiple=True, metavar="NAME", help="Column to leave out; repeatable.")
@click.option("--drop-constant", is_flag=True,
              help="Leave out genes with the same expression in every sample.")
@click.option("--method", default="parametric_subspace", show_default=True, metavar="NAME",
              help="parametric_subspace, forest, extra_trees, boosting or eda.")
@click.option("--base", default="knn", show_default=True, metavar="knn|svm|tree",
              help="Models of parametric_subspace and eda.")
@click.option("--expected-regulators", type=float, default=0.5, show_default=True,
              help="Regulators that a gene has on average, for parametric_subspace.")
@click.option("--regularization", default="auto", show_default=True, metavar="auto|NUMBER",
              help="Penalty of parametric_subspace; auto follows from --expected-regulators.")
@click.option("--estimators", type=int, metavar="N",
              help="Trees or models per gene.  [default: the method's]")
@click.option("--restarts", type=int, metavar="N",
              help="Runs of parametric_subspace and eda to average.  [default: 4; 1 per resample]")
@click.option("--resamples", type=int, default=0, show_default=True, metavar="N",
              help="Infer on N subsamples of the samples and say how often each link comes back.")
@click.option("--links", "n_links", type=int, metavar="K",
              help="With --resamples: how many of the best links count as found.  "
                   "[default: the number of genes]")
@options.output_table
@options.output_runs(help="With --resamples: write the runs over links (.parquet or .csv).")
@options.top
@options.seed
@options.jobs
@options.checkpoint
@options.as_json
def network(
    file: str,
    regulators_file: str | None,
    genes: str,
    drop: tuple[str, ...],
    drop_constant: bool,
    method: str,
    base: str,
    expected_regulators: float,
    regularization: str,
    estimators: int | None,
    restarts: int | None,
    resamples: int,
    n_links: int | None,
    output: str | None,
    save_runs: str | None,
    top: int,
    seed: int,
    jobs: int | None,
    checkpoint: str | None,
    as_json: bool,
) -> None:
    """Infer who regulates whom from the expression of genes in FILE.

    FILE is .csv, .tsv, .parquet or .h5ad: samples × genes (or the other way round, with --genes
    rows); a first column of text holds names.
    """
    from mainstay._files import write_table
    from mainstay._validation import InputError

    if resamples == 0 and (save_runs or n_links):
        raise InputError("--save-runs and --links are about resamples; give --resamples too.")
    table = _expression(file, genes, drop, drop_constant)
    regulators = None if regulators_file is None else _names(regulators_file)
    settings: dict[str, Any] = {
        "method": method,
        "base": base,
        "expected_regulators": expected_regulators,
        "regularization": _auto_or_number(regularization),
        "n_estimators": estimators,
        "random_state": seed,
        "n_jobs": jobs,
        "checkpoint": checkpoint,
    }
    if restarts is not None:
        settings["n_restarts"] = restarts
    links, stability = _infer(table, regulators, resamples, n_links, settings)
    if output:
        write_table(links, output)
    if save_runs and stability:
        stability.runs.save(save_runs)
    if as_json:
        _print_json(table, method, links.head(top), resamples, stability)
    else:
        _print(table, method, links, top, resamples, stability)


# fmt: on
def _infer(
    table: pd.DataFrame,
    regulators: list[str] | None,
    resamples: int,
    n_links: int | None,
    settings: dict[str, Any],
) -> tuple[pd.DataFrame, NetworkStability | None]:
    from mainstay.networks import infer_network, network_stability

    if not resamples:
        return infer_network(table, regulators, **settings), None
    stability = network_stability(
        table, regulators, n_resamples=resamples, n_links=n_links, **settings
    )
    return stability.links, stability


def _print_json(
    table: pd.DataFrame,
    method: str,
    links: pd.DataFrame,
    resamples: int,
    stability: NetworkStability | None,
) -> None:
    record: dict[str, Any] = {"samples": len(table), "genes": table.shape[1], "method": method}
    if stability:
        record |= {"resamples": resamples, "n_links": stability.n_links}
    record["links"] = json.loads(links.to_json(orient="records"))
    if stability:
        record["stability"] = to_records([stability.stability])
    click.echo(json.dumps(record))


def _print(
    table: pd.DataFrame,
    method: str,
    links: pd.DataFrame,
    top: int,
    resamples: int,
    stability: NetworkStability | None,
) -> None:
    extent = (
        f"{resamples} subsamples, the best {stability.n_links} links of each"
        if stability
        else f"{len(links)} pairs"
    )
    echo(f"{len(table)} samples × {table.shape[1]} genes, {method}; {extent}.\n")
    print_table(links.head(top))
    if stability:
        echo("\nHow reproducible are the links of a single run?")
        print_estimates([stability.stability])


def _expression(file: str, genes: str, drop: tuple[str, ...], drop_constant: bool) -> pd.DataFrame:
    from mainstay._validation import check_choice
    from mainstay.networks import read_expression_file

    table: pd.DataFrame = read_expression_file(file, genes=genes)  # type: ignore[arg-type]
    for name in drop:
        check_choice(f"column of {file}", name, list(table.columns))
    table = table.drop(columns=list(drop))
    if drop_constant:
        constant = table.columns[table.nunique() < 2]
        echo(f"{len(constant)} constant genes left out.", err=True)
        table = table.drop(columns=constant)
    return table


def _names(file: str) -> list[str]:
    """Read names, one per line; empty lines and repetitions do not count."""
    from mainstay._validation import InputError

    if not Path(file).is_file():
        raise InputError(f"there is no file {file!r}.")
    try:
        lines = Path(file).read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not a text file of names: {error}.") from error
    return list(dict.fromkeys(line.strip() for line in lines if line.strip()))


def _auto_or_number(text: str) -> float | str:
    from mainstay._validation import InputError

    try:
        return text if text == "auto" else float(text)
    except ValueError:
        raise InputError(f"--regularization must be auto or a number, got {text!r}.") from None
