"""The command `mainstay stability`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from mainstay._terminal import describe, echo, print_estimates, print_measures, to_records
from mainstay.cli import options
from mainstay.cli.command import InputFile, command

if TYPE_CHECKING:
    import pandas as pd

    from mainstay.runs import Runs
    from mainstay.similarity import FeatureSimilarity


# options read better as short paragraphs
# fmt: off
@command()
@options.input_file
@click.option("-m", "--measure", "measures", multiple=True, metavar="NAME",
              help="Measure to compute; repeat for several. NAME@20 takes the 20 best features "
                   "of rankings.  [default: a few that fit the file]")
@click.option("--similarity", "similarity_file", type=InputFile(), metavar="DATA",
              help="Data table (samples × features) from which to see which features are similar.")
@click.option("--target", "targets", multiple=True, metavar="COLUMN",
              help="Column of DATA that is not a feature; repeat for several.")
@options.threshold
@click.option("--method", type=click.Choice(["pearson", "spearman"]), default="pearson",
              show_default=True, help="Correlation for --similarity.")
@options.runs_kind
@options.runs_n_features
@click.option("--correction", type=click.Choice(["auto", "none", "exact", "estimate"]),
              default="auto", show_default=True, help="Correction for chance.")
@click.option("--confidence", type=float, default=0.95, show_default=True,
              help="Level of the intervals.")
@click.option("--undefined", default="warn", show_default=True, metavar="warn|error|NUMBER",
              help="What to do with undefined (0/0) scores.")
@options.seed
@click.option("--list", "list_only", is_flag=True, is_eager=True, expose_value=False,
              callback=lambda ctx, param, value: print_measures(ctx, value),
              help="List all measures with their properties, and exit.")
@options.as_json
def stability(
    file: str,
    measures: tuple[str, ...],
    similarity_file: str | None,
    targets: tuple[str, ...],
    threshold: float,
    method: str,
    kind: str,
    n_features: int | None,
    correction: str,
    confidence: float,
    undefined: str,
    seed: int,
    as_json: bool,
) -> None:
    """Measure how stable the feature selections in FILE are.

    FILE is .csv, .tsv or .parquet: one row per run with a 0/1 column (or a rank, or a score) per
    feature, or two columns named run and feature. Options of a single measure, such as penalty= of
    davis or bound= of the sma measures, are given in Python: ms.stability(runs, "sma_count",
    bound="arithmetic", ...).
    """
    from mainstay import io
    from mainstay._validation import InputError
    from mainstay.measures import stability as measure_stability

    if targets and similarity_file is None:
        raise InputError("--target names columns of the data of --similarity; give both.")
    data = None if similarity_file is None else _read_features(similarity_file, targets)
    names = None if data is None else list(data.columns)
    runs = io.read_runs(file, kind=kind, n_features=n_features, features=names)
    similarity = None if data is None else _similarity(data, runs, threshold, method)
    estimates = [
        measure_stability(
            runs,
            name,
            similarity=similarity if _is_adjusted(name, similarity) else None,
            correction=correction,
            undefined=_number_or_word(undefined),  # type: ignore[arg-type]
            confidence=confidence,
            random_state=seed,
        )
        for name in measures or _default_measures(runs, similarity)
    ]
    if as_json:
        click.echo(json.dumps({"runs": describe(runs), "measures": to_records(estimates)}))
        return
    echo(repr(runs))
    if similarity is not None:
        echo(repr(similarity))
    print_estimates(estimates)


# fmt: on
def _read_features(file: str, targets: tuple[str, ...]) -> pd.DataFrame:
    """Read a data table and leave out the columns that are not features."""
    from mainstay import io
    from mainstay._validation import check_choice

    data = io.read_table(file)
    for target in targets:
        check_choice(f"column of {file}", target, data.columns)
    return data.drop(columns=list(targets))


def _similarity(data: pd.DataFrame, runs: Runs, threshold: float, method: str) -> FeatureSimilarity:
    """Compare the runs' features; other columns of the data are ignored."""
    from mainstay._validation import InputError, some
    from mainstay.similarity import FeatureSimilarity

    known = set(data.columns)
    missing = [name for name in runs.features if name not in known]
    if missing:
        raise InputError(
            f"{len(missing)} of the {runs.n_features} features are not columns of the data: "
            f"{some(missing)}; its columns are {some(list(data.columns))}."
        )
    return FeatureSimilarity.from_data(data[list(runs.features)], method, threshold)


def _is_adjusted(measure: str, similarity: FeatureSimilarity | None) -> bool:
    """Tell whether a measure counts similar features as exchangeable."""
    from mainstay._validation import InputError
    from mainstay.measures import MEASURES

    entry = MEASURES.get(measure.partition("@")[0])
    adjusted = entry is not None and entry.adjusted
    if entry is not None and entry.needs_similarity and similarity is None:
        raise InputError(
            f"{measure!r} counts similar features as exchangeable; give --similarity DATA."
        )
    return adjusted


def _default_measures(runs: Runs, similarity: FeatureSimilarity | None) -> list[str]:
    if runs.kind == "support":
        return ["nogueira", "jaccard", "kappa"] + (["sma_count", "yu"] if similarity else [])
    k = max(1, min(20, runs.n_features // 5))
    names = ["spearman", "kendall", "canberra", "rbo", f"nogueira@{k}", f"jaccard@{k}"]
    return names + ([f"sma_count@{k}"] if similarity else [])


def _number_or_word(text: str) -> float | str:
    try:
        return text if text == "nan" else float(text)
    except ValueError:
        return text
