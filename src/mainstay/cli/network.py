"""The command `mainstay network`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from mainstay._terminal import clear_errors, print_estimates, print_table, to_records

if TYPE_CHECKING:
    import pandas as pd


# options read better as short paragraphs
# fmt: off
@click.command()
@click.argument("file", type=click.Path())
@click.option("--regulators", "regulators_file", type=click.Path(), metavar="TXT",
              help="File with the names of the genes that may regulate, one per line. "
                   "Default: all genes.")
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
@click.option("--output", type=click.Path(), metavar="FILE",
              help="Write all links (.csv, .tsv or .parquet).")
@click.option("--save-runs", type=click.Path(), metavar="FILE",
              help="With --resamples: write the runs over links (.parquet).")
@click.option("--top", type=click.IntRange(min=1), default=20, show_default=True,
              help="Links to print.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed.")
@click.option("--jobs", type=int, default=1, show_default=True, help="Number of cores.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@clear_errors
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
    jobs: int,
    as_json: bool,
) -> None:
    """Infer who regulates whom from the expression of genes in FILE.

    FILE is .csv, .tsv, .parquet or .h5ad: samples × genes (or the other way round, with --genes
    rows); a first column of text holds names.
    """  # fmt: skip
    from mainstay._validation import InputError, check_choice

    if output is not None:
        check_choice("file ending", _ending(output), (".csv", ".tsv", ".parquet"))
    if resamples == 0 and (save_runs or n_links):
        raise InputError("--save-runs and --links are about resamples; give --resamples too.")
    table = _expression(file, genes, drop, drop_constant)
    regulators = None if regulators_file is None else _names(regulators_file)
    options: dict[str, Any] = {
        "method": method,
        "base": base,
        "expected_regulators": expected_regulators,
        "regularization": _auto_or_number(regularization),
        "n_estimators": estimators,
        "random_state": seed,
        "n_jobs": jobs,
    }
    if restarts is not None:
        options["n_restarts"] = restarts
    about: dict[str, Any] = {"samples": table.shape[0], "genes": table.shape[1], "method": method}
    head = f"{table.shape[0]} samples × {table.shape[1]} genes, {method}"
    if not resamples:
        from mainstay.networks import infer_network

        links = infer_network(table, regulators, **options)
        _write(links, output)
        if as_json:
            click.echo(json.dumps(about | {"links": _records(links.head(top))}))
            return
        click.echo(f"{head}; {len(links)} pairs.\n")
        print_table(links.head(top))
        return
    from mainstay.networks import network_stability

    found = network_stability(
        table, regulators, n_resamples=resamples, n_links=n_links, **options
    )
    _write(found.links, output)
    if save_runs:
        found.runs.save(save_runs)
    if as_json:
        about |= {"resamples": resamples, "n_links": found.n_links}
        about |= {"links": _records(found.links.head(top))}
        click.echo(json.dumps(about | {"stability": to_records([found.stability])}))
        return
    click.echo(f"{head}; {resamples} subsamples, the best {found.n_links} links of each.\n")
    print_table(found.links.head(top))
    click.echo("\nHow reproducible are the links of a single run?")
    print_estimates([found.stability])


# fmt: on
def _expression(file: str, genes: str, drop: tuple[str, ...], drop_constant: bool) -> pd.DataFrame:
    from mainstay._validation import check_choice
    from mainstay.networks import read_expression_file

    table: pd.DataFrame = read_expression_file(file, genes=genes)  # type: ignore[arg-type]
    for name in drop:
        check_choice(f"column of {file}", name, list(table.columns))
    table = table.drop(columns=list(drop))
    if drop_constant:
        constant = table.columns[table.nunique() < 2]
        click.echo(f"{len(constant)} constant genes left out.", err=True)
        table = table.drop(columns=constant)
    return table


def _names(file: str) -> list[str]:
    """Read names, one per line; empty lines and repetitions do not count."""
    from pathlib import Path

    from mainstay._validation import InputError

    if not Path(file).is_file():
        raise InputError(f"there is no file {file!r}.")
    lines = Path(file).read_text(encoding="utf-8-sig").splitlines()
    return list(dict.fromkeys(line.strip() for line in lines if line.strip()))


def _auto_or_number(text: str) -> float | str:
    from mainstay._validation import InputError

    try:
        return text if text == "auto" else float(text)
    except ValueError:
        raise InputError(f"--regularization must be auto or a number, got {text!r}.") from None


def _write(links: pd.DataFrame, output: str | None) -> None:
    if output is None:
        return
    if _ending(output) == ".parquet":
        links.to_parquet(output, index=False)
    else:
        links.to_csv(output, index=False, sep="\t" if _ending(output) == ".tsv" else ",")


def _ending(path: str) -> str:
    from pathlib import Path

    return Path(path).suffix


def _records(links: pd.DataFrame) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = json.loads(links.to_json(orient="records"))
    return records
