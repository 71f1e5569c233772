"""What salman2022 says of accuracy, Figs. 3 to 14, and whether our numbers say so too."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd
from _common import table, verdict
from _salman_data import FILTERS, RANKS, RULES, SCORES, SETS, SINGLE
from _salman_errors import (
    BEST,
    MEAN,
    TEST_PER_TRAIN,
    all_some,
    beyond_luck,
    difference_errors,
    flip_luck,
    flip_test,
    score_minus_rank,
    split_errors,
    with_errors,
)
from _salman_paper import ACCURACY_ANOVA, CONTRAST, FALLS, GOOD_AND_BAD, MRMR_PAIRS
from _significance import bonferroni_pairs, detectable_difference, repeated_measures_anova
from scipy import stats
from scipy.stats import friedmanchisquare, ttest_rel

from mainstay.comparison.significance import corrected_standard_error, corrected_t_test, holm
from mainstay.measures.intervals import jackknife_variance

SMALL = 0.1  # points of accuracy: one row in 1,000
SHOWN = [*RULES, SINGLE]
TOO_SMALL = "not significant here, where only larger differences than those seen would be found"


def accuracy_claims(every: pd.DataFrame, mean: pd.Series) -> dict[str, Any]:
    """What the paper says of Figs. 3 to 14; `every` has the splits, `mean` their mean."""
    below = mean[mean.index.get_level_values("tenth") < 10].unstack("rule")[SHOWN]
    return (
        _tables(every, below)
        | gains(every)
        | falls(every)
        | _order(below)
        | good_and_bad(every)
        | _accuracy_tests(every, below)
        | {"accuracy_cases": below[list(RULES)].groupby(["data", "filter"]).mean()}
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
    by_set = rules.groupby("data").mean().loc[list(SETS)]
    apart = by_set.sub(by_set.mean(axis=1), axis=0).round(6)
    both, turned = _among_three(apart), _among_three(-apart)
    luck, p_value = flip_luck(both, turned)
    rank = rules.groupby(["data", "filter"]).mean().round(6).rank(axis=1, ascending=False)
    by_rank = rank.groupby("data").mean()
    best = by_set.agg(np.ptp, axis=1)
    n = len(both)
    return {
        "places": ", ".join(f"{r} {by_rank[r].mean():.2f} ± {by_rank[r].sem():.2f}" for r in RULES),
        "middle_verdict": verdict(beyond_luck(both.sum(), n, p_value, all_but=11 / 12)),
        "middle": f"{both.sum()} of {n}",
        "middle_luck": f"{luck:.1f}",
        "middle_p": p_value,
        "range": f"{best.min():.2f} to {best.max():.2f}",
        "alike": _alike(rules),
        **overlap(rules),
        **steadiness(rules),
        **contrasts(rules),
    }


def _among_three(apart: pd.DataFrame) -> np.ndarray:
    """Whether both rules that the paper prefers are among the first three, as 1 or 0."""
    place = apart.rank(axis=1, ascending=False, method="min")
    return np.asarray(place[BEST].le(3).all(axis=1), dtype=int)


def _alike(rules: pd.DataFrame) -> dict[str, str]:
    """Least and largest correlation of distances from the mean of the five rules, two groups."""
    cases = rules.groupby(["data", "filter"]).mean()
    found = cases.sub(cases.mean(axis=1), axis=0).corr()
    within = [found.loc[a, b] for a, b in combinations(SCORES, 2)]
    across = [found.loc[a, b] for a, b in product(SCORES, RANKS)]
    return {
        key: f"{min(x):.2f} to {max(x):.2f}" for key, x in (("within", within), ("across", across))
    }


def overlap(rules: pd.DataFrame) -> dict[str, Any]:
    """Are best and worst rule near each other where many features are kept, and nearer than else?

    The trend is Spearman's correlation of their distance with the threshold, one for each data set.
    """
    spread = rules.agg(np.ptp, axis=1).groupby(["data", "tenth"]).mean().unstack("tenth")
    width, error = spread.mean(), spread.sem()
    trend = spread.apply(lambda row: row.corr(pd.Series(row.index, row.index), "spearman"), axis=1)
    p_value = flip_test(trend.to_numpy())
    near = bool((width.loc[5:] < 1).all())
    nearer = bool(trend.mean() < 0 and p_value < 0.05)
    most, tenth = spread.loc[:, 6:].stack().idxmax()
    rows = [
        ("mean", *[f"{x:.2f} ± {e:.2f}" for x, e in zip(width, error, strict=True)]),
        (most, *[f"{x:.2f}" for x in spread.loc[most]]),
        (f"mean without {most}", *[f"{x:.2f}" for x in spread.drop(most).mean()]),
    ]
    return {
        "spread_table": table(["", *[f"{10 * t}%" for t in spread]], rows),
        "spread_verdict": verdict(all_some([near, nearer])),
        "spread_trend": f"{trend.mean():+.2f} ± {trend.sem():.2f}",
        "spread_falls": f"{int((trend < 0).sum())} of {len(trend)}",
        "spread_p": p_value,
        "spread_ends": float(ttest_rel(spread[1], spread[9]).pvalue),
        "spread_most": f"{most} at {10 * tenth}%, {spread.loc[most, tenth]:.2f} points",
        "spread_without": f"{spread.drop(most)[tenth].mean():.2f}",
    }


def good_and_bad(every: pd.DataFrame) -> dict[str, str]:
    """Is a rule one of the first two where the paper has it good, of the last two where bad?

    A place that is not right is wrong only if the distance from the mean of the five rules has the
    wrong sign by two errors over the splits, corrected because splits share rows.
    """
    below = every[(every["tenth"] < 10) & every["rule"].isin(RULES)]
    by = below.groupby(["data", "split", "rule"])["accuracy"].mean().unstack("rule")
    apart = 100 * by.sub(by.mean(axis=1), axis=0)
    mean, n_splits = apart.groupby("data").mean(), apart.groupby("data").size()
    place = mean.round(6).rank(axis=1, ascending=False, method="min")
    found = {}
    for rule, key in (("geometric mean", "gm"), ("Stuart", "stuart")):
        right, wrong, said = [], [], []
        for name, kind in GOOD_AND_BAD.items():
            x, at = apart.loc[name, rule].to_numpy(), place.loc[name, rule]
            error = corrected_standard_error(x, TEST_PER_TRAIN) if n_splits[name] > 1 else np.nan
            sign = 1 if kind == "good" else -1
            right.append(bool(at <= 2 if kind == "good" else at >= 4))
            wrong.append(bool(sign * x.mean() < -2 * error))
            said.append(f"{name} {at:.0f} ({x.mean():+.2f} ± {error:.2f})")
        found[f"{key}_sets"] = ", ".join(said)
        found[f"{key}_sets_verdict"] = places_verdict(right, wrong)
    return found


def places_verdict(right: list[bool], wrong: list[bool]) -> str:
    """Agrees if all places are right, in part if some, not if none is and some are wrong."""
    if any(right) or any(wrong):
        return verdict(all_some(right))
    return "(Not judged: no place is right, and none is clearly wrong.)"


def steadiness(rules: pd.DataFrame) -> dict[str, Any]:
    """How much a rule's distance from the mean of all five varies over data sets and filters.

    Errors of differences by the jackknife over the data sets.
    """
    apart = rules.sub(rules.mean(axis=1), axis=0)
    near = apart.abs().groupby("data").mean()
    cases = apart.groupby(["data", "filter"]).mean()
    steady = cases.std()
    without = pd.DataFrame({name: cases.drop(name).std() for name in SETS}).T
    rows, ratios = [], []
    for rule in RULES:
        row = [rule, f"{steady[rule]:.3f}"]
        for mine in BEST:
            gap, error = _steadier(steady, without, rule, mine)
            row.append(f"{gap:+.3f} ± {error:.3f}" if rule not in BEST else "–")
            ratios += [] if rule in BEST else [gap / error]
        rows.append(row)
    limit = float(stats.t.isf(0.025, len(without) - 1))
    volatile, said = [], []
    for rule in RULES:
        if rule != "geometric mean":
            gap, error = _steadier(steady, without, "geometric mean", rule)
            volatile.append(gap / error)
            said.append(f"{gap:+.3f} ± {error:.3f} ({rule})")
    return {
        "steady_table": table(["", "standard deviation", *[f"minus: {r}" for r in BEST]], rows),
        "steady_verdict": _steady_verdict(ratios, limit),
        "volatile_verdict": _steady_verdict(volatile, limit),
        "steady_limit": f"{limit:.1f}",
        "volatile": ", ".join(said),
        "volatile_place": f"number {(steady >= steady['geometric mean']).sum()} of {len(steady)}",
        "closer": f"{int((near[MEAN] < near['L2 norm']).sum())} of {len(near)}",
        "closer_named": ", ".join(
            f"{n} {near.loc[n, MEAN]:.2f} and {near.loc[n, 'L2 norm']:.2f}"
            for n in ("ionosphere", "satellite")
        ),
        "steady_without": ", ".join(f"{r} {without.loc['scene', r]:.2f}" for r in RULES),
    }


def _steadier(
    steady: pd.Series, without: pd.DataFrame, one: str, other: str
) -> tuple[float, float]:
    """Difference of two standard deviations, and its jackknife error."""
    left_out = (without[one] - without[other]).to_numpy()
    return float(steady[one] - steady[other]), jackknife_variance(left_out) ** 0.5


def _steady_verdict(ratios: list[float], limit: float) -> str:
    """Judge differences in standard errors: clear beyond a limit, the other way round as well."""
    clear = [x > limit for x in ratios]
    if any(clear):
        return verdict(all_some(clear))
    if any(x < -limit for x in ratios):
        return verdict(False)
    return f"(Not judged: no difference is as large as {limit:.1f} standard errors.)"


def contrasts(rules: pd.DataFrame) -> dict[str, str]:
    """How far apart are two filters in accuracy: mean absolute distance of their curves."""
    by = rules.stack().unstack("filter")
    found = {
        pair: (by[pair[0]] - by[pair[1]]).abs().groupby("data").mean()
        for pair in combinations(FILTERS, 2)
    }
    order = sorted(found, key=lambda pair: -found[pair].mean())
    rows = []
    for pair in order:
        gap = found[pair] - found[CONTRAST]
        names = " and ".join(FILTERS[f] for f in pair)
        apart = "–" if pair == CONTRAST else f"{gap.mean():+.2f} ± {gap.sem():.2f}"
        rows.append((names, f"{found[pair].mean():.2f}", apart))
    first, gap = order[0] == CONTRAST, found[order[0]] - found[CONTRAST]
    near = bool(gap.mean() < 2 * gap.sem())
    head = ["", "points apart", "minus: " + " and ".join(FILTERS[f] for f in CONTRAST)]
    return {
        "contrast_table": table(head, rows),
        "contrast_verdict": verdict(True if first else None if near else False),
        "contrast_place": f"number {1 + order.index(CONTRAST)} of {len(order)}",
    }


# ---------------------------------------------------------------------- tests


def _accuracy_tests(every: pd.DataFrame, below: pd.DataFrame) -> dict[str, Any]:
    """Do the rules differ? Over data sets, over data sets × thresholds, and within each set."""
    curves = below[list(RULES)]
    by_set = curves.groupby("data").mean()
    over_sets, over_rows = bonferroni_pairs(by_set), bonferroni_pairs(_rows(curves))
    gm = 100 * (by_set["geometric mean"] - by_set[MEAN])
    low, high = bounds(gm)
    small = max(-low, high) < SMALL
    gm_p = {"sets": over_sets[MEAN, "geometric mean"], "rows": over_rows[MEAN, "geometric mean"]}
    by_filter = [_rows(curves.xs(f, level="filter")) for f in FILTERS]
    tests = [over_sets, over_rows, *map(bonferroni_pairs, by_filter)]
    return {
        **family_claims(curves, over_sets),
        **anova_claims(curves),
        **rra_claims(curves.xs("mrmr", level="filter")),
        "gm_p": gm_p,
        "gm_verdict": _judged(
            [p < 0.05 for p in gm_p.values()], "the tests find nothing", against=small
        ),
        "gm_difference": f"{gm.mean():+.2f} ± {gm.sem():.2f}",
        "gm_small": f"{SMALL:g}",
        "gm_bounds": f"{low:+.2f} to {high:+.2f}",
        "l2_p": over_sets[MEAN, "L2 norm"],
        "l2_note": _l2_note(over_sets, tests),
        "splits_test": _over_splits(every),
    }


def _rows(curves: pd.DataFrame) -> pd.DataFrame:
    """One row for each data set and threshold."""
    return curves.groupby(["data", "tenth"]).mean()


def _judged(first_then_others: list[bool], why: str, against: bool = False) -> str:
    """Judge tests by several readings: True by the first, None by another, else no verdict.

    That nothing is significant is a verdict only where other numbers are `against` the statement.
    """
    first, *others = first_then_others
    if first or any(others):
        return verdict(True if first else None)
    return verdict(False) if against else f"(Not judged: {why}.)"


def family_claims(curves: pd.DataFrame, pairs: pd.Series) -> dict[str, Any]:
    """Do score rules and rank rules differ in accuracy? Mean of four filters, and every one.

    `pairs` has the adjusted p-values of all pairs of rules. Judged by the mean, in part by single
    filters, whose p is adjusted for their number.
    """
    cases = 100 * curves.groupby(["data", "filter"]).mean()
    parts = {"four filters": cases.groupby("data").mean()}
    parts |= {name: cases.xs(f, level="filter") for f, name in FILTERS.items()}
    rows, p_values = [], []
    for name, x in parts.items():
        apart = score_minus_rank(x)
        p = flip_test(apart.to_numpy())
        p_values.append(min(1.0, len(FILTERS) * p) if rows else p)
        adjusted = f"{p_values[-1]:.2g}" if rows else "–"
        above = f"{int((apart > 0).sum())} of {len(apart)}"
        found = detectable_difference(apart.sem(), len(apart), 0.05)
        shown = f"{apart.mean():+.2f} ± {apart.sem():.2f}"
        rows.append((name, shown, above, f"{p:.2g}", adjusted, f"{found:.2f}"))
    low, high = bounds(score_minus_rank(parts["four filters"]))
    mixed = np.array([pairs[pair] for pair in product(SCORES, RANKS)])
    head = ["", "points", "data sets with more", "p", "adjusted", "found with probability 80%"]
    return {
        "accuracy_family_table": table(head, rows),
        "accuracy_family_verdict": _judged(
            [p < 0.05 for p in p_values], TOO_SMALL, against=max(-low, high) < SMALL
        ),
        "accuracy_family_bounds": f"{low:+.2f} to {high:+.2f}",
        "accuracy_family_pairs": f"{int((mixed < 0.05).sum())} of {len(mixed)}",
        "accuracy_family_smallest": f"{mixed.min():.2g}",
    }


def bounds(values: pd.Series) -> tuple[float, float]:
    """95% interval of the mean, by Student's t."""
    reach = values.sem() * float(stats.t.isf(0.025, len(values) - 1))
    return float(values.mean() - reach), float(values.mean() + reach)


