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
from _common import arguments, log, table, verdict, write
from _figures import plot_correlations, plot_pairs, plot_times, save_figure, use_look

import mainstay as ms

NAMES = {
    "zucknick": "SMZ",
    "unadjusted": "SMU",
    "yu": "SMY",
    "sma_count": "SMA-Count",
    "sma_mean": "SMA-Mean",
    "sma_greedy": "SMA-Greedy",
    "sma_mbm": "SMA-MBM",
}
SMA = ["SMA-Count", "SMA-Mean", "SMA-Greedy", "SMA-MBM"]
GROUP = ["SMY", *SMA]  # corrected for chance and adjusted for similar features
THRESHOLD = 0.9
MONTE_CARLO = {"tolerance": 1e-3, "max_draws": 10_000}  # 10,000 is the paper's N
QUICK = {"tolerance": 1e-2, "max_draws": 500}
MARGIN = 0.05
FIG_3 = "mean of the paper's sets (Fig. 3)"
GAPS = ("SMY > SMA-Count + 0.05", "within 0.05", "SMY < SMA-Count − 0.05")
MUCH = 0.2  # difference of two correlations that we call "much"
MUCH_LONGER = 5  # factor of two run times that we call "much"
MINUTE = 60  # seconds: what we call too long
LARGE = 2000  # features: dilbert and arcene, which the paper has and we have not, are above
AUTHORS = {"lsvt": 307, "dilbert": 2700, "arcene": 9961}  # features, in the labels of their code
AUTHORS_REPLICATIONS = 200
N_PAIRS = len(FILTERS) * len(MODELS)
REPLICATIONS = {True: 40, False: 1}  # of every pair of filter and model; is the set in the paper?


def stability(
    runs: ms.Runs,
    measure: str,
    similarity: ms.FeatureSimilarity,
    undefined: Any = "nan",
    **options: Any,
) -> Any:
    """Call ms.stability, with the similarity only where the measure reads it."""
    if measure != "unadjusted":
        options["similarity"] = similarity
    return ms.stability(runs, measure, undefined=undefined, **options)


# ---------------------------------------------------------------------- artificial feature sets


def figure1_similarity() -> ms.FeatureSimilarity:
    """Seven features in three groups of similar ones (Fig. 1 of the paper)."""
    matrix = np.full((7, 7), 0.1)
    for group in ([0, 1, 2], [3, 4], [5, 6]):
        matrix[np.ix_(group, group)] = 0.95
    np.fill_diagonal(matrix, 1.0)
    return ms.FeatureSimilarity.from_matrix(matrix, THRESHOLD)


def all_pairs(measure: str, correction: str | None = None) -> np.ndarray:
    """Score all 128 × 128 pairs of subsets of the seven features."""
    similarity = figure1_similarity()
    subsets = (np.arange(128)[:, None] >> np.arange(7)) & 1
    as_published = "auto" if measure in ("zucknick", "unadjusted") else "exact"
    options = {"similarity": similarity, "correction": correction or as_published}
    pairs = stability(ms.Runs.from_support(subsets), measure, **options).pairwise.copy()
    for i, subset in enumerate(subsets):  # a set with itself: not a pair of different runs
        pairs[i, i] = stability(ms.Runs.from_support([subset, subset]), measure, **options).value
    return pairs


