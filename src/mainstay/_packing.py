"""Arrays, numbers, text and what is made of them, as bytes and back: exactly, without pickle."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any

import numpy as np


def pack(value: Any) -> bytes:
    """Turn a value into bytes.

    Parameters
    ----------
    value : None, bool, int, float, str, bytes, numpy array or number, tuple, list or dict of these
        The value. What comes back from `unpack` has the same types and the same bits.

    Examples
    --------
    >>> unpack(pack({("a", 1): (np.array([0.1, 0.2]), 0.5)}))
    {('a', 1): (array([0.1, 0.2]), 0.5)}
    """
    arrays: list[np.ndarray] = []
    outline = json.dumps(_outline(value, arrays)).encode()
    buffer = io.BytesIO()
    buffer.write(len(outline).to_bytes(8, "little"))
    buffer.write(outline)
    for array in arrays:
        np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def unpack(content: bytes) -> Any:
    """Turn what `pack` made back into the value."""
    buffer = io.BytesIO(content)
    outline = json.loads(buffer.read(int.from_bytes(buffer.read(8), "little")))
    return _filled(outline, buffer)


def _outline(value: Any, arrays: list[np.ndarray]) -> Any:
    """The structure in JSON: everything but plain values is a pair of its kind and its content."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, bytes):
        return ["bytes", value.hex()]
    if isinstance(value, np.ndarray | np.generic):
        arrays.append(np.asarray(value))
        return ["array" if isinstance(value, np.ndarray) else "number", None]
    if type(value) in (tuple, list):
        return [type(value).__name__, [_outline(item, arrays) for item in value]]
    if isinstance(value, Mapping):
        pairs = [[_outline(part, arrays) for part in item] for item in value.items()]
        return ["dict", pairs]
    raise TypeError(f"a {type(value).__name__} cannot be kept in a checkpoint.")


def _filled(outline: Any, buffer: io.BytesIO) -> Any:
    """Undo `_outline`, with the arrays in the order in which they were met."""
    if not isinstance(outline, list):
        return outline
    kind, content = outline
    if kind == "bytes":
        return bytes.fromhex(content)
    if kind in ("array", "number"):
        array = np.load(buffer, allow_pickle=False)
        return array if kind == "array" else array[()]
    if kind == "dict":
        return {_filled(key, buffer): _filled(value, buffer) for key, value in content}
    items = [_filled(item, buffer) for item in content]
    return tuple(items) if kind == "tuple" else items
