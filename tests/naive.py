"""Naive twins: slow, plain implementations of every measure, to test the fast ones against.

Written from the formulas alone, with sets, loops and fractions; nothing of the library is imported.
Features are numbered 0..p-1, a selected set is a Python ``set`` of them, and NaN means "undefined"
(0/0). A ranking is a sequence with one rank per feature: 1 is the best, ties share their mean rank.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product
from statistics import median
from typing import TypeVar

import numpy as np
from scipy.optimize import linear_sum_assignment

Matrix = np.ndarray  # p x p similarity matrix, dense
Item = TypeVar("Item")
NAN = float("nan")

SMA = ("sma_count", "sma_mean", "sma_greedy", "sma_mbm")
WITH_SIMILARITY = ("zucknick", "yu", "npogr", "matching", *SMA)


def mean(values: Iterable[float]) -> float:
    """Arithmetic mean; NaN for no values or if any of them is NaN."""
    listed = [float(value) for value in values]
    return math.fsum(listed) / len(listed) if listed else NAN


def ratio(numerator: Fraction | float, denominator: Fraction | float) -> float:
    """Quotient as a float, NaN if the denominator is exactly zero."""
    return NAN if denominator == 0 else float(numerator / denominator)


# --- two sets -----------------------------------------------------------------------------------
def pair_score(
    measure: str,
    a: set[int],
    b: set[int],
    p: int,
    similarity: Matrix | None = None,
    threshold: float = 0.9,
) -> float:
    """Raw score of the ordered pair (a, b), without further correction for chance."""
    if measure not in WITH_SIMILARITY:
        return score_by_identity(measure, a, b, p)
    if similarity is None:
        raise ValueError(f"{measure} needs a similarity matrix")
    return score_by_similarity(measure, a, b, similarity, threshold)


def score_by_identity(measure: str, a: set[int], b: set[int], p: int) -> float:
    """Score of a pair for the measures that only ask whether features are the same."""
    r, k_a, k_b = len(a & b), len(a), len(b)
    expected = Fraction(k_a * k_b, p)  # of r
    smallest, largest = max(0, k_a + k_b - p), min(k_a, k_b)  # possible values of r
    if measure == "jaccard":
        return ratio(Fraction(r), len(a | b))
    if measure == "dice":
        return ratio(Fraction(2 * r), k_a + k_b)
    if measure == "ochiai":
        return ratio(r, math.sqrt(k_a * k_b))
    if measure == "hamming":
        return mean((f in a) == (f in b) for f in range(p))
    if measure == "kuncheva":
        if k_a != k_b:
            raise ValueError("kuncheva is defined for sets of equal size only")
        return ratio(r - expected, k_a - expected)
    if measure == "lustgarten":
        return ratio(r - expected, largest - smallest)
    if measure == "wald":
        return ratio(r - expected, largest - expected)
    if measure == "npog":
        return ratio(r - expected, k_a - expected)
    if measure == "sim_n":
        if k_a in (0, p) or k_b in (0, p):
            return 0.0
        return ratio(r - expected, max(expected - smallest, largest - expected))
    if measure == "unadjusted":
        return ratio(float(r - expected), math.sqrt(k_a * k_b) - float(expected))
    if measure == "phi":
        return pearson([int(f in a) for f in range(p)], [int(f in b) for f in range(p)])
    if measure == "kappa":
        agreement = Fraction(sum((f in a) == (f in b) for f in range(p)), p)
        by_chance = Fraction(k_a * k_b + (p - k_a) * (p - k_b), p * p)
        return ratio(agreement - by_chance, 1 - by_chance)
    raise ValueError(f"unknown measure {measure}")


def score_by_similarity(
    measure: str, a: set[int], b: set[int], similarity: Matrix, threshold: float
) -> float:
    """Score of a pair for the measures that count similar features."""
    r, k_a, k_b = len(a & b), len(a), len(b)
    count_ab = has_partner(a, b, similarity, threshold)
    count_ba = has_partner(b, a, similarity, threshold)
    if measure == "zucknick":
        extra = correlated_part(a, b, similarity, threshold)
        extra += correlated_part(b, a, similarity, threshold)
        return ratio(r + extra, len(a | b))
    if measure == "yu":
        # The reference values leave two empty sets undefined here, but not for the sma family.
        return r + (count_ab + count_ba) / 2 if a | b else NAN
    if measure == "npogr":
        return float(r + count_ab)
    if measure == "sma_count":
        return float(r + min(count_ab, count_ba))
    if measure == "sma_mean":
        means_ab = partner_means(a, b, similarity, threshold)
        return r + min(means_ab, partner_means(b, a, similarity, threshold))
    if measure == "sma_greedy":
        return float(r + greedy_matching_size(a - b, b - a, similarity, threshold))
    if measure == "sma_mbm":
        return float(r + maximum_matching_size(a - b, b - a, similarity, threshold))
    if measure == "matching":
        return ratio(maximum_matching_weight(a, b, similarity, threshold), max(k_a, k_b))
    raise ValueError(f"unknown measure {measure}")


def partners(x: int, others: set[int], similarity: Matrix, threshold: float) -> set[int]:
    """Those of the other features that are similar to x."""
    return {y for y in others if similarity[x, y] >= threshold}


def has_partner(a: set[int], b: set[int], similarity: Matrix, threshold: float) -> int:
    """A(a, b): how many features of a alone have a similar one among those of b alone."""
    return sum(bool(partners(x, b - a, similarity, threshold)) for x in a - b)


def partner_means(a: set[int], b: set[int], similarity: Matrix, threshold: float) -> float:
    """M(a, b): like A(a, b), but each feature counts with the mean similarity to its partners."""
    total = 0.0
    for x in a - b:
        found = partners(x, b - a, similarity, threshold)
        if found:
            total += mean(similarity[x, y] for y in found)
    return total


def correlated_part(a: set[int], b: set[int], similarity: Matrix, threshold: float) -> float:
    """C(a, b) of Zucknick: similarities of all of a to b alone, divided by the size of b."""
    total = 0.0
    for x in a:
        total += sum(similarity[x, y] / len(b) for y in partners(x, b - a, similarity, threshold))
    return total


def greedy_matching_size(
    left: set[int], right: set[int], similarity: Matrix, threshold: float
) -> int:
    """Number of edges taken when going through them by decreasing similarity."""
    # Ties go by feature index ascending: (min, max), which does not depend on which set is first.
    # It gives all reference values flagged as sensitive to ties, and so do (x, y), (y, x) and
    # (max, min). They have to: two edges compete only if they share an end, and then each of these
    # orders puts the one with the smaller other end first, so the matching is the same.
    edges = [(x, y) for x in left for y in partners(x, right, similarity, threshold)]
    edges.sort(key=lambda edge: (-similarity[edge], min(edge), max(edge)))
    used: set[int] = set()
    size = 0
    for x, y in edges:
        if x not in used and y not in used:
            used |= {x, y}
            size += 1
    return size


def maximum_matching_size(
    left: set[int], right: set[int], similarity: Matrix, threshold: float
) -> int:
    """Size of the maximum bipartite matching, by augmenting paths."""
    matched_to: dict[int, int] = {}  # right -> left

    def find_place(x: int, visited: set[int]) -> bool:
        for y in partners(x, right, similarity, threshold):
            if y not in visited:
                visited.add(y)
                if y not in matched_to or find_place(matched_to[y], visited):
                    matched_to[y] = x
                    return True
        return False

    return sum(find_place(x, set()) for x in left)


def maximum_matching_weight(
    a: set[int], b: set[int], similarity: Matrix, threshold: float
) -> float:
    """Weight of the best matching of a with b; identical = 1, below the threshold = 0."""
    weights = np.zeros((len(a), len(b)))
    for i, x in enumerate(sorted(a)):
        for j, y in enumerate(sorted(b)):
            if x == y:
                weights[i, j] = 1.0
            elif similarity[x, y] >= threshold:
                weights[i, j] = similarity[x, y]
    rows, columns = linear_sum_assignment(weights, maximize=True)
    return math.fsum(weights[rows, columns])


def shared_importance(
    a: Sequence[int], b: Sequence[int], similarity: Matrix | None = None, threshold: float = 0.9
) -> float:
    """Importance that two runs share; importances are whole numbers, one per feature.

    Cut into equal grains, as many in either run, it becomes the best assignment of grains to
    grains: transport problems with whole-number limits have whole-number solutions.
    """
    if not any(a) or not any(b):
        return 0.0 if any(a) or any(b) else NAN
    total = math.lcm(sum(a), sum(b))
    grains_a = [f for f, value in enumerate(a) for _ in range(value * total // sum(a))]
    grains_b = [f for f, value in enumerate(b) for _ in range(value * total // sum(b))]

    def worth(f: int, g: int) -> float:
        if f == g:
            return 1.0
        if similarity is None or similarity[f, g] < threshold:
            return 0.0
        return float(similarity[f, g])

    matrix = np.array([[worth(f, g) for g in grains_b] for f in grains_a])
    return float(matrix[linear_sum_assignment(matrix, maximize=True)].sum()) / total


def upper_bound(measure: str, a_size: int, b_size: int, bound: str = "geometric") -> float:
    """Upper bound of the raw score that the correction for chance uses."""
    if measure == "yu" or (measure in SMA and bound == "arithmetic"):
        return (a_size + b_size) / 2
    if measure == "npogr":
        return float(a_size)
    if measure in SMA:
        return math.sqrt(a_size * b_size)
    return 1.0


def subsets(p: int, size: int) -> list[set[int]]:
    """All subsets of 0..p-1 of one size."""
    return [set(chosen) for chosen in combinations(range(p), size)]


def expected_pair_score(
    measure: str,
    a_size: int,
    b_size: int,
    p: int,
    similarity: Matrix | None = None,
    threshold: float = 0.9,
) -> float:
    """Expected score of two independent random sets, by going through all pairs of subsets."""
    pairs = product(subsets(p, a_size), subsets(p, b_size))
    return mean(pair_score(measure, a, b, p, similarity, threshold) for a, b in pairs)


def simulated_expectation(
    measure: str,
    a_size: int,
    b_size: int,
    p: int,
    similarity: Matrix | None,
    threshold: float,
    n_draws: int,
    rng: np.random.Generator,
) -> tuple[float, float]:
    """Expected score of two independent random sets by simulation, and its standard error."""
    scores = []
    for _ in range(n_draws):
        a = set(rng.choice(p, size=a_size, replace=False).tolist())
        b = set(rng.choice(p, size=b_size, replace=False).tolist())
        scores.append(pair_score(measure, a, b, p, similarity, threshold))
    return mean(scores), float(np.std(scores, ddof=1)) / math.sqrt(n_draws)


def corrected_pair_score(
    measure: str,
    a: set[int],
    b: set[int],
    p: int,
    similarity: Matrix | None = None,
    threshold: float = 0.9,
    bound: str = "geometric",
) -> float:
    """(score - E) / (largest - E), NaN if the largest score and E agree to 1e-12."""
    score = pair_score(measure, a, b, p, similarity, threshold)
    expected = expected_pair_score(measure, len(a), len(b), p, similarity, threshold)
    largest = upper_bound(measure, len(a), len(b), bound)
    return NAN if abs(largest - expected) <= 1e-12 else (score - expected) / (largest - expected)


# --- m sets -------------------------------------------------------------------------------------
def joint_score(
    measure: str,
    sets: list[set[int]],
    p: int,
    similarity: Matrix | None = None,
    threshold: float = 0.9,
    penalty: float = 0.0,
) -> float:
    """Score of m sets for the measures that look at all sets at once."""
    m, sizes = len(sets), [len(chosen) for chosen in sets]
    h = [sum(f in chosen for chosen in sets) for f in range(p)]
    q = sum(sizes)
    if m < 2:
        return NAN
    if measure == "davis":
        union = len(set().union(*sets))
        if union == 0:
            return NAN
        return max(0.0, float(Fraction(q, m * union)) - penalty / p * median(sizes))
    if measure == "novovicova":
        return ratio(math.fsum(x * math.log2(x) for x in h if x > 0), q * math.log2(m))
    if measure in ("somol", "weighted_consistency"):
        if q == 0:
            return NAN
        consistency = sum((Fraction(x, q) * Fraction(x - 1, m - 1) for x in h), Fraction(0))
        if measure == "weighted_consistency":
            return float(consistency)
        d, rest = q % p, q % m
        least = Fraction(q * q - p * (q - d) - d * d, p * q * (m - 1))
        most = Fraction(rest * rest + q * (m - 1) - rest * m, q * (m - 1))
        return ratio(consistency - least, most - least)
    if measure == "krizek":
        if len(set(sizes)) > 1:
            raise ValueError("krizek is defined for sets of equal size only")
        shares = [n / m for n in Counter(frozenset(chosen) for chosen in sets).values()]
        largest = math.log2(min(m, math.comb(p, sizes[0])))
        return 1 - ratio(-math.fsum(share * math.log2(share) for share in shares), largest)
    if measure == "nogueira":
        share = Fraction(q, m * p)
        variances = [Fraction(m, m - 1) * Fraction(x, m) * (1 - Fraction(x, m)) for x in h]
        return 1 - ratio(sum(variances, Fraction(0)) / p, share * (1 - share))
    if measure == "sechidis":
        if similarity is None:
            raise ValueError("sechidis needs a similarity matrix")
        return sechidis(sets, p, similarity, threshold)
    raise ValueError(f"unknown measure {measure}")


def sechidis(sets: list[set[int]], p: int, similarity: Matrix, threshold: float) -> float:
    """1 - tr(C S) / tr(C S0), summed entry by entry; NaN if tr(C S0) is zero up to rounding."""
    m, sizes = len(sets), [len(chosen) for chosen in sets]
    k_mean = Fraction(sum(sizes), m)
    k_square_mean = Fraction(sum(k * k for k in sizes), m)
    top, bottom = [], []
    for f, g in product(range(p), repeat=2):
        weight = float(similarity[f, g]) if similarity[f, g] >= threshold else 0.0
        h_f, h_g = sum(f in chosen for chosen in sets), sum(g in chosen for chosen in sets)
        h_fg = sum(f in chosen and g in chosen for chosen in sets)
        observed = Fraction(m, m - 1) * (Fraction(h_fg, m) - Fraction(h_f * h_g, m * m))
        if f == g:
            by_chance = k_mean / p * (1 - k_mean / p)
        else:
            by_chance = (k_square_mean - k_mean) / (p * p - p) - k_mean**2 / p**2
        top.append(weight * float(observed))
        bottom.append(weight * float(by_chance))
    if abs(math.fsum(bottom)) <= 1e-12 * math.fsum(abs(value) for value in bottom):
        return NAN
    return 1 - math.fsum(top) / math.fsum(bottom)


def expected_joint_score(measure: str, sizes: list[int], p: int, penalty: float = 0.0) -> float:
    """Expected score of independent random sets of these sizes, by going through all of them."""
    choices = product(*(subsets(p, size) for size in sizes))
    return mean(joint_score(measure, list(sets), p, penalty=penalty) for sets in choices)


def mean_over_pairs(score: Callable[[Item, Item], float], items: Sequence[Item]) -> float:
    """Mean of the score over the pairs i < j."""
    return mean(score(first, second) for first, second in combinations(items, 2))


def mean_over_ordered_pairs(score: Callable[[Item, Item], float], items: Sequence[Item]) -> float:
    """Mean of the score over all pairs i != j."""
    return mean(score(first, second) for first, second in permutations(items, 2))


def jackknife_standard_error(
    statistic: Callable[[list[Item]], float], items: Sequence[Item]
) -> float:
    """Delete-one jackknife standard error of a statistic of the runs."""
    m = len(items)
    left_out = [statistic([*items[:i], *items[i + 1 :]]) for i in range(m)]
    centre = mean(left_out)
    return math.sqrt((m - 1) / m * math.fsum((value - centre) ** 2 for value in left_out))


def nogueira_variance(sets: list[set[int]], p: int) -> float:
    """Variance of the nogueira measure (Nogueira, Sechidis, Brown 2018)."""
    m = len(sets)
    stability = joint_score("nogueira", sets, p)
    k_mean = mean(len(chosen) for chosen in sets)
    frequency = [mean(f in chosen for chosen in sets) for f in range(p)]
    if math.isnan(stability):
        return NAN
    parts = []
    for chosen in sets:
        k = len(chosen)
        part = math.fsum(frequency[f] for f in chosen) / p - k * k_mean / p**2
        part += stability / 2 * (2 * k * k_mean / p**2 - k / p - k_mean / p + 1)
        parts.append(part / (k_mean / p * (1 - k_mean / p)))
    centre = mean(parts)
    return 4 / m**2 * math.fsum((part - centre) ** 2 for part in parts)


# --- rankings (1 = best; ties as average ranks) -------------------------------------------------
def average_ranks(scores: Sequence[float]) -> list[float]:
    """Ranks of scores: 1 is the highest, equal scores share the mean of their places."""
    return [
        1 + sum(other > score for other in scores) + (sum(o == score for o in scores) - 1) / 2
        for score in scores
    ]


def pearson(a: Sequence[float], b: Sequence[float]) -> float:
    """Pearson correlation; NaN if one of the two is constant."""
    if len(set(a)) < 2 or len(set(b)) < 2:
        return NAN
    mean_a, mean_b = mean(a), mean(b)
    from_a, from_b = [x - mean_a for x in a], [y - mean_b for y in b]
    covariance = math.fsum(x * y for x, y in zip(from_a, from_b, strict=True))
    spread = math.fsum(x * x for x in from_a) * math.fsum(y * y for y in from_b)
    return covariance / math.sqrt(spread)


def spearman(a: Sequence[float], b: Sequence[float]) -> float:
    """Pearson correlation of the average ranks (scores or rankings, both the same way round)."""
    return pearson(average_ranks(a), average_ranks(b))


def kendall(a: Sequence[float], b: Sequence[float]) -> float:
    """Kendall's tau-b; NaN if one of the two is constant."""
    surplus, untied_a, untied_b = 0, 0, 0
    for i, j in combinations(range(len(a)), 2):
        sign_a = int(a[i] > a[j]) - int(a[i] < a[j])
        sign_b = int(b[i] > b[j]) - int(b[i] < b[j])
        surplus += sign_a * sign_b
        untied_a += sign_a != 0
        untied_b += sign_b != 0
    return ratio(surplus, math.sqrt(untied_a * untied_b))


