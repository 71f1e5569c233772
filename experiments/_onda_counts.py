"""Table 2 of onda2021 with errors: our means against the paper's, and trends with n_tree."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from _common import table, verdict
from _onda_experiment import listed
from _onda_forests import TREES

DRAWS = 1000  # of t_uniform, in the paper
CLEAR = 2.0  # errors that a difference has to be more than
NO_TREND = ("Colon", "Lymphoma")


def differences(half: pd.DataFrame, repetitions: int) -> pd.DataFrame:
    """Ours minus the paper's mean n_useful, and in errors by two readings of the paper's 1000.

    `redrawn`: forests and t_uniform are new in each of the 1000 estimates, so that the paper's mean
    has the error sd/√1000. `one_bank`: t_uniform only is new, so that its mean has that error and
    the spread of one bank of forests, for which ours stands.
    """
    ours, draws = half["sd_runs"] ** 2 / repetitions, half["paper_sd"] ** 2 / DRAWS
    apart = half["n_useful"] - half["paper"]
    return pd.DataFrame(
        {
            "apart": apart,
            "redrawn": apart / np.sqrt(ours + draws),
            "one_bank": apart / np.sqrt(ours + draws + half["sd_runs"] ** 2),
            "one_sd": apart / half["paper_sd"],
        }
    )


def against_paper(half: pd.DataFrame, repetitions: int) -> dict[str, Any]:
    """The differences as a table, and how many are small by each reading."""
    found = differences(half, repetitions)
    names = list(half.index.unique("data"))
    rows = []
    for trees in TREES:
        cells = []
        for name in names:
            d = found.loc[(name, trees)]
            cells += [f"{d['apart']:+.1f}", f"{d['redrawn']:+.1f}", f"{d['one_bank']:+.1f}"]
        rows.append((trees, *cells))
    heads = ("ours − paper", "errors, all redrawn", "errors, one bank")
    small = found.abs() <= pd.Series(
        {"apart": np.inf, "redrawn": CLEAR, "one_bank": CLEAR, "one_sd": 1.0}
    )
    values: dict[str, Any] = {
        "apart": found,
        "apart_table": table(["n_tree", *[f"{n}: {h}" for n in names for h in heads]], rows),
    }
    for reading in ("redrawn", "one_bank", "one_sd"):
        by_set = small[reading].groupby("data", sort=False).sum()
        values[f"within_{reading}"] = f"{int(by_set.sum())} of {len(small)}"
        values[f"within_{reading}_by_set"] = listed(by_set, "{} of 6")
        at_300 = small[reading].xs(300, level="n_tree")
        values[f"within_{reading}_300"] = f"{int(at_300.sum())} of {len(at_300)}"
    return values


def mean_and_error(values: np.ndarray) -> tuple[float, float]:
    """Mean of repetitions and its standard error."""
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


def _clear(change: tuple[float, float]) -> int:
    """Say +1 or −1 for a change of more than two errors, 0 for another."""
    mean, error = change
    return int(np.sign(mean)) if abs(mean) > CLEAR * error else 0


def no_trend(changes: list[tuple[float, float]], whole: tuple[float, float]) -> bool:
    """Whether steps do not go one way: no clear change from end to end, or clear steps both ways.

    Steps that all go one way or are none beyond their errors, with a clear change from end to end,
    are a monotone trend as far as can be seen.
    """
    ways = {_clear(change) for change in changes} - {0}
    return not _clear(whole) or len(ways) == 2


def trends(by_set: dict[str, np.ndarray], half: pd.DataFrame) -> dict[str, Any]:
    """Does n_useful fall with the number of trees on Prostate, and have no trend elsewhere?

    `by_set`: n_useful by repetition and number of trees. All numbers of trees of a repetition share
    their first trees, so that steps are paired over repetitions.
    """
    steps = {n: [mean_and_error(s) for s in np.diff(x, axis=1).T] for n, x in by_set.items()}
    whole = {n: mean_and_error(x[:, -1] - x[:, 0]) for n, x in by_set.items()}
    paper = half.loc["Prostate", "paper"]
    ways = [_clear(step) for step in steps["Prostate"]]
    falls = _clear(whole["Prostate"]) < 0
    without = {n: no_trend(steps[n], whole[n]) for n in NO_TREND}
    rows = [
        (name, *[_signed(step) for step in steps[name]], _signed(whole[name])) for name in by_set
    ]
    pairs = [f"{a} to {b}" for a, b in pairwise(TREES)]
    return {
        "steps_table": table(["change of n_useful", *pairs, f"{TREES[0]} to {TREES[-1]}"], rows),
        "monotone": ", ".join(f"{v:.0f}" for v in by_set["Prostate"].mean(axis=0)),
        "paper_steps": ", ".join(f"{v:.1f}" for v in paper.iloc[:3]),
        "first_step": _signed(steps["Prostate"][0]),
        "paper_step": f"{paper.iloc[1] - paper.iloc[0]:+.1f}",
        "monotone_verdict": verdict(falls and (None if 1 in ways else True)),
        "others_verdict": verdict(
            all(without.values()) or (None if any(without.values()) else False)
        ),
        "others_late": ", ".join(
            f"{n} {_signed(mean_and_error(by_set[n][:, -1] - by_set[n][:, 1]))}" for n in NO_TREND
        ),
        "others_paper": listed(
            {n: half.loc[n, "paper"].iloc[-1] - half.loc[n, "paper"].iloc[0] for n in NO_TREND},
            "{:+.1f}",
        ),
        "others": "; ".join(f"{n} {_direction(steps[n], whole[n])}" for n in NO_TREND),
    }


def _signed(change: tuple[float, float]) -> str:
    return f"{change[0]:+.1f} ± {change[1]:.1f}"


def _direction(changes: list[tuple[float, float]], whole: tuple[float, float]) -> str:
    """Say how many steps go up and down beyond two errors, and the change from end to end."""
    ways = [_clear(change) for change in changes]
    return f"{ways.count(1)} up, {ways.count(-1)} down, {_signed(whole)} from end to end"
