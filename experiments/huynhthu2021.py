"""Regenerate the results of Huynh-Thu and Geurts (2021), next to what the paper reports.

python experiments/huynhthu2021.py                # the cells not in results/huynhthu2021/cells.zip
python experiments/huynhthu2021.py --report-only  # what the results and the cache hold so far
python experiments/huynhthu2021.py --quick        # a look, in a temporary folder

All planned cells take some 20 hours of CPU time on one core. They are computed one by one and kept;
the page says what those at hand took, and which are missing.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import _huynhthu_all_rows as all_rows
import _huynhthu_cells as cells
import _huynhthu_claims as claims
import _huynhthu_end as end
import _huynhthu_extra as extra
import _huynhthu_figures as figures
import _huynhthu_network_tables as network_tables
import _huynhthu_networks as networks
import _huynhthu_paper as paper
import _huynhthu_protocol as protocol
import _huynhthu_ranks as ranks
import _huynhthu_tables as tables
import pandas as pd
from _cells import Cell, Cells
from _common import arguments, log, shared_data, write
from _figures import save_figure, use_look
from _huynhthu_methods import BASES

from mainstay.datasets.loaders import PMLB

EMPTY = ("error", "aupr", "size", "average_precision", "seconds")  # of a part without cells
FIVE = ranks.FIVE
EIGHT = ["rf", "gbdt", *(f"{kind}-{base}" for kind in ("eda", "prsb") for base in BASES)]


class Experiment:
    """Cells of one part after the other, computed if need be, and where results go."""

    def __init__(self, options: Any) -> None:
        self.options = options
        self.folder = options.output / "huynhthu2021"
        self.folder.mkdir(exist_ok=True)
        self.seconds = 0.0
        self.parts: dict[str, tuple[list[Cell], pd.DataFrame]] = {}
        self.main: dict[str, pd.DataFrame] = {}  # the cells of the main tables

    def part(self, name: str, wanted: list[Cell], work: Any, columns: list[str]) -> Any:
        """Compute the missing cells of a part; return all as a table, also written as CSV."""
        store = Cells(self.options, "huynhthu2021", name)
        store.compute(wanted, work)
        store.pack()
        found = store.table(wanted, columns)
        log(f"{name}: {len(found)} of {len(wanted)} cells")
        if found.empty:
            found = pd.DataFrame(columns=[*columns, *EMPTY])
        self.parts[name] = wanted, found
        if found.empty:
            return found
        self.seconds += float(found["seconds"].sum())
        nested = [c for c in found if found[c].map(lambda v: isinstance(v, list | dict)).any()]
        plain = found.drop(columns=nested)
        plain.to_csv(self.folder / f"{name}.csv", index=False, float_format="%.5g")
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
    every, (found, tuned) = found, protocol.with_appendix_b(found)
    run.main["simulated"] = found
    run.draw("figure_s1", figures.plot_boxes(found, "error", ("single", "rsb", "prsb"), "error"))
    run.draw("figure_s2", figures.plot_boxes(found, "aupr", ("eda", "prsb"), "AUPR"))
    goals, goal_counts = tables.goals(found, paper.TABLE_S2_ERROR, paper.TABLE_S2_AUPR)
    three = tables.each("single", "rsb", "prsb")
    two = tables.each("rsb", "prsb")
    problems = list(cells.PROBLEMS)
    papers = {
        "error": paper.TABLE_S3_ERROR,
        "aupr": paper.TABLE_S3_AUPR,
        "n_models": paper.TABLE_S3_MODELS,
    }
    restarts, restarts_words = tables.restarts(found)
    lowest_of_20, lowest_words = protocol.lowest_of_20(found)
    return claims.of_simulated(found) | {
        "goals": goals,
        "goal_counts": goal_counts,
        "baselines": protocol.baselines(tuned, effort),
        "small_grids": protocol.small_grids(effort),
        "small_k": protocol.candidates(effort)[0],
        "small_folds": effort.folds,
        "near_rf": tables.near_rf(found, paper.TABLE_S2_ERROR),
        "on_friedman": protocol.on_friedman(every),
        "table_2": tables.by_data(found, "error", paper.TABLE_2, ["Hypercube"], three),
        "table_2_size": tables.by_data(found, "size", paper.TABLE_S1, ["Hypercube"], two, 1),
        "single": tables.by_data(found, "error", {}, problems, three),
        "table_s1": tables.by_data(found, "size", paper.TABLE_S1, problems, two, 1),
        "table_s2_error": tables.by_data(found, "error", paper.TABLE_S2_ERROR, problems, FIVE),
        "table_s2_aupr": tables.by_data(found, "aupr", paper.TABLE_S2_AUPR, problems, FIVE),
        "eda": tables.by_data(found, "aupr", {}, problems, tables.each("eda", "prsb")),
        "restarts": restarts,
        "restarts_words": restarts_words,
        "table_s3": tables.references(found, papers),
        "lowest_of_20": lowest_of_20,
        "lowest_words": lowest_words,
        "appendix_b": protocol.appendix_b(
            every, every, problems, (paper.TABLE_S2_ERROR, paper.TABLE_2), 1
        ),
    }


def not_in_the_paper(run: Experiment) -> dict[str, Any]:
    """Run the problems as printed, and ten digits with and without noise columns."""
    quick = run.options.quick
    effort = cells.SIMULATED_QUICK if quick else cells.SIMULATED
    settings = {"seed": run.options.seed, "effort": effort}
    names = ["data", "repetition", "method"]
    printed = run.part(
        "printed", extra.printed_cells(quick), partial(extra.printed, **settings), names
    )
    digits = run.part("digits", extra.digits_cells(quick), partial(extra.digits, **settings), names)
    rows, printed = [*extra.PRINTED, extra.THREE], extra.all_sets(printed)
    differences, differences_words = extra.digit_differences(digits)
    return {
        "digit_differences": differences,
        "digit_words": differences_words,
        "printed_counts": extra.printed_counts(printed),
        "printed_sets": printed["repetition"].nunique(),
        "printed_error": tables.by_data(
            printed, "error", paper.TABLE_S2_ERROR, rows, extra.PRINTED_METHODS
        ),
        "printed_aupr": tables.by_data(
            printed, "aupr", paper.TABLE_S2_AUPR, rows, extra.PRINTED_METHODS
        ),
        "digits": tables.by_data(digits, "error", {}, list(extra.DIGITS), extra.DIGITS_METHODS, 3),
    }


def real(run: Experiment) -> dict[str, Any]:
    """Tables 4, S5–S7, Figures 1 and 2."""
    quick = run.options.quick
    names = list(cells.QUICK_SETS if quick else PMLB)
    effort = cells.REAL_QUICK if quick else cells.REAL
    folder = shared_data("pmlb")
    found = run.part(
        "real",
        cells.real_cells(names, quick),
        partial(cells.real, seed=run.options.seed, effort=effort, folder=folder),
        ["data", "repetition", "method"],
    )
    # a fold that is there for some methods only would compare them on different rows
    cells_of_fold = found.groupby("repetition")["method"].transform("count")
    found = found[cells_of_fold == len(names) * len(cells.METHODS)]
    n_folds = found["repetition"].nunique()
    others, found = other_protocols(run, found, effort, folder)
    whole = [name for name in names if paper.TABLE_S4[name][0] <= cells.MANY_ROWS]
    large = [name for name in names if name not in whole]
    run.main["real"] = found
    values: dict[str, Any] = {
        "folds": f"{cells.N_FOLDS}-fold cross-validation"
        if n_folds == cells.N_FOLDS
        else f"**{n_folds} of the {cells.N_FOLDS} folds** of a cross-validation, so far",
        "n_whole": len(whole),
        "n_large": len(large),
        "large_sets": tables.listed(large) if large else "none",
        "grid_real": protocol.small_grids(effort),
        "table_4": tables.by_data(
            found, "error", paper.TABLE_4, names, tables.each("single", "rsb", "prsb")
        ),
        "table_s5": tables.by_data(
            found, "size", paper.TABLE_S5, names, tables.each("rsb", "prsb"), 1
        ),
        "table_s6": tables.by_data(found, "error", paper.TABLE_S6, names, FIVE),
        "table_s7": tables.by_data(found, "aupr", paper.TABLE_S7, names, EIGHT),
        "figure_1": rank_figure(run, "figure_1", "error", found),
        "figure_2": rank_figure(run, "figure_2", "aupr", found),
        "with_eda": ranks.in_words(found, EIGHT, paper.TABLE_S7),
        "against_paper": claims.against_paper(found),
    }
    return (
        values
        | claims.of_real(found, names, FIVE, run.main["all rows"])
        | claims.against_rsb(found, names)
        | others
    )


def where_it_ended(run: Experiment) -> dict[str, Any]:
    """Run PRSB for as many models as the paper's, and say how far its α, and ours, had moved."""
    quick = run.options.quick
    names, problems = list(cells.QUICK_SETS if quick else PMLB), list(cells.PROBLEMS)
    on_problems, on_sets = run.main["simulated"], run.main["real"]
    work = partial(end.ended, seed=run.options.seed, folder=shared_data("pmlb"))
    found = run.part("ended", end.cells(quick), work, ["data", "repetition", "method"])
    late, several = end.of_one_restart(found), run.parts["restarts"][1]
    papers, real_papers = end.SIMULATED_PAPERS, end.REAL_PAPERS
    n_simulated, n_real = cells.SIMULATED.restarts, cells.N_RESTARTS_REAL
    parts = {
        "ended": end.compared(found, late, papers, problems)
        | {
            "changes": end.what_it_changes(
                found, late, on_problems, on_problems, n_simulated, papers, problems
            )
        },
        "ended_real": end.compared(found, on_sets, real_papers, cells.FROM_RESTARTS)
        | {
            "changes": end.what_it_changes(
                found, on_sets, on_sets, several, n_real, real_papers, cells.FROM_RESTARTS
            ),
            "ranks": end.ranks(found, on_sets, cells.FROM_RESTARTS),
            "stages": end.stages_in_words(found, on_sets, cells.FROM_RESTARTS),
        },
    }
    return {
        f"{part}_{key}": text for part, texts in parts.items() for key, text in texts.items()
    } | {
        "near": f"{end.NEAR:.0%}",
        "near_s1": end.near_the_start(on_problems, paper.TABLE_S1, problems),
        "near_s5": end.near_the_start(on_sets, paper.TABLE_S5, names),
        "stages_real": end.STAGES_REAL,
        "stages_range": f"{min(end.STAGES.values())} to {max(end.STAGES.values())}",
    }


