"""Where learning ends in the paper of huynhthu2021, and what is compared with it."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "experiments"))

import _huynhthu_end as end
from _huynhthu_methods import STEPS
from _huynhthu_paper import Number

PAPERS = {
    value: {("bupa", "prsb-knn"): Number(mean, 0.0, f"{mean:.2f} ± 0.00")}
    for value, mean in (("size", 25.0), ("error", 0.4), ("aupr", 0.3))
}


def runs(method: str, size: float, error: float, aupr: float, n: int = 4) -> pd.DataFrame:
    """Four repetitions around these means."""
    shift = pd.Series([-0.01, 0.01] * n)[:n]
    values = {"size": size + shift, "error": error + shift, "aupr": aupr + shift}
    return pd.DataFrame({"data": "bupa", "repetition": range(n), "method": method, **values})


FOUND = pd.concat(
    [runs("step0.0001-knn", 25.0, 0.4, 0.3), runs("step0.001-knn", 24.0, 0.4, 0.2),
     runs("step0.01-knn", 20.0, 0.3, 0.1)]
)  # fmt: skip
WHOLE = runs("prsb-knn", 5.0, 0.35, 0.15, n=6)


def test_stages_train_the_papers_number_of_models() -> None:
    assert end.STAGES["Friedman", "knn"] == 378  # 100 + 377 × 10 = 3,870 models
    for (problem, base), n_stages in end.STAGES.items():
        n_models = 100 + (n_stages - 1) * 10
        assert n_models == pytest.approx(
            end.TABLE_S3_MODELS[problem, f"prsb10-{base}"].mean, abs=10
        )


def test_numbers_that_are_the_papers_are_bold_and_counted() -> None:
    found = end.compared(FOUND, WHOLE, PAPERS, ["bupa", "ERA"])
    assert found["table"].splitlines()[2:] == [
        "| bupa | kNN | 4 | 25.00, 0.40, 0.30 | **25.0**, **0.40**, **0.30** "
        "| 24.0, **0.40**, 0.20 | 20.0, 0.30, 0.10 | 5.0, 0.35, 0.15 |"
    ]
    assert found["counts"].splitlines()[2:] == [
        "| Σα | 1 | 1 (× 1.00) | 0 (× 1.04) | 0 (× 1.25) | 0 (× 5.00) |",
        "| error | 1 | 1 (× 1.00) | 1 (× 1.00) | 0 (× 1.33) | 0 (× 1.14) |",
        "| AUPR | 1 | 1 (× 1.00) | 0 (× 1.50) | 0 (× 3.00) | 0 (× 2.00) |",
        "| all | 3 | 3 | 1 | 0 | 0 |",
    ]
    assert found["nearest"] == "3 of 3"
    assert found["short"] == (
        "0 of 3 to the end, and 3, 1 and 0 with restarts that end early, by the length of their "
        "steps (0.0001, 0.001 and 0.01)"
    )


def test_a_mean_is_the_papers_within_two_errors_or_when_it_rounds_to_it() -> None:
    ours = pd.Series([0.30, 0.32] * 5)  # s.e. 0.0033; with the paper's deviation 0.0072
    for theirs, same in (
        (Number(0.303, 0.0, "0.303"), False),
        (Number(0.30, 0.02, "0.30"), True),
        (Number(0.29, 0.02, "0.29"), False),
    ):
        assert end.is_the_papers(ours, theirs) is same, theirs
    assert end.is_the_papers(pd.Series([0.272] * 3), Number(0.27, 0.0, "0.27 ± 0.00"))
    assert not end.is_the_papers(pd.Series([0.276] * 3), Number(0.27, 0.0, "0.27 ± 0.00"))


def test_ends_are_compared_on_the_same_repetitions_only() -> None:
    kinds = end.by_end(FOUND[FOUND["repetition"] != 1], WHOLE, "bupa", "knn")
    assert list(kinds) == [*STEPS, end.AT_THE_END]
    assert {tuple(cells.index) for cells in kinds.values()} == {(0, 2, 3)}
    assert end.by_end(FOUND[FOUND["method"] != "step0.01-knn"], WHOLE, "bupa", "knn") == {}
    assert end.compared(FOUND, WHOLE, PAPERS, ["ERA"]) == {
        "table": "(not run)", "counts": "(not run)", "nearest": "not run", "short": "not run"
    }  # fmt: skip


def test_prsb_is_better_where_it_is_strictly_better_on_the_same_repetitions() -> None:
    def counted(other: pd.DataFrame, method: str, value: str) -> list[bool | None]:
        held = end.count(FOUND, WHOLE, ["bupa", "ERA"], end.better_than(other, method, value))
        assert {len(cases) for cases in held.values()} == {1}  # ERA was not run
        return [cases[0] for cases in held.values()]

    # 0.3, 0.2 and 0.1 with an early end and 0.15 to the end, beside 0.15
    assert counted(WHOLE, "prsb", "aupr") == [True, True, False, False]
    # 0.4, 0.4, 0.3 and 0.35 beside 0.35
    assert counted(WHOLE, "prsb", "error") == [False, False, True, False]
    forest = runs("rf", 1.0, 0.32, 0.5, n=5)
    forest.loc[4, "error"] = 9.0  # a repetition that early ends do not have
    assert counted(forest, "rf", "error") == [False, False, True, False]
    assert counted(forest[:2], "rf", "error") == [None] * 4  # not run on all repetitions


def test_a_value_that_no_cell_has_is_no_number_to_be_below() -> None:
    with pytest.raises(ValueError, match="'aupr_single' is missing"):
        end.mean(WHOLE, "aupr_single")
    with pytest.raises(ValueError, match="'aupr' is missing in some of 6 cells"):
        end.mean(WHOLE.assign(aupr=[0.1, 0.2, None, 0.1, 0.2, 0.3]), "aupr")


def test_what_an_early_end_changes_has_a_row_for_each_question() -> None:
    papers = {
        value: {("bupa", method): Number(number, 0.1, "") for method, number in numbers.items()}
        for value, numbers in {
            "size": {"prsb-knn": 24.0},
            "error": {"prsb-knn": 0.4, "rf": 0.5, "gbdt": 0.3},
            "aupr": {"prsb-knn": 0.4, "rf": 0.4, "gbdt": 0.3},
        }.items()
    }
    main = pd.concat([runs("rf", 1.0, 0.32, 0.25), runs("gbdt", 1.0, 0.5, 0.5)])
    several = runs("prsb-knn", 6.0, 0.34, 0.12)
    text = end.what_it_changes(FOUND, WHOLE, main, several, 3, papers, ["bupa"])
    assert text.splitlines()[0].startswith("| of 1 cases | step 0.0001 |")
    assert text.splitlines()[2:] == [
        "| Σα within 20% of where it starts | 1 | 1 | 0 | 0 | 1 |",  # 25.25 at the start
        "| AUPR above RF's | 1 | 0 | 0 | 0 | 0 |",
        "| AUPR above GBDT's | 0 | 0 | 0 | 0 | 1 |",
        "| AUPR above that of one restart to the end | 1 | 1 | 0 |  |  |",
        "| AUPR above that of 3 restarts to the end | 1 | 1 | 0 | 1 |  |",
        "| error below RF's | 0 | 0 | 1 | 0 | 1 |",
        "| error below GBDT's | 1 | 1 | 1 | 1 | 0 |",
        "| error below that of one restart to the end | 0 | 0 | 1 |  |  |",
        "| error below that of 3 restarts to the end | 0 | 0 | 1 | 0 |  |",
    ]
    unknown = end.what_it_changes(FOUND, WHOLE, main, several[:1], 3, papers, ["bupa"])
    assert "| AUPR above that of 3 restarts to the end | – | – | – | – |  |" in unknown
    assert end.what_it_changes(FOUND, WHOLE, main, several, 3, papers, ["ERA"]) == "(not run)"


def test_ranks_by_error_count_the_pairs_in_which_prsb_is_behind() -> None:
    def everywhere(cells: pd.DataFrame) -> pd.DataFrame:
        return pd.concat([cells.assign(data=name) for name in ("bupa", "ERA", "pm10")])

    bases = ("tree", "knn", "svm")
    early = [runs(f"step{step}-{b}", 1, 0.6, 0.1) for step in STEPS for b in bases]
    late = [runs(f"prsb-{b}", 1, 0.2, 0.1, n=6) for b in bases]
    late += [runs(name, 1, 0.3, 0.1, n=6) for name in ("rf", "gbdt")]
    text = end.ranks(everywhere(pd.concat(early)), everywhere(pd.concat(late)), ["bupa", "ERA",
                     "pm10"])  # fmt: skip
    rows = text.splitlines()[2:]
    assert rows[:4] == [
        *(f"| step {step} | 1.50 | 1.50 | 4.00 | 4.00 | 4.00 | 6 of 6 |" for step in STEPS),
        "| to the end | 4.50 | 4.50 | 2.00 | 2.00 | 2.00 | 0 of 6 |",
    ]
    theirs = [[end.TABLE_S6[name, m].mean for m in end.FIVE] for name in ("bupa", "ERA", "pm10")]
    average = pd.DataFrame(theirs).rank(axis=1).mean()
    shown = " | ".join(f"{rank:.2f}" for rank in average)
    behind = sum(average[k] > average[other] for k in (2, 3, 4) for other in (0, 1))
    assert rows[4] == f"| paper | {shown} | {behind} of 6 |"
    assert end.ranks(FOUND, WHOLE, ["ERA"]) == "(not run)"


def test_restarts_that_did_not_end_where_they_were_to_end_are_counted() -> None:
    early = FOUND.assign(n_models=100 + 299 * 10)  # 300 stages
    early.iloc[0, early.columns.get_loc("n_models")] = 100 + 298 * 10
    late = WHOLE.assign(n_models=[100, 3090, 3080, 5000, 10090, 10090])
    assert end.stages_in_words(early, late, ["bupa"]) == (
        "1 of 12 had converged before; of the 6 that went to the end 2 did so too, and 2 were "
        "stopped at 1,000 stages"
    )


def test_single_restarts_to_the_end_are_named_as_those_of_the_main_tables() -> None:
    found = pd.concat([FOUND, runs("end-knn", 5.0, 0.3, 0.2)])
    assert set(end.of_one_restart(found)["method"]) == {"prsb-knn"}
    assert len(end.of_one_restart(found)) == 4


PAGE = Path(__file__).resolve().parents[1] / "experiments" / "results" / "huynhthu2021.md"


def rows_of(text: str, name: str) -> list[float]:
    """The numbers of the only row of a table that begins with a name."""
    (line,) = [line for line in text.splitlines() if line.startswith(f"| {name} |")]
    cells = [cell.strip().split(" ")[0] for cell in line.strip("|").split("|")[1:]]
    return [float(cell) for cell in cells if cell]


def test_what_the_page_concludes_of_early_ends_is_in_its_tables() -> None:
    text = PAGE.read_text(encoding="utf-8").partition("## 7. Where")[2]
    simulated, _, real = text.partition("**Real data.**")
    for kind in ("Σα", "error", "AUPR"):  # an early end is nearer on real sets, whatever the step
        *early, late = rows_of(real, kind)[1:]
        assert min(early) > late, kind
    *early, late = rows_of(simulated, "error")[1:]
    assert late > max(early)
    for kind in ("Σα", "AUPR"):
        *early, late = rows_of(simulated, kind)[1:]
        assert min(early) >= late, kind
    near = "Σα within 20% of where it starts"
    shortest, *longer, paper = rows_of(real, near)
    assert shortest >= paper > 2 * max(longer)
    assert rows_of(simulated, near)[0] > 2 * rows_of(simulated, near)[-1]
    ranks, better = "AUPR above that of", "error below that of"
    assert min(rows_of(real, f"{ranks} one restart to the end")) > 0.8 * 27
    assert max(rows_of(real, f"{better} one restart to the end")) < 0.25 * 27
    assert min(rows_of(simulated, f"{ranks} one restart to the end")) < 6
    assert max(rows_of(simulated, f"{ranks} one restart to the end")) > 6
    assert rows_of(real, f"{ranks} 3 restarts to the end")[-1] == 0
    assert rows_of(simulated, f"{ranks} 3 restarts to the end")[-1] == 0


def test_the_tutorial_has_the_numbers_of_the_page() -> None:
    tutorial = PAGE.parents[2] / "docs" / "tutorials" / "subspaces.md"
    words = " ".join(tutorial.read_text(encoding="utf-8").split())
    text = PAGE.read_text(encoding="utf-8").partition("## 7. Where")[2]
    simulated, _, real = text.partition("**Real data.**")
    more = "that of 3 restarts to the end"
    ranked, predicted = (rows_of(real, f"{kind} {more}") for kind in ("AUPR above", "error below"))
    assert "in 27 cases" in words
    assert "| of 27 cases |" in real
    assert ranked[-1] == 0
    assert "worse than a single restart in none" in words
    assert f"predicted worse in {predicted[-1]:.0f}." in words
    early = f"ranked better than that average in {ranked[2]:.0f}, but predicted better in "
    assert f"{early}{predicted[2]:.0f} only" in words
    simulated_ranked = rows_of(simulated, f"AUPR above {more}")
    assert f"it ranked better in {simulated_ranked[2]:.0f} of 12" in words
    assert rows_of(real, "AUPR above RF's")[2] < 27 / 2
    assert "better than one restart with" in words


def test_sums_near_the_start_are_counted_in_the_paper_and_here() -> None:
    assert end.n_features("Linear") == 310
    assert end.n_features("bupa") == 505  # α starts with a sum of 25.25
    papers = {("bupa", "prsb-knn"): Number(23.3, 0.9, ""), ("bupa", "prsb-tree"): Number(9, 1, "")}
    assert end.near_the_start(WHOLE, papers, ["bupa"]) == "1 of 2 (here 0 of 1)"
    assert end.near_the_start(FOUND.assign(method="prsb-svm"), papers, ["bupa"]) == (
        "1 of 2 (here 1 of 1)"
    )
