"""What salman2022 says of stability, Figs. 15 to 20, and whether our numbers say so too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from _common import table, verdict
from _salman_cells import STUDIED, TENTHS
from _salman_data import BROKEN, FILTERS, MORE, RULES, SETS, SINGLE
from _salman_errors import (
    MEAN,
    beyond_luck,
    concordance,
    difference_errors,
    jackknife_error,
    luck_p,
    with_error_rows,
)
from _salman_figures import LOOK
from _salman_paper import STABILITY_PAIRS
from _significance import bonferroni_pairs, repeated_measures_anova, written_pairs
from scipy.stats import f_oneway

import mainstay as ms

JUDGED = ("Spearman", "1 − Canberra", "Jaccard")
BEST = [MEAN, "L2 norm"]
SCORES = list(RULES[:3])
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
    count = dict.fromkeys(("lowest", "lowest_broken", "top", "scores"), 0)
    tests: dict[str, list[Any]] = {"anova": [], "broken": [], "repeated": []}
    post_hoc, cases = [], 0
    for what in JUDGED:
        by = frame[what].unstack("rule")
        rules = by[list(RULES)]
        broken = rules.assign(Stuart=by[BROKEN])
        cases += len(rules)
        best = rules.idxmax(axis=1)
        count["lowest"] += int((rules.idxmin(axis=1) == "Stuart").sum())
        count["lowest_broken"] += int((broken.idxmin(axis=1) == "Stuart").sum())
        count["top"] += int(best.isin(BEST).sum())
        count["scores"] += int(best.isin(SCORES).sum())
        tests["anova"].append(_adjusted(f_oneway(*rules.T.to_numpy()).pvalue))
        tests["broken"].append(_adjusted(f_oneway(*broken.T.to_numpy()).pvalue))
        tests["repeated"].append(_adjusted(repeated_measures_anova(rules)[1]))
        post_hoc.append(f"{what}: {written_pairs(bonferroni_pairs(rules))}")
    gaps = frame["Spearman"].unstack("rule")
    errors = difference_errors(gaps)
    luck = {key: len(names) / len(RULES) for key, names in (("top", BEST), ("scores", SCORES))}
    found: dict[str, Any] = {
        **{key: f"{n} of {cases}" for key, n in count.items()},
        **{f"{key}_luck": f"{chance * cases:.1f}" for key, chance in luck.items()},
        **{f"{key}_p": f"{luck_p(count[key], cases, c):.2g}" for key, c in luck.items()},
        "luck": f"{cases / len(RULES):.1f}",
        "lowest_verdict": verdict(count["lowest"] == cases),
        "top_verdict": verdict(beyond_luck(count["top"], cases, luck["top"])),
        "p": tests["anova"],
        **{k: ", ".join(f"{x:.2g}" for x in v) for k, v in tests.items()},
        "post_hoc": "; ".join(post_hoc),
        "means": ", ".join(
            f"{rule} {gaps[rule].mean():.3f}" + (f" ± {errors[rule]:.3f}" if rule != MEAN else "")
            for rule in LOOK
        ),
        "single": int((gaps[SINGLE] >= gaps[list(RULES)].max(axis=1)).sum()),
    }
    return {f"{filter_}_{key}": value for key, value in found.items()}


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


def both_filters(found: dict[str, pd.DataFrame], accuracy_w: dict[str, float]) -> dict[str, Any]:
    """What the paper says of the six figures together; Kendall's W of accuracy is given."""
    ours = {f: of_sets(frame, SETS) for f, frame in found.items()}
    wide = {(f, w): x[w].unstack("rule")[list(RULES)] for f, x in ours.items() for w in JUDGED}
    w = {key: concordance(values) for key, values in wide.items()}
    sd = {key: float(values.std().mean()) for key, values in wide.items()}
    least = [min(JUDGED, key=lambda m: w[f, m]) == "Jaccard" for f in ours]
    widest = [max(JUDGED, key=lambda m: sd[f, m]) == "Jaccard" for f in ours]
    steadier = [w[f, m] > accuracy_w[f] for f, m in w]
    more = {(f, m): of_sets(found[f], MORE)[m].unstack("rule")[list(RULES)] for f, m in wide}
    classes = {key: float((more[key].mean() - wide[key].mean()).mean()) for key in wide}
    first, second = STUDIED
    filters = {m: (wide[second, m] - wide[first, m]).mean(axis=1) for m in JUDGED}
    near = [abs(filters[m].mean()) < min(sd[f, m] for f in ours) for m in JUDGED]
    little = [abs(classes[key]) < sd[key] for key in classes]
    return {
        "w_accuracy": ", ".join(f"{FILTERS[f]} {accuracy_w[f]:.2f}" for f in ours),
        "w_stability": _by_measure(w, "{:.2f}"),
        "sd_stability": _by_measure(sd, "{:.3f}"),
        "steadier_verdict": verdict(_all_some(steadier)),
        "jaccard_verdict": verdict(_all_some(least + widest)),
        "filters_apart": ", ".join(f"{x.mean():+.4f} ± {x.sem():.4f}" for x in filters.values()),
        "filters_verdict": verdict(_all_some(near)),
        "classes_apart": _by_measure(classes, "{:+.4f}"),
        "classes_little": f"{sum(little)} of {len(little)}",
        "classes_verdict": verdict(_all_some(little)),
    }


def _all_some(right: list[bool]) -> bool | None:
    return all(right) or (None if any(right) else False)


def _by_measure(values: dict[tuple[str, str], float], form: str) -> str:
    """Write one number per filter and measure."""
    return "; ".join(
        f"{FILTERS[f]} " + ", ".join(form.format(values[f, m]) for m in JUDGED) for f in STUDIED
    )
