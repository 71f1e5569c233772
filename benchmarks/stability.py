"""Speed and memory of the stability measures, as ratios to the naive twins in tests/naive.py.

    python benchmarks/stability.py              all cases, about four minutes
    python benchmarks/stability.py sma sets     some of them

Every case runs in a process of its own, on one core, after a warm-up on small data, so that
neither compilation nor another case's memory counts. Naive times are extrapolated from the share
of the work that fits into a second or two; the ratio says how many times faster mainstay is.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from _harness import Case, Row, clock, main  # isort: skip  (sets the number of threads)

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import numpy as np
import scipy.sparse as sp

import mainstay as ms
import naive


def naive_seconds(call: Callable[[int], object], whole: int) -> float:
    """Time `call(n)` for growing n until it takes a second, and scale to `whole`."""
    n = 2
    while True:
        seconds, _ = clock(lambda n=n: call(n))  # type: ignore[misc]
        if seconds > 1 or n >= whole:
            return seconds * whole / n
        n = min(whole, 2 * n)


# ---------------------------------------------------------------------- similar features

P, M, DRAWS = 10_000, 30, 10_000


def similar_features(irregular: bool) -> ms.FeatureSimilarity:
    """1,000 of 10,000 features have similar ones: groups of five, or a random graph."""
    rng = np.random.default_rng(0)
    if irregular:
        pairs = rng.integers(0, 1000, (2000, 2))
        pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    else:
        pairs = np.array(
            [(5 * g + a, 5 * g + b) for g in range(200) for a in range(5) for b in range(a)]
        )
    weights = rng.uniform(0.9, 1, len(pairs))
    upper = sp.coo_array((weights, tuple(pairs.T)), shape=(P, P)).tocsr()
    upper.data = np.minimum(upper.data, 1.0)
    return ms.FeatureSimilarity.from_matrix(upper.maximum(upper.T), 0.9)


def selections() -> list[np.ndarray]:
    """30 selections of 10 to 50 features, mostly from 100 favourites."""
    rng = np.random.default_rng(1)
    favourites = rng.choice(P, 100, replace=False)
    return [rng.choice(favourites, k, replace=False) for k in np.linspace(10, 50, M).astype(int)]


def sma(name: str, irregular: bool) -> list[Row]:
    similarity, sets = similar_features(irregular), selections()
    runs = ms.Runs.from_sets([s.tolist() for s in sets], features=P)
    options = {"similarity": similarity, "random_state": 0, "tolerance": 1e-15}
    call = partial(ms.stability, runs, name, **options, max_draws=DRAWS)
    first, _ = clock(call)
    seconds, estimate = clock(call)
    matrix = similarity.graph.toarray()
    pairs = M * (M - 1) // 2
    slow = naive_seconds(
        lambda n: naive.simulated_expectation(
            name, 30, 30, P, matrix, 0.9, n, np.random.default_rng(2)
        ),
        whole=DRAWS * pairs,
    )
    shape = "a random graph" if irregular else "groups of five"
    error = estimate.chance_standard_error  # type: ignore[attr-defined]
    how = f"simulated, error {error:.0e}" if error else "exact expectation"
    found: list[Row] = [(f"{name}, {shape}", seconds, slow, how)]
    if name == "sma_count" and not irregular:
        found.append((f"{name}, the first call in a process", first, None, ""))
    return found


# ---------------------------------------------------------------------- sets, rankings, similarity


def sets(k: int, m: int = 1000, p: int = 100_000) -> list[Row]:
    rng = np.random.default_rng(3)
    chosen = [rng.choice(20 * k, k, replace=False) for _ in range(m)]
    ends = np.arange(0, m * k + 1, k)
    matrix = sp.csr_array((np.ones(m * k), np.sort(chosen).ravel(), ends), shape=(m, p))
    runs = ms.Runs.from_support(matrix)
    as_sets = [set(c.tolist()) for c in chosen]
    ms.stability(runs.subset(range(3)), "jaccard")
    rows: list[Row] = []
    for name in ("jaccard", "kuncheva", "unadjusted", "phi", "somol", "davis", "nogueira"):
        seconds, _ = clock(lambda name=name: ms.stability(runs, name))  # type: ignore[misc]
        slow = None
        if name in ("jaccard", "kuncheva", "unadjusted", "phi"):
            slow = naive_seconds(
                lambda n, name=name: [  # type: ignore[misc]
                    naive.pair_score(name, as_sets[0], as_sets[1], p) for _ in range(n)
                ],
                whole=m * (m - 1) // 2,
            )
        rows.append((f"{name}, {m} runs × {p:,} features, {k} selected", seconds, slow, ""))
    return rows


def rankings(name: str) -> list[Row]:
    m, p = 1000, 10_000
    rng = np.random.default_rng(4)
    ranks = np.argsort(rng.random((m, p), dtype=np.float32), axis=1) + 1
    runs = ms.Runs.from_ranks(ranks)
    # warm up every code path, the one for many runs included
    small = ms.Runs.from_ranks(np.argsort(rng.random((300, 3000)), axis=1) + 1)
    ms.stability(small, name)
    seconds, _ = clock(lambda: ms.stability(runs, name))
    base, _, k = name.partition("@")
    slow = None
    if not k and base in ("spearman", "canberra", "average_overlap"):
        twin = getattr(naive, base)
        first, second = ranks[0].tolist(), ranks[1].tolist()
        slow = naive_seconds(
            lambda n: [twin(first, second) for _ in range(n)], whole=m * (m - 1) // 2
        )
    return [(f"{name}, {m} runs × {p:,} features", seconds, slow, "")]


def similarity(p: int) -> list[Row]:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(100, p))
    X[:, 1::10] = X[:, ::10] + 0.2 * rng.normal(size=X[:, ::10].shape)
    ms.FeatureSimilarity.from_data(X[:, :50])
    seconds, found = clock(lambda: ms.FeatureSimilarity.from_data(X, threshold=0.9))
    slow = naive_seconds(
        lambda n: naive.correlation_graph(X[:, : 2 + int((2 * n) ** 0.5)], 0.9),
        whole=p * (p - 1) // 2,
    )
    pairs = found.graph.nnz // 2  # type: ignore[attr-defined]
    return [(f"correlations of {p:,} features, 100 samples", seconds, slow, f"{pairs:,} pairs")]


def start_up() -> list[Row]:
    rows: list[Row] = []
    for what, command in (
        ("import mainstay", [sys.executable, "-c", "import mainstay"]),
        ("mainstay --help", [sys.executable, "-m", "mainstay.cli", "--help"]),
        ("python alone", [sys.executable, "-c", "pass"]),
    ):
        best = min(_child_cpu(command) for _ in range(5))
        rows.append((what, best, None, "best of 5"))
    return rows


def _child_cpu(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


CASES: dict[str, list[Case]] = {
    "sma": [
        (sma, (name, irregular))
        for irregular in (False, True)
        for name in ("sma_count", "sma_mean", "sma_greedy", "sma_mbm")
    ],
    "sets": [(sets, (100,)), (sets, (1000,)), (sets, (50, 1600, 10_000))],
    "rankings": [
        (rankings, (name,))
        for name in (
            "spearman", "kendall", "kendall_w", "canberra", "rbo", "average_overlap",
            "kendall@100", "canberra@100", "jaccard@100",
        )
    ],
    "similarity": [(similarity, (5_000,)), (similarity, (50_000,))],
    "start": [(start_up, ())],
}  # fmt: skip


if __name__ == "__main__":
    main(__doc__, CASES, "naive s")
