"""Regenerate the results of Bommert and Rahnenführer (2020), next to what the paper reports.

python experiments/bommert2020.py                # some 20 minutes of CPU time
python experiments/bommert2020.py --report-only  # what has been computed so far
python experiments/bommert2020.py --quick        # a look, in a temporary folder: a minute
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from _bommert_artificial import GROUP, NAMES, SMA, THRESHOLD, artificial, stability
from _bommert_definitions import definitions
from _bommert_selectors import (
    DATA,
    FILTERS,
    MODELS,
    MOST_STEPS,
    TREES,
    half_of,
    select,
    similarity_of,
)
from _cells import Cell, Cells
from _common import arguments, table, verdict, write
from _figures import plot_correlations, plot_times, save_figure, use_look

import mainstay as ms

MONTE_CARLO = {"tolerance": 1e-3, "max_draws": 10_000}  # 10,000 is the paper's N
QUICK = {"tolerance": 1e-2, "max_draws": 500}
FIG_3 = "mean of the paper's sets (Fig. 3)"
INNER = ", without all and nothing"
ALIKE = 0.95  # correlation from which we call values "almost identical", or "very similar"
MUCH = 0.2  # difference of two correlations that we call "much"
MUCH_LONGER = 5  # factor of two run times that we call "much"
MINUTE = 60  # seconds: what we call too long
LARGE = 2000  # features: dilbert and arcene, which the paper has and we have not, are above
AUTHORS = {"lsvt": 307, "dilbert": 2700, "arcene": 9961}  # features, in the labels of their code
AUTHORS_REPLICATIONS = 200
N_PAIRS = len(FILTERS) * len(MODELS)
REPLICATIONS = {True: 40, False: 1}  # of every pair of filter and model; is the set in the paper?


# ---------------------------------------------------------------------- real feature sets


def warm_up() -> None:
    """Load and compile all that a call needs, so that run times do not count it."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(50, 20)), 3, axis=1) + rng.normal(size=(50, 60)) / 5
    similarity = ms.FeatureSimilarity.from_data(X, threshold=THRESHOLD)
    runs = ms.Runs.from_support(rng.random((3, 60)) < 0.3)
    for measure in NAMES:
        stability(runs, measure, similarity, random_state=0, max_draws=200)


def evaluate(cell: Cell, limits: dict[str, Any], seed: int) -> dict[str, Any]:
    """All measures of one setting, with the CPU seconds of every call.

    Cell = data, model, filter, replication. As in the authors' code a pair of sets for which a
    measure is undefined, such as two empty ones, counts 0.
    """
    warm_up()
    support, drawn = select(*cell[:3], int(cell[3]), seed)
    runs, similarity = ms.Runs.from_support(support), similarity_of(cell[0], seed, THRESHOLD)
    result: dict[str, Any] = {"drawn": drawn, "size": float(runs.sizes.mean())}
    result["distinct sizes"] = len(np.unique(runs.sizes))
    result["empty"] = bool(runs.sizes.max() == 0)
    result["all"] = bool(runs.sizes.min() == runs.n_features)
    for measure, name in NAMES.items():
        start = time.process_time()
        found = stability(runs, measure, similarity, 0.0, random_state=seed, **limits)
        result |= {f"seconds {name}": time.process_time() - start, name: float(found.value)}
        result[f"draws {name}"] = found.n_draws
        result[f"error {name}"] = found.chance_standard_error
    return result


def planned(quick: bool) -> dict[str, int]:
    """Replications by data set; a quick look leaves out the wide set, which is not the paper's."""
    if quick:
        return {name: 1 for name, (_, in_paper) in DATA.items() if in_paper}
    return {name: REPLICATIONS[in_paper] for name, (_, in_paper) in DATA.items()}


