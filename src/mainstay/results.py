"""SelectionResult: everything a selection found, and what is needed to repeat it."""

from __future__ import annotations

import hashlib
import inspect
import math
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from mainstay._validation import InputError, check_count
from mainstay.aggregation import Ranking, aggregate
from mainstay.archive import Saveable
from mainstay.measures import stability
from mainstay.measures.inference import StabilityEstimate
from mainstay.runs import Runs
from mainstay.similarity import FeatureSimilarity

if TYPE_CHECKING:
    import pandas as pd

    from mainstay.ensemble import EnsembleSelector
    from mainstay.forecast import Forecast

_WITHOUT_EFFECT = ("n_jobs", "progress")  # any value gives the same result
_LIBRARIES = ("mainstay", "numpy", "scipy", "scikit-learn", "pandas", "numba", "pyarrow")
_HASHED_ROWS = 4096


@dataclass(frozen=True, eq=False)
class SelectionResult(Saveable):
    """What a selection found: `EnsembleSelector.result()`, or `from_runs` for runs made elsewhere.

    Attributes
    ----------
    runs : Runs
        Scores, ranks or selections of every run.
    selections : Runs
        What every run selected.
    ranking : Ranking
        The combined ranking.
    selected : tuple of str
        The selected features, best first.
    feature_table : pandas.DataFrame
        Per feature, best first; see `EnsembleSelector`.
    stability : StabilityEstimate
        Stability of the runs' selections, with interval.
    adjusted_stability : StabilityEstimate or None
        The same with exchangeable features counted as one.
    similarity : FeatureSimilarity or None
        Which features can stand in for each other.
    settings : dict
        Every parameter, the seed, and shape and hash of the data: plain values, never the data.
    versions : dict
        Versions of Python and of the libraries that made the result.
    forecast : Forecast or None
        What larger ensembles would bring.
    comparison : Comparison or None
        How other selectors do on the same data.

    Examples
    --------
    >>> import mainstay as ms
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> selector = ms.EnsembleSelector(n_features_to_select=2, n_resamples=20, random_state=0)
    >>> selector.fit(X, y).result().selected
    ('worst perimeter', 'worst concave points')
    """

    runs: Runs
    selections: Runs
    ranking: Ranking
    selected: tuple[str, ...]
    feature_table: pd.DataFrame
    stability: StabilityEstimate
    adjusted_stability: StabilityEstimate | None
    similarity: FeatureSimilarity | None
    settings: dict[str, Any]
    versions: dict[str, str]
    forecast: Forecast | None = None
    comparison: Any = None

    @classmethod
    def from_runs(
        cls,
        runs: Runs,
        *,
        n_features_to_select: int | None = None,
        similarity: FeatureSimilarity | None = None,
        aggregation: str = "mean",
        forecast: Forecast | None = None,
        comparison: Any = None,
    ) -> SelectionResult:
        """Describe runs that were made elsewhere.

        Parameters
        ----------
        runs : Runs
            The runs.
        n_features_to_select : int, optional
            How many features are selected in the end and, of rankings, in every run. By default
            the mean size of the selections, or a tenth of the features for rankings.
        similarity : FeatureSimilarity, optional
            Which features count as exchangeable.
        aggregation : str
            How the runs become one ranking; selections are counted.
        forecast, comparison : optional
            To be kept and shown with the result.

        Examples
        --------
        >>> import mainstay as ms
        >>> runs = ms.Runs.from_sets([["a", "b"], ["a", "c"], ["a"]], features=list("abcd"))
        >>> ms.SelectionResult.from_runs(runs, n_features_to_select=1).selected
        ('a',)
        """
        from mainstay.resampled import feature_table, selections

        wanted: Any = n_features_to_select
        if wanted is None:
            ranked = runs.kind != "support"
            share = 0.1 * runs.n_features if ranked else float(runs.sizes.mean())
            wanted = max(1, math.ceil(share - 1e-9) if ranked else round(share))
        k = check_count("n_features_to_select", wanted, 1, runs.n_features)
        counted = runs.kind == "support" and aggregation in ("mean", "median")
        ranking = aggregate(runs, "frequency" if counted else aggregation)
        chosen = selections(runs, k, 0)
        adjusted = None
        if similarity is not None:
            adjusted = stability(
                chosen, "sma_count", similarity=similarity, undefined="nan", random_state=0
            )
        mask = np.isin(np.arange(runs.n_features), ranking.order[:k])
        parameters = {"n_features_to_select": k, "aggregation": ranking.method}
        return cls(
            runs=runs,
            selections=chosen,
            ranking=ranking,
            selected=ranking.top(k),
            feature_table=feature_table(ranking, runs, chosen, similarity, mask),
            stability=stability(chosen, undefined="nan"),
            adjusted_stability=adjusted,
            similarity=similarity,
            settings={"made_by": "SelectionResult.from_runs", "parameters": parameters},
            versions=versions(),
            forecast=forecast,
            comparison=comparison,
        )

    def to_frame(self) -> pd.DataFrame:
        """Return the feature table."""
        return self.feature_table.copy()

    def write_report(self, path: str | Path, *, title: str | None = None) -> None:
        """Write the result as one HTML page; see `ms.write_report`."""
        from mainstay.report import write_report

        write_report(self, path, title=title)

    def _repr_html_(self) -> str:
        from mainstay.report import notebook_html

        return notebook_html(self)

    def __repr__(self) -> str:
        shown = ", ".join(self.selected[:5])
        rest = f" and {len(self.selected) - 5} more" if len(self.selected) > 5 else ""
        return (
            f"SelectionResult: {len(self.selected)} of {self.runs.n_features} features from "
            f"{self.runs.n_runs} runs: {shown}{rest}\n{self.stability!r}"
        )