def artificial(options: argparse.Namespace) -> dict[str, Any]:
    """Section 3.1: all pairs of subsets of seven features (Figs. 1 and 2)."""
    log("all pairs of subsets of seven features")
    values = pd.DataFrame({name: all_pairs(measure).ravel() for measure, name in NAMES.items()})
    defined = values.dropna()
    save_figure(plot_pairs(defined), options.output, "bommert2020_pairs.png")
    correlation = defined.corr()

    def compare(some: list[str], others: list[str]) -> dict[str, float]:
        pairs = [(a, b) for a in some for b in others if a != b]
        apart = [(defined[a] - defined[b]).abs() for a, b in pairs]
        r = [correlation.loc[pair] for pair in pairs]
        mean, largest = max(x.mean() for x in apart), max(x.max() for x in apart)
        return {"low": min(r), "high": max(r), "mean": mean, "max": largest}

    matchings = ["SMA-Count", "SMA-Greedy", "SMA-MBM"]
    groups = {
        "SMA-Count, SMA-Greedy, SMA-MBM": compare(matchings, matchings),
        "SMA-Mean and the other SMA": compare(["SMA-Mean"], matchings),
        "SMY and the SMA": compare(["SMY"], SMA),
        "SMU and the group SMY, SMA": compare(["SMU"], GROUP),
        "SMZ and all others": compare(["SMZ"], ["SMU", *GROUP]),
    }
    same, mean, smy, smu, smz = groups.values()
    gap = defined["SMY"] - defined["SMA-Count"]
    largest = defined[GROUP].max(axis=1)
    bins = pd.cut(largest, [-np.inf, 0, 0.5, 1 - 1e-9, np.inf], right=False)
    labels = ("below 0", "0 to 0.5", "0.5 to 1", "1")
    gaps = [
        (label, len(part), *[f"{share:.1%}" for share in shares(part)])
        for label, (_, part) in zip(labels, gap.groupby(bins, observed=True), strict=True)
    ]
    large = shares(gap[largest >= 0.5])
    # without correction SMY − SMA-Count = |A(V₁,V₂) − A(V₂,V₁)|/2
    uneven = (all_pairs("yu", "none") - all_pairs("sma_count", "none")).ravel()[defined.index] > 0
    crowded = uneven[((largest >= 0.5) & (gap > MARGIN)).to_numpy()].mean()
    return {
        "n_pairs": len(values),
        "n_defined": len(defined),
        "undefined_table": table(["", *values], [("undefined", *values.isna().sum())]),
        "groups_table": table(
            ["", "correlations", "largest mean difference", "largest difference"],
            [
                (k, "{low:.4f} to {high:.4f}".format(**v), f"{v['mean']:.4f}", f"{v['max']:.4f}")
                for k, v in groups.items()
            ],
        ),
        "within": correlation.loc[GROUP, GROUP].min().min(),
        "smu_group_artificial": correlation.loc["SMU", GROUP].mean(),
        "smu": smu,
        "smz": smz,
        "smy": smy,
        "sma_mean": mean,
        "same_max": same["max"],
        "far_verdict": verdict(max(smu["high"], smz["high"]) < 0.9),
        "sma_verdict": verdict(mean["low"] > 0.99 and mean["mean"] < 0.05),
        "smy_verdict": verdict(smy["low"] > 0.9),
        "gap_verdict": verdict(
            (None if large[0] < 0.25 else True) if large[0] > large[2] else False
        ),
        "gaps_table": table(["largest of SMY, SMA", "pairs", *GAPS], gaps),
        "margin": MARGIN,
        "large_above": large[0],
        "large_below": large[2],
        "crowded_verdict": verdict(crowded > 0.99),
        "crowded": crowded,
    }


def shares(gap: pd.Series) -> tuple[float, float, float]:
    """Return how often SMY is well above, near and well below SMA-Count."""
    return (gap > MARGIN).mean(), (gap.abs() <= MARGIN).mean(), (gap < -MARGIN).mean()


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


def summarised(r: pd.DataFrame) -> dict[str, Any]:
    """What a table of correlations says of SMZ, SMU and the group."""
    return {
        "odd one out": r.mean().idxmin(),
        "SMZ and others": r["SMZ"].drop("SMZ").mean(),
        "SMU and others": r["SMU"].drop("SMU").mean(),
        "least within group": r.loc[GROUP, GROUP].min().min(),
        "SMU and group": r.loc["SMU", GROUP].mean(),
        "SMU and SMZ": r.loc["SMU", "SMZ"],
    }


def standard_errors(results: pd.DataFrame, papers: list[str], seed: int) -> pd.Series:
    """Standard errors of what is said of the mean correlations: settings are drawn again."""
    rng = np.random.default_rng(seed)
    parts = [results.loc[results["data"] == d, list(NAMES.values())] for d in papers]
    found = []
    for _ in range(200):
        drawn = [part.iloc[rng.integers(len(part), size=len(part))] for part in parts]
        mean = sum(part.corr() for part in drawn) / len(drawn)
        found.append(list(summarised(mean).values())[1:])
    return pd.DataFrame(found).std()


def counted(chosen: list[str], all_of: list[str]) -> str:
    """Say how many, and which."""
    names = f" ({', '.join(chosen)})" if chosen else ""
    return f"{len(chosen)} of {len(all_of)} data sets{names}"


