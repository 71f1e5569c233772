"""A comparison in plain words: why one candidate is recommended, and what speaks against it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mainstay.comparison.candidates import ALL, NONE, NOT_COMPETING, RANDOM
from mainstay.comparison.pareto import Step
from mainstay.comparison.significance import against_random_features, corrected_t_test

if TYPE_CHECKING:
    import pandas as pd

_LEVEL = 0.05


def caution(table: pd.DataFrame, scores: pd.DataFrame, settings: Mapping[str, Any]) -> list[str]:
    """Say if the recommended candidate is not better than random features, or than none.

    Better is a larger mean score with p < 0.05: in the corrected resampled t-test against no
    features, in `against_random_features` against random ones. Comparisons that older versions
    saved have no score without features.
    """
    (row,) = table[table["recommended"]].to_dict("records")
    k = row["n_features"]
    on_splits = {name: np.asarray(of_one) for name, of_one in scores.groupby("candidate")["score"]}
    baselines = (
        (NONE, corrected_t_test, _without(settings),
         "Nothing here shows that these features say anything about the target."),
        (_random(k), against_random_features, f"{k} random features" if k > 1 else "a random one",
         "Either nearly every feature carries the signal, or these data are too few to find it."),
    )  # fmt: skip
    words = []
    for name, test_against, called, meaning in baselines:
        if name not in on_splits:
            continue
        own = on_splits[row["candidate"]]
        test = test_against(on_splits[name], own, settings["test_per_train"])
        if test.difference <= 0 or test.p_value >= _LEVEL:
            words.append(
                f"Beware: it is not shown to predict better than {called} ({own.mean():.3f} "
                f"against {on_splits[name].mean():.3f}, p = {test.p_value:.2g}). {meaning}"
            )
    return words


def _without(settings: Mapping[str, Any]) -> str:
    if settings["task"] == "classification":
        return "always predicting the most frequent class"
    return "always predicting the mean"


def _random(n_features: int) -> str:
    return f"{RANDOM}/{n_features}"


def stability_column(table: pd.DataFrame) -> str:
    """The adjusted stability where it is known, the plain one elsewhere."""
    return "adjusted_stability" if "adjusted_stability" in table else "stability"


def n_competing(table: pd.DataFrame) -> int:
    """How many candidates compete; everything that counts candidates counts these."""
    return int((~table["selector"].isin(NOT_COMPETING)).sum())


def explain(
    table: pd.DataFrame,
    chosen: int,
    steps: list[Step],
    settings: Mapping[str, Any],
) -> list[str]:
    """Say why one candidate is recommended, and what the baselines reach."""
    row = table.iloc[chosen]
    words = [f"Recommended: {row['candidate']}."]
    left = n_competing(table)
    for number, step in enumerate(steps):
        if left == 1:
            words.append("Nothing else had to decide.")
            break
        words.append(_step_in_words(table, chosen, step, left, first=number == 0, about=settings))
        left = step.kept
    words.append("(Stability: 1 = the same features from every part of the data, 0 = chance.)")
    by_name = table.set_index("candidate")["score"]
    words.append(
        f"For comparison, all {settings['n_features']} features reach {by_name[ALL]:.3f}, "
        f"{row['n_features']} random ones {by_name[_random(row['n_features'])]:.3f}, and "
        f"{_without(settings)} {by_name[NONE]:.3f}."
    )
    return words


def _step_in_words(
    table: pd.DataFrame,
    chosen: int,
    step: Step,
    left: int,
    *,
    first: bool,
    about: Mapping[str, Any],
) -> str:
    name, column = {
        "score": (about["scoring"], "score"),
        "stability": ("stability", stability_column(table)),
        "size": ("number of features", "n_features"),
    }[step.criterion]
    own, best = table[column].iloc[chosen], table[column].iloc[step.best]
    group = f"Of {left} candidates," if first else f"Of these {left},"
    if step.criterion == "size":
        return f"{group} it needs the fewest features, {own}."
    many = about["tolerance"]
    errors = "one standard error" if many == 1 else f"{many:g} standard errors"
    within = f"within {errors} ({step.reach:.3f})"
    if own == best:
        others = {1: "no other comes", 2: "one other comes"}.get(
            step.kept, f"{step.kept - 1} others come"
        )
        return f"{group} it has the best {name}, {own:.3f}; {others} {within} of it."
    kept = "all" if step.kept == left else step.kept
    return (
        f"{group} {kept} are {within} of the best {name}, {best:.3f} of "
        f"{table['candidate'].iloc[step.best]}; it is one of them, with {own:.3f}."
    )
