"""Errors of forecasts at 50 runs from 100 base runs, against ensembles that were really run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd
from _cells import Cell
from _common import table, verdict
from _onda_bank import INSIDE, NEW, SETS, SKIPPED, bank

from mainstay.forecast.curves import OverlappingCurve, make_curve
from mainstay.forecast.result import fit_model, simulated
from mainstay.forecast.virtual import Ensembles
from mainstay.runs import Runs

BUDGET, SIZE = 100, INSIDE
DESIGNS = ((14, 7), (10, 10))  # halves × runs inside
REPEATS = 20
MOST_BIAS, MOST_RMSE, COVERAGE = 0.03, 0.05, (0.85, 0.99)  # what is wanted of means over cases
DEFAULTS = {"flat": "resampling (default)", "overlapping": "mean of both, 14 × 7"}
Values = dict[str, tuple[float, float, float]]  # by method: forecast, lower, upper


def error_cells(rankers: Iterable[str]) -> list[Cell]:
    """List data set and ranker."""
    return [(name, r) for r in rankers for name in SETS if (name, r) not in SKIPPED]


def errors_of(cell: Cell, repeats: int) -> dict[str, Any]:
    """One row per protocol and method: truth, bias, RMSE, coverage.

    The truth comes from runs that the forecast did not see: other resamples, other halves.
    """
    made = bank(*cell)
    rng = np.random.default_rng(3)
    k = int(made["k"])
    cases: dict[str, Callable[[], tuple[float, Values]]] = {
        "flat": lambda: _flat(made["flat"], k, rng),
        "overlapping": lambda: _halves(made["nested"], k, rng),
    }
    rows = []
    for protocol, once in cases.items():
        found = [once() for _ in range(repeats)]
        for method in found[0][1]:
            row = _summary([(truth, values[method]) for truth, values in found])
            rows.append({"protocol": protocol, "method": method, **row})
    return {"rows": rows}


def forecast_errors(found: dict[Cell, dict[str, Any]]) -> pd.DataFrame:
    """One row per data set, ranker, protocol and method."""
    return pd.DataFrame(
        [
            {"data": name, "new": name in NEW, "ranker": ranker, **row}
            for (name, ranker), cell in found.items()
            for row in cell["rows"]
        ]
    )


def _flat(scores: np.ndarray, k: int, rng: np.random.Generator) -> tuple[float, Values]:
    order = rng.permutation(len(scores))
    rest = order[BUDGET:]
    n = len(rest) // SIZE
    pool = Ensembles(Runs.from_scores(scores[order[:BUDGET]]), "mean", "jaccard", k)
    really_run = scores[rest[: n * SIZE]].reshape(n, SIZE, -1).mean(axis=1, dtype=float)
    truth = pool.agreement_of(really_run, rng).value
    curve = make_curve(pool, None, 100, 0.95, int(rng.integers(2**32)))
    point = curve.point(SIZE)
    halves = [rng.permutation(BUDGET).reshape(2, SIZE) for _ in range(50)]
    split = float(np.mean([pool.agreement(pair, rng).value for pair in halves]))
    return truth, {
        "resampling (default)": (point.stability, point.lower, point.upper),
        "disjoint split": (split, np.nan, np.nan),
        "paper's model": (_model(pool, curve.point(1, interval=False).stability), np.nan, np.nan),
    }


def _halves(scores: np.ndarray, k: int, rng: np.random.Generator) -> tuple[float, Values]:
    n_halves, inside, p = scores.shape
    order = rng.permutation(n_halves)
    values: Values = {}
    for halves, runs in DESIGNS:
        weak = rng.permutation(inside)[:runs]
        part = scores[np.ix_(order[:halves], weak)].reshape(-1, p)
        pool = Ensembles(Runs.from_scores(part), "mean", "jaccard", k)
        labels = np.repeat(np.arange(halves), runs)
        curve = make_curve(pool, labels, 100, 0.95, int(rng.integers(2**32)))
        assert isinstance(curve, OverlappingCurve)
        point = curve.point(SIZE)
        about = f"{halves} × {runs}"
        values[f"mean of both, {about}"] = (point.stability, point.lower, point.upper)
        reciprocal = float(pool.from_reliability(curve._reciprocal(SIZE))[0])
        values[f"reciprocal, {about}"] = (reciprocal, np.nan, np.nan)
        values[f"shrink, {about}"] = (float(curve._shrunk(SIZE)[0]), np.nan, np.nan)
        base = curve.point(1, interval=False).stability
        values[f"paper's model, {about}"] = (_model(pool, base), np.nan, np.nan)
    others = order[max(halves for halves, _ in DESIGNS) :]
    really_run = scores[others].mean(axis=1, dtype=float)
    return pool.agreement_of(really_run, rng).value, values


def _model(pool: Ensembles, base: float) -> float:
    model = fit_model(pool, base, 0)
    return np.nan if model.selector is None else simulated(model.selector, pool, SIZE)


def _summary(found: list[tuple[float, tuple[float, float, float]]]) -> dict[str, float]:
    truth = np.array([t for t, _ in found])
    values, lower, upper = np.array([v for _, v in found]).T
    feasible = ~np.isnan(values)
    error = (values - truth)[feasible]
    row = {"truth": truth.mean(), "feasible": feasible.mean()}
    if feasible.any():
        row |= {"bias": error.mean(), "rmse": np.sqrt((error**2).mean())}
    if not np.isnan(lower).any():
        row |= {
            "coverage": ((lower <= truth) & (truth <= upper)).mean(),
            "half_width": ((upper - lower) / 2).mean(),
        }
    return {name: float(value) for name, value in row.items()}


def overview(errors: pd.DataFrame) -> pd.DataFrame:
    """Mean over data sets and rankers: of sets that the spec does not list, and of the paper's."""
    groups = errors.assign(
        sets=np.where(errors["new"], "new", "paper's"), absolute_bias=errors["bias"].abs()
    ).groupby(["protocol", "method", "sets"], sort=False)
    columns = ["bias", "absolute_bias", "rmse", "coverage", "half_width", "feasible"]
    errors = groups[["bias", "rmse", "coverage"]].sem().add_suffix("_error")
    return groups[columns].mean().join(errors).assign(cases=groups.size()).reset_index()


