"""The random forests of onda2021: what single forests and ensembles of them select, fold by fold.

A leave-one-out fold takes one sample out and deals the others into two halves. Weak selectors are
forests on bootstraps of half 1; the predictor learns on half 2 and is tested on the sample left
out. The first trees of a forest are a smaller forest, so one of 500 trees gives all sizes.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from _bare_trees import bare_trees
from _cells import Cell
from _common import load
from _onda_paper import FILES
from _onda_trees import Columns
from sklearn.ensemble import RandomForestClassifier

import mainstay as ms
from mainstay.resampling import make_resamples

TREES = (50, 100, 200, 300, 400, 500)
PREDICTOR_TREES = 100
# What single forests may see, and how they are grown, where it is not a half dealt by classes.
KINDS = {
    "half": "half 1",
    "bootstrap": "a bootstrap of half 1",
    "unstratified": "halves dealt without regard to classes",
    "same halves": "the same halves in all folds (one shuffle of the rows that are left)",
    "same seed": "the same seed of the forest in all folds",
    "same halves and seed": "the same halves and the same seed in all folds",
    "two thirds": "two thirds of the rows instead of half",
    "no bootstrap": "trees on all rows of half 1, not on bootstraps",
}


@dataclass(frozen=True)
class Data:
    """A data set of the paper, and how many features it selects there."""

    name: str
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

    def mtry(self, share: str) -> int:
        """Features tried at every split; "sqrt", or the paper's normalised mtry."""
        return int(self.n_features**0.5 if share == "sqrt" else float(share) * self.n_features)


@lru_cache
def read(name: str) -> Data:
    """Read a data set as scikit-learn's trees want it."""
    file, n_target = FILES[name]
    X, y = load(f"microarray/{file}")
    return Data(name, n_target, np.ascontiguousarray(X, dtype=np.float32), y)


# ---------------------------------------------------------------------- trees


def check_trees(data: Data, forests: int = 12) -> None:
    """Stop if the compiled forests are not, up to chance, those of scikit-learn.

    Importances of so many forests of each kind: the differences of the means, in standard errors,
    have a standard deviation of 1 over the features, and equally many features are used.
    """
    X, y, few = data.X[::2], data.y[::2], TREES[:2]
    columns = Columns(X, y)
    ours = [columns.importances(few, data.mtry("sqrt"), seed)[-1] for seed in range(forests)]
    theirs = [
        RandomForestClassifier(few[-1], random_state=seed).fit(X, y).feature_importances_
        for seed in range(forests)
    ]
    a, b = np.array(ours), np.array(theirs)
    error = np.sqrt((a.var(axis=0, ddof=1) + b.var(axis=0, ddof=1)) / forests)
    z = (a.mean(axis=0) - b.mean(axis=0))[error > 0] / error[error > 0]
    used = (a > 0).sum() / (b > 0).sum()
    if not (0.85 < z.std() < 1.15 and abs(z.mean()) < 0.1 and 0.97 < used < 1.03):
        raise RuntimeError("the forests of _onda_trees differ from scikit-learn's.")


def predicted(X: np.ndarray, y: np.ndarray, x: np.ndarray, seed: int) -> Any:
    """Predict the class of one sample by a forest, as RandomForestClassifier does."""
    votes = sum(tree.predict(x)[0] for tree in bare_trees(X, y, PREDICTOR_TREES, seed))
    return np.unique(y)[np.argmax(votes)]


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


# ---------------------------------------------------------------------- selections


def top(scores: np.ndarray, k: int, *, seed: int) -> np.ndarray:
    """Select the k best of every row, ties at the cut at random, as the paper leaves them open."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "in .* runs features tie")
        support = ms.Runs.from_scores(scores).top(k, random_state=seed).support
    return np.nonzero(support)[1].reshape(len(support), k)


def as_steps(selected: np.ndarray) -> list[Any]:
    """Write sorted numbers of features as the steps between them, which take less room."""
    return np.diff(selected, axis=-1, prepend=0).tolist()


def from_steps(steps: Any) -> np.ndarray:
    """Read what `as_steps` wrote."""
    return np.cumsum(np.array(steps), axis=-1)


def deal(
    y: np.ndarray, left_out: int, rng: np.random.Generator, *, evenly: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Deal all samples but one into two random halves, if `evenly` every class (within one)."""
    order = np.lexsort((rng.random(len(y)), y if evenly else np.zeros(len(y))))
    order = order[order != left_out]
    start = int(rng.integers(2))
    return order[start::2], order[1 - start :: 2]


def _rows_of(data: Data, left_out: int, kind: str, rng: np.random.Generator, shuffle: Any) -> Any:
    """Rows that a single forest of a fold sees."""
    if kind.startswith("same halves"):
        others = np.delete(np.arange(data.n_samples), left_out)
        return others[shuffle[: len(others) // 2]]
    first, second = deal(data.y, left_out, rng, evenly=kind != "unstratified")
    if kind == "bootstrap":
        resamples = make_resamples("bootstrap", 2, len(first), classes=data.y[first], rng=rng)
        return first[resamples.rows(0)]
    if kind == "two thirds":
        more = deal(data.y[second], -1, rng)[0]  # half of half 2
        return np.concatenate([first, second[more[: round(len(first) / 3)]]])
    return first


def single_forests(cell: Cell, folds: int, seed: int) -> dict[str, Any]:
    """Select by one forest per fold: cell = data, mtry, kind, repetition; folds × trees × k."""
    name, mtry, kind, repetition = cell
    data = read(name)
    shuffle = np.random.default_rng([seed, data.n_features, int(repetition), 7])
    once, fixed = shuffle.permutation(data.n_samples - 1), int(shuffle.integers(2**31))
    selected = []
    for left_out in range(min(folds, data.n_samples)):
        rng = np.random.default_rng([seed, data.n_features, left_out, int(repetition) + 1])
        rows = _rows_of(data, left_out, kind, rng, once)
        forest_seed = int(rng.integers(2**31))
        found = Columns(data.X[rows], data.y[rows]).importances(
            TREES,
            data.mtry(mtry),
            fixed if kind.endswith("seed") else forest_seed,
            bootstrap=kind != "no bootstrap",
        )
        selected.append(top(found, data.n_target, seed=forest_seed))
    return {"selected": as_steps(np.array(selected))}
