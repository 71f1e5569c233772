"""Reading expression: samples × genes, which genes may regulate, which are to be explained."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from mainstay._files import read_table
from mainstay._provenance import content_hash
from mainstay._validation import (
    InputError,
    check_choice,
    feature_names,
    natural_order,
    some,
    split_table,
)

_FEWEST_SAMPLES = 3


@dataclass(frozen=True, eq=False)
class Expression:
    """Expression of genes, in the natural order of their names.

    Attributes
    ----------
    genes : tuple of str
        All genes.
    values : numpy.ndarray, samples × genes
        Their expression.
    regulators, targets : numpy.ndarray of int
        Which genes may regulate, and which are to be explained.
    """

    genes: tuple[str, ...]
    values: np.ndarray
    regulators: np.ndarray
    targets: np.ndarray

    @property
    def regulator_names(self) -> list[str]:
        """Names of the regulators."""
        return [self.genes[j] for j in self.regulators]

    @property
    def target_names(self) -> list[str]:
        """Names of the targets."""
        return [self.genes[g] for g in self.targets]

    @cached_property
    def standardised(self) -> np.ndarray:
        """Expression with mean 0 and variance 1; zeros for genes that do not vary."""
        centred = self.values - self.values.mean(axis=0)
        spread = centred.std(axis=0)
        varies = spread > 1e-12 * np.abs(self.values).max(axis=0)
        return np.where(varies, centred / np.where(varies, spread, 1.0), 0.0)

    @cached_property
    def inputs(self) -> np.ndarray:
        """Standardised expression of the regulators, samples × regulators."""
        return np.ascontiguousarray(self.standardised[:, self.regulators])

    @cached_property
    def outputs(self) -> np.ndarray:
        """Standardised expression of the targets, samples × targets."""
        return np.ascontiguousarray(self.standardised[:, self.targets])

    @cached_property
    def own(self) -> np.ndarray:
        """Which regulator each target is itself; −1 for none."""
        place = np.full(len(self.genes), -1)
        place[self.regulators] = np.arange(len(self.regulators))
        return np.asarray(place[self.targets])

    @cached_property
    def _varying(self) -> np.ndarray:
        return np.flatnonzero(self.inputs.any(axis=0))

    def candidates(self, target: int) -> np.ndarray:
        """Regulators that may explain a target: all that vary, but not the target itself."""
        return np.asarray(self._varying[self._varying != self.own[target]])

    def is_pair(self) -> np.ndarray:
        """Regulators × targets: which pairs can be links."""
        pairs = np.ones((len(self.regulators), len(self.targets)), dtype=bool)
        itself = np.flatnonzero(self.own >= 0)
        pairs[self.own[itself], itself] = False
        return pairs

    def fingerprint(self) -> dict[str, Any]:
        """By what a checkpoint recognises the data: shape and hashes."""
        values = {"expression": self.values, "regulators": self.regulators, "targets": self.targets}
        return {
            "samples": len(self.values),
            "genes": len(self.genes),
            "sha256_names": content_hash(np.array(self.genes, dtype=object)),
            **{f"sha256_{name}": content_hash(part) for name, part in values.items()},
        }

    def rows(self, rows: np.ndarray) -> Expression:
        """Only some of the samples."""
        return replace(self, values=self.values[rows])


def read_expression(
    expression: Any, regulators: Iterable[str] | None = None, targets: Iterable[str] | None = None
) -> Expression:
    """Check a table of samples × genes, and which genes may regulate which."""
    values, columns = split_table(expression)
    if hasattr(values, "toarray"):
        values = values.toarray()
    array = np.asarray(values)
    if array.ndim != 2:
        raise InputError(
            f"expression must be samples × genes (2 dimensions), got shape {array.shape}."
        )
    genes = feature_names(None, columns, array.shape[1])
    array = _numbers(array, genes)
    order = natural_order(genes)
    genes, array = tuple(genes[j] for j in order), np.ascontiguousarray(array[:, order])
    if len(genes) < 2:
        raise InputError(f"expression has {len(genes)} gene(s); a network needs at least 2.")
    if len(array) < _FEWEST_SAMPLES:
        raise InputError(
            f"expression has {len(array)} sample(s), at least {_FEWEST_SAMPLES} are needed. "
            "Samples are rows and genes are columns: is the table the other way round?"
        )
    _refuse_constant(array, genes)
    data = Expression(
        genes,
        array,
        _positions("regulators", regulators, genes),
        _positions("targets", targets, genes),
    )
    if not data.is_pair().any():
        raise InputError("the only regulator is the only target: there is no pair of genes left.")
    return data


def _numbers(array: np.ndarray, genes: Sequence[str]) -> np.ndarray:
    if array.dtype.kind not in "buif":
        try:
            array = array.astype(float)
        except (TypeError, ValueError):
            for j, gene in enumerate(genes):
                try:
                    array[:, j].astype(float)
                except (TypeError, ValueError):
                    raise InputError(
                        f"column {gene!r} is not numeric ({array[0, j]!r}, …); expression must be "
                        "numbers, samples × genes."
                    ) from None
            raise InputError("expression must be numbers, samples × genes.") from None
    array = array.astype(float)
    bad = ~np.isfinite(array)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        others = int(bad.sum()) - 1
        also = f", and {others} more values are missing or infinite" if others else ""
        raise InputError(
            f"expression of gene {genes[column]!r} is {array[row, column]} in sample {row} "
            f"(counting from 0){also}; fill in what is missing or leave those samples out."
        )
    return array


def _refuse_constant(array: np.ndarray, genes: Sequence[str]) -> None:
    spread = np.ptp(array, axis=0)
    flat = spread <= 1e-12 * np.abs(array).max(axis=0)
    constant = [gene for gene, same in zip(genes, flat, strict=True) if same]
    if constant:
        raise InputError(
            f"{len(constant)} gene(s) have the same expression in every sample and can have no "
            f"links: {some(constant)}; leave them out."
        )


def _positions(what: str, names: Iterable[str] | None, genes: Sequence[str]) -> np.ndarray:
    if names is None:
        return np.arange(len(genes))
    if isinstance(names, str):
        raise InputError(f"{what} must be a list of gene names, got the text {names!r}.")
    listed = [str(name) for name in names]
    place = {gene: j for j, gene in enumerate(genes)}
    unknown = [name for name in listed if name not in place]
    if unknown:
        if len(unknown) == 1:
            check_choice(f"gene in {what}", unknown[0], genes)
        raise InputError(
            f"{len(unknown)} of the {len(listed)} {what} are not among the {len(genes)} genes: "
            f"{some(unknown)}; genes are {some(genes)}."
        )
    if not listed:
        raise InputError(f"{what} is empty; give at least one gene, or None for all.")
    return np.array(sorted({place[name] for name in listed}), dtype=np.intp)


def seed_of(*parts: object) -> int:
    """Make a seed from names and numbers: the same on every machine, in every order of genes."""
    digest = hashlib.blake2b("\x1f".join(map(str, parts)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1


def read_expression_file(path: str | Path, *, genes: Literal["columns", "rows"] = "columns") -> Any:
    """Read a table of samples × genes from .csv, .tsv, .parquet, .h5ad, ….

    Parameters
    ----------
    path : str or Path
        The file. A first column of text holds names of its rows. From .h5ad, X is read but not obs.
    genes : {"columns", "rows"}
        Where the genes are; in rows, their names are in the first column.

    Returns
    -------
    pandas.DataFrame
        Samples × genes.
    """
    check_choice("place of the genes", genes, ("columns", "rows"))
    table = read_table(path)
    first = table.columns[0]
    if table[first].dtype.kind not in "buif" or first.startswith("Unnamed"):
        if table[first].duplicated().any():
            twice = table[first][table[first].duplicated()].iloc[0]
            raise InputError(f"column {first!r} names {twice!r} more than once.")
        table = table.set_index(table[first].astype(str)).drop(columns=first)
    elif genes == "rows" and table.index.dtype.kind in "iu":
        raise InputError(
            f"with genes in rows the first column must hold their names, but {first!r} holds "
            "numbers."
        )
    return table.T if genes == "rows" else table