def real(options: argparse.Namespace, artificial_smu: float) -> dict[str, Any]:
    """Section 3.2: selections on real data (Figs. 3 and 4).

    `artificial_smu` is the mean correlation of SMU with the group in the artificial example.
    """
    results, sets = experiment(options)
    plan = planned(options.quick)
    names, data = list(NAMES.values()), list(sets.index)
    papers = [d for d in data if DATA[d][1]]
    by_data = results.groupby("data", sort=False)
    sets["mean sizes"] = by_data["size"].agg(lambda x: f"{x.min():.0f} to {x.max():.0f}")
    drawn = results[~results["all"] & ~results["empty"]]
    save_figure(plot_times(drawn, sets), options.output, "bommert2020_times.png")

    correlations = {d: part[names].corr() for d, part in by_data}
    mean = mean_correlation(results, papers)
    correlations[FIG_3] = mean
    correlations["the same, without all and nothing"] = mean_correlation(drawn, papers)
    save_figure(plot_correlations(mean), options.output, "bommert2020_correlations.png")
    summary = pd.DataFrame({d: summarised(r) for d, r in correlations.items()}).T
    overall, inner = summary.loc[FIG_3], summary.iloc[-1]
    errors = standard_errors(results, papers, options.seed)
    odd_on = [d for d in papers if summary.loc[d, "odd one out"] == "SMZ"]
    closer = [d for d in papers if summary.loc[d, "SMU and group"] > summary.loc[d, "SMU and SMZ"]]
    share = sets["similar features"] / sets["p"]
    gain = {bool(r["SMU and group"] - artificial_smu > MUCH) for r in (overall, inner)}
    values = times(drawn, sets) | costs(plan, results)
    return values | {
        "n_pairs_of_selectors": N_PAIRS,
        "authors_settings": AUTHORS_REPLICATIONS * N_PAIRS,
        "authors_replications": AUTHORS_REPLICATIONS,
        "most_trees": max(TREES),
        "most_steps": MOST_STEPS,
        "n_settings": len(results),
        "not_run": not_run(plan, results),
        "data_table": table(["", *sets], sets.reset_index().to_numpy()),
        "papers": " and ".join(papers),
        "correlation_table": table(
            ["", *names], [(n, *mean.loc[n].map("{:.3f}".format)) for n in names]
        ),
        "summary_table": table(
            ["", *summary],
            [
                *((d, r.iloc[0], *r.iloc[1:].map("{:.3f}".format)) for d, r in summary.iterrows()),
                ("standard error of Fig. 3", "", *errors.map("{:.3f}".format)),
            ],
        ),
        "smz_verdict": verdict(
            overall["odd one out"] == "SMZ" and (len(odd_on) == len(papers) or None)
        ),
        "overall": overall.to_dict(),
        "inner": inner.to_dict(),
        "odd_on": counted(odd_on, papers),
        "group_verdict": verdict(overall["least within group"] > 0.95),
        "least_in_group": summary.loc[papers, "least within group"].min(),
        "smu_real_verdict": verdict(
            overall["SMU and group"] > overall["SMU and SMZ"]
            and (len(closer) == len(papers) or None)
        ),
        "closer": counted(closer, papers),
        "smu_group": ", ".join(
            f"{d} {summary.loc[d, 'SMU and group']:.3f} ({share[d]:.0%})" for d in papers
        ),
        "much": MUCH,
        "fewer_verdict": verdict(gain.pop() if len(gain) == 1 else None),
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
    quickest = [d for d in data if set(seconds.loc[d, GROUP].nsmallest(2).index) == set(GROUP[:2])]
    dearer = seconds[GROUP].div(seconds[["SMU", "SMZ"]].max(axis=1), axis=0)
    much_dearer = [name for name in GROUP if dearer[name].min() > MUCH_LONGER]
    late = [f"seconds {name}" for name in SMA[1:]]
    slow = results.loc[results[late].max(axis=1).idxmax()]
    longest = slow[late].max()
    by_sizes = results[late].max(axis=1).groupby([results["data"], results["distinct sizes"] > 1])
    wide = results["data"].map(sets["p"]) > LARGE
    too_long = results.loc[wide, late].max(axis=1) > MINUTE
    unacceptable = None if 0 < too_long.mean() <= 0.5 else bool(too_long.mean() > 0.5)
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
        "quick_verdict": verdict(len(quickest) == len(data) or (None if quickest else False)),
        "quickest": counted(quickest, data),
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
        "large_verdict": verdict(unacceptable) if wide.any() else "Not judged.",
        "large": LARGE,
        "too_long": f"{too_long.sum()} of {len(too_long)}",
        "longest": longest,
        "slowest_data": slow["data"],
        "slowest_size": slow["size"],
        "slowest_p": sets.loc[slow["data"], "p"],
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
    values = artificial(options)
    write("bommert2020.md", options, values | real(options, values["smu_group_artificial"]))


if __name__ == "__main__":
    main()
