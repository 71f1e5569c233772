"""What salman2022 says of its figures, and whether our numbers say so too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from _common import table, verdict
from _salman_data import BROKEN, FILTERS, RULES, SETS, SINGLE
from _salman_figures import LOOK
from _significance import bonferroni_pairs, repeated_measures_anova, written_pairs
from scipy.stats import f_oneway, friedmanchisquare

from mainstay.comparison.significance import corrected_t_test, holm

MEAN = "arithmetic mean"


def filled(values: pd.DataFrame, mean: bool = True, names: Any = None) -> str:
    """Write a table of numbers with three digits, the last row their mean."""
    rows = [((names or {}).get(k, k), *[f"{x:.3f}" for x in v]) for k, v in values.iterrows()]
    if mean:
        rows.append(("**mean**", *[f"{x:.3f}" for x in values.mean()]))
    return table(["", *values], rows)


def accuracy_claims(every: pd.DataFrame, mean: pd.Series) -> dict[str, Any]:
    """What the paper says of Figs. 3 to 14; `every` has the splits, `mean` their mean."""
    below = mean[mean.index.get_level_values("tenth") < 10]
    shown = [*RULES, SINGLE]
    by = below.groupby(["filter", "rule"]).mean().unstack()[shown].loc[list(FILTERS)]
    by_set = below.groupby(["data", "rule"]).mean().unstack()[shown]
    by_set = by_set.loc[[name for name in SETS if name in by_set.index]]
    curves = mean.unstack("tenth").loc[pd.IndexSlice[:, :, list(RULES)], :]
    gain = curves.loc[:, :9].max(axis=1) - curves[10]
    spread = mean.unstack("rule")[list(RULES)].agg(np.ptp, axis=1).groupby("tenth").mean()
    drop = (curves.max(axis=1) - curves[1]).groupby("data").mean()
    places = below.unstack("rule")[list(RULES)].groupby(["data", "filter"]).mean()
    rank = places.rank(axis=1, ascending=False)
    middle = by_set[list(RULES)].round(6).rank(axis=1, ascending=False, method="min").le(3)
    both = middle[[MEAN, "L2 norm"]].all(axis=1)
    best = by_set[list(RULES)].agg(np.ptp, axis=1)
    return _accuracy_tests(every, places) | {
        "accuracy_by_filter": filled(by, names=FILTERS),
        "accuracy_by_set": filled(by_set),
        "gain": verdict(bool((gain > 0).mean() > 0.8)),
        "gain_share": f"{(gain > 0).sum()} of {len(gain)}",
        "gain_mean": 100 * gain.mean(),
        "spread": spread.mul(100).to_dict(),
        "spread_verdict": verdict(bool(spread[1] > spread[5] > spread[9])),
        "drop": ", ".join(f"{d} {100 * drop[d]:.1f}" for d in by_set.index),
        "drop_verdict": verdict(None if drop.min() < 0.02 < drop.max() else drop.min() > 0.02),
        "places": ", ".join(f"{r} {rank[r].mean():.2f}" for r in RULES),
        "middle_verdict": verdict(
            both.mean() > 0.9 if both.mean() > 0.9 or both.mean() < 0.5 else None
        ),
        "middle": f"{both.sum()} of {len(both)}",
        "range": f"{100 * best.min():.2f} to {100 * best.max():.2f}",
    }


def _accuracy_tests(every: pd.DataFrame, places: pd.DataFrame) -> dict[str, Any]:
    """Do the rules differ? Over data sets as in the paper, and over the splits of each data set."""
    by_filter = {f: places.xs(f, level="filter") for f in FILTERS}
    friedman = {f: friedmanchisquare(*part.T.to_numpy()).pvalue for f, part in by_filter.items()}
    anova = {f: repeated_measures_anova(part)[1] for f, part in by_filter.items()}
    pairs = {f: bonferroni_pairs(part) for f, part in by_filter.items()}
    all_pairs = bonferroni_pairs(places)
    significant = sum(anova[f] < 0.05 for f in ("information_gain", "mrmr"))
    return {
        "friedman": ", ".join(f"{FILTERS[f]} {p:.3f}" for f, p in friedman.items()),
        "anova": ", ".join(f"{FILTERS[f]} {p:.3f}" for f, p in anova.items()),
        "accuracy_anova_verdict": verdict({0: False, 2: True}.get(significant)),
        "pairs": "; ".join(f"{FILTERS[f]}: {written_pairs(p)}" for f, p in pairs.items()),
        "gm_p": all_pairs[MEAN, "geometric mean"],
        "l2_p": all_pairs[MEAN, "L2 norm"],
        "gm_verdict": verdict(bool(all_pairs[MEAN, "geometric mean"] < 0.05)),
        "l2_verdict": verdict(bool(all_pairs[MEAN, "L2 norm"] > 0.05)),
        "gm_difference": 100 * (places["geometric mean"] - places[MEAN]).mean(),
        "splits_test": _over_splits(every),
    }


def _over_splits(every: pd.DataFrame) -> str:
    """Corrected resampled t-tests of every rule against the arithmetic mean, by set and filter."""
    below = every[every["tenth"] < 10]
    by = below.groupby(["data", "filter", "split", "rule"])["accuracy"].mean().unstack("rule")
    p_values = [
        corrected_t_test(part[MEAN].to_numpy(), part[rule].to_numpy(), 0.5).p_value
        for _, part in by.groupby(["data", "filter"])
        for rule in RULES[1:]
        if len(part) > 1
    ]
    small, after = np.sum(np.array(p_values) < 0.05), np.sum(holm(p_values) < 0.05)
    return (
        f"{small} of {len(p_values)} have p < 0.05 ({0.05 * len(p_values):.1f} would by luck), "
        f"{after} after Holm's correction"
    )


def stability_claims(filter_: str, frame: pd.DataFrame) -> dict[str, Any]:
    """What the paper says of Figs. 15 to 20: with Stuart's Q right, and by the recursion."""
    lowest, lowest_broken, top = 0, 0, 0
    tests: dict[str, list[Any]] = {"anova": [], "broken": [], "repeated": []}
    post_hoc, cases = [], 0
    for what in ("Spearman", "1 − Canberra", "Jaccard"):
        by = frame[what].unstack("rule")
        rules = by[list(RULES)]
        broken = rules.assign(Stuart=by[BROKEN])
        cases += len(rules)
        lowest += int((rules.idxmin(axis=1) == "Stuart").sum())
        lowest_broken += int((broken.idxmin(axis=1) == "Stuart").sum())
        top += int(rules.idxmax(axis=1).isin([MEAN, "L2 norm"]).sum())
        tests["anova"].append(f_oneway(*rules.T.to_numpy()).pvalue)
        tests["broken"].append(f_oneway(*broken.T.to_numpy()).pvalue)
        tests["repeated"].append(repeated_measures_anova(rules)[1])
        post_hoc.append(f"{what}: {written_pairs(bonferroni_pairs(rules))}")
    gaps = frame["Spearman"].unstack("rule")
    gap = gaps.mean()
    return {
        f"{filter_}_lowest": f"{lowest} of {cases}",
        f"{filter_}_lowest_broken": f"{lowest_broken} of {cases}",
        f"{filter_}_lowest_verdict": verdict(lowest == cases),
        f"{filter_}_luck": f"{cases / len(RULES):.0f}",
        f"{filter_}_top": f"{top} of {cases}",
        f"{filter_}_top_verdict": verdict(
            {True: True}.get(top > 0.8 * cases, None if top > cases / 3 else False)
        ),
        f"{filter_}_p": tests["anova"],
        **{f"{filter_}_{k}": ", ".join(f"{x:.2g}" for x in v) for k, v in tests.items()},
        f"{filter_}_post_hoc": "; ".join(post_hoc),
        f"{filter_}_means": ", ".join(f"{rule} {gap[rule]:.3f}" for rule in LOOK),
        f"{filter_}_single": int((gaps[SINGLE] >= gaps[list(RULES)].max(axis=1)).sum()),
    }
