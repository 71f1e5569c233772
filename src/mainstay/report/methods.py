"""A methods paragraph for a paper: what was done, with which settings, citing whom."""

from __future__ import annotations

from typing import Any

from mainstay.aggregation import AGGREGATIONS
from mainstay.measures import MEASURES
from mainstay.measures.inference import StabilityEstimate
from mainstay.rankers import RANKERS
from mainstay.report.listed import rules_of_rankers
from mainstay.report.references import REFERENCES
from mainstay.report.words import and_

_SOFTWARE = "The mainstay developers. mainstay: which features can you rely on? Version {version}."
_NAMED_VERSIONS = ("numpy", "scipy", "scikit-learn")
_RESAMPLINGS = {
    "bootstrap": ("bootstrap samples", "Efron 1979"),
    "subsample": ("random subsamples", ""),
    "half": ("random halves", "Meinshausen and Bühlmann 2010"),
    "pairs": ("halves from complementary pairs", "Shah and Samworth 2013"),
    "folds": ("cross-validation training sets", ""),
    "stratified_folds": ("stratified cross-validation training sets", ""),
    "blocks": ("samples of consecutive blocks", ""),
    "none": ("copies of the whole data", ""),
    "stratified_bootstrap": ("stratified bootstrap samples", "Efron 1979"),
    "stratified_subsample": ("stratified random subsamples", ""),
}
_CONTROLS = {
    "permutation": "Westfall and Young 1993; Storey and Tibshirani 2003",
    "unimodal": "Shah and Samworth 2013",
    "r-concave": "Shah and Samworth 2013",
    "meinshausen-buehlmann": "Meinshausen and Bühlmann 2010",
    "ipss": "Melikechi and Miller 2025",
}
_FORECASTS = {
    "flat": "on these rows",
    "nested": "on two halves of the data that share no row",
    "overlapping": "on halves of the data that may share rows",
}


class Citations:
    """The works that a text has cited so far."""

    def __init__(self) -> None:
        self._keys: set[str] = set()

    def add(self, reference: str) -> str:
        """Keep the works of a registry's `reference` in mind, and return it."""
        self._keys.update(key for key in reference.split("; ") if key)
        return reference

    def cite(self, reference: str) -> str:
        """Return " (Jaccard 1901; …)" to put behind what comes from there."""
        return f" ({self.add(reference)})" if reference else ""

    def measure(self, name: str) -> str:
        """Name a measure and who defined it, for use in brackets."""
        entry = MEASURES.get(name.partition("@")[0])
        return f"measure {name}" + ("" if entry is None else f", {self.add(entry.reference)}")

    def full(self) -> list[str]:
        """Full citations of everything cited, in alphabetical order."""
        return [REFERENCES[key] for key in sorted(self._keys)]


def methods_text(result: Any) -> str:
    """Describe how a result was made, in a paragraph for a paper, with full references below it.

    Parameters
    ----------
    result : SelectionResult
        Only what was computed is described.
    """
    cited = Citations()
    sentences = [
        _software(result, cited),
        _runs(result, cited),
        _selection(result, cited),
        _agreement(result, cited),
        _evidence(result.evidence, cited),
        _replicability(result.replicability, cited),
        _forecast(result.forecast, cited),
        _comparison(result.comparison, cited),
        _seed(result),
    ]
    paragraph = " ".join(sentence for sentence in sentences if sentence)
    software = _SOFTWARE.format(version=result.versions.get("mainstay", "unknown"))
    return "\n".join([paragraph, "", "References", *cited.full(), software])


def _software(result: Any, cited: Citations) -> str:
    versions = result.versions
    others = [f"{name} {versions[name]}" for name in _NAMED_VERSIONS if name in versions]
    text = f"Features were selected with mainstay {versions.get('mainstay', '')}".rstrip()
    if others:
        text += f" (Python {versions.get('python', '')}, {', '.join(others)}"
        text += f"; {cited.add('Pedregosa et al. 2011')})"
    return f"{text}."


def _runs(result: Any, cited: Citations) -> str:
    settings, chosen = result.settings, result.selections
    parameters, data = settings.get("parameters", {}), settings.get("data") or {}
    if "ranker" not in parameters:
        return (
            f"{chosen.n_runs:,} runs over {chosen.n_features:,} features, which were made "
            "elsewhere, were combined."
        )
    rankers = parameters["ranker"]
    names = [_ranker(item, cited) for item in (rankers if isinstance(rankers, list) else [rankers])]
    resampling, reference = _resampling(parameters.get("resampling"))
    rows = f" of {data['n_samples']:,} rows" if data.get("n_samples") else ""
    return (
        f"The {chosen.n_features:,} features were ranked by {and_(names)} on "
        f"{settings.get('n_resamples', chosen.n_runs):,} {resampling}{rows}{cited.cite(reference)}."
    )


def _ranker(setting: Any, cited: Citations) -> str:
    """Name a ranker, and cite whoever proposed it."""
    if isinstance(setting, str):
        entry = RANKERS.get(setting.partition("@")[0])
        stop = setting.partition("@")[2]
        name = f"{setting.partition('@')[0]} stopped after {stop} features" if stop else setting
        return name + cited.cite("" if entry is None else entry.reference)
    path = str(setting.get("class") or setting.get("object") or "a ranker of our own")
    name = path.rpartition(".")[2]
    if path.startswith("sklearn."):
        return name + cited.cite("Pedregosa et al. 2011")
    known = (entry for entry in RANKERS.values() if getattr(entry.make, "__name__", "") == name)
    entry = next(known, None) if path.startswith("mainstay.") else None
    return name + cited.cite("" if entry is None else entry.reference)


