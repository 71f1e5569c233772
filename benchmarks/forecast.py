"""Speed of forecasts: the simulated selector, existing runs, and a whole forecast.

    python benchmarks/forecast.py               all cases, about a minute
    python benchmarks/forecast.py simulator     some of them

Every case runs in a process of its own, on one core, after a warm-up on small data. Naive times are
extrapolated from the share of the work that fits into a second or two, with the naive twins of
tests/naive_forecast.py; the ratio says how many times faster mainstay is.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from _harness import Case, Row, clock, main, seconds_of  # isort: skip  (sets the number of threads)

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import numpy as np

import mainstay as ms
import naive_forecast
from mainstay.forecast import (
    SimulatedSelector,
    compatible_pairs,
    fixed_point,
    solve_p,
    t_uniform,
)

DATA = {"Colon": (2000, 20, 60, 0.7, 62), "Prostate": (5966, 60, 130, 0.8, 102)}


def ensembles(data: str) -> list[Row]:
    """50 ensembles of 50 runs, as in the paper's figure 4."""
    n, k, u, p, _ = DATA[data]
    selector = SimulatedSelector(n, k, u, p)
    selector.simulate(2, n_ensembles=2, random_state=0)
    seconds, estimate = clock(lambda: selector.simulate(50, n_ensembles=50, random_state=0))
    rng = np.random.default_rng(0)
    draws = 20
    slow = seconds_of(lambda: [naive_forecast.weak_selector(n, k, u, p, rng)
                               for _ in range(draws)]) * 2500 / draws  # fmt: skip
    return [(f"{data}: simulate 50 × 50 rankings", seconds, slow, str(estimate).split(",")[0])]


def formulas(data: str) -> list[Row]:
    """The same from formulas; what they replace is the simulation above, for every size."""
    n, k, u, p, n_runs = DATA[data]
    SimulatedSelector(60, 5, 10, 0.5).curve([1, 3])
    sizes = np.linspace(1, 100, 20).astype(int).tolist()
    seconds, curve = clock(lambda: SimulatedSelector(n, k, u, p).curve(sizes))
    simulated = SimulatedSelector(n, k, u, p)
    slow = 20 * seconds_of(lambda: simulated.simulate(50, n_ensembles=50, random_state=0))
    last = curve["stability"].iloc[-1]  # type: ignore[index]
    where = {"n_features": n, "n_selected": k}
    observed = {"stability": simulated.stability(1), "n_useful": u, **where}
    rows: list[Row] = [
        (f"{data}: curve of 20 sizes up to 100", seconds, slow, f"plateau {last:.3f}; other: draws")
    ]
    for what, call in (
        ("t_uniform", lambda: t_uniform(**where, n_runs=n_runs)),
        ("solve_p", lambda: solve_p(**observed)),
        ("fixed_point", lambda: fixed_point(**observed, n_runs=n_runs)),
        ("compatible_pairs, default grid", lambda: compatible_pairs(**observed, n_runs=n_runs)),
    ):
        rows.append((f"{data}: {what}", seconds_of(call), None, ""))
    return rows


def existing_runs(protocol: str) -> list[Row]:
    """Forecast ten sizes from 100 rankings of 2000 features; other: aggregate and compare anew."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(100, 2000)) + np.linspace(0, 3, 2000)
    runs = ms.Runs.from_ranks(np.argsort(np.argsort(-scores, axis=1), axis=1) + 1.0)
    halves = np.repeat(np.arange(10), 10) if protocol == "nested" else None
    sizes = [1, 2, 5, 10, 20, 30, 50, 70, 100, 200]
    asked = {"protocol": protocol, "halves": halves, "n_features_to_select": 20, "random_state": 0}
    ms.forecast_stability(runs, ensemble_sizes=[1], **asked)
    seconds, found = clock(lambda: ms.forecast_stability(runs, ensemble_sizes=sizes, **asked))
    last = found.curve.iloc[-1]  # type: ignore[attr-defined]
    remark = f"{last['stability']:.3f} ± {(last['upper'] - last['lower']) / 2:.3f} at 200"
    return [(f"{protocol}: 10 sizes from 100 rankings of 2000 features", seconds, None, remark)]


def whole(n_trees: int) -> list[Row]:
    """Forecast with its base runs, against really running 50 ensembles of 50 on halves of Colon."""
    from sklearn.ensemble import RandomForestClassifier

    shared = Path(__file__).resolve().parents[2] / "shared"
    file = Path(os.environ.get("MAINSTAY_SHARED", shared)) / "data/microarray/colon.npz"
    if not file.is_file():
        return [("Colon: data are missing", 0.0, None, "set MAINSTAY_SHARED")]
    archive = np.load(file)
    X, y = archive["X"].astype(float), archive["y"]
    asked = {"protocol": "nested", "n_features_to_select": 20, "random_state": 0}
    forest = RandomForestClassifier(n_trees)
    ms.forecast_stability(forest, X, y, n_runs=12, **asked)
    seconds, found = clock(lambda: ms.forecast_stability(forest, X, y, **asked))
    real = found.seconds_per_run * 2500  # type: ignore[attr-defined]
    remark = f"other: 2500 runs of {real / 2500:.3f} s"
    return [
        (f"Colon, {n_trees} trees: forecast with {found.n_runs} base runs", seconds, real, remark)
    ]  # type: ignore[attr-defined]


CASES: dict[str, list[Case]] = {
    "simulator": [(ensembles, (data,)) for data in DATA],
    "formulas": [(formulas, (data,)) for data in DATA],
    "runs": [(existing_runs, (protocol,)) for protocol in ("flat", "nested")],
    "whole": [(whole, (100,))],
}


if __name__ == "__main__":
    main(__doc__, CASES, "naive s")
