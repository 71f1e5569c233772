"""Networks that nothing was chosen on: random links, with hubs or without, and expression."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mainstay.datasets.loaders import NetworkData

N_GENES, N_SAMPLES, N_LINKS = 100, 100, 200
N_HUBS, SHARE_OF_HUBS = 10, 0.8  # so many regulators have that share of the links
PERTURBATION, NOISE = 0.7, 0.1  # of every gene in every sample, and of its measurement
_N_STEPS, _DAMPING = 300, 0.5


def simulate_network(hubs: bool, seed: int, n_samples: int = N_SAMPLES) -> NetworkData:
    """Draw a network of 100 genes and 200 links, and its steady states under perturbations.

    Every link joins two different genes, drawn at random; with hubs, ten genes regulate at the
    other end of four links in five. In every sample the genes settle at x = tanh(Wx + e) with
    weights ± U(0.5, 1) and e ~ N(0, 0.7²) for every gene, as in the challenge's multifactorial
    perturbations; measured is x + N(0, 0.1²). The network depends on the seed, not on the samples.
    """
    rng = np.random.default_rng([seed, int(hubs)])
    weights = np.zeros((N_GENES, N_GENES))  # targets × regulators
    while np.count_nonzero(weights) < N_LINKS:
        many = hubs and rng.random() < SHARE_OF_HUBS
        regulator, target = rng.integers(N_HUBS if many else N_GENES), rng.integers(N_GENES)
        if regulator != target:
            weights[target, regulator] = rng.choice((-1, 1)) * rng.uniform(0.5, 1)
    pushed = PERTURBATION * rng.normal(size=(n_samples, N_GENES))
    x = np.zeros_like(pushed)
    for _ in range(_N_STEPS):
        x += _DAMPING * (np.tanh(x @ weights.T + pushed) - x)
    measured = x + NOISE * rng.normal(size=x.shape)
    names = np.array([f"G{j + 1}" for j in rng.permutation(N_GENES)])  # hubs anywhere
    targets, regulators = np.nonzero(weights)
    return NetworkData(
        f"simulated network {seed} {'with' if hubs else 'without'} hubs",
        pd.DataFrame(measured, columns=names),
        pd.DataFrame({"regulator": names[regulators], "target": names[targets]}),
    )
