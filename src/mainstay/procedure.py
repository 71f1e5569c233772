"""Procedure: what is repeated.

A `Procedure` is a frozen value: the rankers, how rows are resampled, how runs become one ranking,
how many features a run selects. Whatever repeats the whole thing (ensembles, forecasts, folds,
pairs of studies, permuted targets) calls it on other rows, another target or another seed; nothing
else knows how runs are made.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mainstay._checkpoint import active
from mainstay._parallel import Progress, n_cores, run_tasks
from mainstay._sklearn import take_rows
from mainstay._validation import (
    InputError,
    distinct,
    natural_order,
    share_or_number,
    some,
)
from mainstay.aggregation import AGGREGATIONS, Ranking, aggregate
from mainstay.aggregation.rules import check_rule_of_ranks, find_rule, rules_of_ranks
from mainstay.data import Data, StreamedData
from mainstay.rankers import make_ranker
from mainstay.rankers.base import (
    BlockScorer,
    for_number,
    for_run,
    for_task,
    has_fast_path,
    resample_scorer,
    target_scorer,
)
from mainstay.rankers.streamed import stream_scores
from mainstay.resampling import Resamples, check_one_pass, make_resamples, takes_all_rows
from mainstay.runs import Runs

_BLOCK = 256  # resamples whose weights are in memory at once
_FEW_PLACES = 5  # fewer are not worth a warning about how they were filled
_SHARE_PER_RUN = 0.1  # of the features, where nothing else is said

RunsByRanker = dict[str, Runs]
Prepared = Mapping[str, Callable[[Any], BlockScorer] | None]


@dataclass(frozen=True, eq=False)
class Procedure:
    """A whole selection procedure, to be run on any data: rankers, resampling, aggregation.

    Attributes
    ----------
    rankers : tuple of (str, ranker)
        What scores the features of a resample, by name.
    weights : tuple of float or None
        Weights of several rankers; None: equal.
    resampling : str, resampling or splitter
        How the rows of one run are drawn; see `mainstay.resampling`.
    aggregation : str or callable
        How the runs become one ranking; see `ms.list_aggregations()`.
    n_features_per_run : int, float or None
        How many features (or which share) one run selects; a tenth if None.
    between : str or callable
        How the rankings of several rankers become one; see `EnsembleSelector.ranker_aggregation`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> data = Data.check(*load_iris(return_X_y=True, as_frame=True))
    >>> procedure = Procedure.of("information_gain", n_features_per_run=2)
    >>> runs = procedure.run(data, 10, np.random.default_rng(0))
    >>> procedure.combine(runs).best(2)
    ('petal width (cm)', 'petal length (cm)')
    """

    rankers: tuple[tuple[str, Any], ...]
    weights: tuple[float, ...] | None = None
    resampling: Any = "bootstrap"
    aggregation: Any = "mean"
    n_features_per_run: int | float | None = None
    between: Any = "rank_mean"

    @classmethod
    def of(
        cls,
        ranker: Any,
        *,
        weights: Sequence[float] | None = None,
        resampling: Any = "bootstrap",
        aggregation: Any = "mean",
        n_features_per_run: int | float | None = None,
        between: Any = "rank_mean",
    ) -> Procedure:
        """Make a procedure of a ranker or several, each in any form that `make_ranker` takes."""
        specs = list(ranker) if isinstance(ranker, list | tuple) else [ranker]
        if not specs:
            raise InputError("ranker is an empty list; give at least one ranker.")
        names = distinct(spec if isinstance(spec, str) else type(spec).__name__ for spec in specs)
        named = {name: make_ranker(spec) for name, spec in zip(names, specs, strict=True)}
        _check_between(between, names, weighted=weights is not None)
        shares = None if weights is None else _checked_shares(weights, len(named))
        return cls(
            tuple(named.items()), shares, resampling, aggregation, n_features_per_run, between
        )

    def alone(self) -> Procedure:
        """The same rankers without resampling: one run that sees every row once."""
        return replace(self, resampling="none", aggregation="mean")

    @property
    def is_alone(self) -> bool:
        """Whether there is one run, on all rows."""
        return takes_all_rows(self.resampling)

    def prepare(self, data: Data) -> Prepared:
        """What the rankers make of X alone, by their names, to be used with many targets."""
        return {
            name: target_scorer(self._decided(ranker, data), data.X)
            for name, ranker in self.rankers
        }

    def _decided(self, ranker: Any, data: Data | StreamedData) -> Any:
        """The ranker, told what y is, and how many features matter where it orders only some."""
        return for_number(
            for_task(ranker, data.task), self.per_run(data.n_features), data.n_features
        )

    def run(
        self,
        data: Data | StreamedData,
        n: int,
        rng: np.random.Generator,
        *,
        n_jobs: int | None = None,
        progress: Progress = "auto",
        prepared: Prepared | None = None,
    ) -> RunsByRanker:
        """Run every ranker on the same n resamples: one Runs per ranker, by its name.

        With `prepared`, from `prepare` on data with the same X, rankers that score many resamples
        at once do so in this process.
        """
        if isinstance(data, StreamedData):
            check_one_pass(self.resampling)
        resamples = make_resamples(
            self.resampling,
            n,
            data.n_rows,
            classes=data.classes,
            groups=data.groups,
            y=data.y,
            rng=rng,
        )
        options: dict[str, Any] = {"n_jobs": n_jobs, "progress": progress}
        by_ranker = {}
        for name, ranker in self.rankers:
            scorer = None if prepared is None else prepared[name]
            decided = self._decided(ranker, data) if scorer is None else ranker
            by_ranker[name] = _run_ranker(decided, data, resamples, rng, scorer=scorer, **options)
        return by_ranker

    def merge(self, by_ranker: RunsByRanker) -> Runs:
        """Runs of the one ranker; of several, their ranks combined run by run.

        Combined by "rank_mean" they are minus the weighted mean of the ranks.
        """
        several = list(by_ranker.values())
        if len(several) == 1:
            return several[0]
        features, every = several[0].features, np.stack([ranks_of(runs) for runs in several])
        if self.between == "rank_mean":
            scores = -np.average(every, axis=0, weights=self.weights)
        else:
            combined = [self._between(every[:, i], features).scores for i in range(every.shape[1])]
            scores = np.stack(combined)
        return Runs("scores", scores, features, paired=several[0].paired).as_resampled()

    def combine(
        self, by_ranker: RunsByRanker, *, ties: np.random.Generator | None = None
    ) -> Ranking:
        """Aggregate the runs of every ranker, and the rankings of several by `between`.

        Features that nothing tells apart stand in the order of their names, or with `ties` in a
        random one. Rankings that are compared with each other need the latter: in the order of
        names they would agree on features that neither of them chose.
        """
        if ties is not None:
            features = next(iter(by_ranker.values())).features
            order = natural_order(features)[ties.permutation(len(features))]
            shuffled = {name: runs.reordered(order) for name, runs in by_ranker.items()}
            return self.combine(shuffled).put_back(order, features)
        rankings = [self._aggregated(runs) for runs in by_ranker.values()]
        if len(rankings) == 1:
            return rankings[0]
        ranks = np.stack([ranking.ranks for ranking in rankings]).astype(float)
        return self._between(ranks, rankings[0].features)

    def _between(self, ranks: np.ndarray, features: tuple[str, ...]) -> Ranking:
        """Combine the rankings of several rankers, which saw the same rows."""
        together = Runs("ranks", ranks, features).as_resampled()
        return aggregate(together, self.between, weights=self.weights)

    def rules(self, by_ranker: RunsByRanker) -> dict[str, str]:
        """Names of the rules that make one ranking of the runs of every ranker."""
        return {
            name: find_rule(rule_of_runs(runs, self.aggregation), runs.kind).name
            for name, runs in by_ranker.items()
        }

    def rule_of_merged(self) -> Any:
        """The rule that combines what `merge` makes, for forecasts of larger ensembles.

        One that needs scores from 0 up is refused for several rankers: of these, merged runs have
        ranks.
        """
        rule = AGGREGATIONS.get(self.aggregation) if isinstance(self.aggregation, str) else None
        if len(self.rankers) > 1 and rule is not None and rule.lowest > -np.inf:
            raise InputError(
                f"a forecast for several rankers combines their ranks in every run, but "
                f"aggregation={rule.name!r} reads the scores of each; forecast with 'mean', "
                "'median' or a rule of ranks such as 'rank_mean', or one ranker at a time."
            )
        return self.aggregation

    def rank(
        self, data: Data, n: int, rng: np.random.Generator, *, n_jobs: int | None = 1
    ) -> Ranking:
        """Run and combine, without a progress bar: what one repetition of the whole gives."""
        return self.combine(self.run(data, n, rng, n_jobs=n_jobs, progress=False))

    def select(self, ranking: Ranking, runs: Runs, k: int) -> np.ndarray:
        """Mask of the k best features; features that no run selected are never among them.

        Ties at the cut go by the order of names, and a warning says so.
        """
        wanted = k
        if runs.kind == "support":
            ever = int((runs.counts > 0).sum())
            if ever < k:
                warnings.warn(
                    f"{k} features were asked for, but the {runs.n_runs} runs selected only "
                    f"{ever} different ones; {ever} are selected.",
                    stacklevel=3,
                )
                wanted = ever
        _report_tie(ranking, runs, wanted)
        mask = np.zeros(len(ranking.features), dtype=bool)
        mask[ranking.order[:wanted]] = True
        return mask

    def per_run(self, n_features: int) -> int:
        """How many of the features one run selects."""
        share = _SHARE_PER_RUN if self.n_features_per_run is None else self.n_features_per_run
        return share_or_number("n_features_per_run", share, n_features)

    def _aggregated(self, runs: Runs) -> Ranking:
        return aggregate_runs(runs, self.aggregation, self.per_run(runs.n_features))


def as_procedure(spec: Any, **settings: Any) -> Procedure:
    """Take a Procedure, the one of an EnsembleSelector, or make one around a ranker.

    Settings that are not None replace those of the procedure.
    """
    given = {name: value for name, value in settings.items() if value is not None}
    procedure = spec if isinstance(spec, Procedure) else getattr(spec, "procedure", None)
    if isinstance(procedure, Procedure):
        return replace(procedure, **given)
    return Procedure.of(spec, **given)


def asked_task(spec: Any, task: str) -> str:
    """Which task was asked for: this one, or where that is "auto" the selector's own."""
    return getattr(spec, "task", "auto") if task == "auto" else task


