"""Tables and statements of the page of huynhthu2021."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "experiments"))

import _huynhthu_all_rows as all_rows
import _huynhthu_claims as claims
import _huynhthu_counts as counts
import _huynhthu_extra as extra
import _huynhthu_figures as figures
import _huynhthu_paper as paper
import _huynhthu_protocol as protocol
import _huynhthu_ranks as ranks
import _huynhthu_tables as tables
from _huynhthu_cells import PROBLEMS, SIMULATED


def test_equal_rows_are_compared_only_on_whole_cross_validations() -> None:
    names = ("spectf", "bupa", "ERA")
    real = real_cells({"rf": 0.1}, "error", names)
    together = real.assign(error=0.2).drop(index=25)  # a fold of ERA is missing
    text = protocol.equal_rows_together(real, together)
    assert text.splitlines()[2:] == [
        "| spectf | RF | 0.100 ± 0.000 | 0.200 ± 0.000 |",
        "| bupa | RF | 0.100 ± 0.000 | 0.200 ± 0.000 |",
    ]
    words = protocol.together_in_words(real, together, {"spectf": 0.42, "bupa": 0.02})
    assert words == "on spectf (42%) 1 of 1; on bupa (2%) 1 of 1"


def test_copies_and_sets_of_few_values_are_counted_apart() -> None:
    names = ("ERA", "haberman", "bupa")
    real = real_cells({"rf": 0.3, "gbdt": 0.5}, "error", names)
    together = real_cells({"rf": 0.4, "gbdt": 0.4}, "error", names)
    seen = {"ERA": 0.93, "haberman": 0.1, "bupa": 0.02}
    words = protocol.together_in_words(real, together, seen)
    assert words == "on bupa (2%) 1 of 2; on haberman (10%) and ERA (93%) 2 of 4"


def test_appendix_b_takes_the_place_of_the_small_grids_once_all_of_it_was_run() -> None:
    cells = pd.DataFrame(
        [
            {"data": name, "repetition": str(i), "method": method, "error": error, "size": 2.0}
            for name in PROBLEMS
            for i in range(10)
            for method, error in (("rf", 0.3), ("b-rf", 0.2), ("gbdt", 0.5), ("b-gbdt", 0.4))
        ]
    ).assign(seconds=1.0)
    main, done = protocol.with_appendix_b(cells)
    assert done == ["rf", "gbdt"]
    assert main.groupby("method")["error"].first().to_dict() == {"rf": 0.2, "gbdt": 0.4}
    main, done = protocol.with_appendix_b(cells.drop(index=3))  # one of b-gbdt is missing
    assert done == ["rf"]
    assert main[main["method"] == "gbdt"]["error"].tolist() == [0.5] * 40
    words = protocol.baselines(done, replace(SIMULATED, depths=(1, 3)))
    assert words.startswith("RF is tuned as in appendix B")
    assert "(Compiled versions" in words
    assert "GBDT: its depth among 1 and 3, by 3 folds" in words
    assert "RSB-SVM: K among 1, √M, M/50, M/10, M/3 and M, by 3 folds" in words
    printed = {("Linear", "rf"): paper.Number(0.21, None, "0.21")}
    text = protocol.appendix_b(cells, cells, ["Linear"], [printed], 10)
    assert text.splitlines()[2] == (
        "| RF | Linear | 10 | 0.300 ± 0.000 | 0.200 ± 0.000 | 0.21 | 2 to 2 | 1 |"
    )


def real_cells(methods: dict[str, float], value: str, names: tuple[str, ...]) -> pd.DataFrame:
    rows = [
        {"data": name, "repetition": str(fold), "method": method, value: number}
        for name in names
        for fold in range(10)
        for method, number in methods.items()
    ]
    return pd.DataFrame(rows).assign(seconds=6.0)


def test_appendix_b_on_real_data_needs_all_folds_of_a_set() -> None:
    small = real_cells({"rf": 0.3, "gbdt": 0.5}, "error", ("bupa", "ERA"))
    large = real_cells({"b-rf": 0.2}, "error", ("bupa", "ERA")).drop(index=15)  # a fold of ERA
    main, words = protocol.on_real_data(small, large)
    assert len(main) == len(small)
    means = main.groupby(["method", "data"])["error"].mean().unstack()
    assert means.loc["rf"].to_dict() == pytest.approx({"bupa": 0.2, "ERA": 0.3})
    assert means.loc["gbdt"].tolist() == pytest.approx([0.5, 0.5])
    assert words == "RF on 1, GBDT on 0, RSB-kNN on 0, RSB-tree on 0 and RSB-SVM on 0"


def test_ranks_with_copies_together_need_all_methods_and_folds() -> None:
    errors = {"rf": 0.3, "gbdt": 0.4, "prsb-tree": 0.2}
    methods = list(errors)
    real = real_cells(errors, "error", ("bupa", "ERA", "pm10"))
    together = real_cells(errors | {"prsb-tree": 0.9}, "error", ("bupa", "ERA"))
    found, names = ranks.with_copies_together(real, together, methods)
    assert names == ["bupa"]  # in ERA equal rows are no copies
    errors_of = ranks.by_set(found, "error", methods)
    assert errors_of["prsb-tree"].to_dict() == pytest.approx({"bupa": 0.9, "ERA": 0.2, "pm10": 0.2})
    text = ranks.rank_table({"at random": ranks.by_set(real, "error", methods), "both": errors_of})
    assert text.splitlines()[2].startswith("| at random | 3 |")
    assert "| 2.00 | 3.00 | 1.00 | 1.914 |" in text
    assert "| 1.67 | 2.67 | 1.67 | 1.914 |" in text
    assert ranks.of_ranks(errors_of).startswith("RF is 0.00 ahead of PRSB-tree, below Nemenyi's")
    found, names = ranks.with_copies_together(real, together.drop(index=0), methods)
    assert names == []
    pd.testing.assert_frame_equal(ranks.by_set(found, "error", methods),
                                  ranks.by_set(real, "error", methods))  # fmt: skip


def test_ranks_from_restarts_take_only_what_the_restarts_changed() -> None:
    names = ("bupa", "ERA", "pm10")
    real = real_cells({"rf": 0.5, "gbdt": 0.3, "prsb-knn": 0.9}, "aupr", names)
    several = real_cells({"prsb-knn": 0.4}, "aupr", names)
    several["aupr_single"], several["aupr_of_lowest_objective"] = 0.2, 0.6
    words = ranks.from_restarts(real, several, ["rf", "gbdt", "prsb-knn"])
    assert words == (
        "PRSB-kNN 3.00 with one restart, 1.00 with the lowest objective of 3, "
        "2.00 with the mean of 3 (3 sets)"
    )
    assert ranks.from_restarts(real, several[:0], ["rf", "gbdt", "prsb-knn"]) == "not run"


def test_what_is_left_is_counted_by_method_with_its_cost() -> None:
    found = real_cells({"rf": 0.3, "gbdt": 0.5}, "error", ("bupa", "ERA"))
    wanted = [tuple(cell) for cell in found[["data", "repetition", "method"]].to_numpy()]
    found.loc[found["data"] == "ERA", "seconds"] = 60.0
    left = found.drop(index=[0, 1, 20, 22])  # of bupa one of each, of ERA two of RF
    more = [("bupa", "0", "b-rf")]
    text = protocol.remaining({"real": (wanted, left), "tuned": (more, found[:0])})
    assert text.startswith("the table (minutes on one core, estimated")
    assert text.splitlines()[4:] == [
        "| real | RF | 17 of 20 | 2 |",
        "| real | GBDT | 19 of 20 | 0 |",
        "| tuned | RF, appendix B | 0 of 1 | no cell yet |",
        "| all |  |  | 2 |",
    ]
    assert protocol.remaining({"real": (wanted, found)}) == "nothing."


def problem_cells(values: dict[str, float], value: str, n: int = 10) -> pd.DataFrame:
    rows = [
        {"data": problem, "repetition": str(i), "method": method, value: number + 0.001 * i}
        for problem in PROBLEMS
        for i in range(n)
        for method, number in values.items()
    ]
    return pd.DataFrame(rows)


def test_the_papers_numbers_keep_their_digits() -> None:
    cells = problem_cells({"prsb-tree": 4.9}, "size")
    text = tables.by_data(cells, "size", paper.TABLE_S1, ["Checkerboard"], ["prsb-tree"], 1)
    assert text.splitlines()[-1] == "| Checkerboard | 4.9 ± 0.0 (8.35 ± 2.09) |"
    assert paper.TABLE_4["ERA", "rsb-tree"].text == "2.59"  # no standard deviation is printed


@pytest.mark.parametrize(
    ("table", "larger", "said"), [("TABLE_S6", False, 9.6e-4), ("TABLE_S7", True, 4.0e-3)]
)
def test_friedman_by_f_gives_about_the_p_of_the_papers_text(table, larger, said) -> None:
    scores = pd.Series(counts.printed(getattr(paper, table))).unstack()
    five = scores[["rf", "gbdt", "prsb-tree", "prsb-knn", "prsb-svm"]]
    chi2, f = figures.friedman(figures.rank(five, larger))
    assert f == pytest.approx(said, rel=0.15)
    assert chi2 > 1.5 * said


def test_methods_that_always_come_in_the_same_order_differ() -> None:
    ranks = pd.DataFrame([[1.0, 2.0, 3.0]] * 4)
    chi2, f = figures.friedman(ranks)
    assert chi2 == pytest.approx(np.exp(-4))  # χ² = 8 with 2 degrees of freedom
    assert f == 0


@pytest.mark.parametrize(("right", "agrees"), [(8, True), (6, None), (5, False), (0, False)])
def test_four_fifths_agree_and_most_agree_in_part(right: int, agrees: bool | None) -> None:
    assert counts.judged([True] * right + [False] * (10 - right)) is agrees


def test_cases_of_one_data_set_are_one_toss_of_a_coin() -> None:
    cases = {(name, base): name != "d" or base == "x" for name in "abcd" for base in "xyz"}
    assert counts.by_unit(cases) == (3, 4)
    assert counts.by_unit({("a", "x"): True, ("a", "y"): False, ("b", "x"): True}) == (1, 1)
    # three heads in four tosses or more: 5 of 16
    assert counts.counted(cases, "sets", {("a", "x"): False}) == (
        "**Agrees.** 10 of 12 (sets: 3 of 4, p = 0.312 by coin tosses; paper's table: 0 of 1, by "
        "this rule does not agree)"
    )
    assert counts.counted({}, "sets") == "(not yet computed)"


def test_not_worse_is_within_two_standard_errors_of_paired_differences() -> None:
    steps = np.arange(10) - 4.5  # standard error of their mean: 0.957
    rows = [
        {
            "data": name,
            "repetition": str(i),
            "method": method,
            "error": 5.0 + value,
            "aupr": 5 - value,
        }
        for name, shift in (("near", 1.9), ("far", 1.92))
        for i, step in enumerate(steps)
        for method, value in (("prsb-knn", shift + step), ("rf", 0.0))
    ]
    found = pd.DataFrame(rows)
    for value, larger in (("error", False), ("aupr", True)):
        held = counts.not_worse(found, value, ["near", "far"], "prsb-{base}", "rf", larger=larger)
        assert held == {("near", "knn"): True, ("far", "knn"): False}
    assert counts.not_worse(found, "size", ["near"], "prsb-{base}", "rf") == {}


def test_statements_about_simulations() -> None:
    error = {"rf": 0.3, "gbdt": 0.1}
    for base, single, rsb, prsb in (
        ("tree", 0.5, 0.3, 0.25), ("knn", 0.5, 0.48, 0.2), ("svm", 0.5, 0.4, 0.38)
    ):  # fmt: skip
        error |= {f"single-{base}": single, f"rsb-{base}": rsb, f"prsb-{base}": prsb}
    found = claims.of_simulated(problem_cells(error, "error"))
    assert found["claim_lowest"] == "**Agrees.** 3 of 3"
    assert found["claim_rsb"].startswith("**Agrees.** 12 of 12")
    assert found["claim_gain"].startswith("**Does not agree.** 4 of 8")  # kNN gains, SVM does not
    assert found["claim_only_trees"] == (  # SVM improves by a fifth
        "**Agrees in part.** 8 of 12 (its error is below the single model's by: tree 40% to 40%, "
        "kNN 4% to 4%, SVM 20% to 20%)"
    )
    assert found["claim_not_improved"].startswith("**Does not agree.** 0 of 8: kNN 0 of 4")
    # trees and kNN are below RF, none is below GBDT; there is no AUPR
    assert found["claim_forests"].startswith("**Does not agree.** 6 of 18 (problems: 0 of 3")
    assert "error against RF 6 of 9 (paper's table: 9 of 9)" in found["claim_forests"]
    assert found["claim_friedman"].startswith("**Agrees in part.** 4 of 6 means are worse")
    assert found["claim_q"].startswith("(not yet computed)")


def test_statements_about_real_data() -> None:
    names = ("bupa", "ERA", "pm10", "wind")
    error = {"rf": 0.1, "gbdt": 0.2, "prsb-tree": 0.3, "prsb-knn": 0.4, "prsb-svm": 0.5}
    more = {"rsb-tree": 0.2, "rsb-knn": 0.5, "rsb-svm": 0.45}
    found = real_cells(error | more, "error", names)
    found["error"] += found["repetition"].astype(int) * 0.001
    rankings = {method: 1 - value for method, value in error.items()}
    found["aupr"] = found["method"].map(rankings)
    said = claims.of_real(found, names, list(error), found[:0])
    assert said["said_knn_svm"].startswith("**Does not agree.** 4 of 8")
    assert said["said_trees"].startswith("**Agrees.** PRSB-tree has a lower mean error")
    assert said["said_outperformed"] == (
        "**Agrees.** PRSB's average rank is behind in 6 of 6 pairs"
    )
    assert said["said_tree_apart"].startswith("**Agrees.** RF is 2.00 ahead of PRSB-tree, below")
    ahead = found.assign(error=np.where(found["method"] == "prsb-tree", 0.0, found["error"]))
    other_way = claims.of_real(ahead, names, list(error), found[:0])["said_tree_apart"]
    assert other_way.startswith("**Agrees in part.** RF is 1.00 behind PRSB-tree, below")
    assert said["said_bases"].startswith("**Agrees in part.**")  # trees rank best, too
    always = claims.always(problem_cells(error | more, "error"), found, names)
    assert always.startswith("**Does not agree.** 4 of 8 simulated and 4 of 8 real cases")
    assert claims.of_real(found, names[:1], list(error), found[:0])["said_bases"] != ""


def test_too_few_sets_for_ranks_are_not_judged() -> None:
    found = real_cells({"rf": 0.1, "gbdt": 0.2}, "error", ("bupa",)).assign(aupr=0.5)
    said = claims.of_real(found, ["bupa"], ["rf", "gbdt"], found[:0])
    assert set(said.values()) == {"(not yet computed)"}
    assert len(said) == 10


def test_errors_against_the_papers_are_compared_in_its_digits() -> None:
    found = real_cells({"prsb-tree": 0.462}, "error", ("bupa", "pm10"))  # paper: 0.46 and 0.69
    words = claims.against_paper(found.assign(aupr=0.5))  # paper: 0.33 and 0.77
    assert words.startswith("PRSB-tree error lower on 1, higher on 0 and AUPR lower on 1, higher")


def test_differences_between_digits_are_paired() -> None:
    rows = [
        {"data": name, "repetition": str(i), "method": method, "error": 0.1 * i + step}
        for name in extra.DIGITS
        for i in range(5)
        for method, step in zip(extra.DIGITS_METHODS, (0.3, 0.0, 0.1, 0.2), strict=True)
    ]
    text, words = extra.digit_differences(pd.DataFrame(rows))
    line = "| 120 rows | -0.100 ± 0.000 | 0.200 ± 0.000 | 0.100 ± 0.000 |"
    assert text.splitlines()[2] == line
    assert words.startswith("with 120 rows 0.200 ± 0.000 against an SVM and 0.100 ± 0.000")


def test_the_mean_of_restarts_is_counted_against_the_lowest() -> None:
    cells = problem_cells({"prsb-knn": 0.6}, "aupr")
    cells["aupr_of_lowest_objective"] = np.where(cells["data"] == "Linear", 0.9, 0.5)
    text, words = tables.restarts(cells.assign(agreement=1.0, n_models=10, seconds=1.0))
    assert words.startswith("means ± standard error over 10 data sets. The mean of all")
    assert words.endswith("in 3 of 4 cases")
    assert "0.50 ± 0.00 | 0.60 ± 0.00 | 1.00 ± 0.00 | 10 | 1 |" in text


def test_printed_versions_are_counted_with_three_restarts_only_if_all_sets_were_run() -> None:
    values = {"rf": 0.2, "gbdt": 0.1, "prsb-knn": 0.15}
    cells = problem_cells(values, "error", extra.N_SETS).assign(aupr=0.5)
    cells = cells[cells["data"] == "Hypercube"]
    more = cells[cells["method"] == "prsb-knn"].assign(data=extra.THREE, error=0.05)
    lines = extra.printed_counts(extra.all_sets(pd.concat([cells, more]))).splitlines()[2:]
    assert lines[0] == "| Checkerboard | – | – | – | – |"
    assert lines[2] == "| Hypercube | 1 of 1 | 0 of 1 | 0 of 1 | 0 of 1 |"
    assert lines[3] == "| Hypercube, 3 restarts | 1 of 1 | 1 of 1 | 0 of 1 | 0 of 1 |"
    lines = extra.printed_counts(extra.all_sets(pd.concat([cells, more[1:]]))).splitlines()[2:]
    assert lines[3] == "| Hypercube, 3 restarts | – | – | – | – |"


def test_numbers_are_apart_from_the_papers_in_standard_errors_of_the_difference() -> None:
    theirs = paper.Number(0.5, 0.3, "0.50 ± 0.30")
    ours = pd.Series([0.2, 0.4] * 5)  # mean 0.3, variance 0.1/9
    z = 0.2 / np.sqrt((0.1 / 9 + 0.09) / 10)
    assert tables.from_paper(ours, theirs, larger=False) == pytest.approx(z)
    assert tables.from_paper(ours, theirs, larger=True) == pytest.approx(-z)
    cells = problem_cells({"prsb-knn": 0.14}, "error")  # the paper's number on Linear
    cells["error"] += np.where(cells["data"] == "Linear", 0, 9)
    cells["error"] += np.where(cells["repetition"].astype(int) % 2, 0.01, -0.01)
    _, counted = tables.goals(cells, paper.TABLE_S2_ERROR, paper.TABLE_S2_AUPR)
    lines = counted.splitlines()[2:]
    assert lines[0] == "| Checkerboard, *our reading* | 0 | 0 | 1 |"
    assert lines[3] == "| Linear, as printed | 1 | 0 | 0 |"
    assert lines[4] == "| all | 1 | 0 | 3 |"


def test_the_papers_restarts_are_compared_with_ours_and_with_the_paper() -> None:
    cells = problem_cells({"prsb-knn": 0.66, "prsb20-knn": 0.6}, "aupr")
    steps = np.where(cells["repetition"].astype(int) % 2, 0.01, -0.01)
    cells = cells.assign(aupr=cells["aupr"] + steps, aupr_single=0.5, aupr_of_mean=0.7, error=0.14)
    text, words = protocol.lowest_of_20(cells)
    assert words.startswith("4 of 4 problems (Checkerboard 0.060 ± 0.000; ")
    line = text.splitlines()[5]
    z = tables.from_paper(cells[cells["method"] == "prsb20-knn"]["aupr"][:10],
                          paper.TABLE_S2_AUPR["Linear", "prsb-knn"], larger=True)  # fmt: skip
    assert line.startswith("| Linear | 10 | 0.140 ± 0.000 | 0.140 ± 0.000 (+0.0 s.e.)")
    assert f"0.605 ± 0.004 ({z:+.1f} s.e.) | 0.700 ± 0.000 |" in line
    assert protocol.lowest_of_20(cells[cells["method"] == "prsb-knn"]) == ("(not run)", "not run")


def test_all_rows_are_compared_with_the_paper_by_its_deviation() -> None:
    every = real_cells({"rf": 0.15, "prsb-tree": 0.05}, "error", ("phoneme",))[:4]
    every = pd.concat([every[every["method"] == m][:2] for m in ("rf", "prsb-tree")])
    # the paper: RF 0.15 ± 0.01, PRSB-tree 0.11 ± 0.02
    assert all_rows.in_words(every, paper.TABLE_S6).startswith(
        "1 of 2 errors are as in the paper (RF 1 the same, 0 lower, 0 higher; GBDT 0 the same, 0 "
        "lower, 0 higher; PRSB-tree 0 the same, 1 lower, 0 higher; PRSB-kNN 0 the same,"
    )
    text = all_rows.compared(every, every, (paper.TABLE_S6, paper.TABLE_S7))
    assert text.splitlines()[2].startswith(
        "| phoneme | RF | 2 | 0.150 ± 0.000 | 0.150 ± 0.000 (0.15"
    )
    assert all_rows.in_words(every[:0], paper.TABLE_S6) == "not run"


def test_methods_with_all_rows_are_compared_on_the_folds_that_all_have() -> None:
    errors = {"rf": 0.15, "gbdt": 0.2, "prsb-tree": 0.1, "prsb-knn": 0.3}
    every = real_cells(errors, "error", all_rows.SETS)
    assert len(all_rows.alike(every)) == len(every)
    assert all_rows.folds(every) == "10"
    first = every[(every["method"] != "prsb-knn") | (every["repetition"] == "0")].copy()
    first.loc[(first["method"] == "rf") & (first["repetition"] != "0"), "error"] = 0.0
    assert set(all_rows.alike(first)["repetition"]) == {"0"}
    assert all_rows.folds(first) == "1 to 10"
    text = all_rows.in_words(first, paper.TABLE_S6)  # RF is lower on folds that kNN has not
    assert "PRSB-tree is below RF on 6 of 6 sets" in text
    assert all_rows.folds(every[:0]) == "0"
    assert all_rows.alike(every[:0]).empty


def test_average_ranks_with_all_rows_take_the_smaller_sets_from_the_main_tables() -> None:
    errors = {"rf": 0.4, "gbdt": 0.3, "prsb-tree": 0.1, "prsb-knn": 0.2}
    every = real_cells(errors, "error", all_rows.SETS)
    wrong = {"rf": 0.1, "gbdt": 0.2, "prsb-tree": 0.4, "prsb-knn": 0.3}
    main = pd.concat([real_cells(wrong, "error", all_rows.SETS[:2]),  # with fewer rows: not used
                      real_cells(errors, "error", ("bupa", "pm10"))])  # fmt: skip
    together = real_cells(wrong, "error", ("bupa",))
    text, words, errors_there = all_rows.average_ranks(every, main, together, paper.TABLE_S6)
    assert errors_there.shape == (8, 4)
    rows = {row.split(" | ")[0]: row.split(" | ")[1:] for row in text.splitlines()[2:]}
    assert rows["| folds at random"][0] == "8"
    assert rows["| folds at random"][2:6] == ["4.00", "3.00", "1.00", "2.00"]
    assert rows["| copies together on bupa"][2:6] == ["3.62", "2.88", "1.38", "2.12"]
    assert rows["| paper (Table S6)"][0] == "8"
    assert words[0].startswith("folds at random: RF is 3.00 behind PRSB-tree, beyond Nemenyi's")
    assert words[0].endswith("(with the five methods of Figure 1 the critical difference would be "
                             "2.156)")  # fmt: skip


def test_no_difference_has_to_hold_with_all_rows_too() -> None:
    ranks = pd.Series({"rf": 3.0, "gbdt": 2.5, "prsb-tree": 2.0})
    same = pd.DataFrame({"rf": [0.1, 0.2, 0.3], "gbdt": [0.2, 0.1, 0.2],
                         "prsb-tree": [0.3, 0.3, 0.1]}, index=["a", "b", "c"])  # fmt: skip
    behind = same.assign(rf=0.9)  # a rank of 3 beside 1.67
    judge = claims._not_apart
    assert judge(ranks, "prsb-tree", 1.2).startswith("**Agrees.**")
    assert judge(ranks, "prsb-tree", 1.2, same).startswith("**Agrees.**")
    text = judge(ranks, "prsb-tree", 1.2, behind)
    assert text.startswith("**Agrees in part.** RF is 1.00 behind PRSB-tree, below")
    assert "With all rows, by the same critical difference: RF is 1.33 behind" in text
    assert judge(ranks, "prsb-tree", 0.1, behind).startswith("**Does not agree.**")


def test_means_that_differ_in_the_digits_of_a_cell_are_equal() -> None:
    assert not counts.below(0.264512, 8.2 / 31)
    assert not counts.below(0.22857142857142856, 0.2285714285714286)
    assert counts.below(0.2644, 8.2 / 31)
    assert not counts.below(0.3, 0.2)
    values = {("bupa", "prsb-tree"): 0.264512, ("bupa", "gbdt"): 8.2 / 31}
    assert counts.better(values, ["bupa"], "prsb-tree", "gbdt", bases=[""]) == {("bupa", ""): False}
    tied = pd.DataFrame({"gbdt": [8.2 / 31], "prsb-tree": [0.264512], "rf": [0.2644]})
    assert figures.rank(tied, False).to_numpy().tolist() == [[2.5, 2.5, 1.0]]
