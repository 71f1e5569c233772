"""Rankers: data in, one score per feature out.

A ranker is a scikit-learn estimator with `fit(X, y, sample_weight=None)`, which sets `scores_`
(larger = better) and `ranks_` (1 = best). Those that can use row weights also have
`score_resamples(X, y, weights)`: the scores of many resamples at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mainstay._validation import InputError, check_choice
from mainstay.rankers.base import Ranker
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
from mainstay.rankers.importances import (
    EstimatorImportance,
    FunctionRanker,
    PermutationImportance,
    SelectorRanker,
    SplitFrequency,
)
from mainstay.rankers.moments import Correlation, FStatistic

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
    "InformationGain",
    "PermutationImportance",
    "Ranker",
    "SelectorRanker",
    "SplitFrequency",
    "SymmetricUncertainty",
    "list_rankers",
    "make_ranker",
    "score_filters",
]

RANKERS: dict[str, type[Ranker]] = {
    "information_gain": InformationGain,
    "symmetric_uncertainty": SymmetricUncertainty,
    "gain_ratio": GainRatio,
    "chi_square": ChiSquare,
    "cramers_v": CramersV,
    "f_statistic": FStatistic,
    "correlation": Correlation,
    "mrmr": MRMR,
    "jmi": JMI,
    "cmim": CMIM,
    "disr": DISR,
    "jmim": JMIM,
    "njmim": NJMIM,
    "random_forest": EstimatorImportance,
    "permutation": PermutationImportance,
    "split_frequency": SplitFrequency,
    "evolution": EvolutionRanker,
}


def make_ranker(spec: Any) -> Ranker:
    """Turn a name, a ranker, a scikit-learn estimator or selector, or a function into a ranker.

    Parameters
    ----------
    spec : str, ranker, estimator, selector or callable
        A name from `list_rankers()`; a ranker, returned as it is; a scikit-learn selector (anything
        with `get_support`), wrapped by `SelectorRanker`; another estimator, a Pipeline or a search,
        wrapped by `EstimatorImportance`; or a function (X, y) → scores.

    Examples
    --------
    >>> from sklearn.linear_model import Lasso
    >>> from mainstay.rankers import make_ranker
    >>> make_ranker("chi_square"), make_ranker(Lasso())
    (ChiSquare(), EstimatorImportance(estimator=Lasso()))
    """
    if isinstance(spec, str):
        return RANKERS[check_choice("ranker", spec, RANKERS)]()
    if isinstance(spec, type):
        raise InputError(f"ranker is the class {spec.__name__}; give an instance of it.")
    if isinstance(spec, Ranker) or (hasattr(spec, "fit") and hasattr(spec, "score_resamples")):
        return spec  # type: ignore[no-any-return]
    if hasattr(spec, "fit") and hasattr(spec, "get_params"):
        last = spec.steps[-1][1] if hasattr(spec, "steps") else spec
        is_selector = hasattr(type(last), "get_support")
        return SelectorRanker(spec) if is_selector else EstimatorImportance(spec)
    if callable(spec):
        return FunctionRanker(spec)
    raise InputError(
        f"ranker must be a name, a ranker, a scikit-learn estimator or selector, or a function "
        f"(X, y) → scores; got {spec!r}. Names: {', '.join(RANKERS)}."
    )


def list_rankers() -> pd.DataFrame:
    """List the rankers that have a name.

    Returns
    -------
    pandas.DataFrame
        One row per ranker: `name`; `class`; `kind` (table, moments, greedy, model); `weights`,
        whether it scores many resamples at once from row weights; `random`, whether the result
        depends on `random_state`; `summary`.

    Examples
    --------
    >>> from mainstay.rankers import list_rankers
    >>> table = list_rankers().set_index("name")
    >>> table.loc["mrmr", "kind"], bool(table.loc["random_forest", "weights"])
    ('greedy', False)
    """
    import pandas as pd

    kinds = {
        "filters": "table",
        "moments": "moments",
        "greedy": "greedy",
        "importances": "model",
        "evolution": "model",
    }
    return pd.DataFrame(
        [
            {
                "name": name,
                "class": cls.__name__,
                "kind": kinds[cls.__module__.rpartition(".")[2]],
                "weights": hasattr(cls, "score_resamples"),
                "random": hasattr(cls, "random_state"),
                "summary": (cls.__doc__ or "").partition("\n")[0],
            }
            for name, cls in RANKERS.items()
        ]
    )
