"""What all rankers share: fit, scores_, ranks_, and scoring of many resamples at once."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone

from mainstay._validation import InputError, check_choice
from mainstay._workspace import recycled
from mainstay.rankers.contingency import weight_blocks
from mainstay.rankers.discretization import (
    OPTIONS,
    Binning,
    Coded,
    checked_binning,
    code_columns,
    code_target,
    discretize,
    with_old_names,
)
from mainstay.rankers.inputs import TARGET_OF_TASK, Table, Target, read_target
from mainstay.runs import average_ranks

_FEWEST_IN_ORDER = 50  # features that a greedy ranker orders
# Scores of a block of resamples: b × n weights → b × p scores.
BlockScorer = Callable[[np.ndarray], np.ndarray]
# A target y → the function that scores a block, and attributes for `fit`.
ForTarget = Callable[[Any], tuple[BlockScorer, dict[str, Any]]]


@dataclass(frozen=True)
class NamedRanker:
    """What is known of a ranker that has a name; calling it makes the ranker.

    Attributes
    ----------
    make : callable
        The class, or a function that takes the same options.
    kind : str
        "table" (bins × classes), "moments" (means and variances), "greedy" or "model".
    summary : str
        One line; by default the first line of the docstring of `make`.
    reference : str
        Who proposed it; "; " joins several.
    """

    make: Callable[..., Any]
    kind: str
    summary: str = ""
    reference: str = ""

    def __post_init__(self) -> None:
        if not self.summary:
            object.__setattr__(self, "summary", (self.make.__doc__ or "").strip().split("\n")[0])

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Make the ranker."""
        return self.make(*arguments, **options)


def has_fast_path(ranker: Any) -> bool:
    """Tell whether a ranker scores many resamples at once, from row weights."""
    return hasattr(ranker, "resample_scorer") or hasattr(ranker, "score_resamples")


def resample_scorer(ranker: Any, X: Any, y: Any) -> Callable[[np.ndarray], np.ndarray] | None:
    """Prepare the fast path of a ranker: a function from B × n row weights to B × p scores.

    Parameters
    ----------
    ranker : ranker
        With `resample_scorer(X, y)`, which prepares the data once, or
        `score_resamples(X, y, weights)`.
    X, y
        As in `fit`.

    Returns
    -------
    callable or None
        None if the ranker has neither method: it must be fitted to every resample.

    Examples
    --------
    >>> from mainstay.rankers import FStatistic
    >>> score = resample_scorer(FStatistic(), [[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> score(np.array([[1, 1, 1, 1], [2, 2, 2, 2]]))
    array([[ 8.],
           [24.]])
    """
    if not has_fast_path(ranker):
        return None
    if hasattr(ranker, "resample_scorer"):
        score = ranker.resample_scorer(X, y)
    else:
        score = partial(ranker.score_resamples, X, y)
    ours = isinstance(ranker, WeightedRanker)

    def checked(weights: np.ndarray) -> np.ndarray:
        if not ours and weights.dtype.kind in "ui":
            weights = weights.astype(np.int64)  # sums of small integers would overflow
        scores = score(weights)
        scores = scores if ours else np.array(scores, dtype=float)  # it may keep its own
        expected = len(weights), np.shape(X)[1]
        if scores.shape != expected:
            raise InputError(
                f"the scores of {type(ranker).__name__} in {expected[0]} resamples of "
                f"{expected[1]} features have shape {scores.shape}; they must be resamples × "
                f"features, {expected}."
            )
        return scores

    return checked


def target_scorer(ranker: Any, X: Any) -> Callable[[Any], BlockScorer] | None:
    """Prepare X once for many targets: a function from y to what `resample_scorer` gives.

    None if the ranker has no fast path. Rankers without a `target_scorer(X)` of their own prepare
    X anew for every target.

    Examples
    --------
    >>> from mainstay.rankers import FStatistic
    >>> score = target_scorer(FStatistic(), [[1.0], [2.0], [3.0], [4.0]])
    >>> weights = np.ones((1, 4))
    >>> score([0, 0, 1, 1])(weights), score([0, 1, 0, 1])(weights)
    (array([[8.]]), array([[0.5]]))
    """
    if not has_fast_path(ranker):
        return None
    if not hasattr(ranker, "target_scorer"):
        return lambda y: resample_scorer(ranker, X, y)  # type: ignore[return-value]
    scorer: Callable[[Any], BlockScorer] = ranker.target_scorer(X)
    return scorer


