"""Methods of error_control.py: ours, Benjamini-Hochberg, and peers with their defaults.

A method gets X, y, the task and a seed, and returns what each of its rules selects.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from math import isqrt
from typing import Any

import numpy as np
import pandas as pd
from _error_data import SMALL, Cell
from scipy.special import xlogy
from scipy.stats import chi2, false_discovery_control
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import f_classif, f_regression

import mainstay as ms
from mainstay.data import Data
from mainstay.procedure import Procedure
from mainstay.rankers import Binning, InformationGain
from mainstay.reliability import bounds

RESAMPLES = 20  # 10 pairs: a fifth of the default, for more data sets
PERMUTATIONS = 40  # the fewest that "auto" makes
N_BINS = 10  # as information gain has them
N_PAIRS = 50  # of the bounds, which need no permutations
FURTHER = 300  # data sets for a cell in which the first ones lie above the promise


@dataclass(frozen=True)
class Rule:
    """What a method promises of its false features.

    `kind`: a rate ("fdr", "fwer"), their number ("number"), or their share of all features
    ("share").
    """

    label: str
    kind: str
    level: float
    truth: str = "marginal"


@dataclass(frozen=True)
class Named:
    """Features that a rule selects; with `groups`, groups of features are what is counted."""

    mask: np.ndarray
    groups: np.ndarray | None = None


Selections = dict[str, Named]


@dataclass(frozen=True)
class Method:
    """One method: its rules, the package it needs, and how many data sets of a cell it can afford.

    `family`: "ours", "reference" or "peer". `chunk`: data sets that are kept in one file. `later`:
    it runs when the others have had so many data sets; `later_if_large`: outside the small cells.
    `judged_again`: a cell in which it breaks a
    promise gets FURTHER data sets, and is judged by these.
    """

    name: str
    family: str
    package: str
    rules: tuple[Rule, ...]
    run: Callable[[np.ndarray, np.ndarray, str, int], Selections]
    n_sets: Callable[[Cell], int]
    chunk: int = 25
    later: int = 0
    later_if_large: int = 0
    judged_again: bool = False

    @property
    def installed(self) -> bool:
        """Whether it can run here."""
        return find_spec(self.package) is not None


# ---------------------------------------------------------------------- the reference


def benjamini_hochberg(X: np.ndarray, y: np.ndarray, task: str, seed: int) -> Selections:
    """The plain F-test, adjusted; knows the null distribution, needs no permutations."""
    test = f_regression if task == "regression" else f_classif
    return {"FDR 10%": Named(false_discovery_control(test(X, y)[1]) <= 0.1)}


def g_test(X: np.ndarray, y: np.ndarray, task: str, seed: int) -> Selections:
    """Information gain's own plain test: all rows, ten bins of equal width, classes only.

    Its χ² approximation, and the same statistic with a null of 200 permuted targets.
    """
    low, high = X.min(axis=0), X.max(axis=0)
    bins = np.minimum(((X - low) / (high - low) * N_BINS).astype(int), N_BINS - 1)
    rng = np.random.default_rng(seed)
    targets = np.stack([y, *(rng.permutation(y) for _ in range(200))])
    statistics = g_statistics(bins, targets)
    filled = np.sum([(bins == b).any(axis=0) for b in range(N_BINS)], axis=0)
    p_values = chi2.sf(statistics[0], (filled - 1) * (len(np.unique(y)) - 1))
    return {
        "FDR 10%": Named(false_discovery_control(p_values) <= 0.1),
        "FDR 10%, permuted": Named(permutation_q_values(statistics[0], statistics[1:]) <= 0.1),
    }


def g_statistics(bins: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """2 Σ observed·log(observed/expected), targets × features."""
    statistics = np.zeros((len(targets), bins.shape[1]))
    for b in range(N_BINS):
        inside = (bins == b).astype(float)
        for label in np.unique(targets):
            of_label = (targets == label).astype(float)
            observed = of_label @ inside
            expected = of_label.mean(axis=1, keepdims=True) * inside.sum(axis=0)
            statistics += 2 * xlogy(observed, observed / np.where(expected > 0, expected, 1))
    return statistics


def permutation_q_values(observed: np.ndarray, null: np.ndarray) -> np.ndarray:
    """Benjamini-Hochberg on p-values from the statistics of all features and permutations."""
    pooled = np.sort(null, axis=None)
    reached = len(pooled) - np.searchsorted(pooled, observed, side="left")
    return np.asarray(false_discovery_control((1 + reached) / (1 + len(pooled))))


# ---------------------------------------------------------------------- ours


def by_permutation(
    ranker: Any, n_resamples: int = RESAMPLES, n_permutations: int = PERMUTATIONS
) -> Callable[[np.ndarray, np.ndarray, str, int], Selections]:
    """`ms.feature_evidence`."""

    def run(X: np.ndarray, y: np.ndarray, task: str, seed: int) -> Selections:
        found = ms.feature_evidence(
            ranker, X, y, n_resamples=n_resamples, n_permutations=n_permutations, task=task,
            random_state=seed, n_jobs=1, progress=False,
        )  # fmt: skip
        assert found.groups is not None
        groups = found.groups.labels
        return {
            "FDR 10%": Named(found.mask("fdr<=0.1")),
            "FDR 10%, groups": Named(found.group_q_values <= 0.1, groups),
            "FWER 5%": Named(found.mask("fwer<=0.05")),
            "E ≤ 1": Named(found.mask("expected_false<=1")),
        }

    return run


def by_forest(X: np.ndarray, y: np.ndarray, task: str, seed: int) -> Selections:
    """`ms.feature_evidence` with the importances of a small forest."""
    forest = RandomForestRegressor if task == "regression" else RandomForestClassifier
    return by_permutation(forest(20), 4, 20)(X, y, task, seed)


def by_bounds(X: np.ndarray, y: np.ndarray, task: str, seed: int) -> Selections:
    """F-test on complementary pairs; √(0.8 p) features a run, as Meinshausen and Bühlmann do."""
    p = X.shape[1]
    q = isqrt(int(0.8 * p))
    procedure = Procedure.of("f_statistic", resampling="pairs")
    data = Data.check(X, y, task=task)
    rng = np.random.default_rng(seed)
    runs = procedure.merge(procedure.run(data, 2 * N_PAIRS, rng, n_jobs=1, progress=False))
    out = {
        f"{name}, E ≤ 1": Named(
            bounds.select(runs, max_false=1, bound=name, n_features_to_select=q).support
        )
        for name in BOUND_NAMES
    }
    for power in IPSS_POWERS:
        path = bounds.ipss(runs, power=power)
        out[f"IPSS h{power}, E ≤ 1"] = Named(path.expected_false <= 1)
    return out


BOUND_NAMES = ("meinshausen-buehlmann", "unimodal", "r-concave")
IPSS_POWERS: tuple[Any, ...] = (1, 2, 3)


# ---------------------------------------------------------------------- peers


def ipss_with(selector: str) -> Callable[[np.ndarray, np.ndarray, str, int], Selections]:
    """PyPI's ipss."""

    def run(X: np.ndarray, y: np.ndarray, task: str, seed: int) -> Selections:
        from ipss import ipss

        np.random.seed(seed % 2**32)  # noqa: NPY002 — the package draws from it
        found = ipss(X, y, selector=selector, n_jobs=1)
        scores = {key: by_feature(found[key], X.shape[1]) for key in ("q_values", "efp_scores")}
        return {"FDR 10%": Named(scores["q_values"] <= 0.1),
                "E ≤ 1": Named(scores["efp_scores"] <= 1)}  # fmt: skip

    return run