def aggregate_runs(runs: Runs, method: Any, k: int) -> Ranking:
    """Combine runs; selections by their frequency, and rules that count count the k best."""
    if runs.kind == "support":
        return aggregate(runs, rule_of_runs(runs, method))
    counts = isinstance(method, str) and method in AGGREGATIONS
    if counts and AGGREGATIONS[method].kind == "selections":
        return aggregate(runs, method, top=k)
    return aggregate(runs, method)


def rule_of_runs(runs: Runs, method: Any) -> Any:
    """The rule that stands in for `method` where runs hold selections, which have no scores."""
    return "frequency" if runs.kind == "support" and method in ("mean", "median") else method


def selections(runs: Runs, k: int, seed: int) -> Runs:
    """What every run selects: its own selection, or its k best features (ties at random)."""
    if runs.kind == "support":
        return runs
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "in .* runs features tie")
        return runs.top(k, random_state=seed)


def report_padding(runs: Runs, k: int) -> None:
    """Warn if most of what the runs select was drawn from features that they cannot tell apart."""
    if runs.kind == "support" or not _FEW_PLACES <= k < runs.n_features:
        return
    values = -runs.ranks if runs.kind == "ranks" else runs.scores
    last = -np.partition(-values, k - 1, axis=1)[:, [k - 1]]
    places = k - (values > last).sum(axis=1)
    at_random = np.where((values == last).sum(axis=1) > places, places, 0).mean()
    if at_random > k / 2:
        warnings.warn(
            f"the runs cannot tell {k} features from the others: on average {at_random:.3g} of the "
            f"{k} places in a run were filled at random from features with equal scores. Let a run "
            "select fewer (n_features_per_run, or n_features_to_select).",
            stacklevel=3,
        )


