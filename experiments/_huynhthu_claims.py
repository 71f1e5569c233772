"""What the paper says in words, judged by our numbers: counts against luck, tests, ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd
from _common import verdict
from _huynhthu_cells import N_FOLDS, PROBLEMS
from _huynhthu_counts import (
    Cases,
    Means,
    better,
    both,
    counted,
    joined,
    judged,
    means,
    not_worse,
    plainly,
    printed,
    share,
)
from _huynhthu_figures import average_ranks
from _huynhthu_methods import BASES
from _huynhthu_network_tables import READINGS, precisions, signed, values_by_rule
from _huynhthu_networks import NETWORKS
from _huynhthu_paper import (
    N_RELEVANT,
    TABLE_4,
    TABLE_5,
    TABLE_S1,
    TABLE_S2_AUPR,
    TABLE_S2_ERROR,
    TABLE_S3_AUPR,
    TABLE_S3_ERROR,
    TABLE_S5,
    TABLE_S6,
    TABLE_S7,
)
from _huynhthu_ranks import FOREST_AND_BOOSTING, apart, behind, by_set
from _huynhthu_tables import LABELS, label, listed

from mainstay.comparison.significance import corrected_t_test, holm

GREATLY = 0.1  # an error that falls by more than a tenth has "greatly" improved
TWO = ("knn", "svm")


# ---------------------------------------------------------------------- simulated problems


def of_simulated(found: pd.DataFrame) -> dict[str, str]:
    """Whether what sections 3.1 and 4 of the paper conclude holds here."""
    error, aupr, size = (means(found, value) for value in ("error", "aupr", "size"))
    above, above_there = (
        {(name, m): value > N_RELEVANT[name] for (name, m), value in sizes.items()
         if m.startswith("prsb-")}
        for sizes in (size, printed(TABLE_S1))
    )  # fmt: skip
    fewer = partial(better, one="prsb-{base}", other="rsb-{base}")
    return (
        {
            "claim_lowest": plainly(_lowest(error)),
            "claim_rsb": counted(fewer(error, PROBLEMS), "problems"),
            "claim_single": counted(
                better(error, PROBLEMS, "prsb-{base}", "single-{base}"), "problems"
            ),
            "claim_gain": counted(_larger_gains(error), "problems"),
            "claim_only_trees": _only_trees(error),
            "claim_not_improved": _not_improved(found),
            "claim_sparse": counted(
                fewer(size, PROBLEMS), "problems", fewer(printed(TABLE_S1), PROBLEMS)
            ),
            "claim_slightly": counted(above, "problems", above_there),
            "claim_eda": counted(_above_eda(aupr, PROBLEMS), "problems"),
        }
        | _against_forests(found, error, aupr)
        | _of_references(error, aupr)
    )


def _lowest(error: Means) -> Cases:
    """Whether PRSB is below the single model and RSB on Hypercube, by base model."""
    rsb, single = (
        better(error, ["Hypercube"], "prsb-{base}", f"{other}-{{base}}")
        for other in ("rsb", "single")
    )
    return both(rsb, single)


def _larger_gains(error: Means) -> Cases:
    """Whether PRSB's gain over RSB is larger with kNN or SVM than with trees, by problem."""
    gains = {
        (problem, base): error[problem, f"rsb-{base}"] - error[problem, f"prsb-{base}"]
        for problem in PROBLEMS
        for base in BASES
        if (problem, f"rsb-{base}") in error and (problem, f"prsb-{base}") in error
    }
    return {
        (problem, base): bool(gain > gains[problem, "tree"])
        for (problem, base), gain in gains.items()
        if base != "tree" and (problem, "tree") in gains
    }


def _only_trees(error: Means) -> str:
    """Judge that RSB greatly improves on the single model with trees, and with no other base."""
    falls = {
        (problem, base): 1 - error[problem, f"rsb-{base}"] / error[problem, f"single-{base}"]
        for problem in PROBLEMS
        for base in BASES
        if (problem, f"rsb-{base}") in error and (problem, f"single-{base}") in error
    }
    cases = {key: bool((fall > GREATLY) == (key[1] == "tree")) for key, fall in falls.items()}
    words = [
        f"{LABELS[base]} {min(mine):.0%} to {max(mine):.0%}"
        for base in BASES
        if (mine := [fall for key, fall in falls.items() if key[1] == base])
    ]
    return f"{plainly(cases)} (its error is below the single model's by: {', '.join(words)})"