def kendall_w(rankings: Sequence[Sequence[float]]) -> float:
    """Kendall's coefficient of concordance of all rankings, corrected for ties."""
    m, p = len(rankings), len(rankings[0])
    ranks = [average_ranks(ranking) for ranking in rankings]
    sums = [math.fsum(ranking[f] for ranking in ranks) for f in range(p)]
    spread = math.fsum((total - mean(sums)) ** 2 for total in sums)
    ties = sum(t**3 - t for ranking in ranks for t in Counter(ranking).values())
    return ratio(12 * spread, m**2 * (p**3 - p) - m * ties)


def canberra(a: Sequence[float], b: Sequence[float], k: int | None = None) -> float:
    """1 - mean of |a - b| / (a + b); with k, ranks beyond k are replaced by k + 1 first."""
    if k is not None:
        a, b = [x if x <= k else k + 1 for x in a], [y if y <= k else k + 1 for y in b]
    return 1 - mean(abs(x - y) / (x + y) for x, y in zip(a, b, strict=True))


def expected_canberra(p: int, k: int | None = None) -> float:
    """Expected similarity of two independent random rankings: any two places are as likely."""
    places = [i if k is None or i <= k else k + 1 for i in range(1, p + 1)]
    return 1 - mean(abs(i - j) / (i + j) for i in places for j in places)


