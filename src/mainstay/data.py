"""Data: rows, target and what goes with them, checked once and then passed on."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from mainstay._provenance import content_hash, data_summary
from mainstay._sklearn import take_columns, take_rows
from mainstay._validation import (
    InputError,
    check_choice,
    check_weights,
    column_names,
    numbered,
    some,
)
from mainstay.batches import RowBatches
from mainstay.rankers.inputs import (
    HUGE,
    SomeRows,
    Table,
    has_gaps,
    infer_task,
    is_huge,
    missing_rows,
    numeric_columns,
    read_target,
)
from mainstay.rankers.streamed_target import StreamedTarget, scan_target
from mainstay.resampling import check_groups
from mainstay.similarity import FeatureSimilarity

TASKS = ("auto", "classification", "regression")
_FEWEST_GROUPS = 3  # of a whole data set; its parts (halves of halves) may hold two


@dataclass(frozen=True, eq=False)
class Data:
    """Rows, target and what goes with them: checked once by `Data.check`, then passed on.

    Attributes
    ----------
    X : array, sparse matrix, pandas or polars DataFrame
        n × p features. Tables stay tables: rankers read their column types.
    y : numpy.ndarray
        The target.
    features : tuple of str
        Column names; x0, x1, … for arrays.
    sample_weight, groups : numpy.ndarray or None
        Row weights; which rows belong together.
    task : {"classification", "regression"}
        What y is.
    task_reason : str
        Why: that it was asked for, or what in y says so.
    """

    X: Any
    y: np.ndarray
    features: tuple[str, ...]
    sample_weight: np.ndarray | None = None
    groups: np.ndarray | None = None
    task: str = "classification"
    task_reason: str = ""

    @classmethod
    def check(
        cls,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        groups: Any = None,
        task: str = "auto",
        estimator: Any = None,
    ) -> Data:
        """Check the data as scikit-learn does, and refuse what no ranker could learn from.

        Parameters
        ----------
        X, y, sample_weight, groups
            As in `EnsembleSelector.fit`.
        task : {"auto", "classification", "regression"}
            What y is; "auto" decides by its values and says why.
        estimator : scikit-learn estimator, optional
            Where to note the number and names of features, for `transform`.
        """
        from sklearn.utils.validation import check_X_y, validate_data

        options: dict[str, Any] = {
            "dtype": None,
            "accept_sparse": "csr",
            "ensure_all_finite": "allow-nan",
            "ensure_min_samples": 2,
            "y_numeric": False,
        }
        if estimator is None:
            checked, target = check_X_y(X, y, **options)
        else:
            checked, target = validate_data(estimator, X, y, **options)
        table = X if hasattr(X, "columns") else checked
        target = np.asarray(target)
        task, reason = _settled_task(task, target)
        data = cls(
            table,
            target,
            column_names(table),
            check_weights(sample_weight, len(target)),
            None if groups is None else check_groups(groups, len(target), fewest=_FEWEST_GROUPS),
            task,
            reason,
        )
        columns = Table(table)
        data._refuse_huge_values(columns)
        _refuse_constant_features(columns)
        data._refuse_classes_without_weight()
        return data

    @property
    def n_rows(self) -> int:
        """Number of rows, n."""
        return len(self.y)

    @property
    def n_features(self) -> int:
        """Number of features, p."""
        return len(self.features)

    @property
    def is_classification(self) -> bool:
        """Whether y holds classes."""
        return self.task == "classification"

    @cached_property
    def classes(self) -> np.ndarray | None:
        """Class numbers of the rows, or None for numbers."""
        return numbered(self.y) if self.is_classification else None

    def rows(self, rows: np.ndarray) -> Data:
        """Only some of the rows; one may come more than once."""
        weight, groups = self.sample_weight, self.groups
        looked_up = isinstance(self.X, SomeRows)
        return replace(
            self,
            X=self.X.of_these(rows) if looked_up else take_rows(self.X, rows),
            y=self.y[rows],
            sample_weight=None if weight is None else weight[rows],
            groups=None if groups is None else groups[rows],
        )

    def in_one_piece(self) -> Data:
        """The same data, quick to take rows of again and again.

        A pandas table that was read from a file holds every column by itself, and to take rows of
        thousands of columns one by one is slower than most rankers; a copy holds them together.
        """
        return replace(self, X=self.X.copy()) if hasattr(self.X, "iloc") else self

    def looked_up(self) -> Data:
        """The same data, of which rows are taken without a copy: for our own filters only.

        Tables that are not all floats, or have gaps, come in one piece instead.
        """
        floats = Table(self.X).floats
        if floats is None or has_gaps(floats):
            return self.in_one_piece()
        values = np.ascontiguousarray(floats)
        return replace(self, X=SomeRows(values, np.arange(self.n_rows), self.features))

    def fingerprint(self) -> dict[str, Any]:
        """By what a checkpoint recognises the data: shape, hashes of values, names and types."""
        types = getattr(self.X, "dtypes", None)
        columns = [str(self.X.dtype)] if types is None else [str(kind) for kind in types]
        return {
            **self.summary(),
            "sha256_feature names": content_hash(np.array(self.features, dtype=object)),
            "sha256_column types": content_hash(np.array([*columns, str(self.y.dtype)])),
            "task": self.task,
        }

    def summary(self) -> dict[str, Any]:
        """Shape of the data and hashes by which they can be recognised."""
        return data_summary(self.X, self.y, self.sample_weight, self.groups)

    def with_target(self, y: np.ndarray) -> Data:
        """The same rows with other values of y, such as permuted ones."""
        return replace(self, y=y)

    def similarity(
        self, threshold: float, similar_to: Sequence[str] | None = None
    ) -> FeatureSimilarity | None:
        """Which features can stand in for each other: absolute correlation from a threshold on.

        With `similar_to` only the pairs with one of these features are looked for.
        Columns of text or categories are similar to nothing, and a warning names them. None, with
        a warning, where correlations cannot be computed at all.
        """
        numeric = numeric_columns(self.X)
        if len(numeric) < self.n_features:
            texts = np.delete(np.array(self.features, dtype=object), numeric).tolist()
            warnings.warn(
                f"features of text or categories are not compared with others, so that they count "
                f"as similar to none: {some(texts)}.",
                stacklevel=4,
            )
        if len(numeric) < 2:
            return None
        names = [self.features[j] for j in numeric]
        if similar_to is not None:
            known = set(names)
            similar_to = [name for name in similar_to if name in known]
        values = self.X if len(names) == self.n_features else take_columns(self.X, numeric)
        try:
            similarity = FeatureSimilarity.from_data(
                values,
                threshold=threshold,
                features=names,
                constant="ignore",
                similar_to=similar_to,
            )
        except InputError as error:
            warnings.warn(f"similar features were not looked for: {error}", stacklevel=4)
            return None
        return similarity.spread_to(self.features)

    def _refuse_huge_values(self, table: Table) -> None:
        """Refuse numbers whose squares are infinite: variances and correlations would be, too."""
        if self.y.dtype.kind == "f" and is_huge(self.y):
            raise InputError(f"the target has values beyond {HUGE:.0e}; rescale it.")
        whole = self.X.data if hasattr(self.X, "toarray") else table.floats
        if whole is None or is_huge(whole):
            for j in range(table.n_features):
                table.column(j)  # refuses such values by name

    def _refuse_classes_without_weight(self) -> None:
        if self.sample_weight is None or self.classes is None:
            return
        labels = np.unique(self.y)
        empty = labels[np.bincount(self.classes, weights=self.sample_weight) == 0]
        if len(empty):
            raise InputError(
                f"all rows of class {some([str(label) for label in empty])} have weight 0; leave "
                "those rows out, or give them weight."
            )


@dataclass(frozen=True, eq=False)
class StreamedData:
    """Rows that are read block by block, and what is known of their target: made by `check`.

    It has what `Data` has, but for what needs all rows at once.

    Attributes
    ----------
    batches : RowBatches
        The rows.
    target : StreamedTarget
        What is to be predicted.
    task, task_reason : str
        As in `Data`.
    """

    batches: RowBatches
    target: StreamedTarget
    task: str
    task_reason: str
    classes = groups = y = sample_weight = None

    @classmethod
    def check(cls, batches: RowBatches, *, task: str = "auto") -> StreamedData:
        """Read the target once, and refuse one that nothing can be learned from."""
        check_choice("task", task, TASKS)
        target = scan_target(batches)
        return cls(batches, target, *target.task(task))

    @property
    def n_rows(self) -> int:
        """Number of rows, n."""
        return self.batches.n_rows

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features."""
        return self.batches.features

    @property
    def n_features(self) -> int:
        """Number of features, p."""
        return self.batches.n_features

    def fingerprint(self) -> dict[str, Any]:
        """By what a checkpoint recognises the data: shape, names, target, and files or values."""
        return {**self.batches.fingerprint(), "task": self.task}

    def summary(self) -> dict[str, Any]:
        """Shape of the data, and where they are."""
        return self.batches.summary()

    def similarity(self, threshold: float) -> FeatureSimilarity | None:
        """Which features can stand in for each other; see `Data.similarity`."""
        if self.n_features < 2:
            return None
        return FeatureSimilarity.from_data(self.batches, threshold=threshold, constant="ignore")


def _refuse_constant_features(table: Table) -> None:
    for j in range(table.n_features):
        column = table.column(j)
        gone = missing_rows(column)
        present = column.values[~gone]
        if (gone.any() and len(present)) or (len(present) and (present != present[0]).any()):
            return
    raise InputError(
        f"none of the {table.n_features} features varies: each is constant or missing in all "
        f"{table.n_rows} rows, so there is nothing to select by."
    )


def _settled_task(task: str, y: np.ndarray) -> tuple[str, str]:
    check_choice("task", task, TASKS)
    if task == "auto":
        return infer_task(y)
    read_target(y, len(y), {"classification": "class", "regression": "continuous"}[task])
    return task, "as asked for"
