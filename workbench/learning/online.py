"""Asking and telling, task by task: what all who learn whom to ask have in common.

ask = learner.ask(task)                              # whom to ask, about which task
answer = learner.tell({i: label_of(i, ask.task) for i in ask.workers})
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from workbench.accuracy.majority import majority_accuracy
from workbench.base import checks
from workbench.base.arrays import FloatArray, IntArray
from workbench.base.errors import InputError
from workbench.base.seeds import Seed, stream
from workbench.base.state import Id, RandomState, identifier
from workbench.learning.saved import COUNTED, Pending, SavedTasks
from workbench.learning.schedule import KINDS, Kind
from workbench.learning.sets import Vote, pair_accuracies

Task = Id
"""A task's name."""


@dataclass(frozen=True, eq=False)
class Ask:
    """Whom to ask what, now.

    Attributes
    ----------
    task
        The task to be labelled: the arriving one, or at a retest an earlier tester.
    workers
        Indices of those to ask; of an exploiting step best first.
    kind
        "new tester", "retest" or "exploit".
    """

    task: Task
    workers: IntArray
    kind: Kind


@dataclass(frozen=True)
class TaskLabel:
    """The label of the arriving task.

    Attributes
    ----------
    task, label
        The arriving task and its label, 0, …, K − 1.
    confidence
        Estimated probability that the label is right, by the estimates before this step: π̂ of
        those who answered (with more than two classes a bound from below), or with weights the
        posterior probability; 1/K for a drawn label.
    kind
        What the step did. At a retest the label is drawn.
    revised
        At a retest the tester and its label y* by all its rounds so far, else None.
    """

    task: Task
    label: int
    confidence: float
    kind: Kind
    revised: tuple[Task, int] | None = None


class OnlineLearner:
    """Asking, telling and voting; whom to ask and what to learn is for subclasses.

    A label that is missing does not vote; a task without labels gets a drawn one. Workers with
    equal estimates are ranked in an order drawn once, at the start.

    Parameters
    ----------
    workers
        How many, or their names; 1 or more.
    vote
        How the labels of an exploiting step become one.
    seed
        Of ties and draws.

    Raises
    ------
    InputError
        No workers, or a name twice.
    """

    stream_name: ClassVar[str] = "policy coins"
    counted: ClassVar[tuple[str, ...]] = COUNTED

    def __init__(self, workers: int | Sequence[str], vote: Vote, seed: Seed) -> None:
        self.names = _names(workers)
        self.vote = vote
        self.step = 0
        self.counts = dict.fromkeys(self.counted, 0)
        self.kinds: dict[Kind, int] = dict.fromkeys(KINDS, 0)
        self._rng = stream(seed, self.stream_name)
        self._order = self._rng.random(len(self.names))
        self._tasks: dict[Task, int] = {}
        self._pending: Pending | None = None

    def _estimates_for(self, now: Pending) -> FloatArray:
        """p̂ by which the arriving task is labelled, shape (M,)."""
        raise NotImplementedError

    def _learn(self, answers: IntArray, now: Pending, label: int) -> tuple[Task, int] | None:
        """Learn from labels, shape (M,), −1 for none; give the tester that was labelled again."""
        raise NotImplementedError

    def _saved(self) -> dict[str, Any]:
        """What `SavedTasks` declares."""
        return {
            "vote": self.vote,
            "random": RandomState.of(self._rng),
            "tasks": tuple(self._tasks),
            "counts": dict(self.counts),
            "kinds": dict(self.kinds),
            "pending": self._pending,
        }

    def _take_up(self, saved: SavedTasks, order: Sequence[float]) -> None:
        """Go on from what `_saved` gave, equal workers ranked by `order`."""
        self._rng, self._order = saved.random.generator(), np.array(order)
        self._tasks = {task: place for place, task in enumerate(saved.tasks)}
        self.counts, self.kinds = dict(saved.counts), dict(saved.kinds)
        self._pending, self.step = saved.pending, saved.steps

    def _arriving(self) -> Task:
        """The task that arrived last."""
        return next(reversed(self._tasks))

    def _asked_task(self, now: Pending) -> Task:  # noqa: ARG002
        """The task that the next labels are for."""
        return self._arriving()

    def _new(self, task: Task) -> Task:
        """Check the name of an arriving task."""
        if self._pending is not None:
            waiting = self._asked_task(self._pending)
            raise InputError(f"task {waiting!r} waits for its labels: tell them first")
        task = identifier("task", task)
        if task in self._tasks:
            raise InputError(f"task {task!r} has been here: give each task a name of its own")
        return task

    def _wait(self, task: Task, pending: Pending) -> Ask:
        """Wait for the labels of a step."""
        self._tasks[task] = len(self._tasks)
        self._pending = pending
        self.counts["asked"] += len(pending.workers)
        workers = np.array(pending.workers, dtype=np.int64)
        return Ask(self._asked_task(pending), workers, pending.kind)

    def tell(self, labels: Mapping[int, int] | ArrayLike) -> TaskLabel:
        """Take the labels of those who were asked; label the arriving task.

        Parameters
        ----------
        labels
            By index or name of the worker, 0, …, K − 1; or an array of shape (M,) with −1 where
            there is no label. Workers left out have not answered.

        Raises
        ------
        InputError
            Nobody was asked, a label that is no class, or one by somebody who was not asked.
        """
        now = self._pending
        if now is None:
            raise InputError("no task waits for labels: ask first")
        K = self.vote.classes
        answers = given_labels(labels, now.workers, len(self.names), self._index, K)
        received = int(np.count_nonzero(answers >= 0))
        label, confidence = self._label(answers, now)
        revised = self._learn(answers, now, label)
        self.counts["received"] += received
        self.counts["missing"] += len(now.workers) - received
        self.counts["unlabelled"] += not received and now.kind != "retest"
        self.kinds[now.kind] += 1
        self._pending = None
        self.step += 1
        return TaskLabel(self._arriving(), label, confidence, now.kind, revised)

    def _label(self, answers: IntArray, now: Pending) -> tuple[int, float]:
        """Label the arriving task; drawn where the labels are those of a tester."""
        K = self.vote.classes
        if now.kind == "retest":
            return plurality(np.full(0, -1), now.coins.label, K), 1.0 / K
        vote = self.vote if now.kind == "exploit" else Vote(classes=K)
        return decide(vote, answers, self._estimates_for(now), now.coins.label)

    def _index(self, worker: object) -> int:
        """Find a worker by name or index."""
        if isinstance(worker, str) and worker in self.names:
            return self.names.index(worker)
        whole = isinstance(worker, (int, np.integer)) and not isinstance(worker, bool)
        if whole and 0 <= worker < len(self.names):  # type: ignore[operator]
            return int(worker)  # type: ignore[call-overload, no-any-return]
        raise InputError(
            f"worker {checks.show(worker)} is unknown: give an index from 0 to "
            f"{len(self.names) - 1}"
        )


