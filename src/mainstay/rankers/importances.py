"""Rankers made of scikit-learn estimators, selectors and functions.

They have no `score_resamples`: an ensemble really resamples their rows. Columns are handed over in
the natural order of their names, so that shuffling columns with their names changes nothing even
where an estimator draws features by position.
"""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from mainstay._sklearn import (
    importances_of,
    last_step,
    seed,
    spread_out,
    take_columns,
    take_rows,
    weight_parameter,
)
from mainstay._validation import InputError, check_count, check_fraction, natural_order
from mainstay.rankers.base import Ranker, one_weighting
from mainstay.rankers.inputs import Table, check_weights, read_target

_FOREST_TREES = 100


def forest_for(y: Any) -> Any:
    """Make a random forest for the kind of target that y is."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    continuous = read_target(y, len(y), "auto").codes is None
    return (RandomForestRegressor if continuous else RandomForestClassifier)(_FOREST_TREES)


class ModelRanker(Ranker):
    """A ranker around something that is fitted to really resampled rows."""

    random_state: int | None = None
    reorder: bool = True

    @abstractmethod
    def _model_scores(self, X: Any, y: Any, sample_weight: np.ndarray | None) -> np.ndarray:
        """Fit and return one score per column of X."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Score and rank the features.

        Parameters
        ----------
        X : array, sparse matrix, pandas or polars DataFrame, n × p
            The features, in whatever form the estimator takes.
        y : sequence of n values
            The target.
        sample_weight : sequence of n numbers, optional
            Row weights, handed to the estimator; an error if it takes none.
        """
        table = Table(X)
        read_target(y, table.n_rows, "auto")
        if sample_weight is not None:
            weights = one_weighting(sample_weight, table.n_rows)
            sample_weight = check_weights(weights, table.n_rows, names=("sample_weight",))[0]
        order = natural_order(table.names)
        if not self.reorder or np.array_equal(order, np.arange(len(order))):
            order, ordered = np.arange(len(order)), X
        else:
            ordered = take_columns(X, order)
        found = np.asarray(self._model_scores(ordered, y, sample_weight), dtype=float)
        if found.shape != (len(order),):
            raise InputError(
                f"{self!r} gave {found.size} scores for {len(order)} features; steps that make new "
                "features (PCA, one-hot encoding, …) cannot be ranked."
            )
        if not np.isfinite(found).all():
            bad = table.names[order[int(np.flatnonzero(~np.isfinite(found))[0])]]
            raise InputError(f"{self!r} gave feature {bad!r} a score that is not finite.")
        scores = np.empty(len(order))
        scores[order] = found
        return self._set_result(table.names, scores)

    def _fitted(self, estimator: Any, X: Any, y: Any, sample_weight: np.ndarray | None) -> Any:
        """Fit a copy of the estimator (a forest if None), seeded, with weights if given."""
        model = forest_for(y) if estimator is None else clone(estimator)
        seed(model, self.random_state)
        if sample_weight is None:
            return model.fit(X, y)
        return model.fit(X, y, **{weight_parameter(model): sample_weight})


class EstimatorImportance(ModelRanker):
    """Importances or coefficients of any scikit-learn estimator.

    The score is `feature_importances_`, or the absolute value of `coef_` (with several classes or
    outputs, the Euclidean norm over them). The estimator may be the last step of a Pipeline
    (features that an earlier step dropped score 0) or inside a search such as GridSearchCV.
    Coefficients compare features only if those have the same scale: put a StandardScaler before a
    linear model.

    Parameters
    ----------
    estimator : scikit-learn estimator, optional
        By default a random forest of 100 trees, for classes or for numbers as the target asks.
    random_state : int, optional
        Seed for all `random_state` parameters of the estimator; None leaves them alone.
    reorder : bool
        Hand columns over in the natural order of their names. Set to False for a Pipeline that
        picks columns by position.

    References
    ----------
    Breiman, L. (2001). Random forests. Machine Learning 45, 5–32.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from mainstay.rankers import EstimatorImportance
    >>> X = [[0.0, 1], [0.1, 0], [0.9, 1], [1.0, 0]]
    >>> EstimatorImportance(LogisticRegression()).fit(X, [0, 0, 1, 1]).ranks_
    array([1., 2.])
    """

    def __init__(
        self, estimator: Any = None, *, random_state: int | None = None, reorder: bool = True
    ) -> None:
        self.estimator = estimator
        self.random_state = random_state
        self.reorder = reorder

    def _model_scores(self, X: Any, y: Any, sample_weight: np.ndarray | None) -> np.ndarray:
        model = self._fitted(self.estimator, X, y, sample_weight)
        last, kept = last_step(model)
        return spread_out(importances_of(last), kept)


class SplitFrequency(ModelRanker):
    """Share of a forest's trees that split on the feature at least once.

    Parameters
    ----------
    estimator : tree, forest, bagging or boosting of trees, optional
        By default a random forest of 100 trees. May be the last step of a Pipeline.
    random_state, reorder
        As for `EstimatorImportance`.

    References
    ----------
    Kazemitabar, J., Amini, A., Bloniarz, A. and Talwalkar, A. (2017). Variable importance using
    decision trees. NIPS 30.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from mainstay.rankers import SplitFrequency
    >>> X = [[0.0, 1], [0.1, 1], [0.9, 1], [1.0, 1]]
    >>> SplitFrequency(DecisionTreeClassifier()).fit(X, [0, 0, 1, 1]).scores_
    array([1., 0.])
    """

    def __init__(
        self, estimator: Any = None, *, random_state: int | None = None, reorder: bool = True
    ) -> None:
        self.estimator = estimator
        self.random_state = random_state
        self.reorder = reorder

    def _model_scores(self, X: Any, y: Any, sample_weight: np.ndarray | None) -> np.ndarray:
        model = self._fitted(self.estimator, X, y, sample_weight)
        last, kept = last_step(model)
        trees = [last] if hasattr(last, "tree_") else np.ravel(getattr(last, "estimators_", []))
        if len(trees) == 0 or not all(hasattr(tree, "tree_") for tree in trees):
            raise InputError(
                f"{type(last).__name__} has neither tree_ nor estimators_ with tree_; split "
                "frequencies need a decision tree or a forest of them."
            )
        subsets = getattr(last, "estimators_features_", [None] * len(trees))
        used = np.zeros(int(last.n_features_in_))
        for tree, subset in zip(trees, subsets, strict=True):
            split_on = np.unique(tree.tree_.feature[tree.tree_.feature >= 0])
            used[split_on if subset is None else np.asarray(subset)[split_on]] += 1
        return spread_out(used / len(trees), kept)


class PermutationImportance(ModelRanker):
    """Loss of a model's score when the feature's values are shuffled; may be negative.

    Parameters
    ----------
    estimator : scikit-learn estimator, optional
        By default a random forest of 100 trees.
    scoring : str or callable, optional
        A scikit-learn scorer; the estimator's own by default.
    n_repeats : int
        How often every feature is shuffled.
    holdout : float, optional
        Share of the rows to keep from fitting and to measure on (by class, if there are classes);
        None measures on the rows fitted.
    random_state, reorder
        As for `EstimatorImportance`; the seed also draws the holdout and the shuffles.

    References
    ----------
    Breiman, L. (2001). Random forests. Machine Learning 45, 5–32.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from mainstay.rankers import PermutationImportance
    >>> X, y = [[i, 0] for i in range(20)], [int(i > 9) for i in range(20)]
    >>> ranker = PermutationImportance(DecisionTreeClassifier(), random_state=0)
    >>> ranker.fit(X, y).ranks_
    array([1., 2.])
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        scoring: Any = None,
        n_repeats: int = 5,
        holdout: float | None = 0.25,
        random_state: int | None = None,
        reorder: bool = True,
    ) -> None:
        self.estimator = estimator
        self.scoring = scoring
        self.n_repeats = n_repeats
        self.holdout = holdout
        self.random_state = random_state
        self.reorder = reorder

    def _model_scores(self, X: Any, y: Any, sample_weight: np.ndarray | None) -> np.ndarray:
        from sklearn.inspection import permutation_importance
        from sklearn.model_selection import train_test_split

        repeats = check_count("n_repeats", self.n_repeats, 1)
        if hasattr(X, "get_columns"):  # scikit-learn shuffles columns of pandas and numpy only
            X = X.to_pandas()
        elif hasattr(X, "toarray"):
            X = X.toarray()
        rows = held = np.arange(Table(X).n_rows)
        if self.holdout is not None:
            share = check_fraction("holdout", self.holdout, closed=False)
            classes = read_target(y, len(rows), "auto").codes
            rows, held = train_test_split(
                rows, test_size=share, stratify=classes, random_state=self.random_state
            )
        w = sample_weight
        fit_X, fit_y = take_rows(X, rows), take_rows(y, rows)
        model = self._fitted(self.estimator, fit_X, fit_y, None if w is None else w[rows])
        result = permutation_importance(
            model,
            take_rows(X, held),
            take_rows(y, held),
            scoring=self.scoring,
            n_repeats=repeats,
            random_state=self.random_state,
            sample_weight=None if w is None else w[held],
        )
        return np.asarray(result.importances_mean)


