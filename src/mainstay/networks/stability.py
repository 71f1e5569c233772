"""network_stability: which links come back when the samples change?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mainstay._checkpoint import keep_in
from mainstay._parallel import Progress, run_tasks
from mainstay._provenance import plain
from mainstay._saving import Saveable
from mainstay._validation import RandomState, check_count, check_random_state
from mainstay.measures import stability
from mainstay.measures.inference import StabilityEstimate, frequency_interval
from mainstay.networks.expression import Expression, read_expression, seed_of
from mainstay.networks.inference import NetworkOptions
from mainstay.procedure import selections
from mainstay.resampling import make_resamples
from mainstay.runs import Runs


@dataclass(frozen=True, eq=False)
class NetworkStability(Saveable):
    """How often links come back when the samples change.

    Attributes
    ----------
    links : pandas.DataFrame
        One row per pair of genes, most frequent first: `regulator`, `target`; `frequency`, the
        share of the resamples where the link is among the `n_links` most important, with a 95%
        interval (`frequency_lower`, `frequency_upper`); `importance` and `rank`, their means.
    stability : StabilityEstimate
        How well the resamples agree on the `n_links` links.
    runs : Runs
        Importances of every resample; links are named "regulator->target". `ms.stability` and
        `ms.aggregate` read them.
    n_links : int
        How many of its most important links a resample counts.
    settings : dict
        Every option that changes the result, the seed among them.
    """

    links: pd.DataFrame
    stability: StabilityEstimate
    runs: Runs
    n_links: int
    settings: dict[str, Any] = field(default_factory=dict)

    def to_frame(self) -> pd.DataFrame:
        """Return the links."""
        return self.links

    def __repr__(self) -> str:
        return (
            f"Links: {self.n_links} of {self.runs.n_features} pairs in each of "
            f"{self.runs.n_runs} resamples; {self.stability!r}"
        )


def network_stability(
    expression: Any,
    regulators: Iterable[str] | None = None,
    *,
    n_links: int | None = None,
    n_resamples: int = 50,
    resampling: Any = "subsample",
    measure: str = "nogueira",
    targets: Iterable[str] | None = None,
    method: str = "forest",
    base: Any = "knn",
    regularization: float | str = "auto",
    expected_regulators: float = 0.5,
    n_estimators: int | None = None,
    max_features: float | int | str | None = None,
    n_restarts: int = 1,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    progress: Progress = "auto",
    checkpoint: str | Path | None = None,
) -> NetworkStability:
    """Infer a network on many resamples of the samples: which links come back?

    Parameters
    ----------
    expression, regulators, targets
        As for `infer_network`.
    n_links : int, optional
        How many of its most important links a resample counts; as many as there are targets if
        not given. Links of importance 0 never count.
    n_resamples : int
        Number of resamples.
    resampling : str or resampling
        See `mainstay.resampling`. "subsample" (63.2% without replacement) by default: the copies of
        a sample in a bootstrap would be held out and trained on at the same time.
    measure : str
        Measure of stability, see `ms.list_measures()`.
    method, base, regularization, expected_regulators, n_estimators, max_features, n_restarts
        As for `infer_network`.
    random_state, n_jobs, progress
        As for `infer_network`; resamples are distributed over the cores.
    checkpoint : str or Path, optional
        A folder where finished resamples are kept, so that a call that was killed goes on where it
        was; see `EnsembleSelector`.

    Returns
    -------
    NetworkStability

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import mainstay as ms
    >>> rng = np.random.default_rng(0)
    >>> genes = pd.DataFrame(rng.normal(size=(60, 4)), columns=["a", "b", "c", "d"])
    >>> genes["c"] = genes["a"] + 0.3 * rng.normal(size=60)
    >>> result = ms.network_stability(genes, n_links=2, n_resamples=10, random_state=0)
    >>> result.links[["regulator", "target", "frequency"]].head(2).values.tolist()
    [['c', 'a', 1.0], ['a', 'c', 1.0]]
    >>> ms.stability(result.runs, "spearman").measure
    'spearman'
    """
    options = NetworkOptions(
        method,
        base,
        regularization,
        expected_regulators,
        n_estimators,
        max_features,
        n_restarts,
        1,
        False,
    )
    options.check()
    data = read_expression(expression, regulators, targets)
    n_pairs = int(data.is_pair().sum())
    if n_links is None:
        n_links = min(len(data.targets), n_pairs)
    n_links = check_count("n_links", n_links, 1, n_pairs)
    rng = check_random_state(random_state)
    seed = int(rng.integers(2**62))
    resamples = make_resamples(
        resampling, check_count("n_resamples", n_resamples, 2), len(data.values), rng=rng
    )
    tasks = [(data, options, resamples.rows(i), seed_of(seed, i)) for i in range(len(resamples))]
    settings = {
        "made_by": "network_stability",
        "n_resamples": n_resamples,
        "resampling": plain(resampling),
        "measure": measure,
        **options.settings(),
        "random_state": plain(random_state),
    }
    with keep_in(checkpoint, "network_stability", settings, data.fingerprint):
        scores = run_tasks(
            _resampled, tasks, n_jobs=n_jobs, progress=progress, description="resamples"
        )
    runs = Runs.from_scores(np.stack(scores), _link_names(data))
    chosen = _strongest(runs, n_links, seed % 2**32)
    estimate = stability(chosen, measure, random_state=seed % 2**32)
    return NetworkStability(_frequencies(data, runs, chosen), estimate, runs, n_links, settings)


def _link_names(data: Expression) -> list[str]:
    regulators, targets = data.regulator_names, data.target_names
    pairs = np.argwhere(data.is_pair()).tolist()
    return [f"{regulators[j]}->{targets[g]}" for j, g in pairs]


def _resampled(
    data: Expression, options: NetworkOptions, rows: np.ndarray, seed: int
) -> np.ndarray:
    importances = options.importances(data.rows(rows), seed)
    return np.asarray(importances[data.is_pair()])


def _strongest(runs: Runs, k: int, seed: int) -> Runs:
    """The k most important links of every run, without links of importance 0."""
    support = selections(runs, k, seed).support & (runs.scores > 0)
    return Runs.from_support(support, runs.features)


def _frequencies(data: Expression, runs: Runs, chosen: Runs) -> pd.DataFrame:
    j, g = np.nonzero(data.is_pair())
    low, high = frequency_interval(chosen)
    table = pd.DataFrame(
        {
            "regulator": np.array(data.regulator_names, dtype=object)[j],
            "target": np.array(data.target_names, dtype=object)[g],
            "frequency": chosen.counts / chosen.n_runs,
            "frequency_lower": low,
            "frequency_upper": high,
            "importance": runs.scores.mean(axis=0),
            "rank": runs.ranks.mean(axis=0),
        }
    )
    order = np.lexsort((table["rank"], -table["frequency"]))
    return table.iloc[order].reset_index(drop=True)
