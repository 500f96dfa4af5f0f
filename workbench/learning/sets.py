"""Whom to ask, given estimates: the linear search of the exploiting step.

Source: Liu, Liu (2015), Figure 1, step 3, with Theorems 1, 2 and 4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from workbench.accuracy.majority import EQUAL, best_prefixes, prefix_accuracies_many
from workbench.accuracy.plurality import MOST_CLASSES
from workbench.accuracy.weighted import (
    MOST,
    log_odds,
    weighted_accuracies_many,
    weighted_accuracy_many,
)
from workbench.base import checks
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.crowd.votes import TIE

ROWS = 4096
"""Crowds looked at together where all outcomes are listed."""


@dataclass(frozen=True)
class Vote:
    """How labels of an exploiting step become one.

    Attributes
    ----------
    weighted
        False: simple majority, of more than two classes plurality. True: log-odds weights from
        the estimates, two classes alone.
    tolerance
        ε of Section 4: the side ahead by at least ε wins, else the label is drawn.
    truncate
        Estimates are moved into [truncate, 1 − truncate] before they become weights: a worker
        who agreed on every tester is not one who never errs.
    classes
        K.
    """

    weighted: bool = False
    tolerance: float = 0.0
    truncate: float = 1e-3
    classes: int = 2

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "tolerance", checks.number("tolerance", self.tolerance, 0.0, 1e300)
        )
        if not 0 < self.truncate < 0.5:
            raise InputError(
                f"truncate is {self.truncate}: give a number between 0 and 0.5, exclusive"
            )
        if self.tolerance and not self.weighted:
            raise InputError("tolerance belongs to the weighted vote: give weighted=True with it")
        if checks.count("classes", self.classes, 2) > MOST_CLASSES:
            raise InputError(f"classes is {self.classes}: give {MOST_CLASSES} or fewer")
        if self.weighted and self.classes > 2:
            raise InputError(
                f"the weighted vote takes two classes, not {self.classes}: leave `weighted` out"
            )

    def worth(self, agreed: IntArray, judged: IntArray) -> FloatArray:
        """By what workers are ranked: p̂, or its distance from ½ when the vote is weighted.

        Parameters
        ----------
        agreed, judged
            On how many testers a worker agreed, and of how many; any one shape.

        Returns
        -------
        p̂, or |2p̂ − 1|, to the last bit equal for p̂ and 1 − p̂. Unjudged workers have p̂ = ½.
        """
        if not self.weighted:
            return estimates(agreed, judged)
        apart: FloatArray = np.abs(2 * agreed - judged) / np.maximum(judged, 1)
        return apart

    def sizes(self, estimate: FloatArray) -> IntArray:
        """How many of the ranked workers to ask: the smallest best prefix.

        Parameters
        ----------
        estimate
            p̂ in the order of `worth`, shape (Q, m), m ≥ 1.

        Returns
        -------
        Shape (Q,). Simple majority: odd (Theorem 1), accuracies within 1e-12 being equal.
        Plurality: of any parity, by `pair_accuracies`.
        Weighted: any size; beyond 26 workers the search is left out, and all who carry weight
        are asked, which is a best set though perhaps not the smallest.
        """
        if self.classes > 2:
            accuracy = pair_accuracies(estimate, self.classes)[:, 1:]
            best = accuracy >= accuracy.max(axis=1, keepdims=True) - EQUAL
            first: IntArray = best.argmax(axis=1) + 1
            return first
        if not self.weighted:
            return best_prefixes(prefix_accuracies_many(estimate))
        m = estimate.shape[1]
        if m > MOST:
            weight = log_odds(estimate, truncate=self.truncate)
            heavy: IntArray = np.maximum((np.abs(weight) > 0).sum(axis=1), 1)
            return heavy
        size = np.empty(len(estimate), dtype=np.int64)
        for start in range(0, len(estimate), ROWS):
            size[start : start + ROWS] = self._weighted_sizes(estimate[start : start + ROWS])
        return size

    def _weighted_sizes(self, estimate: FloatArray) -> IntArray:
        p = np.clip(estimate, self.truncate, 1.0 - self.truncate)
        if self.tolerance:
            accuracy = weighted_accuracies_many(p, tolerance=self.tolerance)[:, 1:]
            best = accuracy >= accuracy.max(axis=1, keepdims=True) - EQUAL
            first: IntArray = best.argmax(axis=1) + 1
            return first
        # Nobody does harm: the last are left out as long as nothing is lost.
        m = p.shape[1]
        best = weighted_accuracy_many(p)
        size = np.full(len(p), m)
        going = np.arange(len(p))
        for n in range(m - 1, 0, -1):
            going = going[weighted_accuracy_many(p[going, :n]) >= best[going] - EQUAL]
            if not len(going):
                break
            size[going] = n
        return size

    def accuracies(self, skill: FloatArray, estimate: FloatArray, size: IntArray) -> FloatArray:
        """How often the label of the first `size` workers is right: U(S_t).

        Parameters
        ----------
        skill, estimate
            True and estimated skills in the order of `worth`, shape (Q, m).
        size
            Shape (Q,).

        Returns
        -------
        Shape (Q,).
        """
        if not self.weighted:
            return np.take_along_axis(prefix_accuracies_many(skill), size[:, None], axis=1)[:, 0]
        accuracy = np.empty(len(skill))
        for n in np.unique(size).tolist():
            rows = np.flatnonzero(size == n)
            for some in np.split(rows, range(ROWS, len(rows), ROWS)):
                accuracy[some] = weighted_accuracy_many(
                    skill[some, :n],
                    estimate[some, :n],
                    tolerance=self.tolerance,
                    truncate=self.truncate,
                )
        return accuracy

    def margins(self, labels: IntArray, estimate: FloatArray) -> FloatArray:
        """How far label 1 is ahead: in heads, or in log-odds when the vote is weighted.

        Parameters
        ----------
        labels
            0, 1 or −1 for none, shape (Q, m).
        estimate
            p̂, shape (Q, m).

        Returns
        -------
        Shape (Q,), exactly 0 where the label is to be drawn.
        """
        side = np.where(labels < 0, 0, 2 * labels - 1)
        if not self.weighted:
            heads: FloatArray = side.sum(axis=1).astype(np.float64)
            return heads
        weight = log_odds(estimate, tolerance=self.tolerance, truncate=self.truncate)
        ahead: FloatArray = (weight * side).sum(axis=1)
        ahead[np.abs(ahead) <= self._undecided((np.abs(weight) * (side != 0)).sum(axis=1))] = 0.0
        return ahead

    def _undecided(self, weight: FloatArray) -> FloatArray:
        """Within what distance the sides are even; ε reached but for rounding is reached.

        As in `weighted_accuracy`, which computes how often this vote is right.
        """
        short = self.tolerance - 4 * TIE * (weight + self.tolerance)
        return np.maximum(TIE * weight, short)


def pair_accuracies(skill: FloatArray, classes: int) -> FloatArray:
    """How often more of the first workers name the true class than one given wrong one, ties half.

    Of two classes, `prefix_accuracies_many`. Of K, a plurality is right with at least
    1 − (K − 1)(1 − this).

    Parameters
    ----------
    skill
        p, shape (Q, m): the true class with p, each other with (1 − p)/(K − 1).
    classes
        K.

    Returns
    -------
    Of the first 0, 1, …, m workers, shape (Q, m + 1).
    """
    Q, m = skill.shape
    lead = np.zeros((Q, 2 * m + 3))
    lead[:, m + 1] = 1.0
    accuracy = np.full((Q, m + 1), 0.5)
    for j, p in enumerate(skill.T[:, :, None]):
        wrong = (1.0 - p) / (classes - 1)
        lead[:, 1:-1] = (1.0 - p - wrong) * lead[:, 1:-1] + p * lead[:, :-2] + wrong * lead[:, 2:]
        accuracy[:, j + 1] = lead[:, m + 2 :].sum(axis=1) + 0.5 * lead[:, m + 1]
    return accuracy


def estimates(agreed: IntArray, judged: IntArray) -> FloatArray:
    """p̂, the share of testers on which a worker agreed; ½ where there are none."""
    return np.where(judged > 0, agreed / np.maximum(judged, 1), 0.5)


def ranking(worth: FloatArray, order: FloatArray) -> IntArray:
    """Rank workers, best first, those of equal worth by `order`.

    Parameters
    ----------
    worth
        Shape (Q, M).
    order
        A number for each worker, drawn once: shape (Q, M).

    Returns
    -------
    Indices, shape (Q, M).
    """
    return np.lexsort((order, -worth), axis=-1)


def ranked_sets(
    vote: Vote, agreed: IntArray, judged: IntArray, order: FloatArray, present: BoolArray
) -> tuple[IntArray, IntArray]:
    """The sets S_t of many situations at once.

    Parameters
    ----------
    vote
        The rule.
    agreed, judged, order
        Shape (Q, M).
    present
        Who may be asked, shape (Q, M).

    Returns
    -------
    ranked, size
        All workers, best first and absent ones last, shape (Q, M); how many of them are asked,
        shape (Q,), 0 where nobody is present.
    """
    worth = np.where(present, vote.worth(agreed, judged), -1.0)
    ranked = ranking(worth, order)
    estimate = np.take_along_axis(estimates(agreed, judged), ranked, axis=1)
    there = present.sum(axis=1)
    size = np.zeros(len(ranked), dtype=np.int64)
    for n in np.unique(there[there > 0]).tolist():
        rows = np.flatnonzero(there == n)
        size[rows] = vote.sizes(estimate[rows, :n])
    return ranked, size


def prices(costs: ArrayLike | None, workers: int) -> FloatArray:
    """Check what labels cost, shape (M,); 1 each by default."""
    price = np.ones(workers) if costs is None else checks.floats("costs", costs)
    if price.shape != (workers,) or not ((price >= 0) & (price < np.inf)).all():
        raise InputError(f"costs: give {workers} prices of 0 or more, one a worker")
    return price
