"""Regenerate the results of Nogueira and Brown (2015), next to what the paper reports.

python experiments/nogueira2015.py                # about 2 minutes of CPU time; every cell is kept
python experiments/nogueira2015.py --report-only  # what has been computed so far
python experiments/nogueira2015.py --quick        # a look, in a temporary folder: half a minute
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from _cells import Cell, Cells
from _common import arguments, load, table, verdict, write
from _figures import plot_chance, plot_extremes, plot_forests, save_figure, use_look
from _selectors import N_TREES, trees_using

import mainstay as ms

# our name: the paper's name and its ticks for properties 1 to 6 (Table 1; sim_N: section 4)
MEASURES = {
    "jaccard": ("sim_J", "1245"),
    "hamming": ("sim_H", "1245"),
    "matching": ("sim_M", "12456"),
    "kuncheva": ("sim_K", "1235"),
    "lustgarten": ("sim_L", "2345"),
    "wald": ("sim_W", "2345"),
    "npog": ("nPOG", "234"),
    "npogr": ("nPOGR", "2346"),
    "somol": ("CW_rel", "1245"),
    "krizek": ("γ_k", "125"),
    "sim_n": ("sim_N", "12345"),
    "nogueira": ("nogueira", None),  # of 2018
}
NAMES = {measure: name for measure, (name, _) in MEASURES.items()}
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
BEST = "20 bins of equal width"  # comes closest; see the page for how it was found
BLOCK = 5  # forests of one cell
FIGURE_2 = ("lustgarten", "npog", "wald", "sim_n", "nogueira", "jaccard")
PUBLISHED = {"npog": {"pairing": "disjoint"}}  # consecutive pairs of sets
N_FEATURES, N_SETS, SIZES = 30, 10, (1, 3, 6, 10, 15, 20, 25, 29)


def value(measure: str, sets: list[Any], n: int, **options: Any) -> float:
    """Stability of these sets of n features."""
    options = PUBLISHED.get(measure, {}) | options
    return ms.stability(ms.Runs.from_sets(sets, features=n), measure, **options).value


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


def pair(k1: int, k2: int, shared: int) -> list[range]:
    """Two sets of these sizes with so many features in common."""
    return [range(k1), range(k1 - shared, k1 - shared + k2)]


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


# ---------------------------------------------------------------------- properties


def properties() -> dict[str, Any]:
    """Table 1 of the paper beside the properties that the library states."""
    listed = ms.list_measures().set_index("name")
    ours = listed.loc[list(MEASURES), "limits":"redundancy_awareness"].astype(bool)
    tick = {True: "✓", False: "–"}
    rows, same = [], []
    for measure, (name, ticks) in MEASURES.items():
        if ticks is None:
            continue
        paper = np.array([number in ticks for number in "123456"])
        mine = ours.loc[measure].to_numpy()
        same += list(paper == mine)
        cells = [
            tick[b] if a == b else f"**paper {tick[a]}, mainstay {tick[b]}**"
            for a, b in zip(paper, mine, strict=True)
        ]
        rows.append((f"{name} (`{measure}`)", *cells))
    return {
        "properties_table": table(["", *ours.columns.str.replace("_", " ")], rows),
        "properties_verdict": verdict(all(same)),
        "properties_same": f"{sum(same)} of {len(same)}",
        "references": dict(listed["reference"]),
    }


def computed(
    options: argparse.Namespace, name: str, wanted: list[Cell], work: Callable[[Cell], Any]
) -> dict[Cell, dict[str, Any]]:
    """Compute the missing cells of a part and return all that are there."""
    store = Cells(options, "nogueira2015", name)
    store.compute(wanted, work)
    store.pack()
    return store.found(wanted)


def chance_scores(cell: Cell, repetitions: int, seed: int) -> dict[str, Any]:
    """Score sets of k random features, and of the same k features: cell = measure, k."""
    measure, k = cell[0], int(cell[1])
    rng = np.random.default_rng([seed, k])
    options: dict[str, Any] = {}
    if measure in ("matching", "npogr"):
        groups = np.kron(np.eye(N_FEATURES // 3), np.full((3, 3), 0.95))
        np.fill_diagonal(groups, 1)
        options["similarity"] = ms.FeatureSimilarity.from_matrix(groups, 0.9)
    scores = [
        ms.stability(ms.Runs.from_support(drawn.argsort(axis=1) < k), measure, **options).value
        for drawn in rng.random((repetitions, N_SETS, N_FEATURES))
    ]
    return {
        "measure": NAMES[measure],
        "k": k,
        "mean": float(np.mean(scores)),
        "error": float(np.std(scores, ddof=1) / np.sqrt(repetitions)),
        "identical": value(measure, [range(k)] * N_SETS, N_FEATURES, **options),
    }


def chance(options: argparse.Namespace) -> dict[str, Any]:
    """Show by simulation which measures are corrected for chance and reach 1 for identical sets."""
    repetitions = 50 if options.quick else 200
    wanted = [(measure, str(k)) for measure in NAMES for k in SIZES]
    work = partial(chance_scores, repetitions=repetitions, seed=options.seed)
    evidence = pd.DataFrame(computed(options, "chance", wanted, work).values())
    save_figure(plot_chance(evidence, N_FEATURES), options.output, "nogueira2015_chance.png")
    corrected = ms.list_measures().set_index("name")["correction_for_chance"]
    rows, agree = [], []
    for measure, name in NAMES.items():
        part = evidence[evidence["measure"] == name]
        off = ((part["mean"] - part["mean"].mean()).abs() / part["error"].clip(lower=1e-9)).max()
        agree.append(bool(off < 4) == corrected[measure])
        numbers = [f"{mean:z.3f}" for mean in part["mean"]]
        off_text = f"{off:.1f}" if off < 1000 else "> 1000"
        flat = "yes" if off < 4 else "no"
        rows.append((name, *numbers, f"{part['error'].max():.4f}", off_text, flat))
    identical = evidence.pivot(index="measure", columns="k", values="identical")
    below = [name for name in NAMES.values() if identical.loc[name].min() < 1 - 1e-9]
    sizes = [f"k = {k}" for k in SIZES]
    return {
        "n_features": N_FEATURES,
        "n_sets": N_SETS,
        "repetitions": repetitions,
        "chance_table": table(["", *sizes, "largest s.e.", "off by (s.e.)", "flat"], rows),
        "chance_verdict": verdict(all(agree)),
        "chance_same": f"{sum(agree)} of {len(agree)}",
        "identical_verdict": verdict(below == ["sim_L"]),
        "identical_table": table(
            ["", *sizes],
            [(name, *identical.loc[name].map("{:.3f}".format)) for name in [*below, "sim_N"]],
        ),
    }


# ---------------------------------------------------------------------- random forests


def forest_block(cell: Cell, seed: int) -> dict[str, Any]:
    """Grow forests on subsamples; how many trees use each feature: cell = variant, data, block."""
    variant, data, block = cell[0], cell[1], int(cell[2])
    X, y = load(f"uci_small/{data}")
    seeds = range(seed + BLOCK * block, seed + BLOCK * (block + 1))
    return {"trees": [trees_using(X, y, s, VARIANTS[variant]).tolist() for s in seeds]}


def forest_runs(options: argparse.Namespace) -> dict[str, dict[str, ms.Runs]]:
    """Select features by random forests on subsamples of the data sets: variant → data → runs.

    Of the default and the closest variant 100 forests are wanted, of the others one block.
    """
    many = 2 if options.quick else 100 // BLOCK
    shown = (DEFAULT, BEST, "2 candidates") if options.quick else tuple(VARIANTS)
    wanted = [(variant, data, "0") for variant in shown for data in TABLE_2]
    wanted += [
        (v, data, str(block))
        for block in range(1, many)
        for v in (DEFAULT, BEST)
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
    ranges, differ = {}, {}
    for data, selected in runs.items():
        orders = [selected.subset(rng.permutation(selected.n_runs)) for _ in range(200)]
        npog = [ms.stability(order, "npog", **PUBLISHED["npog"]).value for order in orders]
        ranges[data] = f"{min(npog):.3f} to {max(npog):.3f}"
        wald, sim_n = (ms.stability(selected, name).pairwise for name in ("wald", "sim_n"))
        differ[data] = np.mean(np.abs(wald - sim_n)[np.triu_indices(len(wald), 1)] > 1e-12)
    lowest = by[["sim_L", "nPOG", "sim_W", "sim_N"]].idxmin(axis=1)
    close, near = (by["sim_W"] - by["sim_N"]).abs(), (by["nPOG"] - by["sim_N"]).abs()
    nearer = near[["parkinsons", "breast"]].max() < near[["wine", "sonar"]].min()
    return {
        "lowest": ((lowest == "sim_L").all(), ", ".join(f"{d} {lowest[d]}" for d in TABLE_2)),
        "close": (close.max() < 0.05, f"{close.max():.3f}"),
        "few": (max(differ.values()) < 0.1, ", ".join(f"{d} {x:.1%}" for d, x in differ.items())),
        "near": (nearer, ", ".join(f"{d} {x:.3f}" for d, x in near.items())),
        "ranges": (True, ranges),
    }


def factor(runs: dict[str, ms.Runs]) -> float:
    """Return by what factor the numbers of selected features are off the paper's, on average."""
    ratios = [selected.sizes.mean() / TABLE_2[data][1] for data, selected in runs.items()]
    return float(np.exp(np.abs(np.log(ratios)).mean()))


