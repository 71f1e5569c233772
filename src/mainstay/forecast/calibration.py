"""From observed runs to the two parameters of the simulated selector."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import brentq

from mainstay._validation import InputError, check_choice
from mainstay.forecast import analytic
from mainstay.forecast.threshold import maximum_count
from mainstay.forecast.uniform import check_parameters
from mainstay.measures import MEASURES
from mainstay.runs import Runs

PAPER_GRID = tuple(tenths / 10 for tenths in range(1, 10))


class InfeasibleError(InputError):
    """No parameters of the simulated selector give what was observed; the message says why."""


def estimate_n_useful(runs: Runs) -> float:
    """Count the features that were selected more often than chance explains.

    Parameters
    ----------
    runs : Runs
        Selections; `runs.top(k)` makes them from rankings. Sizes may differ between runs.

    Returns
    -------
    float
        Expected number of features with a count above t_uniform, over the distribution of
        t_uniform (the paper counts with one draw of it).

    Notes
    -----
    The estimate grows with the number of runs: the more there are, the smaller the preferences that
    stand out. `t_uniform(...).expect(function)` gives its spread over the threshold.

    References
    ----------
    Onda, Gao, Kotera, Oono (2021), Fast estimation method for the stability of ensemble feature
    selectors, section 2.3.1.

    Examples
    --------
    >>> from mainstay.forecast import SimulatedSelector, estimate_n_useful
    >>> selector = SimulatedSelector(n_features=2000, n_selected=20, n_useful=60, p=0.7)
    >>> runs = selector.sample_runs(62, returns="selection", random_state=0)
    >>> round(estimate_n_useful(runs), 1)
    60.0
    """
    if not isinstance(runs, Runs):
        raise InputError(
            f"runs must be a mainstay.Runs, got {type(runs).__name__}; make one with "
            "Runs.from_sets or from_support."
        )
    counts = runs.counts
    return maximum_count(runs.sizes, runs.n_features).expect(lambda t: float((counts > t).sum()))


# ---------------------------------------------------------------------- one run


class OneRun:
    """Stability of single runs as a function of p, for one n_useful, whole or not."""

    def __init__(self, measure: str, n: int, k: int, u: float) -> None:
        self.measure, self.n, self.k = measure, n, k
        below = math.floor(u)
        shares = {below: 1 - (u - below), below + 1: u - below}
        self._parts = [
            (share, whole, analytic.useful_given_members(n, k, whole))
            for whole, share in shares.items()
            if share > 0
        ]

    def __call__(self, p: Any) -> np.ndarray:
        """Stability at every p."""
        members = analytic.members_selected(self.n, self.k, p)
        total = np.zeros(len(members))
        for share, u, given in self._parts:
            useful = members @ given
            total += share * analytic.expected_score(self.measure, useful, self.n, self.k, u)
        return total

    def solve(self, stability: float) -> float:
        """Find the p, from chance up, that gives this stability, or say why none does."""
        chance = _chance_p(self.n, self.k)
        low, high = (float(value) for value in self(np.array([chance, 1.0])))
        if self._parts[0][1] == self.n:
            raise InfeasibleError(
                f"infeasible: with n_useful = n_features = {self.n} every p gives {low:.4g}, so p "
                "cannot be found. Give a smaller n_useful."
            )
        slack = 1e-9 * max(1.0, abs(high))
        if stability > high + slack:
            most = largest_n_useful(
                stability=stability, measure=self.measure, n_features=self.n, n_selected=self.k
            )
            u = sum(share * whole for share, whole, _ in self._parts)
            raise InfeasibleError(
                "infeasible: the runs agree more than n_useful allows. With n_useful = "
                f"{u:g} the {self.measure} of runs is at most {high:.4g} (p = 1), but "
                f"{stability:.4g} was given. That needs n_useful <= {most}. Use that value (the "
                "estimate grows with the number of runs), or forecast by resampling the runs, "
                "which does not assume that all useful features are equally good."
            )
        if stability < low - slack:
            raise InfeasibleError(
                "infeasible: the runs agree less than random selections do. Random selections of "
                f"{self.k} of {self.n} features have a {self.measure} of {low:.4g}, but "
                f"{stability:.4g} was given. More runs give a more precise stability; if it stays "
                "below, the runs have nothing in common that an ensemble could make stable."
            )
        if stability <= low or stability >= high:
            return chance if stability <= low else 1.0
        if self.measure != "jaccard" and 2 * self.k <= self.n:  # linear in Φ, which is quadratic
            return float(chance + (1 - chance) * math.sqrt((stability - low) / (high - low)))
        return float(brentq(lambda p: self(p)[0] - stability, chance, 1.0, xtol=1e-12))


def _chance_p(n: int, k: int) -> float:
    """The p at which runs select at random."""
    if 2 * k <= n:
        return k / n
    return float(brentq(lambda p: analytic.share_of_members(n, k, p)[0] - k / n, 0.0, k / n))


def largest_n_useful(*, stability: float, measure: str, n_features: int, n_selected: int) -> int:
    """Largest n_useful with which runs can be as stable as this (with p = 1).

    Examples
    --------
    >>> from mainstay.forecast.calibration import largest_n_useful
    >>> largest_n_useful(stability=0.2, measure="jaccard", n_features=5966, n_selected=60)
    180
    """
    check_choice("measure", measure, analytic.OVERLAP_SCORES)
    low, high = n_selected, n_features
    while low < high:
        middle = (low + high + 1) // 2
        only = np.asarray(np.arange(n_selected + 1) == n_selected, dtype=float)
        value = analytic.expected_score(measure, only, n_features, n_selected, middle)
        low, high = (middle, high) if value >= stability - 1e-9 else (low, middle - 1)
    return low


def solve_p(
    *,
    stability: float,
    measure: str = "jaccard",
    n_features: int,
    n_selected: int,
    n_useful: float,
    method: str = "closed_form",
    grid: Sequence[float] = PAPER_GRID,
) -> float:
    """Find the p of the simulated selector whose runs are as stable as those observed.

    Parameters
    ----------
    stability : float
        Observed stability of single runs.
    measure : str
        What it was measured with: a measure of two sets, "nogueira" or "weighted_consistency".
    n_features, n_selected : int
        Number of features n, and how many a run selects, k.
    n_useful : float
        How many features runs choose from, u; see `estimate_n_useful`.
    method : {"closed_form", "grid"}
        "closed_form" solves the equation. "grid" is the paper's way: the value of `grid` whose
        stability is nearest, however far that is.
    grid : sequence of float
        Candidates of method="grid".

    Returns
    -------
    float
        p, from k/n (random selections) to 1.

    Raises
    ------
    InfeasibleError
        If runs agree more than n_useful allows (Φ̂ > Φ∞), or less than by chance. Not with "grid".

    Notes
    -----
    With Φ the stability corrected for chance and Φ∞ = (k/u − k/n)/(1 − k/n),
    p = k/n + (1 − k/n)·√(Φ/Φ∞). That is exact for measures that are linear in the overlap. The
    Jaccard index is not: E[J] is above the J of the expected overlap, so its exact expectation
    is solved for p. The paper takes the nearest of 0.1, …, 0.9 by simulation.

    References
    ----------
    Onda, Gao, Kotera, Oono (2021), Fast estimation method for the stability of ensemble feature
    selectors, section 2.3.2.

    Examples
    --------
    >>> from mainstay.forecast import solve_p
    >>> colon = dict(n_features=2000, n_selected=20, n_useful=60)
    >>> round(solve_p(stability=0.1, **colon), 3), solve_p(stability=0.1, **colon, method="grid")
    (0.724, 0.7)
    """
    check_choice("method", method, ("closed_form", "grid"))
    check_parameters(n_features, n_selected, n_useful, 0.0)
    value = check_stability(stability, measure)
    one_run = OneRun(measure, n_features, n_selected, n_useful)
    if method == "closed_form":
        return one_run.solve(value)
    candidates = check_grid("grid", grid, 0.0, 1.0)
    return float(candidates[np.abs(one_run(candidates) - value).argmin()])


def check_stability(stability: object, measure: str) -> float:
    """Return a stability that the measure can have."""
    info = MEASURES[check_choice("measure", measure, analytic.OVERLAP_SCORES)]
    try:
        value = float(stability)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        value = math.nan
    if not info.lower <= value <= info.upper:
        raise InputError(
            f"stability must be a value of {measure!r}, a number from {info.lower:g} to "
            f"{info.upper:g}, got {stability!r}."
        )
    return value


def check_grid(what: str, grid: Any, low: float, high: float) -> np.ndarray:
    """Return candidates of a parameter, all of them within its bounds."""
    values = np.asarray(grid, dtype=float)
    if values.ndim != 1 or not values.size or not ((values >= low) & (values <= high)).all():
        raise InputError(f"{what} must be numbers from {low:g} to {high:g}, got {grid!r}.")
    return values
