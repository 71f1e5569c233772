"""EnsembleSelector: select features on many resamples, and say how far to trust each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from mainstay._checkpoint import keep_in
from mainstay._parallel import Progress
from mainstay._provenance import content_hash
from mainstay._validation import (
    InputError,
    RandomState,
    check_fraction,
    check_random_state,
)
from mainstay.batches import RowBatches
from mainstay.data import Data, StreamedData
from mainstay.ensemble.agreement import agreement_of
from mainstay.ensemble.error_control import (
    N_PERMUTATIONS,
    check_control,
    check_strata,
    features_per_run,
    permutation_evidence,
    select_by_error,
)
from mainstay.ensemble.feature_count import cross_validated_number, wanted_number
from mainstay.ensemble.feature_table import feature_table
from mainstay.ensemble.resample_count import make_runs
from mainstay.ensemble.result import SelectionResult, result_of
from mainstay.forecast import Forecast, forecast_stability
from mainstay.procedure import Procedure, report_padding, selections
from mainstay.reliability import ErrorRule, FeatureEvidence
from mainstay.resampling import check_one_pass
from mainstay.runs import Runs
from mainstay.similarity import FeatureSimilarity
from mainstay.twins import Choice, find_twins

if TYPE_CHECKING:
    from pathlib import Path

    from mainstay.reliability import Replicability


class EnsembleSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Rank features on many resamples, combine the rankings, select the best.

    With one ranker this is the within-aggregation of Salman et al. (2022): every resample is
    ranked, and the rankings become one by `aggregation`. With several rankers each is aggregated
    over its resamples, and the rankers' rankings are then combined by `ranker_aggregation`, by
    default the mean rank (between-aggregation).

    Parameters
    ----------
    ranker : str, ranker, scikit-learn estimator or selector, or a list of these
        A name from `mainstay.rankers.list_rankers()`, such as "information_gain" or "mrmr"; any
        estimator with `feature_importances_` or `coef_`; any scikit-learn selector, whose own
        selections are then counted; or a ranker of your own.
    n_features_to_select : int, float or str
        How many, which share (rounded up, at least one), "frequency>=0.8" for features selected in
        at least 80% of the runs, "auto": the fewest whose cross-validated score is within one
        standard error of the best, or by how many false features are tolerated: "fdr<=0.1",
        "fwer<=0.05", "expected_false<=1" (see `control`), which may be none at all.
    control : {"permutation", "unimodal", "meinshausen-buehlmann", "r-concave", "ipss"}
        What an error rule is kept by. "permutation" repeats the whole procedure on permuted targets
        (`ms.feature_evidence`) and works for every ranker and rule; the others are bounds from
        complementary pairs (`mainstay.reliability.bounds`), which need resampling="pairs" and cost
        nothing; all but "ipss" bound the expected number of false features, not their share.
    n_permutations : int, "auto" or None
        Permuted targets. With a number or "auto", `evidence_` and q-values are computed whatever
        `n_features_to_select` is; None: only if an error rule needs them, then 100.
    n_resamples : int or "auto"
        Number of resamples. "auto" runs 50, forecasts how the agreement of ensembles on this data
        grows with their size (see `ms.forecast_stability`, protocol "flat"), and runs only as many
        more as `target_stability` needs, at most 1024.
    target_stability : float, optional
        With n_resamples="auto": Jaccard index that two such ensembles should reach; 0.9 if not
        given.
    resampling : str, mainstay resampling or scikit-learn splitter
        "bootstrap", "subsample", "half", "folds", "blocks", "poisson", …; see
        `mainstay.resampling`.
    aggregation : str or callable
        A name from `ms.list_aggregations()`. "frequency" and "vote" count how often a feature is
        among the `n_features_per_run` best of a run; selections are always counted.
    task : {"auto", "classification", "regression"}
        What y is. "auto": text, booleans and whole numbers with few values are classes, other
        numbers are not; `task_` and `task_reason_` say what was taken and why.
    ranker_weights : sequence of float, optional
        Weights of several rankers; equal if not given.
    ranker_aggregation : str or callable
        How the rankings of several rankers become one: "rank_mean", "rank_median", "rank_min",
        "rank_geometric_mean", "borda", "rra" or "stuart" of `ms.list_aggregations()` ("rank_min",
        "rra" and "stuart" take no weights), or a callable. It gets an array of ranks, one row per
        ranker and one column per feature, 1 = best, and returns one score per feature, larger =
        better, without weights. It is called once with the rankers' rankings, for `ranking_`, and
        for every resample with their ranks (of ties the mean), for `runs_`.
    n_features_per_run : int or float, optional
        How many features a single run selects, for frequencies and stability. By default as many
        as are selected in the end, or a tenth where that number is not given beforehand.
    similarity_threshold : float or None
        Absolute correlation from which features count as exchangeable; None to skip twins. Of
        more than 50,000 features only those that runs selected, and the next best, are compared
        with all others, and a warning says of how many twins were looked for.
    estimator, cv, scoring
        What "auto" cross-validates: by default a logistic regression or ridge regression on
        standardised features, 5 folds, and the estimator's own score.
    random_state : int, Generator or None
        Seed of resamples and rankers.
    n_jobs : int, optional
        Number of cores; the result is the same for any number.
    progress : bool or "auto"
        Show a progress bar; "auto" on a terminal.
    checkpoint : str or Path, optional
        A folder where finished runs are kept. A fit that was killed is started again with the same
        data, settings and `random_state` (a whole number), and goes on where it was; the result is
        the same as without interruption.

    Attributes
    ----------
    ranking_ : Ranking
        The combined ranking.
    runs_ : Runs
        Scores of every run (selections, if the ranker is a selector).
    runs_by_ranker_ : dict of str to Runs
        The same by ranker.
    selections_ : Runs
        What every run selected: what frequencies and stability are measured on.
    stability_ : StabilityEstimate
        Agreement between the runs' selections (`nogueira`), with interval. The runs see resamples
        of the same rows, so it says nothing about another study; `ms.replicability` does.
    adjusted_stability_ : StabilityEstimate or None
        The same with exchangeable features counted as one (`sma_count`).
    feature_table_ : pandas.DataFrame
        Per feature, best first: rank, score, mean and standard deviation of its rank over the
        runs, selection frequency with a Wilson interval, its group (the features that can stand in
        for it), and in which share of the runs it *or one of them* was selected. The interval is
        what the number of runs on these rows leaves open (with `resampling="pairs"` a pair counts
        as one observation), not what another study would give. `q_value` and `group_q_value` are
        empty (NaN) where no evidence was computed.
    evidence_ : FeatureEvidence or None
        How the features compare with permuted targets, where that was computed.
    guarantee_ : str
        With an error rule: what is promised, against which null hypothesis, under which
        assumptions.
    task_, task_reason_ : str
        "classification" or "regression", and why.
    n_features_ : int
        How many features were selected.
    n_resamples_ : int
        How many resamples were run.
    decision_ : str
        With n_resamples="auto": how many were run, and why. Also logged.
    forecast_ : Forecast
        With n_resamples="auto": the forecast behind the decision.
    data_summary_ : dict
        Shape of the data and hashes by which they can be recognised; computed when first read, so
        do not change X in place before.

    Examples
    --------
    >>> import mainstay as ms
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> selector = ms.EnsembleSelector("information_gain", n_features_to_select=5, random_state=0)
    >>> table = selector.fit(X, y).feature_table_
    >>> table[["feature", "frequency", "group_frequency"]].head(2)
                    feature  frequency  group_frequency
    0  worst concave points        1.0              1.0
    1       worst perimeter        1.0              1.0
    """

    def __init__(
        self,
        ranker: Any = "information_gain",
        *,
        n_features_to_select: int | float | str = 0.1,
        n_resamples: int | str = 100,
        target_stability: float | None = None,
        resampling: Any = "bootstrap",
        aggregation: Any = "mean",
        control: str = "permutation",
        n_permutations: int | str | None = None,
        task: str = "auto",
        ranker_weights: Sequence[float] | None = None,
        ranker_aggregation: Any = "rank_mean",
        n_features_per_run: int | float | None = None,
        similarity_threshold: float | None = 0.9,
        estimator: Any = None,
        cv: Any = 5,
        scoring: Any = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        progress: Progress = "auto",
        checkpoint: str | Path | None = None,
    ) -> None:
        self.ranker = ranker
        self.n_features_to_select = n_features_to_select
        self.n_resamples = n_resamples
        self.target_stability = target_stability
        self.resampling = resampling
        self.aggregation = aggregation
        self.control = control
        self.n_permutations = n_permutations
        self.task = task
        self.ranker_weights = ranker_weights
        self.ranker_aggregation = ranker_aggregation
        self.n_features_per_run = n_features_per_run
        self.similarity_threshold = similarity_threshold
        self.estimator = estimator
        self.cv = cv
        self.scoring = scoring
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress
        self.checkpoint = checkpoint

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        strata: Any = None,
    ) -> EnsembleSelector:
        """Run the rankers on resamples of the data and select features.

        Parameters
        ----------
        X : array, sparse matrix, pandas or polars DataFrame of shape (n, p), or RowBatches
            The data. `RowBatches` know their target and are read block by block, which needs
            resampling="poisson" or "none" and a ranker that works so; permuted targets and
            cross-validation ("auto") are not possible then.
        y : array of shape (n,)
            The target: classes or numbers. Not given with `RowBatches`.
        sample_weight : array of shape (n,), optional
            Weights of the rows, multiplied with those of a resample.
        groups : array of shape (n,), optional
            Rows that belong together, such as samples of one patient: groups are resampled.
        strata : array of shape (n,), optional
            Rows among which targets are permuted, such as those of one centre or batch: what the
            strata differ in is then nothing that a feature can be named for. Needs permutations.
        """
        data = self._checked(X, y, sample_weight, groups, strata)
        k = wanted_number(self.n_features_to_select, data.n_features)
        settings = self.get_params(deep=False)
        if strata is not None:
            check_strata(strata, data, k, self.control, self.n_permutations)
            settings["strata"] = content_hash(np.asarray(strata))
        with keep_in(self.checkpoint, "EnsembleSelector", settings, data.fingerprint):
            rng = check_random_state(self.random_state)
            procedure = self._procedure_for(k, data.n_features)
            per_run = procedure.per_run(data.n_features)
            made = make_runs(
                procedure,
                data,
                self.n_resamples,
                rng,
                target_stability=self.target_stability,
                n_jobs=self.n_jobs,
                progress=self.progress,
            )
            if made.forecast is not None:
                self.forecast_, self.decision_ = made.forecast, str(made.decision)
            self.runs_by_ranker_ = made.by_ranker
            self.runs_ = procedure.merge(made.by_ranker)
            self.ranking_ = procedure.combine(made.by_ranker)
            self.n_resamples_ = self.runs_.n_runs
            self.task_, self.task_reason_ = data.task, data.task_reason
            chosen = selections(self.runs_, per_run, int(rng.integers(2**32)))
            if k is None:
                assert isinstance(data, Data)  # streamed rows were refused
                k, self.cv_scores_ = cross_validated_number(
                    procedure, data, self.n_resamples_, rng,
                    estimator=self.estimator, cv=self.cv, scoring=self.scoring, n_jobs=self.n_jobs,
                )  # fmt: skip
                per_run = k
            self._data = data
            self.similarity_ = self._similarity(data, chosen)
            self.evidence_ = self._evidence(procedure, data, k, strata, rng)
        if isinstance(k, ErrorRule):
            named = select_by_error(k, self.control, procedure, self.runs_, self.evidence_)
            self.support_, self.guarantee_ = named.mask, named.guarantee
            if self.control == "permutation":
                per_run = int(named.mask.sum()) or per_run
        elif isinstance(k, float):
            self.support_ = chosen.counts / chosen.n_runs >= k
        else:
            self.support_ = procedure.select(self.ranking_, self.runs_, k)
        if self.n_features_per_run is None and per_run != procedure.per_run(data.n_features):
            # as many as are selected in the end, now that this is known
            chosen = selections(self.runs_, per_run, int(rng.integers(2**32)))
        self.selections_ = chosen
        report_padding(self.runs_, int(chosen.sizes.max()))
        self.stability_, self.adjusted_stability_ = agreement_of(
            chosen, self.similarity_, int(rng.integers(2**32))
        )
        self.n_features_ = int(self.support_.sum())
        self.feature_table_ = feature_table(
            self.ranking_, self.runs_, chosen, self.similarity_, self.support_, self.evidence_
        )
        return self

    def _checked(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, strata: Any
    ) -> Data | StreamedData:
        if isinstance(X, RowBatches):
            of_rows = {"y": y, "sample_weight": sample_weight, "groups": groups, "strata": strata}
            self._refuse_what_needs_all_rows(of_rows)
            self.n_features_in_ = X.n_features
            self.feature_names_in_ = np.array(X.features, dtype=object)
            return StreamedData.check(X, task=self.task)
        return Data.check(
            X, y, sample_weight=sample_weight, groups=groups, task=self.task, estimator=self
        )

    def _refuse_what_needs_all_rows(self, of_rows: dict[str, Any]) -> None:
        check_one_pass(self.resampling)
        wanted = self.n_features_to_select
        rule = isinstance(wanted, str) and (wanted == "auto" or ErrorRule.is_rule(wanted))
        needs = {
            **{name: given is not None for name, given in of_rows.items()},
            "n_permutations": self.n_permutations is not None,
            f"n_features_to_select={wanted!r}": rule,
        }
        refused = [name for name, given in needs.items() if given]
        if refused:
            raise InputError(
                f"{' and '.join(refused)} cannot be used with rows that are read block by block: "
                "RowBatches know their target, rows are weighted by the resampling alone, and "
                "permuted targets and cross-validation need all rows in memory."
            )

    @property
    def procedure(self) -> Procedure:
        """What this selector repeats, as a value that can be run on other data."""
        per_run = self.n_features_per_run
        if per_run is None and not isinstance(self.n_features_to_select, str):
            per_run = self.n_features_to_select
        return Procedure.of(
            self.ranker,
            weights=self.ranker_weights,
            resampling=self.resampling,
            aggregation=self.aggregation,
            n_features_per_run=per_run,
            between=self.ranker_aggregation,
        )

    @property
    def data_summary_(self) -> dict[str, Any]:
        """Shape of the data and hashes by which they can be recognised."""
        check_is_fitted(self, "support_")
        if "_data_summary" not in self.__dict__:
            data: Data | StreamedData = self.__dict__.pop("_data")
            self._data_summary = data.summary()
        return self._data_summary

    def __getstate__(self) -> dict[str, Any]:
        """Leave the data out of pickles, but not what they can be recognised by."""
        if "_data" in self.__dict__:
            self.data_summary_  # noqa: B018 (computed and kept)
        state: dict[str, Any] = super().__getstate__()
        return state

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the selected features, also where the columns of the table were no strings."""
        if input_features is None and not hasattr(self, "feature_names_in_"):
            check_is_fitted(self, "support_")
            names = np.asarray(self.runs_.features, dtype=object)
            return np.asarray(names[self.support_])
        return np.asarray(super().get_feature_names_out(input_features))

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self, "support_")
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def forecast(self, *, protocol: str = "flat", **options: Any) -> Forecast:
        """Forecast the stability of a larger or smaller ensemble from the runs of this one.

        Of several rankers approximately: their ranks are combined in every run, and then the runs.

        Parameters
        ----------
        protocol : {"flat"}
            The runs saw resamples of all rows, so they tell how ensembles on resamples of these
            data agree. For "nested" call `ms.forecast_stability(selector, X, y,
            protocol="nested")`, which runs on halves of the data.
        **options
            Further options of `ms.forecast_stability`, such as `ensemble_sizes` or `measure`.

        Examples
        --------
        >>> import mainstay as ms
        >>> from sklearn.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> selector = ms.EnsembleSelector(n_features_to_select=5, random_state=0).fit(X, y)
        >>> fc = selector.forecast(ensemble_sizes=[1, 100], random_state=0)
        >>> bool(fc.curve["stability"].is_monotonic_increasing)
        True
        """
        check_is_fitted(self, "runs_")
        if options.get("aggregation") is None:
            options["aggregation"] = self.procedure.rule_of_merged()
        defaults = {"n_features_to_select": self.n_features_}
        return forecast_stability(self.runs_, protocol=protocol, **{**defaults, **options})

    # ------------------------------------------------------------------ keeping the result

    def result(
        self,
        *,
        forecast: Forecast | None = None,
        comparison: Any = None,
        replicability: Replicability | None = None,
        evidence: FeatureEvidence | None = None,
        source: Any = None,
    ) -> SelectionResult:
        """Everything that `fit` found, in one value that can be saved, reopened and reported.

        Parameters
        ----------
        forecast, comparison, replicability, evidence : optional
            From `forecast` or `ms.forecast_stability`, from `ms.compare_selectors`, from
            `ms.replicability` and from `ms.feature_evidence` (by default `evidence_`): kept, saved
            and shown with the result.
        source : dict, optional
            Where the data came from, such as {"file": "data.csv", "target": "y"}; written down.

        Examples
        --------
        >>> import mainstay as ms
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> selector = ms.EnsembleSelector(n_features_to_select=2, random_state=0).fit(X, y)
        >>> selector.result().selected
        ('petal width (cm)', 'petal length (cm)')
        """
        check_is_fitted(self, "support_")
        return result_of(
            self, forecast, comparison, replicability, evidence or self.evidence_, source
        )

    def save(self, path: str | Path) -> None:
        """Write `result()` to a .zip file that `ms.load_result` reads back."""
        self.result().save(path)

    # ------------------------------------------------------------------ how many features

    def _procedure_for(self, wanted: Any, p: int) -> Procedure:
        """The procedure; for a bound, with as many features a run as leave it room."""
        check_control(wanted, self.control, self.resampling, self.n_permutations)
        if not isinstance(wanted, ErrorRule):
            return self.procedure
        if self.n_features_per_run is not None or self.control in ("permutation", "ipss"):
            return self.procedure
        per_run = features_per_run(wanted, self.control, p, self.n_resamples)
        return replace(self.procedure, n_features_per_run=per_run)

    def _evidence(
        self, procedure: Procedure, data: Any, wanted: Any, strata: Any, rng: np.random.Generator
    ) -> FeatureEvidence | None:
        """Permutation evidence, if it was asked for or an error rule needs it."""
        rule = wanted if isinstance(wanted, ErrorRule) and self.control == "permutation" else None
        if self.n_permutations is None and rule is None:
            return None
        return permutation_evidence(
            procedure,
            data,
            self.runs_,
            self.similarity_,
            N_PERMUTATIONS if self.n_permutations is None else self.n_permutations,
            rule,
            rng,
            strata=strata,
            n_jobs=self.n_jobs,
            progress=self.progress,
        )

    def _similarity(self, data: Data | StreamedData, chosen: Runs) -> FeatureSimilarity | None:
        """Which features are twins, unless they are not to be looked for."""
        if self.similarity_threshold is None:
            return None
        threshold = check_fraction("similarity_threshold", self.similarity_threshold)
        ranks = self.ranking_.ranks
        return find_twins(data, threshold, lambda: Choice(chosen.counts, ranks))
