"""The estimates of onda2021: what mainstay.forecast makes of the selections of single forests."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd
from _onda_ensembles import SIZES, jaccard, runs_of
from _onda_forests import TREES, Data

from mainstay.forecast import (
    InfeasibleError,
    SimulatedSelector,
    compatible_pairs,
    estimate_n_useful,
    fixed_point,
    solve_p,
    t_uniform,
    verify_n_useful,
)
from mainstay.forecast.calibration import largest_n_useful

TENTHS = tuple(tenths / 10 for tenths in range(1, 10))


def size_of(data: Data) -> dict[str, int]:
    """The arguments n_features and n_selected."""
    return {"n_features": data.n_features, "n_selected": data.n_target}


def threshold(data: Data, n_runs: int) -> Any:
    """Distribution of t_uniform (Table 4)."""
    return t_uniform(**size_of(data), n_runs=n_runs)


def find_p(data: Data, stability: float, n_useful: float) -> float:
    """The p that explains the stability; NaN where there is none."""
    if n_useful < data.n_target:
        return np.nan
    try:
        return solve_p(stability=stability, n_useful=n_useful, **size_of(data))
    except InfeasibleError:
        return np.nan


def useful(data: Data, selected: np.ndarray) -> pd.DataFrame:
    """Estimate n_useful, J and p from repetitions × trees × runs × k selections (Table 2).

    Standard deviations of one estimate: `sd` over draws of t_uniform and runs, `sd_runs` over runs
    only, `sd_draws` over draws only.
    """
    limit = threshold(data, selected.shape[2])
    at = limit.support()
    rows = []
    for place, trees in enumerate(TREES):
        estimates, counts, stabilities = [], [], []
        for chosen in selected[:, place]:
            runs = runs_of(chosen, data)
            estimates.append(estimate_n_useful(runs))
            counts.append((runs.counts[:, None] > at).sum(axis=0))
            stabilities.append(jaccard(chosen, data))
        mean = np.mean(estimates)
        weights, every = limit.pmf(at), np.array(counts)
        spread = (every - mean) ** 2 @ weights
        within = (every - (every @ weights)[:, None]) ** 2 @ weights
        ps = [find_p(data, J, u) for J, u in zip(stabilities, estimates, strict=True)]
        rows.append(
            {
                "data": data.name,
                "n_tree": trees,
                "n_useful": mean,
                "sd": np.sqrt(spread.mean()),
                "sd_runs": _spread(estimates),
                "sd_draws": np.sqrt(within.mean()),
                "J": np.mean(stabilities),
                "J_sd": _spread(stabilities),
                "p": find_p(data, float(np.mean(stabilities)), float(mean)),
                "p_low": np.min(ps),
                "p_high": np.max(ps),
                "infeasible": int(np.isnan(ps).sum()),
            }
        )
    return pd.DataFrame(rows)


def _spread(values: list[float]) -> float:
    """Standard deviation; NaN for one value."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else np.nan