def scores_features_alone(ranker: Any) -> bool:
    """Tell whether the score of a feature depends on that feature and the target only."""
    return bool(getattr(ranker, "scores_features_alone", False))


def for_task(ranker: Any, task: str) -> Any:
    """Tell a ranker whether classes or numbers are to be predicted.

    Parameters
    ----------
    ranker : ranker
        Its parameters called `target` that are "auto" are decided; others stay as they are.
    task : {"auto", "classification", "regression"}
        "auto" leaves it to the ranker, which decides by y (see `inputs.infer_task`).

    Returns
    -------
    ranker
        A copy, or the ranker itself if there is nothing to decide.

    Examples
    --------
    >>> from mainstay.rankers import FStatistic
    >>> for_task(FStatistic(), "regression")
    FStatistic(target='continuous')
    """
    if check_choice("task", task, ("auto", *TARGET_OF_TASK)) == "auto":
        return ranker
    undecided = [
        name
        for name, value in ranker.get_params().items()
        if f"__{name}".endswith("__target") and isinstance(value, str) and value == "auto"
    ]
    return _told(ranker, dict.fromkeys(undecided, TARGET_OF_TASK[task]))


def for_number(ranker: Any, k: int, p: int) -> Any:
    """Tell a greedy ranker that the k best of p features will be used.

    Parameters
    ----------
    ranker : ranker
        Its `n_features_to_select`, if it is "auto", becomes 2k, at least 50 and at most p, with
        `rest="criterion"`; others stay as they are.
    k, p : int
        How many features are used, and how many there are.

    Returns
    -------
    ranker
        A copy, or the ranker itself if there is nothing to decide.

    Examples
    --------
    >>> from mainstay.rankers import MRMR
    >>> for_number(MRMR(), 100, 10_000)
    MRMR(n_features_to_select=200, rest='criterion')
    """
    wanted = getattr(ranker, "n_features_to_select", None)
    greedy = isinstance(wanted, str) and wanted == "auto" and hasattr(ranker, "rest")
    depth = max(_FEWEST_IN_ORDER, 2 * k)
    undecided = greedy and ranker.scores != "criterion" and depth < p
    return _told(ranker, {"n_features_to_select": depth, "rest": "criterion"} if undecided else {})


def _told(ranker: Any, settings: Mapping[str, Any]) -> Any:
    """A copy of the ranker with other settings; itself where there are none."""
    return clone(ranker).set_params(**settings) if settings else ranker


def for_run(ranker: Any, seed: int) -> Any:
    """Copy a ranker for one run: all parameters called `random_state`, inside it too, are its seed.

    Examples
    --------
    >>> from mainstay.rankers import PermutationImportance
    >>> for_run(PermutationImportance(), 3)
    PermutationImportance(random_state=3)
    """
    if getattr(ranker, "_fits_a_copy", False):  # of its estimator, and seeds that
        one = object.__new__(type(ranker))  # copy() asks for the state as a pickle would
        vars(one).update(vars(ranker), random_state=seed)
        return one
    one = clone(ranker)
    names = [n for n in one.get_params() if n == "random_state" or n.endswith("__random_state")]
    return one.set_params(**dict.fromkeys(sorted(names), seed))


