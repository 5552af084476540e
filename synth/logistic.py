"""Which of two is the better, learnt from differences of features: logistic regression in numpy.

A row is (features of the better) - (features of the other), so there is no intercept and a label is
not needed: the chance that the better wins is the logistic function of its row's weighted sum. The
loss is the sum of their logarithms and `penalty` / 2 times the squared weights.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Scaled: TypeAlias = Callable[[NDArray[np.bool_]], Array]
"""Rows as they are learnt from, scaled by what the rows marked True show."""

_MOST_STEPS = 100
_ENOUGH = 1e-9  # of the loss


def fit(rows: Array, penalty: float) -> Array:
    """The weights, by Newton's steps, each halved until the loss falls."""
    weights = np.zeros(rows.shape[1])  # (F,)
    loss = _loss(rows, weights, penalty)
    for _ in range(_MOST_STEPS):
        wrong = np.exp(-np.logaddexp(0.0, rows @ weights))  # (N,): the chance of the other
        slope = penalty * weights - rows.T @ wrong
        bend = (rows.T * (wrong * (1.0 - wrong))) @ rows + penalty * np.eye(len(weights))
        step, size = np.linalg.solve(bend, slope), 1.0
        while (now := _loss(rows, weights - size * step, penalty)) > loss and size > _ENOUGH:
            size /= 2
        if loss - now <= _ENOUGH * loss:
            break
        weights, loss = weights - size * step, now
    return weights


def cross_validated(scaled: Scaled, folds: NDArray[np.int64], penalty: float) -> Array:
    """The weighted sum of every row, by weights that were learnt without its fold."""
    sums = np.zeros(len(folds))  # (N,)
    for fold in np.unique(folds):
        rest = folds != fold
        rows = scaled(rest)
        sums[~rest] = rows[~rest] @ fit(rows[rest], penalty)
    return sums


def _loss(rows: Array, weights: Array, penalty: float) -> float:
    return float(np.logaddexp(0.0, -(rows @ weights)).sum() + penalty / 2 * weights @ weights)
