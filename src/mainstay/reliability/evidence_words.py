"""What permuted targets allow to be said: the words of results and of reports, in one place."""

from __future__ import annotations

from typing import Literal

from mainstay._validation import counted

Named = Literal["nothing", "list", "groups", "features"]

_FEW_ROWS = 50
HEADLINES: dict[Named, str] = {
    "nothing": "Nothing was found that noise would not give.",
    "list": "There is something in these data, but no single feature can be named.",
    "groups": "{n} can be named, but not which of their members.",
    "features": "{n}.",
}


def most_named(p_value: float, level: float, n_features: int, n_groups: int) -> Named:
    """The most that can be named: features, else groups of twins, else that there is something.

    Features come first even where the p-value of the whole list is above the level: to name any
    feature at a false discovery rate of 10% is wrong in at most 10% of data sets without signal,
    and so it is a test of the whole list itself.
    """
    if n_features:
        return "features"
    if n_groups:
        return "groups"
    return "list" if p_value <= level else "nothing"


def tested_against_noise(named: Named, p_value: float, n_permutations: int, permuted: str) -> str:
    """Whether there is anything, with the p-value of the whole list."""
    compared = f"{n_permutations:,} permutations of {permuted}"
    if named == "nothing":
        return f"{HEADLINES[named][:-1]}: p = {p_value:.2g} for the whole list ({compared})."
    return f"There is more here than noise gives: p = {p_value:.2g} ({compared})."


def features_named(n_features: int, n_groups: int) -> str:
    """How many features can be named, and how many groups of twins they belong to.

    Examples
    --------
    >>> features_named(5, 1), features_named(1, 1)
    ('5 features can be named, 1 with twins counted as one', '1 feature can be named')
    """
    fewer = f", {n_groups:,} with twins counted as one" if n_groups < n_features else ""
    return f"{counted(n_features, 'feature')} can be named{fewer}"


def what_could_help(named: Named, n_rows: int | None = None) -> str:
    """Advice where nothing, or no single feature, can be named; it does not promise anything."""
    rows = "More rows"
    if n_rows is not None and n_rows < _FEW_ROWS:
        rows = f"More rows (with {n_rows}, only very strong effects stand out from noise)"
    tested = "testing fewer features, chosen before looking at the target"
    if named == "list":
        return f"{rows}, or {tested}, could make single features stand out."
    return (
        f"{rows}; {tested}; or a ranker that sees another kind of effect, such as one that is not "
        "linear, could change that. More runs on the same rows cannot."
    )
