"""EnsembleSelector: select features on many resamples, and say how far to trust each of them."""

from __future__ import annotations

import logging
import math
import re
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.feature_selection import SelectorMixin
from sklearn.model_selection import check_cv

from mainstay._parallel import Progress
from mainstay._provenance import data_summary
from mainstay._validation import (
    InputError,
    RandomState,
    check_count,
    check_fraction,
    check_random_state,
    check_table,
    check_weights,
)
from mainstay.ensemble.result import SelectionResult, result_of
from mainstay.measures import stability
from mainstay.resampled import (
    Data,
    RankedResamples,
    candidate_sizes,
    collect_runs,
    combine_rankers,
    combined_runs,
    default_estimator,
    feature_names_of,
    feature_table,
    numeric_similarity,
    rank_on_resamples,
    score_sizes,
    selections,
    share_or_number,
)
from mainstay.runs import Runs
from mainstay.similarity import FeatureSimilarity

if TYPE_CHECKING:
    from pathlib import Path

    from mainstay.forecast import Forecast

_log = logging.getLogger(__name__)
_FIRST_RESAMPLES, _MOST_RESAMPLES = 50, 1024
_FREQUENCY = re.compile(r"frequency\s*>=\s*(\d*\.?\d+)")


class EnsembleSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Rank features on many resamples, combine the rankings, select the best.

    With one ranker this is the within-aggregation of Salman et al. (2022): every resample is
    ranked, and the rankings become one by `aggregation`. With several rankers each is aggregated
    over its resamples, and the rankers' rankings are then averaged (between-aggregation).

    Parameters
    ----------
    ranker : str, ranker, scikit-learn estimator or selector, or a list of these
        A name from `mainstay.rankers.list_rankers()`, such as "information_gain" or "mrmr"; any
        estimator with `feature_importances_` or `coef_`; any scikit-learn selector.
    n_features_to_select : int, float or str
        How many, which share (rounded up, at least one), "frequency>=0.8" for features selected in
        at least 80% of the runs, or "auto": the fewest whose cross-validated score is within one
        standard error of the best.
    n_resamples : int or "auto"
        Number of resamples. "auto" runs 50, forecasts how the agreement of ensembles on this data
        grows with their size (see `ms.forecast_stability`, protocol "flat"), and runs only as many
        more as `target_stability` needs, at most 1024.
    target_stability : float, optional
        With n_resamples="auto": Jaccard index that two such ensembles should reach; 0.9 if not
        given.
    resampling : str, mainstay resampling or scikit-learn splitter
        "bootstrap", "subsample", "half", "folds", "blocks", …; see `mainstay.resampling`.
    aggregation : str or callable
        A name from `ms.list_aggregations()`.
    ranker_weights : sequence of float, optional
        Weights of several rankers; equal if not given.
    n_features_per_run : int or float, optional
        How many features a single run selects, for frequencies and stability. By default as many
        as are selected in the end, or a tenth where that number is not given beforehand.
    similarity_threshold : float or None
        Absolute correlation from which features count as exchangeable; None to skip twins.
    estimator, cv, scoring
        What "auto" cross-validates: by default a logistic regression or ridge regression on
        standardised features, 5 folds, and the estimator's own score.
    random_state : int, Generator or None
        Seed of resamples and rankers.
    n_jobs : int, optional
        Number of cores; the result is the same for any number.
    progress : bool or "auto"
        Show a progress bar; "auto" on a terminal.

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
        Stability of the runs' selections (`nogueira`), with interval.
    adjusted_stability_ : StabilityEstimate or None
        The same with exchangeable features counted as one (`sma_count`).
    feature_table_ : pandas.DataFrame
        Per feature, best first: rank, score, mean and standard deviation of its rank over the
        runs, selection frequency with a Wilson interval, RRA p-value, its group (the features that
        can stand in for it), and in which share of the runs it *or one of them* was selected.
    n_features_ : int
        How many features were selected.
    n_resamples_ : int
        How many resamples were run.
    decision_ : str
        With n_resamples="auto": how many were run, and why. Also logged.
    forecast_ : Forecast
        With n_resamples="auto": the forecast behind the decision.
    data_summary_ : dict
        Shape of the data and hashes by which they can be recognised.

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
        ranker_weights: Sequence[float] | None = None,
        n_features_per_run: int | float | None = None,
        similarity_threshold: float | None = 0.9,
        estimator: Any = None,
        cv: Any = 5,
        scoring: Any = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        progress: Progress = "auto",
    ) -> None:
        self.ranker = ranker
        self.n_features_to_select = n_features_to_select
        self.n_resamples = n_resamples
        self.target_stability = target_stability
        self.resampling = resampling
        self.aggregation = aggregation
        self.ranker_weights = ranker_weights
        self.n_features_per_run = n_features_per_run
        self.similarity_threshold = similarity_threshold
        self.estimator = estimator
        self.cv = cv
        self.scoring = scoring
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None
    ) -> EnsembleSelector:
        """Run the rankers on resamples of the data and select features.

        Parameters
        ----------
        X : array, sparse matrix, pandas or polars DataFrame of shape (n, p)
            The data.
        y : array of shape (n,)
            The target: classes or numbers.
        sample_weight : array of shape (n,), optional
            Weights of the rows, multiplied with those of a resample.
        groups : array of shape (n,), optional
            Rows that belong together, such as samples of one patient: groups are resampled.
        """
        X, y = check_table(self, X, y)
        sample_weight = check_weights(sample_weight, len(y))
        rng = check_random_state(self.random_state)
        k = self._number_to_select()
        per_run = self._features_per_run(k)
        groups = None if groups is None else np.asarray(groups)
        data = Data(X, y, feature_names_of(self), sample_weight, groups)
        found = self.rank(data, rng)
        self.ranking_ = found.ranking
        self.n_resamples_ = found.runs.n_runs
        self.runs_ = found.runs
        self.runs_by_ranker_ = found.by_ranker
        chosen = selections(self.runs_, per_run, int(rng.integers(2**32)))
        if self.n_features_to_select == "auto":
            k = self._cross_validated_number(data, rng)
            if self.n_features_per_run is None:
                chosen = selections(self.runs_, k, int(rng.integers(2**32)))
        self.selections_ = chosen
        frequency = chosen.counts / chosen.n_runs
        self.data_summary_ = data_summary(X, y, sample_weight, groups)
        self.similarity_ = self._similarity(X)
        seed = int(rng.integers(2**32))
        self.stability_ = stability(chosen, undefined="nan")
        self.adjusted_stability_ = None
        if self.similarity_ is not None:
            self.adjusted_stability_ = stability(
                chosen, "sma_count", similarity=self.similarity_, undefined="nan", random_state=seed
            )
        if isinstance(k, float):
            selected = frequency >= k
        else:
            selected = np.zeros(self.n_features_in_, dtype=bool)
            selected[self.ranking_.order[:k]] = True
        self.support_ = selected
        self.n_features_ = int(selected.sum())
        self.feature_table_ = feature_table(
            self.ranking_, self.runs_, chosen, self.similarity_, selected
        )
        return self

    def _get_support_mask(self) -> np.ndarray:
        from sklearn.utils.validation import check_is_fitted

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
        from sklearn.utils.validation import check_is_fitted

        from mainstay.forecast import forecast_stability

        check_is_fitted(self, "runs_")
        defaults = {"n_features_to_select": self.n_features_, "aggregation": self.aggregation}
        return forecast_stability(self.runs_, protocol=protocol, **{**defaults, **options})

    # ------------------------------------------------------------------ keeping the result

    def result(
        self, *, forecast: Forecast | None = None, comparison: Any = None, source: Any = None
    ) -> SelectionResult:
        """Everything that `fit` found, in one value that can be saved, reopened and reported.

        Parameters
        ----------
        forecast, comparison : optional
            From `forecast` or `ms.forecast_stability`, and from `ms.compare_selectors`: kept, saved
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
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "support_")
        return result_of(self, forecast, comparison, source)

    def save(self, path: str | Path) -> None:
        """Write `result()` to a .zip file that `ms.load_result` reads back."""
        self.result().save(path)

    # ------------------------------------------------------------------ how many resamples

    def rank(self, data: Data, rng: np.random.Generator) -> RankedResamples:
        """Rank the features on as many resamples as asked for: the part of `fit` before selection.

        `n_features_in_` must be set.
        """
        return combine_rankers(self, self.run_rankers(data, rng))

    def run_rankers(self, data: Data, rng: np.random.Generator) -> dict[str, Runs]:
        """Make the runs of every ranker, by its name: the part of `rank` before aggregation."""
        if self.n_resamples == "auto":
            return self._run_on_enough_resamples(data, rng)
        if self.target_stability is not None:
            raise InputError(
                f"target_stability needs n_resamples='auto', but n_resamples is "
                f"{self.n_resamples!r}."
            )
        n = check_count("n_resamples", self.n_resamples, 2)
        return collect_runs(self, data, n, rng)

    def _run_on_enough_resamples(self, data: Data, rng: np.random.Generator) -> dict[str, Runs]:
        from mainstay.forecast import forecast_stability

        if not isinstance(self.resampling, str) and hasattr(self.resampling, "split"):
            raise InputError("n_resamples='auto' needs a resampling, not a splitter of fixed size.")
        by_ranker: dict[str, Runs] = {}
        missing, seed = _FIRST_RESAMPLES, int(rng.integers(2**32))
        target = 0.9 if self.target_stability is None else self.target_stability
        while missing > 0:
            more = collect_runs(self, data, missing, rng)
            by_ranker = {
                name: Runs.concatenate([by_ranker[name], runs]) if by_ranker else runs
                for name, runs in more.items()
            }
            runs = combined_runs(self, by_ranker)
            self.forecast_ = forecast_stability(
                runs,
                protocol="flat",
                n_features_to_select=self._features_per_run(self._number_to_select()),
                aggregation=self.aggregation,
                random_state=seed,
            )
            plan = self.forecast_.plan(target, largest=_MOST_RESAMPLES)
            # an early forecast is rough: at most three times as many before looking again
            missing = min(plan.recommended_size, 3 * runs.n_runs) - runs.n_runs
        self.decision_ = f"{runs.n_runs} resamples were run. {plan}"
        _log.info(self.decision_)
        if not plan.reached:
            warnings.warn(self.decision_, stacklevel=4)
        return by_ranker

    # ------------------------------------------------------------------ how many features

    def _number_to_select(self) -> int | float | None:
        """A number of features, a frequency (a float), or None for "auto"."""
        wanted, p = self.n_features_to_select, self.n_features_in_
        if isinstance(wanted, str):
            if wanted == "auto":
                return None
            match = _FREQUENCY.fullmatch(wanted.strip())
            if match is None:
                raise InputError(
                    f"n_features_to_select must be a number, a share, 'auto' or such as "
                    f"'frequency>=0.8', got {wanted!r}."
                )
            return check_fraction("the frequency in n_features_to_select", match[1])
        return share_or_number("n_features_to_select", wanted, p)

    def _features_per_run(self, k: int | float | None) -> int:
        if self.n_features_per_run is not None:
            return share_or_number(
                "n_features_per_run", self.n_features_per_run, self.n_features_in_
            )
        return k if isinstance(k, int) else max(1, math.ceil(0.1 * self.n_features_in_))

    def _cross_validated_number(self, data: Data, rng: np.random.Generator) -> int:
        """Fewest features within one standard error of the best; ensembles inside the folds."""
        X, y = data.X, data.y
        estimator = default_estimator(X, y) if self.estimator is None else self.estimator
        cv = check_cv(self.cv, y, classifier=is_classifier(estimator))
        sizes = candidate_sizes(self.n_features_in_)
        folds = list(cv.split(np.zeros((len(y), 1)), y, data.groups))
        seeds = rng.integers(2**62, size=len(folds))
        scores = []
        for (train, test), seed in zip(folds, seeds, strict=True):
            inside = np.random.default_rng(int(seed))
            found = rank_on_resamples(self, data.rows(train), self.n_resamples_, inside)
            scores.append(
                score_sizes(found.ranking.order, sizes, estimator, X, y, train, test, self.scoring)
            )
        table = np.array(scores)
        mean, best = table.mean(axis=0), int(table.mean(axis=0).argmax())
        error = table[:, best].std(ddof=1) / math.sqrt(len(table))
        self.cv_scores_ = dict(zip(sizes, mean.tolist(), strict=True))
        return int(sizes[int(np.flatnonzero(mean >= mean[best] - error)[0])])

    def _similarity(self, X: Any) -> FeatureSimilarity | None:
        if self.similarity_threshold is None:
            return None
        threshold = check_fraction("similarity_threshold", self.similarity_threshold)
        return numeric_similarity(X, self.runs_.features, threshold)