class Ranker(BaseEstimator):  # type: ignore[misc]
    """A rule that gives every feature a score, larger = better.

    After `fit`: `scores_`, `ranks_` (1 = best, ties as average ranks), `n_features_in_` and
    `feature_names_in_` (x0, x1, … where the table has no names).
    """

    def _set_result(self, names: tuple[str, ...], scores: np.ndarray) -> Self:
        self.feature_names_in_ = np.asarray(names, dtype=object)
        self.n_features_in_ = len(names)
        self.scores_ = scores
        self.__dict__.pop("ranks_", None)
        return self

    @cached_property
    def ranks_(self) -> np.ndarray:
        """Ranks of the features, 1 = best, ties as average ranks; made when they are asked for."""
        return np.asarray(average_ranks(-self.scores_[None])[0])


class WeightedRanker(Ranker):
    """A ranker that can use row weights: a resample is a vector of multiplicities."""

    _block = 64

    @abstractmethod
    def _prepare_features(self, table: Table) -> ForTarget:
        """Prepare what does not depend on the target; return a function from y to the rest."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Score and rank the features.

        Parameters
        ----------
        X : array, sparse matrix, pandas or polars DataFrame, n × p
            The features.
        y : sequence of n values
            Classes, or numbers for a continuous target.
        sample_weight : sequence of n numbers, optional
            Row weights; a whole number w stands for w copies of the row. Bins are found on the
            rows of X as they are, whatever their weights.
        """
        table = Table(X)
        scorer, attributes = self._prepare_features(table)(y)
        scores = _scores(scorer, one_weighting(sample_weight, table.n_rows), table, 1)[0]
        for name, value in attributes.items():
            setattr(self, name, value)
        return self._set_result(table.names, scores)

    def score_resamples(self, X: Any, y: Any, weights: Any) -> np.ndarray:
        """Score the features in many resamples at once.

        Parameters
        ----------
        X, y
            As in `fit`; what is prepared (bins, orders) is prepared once.
        weights : array, B × n
            How often every row occurs in every resample; any numbers >= 0, not all 0.

        Returns
        -------
        array of float64, B × p
            Row b is what `fit(X, y, sample_weight=weights[b])` has as `scores_`.
        """
        return self.resample_scorer(X, y)(weights)

    def resample_scorer(self, X: Any, y: Any) -> Callable[[Any], np.ndarray]:
        """Prepare X and y once; return a function from B × n weights to B × p scores."""
        return self.target_scorer(X)(y)

    def target_scorer(self, X: Any) -> Callable[[Any], Callable[[Any], np.ndarray]]:
        """Prepare X once for many targets, such as permuted ones.

        Returns
        -------
        callable
            y → a function from B × n weights to B × p scores, as `resample_scorer(X, y)` returns.

        Examples
        --------
        >>> from mainstay.rankers import FStatistic
        >>> scorer = FStatistic().target_scorer([[1.0], [2.0], [3.0], [4.0]])
        >>> [scorer(y)([[1, 1, 1, 1]]).item() for y in ([0, 0, 1, 1], [0, 1, 0, 1])]
        [8.0, 0.5]
        """
        table = Table(X)
        for_target = self._prepare_features(table)

        def scorer(y: Any) -> Callable[[Any], np.ndarray]:
            score, _ = for_target(y)
            return lambda weights: _scores(score, weights, table, self._block)

        return scorer


