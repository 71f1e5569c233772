"""Whether the two parameters of the simulated selector explain all that was observed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import bdtrc

from mainstay._validation import InputError, check_choice, check_count
from mainstay.forecast import analytic
from mainstay.forecast.calibration import (
    InfeasibleError,
    OneRun,
    check_grid,
    check_stability,
    largest_n_useful,
)
from mainstay.forecast.threshold import MaximumCount, t_uniform
from mainstay.forecast.uniform import check_parameters

if TYPE_CHECKING:
    import pandas as pd


def verify_n_useful(
    *, n_features: int, n_selected: int, n_useful: float, p: float, n_runs: int
) -> float:
    """Count the features that runs of the *simulated* selector select more often than chance.

    If the model is right this is the n_useful that was counted in the observed runs: the paper's
    check, its n_useful^v.

    Parameters
    ----------
    n_features, n_selected : int
        Number of features n, and how many a run selects, k.
    n_useful, p : float
        Parameters of the simulated selector, u and p.
    n_runs : int
        Number of runs, M.

    Notes
    -----
    Σ_t P(t_uniform = t)·[u·P(Bin(M, π₁) > t) + (n − u)·P(Bin(M, π₀) > t)], where π₁ and π₀ are the
    chances that a run selects a given useful and a given other feature,
    π₁ − k/n = (k/u)(p − k/n)(n − u)/(n − k). Where p is small this is below n_useful, since many
    useful features do not stand out (section 2.3.3 says "overestimates" but means this).

    References
    ----------
    Onda, Gao, Kotera, Oono (2021), Fast estimation method for the stability of ensemble feature
    selectors, section 2.3.3.

    Examples
    --------
    >>> from mainstay.forecast import verify_n_useful
    >>> round(verify_n_useful(n_features=2000, n_selected=20, n_useful=60, p=0.7, n_runs=62), 1)
    59.9
    """
    check_parameters(n_features, n_selected, n_useful, p)
    threshold = t_uniform(n_features=n_features, n_selected=n_selected, n_runs=n_runs)
    return float(_verified(threshold, n_selected, np.array([n_useful]), np.array([p]))[0, 0])


def _verified(threshold: MaximumCount, k: int, u: np.ndarray, p: np.ndarray) -> np.ndarray:
    """n_useful^v for every u (rows) and p (columns)."""
    n, u = threshold.n_features, u[:, None]
    useful, other = analytic.selection_chances(n, k, u, analytic.share_of_members(n, k, p)[None, :])
    total = np.zeros((len(u), len(p)))
    for t in threshold.support():
        above = (bdtrc(int(t), threshold.n_runs, np.clip(x, 0, 1)) for x in (useful, other))
        total += threshold.probabilities[t] * (u * next(above) + (n - u) * next(above))
    return total


@dataclass(frozen=True, eq=False)
class FixedPoint:
    """Parameters that explain both the stability and the count of useful features, if any do.

    Attributes
    ----------
    n_useful, p : float
        The last pair tried; p is NaN where there is none.
    converged : bool
        Whether the equation holds.
    reason : str
        Why the search ended.
    path : pandas.DataFrame
        One row per step: `n_useful`, `p`, `n_useful_verified`.
    """

    n_useful: float
    p: float
    converged: bool
    reason: str
    path: pd.DataFrame

    def to_frame(self) -> pd.DataFrame:
        """Return the path."""
        return self.path.copy()

    def __repr__(self) -> str:
        state = "converged" if self.converged else "not converged"
        return (
            f"FixedPoint: n_useful = {self.n_useful:.4g}, p = {self.p:.4g}, {state}: {self.reason}"
        )


def fixed_point(
    *,
    stability: float,
    n_useful: float,
    measure: str = "jaccard",
    n_features: int,
    n_selected: int,
    n_runs: int,
    equation: str = "observed",
    tolerance: float = 0.05,
    max_iterations: int = 200,
) -> FixedPoint:
    """Find the n_useful and p that reproduce both the observed stability and the observed count.

    Parameters
    ----------
    stability : float
        Observed stability of single runs.
    n_useful : float
        Observed count of useful features (`estimate_n_useful`), where the search starts.
    measure, n_features, n_selected
        As in `solve_p`.
    n_runs : int
        Number of runs behind the count.
    equation : {"observed", "self"}
        "observed" looks for the u whose verification is the observed count,
        n_useful^v(u, p(u)) = n_useful: where the curves of the paper's figures 2 and 8 meet.
        "self" is its equation (1), u = n_useful^v(u, p(u)), by running the estimation repeatedly.
        It ignores the observed count, and any u small enough for every useful feature to
        stand out solves it, so it tells whether the start is consistent, not which u is right.
    tolerance : float
        Largest difference of the two sides, in features.
    max_iterations : int
        Largest number of steps.

    Returns
    -------
    FixedPoint
        `n_useful`, `p`, `converged`, `reason` and the `path`. An infeasible search is no error
        here: `converged` is False and `reason` says why.

    Notes
    -----
    At every step p(u) is `solve_p`. "observed" moves u by the missing count, u + n_useful −
    n_useful^v, up to the largest u that the stability allows; the verified count rises by at most
    one per useful feature, so this finds the first solution above the start.

    References
    ----------
    Onda, Gao, Kotera, Oono (2021), Fast estimation method for the stability of ensemble feature
    selectors, section 2.3.3.

    Examples
    --------
    >>> from mainstay.forecast import fixed_point
    >>> fixed_point(stability=0.1, n_useful=60, n_features=2000, n_selected=20, n_runs=62)
    FixedPoint: n_useful = 60, p = 0.7243, converged: the verified count is 59.95
    """
    import pandas as pd

    check_choice("equation", equation, ("observed", "self"))
    value = check_stability(stability, measure)
    if not n_useful > 0:
        raise InputError(f"n_useful must be a number above 0, got {n_useful!r}.")
    check_parameters(n_features, n_selected, min(max(n_useful, n_selected), n_features), 0.0)
    threshold = t_uniform(n_features=n_features, n_selected=n_selected, n_runs=n_runs)
    most = float(
        largest_n_useful(
            stability=value, measure=measure, n_features=n_features, n_selected=n_selected
        )
    )
    u = float(min(max(n_useful, n_selected), n_features))
    if equation == "observed":
        u = min(u, most)
    steps: list[tuple[float, float, float]] = []
    reason = f"no solution after {max_iterations} steps"
    converged = False
    for _ in range(check_count("max_iterations", max_iterations, 1)):
        try:
            p = OneRun(measure, n_features, n_selected, u).solve(value)
        except InfeasibleError as error:
            steps.append((u, math.nan, math.nan))
            reason = str(error)
            break
        verified = float(_verified(threshold, n_selected, np.array([u]), np.array([p]))[0, 0])
        steps.append((u, p, verified))
        missing = (n_useful if equation == "observed" else u) - verified
        if abs(missing) <= tolerance:
            converged, reason = True, f"the verified count is {verified:.4g}"
            break
        following = u + missing if equation == "observed" else verified
        following = min(max(following, n_selected), most if equation == "observed" else n_features)
        if following == u:
            reason = (
                f"infeasible: with n_useful = {u:g}, the {'largest' if missing > 0 else 'smallest'}"
                f" for this stability, {verified:.4g} features would stand out, but {n_useful:g} "
                "did. The useful features differ more from each other than the model allows."
            )
            break
        u = following
    path = pd.DataFrame(steps, columns=["n_useful", "p", "n_useful_verified"])
    return FixedPoint(steps[-1][0], steps[-1][1], converged, reason, path)


def compatible_pairs(
    *,
    stability: float,
    n_useful: float,
    stability_tolerance: float = 0.01,
    n_useful_tolerance: float = 2.0,
    measure: str = "jaccard",
    n_features: int,
    n_selected: int,
    n_runs: int,
    n_useful_grid: Sequence[float] | None = None,
    p_grid: Sequence[float] | None = None,
) -> pd.DataFrame:
    """Tabulate which pairs of n_useful and p fit the observed stability and the observed count.

    The paper's figures 2, 8 and 11: the parameters lie where both match.

    Parameters
    ----------
    stability, n_useful : float
        Observed stability of single runs, and observed count of useful features.
    stability_tolerance, n_useful_tolerance : float
        How far a pair may be from them to match.
    measure, n_features, n_selected
        As in `solve_p`.
    n_runs : int
        Number of runs behind the count.
    n_useful_grid, p_grid : sequence of float, optional
        By default n_selected to 40 times that in steps of half of it, and 0.01, 0.02, …, 1.

    Returns
    -------
    pandas.DataFrame
        One row per pair: `n_useful`, `p`, `stability`, `n_useful_verified`, `matches_stability`,
        `matches_n_useful`.

    References
    ----------
    Onda, Gao, Kotera, Oono (2021), Fast estimation method for the stability of ensemble feature
    selectors, section 3.4.

    Examples
    --------
    >>> from mainstay.forecast import compatible_pairs
    >>> pairs = compatible_pairs(stability=0.1, n_useful=60, n_features=2000, n_selected=20,
    ...                          n_runs=62, n_useful_grid=range(20, 120, 2))
    >>> both = pairs[pairs["matches_stability"] & pairs["matches_n_useful"]]
    >>> both[["n_useful", "p"]].agg(["min", "max"])
         n_useful     p
    min      60.0  0.69
    max      62.0  0.77
    """
    import pandas as pd

    value = check_stability(stability, measure)
    n, k = n_features, n_selected
    check_parameters(n, k)
    if n_useful_grid is None:
        n_useful_grid = range(k, min(n, 40 * k) + 1, max(1, k // 2))
    us = check_grid("n_useful_grid", n_useful_grid, k, n)
    ps = np.arange(1, 101) / 100 if p_grid is None else check_grid("p_grid", p_grid, 0, 1)
    threshold = t_uniform(n_features=n, n_selected=k, n_runs=n_runs)
    table = pd.DataFrame(
        {
            "n_useful": np.repeat(us, len(ps)),
            "p": np.tile(ps, len(us)),
            "stability": np.concatenate([OneRun(measure, n, k, u)(ps) for u in us]),
            "n_useful_verified": _verified(threshold, k, us, ps).ravel(),
        }
    )
    near = (table["stability"] - value).abs() <= stability_tolerance
    counted = (table["n_useful_verified"] - n_useful).abs() <= n_useful_tolerance
    return table.assign(matches_stability=near, matches_n_useful=counted)
