"""How often something holds, and whether that supports a statement of the paper.

Cases are named by data set (or problem, or network) and by something within it, such as the base
model. Those of one data set hang together, so that chance is asked of data sets, not of cases.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from math import isclose

import pandas as pd
from _common import verdict
from _huynhthu_methods import BASES
from _huynhthu_tables import Paper, spread
from scipy.stats import binom

SAME = 5e-5  # relative: some cells have five digits only, and equal means differ in the last

Means = Mapping[tuple[str, str], float]
Cases = dict[tuple[str, str], bool]


def judged(cases: Collection[bool]) -> bool | None:
    """Whether four fifths of the cases support a statement; None (in part) if most of them do."""
    right = sum(cases)
    return True if right >= 0.8 * len(cases) else None if right > len(cases) / 2 else False


def share(cases: Cases) -> str:
    """Write how many cases hold."""
    return f"{sum(cases.values())} of {len(cases)}"


def plainly(cases: Cases) -> str:
    """Write how often something holds, and whether that supports the paper."""
    return f"{verdict(judged(cases.values()))} {share(cases)}" if cases else "(not yet computed)"


def counted(cases: Cases, unit: str, there: Cases | None = None) -> str:
    """Write how often something holds, the verdict, and how that is by data set.

    A data set counts when most of its cases hold, and not at all when half of them do. The
    probability is that of as many heads in as many tosses of a coin. `there` are the cases of the
    paper's own table, judged by the same rule.
    """
    if not cases:
        return "(not yet computed)"
    held, n = by_unit(cases)
    luck = float(binom.sf(held - 1, n, 0.5))
    p = "p < 0.001" if luck < 0.001 else f"p = {luck:.3f}"
    words = [f"{unit}: {held} of {n}, {p} by coin tosses"]
    if there:
        rule = {True: "agrees", None: "in part", False: "does not agree"}
        words.append(f"paper's table: {share(there)}, by this rule {rule[judged(there.values())]}")
    return f"{plainly(cases)} ({'; '.join(words)})"


def by_unit(cases: Cases) -> tuple[int, int]:
    """On how many data sets most cases hold; of how many where not just half of them do."""
    units: dict[str, list[bool]] = {}
    for (name, _), holds in cases.items():
        units.setdefault(name, []).append(holds)
    clear = [sum(held) > len(held) / 2 for held in units.values() if 2 * sum(held) != len(held)]
    return sum(clear), len(clear)


def means(found: pd.DataFrame, value: str) -> Means:
    """Our means by data set and method."""
    return spread(found, value)["mean"].to_dict()


def printed(paper: Paper) -> Means:
    """The paper's means by data set and method."""
    return {key: number.mean for key, number in paper.items()}


def below(a: float, b: float) -> bool:
    """Whether one mean is below another by more than the digits of a cell."""
    return bool(a < b and not isclose(a, b, rel_tol=SAME))


def better(
    values: Means, names: Iterable[str], one: str, other: str, *, larger: bool = False,
    bases: Iterable[str] = BASES,
) -> Cases:  # fmt: skip
    """Whether one method is better than another, by data set and base model ("{base}")."""
    cases = {}
    for name in names:
        for base in bases:
            a = values.get((name, one.format(base=base)))
            b = values.get((name, other.format(base=base)))
            if a is not None and b is not None:
                cases[name, base] = below(b, a) if larger else below(a, b)
    return cases


def not_worse(
    found: pd.DataFrame, value: str, names: Iterable[str], one: str, other: str, *,
    larger: bool = False, bases: Iterable[str] = BASES,
) -> Cases:  # fmt: skip
    """Whether one method is not worse by more than two standard errors, paired by repetition."""
    cases: Cases = {}
    if value not in found:
        return cases
    wide = found.pivot(index=["data", "repetition"], columns="method", values=value)
    for base in bases:
        pair = one.format(base=base), other.format(base=base)
        if not set(pair) <= set(wide):
            continue
        losses = (wide[pair[0]] - wide[pair[1]]).dropna() * (-1 if larger else 1)
        by_data = losses.groupby("data")
        gone = by_data.mean() > 2 * by_data.sem()
        cases |= {(name, base): not gone[name] for name in names if name in gone.index}
    return {key: bool(holds) for key, holds in cases.items()}


def joined(parts: Mapping[str, Cases]) -> Cases:
    """All cases of several kinds; the kind becomes part of what is within a data set."""
    return {
        (name, f"{base}, {kind}"): holds
        for kind, cases in parts.items()
        for (name, base), holds in cases.items()
    }


def both(one: Cases, other: Cases) -> Cases:
    """Where two things hold at once, of the cases that both have."""
    return {key: one[key] and other[key] for key in one if key in other}
