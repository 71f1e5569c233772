"""Section 3.1 of bommert2020: all pairs of subsets of seven features (Figs. 1 and 2)."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import pandas as pd
from _common import log, table, verdict
from _figures import plot_pairs, save_figure

import mainstay as ms

NAMES = {
    "zucknick": "SMZ",
    "unadjusted": "SMU",
    "yu": "SMY",
    "sma_count": "SMA-Count",
    "sma_mean": "SMA-Mean",
    "sma_greedy": "SMA-Greedy",
    "sma_mbm": "SMA-MBM",
}
SMA = ["SMA-Count", "SMA-Mean", "SMA-Greedy", "SMA-MBM"]
GROUP = ["SMY", *SMA]  # corrected for chance and adjusted for similar features
THRESHOLD = 0.9
MARGIN = 0.05
LARGE_VALUES = (0.5, 0.6)  # what we call large values of all measures
OFTEN = 0.25  # share of pairs that we call "often"
SUBSETS = (np.arange(128)[:, None] >> np.arange(7)) & 1  # of seven features


def stability(
    runs: ms.Runs,
    measure: str,
    similarity: ms.FeatureSimilarity,
    undefined: Any = "nan",
    **options: Any,
) -> Any:
    """Call ms.stability, with the similarity only where the measure reads it."""
    if measure != "unadjusted":
        options["similarity"] = similarity
    return ms.stability(runs, measure, undefined=undefined, **options)


def figure1_similarity() -> ms.FeatureSimilarity:
    """Seven features in three groups of similar ones (Fig. 1 of the paper)."""
    matrix = np.full((7, 7), 0.1)
    for group in ([0, 1, 2], [3, 4], [5, 6]):
        matrix[np.ix_(group, group)] = 0.95
    np.fill_diagonal(matrix, 1.0)
    return ms.FeatureSimilarity.from_matrix(matrix, THRESHOLD)


def all_pairs(
    measure: str, correction: str | None = None, similarity: ms.FeatureSimilarity | None = None
) -> np.ndarray:
    """Score all 128 × 128 pairs of subsets of seven features, similar as in Fig. 1 if not given."""
    similarity = similarity or figure1_similarity()
    as_published = "auto" if measure in ("zucknick", "unadjusted") else "exact"
    options = {"similarity": similarity, "correction": correction or as_published}
    pairs = stability(ms.Runs.from_support(SUBSETS), measure, **options).pairwise.copy()
    for i, subset in enumerate(SUBSETS):  # a set with itself: not a pair of different runs
        pairs[i, i] = stability(ms.Runs.from_support([subset, subset]), measure, **options).value
    return pairs


def artificial(options: argparse.Namespace) -> dict[str, Any]:
    """Section 3.1: all pairs of subsets of seven features (Figs. 1 and 2)."""
    log("all pairs of subsets of seven features")
    values = pd.DataFrame({name: all_pairs(measure).ravel() for measure, name in NAMES.items()})
    defined = values.dropna()
    save_figure(plot_pairs(defined), options.output, "bommert2020_pairs.png")
    correlation = defined.corr()

    def compare(some: list[str], others: list[str]) -> dict[str, float]:
        pairs = [(a, b) for a in some for b in others if a != b]
        apart = [(defined[a] - defined[b]).abs() for a, b in pairs]
        r = [correlation.loc[pair] for pair in pairs]
        mean, largest = max(x.mean() for x in apart), max(x.max() for x in apart)
        return {"low": min(r), "high": max(r), "mean": mean, "max": largest}

    matchings = ["SMA-Count", "SMA-Greedy", "SMA-MBM"]
    groups = {
        "SMA-Count, SMA-Greedy, SMA-MBM": compare(matchings, matchings),
        "SMA-Mean and the other SMA": compare(["SMA-Mean"], matchings),
        "SMY and the SMA": compare(["SMY"], SMA),
        "SMU and the group SMY, SMA": compare(["SMU"], GROUP),
        "SMZ and all others": compare(["SMZ"], ["SMU", *GROUP]),
    }
    same, mean, smy, smu, smz = groups.values()
    # without correction SMY − SMA-Count = |A(V₁,V₂) − A(V₂,V₁)|/2
    uneven = (all_pairs("yu", "none") - all_pairs("sma_count", "none")).ravel()[defined.index] > 0
    return {
        "n_pairs": len(values),
        "n_defined": len(defined),
        "undefined_table": table(["", *values], [("undefined", *values.isna().sum())]),
        "groups_table": table(
            ["", "correlations", "largest mean difference", "largest difference"],
            [
                (k, "{low:.4f} to {high:.4f}".format(**v), f"{v['mean']:.4f}", f"{v['max']:.4f}")
                for k, v in groups.items()
            ],
        ),
        "within": correlation.loc[GROUP, GROUP].min().min(),
        "smu_group_artificial": correlation.loc["SMU", GROUP].mean(),
        "smu": smu,
        "smz": smz,
        "smy": smy,
        "sma_mean": mean,
        "same_max": same["max"],
        "far_verdict": verdict(max(smu["high"], smz["high"]) < 0.9),
        "sma_verdict": verdict(mean["low"] > 0.99 and mean["mean"] < 0.05),
        "smy_verdict": verdict(smy["low"] > 0.9),
        "least_alike_artificial": correlation.loc[SMA, SMA].min().min(),
    } | where_large(defined, uneven)


def gaps(values: pd.DataFrame, chosen: Any, margin: float = MARGIN) -> pd.DataFrame:
    """How often SMY is above and below each SMA by more than `margin`, in the chosen pairs."""
    apart = -values.loc[chosen, SMA].sub(values.loc[chosen, "SMY"], axis=0)
    return pd.DataFrame({"above": (apart > margin).mean(), "below": (apart < -margin).mean()})


def where_large(values: pd.DataFrame, uneven: np.ndarray) -> dict[str, Any]:
    """Is SMY above the SMA where all of them give large values, and are these the uneven pairs?

    `uneven` are the pairs with A(V₁, V₂) ≠ A(V₂, V₁).
    """
    least, largest = values[GROUP].min(axis=1), values[GROUP].max(axis=1)
    low = LARGE_VALUES[0]
    chosen = {f"all ≥ {least_value}": least >= least_value - 1e-9 for least_value in LARGE_VALUES}
    chosen[f"one ≥ {low}"] = largest >= low - 1e-9
    found = {name: gaps(values, of) for name, of in chosen.items()}
    often = [
        [sma for sma in SMA if found[f"all ≥ {x}"].loc[sma, "above"] > OFTEN] for x in LARGE_VALUES
    ]
    above = {sma: chosen[f"all ≥ {low}"] & (values["SMY"] - values[sma] > MARGIN) for sma in SMA}
    among = pd.Series(uneven, values.index)
    crowded = {sma: among[of].mean() for sma, of in above.items()}
    all_crowded = [share > 0.99 for share in crowded.values()]
    rows = [
        (
            sma,
            *(
                f"{part.loc[sma, 'above']:.1%} / {part.loc[sma, 'below']:.1%}"
                for part in found.values()
            ),
            f"{crowded[sma]:.1%} of {above[sma].sum()}",
        )
        for sma in SMA
    ]
    any_amount = gaps(values, chosen[f"all ≥ {low}"], 1e-9).loc["SMA-Count"]
    return {
        "margin": MARGIN,
        "often": OFTEN,
        "large_values": LARGE_VALUES,
        "n_large": [int(of.sum()) for of in chosen.values()],
        "gaps_table": table(
            [
                "SMY above / below",
                *(f"{name} ({of.sum():,} pairs)" for name, of in chosen.items()),
                f"above, all ≥ {low}: A(V₁, V₂) ≠ A(V₂, V₁)",
            ],
            rows,
        ),
        "gap_verdict": verdict(
            all(len(names) == len(SMA) for names in often) or (None if all(often) else False)
        ),
        "count_above": [found[f"all ≥ {x}"].loc["SMA-Count", "above"] for x in LARGE_VALUES],
        "mean_above": [found[f"all ≥ {x}"].loc["SMA-Mean", "above"] for x in LARGE_VALUES],
        "any_above": any_amount["above"],
        "any_below": any_amount["below"],
        "crowded_verdict": verdict(all(all_crowded) or (None if any(all_crowded) else False)),
    }