class _InBinning:
    """An option under its old name: reading and setting it reaches the ranker's Binning."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, ranker: Any, owner: type) -> Any:
        if ranker is None:
            return self
        binning = checked_binning(ranker.binning)
        value = getattr(binning, self._name)
        with_old_names(binning, {self._name: value})
        return value

    def __set__(self, ranker: Any, value: Any) -> None:
        ranker.binning = with_old_names(ranker.binning, {self._name: value})


class DiscreteRanker(WeightedRanker):
    """A ranker that counts bins × classes; see `Binning` for the options."""

    binning: Binning | None
    target: str
    bins, n_bins, missing = _InBinning(), _InBinning(), _InBinning()
    integers, near_zero_variance, rebin = _InBinning(), _InBinning(), _InBinning()

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of the Binning as `binning__n_bins` and so on."""
        old = {name: params.pop(name) for name in OPTIONS if name in params}
        binning = with_old_names(params.get("binning", self.binning), old)
        if old or any(name.startswith("binning__") for name in params):
            params["binning"] = checked_binning(binning)
        super().set_params(**params)
        return self

    @abstractmethod
    def _coded_scorer(self, coded: Coded, attributes: dict[str, Any]) -> BlockScorer:
        """Prepare coded data; return the function that scores a block of weights.

        That function may leave further `attributes` for `fit`, of the last resample it scored.
        """

    def _prepare_features(self, table: Table) -> ForTarget:
        binning = checked_binning(self.binning)
        by_target = binning.looks_at_classes or binning.rebin
        columns = None if by_target else code_columns(table, binning)

        def for_target(y: Any) -> tuple[BlockScorer, dict[str, Any]]:
            target = read_target(y, table.n_rows, self.target)
            if columns is None:
                coded = discretize(table, target, binning)
            else:
                coded = columns.with_classes(code_target(target, binning))
            attributes: dict[str, Any] = {"bin_edges_": coded.edges}
            if not binning.rebin:
                return self._coded_scorer(coded, attributes), attributes

            def recut(weights: np.ndarray) -> np.ndarray:
                return np.concatenate([self._recut(table, target, w, attributes) for w in weights])

            return recut, attributes

        return for_target

    def _recut(
        self, table: Table, target: Target, weights: np.ndarray, attributes: dict[str, Any]
    ) -> np.ndarray:
        """Cut anew in one resample: repeat its rows, find bins, score."""
        if np.any(weights != np.floor(weights)):
            raise InputError("rebin=True needs whole-number weights: how often each row occurs.")
        rows = np.repeat(np.arange(len(weights)), weights.astype(np.int64))
        sample, drawn = ResampledTable(table, rows), _resampled_target(target, rows)
        coded = discretize(sample, drawn, checked_binning(self.binning))
        attributes["bin_edges_"] = coded.edges
        return self._coded_scorer(coded, attributes)(np.ones((1, len(rows)), dtype=np.int64))


class ResampledTable(Table):
    """Rows of a table, drawn with repetition."""

    def __init__(self, table: Table, rows: np.ndarray) -> None:
        self.names, self.n_features, self.n_rows = table.names, table.n_features, len(rows)
        self._source, self._rows = table, rows
        self.floats = None if table.floats is None else table.floats[rows]

    def column(self, j: int) -> Any:  # noqa: D102
        column = self._source.column(j)
        return type(column)(column.kind, column.values[self._rows])


def _resampled_target(target: Target, rows: np.ndarray) -> Target:
    if target.codes is None:
        assert target.values is not None
        return Target(None, target.values[rows])
    _, codes = np.unique(target.codes[rows], return_inverse=True)
    return Target(codes.astype(np.int32), None, int(codes.max()) + 1)


def with_options(options: str) -> Callable[[Any], Any]:
    """Put the description of shared options into a class's docstring, before its references."""

    def described(cls: Any) -> Any:
        if cls.__doc__ is not None:  # as it is with python -OO
            head, mark, tail = cls.__doc__.partition("\n    References")
            cls.__doc__ = head.rstrip() + options + mark + tail
        return cls

    return described


def one_weighting(sample_weight: Any, n_rows: int) -> np.ndarray:
    """Turn sample_weight (or None) into a 1 × n block of weights."""
    if sample_weight is None:
        return np.ones((1, n_rows), dtype=np.int64)
    weights = np.asarray(sample_weight)
    if weights.shape != (n_rows,):
        raise InputError(
            f"sample_weight needs one number per row, {n_rows} here; got shape {weights.shape}."
        )
    return weights[None]


def _scores(scorer: BlockScorer, weights: Any, table: Table, block: int) -> np.ndarray:
    out: np.ndarray | None = None
    for rows, part in weight_blocks(weights, table.n_rows, block):
        scores = scorer(part)
        if len(scores) == len(weights):  # all in one block: not copied
            return np.ascontiguousarray(scores)
        out = recycled(len(weights), table.n_features) if out is None else out
        out[rows] = scores
    return np.empty((0, table.n_features)) if out is None else out
