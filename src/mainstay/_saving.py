"""Results into one zip file: JSON for settings, parquet for tables and runs, npy for arrays.

Nothing is pickled, no time is written, and members are stored in a fixed order, so that the same
result gives the same bytes. A result class knows its own parts: by default its fields, or what its
`_to_parts` and `_from_parts` say. `mainstay.io.archive` reads the file back.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from mainstay._provenance import versions
from mainstay._validation import InputError
from mainstay._writing import replacing

FORMAT = 1  # raise it when older versions of mainstay could not read what is written
MANIFEST = "mainstay.json"
_EPOCH = (1980, 1, 1, 0, 0, 0)

Parts = dict[str, Any]


class Saveable:
    """A result dataclass that can be saved, and named in `mainstay.io.archive` reopened."""

    def save(self, path: str | Path) -> None:
        """Write everything but the data and measured times to a .zip file for `ms.load_result`.

        The same seed gives the same file. What the methods need is in it: a forecast that is
        reopened can plan, a selection can be reported.
        """
        path = Path(path)
        if path.suffix != ".zip":
            raise InputError(f"results are saved as .zip files, got {str(path)!r}.")
        with replacing(path) as part:
            part.write_bytes(_zipped(self))

    def _to_parts(self) -> Parts:
        return field_parts(self)

    @classmethod
    def _from_parts(cls, parts: Parts) -> Self:
        return cls(**parts)


class WithNamedRuns(Saveable):
    """A result whose `runs` are a dict; its keys may be anything, so the runs are numbered."""

    def _to_parts(self) -> Parts:
        parts = field_parts(self)
        runs = parts.pop("runs")
        numbered = {f"runs_{i}": one for i, one in enumerate(runs.values())}
        return {**parts, "candidates": list(runs), **numbered}

    @classmethod
    def _from_parts(cls, parts: Parts) -> Self:
        names = parts.pop("candidates")
        runs = {name: parts.pop(f"runs_{i}") for i, name in enumerate(names)}
        return super()._from_parts({**parts, "runs": runs})


def field_parts(value: Any) -> Parts:
    """The fields of a dataclass by name."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _zipped(value: Saveable) -> bytes:
    members: dict[str, bytes] = {}
    kinds: dict[str, str] = {}
    _flatten(value, "", members, kinds)
    copies = _take_out_copies(members)
    made_with = versions()
    manifest = {
        "format": FORMAT,
        "written_by": f"mainstay {made_with['mainstay']}",
        "versions": made_with,
        "kinds": kinds,
        "members": list(members),
        "copies": copies,
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as file:
        for name, content in {MANIFEST: _to_json(manifest), **members}.items():
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.create_system, entry.external_attr = 3, 0o644 << 16
            file.writestr(entry, content)
    return buffer.getvalue()


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


def _flatten(value: Any, place: str, members: dict[str, bytes], kinds: dict[str, str]) -> None:
    """Write an object's parts as members in a folder of its own; objects inside it likewise."""
    kinds[place] = type(value).__name__
    parts = value._to_parts() if hasattr(value, "_to_parts") else field_parts(value)
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


def untagged(value: dict[str, Any]) -> Any:
    """Undo `_tagged`, as an object hook of `json.loads`."""
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

    if hasattr(part, "to_arrow"):
        table = part.to_arrow()
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
