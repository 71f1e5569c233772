"""HSICLasso: features in the order in which their kernels explain the kernel of the target."""

from __future__ import annotations

from typing import Any

import numpy as np

from mainstay._validation import check_count
from mainstay.rankers.base import BlockScorer, ForTarget, NamedRanker, WeightedRanker
from mainstay.rankers.inputs import Table, Target, read_target

_ROOM = 2**28  # bytes of kernels that are kept
_SMALLEST_BLOCK = 20  # rows, unless the user says otherwise; there may be fewer altogether
_AT_ONCE = 2**22  # entries of kernels that are made together
_CONSTANT = 1e-12  # a variance or a norm below this share of what it could be is rounding
_END = 1e-9  # of the largest penalty: what is explained after that is rounding
_SAME = 1e-8  # two kernels whose distance (of unit vectors, squared) is smaller are one


class HSICLasso(WeightedRanker):
    """Order of entry into a non-negative lasso of the target's kernel on the features' kernels.

    Every feature j has a kernel matrix K_j over the rows (Gaussian of the standardised feature,
    width 1), the target a matrix L (for classes: 1/(rows of the class) where two rows share it, for
    numbers Gaussian). Both are centred and divided by their Frobenius norm. Minimised is

    ½ ‖L − Σ_j α_j K_j‖² + λ Σ_j α_j  over α_j ≥ 0,

    as λ falls from λ_max, at which no feature is in the model. The score is the λ at which the
    feature enters as a share of λ_max. Since <K_j, L> is the Hilbert-Schmidt independence
    criterion (HSIC), the first feature is the one that depends on the target most, in whatever
    way; a feature that tells the same again comes late. Features that have not entered when
    `max_features` have follow in the order of what is left of their <K_j, residual>; constant ones
    score 0. Copies of a feature tie.

    Parameters
    ----------
    max_features : int
        Stop when so many features have entered.
    block_size : int, optional
        Rows whose kernel is compared with each other (Climente-González et al. 2019): rows are
        dealt into blocks of about this size, and only pairs within a block count. Memory and time
        are p·n·block_size instead of p·n². By default all rows are one block as long as the
        kernels take no more than 256 MB, else blocks are as large as that allows, at least 20.
    target : {"auto", "class", "continuous"}
        Whether y holds classes or numbers.
    random_state : int
        How rows are dealt into blocks.

    References
    ----------
    Yamada, M., Jitkrittum, W., Sigal, L., Xing, E. P. and Sugiyama, M. (2014). High-dimensional
    feature selection by feature-wise kernelized lasso. Neural Computation 26, 185–207.
    Climente-González, H., Azencott, C.-A., Kaski, S. and Yamada, M. (2019). Block HSIC lasso:
    model-free biomarker detection for ultra-high dimensional data. Bioinformatics 35, i427–i435.

    Examples
    --------
    >>> import numpy as np
    >>> from mainstay.rankers import HSICLasso
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 4))
    >>> y = X[:, 1] ** 2 + 0.5 * rng.normal(size=80)  # no correlation sees this
    >>> HSICLasso().fit(X, y).ranks_
    array([3., 1., 4., 2.])
    """

    _block = 8

    def __init__(
        self,
        *,
        max_features: int = 100,
        block_size: int | None = None,
        target: str = "auto",
        random_state: int = 0,
    ) -> None:
        self.max_features = max_features
        self.block_size = block_size
        self.target = target
        self.random_state = random_state

    def _prepare_features(self, table: Table) -> ForTarget:
        values, back = table.centred_by_name("HSICLasso")
        most = check_count("max_features", self.max_features, 1)

        def for_target(y: Any) -> tuple[BlockScorer, dict[str, Any]]:
            target = read_target(y, table.n_rows, self.target)

            def scores(weights: np.ndarray) -> np.ndarray:
                rows = np.flatnonzero(weights)
                pairs = Pairs(weights[rows], self._blocks(len(rows), table.n_features))
                kernels = pairs.kernels(values[:, rows])
                explained = pairs.target_kernel(_rows_of(target, rows))
                return np.asarray(entry_penalties(kernels, explained, most)[back])

            return lambda block: np.stack([scores(w) for w in block]), {}

        return for_target

    def _blocks(self, n_rows: int, n_features: int) -> list[np.ndarray]:
        """Deal rows into blocks of nearly the same size."""
        size = self.block_size
        if size is None:
            size = max(_SMALLEST_BLOCK, 2 * _ROOM // (8 * n_rows * n_features))
        elif check_count("block_size", size, 2) > n_rows:
            size = n_rows
        count = max(1, n_rows // size)
        shuffled = np.random.default_rng(self.random_state).permutation(n_rows)
        return [np.sort(part) for part in np.array_split(shuffled, count)]


def _rows_of(target: Target, rows: np.ndarray) -> Target:
    """The target in some rows."""
    if target.codes is None:
        assert target.values is not None
        return Target(None, target.values[rows])
    return Target(target.codes[rows], None, target.n_classes)


class Pairs:
    """Pairs of rows within blocks, and kernels as vectors over them.

    A row of weight w stands for w copies: means are weighted, and the entry of a pair is multiplied
    by √(w_i·w_j), by √2 more off the diagonal since every pair is kept once. Inner products of
    these vectors are those of the centred matrices over all copies.

    Parameters
    ----------
    weights : array, n
        Weights of the rows, all positive.
    blocks : list of arrays
        The rows of every block.
    """

    def __init__(self, weights: np.ndarray, blocks: list[np.ndarray]) -> None:
        self._shares = weights / weights.sum()
        self._blocks = []
        for rows in blocks:
            w = weights[rows].astype(float)
            i, j = np.triu_indices(len(rows))
            scale = np.sqrt(w[i] * w[j] * np.where(i == j, 1.0, 2.0))
            self._blocks.append((rows, w / w.sum(), i, j, scale))

    def standardised(self, values: np.ndarray) -> np.ndarray:
        """Centre and scale the rows of m × n values under the weights; constants become 0."""
        centred = values - (values @ self._shares)[:, None]
        variance = centred**2 @ self._shares
        varies = variance > _CONSTANT * (values**2 @ self._shares)
        scale = np.where(varies, 1 / np.sqrt(np.where(varies, variance, 1.0)), 0.0)
        return np.asarray(centred * scale[:, None])

    def kernels(self, values: np.ndarray) -> np.ndarray:
        """Gaussian kernels of m × n values as unit vectors: m × pairs; 0 for constants."""
        z = self.standardised(values)
        width = sum(len(i) for _, _, i, _, _ in self._blocks)
        out = np.empty((len(z), width))
        step = max(1, _AT_ONCE // max(len(rows) for rows, *_ in self._blocks) ** 2)
        for at in range(0, len(z), step):
            part = z[at : at + step]
            matrices = [
                np.exp(-0.5 * (part[:, rows, None] - part[:, None, rows]) ** 2)
                for rows, *_ in self._blocks
            ]
            out[at : at + step] = self._vectors(matrices)
        out[~z.any(axis=1)] = 0.0
        return out

    def target_kernel(self, target: Target) -> np.ndarray:
        """The kernel of the target as a unit vector over the pairs."""
        if target.codes is None:
            assert target.values is not None
            return np.asarray(self.kernels(target.values[None])[0])
        sizes = np.bincount(target.codes, self._shares, minlength=target.n_classes)
        inverse = 1 / np.where(sizes > 0, sizes, 1.0)
        matrices = [
            np.where(codes[:, None] == codes, inverse[codes], 0.0)[None]
            for codes in (target.codes[rows] for rows, *_ in self._blocks)
        ]
        return np.asarray(self._vectors(matrices)[0])

    def _vectors(self, matrices: list[np.ndarray]) -> np.ndarray:
        """Centre m × n × n matrices of every block, join them, and divide by their norms."""
        parts = []
        for matrix, (_, shares, i, j, scale) in zip(matrices, self._blocks, strict=True):
            means = matrix @ shares
            centred = matrix - means[:, :, None] - means[:, None, :]
            centred += (means @ shares)[:, None, None]
            parts.append(centred[:, i, j] * scale)
        joined = np.concatenate(parts, axis=1)
        norms = np.linalg.norm(joined, axis=1, keepdims=True)
        return np.where(norms > _CONSTANT, joined / np.where(norms > 0, norms, 1.0), 0.0)


def entry_penalties(vectors: np.ndarray, target: np.ndarray, most: int) -> np.ndarray:
    """Penalties at which unit vectors enter a non-negative lasso, as shares of the largest.

    Parameters
    ----------
    vectors : array, p × q
        Unit vectors, or zeros.
    target : array, q
        What is to be explained.
    most : int
        Stop when so many have entered.

    Returns
    -------
    array of float64, p
        For those that have not entered, what is left of their product with the residual, if that
        is positive. The path is followed from corner to corner (least angle regression; Efron et
        al. 2004), where a vector enters or its coefficient falls to 0.
    """
    left = vectors @ target  # products with the residual
    largest = float(left.max(initial=0.0))
    entry = np.zeros(len(vectors))
    if largest <= _CONSTANT:
        return entry
    penalty, inside = largest, _Inside(vectors)
    barred = np.zeros(len(vectors), dtype=bool)  # just out, or a combination of those inside
    just_out = -1
    while penalty > _END * largest and (entry > 0).sum() < most:
        fresh = np.flatnonzero((left >= penalty * (1 - 1e-10)) & ~barred & ~inside.has)
        for f in fresh[fresh != just_out]:
            entry[f] = max(entry[f], penalty)
            barred[f] = not inside.add(int(f))
        if not inside.order:
            break
        step = np.linalg.solve(inside.gram(), np.ones(len(inside.order)))
        falls = step @ inside.columns()  # by how much the products fall per unit of penalty
        with np.errstate(divide="ignore", invalid="ignore"):
            meets = (penalty - left) / (1 - falls)
            leaves = -inside.coefficients / step
        meets[inside.has | barred | (falls >= 1 - 1e-12) | (meets < 0)] = np.inf
        if just_out >= 0:
            meets[just_out] = np.inf if meets[just_out] < 1e-12 else meets[just_out]
        leaves[(step >= 0) | (leaves < 0)] = np.inf
        length = min(penalty, float(meets.min()), float(leaves.min()))
        inside.coefficients += length * step
        left -= length * falls
        penalty -= length
        just_out = -1
        if leaves.min() <= length:
            just_out = inside.drop(int(leaves.argmin()))
            barred[:] = False
    rest = entry == 0
    entry[rest] = np.clip(left[rest], 0.0, penalty)
    return entry / largest


class _Inside:
    """The vectors that are in the model, their coefficients and their products with all others."""

    def __init__(self, vectors: np.ndarray) -> None:
        self._vectors = vectors
        self._products: dict[int, np.ndarray] = {}
        self.order: list[int] = []
        self.has = np.zeros(len(vectors), dtype=bool)
        self.coefficients = np.empty(0)

    def columns(self) -> np.ndarray:
        """Products of those inside with all vectors."""
        return np.array([self._products[f] for f in self.order])

    def gram(self) -> np.ndarray:
        """Products of those inside with each other."""
        return self.columns()[:, self.order]

    def add(self, f: int) -> bool:
        """Let a vector in, unless it is a combination of those that are."""
        if f not in self._products:
            self._products[f] = self._vectors @ self._vectors[f]
        across = self._products[f][self.order]
        if self.order:
            apart = 1 - across @ np.linalg.solve(self.gram(), across)
            if apart < _SAME:
                return False
        self.order.append(f)
        self.has[f] = True
        self.coefficients = np.append(self.coefficients, 0.0)
        return True

    def drop(self, place: int) -> int:
        """Take the vector at this place out; return its number."""
        f = self.order.pop(place)
        self.has[f] = False
        self.coefficients = np.delete(self.coefficients, place)
        return f


NAMED = {
    "hsic_lasso": NamedRanker(
        HSICLasso, "model", reference="Yamada et al. 2014; Climente-González et al. 2019"
    )
}
