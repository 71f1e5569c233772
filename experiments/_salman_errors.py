"""Standard errors of the tables of salman2022, and how often luck would agree."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from _common import table
from _salman_data import RANKS, SCORES
from scipy.stats import friedmanchisquare

from mainstay.comparison.significance import corrected_standard_error
from mainstay.measures.intervals import jackknife_variance

MEAN = "arithmetic mean"
BEST = [MEAN, "L2 norm"]  # the rules that the paper prefers
TEST_PER_TRAIN = 0.5  # a third of the rows against two thirds


def jackknife_error(pairs: np.ndarray, baseline: np.ndarray | None = None) -> float:
    """Jackknife standard error, over runs, of a mean over pairs of runs, or of a difference of two.

    `pairs` and `baseline` are runs × runs; their diagonals are not read. NaN for fewer than three
    runs.
    """
    m = len(pairs)
    if m < 3:
        return float("nan")
    x = np.array(pairs if baseline is None else pairs - baseline, dtype=float)
    np.fill_diagonal(x, 0)
    without = (x.sum() - 2 * x.sum(axis=0)) / ((m - 1) * (m - 2))
    return float(np.sqrt(jackknife_variance(without)))


def split_errors(every: pd.DataFrame) -> pd.DataFrame:
    """Corrected standard errors over splits, data sets × rules, of differences to the mean.

    In the column of the arithmetic mean: of its accuracy.
    """
    below = every[every["tenth"] < 10]
    by = below.groupby(["data", "split", "rule"])["accuracy"].mean().unstack("rule")
    values = by.sub(by[MEAN], axis=0).assign(**{MEAN: by[MEAN]})
    if values.groupby("data").size().min() < 2:
        return pd.DataFrame(np.nan, values.index.unique("data"), values.columns)
    return values.groupby("data").agg(
        lambda x: corrected_standard_error(x.to_numpy(), TEST_PER_TRAIN)
    )


def difference_errors(values: pd.DataFrame) -> pd.Series:
    """Standard errors over the rows of the mean difference to the arithmetic mean, by column.

    In the column of the arithmetic mean: of its own mean.
    """
    apart = values.sub(values[MEAN], axis=0).assign(**{MEAN: values[MEAN]})
    return apart.sem()


def filled(values: pd.DataFrame, mean: bool = True, names: Any = None) -> str:
    """Write a table of numbers with three digits, the last row their mean."""
    return table(["", *values], _plain(values, mean, names))


def _plain(values: pd.DataFrame, mean: bool, names: Any = None) -> list[tuple[str, ...]]:
    rows = [((names or {}).get(k, k), *[f"{x:.3f}" for x in v]) for k, v in values.iterrows()]
    if mean:
        rows.append(("**mean**", *[f"{x:.3f}" for x in values.mean()]))
    return rows


def with_errors(values: pd.DataFrame, errors: pd.DataFrame, names: Any = None) -> str:
    """Write shares in percent ± standard errors; the row "mean" comes last, if there is one."""
    values, errors = 100 * values, 100 * errors.reindex(columns=values.columns)
    rows = [
        (
            (names or {}).get(name, f"**{name}**" if name == "mean" else name),
            *[f"{x:.2f} ± {e:.2f}" for x, e in zip(row, errors.loc[name], strict=True)],
        )
        for name, row in values.iterrows()
    ]
    return table(["", *values], rows)


def with_error_rows(values: pd.DataFrame, jackknife: pd.DataFrame, mean: bool = True) -> str:
    """Write numbers, and below them how far from the arithmetic mean they are, with errors."""
    rows = _plain(values, mean)
    if mean:
        apart = values.sub(values[MEAN], axis=0).mean()
        rows.append((f"difference to the {MEAN}", *_fine(apart, "{:+.4f}")))
        rows.append(("its standard error, over data sets", *_fine(difference_errors(values))))
    largest = jackknife.loc[values.index, list(values)].max()
    rows.append(("its largest jackknife error, over parts", *_fine(largest)))
    return table(["", *values], rows)


def _fine(values: pd.Series, form: str = "{:.4f}") -> list[str]:
    return ["–" if name == MEAN else form.format(x) for name, x in values.items()]


# ---------------------------------------------------------------------- luck


def flip_luck(kept: np.ndarray, turned: np.ndarray) -> tuple[float, float]:
    """Total that luck would give, and the probability of at least the total that was seen.

    `kept` is what each data set adds to the total, `turned` what it would add if all that is seen
    of it (the distances of its rules from their mean, in every measure) had the opposite sign. By
    luck both are equally likely, for every set on its own. All 2^n cases are counted.
    """
    as_seen = np.array(list(product((True, False), repeat=len(kept))))
    totals = np.where(as_seen, kept, turned).sum(axis=1)
    return float(totals.mean()), float(np.mean(totals >= np.sum(kept) - 1e-9))


def flip_test(values: np.ndarray) -> float:
    """Two-sided p that the mean of one value per data set is 0, over all their signs."""
    away = np.asarray(values) * (1 if np.sum(values) > 0 else -1)
    return min(1.0, 2 * flip_luck(away, -away)[1])


def beyond_luck(count: float, cases: int, p_value: float, all_but: float = 0.8) -> bool | None:
    """Judge a count: True from a share of `all_but` on, None if luck is unlikely, else False."""
    return (True if count >= all_but * cases else None) if p_value < 0.05 else False


def all_some(right: list[bool]) -> bool | None:
    """Judge several parts of a statement: True if all are right, None if some are."""
    return all(right) or (None if any(right) else False)


def score_minus_rank(values: pd.DataFrame) -> pd.Series:
    """Mean of the three score rules minus mean of the two rank rules, by data set."""
    return values[SCORES].mean(axis=1) - values[RANKS].mean(axis=1)


def on_top(values: pd.DataFrame, columns: Sequence[str]) -> np.ndarray:
    """Whether one of these columns has the largest value of its row, as 1 or 0."""
    near = values[list(columns)].max(axis=1) >= values.max(axis=1) - 1e-12
    return np.asarray(near, dtype=int)


def concordance(values: pd.DataFrame) -> tuple[float, float]:
    """Kendall's W, and Friedman's p that the columns do not differ.

    W is 1 if all n rows put the columns into the same order; by luck it is 1/n on average.
    """
    n, k = values.shape
    test = friedmanchisquare(*values.round(12).T.to_numpy())
    return float(test.statistic / (n * (k - 1))), float(test.pvalue)