def experiment(options: argparse.Namespace) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Select and evaluate by random settings: the results, and the data sets."""
    plan = planned(options.quick)
    wanted = [
        (name, model, how, str(i))
        for in_paper in (True, False)  # the other set, which is costly, last
        for i in range(max(plan.values()))
        for name in plan
        if DATA[name][1] == in_paper and i < plan[name]
        for how in FILTERS
        for model in MODELS
    ]
    store = Cells(options, "bommert2020", "settings")
    limits = QUICK if options.quick else MONTE_CARLO
    store.compute(wanted, partial(evaluate, limits=limits, seed=options.seed))
    store.pack()
    results = store.table(wanted, ["data", "model", "filter", "replication"])
    sets = []
    for name in dict.fromkeys(results["data"]):
        X, _, _ = half_of(name, options.seed)
        similarity, own = similarity_of(name, options.seed, THRESHOLD), results["data"] == name
        sets.append(
            {
                "data": name,
                "in the paper": "yes" if DATA[name][1] else "**no**",
                "n (half)": X.shape[0],
                "p": X.shape[1],
                "similar features": int((similarity.degrees > 0).sum()),
                "similar pairs": similarity.graph.nnz // 2,
                "settings": int(own.sum()),
                "planned": plan[name] * N_PAIRS,
                "all features always": int(results.loc[own, "all"].sum()),
                "none ever": int(results.loc[own, "empty"].sum()),
            }
        )
    return results, pd.DataFrame(sets).set_index("data")


def not_run(plan: dict[str, int], results: pd.DataFrame) -> str:
    """Say which of the planned settings have not been run."""
    have = results["data"].value_counts()
    left = {name: count * N_PAIRS - have.get(name, 0) for name, count in plan.items()}
    parts = [f"{n} of {plan[name] * N_PAIRS} settings of {name}" for name, n in left.items() if n]
    return f" Planned and not run yet: {', '.join(parts)}." if parts else ""


def costs(plan: dict[str, int], results: pd.DataFrame) -> dict[str, Any]:
    """CPU minutes: of the settings at hand, of all that are planned, of as many as the authors'."""
    minutes = results.groupby("data")["seconds"].agg(["sum", "mean"]) / 60
    of_pair = {name: minutes.loc[name, "mean"] * N_PAIRS for name in minutes.index}
    papers = [name for name in of_pair if DATA[name][1]]
    return {
        "cost": minutes["sum"].sum(),
        "full_cost": sum(plan[name] * of_pair[name] for name in of_pair),
        "authors_cost": AUTHORS_REPLICATIONS * sum(of_pair[name] for name in papers),
    }


def mean_correlation(results: pd.DataFrame, sets: Any) -> pd.DataFrame:
    """Correlate the measures over settings, averaged over data sets (Fig. 3)."""
    names = list(NAMES.values())
    chosen = results[results["data"].isin(sets)]
    return sum(part[names].corr() for _, part in chosen.groupby("data")) / len(sets)


def summarised(r: pd.DataFrame) -> dict[str, float]:
    """What a table of correlations says of SMZ, SMU, the group and the four SMA."""
    smz, smu = (r[name].drop(name).mean() for name in ("SMZ", "SMU"))
    of_group, of_smz = r.loc["SMU", GROUP].mean(), r.loc["SMU", "SMZ"]
    return {
        "SMZ and others": smz,
        "SMU and others": smu,
        "SMU − SMZ": smu - smz,
        "least within group": r.loc[GROUP, GROUP].min().min(),
        "least within SMA": r.loc[SMA, SMA].min().min(),
        "SMU and group": of_group,
        "SMU and SMZ": of_smz,
        "group − SMZ": of_group - of_smz,
    }


def standard_errors(results: pd.DataFrame, sets: list[str], seed: int) -> pd.Series:
    """Standard errors of what is said of mean correlations: 200 times settings are drawn again."""
    rng = np.random.default_rng(seed)
    parts = [results.loc[results["data"] == d, list(NAMES.values())] for d in sets]
    found = []
    for _ in range(200):
        drawn = [part.iloc[rng.integers(len(part), size=len(part))] for part in parts]
        found.append(summarised(sum(part.corr() for part in drawn) / len(drawn)))
    return pd.DataFrame(found).std()


def odd_one_out(r: pd.DataFrame, clear: bool) -> str:
    """The measure with the smallest mean correlation with the others.

    Both of SMU and SMZ if it is one of them, and their difference is not clear.
    """
    odd = str(r.mean().idxmin())
    return odd if clear or odd not in ("SMU", "SMZ") else "SMU or SMZ"


def counted(chosen: list[str], all_of: list[str]) -> str:
    """Say how many, and which."""
    names = f" ({', '.join(chosen)})" if chosen else ""
    return f"{len(chosen)} of {len(all_of)} data sets{names}"


