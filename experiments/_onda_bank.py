"""Base runs for the error table: many more than a forecast may use, so that the truth is known."""

from __future__ import annotations

import warnings

import numpy as np
from _common import l1_logistic, load
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mainstay.data import Data
from mainstay.forecast.base_runs import Source
from mainstay.procedure import Procedure

ROWS = 200  # of larger sets, drawn at random: forecasts are for small samples
INSIDE = 50  # runs inside a half: the ensemble size at which forecasts are judged
SETS = {  # file, number of features to select (None: a tenth, at least 5)
    "colon": ("microarray/colon", 20),
    "lymphoma": ("microarray/lymphoma", 40),
    "prostate": ("microarray/prostate_ge", 60),
    "lsvt": ("correlated/lsvt", None),
    "tecator": ("correlated/tecator", None),
    "sonar": ("uci_small/sonar", None),
    "parkinsons": ("uci_small/parkinsons", None),
    "breast": ("uci_small/breast", None),
    "musk": ("wam12/musk", None),
    "scene": ("wam12/scene", None),
    "jasmine": ("wam12/jasmine", None),
    "ionosphere": ("wam12/ionosphere", None),
    "splice": ("wam12/splice", None),
}
NEW = tuple(name for name in SETS if name not in ("colon", "lymphoma", "prostate"))
RANKERS = {
    "F-score": "f_statistic",
    "L1 logistic": make_pipeline(StandardScaler(), l1_logistic(C=0.5)),
    "random forest": RandomForestClassifier(50),
}
# flat runs and halves per ranker: as many as their cost allows
SIZES = {"F-score": (3000, 200), "L1 logistic": (1500, 80), "random forest": (1000, 50)}
FORESTS = ("colon", "lsvt", "sonar", "musk", "tecator")  # others: the cost
# nine classes, of which liblinear takes two; the cost
SKIPPED = {("lymphoma", "L1 logistic"), ("prostate", "L1 logistic")}
SKIPPED |= {(name, "random forest") for name in SETS if name not in FORESTS}


def few_rows(name: str) -> tuple[np.ndarray, np.ndarray, int]:
    """Data without constant columns, at most `ROWS` rows, and the number of features to select."""
    file, k = SETS[name]
    X, y = load(file)
    if name == "splice":
        y = (y != 2).astype(int)
    rows = np.random.default_rng(0).permutation(len(y))[:ROWS]
    X, y = X[rows], y[rows]
    X = X[:, X.std(axis=0) > 0]
    return X, y, k or max(5, round(0.1 * X.shape[1]))


def bank(name: str, ranker: str) -> dict[str, np.ndarray]:
    """Scores of flat runs (n × p) and of runs in halves (halves × runs × p)."""
    X, y, k = few_rows(name)
    procedure, data = Procedure.of(RANKERS[ranker]), Data.check(X, y)
    source = Source(procedure, data, "overlapping", 2, None, None, False)
    n_flat, n_halves = SIZES[ranker]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rare classes miss in some halves; constant columns
        flat = source.flat(n_flat, np.random.default_rng(1)).runs.scores
        nested = source.in_halves(n_halves, INSIDE, np.random.default_rng(2)).runs.scores
    return {
        "flat": flat.astype(np.float32),
        "nested": nested.astype(np.float32).reshape(n_halves, INSIDE, -1),
        "k": np.array(k),
    }
