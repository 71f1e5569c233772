"""The random forests of onda2021: what every weak selector of every fold found, kept in a cache.

A leave-one-out fold takes one sample out and deals the others into two halves. Weak selectors are
forests on bootstraps of half 1; the predictor learns on half 2 and is tested on the sample left
out. The first trees of a forest are a smaller forest, so one of 500 trees gives all sizes.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from _common import load, log
from joblib import Parallel, delayed
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree._criterion import Gini
from sklearn.tree._splitter import BestSplitter
from sklearn.tree._tree import DepthFirstTreeBuilder, Tree

import mainstay as ms
from mainstay.resampling import make_resamples

TREES = (50, 100, 200, 300, 400, 500)
PREDICTOR_TREES = 100
MTRY = {"sqrt": "sqrt", "0.01": 0.01, "0.1": 0.1}  # the paper's normalised mtry: share of features
KINDS = ("half", "bootstrap")  # what a base selector may see: half 1, or a bootstrap of it


@dataclass(frozen=True)
class Data:
    """A data set of the paper, and how many features it selects there."""

    name: str
    file: str
    n_target: int
    X: np.ndarray
    y: np.ndarray

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.X.shape[1]

    @property
    def n_samples(self) -> int:
        """Number of rows: the paper's m_stability, one fold for each."""
        return len(self.y)


def read(name: str, file: str, n_target: int) -> Data:
    """Read a data set as scikit-learn's trees want it."""
    X, y = load(f"microarray/{file}")
    return Data(name, file, n_target, np.ascontiguousarray(X, dtype=np.float32), y)


# ---------------------------------------------------------------------- trees


def grow(X: np.ndarray, y: np.ndarray, count: int, mtry: Any, seed: int) -> Iterator[Tree]:
    """Grow the trees of RandomForestClassifier(count, max_features=mtry, random_state=seed).

    The same trees, bit for bit (see `check_trees`), by scikit-learn's own compiled code, without
    the checks of arguments that take most of the time when there are 30 samples.
    """
    n, p = X.shape
    classes, codes = np.unique(y, return_inverse=True)
    target, kinds = codes.astype(float)[:, None], np.array([len(classes)], dtype=np.intp)
    size = max(1, int(p**0.5 if mtry == "sqrt" else mtry * p))
    rng = np.random.RandomState(0)
    splitter = BestSplitter(Gini(1, kinds), size, 1, 0.0, rng, None)
    builder = DepthFirstTreeBuilder(splitter, 2, 1, 0.0, np.iinfo(np.int32).max, 0.0)
    for tree_seed in np.random.RandomState(seed).randint(np.iinfo(np.int32).max, size=count):
        rng.seed(tree_seed)
        rows = rng.randint(0, n, n, dtype=np.int32)
        rng.seed(tree_seed)
        tree = Tree(p, kinds, 1)
        builder.build(tree, X, target, np.bincount(rows, minlength=n).astype(float), None)
        yield tree


def importances(X: np.ndarray, y: np.ndarray, mtry: Any, seed: int) -> np.ndarray:
    """Return `feature_importances_` of the forests of 50 to 500 trees, one row for each."""
    total, found = np.zeros(X.shape[1]), []
    for count, tree in enumerate(grow(X, y, TREES[-1], mtry, seed), start=1):
        total += tree.compute_feature_importances()
        if count in TREES:
            found.append(total / total.sum())
    return np.array(found)


def predicted(X: np.ndarray, y: np.ndarray, x: np.ndarray, seed: int) -> Any:
    """Predict the class of one sample by a forest, as RandomForestClassifier does."""
    votes = sum(tree.predict(x)[0] for tree in grow(X, y, PREDICTOR_TREES, "sqrt", seed))
    return np.unique(y)[np.argmax(votes)]


def check_trees(data: Data) -> None:
    """Stop if `grow` does not give what this version of scikit-learn's forests give."""
    X, y = data.X[::2], data.y[::2]
    ours = importances(X, y, "sqrt", 7)
    for row in (0, -1):
        forest = RandomForestClassifier(TREES[row], random_state=7).fit(X, y)
        if np.abs(forest.feature_importances_ - ours[row]).max() > 1e-12:
            raise RuntimeError("_onda_forests.grow differs from scikit-learn's random forest.")


# ---------------------------------------------------------------------- the protocol


