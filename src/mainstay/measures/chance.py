"""What random selections score: exactly where possible, otherwise by enumeration or simulation.

Two independent uniform random sets of sizes a and b stand behind every expectation. All functions
take the distinct sizes at once and return one value for every pair of them.

For sets with similar features the score is r + adjustment. E[r] = ab/p. The adjustment depends only
on the features that have a similar one, and

- the mean of the two one-sided adjustments, (A + A′)/2 or (M + M′)/2, has a closed form: its
  probability for one feature depends on that feature's degree alone (`expected_one_sided`);
- a matching adds up over the connected components of the similarity graph. A component in which all
  features are similar to each other has a closed form; a small one is enumerated;
- min(A, A′) and min(M, M′) do not add up, but are enumerated when few features have a similar one;
- what remains is simulated, with two control variates whose expectations are known exactly: the
  mean of the one-sided adjustments, and what the adjustment would be if components were cliques.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import comb

from mainstay._validation import InputError

MOST_ENUMERATED = 10_000_000  # pairs of sets that "exact" may enumerate
AUTO_ENUMERATED = 200_000  # pairs of sets that "auto" enumerates rather than simulates
BATCH_DRAWS = 100
FEWEST_BATCHES = 20
CROWDED = 4  # similar features per set, on average


def ratio(numerator: Any, denominator: Any) -> np.ndarray:
    """Divide, with NaN where the denominator is 0."""
    numerator, denominator = np.asarray(numerator), np.asarray(denominator, dtype=float)
    if denominator.all():
        return np.asarray(numerator / denominator)
    out = np.full(np.broadcast_shapes(numerator.shape, denominator.shape), np.nan)
    return np.asarray(np.divide(numerator, denominator, out=out, where=denominator != 0))


def correct_for_chance(score: Any, expected: Any, bound: Any) -> np.ndarray:
    """(score − E) / (bound − E), undefined where bound and E agree to rounding."""
    room = np.asarray(bound - expected, dtype=float)
    return ratio(score - expected, np.where(room <= 1e-10 * np.maximum(bound, 1), 0.0, room))


# ---------------------------------------------------------------------- distributions


def hypergeometric(p: int, marked: int, sizes: np.ndarray) -> np.ndarray:
    """P(a of `marked` features are in a random set of size k), one row per k, a = 0 … marked.

    Built from ratios of neighbouring terms, so that it stays accurate for any p.
    """
    k = np.asarray(sizes, dtype=float)[:, None]
    a = np.arange(marked, dtype=float)
    low = np.maximum(0, k + marked - p)
    with np.errstate(divide="ignore", invalid="ignore"):
        step = np.log((marked - a) * (k - a)) - np.log((a + 1) * (p - marked - k + a + 1))
    step = np.where(a < low, 0.0, np.where(a >= np.minimum(marked, k), -np.inf, step))
    log_weight = np.concatenate((np.zeros((len(k), 1)), np.cumsum(step, axis=1)), axis=1)
    log_weight[np.arange(marked + 1) < low] = -np.inf
    weight = np.exp(log_weight - log_weight.max(axis=1, keepdims=True))
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def times_selected(sizes: np.ndarray, p: int) -> np.ndarray:
    """P(a given feature is in h of m random sets of these sizes), h = 0 … m (Poisson binomial)."""
    distribution = np.ones(1)
    for chance in np.asarray(sizes) / p:
        distribution = np.convolve(distribution, (1 - chance, chance))
    return distribution


def union_size(sizes: np.ndarray, p: int) -> np.ndarray:
    """P(u features are in the union of random sets of these sizes), u = 0 … p."""
    distribution = np.zeros(p + 1)
    distribution[0] = 1.0
    for k in sizes:
        reached = np.flatnonzero(distribution)
        overlap = hypergeometric(
            p, int(k), reached
        )  # how many of the k features are in the union already
        following = np.zeros(p + 1)
        for shared in range(int(k) + 1):
            target = reached + int(k) - shared
            inside = target <= p
            following[target[inside]] += distribution[reached[inside]] * overlap[inside, shared]
        distribution = following
    return distribution


def expected_overlap_score(
    score: Callable[..., np.ndarray], sizes: np.ndarray, p: int
) -> np.ndarray:
    """E[score(r, a, b, p)] for every pair of sizes, r being hypergeometric."""
    expected = np.empty((len(sizes), len(sizes)))
    for row, a in enumerate(sizes):
        chance = hypergeometric(p, int(a), sizes)
        values = score(np.arange(a + 1.0)[None, :], float(a), sizes[:, None].astype(float), p)
        expected[row] = np.where(chance > 0, chance * values, 0.0).sum(axis=1)
    return expected


# ---------------------------------------------------------------------- similar features


@dataclass(frozen=True)
class Graph:
    """The similarity graph of the features that have a similar one, in the form kernels read."""

    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray
    edge: np.ndarray
    ends: np.ndarray

    @classmethod
    def from_sparse(cls, matrix: Any) -> Graph:
        """Number the edges by decreasing similarity, ties by feature order: the greedy order."""
        matrix = sp.csr_array(matrix)
        matrix.sort_indices()
        n = matrix.shape[0]
        rows = np.repeat(np.arange(n), np.diff(matrix.indptr))
        cols, weights = matrix.indices.astype(np.int64), matrix.data.astype(float)
        pair = np.minimum(rows, cols) * n + np.maximum(rows, cols)
        pairs, once, which = np.unique(pair, return_index=True, return_inverse=True)
        order = np.lexsort((pairs, -weights[once]))
        place = np.empty(len(pairs), dtype=np.int64)
        place[order] = np.arange(len(pairs))
        ends = np.stack((pairs[order] // n, pairs[order] % n), axis=1)
        return cls(matrix.indptr.astype(np.int64), cols, weights, place[which], ends)

    @property
    def n(self) -> int:
        """Number of features in the graph."""
        return len(self.indptr) - 1

    @property
    def degrees(self) -> np.ndarray:
        """How many similar features every feature has."""
        return np.diff(self.indptr)

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """The arguments of the kernels."""
        return self.indptr, self.indices, self.weights, self.edge, self.ends

    def to_sparse(self) -> Any:
        """Return the p × p adjacency as a scipy.sparse array."""
        return sp.csr_array((self.weights, self.indices, self.indptr), shape=(self.n, self.n))


def expected_one_sided(graph: Graph, sizes: np.ndarray, p: int, *, mean: bool) -> np.ndarray:
    """E[A(V_a, V_b)], or E[M(V_a, V_b)] if `mean`, for every ordered pair of sizes (a, b).

    E[A] = Σ_x (a/p)(1 − b/p)·[1 − Σ_j Hyp(j; p−1, d_x, a−1)·C(p−1−d_x+j, b)/C(p−1, b)]: x is in
    the first set only, and none of its d_x similar features is in the second set only when all but
    the j that are in the first set are missing from the second. Given that some are there, each is
    equally likely to be, so that E[M] weighs x by its mean similarity.
    """
    expected = np.zeros((len(sizes), len(sizes)))
    if not graph.n:
        return expected
    degrees = graph.degrees
    weight = np.ones(graph.n)
    if mean:
        weight = np.add.reduceat(graph.weights, graph.indptr[:-1]) / degrees
    for d in np.unique(degrees):
        in_first = hypergeometric(p - 1, int(d), np.maximum(sizes - 1, 0))
        t = np.arange(d)
        factors = np.maximum(p - 1 - sizes[:, None] - t, 0) / (p - 1 - t)
        missing = np.concatenate((np.ones((len(sizes), 1)), np.cumprod(factors, axis=1)), axis=1)
        none_there = in_first @ missing[:, ::-1].T
        expected += weight[degrees == d].sum() * (1 - none_there)
    return np.asarray(expected * (sizes[:, None] / p) * (1 - sizes[None, :] / p))


@dataclass(frozen=True)
class Expectation:
    """Expected adjustment for every pair of sizes, and how precisely it is known."""

    mean: np.ndarray
    standard_error: np.ndarray | None = None
    value_error: float = 0.0
    n_draws: int = 0


@dataclass(frozen=True)
class Chance:
    """How the caller wants to correct for chance, when to stop simulating, and the randomness.

    `rng` draws random selections; `seed` decides how ties in rankings are broken.
    """

    correction: str
    tolerance: float
    max_draws: int
    rng: np.random.Generator
    seed: int = 0

    @property
    def asked_for(self) -> bool:
        """Whether to correct even a measure that its authors left uncorrected."""
        return self.correction in ("exact", "estimate")


Sensitivity = Callable[[np.ndarray], np.ndarray]
"""From expectations per pair of sizes to the derivative of the stability by each of them."""


def expected_adjustment(
    kind: int,
    graph: Graph,
    sizes: np.ndarray,
    p: int,
    chance: Chance,
    sensitivity: Sensitivity,
) -> Expectation:
    """Expectation of the adjustment `kind` (a kernel's constant), as exact as the caller asks."""
    from mainstay._kernels import adjustments

    if not graph.n:
        return Expectation(np.zeros((len(sizes), len(sizes))))
    limit = AUTO_ENUMERATED if chance.correction != "exact" else MOST_ENUMERATED
    exact = np.zeros((len(sizes), len(sizes)))
    too_large: list[np.ndarray] = []
    by_shape: dict[bytes, np.ndarray] = {}
    adds_up = kind in (adjustments.GREEDY, adjustments.MATCHING)
    for block in _components(graph) if adds_up else [np.arange(graph.n)]:
        part = Graph.from_sparse(graph.to_sparse()[block][:, block]) if adds_up else graph
        if adds_up and part.degrees.min(initial=0) == part.n - 1:
            key = b"clique %d" % part.n
            if key not in by_shape:
                by_shape[key] = _expected_in_clique(part.n, sizes, p)
        elif part.n * math.log(3) <= math.log(limit):
            key = part.indptr.tobytes() + part.indices.tobytes() + part.edge.tobytes()
            key += part.weights.tobytes() if not adds_up else b""
            if key not in by_shape:
                by_shape[key] = _enumerated(kind, part, sizes, p)
        else:
            too_large.append(block)
            continue
        exact += by_shape[key]
    if not too_large:
        return Expectation(exact)
    if chance.correction == "exact":
        raise InputError(
            f"the exact expectation would need 3^{max(map(len, too_large))} cases, more than "
            f"{MOST_ENUMERATED:,}: too many similar features. Use correction='estimate'."
        )
    members = np.sort(np.concatenate(too_large))
    left_over = Graph.from_sparse(graph.to_sparse()[members][:, members])
    return _simulated(kind, left_over, sizes, p, exact, chance, sensitivity)


def _components(graph: Graph) -> list[np.ndarray]:
    n, labels = sp.csgraph.connected_components(graph.to_sparse(), directed=False)
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.cumsum(np.bincount(labels, minlength=n))[:-1])


