"""The overview of the papers says what the result files say."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest

import mainstay as ms

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "experiments"))
    import papers_index

    return papers_index


def test_the_overview_of_the_papers_is_up_to_date(index: ModuleType) -> None:
    assert index.PAGE.read_text(encoding="utf-8") == index.page(), (
        "run python experiments/papers_index.py"
    )


def test_every_verdict_lies_in_exactly_one_item(index: ModuleType) -> None:
    every = (*index.ITEMS, *index.OWN)
    for paper in {item.paper for item in every}:
        text = index.text_of(paper)
        spans = {
            item.name: index.span_of(item, text)
            for item in every
            if item.paper == paper and item.start
        }
        for mark in re.finditer("|".join(map(re.escape, index.VERDICTS.values())), text):
            around = [n for n, (begins, ends) in spans.items() if begins <= mark.start() < ends]
            assert len(around) == 1, (paper, around, text[mark.start() - 100 : mark.end()])


def test_an_item_that_the_results_no_longer_have_is_named(index: ModuleType) -> None:
    with pytest.raises(SystemExit, match=r"Fig\. 99 of bommert2020.*'## 99'"):
        index.row(index.Item("bommert2020", "Fig. 99", "## 99", "## 100"))
    with pytest.raises(SystemExit, match=r"Fig\. 99 of bommert2020.*no such words"):
        index.row(index.Item("bommert2020", "Fig. 99", facts=("no such words",)))
    with pytest.raises(SystemExit, match="no such words"):
        index.stated("3 of 4 are", "no such words")


def test_reasons_take_their_numbers_from_the_results(
    index: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "text_of", lambda paper: "Of 12 sets\n7 are here. A, B are not.")
    item = index.Item(
        "paper", "Fig. 1", missing="{lost}", why="{n} sets",
        facts=(r"sets (?P<n>\d+) are", r"here\. (?P<lost>.*) are not"),
    )  # fmt: skip
    assert index.row(item) == ["paper", "Fig. 1", "cannot be had", "", "missing: A, B; 7 sets"]


def test_numbers_are_the_same_within_two_standard_errors_of_the_difference(
    index: ModuleType,
) -> None:
    # ten repetitions on both sides: the standard error of the difference is 0.1·√(2/10) = 0.045
    assert index.numbers("| 1.00 ± 0.10 (1.08) |") == (1, 1)
    assert index.numbers("| 1.00 ± 0.10 (1.10) |") == (0, 1)
    # with the paper's standard deviation √((0.1² + 0.2²)/10) = 0.071, and √(0.1²/10) = 0.032
    assert index.numbers("| 1.00 ± 0.10 (1.10 ± 0.20) |") == (1, 1)
    assert index.numbers("| 1.00 ± 0.10 (1.08 ± 0.00) |") == (0, 1)


def test_numbers_without_a_deviation_are_the_same_when_they_round_to_the_papers(
    index: ModuleType,
) -> None:
    assert index.numbers("| 0.192 at λ = 50 (0.19) | 0.246 at λ = 50 (0.28) |") == (1, 2)
    assert index.numbers("| 0.195 (0.19) | 0.196 (0.19) |") == (1, 2)
    assert index.numbers("| – (0.28) |") == (0, 0)
    assert index.numbers("| 8192 | 21 | 8192, 20 |") == (1, 2)


def test_only_the_rows_of_an_item_count(index: ModuleType) -> None:
    part = "| kNN, λ automatic | 0.19 (0.19) |\n| kNN | 0.25 (0.19) |"
    assert index.numbers(part, "^(?!.*λ automatic)") == (0, 1)
    assert index.numbers(part, "automatic") == (1, 1)


def test_only_the_cells_of_an_item_count(index: ModuleType) -> None:
    part = "in words 0.1 (0.2)\n| tree | 1.00 (1.00) | 30 (20) |\n| short |\n"
    assert index.with_cells(part, (0, 2)) == "| tree | 30 (20) |"
    assert index.numbers(index.with_cells(part, (1,))) == (1, 1)
    assert index.with_cells(part, ()) == part


def test_ticks_and_stated_counts_are_read(index: ModuleType) -> None:
    assert index.ticks("A ✓ in words\n| a | 5 ✓ | 3 ✓ |\n| b | 4 **no** (5) |") == (2, 3)
    assert index.stated("Of these 13 of 18 are within.", r"(\d+) of (\d+) are") == (13, 18)


def test_orders_of_average_ranks_are_read(index: ModuleType) -> None:
    text = "ours: p = 2e-02; average ranks {}. paper: p = 1e-03; average ranks {} (p in the text)."
    found = index.rank_orders(text.format("RF 1.40, GBDT 2.70", "GBDT 2.07, RF 2.30"))
    assert found == ["RF, GBDT", "GBDT, RF"]
    assert index.rank_orders("no ranks here") == []


def test_the_number_of_measures_is_the_one_that_the_pages_name() -> None:
    number = len(ms.list_measures())
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"**{number} stability measures**" in readme
    assert f"These are {number} measures" in (ROOT / "docs/measures.md").read_text(encoding="utf-8")


def test_the_networks_of_the_readme_are_those_of_the_page(index: ModuleType) -> None:
    page = index.text_of("huynhthu2021")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for row, said in (
        ("| kNN | 50 | lowest objective |", "the lowest of 20 restarts, probabilities averaged"),
        ("| kNN | 0.01 | mean over the stages |", "| one restart, averaged over the stages"),
        ("| kNN | 0.01 | last stage |", "| one restart, the last stage"),
        ("| kNN | 0.001 | last stage |", "| the same with steps of 0.001"),
        ("| PRSB-kNN, λ automatic |", "| the default here"),
        ("| GENIE3 (forest) |", "| forests here"),
    ):
        start = page.rindex(f"\n{row}") + 1
        cells = page[start : page.index("\n", start)].strip("| ").split("|")[-5:]
        shown = ", ".join(cell.split()[0] for cell in cells)
        line = next(line for line in readme.splitlines() if said in line)
        assert line.endswith(f"| {shown} |"), (line, shown)
    for kind in ("with hubs", "without hubs"):
        start = page.index(f"| simulated, {kind} |")
        cells = [cell.strip() for cell in page[start : page.index("\n", start)].split("|")]
        for value in (cells[3], cells[5], cells[7]):  # forests, one restart, the default
            assert value in " ".join(readme.split()), (kind, value)
