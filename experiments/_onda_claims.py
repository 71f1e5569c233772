"""Claims of onda2021 on ensembles, tested on the same folds: differences of J with their errors."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from _common import table, verdict
from _onda_counts import CLEAR
from _onda_ensembles import contrast
from _onda_experiment import pm
from _onda_forests import TREES

ALIKE = 0.03  # J of curves that are called the same differ by less, two errors included
FEW, MANY = (50, 100), (200, 300, 400, 500)  # trees, as the paper divides them


def lead(estimates: pd.Series, one: int, other: int) -> tuple[float, float]:
    """J of one number of trees minus that of another, and its paired error."""
    return contrast([estimates[one], estimates[other]], [1, -1])


def signed(change: tuple[float, float]) -> str:
    """Write a difference and its error."""
    return f"{change[0]:+.3f} ± {change[1]:.3f}"


def clear(change: tuple[float, float]) -> bool:
    """Whether a difference is above 0 by more than two errors."""
    return change[0] > CLEAR * change[1]


def all_some_none(good: list[bool]) -> str:
    """Agrees if all of the cases do, in part if some."""
    return verdict(all(good) or (None if any(good) else False))


def widest(estimates: pd.DataFrame, trees: tuple[int, ...]) -> tuple[float, float, int]:
    """The largest difference of J among numbers of trees at any size: difference, error, size.

    The largest once two errors are added, which is what has to be small for curves to be alike.
    """
    found = []
    for m, row in estimates.iterrows():
        for pair in combinations(trees, 2):
            change, error = lead(row, *pair)
            found.append((abs(change), error, int(m)))
    return max(found, key=lambda x: x[0] + CLEAR * x[1])


def few_trees(readings: dict[str, pd.DataFrame]) -> dict[str, Any]:
    """3.5: is J of large ensembles of Colon lower with fewer than 200 trees?

    By every reading of what weak selectors see. Agrees if all differences of all readings are
    clear, in part if some are.
    """
    rows, found = [], dict[str, list[bool]]()
    for what, estimates in readings.items():
        last = estimates.iloc[-1]
        for few in FEW:
            leads = [lead(last, many, few) for many in MANY]
            rows.append((f"{what}, {few} trees", *map(signed, leads)))
            found.setdefault(what, []).extend(map(clear, leads))
    return {
        "few_table": table(["J is lower by", *[f"than with {many}" for many in MANY]], rows),
        "few_clear": {what: f"{sum(good)} of {len(good)}" for what, good in found.items()},
        "few_verdict": all_some_none([x for good in found.values() for x in good]),
    }


def at_thirty(colon: pd.DataFrame) -> dict[str, Any]:
    """E.2: are 200 to 500 trees alike, but 500 more stable when m_ensemble = 30?"""
    m = 30 if 30 in colon.index else colon.index[-1]
    leads = {t: lead(colon.loc[m], 500, t) for t in MANY[:-1]}
    difference, error, where = widest(colon, MANY)
    return {
        "thirty_m": m,
        "thirty": ", ".join(pm(colon.loc[m, t].value, colon.loc[m, t].standard_error, 3)
                            for t in MANY),
        "thirty_leads": ", ".join(f"{signed(x)} over {t}" for t, x in leads.items()),
        "thirty_verdict": all_some_none([clear(x) for x in leads.values()]),
        "alike": f"{pm(difference, error, 3)}, at m_ensemble = {where}",
        "alike_verdict": verdict(difference + CLEAR * error < ALIKE),
    }  # fmt: skip


def wide(estimates: dict[str, pd.DataFrame], before: dict[str, float], m: int) -> dict[str, Any]:
    """E.2: is J of large ensembles the same for all n_tree when mtry is 0.1?

    Agrees if all are alike with two errors added; in part if they only differ less than with √n.
    """
    found = {name: widest(frame.loc[[m]], TREES) for name, frame in estimates.items()}
    alike = all(d + CLEAR * error < ALIKE for d, error, _ in found.values())
    less = [d < before[name] for name, (d, _, _) in found.items()]
    return {
        "wide_less": f"{sum(less)} of {len(less)}",
        "wide_largest": ", ".join(f"{n} {pm(d, error, 3)}" for n, (d, error, _) in found.items()),
        "wide_verdict": verdict(alike or (None if all(less) else False)),
    }


def proportional_part(sizes: np.ndarray, seconds: np.ndarray) -> float:
    """Share of the time of the largest size that grows in proportion, by a line through all."""
    slope, start = np.polyfit(sizes, seconds, 1)
    return float(slope * sizes[-1] / (start + slope * sizes[-1]))