def _not_improved(found: pd.DataFrame) -> str:
    """Judge that RSB does not improve on kNN and SVM: not by more than two standard errors."""
    of_base = {
        base: not_worse(found, "error", PROBLEMS, "single-{base}", "rsb-{base}", bases=[base])
        for base in TWO
    }
    shown = ", ".join(f"{LABELS[base]} {share(cases)} problems" for base, cases in of_base.items())
    return f"{plainly(of_base['knn'] | of_base['svm'])}: {shown}"


def _against_forests(found: pd.DataFrame, error: Means, aupr: Means) -> dict[str, str]:
    """Judge PRSB against RF and GBDT: without Friedman, on Friedman, and in general."""
    kinds = {
        f"{name} against {label(other)}": (value, ours, theirs, other, value == "aupr")
        for value, name, ours, theirs in (
            ("error", "error", error, printed(TABLE_S2_ERROR)),
            ("aupr", "AUPR", aupr, printed(TABLE_S2_AUPR)),
        )
        for other in FOREST_AND_BOOSTING
    }
    most = [name for name in PROBLEMS if name != "Friedman"]

    def of_means(names: Sequence[str], paper: bool) -> dict[str, Cases]:
        return {
            kind: better(theirs if paper else ours, names, "prsb-{base}", other, larger=larger)
            for kind, (_, ours, theirs, other, larger) in kinds.items()
        }

    equal = {
        kind: not_worse(found, value, most, "prsb-{base}", other, larger=larger)
        for kind, (value, _, _, other, larger) in kinds.items()
    }
    ours, theirs = of_means(most, False), of_means(most, True)
    breakdown = "; ".join(
        f"{kind} {share(ours[kind])} (paper's table: {share(theirs[kind])})" for kind in kinds
    )
    worse, worse_there = (
        {key: not held for key, held in joined(of_means(["Friedman"], paper)).items()}
        for paper in (False, True)
    )
    general = joined(of_means(PROBLEMS, False)) | joined({"EDA": _above_eda(aupr, PROBLEMS)})
    in_paper = share(worse_there)
    return {
        "claim_forests": f"{counted(joined(equal), 'problems')}; the mean is better: {breakdown}",
        "claim_friedman": f"{plainly(worse)} means are worse there (paper's table: {in_paper})",
        "claim_general": counted(general, "problems"),
    }


def _of_references(error: Means, aupr: Means) -> dict[str, str]:
    """Judge what the paper says of Q = 1 beside Q = 10."""

    def improved(errors: Means, auprs: Means, names: Sequence[str], one: str, ten: str) -> Cases:
        return both(better(errors, names, one, ten), better(auprs, names, one, ten, larger=True))

    ours = partial(improved, error, aupr, one="prsb1-{base}", ten="prsb10-{base}")
    theirs = partial(
        improved, printed(TABLE_S3_ERROR), printed(TABLE_S3_AUPR), one="prsb1-{base}",
        ten="prsb10-{base}",
    )  # fmt: skip
    most = [name for name in PROBLEMS if name != "Checkerboard"]
    of_error = better(error, most, "prsb1-{base}", "prsb10-{base}")
    of_aupr = better(aupr, most, "prsb1-{base}", "prsb10-{base}", larger=True)
    not_both = {key: not held for key, held in ours(["Checkerboard"]).items()}
    above = {
        q: better(aupr, ["Friedman"], f"prsb{q}-{{base}}", "gbdt", larger=True, bases=TWO)
        for q in (1, 10)
    }
    return {
        "claim_q": f"{counted(ours(most), 'problems', theirs(most))}; error alone "
        f"{share(of_error)}, AUPR alone {share(of_aupr)}",
        "claim_q_checkerboard": f"{plainly(not_both)} base models do not gain both there (paper's "
        f"table: {len(BASES) - sum(theirs(['Checkerboard']).values())} of {len(BASES)})",
        "claim_q_friedman": f"{plainly(above[1])} (with Q = 10 here, too: {share(above[10])})",
    }


def _above_eda(aupr: Means, names: Sequence[str], bases: Sequence[str] = tuple(BASES)) -> Cases:
    return better(aupr, names, "prsb-{base}", "eda-{base}", larger=True, bases=bases)


# ---------------------------------------------------------------------- real data


