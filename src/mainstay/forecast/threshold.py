"""How often random selections pick the same feature: the paper's threshold t_uniform."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mainstay._validation import RandomState, check_count, check_random_state
from mainstay.measures.chance import times_selected

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class MaximumCount:
    """Distribution of the largest count of a feature in random selections.

    Attributes
    ----------
    probabilities : numpy.ndarray
        P(t) for t = 0, 1, …, n_runs.
    n_features, n_runs : int
        Number of features, and of random selections.
    """

    probabilities: np.ndarray
    n_features: int
    n_runs: int

    def support(self) -> np.ndarray:
        """Values with a probability above 0."""
        return np.flatnonzero(self.probabilities > 0)

    def pmf(self, t: Any) -> Any:
        """P(maximum = t)."""
        values = np.asarray(t)
        inside = (values >= 0) & (values <= self.n_runs) & (values == np.floor(values))
        return np.where(inside, self.probabilities[np.where(inside, values, 0).astype(int)], 0.0)[
            ()
        ]

    def cdf(self, t: Any) -> Any:
        """P(maximum ≤ t)."""
        total = np.concatenate(([0.0], np.cumsum(self.probabilities)))
        return total[np.clip(np.floor(t) + 1, 0, len(total) - 1).astype(int)][()]

    def expect(self, function: Callable[[int], float]) -> float:
        """E[function(maximum)]."""
        return float(sum(self.probabilities[t] * function(int(t)) for t in self.support()))

    def mean(self) -> float:
        """Expected maximum."""
        return float(self.probabilities @ np.arange(self.n_runs + 1))

    def std(self) -> float:
        """Standard deviation."""
        return math.sqrt(self.probabilities @ (np.arange(self.n_runs + 1) - self.mean()) ** 2)

    def rvs(self, size: Any = None, *, random_state: RandomState = None) -> Any:
        """Draw from the distribution."""
        rng = check_random_state(random_state)
        return rng.choice(self.n_runs + 1, size=size, p=self.probabilities)

    def to_frame(self) -> pd.DataFrame:
        """Return a table: count and probability."""
        import pandas as pd

        t = self.support()
        return pd.DataFrame({"count": t, "probability": self.probabilities[t]})

    def __repr__(self) -> str:
        return (
            f"MaximumCount: {self.mean():.3f} ± {self.std():.3f} of {self.n_runs} runs, "
            f"{self.n_features} features"
        )


def t_uniform(*, n_features: int, n_selected: int, n_runs: int) -> MaximumCount:
    """Distribution of the threshold t_uniform: the largest count among random selections.

    Parameters
    ----------
    n_features, n_selected : int
        Random selections of `n_selected` (k) of `n_features` (n) features.
    n_runs : int
        Number of selections, M.

    Returns
    -------
    MaximumCount
        With `mean()`, `std()`, `pmf(t)`, `cdf(t)`, `support()`, `expect(function)`, `rvs(size)`.

    Notes
    -----
    A feature's count is binomial, so P(max ≤ t) ≈ F(t)^n with F its distribution function. Counts
    are not quite independent, since they add up to kM. That is corrected by
    −(F₊(t)^n + F₋(t)^n)/2 + ((F₊(t) + F₋(t))/2)^n, F± being binomial with the odds of k/n times
    exp(±θ), θ² = 1/(M k (1 − k/n)). This matters for few features only: with n = 2000 the mean
    grows by 0.003.

    References
    ----------
    Onda, Gao, Kotera, Oono (2021), Fast estimation method for the stability of ensemble feature
    selectors, section 2.3.1 and table 4.

    Examples
    --------
    >>> from mainstay.forecast import t_uniform
    >>> t_uniform(n_features=2000, n_selected=20, n_runs=62)
    MaximumCount: 4.635 ± 0.638 of 62 runs, 2000 features
    """
    n = check_count("n_features", n_features, 1)
    k = check_count("n_selected", n_selected, 1, n)
    return maximum_count(np.full(check_count("n_runs", n_runs, 1), k), n)


def maximum_count(sizes: np.ndarray, n: int) -> MaximumCount:
    """Do the same for selections of different sizes, whose counts are Poisson binomial."""
    chance = sizes / n
    variance = float(chance @ (1 - chance))
    tilt = 1 / math.sqrt(n * variance) if variance > 0 else 0.0

    def below(shift: float) -> np.ndarray:
        odds = chance * math.exp(shift)
        counts = times_selected(n * odds / (1 - chance + odds), n)
        return np.asarray(np.minimum(np.cumsum(counts), 1.0))

    plain, up, down = below(0.0), below(tilt), below(-tilt)
    cdf = plain**n - (up**n + down**n) / 2 + ((up + down) / 2) ** n
    cdf[: -(-int(sizes.sum()) // n)] = 0.0  # the largest count is not below the mean
    cdf = np.maximum.accumulate(np.clip(cdf, 0.0, 1.0))
    cdf[-1] = 1.0
    pmf = np.diff(np.concatenate(([0.0], cdf)))
    pmf[pmf < 1e-12] = 0.0
    return MaximumCount(pmf / pmf.sum(), n, len(sizes))
