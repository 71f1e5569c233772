"""Speed of replicability and evidence: hundreds of studies, thousands of permuted runs.

    python benchmarks/reliability.py            all cases, two minutes

Every case runs in a process of its own, on one core, after a warm-up on small data. The other way
is a plain loop: the ranker fitted to the rows of every study, one after the other.
"""

from __future__ import annotations

from _harness import Case, Row, clock, main, seconds_of  # isort: skip  (sets the number of threads)

import numpy as np

import mainstay as ms
from mainstay.rankers import make_ranker

N, P, SELECTED = 100, 2000, 20


def studies(ranker: str, ensemble_size: int | None) -> list[Row]:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(N, P)), np.arange(N) % 2
    options = {"n_features_to_select": SELECTED, "ensemble_size": ensemble_size, "random_state": 0}
    ms.replicability(ranker, X[:, :50], y, progress=False, **options)
    seconds, result = clock(lambda: ms.replicability(ranker, X, y, progress=False, **options))
    half = rng.permutation(N)[: N // 2]
    once = seconds_of(lambda: make_ranker(ranker).fit(X[half], y[half]))
    n = 2 * (result.pairs.size + result.inside_halves.size + result.inside_quarters.size)
    kind = "single runs" if ensemble_size is None else f"ensembles of {ensemble_size}"
    value = f"{float(result):.3f} in {result.interval[0]:.3f} to {result.interval[1]:.3f}"
    what = f"{ranker}, {N} × {P}: {n} studies, {kind}"
    return [(what, seconds, once * n * (ensemble_size or 1), value)]


def evidence(ranker: str, n: int, p: int) -> list[Row]:
    """Permutation evidence: 50 pairs of halves × 100 permuted targets."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, p)), np.arange(n) % 2
    ms.feature_evidence(ranker, X[:, :50], y, n_permutations=10, random_state=0, progress=False)
    seconds, result = clock(
        lambda: ms.feature_evidence(ranker, X, y, random_state=0, progress=False)
    )
    half = rng.permutation(n)[: n // 2]
    once = seconds_of(lambda: make_ranker(ranker).fit(X[half], y[half]))
    what = f"{ranker}, {n} × {p}: evidence, {result.n_permutations} permutations of 50 pairs"
    return [(what, seconds, once * 100 * (1 + result.n_permutations), f"p = {result.p_value:.2f}")]


CASES: dict[str, list[Case]] = {
    "evidence": [(evidence, (ranker, N, P)) for ranker in ("f_statistic", "information_gain")],
    "wide": [(evidence, (ranker, 200, 20_000)) for ranker in ("f_statistic", "information_gain")],
    "single": [(studies, (ranker, None)) for ranker in ("f_statistic", "information_gain")],
    "ensemble": [(studies, ("f_statistic", 20))],
}


if __name__ == "__main__":
    main(__doc__ or "", CASES, "loop s")
