"""Does the interval of ms.replicability cover what two independent studies agree on?

python experiments/replicability.py            # hours on two cores; resumes from finished cells
python experiments/replicability.py --quick    # a look, in a temporary folder

Populations with known truth: y is balanced, 20 of p features are shifted between the classes by δ
times 1 to 0.3 (δ = 0: no signal; 0.5: weak; 1.2: strong), all else is noise. From each population
data sets of n rows are drawn; each gives an estimate with its interval. The truth is the mean
agreement of many pairs of independent data sets of n/2 (and of n) rows, with the same procedure.
Real data with many rows serve as populations too: data sets are drawn without replacement.
"""

from __future__ import annotations

import warnings
import zlib
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from _cells import Cells
from _common import arguments, load, log, table, write
from scipy.stats import binom
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier

import mainstay as ms
from mainstay.data import Data
from mainstay.procedure import Procedure
from mainstay.rankers import L1Path
from mainstay.reliability.pairs import agreement_in_pairs, gain_from_sharing, run_studies
from mainstay.reliability.replicability import draw_parts
from mainstay.reliability.result import Replicability

SHIFTS = {"no signal": 0.0, "weak": 0.5, "strong": 1.2}
N_TRUE = 20
ROWS = (50, 100, 200, 400)
SELECTED = {200: 10, 2000: 20}
ENSEMBLE = 20
N_PAIRS, N_SPLITS = 50, 15  # the defaults of ms.replicability
AGREEMENTS = ("pairs", "inside_halves", "inside_quarters")  # what a Replicability rests on
REAL = ("digits", "scene", "jasmine", "ada", "optdigits", "musk")
RANKERS: dict[str, Any] = {
    "F-test": "f_statistic",
    "information gain": "information_gain",
    "L1 path": L1Path(),  # with twice as many features as are selected: see `ranker_of`
    "forest": RandomForestClassifier(20),
}
FRESH_SEED = 1000  # added to the seed: data sets that nobody saw when the rule was chosen
FRESH_SETS = 40
CHUNK = 20  # data sets that are computed and kept together
TRUTH = "truth"
FEWEST_TO_SHOW = 299  # data sets, all covered, that show a coverage above 99%: 0.99²⁹⁹ < 0.05
MANY = 100  # data sets from which a coverage above 99% says something


def ranker_of(cell: Cell) -> Any:
    """The ranker of a cell; paths end early, which changes nothing in what a run selects."""
    ranker = RANKERS[cell.ranker]
    if isinstance(ranker, L1Path):
        return L1Path(max_features=2 * SELECTED.get(cell.p, 10))
    return ranker


class Group(NamedTuple):
    """Cells that differ in population and number of rows only, and what is spent on each."""

    ranker: str
    p: int
    ensemble: bool
    rows: tuple[int, ...]
    n_sets: int
    truth_pairs: int
    seconds: float  # of CPU time a data set, about


# fewer data sets where one takes seconds
GROUPS = (
    Group("F-test", 200, False, ROWS, 300, 2000, 0.15),
    Group("information gain", 200, False, ROWS, 300, 2000, 0.4),
    Group("F-test", 200, True, ROWS, 200, 1000, 0.45),
    Group("F-test", 2000, False, ROWS, 120, 1000, 0.35),
    Group("L1 path", 200, False, ROWS, 60, 600, 0.7),
    Group("information gain", 200, True, ROWS, 40, 600, 0.9),
    Group("information gain", 2000, False, ROWS, 60, 500, 1),
    Group("F-test", 2000, True, (100, 200), 40, 400, 3),
    Group("L1 path", 2000, False, (100, 200), 40, 400, 2.5),
    Group("forest", 200, False, (100, 200), 20, 300, 11),
    Group("L1 path", 200, True, (100, 200), 20, 200, 10),
)
OF_REAL = Group("F-test", 0, False, (100, 200), 300, 2000, 0.2)


@dataclass(frozen=True)
class Cell:
    """One population, number of rows and procedure."""

    population: str
    n: int
    p: int
    ranker: str
    ensemble: bool

    @property
    def name(self) -> str:
        """For the file of its results."""
        kind = "ensemble" if self.ensemble else "single"
        return f"{self.population}_{self.n}_{self.p}_{self.ranker}_{kind}".replace(" ", "-")

    @property
    def spent(self) -> Group:
        """How many data sets, and how many pairs of them for the truth."""
        key = (self.ranker, self.p, self.ensemble)
        return {group[:3]: group for group in (*GROUPS, OF_REAL)}[key]


