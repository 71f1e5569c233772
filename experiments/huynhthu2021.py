"""Regenerate the results of Huynh-Thu and Geurts (2021), next to what the paper reports.

python experiments/huynhthu2021.py                # hours of CPU time; every cell is cached
python experiments/huynhthu2021.py --report-only  # what the cache holds so far
python experiments/huynhthu2021.py --quick        # a look, in a temporary folder
"""

from __future__ import annotations

from functools import partial
from typing import Any

import _huynhthu_cells as cells
import _huynhthu_figures as figures
import _huynhthu_networks as networks
import _huynhthu_paper as paper
import _huynhthu_tables as tables
import pandas as pd
from _common import arguments, log, shared_data, verdict, write
from _figures import save_figure
from _huynhthu_methods import BASES

from mainstay.datasets.loaders import PMLB

GOALS = {"1": 0.22, "2": 0.22, "3": 0.29, "4": 0.28, "5": 0.29}  # the best of the paper's Table 5


class Experiment:
    """Cells of one part after the other, computed if need be, and where results go."""

    def __init__(self, options: Any) -> None:
        self.options = options
        self.folder = options.output / "huynhthu2021"
        self.folder.mkdir(exist_ok=True)

    def part(self, name: str, wanted: list[cells.Cell], work: Any, columns: list[str]) -> Any:
        """Compute the missing cells of a part; return all as a table, also written as CSV."""
        store = cells.Cells(self.options, name)
        if not self.options.report_only:
            store.compute(wanted, work)
        found = store.table(wanted, columns)
        log(f"{name}: {len(found)} of {len(wanted)} cells")
        plain = [
            column for column in found if not found[column].map(lambda v: isinstance(v, list)).any()
        ]
        found[plain].to_csv(self.folder / f"{name}.csv", index=False, float_format="%.5g")
        return found

    def draw(self, name: str, figure: Any) -> None:
        """Write a figure."""
        save_figure(figure, self.folder, f"{name}.png")


def simulated(run: Experiment) -> dict[str, Any]:
    """Tables 2, 3, S1–S3, Figures S1 and S2."""
    quick = run.options.quick
    effort = cells.SIMULATED_QUICK if quick else cells.SIMULATED
    found = run.part(
        "simulated",
        cells.simulated_cells(quick),
        partial(cells.simulated, seed=run.options.seed, effort=effort),
        ["data", "repetition", "method"],
    )
    run.draw("figure_s1", figures.plot_boxes(found, "error", ("single", "rsb", "prsb"), "error"))
    run.draw("figure_s2", figures.plot_boxes(found, "aupr", ("eda", "prsb"), "AUPR"))
    goals, n_good, n_goals = tables.goals(found, paper.TABLE_S2_ERROR, paper.TABLE_S2_AUPR)
    three = tables.each("single", "rsb", "prsb")
    two, five = tables.each("rsb", "prsb"), ["rf", "gbdt", *tables.each("prsb")]
    problems = list(cells.PROBLEMS)
    papers = {
        "error": paper.TABLE_S3_ERROR,
        "aupr": paper.TABLE_S3_AUPR,
        "n_models": paper.TABLE_S3_MODELS,
    }
    mean = {value: tables.spread(found, value)["mean"] for value in ("error", "aupr", "size")}
    claims = _claims_of_simulated(mean)
    return claims | {
        "goals": goals,
        "n_good": n_good,
        "n_goals": n_goals,
        "table_2": tables.by_data(found, "error", paper.TABLE_2, ["Hypercube"], three),
        "single": tables.by_data(found, "error", {}, problems, three),
        "table_s1": tables.by_data(found, "size", paper.TABLE_S1, problems, two, 1),
        "table_s2_error": tables.by_data(found, "error", paper.TABLE_S2_ERROR, problems, five),
        "table_s2_aupr": tables.by_data(found, "aupr", paper.TABLE_S2_AUPR, problems, five),
        "eda": tables.by_data(found, "aupr", {}, problems, tables.each("eda", "prsb")),
        "restarts": tables.restarts(found),
        "table_s3": tables.references(found, papers),
    }


def _claims_of_simulated(mean: dict[str, pd.Series]) -> dict[str, str]:
    """Whether what the paper concludes from its simulations holds here."""

    def better(value: str, one: str, other: str, problems: Any = cells.PROBLEMS) -> list[bool]:
        table, sign = mean[value], -1 if value == "aupr" else 1
        return [
            bool(sign * table[p, f"{one}-{base}"] < sign * table[p, other.format(base=base)])
            for p in problems
            for base in BASES
            if (p, f"{one}-{base}") in table and (p, other.format(base=base)) in table
        ]

    not_friedman = [name for name in cells.PROBLEMS if name != "Friedman"]
    return {
        "claim_rsb": _counted(better("error", "prsb", "rsb-{base}")),
        "claim_single": _counted(better("error", "prsb", "single-{base}")),
        "claim_sparse": _counted(better("size", "prsb", "rsb-{base}")),
        "claim_rf": _counted(better("error", "prsb", "rf", not_friedman)),
        "claim_gbdt": _counted(better("error", "prsb", "gbdt", not_friedman)),
        "claim_eda": _counted(better("aupr", "prsb", "eda-{base}")),
        "claim_q": _counted(
            better("aupr", "prsb1", "prsb10-{base}", [*not_friedman[1:], "Friedman"])
        ),
    }


