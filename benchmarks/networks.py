"""Speed of gene networks, as ratios to GENIE3's way: one scikit-learn forest per target gene.

    python benchmarks/networks.py             all cases, about five minutes
    python benchmarks/networks.py forest      some of them

Every case runs in a process of its own, on one core, after a warm-up on small data. The plain way
is GENIE3's Python loop (RandomForestRegressor or ExtraTreesRegressor on float64, n_jobs=1,
unnormalised importances), timed on a few targets and scaled to all of them. Data: DREAM4 network 1
(100 samples × 100 genes) where ../shared is at hand, otherwise simulated data of that size.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from _harness import Case, Row, main, seconds_of  # isort: skip  (sets the number of threads)
import numpy as np
import pandas as pd
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    RandomForestRegressor,
)

import mainstay as ms
from mainstay.datasets import load_dream4
from mainstay.networks import trees
from mainstay.networks.expression import read_expression, seed_of
from mainstay.networks.subspaces import CoupledProblem, SubspaceSettings, make_base
from mainstay.subspace.learners import make_learner
from mainstay.subspace.losses import LOSSES
from mainstay.subspace.optimisation import Settings, SubspaceProblem, advance_together

HERE = Path(__file__).resolve().parent
TREES = 100


def simulated(n_samples: int, n_genes: int) -> pd.DataFrame:
    """Genes of which each depends on two others."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(n_samples, n_genes))
    for g in range(2, n_genes):
        values[:, g] += np.tanh(values[:, rng.integers(g)]) + values[:, rng.integers(g)]
    return pd.DataFrame(values).add_prefix("G")


def expression() -> pd.DataFrame:
    folder = Path(os.environ.get("MAINSTAY_SHARED", HERE.parents[1] / "shared")) / "data/dream4"
    return load_dream4(1, folder).expression if folder.is_dir() else simulated(100, 100)


def genie3(table: pd.DataFrame, model: type, max_features: object, n_targets: int) -> None:
    """What GENIE3 does for every target."""
    values = table.to_numpy()
    for g in range(n_targets):
        y = values[:, g] / values[:, g].std()
        forest = model(TREES, max_features=max_features, n_jobs=1)
        forest.fit(np.delete(values, g, axis=1), y)
        trees = [
            tree.tree_.compute_feature_importances(normalize=False) for tree in forest.estimators_
        ]
        np.mean(trees, axis=0)


def forest(
    method: str, max_features: object, theirs: object, samples: int, genes: int
) -> list[Row]:
    table = expression() if (samples, genes) == (100, 100) else simulated(samples, genes)
    options = {"method": method, "max_features": max_features, "random_state": 0}
    ms.infer_network(simulated(20, 4), n_estimators=2, **options)
    ours = seconds_of(lambda: ms.infer_network(table, n_estimators=TREES, **options))
    model = RandomForestRegressor if method == "forest" else ExtraTreesRegressor
    few = 10 if samples <= 100 else 3
    plain = seconds_of(lambda: genie3(table, model, theirs, few)) * genes / few
    tried = {None: "all", "sqrt": "√"}
    what = f"{method}, {samples} × {genes}, {TREES} trees, K = {tried[max_features]}"
    return [(what, ours, plain, f"GENIE3 with K = {tried[theirs]}")]


def grnboost2(table: pd.DataFrame, n_targets: int, n_trees: int) -> None:
    """What arboreto does for every target, with its settings."""
    values = table.to_numpy(dtype=np.float32)
    for g in range(n_targets):
        model = GradientBoostingRegressor(
            learning_rate=0.01, n_estimators=n_trees, max_features=0.1, subsample=0.9
        )
        y = table.iloc[:, g] / table.iloc[:, g].std()
        model.fit(np.delete(values, g, axis=1), y, monitor=lambda *_: False)
        model.feature_importances_ * len(model.estimators_)


def boosting(samples: int, genes: int, n_trees: int) -> list[Row]:
    """At equal trees: early stopping, which reads random numbers, is switched off in both."""
    table = expression() if (samples, genes) == (100, 100) else simulated(samples, genes)
    trees.boosting_links(read_expression(simulated(20, 4)), 0, n_trees=2)
    rule = trees.BOOSTING
    trees.BOOSTING = replace(rule, window=n_trees + 1)
    ours = seconds_of(lambda: trees.boosting_links(read_expression(table), 0, n_trees=n_trees))
    trees.BOOSTING = rule
    few = 10 if samples <= 100 else 3
    plain = seconds_of(lambda: grnboost2(table, few, n_trees)) * genes / few
    what = f"boosting, {samples} × {genes}, {n_trees} trees"
    return [(what, ours, plain, "GRNBoost2's core: scikit-learn")]


def subspace(base: str, n_stages: int) -> list[Row]:
    data = read_expression(expression())
    settings = SubspaceSettings()
    CoupledProblem(read_expression(simulated(20, 4)), 0, settings, make_base(base)).stage()

    def ours() -> None:
        problem = CoupledProblem(data, 0, settings, make_base(base))
        for _ in range(settings.n_stages):
            problem.stage()

    def stepwise() -> None:
        problems = []
        for g, name in enumerate(data.target_names):
            y = np.ascontiguousarray(data.outputs[:, g])
            learner = make_learner(make_base(base), data.inputs, y, classification=False)
            start = np.full(len(data.regulators), 0.05)
            start[data.own[g]] = 0
            loss = LOSSES["squared_error"]
            problems.append(SubspaceProblem(learner, y, loss, start, Settings(), seed_of(0, name)))

        def push(alpha: np.ndarray) -> np.ndarray:
            norms = np.linalg.norm(alpha, axis=1, keepdims=True)
            return 0.4 * np.divide(alpha, norms, out=np.zeros_like(alpha), where=norms > 0)

        for _ in range(n_stages):
            advance_together(problems, push)

    # the stages differ in length: compare the first few, then say what all of them take
    few = SubspaceSettings(n_stages=n_stages, regularization=40.0)
    problem = CoupledProblem(data, 0, few, make_base(base))
    first = seconds_of(lambda: [problem.stage() for _ in range(n_stages)])
    slow = seconds_of(stepwise)
    what = f"parametric_subspace, {base}, 100 × 100"
    return [
        (f"{what}, first {n_stages} stages", first, slow, "problem by problem, in numpy"),
        (f"{what}, one restart of {settings.n_stages} stages", seconds_of(ours), None, ""),
    ]


CASES: dict[str, list[Case]] = {
    "forest": [
        (forest, ("forest", None, None, 100, 100)),
        (forest, ("forest", None, "sqrt", 100, 100)),
        (forest, ("forest", "sqrt", "sqrt", 100, 100)),
        (forest, ("extra_trees", "sqrt", "sqrt", 100, 100)),
        (forest, ("forest", None, None, 500, 60)),
    ],
    "boosting": [
        (boosting, (100, 100, 27)),
        (boosting, (100, 100, 200)),
        (boosting, (1000, 100, 100)),
    ],
    "subspace": [(subspace, ("knn", 5)), (subspace, ("svm", 2))],
}

if __name__ == "__main__":
    main(__doc__ or "", CASES, "other way")
