"""The command line.

Heavy imports stay inside the commands, so that `mainstay --help` starts at once.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from mainstay._terminal import (
    clear_errors,
    describe,
    list_measures,
    print_estimates,
    print_table,
    to_records,
)
from mainstay.cli.compare import compare
from mainstay.cli.network import network
from mainstay.cli.options import number_or_text, whole_numbers
from mainstay.cli.report import report, write_selection

if TYPE_CHECKING:
    import pandas as pd

    from mainstay.runs import Runs
    from mainstay.similarity import FeatureSimilarity


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="mainstay")
def main() -> None:
    """Which features can you rely on?"""


# options read better as short paragraphs
# fmt: off
@main.command()
@click.argument("file", type=click.Path())
@click.option("-m", "--measure", "measures", multiple=True, metavar="NAME",
              help="Measure to compute; repeat for several. NAME@20 takes the 20 best features "
                   "of rankings. Default: a few that fit the file.")
@click.option("--similarity", "similarity_file", type=click.Path(), metavar="DATA",
              help="Data table (samples × features) from which to see which features are similar.")
@click.option("--target", "targets", multiple=True, metavar="COLUMN",
              help="Column of DATA that is not a feature; repeat for several.")
@click.option("--threshold", type=float, default=0.9, show_default=True,
              help="Absolute correlation from which features count as exchangeable.")
@click.option("--method", type=click.Choice(["pearson", "spearman"]), default="pearson",
              show_default=True, help="Correlation for --similarity.")
@click.option("--kind", type=click.Choice(["auto", "support", "ranks", "scores"]),
              default="auto", show_default=True, help="What the values in FILE are.")
@click.option("--n-features", type=int, metavar="P",
              help="For run,feature pairs: number of features there were to choose from.")
@click.option("--correction", type=click.Choice(["auto", "none", "exact", "estimate"]),
              default="auto", show_default=True, help="Correction for chance.")
@click.option("--confidence", type=float, default=0.95, show_default=True,
              help="Level of the intervals.")
@click.option("--undefined", default="warn", show_default=True, metavar="warn|error|NUMBER",
              help="What to do with undefined (0/0) scores.")
@click.option("--seed", type=int, default=0, show_default=True,
              help="Seed of simulations and random ties.")
@click.option("--list", "list_only", is_flag=True, is_eager=True, expose_value=False,
              callback=lambda ctx, param, value: list_measures(ctx, value),
              help="List all measures with their properties, and exit.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@clear_errors
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
    feature, or two columns named run and feature.
    """  # fmt: skip
    from mainstay import io
    from mainstay._validation import InputError
    from mainstay.measures import MEASURES
    from mainstay.measures import stability as measure_stability

    if targets and similarity_file is None:
        raise InputError("--target names columns of the data of --similarity; give both.")
    data = None if similarity_file is None else _read_data(similarity_file, targets)
    runs = io.read_runs(
        file,
        kind=kind,  # type: ignore[arg-type]
        n_features=n_features,
        features=None if data is None else list(data.columns),
    )
    similarity = None if data is None else _similarity(data, runs, threshold, method)
    estimates = []
    for name in measures or _default_measures(runs, similarity):
        info = MEASURES.get(name.partition("@")[0])
        adjusted = info is not None and info.adjusted
        if adjusted and similarity is None:
            raise InputError(
                f"{name!r} counts similar features as exchangeable; give --similarity DATA."
            )
        estimates.append(
            measure_stability(
                runs,
                name,
                similarity=similarity if adjusted else None,
                correction=correction,
                undefined=_number_or_word(undefined),  # type: ignore[arg-type]
                confidence=confidence,
                random_state=seed,
            )
        )
    if as_json:
        click.echo(json.dumps({"runs": describe(runs), "measures": to_records(estimates)}))
    else:
        click.echo(repr(runs))
        if similarity is not None:
            click.echo(repr(similarity))
        print_estimates(estimates)


@main.command()
@click.argument("file", type=click.Path())
@click.option("--target", required=True, metavar="COLUMN", help="Column to be predicted.")
@click.option("-r", "--ranker", "rankers", multiple=True, metavar="NAME",
              help="Ranker; repeat for several.  [default: information_gain]")
@click.option("--aggregation", default="mean", show_default=True, metavar="NAME",
              help="How the runs become one ranking.")
@click.option("--n-features", default="0.1", show_default=True,
              metavar="20|0.1|auto|frequency>=0.8", help="How many features to select.")
@click.option("--resamples", default="100", show_default=True, metavar="100|auto",
              help="Number of resamples; auto runs as many as --target-stability needs.")
@click.option("--target-stability", type=float, metavar="S",
              help="With --resamples auto: agreement (Jaccard) that ensembles on these data reach.")
@click.option("--resampling", default="bootstrap", show_default=True, metavar="NAME",
              help="bootstrap, subsample, half, folds, blocks, …")
