"""Speed and memory of the rankers over many bootstraps, as ratios to plain ways of doing it.

    python benchmarks/rankers.py               all cases, about two minutes
    python benchmarks/rankers.py filters mrmr  some of them

Every case runs in a process of its own, on one core, after a warm-up on small data. The plain ways
are timed on a few bootstraps and scaled to 1000: a numpy loop (IG, SU and χ² from one bincount per
feature and bootstrap), and scikit-learn's mutual_info_classif(discrete_features=True) on really
resampled, already discrete rows (information gain alone). L1 paths to the first 50 features are set
beside scikit-learn's lasso_path and warm-started LogisticRegression at the same penalties.
"""

from __future__ import annotations

import resource
import warnings
from pathlib import Path

from _harness import Case, Row, l1_penalty, main, seconds_of  # isort: skip  (sets the number of threads)
import numpy as np

from mainstay.rankers import RANKERS, score_filters

B = 1000


def problem(n: int, p: int, continuous: bool = False) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.normal(size=n) if continuous else rng.integers(0, 2, n)
    return rng.normal(size=(n, p)) + y[:, None] * rng.random(p), y


def bootstraps(n: int, b: int) -> np.ndarray:
    rng = np.random.default_rng(1)
    return np.array(
        [np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(b)], dtype=np.uint8
    )


def width_codes(X: np.ndarray) -> np.ndarray:
    low, high = X.min(axis=0), X.max(axis=0)
    return np.minimum(np.floor((X - low) / (high - low) * 10), 9).astype(np.intp)


