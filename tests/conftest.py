"""What several test files share: reference values, random runs, random similarities."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

if "PYTEST_XDIST_WORKER" in os.environ:  # a process a core has no use for threads of BLAS
    os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pytest
from hypothesis import settings

import mainstay as ms

# CI tries the same examples every time: what fails there fails again here
settings.register_profile("ci", derandomize=True, deadline=None)
if os.environ.get("CI") == "true":
    settings.load_profile("ci")

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("MAINSTAY_SHARED", ROOT.parent / "shared"))


def golden(name: str) -> Any:
    """Reference values, or a skip where they are not at hand (on a user's machine)."""
    path = SHARED / "golden" / name
    if not path.is_file():
        pytest.skip(f"reference values {name} are not on this machine")
    return json.loads(path.read_text())


def golden_cases(name: str) -> list[Any]:
    """Cases of a reference file as pytest parameters; one that skips where the file is missing."""
    path = SHARED / "golden" / name
    if not path.is_file():
        reason = f"reference values {name} are not on this machine"
        return [pytest.param(None, marks=pytest.mark.skip(reason=reason), id="missing")]
    return [pytest.param(case, id=case["id"]) for case in json.loads(path.read_text())["cases"]]


def random_sets(rng: np.random.Generator, m: int, p: int, low: int, high: int) -> list[set[int]]:
    """m random sets of sizes low to high."""
    sizes = rng.integers(low, high + 1, size=m)
    return [set(rng.choice(p, size=k, replace=False).tolist()) for k in sizes]


def random_similarity(rng: np.random.Generator, p: int, share: float = 0.3) -> np.ndarray:
    """A symmetric matrix in which a share of the pairs reaches 0.9, no two alike."""
    matrix = np.where(rng.random((p, p)) < share, rng.uniform(0.9, 1, (p, p)), 0.5)
    matrix = np.triu(matrix, 1)
    return matrix + matrix.T + np.eye(p)


def make(sets: list[set[int]], p: int) -> ms.Runs:
    """Runs from sets of feature numbers."""
    return ms.Runs.from_sets([sorted(s) for s in sets], features=p)
