"""Whether an ensemble helps: its studies against those of the rankers alone, on the same pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

_WORTH_IT = 0.01  # a smaller difference is none that anybody would notice


@dataclass(frozen=True)
class Gain:
    """How much more two ensembles agree than two single runs, on the same pairs of halves.

    Attributes
    ----------
    single, ensemble : float
        Agreement of the rankers alone, each run once on all rows of its study, and of ensembles.
    margin : float
        Half the 95% interval of their difference over pairs of halves of *these* data. Other data
        sets may differ by more.
    n_pairs : int
        Number of pairs.
    """

    single: float
    ensemble: float
    margin: float
    n_pairs: int

    @classmethod
    def of(cls, single: np.ndarray, ensemble: np.ndarray) -> Gain:
        """Compare agreements pair by pair.

        Examples
        --------
        >>> Gain.of(np.array([0.2, 0.3, 0.1]), np.array([0.6, 0.8, 0.5])).verdict
        'helps'
        """
        from scipy.special import stdtrit

        n = len(single)
        error = float(np.std(ensemble - single, ddof=1)) / math.sqrt(n)
        margin = float(stdtrit(n - 1, 0.975)) * error
        return cls(float(np.mean(single)), float(np.mean(ensemble)), margin, n)

    @property
    def difference(self) -> float:
        """Agreement of ensembles minus that of single runs."""
        return self.ensemble - self.single

    @property
    def verdict(self) -> str:
        """One of "helps", "hurts" and "makes no difference"."""
        if abs(self.difference) <= max(self.margin, _WORTH_IT):
            return "makes no difference"
        return "helps" if self.difference > 0 else "hurts"

    def summary(self) -> str:
        """Say it in plain words."""
        conclusion = {
            "helps": "The ensemble helps",
            "hurts": "The ensemble makes it worse: on these data the ranker alone is better",
            "makes no difference": "The ensemble does not help: as far as these pairs show, the "
            "ranker alone does as well",
        }[self.verdict]
        return (
            f"{conclusion}. On the same pairs of halves, single runs of the ranker, each on all "
            f"rows of its half, agree to {self.single:z.2f} and ensembles to {self.ensemble:z.2f}, "
            f"a difference of {self.difference:+z.2f} ± {self.margin:.2f}; the ± is over "
            f"{self.n_pairs} pairs of halves of these data, not over other data sets."
        )
