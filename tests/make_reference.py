"""Reference values that anybody can check: made by the naive twins alone, kept in tests/reference.

`python tests/make_reference.py` writes the files anew; look at the difference before you commit it.
Nothing of the library is imported here. `test_reference.py` compares the library with the files,
the files with the twins, and the twins with values of other programs where those are at hand.

A value is null where the measure is undefined (0/0). Features and runs are numbered from 0.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import betaincinv
from sklearn.datasets import load_iris, load_wine

import naive
import naive_aggregation
import naive_forecast
import naive_rankers

REFERENCE = Path(__file__).parent / "reference"
THRESHOLD = 0.9

BY_IDENTITY = (
    "jaccard", "dice", "ochiai", "hamming", "kuncheva", "lustgarten", "wald", "npog", "sim_n",
    "unadjusted", "phi", "kappa",
)  # fmt: skip
JOINT = ("davis", "novovicova", "somol", "weighted_consistency", "krizek", "nogueira")
CORRECTED_BY_ENUMERATION = ("yu", "sma_count", "sma_mean", "sma_greedy", "sma_mbm", "npogr")
EQUAL_SIZES = ("kuncheva", "krizek")
ORDERED_PAIRS = ("npog", "npogr")
TABLE_FILTERS = (
    "information_gain", "symmetric_uncertainty", "gain_ratio", "chi_square", "cramers_v"
)  # fmt: skip
GREEDY = {"mrmr": "MID", "jmi": "jmi", "cmim": "cmim", "disr": "disr", "jmim": "jmim",
          "njmim": "njmim"}  # fmt: skip
DATASETS = {"iris": load_iris, "wine": load_wine}


# --- measures -----------------------------------------------------------------------------------
def twin_stability(
    measure: str,
    sets: list[set[int]],
    p: int,
    *,
    similarity: np.ndarray | None = None,
    threshold: float = THRESHOLD,
    correction: str = "none",
    penalty: float = 0.0,
) -> float:
    """Stability of selections by the naive twins; "exact" goes through all pairs of subsets."""
    if measure in (*JOINT, "sechidis"):
        return naive.joint_score(measure, sets, p, similarity, threshold, penalty)
    score = naive.pair_score if correction == "none" else _corrected_by_expectation
    over_pairs = (
        naive.mean_over_ordered_pairs if measure in ORDERED_PAIRS else naive.mean_over_pairs
    )
    return over_pairs(lambda a, b: score(measure, a, b, p, similarity, threshold), sets)


def _corrected_by_expectation(
    measure: str,
    a: set[int],
    b: set[int],
    p: int,
    similarity: np.ndarray | None,
    threshold: float,
) -> float:
    """`naive.corrected_pair_score`, with expectations kept for pairs of the same sizes."""
    key = None if similarity is None else similarity.tobytes()
    expected = _expected_pair_score(measure, len(a), len(b), p, key, threshold)
    bound = naive.upper_bound(measure, len(a), len(b))
    if abs(bound - expected) <= 1e-12:
        return naive.NAN
    score = naive.pair_score(measure, a, b, p, similarity, threshold)
    return (score - expected) / (bound - expected)


@cache
def _expected_pair_score(
    measure: str, a_size: int, b_size: int, p: int, similarity: bytes | None, threshold: float
) -> float:
    matrix = None if similarity is None else np.frombuffer(similarity).reshape(p, p)
    return naive.expected_pair_score(measure, a_size, b_size, p, matrix, threshold)


def similarity_matrix(p: int, edges: Sequence[Sequence[float]]) -> np.ndarray:
    """Symmetric matrix with 1 on the diagonal, the given edges, and 0.1 elsewhere."""
    matrix = np.full((p, p), 0.1)
    np.fill_diagonal(matrix, 1.0)
    for i, j, value in edges:
        matrix[int(i), int(j)] = matrix[int(j), int(i)] = value
    return matrix


THREE_GROUPS = [[0, 1, 0.95], [0, 2, 0.95], [1, 2, 0.95], [3, 4, 0.95], [5, 6, 0.95]]
CHAIN = [[0, 1, 0.92], [1, 2, 0.97], [2, 3, 0.91], [3, 4, 0.99], [0, 5, 0.94]]
PAIRS_OF_SETS = [
    [[0, 1], [0, 1]], [[0, 1], [0, 2]], [[0, 3], [1, 4]], [[0, 1, 2], [3, 4]], [[0], [1]],
    [[0, 1, 2], [0]], [[0, 3, 5], [1, 4, 6]], [[0, 1, 2, 3], [3, 4, 5, 6]], [[5], [5, 6]],
    [[0, 1, 2, 3, 4, 5, 6], [2, 4]], [[1, 3, 5, 6], [0, 1, 2, 3, 4]], [[2, 3], [5, 6]],
]  # fmt: skip
EDGE_CASES = [
    [[], []], [[], [0]], [[], [0, 1, 2]], [[0, 1], [0, 1], [0, 1]], [[0], [2], [4]],
    [[0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5]], [[0, 1, 2, 3, 4, 5], [0, 5], [0, 5]],
]  # fmt: skip


def several_sets() -> list[tuple[int, list[list[int]]]]:
    """Three to six sets of eight features, of one size or of several."""
    rng = np.random.default_rng(2024)
    cases = []
    for m, sizes in ((3, (3, 3)), (4, (2, 2)), (5, (1, 5)), (6, (2, 6)), (4, (0, 4)), (6, (4, 4))):
        drawn = rng.integers(sizes[0], sizes[1] + 1, size=m)
        cases.append((8, [sorted(rng.choice(8, int(k), replace=False).tolist()) for k in drawn]))
    return cases


def selections() -> list[dict[str, Any]]:
    """Selections with their stability by every measure of sets."""
    cases = [(7, sets, THREE_GROUPS) for sets in PAIRS_OF_SETS]
    cases += [(6, sets, CHAIN) for sets in EDGE_CASES]
    cases += [(p, sets, CHAIN) for p, sets in several_sets()]
    return [selection_case(p, sets, edges) for p, sets, edges in cases]


def selection_case(p: int, lists: list[list[int]], edges: list[list[float]]) -> dict[str, Any]:
    """One case: the inputs, and rows of measure, options, value."""
    sets, matrix = [set(chosen) for chosen in lists], similarity_matrix(p, edges)
    equal = len({len(chosen) for chosen in sets}) == 1
    plain = [name for name in (*BY_IDENTITY, *JOINT) if equal or name not in EQUAL_SIZES]
    values: list[list[Any]] = [[name, {}, twin_stability(name, sets, p)] for name in plain]
    values.append(["davis", {"penalty": 5}, twin_stability("davis", sets, p, penalty=5)])
    for name in ("zucknick", "matching", "sechidis"):
        options = {} if name == "sechidis" else {"correction": "none"}
        values.append([name, options, twin_stability(name, sets, p, similarity=matrix)])
    for name in CORRECTED_BY_ENUMERATION:
        for correction in ("none", "exact"):
            value = twin_stability(name, sets, p, similarity=matrix, correction=correction)
            values.append([name, {"correction": correction}, value])
    return {"p": p, "sets": lists, "similar": edges, "values": values}


def rankings() -> list[dict[str, Any]]:
    """Rankings, with and without ties, and their stability."""
    rng = np.random.default_rng(7)
    cases = []
    for m, p in ((2, 4), (3, 6), (4, 9), (6, 12)):
        ranks = (np.argsort(rng.random((m, p)), axis=1) + 1).tolist()
        cases.append({"ranks": ranks, "values": [*of_ranks(ranks), *of_strict_ranks(ranks)]})
    for m, p in ((3, 6), (5, 9)):
        scores = rng.integers(0, 4, (m, p)).tolist()
        ranks = [naive.average_ranks(row) for row in scores]
        value = naive.mean_over_pairs(naive.pearson, scores)
        cases.append({"scores": scores, "values": [*of_ranks(ranks), ["pearson", {}, value]]})
    return cases


def of_ranks(ranks: list[list[float]]) -> list[list[Any]]:
    """Measures that are defined with ties."""
    return [
        ["spearman", {}, naive.mean_over_pairs(naive.spearman, ranks)],
        ["kendall", {}, naive.mean_over_pairs(naive.kendall, ranks)],
        ["kendall_w", {}, naive.kendall_w(ranks)],
        ["canberra", {}, naive.mean_over_pairs(naive.canberra, ranks)],
    ]


def of_strict_ranks(ranks: list[list[int]]) -> list[list[Any]]:
    """Measures of the tops, which ties leave open, and a corrected one."""
    p = len(ranks[0])
    canberra_3 = naive.mean_over_pairs(lambda a, b: naive.canberra(a, b, 3), ranks)
    expected = naive.expected_canberra(p, 3)
    rows: list[list[Any]] = [
        ["canberra@3", {}, canberra_3],
        ["canberra@3", {"correction": "exact"}, (canberra_3 - expected) / (1 - expected)],
        ["average_overlap", {}, naive.mean_over_pairs(naive.average_overlap, ranks)],
    ]
    score: Callable[[Any, Any], float]
    for k in (1, 3):
        score = lambda a, b, k=k: naive.average_overlap(a, b, k)  # noqa: E731
        rows.append([f"average_overlap@{k}", {}, naive.mean_over_pairs(score, ranks)])
    for persistence, depth in ((0.5, None), (0.9, None), (0.98, None), (0.9, 3)):
        score = lambda a, b, q=persistence, d=depth: naive.rbo(a, b, q, d)  # noqa: E731
        name = "rbo" if depth is None else f"rbo@{depth}"
        rows.append([name, {"persistence": persistence}, naive.mean_over_pairs(score, ranks)])
    return rows


# --- aggregation --------------------------------------------------------------------------------
def twin_aggregation(r: Sequence[Fraction]) -> dict[str, float]:
    """What the rules make of one feature's normalised ranks."""
    q, rho = naive_aggregation.stuart_recursion(r), naive_aggregation.rho(r)
    return {
        "rank_mean": float(sum(r, Fraction(0)) / len(r)),
        "rank_median": float(statistics.median(r)),
        "rank_min": float(min(r)),
        "rank_geometric_mean": math.exp(math.fsum(math.log(x) for x in r) / len(r)),
        "log_rho": naive_aggregation.log_of(rho),
        "log_stuart": naive_aggregation.log_of(q),
        "log1m_stuart": naive_aggregation.log_of(1 - q) if q < 1 else naive.NAN,
    }