def significant(found: pd.DataFrame, one: str, other: str) -> tuple[int, int, int]:
    """On how many data sets one method's errors are lower, higher by tests over folds; of how many.

    The corrected resampled t-test (Nadeau and Bengio 2003), then Holm's correction over data sets.
    """
    wide = found[found["method"].isin([one, other])].pivot(
        index=["data", "repetition"], columns="method", values="error"
    )
    tests = {
        data: corrected_t_test(part[other].to_numpy(), part[one].to_numpy(), 1 / (N_FOLDS - 1))
        for data, part in wide.dropna().groupby("data")
        if len(part) > 1
    }
    if not tests:
        return 0, 0, 0
    small = holm([test.p_value for test in tests.values()]) < 0.05
    lower = sum(bool(s and t.difference < 0) for s, t in zip(small, tests.values(), strict=True))
    higher = sum(bool(s and t.difference > 0) for s, t in zip(small, tests.values(), strict=True))
    return lower, higher, len(tests)


def over_folds(found: pd.DataFrame, one: str, other: str) -> str:
    """Write on how many data sets two methods' errors differ, by tests over the folds."""
    lower, higher, n = significant(found, one, other)
    return f"lower on {lower}, higher on {higher} of {n}" if n else "not yet computed"


def against_rsb(found: pd.DataFrame, names: Sequence[str]) -> dict[str, str]:
    """Write on how many sets PRSB has the lower mean error, here and in the paper, by base."""
    values = {}
    for base in BASES:
        values[f"folds_{base}"] = over_folds(found, f"prsb-{base}", f"rsb-{base}")
        for whose, error in (("real", means(found, "error")), ("paper", printed(TABLE_4))):
            cases = better(error, names, "prsb-{base}", "rsb-{base}", bases=[base])
            values[f"{whose}_{base}"] = share(cases)
    return values


def where_tuned(found: pd.DataFrame, tuned: Mapping[str, Sequence[str]]) -> str:
    """Write on how many sets PRSB has the lower mean error where RSB is tuned by appendix B."""
    error = means(found, "error")
    words = []
    for base in BASES:
        cases = better(error, tuned[f"rsb-{base}"], "prsb-{base}", "rsb-{base}", bases=[base])
        words.append(f"{LABELS[base]} {share(cases)}")
    return ", ".join(words)


def against_paper(found: pd.DataFrame) -> str:
    """Write on how many sets PRSB's errors and AUPR are below and above the paper's, by base."""
    words = []
    for base in BASES:
        shown = []
        for value, paper in (("error", TABLE_S6), ("AUPR", TABLE_S7)):
            ours, method = means(found, value.lower()), f"prsb-{base}"
            gaps = [
                round(mean, 2) - paper[name, m].mean
                for (name, m), mean in ours.items()
                if m == method
            ]
            below, above = (sum(sign * gap > 0.001 for gap in gaps) for sign in (-1, 1))
            shown.append(f"{value} lower on {below}, higher on {above}")
        words.append(f"{label(f'prsb-{base}')} {' and '.join(shown)}")
    return "; ".join(words)


def of_real(
    found: pd.DataFrame, names: Sequence[str], five: list[str], whole: pd.DataFrame
) -> dict[str, str]:
    """Whether what section 3.2 of the paper says holds here, statement by statement.

    `whole` has errors with all rows, data sets × the methods that were run so.
    """
    error, aupr, size = (means(found, value) for value in ("error", "aupr", "size"))
    errors, rankings = (by_set(found, value, five) for value in ("error", "aupr"))
    if len(errors) < 3:  # too few for ranks
        keys = "knn_svm trees sparse outperformed tree_apart tree_same eda aupr knn_apart bases"
        return {f"said_{key}": "(not yet computed)" for key in keys.split()}
    ranks, _, difference = average_ranks(errors, larger_is_better=False)
    of_aupr, _, aupr_difference = average_ranks(rankings, larger_is_better=True)
    there = printed(TABLE_4), printed(TABLE_S5), printed(TABLE_S7)
    below = partial(better, names=names, one="prsb-{base}", other="rsb-{base}")
    eda, eda_there = (_above_eda(values, names) for values in (aupr, there[2]))
    return {
        "said_knn_svm": counted(below(error, bases=TWO), "sets", below(there[0], bases=TWO)),
        "said_trees": _no_improvement(found, error, names),
        "said_sparse": counted(below(size), "sets", below(there[1])),
        "said_outperformed": _behind(ranks),
        "said_tree_apart": _insignificant(ranks, difference),
        "said_tree_same": _not_apart(ranks, "prsb-tree", difference, whole),
        "said_eda": f"{counted(eda, 'sets', eda_there)}: {_by_base(eda)} sets; in the paper's "
        f"table {_by_base(eda_there)}",
        "said_aupr": _behind(of_aupr),
        "said_knn_apart": _not_apart(of_aupr, "prsb-knn", aupr_difference),
        "said_bases": _trees_best(ranks, of_aupr),
    }


