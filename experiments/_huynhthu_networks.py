"""The networks of huynhthu2021: every method on every DREAM4 network, one cell each."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from _cells import Cell

import mainstay as ms
from mainstay.datasets import load_dream4
from mainstay.networks import link_average_precision

NETWORKS = ("1", "2", "3", "4", "5")
LAMBDAS = ("0", "20", "50", "100")  # one restart each; "auto" with N_RESTARTS
OBSERVED = {"1": 0.46, "2": 0.46, "3": 0.66, "4": 0.66, "5": 0.66}  # regulators per gene
N_RESTARTS = 4
_BASES = ("tree", "knn", "svm")


def network_cells(quick: bool) -> list[Cell]:
    """List network and method, those that matter most first."""
    methods = [
        *(f"prsb-{base}-auto" for base in ("knn", "svm")),
        "forest",
        "prsb-tree-auto",
        *(f"prsb-{base}-0" for base in _BASES),
        *(f"eda-{base}" for base in _BASES),
        *(f"prsb-{base}-{value}" for base in ("knn", "svm", "tree") for value in LAMBDAS[1:]),
    ]
    if quick:
        methods = ["forest", "prsb-knn-auto", "eda-knn"]
    return [(net, method) for method in methods for net in (NETWORKS[:1] if quick else NETWORKS)]


def network(cell: Cell, seed: int, folder: Path, quick: bool) -> dict[str, Any]:
    """Infer one network with one method: average precision, and regulators per gene."""
    name, method = cell
    data = load_dream4(int(name), folder=folder)
    kind, _, rest = method.partition("-")
    options: dict[str, Any] = {"method": "forest"}
    if kind == "eda":
        options = {"method": "eda", "base": rest, "n_restarts": 1}
    elif kind == "prsb":
        base, _, value = rest.partition("-")
        auto = value == "auto"
        options = {
            "base": base,
            "regularization": "auto" if auto else float(value),
            "expected_regulators": OBSERVED[name],
            "n_restarts": N_RESTARTS if auto and not quick else 1,
        }
    started = time.process_time()
    links = ms.infer_network(
        data.expression, **options, random_state=seed, n_jobs=1, progress=False
    )
    sizes = links.groupby("target")["importance"].sum()
    return {
        "error": 1 - link_average_precision(links, data.links),
        "average_precision": link_average_precision(links, data.links),
        "regulators": sizes.round(4).tolist(),
        "regulators_mean": float(sizes.mean()),
        "seconds": time.process_time() - started,
    }
