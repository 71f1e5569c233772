"""The overview of the papers says what the result files say."""

from __future__ import annotations

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


def test_numbers_are_the_same_within_two_standard_errors_of_the_difference(
    index: ModuleType,
) -> None:
    # ten repetitions on both sides: the standard error of the difference is 0.1·√(2/10) = 0.045
    assert index.numbers("| 1.00 ± 0.10 (1.08) |") == (1, 1)
    assert index.numbers("| 1.00 ± 0.10 (1.10) |") == (0, 1)
    assert index.numbers("| 0.192 at λ = 50 (0.19) | 0.246 at λ = 50 (0.28) |") == (1, 2)
    assert index.numbers("| – (0.28) |") == (0, 0)


def test_orders_of_average_ranks_are_compared(index: ModuleType) -> None:
    text = "ours: p = 2e-02; average ranks {}. paper: p = 1e-03; average ranks {} (p in the text)."
    assert index.rank_orders(text.format("RF 1.40, GBDT 2.70", "RF 1.87, GBDT 3.70")) is True
    assert index.rank_orders(text.format("RF 1.40, GBDT 2.70", "GBDT 2.07, RF 2.30")) is False
    assert index.rank_orders("no ranks here") is None


def test_the_number_of_measures_is_the_one_that_the_pages_name() -> None:
    number = len(ms.list_measures())
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"**{number} stability measures**" in readme
    assert f"These are {number} measures" in (ROOT / "docs/measures.md").read_text(encoding="utf-8")