def _resampling(setting: Any) -> tuple[str, str]:
    if isinstance(setting, str):
        return _RESAMPLINGS.get(setting, (f"{setting} resamples", ""))
    if not isinstance(setting, dict):
        return "resamples", ""
    path = str(setting.get("class") or setting.get("object") or "resamples")
    return f"resamples by {path.rpartition('.')[2]}", ""


def _selection(result: Any, cited: Citations) -> str:
    parameters = result.settings.get("parameters", {})
    text = _combined(result, cited)
    rule, k = parameters.get("n_features_to_select"), len(result.selected)
    features = "1 feature was" if k == 1 else f"{k:,} features were"
    if "guarantee" in result.settings:
        control = _CONTROLS.get(str(parameters.get("control")), "")
        promise = str(result.settings["guarantee"]).rstrip(".")
        return f"{text}; {features} selected by {rule}{cited.cite(control)}. {promise}."
    if isinstance(rule, str) and rule != "auto":
        share = rule.partition(">=")[2].strip()
        return f"{text}; {features} selected in at least {float(share):.0%} of the runs."
    text += f", and the best {features} selected"
    if rule == "auto":
        text += ", the fewest whose cross-validated score was within one standard error of the best"
    return f"{text}."


def _combined(result: Any, cited: Citations) -> str:
    """How the runs became one ranking; of several rankers also how their rankings did."""
    of_rankers = rules_of_rankers(result)
    if not of_rankers:
        return f"The runs were combined by {_rule(result.ranking.method, cited)}"
    rankers_by: dict[str, list[str]] = {rule: [] for rule in of_rankers.values()}
    for name, rule in of_rankers.items():
        rankers_by[rule].append(name)
    whose = ["every ranker"] if len(rankers_by) == 1 else [and_(n) for n in rankers_by.values()]
    parts = [
        f"{'those' if i else 'The runs'} of {names}{'' if i else ' were combined'} by "
        f"{_rule(rule, cited)}"
        for i, (names, rule) in enumerate(zip(whose, rankers_by, strict=True))
    ]
    between = f"the rankings of the rankers by {_rule(result.ranking.method, cited)}"
    weights = result.settings["parameters"].get("ranker_weights")
    if weights is not None:
        each = [f"{w:g} ({name})" for w, name in zip(weights, of_rankers, strict=True)]
        between += f" with the weights {and_(each)}"
    return and_([*parts, between])


def _rule(name: str, cited: Citations) -> str:
    entry = AGGREGATIONS.get(name)
    return f"the rule '{name}'" + cited.cite("" if entry is None else entry.reference)


def _agreement(result: Any, cited: Citations) -> str:
    text = f"The selections of the runs agree to {_estimate(result.stability, cited)}"
    if result.adjusted_stability is not None and result.similarity is not None:
        label = getattr(result.similarity, "label", "similarity")
        text += (
            f", and to {_estimate(result.adjusted_stability, cited)} where features with "
            f"{label} ≥ {result.similarity.threshold:g} count as exchangeable"
        )
    return f"{text}. This is agreement on resamples of the same rows, not between studies."


def _estimate(estimate: StabilityEstimate, cited: Citations) -> str:
    low, high = estimate.interval
    interval = f"; {estimate.confidence:.0%} interval {low:.2f} to {high:.2f}"
    if not low <= high:  # it is undefined
        interval = ""
    return f"{estimate.value:.2f} ({cited.measure(estimate.measure)}{interval})"


def _evidence(evidence: Any, cited: Citations) -> str:
    if evidence is None:
        return ""
    return (
        f"The whole procedure was repeated on {evidence.n_permutations:,} permutations of "
        f"{evidence.permuted} against the target; q-values estimate the false discovery rate from "
        f"them{cited.cite('Storey and Tibshirani 2003; Westfall and Young 1993')}. "
        f"{evidence.statement}"
    )


def _replicability(studies: Any, cited: Citations) -> str:
    if studies is None:
        return ""
    low, high = studies.interval
    size = studies.ensemble_size
    kind = "single runs" if size is None else f"ensembles of {size:,} resamples"
    return (
        f"The agreement of two independent studies of {studies.n_rows:,} rows each was estimated "
        f"with {kind} on {studies.settings['n_pairs']:,} pairs of halves that share no "
        f"row{cited.cite('Shah and Samworth 2013')}: {float(studies):.2f} "
        f"({cited.measure(studies.measure)}; {studies.confidence:.0%} interval over data sets "
        f"{low:.2f} to {high:.2f})."
    )


def _forecast(forecast: Any, cited: Citations) -> str:
    if forecast is None:
        return ""
    text = (
        f"The agreement of larger ensembles {_FORECASTS[forecast.protocol]} "
        f"({cited.measure(forecast.measure)}) was forecast from {forecast.n_runs:,} runs"
    )
    if forecast.method == "simulator":
        text += f" with a simulated selector{cited.cite('Onda et al. 2021')}"
    return f"{text}."


def _comparison(comparison: Any, cited: Citations) -> str:
    if comparison is None:
        return ""
    settings = comparison.settings
    names = and_([str(name) for name in settings["selectors"]])
    return (
        f"The selectors {names} were compared by {settings['scoring']} and by agreement "
        f"({cited.measure(settings['stability'])}) over {settings['n_splits']:,} splits of the "
        "data, with standard errors that allow for shared "
        f"rows{cited.cite('Nadeau and Bengio 2003')}."
    )


def _seed(result: Any) -> str:
    seed = result.settings.get("parameters", {}).get("random_state")
    return f"The random seed was {seed}." if isinstance(seed, int) else ""