def _by_base(cases: Cases) -> str:
    mine = {base: {key: v for key, v in cases.items() if key[1] == base} for base in BASES}
    return ", ".join(f"{LABELS[base]} {share(held)}" for base, held in mine.items())


def _no_improvement(found: pd.DataFrame, error: Means, names: Sequence[str]) -> str:
    """Judge that trees gain nothing: at most half of the means fall; in part if none clearly."""
    cases = better(error, names, "prsb-{base}", "rsb-{base}", bases=["tree"])
    lower, higher, n = significant(found, "prsb-tree", "rsb-tree")
    few = sum(cases.values()) <= len(cases) / 2
    agrees = True if few else None if lower == 0 else False
    return (
        f"{verdict(agrees)} PRSB-tree has a lower mean error than RSB-tree on {share(cases)} sets; "
        f"by the tests over folds it is lower on {lower}, higher on {higher} of {n}"
    )


def _behind(ranks: pd.Series) -> str:
    """Judge that PRSB is behind RF and GBDT in average ranks: six pairs."""
    cases = behind(ranks)
    return (
        f"{verdict(judged(cases.values()))} PRSB's average rank is behind in {share(cases)} pairs"
    )


def _insignificant(ranks: pd.Series, difference: float) -> str:
    """Judge that PRSB-tree is behind RF and GBDT, but not significantly; kNN and SVM beside."""
    gaps = [float(ranks["prsb-tree"] - ranks[m]) for m in FOREST_AND_BOOSTING]
    near = all(abs(gap) <= difference for gap in gaps)
    all_behind = all(gap > 0 for gap in gaps)
    words = "; ".join(apart(ranks, m, "prsb-tree", difference) for m in FOREST_AND_BOOSTING)
    most = {
        base: max(float(ranks[f"prsb-{base}"] - ranks[m]) for m in FOREST_AND_BOOSTING)
        for base in TWO
    }
    others = ", ".join(f"{label(f'prsb-{base}')} {gap:.2f}" for base, gap in most.items())
    agrees = near if all_behind or not near else None
    return (
        f"{verdict(agrees)} {words}. Behind the better of RF and GBDT by: {others} (the paper "
        "implies that these two differ significantly)"
    )


def _not_apart(
    ranks: pd.Series, method: str, difference: float, whole: pd.DataFrame | None = None
) -> str:
    """Judge that a method does not differ significantly from RF and GBDT; with all rows, too."""
    readings = {"": ranks}
    if whole is not None and len(whole) >= 3:
        readings[". With all rows, by the same critical difference: "] = average_ranks(
            whole, larger_is_better=False
        )[0]
    near, words = [], ""
    for what, found in readings.items():
        near += [abs(found[method] - found[m]) <= difference for m in FOREST_AND_BOOSTING]
        words += what + "; ".join(apart(found, m, method, difference) for m in FOREST_AND_BOOSTING)
    return f"{verdict(all(near) or (None if any(near) else False))} {words}"


def _trees_best(errors: pd.Series, rankings: pd.Series) -> str:
    """Judge that PRSB is best with trees by errors, and is not by feature rankings."""
    names = [f"prsb-{base}" for base in BASES]
    first = [ranks[names].idxmin() == "prsb-tree" for ranks in (errors, rankings)]
    holds = [first[0], not first[1]]
    words = [
        ", ".join(f"{label(name)} {ranks[name]:.2f}" for name in names)
        for ranks in (errors, rankings)
    ]
    return (
        f"{verdict(all(holds) or (None if any(holds) else False))} Average ranks are {words[0]} "
        f"(test errors), and {words[1]} (feature rankings)"
    )


