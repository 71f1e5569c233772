"""Regenerate the results of Nogueira and Brown (2015), next to what the paper reports.

python experiments/nogueira2015.py                # about 4 minutes of CPU time; every cell is kept
python experiments/nogueira2015.py --report-only  # what has been computed so far
python experiments/nogueira2015.py --quick        # a look, in a temporary folder: half a minute
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from _cells import Cell
from _common import arguments, load, table, verdict, write
from _figures import plot_extremes, plot_forests, save_figure, use_look
from _nogueira_measures import NAMES, PUBLISHED, chance, computed, pair, properties, value
from _selectors import N_TREES, trees_using

import mainstay as ms

# Table 2 of the paper: share of trees, features selected on average, standard deviation
TABLE_2 = {
    "wine": (0.5, 9.8, 0.93),
    "parkinsons": (0.5, 11, 1.7),
    "breast": (0.5, 15, 1.3),
    "sonar": (0.25, 42, 2.4),
}
SHAPES = {  # the other columns of Table 2: examples, classes, features
    "wine": (178, 3, 13),
    "parkinsons": (195, 2, 22),
    "breast": (569, 2, 30),
    "sonar": (208, 2, 60),
}
DEFAULT = "scikit-learn's defaults"
_WIDTH: dict[str, Any] = {"kind": "width"}
VARIANTS: dict[str, dict[str, Any]] = {
    DEFAULT: {},
    "20 bins of equal width": _WIDTH | {"bins": 20},
    "10 bins of equal width": _WIDTH | {"bins": 10},
    "15 bins of equal width": _WIDTH | {"bins": 15},
    "30 bins of equal width": _WIDTH | {"bins": 30},
    "50 bins of equal width": _WIDTH | {"bins": 50},
    "5 bins of equal frequency": {"bins": 5},
    "10 bins of equal frequency": {"bins": 10},
    "12 bins of equal frequency": {"bins": 12},
    "20 bins of equal frequency": {"bins": 20},
    "multiway, 5 bins of equal width": _WIDTH | {"bins": 5, "multiway": True},
    "multiway, 10 bins of equal width": _WIDTH | {"bins": 10, "multiway": True},
    "multiway, 5 bins of equal frequency": {"bins": 5, "multiway": True},
    "multiway, 10 bins of equal frequency": {"bins": 10, "multiway": True},
    "trees on all rows, no bootstrap": {"bootstrap": False},
    "Gini index": {"criterion": "gini"},
    "⌊√n⌋ − 1 candidates": {"fewer": 1},
    "2 candidates": {"max_features": 2},
    "leaves of at least 2": {"min_samples_leaf": 2},
    "depth at most 5": {"max_depth": 5},
}
QUICK = (DEFAULT, "20 bins of equal width", "2 candidates")
NEAR = 1.1  # a factor of less is near: 10%
N_FORESTS, BLOCK = 100, 5  # forests of a variant on each data set, and of one cell
N_ORDERS = 200  # of the sets, for nPOG
SMALL_CHANGE = 0.01  # what nPOG has to change by to be seen in a figure
SMALL_SD = 0.1  # share of all features that we call "much smaller"
FIGURE_2 = ("lustgarten", "npog", "wald", "sim_n", "nogueira", "jaccard")


def fraction(number: float | None) -> str:
    """Write a number as a fraction with a small denominator."""
    return "" if number is None else str(Fraction(number).limit_denominator(1000))


# ---------------------------------------------------------------------- equations and toy examples


def toy_examples() -> dict[str, Any]:
    """Equation (3) and the toy examples of section 3.2."""
    seven, eight, two = [range(7)] * 2, range(8), range(2)
    in_turn, ten, far = [eight, two] * 5, [eight] * 9 + [range(8, 10)], [[99], range(99)]
    three = [[0, 3, 5], [0, 1, 5], [0, 2, 3, 4, 5]]
    sizes = range(1, 10)
    wald = [value("wald", pair(a, b, max(0, a + b - 10)), 10) for a in sizes for b in sizes]
    rows: list[tuple[str, str, float | None, float]] = [
        ("(3)", "mean sim_H", 5 / 9, value("hamming", three, 6)),
        ("example 1", "sim_L, same 7 of 10", 0.7, value("lustgarten", seven, 10)),
        ("example 1", "sim_L, same 4 of 10", 0.6, value("lustgarten", [range(4)] * 2, 10)),
        ("example 1", "sim_K, same 7 of 10", 1, value("kuncheva", seven, 10)),
        ("example 1", "sim_W, same 7 of 10", 1, value("wald", seven, 10)),
        ("example 1", "nPOG, same 7 of 10", 1, value("npog", seven, 10)),
        ("section 4", "sim_N, same 7 of 10", 1, value("sim_n", seven, 10)),
        ("example 2", "mean sim_W, {1…8} and {1, 2} in turn", 1, value("wald", in_turn, 10)),
        ("example 2", "sim_L of {1…8}, {1, 2}", None, value("lustgarten", [eight, two], 10)),
        ("example 2", "sim_N of {1…8}, {1, 2}", None, value("sim_n", [eight, two], 10)),
        ("example 2", "nPOG({1…8}, {1, 2})", None, value("npog", [eight, two], 10)),
        ("example 3", "nPOG({1, 2}, {1…8})", None, value("npog", [two, eight], 10)),
        ("section 3.1", "smallest sim_W for n = 10: 1 − n", -9, min(wald)),
        ("example 4", "smallest sim_W for n = 100", -99, value("wald", far, 100)),
        ("example 4", "smallest nPOG for n = 100", -99, value("npog", far, 100)),
        ("example 4", "mean sim_W, 9 × {1…8} and {9, 10}, n = 10", 0, value("wald", ten, 10)),
        ("example 4", "the same for n = 100", 0, value("wald", ten, 100)),
        ("example 4", "mean sim_N, n = 10", None, value("sim_n", ten, 10)),
        ("section 4", "sim_N of an empty set and {1, 2}", 0, value("sim_n", [[], two], 10)),
        ("section 4", "sim_N of all features twice", 0, value("sim_n", [range(10)] * 2, 10)),
    ]
    same = [None if paper is None else abs(ours - paper) < 1e-12 for _, _, paper, ours in rows]
    marks = ["" if yes is None else "✓" if yes else "**no**" for yes in same]
    orders = (in_turn, [two, eight] * 5, [eight] * 5 + [two] * 5)
    npog = [value("npog", order, 10) for order in orders]
    equal = [(k, r) for k in sizes for r in range(max(0, 2 * k - 10), k + 1)]
    apart = [
        abs(value("sim_n", pair(k, k, r), 10) - value("kuncheva", pair(k, k, r), 10))
        for k, r in equal
    ]
    bigger = [value("kuncheva", [eight] * 2, n) for n in (10, 100)]
    lustgarten = [
        value("lustgarten", pair(a, b, r), 10)
        for a in sizes
        for b in sizes
        for r in range(max(0, a + b - 10), min(a, b) + 1)
    ]
    nested = {
        NAMES[name]: [value(name, [eight, range(k)], 10) for k in range(8, 0, -1)]
        for name in ("lustgarten", "npog")
    }
    steps = {name: -np.diff(values) for name, values in nested.items()}
    return {
        "toy_table": table(
            ["where", "what", "paper", "mainstay", "same"],
            [
                (*row[:2], *map(fraction, row[2:]), tick)
                for row, tick in zip(rows, marks, strict=True)
            ],
            text=2,
        ),
        "n_same": same.count(True),
        "n_stated": len(same) - same.count(None),
        "subset_verdict": verdict(None if rows[8][3] < 1 and rows[11][3] == 1 else False),
        "lustgarten_range": f"{min(lustgarten):.2f} to {max(lustgarten):.2f}",
        "n_lustgarten": len(lustgarten),
        "lustgarten_verdict": verdict(min(lustgarten) >= -1 and max(lustgarten) <= 1),
        "nested_steps": "; ".join(
            f"{name} {x.min():z.2f} to {x.max():.2f}" for name, x in steps.items()
        ),
        "nested_verdict": verdict(all(x.max() > 1.5 * x.min() for x in steps.values())),
        "orders": [fraction(found) for found in npog],
        "orders_verdict": verdict(len(set(npog)) > 1),
        "bigger": bigger,
        "bigger_verdict": verdict(bigger[1] > bigger[0]),
        "equal_pairs": len(equal),
        "equal_apart": max(apart),
        "equal_verdict": verdict(max(apart) < 1e-12),
    }


def every_overlap(n: int = 10) -> pd.DataFrame:
    """Score two sets of all sizes 1 … n − 1 and all overlaps: k1, k2, r, sim_W, sim_N, nPOG."""
    return pd.DataFrame(
        [
            {"k1": a, "k2": b, "r": r}
            | {name: value(name, pair(a, b, r), n) for name in ("wald", "sim_n", "npog")}
            for a in range(1, n)
            for b in range(1, n)
            for r in range(max(0, a + b - n), min(a, b) + 1)
        ]
    )


def definitions(n: int = 10) -> dict[str, Any]:
    """Check by all sizes and overlaps what sections 3.1, 3.2 and 5 derive from the definitions."""
    rows = every_overlap(n)
    k1, k2, r, wald = rows["k1"], rows["k2"], rows["r"], rows["wald"]
    smaller = rows[["k1", "k2"]].min(axis=1)
    expected = k1 * k2 / n
    short = expected - (k1 + k2 - n).clip(lower=0) <= smaller - expected
    same_npog, same_n = (rows[name].sub(wald).abs() < 1e-9 for name in ("npog", "sim_n"))
    nested, first, over = r == smaller, k1 <= k2, r != expected
    lowest = rows[wald < wald.min() + 1e-9]
    extreme = sorted(zip(lowest["k1"], lowest["k2"], strict=True))
    return {
        "n_overlaps": len(rows),
        "n_first": int(first.sum()),
        "n_first_same": int((same_npog & first).sum()),
        "first_verdict": verdict(bool(same_npog[first].all())),
        "n_second": int((~first & over).sum()),
        "n_second_same": int((same_npog & ~first & over).sum()),
        "nested_wald_verdict": verdict(
            bool((wald[nested] > 1 - 1e-9).all() and (wald[~nested] < 1 - 1e-9).all())
        ),
        "n_nested": int(nested.sum()),
        "lowest_wald": wald.min(),
        "lowest_at": " and ".join(f"k₁ = {a}, k₂ = {b}" for a, b in extreme),
        "lowest_verdict": verdict(
            abs(wald.min() - (1 - n)) < 1e-9 and extreme == [(1, n - 1), (n - 1, 1)]
        ),
        "n_short": int(short.sum()),
        "n_short_same": int((same_n & short).sum()),
        "n_long": int((~short & over).sum()),
        "n_long_same": int((same_n & ~short & over).sum()),
        "short_verdict": verdict(bool(same_n[short].all() and not same_n[~short & over].any())),
    }


def theorem_1(seed: int) -> dict[str, Any]:
    """Show how CW_rel approaches sim_K when there are more sets of the same size."""
    rng = np.random.default_rng(seed)
    drawn = np.argsort(np.linspace(0, 3, 20) + rng.gumbel(size=(1000, 20)), axis=1)[:, :5]
    rows = []
    for m in (2, 10, 100, 1000):
        somol, kuncheva = (value(measure, drawn[:m], 20) for measure in ("somol", "kuncheva"))
        rows.append((m, somol, kuncheva, somol - kuncheva))
    text = [(m, *[f"{number:.4f}" for number in numbers]) for m, *numbers in rows]
    return {
        "theorem1_table": table(["sets", "CW_rel", "sim_K", "difference"], text),
        "theorem1_verdict": verdict(abs(rows[-1][3]) < 0.01 < abs(rows[0][3])),
    }


def extremes(options: argparse.Namespace) -> dict[str, Any]:
    """Fig. 1: the largest and smallest sim_N for every size of one set."""
    found = {}
    for k2 in (6, 8):
        overlaps = [(min(k1, k2), max(0, k1 + k2 - 10)) for k1 in range(11)]
        found[k2] = np.array(
            [[value("sim_n", pair(k1, k2, r), 10) for r in rs] for k1, rs in enumerate(overlaps)]
        ).T
    save_figure(plot_extremes(found), options.output, "nogueira2015_extremes.png")
    rows = [
        (f"{name}, k₂ = {k2}", *[f"{x:z.3f}" for x in values])
        for k2, both in found.items()
        for name, values in zip(("max", "min"), both, strict=True)
    ]
    bounded = all(np.abs(both).max() <= 1 and both[0, k2] == 1 for k2, both in found.items())
    steps = np.abs(np.diff(found[6][0, 1:10]))
    return {
        "extremes_table": table(["k₁", *range(11)], rows),
        "bounds_verdict": verdict(bounded),
        "steps": [steps.min(), steps.max()],
        "steps_verdict": verdict(bool(steps.max() > 1.5 * steps.min())),
    }


# ---------------------------------------------------------------------- random forests


def forest_block(cell: Cell, seed: int) -> dict[str, Any]:
    """Grow forests on subsamples; how many trees use each feature: cell = variant, data, block."""
    variant, data, block = cell[0], cell[1], int(cell[2])
    X, y = load(f"uci_small/{data}")
    seeds = range(seed + BLOCK * block, seed + BLOCK * (block + 1))
    return {"trees": [trees_using(X, y, s, VARIANTS[variant]).tolist() for s in seeds]}


def forest_runs(options: argparse.Namespace) -> dict[str, dict[str, ms.Runs]]:
    """Select features by random forests on subsamples of the data sets: variant → data → runs."""
    shown = QUICK if options.quick else tuple(VARIANTS)
    wanted = [
        (variant, data, str(block))
        for block in range(2 if options.quick else N_FORESTS // BLOCK)
        for variant in shown
        for data in TABLE_2
    ]
    found = computed(options, "forests", wanted, partial(forest_block, seed=options.seed))
    runs: dict[str, dict[str, ms.Runs]] = {}
    for variant in shown:
        runs[variant] = {}
        for data, (share, *_) in TABLE_2.items():
            trees = [c["trees"] for (v, d, _), c in found.items() if (v, d) == (variant, data)]
            support = np.concatenate(trees) >= share * N_TREES
            runs[variant][data] = ms.Runs.from_support(support)
    return runs


def shapes() -> dict[str, Any]:
    """Sizes of the data sets beside those of Table 2."""
    rows = []
    for data, paper in SHAPES.items():
        X, y = load(f"uci_small/{data}")
        ours = (len(y), len(np.unique(y)), X.shape[1])
        cells = [
            f"{a} ✓" if a == b else f"{a} **no** ({b})" for a, b in zip(ours, paper, strict=True)
        ]
        rows.append((data, *cells))
    return {"shapes_table": table(["", "examples", "classes", "features"], rows)}


def forest_stability(runs: dict[str, ms.Runs]) -> pd.DataFrame:
    """Compute the measures of Fig. 2 with their intervals."""
    rows = []
    for data, selected in runs.items():
        for measure in FIGURE_2:
            found = ms.stability(selected, measure, **PUBLISHED.get(measure, {}))
            row = {"data": data, "measure": NAMES[measure], "value": found.value}
            rows.append(row | dict(zip(("lower", "upper"), found.interval, strict=True)))
    return pd.DataFrame(rows)


def claims(runs: dict[str, ms.Runs], stability: pd.DataFrame, seed: int) -> dict[str, Any]:
    """Check what the paper says about Fig. 2: for each claim whether it holds, and the numbers."""
    by = stability.pivot(index="data", columns="measure", values="value").loc[list(TABLE_2)]
    rng = np.random.default_rng(seed)
    ranges, changes, differ, below = {}, {}, {}, {}
    for data, selected in runs.items():
        permuted = [selected.subset(rng.permutation(selected.n_runs)) for _ in range(N_ORDERS)]
        npog = [ms.stability(order, "npog", **PUBLISHED["npog"]).value for order in permuted]
        ranges[data] = f"{min(npog):.3f} to {max(npog):.3f}"
        changes[data] = max(npog) - min(npog)
        below[data] = sum(x < by.loc[data, "sim_L"] for x in npog)
        wald, sim_n = (ms.stability(selected, name).pairwise for name in ("wald", "sim_n"))
        differ[data] = np.mean(np.abs(wald - sim_n)[np.triu_indices(len(wald), 1)] > 1e-12)
    spreads = {data: r.sizes.std(ddof=1) / r.n_features for data, r in runs.items()}
    lowest = by[["sim_L", "nPOG", "sim_W", "sim_N"]].idxmin(axis=1)
    close, near = (by["sim_W"] - by["sim_N"]).abs(), (by["nPOG"] - by["sim_N"]).abs()
    nearer = near[["parkinsons", "breast"]].max() < near[["wine", "sonar"]].min()
    orders = {
        d: f" (nPOG below in {n} of {N_ORDERS} orders)" if n else "" for d, n in below.items()
    }
    return {
        "lowest": (
            (lowest == "sim_L").all(),
            ", ".join(f"{d} {lowest[d]}{orders[d]}" for d in TABLE_2),
        ),
        "close": (close.max() < 0.05, f"{close.max():.3f}"),
        "few": (max(differ.values()) < 0.1, written_shares(differ)),
        "near": (nearer, ", ".join(f"{d} {x:.3f}" for d, x in near.items())),
        "ranges": (min(changes.values()) > SMALL_CHANGE, ranges),
        "spread": (max(spreads.values()) < SMALL_SD, written_shares(spreads)),
    }


def written_shares(shares: dict[str, float]) -> str:
    """Write one share per data set."""
    return ", ".join(f"{data} {share:.1%}" for data, share in shares.items())


def factor(mean_sizes: np.ndarray, paper: np.ndarray) -> float:
    """Return by what factor numbers of selected features are off the paper's, on average."""
    return float(np.exp(np.abs(np.log(mean_sizes / paper)).mean()))


