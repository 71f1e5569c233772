"""The parts of onda2021 about single forests: t_uniform, n_useful and p."""

from __future__ import annotations

from typing import Any

import _onda_figures as figures
import _onda_model as model
import numpy as np
import pandas as pd
from _common import table, verdict
from _onda_counts import DRAWS, against_paper, trends
from _onda_experiment import WIDER, Experiment, listed, or_none, pm, stacked
from _onda_forests import KINDS, TREES
from _onda_paper import (
    CORRECTED,
    N_USEFUL,
    P_MTRY,
    RANGE,
    STABILITY,
    T_UNIFORM,
    TABLE_2,
    USEFUL_MTRY,
    P,
)


def thresholds(run: Experiment) -> dict[str, Any]:
    """Table 4."""
    rows = []
    for name, data in run.sets.items():
        ours = model.threshold(data, run.n_runs(data))
        rows.append((name, run.n_runs(data), *T_UNIFORM[name], ours.mean(), ours.std()))
    names = ["data", "M", "paper", "paper_sd", "ours", "ours_sd"]
    found = pd.DataFrame(rows, columns=names).set_index("data")
    run.save("table4_t_uniform", found)
    off = (found["ours"] - found["paper"]).abs() * np.sqrt(DRAWS) / found["ours_sd"]
    cells = [
        (r.Index, r.M, pm(r.paper, r.paper_sd, 3), pm(r.ours, r.ours_sd, 3))
        for r in found.itertuples()
    ]
    return {
        "t_uniform": found,
        "table4": table(["", "runs M", "paper, 1000 draws", "exact distribution"], cells),
        "table4_off": listed(off, "{:.1f}"),
        "table4_verdict": verdict(bool(off.max() < 2)),
    }


def useful_features(run: Experiment) -> dict[str, Any]:
    """Table 2, Figs. 1 (right) and 7."""
    kinds = ("half", "bootstrap")
    parts = [
        model.useful(data, run.single(data, kind=kind)).assign(sees=kind)
        for data in run.sets.values()
        for kind in kinds
    ]
    found = pd.concat(parts, ignore_index=True)
    found["paper"] = [TABLE_2[r.data][r.n_tree][0] for r in found.itertuples()]
    found["paper_sd"] = [TABLE_2[r.data][r.n_tree][1] for r in found.itertuples()]
    run.save("table2_n_useful", found.set_index(["data", "sees", "n_tree"]))
    counted = {n: model.frequencies(d, run.single(d)[0, -1]) for n, d in run.sets.items()}
    run.draw("fig1_7_frequencies", figures.plot_frequencies(counted))
    frames = {
        name: pd.DataFrame({"forest": c["real"], "uniform": c["uniform"]})
        for name, c in counted.items()
    }
    run.save("fig1_7_frequencies", stacked(frames).rename_axis(["data", "times_selected"]))
    by = found.set_index(["sees", "data", "n_tree"]).sort_index()
    rows = []
    for trees in TREES:
        cells = []
        for name in run.sets:
            half = by.loc[("half", name, trees)]
            off = abs(half["n_useful"] - half["paper"]) > half["paper_sd"]
            ours = pm(half["n_useful"], half["sd"])
            cells += [pm(half["paper"], half["paper_sd"]), f"**{ours}**" if off else ours]
            cells += [f"{by.loc[('bootstrap', name, trees), 'n_useful']:.1f}"]
        rows.append((trees, *cells))
    half = found[found["sees"] == "half"].set_index(["data", "n_tree"])
    banks = {name: model.by_repetition(data, run.single(data)) for name, data in run.sets.items()}
    ratio = (found["n_useful"] / found["paper"] - 1).pow(2)
    prostate = half.loc["Prostate"]
    heads = [f"{name}, {what}" for name in run.sets for what in ("paper", "half", "bootstrap")]
    return {
        "single": half,
        "single_J": f"{half.loc[('Colon', 300), 'J']:.3f}",
        "bootstrap_useful": by.loc["bootstrap", "n_useful"],
        "table2": table(["n_tree", *heads], rows),
        "distance": np.sqrt(ratio.groupby(found["sees"]).mean()),
        "distance_without": np.sqrt(
            ratio[found["data"] != "Prostate"].groupby(found["sees"]).mean()
        ),
        "excess": (prostate["n_useful"] / prostate["paper"] - 1).loc[200:].mean(),
        "sd_table": table(
            ["", "paper", "runs and t_uniform", "t_uniform only", "runs only"],
            [
                (n, *[f"{part[c].mean():.1f}" for c in ("paper_sd", "sd", "sd_draws", "sd_runs")])
                for n, part in half.groupby("data", sort=False)
            ],
        ),
        "repetitions": run.size["repetitions"],
        **against_paper(half, run.size["repetitions"]),
        **trends({n: u for n, (u, _) in banks.items()}, half),
        "banks": banks,
        **_drawn_thresholds(half),
        **_tails(counted),
    }


