"""Populations of error_control.py: designs, targets, and which features are really related.

A target moves the features: Z = s(y)·b + N(0, Σ) with b = c·Σβ. Then y depends on Z through Zβ
alone (linear for a continuous target, logistic for classes), so the 20 features of β are the
*conditional* truth; feature j is related to y by itself as far as b_j is not 0: the *marginal*
truth. Unlike in y = Xβ + noise, where 20 independent features cannot each have a correlation
above 0.22, any strength is possible at any n.

Most cells have 1,000 features. Small ones (100 rows, 200 features, 20 of them true) are where every
peer can be run as often as the others.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from _common import load
from scipy.linalg import block_diag
from scipy.optimize import brentq
from scipy.special import ndtr
from scipy.stats import chi2, ncx2
from sklearn.covariance import ledoit_wolf

P, SMALL, N_TRUE, ALPHA = 1000, 200, 20, 0.1
DESIGNS = ("independent", "AR(0.7)", "twins", "expression")
ROWS = (100, 200, 500)
BLOCK, TWIN, AR = 10, 0.95, 0.7
TINY = 0.005  # a population correlation below this counts as none: at n = 500, 0.1 standard errors
POWERS = {"weak": 0.3, "strong": 0.85}  # wanted of Benjamini-Hochberg, independent features
CLASSES = {"binary": (1, 1), "five classes": (1,) * 5, "one in ten": (9, 1), "variance": (1, 1)}


@dataclass(frozen=True)
class Cell:
    """One population and number of rows."""

    target: str  # "continuous" or one of CLASSES
    design: str
    n: int
    signal: str  # "noise", "weak" or "strong"
    p: int = P

    @property
    def name(self) -> str:
        """For the files of its results and for its seeds."""
        small = () if self.p == P else (f"p{self.p}",)
        parts = (self.target, self.design, str(self.n), self.signal, *small)
        return "_".join(parts).replace(" ", "-").replace("(", "").replace(")", "")

    @property
    def task(self) -> str:
        """Kind of problem."""
        return "regression" if self.target == "continuous" else "classification"


@dataclass(frozen=True)
class Sample:
    """One data set, and which features are related to y: by themselves, and given the others."""

    X: np.ndarray
    y: np.ndarray
    marginal: np.ndarray
    conditional: np.ndarray


def all_cells() -> list[Cell]:
    """Every population of the experiment."""
    cells = [
        Cell("continuous", design, n, signal)
        for signal in ("noise", "strong", "weak")
        for design in DESIGNS
        for n in ROWS
    ]
    cells += [
        Cell(target, design, n, signal)
        for signal in ("noise", "strong", "weak")
        for target, designs in (
            ("binary", ("independent", "expression")),
            ("five classes", ("independent",)),
            ("one in ten", ("independent", "expression")),
        )
        for design in designs
        for n in ROWS[:2]
    ]
    cells += [Cell("variance", "independent", n, "strong") for n in ROWS]
    cells.append(Cell("binary", "expression, own rows", 100, "noise"))
    cells += [
        Cell(target, "independent", 100, signal, SMALL)
        for signal in ("noise", "strong")
        for target in ("continuous", "binary")
    ]
    cells.append(Cell("variance", "independent", 100, "strong", SMALL))
    return cells


@lru_cache(maxsize=25)  # a part's data sets: the next method of the same cell needs them again
def draw(cell: Cell, number: int, seed: int) -> Sample:
    """Data set of a cell by number; every method gets the same ones."""
    rng = np.random.default_rng([seed, zlib.crc32(cell.name.encode()), number])
    y, scores = draw_target(cell, rng)
    if cell.design == "expression, own rows":
        none = np.zeros(cell.p, dtype=bool)
        genes = expression()
        return Sample(genes[rng.permutation(len(genes))[: cell.n]], y, none, none)
    design = design_of(cell.design, cell.p)
    effects = np.zeros((scores.shape[1], cell.p))
    noise = rng.normal(size=(cell.n, cell.p)) @ design.root.T
    conditional = np.zeros(cell.p, dtype=bool)
    if cell.signal != "noise":
        conditional[design.true] = True
        if cell.target == "variance":
            noise[:, design.true] *= np.exp(2 * strength(cell) / np.sqrt(2) * scores)
            return Sample(noise, y, conditional, conditional)
        for k in range(scores.shape[1]):
            effects[k] = strength(cell) * (design.correlation @ coefficients(design, k, cell))
    size = np.sqrt((effects**2).mean(axis=0))
    Z = (scores @ effects) / np.sqrt(scores.shape[1]) + noise
    X = Z if design.quantiles is None else as_genes(Z / np.sqrt(1 + size**2), design.quantiles)
    return Sample(X, y, size / np.sqrt(1 + size**2) >= TINY, conditional)


def draw_target(cell: Cell, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The target and what moves the features: columns of mean 0, variance 1, uncorrelated."""
    if cell.target == "continuous":
        y = rng.normal(size=cell.n)
        return y, y[:, None]
    weights = np.array(CLASSES[cell.target])
    sizes = cell.n * weights // weights.sum()
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    shares = sizes / cell.n
    indicators = (np.eye(len(sizes)) - shares)[:, 1:] / np.sqrt(shares[1:])
    values, vectors = np.linalg.eigh((indicators * shares[:, None]).T @ indicators)
    return y, (indicators @ vectors / np.sqrt(values))[y]


