"""SelectionResult: everything a selection found, and what is needed to repeat it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mainstay._provenance import WITHOUT_EFFECT, plain, versions
from mainstay._saving import Parts, Saveable
from mainstay._validation import InputError, check_count
from mainstay.aggregation import Ranking
from mainstay.ensemble.difference import ResultDifference, difference_of
from mainstay.ensemble.feature_table import (
    COLUMNS,
    feature_table,
    with_evidence,
    with_todays_columns,
)
from mainstay.measures import stability
from mainstay.measures.inference import StabilityEstimate
from mainstay.procedure import aggregate_runs, selections
from mainstay.report import Verdict, methods_text, notebook_html, verdict_of, write_page
from mainstay.runs import Runs
from mainstay.similarity import FeatureSimilarity

if TYPE_CHECKING:
    import pandas as pd

    from mainstay.ensemble import EnsembleSelector
    from mainstay.forecast import Forecast
    from mainstay.reliability import FeatureEvidence, Replicability


@dataclass(frozen=True, eq=False)
class SelectionResult(Saveable):
    """What a selection found: `EnsembleSelector.result()`, or `from_runs` for runs made elsewhere.

    Attributes
    ----------
    runs : Runs
        Scores, ranks or selections of every run.
    selections : Runs
        What every run selected.
    ranking : Ranking
        The combined ranking.
    selected : tuple of str
        The selected features, best first.
    feature_table : pandas.DataFrame
        Per feature, best first; see `EnsembleSelector`.
    stability : StabilityEstimate
        Agreement between the runs' selections, with interval. Runs on resamples of the same rows
        share most of them: this says nothing about another study, `replicability` does.
    adjusted_stability : StabilityEstimate or None
        The same with exchangeable features counted as one.
    similarity : FeatureSimilarity or None
        Which features can stand in for each other.
    settings : dict
        Every parameter, the seed, and shape and hash of the data: plain values, never the data.
    versions : dict
        Versions of Python and of the libraries that made the result.
    forecast : Forecast or None
        What larger ensembles would bring.
    comparison : Comparison or None
        How other selectors do on the same data.
    replicability : Replicability or None
        How far another study would agree.
    evidence : FeatureEvidence or None
        How the features compare with permuted targets.

    Examples
    --------
    >>> import mainstay as ms
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> selector = ms.EnsembleSelector(n_features_to_select=2, n_resamples=20, random_state=0)
    >>> selector.fit(X, y).result().selected
    ('worst perimeter', 'worst concave points')
    """

    runs: Runs
    selections: Runs
    ranking: Ranking
    selected: tuple[str, ...]
    feature_table: pd.DataFrame
    stability: StabilityEstimate
    adjusted_stability: StabilityEstimate | None
    similarity: FeatureSimilarity | None
    settings: dict[str, Any]
    versions: dict[str, str]
    forecast: Forecast | None = None
    comparison: Any = None
    replicability: Replicability | None = None
    evidence: FeatureEvidence | None = None

    @classmethod
    def from_runs(
        cls,
        runs: Runs,
        *,
        n_features_to_select: int | None = None,
        similarity: FeatureSimilarity | None = None,
        aggregation: str = "mean",
        forecast: Forecast | None = None,
        comparison: Any = None,
        replicability: Replicability | None = None,
        evidence: FeatureEvidence | None = None,
    ) -> SelectionResult:
        """Describe runs that were made elsewhere.

        Parameters
        ----------
        runs : Runs
            The runs.
        n_features_to_select : int, optional
            How many features are selected in the end and, of rankings, in every run. By default
            the mean size of the selections, or a tenth of the features for rankings.
        similarity : FeatureSimilarity, optional
            Which features count as exchangeable.
        aggregation : str
            How the runs become one ranking; selections are counted.
        forecast, comparison, replicability, evidence : optional
            To be kept and shown with the result.

        Examples
        --------
        >>> import mainstay as ms
        >>> runs = ms.Runs.from_sets([["a", "b"], ["a", "c"], ["a"]], features=list("abcd"))
        >>> ms.SelectionResult.from_runs(runs, n_features_to_select=1).selected
        ('a',)
        """
        wanted: Any = n_features_to_select
        if wanted is None:
            ranked = runs.kind != "support"
            share = 0.1 * runs.n_features if ranked else float(runs.sizes.mean())
            wanted = max(1, math.ceil(share - 1e-9) if ranked else round(share))
        k = check_count("n_features_to_select", wanted, 1, runs.n_features)
        ranking = aggregate_runs(runs, aggregation, k)
        chosen = selections(runs, k, 0)
        adjusted = None
        if similarity is not None:
            adjusted = stability(
                chosen, "sma_count", similarity=similarity, undefined="nan", random_state=0
            )
        mask = np.isin(np.arange(runs.n_features), ranking.order[:k])
        parameters = {"n_features_to_select": k, "aggregation": ranking.method}
        return cls(
            runs=runs,
            selections=chosen,
            ranking=ranking,
            selected=ranking.best(k),
            feature_table=feature_table(ranking, runs, chosen, similarity, mask, evidence),
            stability=stability(chosen, undefined="nan"),
            adjusted_stability=adjusted,
            similarity=similarity,
            settings={"made_by": "SelectionResult.from_runs", "parameters": parameters},
            versions=versions(),
            forecast=forecast,
            comparison=comparison,
            replicability=replicability,
            evidence=evidence,
        )

    @classmethod
    def _from_parts(cls, parts: Parts) -> Self:
        parts["feature_table"] = with_todays_columns(parts["feature_table"])
        return super()._from_parts(parts)

    def to_frame(self) -> pd.DataFrame:
        """Return the feature table."""
        return self.feature_table.copy()

    @property
    def columns(self) -> dict[str, str]:
        """What each column of the feature table means."""
        return dict(COLUMNS)

    @property
    def verdict(self) -> Verdict:
        """The result in plain words: what was found, why this list, how sure, what would help.

        Examples
        --------
        >>> import mainstay as ms
        >>> runs = ms.Runs.from_sets([["a", "b"], ["a", "c"], ["a"]], features=list("abcd"))
        >>> print(ms.SelectionResult.from_runs(runs, n_features_to_select=1).verdict.why)
        The list holds the best feature, ranked by share of the runs that selected it.
        """
        return verdict_of(self)

    def compared_with(
        self, other: SelectionResult, *, names: tuple[str, str] = ("before", "after")
    ) -> ResultDifference:
        """What changed from this result to another: what entered, what left, what is mere noise.

        Parameters
        ----------
        other : SelectionResult
            The later result.
        names : (str, str)
            What the two are called in words and on the page.

        Examples
        --------
        >>> import mainstay as ms
        >>> runs = ms.Runs.from_sets([["a", "b"], ["a", "c"], ["a", "b"]], features=list("abcd"))
        >>> later = ms.Runs.from_sets([["a", "c"], ["a", "c"], ["a", "b"]], features=list("abcd"))
        >>> one, two = (ms.SelectionResult.from_runs(r) for r in (runs, later))
        >>> change = one.compared_with(two)
        >>> change.entered, change.left, bool(change.table["beyond_noise"].any())
        (('c',), ('b',), False)
        """
        return difference_of(self, other, names)

    def write_report(self, path: str | Path, *, title: str | None = None) -> None:
        """Write the result as one HTML page; see `ms.write_report`."""
        write_page(self, path, title=title)

    def methods_text(self) -> str:
        """Describe how the result was made, in words that are ready for a paper.

        Returns
        -------
        str
            A paragraph with settings, versions, seed and what was found, then the full references
            of the ranker, the aggregation, the measures and the procedures that were used.

        Examples
        --------
        >>> import mainstay as ms
        >>> runs = ms.Runs.from_sets([["a", "b"], ["a", "c"], ["a"]], features=list("abcd"))
        >>> text = ms.SelectionResult.from_runs(runs).methods_text()
        >>> "Nogueira, S., Sechidis, K. and Brown, G. (2018)" in text
        True
        """
        return methods_text(self)

    def _repr_html_(self) -> str:
        return notebook_html(self)

    def __repr__(self) -> str:
        shown = ", ".join(self.selected[:5])
        rest = f" and {len(self.selected) - 5} more" if len(self.selected) > 5 else ""
        return (
            f"SelectionResult: {len(self.selected)} of {self.runs.n_features} features from "
            f"{self.runs.n_runs} runs: {shown}{rest}\n{self.stability!r}"
        )


def result_of(
    selector: EnsembleSelector,
    forecast: Forecast | None,
    comparison: Any,
    replicability: Replicability | None,
    evidence: FeatureEvidence | None,
    source: Any,
) -> SelectionResult:
    """Collect what a fitted selector found."""
    parameters = {
        name: plain(value)
        for name, value in selector.get_params(deep=False).items()
        if name not in WITHOUT_EFFECT
    }
    settings = {
        "made_by": "EnsembleSelector",
        "parameters": parameters,
        "changed_parameters": plain(selector)["parameters"],
        "n_resamples": selector.n_resamples_,
        "data": selector.data_summary_,
    }
    if len(selector.runs_by_ranker_) > 1:
        settings["aggregations"] = selector.procedure.rules(selector.runs_by_ranker_)
    if hasattr(selector, "decision_"):
        # the decision names a duration, which would differ from one time to the next
        settings["decision"] = re.sub(r" \([^()]* of one core\)", "", selector.decision_)
    if source is not None:
        settings["source"] = plain(source)
    if hasattr(selector, "guarantee_"):
        settings["guarantee"] = selector.guarantee_
    table = with_evidence(selector.feature_table_, evidence)
    return SelectionResult(
        runs=selector.runs_,
        selections=selector.selections_,
        ranking=selector.ranking_,
        selected=tuple(str(name) for name in table["feature"][table["selected"]]),
        feature_table=table,
        stability=selector.stability_,
        adjusted_stability=selector.adjusted_stability_,
        similarity=selector.similarity_,
        settings=settings,
        versions=versions(),
        forecast=getattr(selector, "forecast_", None) if forecast is None else forecast,
        comparison=comparison,
        replicability=replicability,
        evidence=evidence,
    )


def write_report(
    result: Any,
    path: str | Path,
    *,
    forecast: Forecast | None = None,
    comparison: Any = None,
    replicability: Replicability | None = None,
    evidence: FeatureEvidence | None = None,
    title: str | None = None,
) -> None:
    """Write a result as one HTML page: a verdict in plain words, the features, charts, settings.

    The page loads nothing from anywhere and sends nothing; it can be mailed, archived and printed.
    It lists the 2,000 best features; the result has them all. Of every feature's ranks it holds
    five quantiles and a histogram. In the CSV that it offers, a name that a spreadsheet would take
    for a formula (it starts with =, +, -, @, a tab or a line break) gets an apostrophe in front.

    Parameters
    ----------
    result : EnsembleSelector, SelectionResult or Runs
        A fitted selector, its `result()` (or a reopened one), or runs made elsewhere.
    path : str or Path
        The .html file.
    forecast : Forecast, optional
        From `selector.forecast()` or `ms.forecast_stability`; that of the result if not given.
    comparison : Comparison, optional
        From `ms.compare_selectors`; that of the result if not given.
    replicability : Replicability, optional
        From `ms.replicability`; that of the result if not given.
    evidence : FeatureEvidence, optional
        From `ms.feature_evidence`; that of the result if not given. The verdict leads with it.
    title : str, optional
        Heading of the page.

    Examples
    --------
    >>> import tempfile, mainstay as ms
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = ms.EnsembleSelector(n_features_to_select=2, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ms.write_report(selector, f"{folder}/report.html", forecast=selector.forecast())
    """
    shown = as_result(result)
    if forecast is not None:
        shown = replace(shown, forecast=forecast)
    if comparison is not None:
        shown = replace(shown, comparison=comparison)
    if replicability is not None:
        _refuse_other_data(shown, replicability)
        shown = replace(shown, replicability=replicability)
    if evidence is not None:
        table = with_evidence(shown.feature_table, evidence)
        shown = replace(shown, evidence=evidence, feature_table=table)
    write_page(shown, path, title=title)


def _refuse_other_data(result: SelectionResult, replicability: Replicability) -> None:
    """Refuse a replicability of studies that cannot have been made on the result's data."""
    n = result.settings.get("data", {}).get("n_samples", replicability.n)
    if set(replicability.runs.features) != set(result.runs.features) or replicability.n != n:
        raise InputError(
            f"the replicability is of {replicability.n:,} rows × "
            f"{replicability.runs.n_features:,} features, and the result of {n:,} rows × "
            f"{result.runs.n_features:,}, or their features have other names; both must come from "
            "the same table."
        )


def as_result(result: Any) -> SelectionResult:
    """Take a SelectionResult, a fitted EnsembleSelector or runs."""
    if isinstance(result, SelectionResult):
        return result
    if isinstance(result, Runs):
        return SelectionResult.from_runs(result)
    if hasattr(result, "result") and hasattr(result, "get_params"):
        shown: SelectionResult = result.result()
        return shown
    raise InputError(
        "a report is made of a fitted EnsembleSelector, a SelectionResult or Runs, got "
        f"{type(result).__name__}."
    )
