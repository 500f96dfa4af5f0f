"""What it is to be fitted on gold: a rule that labels tasks, and the votes it labels them by.

A rule sees all votes and the gold of some tasks; fitted on these it labels any others. How often it
is right can then be measured by hiding a part of the gold, fitting the rule anew without it, and
holding the labels against it (`workbench.accuracy.measured`). All that rests on gold belongs into
the fit: skills, weights, the choice of workers or the prices of a plan.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import pandas as pd

from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.crowd.votes import TIE, Votes

PART = 2**22
"""Numbers in a table of gold tasks and classes that is made at a time."""


@dataclass(frozen=True, eq=False)
class RuleLabels:
    """Labels of k tasks.

    Attributes
    ----------
    chance
        Chance over the rule's fair draws of each class, shape (k, L): rows sum to 1; NaN where the
        rule gives a task no label.
    met
        Of a plan, whether the task's votes meet its requirement, shape (k,); None of other rules.
    """

    chance: FloatArray
    met: BoolArray | None = None

    @property
    def labelled(self) -> BoolArray:
        """Which tasks have a label, shape (k,)."""
        return ~np.isnan(self.chance[:, 0])

    def loss(self, truth: IntArray) -> FloatArray:
        """Chance of a wrong label by true class, shape (k,); NaN without a label."""
        return 1.0 - self.chance[np.arange(len(truth)), truth]


class FittedRule(Protocol):
    """A rule that has seen its gold."""

    def label(self, tasks: IntArray) -> RuleLabels:
        """Label tasks, given by index, shape (k,)."""
        ...

    def independent_error(self, tasks: IntArray) -> FloatArray:
        """Chance that each label is wrong if errors are independent, shape (k,); NaN without."""
        ...


GoldRule: TypeAlias = Callable[[IntArray], FittedRule]
"""From gold, the class of each task (n,), −1 where it is hidden, to the fitted rule."""


def gold_codes(votes: Votes, gold: pd.Series[Any] | None) -> IntArray:
    """Class index of each task by its gold, −1 without, shape (n,).

    Parameters
    ----------
    votes
        Labels, which name all classes of the gold.
    gold
        True label by task; tasks that have no votes are left out. None for none.
    """
    codes: IntArray = np.full(len(votes.tasks), -1, dtype=np.int64)
    if gold is None:
        return codes
    at = pd.Index(votes.tasks).get_indexer(gold.index)
    codes[at[at >= 0]] = pd.Index(votes.classes).get_indexer(pd.Index(gold[at >= 0]))
    return codes


class VotesByTask:
    """Votes laid out by task, so that those of a few tasks are found without a look at all.

    Parameters
    ----------
    votes
        k labels of n tasks.

    Attributes
    ----------
    votes
        The same, sorted by task.
    """

    def __init__(self, votes: Votes) -> None:
        self.votes = some_votes(votes, np.argsort(votes.task, kind="stable"))
        sizes = np.bincount(votes.task, minlength=len(votes.tasks))
        self._start = np.concatenate([[0], np.cumsum(sizes)])

    def rows(self, tasks: IntArray) -> tuple[IntArray, IntArray]:
        """Rows in `votes` of the votes of some tasks, and the place in `tasks` of each."""
        start = self._start[tasks]
        sizes = self._start[np.asarray(tasks) + 1] - start
        place = np.repeat(np.arange(len(sizes)), sizes)
        before = np.cumsum(sizes) - sizes
        rows: IntArray = np.arange(len(place)) + (start - before)[place]
        return rows, place

    def answers(self, gold: IntArray) -> tuple[IntArray, IntArray]:
        """Gold tasks that each worker got right, and answered, shape (m,) each.

        Parameters
        ----------
        gold
            Class of each task, shape (n,), −1 where it is not known.
        """
        rows, place = self.rows(np.flatnonzero(gold >= 0))
        worker, m = self.votes.worker[rows], len(self.votes.workers)
        right = self.votes.label[rows] == gold[gold >= 0][place]
        return np.bincount(worker[right], minlength=m), np.bincount(worker, minlength=m)


def chances(
    place: IntArray, label: IntArray, weight: FloatArray, shape: tuple[int, int]
) -> FloatArray:
    """Chance of each class in a weighted vote with fair ties, shape (k, L).

    Parameters
    ----------
    place, label, weight
        Task (0 … k − 1), class and weight of each vote.
    shape
        (k, L).

    Returns
    -------
    Rows sum to 1; NaN for a task without votes.
    """
    sums = class_sums(place, label, weight, shape)
    voters = np.bincount(place, minlength=shape[0])
    apart = TIE * np.bincount(place, np.abs(weight), minlength=shape[0])
    winning = sums >= sums.max(axis=1, keepdims=True) - apart[:, None]
    share: FloatArray = winning / winning.sum(axis=1, keepdims=True)
    share[voters == 0] = np.nan
    return share


def class_sums(
    place: IntArray, label: IntArray, weight: FloatArray, shape: tuple[int, int]
) -> FloatArray:
    """Sum of weights by task and class, shape (k, L); arguments as for `chances`."""
    sums = np.bincount(place * shape[1] + label, weight, minlength=shape[0] * shape[1])
    return sums.reshape(shape).astype(np.float64)  # without votes `bincount` counts in integers


def some_votes(votes: Votes, rows: IntArray) -> Votes:
    """Keep the votes of some rows, in their order; names stay."""
    return Votes(
        votes.task[rows],
        votes.worker[rows],
        votes.label[rows],
        votes.tasks,
        votes.workers,
        votes.classes,
    )


def majority_loss(votes: Votes, gold: IntArray) -> FloatArray:
    """Chance that a majority of all votes is wrong on each gold task, shape (c,).

    Ties are drawn fairly; NaN for a task without votes.

    Parameters
    ----------
    gold
        Class of the c gold tasks, −1 of all others, shape (n,).
    """
    control, by_task, classes = np.flatnonzero(gold >= 0), VotesByTask(votes), len(votes.classes)
    losses = [np.zeros(0)]
    for part in np.array_split(control, 1 + len(control) * classes // PART):
        rows, place = by_task.rows(part)
        label = by_task.votes.label[rows]
        chance = chances(place, label, np.ones(len(label)), (len(part), classes))
        losses.append(RuleLabels(chance).loss(gold[part]))
    return np.concatenate(losses)
