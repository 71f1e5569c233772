"""What salman2022 says of stability, Figs. 15 to 20, and whether our numbers say so too."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from _common import table, verdict
from _salman_cells import STUDIED, TENTHS
from _salman_data import BROKEN, FILTERS, MORE, RULES, SCORES, SETS, SINGLE
from _salman_errors import (
    BEST,
    MEAN,
    all_some,
    beyond_luck,
    concordance,
    difference_errors,
    flip_luck,
    flip_test,
    jackknife_error,
    on_top,
    score_minus_rank,
    with_error_rows,
)
from _salman_figures import LOOK
from _salman_paper import PEAKS, STABILITY_PAIRS
from _significance import bonferroni_pairs, repeated_measures_anova, written_pairs
from scipy.stats import f_oneway

import mainstay as ms

JUDGED = ("Spearman", "1 − Canberra", "Jaccard")
N_FIGURES = len(STUDIED) * len(JUDGED)


class Measured(NamedTuple):
    """Stability by data set and rule, its jackknife errors, and the number of parts by set."""

    values: pd.DataFrame
    errors: pd.DataFrame
    parts: dict[str, int]

    def table(self, what: str, names: Sequence[str], mean: bool = True) -> str:
        """One row per data set, one column per rule, and below them the errors."""
        wide, errors = (frame[what].unstack("rule") for frame in (self.values, self.errors))
        wide = wide.reindex(index=[n for n in names if n in wide.index], columns=list(LOOK))
        return with_error_rows(wide, errors, mean)


def measure(parts: list[dict[str, Any]]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Stability of every rule over the parts, and the jackknife errors of their differences.

    The errors are of the difference to the arithmetic mean; for this one, of its own stability.
    """
    values: dict[str, dict[str, float]] = {}
    pairs: dict[str, dict[str, np.ndarray]] = {}
    for rule in parts[0]:
        runs = ms.Runs.from_ranks(np.array([part[rule] for part in parts]))
        p, canberra = runs.n_features, ms.stability(runs, "canberra")
        spearman = ms.stability(runs, "spearman")
        tops = [ms.stability(runs, f"jaccard@{-(-t * p // 10)}") for t in TENTHS[:-1]]
        values[rule] = {
            "Spearman": spearman.value,
            "1 − Canberra": canberra.value,
            "Canberra distance": canberra.canberra_distance,
            "Jaccard": float(np.mean([top.value for top in tops])),
        } | {f"Jaccard {10 * t}%": x.value for t, x in zip(TENTHS, tops, strict=False)}
        pairs[rule] = {
            "Spearman": spearman.pairwise,
            "1 − Canberra": canberra.pairwise,
            "Canberra distance": canberra.pairwise,
            "Jaccard": np.mean([top.pairwise for top in tops], axis=0),
        }
    errors = {
        rule: {
            what: jackknife_error(x, None if rule == MEAN else pairs[MEAN][what])
            for what, x in found.items()
        }
        for rule, found in pairs.items()
    }
    return pd.DataFrame(values).T, pd.DataFrame(errors).T


def outer(found: dict[tuple[str, ...], dict[str, Any]], filter_: str, kind: str) -> Measured:
    """Stability over the training parts of folds, or over halves."""
    by_set: dict[str, list[Any]] = {}
    for (name, *about, _), cell in found.items():
        if about == [filter_, kind]:
            by_set.setdefault(name, []).append(cell["ranks"])
    by_set = {name: parts for name, parts in by_set.items() if len(parts) > 1}
    both = {name: measure(parts) for name, parts in by_set.items()}
    values, errors = (
        pd.concat({name: pair[i] for name, pair in both.items()}, names=["data", "rule"])
        for i in (0, 1)
    )
    return Measured(values, errors, {n: len(p) for n, p in by_set.items()})