def shared_on_top(a: Sequence[float], b: Sequence[float], depth: int) -> int:
    """How many features are among the best `depth` of both rankings (no ties allowed)."""
    for ranking in (a, b):
        if sorted(ranking) != list(range(1, len(ranking) + 1)):
            raise ValueError("a ranking without ties is needed")
    return sum(x <= depth and y <= depth for x, y in zip(a, b, strict=True))


def rbo(
    a: Sequence[float], b: Sequence[float], persistence: float = 0.9, depth: int | None = None
) -> float:
    """Extrapolated rank-biased overlap (Webber, Moffat, Zobel 2010) of both lists to a depth."""
    depth = len(a) if depth is None else depth
    agreement = [shared_on_top(a, b, d) / d for d in range(1, depth + 1)]
    seen = math.fsum(share * persistence**d for d, share in enumerate(agreement, start=1))
    return agreement[-1] * persistence**depth + (1 - persistence) / persistence * seen


def average_overlap(a: Sequence[float], b: Sequence[float], k: int | None = None) -> float:
    """Mean over the depths 1..k of the share of features common to both tops."""
    depth = len(a) if k is None else k
    return mean(shared_on_top(a, b, d) / d for d in range(1, depth + 1))


# --- feature similarity -------------------------------------------------------------------------
def correlation_graph(
    X: np.ndarray, threshold: float, method: str = "pearson", min_overlap: int = 1
) -> dict[tuple[int, int], float]:
    """Pairs of columns i < j with |correlation| >= threshold; a constant column has none.

    Only the rows count that neither column misses (NaN), and there must be `min_overlap` of them.
    """
    correlation = {"pearson": pearson, "spearman": spearman}[method]
    columns = [[float(value) for value in column] for column in np.asarray(X).T]
    edges = {}
    for i in range(len(columns)):
        for j in range(i + 1, len(columns)):
            rows = zip(columns[i], columns[j], strict=True)
            common = [row for row in rows if not any(map(math.isnan, row))]
            a, b = [x for x, _ in common], [y for _, y in common]
            size = abs(correlation(a, b))
            if len(common) >= min_overlap and size >= threshold:  # never true for NaN
                edges[i, j] = min(size, 1.0)  # rounding
    return edges