def rank_figure(run: Experiment, name: str, value: str, found: pd.DataFrame) -> str:
    """Draw Figure 1 (errors) or 2 (AUPR), ours and from the paper's table; return it in words."""
    errors = value == "error"
    theirs = paper.TABLE_S6 if errors else paper.TABLE_S7
    texts, chi2 = [], []
    for whose, scores in (
        ("ours", ranks.by_set(found, value, FIVE)), ("paper", ranks.published(theirs, FIVE))
    ):  # fmt: skip
        if len(scores) < 3:
            continue
        average, p, difference = figures.average_ranks(scores, not errors)
        title = "Test errors" if errors else "Feature rankings (AUPR)"
        where = "here" if whose == "ours" else "as published"
        run.draw(
            name if whose == "ours" else f"{name}_paper",
            figures.critical_differences(
                average, difference, f"{title} of {len(scores)} real data sets, {where}"
            ),
        )
        order = ", ".join(f"{tables.label(str(m))} {r:.2f}" for m, r in average.items())
        texts.append(f"{whose}: p = {p:.1e}; average ranks {order}")
        chi2.append(f"{whose} {figures.friedman(figures.rank(scores, not errors))[0]:.1e}")
    said = paper.FRIEDMAN_ERRORS if errors else paper.FRIEDMAN_AUPR
    return f"{'. '.join(texts)} (p in the paper's text: {said}; by χ²: {', '.join(chi2)})."


