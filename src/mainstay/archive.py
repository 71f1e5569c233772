"""Results in one zip file: JSON for settings, parquet for tables and runs, npy for arrays.

Nothing is pickled, no time is written, and members are stored in a fixed order, so that the same
result gives the same bytes. A class that can be saved is one line in `KINDS`.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from mainstay._validation import InputError
from mainstay.runs import Runs

FORMAT = 1  # raise it when older versions of mainstay could not read what is written
_MANIFEST = "mainstay.json"
_EPOCH = (1980, 1, 1, 0, 0, 0)

Parts = dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """A dataclass that can be saved: where it lives, and how it differs from its fields."""

    home: str
    to_parts: Callable[[Any], Parts] | None = None
    from_parts: Callable[[type, Parts], Any] | None = None

    @property
    def type(self) -> type:
        """The class itself."""
        module, _, name = self.home.partition(":")
        found: type = getattr(import_module(module), name)
        return found


def save_result(value: Any, path: str | Path) -> None:
    """Write a result to a .zip file that `load_result` reads back."""
    path = Path(path)
    if path.suffix != ".zip":
        raise InputError(f"results are saved as .zip files, got {str(path)!r}.")
    members: dict[str, bytes] = {}
    kinds: dict[str, str] = {}
    _flatten(value, "", members, kinds)
    from mainstay import __version__
    from mainstay.results import versions

    copies = _take_out_copies(members)
    manifest = {
        "format": FORMAT,
        "written_by": f"mainstay {__version__}",
        "versions": versions(),
        "kinds": kinds,
        "members": list(members),
        "copies": copies,
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as file:
        for name, content in {_MANIFEST: _to_json(manifest), **members}.items():
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.create_system, entry.external_attr = 3, 0o644 << 16
            file.writestr(entry, content)
    path.write_bytes(buffer.getvalue())


def _take_out_copies(members: dict[str, bytes]) -> dict[str, str]:
    """Keep one of equal members (a forecast has the runs of its result): copy → original."""
    first: dict[bytes, str] = {}
    copies = {}
    for name, content in members.items():
        original = first.setdefault(content, name)
        if original != name:
            copies[name] = original
    for name in copies:
        del members[name]
    return copies


class Saveable:
    """A result that can be saved: a dataclass with an entry in `KINDS`."""

    def save(self, path: str | Path) -> None:
        """Write everything but the data and measured times to a .zip file for `ms.load_result`.

        The same seed gives the same file. What the methods need is in it: a forecast that is
        reopened can plan, a selection can be reported.
        """
        save_result(self, path)


def load_result(path: str | Path) -> Any:
    """Reopen a result that was saved with `.save("result.zip")`.

    Parameters
    ----------
    path : str or Path
        The .zip file. It holds JSON, parquet and npy files only: opening it runs no code.

    Returns
    -------
    SelectionResult, Forecast, Comparison, SelectionScores or NetworkStability
        What was saved.

    Examples
    --------
    >>> import tempfile, mainstay as ms
    >>> runs = ms.Runs.from_sets([["a", "b"], ["a", "c"], ["a", "b"]], features=list("abcdef"))
    >>> result = ms.SelectionResult.from_runs(runs)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result.save(f"{folder}/result.zip")
    ...     ms.load_result(f"{folder}/result.zip").selected
    ('a', 'b')
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"there is no file {str(path)!r}.")
    try:
        with zipfile.ZipFile(path) as file:
            content = {name: file.read(name) for name in file.namelist()}
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        raise InputError(f"{path} is not a zip file, or a damaged one: {error}") from error
    manifest = _read_manifest(path, content)
    missing = [name for name in manifest["members"] if name not in content]
    if missing:
        raise InputError(f"{path} is damaged: {', '.join(missing)} is missing in it.")
    try:
        content |= {copy: content[name] for copy, name in manifest["copies"].items()}
        return _assemble("", content, manifest["kinds"])
    except (KeyError, TypeError, ValueError, OSError, EOFError) as error:
        raise InputError(f"{path} is damaged: {type(error).__name__}: {error}") from error