def by_repetition(data: Data, selected: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """n_useful and J of every repetition and number of trees: what one bank of forests gives."""
    useful_, stabilities = (
        np.array([[of(chosen) for chosen in part] for part in selected])
        for of in (lambda c: estimate_n_useful(runs_of(c, data)), lambda c: jaccard(c, data))
    )
    return useful_, stabilities


def frequencies(data: Data, selected: np.ndarray) -> dict[str, Any]:
    """Count the features selected 0, 1, … times: forests (runs × k), and what chance expects."""
    from scipy.stats import binom

    runs = len(selected)
    real = np.bincount(runs_of(selected, data).counts)
    expected = data.n_features * binom.pmf(
        np.arange(len(real)), runs, data.n_target / data.n_features
    )
    return {"real": real, "uniform": expected, "threshold": threshold(data, runs).mean()}


def verification(data: Data, n_runs: int, n_useful: Any) -> pd.DataFrame:
    """n_useful counted again in simulated runs, for every p (Fig. 2, left)."""
    fixed = size_of(data) | {"n_runs": n_runs}
    values = {
        p: [verify_n_useful(n_useful=float(u), p=p, **fixed) for u in n_useful] for p in TENTHS
    }
    return pd.DataFrame(values, index=pd.Index(n_useful, name="n_useful"))


def pairs(data: Data, n_runs: int, J: float, width: float, n_useful: float, grid: Any) -> Any:
    """Find the pairs (n_useful, p) that fit the stability, and the count (Figs. 2, 8 and 11)."""
    fixed = size_of(data) | {"n_runs": n_runs, "stability": J, "n_useful": n_useful}
    table = compatible_pairs(stability_tolerance=width, n_useful_grid=grid, **fixed)
    both = table[table["matches_stability"] & table["matches_n_useful"]]
    p = find_p(data, J, n_useful)
    return {
        "table": table,
        "stability": table.loc[table["matches_stability"], ["n_useful", "p"]].to_numpy(),
        "count": table.loc[table["matches_n_useful"], ["n_useful", "p"]].to_numpy(),
        "both": both,
        "n_useful": n_useful,
        "J": J,
        "J_width": width,
        "p": None if np.isnan(p) else p,
        "again": np.nan
        if np.isnan(p)
        else verify_n_useful(n_useful=n_useful, p=p, n_runs=n_runs, **size_of(data)),
        "most": largest_n_useful(stability=J, measure="jaccard", **size_of(data)),
        "best": SimulatedSelector(**size_of(data), n_useful=n_useful, p=1.0).stability(1),
        "fixed_point": fixed_point(**fixed),
    }


def simulated(data: Data, n_useful: float, ps: Any = TENTHS, sizes: Any = SIZES) -> pd.DataFrame:
    """Stability of simulated ensembles, one column per p (Figs. 3, 9 and 11)."""
    values = {
        p: SimulatedSelector(**size_of(data), n_useful=n_useful, p=p)
        .curve(sizes)
        .set_index("ensemble_size")["stability"]
        for p in ps
    }
    return pd.DataFrame(values).rename_axis("m_ensemble")


def nearest_p(data: Data, stability: float, n_useful: float) -> float:
    """The value of 0.1, 0.2, … 0.9 whose simulated stability is nearest: the paper's rule."""
    if n_useful < data.n_target:  # the model needs as many as are selected
        return np.nan
    single = simulated(data, n_useful, sizes=(1,)).loc[1]
    return float((single - stability).abs().idxmin())


def forecast(data: Data, stability: float, n_useful: float, sizes: Any) -> pd.Series:
    """Stability of ensembles as the paper forecasts it from single runs, by size."""
    p = nearest_p(data, stability, n_useful)
    if np.isnan(p):
        return pd.Series(np.nan, index=sizes)
    return simulated(data, n_useful, (p,), sizes)[p]


def plateau(data: Data, n_useful: float) -> float:
    """Stability of ever larger simulated ensembles."""
    return SimulatedSelector(**size_of(data), n_useful=n_useful, p=0.7).plateau()


def seconds_simulated(data: Data, n_useful: float, p: float, n_runs: int, seed: int) -> Any:
    """CPU time of the stability of simulated ensembles, by draws and by formula (Fig. 13)."""
    rows = []
    for m in SIZES:
        selector = SimulatedSelector(**size_of(data), n_useful=n_useful, p=p)
        start = time.process_time()
        drawn = selector.simulate(m, n_ensembles=n_runs, random_state=seed).value
        middle = time.process_time()
        formula = selector.stability(m)
        rows.append((m, middle - start, time.process_time() - middle, drawn, formula))
    return pd.DataFrame(
        rows, columns=["m_ensemble", "simulated", "formula", "J_drawn", "J_formula"]
    )


def budget(data: Data, selected: np.ndarray) -> pd.DataFrame:
    """Count useful features in more and more runs (all runs × k), with what the model then says."""
    rows = []
    for runs in sorted({25, 50, 100, 200, 400, data.n_samples, len(selected)}):
        parts = [selected[at : at + runs] for at in range(0, len(selected) - runs + 1, runs)]
        if not parts:
            continue
        u = float(np.mean([estimate_n_useful(runs_of(part, data)) for part in parts]))
        J = float(np.mean([jaccard(part, data) for part in parts]))
        p = find_p(data, J, u)
        rows.append((runs, len(parts), u, J, p, plateau(data, max(u, data.n_target))))
    names = ["M", "blocks", "n_useful", "J", "p", "plateau"]
    return pd.DataFrame(rows, columns=names).set_index("M")


def self_consistent(data: Data, n_runs: int, J: float) -> pd.DataFrame:
    """For every n_useful: p from the stability, and n_useful counted again (equation 1)."""
    rows = []
    for u in range(
        data.n_target, largest_n_useful(stability=J, measure="jaccard", **size_of(data))
    ):
        p = find_p(data, J, u)
        rows.append((u, p, verify_n_useful(n_useful=u, p=p, n_runs=n_runs, **size_of(data))))
    return pd.DataFrame(rows, columns=["n_useful", "p", "again"]).set_index("n_useful")
