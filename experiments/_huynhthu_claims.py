"""What the paper says in words, judged by our numbers: counts against luck, tests, ranks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

import numpy as np
import pandas as pd
from _common import verdict
from _huynhthu_cells import N_FOLDS, PROBLEMS
from _huynhthu_figures import average_ranks
from _huynhthu_methods import BASES
from _huynhthu_network_tables import READINGS, precisions, values_by_rule
from _huynhthu_networks import NETWORKS
from _huynhthu_paper import (
    N_RELEVANT,
    TABLE_4,
    TABLE_5,
    TABLE_S1,
    TABLE_S5,
    TABLE_S6,
    TABLE_S7,
)
from _huynhthu_protocol import apart, by_set
from _huynhthu_tables import LABELS, Paper, label, listed, spread
from scipy.stats import binom

from mainstay.comparison.significance import corrected_t_test, holm

Means = Mapping[tuple[str, str], float]
GREATLY = 0.1  # an error that falls by more than a tenth has "greatly" improved
FOREST_AND_BOOSTING = ("rf", "gbdt")


def judged(cases: Sequence[bool]) -> bool | None:
    """Whether four fifths of the cases support a statement; None (in part) if most of them do."""
    return (
        True if sum(cases) >= 0.8 * len(cases) else None if sum(cases) > len(cases) / 2 else False
    )


def plainly(cases: Sequence[bool]) -> str:
    """Write how often something holds, and whether that supports the paper."""
    return f"{verdict(judged(cases))} {share(cases)}" if cases else "(not yet computed)"


def counted(cases: Sequence[bool]) -> str:
    """Write how often one thing is larger than another, the verdict, and what luck would do.

    The probability is that of as many heads in as many tosses of a coin.
    """
    if not cases:
        return "(not yet computed)"
    n, right = len(cases), sum(cases)
    luck = float(binom.sf(right - 1, n, 0.5))
    shown = "< 0.001" if luck < 0.001 else f"{luck:.3f}"
    return f"{plainly(cases)} (coin tosses: {n / 2:g}; at least as many: {shown})"


def share(cases: Sequence[bool]) -> str:
    """Write how many cases hold."""
    return f"{sum(cases)} of {len(cases)}"


def means(found: pd.DataFrame, value: str) -> Means:
    """Our means by data set and method."""
    return spread(found, value)["mean"].to_dict()


def printed(paper: Paper) -> Means:
    """The paper's means by data set and method."""
    return {key: number.mean for key, number in paper.items()}


def better(
    values: Means, names: Iterable[str], one: str, other: str, *, larger: bool = False,
    bases: Iterable[str] = BASES,
) -> list[bool]:  # fmt: skip
    """Whether one method is better than another, by data set and base model ("{base}")."""
    pairs = [
        (values.get((name, one.format(base=base))), values.get((name, other.format(base=base))))
        for name in names
        for base in bases
    ]
    return [bool(a > b if larger else a < b) for a, b in pairs if a is not None and b is not None]


# ---------------------------------------------------------------------- simulated problems


def of_simulated(found: pd.DataFrame) -> dict[str, str]:
    """Whether what section 3.1 of the paper concludes holds here."""
    error, aupr, size = (means(found, value) for value in ("error", "aupr", "size"))
    others = [name for name in PROBLEMS if name != "Friedman"]
    not_checkerboard = [name for name in PROBLEMS if name != "Checkerboard"]
    above = [size[key] > N_RELEVANT[key[0]] for key in size if key[1].startswith("prsb-")]
    of_paper = [
        number.mean > N_RELEVANT[key[0]]
        for key, number in TABLE_S1.items()
        if key[1].startswith("prsb-")
    ]
    values = {
        "claim_lowest": plainly(_lowest(error)),
        "claim_rsb": counted(better(error, PROBLEMS, "prsb-{base}", "rsb-{base}")),
        "claim_single": counted(better(error, PROBLEMS, "prsb-{base}", "single-{base}")),
        "claim_gain": counted(_larger_gains(error)),
        "claim_only_trees": plainly(_only_trees(error)),
        "claim_sparse": counted(better(size, PROBLEMS, "prsb-{base}", "rsb-{base}")),
        "claim_slightly": f"{counted(above)}; in the paper's table {share(of_paper)}",
        "claim_eda": counted(better(aupr, PROBLEMS, "prsb-{base}", "eda-{base}", larger=True)),
        "claim_q_error": counted(better(error, not_checkerboard, "prsb1-{base}", "prsb10-{base}")),
        "claim_q_aupr": counted(
            better(aupr, not_checkerboard, "prsb1-{base}", "prsb10-{base}", larger=True)
        ),
        "claim_q_friedman": counted(
            better(aupr, ["Friedman"], "prsb1-{base}", "gbdt", larger=True, bases=("knn", "svm"))
        ),
    }
    for method in FOREST_AND_BOOSTING:
        for name, table, larger in (("error", error, False), ("aupr", aupr, True)):
            cases = better(table, others, "prsb-{base}", method, larger=larger)
            worse = _clearly_worse(found[found["data"].isin(others)], name, method)
            values[f"claim_{method}_{name}"] = (
                f"{counted(cases)}; worse by more than two standard errors: {worse}"
            )
    return values


