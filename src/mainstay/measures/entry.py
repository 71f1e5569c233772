"""The entry of a measure: everything that is known of it, in one place."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from mainstay._validation import InputError
from mainstay.measures.chance import expected_overlap_score

if TYPE_CHECKING:
    from mainstay.measures.inference import Scores

PairScore = Callable[..., np.ndarray]
JointScore = Callable[..., np.ndarray]


@dataclass(frozen=True)
class Measure:
    """Everything that is known of a measure.

    One of `pair_score`, `joint_score` and `run_scores` computes it. All of them work on arrays, and
    NaN means undefined (0/0). The six properties of Nogueira and Brown (2015, section 2.2) are
    `limits`, `monotonicity`, `correction_for_chance`, `unconstrained_cardinality` (None for
    rankings), `symmetry` and `redundancy_awareness`; `tests/test_properties.py` checks every one by
    computation.

    Attributes
    ----------
    name : str
        The name to ask for.
    kind : {"set", "similarity", "ranking", "scores", "importances"}
        What it compares: selections, selections with interchangeable features, rankings, scores,
        or the importances of the selected features, with interchangeable features if known.
    bounds : (float, float)
        Its smallest and largest possible values.
    reference : str
        Who defined it.
    pair_score : callable, optional
        (r, a, b, p) → score of two selections of a and b of p features that share r. The measure is
        its mean over all pairs of runs; what random selections score follows from it.
    joint_score : callable, optional
        (counts, **options) → score of all selections (`joint.Counts`), followed by the scores
        without each run in turn.
    expected, maximum : callable, optional
        Of a joint score: (sizes, p, **options) → its mean over random selections of these sizes;
        (p, **options) → its largest value, 1 if not given.
    variance : callable, optional
        Of a joint score: counts → its variance in theory. Without it, the jackknife is used.
    equal_size_score : callable, optional
        Of a joint score: the pair score whose mean it is when all selections have the same size.
    run_scores : callable, optional
        (runs, chance, **options) → `Scores`, corrected for chance as `chance` says. Measures of
        kind "similarity" get `similar.SimilarPairs` in place of the runs, those of importances
        `similarity=` beside them.
    options : tuple of str
        The keyword arguments that users may give.
    corrected : bool
        Whether it is corrected for chance by definition.
    equal_sizes : bool
        Whether it is defined only for selections of one size.
    limits, monotonicity, symmetry : bool
        Whether it has these properties.
    """

    name: str
    kind: Literal["set", "similarity", "ranking", "scores", "importances"]
    bounds: tuple[float, float]
    reference: str
    pair_score: PairScore | None = None
    joint_score: JointScore | None = None
    expected: Callable[..., float] | None = None
    maximum: Callable[..., float] | None = None
    variance: Callable[..., float] | None = None
    equal_size_score: PairScore | None = None
    run_scores: Callable[..., Scores] | None = None
    options: tuple[str, ...] = ()
    corrected: bool = False
    equal_sizes: bool = False
    limits: bool = True
    monotonicity: bool = True
    symmetry: bool = True

    def __post_init__(self) -> None:
        functions = {
            name: getattr(self, name) for name in ("pair_score", "joint_score", "run_scores")
        }
        given = [name for name, function in functions.items() if function is not None]
        if len(given) != 1:
            raise InputError(
                f"measure {self.name!r} needs one of {', '.join(functions)}, "
                f"got {' and '.join(given) or 'none'}."
            )
        if self.joint_score is not None and self.expected is None and not self.corrected:
            raise InputError(
                f"measure {self.name!r} needs expected=, the mean score of random selections, or "
                "corrected=True if that is 0 by definition."
            )

    @property
    def lower(self) -> float:
        """Its smallest possible value."""
        return self.bounds[0]

    @property
    def upper(self) -> float:
        """Its largest possible value."""
        return self.bounds[1]

    @property
    def compares_selections(self) -> bool:
        """Whether it compares selections, not rankings or scores."""
        return self.kind in ("set", "similarity")

    @property
    def reads_selected(self) -> bool:
        """Whether it compares selected features or their importance, not the order of all."""
        return self.compares_selections or self.kind == "importances"

    @property
    def adjusted(self) -> bool:
        """Whether it counts similar features as interchangeable."""
        return self.kind in ("similarity", "importances")

    @property
    def needs_similarity(self) -> bool:
        """Whether it cannot do without similarities."""
        return self.kind == "similarity"

    @property
    def correction_for_chance(self) -> bool:
        """Property 3."""
        return self.corrected

    @property
    def unconstrained_cardinality(self) -> bool | None:
        """Property 4; None for rankings and scores."""
        return not self.equal_sizes if self.reads_selected else None

    @property
    def redundancy_awareness(self) -> bool:
        """Property 6."""
        return self.adjusted

    def chance_level(self, k: int, n_runs: int, p: int) -> float:
        """Score of random selections of k of p features; NaN where no closed form is known."""
        if self.corrected:
            return 0.0
        if self.pair_score is not None:
            return float(expected_overlap_score(self.pair_score, np.array([k]), p)[0, 0])
        if self.expected is not None:
            return self.expected(np.full(n_runs, k), p)
        return math.nan