def factors(every: dict[str, dict[str, ms.Runs]], seed: int) -> pd.DataFrame:
    """By what factor each variant is off, with standard errors, and how far from the closest.

    Columns: off, error, apart (from the smallest) and its error, and the smallest and largest
    factor that so few forests as in one block give. For the errors forests, which share their
    subsamples with those of the other variants, are drawn again 1000 times, and the means of the
    paper with the error that its standard deviations give for 100 forests.
    """
    rng = np.random.default_rng(seed)
    paper, spread = np.array([(mean, sd) for _, mean, sd in TABLE_2.values()]).T
    sizes = {v: np.array([r.sizes for r in found.values()]) for v, found in every.items()}
    off = pd.Series({v: factor(x.mean(axis=1), paper) for v, x in sizes.items()})
    n = next(iter(sizes.values())).shape[1]
    draws = []
    for _ in range(1000):
        again = rng.integers(n, size=(len(paper), n))
        theirs = paper + spread / np.sqrt(N_FORESTS) * rng.normal(size=len(paper))
        means = {v: np.take_along_axis(x, again, 1).mean(axis=1) for v, x in sizes.items()}
        draws.append({v: factor(x, theirs) for v, x in means.items()})
    drawn, closest = pd.DataFrame(draws), off.idxmin()
    blocks = pd.DataFrame(
        {
            v: [
                factor(x[:, i : i + BLOCK].mean(axis=1), paper)
                for i in range(0, n - BLOCK + 1, BLOCK)
            ]
            for v, x in sizes.items()
        }
    )
    return pd.DataFrame(
        {
            "off": off,
            "error": drawn.std(),
            "apart": off - off[closest],
            "apart_error": drawn.sub(drawn[closest], axis=0).std(),
            "least": blocks.min(),
            "most": blocks.max(),
        }
    )