def always(simulated: pd.DataFrame, real: pd.DataFrame, names: Sequence[str]) -> str:
    """Judge that PRSB always improves over RSB with kNN and SVM; the paper's own table beside."""
    cases = [
        better(means(found, "error"), where, "prsb-{base}", "rsb-{base}", bases=TWO)
        for found, where in ((simulated, list(PROBLEMS)), (real, names))
    ]
    every = [*cases[0].values(), *cases[1].values()]
    if not every:
        return "(not yet computed)"
    theirs = printed(TABLE_4)
    higher = better(theirs, names, "rsb-{base}", "prsb-{base}", bases=TWO)
    not_there = [
        f"{sum(held for key, held in higher.items() if key[1] == base)} with {LABELS[base]}"
        for base in TWO
    ]
    agrees = True if all(every) else None if judged(every) else False
    return (
        f"{verdict(agrees)} {share(cases[0])} simulated and {share(cases[1])} real cases; in the "
        f"paper's own Table 4 PRSB has the higher error on {listed(not_there)} of {len(names)} sets"
    )


# ---------------------------------------------------------------------- gene networks


def of_networks(cells: pd.DataFrame) -> dict[str, str]:
    """Whether what sections 3.3 and 4 of the paper say of networks holds here."""
    plain = ["forest", *(f"eda-{base}" for base in BASES), *(f"prsb-{base}-0" for base in BASES)]
    ours: dict[tuple[str, str], float] = {}
    for name in NETWORKS:
        for method in [*plain, *(f"prsb-{base}-auto" for base in BASES)]:
            if seeds := precisions(cells, name, method):
                ours[name, method] = float(np.mean(seeds))
    ruled = []  # base models for which λ by the paper's rule was run
    for base in BASES:
        found = values_by_rule(cells, f"prsb-{base}", READINGS[0])
        if len(found) == len(NETWORKS) and all(values for _, values in found):
            ruled.append(base)
            for name, (_, values) in zip(NETWORKS, found, strict=True):
                ours[name, f"rule-{base}"] = float(np.mean(values))
    theirs = {(name, method): number.mean for (method, name), number in TABLE_5.items()}
    above = partial(better, names=NETWORKS, larger=True)
    forest = above(ours, one="rule-{base}", other="forest")
    forest_there = above(theirs, one="prsb-{base}-auto", other="forest")
    eda, eda_there = (above(v, one="prsb-{base}-0", other="eda-{base}") for v in (ours, theirs))
    return {
        "net_bases": listed([LABELS[base] for base in ruled]) if ruled else "no base model",
        "net_highest": plainly(_highest(ours, plain, "rule-{base}")),
        "net_highest_auto": share(_highest(ours, plain, "prsb-{base}-auto")),
        "net_eda": counted(eda, "networks", eda_there),
        "net_forest": _slightly_inferior(ours, theirs),
        "net_above": counted(forest, "networks", forest_there),
    }


def _slightly_inferior(ours: Means, theirs: Means) -> str:
    """Judge that PRSB without a penalty is slightly below forests.

    Slightly: on average by not more than twice the paper's own difference; in part if by more.
    """
    gaps, gaps_there = (
        {
            (name, base): values[name, f"prsb-{base}-0"] - values[name, "forest"]
            for name in NETWORKS
            for base in BASES
            if (name, f"prsb-{base}-0") in values and (name, "forest") in values
        }
        for values in (ours, theirs)
    )
    if not gaps:
        return "(not yet computed)"
    below, below_there = ({k: bool(gap < 0) for k, gap in g.items()} for g in (gaps, gaps_there))
    mean, mean_there = (float(np.mean(list(g.values()))) for g in (gaps, gaps_there))
    agrees = judged(below.values())
    if agrees and abs(mean) > 2 * abs(mean_there):
        agrees = None
    ranges = [signed([*g.values()]) for g in (gaps, gaps_there)]
    return (
        f"{verdict(agrees)} Lower in {share(below)} (paper's table: {share(below_there)}), on "
        f"average by {mean:+.3f} ({ranges[0]}; paper {mean_there:+.3f}, {ranges[1]})"
    )


def _highest(ours: Means, plain: Sequence[str], regularised: str) -> Cases:
    """By network: whether the best of all is kNN or SVM with a penalty."""
    methods = [*plain, *(regularised.format(base=base) for base in BASES)]
    best = {regularised.format(base=base) for base in TWO}
    cases: Cases = {}
    for name in NETWORKS:
        values = {m: ours[name, m] for m in methods if (name, m) in ours}
        if best & set(values):
            cases[name, "best"] = max(values, key=lambda m: values[m]) in best
    return cases
