"""infer_network: who regulates whom, from expression alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mainstay._checkpoint import keep_in
from mainstay._parallel import Progress
from mainstay._provenance import WITHOUT_EFFECT, plain
from mainstay._validation import (
    InputError,
    RandomState,
    check_choice,
    check_count,
    check_random_state,
)
from mainstay.networks.expression import Expression, read_expression
from mainstay.networks.trees import boosting_links, forest_links

NETWORK_METHODS = ("parametric_subspace", "forest", "extra_trees", "boosting", "eda")


@dataclass(frozen=True)
class NetworkOptions:
    """How links are found; see `infer_network`."""

    method: str
    base: Any
    regularization: float | str
    expected_regulators: float
    n_estimators: int | None
    max_features: float | int | str | None
    n_restarts: int
    n_jobs: int | None
    progress: Progress

    def check(self) -> None:
        """Refuse invalid options before anything is computed."""
        check_choice("method", self.method, NETWORK_METHODS)
        given = self.regularization
        if given != "auto":
            number = isinstance(given, int | float) and not isinstance(given, bool)
            if not number or not 0 <= float(given) < np.inf:
                raise InputError(
                    f"regularization must be 'auto' or a number of at least 0, got {given!r}."
                )
        expected: Any = self.expected_regulators
        if not isinstance(expected, int | float) or not 0 < expected < np.inf:
            raise InputError(
                f"expected_regulators must be a number above 0, the expected number of regulators "
                f"of a gene, got {expected!r}."
            )

    def settings(self) -> dict[str, Any]:
        """Those options that change a result, as plain values."""
        names = [field.name for field in fields(self) if field.name not in WITHOUT_EFFECT]
        return {name: plain(getattr(self, name)) for name in names}

    def importances(self, expression: Expression, seed: int) -> np.ndarray:
        """Importances, regulators × targets."""
        shared: dict[str, Any] = {"n_jobs": self.n_jobs, "progress": self.progress}
        models: dict[str, Any] = {} if self.n_estimators is None else {"n_trees": self.n_estimators}
        if self.method in ("forest", "extra_trees"):
            return forest_links(
                expression,
                seed,
                extra=self.method == "extra_trees",
                max_features=self.max_features,
                **models,
                **shared,
            )
        if self.method == "boosting":
            return boosting_links(
                expression, seed, max_features=self.max_features, **models, **shared
            )
        from mainstay.networks import subspaces

        n_models = 100 if self.n_estimators is None else self.n_estimators
        shared |= {"base": self.base, "n_restarts": self.n_restarts}
        folds = min(10, len(expression.values))
        if self.method == "eda":
            return subspaces.evolution_links(
                expression, seed, n_subsets=n_models, cv=folds, **shared
            )
        n_models = check_count("n_estimators", n_models, 2)
        given = self.regularization
        settings = subspaces.SubspaceSettings(
            n_models=n_models,
            n_references=min(10, n_models),
            cv=folds,
            regularization=None if isinstance(given, str) else float(given),
            expected_regulators=float(self.expected_regulators),
        )
        return subspaces.subspace_links(expression, seed, settings, **shared)


def infer_network(
    expression: Any,
    regulators: Iterable[str] | None = None,
    *,
    targets: Iterable[str] | None = None,
    method: str = "parametric_subspace",
    base: Any = "knn",
    regularization: float | str = "auto",
    expected_regulators: float = 0.5,
    n_estimators: int | None = None,
    max_features: float | int | str | None = None,
    n_restarts: int = 4,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    progress: Progress = "auto",
    checkpoint: str | Path | None = None,
) -> pd.DataFrame:
    """Infer a gene regulatory network: how much each regulator explains of each target gene.

    One regression per target gene, from the expression of all regulators but itself; all genes are
    standardised. Neither the order of the genes nor the number of cores changes a result: every
    target draws from a stream of random numbers that is named after it.

    Parameters
    ----------
    expression : pandas or polars DataFrame, or array, samples × genes
        Expression; columns are genes.
    regulators : iterable of str, optional
        Genes that may regulate others, such as transcription factors; all if not given.
    targets : iterable of str, optional
        Genes to be explained; all if not given.
    method : {"parametric_subspace", "forest", "extra_trees", "boosting", "eda"}
        "parametric_subspace": probabilities α_jg with which models of gene g use regulator j,
        learned so that the averaged held-out prediction is best, under a penalty
        λ Σ_j √(Σ_g α_jg²) that favours few regulators with many targets. "forest": reduction of
        variance in a random forest, as in GENIE3, with all regulators tried at every split;
        "extra_trees": with random thresholds. "boosting": as in GRNBoost2. "eda": how often the
        fittest subsets use a regulator, see `mainstay.rankers.EvolutionRanker`.
    base : {"knn", "svm", "tree"} or scikit-learn regressor
        The models of "parametric_subspace" and "eda".
    regularization : float or "auto"
        λ of "parametric_subspace". "auto" lets it grow until genes have no more than
        `expected_regulators` regulators, Σ_j α_jg, on average; importances are averages over that
        path.
    expected_regulators : float
        See `regularization`. About 0.5 in the complete networks of E. coli and yeast, where many
        genes have no known regulator.
    n_estimators : int, optional
        Trees per gene (100; at most 5000 in boosting), models, or subsets per generation (100).
    max_features : int, float or "sqrt", optional
        Regulators tried at every split of a tree; all by default, 10% in boosting.
    n_restarts : int
        Independent runs of "parametric_subspace" and "eda", whose importances are averaged.
    random_state : int, numpy.random.Generator or None
        Seed.
    n_jobs : int, optional
        Number of cores; targets (or restarts) are distributed over them.
    progress : bool or "auto"
        Show a progress bar.
    checkpoint : str or Path, optional
        A folder where finished targets (or restarts) are kept, so that a call that was killed
        goes on where it was; see `EnsembleSelector`.

    Returns
    -------
    pandas.DataFrame
        Columns `regulator`, `target` and `importance`; one row per pair, most important first.

    References
    ----------
    Huynh-Thu, V. A. and Geurts, P. (2021). Optimizing model-agnostic random subspace ensembles.
    Huynh-Thu, V. A. et al. (2010). Inferring regulatory networks from expression data using
    tree-based methods. PLoS ONE 5, e12776. Moerman, T. et al. (2019). GRNBoost2 and Arboreto.
    Bioinformatics 35, 2159–2161.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import mainstay as ms
    >>> rng = np.random.default_rng(0)
    >>> genes = pd.DataFrame(rng.normal(size=(60, 4)), columns=["a", "b", "c", "d"])
    >>> genes["c"] = genes["a"] + 0.3 * rng.normal(size=60)  # a regulates c
    >>> links = ms.infer_network(genes, ["a", "b", "d"], method="forest", random_state=0)
    >>> links.head(1)[["regulator", "target"]].values.tolist()
    [['a', 'c']]
    >>> len(links)  # three regulators, four targets; no gene regulates itself
    9
    """
    options = NetworkOptions(
        method,
        base,
        regularization,
        expected_regulators,
        n_estimators,
        max_features,
        n_restarts,
        n_jobs,
        progress,
    )
    options.check()
    data = read_expression(expression, regulators, targets)
    seed = int(check_random_state(random_state).integers(2**62))
    settings = options.settings() | {"random_state": random_state}
    with keep_in(checkpoint, "infer_network", settings, data.fingerprint):
        importances = options.importances(data, seed)
    return link_table(data, importances)


def link_table(expression: Expression, importances: np.ndarray) -> pd.DataFrame:
    """List the pairs of genes, most important first; ties in the order of the genes."""
    j, g = np.nonzero(expression.is_pair())
    order = np.argsort(-importances[j, g], kind="stable")
    j, g = j[order], g[order]
    regulators = np.array(expression.regulator_names, dtype=object)
    targets = np.array(expression.target_names, dtype=object)
    return pd.DataFrame(
        {"regulator": regulators[j], "target": targets[g], "importance": importances[j, g]}
    )


def link_average_precision(links: pd.DataFrame, true_links: pd.DataFrame) -> float:
    """Average precision of ranked links: how early the true ones come.

    Parameters
    ----------
    links : pandas.DataFrame
        `regulator`, `target`, `importance` of every pair, as `infer_network` returns them.
    true_links : pandas.DataFrame
        `regulator` and `target` of the true links; all other pairs are taken as wrong.

    Examples
    --------
    >>> import pandas as pd
    >>> from mainstay.networks import link_average_precision
    >>> links = pd.DataFrame({"regulator": ["a", "b"], "target": ["b", "a"],
    ...                       "importance": [0.9, 0.1]})
    >>> link_average_precision(links, pd.DataFrame({"regulator": ["b"], "target": ["a"]}))
    0.5
    """
    from sklearn.metrics import average_precision_score

    true = set(zip(true_links["regulator"], true_links["target"], strict=True))
    pairs = list(zip(links["regulator"], links["target"], strict=True))
    truth = np.array([pair in true for pair in pairs])
    missing = len(true) - int(truth.sum())
    if missing or not true:
        raise InputError(
            f"{missing} of the {len(true)} true links are not among the {len(pairs)} pairs ranked; "
            "rank all pairs of genes."
        )
    return float(average_precision_score(truth, links["importance"]))
