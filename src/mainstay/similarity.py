"""Which features can stand in for each other, as a sparse graph."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.sparse as sp

from mainstay._validation import (
    InputError,
    check_choice,
    check_fraction,
    feature_names,
    natural_order,
    some,
    split_table,
)
from mainstay.runs import average_ranks

if TYPE_CHECKING:
    import pandas as pd

Method = str | Callable[[np.ndarray, np.ndarray], np.ndarray]

_BLOCK_BYTES = 16 * 2**20
_MOST_PAIRS = 200_000_000


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
    >>> X = np.array([[1., 2., 0.], [2., 4.1, 5.], [3., 6., 1.], [4., 8., 2.]])
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
            Smallest similarity that makes two features exchangeable.
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
        _check_similarities(rows, cols, similarities, names)
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
    ) -> FeatureSimilarity:
        """Compare the columns of a data table, block by block.

        Parameters
        ----------
        X : array, scipy.sparse matrix, pandas or polars DataFrame of shape (n, p)
            Samples × features, numeric and complete. A constant column is similar to nothing.
        method : {"pearson", "spearman"} or callable
            Absolute correlation, or a function of two blocks of columns (n × a and n × b) that
            returns their a × b similarities in [0, 1].
        threshold : float
            Smallest similarity that makes two features exchangeable.
        features : sequence of str, optional
            Names; taken from the columns of a DataFrame if not given.
        """
        threshold = check_fraction("threshold", threshold)
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
        if callable(method):
            label, pairs = getattr(method, "__name__", "similarity"), _callable_pairs(data, method)
        else:
            check_choice("similarity method", method, ("pearson", "spearman"))
            if method == "spearman":
                data = average_ranks(np.ascontiguousarray(data.T)).T
            label, pairs = f"|{method}|", _correlation_pairs(_unit_columns(data, names))
        rows, cols, similarities = _collect(pairs, threshold, data.shape[1], names)
        shape = (data.shape[1], data.shape[1])
        upper = sp.csr_array((similarities, (rows, cols)), shape=shape)
        graph = _add_transpose(upper)
        return cls(graph, threshold, names, np.ones(shape[0]), label)

    @property
    def n_features(self) -> int:
        """Number of features, p."""
        return len(self.features)

    @property
    def degrees(self) -> np.ndarray:
        """How many other features every feature is similar to."""
        return np.diff(self.graph.indptr)

    def group_labels(self, kind: Literal["components", "cliques"] = "components") -> np.ndarray:
        """Number the groups of exchangeable features: one label for every feature.

        In a component every feature is linked to every other by a chain of similar features; in a
        clique all features are similar to each other. Cliques partition the features greedily,
        from the feature with most similar ones, adding the most similar first.
        """
        check_choice("kind of group", kind, ("components", "cliques"))
        if kind == "components":
            return np.asarray(sp.csgraph.connected_components(self.graph, directed=False)[1])
        return self._clique_labels()

    def groups(
        self, kind: Literal["components", "cliques"] = "components"
    ) -> list[tuple[str, ...]]:
        """List the groups of two or more exchangeable features, largest first."""
        labels = self.group_labels(kind)
        members: dict[int, list[int]] = {}
        for feature in np.flatnonzero(np.bincount(labels)[labels] > 1):
            members.setdefault(int(labels[feature]), []).append(int(feature))
        found = sorted(members.values(), key=lambda group: (-len(group), group))
        return [tuple(self.features[i] for i in group) for group in found]

    def _clique_labels(self) -> np.ndarray:
        graph, degrees = self.graph, self.degrees
        similar = np.flatnonzero(degrees)
        place = np.full(self.n_features, -1)
        order = natural_order([self.features[i] for i in similar])
        place[similar[order]] = np.arange(len(similar))
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

    def group_frequency(self, selections: Any) -> np.ndarray:
        graph = self.aligned_to(selections.features).graph
        support = selections.sparse_support
        either = (support @ graph + support > 0).sum(axis=0)
        return np.asarray(np.asarray(either).ravel() / selections.n_runs)

    def twin_names(self, most: int = 3) -> list[str]:
        graph, texts = self.graph, []
        for feature in range(self.n_features):
            span = slice(graph.indptr[feature], graph.indptr[feature + 1])
            others = graph.indices[span][np.argsort(-graph.data[span], kind="stable")]
            listed = "; ".join(self.features[i] for i in others[:most])
            more = len(others) - most
            texts.append(listed if more <= 0 else f"{listed}; and {more} more")
        return texts

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
            f"with {self.label} >= {self.threshold:g}; "
            f"{grouped} features in {groups} group{'s' * (groups != 1)}"
        )


# ---------------------------------------------------------------------- checks


def _check_similarities(
    rows: np.ndarray, cols: np.ndarray, values: np.ndarray, names: Sequence[str]
) -> None:
    bad = np.flatnonzero(~((values >= 0) & (values <= 1)))
    if bad.size:
        i, j = names[int(rows[bad[0]])], names[int(cols[bad[0]])]
        raise InputError(
            f"similarities lie in [0, 1], but that of {i!r} and {j!r} is {values[bad[0]]}. "
            "For correlations give their absolute values."
        )


def _check_symmetric(graph: Any, names: Sequence[str]) -> None:
    difference = sp.coo_array(abs(graph - graph.T))
    bad = np.flatnonzero(difference.data > 1e-8)
    if bad.size:
        i, j = int(difference.row[bad[0]]), int(difference.col[bad[0]])
        raise InputError(
            f"a similarity matrix is symmetric, but {names[i]!r}, {names[j]!r} and its transpose "
            f"differ by {difference.data[bad[0]]:g} (after the threshold)."
        )


def _numeric_columns(data: np.ndarray, names: Sequence[str]) -> np.ndarray:
    try:
        data = np.asarray(data, dtype=float)
    except (TypeError, ValueError):
        for name, column in zip(names, data.T, strict=True):
            for value in column:
                try:
                    float(value if value is not None else "nan")
                except (TypeError, ValueError):
                    raise InputError(
                        f"feature {name!r} is not numeric (it holds {value!r}); "
                        "encode it or leave it out."
                    ) from None
    missing = np.flatnonzero(~np.isfinite(data).all(axis=0))
    if missing.size:
        raise InputError(
            f"{missing.size} feature(s) have missing or infinite values: "
            f"{some([names[int(i)] for i in missing])}. Impute them first."
        )
    return data


# ---------------------------------------------------------------------- similarities in blocks


def _unit_columns(data: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Centre the columns and scale them to length 1; constant ones become 0."""
    largest = np.abs(data).max(axis=0)
    scaled = data / np.where(largest > 0, largest, 1.0)
    centred = scaled - scaled.mean(axis=0)
    length = np.sqrt(np.einsum("ij,ij->j", centred, centred))
    constant = length <= 1e-13 * np.sqrt(len(data))
    if constant.any():
        which = [names[int(i)] for i in np.flatnonzero(constant)]
        warnings.warn(
            f"{len(which)} constant feature(s) are similar to nothing: {some(which)}.",
            stacklevel=3,
        )
    length[constant] = 1.0
    centred[:, constant] = 0.0
    return np.asarray(centred / length)


