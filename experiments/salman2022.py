"""Regenerate the results of Salman, Alzaatreh and Sulieman (2022), next to what the paper reports.

python experiments/salman2022.py            # about 6 minutes of CPU time, on two cores
python experiments/salman2022.py --quick    # a look, in a temporary folder
"""

from __future__ import annotations

import argparse
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from _common import arguments, load, log, table, verdict, write
from _figures import save_figure
from _salman_figures import (
    BROKEN,
    FILTERS,
    LISTS,
    LOOK,
    ONE,
    RULES,
    SETS,
    SINGLE,
    TENTHS,
    WIDE,
    plot_accuracy,
    plot_stability,
    plot_stuart,
)
from joblib import Parallel, delayed
from scipy.special import factorial
from scipy.stats import f_oneway, friedmanchisquare, spearmanr, wilcoxon
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit
from sklearn.naive_bayes import CategoricalNB, GaussianNB

import mainstay as ms
from mainstay.aggregation.order_statistics import rra_log_rho, stuart_log_q
from mainstay.rankers import MRMR, score_filters
from mainstay.rankers.inputs import Table, almost_constant


def sizes(quick: bool) -> dict[str, Any]:
    """Repetitions of every part: small sets, wide sets."""
    if quick:
        return {
            "splits": 2, "table": 30, "greedy": 5, "folds": 6, "ig": (20, 10), "mrmr": (4, 3),
            "mrmr_folds": (5, 4), "halves": 4, "half_b": 10, "stuart_folds": 5,
        }  # fmt: skip
    return {
        "splits": 10, "table": 300, "greedy": 30, "folds": 100, "ig": (1000, 300), "mrmr": (30, 20),
        "mrmr_folds": (100, 20), "halves": 30, "half_b": 200, "stuart_folds": 100,
    }  # fmt: skip


