"""Speed of the learning step of parametric random subspaces against a loop over scikit-learn.

    python benchmarks/subspace.py                 all cases, about three minutes
    python benchmarks/subspace.py models          one base model after another
    python benchmarks/subspace.py restart         from the first draw to convergence

Every case runs in a process of its own, on one core, after a warm-up that loads the compiled code.
A learning step trains T = 100 models on 5 to 10 of 305 features each and predicts every row with a
model that has not seen it: ten folds, each with its bootstrap sample (or one bootstrap, "oob"). The
loop fits and predicts with scikit-learn, on the very same bootstraps (their drawing is not timed);
it is run for a few models and scaled to T. The remark has the time per model, and how many of the
predictions are the same to 0.01; fully grown trees have many equally good splits in small nodes,
between which scikit-learn chooses at random. "restart" is one whole restart on Hypercube, against
the same numbers of models (in that loop) and of gradient steps (algorithm 3 of the paper as
printed, one feature after the other, but with numpy over models and rows).
"""

from __future__ import annotations

from typing import Any

from _harness import Case, Row, main, seconds_of  # isort: skip  (sets the number of threads)
import numpy as np

T, FEW = 100, 6


def problem(n: int, classification: bool, p: int = 305) -> tuple[np.ndarray, np.ndarray]:
    """Five relevant features: two clusters per class, or Friedman's function."""
    from sklearn.datasets import make_classification

    rng = np.random.default_rng(0)
    if classification:
        X, y = make_classification(
            n, p, n_informative=5, n_redundant=0, n_clusters_per_class=2, shuffle=False,
            random_state=0,
        )  # fmt: skip
    else:
        X = rng.normal(size=(n, p))
        y = np.sin(np.pi * X[:, 0] * X[:, 1]) + X[:, 2] ** 2 + X[:, 3] + 0.5 * X[:, 4]
        y = (y - y.mean()) / y.std()
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def subsets(t: int, p: int = 305) -> np.ndarray:
    """Half relevant features, half chance, as in the middle of an optimisation."""
    rng = np.random.default_rng(1)
    Z = np.zeros((t, p), dtype=bool)
    for row in Z:
        row[rng.choice(5, rng.integers(2, 6), replace=False)] = True
        row[5 + rng.choice(p - 5, rng.integers(3, 6), replace=False)] = True
    return Z


def base(name: str, classification: bool) -> Any:
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
    from sklearn.svm import SVC, SVR
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    pairs = {
        "kNN": (KNeighborsClassifier(), KNeighborsRegressor()),
        "tree": (DecisionTreeClassifier(), DecisionTreeRegressor()),
        "SVM": (SVC(), SVR()),
        "linear SVM": (SVC(kernel="linear"), SVR(kernel="linear")),
    }
    return pairs[name][0 if classification else 1]


def learner_of(name: str, X: np.ndarray, y: np.ndarray, classification: bool, cv: Any) -> Any:
    from mainstay.subspace.compiled import fast_learner

    classes = 2 if classification else 0
    return fast_learner(
        base(name, classification), X, y, classification=classification, n_classes=classes, cv=cv
    )


def loop(estimator: Any, X: np.ndarray, y: np.ndarray, Z: np.ndarray, drawn: Any) -> np.ndarray:
    from sklearn.base import clone

    out = np.full((len(Z), len(y)), np.nan)
    for t, used in enumerate(Z):
        features = np.flatnonzero(used)
        for counts, held in drawn[t]:
            rows = np.repeat(np.arange(len(y)), counts)
            model = clone(estimator).fit(X[rows][:, features], y[rows])
            out[t, held] = model.predict(X[held][:, features])
    return out


def against_loop(name: str, classification: bool, cv: Any) -> list[Row]:
    X, y = problem(300, classification)
    learner = learner_of(name, X, y, classification, cv)
    Z, seeds = subsets(T), np.arange(T)
    learner.held_out(Z[:1], seeds[:1])
    seconds = min(seconds_of(lambda: learner.held_out(Z, seeds)) for _ in range(3))
    ours = learner.held_out(Z, seeds)
    drawn = [learner.draws(t) for t in range(FEW)]
    estimator = base(name, classification)
    loop(estimator, X, y, Z[:1], drawn)
    slow = min(seconds_of(lambda: loop(estimator, X, y, Z[:FEW], drawn)) for _ in range(2))
    theirs = loop(estimator, X, y, Z[:FEW], drawn)
    known = ~np.isnan(theirs)
    near = abs(ours[:FEW] - theirs)[known] < 0.01
    same = f"{near.mean():.1%} the same"
    what = f"{name}, {'classes' if classification else 'regression'}, {T} models, N=300"
    label = f"{what}, {cv if cv == 'oob' else f'{cv} folds'}"
    remark = f"{seconds / T * 1e3:.2f} against {slow / FEW * 1e3:.1f} ms a model; {same}"
    return [(label, seconds, slow * T / FEW, remark)]