def ranks_of(runs: Runs) -> np.ndarray:
    """Ranks of the runs; in a selection the selected share the best places."""
    if runs.kind != "support":
        return runs.ranks
    return Runs("scores", runs.support.astype(float), runs.features).ranks


def _report_tie(ranking: Ranking, runs: Runs, k: int) -> None:
    """Say which features cannot be told apart at the cut, neither by score nor by mean rank."""
    if not 0 < k < len(ranking.order):
        return
    last, following = ranking.order[k - 1], ranking.order[k]
    keys = np.column_stack([ranking.scores, ranks_of(runs).mean(axis=0)])
    if not np.allclose(keys[last], keys[following], rtol=1e-12, atol=0):
        return
    alike = np.isclose(keys, keys[last], rtol=1e-12, atol=0).all(axis=1)
    tied = [ranking.features[j] for j in ranking.order if alike[j]]
    warnings.warn(
        f"{len(tied)} features tie for place {k}, the last that is selected: {some(tied)}. Those "
        "that come first by name were taken.",
        stacklevel=4,
    )


def _check_between(between: Any, rankers: list[str], *, weighted: bool) -> None:
    """Refuse rules that do not combine rankers, and what is said of several if there is one."""
    rule = check_rule_of_ranks("ranker_aggregation", between)
    if len(rankers) == 1 and weighted:
        raise InputError("ranker_weights are for several rankers.")
    if len(rankers) == 1 and rule.name != "rank_mean":
        raise InputError(
            f"ranker_aggregation={rule.name!r} is for several rankers, and there is one: "
            f"{rankers[0]}. What combines its runs is aggregation=."
        )
    if weighted and rule.weights != "yes":
        raise InputError(
            f"ranker_aggregation={rule.name!r} takes no ranker_weights. Leave them out, or use one "
            f"of: {', '.join(rules_of_ranks(weighted=True))}."
        )


