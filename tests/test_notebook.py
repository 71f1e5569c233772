"""In a notebook every result shows what it says, and names can do no harm."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd
import pytest

import mainstay as ms
from hostile import HOSTILE
from mainstay._notebook import card

ALLOWED = {"div", "strong", "p", "table", "thead", "tbody", "tr", "th", "td"}


class Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.add(tag)
        assert {name for name, _ in attrs} <= {"style", "scope"}

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(48, 8)), columns=[f"<b>{i}</b>" for i in range(8)])
    y = (X.iloc[:, 0] > 0).to_numpy().astype(int)
    selector = ms.EnsembleSelector(
        "f_statistic", n_features_to_select=2, n_resamples=20, random_state=0
    ).fit(X, y)
    return {
        "runs": selector.runs_,
        "selections": selector.selections_,
        "estimate": selector.stability_,
        "forecast": selector.forecast(ensemble_sizes=[1, 5], random_state=0),
        "replicability": ms.replicability(selector, X, y, random_state=0),
        "evidence": ms.feature_evidence(selector, X, y, n_permutations=10, random_state=0),
        "verdict": selector.result().verdict,
    }


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("runs", "20 runs × 8 features"),
        ("selections", "selections of 2 features each"),
        ("estimate", "nogueira"),
        ("forecast", "resamples would give"),
        ("replicability", "rows"),
        ("evidence", "permutations"),
        ("verdict", "The list holds the 2 best features"),
    ],
)
def test_every_result_has_a_card_that_says_what_it_found(
    results: dict[str, Any], name: str, said: str
) -> None:
    tags = Tags(results[name]._repr_html_())
    assert tags.found <= ALLOWED
    assert said in tags.text
    if name in ("runs", "selections", "evidence"):
        assert "<b>0</b>" in tags.text  # a name, shown as it is


def test_hostile_names_stay_text() -> None:
    names = list(HOSTILE)
    page = ms.Runs.from_sets([names[:2], names[1:3]], features=names)._repr_html_()
    assert Tags(page).found <= ALLOWED


def test_a_long_table_is_cut_and_the_rest_counted() -> None:
    table = pd.DataFrame({"x": np.arange(25.0)})
    tags = Tags(card("title", table=table))
    assert "and 15 more rows" in tags.text
    assert "24" not in tags.text
