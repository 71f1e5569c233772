"""What scaling.py measures: each piece makes data of a given size and returns the call to time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import _harness  # noqa: F401  (sets the number of threads before numpy is loaded)
import numpy as np
import pandas as pd

import mainstay as ms
from mainstay.rankers import make_ranker

SELECTED = 50


@dataclass(frozen=True)
class Size:
    """Rows, features (or genes), repetitions (of what, the piece says), worker processes."""

    n: int
    p: int
    m: int
    workers: int = 1

    @property
    def cells(self) -> int:
        """What linear work is proportional to."""
        return self.n * self.p * self.m


Call = Callable[[], object]


@dataclass(frozen=True)
class Piece:
    """Work whose growth is measured, along one of n, p and m at a time.

    `expected` are the exponents of the work there is to do: 2 where it is in pairs, 0 where more
    features change nothing, n log n for trees (1.16 from 200 to 1,600 rows).
    """

    name: str
    prepare: Callable[[Size], Call]
    repeats: str  # what m counts
    axes: Mapping[str, tuple[Size, ...]]
    expected: Mapping[str, float]


def along(axis: str, smallest: Size, factor: float = 2.0) -> tuple[Size, ...]:
    """Four sizes, each a multiple of the one before."""
    first = getattr(smallest, axis)
    return tuple(replace(smallest, **{axis: round(first * factor**k)}) for k in range(4))


def with_workers(size: Size) -> tuple[Size, ...]:
    """One, two and four worker processes."""
    return tuple(replace(size, workers=workers) for workers in (1, 2, 4))


# ---------------------------------------------------------------------- data


def classes(size: Size) -> tuple[np.ndarray, np.ndarray]:
    """Two classes, 20 features that differ between them; float32, made in parts."""
    rng = np.random.default_rng(0)
    y = np.arange(size.n) % 2
    X = np.empty((size.n, size.p), dtype=np.float32)
    for at in range(0, size.n, 10_000):
        X[at : at + 10_000] = rng.standard_normal(X[at : at + 10_000].shape, dtype=np.float32)
    X[:, : min(20, size.p)] += 0.5 * y[:, None]
    return X, y


def selections(size: Size) -> ms.Runs:
    """m runs that select 50 of p features, most of them from the first 300."""
    rng = np.random.default_rng(0)
    likely = min(300, size.p)
    sets = [rng.choice(likely, min(SELECTED, likely // 2), replace=False) for _ in range(size.m)]
    return ms.Runs.from_sets(sets, features=size.p)


def genes(size: Size) -> pd.DataFrame:
    """Genes of which each depends on another."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(size.n, size.p))
    for g in range(1, size.p):
        values[:, g] += np.tanh(values[:, rng.integers(g)])
    return pd.DataFrame(values).add_prefix("G")


# ---------------------------------------------------------------------- work


def filter_scores(size: Size) -> Call:
    X, y = classes(size)
    rng = np.random.default_rng(1)
    weights = np.stack(
        [np.bincount(rng.integers(0, size.n, size.n), minlength=size.n) for _ in range(size.m)]
    ).astype(np.uint8)
    return lambda: make_ranker("f_statistic").score_resamples(X, y, weights)


