"""Comparisons of peers.py with Python packages; those with R are in _peers_r.

A comparison does the same work twice and returns an Outcome: the CPU seconds of both, and how far
the results agree. Exact methods must agree exactly; random ones as far as the peer agrees with
itself under another seed.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

from _harness import l1_penalty  # isort: skip  (sets the number of threads before numpy is loaded)
import numpy as np
import pandas as pd
from scipy.stats import spearmanr

import mainstay as ms
from mainstay.rankers import make_ranker

N, P, RESAMPLES, SELECTED = 200, 10_000, 100, 50
SLACK = 0.03  # a random method may agree with us by so much less than with itself


@dataclass(frozen=True)
class Outcome:
    """CPU seconds of both, and whether and how far the results agree."""

    ours: float
    theirs: float
    agree: bool
    how: str


@dataclass(frozen=True)
class Comparison:
    """Work that a peer does, too; `needs` is the module that must be importable, or R package."""

    work: str
    peer: str
    needs: str
    install: str
    run: Callable[[], Outcome]
    is_r: bool = False
    because: str = ""  # why the results differ, where that is known


def fastest(call: Callable[[], object], least: float = 0.5) -> tuple[float, object]:
    """Least CPU seconds of up to three calls, and the last result."""
    spent: list[float] = []
    while len(spent) < 3 and sum(spent) < least:
        start = time.process_time()
        result = call()
        spent.append(time.process_time() - start)
    return min(spent), result


def equal(ours: object, theirs: object, tolerance: float = 1e-6) -> tuple[bool, str]:
    """Numbers that must be the same up to rounding."""
    a, b = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
    apart = float(np.max(np.abs(a - b) / np.maximum(np.abs(b), 1e-3)))
    words = "equal up to rounding" if tolerance <= 1e-6 else f"equal up to {tolerance:g}"
    words = words if apart <= tolerance else f"differ by up to {apart:.2g}"
    return apart <= tolerance, words


def same_order(ours: list[int], theirs: list[int]) -> tuple[bool, str]:
    """The same features in the same order."""
    n = next((i for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b), len(ours))
    words = f"the same {n} features in the same order"
    return n == len(ours), words if n == len(ours) else f"only the first {n} of {len(ours)} agree"


def as_similar(ours: np.ndarray, theirs: np.ndarray, again: np.ndarray) -> tuple[bool, str]:
    """Rank correlation with a random method, against that of the method with another seed."""
    r, itself = (float(spearmanr(theirs, other)[0]) for other in (ours, again))
    return r >= itself - SLACK, f"rank correlation {r:.3f}; the peer with itself {itself:.3f}"


# ---------------------------------------------------------------------- data


def problem(n: int = N, p: int = P) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    return rng.normal(size=(n, p)) + y[:, None] * rng.random(p), y


def codes_of(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Ten values in every column, so that bins of equal width change nothing."""
    X, y = problem(n, p)
    low, high = X.min(axis=0), X.max(axis=0)
    return np.minimum((X - low) / (high - low) * 10, 9).astype(int), y


def bootstraps() -> np.ndarray:
    rng = np.random.default_rng(1)
    return np.stack(
        [np.bincount(rng.integers(0, N, N), minlength=N) for _ in range(RESAMPLES)]
    ).astype(np.uint8)


def expression(n: int, p: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(n, p))
    for g in range(2, p):
        values[:, g] += np.tanh(values[:, rng.integers(g)]) + values[:, rng.integers(g)]
    return pd.DataFrame(values).add_prefix("G")


# ---------------------------------------------------------------------- filters


def f_statistics(theirs: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]) -> Outcome:
    X, y = problem()
    weights, ranker = bootstraps(), make_ranker("f_statistic")
    ranker.score_resamples(X[:, :50], y, weights[:2])
    ours, found = fastest(lambda: ranker.score_resamples(X, y, weights))
    seconds, expected = fastest(lambda: theirs(X, y, weights))
    return Outcome(ours, seconds, *equal(found, expected))


