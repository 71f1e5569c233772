"""Select features from paired runs so that a bound on the expected number of false ones is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mainstay._validation import InputError, check_choice, natural_order, share_or_number
from mainstay.reliability.bounds.formulas import BOUNDS
from mainstay.reliability.bounds.inverses import (
    check_max_false,
    largest_selection,
    smallest_threshold,
)
from mainstay.runs import Runs

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class BoundedSelection:
    """Features selected so often that a bound on the expected number of false ones is kept.

    Attributes
    ----------
    features : tuple of str
        All features.
    counts : numpy.ndarray
        How many of the runs selected each of them.
    n_pairs : int
        Number of complementary pairs; there are twice as many runs.
    sizes : tuple of int
        The fewest and the most features that a run selects.
    n_selected : float
        How many features a run selects, on average if runs differ.
    bound : str
        Name of the bound.
    max_false : float
        Wanted bound on the expected number of false features.
    threshold : float or None
        Share of the runs that must select a feature; None if no threshold keeps the bound.
    expected_false : float
        The bound at that threshold; 0 if there is none, since nothing is selected then.
    """

    features: tuple[str, ...]
    counts: np.ndarray
    n_pairs: int
    sizes: tuple[int, int]
    n_selected: float
    bound: str
    max_false: float
    threshold: float | None
    expected_false: float

    @property
    def frequencies(self) -> np.ndarray:
        """Share of the runs that selected each feature."""
        return self.counts / (2 * self.n_pairs)

    @property
    def support(self) -> np.ndarray:
        """Which features are selected."""
        if self.threshold is None:
            return np.zeros(len(self.features), dtype=bool)
        return np.asarray(self.counts >= round(self.threshold * 2 * self.n_pairs))

    @property
    def selected(self) -> tuple[str, ...]:
        """The selected features, most often selected first."""
        table = self.to_frame()
        return tuple(table.loc[table["selected"], "feature"])

    @property
    def statement(self) -> str:
        """What is selected, what that guarantees, and under which assumptions."""
        n_runs, p = 2 * self.n_pairs, len(self.features)
        if self.threshold is None:
            return self._why_nothing_can_be_selected()
        found = int(self.support.sum())
        first = (
            f"{found:,} of {p:,} features were selected in at least "
            f"{round(self.threshold * n_runs)} of {n_runs} runs."
        )
        mean = " on average" if self.sizes[0] != self.sizes[1] else ""
        return (
            f"{first} The expected number of features that pass by chance, those whose probability "
            f"of being selected in a run is at most {self.n_selected / p:.3g} (a run selects "
            f"{self.n_selected:.4g} of {p:,}{mean}), is at most {self.expected_false:.2g} "
            f"({self.bound} bound). This assumes independent rows, and "
            f"{BOUNDS[self.bound].assumes}."
        )

    def _why_nothing_can_be_selected(self) -> str:
        most = largest_selection(max_false=self.max_false, n_features=len(self.features),
                                 threshold=1, n_pairs=self.n_pairs, bound=self.bound)  # fmt: skip
        remedy = f"Let a run select at most {most:,}, or make more pairs." if most else (
            "Make more pairs, or allow more false features.")  # fmt: skip
        return (
            f"Nothing is selected: with {self.n_pairs} pairs and runs that select "
            f"{self.n_selected:.4g} of {len(self.features):,} features, the {self.bound} bound is "
            f"above {self.max_false:g} even for features that every run selects. {remedy}"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return all features with their frequency, and which are selected; best first."""
        import pandas as pd

        columns = {"feature": self.features, "frequency": self.frequencies,
                   "selected": self.support}  # fmt: skip
        order = best_first(self.counts, self.features)
        return pd.DataFrame(columns).iloc[order].reset_index(drop=True)

    def __repr__(self) -> str:
        found = int(self.support.sum())
        at = "no threshold" if self.threshold is None else f"threshold {self.threshold:.4g}"
        return (
            f"BoundedSelection: {found} of {len(self.features)} features, {at}, at most "
            f"{self.expected_false:.3g} expected false ({self.bound})"
        )


def select(
    runs: Runs,
    *,
    max_false: float = 1.0,
    bound: str = "unimodal",
    n_features_to_select: int | float | None = None,
) -> BoundedSelection:
    """Select the features that so many runs select that few of them are expected to be false.

    The threshold is the smallest at which the bound is at most `max_false`.

    Parameters
    ----------
    runs : Runs
        Selections, rankings or scores of complementary pairs: made with `resampling="pairs"`, or
        elsewhere and marked with `runs.as_pairs()`. For groups of twins give
        `runs.grouped(similarity.groups("complete_linkage"))`.
    max_false : float
        Wanted bound on the expected number of false features.
    bound : {"unimodal", "meinshausen-buehlmann", "r-concave"}
        Which bound.
    n_features_to_select : int or float, optional
        For rankings and scores: how many features (or which share) a run selects. Where runs are
        selections of different sizes, their mean size stands for the expected one.

    Returns
    -------
    BoundedSelection
        `.selected`, `.threshold`, `.expected_false`, `.to_frame()`, and `.statement`, which says
        what is guaranteed under which assumptions.

    Examples
    --------
    >>> import numpy as np, mainstay as ms
    >>> from mainstay.reliability import bounds
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=(100, 200)) + 5 * (np.arange(200) < 3)
    >>> runs = ms.Runs.from_scores(scores).as_pairs()
    >>> found = bounds.select(runs, max_false=1, n_features_to_select=10)
    >>> found.selected, found.threshold
    (('x0', 'x1', 'x2'), 0.63)
    """
    most = check_max_false(max_false)
    check_choice("bound", bound, BOUNDS)
    check_pairs(runs)
    chosen = _selections(runs, n_features_to_select)
    p, n_pairs = chosen.n_features, chosen.n_runs // 2
    q = float(chosen.sizes.mean())
    threshold = smallest_threshold(
        max_false=most, n_features=p, n_selected=q, n_pairs=n_pairs, bound=bound
    )
    value = 0.0
    if threshold is not None:
        value = float(BOUNDS[bound].by_count(p, q, n_pairs)[round(threshold * 2 * n_pairs)])
    sizes = int(chosen.sizes.min()), int(chosen.sizes.max())
    return BoundedSelection(
        chosen.features, chosen.counts, n_pairs, sizes, q, bound, most, threshold, value
    )


def best_first(values: np.ndarray, features: tuple[str, ...]) -> np.ndarray:
    """Positions of the features from the largest value down, ties by name."""
    by_name = natural_order(features)
    return by_name[np.argsort(-values[by_name], kind="stable")]


def check_pairs(runs: Runs) -> None:
    """Refuse runs that are not those of complementary pairs."""
    if not runs.paired:
        raise InputError(
            "these runs are not complementary pairs. Make them with resampling='pairs'; if they "
            "were made elsewhere and runs 0 and 1, 2 and 3, … saw disjoint halves of the rows, say "
            "so with runs.as_pairs()."
        )


def _selections(runs: Runs, n_features_to_select: int | float | None) -> Runs:
    if runs.kind == "support":
        if n_features_to_select is not None:
            raise InputError(
                "these runs are selections already, so n_features_to_select="
                f"{n_features_to_select!r} cannot be used; leave it out."
            )
        return runs
    if n_features_to_select is None:
        raise InputError(
            f"these runs hold {runs.kind}: say with n_features_to_select how many features a run "
            "selects."
        )
    return runs.top(share_or_number("n_features_to_select", n_features_to_select, runs.n_features))