def agreement(
    results: pd.DataFrame,
    drawn: pd.DataFrame,
    sets: pd.DataFrame,
    artificial_r: dict[str, float],
    options: argparse.Namespace,
) -> dict[str, Any]:
    """Fig. 3: which measures agree, over all settings and over those `drawn` from something.

    `artificial_r` is what the artificial example gives: the mean correlation of SMU with the group,
    and the smallest one within the SMA.
    """
    names, data = list(NAMES.values()), list(sets.index)
    papers = [d for d in data if DATA[d][1]]
    parts = {d: (results, [d]) for d in data} | {f"{d}{INNER}": (drawn, [d]) for d in papers}
    parts |= {FIG_3: (results, papers), f"{FIG_3}{INNER}": (drawn, papers)}
    correlations = {name: mean_correlation(*part) for name, part in parts.items()}
    mean = correlations[FIG_3]
    save_figure(plot_correlations(mean), options.output, "bommert2020_correlations.png")
    summary = pd.DataFrame({name: summarised(r) for name, r in correlations.items()}).T
    errors = pd.DataFrame(
        {name: standard_errors(*part, options.seed) for name, part in parts.items()}
    ).T
    text = summary.map("{:.3f}".format) + " ± " + errors.map("{:.3f}".format)
    clear = summary.abs() > 2 * errors
    odd = {
        name: odd_one_out(r, bool(clear.loc[name, "SMU − SMZ"])) for name, r in correlations.items()
    }
    odd_on = [d for d in papers if odd[d] == "SMZ"]
    apart = summary["group − SMZ"]
    closer = [d for d in papers if apart[d] > 0 and clear.loc[d, "group − SMZ"]]
    overall, inner = summary.loc[FIG_3], summary.loc[f"{FIG_3}{INNER}"]
    share = sets["similar features"] / sets["p"]
    gain = {bool(r["SMU and group"] - artificial_r["SMU"] > MUCH) for r in (overall, inner)}
    least_sma = summary["least within SMA"]
    return {
        "papers": " and ".join(papers),
        "correlation_table": table(
            ["", *names], [(n, *mean.loc[n].map("{:.3f}".format)) for n in names]
        ),
        "summary_table": table(
            ["", "settings", "odd one out", *text],
            [
                (name, int(part["data"].isin(chosen).sum()), odd[name], *text.loc[name])
                for name, (part, chosen) in parts.items()
            ],
        ),
        "smz_verdict": verdict(
            len(odd_on) == len(papers) or (None if odd_on or odd[FIG_3] == "SMZ" else False)
        ),
        "overall": text.loc[FIG_3].to_dict(),
        "inner": text.loc[f"{FIG_3}{INNER}"].to_dict(),
        "odd_mean": odd[FIG_3],
        "odd_by_set": "; ".join(f"{d} {odd[d]} ({text.loc[d, 'SMU − SMZ']})" for d in papers),
        "odd_inside": "; ".join(
            f"{d} {odd[d + INNER]} ({text.loc[d + INNER, 'SMU − SMZ']})" for d in papers
        ),
        "alike": ALIKE,
        "group_verdict": verdict(bool(overall["least within group"] > ALIKE)),
        "least_in_group": text.loc[summary.loc[papers, "least within group"].idxmin()][
            "least within group"
        ],
        "smu_real_verdict": verdict(len(closer) == len(papers) or (None if closer else False)),
        "closer": counted(closer, papers),
        "smu_group": "; ".join(
            f"{d} {text.loc[d, 'SMU and group']}, {share[d]:.0%}" for d in papers
        ),
        "much": MUCH,
        "fewer_verdict": verdict(gain.pop() if len(gain) == 1 else None),
        "four_verdict": verdict(
            bool(min(artificial_r["SMA"], *least_sma.loc[[FIG_3, *papers]]) > ALIKE)
        ),
        "least_sma": "; ".join(f"{d} {text.loc[d, 'least within SMA']}" for d in papers),
        "least_sma_inside": "; ".join(
            f"{d} {text.loc[d + INNER, 'least within SMA']}" for d in papers
        ),
    }


def real(options: argparse.Namespace, artificial_r: dict[str, float]) -> dict[str, Any]:
    """Section 3.2: selections on real data (Figs. 3 and 4), beside the artificial example."""
    results, sets = experiment(options)
    plan = planned(options.quick)
    by_data = results.groupby("data", sort=False)
    sets["mean sizes"] = by_data["size"].agg(lambda x: f"{x.min():.0f} to {x.max():.0f}")
    drawn = results[~results["all"] & ~results["empty"]]
    save_figure(plot_times(drawn, sets), options.output, "bommert2020_times.png")
    values = times(drawn, sets) | costs(plan, results)
    values |= agreement(results, drawn, sets, artificial_r, options)
    return values | {
        "n_pairs_of_selectors": N_PAIRS,
        "authors_settings": AUTHORS_REPLICATIONS * N_PAIRS,
        "authors_replications": AUTHORS_REPLICATIONS,
        "most_trees": max(TREES),
        "most_steps": MOST_STEPS,
        "n_settings": len(results),
        "not_run": not_run(plan, results),
        "data_table": table(["", *sets], sets.reset_index().to_numpy()),
    }