def _lowest(error: Means) -> list[bool]:
    """Whether PRSB is below the single model and RSB on Hypercube, by base model."""
    rsb, single = (
        better(error, ["Hypercube"], "prsb-{base}", f"{other}-{{base}}")
        for other in ("rsb", "single")
    )
    return [a and b for a, b in zip(rsb, single, strict=True)]


def _larger_gains(error: Means) -> list[bool]:
    """Whether PRSB's gain over RSB is larger with kNN or SVM than with trees, by problem."""
    gains = {
        (problem, base): error[problem, f"rsb-{base}"] - error[problem, f"prsb-{base}"]
        for problem in PROBLEMS
        for base in BASES
        if (problem, f"rsb-{base}") in error and (problem, f"prsb-{base}") in error
    }
    return [
        bool(gain > gains[problem, "tree"])
        for (problem, base), gain in gains.items()
        if base != "tree" and (problem, "tree") in gains
    ]


def _only_trees(error: Means) -> list[bool]:
    """Whether RSB greatly improves on the single model with trees, and does not with the others."""
    return [
        bool((1 - error[problem, f"rsb-{base}"] / error[problem, f"single-{base}"] > GREATLY)
             == (base == "tree"))
        for problem in PROBLEMS
        for base in BASES
        if (problem, f"rsb-{base}") in error and (problem, f"single-{base}") in error
    ]  # fmt: skip


def _clearly_worse(found: pd.DataFrame, value: str, other: str) -> int:
    """Count where PRSB is worse by more than two standard errors, paired by data set."""
    if value not in found:
        return 0
    wide = found.pivot(index=["data", "repetition"], columns="method", values=value)
    count = 0
    for base in BASES:
        if {other, f"prsb-{base}"} <= set(wide):
            gaps = (wide[f"prsb-{base}"] - wide[other]) * (-1 if value == "aupr" else 1)
            by_data = gaps.dropna().groupby("data")
            count += int((by_data.mean() > 2 * by_data.sem()).sum())
    return count


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


def of_real(found: pd.DataFrame, names: Sequence[str], five: list[str]) -> dict[str, str]:
    """Whether what section 3.2 of the paper says holds here, statement by statement."""
    error, aupr, size = (means(found, value) for value in ("error", "aupr", "size"))
    errors, rankings = (by_set(found, value, five) for value in ("error", "aupr"))
    if len(errors) < 3:  # too few for ranks
        keys = "knn_svm trees sparse outperformed tree_apart eda aupr knn_apart bases leader"
        return {f"said_{key}": "(not yet computed)" for key in keys.split()}
    ranks, _, difference = average_ranks(errors, larger_is_better=False)
    of_aupr, _, aupr_difference = average_ranks(rankings, larger_is_better=True)
    knn_svm = better(error, names, "prsb-{base}", "rsb-{base}", bases=("knn", "svm"))
    sparse = better(size, names, "prsb-{base}", "rsb-{base}")
    sparse_there = better(printed(TABLE_S5), names, "prsb-{base}", "rsb-{base}")
    eda = [_above_eda(aupr, names, [base]) for base in BASES]
    eda_there = [_above_eda(printed(TABLE_S7), names, [base]) for base in BASES]
    first = str(ranks.index[0])
    return {
        "said_knn_svm": counted(knn_svm),
        "said_trees": _no_improvement(found, error, names),
        "said_sparse": f"{counted(sparse)}; in the paper's table {share(sparse_there)}",
        "said_outperformed": _behind(ranks),
        "said_tree_apart": _not_apart(ranks, "prsb-tree", difference),
        "said_eda": f"{counted([*chain(*eda)])}: {_by_base(eda)} sets; in the paper's table "
        f"{_by_base(eda_there)}",
        "said_aupr": _behind(of_aupr),
        "said_knn_apart": _not_apart(of_aupr, "prsb-knn", aupr_difference),
        "said_bases": _trees_best(ranks, of_aupr),
        "said_leader": f"{label(first)} has the best average rank ({ranks.iloc[0]:.2f})",
    }