def _names(workers: int | Sequence[str]) -> tuple[str, ...]:
    if isinstance(workers, (int, np.integer)):
        return tuple(str(i) for i in range(checks.count("workers", workers, 1)))
    if isinstance(workers, str) or not len(workers):
        raise InputError(
            f"workers is {checks.show(workers)}: give their number, or a list of their names"
        )
    for k, name in enumerate(workers):
        if not isinstance(name, str):
            raise InputError(
                f"workers[{k}] is {checks.show(name)}: give names, texts; a number is an index"
            )
    names = tuple(str(identifier("worker", name)) for name in workers)
    twice = next((name for k, name in enumerate(names) if name in names[:k]), None)
    if twice is not None:
        raise InputError(f"workers names {twice!r} twice: give each a name of its own")
    return names


def given_labels(
    labels: Mapping[int, int] | ArrayLike,
    among: Sequence[int] | None,
    workers: int,
    index: Callable[[object], int],
    classes: int = 2,
) -> IntArray:
    """Check the labels of those who were asked.

    Parameters
    ----------
    labels
        By worker, a mapping or a Series; or an array of shape (M,). 0, …, K − 1, or −1 for none.
    among
        Indices; None for anybody.
    workers
        M.
    index
        Finds the index of who is named in a mapping.
    classes
        K.

    Returns
    -------
    Shape (M,), −1 for none.

    Raises
    ------
    InputError
        A label that is no class, two of one worker, or one by somebody who was not asked.
    """
    choices = "0 or 1" if classes == 2 else f"0 to {classes - 1}"
    answers = np.full(workers, -1, dtype=np.int64)
    if isinstance(labels, (Mapping, pd.Series)):
        named: set[int] = set()
        for worker, label in labels.items():
            i = index(worker)
            if i in named:
                raise InputError(f"labels has worker {checks.show(worker)} twice: give one label")
            whole = isinstance(label, (int, np.bool_)) or checks.is_number(label)
            if not whole or label not in range(-1, classes):
                raise InputError(
                    f"labels[{checks.show(worker)}] is {checks.show(label)}: give {choices}, "
                    "or -1 for none"
                )
            named.add(i)
            answers[i] = label
    else:
        array = checks.floats("labels", labels)
        if array.shape != (workers,):
            raise InputError(
                f"labels has shape {array.shape}: give one for each of {workers} workers, "
                "−1 for none"
            )
        fit = np.isin(array, np.arange(-1, classes))
        if not fit.all():
            at = int(fit.argmin())
            raise InputError(f"labels[{at}] is {array[at]:g}: give {choices}, or -1 for none")
        answers[:] = array
    if among is not None:
        others = answers >= 0
        others[list(among)] = False
        if others.any():
            raise InputError(
                f"labels[{int(others.argmax())}] is of a worker who was not asked: leave her out "
                "(−1)"
            )
    return answers


def decide(vote: Vote, answers: IntArray, estimate: FloatArray, tie: float) -> tuple[int, float]:
    """Label a task, (label, confidence).

    Parameters
    ----------
    vote
        The rule.
    answers
        Labels, shape (M,), −1 for none.
    estimate
        p̂, shape (M,).
    tie
        Uniform on [0, 1): below ½ it says 1. It decides where the vote does not.

    Returns
    -------
    The label, and the estimated probability that it is right: π̂ of those who answered (of more
    than two classes, what `pair_accuracies` says at least), or with weights the posterior
    probability; one in as many as are equal where the draw decided.
    """
    if not vote.weighted:
        K, answered = vote.classes, estimate[answers >= 0]
        label, tied = plurality(answers, tie, K), len(_leading(answers, K))
        if tied > 1:
            return label, 1.0 / tied
        if K == 2:
            return label, majority_accuracy(answered)
        beaten = 1.0 - float(pair_accuracies(answered[None], K)[0, -1])
        return label, max(1.0 - (K - 1) * beaten, 1.0 / K)
    margin = float(vote.margins(answers[None], estimate[None])[0])
    if not margin:
        return int(tie < 0.5), 0.5
    return int(margin > 0), 1.0 / (1.0 + math.exp(-abs(margin)))


def plurality(answers: IntArray, tie: float, classes: int = 2) -> int:
    """Label of most, −1 for none; of equal ones by lot: the last if `tie` is low."""
    leading = _leading(answers, classes)
    return int(leading[-1 - int(tie * len(leading))])


def _leading(answers: IntArray, classes: int) -> IntArray:
    """The classes that most name."""
    count = np.bincount(answers[answers >= 0], minlength=classes)
    return np.flatnonzero(count == count.max())