def _expected_in_clique(s: int, sizes: np.ndarray, p: int) -> np.ndarray:
    """E[min(|A∖B|, |B∖A|)] among s mutually similar features.

    min(|A∖B|, |B∖A|) = min(|A|, |B|) − |A∩B|, and E[min(|A|, |B|)] = Σ_v P(|A| ≥ v)·P(|B| ≥ v).
    """
    at_least = np.cumsum(hypergeometric(p, s, sizes)[:, ::-1], axis=1)[:, ::-1][:, 1:]
    return np.asarray(at_least @ at_least.T - s * np.outer(sizes / p, sizes / p))


def _enumerated(kind: int, part: Graph, sizes: np.ndarray, p: int) -> np.ndarray:
    """Enumerate all ways in which two sets can share out the features of `part`."""
    from mainstay._kernels.adjustments import enumerate_adjustments

    s = part.n
    by_side = enumerate_adjustments(kind, *part.arrays)
    by_size = np.zeros((s + 1, s + 1))  # features in both sets are neither left nor right
    for shared in range(s + 1):
        for a in range(s + 1 - shared):
            for b in range(s + 1 - shared - a):
                by_size[a + shared, b + shared] += by_side[a, b] * comb(s - a - b, shared)
    one_subset = hypergeometric(p, s, sizes) / comb(s, np.arange(s + 1))
    return np.asarray(one_subset @ by_size @ one_subset.T)


