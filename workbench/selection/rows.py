"""Hiring by rows: what each worker names where each class is true, and how frequent classes are.

One skill a worker takes who always names the commonest class for skilled. Rows of a confusion
matrix, drawn toward those of all workers by a strength of each class's own (`crowd.confusion`),
tell her from who looks. But rows are more numbers, and their vote finds fewer of a rare class in
order to err less in all: so they are taken only where, on control tasks hidden in turn, it errs
less than the vote by one skill, by one standard error of the difference at least.

Who names one class throughout, beyond doubt, says nothing of a task, by whatever model.

Sources: Dawid, Skene (1979), equation 2.5, for the vote; Schwarz (1978), "Estimating the dimension
of a model"; Breiman et al. (1984), "Classification and
regression trees", Section 3.4.3, for the standard error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from workbench.accuracy.measured import folds
from workbench.base.arrays import BoolArray, FloatArray, IntArray, Names
from workbench.base.seeds import Seed
from workbench.crowd.confusion import (
    ConfusionEstimates,
    class_shares,
    estimate_confusion,
    likeliest_weight,
    row_likelihood,
)
from workbench.crowd.frames import codes
from workbench.selection.covering import who_answers
from workbench.selection.hired_vote import HiredVote
from workbench.selection.learned import ControlAnswers

PARTS = 5
"""Parts of the control tasks that are hidden in turn to choose between rows and one skill."""
MOST_CLASSES = 10
"""Classes up to which workers are known by rows."""
DOUBT = 0.001
"""Chance that somebody who looks names one class throughout, below which she does not look."""


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


def labels_seen(
    labels: pd.DataFrame, gold: pd.Series[Any], workers: Names, classes: list[Any]
) -> LabelsSeen:
    """Look at all labels.

    Parameters
    ----------
    labels, gold
        As `hire` takes them.
    workers, classes
        Names, m and L of them.
    """
    worker = codes(pd.Index(workers), labels["worker"])
    label = codes(pd.Index(classes), labels["label"])
    low, high = np.full(len(workers), len(classes)), np.full(len(workers), -1)
    np.minimum.at(low, worker, label)
    np.maximum.at(high, worker, label)
    only = np.where(low == high, low, -1)
    given = np.bincount(worker, minlength=len(workers))
    return LabelsSeen(who_answers(labels, gold, workers), only, given)


def constant(answers: ControlAnswers, seen: LabelsSeen, classes: int) -> BoolArray:
    """Who names one class throughout beyond doubt, and on tasks of other classes too, (m,).

    Beyond doubt: with this class as frequent as among the control tasks, somebody who looks would
    name it alone with a chance of at most a thousandth.
    """
    if answers.true is None:
        return np.zeros(answers.workers, dtype=np.bool_)
    missed = np.bincount(answers.worker[~answers.right], minlength=answers.workers)
    share = _shares(answers, classes)[np.maximum(seen.only, 0)]
    found: BoolArray = (seen.only >= 0) & (missed > 0) & (share**seen.given <= DOUBT)
    return found


def learned_rows(answers: ControlAnswers, classes: int) -> ConfusionEstimates:
    """Rows of each worker, and the shares of the classes among the control tasks."""
    counts, names = _counts(answers, classes), np.arange(answers.workers)
    return estimate_confusion(counts, _shares(answers, classes), names, np.arange(classes))


def rows_of(answers: ControlAnswers, like: ConfusionEstimates) -> ConfusionEstimates:
    """Rows of some answers, drawn toward those of all as much as others were; and their shares."""
    counts, L = _counts(answers, len(like.classes)), len(like.classes)
    return replace(like, counts=counts, confusion=like.drawn(counts), prior=_shares(answers, L))


def in_question(answers: ControlAnswers, rows: ConfusionEstimates) -> bool:
    """Whether rows and shares explain the control answers better than one skill a worker.

    Better by ½ ln n in log-likelihood for each number more, n the control tasks (Schwarz). One skill
    takes all classes to be equally frequent, and errors to be even.
    """
    counts, L = rows.counts, len(rows.classes)
    right = np.einsum("mkk->m", counts)
    skill = np.stack([right, counts.sum(axis=(1, 2)) - right], axis=1)[:, None]
    mean = skill.sum(axis=0) + 0.5
    mean = mean / mean.sum()
    by_skill = row_likelihood(skill, mean, likeliest_weight(skill, mean))
    by_skill -= float(skill[:, 0, 1].sum()) * np.log(max(L - 1, 1))
    by_rows = sum(
        row_likelihood(counts[:, [k]], rows.pooled[[k]], rows.weight[k]) for k in range(L)
    )
    tasks = np.bincount(_classes_of_tasks(answers), minlength=L)
    unequal = float(tasks @ np.log(rows.prior) + tasks.sum() * np.log(L))
    more = L * L + L - 1 - 2
    return bool(by_rows + unequal - by_skill > more * max(np.log(tasks.sum()) / 2.0, 1.0))


def rows_err_less(
    answers: ControlAnswers,
    by_rows: Callable[[ControlAnswers], HiredVote],
    by_skill: Callable[[ControlAnswers], HiredVote],
    classes: int,
    seed: Seed,
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
    if len(less) < PARTS:
        return False
    return bool(less.mean() > less.std(ddof=1) / np.sqrt(len(less)))


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