def other_protocols(
    run: Experiment, found: pd.DataFrame, effort: Any, folder: Any
) -> tuple[dict[str, Any], pd.DataFrame]:
    """Run real data with equal rows together, PRSB from several restarts, and appendix B.

    Also returned: the cells of the main tables, by appendix B where all of its folds were run.
    """
    quick, names = run.options.quick, ["data", "repetition", "method"]
    settings = {"seed": run.options.seed, "folder": folder}
    together = run.part(
        "together",
        cells.together_cells(quick),
        partial(cells.real, effort=effort, together=True, **settings),
        names,
    )
    every = run.part(
        "all_rows", all_rows.cells(quick), partial(all_rows.of_fold, **settings), names
    )
    tuned = run.part(
        "tuned", cells.tuned_cells(quick), partial(cells.real, effort=effort, **settings), names
    )
    several = run.part(
        "restarts",
        cells.restart_cells(quick),
        partial(cells.real, effort=replace(effort, restarts=cells.N_RESTARTS_REAL), **settings),
        names,
    )
    papers = (paper.TABLE_S6, paper.TABLE_4)
    main, tuned_sets = protocol.on_real_data(found, tuned)
    sets = list(dict.fromkeys([*found["data"], *together["data"]]))
    rank_table, rank_words, whole_errors = all_rows.average_ranks(
        every, main, together, paper.TABLE_S6
    )
    run.main["all rows"] = whole_errors
    table_s4, seen = extra.real_sets(sets, paper.TABLE_S4, folder, run.options.seed)
    values = {
        "all_rows": all_rows.compared(every, found, (paper.TABLE_S6, paper.TABLE_S7)),
        "all_rows_words": all_rows.in_words(every, paper.TABLE_S6),
        "all_rows_ranks": rank_table,
        "all_rows_ranks_words": ". ".join(rank_words),
        "all_rows_ranks_short": rank_words[0],
        "all_rows_grids": protocol.small_grids(all_rows.EFFORT),
        "all_rows_folds": all_rows.folds(every),
        "table_s4": table_s4,
        "tuned_sets": tuned_sets,
        "where_tuned": claims.where_tuned(main, protocol.tuned_sets(tuned)),
        "tuned_real": protocol.appendix_b(found, tuned, cells.FROM_RESTARTS, papers, cells.N_FOLDS),
        "together": protocol.equal_rows_together(found, together),
        "together_words": protocol.together_in_words(found, together, seen),
        "from_restarts": protocol.from_restarts(found, several, cells.FROM_RESTARTS),
        "ranks_from_restarts": ranks.from_restarts(main, several, FIVE),
    }
    copies, copied = ranks.with_copies_together(main, together, FIVE)
    of_errors = {"folds at random": main, ranks.named(copied): copies}
    scores = {what: ranks.by_set(cells_, "error", FIVE) for what, cells_ in of_errors.items()}
    whole = [name for name in sets if paper.TABLE_S4[name][0] <= cells.MANY_ROWS]
    every_row = scores["folds at random"].index.isin(whole)
    scores[f"folds at random, the {len(whole)} smaller sets"] = scores["folds at random"][every_row]
    scores["paper (Table S6)"] = theirs = ranks.published(paper.TABLE_S6, FIVE)
    scores[f"paper, the {len(whole)} smaller sets"] = theirs[theirs.index.isin(whole)]
    values["rank_table"] = ranks.rank_table(scores)
    values["ranks"] = ranks.of_ranks(scores["folds at random"])
    values["ranks_together"] = ranks.of_ranks(scores[ranks.named(copied)])
    return values, main