def anova_claims(curves: pd.DataFrame) -> dict[str, Any]:
    """Repeated-measures ANOVA of every filter, with two readings of what its subjects are.

    What is found without Greenhouse and Geisser's correction is told and not counted.
    """
    rows = []
    significant, only = list[list[bool]](), list[str]()
    for f, name in FILTERS.items():
        part = curves.xs(f, level="filter")
        by_set, by_row = part.groupby("data").mean(), _rows(part)
        (f_sets, p_sets), (f_rows, p_rows) = map(repeated_measures_anova, (by_set, by_row))
        plain = repeated_measures_anova(by_row, corrected=False)[1]
        adjusted = [min(1.0, len(FILTERS) * p) for p in (p_sets, plain, p_rows)]
        if f in ACCURACY_ANOVA:
            significant.append([p < 0.05 for p in adjusted])
            plain_sets = len(FILTERS) * repeated_measures_anova(by_set, corrected=False)[1]
            only += [name] if significant[-1] == [False, True, False] and plain_sets > 0.05 else []
        friedman = friedmanchisquare(*by_set.T.to_numpy()).pvalue
        rows.append(
            (name, ACCURACY_ANOVA.get(f, "–"), f"{f_sets:.2f}", f"{p_sets:.2g}",
             f"{adjusted[0]:.2g}", f"{friedman:.2g}", f"{f_rows:.2f}", f"{plain:.2g}",
             f"{adjusted[1]:.2g}", f"{p_rows:.2g}", f"{adjusted[2]:.2g}")
        )  # fmt: skip
    head = [
        "", "paper, adjusted", "F", "p", "adjusted", "Friedman's p",
        "F, sets × thresholds", "p, not corrected", "adjusted", "p, corrected", "adjusted",
    ]  # fmt: skip
    readings = np.array(significant)
    ways = ("data sets", "data sets × thresholds, not corrected", "the same, corrected")
    named = [FILTERS[f] for f in ACCURACY_ANOVA]
    found = [" and ".join(np.array(named)[few]) or "neither" for few in readings.T]
    corrected = readings[:, [0, 2]]
    return {
        "anova_table": table(head, rows),
        "anova_found": "; ".join(f"{way}: {x}" for way, x in zip(ways, found, strict=True)),
        "anova_rows": len(_rows(curves)),
        "accuracy_anova_verdict": _judged(
            [bool(corrected[:, 0].all()), bool(corrected.any())], TOO_SMALL
        ),
        "anova_only": _only_by_rows(only),
    }


