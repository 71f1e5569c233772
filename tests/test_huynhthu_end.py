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
    text, words = end.compared(FOUND, WHOLE, PAPERS, ["bupa", "ERA"])
    assert text.splitlines()[2:] == [
        "| bupa | kNN | 4 | 25, 0.4, 0.3 | **25.0**, **0.40**, **0.30** | 24.0, **0.40**, 0.20 "
        "| 20.0, 0.30, 0.10 | 5.0, 0.35, 0.15 |"
    ]
    assert words.startswith(
        "3 of 3 with steps of 0.0001, 1 of 3 with steps of 0.001, 0 of 3 with steps of 0.01, "
        "0 of 3 to the end"
    )
    assert words.endswith("in hand, 3")


def test_ends_are_compared_on_the_same_repetitions_only() -> None:
    kinds = end.by_end(FOUND[FOUND["repetition"] != 1], WHOLE, "bupa", "knn")
    assert list(kinds) == [*STEPS, end.AT_THE_END]
    assert {tuple(cells.index) for cells in kinds.values()} == {(0, 2, 3)}
    assert end.by_end(FOUND[FOUND["method"] != "step0.01-knn"], WHOLE, "bupa", "knn") == {}
    assert end.compared(FOUND, WHOLE, PAPERS, ["ERA"]) == ("(not run)", "not run")


def test_an_early_end_is_counted_where_it_is_strictly_better() -> None:
    assert end.early_against_late(FOUND, WHOLE, ["bupa"]) == (
        "steps of 0.0001: AUPR higher in 1, error lower in 0 of 1; "
        "steps of 0.001: AUPR higher in 1, error lower in 0 of 1; "
        "steps of 0.01: AUPR higher in 0, error lower in 1 of 1"
    )
    assert end.early_against_late(FOUND, WHOLE, ["ERA"]) == "not run"


def test_sums_near_the_start_are_counted_in_the_paper_and_here() -> None:
    assert end.n_features("Linear") == 310
    assert end.n_features("bupa") == 505  # α starts with a sum of 25.25
    papers = {("bupa", "prsb-knn"): Number(23.3, 0.9, ""), ("bupa", "prsb-tree"): Number(9, 1, "")}
    assert end.near_the_start(WHOLE, papers, ["bupa"]) == "1 of 2 (here 0 of 1)"
    assert end.near_the_start(FOUND.assign(method="prsb-svm"), papers, ["bupa"]) == (
        "1 of 2 (here 1 of 1)"
    )
