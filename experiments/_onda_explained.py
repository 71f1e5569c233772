"""Does the model of onda2021 explain its real ensembles (3.5, E.2), and is its Theorem 1 true?"""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from _common import table, verdict
from _onda_claims import ALIKE, FEW, MANY, clear, signed
from _onda_counts import CLEAR, mean_and_error
from _onda_ensembles import contrast
from _onda_experiment import Curves, Experiment, listed, or_none, pm
from _onda_forests import TREES, Data
from _onda_model import forecast, plateau
from _onda_paper import TABLE_2

LARGEST = 9  # features of the small cases on which Theorem 1 is enumerated
GRID = 12  # values of p are 0, 1/12, … 1
WEIGHTS = [1 / len(MANY) if t in MANY else -1 / len(FEW) for t in TREES]  # many trees − few
Change = tuple[float, float]  # and its error


class Changes(NamedTuple):
    """What changes from few to many trees: n_useful, J of real ensembles and of the model."""

    useful: Change
    useful_paper: float
    real: Change
    model: Change
    model_bootstrap: float
    model_paper: float

    def same_sign(self) -> bool:
        """Whether J of the model and of real ensembles clearly change in the same direction."""
        sign = np.sign(self.real[0])
        return all(clear((sign * mean, error)) for mean, error in (self.real, self.model))

    def opposite(self) -> bool:
        """Whether n_useful and real J rise, here and, as far as known, in the paper."""
        return clear(self.useful) and clear(self.real) and self.useful_paper > 0


def limits(data: Data, n_useful: Any) -> np.ndarray:
    """Stability of large simulated ensembles for one n_useful per number of trees, whatever p."""
    return np.array([plateau(data, max(u, data.n_target)) for u in n_useful])


def changes_of(data: Data, useful: np.ndarray, boot: pd.Series, real: Curves) -> Changes:
    """From few to many trees: `useful` is n_useful by repetition and number of trees."""
    paper = np.array([TABLE_2[data.name][t][0] for t in TREES])
    return Changes(
        mean_and_error(useful @ WEIGHTS),
        float(paper @ WEIGHTS),
        contrast(real.estimates.iloc[-1][list(TREES)], WEIGHTS),
        mean_and_error(np.array([limits(data, u) for u in useful]) @ WEIGHTS),
        float(limits(data, boot[list(TREES)]) @ WEIGHTS),
        float(limits(data, paper) @ WEIGHTS),
    )


def forecasts_of(
    data: Data, useful: np.ndarray, stabilities: np.ndarray, real: Curves
) -> pd.DataFrame:
    """The paper's forecast from every repetition of single forests beside real J, by n_tree.

    `off` is its mean difference from real J at the largest size, `error` that of one repetition and
    of real J together, `most` the largest difference at any size and `most_at` this size.
    """
    sizes, rows = tuple(real.estimates.index), []
    for place, trees in enumerate(TREES):
        banks = zip(stabilities[:, place], useful[:, place], strict=True)
        made = pd.DataFrame({i: forecast(data, J, u, sizes) for i, (J, u) in enumerate(banks)})
        last, spread = real.estimates[trees].iloc[-1], made.iloc[-1].std(ddof=1)
        apart = (made.mean(axis=1) - real.estimates[trees].map(lambda e: e.value)).abs()
        rows.append(
            {
                "n_useful": useful[:, place].mean(),
                "limit": limits(data, useful[:, place]).mean(),
                "forecast": made.iloc[-1].mean(),
                "real": last.value,
                "real_error": last.standard_error,
                "off": made.iloc[-1].mean() - last.value,
                "error": float(np.hypot(spread, last.standard_error)),
                "most": apart.max(),
                "most_at": sizes[int(np.argmax(apart.fillna(-1)))],
            }
        )
    return pd.DataFrame(rows, index=pd.Index(TREES, name="n_tree"))


def explained(
    run: Experiment,
    banks: dict[str, tuple[np.ndarray, np.ndarray]],
    bootstrap_useful: pd.Series,
    found: dict[str, Curves],
    seeds: Curves,
) -> dict[str, Any]:
    """Is n_useful why real ensembles depend on n_tree, and does the forecast follow them?

    `banks`: n_useful and J of single forests by repetition and number of trees; `seeds`: ensembles
    on Colon whose weak selectors differ by their seeds only.
    """
    changes = {
        name: changes_of(data, banks[name][0], bootstrap_useful[name], found[name])
        for name, data in run.sets.items()
    }
    made = {name: forecasts_of(data, *banks[name], found[name]) for name, data in run.sets.items()}
    every = pd.concat(made, names=["data"])
    run.save("forecasts_by_trees", every)
    m_last = int(found["Colon"].estimates.index[-1])
    other = {"seeds_change": signed(contrast(seeds.estimates.iloc[-1][list(TREES)], WEIGHTS))}
    return _change_section(changes) | _forecast_section(every, m_last) | other