def twin_p_value(r: Sequence[Fraction]) -> float:
    """Exact RRA p-value of one feature; quantiles by scipy, the rest in fractions."""
    m, rho = len(r), float(naive_aggregation.rho(r))
    quantiles = [float(betaincinv(k, m - k + 1, rho)) for k in range(1, m + 1)]
    return float(naive_aggregation.rra_p_value(quantiles))


def aggregations() -> list[dict[str, Any]]:
    """Full rankings: few lists and many, agreeing or not, with ties and without."""
    rng = np.random.default_rng(11)
    cases = []
    for m, p, noise in ((2, 5, 1.0), (3, 6, 0.1), (5, 8, 0.5), (8, 8, 2.0), (20, 6, 0.3),
                        (60, 6, 0.2), (60, 5, 9.0)):  # fmt: skip
        latent = np.arange(p) / p + noise * rng.normal(size=(m, p))
        cases.append((np.argsort(np.argsort(latent, axis=1), axis=1) + 1).tolist())
    for m, p in ((4, 6), (7, 5)):  # ties share their mean rank
        cases.append([naive.average_ranks(row) for row in rng.integers(0, 3, (m, p)).tolist()])
    return [aggregation_case(ranks) for ranks in cases]


def aggregation_case(ranks: list[list[float]]) -> dict[str, Any]:
    """One case: ranks, list by list, and values, feature by feature."""
    p = len(ranks[0])
    columns = [[Fraction(row[j]) / p for row in ranks] for j in range(p)]
    by_feature = [twin_aggregation(column) for column in columns]
    values = {name: [one[name] for one in by_feature] for name in by_feature[0]}
    if len(ranks) <= 8:
        values["rra_exact"] = [twin_p_value(column) for column in columns]
    return {"ranks": ranks, "values": values}