@click.option("--groups", metavar="COLUMN", help="Column that tells which rows belong together.")
@click.option("--drop", multiple=True, metavar="COLUMN", help="Column to leave out; repeatable.")
@click.option("--threshold", type=float, default=0.9, show_default=True,
              help="Absolute correlation from which features count as exchangeable.")
@click.option("--output", type=click.Path(), metavar="CSV", help="Write the whole table.")
@click.option("--save-runs", type=click.Path(), metavar="FILE", help="Write the runs (.parquet).")
@click.option("--report", "page", type=click.Path(), metavar="HTML",
              help="Write a page with verdict, features, charts and settings.")
@click.option("--save", type=click.Path(), metavar="ZIP",
              help="Write everything, to be opened with ms.load_result or mainstay report.")
@click.option("--top", type=click.IntRange(min=1), default=20, show_default=True,
              help="Rows of the table to print.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the resamples.")
@click.option("--jobs", type=int, default=1, show_default=True, help="Number of cores.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@clear_errors
def select(
    file: str,
    target: str,
    rankers: tuple[str, ...],
    aggregation: str,
    n_features: str,
    resamples: str,
    target_stability: float | None,
    resampling: str,
    groups: str | None,
    drop: tuple[str, ...],
    threshold: float,
    output: str | None,
    save_runs: str | None,
    page: str | None,
    save: str | None,
    top: int,
    seed: int,
    jobs: int,
    as_json: bool,
) -> None:
    """Select the features of FILE that predict a column, and say how far to trust them."""
    from mainstay import io
    from mainstay.ensemble import EnsembleSelector

    data = io.read_data(file, target=target, groups=groups, drop=drop)
    selector = EnsembleSelector(
        list(rankers) if len(rankers) > 1 else (rankers or ("information_gain",))[0],
        n_features_to_select=number_or_text(n_features),
        n_resamples=number_or_text(resamples),  # type: ignore[arg-type]
        target_stability=target_stability,
        resampling=resampling,
        aggregation=aggregation,
        similarity_threshold=threshold,
        random_state=seed,
        n_jobs=jobs,
    )
    selector.fit(data.X, data.y, groups=data.groups)
    table = selector.feature_table_
    if output:
        table.to_csv(output, index=False)
    if save_runs:
        selector.runs_.save(save_runs)
    source = {"file": file, "target": target, "groups": groups, "drop": list(drop), "seed": seed}
    write_selection(selector, source, page, save)
    estimates = [selector.stability_]
    if selector.adjusted_stability_ is not None:
        estimates.append(selector.adjusted_stability_)
    if as_json:
        records = json.loads(table.to_json(orient="records"))
        click.echo(json.dumps({"features": records, "stability": to_records(estimates)}))
        return
    click.echo(f"{len(data.y)} rows × {data.X.shape[1]} features, target {target!r}; "
               f"{selector.n_resamples_} {resampling} resamples; "
               f"{selector.n_features_} features selected.\n")  # fmt: skip
    if resamples == "auto":
        click.echo(f"{selector.decision_}\n")
    print_table(table.head(top))
    click.echo("\nHow reproducible is the selection of a single run?")
    print_estimates(estimates)
    for written in filter(None, (page, save)):
        click.echo(f"Written: {written}")


@main.command()
@click.argument("file", type=click.Path())
@click.option("--method", default="rra", show_default=True, metavar="NAME",
              help="How the rankings become one.")
@click.option("--kind", type=click.Choice(["auto", "support", "ranks", "scores"]),
              default="auto", show_default=True, help="What the values in FILE are.")
@click.option("--n-features", type=int, metavar="P",
              help="For run,feature pairs: number of features there were to choose from.")
@click.option("--top", type=click.IntRange(min=1), default=20, show_default=True,
              help="Rows of the table to print.")
@click.option("--output", type=click.Path(), metavar="CSV", help="Write the whole table.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@clear_errors
def aggregate(
    file: str,
    method: str,
    kind: str,
    n_features: int | None,
    top: int,
    output: str | None,
    as_json: bool,
) -> None:
    """Combine the rankings (or selections) in FILE into one.

    FILE is as for `mainstay stability`.
    """
    from mainstay import io
    from mainstay.aggregation import aggregate as combine

    runs = io.read_runs(file, kind=kind, n_features=n_features)  # type: ignore[arg-type]
    table = combine(runs, method).to_frame().sort_values("rank")
    if output:
        table.to_csv(output, index=False)
    if as_json:
        click.echo(table.to_json(orient="records"))
        return
    click.echo(f"{runs!r}\n")
    print_table(table.head(top))


@main.command()
@click.argument("file", type=click.Path())
@click.option("--target", required=True, metavar="COLUMN", help="Column to be predicted.")
@click.option("--protocol", type=click.Choice(["nested", "flat"]), required=True,
              help="nested: would another study (half of the samples) find the same features? "
                   "flat: would these samples give the same list again?")
@click.option("-r", "--ranker", default="information_gain", show_default=True, metavar="NAME",
              help="What would be run on every resample.")
@click.option("--n-features", default="0.1", show_default=True, metavar="20|0.1",
              help="How many features an ensemble selects.")
@click.option("--sizes", default="1,2,5,10,20,50,100", show_default=True, metavar="M,M,…",
              help="Ensemble sizes to forecast.")
@click.option("--target-stability", type=float, metavar="S",
              help="Stability wanted; the smallest ensemble that reaches it is searched for.")
@click.option("--runs", "n_runs", type=int, default=100, show_default=True,
              help="How many times the ranker is really run.")
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
@click.option("--groups", metavar="COLUMN", help="Column that tells which rows belong together.")
@click.option("--drop", multiple=True, metavar="COLUMN", help="Column to leave out; repeatable.")
@click.option("--plot", type=click.Path(), default="forecast.png", show_default=True,
              metavar="PNG", help="Where to draw the curve.")
@click.option("--output", type=click.Path(), metavar="CSV", help="Write the curve.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the resamples.")
@click.option("--jobs", type=int, default=1, show_default=True, help="Number of cores.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@clear_errors
def forecast(
    file: str,
    target: str,
    protocol: str,
    ranker: str,
    n_features: str,
    sizes: str,
    target_stability: float | None,
    n_runs: int,
    precision: float | None,
    measure: str,
    aggregation: str,
    resampling: str,
    method: str,
    compare: bool,
    groups: str | None,
    drop: tuple[str, ...],
    plot: str,
    output: str | None,
    seed: int,
    jobs: int,
    as_json: bool,
) -> None:
    """Forecast how stable an ensemble would be, and how large it is worth making it."""
    from mainstay import io
    from mainstay.forecast import forecast_stability

    data = io.read_data(file, target=target, groups=groups, drop=drop)
    found = forecast_stability(
        ranker,
        data.X,
        data.y,
        protocol=protocol,
        n_features_to_select=number_or_text(n_features),  # type: ignore[arg-type]
        ensemble_sizes=whole_numbers("--sizes", sizes),
        n_runs=n_runs,
        precision=precision,
        measure=measure,
        aggregation=aggregation,
        resampling=resampling,
        method=method,
        groups=data.groups,
        random_state=seed,
        n_jobs=jobs,
    )
    table = found.compare() if compare else found.curve
    plan = found.plan(target_stability)
    found.plot(target=target_stability).figure_.savefig(plot, dpi=150)
    if output:
        table.to_csv(output, index=False)
    if as_json:
        record = {
            "curve": json.loads(table.to_json(orient="records")),
            "plan": json.loads(plan.to_frame().to_json(orient="records"))[0],
            "n_useful": found.n_useful,
            "p": found.p,
            "infeasible": found.infeasible,
            "n_runs": found.n_runs,
            "seconds_per_run": found.seconds_per_run,
        }
        click.echo(json.dumps(record))
        return
    click.echo(f"{len(data.y)} rows × {data.X.shape[1]} features, target {target!r}; "
               f"{found.n_runs} runs of {ranker}, {protocol} protocol.\n")  # fmt: skip
    print_table(table)
    click.echo(f"\n{found.summary()}\n{plan}\nThe curve is drawn in {plot}.")


@main.command()
@click.option("--output", "folder", default="mainstay-demo", show_default=True, metavar="FOLDER",
              help="Where the report and the pictures go.")
@click.option("--resamples", type=click.IntRange(min=3), default=100, show_default=True,
              help="Number of bootstrap samples.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--jobs", type=int, default=-1, show_default=True,
              help="Number of cores; -1 for all.")
@clear_errors
def demo(folder: str, resamples: int, seed: int, jobs: int) -> None:
    """Take the whole tour on data that ships with scikit-learn: under a minute.

    Select, measure, forecast, compare; ends with a verdict, a report and pictures.
    """  # fmt: skip
    from mainstay.demo import run_demo

    run_demo(folder, n_resamples=resamples, seed=seed, n_jobs=jobs)


# fmt: on
main.add_command(compare)
main.add_command(network)
main.add_command(report)

# ---------------------------------------------------------------------- input


def _read_data(file: str, targets: tuple[str, ...]) -> pd.DataFrame:
    """Read a data table and leave out the columns that are no features."""
    from mainstay import io
    from mainstay._validation import check_choice

    data = io.read_table(file).rename(columns=str)
    for target in targets:
        check_choice(f"column of {file}", target, data.columns)
    return data.drop(columns=list(targets))


def _similarity(data: pd.DataFrame, runs: Runs, threshold: float, method: str) -> FeatureSimilarity:
    """Compare the runs' features; other columns of the data are not looked at."""
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


if __name__ == "__main__":
    main()