def _checked_shares(weights: Sequence[float], n: int) -> tuple[float, ...]:
    values = np.asarray(weights, dtype=float)
    if values.shape != (n,) or not (values >= 0).all() or values.sum() <= 0:
        raise InputError(f"ranker_weights must be {n} numbers of at least 0, got {weights!r}.")
    return tuple((values / values.sum()).tolist())


# ---------------------------------------------------------------------- runs of one ranker


def _run_ranker(
    ranker: Any,
    data: Data | StreamedData,
    resamples: Resamples,
    rng: np.random.Generator,
    *,
    scorer: Callable[[Any], BlockScorer] | None,
    n_jobs: int | None,
    progress: Progress,
) -> Runs:
    """Run one ranker on every resample: from row weights where it can, else by fitting it."""
    options: dict[str, Any] = {
        "n_jobs": n_jobs,
        "progress": progress,
        "description": type(ranker).__name__,
    }
    if isinstance(data, StreamedData):
        del options["description"]
        scores = stream_scores(ranker, data.batches, data.target, resamples, **options)
        runs = Runs.of_new_scores(scores, data.features)
    elif scorer is not None:
        scores = _score_blocks(scorer(data.y), data, resamples, 0, len(resamples))
        runs = Runs.of_new_scores(scores, data.features)
    elif has_fast_path(ranker):
        # whole blocks for every core: the data are prepared once per core, and what is computed
        # together does not depend on their number; in a checkpoint neither do the tasks
        blocks = -(-len(resamples) // _BLOCK)
        step = _BLOCK * -(-blocks // min(blocks, n_cores(n_jobs) if active() is None else blocks))
        tasks: Any = [
            (ranker, data, resamples, at, at + step) for at in range(0, len(resamples), step)
        ]
        results = run_tasks(_prepare_and_score, tasks, **options)
        runs = Runs.of_new_scores(_joined(results), data.features)
    else:
        seeds = rng.integers(2**31, size=len(resamples))
        tasks = [(ranker, data, resamples, i, int(seed)) for i, seed in enumerate(seeds)]
        results = run_tasks(_fit_resample, tasks, **options)
        make = Runs.from_support if results[0].dtype == bool else Runs.from_scores
        runs = make(np.stack(results), data.features)
    return runs.as_pairs() if resamples.paired else runs.as_resampled()


def _prepare_and_score(
    ranker: Any, data: Data, resamples: Resamples, start: int, stop: int
) -> np.ndarray:
    score = resample_scorer(ranker, data.X, data.y)
    assert score is not None
    return _score_blocks(score, data, resamples, start, stop)


def _score_blocks(
    score: BlockScorer, data: Data, resamples: Resamples, start: int, stop: int
) -> np.ndarray:
    parts = []
    for at in range(start, min(stop, len(resamples)), _BLOCK):
        weights = resamples.weights(at, min(at + _BLOCK, stop))
        parts.append(score(weights if data.sample_weight is None else weights * data.sample_weight))
    return _joined(parts)


def _joined(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Rows of all parts; those of a single one are not copied."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _fit_resample(ranker: Any, data: Data, resamples: Resamples, i: int, seed: int) -> np.ndarray:
    """Fit the ranker to one resample; its selection if it makes one, else its scores."""
    rows = resamples.rows(i)
    one = for_run(ranker, seed)
    given = data.sample_weight
    weights: Mapping[str, Any] = {} if given is None else {"sample_weight": given[rows]}
    one.fit(take_rows(data.X, rows), data.y[rows], **weights)
    support = getattr(one, "support_", None)
    return np.asarray(one.scores_) if support is None else np.asarray(support, dtype=bool)
