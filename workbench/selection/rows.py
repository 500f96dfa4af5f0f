"""Hiring by rows: what each worker names where each class is true, and how frequent classes are.

One skill a worker takes who always names the commonest class for skilled. Rows of a confusion
matrix, drawn toward those of all workers by a strength of each class's own (`crowd.confusion`),
tell her from who looks. But rows are more numbers, and their vote finds fewer of a rare class in
order to err less in all: so they are taken only where, on control tasks hidden in turn, it errs
less than the vote by one skill, by one standard error of the difference at least.

Who names one class throughout, beyond doubt, says nothing of a task, by whatever model.

Sources: Dawid, Skene (1979), equation 2.5, for the vote; Schwarz (1978), "Estimating the dimension
of a model"; Breiman et al. (1984), "Classification and regression trees", Section 3.4.3, for the
standard error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from workbench.accuracy.measured import folds, less_by_a_standard_error
from workbench.base.arrays import BoolArray, FloatArray, IntArray
from workbench.base.seeds import Seed
from workbench.crowd.confusion import (
    ConfusionEstimates,
    better_explained,
    class_shares,
    constant_workers,
    estimate_confusion,
    one_class,
)
from workbench.crowd.loss import Stakes
from workbench.crowd.votes import Votes
from workbench.selection.covering import who_answers
from workbench.selection.hired_vote import HiredVote
from workbench.selection.learned import ControlAnswers

PARTS = 5
"""Parts of the control tasks that are hidden in turn to choose between rows and one skill."""
MOST_CLASSES = 10
"""Classes up to which workers are known by rows."""


@dataclass(frozen=True, eq=False)
class LabelsSeen:
    """What all labels show of m workers, whatever is true.

    Attributes
    ----------
    answers
        Who labels which task, shape (n, m); None where that is not to be seen (`who_answers`).
    only
        The class that all labels of a worker name, by number; −1 where there are more, shape (m,).
    given
        Labels of each worker, shape (m,).
    """

    answers: BoolArray | None
    only: IntArray
    given: IntArray


def labels_seen(votes: Votes, truth: IntArray) -> LabelsSeen:
    """Look at all labels; `truth` is the class of each task, −1 where it is not known."""
    given = one_class(votes.worker, votes.label, len(votes.workers))
    return LabelsSeen(who_answers(votes, truth), *given)


def constant(answers: ControlAnswers, seen: LabelsSeen, classes: int) -> BoolArray:
    """Who names one class throughout beyond doubt (`constant_workers`), shape (m,)."""
    if answers.true is None:
        return np.zeros(answers.workers, dtype=np.bool_)
    counts, shares = _counts(answers, classes), _shares(answers, classes)
    return constant_workers(seen.only, seen.given, counts, shares)


def learned_rows(answers: ControlAnswers, classes: int) -> ConfusionEstimates:
    """Rows of each worker, and the shares of the classes among the control tasks."""
    counts, names = _counts(answers, classes), np.arange(answers.workers)
    return estimate_confusion(counts, _shares(answers, classes), names, np.arange(classes))


def rows_of(answers: ControlAnswers, like: ConfusionEstimates) -> ConfusionEstimates:
    """Rows of some answers, drawn toward those of all as much as others were; and their shares."""
    counts, L = _counts(answers, len(like.classes)), len(like.classes)
    return replace(like, counts=counts, confusion=like.drawn(counts), prior=_shares(answers, L))


def in_question(answers: ControlAnswers, rows: ConfusionEstimates) -> bool:
    """Whether rows explain the control answers better than skills (`better_explained`)."""
    return better_explained(
        rows, np.bincount(_classes_of_tasks(answers), minlength=len(rows.classes))
    )


def one_coin_rows(
    answers: ControlAnswers, skill: FloatArray, like: ConfusionEstimates
) -> ConfusionEstimates:
    """Rows of workers known by one skill each, shape (m,), errors even; and the classes' shares."""
    L = len(like.classes)
    p = np.where(np.isnan(skill), 1.0 / L, skill)[:, None, None]
    even = (1.0 - p) / (L - 1)
    confusion = np.where(np.eye(L, dtype=bool), p, even)
    return replace(like, confusion=confusion, prior=_shares(answers, L))


def rows_err_less(
    answers: ControlAnswers,
    by_rows: Callable[[ControlAnswers], HiredVote],
    by_skill: Callable[[ControlAnswers], HiredVote],
    classes: int,
    seed: Seed,
    stakes: Stakes | None = None,
) -> bool:
    """Whether votes by rows err less on hidden control tasks, by one standard error at least.

    Parameters
    ----------
    answers
        To control tasks, classes known.
    by_rows, by_skill
        Choose workers anew by some of the answers.
    classes, seed
        L; of the parts.
    stakes
        What errors cost: votes by rows are then to cost less.
    """
    assert answers.true is not None
    assert answers.said is not None
    tasks, first, place = np.unique(answers.task, return_index=True, return_inverse=True)
    true, less = answers.true[first], np.zeros(len(tasks))
    for part in folds(len(tasks), PARTS, seed=seed):
        hidden = np.isin(place, part)
        at = np.searchsorted(part, place[hidden]), answers.worker[hidden], answers.said[hidden]
        rest = answers.kept(~hidden)
        loss = []
        for fit in (by_skill, by_rows):
            chance = fit(rest).chance(*at, (len(part), classes))
            right = chance[np.arange(len(part)), true[part]]
            loss.append(1.0 - np.nan_to_num(right))
        less[part] = loss[0] - loss[1]
    return less_by_a_standard_error(less if stakes is None else less * stakes.weights(true))


def _counts(answers: ControlAnswers, classes: int) -> IntArray:
    """Control answers by worker, true class and class named, shape (m, L, L)."""
    assert answers.true is not None
    assert answers.said is not None
    cell = (answers.worker * classes + answers.true) * classes + answers.said
    counts = np.bincount(cell, minlength=answers.workers * classes * classes)
    return counts.reshape(answers.workers, classes, classes)


def _shares(answers: ControlAnswers, classes: int) -> FloatArray:
    """Share of each class among the control tasks that were answered, shape (L,)."""
    return class_shares(_classes_of_tasks(answers), classes)


def _classes_of_tasks(answers: ControlAnswers) -> IntArray:
    """True class of each control task that was answered."""
    assert answers.true is not None
    _, first = np.unique(answers.task, return_index=True)
    return answers.true[first]