def sklearn_f(X: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    from sklearn.feature_selection import f_classif

    resamples = [np.repeat(np.arange(len(y)), w) for w in weights]
    return np.stack([f_classif(X[rows], y[rows])[0] for rows in resamples])


def product_f(X: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """F from the sums of the classes and of the squares: two matrix products."""
    in_class = np.stack([weights * (y == c) for c in (0, 1)]).astype(float)  # 2 × B × n
    sums, squares = in_class @ X, weights.astype(float) @ (X * X)
    counts = in_class.sum(axis=2)[:, :, None]
    n = counts.sum(axis=0)
    explained = (sums**2 / counts).sum(axis=0)
    between = explained - sums.sum(axis=0) ** 2 / n
    return between / ((squares - explained) / (n - 2))


def sklearn_gain() -> Outcome:
    from sklearn.feature_selection import mutual_info_classif

    codes, y = codes_of(N, 2_000)
    ranker = make_ranker("information_gain")
    ranker.fit(codes[:, :50], y)
    ours, found = fastest(lambda: make_ranker("information_gain").fit(codes, y).scores_)
    theirs, expected = fastest(lambda: mutual_info_classif(codes, y, discrete_features=True))
    return Outcome(ours, theirs, *equal(found, expected))


def itmo_gain() -> Outcome:
    from ITMO_FS.filters.univariate import information_gain

    codes, y = codes_of(N, 2_000)
    make_ranker("information_gain").fit(codes[:, :50], y)
    ours, found = fastest(lambda: make_ranker("information_gain").fit(codes, y).scores_)
    theirs, expected = fastest(lambda: information_gain(codes, y))
    return Outcome(ours, theirs, *equal(found, expected))


# ---------------------------------------------------------------------- greedy selection


def first(ranker: object, k: int) -> list[int]:
    return np.argsort(-ranker.scores_, kind="stable")[:k].tolist()  # type: ignore[attr-defined]


def itmo(criterion: str, k: int = 10, p: int = 100) -> Outcome:
    from ITMO_FS.filters.multivariate import MultivariateFilter

    codes, y = codes_of(N, p)

    def theirs() -> list[int]:
        model = MultivariateFilter(criterion.upper(), k)
        model.fit(codes, y)
        return [int(j) for j in model.selected_features]

    def ours() -> list[int]:
        return first(make_ranker(f"{criterion}@{k}").fit(codes, y), k)

    make_ranker(f"{criterion}@3").fit(codes[:, :20], y)
    (mine, found), (seconds, expected) = fastest(ours), fastest(theirs)
    return Outcome(mine, seconds, *same_order(found, expected))  # type: ignore[arg-type]


def mrmr_selection(k: int = 20, p: int = 2_000) -> Outcome:
    from mrmr import mrmr_classif

    X, y = problem(N, p)
    table, target = pd.DataFrame(X), pd.Series(y)

    def theirs() -> list[int]:
        return mrmr_classif(table, target, K=k, n_jobs=1, show_progress=False)

    def ours() -> list[int]:
        return first(make_ranker(f"mrmr_fcq@{k}").fit(X, y), k)

    make_ranker("mrmr_fcq@3").fit(X[:, :20], y)
    (mine, found), (seconds, expected) = fastest(ours), fastest(theirs)
    return Outcome(mine, seconds, *same_order(found, expected))  # type: ignore[arg-type]


# ---------------------------------------------------------------------- ensembles, runs


def ensemble_f() -> Outcome:
    from pyensemblefs.aggregators.rank import MeanRankAggregator
    from pyensemblefs.ensemble.bootstrapper import Bootstrapper
    from pyensemblefs.fsmethods.rank import RankingFilter

    class Scores(RankingFilter):
        """Without a mask: its own has every feature, and the bootstrapper would keep that."""

        def get_support(self, indices: bool = False) -> np.ndarray:
            raise NotImplementedError

    X, y = problem()

    def ours() -> np.ndarray:
        selector = ms.EnsembleSelector(
            "f_statistic", n_features_to_select=SELECTED, n_resamples=RESAMPLES, random_state=0,
            aggregation="rank_mean", similarity_threshold=None, progress=False,
        )  # fmt: skip
        return selector.fit(X, y).ranking_.ranks

    def theirs(seed: int) -> np.ndarray:
        runs = Bootstrapper(Scores("anova"), RESAMPLES, n_jobs=1, random_state=seed)
        return MeanRankAggregator().aggregate(runs.fit(X, y).results_)

    ours()
    (mine, found), (seconds, expected) = fastest(ours), fastest(lambda: theirs(0))
    sign = np.sign(spearmanr(expected, found)[0])  # ranks or scores
    return Outcome(mine, seconds, *as_similar(sign * found, expected, theirs(1)))


def l1_logistic(n: int = 100, p: int = 500, m: int = 60) -> Outcome:
    """Equality on the same rows and with the same seeds: both follow one splitter."""
    from sklearn.base import clone
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import ShuffleSplit

    X, y = problem(n, p)
    options = {"solver": "liblinear", **l1_penalty(), "C": 0.5, "tol": 1e-8, "max_iter": 10**4}
    model = LogisticRegression(**options)
    rows = ShuffleSplit(m, train_size=0.632, random_state=0)
    seeds: list[int] = []  # the solver goes through the features in a random order

    class Telling(LogisticRegression):  # type: ignore[misc]
        def fit(self, X: np.ndarray, y: np.ndarray) -> Telling:
            seeds.append(self.random_state)
            return super().fit(X, y)

    def ours(one: LogisticRegression = model) -> np.ndarray:
        selector = ms.EnsembleSelector(
            one, n_features_to_select=20, n_resamples=m, resampling=rows, random_state=0,
            similarity_threshold=None, progress=False,
        )  # fmt: skip
        return np.abs(selector.fit(X, y).runs_.scores)

    def theirs() -> np.ndarray:
        fits = [
            clone(model).set_params(random_state=seed).fit(X[train], y[train])
            for seed, (train, _) in zip(seeds, rows.split(X), strict=True)
        ]
        return np.abs(np.stack([fit.coef_[0] for fit in fits]))

    ours(Telling(**options))
    (mine, found), (seconds, expected) = fastest(ours, 3), fastest(theirs, 3)
    return Outcome(mine, seconds, *equal(found, expected))


def selections(m: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.choice(300, SELECTED, replace=False) for _ in range(m)]


def measure(name: str, m: int) -> Outcome:
    from pyensemblefs.stability.stability import stability

    sets = selections(m)
    runs = ms.Runs.from_sets(sets, features=P)
    lists = [[int(j) for j in one] for one in sets]

    def theirs() -> float:
        return float(
            stability(features=lists, measure=name, p=P, index_base=0, correction_for_chance="none")
        )

    ms.stability(runs[:3], name)
    ours, found = fastest(lambda: float(ms.stability(runs, name)))
    seconds, expected = fastest(theirs)
    return Outcome(ours, seconds, *equal(found, expected))


def jaccard_product(m: int = 1_600) -> Outcome:
    runs = ms.Runs.from_sets(selections(m), features=P)
    chosen = runs.support.astype(np.float32)

    def theirs() -> float:
        shared = chosen @ chosen.T
        sizes = np.diagonal(shared)
        values = shared / (sizes[:, None] + sizes - shared)
        return float(values[np.triu_indices(m, 1)].mean(dtype=float))

    ms.stability(runs[:3], "jaccard")
    ours, found = fastest(lambda: float(ms.stability(runs, "jaccard")))
    seconds, expected = fastest(theirs)
    return Outcome(ours, seconds, *equal(found, expected))


# ---------------------------------------------------------------------- networks


def matrix_of(links: pd.DataFrame, genes: list[str], columns: tuple[str, str]) -> np.ndarray:
    """Importances of all pairs of different genes; 0 where a link is not listed."""
    value = links.set_index(list(columns))["importance"]
    pairs = pd.MultiIndex.from_product([genes, genes])
    pairs = pairs[[a != b for a, b in pairs]]
    return value.reindex(pairs, fill_value=0.0).to_numpy()


def network(method: str, theirs: Callable[[pd.DataFrame, int], pd.DataFrame], p: int) -> Outcome:
    table = expression(100, p)
    genes = list(table.columns)
    options = {"method": method, "random_state": 0, "progress": False}
    if method == "forest":
        options["n_estimators"] = TREES
        options["max_features"] = "sqrt"
    ms.infer_network(expression(20, 4), **options)
    ours, found = fastest(lambda: ms.infer_network(table, **options))
    seconds, expected = fastest(lambda: theirs(table, 0))
    again = theirs(table, 1)
    links = [
        matrix_of(found, genes, ("regulator", "target")),  # type: ignore[arg-type]
        *(matrix_of(one, genes, ("TF", "target")) for one in (expected, again)),  # type: ignore[arg-type]
    ]
    return Outcome(ours, seconds, *as_similar(*links))


TREES = 200


def arboreto(table: pd.DataFrame, seed: int) -> pd.DataFrame:
    """GRNBoost2 without Dask: what arboreto's core does for one target after the other."""
    from arboreto.core import SGBM_KWARGS, infer_partial_network

    genes, values = list(table.columns), table.to_numpy()
    return pd.concat(
        [
            infer_partial_network(
                "GBM", SGBM_KWARGS, values, genes, gene, values[:, g], seed=seed + 1
            )
            for g, gene in enumerate(genes)
        ]
    )


def sklearn_boosting(table: pd.DataFrame, seed: int) -> pd.DataFrame:
    """GRNBoost2's settings in scikit-learn, with its stop after 25 steps that do not help."""
    from sklearn.ensemble import GradientBoostingRegressor

    def stop(step: int, model: GradientBoostingRegressor, _: object) -> bool:
        return step >= 24 and model.oob_improvement_[max(0, step - 24) : step + 1].mean() < 0

    parts, genes, values = [], list(table.columns), table.to_numpy()
    for g, gene in enumerate(genes):
        model = GradientBoostingRegressor(
            learning_rate=0.01, n_estimators=5000, max_features=0.1, subsample=0.9,
            random_state=seed + 1,
        ).fit(np.delete(values, g, axis=1), values[:, g], monitor=stop)  # fmt: skip
        importance = model.feature_importances_ * model.n_estimators_
        others = [other for other in genes if other != gene]
        parts.append(pd.DataFrame({"TF": others, "target": gene, "importance": importance}))
    return pd.concat(parts)


def sklearn_forests(table: pd.DataFrame, seed: int) -> pd.DataFrame:
    """GENIE3's Python loop."""
    from sklearn.ensemble import RandomForestRegressor

    parts, genes, values = [], list(table.columns), table.to_numpy()
    for g, gene in enumerate(genes):
        y = values[:, g] / values[:, g].std()
        forest = RandomForestRegressor(TREES, max_features="sqrt", random_state=seed, n_jobs=1)
        forest.fit(np.delete(values, g, axis=1), y)
        importance = np.mean(
            [
                tree.tree_.compute_feature_importances(normalize=False)
                for tree in forest.estimators_
            ],
            axis=0,
        )
        others = [other for other in genes if other != gene]
        parts.append(pd.DataFrame({"TF": others, "target": gene, "importance": importance}))
    return pd.concat(parts)


def quiet(run: Callable[[], Outcome]) -> Outcome:
    """Peers on recent versions of their dependencies warn a lot."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return run()