def _simulated(
    kind: int,
    graph: Graph,
    sizes: np.ndarray,
    p: int,
    known: np.ndarray,
    chance: Chance,
    sensitivity: Sensitivity,
) -> Expectation:
    """Simulate in batches until the stability's Monte Carlo error meets the tolerance."""
    from mainstay._kernels import adjustments

    first, second = np.nonzero(np.triu(sensitivity(known)))
    if not len(first):  # every pair is undefined, whatever is expected
        return Expectation(known)
    one_sided = expected_one_sided(graph, sizes, p, mean=kind == adjustments.MEAN)
    adds_up = kind in (adjustments.GREEDY, adjustments.MATCHING)
    group, as_cliques = _nearly_cliques(graph, sizes, p, adds_up)
    controls = np.stack((one_sided + one_sided.T, 2 * as_cliques))[:, first, second].T / 2
    batch_draws = int(np.clip(chance.max_draws // FEWEST_BATCHES, 1, BATCH_DRAWS))
    # where sets hold many similar features, each draw looks at some of the pairs of sizes only:
    # what one draw tells of neighbouring sizes is nearly the same
    crowded = graph.n * sizes.mean() / p > CROWDED
    stride = int(np.clip(len(first) // 32, 1, batch_draws // 2)) if crowded else 1
    batches: list[np.ndarray] = []
    next_look = FEWEST_BATCHES
    while True:
        batches.append(
            adjustments.simulate_adjustments(
                kind, chance.rng, batch_draws, stride, p, sizes[first], sizes[second], group,
                *graph.arrays,
            )
        )  # fmt: skip
        n_draws = len(batches) * batch_draws
        if len(batches) < next_look and n_draws < chance.max_draws:
            continue
        next_look = int(len(batches) * 1.2) + 1
        mean, errors, slopes = _with_controls(np.sum(batches, axis=0), controls)
        expected = known.copy()
        expected[first, second] = expected[second, first] = known[first, second] + mean
        pull = sensitivity(expected)[first, second]
        value_error = _batch_error(np.array(batches), slopes, pull)
        if value_error <= chance.tolerance or n_draws >= chance.max_draws:
            standard_error = np.zeros_like(expected)
            standard_error[first, second] = standard_error[second, first] = errors
            return Expectation(expected, standard_error, value_error, n_draws)


def _nearly_cliques(
    graph: Graph, sizes: np.ndarray, p: int, adds_up: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Groups of features to be treated as cliques, and the adjustment's expectation if they were.

    A matching adds up over components; a minimum of two counts takes all features as one group.
    Worth it (else no groups) only where most features of a group are similar to each other.
    """
    blocks = _components(graph) if adds_up else [np.arange(graph.n)]
    links = sum(len(block) * (len(block) - 1) for block in blocks)
    if len(graph.indices) < 0.3 * links:
        return np.empty(0, dtype=np.int64), np.zeros((len(sizes), len(sizes)))
    group = np.empty(graph.n, dtype=np.int64)
    for number, block in enumerate(blocks):
        group[block] = number
    return group, np.sum([_expected_in_clique(len(b), sizes, p) for b in blocks], axis=0)


def _with_controls(
    sums: np.ndarray, controls: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean of y by regression on x and z, whose expectations are known; its error; the slopes."""
    n = sums[:, :1]
    y, x, z, yy, xx, zz, yx, yz, xz = (sums[:, 1:] / n).T
    var_x, var_z = np.maximum(xx - x * x, 0), np.maximum(zz - z * z, 0)
    cov_yx, cov_yz, cov_xz = yx - y * x, yz - y * z, xz - x * z
    determinant = var_x * var_z - cov_xz**2
    # with few events slopes are noise; y = x − |difference|/2 makes 1 and 0 the natural ones
    use_x = (sums[:, 2] >= 100) & (var_x > 0)
    use_both = use_x & (determinant > 1e-9 * var_x * var_z)
    safe = np.where(use_both, determinant, 1.0)
    slope_x = np.where(use_x, cov_yx / np.where(use_x, var_x, 1.0), 1.0)
    slope_x = np.where(use_both, (cov_yx * var_z - cov_yz * cov_xz) / safe, slope_x)
    slope_z = np.where(use_both, (cov_yz * var_x - cov_yx * cov_xz) / safe, 0.0)
    slopes = np.stack((slope_x, slope_z), axis=1)
    mean = y + ((controls - np.stack((x, z), axis=1)) * slopes).sum(axis=1)
    variance = yy - y * y + slope_x**2 * var_x + slope_z**2 * var_z
    variance += 2 * (slope_x * slope_z * cov_xz - slope_x * cov_yx - slope_z * cov_yz)
    # if no draw told y from x, the error is still that of one draw that would have
    variance = np.maximum(variance, 0.25 / n[:, 0])
    return np.maximum(mean, 0.0), np.sqrt(variance / n[:, 0]), slopes


def _batch_error(batches: np.ndarray, slopes: np.ndarray, pull: np.ndarray) -> float:
    """Standard error of the stability, from how much the batches differ."""
    means = batches[:, :, 1:4] / batches[:, :, :1]
    residual = (means[..., 0] - (means[..., 1:] * slopes).sum(axis=2)) @ pull
    per_cell = batches[:, :, 0].sum(axis=0)
    unseen = 0.5 * np.abs(pull / per_cell).max(initial=0)
    return float(np.hypot(residual.std(ddof=1) / np.sqrt(len(batches)), unseen))