def error_sections(errors: pd.DataFrame, repeats: int) -> dict[str, Any]:
    """The tables of the report, and what they say of the default."""
    means = overview(errors)
    sections: dict[str, Any] = {
        "limits": {"bias": MOST_BIAS, "rmse": MOST_RMSE}
        | {end: f"{share:.0%}" for end, share in zip(("low", "high"), COVERAGE, strict=True)},
        "error_repeats": str(repeats),
        "n_cases": str(len(errors[["data", "ranker"]].drop_duplicates())),
    }
    rows = [
        (r.protocol, r.method, r.sets, r.cases, *_cells(r), _coverage(r), _share(r.feasible))
        for r in means.itertuples()
    ]
    head = ["protocol", "method", "sets", "cases", "mean bias", "mean abs. bias", "mean RMSE",
            "coverage", "feasible"]  # fmt: skip
    sections["error_overview"] = table(head, rows, text=3)
    chosen = errors[errors["method"] == errors["protocol"].map(DEFAULTS)]
    rows = [
        (r.protocol, r.ranker, r.data, f"{r.truth:.3f}", f"{r.bias:+.3f}", f"{r.rmse:.3f}",
         _share(r.coverage), f"± {r.half_width:.3f}")
        for r in chosen.itertuples()
    ]  # fmt: skip
    head = ["protocol", "ranker", "data", "truth", "bias", "RMSE", "coverage", "interval"]
    sections["error_table"] = table(head, rows, text=3)
    for protocol, method in DEFAULTS.items():
        mine = chosen[chosen["protocol"] == protocol]
        good = (
            mine["bias"].abs().mean() <= MOST_BIAS
            and mine["rmse"].mean() <= MOST_RMSE
            and COVERAGE[0] <= mine["coverage"].mean() <= COVERAGE[1]
        )
        fresh = means[(means["protocol"] == protocol) & (means["sets"] == "new")]
        usable = fresh[(fresh["feasible"] == 1) & fresh["rmse"].notna()]
        best = usable.loc[usable["rmse"].idxmin(), "method"]
        coverage = _mean(mine["coverage"], ".0%")
        sections[f"error_{protocol}"] = (
            f"{verdict(bool(good))} Over all {len(mine)} cases: "
            f"absolute bias {_mean(mine['bias'].abs(), '.3f')} "
            f"(with its sign {_mean(mine['bias'], '+.3f')}), RMSE {_mean(mine['rmse'], '.3f')}, "
            f"coverage {coverage}. {_outside(mine)} Smallest RMSE on the new sets: {best}"
            + (", the default." if best == method else ".")
        )
        sections[f"worst_{protocol}"] = _worst(mine)
    return sections


def _mean(values: pd.Series, form: str) -> str:
    """Write the mean of cases ± its standard error."""
    return f"{values.mean():{form}} ± {values.sem():{form.lstrip('+')}}"


def _outside(cases: pd.DataFrame) -> str:
    """Count the single cases that are outside what is wanted of the means."""
    bias, rmse = cases["bias"].abs() > MOST_BIAS, cases["rmse"] > MOST_RMSE
    low = cases["coverage"] < COVERAGE[0]
    return (
        f"Single cases outside: {bias.sum()} have an absolute bias above {MOST_BIAS:g}, "
        f"{rmse.sum()} an RMSE above {MOST_RMSE:g}, {low.sum()} coverage below {COVERAGE[0]:.0%}."
    )


def _worst(cases: pd.DataFrame) -> str:
    """Write the worst bias, RMSE and coverage of all cases, and where they were."""
    bias = cases.loc[cases["bias"].abs().idxmax()]
    rmse, coverage = cases.loc[cases["rmse"].idxmax()], cases.loc[cases["coverage"].idxmin()]
    return (
        f"bias {bias['bias']:+.3f} ({bias['ranker']}, {bias['data']}), "
        f"RMSE {rmse['rmse']:.3f} ({rmse['ranker']}, {rmse['data']}), "
        f"coverage {coverage['coverage']:.0%} ({coverage['ranker']}, {coverage['data']})"
    )


def _cells(row: Any) -> tuple[str, str, str]:
    if np.isnan(row.rmse):
        return "–", "–", "–"
    return (
        f"{row.bias:+.3f} ± {row.bias_error:.3f}",
        f"{row.absolute_bias:.3f}",
        f"{row.rmse:.3f} ± {row.rmse_error:.3f}",
    )


def _coverage(row: Any) -> str:
    return "" if np.isnan(row.coverage) else f"{row.coverage:.0%} ± {row.coverage_error:.0%}"


def _share(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.0%}"