def of_sets(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Keep the rows of some data sets."""
    return frame[frame.index.get_level_values("data").isin(names)]


def jaccard_by_threshold(frame: pd.DataFrame) -> tuple[str, float]:
    """Write Jaccard by threshold, mean over data sets; the largest error of a difference."""
    tops = [c for c in frame if str(c).startswith("Jaccard ")]
    by = frame[tops].groupby("rule").mean().loc[list(LOOK)]
    rows = [(rule, *[f"{x:.3f}" for x in by.loc[rule]]) for rule in LOOK]
    errors = [difference_errors(frame[c].unstack("rule"))[list(RULES[1:])] for c in tops]
    return table(["", *[c.split()[1] for c in tops]], rows), float(pd.concat(errors).max())


# ---------------------------------------------------------------------- claims


def stability_claims(filter_: str, frame: pd.DataFrame) -> dict[str, Any]:
    """What the paper says of one filter: with Stuart's Q right, and by the recursion."""
    exact, broken = _rules(frame), _rules(frame, broken=True)
    post_hoc = [f"{what}: {written_pairs(bonferroni_pairs(exact[what]))}" for what in JUDGED]
    cases = sum(map(len, exact.values()))
    gaps = frame["Spearman"].unstack("rule")
    errors = difference_errors(gaps)
    found: dict[str, Any] = {
        "post_hoc": "; ".join(post_hoc),
        "means": ", ".join(
            f"{rule} {gaps[rule].mean():.3f}" + (f" ± {errors[rule]:.3f}" if rule != MEAN else "")
            for rule in LOOK
        ),
        "single": int((gaps[SINGLE] >= gaps[list(RULES)].max(axis=1)).sum()),
    }
    for key, names in (("top", BEST), ("scores", SCORES)):
        kept, turned = (sum(on_top(s * x, names) for x in exact.values()) for s in (1, -1))
        luck, p_value = flip_luck(kept, turned)
        found |= {key: f"{kept.sum()} of {cases}", f"{key}_luck": f"{luck:.1f}"}
        found[f"{key}_p"] = f"{p_value:.2g}"
        if names is BEST:
            found["top_verdict"] = verdict(beyond_luck(kept.sum(), cases, p_value))
    lowest, highest = (sum(on_top(s * x, ["Stuart"]) for x in exact.values()) for s in (-1, 1))
    found |= {
        "lowest": f"{lowest.sum()} of {cases}",
        "lowest_luck": f"{flip_luck(lowest, highest)[0]:.1f}",
        "lowest_broken": f"{sum(on_top(-x, ['Stuart']).sum() for x in broken.values())} of {cases}",
        "lowest_verdict": verdict(lowest.sum() == cases),
    }
    tests = {
        "anova": [_adjusted(f_oneway(*x.T.to_numpy()).pvalue) for x in exact.values()],
        "broken": [_adjusted(f_oneway(*x.T.to_numpy()).pvalue) for x in broken.values()],
        "repeated": [_adjusted(repeated_measures_anova(x)[1]) for x in exact.values()],
    }
    found |= {key: ", ".join(f"{p:.2g}" for p in p_values) for key, p_values in tests.items()}
    found["p"] = tests["anova"]
    return {f"{filter_}_{key}": value for key, value in found.items()}


def _rules(frame: pd.DataFrame, broken: bool = False) -> dict[str, pd.DataFrame]:
    """Measure → data sets × the five rules; Stuart, if broken, by the recursion."""
    wide = {what: frame[what].unstack("rule") for what in JUDGED}
    return {
        what: (x.assign(Stuart=x[BROKEN]) if broken else x)[list(RULES)] for what, x in wide.items()
    }


def _adjusted(p_value: float) -> float:
    """Bonferroni, over the six figures."""
    return min(1.0, N_FIGURES * float(p_value))


def pair_claims(frame: pd.DataFrame) -> dict[str, str]:
    """The pairs that the paper finds to differ under information gain, with ours."""
    pairs = {what: bonferroni_pairs(frame[what].unstack("rule")[list(RULES)]) for what in JUDGED}
    ours = {key: pairs[key[0]][key[1:]] for key in STABILITY_PAIRS}
    differ = sum(p < 0.05 for p in ours.values())
    return {
        "post_hoc_p": "; ".join(
            f"{one} and {other}, {what.removeprefix('1 − ')}: {ours[what, one, other]:.2g} "
            f"(paper {paper:g})"
            for (what, one, other), paper in STABILITY_PAIRS.items()
        ),
        "post_hoc_verdict": verdict({0: False, len(ours): True}.get(differ)),
    }


def peak_claims(found: dict[str, pd.DataFrame]) -> dict[str, Any]:
    """How many measures have one of the two rules on top of the sets where the paper sees peaks?"""
    count = {
        f: pd.Series(sum(on_top(x.loc[list(PEAKS)], BEST) for x in _rules(frame).values()), PEAKS)
        for f, frame in found.items()
    }
    by = pd.DataFrame(count)
    most = by.sum(axis=1) > len(JUDGED) * len(by.columns) / 2
    rows = [(name, *[f"{n} of {len(JUDGED)}" for n in by.loc[name]]) for name in PEAKS]
    return {
        "peak_table": table(["", *[FILTERS[f] for f in by]], rows),
        "peak_verdict": verdict(all_some(list(most))),
    }


def stuart_claims(found: dict[str, pd.DataFrame]) -> dict[str, Any]:
    """How many pairs of Stuart and another rule differ, and in how many of these it is lower?"""
    others = [rule for rule in RULES if rule != "Stuart"]
    said: dict[str, Any] = {}
    for key, broken in (("exact", False), ("recursion", True)):
        differ = lower = pairs = 0
        for frame in found.values():
            for x in _rules(frame, broken).values():
                p_values = bonferroni_pairs(x)
                small = [rule for rule in others if p_values[rule, "Stuart"] < 0.05]
                differ, pairs = differ + len(small), pairs + len(others)
                lower += sum(x["Stuart"].mean() < x[rule].mean() for rule in small)
        said[key] = f"{differ} of {pairs}, lower in {lower}"
        if not broken:
            most = lower > pairs / 2
            said["verdict"] = verdict(True if lower == pairs else None if most else False)
    return {f"stuart_pairs_{key}": text for key, text in said.items()}


def better_claims(found: dict[str, pd.DataFrame], accuracy: pd.DataFrame) -> dict[str, Any]:
    """Are the two rules better than the three others, in accuracy and in every stability?"""
    parts = {"accuracy, four filters": accuracy.groupby("data").mean()}
    for f, frame in found.items():
        parts |= {f"stability, {FILTERS[f]}: {what}": x for what, x in _rules(frame).items()}
    others = [rule for rule in RULES if rule not in BEST]
    rows, right = [], []
    for name, x in parts.items():
        apart = x[BEST].mean(axis=1) - x[others].mean(axis=1)
        p_value = flip_test(apart.to_numpy())
        right.append(bool(p_value < 0.05 and apart.mean() > 0))
        above = f"{int((apart > 0).sum())} of {len(apart)}"
        rows.append((name, f"{apart.mean():+.4f} ± {apart.sem():.4f}", above, f"{p_value:.2g}"))
    return {
        "better_table": table(["", "the two minus the others", "data sets with more", "p"], rows),
        "better_verdict": verdict(all_some(right)),
        "better_count": f"{sum(right[1:])} of {len(right) - 1}",
        "better_accuracy": "is" if right[0] else "is not",
    }


def family_claims(found: dict[str, pd.DataFrame]) -> dict[str, Any]:
    """Do score rules and rank rules differ in stability, in either direction?

    With Stuart's Q right, which is judged, and by the recursion.
    """
    rows, sizes = [], list[float]()
    tests = dict[str, list[float]](exact=[], recursion=[])
    for f, frame in found.items():
        exact, broken = _rules(frame), _rules(frame, broken=True)
        for what in JUDGED:
            cells = []
            for key, x in (("exact", exact[what]), ("recursion", broken[what])):
                apart = score_minus_rank(x)
                p_value = flip_test(apart.to_numpy())
                tests[key].append(p_value)
                sizes += [abs(apart.mean())] if key == "exact" else []
                above = f"{int((apart > 0).sum())} of {len(apart)}"
                cells += [f"{apart.mean():+.4f} ± {apart.sem():.4f}", above, f"{p_value:.2g}"]
            rows.append((f"{FILTERS[f]}: {what}", *cells))
    head = ["", "scores minus ranks", "data sets with more", "p"]
    head += ["Stuart by the recursion", "data sets with more", "p"]
    small = {key: [p < 0.05 for p in p_values] for key, p_values in tests.items()}
    return {
        "family_table": table(head, rows),
        "family_verdict": verdict(all_some(small["exact"])),
        "family_count": {key: f"{sum(found)} of {len(found)}" for key, found in small.items()},
        "family_adjusted": sum(_adjusted(p) < 0.05 for p in tests["exact"]),
        "family_sizes": f"{min(sizes):.4f} to {max(sizes):.4f}",
    }


def near_claims(found: dict[str, pd.DataFrame]) -> dict[str, Any]:
    """Are the two rules nearer to each other in stability than any other pair is?

    Mean absolute difference over data sets, of this pair and of the nearest other one.
    """
    rows, right = [], []
    for f, frame in found.items():
        for what, x in _rules(frame).items():
            apart = {
                pair: (x[pair[0]] - x[pair[1]]).abs().mean() for pair in combinations(RULES, 2)
            }
            two = apart.pop((BEST[0], BEST[1]))
            nearest = min(apart, key=lambda pair: apart[pair])
            right.append(bool(two < apart[nearest]))
            other = f"{apart[nearest]:.4f} ({' and '.join(nearest)})"
            rows.append((f"{FILTERS[f]}: {what}", f"{two:.4f}", other))
    return {
        "near_table": table(["", "the two", "nearest other pair"], rows),
        "near_verdict": verdict(all_some(right)),
        "near_count": f"{sum(right)} of {len(right)}",
    }


def steadier_claims(found: dict[str, pd.DataFrame], accuracy: pd.DataFrame) -> dict[str, Any]:
    """Do the data sets put the rules into one order, more in stability than in accuracy?"""
    rows, right = [], []
    for f, frame in found.items():
        base, *stable = (
            concordance(x) for x in (accuracy.xs(f, level="filter"), *_rules(frame).values())
        )
        right += [w > base[0] and p < 0.05 for w, p in stable]
        rows.append((FILTERS[f], *[f"{w:.2f} ({p:.2g})" for w, p in (base, *stable)]))
    return {
        "w_table": table(["W (p)", "accuracy", *[f"stability: {what}" for what in JUDGED]], rows),
        "w_luck": f"{1 / len(SETS):.3f}",
        "steadier_verdict": verdict(all_some(right)),
        "steadier_count": f"{sum(right)} of {len(right)}",
    }


def both_filters(found: dict[str, pd.DataFrame], accuracy: pd.DataFrame) -> dict[str, Any]:
    """What the paper says of the six figures together, and of accuracy and stability."""
    ours = {f: of_sets(frame, SETS) for f, frame in found.items()}
    wide = {(f, w): x for f, frame in ours.items() for w, x in _rules(frame).items()}
    w = {key: concordance(values)[0] for key, values in wide.items()}
    sd = {key: float(values.std().mean()) for key, values in wide.items()}
    least = [min(JUDGED, key=lambda m: w[f, m]) == "Jaccard" for f in ours]
    widest = [max(JUDGED, key=lambda m: sd[f, m]) == "Jaccard" for f in ours]
    more = {(f, m): of_sets(found[f], MORE)[m].unstack("rule")[list(RULES)] for f, m in wide}
    classes = {key: float((more[key].mean() - wide[key].mean()).mean()) for key in wide}
    first, second = STUDIED
    filters = {m: (wide[second, m] - wide[first, m]).mean(axis=1) for m in JUDGED}
    near = [abs(filters[m].mean()) < min(sd[f, m] for f in ours) for m in JUDGED]
    little = [abs(classes[key]) < sd[key] for key in classes]
    return {
        "sd_stability": _by_measure(sd, "{:.3f}"),
        "jaccard_verdict": verdict(all_some(least + widest)),
        "filters_apart": ", ".join(f"{x.mean():+.4f} ± {x.sem():.4f}" for x in filters.values()),
        "filters_verdict": verdict(all_some(near)),
        "classes_apart": _by_measure(classes, "{:+.4f}"),
        "classes_little": f"{sum(little)} of {len(little)}",
        "classes_verdict": verdict(all_some(little)),
        **steadier_claims(ours, accuracy),
        **better_claims(ours, accuracy),
        **family_claims(ours),
        **peak_claims(ours),
        **near_claims(ours),
        **stuart_claims(ours),
    }


def _by_measure(values: dict[tuple[str, str], float], form: str) -> str:
    """Write one number per filter and measure."""
    return "; ".join(
        f"{FILTERS[f]} " + ", ".join(form.format(values[f, m]) for m in JUDGED) for f in STUDIED
    )
