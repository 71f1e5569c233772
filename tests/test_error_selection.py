"""Selecting by how many false features are tolerated; an empty selection is an answer."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import mainstay as ms
from mainstay.cli import main
from mainstay.ensemble.error_control import CONTROLS
from mainstay.reliability import ErrorRule
from mainstay.report.summarise import summarise
from mainstay.report.verdict import make_verdict

N, P, STRONG = 80, 60, ("f0", "f1", "f2")


def table(effect: float, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.repeat(["a", "b"], N // 2)
    X = rng.normal(size=(N, P))
    X[y == "b", :3] += effect
    return pd.DataFrame(X, columns=[f"f{j}" for j in range(P)]), y


def selector(rule: str, **options) -> ms.EnsembleSelector:
    settings = {"n_resamples": 20, "random_state": 0, **options}
    return ms.EnsembleSelector("f_statistic", n_features_to_select=rule, **settings)


# one noise data set that is also noise by the permutation test
NOISE = table(0.0, seed=3)
SIGNAL = table(2.5)


@pytest.mark.parametrize("rule", ["fdr<=0.1", "fwer<=0.05", "expected_false<=1"])
def test_strong_features_are_named_under_every_rule(rule):
    fitted = selector(rule).fit(*SIGNAL)
    named = set(fitted.get_feature_names_out())
    assert set(STRONG) <= named
    assert fitted.n_features_ == len(named) <= 8
    assert tuple(fitted.evidence_.selected(rule)) == tuple(
        sorted(named, key=fitted.evidence_.table["feature"].tolist().index)
    )
    assert "100 permutations of rows" in fitted.guarantee_
    assert fitted.feature_table_["q_value"].notna().all()


@pytest.mark.parametrize("control", [name for name in CONTROLS if name != "permutation"])
def test_bounds_name_strong_features_from_pairs_without_permutations(control):
    fitted = selector(
        "expected_false<=1", control=control, resampling="pairs", n_resamples=100
    ).fit(*SIGNAL)
    assert set(STRONG) <= set(fitted.get_feature_names_out())
    assert fitted.evidence_ is None
    assert "This assumes independent rows" in fitted.guarantee_
    assert fitted.feature_table_["q_value"].isna().all()


def test_a_bound_on_the_expected_number_bounds_the_probability_of_any():
    options = {"control": "unimodal", "resampling": "pairs", "n_resamples": 100}
    strict = selector("fwer<=0.05", **options).fit(*SIGNAL)
    loose = selector("expected_false<=5", **options).fit(*SIGNAL)
    assert set(strict.get_feature_names_out()) <= set(loose.get_feature_names_out())


def test_l1_paths_are_integrated_over_their_penalties():
    fitted = ms.EnsembleSelector(
        "l1_path", n_features_to_select="fdr<=0.1", control="ipss", resampling="pairs",
        n_resamples=50, random_state=0,
    ).fit(*SIGNAL)  # fmt: skip
    assert "of the largest penalty" in fitted.guarantee_
    assert set(fitted.get_feature_names_out()) >= {"f0"}


def test_q_values_can_be_had_with_any_number_of_features():
    fitted = selector(5, n_permutations=20).fit(*SIGNAL)
    assert fitted.n_features_ == 5
    assert fitted.feature_table_["q_value"].notna().all()
    assert fitted.result().evidence is fitted.evidence_
    assert selector(5).fit(*SIGNAL).evidence_ is None


def test_frequencies_refer_to_as_many_features_as_are_named():
    fitted = selector("fwer<=0.05").fit(*SIGNAL)
    assert (fitted.selections_.sizes == fitted.n_features_).all()
    empty = selector("fwer<=0.05").fit(*NOISE)
    assert (empty.selections_.sizes == P // 10).all()


# ---------------------------------------------------------------------- nothing found


def test_nothing_is_a_valid_answer_everywhere(tmp_path):
    X, y = NOISE
    fitted = selector("fdr<=0.1").fit(X, y)
    assert fitted.n_features_ == 0
    assert len(fitted.get_feature_names_out()) == 0
    with pytest.warns(UserWarning, match="No features were selected"):
        assert fitted.transform(X).shape == (N, 0)
    result = fitted.result()
    assert result.selected == ()
    result.save(tmp_path / "nothing.zip")
    again = ms.load_result(tmp_path / "nothing.zip")
    assert again.evidence.p_value == fitted.evidence_.p_value
    result.write_report(tmp_path / "nothing.html")
    page = (tmp_path / "nothing.html").read_text("utf-8")
    assert "Nothing was found that noise would not give" in page
    verdict = make_verdict(summarise(again))
    assert verdict.headline == "Nothing was found that noise would not give."
    assert verdict.advice[0]["title"] == "What could change that"


def test_a_bound_that_nothing_passes_is_said_to_be_cautious(tmp_path):
    bounded = {"control": "meinshausen-buehlmann", "resampling": "pairs"}
    fitted = selector("fwer<=0.05", **bounded).fit(*NOISE)
    assert fitted.n_features_ == 0
    verdict = fitted.result().verdict
    assert verdict.headline == "No feature can be named under fwer<=0.05."
    assert verdict.points[0]["text"] == fitted.guarantee_
    assert "permuted targets" in verdict.advice[0]["text"]
    assert "noise gives as much" not in str(verdict)  # a bound does not show that
    assert "tells these features from luck" not in verdict.lead
    fitted.result().write_report(tmp_path / "nothing.html")
    page = (tmp_path / "nothing.html").read_text("utf-8")
    assert "No feature can be named under fwer&lt;=0.05." in page
    assert "No feature was selected, with or without a twin." in page


def test_a_list_that_a_bound_made_begins_with_how_many_it_holds():
    fitted = selector("expected_false<=1", control="unimodal", resampling="pairs").fit(*SIGNAL)
    verdict = fitted.result().verdict
    n = fitted.n_features_
    assert verdict.headline == f"{n} features can be named under expected_false<=1."
    assert verdict.points[0]["text"] == fitted.guarantee_
    assert verdict.tone == "care"
    assert "each on half of 80 rows" in verdict.lead


def test_an_empty_list_of_frequent_features_is_called_empty():
    fitted = selector("frequency>=0.99", n_features_per_run=3).fit(*NOISE)
    assert fitted.n_features_ == 0
    verdict = fitted.result().verdict
    assert verdict.headline == "No feature was selected."


def test_a_pipeline_of_an_empty_selection_fails_as_scikit_learn_does():
    X, y = NOISE
    pipeline = make_pipeline(selector("fdr<=0.1"), LogisticRegression())
    with (
        pytest.warns(UserWarning, match="No features were selected"),
        pytest.raises(ValueError, match=r"0 feature\(s\)"),
    ):
        pipeline.fit(X, y)


# ---------------------------------------------------------------------- the command line


@pytest.fixture
def files(tmp_path):
    for name, (X, y) in {"noise": NOISE, "signal": SIGNAL}.items():
        X.assign(y=y).to_csv(tmp_path / f"{name}.csv", index=False)
    return tmp_path


def run(*arguments: object):
    command = [str(one) for one in arguments]
    return CliRunner().invoke(main, ["select", *command, "--target", "y", "--resamples", "20"])


def test_the_command_line_selects_by_error_and_says_what_is_promised(files):
    found = run(files / "signal.csv", "--ranker", "f_statistic", "--n-features", "fdr<=0.1")
    assert found.exit_code == 0
    assert "There is more here than noise gives" in found.output
    assert "At most 10% of the named features are false on average" in found.output
    nothing = run(files / "noise.csv", "--ranker", "f_statistic", "--n-features", "fdr<=0.1")
    assert nothing.exit_code == 0
    assert "Nothing was found that noise would not give" in nothing.output
    assert (
        "More rows; testing fewer features, chosen before looking at the target" in nothing.output
    )
    assert "Other ways" not in nothing.output  # there are none to be listed


def test_permutations_add_q_values_to_an_ordinary_selection(files):
    found = run(files / "signal.csv", "--ranker", "f_statistic", "--n-features", "5",
                "--permutations", "20", "--json")  # fmt: skip
    features = json.loads(found.output)["features"]
    assert all(feature["q_value"] is not None for feature in features)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--n-features", "fdr<=2"], "must be between 0 and 1"),
        (["--n-features", "fdr<0.1"], "'fdr<=0.1', 'fwer<=0.05' or 'expected_false<=1'"),
        (["--n-features", "fdr<=x"], "such as 'fdr<=0.1'"),
        (["--n-features", "fdr<=0.01", "--permutations", "50"], "at least 100"),
        (["--n-features", "fdr<=0.1", "--control", "unimodal"], "resampling='pairs'"),
        (["--n-features", "fdr<=0.1", "--control", "magic"], "permutation, unimodal"),
        (["--n-features", "fdr<=0.1", "--control", "unimodal", "--resampling", "pairs"],
         "not on their share"),
        (["--n-features", "5", "--permutations", "many"], "a number or 'auto'"),
        (["--n-features", "5", "--permutations", "3"], "at least 10"),
    ],
)  # fmt: skip
def test_rules_that_promise_nothing_are_refused(files, options, message):
    refused = run(files / "signal.csv", *options)
    assert refused.exit_code == 2
    assert message in refused.output


@pytest.mark.parametrize(
    "text", ["fdr<=0", "fwer<=1", "expected_false<=-1", "fdr", "power>=0.8", "fdr<=nan"]
)
def test_error_rules_need_a_rate_and_a_level(text):
    with pytest.raises(ms.InputError):
        ErrorRule.parse(text)


def test_a_control_that_nothing_would_use_is_refused():
    with pytest.raises(ms.InputError, match="unknown control 'nope'"):
        ms.EnsembleSelector("f_statistic", control="nope").fit(*SIGNAL)
    with pytest.raises(ms.InputError, match="control='unimodal' is for error rates, but a number"):
        selector(5, control="unimodal", resampling="pairs").fit(*SIGNAL)


# ---------------------------------------------------------------------- strata


def two_sites() -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Site B has more cases, and f0 is higher there: f0 tells the site, not the disease."""
    rng = np.random.default_rng(5)
    site = np.repeat(["A", "B"], 60)
    y = np.concatenate([np.repeat(["well", "ill"], [48, 12]), np.repeat(["well", "ill"], [12, 48])])
    X = pd.DataFrame(rng.normal(size=(120, 30)), columns=[f"f{j}" for j in range(30)])
    X.loc[site == "B", "f0"] += 2.0
    X.loc[y == "ill", "f1"] += 2.0
    return X, y, site


