"""What an estimate of replicability costs, said before it is paid for."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from mainstay._parallel import n_cores
from mainstay._validation import share_or_number
from mainstay.data import Data
from mainstay.measures import check_named
from mainstay.procedure import as_procedure
from mainstay.reliability.pairs import run_studies
from mainstay.reliability.replicability import check_size, draw_parts


@dataclass(frozen=True)
class Cost:
    """How many studies are made, and about how many seconds they take."""

    n_studies: int
    seconds: float


def replicability_cost(
    procedure: Any,
    X: Any,
    y: Any,
    *,
    measure: str = "nogueira",
    n_features_to_select: int | float = 0.1,
    ensemble_size: int | None = None,
    n_pairs: int = 50,
    n_splits: int = 15,
    groups: Any = None,
    task: str = "auto",
    n_jobs: int | None = None,
) -> Cost:
    """Estimate what `ms.replicability` with the same arguments costs, from two of its studies.

    The largest and the smallest study are timed, after one that is not (it compiles and imports);
    in between, time is taken to grow with the number of rows. What `ms.replicability` would refuse
    is refused here, before anything is paid for.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> replicability_cost("f_statistic", X, y, n_pairs=10, n_splits=5).n_studies
    148
    """
    repeated = as_procedure(procedure)
    data = Data.check(X, y, groups=groups, task=task)
    check_named(measure)
    share_or_number("n_features_to_select", n_features_to_select, data.n_features)
    check_size(repeated, data)
    rng = np.random.default_rng(0)
    levels = draw_parts(data, n_pairs, n_splits, rng)
    parts = sorted((part for level in levels for part in level), key=len)

    def seconds(part: np.ndarray) -> float:  # of a study; they come in pairs
        start = time.perf_counter()
        run_studies(repeated, data, [part, part], ensemble_size, rng, n_jobs=1, progress=False)
        return (time.perf_counter() - start) / 2

    seconds(parts[0])
    sizes = np.array([len(part) for part in parts])
    small, large = seconds(parts[0]), seconds(parts[-1])
    # interpolated by hand: all parts may have the same size
    share = (sizes - sizes[0]) / max(1, sizes[-1] - sizes[0])
    total = float(np.sum(small + share * max(0.0, large - small)))
    return Cost(len(parts), total / n_cores(n_jobs))