def _only_by_rows(names: list[str]) -> str:
    if not names:
        return ""
    return (
        f"Not counted: {' and '.join(names)}, by the rows without correction, and only because "
        "rows that share a data set are taken as independent."
    )


def rra_claims(curves: pd.DataFrame) -> dict[str, Any]:
    """RRA against the score rules under mRMR; what differences could have been found."""
    by_set, by_row = curves.groupby("data").mean(), _rows(curves)
    over_sets, over_rows = bonferroni_pairs(by_set), bonferroni_pairs(by_row)
    rows, readings = [], []
    for (one, other), paper in MRMR_PAIRS.items():
        apart = 100 * (by_set[other] - by_set[one])
        p_sets, p_rows = over_sets[one, other], over_rows[one, other]
        plain = float(ttest_rel(by_row[one], by_row[other]).pvalue)
        found = detectable_difference(apart.sem(), len(apart), 0.05 / len(over_sets))
        less = apart.drop("scene")
        readings.append([p_sets < 0.05, p_rows < 0.05])
        rows.append(
            (one, f"{apart.mean():+.2f} ± {apart.sem():.2f}", f"{less.mean():+.2f} ± "
             f"{less.sem():.2f}", f"{found:.1f}", f"{paper:g}", f"{p_sets:.2g}", f"{plain:.2g}",
             f"{p_rows:.2g}")
        )  # fmt: skip
    head = [
        "RRA minus", "points", "without scene", "found with probability 80%", "paper, adjusted p",
        "p, adjusted", "p, sets × thresholds", "adjusted",
    ]  # fmt: skip
    both = np.array(readings)
    return {
        "rra_table": table(head, rows),
        "rra_verdict": _judged([bool(both[:, 0].all()), bool(both.any())], TOO_SMALL),
        "rra_smallest": f"{over_sets.min():.2g} and {over_rows.min():.2g}",
    }


def _l2_note(p_values: pd.Series, tests: list[pd.Series]) -> str:
    """That two rules do not differ is worth a verdict only where a test finds some difference."""
    if not any((test < 0.05).any() for test in tests):
        return "(Not judged: no test of pairs here finds a difference.)"
    return verdict(bool(p_values[MEAN, "L2 norm"] > 0.05))


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