def cut_offs() -> list[dict[str, Any]]:
    """Normalised ranks of lists that end at a cut-off; 1 stands for absent."""
    rng = np.random.default_rng(13)
    cases = []
    for m in (1, 3, 6):
        cutoff = np.round(rng.uniform(0.1, 0.6, m), 3).tolist()
        r = np.round(rng.random((m, 4)), 3)
        r = np.where(r <= np.array(cutoff)[:, None], np.maximum(r, 0.001), 1.0).tolist()
        log_rho = [math.log(naive_aggregation.cut_rho(column, cutoff)) for column in zip(*r)]  # noqa: B905
        cases.append({"normalised_ranks": r, "cutoff": cutoff, "log_rho": log_rho})
    return cases


# --- rankers ------------------------------------------------------------------------------------
def coded(name: str, bins: int = 10) -> tuple[list[list[int]], list[int]]:
    """Columns of a data set of scikit-learn in bins of equal width, and the classes."""
    X, y = DATASETS[name](return_X_y=True)
    return [naive_rankers.width_codes(x, bins) for x in X.T.tolist()], y.tolist()


def twin_greedy(name: str, columns: list[list[int]], y: list[int]) -> tuple[list[int], list[float]]:
    """Order of greedy selection and the criterion at each step."""
    weights = [1.0] * len(y)
    relevance = [naive_rankers.information(weights, x, y) for x in columns]
    terms: list[list[float]] = [[] for _ in columns]
    left, order, reached = list(range(len(columns))), [], []
    while left:
        value = {j: naive_rankers.criterion(name, relevance[j], terms[j]) for j in left}
        best = max(left, key=lambda j: value[j])
        order.append(best)
        reached.append(value[best])
        left.remove(best)
        for j in left:
            terms[j].append(naive_rankers.term(name, weights, columns[j], columns[best], y))
    return order, reached