class SelectorRanker(ModelRanker):
    """Scores, ranking or support of any scikit-learn selector.

    The score is −`ranking_` (RFE), or `scores_` (SelectKBest and relatives; undefined ones count as
    the worst), or 1 for selected and 0 for other features (SelectFromModel,
    SequentialFeatureSelector). The selector may be the last step of a Pipeline.

    Parameters
    ----------
    selector : scikit-learn selector
        Anything with `ranking_`, `scores_` or `get_support()` after `fit`.
    random_state, reorder
        As for `EstimatorImportance`.

    References
    ----------
    Guyon, I. and Elisseeff, A. (2003). An introduction to variable and feature selection. JMLR 3,
    1157–1182.

    Examples
    --------
    >>> from sklearn.feature_selection import SelectKBest
    >>> from mainstay.rankers import SelectorRanker
    >>> X = [[1.0, 5], [2.0, 6], [3.0, 5], [4.0, 6]]
    >>> SelectorRanker(SelectKBest(k=1)).fit(X, [0, 0, 1, 1]).scores_
    array([8., 0.])
    """

    def __init__(
        self, selector: Any, *, random_state: int | None = None, reorder: bool = True
    ) -> None:
        self.selector = selector
        self.random_state = random_state
        self.reorder = reorder

    def _model_scores(self, X: Any, y: Any, sample_weight: np.ndarray | None) -> np.ndarray:
        fitted = self._fitted(self.selector, X, y, sample_weight)
        last, kept = last_step(fitted)
        if hasattr(last, "ranking_"):
            ranking = np.asarray(last.ranking_, dtype=float)
            return -spread_out(ranking, kept, fill=ranking.max() + 1)
        if hasattr(last, "scores_"):
            scores = np.asarray(last.scores_, dtype=float)
            worst = min(0.0, float(np.min(scores, initial=0.0, where=~np.isnan(scores))))
            return spread_out(np.where(np.isnan(scores), worst, scores), kept, fill=worst)
        if hasattr(last, "get_support"):
            return spread_out(np.asarray(last.get_support(), dtype=float), kept)
        raise InputError(
            f"{type(last).__name__} has none of ranking_, scores_ and get_support() after fit; "
            "a selector needs one of them."
        )