def connected_components(p: int, edges: Iterable[tuple[int, int]]) -> list[set[int]]:
    """Groups of features joined by edges, by their smallest feature; single ones included."""
    groups = [{f} for f in range(p)]
    for i, j in edges:
        joined = [group for group in groups if i in group or j in group]
        groups = [group for group in groups if group not in joined] + [set().union(*joined)]
    return sorted(groups, key=min)


def complete_linkage(similarity: Matrix, threshold: float) -> set[frozenset[int]]:
    """Merge the two groups whose least similar members are most similar, while these reach it."""
    groups = [frozenset({i}) for i in range(len(similarity))]
    while len(groups) > 1:
        least, a, b = max(
            (min(similarity[i, j] for i in a for j in b), sorted(a), sorted(b))
            for a, b in combinations(groups, 2)
        )
        if least < threshold:
            break
        merged = frozenset(a) | frozenset(b)
        groups = [group for group in groups if not group <= merged] + [merged]
    return set(groups)


def pair_agreement(name: str, a: set[int], b: set[int], p: int, sets: list[set[int]]) -> float:
    """Score of a pair; of `nogueira`, the overlap in units of its mean denominator."""
    if name != "nogueira":
        return pair_score(name, a, b, p)
    size = sum(len(one) for one in sets) / len(sets)
    return len(a & b) / (size * (1 - size / p))


