"""The command `mainstay compare`."""

from __future__ import annotations

import json

import click

from mainstay._terminal import clear_errors, print_table
from mainstay.cli.options import check_target_file, number_or_text, numbers_or_shares


# options read better as short paragraphs
# fmt: off
@click.command()
@click.argument("file", type=click.Path())
@click.option("--target", required=True, metavar="COLUMN", help="Column to be predicted.")
@click.option("-r", "--ranker", "rankers", multiple=True, metavar="NAME",
              help="Ranker to compare; repeat for several.  [default: F-statistic, information "
                   "gain, mRMR, extremely randomised trees, a linear model]")
@click.option("--aggregation", "aggregations", multiple=True, metavar="NAME",
              help="How runs on resamples become one ranking; repeat for several. none is the "
                   "ranker without resampling.  [default: mean]")
@click.option("--sizes", metavar="5,10,0.1",
              help="Numbers or shares of features.  [default: 2,5,10,20,50,100, up to half]")
@click.option("--resamples", default="20", show_default=True, metavar="20|auto",
              help="Number of resamples of every ensemble.")
@click.option("--cv", default="half", show_default=True, metavar="half|FOLDS",
              help="The split that all share: 20 random halves, or a number of folds.")
@click.option("--scoring", metavar="NAME",
              help="Any score of scikit-learn, such as roc_auc.  [default: accuracy, or R²]")
@click.option("--priority", "priorities", multiple=True, metavar="score|stability|size",
              help="What counts first for the recommendation; give all three, in order.  "
                   "[default: score, stability, size]")
@click.option("--search", type=click.Choice(["optuna"]),
              help="Search instead of trying everything; needs the extra mainstay[optuna].")
@click.option("--trials", type=click.IntRange(min=1), default=100, show_default=True,
              help="With --search: how many candidates to try.")
@click.option("--groups", metavar="COLUMN", help="Column that tells which rows belong together.")
@click.option("--drop", multiple=True, metavar="COLUMN", help="Column to leave out; repeatable.")
@click.option("--threshold", type=float, default=0.9, show_default=True,
              help="Absolute correlation from which features count as exchangeable.")
@click.option("--output", type=click.Path(), metavar="CSV", help="Write the whole table.")
@click.option("--plot", type=click.Path(), metavar="PNG",
              help="Draw score by stability (.png, .pdf, .svg or .jpg).")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of everything.")
@click.option("--jobs", type=int, default=1, show_default=True, help="Number of cores.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@clear_errors
def compare(
    file: str,
    target: str,
    rankers: tuple[str, ...],
    aggregations: tuple[str, ...],
    sizes: str | None,
    resamples: str,
    cv: str,
    scoring: str | None,
    priorities: tuple[str, ...],
    search: str | None,
    trials: int,
    groups: str | None,
    drop: tuple[str, ...],
    threshold: float,
    output: str | None,
    plot: str | None,
    seed: int,
    jobs: int,
    as_json: bool,
) -> None:
    """Compare ways to select the features of FILE: accuracy, stability, number of features.

    Prints what no other candidate beats in all three (the front), the baselines (all features, an
    F-test, random selection), and which candidate to take and why.
    """  # fmt: skip
    from mainstay import io
    from mainstay.comparison import compare_selectors

    check_target_file("--output", output, (".csv",))
    check_target_file("--plot", plot, (".png", ".pdf", ".svg", ".jpg"))
    data = io.read_data(file, target=target, groups=groups, drop=drop)
    found = compare_selectors(
        list(rankers) or None,
        data.X,
        data.y,
        aggregations=list(aggregations) or None,
        sizes=None if sizes is None else numbers_or_shares("--sizes", sizes),
        n_resamples=number_or_text(resamples),  # type: ignore[arg-type]
        scoring=scoring,
        cv=number_or_text(cv),
        groups=data.groups,
        similarity_threshold=threshold,
        priorities=priorities or ("score", "stability", "size"),
        search=search,
        n_trials=trials,
        random_state=seed,
        n_jobs=jobs,
    )
    if output:
        found.table.to_csv(output, index=False)
    if plot:
        found.plot().figure_.savefig(plot, dpi=150)
    if as_json:
        record = {
            "recommended": found.recommended,
            "reason": found.reason,
            "candidates": json.loads(found.table.to_json(orient="records")),
            "tests": json.loads(found.tests.to_json(orient="records")),
            "settings": found.settings,
        }
        click.echo(json.dumps(record, ensure_ascii=False))
        return
    about = found.settings
    click.echo(f"{len(data.y)} rows × {data.X.shape[1]} features, target {target!r}; "
               f"{len(found.table)} candidates, {about['n_splits']} splits; score: "
               f"{about['scoring']}, stability: {about['stability']}.\n")  # fmt: skip
    print_table(found.summary())
    click.echo(f"\n{found.reason}")
    if plot:
        click.echo(f"The picture is in {plot}.")
