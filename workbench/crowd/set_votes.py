"""Votes of sets of labels as arrays: what each purchase says of every label, and who is how able.

A worker who gives a set of labels says of each label whether it belongs there. Label by label these
are votes of two classes, "no" and "yes"; each worker has a confusion matrix for each label, drawn
toward that of all workers (`crowd.confusion`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from workbench.base.arrays import BoolArray, FloatArray, IntArray, Names
from workbench.crowd.confusion import (
    class_shares,
    constant_in,
    estimate_confusion,
    gold_counts,
    without_constant,
)
from workbench.crowd.votes import Votes


@dataclass(frozen=True, eq=False)
class SetVotes:
    """Sets of labels given by workers to tasks.

    Attributes
    ----------
    by_label
        Votes of each label, classes "no" and "yes": the same tasks and workers, vote for vote.
    task, worker
        Shape (k,).
    said
        Whether each set has each label, 0 or 1, shape (k, L).
    """

    by_label: Mapping[str, Votes]
    task: IntArray
    worker: IntArray
    said: IntArray

    @classmethod
    def of(cls, by_label: Mapping[str, Votes]) -> SetVotes:
        """Lay the votes of all labels beside one another."""
        first = next(iter(by_label.values()))
        said = np.stack([votes.label for votes in by_label.values()], axis=1)
        return cls(by_label, first.task, first.worker, said)

    @property
    def names(self) -> list[str]:
        """The labels, L of them."""
        return list(self.by_label)

    @property
    def tasks(self) -> Names:
        """Names of the tasks, shape (n,)."""
        return next(iter(self.by_label.values())).tasks

    @property
    def workers(self) -> Names:
        """Names of the workers, shape (m,)."""
        return next(iter(self.by_label.values())).workers

    @property
    def constant(self) -> BoolArray:
        """Who gives one and the same set throughout, on two tasks or more, shape (m,)."""
        m = len(self.workers)
        many = np.bincount(self.worker, minlength=m)
        sums = np.zeros((m, self.said.shape[1]), dtype=np.int64)
        np.add.at(sums, self.worker, self.said)
        same: BoolArray = ((sums == 0) | (sums == many[:, None])).all(axis=1) & (many > 1)
        return same


@dataclass(frozen=True, eq=False)
class SetSkills:
    """What gold tells of the workers, label by label.

    Attributes
    ----------
    confusion
        π, shape (L, m, 2, 2): by label and worker, whether it is true × whether she says so.
    prior
        ρ, shape (L, 2): share of the tasks without and with the label.
    known
        Who gave a gold answer, shape (m,).
    """

    confusion: FloatArray
    prior: FloatArray
    known: BoolArray

    def log_odds(self, votes: SetVotes, rows: IntArray, place: IntArray, tasks: int) -> FloatArray:
        """Log-odds of each label given some votes, shape (k, L).

        Parameters
        ----------
        votes
            Of which those in `rows` count.
        place
            Task of each of them, 0 … k − 1.
        tasks
            k.
        """
        labels = np.arange(len(self.prior))
        worker, said = votes.worker[rows, None], votes.said[rows]
        chance = self.confusion[labels, worker, :, said]
        odds = np.tile(np.log(self.prior[:, 1] / self.prior[:, 0]), (tasks, 1))
        np.add.at(odds, place, np.log(chance[..., 1] / chance[..., 0]))
        return odds


def set_skills(votes: SetVotes, gold: IntArray) -> SetSkills:
    """Learn from gold what each worker says where each label is true, and where it is not.

    Parameters
    ----------
    gold
        Whether each task has each label, 0 or 1, −1 where it is not known, shape (n, L).
    """
    confusion, prior = [], []
    known = np.zeros(len(votes.workers), dtype=bool)
    for label, each in enumerate(votes.by_label.values()):
        codes = gold[:, label]
        counts = gold_counts(each, codes, np.zeros_like(codes), 1)[0]
        shares = class_shares(codes, 2)
        found = estimate_confusion(counts, shares, each.workers, each.classes)
        confusion.append(without_constant(found.confusion, constant_in(each, codes)))
        prior.append(shares)
        known |= counts.any(axis=(1, 2))
    return SetSkills(np.stack(confusion), np.stack(prior), known)
