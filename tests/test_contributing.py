"""The recipes of CONTRIBUTING.md work: each adds a toy member to its registry."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from conftest import ROOT
from mainstay.aggregation import AGGREGATIONS, list_aggregations
from mainstay.measures import MEASURES, list_measures
from mainstay.rankers import RANKERS, list_rankers
from pages import run_page

RECIPES = {
    "A measure": (MEASURES, list_measures),
    "An aggregation": (AGGREGATIONS, list_aggregations),
    "A ranker": (RANKERS, list_rankers),
}


def recipe(title: str) -> str:
    """The text of one subsection of "Recipes"."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (recipes,) = re.findall(r"^## Recipes\n(.*?)^## ", text, re.MULTILINE | re.DOTALL)
    sections = dict(re.findall(r"^### (.*?)\n(.*?)(?=^### |\Z)", recipes, re.MULTILINE | re.DOTALL))
    assert list(sections) == list(RECIPES)
    return sections[title]


@pytest.fixture(autouse=True)
def registries() -> Iterator[None]:
    """Leave the registries as they were."""
    before = [(registry, dict(registry)) for registry, _ in RECIPES.values()]
    yield
    for registry, members in before:
        registry.clear()
        registry.update(members)


@pytest.mark.parametrize("title", RECIPES)
def test_a_recipe_adds_a_member_that_is_listed(title: str) -> None:
    registry, listed = RECIPES[title]
    before = set(registry)
    shown_and_printed: list[tuple[Any, str]] = []
    run_page(
        recipe(title),
        lambda *block: shown_and_printed.append(block),
        lambda remark, printed: shown_and_printed.append((f"{remark}\n", printed)),
    )
    assert shown_and_printed, f"the recipe {title!r} has no code"
    for shown, printed in shown_and_printed:
        assert shown in (None, printed)
    added = set(registry) - before
    assert added
    assert added <= set(listed()["name"])
