"""Losses of an averaged prediction: value and derivative, row by row.

In regression a loss compares a row's target with the ensemble's average prediction. In
classification the average is the share of votes for the row's own class and the target is 1, which
needs no table of classes: the cross-entropy of the averaged vote is −log of that share.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mainstay._validation import InputError, check_choice

RowLoss = Callable[[np.ndarray, np.ndarray], np.ndarray]
_SMALLEST_SHARE = 0.01
_HUBER = 1.345


@dataclass(frozen=True)
class Loss:
    """A loss of targets and averages, and its derivative with respect to the averages."""

    value: RowLoss
    derivative: RowLoss


def squared_error(target: np.ndarray, average: np.ndarray) -> np.ndarray:
    """(e − y)²."""
    return np.asarray((average - target) ** 2)


def squared_error_derivative(target: np.ndarray, average: np.ndarray) -> np.ndarray:
    """2(e − y)."""
    return np.asarray(2 * (average - target))


def absolute_error(target: np.ndarray, average: np.ndarray) -> np.ndarray:
    """|e − y|."""
    return np.asarray(np.abs(average - target))


def absolute_error_derivative(target: np.ndarray, average: np.ndarray) -> np.ndarray:
    """sign(e − y); 0 at 0."""
    return np.asarray(np.sign(average - target))


def huber(target: np.ndarray, average: np.ndarray) -> np.ndarray:
    """(e − y)² up to |e − y| = 1.345, and linear beyond, with no kink.

    Inside the estimators the target has unit variance: the threshold counts standard deviations.
    """
    size = np.abs(average - target)
    return np.asarray(np.where(size <= _HUBER, size**2, _HUBER * (2 * size - _HUBER)))


def huber_derivative(target: np.ndarray, average: np.ndarray) -> np.ndarray:
    """2(e − y), at most 2 · 1.345."""
    return np.asarray(2 * np.clip(average - target, -_HUBER, _HUBER))


def cross_entropy(target: np.ndarray, average: np.ndarray) -> np.ndarray:
    """−log e, continued as a straight line below e = 0.01.

    A row that no model gets right would otherwise weigh more than all the rest together.
    """
    inside = np.maximum(average, _SMALLEST_SHARE)
    return np.asarray(-np.log(inside) + (inside - average) / _SMALLEST_SHARE)


def cross_entropy_derivative(target: np.ndarray, average: np.ndarray) -> np.ndarray:
    """−1/e, at least −100."""
    return np.asarray(-1 / np.maximum(average, _SMALLEST_SHARE))


LOSSES = {
    "squared_error": Loss(squared_error, squared_error_derivative),
    "absolute_error": Loss(absolute_error, absolute_error_derivative),
    "huber": Loss(huber, huber_derivative),
    "cross_entropy": Loss(cross_entropy, cross_entropy_derivative),
}


def make_loss(loss: Any, *, classification: bool) -> Loss:
    """Find a loss by name, or take a pair of functions (loss, derivative)."""
    if isinstance(loss, Loss):
        return loss
    if isinstance(loss, tuple | list):
        if len(loss) != 2 or not all(callable(part) for part in loss):
            raise InputError(
                f"loss must be a name or a pair of functions (loss, derivative) of targets and "
                f"averages, got {loss!r}."
            )
        return Loss(*loss)
    if loss == "auto":
        return LOSSES["cross_entropy" if classification else "squared_error"]
    if callable(loss):
        raise InputError(
            f"loss needs its derivative with respect to the average too: give a pair "
            f"(loss, derivative), got {loss!r} alone."
        )
    valid = [name for name in LOSSES if classification or name != "cross_entropy"]
    return LOSSES[check_choice("loss", loss, ["auto", *valid])]
