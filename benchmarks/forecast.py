"""Speed of forecasts: the simulated selector against the paper's algorithm, pick by pick.

    python benchmarks/forecast.py               all cases, about a minute
    python benchmarks/forecast.py simulator     some of them

Every case runs in a process of its own, on one core, after a warm-up on small data. Naive times are
extrapolated from the share of the work that fits into a second or two, with the naive twins of
tests/naive_forecast.py; the ratio says how many times faster mainstay is.
"""

from __future__ import annotations

import sys
from pathlib import Path

from _harness import Case, Row, clock, main, seconds_of  # isort: skip  (sets the number of threads)

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import numpy as np

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


CASES: dict[str, list[Case]] = {
    "simulator": [(ensembles, (data,)) for data in DATA],
    "formulas": [(formulas, (data,)) for data in DATA],
}


if __name__ == "__main__":
    main(__doc__, CASES, "naive s")
