"""The command `mainstay select`."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mainstay._terminal import echo, print_estimates, print_table, to_records
from mainstay.cli import options
from mainstay.cli.command import OutputFile, command
from mainstay.cli.options import DataSource, number_or_text

if TYPE_CHECKING:
    import pandas as pd

    from mainstay.ensemble import EnsembleSelector
    from mainstay.forecast import Forecast
    from mainstay.measures.inference import StabilityEstimate
    from mainstay.reliability import FeatureEvidence
    from mainstay.report import Verdict

# of the feature table: what a narrow terminal shows first
_COLUMNS = ("rank", "feature", "selected", "frequency", "q_value", "group", "group_q_value",
            "frequency_lower", "frequency_upper", "group_frequency")  # fmt: skip


# options read better as short paragraphs
# fmt: off
@command()
@options.data_source
@options.task
@options.rankers
@click.option("--aggregation", default="mean", show_default=True, metavar="NAME",
              help="How the runs become one ranking.")
@options.ranker_aggregation
@click.option("--n-features", default="0.1", show_default=True,
              metavar="20|0.1|auto|frequency>=0.8|fdr<=0.1|fwer<=0.05|expected_false<=1",
              help="How many features to select, or how many false ones are tolerated.")
@click.option("--by", type=click.Choice(["score", "frequency", "q-value", "group"]),
              default="score", show_default=True,
              help="How the list is made. score: the best by --aggregation. frequency: those that "
                   "the most runs selected. q-value: those that noise would not give, "
                   "--n-features fdr<=0.1. group: as score, but twins are shown as one.")
@click.option("--control", default="permutation", show_default=True, metavar="NAME",
              help="What keeps fdr, fwer or expected_false: permutation, or a bound that needs "
                   "--resampling pairs: unimodal, meinshausen-buehlmann, r-concave, ipss.")
@click.option("--permutations", metavar="100|auto",
              help="Compare with so many permuted targets: q-values, and whether there is "
                   "anything. 100 where --n-features is fdr, fwer or expected_false.")
@click.option("--strata", metavar="COLUMN",
              help="Column, such as a centre or a batch, within which targets are permuted.")
@click.option("--resamples", default="100", show_default=True, metavar="100|auto",
              help="Number of resamples; auto runs as many as --target-stability needs.")
@click.option("--target-stability", type=float, metavar="S",
              help="With --resamples auto: agreement (Jaccard) that ensembles on these data reach.")
@click.option("--resampling", metavar="NAME",
              help="bootstrap, subsample, half, folds, blocks, …; poisson or none where rows are "
                   "read block by block.  [default: bootstrap; there poisson]")
@click.option("--memory", metavar="2GB",
              help="Read rows block by block, so that the program never holds more than this: FILE "
                   "is a folder of .parquet files, or a .parquet, .h5ad or .npy file. A folder is "
                   "always read so.")
@options.threshold
@options.output_table
@options.output_runs(help="Write the runs (.parquet or .csv).")
@click.option("--report", "page", type=OutputFile(".html", ".htm"), metavar="HTML",
              help="Write a page with verdict, features, charts and settings.")
@click.option("--title", metavar="TEXT", help="Heading of the page.")
@click.option("--save", type=OutputFile(".zip"), metavar="ZIP",
              help="Write everything, to be opened with ms.load_result or mainstay report.")
@options.top
@options.seed
@options.jobs
@options.checkpoint
@options.as_json
def select(
    source: DataSource,
    task: str,
    rankers: tuple[str, ...],
    aggregation: str,
    ranker_aggregation: str,
    n_features: str,
    by: str,
    control: str,
    permutations: str | None,
    resamples: str,
    target_stability: float | None,
    resampling: str | None,
    memory: str | None,
    threshold: float,
    output: str | None,
    save_runs: str | None,
    page: str | None,
    title: str | None,
    save: str | None,
    top: int,
    seed: int,
    jobs: int | None,
    checkpoint: str | None,
    as_json: bool,
) -> None:
    """Select the features of FILE that predict a column, and say how far to trust them."""
    from mainstay._validation import counted
    from mainstay.ensemble import EnsembleSelector
    from mainstay.ensemble.feature_table import write_feature_table

    aggregation, n_features = _made_by(by, aggregation, n_features)
    streamed = memory is not None or Path(source.file).is_dir()
    resampling = resampling or ("poisson" if streamed else "bootstrap")
    data: Any = source.open(memory) if streamed else source.read()
    selector = EnsembleSelector(
        list(rankers) if len(rankers) > 1 else (rankers or ("information_gain",))[0],
        n_features_to_select=number_or_text(n_features),
        n_resamples=number_or_text(resamples),  # type: ignore[arg-type]
        target_stability=target_stability,
        resampling=resampling,
        aggregation=aggregation,
        ranker_aggregation=ranker_aggregation,
        control=control,
        n_permutations=None if permutations is None else number_or_text(permutations),  # type: ignore[arg-type]
        task=task,
        similarity_threshold=threshold,
        random_state=seed,
        n_jobs=jobs,
        checkpoint=checkpoint,
    )
    if streamed:
        selector.fit(data)
    else:
        selector.fit(data.X, data.y, groups=data.groups, strata=data.strata)
    written = [output, str(write_feature_table(selector.feature_table_, output))] if output else []
    if save_runs:
        selector.runs_.save(save_runs)
    forecast = _forecast(selector, seed) if page or save else None
    result = selector.result(forecast=forecast, source=source.to_dict())
    if save:
        result.save(save)
    if page:
        result.write_report(page, title=title)
    if as_json:
        _print_json(selector)
        return
    echo(
        f"{source.describe(data, selector.task_, selector.task_reason_)}; "
        f"{selector.n_resamples_} {resampling} resamples; "
        f"{counted(selector.n_features_, 'feature')} selected.\n"
    )
    if resamples == "auto":
        echo(f"{selector.decision_}\n")
    verdict = result.verdict
    if by == "group":
        print_table(_groups(verdict))
    else:
        print_table(_features(selector, top), _COLUMNS)
    others = [other for other in verdict.others if other["option"] != f"--by {by}"]
    echo(f"\n{verdict.why}{' Other ways to make the list:' if others else ''}")
    for other in others:
        echo(f"  {other['option']}: {other['text']}")
    echo(f"\n{verdict.headline}\n{verdict.lead}")
    if selector.evidence_ is not None:
        echo(f"\n{_against_noise(selector.evidence_, len(data.X))}")
    if hasattr(selector, "guarantee_"):
        echo(selector.guarantee_)
    echo("\nHow far do the runs agree, all of them on resamples of the same rows?")
    print_estimates(_estimates(selector))
    for path in [*written, *filter(None, (page, save))]:
        echo(f"Written: {path}")


# fmt: on
def _made_by(by: str, aggregation: str, n_features: str) -> tuple[str, str]:
    """Turn the way in which the list is made into an aggregation and a number of features."""
    if by == "frequency":
        if aggregation not in ("mean", "frequency", "vote"):
            raise click.UsageError(f"--by frequency does not go with --aggregation {aggregation}.")
        return "vote" if aggregation == "vote" else "frequency", n_features
    if by == "q-value" and not n_features.startswith("fdr"):
        if n_features != "0.1":
            raise click.UsageError(
                f"--by q-value does not go with --n-features {n_features}; give the false "
                "discovery rate, such as --n-features 'fdr<=0.05'."
            )
        return aggregation, "fdr<=0.1"
    return aggregation, n_features


def _features(selector: EnsembleSelector, top: int) -> pd.DataFrame:
    return selector.feature_table_.dropna(axis=1, how="all").head(top)


def _groups(verdict: Verdict) -> pd.DataFrame:
    """Groups of twins with a selected member, as a table."""
    import pandas as pd

    return pd.DataFrame(
        {
            "group": ["; ".join(group["members"][:6]) for group in verdict.groups],
            "members": [len(group["members"]) for group in verdict.groups],
            "selected": [group["n_selected"] for group in verdict.groups],
            "frequency": [group["frequency"] for group in verdict.groups],
        }
    )


def _estimates(selector: EnsembleSelector) -> list[StabilityEstimate]:
    adjusted = selector.adjusted_stability_
    return [selector.stability_] + ([] if adjusted is None else [adjusted])


def _print_json(selector: EnsembleSelector) -> None:
    record = {
        "task": selector.task_,
        "task_reason": selector.task_reason_,
        "features": json.loads(selector.feature_table_.to_json(orient="records")),
        "stability": to_records(_estimates(selector)),
    }
    click.echo(json.dumps(record))


def _forecast(selector: EnsembleSelector, seed: int) -> Forecast | None:
    """What more runs would bring, where something but not everything was selected."""
    from mainstay._validation import InputError

    if not 0 < selector.n_features_ < selector.runs_.n_features:
        return None
    try:
        rule = selector.procedure.rule_of_merged()
    except InputError as error:  # the selection stands without
        warnings.warn(f"the result has no forecast of larger ensembles: {error}", stacklevel=2)
        return None
    return selector.forecast(aggregation=rule, random_state=seed)


def _against_noise(evidence: FeatureEvidence, n_rows: int) -> str:
    """What permuted targets tell; which features can be named stands in the lead already."""
    from mainstay.report.verdict_evidence import evidence_sentences
    from mainstay.report.verdict_studies import HOW_TO_REPLICATE

    found = evidence_sentences(evidence, n_rows=n_rows)
    words = (found.tested, found.advice, evidence.stability_statement, HOW_TO_REPLICATE)
    return " ".join(filter(None, words))