def _blocks(p: int) -> list[tuple[int, int]]:
    width = int(np.clip(_BLOCK_BYTES // (8 * p), 1, p))
    return [(start, min(start + width, p)) for start in range(0, p, width)]


def _correlation_pairs(unit: np.ndarray) -> Any:
    """Make a generator of (rows, columns, |correlation|) of the upper triangle for a threshold.

    Single precision finds the candidates at twice the speed; double precision settles them.
    """
    rough = unit.astype(np.float32)
    varies = np.abs(unit).max(axis=0, initial=0) > 0
    margin = 1e-5 + 1e-7 * len(unit)

    def pairs(threshold: float) -> Any:
        for start, stop in _blocks(unit.shape[1]):
            near = np.abs(rough[:, start:stop].T @ rough[:, start:]) >= threshold - margin
            rows, cols = np.nonzero(near)
            later = (cols > rows) & varies[rows + start] & varies[cols + start]
            rows, cols = rows[later] + start, cols[later] + start
            exact = np.empty(len(rows))
            step = max(1, _BLOCK_BYTES // (16 * len(unit)))
            for at in range(0, len(rows), step):
                chunk = slice(at, at + step)
                exact[chunk] = np.abs(
                    np.einsum("ij,ij->j", unit[:, rows[chunk]], unit[:, cols[chunk]])
                )
            exact[exact > 1 - 1e-12] = 1.0  # duplicates are exactly similar
            yield rows, cols, exact

    return pairs


def _callable_pairs(data: np.ndarray, method: Callable[..., Any]) -> Any:
    def pairs(threshold: float) -> Any:
        for start, stop in _blocks(data.shape[1]):
            block = np.asarray(method(data[:, start:stop], data[:, start:]), dtype=float)
            expected = (stop - start, data.shape[1] - start)
            if block.shape != expected:
                raise InputError(
                    f"the similarity function returned shape {block.shape} for blocks of "
                    f"{expected[0]} and {expected[1]} columns; it must return {expected}."
                )
            rows, cols = np.nonzero((block >= threshold) | ~np.isfinite(block) | (block < 0))
            later = cols > rows
            rows, cols = rows[later], cols[later]
            yield rows + start, cols + start, block[rows, cols]

    return pairs


def _collect(
    pairs: Any, threshold: float, p: int, names: Sequence[str]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    found: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    total = 0
    for rows, cols, values in pairs(threshold):
        _check_similarities(rows, cols, values, names)
        keep = values >= threshold
        found.append((rows[keep].astype(np.int32), cols[keep].astype(np.int32), values[keep]))
        total += len(found[-1][0])
        if total > _MOST_PAIRS:
            raise InputError(
                f"more than {_MOST_PAIRS:,} of the {p * (p - 1) // 2:,} pairs of features reach "
                f"the threshold {threshold:g}; raise it."
            )
    rows, cols, values = (np.concatenate(part) for part in zip(*found, strict=True))
    return rows, cols, values


def _add_transpose(upper: Any) -> Any:
    """Mirror an upper triangle, keeping stored zeros (similar at threshold 0)."""
    upper = sp.coo_array(upper)
    rows = np.concatenate((upper.row, upper.col))
    cols = np.concatenate((upper.col, upper.row))
    data = np.concatenate((upper.data, upper.data))
    graph = sp.csr_array((data, (rows, cols)), shape=upper.shape)
    graph.sort_indices()
    return graph