def _counted(cases: list[bool]) -> str:
    """Write how often something holds, and whether that supports the paper."""
    if not cases:
        return "(not yet computed)"
    share = sum(cases) / len(cases)
    agrees = True if share >= 0.8 else None if share > 0.5 else False
    return f"{verdict(agrees)} {sum(cases)} of {len(cases)}"


def real(run: Experiment) -> dict[str, Any]:
    """Tables 4, S5–S7, Figures 1 and 2."""
    quick, names = run.options.quick, list(PMLB)
    effort = cells.REAL_QUICK if quick else cells.REAL
    folder = shared_data("pmlb")
    found = run.part(
        "real",
        cells.real_cells(names, quick),
        partial(cells.real, seed=run.options.seed, effort=effort, folder=folder),
        ["data", "repetition", "method"],
    )
    if found.empty:
        found = pd.DataFrame(columns=["data", "repetition", "method", "error", "aupr", "size"])
    # a fold that is there for some methods only would compare them on different rows
    cells_of_fold = found.groupby("repetition")["method"].transform("count")
    found = found[cells_of_fold == len(names) * len(cells.METHODS)]
    n_folds = found["repetition"].nunique()
    five = ["rf", "gbdt", *tables.each("prsb")]
    eight = ["rf", "gbdt", *(f"{kind}-{base}" for kind in ("eda", "prsb") for base in BASES)]
    values: dict[str, Any] = {
        "folds": f"{cells.N_FOLDS}-fold cross-validation"
        if n_folds == cells.N_FOLDS
        else f"**{n_folds} of the {cells.N_FOLDS} folds** of a cross-validation, so far",
        "table_4": tables.by_data(
            found, "error", paper.TABLE_4, names, tables.each("single", "rsb", "prsb")
        ),
        "table_s5": tables.by_data(
            found, "size", paper.TABLE_S5, names, tables.each("rsb", "prsb"), 1
        ),
        "table_s6": tables.by_data(found, "error", paper.TABLE_S6, names, five),
        "table_s7": tables.by_data(found, "aupr", paper.TABLE_S7, names, eight),
    }
    for name, value, methods, theirs, p_paper in (
        ("figure_1", "error", five, paper.TABLE_S6, paper.FRIEDMAN_ERRORS),
        ("figure_2", "aupr", eight, paper.TABLE_S7, paper.FRIEDMAN_AUPR),
    ):
        wide = tables.spread(found, value)["mean"].unstack("method").reindex(columns=methods)
        wide = wide.dropna()
        published = pd.Series({key: number[0] for key, number in theirs.items()}).unstack()
        texts = []
        for whose, scores in (("ours", wide), ("paper", published[methods])):
            if len(scores) < 3:
                continue
            ranks, p, difference = figures.average_ranks(scores, value == "aupr")
            title = "Test errors" if value == "error" else "Feature rankings (AUPR)"
            title += (
                f" of {len(scores)} real data sets, {'here' if whose == 'ours' else 'as published'}"
            )
            run.draw(
                name if whose == "ours" else f"{name}_paper",
                figures.critical_differences(ranks, difference, title),
            )
            order = ", ".join(f"{tables.label(str(m))} {r:.2f}" for m, r in ranks.items())
            texts.append(f"{whose}: p = {p:.1e}; average ranks {order}")
        values[name] = ". ".join(texts) + f" (p in the paper's text: {p_paper:g})."
    ours = tables.spread(found, "error")["mean"].to_dict()
    published = {key: number[0] for key, number in paper.TABLE_4.items()}
    for base in BASES:
        for whose, errors in (("real", ours), ("paper", published)):
            pairs = [
                (errors.get((n, f"prsb-{base}")), errors.get((n, f"rsb-{base}"))) for n in names
            ]
            wins = [bool(a < b) for a, b in pairs if a is not None and b is not None]
            values[f"{whose}_{base}"] = f"{sum(wins)} of {len(wins)}"
    return values


def gene_networks(run: Experiment) -> dict[str, Any]:
    """Table 5 and Figure S3."""
    quick = run.options.quick
    folder = shared_data("dream4")
    found = run.part(
        "networks",
        networks.network_cells(quick),
        partial(networks.network, seed=run.options.seed, folder=folder, quick=quick),
        ["data", "method"],
    )
    run.draw("figure_s3", figures.plot_regulators(found, networks.NETWORKS, networks.LAMBDAS))
    best, reached = tables.best(found, GOALS)
    seconds = found.groupby("method")["seconds"].mean().filter(regex="^eda|^forest|-auto$")
    return {
        "table_5": tables.networks(found, paper.TABLE_5, networks.NETWORKS),
        "best": best,
        "reached": verdict(reached),
        "by_rule": tables.by_rule(found, paper.TABLE_5, networks.OBSERVED, networks.LAMBDAS),
        "seconds": ", ".join(f"{tables.label(m)} {s:.0f} s" for m, s in seconds.items()),
    }


def main() -> None:
    """Regenerate all results."""
    options = arguments(__doc__, cache=True, resumable=True)
    run = Experiment(options)
    values = gene_networks(run) | simulated(run) | real(run)
    write("huynhthu2021.md", options, values)


if __name__ == "__main__":
    main()
