"""Small words that several parts of the verdict use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

SHOWN = 12  # names, before the rest is counted


def with_interval(estimate: dict[str, Any]) -> str:
    """A value with its interval, if it has one."""
    text = f"{estimate['value']:.2f}"
    if estimate["lower"] is not None:
        text += f" ({estimate['confidence']:.0%} interval {estimate['lower']:.2f} to "
        text += f"{estimate['upper']:.2f})"
    return text


def count(value: float) -> str:
    """A mean number of things."""
    return f"{value:.0f}" if value == round(value) or value >= 100 else f"{value:.1f}"


def about(number: float) -> str:
    """Two significant digits are all that a rough number deserves."""
    return f"{float(f'{number:.2g}'):,.0f}"


def and_(names: Sequence[str]) -> str:
    """Names, the last one after "and"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def listed(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    if len(names) <= SHOWN:
        return and_(names)
    return f"{', '.join(names[:SHOWN])} and {len(names) - SHOWN:,} more"


def were(n: int) -> str:
    """Was or were."""
    return "was" if n == 1 else "were"


def has(n: int) -> str:
    """Has or have."""
    return "has" if n == 1 else "have"


def counted(n: int, thing: str) -> str:
    """A number of things: "1 feature", "2 features"."""
    return f"{n:,} {thing}{'s' * (n != 1)}"
