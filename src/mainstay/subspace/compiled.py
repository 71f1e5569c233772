"""Compiled learners for the usual base models: nearest neighbours, decision trees, SVMs.

`fast_learner` looks at a scikit-learn estimator and returns a learner that does exactly what its
options ask for, or None where it cannot: then the estimator has to be fitted itself. Folds and
bootstrap samples are drawn in the compiled code, from the seed of each model.

What may differ from fitting the estimator to the bootstrapped rows, in their order:

- neighbours: of several rows at exactly the same distance the first counts (scikit-learn: depends
  on the algorithm and the shape of its tree);
- trees: of splits with the same gain the first feature's is taken, with the lowest threshold
  (scikit-learn: a random feature's; on one feature, what rounding prefers);
- SVMs: two solutions within the tolerance of each other.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import Any, Literal

import numpy as np

from mainstay._parallel import n_threads
from mainstay._validation import InputError

MODELS_PER_CALL = 16  # of a compiled loop: few enough for Ctrl-C, enough to make calls cheap

Kernel = Callable[[np.ndarray, np.ndarray, np.ndarray], None]


@dataclass(frozen=True, eq=False)
class FastLearner:
    """Held-out predictions of many models by a compiled loop; made by `fast_learner`."""

    kernel: Kernel
    n_rows: int
    n_features: int
    n_folds: int  # 0: out of bag
    weights: np.ndarray
    n_jobs: int | None = None

    def held_out(self, Z: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Train one model per row of Z and predict the rows it was not trained on.

        Parameters
        ----------
        Z : array of bool, T × M
            The features that each model uses; a model without features is a constant.
        seeds : array of int, T
            One seed per model; everything random in a model comes from its seed.

        Returns
        -------
        array of float, T × N
            Numbers, class codes or (with soft votes) probabilities; NaN where the row was in the
            bag.
        """
        used = np.array(Z, dtype=bool, order="C", ndmin=2)
        numbers = _seeds(seeds)
        if used.shape != (len(numbers), self.n_features):
            raise InputError(
                f"Z must be {len(numbers)} models × {self.n_features} features, as there are "
                f"{len(numbers)} seeds; got {used.shape}."
            )
        out = np.full((len(used), self.n_rows), np.nan)
        workers = min(n_threads(self.n_jobs), max(len(used), 1))
        size = max(1, min(MODELS_PER_CALL, ceil(len(used) / workers)))
        blocks = [slice(start, start + size) for start in range(0, len(used), size)]

        def run(block: slice) -> None:
            self.kernel(used[block], numbers[block], out[block])

        if workers == 1 or len(blocks) < 2:
            for block in blocks:
                run(block)
        else:
            with ThreadPoolExecutor(workers) as pool:  # the compiled loops release the GIL
                list(pool.map(run, blocks))
        return out

    def draws(self, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """Tell what the model of a seed is trained on: one pair per fold, or one if out of bag.

        Returns
        -------
        list of (counts, held)
            How often each row is in the bootstrap sample, and the numbers of the held-out rows.
        """
        from mainstay._kernels.subspace_draws import draw

        folds = max(self.n_folds, 1)
        order, first = np.empty(self.n_rows, np.int64), np.empty(folds + 1, np.int64)
        counts = np.empty((folds, self.n_rows), np.int64)
        draw(_seeds([seed])[0], self.n_folds, self.weights, order, first, counts)
        return [(counts[f], order[first[f] : first[f + 1]]) for f in range(folds)]


def fast_learner(
    estimator: Any,
    X: Any,
    y: np.ndarray,
    *,
    classification: bool,
    n_classes: int = 0,
    cv: int | Literal["oob"] = 10,
    sample_weight: np.ndarray | None = None,
    soft: bool = False,
    n_jobs: int | None = None,
) -> FastLearner | None:
    """Make a compiled learner that does what the estimator would, or return None.

    Parameters
    ----------
    estimator : scikit-learn estimator
        KNeighborsClassifier or -Regressor (uniform weights, Euclidean distance),
        DecisionTreeClassifier or -Regressor (Gini, squared error; max_depth, min_samples_split,
        min_samples_leaf), SVC or SVR (RBF or linear kernel; C, gamma, epsilon, tol). With other
        options, and for subclasses, there is no fast path.
    X : array of N × M
        The features. Sparse, or not finite: no fast path.
    y : array of N
        Class codes 0 … n_classes − 1, or numbers.
    classification : bool
        Whether y holds class codes.
    n_classes : int
        Number of classes.
    cv : int or "oob"
        Number of folds (at most N); or one bootstrap sample per model and predictions for the rows
        that are not in it.
    sample_weight : array of N, optional
        Bootstrap samples are drawn with probabilities in proportion to it. Where all rows outside
        a fold have weight 0, they are drawn evenly.
    soft : bool
        Classification: predict the probability of a row's own class (not for SVMs).
    n_jobs : int, optional
        Number of threads; it changes no result.

    Returns
    -------
    FastLearner or None

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from mainstay.subspace.compiled import fast_learner
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> learner = fast_learner(KNeighborsRegressor(), X, X[:, 0], classification=False)
    >>> Z = np.array([[True, False, False], [False, True, True]])
    >>> learner.held_out(Z, np.array([1, 2])).shape
    (2, 40)
    """
    cls = type(estimator)
    path = FAST_PATHS.get(cls.__name__) if cls.__module__.startswith("sklearn.") else None
    if path is None or path.classification != classification or (soft and not path.soft):
        return None
    if hasattr(X, "tocsr") or not _only_known_options(estimator, path):
        return None
    columns = np.array(np.asarray(X, dtype=float).T, order="C")
    if not np.isfinite(columns).all():
        return None
    target = np.array(y, dtype=float)
    n = len(target)
    n_folds = 0 if cv == "oob" else int(cv)
    weights = np.empty(0) if sample_weight is None else np.array(sample_weight, dtype=float)
    bags = [n] if n_folds == 0 else [n - n // n_folds - (f < n % n_folds) for f in range(n_folds)]
    codes = n_classes if classification else 0
    kernel = path.prepare(estimator.get_params(deep=False), columns, target, codes, soft, bags)
    if kernel is None:
        return None
    kernel = partial(kernel, n_folds, weights)
    return FastLearner(kernel, n, len(columns), n_folds, weights, n_jobs)


@dataclass(frozen=True)
class FastPath:
    """How a class of estimators maps to a compiled loop."""

    prepare: Callable[..., Callable[..., None] | None]
    classification: bool
    soft: bool
    options_read: frozenset[str]  # by `prepare`
    options_without_effect: frozenset[str]  # on predictions


def _only_known_options(estimator: Any, path: FastPath) -> bool:
    """Tell whether every option is read, has no effect, or is at its default."""
    defaults = inspect.signature(type(estimator)).parameters
    for name, value in estimator.get_params(deep=False).items():
        if name in path.options_read or name in path.options_without_effect:
            continue
        default = defaults[name].default
        if value is not default and not (np.isscalar(value) and value == default):
            return False
    return True


def _knn(
    options: dict[str, Any], columns: np.ndarray, y: np.ndarray, n_classes: int, soft: bool,
    bags: list[int],
) -> Callable[..., None] | None:  # fmt: skip
    k = options["n_neighbors"]
    if not _whole(k, 1) or k > min(bags) or options["metric"] not in ("minkowski", "euclidean"):
        return None
    from mainstay._kernels.subspace_knn import knn_held_out

    return partial(knn_held_out, columns, y, n_classes, soft, int(k))


def _tree(
    options: dict[str, Any], columns: np.ndarray, y: np.ndarray, n_classes: int, soft: bool,
    bags: list[int],
) -> Callable[..., None] | None:  # fmt: skip
    depth, split, leaf = (
        options[name] for name in ("max_depth", "min_samples_split", "min_samples_leaf")
    )
    if not (depth is None or _whole(depth, 1)) or np.abs(columns).max(initial=0) > 3e38:
        return None
    if not (_whole(split, 2) or _share(split)) or not (_whole(leaf, 1) or _share(leaf)):
        return None
    from mainstay._kernels.subspace_tree import tree_held_out

    min_leaf = [leaf if _whole(leaf, 1) else ceil(leaf * n) for n in bags]
    min_split = [split if _whole(split, 2) else max(2, ceil(split * n)) for n in bags]
    min_split = [max(a, 2 * b) for a, b in zip(min_split, min_leaf, strict=True)]
    values = columns.astype(np.float32)  # as scikit-learn's trees see them
    ordered = np.argsort(values, axis=1, kind="stable").astype(np.uint32)
    limits = np.array(min_split, dtype=np.int64), np.array(min_leaf, dtype=np.int64)
    deepest = 2**31 if depth is None else int(depth)
    centre = 0.0 if n_classes else float(y.mean())
    return partial(
        tree_held_out, values, ordered, y - centre, centre, n_classes, soft, deepest, *limits
    )


def _svm(
    options: dict[str, Any], columns: np.ndarray, y: np.ndarray, n_classes: int, soft: bool,
    bags: list[int],
) -> Callable[..., None] | None:  # fmt: skip
    kernel, gamma = options["kernel"], options["gamma"]
    epsilon = 0.0 if n_classes else options["epsilon"]
    known = kernel in ("rbf", "linear") and (gamma in ("scale", "auto") or _number(gamma, 0.0))
    tight = _number(options["tol"], 1e-12) and _number(options["C"], 1e-300)
    if not (known and tight and _number(epsilon, 0.0)):
        return None
    from mainstay._kernels import subspace_svm as svm

    gamma_rule = {"scale": svm.SCALE, "auto": svm.AUTO}.get(gamma, svm.FIXED)
    return partial(
        svm.svm_held_out, columns, y, n_classes, svm.LINEAR if kernel == "linear" else svm.RBF,
        gamma_rule, float(gamma) if gamma_rule == svm.FIXED else 0.0, float(options["C"]),
        float(epsilon), float(options["tol"]),
    )  # fmt: skip


def _whole(value: object, low: int) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= low


def _share(value: object) -> bool:
    return isinstance(value, float) and 0 < value < 1


def _number(value: object, low: float) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        return False
    return bool(low <= float(value) < np.inf)


def _seeds(seeds: Any) -> np.ndarray:
    return np.array(seeds, dtype=np.int64, ndmin=1).view(np.uint64)


_KNN = (frozenset({"n_neighbors", "metric"}), frozenset({"algorithm", "leaf_size", "n_jobs"}))
_TREE = (
    frozenset({"max_depth", "min_samples_split", "min_samples_leaf"}),
    frozenset({"random_state"}),
)
_SVM = (
    frozenset({"kernel", "gamma", "C", "epsilon", "tol"}),
    frozenset({"degree", "coef0", "shrinking", "cache_size", "verbose", "random_state",
               "probability", "decision_function_shape"}),
)  # fmt: skip
FAST_PATHS = {
    "KNeighborsClassifier": FastPath(_knn, True, True, *_KNN),
    "KNeighborsRegressor": FastPath(_knn, False, False, *_KNN),
    "DecisionTreeClassifier": FastPath(_tree, True, True, *_TREE),
    "DecisionTreeRegressor": FastPath(_tree, False, False, *_TREE),
    "SVC": FastPath(_svm, True, False, *_SVM),
    "SVR": FastPath(_svm, False, False, *_SVM),
}
