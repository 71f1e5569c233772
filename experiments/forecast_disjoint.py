"""Errors of forecasts for another study, against independent data sets and disjoint halves.

python experiments/forecast_disjoint.py                # about 15 minutes of one core
python experiments/forecast_disjoint.py --report-only  # what has been computed so far
python experiments/forecast_disjoint.py --quick        # a look, in a temporary folder
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from _cells import Cell, Cells
from _common import arguments, load, table, write
from sklearn.datasets import load_digits
from sklearn.tree import DecisionTreeClassifier

import mainstay as ms
from mainstay.data import Data
from mainstay.forecast.virtual import Ensembles
from mainstay.procedure import Procedure
from mainstay.reliability.pairs import halve
from mainstay.runs import Runs

SIZES = (1, 10, 50)
PROTOCOLS = ("nested", "overlapping")
RANKERS = {
    "F-test": "f_statistic",
    "information gain": "information_gain",
    "tree": DecisionTreeClassifier(max_features="sqrt"),
}
N_FEATURES, K, N_TRUE = 500, 20, 30
SIGNALS = {"none": 0.0, "weak": 0.5, "strong": 1.0}  # mean difference of true features, in sd
MICROARRAYS = {"colon": 20, "lymphoma": 40, "prostate_ge": 60}  # number of features to select
Rows = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Population:
    """Where data sets come from: two classes and features of varying worth, or rows of digits."""

    name: str
    signal: str
    n_rows: int

    @property
    def n_selected(self) -> int:
        return 10 if self.name == "digits" else K

    def draw(self, n: int, rng: np.random.Generator) -> Rows:
        """Draw n rows."""
        if self.name == "digits":
            X, y = load_digits(return_X_y=True)
            X = X[:, X.std(axis=0) > 0.5]
            rows = np.concatenate(
                [rng.permutation(np.flatnonzero(y == label))[: n // 10] for label in range(10)]
            )
            return X[rows], y[rows]
        y = np.repeat([0, 1], n // 2)
        X = rng.standard_normal((n, N_FEATURES))
        shift = SIGNALS[self.signal] * np.linspace(1.5, 0.5, N_TRUE)
        X[:, :N_TRUE] += shift * (y[:, None] - 0.5)
        return X, y


def wanted_cells() -> list[Cell]:
    """Population, signal, rows and ranker, or a real data set and a ranker; trees take longest."""
    filters = ("F-test", "information gain")
    made: list[Cell] = [
        ("normal", signal, str(n), ranker)
        for ranker in filters
        for n in (100, 200)
        for signal in SIGNALS
    ]
    made += [("digits", "real", "100", ranker) for ranker in filters]
    made += [(data, ranker) for data in MICROARRAYS for ranker in filters]
    made.append(("digits", "real", "100", "tree"))
    return made + [("normal", signal, "100", "tree") for signal in SIGNALS]


# ---------------------------------------------------------------------- ensembles really run


def ensembles_of(ranker: str, X: np.ndarray, y: np.ndarray, k: int, seed: int) -> np.ndarray:
    """What ensembles of each size select on these rows: sizes × features."""
    rng = np.random.default_rng(seed)
    procedure = Procedure.of(RANKERS[ranker])
    runs = procedure.merge(procedure.run(Data.check(X, y), max(SIZES), rng, progress=False))
    pool = Ensembles(runs, "mean", "nogueira", k)
    draws = [np.arange(size)[None] for size in SIZES]
    return np.stack([pool.selections(pool.scores(draw), rng).support[0] for draw in draws])


def truth_of(population: Population, ranker: str, n_sets: int, seed: int) -> list[list[float]]:
    """Agreement, with standard error, of ensembles on independent data sets of n/2 rows."""
    rng = np.random.default_rng([seed, 1])
    selected = []
    for _ in range(n_sets):
        X, y = population.draw(population.n_rows // 2, rng)
        task_seed = int(rng.integers(2**31))
        selected.append(ensembles_of(ranker, X, y, population.n_selected, task_seed))
    by_size = [Runs.from_support(np.stack(of_size)) for of_size in zip(*selected, strict=True)]
    found = [ms.stability(runs, "nogueira") for runs in by_size]
    return [[each.value, each.standard_error] for each in found]


def measured_on_halves(X: np.ndarray, y: np.ndarray, ranker: str, k: int, n_pairs: int,
                       seed: int) -> list[list[float]]:  # fmt: skip
    """Agreement of ensembles really run on the two halves of pairs: mean, error of the mean."""
    rng, data = np.random.default_rng([seed, 2]), Data.check(X, y)
    scores = []
    for _ in range(n_pairs):
        halves = halve(data, np.arange(len(y)), rng)
        task_seed = int(rng.integers(2**31))
        found = [ensembles_of(ranker, X[half], y[half], k, task_seed) for half in halves]
        scores.append([float(ms.stability(Runs.from_support(np.stack(pair)), "nogueira"))
                       for pair in zip(*found, strict=True)])  # fmt: skip
    values = np.array(scores)
    return np.stack([values.mean(0), values.std(0, ddof=1) / np.sqrt(n_pairs)], axis=1).tolist()


# ---------------------------------------------------------------------- forecasts


def forecasts(X: np.ndarray, y: np.ndarray, ranker: str, k: int, seed: int) -> list[Any]:
    """Forecast, lower and upper end by both protocols: protocols × sizes × 3."""
    curves = [
        ms.forecast_stability(
            RANKERS[ranker], X, y, protocol=protocol, n_features_to_select=k, measure="nogueira",
            ensemble_sizes=SIZES, random_state=seed, progress=False,
        ).curve
        for protocol in PROTOCOLS
    ]  # fmt: skip
    return [curve[["stability", "lower", "upper"]].to_numpy().tolist() for curve in curves]


def compute(cell: Cell, counts: dict[str, int], seed: int) -> dict[str, Any]:
    """Truth and forecasts of a simulated population, or of a real data set."""
    with warnings.catch_warnings():
        # digits: columns constant in some rows; lymphoma: classes that are missing in some halves
        warnings.simplefilter("ignore")
        return _simulated(cell, counts, seed) if len(cell) == 4 else _real(cell, counts, seed)


def _simulated(cell: Cell, counts: dict[str, int], seed: int) -> dict[str, Any]:
    """Truth of one population and ranker, and the forecasts from data sets drawn from it."""
    name, signal, n, ranker = cell
    population = Population(name, signal, int(n))
    rng = np.random.default_rng([seed, 3])
    made = [
        forecasts(*population.draw(population.n_rows, rng), ranker, population.n_selected, i)
        for i in range(counts["sets"])
    ]
    return {"truth": truth_of(population, ranker, counts["truth"], seed), "forecasts": made}


def _real(cell: Cell, counts: dict[str, int], seed: int) -> dict[str, Any]:
    """Agreement measured on disjoint halves of one data set, and forecasts with several seeds."""
    name, ranker = cell
    X, y = load(f"microarray/{name}")
    X, k = X[:, X.std(axis=0) > 0], MICROARRAYS[name]
    return {
        "truth": measured_on_halves(X, y, ranker, k, counts["pairs"], seed),
        "forecasts": [forecasts(X, y, ranker, k, seed + i) for i in range(counts["repeats"])],
    }


# ---------------------------------------------------------------------- tables


def rows_of(about: tuple[Any, ...], found: Any, covered: bool) -> list[dict[str, Any]]:
    """One row per protocol and ensemble size: truth, bias, RMSE and coverage."""
    values = np.array(found["forecasts"])  # data sets × protocols × sizes × 3
    rows = []
    for i, protocol in enumerate(PROTOCOLS):
        for j, size in enumerate(SIZES):
            (truth, truth_error), (value, lower, upper) = found["truth"][j], values[:, i, j].T
            error = value - truth
            bias_error = np.hypot(value.std(ddof=1) / np.sqrt(len(value)), truth_error)
            rows.append({
                "about": about, "protocol": protocol, "size": size, "truth": truth,
                "truth_error": truth_error, "bias": error.mean(), "bias_error": bias_error,
                "rmse": np.sqrt((error**2).mean()), "width": (upper - lower).mean() / 2,
                "coverage": ((lower <= truth) & (truth <= upper)).mean() if covered else np.nan,
            })  # fmt: skip
    return rows


def in_words(row: dict[str, Any]) -> list[str]:
    cells = [*map(str, row["about"]), row["protocol"], str(row["size"]),
             f"{row['truth']:.3f} ± {row['truth_error']:.3f}",
             f"{row['bias']:+.3f} ± {row['bias_error']:.3f}", f"{row['rmse']:.3f}"]  # fmt: skip
    if np.isfinite(row["coverage"]):
        cells += [f"{row['coverage']:.0%}", f"± {row['width']:.2f}"]
    return cells


def summary(rows: list[dict[str, Any]]) -> str:
    """Mean and worst of either protocol."""
    lines = []
    for protocol in PROTOCOLS:
        own = [row for row in rows if row["protocol"] == protocol]
        worst = max(own, key=lambda row: abs(row["bias"]))
        least = min(own, key=lambda row: row["coverage"])
        lines.append([
            protocol, len(own), f"{np.mean([abs(r['bias']) for r in own]):.3f}",
            f"{np.mean([r['rmse'] for r in own]):.3f}",
            f"{np.mean([r['coverage'] for r in own]):.0%}",
            f"{worst['bias']:+.3f} ({', '.join(map(str, worst['about']))}, {worst['size']})",
            f"{least['coverage']:.0%} ({', '.join(map(str, least['about']))}, {least['size']})",
        ])  # fmt: skip
    head = ["protocol", "cells", "mean abs. bias", "mean RMSE", "mean coverage", "largest bias",
            "lowest coverage"]  # fmt: skip
    return table(head, lines)


def main() -> None:
    """Compute what is not yet in the cache, and write the tables."""
    options = arguments(__doc__, cache=True, resumable=True)
    load("microarray/colon")  # leave at once if the data are missing
    numbers = (4, 12, 4, 2) if options.quick else (40, 100, 20, 4)
    counts = dict(zip(("sets", "truth", "pairs", "repeats"), numbers, strict=True))
    wanted = wanted_cells()
    store = Cells(options, "forecast_disjoint", "cells")
    store.compute(wanted, partial(compute, counts=counts, seed=options.seed))
    store.pack()
    found = store.found(wanted)
    if not found:
        raise SystemExit("no cell is computed yet.")
    simulated, real = [], []
    for cell, result in found.items():
        covered = len(cell) == 4
        (simulated if covered else real).extend(rows_of(cell, result, covered))
    missing = [" ".join(cell) for cell in wanted if cell not in found]
    head = ["population", "signal", "n", "ranker", "protocol", "ensemble size", "truth", "bias",
            "RMSE", "coverage", "interval"]  # fmt: skip
    real_head = ["data", "ranker", *head[4:9]]
    write("forecast_disjoint.md", options, {
        **{f"n_{name}": count for name, count in counts.items()},
        "p": N_FEATURES, "k": K, "n_true": N_TRUE,
        "coverage_error": f"{np.sqrt(0.95 * 0.05 / counts['sets']):.0%}",
        "missing": f"\nNot computed: {', '.join(missing)}.\n" if missing else "",
        "summary": summary(simulated) if simulated else "–",
        "simulated": table(head, map(in_words, simulated), text=5),
        "real": table(real_head, map(in_words, real), text=3),
    })  # fmt: skip


if __name__ == "__main__":
    main()