def growth(name: str) -> list[Row]:
    """Time is in proportion to the models; in rows it grows as the base model itself does."""

    def seconds(t: int, n: int) -> float:
        X, y = problem(n, True)
        learner, Z = learner_of(name, X, y, True, 10), subsets(t)
        learner.held_out(Z[:1], [0])
        return min(seconds_of(lambda: learner.held_out(Z, np.arange(t))) for _ in range(3))

    sizes = {"": (50, 300), "; twice the models": (100, 300), "; twice the rows": (50, 600)}
    times = {label: seconds(*size) for label, size in sizes.items()}
    return [
        (f"{name}: 50 models, N=300{label}", time, None, f"× {time / times['']:.2f}")
        for label, time in times.items()
    ]


def literal_step(
    Z: np.ndarray, predictions: np.ndarray, beta: np.ndarray, alpha: np.ndarray
) -> Any:
    """Gradient of the cross-entropy, feature by feature, with one reference distribution."""

    def probability(used: np.ndarray, of: np.ndarray) -> np.ndarray:
        return np.prod(np.where(used, of, 1 - of), axis=1)

    weights = probability(Z, beta) / probability(Z, alpha)
    average = weights @ predictions / len(Z)
    slopes = -1 / np.clip(average, 0.01, 1)
    gradient = np.zeros(len(beta))
    for j in range(len(beta)):
        others = np.arange(len(beta)) != j
        rest = probability(Z[:, others], beta[others]) / probability(Z[:, others], alpha[others])
        with_it = Z[:, j]
        if 0 < with_it.sum() < len(Z):
            one = rest[with_it] @ predictions[with_it] / with_it.sum()
            none = rest[~with_it] @ predictions[~with_it] / (~with_it).sum()
            gradient[j] = np.mean(slopes * (one - none))
    return gradient


def restart(name: str) -> list[Row]:
    from mainstay.datasets import make_hypercube
    from mainstay.subspace.losses import LOSSES
    from mainstay.subspace.optimisation import Settings, SubspaceProblem

    data = make_hypercube(random_state=0)
    X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    y = data.y.astype(np.int64)
    learner = learner_of(name, X, y, True, 10)
    learner.held_out(subsets(1), [0])
    problem = SubspaceProblem(
        learner, y, LOSSES["cross_entropy"], np.full(X.shape[1], 0.05), Settings(), 0, classes=True
    )
    n_steps = [0]

    def ours() -> None:
        while not problem.converged:
            problem.stage()
            n_steps.append(problem._n_steps)

    seconds = seconds_of(ours)
    rng = np.random.default_rng(0)
    Z = rng.random((T, X.shape[1])) < 0.05
    drawn = [learner.draws(t) for t in range(FEW)]
    loop(base(name, True), X, y, subsets(1), drawn)
    model = seconds_of(lambda: loop(base(name, True), X, y, subsets(FEW), drawn)) / FEW
    alpha = np.full(X.shape[1], 0.05)
    votes = rng.integers(2, size=(T, len(y))).astype(float)
    step = seconds_of(lambda: [literal_step(Z, votes, alpha, alpha) for _ in range(3)]) / 3
    n_models, steps = problem.n_models_trained, sum(n_steps)
    remark = f"{n_models} models × {model * 1e3:.0f} ms + {steps} steps × {step * 1e3:.0f} ms"
    return [(f"{name}: one restart on Hypercube", seconds, n_models * model + steps * step, remark)]


NAMES = ("kNN", "tree", "SVM")
CASES: dict[str, list[Case]] = {
    "models": [(against_loop, (name, True, 10)) for name in NAMES],
    "regression": [(against_loop, (name, False, 10)) for name in NAMES],
    "oob": [(against_loop, (name, True, "oob")) for name in NAMES],
    "linear": [(against_loop, ("linear SVM", kind, 10)) for kind in (True, False)],
    "restart": [(restart, (name,)) for name in NAMES],
    "growth": [(growth, (name,)) for name in NAMES],
}


if __name__ == "__main__":
    main(__doc__, CASES, "loop s")