def test_a_feature_that_tells_the_site_only_is_not_named_within_sites():
    X, y, site = two_sites()
    assert selector("fdr<=0.1").fit(X, y).get_feature_names_out()[:2].tolist() == ["f0", "f1"]
    within = selector("fdr<=0.1").fit(X, y, strata=site)
    assert within.evidence_.permuted == "rows within strata"
    assert "f1" in within.get_feature_names_out()
    assert "f0" not in within.get_feature_names_out()
    assert "within strata" in within.guarantee_


def test_strata_that_nothing_would_use_are_refused():
    X, y, site = two_sites()
    with pytest.raises(ms.InputError, match="nothing is permuted: set n_permutations"):
        ms.EnsembleSelector("f_statistic", random_state=0).fit(X, y, strata=site)
    bound = selector("expected_false<=1", control="unimodal", resampling="pairs")
    with pytest.raises(ms.InputError, match="nothing is permuted"):
        bound.fit(X, y, strata=site)
    with pytest.raises(ms.InputError, match="no permutation of rows within strata"):
        selector("fdr<=0.1").fit(X, y, strata=y)


def test_other_strata_do_not_go_on_from_a_checkpoint(tmp_path):
    X, y, site = two_sites()
    settings = {"checkpoint": tmp_path / "kept", "n_permutations": 20}
    selector("fdr<=0.1", **settings).fit(X, y, strata=site)
    with pytest.raises(ms.InputError, match="strata"):
        selector("fdr<=0.1", **settings).fit(X, y, strata=np.tile(["A", "B"], 60))