def _change_section(changes: dict[str, Changes]) -> dict[str, Any]:
    """The hypothesis: in which direction do the model and real ensembles change with n_tree?"""
    rows = [
        (name, f"{c.useful[0]:+.1f} ± {c.useful[1]:.1f}", f"{c.useful_paper:+.1f}",
         signed(c.real), signed(c.model), f"{c.model_bootstrap:+.3f}", f"{c.model_paper:+.3f}")
        for name, c in changes.items()
    ]  # fmt: skip
    head = ["200 and more trees − fewer", "n_useful", "n_useful, paper", "J, real ensembles"]
    head += [f"J, model, n_useful of {of}" for of in ("half 1", "bootstraps", "the paper")]
    same = [c.same_sign() for c in changes.values()]
    return {
        "change_table": table(head, rows),
        "same_sign": f"{sum(same)} of {len(same)}",
        "real_rises": f"{sum(clear(c.real) for c in changes.values())} of {len(changes)}",
        "opposite": " and ".join(n for n, c in changes.items() if c.opposite()),
        "explained_verdict": verdict(all(same) or (None if sum(same) > len(same) / 2 else False)),
    }


def _forecast_section(every: pd.DataFrame, m_last: int) -> dict[str, Any]:
    """The forecast beside real ensembles: all alike, most of the large ones alike, or fewer."""
    rows = [
        (f"{name}, {trees}", f"{r.n_useful:.1f}", f"{r.limit:.3f}", or_none(r.forecast, "{:.3f}"),
         pm(r.real, r.real_error, 3), signed((r.off, r.error)), f"{r.most:.3f}, {r.most_at}")
        for (name, trees), r in zip(every.index, every.itertuples(), strict=True)
    ]  # fmt: skip
    head = ["data, n_tree", "n_useful", "limit of the model", f"forecast, m = {m_last}"]
    head += [f"real, m = {m_last}", "forecast − real", "largest difference, at m"]
    near, anywhere = every["off"].abs() <= ALIKE, every["most"] <= ALIKE
    return {
        "forecast_table": table(head, rows),
        "forecast_near": f"{near.sum()} of {len(every)}",
        "forecast_near_by_set": listed(near.groupby("data", sort=False).sum(), "{} of 6"),
        "forecast_two_errors": f"{(every['off'].abs() <= CLEAR * every['error']).sum()}",
        "forecast_off": f"{every['off'].abs().mean():.3f}",
        "forecast_anywhere": f"{anywhere.sum()}",
        "forecast_verdict": verdict(bool(anywhere.all()) or (None if near.mean() > 0.5 else False)),
        "alike_margin": f"{ALIKE:g}",
    }


def first_pick(n_features: int, n_useful: int, n_target: int, p: Fraction) -> Fraction:
    """Probability that a given useful feature is the first pick, by cases of Theorem 1's process.

    It is among the n_target of S0, and drawn from them, or among the others and drawn from those.
    """
    inside = Fraction(comb(n_useful - 1, n_target - 1), comb(n_useful, n_target))
    return inside * p / n_target + (1 - inside) * (1 - p) / (n_features - n_target)


def theorem() -> dict[str, Any]:
    """Theorem 1 on all small cases, in fractions."""
    good, cases, equal = 0, 0, 0
    for n in range(2, LARGEST + 1):
        for u in range(1, n + 1):
            for k in range(1, min(u, n - 1) + 1):
                for step in range(GRID + 1):
                    p = Fraction(step, GRID)
                    more, over = first_pick(n, u, k, p) - Fraction(1, n), p - Fraction(k, n)
                    if u == n:  # all are useful
                        equal += more == 0
                        continue
                    good += (more > 0) == (over > 0) and (more < 0) == (over < 0)
                    cases += 1
    return {
        "theorem_verdict": verdict(good == cases),
        "theorem_cases": f"{good:,} of {cases:,}",
        "theorem_equal": f"{equal:,}",
        "theorem_largest": LARGEST,
    }
