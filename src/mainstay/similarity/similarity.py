"""Which features can stand in for each other, as a sparse graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.sparse as sp

from mainstay._validation import (
    InputError,
    check_choice,
    check_count,
    check_fraction,
    feature_names,
    natural_order,
    some,
    split_table,
)
from mainstay.batches import RowBatches
from mainstay.runs import Runs
from mainstay.similarity.linkage import complete_linkage_labels
from mainstay.similarity.pairs import Method, Pairs, check_similarities, similar_pairs
from mainstay.similarity.streamed import streamed_pairs

if TYPE_CHECKING:
    import pandas as pd

GroupKind = Literal["components", "cliques", "complete_linkage"]


@dataclass(frozen=True, eq=False, repr=False)
class FeatureSimilarity:
    """Pairs of features whose similarity reaches a threshold.

    Only those pairs are stored: p = 50,000 features never need a p × p array. Make one with
    `from_data` or `from_matrix`.

    Attributes
    ----------
    graph : scipy.sparse.csr_array
        p × p, symmetric, empty diagonal: the similarities that reach the threshold.
    threshold : float
        Features at least this similar count as exchangeable.
    features : tuple of str
        The p feature names, in column order.
    diagonal : numpy.ndarray
        Similarity of every feature with itself, 1 unless a matrix said otherwise.

    Examples
    --------
    >>> import numpy as np, mainstay as ms
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> X[:, 1] = 2 * X[:, 0] + 0.1 * X[:, 1]
    >>> sim = ms.FeatureSimilarity.from_data(X, threshold=0.9, features=["a", "b", "c"])
    >>> sim
    FeatureSimilarity: 3 features, 1 pair with |pearson| >= 0.9; 2 features in 1 group
    >>> sim.groups()
    [('a', 'b')]
    """

    graph: Any
    threshold: float
    features: tuple[str, ...]
    diagonal: np.ndarray
    label: str = "similarity"

    @classmethod
    def from_matrix(
        cls, matrix: Any, threshold: float = 0.9, *, features: Any = None
    ) -> FeatureSimilarity:
        """Take a symmetric p × p matrix of similarities in [0, 1].

        Parameters
        ----------
        matrix : array, scipy.sparse matrix, pandas or polars DataFrame
            In a sparse matrix what is not stored is 0, so a threshold of 0 is refused there: it
            would make every pair of features similar.
        threshold : float
            Smallest similarity that makes two features exchangeable. In few rows unrelated features
            reach it too; a warning says how many would if more than 5% of the features did.
        features : sequence of str, optional
            Names; taken from the columns of a DataFrame if not given.
        """
        threshold = check_fraction("threshold", threshold)
        values, columns = split_table(matrix)
        if sp.issparse(values):
            if threshold == 0:
                raise InputError(
                    "threshold=0 with a sparse matrix would make all pairs similar, since entries "
                    "that are not stored count as 0. Use a threshold above 0, or a dense matrix."
                )
            stored = sp.coo_array(values)
            stored.sum_duplicates()
            rows, cols, similarities = stored.row, stored.col, np.asarray(stored.data, dtype=float)
            shape = stored.shape
        else:
            try:
                dense = np.asarray(values, dtype=float)
            except (TypeError, ValueError) as error:
                raise InputError(f"a similarity matrix is p × p numbers: {error}") from None
            shape = dense.shape
            if dense.ndim != 2:
                raise InputError(f"a similarity matrix is p × p, got shape {shape}.")
            rows, cols = np.nonzero((dense >= threshold) | ~np.isfinite(dense) | (dense < 0))
            similarities = dense[rows, cols]
        if shape[0] != shape[1]:
            raise InputError(f"a similarity matrix is p × p, got {shape[0]} × {shape[1]}.")
        names = feature_names(features, columns, shape[0])
        index = [] if columns is None else [str(name) for name in getattr(matrix, "index", ())]
        if index != columns and set(index) == set(columns or ()) != set():
            raise InputError("the rows and the columns name the features in different orders.")
        check_similarities(rows, cols, similarities, names)
        diagonal = np.zeros(shape[0])
        on_diagonal = rows == cols
        diagonal[rows[on_diagonal]] = similarities[on_diagonal]
        if not sp.issparse(values):
            diagonal = np.diagonal(dense).copy()
        keep = (similarities >= threshold) & ~on_diagonal
        graph = sp.csr_array((similarities[keep], (rows[keep], cols[keep])), shape=shape)
        graph.sort_indices()
        _check_symmetric(graph, names)
        return cls(graph, threshold, names, diagonal)

    @classmethod
    def from_data(
        cls,
        X: Any,
        method: Method = "pearson",
        threshold: float = 0.9,
        *,
        features: Any = None,
        min_overlap: int | None = None,
        constant: Literal["warn", "ignore"] = "warn",
        similar_to: Sequence[str] | None = None,
    ) -> FeatureSimilarity:
        """Compare the columns of a data table, block by block.

        Parameters
        ----------
        X : array, scipy.sparse matrix, pandas or polars DataFrame of shape (n, p), or RowBatches
            Samples × features, numeric; `RowBatches` are read block by block. With
            `method="pearson"` values may be missing (NaN, None or pandas.NA): two features are then
            compared by the rows that both of them have.
        method : {"pearson", "spearman"} or callable
            Absolute correlation, or a function of two blocks of columns (n × a and n × b) that
            returns their a × b similarities in [0, 1]. Only "pearson" takes missing values.
        threshold : float
            Smallest similarity that makes two features exchangeable.
        features : sequence of str, optional
            Names; taken from the columns of a DataFrame if not given.
        min_overlap : int, optional
            How many rows two features must share to be compared at all, if one of them has missing
            values; pairs that share fewer count as not similar. A warning names the features that
            cannot be compared with more than 5% of the others. By default half of the rows, and at
            least 10: a statement about the whole table should rest on most of it, and in fewer
            than 10 rows unrelated features often correlate by chance.
        constant : {"warn", "ignore"}
            Whether to warn of constant features, which are similar to nothing.
        similar_to : sequence of str, optional
            Look only for features that are similar to one of these. All pairs of p features take
            time that grows with p², these only with p.

        Examples
        --------
        >>> import numpy as np, mainstay as ms
        >>> X = np.random.default_rng(0).normal(size=(40, 3))
        >>> X[:, 2] = 2 * X[:, 0]
        >>> X[:8, 2] = np.nan
        >>> ms.FeatureSimilarity.from_data(X).groups()
        [('x0', 'x2')]
        """
        threshold = check_fraction("threshold", threshold)
        if isinstance(X, RowBatches):
            names = feature_names(features, list(X.features), X.n_features)
            pairs = streamed_pairs(X, method, threshold, min_overlap=min_overlap, constant=constant)
            return cls._of_pairs(pairs, threshold, names, f"|{method}|")
        values, columns = split_table(X)
        try:
            data = np.asarray(values.toarray() if sp.issparse(values) else values)
        except ValueError:
            raise InputError(
                "data must be samples × features, got rows of different length."
            ) from None
        if data.ndim != 2:
            raise InputError(f"data must be samples × features, got shape {data.shape}.")
        names = feature_names(features, columns, data.shape[1])
        if len(data) == 0:
            raise InputError("there are no samples (rows) to compare features by.")
        data = np.ascontiguousarray(_numeric_columns(data, names))
        pairs = similar_pairs(
            data,
            method,
            threshold,
            names,
            min_overlap=min_overlap,
            constant=constant,
            similar_to=None if similar_to is None else _numbers_of(similar_to, names),
        )
        label = getattr(method, "__name__", "similarity") if callable(method) else f"|{method}|"
        return cls._of_pairs(pairs, threshold, names, label)

    @classmethod
    def _of_pairs(
        cls, pairs: Pairs, threshold: float, names: tuple[str, ...], label: str
    ) -> FeatureSimilarity:
        rows, cols, similarities = pairs
        p = len(names)
        upper = sp.csr_array((similarities, (rows, cols)), shape=(p, p))
        return cls(_add_transpose(upper), threshold, names, np.ones(p), label)

    @property
    def n_features(self) -> int:
        """Number of features, p."""
        return len(self.features)

    @property
    def criterion(self) -> str:
        """What makes two features exchangeable, such as `|pearson| >= 0.9`."""
        return f"{self.label} >= {self.threshold:g}"

    @property
    def degrees(self) -> np.ndarray:
        """How many other features every feature is similar to."""
        return np.diff(self.graph.indptr)

    def group_labels(self, kind: GroupKind = "components") -> np.ndarray:
        """Number the groups of exchangeable features: one label for every feature.

        Parameters
        ----------
        kind : {"components", "cliques", "complete_linkage"}
            In a component every feature is linked to every other by a chain of similar features.
            In the other two kinds all features of a group are similar to each other: cliques grow
            greedily, from the feature with most similar ones; complete linkage merges the two
            groups whose least similar members are most similar, again and again.
        """
        check_choice("kind of group", kind, ("components", "cliques", "complete_linkage"))
        if kind == "components":
            return np.asarray(sp.csgraph.connected_components(self.graph, directed=False)[1])
        if kind == "complete_linkage":
            return complete_linkage_labels(self.graph, self._places())
        return self._clique_labels()

    def groups(self, kind: GroupKind = "components") -> list[tuple[str, ...]]:
        """List the groups of two or more exchangeable features, largest first."""
        labels = self.group_labels(kind)
        members: dict[int, list[int]] = {}
        for feature in np.flatnonzero(np.bincount(labels)[labels] > 1):
            members.setdefault(int(labels[feature]), []).append(int(feature))
        largest_first = sorted(members.values(), key=lambda group: (-len(group), group))
        return [tuple(self.features[i] for i in group) for group in largest_first]

    def group_frequency(self, selections: Runs) -> np.ndarray:
        """Compute in which share of the runs a feature, or one similar to it, was selected.

        Parameters
        ----------
        selections : Runs
            What every run selected; features are matched by name.

        Returns
        -------
        numpy.ndarray
            One share for every feature of the runs, in their order.

        Examples
        --------
        >>> import numpy as np, mainstay as ms
        >>> twins = np.array([[1, 0.95, 0], [0.95, 1, 0], [0, 0, 1]])
        >>> similarity = ms.FeatureSimilarity.from_matrix(twins, features=["a", "b", "c"])
        >>> similarity.group_frequency(ms.Runs.from_sets([["a"], ["b"]], features=["a", "b", "c"]))
        array([1., 1., 0.])
        """
        graph = self.aligned_to(selections.features).graph
        links = sp.csr_array((np.ones(graph.nnz), graph.indices, graph.indptr), shape=graph.shape)
        support = selections.sparse_support
        either = (support @ links + support > 0).sum(axis=0)
        return np.asarray(either).ravel() / selections.n_runs

    def twin_names(self, most: int = 3) -> list[str]:
        """Name the features that can stand in for each one, most similar first.

        Parameters
        ----------
        most : int
            How many to name; of the rest only the number is given, as in "a; b; c; and 2 more".

        Returns
        -------
        list of str
            One text for every feature, empty where nothing is similar to it.
        """
        most = check_count("most", most, 1)
        graph, texts = self.graph, [""] * self.n_features
        for feature in np.flatnonzero(self.degrees).tolist():
            span = slice(graph.indptr[feature], graph.indptr[feature + 1])
            closest_first = np.argsort(-graph.data[span], kind="stable")
            twins = [self.features[i] for i in graph.indices[span][closest_first]]
            more = [f"and {len(twins) - most} more"] * (len(twins) > most)
            texts[feature] = "; ".join(twins[:most] + more)
        return texts

    def _places(self) -> np.ndarray:
        """Place of every feature that has similar ones, in an order by name; -1 for the others."""
        similar = np.flatnonzero(self.degrees)
        place = np.full(self.n_features, -1)
        order = natural_order([self.features[i] for i in similar])
        place[similar[order]] = np.arange(len(similar))
        return place

    def _clique_labels(self) -> np.ndarray:
        graph, degrees = self.graph, self.degrees
        similar = np.flatnonzero(degrees)
        place = self._places()
        neighbours = {
            int(i): set(graph.indices[graph.indptr[i] : graph.indptr[i + 1]].tolist())
            for i in similar
        }
        labels = np.full(self.n_features, -1)
        next_label = 0
        for seed in similar[np.lexsort((place[similar], -degrees[similar]))]:
            if labels[seed] >= 0:
                continue
            span = slice(graph.indptr[seed], graph.indptr[seed + 1])
            near, weight = graph.indices[span], graph.data[span]
            clique = [int(seed)]
            for other in near[np.lexsort((place[near], -weight))]:
                if labels[other] < 0 and all(int(other) in neighbours[c] for c in clique):
                    clique.append(int(other))
            labels[clique] = next_label
            next_label += 1
        alone = labels < 0
        labels[alone] = next_label + np.arange(alone.sum())
        return labels

    def aligned_to(self, features: Sequence[str]) -> FeatureSimilarity:
        """Return the same similarities in the column order of `features`.

        Features are matched by name, or by position where one side has only the names x0, x1, …
        that stand for "not given".
        """
        features = tuple(features)
        if features == self.features:
            return self
        if len(features) == self.n_features:
            graph, diagonal = self.graph, self.diagonal
            if set(features) == set(self.features):
                where = {name: i for i, name in enumerate(self.features)}
                order = np.array([where[name] for name in features])
                graph, diagonal = sp.csr_array(graph[order][:, order]), diagonal[order]
                graph.sort_indices()
                return replace(self, graph=graph, diagonal=diagonal, features=features)
            if feature_names(None, None, self.n_features) in (features, self.features):
                return replace(self, features=features)
        known = set(self.features)
        missing = [name for name in features if name not in known]
        which = f"not among the similarities: {some(missing)}"
        if not missing:
            which = f"not among the runs: {some([n for n in self.features if n not in features])}"
        raise InputError(
            f"the similarities ({self.n_features} features) and the runs ({len(features)} features)"
            f" do not have the same features; {which}."
        )

    def spread_to(self, features: Sequence[str]) -> FeatureSimilarity:
        """The same similarities among more features; those that are new are similar to nothing."""
        features = tuple(features)
        if features == self.features:
            return self
        where = {name: i for i, name in enumerate(features)}
        place = np.array([where[name] for name in self.features])
        stored = self.graph.tocoo()
        shape = (len(features), len(features))
        graph = sp.csr_array((stored.data, (place[stored.row], place[stored.col])), shape=shape)
        graph.sort_indices()
        diagonal = np.ones(len(features))
        diagonal[place] = self.diagonal
        return replace(self, graph=graph, features=features, diagonal=diagonal)

    def to_frame(self) -> pd.DataFrame:
        """Return the similar pairs as a table: feature, other, similarity."""
        import pandas as pd

        upper = sp.coo_array(sp.triu(self.graph, k=1))
        names = np.asarray(self.features, dtype=object)
        return pd.DataFrame(
            {"feature": names[upper.row], "other": names[upper.col], "similarity": upper.data}
        )

    def __repr__(self) -> str:
        pairs, grouped = self.graph.nnz // 2, int((self.degrees > 0).sum())
        groups = len(self.groups())
        return (
            f"FeatureSimilarity: {self.n_features} features, {pairs} pair{'s' * (pairs != 1)} "
            f"with {self.criterion}; "
            f"{grouped} features in {groups} group{'s' * (groups != 1)}"
        )


# ---------------------------------------------------------------------- checks


def _check_symmetric(graph: Any, names: Sequence[str]) -> None:
    difference = sp.coo_array(abs(graph - graph.T))
    bad = np.flatnonzero(difference.data > 1e-8)
    if bad.size:
        i, j = int(difference.row[bad[0]]), int(difference.col[bad[0]])
        raise InputError(
            f"a similarity matrix is symmetric, but {names[i]!r}, {names[j]!r} and its transpose "
            f"differ by {difference.data[bad[0]]:g} (after the threshold)."
        )


def _numbers_of(wanted: Sequence[str], names: Sequence[str]) -> np.ndarray:
    """Column numbers of features that are given by name."""
    where = {name: i for i, name in enumerate(names)}
    unknown = [name for name in wanted if name not in where]
    if isinstance(wanted, str) or unknown:
        raise InputError(
            f"similar_to must list names of features, such as {some(names, 2)}; got "
            f"{some([wanted] if isinstance(wanted, str) else unknown)}."
        )
    return np.array([where[name] for name in wanted], dtype=np.intp)


def _numeric_columns(data: np.ndarray, names: Sequence[str]) -> np.ndarray:
    if data.dtype == object:
        import pandas as pd

        data = np.where(pd.isna(data), np.nan, data)
    try:
        data = np.asarray(data, dtype=np.float32 if data.dtype == np.float32 else float)
    except (TypeError, ValueError):
        for name, column in zip(names, data.T, strict=True):
            for value in column:
                try:
                    float(value)
                except (TypeError, ValueError):
                    raise InputError(
                        f"feature {name!r} is not numeric (it holds {value!r}); "
                        "encode it or leave it out."
                    ) from None
    infinite = np.flatnonzero(np.isinf(data).any(axis=0))
    if infinite.size:
        raise InputError(
            f"{infinite.size} feature(s) have infinite values: "
            f"{some([names[int(i)] for i in infinite])}. Replace them by numbers, or by NaN if "
            "they mean 'missing'."
        )
    return data


def _add_transpose(upper: Any) -> Any:
    """Mirror an upper triangle, keeping stored zeros (similar at threshold 0)."""
    upper = sp.coo_array(upper)
    rows = np.concatenate((upper.row, upper.col))
    cols = np.concatenate((upper.col, upper.row))
    data = np.concatenate((upper.data, upper.data))
    graph = sp.csr_array((data, (rows, cols)), shape=upper.shape)
    graph.sort_indices()
    return graph