def ensemble(ranker: str) -> Callable[[Size], Call]:
    def prepare(size: Size) -> Call:
        X, y = classes(size)
        selector = ms.EnsembleSelector(
            ranker,
            n_features_to_select=min(SELECTED, size.p // 2),
            n_resamples=size.m,
            similarity_threshold=None,
            random_state=0,
            n_jobs=size.workers,
            progress=False,
        )  # fmt: skip  (twins are a piece of their own)
        return lambda: selector.fit(X, y)

    return prepare


def stability(size: Size) -> Call:
    runs = selections(size)
    return lambda: ms.stability(runs, "jaccard")


def aggregation(size: Size) -> Call:
    runs = ms.Runs.from_scores(np.random.default_rng(0).random((size.m, size.p)))
    return lambda: ms.aggregate(runs, "rra")


def replicability(size: Size) -> Call:
    X, y = classes(size)
    return lambda: ms.replicability(
        "f_statistic", X, y, n_features_to_select=min(SELECTED, size.p // 2), n_pairs=size.m,
        n_splits=5, random_state=0, n_jobs=size.workers, progress=False,
    )  # fmt: skip


def evidence(size: Size) -> Call:
    X, y = classes(size)
    return lambda: ms.feature_evidence(
        "f_statistic",
        X,
        y,
        n_permutations=size.m,
        similarity_threshold=None,
        random_state=0,
        n_jobs=size.workers,
        progress=False,
    )  # fmt: skip  (twins are a piece of their own)


def network(size: Size) -> Call:
    table = genes(size)
    return lambda: ms.infer_network(
        table, method="forest", n_estimators=size.m, random_state=0, n_jobs=size.workers,
        progress=False,
    )  # fmt: skip


def twins(size: Size) -> Call:
    X, _ = classes(size)
    return lambda: ms.FeatureSimilarity.from_data(X, threshold=0.9)


SMALL = Size(40, 30, 20)  # warm-up: loads compiled code
LINEAR = {"n": 1.0, "p": 1.0, "m": 1.0}
PIECES = [
    Piece("F-statistic, scores alone", filter_scores, "resamples",
          {"n": along("n", Size(2_000, 2_000, 128)), "p": along("p", Size(2_000, 2_000, 128)),
           "m": along("m", Size(2_000, 2_000, 128))}, LINEAR),
    Piece("ensemble, F-statistic", ensemble("f_statistic"), "resamples",
          {"n": along("n", Size(8_000, 2_000, 128)), "p": along("p", Size(2_000, 2_000, 128)),
           "m": along("m", Size(2_000, 2_000, 128))}, LINEAR),
    Piece("ensemble, information gain", ensemble("information_gain"), "resamples",
          {"n": along("n", Size(4_000, 2_000, 128)), "p": along("p", Size(4_000, 2_000, 128)),
           "m": along("m", Size(4_000, 2_000, 600), 1.5)}, LINEAR),
    Piece("stability, Jaccard", stability, "runs",
          {"p": along("p", Size(0, 10_000, 1_600)), "m": along("m", Size(0, 10_000, 2_400), 1.5)},
          {"p": 0.0, "m": 2.0}),
    Piece("aggregation, RRA", aggregation, "lists",
          {"p": along("p", Size(0, 8_000, 200)), "m": along("m", Size(0, 8_000, 200))}, LINEAR),
    Piece("replicability, F-statistic", replicability, "pairs",
          {"n": along("n", Size(32_000, 500, 10)), "p": along("p", Size(500, 16_000, 10)),
           "m": along("m", Size(200, 500, 400))}, LINEAR),
    Piece("evidence, F-statistic", evidence, "permutations",
          {"n": along("n", Size(800, 2_000, 12)), "p": along("p", Size(200, 8_000, 12)),
           "m": along("m", Size(200, 1_000, 40))}, LINEAR),
    Piece("network, forests", network, "trees",
          {"n": along("n", Size(200, 20, 100)), "p": along("p", Size(100, 20, 50)),
           "m": along("m", Size(100, 20, 100))}, {"n": 1.16, "p": 2.0, "m": 1.0}),
    Piece("twins (correlations)", twins, "",
          {"n": along("n", Size(400, 4_000, 1)), "p": along("p", Size(200, 8_000, 1))},
          {"n": 1.0, "p": 2.0}),
]  # fmt: skip

# long enough that starting workers and sending data do not matter much
SHARED = [
    Piece("ensemble, random forest", ensemble("random_forest"), "resamples",
          {"workers": with_workers(Size(200, 200, 40))}, {}),
    Piece("replicability, F-statistic", replicability, "pairs",
          {"workers": with_workers(Size(1_000, 6_000, 1_000))}, {}),
    Piece("network, forests", network, "trees", {"workers": with_workers(Size(100, 80, 400))}, {}),
]  # fmt: skip