def pair_variance(agreement: list[list[float]]) -> float:
    """What no single run explains: residuals of agreement_ij ~ run_i + run_j by least squares."""
    m = len(agreement)
    pairs = [(i, j) for i in range(m) for j in range(i + 1, m)]
    design = np.array([[float(run in pair) for run in range(m)] for pair in pairs])
    target = np.array([agreement[i][j] for i, j in pairs])
    left = target - design @ np.linalg.lstsq(design, target, rcond=None)[0]
    return float(2 / (m * (m - 1)) * (left**2).mean())


def share_of_patterns(agreement: list[list[float]]) -> float:
    """From 0 (m patterns of equal weight in the same residuals) to 1 (a single one)."""
    m = len(agreement)
    pairs = [(i, j) for i in range(m) for j in range(i + 1, m)]
    design = np.array([[float(run in pair) for run in range(m)] for pair in pairs])
    target = np.array([agreement[i][j] for i, j in pairs])
    left = target - design @ np.linalg.lstsq(design, target, rcond=None)[0]
    matrix = np.zeros((m, m))
    for (i, j), value in zip(pairs, left, strict=True):
        matrix[i, j] = matrix[j, i] = value

    def fourths(symmetric: np.ndarray) -> float:
        squares = np.linalg.eigvalsh(symmetric) ** 2
        return float((squares**2).sum() / squares.sum() ** 2)

    single = fourths(np.ones((m, m)) - np.eye(m))
    return math.sqrt(np.clip((fourths(matrix) - 1 / m) / (single - 1 / m), 0, 1))