def within_paper(runs: dict[str, ms.Runs]) -> list[str]:
    """Data sets on which the mean number of selected features is within the paper's ±."""
    return [d for d, (_, mean, sd) in TABLE_2.items() if abs(runs[d].sizes.mean() - mean) <= sd]


def closest(off: pd.DataFrame) -> list[str]:
    """The kind with the smallest factor, and those that cannot be told from it by two errors."""
    others = off.drop(DEFAULT).sort_values("off")
    return list(others.index[others["apart"] <= 2 * others["apart_error"]])


def most_within(within: dict[str, list[str]], kinds: Sequence[str]) -> str:
    """On how many data sets these kinds are within the paper's ± at most, and which kinds are.

    `within` has the data sets on which a kind is.
    """
    most = max((len(within[v]) for v in kinds), default=0)
    best = [v for v in kinds if len(within[v]) == most]
    return f"{quoted(best)}, on {most} of {len(TABLE_2)}"


def quoted(kinds: Sequence[str]) -> str:
    """Write names of kinds."""
    return ", ".join(f'"{v}"' for v in kinds) or "none"


def _held(found: dict[str, Any]) -> str:
    return f"{sum(bool(holds) for holds, _ in found.values())} of {len(found)}"


def forests(options: argparse.Namespace) -> dict[str, Any]:
    """Section 5: selection by random forests (Fig. 2 and Table 2)."""
    every = forest_runs(options)
    off = factors(every, options.seed).sort_values("off")
    nearest = closest(off)
    runs = {variant: every[variant] for variant in (DEFAULT, *nearest)}
    order = [DEFAULT, *off.index.drop(DEFAULT)]
    within = {variant: within_paper(found) for variant, found in every.items()}
    rows = []
    for variant in order:
        sizes = [
            f"{r.sizes.mean():.1f} ± {r.sizes.std(ddof=1):.1f}" for r in every[variant].values()
        ]
        row = off.loc[variant]
        apart = f"{row['apart']:.3f} ± {row['apart_error']:.3f}" if row["apart"] else "–"
        share = f"{len(within[variant])} of {len(TABLE_2)}"
        rows.append((variant, *sizes, f"{row['off']:.3f} ± {row['error']:.3f}", apart, share))
    others = off.drop(DEFAULT)
    near = list(others.index[others["off"] <= NEAR])
    multiway = others[others.index.str.startswith("multiway")]["off"]
    paper = ("**paper**", *[f"{mean} ± {sd}" for _, mean, sd in TABLE_2.values()], "", "", "")
    stability = {v: forest_stability(found) for v, found in runs.items()}
    save_figure(plot_forests(stability), options.output, "nogueira2015_forests.png")
    checked = {v: claims(found, stability[v], options.seed) for v, found in runs.items()}
    held = {c: {bool(found[c][0]) for found in checked.values()} for c in checked[DEFAULT]}
    return {
        "n_runs": runs[DEFAULT]["wine"].n_runs,
        "n_tried": len(every) - 1,
        "few": BLOCK,
        "blocks": [off.loc[nearest[0], "least"], off.loc[nearest[0], "most"]],
        "closest": nearest[0],
        "alike": quoted(nearest[1:]),
        "small_change": SMALL_CHANGE,
        "n_orders": N_ORDERS,
        "small_sd": SMALL_SD,
        "paper_spread": written_shares(
            {data: TABLE_2[data][2] / n for data, (*_, n) in SHAPES.items()}
        ),
        "n_default": f"{len(within[DEFAULT])} of {len(TABLE_2)}",
        "multiway": multiway.min(),
        "near_margin": NEAR,
        "near_percent": 100 * (NEAR - 1),
        "n_near": len(near),
        "most_within": most_within(within, near),
        "within_closest": f"{len(within[nearest[0]])}: {', '.join(within[nearest[0]]) or 'none'}",
        "sizes_table": table(
            ["", *TABLE_2, "off by a factor of", "from the closest", "within the paper's ±"],
            [paper, *rows],
        ),
        "sizes_verdict": verdict(bool(off.loc[DEFAULT, "off"] < NEAR)),
        "default": DEFAULT,
        "shown": quoted(nearest),
        "n_shown": len(runs),
        "hold_default": _held(checked[DEFAULT]),
        "hold_nearest": ", ".join(f"{v} {_held(checked[v])}" for v in nearest),
        "factor_default": off.loc[DEFAULT, "off"],
        "stability_tables": "\n\n".join(stability_table(*item) for item in stability.items()),
        "holds": {
            c: verdict(found.pop() if len(found) == 1 else None) for c, found in held.items()
        },
        "text": {
            c: "; ".join(f"{v}: {found[c][1]}" for v, found in checked.items())
            for c in checked[DEFAULT]
        },
        "ranges_table": table(
            [f"nPOG over {N_ORDERS} orders", *TABLE_2],
            [(v, *found["ranges"][1].values()) for v, found in checked.items()],
        ),
    }


def stability_table(variant: str, found: pd.DataFrame) -> str:
    """Write one row per data set, one column per measure, with intervals."""
    text = [f"{r.value:.3f} ({r.lower:.3f} to {r.upper:.3f})" for r in found.itertuples()]
    cells = np.reshape(text, (len(TABLE_2), len(FIGURE_2)))
    header = [variant, *(NAMES[measure] for measure in FIGURE_2)]
    return table(header, [(data, *row) for data, row in zip(TABLE_2, cells, strict=True)])


def main() -> None:
    """Regenerate all results."""
    options = arguments(__doc__, cache=True, resumable=True)
    use_look()
    load("uci_small/wine")  # leave at once if the data are missing
    parts = forests(options) | chance(options)
    parts |= shapes() | toy_examples() | theorem_1(options.seed) | extremes(options) | properties()
    parts |= definitions()
    write("nogueira2015.md", options, parts)


if __name__ == "__main__":
    main()