def by_feature(scores: Any, p: int) -> np.ndarray:
    """Scores given as {feature: score} in the order of the features."""
    return np.array([scores[j] for j in range(p)], dtype=float)


def knockpy(X: np.ndarray, y: np.ndarray, task: str, seed: int) -> Selections:
    """Gaussian model-X knockoffs with the lasso statistic."""
    from knockpy import KnockoffFilter

    np.random.seed(seed % 2**32)  # noqa: NPY002 — the package draws from it
    return {"FDR 10%": Named(np.asarray(KnockoffFilter().forward(X, y, fdr=0.1)) > 0)}


def boruta(X: np.ndarray, y: np.ndarray, task: str, seed: int) -> Selections:
    """Boruta with the forest that its page recommends."""
    from boruta import BorutaPy

    forest = RandomForestRegressor if task == "regression" else RandomForestClassifier
    trees = forest(n_jobs=1, max_depth=5)
    search = BorutaPy(trees, n_estimators="auto", random_state=seed % 2**31)
    return {"FDR 5%": Named(np.asarray(search.fit(X, y).support_))}


def powershap(X: np.ndarray, y: np.ndarray, task: str, seed: int) -> Selections:
    """Shapley values of boosted trees against a random feature, α = 0.01 a feature."""
    from powershap import PowerShap

    np.random.seed(seed % 2**32)  # noqa: NPY002 — the package draws from it
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),  # where its models leave their files
        contextlib.redirect_stdout(io.StringIO()),
    ):
        search = PowerShap(show_progress=False).fit(frame, pd.Series(y))
    return {"α = 0.01": Named(np.asarray(search.get_support()))}


# ---------------------------------------------------------------------- who does what, how often


def everywhere(cell: Cell) -> int:
    """As many data sets in every cell."""
    return 100


def classes_only(cell: Cell) -> int:
    """For information gain, whose main use is classes."""
    return 0 if cell.task == "regression" or cell.signal == "weak" else everywhere(cell)