def quickest(slower: list[str], data: list[str]) -> dict[str, str]:
    """Are SMY and SMA-Count the quickest "for all data sets"? Only SMA-Count can be judged.

    `slower` has the data sets on which the three other SMA are slower than SMA-Count.
    """
    holds = len(slower) == len(data)
    return {
        "quick_verdict": verdict(None if holds else False),
        "quick_half": "holds" if holds else "fails",
    }


def times(results: pd.DataFrame, sets: pd.DataFrame) -> dict[str, Any]:
    """Fig. 4: CPU seconds per call, of the settings for which there is something to compute."""
    names, data = list(NAMES.values()), list(sets.index)
    by_data = results.groupby("data", sort=False)
    columns = [f"seconds {name}" for name in names]
    seconds = by_data[columns].median().set_axis(names, axis=1)
    slowest = by_data[columns].max().set_axis(names, axis=1)
    ratio = seconds.div(seconds["SMA-Count"], axis=0)[SMA[1:]]
    slower = [d for d in data if ratio.loc[d].min() > 1]
    much_slower = [d for d in data if ratio.loc[d].min() > MUCH_LONGER]
    most = len(data) / 2
    quicker = results[[f"seconds {name}" for name in SMA[1:]]].gt(
        results["seconds SMA-Count"], axis=0
    )
    exact = results[[f"draws {name}" for name in SMA]].min().min() == 0
    dearer = seconds[GROUP].div(seconds[["SMU", "SMZ"]].max(axis=1), axis=0)
    much_dearer = [name for name in GROUP if dearer[name].min() > MUCH_LONGER]
    late = [f"seconds {name}" for name in SMA[1:]]
    by_sizes = results[late].max(axis=1).groupby([results["data"], results["distinct sizes"] > 1])
    wide = results.loc[results["data"].map(sets["p"]) > LARGE, late].max(axis=1).nlargest()
    return {
        "tolerance": MONTE_CARLO["tolerance"],
        "max_draws": MONTE_CARLO["max_draws"],
        "draws": results[[f"draws {name}" for name in SMA]].median().median(),
        "error": results[[f"error {name}" for name in SMA]].max().max(),
        "n_timed": len(results),
        "times_table": table(
            ["", *names],
            [
                (d, *[f"{seconds.loc[d, n]:.3f} ({slowest.loc[d, n]:.2f})" for n in names])
                for d in data
            ],
        ),
        "cheap": slowest[["SMU", "SMZ"]].max().max(),
        "cheap_verdict": verdict(slowest[["SMU", "SMZ"]].max().max() < 1),
        **quickest(slower, data),
        "quicker": "; ".join(
            f"{d} {', '.join(f'{x:.0%}' for x in part.mean())}"
            for d, part in quicker.groupby(results["data"], sort=False)
        ),
        "all_simulated": "some are exact" if exact else "all are simulated in every setting",
        "dearer_verdict": verdict(
            len(much_dearer) == len(GROUP) or (None if much_dearer else False)
        ),
        "much_dearer": ", ".join(much_dearer) or "none",
        "dearer": listed(dearer),
        "much_longer": MUCH_LONGER,
        "slow_verdict": verdict(len(slower) > most and (len(much_slower) > most or None)),
        "slower": counted(slower, data),
        "much_slower": counted(much_slower, data),
        "ratios": listed(ratio),
        "large": LARGE,
        "n_wide": int((results["data"].map(sets["p"]) > LARGE).sum()),
        "n_too_long": int((wide > MINUTE).sum()),
        "longest": ", ".join(f"{x:.1f}" for x in wide.iloc[:2]) or "–",
        "wide_sets": ", ".join(d for d in data if sets.loc[d, "p"] > LARGE) or "no set",
        "authors_p": ", ".join(f"{name} {p:,}" for name, p in AUTHORS.items()),
        "by_sizes": "; ".join(
            f"{d}, {'different' if varied else 'equal'} sizes {x:.2f} s"
            for (d, varied), x in by_sizes.median().items()
        ),
    }


def listed(factors: pd.DataFrame) -> str:
    """Write one factor per measure, data set by data set."""
    return "; ".join(f"{d} {', '.join(row.map('{:.1f}'.format))}" for d, row in factors.iterrows())


def main() -> None:
    """Regenerate all results."""
    options = arguments(__doc__, cache=True, resumable=True)
    use_look()
    values = artificial(options) | definitions(options.seed)
    known = {"SMU": values["smu_group_artificial"], "SMA": values["least_alike_artificial"]}
    write("bommert2020.md", options, values | real(options, known))


if __name__ == "__main__":
    main()
