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
    """Work whose growth is measured: around `base`, one of n, p and m at a time."""

    name: str
    prepare: Callable[[Size], Call]
    base: Size
    repeats: str  # what m counts
    axes: Mapping[str, tuple[int, ...]]
    expected: Mapping[str, int]  # exponents

    def sizes(self, axis: str) -> list[Size]:
        """The sizes along one axis."""
        return [replace(self.base, **{axis: value}) for value in self.axes[axis]]


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
        "f_statistic", X, y, n_permutations=size.m, random_state=0, n_jobs=size.workers,
        progress=False,
    )  # fmt: skip


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
LINEAR = {"n": 1, "p": 1, "m": 1}
PIECES = [
    Piece("F-statistic, scores alone", filter_scores, Size(2_000, 2_000, 50), "resamples",
          {"n": (2_000, 8_000, 32_000), "p": (2_000, 8_000, 32_000), "m": (50, 150, 450)}, LINEAR),
    Piece("ensemble, F-statistic", ensemble("f_statistic"), Size(1_000, 2_000, 100), "resamples",
          {"n": (1_000, 3_000, 9_000), "p": (2_000, 6_000, 18_000), "m": (100, 300, 900)}, LINEAR),
    Piece("ensemble, information gain", ensemble("information_gain"), Size(1_000, 2_000, 100),
          "resamples",
          {"n": (1_000, 3_000, 9_000), "p": (2_000, 6_000, 18_000), "m": (100, 300, 900)}, LINEAR),
    Piece("stability, Jaccard", stability, Size(0, 10_000, 1_600), "runs",
          {"p": (10_000, 40_000, 160_000), "m": (800, 1_600, 3_200)}, {"p": 1, "m": 2}),
    Piece("aggregation, RRA", aggregation, Size(0, 4_000, 200), "lists",
          {"p": (4_000, 12_000, 36_000), "m": (200, 600, 1_800)}, {"p": 1, "m": 1}),
    Piece("replicability, F-statistic", replicability, Size(200, 4_000, 20), "pairs",
          {"n": (200, 400, 800), "p": (4_000, 8_000, 16_000), "m": (50, 100, 200)}, LINEAR),
    Piece("evidence, F-statistic", evidence, Size(200, 2_000, 20), "permutations",
          {"n": (200, 400, 800), "p": (2_000, 4_000, 8_000), "m": (40, 80, 160)}, LINEAR),
    Piece("network, forests", network, Size(100, 20, 100), "trees",
          {"n": (100, 200, 400), "p": (20, 40, 80), "m": (100, 200, 400)},
          {"n": 1, "p": 2, "m": 1}),
    Piece("twins (correlations)", twins, Size(200, 4_000, 1), "",
          {"n": (200, 800, 3_200), "p": (4_000, 8_000, 16_000)}, {"n": 1, "p": 2}),
]  # fmt: skip

# long enough that starting workers and sending data do not matter much
SHARED = [
    Piece("ensemble, random forest", ensemble("random_forest"), Size(200, 200, 40), "resamples",
          {}, {}),
    Piece("replicability, F-statistic", replicability, Size(1_000, 6_000, 50), "pairs", {}, {}),
    Piece("network, forests", network, Size(100, 80, 400), "trees", {}, {}),
]  # fmt: skip
WORKERS = (1, 2, 4)