def result_of(
    selector: EnsembleSelector, forecast: Forecast | None, comparison: Any, source: Any
) -> SelectionResult:
    """Collect what a fitted selector found."""
    parameters = {
        name: plain(value)
        for name, value in selector.get_params(deep=False).items()
        if name not in _WITHOUT_EFFECT
    }
    settings = {
        "made_by": "EnsembleSelector",
        "parameters": parameters,
        "n_resamples": selector.n_resamples_,
        "data": selector.data_summary_,
    }
    if hasattr(selector, "decision_"):
        # the decision names a duration, which would differ from one time to the next
        settings["decision"] = re.sub(r" \([^()]* of one core\)", "", selector.decision_)
    if source is not None:
        settings["source"] = plain(source)
    table = selector.feature_table_
    return SelectionResult(
        runs=selector.runs_,
        selections=selector.selections_,
        ranking=selector.ranking_,
        selected=tuple(str(name) for name in table["feature"][table["selected"]]),
        feature_table=table,
        stability=selector.stability_,
        adjusted_stability=selector.adjusted_stability_,
        similarity=selector.similarity_,
        settings=settings,
        versions=versions(),
        forecast=getattr(selector, "forecast_", None) if forecast is None else forecast,
        comparison=comparison,
    )


def versions() -> dict[str, str]:
    """Versions of Python, the system and the libraries that numbers may depend on."""
    found = {name: version(name) for name in _LIBRARIES}
    system = f"{platform.system()} {platform.machine()}".strip()
    return {**found, "python": platform.python_version(), "system": system}


# ---------------------------------------------------------------------- settings


def plain(value: Any) -> Any:
    """Describe a parameter in what JSON knows; an object by its class and changed parameters."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.random.Generator):
        return {"object": "a numpy Generator, whose state is not known any more"}
    kind = value if inspect.isclass(value) or inspect.isroutine(value) else type(value)
    name = f"{kind.__module__}.{kind.__qualname__}"
    if kind is value:
        return {"object": name}
    if hasattr(value, "get_params"):
        return {"class": name, "parameters": _changed(value, value.get_params(deep=False))}
    return {"object": re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))}


def _changed(value: Any, parameters: Mapping[str, Any]) -> dict[str, Any]:
    signature = inspect.signature(type(value).__init__).parameters
    changed = {}
    for name, given in parameters.items():
        default = getattr(signature.get(name), "default", inspect.Parameter.empty)
        if name not in _WITHOUT_EFFECT and plain(given) != plain(default):
            changed[name] = plain(given)
    return changed


# ---------------------------------------------------------------------- the data, without the data


def data_summary(X: Any, y: Any, sample_weight: Any, groups: Any) -> dict[str, Any]:
    """Shape and content hashes, by which data can be recognised but not restored."""
    summary = {
        "n_samples": int(X.shape[0]),
        "n_features": int(X.shape[1]),
        "sha256_X": content_hash(X),
        "sha256_y": content_hash(y),
    }
    optional = {"sha256_sample_weight": sample_weight, "sha256_groups": groups}
    return summary | {k: content_hash(v) for k, v in optional.items() if v is not None}


def content_hash(values: Any) -> str:
    """SHA-256 of the values, whether they come as an array, a pandas or a polars table.

    Numbers count as 64-bit floats (so 1 is 1.0, and a missing value is NaN), anything else as text.
    """
    digest = hashlib.sha256(repr(tuple(values.shape)).encode())
    if sp.issparse(values):
        matrix = sp.csr_array(values, copy=True)
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        for part in (matrix.indptr, matrix.indices, matrix.data):
            digest.update(np.ascontiguousarray(part, dtype="<f8").tobytes())
        return digest.hexdigest()
    numeric = _as_numbers(values)
    if numeric is not None:
        for start in range(0, len(numeric), _HASHED_ROWS):
            block = np.array(numeric[start : start + _HASHED_ROWS], dtype="<f8", order="C") + 0.0
            block[np.isnan(block)] = np.nan
            digest.update(block.tobytes())
        return digest.hexdigest()
    columns: Any = np.reshape(values, (len(values), -1)).T
    if hasattr(values, "columns"):
        columns = [values[name] for name in values.columns]
    for column in columns:
        cells = (repr(str(cell)) for cell in np.asarray(column, dtype=object))
        digest.update("\n".join(cells).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _as_numbers(values: Any) -> np.ndarray | None:
    array = values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)
    if array.dtype.kind in "buif":
        return np.asarray(array)
    return None


def check_result(result: Any) -> SelectionResult:
    """Take a SelectionResult, a fitted EnsembleSelector or runs."""
    if isinstance(result, SelectionResult):
        return result
    if isinstance(result, Runs):
        return SelectionResult.from_runs(result)
    if hasattr(result, "result") and hasattr(result, "get_params"):
        found: SelectionResult = result.result()
        return found
    raise InputError(
        "a report is made of a fitted EnsembleSelector, a SelectionResult or Runs, got "
        f"{type(result).__name__}."
    )
