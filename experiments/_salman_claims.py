"""What salman2022 says of accuracy, Figs. 3 to 14, and whether our numbers say so too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from _common import table, verdict
from _salman_data import FILTERS, RULES, SETS, SINGLE
from _salman_errors import (
    MEAN,
    TEST_PER_TRAIN,
    beyond_luck,
    concordance,
    difference_errors,
    luck_p,
    split_errors,
    with_errors,
)
from _salman_paper import FALLS, GOOD_AND_BAD, MRMR_PAIRS
from _significance import bonferroni_pairs, repeated_measures_anova, written_pairs
from scipy.stats import friedmanchisquare

from mainstay.comparison.significance import corrected_standard_error, corrected_t_test, holm

SHOWN = [*RULES, SINGLE]


def accuracy_claims(every: pd.DataFrame, mean: pd.Series) -> dict[str, Any]:
    """What the paper says of Figs. 3 to 14; `every` has the splits, `mean` their mean."""
    below = mean[mean.index.get_level_values("tenth") < 10].unstack("rule")[SHOWN]
    places = below[list(RULES)].groupby(["data", "filter"]).mean()
    return (
        _tables(every, below)
        | gains(every)
        | falls(every)
        | _order(below)
        | _accuracy_tests(every, places)
        | {"accuracy_w": {f: concordance(places.xs(f, level="filter")) for f in FILTERS}}
    )


def _tables(every: pd.DataFrame, below: pd.DataFrame) -> dict[str, str]:
    """Mean accuracy by filter and by data set, with standard errors."""
    cases = below.groupby(["data", "filter"]).mean()
    by = cases.groupby("filter").mean().loc[list(FILTERS)]
    errors = cases.groupby("filter").apply(difference_errors)
    by_set = cases.groupby("data").mean().loc[list(SETS)]
    over_sets = difference_errors(by_set)
    by.loc["mean"], errors.loc["mean"] = by.mean(), over_sets
    set_errors = split_errors(every)
    by_set.loc["mean"], set_errors.loc["mean"] = by_set.mean(), over_sets
    return {
        "accuracy_by_filter": with_errors(by, errors, names=FILTERS),
        "accuracy_by_set": with_errors(by_set, set_errors),
    }


def gains(every: pd.DataFrame) -> dict[str, Any]:
    """Does selection improve on all features? With hindsight, without, and at one half.

    Without hindsight: on every split the threshold is the one that is best on the other splits.
    """
    curves = every[every["rule"].isin(RULES)]
    by = curves.set_index(["data", "filter", "rule", "split", "tenth"])["accuracy"].unstack()
    keys = ["data", "filter", "rule"]
    mean = by.groupby(keys).mean()
    others = (by.groupby(keys).transform("sum") - by).loc[:, :9].to_numpy()
    picked = by.to_numpy()[np.arange(len(by)), others.argmax(axis=1)] - by[10]
    found = pd.DataFrame(
        {
            "best": mean.loc[:, :9].max(axis=1) - mean[10],
            "picked": picked.groupby(keys).mean(),
            "half": mean[5] - mean[10],
        }
    ).mul(100)
    by_set = found.groupby("data").mean()
    middle, error = by_set.mean(), by_set.sem()
    sure = [bool(middle[k] > 2 * error[k]) for k in ("picked", "half")]
    n = len(found)
    return {
        "gain": verdict(True if all(sure) else None if any(sure) else False),
        "gain_share": {k: f"{int((found[k] > 1e-9).sum())} of {n}" for k in found},
        "gain_luck": {"best": f"{0.9 * n:.0f}", "half": f"{n / 2:.0f}"},
        "gain_points": {k: f"{middle[k]:+.1f} ± {error[k]:.1f}" for k in found},
        "gain_sets": {k: f"{int((by_set[k] > 0).sum())} of {len(by_set)}" for k in by_set},
    }


def falls(every: pd.DataFrame) -> dict[str, Any]:
    """Does accuracy fall at the thresholds that the paper names, from its mean above them?"""
    curves = every[every["rule"].isin(RULES)]
    by = 100 * curves.groupby(["data", "split", "tenth"])["accuracy"].mean().unstack()
    rows, clear, unnamed = [], [], []
    for name in SETS:
        last, part = FALLS.get(name, 2), by.loc[name]
        above = part.loc[:, last + 1 :].mean(axis=1)
        lost = part.loc[:, :last].rsub(above, axis=0)
        whole = lost.mean(axis=1).to_numpy()
        error = corrected_standard_error(whole, TEST_PER_TRAIN) if len(whole) > 1 else np.nan
        if (lost.mean() > 0).all() and whole.mean() > 2 * error:
            (clear if name in FALLS else unnamed).append(name)
        shown = [f"{x:.1f}" for x in lost.mean()] + ["–"] * (3 - last)
        named = f"{10 * last}%" if name in FALLS else "not named"
        rows.append(
            (name, named, f"{above.mean():.1f}", *shown, f"{whole.mean():.1f} ± {error:.1f}")
        )
    head = ["", "paper: falls from", "mean accuracy above", "lost at 10%", "at 20%", "at 30%"]
    share = len(clear) / len(FALLS)
    return {
        "fall_table": table([*head, "lost on average"], rows),
        "fall_verdict": verdict(True if share == 1 else None if share > 0.5 else False),
        "fall_clear": f"{len(clear)} of the {len(FALLS)} named sets ({', '.join(clear) or 'none'})",
        "fall_unnamed": ", ".join(unnamed) or "none",
    }


def _order(below: pd.DataFrame) -> dict[str, Any]:
    """Which rules are on top, in the middle, steady?"""
    rules = 100 * below[list(RULES)]
    spread = rules.agg(np.ptp, axis=1).groupby(["data", "tenth"]).mean().unstack("tenth")
    by_set = rules.groupby("data").mean().loc[list(SETS)]
    place = by_set.round(6).rank(axis=1, ascending=False, method="min")
    both = place[[MEAN, "L2 norm"]].le(3).all(axis=1)
    rank = rules.groupby(["data", "filter"]).mean().round(6).rank(axis=1, ascending=False)
    best = by_set.agg(np.ptp, axis=1)
    width = spread.mean()
    n = len(both)
    return {
        "spread": {t: f"{width[t]:.2f} ± {spread[t].sem():.2f}" for t in spread},
        "spread_verdict": verdict(bool(width[1] > width[5] > width[9])),
        "places": ", ".join(f"{r} {rank[r].mean():.2f} ± {rank[r].sem():.2f}" for r in RULES),
        "middle_verdict": verdict(beyond_luck(both.sum(), n, 0.3, all_but=11 / 12)),
        "middle": f"{both.sum()} of {n}",
        "middle_luck": f"{0.3 * n:.1f}",
        "middle_p": luck_p(both.sum(), n, 0.3),
        "range": f"{best.min():.2f} to {best.max():.2f}",
        **_good_and_bad(place),
        **_steadiness(rules),
    }


def _good_and_bad(place: pd.DataFrame) -> dict[str, str]:
    """Is a rule one of the first two where the paper has it good, of the last two where bad?"""
    found = {}
    for rule, key in (("geometric mean", "gm"), ("Stuart", "stuart")):
        right = [
            place.loc[name, rule] <= 2 if kind == "good" else place.loc[name, rule] >= 4
            for name, kind in GOOD_AND_BAD.items()
        ]
        found[f"{key}_sets"] = ", ".join(f"{n} {place.loc[n, rule]:.0f}" for n in GOOD_AND_BAD)
        found[f"{key}_sets_verdict"] = verdict({3: True, 2: None}.get(sum(right), False))
    return found


def _steadiness(rules: pd.DataFrame) -> dict[str, Any]:
    """How far rules go from the mean of all five: over data sets and filters, and within sets."""
    apart = rules.sub(rules.mean(axis=1), axis=0)
    steady = apart.groupby(["data", "filter"]).mean().std()
    rank = steady.rank()[[MEAN, "L2 norm"]].max()
    near = apart.abs().groupby("data").mean()
    closer = near[MEAN] < near["L2 norm"]
    named = ["ionosphere", "satellite"]
    return {
        "steady": ", ".join(f"{r} {steady[r]:.2f}" for r in RULES),
        "steady_verdict": verdict({2.0: True, 3.0: None}.get(rank, False)),
        "closer": f"{closer.sum()} of {len(closer)}",
        "closer_named": ", ".join(
            f"{n} {near.loc[n, MEAN]:.2f} and {near.loc[n, 'L2 norm']:.2f}" for n in named
        ),
        "closer_verdict": verdict({2: True, 1: None, 0: False}[int(closer[named].sum())]),
    }


def _accuracy_tests(every: pd.DataFrame, places: pd.DataFrame) -> dict[str, Any]:
    """Do the rules differ? Over data sets as in the paper, and over the splits of each data set."""
    by_filter = {f: places.xs(f, level="filter") for f in FILTERS}
    friedman = {f: friedmanchisquare(*part.T.to_numpy()).pvalue for f, part in by_filter.items()}
    anova = {f: repeated_measures_anova(part)[1] for f, part in by_filter.items()}
    adjusted = {f: min(1.0, len(FILTERS) * p) for f, p in anova.items()}
    pairs = {f: bonferroni_pairs(part) for f, part in by_filter.items()}
    all_pairs = bonferroni_pairs(places)
    significant = sum(adjusted[f] < 0.05 for f in ("information_gain", "mrmr"))
    differ = sum(pairs["mrmr"][pair] < 0.05 for pair in MRMR_PAIRS)
    gm = 100 * (places["geometric mean"] - places[MEAN]).groupby("data").mean()
    return {
        "friedman": _by_filter(friedman),
        "anova": _by_filter(anova),
        "anova_adjusted": _by_filter(adjusted),
        "accuracy_anova_verdict": verdict({0: False, 2: True}.get(significant)),
        "pairs": "; ".join(f"{FILTERS[f]}: {written_pairs(p)}" for f, p in pairs.items()),
        "rra_p": ", ".join(
            f"{one} {pairs['mrmr'][one, other]:.2g} (paper {paper:g})"
            for (one, other), paper in MRMR_PAIRS.items()
        ),
        "rra_verdict": verdict({0: False, len(MRMR_PAIRS): True}.get(differ)),
        "gm_p": all_pairs[MEAN, "geometric mean"],
        "l2_p": all_pairs[MEAN, "L2 norm"],
        "l2_note": _l2_note(all_pairs, [all_pairs, *pairs.values()]),
        "gm_verdict": verdict(bool(all_pairs[MEAN, "geometric mean"] < 0.05)),
        "gm_difference": f"{gm.mean():+.2f} ± {gm.sem():.2f}",
        "splits_test": _over_splits(every),
    }


def _l2_note(p_values: pd.Series, tests: list[pd.Series]) -> str:
    """That two rules do not differ is worth a verdict only where a test finds some difference."""
    if not any((test < 0.05).any() for test in tests):
        return "(Not judged: no test of pairs here finds a difference.)"
    return verdict(bool(p_values[MEAN, "L2 norm"] > 0.05))


def _by_filter(p_values: dict[str, float]) -> str:
    return ", ".join(f"{FILTERS[f]} {p:.3f}" for f, p in p_values.items())


def _over_splits(every: pd.DataFrame) -> str:
    """Corrected resampled t-tests of every rule against the arithmetic mean, by set and filter."""
    below = every[every["tenth"] < 10]
    by = below.groupby(["data", "filter", "split", "rule"])["accuracy"].mean().unstack("rule")
    p_values = [
        corrected_t_test(part[MEAN].to_numpy(), part[rule].to_numpy(), TEST_PER_TRAIN).p_value
        for _, part in by.groupby(["data", "filter"])
        for rule in RULES[1:]
        if len(part) > 1
    ]
    small, after = np.sum(np.array(p_values) < 0.05), np.sum(holm(p_values) < 0.05)
    return (
        f"{small} of {len(p_values)} have p < 0.05 ({0.05 * len(p_values):.1f} would by luck), "
        f"{after} after Holm's correction"
    )