def numpy_loop(codes: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """IG, SU, χ² of every feature and bootstrap, one table at a time over features: B × 3 × p."""
    n, p = codes.shape
    cell = (np.arange(p) * 20 + codes * 2 + y[:, None]).ravel()
    out = np.empty((len(weights), 3, p))

    def entropy(counts: np.ndarray) -> np.ndarray:
        share = counts / n
        return -np.sum(share * np.log(np.where(share > 0, share, 1)), axis=1)

    for b, w in enumerate(weights):
        table = np.bincount(cell, np.repeat(w, p), minlength=p * 20).reshape(p, 10, 2)
        rows, columns = table.sum(axis=2), table.sum(axis=1)
        h_x, h_y = entropy(rows), entropy(columns)
        gain = h_x + h_y - entropy(table.reshape(p, -1))
        expected = rows[:, :, None] * columns[:, None, :] / n
        squares = np.where(expected > 0, (table - expected) ** 2, 0)
        chi2 = np.sum(squares / np.where(expected > 0, expected, 1), axis=(1, 2))
        out[b] = gain, 2 * gain / (h_x + h_y), chi2
    return out


def filters(n: int, p: int) -> list[Row]:
    from sklearn.feature_selection import mutual_info_classif

    X, y = problem(n, p)
    weights, codes = bootstraps(n, B), width_codes(X)
    score_filters(X[:50], y[:50], weights[:3, :50] + 1)
    seconds = min(seconds_of(lambda: score_filters(X, y, weights)) for _ in range(3))
    few = weights[:50]
    ours = score_filters(X, y, few)
    loop = numpy_loop(codes, y, few)
    for i, name in enumerate(ours):
        np.testing.assert_allclose(loop[:, i], ours[name], rtol=1e-8, atol=1e-10)
    slow = seconds_of(lambda: numpy_loop(codes, y, few)) * B / len(few)
    rows = np.repeat(np.arange(n), weights[0])
    sklearn = (
        seconds_of(lambda: mutual_info_classif(codes[rows], y[rows], discrete_features=True)) * B
    )
    what = f"IG, SU, χ²: {B} bootstraps, n={n}, p={p}"
    return [
        (what, seconds, slow, "numpy loop"),
        ("", seconds, sklearn, "scikit-learn, IG alone"),
    ]


def memory(b: int) -> list[Row]:
    X, y = problem(500, 50)
    weights = np.tile(bootstraps(500, 100), (b // 100, 1))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = seconds_of(lambda: score_filters(X, y, weights, ["information_gain"]))
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    remark = f"+{more:.0f} MB, of which scores {b * 50 * 8 / 2**20:.0f} MB"
    return [(f"IG: {b:,} bootstraps, n=500, p=50", seconds, None, remark)]


def rows_in_single_precision(name: str, n: int) -> list[Row]:
    """Time and memory of four bootstraps of many rows in float32."""
    rng = np.random.default_rng(0)
    X, y = np.empty((n, 100), dtype=np.float32), rng.integers(0, 2, n)
    for at in range(0, n, 100_000):
        X[at : at + 100_000] = rng.normal(size=X[at : at + 100_000].shape)
    weights, ranker = bootstraps(n, 4), RANKERS[name]()
    ranker.score_resamples(X[:500], y[:500], weights[:, :500] + 1)  # type: ignore[attr-defined]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = seconds_of(lambda: ranker.score_resamples(X, y, weights))  # type: ignore[attr-defined]
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    remark = f"+{more:.0f} MB beside {X.nbytes / 2**20:.0f} MB of data"
    return [(f"{name}: 4 bootstraps, n={n:,}, p=100, float32", seconds, None, remark)]


def weighted(name: str, n: int, p: int, b: int, options: dict[str, object]) -> list[Row]:
    X, y = problem(n, p, options.get("target") == "continuous")
    weights = bootstraps(n, b)
    ranker = RANKERS[name](**options)
    ranker.fit(X[:60], y[:60])
    ranker.score_resamples(X[:60], y[:60], weights[:3, :60] + 1)  # type: ignore[attr-defined]
    label = f"{name} {' '.join(map(str, options.values()))}".strip()
    one = min(seconds_of(lambda: ranker.fit(X, y)) for _ in range(3))
    many = seconds_of(lambda: ranker.score_resamples(X, y, weights))  # type: ignore[attr-defined]
    return [
        (f"{label}: one run, n={n}, p={p}", one, None, ""),
        (f"{label}: {B} bootstraps, n={n}, p={p}", many * B / b, one * B, "one run × 1000"),
    ]


def l1_path(n: int, p: int) -> list[Row]:
    """Paths to the first 50 features against scikit-learn at the same penalties."""
    from sklearn.linear_model import LogisticRegression, lasso_path

    X, y = problem(n, p)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    largest = np.abs(Z.T @ (y - y.mean())).max() / n

    def penalties(scores: np.ndarray) -> np.ndarray:
        shares = np.geomspace(1, 0.01, 100)
        return largest * shares[shares >= scores[scores > 0].min() * shares[1]]

    def ours(loss: str) -> tuple[float, np.ndarray]:
        ranker = RANKERS["l1_path"](loss=loss, max_features=50)
        scores = ranker.fit(X, y).scores_
        weights = np.ones((20, n), dtype=np.uint8)
        return min(
            seconds_of(lambda: ranker.score_resamples(X, y, weights)) / 20 for _ in range(3)
        ), scores

    def logistic(alphas: np.ndarray) -> None:
        model = LogisticRegression(solver="saga", **l1_penalty(), warm_start=True, tol=1e-3)
        for alpha in alphas:
            model.set_params(C=1 / (alpha * n), max_iter=10_000).fit(Z, y)

    squared, scores = ours("squared")
    theirs = seconds_of(lambda: lasso_path(Z, y - y.mean(), alphas=penalties(scores)))
    binary, scores = ours("logistic")
    saga = seconds_of(lambda: logistic(penalties(scores)))
    what = f"L1 path to 50 features: {B} runs, n={n}, p={p}"
    return [
        (f"{what}, lasso", squared * B, theirs * B, "lasso_path"),
        (f"{what}, logistic", binary * B, saga * B, "LogisticRegression (saga)"),
    ]


def growth() -> list[Row]:
    """Time grows in proportion to bootstraps, rows and features, or less."""

    def seconds(b: int, n: int, p: int) -> float:
        (X, y), weights = problem(n, p), bootstraps(n, b)
        return min(seconds_of(lambda: score_filters(X, y, weights)) for _ in range(3))

    sizes = {
        "": (2000, 4000, 100),
        "; twice the bootstraps": (4000, 4000, 100),
        "; twice the rows": (2000, 8000, 100),
        "; twice the features": (2000, 4000, 200),
    }
    times = {label: seconds(*size) for label, size in sizes.items()}
    return [
        (f"filters: 2000 bootstraps, n=4000, p=100{label}", time, None,
         f"× {time / times['']:.2f}")
        for label, time in times.items()
    ]  # fmt: skip


def ensemble() -> list[Row]:
    from mainstay import EnsembleSelector, io

    path = Path(__file__).resolve().parents[2] / "shared/data/microarray/colon.npz"
    if not path.is_file():
        return [("EnsembleSelector on colon", 0.0, None, "data not at hand")]
    data = io.read_data(path, target="y")
    EnsembleSelector(n_resamples=5, random_state=0).fit(data.X, data.y)
    selector = EnsembleSelector(n_features_to_select=20, n_resamples=B, random_state=0)
    seconds = seconds_of(lambda: selector.fit(data.X, data.y))
    return [(f"EnsembleSelector: {B} bootstraps of IG, colon (62 × 2000)", seconds, None, "")]


def wide_ensemble(p: int, threshold: float | None) -> list[Row]:
    """A whole fit on float32, with its table and stability; twins only with a threshold."""
    from mainstay import EnsembleSelector

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    options = {"n_features_to_select": 50, "similarity_threshold": threshold, "random_state": 0}
    EnsembleSelector("f_statistic", **options, n_resamples=5).fit(rng.normal(size=(200, 99)), y)
    X = rng.standard_normal((200, p), dtype=np.float32)
    X[:, :100] += y[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # says of how many features twins are looked for
        seconds = seconds_of(lambda: EnsembleSelector("f_statistic", **options).fit(X, y))
    twins = "without twins" if threshold is None else "with twins"
    remark = f"of which data {X.nbytes / 2**20:.0f} MB"
    return [(f"EnsembleSelector, 100 resamples, 200 × {p:,}, {twins}", seconds, None, remark)]


CASES: dict[str, list[Case]] = {
    "filters": [(filters, (2000, 140)), (filters, (6598, 166))],
    "memory": [(memory, (1_000,)), (memory, (20_000,))],
    "mrmr": [
        (weighted, ("mrmr", 2000, 140, 320, {})),
        (weighted, ("mrmr", 6598, 166, 96, {})),
        (weighted, ("jmi", 2000, 140, 320, {})),
        (weighted, ("mrmr", 2000, 140, 320, {"method": "FCQ"})),
        (weighted, ("mrmr", 100, 10_000, 8, {"n_features_to_select": 50})),
    ],
    "moments": [
        (weighted, ("f_statistic", 2000, 140, B, {})),
        (weighted, ("correlation", 2000, 140, B, {})),
        (weighted, ("correlation", 2000, 140, 200, {"method": "spearman"})),
    ],
    "l1_path": [(l1_path, (100, 2000))],
    "wide": [
        (weighted, ("f_statistic", 200, 10_000, 100, {})),
        (weighted, ("f_statistic", 200, 10_000, 100, {"target": "continuous"})),
        *(
            (weighted, (name, 200, 10_000, 4, {"n_features_to_select": 50}))
            for name in ("cmim", "jmim", "njmim", "mrmr", "jmi", "disr")
        ),
    ],
    "rows": [
        (rows_in_single_precision, (name, n))
        for name in ("f_statistic", "information_gain")
        for n in (250_000, 1_000_000)
    ],
    "growth": [(growth, ())],
    "ensemble": [
        (ensemble, ()),
        (wide_ensemble, (100_000, 0.9)),
        (wide_ensemble, (500_000, None)),
        (wide_ensemble, (500_000, 0.9)),
    ],
}


if __name__ == "__main__":
    main(__doc__, CASES, "other s")
