"""The target of rows that are read block by block: what it is, from one pass over it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mainstay._validation import InputError, check_choice
from mainstay.batches import RowBatches
from mainstay.rankers.inputs import TARGET_OF_TASK, TARGETS, task_of

_MOST_LABELS = 10_000  # distinct values that are kept


@dataclass(frozen=True, eq=False)
class StreamedTarget:
    """What is to be predicted, block by block.

    Attributes
    ----------
    kind : {"float", "boolean", "category"}
        What the values are; whole numbers count as floats.
    n_rows : int
        How many there are.
    labels : numpy.ndarray or None
        The distinct values, sorted; None if there are more than 10,000.
    low, high, centre : float
        Smallest and largest number, and the median of the first block; NaN for text.
    fractional : bool
        Whether some have a fractional part.
    """

    kind: str
    n_rows: int
    labels: np.ndarray | None
    low: float
    high: float
    centre: float
    fractional: bool

    def task(self, asked: str = "auto") -> tuple[str, str]:
        """Tell whether classes or numbers are to be predicted, and why, as `infer_task` does."""
        check_choice("task", asked, ("auto", *TARGET_OF_TASK))
        if asked == "auto" and self.labels is None:
            if not self.fractional and self.n_rows / _MOST_LABELS >= 10:
                raise InputError(
                    f"the target holds more than {_MOST_LABELS:,} distinct whole numbers in "
                    f"{self.n_rows:,} rows: say whether they are classes (which is not possible) "
                    "or numbers, task='regression'."
                )
            return "regression", (
                "y holds numbers with a fractional part" if self.fractional
                else f"y holds more than {_MOST_LABELS:,} distinct whole numbers"
            )  # fmt: skip
        if asked == "auto":
            assert self.labels is not None
            return task_of(self.kind, self.labels, self.n_rows)
        (self.class_labels if asked == "classification" else self.check_numbers)()
        return asked, "as asked for"

    def is_classes(self, target: str) -> bool:
        """What a ranker's parameter `target` means here."""
        check_choice("target", target, TARGETS)
        if target == "auto":
            return self.task()[0] == "classification"
        return target == "class"

    def class_labels(self) -> np.ndarray:
        """The labels, if they can be classes."""
        if self.labels is None:
            raise InputError(
                f"the target has more than {_MOST_LABELS:,} distinct values, too many for classes; "
                "use task='regression'."
            )
        return self.labels

    def check_numbers(self) -> None:
        """Refuse text where numbers are needed."""
        if self.kind == "category":
            raise InputError("target='continuous' needs numbers, but y holds categories.")

    def codes(self, y: np.ndarray) -> np.ndarray:
        """Class numbers of some rows, in the order of the labels."""
        labels = self.class_labels()
        if labels.dtype.kind != "O":
            return np.searchsorted(labels, y)
        import pandas as pd

        return np.asarray(pd.Index(labels).get_indexer(pd.Index(y, dtype=object)))

    def numbers(self, y: np.ndarray) -> np.ndarray:
        """Some rows as numbers; two classes of text are 0 and 1."""
        if self.kind == "category":
            return self.codes(y).astype(float)
        return np.asarray(y, dtype=float)


def scan_target(rows: RowBatches) -> StreamedTarget:
    """Read the target once; refuse one that is missing somewhere, infinite or constant.

    Examples
    --------
    >>> rows = RowBatches.open(np.zeros((4, 1)), target=np.array(["a", "b", "b", "a"]))
    >>> scan_target(rows).task()
    ('classification', 'y holds text or categories')
    """
    labels: np.ndarray | None = None
    kind, low, high, centre, fractional, many = "float", np.inf, -np.inf, np.nan, False, False
    for block in rows.blocks(None):
        y = block.target
        _refuse_missing(y, block.start, rows.target)
        if y.dtype.kind in "OUS":
            kind, y = "category", y.astype(object)
        elif y.dtype.kind == "b":
            kind = "boolean"
        elif y.dtype.kind not in "iuf":
            raise InputError(
                f"the target {rows.target!r} holds values of type {y.dtype}; it must hold numbers, "
                "booleans or text."
            )
        if kind != "category":
            numbers = y.astype(float)
            low, high = min(low, float(numbers.min())), max(high, float(numbers.max()))
            fractional = fractional or bool((numbers != np.floor(numbers)).any())
            if block.start == 0:
                centre = float(np.median(numbers))
        if not many:
            here = np.unique(y)
            labels = here if labels is None else np.union1d(labels, here)
            many = len(labels) > _MOST_LABELS
    if labels is not None and len(labels) == 1:
        raise InputError(f"the target {rows.target!r} is constant ({labels[0]} in all rows).")
    if kind == "category" and (many or (labels is not None and len(labels) > rows.n_rows / 2)):
        raise InputError(
            f"the target {rows.target!r} is text with very many different entries in "
            f"{rows.n_rows:,} rows; it looks like an identifier."
        )
    return StreamedTarget(
        kind, rows.n_rows, None if many else labels, low, high, centre, fractional
    )


def _refuse_missing(y: np.ndarray, start: int, name: str) -> None:
    import pandas as pd

    missing = np.flatnonzero(pd.isna(y))
    if missing.size:
        raise InputError(
            f"the target {name!r} is missing in some rows, the first is row {start + missing[0]}; "
            "drop those rows."
        )
    if y.dtype.kind == "f" and np.isinf(y).any():
        raise InputError(f"the target {name!r} holds infinite values; a target must be finite.")
