"""Rankers made of scikit-learn estimators, selectors and functions.

They have no `score_resamples`: they are fitted to the rows of every resample. Columns are handed
over in the natural order of their names, so that shuffling columns with their names changes nothing
even where an estimator draws features by position.
"""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np

from mainstay._sklearn import (
    FeatureScores,
    fresh_copy,
    last_step,
    read_scores,
    seed,
    spread_out,
    take_columns,
    take_rows,
    takes_only_class_numbers,
    weight_parameter,
)
from mainstay._validation import InputError, check_count, check_fraction, natural_order, some
from mainstay.rankers.base import NamedRanker, Ranker, one_weighting
from mainstay.rankers.inputs import (
    Table,
    check_target,
    check_weight_rows,
    missing_rows,
    read_target,
)
from mainstay.rankers.models import make_model

_HUGE = float(np.finfo(np.float32).max)  # trees of scikit-learn compare float32


class ModelRanker(Ranker):
    """A ranker around something that is fitted to the rows of every resample."""

    target: str = "auto"
    random_state: int | None = None
    reorder: bool = True
    _fits_a_copy = True

    @abstractmethod
    def _model_scores(self, X: Any, y: Any, sample_weight: np.ndarray | None) -> FeatureScores:
        """Fit and score every column of X."""

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
        check_target(y, table.n_rows, self.target)
        if sample_weight is not None:
            weights = one_weighting(sample_weight, table.n_rows)
            sample_weight = check_weight_rows(weights, table.n_rows, what="sample_weight")[0]
        order = natural_order(table.names) if self.reorder else np.arange(table.n_features)
        moved = bool((order[1:] < order[:-1]).any())
        ordered = take_columns(X, order) if moved else X if hasattr(X, "shape") else np.asarray(X)
        scores, support = self._model_scores(ordered, self._labels(y), sample_weight)
        if scores.shape != (len(order),):
            raise InputError(
                f"{self!r} gave {scores.size} scores for {len(order)} features; one score for "
                "each column of X is needed, so no step may make new features."
            )
        if not np.isfinite(scores).all():
            bad = table.names[order[int(np.flatnonzero(~np.isfinite(scores))[0])]]
            raise InputError(f"{self!r} gave feature {bad!r} a score that is not finite.")
        if moved:
            place = np.argsort(order)
            scores, support = scores[place], None if support is None else support[place]
        self.support_ = support
        return self._set_result(table.names, scores)

    def _labels(self, y: Any) -> Any:
        """The target; class numbers for XGBoost, which takes no other labels."""
        model = getattr(self, "estimator", getattr(self, "selector", None))
        if not takes_only_class_numbers(model):
            return y
        classes = read_target(y, len(y), self.target).codes
        return y if classes is None else classes

    def _copied(self, estimator: Any, X: Any, y: Any) -> Any:
        """Copy the estimator, or make the one of that name for the target."""
        if estimator is not None and not isinstance(estimator, str):
            return fresh_copy(estimator)
        classes = read_target(y, len(y), self.target).codes is not None
        return make_model(estimator, X, "classification" if classes else "regression")

    def _fitted(self, model: Any, X: Any, y: Any, sample_weight: np.ndarray | None) -> Any:
        """Seed the model and fit it, with weights if given."""
        seed(model, self.random_state)
        weights = {}
        if sample_weight is not None:
            weights[weight_parameter(model)] = sample_weight
        try:
            return model.fit(X, y, **weights)
        except (ValueError, TypeError) as error:
            if not isinstance(error, InputError):
                _explain(error, model, Table(X))
            raise


def _explain(error: Exception, model: Any, table: Table) -> None:
    """Raise an error that names columns of text or with gaps, if a model fails and X has any."""
    columns = {name: table.column(j) for j, name in enumerate(table.names)}
    text = [name for name, column in columns.items() if column.kind == "category"]
    gaps = [name for name, column in columns.items() if missing_rows(column).any()]
    if text:
        problem, advice = f"text or categories in {some(text)}", "Encode these columns as numbers"
    elif gaps:
        problem, advice = f"missing values in {some(gaps)}", "Fill them in"
    elif huge := [name for name, column in columns.items() if (abs(column.values) > _HUGE).any()]:
        problem, advice = f"values beyond {_HUGE:.0e} in {some(huge)}", "Rescale these columns"
    else:
        return
    raise InputError(
        f"{type(model).__name__} could not be fitted to data with {problem}. {advice}, drop the "
        "columns, or use a ranker that takes them as they are, such as 'information_gain'. "
        f"The error was: {error}"
    ) from error