def test_the_command_takes_a_column_of_strata(tmp_path):
    X, y, site = two_sites()
    X.assign(y=y, site=site).to_csv(tmp_path / "d.csv", index=False)
    page = tmp_path / "page.html"
    arguments = ["select", str(tmp_path / "d.csv"), "--target", "y", "-r", "f_statistic",
                 "--strata", "site", "--resamples", "20"]  # fmt: skip
    found = CliRunner().invoke(main, [*arguments, "--by", "q-value", "--report", str(page)])
    assert found.exit_code == 0, found.output
    assert "within strata" in found.output
    assert "120 rows × 30 features" in found.output  # the site is no feature
    assert "--strata site" in page.read_text(encoding="utf-8")
    refused = CliRunner().invoke(main, arguments)
    assert refused.exit_code == 2
    assert "nothing is permuted" in refused.output
    unknown = CliRunner().invoke(main, [*arguments[:-4], "--strata", "sit", "--permutations", "40"])
    assert unknown.exit_code == 2
    assert "site" in unknown.output


def test_missing_strata_are_named(tmp_path):
    X, y, site = two_sites()
    frame = X.assign(y=y, site=pd.Series(site).mask(np.arange(120) < 3))
    frame.to_csv(tmp_path / "d.csv", index=False)
    arguments = ["select", str(tmp_path / "d.csv"), "--target", "y", "--strata", "site"]
    found = CliRunner().invoke(main, [*arguments, "--permutations", "40"])
    assert found.exit_code == 2
    assert "the strata 'site' are missing in 3 rows" in found.output