def _above_eda(aupr: Means, names: Sequence[str], bases: Sequence[str]) -> list[bool]:
    return better(aupr, names, "prsb-{base}", "eda-{base}", larger=True, bases=bases)


def _by_base(cases: Sequence[Sequence[bool]]) -> str:
    return ", ".join(f"{LABELS[b]} {share(c)}" for b, c in zip(BASES, cases, strict=True))


def _no_improvement(found: pd.DataFrame, error: Means, names: Sequence[str]) -> str:
    """Judge that trees gain nothing: at most half of the means fall; in part if none clearly."""
    cases = better(error, names, "prsb-{base}", "rsb-{base}", bases=["tree"])
    lower, higher, n = significant(found, "prsb-tree", "rsb-tree")
    agrees = True if sum(cases) <= len(cases) / 2 else None if lower == 0 else False
    return (
        f"{verdict(agrees)} PRSB-tree has a lower mean error than RSB-tree on {share(cases)} sets; "
        f"by the tests over folds it is lower on {lower}, higher on {higher} of {n}"
    )


def _behind(ranks: pd.Series) -> str:
    """Judge that PRSB is behind RF and GBDT in average ranks: six pairs."""
    cases = [bool(ranks[f"prsb-{b}"] > ranks[m]) for b in BASES for m in FOREST_AND_BOOSTING]
    return f"{verdict(judged(cases))} PRSB's average rank is behind in {share(cases)} pairs"


def _not_apart(ranks: pd.Series, method: str, difference: float) -> str:
    """Judge that a method does not differ significantly from RF and GBDT."""
    near = [abs(ranks[method] - ranks[m]) <= difference for m in FOREST_AND_BOOSTING]
    words = "; ".join(apart(ranks, m, method, difference) for m in FOREST_AND_BOOSTING)
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
    two = ("knn", "svm")
    cases = [
        better(means(found, "error"), where, "prsb-{base}", "rsb-{base}", bases=two)
        for found, where in ((simulated, list(PROBLEMS)), (real, names))
    ]
    every = [*chain(*cases)]
    if not every:
        return "(not yet computed)"
    theirs = printed(TABLE_4)
    not_there = [
        f"{sum(better(theirs, names, 'rsb-{base}', 'prsb-{base}', bases=[base]))} with "
        f"{LABELS[base]}"
        for base in two
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
    gaps = [
        ours[name, f"prsb-{base}-0"] - ours[name, "forest"]
        for name in NETWORKS
        for base in BASES
        if (name, f"prsb-{base}-0") in ours and (name, "forest") in ours
    ]
    theirs = {(name, method): number.mean for (method, name), number in TABLE_5.items()}
    forest = better(ours, NETWORKS, "rule-{base}", "forest", larger=True)
    forest_there = better(theirs, NETWORKS, "prsb-{base}-auto", "forest", larger=True)
    return {
        "net_bases": listed([LABELS[base] for base in ruled]) if ruled else "no base model",
        "net_highest": plainly(_highest(ours, plain, "rule-{base}")),
        "net_highest_auto": share(_highest(ours, plain, "prsb-{base}-auto")),
        "net_eda": counted(better(ours, NETWORKS, "prsb-{base}-0", "eda-{base}", larger=True)),
        "net_forest": counted([gap < 0 for gap in gaps]),
        "net_gap": f"{np.mean(gaps):+.3f} (from {min(gaps):+.3f} to {max(gaps):+.3f})"
        if gaps
        else "not run",
        "net_above": f"{counted(forest)}; in the paper's table {share(forest_there)}",
    }


def _highest(ours: Means, plain: Sequence[str], regularised: str) -> list[bool]:
    """By network: whether the best of all is kNN or SVM with a penalty."""
    methods = [*plain, *(regularised.format(base=base) for base in BASES)]
    best = {regularised.format(base=base) for base in ("knn", "svm")}
    cases = []
    for name in NETWORKS:
        values = {m: ours[name, m] for m in methods if (name, m) in ours}
        if best & set(values):
            cases.append(max(values, key=lambda m: values[m]) in best)
    return cases