class EstimatorImportance(ModelRanker):
    """Importances, coefficients or scores of any estimator.

    The score is what the estimator has after `fit`: `scores_`, `feature_importances_`, or the
    absolute value of `coef_` (with several classes or outputs, the Euclidean norm over them). An
    estimator with a boolean `support_` selects features; see `SelectorRanker`. The estimator may be
    the last step of a Pipeline (features that an earlier step dropped score worst) or inside a
    search such as GridSearchCV. Coefficients compare features only if those have the same scale:
    put a StandardScaler before a linear model.

    Parameters
    ----------
    estimator : estimator, or {"random_forest", "extra_trees", "linear", "boosting"}
        Any scikit-learn estimator, or one by its name, made for classes or for numbers as the
        target asks: a random forest of 100 trees; five extremely randomised trees; a logistic or
        ridge regression on standardised features with gaps filled in; or 100 gradient-boosted
        trees of depth 3 (LightGBM or XGBoost; `pip install 'mainstay[boost]'`).
    target : {"auto", "class", "continuous"}
        Whether y holds classes or numbers.
    random_state : int, optional
        Seed for all `random_state` parameters of the estimator; None leaves them alone.
    reorder : bool
        Hand over the columns in the natural order of their names, so that shuffling them changes
        no result. Set it to False for a Pipeline that picks columns by position.

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
        self,
        estimator: Any = "random_forest",
        *,
        target: str = "auto",
        random_state: int | None = None,
        reorder: bool = True,
    ) -> None:
        self.estimator = estimator
        self.target = target
        self.random_state = random_state
        self.reorder = reorder

    def _model_scores(self, X: Any, y: Any, sample_weight: np.ndarray | None) -> FeatureScores:
        model = self._copied(self.estimator, X, y)
        if isinstance(self.estimator, str):
            classes = read_target(y, len(y), self.target).codes
            y = y if classes is None else classes  # labels do not matter; XGBoost takes only codes
        return self._read(self._fitted(model, X, y, sample_weight), X.shape[1])

    def _read(self, model: Any, n_features: int) -> FeatureScores:
        return read_scores(model, n_features)


class SplitFrequency(EstimatorImportance):
    """Share of a forest's trees that split on the feature at least once.

    Parameters
    ----------
    estimator : tree, forest, bagging or boosting of trees, or {"random_forest", "extra_trees"}
        May be the last step of a Pipeline. By default a random forest of 100 trees.
    target, random_state, reorder
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

    def _read(self, model: Any, n_features: int) -> FeatureScores:
        last, places = last_step(model, n_features)
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
        return FeatureScores(spread_out(used / len(trees), places, n_features, 0.0))


