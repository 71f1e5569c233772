"""A table split into features, target and groups, with what cannot be used named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from mainstay._files import read_table
from mainstay._validation import InputError, check_choice, some


@dataclass(frozen=True)
class Data:
    """A table split into features, target and groups."""

    X: pd.DataFrame
    y: np.ndarray
    groups: np.ndarray | None


def read_data(
    path: str | Path, *, target: str, groups: str | None = None, drop: Sequence[str] = ()
) -> Data:
    """Read a table and split it; say clearly what cannot be used as it is.

    Text columns with a different entry in (nearly) every row are identifiers, not features: they
    are refused by name.
    """
    table = read_table(path).rename(columns=str)
    columns = list(table.columns)
    for name in (target, *([groups] if groups else []), *drop):
        check_choice(f"column of {path}", name, columns)
    y = table[target]
    if y.isna().any():
        raise InputError(f"the target {target!r} is missing in {int(y.isna().sum())} rows.")
    if y.nunique() < 2:
        raise InputError(f"the target {target!r} is constant ({y.iloc[0]} in all rows).")
    if y.dtype.kind not in "buif" and y.nunique() > max(5, len(y) / 2):
        raise InputError(
            f"the target {target!r} is text with {y.nunique()} different entries in {len(y)} rows; "
            "it looks like an identifier."
        )
    left_out = [target, *([groups] if groups else []), *drop]
    X = table.drop(columns=left_out)
    for name in X.columns:
        column = X[name]
        if column.dtype.kind == "f" and np.isinf(column).any():
            raise InputError(f"column {name!r} holds infinite values; replace them.")
        if column.dtype.kind not in "buif" and column.nunique() > 0.9 * len(column) > 9:
            raise InputError(
                f"column {name!r} is text with {column.nunique()} different entries in "
                f"{len(column)} rows: an identifier, not a feature? Leave it out (--drop)."
            )
    if X.shape[1] == 0:
        raise InputError(f"{path} has no column besides {some(left_out)}.")
    return Data(X, y.to_numpy(), None if groups is None else table[groups].to_numpy())
