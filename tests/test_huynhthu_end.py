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
    value: {("bupa", "prsb-knn"): Number(mean, 0.0, f"{mean:g} ± 0.0")}
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
        "| bupa | kNN | 4 | 25, 0.4, 0.3 | **25.0**, **0.40**, **0.30** | 24.0, **0.40**, 0.20 "
        "| 20.0, 0.30, 0.10 | 5.0, 0.35, 0.15 |"
    ]
    assert found["counts"].splitlines()[2:] == [
        "| Σα | 1 | 1 | 0 | 0 | 0 |",
        "| error | 1 | 1 | 1 | 0 | 0 |",
        "| AUPR | 1 | 1 | 0 | 0 | 0 |",
        "| all | 3 | 3 | 1 | 0 | 0 |",
    ]
    assert found["nearest"] == "3 of 3"
    assert found["short"] == (
        "0 of 3 numbers are the paper's to the end, 3 with steps of 0.0001, 1 with steps of 0.001 "
        "and 0 with steps of 0.01"
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


def test_an_early_end_is_counted_where_it_is_strictly_better() -> None:
    def counted(value: str, whole: pd.DataFrame = WHOLE, late: str = "") -> list[bool]:
        held = end.how_often(FOUND, whole, ["bupa", "ERA"], value, late)
        return [case for step in STEPS for case in held[step]]

    assert counted("aupr") == [True, True, False]  # 0.3, 0.2 and 0.1 beside 0.15
    assert counted("error") == [False, False, True]  # 0.4, 0.4 and 0.3 beside 0.35
    single = WHOLE.assign(aupr_single=0.25)
    assert counted("aupr", single, "aupr_single") == [True, False, False]


def test_prsb_is_set_beside_forests_on_the_same_repetitions() -> None:
    forest = runs("rf", 1.0, 0.35, 0.5, n=5).assign(method="rf")
    forest.loc[4, "error"] = 9.0  # a repetition that early ends do not have
    above, there = end.behind(FOUND, pd.concat([WHOLE, forest]), ["bupa", "ERA"], "rf")
    assert list(above.values()) == [[True], [True], [False], [False]]
    rf, knn = (end.TABLE_S6["bupa", method].mean for method in ("rf", "prsb-knn"))
    assert there == int(knn > rf)


def test_what_an_early_end_changes_has_a_row_for_each_question() -> None:
    forests = [runs(name, 1.0, 0.32, 0.5) for name in ("rf", "gbdt")]
    problems = WHOLE.assign(aupr_single=0.25)
    text = end.what_it_changes(FOUND, pd.concat([WHOLE, *forests]), WHOLE, problems)
    there = [int(end.TABLE_S6["bupa", "prsb-knn"].mean > end.TABLE_S6["bupa", m].mean)
             for m in ("rf", "gbdt")]  # fmt: skip
    assert text.splitlines()[2:] == [
        f"| real: error above that of RF | 1 | 1 | 1 | 0 | 1 | {there[0]} |",
        f"| real: error above that of GBDT | 1 | 1 | 1 | 0 | 1 | {there[1]} |",
        "| real: AUPR above that of one restart to the end | 1 | 1 | 1 | 0 |  |  |",
        "| real: error below that of one restart to the end | 1 | 0 | 0 | 1 |  |  |",
        "| real: AUPR above that of the average of 3 to the end | 1 | 1 | 1 | 0 |  |  |",
        "| real: error below that of the average of 3 to the end | 1 | 0 | 0 | 1 |  |  |",
        "| simulated: AUPR above that of one restart to the end | 0 | 0 | 0 | 0 |  |  |",
    ]


def test_sums_near_the_start_are_counted_in_the_paper_and_here() -> None:
    assert end.n_features("Linear") == 310
    assert end.n_features("bupa") == 505  # α starts with a sum of 25.25
    papers = {("bupa", "prsb-knn"): Number(23.3, 0.9, ""), ("bupa", "prsb-tree"): Number(9, 1, "")}
    assert end.near_the_start(WHOLE, papers, ["bupa"]) == "1 of 2 (here 0 of 1)"
    assert end.near_the_start(FOUND.assign(method="prsb-svm"), papers, ["bupa"]) == (
        "1 of 2 (here 1 of 1)"
    )