def _drawn_thresholds(half: pd.DataFrame) -> dict[str, Any]:
    """Is t_uniform determined in a stable manner: its own spread, and what it does to n_useful."""
    paper = {name: sd / mean for name, (mean, sd) in T_UNIFORM.items()}
    by = half.groupby("data", sort=False)
    share = 1 - (half["sd_runs"] ** 2).groupby("data", sort=False).mean() / by["sd"].agg(
        lambda x: (x**2).mean()
    )
    small = max(paper.values()) < 0.2
    return {
        "t_spread": listed(paper, "{:.0%}"),
        "t_share": listed(share, "{:.0%}"),
        "t_verdict": verdict(small and (True if share.max() < 0.5 else None)),
    }


def _tails(counted: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """How often the most frequent features are selected, beside what chance does."""
    most = {name: len(c["real"]) - 1 for name, c in counted.items()}
    often = {name: int(c["real"][int(c["threshold"]) + 1 :].sum()) for name, c in counted.items()}
    by_chance = {name: c["uniform"][int(c["threshold"]) + 1 :].sum() for name, c in counted.items()}
    return {
        "maxima": listed(most, "{}"),
        "often": listed(often, "{}"),
        "often_by_chance": listed(by_chance, "{:.1f}"),
        "tail_verdict": verdict(
            all(
                most[n] > 2 * c["threshold"] and often[n] > 10 * by_chance[n]
                for n, c in counted.items()
            )
        ),
    }


def variants(run: Experiment) -> dict[str, Any]:
    """Other ways to grow the single forests: which of them give Table 2, J and Fig. 14?"""
    rows, kept, total = [], [], {}
    for mtry, kind in [("sqrt", kind) for kind in KINDS] + [(m, "half") for m in WIDER]:
        cells, good, seen = [], 0, 0
        for name, data in run.sets.items():
            selected = run.single(data, mtry, kind)
            if not len(selected):
                cells += ["–", "–"]
                continue
            found = model.useful(data, selected).set_index("n_tree")
            kept.append(found.assign(data=name, mtry=mtry, kind=kind))
            within = sum(
                abs(found.loc[t, "n_useful"] - TABLE_2[name][t][0]) <= TABLE_2[name][t][1]
                for t in TREES
            )
            good, seen = good + within, seen + len(TREES)
            cells += [f"{within} of 6", f"{found.loc[300, 'J']:.3f}"]
        label = KINDS[kind] if mtry == "sqrt" else f"normalised mtry {mtry} instead of 0.013"
        wide = run.single(run.sets["Colon"], "0.1", kind) if mtry == "sqrt" else []
        ps = model.useful(run.sets["Colon"], wide)["p"] if len(wide) else None
        off = "–" if ps is None else or_none(float((ps - np.array(P_MTRY)).abs().max(skipna=False)))
        total[label] = good if seen == 3 * len(TREES) else -1
        repetitions = len(run.single(run.sets["Prostate"], mtry, kind))
        rows.append((label, repetitions, *cells, f"{good} of {seen}", off))
    every = pd.concat(kept).reset_index().set_index(["kind", "mtry", "data", "n_tree"])
    every = every.sort_index()
    run.save("table2_variants", every[["n_useful", "J", "p"]])
    bare = every.loc[("no bootstrap", "sqrt", "Prostate"), "n_useful"]
    head = ["single forests see", "repetitions"]
    head += [f"{name}: {what}" for name in run.sets for what in ("n_useful", "J")]
    paper = ("**paper**", "", *[x for n in run.sets for x in ("", f"{STABILITY[n][0]:g}")], "", "")
    return {
        "variants_table": table([*head, "all", "largest difference of p, Fig. 14"], [paper, *rows]),
        "n_variants": len(rows) - 1,
        "most_within": max(total.values()),
        "variants_best": "; ".join(k for k, v in total.items() if v == max(total.values())),
        "bare_prostate": ", ".join(f"{u:.0f}" for u in bare),
        "bare_within": rows[list(KINDS).index("no bootstrap")][6],
        "bare_J": every.loc[("no bootstrap", "sqrt", "Prostate", 100), "J"],
        "bare_J_200": every.loc[("no bootstrap", "sqrt", "Prostate", 200), "J"],
        "paper_prostate": ", ".join(f"{TABLE_2['Prostate'][t][0]:.0f}" for t in TREES),
    }


def parameters(run: Experiment, single: pd.DataFrame) -> dict[str, Any]:
    """Figs. 2 and 8: which n_useful and p fit."""
    colon = run.sets["Colon"]
    again = model.verification(colon, run.n_runs(colon), range(20, 811, 10))
    run.save("fig2_verification", again)
    run.draw("fig2_verification", figures.plot_verification(again))
    parts = {
        name: model.pairs(data, run.n_runs(data), *STABILITY[name], N_USEFUL[name], RANGE[name])
        for name, data in run.sets.items()
    }
    run.draw("fig2_8_pairs", figures.plot_pairs(parts))
    either = "matches_stability or matches_n_useful"
    matching = {n: part["table"].query(either).set_index("n_useful") for n, part in parts.items()}
    run.save("fig2_8_pairs", stacked(matching))
    rows, nearest = [], dict[tuple[str, str], float]()
    for name, part in parts.items():
        ours = single.loc[(name, 300)]
        verified = or_none(part["again"], "{:.1f}")
        counts = part["both"]["n_useful"].agg(["min", "max"]), part["both"]["p"].agg(["min", "max"])
        meet = [f"{low:g} to {high:g}" for low, high in counts] if len(part["both"]) else ["–"] * 2
        cells = [name, f"{part['J']:g}", pm(ours["J"], ours["J_sd"], 3), P[name] or "–"]
        nearest["paper", name] = model.nearest_p(run.sets[name], part["J"], part["n_useful"])
        nearest["ours", name] = model.nearest_p(run.sets[name], ours["J"], ours["n_useful"])
        cells += [or_none(part["p"], "{:.3f}"), or_none(ours["p"])]
        cells += [f"{nearest['paper', name]:g}, {nearest['ours', name]:g}"]
        rows.append((*cells, f"{part['n_useful']} → {verified}", *meet))
    head = ["", "J, paper", "J, ours, 300 trees", "p, paper", "p from the paper's J and n_useful"]
    head += ["p from ours", "both, nearest of nine", "n_useful → counted again"]
    head += ["both fit: n_useful", "both fit: p"]
    equal = again.sub(again.index.to_numpy(), axis=0).abs() < 1
    until = {p: max(again.index[equal[p]], default=0) for p in (0.3, 0.5, 0.7, 0.9)}
    given = [name for name in parts if P[name]]
    return {
        "parts": parts,
        "parameters_table": table(head, rows),
        "p_verdict": verdict(
            all(nearest["paper", n] == P[n] for n in given)
            and (True if all(nearest["ours", n] == P[n] for n in given) else None)
        ),
        "p_nearest": " and ".join(f"{nearest['ours', n]:g}" for n in given),
        "J_off": listed({n: single.loc[(n, 300), "J"] for n in given}),
        "fixed_verdict": verdict(all(abs(parts[n]["again"] - N_USEFUL[n]) < 2 for n in given)),
        "prostate": parts["Prostate"],
        "until": ", ".join(f"{u} for p = {p:g}" for p, u in until.items()),
        "peaks": ", ".join(
            f"{again[p].max():.0f} at n_useful = {again[p].idxmax()} for p = {p:g}"
            for p in (0.3, 0.5, 0.7, 0.9)
        ),
        "again_last": listed(again.loc[800, [0.3, 0.5, 0.7, 0.9]], "{:.0f}"),
        "decrease_verdict": verdict(
            bool((again.loc[800] < again.max() - 1).all())
            and sorted(until.values()) == [*until.values()]
        ),
        "low_p": ", ".join(f"{again.loc[60, p]:.1f}" for p in (0.1, 0.2, 0.3)),
    }


def corrected(run: Experiment, real: pd.DataFrame) -> dict[str, Any]:
    """Fig. 11: Prostate with n_useful = 130."""
    data = run.sets["Prostate"]
    n_runs, (J, width) = run.n_runs(data), STABILITY["Prostate"]
    part = model.pairs(data, n_runs, J, width, CORRECTED, RANGE["Prostate"])
    simulated = model.simulated(data, CORRECTED)
    run.save("fig11_simulated", simulated)
    run.draw("fig11_prostate", figures.plot_corrected(part, simulated, real))
    every = model.self_consistent(data, n_runs, J)
    holds = every.index[(every["again"] - every.index).abs() < 1]
    return {
        "corrected": part,
        "corrected_plateau": model.plateau(data, CORRECTED),
        "corrected_verdict": verdict(abs(part["again"] - CORRECTED) < 2),
        "holds": [holds.min(), holds.max()],
        "holds_plateaus": [model.plateau(data, u) for u in (holds.min(), holds.max())],
    }


def by_mtry(run: Experiment) -> dict[str, Any]:
    """Fig. 14: the estimates on Colon by mtry."""
    colon = run.sets["Colon"]
    found = {m: model.useful(colon, run.single(colon, m)) for m in ("0.01", "0.1", "sqrt")}
    names = {"sqrt": "0.022 (√n)"}
    both = pd.concat(part.assign(mtry=names.get(m, m)) for m, part in found.items())
    both["n_useful_low"] = both["n_useful"] - both["sd_runs"]
    both["n_useful_high"] = both["n_useful"] + both["sd_runs"]
    run.save("fig14_mtry", both.set_index(["mtry", "n_tree"]).drop(columns="data"))
    run.draw("fig14_mtry", figures.plot_mtry(both))
    small, large = found["0.01"], found["0.1"]
    boot = model.useful(colon, run.single(colon, "0.1", "bootstrap"))
    rows = []
    for i, trees in enumerate(TREES):
        ours = [pm(part["n_useful"][i], part["sd_runs"][i]) for part in (small, large)]
        counts = [ours[0], f"≈ {USEFUL_MTRY}", ours[1]]
        ps = [or_none(small["p"][i]), f"{P_MTRY[i]:g}", or_none(large["p"][i])]
        ps += [or_none(boot["p"][i])]
        rows.append((trees, *counts, *ps))
    head = ["n_tree", "n_useful, 0.01", "n_useful, 0.1: paper", "ours"]
    head += ["p, 0.01", "p, 0.1: paper", "ours", "ours, bootstrap"]
    change = {m: part["n_useful"].max() / part["n_useful"].min() for m, part in found.items()}
    off = (large["n_useful"] - USEFUL_MTRY).abs().max()
    off_p = (large["p"] - np.array(P_MTRY)).abs()
    numbers = [
        ("mean n_useful, Colon, mtry 0.1 (Fig. 14)", USEFUL_MTRY, large["n_useful"].mean(), None)
    ]
    for i, trees in enumerate(TREES):
        numbers.append((f"p, Colon, mtry 0.1, {trees} trees", P_MTRY[i], large["p"][i], None))
    return {
        "mtry_numbers": numbers,
        "mtry_table": table(head, rows),
        "mtry_change": change,
        "mtry_off": off,
        "mtry_verdict": verdict(bool(off < 10 and change["0.1"] < 1.15 < change["0.01"])),
        "mtry_off_p": off_p.max(),
        "mtry_p_verdict": verdict(
            bool(off_p.max() < 0.05) or (None if off_p.iloc[:2].max() < 0.1 else False)
        ),
        "mtry_between": int(
            sum(b < paper < p for b, paper, p in zip(boot["p"], P_MTRY, large["p"], strict=True))
        ),
        "mtry_p_rise": [large["p"].iloc[2], large["p"].iloc[-1]],
    }


def budget(run: Experiment) -> dict[str, Any]:
    """How n_useful depends on the number of runs that are counted."""
    found = {
        name: model.budget(data, run.single(data)[:, 3].reshape(-1, data.n_target))
        for name, data in run.sets.items()
    }
    run.save("n_useful_by_runs", stacked(found))
    run.draw("n_useful_by_runs", figures.plot_budget(found))
    rows = [
        (name, runs, f"{row.n_useful:.0f}", f"{row.J:.3f}", or_none(row.p), f"{row.plateau:.3f}")
        for name, frame in found.items()
        for runs, row in zip(frame.index, frame.itertuples(), strict=True)
    ]
    head = ["", "runs M", "n_useful", "J of single forests", "p", "J of large ensembles"]
    return {"budget_table": table(head, rows), "budget": found}