def some_classes(cell: Cell) -> int:
    """Of these; without signal only 100 rows of independent features."""
    if cell.signal == "noise" and (cell.n, cell.design) != (100, "independent"):
        return 0
    return classes_only(cell)


def shifted_classes(cell: Cell) -> int:
    """Classes of equal size whose means differ, independent features."""
    balanced = cell.target in ("binary", "five classes")
    shifted = balanced and cell.design == "independent" and cell.signal == "strong"
    return everywhere(cell) if shifted else 0


def is_small(cell: Cell) -> bool:
    """100 rows of 200 features, where every method has as many data sets."""
    return cell.p == SMALL


def is_central(cell: Cell) -> bool:
    """n = 200, continuous target, no signal or a strong one."""
    continuous = cell.target == "continuous" and not is_small(cell)
    return continuous and cell.n == 200 and cell.signal != "weak"


def in_center(n_sets: int) -> Callable[[Cell], int]:
    """So many data sets of the central cells only."""
    return lambda cell: n_sets if is_central(cell) else 0


def in_small(small: int, central: int = 0) -> Callable[[Cell], int]:
    """So many of the small cells, and of the central ones with independent features."""

    def n_sets(cell: Cell) -> int:
        if is_small(cell):
            return small
        return central if is_central(cell) and cell.design == "independent" else 0

    return n_sets


def small_and_center(small: int, central: int) -> Callable[[Cell], int]:
    """So many of the small cells, and of all central ones."""
    return lambda cell: small if is_small(cell) else central if is_central(cell) else 0


PERMUTATION_RULES = (
    Rule("FDR 10%", "fdr", 0.1),
    Rule("FDR 10%, groups", "fdr", 0.1),
    Rule("FWER 5%", "fwer", 0.05),
    Rule("E ≤ 1", "number", 1),
)
IPSS_RULES = (Rule("FDR 10%", "fdr", 0.1, "conditional"), Rule("E ≤ 1", "number", 1, "conditional"))

G_RULES = (Rule("FDR 10%", "fdr", 0.1), Rule("FDR 10%, permuted", "fdr", 0.1))

METHODS = {
    method.name: method
    for method in (
        Method("Benjamini-Hochberg, F-test", "reference", "sklearn", (Rule("FDR 10%", "fdr", 0.1),),
               benjamini_hochberg, everywhere, judged_again=True),
        Method("Benjamini-Hochberg, G-test", "reference", "scipy", G_RULES, g_test, classes_only,
               later=3),
        Method("mainstay, F-test", "ours", "mainstay", PERMUTATION_RULES,
               by_permutation("f_statistic"), everywhere, judged_again=True),
        Method("mainstay, information gain", "ours", "mainstay", PERMUTATION_RULES,
               by_permutation("information_gain"), classes_only, later=3,
               judged_again=True),
        Method("mainstay, information gain, 4 quantile bins", "ours", "mainstay", PERMUTATION_RULES,
               by_permutation(InformationGain(binning=Binning("quantile", n_bins=4))),
               some_classes),
        Method("mainstay, F-test, 50 pairs", "ours", "mainstay", PERMUTATION_RULES,
               by_permutation("f_statistic", 100, 100), in_center(100), 10, later=45,
               judged_again=True),
        Method("mainstay, information gain, 50 pairs", "ours", "mainstay", PERMUTATION_RULES,
               by_permutation("information_gain", 100, 100), shifted_classes, 10, later=40),
        Method("mainstay, L1 path", "ours", "mainstay", PERMUTATION_RULES,
               by_permutation("l1_path", 6, 30), in_small(100, 30), 10, later_if_large=50),
        Method("mainstay, forest of 20 trees", "ours", "mainstay", PERMUTATION_RULES,
               by_forest, in_small(100), 5, later=30),
        Method("mainstay, bounds, F-test", "ours", "mainstay",
               tuple(Rule(f"{name}, E ≤ 1", "number", 1)
                     for name in (*BOUND_NAMES, *(f"IPSS h{m}" for m in IPSS_POWERS))),
               by_bounds, everywhere),
        Method("ipss, L1", "peer", "ipss", IPSS_RULES, ipss_with("l1"), small_and_center(30, 30), 5,
               later_if_large=50),
        Method("ipss, boosting (default)", "peer", "ipss", IPSS_RULES, ipss_with("gb"),
               small_and_center(30, 30), 5, later_if_large=60),
        Method("knockpy", "peer", "knockpy", (Rule("FDR 10%", "fdr", 0.1, "conditional"),),
               knockpy, small_and_center(30, 30), 5, later_if_large=70),
        Method("powershap", "peer", "powershap", (Rule("α = 0.01", "share", 0.01),),
               powershap, in_small(10), 1, later=60),
        Method("Boruta", "peer", "boruta", (Rule("FDR 5%", "fdr", 0.05),), boruta,
               in_small(30), 1, later=12),
    )
}  # fmt: skip