def row_weights(n: int, n_resamples: int = 3) -> list[list[int]]:
    """How often every row occurs in some bootstrap samples."""
    rng = np.random.default_rng(17)
    return [np.bincount(rng.integers(n, size=n), minlength=n).tolist() for _ in range(n_resamples)]


def filters(name: str) -> dict[str, Any]:
    """Scores of the filters on one data set, on all rows and on bootstrap samples, and orders."""
    columns = DATASETS[name]().data.T.tolist()
    codes, classes = coded(name)
    everything = [1.0] * len(classes)
    table = {
        f: [naive_rankers.table_score(f, everything, x, classes) for x in codes]
        for f in TABLE_FILTERS
    }
    resampled = [
        [naive_rankers.table_score("information_gain", w, x, classes) for x in codes]
        for w in row_weights(len(classes))
    ]
    greedy = {}
    for ranker, criterion in GREEDY.items():
        order, reached = twin_greedy(criterion, codes, classes)
        greedy[ranker] = {"order": order, "criterion": reached}
    return {
        "table": table,
        "information_gain_of_resamples": resampled,
        "f_statistic": [naive_rankers.anova_f(x, classes) for x in columns],
        "mdl_cuts": [naive_rankers.mdl_cuts(x, classes) for x in columns],
        "greedy": greedy,
    }


# --- forecast -----------------------------------------------------------------------------------
SIMULATED = [
    (4, 2, 3, "3/5"), (5, 2, 3, "1/2"), (5, 1, 3, "4/5"), (5, 3, 4, "7/10"), (4, 2, 2, "1/4"),
    (4, 2, 4, "9/10"), (5, 2, 4, "0"), (5, 2, 3, "1"), (3, 1, 1, "1/3"), (6, 2, 4, "2/3"),
]  # fmt: skip
FORECAST_MEASURES = ("jaccard", "dice", "kuncheva", "hamming", "lustgarten", "phi")


def simulated_selectors() -> list[dict[str, Any]]:
    """Expected agreement of two runs of the simulated selector, from all rankings."""
    cases = []
    for n, k, u, p in SIMULATED:
        tops = naive_forecast.tops(naive_forecast.rankings(n, k, u, Fraction(p)), k)
        values = {
            measure: math.fsum(
                float(x * y) * naive.pair_score(measure, set(a), set(b), n)
                for a, x in tops.items()
                for b, y in tops.items()
            )
            for measure in FORECAST_MEASURES
        }
        setting = {"n_features": n, "n_selected": k, "n_useful": u, "p": float(Fraction(p))}
        cases.append({"selector": setting, "stability": values})
    return cases


# --- files --------------------------------------------------------------------------------------
FILES: dict[str, Callable[[], Any]] = {
    "measures": lambda: {"selections": selections(), "rankings": rankings()},
    "aggregation": lambda: {"rankings": aggregations(), "cut_offs": cut_offs()},
    "rankers": lambda: {name: filters(name) for name in DATASETS},
    "forecast": lambda: {"simulated": simulated_selectors()},
}


def as_json(value: Any, indent: str = "") -> str:
    """JSON with one case or one list of numbers a line, NaN as null."""
    flat = json.dumps(_without_nan(value), ensure_ascii=False, allow_nan=False)
    if len(flat) <= 100 or not isinstance(value, dict | list):
        return flat
    if isinstance(value, list) and not any(isinstance(item, dict | list) for item in value):
        return flat
    deeper = indent + " "
    if isinstance(value, dict):
        items = [f"{json.dumps(key)}: {as_json(item, deeper)}" for key, item in value.items()]
    else:
        items = [as_json(item, deeper) for item in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}\n{deeper}" + f",\n{deeper}".join(items) + f"\n{indent}{closing}"


def _without_nan(value: Any) -> Any:
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    return [_without_nan(item) for item in value] if isinstance(value, list) else value


def main() -> None:
    REFERENCE.mkdir(exist_ok=True)
    for name, make in FILES.items():
        (REFERENCE / f"{name}.json").write_text(as_json(make()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
