"""The measures of nogueira2015: their properties, and what random and identical sets score."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from _cells import Cell, Cells
from _common import table, verdict
from _figures import plot_chance, save_figure
from scipy.stats import hypergeom

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
_DISJOINT = {"pairing": "disjoint"}  # consecutive pairs of sets
PUBLISHED = {"npog": _DISJOINT, "npogr": _DISJOINT}
N_FEATURES, N_SETS, SIZES = 30, 10, (1, 3, 6, 10, 15, 20, 25, 29)
RANGES = ((1, 5), (1, 15), (5, 25), (15, 29), (25, 29), (1, 29))  # of sizes that differ
OF_SIZES = ("jaccard", "hamming", "lustgarten", "wald", "npog", "sim_n")  # and of the overlap alone
FAR = 4  # standard errors from 0


def value(measure: str, sets: list[Any], n: int, **options: Any) -> float:
    """Stability of these sets of n features."""
    options = PUBLISHED.get(measure, {}) | options
    return ms.stability(ms.Runs.from_sets(sets, features=n), measure, **options).value


def pair(k1: int, k2: int, shared: int) -> list[range]:
    """Two sets of these sizes with so many features in common."""
    return [range(k1), range(k1 - shared, k1 - shared + k2)]


# ---------------------------------------------------------------------- properties


def properties() -> dict[str, Any]:
    """Table 1 of the paper beside the properties that the library states."""
    listed = ms.list_measures().set_index("name")
    ours = listed.loc[list(MEASURES), "limits":"redundancy_awareness"].astype(bool)
    tick = {True: "✓", False: "–"}
    rows, same, complete = [], [], []
    for measure, (name, ticks) in MEASURES.items():
        if ticks is None:
            continue
        paper = np.array([number in ticks for number in "123456"])
        mine = ours.loc[measure].to_numpy()
        same += list(paper == mine)
        complete += [name] if mine[:5].all() else []
        cells = [
            tick[b] if a == b else f"**paper {tick[a]}, mainstay {tick[b]}**"
            for a, b in zip(paper, mine, strict=True)
        ]
        rows.append((f"{name} (`{measure}`)", *cells))
    return {
        "properties_table": table(["", *ours.columns.str.replace("_", " ")], rows),
        "properties_verdict": verdict(all(same)),
        "properties_same": f"{sum(same)} of {len(same)}",
        "first_five": ", ".join(complete),
        "first_five_verdict": verdict(complete == [NAMES["sim_n"]]),
        "references": dict(listed["reference"]),
    }


# ---------------------------------------------------------------------- random sets


def computed(
    options: argparse.Namespace, name: str, wanted: list[Cell], work: Callable[[Cell], Any]
) -> dict[Cell, dict[str, Any]]:
    """Compute the missing cells of a part and return all that are there."""
    store = Cells(options, "nogueira2015", name)
    store.compute(wanted, work)
    store.pack()
    return store.found(wanted)


def drawn_sets(low: int, high: int, repetitions: int, seed: int) -> np.ndarray:
    """Draw random sets, repetitions × sets × features; every set has a random size in a range."""
    rng = np.random.default_rng([seed, low] if low == high else [seed, low, high])
    order = rng.random((repetitions, N_SETS, N_FEATURES)).argsort(axis=2)
    return np.asarray(order < rng.integers(low, high + 1, size=(repetitions, N_SETS, 1)))


def chance_scores(cell: Cell, repetitions: int, seed: int) -> dict[str, Any]:
    """Score random sets, and as many of the same k features: cell = measure, smallest, largest k.

    For sets of equal size the largest is left out.
    """
    measure, low, high = cell[0], int(cell[1]), int(cell[-1])
    options: dict[str, Any] = dict(PUBLISHED.get(measure, {}))
    if measure in ("matching", "npogr"):
        groups = np.kron(np.eye(N_FEATURES // 3), np.full((3, 3), 0.95))
        np.fill_diagonal(groups, 1)
        options["similarity"] = ms.FeatureSimilarity.from_matrix(groups, 0.9)
        options["undefined"] = 0.0  # all features of a set are sure to have a partner: 0/0
    scores = [
        ms.stability(ms.Runs.from_support(support), measure, **options).value
        for support in drawn_sets(low, high, repetitions, seed)
    ]
    return {
        "measure": NAMES[measure],
        "k": low if low == high else f"{low} to {high}",
        "mean": float(np.mean(scores)),
        "error": float(np.std(scores, ddof=1) / np.sqrt(repetitions)),
        "identical": value(measure, [range(low)] * N_SETS, N_FEATURES, **options),
    }


def expected_nogueira(sizes: np.ndarray, n: int) -> float:
    """Mean of `nogueira` over random sets of these sizes: −s²/(m·k̄(n − k̄)), with their variance s².

    The measure takes the variance of the sizes for instability.
    """
    mean = sizes.mean()
    return float(-sizes.var(ddof=1) / (len(sizes) * mean * (n - mean)))


def exact_means(n: int = 10) -> pd.DataFrame:
    """Smallest and largest mean over all pairs of sizes 1 … n − 1 of two random sets, by measure.

    Exact: the overlap of two random sets is hypergeometric.
    """
    found = {}
    for measure in OF_SIZES:
        means = []
        for a in range(1, n):
            for b in range(1, n):
                overlaps = range(max(0, a + b - n), min(a, b) + 1)
                chances = hypergeom(n, a, b).pmf(overlaps)
                scores = [value(measure, pair(a, b, r), n) for r in overlaps]
                means.append(float(chances @ scores))
        found[NAMES[measure]] = {"smallest": min(means), "largest": max(means)}
    return pd.DataFrame(found).T


def distinct(means: pd.DataFrame) -> dict[str, list[str]]:
    """Names of measures with the same means in all columns: the first of each → all of them."""
    same: dict[str, list[str]] = {}
    for name, row in means.iterrows():
        first = next((n for n in same if np.allclose(means.loc[n], row, rtol=0, atol=1e-9)), name)
        same.setdefault(first, []).append(name)
    return same


def against_0(evidence: pd.DataFrame) -> tuple[list[tuple[Any, ...]], dict[str, bool]]:
    """Rows of the table of means over random sets, and whether each is as property 3 says.

    The second is about measures of the paper; measures with the same means are one row.
    """
    corrected = ms.list_measures().set_index("name")["correction_for_chance"]
    ticked = {name: bool(corrected[measure]) for measure, name in NAMES.items()}
    order = [name for name in NAMES.values() if name in set(evidence["measure"])]
    shape = {"index": "measure", "columns": "k"}
    means, errors = (
        evidence.pivot(**shape, values=v).loc[order, evidence["k"].unique()]
        for v in ("mean", "error")
    )
    off = (means.abs() / errors.clip(lower=1e-9)).max(axis=1)
    rows, agree = [], {}
    for first, names in distinct(means).items():
        flat = bool(off[first] < FAR)
        rows.append(
            (
                " = ".join(names),
                *(f"{x:z.3f}" for x in means.loc[first]),
                f"{errors.loc[first].max():.4f}",
                f"{off[first]:.1f}" if off[first] < 1000 else "> 1000",
                "yes" if flat else "no",
                " ".join("✓" if ticked[name] else "–" for name in names),
            )
        )
        if first != NAMES["nogueira"]:
            agree[first] = all(flat == ticked[name] for name in names)
    return rows, agree


def chance(options: argparse.Namespace) -> dict[str, Any]:
    """Show by simulation which measures are corrected for chance and reach 1 for identical sets."""
    repetitions = 50 if options.quick else 200
    unconstrained = ms.list_measures().set_index("name")["unconstrained_cardinality"]
    equal = [(measure, str(k)) for measure in NAMES for k in SIZES]
    unequal = [(m, str(low), str(high)) for m in NAMES if unconstrained[m] for low, high in RANGES]
    work = partial(chance_scores, repetitions=repetitions, seed=options.seed)
    found = computed(options, "chance", [*equal, *unequal], work)
    evidence = pd.DataFrame([found[cell] for cell in equal if cell in found])
    varied = pd.DataFrame([found[cell] for cell in unequal if cell in found])
    save_figure(plot_chance(evidence, N_FEATURES), options.output, "nogueira2015_chance.png")
    rows, agree = against_0(evidence)
    varied_rows, varied_agree = against_0(varied)
    exact = exact_means()
    corrected = ms.list_measures().set_index("name")["correction_for_chance"]
    exact_agree = [(exact.loc[NAMES[m]].abs().max() < 1e-9) == bool(corrected[m]) for m in OF_SIZES]
    nogueira = [
        np.mean(
            [
                expected_nogueira(support.sum(axis=1), N_FEATURES)
                for support in drawn_sets(low, high, repetitions, options.seed)
            ]
        )
        for low, high in RANGES
    ]
    identical = evidence.pivot(index="measure", columns="k", values="identical")
    below = [name for name in NAMES.values() if identical.loc[name].min() < 1 - 1e-9]
    sizes = [f"k = {k}" for k in SIZES]
    judged = ["largest s.e.", "off 0 by (s.e.)", "flat", "property 3"]
    return {
        "n_features": N_FEATURES,
        "n_sets": N_SETS,
        "repetitions": repetitions,
        "far": FAR,
        "chance_table": table(["equal sizes", *sizes, *judged], rows),
        "varied_table": table(
            ["sizes of each set", *(f"{low} to {high}" for low, high in RANGES), *judged],
            varied_rows,
        ),
        "exact_table": table(
            ["exact mean, n = 10", *exact],
            [(name, *(f"{x:z.3f}" for x in row)) for name, row in exact.iterrows()],
        ),
        "chance_verdict": verdict(
            all([*agree.values(), *varied_agree.values(), *exact_agree])
            or (None if all(agree.values()) else False)
        ),
        "equal_same": f"{sum(agree.values())} of {len(agree)}",
        "varied_same": f"{sum(varied_agree.values())} of {len(varied_agree)}",
        "exact_same": f"{sum(exact_agree)} of {len(exact_agree)}",
        "nogueira_expected": ", ".join(f"{x:z.3f}" for x in nogueira),
        "identical_verdict": verdict(below == ["sim_L"]),
        "identical_table": table(
            ["", *sizes],
            [(name, *identical.loc[name].map("{:.3f}".format)) for name in [*below, "sim_N"]],
        ),
    }