def _read_manifest(path: Path, content: dict[str, bytes]) -> dict[str, Any]:
    if _MANIFEST not in content:
        raise InputError(
            f"{path} is a zip file, but not a result saved by mainstay: it has no {_MANIFEST}."
        )
    try:
        manifest: dict[str, Any] = json.loads(content[_MANIFEST])
        written, made_by = int(manifest["format"]), str(manifest["written_by"])
        kinds, copies = dict(manifest["kinds"]), dict(manifest["copies"])
        members = list(manifest["members"])
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} is damaged: {_MANIFEST} cannot be read ({error}).") from error
    if written > FORMAT:
        raise InputError(
            f"{path} was written by {made_by} in format {written}; this version reads formats up "
            f"to {FORMAT}. Update mainstay to open it."
        )
    unknown = sorted(set(kinds.values()) - set(KINDS))
    if unknown or "" not in kinds:
        raise InputError(f"{path} is damaged: it holds {unknown or 'nothing'}, which is unknown.")
    return {"kinds": kinds, "members": members, "copies": copies}


# ---------------------------------------------------------------------- objects and their parts


def _flatten(value: Any, place: str, members: dict[str, bytes], kinds: dict[str, str]) -> None:
    """Write an object's parts as members in a folder of its own; objects inside it likewise."""
    name = type(value).__name__
    kinds[place] = name
    kind = KINDS[name]
    parts = _fields(value) if kind.to_parts is None else kind.to_parts(value)
    plain = {key: part for key, part in parts.items() if _is_plain(part)}
    rest = {key: part for key, part in parts.items() if not _is_plain(part)}
    for own in ("settings", "versions"):
        if own in plain:
            members[f"{place}{own}.json"] = _to_json(plain.pop(own))
    members[f"{place}values.json"] = _to_json(plain)
    for key, part in rest.items():
        if is_dataclass(part):
            _flatten(part, f"{place}{key}/", members, kinds)
        elif isinstance(part, np.ndarray):
            members[f"{place}{key}.npy"] = _array_bytes(part)
        else:
            members[f"{place}{key}.parquet"] = _table_bytes(part)


def _assemble(place: str, content: dict[str, bytes], kinds: Mapping[str, str]) -> Any:
    parts: Parts = {}
    for name, data in content.items():
        inside = name.removeprefix(place)
        if name == _MANIFEST or not name.startswith(place) or "/" in inside:
            continue
        key, _, ending = inside.rpartition(".")
        if ending == "npy":
            parts[key] = np.load(io.BytesIO(data), allow_pickle=False)
        elif ending == "parquet":
            parts[key] = _read_parquet(data)
        else:
            value = json.loads(data, object_hook=_from_json)
            parts.update(value if key == "values" else {key: value})
    for inner in kinds:
        if inner.startswith(place) and inner != place and inner.count("/") == place.count("/") + 1:
            parts[inner.removeprefix(place).rstrip("/")] = _assemble(inner, content, kinds)
    kind = KINDS[kinds[place]]
    if kind.from_parts is not None:
        return kind.from_parts(kind.type, parts)
    return kind.type(**parts)


def _fields(value: Any) -> Parts:
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _is_plain(part: Any) -> bool:
    return part is None or isinstance(part, bool | int | float | str | tuple | list | Mapping)


# ---------------------------------------------------------------------- bytes


def _to_json(value: Any) -> bytes:
    text = json.dumps(_tagged(value), indent=1, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "surrogatepass")


