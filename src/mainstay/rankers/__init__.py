"""Rankers: data in, one score per feature out.

The protocol, which `make_ranker` checks:

- `fit(X, y, sample_weight=None)` sets `scores_`, one number per column of X, larger = better; or
  `support_`, one boolean per column, where it selects features instead of ranking them. The rankers
  here set `ranks_` (1 = best) too.
- It has `get_params` and `set_params`, as everything that inherits from
  `sklearn.base.BaseEstimator`: it is copied for every run, and every parameter called
  `random_state`, in estimators inside it too, gets a seed of that run. A parameter called `target`
  that is "auto" becomes "class" or "continuous" if the task is given.
- If it can use row weights, it may have a fast path, which replaces the fits of all runs:
  `score_resamples(X, y, weights)` takes B × n weights (how often every row occurs in every
  resample) and returns B × p scores. If preparing the data is costly, `resample_scorer(X, y)` does
  it once and returns a function from weights to scores. The rankers here have
  `target_scorer(X)` too, which prepares X once for many targets (y → such a function).

`RANKERS` holds the rankers that have a name; each is registered where it is defined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mainstay._validation import InputError, check_choice, check_count
from mainstay.rankers import (
    evolution,
    filters,
    greedy,
    hsic_lasso,
    importances,
    l1_path,
    moments,
    shap_values,
)
from mainstay.rankers.base import NamedRanker, Ranker, has_fast_path
from mainstay.rankers.discretization import Binning
from mainstay.rankers.evolution import EvolutionRanker
from mainstay.rankers.filters import (
    ChiSquare,
    CramersV,
    GainRatio,
    InformationGain,
    SymmetricUncertainty,
    score_filters,
)
from mainstay.rankers.greedy import CMIM, DISR, JMI, JMIM, MRMR, NJMIM
from mainstay.rankers.hsic_lasso import HSICLasso
from mainstay.rankers.importances import (
    EstimatorImportance,
    FunctionRanker,
    PermutationImportance,
    SelectorRanker,
    SplitFrequency,
)
from mainstay.rankers.l1_path import L1Path
from mainstay.rankers.moments import Correlation, FStatistic
from mainstay.rankers.shap_values import ShapImportance

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "CMIM",
    "DISR",
    "JMI",
    "JMIM",
    "MRMR",
    "NJMIM",
    "RANKERS",
    "Binning",
    "ChiSquare",
    "Correlation",
    "CramersV",
    "EstimatorImportance",
    "EvolutionRanker",
    "FStatistic",
    "FunctionRanker",
    "GainRatio",
    "HSICLasso",
    "InformationGain",
    "L1Path",
    "NamedRanker",
    "PermutationImportance",
    "Ranker",
    "SelectorRanker",
    "ShapImportance",
    "SplitFrequency",
    "SymmetricUncertainty",
    "list_rankers",
    "make_ranker",
    "score_filters",
]

RANKERS: dict[str, NamedRanker] = {
    **filters.NAMED,
    **moments.NAMED,
    **greedy.NAMED,
    **l1_path.NAMED,
    **hsic_lasso.NAMED,
    **importances.NAMED,
    **shap_values.NAMED,
    **evolution.NAMED,
}


def make_ranker(spec: Any) -> Any:
    """Turn a name, a ranker, a scikit-learn estimator or selector, or a function into a ranker.

    Parameters
    ----------
    spec : str, ranker, estimator, selector or callable
        A name from `list_rankers()`, with "@k" for a greedy ranker or a path that stops after k
        features ("mrmr@40", "l1_path@40"); a ranker, returned as it is; a selector (anything with
        `get_support`), wrapped by `SelectorRanker`; anything else with `fit`, a Pipeline and a
        search included, wrapped by `EstimatorImportance`; or a function (X, y) → scores.

    Examples
    --------
    >>> from sklearn.linear_model import Lasso
    >>> from mainstay.rankers import make_ranker
    >>> make_ranker("chi_square"), make_ranker("mrmr@40"), make_ranker(Lasso())
    (ChiSquare(), MRMR(n_features_to_select=40), EstimatorImportance(estimator=Lasso()))
    """
    if isinstance(spec, str):
        return _by_name(spec)
    if isinstance(spec, type):
        raise InputError(f"ranker is the class {spec.__name__}; give an instance of it.")
    if hasattr(spec, "fit"):
        return _checked(spec)
    if callable(spec):
        return FunctionRanker(spec)
    raise InputError(
        f"ranker must be a name, a ranker, a scikit-learn estimator or selector, or a function "
        f"(X, y) → scores; got {spec!r}. Names: {', '.join(RANKERS)}."
    )


def _by_name(spec: str) -> Any:
    name, at, number = spec.partition("@")
    ranker = RANKERS[check_choice("ranker", name, RANKERS)]()
    if not at:
        return ranker
    stop = _stop_parameter(ranker)
    if stop is None:
        able = [name for name in RANKERS if _stop_parameter(RANKERS[name]())]
        raise InputError(
            f"ranker {spec!r}: {name!r} ranks all features at once and cannot stop after some. "
            f"Rankers that can: {', '.join(able)}."
        )
    count = int(number) if number.isdecimal() else number
    return ranker.set_params(**{stop: check_count(f"k in {name}@k", count, 1)})


def _stop_parameter(ranker: Any) -> str | None:
    """The parameter that says after how many features a ranker stops."""
    names = ("n_features_to_select", "max_features")
    return next((name for name in names if name in ranker.get_params(deep=False)), None)


def _checked(spec: Any) -> Any:
    """Wrap what has `fit`, unless it keeps to the protocol by itself."""
    lacking = [name for name in ("get_params", "set_params") if not hasattr(spec, name)]
    if lacking:
        raise InputError(
            f"{type(spec).__name__} has fit, but not {' and '.join(lacking)}, by which a ranker is "
            "copied and seeded for every run; inherit from sklearn.base.BaseEstimator, which "
            "provides them."
        )
    if isinstance(spec, Ranker) or has_fast_path(spec):
        return spec
    last = spec.steps[-1][1] if hasattr(spec, "steps") else spec
    return SelectorRanker(spec) if hasattr(last, "get_support") else EstimatorImportance(spec)


def list_rankers() -> pd.DataFrame:
    """List the rankers that have a name.

    Returns
    -------
    pandas.DataFrame
        One row per ranker: `name`; `class`; `kind` (table, moments, greedy, model); `weights`,
        whether it scores many resamples at once from row weights; `random`, whether it has a
        `random_state`; `summary`; `reference`.

    Examples
    --------
    >>> from mainstay.rankers import list_rankers
    >>> table = list_rankers().set_index("name")
    >>> table.loc["mrmr", "kind"], bool(table.loc["random_forest", "weights"])
    ('greedy', False)
    """
    import pandas as pd

    made = {name: entry() for name, entry in RANKERS.items()}
    return pd.DataFrame(
        [
            {
                "name": name,
                "class": type(ranker).__name__,
                "kind": RANKERS[name].kind,
                "weights": has_fast_path(ranker),
                "random": "random_state" in ranker.get_params(),
                "summary": RANKERS[name].summary,
                "reference": RANKERS[name].reference,
            }
            for name, ranker in made.items()
        ]
    )