class PermutationImportance(ModelRanker):
    """Loss of a model's score when the feature's values are shuffled; may be negative.

    Parameters
    ----------
    estimator : estimator, or {"random_forest", "extra_trees", "linear", "boosting"}
        As for `EstimatorImportance`, but any estimator that predicts will do.
    scoring : str or callable, optional
        A scikit-learn scorer; the estimator's own by default.
    n_repeats : int
        How often every feature is shuffled.
    holdout : float, optional
        Share of the rows to leave out of the fit and measure on (stratified, if there are
        classes); None measures on the rows of the fit.
    target, random_state, reorder
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
        estimator: Any = "random_forest",
        *,
        scoring: Any = None,
        n_repeats: int = 5,
        holdout: float | None = 0.25,
        target: str = "auto",
        random_state: int | None = None,
        reorder: bool = True,
    ) -> None:
        self.estimator = estimator
        self.scoring = scoring
        self.n_repeats = n_repeats
        self.holdout = holdout
        self.target = target
        self.random_state = random_state
        self.reorder = reorder

    def _model_scores(self, X: Any, y: Any, sample_weight: np.ndarray | None) -> FeatureScores:
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
            classes = read_target(y, len(rows), self.target).codes
            rows, held = train_test_split(
                rows, test_size=share, stratify=classes, random_state=self.random_state
            )
        w = sample_weight
        model = self._copied(self.estimator, X, y)
        part = take_rows(X, rows), take_rows(y, rows), None if w is None else w[rows]
        result = permutation_importance(
            self._fitted(model, *part),
            take_rows(X, held),
            take_rows(y, held),
            scoring=self.scoring,
            n_repeats=repeats,
            random_state=self.random_state,
            sample_weight=None if w is None else w[held],
        )
        return FeatureScores(np.asarray(result.importances_mean))


class SelectorRanker(ModelRanker):
    """What any selector selects, such as those of scikit-learn.

    The selection is `support_`: ensembles count how often every feature is selected. `scores_` are
    −`ranking_` (RFE), or the selector's own `scores_` (SelectKBest and relatives; undefined ones
    count as the worst), or 1 for selected and 0 for other features (SelectFromModel,
    SequentialFeatureSelector). The selector may be the last step of a Pipeline.

    Parameters
    ----------
    selector : selector
        Anything with `get_support()` or a boolean `support_` after `fit`.
    random_state, reorder
        As for `EstimatorImportance`.

    Attributes
    ----------
    support_ : array of bool
        Which of the columns of X are selected.

    References
    ----------
    Guyon, I. and Elisseeff, A. (2003). An introduction to variable and feature selection. JMLR 3,
    1157–1182.

    Examples
    --------
    >>> from sklearn.feature_selection import SelectKBest
    >>> from mainstay.rankers import SelectorRanker
    >>> X = [[1.0, 5], [2.0, 6], [3.0, 5], [4.0, 6]]
    >>> SelectorRanker(SelectKBest(k=1)).fit(X, [0, 0, 1, 1]).support_
    array([ True, False])
    """

    def __init__(
        self, selector: Any, *, random_state: int | None = None, reorder: bool = True
    ) -> None:
        self.selector = selector
        self.random_state = random_state
        self.reorder = reorder

    def _model_scores(self, X: Any, y: Any, sample_weight: np.ndarray | None) -> FeatureScores:
        fitted = self._fitted(fresh_copy(self.selector), X, y, sample_weight)
        selection = read_scores(fitted, X.shape[1])
        if selection.support is None:
            raise InputError(
                f"{type(fitted).__name__} selects nothing: after fit it has neither get_support() "
                f"nor support_ with a boolean for each of {X.shape[1]} features."
            )
        return selection


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

    _fits_a_copy = False

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

    def _model_scores(self, X: Any, y: Any, sample_weight: np.ndarray | None) -> FeatureScores:
        parameters = inspect.signature(self.function).parameters
        options: dict[str, Any] = {}
        if sample_weight is not None:
            if "sample_weight" not in parameters:
                raise InputError(f"{self!r}: the function takes no sample_weight.")
            options["sample_weight"] = sample_weight
        if "random_state" in parameters and self.random_state is not None:
            options["random_state"] = self.random_state
        scores = self.function(X, y, **options)
        scores = scores[0] if isinstance(scores, tuple) else scores
        return FeatureScores(np.asarray(scores, dtype=float))


NAMED = {
    "random_forest": NamedRanker(
        EstimatorImportance, "model", "Importances in a random forest.", "Breiman 2001"
    ),
    "extra_trees": NamedRanker(
        partial(EstimatorImportance, "extra_trees"),
        "model",
        "Importances in five extremely randomised trees, a cheap forest for every run.",
        "Geurts et al. 2006",
    ),
    "linear": NamedRanker(
        partial(EstimatorImportance, "linear"),
        "model",
        "Coefficients of a logistic or ridge regression on standardised features.",
        "Guyon and Elisseeff 2003",
    ),
    "boosting": NamedRanker(
        partial(EstimatorImportance, "boosting"),
        "model",
        "Gain in gradient-boosted trees: LightGBM or XGBoost, whichever is installed.",
        "Friedman 2001",
    ),
    "permutation": NamedRanker(PermutationImportance, "model", reference="Breiman 2001"),
    "split_frequency": NamedRanker(SplitFrequency, "model", reference="Kazemitabar et al. 2017"),
}
