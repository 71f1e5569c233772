"""What README and docstrings say is what happens."""

from __future__ import annotations

import doctest
import importlib
import json
import pkgutil
import re
import runpy
from pathlib import Path

import pytest

import mainstay
import mainstay as ms
from conftest import ROOT
from mainstay.ensemble.feature_table import COLUMNS
from mainstay.plotting import Display
from pages import DOCS, pages, run_page
from test_layers import LAYERS

README = (ROOT / "README.md").read_text(encoding="utf-8")
MODULES = [
    info.name
    for info in pkgutil.walk_packages(mainstay.__path__, "mainstay.")
    if not info.name.startswith("mainstay._kernels")
]


@pytest.mark.parametrize("name", MODULES)
def test_doctests(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_every_public_name_has_an_example_or_is_a_result() -> None:
    results = {"Comparison", "FeatureEvidence", "Forecast", "InputError", "NetworkStability",
               "Plan", "Ranking", "Replicability", "SelectionScores", "StabilityComparison",
               "StabilityEstimate", "StabilityTest"}  # fmt: skip
    for name in set(ms.__all__) - results - {"__version__"}:
        assert ">>> " in getattr(ms, name).__doc__, name


def test_python_of_the_readme_runs_and_prints_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    compared: list[str] = []

    def compare(shown: str | None, printed: str) -> None:
        if shown is not None:
            assert printed == shown
            compared.append(shown)

    def compare_remark(remark: str, printed: str) -> None:
        assert agrees(remark, printed.removesuffix("\n")), (remark, printed)
        compared.append(remark)

    run_page(README, compare, compare_remark)
    assert len(compared) >= 7


def agrees(remark: str, printed: str) -> bool:
    """Whether a remark is what was printed; after "..." at its end may follow what differs."""
    start, dots, rest = remark.partition("...")
    if dots:
        return not rest and len(start) > 20 and printed.startswith(start)
    return printed == remark


def test_a_remark_is_all_that_is_printed_or_says_where_it_stops() -> None:
    assert agrees("nogueira: 0.4", "nogueira: 0.4")
    assert agrees("No ensemble reaches 0.9. ...", "No ensemble reaches 0.9. It took 3 s.")
    for remark in ("nogueira: 0.", "nogueira: 0.4 ", "...", "nogueira: ..."):
        assert not agrees(remark, "nogueira: 0.4")


def test_table_of_measures_in_the_documentation_is_the_registry() -> None:
    page = (DOCS / "measures.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"<!-- measures -->\n(.*?)<!-- /measures -->", page, flags=re.DOTALL)
    assert table == measures_table()


def measures_table() -> str:
    """The table of measures, from `list_measures()`."""
    properties = [
        "limits", "monotonicity", "correction_for_chance", "unconstrained_cardinality", "symmetry",
        "redundancy_awareness",
    ]  # fmt: skip
    kinds = {"set": "selections", "similarity": "selections with similar features",
             "ranking": "rankings", "scores": "scores",
             "importances": "importances of selected features"}  # fmt: skip
    lines = ["| measure | of | bounds | 1 | 2 | 3 | 4 | 5 | 6 | reference |", "|---" * 10 + "|"]
    for row in ms.list_measures().to_dict("records"):
        bounds = f"{row['lower']:g} to {row['upper']:g}".replace("inf", "∞").replace("-", "−")
        ticks = " | ".join({True: "✓", False: ""}.get(row[name], "–") for name in properties)
        lines.append(
            f"| `{row['name']}` | {kinds[row['kind']]} | {bounds} | {ticks} | {row['reference']} |"
        )
    return "\n".join(lines) + "\n"


def test_ci_runs_exactly_the_commands_of_the_readme() -> None:
    commands = re.findall(r"^python3 -m venv .*$", README, flags=re.MULTILINE)
    script = (ROOT / ".ci" / "run").read_text().splitlines()
    assert len(commands) == 2
    for command in commands:
        assert command in script


def test_the_layers_of_the_page_are_those_that_are_tested() -> None:
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    (listed,) = re.findall(r"## Layers\n.*?```text\n(.*?)```", page, flags=re.DOTALL)
    described = [set(re.findall(r"\w+", line.split("  ")[0])) for line in listed.splitlines()]
    tested = [set(line.split()) for line in LAYERS.strip().splitlines()]
    assert described == tested[:-1]  # without mainstay itself
    for name in set().union(*described):
        path = Path(mainstay.__path__[0]) / name
        assert path.is_dir() == (f"{name}/" in listed.replace(",", " ").split()), name


def test_citation_and_changelog_know_the_version() -> None:
    version = re.escape(ms.__version__)
    for file, line in (
        ("CITATION.cff", f"version: {version}"),
        ("CHANGELOG.md", rf"## \[{version}\]"),
    ):
        text = (ROOT / file).read_text(encoding="utf-8")
        assert re.search(f"^{line}", text, re.MULTILINE), file


@pytest.mark.parametrize("path", pages(), ids=lambda path: path.relative_to(DOCS).as_posix())
def test_python_of_the_pages_runs_and_prints_what_they_show(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def compare(shown: str | None, printed: str) -> None:
        if shown is not None:
            assert printed == shown

    run_page(path.read_text(encoding="utf-8"), compare)


def test_a_page_that_shows_something_else_is_found_out() -> None:
    seen: list[tuple[str | None, str]] = []
    page = "```python\nx = 1\nprint(x)\n```\n\n```text\n2\n```\n\n```python\ny = x\n```\n"
    corrected = run_page(page, lambda shown, printed: seen.append((shown, printed)))
    assert seen == [("2\n", "1\n"), (None, "")]
    assert corrected == page.replace("2", "1")


def test_commands_are_run_where_the_python_before_them_left_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = (
        "```python\nfrom pathlib import Path\n"
        "Path('runs.csv').write_text('a,b,c\\n1,1,0\\n1,0,1\\n')\n```\n\n"
        "<!-- prints: mainstay stability runs.csv -m jaccard -->\n\n```text\nold\n```\n\n"
        "```sh\nmainstay nonsense\n```\n\nNo output is shown of this one.\n"
    )
    corrected = run_page(page, lambda shown, printed: None)
    assert "0.333" in corrected
    assert "old" not in corrected
    assert corrected.endswith(page[page.index("```sh\nmainstay nonsense") :])


def test_remarks_behind_a_print_are_found_and_others_are_not() -> None:
    remarks: list[tuple[str, str]] = []
    page = "```python\nx = 1  # one\nprint(\n    x\n)  # 1\nprint(x)\nprint(2)  # 3\n```\n"
    run_page(page, lambda shown, printed: None, lambda *found: remarks.append(found))
    assert remarks == [("1", "1\n"), ("3", "2\n")]


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", sorted((DOCS / "examples").glob("plot_*.py")), ids=lambda p: p.stem
)
def test_examples_of_the_gallery_run(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = runpy.run_path(str(path))
    assert any(isinstance(value, Display) for value in made.values())


def test_the_page_about_the_feature_table_is_what_the_code_says() -> None:
    page = (DOCS / "feature_table.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"<!-- columns -->\n(.*?)<!-- /columns -->", page, flags=re.DOTALL)
    assert table == columns_table()


def columns_table() -> str:
    """The table of columns, from `COLUMNS`."""
    rows = [f"| `{name}` | {meaning} |\n" for name, meaning in COLUMNS.items()]
    return "| column | meaning |\n|---|---|\n" + "".join(rows)


def test_the_tour_runs_and_is_stored_without_outputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cells = json.loads((DOCS / "tour.ipynb").read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert len(code) >= 8
    space: dict[str, object] = {"__name__": "tour"}
    for cell in code:
        assert cell["outputs"] == []
        assert cell["execution_count"] is None
        exec("".join(cell["source"]), space)
    assert (tmp_path / "report.html").exists()


def test_every_public_name_is_in_the_api_page() -> None:
    listed = re.findall(r"^   (\w+)$", (DOCS / "api.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(ms.__all__) - {"__version__"} <= set(listed)


def test_every_paper_whose_results_are_there_has_a_page_that_includes_them() -> None:
    for results in (ROOT / "experiments" / "results").glob("*.md"):
        page = DOCS / "papers" / results.name
        assert f"experiments/results/{results.name}" in page.read_text(encoding="utf-8")
