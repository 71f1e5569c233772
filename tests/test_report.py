"""The report: numbers that fit the result, words that fit the numbers, a page that escapes all."""

from __future__ import annotations

import dataclasses
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.tree import DecisionTreeClassifier

import mainstay as ms
from hostile import HOSTILE, hostile_runs
from mainstay.cli import main
from mainstay.report.render import render
from mainstay.report.repeat import cli_line, python_code
from mainstay.report.summarise import DIGITS, readable, summarise
from mainstay.report.verdict import make_verdict
from mainstay.report.verdict_runs import HEADLINES
from mainstay.report.verdict_studies import STUDY_HEADLINES

X, Y = load_breast_cancer(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def selector() -> ms.EnsembleSelector:
    return ms.EnsembleSelector(
        DecisionTreeClassifier(), n_features_to_select=6, n_resamples=30, random_state=0
    ).fit(X, Y)


@pytest.fixture(scope="module")
def summary(selector: ms.EnsembleSelector) -> dict[str, Any]:
    return summarise(selector.result())


def embedded(page: str) -> Any:
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page)
    return json.loads(text)


class Elements(HTMLParser):
    """Every start tag of a page, with its attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


# ---------------------------------------------------------------------- numbers


def test_the_summary_has_the_numbers_of_the_result(
    selector: ms.EnsembleSelector, summary: dict[str, Any]
) -> None:
    table, features = selector.feature_table_, summary["features"]
    assert features["name"] == list(table["feature"])
    np.testing.assert_allclose(np.array(features["count"]) / 30, table["frequency"])
    np.testing.assert_allclose(features["mean_rank"], table["mean_rank"], atol=0.005)
    np.testing.assert_allclose(np.array(features["group_count"]) / 30, table["group_frequency"])
    assert summary["stability"]["value"] == pytest.approx(float(selector.stability_), abs=1e-4)
    json.dumps(summary, allow_nan=False)


def test_two_runs_share_what_is_counted_by_hand() -> None:
    runs = ms.Runs.from_sets([[0, 1, 2], [0, 1], [0, 4]], features=10)
    chance = summarise(ms.SelectionResult.from_runs(runs))["chance"]
    assert chance["shared"] == pytest.approx((2 + 1 + 1) / 3)
    assert chance["expected"] == pytest.approx((3 * 2 + 3 * 2 + 2 * 2) / 3 / 10)
    assert chance["frequency"] == pytest.approx(7 / 3 / 10)


@pytest.mark.parametrize("p", [2, 5, 24, 25, 300])
def test_histograms_count_every_rank_in_its_bin(p: int) -> None:
    rng = np.random.default_rng(p)
    runs = ms.Runs.from_scores(rng.normal(size=(40, p)))
    features = summarise(ms.SelectionResult.from_runs(runs))["features"]
    edges = features["edges"]
    assert edges[0] == 1
    assert edges[-1] == p + 1
    first = runs.features.index(features["name"][0])
    counts = np.histogram(runs.ranks[:, first], bins=edges)[0]
    bars = [DIGITS.index(digit) for digit in features["histogram"][0]]
    assert bars == np.ceil(counts / counts.max() * 63).astype(int).tolist()
    np.testing.assert_allclose(
        features["quantiles"][0], np.quantile(runs.ranks[:, first], [0.05, 0.25, 0.5, 0.75, 0.95]),
        atol=0.051,
    )  # fmt: skip


def test_twins_are_the_most_similar_features(
    selector: ms.EnsembleSelector, summary: dict[str, Any]
) -> None:
    features = summary["features"]
    place = features["name"].index("worst radius")
    named = [features["name"][i] for i, _ in features["twins"][place]]
    correlation = X.corr().abs()["worst radius"].drop("worst radius").sort_values(ascending=False)
    expected = correlation[correlation >= 0.9].index
    assert features["n_twins"][place] == len(expected)
    assert named == list(expected[: len(named)])


def test_more_features_than_fit_are_left_out_and_the_page_says_so(
    selector: ms.EnsembleSelector,
) -> None:
    found = summarise(selector.result(), most_features=10)
    assert len(found["features"]["name"]) == 10
    rest = selector.feature_table_["frequency"].iloc[10:].max()
    assert found["most_frequent_unlisted"] == rest
    page = render(found)
    assert "The 10 best of 30 features are listed" in page
    assert f"more than {100 * rest:.0f}% of the runs" in re.sub(r"\s+", " ", page)
    outside = [twin for twins in found["features"]["twins"] for twin, _ in twins
               if isinstance(twin, str)]  # fmt: skip
    assert set(outside) <= set(selector.feature_table_["feature"].iloc[10:])


@pytest.mark.parametrize("letter", ["x", "語", "<"])
def test_a_page_of_two_thousand_very_long_names_stays_small(tmp_path: Path, letter: str) -> None:
    names = [f"{i} {letter * 2000}" for i in range(2000)]
    runs = ms.Runs.from_scores(np.random.default_rng(0).normal(size=(5, 2000)), names)
    ms.write_report(runs, tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size < 1_500_000
    shown = embedded((tmp_path / "report.html").read_text())["features"]["name"]
    assert len(set(shown)) == 2000


# ---------------------------------------------------------------------- words


def estimate(value: float | None, lower: float | None = None, upper: float | None = None) -> Any:
    return {"measure": "nogueira", "value": value, "lower": lower, "upper": upper,
            "confidence": 0.95}  # fmt: skip


def forecast(protocol: str = "nested", **changes: Any) -> Any:
    given = {"protocol": protocol, "measure": "jaccard", "single": 0.2, "plateau": 0.5,
             "worthwhile": 64, "at_worthwhile": 0.5,
             "here": {"size": 100, "stability": 0.5}}  # fmt: skip
    return given | changes


@pytest.mark.parametrize(
    ("changes", "headline"),
    [
        ({"stability": estimate(0.9, 0.85, 0.95)}, "good"),
        ({"stability": estimate(0.5, 0.4, 0.6)}, "fair"),
        ({"stability": estimate(0.2, 0.1, 0.3), "adjusted": None}, "poor"),
        ({"stability": estimate(0.05, -0.02, 0.12), "adjusted": None}, "chance"),
        ({"stability": estimate(-0.2), "adjusted": None}, "chance"),
        ({"stability": estimate(None), "adjusted": None}, "undefined"),
        ({"stability": estimate(0.3, 0.2, 0.4), "adjusted": estimate(0.8, 0.7, 0.9)}, "groups"),
        ({"stability": estimate(0.9), "adjusted": estimate(0.95)}, "good"),
        ({"stability": estimate(0.3, 0.2, 0.4), "adjusted": None,
          "forecast": forecast(here={"size": 100, "stability": 0.8})}, "combined"),
        ({"stability": estimate(0.3, 0.2, 0.4), "adjusted": None,
          "forecast": forecast("flat", here={"size": 100, "stability": 0.99})}, "poor"),
    ],
)  # fmt: skip
def test_the_headline_follows_the_stability(
    summary: dict[str, Any], changes: dict[str, Any], headline: str
) -> None:
    verdict = make_verdict({**summary, **changes})
    assert verdict.headline == HEADLINES[headline].format(n="3 groups of twins")


def points(summary: dict[str, Any]) -> dict[str, str]:
    verdict = make_verdict(summary)
    return {point["title"]: point["text"] for point in verdict.points + verdict.advice}


def test_the_verdict_names_numbers_chance_and_twins(summary: dict[str, Any]) -> None:
    said = points(summary)
    value, low = summary["stability"]["value"], summary["stability"]["lower"]
    assert (
        f"{value:.2f} (95% interval {low:.2f} to" in said["Agreement between runs on the same rows"]
    )
    assert "Two random selections of that size would share 1.2." in said["Compared with chance"]
    assert "have a twin" in said["Treating twins as one"]
    assert "compare_selectors" in said["Compared with a baseline"]
    assert "6 of 30 features were selected from 30 runs of DecisionTreeClassifier" in (
        make_verdict(summary).lead)  # fmt: skip


def test_every_selected_feature_is_in_one_tier(summary: dict[str, Any]) -> None:
    tiers = make_verdict(summary).tiers
    assert sum(tier["n"] for tier in tiers) == len(summary["selected"]) == 6
    named = [name for tier in tiers for name in tier["names"]]
    assert sorted(named) == sorted(feature["name"] for feature in summary["selected"])


def test_advice_depends_on_what_the_forecast_says(summary: dict[str, Any]) -> None:
    unknown = points({**summary, "forecast": None})
    assert "no forecast was made" in unknown["A bigger ensemble"]
    assert "ms.replicability(selector, X, y)" in unknown["More samples"]
    enough = points({**summary, "forecast": forecast()})
    assert "bring little" in enough["A bigger ensemble"]
    assert "at most 0.50 (jaccard)" in enough["More samples"]
    worth = points({**summary, "forecast": forecast(worthwhile=400, at_worthwhile=0.7)})
    assert "400 runs instead of 100" in worth["A bigger ensemble"]
    assert "from 0.50 to 0.70" in worth["A bigger ensemble"]
    flat = points({**summary, "forecast": forecast("flat")})
    assert "cannot tell" in flat["More samples"]
    single = flat["Compared with a single run"]
    assert "two single runs, each on one resample, is 0.20" in single
    assert "A single run on all rows was not compared" in single
    overlapping = points({**summary, "forecast": forecast("overlapping")})
    assert "halves of the data that overlap" in overlapping["Compared with a single run"]


@pytest.mark.parametrize(
    "runs",
    [
        ms.Runs.from_sets([[], []], features=["a", "b"]),
        ms.Runs.from_sets([["a", "b"], ["a", "b"]], features=["a", "b"]),
        ms.Runs.from_sets([["a"], ["a"]], features=["a"]),
        ms.Runs.from_scores([[1.0], [2.0]]),
        ms.Runs.from_scores(np.zeros((3, 4))),
        ms.Runs.from_ranks([[1, 2, 3], [3, 2, 1]]),
    ],
    ids=["empty", "all", "one feature", "one score", "ties", "opposite ranks"],
)
def test_extreme_runs_have_a_report_too(runs: ms.Runs, tmp_path: Path) -> None:
    ms.write_report(runs, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "nan" not in re.findall(r"<main>(.*)</main>", page, flags=re.DOTALL)[0]
    assert len(embedded(page)["features"]["name"]) == runs.n_features


def test_a_selection_of_nothing_says_so(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).normal(size=(40, 30))
    selector = ms.EnsembleSelector(
        "f_statistic", n_features_to_select="frequency>=1", n_resamples=20, random_state=0
    ).fit(noise, np.arange(40) % 2)
    assert selector.n_features_ == 0
    ms.write_report(selector, tmp_path / "report.html")
    assert "No feature was selected." in (tmp_path / "report.html").read_text()


# ---------------------------------------------------------------------- another study


def studied(X: Any, y: Any, ranker: str = "f_statistic", **options: Any) -> ms.SelectionResult:
    """A selection whose replicability was estimated, for ensembles and for single runs."""
    selector = ms.EnsembleSelector(ranker, n_features_to_select=5, n_resamples=20, random_state=0)
    given = {"n_pairs": 20, "n_splits": 5, "random_state": 0, **options}
    ensembles = ms.replicability(selector, X, y, ensemble_size=5, **given)
    found = ensembles.compared_with(ms.replicability(selector, X, y, **given))
    return selector.fit(X, y).result(replicability=found)


@pytest.fixture(scope="module")
def noise() -> ms.SelectionResult:
    return studied(np.random.default_rng(0).normal(size=(60, 200)), np.arange(60) % 2)


@pytest.fixture(scope="module")
def signal() -> ms.SelectionResult:
    y = np.arange(200) % 2
    X = np.random.default_rng(0).normal(size=(200, 50))
    X[:, :5] += 3 * y[:, None]
    return studied(X, y)


def everything_said(summary: dict[str, Any]) -> str:
    verdict = make_verdict(summary)
    parts = [point["text"] for point in verdict.points + verdict.advice]
    return " ".join([verdict.headline, verdict.lead, *parts])


def test_on_noise_nothing_says_that_another_study_would_find_it(noise: ms.SelectionResult) -> None:
    found = summarise(noise)
    verdict = make_verdict(found)
    assert noise.stability.interval[0] > 0  # what runs on the same rows agree on
    assert found["replicability"]["lower"] <= 0
    assert verdict.headline == STUDY_HEADLINES["nothing"]
    assert verdict.tone == "care"
    assert verdict.lead.startswith("Two independent studies of 30 rows each")
    assert "nothing says that another study would find any of these" in verdict.lead
    said = points(found)
    assert "interval of the agreement includes 0" in said["Would another study agree?"]
    assert "cannot tell whether more would help" in said["More samples"]


def test_a_strong_signal_is_found_by_another_study(signal: ms.SelectionResult) -> None:
    found = summarise(signal)
    verdict = make_verdict(found)
    assert verdict.headline == STUDY_HEADLINES["most"]
    assert verdict.tone == "calm"
    low, high = signal.replicability.interval
    assert f"95% interval {low:.2f} to {high:.2f}" in verdict.lead
    assert "An agreement of 0.75 is reached already." in points(found)["More samples"]


def test_without_replicability_nothing_is_claimed_about_other_studies(
    summary: dict[str, Any], signal: ms.SelectionResult
) -> None:
    stable = {**summarise(signal), "replicability": None}
    for found in (summary, stable):
        assert make_verdict(found).headline in HEADLINES.values()
        assert points(found)["Would another study agree?"].startswith("Not computed.")
        said = everything_said(found)
        for claim in ("studies", "laborator", "would find the same", "build on", "defend", "solid"):
            assert claim not in said
    assert not any("study" in headline for headline in HEADLINES.values())


def studies(value: float, lower: float, upper: float, **changes: Any) -> dict[str, Any]:
    given = {
        "value": value, "lower": lower, "upper": upper, "confidence": 0.95, "corrected": True,
        "measure": "nogueira", "of_selections": True, "n": 200, "n_rows": 100, "gain": None,
        "at_n": {"value": 0.6, "lower": lower, "upper": 0.9}, "wanted": 0.75,
        "rows_wanted": [150.0, 900.0], "statement": "Two studies would agree.",
    }  # fmt: skip
    return given | changes


@pytest.mark.parametrize(
    ("found", "headline"),
    [
        (studies(0.9, 0.7, 0.95), STUDY_HEADLINES["most"]),
        (studies(0.8, 0.4, 0.95), STUDY_HEADLINES["part"]),
        (studies(0.5, 0.2, 0.8), STUDY_HEADLINES["part"]),
        (studies(0.2, 0.05, 0.4), STUDY_HEADLINES["few"]),
        (studies(0.8, -0.01, 0.95), STUDY_HEADLINES["nothing"]),
        (studies(0.8, 0.6, 0.95, corrected=False, measure="jaccard"),
         "Two independent studies would agree to 0.80 (jaccard)."),
        (studies(0.0, 0.0, 0.1, corrected=False, measure="jaccard"),
         "Two independent studies would agree to 0.00 (jaccard)."),
        (studies(0.8, 0.6, 0.95, of_selections=False, measure="kendall"),
         "Two independent studies would agree to 0.80 (kendall)."),
    ],
)  # fmt: skip
def test_the_headline_follows_the_replicability_not_the_runs(
    summary: dict[str, Any], found: dict[str, Any], headline: str
) -> None:
    given = {**summary, "stability": estimate(0.99, 0.98, 1.0), "replicability": found}
    assert make_verdict(given).headline == headline


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ([150.0, 912.0], "For 0.75, each needs roughly 150 to 910 rows."),
        ([150.0, 1e9], "each needs at least 150 rows; how many at most, these data cannot tell."),
        ([150.0, None], "each needs at least 150 rows; how many at most, these data cannot tell."),
        ([None, None], "How many rows an agreement of 0.75 needs, they cannot tell."),
        ([100.0, 100.0], "An agreement of 0.75 is reached already."),
    ],
)
def test_rows_are_planned_only_as_far_as_the_data_reach(
    summary: dict[str, Any], wanted: list[float | None], words: str
) -> None:
    found = {**summary, "replicability": studies(0.5, 0.2, 0.8, rows_wanted=wanted)}
    assert points(found)["More samples"].endswith(words)


def test_the_page_shows_studies_of_ensembles_and_of_single_runs(signal: ms.SelectionResult) -> None:
    page = render(summarise(signal))
    assert "Would another study find the same features?" in page
    assert signal.replicability.summary() in page.replace("&#39;", "'")
    assert "The ensemble does not help" in page
    dots = [at for tag, at in Elements(page).found if "study-dot" in (at.get("class") or "")]
    observed = [at for at in dots if at["class"] == "study-dot"]
    assert len(dots) == 2 * len(signal.replicability.table)
    assert len(observed) == len(dots) - 2  # one extrapolation each
    low, high = (float(str(observed[i]["cy"]).rstrip("%")) for i in (0, 2))
    agreement = signal.replicability.table["agreement"]
    assert low - high == pytest.approx(100 * (agreement[2] - agreement[0]), abs=0.02)
    for value in signal.replicability.table["n_rows"]:
        assert f"<td>{value:,}" in page


def test_without_replicability_the_page_has_no_such_section(summary: dict[str, Any]) -> None:
    assert 'id="replicability"' not in render(summary)


def test_a_saved_replicability_comes_back(signal: ms.SelectionResult, tmp_path: Path) -> None:
    signal.save(tmp_path / "result.zip")
    back = ms.load_result(tmp_path / "result.zip")
    assert back.replicability.summary() == signal.replicability.summary()
    assert back.replicability.gain == signal.replicability.gain
    assert render(summarise(back)) == render(summarise(signal))


def test_a_replicability_can_be_given_to_the_report(
    signal: ms.SelectionResult, selector: ms.EnsembleSelector, tmp_path: Path
) -> None:
    single = signal.replicability.single
    with pytest.raises(ms.InputError, match="both must come from the same table"):
        ms.write_report(selector, tmp_path / "page.html", replicability=single)
    without = dataclasses.replace(signal, replicability=None)
    ms.write_report(without, tmp_path / "page.html", replicability=single)
    page = (tmp_path / "page.html").read_text()
    assert "with the ranker alone" in page
    assert 'class="study-dot"' in page


# ---------------------------------------------------------------------- comparison


@pytest.fixture(scope="module")
def compared(selector: ms.EnsembleSelector) -> ms.SelectionResult:
    found = ms.compare_selectors(
        ["f_statistic", "information_gain"], X, Y, sizes=[2, 5], n_resamples=3, random_state=0
    )
    return selector.result(comparison=found)


def test_the_comparison_is_on_the_page_with_its_baselines(compared: ms.SelectionResult) -> None:
    found = summarise(compared)
    said = points(found)["Compared with a baseline"]
    assert f"{compared.comparison.recommended} is recommended" in said
    assert "all features" in said
    page = render(found)
    for name in compared.comparison.table["candidate"]:
        assert name in page
    assert found["comparison"]["n_candidates"] == compared.comparison.n_candidates
    counted = compared.comparison.counted
    assert counted in page
    assert counted in repr(compared.comparison)
    assert f"Of {compared.comparison.n_candidates} candidates" in compared.comparison.reason


def test_a_saved_comparison_comes_back_without_its_times(
    compared: ms.SelectionResult, tmp_path: Path
) -> None:
    compared.save(tmp_path / "result.zip")
    back = ms.load_result(tmp_path / "result.zip").comparison
    assert back.table["seconds"].isna().all()
    assert back.table.drop(columns="seconds").equals(
        compared.comparison.table.drop(columns="seconds")
    )
    assert back.settings == compared.comparison.settings
    assert back.reason == compared.comparison.reason
    assert list(back.runs) == list(compared.comparison.runs)
    assert render(summarise(compared)) == render(summarise(ms.load_result(tmp_path / "result.zip")))


# ---------------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("plain", "plain"),
        (" a", "␣a"),
        ("a  ", "a␣␣"),
        ("  ", "␣␣"),
        ("", "(empty name)"),
        ("\u202eabc", "\\u202eabc"),
        ("a\nb\tc\x00", "a\\u000ab\\u0009c\\u0000"),
        ("\ud800", "\\ud800"),
        ("日本語", "日本語"),
        ("x" * 300, "x" * 199 + "… (300 characters)"),
    ],
)
def test_names_are_made_visible(name: str, shown: str) -> None:
    assert readable(name) == shown


def test_names_that_look_the_same_are_told_apart() -> None:
    features = summarise(ms.SelectionResult.from_runs(hostile_runs()))["features"]
    labels = [features["label"].get(i, name) for i, name in enumerate(features["name"])]
    assert len(set(labels)) == len(HOSTILE)
    assert sorted(features["name"]) == sorted(HOSTILE)


def test_no_name_becomes_an_element(tmp_path: Path) -> None:
    runs = hostile_runs()
    ms.write_report(ms.SelectionResult.from_runs(runs, n_features_to_select=len(HOSTILE) - 1),
                    tmp_path / "report.html", title="<b>title</b> & </title>")  # fmt: skip
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    tags = [tag for tag, _ in Elements(page).found]
    assert tags.count("script") == 2
    assert not {"img", "b", "object", "embed", "link", "form"} & set(tags)
    assert not any(name.startswith("on") for _, attributes in Elements(page).found
                   for name in attributes)  # fmt: skip
    assert sorted(embedded(page)["features"]["name"]) == sorted(HOSTILE)
    assert "&lt;b&gt;title&lt;/b&gt; &amp; &lt;/title&gt;" in page


def test_hostile_settings_are_escaped_too(selector: ms.EnsembleSelector, tmp_path: Path) -> None:
    found = selector.result(source={"file": "<script>.csv", "target": "</code><img src=x>"})
    ms.write_report(found, tmp_path / "report.html")
    assert "img" not in {tag for tag, _ in Elements((tmp_path / "report.html").read_text()).found}


def test_the_page_refers_to_nothing_outside(summary: dict[str, Any]) -> None:
    page = render(summary)
    for _, attributes in Elements(page).found:
        assert not {"src", "srcset", "action", "poster"} & set(attributes)
        assert attributes.get("href", "#")[0] == "#"
    assert "url(" not in page
    assert "default-src 'none'" in page
    assert len(page) < 100_000


def test_the_same_result_gives_the_same_page(selector: ms.EnsembleSelector) -> None:
    assert render(summarise(selector.result())) == render(summarise(selector.result()))


# ---------------------------------------------------------------------- repeat it


def test_the_python_of_the_page_makes_the_same_selector(selector: ms.EnsembleSelector) -> None:
    code = python_code(selector.result().settings)
    assert code is not None
    space: dict[str, Any] = {"X": X, "y": Y}
    exec(code.replace('ms.write_report(selector, "report.html")', ""), space)
    np.testing.assert_array_equal(space["selector"].ranking_.scores, selector.ranking_.scores)


def test_results_saved_before_changed_parameters_were_noted_can_be_repeated() -> None:
    selector = ms.EnsembleSelector("f_statistic", n_resamples=5, random_state=3).fit(X, Y)
    settings = {**selector.result().settings, "source": {"file": "x.csv", "target": "y"}}
    del settings["changed_parameters"]
    space: dict[str, Any] = {"X": X, "y": Y}
    exec((python_code(settings) or "").partition(").fit")[0] + ")", space)
    assert space["selector"].get_params() == selector.get_params()
    line = cli_line(settings)
    assert line is not None
    assert "None" not in line


def test_several_rankers_are_repeated_by_python() -> None:
    rankers = ["f_statistic", DecisionTreeClassifier(max_depth=2)]
    result = ms.EnsembleSelector(rankers, n_resamples=5, random_state=3).fit(X, Y).result()
    code = python_code(result.settings)
    assert code is not None
    assert "from sklearn.tree import DecisionTreeClassifier" in code
    assert "['f_statistic', DecisionTreeClassifier(max_depth=2)]" in code
    assert cli_line(result.settings | {"source": {"file": "x.csv", "target": "y"}}) is None


def test_runs_made_elsewhere_cannot_be_repeated() -> None:
    assert python_code(ms.SelectionResult.from_runs(hostile_runs()).settings) is None


# ---------------------------------------------------------------------- command line


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    iris = load_iris(as_frame=True)
    iris.data.assign(species=iris.target_names[iris.target]).to_csv("my iris.csv", index=False)
    return tmp_path


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(main, list(arguments))
    assert not result.exception or isinstance(result.exception, SystemExit), result.exception
    return result


def test_select_writes_the_page_and_the_result_and_report_renders_it_again(in_folder: Path) -> None:
    result = run("select", "my iris.csv", "--target", "species", "--n-features", "2", "--resamples",
                 "20", "--report", "page.html", "--save", "result.zip")  # fmt: skip
    assert result.exit_code == 0
    assert "Written: page.html" in result.stdout
    assert run("report", "result.zip").stdout == "The report is in report.html.\n"
    page = Path("page.html").read_text()
    assert Path("report.html").read_text() == page
    assert 'id="forecast-plot"' in page
    assert "agreement between ensembles on resamples of the same data" in page


def test_the_command_on_the_page_gives_the_same_result(in_folder: Path) -> None:
    import shlex

    run("select", "my iris.csv", "--target", "species", "--n-features", "2", "--resamples", "9",
        "--ranker", "f_statistic", "--ranker", "information_gain", "--seed", "7", "--threshold",
        "0.8", "--drop", "sepal width (cm)", "--save", "result.zip")  # fmt: skip
    line = cli_line(ms.load_result("result.zip").settings)
    assert line is not None
    _, *words = shlex.split(line)
    assert run(*words, "--save", "again.zip").exit_code == 0
    assert Path("again.zip").read_bytes() == Path("result.zip").read_bytes()


def test_select_without_being_asked_writes_nothing(in_folder: Path) -> None:
    run("select", "my iris.csv", "--target", "species", "--resamples", "5")
    assert [path.name for path in in_folder.iterdir()] == ["my iris.csv"]


def test_report_takes_what_replicate_saved_and_no_other_table(in_folder: Path) -> None:
    options = ["--target", "species", "--n-features", "2", "--ranker", "f_statistic"]
    run("select", "my iris.csv", *options, "--resamples", "9", "--save", "result.zip")
    run("replicate", "my iris.csv", *options, "--pairs", "5", "--splits", "5", "--ensemble-size",
        "3", "--save", "studies.zip")  # fmt: skip
    assert run("report", "result.zip", "studies.zip").stdout == "The report is in report.html.\n"
    page = Path("report.html").read_text()
    assert ms.load_result("studies.zip").statement in page
    assert "These were ensembles of 3 runs; this result has 9." in page
    frame = pd.read_csv("my iris.csv").drop(columns="sepal width (cm)")
    frame.to_csv("other.csv", index=False)
    run("select", "other.csv", *options, "--resamples", "9", "--save", "other.zip")
    refused = run("report", "other.zip", "studies.zip")
    assert refused.exit_code == 2
    assert "150 rows × 4 features, and the result of 150 rows × 3" in refused.stderr
    assert "holds a Replicability, not a selection" in run("report", "studies.zip").stderr


def test_report_reads_runs_as_well(in_folder: Path) -> None:
    hostile_runs().save("runs.parquet")
    assert run("report", "runs.parquet", "-o", "runs.html", "--title", "My runs").exit_code == 0
    assert "<h1>My runs</h1>" in Path("runs.html").read_text()


def test_report_says_what_it_cannot_open(in_folder: Path) -> None:
    assert "no file 'nothing.zip'" in run("report", "nothing.zip").stderr
    ms.forecast_stability(
        hostile_runs(), protocol="flat", n_features_to_select=3, random_state=0
    ).save("forecast.zip")
    result = run("report", "forecast.zip")
    assert result.exit_code == 2
    assert "holds a Forecast, not a selection" in result.stderr


@pytest.mark.parametrize("wrong", ["report.pdf", "report"])
def test_a_report_is_an_html_file(summary: dict[str, Any], tmp_path: Path, wrong: str) -> None:
    with pytest.raises(ms.InputError, match=r"an \.html file, got"):
        ms.write_report(hostile_runs(), tmp_path / wrong)


def test_only_results_are_reported(tmp_path: Path) -> None:
    with pytest.raises(ms.InputError, match=r"fitted EnsembleSelector.*got dict"):
        ms.write_report({}, tmp_path / "report.html")


def test_evidence_given_to_runs_made_elsewhere_is_on_the_page(
    selector: ms.EnsembleSelector, tmp_path: Path
) -> None:
    evidence = ms.feature_evidence(selector, X, Y, n_permutations=10, random_state=0)
    result = ms.SelectionResult.from_runs(selector.runs_, evidence=evidence)
    assert result.evidence is evidence
    assert 'id="evidence"' in render(summarise(result))


def test_runs_too_few_for_an_interval_are_told_so() -> None:
    runs = ms.Runs.from_sets([["a", "b"], ["a", "c"], ["a", "b"]], features=list("abcdef"))
    said = str(ms.SelectionResult.from_runs(runs).verdict)
    assert "(an interval needs at least 5 runs)" in said


def test_ensembles_of_another_size_than_the_result_are_called_that(
    summary: dict[str, Any],
) -> None:
    found = {**studies(0.5, 0.2, 0.8), "gain": "The ensemble helps.", "ensemble_size": 20}
    here = summary["n_runs"]
    text = points({**summary, "replicability": found})["Compared with a single run"]
    assert text == f"The ensemble helps. These were ensembles of 20 runs; this result has {here:,}."
    found["ensemble_size"] = here
    text = points({**summary, "replicability": found})["Compared with a single run"]
    assert text == "The ensemble helps."