def coefficients(design: Design, column: int, cell: Cell) -> np.ndarray:
    """β for one column of scores: ±1 for the true features, the signs fixed for a design.

    With k columns the mean square over the columns is what one column has.
    """
    rng = np.random.default_rng([zlib.crc32(cell.design.encode()), column])
    beta = np.zeros(cell.p)
    beta[design.true] = rng.choice([-1.0, 1.0], size=N_TRUE) * design.scale
    return beta


def strength(cell: Cell) -> float:
    """Effect at which Benjamini-Hochberg has the wanted power for independent features."""
    degrees = 1 if cell.target == "continuous" else len(CLASSES[cell.target]) - 1
    return _noncentrality(POWERS[cell.signal], degrees, cell.p) / np.sqrt(cell.n)


@cache
def _noncentrality(power: float, degrees: int, p: int) -> float:
    named = N_TRUE * power / (1 - ALPHA)
    threshold = chi2.isf(ALPHA * named / p, degrees)
    value = brentq(lambda x: ncx2.sf(threshold, degrees, x) - power, 1e-6, 200)
    return float(np.sqrt(value))


# ---------------------------------------------------------------------- designs


@dataclass(frozen=True)
class Design:
    """Correlation of the features, its root, and where the true features are.

    `quantiles`: sorted values of every gene; None where features are Gaussian. `scale`: what
    makes the median true feature as strong as in the other designs.
    """

    correlation: np.ndarray
    root: np.ndarray
    true: np.ndarray
    quantiles: np.ndarray | None = None
    scale: float = 1.0


@lru_cache(maxsize=2)
def design_of(name: str, p: int = P) -> Design:
    """The design by name; the 20 true features lie equally far apart."""
    true = p // (2 * N_TRUE) + p // N_TRUE * np.arange(N_TRUE)
    if name == "expression":
        return expression_design()
    correlation = {
        "independent": lambda: np.eye(p),
        "AR(0.7)": lambda: AR ** np.abs(np.subtract.outer(np.arange(p), np.arange(p))),
        "twins": lambda: (
            block_diag(*[np.full((BLOCK, BLOCK), TWIN)] * (p // BLOCK)) + (1 - TWIN) * np.eye(p)
        ),
    }[name]()
    return Design(correlation, np.linalg.cholesky(correlation), true)


@cache
def expression() -> np.ndarray:
    """The 1,000 genes of prostate_ge that vary most, in a random order; 102 rows."""
    X, _ = load("microarray/prostate_ge")
    genes = np.argsort(-X.var(axis=0), kind="stable")[:P]
    return X[:, np.random.default_rng(0).permutation(genes)]


def expression_design() -> Design:
    """A Gaussian copula with the genes' shrunken correlations and their own quantiles.

    The second half of the genes is drawn independently of the first, which holds the true
    features; so half of the genes are exactly unrelated to y and correlated like genes.
    """
    genes = expression()
    ranks = (genes - genes.mean(axis=0)) / genes.std(axis=0)
    halves = [ledoit_wolf(part)[0] for part in (ranks[:, : P // 2], ranks[:, P // 2 :])]
    parts = [half / np.sqrt(np.outer(half.diagonal(), half.diagonal())) for half in halves]
    correlation = block_diag(*parts)
    true = 12 + 25 * np.arange(N_TRUE)
    design = Design(correlation, np.linalg.cholesky(correlation), true, np.sort(genes, axis=0))
    beta = coefficients(design, 0, Cell("continuous", "expression", 0, ""))
    scale = 1 / np.median(np.abs(correlation @ beta)[true])
    return Design(correlation, design.root, true, design.quantiles, scale)


def as_genes(Z: np.ndarray, quantiles: np.ndarray) -> np.ndarray:
    """Give standard normal columns the distributions of the genes."""
    grid = (np.arange(len(quantiles)) + 0.5) / len(quantiles)
    columns = [np.interp(ndtr(Z[:, j]), grid, quantiles[:, j]) for j in range(Z.shape[1])]
    return np.column_stack(columns)
