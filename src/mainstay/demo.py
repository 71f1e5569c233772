"""The tour that `mainstay demo` gives, on data that ships with scikit-learn.

Select on bootstraps, measure how far the runs agree, with and without twins; test whether that is
more than noise gives, and how far another study would agree; forecast larger ensembles, compare
with other selectors; then a verdict in plain words, a report, and pictures.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from mainstay._terminal import echo, print_estimates, print_table

if TYPE_CHECKING:
    import pandas as pd

    from mainstay.comparison import Comparison
    from mainstay.ensemble import EnsembleSelector
    from mainstay.ensemble.result import SelectionResult
    from mainstay.forecast import Forecast
    from mainstay.reliability import FeatureEvidence, Replicability

N_SELECTED, ENSEMBLE_SIZE, TARGET = 5, 20, 0.9
N_PERMUTATIONS = 30
SHOWN = ("nogueira", "hamming", "jaccard")
SHOWN_WITH_TWINS = ("sma_count", "zucknick")
COMPARED = ("f_statistic", "information_gain", "mrmr")
SIZES = (2, 5, 10)


def run_demo(folder: str | Path, *, n_resamples: int, seed: int, n_jobs: int | None) -> None:
    """Give the tour, and write report.html, result.zip and pictures to a folder.

    Parameters
    ----------
    folder : str or Path
        Made if it does not exist; files of an earlier tour are replaced.
    n_resamples : int
        Bootstrap samples.
    seed : int
        Seed of everything.
    n_jobs : int, optional
        Number of cores; what is found does not depend on it.
    """
    from sklearn.datasets import load_breast_cancer

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    data = load_breast_cancer(as_frame=True)
    X, y = data.data, data.target.to_numpy()
    echo(f"Breast cancer data of scikit-learn: {len(X)} patients, {X.shape[1]} features.")
    selector = _select(X, y, n_resamples, seed, n_jobs)
    _measure(selector)
    evidence = _test(selector, X, y, n_resamples, seed, n_jobs)
    replicability = _replicate(selector, X, y, n_resamples, seed, n_jobs)
    forecast = _forecast(selector, X, y, n_resamples, seed, n_jobs)
    comparison = _compare(selector, X, y, n_resamples, seed, n_jobs)
    result = selector.result(
        forecast=forecast, comparison=comparison, replicability=replicability, evidence=evidence
    )
    _tell(result)
    _write(folder, selector, result)


def _select(X: pd.DataFrame, y: Any, n_resamples: int, seed: int, n_jobs: Any) -> EnsembleSelector:
    from mainstay.ensemble import EnsembleSelector

    _heading(
        1,
        "Select",
        f"On each of {n_resamples} bootstrap samples a small forest of five trees is grown; the "
        f"{N_SELECTED} features it finds most\nimportant are selected.",
    )
    selector = EnsembleSelector(
        "extra_trees",
        n_features_to_select=N_SELECTED,
        n_resamples=n_resamples,
        random_state=seed,
        n_jobs=n_jobs,
    ).fit(X, y)
    counts = selector.selections_.counts
    echo("How often was each feature selected?")
    for feature in np.argsort(-counts, kind="stable")[:12]:
        share = counts[feature] / n_resamples
        name = selector.selections_.features[feature]
        echo(f"  {share:4.0%}  {'█' * round(20 * share):<20}  {name}")
    return selector


def _measure(selector: EnsembleSelector) -> None:
    from mainstay.measures import stability

    _heading(2, "Measure", "How far do the runs on these rows agree? (1 = always the same)")
    runs, twins = selector.selections_, selector.similarity_
    estimates = {name: stability(runs, name) for name in SHOWN}
    estimates |= {
        name: stability(runs, name, similarity=twins, random_state=0) for name in SHOWN_WITH_TWINS
    }
    print_estimates(list(estimates.values()))
    echo(
        f"Two runs agree on {float(estimates['hamming']):.0%} of the features, but mostly on what "
        "both leave out: corrected for\nchance they agree to "
        f"{float(estimates['nogueira']):.2f} (0 = no better than chance). Many features are "
        f"near copies of each other:\n{twins!r}.\n"
        f"Counting those as exchangeable, the runs agree to {float(estimates['sma_count']):.2f}."
    )


def _test(
    selector: EnsembleSelector, X: Any, y: Any, n_resamples: int, seed: int, n_jobs: Any
) -> FeatureEvidence:
    from mainstay.reliability import feature_evidence

    _heading(
        3,
        "Test",
        "Is there more than noise would give? Diagnoses are dealt out to the patients at random, "
        f"{N_PERMUTATIONS} times, and forests select\non those too.",
    )
    evidence = feature_evidence(
        selector, X, y, n_permutations=N_PERMUTATIONS, n_resamples=min(n_resamples, ENSEMBLE_SIZE),
        random_state=seed, n_jobs=n_jobs,
    )  # fmt: skip
    print_table(evidence.table.drop(columns=["statistic", "group_p_value"]).head(8))
    echo(evidence.summary())
    return evidence


def _replicate(
    selector: EnsembleSelector, X: Any, y: Any, n_resamples: int, seed: int, n_jobs: Any
) -> Replicability:
    from mainstay.reliability import replicability

    size = min(n_resamples, ENSEMBLE_SIZE)
    _heading(
        4,
        "Replicate",
        "Would another study find the same features? Runs on these rows cannot tell, since they "
        f"share most of them.\nSo the patients are cut into two halves again and again; single "
        f"runs, and ensembles of {size}, select on both.",
    )
    studies: dict[str, Any] = {
        "n_features_to_select": N_SELECTED, "n_pairs": min(25, max(5, n_resamples // 4)),
        "n_splits": min(8, max(5, n_resamples // 10)), "random_state": seed, "n_jobs": n_jobs,
    }  # fmt: skip
    ensembles = replicability(selector, X, y, ensemble_size=size, **studies)
    found = ensembles.compared_with(replicability(selector, X, y, **studies))
    print_table(found.table)
    echo(found.summary())
    return found


def _forecast(
    selector: EnsembleSelector, X: Any, y: Any, n_resamples: int, seed: int, n_jobs: Any
) -> Forecast:
    from mainstay.forecast import forecast_stability

    _heading(
        5,
        "Forecast",
        "Would ensembles on two halves of these patients find the same features, and would larger "
        "ones help?",
    )
    forecast = forecast_stability(
        selector, X, y, protocol="nested", n_runs=max(n_resamples, 12), random_state=seed,
        n_jobs=n_jobs,
    )  # fmt: skip
    print_table(forecast.curve)
    echo(forecast.summary())
    return forecast


def _compare(
    selector: EnsembleSelector, X: Any, y: Any, n_resamples: int, seed: int, n_jobs: Any
) -> Comparison:
    from sklearn.base import clone

    from mainstay.comparison import compare_selectors

    _heading(
        6,
        "Compare",
        "Other selectors, on random halves of the patients, scored on the other half:",
    )
    small = min(n_resamples, 20)
    ours = clone(selector).set_params(n_resamples=small)
    comparison = compare_selectors(
        {"extra_trees": ours} | {name: name for name in COMPARED},
        X,
        y,
        sizes=SIZES,
        n_resamples=small,
        random_state=seed,
        n_jobs=n_jobs,
    )
    print_table(comparison.overview().drop(columns=["seconds"]))
    echo(comparison.reason)
    return comparison


def _tell(result: SelectionResult) -> None:
    verdict = result.verdict
    click.secho(f"\nVerdict: {verdict.headline}", bold=True)
    echo(verdict.lead)
    for advice in verdict.advice:
        echo(f"• {advice['title']}: {advice['text']}")


def _write(
    folder: Path,
    selector: EnsembleSelector,
    result: SelectionResult,
) -> None:
    from mainstay import plotting

    assert result.replicability is not None
    assert result.evidence is not None
    assert result.forecast is not None
    title = "Breast cancer: which features can you rely on?"
    result.write_report(folder / "report.html", title=title)
    result.save(folder / "result.zip")
    pictures = {
        "frequency": plotting.SelectionFrequencyDisplay.from_selector(selector),
        "ranks": plotting.RankDistributionDisplay.from_selector(selector),
        "runs": plotting.RunsHeatmapDisplay.from_selector(selector),
        "sizes": plotting.StabilityBySizeDisplay.from_selector(selector),
        "twins": plotting.ExchangeableNetworkDisplay.from_selector(selector),
        "evidence": result.evidence.plot(),
        "null": result.evidence.plot_null(),
        "replicability": result.replicability.plot(),
        "forecast": plotting.ForecastDisplay.from_forecast(result.forecast, target=TARGET),
        "comparison": result.comparison.plot(),
    }
    for name, display in pictures.items():
        display.save(folder / f"{name}.png", dpi=120)
    echo(
        f"\nOpen {folder / 'report.html'} in a browser. Beside it: {', '.join(pictures)} as .png, "
        "and result.zip,\nwhich `mainstay report` and ms.load_result read."
    )


def _heading(number: int, title: str, text: str) -> None:
    click.secho(f"\n{number} {title}", bold=True)
    echo(text)