def gene_networks(run: Experiment) -> dict[str, Any]:
    """Table 5 and Figure S3, and networks that nothing was chosen on."""
    quick, names = run.options.quick, ["data", "method", "seed"]
    work = partial(networks.network, seed=run.options.seed, folder=shared_data("dream4"))
    found = run.part("networks", networks.network_cells(quick), work, names)
    held_out = run.part("simulated_networks", networks.simulated_network_cells(quick), work, names)
    samples = run.part(
        "samples",
        networks.samples_cells(quick),
        partial(networks.of_samples, seed=run.options.seed),
        ["data", "method", "samples"],
    )
    run.draw("figure_s3", figures.plot_regulators(found, networks.NETWORKS, networks.LAMBDAS))
    seconds = found.groupby("method")["seconds"].mean().filter(regex="^eda|^forest|-auto$")
    ruled = network_tables.by_rule(found)
    auto_above, auto_seeds = network_tables.auto_above(found)
    kinds = network_tables.groups(found, held_out)
    return claims.of_networks(found) | {
        "table_5": network_tables.table_5(found),
        "best": network_tables.best(found),
        "by_lambda": network_tables.by_lambda(found),
        "by_rule": network_tables.rule_table(ruled),
        "rule_summary": network_tables.rule_summary(ruled),
        "lowest_objective": network_tables.lowest_objective(found),
        "lowest_in_words": network_tables.lowest_in_words(found),
        "auto_above": auto_above,
        "auto_seeds": auto_seeds,
        "by_stage": network_tables.by_stage(found),
        "stages_in_words": network_tables.stages_in_words(found),
        "late_in_words": network_tables.late_in_words(found),
        "objectives": network_tables.objectives(found),
        "by_samples": network_tables.by_samples(samples),
        "by_samples_in_words": network_tables.by_samples_in_words(samples),
        "path": network_tables.path_of_lambda(kinds),
        "elsewhere": network_tables.elsewhere(kinds),
        "each_simulated": network_tables.each_simulated(held_out),
        "n_held_out": sum(len(kind.networks) for kind in kinds[1:]),
        "seconds": ", ".join(f"{network_tables.shown(m)} {s:.0f} s" for m, s in seconds.items()),
    }


def main() -> None:
    """Regenerate all results."""
    options = arguments(__doc__, cache=True, resumable=True)
    use_look()
    run = Experiment(options)
    values = gene_networks(run) | simulated(run) | not_in_the_paper(run) | real(run)
    values |= where_it_ended(run)
    values |= {
        "seed": options.seed,
        "cost": run.seconds / 3600,
        "digits_splits": extra.N_SPLITS,
        "n_folds": cells.N_FOLDS,
        "fold_factor": (1 + cells.N_FOLDS / (cells.N_FOLDS - 1)) ** 0.5,
        "said_always": claims.always(run.main["simulated"], run.main["real"], list(PMLB)),
        "remaining": protocol.remaining(run.parts),
    }
    write("huynhthu2021.md", options, values)


if __name__ == "__main__":
    main()
