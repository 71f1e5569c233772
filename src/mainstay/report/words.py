"""Small words that several parts of the verdict use."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

SHOWN = 12  # names, before the rest is counted
LONGEST_NAME = 200
# line separators, marks that change the direction of text, other invisible characters
_INVISIBLE = re.compile(
    "[\\x00-\\x1f\\x7f-\\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)


def decimals(value: float) -> str:
    """Two decimals, and no -0.00."""
    return f"{round(value, 2) + 0.0:.2f}"


def with_interval(estimate: dict[str, Any]) -> str:
    """A value with its interval, if it has one."""
    text = decimals(estimate["value"])
    if estimate["lower"] is not None:
        text += f" ({estimate['confidence']:.0%} interval {decimals(estimate['lower'])} to "
        text += f"{decimals(estimate['upper'])})"
    elif estimate.get("note"):
        text += f" ({estimate['note']})"
    return text


def count(value: float) -> str:
    """A mean number of things."""
    if 0 < value < 0.05:
        return f"{value:.1g}"
    return f"{value:.0f}" if value == round(value) or value >= 100 else f"{value:.1f}"


def about(number: float) -> str:
    """Two significant digits are all that a rough number deserves."""
    return f"{float(f'{number:.2g}'):,.0f}"


def ranker_name(value: Any) -> str:
    """Name a ranker, an estimator or a rule that settings describe."""
    if isinstance(value, dict):
        return str(value.get("class") or value.get("object") or "").rpartition(".")[2]
    return "" if value is None else str(value)


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


def readable(name: str, longest: int = LONGEST_NAME) -> str:
    """Make a name visible: spaces at its ends, characters that cannot be seen, endless names."""
    if not name:
        return "(empty name)"
    text = _INVISIBLE.sub(lambda match: f"\\u{ord(match[0]):04x}", name)
    stripped = text.strip()
    if stripped != text or not stripped:
        start = len(text) - len(text.lstrip()) if stripped else len(text)
        end = len(text) - len(text.rstrip()) if stripped else 0
        text = f"{'␣' * start}{stripped}{'␣' * end}"
    if len(text) > longest:
        text = f"{text[: longest - 1]}… ({len(name)} characters)"
    return text
