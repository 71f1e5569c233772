"""The parts of onda2021 about ensembles: their stability, their accuracy and what they cost."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import _onda_claims as claims
import _onda_figures as figures
import _onda_model as model
import numpy as np
import pandas as pd
from _cells import Cell
from _common import table, verdict
from _onda_ensembles import SIZES
from _onda_experiment import Curves, Experiment, listed, pm, stacked
from _onda_forests import TREES, deal, read, seconds_per_forest
from _onda_paper import N_USEFUL, REAL, REAL_TREES, SIMULATED, P
from _onda_trees import Columns

FASTER = 10  # times, base runs included: "much faster"
WIDE_SECONDS = {"Colon": 0.007, "Lymphoma": 0.1, "Prostate": 0.03}  # of 500 trees with mtry 0.1


def curves(run: Experiment) -> dict[str, Any]:
    """Figs. 3, 9 and 10: stability against the size of the ensemble, simulated and real."""
    found = {name: run.curves(data) for name, data in run.sets.items()}
    real = {name: part.stability for name, part in found.items()}
    simulated = {name: model.simulated(data, N_USEFUL[name]) for name, data in run.sets.items()}
    plateaus = {name: model.plateau(data, N_USEFUL[name]) for name, data in run.sets.items()}
    run.save("fig3_9_simulated", stacked(simulated))
    run.save("fig3_10_real", stacked(real))
    run.draw("fig3_9_10_stability", figures.plot_curves(simulated, real, plateaus))
    colon = run.sets["Colon"]
    seeds = run.curves(colon, kind="half")
    same = seeds.stability
    both = {"bootstraps": found["Colon"], "new seeds only": seeds}
    run.save("fig3_real_without_bootstrap", same)
    last = {name: frame.iloc[-1] for name, frame in real.items()}
    m_last = int(real["Colon"].index[-1])
    rows = []
    for name in real:
        errors = found[name].errors.iloc[-1]
        ours = ", ".join(pm(last[name][t], errors[t], 3) for t in REAL_TREES[name])
        trees = ", ".join(map(str, REAL_TREES[name]))
        cells = (SIMULATED[name] or "–", f"{plateaus[name]:.3f}", REAL[name] or "–", ours, trees)
        rows.append((name, *cells, _share_of(run, name, found[name].folds)))
    head = ["", "simulated: paper", "ours", "real: paper", f"ours, m = {m_last}", "with trees"]
    head.append("folds")
    at = [m for m in real["Colon"].index if m > 1]
    gap = (simulated["Colon"].loc[at, 0.7] - real["Colon"].loc[at, 300]).abs()
    gap_seeds = (simulated["Colon"].loc[at, 0.7] - same.loc[at, 300]).abs()
    small, large = gap[gap.index < 20], gap[gap.index >= 20]
    return {
        "found": found,
        "seeds": seeds,
        "real": real,
        "m_last": m_last,
        "curves_table": table(head, rows),
        "plateaus": plateaus,
        "plateau_verdict": verdict(
            all(abs(plateaus[n] - SIMULATED[n]) < 0.01 for n in real if SIMULATED[n])
        ),
        "real_verdict": verdict(
            all(abs(last[n][t] / REAL[n] - 1) < 0.1 for n in real if REAL[n] for t in REAL_TREES[n])
        ),
        "rising": ", ".join(f"{simulated['Colon'].loc[1, p]:.3f}" for p in (0.1, 0.5, 0.9)),
        **claims.few_trees({w: x.estimates for w, x in both.items()}),
        "similar_verdict": verdict(
            bool(gap.max() < 0.03) or (None if len(large) and large.max() < 0.03 else False)
        ),
        "gap_small": float(small.max()),
        "gap_small_at": int(small.idxmax()),
        "gap_small_values": [
            simulated["Colon"].loc[small.idxmax(), 0.7],
            real["Colon"].loc[small.idxmax(), 300],
        ],
        "gap_large": float(large.max()) if len(large) else np.nan,
        "gap_seeds": float(gap_seeds.max()),
        "gap_seeds_at": int(gap_seeds.idxmax()),
        "gap_seeds_values": [
            x.loc[gap_seeds.idxmax(), t] for x, t in ((simulated["Colon"], 0.7), (same, 300))
        ],
        "seeds_falls": int((same.iloc[1] < same.iloc[0]).sum()),
        "seeds_first": pm(same.loc[1, 300], seeds.errors.loc[1, 300], 3),
        **_shapes(simulated),
        "real_falls": sum(int((f.iloc[1] < f.iloc[0]).sum()) for f in real.values()),
        "n_curves": len(real) * len(TREES),
        "real_first": listed({n: f[300].iloc[0] for n, f in real.items()}),
        "same_table": table(
            ["Colon, m_ensemble", *[f"{t} trees" for t in TREES]],
            [
                (f"{m}, {what}", *[pm(x.stability.loc[m, t], x.errors.loc[m, t], 3) for t in TREES])
                for m in (same.index[0], same.index[-1])
                for what, x in both.items()
            ],
        ),
        "missing_table": missing_classes(run),
        "mean_ratio": listed({n: f[300].iloc[-1] / plateaus[n] for n, f in real.items()}, "{:.2f}"),
    }


def _shapes(simulated: dict[str, pd.DataFrame]) -> dict[str, Any]:
    """How the simulated curves depend on p, and whether they rise from the first point on."""
    colon, prostate = simulated["Colon"], simulated["Prostate"]
    large = colon.loc[30:] / SIMULATED["Colon"] - 1
    rising = [m for m in colon.index if colon.loc[m].is_monotonic_increasing]
    falls = {m: [p for p in prostate if prostate.loc[m, p] < prostate.loc[1, p]] for m in (5, 10)}
    claimed = [0.7, 0.8, 0.9]
    return {
        "p_spread": {m: float(np.ptp(colon.loc[m])) for m in (30, 50)},
        "p_range": f"{colon.loc[30:].min().min():.3f} to {colon.loc[30:].max().max():.3f}",
        "regardless_verdict": verdict(bool(large.abs().max().max() < 0.1)),
        "rising_m": f"{len(rising)} of {len(colon)}",
        "rising_verdict": verdict(len(rising) == len(colon) or (None if rising else False)),
        "falls": {m: f"p ≥ {min(ps):g}" if ps else "none" for m, ps in falls.items()},
        "falls_verdict": verdict(falls[10] == claimed and (True if falls[5] == claimed else None)),
    }


def _share_of(run: Experiment, name: str, folds: int) -> str:
    """Say how many of the folds there are."""
    return f"{folds} of {run.n_runs(run.sets[name])}"


def _left(run: Experiment, folds: dict[str, int]) -> str:
    """Say on which sets folds are left, and what they would take."""
    left = {n: run.n_runs(run.sets[n]) - f for n, f in folds.items() if f < run.n_runs(run.sets[n])}
    if not left:
        return "All folds, as in the paper."
    cost = sum(run.size["weak"] * WIDE_SECONDS[name] * count for name, count in left.items()) / 60
    names = ", ".join(left)
    return (
        f"On {names} the folds are a random part of the paper's, which are all; the others are "
        f"planned cells of about {max(cost, 1):.0f} CPU minutes."
    )


def missing_classes(run: Experiment) -> str:
    """Count the folds in which a half lacks one of the classes."""
    rows = []
    for name, data in run.sets.items():
        classes = len(np.unique(data.y))
        lacking = np.zeros(2, dtype=int)
        for left_out in range(run.n_runs(data)):
            rng = np.random.default_rng([run.options.seed, data.n_features, left_out])
            halves = deal(data.y, left_out, rng)
            lacking += [len(np.unique(data.y[half])) < classes for half in halves]
        rows.append((name, classes, run.n_runs(data), *lacking))
    return table(["", "classes", "folds", "half 1 lacks one", "half 2 lacks one"], rows)


def wide_mtry(run: Experiment, real: dict[str, pd.DataFrame]) -> dict[str, Any]:
    """Fig. 15: the real ensembles with normalised mtry 0.1."""
    found = {name: run.curves(data, "0.1") for name, data in run.sets.items()}
    by_set = {name: part.stability for name, part in found.items()}
    run.save("fig15_mtry_0.1", stacked(by_set))
    run.draw("fig15_mtry_0.1", figures.plot_real(by_set))
    m = min(int(frame.index[-1]) for frame in by_set.values())
    last = {name: frame.loc[m] for name, frame in by_set.items()}
    spread = {name: float(np.ptp(values)) for name, values in last.items()}
    estimates = {name: part.estimates for name, part in found.items()}
    before = {name: float(np.ptp(real[name].loc[m])) for name in by_set}
    rows = []
    for name in by_set:
        errors = found[name].errors.loc[m]
        cells = [pm(last[name][t], errors[t], 3) for t in TREES]
        ranges = [f"{spread[name]:.3f}", f"{before[name]:.3f}"]
        rows.append((name, *cells, *ranges, _share_of(run, name, found[name].folds)))
    head = ["", *[f"{t} trees" for t in TREES], "range", "range with √n", "folds"]
    return {
        "wide_table": table(head, rows),
        "wide_m": m,
        "wide_folds": _left(run, {name: part.folds for name, part in found.items()}),
        **claims.at_thirty(estimates["Colon"]),
        **claims.wide(estimates, before, m),
    }


def accuracies(run: Experiment, curves_found: dict[str, Curves]) -> dict[str, Any]:
    """Figs. 1 (left) and 6."""
    found, largest = {}, {}
    for name, data in run.sets.items():
        found[name] = curves_found[name].accuracy
        largest[name] = np.bincount(data.y - data.y.min()).max() / data.n_samples
    run.save("fig1_6_accuracy", stacked(found))
    run.draw("fig1_6_accuracy", figures.plot_accuracy(found, largest))
    rows = [
        (name, f"{largest[name]:.3f}", *[f"{frame[t].mean():.3f}" for t in TREES])
        for name, frame in found.items()
    ]
    means = {name: frame.mean() for name, frame in found.items()}
    return {
        "accuracy_table": table(["", "largest class", *[f"{t} trees" for t in TREES]], rows),
        "accuracy_range": listed({n: np.ptp(v) for n, v in means.items()}),
        "accuracy_error": listed(
            {
                n: np.sqrt(v.mean() * (1 - v.mean()) / run.n_runs(run.sets[n]))
                for n, v in means.items()
            }
        ),
        "accuracy_verdict": verdict(
            all(v.min() > largest[n] and np.ptp(v) < 0.05 for n, v in means.items())
        ),
    }


def time_one(cell: Cell, calls: int, weak: int, seed: int) -> dict[str, Any]:
    """CPU seconds of one data set: RandomForestClassifier, compiled and simulated ensembles."""
    data = read(cell[0])
    simulated = model.seconds_simulated(
        data, N_USEFUL[data.name], P[data.name] or 0.7, data.n_samples, seed
    )
    first, _ = deal(data.y, 0, np.random.default_rng([seed, data.n_features]))
    warm = Columns(data.X[first], data.y[first])
    warm.importances(TREES[:1], data.mtry("sqrt"), 0)  # compiled before the clock runs
    start, compiled = time.process_time(), []
    for i in range(weak):
        rows = np.random.default_rng([seed, i]).choice(first, len(first))
        Columns(data.X[rows], data.y[rows]).importances(TREES[-1:], data.mtry("sqrt"), i)
        compiled.append(time.process_time() - start)
    return {
        "RandomForestClassifier": seconds_per_forest(data, calls, seed),
        "compiled": [compiled[m - 1] for m in SIZES if m <= weak],
        "simulated": simulated.to_dict("list"),
    }


def times(run: Experiment) -> dict[str, Any]:
    """Figs. 4, 12 and 13: CPU seconds of the stability of an ensemble."""
    weak = run.size["weak"]
    work = partial(time_one, calls=run.size["timed"], weak=weak, seed=run.options.seed)
    timed = run.part("times", [(name,) for name in run.sets], work)
    parts, forests, compiled = [], {}, {}
    for name, data in run.sets.items():
        forests[name] = timed[name,]["RandomForestClassifier"]
        spent = np.array(timed[name,]["compiled"])
        compiled[name] = spent[-1] / weak
        part = pd.DataFrame(timed[name,]["simulated"])
        part = part[part["m_ensemble"] <= weak]
        part["RandomForestClassifier"] = forests[name] * data.n_samples * part["m_ensemble"]
        part["the same rules, compiled"] = spent * data.n_samples
        parts.append(part.assign(data=name))
    found = pd.concat(parts)
    run.save("fig4_12_13_times", found.set_index(["data", "m_ensemble"]))
    run.draw("fig4_12_13_times", figures.plot_times(found))
    last = found[found["m_ensemble"] == found["m_ensemble"].max()].set_index("data")
    real, ours = last["RandomForestClassifier"], last["the same rules, compiled"]
    rows = []
    for n in run.sets:
        cells = [f"{forests[n]:.2f}", f"{compiled[n]:.3f}", f"{real[n]:,.0f}", f"{ours[n]:,.0f}"]
        cells += [f"{last['simulated'][n]:.2f}", f"{last['formula'][n]:.3f}"]
        rows.append((n, *cells))
    head = ["", "s per forest", "s per compiled forest", "real, RandomForestClassifier"]
    head += ["real, compiled", "simulated", "formula"]
    per_forest = {"RandomForestClassifier": forests, "compiled": compiled}
    with_base = _with_base_runs(run, weak, per_forest, last["simulated"])
    first = found.groupby("data", sort=False).nth(1).set_index("data")
    step = last["m_ensemble"] / first["m_ensemble"]
    grows = (ours / first["the same rules, compiled"] / step)[list(run.sets)]
    moderate = (last["simulated"] / first["simulated"])[list(run.sets)]
    by_set = [found[found["data"] == n] for n in run.sets]
    parts_of = {
        what: [
            claims.proportional_part(x["m_ensemble"].to_numpy(), x[column].to_numpy())
            for x in by_set
        ]
        for what, column in (("real", "the same rules, compiled"), ("simulated", "simulated"))
    }
    return {
        "times_table": table(head, rows),
        "timed": run.size["timed"],
        "grows": listed(grows, "{:.2f}"),
        "proportional_verdict": verdict(bool((grows - 1).abs().max() < 0.1)),
        "step": f"{first['m_ensemble'].iloc[0]} to {last['m_ensemble'].iloc[0]}",
        "moderate": listed(moderate, "{:.1f}"),
        "step_ratio": float(step.iloc[0]),
        "moderate_verdict": claims.all_some_none([x < 0.5 for x in parts_of["simulated"]]),
        "growing": {
            what: listed(dict(zip(run.sets, shares, strict=True)), "{:.0%}")
            for what, shares in parts_of.items()
        },
        **with_base,
        "j_apart": (found["J_drawn"] - found["J_formula"]).abs().max(),
        "compiled_total": float(ours.sum()),
    }


def _with_base_runs(
    run: Experiment, weak: int, per_forest: dict[str, dict[str, float]], simulated: pd.Series
) -> dict[str, Any]:
    """Real ensembles against simulated ones and the base runs that give n_useful and p.

    `per_forest`: seconds of a forest, by kind of forest and data set; `simulated`: of the largest
    ensembles, one for every fold.
    """
    rows, ratios = [], []
    for name, data in run.sets.items():
        cells: list[Any] = [data.n_samples, data.n_samples * weak]
        for seconds in per_forest.values():
            base = data.n_samples * seconds[name]
            ratios.append(base * weak / (base + simulated[name]))
            alone = base * weak / simulated[name]
            cells += [f"{base:.1f}", f"{alone:,.0f}", f"{ratios[-1]:.0f}"]
        rows.append((name, *cells))
    what = ("s of base runs", "real ÷ simulated", "real ÷ (base runs + simulated)")
    head = ["", "base runs", "runs of real ensembles"]
    head += [f"{kind}: {x}" for kind in per_forest for x in what]
    return {
        "ratio_table": table(head, rows),
        "faster_verdict": claims.all_some_none([x > FASTER for x in ratios]),
        "faster": FASTER,
        "saved": f"{min(ratios):.0f} to {max(ratios):.0f}",
        "weak": weak,
    }