def _tagged(value: Any) -> Any:
    """Mark what JSON does not know: tuples, and numbers that are not finite."""
    if isinstance(value, Mapping):
        return {str(key): _tagged(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return {"__tuple__": [_tagged(item) for item in value]}
    if isinstance(value, list):
        return [_tagged(item) for item in value]
    if isinstance(value, np.generic):
        return _tagged(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return {"__float__": str(value)}
    return value


def _from_json(value: dict[str, Any]) -> Any:
    if set(value) == {"__tuple__"}:
        return tuple(value["__tuple__"])
    if set(value) == {"__float__"}:
        return float(value["__float__"])
    return value


def _array_bytes(values: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, values, allow_pickle=False)
    return buffer.getvalue()


def _table_bytes(part: Any) -> bytes:
    """Bytes of runs, of a sparse matrix or of a table, as parquet."""
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    from mainstay.io import runs_to_arrow

    if isinstance(part, Runs):
        table = runs_to_arrow(part)
    elif isinstance(part, pd.DataFrame):
        table = pa.Table.from_pandas(part)
    else:
        stored = part.tocoo()
        row, column = (place.astype(np.int32) for place in (stored.row, stored.col))
        table = pa.table({"row": row, "column": column, "value": stored.data})
        table = table.replace_schema_metadata({"sparse": json.dumps(part.shape)})
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    return buffer.getvalue()


def _read_parquet(data: bytes) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq
    import scipy.sparse as sp

    from mainstay.io import runs_from_arrow

    table = pq.read_table(pa.BufferReader(data))
    metadata = table.schema.metadata or {}
    if b"mainstay" in metadata:
        return runs_from_arrow(table)
    if b"sparse" not in metadata:
        return table.to_pandas()
    row, column, value = (table[name].to_numpy() for name in ("row", "column", "value"))
    return sp.csr_array((value, (row, column)), shape=json.loads(metadata[b"sparse"]))


# ---------------------------------------------------------------------- what can be saved


def _ranking_parts(ranking: Any) -> Parts:
    return {**_fields(ranking), "_p_values": ranking.p_values}


def _ranking(cls: type, parts: Parts) -> Any:
    p_values = parts.pop("_p_values")
    return cls(**parts, _p_values=None if p_values is None else lambda: p_values)


def _forecast_parts(forecast: Any) -> Parts:
    """Keep the runs behind a forecast and how they are drawn, but not how long they took."""
    engine = forecast._engine
    ensembles = engine.ensembles
    for what in (ensembles.measure, ensembles.aggregation):
        if not isinstance(what, str):
            raise InputError(
                f"a forecast with the function {what!r} cannot be saved: functions cannot be "
                "reopened. Use measures and aggregations by name."
            )
    return {
        "curve": forecast.curve,
        "protocol": forecast.protocol,
        "method": forecast.method,
        "n_features_to_select": forecast.n_features_to_select,
        "confidence": forecast.confidence,
        "measure": ensembles.measure,
        "aggregation": ensembles.aggregation,
        "runs": forecast.base.runs,
        "halves": forecast.base.halves,
        "similarity": ensembles.similarity,
        "draws": getattr(engine, "n_ensembles", getattr(engine, "repeats", None)),
        "seed": engine.seed,
        "n_useful": forecast.n_useful,
        "p": forecast.p,
        "infeasible": forecast.infeasible,
    }


def _forecast(cls: type, parts: Parts) -> Any:
    from mainstay.forecast.base_runs import BaseRuns
    from mainstay.forecast.curves import NestedCurve, make_curve
    from mainstay.forecast.ensembles import Ensembles
    from mainstay.forecast.result import Model
    from mainstay.forecast.simulator import SimulatedSelector

    runs, halves, k = parts["runs"], parts["halves"], parts["n_features_to_select"]
    ensembles = Ensembles(runs, parts["aggregation"], parts["measure"], k, parts["similarity"])
    draws, confidence = parts["draws"], parts["confidence"]
    curve = make_curve(ensembles, halves, draws, confidence, parts["seed"])
    if isinstance(curve, NestedCurve):
        curve = replace(curve, repeats=draws)
    n_useful, p, infeasible = parts["n_useful"], parts["p"], parts["infeasible"]
    selector = None
    if not infeasible:
        selector = SimulatedSelector(
            n_features=runs.n_features, n_selected=k, n_useful=n_useful, p=p
        )
    model = Model(n_useful, p, selector, infeasible)
    about = (parts["curve"], parts["protocol"], parts["method"], k)
    return cls(*about, BaseRuns(runs, halves), confidence, curve, model)


def _comparison_parts(comparison: Any) -> Parts:
    """Leave out measured times."""
    return {**_named_runs_parts(comparison), "table": comparison.table.assign(seconds=math.nan)}


def _named_runs_parts(value: Any) -> Parts:
    """Number the runs of several candidates, whose names may be anything."""
    parts = _fields(value)
    runs = parts.pop("runs")
    numbered = {f"runs_{i}": one for i, one in enumerate(runs.values())}
    return {**parts, "candidates": list(runs), **numbered}


def _with_named_runs(cls: type, parts: Parts) -> Any:
    names = parts.pop("candidates")
    runs = {name: parts.pop(f"runs_{i}") for i, name in enumerate(names)}
    return cls(**parts, runs=runs)


KINDS = {
    "SelectionResult": Kind("mainstay.results:SelectionResult"),
    "StabilityEstimate": Kind("mainstay.measures.inference:StabilityEstimate"),
    "Ranking": Kind("mainstay.aggregation:Ranking", _ranking_parts, _ranking),
    "FeatureSimilarity": Kind("mainstay.similarity:FeatureSimilarity"),
    "Comparison": Kind("mainstay.comparison:Comparison", _comparison_parts, _with_named_runs),
    "SelectionScores": Kind(
        "mainstay.evaluation:SelectionScores", _named_runs_parts, _with_named_runs
    ),
    "NetworkStability": Kind("mainstay.networks.stability:NetworkStability"),
    "Forecast": Kind("mainstay.forecast.result:Forecast", _forecast_parts, _forecast),
}
