"""The networks of huynhthu2021: every method on every network from several seeds, one cell each."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from _cells import Cell
from _huynhthu_simulated_networks import simulate_network

import mainstay as ms
from mainstay._parallel import one_thread
from mainstay._validation import check_random_state
from mainstay.datasets import load_dream4
from mainstay.datasets.loaders import NetworkData
from mainstay.networks import link_average_precision
from mainstay.networks.expression import Expression, read_expression, seed_of
from mainstay.networks.inference import link_table
from mainstay.networks.subspaces import CoupledProblem, SubspaceSettings, make_base

NETWORKS = ("1", "2", "3", "4", "5")
SIMULATED = tuple(f"{kind}-{i}" for i in range(4) for kind in ("hubs", "plain"))
LAMBDAS = ("0", "20", "50", "100")  # one restart each, as "path", which is a restart of "auto"
OBSERVED = {"1": 0.46, "2": 0.46, "3": 0.66, "4": 0.66, "5": 0.66}  # regulators per gene
N_SEEDS, N_RESTARTS, LOWEST_OF = 5, 4, 20  # the paper keeps the lowest objective of 20 restarts
SAMPLES = ("100", "400")  # of the same networks: does α learn the errors of few samples?
STAGES = (10, 20, 30, 50, 70, 100, 200, 300)  # after which α is looked at
_BASES = ("tree", "knn", "svm")
_VARIANTS: dict[str, dict[str, Any]] = {
    "prsb": {},
    "slow": {"learning_rate": 1e-3, "n_stages": 300},  # as many models as the paper has
    "lowest": {},  # of many restarts
}


def network_cells(quick: bool) -> list[Cell]:
    """List network, method and seed, those that matter most first."""
    if quick:
        return [("1", method, "0") for method in ("forest", "prsb-knn-path", "prsb-knn-50")]
    knn = [f"prsb-knn-{value}" for value in ("0", "50", "20", "100", "auto")]
    cheap = [
        (net, method, str(seed))
        for seed in range(N_SEEDS)
        for method in ("forest", *knn)
        for net in NETWORKS
    ]
    once = [f"slow-knn-{value}" for value in ("50", "20", "100", "0")]
    costly = [
        f"prsb-{base}-{value}"
        for value in ("50", "20", "100", "0", "auto")
        for base in ("svm", "tree")
    ]
    costly += [f"eda-{base}" for base in _BASES]
    late = [
        (net, method, str(seed)) for seed in range(N_SEEDS) for method in costly for net in NETWORKS
    ]
    once += [f"lowest-knn-{value}" for value in ("50", "0")]
    return [*cheap, *((net, method, "0") for method in once for net in NETWORKS), *late]


def simulated_network_cells(quick: bool) -> list[Cell]:
    """List simulated network, method and seed: what was not used to choose any setting."""
    if quick:
        return []
    methods = ("forest", "prsb-knn-auto", "prsb-knn-50")
    return [(name, m, str(seed)) for seed in range(2) for m in methods for name in SIMULATED]


def samples_cells(quick: bool) -> list[Cell]:
    """List simulated network, method (without a penalty) and number of samples."""
    return [] if quick else [(name, "prsb-knn-0", n) for name in SIMULATED[:4] for n in SAMPLES]


def of_samples(cell: Cell, seed: int) -> dict[str, Any]:
    """Learn a network by one restart from more or fewer samples of it."""
    name, method, n_samples = cell
    base, value = method.split("-")[1:]
    data = _simulated(name, seed, int(n_samples))
    return _subspaces(data, base, value, 0.5, 1, 1000 * seed, {})


def _simulated(name: str, seed: int, *n_samples: int) -> NetworkData:
    kind, _, of = name.partition("-")
    return simulate_network(kind == "hubs", 1000 * seed + int(of), *n_samples)


def network(cell: Cell, seed: int, folder: Path) -> dict[str, Any]:
    """Infer one network with one method: average precision, and regulators per gene."""
    name, method, number = cell
    if name in SIMULATED:
        data, expected = _simulated(name, seed), 0.5
    else:
        data, expected = load_dream4(int(name), folder=folder), OBSERVED[name]
    state = 1000 * seed + int(number)
    started = time.process_time()
    kind, _, rest = method.partition("-")
    if kind in _VARIANTS:
        base, _, value = rest.partition("-")
        n_restarts = N_RESTARTS if value == "auto" else LOWEST_OF if kind == "lowest" else 1
        found = _subspaces(data, base, value, expected, n_restarts, state, _VARIANTS[kind])
    else:
        how: dict[str, Any] = {"method": kind}
        if kind == "eda":
            how |= {"base": rest, "n_restarts": 1}
        links = ms.infer_network(
            data.expression, **how, random_state=state, n_jobs=1, progress=False
        )
        found = {"average_precision": link_average_precision(links, data.links)}
    return found | {"seconds": time.process_time() - started}


@dataclass
class Restart:
    """What one restart learned: α (targets × regulators) after every stage, and the objective."""

    path: list[np.ndarray]
    objectives: list[float]

    def average(self) -> np.ndarray:
        """α averaged over all stages but the first fifth, as in `infer_network`."""
        return np.asarray(np.mean(self.path[len(self.path) // 5 :], axis=0))


def run_restart(
    expression: Expression, random_state: int, restart: int, base: str, settings: SubspaceSettings
) -> Restart:
    """Run one restart of `ms.infer_network(…, random_state)`, and keep its path."""
    seed = int(check_random_state(random_state).integers(2**62))
    found = Restart([], [])
    with one_thread():
        problem = CoupledProblem(expression, seed_of(seed, restart), settings, make_base(base))
        for _ in range(settings.n_stages):
            problem.stage()
            found.path.append(problem.alpha.copy())
        found.objectives = problem.objective_path
    return found


def _subspaces(
    data: NetworkData, base: str, value: str, expected: float, n_restarts: int, state: int,
    variant: dict[str, Any],
) -> dict[str, Any]:  # fmt: skip
    expression = read_expression(data.expression)
    settings = SubspaceSettings(
        regularization=None if value in ("path", "auto") else float(value),
        expected_regulators=expected,
        **variant,
    )
    runs = [run_restart(expression, state, r, base, settings) for r in range(n_restarts)]

    def precision(alphas: Sequence[np.ndarray]) -> float:
        links = link_table(expression, np.mean(alphas, axis=0).T)
        return link_average_precision(links, data.links)

    averages = [run.average() for run in runs]
    sizes = np.mean(averages, axis=0).sum(axis=1)
    path = runs[0].path
    return {
        "average_precision": precision(averages),
        "of_restarts": [precision([average]) for average in averages],
        "of_last": [precision([run.path[-1]]) for run in runs],
        "by_stage": {str(n): precision(path[n - 10 : n]) for n in STAGES if n <= settings.n_stages},
        "objectives": [float(np.mean(run.objectives[-20:])) for run in runs],
        "objective_by_stage": {
            str(n): float(np.mean(runs[0].objectives[n - 10 : n]))
            for n in STAGES
            if n <= settings.n_stages
        },
        "regulators": sizes.round(3).tolist(),
        "regulators_mean": float(sizes.mean()),
        "regulators_last": float(np.mean([run.path[-1].sum(axis=1).mean() for run in runs])),
    }
