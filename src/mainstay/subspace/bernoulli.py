"""Feature subsets drawn by independent coin tosses, and their weights under other coins.

A subset z holds feature j with probability α_j, independently of all others:

    p(z | α) = Π_j α_j^z_j (1 − α_j)^(1 − z_j).

T subsets drawn from Q such distributions (T_q from the q-th) estimate an average under any β:

    E_β[f] ≈ (1/T) Σ_t w_t f_t,    w_t = p(z_t | β) / Σ_q (T_q/T) p(z_t | α^(q)),

or, self-normalised, Σ_t w_t f_t / Σ_t w_t, which cannot leave the range of the f_t. All of it is
done in logarithms, with α and β clipped to [1e-6, 1 − 1e-6] inside the formulas.

Reference: Huynh-Thu, V. A. and Geurts, P. (2021). Optimizing model-agnostic random subspace
ensembles. arXiv:2109.03099. Equations 1 and 13–19.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_CLIP = 1e-6


def sample_subsets(alpha: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw `size` subsets from p(z | α): an array of bool, size × M."""
    return rng.random((size, len(alpha))) < alpha


def clip(alpha: np.ndarray) -> np.ndarray:
    """Keep probabilities away from 0 and 1, so that their logarithms are finite."""
    return np.asarray(np.minimum(np.maximum(alpha, _CLIP), 1 - _CLIP))  # np.clip is slower


def log_probability(Z: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """Compute log p(z | α) for every subset (row of Z); with Q × M alphas, T × Q of them."""
    a = clip(alpha)
    outside = np.log1p(-a)
    return np.asarray(Z.astype(float) @ (np.log(a) - outside).T + outside.sum(axis=-1))


def effective_size(weights: np.ndarray) -> float:
    """Number of equally weighted models that would be as good: (Σw)²/Σw²."""
    return float(weights.sum() ** 2 / (weights @ weights))


@dataclass(frozen=True, eq=False)
class ImportanceSample:
    """Subsets drawn from reference distributions, and all that stays the same while β moves.

    Attributes
    ----------
    active : array of int
        Features that some models use and others do not. Only these can have a gradient.
    used_by_all : array of int
        Features that all models use.
    log_mixture : array of T
        log Σ_q (T_q/T) p(z_t | α^(q)).
    members : array, T × active
        Which models use the active features, as numbers.
    strata : pair of arrays, T × active, or None
        What replaces 1/T in the gradient of models with, and without, a feature.
    """

    active: np.ndarray
    used_by_all: np.ndarray
    log_mixture: np.ndarray
    members: np.ndarray
    strata: tuple[np.ndarray, np.ndarray] | None

    @classmethod
    def from_references(
        cls, Z: np.ndarray, alphas: np.ndarray, drawn_from: np.ndarray, *, stratified: bool = False
    ) -> ImportanceSample:
        """Prepare T subsets, drawn from Q distributions.

        Parameters
        ----------
        Z : array of bool, T × M
            The subsets.
        alphas : array, Q × M
            The reference distributions.
        drawn_from : array of int, T
            The distribution that each subset was drawn from.
        stratified : bool
            Whether `gradient` averages by strata, as the paper does.
        """
        shares = np.bincount(drawn_from, minlength=len(alphas)) / len(Z)
        joint = log_probability(Z, alphas) + np.log(shares)
        largest = joint.max(axis=1, keepdims=True)
        log_mixture = np.log(np.exp(joint - largest).sum(axis=1)) + largest[:, 0]
        counts = Z.sum(axis=0)
        active = np.flatnonzero((counts > 0) & (counts < len(Z)))
        used_by_all = np.flatnonzero(counts == len(Z))
        members, strata = Z[:, active].astype(float), None
        if stratified:
            posterior, a = np.exp(joint - log_mixture[:, None]), clip(alphas[:, active])
            inside = members / (posterior @ (1 / a) * counts[active])
            outside = (1 - members) / (posterior @ (1 / (1 - a)) * (len(Z) - counts[active]))
            strata = inside, outside
        return cls(active, used_by_all, log_mixture, members, strata)

    def weights(self, beta: np.ndarray, *, self_normalized: bool = False) -> np.ndarray:
        """Compute w_t of every subset under β; self-normalised, they average to 1."""
        b = clip(beta[self.active])
        outside = np.log1p(-b)
        logs = self.members @ (np.log(b) - outside) - self.log_mixture
        if not self_normalized:
            outside = np.log1p(-clip(beta))
            everywhere = np.log(clip(beta[self.used_by_all])) - outside[self.used_by_all]
            return np.asarray(np.exp(logs + (outside.sum() + everywhere.sum())))
        # factors that all subsets share cancel
        weights = np.exp(logs - logs.max())
        return np.asarray(weights * (len(weights) / weights.sum()))

    def gradient(self, beta: np.ndarray, weights: np.ndarray, folded: np.ndarray) -> np.ndarray:
        """Derivative of an objective with respect to every β_j at once, for T·M multiplications.

        Let E = (1/T) Σ_t w_t f_t be the averaged prediction and r_t = Σ_i ∂F/∂E_i f_t(x_i) the
        models' predictions, `folded` over the samples. Since ∂w_t/∂β_j is w_t/β_j for models with
        feature j, and −w_t/(1−β_j) for models without it,

            ∂F/∂β_j = (1/T) Σ_{t: z_tj=1} w_t r_t/β_j − (1/T) Σ_{t: z_tj=0} w_t r_t/(1−β_j).

        Stratified, as in equations 16–17 of the paper, the two sums are divided by the number T_jz
        of their models instead of the number expected: 1/T becomes
        [Σ_q c_q P_q(t)] / [T_jz Σ_q c_q P_q(t)/p(z_tj | α_j^(q))] with c_q = T_q/T and
        P_q(t) = p(z_t | α^(q)). This cancels what all r_t have in common, which self-normalised
        weights do by themselves; it is not the derivative of the estimate, and biased where the
        references differ. Features that all models use, or none, get 0.
        """
        b = clip(beta[self.active])
        terms = weights * folded
        if self.strata is None:
            inside = terms @ self.members / len(terms)
            outside = terms.sum() / len(terms) - inside
        else:
            inside, outside = terms @ self.strata[0], terms @ self.strata[1]
        out = np.zeros(len(beta))
        out[self.active] = inside / b - outside / (1 - b)
        return out