def deal(
    y: np.ndarray, left_out: int, rng: np.random.Generator, *, evenly: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Deal all samples but one into two random halves, if `evenly` every class (within one)."""
    order = np.lexsort((rng.random(len(y)), y if evenly else np.zeros(len(y))))
    order = order[order != left_out]
    start = int(rng.integers(2))
    return order[start::2], order[1 - start :: 2]


@dataclass(frozen=True)
class Bank:
    """Importances of the weak selectors of one data set."""

    importances: np.ndarray  # folds × weak selectors × numbers of trees × features
    seconds: np.ndarray  # CPU time of every forest of 500 trees: folds × weak selectors
    left_out: np.ndarray  # the sample of each fold
    half: np.ndarray  # 1 or 2, 0 = left out: folds × samples


def weak_fold(data: Data, mtry: str, weak: int, kind: str, left_out: int, seed: int) -> Any:
    """Run all weak selectors of one fold, on bootstraps of half 1 or, by seed only, on half 1."""
    rng = np.random.default_rng([seed, data.n_features, left_out])
    first, second = deal(data.y, left_out, rng)
    half = np.zeros(data.n_samples, dtype=np.int8)
    half[first], half[second] = 1, 2
    X, y = data.X[first], data.y[first]
    found, seconds = [], []
    for rows in make_resamples("bootstrap", weak, len(y), classes=y, rng=rng):
        rows = rows if kind == "bootstrap" else np.arange(len(y))
        start = time.process_time()
        found.append(importances(X[rows], y[rows], MTRY[mtry], int(rng.integers(2**31))))
        seconds.append(time.process_time() - start)
    return np.array(found, dtype=np.float32), np.array(seconds), left_out, half


def bank(
    data: Data, mtry: str, folds: int, weak: int, options: Any, kind: str = "bootstrap"
) -> Bank:
    """Return the importances of `weak` selectors in each of so many folds, cached."""
    folds = min(folds, data.n_samples)
    order = np.random.default_rng([options.seed, data.n_features]).permutation(data.n_samples)
    left_out = np.sort(order[:folds])

    def make() -> dict[str, np.ndarray]:
        parts = Parallel(options.jobs)(
            delayed(weak_fold)(data, mtry, weak, kind, int(i), options.seed) for i in left_out
        )
        names = ("importances", "seconds", "left_out", "half")
        return dict(zip(names, map(np.array, zip(*parts, strict=True)), strict=True))

    name = f"weak_{data.file}_mtry-{mtry}_{folds}x{weak}_seed{options.seed}"
    name += "" if kind == "bootstrap" else f"_{kind}"
    return Bank(**cached(options.cache, name, make))


def base_fold(
    data: Data, mtry: str, left_out: int, repetition: int, seed: int, evenly: bool
) -> np.ndarray:
    """Return what a single forest selects: on half 1, and on a bootstrap of it."""
    rng = np.random.default_rng([seed, data.n_features, left_out, repetition + 1])
    first, _ = deal(data.y, left_out, rng, evenly=evenly)
    X, y = data.X[first], data.y[first]
    rows = make_resamples("bootstrap", 2, len(y), classes=y, rng=rng).rows(0)
    seeds = rng.integers(2**31, size=2)
    both = [
        importances(X, y, MTRY[mtry], int(seeds[0])),
        importances(X[rows], y[rows], MTRY[mtry], int(seeds[1])),
    ]
    tops = [top(found, data.n_target, seed=int(seeds[0])) for found in both]
    return np.array([np.nonzero(t)[1].reshape(len(TREES), -1) for t in tops], dtype=np.uint16)


def base(
    data: Data, mtry: str, folds: int, repetitions: int, options: Any, *, evenly: bool = True
) -> dict[str, Any]:
    """Return the selections of single forests, cached: kind → repetitions × trees × folds × k.

    Every repetition deals new halves and grows new forests in all folds.
    """
    folds = min(folds, data.n_samples)

    def make() -> dict[str, np.ndarray]:
        tasks = [(i, r) for r in range(repetitions) for i in range(folds)]
        parts = Parallel(options.jobs)(
            delayed(base_fold)(data, mtry, i, r, options.seed, evenly) for i, r in tasks
        )
        all_ = np.array(parts).reshape(repetitions, folds, 2, len(TREES), data.n_target)
        return dict(zip(KINDS, all_.transpose(2, 0, 3, 1, 4), strict=True))

    name = f"base_{data.file}_mtry-{mtry}_{folds}x{repetitions}_seed{options.seed}"
    name += "" if evenly else "_unstratified"
    return cached(options.cache, name, make)


def cached(folder: Path, name: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Read arrays from the cache, or make them and put them there."""
    path = folder / f"{name}.npz"
    if not path.is_file():
        log(f"making {name}")
        part = folder / f"{name}.part.npz"
        np.savez_compressed(part, **make())
        part.rename(path)
        log(f"wrote {path}")
    with np.load(path) as archive:
        return dict(archive)


# ---------------------------------------------------------------------- selections


def top(scores: np.ndarray, k: int, *, seed: int) -> np.ndarray:
    """Select the k best of every row; ties at the cut at random, as the paper leaves them open."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "in .* runs features tie")
        return ms.Runs.from_scores(scores).top(k, random_state=seed).support


def seconds_per_forest(data: Data, repetitions: int, seed: int) -> float:
    """CPU time of one RandomForestClassifier of 500 trees and its importances, as users call it."""
    rng = np.random.default_rng([seed, data.n_features])
    first, _ = deal(data.y, 0, rng)
    start = time.process_time()
    for _ in range(repetitions):
        rows = rng.choice(first, len(first))
        forest = RandomForestClassifier(TREES[-1], random_state=int(rng.integers(2**31)))
        forest.fit(data.X[rows], data.y[rows]).feature_importances_  # noqa: B018
    return (time.process_time() - start) / repetitions