def all_cells(quick: bool) -> list[Cell]:
    """Real and simulated populations, in the order of the groups."""
    cells = [Cell(name, n, 0, "F-test", False) for name in REAL for n in OF_REAL.rows]
    cells += [
        Cell(population, n, group.p, group.ranker, group.ensemble)
        for group in GROUPS
        for n in group.rows
        for population in SHIFTS
    ]
    if quick:
        return [c for c in cells if c.n == 100 and c.p == 200 and c.ranker == "F-test"]
    return cells


# ---------------------------------------------------------------------- populations


def draw(cell: Cell, n: int, rng: np.random.Generator, pool: Any) -> tuple[np.ndarray, np.ndarray]:
    """One data set of n rows."""
    if pool is not None:
        rows = stratified(pool[1], n, rng)
        return pool[0][rows], pool[1][rows]
    y = np.repeat([0, 1], [n - n // 2, n // 2])
    X = rng.normal(size=(n, cell.p))
    X[:, :N_TRUE] += y[:, None] * SHIFTS[cell.population] * np.linspace(1, 0.3, N_TRUE)
    return X, y


def stratified(y: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """n rows without replacement, classes in proportion (at least four rows of each)."""
    from sklearn.model_selection import train_test_split

    seed = int(rng.integers(2**31))
    return train_test_split(np.arange(len(y)), train_size=n, stratify=y, random_state=seed)[0]


def read_pool(name: str) -> tuple[np.ndarray, np.ndarray] | None:
    """A real data set that serves as a population, without constant columns."""
    if name in SHIFTS:
        return None
    X, y = load_digits(return_X_y=True) if name == "digits" else load(f"wam12/{name}")
    X = np.asarray(X, dtype=float)
    return X[:, X.std(axis=0) > 0], np.asarray(y)


# ---------------------------------------------------------------------- truth and estimates


def truth(cell: Cell, rows: int, k: int, n_pairs: int, pool: Any, seed: int) -> tuple[float, float]:
    """Mean agreement of independent studies of so many rows, and its standard error."""
    rng = np.random.default_rng([seed, zlib.crc32(cell.name.encode()), rows, 1])
    procedure = Procedure.of(ranker_of(cell), n_features_per_run=k)
    values = []
    for _ in range(n_pairs):
        if pool is None:
            (X1, y1), (X2, y2) = (draw(cell, rows, rng, None) for _ in range(2))
            X, y = np.vstack([X1, X2]), np.concatenate([y1, y2])
        else:
            X, y = draw(cell, 2 * rows, rng, pool)
            order = np.argsort(y, kind="stable")
            first, second = order[::2], order[1::2]
            X, y = X[np.concatenate([first, second])], y[np.concatenate([first, second])]
        data = Data.check(X, y, task="classification")
        parts = [np.arange(len(y) // 2), np.arange(len(y) // 2, len(y))]
        size = ENSEMBLE if cell.ensemble else None
        runs = run_studies(procedure, data, parts, size, rng, n_jobs=1, progress=False)
        values.append(agreement_in_pairs(runs, "nogueira", k)[0])
    return float(np.mean(values)), float(np.std(values) / np.sqrt(n_pairs))


def estimate(cell: Cell, k: int, pool: Any, seed: int) -> dict[str, Any]:
    """What one data set gives: agreements of all pairs, and the interval of overlapping halves."""
    rng = np.random.default_rng(seed)
    X, y = draw(cell, cell.n, rng, pool)
    rep = ms.replicability(
        ranker_of(cell), X, y, n_features_to_select=k, task="classification",
        ensemble_size=ENSEMBLE if cell.ensemble else None, random_state=seed % 2**31, n_jobs=1,
        progress=False,
    )  # fmt: skip
    row: dict[str, Any] = {name: _stored(getattr(rep, name)) for name in AGREEMENTS}
    row["sharing"] = rep.sharing
    if not cell.ensemble and cell.ranker in ("F-test", "information gain"):
        procedure = Procedure.of(ranker_of(cell), resampling="half")
        data = Data.check(X, y, task="classification")
        runs = procedure.merge(procedure.run(data, 100, rng, n_jobs=1, progress=False))
        old = ms.stability(runs.top(k))
        row |= {"old": old.value, "old_low": old.interval[0], "old_high": old.interval[1]}
    return row


def _stored(agreements: np.ndarray | None) -> Any:
    return None if agreements is None else np.round(agreements, 4).tolist()


def sharing_of(cell: Cell, k: int, pool: Any, seed: int) -> float:
    """What runs of a data set agree further for sharing rows, by the same halves as `estimate`."""
    X, y = draw(cell, cell.n, np.random.default_rng(seed), pool)
    data, rng = Data.check(X, y, task="classification"), np.random.default_rng(seed % 2**31)
    procedure = Procedure.of(ranker_of(cell), n_features_per_run=k)
    halves = draw_parts(data, N_PAIRS, N_SPLITS, rng)[0]
    size = ENSEMBLE if cell.ensemble else None
    runs = run_studies(procedure, data, halves, size, rng, n_jobs=1, progress=False)
    return gain_from_sharing(runs, k)


def judged(stored: dict[str, Any], n: int, k: int, p: int) -> dict[str, Any]:
    """Estimate, interval and extrapolation of one data set, by the code as it is now."""
    agreements = {
        name: None if stored[name] is None else np.array(stored[name]) for name in AGREEMENTS
    }
    rep = Replicability(
        measure="nogueira", n=n, n_features_to_select=k, ensemble_size=None, confidence=0.95,
        runs=ms.Runs.from_sets([[0], [0]], features=p), sharing=stored["sharing"], **agreements,
    )  # fmt: skip
    low, high = rep.interval
    n_low, n_high = rep.at_n.interval
    row = {name: value for name, value in stored.items() if name.startswith("old")}
    return row | {"value": float(rep), "low": low, "high": high, "at_n": rep.at_n.value,
                  "n_low": n_low, "n_high": n_high}  # fmt: skip


def truths(cell: Cell, seed: int) -> dict[str, Any]:
    """What the data sets of a cell should find: agreement of studies of n/2 and of n rows."""
    pool, k = read_pool(cell.population), SELECTED.get(cell.p, 10)
    n_pairs = cell.spent.truth_pairs
    half, half_error = truth(cell, cell.n // 2, k, n_pairs, pool, seed)
    full, full_error = truth(cell, cell.n, k, n_pairs // 2, pool, seed)
    return {"half": half, "half_error": half_error, "full": full, "full_error": full_error}


def estimates(cell: Cell, first: int, seed: int) -> dict[str, Any]:
    """Some data sets of a cell."""
    pool, k = read_pool(cell.population), SELECTED.get(cell.p, 10)
    return {"sets": [estimate(cell, k, pool, own) for own in seeds_of(cell, first, seed)]}


def seeds_of(cell: Cell, first: int, seed: int) -> list[int]:
    """Every data set has a seed of its own."""
    rng = np.random.default_rng([seed, zlib.crc32(cell.name.encode()), 2])
    return [int(own) for own in rng.integers(2**62, size=first + CHUNK)[first:]]


def work(key: tuple[str, ...], cells: dict[str, Cell], seed: int) -> dict[str, Any]:
    """One part of a cell: its truths, or some of its data sets."""
    warnings.simplefilter("ignore")  # ties at the cut, rare classes: counted by the results
    name, part = key
    return truths(cells[name], seed) if part == TRUTH else estimates(cells[name], int(part), seed)


def work_on_sharing(key: tuple[str, ...], cells: dict[str, Cell], seed: int) -> dict[str, Any]:
    """What sharing rows brings, for data sets that were stored without it."""
    warnings.simplefilter("ignore")
    cell = cells[key[0]]
    pool, k = read_pool(cell.population), SELECTED.get(cell.p, 10)
    return {"sharing": [sharing_of(cell, k, pool, s) for s in seeds_of(cell, int(key[1]), seed)]}


def with_sharing(
    found: dict[tuple[str, ...], Any], later: dict[tuple[str, ...], Any]
) -> dict[tuple[str, ...], Any]:
    """Parts of cells whose data sets all know what sharing rows brings, at once or from later."""
    complete = {}
    for key, part in found.items():
        if key[1] == TRUTH or "sharing" in part["sets"][0]:
            complete[key] = part
        elif key in later:
            pairs = zip(part["sets"], later[key]["sharing"], strict=True)
            complete[key] = part | {"sets": [one | {"sharing": h} for one, h in pairs]}
    return complete


def in_turn(cells: list[Cell], quick: bool) -> list[tuple[str, ...]]:
    """Parts of all cells, the cheapest first, so that stopping at any time leaves a useful table"""
    parts = []
    for cell in cells:
        n_sets = CHUNK if quick else cell.spent.n_sets
        parts.append((CHUNK * cell.spent.seconds, cell.name, TRUTH))
        parts += [
            ((at + CHUNK) * cell.spent.seconds, cell.name, str(at))
            for at in range(0, n_sets, CHUNK)
        ]
    parts.sort(key=lambda part: part[0])
    return [(name, part) for _, name, part in parts]


def fresh_parts(cells: list[Cell]) -> list[tuple[str, ...]]:
    """Further data sets of the cells that cost little."""
    cheap = [cell for cell in cells if cell.spent.seconds < 0.5]
    return [(cell.name, str(at)) for at in range(0, FRESH_SETS, CHUNK) for cell in cheap]


def results_of(cells: list[Cell], found: dict[tuple[str, ...], Any]) -> list[dict[str, Any]]:
    """What is known of each cell that has its truths and some data sets."""
    results = []
    for cell in cells:
        parts = [found.get((cell.name, str(at))) for at in range(0, cell.spent.n_sets, CHUNK)]
        sets = [one for part in parts if part for one in part["sets"]]
        known = found.get((cell.name, TRUTH))
        if known and sets:
            seconds = known["seconds"] + sum(part["seconds"] for part in parts if part)
            results.append({**known, "cell": asdict(cell), "sets": sets, "seconds": seconds})
    return results


# ---------------------------------------------------------------------- the page


def row_of(result: dict[str, Any]) -> dict[str, Any]:
    """One line of the table."""
    cell = result["cell"]
    pool = read_pool(cell["population"])
    p = cell["p"] if pool is None else pool[0].shape[1]
    k = SELECTED.get(cell["p"], 10)
    sets = pd.DataFrame([judged(stored, cell["n"], k, p) for stored in result["sets"]])
    half, full = result["half"], result["full"]
    rmse = {name: float(np.sqrt(((sets[name] - full) ** 2).mean())) for name in ("value", "at_n")}
    row = {
        "population": cell["population"], "ranker": cell["ranker"],
        "studies": f"ensembles of {ENSEMBLE}" if cell["ensemble"] else "single runs",
        "n": cell["n"], "p": cell["p"] or "", "data sets": len(sets), "truth at n/2": half,
        "bias": sets["value"].mean() - half,
        "s.e. of bias": float(np.hypot(sets["value"].std(ddof=1) / np.sqrt(len(sets)),
                                       result["half_error"])),
        "coverage": ((sets["low"] <= half) & (half <= sets["high"])).mean(),
        "width": (sets["high"] - sets["low"]).mean(),
        "truth at n": full, "RMSE of n/2": rmse["value"], "RMSE of extrapolation": rmse["at_n"],
        "coverage at n": ((sets["n_low"] <= full) & (full <= sets["n_high"])).mean(),
    }  # fmt: skip
    if "old" in sets:
        row["old mean"] = sets["old"].mean()
        row["old coverage"] = ((sets["old_low"] <= half) & (half <= sets["old_high"])).mean()
    return row


def in_table(rows: pd.DataFrame) -> str:
    """The rows as Markdown, numbers with three digits."""
    shown = rows.copy()
    numbers = shown.select_dtypes(float).columns
    shown[numbers] = shown[numbers].map(lambda value: "" if pd.isna(value) else f"{value:.3f}")
    return table(list(shown.columns), shown.to_numpy().tolist(), text=3)


def said(row: pd.Series) -> str:
    """Name a cell in words."""
    of = f", p = {row['p']}" if row["p"] else ""
    studies = "" if row["studies"] == "single runs" else f", {row['studies']}"
    return (
        f"{row['population']}, {row['ranker']}{studies}, n = {row['n']}{of}, {row['data sets']} "
        "data sets"
    )


def shown_outside(rows: pd.DataFrame) -> dict[str, Any]:
    """In how many cells the data sets show that coverage is not between 90% and 99%.

    Binomial tests at 5% a cell; to show more than 99%, 299 data sets that are all covered suffice.
    """
    n = rows["data sets"].to_numpy()
    covered = np.rint(rows["coverage"] * n).to_numpy()
    above = binom.sf(covered - 1, n, 0.99) < 0.05
    return {
        "shown_below": int((binom.cdf(covered, n, 0.9) < 0.05).sum()),
        "shown_above": int(above.sum()),
        "shown_above_cells": "; ".join(said(row) for _, row in rows[above].iterrows()) or "none",
        "fewest_to_show": FEWEST_TO_SHOW, "n_enough": int((n >= FEWEST_TO_SHOW).sum()),
    }  # fmt: skip


def numbers_of(rows: pd.DataFrame, seconds: float, waiting: list[Cell]) -> dict[str, Any]:
    """What the page says of the table."""
    kinds = {(cell.ranker, cell.ensemble, cell.p): None for cell in waiting}
    named = [
        f"{ranker}, {f'p = {p:,}' if p else 'real data'}, {'ensembles' if e else 'single runs'}"
        for ranker, e, p in kinds
    ]
    biased = (rows["bias"].abs() > 0.01) & (rows["bias"].abs() > 2 * rows["s.e. of bias"])
    better = rows["RMSE of extrapolation"] < rows["RMSE of n/2"]
    old = rows["old coverage"].dropna()
    many = rows[rows["data sets"] >= MANY]
    worst, worst_at_n = rows["coverage"].idxmin(), rows["coverage at n"].idxmin()
    return {
        "ensemble": ENSEMBLE, "planned": len(all_cells(False)),
        "missing": len(waiting), "waiting": f" ({'; '.join(named)})" if named else "",
        "cells": len(rows), "sets": f"{int(rows['data sets'].sum()):,}",
        "fewest": rows["data sets"].min(), "most": rows["data sets"].max(),
        "minutes": f"{seconds / 60:.0f}",
        "worst": f"{rows['coverage'].min():.1%}", "worst_cell": said(rows.loc[worst]),
        "best": f"{rows['coverage'].max():.1%}", "mean": f"{rows['coverage'].mean():.1%}",
        "below": int((rows["coverage"] < 0.9).sum()), "above": int((rows["coverage"] > 0.99).sum()),
        "width": f"{rows['width'].mean():.2f}", "n_many": len(many),
        "below_many": int((many["coverage"] < 0.9).sum()),
        "above_many": int((many["coverage"] > 0.99).sum()),
        "biased": int(biased.sum()), "better": int(better.sum()),
        "better_share": f"{better.mean():.0%}",
        "not_better": "; ".join(said(row) for _, row in rows[~better].iterrows()) or "none",
        "worst_at_n": f"{rows['coverage at n'].min():.1%}",
        "worst_cell_at_n": said(rows.loc[worst_at_n]), "n_old": len(old),
        "old_worst": f"{old.min():.1%}", "old_best": f"{old.max():.1%}",
        "table": in_table(rows),
    } | shown_outside(rows)  # fmt: skip


def fresh_numbers(rows: pd.DataFrame) -> str:
    """What the page says of the data sets that were drawn after the rule was fixed."""
    if rows.empty:
        return "not run."
    worst = rows["coverage"].idxmin()
    weights = rows["data sets"] / rows["data sets"].sum()
    return (
        f"{len(rows)} cells, {int(rows['data sets'].sum()):,} data sets: "
        f"{(rows['coverage'] * weights).sum():.1%} covered on average, "
        f"{rows['coverage'].min():.1%} in the worst cell ({said(rows.loc[worst])}); below 90% in "
        f"{int((rows['coverage'] < 0.9).sum())}, above 99% in "
        f"{int((rows['coverage'] > 0.99).sum())}. The extrapolation's interval covers "
        f"{(rows['coverage at n'] * weights).sum():.1%}, and in the worst cell "
        f"{rows['coverage at n'].min():.1%}."
    )


def main() -> None:
    options = arguments(__doc__ or "", cache=True, resumable=True)
    cells = all_cells(options.quick)
    by_name = {cell.name: cell for cell in cells}
    store, wanted = Cells(options, "replicability", "cells"), in_turn(cells, options.quick)
    store.compute(wanted, partial(work, cells=by_name, seed=options.seed))
    store.pack()
    found = store.found(wanted)
    # parts that were computed before `sharing` was kept
    lacking = [key for key in found if key not in with_sharing(found, {})]
    later = Cells(options, "replicability", "sharing")
    later.compute(lacking, partial(work_on_sharing, cells=by_name, seed=options.seed))
    later.pack()
    fresh, again = Cells(options, "replicability", "fresh"), fresh_parts(cells)
    fresh.compute(again, partial(work, cells=by_name, seed=options.seed + FRESH_SEED))
    fresh.pack()
    truths_of = {key: part for key, part in found.items() if key[1] == TRUTH}
    unseen = results_of(cells, fresh.found(again) | truths_of)
    known = results_of(cells, with_sharing(found, later.found(lacking)))
    rows = pd.DataFrame([row_of(result) for result in known])
    seconds = sum(result["seconds"] for result in known)
    names = {Cell(**result["cell"]).name for result in known}
    waiting = [cell for cell in all_cells(False) if cell.name not in names]
    drawn_later = fresh_numbers(pd.DataFrame([row_of(result) for result in unseen]))
    write("replicability.md", options, numbers_of(rows, seconds, waiting) | {"fresh": drawn_later})
    log(f"{len(known)} of {len(cells)} cells")


if __name__ == "__main__":
    main()