class FunctionRanker(ModelRanker):
    """Scores from a function of X and y, such as scikit-learn's `f_classif`.

    Parameters
    ----------
    function : callable
        (X, y) → p scores, larger = better, or a tuple that begins with them. It gets
        `sample_weight=` if weights are given, and `random_state=` if it has that parameter.
    random_state, reorder
        As for `EstimatorImportance`.

    Examples
    --------
    >>> import numpy as np
    >>> from mainstay.rankers import FunctionRanker
    >>> FunctionRanker(lambda X, y: np.var(X, axis=0)).fit([[1, 5], [2, 5]], [0, 1]).scores_
    array([0.25, 0.  ])
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        random_state: int | None = None,
        reorder: bool = True,
    ) -> None:
        self.function = function
        self.random_state = random_state
        self.reorder = reorder

    def _model_scores(self, X: Any, y: Any, sample_weight: np.ndarray | None) -> np.ndarray:
        known = inspect.signature(self.function).parameters
        options: dict[str, Any] = {}
        if sample_weight is not None:
            if "sample_weight" not in known:
                raise InputError(f"{self!r}: the function takes no sample_weight.")
            options["sample_weight"] = sample_weight
        if "random_state" in known and self.random_state is not None:
            options["random_state"] = self.random_state
        scores = self.function(X, y, **options)
        return np.asarray(scores[0] if isinstance(scores, tuple) else scores, dtype=float)