def within_paper(runs: dict[str, ms.Runs]) -> list[str]:
    """Data sets on which the mean number of selected features is within the paper's ±."""
    return [d for d, (_, mean, sd) in TABLE_2.items() if abs(runs[d].sizes.mean() - mean) <= sd]


def forests(options: argparse.Namespace) -> dict[str, Any]:
    """Section 5: selection by random forests (Fig. 2 and Table 2)."""
    every = forest_runs(options)
    runs = {variant: every[variant] for variant in (DEFAULT, BEST)}
    order = sorted(every, key=lambda variant: (variant != DEFAULT, factor(every[variant])))
    rows = []
    for variant in order:
        found = every[variant]
        cells = [f"{r.sizes.mean():.1f} ± {r.sizes.std(ddof=1):.1f}" for r in found.values()]
        rows.append((f"{variant} ({found['wine'].n_runs})", *cells, f"{factor(found):.2f}"))
    near = {variant: within_paper(found) for variant, found in runs.items()}
    paper = ("**paper** (100)", *[f"{mean} ± {sd}" for _, mean, sd in TABLE_2.values()], "")
    stability = {v: forest_stability(found) for v, found in runs.items()}
    save_figure(plot_forests(stability), options.output, "nogueira2015_forests.png")
    checked = {v: claims(found, stability[v], options.seed) for v, found in runs.items()}
    held = {c: {bool(found[c][0]) for found in checked.values()} for c in checked[DEFAULT]}
    return {
        "n_runs": runs[DEFAULT]["wine"].n_runs,
        "n_tried": len(every) - 1,
        "few": BLOCK,
        "n_near": {v: f"{len(found)} of {len(TABLE_2)}" for v, found in near.items()},
        "near": ", ".join(near[BEST]),
        "multiway": min(
            (factor(every[v]) for v in every if v.startswith("multiway")), default=np.nan
        ),
        "n_within": sum(factor(every[v]) <= 1.1 for v in every if v != DEFAULT),
        "sizes_table": table(["(forests)", *TABLE_2, "off by a factor of"], [paper, *rows]),
        "sizes_verdict": verdict(bool(factor(runs[DEFAULT]) < 1.1)),
        "default": DEFAULT,
        "closest": BEST,
        "n_hold": {
            v: f"{sum(bool(found[c][0]) for c in found)} of {len(found)}"
            for v, found in checked.items()
        },
        "factors": [factor(runs[DEFAULT]), factor(runs[BEST])],
        "stability_tables": "\n\n".join(stability_table(*item) for item in stability.items()),
        "holds": {
            c: verdict(found.pop() if len(found) == 1 else None) for c, found in held.items()
        },
        "text": {
            c: "; ".join(f"{v}: {found[c][1]}" for v, found in checked.items())
            for c in checked[DEFAULT]
        },
        "ranges_table": table(
            ["nPOG over 200 orders", *TABLE_2],
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
    write("nogueira2015.md", options, parts)


if __name__ == "__main__":
    main()
