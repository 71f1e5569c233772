"""How many false features are tolerated: "fdr<=0.1", "fwer<=0.05", "expected_false<=1"."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal, cast

from mainstay._validation import InputError

ErrorKind = Literal["fdr", "fwer", "expected_false"]
KINDS = ("fdr", "fwer", "expected_false")
_RULE = re.compile(r"([a-z_]+)\s*<=\s*([0-9.eE+-]+)")


@dataclass(frozen=True)
class ErrorRule:
    """An error rate that a selection must keep, and its level.

    Attributes
    ----------
    kind : {"fdr", "fwer", "expected_false"}
        The share of false features among those named, on average (false discovery rate); the
        probability of naming even one (family-wise error rate); their expected number.
    level : float
        The most that is tolerated.

    Examples
    --------
    >>> ErrorRule.parse("fdr<=0.1")
    ErrorRule(kind='fdr', level=0.1)
    >>> str(ErrorRule("expected_false", 1.0))
    'expected_false<=1'
    """

    kind: ErrorKind
    level: float

    @classmethod
    def parse(cls, text: str | ErrorRule) -> ErrorRule:
        """Read a rule; refuse unknown rates and levels that mean nothing."""
        if isinstance(text, ErrorRule):
            return text
        match = _RULE.fullmatch(str(text).strip())
        if match is None or match[1] not in KINDS:
            raise InputError(
                f"an error rule is such as 'fdr<=0.1', 'fwer<=0.05' or 'expected_false<=1', got "
                f"{text!r}."
            )
        try:
            level = float(match[2])
        except ValueError:
            raise InputError(f"the level in {text!r} is no number.") from None
        largest = math.inf if match[1] == "expected_false" else 1.0
        if not 0 < level < largest:
            range_ = "above 0" if largest == math.inf else "between 0 and 1"
            raise InputError(f"the level in {text!r} must be {range_}.")
        return cls(cast(ErrorKind, match[1]), level)

    @staticmethod
    def is_rule(text: object) -> bool:
        """Tell whether a text is meant as an error rule: it starts with the name of a rate."""
        return isinstance(text, str) and text.strip().startswith(KINDS)

    def __str__(self) -> str:
        return f"{self.kind}<={self.level:g}"

    @property
    def fewest_permutations(self) -> int:
        """How many permutations can resolve the level.

        With m permutations no q-value is below 1/m for one feature, and no p-value and no expected
        number of false features below 1/(m + 1).
        """
        if self.kind == "fdr":
            return math.ceil(1 / self.level - 1e-9)
        return max(1, math.ceil(1 / self.level - 1 - 1e-9))

    @property
    def in_words(self) -> str:
        """What is promised."""
        return {
            "fdr": f"at most {100 * self.level:.3g}% of the named features are false on average",
            "fwer": f"the probability that even one named feature is false is at most "
            f"{self.level:g}",
            "expected_false": f"at most {self.level:g} of the named features "
            f"{'is' if self.level <= 1 else 'are'} false on average",
        }[self.kind]