def read(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Read a data set as the paper has it: two classes, no columns of near-zero variance."""
    X, y = load(f"wam12/{name}")
    y = {"optdigits": y == 3, "splice": y != 2}.get(name, y == 1).astype(int)
    columns = Table(X)
    kept = [j for j in range(X.shape[1]) if not almost_constant(columns.column(j))]
    return X[:, kept], y


def bootstraps(n: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """How often each of n rows comes in each of `count` bootstrap samples."""
    cells = rng.integers(n, size=(count, n)) + n * np.arange(count)[:, None]
    return np.bincount(cells.ravel(), minlength=count * n).reshape(count, n)


def scored(X: np.ndarray, y: np.ndarray, weights: np.ndarray, filters: Any) -> dict[str, Any]:
    """Scores of every filter in every resample; mRMR: p + 1 − place in the order of selection."""
    tables = [name for name in filters if name != "mrmr"]
    found = score_filters(X, y, weights, tables) if tables else {}
    if "mrmr" in filters:
        found["mrmr"] = X.shape[1] + 1 + MRMR().score_resamples(X, y, weights)
    return found


def aggregated(scores: np.ndarray) -> dict[str, np.ndarray]:
    """Ranks by the five rules. RRA by its log ρ: p-values, which order nothing, would cost more."""
    runs = ms.Runs.from_scores(scores)
    by_rank = ms.Runs.from_ranks(runs.ranks)
    methods = ("mean", "geometric_mean", "l2_norm", None, "stuart")
    return {
        rule: ms.aggregate(runs, method).ranks
        if method
        else ms.aggregate(by_rank, lambda r: -rra_log_rho(r / r.shape[1])).ranks
        for rule, method in zip(RULES, methods, strict=True)
    }


def alone(scores: np.ndarray) -> np.ndarray:
    """Ranks by one row of scores, ties in column order."""
    return np.argsort(np.argsort(-scores, kind="stable")) + 1


def classical_q(ranks: np.ndarray) -> np.ndarray:
    """Q of normalised ranks (lists × features) by the alternating recursion, in doubles.

    V_k = Σ_{i=1..k} (−1)^{i−1} V_{k−i}/i! · r_{m−k+1}^i, Q = m!·V_m (Aerts et al. 2006).
    """
    values, at = np.unique(np.sort(ranks, axis=0), return_inverse=True)
    m, p = ranks.shape
    at = at.reshape(m, p)
    i = np.arange(1, m + 1)[:, None]
    signs, factorials, powers = (-1.0) ** (i - 1), factorial(i), values**i
    V = np.ones((m + 1, p))
    with np.errstate(all="ignore"):
        for k in range(1, m + 1):
            terms = V[k - 1 :: -1] * powers[:k, at[m - k]] / factorials[:k]
            V[k] = (signs[:k] * terms).sum(axis=0)
        return np.asarray(factorials[-1] * V[m])


def by_recursion(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ranks by the recursion, sorted as RobustRankAggreg does: first list, stable, NaN last; Q."""
    ranks = ms.Runs.from_scores(scores).ranks
    q = classical_q(ranks / ranks.shape[1])
    first = np.argsort(ranks[0], kind="stable")
    return np.argsort(first[np.argsort(q[first], kind="stable")]) + 1, q


def rank_all(X: np.ndarray, y: np.ndarray, filters: Any, count: int, rng: Any) -> dict[str, Any]:
    """Filter → rule → ranks, of all rules, the filter without bootstrap, and one bootstrap."""
    weights = bootstraps(len(y), count, rng)
    scores = scored(X, y, np.vstack([np.ones_like(weights[:1]), weights]), filters)
    return {
        name: aggregated(s[1:])
        | {BROKEN: by_recursion(s[1:])[0]}
        | {SINGLE: alone(s[0]), ONE: alone(s[1])}
        for name, s in scores.items()
    }


# ---------------------------------------------------------------------- accuracy


def log_likelihoods(model: Any, X: np.ndarray) -> np.ndarray:
    """What every feature adds to the log-likelihood of a fitted naive Bayes: classes × n × p."""
    if isinstance(model, CategoricalNB):
        columns = zip(model.feature_log_prob_, X.astype(int).T, strict=True)
        return np.stack([logs[:, codes] for logs, codes in columns], axis=2)
    mean, var = model.theta_[:, None], model.var_[:, None]
    return -0.5 * (np.log(2 * np.pi * var) + (X - mean) ** 2 / var)


def accuracies(name: str, split: int, size: dict[str, Any], seed: int) -> list[dict[str, Any]]:
    """Rank on two thirds of the rows; naive Bayes, five-fold, on the other third."""
    X, y = read(name)
    p, rng = X.shape[1], np.random.default_rng([seed, SETS.index(name), split, 1])
    splitter = StratifiedShuffleSplit(1, test_size=1 / 3, random_state=1000 * seed + split)
    train, test = next(splitter.split(X, y))
    ranks = rank_all(X[train], y[train], list(FILTERS)[:3], size["table"], rng)
    ranks |= rank_all(X[train], y[train], ["mrmr"], size["greedy"], rng)
    orders = {(f, r): np.argsort(v) for f, rules in ranks.items() for r, v in rules.items()}
    right = {key: np.zeros(10) for key in orders}
    X, y = X[test], y[test]
    last = [-(-t * p // 10) - 1 for t in TENTHS]
    for fit, check in StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y):
        few = int(X.max()) + 1 if name == "splice" else None
        model = CategoricalNB(min_categories=few) if few else GaussianNB()
        model.fit(X[fit], y[fit])
        prior = model.class_log_prior_ if few else np.log(model.class_prior_)
        logs = log_likelihoods(model, X[check])
        for key, order in orders.items():
            total = prior[:, None, None] + np.cumsum(logs[:, :, order], axis=2)[:, :, last]
            right[key] += (total.argmax(axis=0) == y[check][:, None]).sum(axis=0) / len(y)
    return [
        {"data": name, "filter": f, "rule": r, "tenth": t, "accuracy": x}
        for (f, r), hits in right.items()
        for t, x in zip(TENTHS, hits, strict=True)
    ]


def accuracy_study(size: dict[str, Any], options: argparse.Namespace) -> dict[str, Any]:
    log(f"accuracy: {len(SETS)} data sets × {size['splits']} splits")
    tasks = product(SETS[::-1], range(size["splits"]))
    rows = Parallel(options.jobs)(delayed(accuracies)(*t, size, options.seed) for t in tasks)
    every = pd.DataFrame([row for part in rows for row in part])
    mean = every.groupby(["data", "filter", "rule", "tenth"])["accuracy"].mean()
    save_figure(plot_accuracy(mean), options.output, "salman2022_accuracy.png")
    below = mean[mean.index.get_level_values("tenth") < 10]
    shown = [*RULES, SINGLE]
    by = below.groupby(["filter", "rule"]).mean().unstack()[shown].loc[list(FILTERS)]
    by_set = below.groupby(["data", "rule"]).mean().unstack()[shown].loc[list(SETS)]
    curves = mean.unstack("tenth").loc[pd.IndexSlice[:, :, list(RULES)], :]
    gain = curves.loc[:, :9].max(axis=1) - curves[10]
    spread = mean.unstack("rule")[list(RULES)].agg(np.ptp, axis=1).groupby("tenth").mean()
    drop = (curves.max(axis=1) - curves[1]).groupby("data").mean()
    places = below.unstack("rule")[list(RULES)].groupby(["data", "filter"]).mean()
    rank = places.rank(axis=1, ascending=False)
    middle = by_set[list(RULES)].round(6).rank(axis=1, ascending=False, method="min").le(3)
    tests = {
        f: friedmanchisquare(*part.T.to_numpy()).pvalue for f, part in places.groupby("filter")
    }
    pairs = {r: wilcoxon(places[r], places["arithmetic mean"]).pvalue for r in RULES[1:]}
    both = middle[["arithmetic mean", "L2 norm"]].all(axis=1)
    best = by_set[list(RULES)].agg(np.ptp, axis=1)
    return {
        "accuracy_by_filter": filled(by, FILTERS),
        "accuracy_by_set": filled(by_set),
        "gain": verdict(bool((gain > 0).mean() > 0.8)),
        "gain_share": f"{(gain > 0).sum()} of {len(gain)}",
        "gain_mean": 100 * gain.mean(),
        "spread": spread.mul(100).to_dict(),
        "spread_verdict": verdict(bool(spread[1] > spread[5] > spread[9])),
        "drop": ", ".join(f"{d} {100 * drop[d]:.1f}" for d in SETS),
        "drop_verdict": verdict(None if drop.min() < 0.02 < drop.max() else drop.min() > 0.02),
        "places": ", ".join(f"{r} {rank[r].mean():.2f}" for r in RULES),
        "middle_verdict": verdict(
            both.mean() > 0.9 if both.mean() > 0.9 or both.mean() < 0.5 else None
        ),
        "middle": f"{both.sum()} of {len(both)}",
        "range": f"{100 * best.min():.2f} to {100 * best.max():.2f}",
        "friedman": ", ".join(f"{FILTERS[f]} {tests[f]:.3f}" for f in FILTERS),
        "friedman_verdict": verdict(
            {0: False, 2: True}.get(sum(tests[f] < 0.05 for f in ("information_gain", "mrmr")))
        ),
        "pairs": ", ".join(f"{r} {x:.3f}" for r, x in pairs.items()),
        "l2_verdict": verdict(bool(pairs["L2 norm"] > 0.05)),
        "gm_verdict": verdict(bool(pairs["geometric mean"] < 0.05)),
        "gm_difference": 100 * (places["geometric mean"] - places["arithmetic mean"]).mean(),
    }


def filled(values: pd.DataFrame, names: Any = None) -> str:
    """Write a table of numbers with three digits, the last row their mean."""
    rows = [((names or {}).get(k, k), *[f"{x:.3f}" for x in v]) for k, v in values.iterrows()]
    return table(["", *values], [*rows, ("**mean**", *[f"{x:.3f}" for x in values.mean()])])


# ---------------------------------------------------------------------- stability


def one_part(name: str, filter_: str, rows: np.ndarray, count: int, seed: list[int]) -> Any:
    X, y = read(name)
    return rank_all(X[rows], y[rows], [filter_], count, np.random.default_rng(seed))[filter_]


def measure(parts: list[dict[str, np.ndarray]]) -> pd.DataFrame:
    """Stability of every rule over the outer parts."""
    rows = {}
    for rule in parts[0]:
        runs = ms.Runs.from_ranks(np.array([part[rule] for part in parts]))
        p = runs.n_features
        canberra = ms.stability(runs, "canberra")
        tops = [ms.stability(runs, f"jaccard@{-(-t * p // 10)}").value for t in TENTHS[:-1]]
        rows[rule] = {
            "Spearman": ms.stability(runs, "spearman").value,
            "1 − Canberra": canberra.value,
            "Canberra distance": canberra.canberra_distance,
            "Jaccard": np.mean(tops),
        } | {f"Jaccard {10 * t}%": x for t, x in zip(TENTHS, tops, strict=False)}
    return pd.DataFrame(rows).T


def outer(filter_: str, size: dict[str, Any], options: argparse.Namespace, half: bool) -> Any:
    """Stability over the training parts of folds, or over halves, for every data set."""
    tasks, owners = [], []
    for name in SETS[::-1]:
        at, n = int(name in WIDE), len(read(name)[1])
        random = {"shuffle": True, "random_state": options.seed}
        parts: Any = KFold(size["folds"], **random).split(np.zeros(n))
        count, limit = size["ig"][at], size["folds"]
        if filter_ == "mrmr":
            count, limit = size["mrmr"][at], size["mrmr_folds"][at]
        if half:
            parts = ShuffleSplit(size["halves"], train_size=0.5, random_state=options.seed).split(
                np.zeros(n)
            )
            count, limit = size["half_b"], size["halves"]
        for i, (train, _) in enumerate(list(parts)[:limit]):
            seed = [options.seed, SETS.index(name), i, 2 + half]
            tasks.append(delayed(one_part)(name, filter_, train, count, seed))
            owners.append(name)
    log(f"stability of {FILTERS[filter_]}: {len(tasks)} {'halves' if half else 'training parts'}")
    done = Parallel(options.jobs, batch_size=4)(tasks)
    split = {n: [d for d, o in zip(done, owners, strict=True) if o == n] for n in SETS}
    return pd.concat(
        {name: measure(parts) for name, parts in split.items()}, names=["data", "rule"]
    )


def stability_study(size: dict[str, Any], options: argparse.Namespace) -> dict[str, Any]:
    found = {f: outer(f, size, options, half=False) for f in ("information_gain", "mrmr")}
    halves = outer("information_gain", size, options, half=True)
    save_figure(plot_stability(found), options.output, "salman2022_stability.png")
    values: dict[str, Any] = {"half_table": by_rule(halves, "Spearman")}
    shown = ("Spearman", "1 − Canberra", "Canberra distance", "Jaccard")
    for filter_, frame in found.items():
        values[f"{filter_}_tables"] = "\n\n".join(
            f"*{FILTERS[filter_]}, {what}*\n\n{by_rule(frame, what)}" for what in shown
        )
        tops = [c for c in frame if str(c).startswith("Jaccard ")]
        cells = frame[tops].groupby("rule").mean().loc[list(LOOK)]
        values[f"{filter_}_jaccard"] = table(
            ["", *[c.split()[1] for c in tops]],
            [(r, *[f"{x:.3f}" for x in cells.loc[r]]) for r in LOOK],
        )
        values |= stability_claims(filter_, frame)
    small = [p < 0.05 for f in found for p in values[f"{f}_p"]]
    values["anova_verdict"] = verdict(True if all(small) else None if any(small) else False)
    gap = halves["Spearman"].unstack("rule")
    values["half_gap"] = (gap["arithmetic mean"] - gap[SINGLE]).mean()
    values["half_stuart"] = (gap["Stuart"] - gap["arithmetic mean"]).mean()
    return values


def by_rule(frame: pd.DataFrame, what: str) -> str:
    return filled(frame[what].unstack("rule").loc[list(SETS), list(LOOK)])


def stability_claims(filter_: str, frame: pd.DataFrame) -> dict[str, Any]:
    """What the paper says of Figs. 15 to 20: with Stuart's Q right, and by the recursion."""
    lowest, lowest_broken, top, tests, tests_broken = 0, 0, 0, [], []
    measures = ("Spearman", "1 − Canberra", "Jaccard")
    for what in measures:
        by = frame[what].unstack("rule")
        rules = by[list(RULES)]
        broken = rules.assign(Stuart=by[BROKEN])
        lowest += int((rules.idxmin(axis=1) == "Stuart").sum())
        lowest_broken += int((broken.idxmin(axis=1) == "Stuart").sum())
        top += int(rules.idxmax(axis=1).isin(["arithmetic mean", "L2 norm"]).sum())
        tests.append(f_oneway(*rules.T.to_numpy()).pvalue)
        tests_broken.append(f_oneway(*broken.T.to_numpy()).pvalue)
    cases = len(measures) * len(SETS)
    gaps = frame["Spearman"].unstack("rule")
    gap = gaps.mean()
    return {
        f"{filter_}_lowest": f"{lowest} of {cases}",
        f"{filter_}_lowest_broken": f"{lowest_broken} of {cases}",
        f"{filter_}_lowest_verdict": verdict(lowest == cases),
        f"{filter_}_top": f"{top} of {cases}",
        f"{filter_}_top_verdict": verdict(
            {True: True}.get(top > 0.8 * cases, None if top > cases / 3 else False)
        ),
        f"{filter_}_p": tests,
        f"{filter_}_anova": ", ".join(f"{x:.2g}" for x in tests),
        f"{filter_}_anova_broken": ", ".join(f"{x:.2g}" for x in tests_broken),
        f"{filter_}_means": ", ".join(f"{rule} {gap[rule]:.3f}" for rule in LOOK),
        f"{filter_}_single": int((gaps[SINGLE] >= gaps[list(RULES)].max(axis=1)).sum()),
    }


# ---------------------------------------------------------------------- Stuart's recursion


def stuart_fold(rows: np.ndarray, seed: list[int]) -> list[dict[str, Any]]:
    """Both ways of computing Stuart's Q in one training part, for every number of bootstraps."""
    X, y = read("ionosphere")
    X, y = X[rows], y[rows]
    weights = bootstraps(len(y), max(LISTS), np.random.default_rng(seed))
    scores = score_filters(X, y, weights, ["information_gain"])["information_gain"]
    found = []
    for m in LISTS:
        runs = ms.Runs.from_scores(scores[:m])
        log_q, _ = stuart_log_q(runs.ranks / runs.n_features)
        broken, q = by_recursion(scores[:m])
        with np.errstate(all="ignore"):
            error = np.abs(q * np.exp(-log_q) - 1)
        found.append(
            {
                "error": np.nanmax(np.where(np.isnan(q), np.nan, error), initial=0),
                "outside": np.mean(~((q >= 0) & (q <= 1))),
                "nan": np.mean(np.isnan(q)),
                "recursion": broken,
                "exact": ms.aggregate(runs, "stuart").ranks,
                "mean": ms.aggregate(runs, "mean").ranks,
                "first": alone(scores[0]),
            }
        )
        found[-1]["same"] = bool((found[-1]["recursion"] == found[-1]["first"]).all())
        found[-1]["between"] = spearmanr(found[-1]["recursion"], found[-1]["exact"]).statistic
    return found


def stuart_study(size: dict[str, Any], options: argparse.Namespace) -> dict[str, Any]:
    folds = size["stuart_folds"]
    log(f"Stuart's recursion: ionosphere, {folds} training parts")
    n = len(read("ionosphere")[1])
    parts = KFold(folds, shuffle=True, random_state=options.seed).split(np.zeros(n))
    tasks = (delayed(stuart_fold)(t, [options.seed, i, 4]) for i, (t, _) in enumerate(parts))
    done = Parallel(options.jobs)(tasks)
    rows, stable = [], {}
    for at, m in enumerate(LISTS):
        at_m = [fold[at] for fold in done]
        stable[m] = {
            key: ms.stability(ms.Runs.from_ranks([f[key] for f in at_m]), "spearman").value
            for key in ("exact", "recursion", "mean", "first")
        }
        numbers = {
            k: np.array([f[k] for f in at_m]) for k in ("error", "outside", "nan", "between")
        }
        stable[m] |= {"error": numbers["error"].max(), "same": sum(f["same"] for f in at_m)}
        stable[m] |= {k: numbers[k].mean() for k in ("outside", "nan", "between")}
        s = stable[m]
        shares = (f"{s['outside']:.2%}", f"{s['nan']:.2%}", f"{s['between']:.3f}")
        kinds = [f"{s[k]:.3f}" for k in ("exact", "recursion", "mean", "first")]
        error = "no number" if s["nan"] == 1 else f"{s['error']:.0e}".replace("inf", "∞")
        rows.append((m, error, *shares, f"{s['same']} of {folds}", *kinds))
    save_figure(plot_stuart(stable), options.output, "salman2022_stuart.png")
    header = [
        "bootstraps",
        "largest relative error",
        "outside [0, 1] or NaN",
        "NaN",
        "Spearman of the two orders",
        "order of the first bootstrap",
    ]
    header += [
        f"stability: {k}" for k in ("exact Q", "recursion", "arithmetic mean", "first bootstrap")
    ]
    return {
        "stuart_table": table(header, rows, text=0),
        "stuart": stable,
        "stuart_folds": folds,
        "same_verdict": verdict(stable[1000]["same"] == folds or None),
        "error_verdict": verdict(
            (stable[30]["error"] < 3e-4 and not stable[40]["outside"]) or None
        ),
        "first_outside": min(m for m, s in stable.items() if s["outside"]),
        "unstable_verdict": verdict(stable[1000]["exact"] < stable[1000]["mean"] - 0.02),
    }


def main() -> None:
    """Regenerate all results."""
    options = arguments(__doc__)
    size = sizes(options.quick)
    raw = {name: (load(f"wam12/{name}")[0], *read(name)) for name in SETS}
    shapes = [
        (name, len(y), before.shape[1], X.shape[1], f"{y.mean():.1%}")
        for name, (before, X, y) in raw.items()
    ]
    values = {
        "sets_table": table(["", "rows", "columns", "columns kept", "class 1"], shapes),
        "size": size,
        "wide": ", ".join(WIDE),
        "n_sets": len(SETS),
    }
    values |= stuart_study(size, options) | accuracy_study(size, options)
    values |= stability_study(size, options)
    write("salman2022.md", options, values)


if __name__ == "__main__":
    main()
